"""A crowd of characters that share one skeleton asset: read once, each with a motion of its own, at linear cost."""

import cProfile
import gc
import pstats

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdSkel

import warp_artic as wa
from tests.usd.skinned import skinned_stage
from tests.usd.test_write_skeletons import skinned_points
from warp_artic.usd.skeleton import Skeleton


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With an asset, its ragdoll included, which follows its animation."""
    folder = tmp_path_factory.mktemp("crowd")
    stage = skinned_stage(folder / "asset.usda")
    wa.author.ragdoll(stage, follow=5.0)
    stage.GetRootLayer().Save()
    return folder


def crowd(folder, count: int, instanceable: bool = True) -> Usd.Stage:
    """So many references of the asset in lines, whose colliders are kept apart."""
    path = folder / f"crowd_{count}_{instanceable}.usda"
    stage = Usd.Stage.Open(str(path)) if path.exists() else Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(24.0)
    for number in range(count):
        holder = UsdGeom.Xform.Define(stage, f"/Crowd/copy_{number}")
        holder.ClearXformOpOrder()
        holder.MakeMatrixXform().Set(Gf.Matrix4d().SetTranslate(Gf.Vec3d(3.0 * (number % 10), 0.0, number // 10)))
        child = stage.DefinePrim(f"/Crowd/copy_{number}/Character")
        child.GetReferences().SetReferences([])
        child.GetReferences().AddReference("./asset.usda")
        child.SetInstanceable(instanceable)
    group = UsdPhysics.CollisionGroup.Define(stage, "/apart")
    group.GetCollidersCollectionAPI().CreateIncludesRel().SetTargets(["/Crowd"])
    group.CreateFilteredGroupsRel().SetTargets([group.GetPath()])
    stage.GetRootLayer().Save()
    return stage


def calls(function) -> int:
    """Calls that a function makes, which a busy machine does not change; none that free what others have left."""
    profile = cProfile.Profile()
    gc.collect()
    gc.disable()
    try:
        profile.runcall(function)
    finally:
        gc.enable()
    return pstats.Stats(profile).total_calls


@pytest.mark.parametrize("instanceable", [True, False])
def test_a_hundred_characters(folder, tmp_path, monkeypatch, instanceable):
    """The skeleton is read once for all; each skin moves as that of the first, where it is."""
    stage = crowd(folder, 100, instanceable)
    opened = []
    original = Skeleton.__init__
    monkeypatch.setattr(Skeleton, "__init__", lambda own, prim: (opened.append(prim), original(own, prim))[1])
    scene = wa.read_stage(stage)
    assert len(scene.articulations) == 100 and len(opened) == 1
    recording = wa.Simulation(scene).record(steps=10, every=5)
    wa.write_results(stage, recording, tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    sources = {
        str(UsdSkel.BindingAPI(baked.GetPrimAtPath(f"/Crowd/copy_{number}/Character/Skeleton")).GetAnimationSourceRel())
        for number in range(100)
    }
    assert len(sources) == 100
    first = skinned_points(baked, 1.0, "/Crowd/copy_0/Character")
    for number in (1, 57, 99):
        offset = (3.0 * (number % 10), 0.0, number // 10)
        found = skinned_points(baked, 1.0, f"/Crowd/copy_{number}/Character")
        np.testing.assert_allclose(found, first + offset, atol=2e-5)


@pytest.mark.parametrize("how", ["offset", "binding above"])
def test_copies_with_other_animations_are_read_themselves(folder, how):
    """One that is animated later, or whose animation is bound above it, follows its own animation."""
    asset = Usd.Stage.Open(str(folder / "asset.usda"))
    if how != "offset":
        asset = Usd.Stage.Open(asset.Flatten())
        asset.GetPrimAtPath("/Character").SetTypeName("Xform")
        asset.GetPrimAtPath("/Character/Skeleton").RemoveProperty("skel:animationSource")
    source = asset.GetRootLayer().identifier
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(24.0)
    for number in range(3):
        path = f"/Crowd/copy_{number}"
        holder = UsdSkel.Root.Define(stage, path).GetPrim()
        offset = Sdf.LayerOffset(8.0 if number == 2 else 0.0)
        own = offset if how == "offset" else Sdf.LayerOffset()
        stage.DefinePrim(f"{path}/Character").GetReferences().AddReference(source, "/Character", own)
        if how != "offset":
            stage.DefinePrim(f"{path}/Walk").GetReferences().AddReference(source, "/Character/Walk", offset)
            UsdSkel.BindingAPI.Apply(holder).CreateAnimationSourceRel().SetTargets([f"{path}/Walk"])
    targets = []
    for tree in wa.read_stage(stage).articulations:
        drives = [dof.drive for dof in tree.dofs]
        targets.append([[one.position_track.at(time) for one in drives] for time in (0.75, 0.75 - 8.0 / 24.0)])
    (first, first_before), (second, _), (third, _) = np.array(targets)
    assert np.array_equal(first, second)
    np.testing.assert_allclose(third, first_before, atol=1e-6)
    assert abs(third - first).max() > 0.1


def test_the_cost_is_linear(folder, tmp_path):
    """Of four times as many, reading and writing make no more than four times the calls."""
    counts = []
    for number in (10, 40):
        stage = crowd(folder, number)
        counts.append([calls(lambda stage=stage: wa.read_stage(stage))])
        recording = wa.Simulation(wa.read_stage(stage)).record(steps=4, every=4)
        output = tmp_path / f"baked_{number}.usdc"
        counts[-1].append(calls(lambda *all, stage=stage, r=recording, o=output: wa.write_results(stage, r, o)))
    for few, many in zip(*counts):
        assert many < 4.1 * few
