"""Joints of a ragdoll follow the animation of its skeleton."""

import math

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics, UsdSkel, Vt

import warp_artic as wa
from tests.usd.authoring import warnings_of
from tests.usd.skinned import NAMES, RATE, bind_matrices, joint_paths, local_matrices, skinned_stage
from warp_artic.description.pose import matrix_from_quaternion, quaternion_from_rotation_vector
from warp_artic.usd.read_skel_targets import continuous_vectors

SKELETON = "/Character/Skeleton"


def joint_rotations(stage: Usd.Stage, code: float) -> np.ndarray:
    """World rotations of the joints for column vectors, as UsdSkel has them."""
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Get(stage, "/Character"), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, SKELETON))
    return np.array(query.ComputeJointWorldTransforms(UsdGeom.XformCache(code)))[:, :3, :3].swapaxes(1, 2)


def angle_between(R: np.ndarray, other: np.ndarray) -> float:
    return math.degrees(math.acos(min(1.0, (np.trace(R.T @ other) - 1.0) / 2.0)))


def followed(**options) -> tuple[Usd.Stage, dict]:
    """A stage whose ragdoll follows, and the number of the skeleton's joint of each link."""
    stage = skinned_stage(**options)
    made = wa.author.ragdoll(stage, follow=20.0)
    return stage, {link.path: joint_paths().index(link.joint) for link in made.links}


@pytest.mark.parametrize("start", [0.0, 6.0])
def test_targets_are_the_rotations_of_the_animation(start):
    """At every frame, from wherever the run starts; the run starts with their velocity."""
    stage, numbers = followed()
    stage.SetStartTimeCode(start)
    stage.RemovePrim("/Character/Ragdoll")
    wa.author.ragdoll(stage, follow=20.0)
    (tree,) = wa.read_stage(stage).articulations
    assert not warnings_of(stage)
    for code in range(25):
        R = joint_rotations(stage, code)
        time = (code - start) / RATE
        for joint in tree.joints:
            R_P, R_C = (R[numbers[tree.links[one].path]] for one in (joint.parent, joint.child))
            R_FM = joint.parent_frame.rotation.T @ R_P.T @ R_C @ joint.child_frame.rotation
            target = [dof.drive.position_track.at(time) for dof in joint.dofs]
            found = matrix_from_quaternion(quaternion_from_rotation_vector(target))
            np.testing.assert_allclose(found, R_FM, atol=2e-6)
    for dof in tree.dofs:
        assert dof.velocity == dof.drive.velocity_track.at(0.0)
        assert dof.position == pytest.approx(dof.drive.position_track.at(0.0), abs=1e-5)


def test_velocity_targets_are_angular_velocities():
    """Of the child in the parent, in the axes of the child's joint frame."""
    stage, _ = followed()
    (tree,) = wa.read_stage(stage).articulations
    for joint in tree.joints:
        R = [
            matrix_from_quaternion(
                quaternion_from_rotation_vector([dof.drive.position_track.at((8 + k) / RATE) for dof in joint.dofs])
            )
            for k in (-1, 0, 1)
        ]
        rate = R[1].T @ (R[2] - R[0]) * RATE / 2.0
        omega = [dof.drive.velocity_track.at(8 / RATE) for dof in joint.dofs]
        np.testing.assert_allclose(omega, [rate[2, 1], rate[0, 2], rate[1, 0]], atol=0.02 * (1.0 + np.abs(omega).max()))


def test_targets_go_on_beyond_half_a_turn():
    """Of a joint that turns twice, no target jumps."""
    stage = skinned_stage()
    animation = UsdSkel.Animation.Get(stage, "/Character/Walk")
    for attribute in ("translations", "rotations", "scales"):
        animation.GetPrim().GetAttribute(attribute).Clear()
    for frame in range(25):
        matrices = Vt.Matrix4dArray(local_matrices({"head": ((1, 2, 0), 30.0 * frame)}))
        for attribute, value in zip(("Translations", "Rotations", "Scales"), UsdSkel.DecomposeTransforms(matrices)):
            getattr(animation, f"Create{attribute}Attr")().Set(value, frame)
    wa.author.ragdoll(stage, follow=20.0)
    (tree,) = wa.read_stage(stage).articulations
    (joint,) = [one for one in tree.joints if one.path.endswith("head_joint")]
    vectors = np.array([dof.drive.position_track.values for dof in joint.dofs]).T
    assert np.linalg.norm(np.diff(vectors, axis=0), axis=1).max() == pytest.approx(math.radians(30.0), rel=1e-4)
    assert np.linalg.norm(vectors[-1]) == pytest.approx(4.0 * math.pi, rel=1e-5)


