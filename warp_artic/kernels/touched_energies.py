"""The kernels of what contacts among many bodies leave trees of energy (`solver.touched_trees`)."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import Numbers, real
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.solver.touched_trees import add_contact_work, keep_free_energies, limit_energies


@cache
def energy_kernels_for(numbers: Numbers) -> SimpleNamespace:
    """The kernels of a number type, compiled at their first launch."""
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    Array = wp.array2d(dtype=numbers.real)

    @wp.kernel(**OPTIONS)
    def free_energies(
        model: Model, state: State, control: Control, work: Work, blocks: int, workers: int, energy: Array
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            keep_free_energies(model, state, control, work, energy, block, worker)

    @wp.kernel(**OPTIONS)
    def contact_work(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
        workers: int,
        dt: wp.float64,
        time_ahead: wp.float64,
        free: Array,
        found: Array,
        energy: Array,
        touched: Array,
    ):
        worker = wp.tid()
        h = real(dt, model.gravity[0, 0])
        ahead = real(time_ahead, h)
        for block in range(worker, blocks, workers):
            add_contact_work(model, state, control, work, free, found, energy, touched, block, worker, h, ahead)

    @wp.kernel(**OPTIONS)
    def touched_energies(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
        workers: int,
        energy: Array,
        touched: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            limit_energies(model, state, control, work, energy, touched, block, worker)

    return SimpleNamespace(free_energies=free_energies, contact_work=contact_work, touched_energies=touched_energies)
