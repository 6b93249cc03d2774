"""What happens beyond limits: springs, dampers and bounces, each with its unit."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, hinge_of, pendulum, warnings_of
from warp_artic.description.limit import Limit
from warp_artic.usd.read_stage import inspect_stage

DEGREE = math.pi / 180
BOUNDS = "float physics:lowerLimit = -10\nfloat physics:upperLimit = 10\n"
ANGLES = "float physics:coneAngle0Limit = 40\nfloat physics:coneAngle1Limit = 30\n"
VALUES = """
float physxLimit:{0}:stiffness = 300
float physxLimit:{0}:damping = 20
float physxLimit:{0}:restitution = 0.5
float physxLimit:{0}:bounceThreshold = 90
"""


def limit_of(content: str, instance: str = "angular", kind: str = "Revolute", header: str = SI):
    """The limit of the hinge with PhysxLimitAPI under an instance name."""
    return hinge_of(pendulum(BOUNDS + content, kind, (f"PhysxLimitAPI:{instance}",), header)).dofs[0].limit


def test_angular_values_are_per_degree():
    """Stiffness and damping are per degree, the threshold in degrees a second; in small units too."""
    limit = limit_of(VALUES.format("angular"))
    assert (limit.stiffness, limit.damping) == pytest.approx((300 / DEGREE, 20 / DEGREE))
    assert (limit.restitution, limit.bounce_threshold) == pytest.approx((0.5, math.pi / 2))
    small = limit_of(VALUES.format("angular"), header=SMALL_UNITS)
    assert (small.stiffness, small.damping) == pytest.approx((300e-7 / DEGREE, 20e-7 / DEGREE))
    assert (small.restitution, small.bounce_threshold) == pytest.approx((0.5, math.pi / 2))


def test_linear_values():
    """On a translation there is no degree."""
    limit = limit_of(VALUES.format("linear"), "linear", "Prismatic", SMALL_UNITS)
    assert (limit.stiffness, limit.damping) == pytest.approx((0.3, 0.02))
    assert (limit.restitution, limit.bounce_threshold) == pytest.approx((0.5, 0.9))


def test_limits_are_hard_unless_told_otherwise():
    """Without the schema the values of PhysX have no effect, and are reported."""
    assert (limit_of("").stiffness, limit_of("").damping, limit_of("").restitution) == (0.0, 0.0, 0.0)
    stage = pendulum(BOUNDS + "float physxLimit:angular:stiffness = 3")
    assert hinge_of(stage).dofs[0].limit.stiffness == 0.0
    text = "is not used: it needs the schema PhysxLimitAPI:angular"
    assert warnings_of(stage) == [f"/World/hinge.physxLimit:angular:stiffness: {text}"]


def test_axes_of_a_spherical_joint():
    """On a joint with several dofs the instance is the axis."""
    content = "float physics:coneAngle0Limit = 0\nfloat physics:coneAngle1Limit = 30\n" + VALUES.format("rotZ")
    limits = [dof.limit for dof in hinge_of(pendulum(content, "Spherical", ("PhysxLimitAPI:rotZ",))).dofs]
    assert limits[0] is None
    assert limits[1].stiffness == pytest.approx(300 / DEGREE)


def test_newton_comes_first():
    """newton:limitStiffness and limitDamping are per degree; minus infinity is unset, infinity is hard."""
    content = "float newton:limitStiffness = 3\nfloat newton:limitDamping = 0.2\n"
    limit = limit_of(content)
    assert (limit.stiffness, limit.damping) == pytest.approx((3 / DEGREE, 0.2 / DEGREE))
    both = pendulum(BOUNDS + content + VALUES.format("angular"), applied=("PhysxLimitAPI:angular",))
    assert hinge_of(both).dofs[0].limit.stiffness == pytest.approx(3 / DEGREE)
    assert any("but newton:limitStiffness gives" in text for text in warnings_of(both))
    assert limit_of("float newton:limitStiffness = -inf\n" + VALUES.format("angular")).stiffness > 0
    assert limit_of("float newton:limitStiffness = inf").stiffness == 0.0


@pytest.mark.parametrize("stiffness", ["", "float newton:limitStiffness = -inf", "float newton:limitStiffness = inf"])
def test_newton_has_no_damper_without_a_spring(stiffness):
    """A hard limit has no spring to damp (NewtonJointAPI), so it stays hard, and the damping is told."""
    content = f"{stiffness}\nfloat newton:limitDamping = 0.5"
    stage = pendulum(BOUNDS + content)
    assert hinge_of(stage).dofs[0].limit == Limit(lower=-10 * DEGREE, upper=10 * DEGREE)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/hinge.newton:limitDamping: is 0.5 torque*s/deg and has no effect: the limit is")
    assert warnings_of(pendulum(BOUNDS + f"{stiffness}\nfloat newton:limitDamping = 0")) == []
    cone = pendulum(ANGLES + content, "Spherical")
    assert not hinge_of(cone).cone_limit.is_soft
    assert [text.partition(":")[0] for text in warnings_of(cone)] == ["/World/hinge.newton"]


def test_a_damper_alone_is_what_physx_says():
    """PhysX has soft limits where the stiffness or the damping is above zero; a stiffness of Newton makes them hard."""
    content = "float physxLimit:angular:damping = 20\n"
    assert limit_of(content).damping == pytest.approx(20 / DEGREE)
    assert limit_of("float physxLimit:angular:stiffness = 300\nfloat newton:limitDamping = 0.5").damping == (
        pytest.approx(0.5 / DEGREE)
    )
    assert not limit_of("float newton:limitStiffness = inf\n" + content).is_soft
    assert not limit_of("float physxLimit:angular:stiffness = 0\nfloat newton:limitDamping = 0.5").is_soft


def test_newton_without_stiffness_leaves_an_axis_free():
    """Effort = stiffness * penetration: nothing holds where it is zero, unless there is a damper; that is told."""
    stage = pendulum(BOUNDS + "float newton:limitStiffness = 0")
    assert hinge_of(stage).dofs[0].limit is None
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/hinge.newton:limitStiffness: is 0 torque/deg, without damping: no force acts")
    damped = limit_of("float newton:limitStiffness = 0\nfloat newton:limitDamping = 0.5")
    assert (damped.stiffness, damped.damping) == pytest.approx((0.0, 0.5 / DEGREE))
    assert limit_of("float newton:limitStiffness = 0\nfloat newton:limitDamping = inf") is None
    assert limit_of("float physxLimit:angular:stiffness = 0") == Limit(lower=-10 * DEGREE, upper=10 * DEGREE)
    assert hinge_of(pendulum(ANGLES + "float newton:limitStiffness = 0", "Spherical")).cone_limit is None
    assert warnings_of(pendulum("float newton:limitStiffness = 0")) == []


def test_without_bounds_there_is_nothing_to_soften():
    """A free axis stays free."""
    assert hinge_of(pendulum("float newton:limitStiffness = 3")).dofs[0].limit is None


@pytest.mark.parametrize(
    "line, error",
    [
        ("stiffness = -1", "stiffness: is -1 torque/deg, must not be negative"),
        ("damping = -1", "damping: is -1 torque*s/deg, must not be negative"),
        ("restitution = -1", "restitution: is -1, must be from 0 to 1"),
        ("restitution = 2", "restitution: is 2, must be from 0 to 1"),
        ("bounceThreshold = -1", "bounceThreshold: is -1 deg/s, must not be negative"),
    ],
)
def test_errors(line, error):
    """Each value has its range."""
    stage = pendulum(BOUNDS + f"float physxLimit:angular:{line}", applied=("PhysxLimitAPI:angular",))
    assert errors_of(stage) == [f"/World/hinge.physxLimit:angular:{error}"]


def test_readings_are_told_from_those_of_the_drive():
    """The fields of a limit are listed under names of their own."""
    stage = pendulum(BOUNDS + VALUES.format("angular"), applied=("PhysxLimitAPI:angular",))
    fields = {reading.field for reading in inspect_stage(stage).readings["/World/hinge"]}
    own = {"limit_stiffness", "limit_damping", "limit_restitution", "limit_bounce_threshold"}
    assert fields == own | {"lower", "upper"}


SOFT = "float physxLimit:angular:stiffness = 300\nfloat physxLimit:angular:damping = 20\n"
BOUNCING = "float physxLimit:angular:restitution = 0.5\nfloat physxLimit:angular:bounceThreshold = 90\n"


@pytest.mark.parametrize("content", [SOFT, BOUNCING, "float newton:limitStiffness = 3"])
def test_soft_and_bouncing_limits_are_simulated(content):
    """Neither is reported as not simulated."""
    assert not warnings_of(pendulum(BOUNDS + content, applied=("PhysxLimitAPI:angular",)))


def test_limits_of_a_translation_beside_others_can_be_soft():
    """Also that of the only rotation, and those of several rotations."""
    axes = ("transX", "transY", "rotZ")
    bounds = "".join(f"float limit:{axis}:physics:low = -0.5\nfloat limit:{axis}:physics:high = 0.5\n" for axis in axes)
    content = bounds + "".join(f"float physxLimit:{axis}:stiffness = 3\n" for axis in axes)
    locked = ("transZ", "rotX", "rotY")
    content += "".join(f"float limit:{axis}:physics:{side}\n" for axis in locked for side in ("low = 1", "high = -1"))
    applied = (*(f"PhysicsLimitAPI:{axis}" for axis in (*axes, *locked)), *(f"PhysxLimitAPI:{axis}" for axis in axes))
    stage = pendulum(content, "", applied)
    assert [dof.limit.stiffness > 0.0 for dof in hinge_of(stage).dofs] == [True] * 3
    assert warnings_of(stage) == []
    stage.GetPrimAtPath("/World/hinge").GetAttribute("limit:rotY:physics:low").Set(-1.0)
    stage.GetPrimAtPath("/World/hinge").GetAttribute("limit:rotY:physics:high").Set(1.0)
    assert [dof.limit.stiffness > 0.0 for dof in hinge_of(stage).dofs] == [True, True, False, True]
    assert warnings_of(stage) == []


def test_what_has_no_effect_is_reported():
    """The restitution of a soft limit, also of a universal joint."""
    (warning,) = warnings_of(pendulum(BOUNDS + SOFT + BOUNCING, applied=("PhysxLimitAPI:angular",)))
    assert warning.startswith("/World/hinge: the restitution of its limit has no effect")
    content = "float physics:coneAngle0Limit = 0\nfloat physics:coneAngle1Limit = 30\n" + VALUES.format("rotZ")
    (warning,) = warnings_of(pendulum(content, "Spherical", ("PhysxLimitAPI:rotZ",)))
    assert warning.startswith("/World/hinge:rotZ: the restitution of its limit has no effect")


@pytest.mark.parametrize(
    "content, applied",
    [
        ("float physxLimit:cone:stiffness = 300\nfloat physxLimit:cone:damping = 20", "PhysxLimitAPI:cone"),
        ("float newton:limitStiffness = 300\nfloat newton:limitDamping = 20", "NewtonJointAPI"),
        (
            "double warpArtic:joint:cone:limitStiffness = 300\ndouble warpArtic:joint:cone:limitDamping = 20",
            "WarpArticJointAPI:cone",
        ),
    ],
)
def test_a_cone_can_be_soft(content, applied):
    """In the schemas of PhysX and Newton and in ours; all values are used, and are listed with both swings."""
    stage = pendulum(ANGLES + content, "Spherical", (applied,))
    cone = hinge_of(stage).cone_limit
    assert (cone.stiffness, cone.damping) == pytest.approx((300 / DEGREE, 20 / DEGREE))
    assert warnings_of(stage) == []
    readings = inspect_stage(stage).readings
    for axis in ("rotY", "rotZ"):
        fields = [reading.field for reading in readings[f"/World/hinge:{axis}"]]
        assert sorted(fields) == ["cone_angle", "limit_damping", "limit_stiffness"]


def test_a_cone_of_one_angle_is_the_limit_of_its_swing():
    """What is said of the cone holds for it."""
    content = "float physics:coneAngle0Limit = 0\nfloat physics:coneAngle1Limit = 30\n"
    content += "float physxLimit:cone:stiffness = 300"
    stage = pendulum(content, "Spherical", ("PhysxLimitAPI:cone",))
    assert [dof.limit and dof.limit.stiffness for dof in hinge_of(stage).dofs] == [None, pytest.approx(300 / DEGREE)]
    assert warnings_of(stage) == []


def test_what_a_cone_has_without_effect_is_reported():
    """Its restitution, and its spring where no angle bounds it."""
    stage = pendulum(ANGLES + "float physxLimit:cone:restitution = 0.5", "Spherical", ("PhysxLimitAPI:cone",))
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/hinge: restitution of the limits of a ball or zero-twist joint")
    stage = pendulum("float physxLimit:cone:stiffness = 5", "Spherical", ("PhysxLimitAPI:cone",))
    assert any("physxLimit:cone:stiffness" in text for text in warnings_of(stage))
    stage = pendulum(ANGLES + "float physxLimit:cone:stiffness = -5", "Spherical", ("PhysxLimitAPI:cone",))
    assert errors_of(stage) == ["/World/hinge.physxLimit:cone:stiffness: is -5 torque/deg, must not be negative"]


def test_hard_bounds_are_the_default():
    """A described limit is hard."""
    assert (Limit().stiffness, Limit().damping, Limit().restitution, Limit().bounce_threshold) == (0, 0, 0, 0)
