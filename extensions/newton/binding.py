"""What of a model of Newton is what of a scene, in the first environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warp_artic.description.pose import Pose


@dataclass(frozen=True)
class Binding:
    """Names of the scene, with joints and bodies by their places in `Worlds`."""

    axes: tuple[tuple[str, int, int], ...]
    """Dofs with a coordinate of their own: name, joint, and which of its coordinates."""
    balls: tuple[tuple[tuple[str, str, str], int], ...]
    """Dofs of ball joints: the names of three, and the joint."""
    roots: tuple[tuple[str, int], ...]
    """Floating root links, in the order of the scene, and their free joints."""
    links: tuple[tuple[str, int], ...]
    """Links and bodies."""
    anchors: Mapping[str, tuple[Pose, int]]
    """Joints on the world, by path: their parent-side frame in the scene, as Newton has it, and the joint."""
