"""WarpArticLinkAPI: what a rigid body has beside UsdPhysics."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, link_of, notes_of, pendulum, warnings_of
from tests.usd_schemas.source import DEGREE, attributes_of, line
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticLinkAPI")
ROWS = {
    "linearDamping": ("linear_damping", 1, 1),
    "angularDamping": ("angular_damping", 1, 1),
    "maxLinearVelocity": ("max_linear_velocity", 1, 0.01),
    "maxAngularVelocity": ("max_angular_velocity", DEGREE, DEGREE),
    "gravityScale": ("gravity_scale", 1, 1),
}
"""Our field, and what a 1 is in metres and kilograms, and in centimetres and grams."""
OUTPUTS = {"incomingJointForce", "incomingJointTorque"}


def links(content: str, header: str = SI, *more: str):
    return pendulum(rod=content, rod_applied=("WarpArticLinkAPI", *more), header=header)


def rod_of(stage):
    return link_of(read_stage(stage), "/World/rod")


def test_every_attribute_has_a_row():
    """Inputs are tested one by one below; the others are outputs."""
    assert {f"warpArtic:link:{name}" for name in {*ROWS, *OUTPUTS}} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage, angles in degrees, becomes one in SI units and radians."""
    field, si, small = ROWS[name]
    for header, factor in ((SI, si), (SMALL_UNITS, small)):
        stage = links(f"double warpArtic:link:{name} = 3", header)
        assert getattr(rod_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", ROWS)
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    spec = ATTRIBUTES[f"warpArtic:link:{name}"]
    assert getattr(rod_of(links("")), ROWS[name][0]) == spec.default
    assert rod_of(links(line(spec, spec.name))) == rod_of(links(""))


def test_ours_comes_before_physx():
    """A conflict is reported with both values."""
    stage = links("double warpArtic:link:linearDamping = 2\nfloat physxRigidBody:linearDamping = 3")
    assert rod_of(stage).linear_damping == 2
    assert warnings_of(stage) == [
        "/World/rod.physxRigidBody:linearDamping: gives linear_damping 3 1/s, but warpArtic:link:linearDamping gives 2 "
        "1/s, which is used"
    ]


def test_our_damping_stands_against_a_fallback_of_physx():
    """PhysxRigidBodyAPI damps rotations where nothing is authored; ours is an opinion, 0 too."""
    stage = links("double warpArtic:link:angularDamping = 0", SI, "PhysxRigidBodyAPI")
    assert rod_of(stage).angular_damping == 0
    assert not [note for note in notes_of(stage) if "damping" in note]


def test_readings_tell_where_values_come_from():
    """Attribute, authored value and SI value."""
    stage = links("double warpArtic:link:maxAngularVelocity = 90")
    (reading,) = [one for one in inspect_stage(stage).readings["/World/rod"] if one.field == "max_angular_velocity"]
    assert reading.dialect == "warpArtic"
    assert (reading.authored_unit, reading.value) == ("deg/s", pytest.approx(math.pi / 2))


@pytest.mark.parametrize("name", ROWS)
def test_errors(name):
    """None of them is a word, and none but the share of gravity is negative."""
    path = f"/World/rod.warpArtic:link:{name}"
    errors = errors_of(links(f"double warpArtic:link:{name} = -1"))
    assert len(errors) == int(name != "gravityScale")
    assert all(one.startswith(f"{path}: is -1") and one.endswith(", must not be negative") for one in errors)
    assert errors_of(links(f'token warpArtic:link:{name} = "much"')) == [f"{path}: is 'much', must be a number"]


@pytest.mark.parametrize(
    ("content", "scale"),
    [
        ("bool physxRigidBody:disableGravity = 1", 0.0),
        ("bool physxRigidBody:disableGravity = 0", 1.0),
        ("float mjc:gravcomp = 0.25", 0.75),
        ("double mjc:body:gravcomp = 1.5", -0.5),
        ("double warpArtic:link:gravityScale = 0.4\nbool physxRigidBody:disableGravity = 0", 0.4),
    ],
)
def test_gravity_in_other_schema_families(content, scale):
    """PhysX switches it off, MuJoCo compensates a share of it; the name of the converter of MuJoCo is read as well."""
    stage = links(content)
    assert rod_of(stage).gravity_scale == pytest.approx(scale, rel=1e-7)
    assert len(warnings_of(stage)) == content.count("\n")
