"""Which body colliders and joints belong to, against the parser of OpenUSD."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdPhysics

from tests.usd.authoring import body, joint, joint_of, link_of, notes_of, open_text, schemas, warnings_of
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.dialects import complete_order
from warp_artic.usd.inventory import take_inventory, traverse
from warp_artic.usd.read_stage import inspect_stage, read_stage
from warp_artic.usd.report import Report
from warp_artic.usd.units import Units

OFF, KINEMATIC = "bool physics:rigidBodyEnabled = 0\n", "bool physics:kinematicEnabled = 1\n"


def cube(name: str, at=(0, 0, 0), content: str = "", applied: tuple[str, ...] = (), resets: bool = False) -> str:
    """A cube of one metre that collides; where it resets the transform stack, it is placed in the world."""
    reset = '"!resetXformStack!", ' if resets else ""
    return (
        f'def Cube "{name}" {schemas("PhysicsCollisionAPI", *applied)} {{\ndouble size = 1\n'
        f"double3 xformOp:translate = {tuple(at)}\n{content}\n"
        f'uniform token[] xformOpOrder = [{reset}"xformOp:translate"]\n}}\n'
    )


def parsed(stage):
    """The body of each collider, and the two of each joint, as the parser of OpenUSD has them; empty for the world."""
    load = getattr(UsdPhysics, "UsdPhysicsLoadStageFromPrimRange", None) or UsdPhysics.LoadUsdPhysicsFromRange
    bodies, ends = {}, {}
    for paths, descriptions in load(stage, ["/"]).values():
        for path, found in zip(paths, descriptions):
            if hasattr(found, "rigidBody") and hasattr(found, "localPos"):
                bodies[str(path)] = str(found.rigidBody)
            if hasattr(found, "localPose0Position"):
                ends[str(path)] = (str(found.body0), str(found.body1))
    return bodies, ends


def information(prim):
    """What ComputeMassProperties asks of a cube of one metre."""
    result = UsdPhysics.RigidBodyAPI.MassInformation()
    result.volume, result.inertia = 1.0, Gf.Matrix3f(1 / 6)
    result.centerOfMass, result.localRot = Gf.Vec3f(0), Gf.Quatf(1)
    result.localPos = Gf.Vec3f(prim.GetAttribute("xformOp:translate").Get())
    return result


NESTED = body(
    "a",
    cube("own") + body("part", OFF + cube("shape", (3, 0, 0)) + body("inner", OFF + cube("deep"), mass=""), mass=""),
    mass="",
)
STAGES = {
    "disabled in a body": (NESTED, {"/a/own": "/a", "/a/part/shape": "/a", "/a/part/inner/deep": "/a"}),
    "disabled in a kinematic body": (
        body("k", KINEMATIC + body("part", OFF + cube("shape"))),
        {"/k/part/shape": "/k"},
    ),
    "kinematic in a body": (
        body("a", cube("own") + body("k", KINEMATIC + cube("shape"))),
        {"/a/own": "/a", "/a/k/shape": "/a/k"},
    ),
    "a place of its own": (
        body("a", cube("own") + cube("apart", (0, 4, 0), resets=True)),
        {"/a/own": "/a", "/a/apart": "/a"},
    ),
    "a body in a disabled one in a body": (
        body("a", cube("own") + body("part", OFF + body("b", cube("shape")))),
        {"/a/own": "/a", "/a/part/b/shape": "/a/part/b"},
    ),
}
OTHERS = {"/floor": "", "/other/shape": "/other"}
PARSER_KNOWS_PARTS = Usd.GetVersion() >= (0, 26, 11)
"""Whether OpenUSD counts what is disabled as a part of the body above: before, it was a body without motion."""


@pytest.mark.parametrize("name", STAGES)
def test_colliders_belong_to_the_nearest_body_that_is_enabled(name):
    """As the parser of OpenUSD says, which leaves what is disabled to the body above."""
    text, bodies = STAGES[name]
    stage = open_text(text + cube("floor") + body("other", cube("shape"), at=(9, 0, 0)))
    attributes = Attributes(Usd.TimeCode.Default(), Units(), Report(), complete_order(()))
    found = take_inventory(traverse(stage), attributes).colliders
    assert {str(prim.GetPath()): own for own, prims in found.items() for prim in prims} == bodies | OTHERS
    if PARSER_KNOWS_PARTS or OFF not in text:
        assert parsed(stage)[0] == bodies | OTHERS


def test_mass_of_a_disabled_part():
    """Its colliders have their share in mass, centre and inertia, as in ComputeMassProperties."""
    stage = open_text(NESTED)
    link = link_of(read_stage(stage), "/a")
    api = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/a"))
    xx, xy, xz, yy, yz, zz = link.inertia
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    # Cubes of 1000 kg at 0 and 0, and one at 3: a third of the mass 2 from the centre and two thirds 1 from it.
    assert (link.mass, link.center_of_mass) == (pytest.approx(3000.0), pytest.approx((1.0, 0.0, 0.0)))
    assert np.linalg.eigvalsh(inertia) == pytest.approx([500.0, 6500.0, 6500.0], rel=1e-5)
    if PARSER_KNOWS_PARTS:
        mass, moments, center, _ = api.ComputeMassProperties(information)
        assert (link.mass, link.center_of_mass) == (pytest.approx(mass), pytest.approx(tuple(center)))
        assert np.linalg.eigvalsh(inertia) == pytest.approx(sorted(moments), rel=1e-5)


def test_places_that_leave_the_transform_of_the_body():
    """A collider that resets the transform stack moves with its body, from where it is in the world."""
    content = cube("own") + cube("apart", (0, 4, 0), resets=True)
    turned = content + "quatf xformOp:orient = (0, 0, 0, 1)\n"  # half a turn about Z
    order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
    text = (
        f'def Xform "a" {schemas("PhysicsRigidBodyAPI")} {{\ndouble3 xformOp:translate = (1, 0, 0)\n{order}{turned}}}\n'
    )
    ends = "point3f physics:localPos0 = (0, 0, 2)"
    stage = open_text(text + body("b", at=(0, 4, 2)) + joint("hinge", "Revolute", "/a/apart", "/b", ends))
    scene = read_stage(stage)
    link = link_of(scene, "/a")
    assert link.mass == pytest.approx(2000.0)
    # The cube is (-1, 4, 0) from the body, which half a turn makes (1, -4, 0) in its frame; the other one is at 0.
    assert link.center_of_mass == pytest.approx((0.5, -2.0, 0.0))
    assert joint_of(scene, "/hinge").parent_frame.position == pytest.approx((1.0, -4.0, 2.0))
    assert parsed(stage)[1] == {"/hinge": ("/a", "/b")}


def test_joint_on_a_disabled_part():
    """It is on the body that the part belongs to, with the frame of the part."""
    text = body("a", body("part", OFF, at=(0, 3, 0)), at=(1, 0, 0)) + body("b", at=(1, 3, 0))
    stage = open_text(text + joint("hinge", "Revolute", "/a/part", "/b", "point3f physics:localPos0 = (0, 0, 2)"))
    if PARSER_KNOWS_PARTS:
        assert parsed(stage)[1] == {"/hinge": ("/a", "/b")}
    scene = read_stage(stage)
    hinge = joint_of(scene, "/hinge")
    tree = scene.articulations[0]
    assert (tree.links[hinge.parent].path, tree.links[hinge.child].path) == ("/a", "/b")
    assert hinge.parent_frame.position == pytest.approx((0, 3, 2))
    assert "/a/part: is disabled: it is a part of /a" in notes_of(stage)


def test_what_a_disabled_part_has_for_itself():
    """Velocities of it are not used, which its note covers; its mass has no effect, which is told."""
    stage = open_text(
        body("a", body("part", OFF + "vector3f physics:velocity = (1, 0, 0)", mass="float physics:mass = 3"))
    )
    assert inspect_stage(stage).articulations[0].links[0].linear_velocity == (0, 0, 0)
    assert warnings_of(stage) == ["/a/part.physics:mass: is not used"]
    samples = "double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 10: (1, 0, 0) }\n"
    moving = body("part", OFF + samples, mass="").replace("double3 xformOp:translate = (0, 0, 0)\n", "")
    (warning,) = warnings_of(open_text(body("a", moving)))
    assert warning.startswith("/a/part: moves over time; as a part of another body")
