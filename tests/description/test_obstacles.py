"""What may be wrong with the obstacles of an elastic body."""

import math
from dataclasses import replace

import pytest

from tests.meshes.bodies import bar
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon
from warp_artic.description.obstacle import Obstacle
from warp_artic.description.scene import Scene
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.validate_meshes import body_findings, mesh_findings

BALL = Obstacle(shape=Shape(path="/World/ball", kind=ShapeKind.SPHERE, radius=0.1))


def told(*obstacles, **fields):
    """Errors of a bar with obstacles."""
    body = bar((1, 1, 1), (1.0, 1.0, 1.0), obstacles=obstacles, **fields)
    return [one.message for one in body_findings(body) if one.rule == "elastic-obstacle"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": replace(BALL.shape, radius=0.0)}, "radius 0 m"),
        ({"shape": Shape(path="/World/can", kind=ShapeKind.CYLINDER, radius=1.0, half_height=1.0)}, "kind cylinder"),
        ({"rest_distance": math.inf}, "rest distance inf m"),
        ({"static_friction": 0.1, "dynamic_friction": 0.2}, "static friction 0.1"),
        ({"static_friction": math.nan}, "static friction nan"),
        ({"depenetration_speed": 0.0}, "depenetration speed 0 m/s"),
    ],
)
def test_values_out_of_range_are_told(changes, words):
    """By the path of the obstacle."""
    wrong = replace(BALL, **changes)
    (text,) = told(BALL, wrong)
    assert words in text and wrong.shape.path in text


def test_bodies_on_links_have_none():
    """Neither by their nodes, nor by tendons."""
    assert told(BALL) == []
    attached = (NodeAttachment(node=0, link="/World/arm", position=(0.0, 0.0, 0.0)),)
    assert "attached to links" in told(BALL, attachments=attached)[0] and told(attachments=attached) == []
    body = bar((1, 1, 1), (1.0, 1.0, 1.0), obstacles=(BALL,))
    points = BodyPoint(nodes=(0,)), LinkPoint(link="/World/arm", position=(2.0, 0.0, 0.0))
    tendon = MeshTendon(name="/World/tendon", body=body.name, waypoints=points, stiffness=1.0)
    found = mesh_findings(Scene(articulations=(), elastic_bodies=(body,), mesh_tendons=(tendon,)))
    assert [one.path for one in found if one.rule == "elastic-obstacle"] == [body.name]
