"""Arrays of a simulation by name: state, control and parameters, without their padding.

In a scene with one articulation an array is a view on the device, shape (rows, environments), in the order of
`Simulation.joint_names` or `Simulation.link_names`: what is written to it is what the next step reads. In a scene with
several articulations the rows lie in several groups, and a `SceneArray` gathers and scatters them; each articulation
alone has its views in `Simulation.articulations`. Places in the world are relative to the origin of the articulation,
which is zero near the world origin.

NumPy (on a CPU), torch and JAX read and write the memory of these views by DLPack; `array[:, indices]` is chosen
environments of one, with indices on the device. JAX takes only arrays without gaps, such as those of a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from reprlib import repr as brief

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, UnknownNameError, did_you_mean
from warp_artic.mechanisms.group import REPORTED, STEP_OUTPUTS, Group
from warp_artic.mechanisms.public_rows import FOUND, MEMORY, ROW_COUNTS
from warp_artic.model.field import Field
from warp_artic.sim.arrays.rows import Rows, public_rows, shaped

MOTION = ("joint_position", "joint_velocity", "root_pose", "root_velocity")
FASTEST = float(np.cbrt(np.finfo(np.float32).max))
"""Magnitude of positions and velocities [m, rad, m/s, rad/s], from which velocities run away (`phases.integrate`)."""
STATE = (*MOTION, "failure", "steps_at_rest", *MEMORY)
OUTPUTS = (*REPORTED, *FOUND)
CONTROL = ("drive_position_target", "drive_velocity_target", "joint_effort", "link_external_force")
PARAMETERS = tuple(name for name in ROW_COUNTS if name not in (*STATE, *OUTPUTS, *STEP_OUTPUTS, *CONTROL))


@dataclass(frozen=True)
class Member:
    """One articulation of the scene in its group."""

    index: int
    """In the scene."""
    group: Group
    place: int
    """Of its mechanism in the group."""
    part: int = 0
    """Of the articulation in its mechanism."""

    @property
    def first_column(self) -> int:
        """Environment 0 of the mechanism of this articulation among the columns of the group."""
        return self.place * self.group.environments

    @property
    def is_alone(self) -> bool:
        """Whether the articulation is a mechanism by itself."""
        return len(self.group.tree.parts) == 1

    @property
    def dofs(self) -> np.ndarray:
        """The dofs of this articulation in the generalized velocity of its mechanism, those of its root first."""
        tree = self.group.tree
        roots, joints = (tree.rows_before(self.part, kind) for kind in ("root", "dof"))
        own = dict(tree.parts[self.part].row_counts)
        first = tree.root_dofs + joints
        return np.concatenate([6 * roots + np.arange(6 * own["root"]), first + np.arange(own["dof"])])

    @property
    def island(self) -> int:
        """Its island in the mechanism, see `mechanisms.tree`."""
        return self.group.tree.islands[self.part]

    def first_row(self, kind: str) -> int:
        """The first row of this articulation in fields that have a row for each thing of a kind."""
        return self.group.tree.rows_before(self.part, kind)

    def array(self, name: str) -> wp.array:
        """A view on the device, shape (rows, environments) or (rows, components, environments)."""
        kind, size = ROW_COUNTS[name]
        array = self.group.field(name).view(self.first_column, self.group.environments)
        count, first = self.rows(name), self.first_row(kind)
        if count == 0 and size == 1:
            return wp.zeros((0, array.shape[1]), dtype=array.dtype, device=array.device)
        if count == 0:
            return wp.zeros((0, size, array.shape[1]), dtype=array.dtype, device=array.device)
        if size == 1:
            return array[first : first + count]
        pitch = array.strides[0]
        found = wp.array(
            ptr=array.ptr + first * size * pitch,
            dtype=array.dtype,
            shape=(count, size, array.shape[1]),
            strides=(size * pitch, pitch, array.strides[1]),
            device=array.device,
            copy=False,
        )
        found.warp_artic_memory = array  # kept with it, as slices of Warp keep what they are of
        return found

    def rows(self, name: str) -> int:
        """How many dofs, links or roots of this articulation the array has rows for."""
        kind, _ = ROW_COUNTS[name]
        return 1 if kind == "mechanism" else dict(self.group.tree.parts[self.part].row_counts)[kind]


def by_environment(member: Member, field: Field, *shape: int) -> wp.array:
    """The rows of a field for an articulation as an array (E, ...), without a copy, which keeps the memory."""
    environments = member.group.environments
    if 0 in shape:
        found = wp.zeros((environments, *shape), dtype=field.scalars.dtype, device=field.scalars.device)
        found.warp_artic_field = field
        return found
    rows = field.view(member.first_column, environments)
    pitch, size = rows.strides
    strides = [pitch * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    found = wp.array(
        ptr=rows.ptr,
        dtype=rows.dtype,
        shape=(environments, *shape),
        strides=(size, *strides),
        device=rows.device,
    )
    found.warp_artic_field = field
    return found


@dataclass(frozen=True)
class SceneArray:
    """An array over all articulations of a scene, gathered to a copy and scattered from one, on the device."""

    name: str
    groups: tuple[Group, ...]
    rows: Rows
    shape: tuple[int, ...]
    """(rows, environments), or (rows, components, environments)."""
    device: str

    def __repr__(self) -> str:
        return f"<{self.name} of several articulations, shape {self.shape}, on {self.device}>"

    def array(self) -> wp.array:
        """A copy on the device, of shape `shape`."""
        return shaped(self.rows.take(self.groups, self.name, self._environments), ROW_COUNTS[self.name][1])

    def numpy(self) -> np.ndarray:
        """A copy on the host, of shape `shape`."""
        return self.array().numpy()

    def of_environment(self, environment: int) -> np.ndarray:
        """A copy of one environment on the host, shape (rows) or (rows, components)."""
        chosen = wp.array([environment], dtype=wp.int32, device=self.device)
        return shaped(self.rows.take(self.groups, self.name, chosen), ROW_COUNTS[self.name][1]).numpy()[..., 0]

    def assign(self, values) -> None:
        """Write values of shape `shape`: an array on the device, or what NumPy broadcasts to it."""
        columns = self.groups[0].columns
        if not isinstance(values, wp.array):
            values = _numbers(self.name, values, self.shape)
            values = wp.array(np.ascontiguousarray(values), dtype=columns.numbers.scalar, device=self.device)
        if (values.shape, values.dtype, str(values.device)) != (self.shape, columns.numbers.scalar, self.device):
            raise SettingsError(
                f"{self.name}: an array of {values.dtype.__name__} of shape {values.shape} on {values.device} is not "
                f"one of {columns.numbers.scalar.__name__} of shape {self.shape} on {self.device}"
            )
        flat = values.contiguous().reshape((self.rows.count, self.shape[-1]))
        if len(self.rows.twins):
            self._check_twins(flat.numpy())
        self.rows.put(flat, self.groups, self.name, self._environments)

    def _check_twins(self, values: np.ndarray) -> None:
        """Raise a SettingsError where what is one in a mechanism of several articulations would have two values."""
        first, other = self.rows.twins.T
        differ = ((values[first] != values[other]) & ~(np.isnan(values[first]) & np.isnan(values[other]))).any(axis=1)
        if differ.any():
            size = ROW_COUNTS[self.name][1]
            one, two = self.rows.twins[np.argmax(differ)] // size
            raise SettingsError(
                f"{self.name}: rows {one} and {two} are of articulations that are simulated together, which have one; "
                "their values must be the same"
            )

    @property
    def _environments(self) -> wp.array:
        return wp.array(np.arange(self.shape[-1]), dtype=wp.int32, device=self.device)


class ArrayViews:
    """Named arrays as attributes; see the module for what they are.

    `views.joint_effort = values` writes values into the array: of its shape, or what NumPy broadcasts to it.
    """

    def __init__(self, names: tuple[str, ...], get: Callable[[str], object], results: tuple[str, ...] = ()):
        self._names = names
        self._results = results
        self._get = get

    def __getattr__(self, name: str) -> wp.array:
        if name.startswith("_") or name not in self._names:
            raise UnknownNameError(self._unknown(name))
        return self._get(name)

    def __setattr__(self, name: str, values) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, values)
            return
        if name not in self._names:
            raise UnknownNameError(self._unknown(name))
        if name in self._results:
            raise UnknownNameError(f"{name}: is what a step or a report gives, and nothing to be written")
        _write(name, self._get(name), values)

    def __dir__(self):
        return list(self._names)

    def __repr__(self) -> str:
        return f"<arrays {', '.join(self._names)}>"

    def _unknown(self, name: str) -> str:
        return f"no array {name!r}{did_you_mean(name, self._names)}; there are {', '.join(self._names)}"


def _write(name: str, array: wp.array | SceneArray, values) -> None:
    """Write values into an array of a simulation."""
    if values is array:  # after an operator in place, which has written
        return
    if hasattr(values, "__dlpack__") and not isinstance(values, (wp.array, np.ndarray, np.generic)):
        values = _on_its_device(name, values)
    if isinstance(values, wp.array):
        if values.shape != array.shape:
            raise SettingsError(f"{name}: an array of shape {values.shape} is not one of shape {array.shape}")
        if values.dtype is not _scalar(array):
            values = values.numpy()  # a copy in Warp is of bits, or refused
    if not isinstance(values, wp.array):
        values = np.ascontiguousarray(_numbers(name, values, array.shape))
    array.assign(values)


def _scalar(array: wp.array | SceneArray) -> type:
    """The type of its numbers."""
    return array.groups[0].columns.numbers.scalar if isinstance(array, SceneArray) else array.dtype


def _on_its_device(name: str, values) -> wp.array | float:
    """An array of another program, where it is."""
    try:
        return wp.from_dlpack(values) if len(values.shape) else float(values)
    except Exception as error:  # each program has its own
        raise SettingsError(f"{name}: a {type(values).__name__} that cannot be read: {error}") from error


def real_numbers(name: str, values) -> np.ndarray:
    """Values as an array of real numbers on the host, or a SettingsError."""
    try:
        found = np.asarray(values)
    except ValueError:  # rows that differ in length
        found = np.array(None)
    except Exception as error:  # each program has its own
        raise SettingsError(f"{name}: a {type(values).__name__} that cannot be read: {error}") from error
    if found.dtype.kind not in "biuf" or np.ma.is_masked(values):
        raise SettingsError(f"{name}: {brief(values)} is not an array of real numbers")
    return found.astype(float, copy=False)


def _numbers(name: str, values, shape: tuple[int, ...]) -> np.ndarray:
    """The same, broadcast to a shape."""
    found = real_numbers(name, values)
    try:
        return found if found.shape == shape else np.broadcast_to(found, shape)
    except ValueError as error:
        raise SettingsError(f"{name}: shape {found.shape} is not {shape} and does not broadcast to it") from error


def of_environment(array: wp.array | SceneArray, environment: int) -> np.ndarray:
    """One environment of an array of a scene on the host, shape (rows) or (rows, components); the others stay."""
    if isinstance(array, SceneArray):
        return array.of_environment(environment)
    if not array.size:  # Warp has no slices of nothing
        return array.numpy()[..., environment]
    return array[(slice(None),) * (array.ndim - 1) + (environment,)].numpy()


def scene_array(
    name: str,
    groups: tuple[Group, ...],
    members: tuple[Member, ...],
    order: list[np.ndarray],
    known: dict[tuple[str, int], Rows],
):
    """The array of a name: the view of the only articulation, or a `SceneArray` over several.

    `order` has, for each member, the rows of the scene that its rows are; `known` keeps what was found for others.
    """
    if len(members) == 1 and np.array_equal(order[0], np.arange(members[0].rows(name))):
        return members[0].array(name)
    kind, size = ROW_COUNTS[name]
    if (kind, size) not in known:
        known[kind, size] = public_rows(groups, order, kind, size, range(len(members)))
    rows = known[kind, size]
    count, environments = rows.count // size, groups[0].environments
    shape = (count, environments) if size == 1 else (count, size, environments)
    return SceneArray(name, groups, rows, shape, rows.device)


def checked(name: str, values, shape: tuple[int, ...], infinite: bool = False) -> np.ndarray:
    """Values as an array that broadcasts to `shape`, all finite unless they may be `infinite`, or a SettingsError."""
    array = _numbers(name, values, shape)
    wrong = np.isnan(array) if infinite else ~np.isfinite(array)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise SettingsError(f"{name}: the value at {where} is {array[where]}, which is not a finite number")
    return array


def environment_indices(environments, count: int) -> np.ndarray:
    """Indices of chosen environments of `count`, of all where None is given; or a SettingsError."""
    if environments is None:
        return np.arange(count)
    chosen = indices_given(environments)
    if chosen is None or (chosen.size and chosen.dtype.kind not in "iu") or chosen.ndim != 1:
        raise SettingsError(f"environments: {environments!r} is not a list of indices")
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= count):
        raise SettingsError(f"environments: indices {chosen} are not all in 0 ... {count - 1}")
    return chosen.astype(np.int64, copy=False)


def indices_given(values) -> np.ndarray | None:
    """Indices, or a mask, as an array of one dimension or more on the host; None for rows that differ in length."""
    try:
        return np.atleast_1d(np.asarray(values))
    except ValueError:
        return None
