"""Runs with contacts that are solved by islands: batches, copies, sleep, reports, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.falls import tree
from tests.contacts.motion import DT, simulation
from tests.islands.crowds import crowd, crowded
from tests.usd.authoring import open_text
from warp_artic.sim.revise import revise

SCENES = Path(__file__).parents[2] / "samples" / "scenes"
G = 9.81
FALLING = ContactScene(
    solids=[
        box("low", 0.05, (0, 0, 0.06)),
        box("high", (0.05, 0.1, 0.05), (0.02, 0.01, 0.2), turning=(1.0, 0.0, 2.0)),
        sphere("ball", 0.06, (-0.03, 0.0, 0.4), velocity=(0.3, 0.2, 0.0)),
    ]
)


def poses(one: wa.Simulation) -> np.ndarray:
    return one.state.root_pose.numpy().copy()


@pytest.mark.parametrize("threads", [1, 2])
def test_environments_are_bitwise_alone(threads):
    """Each of five environments, started otherwise, moves as alone, on any number of threads."""
    many = crowd(FALLING, environments=5, precision="float32", variant="lanes")
    rng = np.random.default_rng(1)
    velocity = np.zeros((5, len(many.root_names), 6))
    velocity[:, :3] = rng.normal(0.0, 0.5, (5, 3, 6))
    many.set_state(root_velocity=velocity)
    many.step(150)
    one = wa.Simulation(many.scene, environments=1, settings=many.settings, threads=threads)
    for env in (0, 3):
        one.reset()
        one.set_state(root_velocity=velocity[env : env + 1])
        one.step(150)
        assert np.array_equal(poses(one)[..., 0], poses(many)[..., env])


def test_what_is_moved_apart_leaves_the_poses_of_neighbours():
    """A displacement in one environment changes no bit of the others: quaternions are not normalized once more."""
    one = crowd(FALLING, environments=8, precision="float32", variant="lanes")
    poses_given = np.random.default_rng(3).normal(size=(8, len(one.root_names), 7))
    one.set_state(root_pose=poses_given)
    before = poses(one)
    for part in one.run.islands.layout.parts:
        part.displacement.scalars.numpy()[0, 3 : part.group.columns.count : 8] = 0.25
        one.run.launches.displace(part.group, part.displacement)
    moved = (poses(one) != before).any(axis=(0, 1))
    assert moved.tolist() == [environment == 3 for environment in range(8)]


TENDON = """def WarpArticFixedTendon "tendon" {
    rel warpArtic:joints = [</World/joint1>, </World/joint2>]
    double[] warpArtic:coefficients = [0.01, -0.02]
    double warpArtic:stiffness = 5
    double warpArtic:damping = 0.1
    double warpArtic:limitStiffness = 200
    double warpArtic:lowerLimit = -0.3
    double warpArtic:upperLimit = 0.2
}
"""


def test_tendons_with_limits_go_on_bitwise_in_another_simulation():
    """How a mechanism answers contacts is known in the first step already, with the force Jacobian of its tendon."""
    scene = tree(6)
    scene = replace(scene, joints=scene.joints + TENDON)
    one, other = (crowd(scene, precision="float32") for _ in range(2))
    assert len(one.tendon_names) == 1
    one.step(100)
    other.apply(one.snapshot())
    for run in (one, other):
        run.step(20)
    assert one.contacts()
    np.testing.assert_array_equal(poses(other), poses(one))


def test_snapshots_and_checkpoints_go_on_bitwise(tmp_path):
    """Impulses of the step before are of them, for all environments and for one."""
    one = crowd(FALLING, environments=2, precision="float32")
    one.step(80)
    kept, path = one.snapshot(), tmp_path / "run.npz"
    one.save(path)
    one.step(40)
    wanted = poses(one)
    one.apply(kept)
    one.step(40)
    assert np.array_equal(poses(one), wanted)
    one.step(13)
    one.load(path)
    one.step(40)
    assert np.array_equal(poses(one), wanted)
    part = one.snapshot(environments=[1])
    one.step(20)
    ended = poses(one)
    one.apply(part)
    one.step(20)
    assert np.array_equal(poses(one)[..., 1], ended[..., 1])


def test_damaged_checkpoint_is_refused(tmp_path):
    """Keys of points that do not grow."""
    one = crowd(FALLING, precision="float32")
    one.step(80)
    one.save(tmp_path / "run.npz")
    content = dict(np.load(tmp_path / "run.npz"))
    content["islands/key"][0, :2] = content["islands/key"][0, 1]
    np.savez(tmp_path / "wrong.npz", **content)
    with pytest.raises(wa.ArticError, match="keys of environment 0 do not grow"):
        one.load(tmp_path / "wrong.npz")


def test_reset_forgets_impulses():
    """A run from the start is the first one again."""
    one = crowd(FALLING, precision="float32")
    one.step(100)
    wanted = poses(one)
    one.reset()
    one.step(100)
    assert np.array_equal(poses(one), wanted)


def test_order_of_prims_does_not_matter():
    """Bodies in another order on the stage move bitwise alike, by their names."""
    scene = crowded(FALLING)
    found = []
    for solids in (scene.solids, scene.solids[::-1]):
        one = simulation(ContactScene(solids=solids), precision="float32", sleep_after=float("inf"))
        one.step(120)
        found.append(dict(zip(one.root_names, poses(one)[..., 0])))
    for name, pose in found[0].items():
        assert np.array_equal(pose, found[1][name]), name


def test_islands_fall_asleep_and_wake_by_touch():
    """What lies sleeps together and stays bitwise; what is hit wakes with all that it touches, not what is apart."""
    solids = [box("low", 0.05, (0, 0, 0.05)), box("high", 0.05, (0, 0, 0.15)), box("puck", 0.05, (0.4, 0, 0.05))]
    one = crowd(ContactScene(solids=solids), precision="float32", sleep_after=0.4)
    one.step(480)
    assert one.asleep().all()
    still = poses(one)
    one.step(50)
    assert np.array_equal(poses(one), still)
    names = list(one.root_names)
    velocity = np.zeros((1, len(names), 6))
    velocity[0, names.index("/World/puck")] = [-2.5, 0, 0, 0, 0, 0]
    kept = one.snapshot(["root_velocity"])
    kept.root_velocity.assign(velocity[0][:, :, None])
    one.apply(kept)
    one.step(110)
    paths = [tree.path for tree in one.scene.articulations]
    awake = {path for path, sleeps in zip(paths, one.asleep()[0]) if not sleeps}
    assert awake == {"/World/puck", "/World/low", "/World/high"}
    assert np.abs(poses(one)[names.index("/World/low"), :2, 0]).max() > 1e-3
    one.step(960)
    assert one.asleep().all()


@pytest.mark.parametrize("solver", ["pgs", "tgs"])
def test_other_solvers_step_them_too(solver):
    """What has fallen lies, and is borne."""
    one = crowd(FALLING, precision="float32", solver=solver)
    one.step(480)
    assert one.contact_force_on("/World/low", by="/World/ground")[0, 2] == pytest.approx(2.0 * G, rel=0.05) or (
        one.contact_force_on("/World/low", by="/World/ground")[0, 2] == pytest.approx(G, rel=0.05)
    )
    assert all(contact.gap > -1e-4 for contact in one.contacts())


def test_report_and_forces():
    """What touches what, with weights, by name; a collider that is not there is told."""
    one = crowd(ContactScene(solids=[box("low", 0.05, (0, 0, 0.05)), box("high", 0.05, (0, 0, 0.15), mass=3.0)]))
    one.step(480)
    found = {contact.colliders: contact for contact in one.contacts()}
    lying = found["/World/ground", "/World/low/shape"]
    assert lying.links == ("", "/World/low")
    assert lying.points == 4
    assert lying.normal_force == pytest.approx(4.0 * G, rel=1e-4)
    assert found["/World/high/shape", "/World/low/shape"].normal_force == pytest.approx(3.0 * G, rel=1e-4)
    assert one.contact_force_on("/World/high")[0, 2] == pytest.approx(3.0 * G, rel=1e-4)
    assert one.contact_force_on("/World/low", by="/World/ground")[0, 2] == pytest.approx(4.0 * G, rel=1e-4)
    assert one.contact_force_on("/World/ground")[0, 2] < -4.0 * G
    with pytest.raises(wa.SettingsError, match="no collider that may touch anything"):
        one.contact_force_on("/World/hihg")


def test_what_is_kept_apart_passes_through():
    """A filtered pair and two groups that do not touch, among islands."""
    scene = crowded(ContactScene(solids=[sphere("high", 0.1, (0, 0, 0.5)), sphere("low", 0.1, (0, 0, 0.1))]))
    stage = open_text(scene.usd)
    pairs = UsdPhysics.FilteredPairsAPI.Apply(stage.GetPrimAtPath("/World/high"))
    pairs.CreateFilteredPairsRel().SetTargets(["/World/low"])
    one = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(dt=DT))
    one.step(240)
    heights = dict(zip(one.root_names, one.state.root_pose.numpy()[:, 2, 0]))
    assert heights["/World/high"] == pytest.approx(0.1, abs=1e-3)
    assert heights["/World/low"] == pytest.approx(0.1, abs=1e-3)


def test_animated_bodies_push_and_carry():
    """A kinematic plate that goes up carries what lies on it, and one that goes sideways takes it along by friction."""
    scene = crowded(ContactScene(solids=[box("load", 0.05, (0, 0, 0.25))]))
    stage = open_text(scene.usd)
    plate = UsdGeom.Cube.Define(stage, "/World/plate")
    plate.CreateSizeAttr(0.4)
    move = plate.AddTranslateOp()
    stage.SetTimeCodesPerSecond(24)
    for frame, place in ((0, (0, 0, 0)), (24, (0, 0, 0.1)), (36, (0, 0, 0.1)), (60, (0.2, 0, 0.1))):
        move.Set(Gf.Vec3d(*place), Usd.TimeCode(frame))
    UsdPhysics.CollisionAPI.Apply(plate.GetPrim())
    UsdPhysics.RigidBodyAPI.Apply(plate.GetPrim()).CreateKinematicEnabledAttr(True)
    one = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(dt=DT / 2))
    names = list(one.root_names)
    one.step(720)
    assert poses(one)[names.index("/World/load"), :3, 0] == pytest.approx([0.0, 0.0, 0.35], abs=5e-4)
    one.step(460)
    slip = 0.2**2 / (2.0 * 0.5 * G)
    assert poses(one)[names.index("/World/load"), 0, 0] == pytest.approx(0.2 * 230 / 240 - slip, abs=4e-4)


def test_bodies_with_joints():
    """Eight ragdolls, more than one mechanism, fall on each other and the ground and come to lie, with their joints."""
    source = str(SCENES / "ragdoll_on_stairs.usda")
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.Scene.Define(stage, "/scene")
    wa.author.ground_plane(stage, "/ground")
    for k in range(8):
        prim = stage.DefinePrim(f"/doll{k}", "Xform")
        prim.GetReferences().AddReference(source, "/World/ragdoll")
        form = UsdGeom.Xformable(prim)
        ops = form.GetOrderedXformOps()
        place = form.AddTranslateOp(opSuffix="place")
        place.Set(Gf.Vec3d(0.7 * (k % 4), 0.1 * k, -0.7 + 1.6 * (k // 4)))
        form.SetXformOpOrder([place, *ops])
    scene = wa.read_stage(stage)
    assert scene.island_contacts.articulations == {tree.path for tree in scene.articulations}
    one = wa.Simulation(scene, settings=wa.SolverSettings(dt=DT, sleep_after=float("inf")))
    start = one.state.energy.numpy().sum()
    one.step(720)
    assert one.failures() == []
    assert one.state.energy.numpy().sum() < 0.2 * start
    one.step(720)  # by then what limbs were pushed into each other in the fall is taken back
    assert one.state.link_pose.numpy()[:, 2].min() > 0.0
    gaps = [contact.gap for contact in one.contacts()]
    assert len(gaps) > 20
    assert min(gaps) > -5e-3
    weight = G * sum(link.mass for tree in scene.articulations for link in tree.links)
    assert one.contact_force_on("/ground")[0, 2] == pytest.approx(-weight, rel=0.2)


def test_edits_go_on_from_where_the_run_is():
    """A collider that has grown lifts what it is under; what else is there stays where it is."""
    before = crowd(FALLING, precision="float32")
    before.step(300)
    grown = [box("low", 0.07, (0, 0, 0.06)), *FALLING.solids[1:]]
    scene = wa.read_stage(open_text(crowded(ContactScene(solids=grown)).usd))
    after = revise(before, scene, before.settings)
    assert after is not before
    np.testing.assert_allclose(poses(after), poses(before), atol=1e-6)
    after.step(300)
    names = list(after.root_names)
    assert poses(after)[names.index("/World/low"), 2, 0] == pytest.approx(0.07, abs=1e-3)


def test_what_cannot_be_done_is_refused():
    """rk4 and captures, by name."""
    one = crowd(FALLING)
    with pytest.raises(wa.SettingsError, match="contacts of many mechanisms are found anew before each step"):
        one.capture()
    with pytest.raises(wa.SettingsError, match="rk4 is for free motion, and .* may touch each other"):
        wa.Simulation(one.scene, settings=wa.SolverSettings(integrator="rk4"))


def test_the_note_says_so():
    """A stage with more than one mechanism has room for is told of, and a small one is solved exactly."""
    (note,) = [one for one in crowd(FALLING).scene.diagnostics if one.rule == "contact-islands"]
    assert "solved by sweeps" in note.message
    assert simulation(FALLING).scene.island_contacts is None
