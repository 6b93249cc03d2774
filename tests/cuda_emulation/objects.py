"""Objects of the host from the CUDA source that Warp generates for a kernel, by Warp's own compiler for CPUs.

The source is compiled behind `shim.h`, with the hooks of the thread sanitizer; `scheduler.cpp` is an object of its
own. Objects lie in Warp's kernel cache, named by a hash of all they are made of.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import warp as wp
from warp._src import context

HERE = Path(__file__).parent
PARTS = "runtime.h", "shim.h", "race_watch.h", "scheduler.cpp"
ARCH = 90
"""Compute capability times ten that source is generated for; headers of Warp are read as for 60, see shim.h."""

SYSTEM = "#pragma clang system_header\n"
"""Without warnings."""
ALWAYS = b"-fno-threadsafe-statics", b"-Wno-everything"
UNASSIGNED = b"-Werror=uninitialized", b"-Werror=sometimes-uninitialized", b"-Werror=conditional-uninitialized"
"""Generated source that may read a variable that is not assigned does not compile: Warp assigns a captured constant
where it is used first, which may be in a branch that is not taken."""

SHARED = re.compile(r"__shared__\s+(alignas\(\w+\)\s+|)([^;]*?)\b(\w+)((?:\s*\[[^;]*\])?)\s*;")
"""A declaration of shared memory: alignment, type, name and size."""

DYNAMIC_SHARED = "::cuda_emulation::dynamic_shared()"

_handles = itertools.count()


@cache
def cuda_source(kernel: wp.Kernel, block_dim: int) -> tuple[str, str]:
    """The CUDA source of the module of a kernel for blocks of so many threads, and the name of the kernel in it."""
    module = kernel.module
    module.get_module_hash(block_dim)
    options = module.resolve_options(wp.config, block_dim=block_dim) | {"output_arch": ARCH}
    source, *_ = module._run_codegen(options, is_cpu=False)
    name = kernel.get_mangled_name(kernel_hash=module.hashers[block_dim].kernel_hashes[kernel])
    return source, f"{name}_cuda_kernel_forward"


def host_source(source: str, name: str) -> str:
    """The source as C++, with a function `cuda_emulation_entry` that one thread of a launch calls."""
    arguments = re.search(rf"\b{name}\(\n(.*?)\)\n\{{", source, re.DOTALL)
    types = [re.sub(r"\s*\w+$", "", one.strip()) for one in arguments[1].split(",\n")]
    passed = ", ".join(f"*({one}*)arguments[{k}]" for k, one in enumerate(types))
    entry = (
        '\nextern "C" __attribute__((no_sanitize("thread"))) void cuda_emulation_entry(void** arguments)\n'
        f"{{\n    {name}({passed});\n}}\n"
    )
    return f'#include "shim.h"\n{_plain(source.replace("#define WP_NO_CRT", ""))}{entry}'


def thread_function(
    kernel: wp.Kernel, block_dim: int, optimization: int, edit: Callable[[str], str] | None = None
) -> int:
    """The address of a function that runs one thread of a kernel; `edit` changes its CUDA source before."""
    source, name = cuda_source(kernel, block_dim)
    source = host_source(edit(source) if edit else source, name)
    path = _object(source, optimization, (b"-fsanitize=thread", *UNASSIGNED))
    handle = _load(path)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_find(handle, "cuda_emulation_bind"))(scheduler().runtime)
    return _find(handle, "cuda_emulation_entry")


@dataclass(frozen=True)
class Scheduler:
    """The scheduler, see scheduler.cpp."""

    runtime: int
    """Address of what kernels call."""
    launch: Callable[..., int]
    """Runs a kernel."""


@cache
def scheduler() -> Scheduler:
    """The scheduler of this process."""
    handle = _load(_object('#include "scheduler.cpp"\n', 2))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    launch = ctypes.CFUNCTYPE(number, pointer, pointer, pointer, number, number, number, ctypes.c_int64, pointer)
    runtime = ctypes.CFUNCTYPE(pointer)(_find(handle, "cuda_emulation_runtime"))
    return Scheduler(runtime(), launch(_find(handle, "cuda_emulation_launch")))


def _plain(text: str) -> str:
    """Source with shared memory as variables that are static, and poisoned by the scheduler; without comments."""
    text = re.sub(r"//.*", "", text)
    text = text.replace("extern __shared__ char dynamic_smem_base[]", f"char* dynamic_smem_base = {DYNAMIC_SHARED}")
    return SHARED.sub(r"\1static \2\3\4; ::cuda_emulation::share(&\3, sizeof(\3));", text)


@cache
def _headers() -> Path:
    """A folder with Warp's headers as `_plain` has them, and the parts of the emulation."""
    native = Path(wp.__file__).parent / "native"
    texts = {str(one.relative_to(native)): one for one in native.rglob("*.h") if one.name != "cuda_crt.h"}
    texts = {name: SYSTEM + _plain(one.read_text(encoding="utf-8", errors="replace")) for name, one in texts.items()}
    texts |= {name: (HERE / name).read_text() for name in PARTS}
    key = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]
    folder = Path(wp.config.kernel_cache_dir) / "cuda_emulation" / key
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        for name, text in texts.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text, encoding="utf-8")
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            pass
    return folder


def _object(source: str, optimization: int, flags: tuple[bytes, ...] = ()) -> Path:
    """The object of a source, compiled unless that is done."""
    folder, flags = _headers(), (*ALWAYS, *flags)
    key = hashlib.sha256(f"{folder.name} {optimization} {flags} {source}".encode()).hexdigest()[:16]
    path = folder / f"{key}.o"
    if not path.exists():
        # Headers are found beside the source before Warp's own are looked for.
        made = folder / f"{key}_{os.getpid()}"
        failed = context.runtime.llvm.wp_compile_cpp(
            source.encode(),
            str(made.with_suffix(".cpp")).encode(),
            str(folder).encode(),
            str(made).encode(),
            False,  # debug
            False,  # verify_fp
            False,  # fuse_fp: sums and products are rounded apart, as on a CPU
            False,  # tiles_in_stack_memory
            (ctypes.c_char_p * (len(flags) + 1))(*flags, None),
            optimization,
            False,  # verbose
            False,  # use_precompiled_headers
            None,
            1,
        )
        if failed:
            raise RuntimeError(f"{key} does not compile: the compiler says on stderr why")
        made.replace(path)
    return path


@cache
def _load(path: Path) -> bytes:
    """Load an object into this process for good; the name it has there."""
    handle = f"cuda_emulation_{next(_handles)}".encode()
    if context.runtime.llvm.wp_load_obj(str(path).encode(), handle, False):
        raise RuntimeError(f"{path} cannot be loaded")
    return handle


def _find(handle: bytes, name: str) -> int:
    """The address of a function of a loaded object."""
    return context.runtime.llvm.wp_lookup(handle, name.encode())
