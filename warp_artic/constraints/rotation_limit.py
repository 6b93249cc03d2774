"""Hard limits of joints with two or three free rotations: their rows, on the coordinates of `rotation_coordinates`.

The law is that of `curved_stop`, with J where forces are evaluated: there an impulse along J has no part about other
axes, such as the own axis of a limb in a cone. The joint moves with v for h / 2, to where J is, and then with v+.
What v alone makes of a coordinate y in a time s from there tells how it curves,
    c = 2 (y(s) - y - J v s) / s^2,   s = - h / 2, back to the start;   h in steps without a middle.
An angle of an elliptic cone counts as its share of the largest one in its direction, times that where J is.
The weight w is a half. Where bodies of an island may touch something it is one: contacts have all dofs move alike, with
the largest of their weights, and limits that follow another path would be passed, and taken back against contacts.
There J stays that of the middle, and what slides loses energy in proportion to h.
What is beyond a limit after a step is taken back in `limit_projection`, and of a violated limit a part, no faster than
velocity limits of the dofs allow along the shortest way back.
"""

import warp as wp

from warp_artic.constraints.curved_stop import sliding_speed, stop_bounds, tangent_speed
from warp_artic.constraints.joint_limit import is_limited
from warp_artic.constraints.rotation_coordinates import (
    CONE_LIMIT_ORDER,
    ROTATION_LIMIT_ORDER,
    SWING_LIMIT_ORDER,
    TWIST_LIMIT_ORDER,
    in_axes,
    limit_at,
    limit_value,
    moved_rotation,
    set_rotation_jacobian,
    start_rotation,
)
from warp_artic.constraints.rows import row_rate, set_unbounded_impulse, set_velocity_bounds, violation_of
from warp_artic.constraints.single_dofs import places_of_joints
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.allowed_values import ANGLE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import IS_CURVED, ConstraintFamily, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place


@wp.func
def set_rotation_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a limit of two or three free rotations."""
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    zero = real(0.0, h)
    one = real(1.0, h)
    tau = (work.free_weight[0, worker] - one) * h
    weight = where_positive(work.is_near[model.row_island[row], worker], one, work.free_weight[0, worker])
    start = start_rotation(model, work, dof, item, count, worker)
    v = in_axes(model, dof, count, work.v[dof, worker], work.v[dof + 1, worker], work.v[dof + count - 1, worker])
    placed = moved_rotation(model, item, count, block, start, v, neg(tau))
    y, J, lower, upper = limit_at(model, row, block, placed)
    set_rotation_jacobian(model, work, row, worker, J)
    rate = row_rate(model, work, work.v, row, worker)
    before = value_along(model, row, block, start, upper)
    s = tau
    there = before
    if not any_positive(neg(tau)):
        s = h
        there = value_along(model, row, block, moved_rotation(model, item, count, block, start, v, h), upper)
    c = real(2.0, h) * (there - y - rate * s) / (s * s)
    tangent = tangent_speed(c, tau, weight, h)
    along = sliding_speed(model, work, row, worker, tangent)
    least, most = stop_bounds(model, work, row, worker, c, tau, weight, along, before, lower, upper, zero, h)
    set_velocity_bounds(work, row, worker, least, most)
    set_unbounded_impulse(work, row, worker, h)
    work.compliance[row, worker] = zero
    work.limit_bend[row, worker] = neg(tangent)
    at, lower_at, upper_at = limit_value(model, row, block, start)
    work.tolerance[row, worker] = violation_of(at, lower_at, upper_at)


@wp.func
def value_along(model: ModelArrays, row: int, block: int, phi: Vec3, upper: Real):
    """y of a row; of a cone its share of the angle in its direction, times `upper`."""
    y, _lower, widest = limit_value(model, row, block, phi)
    if model.row_family[row] == CONE_LIMIT_ORDER:
        y = y * upper / widest
    return y


def rotation_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of joints with two rotations."""
    return places_of_joints(layout, lambda joint, dof: len(joint.dofs) == 2 and is_limited(dof, is_soft), is_whole=True)


def twist_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of the twist of joints with three rotations."""
    return places_of_joints(layout, lambda joint, dof: _is_of_ball(joint, dof, is_soft, is_twist=True), is_whole=True)


def swing_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Limits of components of the swing of joints with three rotations."""
    return places_of_joints(layout, lambda joint, dof: _is_of_ball(joint, dof, is_soft, is_twist=False), is_whole=True)


def _is_of_ball(joint: Joint, dof: Dof, is_soft: bool, is_twist: bool) -> bool:
    has_limit = len(joint.dofs) > 2 and is_limited(dof, is_soft)
    return has_limit and (dof.axis is joint.cone_axis) == is_twist


def cone_places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """Cones; hard and soft ones are counted together."""
    joints = [joint for joint in articulation.joints if joint.cone_limit is not None]
    places = [Place(layout.place(joint), layout.of_joint(joint), cone) for cone, joint in enumerate(joints)]
    return [place for place, joint in zip(places, joints) if joint.cone_limit.is_soft == is_soft]


def cones(articulation: Articulation) -> list[ConeLimit]:
    """All cones, in the order of joints."""
    return [joint.cone_limit for joint in articulation.joints if joint.cone_limit is not None]


def _stop(order: int, name: str, places, label: str = "joint limit", **own) -> ConstraintFamily:
    return ConstraintFamily(
        name=name,
        order=order,
        label=(label, f"{label}s"),
        part=ForcePart.LIMIT,
        places=lambda articulation, layout: places(articulation, layout, False),
        is_stop=True,
        traits=IS_CURVED,
        law=set_rotation_limit_row,
        **own,
    )


ROTATION_LIMIT = _stop(ROTATION_LIMIT_ORDER, "rotation limit", rotation_places)


TWIST_LIMIT = _stop(TWIST_LIMIT_ORDER, "twist limit", twist_places)


SWING_LIMIT = _stop(SWING_LIMIT_ORDER, "swing limit", swing_places)


CONE_LIMIT = _stop(
    CONE_LIMIT_ORDER,
    "cone limit",
    cone_places,
    "cone limit",
    kinds={"cone": lambda articulation: len(cones(articulation))},
    parameters=(
        Parameter(
            name="cone_angle",
            of="cone",
            values=lambda articulation: [end for cone in cones(articulation) for end in (cone.angle_1, cone.angle_2)],
            allowed=ANGLE,
            size=2,
        ),
    ),
)
