"""Pictures of the samples: each is simulated, baked and drawn as a motion study. Needs the extra `plot`.

python samples/render.py [NAME ...]
"""

import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
from pxr import Usd, UsdGeom

import warp_artic as wa

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon

HERE = Path(__file__).parent
VIEWS = {  # azimuth and elevation [deg], times of the poses [s], prims whose paths are traced
    "pendulum": (-90, 0, np.linspace(0, 0.95, 9), ["pendulum/rod/bob"]),
    "double_pendulum": (-90, 0, np.linspace(0, 1.6, 7), ["pendulum/lower/shape"]),
    "peaucellier": (-90, 0, np.linspace(0, 0.5, 4), ["linkage/outer_a/pen"]),
    "cart_pole": (-90, 4, np.linspace(0, 1.5, 6), ["cart_pole/pole/shape"]),
    "arm": (-60, 18, np.linspace(0, 1.2, 7), ["arm/flange/shape"]),
    "spherical_chain": (-50, 20, np.linspace(0, 1.0, 6), ["chain/link_5/shape"]),
    "floating_three_links": (-90, 25, np.linspace(0, 5.5, 5), ["floater/left/shape"]),
    "ragdoll": (-80, 8, np.linspace(0, 1.1, 6), ["ragdoll/head/shape"]),
    "incline": (-40, 40, np.linspace(0, 0.9, 4), []),
    "falling": (-90, 0, np.linspace(0, 0.7, 7), [f"{bar}/end" for bar in ("free", "damped", "bounded")]),
    "lifts": (-82, 6, np.linspace(0, 0.9, 4), []),
    "cranes": (-90, 0, np.linspace(0, 7, 9), [f"{crane}/load/weight" for crane in ("hasty", "gentle")]),
    "lids": (
        -90,
        12,
        [0.0, 0.3, 0.45, 0.59, 0.9],
        [f"{box}/lid/shape" for box in ("hard", "bouncing", "soft", "slow")],
    ),
    "needles": (-90, 0, [0.0, 0.26, 3.0], [f"panel/{dial}/needle/pointer" for dial in ("lively", "calm", "critical")]),
    "elevons": (212, 32, [0.0, 0.2, 2.0], ["wing/stick/grip"]),
    "tackle": (-90, 0, [0.0, 0.55, 0.9], []),
    "jumping_jack": (-90, 0, [0.0, 0.07, 0.16, 1.5], [f"jack/{side}_arm/limb/hand" for side in ("left", "right")]),
    "four_dialects/warp_artic": (-90, 0, [0.0, 0.14, 0.3, 0.9], [f"{way}/upper/shape" for way in ("geared", "corded")]),
    "four_dialects/newton": (-90, 0, [0.0, 0.14, 0.3, 0.9], [f"{way}/upper/shape" for way in ("geared", "corded")]),
    "fifty_petals": (-60, 38, [0.0, 0.45], []),
    "coupled_hand": (60, 45, [0.0, 0.07, 1.5], ["hand/index_tip/shape", "hand/little_tip/shape"]),
    "branching_tendon": (-90, 0, [0.0, 0.2, 0.4, 2.0], ["claw/left_tip/shape", "claw/right_tip/shape"]),
    "hydraulic_arm": (-90, 0, [0.0, 0.3, 0.9, 4.0], ["excavator/stick/bucket"]),
    "string": (-90, 0, np.linspace(0, 1.6, 9), ["gantry/weight/ball"]),
    "bent_beam": (-90, 0, [0.0, 0.6, 1.1, 1.6, 2.4], []),
    "soft_gripper": (-70, 14, [0.0, 1.6], []),
    "starfish": (-90, 89.9, [0.0, 2.25], []),
    "soft_fingertip": (-90, 0, [0.0, 0.35, 0.7, 2.3], []),
    "gripper": (-90, 0, [0.0, 0.12, 1.5], ["gripper/left_tip/pad", "gripper/right_tip/pad"]),
    "rack_and_pinion": (-90, 0, [0.0, 0.3, 0.45, 0.75], ["gear/pinion/bob"]),
    "differential": (
        -35,
        18,
        [0.0, 0.7, 1.1],
        [f"differential/{side}_wheel/upper_weight" for side in ("left", "right")],
    ),
    "four_bar": (-90, 0, np.linspace(0, 0.75, 4), ["linkage/coupler/tracer"]),
    "slider_crank": (-90, 0, np.linspace(0, 0.45, 4), ["engine/piston/shape"]),
    "scissor_lift": (-80, 8, [0.0, 0.3, 2.0], ["lift/platform/shape"]),
    "stewart_platform": (-55, 20, [0.0, 2.0], ["hexapod/platform/mark"]),
    "d6_zoo": (-80, 14, [0.0, 0.35, 1.2], ["puck", "marble", "bolt", "seat", "needle/tip"]),
    "breakable_bridge": (-72, 8, [0.0, 0.28, 0.55], ["plank_2", "plank_4", "weight"]),
    "stack_and_wall": (-62, 16, [0.0, 0.3, 1.4], ["ball"]),
    "pile": (-62, 24, [0.0, 0.3, 2.4], []),
    "dominoes": (-60, 32, [0.0, 0.35, 1.4], ["ball"]),
    "marble_run": (-90, 0, np.linspace(0, 6.4, 20), ["marble_0"]),
    "billiards": (-90, 60, [0.0, 0.3, 0.6, 1.4], ["cue", *(f"ball_{k}" for k in range(6))]),
    "newtons_cradle": (-82, 6, [0.0, 0.25, 0.36, 0.48, 0.72], []),
    "ragdoll_on_stairs": (-72, 12, [0.0, 0.6, 0.95, 1.3, 2.4], ["ragdoll/head"]),
    "gears": (-40, 22, [0.0, 0.3, 0.5], [f"axle/{side}_wheel/mark" for side in ("left", "right")]),
}
PAPER, INK, TENDON = "#fbfaf7", "#2f3437", (0.36, 0.39, 0.43)


