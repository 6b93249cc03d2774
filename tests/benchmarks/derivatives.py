"""Derivatives of steps, beside steps: matrices of a step, a direction of a run, and the gradient of a run.

`python -m tests.benchmarks.derivatives`: one thread of a CPU, in float64, with the steps of one environment on scalars,
and those of several in lanes.
MuJoCo, where it is installed, takes the same mechanism: centred differences of its own steps (`mjd_transitionFD`).
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import warp_artic as wa
from warp_artic.cli.bench_models import DT, SETTLED, Model, read_model

try:
    import mujoco
except ImportError:
    mujoco = None

MODELS = ("arm", "humanoid")
TURNS = 20
DIRECTIONS = 60
STEPS = 240
ENVIRONMENTS = (1, 16)
"""Of gradients."""
MEASURE = "joint_velocity"


def least(call: Callable[[], object], count: int, turns: int = TURNS) -> float:
    """Microseconds of a call in the thread's own time, the least of some turns of `count` calls."""
    spent = []
    for _turn in range(turns):
        begun = time.thread_time()
        for _ in range(count):
            call()
        spent.append((time.thread_time() - begun) / count * 1e6)
    return min(spent)


def simulation(model: Model, environments: int = 1) -> wa.Simulation:
    """Settled."""
    settings = wa.SolverSettings(dt=DT, precision="float64", variant="scalar" if environments == 1 else "auto")
    found = wa.Simulation(model.scene, environments=environments, settings=settings, threads=1)
    found.step(SETTLED)
    return found


def matrices(model: Model) -> None:
    """Print A of a step, beside steps, ours and those of MuJoCo."""
    one, other = simulation(model), simulation(model)
    one.linearize()
    step, ours = least(other.step, 20), least(one.linearize, 3)
    dual = least(lambda: one.run.twin.step(1), 3)
    velocities = one.linearize().A.shape[1] // 2
    print(f"{model.name}, {velocities} velocities: a step {step:.1f} us")
    print(
        f"  linearize {ours:.0f} us, {ours / step:.0f} steps, of which the steps of dual numbers are {dual / step:.0f}"
    )
    if mujoco is None:
        return
    peer = mujoco.MjModel.from_xml_path(str(model.xml))
    peer.opt.timestep = DT
    data, case = mujoco.MjData(peer), model.case("cpu")
    for joint in range(peer.njnt):
        if peer.joint(joint).name in case["start"]:
            data.qpos[peer.jnt_qposadr[joint]] = case["start"][peer.joint(joint).name]
    for actuator in range(peer.nu):
        data.ctrl[actuator] = case["targets"][peer.joint(peer.actuator_trnid[actuator, 0]).name]
    mujoco.mj_step(peer, data, SETTLED)
    A = np.zeros((2 * peer.nv + peer.na,) * 2)
    theirs = least(lambda: mujoco.mjd_transitionFD(peer, data, 1e-6, True, A, None, None, None), 3)
    copy = mujoco.MjData(peer)
    mujoco.mj_copyData(copy, peer, data)
    own = least(lambda: mujoco.mj_step(peer, copy), 20)
    costs = f"{theirs:.0f} us, {theirs / own:.0f} of its steps of {own:.1f} us"
    print(f"  mjd_transitionFD {costs}, {theirs / ours:.1f} of our linearize")


def runs(model: Model) -> None:
    """Print a direction of a run."""
    one, other = simulation(model), simulation(model)
    dofs = len(one.joint_names)
    seeds = {MEASURE: np.random.default_rng(0).normal(size=(DIRECTIONS, dofs))}
    one.tangent(seeds, 2)
    run = least(lambda: other.step(STEPS), 1, 5)
    along = least(lambda: one.tangent(seeds, STEPS), 1, 3)
    print(f"  a direction of {STEPS} steps, of {DIRECTIONS}: {along / DIRECTIONS / run:.2f} runs")


def gradients(model: Model, environments: int) -> None:
    """Print the gradient of a run of some environments."""
    one, other = simulation(model, environments), simulation(model, environments)

    def loss(motion):
        slope = np.zeros_like(motion.joint_velocity)
        slope[-1] = 1.0
        return float(motion.joint_velocity[-1].sum()), {MEASURE: slope}

    one.gradient(loss, 2, [MEASURE])
    run = least(lambda: other.step(STEPS), 1, 5)
    back = least(lambda: one.gradient(loss, STEPS, [MEASURE]), 1, 1)
    print(f"  gradient of {STEPS} steps of {environments} environments: {back / run:.0f} runs")


def main() -> None:
    """Print all."""
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            model = read_model(name, Path(folder))
            matrices(model)
            runs(model)
            for environments in ENVIRONMENTS:
                gradients(model, environments)


if __name__ == "__main__":
    main()
