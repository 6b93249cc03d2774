"""Registers warp_artic as a simulator of Kit; needs the package `warp_artic` in the Python of Kit."""

from omni.warp_artic.extension import Extension as Extension
from omni.warp_artic.simulator import Simulator as Simulator

__all__ = ["Extension", "Simulator"]
