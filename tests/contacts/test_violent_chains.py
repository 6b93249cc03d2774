"""Chains that turn far in a step, near others and against them: what contacts do to them gives no energy."""

from dataclasses import replace

import numpy as np
import pytest

import warp_artic as wa
from tests import trees
from tests.contact_stages import BOX, ContactScene, Solid, capsule, sphere, turn
from tests.contacts.motion import simulation
from tests.usd.authoring import open_text
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon

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
    return energies_of(simulation(scene, **{"precision": "float64", "dt": 1 / 60} | settings), steps)


def energies_of(one: wa.Simulation, steps: int) -> np.ndarray:
    """The same of a simulation."""
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


ACTING = {
    "dampers": {"drive": Drive(damping=0.05)},
    "springs": {"drive": Drive(stiffness=5.0, damping=0.05)},
    "bounded drives": {"drive": Drive(stiffness=50.0, damping=0.5, max_force=3.0)},
    "dry friction": {"friction": Friction(static_effort=0.1, dynamic_effort=0.1)},
    "viscous friction": {"friction": Friction(viscous=0.02)},
    "mimic": {},
    "tendon": {},
}
GAINS = 0.15
"""What violent steps may give of the energy at the start, with the first step and an impact."""
STORING = ("springs", "bounded drives", "tendon")
"""Whose energy is not in that of motion and weight."""


def acted(scene: wa.Scene, what: str) -> wa.Scene:
    """A scene of chains of four links, in whose joints something acts that starts without energy."""
    found = []
    for tree in scene.articulations:
        if tree.dofs:
            tree = trees.with_dofs(tree, **ACTING[what])
            ends = (0, len(tree.dofs) - 1)
            if what == "mimic":
                tree = replace(tree, mimics=(Mimic(name=f"{tree.path}/m", dofs=ends, gears=(1.0, -0.7)),))
            if what == "tendon":
                weights = (1.0, 0.6)
                tendon = FixedTendon(
                    name=f"{tree.path}/t", dofs=ends, coefficients=weights, force_coefficients=weights,
                    stiffness=20.0, damping=0.05, rest_length=0.0,
                )  # fmt: skip
                tree = replace(tree, fixed_tendons=(tendon,))
        found.append(tree)
    return replace(scene, articulations=tuple(found))


def run_of_acted(scene: ContactScene, what: str, **settings) -> wa.Simulation:
    """At 60 Hz."""
    options = wa.SolverSettings(**{"precision": "float64", "dt": 1 / 60} | settings)
    return wa.Simulation(acted(wa.read_stage(open_text(scene.usd)), what), settings=options)


@pytest.mark.parametrize(("precision", "solver"), [("float64", one) for one in SOLVERS] + [("float32", "direct")])
@pytest.mark.parametrize("what", ACTING)
def test_what_acts_in_joints_gives_no_energy_in_a_room(what, precision, solver):
    """Two chains that turn by a third of a radian in a step, between walls: little comes from what takes it."""
    for seed in range(3):
        one = run_of_acted(room(seed, 0.5, 0.5, 9.81, 4.0, 18.0), what, solver=solver, precision=precision)
        energy = energies_of(one, 180)
        gain = energy.max() - energy[0] if what in STORING else largest_gain(energy)
        assert gain < GAINS * energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("what", ACTING)
def test_what_acts_in_joints_gives_no_energy_in_flight(what, solver):
    """A chain alone, without weight, for two seconds."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        solids, joints = chain("a", speed=(1.0, 2.0, 0.5), turning=tuple(20.0 * rng.normal(size=3)))
        scene = ContactScene(solids=solids, joints=joints, gravity=(0.0, 0.0, 0.0), has_ground=False)
        one = run_of_acted(scene, what, solver=solver)
        energy = energies_of(one, 120)
        gain = energy.max() - energy[0] if what in STORING else largest_gain(energy)
        assert gain < GAINS * energy[0]
