"""Has Warp keep the precompiled header of its kernels for a CPU, and make it while it writes the source of the first.

Every source begins with Warp's own header. Precompiling it takes 1.9 CPU seconds, and Warp does so anew in each thread
of each process that compiles something. Here it stays in the kernel cache, a file of 5 MB for each set of flags of the
compiler, which Warp moves to its place when it is whole. It is that of the headers of one installation: of their place
and their age, so that environments that share a cache have one each.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from functools import cache, wraps
from pathlib import Path

import warp as wp

FOLDER = "headers"
"""In the kernel cache."""
ENDING = ".pch"
"""Of the names of such files."""
EMPTY = '#define WP_NO_CRT\n#include "builtin.h"\n'
"""A source of nothing but the header."""

_made: threading.Thread | None = None
"""What makes one, or has made one."""


def install() -> None:
    """Wrap the methods of Warp that say where headers are, and that write the source of a module.

    Raises:
        ImportError, AttributeError: They are not where they are known to be.
    """
    from warp._src.build import build_cpu
    from warp._src.context import Module, Runtime

    place, write = Runtime.get_clang_pch_dir, Module._run_codegen

    @wraps(place)
    def get_clang_pch_dir(runtime) -> str | None:
        if _made is not None and _made is not threading.current_thread():
            _made.join()
        return place(runtime) and (folder() or place(runtime))

    @wraps(write)
    def run_codegen(module, options: dict, is_cpu: bool):
        global _made
        if _made is None and is_cpu and options["use_precompiled_headers"] and is_missing():
            _made = threading.Thread(target=make, args=(build_cpu, options), daemon=True)
            _made.start()
        return write(module, options, is_cpu)

    Runtime.get_clang_pch_dir, Module._run_codegen = get_clang_pch_dir, run_codegen


def folder() -> str | None:
    """Where headers are kept; None where there can be no such folder."""
    if not wp.config.kernel_cache_dir:  # Warp has not begun
        return None
    path = os.path.join(wp.config.kernel_cache_dir, FOLDER, _installation())
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


@cache
def _installation() -> str:
    """A name for the headers of this installation of Warp."""
    header = Path(wp.__file__).resolve().with_name("native") / "builtin.h"
    return hashlib.sha256(f"{header} {header.stat().st_mtime_ns}".encode()).hexdigest()[:12]


def is_missing() -> bool:
    """Whether there is a folder for headers, and none in it."""
    path = folder()
    return path is not None and not any(name.endswith(ENDING) for name in os.listdir(path))


def make(build_cpu, options: dict) -> None:
    """Make the header for some resolved options of a module, by compiling a source of nothing else."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "empty.cpp")
        source.write_text(EMPTY)
        build_cpu(
            str(source.with_suffix(".o")),
            str(source),
            mode=options["mode"],
            fast_math=options["fast_math"],
            verify_fp=options["verify_fp"],
            fuse_fp=options["fuse_fp"],
            extra_flags=options["cpu_compiler_flags"],
            optimization_level=2 if options["optimization_level"] is None else options["optimization_level"],
            use_precompiled_headers=True,
            pch_dir=folder(),
            block_dim=options["block_dim"],
            enable_tiles_in_stack_memory=options["enable_tiles_in_stack_memory"],
            extra_include_dirs=options["extra_cpu_include_dirs"],
        )
