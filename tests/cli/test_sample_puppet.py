"""The puppet walks as it is animated, lets go, and its skin follows."""

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdSkel

import warp_artic as wa
from warp_artic.description.pose import matrix_from_quaternion, quaternion_from_rotation_vector

STAGE = "samples/scenes/puppet.usda"


@pytest.fixture(scope="module")
def run():
    """A scene and its recording of 2.5 s."""
    scene = wa.read_stage(STAGE)
    return scene, wa.Simulation(scene).record(steps=600, every=10)


def angles_to_targets(scene: wa.Scene, recording: wa.Recording) -> dict[str, np.ndarray]:
    """The angle of each joint to where its animation has it [degrees], over time."""
    columns = {name: column for column, name in enumerate(recording.joint_names)}
    found = {}
    for joint in (joint for tree in scene.articulations for joint in tree.joints):
        own = recording.joint_position[:, 0, [columns[dof.name] for dof in joint.dofs]]
        wanted = [[dof.drive.position_track.at(time) for dof in joint.dofs] for time in recording.time]
        turns = [
            [matrix_from_quaternion(quaternion_from_rotation_vector(vector)) for vector in vectors]
            for vectors in (own, wanted)
        ]
        traces = np.einsum("tij,tij->t", *turns)
        found[joint.path] = np.degrees(np.arccos(np.clip((traces - 1.0) / 2.0, -1.0, 1.0)))
    return found


def test_it_walks_and_lets_go(run):
    """Within two degrees for a second; limp then, the head has fallen to its limit."""
    scene, recording = run
    angles = angles_to_targets(scene, recording)
    walks = recording.time <= 1.0
    assert len(angles) == 6
    assert max(angle[walks].max() for angle in angles.values()) < 2.0
    assert angles["/World/puppet/Ragdoll/head_joint"][-1] > 20.0


def test_the_skin_follows(run, tmp_path):
    """Points of the skin that one link has all of stay where they are in it."""
    scene, recording = run
    wa.write_results(STAGE, recording, tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    root = UsdSkel.Root.Get(baked, "/World/puppet")
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    query, (skin,) = cache.GetSkelQuery(binding.GetSkeleton()), binding.GetSkinningTargets()
    indices, weights = (np.array(one).reshape(-1, 3) for one in skin.ComputeJointInfluences())
    number = list(query.GetJointOrder()).index("hips/chest/head")
    whole = ((indices == number) * weights).sum(axis=1) > 1.0 - 1e-6
    assert whole.sum() > 8
    local = []
    for code in (0.0, 12.0, 30.0, 60.0):
        points = UsdGeom.Mesh(skin.GetPrim()).GetPointsAttr().Get()
        assert skin.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
        head = baked.GetPrimAtPath("/World/puppet/Ragdoll/head")
        W = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(head))
        local.append((np.array(points)[whole] - W[3, :3]) @ np.linalg.inv(W[:3, :3]))
    np.testing.assert_allclose(local[1:], [local[0]] * 3, atol=1e-5)
