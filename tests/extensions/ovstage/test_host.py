"""A stage of ovstage that is stepped: what is written there, at which ordinals, and what is taken from it."""

import gc
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom
from warp_artic.extensions.usd import play

from tests.hosts.test_stage_backend import SCENE, arm
from tests.usd.authoring import SI, SMALL_UNITS, body
from warp_artic import HostError, SettingsError, Simulation, SolverSettings, StageError, read_stage, write_results
from warp_artic.cli.main import main
from warp_artic.hosts.stage_backend import WarpArticBackend

ovstage = pytest.importorskip("ovstage", reason="the extra ovstage is not installed")

from warp_artic.extensions.ovstage import Host, populate  # noqa: E402

SAMPLES = Path(__file__).parents[3] / "samples" / "scenes"
WORLD = "omni:fabric:worldMatrix"
TARGET = "drive:angular:physics:targetPosition"
SCALED = (
    'def Xform "room" {\ndouble3 xformOp:translate = (0, 3, 0)\ndouble3 xformOp:scale = (2, 2, 2)\n'
    'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
)


def saved(tmp_path, text, header=SI):
    """A file with this content."""
    path = tmp_path / "stage.usda"
    path.write_text(f"#usda 1.0\n(\n{header}\n)\n{text}")
    return str(path)


@pytest.fixture
def path(tmp_path):
    return saved(tmp_path, SCENE + arm())


@pytest.fixture
def stage():
    with ovstage.Stage("test") as opened:
        yield opened


def found(stage, prims, attribute, ordinals=None):
    """Values of an attribute on prims, by path."""
    dictionary = ovstage.PathDictionary(stage)
    token, values = dictionary.intern_token(attribute), {}
    with (
        dictionary.create_path_list_from_strings(list(prims)) as paths,
        stage.query_from_path_list(paths) as query,
        stage.read_attributes(query, [token], ordinals or ovstage.OrdinalRange.latest((1 << 64) - 1)) as read,
    ):
        for group in read.wait().groups():
            with group:
                for local in range(group.prim_count):
                    row = group.data_row_index(local)
                    value = group.array(row) if group.is_array else group.array(0)[row]
                    values[prims[group.prim_index(local)]] = np.array(value)
    return values


def author(stage, prim, attribute, value, ordinal, seal=True):
    """What another writer does."""
    dictionary = ovstage.PathDictionary(stage)
    with dictionary.create_path_list_from_strings([prim]) as paths, stage.query_from_path_list(paths) as query:
        if value is None:
            stage.delete_attributes(query, [attribute], ordinal).wait()
        else:
            value = np.array([value], np.float32)
            stage.write_attribute(query, attribute, ordinal, value, is_array=False).wait()
    if seal:
        stage.advance_write_floor(ordinal).wait()


def positions(backend):
    return backend.read(["joint_position"])["joint_position"].numpy()[:, 0].copy()


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_the_same_run_in_every_host(tmp_path, stage, header):
    """240 steps: the arrays bitwise, and on the stage what the live layer shows."""
    path = saved(tmp_path, SCENE + SCALED + arm().replace("</arm/", "</room/arm/") + "}\n", header)
    simulation = Simulation(read_stage(path))
    simulation.step(240)
    assert main(["simulate", path, "--steps", "240", "--record", str(tmp_path / "run.npz")]) == 0
    recorded = np.load(tmp_path / "run.npz")["joint_position"][-1, 0]
    populate(stage, path, ordinal=1)
    usd = Usd.Stage.Open(path)
    with play(usd) as player, Host(stage, path, ordinal=1) as host:
        for frame in range(60):
            player.advance()
            assert host.step(1 / 60, ordinal=2 + frame) == 4
        expected = simulation.state.joint_position.numpy()[:, 0]
        for other in (recorded, positions(player.backend), positions(host.backend)):
            np.testing.assert_array_equal(other, expected)
        links = host.backend.report.links
        shown = found(stage, links, WORLD, ovstage.OrdinalRange.latest(61))
        cache = UsdGeom.XformCache()
        for link in links:
            live = np.array(cache.GetLocalToWorldTransform(usd.GetPrimAtPath(link)))
            np.testing.assert_allclose(shown[link], live, rtol=1e-12, atol=1e-12)
            assert np.linalg.norm(shown[link][0, :3]) == pytest.approx(2.0)
        angles = found(stage, simulation.joint_names, "warpArtic:joint:angular:position")
        np.testing.assert_allclose([angles[name] for name in simulation.joint_names], np.degrees(expected), rtol=1e-6)


