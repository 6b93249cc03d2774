"""Fixed tendons: equations 1-5, the step, limits, energy."""

from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import couplings, rigid
from tests.oracles.dense_step import DenseStep, Spring, assert_steps, implicit_share
from tests.oracles.simulated_state import put
from warp_artic.description.tendon import FixedTendon

H = 1.0 / 240.0
INTEGRATORS = ("midpoint", "semi_implicit")


def tied(tree, *tendons):
    return trees.replace(tree, fixed_tendons=tendons)


simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


def random_tendon(rng, tree, same=True, name="t", **options):
    """A tendon over three dofs drawn at random; its force coefficients are those of the length, or others."""
    coefficients = tuple(float(c) for c in rng.uniform(0.3, 2.0, 3) * rng.choice([-1, 1], 3))
    others = tuple(float(c * s) for c, s in zip(coefficients, rng.uniform(0.5, 1.5, 3)))
    return FixedTendon(
        name=name,
        dofs=tuple(int(dof) for dof in rng.choice(len(tree.dofs), 3, replace=False)),
        coefficients=coefficients,
        force_coefficients=coefficients if same else others,
        **options,
    )


def weights(tree, tendon):
    """c and r by dof."""
    found = np.zeros((2, len(tree.dofs)))
    found[0, list(tendon.dofs)], found[1, list(tendon.dofs)] = tendon.coefficients, tendon.force_coefficients
    return found


def vectors(tree, tendon, state, before=0.0, later=0.0):
    """The gradients of sum c_i q_i and sum r_i q_i by generalized velocity."""
    return [couplings.gradient(tree, state, own, before, later) for own in weights(tree, tendon)]


def length(tree, tendon, position):
    return tendon.offset + weights(tree, tendon)[0] @ position


def rate(tree, tendon, state):
    """The rate of the length, by finite differences."""
    return vectors(tree, tendon, state)[0] @ rigid.velocity(tree, state)


