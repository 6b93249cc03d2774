"""The direct solver with dozens of rows of all families at work: the conditions that its answer has to meet."""

from functools import cache

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.busy_mechanisms import DRIVE, crowded_tree
from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic import Simulation, SolverSettings
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import sub  # noqa: F401 (operators)
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.solver.rows.active_set import GUESSES, find_working_set
from warp_artic.solver.rows.direct import set_first_working_set
from warp_artic.solver.rows.problem import forget_working_set, gather_rows

DT = 1 / 240


def stepped_once(tree, seed, **settings):
    """A simulation after one step from the zero position with random efforts, and the random velocities before it."""
    rng, count = np.random.default_rng(seed), len(tree.dofs)
    options = SolverSettings(dt=DT, integrator="semi_implicit", **settings)
    simulation = Simulation(trees.scene(tree), settings=options)
    start = 2.0 * rng.normal(size=count)
    simulation.set_state(joint_position=np.zeros(count), joint_velocity=start)
    simulation.control.joint_effort.assign(5.0 * rng.normal(size=(count, 1)))
    simulation.step()
    return simulation, start


def rows_of(simulation):
    """The rows: J (R, D), windows and bounds (R, 2), compliances, impulses and whether they are active (R)."""
    group = simulation.run.groups[0]
    work, rows = group.arrays.work, group.tree.rows
    coefficients, starts = work.J.numpy()[:, 0], np.cumsum([0, *(len(row.dofs) for row in rows)])
    J = np.zeros((len(rows), group.tree.dof_count))
    for index, row in enumerate(rows):
        J[index, list(row.dofs)] = coefficients[starts[index] : starts[index + 1]]
    pairs = [getattr(work, name).numpy()[:, 0].reshape(-1, 2) for name in ("velocity_bounds", "impulse_bounds")]
    numbers = [getattr(work, name).numpy()[: len(rows), 0] for name in ("compliance", "impulse", "active")]
    return J, *pairs, *numbers


def folded_inertia(simulation):
    """The mass matrix at the zero position with the springs and dampers of the drives that are not saturated."""
    tree = simulation.scene.articulations[0]
    zeros = np.zeros(len(tree.dofs))
    start = State(joint_position=zeros, joint_velocity=zeros, root_pose=None, root_velocity=None)
    saturated = simulation.run.groups[0].arrays.work.saturated.numpy()[:, 0]
    folded = [dof.drive is not None and not full for dof, full in zip(tree.dofs, saturated)]
    A = rigid.mass_matrix(rigid.motion(tree, start))
    return A + np.diag(folded) * DT * (DRIVE.damping + DT * DRIVE.stiffness)


@pytest.mark.parametrize("static", [0.6, 0.9])
@pytest.mark.parametrize("seed", range(6))
def test_a_crowded_answer_meets_all_conditions(seed, static):
    """The change of velocities is that of the impulses, and each row is held, slides or is let go as its law says."""
    simulation, start = stepped_once(crowded_tree(seed, static), seed, precision="float64")
    J, window, bound, compliance, z, active = rows_of(simulation)
    work = simulation.run.groups[0].arrays.work
    v, vdot, given = (getattr(work, name).numpy()[:, 0] for name in ("v_next", "vdot", "given"))
    change = v - start - DT * vdot
    np.testing.assert_allclose(folded_inertia(simulation) @ change, J.T @ (z + given), atol=1e-9)

    active = active > 0
    assert active.sum() >= 30
    J, window, bound, compliance, z = (values[active] for values in (J, window, bound, compliance, z))
    reach = J @ v + compliance * z
    slides = np.abs(z) >= bound[:, 1] * (1 - 1e-12)
    is_stop = window[:, 1] > window[:, 0]
    assert (np.abs(z) <= bound[:, 0]).all()
    assert slides.any() and (z[is_stop] != 0.0).any() and (z[is_stop] == 0.0).any()
    goal = np.where(z > 0, window[:, 0], window[:, 1])
    held = (z != 0.0) & ~slides
    np.testing.assert_allclose(reach[held], goal[held], atol=1e-9)
    assert (np.sign(z) * (goal - reach))[slides].min() >= -1e-9
    let_go = is_stop & (z == 0.0)
    assert (reach - window[:, 0])[let_go].min() >= -1e-9
    assert (window[:, 1] - reach)[let_go].min() >= -1e-9