@pytest.mark.parametrize("name", ["bent_beam", "soft_fingertip"])
def test_bodies_that_deform(stage, name):
    """Nodes are where the backend has them: with no link on the stage, and on a mesh below a link that moves."""
    path = str(SAMPLES / f"{name}.usda")
    populate(stage, path, ordinal=1)
    with Host(stage, path, ordinal=1) as host:
        for ordinal in range(2, 8):
            host.step(1 / 60, ordinal=ordinal)
        (mesh,), (wanted,) = host.backend.report.meshes, host.backend.mesh_points()
        stage.compute_hierarchy(7, 7)
        points = found(stage, [mesh], "points")[mesh].reshape(-1, 3)
        W = found(stage, [mesh], WORLD)[mesh]
        np.testing.assert_allclose(points @ W[:3, :3] + W[3, :3], wanted, atol=1e-6)


@pytest.mark.parametrize("scene", ["coupled_hand", "cranes", "gripper", "hydraulic_arm", "spherical_chain"])
def test_outputs_are_those_of_a_baked_layer(tmp_path, stage, scene):
    """Names, units and values of every attribute of joints and tendons, as in the file that is written of a run."""
    path = f"samples/scenes/{scene}.usda"
    simulation = Simulation(read_stage(path))
    baked = tmp_path / "run.usda"
    write_results(path, simulation.record(4, every=4), str(baked))
    populate(stage, path, ordinal=1)
    with Host(stage, path, ordinal=1) as host:
        host.step(4 * simulation.settings.dt, ordinal=2)
    layer, checked = Sdf.Layer.FindOrOpen(str(baked)), []

    def check(place):
        name = place.name
        if place.IsPropertyPath() and re.match("state:|warpArtic:", name) and not re.search("effort|incoming", name):
            written = found(stage, [str(place.GetPrimPath())], name, ovstage.OrdinalRange.latest(2))
            last = layer.QueryTimeSample(place, max(layer.ListTimeSamplesForPath(place)))
            np.testing.assert_allclose(list(written.values()), [last], rtol=1e-6, atol=1e-12)
            checked.append(name)

    layer.Traverse("/", check)
    names = {name.rpartition(":")[2] for name in checked}
    assert {"position", "velocity"} <= names and (
        scene in ("cranes", "spherical_chain") or names & {"length", "mimicError"}
    )


def test_what_is_below_a_link_follows_when_the_application_asks(tmp_path, stage):
    """The hierarchy is computed from the world matrices of links, which stay as they are."""
    shape = 'def Xform "shape" {\ndouble3 xformOp:translate = (0, 0, 1)\n'
    shape += 'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    path = saved(tmp_path, SCENE + body("ball", shape, at=(1, 2, 3)))
    populate(stage, path, ordinal=1)
    with Host(stage, path, ordinal=1) as host:
        host.step(0.25, ordinal=2)
        before = found(stage, ["/ball"], WORLD)["/ball"]
        stage.compute_hierarchy(2, 2)
        after = found(stage, ["/ball", "/ball/shape"], WORLD)
    np.testing.assert_array_equal(after["/ball"], before)
    assert before[3, 2] < 2.8
    np.testing.assert_allclose(after["/ball/shape"][3, :3], before[3, :3] + before[2, :3], atol=1e-12)


def test_controls_are_taken_in(path, stage):
    """Targets that others write between two frames act in the next step, once, and outputs are no controls."""
    reference = WarpArticBackend()
    reference.attach(path)
    populate(stage, path, ordinal=1)
    with Host(stage, path, ordinal=1) as host:
        for frame in range(30):
            ordinal = 2 + 2 * frame
            if frame == 10:
                author(stage, "/arm/j2", TARGET, -40.0, ordinal)
                reference.set_controls({"drive_position_target": np.radians([30.0, -40.0])})
            if frame == 15:
                host.backend.set_controls({"drive_position_target": [0.1, 0.2]})
                reference.set_controls({"drive_position_target": [0.1, 0.2]})
            if frame == 20:
                author(stage, "/arm/j1", TARGET, None, ordinal)
                reference.set_controls({"drive_position_target": [0.0, 0.2]})
            host.step(1 / 60, ordinal=ordinal + 1)
            reference.step(1 / 60)
            np.testing.assert_allclose(positions(host.backend), positions(reference), atol=1e-6)


