"""Motion that steps do not resolve, against stops: soft ones give back what they took, and none gives more."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.joints.test_swing import clubs
from tests.oracles import rigid
from tests.oracles.state import State
from tests.solver.test_violent_motion import NONE, momenta, started
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import quaternion_from_rotation_vector

ANGLES = (1.0, 1.2)
END = 1.5
KINDS = ("spherical", "revolute_x", "zero_twist")


def with_stops(tree, **spring):
    """The tree with a cone on each ball joint and stops on each hinge, hard without a spring."""
    joints = []
    for joint in tree.joints:
        if len(joint.dofs) == 3:
            joint = replace(joint, cone_limit=ConeLimit(angle_1=ANGLES[0], angle_2=ANGLES[1], **spring))
        elif len(joint.dofs) == 1:
            joint = replace(joint, dofs=(replace(joint.dofs[0], limit=Limit(lower=-END, upper=END, **spring)),))
        joints.append(joint)
    return replace(tree, joints=tuple(joints))


def sprung_energy(tree, q, k):
    """The energy of undamped springs of these stops, by hand."""
    energy, first = 0.0, 0
    for joint in tree.joints:
        phi = np.asarray(q[first : first + len(joint.dofs)], float)
        first += len(joint.dofs)
        if len(phi) == 1:
            energy += 0.5 * k * max(abs(phi[0]) - END, 0.0) ** 2
        if len(phi) == 3:
            x, y, z, w = quaternion_from_rotation_vector(phi)
            swing = np.array([w * y - x * z, w * z + x * y])
            length = np.linalg.norm(swing)
            angle = 1.0 / np.linalg.norm(swing / max(length, 1e-300) / ANGLES) if length > 0.0 else np.inf
            energy += 0.5 * k * max(2.0 * np.arctan2(length, w * w + x * x) - angle, 0.0) ** 2
    return energy


def shaken(seed, kinds=KINDS, floating=False, speed=6.0, spring=None, **options):
    """A random tree with stops and armature, and a simulation of it that starts with random velocities."""
    rng = np.random.default_rng(seed)
    tree = with_stops(trees.random_articulation(rng, 4, kinds=kinds, floating=floating, armature=True), **spring or {})
    velocity = speed * rng.normal(size=len(tree.dofs))
    root = np.array([*NONE, *rng.uniform(-speed, speed, 3)]) if floating else None
    gravity = NONE if floating else rigid.GRAVITY
    return tree, started(tree, None, velocity, root, gravity=gravity, **options)


@pytest.mark.parametrize(("precision", "environments"), [("float64", 1), ("float32", 16)])
@pytest.mark.parametrize(("dt", "most"), [(1 / 30, 0.03), (1 / 120, 0.01)])
@pytest.mark.parametrize("stiffness", [None, 50.0, 5000.0])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_stops_do_not_feed_violent_motion(solver, floating, stiffness, dt, most, precision, environments):
    """Ball, hinge and zero-twist joints with armature, 20 s: no more energy than there was, whatever the stops are."""
    spring = {} if stiffness is None else {"stiffness": stiffness}
    options = {"solver": solver, "dt": dt, "precision": precision, "environments": environments}
    for seed in (4, 10):
        _, simulation = shaken(seed, floating=floating, spring=spring, **options)
        energy = simulation.record(round(20.0 / dt), quantities=["energy"]).energy.astype(float)
        assert not simulation.failures()
        total = energy.sum(axis=-1)
        assert (total - total[0]).max() < most * energy[..., 0].max()


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_soft_stops_give_back_what_they_took(solver, damping):
    """T + V + U of the dense matrices, with springs by hand, is that of the step before; dampers only take from it."""
    k = 5.0
    spring = {"stiffness": k, "damping": damping}
    tree, simulation = shaken(4, kinds=("spherical", "revolute_x"), spring=spring, dt=1 / 30, solver=solver)
    simulation.step(10)
    before = simulation.unresolved_steps().item()
    recording = simulation.record(100)
    assert simulation.unresolved_steps().item() - before == 100
    total, sprung = [], []
    for q, v in zip(recording.joint_position[:, 0], recording.joint_velocity[:, 0]):
        motion = rigid.motion(tree, State(joint_position=q, joint_velocity=v))
        sprung.append(sprung_energy(tree, q, k))
        total.append(rigid.kinetic_energy(motion) + rigid.potential_energy(motion) + sprung[-1])
    change, kinetic = np.diff(total), recording.energy[:, 0, 0].max()
    assert max(sprung) > 0.02 * kinetic
    assert change.max() < 1e-10 * kinetic
    assert damping > 0.0 or change.min() > -1e-10 * kinetic
    assert damping == 0.0 or total[-1] < total[0] - 0.05 * kinetic


@pytest.mark.parametrize("spring", [{}, {"stiffness": 50.0, "damping": 0.2}], ids=["hard", "soft"])
@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_stops_leave_the_momentum_of_violent_motion(solver, spring):
    """Stops are within the tree: what floats keeps its linear and angular momentum in steps that do not resolve it."""
    tree, simulation = shaken(1, floating=True, speed=15.0, spring=spring, dt=1 / 30, solver=solver)
    simulation.step(10)
    before = simulation.unresolved_steps().item()
    recording = simulation.record(100)
    assert simulation.unresolved_steps().item() - before == 100
    for momentum in momenta(tree, recording):
        np.testing.assert_allclose(momentum, momentum[[0]].repeat(101, 0), atol=1e-9 * np.abs(momentum).max())


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_unequal_armatures_do_not_feed_a_swing_through_half_a_turn(integrator):
    """The mirror image of a velocity has another energy of armatures; the motion goes on with the energy it had."""
    tree = clubs(1)
    dofs = tuple(replace(dof, armature=armature) for dof, armature in zip(tree.dofs, (0.05, 0.4)))
    tree = replace(tree, joints=(replace(tree.joints[0], dofs=dofs),))
    options = {"gravity": (-9.81, 0.0, 0.0), "dt": 1 / 960, "integrator": integrator}
    simulation = started(tree, None, [9.0, 5.0], **options)
    recording = simulation.record(9600)
    assert np.linalg.norm(recording.joint_position, axis=-1).max() > 3.1
    energy = recording.energy[:, 0]
    assert np.abs(energy.sum(axis=1) - energy[0].sum()).max() < 0.01 * energy[:, 0].max()
