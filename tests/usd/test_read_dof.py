"""Armature, friction and velocity limits in each dialect, and what happens where dialects differ."""

import math

import pytest

from tests.usd.authoring import SMALL_UNITS, errors_of, hinge_of, pendulum, warnings_of
from warp_artic.errors import SettingsError
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import inspect_stage

PER_DEGREE = 180 / math.pi


@pytest.mark.parametrize(
    "name", ["newton:armature", "physxJointAxis:angular:armature", "physxJoint:armature", "mjc:armature"]
)
def test_armature_in_each_dialect(name):
    """Armature has no angle in its unit."""
    assert hinge_of(pendulum(f"float {name} = 0.5")).dofs[0].armature == pytest.approx(0.5)


@pytest.mark.parametrize(
    "name", ["newton:velocityLimit", "physxJointAxis:angular:maxJointVelocity", "physxJoint:maxJointVelocity"]
)
def test_velocity_limit_in_each_dialect(name):
    """Velocity limits are in degrees a second, on every joint schema."""
    assert hinge_of(pendulum(f"float {name} = 90")).dofs[0].velocity_limit == pytest.approx(math.pi / 2)


def test_no_velocity_limit():
    """A velocity limit is infinite where it is not authored, or authored so."""
    assert hinge_of(pendulum()).dofs[0].velocity_limit == math.inf
    assert hinge_of(pendulum("float newton:velocityLimit = inf")).dofs[0].velocity_limit == math.inf


def test_newton_friction_is_static_and_dynamic():
    """newton:friction is one Coulomb effort; newton:damping is viscous, per degree."""
    friction = hinge_of(pendulum("float newton:friction = 2\nfloat newton:damping = 0.1")).dofs[0].friction
    assert (friction.static_effort, friction.dynamic_effort) == (2.0, 2.0)
    assert friction.viscous == pytest.approx(0.1 * PER_DEGREE)


def test_mujoco_damping_is_per_radian():
    """mjc:damping is per radian, unlike newton:damping."""
    assert hinge_of(pendulum("double mjc:damping = 0.1")).dofs[0].friction.viscous == pytest.approx(0.1)


def test_physx_friction():
    """PhysX has static and dynamic efforts, and a viscous coefficient per degree."""
    content = """
    float physxJointAxis:angular:staticFrictionEffort = 3
    float physxJointAxis:angular:dynamicFrictionEffort = 2
    float physxJointAxis:angular:viscousFrictionCoefficient = 0.004
    """
    friction = hinge_of(pendulum(content)).dofs[0].friction
    assert (friction.static_effort, friction.dynamic_effort) == (3.0, 2.0)
    assert friction.viscous == pytest.approx(0.004 * PER_DEGREE)


def test_no_friction():
    """Without friction, or with all of it zero, there is none."""
    assert hinge_of(pendulum()).dofs[0].friction is None
    assert hinge_of(pendulum("float newton:friction = 0")).dofs[0].friction is None


def test_axes_of_a_spherical_joint_have_their_own_values():
    """PhysX values go by axis; Newton's one value is for all axes."""
    content = "float physxJointAxis:rotY:armature = 0.5\nfloat newton:friction = 2"
    dofs = hinge_of(pendulum(content, "Spherical")).dofs
    assert [dof.armature for dof in dofs] == [0.0, 0.5, 0.0]
    assert [dof.friction.static_effort for dof in dofs] == [2.0, 2.0, 2.0]


def test_first_dialect_wins_and_the_conflict_is_reported():
    """Newton comes before PhysX by axis, that before PhysX by joint; both values are named."""
    content = "float physxJoint:armature = 1\nfloat physxJointAxis:angular:armature = 2\nfloat newton:armature = 3"
    stage = pendulum(content)
    assert hinge_of(stage).dofs[0].armature == 3.0
    warnings = [text for text in warnings_of(stage) if "armature" in text]
    assert len(warnings) == 2
    assert "gives armature 2 kg m^2, but newton:armature gives 3 kg m^2, which is used" in warnings[0] + warnings[1]


