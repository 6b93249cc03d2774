"""Compliant contacts, friction that differs at rest and in motion, and combined materials, in closed form."""

import dataclasses

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, Motion
from tests.usd.authoring import open_text

G = 9.81


def simulated(scene: ContactScene, seconds: float, dt: float = DT, **replaced: str) -> Motion:
    """The motion of a scene whose text has attributes of its material replaced, or more of them."""
    text = scene.usd
    for name, value in replaced.items():
        before = f"float physics:{name} = "
        start = text.index(before) + len(before)
        text = text[:start] + value + text[text.index("\n", start) :]
    settings = wa.SolverSettings(dt=dt, precision="float64")
    one = wa.Simulation(wa.read_stage(open_text(text)), settings=settings)
    return Motion(one.record(round(seconds / dt), quantities=("link_pose", "link_velocity", "energy")))


def compliant(k: float, d: float) -> str:
    """The end of a line that makes a material compliant."""
    return (
        f"0\nfloat physxMaterial:compliantContactStiffness = {k!r}\nfloat physxMaterial:compliantContactDamping = {d!r}"
    )


@pytest.mark.parametrize("damping", [0.0, 4.0])
def test_a_compliant_contact_is_a_spring_with_a_damper(damping):
    """A ball that is let go above its rest position, and never leaves, swings as m x'' = - k x - d x' - m g."""
    mass, k = 1.0, 400.0
    sag = mass * G / k
    ball = sphere("ball", 0.1, (0, 0, 0.1 - 0.5 * sag), mass=mass)
    errors = []
    for dt in (1.0 / 480.0, 1.0 / 960.0):
        motion = simulated(ContactScene(solids=[ball]), 0.6, dt, restitution=compliant(k, damping))
        decay = 0.5 * damping / mass
        rate = np.sqrt(k / mass - decay**2)
        t = motion.time
        swing = np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        wanted = 0.1 - sag + 0.5 * sag * swing
        errors.append(np.abs(motion.place("ball")[:, 2] - wanted).max() / sag)
    assert errors[1] < 1e-3 and errors[0] / errors[1] > 3.5


def test_a_compliant_contact_gives_back_what_it_takes():
    """A ball bounces on a spring without a damper as high as it fell, and is as deep in it as its weight tells."""
    mass, k, fall = 2.0, 1000.0, 0.3
    ball = sphere("ball", 0.1, (0, 0, 0.1 + fall), mass=mass)
    height = simulated(ContactScene(solids=[ball]), 0.9, DT, restitution=compliant(k, 0.0)).place("ball")[:, 2] - 0.1
    sag = mass * G / k
    assert height.min() == pytest.approx(-sag - np.sqrt(sag**2 + 2.0 * sag * fall), rel=2e-3)
    assert height[height.argmin() :].max() == pytest.approx(fall, rel=5e-3)


def test_a_compliant_contact_at_rest():
    """The overlap is m g / k, of whatever stands on it."""
    scene = ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.1), mass=3.0)])
    motion = simulated(scene, 3.0, restitution=compliant(5000.0, 200.0))
    assert 0.1 - motion.place("ball")[-1, 2] == pytest.approx(3.0 * G / 5000.0, rel=1e-5)
    assert motion.largest_speed[-1] < 1e-6


@pytest.mark.parametrize("tangent, slides", [(0.58, False), (0.62, True)])
def test_static_friction_holds_and_dynamic_friction_slides(tangent, slides):
    """From rest a block holds up to the static coefficient, and slides with the dynamic one beyond it."""
    angle = float(np.arctan(tangent))
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    scene = ContactScene(solids=[box("block", 0.05, (0, 0, 0.05))], gravity=gravity)
    motion = simulated(scene, 1.0, staticFriction="0.6", dynamicFriction="0.4")
    wanted = G * (np.sin(angle) - 0.4 * np.cos(angle)) if slides else 0.0
    steady = motion.time > 0.2
    found = np.polyfit(motion.time[steady], motion.velocity("block")[steady, 0], 1)[0]
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-6)


def test_a_thrown_block_stops_by_dynamic_friction_and_then_holds():
    """Up a slope between both coefficients: it comes to rest where it should, and does not go back."""
    angle = float(np.arctan(0.5))
    gravity = (-G * np.sin(angle), 0.0, -G * np.cos(angle))
    block = box("block", (0.05, 0.05, 0.01), (0, 0, 0.01), velocity=(1.0, 0, 0))
    motion = simulated(ContactScene(solids=[block], gravity=gravity), 2.0, staticFriction="0.6", dynamicFriction="0.4")
    wanted = 0.5 / (G * (np.sin(angle) + 0.4 * np.cos(angle)))
    assert motion.place("block")[-1, 0] == pytest.approx(wanted, rel=2e-3)
    assert motion.largest_speed[-1] < 1e-5


@pytest.mark.parametrize("mode, friction", [("average", 0.35), ("min", 0.2), ("multiply", 0.1), ("max", 0.5)])
def test_combined_materials(mode, friction):
    """Two materials together slow a sliding block by what their mode makes of them."""
    scene = ContactScene(solids=[dataclasses.replace(BLOCK, velocity=(2.0, 0, 0))])
    other = (
        'def Material "ice" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {\nfloat physics:staticFriction = 0.2\n'
        f'float physics:dynamicFriction = 0.2\nuniform token physxMaterial:frictionCombineMode = "{mode}"\n}}\n'
    )
    text = dataclasses.replace(scene, joints=other).usd
    place = text.index("rel material:binding:physics = </World/material>")
    text = text[:place] + text[place:].replace("</World/material>", "</World/ice>", 1)
    one = wa.Simulation(wa.read_stage(open_text(text)), settings=wa.SolverSettings(dt=DT, precision="float64"))
    motion = Motion(one.record(72, quantities=("link_pose", "link_velocity", "energy")))
    found = np.polyfit(motion.time, motion.velocity("block")[:, 0], 1)[0]
    assert found == pytest.approx(-friction * G, rel=1e-3)


BLOCK = box("block", (0.1, 0.1, 0.01), (0, 0, 0.01))
