"""Balls that roll without slip, with what joints, drives, tendons, mimic joints and loops hold to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, Solid, box, sphere
from tests.contacts.motion import WANTED, Motion
from tests.oracles.rolling_bodies import Joint, Line, RollingBodies
from tests.usd.authoring import open_text
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf

RADIUS = 0.2
TIME = np.arange(121) / 240.0
THROWN = (0.7, 1.0, 0.4)
FRICTION = 2.0


@dataclass(frozen=True)
class Case:
    """What the oracle has, and what a stage says of its joints."""

    bodies: RollingBodies
    more: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Schemas and attributes of joints."""
    tendons: dict = field(default_factory=dict)
    """Fields of the articulation."""

    def scene(self) -> wa.Scene:
        """Only balls touch the ground."""
        joints = "".join(self._joint(k) for k in range(len(self.bodies.joints)))
        text = ContactScene(solids=self.bodies.bodies, friction=FRICTION, joints=joints).usd
        cube = 'def Cube "shape" (prepend apiSchemas = ['
        scene = wa.read_stage(open_text(text.replace(f'{cube}"PhysicsCollisionAPI", ', cube)))
        (tree,) = scene.articulations
        return replace(scene, articulations=(replace(tree, **self.tendons),))

    def _joint(self, k: int) -> str:
        one = self.bodies.joints[k]
        solids = [self.bodies.bodies[index] for index in one.bodies]
        places = [tuple((np.array(one.anchor) - solid.position).tolist()) for solid in solids]
        schemas, text = self.more.get(k, ("", ""))
        applied = f"(prepend apiSchemas = [{schemas}])" if schemas else ""
        return (
            f'def Physics{one.kind}Joint "joint{k}" {applied} {{\nuniform token physics:axis = "{"XYZ"[one.axis]}"\n'
            + "".join(f"rel physics:body{side} = </World/{solid.name}>\n" for side, solid in enumerate(solids))
            + "".join(f"point3f physics:localPos{side} = {place}\n" for side, place in enumerate(places))
            + f"{text}}}\n"
        )


def rolling(*solids: Solid, turning=THROWN) -> list[Solid]:
    """Solids that turn as one about the lowest point of the first, a ball."""
    low = np.array(solids[0].position) - [0.0, 0.0, RADIUS]
    speeds = (np.cross(turning, np.array(one.position) - low) for one in solids)
    return [replace(one, turning=turning, velocity=tuple(v)) for one, v in zip(solids, speeds, strict=True)]


def drive(k: float, d: float, target: float = 0.0, rate: float = 0.0, kind: str = "angular") -> tuple[str, str]:
    """The schema of a drive and its attributes."""
    degree = np.pi / 180.0 if kind == "angular" else 1.0
    values = {"stiffness": k * degree, "damping": d * degree, "targetPosition": target / degree}
    values["targetVelocity"] = rate / degree
    text = "".join(f"float drive:{kind}:physics:{name} = {value}\n" for name, value in values.items())
    return f'"PhysicsDriveAPI:{kind}"', text


