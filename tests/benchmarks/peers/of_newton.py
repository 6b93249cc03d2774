"""Newton: three of its solvers, their steps captured in a graph, on a CPU as on a GPU; single precision."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np
from case import Case, NotSimulatedError
from peer import Peer

try:
    import newton
    import warp as wp
except ImportError:
    newton = None

SHORT = 1e-6
"""A step in which forces do not change [s]."""


def _model(case: Case, positions: dict[str, float], environments: int):
    """The model, and the place of each named joint among the dofs of one environment."""
    if "several robots" in case.features:
        raise NotSimulatedError("MJCF files that attach others are not read")
    wp.set_device(case.device)
    robot = newton.ModelBuilder()
    robot.add_mjcf(case.xml, parse_visuals=False)
    names = [label.rpartition("/")[2] for label in robot.joint_label]
    dofs = {name: robot.joint_qd_start[names.index(name)] for name in case.start}
    for name, value in positions.items():
        place = robot.joint_q_start[names.index(name)]
        robot.joint_q[place], robot.joint_target_q[place] = value, case.targets[name]
    scene = newton.ModelBuilder()
    scene.replicate(robot, environments)
    return scene.finalize(), dofs


def _make(solver_of, case: Case, environments: int):
    model, _ = _model(case, case.start, environments)
    solver, control = solver_of(model), model.control()
    states = model.state(), model.state()
    newton.eval_fk(model, model.joint_q, model.joint_qd, states[0])

    def step(source, target) -> None:
        source.clear_forces()
        solver.step(source, target, control, None, case.dt)

    def once() -> None:
        step(*states)
        states[0].assign(states[1])

    def twice() -> None:
        step(*states)
        step(*states[::-1])

    once()
    graphs = [_captured(steps) for steps in (once, twice)]

    def advance(count: int) -> None:
        for _ in range(count // 2):
            wp.capture_launch(graphs[1])
        if count % 2:
            wp.capture_launch(graphs[0])
        wp.synchronize()
        if not np.isfinite(states[0].joint_q.numpy()).all():
            raise FloatingPointError("positions are not finite")

    return advance


def _captured(steps):
    with wp.ScopedCapture() as capture:
        steps()
    return capture.graph


def _acceleration(solver_of, case: Case) -> dict[str, float]:
    model, dofs = _model(case, case.inside, 1)
    solver, states = solver_of(model), (model.state(), model.state())
    newton.eval_fk(model, model.joint_q, model.joint_qd, states[0])
    solver.step(*states, model.control(), None, SHORT)
    velocity = states[1].joint_qd.numpy()
    return {name: float(velocity[dof]) / SHORT for name, dof in dofs.items()}


PEERS = {}
if newton is not None:
    wp.config.quiet = True
    SOLVERS = {
        "steel": (lambda model: newton.solvers.SolverSteel(model), ("fixed tendons",)),
        "featherstone": (
            lambda model: newton.solvers.SolverFeatherstone(model, angular_damping=0.0),
            ("fixed tendons",),
        ),
    }
    if find_spec("mujoco_warp"):
        SOLVERS["mujoco"] = lambda model: newton.solvers.SolverMuJoCo(model, disable_contacts=True), ()
    PEERS = {
        f"newton_{name}": Peer(
            f"Newton {newton.__version__} {name}, float32",
            partial(_make, solver_of),
            partial(_acceleration, solver_of),
            ignores=ignores,
            has_gpu=True,
        )
        for name, (solver_of, ignores) in SOLVERS.items()
    }
