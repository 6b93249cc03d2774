"""`author.ragdoll`: links, joints, capsules, masses and limits from a skeleton and its skin."""

import math

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdSkel, Vt

import warp_artic as wa
from tests.usd.skinned import BONES, NAMES, character, joint_paths, skinned_stage
from warp_artic.description.diagnostic import Severity
from warp_artic.description.limited_positions import twist_and_swing
from warp_artic.description.pose import quaternion_from_matrix
from warp_artic.description.start_pose import start_poses
from warp_artic.usd.skin_parts import capsule_radius

SKELETON = "/Character/Skeleton"


def prism_volume(start, end, radius: float, sides: int = 12) -> float:
    """Of a tube of the character."""
    return math.dist(start, end) * 0.5 * sides * radius**2 * math.sin(2.0 * math.pi / sides)


VOLUME = sum(prism_volume(start, end, radius) for _, _, start, end, radius in BONES if radius)


def world_joints(stage: Usd.Stage, path: str = SKELETON, code: float = 0.0) -> np.ndarray:
    """World matrices of the joints, as UsdSkel has them."""
    skeleton = UsdSkel.Skeleton.Get(stage, path)
    root = UsdSkel.Root.Find(skeleton.GetPrim())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    return np.array(cache.GetSkelQuery(skeleton).ComputeJointWorldTransforms(UsdGeom.XformCache(code)))