def cases() -> Iterator[tuple[str, Case]]:
    """By name."""
    ball = sphere("ball", RADIUS, (0.0, 0.0, RADIUS))
    two = rolling(ball, box("weight", 0.02, (0.1, 0.0, RADIUS), mass=2.0))
    hinge = Joint(kind="Revolute", bodies=(0, 1), anchor=(0.02, 0.0, RADIUS))
    yield "hinge", Case(RollingBodies(bodies=two, joints=[hinge]))
    yield "ball joint", Case(RollingBodies(bodies=two, joints=[replace(hinge, kind="Spherical")]))
    for name, k, d, target in (("soft drive", 0.4, 0.02, 0.5), ("stiff drive", 200.0, 2.0, 0.0)):
        driven = RollingBodies(
            bodies=two, joints=[hinge], efforts=lambda q, v, k=k, d=d, target=target: k * (target - q) - d * v
        )
        yield name, Case(driven, {0: drive(k, d, target)})
    turned = RollingBodies(bodies=two, joints=[hinge], efforts=lambda q, v: 0.1 * (3.0 - v))
    yield "velocity drive", Case(turned, {0: drive(0.0, 0.1, rate=3.0)})
    slide = replace(hinge, kind="Prismatic", axis=0)
    sprung = RollingBodies(bodies=two, joints=[slide], efforts=lambda q, v: -300.0 * q - 2.0 * v)
    yield "slide on a spring", Case(sprung, {0: drive(300.0, 2.0, kind="linear")})

    arm = box("arm", (0.04, 0.02, 0.02), (0.15, 0.0, RADIUS), mass=1.0)
    three = rolling(ball, arm, box("tip", (0.02, 0.02, 0.04), (0.2, 0.0, RADIUS - 0.1), mass=1.5))
    level = [
        Joint(kind="Revolute", bodies=(0, 1), anchor=(0.05, 0.0, RADIUS)),
        Joint(kind="Revolute", bodies=(1, 2), anchor=(0.2, 0.0, RADIUS)),
    ]
    crossed = [level[0], replace(level[1], axis=0)]
    yield "arm", Case(RollingBodies(bodies=three, joints=crossed))
    gear = "rel newton:mimicJoint = </World/joint0>\nfloat newton:mimicCoef1 = -0.7\n"
    tied = RollingBodies(bodies=three, joints=level, equal=[(1, 0, 0.7)])
    yield "mimic joint", Case(tied, {1: ('"NewtonMimicAPI"', gear)})
    c = (1.0, -0.6)
    fixed = FixedTendon(
        name="/World/tendon", dofs=(0, 1), coefficients=c, force_coefficients=c, stiffness=30.0, damping=0.1
    )
    pulled = RollingBodies(
        bodies=three, joints=level, efforts=lambda q, v: -np.array(c) * (30.0 * np.dot(c, q) + 0.1 * np.dot(c, v))
    )
    yield "fixed tendon", Case(pulled, tendons={"fixed_tendons": (fixed,)})
    ends = ((0.0, 0.05, RADIUS + 0.05), (0.2, 0.02, RADIUS - 0.1))
    line = Line(bodies=(0, 2), points=ends, stiffness=150.0, rest=0.2)
    places = [tuple(np.subtract(point, three[k].position)) for k, point in zip((0, 2), ends, strict=True)]
    spatial = SpatialTendon(
        name="/World/line",
        attachments=(
            Attachment(name="start", link=0, position=places[0], parent=None),
            Attachment(name="end", link=2, position=places[1], parent=0),
        ),
        leaves=(TendonLeaf(attachment=1, rest_length=line.rest, lower=line.rest),),
        stiffness=line.stiffness,
    )
    roped = RollingBodies(bodies=three, joints=crossed, lines=[line])
    yield "spatial tendon", Case(roped, tendons={"spatial_tendons": (spatial,)})

    bars = [
        box("upper", 0.02, (0.1, 0.0, RADIUS + 0.1), mass=0.5),
        box("coupler", 0.02, (0.2, 0.0, RADIUS), mass=0.7),
        box("lower", 0.02, (0.1, 0.0, RADIUS - 0.1), mass=0.4),
    ]
    anchors = {(0, 1): (0.05, 0.05), (1, 2): (0.15, 0.08), (0, 3): (0.05, -0.05), (3, 2): (0.17, -0.06)}
    loop = [
        Joint(kind="Revolute", bodies=pair, anchor=(x, 0.0, RADIUS + above)) for pair, (x, above) in anchors.items()
    ]
    yield "four-bar linkage", Case(RollingBodies(bodies=rolling(ball, *bars), joints=loop))

    wheels = [sphere(name, RADIUS, (0.0, y, RADIUS)) for name, y in (("left", 0.3), ("right", -0.3))]
    axle = [Joint(kind="Revolute", bodies=(0, k), anchor=wheels[k - 1].position) for k in (1, 2)]
    cart = RollingBodies(
        bodies=[box("body", (0.05, 0.2, 0.05), (0.0, 0.0, RADIUS - 0.1), mass=3.0), *wheels],
        rolling=(1, 2),
        joints=axle,
        efforts=lambda q, v: 0.3 * (np.array([4.0, 2.0]) - v),
    )
    yield "cart", Case(cart, {0: drive(0.0, 0.3, rate=4.0), 1: drive(0.0, 0.3, rate=2.0)})


CASES = dict(cases())


@cache
def rolled(name: str) -> np.ndarray:
    """The places of the bodies by the oracle, whose balls neither slip nor leave the ground."""
    bodies = CASES[name].bodies
    F = bodies.contact_forces(TIME)
    assert (np.linalg.norm(F[..., :2], axis=-1) < 0.8 * FRICTION * F[..., 2]).all()
    return bodies.places(TIME)


def error(name: str, rate: int, **settings) -> float:
    """The largest distance of a body from where it is to be [m]."""
    one = wa.Simulation(CASES[name].scene(), settings=wa.SolverSettings(dt=1.0 / rate, **settings))
    motion = Motion(one.record(rate // 2, every=rate // 240, quantities=WANTED))
    found = np.stack([motion.place(solid.name) for solid in CASES[name].bodies.bodies], axis=1)
    return float(np.abs(found - rolled(name)).max())


@pytest.mark.parametrize("name", CASES)
def test_mechanisms_that_roll(name):
    """With half the step the error is about a quarter."""
    first, second = (error(name, rate, precision="float64") for rate in (240, 480))
    assert first < 5e-4
    assert second < 0.31 * first
    assert error(name, 240, precision="float32") < first + 5e-5


@pytest.mark.parametrize("solver", ["pgs", "tgs"])
@pytest.mark.parametrize("name", CASES)
def test_mechanisms_that_roll_by_sweeps(name, solver):
    """A four-bar linkage on a ball is held by sweeps in first order only."""
    assert error(name, 480, precision="float64", solver=solver) < (5e-4 if name == "four-bar linkage" else 1.5e-4)
