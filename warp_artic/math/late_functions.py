"""Has Warp look into our functions only when it needs them.

Warp reads the source of a function where it is decorated, parses it, and looks for all that it calls: a millisecond for
each of our 1,100, of which a run needs none where its kernels are in the cache (`math.kernel_digest`). So a function is
registered with Warp when something of it is asked for that is not known of the Python function alone. Its source is
that of the time when it was decorated, whatever happens to the file meanwhile. Functions of others are left alone, and
with a version of Warp that is not known so are ours.
"""

from __future__ import annotations

import inspect
import linecache
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, update_wrapper, wraps
from threading import RLock

import warp as wp

OURS = "warp_artic."
"""What the names of modules begin with whose functions wait."""

_lock = RLock()
_files: dict[str, tuple[tuple[int, int], list[str]]] = {}
"""When files were written, how long they were, and their lines."""


@dataclass(frozen=True)
class Overload:
    """One of the functions that a Warp function consists of."""

    function: Callable
    """In Python."""
    register: str
    """An expression that has Warp make a function of it, in terms of `function` and of `names`."""
    names: Mapping[str, object]
    lines: list[str]
    """Those of its file, as they were when it was decorated."""
    snippet: str = ""
    """Its body where that is source of the compiler."""

    @cached_property
    def source(self) -> str:
        """Its lines, from the decorators on, and its body where that is source of the compiler."""
        code = self.function.__code__
        lines = self.lines[code.co_firstlineno - 1 :]
        end = max(line for _, _, line in code.co_lines() if line) - code.co_firstlineno + 1
        # What follows the last line that does something is further to the right than the first one, or a bracket.
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > _indent(lines[0])):
            end += 1
        return "".join(lines[:end]) + self.snippet

    def registered(self, existing: wp.Function | None) -> wp.Function:
        """The function of Warp, which may extend an existing one."""
        _keep(self.function.__code__.co_filename, self.lines)
        # Warp looks in the scope that it is called from for what has the name so far.
        scope = {} if existing is None else {self.function.__name__: existing}
        return eval(self.register, {**self.names, "function": self.function}, scope)


class LateFunction(wp.Function):
    """A Warp function that is registered when Warp first compiles it."""

    def __init__(self, first: Overload):
        self.func = first.function
        self.overloads_in_python: list[Overload] = []
        self.extend(first)

    def extend(self, overload: Overload) -> None:
        """Add an overload, or replace that with the same types."""
        self.overloads_in_python.append(overload)
        update_wrapper(self, overload.function)

    @property
    def module(self) -> wp.Module:
        """The module of Warp that it belongs to."""
        return wp.get_module(self.func.__module__)

    def __getattr__(self, name: str):
        """What is known of a registered function only."""
        if name.startswith("__"):
            raise AttributeError(name)
        with _lock:
            if type(self) is LateFunction:
                registered = None
                for overload in self.overloads_in_python:
                    registered = overload.registered(registered)
                self.__dict__.update(vars(registered))
                self.__class__ = wp.Function
        return getattr(self, name)


def install() -> None:
    """Have functions of ours wait that are decorated from now on."""
    func, func_native = wp.func, wp.func_native
    names = {"func": func, "func_native": func_native}

    @wraps(func)
    def late_func(function: Callable | None = None, **options):
        scope = inspect.currentframe().f_back.f_locals
        if function is None or options or not is_ours(function):
            return eval("func(function, **options)", {**names, "function": function, "options": options}, scope)
        return _late(Overload(function, "func(function)", names, _lines(function)), scope)

    @wraps(func_native)
    def late_func_native(snippet: str, *more, **options):
        scope = inspect.currentframe().f_back.f_locals
        here = {**names, "snippet": snippet, "more": more, "options": options}

        def decorate(function: Callable) -> wp.Function:
            if more or options or not is_ours(function):
                return at_once(function)
            register = "func_native(snippet)(function)"
            return _late(Overload(function, register, here, _lines(function), snippet), scope)

        at_once = eval("func_native(snippet, *more, **options)", here, scope)
        return decorate

    wp.func, wp.func_native = late_func, late_func_native


def is_ours(function: Callable) -> bool:
    """Whether a Python function is one of this package."""
    return (function.__module__ or "").startswith(OURS)


def _late(overload: Overload, scope: Mapping[str, object]) -> wp.Function:
    """A function that waits, or that with its name in a scope with one more overload."""
    existing = scope.get(overload.function.__name__)
    with _lock:
        if isinstance(existing, LateFunction):
            existing.extend(overload)
            return existing
        if not isinstance(existing, wp.Function):
            return LateFunction(overload)
        # It is registered already.
        registered = overload.registered(existing)
        if hasattr(existing, "overloads_in_python"):
            registered.overloads_in_python = [*existing.overloads_in_python, overload]
        return registered


def _lines(function: Callable) -> list[str]:
    """The lines of the file of a function, as they are now."""
    path = function.__code__.co_filename
    try:
        found = os.stat(path)
    except OSError:  # it is put together, or in an archive
        return linecache.getlines(path, function.__globals__)
    stamp = found.st_mtime_ns, found.st_size
    if path not in _files or _files[path][0] != stamp:
        linecache.cache.pop(path, None)
        _files[path] = stamp, linecache.getlines(path)
        _keep(path, _files[path][1])
    return _files[path][1]


def _keep(path: str, lines: list[str]) -> None:
    """Keep lines where Warp and tracebacks look for those of a file, whatever happens to it."""
    linecache.cache[path] = len(lines), None, lines, path


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
