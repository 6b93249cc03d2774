"""What turns on a driven hinge and carries something: a turntable with a load or a ball, and a gripper."""

import numpy as np
from scipy.spatial.transform import Rotation

from tests.contact_stages import ContactScene, box, cylinder, sphere
from tests.contacts.motion import Motion
from tests.usd.authoring import joint

RADIUS, SPIN = 0.3, 2.5
BEGINS, ENDS = 4.0, 9.0
"""Of what is measured: it spins up within two seconds [s]."""
DAMPINGS = (1e4, 30.0)
"""Of the drive of the hinge: one that is stiff for a step, and one that is not [N m s]."""


def hinge(body: str, at, anchor, damping: float, speed: float, most: float, axis: str = "Z") -> str:
    """A hinge on the world with a drive that keeps a speed [rad/s]."""
    return joint(
        "hinge",
        "Revolute",
        "",
        body,
        f'uniform token physics:axis = "{axis}"\n'
        f"point3f physics:localPos0 = {tuple(at)}\npoint3f physics:localPos1 = {tuple(anchor)}\n"
        f"float drive:angular:physics:damping = {float(np.radians(damping))!r}\n"
        f"float drive:angular:physics:targetVelocity = {float(np.degrees(speed))!r}\n"
        f"float drive:angular:physics:maxForce = {most!r}\n",
        ("PhysicsDriveAPI:angular",),
    )


def turntable(damping: float) -> ContactScene:
    """A box on a table, which takes 0.38 of its friction."""
    table = cylinder("table", 0.6, 0.05, (0.0, 0.0, -0.05), mass=20.0)
    load = box("load", 0.05, (RADIUS, 0.0, 0.05), mass=1.0)
    joints = hinge("/World/table", (0, 0, -0.05), (0, 0, 0), damping, SPIN, 6.0)
    return ContactScene(solids=[table, load], joints=joints, has_ground=False)


def creep(motion: Motion) -> tuple[float, float, float]:
    """The speed of the load on the table outward and along it [m/s], and that of the table [rad/s]."""
    steady = (motion.time > BEGINS) & (motion.time < ENDS)
    time, place, axis = motion.time[steady], motion.place("load")[steady], motion.axis("table", 0)[steady]
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    out, along = np.linalg.norm(place[:, :2], axis=1), np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    rates = [np.polyfit(time, one, 1)[0] for one in (out, along - turned, turned)]
    return rates[0], rates[1] * RADIUS, rates[2]


def ball_on_table(damping: float) -> ContactScene:
    """A ball that begins without spin, on a table that spins up at once and is too heavy to be slowed down."""
    table = cylinder("table", 2.0, 0.05, (0.0, 0.0, -0.05), mass=5e4)
    ball = sphere("ball", 0.1, (0.5, 0.0, 0.1), velocity=(0.0, 0.3, 0.0), mass=0.5)
    joints = hinge("/World/table", (0, 0, -0.05), (0, 0, 0), 1e5 * damping, SPIN, 1e12)
    return ContactScene(solids=[table, ball], joints=joints, has_ground=False, friction=0.8)


def orbit(motion: Motion) -> tuple[float, float]:
    """How fast the velocity of the ball turns [rad/s], and how much its speed changes, as a share of it.

    A ball of even density that rolls on a turntable goes round in a circle with 2/7 of its angular velocity
    (Weckesser, A ball rolling on a freely spinning turntable (1997)).
    """
    rolls = motion.time > 1.0
    v = motion.velocity("ball")[rolls, :2]
    speed = np.linalg.norm(v, axis=1)
    return np.polyfit(motion.time[rolls], np.unwrap(np.arctan2(v[:, 1], v[:, 0])), 1)[0], np.ptp(speed) / speed.mean()


def gripper(damping: float, axis: str) -> ContactScene:
    """A hand that turns about an axis and holds a load of 1 kg between two fingers with 60 N."""
    hand = box("hand", (0.05, 0.15, 0.05), (0.35, 0.0, 1.0), mass=2.0)
    fingers = [
        box(f"finger_{k}", (0.06, 0.01, 0.04), (0.5, side * 0.07, 1.0), mass=0.3) for k, side in enumerate((1, -1))
    ]
    load = box("load", (0.04, 0.06, 0.03), (0.5, 0.0, 1.0), mass=1.0)
    joints = hinge("/World/hand", (0, 0, 1), (-0.35, 0, 0), damping, 4.0, 1e6, axis)
    for k, side in enumerate((1, -1)):
        joints += joint(
            f"slide_{k}",
            "Prismatic",
            "/World/hand",
            f"/World/finger_{k}",
            'uniform token physics:axis = "Y"\npoint3f physics:localPos0 = (0.15, 0, 0)\n'
            f"point3f physics:localPos1 = (0, {-0.07 * side}, 0)\n"
            "float drive:linear:physics:stiffness = 1200\nfloat drive:linear:physics:damping = 20\n"
            f"float drive:linear:physics:targetPosition = {-0.05 * side}\n",
            ("PhysicsDriveAPI:linear",),
        )
    return ContactScene(solids=[hand, *fingers, load], joints=joints, has_ground=False, friction=0.6)


def slip(motion: Motion) -> float:
    """How fast the load moves in the hand once this turns evenly [m/s]."""
    steady = motion.time > 1.5
    hand = Rotation.from_matrix(np.stack([motion.axis("hand", k)[steady] for k in range(3)], axis=2))
    place = hand.inv().apply(motion.place("load")[steady] - motion.place("hand")[steady])
    return float(np.linalg.norm(np.polyfit(motion.time[steady], place, 1)[0]))
