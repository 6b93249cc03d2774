"""Contacts that a host gives, as it hands them over: arrays of the host or of the device, checked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import warp as wp

from warp_artic.constraints.contact_tables import UNUSED_DISTANCE
from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.row_table import Held
from warp_artic.sim.arrays.views import checked
from warp_artic.sim.change.chosen import ON_HOST
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import report

FLOATS = (wp.float32, wp.float64)


def set_contacts(
    run: Run, bodies, normal, places: Mapping[str, object], count, materials: Mapping[str, object]
) -> None:
    """See `Simulation.set_contacts`."""
    if not run.given_contacts:
        raise SettingsError(
            "set_contacts: the scene has no room for contacts of a host; with_contact_slots(scene, slots) gives it, "
            "before the simulation is made"
        )
    is_in_links = _is_in_links(places)
    most = _count_of(normal)
    counts = _counts(run, count, most)
    given = _bodies(run, bodies, most, counts)
    normals = _numbers(run, "normal", normal, (most, 3))
    if is_in_links:
        first, second = (_numbers(run, name, places[name], (most, 3)) for name in ("point0", "point1"))
        points = first, second, None
    else:
        middle = _numbers(run, "position", places["position"], (most, 3))
        points = middle, middle, _numbers(run, "gap", places["gap"], (most,))
    own = {name: _numbers(run, name, values, (most,)) for name, values in materials.items() if values is not None}
    run.idle.end(run.steps_done)
    report(run)
    run.given_contacts.give(counts, given, normals, points, own)


def forget_given_contacts(run: Run, chosen: Held) -> None:
    """Take the contacts of chosen environments out of their slots."""
    if run.given_contacts:
        rows = dict(run.given_contacts.rows)["contact_distance"]
        found = run.tables.find(("given",), lambda: [("given", "contact_distance", rows, True)])
        found.fill(UNUSED_DISTANCE, chosen)


def _is_in_links(places: Mapping[str, object]) -> bool:
    """Whether points of both bodies are given, or else one midway and the gap."""
    names = [name for name, values in places.items() if values is not None]
    if names not in (["position", "gap"], ["point0", "point1"]):
        found = ", ".join(names) or "nothing"
        raise SettingsError(f"set_contacts: {found} is given; position and gap, or point0 and point1, must be")
    return names == ["point0", "point1"]


def _count_of(normal) -> int:
    """K."""
    shape = tuple(normal.shape) if hasattr(normal, "shape") else np.shape(normal)
    if len(shape) not in (2, 3) or shape[-1] != 3:
        raise SettingsError(f"normal: shape {shape} is not (environments, contacts, 3)")
    return int(shape[-2])


def _is_on_host(values) -> bool:
    if isinstance(values, wp.array):
        return False
    return not hasattr(values, "__dlpack_device__") or values.__dlpack_device__()[0] == ON_HOST


def _numbers(run: Run, name: str, values, shape: tuple[int, ...]) -> wp.array:
    """Numbers of contacts on the device, in the precision of the run, shape (E, *shape)."""
    scalar = run.given_contacts.scalar
    full = run.environments, *shape
    if _is_on_host(values):
        table = checked(name, values, full, infinite=name == "stiffness")
        return wp.array(np.ascontiguousarray(table), dtype=scalar, device=run.device)
    found = _of_device(run, name, values, full, FLOATS)
    if found.dtype is scalar:
        return found
    cast = wp.empty(full, dtype=scalar, device=run.device)
    wp.utils.array_cast(found, cast)
    return cast


def _of_device(run: Run, name: str, values, shape: tuple[int, ...], types: tuple[type, ...]) -> wp.array:
    """An array that lies on the device."""
    found = values if isinstance(values, wp.array) else wp.from_dlpack(values)
    if found.shape != shape or found.dtype not in types or str(found.device) != run.device:
        names = " or ".join(one.__name__ for one in types)
        raise SettingsError(
            f"{name}: an array of {found.dtype.__name__} of shape {found.shape} on {found.device} is not one of "
            f"{names} of shape {shape} on {run.device}"
        )
    return found


def _counts(run: Run, count, most: int) -> wp.array:
    """How many contacts there are in each environment, on the device."""
    if count is not None and not _is_on_host(count):
        return _of_device(run, "count", count, (run.environments,), (wp.int32,))
    table = checked("count", most if count is None else count, (run.environments,))
    if (table != np.round(table)).any() or table.min() < 0 or table.max() > most:
        raise SettingsError(f"count: {count!r} is not from 0 to the {most} contacts that are given")
    return wp.array(table.astype(np.int32), device=run.device)


def _bodies(run: Run, bodies, most: int, counts: wp.array) -> wp.array:
    """Indices of both bodies on the device; those of the host must have room for contacts."""
    shape = run.environments, most, 2
    if not _is_on_host(bodies):
        return _of_device(run, "bodies", bodies, shape, (wp.int32,))
    table = checked("bodies", bodies, shape)
    own = table.astype(np.int32)
    slots, names = run.given_contacts.slots, run.names.link
    is_there = np.arange(most) < counts.numpy()[:, None]
    for environment, contact in np.argwhere(is_there).tolist():
        pair = tuple(own[environment, contact].tolist())
        if pair in slots or pair[::-1] in slots:
            continue
        if (own[environment, contact] != table[environment, contact]).any() or not all(
            -1 <= one < len(names) for one in pair
        ):
            raise SettingsError(
                f"bodies: contact {contact} of environment {environment} is of {pair}; indices of the {len(names)} "
                "links, or -1 for the world, are needed"
            )
        first, second = ("the world" if one < 0 else names[one] for one in pair)
        raise SettingsError(
            f"bodies: contact {contact} of environment {environment} is between {first} and {second}, which have no "
            "room for contacts; with_contact_slots gives it, before the simulation is made"
        )
    return wp.array(own, device=run.device)
