"""Numbers of NumPy where those of Python are asked for."""

import numpy as np
import pytest

import warp_artic as wa
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.read_stage import read_stage

CART_POLE = "samples/scenes/cart_pole.usda"


def test_numbers_of_numpy_are_settings(tmp_path):
    """As those of Python of the same value: files are written and read, and the model is the same."""
    settings = SolverSettings(dt=np.float32(0.25), position_iterations=np.int64(3), sleep_after=np.float64(1))
    plain = SolverSettings(dt=0.25, position_iterations=3, sleep_after=1)
    assert settings == plain
    scene = read_stage(CART_POLE)
    one = Simulation(scene, settings=settings)
    one.save(tmp_path / "half.npz")
    one.record(1).save(tmp_path / "run.npz")
    other = Simulation(scene, settings=plain)
    other.load(tmp_path / "half.npz")
    assert other.model_hash == one.model_hash
    with pytest.raises(wa.SettingsError, match="dt: np.True_ is not a finite number above 0"):
        SolverSettings(dt=np.True_)


def test_counts_of_numpy_are_counts():
    """As those of Python."""
    simulation = Simulation(read_stage(CART_POLE), environments=np.int64(2))
    assert repr(simulation.record(np.int64(4), every=np.int32(2))).startswith("<Recording of 3 records")
    controls = {"joint_effort": np.zeros((4, 2))}
    assert len(wa.rollout(simulation, controls, steps=np.int64(4), every=np.int64(2)).time) == 3
