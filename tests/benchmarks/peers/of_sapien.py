"""SAPIEN: PhysX on the CPU, its TGS solver with 4 and 1 iterations, all robots in one scene; single precision.

Robots are built from the MJCF file; mimic joints are the stiff tendons that SAPIEN makes of them.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from xml.etree import ElementTree

import numpy as np
from case import Case, NotSimulatedError
from peer import Peer

try:
    import sapien
    from sapien.wrapper.articulation_builder import ArticulationBuilder, MimicJointRecord
except ImportError:
    sapien = None

SHORT = 1e-5
"""A step in which forces do not change [s]."""
AXES = {
    (1.0, 0.0, 0.0): (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0): (0.5**0.5, 0.0, 0.0, 0.5**0.5),
    (0.0, 0.0, 1.0): (0.5**0.5, 0.0, -(0.5**0.5), 0.0),
}
"""Rotations wxyz of x, about which SAPIEN's hinges turn, to axes of joints."""


def _numbers(element, name: str, default: str) -> list[float]:
    return [float(word) for word in element.get(name, default).split()]


def _pose(element) -> sapien.Pose:
    return sapien.Pose(_numbers(element, "pos", "0 0 0"), _numbers(element, "quat", "1 0 0 0"))


@cache
def _system():
    """Settings of PhysX, which are those of the whole process."""
    sapien.physx.set_scene_config(gravity=np.array([0.0, 0.0, -9.81]), enable_tgs=True, cpu_workers=0)
    sapien.physx.set_body_config(solver_position_iterations=4, solver_velocity_iterations=1, sleep_threshold=0.0)


def _scene(case: Case, positions: dict[str, float], environments: int, dt: float):
    """A scene with the robots, and the order of the joints in one."""
    if "several robots" in case.features:
        raise NotSimulatedError("MJCF files that attach others are not read")
    _system()
    scene = sapien.Scene([sapien.physx.PhysxCpuSystem()])
    scene.set_timestep(dt)
    root = ElementTree.parse(case.xml).getroot()
    for _ in range(environments):
        robot = _robot(case, scene, root)
        joints = [joint.name for joint in robot.get_active_joints()]
        robot.set_qpos(np.array([positions[name] for name in joints], np.float32))
    return scene, robot, joints


def _robot(case: Case, scene, root):
    builder = ArticulationBuilder().set_scene(scene)
    first = root.find("worldbody/body")
    is_floating = first.find("freejoint") is not None
    base = None
    if is_floating:
        builder.set_initial_pose(_pose(first))
    else:
        base = builder.create_link_builder()
        base.set_mass_and_inertia(1.0, sapien.Pose(), [1.0, 1.0, 1.0])
    _add_body(builder, base, first)
    for equal in root.findall("equality/joint"):
        builder.mimic_joint_records.append(MimicJointRecord(equal.get("joint1"), equal.get("joint2"), 1.0, 0.0))
    robot = builder.build(fix_root_link=not is_floating)
    for link in robot.get_links():
        link.linear_damping = link.angular_damping = 0.0
    described = {joint.get("name"): joint for joint in root.iter("joint") if joint.get("type") == "hinge"}
    for joint in robot.get_active_joints():
        (stiffness, damping), own = case.gains[joint.name], described[joint.name]
        joint.set_drive_properties(stiffness, damping + float(own.get("damping", 0.0)), mode="force")
        joint.set_drive_target(case.targets[joint.name])
        joint.set_armature([float(own.get("armature", 0.0))])
        joint.set_friction(0.0)
    links = {joint.name: joint.child_link for joint in robot.get_active_joints()}
    for tendon in root.findall("tendon/fixed"):
        terms = [(links[term.get("joint")], float(term.get("coef"))) for term in tendon.findall("joint")]
        chain, coefficients = [terms[0][0].parent, *(link for link, _ in terms)], [0.0, *(term[1] for term in terms)]
        gains = float(tendon.get("stiffness")), float(tendon.get("damping"))
        robot.create_fixed_tendon(chain, coefficients, coefficients, stiffness=gains[0], damping=gains[1])
    return robot


def _add_body(builder, parent, body) -> None:
    link = builder.create_link_builder(parent)
    inertial = body.find("inertial")
    inertia = _numbers(inertial, "diaginertia", "")
    link.set_mass_and_inertia(float(inertial.get("mass")), _pose(inertial), inertia)
    joint = body.find("joint")
    if joint is not None:
        turn = sapien.Pose(q=AXES[tuple(_numbers(joint, "axis", "0 0 1"))])
        limits = _numbers(joint, "range", "-inf inf")
        link.set_joint_name(joint.get("name"))
        link.set_joint_properties("revolute_unwrapped", [limits], _pose(body) * turn, turn)
    for child in body.findall("body"):
        _add_body(builder, link, child)


def _make(case: Case, environments: int):
    scene, robot, _ = _scene(case, case.start, environments, case.dt)

    def advance(count: int) -> None:
        for _ in range(count):
            scene.step()
        if not np.isfinite(robot.get_qpos()).all():
            raise FloatingPointError("positions are not finite")

    return advance


def _acceleration(case: Case) -> dict[str, float]:
    scene, robot, joints = _scene(case, case.inside, 1, SHORT)
    scene.step()
    return dict(zip(joints, (robot.get_qvel() / SHORT).tolist()))


PEERS = {}
if sapien is not None:
    PEERS["sapien"] = Peer(f"SAPIEN {version('sapien')}, float32", _make, _acceleration)
