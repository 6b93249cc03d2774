"""Records of a run as time samples of a layer."""

from __future__ import annotations

import math

import numpy as np
from pxr import Sdf, Usd

from warp_artic.errors import SettingsError, SolveError, StageError
from warp_artic.sim.record.recording import Recording


def sample_times(stage: Usd.Stage, recording: Recording, frames_per_second: float | None) -> np.ndarray:
    """Times [s] of the samples, shape (F)."""
    rate = frame_rate(stage, frames_per_second)
    time = recording.time
    if time.size == 1 or np.diff(time).max() * rate > 1.0 + 1e-6:
        return time
    frames = time[0] + np.arange(math.floor((time[-1] - time[0]) * rate + 1e-6) + 1) / rate
    if time[-1] - frames[-1] > 1e-6 / rate:
        frames = np.append(frames, time[-1])
    frames[-1] = time[-1]
    return frames


def frame_rate(stage: Usd.Stage, frames_per_second: float | None) -> float:
    """The frames in a second that are asked for, else those of the stage."""
    root = stage.GetRootLayer()
    rate = frames_per_second
    if rate is None:
        rate = root.framesPerSecond if root.HasFramesPerSecond() else root.timeCodesPerSecond
    if not 0 < rate < math.inf:
        raise SettingsError(f"frames per second: {rate:g} is not a finite number above 0")
    return rate


def at_times(
    recording: Recording, values: np.ndarray, times: np.ndarray, jumps: np.ndarray | None = None
) -> np.ndarray:
    """Values (R, ...) of the records, linear in between, at each time: (F, ...) in double precision.

    `jumps` (R - 1, ...) tells which values jump to the next record: there the value of the nearer record is taken.
    """
    time = recording.time
    after = np.clip(np.searchsorted(time, times), 1, max(time.size - 1, 1)) if time.size > 1 else np.zeros(1, int)
    before = np.maximum(after - 1, 0)
    step = np.where(after > before, time[after] - time[before], 1.0)
    weight = (times - time[before]) / step
    weight = np.where(np.abs(weight - np.round(weight)) < 1e-6, np.round(weight), weight)
    weight = weight.reshape(-1, *(1,) * (values.ndim - 1))
    low, high = values[before].astype(float), values[after].astype(float)
    if jumps is not None and jumps.any():
        weight = np.where(jumps[before], np.round(weight), weight)
    return np.where(weight == 1.0, high, low + weight * (high - low))


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """Unit quaternions (F, ..., 4), each with the sign nearest to the one before, so that slerps go the short way."""
    dots = np.einsum("f...i,f...i->f...", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    result = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    result[1:] *= signs[..., None]
    return result


def check_finite(recording: Recording, values: np.ndarray, names: tuple[str, ...], quantity: str) -> None:
    """Refuse to write what no host can show; values have the shape (R, names, components)."""
    bad = np.argwhere(~np.isfinite(values).all(axis=-1))
    if len(bad):
        record, entry = bad[0]
        raise SolveError(
            f"{names[entry]}: {quantity} is not finite at {recording.time[record]:g} s; nothing is written"
        )


def write_samples(spec: Sdf.PrimSpec, name: str, type_name: Sdf.ValueTypeName, values, codes: list) -> None:
    """An attribute with a default, and time samples where there is more than one value."""
    attribute = Sdf.AttributeSpec(spec, name, type_name)
    attribute.default = values[0]
    if len(values) > 1:
        layer, path = spec.layer, attribute.path
        for code, value in zip(codes, values):
            layer.SetTimeSample(path, code, value)


def prim_named(stage: Usd.Stage, path: str, noun: str) -> Usd.Prim:
    """A prim named in the recording."""
    prim = stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path) else None
    if not prim:
        raise StageError(f"{path}: the recording has a {noun} of this name; the stage has no such prim")
    return prim


def over(layer: Sdf.Layer, prim: Usd.Prim) -> Sdf.PrimSpec:
    """The prim spec that overrides a prim; instances on the way to it are made editable."""
    found = layer.GetPrimAtPath(prim.GetPath())
    if found:
        return found
    ancestor = prim
    while not ancestor.IsPseudoRoot():
        if ancestor.IsInstanceable():
            Sdf.CreatePrimInLayer(layer, ancestor.GetPath()).SetInfo("instanceable", False)
        ancestor = ancestor.GetParent()
    return Sdf.CreatePrimInLayer(layer, prim.GetPath())


def apply_schema(spec: Sdf.PrimSpec, schema: str) -> None:
    """Add an applied schema to a prim spec, keeping those that are there."""
    applied = Sdf.TokenListOp()
    before = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
    if schema not in before.prependedItems:
        applied.prependedItems = [*before.prependedItems, schema]
        spec.SetInfo("apiSchemas", applied)
