"""A run moves the skin: the animation that it writes for a skeleton whose joints move with links."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

import warp_artic as wa
from tests.usd.skinned import NAMES, joint_paths, skinned_stage
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.write_clips import ClipWriter

SKELETON = "/Character/Skeleton"


def thrown(stage: Usd.Stage, frames: int = 12, seed: int = 1) -> Recording:
    """A recording of links that fly off, each in its own way: no law of motion is needed to test what is written."""
    rng = np.random.default_rng(seed)
    (tree,) = wa.read_stage(stage).articulations
    poses = np.empty((frames, 1, len(tree.links), 7))
    for number, link in enumerate(tree.links):
        axis, speed = rng.normal(size=3), rng.normal(size=3)
        for frame in range(frames):
            turn = wa.Pose(quaternion=tuple(quaternion(axis * frame / frames)))
            pose = wa.Pose(tuple(speed * frame / frames)) @ link.pose @ turn
            poses[frame, 0, number] = (*pose.position, *pose.quaternion)
    nothing = np.zeros((frames, 1, 0))
    return Recording(
        time=np.arange(frames) / 24.0,
        joint_names=(),
        link_names=tuple(link.path for link in tree.links),
        joint_position=nothing,
        joint_velocity=nothing,
        joint_drive_force=nothing,
        mimic_error=nothing,
        link_pose=poses,
        energy=np.zeros((frames, 1, 2)),
    )


def quaternion(vector: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(vector)
    return np.array([*(np.sinc(angle / 2.0 / np.pi) * vector / 2.0), np.cos(angle / 2.0)])


def skinned_points(stage: Usd.Stage, code: float, root: str = "/Character") -> np.ndarray:
    """World points of the skin, as UsdSkel computes them."""
    cache = UsdSkel.Cache()
    found = UsdSkel.Root.Get(stage, root)
    cache.Populate(found, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(found, Usd.TraverseInstanceProxies())
    query = cache.GetSkelQuery(binding.GetSkeleton())
    (target,) = binding.GetSkinningTargets()
    points = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr().Get()
    assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
    world = UsdGeom.XformCache(code).GetLocalToWorldTransform(binding.GetSkeleton().GetPrim())
    return np.array(points) @ np.array(world)[:3, :3] + np.array(world)[3, :3]


def rigid_points(stage: Usd.Stage, recording: Recording, record: int, merged: dict[str, str]) -> np.ndarray:
    """The skin by its definition: bind points moved by the displacements of links since the start, by weights.

    The start is the bind pose. Joints that are merged move with the link of another.
    """
    mesh = UsdGeom.Mesh.Get(stage, "/Character/skin")
    points = np.array(mesh.GetPointsAttr().Get(), float)
    world = np.array(UsdGeom.XformCache(0).GetLocalToWorldTransform(stage.GetPrimAtPath(SKELETON)))
    points = points @ world[:3, :3] + world[3, :3]
    skin = UsdSkel.BindingAPI(mesh.GetPrim())
    indices = np.array(skin.GetJointIndicesPrimvar().Get()).reshape(-1, 3)
    weights = np.array(skin.GetJointWeightsPrimvar().Get(), float).reshape(-1, 3)
    moved = np.zeros((len(NAMES), len(points), 3))
    for number, name in enumerate(NAMES):
        link = recording.link_names.index(f"/Character/Ragdoll/{merged.get(name, name)}")
        before, after = (
            wa.Pose(tuple(pose[:3]), tuple(pose[3:]))
            for pose in (recording.link_pose[0, 0, link], recording.link_pose[record, 0, link])
        )
        motion = after @ before.inverse()
        moved[number] = points @ motion.rotation.T + np.array(motion.position)
    return np.einsum("pk,pkx->px", weights, moved[indices, np.arange(len(points))[:, None]])


MERGED = {"head_end": "head", "thigh_twist_l": "thigh_l"}


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_skin_moves_as_links_do(tmp_path, scale):
    """Skinned points of the baked stage are rigid transforms of the bind mesh, to 1e-5 of its size."""
    stage = skinned_stage(tmp_path / "character.usda", clip=False)
    turn = Gf.Matrix4d(Gf.Rotation(Gf.Vec3d(1, 2, 3), 40.0), Gf.Vec3d(0.3, 0.4, 0.5))
    UsdGeom.Xformable(stage.GetPrimAtPath("/Character")).AddTransformOp().Set(Gf.Matrix4d().SetScale(scale) * turn)
    wa.author.ragdoll(stage)
    stage.GetRootLayer().Save()
    recording = thrown(stage)
    wa.write_results(stage, recording, tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    for record in range(recording.time.size):
        expected = rigid_points(stage, recording, record, MERGED)
        np.testing.assert_allclose(skinned_points(baked, record), expected, atol=1e-5 * max(1.0, scale))


def test_links_and_joints_agree(tmp_path):
    """World matrices of joints in the baked stage are those of the baked links, from an animated start too."""
    stage = skinned_stage(tmp_path / "character.usda")
    stage.SetStartTimeCode(7.0)
    made = wa.author.ragdoll(stage)
    stage.GetRootLayer().Save()
    wa.write_results(stage, thrown(stage), tmp_path / "baked.usda")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usda"))
    for code in (7.0, 12.0, 18.0):
        xforms = UsdGeom.XformCache(code)
        J = world_joints(baked, code)
        for link in made.links:
            W = np.array(xforms.GetLocalToWorldTransform(baked.GetPrimAtPath(link.path)))
            np.testing.assert_allclose(J[joint_paths().index(link.joint)], W, atol=1e-5)


def scaled(stage: Usd.Stage, name: str, factor) -> None:
    """Give a joint of the walk a scale at each code, by a function of the code."""
    scales = UsdSkel.Animation.Get(stage, "/Character/Walk").GetScalesAttr()
    for code in scales.GetTimeSamples():
        values = list(scales.Get(code))
        values[NAMES.index(name)] = Gf.Vec3h(factor(code))
        scales.Set(Vt.Vec3hArray(values), code)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("thigh_l", lambda code: 1.0 + code / 24.0),
        ("hips", lambda code: 1.0 - code / 48.0),
        ("hips", lambda code: 0.01),
        ("head_end", lambda code: max(0.0, 1.0 - code / 6.0)),
    ],
)
def test_scales_of_the_animation_move_no_link(tmp_path, name, factor):
    """Joints are at their links whatever scale the animation gives them or those above; scales round to half precision.

    A joint that shrinks to nothing, as things that are put away do, stops no run.
    """
    stage = skinned_stage(tmp_path / "character.usda")
    scaled(stage, name, factor)
    made = wa.author.ragdoll(stage)
    stage.GetRootLayer().Save()
    wa.write_results(stage, thrown(stage), tmp_path / "baked.usda")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usda"))
    for code in (0.0, 5.0, 9.0, 11.0):
        J, start = (world_joints(one, at) for one, at in ((baked, code), (stage, 0.0)))
        for link in made.links:
            W = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(baked.GetPrimAtPath(link.path)))
            own, begin = (matrices[joint_paths().index(link.joint)] for matrices in (J, start))
            np.testing.assert_allclose(own[3, :3], W[3, :3], atol=1e-5)
            sizes, before = (np.linalg.norm(one[:3, :3], axis=1) for one in (own, begin))
            np.testing.assert_allclose(sizes, before, rtol=1e-3)
            np.testing.assert_allclose(own[:3, :3] / sizes[:, None], W[:3, :3], atol=1e-5)


def world_joints(stage: Usd.Stage, code: float) -> np.ndarray:
    """World matrices of the joints, as UsdSkel has them."""
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Get(stage, "/Character"), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, SKELETON))
    return np.array(query.ComputeJointWorldTransforms(UsdGeom.XformCache(code)))


def test_joints_without_links_keep_their_animation(tmp_path):
    """Twist joints go on as in the clip that was bound; so do weights of blend shapes, and scales."""
    stage = skinned_stage(tmp_path / "character.usda")
    walk = UsdSkel.Animation.Get(stage, "/Character/Walk")
    walk.CreateBlendShapesAttr(["smile"])
    for code in (0, 24):
        walk.CreateBlendShapeWeightsAttr().Set(Vt.FloatArray([code / 24.0]), code)
    wa.author.ragdoll(stage)
    stage.GetRootLayer().Save()
    wa.write_results(stage, thrown(stage, 25), tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    motion = UsdSkel.Animation.Get(baked, f"{SKELETON}/warpArticMotion")
    source = UsdSkel.BindingAPI(baked.GetPrimAtPath(SKELETON)).GetAnimationSourceRel().GetTargets()
    assert source == [motion.GetPath()]
    twist = NAMES.index("thigh_twist_l")
    for code in (0, 5, 18, 24):
        for name in ("Translations", "Rotations", "Scales"):
            was, now = (getattr(one, f"Get{name}Attr")().Get(code) for one in (walk, motion))
            assert Gf.IsClose(now[twist], was[twist], 1e-6) if name != "Rotations" else close(now[twist], was[twist])
        assert motion.GetBlendShapeWeightsAttr().Get(code) == walk.GetBlendShapeWeightsAttr().Get(code)
    assert list(motion.GetBlendShapesAttr().Get()) == ["smile"]


def close(first: Gf.Quatf, second: Gf.Quatf) -> bool:
    return abs(abs(Gf.Dot(first, second)) - 1.0) < 1e-6


def test_clips_move_the_skin(tmp_path):
    """A run in value clips writes the same animation as one layer."""
    stage = skinned_stage(tmp_path / "character.usda", clip=False)
    wa.author.ragdoll(stage)
    stage.GetRootLayer().Save()
    recording = thrown(stage)
    wa.write_results(stage, recording, tmp_path / "whole.usdc")
    writer = ClipWriter(stage, tmp_path / "clips.usdc")
    for first, last in ((0, 6), (6, 12)):
        own = slice(first, last if last == 12 else last + 1)
        time = recording.time[own]
        nothing = np.zeros((time.size, 1, 0))
        writer.write(
            Recording(
                time=time,
                joint_names=(),
                link_names=recording.link_names,
                joint_position=nothing,
                joint_velocity=nothing,
                joint_drive_force=nothing,
                mimic_error=nothing,
                link_pose=recording.link_pose[own],
                energy=np.zeros((time.size, 1, 2)),
            )
        )
    writer.finish()
    whole, clips = (Usd.Stage.Open(str(tmp_path / f"{name}.usdc")) for name in ("whole", "clips"))
    for code in (0.0, 3.0, 6.0, 10.0):
        np.testing.assert_allclose(skinned_points(clips, code), skinned_points(whole, code), atol=1e-6)


def test_an_instance_gets_its_own_animation(tmp_path):
    """Of two instances of an asset each moves by itself; the asset stays."""
    asset = skinned_stage(tmp_path / "asset.usda")
    wa.author.ragdoll(asset)
    asset.GetRootLayer().Save()
    stage = Usd.Stage.CreateNew(str(tmp_path / "crowd.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(24.0)
    for number in range(2):
        prim = UsdGeom.Xform.Define(stage, f"/Copy_{number}")
        prim.AddTranslateOp().Set(Gf.Vec3d(3.0 * number, 0.0, 0.0))
        child = stage.DefinePrim(f"/Copy_{number}/Character")
        child.GetReferences().AddReference("./asset.usda")
        child.SetInstanceable(True)
    stage.GetRootLayer().Save()
    scene = wa.read_stage(stage)
    assert len(scene.articulations) == 2
    recording = wa.Simulation(scene).record(steps=24)
    wa.write_results(stage, recording, tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    first, second = (skinned_points(baked, 2.0, f"/Copy_{number}/Character") for number in range(2))
    np.testing.assert_allclose(second, first + (3.0, 0.0, 0.0), atol=1e-5)
    assert abs(first - skinned_points(baked, 0.0, "/Copy_0/Character")).max() > 0.01
