"""Armature of the free axes of loop joints: an inertia I with a rate ydot of `loop_rate`.

Its kinetic energy is I ydot^2 / 2, so that it takes the impulse I (change of ydot) from the joint. With J of q_M and
the acceleration c by velocities alone there, ydot changes over a (sub)step by J v+ - J v + h c:
    y + z / I = J v - h c
What closes loops at the end of a step has the armature against it too (`solver.close_loops`): y + z / I = 0 of changes.
It is in reported energies, of the tree of the second body (of the first one where that is the world), and neither in
mass matrices nor in the inertia that an acceleration drive of the axis has.
"""

import warp as wp

from warp_artic.constraints.loop_axis import leave_broken, of_axes
from warp_artic.constraints.loop_rate import acts_on_rates, place_loop_rate
from warp_artic.constraints.rows import row_rate
from warp_artic.constraints.spring import set_law_row
from warp_artic.math.numbers import Real, add, div, mul, neg, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.families import LOOKS_AT_ACCELERATIONS, RESISTS
from warp_artic.phases.outputs import report_value


@wp.func
def set_loop_armature_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of an armature."""
    c = place_loop_rate(model, work, row, block, worker)
    slope = model.loop_armature[model.row_item[row], block] / h
    set_law_row(work, row, worker, slope * (h * c - row_rate(model, work, work.v, row, worker)), slope, h)
    leave_broken(model, work, row, worker)


@wp.func
def resists(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """One where there is an armature, else zero; with its compliance it resists any change of velocities."""
    item = model.row_item[row]
    inertia = model.loop_armature[item, block]
    zero = inertia - inertia
    return where_positive(inertia, real(1.0, zero) - work.loop_is_broken[model.loop_axis_loop[item], worker], zero)


@wp.func
def report_loop_armature(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Add the kinetic energy of an armature to that of a tree."""
    item = model.row_item[row]
    loop = model.loop_axis_loop[item]
    link = int(model.loop_link1[loop])
    if link == model.link_count:
        link = model.loop_link0[loop]
    place_loop_rate(model, work, row, block, worker)
    rate = row_rate(model, work, work.v, row, worker)
    energy = model.loop_armature[item, block] * rate * rate * real(0.5, rate)
    energy = where_positive(state.loop_broken[loop, block], energy - energy, energy)
    place = 2 * model.link_tree[link]
    report_value(report.energy, place, block, state.failure[0, block], report.energy[place, block] + energy)


LOOP_ARMATURE = acts_on_rates(
    lambda own: own.armature > 0.0,
    LOOKS_AT_ACCELERATIONS | RESISTS,
    name="loop armature",
    order=110,
    label=("armature of a loop joint", "armatures of loop joints"),
    law=set_loop_armature_row,
    report=report_loop_armature,
    parameters=(of_axes("loop_armature", lambda own: [own.armature], NOT_NEGATIVE),),
)
