"""Layers of a stage that are in other units than the stage, or have another up axis: USD converts nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory

LENGTH, MASS, UP = UsdGeom.Tokens.metersPerUnit, UsdPhysics.Tokens.kilogramsPerUnit, UsdGeom.Tokens.upAxis
SAME = 1e-3
"""How far, relative to it, a scale may be from the one that makes up for a unit, and a direction from an axis."""
AXES = {"X": Gf.Vec3d.XAxis(), "Y": Gf.Vec3d.YAxis(), "Z": Gf.Vec3d.ZAxis()}


def report_layer_units(stage: Usd.Stage, inventory: Inventory, attributes: Attributes) -> None:
    """Tell of each layer with bodies, colliders or joints that is in other units what is read otherwise, and where."""
    here = {
        LENGTH: UsdGeom.GetStageMetersPerUnit(stage),
        MASS: UsdPhysics.GetStageKilogramsPerUnit(stage),
        UP: str(UsdGeom.GetStageUpAxis(stage)),
    }
    own = {stage.GetRootLayer(), *(set(stage.GetLayerStack(True)) - set(stage.GetLayerStack(False)))}
    others = {
        layer: said for layer in stage.GetUsedLayers() if layer not in own and (said := _differences(layer, here))
    }
    if not others:
        return
    cache, found = UsdGeom.XformCache(attributes.time), {}
    for prim in _simulated(inventory):
        for layer in {spec.layer for spec in prim.GetPrimStack()} & others.keys():
            top = _highest(prim, layer)
            found.setdefault(layer, {}).setdefault(top.GetPath(), top)
    for layer, tops in found.items():
        left = {
            path: _not_made_up(others[layer], here, cache.GetLocalToWorldTransform(top)) for path, top in tops.items()
        }
        path = next((path for path, names in left.items() if names), next(iter(left)))
        said = " and ".join(
            f"{name} {value:g}" if name != UP else f"{name} {value}" for name, value in others[layer].items()
        )
        text = f"is authored in {layer.GetDisplayName()} with {said}, and USD converts nothing: "
        if left[path]:
            attributes.report.warn("layer-units", path, f"{text}it is read in units and axes of the stage")
        elif LENGTH in others[layer]:
            text += "its scale makes up for that, but gains, densities and the like are read in units of the stage"
            attributes.report.note("layer-units", path, text)


def _simulated(inventory: Inventory) -> Iterator[Usd.Prim]:
    """Prims with something that has a unit."""
    for group in (inventory.bodies, inventory.held, inventory.joints, inventory.elastic_bodies):
        yield from group.values()
    for colliders in inventory.colliders.values():
        yield from colliders


def _differences(layer: Sdf.Layer, here: dict[str, object]) -> dict[str, object]:
    """What a layer says otherwise."""
    said = {name: layer.pseudoRoot.GetInfo(name) for name in here if layer.pseudoRoot.HasInfo(name)}
    numbers = {name: value for name, value in said.items() if name != UP}
    same = {name for name, value in numbers.items() if math.isclose(value, here[name], rel_tol=SAME)}
    return {name: value for name, value in said.items() if name not in same and value != here[name]}


def _highest(prim: Usd.Prim, layer: Sdf.Layer) -> Usd.Prim:
    """The highest prim above one, or itself, that the layer has opinions of, without a gap."""
    while (parent := prim.GetParent()) and any(spec.layer == layer for spec in parent.GetPrimStack()):
        if parent.IsPseudoRoot():
            break
        prim = parent
    return prim


def _not_made_up(said: dict[str, object], here: dict[str, object], matrix: Gf.Matrix4d) -> set[str]:
    """Which differences the world transform of a prim leaves."""
    left = set(said)
    scale = abs(matrix.GetDeterminant3()) ** (1.0 / 3.0)
    if LENGTH in said and math.isclose(scale * here[LENGTH], said[LENGTH], rel_tol=SAME):
        left.discard(LENGTH)
    if UP in said and said[UP] in AXES and here[UP] in AXES:
        up = matrix.TransformDir(AXES[said[UP]]).GetNormalized()
        if Gf.Dot(up, AXES[here[UP]]) > 1.0 - SAME:
            left.discard(UP)
    return left
