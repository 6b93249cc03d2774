"""What large stages cost: `python -m tests.benchmarks.large [CASE ...] [--size N]`.

Each case is measured at N, 2 N and 4 N. What grows linearly costs the same for each item at all three.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import warp as wp
from pxr import Gf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.benchmarks.copies import HUMANOID, referenced
from warp_artic.sim.measure.memory import Memory, memory_of

PARTS = ("compose", "read", "build", "step", "record", "write")
RECORDED = 4
"""Steps of a recording."""


def different(count: int, links: int = 3) -> Usd.Stage:
    """Robots of equal structure with other masses, none of them a copy."""
    stage = _stage()
    for number in range(count):
        _robot(stage, f"/robots/robot{number}", links, 1.0 + number / count)
    return stage


def structures(count: int) -> Usd.Stage:
    """Robots of which no two have the same structure: hinges and sliders are the digits of a number."""
    stage = _stage()
    for number in range(count):
        path = f"/robots/robot{number}"
        _robot(stage, path, 1, 1.0)
        for place in range(count.bit_length()):
            _link(stage, path, place + 1, place, 1.0, "Y", bool(number >> place & 1))
    return stage


def chain(links: int) -> Usd.Stage:
    """One long chain with limits and drives."""
    stage = _stage()
    _robot(stage, "/robots/robot", links, 1.0, limits=True)
    return stage


def _stage() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    return stage


def _robot(stage: Usd.Stage, path: str, links: int, mass: float, limits: bool = False) -> None:
    """A chain of hinges, held by the world."""
    root = UsdGeom.Xform.Define(stage, path)
    UsdPhysics.ArticulationRootAPI.Apply(root.GetPrim())
    for link in range(links):
        joint = _link(stage, path, link, link - 1, mass, "Y", False)
        if limits:
            joint.CreateLowerLimitAttr(-5.0)
            joint.CreateUpperLimitAttr(5.0)
            drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular")
            drive.CreateStiffnessAttr(10.0)
            drive.CreateDampingAttr(1.0)


def _link(stage: Usd.Stage, path: str, link: int, parent: int, mass: float, axis: str, slides: bool):
    body = UsdGeom.Xform.Define(stage, f"{path}/link{link}")
    body.AddTranslateOp().Set(Gf.Vec3d(0.2 * link, 0.0, 0.0))
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    weight = UsdPhysics.MassAPI.Apply(body.GetPrim())
    weight.CreateMassAttr(mass)
    weight.CreateDiagonalInertiaAttr(Gf.Vec3f(0.01, 0.01, 0.01))
    weight.CreateCenterOfMassAttr(Gf.Vec3f(0.1, 0.0, 0.0))
    kind = UsdPhysics.PrismaticJoint if slides else UsdPhysics.RevoluteJoint
    joint = kind.Define(stage, f"{path}/link{link}/joint")
    joint.CreateAxisAttr(axis)
    if parent >= 0:
        joint.CreateBody0Rel().SetTargets([f"{path}/link{parent}"])
        joint.CreateLocalPos0Attr(Gf.Vec3f(0.2, 0.0, 0.0))
    joint.CreateBody1Rel().SetTargets([f"{path}/link{link}"])
    return joint


def _humanoid(_count: int) -> Usd.Stage:
    return Usd.Stage.Open(str(HUMANOID))


CASES: dict[str, tuple[Callable[[int], Usd.Stage], int, bool]] = {
    "references": (lambda count: referenced(HUMANOID, count), 500, False),
    "different": (different, 1000, False),
    "structures": (structures, 250, False),
    "chain": (chain, 125, False),
    "environments": (_humanoid, 16384, True),
}
"""Names, each with what makes a stage, the default size, and whether that is a number of environments."""


def measure(make: Callable[[int], Usd.Stage], size: int, environments: int) -> tuple[dict[str, float], Memory]:
    """Seconds of each part, and bytes on the device."""
    times, marks = {}, [time.perf_counter()]

    def mark(name: str) -> None:
        marks.append(time.perf_counter())
        times[name] = marks[-1] - marks[-2]

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "stage.usdc")
        made = make(size)
        made.GetRootLayer().Export(file)
        stage = Usd.Stage.Open(file)
        mark("compose")
        scene = wa.read_stage(stage)
        mark("read")
        simulation = wa.Simulation(scene, environments=environments)
        simulation.step(0)
        mark("build")
        memory = memory_of(simulation.run)
        simulation.step(10)
        times["step"] = (time.perf_counter() - marks[-1]) / 10
        marks.append(time.perf_counter())
        recording = simulation.record(RECORDED)
        mark("record")
        wa.write_results(stage, recording, str(Path(folder) / "run.usdc"))
        mark("write")
    return times, memory


def main() -> None:
    """Print seconds, and for each item microseconds and kilobytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--size", type=int, help="N; default: that of each case")
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    wa.Simulation(wa.read_stage(chain(2))).record(1)  # imports and kernels, which are not counted
    wa.Simulation(wa.read_stage(chain(2)), environments=16).record(1)
    for case in arguments.cases or CASES:
        make, size, is_environments = CASES[case]
        size = arguments.size or size
        print(f"\n{case}: seconds (microseconds for each); kilobytes for each, and megabytes of work space of a thread")
        print(f"{'':>8}" + "".join(f"{part:>20}" for part in PARTS) + f"{'arrays':>10}{'work':>10}")
        for count in (size, 2 * size, 4 * size):
            times, memory = measure(make, 1 if is_environments else count, count if is_environments else 1)
            cells = [f"{times[part]:.3g} ({1e6 * times[part] / count:.4g})" for part in PARTS]
            print(
                f"{count:>8}"
                + "".join(f"{cell:>20}" for cell in cells)
                + f"{memory.fields / 1e3 / count:>10.4g}{memory.work / 1e6:>10.4g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
