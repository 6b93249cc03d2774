"""Loop joints in the dynamics suite: their columns of the coefficient matrix, lambda, and identities of `verify`."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import FREE, bodies, bricard, four_bar, in_plane
from tests.oracles import loops, rigid
from tests.oracles.simulated_state import state_of
from tests.simulations import simulate_exactly as simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose

H = 1.0 / 240.0
VARIANTS = {"float64": "scalar", "float32": "lanes"}
"""Of kernels that take ten seconds to compile each; `test_constraint_impulses.py` has lanes of both."""
PRECISIONS = pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-8), ("float32", 2e-4)])


@PRECISIONS
@pytest.mark.parametrize("kind", FREE)
def test_lambda_is_that_of_the_constrained_acceleration(kind, precision, tolerance):
    """Of a state that keeps to the loop:  J vdot = - Jdot v,  M vdot + c + g = tau + J^T lambda / h,  K = J^T."""
    _, tree = bodies(kind)
    simulation = simulate(trees.scene(tree), precision=precision, variant=VARIANTS[precision])
    state = state_of(simulation)
    motion, joints = rigid.motion(tree, state), tree.constraints
    J = np.concatenate([loops.rows(motion, loop) for loop in joints])
    c = loops.bias(tree, motion, rigid.coordinates(tree, state), joints)
    tau = np.random.default_rng(1).normal(size=J.shape[1])
    free = rigid.forward_dynamics(motion, tau)
    z = np.linalg.solve(J @ np.linalg.solve(rigid.mass_matrix(motion), J.T), -c - J @ (free + motion.velocity / H))
    found = simulation.constraint_impulses(tau)
    assert found.converged.all()
    K = simulation.coefficient_matrix().numpy()[0]
    np.testing.assert_allclose(K, J.T, atol=tolerance * np.abs(J).max())
    np.testing.assert_allclose(found.impulse.numpy()[0] / H, z, atol=tolerance * np.abs(z).max())
    wanted = free + np.linalg.solve(rigid.mass_matrix(motion), J.T @ z)
    np.testing.assert_allclose(found.joint_acceleration.numpy()[0], wanted, atol=tolerance * np.abs(wanted).max())
    assert simulation.articulations[0].dynamics.constraint_names == tuple(
        f"/t/joint:{axis.value}" for axis in joints[0].held
    )


def beam() -> Articulation:
    """On a hinge and, at its other end, on a loop joint."""
    link = Link(path="/t/beam", mass=3.0, inertia=(0.01, 0, 0, 0.3, 0, 0.3), center_of_mass=(0.5, 0.0, 0.0))
    hinge = Joint(path="/t/hinge", parent=WORLD, child=0, dofs=(Dof(name="/t/hinge", axis=Axis.ROT_Y),))
    frame = Pose((1.0, 0.0, 0.0))
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=0, frame0=frame, frame1=frame, free=FREE["spherical"])
    return Articulation(path="/t", links=(link,), joints=(hinge,), constraints=(loop,))


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-13), ("float32", 1e-6)])
def test_the_lambda_of_a_support(precision, tolerance):
    """Half of the weight; none with the torque that holds the beam; and that torque is what counteracts lambda."""
    simulation = simulate(trees.scene(beam()), precision=precision, variant=VARIANTS[precision])
    half = 0.5 * 3.0 * 9.81
    assert simulation.articulations[0].dynamics.constraint_names == (
        "/t/loop:transX",
        "/t/loop:transY",
        "/t/loop:transZ",
    )
    found = simulation.constraint_impulses()
    np.testing.assert_allclose(found.impulse.numpy()[0] / H, [0.0, 0.0, half], atol=tolerance * half)
    np.testing.assert_allclose(found.joint_acceleration.numpy(), 0.0, atol=1e2 * tolerance)
    K = simulation.coefficient_matrix().numpy()[0]
    np.testing.assert_allclose(K, [[0.0, 0.0, -1.0]], atol=tolerance)
    torque = simulation.gravity_force().numpy()
    np.testing.assert_allclose(torque, found.joint_force.numpy(), atol=tolerance * half)
    held = simulation.constraint_impulses(torque)
    np.testing.assert_allclose(held.impulse.numpy() / H, 0.0, atol=tolerance * half)


def test_a_broken_joint_has_no_lambda():
    """In its environment; in the others it goes on."""
    simulation = simulate(trees.scene(beam()), 2)
    simulation.set_state(loop_broken=[[0.0], [1.0]])
    found = simulation.constraint_impulses().impulse.numpy() / H
    np.testing.assert_allclose(found, [[0.0, 0.0, 0.5 * 3.0 * 9.81], [0.0, 0.0, 0.0]], atol=1e-12)


SCENES = {
    "four-bar": lambda: in_plane(four_bar()),
    "bricard": lambda: in_plane(bricard()),
    "beam": lambda: trees.scene(beam()),
    **{kind: lambda kind=kind: trees.scene(bodies(kind)[1]) for kind in ("fixed", "zero_twist", "planar")},
}


@pytest.mark.parametrize("name", SCENES)
def test_identities_hold(name):
    """All of `verify`, near the start, with redundant rows too."""
    for residual in simulate(SCENES[name](), variant="scalar").verify(states=4):
        assert residual.holds, residual
