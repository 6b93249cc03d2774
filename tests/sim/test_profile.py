"""The step with a clock."""

from warp_artic.kernels.launch import SETTLES
from warp_artic.sim.measure.profile import MOST_FILES, clocked_step_block


def test_each_phase_is_timed_by_its_file():
    """The rewritten step has places for phases, constraints and the solver of rows, and none twice."""
    step, places = clocked_step_block(SETTLES["direct"])
    assert step.key == "step_block"
    assert {"phases.kinematics", "phases.articulated_inertia", "constraints.dispatch", "solver.rows.direct"} <= set(
        places
    )
    assert sorted(places.values()) == list(range(len(places)))
    assert len(places) <= MOST_FILES
