"""World poses of bodies under scaled, nested, referenced, instanced, mirrored and sheared prims."""

import math

import numpy as np
import pytest

from tests.usd.authoring import (
    SMALL_UNITS,
    body,
    errors_of,
    joint,
    joint_of,
    link_of,
    open_text,
    schemas,
    warnings_of,
)
from warp_artic.usd.read_stage import read_stage

QUARTER = "(0.70710678118, 0, 0, 0.70710678118)"
"""A quarter turn about z, wxyz."""


def below(content: str, *ops: str) -> object:
    """A stage with prims below a parent with these transform ops."""
    order = ", ".join(f'"{op.split()[1]}"' for op in ops)
    lines = "\n".join(ops)
    return open_text(f'def Xform "parent" {{\n{lines}\nuniform token[] xformOpOrder = [{order}]\n{content}\n}}')


def test_pose_has_no_scale():
    """A scaled and turned parent moves and turns a body; positions in it are scaled, its pose is rigid."""
    parent = (
        "double3 xformOp:translate = (1, 2, 3)",
        f"quatd xformOp:orient = {QUARTER}",
        "float3 xformOp:scale = (2, 2, 2)",
    )
    stage = below(body("box", "point3f physics:centerOfMass = (0, 1, 0)", at=(1, 0, 0)), *parent)
    link = link_of(read_stage(stage), "/parent/box")
    assert link.pose.position == pytest.approx((1, 4, 3))
    assert link.pose.quaternion == pytest.approx((0, 0, math.sqrt(0.5), math.sqrt(0.5)))
    assert link.center_of_mass == pytest.approx((0, 2, 0))


def test_pose_in_centimetres():
    """Positions become metres; axes stay those of the stage."""
    stage = open_text(body("box", at=(100, 200, 0)), SMALL_UNITS)
    assert link_of(read_stage(stage), "/box").pose.position == pytest.approx((1, 2, 0))


def test_nested_body_has_its_own_pose():
    """A body below another body is a link of its own."""
    stage = open_text(body("outer", body("inner", at=(0, 0, 1)), at=(1, 0, 0)))
    scene = read_stage(stage)
    assert scene.link_names == ("/outer", "/outer/inner")
    assert link_of(scene, "/outer/inner").pose.position == pytest.approx((1, 0, 1))


def test_non_uniform_scale_along_the_axes_is_fine():
    """A non-uniform scale on an unrotated body scales positions along each axis."""
    stage = below(body("box", "point3f physics:centerOfMass = (1, 1, 1)"), "float3 xformOp:scale = (1, 2, 3)")
    assert link_of(read_stage(stage), "/parent/box").center_of_mass == pytest.approx((1, 2, 3))


def test_ops_that_are_not_there():
    """USD passes over an op in the order that the prim has not; that is said. One of no known kind is an error."""
    stage = open_text(
        body("box", 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]', at=(1, 2, 3))
    )
    assert warnings_of(stage) == ["/box.xformOpOrder: names xformOp:scale, which the prim has not: USD passes over it"]
    assert link_of(read_stage(stage), "/box").pose.position == (1, 2, 3)
    content = 'double3 xformOp:odd = (1, 2, 3)\nuniform token[] xformOpOrder = ["xformOp:odd"]'
    assert "/box: its transform ops cannot be read" in errors_of(open_text(body("box", content)))


def test_shear_is_an_error():
    """A non-uniform scale above a rotated body shears it; the error names the prim."""
    turned = body(
        "box",
        'quatd xformOp:orient = (0.92387953, 0, 0, 0.38268343)\nuniform token[] xformOpOrder = ["xformOp:orient"]',
    )
    (error,) = errors_of(below(turned, "float3 xformOp:scale = (1, 2, 1)"))
    assert error.startswith("/parent/box: its world transform is sheared")


