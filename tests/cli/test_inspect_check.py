"""`warp-artic inspect` and `warp-artic check` on small stages."""

import json
import math

import pytest

from warp_artic.cli.main import main


def json_of(capsys, *line, code=0):
    assert main([*line, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def dof_named(content, name):
    joints = [joint for tree in content["articulations"] for joint in tree["joints"]]
    return next(dof for joint in joints for dof in joint["dofs"] if dof["name"] == name)


def test_gains_in_both_units(capsys):
    """Each gain is shown per radian and per degree; an acceleration drive has no mass in its unit."""
    content = json_of(capsys, "inspect", "samples/scenes/arm.usda")
    dof = dof_named(content, "/World/arm/elbow_joint")
    assert dof["authored"]["drive.stiffness"] == pytest.approx(9, rel=1e-6)
    assert dof["si"]["drive.stiffness"] == pytest.approx(math.degrees(9), rel=1e-6)
    assert dof["authored"]["drive.position_target"] == pytest.approx(70, rel=1e-6)
    assert dof["si"]["limit.upper"] == pytest.approx(math.radians(140), rel=1e-6)


def test_lengths_in_both_units(capsys):
    """Lengths of a stage in centimetres are shown in metres and centimetres."""
    dof = dof_named(json_of(capsys, "inspect", "samples/scenes/cart_pole.usda"), "/World/cart_pole/slide")
    assert dof["si"]["limit.lower"] == pytest.approx(-0.6)
    assert dof["authored"]["limit.lower"] == pytest.approx(-60)


def test_text_names_every_part(capsys):
    """The text has each link, joint and dof."""
    assert main(["inspect", "samples/scenes/cart_pole.usda"]) == 0
    written = capsys.readouterr().out
    for word in ("Y up", "/World/cart_pole/cart", "2 kg", "prismatic", "revolute", "[-60 authored]", "fixed base"):
        assert word in written


def test_check_of_a_good_stage(capsys):
    """A stage without errors passes."""
    found = json_of(capsys, "check", "samples/scenes/pendulum.usda")
    assert not [item for item in found if item["severity"] == "error"]


def test_check_of_a_bad_stage(tmp_path, capsys):
    """An error has the prim path and makes the check fail; simulating it fails too, in one line."""
    with open("samples/scenes/pendulum.usda") as file:
        text = file.read()
    bad = tmp_path / "bad.usda"
    bad.write_text(text.replace("float physics:mass = 1", "float physics:mass = -1"))
    assert main(["check", str(bad)]) == 1
    assert "error: /World/pendulum/rod" in capsys.readouterr().out
    assert main(["simulate", str(bad)]) == 1
    written = capsys.readouterr().err
    assert "/World/pendulum/rod" in written and "Traceback" not in written
