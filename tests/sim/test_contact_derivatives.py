"""Derivatives of steps with contacts: against central differences, closed forms, and one another."""

from functools import cache

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, sphere, turn
from tests.usd.authoring import open_text
from warp_artic import Scene, Simulation, SolverSettings, read_stage
from warp_artic.sim.derivatives.quantities import quantity

SOLVERS = ("direct", "pgs", "tgs")
DIRECTIONS = 3
LEG = """
def PhysicsRevoluteJoint "hip" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {
rel physics:body0 = </World/body>
rel physics:body1 = </World/leg>
point3f physics:localPos0 = (0.12, 0, -0.05)
point3f physics:localPos1 = (0, 0, 0.15)
uniform token physics:axis = "Y"
float drive:angular:physics:stiffness = 0.8
float drive:angular:physics:damping = 0.03
float drive:angular:physics:targetPosition = 20
}
"""
BRICK = (0.1, 0.12, 0.15)
STANDING = (0.0, 0.0, 0.15)
SCENES = {
    "a box that slides": ContactScene(solids=[box("b", BRICK, STANDING, velocity=(1.5, 0.3, 0.0))]),
    "a box that slides without friction": ContactScene(
        solids=[box("b", BRICK, STANDING, velocity=(1.5, 0.3, 0.0))], friction=0.0
    ),
    "a box that turns": ContactScene(solids=[box("b", BRICK, STANDING, turning=(0.0, 0.0, 12.0))]),
    "a box that rests": ContactScene(solids=[box("b", BRICK, STANDING)]),
    "a box on an edge": ContactScene(solids=[box("b", BRICK, (0.0, 0.0, 0.18), quaternion=turn((0, 1, 0), 0.3))]),
    "a box that is thrown": ContactScene(
        solids=[box("b", BRICK, (0, 0, 0.2), quaternion=turn((1, 1, 0), 0.2), velocity=(0.4, 0.1, -1.0))]
    ),
    "a ball that rolls": ContactScene(solids=[sphere("b", 0.1, (0, 0, 0.1), velocity=(0.5, 0, 0), turning=(0, 5, 1))]),
    "a ball that slides": ContactScene(solids=[sphere("b", 0.1, (0, 0, 0.1), velocity=(1.5, 0.1, 0.0))]),
    "a ball that bounces": ContactScene(
        solids=[sphere("b", 0.1, (0, 0, 0.16), velocity=(0.5, 0, -1.0), turning=(0, 5, 1))], restitution=0.6
    ),
    "a ball with rolling friction": ContactScene(
        solids=[sphere("b", 0.1, (0, 0, 0.1), velocity=(0.5, 0.1, 0), turning=(-1, 5, 3))],
        torsional_friction=0.01, rolling_friction=0.01,
    ),
    "a capsule that rolls": ContactScene(
        solids=[capsule("b", 0.1, 0.2, (0, 0, 0.1), quaternion=turn((0, 1, 0), np.pi / 2), turning=(-4.0, 0, 0.7))]
    ),
    "a box on a box": ContactScene(
        solids=[box("b", (0.3, 0.3, 0.1), (0, 0, 0.1)), box("c", BRICK, (0.02, 0, 0.35), velocity=(0.9, 0.1, 0.0))]
    ),
    "a body with a driven leg": ContactScene(
        solids=[
            box("body", (0.2, 0.1, 0.05), (0, 0, 0.3), velocity=(0.3, 0.2, 0)),
            capsule("leg", 0.04, 0.15, (0.12, 0, 0.1)),
        ],
        joints=LEG,
    ),
}  # fmt: skip
CASES = [(name, solver) for name in SCENES for solver in SOLVERS]


@cache
def scene(name: str) -> Scene:
    """One of SCENES, as it is read."""
    return read_stage(open_text(SCENES[name].usd))


def simulation(name: str, environments: int = 1, **settings) -> Simulation:
    """After 20 steps."""
    settings = SolverSettings(**{"precision": "float64"} | settings)
    found = Simulation(scene(name), environments=environments, settings=settings)
    found.step(20)
    return found


def random_seeds(found: Simulation, names, seed: int = 0) -> dict[str, np.ndarray]:
    """Random directions of some quantities; those of parameters are a share of their values."""
    rng = np.random.default_rng(seed)
    seeds = {}
    for name in names:
        one = quantity(found.run, name)
        seeds[name] = rng.normal(size=(DIRECTIONS, *one.shape))
        if hasattr(found.parameters, name):
            seeds[name] *= getattr(found.parameters, name).numpy()[..., 0]
    return seeds


