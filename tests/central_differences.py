"""Derivatives of runs by central differences, in coordinates of the oracles: what derivatives are compared with."""

from __future__ import annotations

import numpy as np

from tests import trees
from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.sim.arrays.views import MOTION

STEP = 1e-6
"""Of a direction, back and there; the difference of float64 is known to some 1e-10."""


def differences(tree, settings: SolverSettings, seeds: dict, warm: int, steps: int, step: float = STEP):
    """Derivatives of motion, shape (K, 2 V): positions as motions of the oracles, and velocities, roots first."""
    directions = len(next(iter(seeds.values())))
    simulation = Simulation(trees.scene(tree), environments=2 * directions, settings=settings)
    simulation.step(warm)
    steps_of = step * np.repeat([1.0, -1.0], directions)
    written = {name: values for name, values in seeds.items() if name not in MOTION}
    for name, values in written.items():
        views = simulation.control if name in dir(simulation.control) else simulation.parameters
        array = getattr(views, name).numpy()
        changes = np.moveaxis(np.concatenate([values, values]), 0, -1) * steps_of
        setattr(views, name, array + changes)
    moved = {name: values for name, values in seeds.items() if name in MOTION}
    states = [state_of(simulation, tree, column) for column in range(2 * directions)]
    for column, state in enumerate(states):
        own = {name: values[column % directions] for name, values in moved.items()}
        states[column] = moved_by(tree, state, own, steps_of[column])
    for name in MOTION:
        if getattr(states[0], name) is not None and simulation.run.groups[0].state[name].scalars.size:
            array = getattr(simulation.state, name)
            setattr(simulation.state, name, np.array([getattr(state, name) for state in states]).T.reshape(array.shape))
    simulation.step(steps)
    ends = [state_of(simulation, tree, column) for column in range(2 * directions)]
    return np.array([between(tree, ends[k], ends[k + directions]) / step for k in range(directions)])


def state_of(simulation: Simulation, tree, environment: int) -> State:
    """The state of one environment."""
    read = {name: getattr(simulation.state, name).numpy()[..., environment].ravel() for name in MOTION}
    if not tree.is_floating:
        read |= {"root_pose": None, "root_velocity": None}
    return State(**read)


def moved_by(tree, state: State, direction: dict, step: float) -> State:
    """A state moved along a direction; positions by motions in the axes of velocities."""
    roots = 6 * tree.is_floating
    motion = np.zeros(roots + len(tree.dofs))
    motion[:roots] = np.ravel(direction.get("root_pose", np.zeros(roots)))
    motion[roots:] = direction.get("joint_position", 0.0)
    c = rigid.coordinates(tree, state)
    v = rigid.velocity(tree, state)
    v[:roots] += step * np.ravel(direction.get("root_velocity", np.zeros(roots)))
    v[roots:] += step * direction.get("joint_velocity", np.zeros(len(tree.dofs)))
    return rigid.public_state(tree, c + step * rigid.coordinates_rate(tree, c, motion), v)


def between(tree, one: State, other: State) -> np.ndarray:
    """Half of the motion and of the change of velocities from one state to another."""
    ends = [rigid.coordinates(tree, state) for state in (one, other)]
    c = 0.5 * (ends[0] + ends[1])
    columns = np.eye(len(rigid.velocity(tree, one)))
    T = np.array([rigid.coordinates_rate(tree, c, column) for column in columns]).T
    motion = np.linalg.lstsq(T, ends[0] - ends[1], rcond=None)[0]
    return np.concatenate([motion, rigid.velocity(tree, one) - rigid.velocity(tree, other)]) / 2.0
