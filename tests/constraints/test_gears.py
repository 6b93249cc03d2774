"""Gear trains and racks, by what trains of wheels do: ratios, energy, and the same mechanism by mimic joints."""

import numpy as np
import pytest

from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic import Simulation, SolverSettings
from warp_artic.usd.read_stage import read_stage

FLAT = "float3 physics:diagonalInertia = ({0}, {0}, {1})\nfloat physics:mass = {2}"
OFF = "point3f physics:centerOfMass = ({}, 0, 0)\n"
STATE = ("PhysicsJointStateAPI:angular",)
LINEAR = ("PhysicsJointStateAPI:linear",)
H = 1.0 / 240.0


def wheel(name, inertia=0.02, mass=1.0, at=(0, 0, 0), off=0.0):
    """A wheel about Z, with its centre of mass beside its axis."""
    return body(name, mass=OFF.format(off) + FLAT.format(0.5 * inertia, inertia, mass), at=at)


def hinge(name, parent, child, at0=(0, 0, 0), at1=(0, 0, 0), speed=0.0, kind="Revolute", axis="Z", more=""):
    """A hinge about an axis, at a place of each body, with a speed [deg/s]."""
    instance = "angular" if kind == "Revolute" else "linear"
    content = f"point3f physics:localPos0 = {at0}\npoint3f physics:localPos1 = {at1}\n"
    content += f'uniform token physics:axis = "{axis}"\nfloat state:{instance}:physics:velocity = {speed}\n{more}'
    return joint(name, kind, parent, child, content, STATE if kind == "Revolute" else LINEAR)


def gear(name, hinges, ends, ratio):
    """A gear between two hinges, by the ends of their paths."""
    lines = [f"rel physics:hinge{side} = </World/{path}>" for side, path in enumerate(hinges)]
    lines += [f"rel physics:body{side} = </World/{path}>" for side, path in enumerate(ends) if path]
    lines.append(f"float physics:gearRatio = {ratio}")
    return f'def PhysxPhysicsGearJoint "{name}" {{\n' + "\n".join(lines) + "\n}\n"


def stage_of(text, gravity=0.0):
    """An articulation /World."""
    scene = 'def PhysicsScene "scene" {{\nvector3f physics:gravityDirection = (0, -1, 0)\n'
    scene += "float physics:gravityMagnitude = {}\n}}\n"
    robot = f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n'
    return open_text(scene.format(gravity) + robot)


def simulate(stage, steps, **settings):
    """A recording, in double precision unless told otherwise."""
    settings = {"dt": H, "precision": "float64", "variant": "scalar", **settings}
    simulation = Simulation(read_stage(stage), settings=SolverSettings(**settings))
    return simulation.record(steps)


def column(recording, name):
    """The positions and velocities of a joint (R)."""
    place = [path.rpartition("/")[2] for path in recording.joint_names].index(name)
    return recording.joint_position[:, 0, place], recording.joint_velocity[:, 0, place]


PLACES = ((0, 0, 0), (0.3, 0, 0), (0.3, 0.5, 0))
RATIOS = (0.2 / 0.1, 0.1 / 0.4)


def train(speed=300.0, gravity=9.81, off=0.05):
    """Three wheels with 20, 10 and 40 teeth that mesh in a row; all are out of balance."""
    text = body("frame") + joint("held", "Fixed", "", "/World/frame")
    speeds = (speed, -RATIOS[0] * speed, RATIOS[0] * RATIOS[1] * speed)
    for number, (place, own) in enumerate(zip(PLACES, speeds)):
        text += wheel(f"w{number}", at=place, off=off)
        text += hinge(f"h{number}", "/World/frame", f"/World/w{number}", place, speed=own)
    couplings = [gear(f"g{k}", (f"h{k}", f"h{k + 1}"), (f"w{k}", f"w{k + 1}"), RATIOS[k]) for k in (0, 1)]
    return stage_of(text + "".join(couplings), gravity)


@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_a_train_of_wheels_keeps_its_ratios(solver):
    """For ten seconds and tens of turns, under weights that swing: to 1e-6 rad; the last wheel turns like the first."""
    recording = simulate(train(), 2400, solver=solver)
    q = [column(recording, f"h{number}")[0] for number in range(3)]
    q = [one - one[0] for one in q]
    assert np.abs(q[0]).max() > 40.0
    np.testing.assert_allclose(q[1], -RATIOS[0] * q[0], atol=1e-6, rtol=0)
    np.testing.assert_allclose(q[2], RATIOS[0] * RATIOS[1] * q[0], atol=1e-6, rtol=0)


