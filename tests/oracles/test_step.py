"""Reference trajectories against closed forms, conservation laws and published numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.oracles import reference_problems, rigid, step
from tests.oracles.state import State
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose

TRUTH = Path(__file__).parents[1] / "data" / "oracle" / "truth"


def at_rest(*position: float) -> State:
    """A state of a fixed base with given joint positions, not moving."""
    return State(joint_position=np.array(position), joint_velocity=np.zeros(len(position)))


def test_pendulum_follows_the_elliptic_function():
    """A swing from 90 degrees is Jacobi's, and its period the published one."""
    times = np.linspace(0.0, 5.0, 26)
    found = step.trajectory(trees.point_pendulums((1.0,), (1.0,)), at_rest(0.5 * np.pi), times)
    angle, rate = reference_problems.pendulum_angle(times, 0.5 * np.pi, 1.0)
    np.testing.assert_allclose(found.joint_position[:, 0], angle, atol=1e-9)
    np.testing.assert_allclose(found.joint_velocity[:, 0], rate, atol=1e-9)
    assert reference_problems.pendulum_period(0.5 * np.pi, 1.0) == pytest.approx(2.3678419475762, rel=1e-13)


def test_pendulum_passes_the_published_points():
    """The planar pendulum of the IFToMM library at 1, 5 and 10 s."""
    angle, _ = reference_problems.pendulum_angle([1.0, 5.0, 10.0], 0.5 * np.pi, 1.0)
    expected = [(-0.9862917511, -0.1650108531), (0.9423054350, -0.3347543384), (0.2750874626, -0.9614192051)]
    np.testing.assert_allclose(np.stack([np.sin(angle), -np.cos(angle)], axis=1), expected, atol=2e-10)


