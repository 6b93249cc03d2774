"""Chains that turn far in a step, near others and against them: what contacts do to them gives no energy."""

import numpy as np
import pytest

from tests.contact_stages import BOX, ContactScene, Solid, capsule, sphere, turn
from tests.contacts.motion import simulation

SOLVERS = ("direct", "pgs", "tgs")
PITCH = 0.3
"""Of the links of a chain [m]."""
ALONG_X = turn((0, 1, 0), 0.5 * np.pi)
FAR = (sphere("far", 0.1, (50.0, 0.0, 0.0)),)


def chain(name: str, middle=(0.0, 0.0, 0.0), links=4, speed=(0.0, 0.0, 0.0), turning=(0.0, 0.0, 0.0), balls=True):
    """Capsules in a row, on hinges and, if asked for, ball joints in turns; it moves as one at the start."""
    solids, joints = [], ""
    for k in range(links):
        x = np.array([PITCH * (k - 0.5 * (links - 1)), 0.0, 0.0])
        solids.append(
            capsule(f"{name}{k}", 0.05, 0.1, tuple(np.add(middle, x)), quaternion=ALONG_X, mass=0.5,
                    velocity=tuple(np.add(speed, np.cross(turning, x))), turning=turning)
        )  # fmt: skip
        if k:
            kind = "Spherical" if balls and k % 2 == 0 else "Revolute"
            joints += (
                f'def Physics{kind}Joint "{name}joint{k}" {{\n'
                f"rel physics:body0 = </World/{name}{k - 1}>\nrel physics:body1 = </World/{name}{k}>\n"
                f"point3f physics:localPos0 = (0, 0, {0.5 * PITCH})\n"
                f"point3f physics:localPos1 = (0, 0, {-0.5 * PITCH})\n"
                'uniform token physics:axis = "Y"\n}\n'
            )
    return solids, joints


def energies(scene: ContactScene, steps: int, **settings) -> np.ndarray:
    """Of the whole after each step, in a run without a failure."""
    one = simulation(scene, **{"precision": "float64", "dt": 1 / 60} | settings)
    recording = one.record(steps, quantities=["energy"])
    assert not one.failures()
    return recording.energy[:, 0].astype(float).sum(axis=-1)


def largest_gain(energy: np.ndarray) -> float:
    """The largest that it is above what it has been before."""
    return float((energy - np.minimum.accumulate(energy)).max())


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_flight_near_another_body(solver, precision):
    """A chain that touches nothing keeps its energy, where it turns by two thirds of a radian in a step."""
    solids, joints = chain("a", turning=(0.0, 24.0, 32.0))
    scene = ContactScene(solids=[*solids, *FAR], joints=joints, gravity=(0.0, 0.0, 0.0), has_ground=False)
    energy = energies(scene, 120, solver=solver, precision=precision)
    assert np.abs(energy / energy[0] - 1.0).max() < (1e-4 if precision == "float32" else 1e-9)


def room(seed: int, restitution: float, friction: float, gravity: float, speed: float, rate: float) -> ContactScene:
    """Two chains between six walls."""
    rng = np.random.default_rng(seed)
    solids, joints = [], ""
    for number, height in enumerate((-0.3, 0.3)):
        v, w = rng.normal(size=(2, 3))
        v, w = v / np.linalg.norm(v) * speed, w / np.linalg.norm(w) * rate
        own, own_joints = chain("ab"[number], (0.0, 0.0, height), speed=tuple(v), turning=tuple(w))
        solids, joints = solids + own, joints + own_joints
    walls = [
        Solid(name=f"wall{axis}{k}", kind=BOX, size=(1.2, 1.2, 1.2), mass=0.0,
              position=tuple(np.eye(3)[axis] * (2 * k - 1) * 2.1))
        for axis in range(3) for k in range(2)
    ]  # fmt: skip
    return ContactScene(
        solids=[*walls, *solids], joints=joints, friction=friction, restitution=restitution,
        gravity=(0.0, 0.0, -gravity), has_ground=False,
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("restitution", "friction", "gravity", "speed", "rate"),
    [(0.0, 0.5, 9.81, 0.0, 0.0), (0.5, 0.5, 0.0, 5.0, 10.0), (1.0, 0.0, 9.81, 1.0, 1.0)],
)
def test_two_chains_in_a_room(restitution, friction, gravity, speed, rate, seed, solver):
    """At 60 Hz, where impacts and velocity forces are far from resolved."""
    energy = energies(room(seed, restitution, friction, gravity, speed, rate), 180, solver=solver)
    scale = 0.5 * 4.0 * speed**2 + gravity * 4.0
    assert largest_gain(energy) < 0.01 * scale


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("solver", SOLVERS)
def test_momentum_of_an_impact(solver, dt):
    """A ball that hits a chain of two links leaves both with what they had, and with no more energy."""
    solids, joints = chain("a", links=2, balls=False)
    ball = sphere("ball", 0.08, (0.22, 0.03, 0.5), velocity=(0.0, 0.0, -3.0), mass=0.7)
    scene = ContactScene(
        solids=[*solids, ball], joints=joints, friction=0.0, restitution=1.0, gravity=(0.0, 0.0, 0.0), has_ground=False
    )
    one = simulation(scene, solver=solver, precision="float64", dt=dt)
    recording = one.record(round(0.5 / dt))
    masses = {"a0": 0.5, "a1": 0.5, "ball": 0.7}
    weights = np.array([masses[name.rsplit("/", 1)[1]] for name in recording.link_names])
    momentum = weights @ recording.link_velocity[:, 0, :, :3].astype(float)
    energy = recording.energy[:, 0].astype(float).sum(axis=-1)
    assert np.abs(recording.link_velocity[-1, 0, :, 2]).min() > 0.01
    assert np.abs(momentum - momentum[0]).max() < 2.1 * (0.02 if dt > 0.01 else 0.005)
    assert energy.max() < 1.005 * energy[0]


def test_pile_of_chains_among_many_bodies():
    """Ten chains that fall on each other, as islands: 12 J are left of 387 after three seconds."""
    rng = np.random.default_rng(0)
    solids, joints = [], ""
    for number in range(10):
        x, y = rng.uniform(-0.3, 0.3, 2)
        own, own_joints = chain(f"c{number}_", (float(x), float(y), 0.4 + 0.35 * number))
        solids, joints = solids + own, joints + own_joints
    energy = energies(ContactScene(solids=solids, joints=joints), 180)
    assert largest_gain(energy) < 0.01 * energy[0]
    assert energy[-1] < 0.2 * energy[0]
