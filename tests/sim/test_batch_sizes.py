"""From four environments on, each moves bitwise the same in a batch of any size, with no variant of kernels chosen.

`solver/test_determinism.py` has batches of one and of a thousand, with the variant of vectors.
"""

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from warp_artic import Simulation, SolverSettings
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.start_pose import start_poses

PLACES = {4: (0, 1, 2, 3), 17: (16, 0, 7, 3), 100: (99, 52, 15, 31)}
"""Where the same four environments are in a batch of a size."""
STEPS = 8


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
