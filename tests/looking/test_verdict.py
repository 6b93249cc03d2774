"""The verdict on a run, by recordings that are made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from warp_artic.cli.summary import _limits
from warp_artic.description.joint import Axis, Dof
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import (
    matrix_from_quaternion,
    quaternion_from_rotation_vector,
    rotation_vector_from_matrix,
)
from warp_artic.looking.verdict import verdict
from warp_artic.sim.record.recording import Recording

TWIST, SWING = Limit(lower=-0.5, upper=0.5), Limit(lower=-1.0, upper=1.0)


def judged(cone: ConeLimit | None, *poses: tuple[float, float, float]):
    """What is told of the limits of a ball joint that was at poses, each a twist and two swings [rad]."""
    limits = {Axis.ROT_X: TWIST} if cone else {Axis.ROT_X: TWIST, Axis.ROT_Y: SWING, Axis.ROT_Z: SWING}
    tree = trees.chain(1)
    dofs = tuple(
        Dof(name=f"/ball:{axis.name}", axis=axis, limit=limits.get(axis))
        for axis in (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
    )
    tree = replace(tree, joints=(replace(tree.joints[0], path="/ball", dofs=dofs, cone_limit=cone),))
    positions = []
    for twist, *swing in poses:
        turn, swung = (
            matrix_from_quaternion(quaternion_from_rotation_vector(one)) for one in ((twist, 0, 0), (0, *swing))
        )
        positions.append(rotation_vector_from_matrix(swung @ turn))
    scene = trees.scene(tree)
    recording = Recording(
        time=np.arange(len(poses)) / 10.0,
        joint_names=tuple(dof.name for dof in dofs),
        link_names=(),
        joint_position=np.array(positions)[:, None],
    )
    (found,) = [one for one in verdict(scene, recording) if one.what == "passed a hard joint limit"]
    return found, _limits(scene, recording)


def test_limits_of_three_rotations_are_of_twist_and_swings():
    """A limb in the corner of its limits has a rotation vector beyond them, and none is passed."""
    found, told = judged(None, (0.0, 0.0, 0.0), (0.4999, 0.9999, -0.9999), (-0.4999, 0.9999, 0.9999))
    assert found.holds and found.found == 0.0
    assert told == "all 3 hold"
    found, told = judged(None, (0.0, 0.0, 0.0), (0.3, 0.4, 1.25))
    assert (found.where, found.time) == ("/ball:ROT_Z", pytest.approx(0.1))
    assert found.found == pytest.approx(0.25) and told == "worst violation 14.3 deg at /ball:ROT_Z"


def test_cones_are_limits():
    """One that is passed is told by the name of its joint."""
    cone = ConeLimit(angle_1=0.6, angle_2=0.6)
    found, told = judged(cone, (0.4, 0.0, 0.59), (0.0, -0.3, 0.3))
    assert found.found == 0.0 and told == "all 2 hold"
    found, told = judged(cone, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.4, 0.6, 0.8))
    assert (found.where, found.found) == ("/ball", pytest.approx(0.4))
    assert told == "worst violation 22.9 deg at /ball"
