"""What is refused before the first step: inertias that a precision cannot compute with."""

from __future__ import annotations

from warp_artic.description.inertia_range import inertias_out_of_range
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError


def check_inertias(scene: Scene, precision: str) -> None:
    """Raise a SettingsError that lists every inertia out of range, one a line."""
    found = [f"{path}: {text}" for tree in scene.articulations for path, text in inertias_out_of_range(tree, precision)]
    if found:
        raise SettingsError("\n".join(found))
