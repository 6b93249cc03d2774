"""What holds one way only, or gives way, beside the joints of a tree: ropes, ends of tendons, and limits, friction and
drives of joints that close loops bear what lands on them, among many bodies."""

import math

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowded
from tests.usd.authoring import joint, open_text

HIGH, FALL, PLATE, LOAD, G = 1.0, 0.2, 1.0, 10.0, 9.81
LANDS = math.sqrt(2 * G * FALL) * LOAD / (LOAD + PLATE)
"""Speed of both after the impact, where nothing else holds [m/s]."""
STIFFNESS, DAMPING = 5e4, 2e3
STEPS = (1 / 60, 1 / 240)
SLIDE = f'point3f physics:localPos0 = (0, 0, {HIGH})\nuniform token physics:axis = "Z"\n'
BESIDE = "bool physics:excludeFromArticulation = 1\n"
ENDS = "float physics:lowerLimit = 0\nfloat physics:upperLimit = 0.5\n"


def give(prim: Usd.Prim, schema: str, prefix: str, **values) -> None:
    """Apply a schema and author numbers of it."""
    prim.AddAppliedSchema(schema)
    for name, value in values.items():
        kind = Sdf.ValueTypeNames.Bool if isinstance(value, bool) else Sdf.ValueTypeNames.Float
        prim.CreateAttribute(f"{prefix}{name}", kind).Set(value)


def rope(stage: Usd.Stage, **spring) -> None:
    """One from above, which is taut at the start."""
    hung = UsdPhysics.DistanceJoint.Define(stage, "/World/rope")
    hung.CreateBody1Rel().SetTargets(["/World/plate"])
    hung.CreateLocalPos0Attr((0, 0, 2 * HIGH))
    hung.CreateMaxDistanceAttr(HIGH)
    if spring:
        give(hung.GetPrim(), "PhysxPhysicsDistanceJointAPI", "physxPhysicsDistanceJoint:", **spring)


def tendon(stage: Usd.Stage) -> None:
    """The end of one on the slide."""
    ends = {"limit_stiffness": STIFFNESS, "lower_limit": 0.0, "upper_limit": 1.0}
    wa.author.fixed_tendon(stage, "/World/tendon", ["/World/slide"], [1.0], stiffness=0.0, **ends)


def add(kind: str, stage: Usd.Stage) -> None:
    """What holds the plate."""
    loop = stage.GetPrimAtPath("/World/loop")
    soft = {"stiffness": STIFFNESS, "damping": DAMPING}
    if kind == "rope":
        rope(stage)
    elif kind == "soft rope":
        rope(stage, springEnabled=True, springStiffness=STIFFNESS, springDamping=DAMPING)
    elif kind == "tendon":
        tendon(stage)
    elif kind == "soft limit":
        give(loop, "PhysxLimitAPI:linear", "physxLimit:linear:", **soft)
    elif kind == "friction":
        effort = {"staticFrictionEffort": 400.0, "dynamicFrictionEffort": 400.0}
        give(loop, "PhysxJointAxisAPI:linear", "physxJointAxis:linear:", **effort)
    elif kind == "velocity limit":
        give(loop, "PhysxJointAPI", "physxJoint:", maxJointVelocity=0.1)
    elif kind == "drive":
        give(loop, "PhysicsDriveAPI:linear", "drive:linear:physics:", **soft, maxForce=400.0)
    elif kind == "strong drive":
        give(loop, "PhysicsDriveAPI:linear", "drive:linear:physics:", **soft, maxForce=1e6)


def held(kind: str, dt: float, precision: str = "float64", **settings) -> wa.Simulation:
    """A light plate on a vertical slide, which something else holds, a box that falls on it, and many other bodies."""
    solids = [
        box("plate", (0.3, 0.3, 0.05), (0, 0, HIGH), mass=PLATE),
        box("load", 0.05, (0, 0, HIGH + 0.1 + FALL), mass=LOAD),
    ]
    joints = joint("slide", "Prismatic", "", "/World/plate", SLIDE)
    if kind not in ("rope", "soft rope", "tendon"):
        joints += joint("loop", "Prismatic", "", "/World/plate", BESIDE + SLIDE + (ENDS if "limit" in kind else ""))
    stage = open_text(crowded(ContactScene(solids=solids, joints=joints)).usd)
    add(kind, stage)
    scene = wa.read_stage(stage)
    assert scene.island_contacts is not None
    chosen = wa.SolverSettings(dt=dt, precision=precision, sleep_after=float("inf"), **settings)
    return wa.Simulation(scene, settings=chosen)


