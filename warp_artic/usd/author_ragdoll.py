"""Authors a ragdoll from a skeleton: links, joints, colliders and masses, beside the skeleton in its space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics

from warp_artic.description.pose import quaternion_from_matrix
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd import tokens
from warp_artic.usd.edit import checked_path, prim_at
from warp_artic.usd.placement import SHEAR, decompose
from warp_artic.usd.ragdoll_inertias import hanging_inertias
from warp_artic.usd.ragdoll_joints import JointFrames, joint_frames, ranges_of
from warp_artic.usd.ragdoll_plan import Plan, link_frames, plan_ragdoll, volumes
from warp_artic.usd.read_track import start_code
from warp_artic.usd.skeleton import Skeleton, skeleton_at
from warp_artic.usd.skin_parts import read_skin

DENSITY = 1000.0
"""Of a body, where none is given [kg/m^3]."""
TWIST, SWING = 30.0, 45.0
"""Limits of joints where no clip says how far they turn [degrees]."""
MOST = 175.0
"""Largest limit [degrees]."""
LOCKED = ("transX", "transY", "transZ")
TURNS = ("rotX", "rotY", "rotZ")
UNIFORM = 1e-4
"""Relative difference of scales that are the same."""


@dataclass(frozen=True)
class RagdollLink:
    """A link of a ragdoll, as it was authored."""

    path: str
    joint: str
    """Of the skeleton."""
    merged: tuple[str, ...]
    """Joints of the skeleton that move with it."""
    mass: float
    """In units of the stage."""
    limits: tuple[tuple[float, float], ...]
    """Of twist and both swings [degrees]; none of the root."""


@dataclass(frozen=True)
class Ragdoll:
    """What was authored for a skeleton."""

    path: str
    """Of the prim that all is below, which is the articulation root."""
    skeleton: str
    links: tuple[RagdollLink, ...]
    free: tuple[str, ...]
    """Joints of the skeleton above the root link, which the animation alone moves."""
    has_clip: bool
    """Whether limits are from an animation, of the joints that it has."""

    @property
    def mass(self) -> float:
        """Of all links, in units of the stage."""
        return sum(link.mass for link in self.links)


def ragdoll(
    stage: Usd.Stage,
    skeleton: str | Sdf.Path | None = None,
    *,
    path: str | Sdf.Path | None = None,
    density: float | None = None,
    margin: float = 10.0,
    merge: Sequence[str] = (),
    follow: float | None = None,
    animated_root: bool = False,
) -> Ragdoll:
    """Author links for the joints of a skeleton, which starts as it is at the start of the stage.

    A link has the frame of its joint, a capsule with the volume and the length of what of the skin moves with it, and
    the mass of that volume. Joints are where the bind transforms have them, free to turn within limits: those of the
    animation that is bound, and a margin; 30 degrees of twist and 45 of swing of joints that it does not move. Twist
    joints, and those whose skin has no volume, as at the ends of limbs, move with the link above.

    Args:
        stage: Is written to in its edit target.
        skeleton: Path of a Skeleton; may be left out where the stage has one.
        path: Where links go; by default the prim "Ragdoll" beside the skeleton.
        density: [mass/distance^3]; by default 1000 kg/m^3.
        margin: Of limits beyond the range of the animation [degrees].
        merge: More joints that move with the link above, by path, name or a pattern such as "*finger*".
        follow: Natural frequency of drives by which joints follow the animation, critically damped, each with all
            that hangs on it as one body [Hz]; by default there are none. Gains with time samples let a character go,
            and take it up again.
        animated_root: Whether the root link moves as the animation has it, whatever the others do.

    Raises:
        SettingsError: An argument has a value that is not allowed.
        StageError: The skeleton or its meshes are not such that this can be done; the stage is as it was.
    """
    for name, value in (("margin", margin), ("density", density), ("follow", follow)):
        if value is not None and not 0.0 <= value < math.inf:
            raise SettingsError(f"{name}: {value!r} is not a finite number of at least 0")
    if density == 0.0:
        raise SettingsError("density: 0 is not above 0; a mass of 0 would be that of a body without one")
    prim = skeleton_at(stage, None if skeleton is None else str(checked_path(skeleton)))
    if prim.IsInstanceProxy() or prim.IsInPrototype():
        raise StageError(f"{prim.GetPath()}: is inside an instance; author the ragdoll in the asset that it refers to")
    source = Skeleton(prim)
    place = _free_place(stage, prim, path)
    code = start_code(stage)
    scale = _uniform_scale(prim, code)
    skin = read_skin(source)
    plan = plan_ragdoll(source, skin, code, merge)
    J = source.joint_matrices(code)
    frames = [
        None if link.parent < 0 else joint_frames(source, plan.links[link.parent], link, J) for link in plan.links
    ]
    codes = sorted({code, *source.animation_codes()})
    limits = _limits(ranges_of(source, plan, frames, codes), margin, _turned(source, plan))
    if density is None:
        meters, kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
        density = DENSITY * meters**3 / kilograms
    masses = [density * volume * scale**3 for volume in volumes(source, skin, plan, J)]
    names = _names(source, plan)
    poses = _start_poses(plan, frames, J)
    _author_root(stage, place, prim, code)
    for link, name, pose, mass in zip(plan.links, names, poses, masses):
        _author_link(stage, place.AppendChild(name), source, link, pose, mass)
    inertias = hanging_inertias(plan, poses, masses)
    for link, name, own, turns, inertia in zip(plan.links, names, frames, limits, inertias):
        if own is not None:
            joint = _author_joint(stage, place, names[link.parent], name, own, turns)
            if follow is not None:
                _author_drives(joint, stage.GetPrimAtPath(place.AppendChild(name)), follow, inertia * scale**2)
    if animated_root:
        _animate_root(stage, place.AppendChild(names[0]), source, plan.links[0].joint, codes)
    made = tuple(
        RagdollLink(
            str(place.AppendChild(name)),
            source.joints[link.joint],
            tuple(source.joints[joint] for joint in link.merged),
            mass,
            turns or (),
        )
        for link, name, mass, turns in zip(plan.links, names, masses, limits)
    )
    free = tuple(source.joints[joint] for joint in plan.free)
    return Ragdoll(str(place), source.path, made, free, bool(source.animated))


def _free_place(stage: Usd.Stage, skeleton: Usd.Prim, path: str | Sdf.Path | None) -> Sdf.Path:
    """Where links go; a place where something is already is refused."""
    place = skeleton.GetParent().GetPath().AppendChild("Ragdoll") if path is None else checked_path(path)
    found = stage.GetPrimAtPath(place)
    if found and (found.GetTypeName() or found.GetChildren()):
        raise StageError(f"{place}: is there already; choose another path for the ragdoll")
    if place.GetParentPath() != Sdf.Path.absoluteRootPath:
        prim_at(stage, place.GetParentPath())
    return place


def _uniform_scale(skeleton: Usd.Prim, code: float) -> float:
    """The scale of the space of a skeleton in the world."""
    A = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(skeleton)).T
    path = skeleton.GetPath()
    if not np.isfinite(A).all() or not np.linalg.det(A[:3, :3]) > 0.0:
        raise StageError(f"{path}: its world transform cannot be inverted, or mirrors; undo that above it")
    _, scales, cosine = decompose(A[None])
    if cosine[0] > SHEAR or np.ptp(scales[0]) > UNIFORM * scales[0].max():
        shown = ", ".join(f"{one:.4g}" for one in scales[0])
        text = "is sheared" if cosine[0] > SHEAR else f"has the scale ({shown})"
        raise StageError(f"{path}: its world transform {text}; a ragdoll needs the same scale along all axes")
    return float(scales[0].mean())


def _names(skeleton: Skeleton, plan: Plan) -> list[str]:
    """Names of the links: those of the joints, each once, none of which is that of another prim that is authored."""
    names: list[str] = []
    taken = {"colliders"}
    for link in plan.links:
        own = name = Tf.MakeValidIdentifier(skeleton.joints[link.joint].rpartition("/")[2])
        number = 1
        while not taken.isdisjoint((name, f"{name}_joint")):
            number += 1
            name = f"{own}_{number}"
        taken |= {name, f"{name}_joint"}
        names.append(name)
    return names


def _start_poses(plan: Plan, frames: list[JointFrames | None], J: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rotations (3, 3) for column vectors and positions of links in the space of the skeleton, joints closed."""
    R, p = link_frames(J)
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    for link, own in zip(plan.links, frames):
        position = p[link.joint]
        if own is not None:
            R_P, p_P = poses[link.parent]
            position = p_P + R_P @ own.p_PF
        poses.append((R[link.joint], position))
    return poses


