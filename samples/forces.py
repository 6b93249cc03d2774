"""A picture of what the tendons of the starfish do: forces that are wanted and made, and how the body gives way.

python samples/forces.py [PICTURE]; needs the extra `plot`.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np

import warp_artic as wa
from warp_artic.cli.main import main as command
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, start_points

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

HERE = Path(__file__).parent
SCENES = HERE / "scenes"
BODY = "/World/star"
MOMENT, ARM = 2.25, 2
"""The time of the arrows [s], and the arm of the curves."""
PAPER, INK, WANTED, MADE = "#fbfaf7", "#2f3437", "#9aa1a8", "#d8301c"


def main(picture):
    """Solve, and draw."""
    time, nodes, wanted, found = solved()
    made = wanted - found[f"unreachable:{BODY}"][:, nodes]
    figure, axes = plt.subplots(1, 3, figsize=(12.4, 4.2), dpi=130, facecolor=PAPER)
    draw_arrows(axes[0], nodes, wanted, made, time)
    draw_curves(axes[1], time, wanted[:, ARM], made[:, ARM])
    draw_convergence(axes[2], found["target_length"], float(found["stiffness"][0]), time)
    for one in axes[1:]:
        one.set_facecolor(PAPER)
        one.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, facecolor=PAPER)
    plt.close(figure)


def solved():
    """Times, the nodes with wanted forces, these forces (T, nodes, 3), and what `solve-tendons` says."""
    table = np.genfromtxt(SCENES / "assets" / "starfish_forces.csv", delimiter=",", names=True)
    time = np.unique(table["time"])
    nodes = table["node"][: len(table) // len(time)].astype(int)
    wanted = np.stack([table[axis] for axis in "xyz"], axis=1).reshape(len(time), len(nodes), 3)
    stage, forces = (SCENES / "assets" / name for name in ("starfish_bare.usda", "starfish_forces.csv"))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "found.npz"
        if command(["solve-tendons", str(stage), "--forces", str(forces), "--record", str(record)]):
            raise SystemExit("the tendons cannot be solved")
        with np.load(record) as file:
            return time, nodes, wanted, dict(file)


def bare():
    """The starfish without target lengths over time, and its tendons."""
    scene = wa.read_stage(str(SCENES / "assets" / "starfish_bare.usda"))
    return scene.elastic_bodies[0], scene.mesh_tendons


def draw_arrows(axes, nodes, wanted, made, time):
    """Forces on the tips at one time, on the body at rest."""
    body, tendons = bare()
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(f"forces on the tips at {MOMENT:g} s", color=INK, fontsize=10)
    faces = body.points[body.elements]
    axes.add_collection(PolyCollection(faces, facecolors="#f3d9cc", edgecolors="#e8c6b6", linewidths=0.3))
    for tendon in tendons:
        places = np.array([body.points[point.nodes[0]] for point in tendon.waypoints])
        axes.plot(*places.T, color=WANTED, linewidth=0.8)
    row, start = int(np.argmin(np.abs(time - MOMENT))), body.points[nodes]
    options = {"angles": "xy", "scale_units": "xy", "scale": 14.0}
    axes.quiver(*start.T, *wanted[row, :, :2].T, color=WANTED, width=0.018, **options, label="wanted")
    axes.quiver(*start.T, *made[row, :, :2].T, color=MADE, width=0.008, **options, label="made")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    axes.autoscale_view()


def draw_curves(axes, time, wanted, made):
    """The force on the tip of an arm over time, along the arm and across it."""
    angle = np.pi / 3 * ARM
    inward = np.array([-np.cos(angle), -np.sin(angle), 0.0])
    for name, axis in (("inward", inward), ("across", np.array([inward[1], -inward[0], 0.0]))):
        axes.plot(time, wanted @ axis, color=WANTED, linewidth=4, label="wanted" if name == "inward" else None)
        axes.plot(time, made @ axis, color=MADE, linewidth=1.3, label="made" if name == "inward" else None)
        place = int(np.argmax(wanted @ axis))
        axes.annotate(name, (time[place], wanted[place] @ axis), xytext=(0, 5), textcoords="offset points", color=INK)
    axes.margins(y=0.12)
    axes.set_title("force on a tip: too much across is not made", color=INK, fontsize=10)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("force [N]")
    axes.legend(frameon=False, fontsize=8)


def draw_convergence(axes, lengths, stiffness, time):
    """How far the potential is from its least value, step by step of Newton's method, with the target lengths."""
    body, tendons = bare()
    for row in (3, 6, 9):
        pulled = tuple(
            replace(tendon, target_length=float(length), stiffness=stiffness)
            for tendon, length in zip(tendons, lengths[row])
        )
        mesh, on_body = mesh_with_tendons(body, pulled)
        found = Equilibrium(mesh, on_body).solve(mesh.array(start_points(body)))
        energies = np.array(found.energies)[:, 0]
        gap = energies[:-1] - energies.min()
        axes.semilogy(np.flatnonzero(gap > 0), gap[gap > 0], marker="o", markersize=3, label=f"{time[row]:g} s")
    axes.set_title("the body gives way: Newton's method", color=INK, fontsize=10)
    axes.set_xlabel("step")
    axes.set_ylabel("potential above the least [J]")
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pictures" / "starfish_forces.png")
