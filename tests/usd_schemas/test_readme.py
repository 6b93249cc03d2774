"""What the README of the schemas shows is what they have."""

import re

from pxr import Sdf

from tests.usd_schemas.source import SOURCE
from warp_artic import schema_root

README = (schema_root() / "README.md").read_text(encoding="utf-8")


def test_every_class_is_listed():
    """The table has the classes of the source, in its order."""
    classes = [prim.name for prim in SOURCE.rootPrims if prim.name != "GLOBAL"]
    assert re.findall(r"^\| `(WarpArtic\w+)", README, re.M) == classes


def test_examples():
    """The examples parse, and use properties and types that there are."""
    (text,) = re.findall(r"```usda\n(.*?)```", README, re.S)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(f"#usda 1.0\n{text}")
    allowed = {}
    for prim in SOURCE.rootPrims:
        prefix = prim.customData.get("propertyNamespacePrefix", "")
        for spec in prim.properties:
            name = f"{prefix}:angular:{spec.name}" if prefix else spec.name
            allowed[name] = str(spec.typeName) if isinstance(spec, Sdf.AttributeSpec) else "rel"
    allowed |= {"points": "point3f[]", "faceVertexCounts": "int[]", "faceVertexIndices": "int[]"}
    allowed |= {"material:binding:physics": "rel"}
    used = {}

    def collect(path: Sdf.Path) -> None:
        spec = layer.GetObjectAtPath(path)
        if isinstance(spec, Sdf.AttributeSpec):
            used[spec.name] = str(spec.typeName)
        elif isinstance(spec, Sdf.RelationshipSpec):
            used[spec.name] = "rel"

    layer.Traverse(Sdf.Path.absoluteRootPath, collect)
    assert len(used) > 8
    assert {name: allowed[name] for name in used} == used
