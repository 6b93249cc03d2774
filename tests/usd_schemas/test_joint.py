"""WarpArticJointAPI: one axis of a joint."""

import math

import numpy as np
import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, hinge_of, joint, pendulum, warnings_of
from tests.usd_schemas.source import DEGREE, PER_DEGREE, attributes_of, line
from warp_artic import Simulation, SolverSettings, author
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.description.joint import Dof
from warp_artic.usd.read_stage import inspect_stage, read_stage

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
FLAGS = {"countTurns"}
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
    assert {*ROWS, *OUTPUTS, *FLAGS} == set(ATTRIBUTES)


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


def test_turns_are_counted_on_request():
    """Not without it; to author the fallback changes nothing."""
    name = "warpArtic:joint:angular:countTurns"
    applied = ("WarpArticJointAPI:angular",)
    wanted, plain, told = (pendulum(text, applied=applied) for text in (f"bool {name} = 1", "", f"bool {name} = 0"))
    assert ATTRIBUTES["countTurns"].default is False
    assert [dof_of(stage).wraps for stage in (wanted, plain, told)] == [False, True, True]
    assert dof_of(plain) == dof_of(told)
    assert not warnings_of(wanted)
    assert errors_of(pendulum(f'token {name} = "yes"', applied=applied)) == [
        f"/World/hinge.{name}: is 'yes', must be true or false"
    ]


def test_turns_of_what_has_none():
    """A slide, and an axis of several rotations, are told so."""
    stage = pendulum("bool warpArtic:joint:linear:countTurns = 1", "Prismatic", ("WarpArticJointAPI:linear",))
    assert warnings_of(stage) == [
        "/World/hinge: transX counts no turns: it slides; countTurns is for the one rotation of a joint"
    ]
    stage = pendulum("bool warpArtic:joint:rotY:countTurns = 1", "Spherical", ("WarpArticJointAPI:rotY",))
    assert warnings_of(stage) == [
        "/World/hinge: rotY counts no turns: it is one of 3 rotations; countTurns is for the one rotation of a joint"
    ]


def test_inspect_shows_what_counts_turns():
    """As JSON by dof, as text beside the joint."""
    stage = pendulum("bool warpArtic:joint:angular:countTurns = 1", applied=("WarpArticJointAPI:angular",))
    shown = content(inspect_stage(stage))
    dofs = {dof["name"]: dof["counts_turns"] for joint in shown["articulations"][0]["joints"] for dof in joint["dofs"]}
    assert dofs == {"/World/hinge": True}
    tables = [block for block in blocks(shown) if not isinstance(block, str)]
    assert any("revolute, counts turns" in cell for table in tables for row in table.rows for cell in row)


def wheel(authored: bool, more: str = ""):
    """A wheel that a motor turns at 10 turns a second, authored from Python, at the start."""
    drive = "float drive:angular:physics:targetVelocity = 3600\nfloat drive:angular:physics:damping = 1000"
    stage = pendulum(drive, applied=("PhysicsDriveAPI:angular",), rod="vector3f physics:angularVelocity = (3600, 0, 0)",
                     more=more)  # fmt: skip
    author.joint(stage, "/World/hinge", count_turns=True if authored else None)
    return stage


def test_a_wheel_counts_a_hundred_turns():
    """After ten seconds at ten turns a second its position is 200 pi; without the request it is within two turns."""
    settings = SolverSettings(dt=1 / 240, precision="float64")
    ends = []
    for authored in (True, False):
        simulation = Simulation(read_stage(wheel(authored)), settings=settings)
        simulation.step(2400)
        ends.append(simulation.state.joint_position.numpy()[-1, 0])
    assert ends[0] == pytest.approx(200 * math.pi, rel=1e-6)
    assert abs(ends[1]) < 2 * math.pi and math.sin(ends[1] - ends[0]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("authored", [True, False])
def test_what_depends_on_a_wheel_does_not_jump(authored):
    """A fixed tendon and a mimic joint follow a wheel over many turns, whether or not it is asked to count them."""
    more = body("second") + joint("other", "Revolute", "/World/base", "/World/second")
    stage = wheel(authored, more)
    author.mimic(stage, "/World/other", ["/World/hinge"], gears=[0.5])
    author.fixed_tendon(stage, "/World/t", ["/World/hinge", "/World/other"], [0.01, 0.02], stiffness=0, damping=0)
    simulation = Simulation(read_stage(stage), settings=SolverSettings(dt=1 / 240, precision="float64"))
    recording = simulation.record(960)
    places = [recording.joint_names.index(f"/World/{name}") for name in ("hinge", "other")]
    q = recording.joint_position[:, 0, places]
    assert q[-1, 0] > 60 * math.pi
    np.testing.assert_allclose(q[2:, 1], 0.5 * q[2:, 0], rtol=1e-6, atol=1e-6)
    steps = np.diff(recording.tendon_length[:, 0, 0])
    assert steps.min() > 0.0 and steps.max() < 3.0 * np.median(steps)


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