def _turned(skeleton: Skeleton, plan: Plan) -> list[bool]:
    """Whether the animation has the joint of each link, or one between it and that of the link above."""
    found = []
    for link in plan.links:
        joint, above = link.joint, plan.links[link.parent].joint if link.parent >= 0 else -1
        between = []
        while joint != above and joint >= 0:
            between.append(skeleton.joints[joint])
            joint = skeleton.parents[joint]
        found.append(not skeleton.animated.isdisjoint(between))
    return found


def _limits(ranges: list[np.ndarray | None], margin: float, turned: list[bool]) -> list[tuple | None]:
    """Lower and upper limits of twist and both swings [degrees]."""
    found: list[tuple | None] = []
    for own, is_turned in zip(ranges, turned):
        if own is None:
            found.append(None)
            continue
        low, high = np.degrees(own)
        if not is_turned:
            most = np.array([TWIST, SWING, SWING])
            low, high = np.minimum(low, -most), np.maximum(high, most)
        else:
            low, high = low - margin, high + margin
        found.append(tuple((float(max(a, -MOST)), float(min(b, MOST))) for a, b in zip(low, high)))
    return found


def _author_root(stage: Usd.Stage, place: Sdf.Path, skeleton: Usd.Prim, code: float) -> None:
    """The prim above all links, whose space is that of the skeleton."""
    root = UsdGeom.Xform.Define(stage, place)
    xformable = UsdGeom.Xformable(skeleton)
    local = xformable.GetLocalTransformation(code)
    if xformable.GetResetXformStack():
        root.SetResetXformStack(True)
    if place.GetParentPath() != skeleton.GetParent().GetPath():
        cache = UsdGeom.XformCache(code)
        above = cache.GetLocalToWorldTransform(root.GetPrim().GetParent())
        local = cache.GetLocalToWorldTransform(skeleton) * above.GetInverse()
    if local != Gf.Matrix4d(1.0):
        root.AddTransformOp().Set(local)
    UsdPhysics.ArticulationRootAPI.Apply(root.GetPrim())
    # Capsules overlap where limbs meet, so those of one ragdoll do not touch each other.
    group = UsdPhysics.CollisionGroup.Define(stage, place.AppendChild("colliders"))
    group.GetCollidersCollectionAPI().CreateIncludesRel().SetTargets([place])
    group.CreateFilteredGroupsRel().SetTargets([group.GetPath()])


