"""Residuals of the identities that the numbers of a model must satisfy, at its start state and at random ones.

Every identity is taken from arrays that a user has: the dynamics suite, link poses and velocities, and the forces of a
step. What they are compared with is computed here in float64. A residual is a share of the largest term that its line
adds up, in units in which every dof has an inertia of one, so that newtons stand beside newton metres.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import matrix_from_quaternion
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.mechanisms.public_rows import KINDS_OF_ENTRIES, entry_names
from warp_artic.model.force_parts import PART_NAMES
from warp_artic.solver.settings import PRECISIONS, SolverSettings

ALLOWED = {"float32": 1e-5, "float64": 1e-10}
"""Largest residuals."""
ALLOWED_OF_MOTION = 1e-8
"""Of what a short motion is compared with: the step and the difference have errors of their own."""
SHORT = 4e-3
"""The motion is as short as this share of the time in which the fastest dof moves by one [rad or m]."""
NEAR = 0.02
"""How far of the way to a random state those are in which loop joints hold."""
CLOSING = 2
"""Steps that close these."""
IN_JOINTS = ("actuation", "drive", "friction", "limit", "tendon", "mimic")
"""Parts of the forces of a step that act in joints; loop joints and distances act on links."""


@dataclass(frozen=True)
class Residual:
    """How well an identity holds."""

    articulation: str
    """Prim path."""
    identity: str
    precision: str
    residual: float
    allowed: float
    worst: str
    """The link, dof or tendon that it is largest at; empty where it is of the whole."""
    state: int
    """The state that it is largest at: 0 is the start state."""

    @property
    def holds(self) -> bool:
        """Whether the residual is allowed; not when it is no number."""
        return self.residual <= self.allowed


def verify_model(simulate: Callable, scene: Scene, settings: SolverSettings, states: int, seed: int):
    """The residuals of a scene, in float64 and in the precision of the settings.

    Args:
        simulate: Makes a simulation of a scene, a number of environments and settings.
        scene: The scene.
        settings: Of the steps whose forces are compared.
        states: Number of random states.
        seed: Of the random states.

    Raises:
        SettingsError: The number of states or the seed is not an integer of at least 0.
    """
    for name, value in (("states", states), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise SettingsError(f"{name}: {value!r} is not an integer of at least 0")
    found = []
    for precision in sorted({"float64", settings.precision}, key=PRECISIONS.index, reverse=True):
        own = replace(settings, precision=precision, sleep_after=math.inf)
        simulation = simulate(scene, environments=1 + states, settings=own)
        _scatter(simulation, seed)
        for tree, views in zip(scene.articulations, simulation.articulations):
            lines = [
                *_at_rest_in_time(tree, views, np.asarray(scene.gravity)),
                *_of_constraints(tree, views, simulation.settings.dt),
            ]
            found += [_line(tree, precision, *line) for line in lines]
        if own.integrator != "rk4":
            found += _of_parts(simulation)
            simulation = simulate(_unclamped(scene), environments=1 + states, settings=own)
            _scatter(simulation, seed)
            found += _of_a_step(simulation)
    found += _of_free_motion(simulate, scene, states, seed)
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# States
# ---------------------------------------------------------------------------------------------------------------------


def _scatter(simulation, seed: int) -> None:
    """Put all environments but the first to random states, within finite limits.

    Where loop joints hold, these are near the start, and steps from there have closed them: of other velocities a row
    that depends on the others could not be satisfied.
    """
    rng = np.random.default_rng(seed)
    names, count = simulation.joint_names, simulation.environments - 1
    dofs = {dof.name: dof for tree in simulation.scene.articulations for dof in tree.dofs}
    if not count:
        return
    held = {dof.name for tree in simulation.scene.articulations if tree.constraints_of(LoopJoint) for dof in tree.dofs}
    draws = [_random_position(rng, dofs[name], count) for name in names]
    position = np.array(draws).reshape(len(names), count)
    near = np.array([name in held for name in names], bool)
    start = np.array([dofs[name].position for name in names])[near, None]
    position[near] = start + NEAR * (position[near] - start)
    roots = {}
    if simulation.root_names:
        poses = [
            tree.links[tree.inbound.index(None)].pose for tree in simulation.scene.articulations if tree.is_floating
        ]
        turns = rng.normal(size=(count, len(poses), 4))
        turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
        places = np.broadcast_to([pose.position for pose in poses], (count, len(poses), 3))
        roots["root_pose"] = np.concatenate([places, turns], axis=-1)
        roots["root_velocity"] = rng.normal(size=(count, len(poses), 6))
    simulation.set_state(
        position.T, rng.normal(size=(count, len(names))), environments=np.arange(1, 1 + count), **roots
    )
    if held:
        start = simulation.snapshot(environments=[0])
        simulation.step(CLOSING)
        simulation.apply(start, environments=[0])


def _random_position(rng, dof: Dof, count: int) -> np.ndarray:
    reach = 0.3 if dof.axis.is_linear else 1.0
    lower, upper = (dof.limit.lower, dof.limit.upper) if dof.limit else (-math.inf, math.inf)
    lower = lower if math.isfinite(lower) else min(-reach, upper - 2.0 * reach)
    upper = upper if math.isfinite(upper) else max(reach, lower + 2.0 * reach)
    return rng.uniform(lower, upper, count)


# ---------------------------------------------------------------------------------------------------------------------
# Identities at a state: name, residuals (E, entries), names of the entries, and what is allowed where it is not usual
# ---------------------------------------------------------------------------------------------------------------------


def _line(tree: Articulation, precision: str, identity: str, residuals, names, allowed=None) -> Residual:
    residuals = np.nan_to_num(np.abs(residuals).reshape(len(residuals), -1), nan=math.inf)
    state, entry = np.unravel_index(residuals.argmax(), residuals.shape)
    largest = float(residuals[state, entry])
    worst = names[entry] if names and largest > 0.0 else ""
    allowed = ALLOWED[precision] if allowed is None else allowed
    return Residual(tree.path, identity, precision, largest, float(allowed), worst, int(state))


def _at_rest_in_time(tree: Articulation, views, gravity: np.ndarray) -> Iterator[tuple]:
    """The identities that need no motion."""
    suite = views.dynamics
    rng = np.random.default_rng(len(tree.links))
    bodies = _bodies(tree)
    links, dofs = [link.path for link in bodies], _velocity_names(tree)
    if not dofs:
        return
    v = _velocities(views)
    rows = _array(views.state.link_velocity)
    twist, pose = rows[:, : len(bodies)], _array(views.state.link_pose)[:, : len(bodies)]
    J = _whole_jacobian(tree, suite)
    M, bare = _numpy(suite.mass_matrix()), _numpy(suite.mass_matrix(armature=False))
    c, g = _numpy(suite.coriolis_force()), _numpy(suite.gravity_force())
    size = np.sqrt(np.einsum("eii->ei", M))

    found, terms = np.einsum("elkj,ej->elk", J, v) - twist, np.einsum("elkj,ej->elk", abs(J), abs(v))
    yield "J v = velocities of links", _shares(_by_halves(found), _by_halves(terms)), links
    inertias = _inertias(tree, pose)
    wanted = np.einsum("elki,elkm,elmj->eij", J, inertias, J)
    norm = size[:, :, None] * size[:, None, :]
    # Of a thin rod the inertia about its axis is what is left of larger terms.
    terms = np.maximum(np.einsum("elki,elkm,elmj->eij", abs(J), abs(inertias), abs(J)), norm)
    yield "M = sum of J^T I J", np.abs((bare - wanted) / terms).max(axis=2), dofs
    yield "M is symmetric", np.abs((M - M.transpose(0, 2, 1)) / norm).max(axis=2), dofs
    scaled = M / norm
    values = np.linalg.eigvalsh(scaled)
    yield "M is positive definite", np.maximum(-values[:, :1], 0.0), ()
    inverse = _numpy(suite.mass_matrix_inverse()) * norm
    lost = np.einsum("eii->ei", terms / norm).max(axis=1)
    condition = lost * np.maximum(values[:, -1] / np.maximum(values[:, 0], 1e-300), 1.0)
    yield "M M^-1 = 1, by condition of M", _inverse_residual(scaled, inverse) / condition[:, None], dofs
    armature = np.concatenate([np.zeros(len(dofs) - len(tree.dofs)), [dof.armature for dof in tree.dofs]])
    difference = M - bare - np.diag(armature)
    yield "armature is on the diagonal of M", np.abs(difference / norm).max(axis=2), dofs

    kinetic = 0.5 * np.einsum("ei,eij,ej->e", v, M, v)
    bound = 0.5 * np.einsum("ei,eij,ej->e", abs(v), abs(M), abs(v))
    energy = _numpy(views.state.energy)[0, 0]
    yield "v M v / 2 = kinetic energy", _shares((kinetic - energy)[:, None], bound[:, None]), ()
    masses = np.array([link.mass for link in bodies])
    weight = np.array([[link.mass * link.gravity_scale] for link in bodies]) * gravity
    terms = np.einsum("elki,lk->ei", abs(J[:, :, :3]), abs(weight))
    yield "g = - J^T weights", _shares((g + np.einsum("elki,lk->ei", J[:, :, :3], weight)) / size, terms / size), dofs
    given = np.zeros_like(rows)
    wrench = given[:, : len(bodies)] = rng.normal(size=twist.shape)
    found = _numpy(suite.external_force(given)) + np.einsum("elki,elk->ei", J, wrench)
    terms = np.einsum("elki,elk->ei", abs(J), abs(wrench))
    yield "external force = - J^T wrenches", _shares(found / size, terms / size), dofs

    effort = np.einsum("eij,ej->ei", M, rng.normal(size=v.shape))
    vdot = _numpy(suite.joint_acceleration(effort))
    external = _numpy(suite.external_force(_array(views.control.link_external_force)))
    found = np.einsum("eij,ej->ei", M, vdot) + c + g + external - effort
    terms = np.einsum("eij,ej->ei", abs(M), abs(vdot)) + abs(c) + abs(g) + abs(external) + abs(effort)
    yield "M vdot + c + g = tau", _shares(found / size, terms / size), dofs
    found = _numpy(suite.joint_force(vdot)) + g + external - effort
    yield "joint forces of joint accelerations", _shares(found / size, terms / size), dofs

    momentum = (twist[..., :3] * masses[None, :, None]).sum(axis=1)
    found = np.einsum("ekj,ej->ek", _numpy(suite.centroidal_momentum_matrix())[:, :3], v) - momentum
    terms = (np.abs(twist[..., :3]) * masses[None, :, None]).sum(axis=1).max(axis=1, keepdims=True)
    yield "A v = momentum of links", _shares(found, np.broadcast_to(terms, found.shape)), ()
    columns = _consistent_tendons(tree)
    if columns:
        K = _numpy(suite.coefficient_matrix())[:, :, columns]
        speed = _numpy(views.state.tendon_speed).T[:, columns]
        found, terms = np.einsum("eij,ei->ej", K, v) - speed, np.einsum("eij,ei->ej", abs(K), abs(v))
        names = [tree.tendon_names[column] for column in columns]
        yield "K^T v = speeds of tendons", _shares(found, terms), names


def _of_constraints(tree: Articulation, views, dt: float) -> Iterator[tuple]:
    """lambda of tendons and mimic joints reproduces the constrained acceleration, and is what their laws say."""
    if not any(entry_names(tree, kind) for kind in KINDS_OF_ENTRIES):
        return
    suite = views.dynamics
    M, bias, K = (_numpy(array) for array in (suite.mass_matrix(), suite.bias_force(), suite.coefficient_matrix()))
    size = np.sqrt(np.einsum("eii->ei", M))
    effort = np.einsum("eij,ej->ei", M, np.random.default_rng(len(tree.dofs)).normal(size=bias.shape))
    external = _numpy(suite.external_force(_array(views.control.link_external_force)))
    solved = suite.constraint_impulses(effort)
    vdot, impulse = _numpy(solved.joint_acceleration), _numpy(solved.impulse)
    found = np.einsum("eij,ej->ei", M, vdot) + bias + external - effort - np.einsum("eic,ec->ei", K, impulse) / dt
    terms = np.einsum("eij,ej->ei", abs(M), abs(vdot)) + np.einsum("eic,ec->ei", abs(K), abs(impulse)) / dt
    shares = _shares(found / size, (terms + abs(bias) + abs(external) + abs(effort)) / size)
    yield "M vdot + c + g = tau + K lambda / dt", shares, _velocity_names(tree)
    yield "lambda follows from laws of constraints", _numpy(solved.residual)[:, None], ()


def _shares(found: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Residuals as shares of the largest term of their state, or as they are where there is nothing to add up."""
    largest = terms.reshape(len(terms), -1).max(axis=1)
    largest = np.where(largest > 0.0, largest, 1.0)
    return np.abs(found) / largest.reshape(-1, *([1] * (found.ndim - 1)))


