"""The step with contacts against closed forms, and what is left of them where contacts give way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles import contact_step
from tests.oracles.contact_step import ContactStep, RigidBody, box, sphere
from tests.oracles.movement import rotation

G = 9.81
RIGID = ContactStep()
LAWS = {"rigid": RIGID, "three passes": ContactStep(passes=3)}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def run(law: ContactStep, bodies: list[RigidBody], time: float) -> list[list[RigidBody]]:
    """The bodies before and after each step."""
    found, memory = [bodies], []
    for _ in range(round(time / law.h)):
        bodies, memory = law(bodies, memory)
        found.append(bodies)
    return found


def apexes(heights: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Heights where speeds turn from up to down."""
    return np.array([heights[k] for k in range(1, len(heights)) if speeds[k - 1] > 0.0 >= speeds[k]])


@each_law
def test_ball_that_does_not_bounce_comes_to_rest(law):
    """From 0.4 m: hardly below the ground, hardly off it, then on it to rounding."""
    heights = np.array([bodies[0].position[2] - 0.1 for bodies in run(law, [sphere((0, 0, 0.5), 0.1)], 2.0)])
    after = heights[round(np.sqrt(0.8 / G) / law.h) + 2 :]
    assert heights.min() > -1e-5 and after.max() < 1e-6
    assert abs(heights[-1]) < 1e-12


@each_law
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_ball_bounces(restitution, law):
    """Apexes are e^2 of the one before, to 1 %; with e = 1 the energy stays to 3e-4 over three impacts."""
    law = replace(law, restitution=restitution)
    motion = run(law, [sphere((0, 0, 0.5), 0.1)], 2.0)
    heights = np.array([bodies[0].position[2] - 0.1 for bodies in motion])
    speeds = np.array([bodies[0].velocity[2] for bodies in motion])
    found = apexes(heights, speeds)[:3]
    np.testing.assert_allclose(found, 0.4 * restitution ** (2.0 * np.arange(1, 4)), rtol=0.01)
    energies = [law.energy(bodies) - G * 0.1 for bodies in motion]
    if restitution == 1.0:
        np.testing.assert_allclose(energies, G * 0.4, rtol=3e-4)


def slope(law: ContactStep, tangent: float) -> ContactStep:
    """Gravity as on a slope whose normal is Z, down along X."""
    angle = np.arctan(tangent)
    return replace(law, gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))


@each_law
def test_cube_holds_below_the_cone(law):
    """At 0.499 of mu 0.5 it creeps less than a micrometre in two seconds."""
    cube = run(slope(law, 0.499), [box((0, 0, 0.05), 0.05)], 2.0)[-1][0]
    assert abs(cube.position[0]) < 1e-6 and abs(cube.position[2] - 0.05) < 1e-12


@each_law
@pytest.mark.parametrize("tangent", [0.501, 0.55, 0.8])
def test_cube_slides_above_the_cone(tangent, law):
    """By g (sin - mu cos) t^2 / 2."""
    law = slope(law, tangent)
    cube = run(law, [box((0, 0, 0.05), 0.05)], 1.0)[-1][0]
    exact = 0.5 * (law.gravity[0] + 0.5 * law.gravity[2])
    assert cube.position[0] == pytest.approx(exact, rel=1e-4)


@each_law
def test_sliding_ball_comes_to_roll(law):
    """A ball thrown at 2 m/s slides for 2 v / (7 mu g), then rolls at 5/7 of its speed."""
    ball = run(replace(law, friction=0.3), [sphere((0, 0, 0.1), 0.1, velocity=(2, 0, 0, 0, 0, 0))], 2.0)[-1][0]
    slides = 4.0 / (7.0 * 0.3 * G)
    place = 2.0 * slides - 0.15 * G * slides**2 + 10.0 / 7.0 * (2.0 - slides)
    assert ball.velocity[0] == pytest.approx(10.0 / 7.0, rel=1e-9)
    assert ball.position[0] == pytest.approx(place, rel=1e-5)
    assert ball.velocity[4] == pytest.approx(10.0 / 0.7, rel=1e-9)


def stack(masses) -> list[RigidBody]:
    """Cubes on each other, from below, a little off."""
    rng = np.random.default_rng(0)
    places = [np.array([0.0, 0.0, 0.05 + 0.1 * k]) + 1e-7 * rng.normal(size=3) for k in range(len(masses))]
    return [box(place, 0.05, mass=float(mass)) for place, mass in zip(places, masses)]


