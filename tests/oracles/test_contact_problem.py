"""The solver of contact problems against closed forms and enumeration, and what its measure of errors sees."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.oracles import contact_problem, contact_scenes
from tests.oracles.contact_problem import ContactProblem
from tests.oracles.contact_scenes import GRAVITY, STEP, Body, Touch, ball, free_bodies
from warp_artic.description.joint import WORLD

UP = np.array([0.0, 0.0, 1.0])


def test_projection_is_the_nearest_point_of_the_cone():
    """Moreau: a point is the sum of its projections, at right angles, on the cone and on the negative of its dual."""
    rng = np.random.default_rng(0)
    x, mu = rng.normal(size=(500, 3)), rng.choice([0.0, 0.1, 0.7, 3.0], size=500)
    x[::5, 1:] = 0.0
    near = contact_problem.project(x, mu)
    rest = near - x
    assert (np.hypot(near[:, 1], near[:, 2]) <= mu * near[:, 0] + 1e-15).all()
    assert (mu * np.hypot(rest[:, 1], rest[:, 2]) <= rest[:, 0] + 1e-14).all()
    np.testing.assert_allclose((near * rest).sum(axis=1), 0.0, atol=1e-14)


# ---------------------------------------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------------------------------------


def block_on_slope(tangent: float, friction: float, mass: float = 3.0) -> tuple[ContactProblem, np.ndarray, np.ndarray]:
    """A block at rest on a slope, the direction down the slope and its normal."""
    angle = np.arctan(tangent)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    side = np.array([0.0, 1.0, 0.0])
    body = Body(mass=mass, inertia=0.02 * np.eye(3), position=0.05 * normal, velocity=np.zeros(6), load=np.zeros(6))
    corners = [0.1 * (x * down + y * side) for x, y in product((-1, 1), (-1, 1))]
    touches = [Touch(other=WORLD, body=0, point=point, normal=normal, friction=friction) for point in corners]
    return free_bodies([body], touches), down, normal


def test_block_below_the_cone_stays():
    """Friction carries what gravity pulls down the slope; nothing moves."""
    problem, down, normal = block_on_slope(0.499, friction=0.5)
    z = contact_problem.solved(problem)
    np.testing.assert_allclose(problem.velocity(z), 0.0, atol=1e-11)
    push = np.linalg.inv(np.linalg.cholesky(problem.mass)) @ problem.jacobian.T @ z
    np.testing.assert_allclose(push[:3] * np.sqrt(3.0), 3.0 * GRAVITY * STEP * UP, atol=1e-10)


def test_block_above_the_cone_slides():
    """It gets g (sin - mu cos) down the slope, and does not turn."""
    tangent, friction = 0.6, 0.5
    problem, down, _ = block_on_slope(tangent, friction)
    v = problem.velocity(contact_problem.solved(problem))
    speed = STEP * GRAVITY * (tangent - friction) / np.sqrt(1.0 + tangent**2)
    np.testing.assert_allclose(v, np.concatenate([speed * down, np.zeros(3)]), atol=1e-11)


@pytest.mark.parametrize("friction", [0.0, 0.05, 0.2, 0.8])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_ball_hits_the_ground(friction, restitution):
    """The impulse is m (1 + e) |v_n| up, and along the ground the smaller of mu times it and 2/7 m of the slip."""
    mass, radius, fall = 2.0, 0.3, -3.0
    velocity = np.array([1.0, 0.5, fall + STEP * GRAVITY, 2.0, -1.0, 5.0])
    body = ball(mass, (0.0, 0.0, radius), radius, velocity=velocity)
    problem = free_bodies([body], [Touch(other=WORLD, body=0, point=np.zeros(3), normal=UP, friction=friction)])
    problem = replace(problem, target=np.array([-restitution * fall]))
    v = problem.velocity(contact_problem.solved(problem))
    press = mass * (1.0 + restitution) * -fall
    slip = velocity[:2] + np.cross(velocity[3:], [0.0, 0.0, -radius])[:2]
    along = -min(2.0 / 7.0 * mass * np.linalg.norm(slip), friction * press) * slip / np.linalg.norm(slip)
    impulse = np.array([*along, press])
    linear = velocity[:3] - [0.0, 0.0, STEP * GRAVITY] + impulse / mass
    angular = velocity[3:] + np.cross([0.0, 0.0, -radius], impulse) / (0.4 * mass * radius**2)
    np.testing.assert_allclose(v, [*linear, *angular], atol=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_two_balls_meet(restitution):
    """Velocities along the line of the centres are those of Newton's law of restitution."""
    m0, m1, line = 0.7, 2.1, np.array([0.6, 0.8, 0.0])
    v0, v1 = np.array([2.0, 1.0, 0.0]), np.array([-1.0, 0.5, 0.0])
    bodies = [
        ball(m0, -0.1 * line, 0.1, velocity=np.concatenate([v0, np.zeros(3)])),
        ball(m1, 0.2 * line, 0.2, velocity=np.concatenate([v1, np.zeros(3)])),
    ]
    problem = free_bodies(bodies, [Touch(other=0, body=1, point=np.zeros(3), normal=line, friction=0.0)])
    closing = (v1 - v0) @ line
    problem = replace(problem, target=np.array([-restitution * closing]))
    v = problem.velocity(contact_problem.solved(problem))
    impulse = -(1.0 + restitution) * closing * m0 * m1 / (m0 + m1)
    fall = [0.0, 0.0, -STEP * GRAVITY]
    np.testing.assert_allclose(v[:3], v0 - impulse / m0 * line + fall, atol=1e-10)
    np.testing.assert_allclose(v[6:9], v1 + impulse / m1 * line + fall, atol=1e-10)


