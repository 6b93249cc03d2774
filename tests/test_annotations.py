"""Annotations of Warp functions are true: Warp takes `Any` for them, so that only this test reads what they say."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "warp_artic"
FLOORS = ("math", "model", "joints", "phases", "constraints", "solver", "kernels")
"""Where one source is of mechanisms; meshes have structs and names of their own."""
FILES = sorted(path for floor in FLOORS for path in (PACKAGE / floor).rglob("*.py"))

STRUCTS = {
    "model": ("ModelArrays", "Model"),
    "state": ("StateArrays", "State"),
    "control": ("ControlArrays", "Control"),
    "work": ("WorkArrays", "Work"),
    "forces": ("ForceArrays", "Forces"),
    "report": ("ReportArrays", "Report"),
    "contacts": ("ContactArrays", "Contacts"),
    "kept": ("KeptArrays", "Kept"),
}
"""Parameters that are structs of arrays, as they are annotated in functions and in kernels."""
ALL_STRUCTS = {name for names in STRUCTS.values() for name in names}
VALUES = ("Real", "Vec3", "Mat3", "Sym3", "Quat", "Array", "int", *sorted(ALL_STRUCTS))
"""Annotations that are told from each other where a parameter is handed on."""
BY_NAME = (
    (re.compile(r"R_[A-Z]+"), {"Mat3"}),
    (re.compile(r"[pvw]_[A-Z]\w*"), {"Vec3"}),
    (re.compile(r"link|dof|joint|worker|block|column|row"), {"int", "wp.uint64"}),
    (re.compile(r"h"), {"Real"}),
)
"""What names say of the type; rows that are copied are addresses."""
QUANTITY = re.compile(r"[A-Z](_\w+)?")
"""A matrix or a vector, by the letter of a formula."""

Signature = dict[str, str]
"""Parameters of a function in order, with their annotations."""


def is_warp(node: ast.AST) -> bool:
    """Whether a definition is a function or a kernel of Warp."""
    return isinstance(node, ast.FunctionDef) and any(
        re.match(r"wp\.(func|kernel)\b", ast.unparse(decorator)) for decorator in node.decorator_list
    )


def signature(function: ast.FunctionDef) -> Signature:
    """As it is written."""
    return {one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in function.args.args}


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Warp functions and kernels of a file, in factories too."""
    return (node for node in ast.walk(ast.parse(path.read_text())) if is_warp(node))


@cache
def signatures() -> dict[str, list[Signature]]:
    """All Warp functions by name; some names have several, for several types."""
    found = defaultdict(list)
    for path in FILES:
        for function in functions(path):
            found[function.name].append(signature(function))
    return found


def wrong_names(function: ast.FunctionDef) -> Iterator[str]:
    """Parameters whose annotation is not what their name says."""
    for name, kind in signature(function).items():
        if not kind:
            yield f"{name} has no annotation"
        elif name in STRUCTS and kind not in STRUCTS[name]:
            yield f"{name}: {kind} is not {STRUCTS[name][0]}"
        elif kind in ALL_STRUCTS and name not in STRUCTS:
            yield f"{name}: {kind} is a struct of arrays"
        elif QUANTITY.fullmatch(name) and kind == "Array":
            yield f"{name}: Array is not one value"
        for pattern, kinds in BY_NAME:
            if pattern.fullmatch(name) and kind not in kinds:
                yield f"{name}: {kind} is not {' or '.join(sorted(kinds))}"


def wrong_calls(function: ast.FunctionDef, known: dict[str, list[Signature]]) -> Iterator[str]:
    """Parameters that are handed on to a function which says that they are something else."""
    own = signature(function)
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    assigned = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        wanted = [list(one.values()) for one in known.get(name, ()) if len(one) == len(node.args)]
        for place, given in enumerate(node.args):
            if not isinstance(given, ast.Name) or own.get(given.id) not in VALUES or given.id in assigned:
                continue
            kinds = {one[place] for one in wanted}
            if kinds and kinds <= set(VALUES) and not any(alike(own[given.id], kind) for kind in kinds):
                yield f"{given.id}: {own[given.id]} is handed to {name} as {' or '.join(sorted(kinds))}"


def alike(one: str, other: str) -> bool:
    """Whether two annotations say the same; kernels call structs by their names, functions by aliases."""
    return one == other or any({one, other} <= set(names) for names in STRUCTS.values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_annotations_are_true(path):
    """By the names of parameters, and by where these are handed on."""
    for function in functions(path):
        found = [*wrong_names(function), *wrong_calls(function, signatures())]
        assert not found, f"{path}: {function.name}: {'; '.join(found)}"


def test_wrong_annotations_are_found():
    """A struct that is none, an array that is a value, and what is handed on as something else."""
    text = """
@wp.func
def rotate(R: Mat3, v: Vec3): pass
@wp.func
def place(model: Array, R_WF: ModelArrays, w_P: Vec3, R: Array, turned: Sym3, x: Vec3, free):
    return rotate(turned, x)
"""
    rotate, place = (node for node in ast.parse(text).body)
    found = [*wrong_names(place), *wrong_calls(place, {"rotate": [signature(rotate)]})]
    assert found == [
        "model: Array is not ModelArrays",
        "R_WF: ModelArrays is a struct of arrays",
        "R_WF: ModelArrays is not Mat3",
        "R: Array is not one value",
        "free has no annotation",
        "turned: Sym3 is handed to rotate as Mat3",
    ]
