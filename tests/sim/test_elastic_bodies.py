"""Elastic bodies beside articulations: steps under one clock, links both ways, what users read, write and keep."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.bodies import bar
from tests.meshes.test_dynamics import tumbling
from tests.meshes.test_equilibrium import clamped, pulled
from warp_artic import Recording, SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.sim.link_coupling import with_node_masses

DOWN = (0.0, 0.0, -9.81)
FREE = (0.0, 0.0, 0.0)


def simulate(scene, dt=1e-3, environments=1, **settings):
    """A simulation of a scene, in float64."""
    options = {"dt": dt, "precision": "float64", "variant": "scalar"} | settings
    return Simulation(scene, environments=environments, settings=SolverSettings(**options))


def block(mass=1.0, position=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), **fields):
    """A free cube of 0.2 m with its centre of mass beside the origin of its frame."""
    third = mass * 0.2**2 / 6
    pose = Pose(position, quaternion_from_rotation_vector(turn))
    link = Link(
        path="/World/block",
        mass=mass,
        center_of_mass=(0.02, 0.0, 0.0),
        inertia=(third, 0.0, 0.0, third, 0.0, third),
        pose=pose,
        **fields,
    )
    return Articulation(path="/World/block", links=(link,), joints=())


def on_block(tree, cells=(4, 2, 2), size=(0.4, 0.2, 0.2), pose=None, **fields):
    """A bar whose end is attached to the side of the block."""
    X_WB = tree.links[0].pose @ (pose or Pose((0.1, -0.1, -0.1)))
    body = bar(cells, size, pose=X_WB, **fields)
    X_LB = tree.links[0].pose.inverse() @ X_WB
    nodes = np.flatnonzero(body.points[:, 0] == 0.0)
    places = (X_LB.apply([*body.points[node], 0.0][:3]) for node in nodes)
    attachments = tuple(
        NodeAttachment(node=int(node), link="/World/block", position=tuple(map(float, place)))
        for node, place in zip(nodes, places)
    )
    return replace(body, attachments=attachments)


def whole_momentum(simulation):
    """Momentum, and angular momentum about the origin, of one free link and one body."""
    link = with_node_masses(simulation.scene).articulations[0].links[0]
    pose = simulation.state.link_pose.numpy()[0, :, 0]
    velocity = simulation.state.link_velocity.numpy()[0, :, 0]
    R = Pose(tuple(pose[:3]), tuple(pose[3:])).rotation
    center = pose[:3] + R @ np.asarray(link.center_of_mass)
    xx, xy, xz, yy, yz, zz = link.inertia
    spin = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T @ velocity[3:]
    body = simulation.elastic_bodies[0]
    turn = body.body.pose.rotation[:, : body.body.dim]
    m, x, v = body.node_mass[:, None], body.world_points()[0], body.velocities.numpy()[0].copy()
    v = v @ turn.T
    linear = link.mass * velocity[:3] + (m * v).sum(axis=0)
    angular = np.cross(center, link.mass * velocity[:3]) + spin + np.cross(x, m * v).sum(axis=0)
    return linear, angular


def test_a_body_alone_is_that_of_the_mesh():
    """A scene without articulations steps, records and resets."""
    body, tendons = tumbling(3)
    scene = Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=tendons, gravity=DOWN)
    simulation = simulate(scene, environments=2)
    recording = simulation.record(steps=20, every=10)
    assert recording.mesh_points.shape == (3, 2, len(body.points), 3)
    assert recording.mesh_nodes == (body.name,) * len(body.points)
    assert recording.mesh_tendon_names == ("/World/tendon",)
    np.testing.assert_allclose(recording.mesh_points[0, 0], body.points)
    middle = recording.mesh_points[-1].mean(axis=1)
    start = (body.points + 0.02 * body.start_velocities).mean(axis=0)
    weighted = np.average(recording.mesh_points[-1, 0], axis=0, weights=simulation.elastic_bodies[0].node_mass)
    wanted = np.average(body.points + 0.02 * body.start_velocities, axis=0, weights=simulation.elastic_bodies[0].node_mass)
    np.testing.assert_allclose(weighted, wanted + [0.0, 0.0, -0.5 * 9.81 * 0.02**2], atol=1e-9)
    assert (recording.mesh_points[:, 0] == recording.mesh_points[:, 1]).all() and np.isfinite(middle + start).all()
    length = np.linalg.norm(np.diff(recording.mesh_points[0, 0][[w.nodes[0] for w in tendons[0].waypoints]], axis=0), axis=1)
    assert recording.mesh_tendon_length[0, 0, 0] == pytest.approx(length.sum(), rel=1e-12)
    assert recording.mesh_tendon_tension[0, 0, 0] == pytest.approx(50.0 * (length.sum() - 0.57 - 5e-4), rel=1e-9)
    simulation.reset()
    again = simulation.record(steps=20, every=10)
    assert (again.mesh_points == recording.mesh_points).all()


@pytest.mark.parametrize("mass", (0.05, 1.0, 100.0))
def test_a_link_and_its_body_keep_momentum(mass):
    """Whatever they weigh: the momentum of both is kept to rounding, and they hang together without growing."""
    tree = block(mass, (0.3, 0.2, 0.1), (0.3, -0.2, 0.5), linear_velocity=(1.0, 0.5, 0.0), angular_velocity=(0.0, 2.0, 3.0))
    body = on_block(tree, young=1e5)
    assert body.attachments
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=FREE))
    linear, angular = whole_momentum(simulation)
    for _ in range(200):
        simulation.step()
    after, turned = whole_momentum(simulation)
    scale = np.linalg.norm(linear)
    np.testing.assert_allclose(after, linear, rtol=0.0, atol=1e-5 * scale)
    print(mass, np.abs(after - linear).max() / scale, np.abs(turned - angular).max() / np.abs(angular).max())
    pose = simulation.state.link_pose.numpy()[0, :, 0]
    X_WL = Pose(tuple(pose[:3]), tuple(pose[3:]))
    points = simulation.elastic_bodies[0].world_points()[0]
    for one in body.attachments:
        np.testing.assert_allclose(points[one.node], X_WL.apply(one.position), atol=1e-12)
    assert np.abs(points - points.mean(axis=0)).max() < 0.5
