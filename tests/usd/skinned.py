"""A small character, made here: a torso with a head and two legs of two parts, skinned, with a walk in place."""

from __future__ import annotations

import math

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

BONES = (
    # name, parent, origin and end in the bind pose (y up), radius
    ("hips", "", (0.0, 1.0, 0.0), (0.0, 1.25, 0.0), 0.14),
    ("chest", "hips", (0.0, 1.25, 0.0), (0.0, 1.6, 0.0), 0.15),
    ("head", "chest", (0.0, 1.65, 0.0), (0.0, 1.9, 0.0), 0.09),
    ("head_end", "head", (0.0, 1.9, 0.0), (0.0, 1.9, 0.0), 0.0),
    ("thigh_l", "hips", (0.12, 0.95, 0.0), (0.12, 0.5, 0.0), 0.07),
    ("thigh_twist_l", "thigh_l", (0.12, 0.7, 0.0), (0.12, 0.7, 0.0), 0.0),
    ("shin_l", "thigh_l", (0.12, 0.5, 0.0), (0.12, 0.06, 0.0), 0.05),
    ("thigh_r", "hips", (-0.12, 0.95, 0.0), (-0.12, 0.5, 0.0), 0.07),
    ("shin_r", "thigh_r", (-0.12, 0.5, 0.0), (-0.12, 0.06, 0.0), 0.05),
)
NAMES = [bone[0] for bone in BONES]
RATE = 24.0


def joint_paths() -> list[str]:
    paths: dict[str, str] = {"": ""}
    for name, parent, *_ in BONES:
        paths[name] = f"{paths[parent]}/{name}".lstrip("/")
    return [paths[name] for name in NAMES]


def bind_rotations() -> list[Gf.Matrix3d]:
    """Frames that are turned, each in its own way, so that no test passes by luck."""
    turns = [(1, 0, 0, 20.0), (0, 1, 0, -50.0), (1, 1, 0, 35.0), (0, 0, 1, 80.0), (0, 0, 1, 170.0), (1, 0, 1, 10.0)]
    turns += [(1, 0, 0, 95.0), (0, 1, 1, -120.0), (1, 2, 3, 60.0)]
    return [Gf.Matrix3d(Gf.Rotation(Gf.Vec3d(*axis), angle)) for *axis, angle in turns]


def bind_matrices() -> list[Gf.Matrix4d]:
    pairs = zip(bind_rotations(), BONES)
    return [Gf.Matrix4d(rotation, Gf.Vec3d(*bone[2])) for rotation, bone in pairs]


def tube(start, end, radius: float, sides: int = 12, rings: int = 5):
    """A closed tube: points, counts, corners."""
    start, end = np.array(start), np.array(end)
    angles = 2.0 * math.pi * np.arange(sides) / sides
    circle = np.stack([radius * np.cos(angles), 0.0 * angles, -radius * np.sin(angles)], axis=1)
    heights = np.linspace(0.0, 1.0, rings)[:, None, None]
    low, high = (start, end) if start[1] < end[1] else (end, start)
    points = (low + heights * (high - low) + circle[None]).reshape(-1, 3)
    faces = []
    for ring in range(rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append([a, b, b + sides, a + sides])
    faces += [list(range(sides))[::-1], [(rings - 1) * sides + side for side in range(sides)]]
    return points, faces


def walk(phase: float) -> dict[str, tuple]:
    """Turns of joints about world axes in the bind pose [degrees], at a phase of a walk [rad]."""
    swing = 30.0 * math.sin(phase)
    return {
        "hips": ((0, 1, 0), 8.0 * math.sin(phase)),
        "chest": ((0, 1, 0), -12.0 * math.sin(phase)),
        "head": ((0, 0, 1), 5.0 * math.sin(2.0 * phase)),
        "thigh_l": ((1, 0, 0), swing),
        "shin_l": ((1, 0, 0), 25.0 - 25.0 * math.cos(phase)),
        "thigh_r": ((1, 0, 0), -swing),
        "shin_r": ((1, 0, 0), 25.0 + 25.0 * math.cos(phase)),
        "thigh_twist_l": ((0, 1, 0), 10.0 * math.sin(phase)),
        "head_end": ((1, 0, 0), 40.0 * math.sin(phase)),
    }


def local_matrices(turns: dict[str, tuple]) -> list[Gf.Matrix4d]:
    bind = bind_matrices()
    posed = {}
    local = []
    for number, (name, parent, *_) in enumerate(BONES):
        axis, angle = turns.get(name, ((1, 0, 0), 0.0))
        origin = Gf.Vec3d(*BONES[number][2])
        turn = Gf.Matrix4d().SetTranslate(-origin) * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*axis), angle))
        above = posed[parent][1] if parent else Gf.Matrix4d(1.0)
        moved = turn * Gf.Matrix4d().SetTranslate(origin) * above
        posed[name] = (bind[number] * moved, moved)
        own = posed[name][0]
        local.append(own * posed[parent][0].GetInverse() if parent else own)
    return local


