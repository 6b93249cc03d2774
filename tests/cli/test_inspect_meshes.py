"""`warp-artic inspect` of elastic bodies and the tendons on them."""

import json

import pytest

from tests.usd.authoring import SMALL_UNITS
from tests.usd.meshes import block, sheet, tendon, world
from warp_artic.cli.main import main

PATH = """int[] warpArtic:nodes = [0, 1, 4, 5]
int[] warpArtic:nodeCounts = [1, 2, 0, 1]
rel warpArtic:links = </World/tip>
point3d[] warpArtic:positions = [(1, 0, 0)]
double warpArtic:stiffness.timeSamples = { 0: 4000, 24: 2000 }
"""
PINNED = "int[] warpArtic:elastic:pinnedNodes = [0, 3]\ndouble warpArtic:elastic:thickness = 2\n"


@pytest.fixture
def shown(tmp_path, capsys):
    """What is printed of a stage, as tables and as JSON."""
    path = tmp_path / "soft.usda"
    world(sheet(PINNED), block(), tendon(PATH), header=SMALL_UNITS).GetRootLayer().Export(str(path))
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert main(["inspect", str(path), "--json"]) == 0
    return text, json.loads(capsys.readouterr().out)


def test_values_and_where_they_come_from(shown):
    """In SI units, with the attribute that gives each."""
    _, found = shown
    assert (found["totals"]["elastic_bodies"], found["totals"]["mesh_tendons"]) == (2, 1)
    flat, solid = found["elastic_bodies"]
    assert (flat["nodes"], flat["elements"], flat["pinned"], flat["plane_state"]) == (6, 4, [0, 3], "strain")
    assert flat["mass"] == pytest.approx(2e-4 * 0.02 * 1000)
    assert flat["young_modulus"] == pytest.approx(100.0)
    assert (flat["sources"]["young_modulus"], flat["sources"]["density"]) == ("warpArtic", "default")
    assert {one["attribute"] for one in flat["authored"]} == {
        "/World/sheet.warpArtic:elastic:thickness",
        "/World/rubber.warpArtic:elasticMaterial:youngModulus",
    }
    assert (solid["dim"], solid["plane_state"]) == (3, None)
    (cable,) = found["mesh_tendons"]
    assert [point["on"] for point in cable["waypoints"]] == [
        "/World/sheet",
        "/World/sheet",
        "/World/tip",
        "/World/sheet",
    ]
    assert cable["values_over_time"]["stiffness"]["values"] == [4.0, 2.0]
    assert (cable["max_tension"], cable["sources"]["stiffness"]) == (None, "warpArtic")


def test_tables(shown):
    """One for bodies, one for tendons, one for what changes over time."""
    text = " ".join(shown[0].split())
    for words in ("2 elastic bodies", "1 mesh tendon", "Elastic bodies", "4 triangles, plane strain", "2 tetrahedra"):
        assert words in text
    for words in ("2 pinned, 0 on links", "neo-Hookean", "100 [1000]", "0 (1 4) tip 5", "Values of tendons over time"):
        assert words in text
    assert "warpArtic:elasticMaterial:youngModulus" in text
    assert "target length as at rest" in text


def test_a_wrong_stage_is_shown_too(tmp_path, capsys):
    """What can be read, and the error."""
    path = tmp_path / "soft.usda"
    faces = [(0, 1, 3), (1, 4, 9)]
    world(sheet(faces=faces), block()).GetRootLayer().Export(str(path))
    assert main(["inspect", str(path)]) == 1
    text = capsys.readouterr().out
    assert "/World/block" in text
    assert "/World/sheet: element 1 has node 9; nodes are 0 to 5" in text
