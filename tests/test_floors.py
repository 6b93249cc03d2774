"""The house: imports go down, and the libraries stay on their floors."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "warp_artic"

ALLOWED = {
    "description": {"description", "errors"},
    "math": {"math", "errors"},
    "model": {"model", "math", "description"},
    "joints": {"joints", "math"},
    "phases": {"phases", "joints", "model", "math"},
    "constraints": {"constraints", "phases", "joints", "model", "math"},
    "solver": {"solver", "constraints", "phases", "model", "math", "description", "errors"},
    "kernels": {"kernels", "solver", "constraints", "phases", "model", "math"},
    "meshes": {"meshes", "math", "description", "errors"},
    "sim": {"sim", "meshes", "solver", "kernels", "model", "math", "description", "errors"},
    "usd": {"usd", "sim", "description", "errors"},
    "hosts": {"hosts", "usd", "sim", "solver", "description", "errors"},
    "cli": {"cli", "hosts", "usd", "sim", "meshes", "solver", "description", "errors"},
}
"""Folder of the package -> the folders and modules of the package that its files may import."""

FILES = sorted(PACKAGE.glob("*/*.py"))


def imports(path):
    """Dotted names that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_imports_go_down(path):
    """A file imports only from its own floor and the floors below."""
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "warp_artic" and len(parts) > 1:
            assert parts[1] in ALLOWED[path.parent.name], f"{path}: imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_libraries_stay_on_their_floors(path):
    """pxr appears in usd and hosts only, and warp not in description, usd or cli."""
    floor = path.parent.name
    roots = {name.split(".")[0] for name in imports(path)}
    assert "pxr" not in roots or floor in ("usd", "hosts")
    assert "warp" not in roots or floor not in ("description", "usd", "cli")


def test_every_public_name_exists():
    """The names on the public page can be loaded."""
    import warp_artic

    for name in warp_artic.__all__:
        assert getattr(warp_artic, name) is not None
