"""Lengths, speeds and forces of tendons as time samples."""

from __future__ import annotations

from pxr import Sdf

from warp_artic.usd import tokens
from warp_artic.usd.time_samples import apply_schema, at_times, check_finite, over, prim_named, write_samples
from warp_artic.usd.units import DISTANCE, FORCE, Units


def write_tendons(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples on the prims of our tendons and their leaves, and on the joint or link of a tendon in another schema."""
    for name, quantity, values in (
        ("length", DISTANCE, recording.tendon_length),
        ("speed", DISTANCE, recording.tendon_speed),
        ("force", FORCE, recording.tendon_force),
    ):
        values = values[:, environment]
        check_finite(recording, values[..., None], recording.tendon_names, name)
        values = units.authored(at_times(recording, values, times), quantity)
        for entry, tendon in enumerate(recording.tendon_names[: values.shape[1]]):
            path, _, instance = tendon.partition(":")
            spec = over(layer, prim_named(stage, path, "tendon"))
            prefix = "warpArtic:"
            if instance:
                apply_schema(spec, f"{tokens.ARTIC_TENDON_STATE}:{instance}")
                prefix += f"tendon:{instance}:"
            samples = values[:, entry].tolist()
            write_samples(spec, f"{prefix}{name}", Sdf.ValueTypeNames.Double, samples, codes)
