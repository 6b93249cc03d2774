"""What a step computes, counted by running it on numbers that count."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic
from warp_artic.cli.bench_models import read_model
from warp_artic.sim.measure.operations import Tally, count_operations, step_on_numbers
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage

SCENES = Path(warp_artic.__file__).parent / "cli" / "bench_scenes"


@pytest.mark.parametrize("name", ["humanoid", "hand_tendon", "hand_mimic"])
def test_what_is_counted_is_the_step(name):
    """The run on counting numbers ends where the compiled step ends, with drives, limits and couplings."""
    simulation = Simulation(read_stage(str(SCENES / f"{name}.usda")), settings=SolverSettings(precision="float64"))
    simulation.step(24)
    ((structs, _),) = step_on_numbers(simulation.run, Tally())
    simulation.step()
    for quantity in ("joint_position", "joint_velocity"):
        found = [number.value for number in getattr(structs.state, quantity).values]
        expected = getattr(simulation.state, quantity).numpy()[:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_the_count_grows_with_the_links(tmp_path):
    """Of a chain each further link costs the same, the more bytes the larger the numbers are; nothing is left over."""
    counts = {}
    for links in (4, 8, 16):
        for precision in ("float32", "float64"):
            scene = read_model(f"chain{links}", tmp_path).scene
            simulation = Simulation(scene, settings=SolverSettings(precision=precision))
            counts[links, precision] = count_operations(simulation.run)
    flops = [counts[links, "float32"].flops for links in (4, 8, 16)]
    assert flops[2] - flops[1] == 2 * (flops[1] - flops[0])
    assert counts[8, "float64"].bytes == 2 * counts[8, "float32"].bytes
    assert sum(counts[8, "float32"].by_file.values()) == flops[1]
    assert {"phases.kinematics", "phases.articulated_inertia"} <= set(counts[8, "float32"].by_file)
