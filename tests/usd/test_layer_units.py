"""Layers in other units than the stage, and stages that do not say which way is up, are told of."""

import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import SI, body, open_text
from warp_artic.usd.read_stage import inspect_stage

TURN_TO_Z = "float xformOp:rotateX = 90"
DOWNSCALE = "float3 xformOp:scale = (0.01, 0.01, 0.01)"


def layer_of(header: str, name: str = "asset") -> Sdf.Layer:
    """A body on its own."""
    layer = Sdf.Layer.CreateAnonymous(f"{name}.usda")
    content = f'def Xform "Asset" {{\n{body("rod")}\n}}'
    layer.ImportFromString(f'#usda 1.0\n(\n{header}\ndefaultPrim = "Asset"\n)\n{content}\n')
    return layer


def referenced(layer: Sdf.Layer, *transforms: str, header: str = SI) -> Usd.Stage:
    """References of a layer below prims with such transforms."""
    text = ""
    for number, transform in enumerate(transforms):
        order = f'uniform token[] xformOpOrder = ["{transform.split()[1]}"]' if transform else ""
        content = f'def "asset" (prepend references = @{layer.identifier}@) {{\n}}'
        text += f'def Xform "place{number}" {{\n{transform}\n{order}\n{content}\n}}\n'
    return open_text(text, header)


def told(stage: Usd.Stage, *rules: str) -> list[tuple[str, str, str]]:
    """Severity, path and message of what is found by some rules."""
    found = [one for one in inspect_stage(stage).diagnostics if one.rule in (rules or ("layer-units",))]
    return [(one.severity.value, one.path, one.message) for one in found]


@pytest.mark.parametrize(
    "header, said",
    [
        ("metersPerUnit = 0.01", "metersPerUnit 0.01"),
        ("kilogramsPerUnit = 0.001", "kilogramsPerUnit 0.001"),
        ('upAxis = "Y"', "upAxis Y"),
        ('metersPerUnit = 0.01\nupAxis = "Y"', "metersPerUnit 0.01 and upAxis Y"),
    ],
)
def test_a_layer_in_other_units(header, said):
    """The prim with the reference, and what the layer says."""
    layer = layer_of(header)
    ((severity, path, message),) = told(referenced(layer, "", ""))
    assert (severity, path) == ("warning", "/place0/asset")
    assert f"is authored in {layer.GetDisplayName()} with {said}, and USD converts nothing" in message


@pytest.mark.parametrize("header", ["", SI, 'metersPerUnit = 1\nupAxis = "Z"'])
def test_a_layer_in_the_units_of_the_stage(header):
    """Nothing to tell, also where a layer says nothing."""
    assert told(referenced(layer_of(header), "")) == []


def test_what_is_scaled_and_turned():
    """A turn makes up for another axis; a scale for another length, but not in other values; one of two for nothing."""
    assert told(referenced(layer_of('upAxis = "Y"'), TURN_TO_Z)) == []
    ((severity, path, message),) = told(referenced(layer_of("metersPerUnit = 0.01"), DOWNSCALE))
    assert (severity, path) == ("note", "/place0/asset") and "its scale makes up for that" in message
    ((severity, path, _),) = told(referenced(layer_of("metersPerUnit = 0.01"), DOWNSCALE, ""))
    assert (severity, path) == ("warning", "/place1/asset")
    ((severity, _, _),) = told(referenced(layer_of('metersPerUnit = 0.01\nupAxis = "Y"'), DOWNSCALE))
    assert severity == "warning"


def test_a_sublayer_in_other_units():
    """What the layer says counts where it is opened by itself only."""
    layer = layer_of("metersPerUnit = 0.01")
    stage = open_text("", f"{SI}\nsubLayers = [@{layer.identifier}@]")
    assert [(severity, path) for severity, path, _ in told(stage)] == [("warning", "/Asset")]


def test_layers_without_anything_that_moves_or_touches():
    """Layers of looks alone do not count."""
    layer = Sdf.Layer.CreateAnonymous("looks.usda")
    layer.ImportFromString('#usda 1.0\n(\nmetersPerUnit = 0.01\ndefaultPrim = "Looks"\n)\ndef Scope "Looks" {\n}\n')
    stage = open_text(body("rod") + f'def "Looks" (prepend references = @{layer.identifier}@) {{\n}}')
    assert told(stage) == []


DOWN = 'def PhysicsScene "scene" {\nvector3f physics:gravityDirection = (0, 0, -1)\n}\n'


@pytest.mark.parametrize("scene, count", [("", 1), ('def PhysicsScene "scene" {\n}\n', 1), (DOWN, 0)])
def test_a_stage_without_an_up_axis(scene, count):
    """Where gravity has no direction of its own, the one that USD takes is told; with an up axis nothing is."""
    bare = "metersPerUnit = 1"
    notes = told(open_text(scene + body("rod"), bare), "up-axis")
    assert notes == count * [("note", "/", "upAxis is not authored: gravity is along -Y")]
    assert told(open_text(scene + body("rod")), "up-axis") == []