def turned(q, phi):
    """Quaternions (..., 4), xyzw, turned by rotation vectors in world axes."""
    angle = np.linalg.norm(phi, axis=-1, keepdims=True)
    xyz = phi * 0.5 * np.sinc(angle / (2.0 * np.pi))
    w, a, b = np.cos(0.5 * angle), q[..., :3], q[..., 3:]
    return np.concatenate([w * a + b * xyz + np.cross(xyz, a), w * b - (xyz * a).sum(-1, keepdims=True)], axis=-1)


def motion_between(one, other):
    """The motion (R, 6) from poses to others that are close to them, world axes."""
    q, p = one[:, 3:], other[:, 3:]
    phi = 2.0 * (q[:, 3:] * p[:, :3] - p[:, 3:] * q[:, :3] - np.cross(p[:, :3], q[:, :3]))
    return np.concatenate([other[:, :3] - one[:, :3], phi * np.sign((q * p).sum(-1, keepdims=True))], axis=1)


def differences(name: str, seeds, steps: int, step: float, **settings) -> np.ndarray:
    """Central differences of motion, shape (K, numbers): poses and velocities of roots, then those of joints."""
    found = simulation(name, 2 * DIRECTIONS, **settings)
    ways = step * np.repeat([1.0, -1.0], DIRECTIONS)
    for quantity_name, table in seeds.items():
        changes = np.moveaxis(np.concatenate([table, table]), 0, -1) * ways
        views = next(one for one in (found.state, found.control, found.parameters) if hasattr(one, quantity_name))
        values = getattr(views, quantity_name).numpy()
        if quantity_name == "root_pose":
            poses, moved = np.moveaxis(values, -1, 0), np.moveaxis(changes, -1, 0)
            values = np.concatenate(
                [poses[..., :3] + moved[..., :3], turned(poses[..., 3:], moved[..., 3:])], axis=-1
            ).transpose(1, 2, 0)  # fmt: skip
        else:
            values = np.broadcast_to(values, changes.shape) + changes
        setattr(views, quantity_name, values)
    found.step(steps)
    ends = {key: np.moveaxis(getattr(found.state, key).numpy(), -1, 0) for key in ("root_pose", *VELOCITIES)}
    rows = []
    for k in range(DIRECTIONS):
        parts = [motion_between(ends["root_pose"][DIRECTIONS + k], ends["root_pose"][k])]
        parts += [ends[key][k] - ends[key][DIRECTIONS + k] for key in VELOCITIES]
        rows.append(np.concatenate([part.ravel() for part in parts]) / (2.0 * step))
    return np.array(rows)


VELOCITIES = ("root_velocity", "joint_position", "joint_velocity")


