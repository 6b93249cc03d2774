"""The house: imports go down, libraries stay on their floors, and nobody reaches into an object of another file."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "warp_artic"
EXTENSIONS = ROOT / "extensions"

ALLOWED = {
    "description": {"description", "errors"},
    "math": {"math", "garbage", "errors"},
    "model": {"model", "math", "description"},
    "joints": {"joints", "math"},
    "collision": {"collision", "model", "math"},
    "phases": {"phases", "joints", "model", "math"},
    "constraints": {"constraints", "collision", "phases", "joints", "model", "math", "description"},
    "mechanisms": {"mechanisms", "constraints", "phases", "joints", "model", "math", "description"},
    "solver": {"solver", "constraints", "phases", "model", "math", "description", "errors"},
    "kernels": {"kernels", "solver", "mechanisms", "constraints", "phases", "joints", "model", "math"},
    "islands": {"islands", "kernels", "constraints", "collision", "math"},
    "meshes": {"meshes", "collision", "math", "description", "errors"},
    "sim": {
        "sim",
        "meshes",
        "islands",
        "collision",
        "solver",
        "kernels",
        "mechanisms",
        "constraints",
        "model",
        "math",
        "description",
        "errors",
    },
    "usd": {"usd", "sim", "description", "garbage", "errors"},
    "hosts": {"hosts", "usd", "sim", "solver", "description", "errors"},
    "batch": {"batch", "usd", "sim", "solver", "description", "errors"},
    "looking": {"looking", "usd", "sim", "solver", "description", "errors"},
    "cli": {"cli", "looking", "batch", "hosts", "usd", "sim", "meshes", "solver", "description", "errors"},
    "extensions": {"extensions", "batch", "hosts", "usd", "sim", "solver", "description", "errors"},
    "errors": set(),
    "garbage": set(),
    "author": {"usd"},
    "torch": {"sim", "errors"},
    "jax": {"sim", "errors"},
    "__main__": {"cli"},
}
"""Folder or module of the package -> the folders and modules of the package that its files may import."""

SETTINGS_ONLY = ("hosts", "batch", "looking", "cli", "extensions")
"""Floors that know of the solver what its settings are."""

ROOMS = (
    *("files", "launch", "arrays", "elastic", "islands", "suite", "run"),
    *("change", "record", "derivatives", "measure"),
)
"""The rooms of `sim`: one imports itself and those before it. What a user calls lies above them, and imports all."""

NO_PXR = set(ALLOWED) - {"usd", "hosts", "extensions"}
NO_WARP = {"description", "usd", "batch", "cli", "errors", "garbage", "author", "torch", "jax", "__main__"}
FOREIGN = {
    "cli/arguments.py": {"_actions", "_SubParsersAction"},
    "math/kept_headers.py": {"_run_codegen"},
    "math/lean_codegen.py": {"_codegen_functions"},
    "math/remembered_types.py": {"_collect_native_types"},
}
"""Private members of libraries, of which nothing public says the same: options of a parser, how Warp walks structs and
writes sources."""
NAMED_TUPLE = {"_asdict", "_replace", "_fields"}
"""Public members of named tuples, whose names are spelt so that they are none of the tuple's own."""

FILES = sorted((*PACKAGE.rglob("*.py"), *EXTENSIONS.rglob("*.py")))


def name_of(path: Path) -> str:
    """A file as tests are called."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()


def floor_of(path: Path) -> str:
    """The folder of a file in the package, or the name of a module that is in none."""
    return Path(name_of(path)).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    """What a file says."""
    return ast.parse(path.read_text())


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a file imports, wherever in the file; of the package with what is taken from a module."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Those of the package, with their parts after its name."""
    for name in imports(path):
        first, *parts = name.split(".")
        if first == "warp_artic" and parts:
            yield name, parts


ALL_FILES = pytest.mark.parametrize("path", FILES, ids=name_of)


@ALL_FILES
def test_imports_go_down(path):
    """A file imports only from its own floor and the floors below; the public page imports all."""
    if path == PACKAGE / "__init__.py":
        return
    floor = floor_of(path)
    for name, parts in own_imports(path):
        assert parts[0] in ALLOWED[floor], f"{path}: imports {name}"
        if floor in SETTINGS_ONLY and parts[0] == "solver":
            assert parts[1] == "settings", f"{path}: imports {name}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "sim").rglob("*.py")), ids=name_of)
