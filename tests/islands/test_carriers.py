"""What turns on a driven hinge carries what stands on it, rolls on it or is held by it, among many bodies.

Points on links with joints were taken as they are at the start of a step: a box on a turntable went outward with
w^2 r h / 2, and was thrown off at 60 Hz. And J of links was that of the middle, for points at the start: a load in a
gripper went inward with as much.
"""

import pytest

from tests.carriers import DAMPINGS, ENDS, SPIN, ball_on_table, creep, gripper, orbit, slip, turntable
from tests.contacts.motion import PRECISIONS
from tests.islands.crowds import crowd_motion


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("rate, outward, along", [(60, 1.5e-4, 1.2e-3), (240, 1.5e-5, 1e-4)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_load_stays(precision, rate, outward, along, damping):
    """With a drive that is stiff for the step, and with one that is not."""
    found = creep(crowd_motion(turntable(damping), ENDS, precision=precision, dt=1 / rate))
    assert found[2] == pytest.approx(SPIN, rel=2e-2)
    assert abs(found[0]) < outward
    assert abs(found[1]) < along


@pytest.mark.parametrize("damping", DAMPINGS)
def test_a_ball_goes_round(damping):
    """Without losing speed."""
    turns, change = orbit(crowd_motion(ball_on_table(damping), 6.0, precision="float64", dt=1 / 60))
    assert turns == pytest.approx(2.0 / 7.0 * SPIN, rel=4e-4)
    assert change < 2e-4


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("axis", "YZ")
def test_a_load_is_held(axis, damping):
    """It went inward in the hand with 11 mm/s."""
    assert slip(crowd_motion(gripper(damping, axis), 5.0, precision="float64")) < 2e-4
