"""Contacts that nothing presses but other constraints answer with their force in each step, also from rest."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS, simulation

G = 9.81


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", [0.2, 0.3, 0.4])
def test_a_saturated_drive_presses_on_a_wall(gap, precision):
    """The wall answers the largest force of the drive in each step, once the slider has come to rest on it."""
    slide = (
        'def PhysicsPrismaticJoint "slide" (prepend apiSchemas = ["PhysicsDriveAPI:linear"]) {\n'
        'uniform token physics:axis = "X"\nrel physics:body1 = </World/slider>\n'
        "float drive:linear:physics:stiffness = 1000\nfloat drive:linear:physics:targetPosition = 1\n"
        "float drive:linear:physics:maxForce = 80\n}\n"
    )
    wall = box("wall", (0.1, 1.0, 1.0), (gap + 0.2, 0.0, 0.0), mass=0.0)
    scene = ContactScene(solids=[wall, box("slider", 0.1, mass=2.0)], has_ground=False, joints=slide)
    one = simulation(scene, dt=1.0 / 60.0, precision=precision)
    one.step(120)
    for _ in range(4):
        one.step()
        assert one.contact_force_on("/World/slider")[0][0] == pytest.approx(-80.0, rel=1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "load", [sphere("load", 0.1, (0, 0, 1.12), mass=3.0), box("load", 0.1, (0, 0, 1.12), mass=3.0)]
)
def test_a_shelf_held_by_a_loop_joint_carries_a_load(load, precision):
    """It answers the weight from the first step on, and the joint holds what it is to hold."""
    fixed = (
        'def PhysicsFixedJoint "fixed" {\nrel physics:body1 = </World/shelf>\npoint3f physics:localPos0 = (0, 0, 1)\n'
        "bool physics:excludeFromArticulation = 1\nfloat physics:breakForce = 50\n}\n"
    )
    shelf = box("shelf", (0.2, 0.2, 0.02), (0, 0, 1), mass=1.0)
    one = simulation(ContactScene(solids=[shelf, load], has_ground=False, joints=fixed), precision=precision)
    for _ in range(4):
        one.step()
        np.testing.assert_allclose(one.contact_force_on("/World/load")[0][:3], (0, 0, 3.0 * G), rtol=2e-3, atol=1e-3)
    assert not one.broken_loops()