def main(names):
    """Draw the named samples, or all."""
    for name in names or VIEWS:
        with tempfile.TemporaryDirectory() as folder:
            draw(bake(name, Path(folder)), name, HERE / "pictures" / f"{name.replace('/', '_')}.png")


def bake(name, folder):
    """Simulate a sample for as long as its view needs; the baked stage, at 120 samples a second."""
    scene_file, baked = HERE / "scenes" / f"{name}.usda", folder / "baked.usdc"
    simulation = wa.Simulation(wa.read_stage(str(scene_file)))
    steps = int(np.ceil(max(VIEWS[name][2]) / simulation.settings.dt)) + 1
    wa.write_results(str(scene_file), simulation.record(steps), baked, frames_per_second=120)
    return Usd.Stage.Open(str(baked))


def draw(stage, name, picture):
    """Ghosted poses from pale to full colour, with the trail of one point."""
    azimuth, elevation, times, traced = VIEWS[name]
    camera = camera_axes(azimuth, elevation, UsdGeom.GetStageUpAxis(stage))
    scene = wa.read_stage(stage)
    figure, axes = plt.subplots(figsize=(6.4, 4.4), dpi=150, facecolor=PAPER)
    axes.set_aspect("equal")
    axes.axis("off")
    for path in traced:
        prim = stage.GetPrimAtPath(f"/World/{path}")
        trail = np.array([center(stage, prim, time) for time in np.linspace(0, max(times), 400)]) @ camera.T
        axes.plot(trail[:, 0], trail[:, 1], color=INK, linewidth=0.8, alpha=0.55, zorder=1)
    prims = [prim for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()) if UsdGeom.Gprim(prim)]
    meshes = [prim for prim in prims if UsdGeom.PointBased(prim)]
    prims = [prim for prim in prims if prim not in meshes]
    resting = {prim for prim in prims if is_at_rest(stage, prim, times)}
    paint(axes, [outline(stage, prim, times[0], camera) for prim in prims if prim in resting], np.min, 1.0, 1.5)
    for order, time in enumerate(times):
        strength = 0.16 + 0.84 * (order / (len(times) - 1)) ** 1.5
        for width, line in strands(scene, stage, time, camera):
            axes.plot(*line, color=blend(TENDON, strength), linewidth=width, zorder=2.5 + order)
        shapes = [outline(stage, prim, time, camera) for prim in prims if prim not in resting]
        paint(axes, shapes, np.mean, strength, 2 + order)
        for prim in meshes:
            paint_mesh(axes, stage, prim, time, camera, strength, 2 + order)
    axes.autoscale_view()
    axes.margins(0.06)
    figure.savefig(picture, facecolor=PAPER, bbox_inches="tight", pad_inches=0.15)
    plt.close(figure)


def paint(axes, shapes, depth_of, strength, order):
    """Shapes of one pose, the farthest first; `depth_of` makes one number of the depths of a shape."""
    for depths, patch, color in sorted(shapes, key=lambda shape: depth_of(shape[0])):
        patch.set(facecolor=blend(color, strength), edgecolor=blend((1, 1, 1), strength), linewidth=0.5)
        patch.set_zorder(order + 1e-3 * np.arctan(depth_of(depths)))
        axes.add_patch(patch)


def paint_mesh(axes, stage, prim, time, camera, strength, order):
    """The faces of a mesh, the farthest first and those askew to the viewer darker; a tendon in its colour."""
    world, code = pose(stage, prim, time), stage.GetStartTimeCode() + time * stage.GetTimeCodesPerSecond()
    points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(code)) @ world[:3, :3] + world[3, :3]
    points, color = points @ camera.T, np.array(prim.GetAttribute("primvars:displayColor").Get(code)[0])
    if prim.IsA(UsdGeom.BasisCurves):
        axes.plot(*points[:, :2].T, color=blend(color, strength), linewidth=1.8, zorder=2.5 + order)
        return
    name = "surfaceFaceVertexIndices" if prim.IsA(UsdGeom.TetMesh) else "faceVertexIndices"
    faces = points[np.array(prim.GetAttribute(name).Get()).reshape(-1, 3)]
    faces = faces[np.argsort(faces[:, :, 2].mean(axis=1))]
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    light = 0.72 + 0.28 * np.abs(normals[:, 2]) / np.linalg.norm(normals, axis=1)
    colors = [blend(share * color, strength) for share in light]
    edges = [blend(0.86 * share * color, strength) for share in light]
    axes.add_collection(
        PolyCollection(faces[:, :, :2], facecolors=colors, edgecolors=edges, linewidths=0.25, zorder=order + 0.2)
    )