def character(
    stage: Usd.Stage, path: str = "/Character", clip: bool = True, seconds: float = 1.0, smooth: bool = True
) -> UsdSkel.Skeleton:
    """A skinned character at a path: SkelRoot, Skeleton, one mesh, and a walk as its animation."""
    root = UsdSkel.Root.Define(stage, path)
    skeleton = UsdSkel.Skeleton.Define(stage, f"{path}/Skeleton")
    skeleton.CreateJointsAttr(joint_paths())
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(bind_matrices()))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray(local_matrices({})))
    points, counts, corners, indices, weights = [], [], [], [], []
    for number, (_, parent, start, end, radius) in enumerate(BONES):
        if not radius:
            continue
        own, faces = tube(start, end, radius)
        for face in faces:
            counts.append(len(face))
            corners += [len(points) + corner for corner in face]
        reach = np.abs(own[:, 1] - start[1]) / abs(end[1] - start[1])
        for point, along in zip(own, reach):
            share = 0.5 * max(0.0, 1.0 - 4.0 * along) if parent and smooth else 0.0
            points.append(tuple(point))
            above = NAMES.index(parent) if parent else number
            if BONES[number][0] == "thigh_l" and smooth:
                indices += [number, above, NAMES.index("thigh_twist_l")]
                weights += [0.8 * (1.0 - share), share, 0.2 * (1.0 - share)]
            else:
                indices += [number, above, number]
                weights += [1.0 - share, share, 0.0]
    mesh = UsdGeom.Mesh.Define(stage, f"{path}/skin")
    mesh.CreatePointsAttr(points)
    mesh.CreateFaceVertexCountsAttr(counts)
    mesh.CreateFaceVertexIndicesAttr(corners)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointIndicesPrimvar(False, 3).Set(indices)
    binding.CreateJointWeightsPrimvar(False, 3).Set(weights)
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    if clip:
        animation = UsdSkel.Animation.Define(stage, f"{path}/Walk")
        animation.CreateJointsAttr(joint_paths())
        frames = round(seconds * RATE)
        for frame in range(frames + 1):
            matrices = Vt.Matrix4dArray(local_matrices(walk(2.0 * math.pi * frame / frames)))
            translations, rotations, scales = UsdSkel.DecomposeTransforms(matrices)
            animation.CreateTranslationsAttr().Set(translations, frame)
            animation.CreateRotationsAttr().Set(rotations, frame)
            animation.CreateScalesAttr().Set(scales, frame)
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    assert root
    return skeleton


def skinned_stage(file=None, **options) -> Usd.Stage:
    """A stage in metres with the character alone."""
    stage = Usd.Stage.CreateInMemory() if file is None else Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.SetTimeCodesPerSecond(RATE)
    stage.SetFramesPerSecond(RATE)
    character(stage, **options)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(RATE * options.get("seconds", 1.0))
    stage.SetDefaultPrim(stage.GetPrimAtPath(Sdf.Path(options.get("path", "/Character")).GetPrefixes()[0]))
    if file is not None:
        stage.GetRootLayer().Save()
    return stage
