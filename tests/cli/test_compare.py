"""`warp-artic compare`: motions that are alike, that differ, and that cannot be compared."""

import json
import math
from xml.etree import ElementTree

import pytest
from pxr import Gf, Usd, UsdGeom, UsdSkel

from tests.usd.skinned import NAMES, skinned_stage
from warp_artic.cli.main import main


def write(path, *, offset=0.0, turn=0.0, end=24, name="cube"):
    """A cube that goes 2 m along X in a second; `offset` [cm] and `turn` [deg] are added at the end."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetStartTimeCode(0)
    cube = UsdGeom.Cube.Define(stage, f"/{name}")
    move, rotate = cube.AddTranslateOp(), cube.AddRotateZOp()
    move.Set((0, 0, 0), 0)
    move.Set((200, offset, 0), end)
    rotate.Set(0, 0)
    rotate.Set(turn, end)
    stage.Save()
    return str(path)


def test_differences_are_those_authored(tmp_path, capsys):
    """3 cm and 0.5 degrees, at the end, in metres and radians; within the tolerance the exit code is 0."""
    a, b = write(tmp_path / "a.usda"), write(tmp_path / "b.usda", offset=3.0, turn=0.5)
    assert main(["compare", a, b, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["alike"] and found["missing"] == []
    (prim,) = found["prims"]
    assert prim["distance"] == pytest.approx(0.03) and prim["angle"] == pytest.approx(math.radians(0.5), rel=1e-6)
    assert prim["time"] == 1.0
    assert main(["compare", a, b, "--tolerance", "0.05"]) == 0
    assert main(["compare", a, a, "--tolerance", "0"]) == 0
    assert "agree within the tolerance" in capsys.readouterr().out


def test_junit_has_a_case_for_each_prim(tmp_path, capsys):
    """With a failure where it differs, or is on one side only."""
    a, b = write(tmp_path / "a.usda"), write(tmp_path / "b.usda", name="other")
    out = tmp_path / "out.xml"
    assert main(["compare", a, b, "--junit", str(out)]) == 1
    suite = ElementTree.parse(out).getroot()[0]
    assert suite.get("tests") == "2" and suite.get("failures") == "2"
    assert [case.get("name") for case in suite] == ["/cube", "/other"]
    assert "on one of the two only" in capsys.readouterr().out


def test_points_that_deform_are_compared(tmp_path, capsys):
    """By the largest distance of a point, also where no transform differs."""
    for name, height in (("a", 1.0), ("b", 1.25)):
        stage = Usd.Stage.CreateNew(str(tmp_path / f"{name}.usda"))
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        points = UsdGeom.Points.Define(stage, "/points").CreatePointsAttr()
        points.Set([(0, 0, 0), (1, 0, 0)], 0)
        points.Set([(0, 0, 0), (1, 0, height)], 24)
        stage.Save()
    assert main(["compare", str(tmp_path / "a.usda"), str(tmp_path / "b.usda"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["prims"][0]["distance"] == pytest.approx(0.25)


def test_joints_of_skeletons_are_compared(tmp_path, capsys):
    """Two walks of which one has the head 20 degrees further from a quarter of a second on."""
    for name in ("walk", "other"):
        skinned_stage(tmp_path / f"{name}.usda")
    stage = Usd.Stage.Open(str(tmp_path / "other.usda"))
    rotations = UsdSkel.Animation.Get(stage, "/Character/Walk").GetRotationsAttr()
    for code in rotations.GetTimeSamples()[6:]:
        values = list(rotations.Get(code))
        values[NAMES.index("head")] *= Gf.Quatf(math.cos(math.radians(10)), math.sin(math.radians(10)), 0.0, 0.0)
        rotations.Set(values, code)
    stage.GetRootLayer().Save()
    walk, other = (str(tmp_path / f"{name}.usda") for name in ("walk", "other"))
    assert main(["compare", walk, walk]) == 0
    capsys.readouterr()
    assert main(["compare", walk, other, "--json"]) == 1
    first = json.loads(capsys.readouterr().out)["prims"][0]
    assert first["path"] == "/Character/Skeleton" and first["time"] >= 0.25
    assert math.degrees(first["angle"]) == pytest.approx(20.0, abs=1e-3)


def test_a_prim_without_an_extent_is_like_itself(tmp_path, capsys):
    """Of scale zero, by which things are hidden."""
    path = tmp_path / "hidden.usda"
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.Xform.Define(stage, "/hidden").AddScaleOp().Set((0.0, 1.0, 0.0))
    stage.GetRootLayer().Save()
    assert main(["compare", str(path), str(path)]) == 0


def test_what_cannot_be_compared_is_refused(tmp_path, capsys):
    """Motions of other lengths, files that are none, and tolerances below zero."""
    a, b = write(tmp_path / "a.usda"), write(tmp_path / "b.usda", end=48)
    assert main(["compare", a, b]) == 1
    assert "moves for 1 s, b.usda for 2 s" in capsys.readouterr().err
    assert main(["compare", a, str(tmp_path / "none.usda")]) == 1
    assert "there is no such file" in capsys.readouterr().err
    assert main(["compare", a, b, "--tolerance", "-1"]) == 2
    assert "tolerance: -1 is not" in capsys.readouterr().err
