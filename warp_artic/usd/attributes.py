"""Authored attribute values of prims, checked for type and finiteness."""

from __future__ import annotations

import math
import re

import numpy as np
from pxr import Gf, Usd, Vt

from warp_artic.usd import tokens
from warp_artic.usd.changes import changes
from warp_artic.usd.dialects import DIALECTS, dialect_of
from warp_artic.usd.report import Report
from warp_artic.usd.units import NUMBER, Quantity, Units

UNBOUNDED = 1e30
"""Magnitudes from here on stand for infinity, as the largest float does in some assets."""
VECTORS = (Gf.Vec3f, Gf.Vec3d, Gf.Vec3h, Gf.Vec3i)
ARRAYS = (Vt.FloatArray, Vt.DoubleArray, Vt.HalfArray, Vt.IntArray, Vt.TokenArray, Vt.StringArray)
VECTOR_ARRAYS = {3: (Vt.Vec3fArray, Vt.Vec3dArray, Vt.Vec3hArray), 4: (Vt.Vec4iArray,)}
"""By the numbers of a vector."""
IN_TIME = re.compile(
    r"physics:(velocity|angularVelocity)|state:\w+:physics:(position|velocity)|warpArtic:joint:\w+:(position|velocity)"
    r"|drive:\w+:physics:(target(Position|Velocity)|stiffness|damping)|xformOp:.+|physics:gravity(Direction|Magnitude)"
    r"|(warpArtic|physxTendon:\w+):(restLength|offset)|warpArtic:(target(Length|Tension)|(min|max)Tension)"
    r"|points|velocities|extent|physics:kinematicEnabled"
)
"""Attributes whose values over time are read, or are motion, of which the start counts."""
STIFFNESS = "warpArtic:stiffness"
"""Is read over time too where it is that of a tendon on a mesh."""
QUATERNIONS = (Gf.Quatf, Gf.Quatd, Gf.Quath)


