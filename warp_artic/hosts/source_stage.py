"""A stage as its authors have it: the same layers without those that we publish on, and word of what changes in them.

It is composed beside the stage of the host, over the same layers, so that it never shows our own results as a start
state, and hears of no change that is ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Sdf, Tf, Usd

from warp_artic.usd.open_stage import stage_beside

UNITS = ("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "startTimeCode", "endTimeCode")
"""Metadata of a stage that readings depend on."""
PHYSICS = ("physics:", "physx", "newton:", "mjc:", "state:", "drive:", "limit:", "warpArtic:", "material:binding")
"""How the names of properties begin that are read wherever they are."""
LOOKS = ("primvars:", "visibility", "purpose", "inputs:", "outputs:", "doubleSided", "ui:", "omni:", "userProperties:")
"""How the names of properties begin that are read nowhere."""


class SourceStage:
    """The stage of a host without published layers.

    Args:
        stage: The stage of the host; it is only looked at.
    """

    def __init__(self, stage: Usd.Stage):
        self.host = stage
        self.is_deaf = False
        """Whether changes are not heard; one that is heard later has all of them read."""
        self._published: list[str] = []
        self.stage = stage_beside(stage, stage.GetSessionLayer())
        self._follow_host()
        self._paths: frozenset[Sdf.Path] = frozenset()
        self._has_changed = False
        self._listeners = [
            Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._on_change, self.stage),
            Tf.Notice.Register(Usd.Notice.StageContentsChanged, self._on_host_change, stage),
        ]

    def leave_out(self, layer: Sdf.Layer) -> None:
        """Do not show a layer that is published on, from now on; call it before the layer joins the stage."""
        self._published.append(layer.identifier)
        self._follow_host()

    def watch(self, paths: Iterable[str]) -> None:
        """Say of which prims every property counts: of these, of those above them, and of those below."""
        self._paths = frozenset(Sdf.Path(path) for path in paths)
        self._above = frozenset(prefix for path in self._paths for prefix in path.GetPrefixes())
        self._has_changed = False

    def take_changes(self) -> bool:
        """Whether anything has changed since the last call that readings may depend on."""
        changed, self._has_changed = self._has_changed, False
        return changed

    def touch(self) -> None:
        """Count what has been taken as changed once more."""
        self._has_changed = True

    def close(self) -> None:
        """Hear nothing any more."""
        for listener in self._listeners:
            listener.Revoke()
        self._listeners = []

    def _follow_host(self) -> None:
        """Load and mute what the host does; published layers are muted here alone."""
        if self.stage.GetLoadRules() != self.host.GetLoadRules():
            self.stage.SetLoadRules(self.host.GetLoadRules())
        wanted, here = {*self.host.GetMutedLayers(), *self._published}, set(self.stage.GetMutedLayers())
        if wanted != here:
            self.stage.MuteAndUnmuteLayers(sorted(wanted - here), sorted(here - wanted))

    def _on_host_change(self, notice, sender) -> None:
        self._follow_host()

    def _on_change(self, notice, sender) -> None:
        if self._has_changed or self.is_deaf:
            return
        self._has_changed = any(map(self._is_read_anew, notice.GetResyncedPaths())) or any(
            self._counts(path, notice.GetChangedFields(path)) for path in notice.GetChangedInfoOnlyPaths()
        )

    def _is_read_anew(self, path: Sdf.Path) -> bool:
        """Whether it matters that something is composed anew: prims do, properties as where they change."""
        return self._counts(path, ()) if path.IsPropertyPath() else True

    def _counts(self, path: Sdf.Path, fields: Iterable[str]) -> bool:
        if not path.IsPropertyPath():
            return path != Sdf.Path.absoluteRootPath or any(name in UNITS for name in fields)
        if path.name.startswith(PHYSICS):
            return True
        prim = path.GetPrimPath()
        is_near = prim in self._above or any(prefix in self._paths for prefix in prim.GetPrefixes())
        return is_near and not path.name.startswith(LOOKS)
