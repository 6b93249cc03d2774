"""Scenes of free and fixed solids on a ground, as text of a USD stage and as the XML of MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BOX, SPHERE, CAPSULE, CYLINDER, CONE = "box", "sphere", "capsule", "cylinder", "cone"
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
STILL = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Solid:
    """One shape with its mass; without mass it is fixed to the world."""

    name: str
    kind: str
    size: tuple[float, ...]
    """Half extents of a box, radius of a sphere, radius and half height of the others, of a capsule without its ends
    [m]."""
    position: tuple[float, float, float] = STILL
    quaternion: tuple[float, float, float, float] = UPRIGHT
    """xyzw; the axis of a capsule, cylinder or cone is Z, toward the apex."""
    velocity: tuple[float, float, float] = STILL
    """Of the centre, world axes [m/s]."""
    turning: tuple[float, float, float] = STILL
    """Angular velocity, world axes [rad/s]."""
    mass: float = 1.0
    """[kg]"""

    @property
    def center(self) -> tuple[float, float, float]:
        """The centre of mass in its own axes [m]."""
        return (0.0, 0.0, -0.5 * self.size[1]) if self.kind == CONE else STILL

    @property
    def inertia(self) -> np.ndarray:
        """About the centre of mass along its own axes, of even density, shape (3) [kg m^2]."""
        if self.kind == BOX:
            squares = np.array(self.size) ** 2
            return self.mass / 3.0 * (squares.sum() - squares)
        radius = self.size[0]
        if self.kind == SPHERE:
            return np.full(3, 0.4 * self.mass * radius**2)
        length = 2.0 * self.size[1]
        if self.kind == CYLINDER:
            across = self.mass * (radius**2 / 4.0 + length**2 / 12.0)
            return np.array([across, across, 0.5 * self.mass * radius**2])
        if self.kind == CONE:
            across = 0.15 * self.mass * (radius**2 + 0.25 * length**2)
            return np.array([across, across, 0.3 * self.mass * radius**2])
        straight = self.mass * length / (length + 4.0 / 3.0 * radius)
        ends = self.mass - straight
        across = straight * (radius**2 / 4.0 + length**2 / 12.0)
        across += ends * (0.4 * radius**2 + 0.375 * length * radius + 0.25 * length**2)
        return np.array([across, across, (0.5 * straight + 0.4 * ends) * radius**2])


def box(name: str, half_extents, position=STILL, **options) -> Solid:
    """A box; one number makes a cube."""
    return Solid(name=name, kind=BOX, size=tuple(np.broadcast_to(half_extents, 3)), position=tuple(position), **options)


def sphere(name: str, radius: float, position=STILL, **options) -> Solid:
    """A ball."""
    return Solid(name=name, kind=SPHERE, size=(radius,), position=tuple(position), **options)


def capsule(name: str, radius: float, half_height: float, position=STILL, **options) -> Solid:
    """A capsule."""
    return Solid(name=name, kind=CAPSULE, size=(radius, half_height), position=tuple(position), **options)


def cylinder(name: str, radius: float, half_height: float, position=STILL, **options) -> Solid:
    """A cylinder."""
    return Solid(name=name, kind=CYLINDER, size=(radius, half_height), position=tuple(position), **options)


def cone(name: str, radius: float, half_height: float, position=STILL, **options) -> Solid:
    """A cone; its place is midway between the middle of its base and its apex. MuJoCo has none."""
    return Solid(name=name, kind=CONE, size=(radius, half_height), position=tuple(position), **options)


def turn(axis, angle: float) -> tuple[float, float, float, float]:
    """A turn about an axis by an angle [rad] as a quaternion xyzw."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return (*(np.sin(0.5 * angle) * axis).tolist(), float(np.cos(0.5 * angle)))


