"""Rope bridges, chains of planks that the world holds at both ends, with boxes that fall on them."""

import numpy as np

from tests.contact_stages import BOUND, COLLIDER, ContactScene, box
from tests.tracks import body, pin

PLANKS, LENGTH, REACH, HEIGHT, HALF = 12, 0.4, 0.97, 3.0, 0.03
"""Number of planks, distance of their pins [m], of the ends as a share of the length of all, height of the ends, and
half of the thickness of a plank [m]."""
SIDE = 0.15
"""Half of the side of a box [m]."""


def bend() -> float:
    """The angle between neighbours with which planks of a regular polygon reach from end to end [rad]."""
    angles = np.linspace(0.0, 0.2, 20001)
    turns = (PLANKS - 1) / 2.0 - np.arange(PLANKS)
    reach = np.cos(np.outer(angles, turns)).mean(axis=1)
    return float(np.interp(-REACH, -reach, angles))


def bridge(boxes: int, mass: float, drop: float) -> ContactScene:
    """Planks of 2 kg, and boxes of a mass [kg] that start above them, as high as the ends and `drop` [m] more."""
    angles = bend() * ((PLANKS - 1) / 2.0 - np.arange(PLANKS))
    steps = LENGTH * np.stack([np.cos(angles), 0.0 * angles, -np.sin(angles)], axis=1)
    ends = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]) + (-0.5 * REACH * PLANKS * LENGTH, 0.0, HEIGHT)
    shape = (
        f'def Cube "shape" {COLLIDER} {{\ndouble size = 2\nfloat3 xformOp:scale = (0.17, 0.4, {HALF})\n'
        f'uniform token[] xformOpOrder = ["xformOp:scale"]\n{BOUND}\n}}\n'
    )
    prims = ""
    for k in range(PLANKS):
        prims += body(f"plank{k}", 2.0, 0.1, 0.5 * (ends[k] + ends[k + 1]), shape, 0.0, angles[k])
    left, right = (-0.5 * LENGTH, 0.0, 0.0), (0.5 * LENGTH, 0.0, 0.0)
    prims += pin("left", ("", "plank0"), (ends[0], left))
    for k in range(PLANKS - 1):
        prims += pin(f"pin{k}", (f"plank{k}", f"plank{k + 1}"), (right, left))
    prims += pin("right", (f"plank{PLANKS - 1}", ""), (right, ends[-1]))
    places = 0.45 * (np.arange(boxes) - 0.5 * (boxes - 1))
    solids = [box(f"box{k}", SIDE, (x, 0.0, HEIGHT + drop), mass=mass) for k, x in enumerate(places.tolist())]
    return ContactScene(solids=solids, friction=0.6, joints=prims)


def least_height(found) -> np.ndarray:
    """How far each box is above the lowest plank at least, by centres, shape (boxes) [m]; `found` has link poses."""
    heights = found.link_pose[:, 0, :, 2]
    planks = [k for k, name in enumerate(found.link_names) if "plank" in name]
    boxes = [k for k, name in enumerate(found.link_names) if "/box" in name]
    return (heights[:, boxes] - heights[:, planks].min(axis=1, keepdims=True)).min(axis=0)
