"""The Runge-Kutta step: fourth order for smooth forces on every joint, and a refusal of everything else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.oracles import reference_problems, rigid, step
from tests.oracles.state import State
from warp_artic import SettingsError, Simulation, SolverSettings, read_stage
from warp_artic.cli.main import main
from warp_artic.constraints import table
from warp_artic.constraints.table import IN_STEPS
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.sim.record.recording import Recording

PEERS = Path(__file__).parents[1] / "data" / "peers"


def simulate(scene, dt=1 / 240, precision="float64", environments=1, variant="auto"):
    settings = SolverSettings(dt=dt, precision=precision, integrator="rk4", variant=variant)
    return Simulation(scene, environments=environments, settings=settings)


def start(simulation, state):
    """Put every environment into a state."""
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)


def errors_at(scene, state, exact, seconds, rates, effort=None, wrench=None):
    """The largest errors of joint velocities, link poses and link velocities at the end, by steps a second."""
    errors = []
    for rate in rates:
        simulation = simulate(scene, 1.0 / rate)
        start(simulation, state)
        if effort is not None:
            simulation.control.joint_effort.assign(effort[:, None])
            simulation.control.link_external_force.assign(wrench[:, :, None])
        simulation.step(round(seconds * rate))
        now = simulation.state
        pose, truth = now.link_pose.numpy()[:, :, 0], exact.link_pose[-1]
        same_side = np.sign(np.sum(pose[:, 3:] * truth[:, 3:], axis=1, keepdims=True))
        pose[:, 3:] *= same_side
        errors.append(
            [
                np.abs(now.joint_velocity.numpy()[:, 0] - exact.joint_velocity[-1]).max(),
                np.abs(pose - truth).max(),
                np.abs(now.link_velocity.numpy()[:, :, 0] - exact.link_velocity[-1]).max(),
            ]
        )
    return np.array(errors)


# ---------------------------------------------------------------------------------------------------------------------
# Order
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_free_motion_of_random_trees_is_of_fourth_order(seed):
    """All joint kinds, fixed and floating bases: errors fall by sixteen when the step halves."""
    rng = np.random.default_rng(170 + seed)
    tree = trees.random_articulation(rng, 12, floating=bool(seed % 2))
    state = trees.random_state(rng, tree, speed=1.5)
    exact = step.trajectory(tree, state, np.array([0.0, 0.2]), tolerance=1e-13)
    errors = errors_at(trees.scene(tree), state, exact, 0.2, (120, 240, 480))
    assert errors[2].max() < 1e-8
    np.testing.assert_allclose(errors[:-1] / errors[1:], 16.0, rtol=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_smooth_forces_are_of_fourth_order(seed):
    """Drives of force and acceleration type, viscous friction, link damping, efforts and wrenches on random trees."""
    rng = np.random.default_rng(180 + seed)
    tree = trees.random_articulation(rng, 8, floating=bool(seed % 2))
    drives = trees.random_drives(rng, tree)
    drives = [
        replace(drive, kind=DriveKind.ACCELERATION if k % 3 == 0 else DriveKind.FORCE) for k, drive in enumerate(drives)
    ]
    frictions = [Friction(viscous=float(d)) for d in rng.uniform(0.0, 0.5, len(drives))]
    tree = trees.with_dofs(tree, drive=drives, friction=frictions)
    links = [replace(link, linear_damping=0.8, angular_damping=1.3) for link in tree.links]
    tree = replace(tree, links=tuple(links))
    state = trees.random_state(rng, tree)
    effort, wrench = rng.normal(size=len(tree.dofs)), rng.normal(size=(len(tree.links), 6))
    exact = step.trajectory(tree, state, np.array([0.0, 0.1]), effort=effort, wrench=wrench, tolerance=1e-13)
    errors = errors_at(trees.scene(tree), state, exact, 0.1, (480, 960, 1920), effort, wrench)
    assert errors[2].max() < 1e-8
    np.testing.assert_allclose(errors[:-1] / errors[1:], 16.0, rtol=0.2)


def test_rotation_vectors_pass_half_a_turn_at_fourth_order():
    """A ball joint that turns several times: its position is shortened, and its motion goes on as if nothing were."""
    tree = trees.chain(2, "spherical")
    state = State(
        joint_position=np.array([0.0, 0.0, 3.0, 1.0, 0.5, -0.3]), joint_velocity=np.array([3.0, 4, 9, 1, -2, 12])
    )
    exact = step.trajectory(tree, state, np.array([0.0, 1.0]), tolerance=1e-13)
    errors = errors_at(trees.scene(tree), state, exact, 1.0, (480, 960, 1920))
    assert errors[2].max() < 1e-7
    np.testing.assert_allclose(errors[:-1] / errors[1:], 16.0, rtol=0.15)
    simulation = simulate(trees.scene(tree))
    start(simulation, state)
    turns = simulation.record(240).joint_position[:, 0].reshape(-1, 2, 3)
    angle = np.linalg.norm(turns, axis=2)
    assert (np.abs(np.diff(turns, axis=0)).max(axis=(0, 2)) > np.pi).all()
    assert angle.max() <= np.pi + 1e-12


def test_the_heavy_top_reaches_its_published_orientation():
    """To the eight digits that are published, after a second and 24 turns; fourth order before that."""
    state, gravity = reference_problems.heavy_top_start(), reference_problems.HEAVY_TOP_GRAVITY
    errors = {}
    for time, dt in ((0.2, 1e-3), (0.2, 5e-4), (1.0, 1e-4)):
        simulation = simulate(trees.scene(reference_problems.heavy_top(), gravity=gravity), dt)
        start(simulation, state)
        simulation.step(round(time / dt))
        found = simulation.state.link_pose.numpy()[0, 3:, 0]
        expected = np.asarray(reference_problems.HEAVY_TOP_QUATERNION[time])
        errors[dt] = min(np.abs(found - expected).max(), np.abs(found + expected).max())
    assert errors[1e-3] / errors[5e-4] == pytest.approx(16.0, rel=0.1)
    assert errors[1e-4] < 2e-8
    assert simulation.state.energy.numpy().sum() == pytest.approx(reference_problems.HEAVY_TOP_ENERGY, rel=1e-8)


# ---------------------------------------------------------------------------------------------------------------------
# The method itself
# ---------------------------------------------------------------------------------------------------------------------


def classical_step(tree, q, v, h, effort, wrench):
    """The classical method on angles and distances, with the forces of the oracle."""

    def f(q, v):
        motion = rigid.motion_at(tree, q, v)
        return rigid.coordinates_rate(tree, q, v), step.acceleration(
            motion, rigid.public_state(tree, q, v), rigid.GRAVITY, effort, wrench
        )

    a1, b1 = f(q, v)
    a2, b2 = f(q + 0.5 * h * a1, v + 0.5 * h * b1)
    a3, b3 = f(q + 0.5 * h * a2, v + 0.5 * h * b2)
    a4, b4 = f(q + h * a3, v + h * b3)
    return q + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), v + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


@pytest.mark.parametrize("variant", ["scalar", "lanes"])
def test_steps_are_those_of_the_classical_method(variant):
    """With drives that come to their maximum force and leave it, to rounding."""
    rng = np.random.default_rng(7)
    kinds = tuple(kind for kind, axes in trees.JOINT_KINDS.items() if len(axes) < 2)
    tree = trees.random_articulation(rng, 8, floating=False, kinds=kinds)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 2 else DriveKind.FORCE,
            stiffness=float(rng.uniform(50, 200)),
            damping=float(rng.uniform(1, 5)),
            position_target=float(rng.normal()),
            max_force=float(rng.uniform(3, 10)),
        )
        for k in range(len(tree.dofs))
    ]
    tree = trees.with_dofs(tree, drive=drives, friction=Friction(viscous=0.3))
    state = trees.random_state(rng, tree)
    effort, wrench = rng.normal(size=len(tree.dofs)), rng.normal(size=(len(tree.links), 6))
    simulation = simulate(trees.scene(tree), variant=variant)
    start(simulation, state)
    simulation.control.joint_effort.assign(effort[:, None])
    simulation.control.link_external_force.assign(wrench[:, :, None])
    q, v = rigid.coordinates(tree, state), rigid.velocity(tree, state)
    patterns = set()
    for _ in range(60):
        motion, now = rigid.motion_at(tree, q, v), rigid.public_state(tree, q, v)
        full = np.abs(step.drive_effort(motion, now)) == [drive.max_force for drive in drives]
        patterns.add(tuple(full.tolist()))
        simulation.step()
        q, v = classical_step(tree, q, v, 1 / 240, effort, wrench)
        expected = rigid.public_state(tree, q, v)
        np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], expected.joint_position, atol=1e-11)
        np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], expected.joint_velocity, atol=1e-9)
    assert len(patterns) > 5


@pytest.mark.parametrize(("name", "share"), [("chain2", 4e-8), ("chain6", 7e-7)])
def test_energy_of_free_chains(name, share):
    """Ten seconds at 240 Hz, as a share of the energy at the start."""
    energy = simulate(read_stage(PEERS / f"{name}.usda")).record(2400).energy[:, 0].sum(axis=1)
    assert np.abs(energy - energy[0]).max() < share * abs(energy[0])


# ---------------------------------------------------------------------------------------------------------------------
# Environments
# ---------------------------------------------------------------------------------------------------------------------


def driven_tree():
    """A floating tree with every kind of joint and drives that come to their maximum force."""
    rng = np.random.default_rng(11)
    tree = trees.random_articulation(rng, 12, floating=True)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 5 == 0 else DriveKind.FORCE,
            stiffness=float(rng.uniform(1, 30)),
            damping=float(rng.uniform(0, 1)),
            position_target=float(rng.normal()),
            max_force=5.0 if k % 3 == 0 else np.inf,
        )
        for k in range(len(tree.dofs))
    ]
    return trees.with_dofs(tree, drive=drives)


def states_of(simulation, environment):
    """All of the state of one environment."""
    state = simulation.state
    names = ("joint_position", "joint_velocity", "root_pose", "root_velocity")
    return np.concatenate([getattr(state, name).numpy()[..., environment].ravel() for name in names])


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_results_do_not_depend_on_the_batch(precision):
    """Bitwise equal alone, and among 33 others in another slot."""
    tree = driven_tree()
    rng = np.random.default_rng(0)
    draws = [trees.random_state(rng, tree) for _ in range(34)]
    alone = simulate(trees.scene(tree), precision=precision, variant="lanes")
    start(alone, draws[20])
    batch = simulate(trees.scene(tree), precision=precision, variant="lanes", environments=34)
    names = ("joint_position", "joint_velocity", "root_pose", "root_velocity")
    batch.set_state(**{name: np.array([getattr(state, name) for state in draws]) for name in names})
    for simulation in (alone, batch):
        simulation.step(40)
    assert not batch.failures()
    np.testing.assert_array_equal(states_of(batch, 20), states_of(alone, 0))


def test_a_bad_environment_is_frozen_and_named_and_the_others_go_on():
    """An infinite effort stops one environment where it is; its neighbours are bitwise unchanged."""
    tree = driven_tree()
    clean, dirty = (simulate(trees.scene(tree), precision="float32", environments=20) for _ in range(2))
    clean.step(30)
    dirty.step(10)
    before = states_of(dirty, 4)
    effort = np.zeros(dirty.control.joint_effort.shape)
    effort[3, 4] = np.inf
    dirty.control.joint_effort.assign(effort)
    dirty.step(20)
    (failure,) = dirty.failures()
    assert (failure.environment, failure.step) == (4, 11)
    np.testing.assert_array_equal(states_of(dirty, 4), before)
    for environment in set(range(20)) - {4}:
        np.testing.assert_array_equal(states_of(dirty, environment), states_of(clean, environment))


def test_a_target_that_is_no_number_stops_an_environment():
    """Also of a drive that has a maximum force."""
    drive = Drive(stiffness=10.0, damping=1.0, max_force=2.0)
    simulation = simulate(trees.scene(trees.with_dofs(trees.chain(2), drive=drive)), environments=5)
    target = np.zeros((2, 5))
    target[1, 3] = np.nan
    simulation.control.drive_position_target.assign(target)
    simulation.step(3)
    assert [(failure.environment, failure.step) for failure in simulation.failures()] == [(3, 1)]


# ---------------------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------------------


def tendon(**options):
    return FixedTendon(
        name="/World/t", dofs=(0, 1), coefficients=(1.0, -1.0), force_coefficients=(1.0, -1.0), stiffness=1.0, **options
    )


def string():
    ends = (
        Attachment(name="/World/a", link=0, position=(0.1, 0.0, 0.0), parent=None),
        Attachment(name="/World/b", link=2, position=(0.1, 0.0, 0.0), parent=0),
    )
    return SpatialTendon(
        name="/World/s", attachments=ends, leaves=(TendonLeaf(attachment=1, upper=2.0),), limit_stiffness=1.0
    )


def with_cone():
    tree = trees.chain(1, "spherical")
    return replace(tree, joints=(replace(tree.joints[0], cone_limit=ConeLimit(angle_1=0.5, angle_2=0.5)),))


def chain_with(**changes):
    return trees.with_dofs(trees.chain(3), **changes)


def with_slow_links():
    tree = trees.chain(3)
    links = [replace(link, max_linear_velocity=1.0, max_angular_velocity=1.0) for link in tree.links]
    return replace(tree, links=tuple(links))


ROTATIONS = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
STOP = Limit(lower=-0.5, upper=0.5)
MIMIC = Mimic(name="/World/m", dofs=(1, 0), gears=(1.0, -1.0))


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        (replace(chain_with(limit=STOP), mimics=(MIMIC,)), "1 mimic joint and 3 joint limits"),
        (chain_with(limit=[Limit(upper=1.0), None, replace(STOP, restitution=0.5)]), "2 joint limits"),
        (trees.with_dofs(trees.chain(1, "universal_xy"), limit=STOP), "2 joint limits"),
        (trees.with_dofs(trees.chain(1, "spherical"), limit=STOP), "3 joint limits"),
        (with_cone(), "1 cone limit"),
        (chain_with(friction=[Friction(static_effort=1.0), None, None]), "1 dof with dry friction"),
        (chain_with(friction=Friction(coefficient=0.1)), "3 dofs with dry friction"),
        (chain_with(velocity_limit=[2.0, 3.0, np.inf]), "2 velocity limits"),
        (with_slow_links(), "3 limits on the speed of links and 3 limits on the spin of links"),
        (replace(trees.chain(3), fixed_tendons=(tendon(),)), "1 fixed tendon"),
        (replace(trees.chain(3), fixed_tendons=(tendon(limit_stiffness=1.0),)), "1 fixed tendon"),
        (replace(trees.chain(3), spatial_tendons=(string(),)), "1 spatial tendon leaf"),
        (
            replace(trees.chain(3), constraints=(LoopJoint(name="/World/ball", link0=WORLD, link1=2, free=ROTATIONS),)),
            "1 loop joint",
        ),
        (chain_with(drive=Drive(stiffness=1.0, max_velocity=2.0)), "3 drives with a performance envelope"),
        (
            chain_with(
                limit=STOP, velocity_limit=[1.0, 1.0, np.inf], friction=[Friction(dynamic_effort=1.0), None, None]
            ),
            "1 dof with dry friction, 2 velocity limits and 3 joint limits",
        ),
    ],
)
def test_constraints_are_refused(tree, found):
    """The sentence names the articulation, what it has, and what can simulate it."""
    with pytest.raises(SettingsError) as error:
        simulate(trees.scene(trees.free_body(), tree))
    assert str(error.value) == (
        f"integrator: rk4 is for free motion, and /World/chain has {found}; allowed here: midpoint, semi_implicit"
    )


def test_what_does_not_act_is_not_refused():
    """Limits without ends, drives with a maximum force, viscous friction."""
    simulate(
        trees.scene(
            chain_with(limit=Limit(), drive=Drive(stiffness=1.0, max_force=1.0), friction=Friction(viscous=1.0))
        )
    )


def test_every_family_is_either_refused_or_no_constraint():
    """A new family of rows needs a name here, or a place among the smooth forces."""
    unlabelled = {family for family in IN_STEPS if family.label is None}
    assert unlabelled == {table.DRIVE, table.FIXED_TENDON_LIMIT, table.SPATIAL_TENDON_LIMIT, table.CONTACT_TURN}


def test_command_line(tmp_path, monkeypatch, capsys):
    """`--integrator rk4` runs a free stage, says so in the recording, and is refused where limits act."""
    monkeypatch.chdir(PEERS)
    record = tmp_path / "run.npz"
    assert main(["simulate", "chain2.usda", "--integrator", "rk4", "--steps", "3", "--record", str(record)]) == 0
    assert Recording.load(record).metadata["integrator"] == "rk4"
    capsys.readouterr()
    assert main(["simulate", "humanoid.usda", "--integrator", "rk4", "--steps", "3"]) == 2
    written = capsys.readouterr().err
    assert written.startswith("warp-artic: error: integrator: rk4 is for free motion, and /")
    assert "21 joint limits; allowed here: midpoint, semi_implicit" in written
