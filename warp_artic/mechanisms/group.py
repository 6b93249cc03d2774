"""A group of equal mechanisms on a device: its model, state, control and work space.

A mechanism is an articulation, or several that are stepped together (`description.mechanism`). The columns of a group
are its mechanisms times the environments: column = mechanism * environments + environment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.constraints.bearing_rows import bearing_rows
from warp_artic.description.articulation import Articulation
from warp_artic.description.mechanism import Mechanism, joined, mechanisms_of
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.model_struct import WATCHED, field_struct, model_struct
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.mechanisms.public_rows import (
    ALLOWED,
    FOUND,
    JOINT_FORCES,
    MEASURES,
    MULTIPLIERS,
    PARAMETERS,
    ROOT_FORCES,
    ROW_COUNTS,
)
from warp_artic.mechanisms.start import initial_control, initial_state
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.mechanisms.tree import Tree, tree_of
from warp_artic.mechanisms.work_space import work_struct
from warp_artic.model.base import base_rows
from warp_artic.model.field import Columns, Field
from warp_artic.model.force_parts import PART_NAMES
from warp_artic.model.frames import origin_of
from warp_artic.model.row import Row
from warp_artic.phases.given_values import ROWS_AT_ONCE

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
    "link_gravity_scale": "scales_gravity",
    **{parameter.name: parameter.flag for parameter in PARAMETERS if parameter.flag is not None},
}
"""Parameters that are left out of steps where no tree of a group has them, and what says so."""


BY_BODY = "elastic_body"
"""What has stopped a tree that nodes of an elastic body are attached to, with the last number of a failure."""


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
    """Controls, parameters and memory of steps that these check before they begin."""
    pushed: list[bool] = dataclass_field(default_factory=list)
    """Not empty where forces may have been given to links."""

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

    def push(self) -> None:
        """Have steps look for changes of the forces that are given to links."""
        if not self.pushed:
            self.pushed.append(True)
            self.arrays.model.pushed.fill_(1)

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
        if name == "link_external_force":
            self.push()
        field = self.field(name)
        is_known = name not in ALLOWED or self.checked.get(name) is field
        if is_known or wp.get_device(self.columns.device).is_capturing:
            return
        self.checked[name] = field
        numbers: list[int] = []
        addresses: list[int] = []
        bounds: list[tuple[float, float]] = []
        for one, values in self.checked.items():
            kind, size = ROW_COUNTS[one]
            rows, first = size * self.tree.row_counts[kind], values.scalars
            numbers += range(self.first_values[one], self.first_values[one] + rows)
            addresses += range(first.ptr, first.ptr + rows * first.strides[0], first.strides[0])
            bounds += rows * [ALLOWED[one].bounds(wp.dtype_to_numpy(self.columns.numbers.scalar))]
        rest = -len(numbers) % ROWS_AT_ONCE
        model = self.arrays.model
        for array, values in (
            (model.given, [len(numbers) + rest, *numbers, *(rest * numbers[-1:])]),
            (model.given_address, [*addresses, *(rest * addresses[-1:])]),
            (model.given_bounds, [*bounds, *(rest * bounds[-1:])]),
        ):
            whole = array.numpy()
            flat = np.array(values, dtype=whole.dtype).ravel()
            whole[: len(flat)] = flat
            array.assign(whole)

    def make_forces(self, forces) -> dict[str, Field]:
        """Fields for the forces of a step, to be kept as long as a struct `Forces`, which has them then."""
        tree, columns = self.tree, self.columns
        fields = {name: Field.zeros(rows_in(tree, name), columns) for name in MULTIPLIERS}
        fields["joint_acceleration"] = Field.zeros(tree.dof_count - tree.root_dofs, columns)
        fields["root_acceleration"] = Field.zeros(tree.root_dofs, columns)
        for name in LINK_STEP_OUTPUTS:
            fields[name] = Field.zeros(6 * tree.link_count, columns)
        fields["row_margin"] = Field.zeros(len(tree.rows), columns)
        fields["parts"] = Field.zeros(len(PART_NAMES) * tree.dof_count, columns)
        field_struct(forces, fields)
        return fields

    def _make_room_for_forces(self) -> None:
        tree, columns = self.tree, self.columns
        fields = self.make_forces(self.arrays.forces)
        parts = fields.pop("parts")
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
    the couplings of all constraint rows with each other, which mechanisms with loops have in any case; trees sleep
    after `sleep_steps` at rest, never if that is 0; so many `threads` may run launches of a group at once.
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
    dense_rows = dense_rows or tree.has_loops
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
    base_moves = any(one.base_motion is not None for mechanism in mechanisms for one in mechanism.articulations)
    inputs = {
        "effort_before": tree.dof_count - tree.root_dofs,
        "force_before": 6 * tree.link_count,
        "base_before": 6 * base_moves,
        "input_change": 2 * tree.dof_count + 1,
    }
    state |= {name: Field.zeros(rows * tree.moves_freely, columns) for name, rows in inputs.items()}
    state["bearing_impulse"] = Field.zeros(2 * len(bearing_rows(tree)), columns)
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
        work_struct(structs.Work(), tree, numbers, workers, device, dense_rows)
        for _thread in range(min(threads, columns.blocks))
    )
    arrays = SimpleNamespace(
        model=model_struct(structs.Model(), tree, parameters, numbers, device, dense_rows),
        padding=_padding(columns),
        state=field_struct(structs.State(), state),
        control=field_struct(structs.Control(), control),
        report=field_struct(structs.Report(), {name: outputs[name] for name in REPORTED}),
        forces=structs.Forces(),
        work=works[0],
    )
    arrays.model.padding = arrays.padding.numbers
    arrays.model.sleep_steps = sleep_steps
    arrays.model.base_moves = int(base_moves)
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
        model=model_struct(structs.Model(), tree, group.parameters, numbers, device, dense_rows),
        work=work_struct(structs.Work(), tree, numbers, group.workers, device, dense_rows),
    )


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
