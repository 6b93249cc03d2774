"""Elastic bodies that touch obstacles in a simulation: rest, snapshots, resets, and what is read."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.test_moving_obstacles import moved
from tests.meshes.test_node_contacts import cube, floor
from tests.sim.bodies_on_links import DOWN, block, simulate
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.sim.revise import revise


def scene(**fields):
    """A cube with a tendon that falls on a rough floor."""
    plane = replace(floor(3, tilt=0.2), static_friction=0.5, dynamic_friction=0.4)
    body = cube(3, 0.01, young=2e4, stiffness_damping=8e-3, mass_damping=2.0, obstacles=(plane,))
    waypoints = tuple(BodyPoint(nodes=(node,)) for node in (0, 15, 60))
    tendon = MeshTendon(name="/World/tendon", body=body.name, waypoints=waypoints, stiffness=20.0, target_length=0.1)
    return Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,), gravity=DOWN, **fields)


def test_a_body_rests_with_its_weight():
    """Beside a tendon, and links that fall as they do alone."""
    together = simulate(replace(scene(), articulations=(block(),)), 1 / 240, environments=2)
    alone = simulate(Scene(articulations=(block(),), gravity=DOWN), 1 / 240, environments=2)
    together.step(1200)
    alone.step(1200)
    body = together.elastic_bodies[0]
    assert body.unconverged.max() == 0
    weight = 9.81 * body.node_mass.sum()
    force = body.contact_force.numpy().sum(axis=1)
    np.testing.assert_allclose(force, [[0.0, 0.0, weight]] * 2, atol=1e-5 * weight)
    np.testing.assert_array_equal(together.state.link_pose.numpy(), alone.state.link_pose.numpy())


def test_recordings_have_forces_in_world_axes():
    """Of a body whose frame is turned; after joining too, and those of the last step at the end."""
    body = scene().elastic_bodies[0]
    turn = np.array([0.0, np.sin(0.3), 0.0, np.cos(0.3)])
    turned = Scene(
        articulations=(), elastic_bodies=(replace(body, pose=Pose((0.0, 0.0, 0.3), tuple(turn))),), gravity=DOWN
    )
    simulation = simulate(turned)
    recording = simulation.record(240, forces=True)
    own = simulation.elastic_bodies[0]
    forces = recording.mesh_contact_force
    assert forces.shape == (241, 1, len(body.points), 3) and not forces[0].any()
    rotation = turned.elastic_bodies[0].pose.rotation
    np.testing.assert_allclose(forces[-1], own.contact_force.numpy() @ rotation.T, rtol=1e-6, atol=1e-7)
    short = simulate(turned).record(240, quantities=["mesh_contact_force"])
    np.testing.assert_array_equal(short.mesh_contact_force, forces)
    assert not short.mesh_points.size


def on_a_swing():
    """The same on a floor that goes to and fro."""
    made = scene()
    (body,) = made.elastic_bodies
    swing = moved(body.obstacles[0], lambda t: Pose((0.02 * np.sin(10.0 * t), 0.0, 0.05 * np.sin(10.0 * t))), 1.0)
    return replace(made, elastic_bodies=(replace(body, obstacles=(swing,)),))


@pytest.mark.parametrize("precision", ("float64", "float32"))
@pytest.mark.parametrize("scene", (scene, on_a_swing))
def test_a_run_goes_on_bitwise(scene, precision):
    """From a snapshot, whose contacts remember what they bore; after a reset it starts again without contacts."""
    simulation = simulate(scene(), environments=3, precision=precision)
    body = simulation.elastic_bodies[0]
    simulation.step(60)
    kept = simulation.snapshot()
    simulation.step(40)
    names = ("points", "velocities", "contact_force")
    after = {name: getattr(body, name).numpy().copy() for name in names}
    assert after["contact_force"].any()
    simulation.apply(kept)
    simulation.step(40)
    for name, values in after.items():
        np.testing.assert_array_equal(getattr(body, name).numpy(), values)
    simulation.reset()
    assert not body.contact_force.numpy().any()
    simulation.step(100)
    for name, values in after.items():
        np.testing.assert_array_equal(getattr(body, name).numpy(), values)


def test_a_revised_run_goes_on_bitwise():
    """With the forces that contacts bear, where nothing of the body is revised."""
    first = simulate(scene())
    first.step(60)
    second = revise(first, replace(scene(), articulations=(block(),)), first.settings)
    for one in (first, second):
        one.step(20)
    for name in ("points", "velocities", "contact_force"):
        values, others = (getattr(one.elastic_bodies[0], name).numpy() for one in (first, second))
        np.testing.assert_array_equal(values, others)
    assert values.any()


def test_gravity_of_one_environment():
    """That of others is what it was, bitwise; one without gravity touches nothing."""
    both = [simulate(scene(), environments=3) for _ in range(2)]
    gravity = both[1].elastic_bodies[0].gravity.numpy()
    gravity[:, 1] = 0.0
    both[1].elastic_bodies[0].gravity.assign(gravity)
    for one in both:
        one.step(50)
    forces = [one.elastic_bodies[0].contact_force.numpy() for one in both]
    np.testing.assert_array_equal(forces[0][[0, 2]], forces[1][[0, 2]])
    assert forces[0].any() and not forces[1][1].any()


def test_a_body_without_obstacles_has_no_contacts():
    body = replace(scene().elastic_bodies[0], obstacles=())
    simulation = simulate(Scene(articulations=(), elastic_bodies=(body,), gravity=DOWN))
    assert simulation.elastic_bodies[0].contact_force is None