def _by_halves(twists: np.ndarray) -> np.ndarray:
    """The larger one of the linear and the angular half of each link, shape (E, L), each half by its own scale."""
    halves = np.abs(twists).reshape(*twists.shape[:2], 2, 3).max(axis=3)
    return halves.max(axis=2)


def _inverse_residual(scaled: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    return np.abs(np.einsum("eij,ejk->eik", scaled, inverse) - np.eye(scaled.shape[1])).max(axis=2)


def _velocity_names(tree: Articulation) -> list[str]:
    root = tree.links[tree.inbound.index(None)].path if tree.is_floating else ""
    names = [f"{root} {axis}" for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if root]
    return [*names, *(dof.name for dof in tree.dofs)]


def _velocities(views) -> np.ndarray:
    """Generalized velocities, shape (E, V)."""
    return _of_dofs(views, "velocity")


def _whole_jacobian(tree: Articulation, suite) -> np.ndarray:
    """The Jacobian of bodies with rows of zeros for those that are fixed to the world, shape (E, L, 6, V)."""
    rows = _numpy(suite.jacobian())
    count = len(_bodies(tree))
    J = np.zeros((len(rows), count, 6, rows.shape[2]))
    moving = [joint is None or joint.parent >= 0 or bool(joint.dofs) for joint in tree.inbound[:count]]
    J[:, moving] = rows.reshape(len(rows), -1, 6, rows.shape[2])[:, : sum(moving)]
    return J


def _bodies(tree: Articulation) -> list[Link]:
    """The links but for massless ones, which come last and weigh nothing."""
    return [link for link in tree.links if not link.is_massless]


def _inertias(tree: Articulation, pose: np.ndarray) -> np.ndarray:
    """Mass, and inertia about the centre of mass in world axes, shape (E, L, 6, 6)."""
    found = np.zeros((*pose.shape[:2], 6, 6))
    for k, link in enumerate(_bodies(tree)):
        own = link.inertia_matrix
        for state in range(len(pose)):
            R = matrix_from_quaternion(pose[state, k, 3:])
            found[state, k, :3, :3] = link.mass * np.eye(3)
            found[state, k, 3:, 3:] = R @ own @ R.T
    return found


def _consistent_tendons(tree: Articulation) -> list[int]:
    """The columns of tendons whose force does the work of their speed."""
    fixed = [tendon.enabled and tendon.coefficients == tendon.force_coefficients for tendon in tree.fixed_tendons]
    leaves = [tendon.enabled and tendon.all_segments for tendon in tree.spatial_tendons for _leaf in tendon.leaves]
    return [column for column, holds in enumerate([*fixed, *leaves]) if holds]


def _numpy(array) -> np.ndarray:
    return np.asarray(array.numpy(), np.float64)


def _array(view) -> np.ndarray:
    """An array of links as (E, L, components)."""
    return _numpy(view).transpose(2, 0, 1)


# ---------------------------------------------------------------------------------------------------------------------
# Identities of a step
# ---------------------------------------------------------------------------------------------------------------------


def _of_parts(simulation) -> Iterator[Residual]:
    """What acts on dofs in a step, with its inertia, adds up to nothing; of the second one, which has one before it."""
    speeds = _begin(simulation)
    simulation.step(forces=True)
    settings, scene = simulation.settings, simulation.scene
    for tree, views, speed in zip(scene.articulations, simulation.articulations, speeds):
        names = _velocity_names(tree)
        if not names:
            continue
        parts = np.array([_of_dofs(views, f"{part}_force") for part in PART_NAMES])
        size, impulses = _impulses(views, speed)
        terms = np.abs(parts).sum(axis=0) + impulses / settings.dt
        shares = _shares(parts.sum(axis=0) / size, terms / size + _weight(tree, scene))
        yield _line(tree, settings.precision, "parts of the forces of a step sum to zero", shares, names)


def _of_a_step(simulation) -> list[Residual]:
    """Forces by joints, along axes that their links have, are the sum of what acts there; of the second step."""
    speeds = _begin(simulation)
    settings, scene = simulation.settings, simulation.scene
    run = simulation.record(1, forces=True)
    dof_row = {name: row for row, name in enumerate(simulation.joint_names)}
    link_row = {name: row for row, name in enumerate(simulation.link_names)}
    change = run.joint_acceleration[1].astype(float)
    parts = [getattr(run, f"joint_{part}_force")[1].astype(float) for part in IN_JOINTS]
    found = []
    for tree, views, speed in zip(scene.articulations, simulation.articulations, speeds):
        chosen = [
            (joint, dof)
            for joint in tree.joints
            for dof in joint.dofs
            if tree.links[joint.child].path in link_row and _is_axis_of_child(joint, dof)
        ]
        if not chosen:
            continue
        rows = [dof_row[dof.name] for _joint, dof in chosen]
        armature = np.array([dof.armature for _joint, dof in chosen])
        loads = [run.link_incoming_joint_force[1][:, link_row[tree.links[joint.child].path]] for joint, _dof in chosen]
        loads = [_half(dof, load) for (_joint, dof), load in zip(chosen, loads)]
        along = np.array([_along(joint, dof, load) for (joint, dof), load in zip(chosen, loads)]).T
        acts = [part[:, rows] for part in parts]
        residual = along + armature * change[:, rows] - sum(acts)
        own = [tree.dofs.index(dof) - len(tree.dofs) for _joint, dof in chosen]
        size, impulses = (values[:, own] for values in _impulses(views, speed))
        # What a joint transmits beside its axis.
        terms = np.array([np.abs(load).max(axis=1) for load in loads]).T
        terms = terms + sum(np.abs(act) for act in acts) + impulses / settings.dt
        shares = _shares(residual / size, terms / size + _weight(tree, scene))
        names = [dof.name for _joint, dof in chosen]
        found.append(_line(tree, settings.precision, "forces by joints along axes = their parts", shares, names))
    return found


def _begin(simulation) -> list[np.ndarray]:
    """Take the first step; the largest speeds of each articulation before and after it, shape (E, V)."""
    before = [np.abs(_velocities(views)) for views in simulation.articulations]
    simulation.step()
    return [np.maximum(each, np.abs(_velocities(views))) for each, views in zip(before, simulation.articulations)]


def _impulses(views, speed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots of the inertia of each dof, and how large terms of M v are at some speeds and now, shape (E, V)."""
    M = np.abs(_numpy(views.dynamics.mass_matrix()))
    return np.sqrt(np.einsum("eii->ei", M)), np.einsum("eij,ej->ei", M, speed + np.abs(_velocities(views)))


def _weight(tree: Articulation, scene: Scene) -> float:
    """What rounding is a share of where weights hold each other."""
    return math.sqrt(sum(link.mass for link in tree.links)) * float(np.linalg.norm(scene.gravity))


def _of_dofs(views, name: str) -> np.ndarray:
    """An array with a row for each joint dof, with its like for a floating root before it, shape (E, V)."""
    joints = _numpy(getattr(views.state, f"joint_{name}")).T
    roots = _numpy(getattr(views.state, f"root_{name}"))
    return np.hstack([roots[0].T, joints]) if len(roots) else joints


def _unclamped(scene: Scene) -> Scene:
    """Without limits on velocities of links and trees: they push from outside, and no joint transmits them."""
    free = {"max_linear_velocity": math.inf, "max_angular_velocity": math.inf}
    trees = (
        replace(tree, links=tuple(replace(link, **free) for link in tree.links), **free) for tree in scene.articulations
    )
    return replace(scene, articulations=tuple(trees))


def _half(dof: Dof, load: np.ndarray) -> np.ndarray:
    """The force or the torque by a joint, of which a component acts on a dof, shape (E, 3)."""
    return load[:, :3].astype(float) if dof.axis.is_linear else load[:, 3:].astype(float)


def _is_axis_of_child(joint: Joint, dof: Dof) -> bool:
    """Whether a dof is along or about an axis through the origin of the child-side frame that is fixed there.

    Those of a zero-twist joint are fixed in neither frame. Translations are along axes of the first frame, and the
    rotations beside them are about its shifted origin, where the second frame is.
    """
    is_mixed = 0 < len(joint.rotations) < len(joint.dofs)
    if is_mixed and joint.reversed != dof.axis.is_linear:
        return False
    if joint.is_universal and not dof.axis.is_linear:
        return (dof.axis is joint.cone_axis) != joint.reversed
    return dof.axis.is_linear or not joint.is_zero_twist


def _along(joint: Joint, dof: Dof, load: np.ndarray) -> np.ndarray:
    """That component, shape (E)."""
    return load[:, dof.axis.index] * (-1.0 if joint.reversed else 1.0)


# ---------------------------------------------------------------------------------------------------------------------
# Identities of a short free motion
# ---------------------------------------------------------------------------------------------------------------------


def _of_free_motion(simulate: Callable, scene: Scene, states: int, seed: int) -> Iterator[Residual]:
    """Without drives, limits and so on, weights alone change the momentum of what floats, and energy stays.

    A step of Runge-Kutta 4 in float64, which knows nothing of momentum or energy.
    """
    scene = _unclamped(scene)
    # Where loop joints alone make one mechanism of bodies, nothing is left of it without them.
    trees = tuple(tree for tree in scene.articulations if sum(joint.parent == WORLD for joint in tree.joints) <= 1)
    if not trees:
        return
    scene = replace(scene, articulations=trees)
    free = replace(scene, articulations=tuple(_freed(tree) for tree in trees))
    settings = SolverSettings(dt=SHORT, precision="float64", integrator="rk4", sleep_after=math.inf)
    simulation = simulate(free, environments=1 + states, settings=settings)
    _scatter(simulation, seed)
    fastest = max([1.0, *(np.abs(_velocities(views)).max(initial=0.0) for views in simulation.articulations)])
    h = SHORT / fastest
    simulation = simulate(free, environments=1 + states, settings=replace(settings, dt=h))
    _scatter(simulation, seed)
    before = [_totals(views) for views in simulation.articulations]
    simulation.step()
    for tree, views, (momentum, kinetic, potential) in zip(scene.articulations, simulation.articulations, before):
        if not _velocity_names(tree):
            continue
        later, kinetic_later, potential_later = _totals(views)
        gain, loss = kinetic_later - kinetic, potential - potential_later
        # At an equilibrium nothing moves, and only rounding is left: the liveliest state is the measure of all.
        terms = np.full_like(gain, (np.abs(gain) + np.abs(loss) + SHORT * kinetic).max())
        share = _shares(gain - loss, terms)
        yield _line(tree, "float64", "a free motion keeps its energy", share, (), ALLOWED_OF_MOTION)
        if tree.is_floating:
            weight = sum(link.mass for link in tree.links) * np.asarray(scene.gravity)
            change = later - momentum - h * np.concatenate([weight, np.zeros(3)])
            terms = h * np.abs(weight).max() + SHORT * np.abs(momentum)
            for name, half in (("momentum", slice(0, 3)), ("angular momentum", slice(3, 6))):
                share = _shares(change[:, half], terms[:, half])
                yield _line(tree, "float64", f"weights alone change {name}", share, (), ALLOWED_OF_MOTION)


def _totals(views):
    """Centroidal momentum (E, 6), kinetic and potential energy (E)."""
    kinetic, potential = _numpy(views.state.energy)[0]
    return _numpy(views.dynamics.centroidal_momentum()), kinetic.copy(), potential.copy()


def _freed(tree: Articulation) -> Articulation:
    """The same tree with nothing but weights acting on it."""
    free = {"linear_damping": 0.0, "angular_damping": 0.0, "gravity_scale": 1.0}
    nothing = {"drive": None, "limit": None, "friction": None, "velocity_limit": math.inf}
    joints = tuple(
        replace(joint, cone_limit=None, dofs=tuple(replace(dof, **nothing) for dof in joint.dofs))
        for joint in tree.joints
    )
    links = tuple(replace(link, **free) for link in tree.links)
    return replace(tree, links=links, joints=joints, fixed_tendons=(), spatial_tendons=(), mimics=(), constraints=())
