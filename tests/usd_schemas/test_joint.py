"""WarpArticJointAPI: one axis of a joint."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, hinge_of, pendulum, warnings_of
from tests.usd_schemas.source import DEGREE, PER_DEGREE, attributes_of, line
from warp_artic.description.joint import Dof
from warp_artic.usd.read_stage import inspect_stage

ATTRIBUTES = attributes_of("WarpArticJointAPI")
ROWS = {
    "armature": ("armature", 1, 1e-3, 1, 1e-7),
    "staticFrictionEffort": ("friction.static_effort", 1, 1e-5, 1, 1e-7),
    "dynamicFrictionEffort": ("friction.dynamic_effort", 1, 1e-5, 1, 1e-7),
    "viscousFrictionCoefficient": ("friction.viscous", 1, 1e-3, PER_DEGREE, 1e-7 * PER_DEGREE),
    "loadFrictionCoefficient": ("friction.coefficient", 1, 1, 1, 1),
    "velocityLimit": ("velocity_limit", 1, 0.01, DEGREE, DEGREE),
    "limitStiffness": ("limit.stiffness", 1, 1e-3, PER_DEGREE, 1e-7 * PER_DEGREE),
    "limitDamping": ("limit.damping", 1, 1e-3, PER_DEGREE, 1e-7 * PER_DEGREE),
    "limitRestitution": ("limit.restitution", 1, 1, 1, 1),
    "limitBounceThreshold": ("limit.bounce_threshold", 1, 0.01, DEGREE, DEGREE),
    "position": ("position", 1, 0.01, DEGREE, DEGREE),
    "velocity": ("velocity", 1, 0.01, DEGREE, DEGREE),
}
"""Our field; what a 1 is on a slide, in metres and kilograms, and in centimetres and grams; and so on a hinge."""
OUTPUTS = {"effort", "mimicError"}
FALLBACKS = [name for name in ROWS if ATTRIBUTES[name].default is not None]
VALUE = 0.75
BOUNDS = "float physics:lowerLimit = -90\nfloat physics:upperLimit = 90\n"


def axis(content: str = "", kind: str = "Revolute", header: str = SI):
    instance = "angular" if kind == "Revolute" else "linear"
    content = content.replace("{}", f"warpArtic:joint:{instance}:")
    return pendulum(BOUNDS + content, kind, (f"WarpArticJointAPI:{instance}",), header)


def dof_of(stage) -> Dof:
    return hinge_of(stage).dofs[0]


def field_of(dof: Dof, name: str) -> float:
    """A field of a dof or of one of its parts."""
    part, _, field = name.rpartition(".")
    return getattr(getattr(dof, part) if part else dof, field)


def test_every_attribute_has_a_row():
    """Inputs are tested one by one below; the others are outputs."""
    assert {*ROWS, *OUTPUTS} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kind", ["Prismatic", "Revolute"])
def test_reading_and_units(name, kind):
    """A value in the units of the stage, angles in degrees, becomes one in SI units and radians."""
    field, *factors = ROWS[name]
    si, small = factors[2:] if kind == "Revolute" else factors[:2]
    for header, factor in ((SI, si), (SMALL_UNITS, small)):
        stage = axis(f"double {{}}{name} = {VALUE}", kind, header)
        assert field_of(dof_of(stage), field) == pytest.approx(VALUE * factor, rel=1e-12)
        assert not [text for text in warnings_of(stage) if "not used" in text]


@pytest.mark.parametrize("name", FALLBACKS)
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    assert dof_of(axis(line(ATTRIBUTES[name], f"{{}}{name}"))) == dof_of(axis())
    field = ROWS[name][0]
    if field.startswith("friction."):
        assert dof_of(axis()).friction is None and ATTRIBUTES[name].default == 0.0
    else:
        assert field_of(dof_of(axis()), field) == ATTRIBUTES[name].default


def test_start_without_values():
    """A joint starts as its bodies do: here the rod stands 0.3 m along the slide, and moves."""
    rod = "vector3f physics:velocity = (0.2, 0, 0)\ndouble3 xformOp:translate:more = (0.3, 0, 0)"
    rod += '\nuniform token[] xformOpOrder = ["xformOp:translate:more"]'
    stage = pendulum("", "Prismatic", ("WarpArticJointAPI:linear",), rod=rod)
    assert (dof_of(stage).position, dof_of(stage).velocity) == pytest.approx((0.3, 0.2))
    assert ATTRIBUTES["position"].default is ATTRIBUTES["velocity"].default is None


def test_state_at_the_start_time():
    """Position and velocity are what a run writes, too: of time samples that of the start is read."""
    stage = axis("double {}position.timeSamples = {\n10: 20,\n20: 50\n}", header=SI + "\nstartTimeCode = 10")
    assert dof_of(stage).position == pytest.approx(math.radians(20))


def test_axes_of_a_spherical_joint():
    """The instance name is the axis."""
    content = "double warpArtic:joint:rotY:armature = 0.5"
    dofs = hinge_of(pendulum(content, "Spherical", ("WarpArticJointAPI:rotY",))).dofs
    assert [dof.armature for dof in dofs] == [0.0, 0.5, 0.0]


CONFLICTS = {
    "armature": ("newton:armature", "physxJointAxis:angular:armature", "physxJoint:armature", "mjc:armature"),
    "staticFrictionEffort": ("newton:friction", "physxJointAxis:angular:staticFrictionEffort", "mjc:frictionloss"),
    "dynamicFrictionEffort": ("newton:friction", "physxJointAxis:angular:dynamicFrictionEffort", "mjc:frictionloss"),
    "viscousFrictionCoefficient": ("newton:damping", "physxJointAxis:angular:viscousFrictionCoefficient"),
    "loadFrictionCoefficient": ("physxJoint:jointFriction",),
    "velocityLimit": ("newton:velocityLimit", "physxJoint:maxJointVelocity"),
    "limitStiffness": ("newton:limitStiffness",),
    "limitDamping": ("newton:limitDamping",),
    "position": ("state:angular:physics:position",),
    "velocity": ("state:angular:physics:velocity",),
}
"""Attributes of ours, and those of others that say the same."""


@pytest.mark.parametrize("name, other", [(name, other) for name, others in CONFLICTS.items() for other in others])
def test_ours_comes_before_the_others(name, other):
    """A conflict is reported with both values; equal values are not."""
    stage = axis(f"double {{}}{name} = 2\nfloat {other} = 3")
    assert field_of(dof_of(stage), ROWS[name][0]) == pytest.approx(2 * ROWS[name][3])
    (text,) = [
        text for text in warnings_of(stage) if "which is used" in text and f" warpArtic:joint:angular:{name}" in text
    ]
    assert text.startswith(f"/World/hinge.{other}: gives ")
    equal = axis(f"double {{}}{name} = 3\nfloat {other} = 3")
    assert not [text for text in warnings_of(equal) if f" warpArtic:joint:angular:{name}" in text]


@pytest.mark.parametrize(
    "name, other", [("limitStiffness", "stiffness"), ("limitDamping", "damping"), ("limitRestitution", "restitution"),
                    ("limitBounceThreshold", "bounceThreshold")]
)  # fmt: skip
def test_ours_comes_before_the_limits_of_physx(name, other):
    """They count where PhysxLimitAPI is applied."""
    content = f"{BOUNDS}double warpArtic:joint:angular:{name} = 0.2\nfloat physxLimit:angular:{other} = 0.3"
    stage = pendulum(content, applied=("WarpArticJointAPI:angular", "PhysxLimitAPI:angular"))
    assert field_of(dof_of(stage), ROWS[name][0]) == pytest.approx(0.2 * ROWS[name][3])
    (text,) = [text for text in warnings_of(stage) if "which is used" in text]
    assert text.startswith(f"/World/hinge.physxLimit:angular:{other}: gives ")


def test_readings_tell_where_values_come_from():
    """Attribute, authored value and unit, SI value and unit."""
    readings = inspect_stage(axis("double {}limitStiffness = 2")).readings["/World/hinge"]
    (found,) = [reading for reading in readings if reading.field == "limit_stiffness"]
    assert found.attribute == "/World/hinge.warpArtic:joint:angular:limitStiffness"
    assert (found.authored_unit, found.value, found.unit) == ("torque/deg", pytest.approx(2 * PER_DEGREE), "N m/rad")


def test_an_axis_that_is_not_there():
    """One warning tells which instance names the joint has."""
    stage = pendulum("double warpArtic:joint:rotY:armature = 5", applied=("WarpArticJointAPI:rotY",))
    assert warnings_of(stage) == [
        "/World/hinge: WarpArticJointAPI:rotY has no effect: no such axis of the joint is free (instances allowed: "
        "angular)"
    ]


@pytest.mark.parametrize("name", [name for name in ROWS if name not in ("position", "velocity")])
def test_negative_values_are_errors(name):
    """Only positions and velocities can be negative."""
    (error,) = errors_of(axis(f"double {{}}{name} = -1"))
    assert error.startswith(f"/World/hinge.warpArtic:joint:angular:{name}: is -1")


@pytest.mark.parametrize("name", ROWS)
def test_words_are_errors(name):
    """A number is needed."""
    (error,) = errors_of(axis(f'token {{}}{name} = "some"'))
    assert error == f"/World/hinge.warpArtic:joint:angular:{name}: is 'some', must be a number"


def test_restitution_above_one():
    """An impact gives back at most all of its speed."""
    (error,) = errors_of(axis("double {}limitRestitution = 1.5"))
    assert error == "/World/hinge.warpArtic:joint:angular:limitRestitution: is 1.5, must be from 0 to 1"