def test_a_train_of_wheels_keeps_its_energy():
    """Within a ten-thousandth of its kinetic energy, four times less with half the step: gears do no work."""
    errors = []
    for steps, dt in ((480, H), (960, 0.5 * H)):
        recording = simulate(train(), steps, dt=dt)
        errors.append(np.ptp(recording.energy[:, 0].sum(axis=-1)) / recording.energy[:, 0, 0].max())
    assert errors[0] < 1e-4
    assert errors[1] < 0.3 * errors[0]


SUN, PLANET, RING = 24, 16, 56
SUN_TO_CARRIER = 1.0 + RING / SUN
ARM = 0.42
"""Teeth, of which ratios are exact in single precision; the ratio of Willis for a ring that stands still; where planets
are on their carrier [m]."""


def planetary(speed=0.0, gravity=0.0, off=0.0):
    """A planetary gear of which the ring is the world; the sun and two planets turn on the carrier."""
    text = wheel("carrier", 0.3, 3.0, off=off) + wheel("sun", 0.05, 2.0)
    text += hinge("turn", "", "/World/carrier", speed=speed)
    text += hinge("sun_pin", "/World/carrier", "/World/sun", speed=(SUN_TO_CARRIER - 1.0) * speed)
    for number, side in enumerate((1, -1)):
        place = (side * ARM, 0, 0)
        text += wheel(f"p{number}", at=place)
        rate = -SUN / PLANET * (SUN_TO_CARRIER - 1.0) * speed
        text += hinge(f"pin{number}", "/World/carrier", f"/World/p{number}", place, speed=rate)
        text += gear(f"inner{number}", ("sun_pin", f"pin{number}"), ("sun", f"p{number}"), SUN / PLANET)
        text += gear(f"outer{number}", ("turn", f"pin{number}"), ("", f"p{number}"), -RING / PLANET)
    return stage_of(text, gravity)


def test_a_planetary_gear_has_the_ratio_of_willis():
    """1 + ring / sun turns of the sun for one of the carrier, out of balance; one of its four gears is redundant."""
    recording = simulate(planetary(200.0, 9.81, 0.1), 1200)
    carrier, sun, planet = (column(recording, name)[0] for name in ("turn", "sun_pin", "pin1"))
    assert np.abs(carrier).max() > 10.0
    np.testing.assert_allclose(carrier + sun, SUN_TO_CARRIER * carrier, atol=1e-6, rtol=0)
    np.testing.assert_allclose(planet, -RING / PLANET * carrier, atol=1e-6, rtol=0)


def test_a_planetary_gear_has_the_inertia_of_all_its_wheels():
    """A torque on the carrier turns all of them, each at its ratio."""
    stage = planetary()
    simulation = Simulation(read_stage(stage), settings=SolverSettings(dt=H, precision="float64", variant="scalar"))
    names = [path.rpartition("/")[2] for path in simulation.joint_names]
    efforts = np.zeros((len(names), 1))
    efforts[names.index("turn")] = 2.0
    simulation.control.joint_effort = efforts
    simulation.step(240)
    planet_rate = 1.0 - RING / PLANET
    inertia = 0.3 + 0.05 * SUN_TO_CARRIER**2 + 2 * (1.0 * ARM**2 + 0.02 * planet_rate**2)
    speed = simulation.state.joint_velocity.numpy()[names.index("turn"), 0]
    assert speed == pytest.approx(2.0 / inertia, rel=1e-7)  # what is authored is in single precision