def springs(tree, tendon, state, share, integrator, h=H):
    """The spring and damper, and the spring of a limit that is passed, in a step of h."""
    before, later = couplings.times(h, share, integrator == "midpoint")
    c, r = vectors(tree, tendon, state, before, later)
    L = tendon.offset + couplings.value_in_step(tree, state, weights(tree, tendon)[0], before)
    found = [Spring(tendon.stiffness, tendon.damping, L - tendon.rest_length, c, c, r)]
    beyond = min(L - tendon.lower, 0.0) + max(L - tendon.upper, 0.0)
    if beyond:
        found.append(Spring(tendon.limit_stiffness, 0.0, beyond, c, c, r, is_limit=True, resolves=True))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# The law
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "force"),
    [
        ({}, lambda L, S: 0.0),
        ({"stiffness": 40.0, "rest_length": 0.3}, lambda L, S: 40.0 * (0.3 - L)),
        ({"damping": 7.0}, lambda L, S: -7.0 * S),
        ({"limit_stiffness": 90.0, "upper": -8.0}, lambda L, S: 90.0 * (-8.0 - L)),
        ({"limit_stiffness": 90.0, "lower": 8.0}, lambda L, S: 90.0 * (8.0 - L)),
        ({"limit_stiffness": 90.0, "lower": -50.0, "upper": 50.0}, lambda L, S: 0.0),
        (
            {"stiffness": 40.0, "damping": 7.0, "rest_length": 0.3, "limit_stiffness": 90.0, "upper": -8.0},
            lambda L, S: 40.0 * (0.3 - L) - 7.0 * S + 90.0 * (-8.0 - L),
        ),
    ],
    ids=["none", "spring", "damper", "upper", "lower", "between", "all"],
)
@pytest.mark.parametrize("seed", range(3))
def test_length_and_force_at_random_states(seed, options, force):
    """L (1), and by way of the force S (2), spring, damper (3), limits (4) and Delta (5), each alone and together."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 8, floating=bool(seed % 2))
    tendon = random_tendon(rng, tree, same=False, offset=0.2, **options)
    state = trees.random_state(rng, tree)
    simulation = simulate(tied(tree, tendon), precision="float64")
    put(simulation, state)
    L, S = length(tree, tendon, state.joint_position), rate(tree, tendon, state)
    np.testing.assert_allclose(simulation.state.tendon_length.numpy(), [[L]], rtol=1e-12)
    np.testing.assert_allclose(simulation.state.tendon_speed.numpy(), [[S]], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(simulation.state.tendon_force.numpy(), [[force(L, S)]], rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(
    "limits", [{}, {"limit_stiffness": 700.0, "upper": -9.0}, {"limit_stiffness": 300.0, "lower": 9.0}]
)
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", range(4))
def test_steps_of_random_trees_have_the_dense_law(seed, integrator, same, limits):
    """Two tendons on trees with drives of their own: what acts on each dof is f r_i, with r equal to c and not.

    They store up to 10 kJ: of longer steps the first would make a violent motion, which has a law of its own.
    """
    h = H / 8.0
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 7, floating=bool(seed % 2))
    shared = {"rest_length": 0.3, "offset": 0.1, **limits}
    tendons = (
        random_tendon(rng, tree, same, "a", stiffness=500.0, damping=20.0, **shared),
        random_tendon(rng, tree, same, "b", stiffness=3e4, damping=1.0, **shared),
    )
    law = DenseStep(
        tree,
        h,
        integrator,
        elements=lambda state, placed, share: [
            spring for tendon in tendons for spring in springs(tree, tendon, state, share, integrator, h)
        ],
    )
    simulation = simulate(tied(tree, *tendons), gravity=rigid.GRAVITY, dt=h, precision="float64", integrator=integrator)
    put(simulation, trees.random_state(rng, tree))
    assert_steps(simulation, law, tolerance=1e-9)


def slider_step(state, h, share, k, lower, upper, speed_of_length=2.0):
    """q and v of a slider of 1 kg after a step with the limits of a tendon L = 2 q, by bisection of its law.

    F = (1 - theta) f(L) + theta f(L + h ((1 - share) S + theta S+)),   f pushes back from beyond an end only.
    """
    q, v = state
    theta = implicit_share(h * h * k * speed_of_length**2, share)

    def push(L):
        return k * (max(lower - L, 0.0) - max(L - upper, 0.0))

    def force(v_next):
        later = speed_of_length * (q + h * ((1.0 - share) * v + theta * v_next))
        return (1.0 - theta) * push(speed_of_length * q) + theta * push(later)

    low, high = v - 1e3, v + 1e3
    for _ in range(200):
        middle = 0.5 * (low + high)
        beyond = middle - v - h * speed_of_length * force(middle) > 0.0
        low, high = (low, middle) if beyond else (middle, high)
    return q + h * ((1.0 - share) * v + share * middle), middle


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e7])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_are_met_and_left_as_the_law_says(integrator, stiffness):
    """A slider that flies to and fro between the limits of its tendon, each step against a scalar solution."""
    tendon = FixedTendon(
        name="t",
        dofs=(0,),
        coefficients=(2.0,),
        force_coefficients=(2.0,),
        limit_stiffness=stiffness,
        lower=-0.03,
        upper=0.05,
    )
    simulation = simulate(
        tied(trees.chain(1, "prismatic_x", mass=1.0), tendon), precision="float64", integrator=integrator
    )
    simulation.set_state(joint_velocity=[1.0])
    recording = simulation.record(100)
    path = np.stack([recording.joint_position[:, 0, 0], recording.joint_velocity[:, 0, 0]], axis=1)
    later = 0.5 if integrator == "midpoint" else 1.0
    for before, after in zip(path[1:], path[2:]):
        np.testing.assert_allclose(after, slider_step(before, H, later, stiffness, -0.03, 0.05), atol=1e-10)
    assert 2.0 * path[:, 0].max() > 0.05 - 1e-4


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_one_sweep_solves_a_tendon_alone(integrator):
    """With one tendon and nothing else, pgs has the dense law after one iteration."""
    rng = np.random.default_rng(4)
    tree = trees.random_articulation(rng, 6, floating=True)
    tendon = random_tendon(rng, tree, same=False, stiffness=2e3, damping=5.0)
    law = DenseStep(
        tree, H, integrator, elements=lambda state, placed, share: springs(tree, tendon, state, share, integrator)
    )
    settings = {"precision": "float64", "integrator": integrator, "solver": "pgs", "position_iterations": 1}
    simulation = simulate(tied(tree, tendon), gravity=rigid.GRAVITY, **settings)
    put(simulation, trees.random_state(rng, tree))
    assert_steps(simulation, law, tolerance=1e-9)


def applied_effort(tree, tendon, position):
    """What a tendon does to the dofs at rest: M vdot of a tiny step without gravity."""
    h = 1e-6
    simulation = simulate(tied(tree, tendon), dt=h, precision="float64", integrator="semi_implicit")
    simulation.set_state(joint_position=position)
    simulation.step()
    rest = trees.replace(trees.random_state(0, tree), joint_position=position, joint_velocity=0.0 * position)
    return rigid.mass_matrix(rigid.motion(tree, rest)) @ simulation.state.joint_velocity.numpy()[:, 0] / h


@pytest.mark.parametrize(
    "limits", [{}, {"limit_stiffness": 70.0, "upper": -6.0}, {"limit_stiffness": 70.0, "lower": 6.0}]
)
@pytest.mark.parametrize("seed", range(3))
def test_forces_are_the_derivative_of_the_potential(seed, limits):
    """With r = c: minus the gradient of k (L - rest)^2 / 2 + k_lim Delta^2 / 2, by the reported length."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=False)
    tendon = random_tendon(rng, tree, stiffness=30.0, rest_length=0.4, offset=-0.1, **limits)
    position = trees.random_state(rng, tree).joint_position
    simulation = simulate(tied(tree, tendon), precision="float64")

    def potential(q):
        simulation.set_state(joint_position=q)
        L = simulation.state.tendon_length.numpy()[0, 0]
        delta = max(tendon.lower - L, 0.0) + max(L - tendon.upper, 0.0)
        return 0.5 * 30.0 * (L - 0.4) ** 2 + 0.5 * tendon.limit_stiffness * delta**2

    slopes = []
    for dof in range(len(position)):
        ahead, back = (potential(couplings.displaced(tree, position, dof, time)) for time in (1e-5, -1e-5))
        slopes.append((ahead - back) / 2e-5)
    found = applied_effort(tree, tendon, position)
    np.testing.assert_allclose(found, -np.array(slopes), rtol=0.0, atol=1e-6 * np.abs(slopes).max())


