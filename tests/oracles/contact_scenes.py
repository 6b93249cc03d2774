"""Problems of contacts in one step to try solvers on: stacks, a biped, a grasp, a box in a groove, a pile of balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.oracles import rigid
from tests.oracles.contact_problem import ContactProblem
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose

STEP = 1.0 / 240.0
"""Of all problems [s]."""
GRAVITY = 9.81


@dataclass(frozen=True, kw_only=True)
class Body:
    """A free body, axes of the world."""

    mass: float
    inertia: np.ndarray
    """About the centre of mass, shape (3, 3)."""
    position: np.ndarray
    velocity: np.ndarray
    """Linear, then angular, shape (6)."""
    load: np.ndarray
    """Force, then torque, beside gravity, shape (6)."""


@dataclass(frozen=True, kw_only=True)
class Touch:
    """A contact of two bodies."""

    other: int
    """The body that the normal leaves; WORLD for the ground."""
    body: int
    """The body that the normal points to."""
    point: np.ndarray
    normal: np.ndarray
    friction: float
    gap: float = 0.0


def frame(normal: np.ndarray) -> np.ndarray:
    """The unit normal and two tangents at right angles, rows of a matrix (3, 3)."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    t = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    t /= np.linalg.norm(t)
    return np.stack([n, t, np.cross(n, t)])


def free_bodies(bodies: Sequence[Body], touches: Sequence[Touch]) -> ContactProblem:
    """One step of free bodies under gravity and their loads."""
    size = 6 * len(bodies)
    M, free = np.zeros((size, size)), np.zeros(size)
    for k, body in enumerate(bodies):
        part = slice(6 * k, 6 * k + 6)
        M[part, part][:3, :3] = body.mass * np.eye(3)
        M[part, part][3:, 3:] = body.inertia
        free[part] = body.velocity + STEP * np.linalg.solve(M[part, part], body.load)
        free[6 * k + 2] -= STEP * GRAVITY
    J = np.zeros((3 * len(touches), size))
    for k, touch in enumerate(touches):
        axes = frame(touch.normal)
        for index, sign in ((touch.body, 1.0), (touch.other, -1.0)):
            if index != WORLD:
                arm = touch.point - bodies[index].position
                J[3 * k : 3 * k + 3, 6 * index : 6 * index + 6] = sign * np.hstack([axes, np.cross(arm, axes)])
    return ContactProblem(
        mass=M,
        jacobian=J,
        free_velocity=free,
        target=np.array([-max(touch.gap, 0.0) / STEP for touch in touches]),
        friction=np.array([touch.friction for touch in touches]),
    )


def cube(mass: float, position, edge: float = 1.0, velocity=np.zeros(6), load=np.zeros(6)) -> Body:
    """A cube with edges of `edge` [m]."""
    inertia = mass * edge**2 / 6.0 * np.eye(3)
    return Body(mass=mass, inertia=inertia, position=np.asarray(position, float), velocity=velocity, load=load)


def ball(mass: float, position, radius: float, velocity=np.zeros(6), load=np.zeros(6)) -> Body:
    """A full ball."""
    inertia = 0.4 * mass * radius**2 * np.eye(3)
    return Body(mass=mass, inertia=inertia, position=np.asarray(position, float), velocity=velocity, load=load)


def stack(masses: Sequence[float], rng: np.random.Generator | None = None, push: float = 0.0, friction: float = 0.5):
    """Cubes of 1 m on each other, from below, at rest; pushed at random by about the share `push` of their weight."""
    bodies, touches = [], []
    for k, mass in enumerate(masses):
        load = np.zeros(6)
        if rng is not None:
            load[:2], load[3:] = push * mass * GRAVITY * rng.normal(size=2), push * mass * 0.3 * rng.normal(size=3)
        bodies.append(cube(mass, (0.0, 0.0, 0.5 + k), load=load))
        for x, y in ((-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)):
            point = np.array([x, y, float(k)])
            below = k - 1 if k else WORLD
            touches.append(Touch(other=below, body=k, point=point, normal=np.array([0, 0, 1.0]), friction=friction))
    return free_bodies(bodies, touches)


