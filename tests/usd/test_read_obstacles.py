"""Which colliders of a stage elastic bodies meet, what they pass through."""

import numpy as np
import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, joint, open_text, schemas
from tests.usd.contact_stages import FLOOR, collider
from tests.usd.meshes import block, rubber
from tests.usd.test_read_contacts import FILTER, group
from warp_artic.description.shape import ShapeKind
from warp_artic.usd.read_stage import inspect_stage

TOUCHES = "PhysicsCollisionAPI"
WRONG = ("elastic-contact", "contacts", "attribute-not-used", "contact-offset")


def soft(content: str = "", *applied: str, name: str = "block") -> str:
    """A block of rubber that is a collider."""
    listed = ", ".join(f'"{one}"' for one in ("MaterialBindingAPI", TOUCHES, *applied))
    return block(content, name=name).replace('"MaterialBindingAPI"', listed)


def read(text: str, header: str = SI):
    """The bodies of a stage by path, and what is told of contacts: rule, path and text."""
    found = inspect_stage(open_text(f'def Xform "World" {{\n{rubber()}{text}}}\n', header))
    told = [(one.rule, one.path, one.message) for one in found.diagnostics if one.rule in WRONG]
    return {one.name: one for one in found.scene.elastic_bodies}, told


def met(text: str, body: str = "/World/block") -> list[tuple[str, ShapeKind]]:
    """The obstacles of a body of a stage that tells nothing."""
    bodies, told = read(text)
    assert told == []
    return [(one.shape.path, one.shape.kind) for one in bodies[body].obstacles]


def test_what_stays_is_an_obstacle():
    """Of the four kinds, also on bodies that are kinematic and stay; a mesh without the schema meets nothing."""
    text = "".join(collider(kind, kind.lower()) for kind in ("Sphere", "Capsule", "Cube")) + FLOOR
    held = body("held", collider("Sphere", "ball") + "bool physics:kinematicEnabled = 1")
    assert sorted(met(soft() + text + held)) == [
        ("/World/capsule", ShapeKind.CAPSULE),
        ("/World/cube", ShapeKind.BOX),
        ("/World/floor", ShapeKind.PLANE),
        ("/World/held/ball", ShapeKind.SPHERE),
        ("/World/sphere", ShapeKind.SPHERE),
    ]
    assert met(block() + text) == []
    assert met(soft("bool physics:collisionEnabled = 0") + text) == []
    assert met(soft() + collider("Cube", "off", "bool physics:collisionEnabled = 0")) == []


def test_filters_keep_apart():
    """Filtered pairs of either side, and groups."""
    ball = collider("Sphere", "ball")
    assert met(soft("rel physics:filteredPairs = </World/ball>", *FILTER) + ball + FLOOR) == [
        ("/World/floor", ShapeKind.PLANE)
    ]
    other = collider("Sphere", "ball", "rel physics:filteredPairs = </World/block>", FILTER)
    assert met(soft() + other) == []
    groups = group("one", "</World/block>", "rel physics:filteredGroups = </World/two>") + group("two", "</World/ball>")
    assert met(soft() + ball + groups + FLOOR) == [("/World/floor", ShapeKind.PLANE)]


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (collider("Cylinder", "can") + FLOOR, "1 collider: /World/can;"),
        (body("rod", collider("Sphere", "ball")), "1 collider: /World/rod/ball;"),
        (soft(name="other"), "1 collider: /World/other;"),
    ],
)
def test_what_is_passed_is_told(text, passed):
    """By the path of the body: what is of another kind, moves, or is elastic itself."""
    bodies, told = read(soft() + text)
    assert told[0][:2] == ("elastic-contact", "/World/block") and f"passes through {passed}" in told[0][2]
    assert len(told) == len([one for one in bodies if "/World/" in one])
    assert len(bodies["/World/block"].obstacles) == text.count("Plane")


def test_what_is_animated_is_an_obstacle_that_moves():
    """It is where it is at the start, and moves as its body does."""
    moves = "double3 xformOp:translate.timeSamples = {0: (0, 0, 0), 24: (1, 0, 0)}"
    held = body("held", f"{moves}\nbool physics:kinematicEnabled = 1\n" + collider("Sphere", "ball"), at=(0, 0, 0))
    bodies, told = read(soft() + held + FLOOR)
    assert told == []
    ball, floor = sorted(bodies["/World/block"].obstacles, key=lambda one: one.shape.path, reverse=True)
    assert floor.motion is None and ball.shape.path == "/World/held/ball"
    np.testing.assert_allclose(ball.motion.at(0.5).position, (0.5, 0.0, 0.0), atol=1e-6)


def test_bodies_on_links_are_told():
    """What links carry, or guide a tendon of, touches nothing yet."""
    arm = body("base") + joint("held", "Fixed", "", "/World/base")
    carried = "int[] warpArtic:elastic:linkNodes = [0]\nrel warpArtic:elastic:links = </World/base>"
    bodies, told = read(arm + soft(carried) + FLOOR)
    assert bodies["/World/block"].obstacles == ()
    assert [one[:2] for one in told] == [("elastic-contact", "/World/block")] and "links" in told[0][2]


def test_offsets_are_added():
    """In units of the stage; those that are not finite are errors."""
    shifted = "float physxCollision:restOffset = 2\nfloat physxCollision:contactOffset = 3"
    ground = collider("Plane", "floor", shifted, ("PhysxCollisionAPI",))
    bodies, told = read(soft("float physxCollision:restOffset = 1", "PhysxCollisionAPI") + ground, SMALL_UNITS)
    (floor,) = bodies["/World/block"].obstacles
    assert told == [] and floor.rest_distance == pytest.approx(0.03)


def test_friction_is_that_of_both_materials():
    """Of the materials that are bound for physics, combined as those of rigid bodies; 0.5 without, which is noted."""
    stuff = "float physics:staticFriction = {0}\nfloat physics:dynamicFriction = {0}"
    ice = f'def Material "ice" {schemas("PhysicsMaterialAPI")} {{\n{stuff.format(0.1)}\n}}\n'
    ground = collider("Plane", "floor", "rel material:binding:physics = </World/ice>", ("MaterialBindingAPI",))
    young = "double warpArtic:elasticMaterial:youngModulus = 1000\n"
    both = rubber(young + stuff.format(0.7), "PhysicsMaterialAPI")
    for material, own in ((both, 0.7), (rubber(), 0.5)):
        found = inspect_stage(open_text(f'def Xform "World" {{\n{material}{soft()}{ground}{ice}}}\n'))
        (body,) = found.scene.elastic_bodies
        (floor,) = body.obstacles
        assert (floor.static_friction, floor.dynamic_friction) == pytest.approx((0.5 * (own + 0.1),) * 2)
        noted = [one.message for one in found.diagnostics if one.rule == "contact-material"]
        assert len(noted) == (own == 0.5) and all("for /World/block" in text for text in noted)
        assert not [one for one in found.diagnostics if one.rule in WRONG]
    bouncy = ice.replace("0.1", "0.1\nfloat physics:restitution = 0.5", 1)
    found = inspect_stage(open_text(f'def Xform "World" {{\n{both}{soft()}{ground}{bouncy}}}\n'))
    (told,) = [one for one in found.diagnostics if one.rule in WRONG]
    assert told.path == "/World/block" and "restitution" in told.message