def test_joints_are_to_rest_beyond_the_animation():
    """Drives ask for no velocity before it begins and after it ends, where their targets stay."""
    stage, _ = followed()
    stage.SetStartTimeCode(-12.0)
    stage.GetPrimAtPath("/Character/Walk").GetAttribute("rotations").ClearAtTime(24.0)
    stage.GetPrimAtPath("/Character/Walk").GetAttribute("translations").ClearAtTime(24.0)
    stage.GetPrimAtPath("/Character/Walk").GetAttribute("scales").ClearAtTime(24.0)
    (tree,) = wa.read_stage(stage).articulations
    ends = np.array([[dof.drive.velocity_track.at(code / RATE) for code in (12.0, 35.0)] for dof in tree.dofs])
    assert abs(ends).max(axis=0).min() > 0.5
    for dof in tree.dofs:
        assert [dof.drive.velocity_track.at(code / RATE) for code in (0.0, 11.99, 35.01, 90.0)] == [0.0] * 4
        assert dof.velocity == 0.0


def test_keys_far_apart_are_followed_where_time_codes_are_seconds():
    """Between two keys a second apart targets turn as USD turns quaternions."""
    stage = skinned_stage()
    stage.SetTimeCodesPerSecond(1.0)
    walk = stage.GetPrimAtPath("/Character/Walk")
    for attribute, own in zip(("translations", "rotations", "scales"), ("Translations", "Rotations", "Scales")):
        walk.GetAttribute(attribute).Clear()
        for code, axis, angle in ((0.0, (1, 0, 1), 50.0), (1.0, (0, 1, -1), 120.0)):
            matrices = Vt.Matrix4dArray(local_matrices({"thigh_l": (axis, angle)}))
            parts = dict(zip(("Translations", "Rotations", "Scales"), UsdSkel.DecomposeTransforms(matrices)))
            walk.GetAttribute(attribute).Set(parts[own], code)
    made = wa.author.ragdoll(stage, follow=20.0)
    numbers = {link.path: joint_paths().index(link.joint) for link in made.links}
    (tree,) = wa.read_stage(stage).articulations
    for code in (0.27, 0.5, 0.81):
        R = joint_rotations(stage, code)
        for joint in tree.joints:
            R_P, R_C = (R[numbers[tree.links[one].path]] for one in (joint.parent, joint.child))
            R_FM = joint.parent_frame.rotation.T @ R_P.T @ R_C @ joint.child_frame.rotation
            target = [dof.drive.position_track.at(code) for dof in joint.dofs]
            found = matrix_from_quaternion(quaternion_from_rotation_vector(target))
            assert angle_between(found, R_FM) < 0.2


def test_targets_of_a_hinge_are_in_the_turn_of_its_limits():
    """A head that starts at 210 degrees, within limits of 90 and 400, and turns on by 30 in each frame."""
    stage = skinned_stage()
    animation = UsdSkel.Animation.Get(stage, "/Character/Walk")
    for attribute in ("translations", "rotations", "scales"):
        animation.GetPrim().GetAttribute(attribute).Clear()
    for frame in range(7, 14):
        matrices = Vt.Matrix4dArray(local_matrices({"head": ((0, 1, 0), 30.0 * frame)}))
        for attribute, value in zip(("Translations", "Rotations", "Scales"), UsdSkel.DecomposeTransforms(matrices)):
            getattr(animation, f"Create{attribute}Attr")().Set(value, frame)
    stage.SetStartTimeCode(7.0)
    wa.author.ragdoll(stage, follow=20.0)
    place = UsdPhysics.Joint.Get(stage, "/Character/Ragdoll/head_joint").GetLocalPos0Attr().Get()
    stage.RemovePrim("/Character/Ragdoll/head_joint")
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/Character/Ragdoll/head_joint")
    hinge.CreateAxisAttr("Y")
    hinge.CreateLocalPos0Attr(place)
    for side, name in enumerate(("chest", "head")):
        getattr(hinge, f"CreateBody{side}Rel")().SetTargets([f"/Character/Ragdoll/{name}"])
        turn = bind_matrices()[NAMES.index(name)].ExtractRotationQuat().GetInverse()
        getattr(hinge, f"CreateLocalRot{side}Attr")(Gf.Quatf(turn))
    hinge.CreateLowerLimitAttr(90.0)
    hinge.CreateUpperLimitAttr(400.0)
    drive = UsdPhysics.DriveAPI.Apply(hinge.GetPrim(), "angular")
    drive.CreateStiffnessAttr(1000.0)
    (tree,) = wa.read_stage(stage).articulations
    ((dof,),) = [one.dofs for one in tree.joints if one.path.endswith("head_joint")]
    assert math.degrees(dof.position) == pytest.approx(210.0, abs=1e-3)
    targets = [math.degrees(dof.drive.position_track.at(frames / RATE)) for frames in (0, 1, 6)]
    assert targets == pytest.approx([210.0, 240.0, 390.0], abs=1e-3)
    assert math.degrees(dof.drive.velocity_track.at(0.0)) == pytest.approx(30.0 * RATE, rel=1e-4)


