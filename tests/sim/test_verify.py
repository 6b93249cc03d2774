"""`Simulation.verify`: identities hold on trees with everything, and each of them fails where a number is wrong."""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.constraints.test_spatial_tendon import random_tendon
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.tendon import FixedTendon
from warp_artic.sim.record.recorder import Recorder
from warp_artic.sim.suite.dynamics import Dynamics

OF_A_STATE = {
    "J v = velocities of links",
    "M = sum of J^T I J",
    "M is symmetric",
    "M is positive definite",
    "M M^-1 = 1, by condition of M",
    "armature is on the diagonal of M",
    "v M v / 2 = kinetic energy",
    "g = - J^T weights",
    "external force = - J^T wrenches",
    "M vdot + c + g = tau",
    "joint forces of joint accelerations",
    "A v = momentum of links",
    "parts of the forces of a step sum to zero",
    "forces by joints along axes = their parts",
}
OF_CONSTRAINTS = {"M vdot + c + g = tau + K lambda / dt", "lambda follows from laws of constraints"}
OF_TENDONS = {"K^T v = speeds of tendons", *OF_CONSTRAINTS}
OF_MOTION = {
    "a free motion keeps its energy",
    "weights alone change momentum",
    "weights alone change angular momentum",
}


def coupled_tree():
    """A floating tree whose tendons do the work of their speeds."""
    rng = np.random.default_rng(7)
    tree = trees.random_articulation(rng, 7, floating=True, kinds=("revolute_x", "prismatic_y", "spherical"))
    c = (0.1, -0.2)
    fixed = FixedTendon(name="/World/f", dofs=(0, 1), coefficients=c, force_coefficients=c, stiffness=50.0, damping=1.0)
    spatial = random_tendon(rng, 7, stiffness=20.0, damping=1.0, all_segments=True)
    return trees.replace(tree, fixed_tendons=(fixed,), spatial_tendons=(spatial,))


@pytest.mark.parametrize("solver", ["direct", "tgs"])
def test_they_hold_in_a_tree_with_every_family(solver):
    """In both precisions; twice the same."""
    tree = busy_tree(np.random.default_rng(3))
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(solver=solver))
    found = simulation.verify(states=3)
    assert [item for item in found if not item.holds] == []
    names = [(item.precision, item.identity) for item in found]
    expected = {(precision, name) for precision in ("float32", "float64") for name in OF_A_STATE | OF_CONSTRAINTS}
    assert expected | {("float64", name) for name in OF_MOTION} <= set(names) and len(names) == len(set(names))
    assert found == simulation.verify(states=3)


def test_tendons_and_several_articulations():
    """Each articulation has its lines, and the simulation stays where it is."""
    tree = coupled_tree()
    other = trees.random_articulation(5, 4, floating=False, path="/World/other")
    simulation = Simulation(trees.scene(tree, other), environments=2, settings=SolverSettings(precision="float64"))
    before = np.array(simulation.state.joint_position.numpy())
    found = simulation.verify(states=3, seed=4)
    assert [item for item in found if not item.holds] == []
    assert {item.identity for item in found if item.articulation == tree.path} == OF_A_STATE | OF_TENDONS | OF_MOTION
    others = {item.identity for item in found if item.articulation == other.path}
    assert others == OF_A_STATE | {"a free motion keeps its energy"}
    assert (simulation.state.joint_position.numpy() == before).all()


def wrong(method):
    """A method of the suite with a small error in the last entry of one state."""

    def disturbed(self, *arguments, **options):
        found = method(self, *arguments, **options)
        array = getattr(found, "impulse", found)
        values = array.numpy().copy()
        values[1].flat[-1] += 1e-3 * np.abs(values[1]).max()
        array.assign(values)
        return found

    return disturbed


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("jacobian", "J v = velocities of links"),
        ("mass_matrix", "M = sum of J^T I J"),
        ("mass_matrix", "v M v / 2 = kinetic energy"),
        ("mass_matrix_inverse", "M M^-1 = 1, by condition of M"),
        ("gravity_force", "g = - J^T weights"),
        ("coriolis_force", "M vdot + c + g = tau"),
        ("joint_acceleration", "M vdot + c + g = tau"),
        ("joint_force", "joint forces of joint accelerations"),
        ("external_force", "external force = - J^T wrenches"),
        ("coefficient_matrix", "K^T v = speeds of tendons"),
        ("constraint_impulses", "M vdot + c + g = tau + K lambda / dt"),
    ],
)
def test_an_error_is_found_and_its_place_named(name, identity, monkeypatch):
    tree = coupled_tree()
    monkeypatch.setattr(Dynamics, name, wrong(getattr(Dynamics, name)))
    found = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64")).verify(states=3)
    (item,) = [item for item in found if item.identity == identity]
    assert not item.holds and item.state == 1
    last = {"jacobian": tree.links[-1].path, "coefficient_matrix": tree.tendon_names[-1]}
    if identity not in ("v M v / 2 = kinetic energy", "M vdot + c + g = tau + K lambda / dt"):
        assert item.worst == last.get(name, tree.dofs[-1].name)


def test_a_wrong_force_of_a_joint_is_found(monkeypatch):
    taken = Recorder.recording

    def disturbed(self):
        recording = taken(self)
        recording.joint_tendon_force[1] *= 1.01
        return recording

    monkeypatch.setattr(Recorder, "recording", disturbed)
    found = Simulation(trees.scene(coupled_tree())).verify(states=3)
    assert [item.holds for item in found if item.identity.startswith("forces by joints")] == [False, False]


@pytest.mark.parametrize("options", [{"states": -1}, {"seed": 0.5}])
def test_wrong_arguments(options):
    with pytest.raises(SettingsError, match="is not an integer of at least 0"):
        Simulation(trees.scene(coupled_tree())).verify(**options)
