"""The arrays of a large stage: its colliders, the bodies and mechanisms that have them, and what groups give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from warp_artic.collision.collide import contact_points
from warp_artic.collision.kinds import PLANE, Solid
from warp_artic.constraints.bounded_rows import DRIVE_SIZE, SIZE, bounded_rows
from warp_artic.constraints.drive import DRIVE
from warp_artic.description.scene import Scene
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.kernels.launch import BLOCK, load
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.families import HOLDS
from warp_artic.model.field import Field
from warp_artic.model.force_parts import ForcePart
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.islands.tables import collider_tables


@dataclass(frozen=True, eq=False)
class GroupPart:
    """What of a group takes part in contacts."""

    group: Group
    links: wp.array
    columns: wp.array
    """First column of each of these links."""
    numbers: wp.array
    """Number of the body that each is."""
    origins: wp.array
    mover_columns: wp.array
    mover_numbers: wp.array
    own_bodies: wp.array
    """Of each mechanism, and each of `places`, the number of the body."""
    places: wp.array
    """Rows of the Jacobian, as a count of links."""
    path: Field
    """What its mechanisms move by beside a step, a row a dof."""
    is_body: bool
    """Whether its mechanisms are bodies without joints, on which nothing else acts."""
    has_rows: bool
    """Whether something holds single joints (`constraints.bounded_rows`)."""
    forces: Any
    """A struct `Forces` for steps without contacts, where drives have a maximum force, else None."""
    tables: dict
    """Fields that are found for mechanisms with joints."""
    keeper_rows: wp.array
    """Of each of its joints that keep colliders apart until they break: its row of `loop_broken`."""
    keeper_columns: wp.array
    keeper_numbers: wp.array
    """Number among all of these joints."""


def launch(kernel: wp.Kernel, dim: tuple[int, ...], inputs: list, device: str) -> None:
    """Launch a kernel, which is compiled before, with a word about it."""
    load(kernel, device)
    wp.launch(kernel, dim=dim, inputs=inputs, device=device, block_dim=BLOCK)


class IslandLayout:
    """The arrays that stay, in all steps.

    Args:
        scene: What is simulated, as it is laid out, with `island_contacts`.
        members: Of its articulations.
        precision: "float32" or "float64".
        environments: Number of environments.
        device: "cpu" or "cuda:N".
    """

    def __init__(self, scene: Scene, members: Sequence[Member], precision: str, environments: int, device: str):
        self.environments, self.device = environments, device
        self.types = island_types(precision)
        self.tables = collider_tables(scene.island_contacts, scene)
        self.colliders = self._upload_colliders(scene.island_contacts.bounce_threshold)
        self.keepers = self._upload_keepers()
        self._lay_out(members)
        self.planes = self.upload(np.flatnonzero(self.tables.columns["kind"] == PLANE), int)
        """Numbers of planes."""
        numbers = np.repeat(np.arange(environments), len(self.tables.colliders))
        self.solid_environments = self.upload(numbers, int)
        self.everywhere = self.upload(np.arange(environments), int)
        kinds = range(max(Solid) + 1)
        table = [[contact_points(a, b) if a <= b else 0 for b in kinds] for a in kinds]
        self.points_of_kinds = self.upload(table, int)

    def upload(self, values, dtype) -> wp.array:
        """An array on the device."""
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def zeros(self, count: int, dtype) -> wp.array:
        """Room on the device; at least for one."""
        return wp.zeros(max(int(count), 1), dtype=dtype, device=self.device)

    def _upload_colliders(self, bounce_threshold: float):
        types, columns = self.types, self.tables.columns
        colliders = types.Colliders()
        colliders.count = len(self.tables.colliders)
        colliders.bounce_threshold = bounce_threshold
        colliders.surfaces = int(np.sqrt(len(columns["static_friction"])))
        turning = columns["torsional_friction"], columns["rolling_friction"]
        colliders.resist_turning = int(any((lengths > 0.0).any() for lengths in turning))
        kinds = {"axes": types.M, "place": wp.vec3d, "size": types.V, "middle": types.V, "half": types.V}
        for name, values in columns.items():
            if values.dtype == np.int32:
                kind = int
            elif values.dtype == np.int64:
                kind = wp.int64
            else:
                kind = kinds.get(name, types.T)
            setattr(colliders, name, self.upload(values, kind))
        return colliders

    def _upload_keepers(self):
        keepers = self.types.Keepers()
        keepers.count = len(self.tables.joints)
        keepers.pairs = self.upload(self.tables.keepers["pairs"], wp.int64)
        keepers.first, keepers.joint = (self.upload(self.tables.keepers[name], int) for name in ("first", "joint"))
        keepers.broken = self.zeros(self.environments * keepers.count, self.types.T)
        return keepers

    def _lay_out(self, members: Sequence[Member]) -> None:
        """Number bodies, those that are moved from outside last, and mechanisms, and make their arrays."""
        types, count = self.types, self.environments
        bodies = self.tables.bodies
        movers: dict[tuple[int, int], int] = {}
        for articulation, _link in bodies:
            member = members[articulation]
            movers.setdefault((id(member.group), member.place), len(movers))
        groups = {id(members[articulation].group): members[articulation].group for articulation, _ in bodies}
        dofs = [groups[key].tree.dof_count for key, _ in movers]
        body_mover, jacobian, jacobian_count = [], [], 0
        for articulation, _link in bodies:
            member = members[articulation]
            tree = member.group.tree
            body_mover.append(movers[id(member.group), member.place])
            jacobian.append(-1 if _is_body(member.group) else jacobian_count)
            jacobian_count += 0 if _is_body(member.group) else 6 * tree.dof_count
        own_bodies, own_movers = types.Bodies(), types.Movers()
        moved = len(self.tables.motions)
        body_count = len(bodies) + moved
        own_bodies.count, own_movers.count = body_count, len(movers)
        own_bodies.mover = self.upload([*body_mover, *[-1] * moved], int)
        own_bodies.jacobian = self.upload([*jacobian, *[-1] * moved], int)
        for name in ("place", "center"):
            setattr(own_bodies, name, self.zeros(count * body_count, wp.vec3d))
        own_bodies.axes = self.zeros(count * body_count, types.M)
        for name in ("linear", "angular", "force", "moment"):
            setattr(own_bodies, name, self.zeros(count * body_count, types.V))
        own_movers.dofs = self.upload(dofs, int)
        own_movers.first = self.upload(np.cumsum([0, *dofs])[:-1], int)
        squares = [size * size for size in dofs]
        own_movers.inverse_first = self.upload(np.cumsum([0, *squares])[:-1], int)
        own_movers.dof_count, own_movers.inverse_count = sum(dofs), sum(squares)
        own_movers.jacobian_count = jacobian_count
        for name in ("start", "free", "v", "path", "projected", "mobility"):
            setattr(own_movers, name, self.zeros(count * sum(dofs), types.T))
        own_movers.inverse = self.zeros(count * sum(squares), types.T)
        own_movers.jacobian = self.zeros(count * jacobian_count, types.T)
        rows = [[groups[key].tree.rows[row] for row in bounded_rows(groups[key].tree.rows)] for key, _ in movers]
        terms = [row.dofs for several in rows for row in several]
        drives = [int(row.family is DRIVE) for several in rows for row in several]
        own_movers.is_drive = self.upload(drives, int)
        own_movers.holds = self.zeros(count * len(terms), int)
        own_movers.yielding = self.zeros(count * sum(squares) * any(drives), types.T)
        own_movers.row_first = self.upload(np.cumsum([0, *map(len, rows)]), int)
        own_movers.row_term = self.upload(np.cumsum([0, *map(len, terms)]), int)
        own_movers.term_dof = self.upload([dof for own in terms for dof in own] or [0], int)
        own_movers.row_count, own_movers.term_count = len(terms), sum(map(len, terms))
        for name in (
            "least",
            "most",
            "impulse_lower",
            "impulse_upper",
            "compliance",
            "speed",
            "G",
            "impulse",
            "borne",
        ):
            setattr(own_movers, name, self.zeros(count * len(terms), types.T))
        own_movers.bearing = self.zeros(count * len(terms), int)
        own_movers.bearing_count = self.zeros(count * len(movers), int)
        sizes = [size for size, own in zip(dofs, rows) for _ in own]
        own_movers.row_Y = self.upload(np.cumsum([0, *sizes]), int)
        own_movers.Y_count = sum(sizes)
        own_movers.Y = self.zeros(count * sum(sizes), types.T)
        own_movers.J = self.zeros(count * own_movers.term_count, types.T)
        own_movers.rest = self.zeros(count * len(movers), types.T)
        own_movers.is_pushed = self.zeros(count * len(movers), int)
        own_movers.failed = self.zeros(count * len(movers), types.T)
        self.bodies, self.movers = own_bodies, own_movers
        self.most_dofs = max(dofs, default=0)
        self.parts = [self._own(group, members, movers) for group in groups.values()]
        self.solids = self._make_solids()
        self.islands = self._make_islands(len(movers))

    def _own(self, group: Group, members: Sequence[Member], movers: dict[tuple[int, int], int]) -> GroupPart:
        """What of a group takes part."""
        tree, is_body = group.tree, _is_body(group)
        found = [
            (number, members[articulation], link)
            for number, (articulation, link) in enumerate(self.tables.bodies)
            if members[articulation].group is group
        ]
        links = [member.first_row("link") + link for _, member, link in found]
        columns = [member.first_column for _, member, _ in found]
        origins = np.array([group.origins[member.place] for _, member, _ in found])
        places = sorted({member.place for _, member, _ in found})
        own_links = sorted(set(links))
        own_bodies = np.zeros((len(places), len(own_links)), int)
        for (number, member, _), link in zip(found, links):
            own_bodies[places.index(member.place), own_links.index(link)] = number
        is_held = [parent == tree.link_count and not dofs for parent, dofs in zip(tree.parent, tree.dof_counts)]
        rows = np.cumsum(np.logical_not(is_held)) - 1
        joints = [
            (members[articulation].first_row("loop") + loop, members[articulation].first_column, number)
            for number, (articulation, loop) in enumerate(self.tables.joints)
            if members[articulation].group is group
        ]
        keepers = [self.upload(several, int) for several in np.array(joints, int).reshape(-1, 3).T]
        tables = {} if is_body else self._tables_of(group)
        forces = None
        if any(row.family is DRIVE for row in tree.rows):
            forces = arrays_for(group.columns.numbers).Forces()
            tables |= group.make_forces(forces)
            tables["drive_forces"] = tables["parts"].part(ForcePart.DRIVE * tree.dof_count, tree.dof_count)
        return GroupPart(
            group=group,
            links=self.upload(links, int),
            columns=self.upload(columns, int),
            numbers=self.upload([number for number, _, _ in found], int),
            origins=self.upload(origins, wp.vec3d),
            mover_columns=self.upload([place * group.environments for place in places], int),
            mover_numbers=self.upload([movers[id(group), place] for place in places], int),
            own_bodies=self.upload(own_bodies[:, 0] if is_body else own_bodies, int),
            places=self.upload([rows[link] for link in own_links], int),
            path=Field.zeros(tree.dof_count, group.columns),
            is_body=is_body,
            has_rows=bool(bounded_rows(tree.rows)),
            tables=tables,
            forces=forces,
            keeper_rows=keepers[0],
            keeper_columns=keepers[1],
            keeper_numbers=keepers[2],
        )

    def _tables_of(self, group: Group) -> dict:
        """Fields for M^-1 and Jacobians of a group."""
        tree, columns = group.tree, group.columns
        size = tree.dof_count
        free = Field.zeros(size * size, columns)
        rows = bounded_rows(tree.rows)
        holds = tree.is_driven or any(row.family.traits & HOLDS for row in tree.rows)
        return {
            "movers": self.upload(tree.movers, int),
            "one": Field.of(np.eye(size).ravel(), columns),
            "free": free,
            "held": Field.zeros(size * size, columns) if holds else free,
            "yielding": Field.zeros(size * size * tree.is_driven, columns),
            "drives": Field.zeros(DRIVE_SIZE * size, columns),
            "drive_forces": Field.zeros(0, columns),
            "rows": self.upload(rows, int),
            "bounds": Field.zeros(SIZE * len(rows), columns),
            "gradients": Field.zeros(sum(len(tree.rows[row].dofs) for row in rows), columns),
            "vectors": Field.zeros(3 * (size + 2 * tree.link_count), columns),
            "jacobian": Field.zeros(6 * tree.link_count * size, columns),
        }

    def _make_solids(self):
        types, count = self.types, self.environments * len(self.tables.colliders)
        solids = types.Solids()
        solids.place, solids.axes = self.zeros(count, wp.vec3d), self.zeros(count, types.M)
        solids.lower, solids.upper = self.zeros(count, wp.vec3), self.zeros(count, wp.vec3)
        return solids

    def _make_islands(self, movers: int):
        islands, count = island_structs()[0](), self.environments
        islands.count, islands.point_range = self.zeros(count, int), self.zeros(2 * count, int)
        for name in ("leader", "number", "movers", "asleep"):
            setattr(islands, name, self.zeros(count * movers, int))
        for name in ("point_start", "mover_start"):
            setattr(islands, name, self.zeros(count * (movers + 1), int))
        return islands


def _is_body(group: Group) -> bool:
    """Whether the mechanisms of a group are bodies without joints, on which nothing else acts."""
    tree = group.tree
    return tree.link_count == 1 and tree.root_dofs == tree.dof_count == 6 and not tree.rows
