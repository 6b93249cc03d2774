"""An edit of one prim: every value is checked before the first one is written, so that an error leaves the stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pxr import Sdf, Usd

from warp_artic.description.iterations import wrong_iterations
from warp_artic.errors import SettingsError, StageError

DOUBLE, DOUBLES = Sdf.ValueTypeNames.Double, Sdf.ValueTypeNames.DoubleArray
TOKEN, TOKENS = Sdf.ValueTypeNames.Token, Sdf.ValueTypeNames.TokenArray
INT, INTS = Sdf.ValueTypeNames.Int, Sdf.ValueTypeNames.IntArray
INFINITE = math.inf


class Edit:
    """Values for a prim, from None (left as it is) to whatever the attribute takes; `write` authors them."""

    def __init__(self, path: str | Sdf.Path):
        self.path = str(path)
        self._schemas: list[str] = []
        self._values: list[tuple[str, Sdf.ValueTypeName, object, bool]] = []
        self._targets: list[tuple[str, list[Sdf.Path]]] = []

    def apply(self, schema: str) -> None:
        """Apply a schema, with its instance after a colon if it has one."""
        self._schemas.append(schema)

    def number(
        self,
        name: str,
        value: float | None,
        least: float = -INFINITE,
        most: float = INFINITE,
        infinite: bool = False,
        kind: Sdf.ValueTypeName = DOUBLE,
        uniform: bool = False,
    ) -> None:
        """A number in bounds; infinity is one only where `infinite`."""
        if value is not None:
            number = self._finite(name, value, infinite)
            if not least <= number <= most:
                allowed = f"from {least:g} to {most:g}" if most < INFINITE else f"at least {least:g}"
                self.refuse(name, f"is {number:g}, must be {allowed}")
            self._values.append((name, kind, number, uniform))

    def not_negative(self, prefix: str, infinite: bool, kind: Sdf.ValueTypeName = DOUBLE, **values) -> None:
        """Numbers of at least 0 by the names of their attributes, without what they all begin with."""
        for name, value in values.items():
            self.number(f"{prefix}{name}", value, least=0.0, infinite=infinite, kind=kind)

    def numbers(self, name: str, values: Sequence[float] | None, count: int, uniform: bool = False) -> None:
        """A finite number for each of some terms."""
        if values is not None:
            numbers = self.finite(name, values)
            if len(numbers) != count:
                self.refuse(name, f"has {len(numbers)} numbers for {count} terms, must have one for each")
            self._values.append((name, DOUBLES, numbers, uniform))

    def limits(self, lower_name: str, lower: float | None, upper_name: str, upper: float | None) -> None:
        """Two bounds, either may be infinite."""
        self.number(lower_name, lower, infinite=True)
        self.number(upper_name, upper, infinite=True)
        if lower is not None and upper is not None and lower > upper:
            self.refuse(lower_name, f"is {lower:g}, must not be above {upper_name}, {upper:g}")

    def iterations(self, name: str, value: int | None, field: str) -> None:
        """A count of iterations, of which `description.iterations` has the range."""
        if value is not None:
            if wrong := wrong_iterations(field, value):
                self.refuse(name, wrong)
            self._values.append((name, INT, int(value), True))

    def word(self, name: str, value: str | None, allowed: Sequence[str]) -> None:
        """One of some words."""
        if value is not None:
            if not isinstance(value, str) or value not in allowed:
                self.refuse(name, f"is {value!r}, must be one of {', '.join(allowed)}")
            self._values.append((name, TOKEN, value, True))

    def flag(self, name: str, value: bool | None) -> None:
        """True or false."""
        if value is not None:
            if not isinstance(value, bool):
                self.refuse(name, f"is {value!r}, must be True or False")
            self._values.append((name, Sdf.ValueTypeNames.Bool, value, False))

    def point(self, name: str, value: Sequence[float] | None) -> None:
        """Three finite numbers."""
        if value is not None:
            numbers = self.finite(name, value)
            if len(numbers) != 3:
                self.refuse(name, f"has {len(numbers)} numbers, must have three")
            self._values.append((name, Sdf.ValueTypeNames.Point3d, tuple(numbers), False))

    def points(self, name: str, values: Sequence[Sequence[float]] | None, count: int) -> None:
        """Three finite numbers for each of some points."""
        if values is not None:
            points = [tuple(self.finite(name, point)) for point in self.listed(name, values)]
            if len(points) != count:
                self.refuse(name, f"has {len(points)} points for {count}, must have one for each")
            for point in points:
                if len(point) != 3:
                    self.refuse(name, f"has a point of {len(point)} numbers, must have three")
            self._values.append((name, Sdf.ValueTypeNames.Point3dArray, points, True))

    def tokens(self, name: str, values: list[str]) -> None:
        """A list of words that were checked before."""
        self._values.append((name, TOKENS, values, True))

    def places(self, name: str, values: list[int]) -> None:
        """A list of places in another list."""
        self._values.append((name, INTS, values, True))

    def targets(self, name: str, paths: Sequence[Sdf.Path]) -> None:
        """What a relationship leads to, which was checked before."""
        self._targets.append((name, list(paths)))

    def has_values(self, prefix: str) -> bool:
        """Whether there is a value for an attribute whose name begins so."""
        return any(name.startswith(prefix) for name, *_ in self._values)

    def refuse(self, name: str, text: str) -> None:
        """Stop with a sentence about an attribute."""
        raise SettingsError(f"{self.path}.{name}: {text}")

    def write(self, prim: Usd.Prim) -> Usd.Prim:
        """Author everything in the edit target of the stage."""
        for schema in self._schemas:
            prim.AddAppliedSchema(schema)
        for name, kind, value, uniform in self._values:
            variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
            attribute = prim.CreateAttribute(name, kind, custom=False, variability=variability)
            attribute.Clear()  # time samples in the same layer would hide the value
            attribute.Set(value)
        for name, paths in self._targets:
            prim.CreateRelationship(name, custom=False).SetTargets(paths)
        return prim

    def listed(self, name: str, values: Iterable, wanted: str = "a list") -> list:
        """What an attribute is made of; `wanted` is said where that is no list."""
        try:
            return list(values)
        except TypeError:
            self.refuse(name, f"is {values!r}, must be {wanted}")

    def finite(self, name: str, values: Iterable[float]) -> list[float]:
        """Finite numbers, as many as there are."""
        return [self._finite(name, value, False) for value in self.listed(name, values, "a list of numbers")]

    def _finite(self, name: str, value: float, infinite: bool) -> float:
        try:
            number = math.nan if isinstance(value, (str, bool)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number) or (math.isinf(number) and not infinite):
            self.refuse(name, f"is {value!r}, must be {'a number' if infinite else 'a finite number'}")
        return number


def prim_at(stage: Usd.Stage, path: str | Sdf.Path) -> Usd.Prim:
    """A prim that can be edited."""
    prim = stage.GetPrimAtPath(checked_path(path))
    if not prim or prim.IsPseudoRoot():
        raise StageError(f"{path}: there is no such prim")
    if prim.IsInstanceProxy() or prim.IsInPrototype():
        raise StageError(f"{path}: is inside an instance; edit what it refers to, or make it no instance")
    return prim


def prim_of_type(stage: Usd.Stage, path: str | Sdf.Path, kind: str) -> None:
    """Refuse a path at which no prim of a type is or can be made."""
    path = checked_path(path)
    found = stage.GetPrimAtPath(path)
    if found and found.GetTypeName() not in (kind, ""):
        raise StageError(f"{path}: is a {found.GetTypeName()}, must be a {kind} or not be there yet")
    if path.GetParentPath() != Sdf.Path.absoluteRootPath:
        prim_at(stage, path.GetParentPath())


def checked_path(path: str | Sdf.Path) -> Sdf.Path:
    """An absolute path of a prim."""
    if not Sdf.Path.IsValidPathString(str(path)) or not Sdf.Path(str(path)).IsAbsoluteRootOrPrimPath():
        raise StageError(f"{path}: is no path of a prim, such as /World/arm")
    path = Sdf.Path(str(path))
    if not path.IsAbsolutePath():
        raise StageError(f"{path}: must be an absolute path, such as /World/arm")
    return path
