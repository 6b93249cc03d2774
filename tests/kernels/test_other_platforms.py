"""Sources of kernels compile for other processors and systems, with a compiler that knows them."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import warp as wp

from tests.math.test_lean_source import source_of
from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import report_kernel
from warp_artic.math.numbers import SCALAR64, WIDE32

NATIVE = Path(wp.__file__).parent / "native"
COMPILER = [sys.executable, "-m", "ziglang", "c++"]
PLATFORMS = {
    "aarch64-linux-gnu": (b"\x7fELF", []),
    "aarch64-macos": (b"\xcf\xfa\xed\xfe", []),
    "x86_64-windows-gnu": (b"\x64\x86", ["-fms-extensions", "-march=x86_64_v3"]),
}
"""How objects of a platform begin, and flags that its sources need."""


@pytest.mark.skipif(not find_spec("ziglang"), reason="ziglang, a clang with headers of other systems, is not there")
@pytest.mark.parametrize("numbers", [WIDE32, SCALAR64], ids=["lanes", "scalar"])
@pytest.mark.parametrize("name", ["report", "square_roots"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_sources_compile(platform, name, numbers, tmp_path):
    """To objects of that platform, with the flags that it is given there."""
    start, flags = PLATFORMS[platform]
    source, target = tmp_path / "kernel.cpp", tmp_path / "kernel.o"
    kernel = report_kernel(numbers) if name == "report" else dynamics_kernels_for(numbers).square_roots
    source.write_text(source_of(kernel))
    told = ["-std=c++17", "-DNDEBUG", "-O1", "-fno-slp-vectorize", "-mllvm", "-inline-threshold=1000000", "-w"]
    command = [*COMPILER, "-target", platform, *flags, *told, f"-I{NATIVE}", "-c", str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    assert target.read_bytes().startswith(start)
