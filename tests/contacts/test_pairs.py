"""Contacts beside every other kind of constraint: an A-frame whose legs only one of them keeps from sliding apart."""

import dataclasses
import math

import numpy as np
import pytest

import warp_artic as wa
from tests.usd.authoring import body, joint, open_text, schemas
from tests.usd.contact_stages import collider

G = 9.81
LENGTH, HALF_ANGLE, MASS, FOOT = 1.0, 0.4, 2.0, 0.05
REACH, HEIGHT = LENGTH * math.sin(HALF_ANGLE), LENGTH * math.cos(HALF_ANGLE)
TORQUE = 0.5 * MASS * G * REACH
"""That the hinge needs where the ground is smooth [N m]: half of the weight of a leg at the reach of its foot."""
BIND = "rel material:binding:physics = </ground>\n"


def leg(name: str, side: float) -> str:
    """A rod from the apex to a foot, which is a capsule across."""
    inertia = MASS * LENGTH**2 / 12.0
    mass = (
        f"float physics:mass = {MASS}\nfloat3 physics:diagonalInertia = ({inertia}, {inertia}, {inertia})\n"
        f"point3f physics:centerOfMass = ({0.5 * side * REACH}, 0, {-0.5 * HEIGHT})"
    )
    foot = (
        f'uniform token axis = "Y"\ndouble radius = {FOOT}\ndouble height = 0.6\n{BIND}'
        f"double3 xformOp:translate = ({side * REACH}, 0, {-HEIGHT})\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    )
    return body(name, collider("Capsule", "foot", foot), mass=mass, at=(0.0, 0.0, HEIGHT + FOOT))


def frame(hinge: str = "", applied=(), friction: float = 0.0, more: str = "") -> wa.Scene:
    """Two legs on a hinge; where it turns the negative way they slide apart."""
    return wa.read_stage(
        open_text(
            f'def Material "ground" {schemas("PhysicsMaterialAPI")} {{\nfloat physics:staticFriction = {friction}\n'
            f"float physics:dynamicFriction = {friction}\n}}\n"
            + collider("Plane", "floor", 'uniform token axis = "Z"\n' + BIND)
            + leg("a", -1.0)
            + leg("b", 1.0)
            + joint("hinge", "Revolute", "/a", "/b", f'uniform token physics:axis = "Y"\n{hinge}', applied)
            + more
        )
    )


def with_tendon() -> wa.Scene:
    """A tendon on the hinge, at its lower limit."""
    scene = frame()
    tendon = wa.FixedTendon(
        name="/tendon",
        dofs=(0,),
        coefficients=(1.0,),
        force_coefficients=(1.0,),
        lower=0.0,
        limit_stiffness=1e5,
        damping=50.0,
    )
    return dataclasses.replace(
        scene, articulations=(dataclasses.replace(scene.articulations[0], fixed_tendons=(tendon,)),)
    )


def with_mimic() -> wa.Scene:
    """A hinge at a stop beside it, which the hinge is geared to."""
    tail = body("tail", mass="float physics:mass = 0.01\nfloat3 physics:diagonalInertia = (0.01, 0.01, 0.01)")
    stop = 'uniform token physics:axis = "Y"\nfloat physics:lowerLimit = 0\nfloat physics:upperLimit = 1\n'
    scene = frame(more=tail + joint("stop", "Revolute", "/b", "/tail", stop))
    (tree,) = scene.articulations
    mimic = wa.Mimic(name="/mimic", dofs=(0, 1), gears=(1.0, 1.0))
    stopped = [dof.name for dof in tree.dofs].index("/stop")
    mimic = dataclasses.replace(mimic, dofs=(1 - stopped, stopped), gears=(1.0, -1.0))
    return dataclasses.replace(scene, articulations=(dataclasses.replace(tree, mimics=(mimic,)),))


ROPE = joint(
    "rope",
    "Distance",
    "/a",
    "/b",
    f"float physics:minDistance = 0\nfloat physics:maxDistance = {2.0 * REACH}\n"
    f"point3f physics:localPos0 = ({-REACH}, 0, {-HEIGHT})\npoint3f physics:localPos1 = ({REACH}, 0, {-HEIGHT})",
)
WELD = joint("weld", "Fixed", "/a", "/b", "bool physics:excludeFromArticulation = 1")
DRIVE = "float drive:angular:physics:stiffness = 200000\nfloat drive:angular:physics:damping = 2000"
FRAMES = {
    "limit": lambda: frame("float physics:lowerLimit = 0\nfloat physics:upperLimit = 30"),
    "soft limit": lambda: frame(
        "float physics:lowerLimit = 0\nfloat physics:upperLimit = 30\nfloat physxLimit:angular:stiffness = 2000\n"
        "float physxLimit:angular:damping = 20",
        ("PhysxLimitAPI:angular",),
    ),
    "drive": lambda: frame(DRIVE, ("PhysicsDriveAPI:angular",)),
    "friction": lambda: frame(friction=0.8),
    "distance": lambda: frame(more=ROPE),
    "loop joint": lambda: frame(more=WELD),
    "tendon": with_tendon,
    "mimic": with_mimic,
}
SOLVERS = [("direct", "float64", 1), ("direct", "float32", 4), ("pgs", "float64", 1), ("tgs", "float64", 1)]
CLOSE = {"direct": 1e-3, "pgs": 2e-2, "tgs": 2e-2}
"""Of forces, relatively, and speeds [m/s or rad/s]."""
TURNS = {"direct": 5e-6, "pgs": 3e-3, "tgs": 3e-3}
"""By how much the hinge may give way [rad]."""


@pytest.mark.parametrize("solver, precision, environments", SOLVERS)
@pytest.mark.parametrize("name", FRAMES)
def test_an_a_frame_stands(name, solver, precision, environments):
    """The ground carries its weight, half on each foot; nothing moves or sinks in, and the hinge gives way to nothing
    but the spring that it has."""
    scene = FRAMES[name]()
    settings = wa.SolverSettings(dt=1.0 / 240.0, solver=solver, precision=precision)
    one = wa.Simulation(scene, environments=environments, settings=settings)
    one.step(480)
    close = CLOSE[solver]
    contacts = [touch for touch in one.contacts() if touch.environment == environments - 1]
    assert sorted(touch.colliders[1] for touch in contacts) == ["/a/foot", "/b/foot"]
    weight = sum(link.mass for tree in scene.articulations for link in tree.links) * G
    for touch in contacts:
        assert touch.normal_force == pytest.approx(0.5 * weight, rel=5e-3 + close)
        assert abs(touch.gap) < 5e-3 * close + 2e-6
        wanted = TORQUE / (HEIGHT + FOOT) if name == "friction" else 0.0
        assert touch.friction_force == pytest.approx(wanted, rel=5e-3 + close, abs=1e-3)
    one.report()
    stiffness = {"drive": 200000 * 180 / math.pi, "soft limit": 2000 * 180 / math.pi, "tendon": 1e5}.get(name)
    angle = one.state.joint_position.numpy()[0]
    assert np.abs(angle + (TORQUE / stiffness if stiffness else 0.0)).max() < TURNS[solver]
    assert np.abs(one.state.link_velocity.numpy()).max() < close
