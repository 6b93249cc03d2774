"""Launches of the CUDA source of kernels on the CPU, thread by thread, as if there were a CUDA device.

    with emulated_cuda(order="random", seed=3) as emulation:
        simulation = wa.Simulation(scene, environments=64, device="cpu")
        simulation.step(4)
    emulation.check()

Within the block the package takes the CPU for a CUDA device: numbers are scalars, each environment has work space of
its own, meshes have blocks of threads. Launches with a block are emulated; others, whose threads have nothing to do
with each other, are made by Warp on the CPU. Simulations made within must not be used behind it.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from unittest import mock

import warp as wp
from warp._src import context

from tests.cuda_emulation.objects import cuda_source, scheduler, thread_function

ORDERS = "forward", "alternating", "random"
"""Orders in which the threads of a block run, each until it waits: by index; there and back in turn; drawn anew."""

MOST_THREADS = 256
"""Threads of a block; as in scheduler.cpp."""

STACK_BYTES = 1 << 22
"""Of a thread; memory is only used where it has been written."""

OUTCOMES = "finished", "deadlock: threads wait for others that do not come", "stack overflow"


class Counts(ctypes.Structure):
    """What a launch did; as in scheduler.cpp."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("barriers", "exchanges", "divergent", "divergent_line")),
        *((name, ctypes.c_int64) for name in ("races", "race_address", "race_thread", "race_other", "race_block")),
        *((name, ctypes.c_int64) for name in ("reads", "read_bytes", "writes", "written_bytes")),
    ]


SUMS = "barriers", "exchanges", "divergent", "races", "reads", "read_bytes", "writes", "written_bytes"
"""Counts that are added up over launches."""


class _Host(ctypes.Structure):
    """What scheduler.cpp is given."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("getcontext", "makecontext", "swapcontext", "stacks")),
        ("stack_bytes", ctypes.c_size_t),
    ]


class EmulationError(RuntimeError):
    """An emulated launch came to no end, or did what a GPU does not do reliably."""


def unavailable() -> str | None:
    """Why kernels cannot be emulated here, or None."""
    if not sys.platform.startswith("linux"):
        return f"fibers are those of the C library of Linux, and this is {sys.platform}"
    if not hasattr(ctypes.CDLL(None), "swapcontext"):
        return "the C library has no swapcontext"
    return None


@dataclass
class Emulation:
    """How kernels are emulated, and what was found.

    Args:
        order: One of ORDERS.
        seed: Of random orders.
        optimization: Level of the compiler. At 0 a kernel is compiled three times as fast as at 1, and reads again what
            it has read before: bytes are to be counted at a higher one.
        edit: Changes CUDA source, by the name of the kernel, before it is compiled.
        only: Names of kernels; launches of others are made by Warp. All that have a block, by default.
        stops: Whether the first launch with races or divergent barriers raises, else `check` does.
    """

    order: str = "forward"
    seed: int = 0
    optimization: int = 0
    edit: Callable[[str, str], str] | None = None
    only: Sequence[str] | None = None
    stops: bool = False
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each kernel, by name: launches, and SUMS over them."""
    faults: list[str] = field(default_factory=list)
    """A sentence for each launch with races or divergent barriers."""
    _functions: dict[tuple[wp.Kernel, int], int] = field(default_factory=dict)

    def total(self, name: str) -> int:
        """One of SUMS over all kernels."""
        return sum(counts[name] for counts in self.counts.values())

    def check(self) -> None:
        """Raise an EmulationError if there were races or divergent barriers."""
        if self.faults:
            raise EmulationError("\n".join(self.faults[:5]))

    def wants(self, kernel: wp.Kernel, block_dim: int | None) -> bool:
        """Whether a launch is emulated."""
        return block_dim is not None and (self.only is None or name_of(kernel) in self.only)

    def run(self, kernel: wp.Kernel, parameters: Sequence, threads: int, block_dim: int) -> None:
        """Make a launch of so many threads, with parameters as ctypes."""
        if block_dim > MOST_THREADS:
            raise EmulationError(f"{kernel.key}: a block of {block_dim} threads; allowed: at most {MOST_THREADS}")
        name, counts = name_of(kernel), Counts()
        addresses = (ctypes.c_void_p * len(parameters))(*map(ctypes.addressof, parameters))
        blocks = math.ceil(threads / block_dim)
        order = ORDERS.index(self.order)
        outcome = scheduler().launch(
            ctypes.addressof(_host()),
            self._thread_function(kernel, block_dim),
            addresses,
            blocks,
            block_dim,
            order,
            self.seed,
            ctypes.addressof(counts),
        )
        if outcome:
            raise EmulationError(f"{name}: {OUTCOMES[outcome]}")
        own = self.counts.setdefault(name, dict.fromkeys(("launches", *SUMS), 0))
        own["launches"] += 1
        for one in SUMS:
            own[one] += getattr(counts, one)
        if counts.races:
            place = f"threads {counts.race_thread} and {counts.race_other} of block {counts.race_block}"
            self.faults.append(f"{name}: {counts.races} races, the first one of {place} at {counts.race_address:#x}")
        if counts.divergent:
            first = f"the first one in line {counts.divergent_line}"
            self.faults.append(f"{name}: {counts.divergent} barriers or exchanges that not all threads reach, {first}")
        if self.stops:
            self.check()

    def _thread_function(self, kernel: wp.Kernel, block_dim: int) -> int:
        if (kernel, block_dim) not in self._functions:
            edit = None if self.edit is None else partial(self.edit, name_of(kernel))
            self._functions[kernel, block_dim] = thread_function(kernel, block_dim, self.optimization, edit)
        return self._functions[kernel, block_dim]


