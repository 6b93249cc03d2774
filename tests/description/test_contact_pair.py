"""What contact pairs and their shapes may be, with its sentence."""

import math
from dataclasses import replace

import pytest

import warp_artic as wa
from tests.trees import chain
from warp_artic.description.validate import validate

NAN, INF = math.nan, math.inf
FLOOR = wa.Shape(path="/floor", kind=wa.ShapeKind.PLANE)
BALL = wa.Shape(path="/ball", kind=wa.ShapeKind.SPHERE, radius=0.5)
CAPSULE = wa.Shape(path="/capsule", kind=wa.ShapeKind.CAPSULE, radius=0.5)
CAN = wa.Shape(path="/can", kind=wa.ShapeKind.CYLINDER, radius=0.5, half_height=0.1)
BOX = wa.Shape(path="/box", kind=wa.ShapeKind.BOX, half_extents=(1.0, 2.0, 3.0))
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
HULL = wa.Shape(path="/hull", kind=wa.ShapeKind.CONVEX, points=CORNERS, triangles=FACES)
PAIR = wa.ContactPair(name="/p", link0=0, link1=1, shape0=BALL, shape1=BOX, contact_distance=0.02)


def sentences(**changes) -> list[str]:
    """The lines of the error that a chain of three links with a changed pair raises; none where it is valid."""
    try:
        validate(wa.Scene(articulations=(replace(chain(3), constraints=(replace(PAIR, **changes),)),)))
    except wa.DescriptionError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize("shape", [FLOOR, BALL, CAPSULE, CAN, BOX, HULL], ids=lambda shape: shape.kind.value)
def test_valid_pairs(shape):
    """Every kind is accepted; a shape of the world too."""
    assert not sentences(shape0=shape)
    assert not sentences(shape0=shape, link0=wa.WORLD, restitution=1.0, depenetration_speed=INF, stiffness=1e5)


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"link1": 0}, "both shapes are on link 0; they must be on different links, or one on the world"),
        ({"link1": 3}, "link1 is link 3 of 3, counted from 0; -1 is the world"),
        ({"shape0": FLOOR, "shape1": FLOOR}, "both shapes are planes, which touch everywhere or nowhere"),
        ({"static_friction": -0.5}, "the static friction is -0.5, must be finite and not negative"),
        ({"dynamic_friction": INF}, "the dynamic friction is inf, must be finite and not negative"),
        ({"bounce_threshold": NAN}, "the bounce threshold is nan, must be finite and not negative"),
        ({"damping": -1.0}, "the damping is -1, must be finite and not negative"),
        ({"restitution": 1.5}, "the restitution is 1.5, must be from 0 to 1"),
        ({"stiffness": 0.0}, "the stiffness is 0 N/m, must be positive, infinite for a rigid contact"),
        ({"keepers": ("/j",)}, "touches once /j has broken, which is no loop joint of its mechanism"),
        ({"depenetration_speed": 0.0}, "the depenetration speed is 0 m/s, must be positive"),
        ({"rest_distance": 0.1}, "the contact distance is 0.02 m, must be finite, and not below the rest distance"),
        ({"shape0": replace(BALL, radius=0.0)}, "the shape /ball has the radius 0 m; it must be positive and finite"),
        ({"shape0": replace(CAPSULE, half_height=-0.1)}, "the shape /capsule has the half height -0.1 m"),
        ({"shape0": replace(CAN, half_height=0.0)}, "the shape /can has the half height 0 m"),
        ({"shape0": replace(BOX, half_extents=(1.0, 0.0, 1.0))}, "the shape /box has the half extents (1.0, 0.0, 1.0)"),
        ({"shape0": replace(HULL, triangles=())}, "the shape /hull has 4 points and 0 triangles; a convex shape has"),
        ({"shape0": replace(HULL, triangles=(*FACES, (0, 1, 4)))}, "the shape /hull has the triangle (0, 1, 4)"),
        ({"shape0": replace(HULL, points=((NAN, 0.0, 0.0), *CORNERS[1:]))}, "the shape /hull has points that are not"),
        ({"shape1": replace(BALL, frame=wa.Pose(quaternion=(0.0, 0.0, 0.0, 2.0)))}, "the shape /ball has the frame"),
    ],
)
def test_problems(changes, sentence):
    """What cannot be is refused with what was found and what is allowed."""
    found = sentences(**changes)
    assert any(one.startswith(f"/p: contact pair: {sentence}") for one in found), found


def test_words_name_the_shapes():
    """What a pair is between is told to people."""
    assert PAIR.words == {"shape0": "sphere /ball", "shape1": "box /box"}
