"""Bodies on joints with limits that fall, some of them in each other: none gains energy, and no environment stops."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contacts.falls import chain, jammed_arm, tree
from tests.contacts.motion import DT, Motion, simulation

SOLVERS = ("direct", "pgs", "tgs")
SECONDS = 3.0


def fall(scene, seconds: float = SECONDS, every: int = 1, **settings) -> Motion:
    """Three seconds, or as many as are asked for, without a failure."""
    one = simulation(scene, **settings)
    motion = Motion(one.record(round(seconds / DT), every, quantities=["energy"]))
    assert one.failures() == []
    return motion


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(12))
def test_chains_at_their_stops_land(seed, solver):
    """A joint that stays at its stop in the step of an impact moves with no part of the velocity after it."""
    motion = fall(chain(seed), precision="float32", solver=solver)
    assert motion.energy.max() < 1.005 * motion.energy[0]
    assert motion.energy[-1] < 0.5 * motion.energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", (*range(24), 37))
def test_trees_that_overlap_gain_no_energy(seed, solver):
    """Neither at the start, nor where limits leave an overlap no way out, nor where all joints are held by both."""
    motion = fall(tree(seed), precision="float32", solver=solver)
    assert motion.energy.max() < 1.01 * motion.energy[0]
    assert motion.energy[-1] < 0.5 * motion.energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tie", ("loop", "mimic"))
@pytest.mark.parametrize("seed", range(12))
def test_tied_trees_that_overlap_gain_no_energy(seed, tie, solver):
    """What loops and mimic joints tie together moves apart as one."""
    motion = fall(tree(seed, tie), precision="float32", solver=solver)
    assert motion.energy.max() < 1.02 * motion.energy[0]
    assert motion.energy[-1] < 0.5 * motion.energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_trees_in_double_precision(seed, solver):
    """The same."""
    motion = fall(tree(seed), precision="float64", solver=solver)
    assert motion.energy.max() < 1.01 * motion.energy[0]
    assert np.isfinite(motion.energy).all()


def gains_nothing(seed: int, tie: str, solver: str, seconds: float) -> None:
    """In a time: a tree that jams comes to rest without a gain."""
    motion = fall(tree(seed, tie), seconds, 4, precision="float32", solver=solver)
    assert motion.energy.max() < 1.01 * motion.energy[0]
    assert motion.energy[-1] < 0.5 * motion.energy[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("seed", "tie"), [(6, ""), (11, "loop"), (1, "mimic")])
def test_jams_gain_no_energy_for_a_minute(seed, tie, solver):
    """Not even where sweeps leave errors of loops and mimic joints in each impact."""
    gains_nothing(seed, tie, solver, 60.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("seed", "tie"), [(1, ""), (11, ""), (1, "loop"), (6, "loop"), (6, "mimic"), (11, "mimic")])
def test_other_jams_gain_no_energy_for_twelve_seconds(seed, tie, solver):
    """Four times as long as where trees only fall."""
    gains_nothing(seed, tie, solver, 12.0)


@pytest.mark.parametrize("rate", [240, 480])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("friction", [0.3, 1.0, 5.0])
def test_jams_with_much_friction_gain_no_energy(friction, solver, rate):
    """Only bodies that are in each other at the start are lifted as they come apart, by 0.14 J."""
    one = simulation(jammed_arm(friction), solver=solver, dt=1.0 / rate)
    energy = Motion(one.record(2 * rate, every=rate // 240, quantities=["energy"])).energy
    assert one.failures() == []
    assert energy.max() < energy[0] + 0.15
    assert (np.diff(energy[60:]) < 1e-2).all()
    assert energy[-1] < energy[0] - 1.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tie", ["", "loop", "mimic"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_with_much_friction_gain_no_energy(seed, tie, solver):
    """As much as rubber on rubber, and more."""
    motion = fall(replace(tree(seed, tie), friction=3.0), precision="float32", solver=solver)
    assert motion.energy.max() < 1.01 * motion.energy[0]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("iterations", [4, 32])
@pytest.mark.parametrize("rate", [1000, 2000])
def test_jams_with_short_steps_gain_no_energy(rate, iterations, precision):
    """Links touch where their joint hardly lets them move apart: impulses had 1e9 N s, too much for rounding."""
    one = simulation(tree(0), precision=precision, solver="pgs", dt=1.0 / rate, position_iterations=iterations)
    energy = Motion(one.record(rate, quantities=["energy"])).energy
    assert one.failures() == []
    assert (np.diff(energy) < 5e-3).all()
