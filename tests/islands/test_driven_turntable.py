"""A turntable on a driven hinge carries what stands on it, among many bodies.

Points on links with joints were taken as they are at the start of a step: the box went outward with w^2 r h / 2, and
was thrown off at 60 Hz.
"""

import pytest

from tests.contacts.motion import PRECISIONS
from tests.islands.crowds import crowd_motion
from tests.turntable import ENDS, SPIN, creep, scene


@pytest.mark.parametrize("damping", [1e4, 30.0])
@pytest.mark.parametrize("rate, outward, along", [(60, 1.5e-4, 1.2e-3), (240, 1.5e-5, 1e-4)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_load_stays(precision, rate, outward, along, damping):
    """With a drive that is stiff for the step, and with one that is not."""
    found = creep(crowd_motion(scene(damping), ENDS, precision=precision, dt=1 / rate))
    assert found[2] == pytest.approx(SPIN, rel=2e-2)
    assert abs(found[0]) < outward
    assert abs(found[1]) < along