def test_continuous_vectors():
    """The same rotations, near each other, through zero and through whole turns."""
    axis = np.array([0.6, 0.0, 0.8])
    angles = np.linspace(-9.0, 9.0, 61)
    wrapped = np.array([math.remainder(angle, 2.0 * math.pi) * axis for angle in angles])
    np.testing.assert_allclose(
        continuous_vectors(wrapped) - wrapped[0], (angles - angles[0])[:, None] * axis, atol=1e-9
    )
    whole = np.array([2.0 * axis, 3.0 * axis, 4.0 * axis - 2.0 * math.pi * axis, 0.0 * axis, 0.5 * axis])
    assert np.linalg.norm(np.diff(continuous_vectors(whole), axis=0), axis=1).max() < 2.5


def test_a_walk_is_tracked_within_two_degrees(tmp_path):
    """The root moves as it is animated, the rest by drives; compared with UsdSkel, in the layer that is baked."""
    stage = skinned_stage(tmp_path / "character.usda")
    made = wa.author.ragdoll(stage, follow=20.0, animated_root=True)
    stage.GetRootLayer().Save()
    scene = wa.read_stage(stage)
    assert not [one for one in scene.diagnostics if one.severity is wa.Severity.WARNING]
    wa.write_results(stage, wa.Simulation(scene).record(steps=240), tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    parents = {link.joint: link.joint.rpartition("/")[0] for link in made.links}
    worst = 0.0
    for code in range(25):
        wanted, found = (joint_rotations(one, code) for one in (stage, baked))
        for joint, parent in parents.items():
            child = joint_paths().index(joint)
            if not parent:
                assert angle_between(wanted[child], found[child]) < 0.1
                continue
            above = joint_paths().index(parent)
            turns = [R[above].T @ R[child] for R in (wanted, found)]
            worst = max(worst, angle_between(*turns))
    assert 0.1 < worst < 2.0


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_gains_are_for_what_hangs_on_a_joint(meters):
    """Of the block of each joint in the mass matrix, its composite inertia, they have the largest eigenvalue."""
    stage = skinned_stage()
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.5)
    UsdGeom.Xformable(stage.GetPrimAtPath("/Character")).AddScaleOp().Set(Gf.Vec3f(2.0))
    frequency = 3.0
    wa.author.ragdoll(stage, follow=frequency)
    scene = wa.read_stage(stage)
    M = wa.Simulation(scene, settings=wa.SolverSettings(precision="float64")).mass_matrix().numpy()[0]
    omega = 2.0 * math.pi * frequency
    (tree,) = scene.articulations
    first = 6
    for joint in tree.joints:
        own = slice(first, first + len(joint.dofs))
        first += len(joint.dofs)
        inertia = np.linalg.eigvalsh(M[own, own])[-1]
        for dof in joint.dofs:
            assert dof.drive.stiffness == pytest.approx(inertia * omega**2, rel=1e-4)
            assert dof.drive.damping == pytest.approx(2.0 * inertia * omega, rel=1e-4)
    assert first == len(M)


def test_what_cannot_follow_is_said():
    """No drive, no animation, or another body that moves with nothing."""
    stage, _ = followed()
    head = stage.GetPrimAtPath("/Character/Ragdoll/head_joint")
    for axis in ("rotX", "rotY", "rotZ"):
        head.RemoveAPI(UsdPhysics.DriveAPI, axis)
    (warning,) = [one for one in warnings_of(stage) if "skel:follow" in one]
    assert warning.startswith("/Character/Ragdoll/head.warpArtic:skel:follow: has no effect: ")
    still, _ = followed(clip=False)
    assert all("has no animation with time samples" in one for one in warnings_of(still))
    assert len(warnings_of(still)) == 6
    loose, _ = followed()
    for name in ("skeleton", "joint"):
        loose.GetPrimAtPath("/Character/Ragdoll/chest").RemoveProperty(f"warpArtic:skel:{name}")
    loose.GetPrimAtPath("/Character/Ragdoll/chest").RemoveAppliedSchema("WarpArticSkelJointAPI")
    found = [one for one in warnings_of(loose) if "moves with no joint of the same skeleton" in one]
    assert len(found) == 1 and found[0].startswith("/Character/Ragdoll/head")


def test_the_character_is_one_that_tests_mean():
    """Its frames are turned, and its bind pose is that of rest."""
    stage = skinned_stage(clip=False)
    R = joint_rotations(stage, 0.0)
    expected = [np.array(matrix)[:3, :3].T for matrix in bind_matrices()]
    np.testing.assert_allclose(R, expected, atol=1e-6)
    assert len({tuple(np.round(one.ravel(), 3)) for one in expected}) == len(NAMES)
    assert Gf.Vec3d(*bind_matrices()[0].ExtractTranslation())[1] == 1.0
