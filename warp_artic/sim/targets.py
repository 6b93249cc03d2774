"""Drive targets that follow values over time."""

from __future__ import annotations

from collections.abc import Callable

import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.errors import SettingsError
from warp_artic.sim.views import Member

TARGETS = ("drive_position_target", "drive_velocity_target")
"""Control arrays that may follow a track."""


class TargetTracks(dict[tuple[str, str], Track]):
    """What drive targets follow, by the name of the control array and the dof; at first what the stage gives over time.

    Each step has the targets of its end, in every environment. Take an entry out to steer its dof by `control`; put one
    in to move another.
    """

    def __init__(self, scene: Scene, members: tuple[Member, ...]):
        self._places = {}
        for member in members:
            for row, dof in enumerate(scene.articulations[member.index].dofs):
                self._places[dof.name] = member, row
                for name, track in zip(
                    TARGETS, (dof.drive.position_track, dof.drive.velocity_track) if dof.drive else ()
                ):
                    if track is not None:
                        self[name, dof.name] = track
        self._setters: dict[tuple[str, str], Callable[[float], object]] = {}

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
