"""`warp-artic convert` writes a copy in our schemas and reports on it."""

import json

from pxr import Sdf, Usd

from tests.usd.authoring import SI
from tests.usd_schemas import test_same_mechanism as same
from warp_artic.cli.main import main


def paths(folder):
    """A stage in the schemas of PhysX, and where its copy goes."""
    source, output = folder / "in.usda", folder / "out.usda"
    stage = same.physx(SI)
    stage.GetPrimAtPath("/scene").CreateAttribute("physxScene:enableCCD", Sdf.ValueTypeNames.Bool).Set(True)
    stage.GetRootLayer().Export(str(source))
    return source, output


def test_text(tmp_path, capsys):
    """A line for each thing, and the counts of both; the input is not edited, and the copy says the same."""
    source, output = paths(tmp_path)
    before = source.read_bytes()
    assert main(["convert", str(source), str(output), "--to", "warpArtic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "/World/j1: PhysxTendonAxisRootAPI:t -> /World/t" in lines
    assert "/World/j1.physxLimit:angular:damping -> /World/j1.warpArtic:joint:angular:limitDamping" in lines
    assert "/scene.physxScene:timeStepsPerSecond -> /scene.warpArtic:scene:timeStepsPerSecond" in lines
    assert any(line.startswith("left /scene.physxScene:enableCCD: has no counterpart") for line in lines)
    assert lines[-1].startswith(f"wrote {output}: ") and lines[-1].endswith(" rewritten, 1 left")
    assert source.read_bytes() == before
    same.assert_same(Usd.Stage.Open(str(source)), Usd.Stage.Open(str(output)))


def test_json(tmp_path, capsys):
    """Programs get the same."""
    source, output = paths(tmp_path)
    assert main(["convert", str(source), str(output), "--to", "warpArtic", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"was": "/World/j3: PhysxTendonAxisAPI:t", "now": "/World/t"} in report["rewritten"]
    assert len(report["left"]) == 1 and set(report["left"][0]) == {"path", "reason"}