@pytest.mark.parametrize("seed", range(3))
def test_single_precision_finds_the_crowded_answer(seed):
    """The same velocities as in double precision, to a share of the largest."""
    tree = crowded_tree(seed)
    single, double = (
        stepped_once(tree, seed, precision=precision)[0].state.joint_velocity.numpy()[:, 0]
        for precision in ("float32", "float64")
    )
    np.testing.assert_allclose(single, double, rtol=0.0, atol=1e-4 * np.abs(double).max())


def contradicting_tree(seed):
    """A crowded tree with slow velocity limits, and tendons whose forces do not follow from their length."""
    tree = trees.with_dofs(crowded_tree(seed, static=0.9), velocity_limit=0.05)
    tendons = (trees.replace(tendon, force_coefficients=(1.0, -0.2, 0.9)) for tendon in tree.fixed_tendons)
    return trees.replace(tree, fixed_tendons=tuple(tendons))


def beyond_its_stops(tree, environments, variant="lanes", **settings):
    """A simulation of states from which stops ask for more than velocity limits allow, and the velocities."""
    rng, shape = np.random.default_rng(2), (environments, len(tree.dofs))
    options = SolverSettings(dt=DT, variant=variant, integrator="semi_implicit", **settings)
    simulation = Simulation(trees.scene(tree), environments=environments, settings=options)
    position, velocity = 0.01 * rng.normal(size=shape), 2.0 * rng.normal(size=shape)
    simulation.set_state(joint_position=position, joint_velocity=velocity)
    return simulation, position, velocity


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("tree_of", [crowded_tree, contradicting_tree])
def test_a_crowded_answer_does_not_depend_on_the_batch(tree_of, seed, precision):
    """Bitwise equal alone and among 20 others, on lanes, where rows contradict each other too."""
    tree = tree_of(seed)
    many, position, velocity = beyond_its_stops(tree, 20, precision=precision)
    many.step(20)
    for environment in (7, 18):
        alone, _, _ = beyond_its_stops(tree, 1, precision=precision)
        alone.set_state(joint_position=position[environment], joint_velocity=velocity[environment])
        alone.step(20)
        for name in ("joint_position", "joint_velocity"):
            found, expected = (getattr(simulation.state, name).numpy() for simulation in (many, alone))
            np.testing.assert_array_equal(found[:, environment], expected[:, 0])


@cache
def guesses_kernel(numbers):
    """Solves the rows of a work space anew, from no guess; says how many guesses that takes."""
    structs = arrays_for(numbers)
    Model, Work = structs.Model, structs.Work

    @wp.kernel(**OPTIONS)
    def guesses(model: Model, work: Work, found: wp.array(dtype=int)):
        for island in range(model.island_count):
            work.begins[island, 0] = 1
        forget_working_set(model, work, 0, work.position_weight[0, 0] - work.position_weight[0, 0])
        count, known, first_nonsymmetric = gather_rows(model, work, 0)
        loosens = set_first_working_set(model, work, known, count, 0)
        found[0] = find_working_set(model, work, known, count, first_nonsymmetric, loosens, 0)

    return guesses


@pytest.mark.parametrize("seed", range(4))
def test_guesses_end_within_bounds(seed):
    """With contradictions and without: no bound is exceeded, whether there is an answer or not."""
    tree = contradicting_tree(seed)
    simulation, _, _ = beyond_its_stops(tree, 1, variant="scalar")
    group = simulation.run.groups[0]
    model, work = group.arrays.model, group.arrays.work
    found = wp.zeros(1, dtype=int)
    for _ in range(20):
        simulation.step()
        work.environment_mask.fill_(1.0)
        wp.launch(guesses_kernel(group.columns.numbers), dim=1, inputs=[model, work, found])
        rows = model.row_count
        assert 1 <= found.numpy()[0] <= (GUESSES + 3) * (rows + 1)
        impulses, bounds = work.impulse.numpy()[:rows, 0], work.impulse_bounds.numpy()[: 2 * rows : 2, 0]
        active = work.active.numpy()[:rows, 0] > 0
        assert (np.abs(impulses) <= bounds * (1 + 1e-6))[active].all()
        assert np.isfinite(impulses).all()
