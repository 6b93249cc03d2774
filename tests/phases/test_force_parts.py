"""The parts of the forces of a step: each is what its law says, and together they are nothing."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.oracles import rigid
from tests.oracles.dense_step import implicit_share
from tests.oracles.simulated_state import state_of
from tests.oracles.step import damping_wrench
from tests.simulations import simulate_exactly as simulate
from tests.step_taken import StepTaken, disturb
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.model.force_parts import PART_NAMES

H = 1 / 240
STEPPING = [(solver, integrator) for solver in ("direct", "pgs", "tgs") for integrator in ("midpoint", "semi_implicit")]


def damped(tree):
    """The tree with damping of all links, and with other shares of gravity that act on them."""
    links = [
        trees.replace(link, linear_damping=0.3, angular_damping=0.5, gravity_scale=(0.3, 1.0, -0.5, 1.7)[k % 4])
        for k, link in enumerate(tree.links)
    ]
    return trees.replace(tree, links=tuple(links))


def parts_of(simulation, environment=0):
    """By name, on the velocities of a root and of dofs, shape (N)."""
    found = {}
    for name in PART_NAMES:
        joints = getattr(simulation.state, f"joint_{name}_force").numpy()[:, environment]
        roots = getattr(simulation.state, f"root_{name}_force").numpy()[..., environment]
        found[name] = np.concatenate([*roots, joints]).astype(float)
    return found


def assert_nothing_is_left(parts, tolerance=1e-10, of_rows=0.0):
    """Their sum is rounding of the largest of them, and of given forces of single rows."""
    largest = max(np.abs(part).max() for part in parts.values())
    np.testing.assert_allclose(sum(parts.values()), 0.0, rtol=0.0, atol=tolerance * largest + of_rows)


def largest_row_force(simulation):
    """What the row pushes with that pushes hardest, in any environment [N or N m]."""
    return float(np.abs(simulation.run.groups[0].arrays.work.impulse.numpy()).max()) / simulation.settings.dt


@pytest.mark.parametrize(("solver", "integrator"), STEPPING)
def test_they_sum_to_zero(solver, integrator):
    """In a floating tree with every joint type and every family; all parts act, also those that a root has."""
    rng = np.random.default_rng(4)
    simulation = simulate(damped(busy_tree(rng)), solver=solver, integrator=integrator)
    disturb(rng, simulation)
    most = dict.fromkeys(PART_NAMES, 0.0)
    for _ in range(10):
        simulation.step(forces=True)
        parts = parts_of(simulation)
        assert_nothing_is_left(parts)
        most = {name: np.maximum(most[name], np.abs(part)) for name, part in parts.items()}
    assert all(largest[6:].max() > 0.1 for name, largest in most.items() if name not in ("loop", "contact"))
    on_roots = {name for name, largest in most.items() if largest[:6].any()}
    assert on_roots == {"limit", "tendon", "external", "damping", "gravity", "coriolis", "inertial"}


@pytest.mark.parametrize("seed", [4, 6, 9])
def test_they_sum_to_zero_in_single_precision(seed):
    """Also where limits of rotations and of velocities of the same dof contradict each other.

    Then rows push with a hundred times of what any part shows, and their own rounding, some 1e-7 of them, is left.
    """
    rng = np.random.default_rng(seed)
    simulation = simulate(damped(busy_tree(rng)), precision="float32", variant="lanes")
    disturb(rng, simulation)
    for _ in range(10):
        simulation.step(forces=True)
        assert_nothing_is_left(parts_of(simulation), 1e-5, of_rows=5e-7 * largest_row_force(simulation))


@pytest.mark.parametrize("seed", [24, 26, 29, 38])
def test_busy_trees_are_not_thrown(seed):
    """Nothing fails where limits of a ball joint contradict, or a tendon pushes against the change of its length."""
    rng = np.random.default_rng(seed)
    simulation = simulate(damped(busy_tree(rng)), solver="direct", integrator="semi_implicit")
    disturb(rng, simulation)
    for _ in range(10):
        simulation.step(forces=True)
        assert_nothing_is_left(parts_of(simulation))
        assert np.abs(simulation.state.joint_velocity.numpy()).max() < 100.0
    assert not simulation.failures()


@pytest.mark.parametrize(("solver", "integrator"), STEPPING)
def test_those_of_links_are_their_laws(solver, integrator):
    """Beside dense dynamics where the step places the links, drag with the velocities of its start."""
    rng = np.random.default_rng(4)
    # In substeps of a midpoint step the axes of ball joints with stops or dampers turn each time.
    simulation = simulate(
        damped(busy_tree(rng, balls=(solver, integrator) != ("tgs", "midpoint"))), solver=solver, integrator=integrator
    )
    efforts, wrench = disturb(rng, simulation)
    for k in range(4):
        before = rigid.velocity(simulation.scene.articulations[0], state_of(simulation))
        taken = StepTaken(simulation)
        if solver == "tgs" and k == 0 and integrator == "midpoint":
            continue
        share = 0.5 if integrator == "midpoint" and k > 0 else 1.0
        begun = trees.replace(taken.placed, velocity=before)
        rates = [rate / (1.0 + implicit_share(H * rate, share) * H * rate) for rate in (0.3, 0.5)]
        drag = damping_wrench(begun) / [[0.3] * 3 + [0.5] * 3] * [[rates[0]] * 3 + [rates[1]] * 3]
        wanted = {
            "actuation": np.concatenate([np.zeros(6), efforts]),
            "external": rigid.external_effort(taken.placed, wrench),
            "damping": rigid.external_effort(taken.placed, drag),
            "gravity": -rigid.gravity_effort(taken.placed),
            "coriolis": -rigid.coriolis_effort(taken.placed),
            "inertial": -rigid.mass_matrix(taken.placed) @ taken.acceleration,
        }
        found = parts_of(simulation)
        scale = max(np.abs(part).max() for part in found.values())
        for name, law in wanted.items():
            np.testing.assert_allclose(found[name], law, rtol=0.0, atol=1e-9 * scale, err_msg=name)
            np.testing.assert_array_equal(getattr(taken.recording, f"joint_{name}_force")[-1, 0], found[name][6:])


@pytest.mark.parametrize(("solver", "integrator"), STEPPING)
def test_what_slows_trees_down_is_a_limit(solver, integrator):
    """Where joints turn too far for the rows of limits: parts sum to zero, accelerations are changes of velocities."""
    rng = np.random.default_rng(3)
    # In substeps of a midpoint step the axes of ball joints turn each time.
    balls = () if (solver, integrator) == ("tgs", "midpoint") else ("spherical",)
    tree = trees.random_articulation(rng, 7, kinds=("revolute_x", "revolute_y", "prismatic_x", *balls), floating=True)
    state = trees.random_state(rng, tree, speed=30.0)
    # Friction and a force keep the step from correcting velocities afterwards, as it does in free motion and in flight.
    tree = trees.with_dofs(tree, friction=Friction(viscous=1e-9))
    slow = trees.replace(tree.links[-1], max_linear_velocity=0.5, max_angular_velocity=1.0)
    tree = trees.replace(tree, links=(*tree.links[:-1], slow))
    simulation = simulate(tree, dt=1 / 60, solver=solver, integrator=integrator)
    simulation.set_state(
        joint_position=state.joint_position,
        joint_velocity=state.joint_velocity,
        root_pose=state.root_pose,
        root_velocity=state.root_velocity,
    )
    simulation.control.link_external_force.fill_(1e-9)
    for _ in range(3):
        taken = StepTaken(simulation)
        parts = parts_of(simulation)
        assert_nothing_is_left(parts)
        scale = np.abs(parts["inertial"]).max()
        law = -rigid.mass_matrix(taken.placed) @ taken.acceleration
        np.testing.assert_allclose(parts["inertial"], law, rtol=0.0, atol=1e-9 * scale)
        links = taken.placed.J @ taken.acceleration + taken.placed.A_bias
        found = taken.recording.link_acceleration[-1, 0]
        np.testing.assert_allclose(found, links, rtol=0.0, atol=1e-9 * np.abs(links).max())
        speed = np.linalg.norm(taken.recording.link_velocity[-1, 0, -1].reshape(2, 3), axis=-1)
        assert (speed <= np.array([0.5, 1.0]) * (1 + 1e-6)).all()
    assert simulation.unresolved_steps().sum() > 0


@pytest.mark.parametrize("kinds", [tuple(trees.JOINT_KINDS), tuple(trees.FREER_KINDS)], ids=["plain", "freer"])
def test_in_many_trees(kinds):
    """On fixed and floating bases, with drives of which some are at their maximum, over a few steps."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tree = damped(trees.random_articulation(rng, 7, kinds=kinds))
        drives = [Drive(stiffness=80.0, damping=2.0, position_target=1.0, max_force=2.0) for _ in tree.dofs]
        simulation = simulate(trees.with_dofs(tree, drive=drives))
        disturb(rng, simulation)
        for _ in range(3):
            simulation.step(forces=True)
            parts = parts_of(simulation)
            assert_nothing_is_left(parts)
        assert np.abs(parts["drive"]).max() == pytest.approx(2.0, abs=1e-12)


