"""Frames and bodies at the ends of joints."""

import math

import numpy as np
import pytest

from tests.usd.authoring import (
    body,
    errors_of,
    hinge_of,
    joint,
    joint_of,
    notes_of,
    open_text,
    pendulum,
    schemas,
    warnings_of,
)
from warp_artic.description.joint import WORLD
from warp_artic.usd.read_stage import read_stage

TURN = "(0.70710678118, 0.70710678118, 0, 0)"
"""A quarter turn about x, wxyz."""


def test_frames_are_scaled_with_their_body():
    """Local positions are in the space of the body, scaled; rotations are not."""
    scale = 'float3 xformOp:scale = (6, 6, 6)\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]'
    content = "point3f physics:localPos0 = (0, 1, 0)\npoint3f physics:localPos1 = (0, 1, 0)\n"
    content += f"quatf physics:localRot1 = {TURN}"
    hinge = hinge_of(pendulum(content, rod=scale))
    assert hinge.parent_frame.position == pytest.approx((0, 1, 0))
    assert hinge.child_frame.position == pytest.approx((0, 6, 0))
    assert hinge.child_frame.quaternion == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))


def test_world_frame_is_taken_as_it_is():
    """An end without a body is in the world."""
    stage = open_text(body("box") + joint("hinge", "Revolute", "", "/box", "point3f physics:localPos0 = (1, 2, 3)"))
    hinge = joint_of(read_stage(stage), "/hinge")
    assert (hinge.parent, hinge.reversed) == (WORLD, False)
    assert hinge.parent_frame.position == (1, 2, 3)


@pytest.mark.parametrize("ends, is_reversed", [(("/box", ""), True), (("", "/box"), False)])
def test_joint_to_the_world_either_way(ends, is_reversed):
    """The body may be body0; the joint then points from the child to the world."""
    stage = open_text(body("box") + joint("hinge", "Revolute", *ends))
    hinge = joint_of(read_stage(stage), "/hinge")
    assert (hinge.parent, hinge.child, hinge.reversed) == (WORLD, 0, is_reversed)


def test_swapped_bodies_keep_the_authored_sign():
    """With the child as body0 the frames are those of the bodies, and position and limit keep their sign."""
    content = (
        "float state:angular:physics:position = 30\nfloat physics:lowerLimit = -10\nfloat physics:upperLimit = 40\n"
    )
    content += "point3f physics:localPos0 = (1, 0, 0)\npoint3f physics:localPos1 = (2, 0, 0)"
    more = body("leaf") + joint("swapped", "Revolute", "/World/leaf", "/World/rod", content)
    scene = read_stage(pendulum(more=more))
    swapped = joint_of(scene, "/World/swapped")
    assert swapped.reversed
    tree = scene.articulations[0]
    assert (tree.links[swapped.parent].path, tree.links[swapped.child].path) == ("/World/rod", "/World/leaf")
    assert (swapped.parent_frame.position, swapped.child_frame.position) == ((2, 0, 0), (1, 0, 0))
    assert swapped.dofs[0].position == pytest.approx(math.radians(30))
    assert swapped.dofs[0].limit.upper == pytest.approx(math.radians(40))


def test_frame_on_a_child_of_the_body():
    """A joint that leads to a prim below a body has its frame there."""
    place = (
        f"double3 xformOp:translate = (1, 0, 0)\nquatd xformOp:orient = {TURN}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'
    )
    rod = f'def Xform "mount" {{\n{place}\n}}\n'
    more = body("tool") + joint(
        "grip", "Revolute", "/World/rod/mount", "/World/tool", "point3f physics:localPos0 = (0, 1, 0)"
    )
    grip = joint_of(read_stage(pendulum(rod=rod, more=more)), "/World/grip")
    assert grip.parent_frame.position == pytest.approx((1, 0, 1), abs=1e-7)
    assert grip.parent_frame.quaternion == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))


def test_kinematic_body_is_the_world():
    """A joint to a kinematic body holds to the world where that body is, and a note says so."""
    text = body("cart", "bool physics:kinematicEnabled = 1", at=(3, 0, 0)) + body("box", at=(3, 0, 1))
    text += joint("hinge", "Revolute", "/cart", "/box", "point3f physics:localPos0 = (0, 0, 1)")
    stage = open_text(text)
    scene = read_stage(stage)
    assert scene.link_names == ("/box",)
    hinge = joint_of(scene, "/hinge")
    assert hinge.parent == WORLD
    assert hinge.parent_frame.position == pytest.approx((3, 0, 1))
    assert any(text.startswith("/cart: is kinematic or disabled") for text in notes_of(stage))
    assert any(text.startswith("/hinge: joins /cart") for text in notes_of(stage))