# ---------------------------------------------------------------------------------------------------------------------
# Enumeration
# ---------------------------------------------------------------------------------------------------------------------


def random_problem(rng: np.random.Generator, count: int, planar: bool = False) -> ContactProblem:
    """Contacts of six velocities; where planar the second tangents do not move."""
    J = rng.normal(size=(3 * count, 6))
    if planar:
        J[2::3] = 0.0
    root = rng.normal(size=(6, 6))
    return ContactProblem(
        mass=root @ root.T + 0.5 * np.eye(6),
        jacobian=J,
        free_velocity=rng.normal(size=6),
        target=rng.normal(size=count) * 0.3,
        friction=rng.uniform(0.1, 1.0, size=count),
    )


def answers_of_one(problem: ContactProblem) -> list[np.ndarray]:
    """All impulses of one contact that obey the law: apart, sticking, and sliding in each direction that fits."""
    G, u, mu = problem.matrix, problem.free_slip, problem.friction[0]
    found = [np.zeros(3)] if u[0] >= 0.0 else []
    stick = -np.linalg.solve(G, u)
    if stick[0] >= 0.0 and np.hypot(stick[1], stick[2]) <= mu * stick[0]:
        found.append(stick)

    def sliding(angle: float) -> np.ndarray:
        ray = np.array([1.0, -mu * np.cos(angle), -mu * np.sin(angle)])
        return -u[0] / (G[0] @ ray) * ray

    def aside(angle: float) -> float:
        slip = u + G @ sliding(angle)
        return slip[2] * np.cos(angle) - slip[1] * np.sin(angle)

    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    values = [aside(angle) for angle in angles]
    for k in np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:])):
        angle = brentq(aside, angles[k], angles[k + 1], xtol=1e-14)
        z = sliding(angle)
        slip = u + G @ z
        if z[0] > 0.0 and abs(aside(angle)) < 1e-9 and slip[1] * np.cos(angle) + slip[2] * np.sin(angle) > 0.0:
            found.append(z)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_one_contact_has_an_answer_of_the_enumeration(seed):
    """What is found is one of all the impulses that obey the law."""
    problem = random_problem(np.random.default_rng(seed), 1)
    z = contact_problem.solved(problem)
    assert min(np.abs(z - answer).max() for answer in answers_of_one(problem)) < 1e-8


