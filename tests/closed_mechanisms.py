"""Mechanisms with loop joints that one can picture: published ones, and those of machines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
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


def five_bar(angles=(2.0, 1.0), crank=0.3, rod=0.45, ground=0.5) -> Articulation:
    """Two cranks on the ground and two rods that meet above them: two degrees of freedom."""
    feet = np.array([[0.0, 0.0], [ground, 0.0]])
    one, two = feet + crank * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    half = 0.5 * (two - one)
    along = half / np.linalg.norm(half)
    top = one + half + np.sqrt(rod**2 - half @ half) * np.array([-along[1], along[0]])
    first, second = (float(np.arctan2(*(end - start)[::-1])) for start, end in ((one, top), (top, two)))
    return Articulation(
        path="/f",
        links=(
            *(bar(f"/f/{name}", 0.4, crank, 0.02) for name in ("a", "b")),
            bar("/f/c", 0.5, rod),
            bar("/f/d", 0.5, rod),
        ),
        joints=(
            hinge("/f/1", WORLD, 0, position=angles[0]),
            hinge("/f/2", 0, 2, (crank, 0, 0), first - angles[0]),
            hinge("/f/3", 2, 3, (rod, 0, 0), second - first),
            hinge("/f/4", WORLD, 1, (ground, 0, 0), angles[1]),
        ),
        constraints=(
            LoopJoint(name="/f/5", link0=3, link1=1, frame0=Pose((rod, 0, 0)), frame1=Pose((crank, 0, 0)), free=PIN),
        ),
    )


def coupled_cranks(count, angle=0.9, off=0.0, speed=0.0) -> Articulation:
    """Equal cranks in a row on one rod, as wheels of a locomotive: one dof, and all loops but one are redundant.

    The places of their joints are wrong by up to `off` [m] along x and y, as rounding of authored numbers makes them.
    """
    wrong = np.random.default_rng(0).uniform(-off, off, (count, 2, 2))
    first = Pose((*wrong[0, 1], 0.0))
    links, loops = [bar("/w/crank_0", 1.0, 0.5), bar("/w/rod", 2.0, 1.0)], []
    joints = [hinge("/w/axle", WORLD, 0, position=angle, velocity=speed)]
    joints.append(hinge("/w/pin_0", 0, 1, (0.5, 0, 0), -angle, -speed))
    for k in range(1, count):
        place = k / (count - 1)
        links.append(bar(f"/w/crank_{k}", 1.0, 0.5))
        pin = hinge(f"/w/pin_{k}", 1, k + 1, (place, 0, 0), angle, speed)
        joints.append(replace(pin, child_frame=Pose((0.5, 0.0, 0.0))))
        at = Pose((place + wrong[k, 0, 0], wrong[k, 0, 1], 0.0)), Pose((*wrong[k, 1], 0.0))
        loops.append(LoopJoint(name=f"/w/axle_{k}", link0=WORLD, link1=k + 1, frame0=at[0], frame1=at[1], free=PIN))
    joints[0] = replace(joints[0], child_frame=first)
    return Articulation(path="/w", links=tuple(links), joints=tuple(joints), constraints=tuple(loops))


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


def truss(bays: int = 6, free=PIN) -> Articulation:
    """A bridge of triangles of bars of 1 m and 1 kg, pinned to the world at its first node, on a roller at its last.

    A spanning tree of bars, and a loop joint for each other bar, which leaves free at its end what `free` says.
    """
    nodes = [np.array([k / 2.0, k % 2 * np.sqrt(0.75)]) for k in range(2 * bays + 1)]
    links, joints, loops = [], [], []
    reached = {0: (WORLD, (0.0, 0.0, 0.0), 0.0)}
    for first, last in sorted((k, k + step) for step in (1, 2) for k in range(2 * bays + 1 - step)):
        x, y = nodes[last] - nodes[first]
        angle, link = float(np.arctan2(y, x)), len(links)
        parent, place, base = reached[first]
        links.append(bar(f"/t/bar_{link}", 1.0, 1.0))
        joints.append(hinge(f"/t/pin_{link}", parent, link, place, angle - base))
        end = Pose((1.0, 0.0, 0.0))
        if last in reached:
            other, at, _ = reached[last]
            loop = LoopJoint(name=f"/t/close_{link}", link0=other, link1=link, frame0=Pose(at), frame1=end, free=free)
            loops.append(loop)
        else:
            reached[last] = link, end.position, angle
    other, at, _ = reached[2 * bays]
    ground = Pose((float(bays), 0.0, 0.0))
    rolls = {"link0": WORLD, "link1": other, "frame0": ground, "frame1": Pose(at), "free": (Axis.TRANS_X, *free)}
    loops.append(LoopJoint(name="/t/roller", **rolls))
    return Articulation(path="/t", links=tuple(links), joints=tuple(joints), constraints=tuple(loops))


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


def squeezer() -> Articulation:
    """Andrews' squeezing mechanism: seven bodies in a plane; a torque of `SQUEEZER_TORQUE` drives its crank.

    Data of Hairer and Wanner, Solving Ordinary Differential Equations II, section VI.9, and of the test set for IVP
    solvers. Its angles beta, Theta, gamma, delta, Phi, epsilon, Omega are those of the joints in their order.
    """
    beta, theta, gamma, phi, delta, omega, epsilon = SQUEEZER_START
    A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    rr, d, ss, zt, zf, u, e = 0.007, 0.028, 0.035, 0.04, 0.02, 0.04, 0.02

    def body(number, mass, inertia, x, y):
        small = 1e-6 * inertia
        return Link(
            path=f"/q/K{number}", mass=mass, inertia=(small, 0, 0, small, 0, inertia), center_of_mass=(x, y, 0.0)
        )

    links = (
        body(1, 0.04325, 2.194e-6, 0.00092, 0.0),
        body(2, 0.00365, 4.410e-7, -0.0115, 0.0),
        body(3, 0.02373, 5.255e-6, 0.01043, -0.01874),
        body(5, 0.07050, 1.169e-5, 0.02308, 0.00916),
        body(4, 0.00706, 5.667e-7, 0.0, -(e - 0.01421)),
        body(7, 0.05498, 1.912e-5, 0.00449, -0.01228),
        body(6, 0.00706, 5.667e-7, zf - 0.01421, 0.0),
        Link(path="/q/ground", mass=1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0)),
    )
    joints = (
        hinge("/q/beta", WORLD, 0, position=beta),
        hinge("/q/theta", 0, 1, (rr, 0, 0), theta),
        hinge("/q/gamma", WORLD, 2, B, gamma),
        hinge("/q/delta", WORLD, 3, A, delta),
        hinge("/q/phi", 3, 4, (zt, 0, 0), phi),
        hinge("/q/epsilon", WORLD, 5, A, epsilon),
        hinge("/q/omega", 5, 6, (0, -u, 0), omega),
        Joint(path="/q/fixed", parent=WORLD, child=7, dofs=()),
    )
    E = {2: (0.0, -ss, 0.0), 4: (0.0, -e, 0.0), 6: (zf, 0.0, 0.0)}
    pins = tuple(
        LoopJoint(name=f"/q/E{k}", link0=1, link1=k, frame0=Pose((-d, 0.0, 0.0)), frame1=Pose(place), free=PIN)
        for k, place in E.items()
    )
    spring = Distance(
        name="/q/spring", link0=7, link1=2, position0=C, position1=(0.02, -0.018, 0.0), lower=0.07785, upper=0.07785,
        is_soft=True, stiffness=4530.0,
    )  # fmt: skip
    return Articulation(path="/q", links=links, joints=joints, constraints=(*pins, spring))


SQUEEZER_START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
    -0.222668390165885885, 1.23054744454982119,
)  # fmt: skip
"""beta, Theta, gamma, Phi, delta, Omega, epsilon of the squeezing mechanism at the start [rad]."""
SQUEEZER_END = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226499, 0.5244099658805304,
    0.5347301163226499, 1.048080741042263,
)  # fmt: skip
"""The same after 0.03 s, by the test set for IVP solvers."""
SQUEEZER_TORQUE = 0.033
"""[N m]"""


def stewart_platform(speed=0.5) -> Articulation:
    """A platform on six legs, each a universal joint, a slide and a ball; all but the first close loops."""
    around, across = np.radians([-10, 10, 110, 130, 230, 250]), np.radians([-50, 50, 70, 170, 190, 290])
    low = [np.array([0.6 * np.cos(a), 0.6 * np.sin(a), 0.0]) for a in around]
    high = [np.array([0.35 * np.cos(a), 0.35 * np.sin(a), 0.8]) for a in across]
    links, joints, loops = [], [], []
    center = np.array([0.0, 0.0, 0.8])
    for k, (foot, head) in enumerate(zip(low, high)):
        along = head - foot
        length = float(np.linalg.norm(along))
        axis = np.cross([0.0, 0.0, 1.0], along / length)
        sine = np.linalg.norm(axis)
        turn = axis / sine * np.arctan2(sine, along[2] / length)
        frame = Pose(tuple(map(float, foot)), quaternion_from_rotation_vector(turn))
        for part, middle in (("lower", 0.25), ("upper", -0.2)):
            rod = {"mass": 0.5, "inertia": (0.01, 0.0, 0.0, 0.01, 0.0, 1e-4), "center_of_mass": (0.0, 0.0, middle)}
            links.append(Link(path=f"/w/{part}_{k}", **rod))
        dofs = tuple(Dof(name=f"/w/foot_{k}:{one.value}", axis=one) for one in (Axis.ROT_X, Axis.ROT_Y))
        joints.append(Joint(path=f"/w/foot_{k}", parent=WORLD, child=2 * k, parent_frame=frame, dofs=dofs))
        joints.append(hinge(f"/w/slide_{k}", 2 * k, 2 * k + 1, position=length, velocity=speed, axis=Axis.TRANS_Z))
        if k == 0:
            back = Pose((0.0, 0.0, 0.0), quaternion_from_rotation_vector(-turn))
            balls = tuple(Dof(name=f"/w/head:{one.value}", axis=one) for one in BALL)
            head_frame = Pose(tuple(map(float, head - center)))
            joints.append(
                Joint(path="/w/head", parent=1, child=12, parent_frame=back, child_frame=head_frame, dofs=balls)
            )
        else:
            spot = Pose(tuple(map(float, head - center)))
            loops.append(LoopJoint(name=f"/w/close_{k}", link0=12, link1=2 * k + 1, frame0=spot, free=BALL))
    links.append(Link(path="/w/platform", mass=5.0, inertia=(0.2, 0.0, 0.0, 0.2, 0.0, 0.35)))
    return Articulation(path="/w", links=tuple(links), joints=tuple(joints), constraints=tuple(loops))


GOVERNOR_SPIN = 2.0 * np.pi
"""Of the shaft of the governor at the start [rad/s]."""
GOVERNOR_TILT = np.radians(30.0)
"""Of its rods below level at the start [rad]."""
GOVERNOR_REACH = 0.05
"""From the axis of its shaft to the hinges of its rods, and of what joins these to the slider [m]."""


def box(path: str, mass: float, sides, center=(0.0, 0.0, 0.0)) -> Link:
    """A homogeneous box with its sides along the axes."""
    x, y, z = (mass * side**2 / 12.0 for side in sides)
    return Link(path=path, mass=mass, inertia=(y + z, 0.0, 0.0, x + z, 0.0, x + y), center_of_mass=center)


def governor(is_stiff: bool) -> Articulation:
    """The flyball governor of the benchmark library of the IFToMM (A05): a shaft along z, a slider on it, two rods.

    Rods of 1 m hang on the top of the shaft, with 5 kg at their ends; from their middles spring-dampers lead to the
    slider, or bars of 0.5 m of the same make, which close two loops. All is of 3000 kg/m^3; rods are 0.01 m thick.
    """
    tilt, reach = GOVERNOR_TILT, GOVERNOR_REACH
    links = [box("/g/shaft", 0.3, (0.01, 0.01, 1.0), (0.0, 0.0, 0.5)), box("/g/slider", 3.0, (0.1, 0.1, 0.1))]
    spin = hinge("/g/spin", WORLD, 0, velocity=GOVERNOR_SPIN)
    joints = [spin, hinge("/g/slide", 0, 1, (0, 0, 0.5), axis=Axis.TRANS_Z)]
    constraints = []
    for side in range(2):
        # Its x leads outward; a rotation about y tilts it down.
        outward = quaternion_from_rotation_vector((0.0, 0.0, np.pi * side))
        top = Pose(tuple(outward_of(side, reach, 1.0)), outward)
        rod, ball = box(f"/g/rod_{side}", 0.3, (1.0, 0.01, 0.01)), 5.0
        thick, long, mass, center = rod.inertia[0], rod.inertia[3], 0.3 + ball, (0.15 + ball) / (0.3 + ball)
        long += 0.3 * (center - 0.5) ** 2 + ball * (1.0 - center) ** 2
        inertia = (thick, 0.0, 0.0, long, 0.0, long)
        links.append(Link(path=rod.path, mass=mass, inertia=inertia, center_of_mass=(center, 0.0, 0.0)))
        own = len(links) - 1
        dof = Dof(name=f"/g/top_{side}", axis=Axis.ROT_Y, position=float(tilt))
        joints.append(Joint(path=dof.name, parent=0, child=own, parent_frame=top, dofs=(dof,)))
        foot = tuple(outward_of(side, reach, 0.0))
        if is_stiff:
            constraints.append(
                Distance(
                    name=f"/g/spring_{side}",
                    link0=1,
                    link1=own,
                    position0=foot,
                    position1=(0.5, 0.0, 0.0),
                    lower=0.5,
                    upper=0.5,
                    is_soft=True,
                    stiffness=8e5,
                    damping=4e4,
                )  # fmt: skip
            )
        else:
            # From the middle of the rod to the slider: turned back to level, and down and inward by the tilt.
            links.append(box(f"/g/bar_{side}", 0.15, (0.5, 0.01, 0.01), (0.25, 0.0, 0.0)))
            bend = float(np.pi - 2.0 * tilt)
            joints.append(hinge(f"/g/middle_{side}", own, own + 1, (0.5, 0, 0), bend, axis=Axis.ROT_Y))
            constraints.append(
                LoopJoint(
                    name=f"/g/foot_{side}",
                    link0=1,
                    link1=own + 1,
                    frame0=Pose(foot, outward),
                    frame1=Pose((0.5, 0.0, 0.0)),
                    free=(Axis.ROT_Y,),
                )  # fmt: skip
            )
    return Articulation(path="/g", links=tuple(links), joints=tuple(joints), constraints=tuple(constraints))


def outward_of(side: int, reach: float, height: float) -> np.ndarray:
    """A point on a side of the governor."""
    return np.array([reach * (1.0 - 2.0 * side), 0.0, height])


def loose_chain(count: int, length: float = 0.1, load: float = 0.0) -> tuple[Articulation, ...]:
    """Free bodies along x, each joined to the one before by a ball as a loop joint, the first one to the world.

    The last one is heavier by a load [kg].
    """
    found = []
    for k in range(count):
        link = bar(f"/c{k}/body", 0.1, length, 0.02)
        link = Link(
            path=link.path,
            mass=link.mass + load * (k == count - 1),
            inertia=link.inertia,
            center_of_mass=link.center_of_mass,
            pose=Pose((length * k, 0.0, 0.0)),
        )
        ends = {"link1": 0, "free": BALL}
        if k == 0:
            own = (LoopJoint(name="/c0/ball", link0=WORLD, **ends),)
        else:
            own = ()
        found.append(Articulation(path=f"/c{k}", links=(link,), joints=(), constraints=own))
    for k in range(count - 1):
        ball = LoopJoint(
            name=f"/c{k}/next",
            link0=0,
            link1=0,
            articulation1=f"/c{k + 1}",
            frame0=Pose((length, 0.0, 0.0)),
            free=BALL,
        )
        one = found[k]
        found[k] = Articulation(path=one.path, links=one.links, joints=(), constraints=(*one.constraints, ball))
    return tuple(found)
