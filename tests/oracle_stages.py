"""The small stages with known answers: our trajectories beside first principles and beside PhysX recordings.

`python -m tests.oracle_stages` prints the table of errors.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from warp_artic import Simulation, SolverSettings, read_stage

DATA = Path(__file__).parent / "data" / "oracle"
SECONDS = 2.0

WITH_TRUTH = (
    "pendulum_single",
    "pendulum_double",
    "arm6_drives",
    "prismatic_spring_drive",
    "drive_acceleration",
    "drive_force_saturated",
    "joint_armature",
    "tree_humanoid",
    "fixed_tendon_offset_rest",
    "fixed_tendon_two_joints",
    "spatial_tendon_single",
    "spatial_tendon_two_leaves",
    "mimic_hard_gear",
)
"""Stages with an exact trajectory."""

WITH_RECORDING = (
    "joint_friction",
    "limit_hard_revolute",
    "link_damping",
    "body_order_swapped",
    "spherical3_pendulum",
    "floating3_zero_g",
)
"""Stages that are compared with PhysX at 960 Hz."""


def simulate(stage: str, rate: float, precision: str = "float64", **settings) -> Simulation:
    """A simulation of a stage at its start state, `rate` steps a second."""
    options = SolverSettings(dt=1.0 / rate, precision=precision, **settings)
    simulation = Simulation(read_stage(DATA / "stages" / f"{stage}.usda"), settings=options)
    inputs = DATA / "stages" / f"{stage}.inputs.json"
    if inputs.exists():
        start = json.loads(inputs.read_text())
        simulation.set_state(joint_position=start["q0"], joint_velocity=start["qd0"])
    return simulation


def trajectory(stage: str, rate: float, precision: str = "float64", **settings) -> dict[str, np.ndarray]:
    """Joint positions by the last part of their names, sampled at 240 Hz over two seconds."""
    recording = simulate(stage, rate, precision, **settings).record(round(SECONDS * rate), every=round(rate / 240))
    return {name.rsplit("/", 1)[-1]: recording.joint_position[:, 0, k] for k, name in enumerate(recording.joint_names)}


def truth(stage: str) -> dict[str, np.ndarray]:
    """The exact joint positions at 240 Hz."""
    with np.load(DATA / "truth" / f"{stage}.npz") as content:
        return dict(zip(map(str, content["joint_names"]), content["joint_position"].T))


def physx(stage: str, configuration: str) -> dict[str, np.ndarray]:
    """Joint positions of a PhysX recording at 240 Hz; the dofs of a joint are named by their axes."""
    with np.load(DATA / "physx" / f"{stage}__{configuration}.npz") as content:
        every = max(1, round((len(content["q"]) - 1) / (240 * SECONDS)))
        return {_our_name(str(name)): q for name, q in zip(content["dof_names"], content["q"][::every].T)}


def _our_name(name: str) -> str:
    joint, _, axis = name.partition(":")
    return f"{joint}:rot{'XYZ'[int(axis)]}" if axis else joint


def worst(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Largest difference of joint positions [rad or m], angles of whole turns apart being equal."""
    errors = []
    for name, q in expected.items():
        difference = found[name][: len(q)] - q
        whole_turns = 4.0 * np.pi * np.round(difference / (4.0 * np.pi))
        errors.append(np.abs(difference - whole_turns).max())
    return max(errors)


COLUMNS = {
    "midpoint": {},
    "semi_implicit": {"integrator": "semi_implicit"},
    "tgs 4": {"solver": "tgs", "position_iterations": 4, "velocity_iterations": 0},
}
"""How we step in the columns of the table; "midpoint" is what one gets without asking."""

PHYSX = ("TGS_240_p4v1", "PGS_240_p4v1")
"""The recordings that the table has beside ours."""


def table() -> list[tuple]:
    """For each stage with a truth: our errors at 240 Hz, one for each of COLUMNS, and those of PhysX."""
    rows = []
    for stage in WITH_TRUTH:
        exact = truth(stage)
        ours = [worst(trajectory(stage, 240, **settings), exact) for settings in COLUMNS.values()]
        rows.append((stage, *ours, *(worst(physx(stage, configuration), exact) for configuration in PHYSX)))
    return rows


def convergence() -> list[tuple]:
    """For each stage our errors at 240, 480 and 960 Hz; where there is no truth, against PhysX at 960 Hz."""
    rows = []
    for stage in (*WITH_TRUTH, *WITH_RECORDING):
        exact = truth(stage) if stage in WITH_TRUTH else physx(stage, "TGS_960_p4v1")
        rows.append((stage, *(worst(trajectory(stage, rate), exact) for rate in (240, 480, 960))))
    return rows


def show(title: str, columns, rows) -> None:
    """Print rows of a name and numbers."""
    print(title)
    print(f"{'stage':26s}", *(f"{column:>13s}" for column in columns))
    for name, *errors in rows:
        print(f"{name:26s}", *(f"{error:13.2e}" for error in errors))


if __name__ == "__main__":
    show("Largest error at 240 Hz [rad or m]", [*COLUMNS, "PhysX TGS", "PhysX PGS"], table())
    show("Largest error of the default [rad or m]", ["240 Hz", "480 Hz", "960 Hz"], convergence())
