"""Values that follow time samples: targets and gains of drives, tendons, also those on meshes, and gravity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.loop_joint import loop_axes
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.elastic.elastic_body import SimulatedElasticBody

TARGETS = ("drive_position_target", "drive_velocity_target")
"""Control arrays that may follow a track."""
GAINS = ("drive_stiffness", "drive_damping")
"""Parameters of drives that may."""
OF_TENDONS = ("tendon_rest_length", "tendon_offset", "spatial_offset", "leaf_rest_length")
"""Those of tendons, beside gravity."""
OF_LOOPS = (
    "loop_drive_position_target",
    "loop_drive_velocity_target",
    "loop_drive_stiffness",
    "loop_drive_damping",
)
"""Those of drives of loop joints."""
OF_MESH_TENDONS = ("mesh_tendon_target_length", "mesh_tendon_stiffness", "mesh_tendon_tension")
"""Arrays of the tendons on elastic bodies."""
GRAVITY = "gravity"
FOLLOW = (*TARGETS, *GAINS, *OF_TENDONS, *OF_LOOPS, *OF_MESH_TENDONS, GRAVITY)

Key = tuple[str, str]
"""An array, and what has a row in it: a dof, a tendon, the leaf of one, or "x", "y" or "z" of gravity."""


@dataclass(frozen=True)
class Entry:
    """One number of a scene that may follow a track."""

    row: int
    """In the array of an articulation."""
    value: float | None
    """At the start; None where the start pose has it."""
    track: Track | None


def entries_of(tree: Articulation) -> dict[Key, Entry]:
    """All numbers of an articulation that may follow a track."""
    found = {}
    for row, dof in enumerate(tree.dofs):
        drive = dof.drive or Drive()
        found[TARGETS[0], dof.name] = Entry(row, drive.position_target, drive.position_track)
        found[TARGETS[1], dof.name] = Entry(row, drive.velocity_target, drive.velocity_track)
        found[GAINS[0], dof.name] = Entry(row, drive.stiffness, drive.stiffness_track)
        found[GAINS[1], dof.name] = Entry(row, drive.damping, drive.damping_track)
    for row, tendon in enumerate(tree.fixed_tendons):
        found[OF_TENDONS[0], tendon.name] = Entry(row, tendon.rest_length, tendon.rest_length_track)
        found[OF_TENDONS[1], tendon.name] = Entry(row, tendon.offset, tendon.offset_track)
    for row, tendon in enumerate(tree.spatial_tendons):
        found[OF_TENDONS[2], tendon.name] = Entry(row, tendon.offset, tendon.offset_track)
    leaves = ((name, leaf) for one in tree.spatial_tendons for name, leaf in zip(one.leaf_names, one.leaves))
    for row, (name, leaf) in enumerate(leaves):
        found[OF_TENDONS[3], name] = Entry(row, leaf.rest_length, leaf.rest_length_track)
    for row, axis in enumerate(loop_axes(tree)):
        drive = axis.drive or Drive()
        found[OF_LOOPS[0], axis.name] = Entry(row, drive.position_target, drive.position_track)
        found[OF_LOOPS[1], axis.name] = Entry(row, drive.velocity_target, drive.velocity_track)
        found[OF_LOOPS[2], axis.name] = Entry(row, drive.stiffness, drive.stiffness_track)
        found[OF_LOOPS[3], axis.name] = Entry(row, drive.damping, drive.damping_track)
    return found


def gravity_entries(scene: Scene) -> dict[Key, Entry]:
    """The components of gravity."""
    tracks = scene.gravity_tracks or (None,) * 3
    return {(GRAVITY, axis): Entry(row, scene.gravity[row], tracks[row]) for row, axis in enumerate("xyz")}


def mesh_entries(body: SimulatedElasticBody) -> dict[Key, Entry]:
    """All numbers of the tendons on an elastic body that may follow a track."""
    found = {}
    for row, tendon in enumerate(body.tendons):
        found[OF_MESH_TENDONS[0], tendon.name] = Entry(row, tendon.target_length, tendon.target_length_track)
        found[OF_MESH_TENDONS[1], tendon.name] = Entry(row, tendon.stiffness, tendon.stiffness_track)
        found[OF_MESH_TENDONS[2], tendon.name] = Entry(row, tendon.tension, tendon.tension_track)
    return found


class TargetTracks(dict[Key, Track]):
    """What follows values over time, by the name of the array and of what has the row; at first what the stage gives.

    Arrays are those of FOLLOW. Each step has the values of its end, in every environment. Take an entry out to steer
    what it is of by `control` or `parameters`; put one in to move another.
    """

    def __init__(
        self,
        scene: Scene,
        members: Sequence[Member],
        bodies: Sequence[SimulatedElasticBody],
        open_array: Callable[[str], object],
    ):
        """`open_array` gets an array of articulations ready to be written to at any time."""
        self._open = open_array
        self._places: dict[Key, list[tuple[Member | SimulatedElasticBody, int]]] = {}
        self._authored: dict[Key, Track] = {}
        of_gravity = gravity_entries(scene)
        entries = [(member, entries_of(scene.articulations[member.index]) | of_gravity) for member in members]
        for owner, own in (*entries, *((body, mesh_entries(body) | of_gravity) for body in bodies)):
            for key, entry in own.items():
                self._places.setdefault(key, []).append((owner, entry.row))
                self._authored |= {key: entry.track} if entry.track else {}
        self.update(self._authored)
        self._setters: dict[Key, Callable[[float], object]] = {}

    def revise(self, before: dict[Key, Entry], after: dict[Key, Entry]) -> None:
        """Take in what the stage gives anew for some entries; what it did not give stays."""
        for key, entry in after.items():
            old = before[key].track
            if old == entry.track:
                continue
            self.pop(key, None)
            self._authored.pop(key, None)
            if entry.track is not None:
                self[key] = self._authored[key] = entry.track
            elif entry.value is not None:
                self._setter(*key)(entry.value)

    def carry_over(self, old: TargetTracks) -> None:
        """Follow what an older simulation followed beside what its stage gave, and not what it was told to drop."""
        for key in old.keys() | old._authored.keys():
            if key in self._places and old.get(key) != old._authored.get(key):
                self.pop(key, None)
                self.update({key: old[key]} if key in old else {})

    def apply(self, time: float) -> None:
        """Write the values that there are at a time [s]."""
        for key, track in self.items():
            if key not in self._setters:
                self._setters[key] = self._setter(*key)
            self._setters[key](track.at(time))

    def _setter(self, name: str, row: str) -> Callable[[float], object]:
        """Writes a value for all environments."""
        if name not in FOLLOW:
            raise SettingsError(f"target_tracks: {name!r} follows no track; {', '.join(FOLLOW)} do")
        if (name, row) not in self._places:
            names = ", ".join(other for array, other in self._places if array == name) or "none"
            raise SettingsError(f"target_tracks: {name} has no row of {row!r}; it has those of {names}")
        if name not in OF_MESH_TENDONS:
            self._open(name)
        return lambda value, fills=tuple(self._fills(name, row)): [fill(value) for fill in fills]

    def _fills(self, name: str, row: str) -> Iterator[Callable[[float], object]]:
        for member, place in self._places[name, row]:
            array = member.array(name)
            rows = array if array.ndim == 2 else array[0]
            own = rows[place]
            yield own.numpy().fill if wp.get_device(array.device).is_cpu else own.fill_
