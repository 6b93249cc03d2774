"""Boxes held by fingers: friction carries up to mu times what presses, also while they are shaken."""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import DT, PRECISIONS, WANTED, Motion, simulation

G = 9.81
MU = 0.5
HALF = 0.05
OUT = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1)}


def hand(names, carried: bool) -> ContactScene:
    """A cube of 1 kg between fingers of 0.1 kg on slides along X or Y, on the world or on a carriage along Z."""
    solids, joints = [box("cube", HALF)], ""
    if carried:
        solids.append(box("carriage", 0.01, (0, 0, 0.5), mass=5.0))
        joints += (
            'def PhysicsPrismaticJoint "lift" (prepend apiSchemas = ["PhysicsDriveAPI:linear"]) {\n'
            'uniform token physics:axis = "Z"\nrel physics:body1 = </World/carriage>\n'
            "point3f physics:localPos0 = (0, 0, 0.5)\n"
            "float drive:linear:physics:stiffness = 1e8\nfloat drive:linear:physics:damping = 1e6\n}\n"
        )
    for name in names:
        x, y = np.array(OUT[name]) * (HALF + 0.01)
        solids.append(box(name, (0.01, 0.01, 0.01), (x, y, 0.0), mass=0.1))
        axis = "X" if x else "Y"
        start = (float(x), float(y), -0.5 if carried else 0.0)
        carrier = "rel physics:body0 = </World/carriage>\n" if carried else ""
        joints += (
            f'def PhysicsPrismaticJoint "slide_{name}" {{\nuniform token physics:axis = "{axis}"\n{carrier}'
            f"rel physics:body1 = </World/{name}>\npoint3f physics:localPos0 = {start}\n}}\n"
        )
    return ContactScene(solids=solids, friction=MU, has_ground=False, joints=joints)


def pressed(one: wa.Simulation, names, forces, steps: int) -> dict[str, np.ndarray]:
    """Efforts of the slides that press with a force in each environment [N], shape (T, E, D)."""
    effort = np.zeros((steps, len(forces), len(one.scene.dof_names)))
    for row, path in enumerate(one.scene.dof_names):
        name = path.rpartition("slide_")[2]
        if name in names:
            effort[:, :, row] = -sum(OUT[name]) * np.asarray(forces)
    return {"joint_effort": effort}


@pytest.mark.parametrize("precision", PRECISIONS)
def test_two_fingers_hold_what_friction_carries(precision):
    """At 1.02 of m g / (2 mu) the cube stays; at 0.9 it falls with a tenth of g."""
    names = ("east", "west")
    one = simulation(hand(names, carried=False), precision=precision, environments=2)
    least = G / (2.0 * MU)
    steps = round(0.15 / DT)
    run = wa.rollout(one, pressed(one, names, [1.02 * least, 0.9 * least], steps), quantities=WANTED)
    held, slips = Motion(run, 0), Motion(run, 1)
    assert np.abs(held.place("cube")[-1]).max() < 1e-5
    late = slips.time > 0.02
    found = np.polyfit(slips.time[late], slips.velocity("cube")[late, 2], 1)[0]
    assert found == pytest.approx(-0.1 * G, rel=0.02)


def test_four_fingers_hold_while_they_are_shaken():
    """Up and down by 5 cm at 3 Hz: no slip at 1.02 of what the largest acceleration needs, slip at 0.98.

    The slip is that from one period of the shaking to another.
    """
    names = tuple(OUT)
    one = simulation(hand(names, carried=True), environments=2)
    swing, rate = 0.05, 2.0 * np.pi * 3.0
    least = (G + swing * rate**2) / (4.0 * MU)
    steps = round(3.5 / DT)
    controls = pressed(one, names, [1.02 * least, 0.98 * least], steps)
    time = DT * np.arange(1, steps + 1)
    lift = [path.rpartition("/")[2] for path in one.scene.dof_names].index("lift")
    ramp = np.clip(time / 2.0, 0.0, 1.0)
    ramp, ramp_rate = ramp**2 * (3.0 - 2.0 * ramp), 6.0 * ramp * (1.0 - ramp) / 2.0
    for name, values in {
        "drive_position_target": swing * ramp * np.sin(rate * time),
        "drive_velocity_target": swing * (ramp * rate * np.cos(rate * time) + ramp_rate * np.sin(rate * time)),
    }.items():
        target = np.zeros((steps, len(one.scene.dof_names)))
        target[:, lift] = values
        controls[name] = target
    run = wa.rollout(one, controls, quantities=WANTED)
    found = []
    for motion in (Motion(run, 0), Motion(run, 1)):
        apart = motion.place("cube")[:, 2] - motion.place("carriage")[:, 2] + 0.5
        period = round(1.0 / (3.0 * DT))
        found.append(apart[-period:].mean() - apart[-3 * period : -2 * period].mean())
    assert abs(found[0]) < 1e-5
    assert abs(found[1]) > 1e-4