# ---------------------------------------------------------------------------------------------------------------------
# Motion
# ---------------------------------------------------------------------------------------------------------------------


def energy_with_tendon(stiffness, amplitude, **settings):
    """Kinetic energy and the sum with gravity and tendon of a pendulum whose tendon is at rest at the start, 10 s."""
    tendon = FixedTendon(
        name="t",
        dofs=(0,),
        coefficients=(1.0,),
        force_coefficients=(1.0,),
        stiffness=stiffness,
        rest_length=amplitude,
    )
    simulation = simulate(tied(trees.chain(1), tendon), gravity=rigid.GRAVITY, precision="float64", **settings)
    simulation.set_state(joint_position=[amplitude])
    recording = simulation.record(2400)
    stored = 0.5 * stiffness * (recording.tendon_length[:, 0, 0] - amplitude) ** 2
    return recording.energy[:, 0].sum(axis=1) + stored


@pytest.mark.parametrize("amplitude", [0.3, 1.0])
@pytest.mark.parametrize("stiffness", [0.1, 1.0, 10.0])
def test_an_undamped_tendon_keeps_energy_as_the_pendulum_without_it(stiffness, amplitude):
    """After the first step, which is backward Euler, energy drifts no more in 10 s than without the tendon."""
    bare, tendon = (energy_with_tendon(k, amplitude) for k in (0.0, stiffness))
    assert np.abs(tendon[1:] - tendon[1]).max() <= np.abs(bare - bare[0]).max()
    assert -4.0 * np.abs(bare - bare[0]).max() < tendon[1] - tendon[0] < 0.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stiffness", [1e2, 1e3, 1e4, 1e6, 1e9])
