"""How far two stages move apart: world transforms and points of each prim over time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from warp_artic.errors import StageError
from warp_artic.usd.instances import with_instances
from warp_artic.usd.read_track import start_code
from warp_artic.usd.row_matrices import scale_and_rotation
from warp_artic.usd.skeleton import Skeleton


@dataclass(frozen=True)
class PrimDifference:
    """The largest differences of one prim over all times."""

    path: str
    distance: float
    """Between the two places of its origin, or of any of its points where these change [m]."""
    angle: float
    """Between the two orientations [rad]."""
    scale: float
    """Of a scale along an axis, relative to the larger one."""
    time: float
    """When the largest of the three is reached, after the start [s]."""

    @property
    def largest(self) -> float:
        """The largest of distance [m], angle [rad] and scale."""
        return max(self.distance, self.angle, self.scale)


@dataclass(frozen=True)
class MotionDifference:
    """What differs between the motions of two stages."""

    prims: tuple[PrimDifference, ...]
    """Of the prims that are on both, the largest difference first."""
    missing: tuple[str, ...]
    """Paths of prims with a transform that are on one stage only."""
    times: int
    """At how many times they were compared."""


def compare_motion(a: Usd.Stage, b: Usd.Stage) -> MotionDifference:
    """Compare the world transforms of all prims of two stages, in metres, at the times of all samples of either.

    Those of skeletons are also those of their joints.

    Raises:
        StageError: They end at different times, so that one of them has a part that the other lacks.
    """
    a, b = (with_instances(stage, in_time=True).stage for stage in (a, b))
    prims_a, prims_b = _xformables(a), _xformables(b)
    skeletons = _skeletons(prims_a), _skeletons(prims_b)
    times = _times((a, prims_a, skeletons[0]), (b, prims_b, skeletons[1]))
    both = [path for path in prims_a if path in prims_b]
    posed = {path for one in skeletons for path, own in one.items() if own.animated}.intersection(*skeletons)
    largest = np.zeros((len(both), 3))
    when = np.zeros(len(both))
    caches = (UsdGeom.XformCache(), UsdGeom.XformCache())
    for time in times.tolist():
        worlds = []
        for stage, prims, cache in ((a, prims_a, caches[0]), (b, prims_b, caches[1])):
            cache.SetTime(start_code(stage) + time * stage.GetTimeCodesPerSecond())
            W = np.array([cache.GetLocalToWorldTransform(prims[path]) for path in both]).reshape(-1, 4, 4)
            W[:, 3, :3] *= UsdGeom.GetStageMetersPerUnit(stage)
            worlds.append(W)
        found = _differences(*worlds)
        for row, path in enumerate(both):
            if _deforms(prims_a[path]) or _deforms(prims_b[path]):
                found[row, 0] = _farthest(a, b, path, time)
            if path in posed:
                found[row] = np.maximum(found[row], _joints([one[path] for one in skeletons], time))
        found = np.where(np.isfinite(found), found, np.inf)
        is_new = found.max(axis=1) > largest.max(axis=1)
        when = np.where(is_new, time, when)
        largest = np.maximum(largest, found)
    rows = [PrimDifference(path, *values, at) for path, values, at in zip(both, largest.tolist(), when.tolist())]
    missing = sorted(set(prims_a) ^ set(prims_b))
    return MotionDifference(tuple(sorted(rows, key=lambda row: -row.largest)), tuple(missing), len(times))


def _xformables(stage: Usd.Stage) -> dict[str, Usd.Prim]:
    """The prims with a transform, also those of instances."""
    instances = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    prims = Usd.PrimRange.Stage(stage, instances)
    return {str(prim.GetPath()): prim for prim in prims if prim.IsA(UsdGeom.Xformable)}


def _deforms(prim: Usd.Prim) -> bool:
    """Whether points of a prim change over time."""
    return prim.IsA(UsdGeom.PointBased) and UsdGeom.PointBased(prim).GetPointsAttr().ValueMightBeTimeVarying()


def _skeletons(prims: dict[str, Usd.Prim]) -> dict[str, Skeleton]:
    """The skeletons that skin something."""
    found = {}
    for path, prim in prims.items():
        if prim.IsA(UsdSkel.Skeleton):
            with suppress(StageError):
                found[path] = Skeleton(prim)
    return found


def _times(*all_of: tuple[Usd.Stage, dict[str, Usd.Prim], dict[str, Skeleton]]) -> np.ndarray:
    """The times of all samples of transforms, points and animations of joints, and zero [s]."""
    found = {0.0}
    lengths = []
    for stage, prims, skeletons in all_of:
        codes = {code for skeleton in skeletons.values() for code in skeleton.animation_codes()}
        for prim in prims.values():
            codes.update(UsdGeom.Xformable(prim).GetTimeSamples())
            if _deforms(prim):
                codes.update(UsdGeom.PointBased(prim).GetPointsAttr().GetTimeSamples())
        rate = stage.GetTimeCodesPerSecond()
        found |= {round((code - start_code(stage)) / rate, 9) for code in codes}
        lengths.append(max(codes, default=start_code(stage)) / rate - start_code(stage) / rate)
    if abs(lengths[0] - lengths[1]) > 1e-6:
        names = [stage.GetRootLayer().GetDisplayName() for stage, _, _ in all_of]
        raise StageError(
            f"{names[0]}: moves for {lengths[0]:g} s, {names[1]} for {lengths[1]:g} s; they must be of one length"
        )
    return np.array(sorted(found))


def _differences(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Distance, angle and relative scale between world matrices (N, 4, 4), shape (N, 3)."""
    (scale_a, R_a), (scale_b, R_b) = scale_and_rotation(A), scale_and_rotation(B)
    # |R_a - R_b| = 2 sqrt(2) sin(angle / 2), which is exact also where the cosine is near one.
    chord = np.linalg.norm((R_a - R_b).reshape(-1, 9), axis=1)
    angle = 2.0 * np.arcsin(np.clip(chord / np.sqrt(8.0), 0.0, 1.0))
    size = np.maximum(np.abs(scale_a), np.abs(scale_b))
    scale = (np.abs(scale_a - scale_b) / np.where(size > 0.0, size, 1.0)).max(axis=1, initial=0.0)
    return np.stack([np.linalg.norm(A[:, 3, :3] - B[:, 3, :3], axis=1), angle, scale], axis=1)


