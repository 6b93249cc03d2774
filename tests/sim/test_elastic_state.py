"""What users write, keep and edit of elastic bodies: controls, arrays, snapshots, checkpoints, revised scenes."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.bodies import bar
from tests.meshes.test_equilibrium import clamped, pulled
from tests.sim.bodies_on_links import DOWN, FREE, block, on_block, simulate
from tests.sim.test_elastic_bodies import SETTINGS
from warp_artic import Recording, SettingsError
from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.errors import UnknownNameError
from warp_artic.sim.revise import revise


def test_controls_differ_between_environments_and_follow_tracks():
    """A track is the same as writing its values at the end of each step."""
    body = clamped((4, 1, 1), (0.4, 0.1, 0.1))
    row = np.flatnonzero((body.points[:, 1:] == 0.1).all(axis=1))
    track = Track(times=(0.0, 0.02), values=(0.4, 0.3))
    fields = {"law": TensionLaw.CABLE, "stiffness": 100.0, "smoothing": 1e-3}

    def made(environments=1, **more):
        tendon = pulled(body, row, **fields, **more)
        return simulate(
            Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,)), environments=environments
        )

    tracked, by_hand = made(target_length_track=track), made(environments=2)
    tracked.step(15)
    for k in range(15):
        by_hand.elastic_bodies[0].target_length.assign([[track.at((k + 1) * 1e-3), 0.4]])
        by_hand.step()
    points = by_hand.elastic_bodies[0].points.numpy()
    assert (tracked.elastic_bodies[0].points.numpy()[0] == points[0]).all()
    assert np.abs(points[0] - points[1]).max() > 1e-4
    tracked.reset()
    assert (tracked.elastic_bodies[0].target_length.numpy() == track.at(0.0)).all()


@pytest.mark.parametrize("environments", ([7], [-1], [0.5], [True, False, True]))
def test_environments_that_are_none_are_refused(environments):
    """By a sentence, as those of a simulation are; nothing is written."""
    scene = Scene(articulations=(), elastic_bodies=(bar((1, 1, 1), (1.0, 1.0, 1.0)),))
    body = simulate(scene, environments=3).elastic_bodies[0]
    with pytest.raises(SettingsError, match="environments: "):
        body.set_state(points=body.body.points + 1.0, environments=environments)
    assert (body.points.numpy() == body.body.points).all()


def test_runs_go_on_bitwise(tmp_path):
    """From a snapshot, a checkpoint and a reset, with links and tendons."""
    tree = block(1.0, angular_velocity=(0.0, 0.0, 2.0))
    body = on_block(tree, (2, 1, 1))
    tendon = pulled(body, np.flatnonzero((body.points[:, 1:] == 0.2).all(axis=1)), stiffness=50.0, smoothing=1e-3)
    scene = Scene(articulations=(tree,), elastic_bodies=(body,), mesh_tendons=(tendon,), gravity=DOWN)
    simulation, other = (simulate(scene, environments=2) for _ in range(2))
    simulation.elastic_bodies[0].target_length.assign([[0.35, 0.3]])
    start = simulation.record(steps=3)
    snapshot = simulation.snapshot()
    simulation.save(tmp_path / "run.npz")
    wanted = simulation.record(steps=5)
    simulation.apply(snapshot)
    again = simulation.record(steps=5)
    other.load(tmp_path / "run.npz")
    loaded = other.record(steps=5)
    for one in (again, loaded):
        assert (one.mesh_points == wanted.mesh_points).all() and (one.link_pose == wanted.link_pose).all()
    assert (wanted.mesh_points[:, 0] != wanted.mesh_points[:, 1]).any()
    simulation.reset()
    assert (simulation.record(steps=3).mesh_points == start.mesh_points).all()
    wanted.save(tmp_path / "recording.npz")
    back = Recording.load(tmp_path / "recording.npz")
    assert (back.mesh_points == wanted.mesh_points).all() and back.mesh_nodes == wanted.mesh_nodes
    with pytest.raises(SettingsError, match="capture: there are elastic bodies"):
        simulation.capture().launch()


def test_a_revised_scene_goes_on():
    """The same description is the same run; another material builds anew and keeps the motion."""
    body = clamped((3, 1, 1), (0.3, 0.1, 0.1))
    simulation = simulate(Scene(articulations=(), elastic_bodies=(body,)), 0.01)
    simulation.step(5)
    same = revise(
        simulation, Scene(articulations=(), elastic_bodies=(replace(body, points=body.points.copy()),)), SETTINGS
    )
    assert same is simulation
    softer = replace(body, material=replace(body.material, young_modulus=5e4))
    made = revise(simulation, Scene(articulations=(), elastic_bodies=(softer,)), SETTINGS)
    assert made is not simulation and made.time == simulation.time
    points = simulation.elastic_bodies[0].points.numpy().copy()
    assert (made.elastic_bodies[0].points.numpy() == points).all()
    made.step(5)
    simulation.step(5)
    sag = [one.elastic_bodies[0].points.numpy()[0, :, 2].min() for one in (made, simulation)]
    assert sag[0] < sag[1]


def test_what_an_edit_leaves_alone():
    """Controls of tendons and gravity stay as they were written by environment; what is edited is as it says."""
    body = clamped((3, 1, 1), (0.3, 0.1, 0.1))
    first, second, third = (
        replace(pulled(body, (0, node), law=TensionLaw.CABLE, stiffness=50.0, target_length=0.2), name=f"/World/{node}")
        for node in (12, 13, 14)
    )
    scene = Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(first, second))
    simulation = simulate(scene, 0.01, environments=2)
    own = simulation.elastic_bodies[0]
    own.stiffness.assign(np.array([[60.0, 70.0], [80.0, 90.0]]))
    own.target_length.assign(np.array([[0.1, 0.2], [0.3, 0.4]]))
    own.gravity.assign(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    tendons = third, replace(second, stiffness=10.0), replace(first, smoothing=0.01)
    made = revise(simulation, replace(scene, mesh_tendons=tendons), SETTINGS).elastic_bodies[0]
    assert (made.gravity.numpy() == own.gravity.numpy()).all()
    assert made.stiffness.numpy().tolist() == [[50.0, 50.0], [10.0, 10.0], [60.0, 70.0]]
    assert made.target_length.numpy().tolist() == [[0.2, 0.2], [0.3, 0.4], [0.1, 0.2]]
    moved = replace(first, waypoints=second.waypoints, target_length=None)
    made = revise(simulation, replace(scene, mesh_tendons=(moved,), gravity=FREE), SETTINGS).elastic_bodies[0]
    assert not made.gravity.numpy().any()
    assert made.stiffness.numpy().tolist() == [[60.0, 70.0]]
    assert made.target_length.numpy()[0] == pytest.approx(np.linalg.norm(body.points[13] - body.points[0]))


def test_time_is_that_of_all_environments(caplog):
    """Where something follows it, that is said, once, of environments that are reset alone."""
    body = bar((1, 1, 1), (0.1, 0.1, 0.1))
    rising = (None, None, Track(times=(0.0, 1.0), values=(-9.81, 0.0)))
    for tracks, count in ((None, 0), (rising, 1)):
        scene = Scene(articulations=(), elastic_bodies=(body,), gravity=DOWN, gravity_tracks=tracks)
        simulation = simulate(scene, environments=2)
        simulation.step(2)
        for _ in range(2):
            simulation.reset(environments=[1])
        assert ["time is that of all copies" in line.message for line in caplog.records] == [True] * count
        simulation.reset()
        assert simulation.time == 0.0


def test_arrays_are_written_by_their_names():
    """Values go into the memory that steps read; what there is not, or has another shape, is refused by name."""
    body = clamped((2, 1, 1), (0.2, 0.1, 0.1))
    tendon = pulled(body, (0, 8), law=TensionLaw.CABLE, stiffness=50.0)
    simulation = simulate(Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,)), environments=2)
    own = simulation.elastic_bodies[0]
    before = own.node_force
    own.node_force = np.array([1.0, 2.0, 3.0])
    own.gravity = np.array([[0.0], [0.0], [-5.0]])
    own.stiffness = 70.0
    own.velocities = own.velocities
    own.points = body.points + 0.01
    simulation.step()
    moved = own.points.numpy() - body.points
    np.testing.assert_allclose(moved[:, list(body.pinned)], 0.01, atol=1e-12)
    assert own.node_force is before and (own.node_force.numpy() == [1.0, 2.0, 3.0]).all()
    assert own.gravity.numpy().tolist() == [[0.0, 0.0], [0.0, 0.0], [-5.0, -5.0]]
    assert own.stiffness.numpy().tolist() == [[70.0, 70.0]]
    assert (simulation.parameters.gravity.numpy()[0, 2] == -5.0).all()
    with pytest.raises(UnknownNameError, match="target_lenght: .* did you mean target_length"):
        own.target_lenght = 1.0
    with pytest.raises(SettingsError, match=r"gravity: shape \(2, 2\) is not \(3, 2\)"):
        own.gravity = np.zeros((2, 2))
    with pytest.raises(SettingsError, match="node_force: the value at .* is nan"):
        own.node_force = np.nan


def test_snapshots_of_some_articulations_have_the_bodies_of_these():
    """A body goes back with what it hangs on; others, and those that hang on nothing, go on."""
    first, second = block(1.0), block(1.0, position=(5.0, 0.0, 0.0))
    path = "/World/other"
    second = replace(second, path=path, links=(replace(second.links[0], path=path),))
    hung = [on_block(tree, (2, 1, 1)) for tree in (first, second)]
    there = tuple(replace(one, link=path) for one in hung[1].attachments)
    hung[1] = replace(hung[1], name="/World/hung", attachments=there)
    free = bar((1, 1, 1), (0.1, 0.1, 0.1), name="/World/free")
    scene = Scene(articulations=(first, second), elastic_bodies=(*hung, free), gravity=DOWN)
    simulation = simulate(scene)
    whole, part = simulation.snapshot(), simulation.snapshot(articulations=[path])
    start = [body.points.numpy().copy() for body in simulation.elastic_bodies]
    simulation.step(10)
    moved = [body.points.numpy().copy() for body in simulation.elastic_bodies]
    end = simulation.snapshot()
    for snapshot, chosen in ((part, None), (whole, [path])):
        simulation.apply(snapshot, articulations=chosen)
        found = [body.points.numpy() for body in simulation.elastic_bodies]
        assert [(one == there).all() for one, there in zip(found, (moved[0], start[1], moved[2]))] == [True] * 3
        simulation.apply(end)
    simulation.apply(whole)
    assert all((body.points.numpy() == there).all() for body, there in zip(simulation.elastic_bodies, start))
