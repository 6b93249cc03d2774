"""Mechanisms that can move in one way only, such as doors, levers and slides, touch things among many bodies."""

import numpy as np
import pytest
from pxr import Gf, UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS
from tests.islands.crowds import crowded
from tests.usd.authoring import open_text

G = 9.81


def jointed(joint, local0, axis="Z", rotation=None, **fields) -> wa.Scene:
    """A box of 0.2 m and 1 kg at a height of 0.5 m, with a joint to the world, among others."""
    solid = box("arm", 0.1, (0, 0, 0.5), **fields)
    stage = open_text(crowded(ContactScene(solids=[solid])).usd)
    made = joint.Define(stage, "/World/joint")
    made.CreateBody1Rel().SetTargets(["/World/arm"])
    made.CreateLocalPos0Attr(Gf.Vec3f(*local0))
    made.CreateLocalPos1Attr(Gf.Vec3f(local0[0], local0[1], local0[2] - 0.5))
    made.CreateAxisAttr(axis)
    if rotation is not None:
        made.CreateLocalRot0Attr(Gf.Quatf(*rotation))
        made.CreateLocalRot1Attr(Gf.Quatf(*rotation))
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/World/arm"))
    return wa.read_stage(stage)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_slide_along_the_normal_lands(precision):
    """There is no way for friction to act; the ground bears the weight."""
    simulation = wa.Simulation(
        jointed(UsdPhysics.PrismaticJoint, (0, 0, 0.5)), settings=wa.SolverSettings(precision=precision)
    )
    assert simulation.scene.island_contacts is not None
    simulation.step(240)
    assert simulation.state.joint_position.numpy()[0, 0] == pytest.approx(-0.4, abs=1e-4)
    force = simulation.contact_force_on("/World/arm")[0]
    np.testing.assert_allclose(force, (0, 0, G), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("rotation", (None, (0.9689124, 0.0, 0.2474040, 0.0)))
def test_a_hinge_lands(precision, rotation):
    """A lever falls about its axis and lies on its edge, which bears what the moment about the hinge asks for."""
    scene = jointed(UsdPhysics.RevoluteJoint, (-0.5, 0, 0.5), axis="Y", rotation=rotation)
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(precision=precision))
    simulation.step(480)
    angle = simulation.state.joint_position.numpy()[0, 0]
    # The lowest corner of the box, at 0.6 m and 0.1 m of the hinge, is on the ground.
    wanted = np.arcsin(0.5 / np.hypot(0.6, 0.1)) - np.arctan2(0.1, 0.6)
    assert angle == pytest.approx(wanted, abs=1e-3)
    assert abs(simulation.state.joint_velocity.numpy()[0, 0]) < 1e-3
    F = simulation.contact_force_on("/World/arm")[0]
    x, z = 0.6 * np.cos(angle) - 0.1 * np.sin(angle), -0.5
    # Moments about the hinge along y: z F_x - x F_z of the ground, and the weight at 0.5 m.
    assert z * F[0] - x * F[2] == pytest.approx(-0.5 * np.cos(angle) * G, rel=1e-2)
    assert np.hypot(F[0], F[1]) <= 0.5 * F[2] * (1 + 1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("shift", (0.0, 1e-7, 1e-4, 0.003))
def test_a_ball_in_its_bearing_stays_calm(precision, shift):
    """It turns about an axis that the normal of an overlap goes through, or nearly: nothing can move it out."""
    solids = [sphere("arm", 0.1, (0, 0, 0.5), turning=(0, 3.0, 0)), box("bearing", 0.1, (shift, 0, 0.31), mass=0.0)]
    stage = open_text(crowded(ContactScene(solids=solids)).usd)
    made = UsdPhysics.RevoluteJoint.Define(stage, "/World/joint")
    made.CreateBody1Rel().SetTargets(["/World/arm"])
    made.CreateLocalPos0Attr(Gf.Vec3f(0, 0, 0.5))
    made.CreateAxisAttr("Y")
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/World/arm"))
    simulation = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(precision=precision))
    assert simulation.scene.island_contacts is not None
    speeds = []
    for _ in range(240):
        simulation.step(1)
        speeds.append(abs(simulation.state.joint_velocity.numpy()[0, 0]))
    assert simulation.failures() == []
    assert max(speeds) < 3.0 + 1e-3


def test_a_turnstile_is_pushed():
    """A box that slides into a hinged one turns it about a vertical axis: both stay in their plane, and momentum stays.

    The box used to leave the plane with 0.2 m/s and 1.9 rad/s.
    """
    arm = box("arm", 0.1, (0, 0, 0.5))
    pusher = box("pusher", 0.1, (0.1, -0.5, 0.5), velocity=(0, 2.0, 0))
    stage = open_text(crowded(ContactScene(solids=[arm, pusher], gravity=(0, 0, 0), has_ground=False)).usd)
    made = UsdPhysics.RevoluteJoint.Define(stage, "/World/joint")
    made.CreateBody1Rel().SetTargets(["/World/arm"])
    made.CreateLocalPos0Attr(Gf.Vec3f(-0.5, 0, 0.5))
    made.CreateLocalPos1Attr(Gf.Vec3f(-0.5, 0, 0))
    made.CreateAxisAttr("Z")
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/World/arm"))
    simulation = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(precision="float64"))
    assert simulation.scene.island_contacts is not None
    names = simulation.link_names
    one, other = names.index("/World/arm"), names.index("/World/pusher")

    def angular_momentum() -> float:
        """About the axis at (-0.5, 0)."""
        pose, velocity = simulation.state.link_pose.numpy()[:, :, 0], simulation.state.link_velocity.numpy()[:, :, 0]
        total = 0.0
        for body in (one, other):
            arm = pose[body, :2] - (-0.5, 0.0)
            inertia = (0.2**2 + 0.2**2) / 12.0
            total += arm[0] * velocity[body, 1] - arm[1] * velocity[body, 0] + inertia * velocity[body, 5]
        return total

    before = angular_momentum()
    simulation.step(72)
    assert simulation.state.joint_velocity.numpy()[0, 0] > 0.5
    assert np.abs(simulation.state.link_velocity.numpy()[other, 2:5, 0]).max() < 0.05
    assert angular_momentum() == pytest.approx(before, rel=4e-3)