def heavy_on_light(ratio: float) -> ContactProblem:
    """A cube of `ratio` kg at rest on one of 1 kg."""
    return stack((1.0, ratio))


def grasp(rng: np.random.Generator, friction: float = 1.0, fingers: int = 3) -> ContactProblem:
    """A ball of 0.2 kg between fingers of 0.05 kg that are pushed inward, under gravity and a random load."""
    radius = 0.03
    load = np.concatenate([rng.normal(size=3), 0.01 * rng.normal(size=3)])
    bodies, touches = [ball(0.2, np.zeros(3), radius, load=load)], []
    for k in range(fingers):
        angle = 2.0 * np.pi * k / fingers + 0.2 * rng.normal()
        out = np.array([np.cos(angle), np.sin(angle), 0.3 * rng.normal()])
        out /= np.linalg.norm(out)
        load = np.concatenate([-20.0 * rng.uniform(0.5, 1.5) * out, np.zeros(3)])
        load[2] += 0.05 * GRAVITY
        inertia = 0.05 * 1e-4 * np.eye(3)
        bodies.append(Body(mass=0.05, inertia=inertia, position=(radius + 0.01) * out, velocity=np.zeros(6), load=load))
        _, side, up = frame(out)
        for turn in 2.0 * np.pi / 3.0 * np.arange(3):
            point = radius * out + 0.004 * (np.cos(turn) * side + np.sin(turn) * up)
            touches.append(Touch(other=0, body=k + 1, point=point, normal=out, friction=friction))
    return free_bodies(bodies, touches)


def groove(rng: np.random.Generator, friction: float = 1.2) -> ContactProblem:
    """A cube thrown about between two steep walls, which friction alone can hold apart."""
    slope = np.radians(35.0) * rng.uniform(0.6, 1.4)
    load = np.concatenate([20.0 * rng.normal(size=3), 5.0 * rng.normal(size=3)])
    body = cube(1.0, np.zeros(3), velocity=0.5 * rng.normal(size=6), load=load)
    touches = []
    for side in (-1.0, 1.0):
        normal = np.array([side * np.cos(slope), 0.0, np.sin(slope)])
        along = np.array([-side * np.sin(slope), 0.0, np.cos(slope)])
        for y in (-0.5, 0.5):
            for place in (-0.1, 0.1):
                point = -0.5 * normal + place * along + np.array([0.0, y, 0.0])
                touches.append(Touch(other=WORLD, body=0, point=point, normal=normal, friction=friction))
    return free_bodies([body], touches)


def pile(rng: np.random.Generator, layers: int = 3, friction: float = 0.6) -> ContactProblem:
    """Layers of nine balls on each other, all but touching, with random velocities."""
    radius, near = 0.1, 0.004
    places = [
        np.array([0.195 * x + 0.004 * rng.normal(), 0.195 * y + 0.004 * rng.normal(), radius + 0.19 * layer])
        for layer in range(layers)
        for y in (-1, 0, 1)
        for x in (-1, 0, 1)
    ]
    bodies = [ball(4.0, place, radius, velocity=0.3 * rng.normal(size=6)) for place in places]
    touches = []
    for k, place in enumerate(places):
        if place[2] - radius < near:
            point = place - np.array([0.0, 0.0, radius])
            gap = place[2] - radius
            touches.append(Touch(other=WORLD, body=k, point=point, normal=np.eye(3)[2], friction=friction, gap=gap))
        for other in range(k):
            apart = place - places[other]
            gap = np.linalg.norm(apart) - 2.0 * radius
            if gap < near:
                point = places[other] + 0.5 * apart
                touches.append(Touch(other=other, body=k, point=point, normal=apart, friction=friction, gap=gap))
    return free_bodies(bodies, touches)


# ---------------------------------------------------------------------------------------------------------------------
# A biped that is thrown about
# ---------------------------------------------------------------------------------------------------------------------