def _author_link(stage: Usd.Stage, path: Sdf.Path, skeleton: Skeleton, link, pose, mass: float) -> None:
    """A link with its capsule and its mass."""
    rotation, position = pose
    xform = UsdGeom.Xform.Define(stage, path)
    xform.AddTranslateOp().Set(Gf.Vec3d(*map(float, position)))
    xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(*_quaternion(rotation)))
    prim = xform.GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(prim)
    UsdPhysics.MassAPI.Apply(prim).CreateMassAttr(mass)
    prim.AddAppliedSchema(tokens.ARTIC_SKEL_JOINT)
    prim.CreateRelationship(tokens.SKELETON, custom=False).SetTargets([skeleton.prim.GetPath()])
    joint = prim.CreateAttribute(tokens.SKEL_JOINT, Sdf.ValueTypeNames.Token, False, Sdf.VariabilityUniform)
    joint.Set(skeleton.joints[link.joint])
    capsule = UsdGeom.Capsule.Define(stage, path.AppendChild("collider"))
    capsule.CreateAxisAttr(UsdGeom.Tokens.z)
    capsule.CreateRadiusAttr(link.part.radius)
    capsule.CreateHeightAttr(2.0 * link.part.half_height)
    end = link.part.radius + link.part.half_height
    capsule.CreateExtentAttr([(-link.part.radius, -link.part.radius, -end), (link.part.radius, link.part.radius, end)])
    capsule.CreatePurposeAttr(UsdGeom.Tokens.guide)
    capsule.AddTranslateOp().Set(Gf.Vec3d(*map(float, link.part.middle)))
    turn = Gf.Rotation(Gf.Vec3d.ZAxis(), Gf.Vec3d(*map(float, link.axis))).GetQuat()
    capsule.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(turn.GetReal(), turn.GetImaginary()))
    UsdPhysics.CollisionAPI.Apply(capsule.GetPrim())


