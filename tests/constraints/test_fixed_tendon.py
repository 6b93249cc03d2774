"""Fixed tendons: the implicit law, limits, force coefficients, stiffness without fear."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.tendon import FixedTendon

H = 1.0 / 240.0


def tied(tree, *tendons):
    return trees.replace(tree, fixed_tendons=tendons)


def simulate(tree, gravity=(0.0, 0.0, 0.0), **settings):
    return Simulation(trees.scene(tree, gravity=gravity), settings=SolverSettings(**{"dt": H, **settings}))


@pytest.mark.parametrize("force_coefficients", [(1.0, -0.5, 2.0), (0.7, -0.2, 1.0)])
def test_a_step_of_random_trees_has_the_dense_law(force_coefficients):
    """M (v+ - v) = h (-C - g) + h r (k (rest - L+) - d S+), with r equal to c and different from it."""
    coefficients = (1.0, -0.5, 2.0)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 7, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y"))
        dofs = tuple(int(dof) for dof in rng.choice(len(tree.dofs), 3, replace=False))
        k, d, rest, offset = 500.0, 20.0, 0.3, 0.1
        tendon = FixedTendon(
            name="t",
            dofs=dofs,
            coefficients=coefficients,
            force_coefficients=force_coefficients,
            stiffness=k,
            damping=d,
            rest_length=rest,
            offset=offset,
        )
        state = trees.random_state(rng, tree)
        simulation = simulate(tied(tree, tendon), gravity=rigid.GRAVITY, precision="float64", position_iterations=1)
        root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
        simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
        simulation.step()
        motion = rigid.motion(tree, state)
        roots = motion.velocity.size - len(tree.dofs)
        c, r = np.zeros(motion.velocity.size), np.zeros(motion.velocity.size)
        c[np.add(dofs, roots)] = coefficients
        r[np.add(dofs, roots)] = force_coefficients
        length = offset + c[roots:] @ state.joint_position
        M = rigid.mass_matrix(motion) + H * (d + H * k) * np.outer(r, c)
        passive = rigid.coriolis_effort(motion) + rigid.gravity_effort(motion)
        expected = np.linalg.solve(
            M, rigid.mass_matrix(motion) @ motion.velocity - H * passive + H * k * (rest - length) * r
        )
        np.testing.assert_allclose(
            simulation.state.joint_velocity.numpy()[:, 0], expected[roots:], rtol=1e-8, atol=1e-8
        )


@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e9])
def test_any_stiffness_is_stable(stiffness):
    """Bounded for ten seconds at 1/60, and taut at rest when damped."""
    tendon = FixedTendon(
        name="t",
        dofs=(0, 1),
        coefficients=(1.0, -1.0),
        force_coefficients=(1.0, -1.0),
        stiffness=stiffness,
        damping=5.0,
    )
    simulation = simulate(tied(trees.chain(2), tendon), gravity=rigid.GRAVITY, dt=1 / 60)
    simulation.set_state(joint_position=[0.5, 0.5])
    recording = simulation.record(600)
    assert np.isfinite(recording.joint_position).all()
    assert np.abs(recording.joint_velocity).max() < 30.0
    if stiffness >= 1e6:
        assert np.abs(recording.joint_position[1:, 0] @ [1.0, -1.0]).max() < 1e-2


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


def test_length_and_force_are_reported():
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
