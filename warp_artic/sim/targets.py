"""Drive targets that follow values over time."""

from __future__ import annotations

from collections.abc import Callable

import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.errors import SettingsError
from warp_artic.sim.views import Member

TARGETS = ("drive_position_target", "drive_velocity_target")
"""Control arrays that may follow a track."""
TRACKS = {"drive_position_target": "position_track", "drive_velocity_target": "velocity_track"}
"""What a drive calls the tracks."""


def authored_tracks(tree: Articulation) -> dict[tuple[str, str], Track]:
    """What the stage gives over time for the targets of an articulation."""
    drives = [(dof.name, dof.drive) for dof in tree.dofs if dof.drive]
    tracks = {(name, dof): getattr(drive, TRACKS[name]) for dof, drive in drives for name in TARGETS}
    return {key: track for key, track in tracks.items() if track is not None}


class TargetTracks(dict[tuple[str, str], Track]):
    """What drive targets follow, by the name of the control array and the dof; at first what the stage gives over time.

    Each step has the targets of its end, in every environment. Take an entry out to steer its dof by `control`; put one
    in to move another.
    """

    def __init__(self, scene: Scene, members: tuple[Member, ...]):
        self._places = {}
        self._authored: dict[tuple[str, str], Track] = {}
        for member in members:
            tree = scene.articulations[member.index]
            self._places |= {dof.name: (member, row) for row, dof in enumerate(tree.dofs)}
            self._authored |= authored_tracks(tree)
        self.update(self._authored)
        self._setters: dict[tuple[str, str], Callable[[float], object]] = {}

    def revise(self, old: Articulation, new: Articulation) -> None:
        """Take in what the stage gives anew for an articulation; entries that it did not give stay."""
        before, after = authored_tracks(old), authored_tracks(new)
        for key in {*before, *after}:
            if before.get(key) != after.get(key):
                self.pop(key, None)
                self.update({key: after[key]} if key in after else {})
            if key in before and key not in after:
                self._authored.pop(key)
                member, row = self._places[key[1]]
                drive = new.dofs[row].drive or Drive()
                member.array(key[0])[row].fill_(getattr(drive, key[0].removeprefix("drive_")))
        self._authored |= after

    def carry_over(self, old: TargetTracks) -> None:
        """Follow what an older simulation followed beside what its stage gave, and not what it was told to drop."""
        for key in old.keys() | old._authored.keys():
            if key[1] in self._places and old.get(key) != old._authored.get(key):
                self.pop(key, None)
                self.update({key: old[key]} if key in old else {})

    def apply(self, time: float) -> None:
        """Write the targets that there are at a time [s]."""
        for key, track in self.items():
            if key not in self._setters:
                self._setters[key] = self._setter(*key)
            self._setters[key](track.at(time))

    def _setter(self, name: str, dof: str) -> Callable[[float], object]:
        """Writes a value for all environments."""
        if name not in TARGETS:
            raise SettingsError(f"target_tracks: {name!r} follows no track; {' and '.join(TARGETS)} do")
        if dof not in self._places:
            raise SettingsError(f"target_tracks: there is no dof {dof!r}")
        member, row = self._places[dof]
        array = member.array(name)[row]
        member.group.watch(name)
        return array.numpy().fill if wp.get_device(array.device).is_cpu else array.fill_
