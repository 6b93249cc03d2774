"""The dynamics suite: the document's own examples, random trees against independent references, identities."""

import math

import numpy as np
import pytest
import warp as wp

from tests import trees
from tests.constraints.test_spatial_tendon import random_tendon
from tests.oracles import pinocchio_model, rigid
from tests.phases.test_dynamics import COUNTS, random_case, simulate
from warp_artic import SettingsError, Simulation, SolveError, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import FixedTendon
from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.math.numbers import SCALAR32

CASES = [(count, floating, 3) for count in COUNTS for floating in (False, True)]
TOLERANCES = pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])


def close(found, wanted, tolerance):
    """Equal to a share of the largest entry."""
    wanted = np.asarray(wanted)
    scale = max(np.abs(wanted).max(initial=0.0), 1e-30)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * scale)


# ---------------------------------------------------------------------------------------------------------------------
# The document's examples: pendulums with pivots on Z, upright along +Y at zero, under gravity of 10 along -Y
# ---------------------------------------------------------------------------------------------------------------------

MASS, LENGTH, GRAVITY = 1.0, 1.0, 10.0
INERTIA = LENGTH**2 * MASS / 3.0


def upright(count, angles, velocities=(0.0, 0.0), environments=1, **options):
    """A chain of `count` pendulums, the next one at the centre of mass of the one before."""
    inertia = (INERTIA, 0.0, 0.0, INERTIA, 0.0, INERTIA)
    links = tuple(Link(path=f"/World/link{k}", mass=MASS, inertia=inertia) for k in range(count))
    joints = tuple(
        Joint(
            path=f"/World/pivot{k}",
            parent=k - 1 if k else WORLD,
            child=k,
            child_frame=Pose(position=(0.0, -LENGTH, 0.0)),
            dofs=(Dof(name=f"/World/pivot{k}", axis=Axis.ROT_Z, position=angles[k], velocity=velocities[k]),),
        )
        for k in range(count)
    )
    scene = trees.scene(Articulation(path="/World", links=links, joints=joints), gravity=(0.0, -GRAVITY, 0.0))
    settings = SolverSettings(precision="float64", variant="scalar", **options)
    return Simulation(scene, environments=environments, settings=settings)


def test_holding_torque():
    """Perpendicular to gravity; the torque holds the pendulum in a step."""
    simulation = upright(1, [-math.pi / 2])
    torque = simulation.gravity_force().numpy()
    np.testing.assert_allclose(np.abs(torque), [[MASS * LENGTH * GRAVITY]], rtol=1e-12)
    simulation.control.joint_effort.assign(torque.T)
    simulation.step()
    assert abs(simulation.state.joint_velocity.numpy()[0, 0]) < 1e-12


def test_coriolis_torque_of_a_double_pendulum():
    """The first turns at 1 rad/s, the second stands perpendicular to it: with both efforts neither accelerates.

    After a step that finds its forces where it starts they still turn at 1 and 0 rad/s.
    """
    simulation = upright(2, [0.0, math.pi / 2], [1.0, 0.0], integrator="semi_implicit")
    coriolis, gravity = simulation.coriolis_force().numpy()[0], simulation.gravity_force().numpy()[0]
    np.testing.assert_allclose(coriolis[1], MASS * LENGTH * LENGTH * 1.0**2, rtol=1e-12)
    np.testing.assert_allclose(simulation.joint_acceleration(coriolis + gravity).numpy(), 0.0, atol=1e-12)
    simulation.control.joint_effort.assign((coriolis + gravity)[:, None])
    simulation.step()
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], [1.0, 0.0], atol=1e-12)


def test_torque_against_an_external_force():
    angle = math.pi / 4
    found = upright(1, [angle]).external_force([[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]]).numpy()
    np.testing.assert_allclose(found, [[math.cos(angle) * LENGTH * 1.0 - 1.0]], rtol=1e-12)


def test_acceleration_by_gravity_and_under_a_torque_that_cancels_it():
    simulation = upright(1, [math.pi / 2], environments=2)
    torque = GRAVITY * MASS * LENGTH
    pivot = INERTIA + MASS * LENGTH**2
    found = simulation.joint_acceleration([[0.0], [-torque]]).numpy()
    np.testing.assert_allclose(found, [[torque / pivot], [0.0]], atol=1e-12)


def test_torque_of_an_acceleration():
    """Without gravity."""
    found = upright(1, [0.3]).joint_force([1.0]).numpy()
    np.testing.assert_allclose(found, [[INERTIA + MASS * LENGTH**2]], rtol=1e-12)


