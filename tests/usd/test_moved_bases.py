"""Assets whose base is fixed to the world stay where they are referenced, as with PhysX and Newton."""

import numpy as np
import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import SI, body, joint, joint_of, open_text, warnings_of
from warp_artic.usd.read_stage import inspect_stage, read_stage

EIGHTH = (0.0, 0.0, 0.3826834323650898, 0.9238795325112867)
"""An eighth of a turn about z, xyzw."""
PLACE = """
double3 xformOp:translate = (4, 5, 6)
quatd xformOp:orient = (0.9238795325112867, 0, 0, 0.3826834323650898)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
"""
ENDS = {"body1": ("", "/Robot/base"), "body0": ("/Robot/base", "")}
MOVED = [f"/moved{copy}/root" for copy in range(3)]


def stage_of(
    ends: tuple[str, str], kind: str = "Fixed", instanceable: str = "false", more: str = "", first: bool = True
) -> Usd.Stage:
    """An arm on a base that a joint without a second body holds where it was made, there and at three other places,
    or there last."""
    side = ends.index("")
    parts = body("base", at=(0, 0, 1)) + body("arm", at=(0, 0, 1))
    parts += joint("root", kind, *ends, f"point3f physics:localPos{side} = (0, 0, 1)")
    parts += joint("hinge", "Revolute", "/Robot/base", "/Robot/arm") + more
    layer = Sdf.Layer.CreateAnonymous(".usda")
    robot = f'def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {{\n{parts}\n}}'
    layer.ImportFromString(f'#usda 1.0\n(\n{SI}\ndefaultPrim = "Robot"\n)\n{robot}\n')
    reference = f"(\nprepend references = @{layer.identifier}@\ninstanceable = {instanceable}\n)"
    copies = "\n".join(f'def "moved{copy}" {reference} {{\n{PLACE}\n}}' for copy in range(3))
    made = f'def "made" {reference} {{\n}}\n'
    stage = open_text(f"{made}\n{copies}" if first else f"{copies}\n{made}")
    stage.held = layer  # an anonymous layer goes with the last who knows it
    return stage


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("instanceable", ["false", "true"])
def test_what_is_fixed_to_the_world_stays_where_it_is_put(ends, instanceable):
    """The frame of where the asset was made does not count, and that is told of each that was moved."""
    stage = stage_of(ends, instanceable=instanceable)
    found = inspect_stage(stage)
    for path in MOVED:
        root = joint_of(found.checked_scene, path)
        base = root.parent_frame @ root.child_frame.inverse()
        assert base.position == pytest.approx((4, 5, 7))
        assert np.abs(np.dot(base.quaternion, EIGHTH)) == pytest.approx(1)
    assert joint_of(found.checked_scene, "/made/root").parent_frame.position == pytest.approx((0, 0, 1))
    assert [one.path for one in found.diagnostics if one.rule == "base-moved"] == MOVED
    assert warnings_of(stage) == []


def test_a_hinge_to_the_world_is_where_its_frame_is():
    """What turns about an axis in the world turns about that, and it is told that the body is elsewhere."""
    stage = stage_of(ENDS["body1"], "Revolute")
    assert joint_of(read_stage(stage), MOVED[0]).parent_frame.position == pytest.approx((0, 0, 1))
    rules = {finding.rule for finding in inspect_stage(stage).diagnostics}
    assert "pose-violates-joint" in rules and "base-moved" not in rules


@pytest.mark.parametrize("kind", ["Spherical", "Distance"])
@pytest.mark.parametrize("first", [True, False], ids=["made first", "made last"])
def test_what_else_is_in_the_world_goes_with_the_base(kind, first):
    """Loops that are closed through the world stay closed, and that is told."""
    content = "point3f physics:localPos0 = (0.5, 0, 1)\npoint3f physics:localPos1 = (0.5, 0, 0)"
    stage = stage_of(ENDS["body1"], more=joint("stay", kind, "", "/Robot/arm", content), first=first)
    found = inspect_stage(stage)
    trees = {tree.links[0].path.split("/")[1]: tree for tree in found.checked_scene.articulations}
    for name, tree in trees.items():
        (stay,) = tree.constraints
        place = tree.links[0].pose
        ends = [getattr(stay, f"position{side}", None) or getattr(stay, f"frame{side}").position for side in (0, 1)]
        assert ends[0] == pytest.approx(tuple(place.position + place.rotation @ (0.5, 0, 0)))
        assert ends[1] == pytest.approx((0.5, 0, 0)) and stay.name == f"/{name}/stay"
    assert warnings_of(stage) == []
    told = [one.path for one in found.diagnostics if one.rule == "base-moved"]
    assert sorted(told) == sorted(f"/moved{copy}/{one}" for copy in range(3) for one in ("root", "stay"))
