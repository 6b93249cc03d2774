"""Several articulations as one mechanism: stepped together, each moves as it does alone."""

from dataclasses import replace

import numpy as np
import pytest

from tests import forests, trees
from tests.oracles import rigid
from warp_artic import DescriptionError, Simulation, SolverSettings
from warp_artic.description.diagnostic import Severity
from warp_artic.description.mechanism import joined, mechanisms_of
from warp_artic.description.pose import Pose
from warp_artic.description.validate import findings
from warp_artic.mechanisms.tree import tree_of

CASTS = {
    "two bodies and an arm": lambda: [forests.body("a"), forests.body("b", 3.0), forests.arm()],
    "limits of rotations": lambda: [
        forests.balls("hard"),
        forests.balls("soft", stiffness=40.0, damping=0.3),
        forests.bouncing("bounce"),
        forests.balls("fixed", floating=False),
    ],
    "boundary layers": lambda: [forests.stiff("stiff"), forests.body("a"), forests.bouncing("bounce")],
    "whips": lambda: [forests.whip("whip"), forests.balls("hard"), forests.stiff("stiff")],
}
SETTINGS = {
    "direct": {"solver": "direct"},
    "pgs": {"solver": "pgs"},
    "tgs": {"solver": "tgs", "position_iterations": 3},
    "semi_implicit": {"solver": "direct", "integrator": "semi_implicit"},
    "lanes": {"solver": "direct", "precision": "float32", "variant": "lanes"},
}


def recorded(articulations, is_one, **settings):
    """Motion and forces of steps."""
    return forests.simulation(articulations, is_one, **settings).record(40, every=4, forces=True)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)
def test_each_moves_as_it_does_alone(cast, settings):
    """Bitwise, in any order."""
    articulations = cast()
    alone = recorded(articulations, False, **settings)
    assert np.isfinite(alone.joint_position).all()
    for order in (articulations, articulations[::-1], articulations[1:] + articulations[:1]):
        assert forests.differences(alone, recorded(order, True, **settings)) == {}


def test_long_steps_with_rotation_limits_to_rounding():
    """Factors that are not good enough, and rows whose push is not J^T, are looked for in a column as a whole.

    Then the direct solver refines, or goes another way, for all of its rows.
    """
    articulations = CASTS["limits of rotations"]()
    alone, one = (
        forests.simulation(articulations, is_one, solver="direct", dt=1.0 / 30.0).record(8) for is_one in (False, True)
    )
    assert max(forests.differences(alone, one).values(), default=0.0) < 1e-9


def test_energies_that_steps_do_not_resolve():
    """Whips keep their energy each by itself, and steps are counted for each."""
    articulations = [forests.whip("a"), forests.body("b"), forests.whip("c")]
    ends = []
    for is_one in (False, True):
        simulation = forests.simulation(articulations, is_one, speed=20.0)
        simulation.step(60)
        energies = [views.state.energy.numpy() for views in simulation.articulations]
        ends.append((simulation.unresolved_steps(), energies))
    assert ends[0][0][:, [0, 2]].min() > 0
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_runge_kutta():
    """Without constraint rows, bitwise."""
    articulations = [forests.body("a"), forests.whip("whip"), forests.renamed(trees.chain(3, "revolute_y"), "chain")]
    found = []
    for is_one in (False, True):
        simulation = forests.simulation(articulations, is_one, integrator="rk4")
        found.append(simulation.record(40))
    assert forests.differences(*found) == {}


