"""Drives: force and acceleration, on every kind of joint, and those that have no effect."""

import math
from dataclasses import replace

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, hinge_of, pendulum, warnings_of
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import DriveKind
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import check_stage, read_stage


def drive(instance: str, content: str, kind: str = "Revolute", applied: tuple[str, ...] = (), more: str = ""):
    lines = "\n".join(f"{line.split()[0]} drive:{instance}:physics:{line.split(maxsplit=1)[1]}" for line in content)
    return pendulum(lines + more, kind, (f"PhysicsDriveAPI:{instance}", *applied))


def test_drive_is_there_by_its_schema_alone():
    """An applied drive without values is a force drive of zero gains and no bound."""
    found = hinge_of(drive("angular", [])).dofs[0].drive
    assert (found.kind, found.stiffness, found.max_force) == (DriveKind.FORCE, 0.0, math.inf)
    assert hinge_of(pendulum()).dofs[0].drive is None


def test_values_without_the_schema_are_no_drive():
    """A drive whose schema is not applied has no effect, and its attributes are reported."""
    stage = pendulum("float drive:angular:physics:stiffness = 3")
    assert hinge_of(stage).dofs[0].drive is None
    text = "is not used: it needs the schema PhysicsDriveAPI:angular"
    assert f"/World/hinge.drive:angular:physics:stiffness: {text}" in warnings_of(stage)


def test_acceleration_gains_are_per_degree():
    """Gains of an angular acceleration drive are per degree, of a linear one as they are."""
    found = hinge_of(drive("angular", ['token type = "acceleration"', "float stiffness = 2", "float damping = 1"]))
    assert found.dofs[0].drive.kind is DriveKind.ACCELERATION
    assert found.dofs[0].drive.stiffness == pytest.approx(2 * 180 / math.pi)
    assert found.dofs[0].drive.damping == pytest.approx(180 / math.pi)
    found = hinge_of(drive("linear", ['token type = "acceleration"', "float stiffness = 2"], "Prismatic"))
    assert found.dofs[0].drive.stiffness == pytest.approx(2)


def test_largest_float_is_no_bound():
    """Assets author the largest float for a force without bound."""
    assert hinge_of(drive("angular", ["float maxForce = 3.402823e38"])).dofs[0].drive.max_force == math.inf


def test_drive_on_one_axis_of_a_spherical_joint():
    """Drives of joints with several dofs go by the name of the axis."""
    found = hinge_of(drive("rotY", ["float stiffness = 1"], "Spherical"))
    assert [dof.drive is not None for dof in found.dofs] == [False, True, False]


@pytest.mark.parametrize("kind, instance", [("Revolute", "linear"), ("Fixed", "angular"), ("Revolute", "rotX")])
def test_drive_without_an_axis_is_reported(kind, instance):
    """A drive under a wrong instance name, or on a locked axis, is reported once, by name."""
    warnings = warnings_of(drive(instance, ["float stiffness = 1"], kind))
    assert len([text for text in warnings if text.startswith(f"/World/hinge: the drive {instance} has no effect")]) == 1
    assert not [text for text in warnings if "is not used" in text]


@pytest.mark.parametrize("name", ["stiffness", "damping", "maxForce"])
def test_negative_gain_is_an_error(name):
    """Negative gains would be unstable."""
    assert errors_of(drive("angular", [f"float {name} = -1"])) == [
        f"/World/hinge.drive:angular:physics:{name}: is -1 "
        + {"stiffness": "torque/deg", "damping": "torque*s/deg", "maxForce": "torque"}[name]
        + ", must not be negative"
    ]


def test_unknown_drive_type_is_an_error():
    """The type is one of two words."""
    (error,) = errors_of(drive("angular", ['token type = "magic"']))
    assert error == "/World/hinge.drive:angular:physics:type: is 'magic', must be one of force, acceleration"


ENVELOPE = """
float physxDrivePerformanceEnvelope:{0}:maxActuatorVelocity = 90
float physxDrivePerformanceEnvelope:{0}:speedEffortGradient = 3
float physxDrivePerformanceEnvelope:{0}:velocityDependentResistance = 0.2
"""


def with_envelope(instance: str, kind: str, header: str = SI, applied=("PhysicsDriveAPI",)):
    names = tuple(f"{name}:{instance}" for name in (*applied, "PhysxDrivePerformanceEnvelopeAPI"))
    return pendulum(ENVELOPE.format(instance), kind, names, header)


def test_performance_envelope():
    """Speeds are in degrees, efforts in torques, on a rotation; in small units too."""
    for header, torque in ((SI, 1.0), (SMALL_UNITS, 1e-7)):
        found = hinge_of(with_envelope("angular", "Revolute", header)).dofs[0].drive
        assert found.max_velocity == pytest.approx(math.pi / 2)
        assert found.velocity_gradient == pytest.approx(math.radians(3) / torque)
        assert found.velocity_resistance == pytest.approx(0.2 * torque * 180 / math.pi)
    found = hinge_of(with_envelope("linear", "Prismatic", SMALL_UNITS)).dofs[0].drive
    assert found.max_velocity == pytest.approx(0.9)
    assert found.velocity_gradient == pytest.approx(3000)
    assert found.velocity_resistance == pytest.approx(2e-4)


