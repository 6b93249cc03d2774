"""Mass, centre of mass and inertia of a body, with the precedence of UsdPhysics.

On the body: an authored mass is the whole mass; else its enabled colliders give it. Of each collider: its mass, else
its density, else the density of the body, else that of its physics material, else 1000 kg/m^3, times its volume. Centre
of mass and inertia are as authored, else those of the colliders, scaled to the whole mass. `ComputeMassProperties` of
UsdPhysics has the same rules, in single precision, and leaves principal axes undefined where they are not authored;
tests compare the two. One rule is that of MuJoCo: what collides with nothing there has a mass, so colliders of its
schema count where they are disabled, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdShade

from warp_artic.description.diagnostic import Severity
from warp_artic.description.pose import matrix_from_quaternion
from warp_artic.description.validate import inertia_findings
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import UNBOUNDED, Attributes
from warp_artic.usd.placement import Placement, Placements, nearest_rotation
from warp_artic.usd.read_solid import read_solid
from warp_artic.usd.report import Reading

WATER = 1000.0
"""Density where none is authored [kg/m^3]."""
FALLBACK_RADIUS = 0.1
"""Radius of the ball that stands for a body with a mass but neither inertia nor colliders, as in UsdPhysics [m]."""

GOES_ON = 1.0
"""Stands for a value that was reported as an error, so that further errors are found."""


@dataclass(frozen=True)
class MassProperties:
    """Of a body in its link frame, or of a collider in that of its body."""

    mass: float
    """[kg]"""
    center: np.ndarray
    """[m], shape (3)."""
    inertia: np.ndarray
    """About the centre [kg m^2], shape (3, 3)."""

    def compact(self) -> tuple[float, ...]:
        """The inertia as xx, xy, xz, yy, yz, zz."""
        return tuple(float(self.inertia[row, column]) for row in range(3) for column in range(row, 3))


def read_mass(prim: Usd.Prim, colliders: list[Usd.Prim], attributes: Attributes, placements: Placements):
    """The mass properties of a body, or None, and an error, where they cannot be known."""
    placement = placements.of(prim)
    if placement is None:
        return None
    mass = _positive(prim, "physics:mass", units.MASS, attributes)
    center = _center(prim, placement.scale, attributes)
    inertia = _inertia(prim, attributes)
    density = _positive(prim, "physics:density", units.DENSITY, attributes)
    colliders = [one for one in colliders if _has_mass(one, attributes)]
    parts, errors = [], len(attributes.report.errors)
    if mass is None or center is None or inertia is None:
        parts = _parts(prim, placement, density, colliders, attributes, placements)
    if mass is None and not parts:
        if len(attributes.report.errors) == errors:  # else its colliders have been reported
            text = "has no mass: author physics:mass, or put an enabled collider with a volume on or below it"
            attributes.report.error("mass", prim.GetPath(), text)
        return None
    shape = _sum(parts) if parts else None
    properties = _combine(prim, mass, center, None if inertia is None else inertia.tensor, shape, attributes)
    authored = {
        "mass": None if mass is None else "physics:mass",
        "center_of_mass": None if center is None else "physics:centerOfMass",
        "inertia": None if inertia is None else inertia.name,
    }
    _note_sources(prim, properties, authored, shape is not None, attributes)
    return properties


def _has_mass(collider: Usd.Prim, attributes: Attributes) -> bool:
    """Whether a collider is enabled, or is one of MuJoCo."""
    is_enabled = attributes.flag(collider, "physics:collisionEnabled", True)
    return is_enabled or tokens.MJC_COLLISION in collider.GetPrimTypeInfo().GetAppliedAPISchemas()


def _note_sources(
    prim: Usd.Prim, found: MassProperties, authored: dict[str, str | None], has_shape: bool, attributes: Attributes
) -> None:
    """Note where mass, centre and inertia came from: an attribute, or the colliders, or else nothing."""
    path = str(prim.GetPath())
    readings = attributes.report.readings.setdefault(path, [])
    for field, quantity, value in (
        ("mass", units.MASS, found.mass),
        ("center_of_mass", units.DISTANCE, found.center),
        ("inertia", units.INERTIA, found.compact()),
    ):
        name = authored[field]
        own = None if name is None else _plain(attributes.authored(prim, name))
        if own is not None:
            readings.append(Reading(field, f"{path}.{name}", own, quantity.authored, _plain(value), quantity.si))
        elif name is None and has_shape:
            readings.append(Reading(field, path, None, "", _plain(value), quantity.si))


def _plain(value) -> float | tuple[float, ...] | None:
    """A number, or several, in plain Python; None for a value that is neither, and has been reported."""
    try:
        return tuple(map(float, value)) if hasattr(value, "__len__") else float(value)
    except (TypeError, ValueError):
        return None


def _combine(prim, mass, center, inertia, shape: MassProperties | None, attributes: Attributes):
    """What is authored, completed by what the colliders give."""
    if mass is None:
        mass = shape.mass
    if inertia is None and shape is not None:
        inertia = shape.inertia * (mass / shape.mass)
        if center is not None:
            inertia = inertia + mass * _lever(shape.center - center)
    if inertia is None:
        inertia = _fallback_inertia(prim, mass, attributes)
    if center is None:
        center = np.zeros(3) if shape is None else shape.center
    return MassProperties(mass, center, inertia)


def _fallback_inertia(prim: Usd.Prim, mass: float, attributes: Attributes) -> np.ndarray:
    name = "physics:diagonalInertia"
    authored = attributes.authored(prim, name)
    if authored is not None:
        text = f"is {authored}: all three moments must be positive, or unauthored on a body with colliders"
        attributes.report.error("inertia", f"{prim.GetPath()}.{name}", text)
    else:
        text = f"has neither an inertia nor colliders: that of a ball of radius {FALLBACK_RADIUS} m is used"
        attributes.report.warn("inertia-missing", prim.GetPath(), text)
    return 0.4 * mass * FALLBACK_RADIUS**2 * np.eye(3)


def _positive(prim: Usd.Prim, name: str, quantity, attributes: Attributes) -> float | None:
    """A positive number, or None where it is zero or not authored, which means unset."""
    value = attributes.number(prim, name, None, quantity)
    if value is None:  # on an authored value, an error has been reported
        return None if attributes.authored(prim, name) is None else GOES_ON
    if value < 0.0:
        attributes.report.error("mass", f"{prim.GetPath()}.{name}", f"is {value:g} {quantity.si}, must be positive")
        return GOES_ON
    return value or None


def _center(prim: Usd.Prim, scale: np.ndarray, attributes: Attributes) -> np.ndarray | None:
    """An authored centre of mass in the unscaled frame of the prim [m]; negative infinity means unset."""
    value = attributes.authored(prim, "physics:centerOfMass")
    if value is None or _is_unset(value):
        return None
    center = attributes.vector(prim, "physics:centerOfMass", (0.0, 0.0, 0.0))
    return scale * np.array(center)


def _is_unset(value) -> bool:
    try:
        return all(component == -np.inf for component in value)
    except TypeError:
        return False


@dataclass(frozen=True)
class _Inertia:
    """An authored inertia."""

    tensor: np.ndarray
    """[kg m^2], shape (3, 3)."""
    name: str
    """Of its attribute."""

    @property
    def compact(self) -> tuple[float, ...]:
        """The components xx, xy, xz, yy, yz, zz."""
        return MassProperties(1.0, np.zeros(3), self.tensor).compact()


def _inertia(prim: Usd.Prim, attributes: Attributes) -> _Inertia | None:
    """An authored inertia in the axes of the prim [kg m^2]; a zero diagonal means unset."""
    tensor = _newton_inertia(prim, attributes)
    name = "newton:inertia"
    diagonal = attributes.vector(prim, "physics:diagonalInertia", None, units.INERTIA)
    if diagonal is None:  # on an authored value, an error has been reported
        diagonal = 3 * (0.0 if attributes.authored(prim, "physics:diagonalInertia") is None else GOES_ON,)
    R = matrix_from_quaternion(attributes.quaternion(prim, "physics:principalAxes", (0.0, 0.0, 0.0, 1.0), True))
    if any(diagonal):
        authored = R @ np.diag(diagonal) @ R.T
        if tensor is None:
            tensor, name = authored, "physics:diagonalInertia"
        elif np.abs(authored - tensor).max() > 1e-4 * np.abs(tensor).max():
            text = f"gives {_show(authored)} kg m^2, but newton:inertia gives {_show(tensor)}, which is used"
            attributes.report.warn("dialects-differ", f"{prim.GetPath()}.physics:diagonalInertia", text)
    if tensor is None:
        return None
    authored = _Inertia(tensor, name)
    for finding in inertia_findings(f"{prim.GetPath()}.{name}", authored.compact):
        attributes.report.add(finding)
        if finding.severity is Severity.ERROR:
            return _Inertia(GOES_ON * np.eye(3), name)
    return authored


def _show(tensor: np.ndarray) -> str:
    """The components xx, xy, xz, yy, yz, zz of a tensor."""
    return "(" + ", ".join(f"{component:g}" for component in tensor[np.triu_indices(3)]) + ")"


def _newton_inertia(prim: Usd.Prim, attributes: Attributes) -> np.ndarray | None:
    """The tensor of NewtonMassAPI, in its order xx, yy, zz, xy, xz, yz."""
    name = "newton:inertia"
    value = attributes.authored(prim, name)
    if value is None:
        return None
    try:
        numbers = np.array(value, float).reshape(-1)
    except (TypeError, ValueError):
        numbers = np.zeros(1)
    if not len(numbers):
        return None
    if len(numbers) != 6 or not (np.abs(numbers) < UNBOUNDED).all():
        text = f"is {value}, must be six finite numbers"
        attributes.report.error("attribute-value", f"{prim.GetPath()}.{name}", text)
        return None
    xx, yy, zz, xy, xz, yz = (attributes.units.si(float(number), units.INERTIA) for number in numbers)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _parts(
    prim: Usd.Prim, placement: Placement, density: float | None, colliders, attributes, placements: Placements
) -> list[MassProperties]:
    """Mass properties of each collider with a volume, in the link frame."""
    meters = np.array([*placement.scale, 1.0])[:, None]
    parts = []
    for collider in colliders:
        solid = read_solid(collider, attributes)
        if solid is not None and placements.matrix(collider) is not None:
            X = placements.relative(collider, prim)
            if X is not None:
                X = meters * X
                parts.append(_part(collider, solid.transformed(X), X, density, attributes))
    return [part for part in parts if part is not None]


def _part(collider: Usd.Prim, solid, X: np.ndarray, body_density: float | None, attributes) -> MassProperties | None:
    """Mass properties of one collider whose axes are at X (4, 4) in the link frame."""
    if not solid.volume > 0.0:
        return None
    mass = _positive(collider, "physics:mass", units.MASS, attributes)
    own_density = _positive(collider, "physics:density", units.DENSITY, attributes)
    if mass is None:
        if attributes.authored(collider, "physics:mass") is not None:
            text = "is 0, which means unset: the mass is its volume times its density"
            attributes.report.note("mass-unset", f"{collider.GetPath()}.physics:mass", text)
        mass = solid.volume * (own_density or body_density or _material_density(collider, attributes) or WATER)
    center, inertia = solid.center, solid.gyration * mass
    own_center = _center(collider, np.ones(3), attributes)
    if own_center is not None:
        own_center = X[:3, :3] @ own_center + X[:3, 3]
        inertia = inertia + mass * _lever(own_center - center)
        center = own_center
    own_inertia = _inertia(collider, attributes)
    if own_inertia is not None:
        R = nearest_rotation(X[:3, :3] / np.linalg.norm(X[:3, :3], axis=0) * np.sign(np.linalg.det(X[:3, :3])))
        inertia = R @ own_inertia.tensor @ R.T
    return MassProperties(mass, center, inertia)


def _material_density(collider: Usd.Prim, attributes: Attributes) -> float | None:
    material, _ = UsdShade.MaterialBindingAPI(collider).ComputeBoundMaterial("physics")
    return _positive(material.GetPrim(), "physics:density", units.DENSITY, attributes) if material else None


def _sum(parts: list[MassProperties]) -> MassProperties:
    mass = sum(part.mass for part in parts)
    center = sum(part.mass * part.center for part in parts) / mass
    inertia = sum(part.inertia + part.mass * _lever(part.center - center) for part in parts)
    return MassProperties(mass, center, inertia)


def _lever(offset: np.ndarray) -> np.ndarray:
    """Inertia of a mass of one at an offset, shape (3, 3)."""
    return (offset @ offset) * np.eye(3) - np.outer(offset, offset)
