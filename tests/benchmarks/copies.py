"""How long it takes to read many references of one robot: `python -m tests.benchmarks.copies [STAGE] [--count N]`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom

import warp_artic as wa

HUMANOID = Path(wa.__file__).parent / "cli" / "bench_scenes" / "humanoid.usda"


def referenced(path: Path, count: int) -> Usd.Stage:
    """A stage with a prim for each copy, a metre apart, that references the first prim of a file."""
    source = Usd.Stage.Open(str(path))
    robot = source.GetDefaultPrim() or source.GetPseudoRoot().GetChildren()[0]
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.GetStageUpAxis(source))
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.GetStageMetersPerUnit(source))
    layer = stage.GetRootLayer()
    with Sdf.ChangeBlock():
        for number in range(count):
            spec = Sdf.CreatePrimInLayer(layer, f"/robots/robot{number}")
            spec.specifier = spec.nameParent.specifier = Sdf.SpecifierDef
            spec.referenceList.Prepend(Sdf.Reference(str(path), robot.GetPath()))
            order = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
            place = Sdf.AttributeSpec(spec, "xformOp:translate", Sdf.ValueTypeNames.Double3)
            order.default, place.default = ["xformOp:translate"], Gf.Vec3d(number, 0, 0)
    for _ in stage.Traverse():
        pass
    return stage


def main() -> None:
    """Print the seconds of each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", nargs="?", type=Path, default=HUMANOID)
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    read, build = wa.read_stage, wa.Simulation  # imports, which are not counted
    times, marks = {}, [time.perf_counter()]

    def mark(name: str) -> None:
        marks.append(time.perf_counter())
        times[name] = marks[-1] - marks[-2]

    stage = referenced(arguments.stage.resolve(), arguments.count)
    mark("compose")
    scene = read(stage)
    mark("read")
    build(scene, device="cpu")
    mark("build")
    print(f"{len(scene.articulations)} articulations, {len(scene.dof_names)} dofs")
    for name, seconds in times.items():
        print(f"{name:8} {seconds:6.2f} s")


if __name__ == "__main__":
    main()
