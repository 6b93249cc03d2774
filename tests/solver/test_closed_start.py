"""Closed mechanisms that start off their path: what closes them makes no speed."""

import numpy as np
import pytest

from tests import closed_mechanisms as mechanisms
from tests import trees
from tests.constraints.test_loop_joint import four_bar
from tests.oracles import closures, rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene


def rail(velocity, place=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -9.81), environments=1, **settings):
    """A free body that a loop joint lets slide along x of the world, without friction."""
    body = Link(path="/r/body", mass=2.0, inertia=(0.1, 0, 0, 0.2, 0, 0.3), pose=Pose(place), linear_velocity=velocity)
    loop = LoopJoint(name="/r/rail", link0=WORLD, link1=0, free=(Axis.TRANS_X,))
    tree = Articulation(path="/r", links=(body,), joints=(), constraints=(loop,))
    options = SolverSettings(precision="float64", dt=1 / 480, **settings)
    return Simulation(Scene(articulations=(tree,), gravity=gravity), environments=environments, settings=options)


def speeds(simulation):
    """Linear velocities along x [m/s] of the environments."""
    return simulation.state.root_velocity.numpy()[0, 0]


@pytest.mark.parametrize("across", [0.1, 0.3, 1.0])
def test_a_velocity_across_a_rail_is_lost(across):
    """No force acts along the rail, where the speed stays what it was."""
    simulation = rail((1.0, across, 0.5 * across))
    for _ in range(3):
        simulation.step(10)
        np.testing.assert_allclose(simulation.state.root_velocity.numpy()[0, :, 0], [1, 0, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("gap", [1e-3, -1e-3, 1e-2, -1e-2, -0.3])
def test_a_gap_that_is_closed_makes_no_speed(gap):
    """At the start or by a state that is set in a run; what weight does over the gap is not the speed's."""
    begun, changed = rail((1.0, 0.0, 0.0), (0.0, 0.0, gap)), rail((1.0, 0.0, 0.0))
    begun.step(20)
    changed.step(20)
    changed.set_state(root_pose=[0, 0, gap, 0, 0, 0, 1], root_velocity=[1.0, 0.3, 0, 0, 0, 0])
    changed.step(20)
    for simulation in (begun, changed):
        np.testing.assert_allclose(speeds(simulation), 1.0, atol=1e-12)
        assert abs(simulation.state.root_pose.numpy()[0, 2, 0]) < 1e-12


def test_other_environments_do_not_notice():
    """One that is set anew beside others that go on, with lanes of them, which stay bitwise as they are."""
    alone, among = (rail((1.0, 0.2, 0.0), environments=9, variant="lanes") for _ in range(2))
    for simulation in (alone, among):
        simulation.step(5)
    among.set_state(root_velocity=[2.0, 0.3, 0, 0, 0, 0], environments=[4])
    for simulation in (alone, among):
        simulation.step(5)
    others = np.arange(9) != 4
    np.testing.assert_array_equal(speeds(among)[others], speeds(alone)[others])
    assert speeds(among)[4] == pytest.approx(2.0, abs=1e-12)


def test_a_kicked_four_bar_has_the_energy_of_the_velocity_that_it_may_have():
    """That of the M-orthogonal projection of what is given, by dense linear algebra, from the first step on."""
    tree = four_bar()
    state = closures.tangent(tree, trees.authored_state(tree), tree.constraints)
    v = state.joint_velocity + np.array([0.0, 4.0, -2.0])
    motion = rigid.motion(tree, state)
    M = rigid.mass_matrix(motion)
    J = np.concatenate([closures.held(motion, loop)[1] for loop in tree.constraints])
    G = J @ np.linalg.solve(M, J.T)
    allowed = v - np.linalg.solve(M, J.T @ np.linalg.lstsq(G, J @ v, rcond=1e-9)[0])
    scene = Scene(articulations=(tree,), gravity=mechanisms.DOWN)
    simulation = Simulation(scene, settings=SolverSettings(precision="float64", variant="scalar"))
    simulation.set_state(joint_velocity=v)
    lost = 0.5 * v @ M @ v - 0.5 * allowed @ M @ allowed
    wanted = simulation.state.energy.numpy().sum() - lost
    for _ in range(3):
        simulation.step()
        assert lost > 0.1 and simulation.state.energy.numpy().sum() == pytest.approx(wanted, rel=1e-9)
