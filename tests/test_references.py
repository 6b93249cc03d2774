"""What docstrings and comments refer to exists: modules and what they have, classes and their members, arrays."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "warp_artic"
FILES = sorted((*PACKAGE.rglob("*.py"), *(ROOT / "extensions").rglob("*.py")))
FLOORS = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
REFERENCE = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
"""Names with dots between backticks; a call may follow."""


@cache
def tree_of(path: Path) -> ast.Module:
    """What a file says."""
    return ast.parse(path.read_text())


def is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, of whatever stands before it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def sentences(path: Path) -> str:
    """All docstrings and comments of a file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*comments, *(node.value.value for node in ast.walk(tree_of(path)) if is_text(node))])


def names_in(body: list[ast.stmt]) -> Iterator[str]:
    """What statements of a module or of a class define, import or give to `self`."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        if isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield inner.attr
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """All classes by name."""
    found = defaultdict(list)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(node)
    return found


def members(name: str) -> set[str]:
    """Members of the classes of a name, and of what they inherit from in these files."""
    found = set()
    for node in classes().get(name, ()):
        found.update(names_in(node.body))
        for base in node.bases:
            found |= members(base.id) if isinstance(base, ast.Name) else set()
    return found


@cache
def words() -> frozenset[str]:
    """Names and whole strings of all code, docstrings and comments left out."""
    found = set()
    for path in FILES:
        texts = {id(node.value) for node in ast.walk(tree_of(path)) if is_text(node)}
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                found.add(node.value)
    return frozenset(found)


def is_in_module(place: Path, parts: list[str]) -> bool:
    """Whether a folder or a file has a file, a name, or a member of a class of its own."""
    if not parts:
        return True
    first, *rest = parts
    if place.is_dir():
        inner = place / first if (place / first).is_dir() else place / f"{first}.py"
        return inner.exists() and is_in_module(inner, rest)
    body = tree_of(place).body
    return first in names_in(body) and (not rest or rest[0] in members(first))


def exists(reference: str) -> bool:
    """Whether there is what a reference says: of a module, a class of ours, a struct or a variable."""
    first, *rest = reference.split(".")
    if first == "warp_artic":
        return is_in_module(PACKAGE, rest) or reference in words() or rest[0] in words()
    if first in FLOORS and is_in_module(PACKAGE / first, rest):
        return True
    if first in classes():
        return rest[0] in members(first)
    # A floor can be called as a struct that kernels get is: `model`, and a module without its floor as a variable.
    is_struct = first not in FLOORS or first.capitalize() in classes()
    return is_struct and (rest[-1] in words() or not is_ours(first))


def is_ours(name: str) -> bool:
    """Whether a name is not that of a library."""
    return name in words() and name not in libraries()


@cache
def libraries() -> frozenset[str]:
    """Modules of others, as they are called where they are imported."""
    found = set()
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                found.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] != "warp_artic":
                found.update({node.module.split(".")[0], *(alias.asname or alias.name for alias in node.names)})
    return frozenset(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_references_exist(path):
    """All dotted names between backticks."""
    missing = sorted({text for text in REFERENCE.findall(sentences(path)) if not exists(text)})
    assert not missing, f"{path}: there is no {', '.join(missing)}"


def test_stale_references_are_found():
    """Modules that have gone, members that a class has not, arrays that nobody has."""
    for reference in ("solver.settings.SolverSettings.dt", "Simulation.step", "Simulation.state", "Usd.Stage"):
        assert exists(reference), reference
    for reference in ("phases.gone", "sim.run.step.gone", "Simulation.gone", "solver.settings.SolverSettings.gone"):
        assert not exists(reference), reference
    assert not exists("work.an_array_that_nobody_has")
