"""A stage with other values of its attributes, in a session layer that nobody else sees; the stage itself stays.

Prims are chosen by path expressions of OpenUSD, such as /World/arm//*{isa:PhysicsRevoluteJoint}.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Tf, Usd

from warp_artic.description.scene import Scene
from warp_artic.errors import StageError, did_you_mean
from warp_artic.usd.layer_file import check_output, write_layer
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.write_results import describe_layer

COLLECTION = "warpArticBatch"
NUMBERS = ("half", "float", "double", "int", "int64", "uint", "uint64")
VECTORS = (Gf.Vec2f, Gf.Vec2d, Gf.Vec3f, Gf.Vec3d, Gf.Vec3h, Gf.Vec4f, Gf.Vec4d)


@dataclass(frozen=True)
class Place:
    """One number of an attribute on a stage."""

    prim: str
    attribute: str
    component: int | None = None
    """Of a vector."""

    def __str__(self) -> str:
        return f"{self.prim}.{self.attribute}" + ("" if self.component is None else f"[{self.component}]")


class VariedStage:
    """A stage of a file whose variants and attributes are set in a session layer of its own.

    Args:
        stage: A file.
        variants: The selection of variant sets, by prim path and set: {("/World/robot", "hand"): "long"}.
        dialects: As `read_stage` has them.
    """

    def __init__(
        self, stage: str | os.PathLike, variants: Mapping[tuple[str, str], str] = {}, dialects: Sequence[str] = ()
    ):
        opened = open_stage(stage)
        for layer in opened.GetUsedLayers():
            if not layer.dirty:  # somebody may hold what the file had before it was written anew
                layer.Reload()
        self._session = Sdf.Layer.CreateAnonymous("batch.usda")
        self._stage = Usd.Stage.Open(opened.GetRootLayer(), self._session)
        self._stage.SetEditTarget(self._session)
        self._dialects = tuple(dialects)
        for (path, name), choice in variants.items():
            self._select(path, name, choice)

    def layer_hashes(self) -> dict[str, str]:
        """The SHA-256 of each file that the stage is composed of, by its place relative to the stage."""
        root = Path(self._stage.GetRootLayer().realPath).parent
        found = {}
        for layer in self._stage.GetUsedLayers(includeClipLayers=True):
            if layer.realPath:
                digest = hashlib.sha256(Path(layer.realPath).read_bytes()).hexdigest()
                found[os.path.relpath(layer.realPath, root)] = digest
        return dict(sorted(found.items()))

    def matching(self, expressions: str | Iterable[str]) -> tuple[str, ...]:
        """The paths of prims that match path expressions, in the order of the stage.

        Raises:
            StageError: An expression is none, or matches nothing.
        """
        found: set[str] = set()
        for text in (expressions,) if isinstance(expressions, str) else expressions:
            own = self._matching(text)
            if not own:
                raise StageError(f"{text}: no prim matches{did_you_mean(text, self._paths())}")
            found |= own
        return tuple(path for path in self._paths() if path in found)

    def value(self, place: Place) -> float | None:
        """The number that an attribute has now; None where it has none.

        Raises:
            StageError: There is no such attribute, or it is no number that can be varied.
        """
        attribute = self._attribute(place)
        value = attribute.Get()
        if attribute.GetNumTimeSamples() > 0:
            raise StageError(f"{place.prim}.{place.attribute}: has time samples, must have one value to be varied")
        is_vector = isinstance(value, VECTORS)
        if is_vector and (place.component is None or not 0 <= place.component < len(value)):
            raise StageError(
                f"{place.prim}.{place.attribute}: is a vector of {len(value)}; component must be 0 to {len(value) - 1}"
            )
        if not is_vector and value is not None and place.component is not None:
            raise StageError(f"{place}: is {value!r}, which has no components; leave component out")
        if value is None and place.component is None:
            if str(attribute.GetTypeName()) not in NUMBERS:
                raise StageError(f"{place}: is a {attribute.GetTypeName()}, must be a number")
            return None
        if not is_vector and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise StageError(f"{place.prim}.{place.attribute}: is {value!r}, must be a number")
        return float(value[place.component] if is_vector else value)

    def rounded(self, place: Place, values: np.ndarray) -> np.ndarray:
        """Numbers as an attribute keeps them, which has half, single or double precision, or integers."""
        attribute = self._attribute(place)
        name = str(attribute.GetTypeName().type.typeName).lower()
        if name in ("int", "int64", "uint", "uint64", "__int64", "long"):
            return np.rint(values)
        if name == "double" or name.endswith("d"):
            return values
        return values.astype(np.float16 if name.endswith(("half", "h")) else np.float32).astype(float)

    def scene(self, values: Mapping[Place, float]) -> Scene:
        """The scene with some attributes of other values.

        Raises:
            StageError: It cannot be simulated so.
        """
        before = {place: self._attribute(place) for place in values}
        try:
            for place, attribute in before.items():
                self._set(attribute, place, values[place], attribute.Get())
            return read_stage(self._stage, dialects=self._dialects)
        finally:
            for place in values:
                spec = self._session.GetAttributeAtPath(Sdf.Path(place.prim).AppendProperty(place.attribute))
                if spec is not None:
                    self._session.GetPrimAtPath(place.prim).RemoveProperty(spec)

    def attributes_of(self, prim: str) -> tuple[str, ...]:
        """The names of the attributes of a prim, those of its schemas among them."""
        found = self._stage.GetPrimAtPath(prim)
        return tuple(attribute.GetName() for attribute in found.GetAttributes()) if found else ()

    def check_output(self, output: str | os.PathLike, what: str) -> None:
        """Refuse a path that cannot take a layer made from the stage."""
        check_output(self._stage, output, what)

    def write_edits(
        self,
        values: Mapping[Place, float],
        variants,
        output: str | os.PathLike,
        about: str = "Values of one run of a batch",
    ) -> None:
        """Write values, and a selection of variants, as a layer over the stage; `about` is what it says of itself."""
        layer = Sdf.Layer.CreateAnonymous(".usda")
        root = self._stage.GetRootLayer()
        codes = [root.startTimeCode, root.endTimeCode] if root.HasStartTimeCode() else [0.0, 0.0]
        stage = Usd.Stage.Open(layer)
        for (path, name), choice in variants.items():
            stage.OverridePrim(path).GetVariantSet(name).SetVariantSelection(choice)
        for place, value in values.items():
            prim = stage.OverridePrim(place.prim)
            kind = self._attribute(place).GetTypeName()
            attribute = prim.CreateAttribute(place.attribute, kind, custom=False)
            authored = attribute.Get()
            self._set(attribute, place, value, self._attribute(place).Get() if authored is None else authored)
        del stage  # which would look for the stage from where the layer is now
        describe_layer(layer, self._stage, codes, Path(output), about)
        write_layer(layer, output)

    def _select(self, path: str, name: str, choice: str) -> None:
        prim = self._stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path) else None
        if not prim:
            raise StageError(f"{path}: there is no such prim{did_you_mean(path, self._paths())}")
        sets = prim.GetVariantSets()
        if name not in sets.GetNames():
            raise StageError(f"{path}: has no variant set {name!r}; there are {', '.join(sets.GetNames()) or 'none'}")
        choices = sets.GetVariantSet(name).GetVariantNames()
        if choice not in choices:
            raise StageError(f"{path}{{{name}}}: has no variant {choice!r}; there are {', '.join(choices)}")
        sets.SetSelection(name, choice)

    def _paths(self) -> list[str]:
        predicate = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
        return [str(prim.GetPath()) for prim in Usd.PrimRange(self._stage.GetPseudoRoot(), predicate)][1:]

    def _matching(self, text: str) -> set[str]:
        if Sdf.Path.IsValidPathString(text):
            prim = self._stage.GetPrimAtPath(text) if text.startswith("/") else None
            return {text} if prim else set()
        try:
            expression = Sdf.PathExpression(text)
        except Tf.ErrorException:
            expression = None
        if not expression:
            raise StageError(f"{text}: is no path expression, such as /World/arm//*{{isa:PhysicsRevoluteJoint}}")
        holder = self._stage.OverridePrim("/warpArticBatchHolder")
        collection = Usd.CollectionAPI.Apply(holder, COLLECTION)
        collection.CreateMembershipExpressionAttr().Set(expression.MakeAbsolute(Sdf.Path.absoluteRootPath))
        predicate = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
        query = collection.ComputeMembershipQuery()
        found = Usd.CollectionAPI.ComputeIncludedPaths(query, self._stage, predicate)
        self._stage.RemovePrim("/warpArticBatchHolder")
        return {str(path) for path in found if path.IsPrimPath() and str(path) != "/warpArticBatchHolder"}

    def _attribute(self, place: Place) -> Usd.Attribute:
        prim = self._stage.GetPrimAtPath(place.prim)
        if not prim:
            raise StageError(f"{place.prim}: there is no such prim{did_you_mean(place.prim, self._paths())}")
        if prim.IsInstanceProxy() or prim.IsInPrototype():
            raise StageError(f"{place.prim}: is inside an instance, where nothing can be set; make it no instance")
        attribute = prim.GetAttribute(place.attribute)
        if not attribute:
            names = self.attributes_of(place.prim)
            raise StageError(
                f"{place.prim}: has no attribute {place.attribute!r}{did_you_mean(place.attribute, names)}"
            )
        return attribute

    @staticmethod
    def _set(attribute: Usd.Attribute, place: Place, value: float, now) -> None:
        """Set an attribute, or one component of a vector of which the others stay as they are now."""
        if place.component is None:
            attribute.Set(int(value) if isinstance(now, int) else float(value))
            return
        vector = type(now)(now)
        vector[place.component] = value
        attribute.Set(vector)
