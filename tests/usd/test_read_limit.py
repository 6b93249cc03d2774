"""Limits and free axes of every kind of joint."""

import math

import pytest

from tests.usd.authoring import errors_of, hinge_of, pendulum, warnings_of

DEGREE = math.pi / 180


@pytest.mark.parametrize("kind, factor", [("Revolute", DEGREE), ("Prismatic", 1.0)])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_one_sided_limit_is_a_limit(kind, factor, side):
    """A limit on one side only is a limit, although the parser of usd-core drops it on a revolute joint."""
    (dof,) = hinge_of(pendulum(f"float physics:{side}Limit = {-10 if side == 'lower' else 10}", kind)).dofs
    expected = (-10 * factor, math.inf) if side == "lower" else (-math.inf, 10 * factor)
    assert (dof.limit.lower, dof.limit.upper) == pytest.approx(expected)


def test_no_limit():
    """Infinite bounds are none."""
    content = "float physics:lowerLimit = -inf\nfloat physics:upperLimit = 3.4e38"
    assert hinge_of(pendulum(content)).dofs[0].limit is None


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_inverted_limit_is_an_error(kind):
    """The error names the joint and both limits."""
    (error,) = errors_of(pendulum("float physics:lowerLimit = 10\nfloat physics:upperLimit = -10", kind))
    assert error == (
        "/World/hinge: its limits are inverted: physics:lowerLimit = 10.0 is above physics:upperLimit = -10.0, "
        "must not be"
    )


def test_axis_defaults_to_x():
    """The schema says X where no axis is authored."""
    assert hinge_of(pendulum()).dofs[0].axis.value == "rotX"
    assert hinge_of(pendulum('token physics:axis = "Z"', "Prismatic")).dofs[0].axis.value == "transZ"
    (error,) = errors_of(pendulum('token physics:axis = "Q"'))
    assert error == "/World/hinge.physics:axis: is 'Q', must be one of X, Y, Z"


def test_spherical_joint_is_free_without_cone_angles():
    """A spherical joint has three dofs, named by axis."""
    hinge = hinge_of(pendulum(kind="Spherical"))
    assert [dof.name for dof in hinge.dofs] == [f"/World/hinge:rot{axis}" for axis in "XYZ"]
    assert hinge.cone_limit is None


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_cone_angles(axis):
    """Cone angle 0 is about the axis after the joint axis, cone angle 1 about the one after that."""
    content = f'token physics:axis = "{axis}"\nfloat physics:coneAngle0Limit = 40\nfloat physics:coneAngle1Limit = 30'
    hinge = hinge_of(pendulum(content, "Spherical"))
    assert (hinge.cone_limit.angle_1, hinge.cone_limit.angle_2) == pytest.approx((40 * DEGREE, 30 * DEGREE))
    assert hinge.cone_axis.value == f"rot{axis}"


def test_one_cone_angle_is_a_limit():
    """One cone angle bounds, although the parser of usd-core wants both."""
    hinge = hinge_of(pendulum("float physics:coneAngle1Limit = 30", "Spherical"))
    assert (hinge.cone_limit.angle_1, hinge.cone_limit.angle_2) == pytest.approx((math.inf, 30 * DEGREE))


def test_cone_angle_of_zero_locks():
    """A cone angle of zero leaves no dof about its axis; the other angle bounds its own."""
    content = "float physics:coneAngle0Limit = 0\nfloat physics:coneAngle1Limit = 30"
    hinge = hinge_of(pendulum(content, "Spherical"))
    assert [dof.axis.value for dof in hinge.dofs] == ["rotX", "rotZ"]
    assert hinge.dofs[1].limit.upper == pytest.approx(30 * DEGREE)
    assert hinge.cone_limit is None


def generic(free: dict[str, tuple[float, float] | None], applied: tuple[str, ...] = ()):
    """A generic joint that is locked but for some axes."""
    limits, names = [], []
    for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        bounds = free.get(axis, (1, -1))
        if bounds is not None:
            names.append(f"PhysicsLimitAPI:{axis}")
            limits.append(f"float limit:{axis}:physics:low = {bounds[0]}")
            limits.append(f"float limit:{axis}:physics:high = {bounds[1]}")
    return pendulum("\n".join(limits), "", (*names, *applied))


AXES = ["transX", "transY", "transZ", "rotX", "rotY", "rotZ"]
FREE = [[], ["transY"], ["rotZ"], ["rotX", "rotZ"], AXES[3:], AXES[:2], ["transX", "rotX"], ["transX", *AXES[3:]], AXES]


@pytest.mark.parametrize("free", FREE)
def test_generic_joint_has_the_axes_it_leaves_free(free):
    """Any of the six may be free."""
    hinge = hinge_of(generic(dict.fromkeys(free)))
    assert [dof.axis.value for dof in hinge.dofs] == free
    assert all(dof.limit is None for dof in hinge.dofs)


def test_axes_without_a_limit_are_free():
    """Those of a joint without any, too."""
    assert [dof.axis.value for dof in hinge_of(pendulum("", "")).dofs] == AXES
    assert warnings_of(pendulum("", "")) == []


def test_limits_of_generic_axes():
    """Bounds of a free axis are a limit: distance or degrees; equal bounds of zero lock."""
    (dof,) = hinge_of(generic({"rotY": (-15, 30)})).dofs
    assert (dof.limit.lower, dof.limit.upper) == pytest.approx((-15 * DEGREE, 30 * DEGREE))
    (dof,) = hinge_of(generic({"transX": (-0.5, "inf")})).dofs
    assert (dof.limit.lower, dof.limit.upper) == (-0.5, math.inf)
    assert hinge_of(generic({"rotY": (0, 0)})).dofs == ()


def test_axis_locked_away_from_zero_is_an_error():
    """A lock at an offset would need another joint frame."""
    (error,) = errors_of(generic({"rotY": (10, 10)}))
    assert error.startswith("/World/hinge.limit:rotY:physics:low: locks rotY at")


def test_limit_without_its_schema_is_no_limit():
    """A limit whose schema is not applied leaves the axis free, and is reported."""
    content = "float limit:rotX:physics:low = 1\nfloat limit:rotX:physics:high = -1"
    locks = tuple(f"PhysicsLimitAPI:{axis}" for axis in ("transX", "transY", "transZ"))
    content += "".join(f"\nfloat limit:{n[16:]}:physics:low = 1\nfloat limit:{n[16:]}:physics:high = -1" for n in locks)
    stage = pendulum(content, "", locks)
    assert [dof.axis.value for dof in hinge_of(stage).dofs] == ["rotX", "rotY", "rotZ"]
    text = "leaves rotX free: limits are authored there, but PhysicsLimitAPI is not applied for them"
    assert warnings_of(stage) == [f"/World/hinge: {text}"]


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
@pytest.mark.parametrize("side, value", [("lower", "inf"), ("upper", "-inf")])
def test_limit_that_nothing_satisfies_is_an_error(kind, side, value):
    """Infinity on the wrong side is not a free side."""
    (error,) = errors_of(pendulum(f"float physics:{side}Limit = {value}", kind))
    assert error.startswith(f"/World/hinge.physics:{side}Limit: is {value}: no position satisfies it")
