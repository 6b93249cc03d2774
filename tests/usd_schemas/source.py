"""What schema.usda says, for tests."""

from __future__ import annotations

import math

from pxr import Sdf

from warp_artic import schema_root

SOURCE = Sdf.Layer.FindOrOpen(str(schema_root() / "schema.usda"))
PER_DEGREE = 180 / math.pi
DEGREE = math.pi / 180


def attributes_of(name: str) -> dict[str, Sdf.AttributeSpec]:
    """The attributes of one of our classes, by name; without the prefix of the instance where there are several."""
    return {spec.name: spec for spec in SOURCE.GetPrimAtPath(f"/{name}").attributes}


def line(spec: Sdf.AttributeSpec, name: str, value=None) -> str:
    """A line of a stage that authors an attribute, by default its fallback."""
    value = spec.default if value is None else value
    if str(spec.typeName) == "token":
        value = f'"{value}"'
    elif str(spec.typeName) == "bool":
        value = int(value)
    elif isinstance(value, float):
        value = repr(value)
    return f"{spec.typeName} {name} = {value}\n"
