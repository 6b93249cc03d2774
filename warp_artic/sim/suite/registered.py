"""The registered constraints of an articulation: its own that have names, such as loop joints, and contact points.

They have constraint rows and a work space of their own: what a simulation steps with knows nothing of contact points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.constraints.contact import CONTACT, CONTACT_FRICTION
from warp_artic.description.articulation import Articulation
from warp_artic.errors import SettingsError
from warp_artic.mechanisms.group import arrays_with_rows
from warp_artic.mechanisms.public_rows import ENTRIES
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.families import IS_CONTACT
from warp_artic.model.field import Field
from warp_artic.model.row import Row
from warp_artic.sim.arrays.views import Member, by_environment

LARGEST_RESIDUAL = {wp.float32: 1e-5, wp.float64: 1e-10}
"""With which a solution counts as one."""


@dataclass(frozen=True, kw_only=True)
class ContactPoint:
    """A point of a link that touches the world, or another link, for `Dynamics.register_contacts`."""

    link: str
    """Prim path."""
    other: str | None = None
    """Prim path of the link on the other side; None is the world."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the frame of the link [m]."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """World axes, from the other side to the link, of any length; a zero vector disables the point."""
    friction: float = 0.0
    """mu of both tangents."""
    gap: float = 0.0
    """Gap along the normal [m]; negative where the two overlap."""


@dataclass(frozen=True)
class Contacts:
    """The registered contact points, as arrays on the device that are read at each call and can be written to.

    E is the number of environments, K that of points.
    """

    points: tuple[ContactPoint, ...]
    """As they were registered."""
    position: wp.array
    """In the frame of the link [m], shape (E, K, 3)."""
    normal: wp.array
    """World axes, from the other side to the link, shape (E, K, 3)."""
    friction: wp.array
    """Shape (E, K)."""
    gap: wp.array
    """[m], shape (E, K)."""


@dataclass(frozen=True)
class ConstraintImpulses:
    """Impulses of the registered constraints in a step."""

    impulse: wp.array
    """lambda, in the order of the coefficient matrix K [N s, or N m s of what is in radians], shape (E, C)."""
    joint_force: wp.array
    """K lambda / dt [N or N m], shape (E, V)."""
    joint_acceleration: wp.array
    """vdot with them, shape (E, V)."""
    residual: wp.array
    """Largest residual of their laws, relative to the sum of their terms, shape (E)."""

    @property
    def converged(self) -> np.ndarray:
        """Whether the laws hold to 1e-5 in float32, 1e-10 in float64, shape (E); a copy on the host."""
        return self.residual.numpy() <= LARGEST_RESIDUAL[self.residual.dtype]


class RegisteredConstraints:
    """Their rows, and the arrays for kernels.

    Args:
        member: The articulation in its group.
        articulation: Its description.
        points: The contact points.

    Raises:
        SettingsError: A contact point is not one of the articulation.
    """

    def __init__(self, member: Member, articulation: Articulation, points: Sequence[ContactPoint] = ()):
        self._group = member.group
        points = tuple(points)
        bodies = articulation.bodies
        for k, point in enumerate(points):
            _check(f"contacts: point {k}", point, articulation.path, bodies)
        tree, first = member.group.tree, member.first_row("link")
        numbers = {path: first + number for path, number in bodies.items()}
        ends = [(numbers[point.link], numbers.get(point.other, tree.link_count)) for point in points]
        dofs = [tree.dofs_inward(link) + tree.dofs_inward(other) for link, other in ends]
        for k, (point, moving) in enumerate(zip(points, dofs)):
            if not moving:
                raise SettingsError(f"contacts: point {k}: {point.link} does not move")
        rows = [Row(CONTACT_FRICTION, moving, k) for k, moving in enumerate(dofs) for _tangent in range(2)]
        rows += [Row(CONTACT, moving, k) for k, moving in enumerate(dofs)]
        rows += [row for row in tree.rows if row.family.entries is not None and not row.family.traits & IS_CONTACT]
        self.count = sum(tree.entry_counts) + 3 * len(points)
        """Of the mechanism: C of an articulation that is one by itself."""
        self.columns = _columns_of(member, self.count, len(points))
        """Those of the articulation."""
        self.names = (*(name for one in ENTRIES for name in one.rows(articulation)), *_names(points))
        """Of the columns of the coefficient matrix."""
        arrays = arrays_with_rows(member.group, tuple(rows))
        self._fields = fields = _contact_fields(member, points)
        self._model, self._work = arrays.model, arrays.work
        self._contacts = self._contact_struct(ends, fields)
        self.contacts = Contacts(points, **_contact_views(member, fields, len(points)))

    @property
    def arrays(self) -> SimpleNamespace:
        """The structs `model`, `contacts` and `work`, with the parameters that the group has now."""
        for name, field in self._group.parameters.items():
            setattr(self._model, name, field.numbers)
        for name in self._group.tree.flags:
            setattr(self._model, name, getattr(self._group.arrays.model, name))
        return SimpleNamespace(model=self._model, contacts=self._contacts, work=self._work)

    def _contact_struct(self, ends, fields: dict[str, Field]):
        columns, workers = self._group.columns, self._group.workers
        struct = arrays_for(columns.numbers).Contacts()
        struct.count = len(ends)
        for name, links in zip(("link", "other"), np.reshape([*ends, (0, 0)], (-1, 2)).T):
            setattr(struct, name, wp.array(links.astype(np.int32), dtype=int, device=columns.device))
        for name, field in fields.items():
            setattr(struct, name, field.numbers)
        rows = self._model.row_count * (len(ends) > 0)
        sizes = {"slide": 2 * len(ends), "pressed": len(ends), "coupling": 2 * len(ends)}
        for name, size in {**sizes, "impulse": rows, "y_free": rows, "delassus": rows * rows}.items():
            shape = (max(size, 1), workers)
            setattr(struct, name, wp.zeros(shape, dtype=columns.numbers.real, device=columns.device))
        return struct


