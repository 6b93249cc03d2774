"""Payloads that are not loaded are told of: what is in them is missing."""

import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import SI, body
from warp_artic.usd.read_stage import inspect_stage


@pytest.fixture
def layers():
    """A stage with a body, and three payloads of another one, one of them below a prim that is not active."""
    asset, root = Sdf.Layer.CreateAnonymous("asset.usda"), Sdf.Layer.CreateAnonymous("root.usda")
    asset.ImportFromString(f'#usda 1.0\n(\n{SI}\ndefaultPrim = "Asset"\n)\ndef Xform "Asset" {{\n{body("rod")}\n}}\n')
    payload = f"(payload = @{asset.identifier}@) {{\n}}\n"
    prims = "".join(f'def "{name}" {payload}' for name in ("one", "two"))
    prims += f'def Xform "off" (active = false) {{\ndef "three" {payload}\n}}\n'
    root.ImportFromString(f"#usda 1.0\n(\n{SI}\n)\n{body('free')}{prims}")
    return root, asset


def test_what_is_not_loaded(layers):
    """The first prim is named, and how many more there are; what is loaded is simulated."""
    stage = Usd.Stage.Open(layers[0], Usd.Stage.LoadNone)
    for left, said in ((["/one", "/two"], "; so it is with 1 more"), (["/two"], ""), ([], None)):
        found = inspect_stage(stage)
        told = [(one.path, one.message) for one in found.diagnostics if one.rule == "payload-unloaded"]
        expected = [(left[0], f"its payload is not loaded: nothing in it is simulated{said}")] if left else []
        assert told == expected
        assert len(found.checked_scene.link_names) == 3 - len(left)
        stage.Load(left[0]) if left else None