class EmulatedLaunch:
    """A launch, to make again and again; in place of `wp.Launch`."""

    def __init__(self, emulation: Emulation, kernel: wp.Kernel, dim, values: Sequence, device, block_dim: int):
        self.kernel, self.device, self.block_dim = kernel, wp.get_device(device), block_dim
        cuda_source(kernel, block_dim)  # finds out how many dimensions the threads of a kernel have
        shape, self._threads = context._normalize_launch_dim(dim)
        bounds = context._build_launch_bounds_from_tuple(shape, kernel.adj.kernel_dim)
        self.params = [bounds, *(self._packed(place, value) for place, value in enumerate(values))]
        self._emulation = emulation

    def set_param_at_index(self, place: int, value) -> None:
        """Set an argument."""
        self.params[place + 1] = self._packed(place, value)

    def set_param_at_index_from_ctype(self, place: int, value) -> None:
        """Set an argument that is a number of Python, or packed already."""
        self.set_param_at_index(place, value)

    def launch(self, stream=None) -> None:
        """Make it."""
        if self._threads:
            self._emulation.run(self.kernel, self.params, self._threads, self.block_dim)

    def _packed(self, place: int, value):
        argument = self.kernel.adj.args[place]
        return context.pack_arg(self.kernel, argument.type, argument.label, value, self.device)


def name_of(kernel: wp.Kernel) -> str:
    """The name of a kernel without those of the functions that it is made in."""
    return kernel.key.rpartition("__")[2]


@contextmanager
def emulated_cuda(**options) -> Iterator[Emulation]:
    """Emulate what is launched within; options are those of `Emulation`."""
    emulation, launch_of_warp = Emulation(**options), wp.launch

    def launch(kernel, dim, inputs=(), outputs=(), device=None, block_dim=None, record_cmd=False, **others):
        if not emulation.wants(kernel, block_dim):
            others |= {"device": device, "block_dim": block_dim, "record_cmd": record_cmd}
            return launch_of_warp(kernel, dim, inputs, outputs, **others)
        made = EmulatedLaunch(emulation, kernel, dim, [*inputs, *outputs], device, block_dim)
        return made if record_cmd else made.launch()

    def is_cpu(device) -> bool:
        asks = sys._getframe(1).f_globals["__name__"]
        return device.ordinal < 0 and not asks.startswith("warp_artic.")

    with (
        mock.patch.object(wp, "launch", launch),
        mock.patch.object(wp, "force_load", lambda *_, **__: None),
        mock.patch.object(type(wp.get_device("cpu")), "is_cpu", property(is_cpu)),
    ):
        yield emulation


@cache
def _host() -> _Host:
    library = ctypes.CDLL(None)
    functions = [getattr(library, name) for name in ("getcontext", "makecontext", "swapcontext")]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    stacks = mmap.mmap(-1, MOST_THREADS * STACK_BYTES, flags=flags)
    place = ctypes.addressof(ctypes.c_char.from_buffer(stacks))
    host = _Host(*(ctypes.cast(one, ctypes.c_void_p) for one in functions), place, STACK_BYTES)
    host.stacks_memory = stacks  # kept
    return host
