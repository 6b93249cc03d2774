"""Springs beyond ends of lengths, on mechanisms that float: what they do is part of the motion that steps expect."""

import numpy as np
import pytest

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.distance import Distance
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf

STIFFNESS = 30.0
"""[N/m], beyond an end that is passed all the time."""
POINTS = (Attachment(name="/World/root", link=0, position=(0.1, 0.0, 0.1), parent=None),)
POINTS += (Attachment(name="/World/leaf", link=2, position=(0.1, 0.0, -0.1), parent=0),)
ENDS = {
    "fixed tendon": {
        "fixed_tendons": (
            FixedTendon(
                name="/World/t",
                dofs=(0, 1),
                coefficients=(1.0, 2.0),
                force_coefficients=(1.0, 2.0),
                limit_stiffness=STIFFNESS / 30.0,
                lower=3.0,
            ),
        )
    },
    "spatial tendon": {
        "spatial_tendons": (
            SpatialTendon(
                name="/World/t",
                attachments=POINTS,
                leaves=(TendonLeaf(attachment=1, rest_length=0.0, upper=0.3),),
                limit_stiffness=STIFFNESS,
                all_segments=True,
            ),
        )
    },
    "distance": {
        "constraints": (
            Distance(
                name="/World/d",
                link0=0,
                link1=2,
                position0=POINTS[0].position,
                position1=POINTS[1].position,
                upper=0.3,
                is_soft=True,
                stiffness=STIFFNESS,
            ),
        )
    },
}


def motion(kind, dt):
    """Momentum [kg m/s] of three rods that float without weight, over 0.4 s, and where they are in the end."""
    tree = trees.replace(trees.chain(3, floating=True), **ENDS[kind])
    settings = SolverSettings(dt=dt, precision="float64")
    simulation = Simulation(trees.scene(tree, gravity=(0.0, 0.0, 0.0)), settings=settings)
    recording = simulation.record(steps=round(0.4 / dt))
    assert np.abs(recording.joint_position[-1]).max() > 0.5
    momentum = np.abs(recording.link_velocity[:, 0, :, :3].sum(axis=1)).max()
    return momentum, recording.link_pose[-1, 0, :, :3]


@pytest.mark.parametrize("kind", ENDS)
def test_steps_are_of_second_order(kind):
    """Nothing acts from outside: the momentum stays zero but for an error that falls with the square of the step.

    In longer steps, which turn by more than 0.02 rad, it is restored.
    """
    found = [motion(kind, dt) for dt in (1 / 1920, 1 / 3840, 1 / 7680)]
    (coarse, _), (middle, _), (fine, _) = found
    assert coarse > 3.4 * middle > 3.4 * 3.4 * fine and fine < 3e-5
    assert motion(kind, 1 / 240)[0] < 0.5 * 64.0 * coarse
    steps = [np.abs(one - two).max() for (_, one), (_, two) in zip(found, found[1:])]
    assert steps[0] > 3.0 * steps[1]
