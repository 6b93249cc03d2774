"""Starts that hard distances do not allow: moved next to one that they do, and thrown nowhere."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_distance import bob_on
from tests.constraints.test_loop_joint import four_bar
from tests.description.test_assemble import at, limited
from tests.oracles import rigid
from tests.simulations import simulate, simulate_exactly
from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose

SOLVERS = ("direct", "pgs", "tgs")
START = (0.3, 0.5, -0.4, 0.6)
TIP = (0.0, 0.0, -0.5)
ENDS = {"string": (0.0, 1.2), "rod": (1.2, 1.2), "stay": (1.95, 5.0)}


def tied(tree: Articulation, lower: float, upper: float, link: int = -1, place=(0.0, 0.0, 0.0)) -> Articulation:
    """A tree with a distance from a place in the world to the tip of a link."""
    ends = {"link0": WORLD, "link1": link % len(tree.links), "position0": place, "position1": TIP}
    more = Distance(name=f"/d{len(tree.constraints)}", **ends, lower=lower, upper=upper)
    return replace(tree, constraints=(*tree.constraints, more))


def arm(**changes) -> Articulation:
    """Four links whose tip is at 1.919 m from the world's origin."""
    return at(trees.chain(4, **changes), START)


def length_of(tree: Articulation, state) -> float:
    """From the world's origin to the tip of the last link [m]."""
    motion = rigid.motion(tree, state)
    return float(np.linalg.norm(motion.p_WL[-1] + motion.R_WL[-1] @ TIP))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lower", [0.0, 1.0], ids=["string", "rod"])
def test_a_bob_that_hangs_too_low_hangs_still(solver, lower):
    """Two centimetres below: a velocity that took them back would last, with 1 m/s of a string, 5 of a rod."""
    recording = simulate_exactly(bob_on(start=(0.0, 0.0, -1.02), lower=lower, upper=1.0), solver=solver).record(240)
    np.testing.assert_allclose(recording.distance_length[1:], 1.0, atol=1e-9)
    np.testing.assert_allclose(recording.joint_velocity[1:], 0.0, atol=1e-9)
    np.testing.assert_allclose(recording.distance_force[2:], -2.0 * 9.81, rtol=1e-9)


