"""The forces of constraints on dofs: their sum is what the equation of motion lacks, and each has its own part."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.oracles import rigid
from tests.oracles.simulated_state import put
from tests.simulations import simulate_exactly as simulate
from tests.step_taken import StepTaken, disturb
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.constraints.table import (
    CONTACT_PAIR,
    CONTACT_TURN,
    IN_STEPS,
    LOOP_ARMATURE,
    LOOP_DAMPER,
    LOOP_DRIVE,
    LOOP_FRICTION,
    LOOP_JOINT,
    LOOP_LIMIT,
    LOOP_VELOCITY_LIMIT,
    SOFT_LOOP_LIMIT,
)
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.mechanisms.tree import tree_of

PARTS = ("drive", "limit", "friction", "tendon", "mimic", "loop")
H = 1 / 240


def force_of(recording, part, record=-1, environment=0):
    """A part of the forces in one record, shape (D)."""
    return getattr(recording, f"joint_{part}_force")[record, environment]


# ---------------------------------------------------------------------------------------------------------------------
# The whole
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_the_parts_are_what_the_equation_of_motion_lacks(solver, integrator):
    """Of random trees with all families, in the first steps: each part acts, and their sum closes the equation."""
    # In substeps of a midpoint step the axes of ball joints at stops turn each time, and those of two rotations, of
    # which none in this tree comes to a stop.
    balls = (solver, integrator) != ("tgs", "midpoint")
    rng = np.random.default_rng(8 if balls else 13)
    tree = busy_tree(rng, balls=balls)
    simulation = simulate(tree, solver=solver, integrator=integrator)
    efforts, wrench = disturb(rng, simulation)
    largest = {part: 0.0 for part in PARTS}
    for k in range(12):
        taken = StepTaken(simulation)
        if solver == "tgs" and k == 0 and integrator == "midpoint":
            continue
        found = rigid.inverse_dynamics(taken.placed, taken.acceleration, wrench)[6:] - efforts
        parts = {part: force_of(taken.recording, part) for part in PARTS}
        scale = sum(np.abs(force).max() for force in parts.values())
        np.testing.assert_allclose(sum(parts.values()), found, rtol=0.0, atol=1e-9 * scale)
        largest = {part: max(largest[part], np.abs(parts[part]).max()) for part in PARTS}
    assert min(force for part, force in largest.items() if part != "loop") > 1e-2


def test_the_busy_tree_has_every_family():
    """None is left out above but those of loop joints and contacts; test_loop_reports and contacts/ have them."""
    beside = {LOOP_JOINT, LOOP_LIMIT, SOFT_LOOP_LIMIT, LOOP_DRIVE, CONTACT_PAIR, CONTACT_TURN}
    beside |= {LOOP_ARMATURE, LOOP_DAMPER, LOOP_FRICTION, LOOP_VELOCITY_LIMIT}
    assert {row.family for row in tree_of(busy_tree(np.random.default_rng(8))).rows} == IN_STEPS - beside


# ---------------------------------------------------------------------------------------------------------------------
# The parts
# ---------------------------------------------------------------------------------------------------------------------

WEIGHT = 9.81
"""Of a slider [N], along -z."""
TENDON = {"name": "/World/tendon", "dofs": (0,), "coefficients": (2.0,), "force_coefficients": (3.0,), "damping": 50.0}
ROUTE = (
    Attachment(name="/World/root", link=0, position=(0.0, 0.0, 0.0), parent=None),
    Attachment(name="/World/leaf", link=1, position=(0.0, 0.0, 0.0), parent=0),
)


def slider(dof=None, link=None, **tree_changes):
    """A mass on a vertical slide below a link that is fixed to the world."""
    tree = trees.chain(2, "prismatic_z")
    base = trees.plain_joint(tree.joints[0].path, -1, 0, "fixed")
    moving = trees.replace(tree.links[1], **(link or {}))
    tree = trees.replace(tree, joints=(base, tree.joints[1]), links=(tree.links[0], moving), **tree_changes)
    return trees.with_dofs(tree, **(dof or {}))


def spatial(**changes):
    """A tendon from the base to the mass."""
    leaf = TendonLeaf(attachment=1, rest_length=0.5, lower=0.0, upper=0.4)
    return (SpatialTendon(name="/World/spatial", attachments=ROUTE, leaves=(leaf,), damping=50.0, **changes),)


HELD = {
    "drive": ("drive", WEIGHT, slider({"drive": Drive(stiffness=1e4, damping=1e2)})),
    "saturated drive": ("drive", 4.0, slider({"drive": Drive(stiffness=1e4, damping=1e2, max_force=4.0)})),
    "stop": ("limit", WEIGHT, slider({"limit": Limit(lower=0.0)})),
    "bouncing stop": ("limit", WEIGHT, slider({"limit": Limit(lower=0.0, restitution=0.2, bounce_threshold=0.1)})),
    "soft limit": ("limit", WEIGHT, slider({"limit": Limit(lower=0.0, stiffness=1e4, damping=1e2)})),
    "velocity limit": ("limit", WEIGHT, slider({"velocity_limit": 0.1})),
    "link speed": ("limit", WEIGHT, slider(link={"max_linear_velocity": 0.1})),
    "stuck": ("friction", WEIGHT, slider({"friction": Friction(static_effort=20.0, dynamic_effort=20.0)})),
    "sliding": ("friction", 2.0, slider({"friction": Friction(static_effort=3.0, dynamic_effort=2.0)})),
    "viscous": ("friction", WEIGHT, slider({"friction": Friction(viscous=50.0)})),
    "tendon": ("tendon", WEIGHT, slider(fixed_tendons=(FixedTendon(stiffness=1e3, **TENDON),))),
    "tendon limit": (
        "tendon",
        WEIGHT,
        slider(fixed_tendons=(FixedTendon(limit_stiffness=1e3, lower=0.1, **TENDON),)),
    ),
    "spatial": ("tendon", WEIGHT, slider(spatial_tendons=spatial(stiffness=1e3))),
    "spatial limit": ("tendon", WEIGHT, slider(spatial_tendons=spatial(limit_stiffness=1e3))),
}


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize(("part", "expected", "tree"), HELD.values(), ids=HELD)
def test_what_holds_a_weight_has_it_as_its_force(part, expected, tree, solver):
    """In the end a mass rests or falls steadily: the force is its weight, or the most there is, and is in one part."""
    recording = simulate(tree, solver=solver).record(480, forces=True)
    for name in PARTS:
        assert force_of(recording, name)[0] == pytest.approx(expected if name == part else 0.0, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("gear", [1.0, 0.5])
def test_masses_on_a_pulley_hold_each_other(gear):
    """Two sliders with q_0 + gear q_1 = 0: the multiplier is the weight of the first, and gears make its forces."""
    tree = trees.chain(3, "prismatic_z")
    base, *sliders = (joint.path for joint in tree.joints)
    joints = (
        trees.plain_joint(base, -1, 0, "fixed"),
        *(trees.plain_joint(path, 0, k, "prismatic_z") for k, path in enumerate(sliders, start=1)),
    )
    links = (*tree.links[:2], trees.replace(tree.links[2], mass=gear))
    mimic = Mimic(name="/World/mimic", dofs=(0, 1), gears=(1.0, gear))
    recording = simulate(trees.replace(tree, links=links, joints=joints, mimics=(mimic,))).record(24, forces=True)
    np.testing.assert_allclose(recording.mimic_force[1:, 0, 0], WEIGHT, rtol=1e-9)
    np.testing.assert_allclose(force_of(recording, "mimic"), [WEIGHT, gear * WEIGHT], rtol=1e-9)
    assert all(np.abs(force_of(recording, part)).max() == 0.0 for part in PARTS if part != "mimic")


# ---------------------------------------------------------------------------------------------------------------------
# Recordings
# ---------------------------------------------------------------------------------------------------------------------


def busy_batch(environments=1, **settings):
    """Copies of the busy tree in lanes, each from another state."""
    tree = busy_tree(np.random.default_rng(3))
    options = SolverSettings(dt=H, variant="lanes", **settings)
    simulation = Simulation(trees.scene(tree), environments=environments, settings=options)
    rng = np.random.default_rng(8)
    states = [trees.random_state(rng, tree) for _ in range(environments)]
    simulation.set_state(
        joint_position=[0.15 * state.joint_position for state in states],
        joint_velocity=[state.joint_velocity for state in states],
        root_pose=[state.root_pose for state in states],
        root_velocity=[state.root_velocity for state in states],
    )
    return simulation


def test_forces_change_nothing_else():
    """A run that records them moves bitwise as one that does not, which has arrays without entries."""
    with_forces, without = (busy_batch(3).record(20, forces=forces) for forces in (True, False))
    for name in ("joint_position", "joint_velocity", "link_pose", "tendon_force", "mimic_error"):
        np.testing.assert_array_equal(getattr(with_forces, name), getattr(without, name))
    for name in (*(f"joint_{part}_force" for part in PARTS), "mimic_force", "tendon_mobility"):
        assert getattr(without, name).shape == (21, 3, 0)
        found = getattr(with_forces, name)
        assert np.abs(found[1:]).max() > 0.0 and np.isfinite(found).all()
        assert name == "tendon_mobility" or (found[0] == 0.0).all()


def test_forces_are_those_of_the_last_step():
    """Every fourth step recorded has every fourth of all forces, and so has each environment alone."""
    each, fourth = busy_batch(3).record(20, forces=True), busy_batch(3).record(20, every=4, forces=True)
    alone = busy_batch(1).record(20, forces=True)
    for part in PARTS:
        all_steps = getattr(each, f"joint_{part}_force")
        np.testing.assert_array_equal(getattr(fourth, f"joint_{part}_force")[1:], all_steps[4::4])
        np.testing.assert_array_equal(getattr(alone, f"joint_{part}_force"), all_steps[:, :1])


def test_an_environment_that_has_stopped_has_no_forces():
    """The others keep theirs."""
    tree = slider({"drive": Drive(stiffness=1e3, damping=1e2)})
    simulation = Simulation(trees.scene(tree), environments=2, settings=SolverSettings(dt=H))
    simulation.set_state(joint_velocity=[[1e30], [0.0]])
    force = simulation.record(3, forces=True).joint_drive_force
    assert (force[:, 0] == 0.0).all() and (np.abs(force[1:, 1]) > 0.0).all()


def test_forces_of_several_articulations_are_in_the_order_of_the_dofs():
    """Each slider of three groups carries its own mass."""
    names = ("a", "b", "c")
    scene_trees = []
    for k, name in enumerate(names):
        tree = slider({"drive": Drive(stiffness=1e4, damping=1e2), "armature": float(k)}, {"mass": 1.0 + k})
        if name == "b":
            tree = trees.with_dofs(tree, limit=Limit(lower=-1.0))
        links = tuple(trees.replace(link, path=link.path.replace("chain", name)) for link in tree.links)
        joints = tuple(
            trees.replace(
                joint,
                path=joint.path.replace("chain", name),
                dofs=tuple(trees.replace(dof, name=dof.name.replace("chain", name)) for dof in joint.dofs),
            )
            for joint in tree.joints
        )
        scene_trees.append(trees.replace(tree, path=f"/World/{name}", links=links, joints=joints))
    settings = SolverSettings(dt=H, precision="float64", variant="scalar")
    simulation = Simulation(trees.scene(*scene_trees), settings=settings)
    recording = simulation.record(480, forces=True)
    masses = [1.0 + names.index(name.split("/")[2]) for name in recording.joint_names]
    np.testing.assert_allclose(force_of(recording, "drive"), WEIGHT * np.array(masses), rtol=1e-5)


def test_runge_kutta_reports_no_forces():
    """Its stages have forces of their own."""
    with pytest.raises(SettingsError, match="forces: the integrator rk4 .* allowed here: midpoint, semi_implicit"):
        simulate(slider(), integrator="rk4").record(1, forces=True)


# ---------------------------------------------------------------------------------------------------------------------
# Tendons
# ---------------------------------------------------------------------------------------------------------------------


def length_gradients(tree, q):
    """Rows of lengths of fixed tendons, then of leaves, by joint velocities, by differences; shape (N, D)."""
    rows = []
    for dof in range(len(tree.dofs)):
        ends = []
        for step in (1e-6, -1e-6):
            simulation = simulate(tree)
            simulation.set_state(joint_position=q + step * np.eye(len(q))[dof])
            ends.append(simulation.state.tendon_length.numpy()[:, 0])
        rows.append((ends[0] - ends[1]) / 2e-6)
    return np.transpose(rows)


def test_mobility_is_what_a_force_does_to_the_rate_of_a_length():
    """J M^-1 push at a state, M dense: of fixed tendons c^T M^-1 r, and of a tendon along all segments J M^-1 J^T."""
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(rng, 8, kinds=("revolute_x", "revolute_y", "prismatic_z"), floating=False)
    tree = trees.with_dofs(tree, drive=Drive(stiffness=1e3, damping=1e2))
    c, r = rng.normal(size=(2, 3))
    fixed = FixedTendon(name="/World/fixed", dofs=(1, 3, 6), coefficients=tuple(c), force_coefficients=tuple(r))
    points = tuple(
        Attachment(name=f"/World/a{k}", link=link, position=tuple(rng.normal(size=3)), parent=parent)
        for k, (link, parent) in enumerate(((0, None), (5, 0), (7, 1)))
    )
    leaves = (TendonLeaf(attachment=2, rest_length=1.0),)
    path = SpatialTendon(name="/World/path", attachments=points, leaves=leaves, all_segments=True)
    tree = trees.replace(tree, fixed_tendons=(fixed,), spatial_tendons=(path,))
    state = trees.random_state(rng, tree)
    simulation = simulate(tree)
    put(simulation, state)
    J = length_gradients(tree, state.joint_position)
    pushes = J.copy()
    pushes[0, [1, 3, 6]] = r
    response = np.linalg.solve(rigid.mass_matrix(rigid.motion(tree, state)), pushes.T)
    found = simulation.record(0, forces=True).tendon_mobility[0, 0]
    np.testing.assert_allclose(found, (J @ response).diagonal(), rtol=1e-7)


def test_limit_states_say_on_which_side_a_length_is():
    """Below, between and above, for a fixed tendon and a leaf."""
    limits = {"lower": -0.1, "upper": 0.1}
    tree = slider(fixed_tendons=(FixedTendon(**TENDON, **limits),), spatial_tendons=spatial())
    simulation = Simulation(trees.scene(tree), environments=3)
    simulation.set_state(joint_position=[[-0.2], [0.0], [0.3]])
    np.testing.assert_array_equal(simulation.state.tendon_limit_state.numpy(), [[-1, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(simulation.record(0).tendon_limit_state[0, :, 0], [-1, 0, 1])