@pytest.mark.parametrize("op", ["float3 xformOp:scale = (1, 0, 1)", "float3 xformOp:scale = (nan, 1, 1)"])
def test_no_pose_is_an_error(op):
    """A scale of zero or one that is not a number is an error that names the prim."""
    (error,) = errors_of(below(body("box"), op))
    assert error.startswith("/parent/box: its world transform")


def test_mirrored_body_has_a_right_handed_frame():
    """A mirror is a scale of -1 along all axes of a turned frame: world points of the body are where they are."""
    stage = below(body("box", "point3f physics:centerOfMass = (1, 2, 3)"), "float3 xformOp:scale = (-1, 1, 1)")
    link = link_of(read_stage(stage), "/parent/box")
    assert np.linalg.det(link.pose.rotation) == pytest.approx(1)
    assert link.pose.apply(link.center_of_mass) == pytest.approx((-1, 2, 3))


def robot(name: str) -> str:
    """An articulation of two links, with a collider that gives the mass of the second."""
    cube = f'def Cube "shape" {schemas("PhysicsCollisionAPI")} {{\ndouble size = 1\n}}\n'
    return (
        f'Xform "{name}" {schemas("PhysicsArticulationRootAPI")} {{\n'
        + body("base")
        + body("arm", cube, mass="float physics:density = 500", at=(0, 0, 1))
        + joint("held", "Fixed", "", f"/{name}/base")
        + joint("hinge", "Revolute", f"/{name}/base", f"/{name}/arm", "point3f physics:localPos0 = (0, 0, 1)")
        + "}\n"
    )


@pytest.mark.parametrize("instanceable", ["", "instanceable = true\n"])
def test_referenced_and_instanced_robots(instanceable):
    """A robot referenced twice is two articulations, also when instanced, each where its reference is."""
    text = "class " + robot("robot")
    for name, x in (("one", 5), ("two", 7)):
        text += (
            f'def "{name}" ({instanceable}prepend references = </robot>) {{\ndouble3 xformOp:translate = ({x}, 0, 0)\n'
            'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
        )
    scene = read_stage(open_text(text))
    assert scene.link_names == ("/one/base", "/one/arm", "/two/base", "/two/arm")
    assert scene.dof_names == ("/one/hinge", "/two/hinge")
    assert link_of(scene, "/two/arm").pose.position == pytest.approx((7, 0, 1))
    assert link_of(scene, "/two/arm").mass == pytest.approx(500)
    assert joint_of(scene, "/two/hinge").parent_frame.position == pytest.approx((0, 0, 1))


def test_body_that_leaves_the_stack():
    """!resetXformStack! takes a body out of its parent's transform."""
    content = 'uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]'
    stage = below(body("box", content, at=(1, 0, 0)), "double3 xformOp:translate = (5, 0, 0)")
    assert link_of(read_stage(stage), "/parent/box").pose.position == pytest.approx((1, 0, 0))


def test_animated_body_starts_at_the_start_time_of_the_stage():
    """Time samples are read at startTimeCode."""
    samples = "double3 xformOp:translate.timeSamples = { 0: (1, 0, 0), 10: (2, 0, 0) }\n"
    text = f'def Xform "box" {schemas("PhysicsRigidBodyAPI", "PhysicsMassAPI")} {{\nfloat physics:mass = 1\n{samples}'
    text += 'uniform token[] xformOpOrder = ["xformOp:translate"]\n}'
    stage = open_text(text, "metersPerUnit = 1\nstartTimeCode = 10")
    assert link_of(read_stage(stage), "/box").pose.position == pytest.approx((2, 0, 0))


def test_velocity_is_in_the_space_of_the_parent():
    """physics:velocity is in the space the body's transform is given in, angular velocity in degrees a second."""
    content = "vector3f physics:velocity = (1, 0, 0)\nvector3f physics:angularVelocity = (180, 0, 0)"
    stage = below(body("box", content), f"quatd xformOp:orient = {QUARTER}", "float3 xformOp:scale = (2, 2, 2)")
    link = link_of(read_stage(stage), "/parent/box")
    assert link.linear_velocity == pytest.approx((0, 2, 0), abs=1e-6)
    assert link.angular_velocity == pytest.approx((0, math.pi, 0), abs=1e-6)


