"""What is added to a stage while it is simulated: the rest goes on from where it is, what is new starts as authored."""

import numpy as np
import pytest
from pxr import Sdf, UsdGeom, UsdPhysics
from warp_artic.extensions.usd import play

import warp_artic as wa
from tests.hosts.test_stage_backend import DRIVE, FRAME, SCENE, arm, attached
from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic import SolverSettings

EXACT = SolverSettings(precision="float64")
LIGHT = "float physics:mass = 1e-9\nfloat3 physics:diagonalInertia = (1e-9, 1e-9, 1e-9)"
HINGE = "point3f physics:localPos0 = (0, 0, -0.5)\nuniform token physics:axis = 'Y'"


def craft():
    """A floating trunk with an arm on a hinge, thrown and turning."""
    spin = "vector3f physics:velocity = (1, 0, 3)\nvector3f physics:angularVelocity = (20, 90, -40)"
    content = body("trunk", spin, at=(0, 3, 0)) + body("fin", spin, at=(0, 3, -0.5))
    content += joint("fin_joint", "Revolute", "/craft/trunk", "/craft/fin", HINGE)
    return f'def Xform "craft" {schemas("PhysicsArticulationRootAPI")} {{\n{content}}}\n'


def scene():
    """An arm on the world, a craft, and a body that falls."""
    return open_text(SCENE + arm() + craft() + body("loose", at=(0, -3, 0)))


