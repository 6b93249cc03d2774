"""Elastic bodies on links of larger scenes: bases that move, equal trees, what is changed while they run."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.bodies import bar
from tests.sim.bodies_on_links import DOWN, FREE, block, on_block, simulate, slide
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.drive import Drive
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.sim.elastic import elastic_bodies
from warp_artic.sim.elastic.link_points import LinkPoints
from warp_artic.sim.revise import revise


def arm(path="/World/arm", place=(0.0, 0.0, 0.0), friction=0.05):
    """Two links with a drive, a limit and dry friction, at some place."""

    def link(name, mass, x):
        third = mass * 0.2**2 / 6
        inertia = third, 0.0, 0.0, third, 0.0, third
        pose = Pose(tuple(np.add(place, (x, 0.0, 0.0)).tolist()))
        return Link(path=f"{path}/{name}", mass=mass, inertia=inertia, center_of_mass=(0.1, 0.0, 0.0), pose=pose)

    first = Dof(
        name=f"{path}/first",
        axis=Axis.ROT_Y,
        limit=Limit(lower=-0.3, upper=0.2),
        drive=Drive(stiffness=20.0, damping=1.0),
    )
    rubs = Friction(static_effort=friction, dynamic_effort=friction)
    joints = (
        Joint(path=f"{path}/first", parent=WORLD, child=0, parent_frame=Pose(place), dofs=(first,)),
        Joint(
            path=f"{path}/second",
            parent=0,
            child=1,
            parent_frame=Pose((0.25, 0.0, 0.0)),
            dofs=(Dof(name=f"{path}/second", axis=Axis.ROT_Z, friction=rubs),),
        ),
    )
    return Articulation(path=path, links=(link("a", 1.0, 0.0), link("b", 0.7, 0.25)), joints=joints)


def over_arm(tree, **fields):
    """A bar above an arm, whose ends are attached to the two links."""
    place = np.add(tree.links[0].pose.position, (0.0, 0.0, 0.1))
    body = bar((4, 1, 1), (0.5, 0.08, 0.08), young=2e4, name=f"{tree.path}/bar", pose=Pose(tuple(place)), **fields)
    ends = ((tree.links[int(x[0] > 0.25)], n, x + place) for n, x in enumerate(body.points) if x[0] in (0.0, 0.5))
    attachments = (
        NodeAttachment(node=n, link=link.path, position=tuple((x - link.pose.position).tolist())) for link, n, x in ends
    )
    return replace(body, attachments=tuple(attachments))


def with_rope():
    """An arm that a tendon pulls, which goes to a bar that falls."""
    tree = arm()
    body = bar((2, 1, 1), (0.2, 0.1, 0.1), pose=Pose((0.6, 0.0, -0.2)))
    waypoints = BodyPoint(nodes=(0,)), LinkPoint(link=tree.links[1].path, position=(0.1, 0.05, 0.0))
    fields = {"law": TensionLaw.CABLE, "stiffness": 200.0, "target_length": 0.1, "smoothing": 1e-3}
    rope = MeshTendon(name="/World/rope", body=body.name, waypoints=waypoints, **fields)
    return Scene(articulations=(tree,), elastic_bodies=(body,), mesh_tendons=(rope,), gravity=DOWN)


def differ(simulation, numbers):
    """Give each environment what belongs to its number."""
    body = simulation.elastic_bodies[0]
    for place, k in enumerate(numbers):
        simulation.set_values("drive_stiffness", [5.0 * (1 + k), 0.0], [place])
        simulation.set_values("link_mass", [1.0 + k, 0.5 + k], [place])
        simulation.set_values("friction_static", [0.0, 0.02 * k], [place])
        simulation.set_values("link_external_force", [[0.0] * 6, [0.0, 0.3 * k, -0.2 * k, 0.0, 0.0, 0.0]], [place])
        simulation.set_state(joint_velocity=[0.5 * k, -k], environments=[place])
        if k == 2:
            velocities = np.zeros(body.body.points.shape)
            velocities[-3:] = 100.0
            body.set_state(velocities=velocities, environments=[place])


def test_environments_that_differ_are_those_alone():
    """Parameters, forces and states of their own, one of them too violent for the step; side by side in lanes."""
    tree = arm()
    scene = Scene(articulations=(tree,), elastic_bodies=(over_arm(tree),), gravity=DOWN)
    together, *alone = (simulate(scene, 0.01, environments=count) for count in (9, 1, 1, 1))
    differ(together, [0, 1, 2] * 3)
    for k, one in enumerate(alone):
        differ(one, [k])
    for _ in range(8):
        for one in (together, *alone):
            one.step()
        for name in ("converged", "steps", "linear_iterations", "force", "reference"):
            found = [getattr(one.elastic_bodies[0].convergence, name) for one in (together, *alone)]
            assert (found[0] == np.tile(np.concatenate(found[1:]), 3)).all(), name
    for k, one in enumerate(3 * alone):
        assert (together.elastic_bodies[0].points.numpy()[k] == one.elastic_bodies[0].points.numpy()[0]).all()
        assert (together.state.link_pose.numpy()[..., k] == one.state.link_pose.numpy()[..., 0]).all()
        assert together.elastic_bodies[0].unconverged[k] == one.elastic_bodies[0].unconverged[0]


def test_threads_share_environments(monkeypatch):
    """Bitwise as one thread does, bodies and links."""
    monkeypatch.setattr("warp_artic.meshes.newton.LEAST_SHARE", 0.5)
    tree = arm()
    scene = Scene(articulations=(tree,), elastic_bodies=(over_arm(tree),), gravity=DOWN)
    settings = SolverSettings(dt=0.01, precision="float64", variant="scalar")
    one, three = (Simulation(scene, environments=19, threads=threads, settings=settings) for threads in (1, 3))
    for simulation in (one, three):
        differ(simulation, [k % 3 for k in range(19)])
        simulation.step(4)
    np.testing.assert_array_equal(one.elastic_bodies[0].points.numpy(), three.elastic_bodies[0].points.numpy())
    np.testing.assert_array_equal(one.state.link_pose.numpy(), three.state.link_pose.numpy())


def test_bodies_on_trees_of_one_group_do_not_feel_each_other():
    """Far from the origin of the world and from each other."""
    trees = [arm(f"/World/arm{k}", place) for k, place in enumerate(((0.0, 0.0, 0.0), (1000.0, 250.0, 0.0)))]
    bodies = [over_arm(tree) for tree in trees]
    both = simulate(Scene(articulations=tuple(trees), elastic_bodies=tuple(bodies), gravity=DOWN), 0.01)
    both.step(10)
    for tree, body, beside in zip(trees, bodies, both.elastic_bodies):
        alone = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), 0.01)
        alone.step(10)
        assert (alone.elastic_bodies[0].points.numpy() == beside.points.numpy()).all()
        assert beside.unconverged == alone.elastic_bodies[0].unconverged == 0


def test_bodies_that_share_no_links_do_not_wait_for_each_other(monkeypatch):
    """What three of them do to their links is told as often as three times what one does."""
    told = []
    push = LinkPoints.push
    monkeypatch.setattr(LinkPoints, "push", lambda self: told.append(self) or push(self))
    trees = [arm(f"/World/arm{k}", (2.0 * k, 0.0, 0.0)) for k in range(3)]
    counts = []
    for own in (trees[:1], trees):
        scene = Scene(articulations=tuple(own), elastic_bodies=tuple(map(over_arm, own)), gravity=DOWN)
        simulation = simulate(scene, 0.01)
        told.clear()
        simulation.step(3)
        counts.append(len(told))
    assert counts[0] > 0 and counts[1] == 3 * counts[0]


def test_bodies_that_do_not_come_to_agree_are_counted(monkeypatch):
    """Three on a light link, which take more than two rounds."""
    tree = block(0.05)
    places = (Pose((0.1, 0.3 * k - 0.1, -0.1)) for k in range(3))
    bodies = [replace(on_block(tree, (2, 1, 1), pose=place), name=f"/World/bar{k}") for k, place in enumerate(places)]
    unconverged = []
    for rounds in (elastic_bodies.MOST_ROUNDS, 2):
        monkeypatch.setattr(elastic_bodies, "MOST_ROUNDS", rounds)
        simulation = simulate(Scene(articulations=(tree,), elastic_bodies=tuple(bodies), gravity=FREE), 0.01)
        for k, body in enumerate(simulation.elastic_bodies):
            body.set_state(velocities=np.broadcast_to([0.0, (-1.0) ** k, 0.0], body.body.points.shape))
        simulation.step(5)
        unconverged.append(sum(int(body.unconverged[0]) for body in simulation.elastic_bodies))
    assert unconverged[0] == 0 < unconverged[1]


def test_bodies_go_along_with_moving_bases():
    """A body on a link that slides on an accelerated cart sees its nodes where they are in the middle of a step."""
    times = np.arange(81) / 200
    cart = BaseMotion("/World/cart", 0.0, 1 / 200, tuple(Pose((float(10.0 * t**2), 0.0, 0.0)) for t in times))
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), young=1e5), axis=Axis.TRANS_Y)
    scene = Scene(articulations=(replace(tree, base_motion=cart),), elastic_bodies=(body,), gravity=FREE)
    simulation = simulate(scene, 0.01)
    simulation.step(20)
    nodes = [one.node for one in body.attachments]
    places = [simulation.elastic_bodies[0].points.numpy()[0, nodes].copy()]
    simulation.step()
    places.append(simulation.elastic_bodies[0].points.numpy()[0, nodes].copy())
    middle = simulation.elastic_bodies[0]._dynamics.middle.numpy()[0, nodes]
    assert np.diff(places, axis=0)[..., 0].min() > 0.02
    np.testing.assert_allclose(middle, np.mean(places, axis=0), rtol=0.0, atol=1e-9)


def test_a_body_on_a_moving_base_goes_back_in_time():
    """A snapshot resumes bitwise: nodes on links are where the base was then."""
    times = np.arange(81) / 200
    cart = BaseMotion("/World/cart", 0.0, 1 / 200, tuple(Pose((float(10.0 * t**2), 0.0, 0.0)) for t in times))
    tree, body = slide(lambda tree: on_block(tree, (2, 1, 1), young=1e5), axis=Axis.TRANS_Y)
    scene = Scene(articulations=(replace(tree, base_motion=cart),), elastic_bodies=(body,), gravity=FREE)
    simulation, fresh = simulate(scene, 0.01), simulate(scene, 0.01)
    points = simulation.elastic_bodies[0].points
    simulation.step(5)
    snapshot = simulation.snapshot()
    simulation.step(5)
    then = points.numpy().copy()
    simulation.apply(snapshot)
    simulation.step(5)
    assert (points.numpy() == then).all()
    simulation.reset()
    assert (points.numpy() == fresh.elastic_bodies[0].points.numpy()).all()


def test_links_that_friction_holds_do_not_creep():
    """At rest nothing gives way, all steps converge, and nothing moves any more."""
    tree = arm()
    body = over_arm(tree, stiffness_damping=0.05, mass_damping=5.0)
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), 0.01)
    simulation.step(150)
    before = simulation.state.joint_position.numpy().copy()
    simulation.step(30)
    assert (np.abs(simulation.state.joint_position.numpy() - before) < 1e-12).all()
    assert simulation.elastic_bodies[0].unconverged == 0


def test_masses_of_links_change_while_bodies_are_on_them():
    """By a revised scene, which is the same simulation, and by mass properties."""
    tree = block(1.0, (0.3, 0.2, 0.1))
    scene = Scene(articulations=(tree,), elastic_bodies=(on_block(tree, (2, 1, 1)),), gravity=DOWN)
    heavy = replace(tree, links=(replace(tree.links[0], mass=3.0, center_of_mass=(0.0, 0.0, 0.05)),))
    wanted = simulate(replace(scene, articulations=(heavy,)), 0.01)
    revised = simulate(scene, 0.01)
    assert revise(revised, wanted.scene, revised.settings) is revised
    revised.reset()
    written = simulate(scene, 0.01)
    with pytest.raises(SettingsError, match="center_of_mass: without inertia"):
        written.set_mass_properties(center_of_mass=[[0.0, 0.0, 0.05]])
    written.set_mass_properties(center_of_mass=[tree.links[0].center_of_mass], inertia=[tree.links[0].inertia])
    same = simulate(scene, 0.01)
    for simulation in (wanted, revised, written, same):
        simulation.step(5)
    for one, other in ((revised, wanted), (written, same)):
        np.testing.assert_allclose(
            one.elastic_bodies[0].points.numpy(), other.elastic_bodies[0].points.numpy(), rtol=0.0, atol=1e-12
        )


def test_waypoints_are_on_links_after_a_snapshot_and_a_checkpoint(tmp_path):
    """Before the next step, too: a recording begins with the lengths that tendons have."""
    simulation = simulate(with_rope(), 0.01, environments=2)
    simulation.step(3)
    wanted, _ = simulation.elastic_bodies[0].measure_tendons()
    snapshot = simulation.snapshot()
    simulation.save(tmp_path / "run.npz")
    for go_back in (lambda: simulation.apply(snapshot), lambda: simulation.load(tmp_path / "run.npz")):
        simulation.step(10)
        go_back()
        assert (simulation.elastic_bodies[0].measure_tendons()[0] == wanted).all()


def test_an_environment_without_numbers_stops_alone():
    """Its node is nowhere, and so is the tendon from there to a link; the other one goes on as without it."""
    both, alone = (simulate(with_rope(), 0.01, environments=count) for count in (2, 1))
    points = both.elastic_bodies[0].points.numpy().copy()
    points[1, 0] = np.nan
    both.elastic_bodies[0].points.assign(points)
    for simulation in (both, alone):
        simulation.step(3)
    assert (both.elastic_bodies[0].points.numpy()[0] == alone.elastic_bodies[0].points.numpy()[0]).all()
    assert [(failure.environment, failure.articulation) for failure in both.failures()] == [
        (1, both.articulations[0].path),
        (1, both.elastic_bodies[0].path),
    ]
    assert both.elastic_bodies[0].unconverged.tolist() == [0, 0]  # it makes no steps


def test_waypoints_that_are_put_at_one_place():
    """On held nodes: the segment between has next to no length, links feel the rest of the rope, and the other
    environment goes on as without it."""
    scene = with_rope()
    rope, body = scene.mesh_tendons[0], replace(scene.elastic_bodies[0], pinned=(0, 1))
    rope = replace(rope, waypoints=(BodyPoint(nodes=(1,)), *rope.waypoints))
    scene = replace(scene, elastic_bodies=(body,), mesh_tendons=(rope,))
    both, alone = (simulate(scene, 0.01, environments=count) for count in (2, 1))
    for simulation in (both, alone):
        simulation.step(3)
    points = body.points.copy()
    points[1] = points[0]
    both.elastic_bodies[0].set_state(points=points, environments=[1])
    for simulation in (both, alone):
        simulation.step(3)
    assert not both.failures() and not both.elastic_bodies[0].unconverged.any()
    assert (both.control.link_external_force.numpy() == 0.0).all()
    assert (both.elastic_bodies[0].points.numpy()[1][:2] == points[0]).all()
    assert (both.elastic_bodies[0].points.numpy()[0] == alone.elastic_bodies[0].points.numpy()[0]).all()
    assert (both.state.link_pose.numpy()[..., 0] == alone.state.link_pose.numpy()[..., 0]).all()
    pose = both.state.link_pose.numpy()[1, :, 1]
    end = Pose(tuple(pose[:3]), tuple(pose[3:])).apply(rope.waypoints[-1].position)
    rest = np.linalg.norm(end - both.elastic_bodies[0].world_points()[1, 0])
    core = 1e-3 * np.linalg.norm(body.points[1] - body.points[0])
    assert both.elastic_bodies[0].measure_tendons()[0][0, 1] == pytest.approx(rest + core / 2, rel=1e-12)


def test_external_forces_stay_as_given_where_a_step_is_interrupted(monkeypatch):
    """While articulations step; whoever goes on then does not push twice."""
    simulation = simulate(with_rope(), 0.01)
    simulation.step(3)
    given = [0.0, 0.3, -0.2, 0.0, 0.0, 0.0]
    simulation.set_values("link_external_force", [given, given])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(simulation.run.launches, "step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            simulation.step()
    assert (simulation.control.link_external_force.numpy()[..., 0] == given).all()
