"""Contacts of a collision pipeline of Newton as contacts that are given to a simulation, on the device.

Points are taken on the surfaces, by their margins; friction and restitution of two shapes are the averages of theirs,
times the friction of a contact where it has one. Stiffness and damping of shapes are left out: contacts are rigid.
"""

from __future__ import annotations

from collections.abc import Sequence

import newton
import numpy as np
import warp as wp
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.worlds import Worlds

from warp_artic.description.contact_slots import ContactSlots
from warp_artic.description.pose import Pose
from warp_artic.sim.simulation import Simulation

ROOM = 2
"""Contacts of an environment that are looked at, of which the deepest are taken, for each that there is room for."""
NO_LINK = wp.constant(-2)
"""Of a body that is no link of the simulation."""
WORLD_LINK = wp.constant(-1)


def slots_of(model: newton.Model, worlds: Worlds, binding: Binding, points: int) -> list[ContactSlots]:
    """Room for contacts of the bodies of the first environment whose shapes a model has collide."""
    path_of = {int(worlds.bodies[0, place]): path for path, place in binding.links} | {-1: None}
    body = model.shape_body.numpy()
    pairs = body[model.shape_contact_pairs.numpy().reshape(-1, 2)].tolist()
    found = {tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1] and path_of.keys() >= set(pair)}
    return [ContactSlots(bodies=(path_of[one], path_of[other]), points=points) for one, other in sorted(found)]


@wp.struct
class Given:
    """Contacts of each environment as `Simulation.set_contacts` takes them, and tables of bodies."""

    links: wp.array2d(dtype=int)
    """Of a body: its link, environment and articulation."""
    to_scene: wp.array2d(dtype=wp.transform)
    """From the world of Newton to that of the scene, by articulation and environment."""
    count: wp.array(dtype=int)
    ends: wp.array3d(dtype=int)
    normal: wp.array3d(dtype=float)
    point0: wp.array3d(dtype=float)
    point1: wp.array3d(dtype=float)
    friction: wp.array2d(dtype=float)
    restitution: wp.array2d(dtype=float)


class ContactsOfNewton:
    """Gives contacts of Newton to a simulation.

    Args:
        model: Of Newton.
        worlds: Its environments.
        binding: What is what in the first of them.
        placed: Where the world of the scene is in that of Newton, by articulation and environment.
        simulation: Of a scene with room for contacts.
    """

    def __init__(
        self,
        model: newton.Model,
        worlds: Worlds,
        binding: Binding,
        placed: Sequence[Sequence[Pose]],
        simulation: Simulation,
    ):
        self._model, self._simulation = model, simulation
        row_of = {path: row for row, path in enumerate(simulation.link_names)}
        home_of = {path: home for home, one in enumerate(simulation.articulations) for path in one.link_names}
        table = np.full((model.body_count, 3), NO_LINK)
        for path, place in binding.links:
            table[worlds.bodies[:, place], 0] = row_of[path]
            table[worlds.bodies[:, place], 1] = np.arange(worlds.count)
            table[worlds.bodies[:, place], 2] = home_of[path]
        given, device = Given(), model.device
        given.links = wp.array(table, dtype=int, device=device)
        inverses = [[X.inverse() for X in poses] for poses in placed]
        numbers = np.array([[(*X.position, *X.quaternion) for X in poses] for poses in inverses])
        given.to_scene = wp.array(numbers, dtype=wp.transform, device=device)
        count, most = worlds.count, ROOM * sum(simulation.given_contacts.slots.values())
        given.count = wp.zeros(count, dtype=int, device=device)
        given.ends = wp.zeros((count, most, 2), dtype=int, device=device)
        for name in ("normal", "point0", "point1"):
            setattr(given, name, wp.zeros((count, most, 3), dtype=float, device=device))
        for name in ("friction", "restitution"):
            setattr(given, name, wp.zeros((count, most), dtype=float, device=device))
        self._given = given

    def give(self, state: newton.State, contacts: newton.Contacts | None) -> None:
        """Give the contacts of a state, none if there are no contacts."""
        model, given = self._model, self._given
        given.count.zero_()
        if contacts is not None and contacts.rigid_contact_max:
            inputs = [
                contacts.rigid_contact_count,
                contacts.rigid_contact_shape0,
                contacts.rigid_contact_shape1,
                contacts.rigid_contact_point0,
                contacts.rigid_contact_point1,
                contacts.rigid_contact_normal,
                contacts.rigid_contact_margin0,
                contacts.rigid_contact_margin1,
                contacts.rigid_contact_friction,
                model.shape_body,
                model.shape_material_mu,
                model.shape_material_restitution,
                state.body_q,
                given,
            ]
            wp.launch(_translate, dim=contacts.rigid_contact_max, inputs=inputs, device=model.device)
        self._simulation.set_contacts(
            given.ends,
            given.normal,
            point0=given.point0,
            point1=given.point1,
            count=given.count,
            friction=given.friction,
            restitution=given.restitution,
        )


