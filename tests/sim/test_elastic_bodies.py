"""Elastic bodies beside articulations: steps under one clock, links both ways, what users read, write and keep."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from tests.meshes.bodies import bar
from tests.meshes.equilibria import solve_equilibrium
from tests.meshes.test_dynamics import tumbling
from tests.meshes.test_elastic import dense
from tests.sim.bodies_on_links import DOWN, FREE, block, on_block, simulate, slide
from warp_artic import SettingsError, SolverSettings
from warp_artic.cli.summary import _unconverged
from warp_artic.description.drive import Drive
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Axis
from warp_artic.description.limit import Limit
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.meshes.elastic import ElasticMesh, node_masses
from warp_artic.sim.arrays.views import CONTROL, OUTPUTS, STATE
from warp_artic.sim.elastic.node_masses import with_node_masses

SETTINGS = SolverSettings(dt=0.01, precision="float64", variant="scalar")


def whole_momentum(simulation):
    """Momentum, and angular momentum about the origin, of one free link and one body."""
    link = with_node_masses(simulation.scene).articulations[0].links[0]
    pose = simulation.state.link_pose.numpy()[0, :, 0]
    velocity = simulation.state.link_velocity.numpy()[0, :, 0]
    R = Pose(tuple(pose[:3]), tuple(pose[3:])).rotation
    center = pose[:3] + R @ np.asarray(link.center_of_mass)
    spin = R @ link.inertia_matrix @ R.T @ velocity[3:]
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
    mass = simulation.elastic_bodies[0].node_mass
    center = np.average(recording.mesh_points[-1, 0], axis=0, weights=mass)
    wanted = np.average(body.points + 0.02 * body.start_velocities, axis=0, weights=mass)
    np.testing.assert_allclose(center, wanted + [0.0, 0.0, -0.5 * 9.81 * 0.02**2], atol=1e-9)
    assert (recording.mesh_points[:, 0] == recording.mesh_points[:, 1]).all()
    path = body.points[[waypoint.nodes[0] for waypoint in tendons[0].waypoints]]
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert recording.mesh_tendon_length[0, 0, 0] == pytest.approx(length, rel=1e-12)
    assert recording.mesh_tendon_tension[0, 0, 0] == pytest.approx(50.0 * (length - 0.57 - 5e-4), rel=1e-9)
    simulation.reset()
    again = simulation.record(steps=20, every=10)
    assert (again.mesh_points == recording.mesh_points).all()


def test_arrays_without_articulations_are_empty():
    """What a script reads of any scene is there, and says that there is nothing."""
    simulation = simulate(Scene(articulations=(), elastic_bodies=(bar((1, 1, 1), (1.0, 1.0, 1.0)),)), environments=2)
    for views, names in ((simulation.state, (*STATE, *OUTPUTS)), (simulation.control, CONTROL)):
        for name in names:
            shape = getattr(views, name).numpy().shape
            assert (shape[0], shape[-1]) == (0, 2)


@pytest.mark.parametrize("integrator", ("semi_implicit", "midpoint"))
@pytest.mark.parametrize("mass", (0.05, 1.0, 100.0))
def test_a_link_and_its_body_keep_momentum(mass, integrator):
    """Whatever they weigh (the body has 16 kg): momentum to the solve, angular momentum to the order of the steps."""
    turning = {"linear_velocity": (1.0, 0.5, 0.0), "angular_velocity": (0.0, 2.0, 3.0)}
    tree = block(mass, (0.3, 0.2, 0.1), (0.3, -0.2, 0.5), **turning)
    body = on_block(tree, young=1e5)
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), gravity=FREE)
    turned = []
    for dt in (2e-3, 1e-3):
        simulation = simulate(scene, dt, integrator=integrator)
        linear, angular = whole_momentum(simulation)
        simulation.step(int(0.2 / dt))
        after, spin = whole_momentum(simulation)
        np.testing.assert_allclose(after, linear, rtol=0.0, atol=1e-6 * np.linalg.norm(linear))
        turned.append(np.abs(spin - angular).max() / np.abs(angular).max())
    most, share = (5e-3, 0.6) if integrator == "semi_implicit" else (5e-4, 0.3)
    assert turned[0] < most and turned[1] < share * turned[0]
    pose = simulation.state.link_pose.numpy()[0, :, 0]
    X_WL = Pose(tuple(pose[:3]), tuple(pose[3:]))
    points = simulation.elastic_bodies[0].world_points()[0]
    for one in body.attachments:
        np.testing.assert_allclose(points[one.node], X_WL.apply(one.position), atol=1e-12)
    assert np.abs(points - points.mean(axis=0)).max() < 0.5


@pytest.mark.parametrize("is_written", (False, True))
@pytest.mark.parametrize("share", (0.0, -1.0))
def test_a_share_of_gravity_is_that_of_the_link_alone(share, is_written):
    """What is attached to it weighs as much as on its own: momentum follows from these weights, where they act."""
    tree = block(1.0, turn=(0.3, -0.2, 0.5))
    (link,) = tree.links
    body = on_block(tree, young=1e6)
    if not is_written:
        tree = replace(tree, links=(replace(link, gravity_scale=share),))
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN)
    simulation = simulate(scene)
    if is_written:
        simulation.parameters.link_gravity_scale.fill_(share)
    mass = node_masses(body)
    weights = np.outer([share * link.mass, *mass], DOWN)

    def places():
        pose = simulation.state.link_pose.numpy()[0, :, 0]
        center = Pose(tuple(pose[:3]), tuple(pose[3:])).apply(link.center_of_mass)
        return np.vstack([center, simulation.elastic_bodies[0].world_points()[0]])

    linear, angular = whole_momentum(simulation)
    impulse, before = np.zeros(3), places()
    for _ in range(100):
        simulation.step()
        now = places()
        impulse += 1e-3 * np.cross(0.5 * (before + now), weights).sum(axis=0)
        before = now
    after, spin = whole_momentum(simulation)
    wanted = 0.1 * weights.sum(axis=0)
    np.testing.assert_allclose(after - linear, wanted, atol=1e-6 * np.linalg.norm(wanted))
    np.testing.assert_allclose(spin - angular, impulse, atol=1e-4 * np.linalg.norm(impulse))


def sag_on_pins(body, gravity=DOWN):
    """Points in equilibrium with attached nodes pinned where they are, and how far it is to them."""
    nodes = tuple(one.node for one in body.attachments)
    wanted = solve_equilibrium(replace(body, attachments=(), pinned=nodes), gravity=gravity)
    return wanted, np.abs(wanted - body.points).max()


def frequencies(body, mass):
    """Of small vibrations of a body whose attached nodes move along x with a mass, and their shapes, by NumPy."""
    mesh = ElasticMesh(body)
    values = mesh.matrix()
    mesh.fill(mesh.array(body.points), values=values)
    count, K = len(body.points), dense(mesh, values)
    held = [one.node for one in body.attachments]
    free = np.setdiff1d(np.arange(count), held)
    T = np.zeros((count, 3, 3 * len(free) + 1))
    T[np.repeat(free, 3), np.tile(range(3), len(free)), np.arange(3 * len(free))] = 1.0
    T[held, 0, -1] = 1.0
    T = T.reshape(3 * count, -1)
    weights = np.append(np.repeat(mesh.node_mass[free], 3), mass + mesh.node_mass[held].sum())
    squares, shapes = scipy.linalg.eigh(T.T @ K @ T, np.diag(weights))
    return np.sqrt(np.maximum(squares, 0.0)), (T @ shapes).T.reshape(-1, count, 3)


@pytest.mark.parametrize("mass", (0.05, 1.0, 50.0))
def test_a_body_and_its_link_vibrate_as_one(mass):
    """A mode of both of them together: four periods, against eigenvectors and what the midpoint rule makes of them."""
    tree, body = slide(lambda tree: on_block(tree, young=1e5), mass)
    node = body.attachments[0].node
    rates, shapes = frequencies(body, mass)
    moves = np.abs(shapes[:, node, 0]) > 0.02 * np.abs(shapes).max(axis=(1, 2))
    mode = np.flatnonzero((rates > 1.0) & moves)[0]
    w, shape = rates[mode], shapes[mode] * (1e-5 / np.abs(shapes[mode]).max())
    dt = 2.0 * np.pi / (50.0 * w)
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), gravity=FREE)
    simulation = simulate(scene, dt, integrator="midpoint")
    simulation.elastic_bodies[0].set_state(velocities=w * shape)
    simulation.set_state(joint_velocity=[w * shape[node, 0]])
    positions = []
    for _ in range(200):
        simulation.step()
        positions.append(simulation.state.joint_position.numpy()[0, 0])
    slowed = 2.0 / dt * np.arctan(0.5 * w * dt)
    wanted = shape[node, 0] * np.sin(slowed * dt * np.arange(1, 201))
    np.testing.assert_allclose(positions, wanted, atol=1e-3 * abs(shape[node, 0]))


def test_the_exchange_with_links_is_of_second_order():
    """Where links make steps of second order."""
    found = []
    tree, body = slide(lambda tree: on_block(tree, young=2e4, density=500.0))
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), gravity=(3.0, 0.0, 0.0))
    speed = np.zeros(body.points.shape)
    speed[:, 0] = -2.0 * body.points[:, 0]
    for dt in (1e-3, 5e-4, 2.5e-4):
        simulation = simulate(scene, dt, integrator="midpoint")
        simulation.elastic_bodies[0].set_state(velocities=speed)
        simulation.step(int(round(0.2 / dt)))
        found.append(simulation.state.joint_position.numpy()[0, 0])
    coarse, fine = np.abs(np.diff(found))
    assert coarse < 2e-6 and np.log2(coarse / fine) > 1.9


def test_a_body_comes_to_rest_on_a_link_as_on_pins():
    """Under its weight, damped: points are those of the equilibrium, and the joint bears the weight of both."""
    tree, body = slide(
        lambda tree: on_block(tree, young=1e5, density=500.0, mass_damping=8.0, stiffness_damping=2e-3), axis=None
    )
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), 5e-3)
    simulation.step(600)
    simulation.step(forces=True)
    wanted, sag = sag_on_pins(body)
    found = simulation.elastic_bodies[0].points.numpy()[0]
    assert sag > 0.02
    np.testing.assert_allclose(found, wanted, atol=1e-3 * sag)
    force = simulation.state.link_incoming_joint_force.numpy()[0, :3, 0]
    whole = 2.0 + 500.0 * 0.4 * 0.2 * 0.2
    np.testing.assert_allclose(force, [0.0, 0.0, 9.81 * whole], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("damping", (2e-3, 2e-2))
@pytest.mark.parametrize("dt", (1e-2, 2.5e-3))
def test_a_link_that_gravity_does_not_move_holds_its_body(damping, dt):
    """A light link on a slide across, at any step and damping: as on pins."""
    fields = {"young": 1e5, "density": 500.0, "mass_damping": 8.0, "stiffness_damping": damping}
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), **fields), 0.2)
    wanted, sag = sag_on_pins(body)
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), dt)
    simulation.step(round(2.6 / dt))  # damping leaves exp(-10) of the way
    away = simulation.elastic_bodies[0].points.numpy()[0] - wanted
    nodes = [one.node for one in body.attachments]
    assert sag > 0.02 and np.abs(away - away[nodes].mean(axis=0)).max() < 1e-4 * sag


HOLDERS = {
    "limit": (-0.05, {"limit": Limit(lower=-0.05)}),
    "friction": (0.0, {"friction": Friction(static_effort=120.0, dynamic_effort=110.0)}),
    "drive": (-0.2 * 9.81 / 1e3 - 8.0 * 9.81 / 1e3, {"drive": Drive(stiffness=1e3, damping=100.0)}),
}


"""What bears a link of 0.2 kg and its body of 8 kg, and where the link comes to rest [m]."""


@pytest.mark.parametrize("solver", ("pgs", "tgs", "direct"))
@pytest.mark.parametrize("holder", HOLDERS)
def test_limits_friction_and_drives_hold_a_body(holder, solver):
    """On a light link that falls and is held: where it comes to rest, and the body as on pins."""
    position, fields = HOLDERS[holder]
    material = {"young": 1e6, "density": 500.0, "mass_damping": 8.0, "stiffness_damping": 2e-3}
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), **material), 0.2, Axis.TRANS_Z, **fields)
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), 5e-3, solver=solver)
    simulation.step(600)
    assert simulation.state.joint_position.numpy()[0, 0] == pytest.approx(position, abs=1e-6)
    wanted, sag = sag_on_pins(body)
    points = simulation.elastic_bodies[0].points.numpy()[0] - [0.0, 0.0, position]
    np.testing.assert_allclose(points, wanted, atol=1e-3 * sag)


def test_a_body_between_two_links_and_two_bodies_on_one():
    """Momentum of all is kept, and nodes stay at their links, in steps that are long for their stiffness."""
    trees = tuple(
        replace(block(mass, (x, 0.0, 0.0)), path=f"/World/{name}", links=(replace(one, path=f"/World/{name}"),))
        for name, x, mass in (("left", -0.2, 0.05), ("right", 0.4, 2.0))
        for one in block(mass, (x, 0.0, 0.0), linear_velocity=(0.0, x, 0.0)).links
    )
    bodies = tuple(
        replace(bar((2, 1, 1), (0.4, 0.1, 0.1), name=f"/World/{name}", pose=Pose((-0.1, y, 0.0))), attachments=())
        for name, y in (("low", -0.1), ("high", 0.1))
    )

    def held(body):
        attachments = []
        for node, point in enumerate(body.points):
            tree = trees[0] if point[0] == 0.0 else trees[1]
            if point[0] in (0.0, 0.4):
                position = tree.links[0].pose.inverse().apply(body.pose.apply(point))
                attachments.append(NodeAttachment(node=node, link=tree.links[0].path, position=tuple(position)))
        return replace(body, attachments=tuple(attachments))

    scene = Scene(articulations=trees, elastic_bodies=tuple(map(held, bodies)), gravity=FREE)
    simulation = simulate(scene, 5e-3, integrator="midpoint")
    masses = [tree.links[0].mass for tree in with_node_masses(scene).articulations]

    def momentum():
        velocity = simulation.state.link_velocity.numpy()[:, :3, 0]
        found = masses @ velocity
        for body in simulation.elastic_bodies:
            found = found + body.node_mass @ body.velocities.numpy()[0]
        return found

    start = momentum()
    simulation.step(40)
    np.testing.assert_allclose(momentum(), start, atol=1e-6 * np.linalg.norm(start))
    poses = dict(zip(simulation.link_names, simulation.state.link_pose.numpy()[:, :, 0]))
    for body in simulation.elastic_bodies:
        points = body.world_points()[0]
        for one in body.body.attachments:
            X_WL = Pose(tuple(poses[one.link][:3]), tuple(poses[one.link][3:]))
            np.testing.assert_allclose(points[one.node], X_WL.apply(one.position), atol=1e-12)
        assert np.linalg.norm(points.max(axis=0) - points.min(axis=0)) < 0.6


def test_steps_without_balance_are_counted():
    """In the environment that has them, under forces whose squares are no numbers."""
    simulation = simulate(Scene(articulations=(), elastic_bodies=(bar((1, 1, 1), (1.0, 1.0, 1.0)),)), environments=2)
    body = simulation.elastic_bodies[0]
    forces = np.zeros((2, len(body.body.points), 3))
    forces[1] = 1e200
    body.node_force.assign(forces)
    simulation.step(3)
    assert body.unconverged.tolist() == [0, 3]
    assert _unconverged(simulation)[0][1].startswith("/World/bar  3 steps did not converge")


@pytest.mark.parametrize("damping", [0.0, 5e-3])
def test_a_body_that_rests_is_balanced(damping):
    """Without a load all forces are rounding of positions, which no step makes smaller; it stays where it was put."""
    body = bar((6, 2, 2), (1.0, 0.2, 0.2), young=1e6, stiffness_damping=damping)
    scene = Scene(articulations=(), elastic_bodies=(body,), gravity=(0.0, 0.0, 0.0))
    simulation = simulate(scene, dt=1 / 240, precision="float32")
    resting = simulation.elastic_bodies[0]
    moved = body.points @ Pose(quaternion=(0.1, -0.7, 0.1, 0.7)).rotation.T + 0.1
    resting.set_state(points=moved)
    simulation.step(20)
    assert resting.unconverged.tolist() == [0]
    np.testing.assert_allclose(resting.points.numpy()[0], moved, atol=2e-6)


def test_tendons_pull_links():
    """A tendon between a body and a free link: what one gains of momentum the other loses."""
    tree = block(2.0, (-0.5, 0.0, 0.0))
    body = bar((2, 1, 1), (0.2, 0.1, 0.1), name="/World/bar")
    waypoints = (BodyPoint(nodes=(0,)), LinkPoint(link="/World/block", position=(0.1, 0.05, 0.0)))
    tendon = MeshTendon(name="/World/rope", body=body.name, waypoints=waypoints, law=TensionLaw.TENSION, tension=3.0)
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), mesh_tendons=(tendon,), gravity=FREE)
    simulation = simulate(scene, integrator="semi_implicit")
    recording = simulation.record(steps=100, every=50)
    linear, angular = whole_momentum(simulation)
    assert simulation.state.link_velocity.numpy()[0, 0, 0] > 0.1
    np.testing.assert_allclose(linear, 0.0, atol=1e-6)
    np.testing.assert_allclose(angular, 0.0, atol=1e-4)
    assert (recording.mesh_tendon_tension == 3.0).all()
    ends = recording.link_pose[:, 0, 0, :3], recording.mesh_points[:, 0, 0]
    arms = [Pose(quaternion=tuple(pose)).apply((0.1, 0.05, 0.0)) for pose in recording.link_pose[:, 0, 0, 3:]]
    lengths = np.linalg.norm(ends[0] + arms - ends[1], axis=1)
    np.testing.assert_allclose(recording.mesh_tendon_length[:, 0, 0], lengths, rtol=1e-12)
    assert (np.diff(recording.mesh_tendon_length[:, 0, 0]) < 0.0).all()


def test_a_trees_own_motion_stays_bitwise():
    """Beside a body that touches it nowhere."""
    tree = block(1.0, angular_velocity=(1.0, 0.0, 2.0))
    body = bar((1, 1, 1), (0.1, 0.1, 0.1), name="/World/bar")
    alone, beside = (simulate(Scene(articulations=(tree,), elastic_bodies=own)) for own in ((), (body,)))
    alone.step(20)
    beside.step(20)
    assert (alone.state.link_pose.numpy() == beside.state.link_pose.numpy()).all()


@pytest.mark.parametrize("precision", ("float32", "float64"))
def test_lanes_are_the_same_as_scalars(precision):
    """Five environments of a link and its body, with numbers that are vectors and without."""
    tree = block(1.0, angular_velocity=(0.0, 0.0, 2.0))
    scene = Scene(articulations=(tree,), elastic_bodies=(on_block(tree, (2, 1, 1)),), gravity=DOWN)
    found = []
    for variant in ("scalar", "lanes"):
        simulation = simulate(scene, environments=5, variant=variant, precision=precision)
        simulation.step(20)
        found.append(simulation.elastic_bodies[0].points.numpy().copy())
    assert np.abs(found[0] - found[0][0]).max() == 0.0
    np.testing.assert_allclose(found[1], found[0], atol=1e-5 if precision == "float32" else 1e-12)


def test_inertias_out_of_range_are_named_with_what_links_carry():
    """Masses of attached nodes are the link's: that they leave float32 is said before the first step."""
    tree = block()
    scene = Scene(articulations=(tree,), elastic_bodies=(on_block(tree, density=1e30),))
    with pytest.raises(SettingsError, match='^/World/block: the inertia .* kg.* precision "float64" can$'):
        simulate(scene, precision="float32")
