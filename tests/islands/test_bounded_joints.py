"""Limits and friction of joints bear what lands on them, among many bodies."""

import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowded
from tests.usd.authoring import joint, open_text

STAIRS = Path(__file__).parents[2] / "samples" / "scenes" / "ragdoll_on_stairs.usda"
LENGTH, HALF, FALL = 0.6, 0.05, 0.2
ARM_MASS, REACH, G = 1.0, LENGTH - 2 * HALF, 9.81
AT_END = f"point3f physics:localPos0 = (0, 0, 1)\npoint3f physics:localPos1 = ({-LENGTH / 2}, 0, 0)\n"
LEVEL = "float physics:lowerLimit = -90\nfloat physics:upperLimit = 0\n"
STEPS = (1 / 60, 1 / 240)
FRICTION = 400.0
"""[N m]"""
STIFFNESS, DAMPING = 400.0, 10.0
"""Of a soft limit [N m/deg, N m s/deg]."""


def shelf(kind: str, load: float, precision: str, dt: float, **settings) -> wa.Simulation:
    """A light level arm on a joint of the world, a box that falls on its end, and many other bodies."""
    solids = [
        box("arm", (LENGTH / 2, HALF, HALF), (LENGTH / 2, 0, 1.0), mass=ARM_MASS),
        box("load", HALF, (REACH, 0, 1.0 + 2 * HALF + FALL), mass=load),
    ]
    axis = 'uniform token physics:axis = "Y"\n'
    content = AT_END + axis + (LEVEL if kind in ("limit", "soft limit") else "")
    scene = ContactScene(solids=solids, joints=joint("hinge", "Revolute", "", "/World/arm", content))
    stage = open_text(crowded(scene).usd)
    prim = stage.GetPrimAtPath("/World/hinge")
    values = {}
    if kind == "friction":
        prim.AddAppliedSchema("PhysxJointAxisAPI:angular")
        values = {f"physxJointAxis:angular:{name}FrictionEffort": FRICTION for name in ("static", "dynamic")}
    elif kind == "soft limit":
        prim.AddAppliedSchema("PhysxLimitAPI:angular")
        values = {"physxLimit:angular:stiffness": STIFFNESS, "physxLimit:angular:damping": DAMPING}
    elif kind == "velocity limit":
        prim.AddAppliedSchema("PhysxJointAPI")
        values = {"physxJoint:maxJointVelocity": 5.0}
    for name, value in values.items():
        prim.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)
    scene = wa.read_stage(stage)
    assert scene.island_contacts is not None
    chosen = wa.SolverSettings(dt=dt, precision=precision, sleep_after=float("inf"), **settings)
    return wa.Simulation(scene, settings=chosen)