LEG = (
    # axis, distance to the joint below the one before [m], mass [kg]
    (Axis.ROT_Z, 0.0, 0.5),
    (Axis.ROT_X, 0.0, 0.5),
    (Axis.ROT_Y, 0.0, 5.0),
    (Axis.ROT_Y, 0.4, 3.0),
    (Axis.ROT_Y, 0.4, 0.3),
    (Axis.ROT_X, 0.0, 1.0),
)
ARM = ((Axis.ROT_Y, 0.0, 0.3), (Axis.ROT_X, 0.0, 1.5), (Axis.ROT_Y, 0.3, 1.0), (Axis.ROT_Z, 0.3, 0.4))


def biped_tree() -> Articulation:
    """A trunk that floats with two legs of six joints and two arms of four; links 6 and 12 are the feet."""
    links = [Link(path="/trunk", mass=15.0, center_of_mass=(0.0, 0.0, 0.25), inertia=(0.4, 0.0, 0.0, 0.4, 0.0, 0.4))]
    joints = []
    for limb, start in ((LEG, (0.1, 0.0)), (LEG, (-0.1, 0.0)), (ARM, (0.2, 0.5)), (ARM, (-0.2, 0.5))):
        parent = 0
        for place, (axis, drop, mass) in enumerate(limb):
            child = len(links)
            size = max(drop, 0.1)
            inertia = mass * size**2 / 12.0
            path = f"/link{child}"
            links.append(
                Link(
                    path=path,
                    mass=mass,
                    center_of_mass=(0.0, 0.0, -0.5 * drop),
                    inertia=(inertia, 0.0, 0.0, inertia, 0.0, inertia),
                )
            )
            at = (0.0, *start) if place == 0 else (0.0, 0.0, -drop)
            dof = Dof(name=f"{path}/joint", axis=axis, armature=0.02)
            joints.append(Joint(path=dof.name, parent=parent, child=child, parent_frame=Pose(at), dofs=(dof,)))
            parent = child
    return Articulation(path="/biped", links=tuple(links), joints=tuple(joints))


def biped(rng: np.random.Generator, torque: float = 30.0, friction: float = 0.8) -> ContactProblem:
    """The biped in a random pose, under random torques, with the corners of both feet about on a ground."""
    tree = biped_tree()
    dofs = len(tree.dofs)
    state = State(
        joint_position=0.3 * rng.normal(size=dofs),
        joint_velocity=rng.normal(size=dofs),
        root_pose=np.array([0, 0, 0, 0, 0, 0, 1.0]),
        root_velocity=0.5 * rng.normal(size=6),
    )
    motion = rigid.motion(tree, state)
    effort = np.concatenate([np.zeros(6), torque * rng.normal(size=dofs)])
    free = motion.velocity + STEP * rigid.forward_dynamics(motion, effort, gravity=(0.0, 0.0, -GRAVITY))
    J, target = [], []
    for foot in (6, 12):
        for x in (-0.1, 0.15):
            for y in (-0.05, 0.05):
                point = motion.p_WL[foot] + motion.R_WL[foot] @ np.array([x, y, -0.05])
                arm = rigid.cross_matrix(point - motion.p_WC[foot])
                J.append(frame(np.eye(3)[2]) @ (motion.J[foot][:3] - arm @ motion.J[foot][3:]))
                target.append(-max(rng.uniform(-0.002, 0.004), 0.0) / STEP)
    return ContactProblem(
        mass=rigid.mass_matrix(motion),
        jacobian=np.concatenate(J),
        free_velocity=free,
        target=np.array(target),
        friction=np.full(8, friction),
    )


FAMILIES = {
    "stack at rest": lambda rng: stack((1.0,) * 10),
    "stack pushed": lambda rng: stack((1.0,) * 10, rng, push=0.25),
    "stack of growing masses": lambda rng: stack(3.0 ** np.arange(5), rng, push=0.1),
    "heavy on light": lambda rng: heavy_on_light(100.0),
    "biped": biped,
    "grasp": grasp,
    "groove": groove,
    "pile": pile,
}
"""Problems by name, of a random generator."""
