"""Authors what colliders touch: physics materials and a ground."""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Sdf, Usd, UsdGeom

from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.edit import Edit, prim_at, prim_of_type

BINDING = "material:binding:physics"
FLOAT = Sdf.ValueTypeNames.Float


def physics_material(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    static_friction: float | None = None,
    dynamic_friction: float | None = None,
    restitution: float | None = None,
    density: float | None = None,
    bind: Sequence[str | Sdf.Path] = (),
) -> Usd.Prim:
    """A Material at a path with PhysicsMaterialAPI, bound to prims, which have it for all colliders at and below them.

    Units: density [mass/distance^3]; friction and restitution have none.
    """
    prim_of_type(stage, path, "Material")
    edit = Edit(path)
    edit.apply(tokens.MATERIALS[0])
    frictions = {"staticFriction": static_friction, "dynamicFriction": dynamic_friction}
    edit.not_negative("physics:", False, FLOAT, **frictions, density=density)
    edit.number("physics:restitution", restitution, least=0.0, most=1.0, kind=FLOAT)
    bound = [prim_at(stage, one) for one in edit.listed("bind", [bind] if isinstance(bind, (str, Sdf.Path)) else bind)]
    material = edit.write(stage.DefinePrim(path, "Material"))
    for prim in bound:
        own = Edit(prim.GetPath())
        bind_physics_material(stage, own, path)
        own.write(prim)
    return material


def ground_plane(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    height: float | None = None,
    size: float | None = None,
    material: str | Sdf.Path | None = None,
) -> Usd.Prim:
    """A Plane at a path with PhysicsCollisionAPI that looks up, bound to a material: all below it is solid.

    Units: height along the up axis of the stage, in the space of its parent [distance]; size of what is drawn of it
    [distance], as it has no ends.
    """
    prim_of_type(stage, path, "Plane")
    found = stage.GetPrimAtPath(Sdf.Path(str(path)))
    if height is not None and found and found.IsA(UsdGeom.Xformable) and not UsdGeom.XformCommonAPI(found):
        raise StageError(f"{path}.xformOpOrder: has transforms of its own, to which no height can be written")
    edit = Edit(path)
    edit.apply(tokens.COLLISION)
    up = str(UsdGeom.GetStageUpAxis(stage))
    edit.word("axis", up, ("X", "Y", "Z"))
    for name in ("width", "length"):
        edit.number(name, size, least=0.0)
    if size == 0.0:
        edit.refuse("width", "is 0, must be above 0")
    (place,) = edit.finite("xformOp:translate", [0.0 if height is None else height])
    if material is not None:
        bind_physics_material(stage, edit, material)
    prim = edit.write(stage.DefinePrim(path, "Plane"))
    if height is not None:
        UsdGeom.XformCommonAPI(prim).SetTranslate([place * (axis == up) for axis in ("X", "Y", "Z")])
    return prim


def bind_physics_material(stage: Usd.Stage, edit: Edit, material: str | Sdf.Path) -> None:
    """Bind a material to the prim of an edit, for physics alone."""
    if prim_at(stage, material).GetTypeName() != "Material":
        raise StageError(f"{edit.path}.{BINDING}: leads to {material}, which is no Material")
    edit.apply("MaterialBindingAPI")
    edit.targets(BINDING, [Sdf.Path(str(material))])