def test_jacobian_of_a_pendulum():
    """At 90 degrees, along -X from its pivot: six rows, v_y = -length w, w_z = w."""
    found = upright(1, [math.pi / 2]).jacobian().numpy()
    np.testing.assert_allclose(found[0, :, 0], [0.0, -LENGTH, 0.0, 0.0, 0.0, 1.0], atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Random trees
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "floating", "seed"), CASES)
@TOLERANCES
def test_random_trees(count, floating, seed, precision, tolerance):
    """Every method against dense NumPy, and mass matrix and efforts against Pinocchio, several states at a time."""
    tree, states, efforts, rng = random_case(count, floating, seed)
    simulation = simulate(tree, states, precision)
    motions = [rigid.motion(tree, state) for state in states]
    model = pinocchio_model.build(tree)
    wrench = rng.normal(size=(len(states), count, 6))
    size = efforts.shape[1]
    M = np.array([pinocchio_model.mass_matrix(model, state) for state in states]).reshape(-1, size, size)
    bare = np.array([rigid.mass_matrix(motion, armature=False) for motion in motions])
    center = np.array([rigid.center_of_mass(motion) for motion in motions])
    momentum = np.array([rigid.momentum(motion) for motion in motions])
    momentum[:, 3:] -= np.cross(center, momentum[:, :3])
    close(simulation.mass_matrix().numpy(), M, tolerance)
    close(simulation.mass_matrix(armature=False).numpy(), bare, tolerance)
    gravity = np.array([rigid.gravity_effort(motion) for motion in motions])
    coriolis = np.array([rigid.coriolis_effort(motion) for motion in motions])
    scale = max(1.0, np.abs(coriolis).max(initial=0.0))
    close(simulation.gravity_force().numpy(), gravity, tolerance)
    np.testing.assert_allclose(simulation.coriolis_force().numpy(), coriolis, rtol=0, atol=tolerance * scale)
    bias = simulation.bias_force().numpy()
    np.testing.assert_allclose(bias, gravity + coriolis, rtol=0, atol=tolerance * max(scale, np.abs(gravity).max()))
    wanted = np.array([-rigid.external_effort(*pair) for pair in zip(motions, wrench)])
    close(simulation.external_force(wrench).numpy(), wanted, tolerance)
    wanted = np.einsum("eij,ej->ei", M, efforts) + coriolis
    close(simulation.joint_force(efforts).numpy(), wanted, tolerance)
    close(simulation.center_of_mass().numpy(), center, tolerance)
    close(simulation.centroidal_momentum().numpy(), momentum, tolerance)
    held = [k for k, joint in enumerate(tree.inbound) if joint and joint.parent == WORLD and not joint.dofs]
    J = np.array([np.delete(motion.J, held, axis=0).reshape(-1, size) for motion in motions])
    close(simulation.jacobian().numpy(), J, tolerance)
    if size:
        matrix = simulation.centroidal_momentum_matrix().numpy()
        v = np.array([rigid.velocity(tree, state) for state in states])
        close(np.einsum("eij,ej->ei", matrix, v), momentum, tolerance)


@pytest.mark.parametrize(("count", "floating", "seed"), CASES[2:])
def test_inverse_and_solutions(count, floating, seed):
    """M^-1, of one and of several right sides; to what the condition of M leaves."""
    tree, states, efforts, rng = random_case(count, floating, seed)
    simulation = simulate(tree, states, "float64")
    M = np.array([rigid.mass_matrix(rigid.motion(tree, state)) for state in states])
    one = np.broadcast_to(np.eye(M.shape[1]), M.shape)
    tolerance = 1e-13 * np.linalg.cond(M).max()
    close(simulation.mass_matrix_inverse().numpy() @ M, one, tolerance)
    close(M @ simulation.solve_mass_matrix(efforts).numpy()[..., None], efforts[..., None], tolerance)
    several = rng.normal(size=(len(states), M.shape[1], 4))
    close(M @ simulation.solve_mass_matrix(several).numpy(), several, tolerance)
    alone = simulation.solve_mass_matrix(efforts[0]).numpy()
    assert (alone[0] == simulation.solve_mass_matrix(efforts).numpy()[0]).all()