def test_angular_damping_of_physx_is_its_fallback():
    """A body with PhysxRigidBodyAPI has the angular damping of its schema, others have none."""
    assert link_of(read_stage(open_text(body("box"))), "/box").angular_damping == 0.0
    physx = ("PhysxRigidBodyAPI",)
    assert link_of(read_stage(open_text(body("box", applied=physx))), "/box").angular_damping == 0.05
    authored = "float physxRigidBody:angularDamping = 0.5\nfloat physxRigidBody:linearDamping = 0.25"
    link = link_of(read_stage(open_text(body("box", authored, physx))), "/box")
    assert (link.linear_damping, link.angular_damping) == (0.25, 0.5)
    assert errors_of(open_text(body("box", "float physxRigidBody:linearDamping = -1"))) == [
        "/box.physxRigidBody:linearDamping: is -1 1/s, must not be negative"
    ]


def test_velocity_of_a_body_that_leaves_its_parent():
    """Under !resetXformStack! a velocity is in world space, as the transform is."""
    content = "vector3f physics:velocity = (1, 0, 0)\nvector3f physics:angularVelocity = (180, 0, 0)\n"
    content += 'uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]'
    stage = below(body("box", content), f"quatd xformOp:orient = {QUARTER}", "float3 xformOp:scale = (2, 2, 2)")
    link = link_of(read_stage(stage), "/parent/box")
    assert link.linear_velocity == pytest.approx((1, 0, 0), abs=1e-6)
    assert link.angular_velocity == pytest.approx((math.pi, 0, 0), abs=1e-6)


@pytest.mark.parametrize("value", ["(nan, 0, 0, 0)", "(1, inf, 0, 0)"])
def test_orient_op_that_is_not_finite_is_an_error(value):
    """USD takes such an op for no rotation; it is an error of the prim that has it, once for all below."""
    stage = below(body("a") + body("b"), f"quatf xformOp:orient = {value}")
    assert errors_of(stage) == [f"/parent.xformOp:orient: is {value}, must be finite"]


def test_orient_op_that_is_no_rotation_is_a_warning():
    """What USD makes of a quaternion of another length is used, and said."""
    stage = below(body("box"), "quatf xformOp:orient = (2, 1, 0, 0)")
    (warning,) = warnings_of(stage)
    assert warning.startswith("/parent.xformOp:orient: is (2, 1, 0, 0) of length 2.236")
    assert link_of(read_stage(stage), "/parent/box").pose.quaternion == pytest.approx((0, 0, 0, 1))


@pytest.mark.parametrize("row", ["(0, 0, 0, 2)", "(0, 0, 0, 0)"])
def test_projective_transform_is_an_error(row):
    """A matrix whose last column is not 0, 0, 0, 1 places nothing rigidly."""
    stage = below(body("box"), f"matrix4d xformOp:transform = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), {row})")
    assert errors_of(stage) == ["/parent/box: the last column of its world transform is not (0, 0, 0, 1)"]


def test_largest_velocities_of_a_body():
    """maxLinearVelocity is in stage units, maxAngularVelocity in degrees a second; without bound unless authored."""
    link = link_of(read_stage(open_text(body("box"))), "/box")
    assert (link.max_linear_velocity, link.max_angular_velocity) == (math.inf, math.inf)
    content = "float physxRigidBody:maxLinearVelocity = 300\nfloat physxRigidBody:maxAngularVelocity = 90"
    stage = open_text(body("box", content), SMALL_UNITS)
    link = link_of(read_stage(stage), "/box")
    assert (link.max_linear_velocity, link.max_angular_velocity) == pytest.approx((3.0, math.pi / 2))
    assert not warnings_of(stage)
    assert errors_of(open_text(body("box", "float physxRigidBody:maxLinearVelocity = -1"))) == [
        "/box.physxRigidBody:maxLinearVelocity: is -1 distance/s, must not be negative"
    ]
