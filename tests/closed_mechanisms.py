"""Mechanisms with loop joints that one can picture: published ones, and those of machines."""

from __future__ import annotations

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

PIN = (Axis.ROT_Z,)
BALL = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
DOWN = (0.0, -9.81, 0.0)
"""Gravity of mechanisms in the plane of x and y [m/s^2]."""


def bar(path: str, mass: float, length: float, width: float = 1e-3) -> Link:
    """A thin rod from its origin along x."""
    I = mass * length**2 / 12.0  # noqa: E741 (moment of inertia)
    inertia = (mass * width**2, 0.0, 0.0, I, 0.0, I)
    return Link(path=path, mass=mass, inertia=inertia, center_of_mass=(0.5 * length, 0.0, 0.0))


def hinge(path, parent, child, place=(0.0, 0.0, 0.0), position=0.0, velocity=0.0, axis=Axis.ROT_Z) -> Joint:
    """A joint with one dof at a place on its parent."""
    dof = Dof(name=path, axis=axis, position=float(position), velocity=float(velocity))
    return Joint(path=path, parent=parent, child=child, parent_frame=Pose(tuple(map(float, place))), dofs=(dof,))


def slider_crank(crank=0.2, rod=0.4, angle=0.3, speed=0.0, masses=(0.2, 0.4, 0.5), free=PIN) -> Articulation:
    """Crank and rod as a chain, the slider on the ground, closed between the last two."""
    lean = -np.arcsin(crank * np.sin(angle) / rod)
    lean_rate = -crank * np.cos(angle) * speed / (rod * np.cos(lean))
    place = crank * np.cos(angle) + rod * np.cos(lean)
    rate = -crank * np.sin(angle) * speed - rod * np.sin(lean) * lean_rate
    slider = Link(path="/s/slider", mass=masses[2], inertia=(1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-3))
    return Articulation(
        path="/s",
        links=(bar("/s/crank", masses[0], crank), bar("/s/rod", masses[1], rod), slider),
        joints=(
            hinge("/s/a", WORLD, 0, position=angle, velocity=speed),
            hinge("/s/b", 0, 1, (crank, 0, 0), lean - angle, lean_rate - speed),
            hinge("/s/c", WORLD, 2, (0, 0, 0), place, rate, Axis.TRANS_X),
        ),
        constraints=(LoopJoint(name="/s/d", link0=1, link1=2, frame0=Pose((rod, 0.0, 0.0)), free=free),),
    )


def parallelogram(angle=0.5, speed=0.0, length=0.3, ground=0.5) -> Articulation:
    """Two equal cranks and a coupler as long as the ground: flat at 0 and at half a turn."""
    return Articulation(
        path="/p",
        links=(bar("/p/one", 0.3, length), bar("/p/coupler", 0.5, ground), bar("/p/two", 0.3, length)),
        joints=(
            hinge("/p/a", WORLD, 0, position=angle, velocity=speed),
            hinge("/p/b", 0, 1, (length, 0, 0), -angle, -speed),
            hinge("/p/c", WORLD, 2, (ground, 0, 0), angle, speed),
        ),
        constraints=(
            LoopJoint(
                name="/p/d", link0=1, link1=2, frame0=Pose((ground, 0, 0)), frame1=Pose((length, 0, 0)), free=PIN
            ),
        ),
    )


def many_four_bars(count: int, speed: float = 1.0) -> Articulation:
    """`count` squares of bars of 1 m and 1 kg side by side, upright, whose upper joints move along x [m/s].

    Of the benchmark library of the IFToMM (A02): each upright turns alike, and all lie in a line when they lie flat.
    """
    links, joints, loops = [], [], []
    for k in range(count + 1):
        links.append(bar(f"/n/upright_{k}", 1.0, 1.0))
        joints.append(hinge(f"/n/foot_{k}", WORLD, len(links) - 1, (k, 0, 0), 0.5 * np.pi, -speed))
        if k < count:
            links.append(bar(f"/n/beam_{k}", 1.0, 1.0))
            joints.append(hinge(f"/n/knee_{k}", len(links) - 2, len(links) - 1, (1, 0, 0), -0.5 * np.pi, speed))
    for k in range(count):
        ends = {"frame0": Pose((1.0, 0.0, 0.0)), "frame1": Pose((1.0, 0.0, 0.0))}
        loops.append(LoopJoint(name=f"/n/close_{k}", link0=2 * k + 1, link1=2 * k + 2, free=PIN, **ends))
    return Articulation(path="/n", links=tuple(links), joints=tuple(joints), constraints=tuple(loops))


def spatial_four_bar(coupler: str = "spherical", speed: float = 6.0) -> Articulation:
    """A crank about z and a rocker about y, coupled by a bar with a ball at its far end (RSSR, or RUSR).

    The near end of the bar is a ball joint or a universal joint ("universal"); its velocity is found by a first step.
    """
    crank, rocker, foot, tip = 0.15, 0.4, np.array([0.5, 0.1, -0.4]), np.array([0.0, 0.0, 0.4])
    start, end = np.array([crank, 0.0, 0.0]), foot + tip
    along = end - start
    length = float(np.linalg.norm(along))
    axis = np.cross([1.0, 0.0, 0.0], along / length)
    sine = np.linalg.norm(axis)
    turn = axis / sine * np.arctan2(sine, along[0] / length)
    frame = Pose(tuple(start), quaternion_from_rotation_vector(turn))
    axes = {"spherical": BALL, "universal": (Axis.ROT_Y, Axis.ROT_Z)}[coupler]
    dofs = tuple(Dof(name=f"/r/b:{one.value}", axis=one) for one in axes)
    post = Link(path="/r/rocker", mass=0.5, inertia=(0.007, 0, 0, 0.007, 0, 1e-4), center_of_mass=(0, 0, 0.2))
    return Articulation(
        path="/r",
        links=(bar("/r/crank", 0.4, crank), bar("/r/coupler", 0.3, length, 0.02), post),
        joints=(
            hinge("/r/a", WORLD, 0, velocity=speed),
            Joint(path="/r/b", parent=0, child=1, parent_frame=frame, dofs=dofs),
            hinge("/r/c", WORLD, 2, foot, axis=Axis.ROT_Y),
        ),
        constraints=(
            LoopJoint(
                name="/r/d",
                link0=1,
                link1=2,
                frame0=Pose((length, 0.0, 0.0)),
                frame1=Pose((0.0, 0.0, rocker)),
                free=BALL,
            ),
        ),
    )
