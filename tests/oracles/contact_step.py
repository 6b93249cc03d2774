"""A midpoint step of free rigid bodies with contacts, dense and in double precision.

At the middle q_M of the step without contacts, M, J and the gaps g_M are taken, and v_free = v + h M^-1 f. With the gap
g = g_M - h/2 y_n at the start and y = J v, the least normal velocity b at the end of the step is
    - g / h                              apart: the contact may just close,
    min(- g / (2 h), MAX_DEPARTURE)      in each other: half of it is taken back,
    0 or - e (y_n + a t) + a (h - t)     on an impact after the time t = - g / y_n, with the acceleration a of the gap;
the latter where the closing speed is above a threshold. An impact is where y_n < - 0.6 |gravity| h and g + h y_n < 0.
Impulses obey the rigid law of Coulomb (`contact_problem`), or in passes, with z' those of the step or the pass before,
    z_n = max(0, z'_n + (b - y_n) / R_n),   z_t = z'_t - y_t / R_t, at most mu z_n long,
    R_n = 0.025 G_nn,  R_t = 0.01 of the mean of G_tt,
which is the rigid law where z = z'. Bodies move with
    (v + v+) / 2 + M^-1 J^T (s - 1/2) z,   s = 1/2, in the step of an impact 1 - t / h:
the rest of the step after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from tests.oracles import contact_geometry, contact_problem
from tests.oracles.contact_geometry import Placed, Point
from tests.oracles.contact_problem import ContactProblem
from tests.oracles.contact_scenes import frame
from tests.oracles.movement import rotation
from tests.oracles.rotations import cross
from warp_artic.description.joint import WORLD

NORMAL_SOFTNESS, TANGENT_SOFTNESS = 0.025, 0.01
"""R of a contact by its own response."""
RIGID_TOLERANCE = 1e-10
"""What is left of the rigid law, by the speeds of the contacts."""
MAX_DEPARTURE = 3.0
"""Fastest that bodies leave each other for being in each other [m/s]."""
MARGIN = 0.02
"""Contacts are looked at below this gap [m]."""


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    """A box, or a sphere where `radius` is not zero, of even density."""

    position: np.ndarray
    """Of the centre [m], shape (3)."""
    rotation: np.ndarray
    """Its axes as columns, shape (3, 3)."""
    velocity: np.ndarray
    """Linear of the centre, then angular, world axes, shape (6)."""
    mass: float
    half_extents: np.ndarray
    radius: float = 0.0

    @property
    def inertia(self) -> np.ndarray:
        """About the centre, in its axes, diagonal, shape (3)."""
        if self.radius:
            return np.full(3, 0.4 * self.mass * self.radius**2)
        squares = self.half_extents**2
        return self.mass / 3.0 * (squares.sum() - squares)

    @property
    def size(self) -> float:
        """Smallest half extent [m]."""
        return self.radius or float(self.half_extents.min())

    def after(self, time: float, velocity: np.ndarray) -> RigidBody:
        """Moved with a constant velocity."""
        return replace(
            self,
            position=self.position + time * velocity[:3],
            rotation=rotation(time * velocity[3:]) @ self.rotation,
        )


def box(position, half_extents, *, mass: float = 1.0, rotation=np.eye(3), velocity=np.zeros(6)) -> RigidBody:
    """A box."""
    return RigidBody(
        position=np.asarray(position, float),
        rotation=rotation,
        velocity=np.asarray(velocity, float),
        mass=mass,
        half_extents=np.broadcast_to(half_extents, 3).astype(float),
    )


def sphere(position, radius: float, *, mass: float = 1.0, velocity=np.zeros(6)) -> RigidBody:
    """A full ball."""
    return replace(box(position, 0.0, mass=mass, velocity=velocity), radius=radius)


@dataclass(frozen=True, kw_only=True)
class Contact:
    """A contact of this step; `other` is WORLD for the ground."""

    other: int
    body: int
    found: Point


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What the next step needs of a contact."""

    other: int
    body: int
    arm: np.ndarray
    """From the centre of the body to the point [m]."""
    impulse: np.ndarray
    """On the body, in the world [N s]."""


