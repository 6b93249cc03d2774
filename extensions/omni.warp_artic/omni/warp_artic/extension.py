"""What Kit starts and stops."""

from __future__ import annotations

import omni.ext
from omni.warp_artic.registration import register, unregister
from omni.warp_artic.simulator import Simulator


class Extension(omni.ext.IExt):
    """Offers the simulator as long as the extension is on; somebody else activates it."""

    def on_startup(self, ext_id: str) -> None:
        """Register."""
        self.simulator = Simulator()
        register(self.simulator)

    def on_shutdown(self) -> None:
        """Let go of the stage, and unregister."""
        self.simulator.close()
        unregister(self.simulator)
