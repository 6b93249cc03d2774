"""What a collider is like to touch: its physics material, and the distances at which it is touched.

A collider without a physics material has that which is bound to the physics scene, else the one of PhysX: friction 0.5,
no restitution. Distances are, in each dialect,

    PhysX     rests at restOffset, is looked at from contactOffset
    Newton    rests at contactMargin, is looked at from contactMargin + contactGap
    MuJoCo    rests at margin, is looked at from margin + gap, as since its version 3.9

and those of two shapes are added. Where none is authored, a collider rests at its surface and is looked at from a
fiftieth of its size beyond, 2 cm at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pxr import Usd, UsdGeom, UsdShade

from warp_artic.description.contact_pair import BOUNCE_THRESHOLD, DEPENETRATION_SPEED
from warp_artic.description.reach import ball_of
from warp_artic.description.shape import Shape
from warp_artic.description.surface import CombineMode, Surface
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import UNBOUNDED, Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import SMALLEST, Source, resolve

SURFACE_FIELDS: dict[str, tuple[Source, ...]] = {
    "static_friction": (Source("physics:staticFriction", units.NUMBER),),
    "dynamic_friction": (Source("physics:dynamicFriction", units.NUMBER),),
    "torsional_friction": (
        Source("newton:torsionalFriction", units.DISTANCE),
        Source("mjc:torsionalfriction", units.DISTANCE),
    ),
    "rolling_friction": (
        Source("newton:rollingFriction", units.DISTANCE),
        Source("mjc:rollingfriction", units.DISTANCE),
    ),
    "restitution": (Source("physics:restitution", units.NUMBER),),
    "stiffness": (
        Source("newton:contactStiffness", units.LINEAR_STIFFNESS, unbounded=True, unset_below=SMALLEST),
        Source("physxMaterial:compliantContactStiffness", units.LINEAR_STIFFNESS, unset_below=SMALLEST),
    ),
    "damping": (
        Source("newton:contactDamping", units.LINEAR_DAMPING, unbounded=True, unset_below=0.0),
        Source("physxMaterial:compliantContactDamping", units.LINEAR_DAMPING),
    ),
}
"""Fields of a material."""
MODES = {"friction_mode": "friction", "restitution_mode": "restitution", "damping_mode": "damping"}
"""Which `physxMaterial:*CombineMode` gives them."""
WORDS = tuple(mode.value for mode in CombineMode)
REST_FIELD = (
    Source("newton:contactMargin", units.DISTANCE),
    Source("physxCollision:restOffset", units.DISTANCE, unbounded=True, unset_below=-UNBOUNDED),
)
GAP_FIELD = (Source("newton:contactGap", units.DISTANCE, unbounded=True, unset_below=0.0),)
CONTACT_FIELD = (Source("physxCollision:contactOffset", units.DISTANCE, unbounded=True, unset_below=-UNBOUNDED),)
"""Offsets; negative infinity means unset."""
MJC_MARGIN, MJC_GAP = (Source("mjc:margin", units.DISTANCE),), (Source("mjc:gap", units.DISTANCE),)
CONTACT_DIMENSION = "mjc:condim"
MJC_TURN = {"torsional_friction": 0.005, "rolling_friction": 0.0001}
"""What MuJoCo takes where none is authored [m]."""
PATCH_FIELD = (Source("physxCollision:minTorsionalPatchRadius", units.DISTANCE),)
BODY_FIELDS = {
    "depenetration_speed": (
        Source("physxRigidBody:maxDepenetrationVelocity", units.LINEAR_VELOCITY, unbounded=True, unset_below=SMALLEST),
    )
}
SCENE_FIELDS = {
    "bounce_threshold": (Source("physxScene:bounceThreshold", units.LINEAR_VELOCITY, unbounded=True, unset_below=0.0),)
}
WIDEST = 0.02
"""How far from a shape contacts are looked at at most, where nothing is authored [m]."""
SHARE = 0.02
"""The same, relative to its size."""
GOES_ON = Surface()
"""Stands for a surface that was reported as an error."""


class Materials:
    """The surfaces of the physics materials of a stage."""

    def __init__(self, scene: Usd.Prim | None, inventory: Inventory, attributes: Attributes):
        self.inventory, self.attributes = inventory, attributes
        self.known: dict[Usd.Prim, Surface | None] = {}
        self.fallback: Surface | None = None
        if scene is not None:
            (self.fallback,) = self.of([scene])

    def of(self, colliders: Sequence[Usd.Prim]) -> list[Surface | None]:
        """The surface of the material of each collider, else that of the physics scene; None where there is none."""
        if not colliders:
            return []
        materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(list(colliders), "physics")
        return [self._of_material(one.GetPrim()) if one else self.fallback for one in materials]

    def report_subsets(self, colliders: Sequence[Usd.Prim]) -> None:
        """Say of which meshes faces have a physics material of their own, and what is taken for all of them."""
        for mesh in colliders:
            subsets = UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets() if mesh.IsA(UsdGeom.Mesh) else ()
            if not subsets:
                continue
            prims = [mesh, *(subset.GetPrim() for subset in subsets)]
            materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, "physics")
            own, *others = [one.GetPrim() if one and self._is_physical(one.GetPrim()) else None for one in materials]
            bound = {prim.GetName(): str(one.GetPath()) for prim, one in zip(prims[1:], others) if one and one != own}
            if bound:
                told = ", ".join(f"{material} of {name}" for name, material in bound.items())
                used = Surface() if self.fallback is None else self.fallback
                instead = f"friction {used.dynamic_friction:g} and restitution {used.restitution:g} are taken"
                instead = instead if own is None else f"{own.GetPath()} is taken"
                text = f"physics materials of subsets of its faces do not count: {told}; {instead} for all of it"
                self.attributes.report.warn("contact-subset", mesh.GetPath(), text)

    def _is_physical(self, material: Usd.Prim) -> bool:
        return any(self.inventory.has_schema(material, schema) for schema in tokens.MATERIALS)

    def _of_material(self, material: Usd.Prim) -> Surface | None:
        if material not in self.known:
            self.known[material] = read_surface(material, self.attributes) if self._is_physical(material) else None
        own = self.known[material]
        return self.fallback if own is None else own


def read_surface(material: Usd.Prim, attributes: Attributes) -> Surface:
    """The surface of a physics material; an error where it cannot be."""
    values, is_right = {"static_friction": 0.0, "dynamic_friction": 0.0}, True
    for name, sources in SURFACE_FIELDS.items():
        reading = resolve(attributes, material, name, sources)
        if reading is None:
            continue
        values[name] = reading.value
        bound = {"stiffness": math.inf, "restitution": 1.0}.get(name, UNBOUNDED)
        if not 0.0 <= reading.value <= bound:
            allowed = "from 0 to 1" if name == "restitution" else "finite and not negative"
            attributes.report.error("contact-material", reading.attribute, f"is {reading.found}, must be {allowed}")
            is_right = False
    words = {
        field: attributes.token(material, f"physxMaterial:{name}CombineMode", "", WORDS)
        for field, name in MODES.items()
    }
    modes = {field: CombineMode(word) for field, word in words.items() if word}
    return Surface(**values, **modes) if is_right else GOES_ON


def on_collider(surface: Surface, collider: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Surface:
    """The surface of a collider, which has its own say in some of it.

    In the MuJoCo dialect it has the dimension of contacts, which is three unless it is authored, and torsional and
    rolling friction also where its material says nothing of them. In that of PhysX friction acts on a patch against
    turning.
    """
    patch = resolve(attributes, collider, "patch_radius", PATCH_FIELD)
    if patch is not None and patch.value > 0.0:
        surface = replace(surface, patch_radius=patch.value)
    of_mujoco = 3.0 if inventory.has_schema(collider, tokens.MJC_COLLISION) else 0.0
    dimension = int(attributes.number(collider, CONTACT_DIMENSION, of_mujoco))
    if dimension == 0:
        return surface
    turns = {name: fallback for name, fallback in MJC_TURN.items() if getattr(surface, name) is None}
    return replace(surface, **turns, dimension=dimension)


def read_offsets(collider: Usd.Prim, shape: Shape, attributes: Attributes) -> tuple[float, float]:
    """How far from a shape contacts are looked at, and how far from it they rest [m]; an error where that cannot be."""

    def value(field: str, sources: tuple[Source, ...]):
        reading = resolve(attributes, collider, field, sources)
        return None if reading is None else reading.value

    window = min(WIDEST, 2.0 * SHARE * ball_of(shape)[1])
    rest, gap, contact = value("rest", REST_FIELD), value("gap", GAP_FIELD), value("contact", CONTACT_FIELD)
    margin, mjc_gap = value("margin", MJC_MARGIN), value("mjc_gap", MJC_GAP)
    if rest is None and gap is None and contact is None and (margin is not None or mjc_gap is not None):
        rest, gap = margin, mjc_gap or window
    rest = rest or 0.0
    if gap is not None:
        contact = rest + gap
    elif contact is None:
        contact = rest + window
    if not -math.inf < rest <= contact < math.inf:
        text = (
            f"is touched from {contact:g} m on and rests at {rest:g} m; the first must be finite, and not the smaller"
        )
        attributes.report.error("contact-offset", collider.GetPath(), text)
        return window, 0.0
    return contact, rest


def read_rest_offset(collider: Usd.Prim, attributes: Attributes) -> float:
    """How far from a mesh that deforms contacts rest [m]; an error where that is not finite."""
    reading = resolve(attributes, collider, "rest", REST_FIELD)
    if reading is None or math.isfinite(reading.value):
        return 0.0 if reading is None else reading.value
    attributes.report.error("contact-offset", reading.attribute, f"is {reading.found}, must be finite")
    return 0.0


def read_depenetration_speed(body: Usd.Prim | None, attributes: Attributes) -> float:
    """How fast a body may be pushed out of another one [m/s]."""
    if body is None:
        return math.inf
    reading = resolve(attributes, body, "depenetration_speed", BODY_FIELDS["depenetration_speed"])
    return DEPENETRATION_SPEED if reading is None else reading.value


def read_bounce_threshold(scene: Usd.Prim | None, attributes: Attributes) -> float:
    """The speed above which contacts bounce [m/s]."""
    reading = (
        None if scene is None else resolve(attributes, scene, "bounce_threshold", SCENE_FIELDS["bounce_threshold"])
    )
    return BOUNCE_THRESHOLD if reading is None or math.isinf(reading.value) else reading.value