@pytest.mark.parametrize("seed", range(4))
def test_random_forests_against_the_dense_oracle(seed):
    """Mass matrix, bias force, Jacobian and accelerations of each articulation, in NumPy float64."""
    rng = np.random.default_rng(seed)
    articulations = [
        forests.renamed(trees.random_articulation(rng, int(rng.integers(1, 8)), floating=bool(rng.integers(2))), name)
        for name in "abcd"[: 2 + seed % 3]
    ]
    scene = replace(trees.scene(*articulations), mechanisms=(tuple(tree.path for tree in articulations),))
    simulation = Simulation(scene, settings=SolverSettings(precision="float64", variant="scalar"))
    states = [trees.random_state(rng, tree) for tree in articulations]
    for views, state, tree in zip(simulation.articulations, states, articulations):
        views.state.joint_position.assign(state.joint_position[:, None])
        views.state.joint_velocity.assign(state.joint_velocity[:, None])
        if tree.is_floating:
            views.state.root_pose.assign(np.reshape(state.root_pose, (1, 7, 1)))
            views.state.root_velocity.assign(np.reshape(state.root_velocity, (1, 6, 1)))
    for views, state, tree in zip(simulation.articulations, states, articulations):
        motion = rigid.motion(tree, state)
        M = rigid.mass_matrix(motion)
        suite = views.dynamics
        np.testing.assert_allclose(suite.mass_matrix().numpy()[0], M, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(suite.mass_matrix_inverse().numpy()[0] @ M, np.eye(len(M)), atol=1e-8)
        np.testing.assert_allclose(suite.center_of_mass().numpy()[0], rigid.center_of_mass(motion), atol=1e-10)
        right = rng.normal(size=(len(M), 2))
        np.testing.assert_allclose(M @ suite.solve_mass_matrix(right[None]).numpy()[0], right, atol=1e-8)


def test_the_suite_is_that_of_articulations_alone():
    """Bitwise: each method, with memory of an earlier result, and arguments."""
    articulations = [forests.body("a"), forests.arm(), forests.renamed(trees.chain(3, "revolute_y"), "chain")]
    alone, one = (forests.simulation(articulations, is_one) for is_one in (False, True))
    rng = np.random.default_rng(0)
    for here, there, tree in zip(alone.articulations, one.articulations, articulations):
        V = here.dynamics.mass_matrix().shape[1]
        values, wrench = rng.normal(size=V), rng.normal(size=(len(tree.links), 6))
        calls = {
            "mass_matrix": (),
            "gravity_force": (),
            "coriolis_force": (),
            "bias_force": (),
            "jacobian": (),
            "center_of_mass": (),
            "centroidal_momentum": (),
            "centroidal_momentum_matrix": (),
            "coefficient_matrix": (),
            "joint_acceleration": (values,),
            "joint_force": (values,),
            "solve_mass_matrix": (values,),
            "external_force": (wrench,),
        }
        for name, arguments in calls.items():
            expected = getattr(here.dynamics, name)(*arguments).numpy()
            found = getattr(there.dynamics, name)(*arguments)
            np.testing.assert_array_equal(found.numpy(), expected, err_msg=name)
            again = getattr(there.dynamics, name)(*arguments, out=found)
            assert again is found
            np.testing.assert_array_equal(found.numpy(), expected, err_msg=name)
        impulses = [suite.dynamics.constraint_impulses() for suite in (here, there)]
        np.testing.assert_allclose(impulses[1].impulse.numpy(), impulses[0].impulse.numpy(), rtol=1e-9, atol=1e-12)
        assert there.dynamics.constraint_names == here.dynamics.constraint_names


def test_arrays_of_articulations_and_of_the_scene():
    """Shapes, names and order are those of articulations; what is written to one is not to the others."""
    articulations = [forests.arm(), forests.body("a"), forests.body("b", 3.0)]
    alone, one = (forests.simulation(articulations, is_one) for is_one in (False, True))
    names = ("joint_names", "link_names", "root_names", "tendon_names", "mimic_names")
    assert all(getattr(alone, name) == getattr(one, name) for name in names)
    for group in ("state", "control", "parameters"):
        for name in dir(getattr(alone, group)):
            if not name.endswith(("_force", "_acceleration")) or name == "link_external_force":
                expected = getattr(getattr(alone, group), name).numpy()
                np.testing.assert_array_equal(getattr(getattr(one, group), name).numpy(), expected, err_msg=name)
    views = one.articulations
    views[1].parameters.link_mass.assign(np.full((1, 3), 7.0))
    assert (one.parameters.link_mass.numpy()[-2:] == [[7.0] * 3, [3.0] * 3]).all()
    pose = np.zeros((3, 3, 7)) + [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    pose[:, 2, 0] = 9.0
    one.set_state(root_pose=pose)
    assert views[2].state.root_pose.numpy()[0, 0].tolist() == [9.0] * 3
    assert views[1].state.root_pose.numpy()[0, 0].tolist() == [1.0] * 3


def test_snapshots_checkpoints_and_resets(tmp_path):
    """A run goes on bitwise from a snapshot and from a file, in chosen environments; a reset is the start."""
    articulations = [forests.body("a"), forests.arm(), forests.balls("hard")]
    simulation = forests.simulation(articulations, True)
    start = simulation.snapshot()
    simulation.step(5)
    snapshot = simulation.snapshot()
    simulation.save(tmp_path / "run.npz")
    simulation.step(7)
    end = simulation.snapshot().table.numpy().copy()
    simulation.apply(snapshot)
    simulation.step(7)
    np.testing.assert_array_equal(simulation.snapshot().table.numpy(), end)
    other = forests.simulation(articulations, True)
    other.load(tmp_path / "run.npz")
    other.step(7)
    np.testing.assert_array_equal(other.snapshot().table.numpy(), end)
    other.apply(start, environments=[1])
    now = other.snapshot().table.numpy()
    np.testing.assert_array_equal(now[:, [0, 2]], end[:, [0, 2]])
    np.testing.assert_array_equal(now[:, 1], start.table.numpy()[:, 1])
    fresh = Simulation(other.scene, environments=3, settings=other.settings, threads=1)
    other.reset()
    np.testing.assert_array_equal(other.snapshot().table.numpy(), fresh.snapshot().table.numpy())


def test_a_mechanism_sleeps_and_wakes_as_one():
    """It falls asleep once all its trees are at rest, and what wakes one wakes all."""
    articulations = [forests.body("a"), forests.body("b")]
    scene = trees.scene(*articulations, gravity=(0, 0, 0))
    paths = tuple(tree.path for tree in articulations)
    scene = replace(scene, mechanisms=(paths,))
    settings = SolverSettings(dt=0.01, precision="float64", variant="scalar", sleep_after=0.05)
    simulation = Simulation(scene, settings=settings)
    simulation.articulations[1].state.root_velocity.assign(np.reshape([1.0, 0, 0, 0, 0, 0], (1, 6, 1)))
    simulation.step(20)
    assert simulation.asleep().tolist() == [[False, False]]
    simulation.articulations[1].state.root_velocity.assign(np.zeros((1, 6, 1)))
    simulation.step(20)
    assert simulation.asleep().tolist() == [[True, True]]
    force = np.zeros((1, 6, 1))
    force[0, 0] = 100.0
    simulation.articulations[0].control.link_external_force.assign(force)
    simulation.step(1)
    assert simulation.asleep().tolist() == [[False, False]]


def test_failures_name_the_articulation():
    """A body that runs away stops its mechanism, in its environment only, and is named."""
    articulations = [forests.body("a"), forests.body("b"), forests.renamed(trees.chain(2, "revolute_y"), "chain")]
    for place, quantity in ((1, "the root"), (2, "joint")):
        simulation = forests.simulation(articulations, True)
        views = simulation.articulations[place]
        name = "root_velocity" if place == 1 else "joint_velocity"
        values = getattr(views.state, name).numpy().copy()
        values[0, ..., 1] = 1e200
        getattr(views.state, name).assign(values)
        simulation.step(3)
        (failure,) = simulation.failures()
        assert failure.articulation == articulations[place].path and failure.environment == 1
        assert quantity in failure.quantity


def test_equal_mechanisms_are_grouped():
    """As equal trees are; others are mechanisms by themselves."""
    bodies = [forests.body(name) for name in "abcde"]
    paths = [tree.path for tree in bodies]
    scene = replace(trees.scene(*bodies), mechanisms=((paths[0], paths[3]), (paths[4], paths[1])))
    assert mechanisms_of(scene) == ((0, 3), (1, 4), (2,))
    simulation = Simulation(scene, settings=SolverSettings(variant="scalar"))
    assert [group.members for group in simulation.run.groups] == [((0, 3), (1, 4)), ((2,),)]
    assert mechanisms_of(replace(scene, mechanisms=(tuple(paths[:2]), tuple(paths[1:3])))) == ((0, 1, 2), (3,), (4,))


def test_the_structure_of_a_mechanism():
    """Roots come first in the order of dofs, massless links last in that of links; rows join islands."""
    tree = tree_of(joined([forests.body("a"), forests.renamed(trees.chain(2, "revolute_y"), "b"), forests.body("c")]))
    assert tree.root_dofs == 12 and tree.dof_count == 14
    assert tree.first_dof[0] == 0 and tree.first_dof[-1] == 6
    assert tree.islands == (0, 1, 2) and tree.island_moves_freely == (True, True, True)
    row = replace(tree_of(forests.bouncing("d")).rows[0], dofs=(0, 12))
    assert replace(tree, rows=(row,)).islands == (0, 0, 1)
    assert replace(tree, rows=(row,)).island_moves_freely == (False, True)


def test_what_a_mechanism_cannot_be():
    """Unknown articulations, and such that a kinematic body carries; parts far apart are warned of."""
    bodies = [forests.body("a"), forests.body("b")]
    paths = tuple(tree.path for tree in bodies)
    with pytest.raises(DescriptionError, match="there is no articulation /World/nowhere"):
        Simulation(replace(trees.scene(*bodies), mechanisms=((paths[0], "/World/nowhere"),)))
    far = replace(bodies[1], links=(replace(bodies[1].links[0], pose=Pose((150.0, 0.0, 0.0))),))
    scene = replace(trees.scene(bodies[0], far), mechanisms=(paths,))
    found = [one for one in findings(scene) if one.rule == "mechanism-far"]
    assert [one.severity for one in found] == [Severity.WARNING] and "150 m" in found[0].message
