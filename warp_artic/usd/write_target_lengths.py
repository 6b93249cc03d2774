"""A layer over a stage with the target lengths of tendons on meshes, and their stiffness, over time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pxr import Sdf, Usd

from warp_artic.usd import units
from warp_artic.usd.layer_file import write_layer
from warp_artic.usd.read_track import start_code
from warp_artic.usd.stage_units import stage_units
from warp_artic.usd.time_samples import over, prim_named, write_samples
from warp_artic.usd.write_results import describe_layer


@dataclass(frozen=True)
class TendonTargets:
    """What a tendon is asked for over time."""

    path: str
    stiffness: float | None
    """[N/m]; None: it stays."""
    lengths: np.ndarray | None
    """[m], shape (T); None: the tendon takes tensions."""
    tensions: np.ndarray
    """[N], shape (T)."""


def write_target_lengths(
    stage: Usd.Stage, targets: Sequence[TendonTargets], times: np.ndarray, output: str | os.PathLike
) -> None:
    """Write `output` (.usd, .usda or .usdc), a layer over `stage`, with samples at some times [s] from its start.

    Tendons that follow a length get target lengths and their stiffness, those that take tensions get these. The file
    is complete or not there at all.
    """
    own, output = stage_units(stage), Path(output)
    codes = (start_code(stage) + times * stage.GetTimeCodesPerSecond()).tolist()
    layer = Sdf.Layer.CreateAnonymous(".usda")
    describe_layer(layer, stage, codes, output, "Target lengths of tendons by warp_artic")
    set_range(layer, stage, codes)
    double = Sdf.ValueTypeNames.Double
    with Sdf.ChangeBlock():
        for target in targets:
            spec = over(layer, prim_named(stage, target.path, "tendon"))
            if target.lengths is None:
                values = own.authored(target.tensions, units.FORCE).tolist()
                write_samples(spec, "warpArtic:targetTension", double, values, codes)
                continue
            values = own.authored(target.lengths, units.DISTANCE).tolist()
            write_samples(spec, "warpArtic:targetLength", double, values, codes)
            write_samples(
                spec, "warpArtic:stiffness", double, [own.authored(target.stiffness, units.LINEAR_STIFFNESS)], codes
            )
    write_layer(layer, output)


def set_range(layer: Sdf.Layer, stage: Usd.Stage, codes: list[float]) -> None:
    """The time range of the stage with that of the samples; none where neither has one."""
    root = stage.GetRootLayer()
    ranges = [codes] if len(codes) > 1 else []
    if stage.HasAuthoredTimeCodeRange():
        ranges.append([root.startTimeCode, root.endTimeCode])
    if ranges:
        layer.startTimeCode = min(one[0] for one in ranges)
        layer.endTimeCode = max(one[-1] for one in ranges)
    else:
        layer.ClearStartTimeCode()
        layer.ClearEndTimeCode()
