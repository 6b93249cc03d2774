"""Authors drives, what else an axis of a joint has, and mimic joints."""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Sdf, Usd

from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.author_terms import Term, write_terms
from warp_artic.usd.edit import Edit
from warp_artic.usd.free_axes import free_axes, instance_of, joint_at
from warp_artic.usd.read_drive import KINDS
from warp_artic.usd.read_together import OF_LIMITS, SLERP, slerp_instances

FLOAT = Sdf.ValueTypeNames.Float


def drive(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    axis: str | None = None,
    *,
    kind: str | None = None,
    stiffness: float | None = None,
    damping: float | None = None,
    target_position: float | None = None,
    target_velocity: float | None = None,
    max_force: float | None = None,
    max_impulse: float | None = None,
    max_velocity: float | None = None,
    velocity_gradient: float | None = None,
    velocity_resistance: float | None = None,
) -> Usd.Prim:
    """A PhysicsDriveAPI on an axis of a joint, and a WarpArticDriveAPI where one of the last four is given.

    `kind` is force or acceleration. On a rotation: stiffness [torque/degree], damping [torque*s/degree], targets
    [degrees, degrees/s], max_force [torque], max_impulse [torque*s], max_velocity [degrees/s], velocity_gradient
    [(degrees/s)/torque], velocity_resistance [torque*s/degree]; on a translation with distance for degrees, and force
    for torque. The axis "slerp" is all three rotations of a joint together, whose targets are those of drives of each.
    """
    prim = joint_at(stage, path)
    is_slerp = axis == SLERP and slerp_instances(free_axes(prim).values())
    instance = SLERP if is_slerp else instance_of(prim, axis)
    edit = Edit(path)
    prefix, own = f"drive:{instance}:physics:", f"warpArtic:drive:{instance}:"
    edit.word(f"{prefix}type", kind, KINDS)
    edit.not_negative(prefix, False, FLOAT, stiffness=stiffness, damping=damping)
    edit.number(f"{prefix}targetPosition", target_position, kind=FLOAT)
    edit.number(f"{prefix}targetVelocity", target_velocity, kind=FLOAT)
    edit.not_negative(prefix, True, FLOAT, maxForce=max_force)
    edit.not_negative(own, True, maxImpulse=max_impulse, maxVelocity=max_velocity)
    edit.not_negative(own, False, velocityGradient=velocity_gradient, velocityResistance=velocity_resistance)
    edit.apply(f"{tokens.DRIVE}:{instance}")
    if edit.has_values(own):
        edit.apply(f"{tokens.ARTIC_DRIVE}:{instance}")
    return edit.write(prim)


def joint(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    axis: str | None = None,
    *,
    armature: float | None = None,
    static_friction_effort: float | None = None,
    dynamic_friction_effort: float | None = None,
    viscous_friction_coefficient: float | None = None,
    load_friction_coefficient: float | None = None,
    velocity_limit: float | None = None,
    limit_stiffness: float | None = None,
    limit_damping: float | None = None,
    limit_restitution: float | None = None,
    limit_bounce_threshold: float | None = None,
    position: float | None = None,
    velocity: float | None = None,
    count_turns: bool | None = None,
) -> Usd.Prim:
    """A WarpArticJointAPI on an axis of a joint.

    On a rotation: armature [mass*distance^2], friction efforts [torque], viscous friction and limit damping
    [torque*s/degree], limit stiffness [torque/degree], velocity, its limit and bounce threshold [degrees/s], position
    [degrees]; on a translation armature [mass], and distance for degrees, and force for torque. The axis "cone" has
    stiffness and damping of the limit of a spherical joint beyond its cone angles, and "distance" those of the limit of
    the distance of a generic joint. `count_turns` has the position of
    the one rotation of a joint without limits go on beyond two turns.
    """
    prim = joint_at(stage, path)
    is_whole = axis is not None and axis in OF_LIMITS.get(prim.GetTypeName(), ())
    instance = axis if is_whole else instance_of(prim, axis)
    edit = Edit(path)
    prefix = f"warpArtic:joint:{instance}:"
    edit.not_negative(
        prefix,
        False,
        armature=armature,
        staticFrictionEffort=static_friction_effort,
        dynamicFrictionEffort=dynamic_friction_effort,
        viscousFrictionCoefficient=viscous_friction_coefficient,
        loadFrictionCoefficient=load_friction_coefficient,
        limitStiffness=limit_stiffness,
        limitDamping=limit_damping,
        limitBounceThreshold=limit_bounce_threshold,
    )
    edit.number(f"{prefix}limitRestitution", limit_restitution, least=0.0, most=1.0)
    edit.not_negative(prefix, True, velocityLimit=velocity_limit)
    edit.number(f"{prefix}position", position)
    edit.number(f"{prefix}velocity", velocity)
    edit.flag(f"{prefix}countTurns", count_turns)
    edit.apply(f"{tokens.ARTIC_JOINT}:{instance}")
    return edit.write(prim)


def joint_frame(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    inverse_mass_scale0: float | None = None,
    inverse_mass_scale1: float | None = None,
    inverse_inertia_scale0: float | None = None,
    inverse_inertia_scale1: float | None = None,
) -> Usd.Prim:
    """A WarpArticJointFrameAPI on a joint: by what it scales inverse masses and inertias of its two bodies [1]."""
    prim = joint_at(stage, path)
    edit = Edit(path)
    edit.not_negative(
        "warpArtic:jointFrame:",
        False,
        inverseMassScale0=inverse_mass_scale0,
        inverseMassScale1=inverse_mass_scale1,
        inverseInertiaScale0=inverse_inertia_scale0,
        inverseInertiaScale1=inverse_inertia_scale1,
    )
    edit.apply(tokens.ARTIC_JOINT_FRAME)
    return edit.write(prim)


def mimic(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    leaders: Sequence[Term],
    *,
    axis: str | None = None,
    gears: Sequence[float] | None = None,
    offset: float | None = None,
    natural_frequency: float | None = None,
    damping_ratio: float | None = None,
    enabled: bool | None = None,
) -> Usd.Prim:
    """A WarpArticMimicAPI: an axis of a joint is at offset + the sum of gear * position of each leader.

    A leader is the path of a joint, or (path, axis) of one with several free axes. Units: gears none between axes of
    one kind, else distance/degree or degree/distance; offset [distance or degrees], natural_frequency [rad/s].
    """
    prim = joint_at(stage, path)
    instance = instance_of(prim, axis)
    edit = Edit(path)
    prefix = f"warpArtic:mimic:{instance}:"
    names = (f"{prefix}leaders", f"{prefix}leaderIndices", f"{prefix}leaderAxes")
    if (prim.GetPath(), instance) in write_terms(stage, edit, names, leaders):
        raise StageError(f"{path}: the joint cannot follow itself on {instance}")
    edit.numbers(f"{prefix}gears", gears, len(leaders))
    edit.number(f"{prefix}offset", offset)
    edit.number(f"{prefix}naturalFrequency", natural_frequency)
    edit.not_negative(prefix, False, dampingRatio=damping_ratio)
    edit.flag(f"{prefix}enabled", enabled)
    edit.apply(f"{tokens.ARTIC_MIMIC}:{instance}")
    return edit.write(prim)
