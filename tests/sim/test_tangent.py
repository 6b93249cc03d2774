"""Derivatives of runs by dual numbers against central differences of ordinary runs, in float64."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from tests.central_differences import STEP, differences
from tests.closed_mechanisms import spatial_four_bar
from warp_artic import Drive, Friction, Limit, Simulation, SolverSettings, read_stage
from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.tendon import FixedTendon
from warp_artic.errors import SettingsError, SolveError
from warp_artic.sim.arrays.views import PARAMETERS
from warp_artic.sim.derivatives.quantities import quantity

DIRECTIONS = 4
ROUNDING = 3e-12
"""What velocities are known to in float64 where stiff rows act, and largest velocities of links that take a part of
joint velocities a hundred times as large [m/s, rad/s]."""
SWITCHES = ("enabled", "threshold")
"""What parameters end with that steps only compare."""
MOTIONS = ("joint_position", "joint_velocity", "root_pose", "root_velocity")


def random_seeds(simulation: Simulation, names, seed=0) -> dict[str, np.ndarray]:
    """Random directions of some quantities."""
    rng = np.random.default_rng(seed)
    shapes = {name: quantity(simulation.run, name).shape for name in names}
    return {name: rng.normal(size=(DIRECTIONS, *shape)) for name, shape in shapes.items() if 0 not in shape}


def stacked(tangent, record=-1) -> np.ndarray:
    """Derivatives of a record in environment 0, shape (K, 2 V), roots first."""
    found = tangent.derivatives
    parts = (found.root_pose, found.joint_position, found.root_velocity, found.joint_velocity)
    return np.concatenate([part[record][:, 0].reshape(part.shape[1], -1) for part in parts], axis=1)


def compare(tree, names, *, warm=3, steps=5, step=STEP, **settings) -> float:
    """How far derivatives are from central differences, relative to the largest of a direction."""
    settings = SolverSettings(precision="float64", **settings)
    simulation = Simulation(trees.scene(tree), settings=settings)
    seeds = random_seeds(simulation, names)
    wanted = differences(tree, settings, seeds, warm, steps, step)
    simulation.step(warm)
    found = stacked(simulation.tangent(seeds, steps))
    assert np.isfinite(found).all()
    return float((np.abs(found - wanted).max(axis=1) / np.abs(wanted).max(axis=1)).max())


@cache
def moving(floating: bool, seed: int = 3):
    """A tree with every joint type, on its way from a random state."""
    tree = trees.random_articulation(seed, 12, floating=floating)
    return trees.authored_at(tree, trees.random_state(seed, tree))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_every_joint_type(floating, integrator):
    """By the whole state, efforts, masses and gravity."""
    names = (*MOTIONS, "joint_effort", "link_external_force", "link_mass", "gravity", "armature")
    assert compare(moving(floating), names, integrator=integrator) < 1e-6


@pytest.mark.parametrize("kinds", [("cylindrical", "planar", "slide_ball"), ("cartesian", "table", "slide_universal")])
def test_joints_with_translations(kinds):
    """Several in a row on one joint."""
    tree = trees.random_articulation(5, 4, floating=False, kinds=kinds)
    tree = trees.authored_at(tree, trees.random_state(5, tree))
    assert compare(tree, (*MOTIONS, "joint_effort")) < 1e-6


FAMILIES = {
    "drive": {"drive": Drive(stiffness=20.0, damping=1.0, position_target=0.3)},
    "saturated drive": {"drive": Drive(stiffness=200.0, damping=1.0, position_target=2.0, max_force=1.0)},
    "friction": {"friction": Friction(static_effort=0.3, dynamic_effort=0.2)},
    "limit": {"limit": Limit(lower=-0.05, upper=0.05)},
    "soft limit": {"limit": Limit(lower=-0.05, upper=0.05, stiffness=300.0, damping=2.0)},
    "bouncing limit": {"limit": Limit(lower=-0.05, upper=0.05, restitution=0.5, bounce_threshold=0.1)},
    "velocity limit": {"velocity_limit": 0.5},
}


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("family", FAMILIES)
def test_families_on_dofs(family, solver):
    """Each where it acts, on a chain of hinges that swings into it; differences leave bounces in their steps."""
    tree = trees.with_dofs(trees.chain(3), position=0.04, velocity=[1.0, 0.7, -0.4], **FAMILIES[family])
    names = (*MOTIONS, "drive_position_target", "joint_effort", "link_mass", "gravity")
    assert compare(tree, names, warm=2, steps=12, step=1e-7, solver=solver) < 1e-6


def test_largest_velocities_where_joints_turn_far_in_a_step():
    """What slows a tree down as a whole there has the derivatives of its steps."""
    rng = np.random.default_rng(3)
    kinds = ("revolute_x", "revolute_y", "prismatic_x", "spherical")
    tree = trees.random_articulation(rng, 7, kinds=kinds, floating=True)
    tree = trees.authored_at(tree, trees.random_state(rng, tree, speed=30.0))
    slow = replace(tree.links[-1], max_linear_velocity=0.5, max_angular_velocity=1.0)
    tree = replace(trees.with_dofs(tree, friction=Friction(viscous=0.01)), links=(*tree.links[:-1], slow))
    settings = {"dt": 1 / 60, "integrator": "semi_implicit"}
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", **settings))
    simulation.step()
    assert simulation.unresolved_steps().sum() == 1
    names = (*MOTIONS, "joint_effort", "link_mass", "link_max_linear_velocity")
    assert compare(tree, names, warm=0, steps=1, step=1e-7, **settings) < 1e-6


def test_all_families_at_once():
    """In one tree, by the state, and by each of its parameters alone, along random shares of the values that it has."""
    tree = tree_of_every_family()
    assert compare(tree, MOTIONS, warm=2, steps=2) < 1e-6
    settings = SolverSettings(precision="float64")
    simulation = Simulation(trees.scene(tree), settings=settings)
    simulation.step(2)
    values = {name: np.moveaxis(getattr(simulation.parameters, name).numpy(), -1, 0)[0] for name in PARAMETERS}
    compared = [name for name in PARAMETERS if name.rpartition("_")[2] not in SWITCHES]
    finite = {name: np.where(np.isfinite(values[name]), values[name], 0.0) for name in compared}
    finite = {name: own for name, own in finite.items() if own.any()}
    assert len(finite) > 30
    rng = np.random.default_rng(1)
    seeds = {name: np.zeros((len(finite), *own.shape)) for name, own in finite.items()}
    for direction, (name, own) in enumerate(finite.items()):
        seeds[name][direction] = own * rng.uniform(-1.0, 1.0, own.shape)
    near, far = (differences(tree, settings, seeds, 2, 2, step) for step in (5e-4, 1e-3))
    wanted = (4.0 * near - far) / 3.0  # of fourth order, with steps that are long enough for rounding to be small
    missed = np.abs(stacked(simulation.tangent(seeds, 2)) - wanted).max(axis=1)
    allowed = 1e-6 * np.abs(wanted).max(axis=1) + ROUNDING / 5e-4
    assert [name for name, far_off in zip(finite, missed > allowed) if far_off] == []


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("stiffness", [50.0, 3000.0])
def test_tendons_by_coefficients_of_lengths_or_forces_alone(stiffness, solver):
    """Which are equal: rows whose J and P differ in their derivatives only, in one or in all terms."""
    c = (0.3, 0.2, -0.1)
    tendons = tuple(
        FixedTendon(
            name=f"/World/t{k}", dofs=dofs, coefficients=c[: len(dofs)], force_coefficients=c[: len(dofs)],
            stiffness=stiffness, rest_length=0.05,
        )
        for k, dofs in enumerate([(0, 1, 2), (0, 1), (1, 2)])
    )  # fmt: skip
    tree = replace(trees.with_dofs(trees.chain(3), velocity=[1.0, 0.7, -0.4]), fixed_tendons=tendons)
    for name in ("tendon_coefficient", "tendon_force_coefficient"):
        assert compare(tree, (name,), steps=20, solver=solver) < 1e-6
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", variant="scalar"))
    seeds = {"tendon_coefficient": np.eye(7).reshape(7, 7)[:3]}
    found = simulation.tangent(seeds, 20)
    simulation.step(20)
    assert_same(simulation, found.values.joint_velocity[-1][0], simulation.state.joint_velocity.numpy()[:, 0])


def in_the_plane(joined: bool) -> Articulation:
    """A body that turns about y: it swings from a loop joint, or spins freely about a principal axis."""
    motion = {"pose": Pose(), "angular_velocity": (0.0, 0.0 if joined else 6.0, 0.0)}
    center = (0.5 * joined, 0.0, 0.0)
    body = Link(path="/r/body", mass=2.0, inertia=(0.1, 0, 0, 0.2, 0, 0.3), center_of_mass=center, **motion)
    loop = LoopJoint(name="/r/ball", link0=WORLD, link1=0, free=(Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z))
    return Articulation(path="/r", links=(body,), joints=(), constraints=(loop,) * joined)


@pytest.mark.parametrize("joined", [True, False])
def test_out_of_the_plane_of_a_motion(joined):
    """In which nothing moves, nor accelerates: derivatives are those of the motion that any change gives."""
    tree = in_the_plane(joined)
    for steps in (1, 2):
        assert compare(tree, ("root_velocity",) if joined else MOTIONS, warm=10, steps=steps) < 1e-6


def test_closed_mechanisms():
    """With loop joints that are closed again at the end of each step, and velocities that keep the energy."""
    assert compare(spatial_four_bar(), ("joint_velocity", "gravity", "link_mass"), steps=10) < 1e-6


def rail(speed: float) -> Simulation:
    """A body of 2 kg that a loop joint lets slide along x."""
    motion = {"pose": Pose(), "linear_velocity": (speed, 0.0, 0.0)}
    body = Link(path="/r/body", mass=2.0, inertia=(0.1, 0, 0, 0.2, 0, 0.3), **motion)
    loop = LoopJoint(name="/r/rail", link0=WORLD, link1=0, free=(Axis.TRANS_X,))
    tree = Articulation(path="/r", links=(body,), joints=(), constraints=(loop,))
    return Simulation(trees.scene(tree), settings=SolverSettings(dt=1 / 480, precision="float64"))


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_a_body_on_a_rail_by_forces(speed):
    """A force that is zero changes its speed by time / mass, forward and backward; and so in the next step alone."""
    simulation = rail(speed)
    simulation.step(3)
    seeds = {"link_external_force": [[[1.0, 0, 0, 0, 0, 0]]]}
    found = simulation.tangent(seeds, steps=40).derivatives.root_velocity[-1]
    np.testing.assert_allclose(found.ravel()[:3], [40 / 480 / 2.0, 0, 0], atol=1e-12)
    B = simulation.linearize(["link_external_force"]).B
    assert np.abs(np.asarray(B)).max() == pytest.approx(1 / 480 / 2.0, rel=1e-9)

    def last_speed(motion):
        by = np.zeros_like(motion.root_velocity)
        by[-1, ..., 0] = 1.0
        return float(motion.root_velocity[-1].ravel()[0]), {"root_velocity": by}

    gradient = simulation.gradient(last_speed, 40, ["link_external_force"])[1]["link_external_force"]
    np.testing.assert_allclose(gradient.ravel()[:3], [40 / 480 / 2.0, 0, 0], atol=1e-12)


def test_closed_mechanisms_by_efforts():
    """As any effort at all leaves energy as the step has it, differences show it to what a step misses of energy."""
    assert compare(spatial_four_bar(), ("joint_effort",), steps=10, step=1e-3) < 1e-3


def test_closed_mechanisms_with_friction():
    """The same by efforts: without friction, any effort at all leaves energy as the step has it (`closed_energy`)."""
    tree = trees.with_dofs(spatial_four_bar(), friction=Friction(viscous=0.01))
    # Differences of 1e-6 reach a branch of the step in which results jump; those of 1e-7 do not.
    assert compare(tree, ("joint_velocity", "gravity", "joint_effort", "link_mass"), steps=10, step=1e-7) < 1e-6


def test_free_motion_by_runge_kutta():
    """By start, masses and gravity."""
    assert compare(moving(True), (*MOTIONS, "link_mass", "gravity"), integrator="rk4") < 1e-6


def assert_same(simulation, found, wanted):
    """Bitwise on a CPU; on CUDA, where the compiler fuses other products and sums in other kernels, to rounding."""
    np.testing.assert_allclose(found, wanted, rtol=0.0 if simulation.device == "cpu" else 1e-12, atol=0.0)


def test_values_are_those_of_scalar_steps():
    """And the simulation stays as it is."""
    tree = moving(True)
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", variant="scalar"))
    tangent = simulation.tangent(random_seeds(simulation, MOTIONS), steps=20, every=10)
    assert simulation.steps_done == 0 and tangent.time == pytest.approx(np.arange(3) * 10 / 240)
    recording = simulation.record(20, every=10)
    assert_same(simulation, tangent.values.joint_position[:, 0], recording.joint_position[:, 0])
    assert_same(simulation, tangent.values.joint_velocity[:, 0], recording.joint_velocity[:, 0])


@pytest.mark.parametrize("solver", ["pgs", "tgs"])
@pytest.mark.parametrize("name", ["differential", "gears"])
def test_sweeps_over_mimic_joints_that_hold_but_for_rounding(name, solver):
    """Which take part in steps as in those of dual numbers; a little change of the start changes as little."""
    scene = read_stage(f"samples/scenes/{name}.usda")
    settings = SolverSettings(precision="float64", variant="scalar", solver=solver, integrator="semi_implicit")
    simulation, sides = (Simulation(scene, environments=count, settings=settings) for count in (1, 2))
    for one in (simulation, sides):
        one.step(20)
    direction = np.random.default_rng(0).normal(size=(1, len(simulation.joint_names)))
    found = simulation.tangent({"joint_velocity": direction}, 60, every=1)
    velocity = sides.state.joint_velocity.numpy()
    sides.state.joint_velocity = velocity + direction.T * [1e-6, -1e-6]
    for record in range(1, 61):
        simulation.step()
        assert_same(simulation, found.values.joint_velocity[record][0], simulation.state.joint_velocity.numpy()[:, 0])
        if record == 5:
            sides.step(5)
            wanted = sides.state.joint_velocity.numpy() @ [0.5e6, -0.5e6]
            missed = np.abs(found.derivatives.joint_velocity[record][0, 0] - wanted).max()
            assert missed < 1e-6 * np.abs(wanted).max()


def far_above_a_ground(link: int) -> ContactPair:
    """A ball on a link that never touches anything."""
    return ContactPair(
        name="/World/touch",
        link0=WORLD,
        link1=link,
        shape0=Shape(path="/World/ground", kind=ShapeKind.PLANE, frame=Pose((0.0, 0.0, -1e3))),
        shape1=Shape(path="/World/ball", kind=ShapeKind.SPHERE, radius=0.1),
        contact_distance=0.01,
    )


def test_single_precision_has_the_same_derivatives():
    """To 1e-4 of those of float64; of a tree with a ball far above a ground, as kernels with contacts are at hand."""
    tree = trees.with_dofs(trees.chain(3), velocity=[1.0, 0.7, -0.4], **FAMILIES["drive"])
    tree = replace(tree, constraints=(far_above_a_ground(len(tree.links) - 1),))
    found = []
    for precision in ("float32", "float64"):
        simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision=precision))
        found.append(stacked(simulation.tangent(random_seeds(simulation, (*MOTIONS, "link_mass")), steps=20)))
    assert np.abs(found[0] - found[1]).max() < 1e-4 * np.abs(found[1]).max()


def test_environments_and_directions_do_not_see_each_other():
    """Each alone has the derivatives that it has among others, bitwise."""
    tree = trees.with_dofs(trees.chain(3), velocity=[1.0, 0.7, -0.4], **FAMILIES["limit"])
    simulation = Simulation(trees.scene(tree), environments=3, settings=SolverSettings(precision="float64"))
    rng = np.random.default_rng(2)
    simulation.set_state(joint_velocity=rng.normal(size=(3, 3)))
    seeds = {"joint_position": rng.normal(size=(17, 3, 3)), "link_mass": rng.normal(size=(17, 3, 3))}
    whole = simulation.tangent(seeds, steps=10).derivatives.joint_velocity
    one = simulation.tangent({name: values[11:13] for name, values in seeds.items()}, steps=10).derivatives
    np.testing.assert_array_equal(whole[:, 11:13], one.joint_velocity)


def test_controls_over_time():
    """Are followed as by hand, step by step."""
    tree = trees.with_dofs(trees.chain(2), **FAMILIES["drive"])
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", variant="scalar"))
    targets = np.random.default_rng(0).normal(size=(6, 2))
    tangent = simulation.tangent({"gravity": [[[0.0, 0.0, 1.0]]]}, 6, controls={"drive_position_target": targets})
    for target in targets:
        simulation.control.drive_position_target = target[:, None]
        simulation.step()
    assert_same(simulation, tangent.values.joint_position[-1][0], simulation.state.joint_position.numpy()[:, 0])


def test_what_is_not_known_is_refused():
    """By name."""
    scene, settings = trees.scene(trees.chain(2)), SolverSettings(precision="float64")
    simulation = Simulation(scene, settings=settings)
    with pytest.raises(SettingsError, match="'link_masses' is not one of .*did you mean link_mass"):
        simulation.tangent({"link_masses": np.ones((1, 2))})
    with pytest.raises(SettingsError, match=r"link_mass: directions of shape \(1, 5\) are not \(K, 2\)"):
        simulation.tangent({"link_mass": np.ones((1, 5))})
    with pytest.raises(SettingsError, match="gravity: has 2 directions, others have 3"):
        simulation.tangent({"link_mass": np.ones((3, 2)), "gravity": np.ones((2, 1, 3))})
    with pytest.raises(SolveError, match="tangent: steps are not differentiated yet where there is sleep after 0.5 s"):
        Simulation(scene, settings=replace(settings, sleep_after=0.5)).tangent({"link_mass": np.ones((1, 2))})
