"""Environments side by side, where they are simulated."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom

from tests.hosts.test_stage_backend import SCENE, arm, attached
from tests.usd.authoring import SI, SMALL_UNITS, open_text
from warp_artic import SettingsError
from warp_artic.hosts.instancers import Instancers


def world_poses(backend):
    """Of all links and environments, shape (links, 7, environments)."""
    return np.stack([backend.link_poses(k) for k in range(backend.simulation.environments)], axis=-1)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_instances_are_where_links_are(header):
    """At the scale of the stage, in a grid; nested links are shown once; nothing is left behind."""
    nested = 'def Cube "shell" {}\n'
    stage = open_text(SCENE + arm(header, more=nested), header)
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath("/arm/l2")).SetScale(Gf.Vec3f(1, 2, 3))
    backend = attached(stage, environments=5)
    backend.write({"joint_position": np.linspace(-1.0, 1.0, 10).reshape(5, 2)})
    session = stage.GetSessionLayer().ExportToString()
    shown = Instancers(stage, backend.report.links, 5, spacing=3.0)
    backend.leave_out(shown.layer)
    shown.open()
    for _ in range(3):
        backend.step(1 / 60)
        poses = world_poses(backend)
        shown.publish(poses)
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    sideways = 1 if UsdGeom.GetStageUpAxis(stage) == "Z" else 2
    for link in range(3):
        instancer = UsdGeom.PointInstancer(stage.GetPrimAtPath(f"/WarpArticEnvironments/link_{link}"))
        matrices = instancer.ComputeInstanceTransformsAtTime(Usd.TimeCode.Default(), Usd.TimeCode.Default())
        for environment, matrix in enumerate(matrices):
            offset = np.zeros(3)
            offset[[0, sideways]] = 3.0 * (environment % 3), 3.0 * (environment // 3)
            np.testing.assert_allclose(
                np.array(matrix)[3, :3] * meters, poses[link, :3, environment] + offset, atol=1e-5
            )
            scale = np.linalg.norm(np.array(matrix)[:3, :3], axis=1)
            np.testing.assert_allclose(scale, (1, 2, 3) if link == 2 else (1, 1, 1), rtol=1e-5)
    assert not backend.take_in_edits()
    shown.close()
    assert stage.GetSessionLayer().ExportToString() == session


def test_nested_links_are_shown_once():
    text = """
def Xform "upper" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Cube "shape" {}
    def Xform "between"
    {
        def Xform "lower" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) { def Cube "shape" {} }
    }
}
"""
    text = text.replace("{ def Cube", "{\ndef Cube").replace("{} }", "{}\n}")
    stage = open_text(text)
    shown = Instancers(stage, ["/upper", "/upper/between/lower"], 2)
    shown.open()
    prototype = stage.GetPrimAtPath("/WarpArticEnvironments/link_0/prototypes/link")
    assert prototype.GetChild("shape") and not stage.GetPrimAtPath(f"{prototype.GetPath()}/between/lower").IsActive()
    assert prototype.IsAbstract()
    assert stage.GetPrimAtPath("/upper/between/lower").IsActive()


@pytest.mark.parametrize("options", [{"environments": 0}, {"environments": 2, "spacing": -1.0}])
def test_wrong_arguments(options):
    with pytest.raises(SettingsError, match="is not"):
        Instancers(open_text(SCENE), [], **options)