def errors_of(function, *arguments, **options) -> str:
    """The sentence of the error, which is one line."""
    with pytest.raises(wa.ArticError) as raised:
        function(*arguments, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_links_are_joints_with_skin():
    """Twist joints and ends move with the link above."""
    made = wa.author.ragdoll(skinned_stage(), SKELETON)
    merged = {link.joint.rpartition("/")[2]: [one.rpartition("/")[2] for one in link.merged] for link in made.links}
    assert merged == {
        "hips": [],
        "chest": [],
        "head": ["head_end"],
        "thigh_l": ["thigh_twist_l"],
        "shin_l": [],
        "thigh_r": [],
        "shin_r": [],
    }
    assert made.free == ()


def test_what_is_authored_is_read_without_a_word():
    """No warning, seven links, six joints of three rotations that start as the animation has them."""
    stage = skinned_stage()
    wa.author.ragdoll(stage)
    scene = wa.read_stage(stage)
    assert not [one for one in scene.diagnostics if one.severity is not Severity.NOTE]
    (tree,) = scene.articulations
    assert len(tree.links) == 7 and [len(joint.dofs) for joint in tree.joints] == [3] * 6


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_links_are_where_the_joints_are(scale):
    """World poses of links are those of UsdSkel, also where the skeleton is scaled and turned."""
    stage = skinned_stage()
    turn = Gf.Matrix4d(Gf.Rotation(Gf.Vec3d(1, 2, 3), 40.0), Gf.Vec3d(3, 4, 5))
    UsdGeom.Xformable(stage.GetPrimAtPath(SKELETON)).AddTransformOp().Set(Gf.Matrix4d().SetScale(scale) * turn)
    stage.SetStartTimeCode(5.0)
    made = wa.author.ragdoll(stage)
    expected = world_joints(stage, code=5.0)
    (tree,) = wa.read_stage(stage).articulations
    poses = {link.path: pose for link, pose in zip(tree.links, start_poses(tree))}
    for link in made.links:
        J = expected[joint_paths().index(link.joint)]
        pose = poses[link.path]
        np.testing.assert_allclose(pose.position, J[3, :3], atol=1e-6)
        np.testing.assert_allclose(pose.rotation, J[:3, :3].T / scale, atol=1e-6)
    assert made.mass == pytest.approx(1000.0 * VOLUME * scale**3, rel=1e-6)


def test_masses_are_those_of_the_skin():
    """The sum is density times volume; a shin has its tube, less what belongs to the thigh."""
    made = wa.author.ragdoll(skinned_stage(), density=500.0)
    assert made.mass == pytest.approx(500.0 * VOLUME, rel=1e-6)
    # The thigh has 1/2 to 0 of the first quarter of the shin: a sixteenth of it.
    tube = 500.0 * prism_volume(*BONES[6][2:])
    (shin,) = [link.mass for link in made.links if link.joint.endswith("shin_l")]
    assert shin == pytest.approx(tube * 15 / 16, rel=1e-3)


def test_a_stage_in_centimetres_and_grams_has_the_same_masses():
    """Density is 1000 kg/m^3 in whatever units."""
    stage = skinned_stage()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    UsdGeom.Xformable(stage.GetPrimAtPath("/Character")).AddScaleOp().Set(Gf.Vec3f(100.0))
    assert wa.author.ragdoll(stage).mass == pytest.approx(1e6 * VOLUME, rel=1e-6)
    (tree,) = wa.read_stage(stage).articulations
    assert sum(link.mass for link in tree.links) == pytest.approx(1000.0 * VOLUME, rel=1e-6)


@pytest.mark.parametrize("length", [0.4, 2.0, 50.0])
def test_capsules_have_the_volume(length):
    """Of a capsule of this length, or of a sphere where that is longer."""
    radius = capsule_radius(0.3, length)
    half = max(length - 2.0 * radius, 0.0)
    assert math.pi * radius**2 * half + 4.0 / 3.0 * math.pi * radius**3 == pytest.approx(0.3, rel=1e-9)


def test_limits_are_the_range_and_a_margin():
    """Every frame of the clip is within, and its extremes are a margin from a limit."""
    stage = skinned_stage()
    made = wa.author.ragdoll(stage, margin=7.0)
    J = [world_joints(stage, code=code) for code in range(25)]
    (tree,) = wa.read_stage(stage).articulations
    by_path = {link.path: link for link in made.links}
    for joint in tree.joints:
        child, parent = (by_path[tree.links[one].path] for one in (joint.child, joint.parent))
        numbers = [joint_paths().index(link.joint) for link in (parent, child)]
        found = []
        for matrices in J:
            R_P, R_C = (matrices[number][:3, :3].T for number in numbers)
            R_FM = joint.parent_frame.rotation.T @ R_P.T @ R_C @ joint.child_frame.rotation
            found.append(np.degrees(twist_and_swing(quaternion_from_matrix(R_FM))))
        np.testing.assert_allclose(np.array(child.limits)[:, 0], np.min(found, axis=0) - 7.0, atol=1e-3)
        np.testing.assert_allclose(np.array(child.limits)[:, 1], np.max(found, axis=0) + 7.0, atol=1e-3)


@pytest.mark.parametrize("kept", [("thigh_l", "shin_l", "thigh_twist_l"), ()])
def test_joints_that_the_animation_lacks_have_the_limits_of_none(kept):
    """An animation of some joints, or of blend shapes alone, says nothing of the others."""
    stage, bare = skinned_stage(), skinned_stage(clip=False)
    walk = UsdSkel.Animation.Get(stage, "/Character/Walk")
    places = [NAMES.index(name) for name in kept]
    walk.GetJointsAttr().Set([joint_paths()[place] for place in places])
    for attribute in (walk.GetTranslationsAttr(), walk.GetRotationsAttr(), walk.GetScalesAttr()):
        for code in attribute.GetTimeSamples():
            values = attribute.Get(code)
            attribute.Set(type(values)([values[place] for place in places]), code)
    walk.CreateBlendShapesAttr(["smile"])
    for code in (0.0, 24.0):
        walk.CreateBlendShapeWeightsAttr().Set([code / 24.0], code)
    made, expected = wa.author.ragdoll(stage), wa.author.ragdoll(bare)
    assert made.has_clip == bool(kept)
    for link, other in zip(made.links, expected.links):
        if link.joint.rpartition("/")[2] not in kept:
            np.testing.assert_allclose(link.limits, other.limits, atol=1e-4)
        else:
            assert max(high - low for low, high in link.limits) == pytest.approx(80.0, abs=20.0)


def test_joints_are_at_zero_in_the_bind_pose():
    """Without animation the character stands as it is bound."""
    stage = skinned_stage(clip=False)
    wa.author.ragdoll(stage)
    (tree,) = wa.read_stage(stage).articulations
    assert max(abs(dof.position) for dof in tree.dofs) < 1e-6
    assert {(round(math.degrees(dof.limit.upper))) for dof in tree.dofs} == {30, 45}


def test_more_joints_are_merged_by_name():
    """By a pattern or a path; what matches nothing is refused."""
    made = wa.author.ragdoll(skinned_stage(), merge=["shin_*", "hips/chest/head"])
    assert len(made.links) == 4
    assert "no joint of /Character/Skeleton is called tail" in errors_of(
        wa.author.ragdoll, skinned_stage(), merge=["tail"]
    )


@pytest.mark.parametrize(
    ("name", "is_link"),
    [("LeafLeftLegRoll1", False), ("roll_l", False), ("leg_roll", False), ("LegTWIST", False), ("Scroll", True)],
)
def test_twist_joints_are_known_by_their_names(name, is_link):
    """As programs write them; a word that has another in it is no such name."""
    stage = skinned_stage(clip=False)
    joints = [path.replace("shin_l", name) for path in joint_paths()]
    UsdSkel.Skeleton.Get(stage, SKELETON).GetJointsAttr().Set(joints)
    links = [link.joint.rpartition("/")[2] for link in wa.author.ragdoll(stage).links]
    assert (name in links) == is_link and "shin_r" in links


@pytest.mark.parametrize("names", [("shin_l_joint", "thigh_l"), ("thigh_l_joint", "colliders"), ("thigh_l", "thigh_l")])
def test_links_have_names_of_their_own(names):
    """Joints may be called as other prims of a ragdoll are."""
    stage = skinned_stage(clip=False)
    joints = [path.replace("shin_l", names[0]).replace("head", names[1]) for path in joint_paths()]
    UsdSkel.Skeleton.Get(stage, SKELETON).GetJointsAttr().Set(joints)
    made = wa.author.ragdoll(stage)
    assert len({link.path for link in made.links}) == 7
    assert len(wa.read_stage(stage).link_names) == 7


def test_joints_that_are_no_paths_are_refused():
    """UsdSkel takes them all for roots."""
    stage = skinned_stage(clip=False)
    joints = [path.replace("chest", "rig:chest") for path in joint_paths()]
    UsdSkel.Skeleton.Get(stage, SKELETON).GetJointsAttr().Set(joints)
    assert ".joints: 'hips/rig:chest' is no path" in errors_of(wa.author.ragdoll, stage)


def test_a_root_without_skin_is_left_to_the_animation():
    """The joint above the hips that places a character has no skin."""
    stage = skinned_stage(clip=False)
    skeleton = UsdSkel.Skeleton.Get(stage, SKELETON)
    skeleton.CreateJointsAttr(["root", *(f"root/{joint}" for joint in joint_paths())])
    for attribute in (skeleton.GetBindTransformsAttr(), skeleton.GetRestTransformsAttr()):
        attribute.Set(Vt.Matrix4dArray([Gf.Matrix4d(1.0), *attribute.Get()]))
    indices = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/skin")).GetJointIndicesPrimvar()
    indices.Set(Vt.IntArray([one + 1 for one in indices.Get()]))
    made = wa.author.ragdoll(stage)
    assert made.free == ("root",) and made.links[0].joint == "root/hips"


def empty() -> Usd.Stage:
    return Usd.Stage.CreateInMemory()


def two() -> Usd.Stage:
    stage = skinned_stage()
    character(stage, "/Other")
    return stage


def unbound() -> Usd.Stage:
    stage = skinned_stage()
    skin = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/skin"))
    skin.GetSkeletonRel().ClearTargets(True)
    return stage


def without_weights() -> Usd.Stage:
    stage = skinned_stage()
    stage.GetPrimAtPath("/Character/skin").RemoveProperty("primvars:skel:jointWeights")
    return stage


def zero_weights() -> Usd.Stage:
    stage = skinned_stage()
    weights = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/skin")).GetJointWeightsPrimvar()
    weights.Set(Vt.FloatArray(len(weights.Get())))
    return stage


def changed_bind(matrix: Gf.Matrix4d) -> Usd.Stage:
    stage = skinned_stage()
    attribute = UsdSkel.Skeleton.Get(stage, SKELETON).GetBindTransformsAttr()
    matrices = attribute.Get()
    matrices[1] = matrix
    attribute.Set(matrices)
    return stage


def few_bind_transforms() -> Usd.Stage:
    stage = skinned_stage()
    UsdSkel.Skeleton.Get(stage, SKELETON).GetBindTransformsAttr().Set(Vt.Matrix4dArray(2))
    return stage


def scaled(*scale) -> Usd.Stage:
    stage = skinned_stage()
    UsdGeom.Xformable(stage.GetPrimAtPath("/Character")).AddScaleOp().Set(Gf.Vec3f(*scale))
    return stage


def instanced() -> Usd.Stage:
    stage = skinned_stage(path="/Asset/Character")
    copy = stage.DefinePrim("/Copy", "Xform")
    copy.GetReferences().AddInternalReference("/Asset")
    copy.SetInstanceable(True)
    return stage


def headless() -> Usd.Stage:
    stage = skinned_stage()
    UsdGeom.Xform.Define(stage, "/Character")
    return stage


def torn() -> Usd.Stage:
    """No skin on the hips, above three limbs."""
    stage = skinned_stage(smooth=False)
    primvar = UsdSkel.BindingAPI(stage.GetPrimAtPath("/Character/skin")).GetJointIndicesPrimvar()
    primvar.Set(Vt.IntArray([one or 1 for one in primvar.Get()]))
    return stage


FLAT = Gf.Matrix4d().SetScale(Gf.Vec3d(1, 0, 1))
MIRROR = Gf.Matrix4d().SetScale(Gf.Vec3d(1, -1, 1))


@pytest.mark.parametrize(
    ("make", "path", "sentence"),
    [
        (empty, None, "has no Skeleton"),
        (empty, "/Nobody", "/Nobody: there is no such prim"),
        (skinned_stage, "/Character", "/Character: is a SkelRoot, must be a Skeleton"),
        (skinned_stage, "Character", "Character: must be an absolute path"),
        (two, None, "has 2 skeletons, /Character/Skeleton, /Other/Skeleton: choose one"),
        (unbound, None, "/Character/Skeleton: no mesh is skinned by it"),
        (without_weights, None, "/Character/skin is bound to it, without joint indices and weights"),
        (zero_weights, None, "/Character/skin.primvars:skel:jointWeights: all weights are zero"),
        (lambda: changed_bind(FLAT), None, "bindTransforms: the matrix of hips/chest cannot be inverted"),
        (lambda: changed_bind(MIRROR), None, "bindTransforms: the matrix of hips/chest mirrors"),
        (lambda: changed_bind(Gf.Matrix4d(math.nan)), None, "the matrix of hips/chest is not finite"),
        (few_bind_transforms, None, "bindTransforms: has 2 matrices for 9 joints"),
        (lambda: scaled(1, 2, 1), None, "/Character/Skeleton: its world transform has the scale (1, 2, 1)"),
        (lambda: scaled(0, 0, 0), None, "/Character/Skeleton: its world transform cannot be inverted"),
        (instanced, "/Copy/Character/Skeleton", "/Copy/Character/Skeleton: is inside an instance"),
        (headless, None, "/Character/Skeleton: is below no SkelRoot"),
        (torn, None, "but no joint with skin is above them all"),
    ],
)
def test_what_cannot_be_done_is_one_line(make, path, sentence):
    """With the prim, and the stage stays as it was."""
    stage = make()
    before = stage.GetRootLayer().ExportToString()
    assert sentence in errors_of(wa.author.ragdoll, stage, path)
    assert stage.GetRootLayer().ExportToString() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"margin": -1.0}, "margin: -1.0 is not a finite number of at least 0"),
        ({"density": math.inf}, "density: inf is not a finite number"),
        ({"density": 0.0}, "density: 0 is not above 0"),
        ({"merge": "head"}, "merge: must be a list of joints, not 'head'"),
        ({"path": "/Character/skin"}, "/Character/skin: is there already"),
        ({"path": "/None/Ragdoll"}, "/None: there is no such prim"),
    ],
)
def test_arguments(options, sentence):
    """Each is checked."""
    assert sentence in errors_of(wa.author.ragdoll, skinned_stage(), **options)