def test_double_pendulum_has_the_textbook_acceleration():
    """Two point masses on massless rods, any state."""
    rng = np.random.default_rng(0)
    masses, lengths = (1.3, 0.6), (0.8, 1.1)
    tree = trees.point_pendulums(masses, lengths)
    for _ in range(10):
        state = State(joint_position=rng.uniform(-3, 3, 2), joint_velocity=rng.normal(size=2))
        found = rigid.forward_dynamics(rigid.motion(tree, state))
        expected = reference_problems.double_pendulum_acceleration(
            state.joint_position, state.joint_velocity, masses, lengths
        )
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_heavy_top_passes_the_published_attitudes():
    """Quaternions at 0.1, 0.2 and 1 s to eight digits, and the energy."""
    times = np.array([0.0, *reference_problems.HEAVY_TOP_QUATERNION])
    found = step.trajectory(reference_problems.heavy_top(), reference_problems.heavy_top_start(), times)
    for pose, expected in zip(found.link_pose[1:, 0], reference_problems.HEAVY_TOP_QUATERNION.values()):
        same_side = np.sign(pose[3:] @ expected)
        np.testing.assert_allclose(same_side * pose[3:], expected, atol=2e-8)
    energy = found.energy.sum(axis=1)
    np.testing.assert_allclose(energy, reference_problems.HEAVY_TOP_ENERGY, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_energy_is_kept(seed):
    """Without drives the energy of a random tree, armature included, stays."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 6, floating=seed > 0, kinds=trees_without_singularities(seed))
    found = step.trajectory(tree, trees.random_state(rng, tree, speed=0.5), np.linspace(0.0, 0.5, 6), tolerance=1e-10)
    energy = found.energy.sum(axis=1)
    assert np.ptp(energy) < 1e-7 * np.abs(found.energy).max()


def trees_without_singularities(seed: int) -> tuple[str, ...]:
    """All kinds first, then those whose motion has no singular position."""
    kinds = tuple(trees.JOINT_KINDS)
    return kinds if seed == 0 else tuple(kind for kind in kinds if kind != "zero_twist")


def test_momentum_is_kept_without_gravity():
    """Linear and angular momentum of a floating tree without armature stay, and its centre of mass moves evenly."""
    rng = np.random.default_rng(4)
    tree = trees.random_articulation(rng, 5, floating=True, armature=False, kinds=trees_without_singularities(1))
    state = trees.random_state(rng, tree, speed=0.5)
    found = step.trajectory(tree, state, np.linspace(0.0, 1.0, 5), gravity=(0.0, 0.0, 0.0))
    motions = [rigid.motion(tree, state) for state in found.states]
    momenta = np.array([rigid.momentum(motion) for motion in motions])
    np.testing.assert_allclose(momenta, momenta[[0]].repeat(5, axis=0), atol=1e-8)
    centers = np.array([rigid.center_of_mass(motion) for motion in motions])
    velocity = momenta[0, :3] / sum(link.mass for link in tree.links)
    np.testing.assert_allclose(centers, centers[0] + found.time[:, None] * velocity, atol=1e-8)


def test_free_body_flies_on_a_parabola():
    """The centre of mass of a spinning body falls as a point."""
    tree = trees.free_body()
    state = trees.random_state(2, tree)
    times = np.linspace(0.0, 1.0, 5)
    found = step.trajectory(tree, state, times)
    centers = np.array([rigid.motion(tree, state).p_WC[0] for state in found.states])
    np.testing.assert_allclose(
        centers, reference_problems.flight(times, centers[0], state.root_velocity[:3]), atol=1e-9
    )


def slider(mass: float, drive: Drive | None = None, **dof):
    """A body on a vertical slide."""
    link = Link(path="/slider", mass=mass, inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    joint = Joint(
        path="/slide", parent=WORLD, child=0, dofs=(Dof(name="/slide", axis=Axis.TRANS_Z, drive=drive, **dof),)
    )
    return replace(trees.free_body(), path="/slider", links=(link,), joints=(joint,))


def test_force_drive_is_a_damped_oscillator():
    """A driven slide moves by the closed form, armature added to its mass."""
    drive = Drive(stiffness=50.0, damping=3.0, position_target=0.2, velocity_target=0.4)
    times = np.linspace(0.0, 2.0, 11)
    found = step.trajectory(slider(2.0, drive, armature=0.5), at_rest(0.1), times)
    force = 50.0 * 0.2 + 3.0 * 0.4 - 2.0 * 9.81
    x, v = reference_problems.oscillator(times, 0.1, 0.0, 2.5, 50.0, 3.0, force)
    np.testing.assert_allclose(found.joint_position[:, 0], x, atol=1e-10)
    np.testing.assert_allclose(found.joint_velocity[:, 0], v, atol=1e-9)


@pytest.mark.parametrize("mass", [0.1, 20.0])
def test_acceleration_drive_does_not_feel_the_mass(mass):
    """Without gravity the motion is that of unit inertia."""
    drive = Drive(kind=DriveKind.ACCELERATION, stiffness=50.0, damping=3.0, position_target=0.2)
    times = np.linspace(0.0, 1.0, 5)
    found = step.trajectory(slider(mass, drive, armature=0.3), at_rest(0.0), times, gravity=(0.0, 0.0, 0.0))
    x, _ = reference_problems.oscillator(times, 0.0, 0.0, 1.0, 50.0, 3.0, 10.0)
    np.testing.assert_allclose(found.joint_position[:, 0], x, atol=1e-10)


def test_saturated_drive_gives_its_bound():
    """A drive far from its target pushes with max_force."""
    drive = Drive(stiffness=1e4, position_target=100.0, max_force=30.0)
    found = step.trajectory(slider(2.0, drive), at_rest(0.0), np.linspace(0.0, 1.0, 3))
    np.testing.assert_allclose(found.joint_velocity[:, 0], (15.0 - 9.81) * found.time, atol=1e-10)


def test_damping_and_viscosity_decay():
    """A slide with link damping and viscous friction slows down by both rates."""
    tree = slider(2.0, friction=Friction(viscous=0.6))
    tree = replace(tree, links=(replace(tree.links[0], linear_damping=0.5),))
    start = State(joint_position=np.zeros(1), joint_velocity=np.ones(1))
    found = step.trajectory(tree, start, np.linspace(0.0, 2.0, 5), gravity=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(found.joint_velocity[:, 0], np.exp(-0.8 * found.time), atol=1e-10)


def test_single_pendulum_of_the_oracle_stages():
    """The stage pendulum_single, written out by hand, gives its recorded first-principles trajectory."""
    truth = np.load(TRUTH / "pendulum_single.npz")
    found = step.trajectory(stage_pendulum(), State(**degrees(30.0, 20.0)), truth["time"])
    np.testing.assert_allclose(found.joint_position, truth["joint_position"], atol=1e-6)
    np.testing.assert_allclose(found.joint_velocity, truth["joint_velocity"], atol=1e-5)


def stage_pendulum():
    """The rod of pendulum_single on the world."""
    frame = (0.0, 0.0, 0.216439614, 0.976296007)
    rod = Link(
        path="/rod", mass=2.0, center_of_mass=(0.5, 0, 0), inertia=(0.0009, 0.0, 0.0, 0.167116667, 0.0, 0.167116667)
    )
    hinge = Joint(
        path="/hinge",
        parent=WORLD,
        child=0,
        parent_frame=Pose((0.1, 0.0, 1.95), frame),
        child_frame=Pose((0.0, 0.0, 0.0), frame),
        dofs=(Dof(name="/hinge", axis=Axis.ROT_Y),),
    )
    return replace(trees.free_body(), links=(rod,), joints=(hinge,))


def degrees(position: float, velocity: float) -> dict[str, np.ndarray]:
    """Position and velocity of one dof, in degrees."""
    return {"joint_position": np.radians([position]), "joint_velocity": np.radians([velocity])}


def test_what_is_not_smooth_is_refused():
    """Dry friction, a limit reached and a velocity limit exceeded are errors that name the dof."""
    times = np.linspace(0.0, 1.0, 3)
    with pytest.raises(ValueError, match="/slide: dry friction"):
        step.trajectory(slider(1.0, friction=Friction(static_effort=1.0)), at_rest(0.0), times)
    with pytest.raises(ValueError, match="/slide: reaches .* limits"):
        step.trajectory(slider(1.0, limit=Limit(lower=-0.5)), at_rest(0.0), times)
    with pytest.raises(ValueError, match="/slide: reaches a velocity"):
        step.trajectory(slider(1.0, velocity_limit=2.0), at_rest(0.0), times)
