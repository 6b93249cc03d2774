"""Scenes with more bodies than one mechanism has room for: those that a test is about, and balls that lie far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import warp_artic as wa
from tests.contact_stages import ContactScene, Solid, sphere
from tests.contacts.motion import Motion, simulation
from warp_artic.description.contact_mechanisms import MOST_DOFS

OTHERS = MOST_DOFS // 6 + 1
"""Balls that are too many for one mechanism."""
WANTED = ("link_pose", "link_velocity", "energy")


def crowded(scene: ContactScene) -> ContactScene:
    """The scene with balls that lie beside it, each on its own, and touch nothing of it."""
    floor = -10.0 if scene.has_ground is False else 0.0
    balls = [sphere(f"ball{k}", 0.1, (30.0 + k, 30.0, 0.1 + floor)) for k in range(OTHERS)]
    return replace(scene, solids=[*scene.solids, *balls])


def crowd(scene: ContactScene, **settings) -> wa.Simulation:
    """A simulation of the scene among others, whose contacts are solved by islands."""
    one = simulation(crowded(scene), **{"sleep_after": float("inf")} | settings)
    assert one.scene.island_contacts is not None
    return one


def crowd_motion(scene: ContactScene, seconds: float, every: int = 1, **settings) -> Motion:
    """What the scene does among others."""
    one = crowd(scene, **settings)
    return Motion(one.record(round(seconds / one.settings.dt), every=every, quantities=WANTED))


def momentum(motion: Motion, solids: Sequence[Solid]) -> tuple[np.ndarray, np.ndarray]:
    """Momentum [N s] and angular momentum about the origin [N m s] of solids, each of shape (R, 3)."""
    linear, angular = 0.0, 0.0
    for one in solids:
        p = one.mass * motion.velocity(one.name)
        axes = np.stack([motion.axis(one.name, index) for index in range(3)], axis=2)
        w = np.einsum("rji,rj->ri", axes, motion.turning(one.name))
        spin = np.einsum("rij,rj->ri", axes, one.inertia * w)
        linear = linear + p
        angular = angular + np.cross(motion.place(one.name), p) + spin
    return linear, angular