def add(stage, text):
    """Compose more of a stage, by a layer over it."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(f"#usda 1.0\n{text}")
    stage.GetRootLayer().subLayerPaths.append(layer.identifier)


def link_on(parent, path, at, name="new", mass=LIGHT, more=""):
    """Another link of an articulation, on a hinge."""
    below = body(name, mass=mass, at=at)
    return (
        f'over "{parent.split("/")[1]}" {{\n{below}'
        + joint(f"{name}_joint", "Revolute", parent, f"{path}/{name}", f"{HINGE}\n{more}")
        + "}\n"
    )


def above_the_craft():
    """A link that carries the trunk, on a hinge: the craft grows at its root."""
    content = body("mast", mass=LIGHT, at=(0, 3, 0.5))
    content += joint("mast_joint", "Revolute", "/craft/mast", "/craft/trunk", HINGE)
    return f'over "craft" {{\n{content}}}\n'


def drive(stage):
    """On the hinge that has none, too weak to be felt."""
    hinge = stage.GetPrimAtPath("/craft/fin_joint")
    made = UsdPhysics.DriveAPI.Apply(hinge, "angular")
    made.CreateDampingAttr(1e-10)
    made.CreateMaxForceAttr(1.0)


def limit(stage):
    """On the same hinge, where it does not come to."""
    hinge = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath("/craft/fin_joint"))
    hinge.CreateLowerLimitAttr(-3000.0)
    hinge.CreateUpperLimitAttr(3000.0)


def tendon(stage):
    """Between hinges of the arm, without stiffness."""
    wa.author.fixed_tendon(stage, "/arm/tendon", ["/arm/j1", "/arm/j2"], [1.0, -1.0], stiffness=0.0)


ADDED = {
    "link on the arm": lambda stage: add(stage, link_on("/arm/l2", "/arm", (0, 0, -1.5))),
    "link on the craft": lambda stage: add(stage, link_on("/craft/fin", "/craft", (0, 3, -1))),
    "link above the craft": lambda stage: add(stage, above_the_craft()),
    "two links": lambda stage: [
        add(stage, link_on("/arm/l2", "/arm", (0, 0, -1.5))),
        add(stage, link_on("/craft/fin", "/craft", (0, 3, -1))),
    ],
    "drive": drive,
    "limit": limit,
    "tendon": tendon,
    "another arm": lambda stage: add(stage, arm(name="other", at=4.0)),
}
TO_ORDER = {"drive": 1e-5, "link above the craft": 1e-4}
"""[m] Free motion is stepped to fourth order without dampers only, and after steps of the same coordinates."""


def poses(backend, *paths):
    """World poses of links; quaternions with w of at least zero."""
    found = backend.link_poses()[[backend.report.links.index(path) for path in paths]]
    found[:, 3:] *= np.where(found[:, 6:] < 0.0, -1.0, 1.0)
    return found


PATHS = ("/arm/l1", "/arm/l2", "/craft/trunk", "/craft/fin", "/loose")


@pytest.mark.parametrize("name", ADDED)
def test_what_is_not_felt_changes_nothing(name):
    """The run goes on as one without it, with targets and efforts that a user gave; the new part starts as authored."""
    backends = [attached(scene(), settings=EXACT) for _ in range(2)]
    for one in backends:
        names = one.simulation.joint_names
        target, effort = np.zeros(len(names)), np.zeros(len(names))
        target[names.index("/arm/j1")], effort[names.index("/craft/fin_joint")] = -0.4, 0.3
        one.set_controls({"drive_position_target": target, "joint_effort": effort})
        one.step(0.5)
    plain, edited = backends
    ADDED[name](edited.source.host)
    edited.step(0.0)
    np.testing.assert_allclose(poses(edited, *PATHS), poses(plain, *PATHS), rtol=0.0, atol=1e-12)
    position = dict(zip(edited.simulation.joint_names, edited.read("joint_position")["joint_position"].numpy()[:, 0]))
    assert all(position[name] == 0.0 for name in position if name not in plain.simulation.joint_names)
    for seconds in (1 / 240, 0.5):
        for one in backends:
            one.step(seconds)
        tolerance = TO_ORDER.get(name, 1e-6)
        np.testing.assert_allclose(poses(edited, *PATHS), poses(plain, *PATHS), rtol=0.0, atol=tolerance)
    assert edited.revision == 2
    assert np.abs(poses(plain, *PATHS) - poses(attached(scene()), *PATHS)).max(axis=1).min() > 0.1


def test_a_joint_catches_a_body():
    """A body that falls is caught by a hinge on the world: it is where it was, and turns as its speed lets it."""
    stage = scene()
    backend = attached(stage, settings=EXACT)
    backend.step(0.25)
    before = poses(backend, *PATHS)
    height = before[-1, 2]
    place = f"point3f physics:localPos0 = (1, -3, {height})\npoint3f physics:localPos1 = (1, 0, 0)"
    add(stage, joint("catch", "Revolute", "", "/loose", f"{place}\nuniform token physics:axis = 'Y'"))
    backend.step(0.0)
    np.testing.assert_allclose(poses(backend, *PATHS), before, rtol=0.0, atol=1e-6)
    speed = dict(zip(backend.simulation.joint_names, backend.read("joint_velocity")["joint_velocity"].numpy()[:, 0]))
    assert speed["/catch"] == pytest.approx(0.0, abs=1e-6)
    backend.step(0.25)
    assert poses(backend, "/loose")[0, 2] < height - 0.01


def test_a_link_comes_while_a_stage_is_played():
    """Frames go on as those of a stage to which nothing comes, and the new link is shown where it is."""
    stages = [scene() for _ in range(2)]
    with play(stages[0], settings=EXACT) as edited, play(stages[1], settings=EXACT) as plain:
        for frame in range(30):
            if frame == 12:
                add(stages[0], link_on("/arm/l2", "/arm", (0, 0, -1.5), more=DRIVE))
                add(stages[0], link_on("/craft/fin", "/craft", (0, 3, -1), name="tail"))
            for player in (edited, plain):
                player.advance()
            shown = [
                [np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path))) for path in PATHS]
                for stage in stages
            ]
            np.testing.assert_allclose(*shown, rtol=0.0, atol=1e-6)
        assert edited.frame == 30 and {"/arm/new", "/craft/tail"} <= set(edited.backend.report.links)
        tail = UsdGeom.XformCache().GetLocalToWorldTransform(stages[0].GetPrimAtPath("/craft/tail"))
        np.testing.assert_allclose(tail.ExtractTranslation(), poses(edited.backend, "/craft/tail")[0, :3], atol=1e-9)


def test_a_heavy_link_pulls_from_where_it_comes():
    """It acts from the next step on: with it the arm moves as one that had it, from the state that there was."""
    edited, whole = scene(), scene()
    mass = "float physics:mass = 3\nfloat3 physics:diagonalInertia = (1, 1, 1)"
    heavy = link_on("/arm/l2", "/arm", (0, 0, -1.5), mass=mass)
    add(whole, heavy)
    one, other = attached(edited, settings=EXACT), attached(whole, settings=EXACT)
    one.step(0.5)
    add(edited, heavy)
    one.step(0.0)
    parts = ("joint_position", "joint_velocity", "root_pose", "root_velocity")
    before = one.simulation.snapshot((*parts, "history"))
    assert before.model_hash == other.simulation.model_hash
    other.simulation.apply(before)
    for backend in (one, other):
        backend.step(10 * FRAME)
    np.testing.assert_array_equal(poses(one, *PATHS), poses(other, *PATHS))
