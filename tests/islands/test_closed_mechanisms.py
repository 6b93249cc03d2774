"""Mechanisms that close loops or have joints that follow others touch things among many bodies."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, PRECISIONS, WANTED, Motion
from tests.islands.crowds import OTHERS, crowded
from tests.usd.authoring import joint, open_text

SAMPLE = Path(__file__).parents[2] / "samples" / "scenes" / "peaucellier.usda"
G = 9.81
LEG, COUPLER = 0.4, 0.6
SPEED = 2.0
LEG_MASS, BEAM_MASS = 0.125, 8.0


def pin(name: str, body0: str, at0: tuple, body1: str, at1: tuple, kind: str = "Revolute") -> str:
    """A pin along Y or another joint, at places on two bodies, the first of which may be the world."""
    content = f"point3f physics:localPos0 = {at0}\npoint3f physics:localPos1 = {at1}\n"
    content += 'uniform token physics:axis = "Y"\n'
    return joint(name, kind, body0 and f"/World/{body0}", f"/World/{body1}", content)


def parallelogram(place: tuple, velocity: tuple, bearing: str = "Revolute") -> ContactScene:
    """Two light upright legs on pins of the world with a heavy beam, without gravity, and a ball on its way to it.

    The beam lies on pins, or on ball joints, on which it can turn about its own axis as well.
    """
    foot, middle, top = 0.2, 0.2 + LEG / 2, 0.2 + LEG
    half = COUPLER / 2
    solids = [
        box("left", (0.02, 0.05, 0.18), (-half, 0, middle), mass=LEG_MASS),
        box("right", (0.02, 0.05, 0.18), (half, 0, middle), mass=LEG_MASS),
        box("beam", (0.28, 0.05, 0.02), (0, 0, top), mass=BEAM_MASS),
        sphere("ball", 0.05, place, velocity=velocity),
    ]
    pins = [
        pin("foot0", "", (-half, 0, foot), "left", (0, 0, -LEG / 2)),
        pin("foot1", "", (half, 0, foot), "right", (0, 0, -LEG / 2)),
        pin("top0", "left", (0, 0, LEG / 2), "beam", (-half, 0, 0), bearing),
        pin("top1", "right", (0, 0, LEG / 2), "beam", (half, 0, 0), bearing),
    ]
    return ContactScene(solids=solids, gravity=(0, 0, 0), has_ground=False, joints="".join(pins), friction=0.0)


def followers() -> ContactScene:
    """A box on a vertical slide that the ground ends, and one on a slide of its own, below a fixed base."""
    base, leader, follower = (0.5, 0, 3.0), (0.0, 0, 0.15), (1.0, 0, 1.0)
    solids = [box("base", 0.1, base), box("leader", 0.1, leader), box("follower", 0.1, follower, mass=20.0)]
    slides = "".join(
        joint(
            f"slide_{one.name}",
            "Prismatic",
            "/World/base",
            f"/World/{one.name}",
            f"point3f physics:localPos0 = {tuple(np.subtract(one.position, base).tolist())}\n"
            'uniform token physics:axis = "Z"\n',
        )
        for one in solids[1:]
    )
    fixed = joint("fixed", "Fixed", "", "/World/base", f"point3f physics:localPos0 = {base}\n")
    return ContactScene(solids=solids, joints=fixed + slides)


def simulation_of(
    scene: ContactScene, precision: str, root: str, follows: float | None = None, environments: int = 1, **settings
) -> wa.Simulation:
    """Of a scene one of whose articulations begins at a body."""
    stage = open_text(scene.usd)
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(f"/World/{root}"))
    if follows is not None:
        wa.author.mimic(stage, "/World/slide_follower", ["/World/slide_leader"], gears=[follows])
    chosen = wa.SolverSettings(dt=DT, precision=precision, sleep_after=float("inf"), **settings)
    return wa.Simulation(wa.read_stage(stage), environments=environments, settings=chosen)


@pytest.mark.parametrize("bearing", ("Revolute", "Spherical"))
@pytest.mark.parametrize(
    ("solver", "precision"), (("direct", "float32"), ("direct", "float64"), ("pgs", "float32"), ("tgs", "float32"))
)
def test_a_ball_hits_a_parallelogram(solver, precision, bearing):
    """They go on together as momentum about the pins says, with the inertia of all bars, and as the exact solver."""
    scene = parallelogram((-COUPLER / 2 - 0.1, 0, 0.2 + LEG / 2), (SPEED, 0, 0), bearing)
    one = simulation_of(crowded(scene), precision, "left", solver=solver)
    assert one.scene.island_contacts is not None
    found = Motion(one.record(36, quantities=WANTED))
    wanted = Motion(simulation_of(scene, precision, "left").record(36, quantities=WANTED))
    # Two legs about their ends, the beam on a circle, and the ball at half of a leg.
    legs = 2.0 * LEG_MASS * ((0.04**2 + 0.36**2) / 12.0 + (LEG / 2) ** 2)
    inertia, arm = legs + BEAM_MASS * LEG**2, LEG / 2
    rate = SPEED * arm / (inertia + arm**2)
    struck = int(np.argmax(found.turning("left")[:, 1] > 1e-3 * rate))
    assert 0 < struck < 15
    assert found.turning("left")[struck + 1, 1] == pytest.approx(rate, rel=0.02)
    assert found.velocity("ball")[struck + 1, 0] == pytest.approx(rate * arm, rel=0.03)
    np.testing.assert_allclose(found.place("beam")[-1], wanted.place("beam")[-1], atol=2e-3)
    np.testing.assert_allclose(found.velocity("beam")[-1], wanted.velocity("beam")[-1], atol=0.02)
    assert np.diff(found.kinetic).max() < 1e-3 * found.kinetic[0]
    assert one.state.loop_error.numpy().max() < 1e-5


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_parallelogram_does_not_give_way_along_its_legs(precision):
    """A ball that comes from above, beside the middle of the beam, stops: without the loop it would turn."""
    scene = parallelogram((0.2, 0, 0.2 + LEG + 0.1), (0, 0, -SPEED))
    one = simulation_of(crowded(scene), precision, "left")
    assert one.scene.island_contacts is not None
    found = Motion(one.record(36, quantities=WANTED))
    height = found.place("ball")[:, 2] - found.place("beam")[:, 2] - 0.05 - 0.02
    assert found.velocity("ball")[0, 2] == pytest.approx(-SPEED)
    assert height.min() > -1e-4
    assert np.abs(found.velocity("ball")[-1]).max() < 1e-3 * SPEED
    assert np.abs(found.turning("beam")).max() < 1e-3
    assert one.state.loop_error.numpy().max() < 1e-5


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gear", (1.0, -0.025, 3.0))
def test_the_ground_bears_what_follows(precision, gear):
    """A box that lands bears its own weight and, through the gear, that of the box that follows it."""
    one = simulation_of(crowded(followers()), precision, "base", gear)
    leader, lowest = one.link_names.index("/World/leader"), 1.0
    for _ in range(240):
        one.step(1)
        lowest = min(lowest, one.state.link_pose.numpy()[leader, 2, 0])
    assert lowest > 0.1 - 1e-3
    assert one.contact_force_on("/World/leader")[0, 2] == pytest.approx((1.0 + 20.0 * gear) * G, rel=1e-2)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_environments_do_not_notice_each_other(precision):
    """What holds contacts is of each environment: the same alone and among others."""
    scene, count = crowded(followers()), 19
    many = simulation_of(scene, precision, "base", 3.0, environments=count)
    v = np.random.default_rng(0).normal(scale=0.2, size=(count, len(many.joint_names)))
    many.set_state(joint_velocity=v)
    many.step(48)
    for k in (0, 7, 16, 18):
        alone = simulation_of(scene, precision, "base", 3.0)
        alone.set_state(joint_velocity=v[[k]])
        alone.step(48)
        assert np.array_equal(alone.state.link_pose.numpy()[..., 0], many.state.link_pose.numpy()[..., k])
        assert np.abs(alone.state.joint_velocity.numpy()).max() < 1.0


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gear", (1.0, 3.0))
def test_what_follows_rests_for_a_minute(precision, gear):
    """On the ground, in one mechanism: neither sinks, and the follower stays where the gear has it."""
    one = simulation_of(followers(), precision, "base", gear)
    assert one.scene.island_contacts is None
    q = []
    for _ in range(60):
        one.step(240)
        q.append(one.state.joint_position.numpy()[:, 0])
    leader, follower = np.transpose(q)
    assert np.abs(leader + 0.05).max() < 1e-5
    assert np.abs(np.diff(leader[1:])).max() < 1e-5
    np.testing.assert_allclose(follower, follower[0] + gear * (leader - leader[0]), atol=1e-6)
    assert np.abs(one.state.joint_velocity.numpy()).max() < 1e-5


def linkage_that_touches_itself() -> Usd.Stage:
    """Peaucellier's linkage with all its bars as colliders, which pass through each other, and balls far away."""
    stage = Usd.Stage.Open(Usd.Stage.Open(str(SAMPLE)).Flatten())
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Gprim) and prim.GetParent().HasAPI(UsdPhysics.RigidBodyAPI):
            UsdPhysics.CollisionAPI.Apply(prim)
    for k in range(OTHERS):
        ball = UsdGeom.Sphere.Define(stage, f"/far{k}")
        ball.CreateRadiusAttr(0.1)
        ball.AddTranslateOp().Set(Gf.Vec3d(30 + k, 30, 30))
        UsdPhysics.RigidBodyAPI.Apply(ball.GetPrim())
        UsdPhysics.CollisionAPI.Apply(ball.GetPrim())
    return stage


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_linkage_that_jams_stays_calm(precision):
    """Bars that start in each other come apart as far as the loops let them; nothing runs away, and the loops hold."""
    settings = wa.SolverSettings(precision=precision, sleep_after=float("inf"))
    one = wa.Simulation(wa.read_stage(linkage_that_touches_itself()), settings=settings)
    assert one.scene.island_contacts is not None
    own = [k for k, name in enumerate(one.link_names) if "far" not in name]
    speeds = []
    for _ in range(240):
        one.step(1)
        speeds.append(np.abs(one.state.link_velocity.numpy()[own]).max())
    assert one.failures() == []
    assert max(speeds) < 3.0
    assert max(speeds[120:]) < 1e-2
    assert one.state.loop_error.numpy().max() < 1e-5