@pytest.mark.parametrize("ratio", [2.5, -0.75])
@pytest.mark.parametrize("turned", [False, True])
def test_a_gear_is_the_mimic_joint_of_its_ratio(ratio, turned):
    """Bitwise, also where a hinge leads the other way, with weights on both wheels and a start within a turn."""

    def pair(coupling, follower=""):
        text = body("frame") + joint("held", "Fixed", "", "/World/frame")
        text += wheel("a", off=0.1) + hinge("first", "/World/frame", "/World/a", speed=90.0)
        sign = 1.0 if turned else -1.0
        ends = ("/World/b", "/World/frame") if turned else ("/World/frame", "/World/b")
        places = ((0, 0, 0), (0.5, 0, 0)) if turned else ((0.5, 0, 0), (0, 0, 0))
        own = hinge("second", *ends, *places, speed=sign * ratio * 90.0, more=follower)
        text += wheel("b", at=(0.5, 0, 0), off=0.05) + own
        return stage_of(text + coupling, 9.81)

    geared = simulate(pair(gear("g", ("first", "second"), ("a", "b"), ratio)), 240)
    gears = (1.0 if turned else -1.0) * ratio
    text = f"rel warpArtic:mimic:angular:leaders = </World/first>\ndouble[] warpArtic:mimic:angular:gears = [{gears}]\n"
    stage = pair("", text)
    stage.GetPrimAtPath("/World/second").AddAppliedSchema("WarpArticMimicAPI:angular")
    mimic = simulate(stage, 240)
    np.testing.assert_array_equal(geared.joint_position, mimic.joint_position)
    np.testing.assert_array_equal(geared.joint_velocity, mimic.joint_velocity)
    assert np.ptp(geared.joint_position[:, 0, 0]) > 0.3


@pytest.mark.parametrize("side", [1, -1])
def test_a_rack_falls_with_its_pinion(side):
    """m g / (m + J k^2) for the ratio k in rad/m, on either side of the pinion, whose teeth go down with it."""
    radius, mass, inertia = 0.08, 1.5, 0.02
    text = body("frame") + joint("held", "Fixed", "", "/World/frame") + wheel("pinion", inertia)
    text += hinge("turn", "/World/frame", "/World/pinion")
    text += wheel("rack", mass=mass, at=(side * radius, 0, 0))
    text += hinge("slide", "/World/frame", "/World/rack", (side * radius, 0, 0), kind="Prismatic", axis="Y")
    text += 'def PhysxPhysicsRackAndPinionJoint "mesh" {\n'
    text += "rel physics:hinge = </World/turn>\nrel physics:prismatic = </World/slide>\n"
    text += "rel physics:body0 = </World/pinion>\nrel physics:body1 = </World/rack>\n"
    text += f"float physics:ratio = {np.degrees(1.0 / radius)}\n}}\n"
    recording = simulate(stage_of(text, 9.81), 480)
    angle, place = column(recording, "turn")[0], column(recording, "slide")[0]
    k = np.radians(float(np.float32(np.degrees(1.0 / radius))))
    a = -mass * 9.81 / (mass + inertia * k**2)
    np.testing.assert_allclose(column(recording, "slide")[1], a * recording.time, atol=1e-9, rtol=2e-7)
    # The first step of rows goes by its velocity at the end.
    np.testing.assert_allclose(place[1:], (0.5 * a * (recording.time**2 + H**2))[1:], atol=1e-9, rtol=2e-7)
    np.testing.assert_allclose(angle, side * k * place, atol=1e-6, rtol=0)
    assert np.abs(angle).max() > 50.0


INERTIAS, RATIO, OFF_CENTRE, G = (0.02, 0.05), 2.5, 0.05, 9.81
"""About the axes of two wheels without what their weights add [kg m^2], and by what the first turns faster."""


def on_the_world(root=True, speed=0.0):
    """Two wheels that mesh, of 1 kg each, out of balance, with hinges to the world."""
    text = ""
    for number, (inertia, own) in enumerate(zip(INERTIAS, (speed, -speed / RATIO))):
        place = (0.3 * number, 0, 0)
        text += wheel(f"w{number}", inertia, at=place, off=OFF_CENTRE)
        text += hinge(f"h{number}", "", f"/World/w{number}", place, speed=own)
    stage = stage_of(text + gear("g", ("h0", "h1"), ("w0", "w1"), 1.0 / RATIO), G)
    if not root:
        stage.GetPrimAtPath("/World").RemoveAppliedSchema("PhysicsArticulationRootAPI")
    return stage


