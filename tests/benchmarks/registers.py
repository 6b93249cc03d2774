"""Registers, stack and spills of every kernel on a GPU, from its machine code; no GPU and no toolkit are needed.

`python -m tests.benchmarks.registers [NAME ...]` has Warp compile the kernels to machine code for an architecture, and
prints a table. (Warp's PTX is of the version of its own compiler: a `ptxas` that is older, such as that of CUDA 13.0,
refuses it.)
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import warp as wp

from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import find_none, mobilities_kernel, report_kernel, runge_kutta_kernel, step_kernel
from warp_artic.math.numbers import numbers_for
from warp_artic.meshes.conjugate_gradients import solver_kernels
from warp_artic.meshes.dynamics import dynamics_kernels
from warp_artic.meshes.element_kernels import elastic_kernels
from warp_artic.meshes.newton import newton_kernels
from warp_artic.meshes.potential import potential_kernels
from warp_artic.meshes.tendon_kernels import tendon_kernels
from warp_artic.meshes.types import mesh_types
from warp_artic.sim.elastic.link_points import coupling_kernels
from warp_artic.sim.elastic.trial_steps import trial_kernels
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.pgs import solve_pgs

COLUMNS = ("registers", "stack", "stores to it", "loads from it", "instructions")
"""Of a kernel and of all functions that it calls: registers a thread, bytes of stack a thread, instructions that store
to it and that load from it (spills, and arrays that are indexed), and SASS instructions of 16 bytes."""

REGISTERS, STACK_BYTES = 0x2F, 0x12
"""Attributes of a kernel in the section .nv.info of a cubin: EIATTR_REGCOUNT and EIATTR_MIN_STACK_SIZE."""
STORE_LOCAL, LOAD_LOCAL = 0x387, 0x983
"""Low 12 bits of the instructions STL and LDL, from Volta to Blackwell."""


def kernels(precision: str) -> dict[str, wp.Kernel]:
    """The kernels of articulations by name."""
    numbers = numbers_for(precision, False)
    found = {
        "step (direct)": step_kernel(numbers, solve_direct, find_none),
        "step (pgs, tgs)": step_kernel(numbers, solve_pgs, find_none),
        "runge_kutta": runge_kutta_kernel(numbers),
        "mobilities": mobilities_kernel(numbers),
        "report": report_kernel(numbers),
    }
    return found | vars(dynamics_kernels_for(numbers))


def kernels_of_meshes(precision: str) -> dict[str, wp.Kernel]:
    """The kernels of elastic bodies by name, of triangles and of tetrahedra."""
    makers = (newton_kernels, dynamics_kernels, coupling_kernels)
    of_devices = (potential_kernels, elastic_kernels, solver_kernels)
    found = {}
    for dim in (2, 3):
        types = mesh_types(dim, precision)
        made = [*(maker(types) for maker in makers), *(maker(types, False) for maker in of_devices)]
        made = [kernel for one in made for kernel in (one if isinstance(one, tuple) else (one,))]
        made += [one for one in vars(tendon_kernels(dim, types.real)).values() if isinstance(one, wp.Kernel)]
        found |= {f"{kernel.key.rpartition('__')[2]} ({dim}D)": kernel for kernel in made}
    return found | {kernel.key.rpartition("__")[2]: kernel for kernel in trial_kernels(types.real)}


def measure(kernel: wp.Kernel, arch: int) -> tuple[int, ...]:
    """The figures of one kernel, as named by COLUMNS."""
    with tempfile.TemporaryDirectory() as folder:
        (cubin,) = wp.compile_aot_module(kernel.module, arch=arch, module_dir=folder, use_ptx=False)
        elf = Path(cubin).read_bytes()
    return figures(elf, f"{kernel.get_mangled_name()}_cuda_kernel_forward")


def figures(cubin: bytes, function: str) -> tuple[int, ...]:
    """The figures of a kernel and of all functions beside it, from machine code in an ELF file."""
    sections = {name: content for name, _, content in _sections(cubin)}
    place = next(place for name, place, _ in _sections(cubin) if name == ".symtab")
    symbol = _symbol(cubin, place, function)
    found = {attribute: value for attribute, about, value in _attributes(sections[".nv.info"]) if about == symbol}
    code = b"".join(content for name, content in sections.items() if name.startswith(".text."))
    operations = [int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(0, len(code), 16)]
    return (
        found[REGISTERS],
        found[STACK_BYTES],
        operations.count(STORE_LOCAL),
        operations.count(LOAD_LOCAL),
        len(operations),
    )


def _numbers(data: bytes, at: int, *places: tuple[int, int]) -> list[int]:
    """Numbers at offsets from a place, of so many bytes each."""
    return [int.from_bytes(data[at + first : at + first + size], "little") for first, size in places]


def _sections(elf: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Name, place of the header and content of each section of an ELF file of 64 bits."""
    table, size, count, names = _numbers(elf, 0, (40, 8), (58, 2), (60, 2), (62, 2))
    (strings,) = _numbers(elf, table + names * size, (24, 8))
    for place in range(table, table + count * size, size):
        name, kind, start, length = _numbers(elf, place, (0, 4), (4, 4), (24, 8), (32, 8))
        yield _string(elf, strings + name), place, b"" if kind == 8 else elf[start : start + length]


def _symbol(elf: bytes, table: int, name: str) -> int:
    """The number of a symbol."""
    headers = [place for _, place, _ in _sections(elf)]
    start, length, link = _numbers(elf, table, (24, 8), (32, 8), (40, 4))
    (strings,) = _numbers(elf, headers[link], (24, 8))
    for k in range(length // 24):
        if _string(elf, strings + _numbers(elf, start + 24 * k, (0, 4))[0]) == name:
            return k
    raise ValueError(f"no symbol {name}")


def _attributes(info: bytes) -> Iterator[tuple[int, int, int]]:
    """Attribute, number of a symbol and value, of those that are such."""
    at = 0
    while at < len(info):
        form, attribute, length = _numbers(info, at, (0, 1), (1, 1), (2, 2))
        if form == 4 and length == 8:
            yield attribute, *_numbers(info, at + 4, (0, 4), (4, 4))
        at += 4 + (length if form == 4 else 0)


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(0, at)].decode()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels of the table, such as report (all)")
    parser.add_argument("--arch", type=int, default=90, help="compute capability times ten (90)")
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32")
    parser.add_argument("--meshes", action="store_true", help="kernels of elastic bodies instead")
    arguments = parser.parse_args()
    wp.config.quiet = True
    print(f"{arguments.precision}, sm_{arguments.arch}\n\n| kernel | {' | '.join(COLUMNS)} |")
    print(f"| --- |{' ---: |' * len(COLUMNS)}")
    chosen = kernels_of_meshes if arguments.meshes else kernels
    for name, kernel in chosen(arguments.precision).items():
        if not arguments.names or name in arguments.names:
            print(f"| {name} | {' | '.join(map(str, measure(kernel, arguments.arch)))} |", flush=True)


if __name__ == "__main__":
    main()
