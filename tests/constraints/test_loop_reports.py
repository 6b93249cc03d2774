"""What is reported of loop joints: how far they are open, and the force and torque that they transmit."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import FREE, bodies, bricard, four_bar, in_plane, simulate
from tests.oracles import loops, rigid
from tests.oracles.simulated_state import state_of
from warp_artic import Recording, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.scene import Scene
from warp_artic.model.force_parts import PART_NAMES
from warp_artic.sim.run.incoming_forces import IncomingForces

H = 1 / 240
PIN = (Axis.ROT_Z,)


@pytest.mark.parametrize("kind", FREE)
def test_loads_are_those_of_dense_dynamics(kind):
    """Semi-implicit steps of two bodies on a loop joint, whose impulses are solved for densely."""
    _, tree = bodies(kind)
    simulation = simulate(trees.scene(tree), integrator="semi_implicit", variant="scalar")
    for _ in range(3):
        before = state_of(simulation)
        simulation.step(forces=True)
        motion, joints = rigid.motion(tree, before), tree.constraints
        J = np.concatenate([loops.rows(motion, loop) for loop in joints])
        c = loops.bias(tree, motion, rigid.coordinates(tree, before), joints)
        v_free = motion.velocity + H * rigid.forward_dynamics(motion)
        Y = np.linalg.solve(rigid.mass_matrix(motion), J.T)
        z = np.linalg.solve(J @ Y, -0.5 * H * c - J @ v_free)
        wanted = loops.loads(tree, motion, joints, z / H)
        # At the end velocities are brought back to the path, in terms of the mass matrix of the step.
        end = rigid.motion(tree, state_of(simulation))
        J_end = np.concatenate([loops.rows(end, loop) for loop in joints])
        Y_end = np.linalg.solve(rigid.mass_matrix(motion), J_end.T)
        z_end = -np.linalg.solve(J_end @ Y_end, J_end @ (v_free + Y @ z))
        wanted = wanted + loops.loads(tree, end, joints, z_end / H)
        found = simulation.state.loop_force.numpy()[..., 0]
        np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", ["fixed", "revolute", "universal_xz", "zero_twist", "planar", "slide_ball"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_joints_of_the_tree_transmit_what_is_left(kind, is_reversed):
    """Newton's and Euler's law of all links, with loads of loops on both of theirs."""
    _, tree = bodies(kind)
    if is_reversed:
        (loop,) = tree.constraints
        ends = {"link0": loop.link1, "link1": loop.link0, "frame0": loop.frame1, "frame1": loop.frame0}
        tree = trees.replace(tree, constraints=(trees.replace(loop, **ends),))
    simulation = simulate(trees.scene(tree), integrator="semi_implicit", variant="scalar")
    for _ in range(3):
        motion = rigid.motion(tree, state_of(simulation))
        simulation.step(forces=True)
        # Without what closes velocities afterwards.
        J = np.concatenate([loops.rows(motion, loop) for loop in tree.constraints])
        force = np.linalg.lstsq(J.T, simulation.state.joint_loop_force.numpy()[:, 0], rcond=None)[0]
        wrench = loops.on_links(tree, motion, tree.constraints, loops.loads(tree, motion, tree.constraints, force))
        vdot = simulation.state.joint_acceleration.numpy()[:, 0]
        wanted = rigid.incoming_joint_force(motion, vdot, wrench)
        found = simulation.state.link_incoming_joint_force.numpy()[..., 0]
        np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_forces_sum_to_zero(solver):
    """The parts of the forces on all dofs, those of loops by themselves."""
    simulation = simulate(in_plane(four_bar()), solver=solver, variant="scalar")
    for _ in range(10):
        simulation.step(forces=True)
        parts = [getattr(simulation.state, f"joint_{name}_force").numpy() for name in PART_NAMES]
        np.testing.assert_allclose(sum(parts), 0.0, atol=1e-10 * max(np.abs(part).max() for part in parts))
        assert np.abs(simulation.state.joint_loop_force.numpy()).max() > 1.0
        assert not simulation.state.joint_limit_force.numpy().any()


NODES = np.array([(0.0, 0.0), (3.0, 0.0), (1.0, 1.0), (2.2, 1.1), (1.5, 2.0)])
"""Places of the nodes of a truss [m], the first two on the ground."""
BARS = ((0, 2), (2, 3), (3, 1), (0, 3), (2, 4), (4, 3))
"""The nodes that its bars join: as many bars as twice the nodes that are free, so that it is statically determinate."""


def truss() -> tuple[Articulation, list[tuple[int, int, int]]]:
    """The truss as a tree of bars, with loop joints for the pins that are left; and of all pins bars and nodes."""
    masses = [1.0 + k for k in range(len(BARS))]

    def bar(k):
        length = float(np.linalg.norm(np.subtract(*NODES[list(BARS[k])])))
        I = masses[k] * length**2 / 12.0  # noqa: E741 (moment of inertia)
        return Link(path=f"/t/{k}", mass=masses[k], inertia=(1e-3, 0, 0, I, 0, I), center_of_mass=(length / 2, 0, 0))

    def angle(k):
        return float(np.arctan2(*(NODES[BARS[k][1]] - NODES[BARS[k][0]])[::-1]))

    def end(k, node):
        if k == WORLD:
            return Pose((*NODES[node], 0.0))
        along = float(np.linalg.norm(NODES[node] - NODES[BARS[k][0]]))
        return Pose((along, 0.0, 0.0))

    # Those at a node hang on the first of them, or on the ground.
    pins = []
    for node in range(len(NODES)):
        at = [k for k, bar_ in enumerate(BARS) if node in bar_]
        hub = WORLD if node < 2 else at.pop(0)
        pins += [(hub, k, node) for k in at]
    joints, constraints, reached = [], [], {WORLD}
    for hub, k, node in sorted(pins, key=lambda pin: pin[0]):
        if k not in reached and hub in reached:
            reached.add(k)
            turn = angle(k) - (0.0 if hub == WORLD else angle(hub))
            frame = Pose(end(hub, node).position, quaternion_from_rotation_vector((0.0, 0.0, turn)))
            dof = Dof(name=f"/t/pin{len(joints)}", axis=Axis.ROT_Z)
            joints.append(
                Joint(path=dof.name, parent=hub, child=k, parent_frame=frame, child_frame=end(k, node), dofs=(dof,))
            )
        else:
            ends = {"link0": hub, "link1": k, "frame0": end(hub, node), "frame1": end(k, node)}
            constraints.append(LoopJoint(name=f"/t/loop{len(constraints)}", free=PIN, **ends))
    links = tuple(bar(k) for k in range(len(BARS)))
    assert reached == {WORLD, *range(len(BARS))}
    return Articulation(path="/t", links=links, joints=tuple(joints), constraints=tuple(constraints)), pins


def forces_of_pins(tree, pins) -> dict[tuple[int, int], np.ndarray]:
    """On the second bar of each pin in the world, from the equilibrium of each bar: two forces and the moment."""
    A, b = np.zeros((3 * len(BARS), 2 * len(pins))), np.zeros(3 * len(BARS))
    for k, link in enumerate(tree.links):
        middle = NODES[list(BARS[k])].mean(axis=0)
        b[3 * k + 1] = 9.81 * link.mass
        for number, (hub, child, node) in enumerate(pins):
            if k in (hub, child):
                sign = 1.0 if k == child else -1.0
                x, y = NODES[node] - middle
                A[3 * k : 3 * k + 3, 2 * number : 2 * number + 2] = sign * np.array([[1, 0], [0, 1], [-y, x]])
    found = np.linalg.solve(A, b).reshape(-1, 2)
    return {(hub, child): force for (hub, child, _), force in zip(pins, found)}


@pytest.mark.parametrize("solver", ["direct"])
def test_a_statically_determinate_truss(solver):
    """At rest under its weight, each pin that closes a loop has the force that equilibrium says."""
    tree, pins = truss()
    wanted = forces_of_pins(tree, pins)
    simulation = simulate(in_plane(tree), solver=solver, variant="scalar")
    recording = simulation.record(20, forces=True)
    assert len(tree.constraints) == len(pins) - len(BARS) == 3
    for place, loop in enumerate(tree.constraints):
        load = recording.loop_force[-1, 0, place]
        along = np.subtract(*NODES[list(BARS[loop.link1])][::-1])
        c, s = along / np.linalg.norm(along)
        force = np.array([[c, -s], [s, c]]) @ load[:2]
        np.testing.assert_allclose(force, wanted[loop.link0, loop.link1], atol=1e-8)
        np.testing.assert_allclose(load[2:], 0.0, atol=1e-8)
    np.testing.assert_allclose(recording.loop_error, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "precision, integrator", [("float64", "midpoint"), ("float32", "midpoint"), ("float64", "semi_implicit")]
)
def test_tension_of_a_pendulum_on_a_loop_joint(precision, integrator):
    """A floating body on a ball joint to the world, from 60 degrees: m g (3 cos angle - 2 cos 60) along the rod."""
    start, length, mass = np.pi / 3.0, 0.8, 2.0
    place = Pose(
        (length * np.sin(start), 0.0, -length * np.cos(start)), quaternion_from_rotation_vector((0.0, -start, 0.0))
    )
    bob = Link(path="/t/bob", mass=mass, inertia=(1e-6, 0, 0, 1e-6, 0, 1e-6), pose=place)
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=0, frame1=Pose((0.0, 0.0, length)), free=FREE["spherical"])
    tree = Articulation(path="/t", links=(bob,), joints=(), constraints=(loop,))
    options = {"precision": precision, "integrator": integrator, "variant": "scalar"}
    recording = simulate(trees.scene(tree), **options).record(480, forces=True)
    p = recording.link_pose[:, 0, 0, :3].astype(float)
    middle = 0.5 * (p[1:] + p[:-1])
    cosine = -middle[:, 2] / np.linalg.norm(middle, axis=1)
    tension = recording.loop_force[1:, 0, 0, 2].astype(float)
    wanted = mass * 9.81 * (3.0 * cosine - 2.0 * np.cos(start))
    tolerance = 1e-3 if integrator == "midpoint" else 3e-3
    np.testing.assert_allclose(tension[2:], wanted[2:], atol=tolerance * wanted.max())
    np.testing.assert_allclose(recording.loop_force[3:, 0, 0, 3:], 0.0, atol=1e-6)
    assert recording.loop_error[..., 0].max() < 1e-6


@pytest.mark.parametrize("kind", FREE)
def test_how_far_a_joint_is_open(kind):
    """As its description says, of frames that were moved apart; first without, then with a step."""
    _, tree = bodies(kind)
    simulation = simulate(trees.scene(tree), variant="scalar")
    np.testing.assert_allclose(simulation.state.loop_error.numpy()[0, :, 0], 0.0, atol=1e-9)
    q = simulation.state.joint_position.numpy()[:, 0]
    rng = np.random.default_rng(2)
    for size in (1e-3, 0.3):
        moved = q + size * rng.normal(size=q.shape)
        simulation.set_state(joint_position=moved)
        values = iter(moved)
        joints = tuple(
            trees.replace(joint, dofs=tuple(trees.replace(dof, position=float(next(values))) for dof in joint.dofs))
            for joint in tree.joints
        )
        gap, angle = start_gap(trees.replace(tree, joints=joints), tree.constraints[0])
        found = simulation.state.loop_error.numpy()[0, :, 0]
        np.testing.assert_allclose(found, [gap, angle], rtol=1e-8, atol=1e-9)


def test_recordings_have_them(tmp_path):
    """Names, shapes and files; several articulations in one scene, each with its own."""
    trees_ = [trees.replace(four_bar(), path=f"/{k}") for k in range(2)]
    named = tuple(
        trees.replace(
            tree,
            links=tuple(trees.replace(link, path=tree.path + link.path) for link in tree.links),
            joints=tuple(
                trees.replace(
                    joint,
                    path=tree.path + joint.path,
                    dofs=tuple(trees.replace(dof, name=tree.path + dof.name) for dof in joint.dofs),
                )
                for joint in tree.joints
            ),
            constraints=tuple(trees.replace(loop, name=tree.path + loop.name) for loop in tree.constraints),
        )
        for tree in trees_
    )
    scene = Scene(articulations=named, gravity=(0.0, -9.81, 0.0))
    simulation = Simulation(scene, environments=3, settings=SolverSettings(precision="float64", variant="scalar"))
    assert simulation.loop_names == ("/0/bar/d", "/1/bar/d")
    recording = simulation.record(4, forces=True)
    assert recording.loop_names == simulation.loop_names
    assert recording.loop_error.shape == (5, 3, 2, 2) and recording.loop_force.shape == (5, 3, 2, 6)
    assert not recording.loop_force[0].any()
    np.testing.assert_array_equal(recording.loop_force[:, 0, 0], recording.loop_force[:, 2, 1])
    assert simulation.state.loop_force.shape == (2, 6, 3)
    assert simulation.articulations[1].state.loop_error.shape == (1, 2, 3)
    recording.save(tmp_path / "run.npz")
    loaded = Recording.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.loop_force, recording.loop_force)
    np.testing.assert_array_equal(loaded.loop_error, recording.loop_error)
    only = simulation.record(2, quantities=["loop_error"])
    assert only.loop_error.shape == (3, 3, 2, 2) and only.loop_force.shape == (3, 3, 0, 6)


def test_forces_in_world_axes_do_not_matter():
    """Loads are in the second frame however forces by joints of the tree are reported; redundant ones stay finite."""
    one, other = (simulate(in_plane(bricard()), variant="scalar") for _ in range(2))
    one.step(3, forces=True)
    other.step(3, forces=IncomingForces(axes="world"))
    np.testing.assert_array_equal(one.state.loop_force.numpy(), other.state.loop_force.numpy())
    assert np.isfinite(one.state.loop_force.numpy()).all()
