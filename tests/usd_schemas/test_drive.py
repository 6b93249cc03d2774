"""WarpArticDriveAPI: an impulse limit, and the performance envelope of a motor."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, hinge_of, pendulum, warnings_of
from tests.usd_schemas.source import DEGREE, PER_DEGREE, attributes_of, line
from warp_artic.description.drive import Drive

ATTRIBUTES = attributes_of("WarpArticDriveAPI")
ROWS = {
    "maxImpulse": ("max_impulse", 1, 1e-5, 1, 1e-7),
    "maxVelocity": ("max_velocity", 1, 0.01, DEGREE, DEGREE),
    "velocityGradient": ("velocity_gradient", 1, 1e3, DEGREE, 1e7 * DEGREE),
    "velocityResistance": ("velocity_resistance", 1, 1e-3, PER_DEGREE, 1e-7 * PER_DEGREE),
}
"""Our field; what a 1 is on a slide, in metres and kilograms, and in centimetres and grams; and so on a hinge."""


def drive(content: str = "", kind: str = "Revolute", header: str = SI, *more: str):
    instance = "angular" if kind == "Revolute" else "linear"
    content = content.replace("{}", f"warpArtic:drive:{instance}:")
    return pendulum(content, kind, (f"WarpArticDriveAPI:{instance}", *more), header)


def drive_of(stage) -> Drive:
    return hinge_of(stage).dofs[0].drive


def test_every_attribute_has_a_row():
    """Each is tested below."""
    assert set(ROWS) == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kind", ["Prismatic", "Revolute"])
def test_reading_and_units(name, kind):
    """A value in the units of the stage, angles in degrees, becomes one in SI units and radians."""
    field, *factors = ROWS[name]
    si, small = factors[2:] if kind == "Revolute" else factors[:2]
    for header, factor in ((SI, si), (SMALL_UNITS, small)):
        stage = drive(f"double {{}}{name} = 3", kind, header)
        assert getattr(drive_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", ROWS)
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    assert getattr(drive_of(drive()), ROWS[name][0]) == ATTRIBUTES[name].default
    assert drive_of(drive(line(ATTRIBUTES[name], f"{{}}{name}"))) == drive_of(drive())


def test_it_is_a_drive_by_itself():
    """It brings PhysicsDriveAPI with it: gains are read without a second schema."""
    stage = drive("float drive:angular:physics:stiffness = 2\ndouble {}maxImpulse = 5")
    assert drive_of(stage).stiffness == pytest.approx(2 * PER_DEGREE)
    assert drive_of(stage).max_impulse == 5
    assert not warnings_of(stage)


def test_axes_of_a_spherical_joint():
    """The instance name is the axis."""
    content = "double warpArtic:drive:rotY:maxVelocity = 90"
    dofs = hinge_of(pendulum(content, "Spherical", ("WarpArticDriveAPI:rotY",))).dofs
    assert [dof.drive and dof.drive.max_velocity for dof in dofs] == [None, pytest.approx(math.pi / 2), None]


def test_ours_comes_before_physx():
    """Conflicts are reported with both values; what ours leaves open PhysX may say."""
    content = """
    double {}maxVelocity = 90
    float physxDrivePerformanceEnvelope:angular:maxActuatorVelocity = 180
    float physxDrivePerformanceEnvelope:angular:speedEffortGradient = 10
    """
    stage = drive(content, "Revolute", SI, "PhysxDrivePerformanceEnvelopeAPI:angular")
    assert drive_of(stage).max_velocity == pytest.approx(math.pi / 2)
    assert drive_of(stage).velocity_gradient == pytest.approx(math.radians(10))
    assert warnings_of(stage) == [
        "/World/hinge.physxDrivePerformanceEnvelope:angular:maxActuatorVelocity: gives max_velocity 3.14159 rad/s, but "
        "warpArtic:drive:angular:maxVelocity gives 1.5708 rad/s, which is used"
    ]


def test_without_a_drive_it_is_reported():
    """An attribute without a drive has no effect, and that is said."""
    stage = pendulum("double warpArtic:drive:angular:maxImpulse = 5")
    assert drive_of(stage) is None
    assert warnings_of(stage) == ["/World/hinge.warpArtic:drive:angular:maxImpulse: is not used"]


def test_an_axis_that_is_not_there():
    """One warning tells which instance names the joint has."""
    stage = pendulum("double warpArtic:drive:rotY:maxImpulse = 5", applied=("WarpArticDriveAPI:rotY",))
    assert warnings_of(stage) == [
        "/World/hinge: the drive rotY has no effect: no such axis of the joint is free (instances allowed: angular)"
    ]


@pytest.mark.parametrize("name", ROWS)
def test_errors(name):
    """None of them is negative or not a number."""
    path = f"/World/hinge.warpArtic:drive:angular:{name}"
    (error,) = errors_of(drive(f"double {{}}{name} = -1"))
    assert error.startswith(f"{path}: is -1") and error.endswith(", must not be negative")
    (error,) = errors_of(drive(f"double {{}}{name} = nan"))
    assert error.startswith(f"{path}: is nan, must be ")