def test_a_control_comes_before_time_samples(tmp_path, stage):
    """A target that is animated on the source follows what another writer says from then on."""
    text = arm().replace("targetPosition = 30", "targetPosition.timeSamples = { 0: 0, 24: 90 }")
    populate(stage, saved(tmp_path, SCENE + text), ordinal=1)
    with Host(stage, str(tmp_path / "stage.usda"), ordinal=1) as host:
        author(stage, "/arm/j1", TARGET, 10.0, 2)
        host.step(0.5, ordinal=3)
        targets = host.backend.read(["drive_position_target"])["drive_position_target"].numpy()[:, 0]
    np.testing.assert_allclose(np.degrees(targets), [10.0, 45.0], atol=0.5)


def test_a_control_of_one_of_several_articulations(tmp_path, stage):
    """The others keep their targets."""
    populate(stage, saved(tmp_path, SCENE + arm() + arm(name="other", at=2.0)), ordinal=1)
    with Host(stage, str(tmp_path / "stage.usda"), ordinal=1) as host:
        author(stage, "/other/j1", TARGET, 10.0, 2)
        host.publish(ordinal=3)
        host.step(1 / 60, ordinal=4)
        names = host.backend.simulation.joint_names
        targets = np.degrees(host.backend.read(["drive_position_target"])["drive_position_target"].numpy()[:, 0])
    expected = {"/arm/j1": 30.0, "/arm/j2": 30.0, "/other/j1": 10.0, "/other/j2": 30.0}
    assert dict(zip(names, targets)) == pytest.approx(expected)


def test_environments(path, stage):
    """One is written; a control acts in all."""
    populate(stage, path, ordinal=1)
    with Host(stage, path, ordinal=1, environments=3, environment=2) as host:
        host.backend.set_controls({"joint_effort": [1.0, 0.0]}, environments=[2])
        author(stage, "/arm/j2", TARGET, 5.0, 2)
        host.step(0.1, ordinal=3)
        state = host.backend.read(["joint_position", "drive_position_target"])
        angles = found(stage, ["/arm/j1", "/arm/j2"], "warpArtic:joint:angular:position")
        np.testing.assert_allclose(list(angles.values()), np.degrees(state["joint_position"].numpy()[:, 2]), rtol=1e-6)
        assert (np.ptp(state["joint_position"].numpy(), axis=1) > 0).all()
        np.testing.assert_allclose(state["drive_position_target"].numpy()[1], math.radians(5.0), rtol=1e-6)
    with pytest.raises(HostError, match="environment 3 is not in 0 ... 2"):
        Host(stage, path, ordinal=9, environments=3, environment=3)


def test_ordinals(path, stage):
    """Each is above the last; nothing is stepped where one is not, or where controls are not sealed."""
    populate(stage, path, ordinal=5)
    with Host(stage, path, ordinal=5) as host:
        for ordinal in (5, 4, 0, -1, True, 6.0, "6"):
            with pytest.raises(HostError, match=re.escape(f"ordinal: {ordinal!r} is not an integer above 5")):
                host.step(1 / 60, ordinal=ordinal)
        before = positions(host.backend)
        author(stage, "/arm/j1", TARGET, 1.0, 6, seal=False)
        with pytest.raises(HostError, match="ordinals 6 to 6: controls cannot be read, seal them first: "):
            host.step(1 / 60, ordinal=7)
        assert (positions(host.backend) == before).all()
        stage.advance_write_floor(6).wait()
        host.step(np.float32(1 / 60), ordinal=np.int64(7))
        assert (positions(host.backend) != before).any() and type(host.ordinal) is int
        author(stage, "/arm/j1", TARGET, math.nan, 8)
        with pytest.raises(HostError, match="/arm/j1.drive:angular:physics:targetPosition: nan is not a finite number"):
            host.step(1 / 60, ordinal=9)
        author(stage, "/arm/j1", TARGET, 2.0, 9)
        host.step(1 / 60, ordinal=10)
        stage.advance_write_floor(12).wait()
        with pytest.raises(HostError, match="ordinal 12: cannot be written: .*floor"):
            host.publish(ordinal=12)
    with pytest.raises(HostError, match="stage.usda: cannot be opened at ordinal 12: "):
        populate(stage, path, ordinal=12)