def motion(one: wa.Simulation, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far the plate has gone down, how high the load is above it, and how fast the plate goes down, over time."""
    found = Motion(one.record(round(seconds / one.settings.dt), quantities=["link_pose", "link_velocity"]))
    plate, load = found.place("plate")[:, 2], found.place("load")[:, 2]
    assert one.failures() == []
    return HIGH - plate, load - plate - 0.1, -found.velocity("plate")[:, 2]


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", ["rope", "limit"])
def test_what_is_hard_is_a_shelf(kind, precision, dt):
    """A box stops on it, as on what is fixed; a heavy one fell through it."""
    down, height, _speed = motion(held(kind, dt, precision), 1.0)
    assert np.abs(down).max() < 1e-4
    assert height.min() > -0.15 * dt * math.sqrt(2 * G * FALL)
    assert abs(height[-1]) < 2e-4


@pytest.mark.parametrize("settings", [{"solver": "pgs"}, {"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_so_it_is_with_other_solvers(settings):
    """They solve the rope; the contacts of islands are the same."""
    down, height, _speed = motion(held("rope", 1 / 240, "float32", **settings), 1.0)
    assert np.abs(down).max() < 5e-4
    assert height.min() > -1e-3 and abs(height[-1]) < 2e-4


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", ["soft rope", "soft limit", "tendon"])
def test_what_is_soft_gives_way_by_the_weights(kind, dt):
    """Over its stiffness; and it is not passed by more than the energy of the fall lets it."""
    down, height, _speed = motion(held(kind, dt), 3.0 if kind == "tendon" else 1.5)  # ends of tendons have no damping
    sags = G * (LOAD + PLATE) / STIFFNESS
    assert down[-1] == pytest.approx(sags, rel=0.03)
    most = sags + math.sqrt(sags**2 + (LOAD + PLATE) * LANDS**2 / STIFFNESS)
    assert down.max() < most + dt * LANDS
    assert height.min() > -0.3 * dt * math.sqrt(2 * G * FALL)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", ["friction", "drive"])
def test_what_gives_way_stops_a_load_by_its_largest_force(kind, dt):
    """On the way in which that takes the energy that the impact has left."""
    down, height, _speed = motion(held(kind, dt), 0.6)
    mass = LOAD + PLATE
    # Within a step or two of the impact it has taken some of that already.
    least, most = (0.5 * mass * v**2 / (400.0 - G * mass) for v in (LANDS - 2 * dt * 400.0 / mass, LANDS))
    assert least < down.max() < 1.02 * most
    assert height.min() > -0.3 * dt * math.sqrt(2 * G * FALL)


@pytest.mark.parametrize("dt", STEPS)
def test_friction_gives_no_more_than_its_largest_force(dt):
    """What it would stop the plate with, had nothing landed on it, is part of that: plate and load slow down together.

    The plate went ahead at 2.9 m/s, faster than the load has ever been.
    """
    _down, height, speed = motion(held("friction", dt), 0.24)
    lands = int(np.argmax(speed > 1.0))
    steady = speed[lands : lands + round(0.04 / dt)]
    assert speed.max() < LANDS
    slowed = (steady[0] - steady[-1]) / ((len(steady) - 1) * dt)
    assert slowed == pytest.approx((400.0 - G * (LOAD + PLATE)) / (LOAD + PLATE), rel=0.03)
    assert height[lands:].max() < 1e-4


@pytest.mark.parametrize("dt", STEPS)
def test_a_drive_of_a_loop_that_may_do_more_holds_as_one_without_a_maximum(dt):
    """It answers within the step."""
    down, height, _speed = motion(held("strong drive", dt), 0.6)
    assert down[-1] == pytest.approx(G * (LOAD + PLATE) / STIFFNESS, rel=0.03)
    # An overdamped spring that is hit goes no further than its damper lets it.
    assert down.max() < (LOAD + PLATE) * LANDS / DAMPING + G * (LOAD + PLATE) / STIFFNESS
    assert height.min() > -0.15 * dt * math.sqrt(2 * G * FALL)


@pytest.mark.parametrize("dt", STEPS)
def test_a_loop_at_its_velocity_limit_lowers_a_load(dt):
    """The load lies on the plate all the time, which goes down with that speed; until then it is at rest on nothing."""
    _down, height, speed = motion(held("velocity limit", dt), 0.8)
    settled = round(0.3 / dt)
    assert speed.max() < 0.1 * (1 + 1e-6)
    assert np.abs(height[settled:]).max() < 2e-3


@pytest.mark.parametrize("dt", STEPS)
def test_a_slack_rope_does_nothing(dt):
    """A bob of one lies on the ground, and bears what falls on it."""
    solids = [box("bob", 0.1, (0, 0, 0.1), mass=2.0), box("load", 0.05, (0, 0, 0.25 + FALL), mass=LOAD)]
    hung = f"point3f physics:localPos0 = (0, 0, {HIGH})\nfloat physics:maxDistance = {HIGH}\n"
    scene = ContactScene(solids=solids, joints=joint("rope", "Distance", "", "/World/bob", hung))
    stage = open_text(crowded(scene).usd)
    one = wa.Simulation(wa.read_stage(stage), settings=wa.SolverSettings(dt=dt, sleep_after=float("inf")))
    found = Motion(one.record(round(1.0 / dt), quantities=["link_pose"]))
    assert found.place("bob")[-1] == pytest.approx([0, 0, 0.1], abs=1e-3)
    assert found.place("load")[-1] == pytest.approx([0, 0, 0.25], abs=1e-3)
