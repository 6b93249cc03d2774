"""A run layer carries what the run measured, in the units that our schemas state, and can be read at any time code."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd

from tests.usd.authoring import SI, SMALL_UNITS, warnings_of
from tests.usd_schemas import test_same_mechanism as same
from tests.usd_schemas.mechanisms import HINGE, SLIDE, chain, prim
from warp_artic.description.scene import Scene
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.write_results import write_results

DEGREE = np.pi / 180
TIMES = "timeCodesPerSecond = 24\nstartTimeCode = 3\n"
LENGTH, MASS = {SI: 1.0, SMALL_UNITS: 0.01}, {SI: 1.0, SMALL_UNITS: 0.001}


def saved(stage, folder):
    """The path of a file with what an open stage has."""
    path = folder / "source.usda"
    stage.GetRootLayer().Export(str(path))
    return path


def measured(scene: Scene, stage_tendons=(), stage_mimics=(), **absent) -> Recording:
    """A recording at 24 Hz in which every quantity is linear in time, each entry with a slope of its own."""
    t = np.arange(25) / 24
    links = [link.path for tree in scene.articulations for link in tree.links]

    def ramp(count, *components):
        slopes = 1.0 + np.arange(count * int(np.prod(components, dtype=int))).reshape(count, *components)
        return t.reshape(-1, 1, *(1,) * slopes.ndim) * slopes * 0.125

    pose = np.zeros((25, 1, len(links), 7))
    pose[..., 6] = 1.0
    D, N, M = len(scene.dof_names), len(stage_tendons), len(stage_mimics)
    values = {
        "joint_position": ramp(D),
        "joint_velocity": 2.0 * ramp(D),
        "joint_drive_force": 3.0 * ramp(D),
        "link_incoming_joint_force": ramp(len(links), 6),
        "tendon_length": 5.0 * ramp(N),
        "tendon_speed": 4.0 * ramp(N),
        "tendon_force": 6.0 * ramp(N),
        "mimic_error": 7.0 * ramp(M),
    }
    return Recording(
        time=t,
        joint_names=scene.dof_names,
        link_names=tuple(links),
        link_pose=pose,
        tendon_names=stage_tendons,
        mimic_names=stage_mimics,
        energy=np.zeros((25, 1, 2)),
        **{name: value for name, value in values.items() if name not in absent},
    )


def baked(path, recording, folder):
    write_results(path, recording, folder / "run.usda")
    return Usd.Stage.Open(str(folder / "run.usda"))


FIXED = """rel warpArtic:joints = [</World/j1>, </World/j2>]
double[] warpArtic:coefficients = [0.01, 1]
double warpArtic:stiffness = 3
double warpArtic:offset = 0.5
"""
FOLLOWS = """rel warpArtic:mimic:angular:leaders = </World/j1>
double[] warpArtic:mimic:angular:gears = [-2]
double warpArtic:mimic:angular:offset = 5
double warpArtic:mimic:angular:naturalFrequency = 30
"""
FOLLOWER = ("Revolute", ("WarpArticMimicAPI:angular",), FOLLOWS)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_joints_between_frames(header, tmp_path):
    """Position, velocity and effort of a hinge and a slide, and the error of a mimic joint."""
    source = saved(chain(HINGE, SLIDE, FOLLOWER, header=TIMES + header), tmp_path)
    stage = baked(source, measured(read_stage(str(source)), stage_mimics=("/World/j3",)), tmp_path)
    t, length, mass = 2.5 / 24, LENGTH[header], MASS[header]

    def value(name):
        return stage.GetAttributeAtPath(f"/World/{name}").Get(3 + 2.5)

    assert value("j1.warpArtic:joint:angular:position") == pytest.approx(0.125 * t / DEGREE, rel=1e-12)
    assert value("j1.warpArtic:joint:angular:velocity") == pytest.approx(0.25 * t / DEGREE, rel=1e-12)
    assert value("j1.warpArtic:joint:angular:effort") == pytest.approx(0.375 * t / (mass * length**2), rel=1e-12)
    assert value("j2.warpArtic:joint:linear:position") == pytest.approx(0.25 * t / length, rel=1e-12)
    assert value("j2.warpArtic:joint:linear:velocity") == pytest.approx(0.5 * t / length, rel=1e-12)
    assert value("j2.warpArtic:joint:linear:effort") == pytest.approx(0.75 * t / (mass * length), rel=1e-12)
    assert value("j3.warpArtic:joint:angular:mimicError") == pytest.approx(0.875 * t / DEGREE, rel=1e-12)
    assert value("j2.state:linear:physics:position") == pytest.approx(0.25 * t / length, rel=1e-6)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_tendons_between_frames(header, tmp_path):
    """Length, speed and force, on our prim, and under the name of a tendon in another schema on its joint."""
    root = ("Revolute", ("PhysxTendonAxisRootAPI:flexor",), "float[] physxTendon:flexor:gearing = [0.01]")
    source = saved(chain(root, SLIDE, header=TIMES + header, more=prim("FixedTendon", "t", FIXED)), tmp_path)
    recording = measured(read_stage(str(source)), stage_tendons=("/World/j1:flexor", "/World/t"))
    stage = baked(source, recording, tmp_path)
    t, length, mass = 2.5 / 24, LENGTH[header], MASS[header]
    for number, prefix in enumerate(("/World/j1.warpArtic:tendon:flexor:", "/World/t.warpArtic:"), 1):
        found = stage.GetAttributeAtPath(f"{prefix}length").Get(3 + 2.5)
        assert found == pytest.approx(0.625 * number * t / length, rel=1e-12)
        found = stage.GetAttributeAtPath(f"{prefix}speed").Get(3 + 2.5)
        assert found == pytest.approx(0.5 * number * t / length, rel=1e-12)
        found = stage.GetAttributeAtPath(f"{prefix}force").Get(3 + 2.5)
        assert found == pytest.approx(0.75 * number * t / (mass * length), rel=1e-12)
    applied = stage.GetPrimAtPath("/World/j1").GetPrimTypeInfo().GetAppliedAPISchemas()
    assert "WarpArticTendonStateAPI:flexor" in applied and "PhysxTendonAxisRootAPI:flexor" in applied


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_incoming_forces_between_frames(header, tmp_path):
    """Force and torque by the joint on each link."""
    source = saved(chain(HINGE, header=TIMES + header), tmp_path)
    stage = baked(source, measured(read_stage(str(source))), tmp_path)
    t, length, mass = 2.5 / 24, LENGTH[header], MASS[header]
    force = stage.GetAttributeAtPath("/World/l1.warpArtic:link:incomingJointForce").Get(3 + 2.5)
    torque = stage.GetAttributeAtPath("/World/l1.warpArtic:link:incomingJointTorque").Get(3 + 2.5)
    np.testing.assert_allclose(force, 0.125 * t * np.array([7, 8, 9]) / (mass * length), rtol=1e-12)
    np.testing.assert_allclose(torque, 0.125 * t * np.array([10, 11, 12]) / (mass * length**2), rtol=1e-12)


def test_what_was_not_recorded_is_not_written(tmp_path):
    """Without a measurement there is no attribute, rather than a 0 that looks like one."""
    source = saved(chain(HINGE), tmp_path)
    absent = dict.fromkeys(("joint_drive_force", "link_incoming_joint_force"), True)
    stage = baked(source, measured(read_stage(str(source)), **absent), tmp_path)
    hinge, link = (stage.GetPrimAtPath(f"/World/{name}").GetAuthoredPropertyNames() for name in ("j1", "l1"))
    assert "warpArtic:joint:angular:position" in hinge
    assert not [name for name in (*hinge, *link) if "effort" in name or "incoming" in name]


def test_effort_before_the_first_step(tmp_path):
    """The first record has no force of a step yet: its sample is that of the first step, not a 0."""
    source = saved(chain(HINGE, header=TIMES + SI), tmp_path)
    recording = measured(read_stage(str(source)))
    stage = baked(source, recording, tmp_path)
    effort = stage.GetAttributeAtPath("/World/j1.warpArtic:joint:angular:effort")
    assert recording.joint_drive_force[0, 0, 0] == 0.0
    assert effort.Get(3) == effort.Get(4) == recording.joint_drive_force[1, 0, 0]


def test_samples_win_over_the_authored_start(tmp_path):
    """A start state of the stage does not hide the motion, and the layer reads as a start where the run began."""
    start = "double warpArtic:joint:angular:position = 20\ndouble warpArtic:joint:angular:velocity.timeSamples = {3: 7}"
    hinge = ("Revolute", ("WarpArticJointAPI:angular",), start)
    source = saved(chain(hinge, header=TIMES + SI), tmp_path)
    recording = measured(read_stage(str(source)))
    recording.joint_position[:] += 0.5
    stage = baked(source, recording, tmp_path)
    position = stage.GetAttributeAtPath("/World/j1.warpArtic:joint:angular:position")
    assert position.Get(3) == pytest.approx(0.5 / DEGREE, rel=1e-12)
    assert position.Get(27) == pytest.approx(0.625 / DEGREE, rel=1e-12)
    assert stage.GetAttributeAtPath("/World/j1.warpArtic:joint:angular:velocity").Get(27) == pytest.approx(
        0.25 / DEGREE
    )
    (dof,) = read_stage(stage).articulations[0].dofs
    assert dof.position == pytest.approx(0.5, rel=1e-12)


def test_a_simulated_stage_keeps_its_laws(tmp_path):
    """Outputs between frames satisfy what the schema says of them, in its own units; the source is not touched."""
    more = prim("FixedTendon", "t", FIXED)
    drive = "float drive:angular:physics:stiffness = 2\nfloat drive:angular:physics:targetPosition = 40"
    driven = ("Revolute", ("PhysicsDriveAPI:angular",), drive)
    source = saved(chain(driven, SLIDE, FOLLOWER, header=TIMES + SMALL_UNITS, more=more), tmp_path)
    before = hashlib.sha256(source.read_bytes()).digest()
    settings = SolverSettings(precision="float64")
    simulation = Simulation(read_stage(str(source)), settings=settings)
    stage = baked(source, simulation.record(steps=120, forces=True), tmp_path)

    def value(name, code):
        return stage.GetAttributeAtPath(f"/World/{name}").Get(code)

    for code in (3.0, 7.25, 11.5, 15.0):
        hinge, slide = (
            value("j1.warpArtic:joint:angular:position", code),
            value("j2.warpArtic:joint:linear:position", code),
        )
        length = 0.5 + 0.01 * hinge + slide
        assert value("t.warpArtic:length", code) == pytest.approx(length, rel=1e-9)
        assert value("t.warpArtic:force", code) == pytest.approx(-3 * length, rel=1e-9)
        follower = value("j3.warpArtic:joint:angular:position", code)
        error = value("j3.warpArtic:joint:angular:mimicError", code)
        assert error == pytest.approx(follower - (5 - 2 * hinge), rel=1e-9, abs=1e-9)
    assert value("j1.warpArtic:joint:angular:effort", 3.0) > 0
    assert abs(value("j1.warpArtic:joint:angular:position", 15.0)) > 1
    assert hashlib.sha256(source.read_bytes()).digest() == before


@pytest.mark.parametrize("mechanism", [same.ours, same.physx])
def test_a_run_layer_is_read_in_silence(mechanism, tmp_path):
    """Every output of a mechanism with all couplings finds its prim; the layer reads without a warning."""
    source = saved(mechanism(SI), tmp_path)
    simulation = Simulation(read_stage(str(source)), settings=SolverSettings(precision="float64"))
    stage = baked(source, simulation.record(steps=2, forces=True), tmp_path)
    assert warnings_of(stage) == []
    for name in simulation.tendon_names:
        path, _, instance = name.partition(":")
        attribute = stage.GetAttributeAtPath(f"{path}.warpArtic:{f'tendon:{instance}:' if instance else ''}length")
        assert attribute.GetNumTimeSamples() == 2


CORD = "/World/corded/knuckle.warpArtic:tendon:cord:", "/World/corded/cord.warpArtic:"
"""How the outputs of a tendon begin, where it is applied to joints, and where it is a prim."""


def test_outputs_are_the_same_in_all_dialects(tmp_path):
    """Between frames each reads in every bit alike; those of a tendon are where its dialect has the tendon."""
    found = {}
    for dialect in ("warp_artic", "mujoco", "physx"):
        source = Path(__file__).parents[2] / "samples" / "scenes" / "four_dialects" / f"{dialect}.usda"
        recording = Simulation(read_stage(source)).record(steps=50, forces=True)
        stage = baked(source, recording, tmp_path)
        attributes = [one for prim in stage.Traverse() for one in prim.GetAttributes()]
        found[dialect] = {
            str(one.GetPath()).replace(*CORD): one.Get(2.6)
            for one in attributes
            if one.GetName().startswith("warpArtic:") and one.GetNumTimeSamples() > 1
        }
    ours = found.pop("warp_artic")
    assert {path.rpartition(":")[2] for path in ours} == {
        *("position", "velocity", "effort", "mimicError", "length", "speed", "force"),
        *("incomingJointForce", "incomingJointTorque"),
    }
    assert all(other == ours for other in found.values())


def test_outputs_of_tendons_of_mujoco(tmp_path):
    """They are on the tendon, by the last site that it leads through: a number alone is no name in USD."""
    source = Path(__file__).parents[1] / "data" / "mujoco" / "tendons.usdc"
    recording = Simulation(read_stage(source), settings=SolverSettings(variant="lanes")).record(2)
    write_results(source, recording, tmp_path / "run.usda")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    cable = "/tendons/Physics/cable:site2"
    expected = recording.tendon_length[-1, 0, recording.tendon_names.index(cable)]
    attribute = stage.GetPrimAtPath("/tendons/Physics/cable").GetAttribute("warpArtic:tendon:site2:length")
    assert attribute.Get(attribute.GetTimeSamples()[-1]) == pytest.approx(float(expected))
