"""Loop joints: the axes that a joint beside the tree holds between its frames 0 and 1, on two links or the world.

Each held axis is an equality row on the velocity of frame 1 against frame 0, with d = x_1 - x_0 from origin to origin,
u = v_1 - v_0 - w_0 x d the velocity of the origin 1 as it is seen from frame 0, and w = w_1 - w_0:
    all translations, along e_k of frame 0      y = e_k . (v_1 - v_0),  phi = e_k . d
    one or two translations, along e_k          y = e_k . u,            phi = e_k . d
    all rotations, about e_k                    y = e_k . w,            phi = 2 sin(angle / 2) of frame 1 against 0
    two rotations, about e_j                    y = e_j . w,            phi = 2 sin(angle / 2) between the free axes
    the twist alone, about a                    y = n . w,  n = (a_0 + a_1) / (1 + a_0 . a_1),  phi = twist angle
    one swing beside the twist a                y = n . w,  n = +-(a_1 x b_0),  phi = +-a_1 . b_0,  b the free swing
where phi = 0 is y = 0 as well. J is taken where forces are evaluated, at q_M, and c = Jdot v there. A path with phi = 0
and its middle at q_M has
    J v+ = - c t,   t from the middle to the end of the step (or substep),
so that the mean velocity of the step satisfies the row in its middle to second order; J v+ = 0 would make a third of
the energy of a four-bar linkage in 2 s at 240 Hz. A path so bent that the step does not resolve it, as at dead centres
that a heavy body drives a light crank through, has a c t far beyond J v, which would make energy without end: |y+| is
no larger than |J v|, at which the impulses do no work, but for `rows.BENT` of the size of its terms, which leaves paths
that are resolved as they are. What is left of phi and of y is taken back at the end of the step
(`solver.close_loops`). A joint that has broken (`solver.break_loops`) has rows that hold nothing.

Source: documents 001 (loop joints) and 004 (fixed, spherical, revolute, prismatic and D6 joints).
"""

import numpy as np
import warp as wp

from warp_artic.constraints.loop_geometry import (
    LOOP_JOINT_ORDER,
    bias_seen,
    frame_axes,
    frame_origin,
    held_rotation,
    is_first_row,
    joined_dofs,
    loops,
    set_doubt,
    set_held_axes,
    set_loop_jacobian,
    spin_bias,
    velocity_seen,
    with_row,
)
from warp_artic.constraints.loop_loads import LOOP_FORCE, add_loop_load, report_loop, take_loop_joint_off
from warp_artic.constraints.loop_place import loop_place
from warp_artic.constraints.loop_scales import INVERSE_SCALES, SCALED_LOOPS, scales_masses
from warp_artic.constraints.rows import (
    allow_every_velocity,
    bent_speed,
    is_tangent,
    set_unbounded_impulse,
    set_velocity_bounds,
    start_rate,
)
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    arctan2,
    div,
    mat3,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import column, dot
from warp_artic.model.allowed_values import ANGLE
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import (
    HOLDS_POSITIONS,
    LOOKS_AT_ACCELERATIONS,
    PUSHES_LINKS,
    RETURNS,
    ConstraintFamily,
    Entries,
    Measure,
    Parameter,
    Tree,
)
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.frames import link_to_moving, origin_of
from warp_artic.model.kinds import LoopRotation
from warp_artic.model.row import Place
from warp_artic.phases.point_motion import point_bias


@wp.func
def place_loop(model: ModelArrays, work: WorkArrays, loop: int, first_row: int, block: int, worker: int):
    """Write J and c = Jdot v of the rows of a loop joint, where the links are placed with `work.v_middle`."""
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    meet = model.loop_meet[loop]
    R_0 = frame_axes(work.R_WM, inner, model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(work.R_WM, outer, model.loop_frame1, loop, block, worker)
    x_0 = frame_origin(work.R_WM, work.p_WM, inner, model.loop_frame0, loop, block, worker)
    x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.loop_frame1, loop, block, worker)
    w_0 = load_vec3(work.w, 3 * inner, worker)
    w_1 = load_vec3(work.w, 3 * outer, worker)
    wdot_0 = spin_bias(model, work, inner, meet, worker)
    wdot_1 = spin_bias(model, work, outer, meet, worker)
    linear = point_bias(model, work, outer, meet, x_1, worker) - point_bias(model, work, inner, meet, x_0, worker)
    d = x_1 - x_0
    if model.loop_slides[loop] == 1:
        u = velocity_seen(model, work, loop, x_0, x_1, worker)
        linear = bias_seen(linear, w_0, wdot_0, x_1 - x_0, u)
        x_0 = x_1
    none = x_0 - x_0
    along = mat3(none, none, none)
    end = first_row + model.loop_rows[loop]
    turns = int(end)
    for k in range(model.loop_rows[loop]):
        row = end - 1 - k
        axis = model.row_item[row] % 6
        if axis < 3:
            e = column(R_0, axis)
            work.row_bias[row, worker] = dot(e, linear)
            work.loop_gap[row, worker] = dot(e, d)
        else:
            turns = int(row)
            n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, w_1)
            work.row_bias[row, worker] = dot(n, wdot_1 - wdot_0) + dot(ndot, w_1 - w_0)
            along = with_row(along, axis - 3, n)
    at = loop_place(loop, block, worker, work.R_WM, work.axis, work.p_WM, x_0, x_1)
    arms, turning = set_held_axes(model, work, at, first_row, turns, end, R_0, along)
    set_doubt(model, work, first_row, turns, end, arms, worker)


