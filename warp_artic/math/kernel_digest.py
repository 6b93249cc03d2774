"""The name of a kernel in Warp's cache, found from the sources of what it calls without looking into them.

Warp names a kernel by a digest of all functions that it calls, for which it parses them and asks of each word what it
is: the better part of a second for a step kernel, at each start. Here the digest is of the lines of each function, and
of what the words of its bytecode mean, which Python has found already: functions, which are followed, types, structs
and constants. It tells apart what Warp's tells apart, and a little more: words for entries of structs too, where
something of the module has the same name.

Functions know some number types from the first call on that asks for derivatives. Overloads for such types are left out
where nothing in the arguments of a kernel is of them, so that its name does not depend on what was asked for before.

What is not known here is left to Warp: kernels with other values in them, and those of others.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
from collections import deque
from collections.abc import Sequence
from functools import wraps
from types import CodeType, FunctionType, ModuleType

import warp as wp

from warp_artic.math.late_functions import LateFunction, is_ours

PLAIN = (int, float, str, type(None))
"""Types of constants of Python."""
SCALARS = (wp.float32, wp.float64, wp.int32, wp.int64, wp.uint32, wp.uint64)
"""Those of Warp."""
LATE: list[dict[int, type]] = []
"""Number types that functions do not know from the start, each with its vectors and matrices, by their identity."""


class UnknownValueError(Exception):
    """A kernel has something in it of which nothing is known here."""


def install() -> None:
    """Replace Warp's digests of our kernels by these.

    Raises:
        ImportError, AttributeError: It is not where it is known to be.
    """
    from warp._src import codegen
    from warp._src.context import ModuleHasher

    hash_adjoint, targets = ModuleHasher.hash_adjoint, codegen.iter_call_callable_arg_targets

    @wraps(hash_adjoint)
    def hash_ours(hasher, adjoint) -> bytes:
        if adjoint.is_user_function or not is_ours(adjoint.func):
            return hash_adjoint(hasher, adjoint)
        try:
            digest = digest_of(adjoint.func, adjoint.source)
        except UnknownValueError:
            return hash_adjoint(hasher, adjoint)
        adjoint.get_references()  # finds out how many dimensions its launches have
        return digest

    @wraps(targets)
    def functions_passed(adjoint, function, *call):
        overloads = getattr(function, "overloads_in_python", None)
        if overloads and not any(_takes_functions(overload.function) for overload in overloads):
            return iter(())
        return targets(adjoint, function, *call)

    ModuleHasher.hash_adjoint, codegen.iter_call_callable_arg_targets = hash_ours, functions_passed


def digest_of(kernel: FunctionType, source: str) -> bytes:
    """The digest of a kernel.

    Args:
        kernel: Its Python function.
        source: The source of that.

    Raises:
        UnknownValueError: Something in it is not known here.
    """
    walk = _Walk(_types_of(kernel))
    walk.write(kernel, source)
    walk.write_all_that_is_called()
    return walk.digest.digest()


class _Walk:
    """A walk through all that a kernel calls, function by function, in the order in which they are met.

    Args:
        own: Types in the arguments of the kernel, by their identity.
    """

    def __init__(self, own: set[int]):
        self._others = {key for kinds in LATE if own.isdisjoint(kinds) for key in kinds}
        self.digest = hashlib.sha256()
        self._met: dict[wp.Function, str] = {}
        self._waiting: deque[wp.Function] = deque()
        self._types: dict[int, tuple[object, str]] = {}
        """Types and structs by their identity, and what is said of them."""

    def write_all_that_is_called(self) -> None:
        """Write what functions consist of, each one once."""
        while self._waiting:
            for overload in self._waiting.popleft().overloads_in_python:
                if self._others.isdisjoint(map(id, overload.function.__annotations__.values())):
                    self.write(overload.function, overload.source)

    def write(self, function: FunctionType, source: str) -> None:
        """Write a function: its source, and what the words in it are."""
        said = [function.__qualname__, source]
        kinds = function.__annotations__
        if any(isinstance(kind, str) for kind in kinds.values()):
            kinds = inspect.get_annotations(function, eval_str=True)
        said += [f"{name}:{self._said_of(kind)}" for name, kind in kinds.items()]
        said += map(self._said_of, function.__defaults__ or ())
        said += [f"{name}={self._said_of(value)}" for name, value in (function.__kwdefaults__ or {}).items()]
        code, names = function.__code__, function.__globals__
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            said.append(f"{name}={self._said_of(cell.cell_contents)}")
        for name in code.co_names:
            if name in names and (not isinstance(names[name], FunctionType) or name in _loaded(code)):
                said.append(f"{name}={self._said_of(names[name], code.co_names)}")
        self.digest.update("\n".join(said).encode())

    def _said_of(self, value, words: Sequence[str] = ()) -> str:
        """The text for a value; for a module, that of those of its names that are in `words`."""
        if isinstance(value, wp.Function):
            return self._said_of_function(value)
        if isinstance(value, PLAIN):
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, SCALARS):
            return f"{type(value).__name__} {value.value!r}"
        if value is wp:
            return "warp"
        if isinstance(value, ModuleType):
            found = vars(value)
            return f"[{', '.join(f'{word}={self._said_of(found[word])}' for word in words if word in found)}]"
        key = id(value)
        if key not in self._types:
            self._types[key] = value, _said_of_type(value)
        return self._types[key][1]

    def _said_of_function(self, function: wp.Function) -> str:
        said = self._met.get(function)
        if said is None:
            if function.func is None:
                said = f"builtin {function.key} {function.native_func}"
            elif hasattr(function, "overloads_in_python") and _has_no_gradient(function):
                said = f"function {len(self._met)}"
                self._waiting.append(function)
            else:
                raise UnknownValueError(function)
            self._met[function] = said
        return said


def come_late(*kinds: type) -> None:
    """Say of a number type, with its vectors and matrices, that functions know it from now on."""
    LATE.append({id(kind): kind for kind in kinds})


def _types_of(kernel: FunctionType) -> set[int]:
    """Types of what a kernel is given, by their identity: of structs with those of their fields, of arrays' entries."""
    found: set[int] = set()
    waiting = list(inspect.get_annotations(kernel, eval_str=True).values())
    while waiting:
        kind = waiting.pop()
        kind = getattr(kind, "dtype", kind)
        if id(kind) not in found:
            found.add(id(kind))
            waiting += [field.type for field in getattr(kind, "vars", {}).values()]
    return found


def _loaded(code: CodeType) -> set[str]:
    """The names of globals among those in a code."""
    return {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _said_of_type(kind) -> str:
    from warp._src.codegen import Struct
    from warp._src.types import get_type_code

    try:
        entry = getattr(kind, "dtype", kind)
        return f"{get_type_code(kind)}{entry.hash.hex() if isinstance(entry, Struct) else ''}"
    except TypeError as error:
        raise UnknownValueError(kind) from error


def _has_no_gradient(function: wp.Function) -> bool:
    """Whether a function has no derivatives of its own, which come later than the function."""
    if type(function) is LateFunction:
        return True
    return function.custom_grad_func is None and function.custom_replay_func is None


def _takes_functions(function: FunctionType) -> bool:
    """Whether some parameter of a function is a Warp function."""
    return any(kind is wp.Function for kind in function.__annotations__.values())
