"""What limits of three rotations bound: the twist and the swings of the rotation, not its vector."""

import numpy as np
import pytest

from warp_artic.description.joint import Axis, Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.description.limited_positions import cone_excess, limited_positions
from warp_artic.description.pose import (
    matrix_from_quaternion,
    quaternion_from_rotation_vector,
    rotation_vector_from_matrix,
)

AXES = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)


def ball(twist_axis: int, cone: ConeLimit | None = None) -> Joint:
    dofs = tuple(Dof(name=f"/ball:{axis.name}", axis=axis) for axis in AXES)
    return Joint(path="/ball", parent=-1, child=0, dofs=dofs, cone_axis=AXES[twist_axis], cone_limit=cone)


def vector_of(twist_axis: int, twist: float, swing) -> np.ndarray:
    """The rotation vector of a twist about an axis, then a swing about the two that follow it."""
    vectors = np.zeros((2, 3))
    vectors[0, twist_axis] = twist
    vectors[1, (twist_axis + 1) % 3], vectors[1, (twist_axis + 2) % 3] = swing
    turn, swung = (matrix_from_quaternion(quaternion_from_rotation_vector(one)) for one in vectors)
    return rotation_vector_from_matrix(swung @ turn)


@pytest.mark.parametrize("twist_axis", [0, 1, 2])
def test_a_rotation_is_taken_apart_as_it_was_put_together(twist_axis):
    """For any twist, any swing below half a turn, and none of either."""
    rng = np.random.default_rng(7)
    cases = [(0.0, (0.0, 0.0)), (3.0, (0.0, 0.0)), (0.0, (0.0, -2.0)), (-3.1, (1.0, 2.5))]
    for _ in range(50):
        angle, length = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, 3.0)
        cases.append((rng.uniform(-3.1, 3.1), (length * np.cos(angle), length * np.sin(angle))))
    joint = ball(twist_axis)
    vectors = np.array([vector_of(twist_axis, *case) for case in cases])
    found = limited_positions(joint, vectors)
    expected = np.array([[twist, *swing] for twist, swing in cases])
    np.testing.assert_allclose(found[:, [(twist_axis + k) % 3 for k in range(3)]], expected, atol=1e-9)


def test_a_cone_is_passed_in_the_direction_of_the_swing():
    """Of an ellipse, on its axes and between them; within it nothing is passed."""
    joint = ball(1, cone=ConeLimit(angle_1=0.5, angle_2=1.0))
    for swing, expected in (((0.7, 0.0), 0.2), ((0.0, -1.3), 0.3), ((0.6, 1.6), np.hypot(0.3, 0.8))):
        assert float(cone_excess(joint, vector_of(1, 0.9, swing))) == pytest.approx(expected, abs=1e-9)
    assert float(cone_excess(joint, vector_of(1, 0.9, (0.3, 0.3)))) < 0.0
    assert float(cone_excess(joint, np.zeros(3))) <= 0.0
