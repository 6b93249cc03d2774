"""A picture of what the tendons of the starfish do: forces that are wanted and made, and how the body gives way.

python samples/forces.py [PICTURE]; needs the extra `plot`.
"""

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np

import warp_artic as wa
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, start_points

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

HERE = Path(__file__).parent
SCENES = HERE / "scenes"
MOMENT, ARM = 2.25, 2
"""The time of the arrows [s], and the arm of the curves."""
PAPER, INK, WANTED, MADE = "#fbfaf7", "#2f3437", "#9aa1a8", "#d8301c"


def main(picture):
    """Simulate the starfish, and draw."""
    scene = wa.read_stage(str(SCENES / "starfish.usda"))
    simulation = wa.Simulation(scene)
    recording = simulation.record(round(4.0 / simulation.dt))
    time, nodes, wanted = wanted_forces()
    made = forces_of(scene, recording)[:, nodes]
    figure, axes = plt.subplots(1, 3, figsize=(12.4, 4.2), dpi=130, facecolor=PAPER)
    draw_arrows(axes[0], scene, recording, nodes, wanted[np.argmin(np.abs(time - MOMENT))], made)
    draw_curves(axes[1], time, wanted[:, ARM], recording.time, made[:, ARM])
    draw_convergence(axes[2], scene)
    for one in axes[1:]:
        one.set_facecolor(PAPER)
        one.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, facecolor=PAPER)
    plt.close(figure)


def wanted_forces():
    """Times (T), the nodes with wanted forces, and these forces in the plane (T, nodes, 2)."""
    table = np.genfromtxt(SCENES / "assets" / "starfish_forces.csv", delimiter=",", names=True)
    time = np.unique(table["time"])
    nodes = table["node"][: len(table) // len(time)].astype(int)
    return time, nodes, np.stack([table[axis] for axis in "xy"], axis=1).reshape(len(time), len(nodes), 2)


def forces_of(scene, recording):
    """What tendons do to nodes in a run, in the plane [N], shape (R, N, 2)."""
    points = recording.mesh_points[:, 0, :, :2]
    forces = np.zeros_like(points)
    for tendon, tension in zip(scene.mesh_tendons, recording.mesh_tendon_tension[:, 0].T):
        nodes = [waypoint.nodes[0] for waypoint in tendon.waypoints]
        for start, end in zip(nodes, nodes[1:]):
            way = points[:, end] - points[:, start]
            pull = tension[:, None] * way / np.linalg.norm(way, axis=1, keepdims=True)
            forces[:, start] += pull
            forces[:, end] -= pull
    return forces


def draw_arrows(axes, scene, recording, nodes, wanted, made):
    """Forces on the tips at one time, on the body there."""
    row = int(np.argmin(np.abs(recording.time - MOMENT)))
    points = recording.mesh_points[row, 0, :, :2]
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(f"forces on the tips at {MOMENT:g} s", color=INK, fontsize=10)
    faces = points[scene.elastic_bodies[0].elements]
    axes.add_collection(PolyCollection(faces, facecolors="#f3d9cc", edgecolors="#e8c6b6", linewidths=0.3))
    for tendon in scene.mesh_tendons:
        axes.plot(*points[[waypoint.nodes[0] for waypoint in tendon.waypoints]].T, color=WANTED, linewidth=0.8)
    options = {"angles": "xy", "scale_units": "xy", "scale": 14.0}
    axes.quiver(*points[nodes].T, *wanted.T, color=WANTED, width=0.018, **options, label="wanted")
    axes.quiver(*points[nodes].T, *made[row].T, color=MADE, width=0.008, **options, label="made")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    axes.autoscale_view()


def draw_curves(axes, time, wanted, times, made):
    """The force on the tip of an arm over time, along the arm as it rests and across it."""
    angle = np.pi / 3 * ARM
    inward = np.array([-np.cos(angle), -np.sin(angle)])
    for name, axis in (("inward", inward), ("across", np.array([inward[1], -inward[0]]))):
        is_first = name == "inward"
        axes.plot(time, wanted @ axis, color=WANTED, linewidth=4, label="wanted" if is_first else None)
        axes.plot(times, made @ axis, color=MADE, linewidth=1.3, label="made as it moves" if is_first else None)
        place = int(np.argmax(wanted @ axis))
        axes.annotate(name, (time[place], wanted[place] @ axis), xytext=(0, 6), textcoords="offset points", color=INK)
    axes.margins(y=0.12)
    axes.set_title("the force on the tip of an arm", color=INK, fontsize=10)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("force [N]")
    axes.legend(frameon=False, fontsize=8)


def draw_convergence(axes, scene):
    """How far the potential is from its least value, step by step, with the target lengths of some times."""
    (body,) = scene.elastic_bodies
    for time in (0.75, 1.5, 2.25):
        pulled = tuple(replace(one, target_length=one.target_length_track.at(time)) for one in scene.mesh_tendons)
        mesh, on_body = mesh_with_tendons(body, pulled)
        found = Equilibrium(mesh, on_body).solve(mesh.array(start_points(body)))
        falls = np.array(found.falls)[:, 0]
        axes.semilogy(np.cumsum(falls[::-1])[::-1], marker="o", markersize=3, label=f"{time:g} s")
    axes.set_title("an equilibrium by Newton's method", color=INK, fontsize=10)
    axes.set_xlabel("step")
    axes.set_ylabel("potential above the least [J]")
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pictures" / "starfish_forces.png")