def stacked(derivatives) -> np.ndarray:
    """The same of a tangent, of its last record."""
    parts = [getattr(derivatives, key)[-1][:, 0].reshape(DIRECTIONS, -1) for key in ("root_pose", *VELOCITIES)]
    return np.concatenate(parts, axis=1)


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference relative to the largest number of a direction, or to that at the start, some 1."""
    assert np.isfinite(one).all()
    return float((np.abs(one - other).max(axis=1) / np.maximum(np.abs(other).max(axis=1), 1.0)).max())


@pytest.mark.parametrize(("name", "solver"), CASES)
def test_by_motion_at_the_start(name, solver):
    """Velocities are perturbed by so little that no branch of the law is left."""
    found = simulation(name, solver=solver)
    seeds = random_seeds(found, ["root_velocity"])
    wanted = differences(name, seeds, 5, 1e-7, solver=solver)
    assert distance(stacked(found.tangent(seeds, 5).derivatives), wanted) < 1e-6


PARAMETERS = {
    "a box that slides": ("contact_dynamic_friction", "gravity", "link_mass"),
    "a box that turns": ("contact_dynamic_friction", "link_mass"),
    "a ball that bounces": ("contact_restitution", "gravity", "contact_static_friction"),
    "a ball that slides": ("contact_dynamic_friction", "link_mass"),
    "a ball with rolling friction": ("contact_torsional_friction", "contact_rolling_friction"),
    "a box on a box": ("contact_dynamic_friction", "link_mass"),
    "a body with a driven leg": ("drive_stiffness", "drive_position_target", "link_mass", "contact_static_friction"),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PARAMETERS)
def test_by_parameters(name, solver):
    """Of contacts, links and drives."""
    found = simulation(name, solver=solver)
    seeds = random_seeds(found, PARAMETERS[name])
    wanted = differences(name, seeds, 5, 1e-6, solver=solver)
    assert distance(stacked(found.tangent(seeds, 5).derivatives), wanted) < 1e-6


@pytest.mark.parametrize(
    ("name", "solver"), [(name, solver) for name, solver in CASES if solver == "direct" or name in PARAMETERS]
)
def test_values_are_those_of_steps(name, solver):
    """Bitwise, in both precisions, of which sweeps have one: their kernel takes the better part of a minute."""
    for precision in ("float32", "float64") if solver == "direct" else ("float64",):
        found, other = (simulation(name, solver=solver, precision=precision) for _ in range(2))
        tangent = found.tangent(random_seeds(found, ["root_velocity"]), 12)
        other.step(12)
        assert np.array_equal(tangent.values.root_pose[-1][0], other.state.root_pose.numpy()[..., 0])
        assert np.array_equal(tangent.values.root_velocity[-1][0], other.state.root_velocity.numpy()[..., 0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", SCENES)
def test_backward_and_forward_are_one_number(name, solver):
    """The gradient times a direction is the derivative along it."""
    found = simulation(name, solver=solver)
    names = ["root_velocity", "root_pose", "link_mass", "contact_dynamic_friction", "contact_restitution"]
    seeds = random_seeds(found, names)
    rng = np.random.default_rng(5)
    shape = quantity(found.run, "root_velocity").shape
    weights = {key: rng.normal(size=(11, 1, *shape)) for key in ("root_pose", "root_velocity")}
    derivatives = found.tangent(seeds, 10, every=1).derivatives
    wanted = sum(np.einsum("tkerc,terc->k", getattr(derivatives, key), table) for key, table in weights.items())
    _, gradient = found.gradient(lambda motion: (0.0, weights), 10, names)
    along = sum(seeds[key].reshape(DIRECTIONS, -1) @ gradient[key].sum(axis=0).ravel() for key in names)
    assert along == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_sliding_box(solver):
    """Its speed is  v_0 - mu g t."""
    found = simulation("a box that slides", solver=solver)
    tangent = found.tangent({"contact_dynamic_friction": np.ones((1, 1))}, 24)
    slope = tangent.derivatives.root_velocity[-1][0, 0, 0, :3]
    direction = tangent.values.root_velocity[0][0, 0, :3]
    assert np.allclose(slope, -9.81 * 24 / 240.0 * direction / np.linalg.norm(direction), atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_ball_that_comes_to_roll(solver):
    """Its speed is  (5 v_0 + 2 r w_0) / 7  then, whatever the friction."""
    found = simulation("a ball that slides", solver=solver)
    v, w = np.zeros((2, 2, 1, 6))
    seeds = {
        "root_velocity": np.array([[[1, 0, 0, 0, 0, 0]], [[0, 0, 0, 0, 1, 0]], [[0, 0, 0, 0, 0, 0]]], float),
        "contact_dynamic_friction": np.array([[0.0], [0.0], [1.0]]),
    }
    tangent = found.tangent(seeds, 120)
    assert np.linalg.norm(tangent.values.root_velocity[-1][0, 0, :2]) > 0.5
    assert np.allclose(tangent.derivatives.root_velocity[-1][:, 0, 0, 0], [5 / 7, 0.2 / 7, 0.0], atol=1e-4)


@pytest.mark.parametrize("name", SCENES)
def test_single_precision(name):
    """Derivatives in float32 are those in float64, of a step from one state."""
    found = [simulation(name, precision=precision) for precision in ("float32", "float64")]
    seeds = random_seeds(found[0], ["root_velocity"])
    one, other = (stacked(side.tangent(seeds, 1).derivatives) for side in found)
    # Of four points that slide, what they share is known to rounding over the part of R that is left, and that of two
    # whose impulses become anchors to rounding over a part of that.
    most = {"a box that slides": 5e-3, "a box on a box": 5e-3, "a box that is thrown": 1e-3}
    assert distance(one, other) < most.get(name, 1e-4)


def test_kinks():
    """How near points are to let go, to slide and to stick."""
    force = {name: simulation(name).kinks(1).force[0] for name in ("a box that rests", "a box on an edge")}
    assert np.allclose(force["a box that rests"].reshape(4, 3), [2.4525, 0.5 * 2.4525, 0.5 * 2.4525], rtol=1e-6)
    assert len(force["a box on an edge"]) == 6
    found = simulation("a box that slides").kinks(1)
    speed = np.linalg.norm(simulation("a box that slides").state.root_velocity.numpy()[0, :2, 0])
    velocity = found.velocity[0].reshape(4, 3)
    assert np.allclose(velocity[:, 1:], speed - 0.5 * 9.81 / 240.0, rtol=1e-5)
    assert found.near(0.0, 0.0) == ()
