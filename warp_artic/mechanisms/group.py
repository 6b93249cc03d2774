"""A group of equal mechanisms on a device: its model, state, control and work space.

A mechanism is an articulation, or several that are stepped together (`description.mechanism`). The columns of a group
are its mechanisms times the environments: column = mechanism * environments + environment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property, lru_cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.constraints.contact_pair import CONTACT_PAIR, MOST_POINTS
from warp_artic.constraints.table import FAMILIES
from warp_artic.description.articulation import Articulation
from warp_artic.description.assemble import all_closed
from warp_artic.description.drive import Drive
from warp_artic.description.mechanism import Mechanism, joined, mechanisms_of
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.mechanisms.public_rows import (
    ALLOWED,
    ENTRIES,
    FOUND,
    JOINT_FORCES,
    MEASURES,
    MEMORY,
    MULTIPLIERS,
    PARAMETERS,
    ROOT_FORCES,
    ROW_COUNTS,
    count_kinds,
    kind_of,
)
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.mechanisms.tree import Tree, tree_of
from warp_artic.model.base import base_rows
from warp_artic.model.families import (
    HAS_OWN_WEIGHT,
    HOLDS_POSITIONS,
    IS_CURVED,
    LOOKS_AT_ACCELERATIONS,
    ON_ONE_DOF,
    PUSHES_LINKS,
    RETURNS,
)
from warp_artic.model.field import Columns, Field
from warp_artic.model.force_parts import PART_NAMES
from warp_artic.model.frames import origin_of
from warp_artic.model.kinds import JointKind
from warp_artic.model.row import Row
from warp_artic.model.row_elimination import all_meet, elimination_tables
from warp_artic.model.row_problem import ROW_ARRAYS, row_array_sizes

ROUNDING = {wp.float32: (2e-6, 1e-10, 3e-6), wp.float64: (4e-15, 1e-26, 1e-11)}
"""What a solved number is known to, the share of a square that is left of what rows before it say already, and the
share by which contact points give way, so that they share loads."""

REPORTED = ("link_pose", "link_velocity", "energy", *MEASURES)
"""Outputs that are brought up to date together."""

LINK_STEP_OUTPUTS = ("link_incoming_joint_force", "link_acceleration")
"""Such outputs with six rows for each link."""

STEP_OUTPUTS = (
    *JOINT_FORCES,
    *ROOT_FORCES,
    *MULTIPLIERS,
    "joint_acceleration",
    "root_acceleration",
    *LINK_STEP_OUTPUTS,
)
"""All of them."""


SWITCHES = {
    "link_linear_damping": "link_damping",
    "link_angular_damping": "link_damping",
    **{parameter.name: parameter.flag for parameter in PARAMETERS if parameter.flag is not None},
}
"""Parameters that are left out of steps where no tree of a group has them, and what says so."""


BY_BODY = "elastic_body"
"""What has stopped a tree that nodes of an elastic body are attached to, with the last number of a failure."""

WATCHED = (
    "joint_position",
    "joint_velocity",
    "root_pose",
    "root_velocity",
    "drive_position_target",
    "drive_velocity_target",
    "joint_effort",
    "link_external_force",
    "loop_broken",
)
"""Arrays whose changes wake a tree, in the order of `phases.sleep`."""


@dataclass(frozen=True)
class Group:
    """Equal mechanisms, and their arrays."""

    tree: Tree
    members: tuple[tuple[int, ...], ...]
    """Of each mechanism the indices of its articulations in the scene."""
    environments: int
    columns: Columns
    origins: np.ndarray
    """World place of the origin that positions are relative to, shape (members, 3) [m]."""
    parameters: dict[str, Field]
    state: dict[str, Field]
    control: dict[str, Field]
    outputs: dict[str, Field]
    arrays: SimpleNamespace
    """The structs `model`, `state`, `control`, `report`, `forces` and `work` for kernels, and the field `padding`."""
    workers: int
    """Slots of a work space."""
    works: tuple
    """Work spaces for launches that run at once, `arrays.work` first."""
    checked: dict[str, Field] = dataclass_field(default_factory=dict)
    """Controls and parameters that steps check before they begin."""

    def field(self, name: str) -> Field:
        """The field of a name, be it state, control, output or parameter."""
        for fields in (self.state, self.control, self.outputs, self.parameters):
            if name in fields:
                return fields[name]
        raise KeyError(name)

    def write(self, name: str, values: np.ndarray, environments: np.ndarray) -> None:
        """Write values of shape (rows, mechanisms, chosen environments) from the host."""
        scalars = self.field(name).scalars
        written = scalars.numpy()
        first = np.arange(len(self.members)) * self.environments
        written[: values.shape[0], first[:, None] + environments] = values
        if not scalars.device.is_cpu:
            scalars.assign(written)

    def write_rows(self, name: str, place: int, rows: np.ndarray, values: np.ndarray) -> None:
        """Write one value for some rows of a mechanism, in all its environments, from the host."""
        if name in self.parameters:
            self.expand_parameter(name)
        scalars = self.field(name).scalars
        written = scalars.numpy()
        first = place * self.environments
        written[rows, first : first + self.environments] = values[:, None]
        if not scalars.device.is_cpu:
            scalars.assign(written)

    def expand_parameter(self, name: str) -> None:
        """Give a parameter a value for each environment, if it has one for all."""
        field = self.parameters[name]
        if field.is_shared:
            self.parameters[name] = field.expanded()
            setattr(self.arrays.model, name, self.parameters[name].numbers)
            if name in SWITCHES:
                setattr(self.arrays.model, SWITCHES[name], 1)
        self.check(name)

    def report_forces(self, in_world: int, without_tendons: int) -> bool:
        """Take in how forces by joints on links are reported; says whether that is new, or arrays of forces are."""
        has_room = "joint_acceleration" in self.outputs
        if not has_room:
            self._make_room_for_forces()
        forces = self.arrays.forces
        if has_room and (forces.in_world, forces.without_tendons) == (in_world, without_tendons):
            return False
        forces.in_world, forces.without_tendons = in_world, without_tendons
        return True

    def watch(self, name: str) -> None:
        """Have steps look for changes of an array that anybody may write to from now on."""
        if name in WATCHED:
            place = WATCHED.index(name)
            self.arrays.model.watched[place : place + 1].fill_(1)

    @cached_property
    def first_values(self) -> dict[str, int]:
        """The number of a failure by the first row of each array that steps check, in the order of `ALLOWED`.

        Those of root poses come next, one for each, then joint positions, and an elastic body that has stopped.
        """
        counts = {name: size * self.tree.row_counts[kind] for name, (kind, size) in ROW_COUNTS.items()}
        firsts = self.tree.dof_count + 1 + np.cumsum([0, *(counts[name] for name in ALLOWED)])
        found = dict(zip((*ALLOWED, "root_pose"), map(int, firsts)))
        positions = max(self.tree.row_counts["root"], 1) + self.tree.row_counts["dof"]
        return {**found, BY_BODY: found["root_pose"] + positions}

    def check(self, name: str) -> None:
        """Have steps stop an environment in which an array is not allowed; see `phases.given_values`."""
        field = self.control[name] if name in self.control else self.parameters[name]
        is_known = name not in ALLOWED or self.checked.get(name) is field
        if is_known or wp.get_device(self.columns.device).is_capturing:
            return
        self.checked[name] = field
        kind, size = ROW_COUNTS[name]
        rows, model = size * self.tree.row_counts[kind], self.arrays.model
        if rows == 0:
            return
        table = [array.numpy().copy() for array in (model.given, model.given_address, model.given_bounds)]
        given, address, bounds = table
        place = [one for one in self.checked if self.tree.row_counts[ROW_COUNTS[one][0]]].index(name)
        given[0] = max(given[0], place + 1)
        pitch = self.columns.pitch // self.columns.numbers.lanes
        given[3 * place + 1 : 3 * place + 4] = rows, pitch, self.first_values[name]
        address[place] = field.scalars.ptr
        bounds[2 * place : 2 * place + 2] = ALLOWED[name].bounds(wp.dtype_to_numpy(self.columns.numbers.scalar))
        for array, values in zip((model.given, model.given_address, model.given_bounds), table):
            array.assign(values)

    def _make_room_for_forces(self) -> None:
        tree, columns = self.tree, self.columns
        fields = {name: Field.zeros(rows_in(tree, name), columns) for name in MULTIPLIERS}
        fields["joint_acceleration"] = Field.zeros(tree.dof_count - tree.root_dofs, columns)
        fields["root_acceleration"] = Field.zeros(tree.root_dofs, columns)
        for name in LINK_STEP_OUTPUTS:
            fields[name] = Field.zeros(6 * tree.link_count, columns)
        parts = Field.zeros(len(PART_NAMES) * tree.dof_count, columns)
        _field_struct(self.arrays.forces, {"parts": parts, **fields})
        self.outputs.update(fields, tendon_mobility=Field.zeros(tree.tendon_count, columns))
        joints, roots = tree.dof_count - tree.root_dofs, tree.root_dofs
        for k, (of_joints, of_roots) in enumerate(zip(JOINT_FORCES, ROOT_FORCES)):
            self.outputs[of_roots] = parts.part(k * tree.dof_count, roots)
            self.outputs[of_joints] = parts.part(k * tree.dof_count + roots, joints)


def build_groups(
    scene, environments: int, numbers_of, device: str, dense_rows: bool, sleep_steps: int, threads: int = 1
) -> tuple[Group, ...]:
    """Group the mechanisms of a scene by structure and put them on a device.

    `numbers_of(columns)` chooses the number type of a group with that many environments; `dense_rows` makes room for
    the couplings of all constraint rows with each other; trees sleep after `sleep_steps` at rest, never if that is 0;
    so many `threads` may run launches of a group at once.
    """
    members: dict[Tree, list[tuple[int, ...]]] = {}
    trees = trees_of(scene)
    for indices in mechanisms_of(scene):
        members.setdefault(trees[indices[0]], []).append(indices)
    return tuple(
        _build_group(
            scene,
            tree,
            tuple(indices),
            environments,
            numbers_of(len(indices) * environments),
            device,
            dense_rows,
            sleep_steps,
            threads,
        )
        for tree, indices in members.items()
    )


def _build_group(
    scene,
    tree,
    members,
    environments: int,
    numbers: Numbers,
    device: str,
    dense_rows: bool,
    sleep_steps: int,
    threads: int,
) -> Group:
    mechanisms = mechanisms_in(scene, members)
    columns = Columns(len(members) * environments, numbers, device)
    origins = np.array([origin_of(mechanism) for mechanism in mechanisms])
    rows = [parameter_rows(mechanism, origin) for mechanism, origin in zip(mechanisms, origins)]
    parameters = {name: _parameter_field([row[name] for row in rows], environments, columns) for name in rows[0]}
    parameters["base"] = Field.of(base_rows(), columns)
    parameters["gravity"] = Field.of(np.asarray(scene.gravity, float), columns)
    parameters["rounding"] = Field.of(np.array(ROUNDING[numbers.scalar]), columns)
    state = {
        name: _member_field(values, environments, columns)
        for name, values in initial_state(mechanisms, origins).items()
    }
    state["seen"] = Field.zeros(_seen_rows(tree) if sleep_steps else 0, columns)
    control = {
        name: _member_field(values, environments, columns) for name, values in initial_control(mechanisms).items()
    }
    links = tree.link_count
    outputs = {
        "link_pose": Field.zeros(7 * links, columns),
        "link_velocity": Field.zeros(6 * links, columns),
        "energy": Field.zeros(2 * len(tree.parts), columns),
        **{name: Field.zeros(rows_in(tree, name), columns) for name in (*MEASURES, *FOUND)},
    }
    workers = 1 if wp.get_device(device).is_cpu else columns.blocks
    structs = arrays_for(numbers)
    works = tuple(
        _work_struct(structs.Work(), tree, numbers, workers, device, dense_rows)
        for _thread in range(min(threads, columns.blocks))
    )
    arrays = SimpleNamespace(
        model=_model_struct(structs.Model(), tree, parameters, numbers, device, dense_rows),
        padding=_padding(columns),
        state=_field_struct(structs.State(), state),
        control=_field_struct(structs.Control(), control),
        report=_field_struct(structs.Report(), {name: outputs[name] for name in REPORTED}),
        forces=structs.Forces(),
        work=works[0],
    )
    arrays.model.padding = arrays.padding.numbers
    arrays.model.sleep_steps = sleep_steps
    fields = parameters, state, control, outputs
    group = Group(tree, members, environments, columns, origins, *fields, arrays, workers, works)
    arrays.model.first_position = group.first_values["root_pose"]
    return group


def rows_in(tree: Tree, name: str) -> int:
    """How many rows a public array has in a mechanism."""
    kind, size = ROW_COUNTS[name]
    return size * tree.row_counts[kind]


def trees_of(scene) -> tuple[Tree, ...]:
    """The structure of the mechanism of each articulation of a scene, as it is laid out.

    Those of one group have the same.
    """
    pulled = {one.link for body in scene.elastic_bodies for one in body.attachments}
    pulled |= {point.link for one in scene.mesh_tendons for point in one.waypoints if isinstance(point, LinkPoint)}

    found = {}
    for indices in mechanisms_of(scene):
        (mechanism,) = mechanisms_in(scene, (indices,))
        tree = tree_of(mechanism)
        parts = (
            part if pulled.isdisjoint(one.bodies) else replace(part, is_pulled=True)
            for part, one in zip(tree.parts, mechanism.articulations)
        )
        found |= dict.fromkeys(indices, replace(tree, parts=tuple(parts)))
    return tuple(found[index] for index in range(len(scene.articulations)))


def mechanisms_in(scene, members) -> list[Articulation | Mechanism]:
    """Mechanisms of a scene by the indices of their articulations."""
    return [joined([scene.articulations[index] for index in indices]) for indices in members]


def arrays_with_rows(group: Group, rows: tuple[Row, ...], dense_rows: bool = True) -> SimpleNamespace:
    """The structs `model` and `work` of a group whose trees have other constraint rows, with `dense_rows` or not."""
    tree, device = replace(group.tree, rows=rows), group.columns.device
    numbers = group.columns.numbers
    structs = arrays_for(numbers)
    return SimpleNamespace(
        model=_model_struct(structs.Model(), tree, group.parameters, numbers, device, dense_rows),
        work=_work_struct(structs.Work(), tree, numbers, group.workers, device, dense_rows),
    )


def initial_state(mechanisms, origins) -> dict[str, np.ndarray]:
    """The authored start state, with loops closed to rounding, each field of shape (mechanisms, rows)."""
    mechanisms = all_closed(mechanisms)
    poses, velocities = [], []
    for mechanism, origin in zip(mechanisms, origins):
        roots = [link for link, joint in zip(mechanism.links, mechanism.inbound) if joint is None]
        placed = ([*(np.asarray(link.pose.position) - origin), *link.pose.quaternion] for link in roots)
        poses.append([value for pose in placed for value in pose])
        velocities.append([value for link in roots for value in (*link.linear_velocity, *link.angular_velocity)])
    trees = len(mechanisms[0].articulations)
    dofs = len(velocities[0]) + len(mechanisms[0].dofs)
    return {
        "joint_position": np.array([[dof.position for dof in tree.dofs] for tree in mechanisms]),
        "joint_velocity": np.array([[dof.velocity for dof in tree.dofs] for tree in mechanisms]),
        "root_pose": np.array(poses),
        "root_velocity": np.array(velocities),
        "failure": np.zeros((len(mechanisms), 2)),
        "clock": np.zeros((len(mechanisms), 1)),
        "started": np.zeros((len(mechanisms), 1)),
        "smooth_acceleration": np.zeros((len(mechanisms), dofs)),
        "acceleration_change": np.zeros((len(mechanisms), 2 * dofs)),
        "smoothness": np.zeros((len(mechanisms), 2 * trees)),
        "unresolved": np.zeros((len(mechanisms), trees)),
        "steps_at_rest": np.zeros((len(mechanisms), 1)),
        **{
            name: np.zeros((len(mechanisms), one.size * count_kinds(mechanisms[0])[kind_of(name)]))
            for name, one in MEMORY.items()
        },
    }


def initial_control(mechanisms) -> dict[str, np.ndarray]:
    """The authored control, each field of shape (mechanisms, rows)."""
    drives = [[dof.drive or Drive() for dof in one.dofs] for one in mechanisms]
    links = len(mechanisms[0].links)
    return {
        "drive_position_target": np.array([[drive.position_target for drive in row] for row in drives]),
        "drive_velocity_target": np.array([[drive.velocity_target for drive in row] for row in drives]),
        "joint_effort": np.zeros((len(mechanisms), len(drives[0]))),
        "link_external_force": np.zeros((len(mechanisms), 6 * links)),
    }


def _seen_rows(tree: Tree) -> int:
    """How much there is of what wakes a tree, in the order of `phases.sleep`."""
    joints, roots = tree.dof_count - tree.root_dofs, tree.row_counts["root"]
    return 5 * joints + 6 * tree.link_count + 13 * roots + tree.row_counts["loop"]


def _padding(columns: Columns) -> Field:
    """One in the columns that are no environment, zero elsewhere."""
    field = Field.zeros(1, columns)
    values = np.zeros(field.scalars.shape, wp.dtype_to_numpy(columns.numbers.scalar))
    values[:, columns.count :] = 1.0
    field.scalars.assign(values)
    return field


def _member_field(values: np.ndarray, environments: int, columns: Columns) -> Field:
    """A field from values of shape (mechanisms, rows), the same in every environment."""
    field = Field.zeros(values.shape[1], columns)
    if values.shape[1]:
        field.fill(np.repeat(values.T, environments, axis=1))
    return field


def _parameter_field(rows: list[np.ndarray], environments: int, columns: Columns) -> Field:
    """Shared where all mechanisms agree, else a value for each column."""
    values = np.array(rows)
    if (values == values[0]).all():
        return Field.of(values[0], columns)
    return Field.of(np.repeat(values.T, environments, axis=1), columns)


def _field_struct(struct, fields: dict[str, Field]):
    for name, field in fields.items():
        setattr(struct, name, field.numbers)
    return struct


def _model_struct(struct, tree: Tree, parameters: dict[str, Field], numbers: Numbers, device: str, dense_rows: bool):
    _field_struct(struct, parameters)
    struct.link_count = tree.link_count
    struct.body_count = tree.body_count
    struct.dof_count = tree.dof_count
    struct.root_dofs = tree.root_dofs
    struct.tree_count = len(tree.parts)
    struct.island_count = tree.island_count
    struct.placed_rows = sum(row.family.needs_places for row in tree.rows)
    struct.held_positions = tree.count_with(HOLDS_POSITIONS | RETURNS)
    struct.closed_islands = sum(tree.island_keeps_energy)
    struct.is_dual = int(numbers.is_dual)
    struct.pushing_rows = tree.count_with(PUSHES_LINKS)
    struct.rotation_rows = tree.count_with(IS_CURVED)
    struct.finite_rotations = sum(kind in (JointKind.SWING, JointKind.SPHERICAL) for kind in tree.kind)
    struct.rotation_drives = sum(tree.is_coupled)
    struct.swing_joints = tree.kind.count(JointKind.SWING)
    struct.stop_row = sum(not row.family.is_stop for row in tree.rows)
    struct.free_motion = int(tree.moves_freely)
    struct.driven = int(tree.is_driven)
    struct.limit_row = next((k for k, row in enumerate(tree.rows) if row.family.rows_each > 1), len(tree.rows))
    struct.speed_limits = tree.speed_limit_count
    for name, has in tree.flags.items():
        setattr(struct, name, int(has))
    for family in FAMILIES:
        for name, count in family.counts.items():
            setattr(struct, name, count(tree))
    islands = _island_tables(tree)
    struct.late_bends = int(any(islands["island_bends_late"]))
    struct.early_bends = int(struct.rotation_rows > 0 and not all(islands["island_bends_late"]))
    struct.restarts = int(any(islands["island_restarts"]))
    terms, slots, slot_count = _row_tables(tree, dense_rows)
    struct.row_count = len(tree.rows)
    struct.slot_count = slot_count
    struct.innovations_only = int(dense_rows)
    elimination = elimination_tables(_supports(terms) if dense_rows else [])
    struct.all_rows_meet = int(all_meet(elimination))
    tables = {
        "order": tree.order,
        "links_by_path": tree.links_by_path,
        **islands,
        "link_parent": tree.parent,
        "link_joint": [int(kind) for kind in tree.kind],
        "link_dof": tree.first_dof,
        "link_dofs": tree.dof_counts,
        "link_is_coupled": [int(coupled) for coupled in tree.is_coupled],
        "dof_link": [tree.link_of_dof[dof] for dof in range(tree.dof_count)],
        "dof_is_linear": [int(linear) for linear in tree.dof_is_linear],
        "dof_axis": tree.dof_axis,
        "row_family": [row.family.order for row in tree.rows],
        "row_traits": [row.family.traits for row in tree.rows],
        "row_part": [int(row.family.part) for row in tree.rows],
        "row_place": _entry_places(tree),
        "row_dof": [row.dofs[0] for row in tree.rows],
        "row_item": [row.item for row in tree.rows],
        **terms,
        **elimination,
        "slot_row": slots,
        **{name: table(tree) for family in FAMILIES for name, table in family.tables.items()},
        "watched": [0] * len(WATCHED),
        "shared_dofs": _shared_dofs(tree).ravel() if dense_rows else (),
    }
    for name, values in tables.items():
        setattr(struct, name, wp.array(np.array([*values, 0], dtype=np.int32), dtype=int, device=device))
    struct.given = wp.zeros(1 + 3 * len(ALLOWED), dtype=int, device=device)
    struct.given_address = wp.zeros(len(ALLOWED), dtype=wp.uint64, device=device)
    struct.given_bounds = wp.zeros(2 * len(ALLOWED), dtype=wp.float64, device=device)
    return struct


@lru_cache(maxsize=1)  # the model and every work space of a tree ask for them
def _row_tables(tree: Tree, dense_rows: bool) -> tuple[dict[str, list[int]], list[int], int]:
    """Terms and inward path of each row, the rows that represent the slots of pushes, and the number of slots.

    Rows on one dof share the slot of the dof. The direct solver has further slots for J that may differ from the push.
    """
    slot_of: dict[tuple, int] = {}
    slots: list[int] = []
    names = (
        "row_term",
        "row_terms",
        "row_slot",
        "term_dof",
        "term_span",
        "term_place",
        "row_path",
        "row_steps",
        "path_link",
        "row_first",
        "row_end",
        "row_support",
        "row_supports",
        "support_dof",
        "row_link",
        "row_is_branched",
    )
    tables: dict[str, list[int]] = {name: [] for name in names}
    for index, row in enumerate(tree.rows):
        key = _slot_key(row, index)
        if key not in slot_of:
            slot_of[key] = len(slots)
            slots.append(index)
        tables["row_term"].append(len(tables["term_dof"]))
        tables["row_terms"].append(len(row.dofs))
        tables["row_slot"].append(slot_of[key])
        tables["term_dof"] += row.dofs
        spans, places = _coupled_terms(tree, row)
        tables["term_span"] += spans
        tables["term_place"] += places
        path = tree.inward_path(row.dofs)
        tables["row_path"].append(len(tables["path_link"]))
        tables["row_steps"].append(len(path))
        tables["path_link"] += path
        moving = [link for link in path if tree.dof_counts[link] > 0]
        tables["row_first"].append(min(tree.first_dof[link] for link in moving))
        tables["row_end"].append(max(tree.first_dof[link] + tree.dof_counts[link] for link in moving))
        support = [tree.first_dof[link] + k for link in reversed(moving) for k in range(tree.dof_counts[link])]
        tables["row_support"].append(len(tables["support_dof"]))
        tables["row_supports"].append(len(support))
        tables["support_dof"] += support
        tables["row_link"].append(path[0])
        tables["row_is_branched"].append(int(any(tree.parent[a] != b for a, b in pairwise(path))))
    tables["row_rate_slot"] = list(tables["row_slot"])
    slot_count = len(slots)
    for index, row in enumerate(tree.rows):
        otherwise = row.family.pushes_otherwise
        if dense_rows and (tree.flags[otherwise] if isinstance(otherwise, str) else otherwise):
            tables["row_rate_slot"][index] = slot_count
            slot_count += 1
    return tables, slots, slot_count


def _supports(terms: dict[str, list[int]]) -> list[frozenset[int]]:
    """The dofs between each row and the root, in the order of gathering."""
    spans = zip(terms["row_support"], terms["row_supports"])
    return [frozenset(terms["support_dof"][start : start + count]) for start, count in spans][::-1]


def _shared_dofs(tree: Tree) -> np.ndarray:
    """Of each two links how many dofs are on the paths of both to the root."""
    shared = np.zeros((tree.link_count, tree.link_count), dtype=np.int32)
    placed: list[int] = []
    for link in tree.order:
        parent = tree.parent[link]
        if parent < tree.link_count:
            shared[link, placed] = shared[placed, link] = shared[parent, placed]
            shared[link, link] = shared[parent, parent]
        shared[link, link] += tree.dof_counts[link]
        placed.append(link)
    return shared


def _slot_key(row: Row, index: int):
    """Rows with the same key have the same push."""
    if row.family.shares_push is not None:
        return row.family.shares_push, row.item
    if row.family.traits & ON_ONE_DOF:
        return "dof", row.dofs
    return "row", index


def _tendon_places(tree: Tree) -> list[int]:
    """Where public arrays have each fixed tendon, and then each leaf: articulation by articulation."""
    fixed, leaves, place = [], [], 0
    for counts in (dict(part.row_counts) for part in tree.parts):
        fixed += range(place, place + counts["fixed_tendon"])
        place += counts["fixed_tendon"]
        leaves += range(place, place + counts["leaf"])
        place += counts["leaf"]
    return fixed + leaves


def _island_tables(tree: Tree) -> dict[str, list[int]]:
    """Which links and dofs each tree and each island has, and what decides how an island is stepped."""
    ends = np.cumsum([0, *(len(part.links) for part in tree.parts)])
    floating = [[link for link in part.links if tree.kind[link] is JointKind.FLOATING] for part in tree.parts]
    roots = [[tree.first_dof[link] for link in own] for own in floating]
    joints = range(tree.root_dofs, tree.dof_count)
    dof_island = [tree.island_of_dof(dof) for dof in range(tree.dof_count)]
    row_island = [tree.island_of_dof(row.dofs[0]) for row in tree.rows]
    links = [[link for part in own for link in part.links] for own in tree.parts_of_island]
    turns = [sum(tree.kind[link] in (JointKind.SWING, JointKind.SPHERICAL) for link in own) for own in links]
    traits = [0] * tree.island_count
    for row, own in zip(tree.rows, row_island):
        traits[own] |= row.family.traits
    waiting = LOOKS_AT_ACCELERATIONS | HAS_OWN_WEIGHT
    return {
        "tendon_place": _tendon_places(tree),
        "tree_link": list(ends),
        "tree_root": [own[0] if own else -1 for own in roots],
        "tree_island": list(tree.islands),
        "link_tree": [tree.part_of_link[link] for link in range(tree.link_count)],
        "island_first": list(np.searchsorted(np.sort(dof_island), range(tree.island_count + 1))),
        "island_dof": list(np.argsort(dof_island, kind="stable")),
        "island_moves_freely": [int(free) for free in tree.island_moves_freely],
        "island_is_driven": [int(any(part.is_driven for part in own)) for own in tree.parts_of_island],
        "island_has_drag": [int(any(part.has_link_damping for part in own)) for own in tree.parts_of_island],
        "island_turns": turns,
        "island_joints": [sum(dof_island[dof] == k for dof in joints) for k in range(tree.island_count)],
        "island_bends_late": [int(own & IS_CURVED != 0 and own & waiting == 0) for own in traits],
        "island_restarts": [int(own & LOOKS_AT_ACCELERATIONS != 0) for own in traits],
        "island_is_looped": [int(own & (HOLDS_POSITIONS | RETURNS) != 0) for own in traits],
        "island_keeps_energy": [int(keeps) for keeps in tree.island_keeps_energy],
        "dof_island": dof_island,
        "row_island": row_island,
    }


def _entry_places(tree: Tree) -> list[int]:
    """Of each row the place of what it is for among all that the dynamics suite registers; else none."""
    places, start = {}, 0
    for entries, count in zip(ENTRIES, tree.entry_counts):
        own = {} if entries.row_places is None else entries.row_places(tree)
        places |= {(id(entries), item): start + own.get(item, item) for item in (own or range(count))}
        start += count
    return [places.get((id(row.family.entries), row.item), -1) for row in tree.rows]


def _coupled_terms(tree: Tree, row: Row) -> tuple[list[int], list[int]]:
    """Of the first term of each coefficient of a coupling how many there are, and which one has its dof."""
    spans, places = [1] * len(row.dofs), [0] * len(row.dofs)
    term = 0
    for dof in row.coupled:
        own = tree.dofs_that_turn(dof)
        spans[term], places[term] = len(own), own.index(dof)
        term += len(own)
    return spans, places


def _speed_limit_sizes(tree: Tree) -> dict[str, int]:
    """Rows of the work space of limits on speeds."""
    limits, dofs = tree.speed_limit_count, tree.dof_count * (tree.speed_limit_count > 0)
    trees, islands = len(tree.parts), tree.island_count
    return {
        "direction": 3 * len(tree.rows) * (limits > 0), "motion": 3 * limits, "bent": 3 * limits, "turns": islands,
        "bends": islands, "settled": islands, "kept": dofs, "end_position": tree.dof_count,
        "end_root": 7 * tree.root_dofs // 6, "tree_center": 3 * trees, "tree_mobility": 7 * trees,
        "tree_jacobian": 6 * dofs,
    }  # fmt: skip


def _work_struct(struct, tree: Tree, numbers: Numbers, workers: int, device: str, dense_rows: bool):
    terms, slots, slot_count = _row_tables(tree, dense_rows)
    links, dofs, rows = tree.link_count + 1, tree.dof_count, len(tree.rows)
    looped = 3 * links * (tree.count_with(HOLDS_POSITIONS | RETURNS) > 0)
    islands, poses = tree.island_count, 7 * tree.root_dofs // 6
    room = rows - tree.count(CONTACT_PAIR) + min(tree.count(CONTACT_PAIR), 3 * MOST_POINTS)
    sizes = {
        "R_WM": 9 * links, "p_PM": 3 * links, "p_WM": 3 * links, "w": 3 * links, "velocity_moment": 3 * links,
        "velocity_force": 3 * links, "A": 6 * links, "B": 9 * links, "M": 6 * links, "moment": 3 * links,
        "force": 3 * links, "angular": 3 * links, "linear": 3 * links, "drag_moment": 3 * links,
        "drag_force": 3 * links, "axis": 3 * dofs, "U_moment": 3 * dofs, "U_force": 3 * dofs, "D_inverse": dofs,
        "u": dofs, "v": dofs, "v_free": dofs, "v_next": dofs, "v_middle": dofs, "recalled": 3 * dofs,
        "vdot": dofs, "rest_vdot": dofs, "unresolved": islands, "watched": 4 * islands,
        "motion_sums": 36 * len(tree.parts), "calm": 1, "changed": islands, "anew": islands, "stopped": islands,
        "touched": islands, "unbound": islands, "uneven": islands, "bending": islands,
        "stop_work": islands, "has_bounced": islands, "near_limit": islands, "turned": islands,
        "missed": islands,
        "bent_now": islands,
        "effort": dofs, "spring": dofs, "damper": dofs, "theta": dofs, "reach": dofs, "load": dofs, "drive_bias": dofs,
        "measured": dofs, "layer": islands, "drive_spring": dofs, "rotation_spring": dofs, "cross_spring": dofs,
        "coupled_entry": dofs,
        "drive_scale": dofs, "drive_theta": dofs,
        "drive_reach": dofs, "drive_side": dofs,
        "saturated": dofs, "least": 1, "free_share": 1, "share": dofs, "joint_load": dofs, "position": dofs,
        "root": poses, "middle": dofs, "middle_root": poses, "shift": dofs,
        "since_placed": 1, "end_weight": 1, "given": rows, "end_rotation": 3 * looped,
        "closed_energy": 4 * islands * any(tree.island_keeps_energy),
        "end_origin": looped, "end_spin": looped, "end_velocity": looped, "end_axis": 3 * dofs * (looped > 0),
        "smooth": rows, "row_mobility": rows,
        "bend": rows, "slack": rows, "impact_share": rows, "rest_share": rows, "bounced": rows,
        "stretch": 3 * rows * any(row.family.keeps_stretch for row in tree.rows), "resolved": rows,
        "spring_displacement": dofs, "tendon_load": dofs, **_speed_limit_sizes(tree),
        **row_array_sizes(rows, len(terms["term_dof"]), slot_count, dofs, room if dense_rows else 0, islands),
    }  # fmt: skip
    sizes |= {name: size(tree) for family in FAMILIES for name, size in family.scratch.items()}
    for name, size in sizes.items():
        dtype = int if name in ROW_ARRAYS and ROW_ARRAYS[name].is_index else numbers.real
        setattr(struct, name, wp.zeros((max(size, 1), workers), dtype=dtype, device=device))
    return struct
