"""Microseconds for a step of a ragdoll, as authored, falling, hanging and adrift, beside a hand with as many joints.

`python -m tests.benchmarks.ragdoll`: one thread of a CPU, its own time, so that other processes hardly count.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import warp_artic as wa
from warp_artic.description.joint import WORLD, Joint

ROOT = Path(wa.__file__).parent
HAND = ROOT / "cli" / "bench_scenes" / "hand_tendon.usda"
RAGDOLL = ROOT.parent / "samples" / "scenes" / "ragdoll.usda"
ENVIRONMENTS = 256
STEPS = 60
TURNS = 5


def without_friction(scene):
    """The same scene without friction in joints."""
    (tree,) = scene.articulations
    joints = [replace(joint, dofs=tuple(replace(dof, friction=None) for dof in joint.dofs)) for joint in tree.joints]
    return replace(scene, articulations=(replace(tree, joints=tuple(joints)),))


def hung_up(scene):
    """The same scene with its first link on the world."""
    (tree,) = scene.articulations
    pin = Joint(path="/World/pin", parent=WORLD, child=0)
    return replace(scene, articulations=(replace(tree, joints=(pin, *tree.joints)),))


def simulation(scene, speed: float):
    """256 environments with joint velocities of a size [rad/s], all different; of none as authored."""
    settings = wa.SolverSettings(dt=1 / 240, precision="float32")
    found = wa.Simulation(scene, environments=ENVIRONMENTS, settings=settings, threads=1)
    if speed:
        velocity = np.random.default_rng(0).normal(size=(ENVIRONMENTS, len(scene.dof_names)))
        found.set_state(joint_velocity=speed * velocity)
    found.step(16)
    return found


def cases() -> dict:
    """Simulations by name."""
    scene = wa.read_stage(str(RAGDOLL))
    found = {"hand, 24 dofs, 4 fixed tendons": simulation(wa.read_stage(str(HAND)), 0.0)}
    for words, own in (("", without_friction(scene)), (", friction in all joints", scene)):
        adrift = replace(own, gravity=(0.0, 0.0, 0.0))
        found[f"ragdoll as authored{words}"] = simulation(own, 0.0)
        found[f"ragdoll adrift{words}"] = simulation(adrift, 0.05)
        found[f"ragdoll hanging{words}"] = simulation(hung_up(own), 1.0)
        found[f"ragdoll falling{words}"] = simulation(own, 3.0)
    return found


def main() -> None:
    """Print the least and the median of some turns, in which all cases take turns."""
    spent: dict[str, list[float]] = {}
    running = cases()
    for _ in range(TURNS):
        for name, one in running.items():
            begin = time.process_time()
            one.step(STEPS)
            spent.setdefault(name, []).append((time.process_time() - begin) / STEPS / ENVIRONMENTS * 1e6)
    for name, values in spent.items():
        print(f"{name:45s} {min(values):8.2f} {np.median(values):8.2f}")


if __name__ == "__main__":
    main()