def fallen(one: wa.Simulation, seconds: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """The angle of the arm, and how high the box is above where it lies on a level arm, over time."""
    recording = one.record(round(seconds / one.settings.dt), quantities=["link_pose", "joint_position"])
    height = Motion(recording).place("load")[:, 2] - 1.0 - 2 * HALF
    return recording.joint_position[:, 0, 0], height


@pytest.mark.parametrize("load", [0.1, 10.0])
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_arm_at_its_limit_is_a_shelf(precision, dt, load):
    """A box that falls on it stops there, as on what is fixed; a heavy one fell through it."""
    angle, height = fallen(shelf("limit", load, precision, dt))
    assert np.abs(angle).max() < 1e-4
    assert height.min() > -0.15 * dt * math.sqrt(2 * G * FALL)
    assert abs(height[-1]) < 2e-4


@pytest.mark.parametrize("settings", [{"solver": "pgs"}, {"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_so_it_is_with_other_solvers(settings):
    """They solve the joints of the arm; the contacts of islands are the same."""
    angle, height = fallen(shelf("limit", 10.0, "float32", 1 / 240, **settings))
    assert np.abs(angle).max() < 1e-4
    assert height.min() > -1e-3 and abs(height[-1]) < 2e-4


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_friction_of_a_joint_stops_what_falls_on_it(precision, dt):
    """A light box at once; a heavy one on the way in which friction takes the energy that the impact has left."""
    angle, _height = fallen(shelf("friction", 1.0, precision, dt))
    assert np.abs(angle).max() < 1e-4
    load = 10.0
    angle, _height = fallen(shelf("friction", load, precision, dt))
    I = load * REACH**2 + ARM_MASS * LENGTH**2 / 3.0
    turning = load * REACH * math.sqrt(2 * G * FALL) / I
    weights = G * (load * REACH + ARM_MASS * LENGTH / 2)
    stops = 0.5 * I * turning**2 / (FRICTION - weights)
    # A step has one force of friction: of the impact it may take what friction can do in all of the step.
    assert abs(angle[-1] - stops) < 0.1 * stops + turning * dt / 2
    assert np.ptp(angle[-round(0.5 / dt) :]) < 1e-4


@pytest.mark.parametrize("load", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("dt", STEPS)
def test_a_soft_limit_bears_a_load(dt, load):
    """It gives way by the moment of the weights over its stiffness."""
    angle, _height = fallen(shelf("soft limit", load, "float64", dt), 1.8)
    sags = G * (load * REACH + ARM_MASS * LENGTH / 2) / math.degrees(STIFFNESS)
    assert angle[-1] == pytest.approx(sags, rel=0.08)


def test_a_soft_limit_without_gains_bears_nothing():
    """As where there is none."""
    one = shelf("soft limit", 1.0, "float64", 1 / 240)
    for name in ("limit_stiffness", "limit_damping"):
        array = getattr(one.parameters, name)
        array.assign(np.zeros(array.shape))
    angle, height = fallen(one)
    assert np.isfinite(height).all() and one.failures() == []
    assert angle.max() > 0.5 and height[-1] < -0.5


@pytest.mark.parametrize("dt", STEPS)
def test_a_joint_at_its_velocity_limit_lowers_a_load(dt):
    """An arm that turns no faster than 5 degrees a second holds a box up, which lies on it all the time."""
    one = shelf("velocity limit", 10.0, "float64", dt)
    angle, height = fallen(one)
    fastest = math.radians(5.0)
    assert np.diff(angle).max() < 1.001 * fastest * dt
    settled = round(0.5 / dt)
    sunk = REACH * np.tan(angle[settled:]) - HALF * (1.0 / np.cos(angle[settled:]) - 1.0)
    assert np.abs(height[settled:] + sunk).max() < 8e-3


def ragdolls(count: int) -> Usd.Stage:
    """Some side by side in the air, near enough to fall on each other."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.Scene.Define(stage, "/scene")
    wa.author.ground_plane(stage, "/ground")
    for k in range(count):
        prim = stage.DefinePrim(f"/doll{k}", "Xform")
        prim.GetReferences().AddReference(str(STAIRS), "/World/ragdoll")
        form = UsdGeom.Xformable(prim)
        ops = form.GetOrderedXformOps()
        place = form.AddTranslateOp(opSuffix="place")
        place.Set(Gf.Vec3d(0.7 * k, 0.1 * k, -0.7))
        form.SetXformOpOrder([place, *ops])
    return stage


@pytest.mark.parametrize("rate", [60, 240])
def test_limbs_of_ragdolls_stay_out_of_the_ground(rate):
    """Limbs at their limits that others fall on; they went 6 cm into the ground, and came out in two seconds."""
    one = wa.Simulation(wa.read_stage(ragdolls(4)), settings=wa.SolverSettings(dt=1 / rate, sleep_after=float("inf")))
    assert one.scene.island_contacts is not None
    energy = [float(one.state.energy.numpy().sum())]
    depths = []
    for _ in range(90):
        one.step(rate // 30)
        depths.append(-min([contact.gap for contact in one.contacts()], default=0.0))
        energy.append(float(one.state.energy.numpy().sum()))
    assert np.mean(depths) < (0.01 if rate == 60 else 0.002)
    assert max(depths[45:]) < 2e-3
    assert np.diff(energy).max() < 1e-3 * energy[0]
    if rate == 60:  # and so they lie for twenty seconds
        one.step(17 * rate)
        assert float(one.state.energy.numpy().sum()) < energy[-1] + 3e-4 * energy[0]
