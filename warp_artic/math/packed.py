"""A recorded launch whose arguments are packed once: on a CPU it is one call of the native function.

Warp packs the arguments of a recorded launch anew at each launch, structs of some kilobytes by the names of what is in
them, which takes as long as a step of a small robot. From one launch to the next only some numbers change here.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial

import warp as wp


class PackedLaunch:
    """A recorded launch, to make again and again.

    Structs are those of the recording: who gives a kernel other arrays records it anew.
    """

    def __init__(self, launch: wp.Launch):
        labels = [argument.label for argument in launch.kernel.adj.args]
        values = launch.params[1:]  # the first one is the size of the launch
        self._launch = launch
        self._places = {label: place for place, label in enumerate(labels)}
        self._arguments = _packed(tuple(zip(labels, map(type, values))))(*values)
        self._is_native = launch.device.is_cpu and launch.block_dim == 1
        self.run = launch.launch
        """Launches it."""
        self._bind()

    def resize(self, dim: tuple[int, ...]) -> None:
        """Let it be as large as this from now on."""
        self._launch.set_dim(dim)
        self._bind()

    def set(self, name: str, value) -> None:
        """Set an argument that is a number or a struct."""
        if not self._is_native:
            self._launch.set_param_at_index(self._places[name], value)
        else:
            setattr(self._arguments, name, value if isinstance(value, (int, float)) else value.__ctype__())

    def _bind(self) -> None:
        if self._is_native:
            size, arguments = ctypes.byref(self._launch.params[0]), ctypes.byref(self._arguments)
            self.run = partial(self._launch.hooks.forward, size, arguments)

    def record(self) -> None:
        """Launch it as Warp does, which a capture takes in."""
        if self._is_native:
            for name, place in self._places.items():
                value = getattr(self._arguments, name)
                if isinstance(value, (int, float)):
                    self._launch.set_param_at_index_from_ctype(place, value)
        self._launch.launch()


@cache
def _packed(fields: tuple[tuple[str, type], ...]) -> type[ctypes.Structure]:
    """The struct that the native function of a kernel with these arguments is given."""
    return type("Arguments", (ctypes.Structure,), {"_fields_": fields})
