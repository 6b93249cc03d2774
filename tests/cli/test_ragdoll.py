"""`warp-artic ragdoll`: a layer over a stage with a ragdoll for a skinned character."""

import json

import pytest
from pxr import Usd

from tests.usd.skinned import skinned_stage
from warp_artic.cli.main import main


@pytest.fixture
def stage(tmp_path):
    skinned_stage(tmp_path / "character.usda")
    return str(tmp_path / "character.usda")


def test_the_layer_and_the_summary(stage, tmp_path, capsys):
    """It sublayers the stage, keeps its time range, and can be simulated; merged joints are shown."""
    out = str(tmp_path / "ragdoll.usda")
    assert main(["ragdoll", stage, "-o", out]) == 0
    told = capsys.readouterr().out
    assert "/Character/Skeleton: 7 links, mass 64.23; limits from the range of its animation" in told
    assert "with it thigh_twist_l" in told and f"wrote {out}" in told
    opened = Usd.Stage.Open(out)
    root = opened.GetRootLayer()
    assert list(root.subLayerPaths) == ["./character.usda"]
    assert (root.startTimeCode, root.endTimeCode, root.defaultPrim) == (0, 24, "Character")
    assert opened.GetPrimAtPath("/Character/Ragdoll/shin_l_joint")
    assert main(["check", out]) == 0


def test_options_and_json(stage, tmp_path, capsys):
    """The skeleton and the place can be chosen; programs get an object."""
    out = str(tmp_path / "ragdoll.usdc")
    options = ["--skeleton", "/Character/Skeleton", "--path", "/Body", "--density", "500", "--follow", "20"]
    options += ["--animated-root", "--merge", "shin_*"]
    assert main(["ragdoll", stage, "-o", out, *options, "--margin", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    opened = Usd.Stage.Open(out)
    hips = opened.GetPrimAtPath("/Body/hips")
    assert hips.GetAttribute("physics:kinematicEnabled").Get()
    assert hips.GetAttribute("xformOp:translate").GetNumTimeSamples() == 25
    assert found["path"] == "/Body" and len(found["links"]) == 5
    assert found["mass"] == pytest.approx(sum(link["mass"] for link in found["links"]))


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("ragdoll {stage} -o {out}.npz", 2, "the name of a ragdoll layer ends in one of .usd, .usda, .usdc"),
        ("ragdoll {stage} -o {stage}", 2, "is a layer of the stage itself"),
        ("ragdoll {stage} -o {out}.usda --skeleton /None", 1, "/None: there is no such prim"),
        ("ragdoll {stage} -o {out}.usda --merge tail", 2, "merge: no joint of /Character/Skeleton is called tail"),
        ("ragdoll none.usda -o {out}.usda", 1, "none.usda: there is no such file"),
        ("ragdoll {stage}", 2, "required: -o/--output"),
    ],
)
def test_errors(stage, tmp_path, capsys, line, code, sentence):
    """One line each, and nothing is written."""
    assert main(line.format(stage=stage, out=tmp_path / "out").split()) == code
    told = capsys.readouterr().err
    assert sentence in told and told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["character.usda"]
