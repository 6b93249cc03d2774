"""Grippers with force-limited drives at coarse steps: they hold what Coulomb's law says, 2 mu F against m (g + a)."""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import Motion, simulation

G = 9.81
HALF = 0.05
START = 1e-4
"""Gap to each finger at the start [m]."""
LIFTED, TAKES = 0.3, 2.0
"""By how much the hand is lifted [m], in how many seconds, along half a cosine, after the first second."""


def drive(force: float) -> str:
    return (
        "float drive:linear:physics:stiffness = 10000\nfloat drive:linear:physics:damping = 100\n"
        f"float drive:linear:physics:targetPosition = 0.05\nfloat drive:linear:physics:maxForce = {force}\n"
    )


def gripper(mass: float, mu: float, force: float, tied: bool) -> ContactScene:
    """A cube between two fingers on a hand that is driven along Z; if `tied`, the second follows the first one."""
    solids = [
        box("cube", HALF, mass=mass),
        box("hand", 0.02, (0.0, 0.0, 0.5), mass=2.0),
        box("left", (0.02, 0.04, 0.04), (-0.07 - START, 0.0, 0.0), mass=0.3),
        box("right", (0.02, 0.04, 0.04), (0.07 + START, 0.0, 0.0), mass=0.3),
    ]
    joints = (
        'def PhysicsPrismaticJoint "lift" (prepend apiSchemas = ["PhysicsDriveAPI:linear"]) {\n'
        'uniform token physics:axis = "Z"\nrel physics:body1 = </World/hand>\npoint3f physics:localPos0 = (0, 0, 0.5)\n'
        "float drive:linear:physics:stiffness = 2000\nfloat drive:linear:physics:damping = 300\n}\n"
    )
    for name, x, turn in (("left", -0.07 - START, "(1, 0, 0, 0)"), ("right", 0.07 + START, "(0, 0, 0, 1)")):
        follows = tied and name == "right"
        api = "NewtonMimicAPI" if follows else "PhysicsDriveAPI:linear"
        how = "rel newton:mimicJoint = </World/slide_left>\nfloat newton:mimicCoef1 = 1\n" if follows else drive(force)
        joints += (
            f'def PhysicsPrismaticJoint "slide_{name}" (prepend apiSchemas = ["{api}"]) {{\n'
            'uniform token physics:axis = "X"\n'
            f"rel physics:body0 = </World/hand>\nrel physics:body1 = </World/{name}>\n"
            f"point3f physics:localPos0 = ({x}, 0, -0.5)\nquatf physics:localRot0 = {turn}\n"
            f"quatf physics:localRot1 = {turn}\n{how}}}\n"
        )
    return ContactScene(solids=solids, friction=mu, has_ground=False, joints=joints)


def creep(scene: ContactScene, solver: str, rate: int, seconds: int) -> np.ndarray:
    """How far the cube is below its place in the hand, after the first half of a second [m]."""
    one = simulation(scene, dt=1.0 / rate, solver=solver)
    lift = next(k for k, name in enumerate(one.scene.dof_names) if name.endswith("lift"))
    steps = seconds * rate
    phase = np.clip((np.arange(steps) / rate - 1.0) / TAKES, 0.0, 1.0)
    targets = np.zeros((steps, 1, len(one.scene.dof_names)))
    targets[:] = one.control.drive_position_target.numpy().T
    targets[:, 0, lift] = 0.5 * LIFTED * (1.0 - np.cos(np.pi * phase))
    run = wa.rollout(one, {"drive_position_target": targets}, quantities=("link_pose",))
    motion = Motion(run)
    low = motion.place("hand")[:, 2] - 0.5 - motion.place("cube")[:, 2]
    return low[rate // 2 :] - low[rate // 2]


@pytest.mark.parametrize("tied", [False, True], ids=["two drives", "mimic"])
@pytest.mark.parametrize("rate", [60, 120])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_what_friction_carries_is_held(solver, rate, tied):
    """With default iterations, for 20 s and while it is lifted, at three times what is needed; a mimic joint has the
    force of its leader for both fingers."""
    for mass, mu in ((0.05, 0.5), (0.3, 1.0), (1.0, 0.5), (1.0, 1.0)):
        least = mass * G / (2.0 * mu)
        found = creep(gripper(mass, mu, 3.0 * least * (1 + tied), tied), solver, rate, 20)
        assert np.abs(found).max() < 1e-3, (mass, mu)


@pytest.mark.parametrize("tied", [False, True], ids=["two drives", "mimic"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_what_friction_does_not_carry_slips(solver, tied):
    """At 0.9 of what is needed it falls with a tenth of g."""
    for mass in (0.05, 1.0):
        found = creep(gripper(mass, 0.5, 0.9 * mass * G * (1 + tied), tied), solver, 60, 1)
        assert found[-1] > 0.05