@dataclass(frozen=True, kw_only=True)
class ContactScene:
    """Solids of one material."""

    solids: Sequence[Solid]
    friction: float = 0.5
    torsional_friction: float = 0.0
    """[m]"""
    rolling_friction: float = 0.0
    """[m]"""
    restitution: float = 0.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    has_ground: bool = True
    """The ground is all with z <= 0."""
    joints: str = ""
    """Further prims of the stage below /World; MuJoCo has none of them."""

    @property
    def usd(self) -> str:
        """The content of a USD layer in metres and kilograms with Z up; bodies are /World/<name>."""
        strength = float(np.linalg.norm(self.gravity))
        direction = tuple(np.asarray(self.gravity) / strength) if strength else (0.0, 0.0, -1.0)
        ground = f'def Plane "ground" {COLLIDER} {{\nuniform token axis = "Z"\n{BOUND}\n}}\n' if self.has_ground else ""
        return (
            'def Xform "World" {\n'
            'def PhysicsScene "scene" {\n'
            f"vector3f physics:gravityDirection = {_text(direction)}\n"
            f"float physics:gravityMagnitude = {strength!r}\n}}\n"
            'def Material "material" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {\n'
            f"float physics:staticFriction = {self.friction!r}\nfloat physics:dynamicFriction = {self.friction!r}\n"
            f"float physics:restitution = {self.restitution!r}\n"
            f"float newton:torsionalFriction = {self.torsional_friction!r}\n"
            f"float newton:rollingFriction = {self.rolling_friction!r}\n}}\n"
            + ground
            + "".join(usd_of(solid) for solid in self.solids)
            + self.joints
            + "}\n"
        )

    def mjcf(self, time_step: float = 1.0 / 240.0) -> str:
        """The model of MuJoCo: elliptic cones, restitution left out."""
        ground = '<geom type="plane" size="0 0 1"/>\n' if self.has_ground else ""
        return (
            f'<mujoco><option timestep="{time_step!r}" gravity="{_spaced(self.gravity)}" cone="elliptic" '
            'integrator="implicitfast"/>\n'
            f'<default><geom friction="{_spaced((self.friction, self.torsional_friction, self.rolling_friction))}" '
            f'condim="{6 if self.torsional_friction or self.rolling_friction else 3}"/></default>\n<worldbody>\n'
            + ground
            + "".join(mjcf_of(solid) for solid in self.solids)
            + "</worldbody></mujoco>\n"
        )


COLLIDER = '(prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])'
BOUND = "rel material:binding:physics = </World/material>"


def _text(values) -> str:
    """A tuple of USD."""
    return "(" + ", ".join(repr(float(value)) for value in values) + ")"


def _spaced(values) -> str:
    """Numbers as XML attributes of MuJoCo have them."""
    return " ".join(repr(float(value)) for value in values)


def usd_of(solid: Solid) -> str:
    """A body, or below another prim a collider at a place on it where the solid has no mass."""
    x, y, z, w = solid.quaternion
    place = (
        f"double3 xformOp:translate = {_text(solid.position)}\nquatd xformOp:orient = {_text((w, x, y, z))}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
    )
    if not solid.mass:
        return f'def Xform "{solid.name}" {{\n{place}{_shape_of(solid)}}}\n'
    return (
        f'def Xform "{solid.name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{\n'
        f"float physics:mass = {solid.mass!r}\npoint3f physics:centerOfMass = {_text(solid.center)}\n"
        f"float3 physics:diagonalInertia = {_text(solid.inertia)}\n"
        f"vector3f physics:velocity = {_text(solid.velocity)}\n"
        f"vector3f physics:angularVelocity = {_text(np.degrees(solid.turning))}\n"
        f"{place}{_shape_of(solid)}}}\n"
    )


def _shape_of(solid: Solid) -> str:
    if solid.kind == BOX:
        edges = _text(2.0 * np.array(solid.size))
        return (
            f'def Cube "shape" {COLLIDER} {{\ndouble size = 1\nfloat3 xformOp:scale = {edges}\n'
            f'uniform token[] xformOpOrder = ["xformOp:scale"]\n{BOUND}\n}}\n'
        )
    if solid.kind == SPHERE:
        return f'def Sphere "shape" {COLLIDER} {{\ndouble radius = {solid.size[0]!r}\n{BOUND}\n}}\n'
    radius, half_height = solid.size
    return (
        f'def {solid.kind.capitalize()} "shape" {COLLIDER} {{\nuniform token axis = "Z"\n'
        f"double radius = {radius!r}\ndouble height = {2.0 * half_height!r}\n{BOUND}\n}}\n"
    )


def mjcf_of(solid: Solid) -> str:
    """A body, or a geom where the solid has no mass."""
    x, y, z, w = solid.quaternion
    place = f'pos="{_spaced(solid.position)}" quat="{_spaced((w, x, y, z))}"'
    geom = f'<geom type="{solid.kind}" size="{_spaced(solid.size)}"'
    if not solid.mass:
        return f"{geom} {place}/>\n"
    return (
        f'<body name="{solid.name}" {place}><freejoint/>{geom}/>'
        f'<inertial pos="0 0 0" mass="{solid.mass!r}" diaginertia="{_spaced(solid.inertia)}"/></body>\n'
    )
