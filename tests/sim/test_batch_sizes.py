"""From four environments on, each moves bitwise the same in a batch of any size, with no variant of kernels chosen.

`solver/test_determinism.py` has batches of one and of a thousand, with the variant of vectors.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from warp_artic import Simulation, SolverSettings, read_stage
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.start_pose import start_poses

PLACES = {4: (0, 1, 2, 3), 17: (16, 0, 7, 3), 100: (99, 52, 15, 31)}
"""Where the same four environments are in a batch of a size."""
STEPS = 20


def scene():
    """A tree with a row of every family, with loops and tendons, whose links lie on the ground."""
    tree = tree_of_every_family()
    poses = start_poses(tree)
    ground = Pose((0.0, 0.0, min(pose.position[2] for pose in poses) - 0.05))
    touches = tuple(
        ContactPair(
            name=f"/World/touch{link}",
            link0=WORLD,
            link1=link,
            shape0=Shape(path="/World/ground", kind=ShapeKind.PLANE, frame=ground),
            shape1=Shape(path=f"/World/ball{link}", kind=ShapeKind.SPHERE, radius=0.1),
            contact_distance=0.05,
        )
        for link in range(len(tree.links))
    )
    return trees.scene(trees.replace(tree, constraints=(*tree.constraints, *touches)))


def ends(environments, solver):
    """All arrays of the state of the four environments at the end of a run."""
    options = SolverSettings(solver=solver)
    simulation = Simulation(scene(), environments=environments, settings=options)
    position = simulation.state.joint_position.numpy().copy()
    velocity = np.random.default_rng(environments).normal(size=position.shape)
    velocity[:, PLACES[environments]] = np.random.default_rng(11).normal(size=(len(position), 4))
    simulation.set_state(joint_position=position.T, joint_velocity=velocity.T)
    simulation.step(STEPS)
    assert not simulation.failures()
    return {
        name: field.scalars.numpy()[:, PLACES[environments]].copy()
        for name, field in simulation.run.groups[0].state.items()
        if field.scalars.shape[0]
    }


@pytest.mark.parametrize("solver", ["direct", "pgs"])
def test_environments_are_bitwise_alike_in_batches_of_any_size(solver):
    """With contacts, loops and tendons at work."""
    wanted = ends(4, solver)
    assert (np.abs(wanted["contact_impulse"]).max(axis=0) > 0.0).all()
    for environments in (17, 100):
        for name, values in ends(environments, solver).items():
            np.testing.assert_array_equal(values, wanted[name], f"{name} among {environments}")


def test_energies_of_many_bodies_do_not_depend_on_how_many_environments_there_are():
    """Bitwise; they are summed in double precision, as NumPy does from the poses."""
    scene = read_stage(Path(__file__).parents[2] / "samples" / "scenes" / "pile.usda")
    found = []
    for environments in (1, 2, 5):
        simulation = Simulation(scene, environments=environments, settings=SolverSettings(variant="lanes"))
        rng = np.random.default_rng(4)
        simulation.set_state(
            root_velocity=np.tile(rng.normal(size=(1, len(scene.articulations), 6)), (environments, 1, 1))
        )
        recording = simulation.record(0, quantities=["energy", "link_pose"])
        found.append(recording.energy[0])
    assert all(np.array_equal(one, np.tile(found[0][0], (len(one), 1))) for one in found)
    links = [link for tree in scene.articulations for link in tree.links]
    centers = [
        Rotation.from_quat(pose[3:]).apply(link.center_of_mass) + pose[:3]
        for pose, link in zip(recording.link_pose[0, 0], links)
    ]
    masses = np.array([link.mass for link in links])
    assert found[0][0, 1] == pytest.approx(-masses @ np.array(centers) @ np.array(scene.gravity), rel=3e-7)
