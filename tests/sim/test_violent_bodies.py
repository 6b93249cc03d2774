"""Elastic bodies on links in motion that is too violent for the step: it stays bounded."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.test_equilibrium import clamped
from tests.sim.bodies_on_links import DOWN, FREE, block, on_block, simulate, slide
from warp_artic.description.articulation import Articulation
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.joint import Axis
from warp_artic.description.limit import Limit
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene


@pytest.mark.parametrize("mass", (0.02, 50.0))
@pytest.mark.parametrize("axis", (Axis.TRANS_X, Axis.ROT_Z))
def test_stiff_bodies_on_links_stay_bounded(mass, axis):
    """Held at the other end, in steps that are hundreds of times too long to see them vibrate, without damping."""
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), young=1e8), mass, axis)
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.4).tolist()))
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=(3.0, 1.0, 0.0)), 1 / 60)
    positions = []
    for _ in range(150):
        simulation.step()
        positions.append(simulation.state.joint_position.numpy()[0, 0])
    assert np.abs(positions).max() < 0.02


def test_a_stiff_body_comes_to_rest_on_a_limit():
    """It swings onto the limit of its hinge, in steps that see neither the impact nor a vibration."""
    material = {"young": 1e7, "density": 500.0, "mass_damping": 4.0, "stiffness_damping": 2e-3}
    limit = Limit(lower=-0.5, upper=0.3)
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), **material), 0.2, Axis.ROT_Y, limit=limit)
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), 1 / 60)
    simulation.step(90)
    assert simulation.state.joint_position.numpy()[0, 0] == pytest.approx(0.3, abs=1e-6)
    assert sum(simulation.elastic_bodies[0].energy())[0] < 0.05


@pytest.mark.parametrize("integrator", ("semi_implicit", "midpoint"))
def test_violent_motion_does_not_gain_energy(integrator):
    """Every node another way by 1 m/s, on a light link, in steps of fifty vibrations."""
    tree = block(0.2)
    body = on_block(tree, (2, 1, 1), young=1e8)
    simulation = simulate(
        Scene(articulations=(tree,), elastic_bodies=(body,), gravity=FREE), 1 / 60, integrator=integrator
    )
    speed = np.random.default_rng(0).normal(size=body.points.shape)
    simulation.elastic_bodies[0].set_state(velocities=speed - speed.mean(axis=0))
    start = sum(simulation.elastic_bodies[0].energy())[0]
    for _ in range(20):
        simulation.step()
        assert sum(simulation.elastic_bodies[0].energy())[0] < start


@pytest.mark.parametrize("damping", (1e-3, 5e-3))
def test_a_spring_far_too_strong_for_the_step_does_not_gain_energy(damping):
    """Stretched by 0.2 m, it turns light links at both ends of a body by half a radian in the first step."""
    tree = block(0.2)
    other = block(0.2, (0.6, 0.0, 0.0)).links[0]
    other = Articulation(path="/World/other", links=(replace(other, path="/World/other"),), joints=())
    body = on_block(tree, (3, 1, 1), (0.4, 0.2, 0.2), young=5e4, stiffness_damping=damping)
    far = np.flatnonzero(body.points[:, 0] == 0.4)
    X_LB = other.links[0].pose.inverse() @ body.pose
    held = (
        NodeAttachment(node=int(node), link="/World/other", position=tuple(map(float, X_LB.apply(body.points[node]))))
        for node in far
    )
    body = replace(body, attachments=(*body.attachments, *held))
    near, middle = (int(np.flatnonzero(np.isclose(body.points[:, 0], x))[k]) for x, k in ((0.4 / 3, 1), (0.8 / 3, 2)))
    waypoints = (
        LinkPoint(link="/World/block", position=(0.0, 0.1, 0.1)),
        BodyPoint(nodes=(near,)),
        BodyPoint(nodes=(middle,)),
        LinkPoint(link="/World/other", position=(0.0, 0.0, 0.1)),
    )
    spring = MeshTendon(name="/World/spring", body=body.name, waypoints=waypoints, stiffness=1e6)
    scene = Scene(articulations=(tree, other), elastic_bodies=(body,), mesh_tendons=(spring,), gravity=FREE)
    simulation = simulate(scene, 1 / 240)
    (found,) = simulation.elastic_bodies
    found.target_length.fill_(found.measure_tendons()[0][0, 0] - 0.2)
    start = 0.5 * 1e6 * 0.2**2
    assert sum(found.energy())[0] == pytest.approx(start)
    energies = []
    for _ in range(120):
        simulation.step()
        energies.append(sum(found.energy())[0])
    assert max(energies) < start and np.mean(energies[-20:]) < 0.02 * start


def test_a_stiff_body_pulls_a_light_link_from_stop_to_stop():
    """Its links saturate at both ends of a slide of 2 mm: every step finds where between them they are."""
    limit = Limit(lower=-1e-3, upper=1e-3)
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), young=1e6), 0.02, limit=limit)
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.4).tolist()))
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=(30.0, 1.0, 0.0)), 1 / 60)
    simulation.set_state(joint_velocity=[2.0])
    simulation.step(50)
    assert simulation.elastic_bodies[0].unconverged.tolist() == [0]
    assert abs(simulation.state.joint_position.numpy()[0, 0]) < 1e-3 + 1e-9


@pytest.mark.parametrize("share", (0.95, 20.0))
def test_springs_to_links_have_no_bound(share):
    """A spring from a held body to a link: bounded in steps beyond 2 sqrt(m / K), where an explicit one is not."""
    mass, K = 2.0, 1e4
    tree, body = slide(lambda tree: clamped((1, 1, 1), (0.1, 0.1, 0.1), young=1e7), mass)
    waypoints = BodyPoint(nodes=(body.pinned[0],)), LinkPoint(link="/World/block", position=(0.0, 0.0, 0.0))
    body = replace(body, pose=Pose((1.0, 0.0, 0.0)))
    spring = MeshTendon(
        name="/World/spring",
        body=body.name,
        waypoints=waypoints,
        law=TensionLaw.SPRING,
        stiffness=K,
        target_length=0.9999,
    )
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), mesh_tendons=(spring,), gravity=FREE)
    simulation = simulate(scene, share * 2.0 * np.sqrt(mass / K), integrator="semi_implicit")
    assert simulation.elastic_bodies[0].points.shape == (1, len(body.points))
    positions = []
    for _ in range(40):
        simulation.step()
        positions.append(abs(simulation.state.joint_position.numpy()[0, 0]))
    assert 1e-5 < max(positions) < 2.1e-4