def planar_answers(problem: ContactProblem) -> list[np.ndarray]:
    """All impulses of contacts in a plane that obey the law, by every choice of apart, stick and both ways to slide."""
    G, u, mu = problem.matrix, problem.free_slip, problem.friction
    found = []
    for states in product(("apart", "stick", 1.0, -1.0), repeat=problem.count):
        rows, rays = [], []
        for k, state in enumerate(states):
            if state == "stick":
                rows += [3 * k, 3 * k + 1]
                rays += list(np.eye(3 * problem.count)[[3 * k, 3 * k + 1]])
            elif state != "apart":
                ray = np.zeros(3 * problem.count)
                ray[3 * k : 3 * k + 2] = 1.0, -state * mu[k]
                rows.append(3 * k)
                rays.append(ray)
        z = np.zeros(3 * problem.count)
        if rows:
            P = np.array(rays).T
            z = P @ np.linalg.lstsq(G[rows] @ P, -u[rows], rcond=None)[0]
        slip = u + G @ z
        fits = np.abs(slip[rows]).max(initial=0.0) < 1e-9
        for k, state in enumerate(states):
            if state == "apart":
                fits &= slip[3 * k] >= -1e-10
            elif state == "stick":
                fits &= abs(z[3 * k + 1]) <= mu[k] * z[3 * k] + 1e-10
            else:
                fits &= z[3 * k] >= -1e-10 and state * slip[3 * k + 1] >= -1e-10
        if fits:
            found.append(z)
    return found


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_planar_contacts_have_an_answer_of_the_enumeration(count, seed):
    """What is found moves bodies as one of all the choices of states does that obey the law."""
    problem = random_problem(np.random.default_rng(100 * count + seed), count, planar=True)
    v = problem.velocity(contact_problem.solved(problem))
    answers = planar_answers(problem)
    assert answers and min(np.abs(v - problem.velocity(answer)).max() for answer in answers) < 1e-7


# ---------------------------------------------------------------------------------------------------------------------
# Larger problems
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", contact_scenes.FAMILIES)
def test_problems_are_solved(family, seed):
    """Rigid or not, to a billionth of the speed; contacts push, inside the cone, and take energy."""
    problem = contact_scenes.FAMILIES[family](np.random.default_rng(seed))
    for case in (problem, problem.softened(0.025, 0.01)):
        z = contact_problem.solved(case, tolerance=1e-9)
        assert contact_problem.residual(case, z) <= 1e-9 * max(case.speed, 1.0)
        normal, across = z[::3], np.hypot(z[1::3], z[2::3])
        assert (normal >= 0.0).all() and (across <= case.friction * normal * (1.0 + 1e-12)).all()
        work = 0.5 * z @ case.jacobian @ (case.velocity(z) + case.free_velocity)
        assert work <= 1e-9 * problem.speed * np.abs(z).max()


def test_soft_contacts_obey_their_law():
    """z_n = max(0, before + (b - y_n) / R_n), and z_t nearest to before - y_t / R_t in the disc of mu z_n."""
    rng = np.random.default_rng(3)
    problem = contact_scenes.biped(rng)
    before = contact_problem.project(rng.normal(size=(8, 3)) * 0.2, problem.friction).ravel()
    soft = problem.softened(0.025, 0.01, before)
    z = contact_problem.solved(soft, tolerance=1e-12)
    y, R = soft.jacobian @ soft.velocity(z), soft.softness
    normal = np.maximum(before[::3] + (soft.target - y[::3]) / R[::3], 0.0)
    np.testing.assert_allclose(z[::3], normal, atol=1e-8)
    wanted = (before - y / R).reshape(-1, 3)[:, 1:]
    length, most = np.linalg.norm(wanted, axis=1), problem.friction * normal
    along = wanted * np.minimum(1.0, most / np.maximum(length, 1e-300))[:, None]
    np.testing.assert_allclose(z.reshape(-1, 3)[:, 1:], along, atol=1e-8)


@pytest.mark.parametrize("family", ["biped", "grasp", "groove", "pile"])
def test_soft_passes_end_at_the_rigid_law(family):
    """Solved again and again from the impulses before, soft contacts come to obey the rigid law."""
    problem = contact_scenes.FAMILIES[family](np.random.default_rng(5))
    z = None
    errors = []
    for _ in range(12):
        z = contact_problem.solved(problem.softened(0.025, 0.01, z), tolerance=1e-12)
        errors.append(contact_problem.residual(problem, z) / problem.speed)
    assert errors[-1] < 1e-6 and errors[-1] < 1e-3 * errors[0]


@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_errors_are_seen(size):
    """An impulse that is wrong by a share shows with about that share of its own speed; so does one that pulls."""
    problem = contact_scenes.grasp(np.random.default_rng(1))
    z = contact_problem.solved(problem)
    for row in range(len(z)):
        wrong = z.copy()
        wrong[row] += size
        seen = contact_problem.residual(problem, wrong)
        assert 0.02 < seen / (size * problem.scale.mean()) < 20.0
    pulls = np.zeros_like(z)
    pulls[0] = -size
    assert contact_problem.errors(problem, pulls)[0] > 0.1 * size * problem.scale[0]
