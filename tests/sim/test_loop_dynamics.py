"""Loop joints in the dynamics suite: their columns of the coefficient matrix, lambda, and identities of `verify`."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import FREE, bodies, bricard, four_bar, in_plane
from tests.oracles import loops, rigid
from tests.oracles.simulated_state import state_of
from tests.simulations import simulate_exactly as simulate
from warp_artic import ContactPoint
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
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


def sledge() -> Articulation:
    """A floating hull on two runners, each below two parallel rods that close a loop; both lean alike."""
    small, large = (0.004, 0.0, 0.0, 0.004, 0.0, 0.004), (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)
    links, joints, loops = [Link(path="/t/hull", mass=5.0, inertia=large)], [], []
    low, near, far = Pose((0.0, 0.0, -0.4)), Pose((0.1, 0.0, 0.03)), Pose((-0.1, 0.0, 0.03))
    for side, y in enumerate((0.2, -0.2)):
        first = len(links)
        links += [Link(path=f"/t/{name}_{side}", mass=0.4, inertia=small) for name in ("front", "rear", "runner")]
        for k, x in enumerate((0.1, -0.1)):
            dofs = (Dof(name=f"/t/hip_{side}_{k}", axis=Axis.ROT_Y),)
            joints.append(
                Joint(path=dofs[0].name, parent=0, child=first + k, parent_frame=Pose((x, y, 0.0)), dofs=dofs)
            )
        ends = {"parent": first, "child": first + 2, "parent_frame": low, "child_frame": near}
        joints.append(Joint(path=f"/t/ankle_{side}", dofs=(Dof(name=f"/t/ankle_{side}", axis=Axis.ROT_Y),), **ends))
        ends = {"link0": first + 1, "link1": first + 2, "frame0": low, "frame1": far}
        loops.append(LoopJoint(name=f"/t/loop_{side}", free=(Axis.ROT_Y,), **ends))
    alike = Mimic(name="/t/alike", dofs=(3, 0), gears=(1.0, -1.0))
    return Articulation(path="/t", links=tuple(links), joints=tuple(joints), constraints=tuple(loops), mimics=(alike,))


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_loops_hold_before_more_points_than_a_body_needs(precision, tolerance):
    """Eight below two runners, with gaps of no plane: without friction there is an answer, to which loops keep.

    J v+ = 0 of loops where rods are at rest against the hull, and of the mimic joint,
    M (v+ - v) = h (tau - c - g) + K z,  and of the points  z >= 0,  y_n >= - gap / h,  one of them with equality.
    """
    simulation, effort, gap = thrown_sledges(precision, friction=0.0)
    found = simulation.constraint_impulses(effort)
    assert found.converged.all()
    K, z = simulation.coefficient_matrix().numpy().astype(float), found.impulse.numpy().astype(float)
    M, bias = (getattr(simulation, name)().numpy().astype(float) for name in ("mass_matrix", "bias_force"))
    before, after = velocities(simulation, found)
    speed = tolerance * np.abs(after).max()
    moved = H * (effort - bias) + np.einsum("evc,ec->ev", K, z)
    np.testing.assert_allclose(np.einsum("evw,ew->ev", M, after - before), moved, atol=speed * np.abs(M).max())
    names = simulation.articulations[0].dynamics.constraint_names
    normal = np.array([name.endswith("normal") for name in names])
    held = ~np.array(["contact" in name for name in names])
    rates = np.einsum("evc,ev->ec", K, after)
    np.testing.assert_allclose(rates[:, held], 0.0, atol=speed)
    opening = rates[:, normal] + np.where(gap > 0.0, gap, 0.2 * gap) / H
    assert opening.min() > -speed and z[:, normal].min() >= 0.0
    assert np.minimum(opening / speed, z[:, normal] / np.abs(z).max() / tolerance).max() < 1.0
    assert (z[:, normal] > 0.0).any(axis=0).all()


@pytest.mark.parametrize("friction", [0.1, 0.3])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_friction_on_more_points_than_a_body_needs(friction, precision, tolerance):
    """Nearly always found:  |z_k| <= mu z_n along tangents, which do not move where it is less, else against it.

    What sticks again after it was free is held again: else one in ten, or in six, of all states has no answer.
    """
    simulation, effort, _ = thrown_sledges(precision, friction)
    found = simulation.constraint_impulses(effort)
    assert found.converged.mean() > 0.98
    _, after = velocities(simulation, found)
    K, z = simulation.coefficient_matrix().numpy().astype(float), found.impulse.numpy().astype(float)
    rates = np.einsum("evc,ev->ec", K, after)[found.converged, -24:].reshape(-1, 8, 3)
    z = z[found.converged, -24:].reshape(-1, 8, 3)
    most, slip, pull = friction * z[..., :1], rates[..., 1:], z[..., 1:]
    impulse, speed = tolerance * np.abs(z).max(), tolerance * np.abs(after).max()
    assert (np.abs(pull) <= most + impulse).all()
    sticks, slides = np.abs(pull) < most - impulse, (np.abs(pull) > impulse) & (np.abs(slip) > speed)
    assert np.abs(slip[sticks]).max() < speed
    assert (pull[slides] * slip[slides] < 0.0).all()
    assert sticks.any(axis=(0, 2)).all() and slides.any(axis=(0, 2)).all()


def thrown_sledges(precision, friction):
    """128 sledges in motion, under random efforts and with random gaps below their runners: all of that."""
    count, rng = 128, np.random.default_rng(5)
    simulation = simulate(trees.scene(sledge()), count, precision=precision, variant=VARIANTS[precision])
    angle = rng.normal(0.0, 0.4, (count, 1))
    simulation.set_state(joint_position=angle * [1, 1, -1, 1, 1, -1], root_velocity=rng.normal(size=(count, 6)))
    places = [(f"/t/runner_{side}", (x, y, -0.02)) for side in range(2) for x in (-0.15, 0.15) for y in (-0.04, 0.04)]
    points = [ContactPoint(link=link, position=place, friction=friction) for link, place in places]
    gap = rng.uniform(-0.003, 0.003, (count, 8))
    simulation.register_contacts(points).gap.assign(gap)
    return simulation, 10.0 * rng.normal(size=(count, 12)), gap


def velocities(simulation, found):
    """Before and after the step."""
    before = np.hstack([simulation.state.root_velocity.numpy()[0].T, simulation.state.joint_velocity.numpy().T])
    return before, before + H * found.joint_acceleration.numpy()


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
