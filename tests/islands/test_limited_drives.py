"""Drives with a maximum force give way to what lands on them among many bodies, as in mechanisms of their own."""

import math

import numpy as np
import pytest
from pxr import Sdf

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowded
from tests.islands.test_driven import among_balls
from tests.usd.authoring import joint, open_text

LENGTH, HALF, FALL, G = 0.6, 0.05, 0.2, 9.81
ARM_MASS, REACH = 1.0, LENGTH - 2 * HALF
STEPS = (1 / 60, 1 / 240)
STIFFNESS, DAMPING = 1e5, 1e3
"""[N m/rad, N m s/rad]"""
KINDS = {"force": {}, "acceleration": {"type": "acceleration"}}


def drive(prim, axis: str, **values) -> None:
    """Give a joint a drive, with gains in SI."""
    prim.AddAppliedSchema(f"PhysicsDriveAPI:{axis}")
    given = {"stiffness": math.radians(STIFFNESS), "damping": math.radians(DAMPING), "targetPosition": 0.0, **values}
    for name, value in given.items():
        kind = Sdf.ValueTypeNames.Token if isinstance(value, str) else Sdf.ValueTypeNames.Float
        prim.CreateAttribute(f"drive:{axis}:physics:{name}", kind).Set(value)


def shelf(load: float, given: dict, **values) -> wa.Simulation:
    """A light level arm that a stiff drive holds, a box that falls on its end, and many other bodies."""
    solids = [
        box("arm", (LENGTH / 2, HALF, HALF), (LENGTH / 2, 0, 1.0), mass=ARM_MASS),
        box("load", HALF, (REACH, 0, 1.0 + 2 * HALF + FALL), mass=load),
    ]
    content = 'uniform token physics:axis = "Y"\npoint3f physics:localPos0 = (0, 0, 1)\n'
    content += f"point3f physics:localPos1 = ({-LENGTH / 2}, 0, 0)\n"
    scene = ContactScene(solids=solids, joints=joint("hinge", "Revolute", "", "/World/arm", content))
    stage = open_text(crowded(scene).usd)
    drive(stage.GetPrimAtPath("/World/hinge"), "angular", **values)
    found = wa.read_stage(stage)
    assert found.island_contacts is not None
    return wa.Simulation(found, settings=wa.SolverSettings(sleep_after=float("inf"), **given))


