"""How forces by joints on links are reported."""

from __future__ import annotations

from dataclasses import dataclass

from warp_artic.errors import SettingsError

AXES = ("joint", "world")


@dataclass(frozen=True, kw_only=True)
class IncomingForces:
    """How `link_incoming_joint_force` is reported; `step` and `record` take it as `forces` in place of True."""

    axes: str = "joint"
    """"joint": axes of the child-side joint frame; "world": of the world. About the origin of that frame in both."""
    tendons: bool = True
    """Whether what tendons do across a joint is in them. Without it they are as forces from outside of the tree, as the
    document of PhysX has it; ovphysx 0.7 leaves out spatial tendons alone, and fixed ones not."""

    def __post_init__(self):
        if self.axes not in AXES:
            raise SettingsError(f"axes: {self.axes!r} is not one of {', '.join(AXES)}")
        if not isinstance(self.tendons, bool):
            raise SettingsError(f"tendons: {self.tendons!r} is not True or False")
