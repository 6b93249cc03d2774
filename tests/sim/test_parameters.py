"""Parameters of single environments act as those of a scene that is authored so."""

import math

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_tree, tree_of_every_family
from warp_artic import DescriptionError, SettingsError, Simulation, SolverSettings
from warp_artic.description.distance import Distance
from warp_artic.description.friction import Friction
from warp_artic.description.pose import Pose
from warp_artic.sim.arrays.views import PARAMETERS

FIELDS = {
    "armature": ("dofs", "", "armature"),
    "velocity_limit": ("dofs", "", "velocity_limit"),
    **{f"drive_{name}": ("dofs", "drive", name) for name in ("stiffness", "damping", "max_force", "max_velocity")},
    **{f"drive_{name}": ("dofs", "drive", name) for name in ("velocity_gradient", "velocity_resistance")},
    **{f"limit_{name}": ("dofs", "limit", name) for name in ("lower", "upper", "stiffness", "damping", "restitution")},
    "limit_bounce_threshold": ("dofs", "limit", "bounce_threshold"),
    "friction_static": ("dofs", "friction", "static_effort"),
    "friction_dynamic": ("dofs", "friction", "dynamic_effort"),
    "friction_viscous": ("dofs", "friction", "viscous"),
    "friction_coefficient": ("dofs", "friction", "coefficient"),
    "cone_angle": ("joints", "cone_limit", ("angle_1", "angle_2")),
    **{f"cone_{name}": ("joints", "cone_limit", name) for name in ("stiffness", "damping")},
    "link_mass": ("links", "", "mass"),
    **{f"link_{name}": ("links", "", name) for name in ("linear_damping", "angular_damping", "gravity_scale")},
    **{f"link_{name}": ("links", "", name) for name in ("max_linear_velocity", "max_angular_velocity")},
    "tendon_coefficient": ("fixed_tendons", "", "coefficients"),
    "tendon_force_coefficient": ("fixed_tendons", "", "force_coefficients"),
    **{f"tendon_{name}": ("fixed_tendons", "", name) for name in ("stiffness", "damping", "limit_stiffness")},
    **{
        f"tendon_{name}": ("fixed_tendons", "", name) for name in ("rest_length", "offset", "lower", "upper", "enabled")
    },
    **{f"spatial_{name}": ("spatial_tendons", "", name) for name in ("stiffness", "damping", "limit_stiffness")},
    **{f"spatial_{name}": ("spatial_tendons", "", name) for name in ("offset", "enabled")},
    **{f"leaf_{name}": ("leaves", "", name) for name in ("rest_length", "lower", "upper")},
    "attachment_coefficient": ("attachments", "", "coefficient"),
    "mimic_gear": ("mimics", "", "gears"),
    **{f"mimic_{name}": ("mimics", "", name) for name in ("offset", "natural_frequency", "damping_ratio", "enabled")},
    **{f"distance_{name}": ("constraints", "", name) for name in ("upper", "stiffness", "damping", "enabled")},
}
"""Where a parameter is authored: in each of which parts, in which part of these, under which name or names."""

AWAKE = tuple(
    name
    for name in PARAMETERS
    if name not in ("sleep_threshold", "distance_lower") and not name.startswith(("loop_", "contact_"))
)
"""Those of a tree that does not sleep; `solver/test_sleep.py` has that one. A smallest distance of zero is idle, and
what loop joints break at `solver/test_break_loops.py` has, and those of contacts `contacts/`."""

SHIFTED = ("tendon_rest_length", "tendon_offset", "spatial_offset", "leaf_rest_length", "mimic_offset")


