"""The robots in the package of Newton, in free fall or on their mounts, for a thousand steps.

Left out are those that need a download (ANYmal, H1, G1, Allegro, Franka, UR10, and the scenes with them), and files in
the package without joints of articulations (crazyflie.usd, rj45_plug.usd, boxes_fourbar.usda).
"""

import newton
import numpy as np
import pytest
from warp_artic.extensions.newton import SolverWarpArtic

from tests.extensions.newton.models import DT, asset, start

STEPS = 1000
ROBOTS = (
    "ant.usda",
    "humanoid.usda",
    "cartpole.usda",
    "cartpole.urdf",
    "cartpole_single_pendulum.usda",
    "quadruped.urdf",
    "nv_ant.xml",
    "nv_humanoid.xml",
    "tabletop.xml",
)
FAILS = {"ant.usda": 50, "humanoid.usda": 50, "nv_ant.xml": 50}
"""Steps within which Newton's SolverFeatherstone has run away, at the same time step."""

pytestmark = pytest.mark.filterwarnings("ignore:contacts are not simulated", "ignore:.* of MuJoCo are not simulated")


def stepped(solver, steps: int) -> newton.State:
    """The state after some steps, from a state off the equilibrium."""
    now, later = start(solver.model), solver.model.state()
    kinds = solver.model.joint_type.numpy()
    of_dofs = np.repeat(kinds, np.diff(solver.model.joint_qd_start.numpy()))
    velocity = now.joint_qd.numpy()
    velocity[of_dofs != newton.JointType.FREE] = 0.1
    now.joint_qd.assign(velocity)
    for _ in range(steps):
        solver.step(now, later, None, None, DT)
        now, later = later, now
    return now


@pytest.mark.parametrize("name", ROBOTS)
def test_a_thousand_steps(name):
    """Nothing runs away, and no environment has stopped."""
    solver = SolverWarpArtic(asset(name).finalize(), dt=DT)
    state = stepped(solver, STEPS)
    assert solver.simulation.failures() == []
    for array in (state.joint_q, state.joint_qd, state.body_q, state.body_qd):
        assert np.isfinite(array.numpy()).all()
    time = STEPS * DT
    assert np.abs(state.body_qd.numpy()).max() < 9.81 * time + 100.0
    assert np.abs(state.joint_q.numpy()).max() > 1e-3


@pytest.mark.parametrize("name", FAILS)
def test_where_featherstone_fails(name):
    """Newton's solver in reduced coordinates does not get through the same steps."""
    solver = newton.solvers.SolverFeatherstone(asset(name).finalize())
    assert not np.isfinite(stepped(solver, FAILS[name]).joint_q.numpy()).all()