def test_a_body_that_moves_no_joint_is_an_error():
    """The joint is missing, taken already, or the prim is no body."""
    stage = skinned_stage()
    wa.author.ragdoll(stage)
    joint = stage.GetPrimAtPath("/Character/Ragdoll/head").GetAttribute("warpArtic:skel:joint")
    joint.Set("hips/chest/heed")
    assert "did you mean hips/chest/head?" in errors_of(wa.read_stage, stage)
    joint.Set("hips/chest")
    assert "/Character/Ragdoll/head.warpArtic:skel:joint: is hips/chest, which moves with" in errors_of(
        wa.read_stage, stage
    )
    joint.Set("hips/chest/head")
    stage.DefinePrim("/Character/Ragdoll/no_body", "Xform").AddAppliedSchema("WarpArticSkelJointAPI")
    assert "/Character/Ragdoll/no_body" in str(pytest.raises(wa.StageError, wa.read_stage, stage).value)
    stage.RemovePrim("/Character/Ragdoll/no_body")
    stage.GetPrimAtPath("/Character/Ragdoll/head").GetRelationship("warpArtic:skel:skeleton").SetTargets(
        [Sdf.Path("/Character")]
    )
    assert "leads to /Character, must lead to one Skeleton" in errors_of(wa.read_stage, stage)


def not_a_root(stage):
    stage.GetPrimAtPath("/Character").SetTypeName("Xform")


def no_rest(stage):
    stage.GetPrimAtPath("/Character/Skeleton").GetAttribute("restTransforms").Clear()
    stage.RemovePrim("/Character/Walk")


def no_number(stage):
    rotations = UsdSkel.Animation.Get(stage, "/Character/Walk").GetRotationsAttr()
    rotations.Set(Vt.QuatfArray([Gf.Quatf(math.nan)] * 9), 3.0)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (not_a_root, "is below no SkelRoot"),
        (no_rest, "has no joint matrices at time code 0: author restTransforms"),
        (no_number, "a joint matrix at time code 3 is not finite"),
    ],
)
def test_a_skeleton_that_no_animation_can_be_written_for_is_an_error(spoil, sentence):
    """It is found when the stage is read, not when a run is written."""
    stage = skinned_stage()
    wa.author.ragdoll(stage)
    spoil(stage)
    assert f"/Character/Skeleton: {sentence}" in errors_of(wa.read_stage, stage)