@wp.func
def _point(X_WB: wp.transform, X_SW: wp.transform, body: int, point: wp.vec3, out: wp.vec3):
    """A point of a body, moved along a vector of the world, in its frame; of the world in that of the scene."""
    if body < 0:
        return wp.transform_point(X_SW, point + out)
    return point + wp.quat_rotate_inv(wp.transform_get_rotation(X_WB), out)


@wp.kernel(enable_backward=False)
def _translate(
    found: wp.array(dtype=int),
    shape0: wp.array(dtype=int),
    shape1: wp.array(dtype=int),
    point0: wp.array(dtype=wp.vec3),
    point1: wp.array(dtype=wp.vec3),
    normal: wp.array(dtype=wp.vec3),
    margin0: wp.array(dtype=float),
    margin1: wp.array(dtype=float),
    scale: wp.array(dtype=float),
    shape_body: wp.array(dtype=int),
    friction: wp.array(dtype=float),
    restitution: wp.array(dtype=float),
    body_q: wp.array(dtype=wp.transform),
    given: Given,
):
    """Append a contact to those of its environment, in any order."""
    contact = wp.tid()
    if contact >= found[0]:
        return
    a = shape0[contact]
    b = shape1[contact]
    if a < 0 or b < 0 or (shape_body[a] < 0 and shape_body[b] < 0):
        return
    body0 = shape_body[a]
    body1 = shape_body[b]
    body = wp.where(body1 < 0, body0, body1)
    environment = given.links[body, 1]
    if environment < 0:
        return
    place = wp.atomic_add(given.count, environment, 1)
    if place >= given.normal.shape[1]:
        return
    X_SW = given.to_scene[given.links[body, 2], environment]
    X_W0 = wp.transform_identity()
    X_W1 = wp.transform_identity()
    given.ends[environment, place, 0] = WORLD_LINK
    given.ends[environment, place, 1] = WORLD_LINK
    if body0 >= 0:
        X_W0 = body_q[body0]
        given.ends[environment, place, 0] = wp.where(
            given.links[body0, 1] == environment, given.links[body0, 0], NO_LINK
        )
    if body1 >= 0:
        X_W1 = body_q[body1]
        given.ends[environment, place, 1] = wp.where(
            given.links[body1, 1] == environment, given.links[body1, 0], NO_LINK
        )
    n = normal[contact]
    p0 = _point(X_W0, X_SW, body0, point0[contact], n * margin0[contact])
    p1 = _point(X_W1, X_SW, body1, point1[contact], n * (-margin1[contact]))
    n = wp.transform_vector(X_SW, n)
    for k in range(3):
        given.normal[environment, place, k] = n[k]
        given.point0[environment, place, k] = p0[k]
        given.point1[environment, place, k] = p1[k]
    mu = 0.5 * (friction[a] + friction[b])
    if scale:
        if scale[contact] > 0.0:
            mu = mu * scale[contact]
    given.friction[environment, place] = mu
    given.restitution[environment, place] = 0.5 * (restitution[a] + restitution[b])
