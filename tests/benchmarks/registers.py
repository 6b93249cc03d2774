"""Registers, stack and spills of every kernel on a GPU, from its machine code; no GPU is needed.

`python -m tests.benchmarks.registers` compiles the kernels to PTX for an architecture, has them assembled by `ptxas`
(from a CUDA toolkit, or `pip install nvidia-cuda-nvcc`), and prints a table.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import warp as wp

from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import mobilities_kernel, report_kernel, runge_kutta_kernel, step_kernel
from warp_artic.math.numbers import numbers_for
from warp_artic.meshes.conjugate_gradients import solver_kernels
from warp_artic.meshes.dynamics import dynamics_kernels
from warp_artic.meshes.elastic import elastic_kernels
from warp_artic.meshes.newton import newton_kernels
from warp_artic.meshes.potential import potential_kernels
from warp_artic.meshes.tendon_kernels import tendon_kernels
from warp_artic.meshes.types import mesh_types
from warp_artic.sim.elastic.link_points import coupling_kernels
from warp_artic.sim.elastic.trial_steps import trial_kernels
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.pgs import solve_pgs

COLUMNS = ("registers", "stack", "spill stores", "spill loads", "instructions")
"""Of a kernel: registers a thread, bytes of stack and of spills a thread, and SASS instructions of 16 bytes."""


def kernels(precision: str) -> dict[str, wp.Kernel]:
    """The kernels of articulations by name."""
    numbers = numbers_for(precision, False)
    found = {
        "step (direct)": step_kernel(numbers, solve_direct),
        "step (pgs, tgs)": step_kernel(numbers, solve_pgs),
        "runge_kutta": runge_kutta_kernel(numbers),
        "mobilities": mobilities_kernel(numbers),
        "report": report_kernel(numbers),
    }
    return found | vars(dynamics_kernels_for(numbers))


def kernels_of_meshes(precision: str) -> dict[str, wp.Kernel]:
    """The kernels of elastic bodies by name, of triangles and of tetrahedra."""
    makers = (potential_kernels, newton_kernels, dynamics_kernels, coupling_kernels)
    found = {}
    for dim in (2, 3):
        types = mesh_types(dim, precision)
        made = [*(maker(types) for maker in makers), elastic_kernels(types, False), solver_kernels(types, False)]
        made = [kernel for one in made for kernel in (one if isinstance(one, tuple) else (one,))]
        made += [one for one in vars(tendon_kernels(dim, types.real)).values() if isinstance(one, wp.Kernel)]
        found |= {f"{kernel.key.rpartition('__')[2]} ({dim}D)": kernel for kernel in made}
    return found | {kernel.key.rpartition("__")[2]: kernel for kernel in trial_kernels(types.real)}


def measure(kernel: wp.Kernel, arch: int, ptxas: str) -> tuple[int, ...]:
    """The figures of one kernel, as named by COLUMNS."""
    with tempfile.TemporaryDirectory() as folder:
        (ptx,) = wp.compile_aot_module(kernel.module, arch=arch, module_dir=folder, use_ptx=True)
        text = Path(ptx).read_bytes().rstrip(b"\0")
        Path(ptx).write_bytes(text)
        cubin = Path(folder) / "kernel.cubin"
        command = [ptxas, "-v", f"-arch=sm_{arch}", "-o", str(cubin), str(ptx)]
        assembled = subprocess.run(command, capture_output=True, text=True)
        if assembled.returncode:
            raise SystemExit(f"{ptxas}: {assembled.stderr or assembled.stdout}")
        said = assembled.stderr
        code = _code_size(cubin.read_bytes())
    # A module may have several kernels; its code is that of all.
    said = said[said.index(f"Compiling entry function '{kernel.get_mangled_name()}_cuda_kernel_forward") :]
    patterns = (
        r"Used (\d+) registers",
        r"(\d+) bytes stack frame",
        r"(\d+) bytes spill stores",
        r"(\d+) bytes spill loads",
    )
    return *(int(re.search(pattern, said)[1]) for pattern in patterns), code // 16


def _code_size(elf: bytes) -> int:
    """Bytes of the sections of an ELF file (64 bits) whose names begin with .text."""
    table, size, count, names = (
        int.from_bytes(elf[at : at + length], "little") for at, length in ((40, 8), (58, 2), (60, 2), (62, 2))
    )
    headers = [elf[table + k * size : table + (k + 1) * size] for k in range(count)]
    start = int.from_bytes(headers[names][24:32], "little")
    found = 0
    for header in headers:
        name = start + int.from_bytes(header[:4], "little")
        if elf[name : name + 6] == b".text.":
            found += int.from_bytes(header[32:40], "little")
    return found


def _ptxas() -> str:
    """The assembler: of a package, whose version is likely to know the PTX of this Warp, else on the path."""
    for folder in sys.path:
        for found in Path(folder or ".").glob("nvidia/cu*/bin/ptxas"):
            return str(found)
    if found := shutil.which("ptxas"):
        return found
    raise SystemExit("there is no ptxas; pip install nvidia-cuda-nvcc has one")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", type=int, default=90, help="compute capability times ten (90)")
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32")
    parser.add_argument("--meshes", action="store_true", help="kernels of elastic bodies instead")
    arguments = parser.parse_args()
    wp.config.quiet = True
    ptxas = _ptxas()
    print(f"{arguments.precision}, sm_{arguments.arch}\n\n| kernel | {' | '.join(COLUMNS)} |")
    print(f"| --- |{' ---: |' * len(COLUMNS)}")
    chosen = kernels_of_meshes if arguments.meshes else kernels
    for name, kernel in chosen(arguments.precision).items():
        print(f"| {name} | {' | '.join(map(str, measure(kernel, arguments.arch, ptxas)))} |", flush=True)


if __name__ == "__main__":
    main()