@pytest.mark.parametrize("floating", [False, True])
@TOLERANCES
def test_identities(floating, precision, tolerance):
    """J v = link velocities, M = sum J^T I J, v^T M v / 2 = kinetic energy, the suite inverts itself."""
    tree, states, efforts, _ = random_case(21, floating, 5)
    simulation = simulate(tree, states, precision)
    v = np.array([rigid.velocity(tree, state) for state in states])
    velocity = simulation.state.link_velocity.numpy().transpose(2, 0, 1).reshape(len(states), -1)
    J = simulation.jacobian().numpy()
    moving = np.repeat([not (j and j.parent == WORLD and not j.dofs) for j in tree.inbound], 6)
    close(np.einsum("eij,ej->ei", J, v), velocity[:, moving], tolerance)
    M = simulation.mass_matrix(armature=True).numpy()
    armature = np.concatenate([np.zeros(rigid.base_count(tree)), [dof.armature for dof in tree.dofs]])
    kinetic = 0.5 * np.einsum("ei,eij,ej->e", v, M, v)
    np.testing.assert_allclose(kinetic, simulation.state.energy.numpy()[0, 0], rtol=10 * tolerance)
    close(
        M - simulation.mass_matrix(armature=False).numpy(), np.broadcast_to(np.diag(armature), M.shape), 10 * tolerance
    )
    vdot = simulation.joint_acceleration(efforts).numpy()
    back = simulation.joint_force(vdot).numpy() + simulation.gravity_force().numpy()
    scale = np.abs(M).max() * np.abs(vdot).max()
    np.testing.assert_allclose(back, efforts, rtol=0.0, atol=tolerance * scale)


def test_lanes_scalars_and_batches_agree():
    """Bitwise among environments and slots of a variant; to rounding between variants."""
    tree, states, efforts, _ = random_case(13, True, 9)
    found = {}
    for variant, environments in (("scalar", 5), ("lanes", 5), ("lanes", 40)):
        simulation = simulate(tree, (states * 8)[:environments], "float32", variant)
        found[variant, environments] = simulation.mass_matrix().numpy(), simulation.joint_force(efforts[0]).numpy()
    for k in range(2):
        assert (found["lanes", 5][k] == found["lanes", 40][k][35:]).all()
        close(found["scalar", 5][k], found["lanes", 5][k], 1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Couplings
# ---------------------------------------------------------------------------------------------------------------------


def test_coefficient_matrix():
    """Force coefficients of a fixed tendon, the gradient of the length of a spatial one, gears of a mimic joint."""
    rng = np.random.default_rng(2)
    tree = trees.random_articulation(rng, 9, floating=True, kinds=("revolute_x", "prismatic_y", "revolute_z"))
    fixed = FixedTendon(
        name="/World/f", dofs=(1, 4), coefficients=(1.0, 2.0), force_coefficients=(0.5, -3.0), stiffness=1.0
    )
    spatial = random_tendon(rng, 9, stiffness=1.0, all_segments=True)
    mimic = Mimic(name="/World/m", dofs=(2, 0), gears=(1.0, -0.8))
    tree = trees.replace(tree, fixed_tendons=(fixed,), spatial_tendons=(spatial,), mimics=(mimic,))
    state = trees.random_state(rng, tree)
    simulation = simulate(tree, [state], "float64", "lanes")
    found = simulation.coefficient_matrix().numpy()[0]
    assert found.shape == (6 + len(tree.dofs), 1 + 2 + 1)
    column = np.zeros(len(found))
    column[[7, 10]] = 0.5, -3.0
    np.testing.assert_allclose(found[:, 0], column)
    column = np.zeros(len(found))
    column[[8, 6]] = 1.0, -0.8
    np.testing.assert_allclose(found[:, 3], column)
    v = rigid.velocity(tree, state)
    np.testing.assert_allclose(found[:, 1:3].T @ v, simulation.state.tendon_speed.numpy()[1:, 0], rtol=1e-10)


# ---------------------------------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------------------------------


def test_results_are_new_unless_memory_is_given():
    simulation = upright(2, [0.1, 0.2], [1.0, 2.0], environments=3)
    first = simulation.mass_matrix()
    before = first.numpy().copy()
    simulation.step(50)
    second = simulation.mass_matrix()
    assert (first.numpy() == before).all() and (second.numpy() != before).any()
    assert simulation.mass_matrix(out=first) is first
    assert (first.numpy() == second.numpy()).all()
    assert first.shape == (3, 2, 2)
    with pytest.raises(SettingsError, match="out: is not an array that this method has returned"):
        simulation.gravity_force(out=first)


def test_a_parameter_is_followed_from_call_to_call():
    """Also one that gets a value for each environment after the first call."""
    simulation = upright(1, [0.3], environments=2)
    matrix = simulation.mass_matrix()
    np.testing.assert_allclose(matrix.numpy().ravel(), INERTIA + MASS * LENGTH**2, rtol=1e-12)
    simulation.parameters.link_mass.assign([[MASS, 3.0 * MASS]])
    simulation.mass_matrix(out=matrix)
    np.testing.assert_allclose(matrix.numpy().ravel(), INERTIA + MASS * LENGTH**2 * np.array([1.0, 3.0]), rtol=1e-12)


def test_results_are_arguments_without_a_copy():
    """Of the same articulation; those of another one are copied."""
    tree, states, efforts, _ = random_case(5, True, 2)
    simulation = simulate(tree, states, "float64")
    force = simulation.gravity_force()
    force.assign(efforts)
    expected = simulation.joint_acceleration(efforts).numpy()
    assert (simulation.joint_acceleration(force).numpy() == expected).all()
    assert (simulation.solve_mass_matrix(force).numpy() == simulation.solve_mass_matrix(efforts).numpy()).all()
    twin = simulate(tree, states, "float64")
    assert (twin.joint_acceleration(force).numpy() == expected).all()
    assert simulation.joint_acceleration(force, out=force) is force
    assert (force.numpy() == expected).all()


def test_far_from_the_origin():
    """The centre of mass is a place in the world; nothing else knows where the mechanism is."""
    link = Link(
        path="/World/link", mass=2.0, inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1), pose=Pose(position=(1e4, 5.0, 0.0))
    )
    simulation = Simulation(trees.scene(Articulation(path="/World", links=(link,), joints=())))
    np.testing.assert_allclose(simulation.center_of_mass().numpy(), [[1e4, 5.0, 0.0]], rtol=1e-6)
    np.testing.assert_allclose(simulation.mass_matrix().numpy()[0], np.diag([2.0] * 3 + [0.1] * 3), rtol=1e-6)