def test_a_pendulum_at_rest_on_its_drive():
    """The drive has what gravity takes; nothing else acts."""
    tree = trees.with_dofs(trees.chain(1), drive=Drive(stiffness=200.0, damping=30.0), position=0.5)
    simulation = simulate(tree)
    simulation.step(2000, forces=True)
    parts = parts_of(simulation)
    q = simulation.state.joint_position.numpy()[0, 0]
    assert parts["gravity"][0] == pytest.approx(-9.81 * 0.25 * np.sin(q), rel=1e-9)
    assert parts["drive"][0] == pytest.approx(-parts["gravity"][0], rel=1e-9)
    assert all(abs(part).max() < 1e-9 for name, part in parts.items() if name not in ("gravity", "drive"))


def test_an_environment_that_has_stopped_has_none():
    """In none of the parts; the others keep theirs."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=10.0, position_target=1.0))
    simulation = Simulation(trees.scene(tree), environments=2, settings=SolverSettings(dt=H, variant="scalar"))
    simulation.set_state(joint_velocity=[[1e30, 0.0], [0.0, 0.0]])
    simulation.step(2, forces=True)
    assert not any(part.any() for part in parts_of(simulation).values())
    assert_nothing_is_left(parts_of(simulation, 1), 1e-5)
    assert parts_of(simulation, 1)["drive"].all()