def test_rooms_of_sim_import_rooms_before(path):
    """A room knows nothing of the rooms after it, nor of what a user calls."""
    room = path.relative_to(PACKAGE / "sim").parts[0]
    for name, parts in own_imports(path):
        if parts[0] != "sim":
            continue
        if room in ROOMS:
            assert parts[1] in ROOMS[: ROOMS.index(room) + 1], f"{path}: imports {name}"
        else:
            assert path.parent == PACKAGE / "sim", f"{path}: is in a room that has no place in the order"


@pytest.mark.parametrize("path", sorted(EXTENSIONS.rglob("*.py")), ids=name_of)
def test_extensions_know_nothing_of_each_other(path):
    """An extension imports of the extensions itself."""
    own = path.relative_to(EXTENSIONS).parts[0]
    for name, parts in own_imports(path):
        if parts[0] == "extensions":
            assert parts[1] == own, f"{path}: imports {name}"


@ALL_FILES
def test_libraries_stay_on_their_floors(path):
    """pxr appears in usd, hosts and extensions only, and warp not in description, usd, batch or cli."""
    floor = floor_of(path)
    roots = {name.split(".")[0] for name in imports(path)}
    assert "pxr" not in roots or floor not in NO_PXR
    assert "warp" not in roots or floor not in NO_WARP


def is_private(name: str) -> bool:
    """Whether a name begins with an underscore, and is neither Python's nor of the form of ctypes, `_length_`."""
    return name.startswith("_") and not name.endswith("_")


def own_members(tree: ast.Module) -> set[str]:
    """Members of the classes of a file: methods, fields, and what methods give to `self`."""
    found = set()
    for one in ast.walk(tree):
        if not isinstance(one, ast.ClassDef):
            continue
        for node in ast.walk(one):
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
                found.add(node.attr)
    return found


def is_self(node: ast.expr) -> bool:
    """Whether an expression is the object of the method, or its class."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_touches(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Private members of objects whose class is not of the file; on `self` they may be those of a base class."""
    own = own_members(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            if not is_self(node.value) and node.attr not in NAMED_TUPLE:
                yield node


@ALL_FILES
def test_nobody_touches_private_members_of_others(path):
    """A private member is touched in the file of its class only, and private names are not imported."""
    allowed = FOREIGN.get(name_of(path), set())
    found = [f"{ast.unparse(node)} in line {node.lineno}" for node in private_touches(tree_of(path))]
    found = [text for text in found if not any(f".{name} " in text for name in allowed)]
    assert not found, f"{path}: {', '.join(found)}"
    taken = [name for name, parts in own_imports(path) if is_private(parts[-1])]
    assert not taken, f"{path}: imports {', '.join(taken)}"


def test_private_touches_are_found():
    """On objects that come from elsewhere, and not on objects of classes of the same file."""
    text = """
class Own:
    _field: int
    def __init__(self, other):
        self._mine = other._theirs
    def equals(self, other):
        return self._mine == other._mine and self._field == other._field and self._of_base and self.__dict__
def outside(own, simulation):
    return own._mine, simulation._groups, simulation.run._asdict(), simulation._length_
"""
    found = [ast.unparse(node) for node in private_touches(ast.parse(text))]
    assert sorted(found) == ["other._theirs", "simulation._groups"]


def test_every_room_says_what_it_is_for():
    """Each folder of Python has a file `__init__.py` with a sentence."""
    for folder in {path.parent for path in FILES if path.is_relative_to(PACKAGE)}:
        assert ast.get_docstring(tree_of(folder / "__init__.py")), folder


def test_every_folder_is_packaged():
    """A wheel has each folder of the package."""
    lines = (ROOT / "pyproject.toml").read_text()
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        name = ".".join(folder.relative_to(ROOT).parts)
        assert f'"{name}",\n' in lines, name


def test_every_public_name_exists():
    """The names on the public page can be loaded."""
    import warp_artic

    for name in warp_artic.__all__:
        assert getattr(warp_artic, name) is not None