@pytest.mark.parametrize(
    "dialects, armature",
    [((), 4.0), (("physx",), 2.0), (("newton", "mjc"), 3.0), (("mjc", "warpArtic"), 5.0), (["usdphysics"], 4.0)],
)
def test_order_of_dialects(dialects, armature):
    """The named ones come first, the others after them; within PhysX the schemas by axis stay first."""
    ours = "double warpArtic:joint:angular:armature = 4\n"
    content = "float physxJoint:armature = 1\nfloat physxJointAxis:angular:armature = 2\nfloat newton:armature = 3\n"
    stage = pendulum(f"{ours}{content}double mjc:armature = 5")
    inspection = inspect_stage(stage, dialects=dialects)
    (dof,) = inspection.scene.articulations[0].joints[1].dofs
    assert dof.armature == armature
    texts = [finding.message for finding in inspection.diagnostics if "gives armature" in finding.message]
    assert len(texts) == 4 and all(f"gives {armature:g} kg m^2, which is used" in text for text in texts)


def test_dialects_that_are_not_known():
    """Their names are those of DIALECTS, each once."""
    with pytest.raises(
        SettingsError, match="'bullet' is not a schema family; these are warpArtic, newton, physx, mjc, "
    ):
        inspect_stage(pendulum(), dialects=("physx", "bullet"))
    with pytest.raises(SettingsError, match="named twice"):
        inspect_stage(pendulum(), dialects=("physx", "physx"))


def test_equal_values_in_two_dialects_are_no_conflict():
    """The same value in two dialects, each in its unit, is not reported."""
    content = f"float newton:damping = 0.1\ndouble mjc:damping = {0.1 * PER_DEGREE}"
    assert not warnings_of(pendulum(content))


def test_zero_is_an_opinion():
    """An authored zero in the first dialect stands against a value in the second."""
    content = "float newton:armature = 0\nfloat physxJoint:armature = 1"
    assert hinge_of(pendulum(content)).dofs[0].armature == 0.0


@pytest.mark.parametrize("name", ["newton:armature", "newton:friction", "newton:velocityLimit"])
def test_negative_values_are_errors(name):
    """Armature, friction and velocity limits are not negative."""
    assert all(error.startswith(f"/World/hinge.{name}: is -1") for error in errors_of(pendulum(f"float {name} = -1")))
    assert errors_of(pendulum(f"float {name} = -1"))


def test_dynamic_friction_above_static_is_reported():
    """Friction that grows when it slips is suspicious."""
    stage = pendulum("float physxJointAxis:angular:dynamicFrictionEffort = 1")
    assert any("dynamic friction effort 1 exceeds the static one 0" in text for text in warnings_of(stage))


def test_readings_tell_where_values_come_from():
    """For each value of a dof: attribute, authored value and unit, SI value and unit."""
    content = "float drive:angular:physics:stiffness = 2\nfloat newton:armature = 3"
    readings = inspect_stage(pendulum(content, applied=("PhysicsDriveAPI:angular",))).readings["/World/hinge"]
    found = {reading.field: reading for reading in readings}
    assert found["stiffness"].attribute == "/World/hinge.drive:angular:physics:stiffness"
    assert (found["stiffness"].authored, found["stiffness"].authored_unit) == (2.0, "torque/deg")
    assert (found["stiffness"].value, found["stiffness"].unit) == (pytest.approx(2 * PER_DEGREE), "N m/rad")
    assert found["armature"].attribute == "/World/hinge.newton:armature"


def test_load_proportional_friction(monkeypatch):
    """physxJoint:jointFriction has no unit; it is read, and reported until it is simulated."""
    stage = pendulum("float physxJoint:jointFriction = 0.3", header=SMALL_UNITS)
    friction = hinge_of(stage).dofs[0].friction
    assert (friction.coefficient, friction.static_effort) == (pytest.approx(0.3), 0.0)
    monkeypatch.setattr(not_simulated, "NOT_YET", ("load_friction",))
    (warning,) = warnings_of(stage)
    assert "load-proportional joint friction is not simulated yet" in warning
    monkeypatch.setattr(not_simulated, "NOT_YET", ())
    assert not warnings_of(stage)
    assert errors_of(pendulum("float physxJoint:jointFriction = -1")) == [
        "/World/hinge.physxJoint:jointFriction: is -1, must not be negative"
    ]