def test_it_is_moved_the_shortest_way_in_terms_of_the_mass_matrix():
    """M^-1 J^T e / J M^-1 J^T for a length that is off by e: M by the oracle, J by differences, to second order."""
    state = trees.authored_state(arm())
    q = np.asarray(state.joint_position)
    length = length_of(arm(), state)
    step = 1e-6
    J = [
        (
            length_of(arm(), replace(state, joint_position=q + d))
            - length_of(arm(), replace(state, joint_position=q - d))
        )
        / (2.0 * step)
        for d in step * np.eye(4)
    ]
    way = np.linalg.solve(rigid.mass_matrix(rigid.motion(arm(), state)), J)
    for e in (1e-3, 1e-4):
        simulation = simulate_exactly(tied(arm(), 0.0, length - e), gravity=(0.0, 0.0, 0.0), dt=1e-9)
        simulation.step()
        moved = simulation.state.joint_position.numpy()[:, 0] - q
        np.testing.assert_allclose(moved, -e * way / (J @ way), atol=30.0 * e**2)
        assert np.abs(moved).max() > e


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_arm_is_moved_and_thrown_nowhere(solver, ends):
    """By up to 72 cm: then it falls as one that starts there."""
    simulation = simulate_exactly(tied(arm(), *ENDS[ends]), solver=solver)
    simulation.step()
    np.testing.assert_allclose(simulation.state.distance_length.numpy(), np.clip(1.919, *ENDS[ends]), atol=2e-4)
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 0.5
    energies = simulation.record(240).energy[:, 0].sum(axis=1)
    assert np.abs(energies - energies[0]).max() < 0.01 * np.abs(energies[0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_hold(solver):
    """The way goes round a limit that the shortest one would pass, on a joint with friction and a largest velocity."""
    tree = limited(tied(arm(), 0.0, 1.2), 3, -1.0, 1.0)
    tree = trees.with_dofs(
        tree, friction=[Friction(static_effort=0.3, dynamic_effort=0.2)] * 4, velocity_limit=[9.0] * 4
    )
    simulation = simulate_exactly(tree, solver=solver)
    simulation.step()
    assert 1.15 < simulation.state.distance_length.numpy()[0, 0] < 1.2001
    assert simulation.state.joint_position.numpy()[3, 0] <= 1.0 + 1e-6
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 0.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_mimic_joints_stay_as_they_are(solver):
    """Their error is taken back by the law of Mimic Joints, equation 24; here there is none."""
    mimic = Mimic(name="/m", dofs=(1, 2), gears=(1.0, 1.0), offset=-0.1)
    simulation = simulate_exactly(replace(tied(arm(), 0.0, 1.2), mimics=(mimic,)), solver=solver)
    simulation.step()
    np.testing.assert_allclose(simulation.state.distance_length.numpy(), 1.2, atol=1e-3)
    q = simulation.state.joint_position.numpy()[:, 0]
    assert q[1] + q[2] == pytest.approx(0.1, abs=1e-4)
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 0.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_loops_close(solver):
    """Of a linkage that is held by a rod too, which decides where it stands."""
    base = four_bar()
    simulation = simulate_exactly(tied(base, 0.75, 0.75, link=1, place=(0.5, 0.5, 0.0)), solver=solver)
    before = simulation.state.distance_length.numpy()[0, 0]
    simulation.step(count=3)
    assert abs(before - 0.75) > 0.015
    np.testing.assert_allclose(simulation.state.distance_length.numpy(), 0.75, atol=1e-3)
    assert np.abs(simulation.state.loop_error.numpy()).max() < 1e-6
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 0.5


def test_only_where_an_environment_starts_beyond():
    """To the last bit whatever starts beside it; again after a reset."""
    simulation = simulate(tied(arm(), 0.0, 1.93), environments=4)
    starts = np.array([START, (0.1, 0.1, 0.1, 0.1), (-0.2, 0.9, 0.4, 0.3), (0.0, 0.0, 0.05, 0.0)])

    def run(positions):
        simulation.reset()
        simulation.set_state(joint_position=positions)
        return simulation.record(48)

    together = run(starts)
    for environment, start in enumerate(starts):
        alone = run(np.tile(start, (4, 1)))
        for name in ("joint_position", "joint_velocity", "distance_length"):
            found = getattr(together, name)[:, environment]
            np.testing.assert_array_equal(found, getattr(alone, name)[:, environment])
    length = together.distance_length[:, :, 0]
    assert list(length[0] > 1.93) == [False, True, False, True]
    assert length[1].max() < 1.9301


@pytest.mark.parametrize("solver", SOLVERS)
def test_free_bodies_come_together_about_their_centre_of_mass(solver):
    """A dumbbell, 1 and 3 kg, whose rod is a tenth too long: by their masses, and they do not move then."""
    masses, places = (1.0, 3.0), ((0.0, 0.0, 0.0), (1.1, 0.0, 0.0))
    bodies = [trees.free_body(mass).links[0] for mass in masses]
    links = [
        replace(body, path=f"/{k}", pose=Pose(place), center_of_mass=(0.0, 0.0, 0.0))
        for k, (body, place) in enumerate(zip(bodies, places))
    ]
    rod = Distance(name="/rod", link0=0, link1=0, articulation1="/t1", lower=1.0, upper=1.0)
    tree0, tree1 = (
        Articulation(path=f"/t{k}", links=(link,), joints=(), constraints=(rod,) * (k == 0))
        for k, link in enumerate(links)
    )
    simulation = simulate_exactly(trees.scene(tree0, tree1, gravity=(0.0, 0.0, 0.0)), solver=solver)
    x = simulation.record(100).link_pose[-1, 0, :, 0]
    np.testing.assert_allclose(x, (0.075, 1.075), atol=1e-6)