@wp.func
def set_loop_joint_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a held axis; with the first one of a loop joint J and c of all."""
    loop = model.row_item[row] // 6
    if is_first_row(model, row, loop):
        place_loop(model, work, loop, row, block, worker)
    target = tangent(model, work, row, worker, h)
    set_velocity_bounds(work, row, worker, target, target)
    allow_every_velocity(work, row, worker, holds(work, row, loop, worker))
    set_unbounded_impulse(work, row, worker, h)
    work.compliance[row, worker] = real(0.0, h)


@wp.func
def holds(work: WorkArrays, row: int, loop: int, worker: int):
    """One where a row holds anything: its joint has not broken, and its J is not zero."""
    return work.loop_acts[row, worker] * (real(1.0, work.loop_acts[row, worker]) - work.loop_is_broken[loop, worker])


@wp.func
def tangent(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The y of a row at the end of a substep."""
    target = neg(work.row_bias[row, worker]) * time_to_end(model, work, worker, h)
    y, size = start_rate(model, work, row, worker)
    return where_positive(neg(work.since_placed[0, worker]), bent_speed(target, y, size), target)


@wp.func
def time_to_end(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """From where forces are evaluated to the end of a substep of h; without a middle, to where a mean velocity is."""
    return work.since_placed[0, worker] + h * work.end_weight[0, worker]


@wp.func
def starts_on_path(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """One where v, at the start of the step, keeps to the path of a row, so that its impulse is that of a smooth force.

    Then J v is c t but for terms of second order.
    """
    return is_tangent(model, work, row, worker, work.row_bias[row, worker] * time_to_end(model, work, worker, h))


@wp.func
def set_loop_row_jacobian(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J of a held axis at a state."""
    loop = model.row_item[row] // 6
    axis = model.row_item[row] % 6
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(work.R_WM, inner, model.loop_frame0, loop, block, worker)
    x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.loop_frame1, loop, block, worker)
    x_0 = frame_origin(work.R_WM, work.p_WM, inner, model.loop_frame0, loop, block, worker)
    if model.loop_slides[loop] == 1:
        x_0 = x_1
    if axis < 3:
        at = loop_place(loop, block, worker, work.R_WM, work.axis, work.p_WM, x_0, x_1)
        set_loop_jacobian(model, work, at, row, True, column(R_0, axis))
    else:
        R_1 = frame_axes(work.R_WM, outer, model.loop_frame1, loop, block, worker)
        w_0 = load_vec3(work.w, 3 * inner, worker)
        n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, load_vec3(work.w, 3 * outer, worker))
        between = loop_place(loop, block, worker, work.R_WM, work.axis, work.p_WM, x_1, x_1)
        set_loop_jacobian(model, work, between, row, False, n)


@wp.func
def read_broken(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Read which loop joints are broken."""
    for loop in range(model.loop_count):
        broken = state.loop_broken[loop, block]
        one = real(1.0, broken)
        work.loop_is_broken[loop, worker] = where_positive(broken, one, one - one)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    """A row for each held axis, on the dofs from the second link to where the paths meet, then those of the first."""
    found, axes = [], list(Axis)
    for item, loop in enumerate(loops(articulation)):
        dofs = joined_dofs(loop, layout)
        if dofs:
            found += [Place(loop.name, dofs, 6 * item + axes.index(axis)) for axis in loop.held]
    return found


def _structure(articulation: Articulation) -> tuple[tuple[int, ...], ...]:
    """Of each loop joint its links, where their paths meet, how it holds them, and the axes that it holds."""
    layout, world = DofLayout(articulation), len(articulation.links)
    found = []
    for loop, is_redundant in zip(loops(articulation), _redundant(articulation, layout)):
        rotation, axis = _rotation(loop)
        ends = (world if link == WORLD else link for link in (loop.link0, loop.link1))
        slides = any(free.is_linear for free in loop.free)
        meet = layout.meet(loop.link0, loop.link1)
        held = tuple(list(Axis).index(one) for one in loop.held)
        found.append((*ends, meet, int(rotation), axis, int(slides), len(held), held, int(is_redundant)))
    return tuple(found)


def _redundant(articulation: Articulation, layout: DofLayout) -> list[bool]:
    """Of each loop joint whether those that share dofs with it hold as much as these can do, or more."""
    groups: list[tuple[set[int], int]] = []
    for loop in loops(articulation):
        dofs, rows = set(joined_dofs(loop, layout)), len(loop.held)
        for other in [one for one in groups if one[0] & dofs]:
            groups.remove(other)
            dofs, rows = dofs | other[0], rows + other[1]
        groups.append((dofs, rows))
    full = set().union(*(dofs for dofs, rows in groups if rows >= len(dofs)))
    return [not full.isdisjoint(joined_dofs(loop, layout)) for loop in loops(articulation)]


def _rotation(loop: LoopJoint) -> tuple[LoopRotation, int]:
    """How a loop joint holds orientations, and the axis that is free, or that of the twist."""
    free = [axis for axis in loop.free if not axis.is_linear]
    if len(free) == 3:
        return LoopRotation.FREE, loop.twist_axis.index
    if not free:
        return LoopRotation.LOCKED, 0
    if len(free) == 1:
        return LoopRotation.AXIS, free[0].index
    return LoopRotation.UNIVERSAL if loop.twist_axis in free else LoopRotation.ZERO_TWIST, loop.twist_axis.index


def _frames(side: int) -> Parameter:
    """The frames on one side, in the moving frames of their links, or in the world about the origin."""

    def values(articulation: Articulation) -> np.ndarray:
        placed = [link_to_moving(joint, link) for link, joint in zip(articulation.links, articulation.inbound)]
        origin, rows = origin_of(articulation), []
        for loop in loops(articulation):
            link, frame = ((loop.link0, loop.frame0), (loop.link1, loop.frame1))[side]
            R_LM, p_LM = (np.eye(3), origin) if link == WORLD else placed[link]
            rows.append([*(R_LM.T @ frame.rotation).ravel(), *(R_LM.T @ (np.asarray(frame.position) - p_LM))])
        return np.ravel(rows)

    return Parameter(name=f"loop_frame{side}", of="loop", values=values, size=12)


def _table(place: int):
    return lambda tree: [one[place] for one in tree.structure_of(LOOP_JOINT)]


def _row_names(articulation: Articulation) -> tuple[str, ...]:
    """Of each held axis."""
    return tuple(f"{loop.name}:{axis.value}" for loop in loops(articulation) for axis in loop.held)


def _row_places(tree: Tree) -> dict[int, int]:
    """Of each held axis its place among them all."""
    items = (6 * loop + axis for loop, one in enumerate(tree.structure_of(LOOP_JOINT)) for axis in one[7])
    return {item: place for place, item in enumerate(items)}


LOOP_JOINT = ConstraintFamily(
    name="loop joint",
    order=int(LOOP_JOINT_ORDER),
    label=("loop joint", "loop joints"),
    part=ForcePart.LOOP,
    places=_places,
    traits=HOLDS_POSITIONS | LOOKS_AT_ACCELERATIONS | PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    law=set_loop_joint_row,
    coefficients=set_loop_row_jacobian,
    report=report_loop,
    subtract_wrench=take_loop_joint_off,
    entries=Entries(
        kind="loop",
        names=lambda articulation: tuple(loop.name for loop in loops(articulation)),
        meaning="Joints that close a loop",
        row_names=_row_names,
        row_places=_row_places,
    ),
    measures=(
        Measure(
            name="loop_error",
            meaning="Distance [m], then angle [rad], by which the loop is open along and about the axes it holds",
            size=2,
        ),
    ),
    multiplier=LOOP_FORCE,
    add_load=add_loop_load,
    has_own_force_jacobian=SCALED_LOOPS,
    parameters=(
        _frames(0),
        _frames(1),
        INVERSE_SCALES,
        *(
            Parameter(
                name=f"loop_break_{load}",
                of="loop",
                values=lambda articulation, load=load: [getattr(loop, f"break_{load}") for loop in loops(articulation)],
                allowed=ANGLE,
                flag="breakable_loops",
            )
            for load in ("force", "torque")
        ),
    ),
    memory=(
        Measure(name="loop_broken", meaning="1 where the joint has broken and does nothing, 0 elsewhere"),
        Measure(name="loop_breakage", meaning="Step in which it broke, force [N] and torque [N m] by which", size=3),
    ),
    flags={
        "breakable_loops": lambda articulation: any(loop.is_breakable for loop in loops(articulation)),
        SCALED_LOOPS: scales_masses,
    },
    structure=_structure,
    counts={"loop_count": lambda tree: tree.kinds["loop"]},
    tables={
        "loop_link0": _table(0),
        "loop_link1": _table(1),
        "loop_meet": _table(2),
        "loop_rotation": _table(3),
        "loop_axis": _table(4),
        "loop_slides": _table(5),
        "loop_rows": _table(6),
        "loop_is_redundant": _table(8),
    },
    scratch={
        "row_bias": lambda tree: len(tree.rows) * (tree.count_with(HOLDS_POSITIONS | RETURNS) > 0),
        "loop_acts": lambda tree: len(tree.rows) * (tree.kinds["loop"] > 0),
        **dict.fromkeys(
            ("loop_gap", "loop_gap_rate", "loop_gap_reach"),
            lambda tree: len(tree.rows) * (tree.count_with(HOLDS_POSITIONS) > 0),
        ),
        "loop_is_broken": lambda tree: tree.kinds["loop"],
        "loop_force": lambda tree: 6 * tree.kinds["loop"],
    },
)
