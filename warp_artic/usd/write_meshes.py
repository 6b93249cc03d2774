"""Points of elastic bodies as time samples; lengths and tensions of the tendons on them, and a curve that shows each.

A point at world position p [m] under a mesh with the world matrix W of rows, as USD has it, gets the local position
p / metersPerUnit W^-1. A mesh that moves with a link, or below anything animated, leaves that: its own ops give way to
`!resetXformStack!` and the matrix that it starts with, and its points alone say where it is.

Below each tendon is a curve through its waypoints, in the world, which has the tension as a primvar and a colour by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, Vt

from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon
from warp_artic.description.pose import matrix_from_quaternion
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.outputs import MESH_TENDON
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.time_samples import at_times, check_finite, continuous, over, prim_named, write_samples
from warp_artic.usd.units import FORCE, Units

OP = "xformOp:transform:warpArtic"
RESET = "!resetXformStack!"
CURVE = "warpArticPath"
"""Name of the curve below a tendon."""
COLOR, TENSION = "primvars:displayColor", "primvars:tension"
WIDTH = 0.006
"""Of a curve, relative to the size of the body that it is on, at rest."""
SLACK, TAUT = np.array([0.45, 0.5, 0.56]), np.array([0.88, 0.18, 0.1])
"""Colours of no tension, and of the largest of the run."""


def write_meshes(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples of every elastic body and every tendon on one."""
    if not recording.mesh_nodes:
        return
    points = recording.mesh_points[:, environment]
    check_finite(recording, points, recording.mesh_nodes, "a position")
    points = at_times(recording, points, times)
    for path, own in bodies_of(recording):
        _write_points(layer, prim_named(stage, path, "elastic body"), recording, points[:, own], codes, units)
    _write_tendons(layer, stage, recording, environment, times, codes, points, units)


def bodies_of(recording: Recording) -> Iterator[tuple[str, slice]]:
    """The path of each elastic body, and its nodes among those of all."""
    nodes = recording.mesh_nodes
    starts = [node for node, path in enumerate(nodes) if node == 0 or nodes[node - 1] != path]
    for start, end in zip(starts, [*starts[1:], len(nodes)]):
        yield nodes[start], slice(start, end)


def largest_tension(layer: Sdf.Layer) -> float:
    """Of the samples of all curves in a layer, in its units; 0 where there are none."""
    samples = (_samples(layer, path).values() for path in _curve_tensions(layer))
    return max((abs(tension) for of_curve in samples for tension in of_curve), default=0.0)


def recolor_curves(layer: Sdf.Layer, largest: float) -> None:
    """Give the curves of a layer other colours: those where `largest` is the largest tension."""
    for path in _curve_tensions(layer):
        tensions = _samples(layer, path)
        colored = path.ReplaceName(COLOR)
        for code in layer.ListTimeSamplesForPath(colored):
            layer.EraseTimeSample(colored, code)
        for code, color in zip(tensions, _color_frames(np.array([*tensions.values()]), largest)):
            layer.SetTimeSample(colored, code, color)


def _curve_tensions(layer: Sdf.Layer) -> list[Sdf.Path]:
    found: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, found.append)
    return [path for path in found if path.name == TENSION and path.GetPrimPath().name == CURVE]


def _samples(layer: Sdf.Layer, path: Sdf.Path) -> dict[float, float]:
    return {code: layer.QueryTimeSample(path, code) for code in layer.ListTimeSamplesForPath(path)}


def start_matrix(prim: Usd.Prim) -> np.ndarray:
    """W of a prim at the start of its stage, shape (4, 4), for rows."""
    stage = prim.GetStage()
    root = stage.GetRootLayer()
    cache = UsdGeom.XformCache(Usd.TimeCode(root.startTimeCode if root.HasStartTimeCode() else 0.0))
    return np.array(cache.GetLocalToWorldTransform(prim))


def local_points(world: np.ndarray, W: np.ndarray, meters: float) -> np.ndarray:
    """World positions (..., 3) [m] in the space of a prim with the matrix W."""
    inverse = np.linalg.inv(W)
    return (world / meters) @ inverse[:3, :3] + inverse[3, :3]


def follows(prim: Usd.Prim, links: Sequence[str]) -> bool:
    """Whether a prim moves with a link, or with anything animated."""
    while not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if str(prim.GetPath()) in links or (xformable and xformable.TransformMightBeTimeVarying()):
            return True
        if xformable and xformable.GetResetXformStack():
            return False
        prim = prim.GetParent()
    return False


def hold(spec: Sdf.PrimSpec, W: np.ndarray) -> None:
    """Let a prim stay where it is, whatever those above it do."""
    order = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
    order.default = Vt.TokenArray([RESET, OP])
    Sdf.AttributeSpec(spec, OP, Sdf.ValueTypeNames.Matrix4d).default = Gf.Matrix4d(W.tolist())


def _write_points(layer, prim: Usd.Prim, recording: Recording, points: np.ndarray, codes: list, units: Units) -> None:
    W = start_matrix(prim)
    spec = over(layer, prim)
    if follows(prim, set(recording.link_names)):
        hold(spec, W)
    _write_shape(spec, local_points(points, W, units.meters), 0.0, codes)