class Attributes:
    """Reads authored opinions at one time; a wrong value is reported and replaced by the default."""

    def __init__(
        self,
        time: Usd.TimeCode,
        units: Units,
        report: Report,
        dialects: tuple[str, ...] = DIALECTS,
        owner: str | None = None,
    ):
        self.time = time
        self.owner = owner
        """The physics scene whose bodies are meant; None: all bodies."""
        self.dialects = dialects
        self.units = units
        self.report = report
        self.asked: set[str] = set()
        """Names of attributes that somebody has asked for, of whatever prim."""
        self.passed_over: set[str] = set()
        """Paths of properties that nobody has read, as a finding tells about their prim."""
        self._names: dict[Usd.Prim, frozenset[str]] = {}

    def at(self, time: Usd.TimeCode, report: Report) -> Attributes:
        """The same stage at another time, with what is found in another report."""
        return Attributes(time, self.units, report, self.dialects, self.owner)

    def rank(self, name: str) -> int:
        """The place of an attribute or a schema, given by its name, in the order of dialects."""
        return self.dialects.index(dialect_of(name))

    def names(self, prim: Usd.Prim) -> frozenset[str]:
        """Names of the properties that are authored on a prim."""
        names = self._names.get(prim)
        if names is None:
            names = self._names[prim] = frozenset(prim.GetAuthoredPropertyNames())
        return names

    def pass_over(self, prim: Usd.Prim, prefix: str = "") -> None:
        """Count the properties of a prim whose names begin so as reported: some finding tells about all of them."""
        paths = {f"{prim.GetPath()}.{name}" for name in self.names(prim) if name.startswith(prefix)}
        self.passed_over |= paths - self.report.used
        self.report.used |= paths

    def authored(self, prim: Usd.Prim, name: str):
        """The value of an attribute if it has an authored one, else None."""
        self.asked.add(name)
        if name not in self.names(prim):
            return None
        attribute = prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredValue():
            return None
        self.report.used.add(f"{prim.GetPath()}.{name}")
        try:
            value = attribute.Get(self.time)
        except Exception:  # what pxr raises differs between releases
            return self._refuse(prim, name, "cannot be read: its type is not one that USD knows", None)
        if not _is_read_in_time(prim, name) and changes(attribute):
            text = "changes over time; only the value at the start is used"
            self.report.warn("time-samples", f"{prim.GetPath()}.{name}", text)
        return value

    def number(self, prim, name, default=0.0, quantity: Quantity = NUMBER, unbounded: bool = False):
        """A number in SI units and radians; `default` when it is not authored. Infinite only where `unbounded`."""
        return self._number(prim, name, self.authored(prim, name), default, quantity, unbounded)

    def number_at(self, prim, name, code: float, quantity: Quantity) -> float | None:
        """The finite number, in SI units and radians, that an attribute has at a time code; None where it has none."""
        return self._number(prim, name, prim.GetAttribute(name).Get(code), None, quantity, False)

    def _number(self, prim, name, value, default, quantity: Quantity, unbounded: bool):
        if value is None:
            return default
        if not _is_number(value):
            return self._refuse(prim, name, f"is {_show(value)}, must be a number", default)
        if math.isnan(value) or (abs(value) >= UNBOUNDED and not unbounded):
            allowed = "a number" if unbounded else "finite"
            if math.isfinite(value):
                allowed = f"below {UNBOUNDED:g} in magnitude"
            return self._refuse(prim, name, f"is {value:g}, must be {allowed}", default)
        if abs(value) >= UNBOUNDED:
            value = math.copysign(math.inf, value)
        return self.units.si(float(value), quantity)

    def first_number(self, prim, name, default=1.0) -> float | None:
        """The first of an array of numbers, as authored; None, and an error, where the array is empty or wrong."""
        value = self.authored(prim, name)
        if value is None:
            return default
        return self._first(prim, name, value, "numbers", lambda one: _is_number(one) and abs(one) < UNBOUNDED)

    def first_word(self, prim, name, allowed: tuple[str, ...]) -> str | None:
        """The first of an array of words; empty where it is not authored, None, and an error, where it is wrong."""
        value = self.authored(prim, name)
        if value is None:
            return ""
        return self._first(prim, name, value, f"words of {', '.join(allowed)}", lambda one: one in allowed)

    def numbers(self, prim, name) -> list[float] | None:
        """An array of finite numbers, as authored; empty where it is not authored, None, and an error, where wrong."""
        return self._all(prim, name, "numbers", lambda one: _is_number(one) and abs(one) < UNBOUNDED)

    def whole_numbers(self, prim, name) -> list[int] | None:
        """An array of whole numbers; empty where it is not authored, None, and an error, where it is wrong."""
        return self._all(prim, name, "whole numbers", lambda one: isinstance(one, int) and not isinstance(one, bool))

    def words(self, prim, name, allowed: tuple[str, ...]) -> list[str] | None:
        """An array of words; empty where it is not authored, None, and an error, where it is wrong."""
        return self._all(prim, name, f"words of {', '.join(allowed)}", lambda one: one in allowed)

    def _all(self, prim, name, what: str, is_right):
        value = self.authored(prim, name)
        if value is None:
            return []
        if not isinstance(value, ARRAYS):
            return self._refuse(prim, name, f"is {_show(value)}, must be an array of {what}", None)
        wrong = [one for one in value if not is_right(one)]
        if wrong:
            return self._refuse(prim, name, f"has {_show(wrong[0])}, must be an array of {what}", None)
        return list(value)

    def _first(self, prim, name, value, what: str, is_right):
        if not isinstance(value, ARRAYS):
            return self._refuse(prim, name, f"is {_show(value)}, must be an array of {what}", None)
        if len(value) == 0:
            return self._refuse(prim, name, "is an empty array, must have one value", None)
        if not is_right(value[0]):
            return self._refuse(prim, name, f"starts with {_show(value[0])}, must be an array of {what}", None)
        if len(value) > 1:
            text = f"has {len(value)} values; only the first is used"
            self.report.warn("array-length", f"{prim.GetPath()}.{name}", text)
        return value[0]

    def text(self, prim, name, default: str = "") -> str:
        """Any word; `default` when it is not authored."""
        value = self.authored(prim, name)
        if value is None:
            return default
        if not isinstance(value, str):
            return self._refuse(prim, name, f"is {_show(value)}, must be a word", default)
        return str(value)

    def vector(self, prim, name, default=None, quantity: Quantity = NUMBER):
        """Three finite numbers in SI units; `default` when they are not authored."""
        value = self.authored(prim, name)
        if value is None:
            return default
        if not isinstance(value, VECTORS):
            return self._refuse(prim, name, f"is {_show(value)}, must be three numbers", default)
        if not all(abs(component) < UNBOUNDED for component in value):
            is_finite = all(map(math.isfinite, value))
            allowed = f"below {UNBOUNDED:g} in magnitude" if is_finite else "finite"
            return self._refuse(prim, name, f"is {tuple(value)}, must be {allowed}", default)
        return tuple(self.units.si(float(component), quantity) for component in value)

    def vectors(self, prim, name, columns: int = 3) -> np.ndarray | None:
        """An array of finite vectors, as authored, shape (N, columns); without entries where it is not authored.

        None, and an error, where it is wrong. Vectors of four are of whole numbers.
        """
        value = self.authored(prim, name)
        if value is None:
            return np.empty((0, columns))
        if not isinstance(value, VECTOR_ARRAYS[columns]):
            allowed = " or ".join(kind.__name__ for kind in VECTOR_ARRAYS[columns])
            return self._refuse(prim, name, f"is of the type {type(value).__name__}, must be of {allowed}", None)
        array = np.array(value, np.float64 if columns == 3 else np.int64).reshape(-1, columns)
        wrong = ~(np.abs(array) < UNBOUNDED).all(axis=1)
        if wrong.any():
            entry = int(np.argmax(wrong))
            shown = ", ".join(f"{component:g}" for component in array[entry])
            return self._refuse(prim, name, f"has ({shown}) at index {entry}, must be finite", None)
        return array

    def quaternion(self, prim, name, default=None, zero_is_unset: bool = False):
        """A unit quaternion xyzw; `default` when it is not authored or zero, with a warning unless that means unset."""
        value = self.authored(prim, name)
        if value is None:
            return default
        if not isinstance(value, QUATERNIONS):
            return self._refuse(prim, name, f"is {_show(value)}, must be a quaternion", default)
        components = [float(part) for part in (*value.GetImaginary(), value.GetReal())]
        length = math.hypot(*components)
        if not math.isfinite(length):
            return self._refuse(prim, name, f"is {value}, must be finite", default)
        if length == 0.0:
            if not zero_is_unset:
                text = "is a quaternion of length zero; no rotation is used"
                self.report.warn("quaternion-length", f"{prim.GetPath()}.{name}", text)
            return default
        if abs(length - 1.0) > 1e-3:
            text = f"is {value} of length {length:.4g}; its direction is used"
            self.report.warn("quaternion-length", f"{prim.GetPath()}.{name}", text)
        return tuple(component / length for component in components)

    def flag(self, prim, name, default: bool) -> bool:
        """True or false; `default` when it is not authored."""
        value = self.authored(prim, name)
        if value is None:
            return default
        if not isinstance(value, (bool, int)) or value not in (0, 1):
            return self._refuse(prim, name, f"is {_show(value)}, must be true or false", default)
        return bool(value)

    def token(self, prim, name, default: str, allowed: tuple[str, ...]) -> str:
        """One of the allowed words; `default` when it is not authored."""
        value = self.authored(prim, name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in allowed:
            return self._refuse(prim, name, f"is {_show(value)}, must be one of {', '.join(allowed)}", default)
        return str(value)

    def targets(self, prim: Usd.Prim, name: str) -> list:
        """Paths that a relationship leads to."""
        if name not in self.names(prim):
            return []
        self.report.used.add(f"{prim.GetPath()}.{name}")
        found = forwarded_targets(prim, name)
        if found is None:
            return self._refuse(prim, name, "is no relationship that leads to prims, must be one", [])
        return found

    def _refuse(self, prim, name, text, default):
        self.report.error("attribute-value", f"{prim.GetPath()}.{name}", text)
        return default


def forwarded_targets(prim: Usd.Prim, name: str) -> list | None:
    """Paths that a relationship leads to; None where it is an attribute, or a target is no path."""
    try:
        relationship = prim.GetRelationship(name)
        return list(relationship.GetForwardedTargets()) if relationship else None
    except Exception:  # an attribute of this name, or a target that is no path
        return None


def _is_read_in_time(prim: Usd.Prim, name: str) -> bool:
    is_of_mesh = name == STIFFNESS and prim.GetTypeName() == tokens.ARTIC_MESH_TENDON
    return is_of_mesh or IN_TIME.fullmatch(name) is not None


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _show(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
