"""Random bodies on joints with limits, which fall onto the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.contact_stages import ContactScene, box, sphere


def chain(seed: int) -> ContactScene:
    """A row of 2 to 5 balls that do not touch each other."""
    rng = np.random.default_rng(seed)
    height, count, gap = rng.uniform(0.3, 0.8), int(rng.integers(2, 6)), 0.3
    places = [np.array([gap * k, 0.0, height]) for k in range(count)]
    throws = [{"velocity": tuple(rng.uniform(-1.0, 1.0, 3))}, *([{}] * (count - 1))]
    solids = [
        sphere(f"link{k}", 0.08, place, mass=float(rng.uniform(0.5, 2.0)), **throw)
        for k, (place, throw) in enumerate(zip(places, throws))
    ]
    joints = "".join(_hinge(rng, k, places, k - 1, "YZ", (0.0, 40.0)) for k in range(1, count))
    return ContactScene(solids=solids, joints=joints, friction=float(rng.uniform(0.0, 0.8)))


def tree(seed: int, tie: str = "") -> ContactScene:
    """A tree of 3 to 6 boxes and balls that are in each other, with masses from 0.2 to 5 kg.

    With a `tie` there is a "loop" between the first and the last one, or a "mimic" joint between the last two joints.
    """
    rng = np.random.default_rng(1000 + seed)
    places: list[np.ndarray] = []
    solids, joints = [], ""
    for k in range(int(rng.integers(3, 7))):
        parent = int(rng.integers(0, k)) if k else -1
        places.append(places[parent] + 0.12 * rng.normal(size=3) if k else np.array([0.0, 0.0, rng.uniform(0.4, 0.8)]))
        options = {"mass": float(10.0 ** rng.uniform(-0.7, 0.7))}
        if k == 0:
            options |= {"velocity": tuple(rng.uniform(-1.0, 1.0, 3)), "turning": tuple(rng.uniform(-2.0, 2.0, 3))}
        if rng.random() < 0.5:
            solids.append(box(f"link{k}", rng.uniform(0.04, 0.12, 3), places[k], **options))
        else:
            solids.append(sphere(f"link{k}", float(rng.uniform(0.05, 0.12)), places[k], **options))
        if k:
            joints += _hinge(rng, k, places, parent, "XYZ", (5.0, 60.0))
    friction = float(rng.uniform(0.0, 0.8))
    if tie == "loop":
        joints += _joint("Spherical", "loop", places, 0, len(places) - 1, "")
    if tie == "mimic":
        gear = float(rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0]))
        own, leader = (f"joint{len(places) - k}" for k in (1, 2))
        joints = joints.replace(
            f'"{own}" {{\n',
            f'"{own}" (prepend apiSchemas = ["NewtonMimicAPI"]) {{\n'
            f"rel newton:mimicJoint = </World/{leader}>\nfloat newton:mimicCoef1 = {gear}\n",
        )
    return ContactScene(solids=solids, joints=joints, friction=friction)


def _hinge(rng: np.random.Generator, child: int, places, parent: int, axes: str, most: tuple[float, float]) -> str:
    """Midway between two bodies, with limits on both sides of the start."""
    lower, upper = -rng.uniform(*most), rng.uniform(*most)
    return _joint(
        "Revolute",
        f"joint{child}",
        places,
        parent,
        child,
        f'uniform token physics:axis = "{rng.choice(list(axes))}"\n'
        f"float physics:lowerLimit = {lower}\nfloat physics:upperLimit = {upper}\n",
    )


def _joint(kind: str, name: str, places, parent: int, child: int, more: str) -> str:
    middle = 0.5 * (places[parent] + places[child])
    return (
        f'def Physics{kind}Joint "{name}" {{\n'
        f"rel physics:body0 = </World/link{parent}>\nrel physics:body1 = </World/link{child}>\n"
        f"point3f physics:localPos0 = {tuple((middle - places[parent]).tolist())}\n"
        f"point3f physics:localPos1 = {tuple((middle - places[child]).tolist())}\n{more}}}\n"
    )


def jammed_arm(friction: float) -> ContactScene:
    """A ball with an arm of two crossed hinges whose end, a box, is in the ball at the start."""
    places = {"ball": (0.0, 0.0, 0.2), "arm": (0.15, 0.0, 0.2), "tip": (0.2, 0.0, 0.1)}
    turning = np.array([0.7, 1.0, 0.4])
    solids = [
        sphere("ball", 0.2, places["ball"]),
        box("arm", (0.04, 0.02, 0.02), places["arm"]),
        box("tip", (0.02, 0.02, 0.04), places["tip"], mass=1.5),
    ]
    moving = [
        replace(one, turning=tuple(turning), velocity=tuple(np.cross(turning, np.array(one.position))))
        for one in solids
    ]
    joints = ""
    for number, (inner, outer, axis, anchor) in enumerate(
        (("ball", "arm", "Y", (0.05, 0.0, 0.2)), ("arm", "tip", "X", (0.2, 0.0, 0.2)))
    ):
        ends = [tuple(np.subtract(anchor, places[name]).tolist()) for name in (inner, outer)]
        joints += (
            f'def PhysicsRevoluteJoint "hinge{number}" {{\nuniform token physics:axis = "{axis}"\n'
            f"rel physics:body0 = </World/{inner}>\nrel physics:body1 = </World/{outer}>\n"
            f"point3f physics:localPos0 = {ends[0]}\npoint3f physics:localPos1 = {ends[1]}\n}}\n"
        )
    return ContactScene(solids=moving, joints=joints, friction=friction)
