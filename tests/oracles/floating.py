"""What a step leaves of a tree that floats and touches nothing, by sums over its links in double precision.

With P and L_C its momenta, c its centre of mass and I_C its inertia about it, V = P / m and Omega = I_C^-1 L_C:
    P+ = P + h sum s m g + F,   L_C+ = L_C + M,   c+ = c + h (P + P+) / 2 m
with F and M of what pulls from outside,
and velocities relative to those of V and Omega are s times those found. s = 1 where springs, dampers, friction, tendons
or mimic joints act, in steps with a middle after the first, in which a dof turns by more than 0.02 rad. Where loop
joints close the tree and nothing else has acted, s in each such step is that of the energy
    T - P.P / 2 m - L_C.Omega / 2,   which gains what L_C.Omega / 2 loses,
as far as s^2 is from 0.9 to 1.1; from below it is 0.9, and beyond it s is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation


@dataclass(frozen=True)
class Whole:
    """Sums over the links of a tree."""

    m: float
    c: np.ndarray
    P: np.ndarray
    L: np.ndarray
    """About c."""
    inertia: np.ndarray
    T: float

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """V and Omega."""
        return self.P / self.m, np.linalg.solve(self.inertia, self.L)

    @property
    def relative(self) -> float:
        """T - P.P / 2 m - L.Omega / 2."""
        V, Omega = self.rates
        return self.T - 0.5 * (self.P @ V + self.L @ Omega)


def whole_of(motion: rigid.Motion) -> Whole:
    """Of a motion."""
    masses = np.array([link.mass for link in motion.articulation.links])
    c, momentum = rigid.center_of_mass(motion), rigid.momentum(motion)
    inertia = rigid.spatial_inertias(motion)[:, 3:, 3:].sum(axis=0)
    for m, r in zip(masses, motion.p_WC - c):
        inertia = inertia + m * ((r @ r) * np.eye(3) - np.outer(r, r))
    P, L = momentum[:3], momentum[3:] - np.cross(c, momentum[:3])
    return Whole(masses.sum(), c, P, L, inertia, rigid.kinetic_energy(motion))


def carried(tree: Articulation, before: State, after: State, gravity, h: float, keeps_energy: bool, on_root) -> State:
    """The state after a step of h with the momenta of the one before it, and with its energy where that is kept.

    `on_root` is the impulse of what pulls from outside, such as tendons, and its moment about the root, shape (6).
    """
    one, found = (whole_of(rigid.motion(tree, state)) for state in (before, after))
    root = rigid.root(tree)[0]
    arms = [rigid.motion(tree, state).p_WC[root] - whole.c for state, whole in ((before, one), (after, found))]
    L = one.L + on_root[3:] + np.cross(0.5 * (arms[0] + arms[1]), on_root[:3])
    kept = replace(found, P=one.P + h * rigid.weights(tree, gravity)[:, :3].sum(axis=0) + on_root[:3], L=L)
    s = 1.0
    if keeps_energy and found.relative > 0.0:
        left = one.relative + 0.5 * (one.L @ one.rates[1] - one.L @ kept.rates[1])
        square = max(left / found.relative, 0.9 * min(1.0, one.relative / found.relative))
        s = float(np.sqrt(square)) if square <= 1.1 else 1.0
    r = arms[1]
    linear, angular = after.root_velocity[:3], after.root_velocity[3:]
    (V, Omega), (V_found, Omega_found) = kept.rates, found.rates
    linear = V + np.cross(Omega, r) + s * (linear - V_found - np.cross(Omega_found, r))
    angular = Omega + s * (angular - Omega_found)
    pose = np.array(after.root_pose, float)
    pose[:3] += one.c + 0.5 * h * (one.P + kept.P) / one.m - found.c
    joints = s * np.asarray(after.joint_velocity)
    return replace(after, joint_velocity=joints, root_velocity=np.concatenate([linear, angular]), root_pose=pose)
