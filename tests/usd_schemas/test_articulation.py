"""WarpArticArticulationAPI: the largest velocities of a floating articulation as a whole."""

import json
import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, open_text, pendulum, schemas, warnings_of
from tests.usd_schemas.source import DEGREE, attributes_of, line
from warp_artic import author
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticArticulationAPI")
ROWS = {
    "maxLinearVelocity": ("max_linear_velocity", 1, 0.01),
    "maxAngularVelocity": ("max_angular_velocity", DEGREE, DEGREE),
}
"""Our field, and what a 1 is in metres and kilograms, and in centimetres and grams."""


def floating(lines: str = "", header: str = SI, root=("PhysicsArticulationRootAPI", "WarpArticArticulationAPI")):
    """An articulation /World of two bodies that nothing holds."""
    inside = body("base") + body("rod") + joint("hinge", "Revolute", "/World/base", "/World/rod")
    return open_text(f'def Xform "World" {schemas(*root)} {{\n{lines}\n{inside}}}\n', header)


def tree_of(stage):
    (tree,) = read_stage(stage).articulations
    return tree


def test_every_attribute_has_a_row():
    """There are no others."""
    assert {f"warpArtic:articulation:{name}" for name in ROWS} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage, angles in degrees, becomes one in SI units and radians."""
    field, si, small = ROWS[name]
    for header, factor in ((SI, si), (SMALL_UNITS, small)):
        stage = floating(f"double warpArtic:articulation:{name} = 3", header)
        assert getattr(tree_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", ROWS)
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    spec = ATTRIBUTES[f"warpArtic:articulation:{name}"]
    assert getattr(tree_of(floating()), ROWS[name][0]) == spec.default == math.inf
    assert tree_of(floating(line(spec, spec.name))) == tree_of(floating())


@pytest.mark.parametrize("name", ROWS)
def test_errors(name):
    """None of them is negative or a word."""
    path = f"/World.warpArtic:articulation:{name}"
    (error,) = errors_of(floating(f"double warpArtic:articulation:{name} = -1"))
    assert error.startswith(f"{path}: is -1") and error.endswith(", must not be negative")
    assert errors_of(floating(f'token warpArtic:articulation:{name} = "much"')) == [
        f"{path}: is 'much', must be a number"
    ]


@pytest.mark.parametrize("name", ROWS)
def test_a_fixed_base_is_warned_of(name):
    """It has no velocity as a whole that is its own; the value has no effect, and that is said."""
    stage = pendulum(world=f"double warpArtic:articulation:{name} = 3")
    assert getattr(tree_of(stage), ROWS[name][0]) == math.inf
    assert warnings_of(stage) == [
        f"/World.warpArtic:articulation:{name}: has no effect on /World: its base is fixed, and a velocity as a whole "
        "is that of a floating base"
    ]


def test_on_a_root_body():
    """Where no articulation root is authored it is on the root body."""
    text = body("base", "double warpArtic:articulation:maxLinearVelocity = 3", ("WarpArticArticulationAPI",))
    stage = open_text(f'def Xform "World" {{\n{text}}}\n')
    assert tree_of(stage).max_linear_velocity == 3.0
    assert not warnings_of(stage)


def test_inspect_tells_value_and_source():
    """As text and as JSON; beside a link that has a limit of its own."""
    stage = floating("double warpArtic:articulation:maxAngularVelocity = 90")
    shown = content(inspect_stage(stage))
    (tree,) = json.loads(json.dumps(shown))["articulations"]
    assert (tree["max_linear_velocity"], tree["max_angular_velocity"]) == (None, pytest.approx(math.pi / 2))
    text = "\n".join(block for block in blocks(shown) if isinstance(block, str))
    assert (
        "max angular velocity as a whole 1.5708 rad/s  [warpArtic:articulation:maxAngularVelocity, warpArtic]" in text
    )


def test_authoring():
    """What is authored is read; a prim that is no articulation, and a bad number, are refused before any edit."""
    stage = floating(root=("PhysicsArticulationRootAPI",))
    prim = author.articulation(stage, "/World", max_linear_velocity=4, max_angular_velocity=180)
    assert "WarpArticArticulationAPI" in prim.GetAppliedSchemas()
    tree = tree_of(stage)
    assert (tree.max_linear_velocity, tree.max_angular_velocity) == pytest.approx((4.0, math.pi))
    with pytest.raises(StageError, match="/World/hinge: is no articulation root"):
        author.articulation(stage, "/World/hinge", max_linear_velocity=1)
    with pytest.raises(SettingsError, match="maxLinearVelocity"):
        author.articulation(stage, "/World", max_linear_velocity=-1)
    assert tree_of(stage) == tree
