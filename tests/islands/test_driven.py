"""Mechanisms with drives among many bodies: contacts know that drives answer within the step."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa

STANDING = Path(__file__).parents[2] / "samples" / "scenes" / "standing.usda"


def among_balls(count: int) -> Usd.Stage:
    """The sample of a ragdoll that stands by its drives, with balls that rest far from it on the same ground."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().subLayerPaths.append(str(STANDING))
    for name in ("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "startTimeCode"):
        stage.SetMetadata(name, Usd.Stage.Open(str(STANDING)).GetMetadata(name))
    stage.GetPrimAtPath("/World/ground").GetAttribute("xformOp:scale").Set(Gf.Vec3f(14.0, 4.4, 0.1))
    for k in range(count):
        ball = UsdGeom.Sphere.Define(stage, f"/World/ball_{k}")
        ball.CreateRadiusAttr(0.05)
        ball.AddTranslateOp().Set(Gf.Vec3d(3.0 + 0.2 * (k % 10), -1.0 + 0.2 * (k // 10), 0.05))
        for schema in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
            schema.Apply(ball.GetPrim())
    return stage


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_stiff_drives_carry_a_ragdoll(precision):
    """It sways by a few centimetres and does not fall, as in a mechanism of its own; the balls stay."""
    scene = wa.read_stage(among_balls(80))
    assert scene.island_contacts is not None
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(precision=precision))
    pelvis = simulation.link_names.index("/World/ragdoll/pelvis")
    recording = simulation.record(round(1.4 / simulation.settings.dt), quantities=("link_pose",))
    place = recording.link_pose[:, 0, pelvis, :3]
    assert np.ptp(place, axis=0).max() < 0.06 and place[-1, 2] > 0.93
    balls = [k for k, name in enumerate(simulation.link_names) if "ball" in name]
    assert np.ptp(recording.link_pose[:, 0, balls, :3], axis=0).max() < 1e-3