def _joints(skeletons: list[Skeleton], time: float) -> np.ndarray:
    """The largest distance, angle and relative scale between the same joints (3); infinite where there are others."""
    if skeletons[0].joints != skeletons[1].joints:
        return np.full(3, np.inf)
    worlds = []
    for skeleton in skeletons:
        stage = skeleton.prim.GetStage()
        code = start_code(stage) + time * stage.GetTimeCodesPerSecond()
        W = skeleton.joint_matrices(code) @ np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(skeleton.prim))
        W[:, 3, :3] *= UsdGeom.GetStageMetersPerUnit(stage)
        worlds.append(W)
    return _differences(*worlds).max(axis=0)


def _farthest(a: Usd.Stage, b: Usd.Stage, path: str, time: float) -> float:
    """The largest distance between the same points of a prim [m]; infinite where their numbers differ."""
    places = []
    for stage in (a, b):
        code = Usd.TimeCode(start_code(stage) + time * stage.GetTimeCodesPerSecond())
        prim = stage.GetPrimAtPath(path)
        W = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim))
        points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(code), float).reshape(-1, 3)
        places.append((points @ W[:3, :3] + W[3, :3]) * UsdGeom.GetStageMetersPerUnit(stage))
    if places[0].shape != places[1].shape:
        return np.inf
    return float(np.linalg.norm(places[0] - places[1], axis=1).max(initial=0.0))