def test_no_performance_envelope():
    """A drive without one has no bound on its speed; an envelope without a drive is nothing."""
    found = hinge_of(drive("angular", [])).dofs[0].drive
    assert (found.max_velocity, found.velocity_gradient, found.velocity_resistance) == (math.inf, 0.0, 0.0)
    assert hinge_of(with_envelope("angular", "Revolute", applied=())).dofs[0].drive is None


def test_negative_envelope_is_an_error():
    """A negative gradient would add speed with effort."""
    content = "float physxDrivePerformanceEnvelope:angular:speedEffortGradient = -1"
    applied = ("PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular")
    (error,) = errors_of(pendulum(content, applied=applied))
    assert error == (
        "/World/hinge.physxDrivePerformanceEnvelope:angular:speedEffortGradient: is -1 deg/s/torque, must not be "
        "negative"
    )


def test_a_simulated_envelope_is_not_reported(monkeypatch):
    """Once the engine has performance envelopes there is no warning."""
    monkeypatch.setattr(not_simulated, "NOT_YET", ("envelope",))
    assert warnings_of(with_envelope("angular", "Revolute"))
    monkeypatch.setattr(not_simulated, "NOT_YET", ())
    assert not warnings_of(with_envelope("angular", "Revolute"))


DRIVEN = "float drive:angular:physics:stiffness = 2\n"
FAR = "float drive:angular:physics:targetPosition = 400\n"
OVER_TIME = "float drive:angular:physics:targetPosition.timeSamples = {0: 0, 96: -720}\n"
COUNTED = "bool warpArtic:joint:angular:countTurns = 1\n"


def far_targets(content, kind="Revolute", applied=("PhysicsDriveAPI:angular", "WarpArticJointAPI:angular")):
    """Findings of targets that are not reached."""
    found = check_stage(pendulum(content, kind, applied))
    return [(str(one.severity.value), one.path, one.message) for one in found if one.rule == "drive-turns"]


@pytest.mark.parametrize(
    "target, said", [(FAR, "400 degrees,"), (OVER_TIME, "-720 degrees at some time,")], ids=["now", "later"]
)
def test_a_target_that_is_never_reached_is_told(target, said):
    """Positions start anew after a turn: the hinge would be turned on and on."""
    ((severity, path, message),) = far_targets(DRIVEN + target)
    assert (severity, path) == ("warning", "/World/hinge")
    assert message.startswith(
        f"its drive has the position target {said} but its position starts anew after 360 degrees"
    )
    assert message.endswith("apply WarpArticJointAPI:angular with warpArtic:joint:angular:countTurns = true")


def test_targets_that_are_reached_are_not_told():
    """Within a turn, where turns are counted, where limits or a slide keep them, and without a spring."""
    limits = "float physics:lowerLimit = -500\nfloat physics:upperLimit = 500\n"
    for content in (DRIVEN + FAR.replace("400", "350"), DRIVEN + FAR + COUNTED, DRIVEN + FAR + limits, FAR):
        assert not far_targets(content)
    assert not far_targets((DRIVEN + FAR).replace("angular", "linear"), "Prismatic", ("PhysicsDriveAPI:linear",))


def test_what_is_told_of_targets_is_what_moves():
    """A damped hinge comes to rest at its target but where that is told."""
    for target, counted in ((350.0, False), (400.0, False), (400.0, True)):
        text = "float drive:angular:physics:stiffness = 20\nfloat drive:angular:physics:damping = 4\n"
        content = text + FAR.replace("400", str(target)) + COUNTED * counted
        stage = pendulum(content, applied=("PhysicsDriveAPI:angular", "WarpArticJointAPI:angular"))
        scene = replace(read_stage(stage), gravity=(0.0, 0.0, 0.0))
        simulation = Simulation(scene, device="cpu", settings=SolverSettings(precision="float64", variant="scalar"))
        simulation.step(2400)
        reached = abs(simulation.state.joint_position.numpy().item() - math.radians(target)) < 1e-3
        assert reached is not any(one.rule == "drive-turns" for one in scene.diagnostics)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (["float targetPosition = 30"], ["targetPosition has no effect: the stiffness of the drive is 0"]),
        (
            ["float targetVelocity = 30", "float stiffness = 3"],
            ["targetVelocity has no effect: the damping of the drive is 0"],
        ),
        (
            ["float targetPosition = 30", "float stiffness = 3", "float maxForce = 0"],
            ["maxForce is 0: the drive has no effect"],
        ),
        (["float targetPosition = 30", "float stiffness.timeSamples = { 0: 0, 24: 3 }"], []),
        (["float targetPosition = 0", "float maxForce = 0"], []),
    ],
)
def test_targets_without_force_are_told(content, said):
    """In a note, as gains and bounds may be given during a run."""
    found = [item for item in read_stage(drive("angular", content)).diagnostics if item.rule == "drive-without-force"]
    assert [f"{item.path.rpartition(':')[2]} {item.message}" for item in found] == said
