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
from warp_artic.constraints.joint_friction import FRICTION
from warp_artic.constraints.loop_friction import LOOP_FRICTION
from warp_artic.description.scene import Scene
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_structs
from warp_artic.islands.predicted_motion import MAX_PREDICTIONS, TOLERATED_OVERLAP
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.families import HOLDS
from warp_artic.model.field import Field
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.islands.launches import IslandLaunches
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
    mechanism_columns: wp.array
    mechanism_numbers: wp.array
    own_bodies: wp.array
    """Of each mechanism, and each of `jacobian_links`, the number of the body."""
    jacobian_links: wp.array
    """Rows of the Jacobian, as a count of links."""
    displacement: Field
    """Of its mechanisms beside a step, a row a dof."""
    is_body: bool
    """Whether its mechanisms are bodies without joints, on which nothing else acts."""
    has_rows: bool
    """Whether something holds single joints (`constraints.bounded_rows`)."""
    forces: Any
    """A struct `Forces` for steps without contacts, where drives have a maximum force or joints friction, else None."""
    tables: dict
    """Fields that are found for mechanisms with joints."""
    filter_rows: wp.array
    """Of each of its joints that keep colliders apart until they break: its row of `loop_broken`."""
    filter_columns: wp.array
    filter_numbers: wp.array
    """Number among all of these joints."""


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
        self.launch = IslandLaunches(device)
        self.types = island_types(precision)
        self.tables = collider_tables(scene.island_contacts, scene)
        self.colliders = self._upload_colliders(scene.island_contacts.bounce_threshold)
        self.joint_filters = self._upload_joint_filters()
        self._lay_out(members)
        self.planes = self.upload(np.flatnonzero(self.tables.columns["kind"] == PLANE), int)
        """Numbers of planes."""
        numbers = np.repeat(np.arange(environments), self.tables.coarse)
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
        colliders.count, colliders.coarse = len(self.tables.colliders), self.tables.coarse
        colliders.bounce_threshold = bounce_threshold
        colliders.surfaces = int(np.sqrt(len(columns["static_friction"])))
        turning = columns["torsional_friction"], columns["rolling_friction"]
        colliders.resist_turning = int(any((lengths > 0.0).any() for lengths in turning))
        kinds = {"axes": types.M, "position": wp.vec3d, "size": types.V, "middle": types.V, "half": types.V}
        for name, values in columns.items():
            if values.dtype == np.int32:
                kind = int
            elif values.dtype == np.int64:
                kind = wp.int64
            else:
                kind = kinds.get(name, types.T)
            setattr(colliders, name, self.upload(values, kind))
        return colliders

    def _upload_joint_filters(self):
        filters = self.types.JointFilters()
        filters.count = len(self.tables.joints)
        filters.pairs = self.upload(self.tables.joint_filters["pairs"], wp.int64)
        filters.first, filters.joint = (
            self.upload(self.tables.joint_filters[name], int) for name in ("first", "joint")
        )
        filters.broken = self.zeros(self.environments * filters.count, self.types.T)
        return filters

    def _lay_out(self, members: Sequence[Member]) -> None:
        """Number bodies, kinematic ones last, and mechanisms, and make their arrays."""
        mechanisms: dict[tuple[int, int], int] = {}
        groups: dict[int, Group] = {}
        for articulation, _link in self.tables.bodies:
            member = members[articulation]
            groups[id(member.group)] = member.group
            mechanisms.setdefault((id(member.group), member.place), len(mechanisms))
        trees = [groups[group].tree for group, _place in mechanisms]
        self.bodies, jacobian_count = self._make_bodies(members, mechanisms)
        self.mechanisms = self._make_mechanisms(trees, jacobian_count)
        self._make_rows(trees)
        self.most_dofs = max((tree.dof_count for tree in trees), default=0)
        self.parts = [self._own(group, members, mechanisms) for group in groups.values()]
        self.solids = self._make_solids()
        self.islands = self._make_islands(len(mechanisms))

    def _make_bodies(self, members: Sequence[Member], numbers: dict[tuple[int, int], int]):
        """Bodies, and how many entries their Jacobians have; mechanisms have numbers by group and place."""
        types, moved = self.types, len(self.tables.motions)
        mechanism, jacobian, entries = [], [], 0
        for articulation, _link in self.tables.bodies:
            member = members[articulation]
            mechanism.append(numbers[id(member.group), member.place])
            jacobian.append(-1 if _is_body(member.group.tree) else entries)
            entries += 0 if _is_body(member.group.tree) else 6 * member.group.tree.dof_count
        bodies = types.Bodies()
        bodies.count = len(mechanism) + moved
        bodies.mechanism = self.upload([*mechanism, *[-1] * moved], int)
        bodies.jacobian = self.upload([*jacobian, *[-1] * moved], int)
        count = self.environments * bodies.count
        for name in ("position", "center"):
            setattr(bodies, name, self.zeros(count, wp.vec3d))
        bodies.axes = self.zeros(count, types.M)
        for name in ("linear", "angular", "surface_linear", "surface_angular", "force", "moment"):
            setattr(bodies, name, self.zeros(count, types.V))
        for name in ("mobility", "turning_mobility"):
            setattr(bodies, name, self.zeros(count, types.T))
        for name in ("predicted_linear", "predicted_angular"):
            setattr(bodies, name, wp.zeros((MAX_PREDICTIONS, max(count, 1)), dtype=types.V, device=self.device))
        bodies.prediction_count, bodies.is_deflected = self.zeros(self.environments, int), self.zeros(count, int)
        radius, tolerance, is_aspherical = self._sizes_of_bodies(bodies.count)
        bodies.radius, bodies.motion_tolerance = self.upload(radius, types.T), self.upload(tolerance, types.T)
        bodies.is_aspherical = self.upload(is_aspherical, int)
        return bodies, entries

    def _sizes_of_bodies(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Radius and tolerated difference of predictions of bodies [m], and which have other colliders than spheres."""
        columns = self.tables.columns
        reach = np.linalg.norm(columns["position"], axis=-1) + np.linalg.norm(columns["middle"], axis=-1)
        reach += np.linalg.norm(columns["half"], axis=-1)
        radius, tolerance = np.zeros(count), np.full(count, np.inf)
        moves = columns["body"] >= 0
        np.maximum.at(radius, columns["body"][moves], reach[moves])
        least = np.maximum(columns["contact_offset"], TOLERATED_OVERLAP * columns["thickness"])
        np.minimum.at(tolerance, columns["body"][moves], least[moves])
        is_aspherical = np.zeros(count, int)
        is_aspherical[columns["body"][moves & (columns["kind"] != int(Solid.SPHERE))]] = 1
        return radius, tolerance, is_aspherical

    def _make_mechanisms(self, trees: Sequence[Tree], jacobian_count: int):
        """Mechanisms, as yet without the rows of their joints."""
        T, count = self.types.T, self.environments
        mechanisms = self.types.Mechanisms()
        mechanisms.count, mechanisms.jacobian_count = len(trees), jacobian_count
        dofs = [tree.dof_count for tree in trees]
        squares = [size * size for size in dofs]
        mechanisms.dofs = self.upload(dofs, int)
        mechanisms.first = self.upload(np.cumsum([0, *dofs])[:-1], int)
        mechanisms.inverse_first = self.upload(np.cumsum([0, *squares])[:-1], int)
        mechanisms.dof_count, mechanisms.inverse_count = sum(dofs), sum(squares)
        for name in ("start", "free", "v", "before", "displacement", "projected", "mobility", "end_weight"):
            setattr(mechanisms, name, self.zeros(count * sum(dofs), T))
        of_friction = [
            {dof for row in tree.rows if row.family in (FRICTION, LOOP_FRICTION) for dof in row.dofs} for tree in trees
        ]
        is_held = [int(dof in own) for tree, own in zip(trees, of_friction) for dof in range(tree.dof_count)]
        mechanisms.is_held = self.upload(is_held, int)
        mechanisms.inverse = self.zeros(count * sum(squares), T)
        has_square_root = any(not _is_body(tree) and not _has_holding_rows(tree) for tree in trees)
        mechanisms.square_root = self.zeros(count * sum(squares) * has_square_root, T)
        outward = [pair for tree in trees for pair in _outward_dofs(tree)]
        mechanisms.outward, mechanisms.outward_end = (self.upload(several, int) for several in zip(*outward))
        mechanisms.jacobian = self.zeros(count * jacobian_count, T)
        for name, kind in (
            ("steps_at_rest", T),
            ("failed", T),
            ("is_pushed", int),
            ("is_hit", int),
            ("supporting_count", int),
            ("has_square_root", int),
        ):
            setattr(mechanisms, name, self.zeros(count * len(trees), kind))
        return mechanisms

    def _make_rows(self, trees: Sequence[Tree]) -> None:
        """The rows of joints, of one mechanism after the other."""
        T, count, mechanisms = self.types.T, self.environments, self.mechanisms
        rows = [[tree.rows[row] for row in bounded_rows(tree.rows)] for tree in trees]
        flat = [row for several in rows for row in several]
        sizes = [tree.dof_count for tree, several in zip(trees, rows) for _ in several]
        mechanisms.row_count, mechanisms.Y_count = len(flat), sum(sizes)
        mechanisms.term_count = sum(len(row.dofs) for row in flat)
        mechanisms.row_first = self.upload(np.cumsum([0, *map(len, rows)]), int)
        mechanisms.row_term = self.upload(np.cumsum([0, *(len(row.dofs) for row in flat)]), int)
        mechanisms.row_Y = self.upload(np.cumsum([0, *sizes]), int)
        mechanisms.term_dof = self.upload([dof for row in flat for dof in row.dofs] or [0], int)
        drives = [int(row.family is DRIVE) for row in flat]
        mechanisms.is_drive = self.upload(drives or [0], int)
        mechanisms.yielding = self.zeros(count * mechanisms.inverse_count * any(drives), T)
        bounds = "velocity_lower", "velocity_upper", "impulse_lower", "impulse_upper", "compliance", "bears"
        for name in (*bounds, "speed", "G", "impulse", "row_warm", "initial", "accumulated"):
            setattr(mechanisms, name, self.zeros(count * len(flat), T))
        for name in ("holds", "supporting"):
            setattr(mechanisms, name, self.zeros(count * len(flat), int))
        mechanisms.Y = self.zeros(count * mechanisms.Y_count, T)
        mechanisms.J, mechanisms.P = (self.zeros(count * mechanisms.term_count, T) for _ in range(2))

    def _own(self, group: Group, members: Sequence[Member], mechanisms: dict[tuple[int, int], int]) -> GroupPart:
        """What of a group takes part."""
        tree, is_body = group.tree, _is_body(group.tree)
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
        filters = [self.upload(several, int) for several in np.array(joints, int).reshape(-1, 3).T]
        tables = {} if is_body else self._tables_of(group)
        forces = None
        if bounded_rows(tree.rows):
            forces = arrays_for(group.columns.numbers).Forces()
            tables |= group.make_forces(forces)
        return GroupPart(
            group=group,
            links=self.upload(links, int),
            columns=self.upload(columns, int),
            numbers=self.upload([number for number, _, _ in found], int),
            origins=self.upload(origins, wp.vec3d),
            mechanism_columns=self.upload([place * group.environments for place in places], int),
            mechanism_numbers=self.upload([mechanisms[id(group), place] for place in places], int),
            own_bodies=self.upload(own_bodies[:, 0] if is_body else own_bodies, int),
            jacobian_links=self.upload([rows[link] for link in own_links], int),
            displacement=Field.zeros(tree.dof_count, group.columns),
            is_body=is_body,
            has_rows=bool(bounded_rows(tree.rows)),
            tables=tables,
            forces=forces,
            filter_rows=filters[0],
            filter_columns=filters[1],
            filter_numbers=filters[2],
        )

    def _tables_of(self, group: Group) -> dict:
        """Fields for M^-1 and Jacobians of a group."""
        tree, columns = group.tree, group.columns
        size = tree.dof_count
        free = Field.zeros(size * size, columns)
        rows = bounded_rows(tree.rows)
        terms = sum(len(tree.rows[row].dofs) for row in rows)
        has_holding_rows = _has_holding_rows(tree)
        holds = tree.is_driven or has_holding_rows
        return {
            "movers": self.upload(tree.movers, int),
            "one": Field.of(np.eye(size).ravel(), columns),
            "free": free,
            "held": Field.zeros(size * size, columns) if holds else free,
            "has_holding_rows": int(has_holding_rows),
            "square_root": Field.zeros(0 if has_holding_rows else size * size, columns),
            "has_square_root": Field.zeros(1, columns),
            "yielding": Field.zeros(size * size * tree.is_driven, columns),
            "drives": Field.zeros(DRIVE_SIZE * size, columns),
            "started": Field.zeros(1, columns),
            "parts": Field.zeros(0, columns),
            "row_margin": Field.zeros(0, columns),
            "rows": self.upload(rows, int),
            "row_parts": self.upload([int(tree.rows[row].family.part) for row in rows], int),
            "bounds": Field.zeros(SIZE * len(rows), columns),
            "gradients": Field.zeros(terms, columns),
            "pushes": Field.zeros(terms, columns),
            "free_velocities": Field.zeros(size, columns),
            "velocities": Field.zeros(size, columns),
            "energies": Field.zeros(len(tree.parts), columns),
            "touched": Field.zeros(len(tree.parts), columns),
            "vectors": Field.zeros(3 * (size + 2 * tree.link_count), columns),
            "jacobian": Field.zeros(6 * tree.link_count * size, columns),
        }

    def _make_solids(self):
        types, fine = self.types, len(self.tables.colliders) - self.tables.coarse
        count, solids = self.environments * self.tables.coarse, types.Solids()
        solids.position, solids.axes = self.zeros(count, wp.vec3d), self.zeros(count, types.M)
        for name, size in (("", count), ("fine_", fine)):
            setattr(solids, f"{name}lower", self.zeros(size, wp.vec3))
            setattr(solids, f"{name}upper", self.zeros(size, wp.vec3))
        return solids

    def _make_islands(self, mechanisms: int):
        islands, count = island_structs()[0](), self.environments
        islands.count, islands.point_range = self.zeros(count, int), self.zeros(2 * count, int)
        for name in ("leader", "number", "mechanisms", "asleep"):
            setattr(islands, name, self.zeros(count * mechanisms, int))
        for name in ("point_start", "mechanism_start"):
            setattr(islands, name, self.zeros(count * (mechanisms + 1), int))
        return islands


def _has_holding_rows(tree: Tree) -> bool:
    """Whether M^-1 may be another with rows that hold (`solver.held_response`)."""
    return any(row.family.traits & HOLDS for row in tree.rows)


def _outward_dofs(tree: Tree) -> list[tuple[int, int]]:
    """Of each dof the first and the end of those that move what it moves, and only that: of its joint and outward."""
    found = [(dof, dof + 1) for dof in range(tree.dof_count)]
    for dof in range(tree.dof_count):
        for inner in tree.dofs_inward(tree.link_of_dof[dof]):
            first, end = found[inner]
            found[inner] = min(first, dof), max(end, dof + 1)
    return found


def _is_body(tree: Tree) -> bool:
    """Whether a mechanism is a body without joints, on which nothing else acts."""
    return tree.link_count == 1 and tree.root_dofs == tree.dof_count == 6 and not tree.rows
