"""Bodies that may touch a mechanism, but do not, fly as they do alone, and so does what has come off it."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import WANTED, Motion, simulated, simulation

G = 9.81
LENGTHS = (0.3, 0.2)
"""Half of those of the bars of a double pendulum, which starts stretched along x and turns by up to 0.4 rad a step."""
BARS = (
    box("first", (LENGTHS[0], 0.02, 0.02), (LENGTHS[0], 0.0, 5.0), mass=2.0),
    box("second", (LENGTHS[1], 0.02, 0.02), (2.0 * LENGTHS[0] + LENGTHS[1], 0.0, 5.0), mass=0.3),
)
RATES = pytest.mark.parametrize("rate", [60, 240])


def ball(name: str):
    """It flies high above all else."""
    return sphere(name, 0.1, (1.0, 0.0, 30.0), velocity=(3.0, 0.0, 4.0), turning=(1.0, 2.0, 3.0))


def joint(kind: str, name: str, body0: str | None, body1: str, place0, place1, more: str = "") -> str:
    """A joint at places of both bodies; hinges turn about y."""
    at0, at1 = (tuple(map(float, place)) for place in (place0, place1))
    first = f"rel physics:body0 = </World/{body0}>\n" if body0 else ""
    axis = 'uniform token physics:axis = "Y"\n' if kind == "Revolute" else ""
    return (
        f'def Physics{kind}Joint "{name}" {{\n{first}rel physics:body1 = </World/{body1}>\n{axis}{more}'
        f"point3f physics:localPos0 = {at0}\npoint3f physics:localPos1 = {at1}\n}}\n"
    )


TOP = joint("Revolute", "top", None, "first", (0.0, 0.0, 5.0), (-LENGTHS[0], 0.0, 0.0))
PLACES = (LENGTHS[0], 0.0, 0.0), (-LENGTHS[1], 0.0, 0.0)
ELBOW = joint("Revolute", "elbow", "first", "second", *PLACES)
LOOP = joint("Revolute", "elbow", "first", "second", *PLACES, "bool physics:excludeFromArticulation = true\n")


def assert_flies(motion: Motion, name: str, first: int = 0):
    """From a record on it keeps its momenta but for its weight, to rounding of a run."""
    v = motion.velocity(name)[first:]
    v[:, 2] += G * (motion.time[first:] - motion.time[first])
    np.testing.assert_allclose(v, np.broadcast_to(v[0], v.shape), atol=1e-5)
    w = motion.turning(name)[first:]
    np.testing.assert_allclose(w, np.broadcast_to(w[0], w.shape), atol=1e-9)


@RATES
@pytest.mark.parametrize("name", ["a_ball", "z_ball"])
def test_a_ball_beside_a_closed_mechanism(name, rate):
    """It was scaled with what keeps the energy of the bars: it lost 3 mm/s, beside a fast four-bar linkage 0.3 m/s."""
    scene = ContactScene(solids=[*BARS, ball(name)], joints=TOP + LOOP)
    motion = simulated(scene, 2.0, dt=1.0 / rate)
    assert_flies(motion, name)
    assert np.ptp(motion.energy) < 1e-4 * motion.kinetic.max()


@RATES
@pytest.mark.parametrize("elbow", [ELBOW, LOOP], ids=["tree", "loop"])
@pytest.mark.parametrize("has_ground", [True, False])
@pytest.mark.parametrize("name", ["a_ball", "z_ball"])
def test_a_ball_that_has_come_off(name, has_ground, elbow, rate):
    """A joint that cannot hold ties it to the second bar: what slows the bars down at 60 Hz slowed the ball down, too.

    The ball of a trebuchet with links that whip lost all of its 10 m/s; where no ground was near, the links flew apart.
    """
    away = np.array(ball(name).position) - BARS[1].position
    tie = joint("Fixed", "tie", "second", name, away, (0.0, 0.0, 0.0), "float physics:breakForce = 1e-6\n")
    scene = ContactScene(solids=[*BARS, ball(name)], joints=TOP + elbow + tie, has_ground=has_ground)
    motion = simulated(scene, 2.0, dt=1.0 / rate)
    assert_flies(motion, name, first=1)
    assert (motion.energy[1:] - motion.energy[1]).max() < 1e-4 * motion.kinetic.max()


@RATES
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_what_pushes_a_ball_is_nothing_to_a_closed_mechanism(precision, rate):
    """Given forces are a reason to keep no energy: of the ball alone, not of bars that it may touch."""
    alone = motion_of_bars((), None, precision, rate)
    pushed = motion_of_bars((ball("ball"),), 0.5, precision, rate)
    for name in ("first", "second"):
        np.testing.assert_array_equal(pushed.place(name), alone.place(name))
    assert np.ptp(pushed.velocity("ball")[:, 0]) == pytest.approx(0.5 * 2.0, rel=1e-4)


def motion_of_bars(others: tuple, push: float | None, precision: str, rate: int) -> Motion:
    """Two seconds of the closed bars and others, of which the ball is pushed along x [N]."""
    one = simulation(ContactScene(solids=[*BARS, *others], joints=TOP + LOOP), precision=precision, dt=1.0 / rate)
    if push is not None:
        force = one.control.link_external_force.numpy()
        force[list(one.link_names).index("/World/ball"), 0] = push
        one.control.link_external_force = force
    return Motion(one.record(2 * rate, quantities=WANTED))
