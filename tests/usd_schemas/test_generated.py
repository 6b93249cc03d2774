"""The generated files are those of the source, and the source says what it must."""

import subprocess
import sys

import pytest
from pxr import Sdf

from tests.usd_schemas.source import SOURCE
from warp_artic import schema_root

CLASSES = [prim for prim in SOURCE.rootPrims if prim.name != "GLOBAL"]
PROPERTIES = [prop for prim in CLASSES for prop in prim.properties]
HAVE_NO_UNIT = ("bool", "token", "token[]", "int", "int[]")


@pytest.mark.parametrize("name", ["generatedSchema.usda", "plugInfo.json"])
def test_generated_files_are_up_to_date(tmp_path, name):
    """What regenerate.py writes is what is there; if not, run it."""
    subprocess.run([sys.executable, str(schema_root() / "regenerate.py"), str(tmp_path)], check=True)
    assert (tmp_path / name).read_text() == (schema_root() / name).read_text()


@pytest.mark.parametrize("prop", [*CLASSES, *PROPERTIES], ids=lambda prop: str(prop.path))
def test_everything_is_documented(prop):
    """Classes and properties say what they are, and numbers in which unit."""
    assert prop.documentation
    if isinstance(prop, Sdf.AttributeSpec) and str(prop.typeName) not in HAVE_NO_UNIT:
        assert "Unit: " in prop.documentation


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda prop: str(prop.path))
def test_an_attribute_without_fallback_says_what_stands(prop):
    """It is an output, or tells what is used where it is not authored."""
    if isinstance(prop, Sdf.AttributeSpec) and prop.default is None:
        assert "Output" in prop.documentation or "Not authored:" in prop.documentation


def test_numbers_are_doubles():
    """So that a change of units loses nothing."""
    numbers = {str(p.typeName) for p in PROPERTIES if isinstance(p, Sdf.AttributeSpec)} - set(HAVE_NO_UNIT)
    assert numbers == {"double", "double[]", "vector3d", "point3d", "point3d[]"}
