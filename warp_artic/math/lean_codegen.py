"""Has Warp write the source of our kernels leanly, for CPUs and for CUDA, as `math.lean_source` says.

Warp has no option for that, so two methods of it are wrapped, which give the source of a module. They act on modules
whose flags of the compiler have MARK; that is part of the name of a kernel in the cache, so that no kernel is taken for
one that another version of the rewriting made. Kernels of others, and those that are to check bounds or numbers, are
left alone. With a version of Warp that is not known, or a source that is not understood, kernels are compiled as Warp
writes them: the same results, after ten times the time; a step for CUDA was not compiled within ten minutes.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache, wraps

import warp as wp

from warp_artic.math import kept_headers, remembered_types
from warp_artic.math.lean_source import UnknownSourceError, rewritten

LOG = logging.getLogger("warp_artic")
KNOWN = ("1.19.",)
"""Beginnings of the versions of Warp whose source is known."""
REWRITING = 5
"""Version of `lean_source`: another one wherever what it writes changes."""
MARK = f"-DWARP_ARTIC_REWRITING={REWRITING}"
"""Flag of the compiler of modules that are rewritten, which does nothing else."""

MARKED = "rewrites_for_warp_artic"
"""Attribute of the method that wraps that of Warp."""


def is_known(version: str = wp.config.version) -> bool:
    """Whether what a version of Warp writes is known."""
    return version.startswith(KNOWN)


def cpu_flags(lean: str, plain: str) -> str:
    """Flags of the compiler for modules that are rewritten, and where none can be, those for such as Warp writes."""
    return f"{lean} {MARK}" if _install() else plain


@cache
def _install() -> bool:
    """Wrap the method of Warp; whether it is done."""
    try:
        from warp._src.context import ModuleBuilder

        write, write_functions = ModuleBuilder.codegen, ModuleBuilder._codegen_functions
    except (ImportError, AttributeError):
        write = None
    if write is None or not is_known():
        LOG.warning("kernels take long to compile: the sources of Warp %s are not known", wp.config.version)
        return False

    if hasattr(write, MARKED):
        return True

    @wraps(write)
    def codegen(builder, device: str) -> str:
        return lean(write(builder, device), builder.options)

    @wraps(write_functions)
    def codegen_functions(builder, functions, device: str, **parts: bool) -> str:
        if parts.get("reverse_only") and is_lean(builder.options):
            return ""  # empty functions, of which none is called
        return write_functions(builder, functions, device, **parts)

    for part in (remembered_types, kept_headers):
        with suppress(ImportError, AttributeError):  # without them kernels only take longer
            part.install()
    setattr(codegen, MARKED, True)
    ModuleBuilder.codegen, ModuleBuilder._codegen_functions = codegen, codegen_functions
    return True


def is_lean(options: dict) -> bool:
    """Whether the source of a module with some resolved options is to be rewritten."""
    is_checked = options["mode"] == "debug" or options["verify_fp"]
    return MARK in (options["cpu_compiler_flags"] or "").split() and not is_checked


def lean(source: str, options: dict) -> str:
    """The source of a module with some resolved options: rewritten where it is to be and can be."""
    if not is_lean(options):
        return source
    try:
        return rewritten(source)
    except UnknownSourceError as error:
        LOG.warning("a kernel takes long to compile: its source is not understood (%s)", error)
        return source