@dataclass(frozen=True, kw_only=True)
class ContactStep:
    """The law of a step: its length, materials and gravity."""

    h: float = 1.0 / 240.0
    friction: float = 0.5
    restitution: float = 0.0
    threshold: float = 0.2
    """Impacts slower than this do not bounce [m/s]."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    passes: int = 0
    """How often soft impulses are found, each time from those before; none: the rigid law."""

    def __call__(
        self, bodies: Sequence[RigidBody], memory: Sequence[Memory] = ()
    ) -> tuple[list[RigidBody], list[Memory]]:
        """The bodies after the step, and the contacts to remember."""
        h, v = self.h, np.concatenate([body.velocity for body in bodies])
        middle = [body.after(0.5 * h, body.velocity) for body in bodies]
        M, v_free = self.without_contacts(middle, v)
        contacts = contacts_of(middle)
        if not contacts:
            return moved(bodies, h, 0.5 * (v + v_free), v_free), []
        J = jacobian(middle, contacts)
        b, share = self.targets(J @ v, J @ (v_free - v) / h, np.array([contact.found.gap for contact in contacts]))
        problem = ContactProblem(
            mass=M, jacobian=J, free_velocity=v_free, target=b, friction=np.full(len(contacts), self.friction)
        )
        z = np.concatenate([frame(c.found.normal) @ remembered(c, middle, memory) for c in contacts])
        if self.passes == 0:
            z = contact_problem.solved(problem, tolerance=RIGID_TOLERANCE, start=z)
        for _ in range(self.passes):
            z = impulses(problem.softened(NORMAL_SOFTNESS, TANGENT_SOFTNESS, z), v)
        v_next = problem.velocity(z)
        mean = 0.5 * (v + v_next) + problem.response @ (np.repeat(share - 0.5, 3) * z)
        kept = [
            Memory(
                other=c.other,
                body=c.body,
                arm=c.found.point - middle[c.body].position,
                impulse=frame(c.found.normal).T @ z[3 * k : 3 * k + 3],
            )
            for k, c in enumerate(contacts)
        ]
        return moved(bodies, h, mean, v_next), kept

    def without_contacts(self, bodies: Sequence[RigidBody], v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M, and the velocities at the end of the step without contacts."""
        blocks, free = [], v.copy()
        for k, body in enumerate(bodies):
            I = body.rotation @ np.diag(body.inertia) @ body.rotation.T
            blocks += [body.mass * np.eye(3), I]
            linear, angular = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)
            free[linear] += self.h * np.asarray(self.gravity)
            for time in (0.5 * self.h, self.h):
                torque = cross(free[angular], I @ free[angular])
                free[angular] = v[angular] - time * np.linalg.solve(I, torque)
        return block_diag(*blocks), free

    def targets(self, y: np.ndarray, rate: np.ndarray, gap_middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """b of each contact, and the share of the step for which its impulse has acted."""
        h, speed, a = self.h, y[::3], rate[::3]
        gap = gap_middle - 0.5 * h * speed
        b = np.where(gap > 0.0, -gap / h, np.minimum(-0.5 * gap / h, MAX_DEPARTURE))
        meets = (speed < -0.6 * h * np.linalg.norm(self.gravity)) & (gap + h * speed < 0.0)
        t = np.clip(-gap / np.where(meets, speed, -1.0), 0.0, h)
        leaves = np.where(speed < -self.threshold, -self.restitution * (speed + a * t) + a * (h - t), 0.0)
        leaves = leaves if self.restitution else np.zeros_like(b)
        pushed = np.minimum(np.maximum(-0.5 * gap / h, 0.0), MAX_DEPARTURE)
        return np.where(meets, np.maximum(leaves, pushed), b), np.where(meets, 1.0 - t / h, 0.5)

    def energy(self, bodies: Sequence[RigidBody]) -> float:
        """Kinetic, and potential of gravity [J]."""
        total = 0.0
        for body in bodies:
            turning = body.rotation.T @ body.velocity[3:]
            total += 0.5 * body.mass * body.velocity[:3] @ body.velocity[:3]
            total += 0.5 * turning @ (body.inertia * turning) - body.mass * np.dot(self.gravity, body.position)
        return total


def moved(bodies: Sequence[RigidBody], h: float, mean: np.ndarray, v: np.ndarray) -> list[RigidBody]:
    """Bodies after a step with mean velocities, and velocities at its end."""
    parts = [slice(6 * k, 6 * k + 6) for k in range(len(bodies))]
    return [replace(body.after(h, mean[part]), velocity=v[part]) for body, part in zip(bodies, parts)]


def contacts_of(bodies: Sequence[RigidBody]) -> list[Contact]:
    """Contacts of all bodies with the ground and with each other, below the margin."""
    shapes = [
        Placed(position=b.position, rotation=b.rotation, half_extents=b.half_extents, radius=b.radius) for b in bodies
    ]
    found = []
    for k, shape in enumerate(shapes):
        found += [Contact(other=WORLD, body=k, found=point) for point in contact_geometry.on_ground(shape)]
        for other in range(k):
            reach = sum(s.radius or float(np.linalg.norm(s.half_extents)) for s in (shape, shapes[other]))
            if np.linalg.norm(shape.position - shapes[other].position) < reach + MARGIN:
                points = contact_geometry.between(shapes[other], shape)
                found += [Contact(other=other, body=k, found=point) for point in points]
    return [contact for contact in found if contact.found.gap < MARGIN]


def jacobian(bodies: Sequence[RigidBody], contacts: Sequence[Contact]) -> np.ndarray:
    """J of the normal and both tangents of each contact, shape (3 C, 6 B)."""
    J = np.zeros((3 * len(contacts), 6 * len(bodies)))
    for k, contact in enumerate(contacts):
        axes = frame(contact.found.normal)
        for index, sign in ((contact.body, 1.0), (contact.other, -1.0)):
            if index != WORLD:
                arm = contact.found.point - bodies[index].position
                J[3 * k : 3 * k + 3, 6 * index : 6 * index + 6] = sign * np.hstack([axes, cross(arm, axes.T).T])
    return J


def remembered(contact: Contact, bodies: Sequence[RigidBody], memory: Sequence[Memory]) -> np.ndarray:
    """The impulse of the nearest contact of the same pair in the step before; zero where none was near."""
    body = bodies[contact.body]
    arm = contact.found.point - body.position
    own = [m for m in memory if m.other == contact.other and m.body == contact.body]
    nearest = min(own, key=lambda m: np.linalg.norm(m.arm - arm), default=None)
    if nearest is None or np.linalg.norm(nearest.arm - arm) > 0.25 * body.size:
        return np.zeros(3)
    return nearest.impulse


def impulses(problem: ContactProblem, v: np.ndarray) -> np.ndarray:
    """z of a soft problem, by semismooth Newton on M (v - v_free) = J^T z(J v), and by ADMM where that fails."""
    M, J, R = problem.mass, problem.jacobian, problem.softness.reshape(-1, 3)
    inverse_root = np.linalg.inv(np.linalg.cholesky(M))
    enough = 1e-12 * np.linalg.norm(inverse_root @ M @ problem.free_velocity) + 1e-15

    def missing(v):
        z, D = law(problem, R, (J @ v).reshape(-1, 3))
        left = M @ (v - problem.free_velocity) - J.T @ z.ravel()
        return np.linalg.norm(inverse_root @ left), left, z.ravel(), D

    now = missing(v)
    for _ in range(60):
        if now[0] <= enough:
            return now[2]
        blocks = J.reshape(-1, 3, J.shape[1])
        change = -np.linalg.solve(M + np.einsum("kai,kab,kbj->ij", blocks, now[3], blocks), now[1])
        for part in 0.5 ** np.arange(10):
            tried = missing(v + part * change)
            if tried[0] < (1.0 - 1e-3 * part) * now[0]:
                break
        else:
            break
        v, now = v + part * change, tried
    return contact_problem.solved(problem, tolerance=1e-11, start=now[2])


def law(problem: ContactProblem, R: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z of contacts with velocities y, shape (C, 3), and - dz / dy, shape (C, 3, 3)."""
    x = problem.impulse_before.reshape(-1, 3) - y / R
    x[:, 0] += problem.target / R[:, 0]
    z, D = np.zeros_like(x), np.zeros((len(x), 3, 3))
    for k, mu in enumerate(problem.friction):
        press, across = max(x[k, 0], 0.0), np.hypot(x[k, 1], x[k, 2])
        if press == 0.0:
            continue
        z[k, 0], D[k, 0, 0] = press, 1.0 / R[k, 0]
        if across <= mu * press:
            z[k, 1:] = x[k, 1:]
            D[k, 1, 1], D[k, 2, 2] = 1.0 / R[k, 1:]
        else:
            e = x[k, 1:] / across
            z[k, 1:] = mu * press * e
            D[k, 1:, 0] = mu * e / R[k, 0]
            D[k, 1:, 1:] = mu * press / across * (np.eye(2) - np.outer(e, e)) / R[k, 1]
    return z, D
