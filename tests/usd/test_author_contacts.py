"""Authoring a ground and physics materials: what is authored is what is read, and a mistake is said before any edit."""

import math

import pytest
from pxr import UsdGeom

from tests.contact_stages import ContactScene, box
from tests.usd.authoring import open_text
from warp_artic import Simulation, SolverSettings, author
from warp_artic.description.contact_pair import ContactPair
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.read_stage import read_stage


def stage_of_a_box():
    """A box of 2 kg, 20 cm wide, 1 cm above z = 1, without a ground."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 1.11), mass=2.0),), has_ground=False)
    return open_text(scene.usd)


def test_ground_and_material_are_read():
    """A pair with the friction of both, and a box that comes to rest on it."""
    stage = stage_of_a_box()
    author.physics_material(
        stage,
        "/World/ice",
        static_friction=0.1,
        dynamic_friction=0.05,
        restitution=0.25,
        density=900,
        bind="/World/box",
    )
    ground = author.ground_plane(stage, "/World/ground", height=1.0, size=5.0, material="/World/ice")
    assert (ground.GetAttribute("axis").Get(), ground.GetAttribute("length").Get()) == ("Z", 5.0)
    scene = read_stage(stage)
    ((pair,),) = [tree.constraints_of(ContactPair) for tree in scene.articulations]
    assert (pair.shape0.path, pair.shape1.path) == ("/World/ground", "/World/box/shape")
    # The shape of the box has the material of the scene bound to itself, which is nearer.
    assert (pair.static_friction, pair.dynamic_friction) == pytest.approx((0.3, 0.275))
    assert pair.restitution == pytest.approx(0.125)
    simulation = Simulation(scene, settings=SolverSettings(precision="float64"))
    simulation.step(240)
    assert simulation.state.link_pose.numpy()[0, 2, 0] == pytest.approx(1.1, abs=1e-5)
    assert simulation.contact_force_on("/World/box")[0, 2] == pytest.approx(2.0 * 9.81, rel=1e-5)


def test_grounds_look_along_the_up_axis():
    """With Y up too, also at a second call, which changes what it is given."""
    stage = stage_of_a_box()
    stage.SetMetadata("upAxis", "Y")
    author.ground_plane(stage, "/ground", height=2.0)
    prim = author.ground_plane(stage, "/ground", height=3.0)
    assert prim.GetAttribute("axis").Get() == "Y"
    assert tuple(prim.GetAttribute("xformOp:translate").Get()) == (0.0, 3.0, 0.0)
    assert tuple(prim.GetAttribute("xformOpOrder").Get()) == ("xformOp:translate",)
    assert not author.ground_plane(stage, "/other").HasAttribute("xformOp:translate")


@pytest.mark.parametrize(
    "make, error, message",
    [
        (
            lambda stage: author.physics_material(stage, "/World/m", restitution=1.5),
            SettingsError,
            "restitution: is 1.5",
        ),
        (
            lambda stage: author.physics_material(stage, "/World/m", static_friction=-1),
            SettingsError,
            "Friction: is -1",
        ),
        (lambda stage: author.physics_material(stage, "/World/box"), StageError, "is a Xform, must be a Material"),
        (lambda stage: author.physics_material(stage, "/World/m", bind=["/no"]), StageError, "/no: there is no such"),
        (lambda stage: author.ground_plane(stage, "/g", height=math.inf), SettingsError, "must be a finite number"),
        (lambda stage: author.ground_plane(stage, "/g", size=0), SettingsError, "width: is 0, must be above 0"),
        (lambda stage: author.ground_plane(stage, "/g", material="/World/box"), StageError, "which is no Material"),
        (lambda stage: author.ground_plane(stage, "/World/box"), StageError, "is a Xform, must be a Plane"),
    ],
)
def test_mistakes_leave_the_stage(make, error, message):
    """Each says what it is about, and nothing is authored."""
    stage = stage_of_a_box()
    before = stage.GetRootLayer().ExportToString()
    with pytest.raises(error, match=message):
        make(stage)
    assert stage.GetRootLayer().ExportToString() == before


def test_a_ground_with_other_transforms_is_left():
    """A height cannot be added to a matrix."""
    stage = stage_of_a_box()
    plane = author.ground_plane(stage, "/ground")
    UsdGeom.Xformable(plane).AddTransformOp()
    with pytest.raises(StageError, match="has transforms of its own"):
        author.ground_plane(stage, "/ground", height=1.0)
