"""Links are where they are shown, whatever is above them, and the stage is as it was afterwards."""

import numpy as np
import pytest
from pxr import Usd

from tests.usd.authoring import open_text
from tests.usd.test_write_results import rigid_pose
from warp_artic import StageError
from warp_artic.hosts.live_layer import LiveLayer

PLACES = """
def Xform "World"
{
    float3 xformOp:scale = (3, 3, 3)
    uniform token[] xformOpOrder = ["xformOp:scale"]
    def Xform "group"
    {
        float xformOp:rotateZ = 35
        float3 xformOp:scale = (2, 1, 0.5)
        uniform token[] xformOpOrder = ["xformOp:rotateZ", "xformOp:scale"]
        def Xform "upper"
        {
            double3 xformOp:translate = (1, 2, 3)
            float3 xformOp:scale = (1, 4, 1)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
            def Xform "between"
            {
                double3 xformOp:translate.timeSamples = { 0: (0, 2, 0), 24: (5, 0, 1) }
                uniform token[] xformOpOrder = ["xformOp:translate"]
                def Xform "lower"
                {
                    double3 xformOp:translate = (0, 2, 0)
                    uniform token[] xformOpOrder = ["xformOp:translate"]
                }
            }
        }
    }
    def Xform "cart"
    {
        double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 24: (9, 0, 0) }
        float3 xformOp:scale = (-1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        def Xform "rider"
        {
            uniform token[] xformOpOrder = ["!resetXformStack!"]
        }
        def Xform "passenger"
        {
        }
    }
    def "hand" (instanceable = true; references = </_hand>) { }
}
class Xform "_hand"
{
    def Xform "palm" { }
}
"""
LINKS = (
    "/World/group/upper/between/lower",
    "/World/group/upper",
    "/World/cart/rider",
    "/World/cart/passenger",
    "/World/hand/palm",
)


def random_poses(rng):
    poses = rng.normal(size=(len(LINKS), 7))
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


@pytest.mark.parametrize("header", ["metersPerUnit = 1", "metersPerUnit = 0.01"])
def test_places(header):
    """Below scaled, mirrored, sheared, moving and instanced parents, at several times, and again after others."""
    stage, rng = open_text(PLACES, header), np.random.default_rng(1)
    session, root = (layer.ExportToString() for layer in (stage.GetSessionLayer(), stage.GetRootLayer()))
    authored = [rigid_pose(stage, path, 0.0) for path in LINKS]
    live = LiveLayer(stage)
    live.show(LINKS[::-1])
    live.show(LINKS)
    for code in (0.0, 6.0, 17.5, 0.0):
        poses = random_poses(rng)
        live.publish(poses, Usd.TimeCode(code))
        for path, pose, (_, _, scale) in zip(LINKS, poses, authored):
            position, rotation, shown_scale = rigid_pose(stage, path, code)
            np.testing.assert_allclose(position, pose[:3], atol=1e-12)
            mirror = np.sign(np.linalg.det(rotation))
            np.testing.assert_allclose(mirror * rotation, turned(pose[3:]), atol=1e-12)
            np.testing.assert_allclose(shown_scale, scale, rtol=1e-6)
    live.close()
    live.close()
    assert stage.GetSessionLayer().ExportToString() == session and stage.GetRootLayer().ExportToString() == root
    for path, before in zip(LINKS, authored):
        for one, other in zip(rigid_pose(stage, path, 0.0), before):
            assert (one == other).all()


def turned(quaternion):
    """Rotation matrix of a unit quaternion xyzw."""
    x, y, z, w = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_what_cannot_be_shown():
    stage = open_text(
        'def Xform "flat" {\nfloat3 xformOp:scale = (1, 1, 0)\nuniform token[] xformOpOrder = '
        '["xformOp:scale"]\ndef Xform "link" {}\n}'
    )
    live = LiveLayer(stage)
    with pytest.raises(StageError, match="/flat/link: the prim above it has a scale of zero"):
        live.show(["/flat/link"])
    with pytest.raises(StageError, match="/nobody: "):
        live.show(["/nobody"])
    assert not stage.GetSessionLayer().subLayerPaths