def camera_axes(azimuth, elevation, up):
    """Rows: right, up and towards the viewer."""
    a, e = np.radians(azimuth), np.radians(elevation)
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.array([right, np.cross(back, right), back])
    return axes[:, [0, 2, 1]] * [1, 1, -1] if up == "Y" else axes


def pose(stage, prim, time):
    """Matrix from the frame of a shape to the world, for rows."""
    code = stage.GetStartTimeCode() + time * stage.GetTimeCodesPerSecond()
    return np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim))


def center(stage, prim, time):
    """World position of the middle of a shape."""
    return pose(stage, prim, time)[3, :3]


def is_at_rest(stage, prim, times):
    """Whether a shape is at one place at all times; it is drawn once, behind what moves."""
    return np.ptp([pose(stage, prim, time) for time in times], axis=0).max() < 1e-4


def outline(stage, prim, time, camera):
    """Depths, outline on paper and colour of a shape: the hull of its projected points."""
    world = pose(stage, prim, time)
    points = surface(prim) @ world[:3, :3] + world[3, :3]
    points = points @ camera.T
    turns = np.linspace(0, 2 * np.pi, 90)
    hull = points[np.argmax(points[:, :2] @ np.array([np.cos(turns), np.sin(turns)]), axis=0), :2]
    color = prim.GetAttribute("primvars:displayColor").Get()[0]
    return points[:, 2], Polygon(hull), color


def strands(scene, stage, time, camera):
    """Width and line on paper of each segment of the spatial tendons; a slack string hangs through."""
    cache = UsdGeom.XformCache(stage.GetStartTimeCode() + time * stage.GetTimeCodesPerSecond())
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    for tree in scene.articulations:
        worlds = [np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath(link.path))) for link in tree.links]
        for tendon in tree.spatial_tendons:
            places = [([*np.array(point.position) / unit, 1] @ worlds[point.link])[:3] for point in tendon.attachments]
            slack = {leaf.attachment: slack_of(tendon, leaf, places, unit) for leaf in tendon.leaves}
            for index, point in enumerate(tendon.attachments):
                if point.parent is not None:
                    line = hanging(places[point.parent], places[index], slack.get(index, 0.0), camera)
                    yield 4.0 if tendon.stiffness else 1.2 * point.coefficient, line


def slack_of(tendon, leaf, places, unit):
    """How much a sub-tendon is shorter than its upper limit, in units of the stage; 0 for one that is taut."""
    length, index = tendon.offset / unit, leaf.attachment
    while (parent := tendon.attachments[index].parent) is not None:
        length += tendon.attachments[index].coefficient * np.linalg.norm(places[index] - places[parent])
        index = parent
    return max(leaf.upper / unit - length, 0.0) if np.isfinite(leaf.upper) else 0.0


def hanging(start, end, slack, camera):
    """Points on paper of a string between two places: a parabola, straight when it is taut."""
    start, end = (start @ camera.T)[:2], (end @ camera.T)[:2]
    span = np.linalg.norm(end - start)
    sag = np.sqrt(0.375 * span * slack)
    t = np.linspace(0, 1, 30)[:, None]
    return (start + t * (end - start) - 4 * sag * t * (1 - t) * [0, 1]).T


def surface(prim):
    """Points whose hull is the shape, in its own frame."""
    if prim.IsA(UsdGeom.Cube):
        return 0.5 * prim.GetAttribute("size").Get() * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    angles, turns = np.meshgrid(np.linspace(0, np.pi, 13), np.linspace(0, 2 * np.pi, 24))
    ball = np.stack([np.sin(angles) * np.cos(turns), np.sin(angles) * np.sin(turns), np.cos(angles)], -1).reshape(-1, 3)
    points = prim.GetAttribute("radius").Get() * ball
    if prim.IsA(UsdGeom.Cylinder):
        points[:, 2] = 0.0
    if height := prim.GetAttribute("height").Get():
        points = np.concatenate([points + [0, 0, 0.5 * height], points - [0, 0, 0.5 * height]])
        return points[:, {"X": [2, 0, 1], "Y": [1, 2, 0], "Z": [0, 1, 2]}[prim.GetAttribute("axis").Get()]]
    return points


def blend(color, strength):
    """A colour on paper."""
    return tuple(strength * np.array(color) + (1 - strength) * np.array(to_rgb(PAPER)))


if __name__ == "__main__":
    main(sys.argv[1:])