def test_wrong_stages(path, tmp_path, stage):
    """One line, and nothing stays attached."""
    with pytest.raises(HostError, match="stage: is pxr.Usd.Stage, not an ovstage.Stage"):
        Host(Usd.Stage.Open(path), path, ordinal=1)
    with pytest.raises(HostError, match="/arm/l0: is a link and not on the stage of ovstage, as 3 of 3; "):
        Host(stage, path, ordinal=1)
    with pytest.raises(StageError, match="nowhere.usda: there is no such file"):
        populate(stage, "nowhere.usda", ordinal=1)
    with pytest.raises(SettingsError, match="environments"):
        Host(stage, path, ordinal=1, environments=0)
    gone = ovstage.Stage("gone")
    gone.destroy()
    with pytest.raises(HostError, match="stage: is an ovstage.Stage that cannot be used"):
        Host(gone, path, ordinal=1)


def test_the_example_of_the_readme_runs():
    """As it stands, from the root of the repository."""
    readme = Path(__file__).parents[3] / "extensions" / "ovstage" / "README.md"
    (example,) = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    names = {}
    exec(compile(example, "example", "exec"), names)
    assert names["host"].ordinal == 121


def test_without_the_package(monkeypatch):
    """One line says how to get it."""
    monkeypatch.setitem(sys.modules, "ovstage", None)
    monkeypatch.delitem(sys.modules, "warp_artic.extensions.ovstage.package")
    with pytest.raises(HostError, match=r"ovstage is not installed.* pip install 'warp-artic\[ovstage\]'"):
        import warp_artic.extensions.ovstage.package  # noqa: F401


def test_a_stage_without_world_matrices(path, stage):
    """The application has not computed the hierarchy: the matrices are made, and it can go on from them."""
    ovstage.population.open_usd(stage, path, ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(1).wait()
    with Host(stage, path, ordinal=1) as host:
        host.step(0.25, ordinal=2)
        before = found(stage, ["/arm/l2"], WORLD)["/arm/l2"]
        stage.compute_hierarchy(2, 2)
        np.testing.assert_array_equal(found(stage, ["/arm/l2"], WORLD)["/arm/l2"], before)
        np.testing.assert_allclose(before[3, :3], host.backend.link_poses()[2, :3], atol=1e-12)


def test_edits_of_the_source(path, stage):
    """A link that goes is written no more; the others go on."""
    populate(stage, path, ordinal=1)
    usd = Usd.Stage.Open(path)
    with Host(stage, usd, ordinal=1) as host:
        host.step(0.1, ordinal=2)
        for name in ("/arm/l2", "/arm/j2"):
            usd.GetPrimAtPath(name).SetActive(False)
        host.step(0.1, ordinal=3)
        changed = ovstage.OrdinalRange.between(3, 3)
        assert set(found(stage, ["/arm/l0", "/arm/l1", "/arm/l2"], WORLD, changed)) == {"/arm/l0", "/arm/l1"}


def test_a_control_after_a_reset_that_takes_in_edits(tmp_path, stage):
    """It is of the joint that it names, though rows of joints are others by then."""
    path = saved(tmp_path, SCENE + arm() + arm(name="other", at=2.0))
    populate(stage, path, ordinal=1)
    usd = Usd.Stage.Open(path)
    with Host(stage, usd, ordinal=1) as host:
        host.step(0.1, ordinal=2)
        for name in ("/arm/l2", "/arm/j2"):
            usd.GetPrimAtPath(name).SetActive(False)
        host.backend.reset()
        author(stage, "/other/j1", TARGET, 10.0, 3)
        host.step(0.1, ordinal=4)
        names = host.backend.simulation.joint_names
        targets = np.degrees(host.backend.read(["drive_position_target"])["drive_position_target"].numpy()[:, 0])
    assert dict(zip(names, targets)) == pytest.approx({"/arm/j1": 30.0, "/other/j1": 10.0, "/other/j2": 30.0})


def test_nothing_is_left_behind(path, stage):
    """Of hosts that are opened and closed, also where the stage goes first."""
    populate(stage, path, ordinal=1)
    settings, ordinals = SolverSettings(), iter(range(2, 10**6))

    def once():
        host = Host(stage, path, ordinal=next(ordinals), settings=settings)
        host.step(1 / 60, ordinal=next(ordinals))
        host.close()
        host.close()

    for _ in range(30):
        once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(60):
        once()
    gc.collect()
    # Of each layer that a Python program has held, pxr keeps a block.
    assert sys.getallocatedblocks() - before < 10 * 60
    with ovstage.Stage("short") as other:
        populate(other, path, ordinal=1)
        host = Host(other, path, ordinal=1)
    host.close()