def _columns_of(member: Member, count: int, points: int) -> np.ndarray:
    """Which constraints of a mechanism are of an articulation: its entries of each family, and contacts."""
    parts, found, before = member.group.tree.parts, [], 0
    for place, of_mechanism in enumerate(member.group.tree.entry_counts):
        first = before + sum(part.entry_counts[place] for part in parts[: member.part])
        found.append(first + np.arange(parts[member.part].entry_counts[place]))
        before += of_mechanism
    return np.concatenate([*found, np.arange(count - 3 * points, count)])


def _check(place: str, point: ContactPoint, path: str, bodies: dict[str, int]) -> None:
    if not isinstance(point, ContactPoint):
        raise SettingsError(f"{place}: {point!r} is not a ContactPoint")
    for link in (point.link, point.other):
        if link not in bodies and not (link is None and point.link is not None):
            raise SettingsError(f"{place}: {link} is not a link of {path}; there are {', '.join(bodies)}")
    if point.link == point.other:
        raise SettingsError(f"{place}: {point.link} is on both sides")
    for name in ("position", "normal"):
        value = getattr(point, name)
        if np.shape(value) != (3,) or not np.isfinite(np.asarray(value, float)).all():
            raise SettingsError(f"{place}: {name} {value!r} is not three finite numbers")
    if not 0.0 <= point.friction < math.inf:
        raise SettingsError(f"{place}: friction {point.friction!r} is not a finite number of at least 0")
    if not math.isfinite(point.gap):
        raise SettingsError(f"{place}: gap {point.gap!r} is not a finite number")


def _names(points: Sequence[ContactPoint]) -> list[str]:
    parts = ("normal", "tangent1", "tangent2")
    return [f"{point.link}:contact{k}:{part}" for k, point in enumerate(points) for part in parts]


def _contact_fields(member: Member, points: Sequence[ContactPoint]) -> dict[str, Field]:
    """The numbers of contact points; other articulations of the group have them without normals."""
    values = {
        "position": np.ravel([point.position for point in points]),
        "normal": np.ravel([point.normal for point in points]),
        "friction": np.array([point.friction for point in points]),
        "gap": np.array([point.gap for point in points]),
    }
    fields = {}
    group = member.group
    for name, rows in values.items():
        fields[name] = Field.zeros(len(rows), group.columns)
        if len(rows):
            table = np.zeros((len(rows), group.columns.count))
            table[:, member.first_column : member.first_column + group.environments] = rows[:, None]
            fields[name].fill(table)
    return fields


def _contact_views(member: Member, fields: dict[str, Field], count: int) -> dict[str, wp.array]:
    shapes = {"position": (count, 3), "normal": (count, 3), "friction": (count,), "gap": (count,)}
    return {name: by_environment(member, field, *shapes[name]) for name, field in fields.items()}