@pytest.mark.parametrize("root", [True, False], ids=["", "no articulation"])
@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_wheels_on_the_world(root, solver):
    """The simplest gear: its speeds have the ratio, its energy stays, and it moves as the pendulum that it is."""
    recording = simulate(on_the_world(root, 200.0), 480, solver=solver)
    (q, v), (q_1, v_1) = column(recording, "h0"), column(recording, "h1")
    np.testing.assert_allclose(q_1 - q_1[0], -(q - q[0]) / RATIO, atol=1e-6)
    np.testing.assert_allclose(v_1, -v / RATIO, atol=2e-5 * np.abs(v).max())
    inertia = INERTIAS[0] + OFF_CENTRE**2 + (INERTIAS[1] + OFF_CENTRE**2) / RATIO**2
    height = OFF_CENTRE * (np.sin(q) + np.sin(-q / RATIO))
    energy = 0.5 * inertia * v**2 + G * height
    np.testing.assert_allclose(recording.energy[:, 0].sum(axis=-1), energy - energy[0] + recording.energy[0, 0].sum())
    assert np.ptp(energy) < 2e-4 * np.ptp(0.5 * inertia * v**2)

    def rate(state):
        torque = -G * OFF_CENTRE * (np.cos(state[0]) - np.cos(state[0] / RATIO) / RATIO)
        return np.array([state[1], torque / inertia])

    state, exact = np.array([q[0], v[0]]), [q[0]]
    for _ in range(4800):
        h = 0.1 * H
        k_1 = rate(state)
        k_2 = rate(state + 0.5 * h * k_1)
        k_3 = rate(state + 0.5 * h * k_2)
        state = state + h / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + rate(state + h * k_3))
        exact.append(state[0])
    np.testing.assert_allclose(q, exact[::10], atol=2e-4 * np.ptp(q))


def test_a_rack_on_the_world():
    """A rack falls with what it turns: a = m g / (m + I / r^2) to rounding."""
    mass, inertia, radius = 3.0, 0.02, 0.1
    text = wheel("pinion", inertia) + hinge("axle", "", "/World/pinion")
    text += wheel("rack", mass=mass, at=(radius, 0, 0))
    text += hinge("slide", "", "/World/rack", (radius, 0, 0), kind="Prismatic", axis="Y")
    lines = ["rel physics:hinge = </World/axle>", "rel physics:prismatic = </World/slide>"]
    lines += ["rel physics:body0 = </World/pinion>", "rel physics:body1 = </World/rack>"]
    lines += [f"float physics:ratio = {np.degrees(1.0 / radius)}"]
    text += 'def PhysxPhysicsRackAndPinionJoint "rack_joint" {\n' + "\n".join(lines) + "\n}\n"
    recording = simulate(stage_of(text, G), 240)
    (turn, w), (_, v) = column(recording, "axle"), column(recording, "slide")
    np.testing.assert_allclose(v, -mass * G / (mass + inertia / radius**2) * recording.time, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.abs(w), np.abs(v) / radius, rtol=1e-5)
    assert np.abs(turn).max() > 3.0


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ring_of_wheels_turns_though_its_ratios_are_rounded(precision):
    """The last of three ratios is 1/3, which no float is: float64 took it as a contradiction and held all wheels."""
    places, ratios = ((0, 0, 0), (0.3, 0, 0), (0.3, 0.5, 0)), (2.0, -1.5, 1.0 / 3.0)
    text = body("frame") + joint("held", "Fixed", "", "/World/frame")
    for number, place in enumerate(places):
        text += wheel(f"w{number}", at=place, off=0.1 * (number == 0))
        text += hinge(f"h{number}", "/World/frame", f"/World/w{number}", place)
    pairs = ((0, 1), (1, 2), (2, 0))
    text += "".join(gear(f"g{a}", (f"h{a}", f"h{b}"), (f"w{a}", f"w{b}"), ratios[a]) for a, b in pairs)
    stage = stage_of(text, 9.81)
    assert not [item for item in read_stage(stage).diagnostics if item.rule == "mimic-contradiction"]
    recording = simulate(stage, 240, precision=precision)
    q, v = (np.array([column(recording, f"h{number}")[part] for number in range(3)]) for part in (0, 1))
    assert np.abs(q[1] + 2.0 * q[0]).max() < 1e-5 and np.abs(q[2] + 3.0 * q[0]).max() < 1e-5
    inertia = 0.02 + 0.1**2 + 0.02 * (2.0**2 + 3.0**2)  # of all wheels, by the turn of the first, as its weight falls
    energy = 0.5 * inertia * v[0] ** 2 + 9.81 * 0.1 * np.sin(q[0])
    assert np.ptp(q[0]) > 1.0 and np.ptp(energy) < 2e-3
