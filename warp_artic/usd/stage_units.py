"""The units of a stage."""

from __future__ import annotations

from pxr import Usd, UsdGeom, UsdPhysics

from warp_artic.usd.units import Units


def stage_units(stage: Usd.Stage) -> Units:
    """The units of length and mass of a stage, as authored or by their fallbacks."""
    return Units(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage))
