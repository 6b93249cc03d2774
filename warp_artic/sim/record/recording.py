"""What a run gave: joint and link quantities at each recorded step, as plain arrays."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache

import numpy as np

from warp_artic.errors import SettingsError
from warp_artic.mechanisms.public_rows import FOUND, MEASURES, MULTIPLIERS, kind_of
from warp_artic.sim.arrays.contact_events import ContactEvent, contact_events
from warp_artic.sim.arrays.contacts import contact_signs
from warp_artic.sim.files.npz import Entry, open_npz, short_quaternion, write_npz
from warp_artic.sim.files.whole_file import path_of
from warp_artic.sim.record.island_contacts import island_contact_events, island_force_over_time
from warp_artic.sim.run.incoming_forces import IncomingForces

OTHER_MEASURES = {
    name: measure
    for name, measure in (MEASURES | FOUND | MULTIPLIERS).items()
    if kind_of(name) not in ("tendon", "mimic", "loop")
}
"""Quantities of constraint families that are described with the families."""

OTHER_NAMES = tuple(dict.fromkeys(f"{kind_of(name)}_names" for name in OTHER_MEASURES))

NAMES = (
    "joint_names",
    "link_names",
    "tendon_names",
    "mimic_names",
    "loop_names",
    "mesh_nodes",
    "mesh_tendon_names",
    "collider_names",
    *OTHER_NAMES,
)
"""Fields that name the entries of other fields."""

SHAPES = {
    "joint_position": ("joint_names",),
    "joint_velocity": ("joint_names",),
    "joint_actuation_force": ("joint_names",),
    "joint_drive_force": ("joint_names",),
    "joint_friction_force": ("joint_names",),
    "joint_limit_force": ("joint_names",),
    "joint_tendon_force": ("joint_names",),
    "joint_mimic_force": ("joint_names",),
    "joint_loop_force": ("joint_names",),
    "joint_contact_force": ("joint_names",),
    "joint_external_force": ("joint_names",),
    "joint_damping_force": ("joint_names",),
    "joint_gravity_force": ("joint_names",),
    "joint_coriolis_force": ("joint_names",),
    "joint_inertial_force": ("joint_names",),
    "joint_acceleration": ("joint_names",),
    "link_pose": ("link_names", 7),
    "link_velocity": ("link_names", 6),
    "link_incoming_joint_force": ("link_names", 6),
    "link_acceleration": ("link_names", 6),
    "tendon_length": ("tendon_names",),
    "tendon_speed": ("tendon_names",),
    "tendon_force": ("tendon_names",),
    "tendon_limit_state": ("tendon_names",),
    "tendon_mobility": ("tendon_names",),
    "mimic_error": ("mimic_names",),
    "mimic_force": ("mimic_names",),
    "loop_error": ("loop_names", 2),
    "loop_force": ("loop_names", 6),
    "loop_broken": ("loop_names",),
    "mesh_points": ("mesh_nodes", 3),
    "mesh_contact_force": ("mesh_nodes", 3),
    "mesh_tendon_length": ("mesh_tendon_names",),
    "mesh_tendon_tension": ("mesh_tendon_names",),
    "energy": (2,),
    **{name: (f"{kind_of(name)}_names", one.size)[: 1 + (one.size > 1)] for name, one in OTHER_MEASURES.items()},
}
"""Trailing shape of each quantity, after records and environments; a field name stands for its length."""

OPTIONAL = tuple(name for name in SHAPES if name != "joint_position")
"""Quantities that may be left out; they become arrays without entries, as joint positions may be."""

LISTS = {"island_contact": 4, "island_contact_force": 3}
"""Arrays with a row for each of so many contacts as there have been, and how many numbers a row has."""

TABLE = {
    "time": Entry("iuf", (("records",),)),
    "metadata": Entry("U", ((),)),
    **{name: Entry("U", ((name,),), is_optional=name == "collider_names") for name in NAMES},
    "island_contact": Entry("iu", (("contacts", 4), (0, 0)), low=0, is_optional=True),
    "island_contact_force": Entry("f", (("contacts", 3), (0, 0)), is_optional=True),
    **{
        name: Entry(
            "iuf",
            (("records", "environments", *sizes), ("records", "environments", *(0 for _ in sizes[:1]), *sizes[1:])),
            is_optional=name in OPTIONAL,
        )
        for name, sizes in SHAPES.items()
    },
}
"""What the arrays of a file may be; each quantity may be without entries."""


def with_other_measures(cls: type) -> type:
    """Decorates a class with fields for what constraint families measure."""
    for name in OTHER_NAMES:
        cls.__annotations__[name] = "tuple[str, ...]"
        setattr(cls, name, ())
    for name in OTHER_MEASURES:
        cls.__annotations__[name] = "np.ndarray | None"
        setattr(cls, name, None)
    return cls


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
@with_other_measures
class Recording:
    """Records of a run: record k is the state at `time[k]`, the first one before any step.

    SI units and radians, the axes of the stage, the precision of the simulation; but places in the world are in double
    precision where something is more than 50 m from the world origin. In the shapes, R is the number of records
    (steps + 1 when each step is recorded), E of environments, D of dofs, L of links, N of named entries.
    """

    time: np.ndarray
    """[s], shape (R)."""
    joint_names: tuple[str, ...]
    """Joint path of each dof, with `:rotX` ... `:transZ` appended for a joint of several dofs; length D."""
    link_names: tuple[str, ...]
    """Prim path of each link; length L."""
    joint_position: np.ndarray
    """[m or rad], of ball and zero-twist joints the rotation vector, of universal joints the two angles: see
    `description.joint`; shape (R, E, D)."""
    joint_velocity: np.ndarray | None = None
    """[m/s or rad/s], of ball and zero-twist joints the relative angular velocity in the axes of their child-side
    frames; shape (R, E, D). A step h from q and v to q+ and v+ has, for a joint with one axis,
        semi_implicit   q+ = q + h v+
        midpoint        q+ = q + h ((1 - share) v + share v+), where share is a half but for joints that meet a stop,
                        for all in a step in which one bounces, and for those with springs or rows in the first step
        midpoint, rk4   in free motion q+ = q + h (v + v+) / 2 + h^2 (a - a+) / 12, but for errors of fifth order
    and with substeps ("tgs") this for each. Ball joints turn by exp((1 - share) h v), then by exp(share h v+)."""
    joint_actuation_force: np.ndarray | None = None
    """Forces on each dof over the last step before a record [N or N m], in parts that sum to zero; none in the
    first record. Here efforts. `model.force_parts` says what each part is, and where in the step. Shape (R, E, D)."""
    joint_drive_force: np.ndarray | None = None
    """Of drives [N or N m], shape (R, E, D)."""
    joint_friction_force: np.ndarray | None = None
    """Of static, dynamic and viscous friction [N or N m], shape (R, E, D)."""
    joint_limit_force: np.ndarray | None = None
    """Of limits of positions, hard and soft, and of velocities, of joints and of links [N or N m], shape (R, E, D)."""
    joint_tendon_force: np.ndarray | None = None
    """Of fixed and spatial tendons and their limits [N or N m], shape (R, E, D)."""
    joint_mimic_force: np.ndarray | None = None
    """Of mimic joints [N or N m], shape (R, E, D)."""
    joint_loop_force: np.ndarray | None = None
    """Of loop joints and distances, which joints of the tree do not transmit [N or N m], shape (R, E, D)."""
    joint_contact_force: np.ndarray | None = None
    """Of contacts of shapes, normal and friction, but among many bodies [N or N m], shape (R, E, D)."""
    joint_external_force: np.ndarray | None = None
    """Of external forces on links, and of contacts among many bodies [N or N m], shape (R, E, D)."""
    joint_damping_force: np.ndarray | None = None
    """Of the damping of links [N or N m], shape (R, E, D)."""
    joint_gravity_force: np.ndarray | None = None
    """Of weights [N or N m], shape (R, E, D)."""
    joint_coriolis_force: np.ndarray | None = None
    """Of Coriolis, centrifugal and gyroscopic forces [N or N m], shape (R, E, D)."""
    joint_inertial_force: np.ndarray | None = None
    """Against accelerations, - M (v+ - v) / h [N or N m], shape (R, E, D)."""
    joint_acceleration: np.ndarray | None = None
    """(v+ - v) / h by the forces and impacts of the last step before a record [m/s^2 or rad/s^2], zero in the first
    record; of dofs of one joint along the axes of their velocities. Recorded with forces. Shape (R, E, D)."""
    link_pose: np.ndarray | None = None
    """World pose of the link prim, position xyz [m] then quaternion xyzw; shape (R, E, L, 7)."""
    link_velocity: np.ndarray | None = None
    """Velocity of the centre of mass [m/s], then angular [rad/s], world axes; shape (R, E, L, 6)."""
    link_incoming_joint_force: np.ndarray | None = None
    """Force [N], then torque [N m], by the inbound joint on the link over the last step before a record, in the
    child-side joint frame at its origin, with what tendons do across the joint; or in world axes there, or without
    tendons, where `incoming_forces` of the metadata says so (`IncomingForces`). Shape (R, E, L, 6)."""
    link_acceleration: np.ndarray | None = None
    """Acceleration of the centre of mass [m/s^2], then angular [rad/s^2], by `joint_acceleration` where that step has
    evaluated forces, world axes; zero in the first record. Recorded with forces. Shape (R, E, L, 6)."""
    tendon_names: tuple[str, ...] = ()
    """Fixed tendons, and the leaf of each spatial sub-tendon; length N."""
    tendon_length: np.ndarray | None = None
    """[m], shape (R, E, N)."""
    tendon_speed: np.ndarray | None = None
    """Rate of the length [m/s], shape (R, E, N)."""
    tendon_force: np.ndarray | None = None
    """[N], shape (R, E, N)."""
    tendon_limit_state: np.ndarray | None = None
    """-1 where the length is below its limits, 0 between them, 1 above; shape (R, E, N)."""
    tendon_mobility: np.ndarray | None = None
    """J M^-1 P [1/kg]: the change of the rate of the length by a unit force; of a fixed tendon J are the coefficients
    and P the force coefficients. Where it is not positive the tendon can add energy. Shape (R, E, N)."""
    mimic_names: tuple[str, ...] = ()
    """Following joints; length N."""
    mimic_error: np.ndarray | None = None
    """Value of the constraint [m or rad], shape (R, E, N)."""
    mimic_force: np.ndarray | None = None
    """Multiplier of the constraint over the last step before a record [N or N m], shape (R, E, N)."""
    loop_names: tuple[str, ...] = ()
    """Joints that close a loop; length N."""
    loop_error: np.ndarray | None = None
    """Distance [m], then angle [rad], by which the loop is open along and about the locked axes; shape
    (R, E, N, 2)."""
    loop_broken: np.ndarray | None = None
    """1 where the joint has broken and has no effect from the next step on, 0 elsewhere; shape (R, E, N)."""
    loop_force: np.ndarray | None = None
    """Force [N], then torque [N m], that the joint transmits to its second body over the last step before a record, in
    the second joint frame about its origin; the mean over the step, without drives and springs along its free axes.
    What brings velocities back to its path at the end of the step is in it, and not in the parts of forces and the
    forces by joints of the tree: with "semi_implicit" that is half of what turns the path, else of second order.
    Where loop joints say the same more than once, that of the first ones. Recorded with forces. Shape (R, E, N, 6)."""
    mesh_nodes: tuple[str, ...] = ()
    """Path of the elastic body of each node of them all, body after body; length N."""
    mesh_points: np.ndarray | None = None
    """World positions of these nodes [m], shape (R, E, N, 3)."""
    mesh_contact_force: np.ndarray | None = None
    """Of obstacles on these nodes in the last step before a record, world axes [N]. Recorded with forces, where elastic
    bodies have obstacles. Shape (R, E, N, 3)."""
    mesh_tendon_names: tuple[str, ...] = ()
    """Tendons on elastic bodies; length N."""
    mesh_tendon_length: np.ndarray | None = None
    """[m], shape (R, E, N)."""
    mesh_tendon_tension: np.ndarray | None = None
    """[N], shape (R, E, N)."""
    collider_names: tuple[str, ...] = ()
    """Colliders whose contacts are solved island by island; length N."""
    island_contact: np.ndarray | None = None
    """A row for each two of these colliders that the step before a record has pushed apart: record, environment, and
    the indices of both in `collider_names`. Recorded with forces. Shape (contacts, 4)."""
    island_contact_force: np.ndarray | None = None
    """On the second of them, the mean over that step, world axes [N]. Shape (contacts, 3)."""
    energy: np.ndarray | None = None
    """Kinetic, then potential energy of gravity, of links [J]; shape (R, E, 2)."""
    metadata: dict = field(default_factory=dict)
    """How the run was made: dt, solver, iterations, integrator, precision, device, version, hash of the model."""

    def __post_init__(self):
        for name in NAMES:
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        object.__setattr__(self, "time", np.asarray(self.time, float))
        given = [name for name in (*SHAPES, *LISTS) if getattr(self, name) is not None]
        if "joint_position" not in given:
            raise SettingsError("recording: joint_position is missing")
        for name in given:
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        records = (self.time.size, *self.joint_position.shape[1:2])
        for name, array in _empty_arrays(records, self.joint_position.dtype).items():
            if name not in given:
                object.__setattr__(self, name, array)
        _check_shapes(self, [name for name in given if name in SHAPES])
        _check_lists(self)

    def __repr__(self) -> str:
        times = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else ""
        names = [
            one.name
            for one in fields(self)
            if isinstance(array := getattr(self, one.name), np.ndarray) and array.size and one.name != "time"
        ]
        counts = {
            "environment": self.environment_count,
            "dof": len(self.joint_names),
            "link": len(self.link_names),
        }
        told = ", ".join(f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items())
        records = f"{len(self.time)} record{'s' * (len(self.time) != 1)}"
        return f"<Recording of {records}{times}, {told}: {', '.join(names)}>"

    @property
    def environment_count(self) -> int:
        """E, how many environments are in the recording."""
        return self.joint_position.shape[1]

    def contact_force_on(self, path: str, by: str | None = None) -> np.ndarray:
        """The sum of the forces by contacts on a link, shape (R, E, 3), world axes [N], of a recording with forces.

        Args:
            path: Of a link, which has the colliders below it that are not below another link; of a collider; or of a
                prim that colliders are below, such as a robot, without what these do to each other.
            by: A path of the same kinds: only forces by its colliders are counted.

        Raises:
            SettingsError: No collider that may touch anything is there, or forces were not recorded.
        """
        signs = contact_signs(self.contact_names, self.link_names, path, by, self.collider_names)
        self._need_contacts()
        shape = len(self.time), self.environment_count
        found = np.zeros((*shape, 3))
        if self.contact_names:
            found += np.einsum("p,repx->rex", signs, self.contact_force.astype(float))
        if self.collider_names:
            known = self.link_names, path, by, {one for name in self.contact_names for one in name.split(":")[:2]}
            found += island_force_over_time(
                self.island_contact, self.island_contact_force, self.collider_names, shape, *known
            )
        return found

    def contact_events(self) -> list[ContactEvent]:
        """Which colliders begin and end to touch, by time, of a recording with forces.

        They touch at a record where the step before it has pushed them: what hits and leaves between two records is
        not reported.

        Raises:
            SettingsError: Forces were not recorded.
        """
        self._need_contacts()
        found = contact_events(self.contact_names, self.time, self.contact_force)
        found += island_contact_events(self.island_contact, self.collider_names, self.time)
        return sorted(found, key=lambda one: (one.time, one.environment, one.colliders))

    def _need_contacts(self) -> None:
        """Refuse a recording that does not know the forces of the contacts that there may have been."""
        if self.contact_names and not self.contact_force.size:
            raise SettingsError("recording: contact_force has no entries; record with forces=True")
        if self.collider_names and not self.island_contact_force.shape[1]:
            raise SettingsError("recording: island_contact_force was not recorded; record with forces=True")

    def save(self, path: str | os.PathLike) -> None:
        """Write an .npz file; complete or not at all.

        Raises:
            SettingsError: The name does not end in .npz, or there is no such folder.
            SolveError: The file cannot be written.
        """
        path = path_of(path)
        if path.suffix != ".npz":
            raise SettingsError(f"{path}: a recording is written to a file whose name ends in .npz")
        arrays = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        arrays |= {name: np.array(arrays[name], dtype=np.str_) for name in NAMES}
        arrays["metadata"] = np.array(json.dumps(self.metadata))
        write_npz(path, arrays)

    @staticmethod
    def load(path: str | os.PathLike) -> Recording:
        """Read what `save` wrote.

        Raises:
            SettingsError: There is no such file, or it is damaged, or has other arrays than TABLE lists.
        """
        with open_npz(path, "a recording") as file:
            arrays = file.read(TABLE)
            file.refuse_others(TABLE)
            metadata = file.json_object("metadata", arrays.pop("metadata"))
        try:
            if "incoming_forces" in metadata:
                IncomingForces(**metadata["incoming_forces"])
        except (SettingsError, TypeError) as error:
            raise SettingsError(f"{path}: metadata: incoming_forces: {error}") from error
        values = {name: tuple(array.tolist()) if name in NAMES else array for name, array in arrays.items()}
        poses = values.get("link_pose")
        if poses is not None and poses.ndim and (wrong := short_quaternion(poses[..., 3:], axis=-1)):
            raise SettingsError(f"{path}: link_pose: {wrong}")
        try:
            return Recording(**values, metadata=metadata)
        except SettingsError as error:
            raise SettingsError(f"{path}: {error}") from error

    @staticmethod
    def joined(parts: Sequence[Recording]) -> Recording:
        """One recording of consecutive ones; each begins with the record that ends the one before."""
        first = parts[0]
        for part in parts[1:]:
            if any(getattr(part, name) != getattr(first, name) for name in NAMES):
                raise SettingsError("recordings of different mechanisms cannot be joined: their names differ")

        if len(parts) == 1:
            return first

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(first, name), *(getattr(part, name)[1:] for part in parts[1:])])

        # The first record of a part has no step before it, and so no contacts in these lists.
        starts = np.cumsum([0, *(len(part.time) - 1 for part in parts)])
        contacts = [part.island_contact.copy() for part in parts]
        for contact, start in zip(contacts, starts):
            contact[:, :1] += start
        lists = np.concatenate(contacts), np.concatenate([part.island_contact_force for part in parts])
        values = {name: joined(name) for name in ("time", *SHAPES)}
        return dataclasses.replace(first, **values, **dict(zip(LISTS, lists)))


@lru_cache(8)
def _empty_arrays(records: tuple[int, ...], dtype: np.dtype) -> dict[str, np.ndarray]:
    """Quantities without entries, which recordings of so many records and environments share."""
    shapes = {name: np.zeros((*records, 0, *components), dtype) for name, (_entries, *components) in SHAPES.items()}
    return shapes | {name: np.zeros((0, 0), kind) for name, kind in zip(LISTS, (np.int64, dtype))}


def _check_shapes(recording: Recording, names: Sequence[str]) -> None:
    """Refuse quantities of these names whose shapes do not agree with the time and the names."""
    if recording.time.ndim != 1 or recording.time.size == 0:
        raise SettingsError(f"recording: time has shape {recording.time.shape}; one entry for each record is needed")
    if not np.isfinite(recording.time).all() or (recording.time[1:] <= recording.time[:-1]).any():
        raise SettingsError("recording: time does not increase from record to record, or is not finite")
    if recording.joint_position.ndim != 3:
        raise SettingsError(
            f"recording: joint_position has shape {recording.joint_position.shape}; "
            "(records, environments, dofs) is needed"
        )
    records = (recording.time.size, recording.environment_count)
    for name in names:
        sizes = tuple(len(getattr(recording, size)) if isinstance(size, str) else size for size in SHAPES[name])
        found = getattr(recording, name).shape
        without_entries = found == (*records, 0, *sizes[1:])
        if found != (*records, *sizes) and not without_entries:
            raise SettingsError(f"recording: {name} has shape {found}; {(*records, *sizes)} is needed")


def _check_lists(recording: Recording) -> None:
    """Refuse lists of contacts that do not agree with each other, with the records and with the names."""
    contact, force = recording.island_contact, recording.island_contact_force
    sizes = len(recording.time), recording.environment_count, *(2 * (len(recording.collider_names),))
    for name, array in zip(LISTS, (contact, force)):
        if array.shape != (len(contact), LISTS[name]) and array.shape != (0, 0):
            raise SettingsError(f"recording: {name} has shape {array.shape}; {(len(contact), LISTS[name])} is needed")
    if contact.shape[1] != 0 and (len(force) != len(contact) or force.shape[1] == 0):
        raise SettingsError(f"recording: island_contact_force has shape {force.shape}; {(len(contact), 3)} is needed")
    if contact.size and ((contact < 0) | (contact >= np.array(sizes))).any():
        raise SettingsError("recording: island_contact has a record, an environment or a collider that is not there")
