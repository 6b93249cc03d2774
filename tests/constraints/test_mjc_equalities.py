"""Equalities of the MuJoCo dialect against MuJoCo, which holds them by stiff springs."""

import numpy as np
import pytest

from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic import Simulation, SolverSettings
from warp_artic.usd.read_stage import read_stage

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo")

AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}
MEET = np.array([0.5, 0.4, 0.0])
"""Where the ends of both arms are at the start [m]."""
ARMS = {
    "a": (("Z", (0.0, 0.0, 0.0)), ("Y", (0.2, 0.3, 0.1))),
    "b": (("X", (1.0, 0.0, 0.0)), ("Z", (0.9, 0.3, 0.0)), ("Y", (0.7, 0.35, 0.1))),
    "c": (
        *(("Z", (1.0, -0.5, 0.2)), ("X", (0.9, -0.2, 0.1)), ("Y", (0.8, 0.1, 0.1)), ("Z", (0.7, 0.2, 0.0))),
        *(("X", (0.6, 0.2, 0.1)), ("Y", (0.55, 0.3, 0.1))),
    ),
}
"""The hinges of each arm: axis, and place in the world [m]."""
MASS, INERTIA, COM = 1.25, (0.0125, 0.0175, 0.02), (0.0625, -0.03125, 0.015625)


def links_of(arms):
    """Of each hinge the name, the name of its parent or "", axis, place, and place from that of the parent."""
    for arm in arms:
        at = np.zeros(3)
        for number, (axis, place) in enumerate(ARMS[arm]):
            yield f"{arm}{number}", f"{arm}{number - 1}" if number else "", axis, np.array(place), np.array(place) - at
            at = np.array(place)


def numbers(values):
    return " ".join(f"{value:.9g}" for value in values)


def mjcf(arms, equality):
    """The model of MuJoCo; equalities as stiff as its step allows."""

    def nested(links):
        if not links:
            return ""
        (name, _, axis, _, offset), *others = links
        return (
            f'<body name="{name}" pos="{numbers(offset)}"><joint name="j_{name}" type="hinge" axis="{AXES[axis]}"/>'
            f'<inertial pos="{numbers(COM)}" mass="{MASS}" diaginertia="{numbers(INERTIA)}"/>{nested(others)}</body>'
        )

    bodies = "".join(nested([link for link in links_of(arms) if link[0][0] == arm]) for arm in arms)
    stiff = 'solref="0.0002 1" solimp="0.99999 0.99999 0.001"'
    return (
        '<mujoco><option timestep="0.00005" integrator="RK4" tolerance="1e-14" iterations="200" gravity="0 -9.8125 0"/>'
        f"<worldbody>{bodies}</worldbody><equality>{equality.format(stiff=stiff)}</equality></mujoco>"
    )


def stage_of(arms, equality, details=None):
    """The same on a stage; hinges to the world have a base, and details by hinge."""
    inertia = f"float physics:mass = {MASS}\nfloat3 physics:diagonalInertia = {INERTIA}\n"
    inertia += f"point3f physics:centerOfMass = {COM}"
    text = body("base") + joint("held", "Fixed", "", "/World/base")
    for name, parent, axis, place, offset in links_of(arms):
        text += body(name, mass=inertia, at=tuple(place.tolist()))
        content = f'uniform token physics:axis = "{axis}"\npoint3f physics:localPos0 = {tuple(offset.tolist())}\n'
        applied, more = (details or {}).get(name, ((), ""))
        text += joint(f"j_{name}", "Revolute", f"/World/{parent or 'base'}", f"/World/{name}", content + more, applied)
    scene = 'def PhysicsScene "scene" {\nvector3f physics:gravityDirection = (0, -1, 0)\n'
    scene += "float physics:gravityMagnitude = 9.8125\n}\n"
    robot = f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{equality}}}\n'
    return open_text(scene + robot)


def between(kind, schema, ends, content=""):
    """An equality that meets at MEET between two links, by their hinges, or one and the world."""
    places = {name: place for name, _, _, place, _ in links_of(ARMS)}
    for side, end in enumerate(ends):
        at = tuple((MEET - places.get(end, 0.0)).tolist())
        content += f"point3f physics:localPos{side} = {at}\n"
    return joint("eq", kind, *(end and f"/World/{end}" for end in ends), content, (schema,))


