"""Lengths, speeds and forces of tendons as time samples."""

from __future__ import annotations

from pxr import Sdf

from warp_artic.usd.outputs import TENDON, tendon_attribute
from warp_artic.usd.time_samples import apply_schema, at_times, check_finite, over, prim_named, write_samples
from warp_artic.usd.units import Units


def write_tendons(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples on the prims of our tendons and their leaves, and on the joint or link of a tendon in another schema."""
    recorded = {"length": recording.tendon_length, "speed": recording.tendon_speed, "force": recording.tendon_force}
    for name, values in recorded.items():
        values = values[:, environment]
        check_finite(recording, values[..., None], recording.tendon_names, name)
        values = units.authored(at_times(recording, values, times), TENDON[name])
        for entry, tendon in enumerate(recording.tendon_names[: values.shape[1]]):
            path, schema, attribute = tendon_attribute(tendon, name)
            spec = over(layer, prim_named(stage, path, "tendon"))
            if schema:
                apply_schema(spec, schema)
            write_samples(spec, attribute, Sdf.ValueTypeNames.Double, values[:, entry].tolist(), codes)
