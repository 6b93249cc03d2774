"""States of simulations of one articulation, read and written."""

from __future__ import annotations

from tests.oracles.state import State


def state_of(simulation, environment: int = 0) -> State:
    """The state of one environment of a simulation of one articulation, in double precision."""
    state = simulation.state
    root_pose = root_velocity = None
    if simulation.root_names:
        root_pose = state.root_pose.numpy()[0, :, environment].astype(float)
        root_velocity = state.root_velocity.numpy()[0, :, environment].astype(float)
    return State(
        joint_position=state.joint_position.numpy()[:, environment].astype(float),
        joint_velocity=state.joint_velocity.numpy()[:, environment].astype(float),
        root_pose=root_pose,
        root_velocity=root_velocity,
    )


def put(simulation, state: State) -> None:
    """Start a simulation of one articulation from a state."""
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