STACKS = {"ten": (1,) * 10, "100 on 1": (1, 100), "1e4 on 1": (1, 1e4), "100 on five": (1,) * 5 + (100,)}


@pytest.mark.parametrize("masses", STACKS.values(), ids=STACKS)
def test_rigid_stack_stands(masses):
    """Cubes end where they began, at rest, whatever their masses."""
    cubes = stack(masses)
    after = run(RIGID, cubes, 0.5)[-1]
    np.testing.assert_allclose([body.position for body in after], [body.position for body in cubes], atol=1e-6)
    assert max(np.abs(body.velocity).max() for body in after) < 1e-8


def test_stack_that_gives_way_falls():
    """Giving way from the impulses before is an integral controller, and unstable for soft modes of a stack."""
    after = run(LAWS["three passes"], stack(STACKS["ten"]), 0.75)[-1]
    assert max(np.abs(body.velocity).max() for body in after) > 0.01


def test_heavy_box_breaks_what_gives_way():
    """So it is with a hundred times the mass on top."""
    after = run(LAWS["three passes"], stack(STACKS["100 on 1"]), 1.5)[-1]
    assert np.abs(after[1].position - [0.0, 0.0, 0.15]).max() > 0.05


@each_law
def test_tumbling_cube_gains_no_energy(law):
    """Thrown on a corner, no step gains more than 1e-5 of the energy; at the end it lies flat and still."""
    law = replace(law, friction=0.4)
    start = box((0, 0, 0.4), 0.1, rotation=rotation(np.array([0.3, 0.5, 0.2])), velocity=(1, 0, 0, 2, 3, 1))
    motion = run(law, [start], 2.0)
    energies = np.array([law.energy(bodies) for bodies in motion])
    assert np.diff(energies).max() < 1e-5 * energies[0]
    assert motion[-1][0].position[2] == pytest.approx(0.1, abs=1e-9)
    assert np.abs(motion[-1][0].velocity).max() < 1e-9


def test_two_balls_exchange_their_velocities():
    """Head on, with e = 1 and no gravity."""
    law = ContactStep(restitution=1.0, gravity=(0.0, 0.0, 0.0), friction=0.0)
    balls = [sphere((0, 0, 1), 0.1, velocity=(1, 0, 0, 0, 0, 0)), sphere((0.5, 0, 1), 0.1)]
    after = run(law, balls, 1.0)[-1]
    np.testing.assert_allclose([ball.velocity[0] for ball in after], [0.0, 1.0], atol=1e-8)
    np.testing.assert_allclose([ball.position[0] for ball in after], [0.3, 0.5 + 0.7], atol=1e-8)


def test_free_box_keeps_its_energy_and_turn():
    """In flight a box of three different moments turns with energy and angular momentum kept to second order."""
    law = ContactStep(gravity=(0.0, 0.0, 0.0))
    start = box((0, 0, 5), (0.1, 0.2, 0.3), velocity=(0, 0, 0, 1, 2, 0.5))

    def turn(body):
        return body.rotation @ (body.inertia * (body.rotation.T @ body.velocity[3:]))

    changes = []
    for h in (1 / 240, 1 / 480):
        end = run(replace(law, h=h), [start], 1.0)[-1]
        changes.append((abs(law.energy(end) - law.energy([start])), np.abs(turn(end[0]) - turn(start)).max()))
    assert changes[0][0] < 1e-3 * law.energy([start])
    assert np.all(np.array(changes[1]) < 0.3 * np.array(changes[0]))


def test_newton_and_admm_find_the_same_impulses(monkeypatch):
    """A tumbling box on another and a ball, stepped with the one and with the other."""
    bodies = [
        box((0, 0, 0.1), (0.3, 0.3, 0.1), mass=3.0),
        box((0.05, 0.02, 0.33), 0.1, rotation=rotation(np.array([0.2, 0.1, 0.4])), velocity=(0.5, 0, -1, 1, 2, 0)),
        sphere((-0.35, 0.0, 0.3), 0.1, velocity=(1.0, 0, 0, 0, 0, 0)),
    ]
    law = LAWS["three passes"]
    by_newton = run(law, bodies, 0.25)[-1]
    monkeypatch.setattr(
        contact_step, "impulses", lambda problem, v: contact_step.contact_problem.solved(problem, tolerance=1e-12)
    )
    by_admm = run(law, bodies, 0.25)[-1]
    for one, other in zip(by_newton, by_admm):
        np.testing.assert_allclose(one.position, other.position, atol=1e-7)
        np.testing.assert_allclose(one.velocity, other.velocity, atol=1e-5)
