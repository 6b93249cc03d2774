"""Overlaps that joints hardly let points move out of are taken back slowly: speeds are what the overlap justifies."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics

import warp_artic as wa
from tests.contact_stages import STILL, ContactScene, box, sphere
from tests.contacts.motion import DT, PRECISIONS, simulation
from warp_artic.constraints.contact_law import NORMAL_GIVE
from warp_artic.constraints.contact_lever import LEVER, SHORT_LEVER, YIELD

SCENES = Path(__file__).parents[2] / "samples" / "scenes"
SOLVERS = ("direct", "pgs")
VARIANTS = ("scalar", "lanes")
ARM, RADIUS, OVERLAP = 0.3, 0.1, 0.02
ANGLES = (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 1.0, 1.5)

G_EARTH = 9.81


def fastest_back(overlap: float) -> float:
    """The speed at which half of an overlap is taken back in a step [m/s]."""
    return 0.5 * overlap / DT


def hinged(angle: float, gravity=(0.0, 0.0, -G_EARTH)) -> ContactScene:
    """A ball on an arm along X about Y, in another ball whose normal has an angle to the arm."""
    normal = np.array([np.cos(angle), 0.0, np.sin(angle)])
    ball = sphere("ball", RADIUS, (ARM, 0, 0))
    other = sphere("other", RADIUS, np.array([ARM, 0, 0]) + normal * (2.0 * RADIUS - OVERLAP), mass=0.0)
    joint = (
        'def PhysicsRevoluteJoint "hinge" {\nuniform token physics:axis = "Y"\n'
        f"rel physics:body1 = </World/ball>\npoint3f physics:localPos1 = ({-ARM}, 0, 0)\n}}\n"
    )
    return ContactScene(solids=[ball, other], has_ground=False, friction=0.0, joints=joint, gravity=gravity)


def sliding(angle: float) -> ContactScene:
    """A box on a slide that has an angle to the face of another box that it is in, along X."""
    cube, other = box("cube", 0.1), box("other", 0.1, (0, 0, 0.2 - OVERLAP), mass=0.0)
    # A turn about Y takes X to (cos, 0, - sin).
    turned = (float(np.cos(0.5 * angle)), 0.0, float(np.sin(0.5 * angle)), 0.0)
    joint = (
        'def PhysicsPrismaticJoint "slide" {\nuniform token physics:axis = "X"\n'
        "rel physics:body1 = </World/cube>\n"
        f"quatf physics:localRot0 = {turned}\nquatf physics:localRot1 = {turned}\n}}\n"
    )
    return ContactScene(solids=[cube, other], has_ground=False, friction=0.0, joints=joint)


def speeds(scene: ContactScene, steps: int, length: float, **options) -> np.ndarray:
    """By how much the only dof moves in each step, over dt and times a length [m/s], shape (steps)."""
    one = simulation(scene, **options)
    recording = one.record(steps, quantities=["joint_position"])
    assert one.failures() == []
    return np.diff(recording.joint_position[:, 0, 0].astype(float)) * length / DT


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scene", (hinged, sliding), ids=("hinge", "slide"))
def test_speeds_are_what_the_lever_justifies(scene, precision, solver, variant):
    """G / (LEVER reach) of the speed along the normal, so that joints get 1 / sqrt(LEVER) of it at most."""
    most = fastest_back(OVERLAP)
    length = ARM if scene is hinged else 1.0
    for angle in ANGLES:
        found = np.abs(speeds(scene(angle), 8, length, precision=precision, solver=solver, variant=variant))
        falls = 8 * DT * G_EARTH
        assert found.max() <= most / np.sqrt(LEVER) + falls, angle
        if angle < 1e-4:
            assert found[0] <= 1e-2 * most + falls, angle


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_first_way_is_that_of_the_law(precision, solver):
    """In closed form: of a ball on a hinge, whose only dof has 1 / I. No velocity is left of it."""
    w = DT * fastest_back(OVERLAP)
    inertia = 0.4 * RADIUS**2 + ARM**2
    for angle in (0.01, 0.03, 0.1, 1.0):
        lever = ARM * np.sin(angle)
        G = lever**2 / inertia
        place = RADIUS - 0.5 * OVERLAP
        reach = ((ARM + place * np.cos(angle)) ** 2 + (place * np.sin(angle)) ** 2 + RADIUS**2) / inertia
        share = min(1.0, max(G - SHORT_LEVER * reach, 0.0) / (LEVER * reach))
        z = w * share / (G + NORMAL_GIVE * G + YIELD * reach)
        one = simulation(hinged(angle, gravity=STILL), precision=precision, solver=solver)
        one.step(1)
        moved = abs(float(one.state.joint_position.numpy()[0, 0]))
        assert moved == pytest.approx(z * lever / inertia, rel=2e-4), angle
        assert one.state.joint_velocity.numpy()[0, 0] == 0.0


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_cannot_move_along_the_normal_does_not_act(precision, solver):
    """It neither moves nor presses, and its joint turns as without it."""
    one = simulation(hinged(0.0), precision=precision, solver=solver)
    one.step(1)
    (contact,) = one.contacts()
    assert contact.gap == pytest.approx(-OVERLAP, abs=1e-6)
    assert contact.normal_force == contact.friction_force == 0.0
    turn = DT * G_EARTH * ARM / (0.4 * RADIUS**2 + ARM**2)
    assert one.state.joint_velocity.numpy()[0, 0] == pytest.approx(turn, rel=1e-5)


def with_colliders(name: str) -> wa.Scene:
    """A sample, all of whose shapes on bodies touch each other."""
    stage = Usd.Stage.Open(Usd.Stage.Open(str(SCENES / f"{name}.usda")).Flatten())
    for prim in stage.Traverse():
        body = prim
        while body and not body.HasAPI(UsdPhysics.RigidBodyAPI):
            body = body.GetParent()
        if body and prim.IsA(UsdGeom.Gprim):
            UsdPhysics.CollisionAPI.Apply(prim)
    return wa.read_stage(stage)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name, overlap", [("peaucellier", 0.024), ("gears", 0.027)])
def test_closed_mechanisms_whose_shapes_overlap_stay_calm(name, overlap, precision, solver, variant):
    """Loops and gears leave their points no way out of each other; each has the overlap at the start."""
    settings = wa.SolverSettings(precision=precision, solver=solver, variant=variant, dt=DT)
    one = wa.Simulation(with_colliders(name), settings=settings)
    most = 0.0
    for _ in range(240):
        one.step(1)
        most = max(most, np.abs(one.state.link_velocity.numpy()[:, :3]).max())
    assert one.failures() == []
    assert most < fastest_back(overlap)