def _write_shape(spec: Sdf.PrimSpec, points: np.ndarray, margin: float, codes: list) -> None:
    """Points (F, N, 3) and what they extend to."""
    arrays = [Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(frame, np.float32)) for frame in points]
    write_samples(spec, "points", Sdf.ValueTypeNames.Point3fArray, _one_if_same(arrays), codes)
    bounds = np.stack([points.min(axis=1) - margin, points.max(axis=1) + margin], axis=1)
    arrays = [Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(frame, np.float32)) for frame in bounds]
    write_samples(spec, "extent", Sdf.ValueTypeNames.Float3Array, _one_if_same(arrays), codes)


def _one_if_same(arrays: list) -> list:
    return arrays[:1] if all(array == arrays[0] for array in arrays) else arrays


def _write_tendons(layer, stage, recording, environment, times, codes, points, units: Units) -> None:
    names = recording.mesh_tendon_names
    recorded = {"length": recording.mesh_tendon_length, "tension": recording.mesh_tendon_tension}
    if any(own.shape[2] == 0 for own in recorded.values()):
        return  # there are none, or the recording keeps other quantities only
    values = {}
    for name, own in recorded.items():
        own = own[:, environment]
        check_finite(recording, own[..., None], names, name)
        values[name] = at_times(recording, own, times)
    scene = read_stage(stage)
    tendons = {tendon.name: tendon for tendon in scene.mesh_tendons}
    sizes = {body.name: float(np.ptp(body.points, axis=0).max()) for body in scene.elastic_bodies}
    poses = recording.link_pose[:, environment].astype(float)
    if len(recording.link_names):
        poses[..., 3:] = continuous(poses[..., 3:])
    poses = at_times(recording, poses, times)
    bodies = dict(bodies_of(recording))
    largest = np.abs(values["tension"]).max()
    for entry, name in enumerate(names):
        prim = prim_named(stage, name, "tendon")
        spec = over(layer, prim)
        for output, own in values.items():
            samples = units.authored(own[:, entry], MESH_TENDON[output]).tolist()
            write_samples(spec, f"warpArtic:{output}", Sdf.ValueTypeNames.Double, samples, codes)
        tendon = tendons[name]
        path = _path(tendon, points[:, bodies[tendon.body]], poses, recording.link_names) / units.meters
        width = WIDTH * sizes[tendon.body] / units.meters
        tension = values["tension"][:, entry]
        _write_curve(spec, path, width, units.authored(tension, FORCE), _color_frames(tension, largest), codes)


def _path(tendon: MeshTendon, points: np.ndarray, poses: np.ndarray, links: tuple[str, ...]) -> np.ndarray:
    """World positions of the waypoints, shape (F, waypoints, 3) [m]."""
    places = []
    for waypoint in tendon.waypoints:
        if isinstance(waypoint, BodyPoint):
            places.append(np.einsum("n,fni->fi", waypoint.weights, points[:, list(waypoint.nodes)]))
        elif isinstance(waypoint, LinkPoint):
            of_link = poses[:, links.index(waypoint.link)]
            turned = [matrix_from_quaternion(pose[3:]) @ waypoint.position for pose in of_link]
            places.append(of_link[:, :3] + turned)
        else:
            places.append(np.broadcast_to(waypoint.position, (len(points), 3)))
    return np.stack(places, axis=1)


def _color_frames(tension: np.ndarray, largest: float) -> list[Vt.Vec3fArray]:
    """Between the colour of a slack tendon and that of the tautest one, for each of F tensions."""
    share = np.clip(tension / largest, 0.0, 1.0) if largest > 0.0 else np.zeros_like(tension)
    colors = SLACK + share[:, None] * (TAUT - SLACK)
    return [Vt.Vec3fArray([Gf.Vec3f(*color)]) for color in colors.tolist()]


def _write_curve(spec, path: np.ndarray, width: float, tension: np.ndarray, colors: list, codes: list) -> None:
    """A line through waypoints (F, n, 3), in the world."""
    curve = Sdf.PrimSpec(spec, CURVE, Sdf.SpecifierDef, "BasisCurves")
    names, uniform = Sdf.ValueTypeNames, Sdf.VariabilityUniform
    Sdf.AttributeSpec(curve, "type", names.Token, uniform).default = "linear"
    Sdf.AttributeSpec(curve, "curveVertexCounts", names.IntArray).default = Vt.IntArray([path.shape[1]])
    Sdf.AttributeSpec(curve, "widths", names.FloatArray).default = Vt.FloatArray([width])
    order = Sdf.AttributeSpec(curve, "xformOpOrder", names.TokenArray, uniform)
    order.default = Vt.TokenArray([RESET])
    _write_shape(curve, path, 0.5 * width, codes)
    write_samples(curve, COLOR, names.Color3fArray, _one_if_same(colors), codes)
    write_samples(curve, TENSION, names.Double, tension.tolist(), codes)
    for name in ("widths", COLOR, TENSION):
        curve.attributes[name].SetInfo("interpolation", "constant")
