"""Rates of the free axes of loop joints, on which friction, armature and velocity limits act as on joints of trees.

Of a translation, of a single rotation, and of the twist and the swing of a universal joint it is that of the coordinate
y of `loop_axis`. Of several rotations, balls and zero-twist joints, it is a velocity of the joint of a tree: that about
an axis a of frame 1, of the twist or of a swing, with w = w_1 - w_0
    ydot = a . w,   c = a . (wdot_1 - wdot_0) + (w_1 x a) . w.
A zero-twist joint of a tree has this up to a swing of `joints.swing.FAR`; beyond, its second velocity is another.
"""

from collections.abc import Callable

import warp as wp

from warp_artic.constraints.loop_axis import apply_wrench, axis_places, place_loop_axis, take_loop_axis_off
from warp_artic.constraints.loop_geometry import frame_axes, set_loop_jacobian, spin_bias
from warp_artic.constraints.loop_place import loop_place
from warp_artic.constraints.loop_scales import SCALED_LOOPS
from warp_artic.description.loop_joint import LoopAxis
from warp_artic.math.numbers import Real, add, mul, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import column, cross, dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3
from warp_artic.model.families import PUSHES_LINKS, ConstraintFamily
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.kinds import TURN_NONE


@wp.func
def turned_about(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """The axis a of one of several rotations in the world, where the links are placed."""
    loop = model.loop_axis_loop[item]
    axis = (model.loop_axis_part[item] + model.loop_axis[loop]) % 3
    return column(frame_axes(work.R_WM, model.loop_link1[loop], model.loop_frame1, loop, block, worker), axis)


@wp.func
def place_turn_about(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Write J of the rate of one of several rotations, where the links are placed, and return a."""
    item = model.row_item[row]
    a = turned_about(model, work, item, block, worker)
    loop = model.loop_axis_loop[item]
    at = loop_place(loop, block, worker, work.R_WM, work.axis, work.p_WM, a, a)
    set_loop_jacobian(model, work, at, row, False, a)
    return a


@wp.func
def place_loop_rate(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """c of the rate of a row where the links are placed with `work.v_middle`; writes J."""
    item = model.row_item[row]
    if model.loop_axis_turn[item] == TURN_NONE:
        y, c = place_loop_axis(model, work, row, block, worker)
        return c
    a = place_turn_about(model, work, row, block, worker)
    loop = model.loop_axis_loop[item]
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    meet = model.loop_meet[loop]
    w_1 = load_vec3(work.w, 3 * outer, worker)
    wdot = spin_bias(model, work, outer, meet, worker) - spin_bias(model, work, inner, meet, worker)
    return dot(a, wdot) + dot(cross(w_1, a), w_1 - load_vec3(work.w, 3 * inner, worker))


@wp.func
def take_loop_rate_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a row on a rate does to its links off what these need: other joints do not transmit it."""
    item = model.row_item[row]
    if model.loop_axis_turn[item] == TURN_NONE:
        take_loop_axis_off(model, work, row, block, worker, force)
    else:
        a = turned_about(model, work, item, block, worker)
        apply_wrench(model, work, item, worker, a * force, a)


def acts_on_rates(has: Callable[[LoopAxis], bool], traits: int = 0, **own) -> ConstraintFamily:
    """The family of what acts on the rates of the axes that have it."""
    return ConstraintFamily(
        part=ForcePart.LOOP,
        places=lambda articulation, layout: axis_places(articulation, layout, has),
        traits=traits | PUSHES_LINKS,
        acts_always=True,
        needs_places=True,
        has_own_force_jacobian=SCALED_LOOPS,
        subtract_wrench=take_loop_rate_off,
        **own,
    )