def test_several_articulations():
    """Each has its own suite; the scene has none."""
    one, two = (trees.random_articulation(seed, 4, floating=True, path=f"/World/t{seed}") for seed in (1, 2))
    simulation = Simulation(trees.scene(one, two), environments=2, settings=SolverSettings(precision="float64"))
    for tree, views in zip((one, two), simulation.articulations):
        alone = Simulation(trees.scene(tree), environments=2, settings=SolverSettings(precision="float64"))
        np.testing.assert_array_equal(views.dynamics.mass_matrix().numpy(), alone.mass_matrix().numpy())
    with pytest.raises(SolveError, match="2 articulations; each has it for itself"):
        simulation.mass_matrix()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda simulation: simulation.joint_force([1.0, 2.0, 3.0]),
            r"joint_acceleration: shape \(3,\) is not \(1, 2\)",
        ),
        (
            lambda simulation: simulation.joint_force([1.0, math.nan]),
            r"joint_acceleration: the value at \(0, 1\) is nan",
        ),
        (lambda simulation: simulation.external_force(np.zeros((3, 6))), r"wrench: shape \(3, 6\) is not \(1, 2, 6\)"),
        (lambda simulation: simulation.solve_mass_matrix(np.zeros((1, 3, 2))), "right: shape"),
    ],
)
def test_wrong_arguments(call, text):
    with pytest.raises(SettingsError, match=text):
        call(upright(2, [0.0, 0.0]))


def test_a_tree_of_fixed_joints():
    """No velocities: empty arrays, and a centre of mass."""
    tree = upright(1, [0.0]).scene.articulations[0]
    tree = trees.replace(tree, joints=(trees.replace(tree.joints[0], dofs=()),))
    simulation = Simulation(trees.scene(tree), environments=2)
    assert simulation.mass_matrix().shape == (2, 0, 0) and simulation.jacobian().shape == (2, 0, 0)
    assert simulation.gravity_force().shape == (2, 0)
    np.testing.assert_allclose(simulation.center_of_mass().numpy(), [[0.0, LENGTH, 0.0]] * 2, atol=1e-6)


@pytest.mark.parametrize("kernel", ["mass_matrix", "jacobian", "efforts", "centroid"])
def test_a_kernel_compiles_for_cuda(kernel, tmp_path):
    """Without a device; nothing in it is for a CPU only."""
    module = getattr(dynamics_kernels_for(SCALAR32), kernel).module
    wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    assert ".target sm_90" in ptx.read_text()