def test_disabled_body_is_the_world():
    """A body with rigidBodyEnabled = 0 does not move."""
    text = body("wall", "bool physics:rigidBodyEnabled = 0") + body("box") + joint("hinge", "Revolute", "/wall", "/box")
    assert read_stage(open_text(text)).link_names == ("/box",)


def test_static_collider_is_the_world():
    """A joint to a prim that is no body holds to the world where that prim is, with a warning."""
    text = (
        f'def Cube "ground" {schemas("PhysicsCollisionAPI")} {{\ndouble3 xformOp:translate = (0, 0, 4)\n'
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n' + body("box", at=(0, 0, 4))
    )
    stage = open_text(text + joint("hinge", "Revolute", "/ground", "/box"))
    assert joint_of(read_stage(stage), "/hinge").parent_frame.position == (0, 0, 4)
    assert any(
        "/hinge.physics:body0: leads to /ground, which is not a rigid body" in text for text in warnings_of(stage)
    )


def test_joint_to_a_prim_above_it():
    """A joint to the root of its asset holds it to the world where the asset is referenced; that is only a note."""
    asset = body("box") + joint("hinge", "Revolute", "/asset", "/asset/box", "point3f physics:localPos0 = (0, 0, 1)")
    place = 'double3 xformOp:translate = (5, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    stage = open_text(f'def Xform "asset" {{\n{place}\n{asset}\n}}\n')
    assert joint_of(read_stage(stage), "/asset/hinge").parent_frame.position == (5, 0, 1)
    assert any("/asset/hinge.physics:body0: leads to /asset" in text for text in notes_of(stage))
    assert not [text for text in warnings_of(stage) if "leads to" in text]


def test_disabled_joint_is_ignored():
    """A joint with jointEnabled = 0 is no joint, and a note says so."""
    stage = open_text(body("box") + joint("hinge", "Revolute", "", "/box", "bool physics:jointEnabled = 0"))
    assert read_stage(stage).articulations[0].is_floating
    assert any(text.startswith("/hinge: is disabled") for text in notes_of(stage))


@pytest.mark.parametrize(
    "text, sentence",
    [
        (joint("j", "Revolute", "/box", "/nowhere"), "/j.physics:body1: leads to /nowhere, which does not exist"),
        (joint("j", "Revolute", "/box", "/plain"), "/j.physics:body1: leads to /plain, which is not a rigid body"),
        (joint("j", "Revolute", "/box", "/scope"), "/j.physics:body1: leads to /scope, which has no transform"),
        (
            joint("j", "Revolute", "/box", "/box.physics:mass"),
            "/j.physics:body1: leads to /box.physics:mass, which is a",
        ),
        (joint("j", "Revolute"), "/j: joins the world with itself"),
        (joint("j", "Revolute", "/box", "/box"), "/j: joins /box with itself"),
        (
            'def PhysicsRevoluteJoint "j" {\nrel physics:body0 = [</box>, </plain>]\n}\n',
            "/j.physics:body0: leads to 2 prims, must lead to one",
        ),
        (
            joint("j", "Revolute", "", "/box", "quatf physics:localRot0 = (nan, 0, 0, 0)"),
            "/j.physics:localRot0: is (nan, 0, 0, 0), must be finite",
        ),
        (
            joint("j", "Revolute", "", "/box", "point3f physics:localPos0 = (0, inf, 0)"),
            "/j.physics:localPos0: is (0.0, inf, 0.0), must be finite",
        ),
    ],
)
def test_bad_ends(text, sentence):
    """What a joint cannot join is an error that names the relationship and what is there."""
    stage = open_text(body("box") + 'def Xform "plain" {\n}\ndef Scope "scope" {\n}\n' + text)
    assert [error for error in errors_of(stage) if error.startswith(sentence)], errors_of(stage)


def test_quaternion_of_another_length():
    """A frame rotation that is not of unit length is normalised, zero is none, each with a warning."""
    stage = pendulum("quatf physics:localRot0 = (2, 0, 0, 0)\nquatf physics:localRot1 = (0, 0, 0, 0)")
    assert hinge_of(stage).parent_frame.quaternion == (0, 0, 0, 1)
    assert np.isfinite(hinge_of(stage).child_frame.quaternion).all()
    assert any("of length 2" in text for text in warnings_of(stage))
    assert "/World/hinge.physics:localRot1: is a quaternion of length zero; no rotation is used" in warnings_of(stage)
