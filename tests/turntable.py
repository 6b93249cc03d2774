"""A turntable on a driven hinge with a load on it, and how fast the load creeps."""

import numpy as np

from tests.contact_stages import ContactScene, box, cylinder
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