def compared(arms, text, stage, seconds=0.4):
    """Joint angles at the end by MuJoCo and by us, at two steps, extrapolated as of second order."""
    model = mujoco.MjModel.from_xml_string(mjcf(arms, text))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    found = []
    for rate in (480, 960):
        simulation = Simulation(
            read_stage(stage), settings=SolverSettings(dt=1 / rate, precision="float64", variant="scalar")
        )
        simulation.step(round(seconds * rate))
        angles = dict(zip(simulation.joint_names, simulation.state.joint_position.numpy()[:, 0]))
        found.append(np.array([angles[f"/World/j_{name}"] for name, *_ in links_of(arms)]))
    return data.qpos, found[1] + (found[1] - found[0]) / 3.0


def assert_same(arms, text, stage):
    ours, theirs = compared(arms, text, stage)[::-1]
    assert np.abs(theirs).max() > 0.2
    np.testing.assert_allclose(ours, theirs, atol=3e-6, rtol=0)


ANCHOR = {name: numbers(MEET - place) for name, _, _, place, _ in links_of(ARMS)}


def test_connect_between_two_arms():
    """A spatial loop of five hinges with two degrees of freedom."""
    text = f'<connect body1="a1" body2="b2" anchor="{ANCHOR["a1"]}" {{stiff}}/>'
    assert_same("ab", text, stage_of("ab", between("Spherical", "MjcEqualityConnectAPI", ("a1", "b2"))))


def test_connect_to_the_world():
    """The world is a prim that is no body, as converters write it."""
    text = f'<connect body1="c5" anchor="{ANCHOR["c5"]}" {{stiff}}/>'
    world = between("Spherical", "MjcEqualityConnectAPI", ("c5", ""), "rel physics:body1 = </World>\n")
    assert_same("c", text, stage_of("c", world))


def test_weld_between_two_arms():
    """A spatial loop of eight hinges with two degrees of freedom."""
    text = f'<weld body1="a1" body2="c5" anchor="{ANCHOR["c5"]}" {{stiff}}/>'
    assert_same("ac", text, stage_of("ac", between("Fixed", "MjcEqualityWeldAPI", ("a1", "c5"))))


def test_weld_without_torque():
    """The same loop with five degrees of freedom."""
    text = f'<weld body1="a1" body2="c5" anchor="{ANCHOR["c5"]}" torquescale="0" {{stiff}}/>'
    weld = between("Fixed", "MjcEqualityWeldAPI", ("a1", "c5"), "double mjc:torqueScale = 0\n")
    assert_same("ac", text, stage_of("ac", weld))


def test_equality_of_joints():
    """A hinge that turns -1.5 times as far as another one."""
    text = '<joint joint1="j_b2" joint2="j_b0" polycoef="0 -1.5 0 0 0" {stiff}/>'
    follows = "rel mjc:target = </World/j_b0>\ndouble mjc:coef1 = -1.5\n"
    assert_same("b", text, stage_of("b", "", {"b2": (("MjcEqualityJointAPI",), follows)}))


@pytest.mark.parametrize("dialect", ["mjc", "newton"])
def test_equality_of_joints_that_is_not_linear(dialect):
    """A polynomial of fourth degree, which is closed at the start."""
    text = '<joint joint1="j_b2" joint2="j_b0" polycoef="0 -1.5 0.5 0.75 -0.25" {stiff}/>'
    if dialect == "mjc":
        follows = "rel mjc:target = </World/j_b0>\ndouble mjc:coef1 = -1.5\n"
    else:
        follows = "rel newton:mimicJoint = </World/j_b0>\nfloat newton:mimicCoef1 = -1.5\n"
    follows += "double mjc:coef2 = 0.5\ndouble mjc:coef3 = 0.75\ndouble mjc:coef4 = -0.25\n"
    stage = stage_of("b", "", {"b2": (("MjcEqualityJointAPI",), follows)})
    assert_same("b", text, stage)
    settings = SolverSettings(dt=1 / 960, precision="float64", variant="scalar")
    recording = Simulation(read_stage(stage), settings=settings).record(384)
    names = dict(zip(recording.joint_names, recording.joint_position[:, 0].T))
    leader, follower = names["/World/j_b0"], names["/World/j_b2"]
    wanted = np.polyval((-0.25, 0.75, 0.5, -1.5, 0.0), leader)
    np.testing.assert_allclose(follower, wanted, atol=1e-6, rtol=0)
