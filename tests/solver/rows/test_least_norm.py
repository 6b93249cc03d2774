"""Loads of redundant loop joints: of all that move the bodies alike, those with the least sum of squares."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import FREE, bricard, four_bar, in_plane, simulate
from tests.oracles import loops, rigid
from tests.oracles.simulated_state import state_of
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose

H = 1 / 240
PLACES = np.array([(0.5, 0.4, 0.1), (-0.5, 0.3, 0.0), (-0.4, -0.4, 0.2), (0.6, -0.5, 0.0)])
"""Of the joints on a plate [m]."""
MASS = 3.0


def plate(kind="spherical", places=PLACES, pose=None) -> Articulation:
    """A free body that joints to the world hold, its center of mass at the origin."""
    link = Link(path="/t/plate", mass=MASS, inertia=(0.2, 0.0, 0.01, 0.3, 0.0, 0.4), pose=pose or Pose())
    joints = tuple(
        LoopJoint(
            name=f"/t/loop{k}",
            link0=WORLD,
            link1=0,
            frame0=link.pose @ Pose(tuple(place)) if pose else Pose(tuple(place)),
            frame1=Pose(tuple(place)),
            free=FREE[kind],
        )
        for k, place in enumerate(places)
    )
    return Articulation(path="/t", links=(link,), joints=(), constraints=joints)


@pytest.mark.parametrize(
    "solver, variant, precision, tolerance",
    [
        ("direct", "scalar", "float64", 1e-9),
        ("direct", "lanes", "float64", 1e-9),
        ("direct", "lanes", "float32", 2e-5),
        ("tgs", "scalar", "float64", 1e-9),
    ],
)
def test_a_plate_on_four_supports(solver, variant, precision, tolerance):
    """Three forces each on four balls that carry its weight, where six equations of equilibrium are to hold."""
    simulation = simulate(trees.scene(plate()), solver=solver, precision=precision, variant=variant)
    recording = simulation.record(10, forces=True)
    A = np.zeros((6, 12))
    for k, place in enumerate(PLACES):
        A[:3, 3 * k : 3 * k + 3] = np.eye(3)
        A[3:, 3 * k : 3 * k + 3] = np.cross(np.eye(3), -place)
    wanted = np.linalg.pinv(A) @ [0.0, 0.0, 9.81 * MASS, 0.0, 0.0, 0.0]
    found = recording.loop_force[-1, 0, :, :3].ravel()
    np.testing.assert_allclose(A @ found, A @ wanted, atol=tolerance * 9.81 * MASS)
    np.testing.assert_allclose(found, wanted, atol=tolerance * 9.81 * MASS)


@pytest.mark.parametrize("make", [four_bar, bricard])
@pytest.mark.parametrize("variant", ["scalar", "lanes"])
def test_mechanisms_that_move(make, variant):
    """Forces and torques of joints with redundant axes, of the step and of what closes velocities after it."""
    tree = make()
    joints = tree.constraints
    simulation = simulate(in_plane(tree), integrator="semi_implicit", variant=variant)
    for _ in range(5):
        before = state_of(simulation)
        simulation.step(forces=True)
        motion = rigid.motion(tree, before)
        M = rigid.mass_matrix(motion)
        J = np.concatenate([loops.rows(motion, loop) for loop in joints])
        force = simulation.state.joint_loop_force.numpy()[:, 0]
        end = rigid.motion(tree, state_of(simulation))
        J_end = np.concatenate([loops.rows(end, loop) for loop in joints])
        closing = M @ (end.velocity - motion.velocity - H * simulation.state.joint_acceleration.numpy()[:, 0]) / H
        z, z_end = (np.linalg.lstsq(*one, rcond=1e-3)[0] for one in ((J.T, force), (J_end.T, closing)))
        wanted = loops.loads(tree, motion, joints, z) + loops.loads(tree, end, joints, z_end)
        found = simulation.state.loop_force.numpy()[..., 0]
        np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())
