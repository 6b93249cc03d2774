"""Characters that are animated up to a time, fall, and get up: `physics:kinematicEnabled` with time samples."""

import math

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics, UsdSkel

import warp_artic as wa
from tests.usd.skinned import NAMES, RATE, bind_matrices, joint_paths, skinned_stage
from tests.usd.test_write_skeletons import MERGED, SKELETON, skinned_points
from warp_artic.description.pose import rotation_vector_from_matrix
from warp_artic.looking.energy_balance import can_be_told
from warp_artic.looking.verdict import verdict

SETTINGS = wa.SolverSettings(dt=1 / 240, precision="float64", variant="scalar")
FALL, RISE = 9.0, 16.0
"""Time codes."""


def switched(samples: dict[float, bool], file=None, **options) -> tuple[Usd.Stage, object]:
    """The character with a ragdoll that is kinematic by time samples."""
    stage = skinned_stage(file, **options)
    made = wa.author.ragdoll(stage)
    for link in made.links:
        enabled = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath(link.path)).CreateKinematicEnabledAttr()
        for code, value in samples.items():
            enabled.Set(value, code)
    return stage, made


def joint_matrices(stage: Usd.Stage, code: float) -> np.ndarray:
    """World matrices of the joints, as UsdSkel has them."""
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Get(stage, "/Character"), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, SKELETON))
    return np.array(query.ComputeJointWorldTransforms(UsdGeom.XformCache(code)))


def distances(stage, made, recording, record: int) -> np.ndarray:
    """How far links are from where the animation has their joints [m], and turned [rad], shape (links, 2)."""
    J = joint_matrices(stage, RATE * recording.time[record])
    found = []
    for link in made.links:
        pose = recording.link_pose[record, 0, recording.link_names.index(link.path)]
        own, joint = wa.Pose(tuple(pose[:3]), tuple(pose[3:])), J[joint_paths().index(link.joint)]
        turn = rotation_vector_from_matrix(own.rotation.T @ joint[:3, :3].T)
        found.append([np.linalg.norm(np.array(own.position) - joint[3, :3]), np.linalg.norm(turn)])
    return np.array(found)


@pytest.fixture(scope="module")
def fallen():
    """A run in which the character falls, and gets up again."""
    stage, made = switched({0: True, FALL: False, RISE: True})
    simulation = wa.Simulation(wa.read_stage(stage), environments=2, settings=SETTINGS)
    return stage, made, simulation.record(240), simulation


def test_bodies_are_where_they_are_animated_until_they_fall(fallen):
    """Links are at their joints in every step, and no longer behind the time at which they are let go."""
    stage, made, recording, _ = fallen
    last = round(FALL / RATE * 240)
    # Between time codes USD turns each joint at a constant rate, which cubics smooth.
    assert max(distances(stage, made, recording, record).max() for record in range(0, last + 1)) < 2e-3
    assert max(distances(stage, made, recording, record).max() for record in range(0, last + 1, 10)) < 1e-4
    assert distances(stage, made, recording, last + 40)[:, 0].min() > 0.05
    np.testing.assert_array_equal(recording.link_pose[:, 0], recording.link_pose[:, 1])


def test_bodies_below_a_root_that_walks_are_where_they_are_animated():
    """The place of a character may be animated above its skeleton; its bodies go with both."""
    stage, made = switched({0: True, FALL: False})
    root = UsdGeom.Xformable(stage.GetPrimAtPath("/Character"))
    place, turn = root.AddTranslateOp(), root.AddRotateYOp()
    for code in range(25):
        place.Set((0.04 * code, 0.0, 0.0), code)
        turn.Set(3.0 * code, code)
    recording = wa.Simulation(wa.read_stage(stage), settings=SETTINGS).record(100, every=10)
    assert max(distances(stage, made, recording, record).max() for record in range(10)) < 2e-3


def test_an_animation_is_no_energy_from_nowhere(fallen):
    """What it gives to bodies is not taken for an error of the steps."""
    _, _, recording, simulation = fallen
    assert not can_be_told(simulation.scene)
    assert all("energy" not in one.what for one in verdict(simulation.scene, recording))


def test_they_start_with_the_velocity_of_the_animation(fallen):
    """Velocities of links at the hand-over are those of the animation, by differences of its poses."""
    stage, made, recording, _ = fallen
    last = round(FALL / RATE * 240)
    before, after = (joint_matrices(stage, FALL + step) for step in (-0.25, 0.25))
    for link in made.links:
        row, joint = recording.link_names.index(link.path), joint_paths().index(link.joint)
        next_pose, pose = (recording.link_pose[record, 0, row] for record in (last + 1, last))
        R, R_next = (wa.Pose(quaternion=tuple(one[3:])).rotation for one in (pose, next_pose))
        found = rotation_vector_from_matrix(R_next @ R.T) * 240
        expected = rotation_vector_from_matrix(after[joint, :3, :3].T @ before[joint, :3, :3]) / (0.5 / RATE)
        assert np.linalg.norm(found - expected) < 0.05 + 0.05 * np.linalg.norm(expected), link.path


