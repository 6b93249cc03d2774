"""Joints whose bodies rest on something: their friction and limits bear what statics says, and nothing creeps."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, cylinder, turn
from tests.contacts.motion import simulation

STAIRS = Path(__file__).parents[2] / "samples" / "scenes" / "ragdoll_on_stairs.usda"
G = 9.81
PIECES, LENGTH, SUPPORT = 9, 0.2, 0.75
"""Of a beam of pieces of 1 kg along x, about the origin, and where it is supported on either side [m]."""
SOLVERS = ("direct", "pgs")


def beam(strength: float) -> ContactScene:
    """Pieces on hinges with friction [N m], on two rounds."""
    lying = turn((1, 0, 0), 0.5 * np.pi)
    solids = [
        cylinder(name, 0.05, 0.2, (x, 0.0, 0.05), quaternion=lying, mass=0.0)
        for name, x in (("left", -SUPPORT), ("right", SUPPORT))
    ]
    joints = ""
    for k in range(PIECES):
        place = ((k - 0.5 * (PIECES - 1)) * LENGTH, 0.0, 0.12)
        solids.append(box(f"piece{k}", (0.5 * LENGTH, 0.1, 0.02), place))
        if k:
            joints += (
                f'def PhysicsRevoluteJoint "hinge{k}" (prepend apiSchemas = ["PhysxJointAxisAPI:angular"]) {{\n'
                f"rel physics:body0 = </World/piece{k - 1}>\nrel physics:body1 = </World/piece{k}>\n"
                f"point3f physics:localPos0 = ({0.5 * LENGTH}, 0, 0)\n"
                f"point3f physics:localPos1 = ({-0.5 * LENGTH}, 0, 0)\n"
                f'uniform token physics:axis = "Y"\n'
                f"float physxJointAxis:angular:staticFrictionEffort = {strength}\n"
                f"float physxJointAxis:angular:dynamicFrictionEffort = {strength}\n}}\n"
            )
    return ContactScene(solids=solids, joints=joints, has_ground=False)


def bending() -> np.ndarray:
    """The moment at each hinge of the beam on two supports [N m]: of what hangs and stands left of it."""
    end = 0.5 * PIECES * LENGTH
    x = -end + LENGTH * np.arange(1, PIECES)
    weight = G / LENGTH
    carried = weight * end * np.clip(x + SUPPORT, 0.0, None) - weight * end * np.clip(x - SUPPORT, 0.0, None)
    return carried - 0.5 * weight * (x + end) ** 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rate", [60, 240])
def test_friction_of_hinges_bears_a_beam(solver, rate):
    """Of 20 N m, where it bends by 13 N m at most; sweeps, which let it sag at first, let it fall through."""
    one = simulation(beam(20.0), dt=1 / rate, solver=solver, sleep_after=float("inf"))
    one.step(12 * rate)
    quantities = ("joint_friction_force", "link_pose", "link_velocity")
    found = one.record(2 * rate, every=rate // 10, forces=True, quantities=quantities)
    assert np.abs(found.link_velocity[1:, 0]).max() < 1e-4
    assert np.ptp(found.link_pose[:, 0, :, :3], axis=0).max() < 2e-5
    if solver == "direct":
        sizes = np.abs(found.joint_friction_force[1:, 0])
        np.testing.assert_allclose(sizes, np.broadcast_to(np.abs(bending()), sizes.shape), atol=0.02 * 13.2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rate", [60, 144, 200, 238])
def test_a_ragdoll_on_stairs_comes_to_rest(solver, rate):
    """It crept by 0.1 to 0.8 mm/s: in some steps limits that bear it took part only once contacts had been found
    without them, and sweeps found what the friction of its joints bears anew in each step."""
    one = wa.Simulation(wa.read_stage(STAIRS), settings=wa.SolverSettings(dt=1 / rate, solver=solver))
    one.step(12 * rate)
    before = one.state.link_pose.numpy()[:, :3].copy()
    one.step(4 * rate)
    assert np.abs(one.state.link_pose.numpy()[:, :3] - before).max() < 5e-5


def test_an_impact_is_no_load():
    """A row begins with what it has borne for two steps: an arm that hits its limit leaves nothing there."""
    hinge = (
        'def PhysicsRevoluteJoint "hinge" {\nrel physics:body1 = </World/arm>\n'
        "point3f physics:localPos0 = (0, 0, 1)\npoint3f physics:localPos1 = (-0.5, 0, 0)\n"
        'uniform token physics:axis = "Y"\nfloat physics:lowerLimit = -45\nfloat physics:upperLimit = 10\n}\n'
    )
    arm = box("arm", (0.5, 0.05, 0.05), (0.5, 0.0, 1.0))
    one = simulation(ContactScene(solids=[arm], joints=hinge), dt=1 / 240, sleep_after=float("inf"))
    one.step(120)
    last, before = one.run.groups[0].field("bearing_impulse").scalars.numpy()[:2, 0]
    assert last == pytest.approx(before, rel=1e-4)
    assert abs(last) == pytest.approx(0.5 * G * np.cos(np.radians(10)) / 240, rel=1e-4)
