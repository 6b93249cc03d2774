"""A turntable on a driven hinge carries what stands on it, among many bodies.

Points on links with joints were taken as they are at the start of a step: the box went outward with w^2 r h / 2, and
was thrown off at 60 Hz.
"""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, cylinder
from tests.contacts.motion import PRECISIONS
from tests.islands.crowds import crowd_motion
from tests.usd.authoring import joint

RADIUS, SPIN = 0.3, 2.5
BEGINS, ENDS = 4.0, 9.0
"""Of what is measured: it spins up within two seconds [s]."""


def scene(damping: float) -> ContactScene:
    """A box on a table, which takes 0.38 of its friction."""
    hinge = joint(
        "hinge",
        "Revolute",
        "",
        "/World/table",
        'uniform token physics:axis = "Z"\npoint3f physics:localPos0 = (0, 0, -0.05)\n'
        f"float drive:angular:physics:damping = {float(np.radians(damping))!r}\n"
        f"float drive:angular:physics:targetVelocity = {float(np.degrees(SPIN))!r}\n"
        "float drive:angular:physics:maxForce = 6\n",
        ("PhysicsDriveAPI:angular",),
    )
    table = cylinder("table", 0.6, 0.05, (0.0, 0.0, -0.05), mass=20.0)
    load = box("load", 0.05, (RADIUS, 0.0, 0.05), mass=1.0)
    return ContactScene(solids=[table, load], joints=hinge, has_ground=False)


def creep(motion) -> tuple[float, float, float]:
    """The speed of the load on the table outward and along it [m/s], and that of the table [rad/s]."""
    steady = (motion.time > BEGINS) & (motion.time < ENDS)
    time, place, axis = motion.time[steady], motion.place("load")[steady], motion.axis("table", 0)[steady]
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    out, along = np.linalg.norm(place[:, :2], axis=1), np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    rates = [np.polyfit(time, one, 1)[0] for one in (out, along - turned, turned)]
    return rates[0], rates[1] * RADIUS, rates[2]


@pytest.mark.parametrize("damping", [1e4, 30.0])
@pytest.mark.parametrize("rate, outward, along", [(60, 1.5e-4, 1.2e-3), (240, 1.5e-5, 1e-4)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_load_stays(precision, rate, outward, along, damping):
    """With a drive that is stiff for the step, and with one that is not."""
    found = creep(crowd_motion(scene(damping), ENDS, precision=precision, dt=1 / rate))
    assert found[2] == pytest.approx(SPIN, rel=2e-2)
    assert abs(found[0]) < outward
    assert abs(found[1]) < along
