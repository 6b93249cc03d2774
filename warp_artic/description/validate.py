"""Every rule that a scene must satisfy to be simulated, each with its sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.iterations import LEAST, wrong_iterations
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mechanism import mechanisms_of, root_pose
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.validate_couplings import coupling_findings
from warp_artic.description.validate_meshes import mesh_findings
from warp_artic.errors import DescriptionError

SINGULAR = 1e-9
"""Smallest allowed principal moment of inertia, relative to the largest."""
FARTHEST = 100.0
"""Distance of the roots of a mechanism from which on places lose digits in float32 [m]."""
TRIANGLE = 1e-4
"""By how much the largest principal moment may exceed the sum of the others, relative to itself."""


def validate(scene: Scene) -> None:
    """Raise a DescriptionError that lists every broken rule, one a line."""
    errors = [finding for finding in findings(scene) if finding.severity is Severity.ERROR]
    if errors:
        raise DescriptionError("\n".join(f"{error.path}: {error.message}" for error in errors))


def findings(scene: Scene) -> Iterator[Diagnostic]:
    """Every broken rule (errors), and what is suspicious (warnings)."""
    if not scene.articulations and not scene.elastic_bodies:
        text = "no articulation and no rigid body to simulate, and no elastic body; at least one is needed"
        yield _error("scene-empty", "scene", text)
    if not _finite(scene.gravity):
        yield _error("not-finite", "scene", f"gravity {_show(scene.gravity)} must be finite")
    if scene.time_step is not None and not (0.0 < scene.time_step < math.inf):
        yield _error("time-step", "scene", f"time step {scene.time_step:g} s must be positive and finite")
    for articulation in scene.articulations:
        yield from _articulation(articulation)
    yield from mesh_findings(scene)
    yield from _names(scene)
    yield from _mechanisms(scene)


def inertia_findings(path: str, inertia) -> Iterator[Diagnostic]:
    """Whether an inertia xx, xy, xz, yy, yz, zz [kg m^2] belongs to a solid body."""
    if not _finite(inertia):
        yield _error("not-finite", path, f"inertia {_show(inertia)} must be finite")
        return
    small, middle, large = principal_moments(inertia)
    shown = _show((small, middle, large))
    if small <= SINGULAR * large or large <= 0.0:
        kind = "is negative" if small < -SINGULAR * abs(large) else "is singular"
        text = f"inertia with principal moments {shown} kg m^2 {kind}: all three must be positive"
        yield _error("inertia", path, text)
    elif large > (small + middle) * (1.0 + TRIANGLE):
        text = (
            f"inertia with principal moments {shown} kg m^2 belongs to no body: none may exceed the sum of the others"
        )
        yield Diagnostic(Severity.WARNING, "inertia-triangle", path, text)


def principal_moments(inertia) -> tuple[float, float, float]:
    """Principal moments of xx, xy, xz, yy, yz, zz, ascending."""
    return _principal_moments(*inertia)


@lru_cache(4096)  # the copies of a robot have the same ones
def _principal_moments(xx, xy, xz, yy, yz, zz) -> tuple[float, float, float]:
    return tuple(map(float, np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))


def _articulation(articulation: Articulation) -> Iterator[Diagnostic]:
    if not articulation.links:
        yield _error("tree", articulation.path, "the articulation has no link, must have at least one")
        return
    carrying = {joint.child for joint in articulation.joints} & {joint.parent for joint in articulation.joints}
    last = max((number for number, link in enumerate(articulation.links) if not link.is_massless), default=0)
    for number, link in enumerate(articulation.links):
        yield from _link(link, number > last and number in carrying)
    for joint in articulation.joints:
        yield from _joint(joint)
    for loop in articulation.constraints_of(LoopJoint):
        yield from _loop_joint(loop)
    yield from _tree(articulation)
    yield from coupling_findings(articulation)
    for name in LEAST:
        count = getattr(articulation, name)
        wrong = None if count is None else wrong_iterations(name, count)
        if wrong:
            yield _error("iterations", articulation.path, f"{name} {wrong}")
    for name in ("linear", "angular"):
        speed = getattr(articulation, f"max_{name}_velocity")
        if not speed >= 0.0:
            text = f"maximum {name} velocity of the articulation {speed:g} must not be negative"
            yield _error("negative", articulation.path, text)
    if not (0.0 <= articulation.sleep_threshold < math.inf):
        text = f"sleep threshold {articulation.sleep_threshold:g} m^2/s^2 must be finite and not negative"
        yield _error("sleep-threshold", articulation.path, text)


def _link(link: Link, carries: bool) -> Iterator[Diagnostic]:
    """The rules of a link; one behind all bodies that is carried by a joint and carries another may be massless."""
    if not (carries and link.is_massless):
        if not (0.0 < link.mass < math.inf):
            yield _error("mass", link.path, f"mass {link.mass:g} kg must be positive and finite")
        yield from inertia_findings(link.path, link.inertia)
    vectors = {
        "centre of mass": link.center_of_mass,
        "linear velocity": link.linear_velocity,
        "angular velocity": link.angular_velocity,
    }
    for name, vector in vectors.items():
        if not _finite(vector):
            yield _error("not-finite", link.path, f"{name} {_show(vector)} must be finite")
    yield from _pose(link.path, "pose", link.pose)
    for name, rate in (("linear damping", link.linear_damping), ("angular damping", link.angular_damping)):
        if not (0.0 <= rate < math.inf):
            yield _error("damping", link.path, f"{name} {rate:g} 1/s must be finite and not negative")
    if not math.isfinite(link.gravity_scale):
        yield _error("not-finite", link.path, f"gravity scale {link.gravity_scale:g} must be finite")
    for name, speed in (("linear", link.max_linear_velocity), ("angular", link.max_angular_velocity)):
        if not speed >= 0.0:
            yield _error("negative", link.path, f"maximum {name} velocity {speed:g} must not be negative")


def _pose(path: str, name: str, pose: Pose) -> Iterator[Diagnostic]:
    if not _finite(pose.position) or not _finite(pose.quaternion):
        yield _error("not-finite", path, f"{name} must be finite")
    elif abs(math.hypot(*pose.quaternion) - 1.0) > 1e-6:
        yield _error("quaternion", path, f"{name} has a quaternion {_show(pose.quaternion)} that is not of unit length")


def _joint(joint: Joint) -> Iterator[Diagnostic]:
    yield from _pose(joint.path, "parent frame", joint.parent_frame)
    yield from _pose(joint.path, "child frame", joint.child_frame)
    axes = [dof.axis for dof in joint.dofs]
    if axes != [axis for axis in Axis if axis in axes]:
        free = ", ".join(axis.value for axis in axes)
        text = f"free axes {free}: each may be there once, in the order {', '.join(axis.value for axis in Axis)}"
        yield _error("free-axes", joint.path, text)
    if joint.cone_limit is not None:
        if len(axes) != 3 or any(axis.is_linear for axis in axes):
            yield _error("cone-limit", joint.path, "a cone limit needs three rotational dofs")
        yield from _cone(joint.path, joint.cone_limit)
    for dof in joint.dofs:
        yield from _dof(dof)


def _loop_joint(loop: LoopJoint) -> Iterator[Diagnostic]:
    """What acts on the free axes of a loop joint has the bounds of what acts on those of a tree."""
    if loop.cone_limit is not None:
        yield from _cone(loop.name, loop.cone_limit)
    for dof in loop.dofs:
        yield from _dof(dof)


def _cone(name: str, cone: ConeLimit) -> Iterator[Diagnostic]:
    for angle in (cone.angle_1, cone.angle_2):
        if not angle > 0.0:
            yield _error("cone-limit", name, f"cone angle {angle:g} rad must be positive")
    for what, value in (("stiffness", cone.stiffness), ("damping", cone.damping)):
        if not (0.0 <= value < math.inf):
            yield _error("negative", name, f"{what} of the cone limit {value:g} must be finite and not negative")


def _dof(dof: Dof) -> Iterator[Diagnostic]:
    for name, value in (("position", dof.position), ("velocity", dof.velocity)):
        if not math.isfinite(value):
            yield _error("not-finite", dof.name, f"{name} {value:g} must be finite")
    not_negative = {"armature": dof.armature}
    if dof.friction:
        not_negative["static friction effort"] = dof.friction.static_effort
        not_negative["dynamic friction effort"] = dof.friction.dynamic_effort
        not_negative["viscous friction"] = dof.friction.viscous
        not_negative["friction coefficient"] = dof.friction.coefficient
    if dof.drive:
        not_negative["drive stiffness"] = dof.drive.stiffness
        not_negative["drive damping"] = dof.drive.damping
        not_negative["velocity gradient of the drive"] = dof.drive.velocity_gradient
        not_negative["velocity resistance of the drive"] = dof.drive.velocity_resistance
        for name, value in (("position", dof.drive.position_target), ("velocity", dof.drive.velocity_target)):
            if not math.isfinite(value):
                yield _error("not-finite", dof.name, f"drive {name} target {value:g} must be finite")
        bounds = {"force": dof.drive.max_force, "impulse": dof.drive.max_impulse, "velocity": dof.drive.max_velocity}
        for name, value in bounds.items():
            if not value >= 0.0:
                yield _error("negative", dof.name, f"maximum {name} of the drive {value:g} must not be negative")
    if dof.limit:
        not_negative["limit stiffness"] = dof.limit.stiffness
        not_negative["limit damping"] = dof.limit.damping
        not_negative["bounce threshold of the limit"] = dof.limit.bounce_threshold
        if not 0.0 <= dof.limit.restitution <= 1.0:
            text = f"restitution of the limit {dof.limit.restitution:g} must be from 0 to 1"
            yield _error("limit-soft", dof.name, text)
    for name, value in not_negative.items():
        if not (0.0 <= value < math.inf):
            yield _error("negative", dof.name, f"{name} {value:g} must be finite and not negative")
    if not dof.velocity_limit >= 0.0:
        yield _error("negative", dof.name, f"velocity limit {dof.velocity_limit:g} must not be negative")
    if dof.limit and not dof.limit.lower <= dof.limit.upper:
        text = f"lower limit {dof.limit.lower:g} is above upper limit {dof.limit.upper:g}"
        yield _error("limit-inverted", dof.name, text)


def _tree(articulation: Articulation) -> Iterator[Diagnostic]:
    count = len(articulation.links)
    for joint in articulation.joints:
        if not (0 <= joint.child < count and WORLD <= joint.parent < count) or joint.parent == joint.child:
            text = f"joins link {joint.parent} to link {joint.child} of {count}; they must be two, or one and the world"
            yield _error("tree", joint.path, text)
            return
    inbound = Counter(joint.child for joint in articulation.joints)
    for child, times in inbound.items():
        if times > 1:
            joints = ", ".join(joint.path for joint in articulation.joints if joint.child == child)
            yield _error("tree", articulation.links[child].path, f"has several inbound joints, must have one: {joints}")
            return
    roots = [link for link in range(count) if link not in inbound]
    anchors = [joint.path for joint in articulation.joints if joint.parent == WORLD]
    joins = articulation.mimics or articulation.constraints_of(LoopJoint)
    joined = joins and not roots and anchors
    if len(roots) + len(anchors) != 1 and not joined:
        free = [articulation.links[link].path for link in roots]
        named = ", ".join(free + anchors) or "none"
        text = f"must have one root, a free link or a joint to the world; found {named}"
        yield _error("tree", articulation.path, text)
        return
    parents = {joint.child: joint.parent for joint in articulation.joints}
    for link in range(count):
        seen = set()
        while link in parents and link != WORLD:
            if link in seen:
                yield _error(
                    "cycle",
                    articulation.path,
                    f"cycle through {articulation.links[link].path}: joints must form a tree",
                )
                return
            seen.add(link)
            link = parents[link]


def _mechanisms(scene: Scene) -> Iterator[Diagnostic]:
    """Which articulations may be stepped as one mechanism, and the ends of constraints between them."""
    of_path = {one.path: one for one in scene.articulations}
    unknown = list(_unknown(scene, of_path))
    yield from unknown
    if unknown:
        return
    attached = {point.link for body in scene.elastic_bodies for point in body.attachments}
    attached |= {point.link for one in scene.mesh_tendons for point in one.waypoints if isinstance(point, LinkPoint)}
    for indices in mechanisms_of(scene):
        articulations = [scene.articulations[index] for index in indices]
        for one in articulations[: len(articulations) * (len(articulations) > 1)]:
            others = ", ".join(other.path for other in articulations if other is not one)
            if one.base_motion is not None:
                text = f"is carried by a kinematic body; it must be a mechanism by itself, and is one with {others}"
                yield _error("mechanism", one.path, text)
            if not attached.isdisjoint(one.bodies):
                text = f"has an elastic body attached to it; it must be a mechanism by itself, and is one with {others}"
                yield _error("mechanism", one.path, text)
        yield from _far_parts(articulations)
        yield from _keepers(articulations)


def _unknown(scene: Scene, of_path: dict[str, Articulation]) -> Iterator[Diagnostic]:
    """Articulations and their links that a scene and its constraints name, and that are not there."""
    there = f"there are {', '.join(of_path) or 'none'}"
    for path in (path for paths in scene.mechanisms for path in paths if path not in of_path):
        yield _error("mechanism", "scene", f"mechanisms: there is no articulation {path}; {there}")
    for articulation in scene.articulations:
        for constraint in (one for one in articulation.constraints if one.articulation1):
            other = of_path.get(constraint.articulation1)
            if other is None:
                problems = [f"there is no articulation {constraint.articulation1}; {there}"]
            elif other is articulation:
                problems = [f"names its own articulation {other.path} as the other one; it must name none, or another"]
            else:
                problems = list(constraint.problems_between(other))
            for problem in problems:
                yield _error("constraint", constraint.name, f"{constraint.NOUN}: {problem}")


def _keepers(articulations: list[Articulation]) -> Iterator[Diagnostic]:
    """Joints that contact pairs of a mechanism name, and that it does not have."""
    known = {loop.name for one in articulations for loop in one.constraints_of(LoopJoint) if loop.enabled}
    for pair in (pair for one in articulations for pair in one.constraints_of(ContactPair)):
        for name in set(pair.keepers) - known:
            text = f"{pair.NOUN}: touches once {name} has broken, which is no loop joint of its mechanism"
            yield _error("constraint", pair.name, text)


def _far_parts(articulations: list[Articulation]) -> Iterator[Diagnostic]:
    """Which articulations of a mechanism start far from the first one."""
    for one in articulations[1:]:
        first, own = (np.asarray(root_pose(each).position) for each in (articulations[0], one))
        distance = float(np.linalg.norm(own - first))
        if distance > FARTHEST:
            text = (
                f"starts {distance:.4g} m from {articulations[0].path}, with which it is one mechanism; places have "
                f"one origin, and beyond {FARTHEST:g} m float32 knows places no better than to 0.01 mm"
            )
            yield Diagnostic(Severity.WARNING, "mechanism-far", one.path, text)


def _names(scene: Scene) -> Iterator[Diagnostic]:
    links = [link.path for tree in scene.articulations for link in tree.links if not link.is_massless]
    dofs = [dof.name for tree in scene.articulations for dof in tree.dofs]
    for kind, own, listed in (("link", links, scene.link_names), ("dof", dofs, scene.dof_names)):
        for name, times in Counter(own).items():
            if times > 1:
                yield _error("names", name, f"{times} {kind}s have this name; names must differ")
        if sorted(own) != sorted(listed):
            yield _error("names", "scene", f"{kind} names must list each {kind} of the articulations once")


def _error(rule: str, path: str, message: str) -> Diagnostic:
    return Diagnostic(Severity.ERROR, rule, path, message)


def _finite(values) -> bool:
    return all(map(math.isfinite, values))


def _show(values) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"