def changed(name, value):
    """Another value that a parameter may have in the same structure."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        # All gears of a mimic joint without an offset, halved, are the same law.
        return value[:1] + tuple(changed(name, entry) for entry in value[1:])
    if name in SHIFTED:
        return value + 0.05
    # A larger threshold stops a bounce; a smaller one lets those go on that there are.
    return value * (50.0 if name == "limit_bounce_threshold" else 0.5) if math.isfinite(value) else value


def with_changed(name, part):
    """A part of a description with a parameter changed, and what the array has for it."""
    _, inside, names = FIELDS[name]
    owner = getattr(part, inside) if inside else part
    if owner is None:
        return part, []
    names = names if isinstance(names, tuple) else (names,)
    values = {field: changed(name, getattr(owner, field)) for field in names}
    owner = trees.replace(owner, **values)
    return trees.replace(part, **{inside: owner}) if inside else owner, list(np.hstack(list(values.values())))


def edit(name, tree):
    """A tree with a parameter changed everywhere, and the values in the order of the array."""
    parts = FIELDS[name][0]
    if parts == "dofs":
        found = [with_changed(name, dof)[0] for dof in tree.dofs]
        inside, field = FIELDS[name][1:]
        owners = [getattr(dof, inside) if inside else dof for dof in found]
        keys = {key: [getattr(dof, key) for dof in found] for key in ("drive", "limit", "friction")}
        edited = trees.with_dofs(
            tree, **{inside: keys[inside]} if inside else {field: [getattr(d, field) for d in found]}
        )
        return edited, [getattr(owner, field) if owner is not None else None for owner in owners]
    if parts in ("leaves", "attachments"):
        tendons, values = [], []
        for tendon in tree.spatial_tendons:
            found = [with_changed(name, part) for part in getattr(tendon, parts)]
            tendons.append(trees.replace(tendon, **{parts: tuple(part for part, _ in found)}))
            values += [value for _, own in found for value in own]
        return trees.replace(tree, spatial_tendons=tuple(tendons)), values
    others = [part for part in getattr(tree, parts) if parts == "constraints" and not isinstance(part, Distance)]
    found = [with_changed(name, part) for part in getattr(tree, parts) if part not in others]
    if others:
        return trees.replace(tree, constraints=(*(part for part, _ in found), *others)), [
            value for _, own in found for value in own
        ]
    return trees.replace(tree, **{parts: tuple(part for part, _ in found)}), [v for _, own in found for v in own]


def everything():
    """A tree in which every parameter matters."""
    tree = busy_tree(np.random.default_rng(6))
    links = tuple(trees.replace(link, linear_damping=0.5, angular_damping=0.4) for link in tree.links)
    drives = [
        trees.replace(dof.drive, velocity_resistance=0.2) if math.isfinite(dof.drive.max_velocity) else dof.drive
        for dof in tree.dofs
    ]
    return trees.with_dofs(trees.replace(tree, links=links), drive=drives)


def run(scene, environments, change=lambda simulation: None):
    """Positions and velocities after some steps from a lively start, shape (2 D, environments)."""
    settings = SolverSettings(solver="pgs", variant="lanes")
    simulation = Simulation(scene, environments=environments, settings=settings)
    change(simulation)
    rng = np.random.default_rng(3)
    simulation.set_state(joint_velocity=3.0 * rng.normal(size=len(simulation.joint_names)))
    simulation.step(40)
    assert not simulation.failures()
    return np.concatenate([simulation.state.joint_position.numpy(), simulation.state.joint_velocity.numpy()])


def test_every_parameter_of_an_environment_acts_as_one_of_the_scene():
    """All of them in one batch: bitwise as in a scene that is authored so, and not as without the change."""
    tree = everything()
    scenes = {}

    def change(simulation):
        for k, name in enumerate(AWAKE):
            array = getattr(simulation.parameters, name)
            values = array.numpy()
            if name == "gravity":
                scenes[name] = trees.scene(tree, gravity=(1.0, 2.0, -3.0))
                values[0, :, k] = (1.0, 2.0, -3.0)
            else:
                edited, wanted = edit(name, tree)
                scenes[name] = trees.scene(edited)
                wanted = [old if new is None else new for new, old in zip(wanted, values[..., k].ravel(), strict=True)]
                values[..., k] = np.reshape(wanted, values.shape[:-1])
            array.assign(values)

    ends = run(trees.scene(tree), len(AWAKE) + 1, change)
    plain = run(trees.scene(tree), 1)
    np.testing.assert_array_equal(ends[:, [-1]], plain)
    for k, name in enumerate(AWAKE):
        np.testing.assert_array_equal(ends[:, [k]], run(scenes[name], 1), err_msg=name)
        assert (ends[:, [k]] != plain).any(), f"{name} has no effect"


def test_asking_for_parameters_changes_nothing():
    """Bitwise, also where no drive has an envelope, no link a damping, no friction a coefficient."""
    scene = trees.scene(tree_of_every_family(links=13))
    asked = run(scene, 5, lambda simulation: simulation.snapshot(parts=PARAMETERS))
    np.testing.assert_array_equal(asked, run(scene, 5))


@pytest.mark.parametrize("name, switch", [("link_angular_damping", 2.0), ("friction_coefficient", 0.5)])
def test_what_the_scene_has_none_of_can_be_given_to_an_environment(name, switch):
    """A damping, or a friction by load, acts from when it is written on."""
    tree = trees.with_dofs(trees.chain(2, floating=True), friction=Friction(static_effort=0.01, dynamic_effort=0.01))
    scene = trees.scene(tree)
    given = run(scene, 2, lambda simulation: getattr(simulation.parameters, name)[:, :1].fill_(switch))
    np.testing.assert_array_equal(given[:, 1:], run(scene, 1))
    assert (given[:, 0] != given[:, 1]).any()


def test_mass_properties_of_an_environment_act_as_those_of_the_scene():
    """Centres and inertias of links, of a floating root with tendons too: bitwise as in a scene that is authored so."""
    tree = everything()
    rng = np.random.default_rng(8)
    centers = np.array([link.center_of_mass for link in tree.links]) + rng.normal(size=(2, len(tree.links), 3)) * 0.05
    inertias = np.array([link.inertia for link in tree.links]) * np.array([1.3, 0.8])[:, None, None]
    moved = [authored(tree, center_of_mass=center) for center in centers]
    spread = [authored(moved[0], inertia=inertias[0]), authored(tree, inertia=inertias[1])]

    def change(simulation):
        simulation.set_mass_properties(inertia=inertias, environments=[4, 6])
        simulation.set_mass_properties(center_of_mass=centers, environments=[4, 1])

    ends = run(trees.scene(tree), 8, change)
    wanted = {0: tree, 1: moved[1], 4: spread[0], 6: spread[1], 7: tree}
    for environment, other in wanted.items():
        alone = run(trees.scene(other), 1)
        np.testing.assert_array_equal(ends[:, [environment]], alone, err_msg=str(environment))
        assert environment in (0, 7) or (alone != ends[:, [0]]).any()


def authored(tree, **tables):
    """The tree with properties of its links, each of shape (L, ...)."""
    rows = [{name: tuple(map(float, table[k])) for name, table in tables.items()} for k in range(len(tree.links))]
    return trees.replace(tree, links=tuple(trees.replace(link, **row) for link, row in zip(tree.links, rows)))


def test_mass_properties_that_no_body_has_are_refused():
    """By the link, or by the shape."""
    simulation = Simulation(trees.scene(trees.chain(2)), environments=2)
    with pytest.raises(DescriptionError, match="/World/chain/link_01"):
        simulation.set_mass_properties(inertia=[[1, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, -1]])
    with pytest.raises(DescriptionError, match="/World/chain/link_01: inertia .* none may exceed the sum of"):
        simulation.set_mass_properties(inertia=[[1, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, 5]])
    with pytest.raises(SettingsError, match=r"center_of_mass: shape \(3,\)|center_of_mass: shape \(4, 3\)"):
        simulation.set_mass_properties(center_of_mass=np.zeros((4, 3)))


def test_recorded_energies_are_those_of_the_environment():
    """- m g.p with the mass and the gravity of each environment, far from the world origin too."""
    body = trees.free_body(mass=2.0)
    bodies = [
        trees.replace(
            body,
            path=f"/World/body{k}",
            links=(
                trees.replace(
                    body.links[0], path=f"/World/body{k}", pose=Pose(position=place), center_of_mass=(0.0, 0.0, 0.0)
                ),
            ),
        )
        for k, place in enumerate([(0.0, 0.0, 700.0), (3000.0, 0.0, -400.0)])
    ]
    simulation = Simulation(trees.scene(*bodies), environments=3, settings=SolverSettings(precision="float64"))
    np.testing.assert_allclose(simulation.record(0).energy[0, :, 1], np.full(3, 2.0 * 9.81 * 300.0), rtol=1e-12)
    simulation.parameters.link_mass.assign([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    gravity = np.zeros((2, 3, 3))
    gravity[:, 0], gravity[:, 2, 1] = 0.5, -9.81
    simulation.parameters.gravity.assign(gravity)
    wanted = [-0.5 * 4.0 * 3000.0, 9.81 * (2.0 * 700.0 - 5.0 * 400.0) - 0.5 * 5.0 * 3000.0, -0.5 * 6.0 * 3000.0]
    np.testing.assert_allclose(simulation.record(0).energy[0, :, 1], wanted, rtol=1e-12)
