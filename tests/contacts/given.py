"""Contacts that a host would give: corners of boxes and lowest points of balls over the ground, from poses of links."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import warp_artic as wa
from tests.contact_stages import ContactScene, Solid
from tests.contacts.motion import DT
from tests.usd.authoring import open_text

UP = (0.0, 0.0, 1.0)


def read(scene: ContactScene, *slots: wa.ContactSlots) -> wa.Scene:
    """A scene of solids whose contacts are given."""
    return wa.with_contact_slots(wa.without_contacts(wa.read_stage(open_text(scene.usd))), slots)


def simulated(scene: wa.Scene, *, environments: int = 1, precision: str = "float64", **settings) -> wa.Simulation:
    """Of a scene, at 240 Hz unless told otherwise."""
    options = wa.SolverSettings(**{"dt": DT, "precision": precision} | settings)
    return wa.Simulation(scene, environments=environments, settings=options)


def poses(simulation: wa.Simulation, link: int = 0) -> tuple[np.ndarray, list[Rotation]]:
    """Places (E, 3) and attitudes of a link."""
    simulation.report()
    state = simulation.state.link_pose
    values = np.asarray(state.numpy()[link], float)
    return values[:3].T, [Rotation.from_quat(q) for q in values[3:].T]


def on_ground(simulation: wa.Simulation, solid: Solid, link: int = 0) -> dict[str, np.ndarray]:
    """The contacts of a box, at its eight corners, or of a ball with the ground z = 0."""
    places, attitudes = poses(simulation, link)
    if solid.kind == "sphere":
        points = places[:, None] - (0.0, 0.0, solid.size[0])
    else:
        corners = (2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0) * solid.size
        points = np.stack([turn.apply(corners) + place for turn, place in zip(attitudes, places)])
    gap = points[..., 2]
    middle = points - 0.5 * gap[..., None] * UP
    bodies = np.broadcast_to((-1, link), (*gap.shape, 2))
    return {"bodies": bodies, "normal": np.broadcast_to(UP, points.shape), "position": middle, "gap": gap}
