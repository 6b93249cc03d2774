"""What is written to controls and parameters on the device and is not allowed stops its environment, by name."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from tests.sim.test_parameters import everything
from warp_artic import Simulation, SolverSettings, read_stage
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.start_pose import start_poses
from warp_artic.mechanisms.public_rows import COUNTED
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS, STATE

ROOT = Path(__file__).parents[2]
VALUES = (math.nan, math.inf, -math.inf, -1.0)
MAY_BE_NEGATIVE = {
    "link_gravity_scale",
    *CONTROL,
    "gravity",
    "limit_lower",
    "limit_upper",
    *(f"tendon_{name}" for name in ("coefficient", "force_coefficient", "rest_length", "offset", "lower", "upper")),
    "spatial_offset",
    "contact_rest",
    "contact_distance",
    "leaf_lower",
    "leaf_upper",
    "attachment_coefficient",
    *(f"mimic_{name}" for name in ("gear", "offset", "natural_frequency")),
    *(f"loop_limit_{name}" for name in ("lower", "upper")),
    *(f"loop_drive_{name}_target" for name in ("position", "velocity")),
}
MAY_BE_INFINITE = {
    "drive_max_force",
    "drive_max_velocity",
    "velocity_limit",
    "cone_angle",
    "link_max_linear_velocity",
    "link_max_angular_velocity",
    "loop_break_force",
    "loop_break_torque",
    "contact_stiffness",
    "contact_depenetration",
    "loop_cone_angle",
    "loop_drive_max_force",
    "loop_velocity_limit",
    *(f"{kind}_upper" for kind in ("limit", "tendon", "leaf", "distance", "loop_limit")),
}
MAY_BE_MINUS_INFINITE = {"limit_lower", "tendon_lower", "leaf_lower", "loop_limit_lower"}


def is_allowed(name, value):
    """As the rules of a description have it."""
    if math.isnan(value):
        return False
    if math.isinf(value):
        return name in (MAY_BE_INFINITE if value > 0 else MAY_BE_MINUS_INFINITE)
    return name in MAY_BE_NEGATIVE


def views_of(simulation, name):
    """An array of the control or of the parameters by its name."""
    return getattr(simulation.control if name in CONTROL else simulation.parameters, name)


def cases(simulation):
    """Each array that can be written to, with each value, in its first row, its last, and one between."""
    found = []
    for name in (*CONTROL, *PARAMETERS):
        *rows, _ = views_of(simulation, name).shape
        places = list(np.ndindex(*rows))
        chosen = dict.fromkeys((places[0], places[len(places) // 2], places[-1]))
        found += [(name, place, value) for place in chosen for value in VALUES]
    return found


def with_loop(tree):
    """A tree whose last body keeps to a plane, unless that breaks, far above a ground."""
    link = len(tree.links) - 1
    loop = LoopJoint(
        name="/World/loop",
        link0=WORLD,
        link1=link,
        frame0=start_poses(tree)[link],
        free=tuple(axis for axis in Axis if axis is not Axis.TRANS_X),
        limits=((Axis.TRANS_Y, Limit(lower=-10.0, upper=10.0)),),
        drives=((Axis.TRANS_Z, Drive(stiffness=1.0, damping=0.1)),),
        frictions=((Axis.TRANS_Y, Friction(static_effort=0.2, dynamic_effort=0.1, viscous=0.1)),),
        armatures=((Axis.TRANS_Y, 0.1),),
        velocity_limits=((Axis.TRANS_Y, 100.0),),
        break_force=1e9,
        break_torque=1e9,
    )
    touch = ContactPair(
        name="/World/touch",
        link0=WORLD,
        link1=link,
        shape0=Shape(path="/World/ground", kind=ShapeKind.PLANE, frame=Pose((0.0, 0.0, -1e3))),
        shape1=Shape(path="/World/ball", kind=ShapeKind.SPHERE, radius=0.1),
        contact_distance=0.01,
    )
    return trees.replace(tree, constraints=(*tree.constraints, loop, touch))


def start(environments, **settings):
    """A tree in which everything acts, a few steps into its motion."""
    simulation = Simulation(
        trees.scene(with_loop(everything())),
        environments=environments,
        settings=SolverSettings(solver="pgs", **settings),
    )
    simulation.step(3)
    simulation.report()
    return simulation


def poison(simulation, wrong):
    """Write one value to each environment of a table, through views of the memory."""
    for environment, (name, place, value) in wrong.items():
        views_of(simulation, name).numpy()[(*place, environment)] = value


def states_of(simulation):
    """All arrays of the state, each of shape (rows, environments)."""
    return {
        name: field.scalars.numpy()[:, : simulation.environments].copy()
        for name, field in simulation.run.groups[0].state.items()
        if name not in ("failure", "clock", "seen")
    }


@pytest.mark.parametrize("variant", ("lanes", "scalar"))
def test_each_array_that_a_user_writes_to(variant):
    """Of each environment that has a wrong number in one row of one array: named, frozen, and alone in that."""
    found = cases(start(1, variant=variant))
    if variant == "scalar":  # the same kernels, one environment at a time
        found = [case for case in found if not any(case[1]) and math.isnan(case[2])]
    assert {name for name, _, _ in found} == {*CONTROL, *PARAMETERS}
    places = [place for place in range(2 * len(found)) if place % 8]
    wrong = dict(zip(places, found))
    dirty, clean = (start(environments, variant=variant) for environments in (max(wrong) + 2, 16))
    for name in (*CONTROL, *PARAMETERS):
        views_of(clean, name)
    before = states_of(dirty)
    poison(dirty, wrong)
    for simulation in (dirty, clean):
        simulation.step(2)
        simulation.step()
    failures = {failure.environment: failure for failure in dirty.failures()}
    after, wanted = states_of(dirty), states_of(clean)
    for environment, (name, place, value) in wrong.items():
        if is_allowed(name, value):
            assert environment not in failures or not failures[environment].array, (name, place, value)
            continue
        assert environment in failures, (name, place, value)
        failure = failures[environment]
        assert (failure.array, failure.step) == (name, 4), (name, place, value, failure)
        for state, values in after.items():
            wanted_here = before[state][:, environment] if state in STATE else 0.0
            np.testing.assert_array_equal(values[:, environment], wanted_here, str((name, state)))
    others = [environment for environment in range(dirty.environments) if environment not in wrong]
    for state, values in after.items():  # all others have one motion, whatever the number of environments is
        np.testing.assert_array_equal(values[:, others], wanted[state][:, [0] * len(others)], state)
    for name in ("link_pose", "link_velocity", "energy", "tendon_length", "tendon_force", "mimic_error"):
        assert np.isfinite(getattr(dirty.state, name).numpy()[..., [*failures]]).all(), name


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_a_rope_that_is_shorter_than_nothing(variant):
    """Stops its environment in the first step; those after it leave the environment out."""
    simulation = start(2, variant=variant)
    poison(simulation, {1: ("distance_upper", (0,), -1.0)})
    simulation.step(20)
    assert [(failure.environment, failure.array, failure.step) for failure in simulation.failures()] == [
        (1, "distance_upper", 4)
    ]


def test_sentences():
    """Whose value it is, and what is allowed."""
    simulation = start(7)
    tree = simulation.scene.articulations[0]
    wrong = {
        0: ("drive_stiffness", (2,), math.nan),
        1: ("link_mass", (3,), -1.0),
        2: ("gravity", (0, 1), math.inf),
        3: ("tendon_coefficient", (4,), math.nan),
        4: ("link_external_force", (5, 2), math.nan),
        6: ("limit_restitution", (1,), 2.0),
    }
    poison(simulation, wrong)
    simulation.step()
    tendon = tree.fixed_tendons[1]
    name = tree.path
    assert [str(failure) for failure in simulation.failures()] == [
        f"{name}: environment 0 stopped at step 4: drive_stiffness of {tree.dofs[2].name} must be finite and not "
        "negative",
        f"{name}: environment 1 stopped at step 4: link_mass of {list(tree.bodies)[3]} must be positive and finite",
        f"{name}: environment 2 stopped at step 4: gravity must be finite",
        f"{name}: environment 3 stopped at step 4: tendon_coefficient of {tendon.name} on "
        f"{tree.dofs[tendon.dofs[1]].name} must be finite",
        f"{name}: environment 4 stopped at step 4: link_external_force of {list(tree.bodies)[5]} must be finite",
        f"{name}: environment 6 stopped at step 4: limit_restitution of {tree.dofs[1].name} must be from 0 to 1",
    ]


def test_a_graph_looks_at_each_launch():
    """What is written between launches is seen by the next one."""
    simulation = start(3)
    mass = simulation.parameters.link_mass
    graph = simulation.capture(2)
    graph.launch()
    assert not simulation.failures()
    mass.numpy()[0, 2] = math.nan
    before = simulation.state.joint_position.numpy()[:, 2].copy()
    graph.launch()
    assert [(failure.environment, failure.step) for failure in simulation.failures()] == [(2, 6)]
    np.testing.assert_array_equal(simulation.state.joint_position.numpy()[:, 2], before)


def test_an_environment_goes_on_once_it_is_mended():
    """From a snapshot of the time before, bitwise as if nothing had been."""
    simulation, clean = start(2), start(2)
    stiffness = simulation.parameters.drive_stiffness
    clean.parameters.drive_stiffness  # noqa: B018 (asks for it)
    snapshot, kept = simulation.snapshot(), stiffness.numpy().copy()
    stiffness.numpy()[0, 1] = -5.0
    simulation.step(2)
    assert simulation.failures()
    stiffness.numpy()[...] = kept
    simulation.apply(snapshot)
    for one in (simulation, clean):
        one.step(3)
    assert not simulation.failures()
    np.testing.assert_array_equal(simulation.state.joint_position.numpy(), clean.state.joint_position.numpy())


def test_free_motion_in_four_stages():
    """The Runge-Kutta method looks as well."""
    settings = SolverSettings(integrator="rk4")
    simulation = Simulation(trees.scene(trees.chain(3)), environments=6, settings=settings)
    simulation.parameters.armature.numpy()[1, 4] = -1.0
    simulation.parameters.gravity.numpy()[0, 2, 2] = math.nan
    simulation.step(2)
    assert [(failure.environment, failure.array) for failure in simulation.failures()] == [
        (2, "gravity"),
        (4, "armature"),
    ]


def test_articulations_that_differ():
    """Parameters that had a value for each from the start, in an array that is gathered from several groups."""
    simulation = Simulation(trees.random_scene(3, (2, 3, 3, 4)), environments=5)
    masses = simulation.parameters.link_mass.numpy()
    masses[7, 3] = math.nan
    simulation.parameters.link_mass = masses
    simulation.step()
    (failure,) = simulation.failures()
    assert (failure.environment, failure.array) == (3, "link_mass")
    assert failure.quantity == simulation.link_names[7]
    views = next(one for one in simulation.articulations if one.path != failure.articulation)
    views.parameters.armature.numpy()[0, 1] = math.inf
    simulation.step()
    assert [one.environment for one in simulation.failures() if one.array == "armature"] == [1]


def test_a_failed_environment_keeps_a_finite_state():
    """Also where a position alone is lost, as that of a lid which an effort beyond all measure pushes on its stop."""
    scene = read_stage(ROOT / "samples/scenes/lids.usda")
    found = [
        (place, name, value)
        for place in range(len(scene.articulations))
        for name in ("joint_effort", "drive_stiffness", "drive_position_target", "friction_static", "link_mass")
        for value in (3e38, -3e38, 1e30, 1e20, 1e-30, math.nan)
    ]
    simulation = Simulation(scene, environments=len(found), settings=SolverSettings(variant="lanes"))
    simulation.step(3)
    for environment, (place, name, value) in enumerate(found):
        views = simulation.articulations[place]
        getattr(views.control if name in CONTROL else views.parameters, name).numpy()[0, environment] = value
    simulation.step(4)
    for group in simulation.run.groups:
        for name, field in group.state.items():
            wrong = ~np.isfinite(field.scalars.numpy()[:, : group.columns.count]).all(axis=0)
            assert not wrong.any(), (name, [found[k % len(found)] for k in np.flatnonzero(wrong)])
    assert {failure.array for failure in simulation.failures()} >= {"", "joint_position", "link_mass"}


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_positions_that_are_no_numbers(variant):
    """Written by a view, they are what is named, as velocities are, not the velocities that they make."""
    scene = trees.random_scene(3, (3,))
    settings = SolverSettings(variant=variant)
    simulation, clean = (Simulation(scene, environments=5, settings=settings) for _ in range(2))
    tree, positions = scene.articulations[0], simulation.state.joint_position.numpy()
    simulation.step(2), clean.step(2)
    positions[1, 1], positions[0, 3], simulation.state.joint_velocity.numpy()[1, 4] = math.nan, math.inf, math.nan
    simulation.step(), clean.step()
    found = [(one.environment, one.quantity, one.array, one.step) for one in simulation.failures()]
    names = [dof.name for dof in tree.dofs]
    assert found == [(1, names[1], "joint_position", 3), (3, names[0], "joint_position", 3), (4, names[1], "", 3)]
    assert str(simulation.failures()[0]).endswith(f"the position of {names[1]} leaves the range of numbers")
    np.testing.assert_array_equal(positions[:, [0, 2]], clean.state.joint_position.numpy()[:, [0, 2]])


def test_a_root_that_is_nowhere():
    """The pose of a floating root is named as a position as well."""
    simulation = Simulation(trees.scene(trees.chain(2, floating=True)), environments=2)
    simulation.state.root_pose.numpy()[0, 2, 1] = math.nan
    simulation.step()
    (failure,) = simulation.failures()
    assert (failure.environment, failure.quantity, failure.array) == (1, "the root", "root_pose")


@pytest.mark.parametrize("sleep_after", [math.inf, 0.05])
@pytest.mark.parametrize("variant", ["lanes", "scalar"])
@pytest.mark.parametrize("is_at_rest", [True, False])
def test_what_steps_keep_beside_the_motion(tmp_path, variant, sleep_after, is_at_rest):
    """Of contacts, of loops that break, and of sleep: what is no number is named, and stops its environment alone."""
    settings = SolverSettings(variant=variant, sleep_after=sleep_after)
    dirty, clean = (Simulation(on_the_ground(), environments=70, settings=settings) for _ in range(2))
    for simulation in (dirty, clean):
        simulation.step(60 if is_at_rest else 3)
        for name in COUNTED:
            getattr(simulation.state, name)
    found = []
    for name in COUNTED:
        *rows, _ = getattr(dirty.state, name).shape
        places = list(np.ndindex(*rows))
        found += [(name, place, value) for place in {places[0], places[-1]} for value in (math.nan, math.inf)]
    wrong = dict(zip((place for place in range(70) if place % 8), found))
    assert len(wrong) == len(found)
    for environment, (name, place, value) in wrong.items():
        getattr(dirty.state, name).numpy()[(*place, environment)] = value
    assert clean.state.contact_impulse.numpy()[0, 2].min() > 0.0
    before, first = states_of(dirty), 61 if is_at_rest else 4
    for simulation in (dirty, clean):
        simulation.step(2)
        simulation.step()
    failures = {failure.environment: failure for failure in dirty.failures()}
    assert {k: (failure.array, failure.step) for k, failure in failures.items()} == {
        k: (name, first) for k, (name, _, _) in wrong.items()
    }
    assert str(failures[1]).endswith(f"stopped at step {first}: steps_at_rest must be finite")
    after, wanted = states_of(dirty), states_of(clean)
    others = [environment for environment in range(70) if environment not in wrong]
    for name, values in after.items():
        np.testing.assert_array_equal(values[:, others], wanted[name][:, others], name)
        if name in MOTION:
            np.testing.assert_array_equal(values[:, [*wrong]], before[name][:, [*wrong]], name)
    dirty.save(tmp_path / "stopped.npz")
    clean.load(tmp_path / "stopped.npz")
    assert clean.failures() == dirty.failures()


def on_the_ground():
    """Two bodies, the first one upright by a loop joint that can break, the second one on the ground."""
    tree = trees.chain(2, floating=True)
    poses, free = start_poses(tree), (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z)
    loop = LoopJoint(name="/World/loop", link0=WORLD, link1=0, frame0=poses[0], free=free, break_force=1e9)
    ground = Pose((0.0, 0.0, poses[1].position[2] - 0.1))
    touch = ContactPair(
        name="/World/touch",
        link0=WORLD,
        link1=1,
        shape0=Shape(path="/World/ground", kind=ShapeKind.PLANE, frame=ground),
        shape1=Shape(path="/World/ball", kind=ShapeKind.SPHERE, radius=0.1),
        contact_distance=0.01,
    )
    return trees.scene(trees.replace(tree, constraints=(loop, touch)))


def test_controls_of_a_snapshot():
    """That somebody has written to, applied to a simulation whose controls nobody has asked for."""
    snapshot = start(2).snapshot()
    snapshot.joint_effort.numpy()[1, 1] = math.nan
    simulation = start(2)
    simulation.apply(snapshot)
    simulation.step()
    assert [(failure.environment, failure.array) for failure in simulation.failures()] == [(1, "joint_effort")]


def test_a_mass_that_leaves_a_mobility_unknown_stops_its_environment():
    """Of masses up to 1e32 kg in a tree of kilograms: of tendons float64 knows no mobility then.

    Rounding says at which; other environments do not notice.
    """
    simulation = Simulation(
        trees.scene(tree_of_every_family(links=13)), environments=3, settings=SolverSettings(precision="float64")
    )
    simulation.step(2)
    before = simulation.snapshot()
    wanted = simulation.record(1, forces=True)
    masses = simulation.parameters.link_mass.numpy().copy()
    stopped = []
    for link, heavy in itertools.product((3, 10), (1e30, 1e31, 3e31, 1e32)):
        simulation.apply(before)
        mass = masses.copy()
        mass[link, 1] = heavy
        simulation.parameters.link_mass = mass
        found = simulation.record(1, forces=True)
        stopped += simulation.failures()
        for name in ("tendon_mobility", "joint_position", "joint_velocity"):
            np.testing.assert_array_equal(getattr(found, name)[:, ::2], getattr(wanted, name)[:, ::2])
    assert {failure.environment for failure in stopped} == {1}
    assert all(failure.quantity for failure in stopped)