def test_an_undamped_stiff_tendon_gains_no_energy(stiffness, integrator):
    """However stiff: nothing beyond what the pendulum without it gains."""
    bare, tendon = (energy_with_tendon(k, 1.0, integrator=integrator) for k in (0.0, stiffness))
    assert (tendon - tendon[0]).max() <= np.abs(bare - bare[0]).max()


def test_limits_act_outside_only():
    """Free inside, a spring of the limit stiffness outside, on either side."""
    tendon = FixedTendon(
        name="t",
        dofs=(0,),
        coefficients=(2.0,),
        force_coefficients=(2.0,),
        limit_stiffness=1e4,
        lower=-0.2,
        upper=0.4,
    )
    tree = tied(trees.chain(1, "prismatic_x", mass=1.0), tendon)
    simulation = simulate(tree)
    simulation.set_state(joint_velocity=[0.5])
    simulation.step(60)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[0.125]], rtol=1e-5)
    for force in (30.0, -30.0):
        simulation.control.joint_effort.fill_(force)
        simulation.parameters.friction_viscous.fill_(50.0)
        simulation.step(4800)
        bound = 0.4 if force > 0 else -0.2
        sag = force / (1e4 * 2.0)
        np.testing.assert_allclose(simulation.state.joint_position.numpy() * 2.0, [[bound + sag]], atol=2e-4)


def test_length_and_force_are_recorded():
    """The recording has L and the force of the law at each record."""
    tendon = FixedTendon(
        name="/World/chain/t",
        dofs=(0, 1),
        coefficients=(0.3, -0.2),
        force_coefficients=(0.3, -0.2),
        stiffness=40.0,
        damping=2.0,
        rest_length=0.05,
        offset=0.01,
        limit_stiffness=100.0,
        upper=0.1,
    )
    simulation = simulate(tied(trees.chain(2), tendon), gravity=rigid.GRAVITY, precision="float64")
    simulation.set_state(joint_position=[0.8, 0.1])
    recording = simulation.record(100)
    assert recording.tendon_names == ("/World/chain/t",)
    length = 0.01 + recording.joint_position[:, 0] @ [0.3, -0.2]
    rate = recording.joint_velocity[:, 0] @ [0.3, -0.2]
    force = 40.0 * (0.05 - length) - 2.0 * rate + 100.0 * np.minimum(0.1 - length, 0.0)
    np.testing.assert_allclose(recording.tendon_length[:, 0, 0], length, atol=1e-12)
    np.testing.assert_allclose(recording.tendon_force[:, 0, 0], force, atol=1e-10)


def test_a_tendon_on_a_turning_joint_does_not_jump():
    """A joint without limits turns on past two turns with its tendon; energy is kept."""
    tendon = FixedTendon(
        name="t", dofs=(0,), coefficients=(0.1,), force_coefficients=(0.1,), stiffness=2.0, rest_length=0.0
    )
    simulation = simulate(tied(trees.chain(1), tendon), precision="float64")
    simulation.set_state(joint_velocity=[10.0])
    recording = simulation.record(480)
    assert recording.tendon_length.max() > 0.1 * 4.0 * np.pi
    energy = recording.energy[:, 0, 0] + 0.5 * 2.0 * recording.tendon_length[:, 0, 0] ** 2
    np.testing.assert_allclose(energy[1:], energy[1], rtol=1e-3)


def test_a_disabled_tendon_does_nothing():
    """As if it were not there, bitwise, and it can be switched on."""
    tendon = FixedTendon(
        name="t", dofs=(0, 1), coefficients=(1.0, 1.0), force_coefficients=(1.0, 1.0), stiffness=100.0, enabled=False
    )
    with_it, without = simulate(tied(trees.chain(2), tendon)), simulate(trees.chain(2))
    for simulation in (with_it, without):
        simulation.set_state(joint_position=[0.8, 0.1], joint_velocity=[0.3, 0.2])
        simulation.step(50)
    np.testing.assert_array_equal(with_it.state.joint_position.numpy(), without.state.joint_position.numpy())
    with_it.parameters.tendon_enabled.fill_(1.0)
    with_it.step()
    without.step()
    assert (with_it.state.joint_velocity.numpy() != without.state.joint_velocity.numpy()).all()