def test_they_go_back_to_the_animation(fallen):
    """Poses have no jump where the span begins, and are those of the animation a quarter of a second later."""
    stage, made, recording, simulation = fallen
    first = round(RISE / RATE * 240)
    blend = round(simulation.scene.hand_overs[0].blend * 240)
    steps = np.linalg.norm(np.diff(recording.link_pose[first - 5 : first + blend + 5, 0, :, :3], axis=0), axis=-1)
    assert steps.max() < 0.02 and np.abs(np.diff(steps, axis=0)).max() < 1.5e-3
    assert distances(stage, made, recording, first + 3)[:, 0].min() > 0.05
    late = range(first + blend + 10, 240, 10)
    assert late and max(distances(stage, made, recording, record).max() for record in late) < 1e-4


def test_reset_and_another_run_are_the_same(fallen):
    """To the last bit."""
    _, _, recording, simulation = fallen
    simulation.reset()
    again = simulation.record(240)
    np.testing.assert_array_equal(again.link_pose, recording.link_pose)


def test_skin_moves_as_links_do(tmp_path):
    """Skinned points of the baked stage are rigid transforms of the bind mesh to 1e-5, before and after."""
    stage, _ = switched({0: True, FALL: False}, tmp_path / "character.usda")
    stage.GetRootLayer().Save()
    recording = wa.Simulation(wa.read_stage(stage), settings=SETTINGS).record(240, every=10)
    wa.write_results(stage, recording, tmp_path / "baked.usdc")
    baked = Usd.Stage.Open(str(tmp_path / "baked.usdc"))
    mesh = UsdGeom.Mesh.Get(stage, "/Character/skin")
    points = np.array(mesh.GetPointsAttr().Get(), float)
    binding = UsdSkel.BindingAPI(mesh.GetPrim())
    indices = np.array(binding.GetJointIndicesPrimvar().Get()).reshape(-1, 3)
    weights = np.array(binding.GetJointWeightsPrimvar().Get(), float).reshape(-1, 3)
    B, J = np.array(bind_matrices()), joint_matrices(stage, 0)
    for record in range(recording.time.size):
        clip = joint_matrices(stage, RATE * recording.time[record])
        moved = np.empty((len(NAMES), len(points), 3))
        for number, name in enumerate(NAMES):
            row = recording.link_names.index(f"/Character/Ragdoll/{MERGED.get(name, name)}")
            W_0, W = (world_matrix(recording.link_pose[k, 0, row]) for k in (0, record))
            link = NAMES.index(MERGED.get(name, name))
            beside = clip[number] @ np.linalg.inv(clip[link])  # joints without a link go on as in the clip
            M = np.linalg.inv(B[number]) @ beside @ J[link] @ np.linalg.inv(W_0) @ W
            moved[number] = points @ M[:3, :3] + M[3, :3]
        expected = np.einsum("pk,pkx->px", weights, moved[indices, np.arange(len(points))[:, None]])
        np.testing.assert_allclose(skinned_points(baked, record), expected, atol=1e-5)


def world_matrix(pose: np.ndarray) -> np.ndarray:
    """Of row vectors."""
    own = wa.Pose(tuple(pose[:3]), tuple(pose[3:]))
    W = np.eye(4)
    W[:3, :3], W[3, :3] = own.rotation.T, own.position
    return W


def test_one_that_is_let_go_at_once_and_never(fallen):
    """Where samples agree, a body is kinematic, or moves by forces, as without them."""
    free = wa.read_stage(switched({0: False, 9: False})[0])
    assert not free.hand_overs and len(free.articulations) == 1
    with pytest.raises(wa.StageError, match="no articulation and no rigid body"):
        wa.read_stage(switched({0: True, 9: True})[0])


def test_what_is_wrong(fallen):
    """Bodies of an articulation are handed over together; graphs and derivatives do without."""
    stage, made = switched({0: True, FALL: False})
    UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath(made.links[2].path)).GetKinematicEnabledAttr().Set(False, 4.0)
    with pytest.raises(wa.StageError, match="changes at other times than that of /Character/Ragdoll/"):
        wa.read_stage(stage)
    simulation = fallen[-1]
    with pytest.raises(wa.SettingsError, match="/Character/Ragdoll.* is kinematic at times"):
        simulation.capture(2)
    with pytest.raises(wa.SolveError, match="is kinematic at times"):
        simulation.tangent({"joint_velocity": np.zeros(len(simulation.joint_names))[None]})


def test_spans_without_an_end():
    """From the start, to the end, and between."""
    (one,) = wa.read_stage(switched({0: True, FALL: False, RISE: True})[0]).hand_overs
    assert one.spans == ((-math.inf, FALL / RATE), (RISE / RATE, math.inf))
    (other,) = wa.read_stage(switched({0: False, FALL: True})[0]).hand_overs
    assert other.spans == ((FALL / RATE, math.inf),)
