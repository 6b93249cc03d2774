"""What rests among many bodies stays where it is: rows of joints remember what they bear, as contacts do."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.islands.crowds import OTHERS

STAIRS = Path(__file__).parents[2] / "samples" / "scenes" / "ragdoll_on_stairs.usda"


def ragdolls_on_stairs(rate: int, precision: str = "float32") -> wa.Simulation:
    """The sample with a second ragdoll beside the first, ground beside the stairs, and balls far away that float."""
    layer = Sdf.Layer.CreateAnonymous()
    layer.subLayerPaths.append(str(STAIRS))
    stage = Usd.Stage.Open(layer)
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    prims = [stage.GetPrimAtPath("/World/ragdoll"), stage.DefinePrim("/World/other", "Xform")]
    prims[1].GetReferences().AddReference(str(STAIRS), "/World/ragdoll")
    for k, prim in enumerate(prims):
        prim.GetAttribute("xformOp:translate").Set(Gf.Vec3d(-0.02 * k, 0.45 * (k - 0.5), 1.1))
    ground = UsdGeom.Plane.Define(stage, "/World/ground_beside")
    ground.CreateAxisAttr("Z")
    ground.AddTranslateOp().Set(Gf.Vec3d(0.0, 0.0, -0.2))
    UsdPhysics.CollisionAPI.Apply(ground.GetPrim())
    for k in range(OTHERS):
        ball = UsdGeom.Sphere.Define(stage, f"/World/ball{k}")
        ball.CreateRadiusAttr(0.1)
        ball.AddTranslateOp().Set(Gf.Vec3d(30 + k, 30, 100))
        for schema in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
            schema.Apply(ball.GetPrim())
        ball.GetPrim().AddAppliedSchema("PhysxRigidBodyAPI")
        ball.GetPrim().CreateAttribute("physxRigidBody:disableGravity", Sdf.ValueTypeNames.Bool).Set(True)
    chosen = wa.SolverSettings(dt=1 / rate, precision=precision, sleep_after=float("inf"))
    one = wa.Simulation(wa.read_stage(stage), settings=chosen)
    assert one.scene.island_contacts is not None
    return one


@pytest.mark.parametrize(("rate", "precision"), [(210, "float32"), (238, "float32"), (264, "float64")])
def test_ragdolls_on_stairs_come_to_rest(rate, precision):
    """In the last two of eight seconds nothing moves by half a millimetre; they went on by up to 8 mm/s."""
    one = ragdolls_on_stairs(rate, precision)
    one.step(6 * rate)
    before = one.state.link_pose.numpy()[:, :3]
    speeds = []
    for _ in range(20):
        one.step(rate // 10)
        speeds.append(np.abs(one.state.link_velocity.numpy()[:, :3]).max())
    assert max(speeds) < 5e-4
    assert np.abs(one.state.link_pose.numpy()[:, :3] - before).max() < 5e-4


def test_runs_go_on_with_what_joints_bear(tmp_path):
    """Bitwise, from a snapshot and from a checkpoint."""
    one, other = ragdolls_on_stairs(60), ragdolls_on_stairs(60)
    one.step(120)
    kept = one.snapshot()
    one.save(tmp_path / "run.npz")
    one.step(30)
    wanted = one.state.link_pose.numpy().copy()
    one.apply(kept)
    other.load(tmp_path / "run.npz")
    for run in (one, other):
        run.step(30)
        np.testing.assert_array_equal(run.state.link_pose.numpy(), wanted)