def motion_of(one: wa.Simulation, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """The angle of the arm, and how high the box is above it along its normal, over time."""
    recording = one.record(round(seconds / one.settings.dt), quantities=["link_pose", "joint_position"])
    angle = recording.joint_position[:, 0, 0]
    normal = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    return angle, ((Motion(recording).place("load") - [0.0, 0.0, 1.0]) * normal).sum(axis=1) - 2 * HALF


def stops_by_its_force(given: dict, **values) -> None:
    """A heavy box turns the arm by what the force of its drive takes of the energy."""
    load, force, dt = 10.0, 200.0, given["dt"]
    angle, height = motion_of(shelf(load, given, maxForce=force, **values), 0.3)
    I = load * REACH**2 + ARM_MASS * LENGTH**2 / 3.0
    turning = load * REACH * math.sqrt(2 * G * FALL) / I
    weights = G * (load * REACH + ARM_MASS * LENGTH / 2)
    # Within a step or two of the impact the drive has taken some of it already.
    least, most = (0.5 * I * w**2 / (force - weights) for w in (turning - 2 * dt * force / I, turning))
    assert least < angle.max() < 1.02 * most
    assert height.min() > -0.15 * dt * math.sqrt(2 * G * FALL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_drive_stops_what_falls_on_it_by_its_largest_force(precision, dt, kind):
    """It gives way with that; it used to be a wall, from which the arm was thrown away."""
    stops_by_its_force({"precision": precision, "dt": dt}, **KINDS[kind])


@pytest.mark.parametrize("solver", ["pgs", "tgs"])
def test_so_it_is_with_other_solvers(solver):
    """They solve the drive of the arm; the contacts of islands are the same."""
    stops_by_its_force({"solver": solver, "dt": 1 / 240})


@pytest.mark.parametrize("rate, seconds", [(60, 60), (240, 9)])
def test_nothing_gains_energy_in_a_minute(rate, seconds):
    """A drive that has given way brings a light box back to where it holds it, and both stay; 9 s with short steps."""
    one = shelf(1.0, {"dt": 1 / rate}, maxForce=20.0)
    recording = one.record(seconds * rate, every=rate // 10, quantities=["energy"])
    energy = recording.energy.reshape(len(recording.time), -1).sum(axis=1)
    assert energy.max() < energy[0] + 1e-3 * abs(energy[0])
    last = 10 * seconds // 6
    assert np.ptp(energy[-last:]) < 1e-5 * last / 100 * abs(energy[0])


def finger(kind: str, is_among_many: bool, **settings) -> wa.Simulation:
    """Three links that drives hold level, each weaker than the one before, and a ball of their weight on the way."""
    solids, joints = [], ""
    for k in range(3):
        solids.append(box(f"link{k}", (0.15, 0.04, 0.04), (0.15 + 0.3 * k, 0, 1.0), mass=0.5))
        frames = f"point3f physics:localPos0 = ({0.15 if k else 0}, 0, {0 if k else 1})\n"
        frames += 'point3f physics:localPos1 = (-0.15, 0, 0)\nuniform token physics:axis = "Y"\n'
        joints += joint(f"joint{k}", kind, f"/World/link{k - 1}" if k else "", f"/World/link{k}", frames)
    solids.append(box("load", 0.05, (0.7, 0.0, 1.3), mass=2.0))
    scene = ContactScene(solids=solids, joints=joints)
    stage = open_text((crowded(scene) if is_among_many else scene).usd)
    for k, force in enumerate((60.0, 25.0, 8.0)):
        prim = stage.GetPrimAtPath(f"/World/joint{k}")
        for axis in ("angular",) if kind == "Revolute" else ("rotX", "rotY", "rotZ"):
            drive(prim, axis, maxForce=force, stiffness=math.radians(4e3), damping=math.radians(40.0))
        if kind == "":
            for axis in ("transX", "transY", "transZ"):
                prim.AddAppliedSchema(f"PhysicsLimitAPI:{axis}")
                prim.CreateAttribute(f"limit:{axis}:physics:low", Sdf.ValueTypeNames.Float).Set(1.0)
                prim.CreateAttribute(f"limit:{axis}:physics:high", Sdf.ValueTypeNames.Float).Set(-1.0)
    found = wa.read_stage(stage)
    assert (found.island_contacts is not None) == is_among_many
    return wa.Simulation(found, settings=wa.SolverSettings(sleep_after=float("inf"), **settings))


@pytest.mark.parametrize("kind, precision", [("Revolute", "float32"), ("", "float64")], ids=["hinges", "balls"])
def test_several_links_give_way_as_in_a_mechanism_of_their_own(kind, precision):
    """The ends of the links are within a seventh of how far they give way."""
    found = []
    for is_among_many in (False, True):
        recording = finger(kind, is_among_many, dt=1 / 240, precision=precision).record(120, quantities=["link_pose"])
        found.append(np.stack([Motion(recording).place(f"link{k}") for k in range(3)]))
    gives = 1.0 - found[0][2, :, 2].min()
    assert gives > 0.08
    assert np.abs(found[1] - found[0]).max() < gives / 7


def test_a_maximum_that_is_never_reached_changes_nothing():
    """A ragdoll stands by its drives; in islands weights of those with a maximum force are found one by one."""
    found = []
    for most in (math.inf, 1e7):
        stage = among_balls(80)
        for prim in stage.Traverse():
            for name in prim.GetAuthoredPropertyNames():
                if name.startswith("drive:") and name.endswith(":physics:maxForce"):
                    prim.GetAttribute(name).Set(most)
                elif name.startswith("drive:") and name.endswith(":physics:stiffness"):
                    prim.CreateAttribute(name.replace("stiffness", "maxForce"), Sdf.ValueTypeNames.Float).Set(most)
        one = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(precision="float64"))
        found.append(one.record(60, quantities=["link_pose"]).link_pose)
    assert np.abs(found[1] - found[0]).max() < 1e-4


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("torque", [2.0, math.inf])
def test_wheels_drive_a_cart_as_fast_as_their_torque_does(dt, torque):
    """By a = 4 M / (r m + 4 I / r), and with unbounded torque on their axles up to the speed wanted."""
    r, wanted, masses = 0.2, 20.0, (20.0, 2.0)
    solids, joints = [box("chassis", (0.5, 0.25, 0.1), (0, 0, 0.35), mass=masses[0])], ""
    for k, (x, y) in enumerate((x, y) for x in (-0.4, 0.4) for y in (-0.35, 0.35)):
        solids.append(sphere(f"wheel{k}", r, (x, y, r), mass=masses[1]))
        axle = f'point3f physics:localPos0 = ({x}, {y}, -0.15)\nuniform token physics:axis = "Y"\n'
        joints += joint(f"axle{k}", "Revolute", "/World/chassis", f"/World/wheel{k}", axle)
    stage = open_text(crowded(ContactScene(solids=solids, joints=joints)).usd)
    for k in range(4):
        gains = {"stiffness": 0.0, "damping": math.radians(50.0), "targetVelocity": math.degrees(wanted)}
        drive(stage.GetPrimAtPath(f"/World/axle{k}"), "angular", **gains, maxForce=torque)
    one = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(dt=dt, sleep_after=float("inf")))
    speed = Motion(one.record(round(1.0 / dt), quantities=["link_velocity"])).velocity("chassis")[-1, 0]
    I = 0.4 * masses[1] * r**2
    acceleration = 4 * torque / (r * (masses[0] + 4 * masses[1]) + 4 * I / r)
    assert speed == pytest.approx(min(acceleration, wanted * r), rel=5e-4)