def _author_joint(
    stage: Usd.Stage, place: Sdf.Path, parent: str, child: str, frames: JointFrames, limits: tuple
) -> UsdPhysics.Joint:
    """A joint of three rotations with limits, whose frames meet in the bind pose."""
    joint = UsdPhysics.Joint.Define(stage, place.AppendChild(f"{child}_joint"))
    joint.CreateBody0Rel().SetTargets([place.AppendChild(parent)])
    joint.CreateBody1Rel().SetTargets([place.AppendChild(child)])
    joint.CreateLocalPos0Attr(Gf.Vec3f(*map(float, frames.p_PF)))
    joint.CreateLocalRot0Attr(Gf.Quatf(*_quaternion(frames.R_PF)))
    joint.CreateLocalPos1Attr(Gf.Vec3f(0.0))
    joint.CreateLocalRot1Attr(Gf.Quatf(*_quaternion(frames.R_CM)))
    bounds = [(axis, 1.0, -1.0) for axis in LOCKED]
    bounds += [(axis, low, high) for axis, (low, high) in zip(TURNS, limits)]
    for axis, low, high in bounds:
        limit = UsdPhysics.LimitAPI.Apply(joint.GetPrim(), axis)
        limit.CreateLowAttr(low)
        limit.CreateHighAttr(high)
    return joint


def _author_drives(joint: UsdPhysics.Joint, child: Usd.Prim, frequency: float, inertia: float) -> None:
    """Drives of the rotations of a joint, with which its child follows the skeleton; the inertia in stage units."""
    omega = 2.0 * math.pi * frequency
    for axis in TURNS:
        drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), axis)
        drive.CreateTypeAttr(UsdPhysics.Tokens.force)
        drive.CreateStiffnessAttr(math.radians(inertia * omega**2))
        drive.CreateDampingAttr(math.radians(2.0 * inertia * omega))
    follow = child.CreateAttribute(tokens.SKEL_FOLLOW, Sdf.ValueTypeNames.Bool, False, Sdf.VariabilityUniform)
    follow.Set(True)


def _animate_root(stage: Usd.Stage, path: Sdf.Path, skeleton: Skeleton, joint: int, codes: list[float]) -> None:
    """Make the root link kinematic, and move it as its joint is animated."""
    prim = stage.GetPrimAtPath(path)
    UsdPhysics.RigidBodyAPI(prim).CreateKinematicEnabledAttr(True)
    translate, orient = UsdGeom.Xformable(prim).GetOrderedXformOps()
    R, p = link_frames(np.array([skeleton.joint_matrices(code)[joint] for code in codes]))
    for code, rotation, position in zip(codes, R, p) if len(codes) > 1 else ():
        translate.Set(Gf.Vec3d(*map(float, position)), code)
        orient.Set(Gf.Quatd(*_quaternion(rotation)), code)


def _quaternion(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """Real part first, as USD has it."""
    x, y, z, w = quaternion_from_matrix(rotation)
    return w, x, y, z
