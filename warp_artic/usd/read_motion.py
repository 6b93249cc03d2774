"""How what is drawn of a stage moves: by its time samples, which may be those of a recording over it."""

from __future__ import annotations

import numpy as np
from pxr import Sdf, Usd, UsdGeom

from warp_artic.description.drawing import Drawing, Motion
from warp_artic.description.pose import quaternion_from_matrix
from warp_artic.errors import SettingsError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.instances import with_instances
from warp_artic.usd.read_track import start_code
from warp_artic.usd.row_matrices import scale_and_rotation
from warp_artic.usd.skinned_points import SkinnedPoints
from warp_artic.usd.stage_units import stage_units
from warp_artic.usd.time_samples import continuous
from warp_artic.usd.write_links import write_links
from warp_artic.usd.write_meshes import write_meshes
from warp_artic.usd.write_skeletons import write_skeletons


def played(stage: Usd.Stage, recording: Recording, environment: int, times: np.ndarray) -> Usd.Stage:
    """A stage in memory: the motion of one environment at some times [s] over a stage, which stays as it is.

    Raises:
        SettingsError: The recording has no poses of links, or no such environment.
        StageError: The recording is of another stage: a prim that it names is not there.
    """
    count = recording.environment_count
    if not 0 <= environment < count:
        raise SettingsError(f"environment {environment} is not in the recording, which has {count}")
    if recording.link_names and not recording.link_pose.shape[2]:
        raise SettingsError("recording: has no link_pose, without which there is nothing to draw")
    codes = (start_code(stage) + times * stage.GetTimeCodesPerSecond()).tolist()
    layer = Sdf.Layer.CreateAnonymous("played.usda")
    root = stage.GetRootLayer()
    for key in ("metersPerUnit", "upAxis", "kilogramsPerUnit"):
        if root.pseudoRoot.HasInfo(key):
            layer.pseudoRoot.SetInfo(key, root.pseudoRoot.GetInfo(key))
    layer.timeCodesPerSecond = root.timeCodesPerSecond
    layer.startTimeCode, layer.endTimeCode = codes[0], codes[-1]
    layer.subLayerPaths.append(root.identifier)
    with Sdf.ChangeBlock():
        frames = write_links(layer, stage, recording, environment, times, codes)
        write_skeletons(layer, stage, frames, codes, start_code(stage))
        write_meshes(layer, stage, recording, environment, times, codes, stage_units(stage))
    return Usd.Stage.Open(layer, stage.GetSessionLayer())


def frame_times(stage: Usd.Stage, frames_per_second: float) -> np.ndarray:
    """Times [s] from the start of what is animated on a stage to its end; one where nothing is."""
    if not stage.HasAuthoredTimeCodeRange():
        return np.zeros(1)
    seconds = (stage.GetEndTimeCode() - stage.GetStartTimeCode()) / stage.GetTimeCodesPerSecond()
    return np.arange(max(0, int(seconds * frames_per_second + 1e-6)) + 1) / frames_per_second


def read_motion(stage: Usd.Stage, drawing: Drawing, times: np.ndarray) -> Motion:
    """Where everything of a drawing of a stage is at times after the start of the stage [s]."""
    stage = with_instances(stage, in_time=True).stage
    codes = start_code(stage) + np.asarray(times, float) * stage.GetTimeCodesPerSecond()
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    prims = [stage.GetPrimAtPath(path) for path in drawing.bodies]
    moving = [one.path for one in (*drawing.parts, *drawing.strands) if one.deforms]
    shapes = {path: UsdGeom.PointBased(stage.GetPrimAtPath(path)) for path in moving}
    worlds = np.zeros((len(codes), len(prims), 4, 4))
    points: dict[str, list[np.ndarray]] = {path: [] for path in moving}
    skins = SkinnedPoints(stage)
    cache = UsdGeom.XformCache()
    for frame, code in enumerate(codes.tolist()):
        cache.SetTime(code)
        for body, prim in enumerate(prims):
            worlds[frame, body] = cache.GetLocalToWorldTransform(prim)
        for path, shape in shapes.items():
            world = skins.at(path, code)
            if world is None:
                W = np.array(cache.GetLocalToWorldTransform(shape.GetPrim()))
                world = np.array(shape.GetPointsAttr().Get(code), float) @ W[:3, :3] + W[3, :3]
            points[path].append(world * meters)
    return Motion(
        time=np.asarray(times, float),
        poses=rigid_poses(worlds, meters),
        points={path: np.array(found) for path, found in points.items()},
    )


def rigid_poses(worlds: np.ndarray, meters: float) -> np.ndarray:
    """Poses (F, B, 7) [m] of world matrices (F, B, 4, 4) for rows, without their scale."""
    frames, bodies = worlds.shape[:2]
    flat = worlds.reshape(-1, 4, 4)
    _, rotation = scale_and_rotation(flat)
    poses = np.zeros((frames * bodies, 7))
    poses[:, :3] = flat[:, 3, :3] * meters
    poses[:, 3:] = [quaternion_from_matrix(R.T) for R in rotation] if len(rotation) else np.zeros((0, 4))
    poses = poses.reshape(frames, bodies, 7)
    if frames and bodies:
        poses[..., 3:] = continuous(poses[..., 3:])
    return poses
