"""When trees fall asleep, as stages say it."""

import numpy as np
import pytest

from tests.usd.authoring import SMALL_UNITS, body, errors_of, joint, open_text, schemas, warnings_of
from warp_artic import Simulation
from warp_artic.description.articulation import SLEEP_THRESHOLD
from warp_artic.usd.read_stage import inspect_stage, read_stage

STARTS = "bool physics:startsAsleep = true"


def stage(root="", first="", second="", scene="", header=None):
    """An articulation of two bodies, and a scene of ours."""
    text = f'def PhysicsScene "scene" {schemas("WarpArticSceneAPI")} {{\n{scene}\n}}\n'
    tree = body("first", first) + body("second", second)
    tree += joint("hinge", "Revolute", "/World/first", "/World/second")
    text += f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{root}\n{tree}}}\n'
    return open_text(text, header) if header else open_text(text)


def tree_of(*arguments, **options):
    return read_stage(stage(*arguments, **options)).articulations[0]


@pytest.mark.parametrize("header, unit", [(None, 1.0), (SMALL_UNITS, 0.01)])
def test_thresholds(header, unit):
    """That of our scene, else of the articulation, else of the body that has its settings, in units of the stage."""
    of_tree, of_body = "float physxArticulation:sleepThreshold = 4", "float physxRigidBody:sleepThreshold = 8"
    of_scene = "uniform double warpArtic:scene:sleepThreshold = 2"
    read = [
        tree_of(header=header),
        tree_of(of_tree, header=header),
        tree_of(of_body, header=header),
        tree_of(f"{of_tree}\n{of_body}", header=header),
        tree_of(of_tree, scene=of_scene, header=header),
    ]
    wanted = [SLEEP_THRESHOLD, 4 * unit**2, 8 * unit**2, 4 * unit**2, 2 * unit**2]
    assert [tree.sleep_threshold for tree in read] == pytest.approx(wanted, rel=1e-6)


def test_a_threshold_that_has_no_effect_is_told():
    """Where nothing lets trees sleep; not where it keeps the tree awake anyway."""

    def notes(root, scene=""):
        found = inspect_stage(stage(root, scene=scene)).scene.diagnostics
        return [str(note.path) for note in found if note.rule == "sleep-on-request"]

    threshold = "float physxArticulation:sleepThreshold = {}"
    assert notes(threshold.format(4)) == ["/World.physxArticulation:sleepThreshold"]
    assert notes(threshold.format(0)) == notes(threshold.format(4), "double warpArtic:scene:sleepAfter = 0.4") == []
    assert len(notes(threshold.format(4), "double warpArtic:scene:sleepAfter = inf")) == 1


def test_thresholds_that_cannot_be():
    """Are errors with what is allowed."""
    assert errors_of(stage("float physxArticulation:sleepThreshold = -1")) == [
        "/World.physxArticulation:sleepThreshold: is -1 distance^2/s^2, must not be negative"
    ]


def test_which_trees_start_asleep():
    """Those of which all bodies do; what then has no effect is told."""
    on = "double warpArtic:scene:sleepAfter = 0.4"
    asleep = stage(first=STARTS, second=STARTS, scene=on)
    assert read_stage(asleep).articulations[0].starts_asleep and not warnings_of(asleep)
    assert not tree_of(scene=on).starts_asleep
    partly = stage(second=STARTS, scene=on)
    assert not read_stage(partly).articulations[0].starts_asleep
    assert warnings_of(partly) == [
        "/World/second.physics:startsAsleep: is true, but not of all bodies of its tree, such as /World/first: the "
        "tree starts awake"
    ]
    off = stage(first=STARTS, second=STARTS)
    assert read_stage(off).articulations[0].starts_asleep
    assert warnings_of(off) == [
        "/World/first.physics:startsAsleep: has an effect only where warpArtic:scene:sleepAfter or --sleep-after let "
        "trees sleep"
    ]


def test_the_time_at_rest():
    """Is that of the scene."""
    assert read_stage(stage(scene="double warpArtic:scene:sleepAfter = 0.4")).sleep_after == 0.4
    assert read_stage(stage()).sleep_after is None


def test_bodies_that_may_touch_start_asleep_together():
    """A body that starts asleep does not hold up one that falls on it; both start awake, which is told."""
    ball = """def Sphere "{0}" {2} {{
double radius = 0.1
bool physics:startsAsleep = {1}
double3 xformOp:translate = (0, 0, {3})
uniform token[] xformOpOrder = ["xformOp:translate"]
}}
"""
    api = schemas("PhysicsRigidBodyAPI", "PhysicsCollisionAPI")
    scene = f'def PhysicsScene "scene" {schemas("WarpArticSceneAPI")} {{\ndouble warpArtic:scene:sleepAfter = 0.4\n}}\n'
    both = [open_text(scene + ball.format("a", 1, api, 1) + ball.format("b", other, api, 2)) for other in (0, 1)]
    told = "/a: starts asleep, but /b, which is stepped with it as they may touch or are joined, does not: "
    assert [warnings_of(one) for one in both] == [[told + "both start awake"], []]
    for stage_, starts in zip(both, (False, True)):
        simulation = Simulation(read_stage(stage_))
        assert simulation.asleep().tolist() == [[starts, starts]]
        height = simulation.record(steps=24).link_pose[-1, 0, :, 2]
        np.testing.assert_allclose(height, np.array([1.0, 2.0]) - (not starts) * 0.5 * 9.81 * 0.01, atol=1e-3)
