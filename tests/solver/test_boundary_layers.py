"""Boundary layers of drives: the dense law, environments apart, forces within their maximum, and convergence."""

from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.constraints import test_fixed_tendon, test_mimic
from tests.constraints.test_soft_rotation_limits import limit_springs, passing_limits, softened
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep, Spring, assert_steps
from tests.oracles.simulated_state import put
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.mimic import Mimic

H = 1.0 / 240.0
KINDS = (("revolute_x", "revolute_y", "prismatic_z"), ("spherical", "zero_twist", "revolute_x"))


def robot(seed, *, kinds=KINDS[0], max_force=np.inf):
    """A tree whose coupled dofs have drives of unequal stiffness, its gains (k, d) and its targets."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=bool(seed % 2), kinds=kinds)
    d = 10.0 ** rng.uniform(-1.0, 2.0, len(tree.dofs))
    k = 15.0 * d
    target = rng.uniform(-0.5, 0.5, len(tree.dofs))
    drives = [
        Drive(stiffness=float(k[i]), damping=float(d[i]), position_target=float(target[i]), max_force=max_force)
        for i in range(len(k))
    ]
    return trees.with_dofs(tree, drive=drives), k, d, target


simulate = partial(simulations.simulate, precision="float64")


@pytest.mark.parametrize("solver", ["direct", "pgs"])
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_layers_are_those_of_the_dense_law(seed, kinds, solver):
    """From rest far from the targets: the first step is one, and weights that halves tell are used."""
    tree, k, d, target = robot(seed, kinds=kinds)
    simulation = simulate(tree, solver=solver)
    state = trees.random_state(np.random.default_rng(seed), tree, speed=0.0)
    put(simulation, state)
    law = DenseStep(tree, H, "midpoint", stiffness=k, damping=d, bias=k * target, target=target)
    found = []
    halves = law.halves

    def counted(*arguments):
        found.append(halves(*arguments))
        return found[-1]

    law.halves = counted
    assert_steps(simulation, law, steps=5, tolerance=1e-9)
    assert found and max(theta.max() for theta, _ in found) > 0.5


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_layers_beside_couplings_are_those_of_the_dense_law(seed, kinds):
    """The same with a tendon, a hard mimic joint and a compliant one on dofs with drives."""
    tree, k, d, target = robot(seed, kinds=kinds)
    rng = np.random.default_rng(seed)
    tendon = test_fixed_tendon.random_tendon(rng, tree, stiffness=300.0, damping=2.0)
    state = trees.random_state(rng, tree, speed=0.0)
    mimics = []
    for frequency in (0.0, 40.0):
        dofs, gears = rng.choice(len(tree.dofs), 2, replace=False), np.array([1.0, rng.uniform(0.5, 2.0)])
        offset = -float(gears @ state.joint_position[dofs])
        pair = {"dofs": tuple(map(int, dofs)), "gears": tuple(map(float, gears)), "offset": offset}
        mimics.append(Mimic(name=f"m{frequency}", natural_frequency=frequency, damping_ratio=0.3, **pair))
    tree = trees.replace(tree, fixed_tendons=(tendon,), mimics=tuple(mimics))
    simulation = simulate(tree)
    put(simulation, state)

    def elements(state, placed, share):
        couplings = [test_mimic.elements(tree, mimic, state, placed, share, "midpoint") for mimic in mimics]
        return [*couplings, *test_fixed_tendon.springs(tree, tendon, state, share, "midpoint")]

    law = DenseStep(tree, H, "midpoint", stiffness=k, damping=d, bias=k * target, target=target, elements=elements)
    found = []
    halves = law.halves

    def counted(*arguments):
        found.append(halves(*arguments))
        return found[-1]

    law.halves = counted
    assert_steps(simulation, law, steps=5, tolerance=1e-8)
    assert found


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_layers_beside_friction_and_soft_limits_are_those_of_the_dense_law(seed, kinds):
    """The same with dry friction in all joints, which slide from the first step on, and beyond springs of limits."""
    tree, k, d, target = robot(seed, kinds=kinds)
    state = trees.random_state(np.random.default_rng(seed), tree, speed=0.0)
    tree = softened(passing_limits(np.random.default_rng(seed), tree, state), 60.0)
    effort = 0.2
    tree = trees.with_dofs(tree, friction=Friction(static_effort=effort, dynamic_effort=effort))
    scout = simulate(tree)
    put(scout, state)
    sign = np.sign(scout.record(2).joint_velocity[1:, 0])
    slides = (sign == sign[0]).all(axis=0)
    # A joint that is about to turn round has no friction, so that what its friction is need not be foreseen.
    friction = [Friction(static_effort=effort, dynamic_effort=effort) if one else None for one in slides]
    tree = trees.with_dofs(tree, friction=friction)
    simulation = simulate(tree)
    put(simulation, state)
    units = np.eye(rigid.base_count(tree) + len(slides))[rigid.base_count(tree) :]

    def elements(state, placed, share):
        soft = 1e-12
        sliding = [
            Spring(soft, 0.0, effort * one / soft, unit, unit, unit)
            for unit, one, own in zip(units, sign[0], slides)
            if own
        ]
        return [*sliding, *limit_springs(tree, state, H)]

    law = DenseStep(tree, H, "midpoint", stiffness=k, damping=d, bias=k * target, target=target, elements=elements)
    found = []
    halves = law.halves

    def counted(*arguments):
        found.append(halves(*arguments))
        return found[-1]

    law.halves = counted
    # For as long as no limit is left: its spring pushes and never pulls.
    assert_steps(simulation, law, steps=2, tolerance=1e-9)
    assert found and slides.mean() > 0.5
    assert (simulation.state.joint_velocity.numpy()[:, 0] * sign[0] > 0.0)[slides].all()


@pytest.mark.parametrize("max_force", [np.inf, 20.0])
@pytest.mark.parametrize("kinds", KINDS)
def test_a_layer_is_that_of_its_environment(kinds, max_force):
    """What is in a layer, and what saturates in it, changes nothing in environments beside it, to the last bit."""
    tree, _, _, target = robot(2, kinds=kinds, max_force=max_force)
    starts = [np.zeros(len(target)), target, target + 0.3, target - 0.01, target * 0.5]
    speeds = [0.0, 8.0, 0.0, 0.0, 3.0]
    together = simulate(tree, len(starts))
    together.set_state(joint_position=np.stack(starts), joint_velocity=np.outer(speeds, np.ones(len(target))))
    path = together.record(30).joint_position
    for environment, start in enumerate(starts):
        alone = simulate(tree)
        alone.set_state(joint_position=start, joint_velocity=np.full(len(target), speeds[environment]))
        np.testing.assert_array_equal(alone.record(30).joint_position[:, 0], path[:, environment])


@pytest.mark.parametrize("stiffness", [1e6, 1e8])
def test_stiff_drives_come_to_rest_in_layers(stiffness):
    """However stiff drives are, and whatever their damping: at the targets after some steps, and they stay there."""
    rng = np.random.default_rng(4)
    tree = trees.random_articulation(rng, 6, floating=False, kinds=("revolute_x", "revolute_y"))
    target = rng.uniform(-0.5, 0.5, len(tree.dofs))
    for damping in (0.0, 1e-3 * stiffness, stiffness):
        drives = [Drive(stiffness=stiffness, damping=damping, position_target=float(q)) for q in target]
        simulation = simulate(trees.with_dofs(tree, drive=drives))
        path = simulation.record(4800 if damping == stiffness else 240).joint_position[:, 0]
        misses = np.abs(path - target).max(axis=1)
        assert misses.max() <= 1.01 * misses[0]
        assert misses[-1] < 1e-3 if damping else np.isfinite(misses).all()
