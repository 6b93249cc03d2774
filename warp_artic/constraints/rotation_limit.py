"""Hard limits of joints with two or three free rotations: their rows, on the coordinates of `rotation_coordinates`.

A row is y at the start of the step, with its Jacobian there. Of a violated limit a part is taken back in a step, no
faster than velocity limits of the dofs allow along the shortest way back. What y curves by in the step is in
`limit_curvature`, and what is beyond a limit after it in `limit_projection`, which takes violations back, too.
"""

import warp as wp

from warp_artic.constraints.joint_limit import is_limited
from warp_artic.constraints.rotation_coordinates import (
    CONE_LIMIT_ORDER,
    ROTATION_LIMIT_ORDER,
    SWING_LIMIT_ORDER,
    TWIST_LIMIT_ORDER,
    limit_at,
    set_rotation_jacobian,
    start_rotation,
    turn_to_middle,
)
from warp_artic.constraints.rows import set_position_bounds, set_unbounded_impulse, violation_of
from warp_artic.constraints.single_dofs import places_of_joints
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import transpose_mul
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
    count = model.row_terms[row]
    zero = real(0.0, h)
    start = start_rotation(model, work, dof, dof - model.root_dofs, count, worker)
    y, J, lower, upper = limit_at(model, row, block, start)
    if count == 3:
        J = transpose_mul(turn_to_middle(model, work, dof, block, worker, h), J)
    set_rotation_jacobian(model, work, row, worker, J)
    set_position_bounds(work, row, worker, y, lower, upper, h)
    work.coordinate[3 * row, worker] = y
    work.coordinate[3 * row + 1, worker] = lower
    work.coordinate[3 * row + 2, worker] = upper
    set_unbounded_impulse(work, row, worker, h)
    work.compliance[row, worker] = zero
    work.curvature_correction[row, worker] = zero
    work.tolerance[row, worker] = violation_of(y, lower, upper)


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
        keeps_coordinate=True,
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
