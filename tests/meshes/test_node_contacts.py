"""Contacts of nodes with obstacles: rest, impacts, indentation as SciPy has it, and environments that are alone."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.meshes.bodies import LAWS, bar
from tests.meshes.test_dynamics import EXACT, energy
from warp_artic.description.elastic_body import ElasticLaw
from warp_artic.description.obstacle import Obstacle
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import held_nodes, mesh_with_tendons, weights
from warp_artic.meshes.newton import Newton
from warp_artic.meshes.node_contacts import NodeContacts
from warp_artic.meshes.potential import Potential

GRAVITY = {2: (0.0, -9.81, 0.0), 3: (0.0, 0.0, -9.81)}
UP = {2: Pose((0.0, 0.0, 0.0), (-(0.5**0.5), 0.0, 0.0, 0.5**0.5)), 3: Pose()}
"""A frame whose Z is the axis along which bodies fall."""


def obstacle(kind, frame=Pose(), rest_distance=0.0, **fields):
    return Obstacle(shape=Shape(path="/World/obstacle", kind=kind, frame=frame, **fields), rest_distance=rest_distance)


def floor(dim, height=0.0, tilt=0.0):
    """A plane, tilted about the first axis that lies in it."""
    turn = Pose((0.0, 0.0, 0.0), (0.0, np.sin(0.5 * tilt), 0.0, np.cos(0.5 * tilt)))
    place = Pose(tuple(height * np.array(GRAVITY[dim]) / -9.81))
    return obstacle(ShapeKind.PLANE, place @ UP[dim] @ turn)


def fall(body, dt=1 / 240, environments=1, options=None, precision="float64", threads=1, gravity=True):
    """Steps of a body under its weight."""
    mesh, tendons = mesh_with_tendons(body, (), environments, precision)
    found = ElasticDynamics(mesh, tendons, dt, options, threads=threads)
    if gravity:
        found.loads.assign(mesh.array(weights(mesh, GRAVITY[body.dim])))
    return found


def cube(dim, height, **fields):
    """A cube of 0.1 m over a floor."""
    up = np.array(GRAVITY[dim]) / -9.81
    return bar((3,) * dim, (0.1,) * dim, pose=Pose(tuple(height * up)), **{"obstacles": (floor(dim),)} | fields)


def gaps(simulation, environment=0):
    """Of nodes with the first obstacle, a plane in the origin."""
    body = simulation.mesh.body
    return simulation.points.numpy()[environment].astype(float)[:, -1] + np.linalg.norm(body.pose.position)


def mechanical(simulation):
    """Energy with that of weights."""
    return energy(simulation) - (simulation.loads.numpy() * simulation.points.numpy()).sum()


@pytest.mark.parametrize("dim", (2, 3))
@pytest.mark.parametrize("law", LAWS)
def test_a_cube_comes_to_rest(law, dim):
    """Forces are its weight in the end, no node is ever below the floor, and energy falls from the impact on."""
    body = cube(dim, 0.02, law=law, young=2e4, stiffness_damping=8e-3, mass_damping=4.0)
    simulation = fall(body, options=EXACT)
    weight = -simulation.loads.numpy()[0, :, -1].sum()
    last = mechanical(simulation)
    for _ in range(1000):
        assert simulation.step().converged.all()
        now = mechanical(simulation)
        forces = simulation.contact_forces.numpy()[0]
        assert gaps(simulation).min() > -1e-10
        assert (forces[:, -1] >= 0.0).all() and not forces[:, :-1].any()
        assert now <= last + 1e-12 * abs(last)
        last = now
    assert forces[:, -1].sum() == pytest.approx(weight, rel=1e-6)
    assert np.abs(simulation.velocities.numpy()).max() < 1e-7
    bottom = body.points[:, -1] == 0.0
    assert (forces[~bottom] == 0.0).all() and (forces[bottom, -1] > 0.0).sum() >= 4


@pytest.mark.parametrize("dim", (2, 3))
@pytest.mark.parametrize("law", LAWS)
def test_energy_does_not_grow_in_bounces(law, dim):
    """Without damping, fast and turned: by 0.3 % at most, which is of the midpoint rule, and the less the shorter steps
    are; momentum is as forces have it."""
    body = cube(dim, 0.05, law=law, young=2e4)
    turn = np.zeros((dim, dim))
    turn[0, -1], turn[-1, 0] = -8.0, 8.0
    velocities = (body.points - 0.05) @ turn.T + np.array([0.3, *[0.0] * (dim - 2), -2.0])
    rises = []
    for steps in (100, 200, 400):
        dt = 0.4 / steps
        simulation = fall(body, dt)
        simulation.velocities.assign(velocities[None])
        mass, load = simulation.mesh.node_mass, simulation.loads.numpy()[0].sum(axis=0)
        energies, lowest = [mechanical(simulation)], []
        for _ in range(steps):
            before = mass @ simulation.velocities.numpy()[0]
            assert simulation.step().converged.all()
            energies.append(mechanical(simulation))
            change = mass @ simulation.velocities.numpy()[0] - before
            forces = simulation.contact_forces.numpy()[0].sum(axis=0)
            np.testing.assert_allclose(change, dt * (forces + load), atol=1e-6 * mass.sum())
            lowest.append(gaps(simulation).min())
        lowest, energies = np.array(lowest), np.array(energies)
        assert lowest.min() > -1e-10
        assert lowest[np.argmax(lowest < 1e-10) :].max() > 1e-3  # it has bounced
        rises.append((energies - np.minimum.accumulate(energies)).max() / energies[0])
    assert rises[1] < 3e-3 and rises[1] < 0.5 * rises[0] and rises[2] < 0.5 * rises[1]


def exact_energy(body, x):
    """Of a corotated body [J] at places (..., N, 3), by singular values of NumPy, shape (...)."""
    edges = np.swapaxes(body.points[body.elements[:, 1:]] - body.points[body.elements[:, :1]], 1, 2)
    corners = x[..., body.elements, :]
    F = np.swapaxes(corners[..., 1:, :] - corners[..., :1, :], -1, -2) @ np.linalg.inv(edges)
    sigma = np.linalg.svd(F, compute_uv=False)
    E, nu = body.material.young_modulus, body.material.poisson_ratio
    mu, lame = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    psi = mu * ((sigma - 1.0) ** 2).sum(axis=-1) + 0.5 * lame * (sigma - 1.0).sum(axis=-1) ** 2
    volume = np.linalg.det(edges) / 6
    return (volume * psi).sum(axis=-1)


def slopes(body, x):
    """Of it, by differences, shape (N, 3) [N]."""
    ways = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    return ((exact_energy(body, x + ways) - exact_energy(body, x - ways)) / 2e-6).reshape(x.shape)


INDENTERS = {
    "plane": (obstacle(ShapeKind.PLANE, Pose((0.0, 0.0, 0.012), (np.sin(0.05), 0.0, 0.0, np.cos(0.05)))),),
    "sphere": (obstacle(ShapeKind.SPHERE, Pose((0.045, 0.055, -0.035)), radius=0.05),),
    "capsule": (
        obstacle(ShapeKind.CAPSULE, Pose((0.06, 0.05, -0.02), (0.8, 0.0, 0.0, 0.6)), radius=0.03, half_height=0.04),
    ),
    "box": (
        obstacle(
            ShapeKind.BOX, Pose((0.05, 0.03, -0.012), (0.0, 0.0, np.sin(0.2), np.cos(0.2))), half_extents=(0.03,) * 3
        ),
    ),
    "corner": (
        obstacle(ShapeKind.PLANE, Pose((0.0, 0.0, 0.008))),
        obstacle(ShapeKind.PLANE, Pose((0.006, 0.0, 0.0), (0.0, 0.5**0.5, 0.0, 0.5**0.5))),
        obstacle(ShapeKind.PLANE, Pose((0.0, 0.005, 0.0), (-(0.5**0.5), 0.0, 0.0, 0.5**0.5))),
    ),
}


def distance(one, x):
    """Of a point from an obstacle, by formulas of textbooks."""
    shape = one.shape
    c = (np.asarray(x) - shape.frame.position) @ shape.frame.rotation
    if shape.kind is ShapeKind.PLANE:
        return c[..., 2]
    if shape.kind is ShapeKind.BOX:
        q = np.abs(c) - shape.half_extents
        return np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)
    along = np.clip(c[..., 2], -shape.half_height, shape.half_height)
    return np.linalg.norm(c - along[..., None] * np.array([0.0, 0.0, 1.0]), axis=-1) - shape.radius


@pytest.mark.parametrize("name", INDENTERS)
def test_an_indentation_is_that_of_scipy(name):
    """A block that is held at its top, pressed on obstacles: positions to 1e-6 of its size, and forces to 1e-5."""
    body = bar((2, 2, 2), (0.1, 0.1, 0.1), law=ElasticLaw.COROTATED, young=1e4, obstacles=INDENTERS[name])
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 2] == 0.1).tolist()))
    held = held_nodes(body)
    mesh, _ = mesh_with_tendons(body, ())
    potential = Potential(mesh, None, held, coarse=True)
    contacts = potential.contacts = NodeContacts(mesh, held)
    points, still = mesh.array(body.points), mesh.array(0.0 * body.points)
    newton = Newton(potential, EXACT)
    for _ in range(40):
        contacts.place(points, still, 1.0, 1.0)
        found = newton.solve(points)
        assert found.converged.all()
    x = points.numpy()[0]
    reaction = (contacts.free.numpy() - potential.forces.numpy())[0] * ~held[:, None]
    free = np.flatnonzero(~held)

    def placed(flat):
        y = body.points.copy()
        y[free] = flat.reshape(-1, 3)
        return y

    def gap(flat):
        return np.concatenate([distance(one, flat.reshape(-1, 3)) for one in body.obstacles])

    def gap_slopes(flat):
        p, ways = flat.reshape(-1, 3), 1e-6 * np.eye(3)
        rows = np.zeros((len(body.obstacles), len(p), len(p), 3))
        for row, one in zip(rows, body.obstacles):
            each = [(distance(one, p + way) - distance(one, p - way)) / 2e-6 for way in ways]
            row[range(len(p)), range(len(p))] = np.transpose(each)
        return rows.reshape(-1, flat.size)

    # Where it is least near by, without the slopes of ours: by differences.
    size = 1e4 * 0.1**3
    start = x[free] + 1e-3 * np.random.default_rng(0).uniform(-1, 1, x[free].shape)
    best = minimize(
        lambda flat: exact_energy(body, placed(flat)) / size,
        start.ravel(),
        method="SLSQP",
        jac=lambda flat: slopes(body, placed(flat))[free].ravel() / size,
        constraints={"type": "ineq", "fun": gap, "jac": gap_slopes},
        options={"ftol": 1e-16, "maxiter": 500},
    )
    ours = exact_energy(body, x)
    assert min(distance(one, x[free]).min() for one in body.obstacles) > -1e-10
    assert ours <= best.fun * size * (1 + 1e-8)
    np.testing.assert_allclose(placed(best.x), x, rtol=0.0, atol=1e-6 * 0.1 if name != "box" else 2e-6 * 0.1)
    slope = slopes(body, x)
    np.testing.assert_allclose(reaction[free], slope[free], rtol=0.0, atol=1e-5 * np.abs(slope).max())
    assert (np.linalg.norm(reaction, axis=1) > 0.0).sum() >= 2


def sheet(*obstacles, cells=(6, 6, 1), **fields):
    """A slab of 0.3 m whose rim is pinned, at the height zero."""
    body = bar(cells, (0.3, 0.3, 0.05), pose=Pose((-0.15, -0.15, 0.0)), obstacles=obstacles, **fields)
    rim = ((body.points[:, :2] == 0.0) | (body.points[:, :2] == 0.3)).any(axis=1)
    return replace(body, pinned=tuple(np.flatnonzero(rim).tolist()))


SUPPORTS = {
    "sphere": obstacle(ShapeKind.SPHERE, Pose((0.01, 0.02, -0.12)), radius=0.1, rest_distance=0.005),
    "capsule": obstacle(
        ShapeKind.CAPSULE, Pose((0.0, 0.0, -0.06), (0.0, 0.5**0.5, 0.0, 0.5**0.5)), radius=0.05, half_height=0.05
    ),
    "box": obstacle(ShapeKind.BOX, Pose((0.0, 0.01, -0.06)), half_extents=(0.06, 0.04, 0.05)),
}


@pytest.mark.parametrize("name", SUPPORTS)
def test_a_sheet_rests_on(name):
    """It sags under its weight; in the end forces on each node are balanced, those of elements as differences of their
    energy have it, and those of the obstacle are along its normals."""
    support = SUPPORTS[name]
    body = sheet(support, law=ElasticLaw.COROTATED, young=5e3, stiffness_damping=0.02, mass_damping=4.0)
    simulation = fall(body, options=EXACT)
    free = np.flatnonzero(~held_nodes(body))
    for _ in range(600):
        assert simulation.step().converged.all()
        places = simulation.points.numpy()[0] + body.pose.position
        assert distance(support, places[free]).min() > support.rest_distance - 1e-10
    assert np.abs(simulation.velocities.numpy()).max() < 1e-8
    forces, x = simulation.contact_forces.numpy()[0], simulation.points.numpy()[0]
    slope = slopes(body, x)
    total = forces + simulation.loads.numpy()[0] - slope
    np.testing.assert_allclose(total[free], 0.0, atol=1e-6 * np.abs(slope).max())
    touching = np.flatnonzero(forces.any(axis=1))
    ways = 1e-6 * np.eye(3)
    normals = [[distance(support, p + e) - distance(support, p - e) for e in ways] for p in places[touching]]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    pushes = (forces[touching] * normals).sum(axis=1)
    assert len(touching) >= 3 and pushes.min() > 0.0
    np.testing.assert_allclose(forces[touching], pushes[:, None] * normals, atol=1e-5 * pushes.max())
    np.testing.assert_allclose(distance(support, places[touching]), support.rest_distance, atol=1e-9)


def test_a_bar_tumbles_over_a_box():
    """Over its edges and corners, fast: no node is ever inside; energy falls, but for what the midpoint rule adds."""
    frame = Pose((0.1, 0.05, -0.1), (0.1, 0.2, 0.3, 0.86**0.5))
    support = obstacle(ShapeKind.BOX, frame, half_extents=(0.1, 0.08, 0.06))
    body = bar((5, 2, 2), (0.3, 0.06, 0.06), young=3e4, stiffness_damping=1e-3, obstacles=(support,))
    velocities = np.cross([1.0, 6.0, -4.0], body.points - body.points.mean(axis=0)) + [0.3, 0.2, -1.0]
    simulation = fall(replace(body, start_velocities=velocities), 1 / 480)
    touched, energies = 0, [mechanical(simulation)]
    for _ in range(300):
        assert simulation.step().converged.all()
        assert distance(support, simulation.points.numpy()[0]).min() > -1e-10
        touched += simulation.contact_forces.numpy().any()
        energies.append(mechanical(simulation))
    assert 10 < touched < 290
    energies = np.array(energies)
    assert (energies - np.minimum.accumulate(energies)).max() < 1e-3 * (energies[0] - energies[-1])


@pytest.mark.parametrize("speed", (0.1, 3.0))
def test_nodes_come_out(speed):
    """Of a cube that starts half in the floor: by no more than the speed that is given, nor much faster in the end."""
    body = cube(3, 0.0, young=2e4, stiffness_damping=5e-3, obstacles=(replace(floor(3), depenetration_speed=speed),))
    simulation = fall(replace(body, start_points=body.points - [0.0, 0.0, 0.05]))
    before, fastest = gaps(simulation), 0.0
    for _ in range(240):
        assert simulation.step().converged.all()
        after = gaps(simulation)
        inside = after < -1e-12
        assert inside.sum() == 0 or (after - before)[inside].max() < (speed + 1e-6) / 240
        before, fastest = after, max(fastest, simulation.velocities.numpy()[0].mean(axis=0)[2])
    assert before.min() > -1e-10
    assert fastest < 1.2 * speed


def test_a_bullet_stops_at_a_thin_box():
    """It would fly through in a step: nodes end at the side from which they come."""
    wall = obstacle(ShapeKind.BOX, Pose((0.5, 0.0, 0.0)), half_extents=(0.002, 1.0, 1.0))
    body = bar((2, 1, 1), (0.04, 0.02, 0.02), young=1e6, stiffness_damping=1e-3, obstacles=(wall,))
    velocities = np.broadcast_to([100.0, 3.0, 0.0], body.points.shape)
    simulation = fall(replace(body, start_velocities=velocities))
    for _ in range(60):
        assert simulation.step().converged.all()
        assert simulation.points.numpy()[0, :, 0].max() < 0.498 + 1e-10


COUNT = 19
"""More than two groups of float64, in lanes of any width, of which the last one is not full."""


def batch(precision, which, threads=1):
    """Some of many environments of a cube over a rough tilted floor and beside a ball, which differ in speed."""
    ball = obstacle(ShapeKind.SPHERE, Pose((0.09, 0.05, -0.02)), radius=0.04)
    rough = replace(floor(3, tilt=0.3), static_friction=0.4, dynamic_friction=0.3)
    body = cube(3, 0.01, young=2e4, obstacles=(rough, ball))
    found = fall(body, 1 / 120, len(which), precision=precision, threads=threads)
    speeds = np.random.default_rng(0).uniform(-1.0, 1.0, (COUNT, 1, 3)) * np.linspace(0.0, 2.0, COUNT)[:, None, None]
    found.velocities.assign(np.broadcast_to(speeds[which], found.points.numpy().shape))
    return found


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("threads", [1, 3])
def test_environments_are_those_alone(precision, threads, monkeypatch):
    """Bitwise, with as many iterations and the same forces; all converge, and none enters an obstacle."""
    monkeypatch.setattr("warp_artic.meshes.newton.LEAST_SHARE", 1)
    together = batch(precision, np.arange(COUNT), threads)
    alone = {k: batch(precision, np.array([k])) for k in (0, 7, 15, 18)}
    body = together.mesh.body
    most = 1e-10 if precision == "float64" else 2e-6 * 0.1
    for _ in range(30):
        found = together.step()
        assert found.converged.all()
        for k, one in alone.items():
            own = one.step()
            assert (own.steps[0], own.linear_iterations[0]) == (found.steps[k], found.linear_iterations[k])
            for name in ("points", "velocities", "contact_forces"):
                np.testing.assert_array_equal(getattr(one, name).numpy()[0], getattr(together, name).numpy()[k])
        places = together.points.numpy().astype(float) + body.pose.position
        assert min(distance(one, places).min() for one in body.obstacles) > -most
    assert len(set(found.steps)) > 1 and together.contact_forces.numpy().any(axis=(1, 2)).sum() > 5
