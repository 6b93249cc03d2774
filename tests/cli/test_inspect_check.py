"""`warp-artic inspect` and `warp-artic check` on small stages."""

import json
import math

import pytest

from tests.usd.authoring import pendulum
from warp_artic.cli.main import main
from warp_artic.description.rules import RULES


def json_of(capsys, *line, code=0):
    assert main([*line, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def dof_named(content, name):
    joints = [joint for tree in content["articulations"] for joint in tree["joints"]]
    return next(dof for joint in joints for dof in joint["dofs"] if dof["name"] == name)


def test_gains_in_both_units(capsys):
    """Each gain is shown as authored, with its attribute, and in SI."""
    dof = dof_named(json_of(capsys, "inspect", "samples/scenes/arm.usda"), "/World/arm/elbow_joint")
    reading = next(reading for reading in dof["authored"] if reading["field"] == "stiffness")
    assert reading["authored"] == 9
    assert reading["attribute"] == "/World/arm/elbow_joint.drive:angular:physics:stiffness"
    assert dof["si"]["stiffness"] == reading["value"] == pytest.approx(math.degrees(9), rel=1e-6)
    assert dof["si"]["upper"] == pytest.approx(math.radians(140), rel=1e-6)


def test_infinities_are_null(capsys):
    """JSON has no infinity: what is unbounded is null, and the text is strict JSON."""
    content = json_of(capsys, "inspect", "samples/scenes/pendulum.usda")
    assert dof_named(content, "/World/pendulum/hinge")["si"]["velocity_limit"] is None
    json.dumps(content, allow_nan=False)


def test_text_names_every_part(capsys):
    """The text has each link, joint and dof."""
    assert main(["inspect", "samples/scenes/cart_pole.usda"]) == 0
    written = capsys.readouterr().out
    words = ("/World/cart_pole/cart", "2 kg", "prismatic", "revolute", "fixed base", "limit            -0.6 .. 0.6 m")
    for word in (*words, "position         -0.20944 rad  [state:angular:physics:position -12 deg]"):
        assert word in written


def test_cones_and_angles_in_degrees(capsys):
    """Limits of rotations are shown in degrees too."""
    assert main(["inspect", "samples/scenes/ragdoll.usda"]) == 0
    written = capsys.readouterr().out
    assert "cone  35 .. 25 deg" in written
    assert "0 .. 2.44346 rad  [0 .. 140 deg]" in written


def test_check_of_a_good_stage(capsys):
    """A stage without errors passes."""
    found = json_of(capsys, "check", "samples/scenes/pendulum.usda")
    assert not [item for item in found if item["severity"] == "error"]


def test_check_says_how_to_mend(capsys, tmp_path):
    """Each rule is followed once by what to do, in lines and in JSON."""
    path = str(tmp_path / "idle.usda")
    stage = pendulum("float newton:damping = -1\nfloat newton:armature = -2")
    stage.GetRootLayer().Export(path)
    assert main(["check", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "error: /World/hinge.newton:armature: is -2 mass*distance^2, must not be negative [negative]",
        f"    {RULES['negative'].mend}",
        "error: /World/hinge.newton:damping: is -1 torque*s/deg, must not be negative [negative]",
    ]
    assert lines.count(f"    {RULES['negative'].mend}") == 1 and lines[-1].startswith("2 errors, ")
    (first, *_) = json_of(capsys, "check", path, code=1)
    assert first == {
        "severity": "error",
        "rule": "negative",
        "path": "/World/hinge.newton:armature",
        "message": "is -2 mass*distance^2, must not be negative",
        "allowed": RULES["negative"].allowed,
        "mend": RULES["negative"].mend,
    }


def test_rules_are_listed(capsys):
    """The catalogue is a table of at most 120 columns, and JSON with every word of it."""
    assert main(["check", "--rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(RULES)
    words = " ".join(" ".join(lines).split())
    listed = json_of(capsys, "check", "--rules")
    assert [entry["rule"] for entry in listed] == list(RULES)
    assert all(entry["meaning"] in words and f"Mend: {entry['mend']}" in words for entry in listed)
    assert main(["check"]) == 2
    assert "one of STAGE and --rules is required" in capsys.readouterr().err


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
    assert json_of(capsys, "inspect", str(bad), code=1)["diagnostics"][0]["severity"] == "error"


@pytest.mark.parametrize(
    ("stage", "kind", "line"),
    [
        ("fixed_tendon_two_joints", "fixed_tendons", "length 0 +1 j1 -0.5 j2 m"),
        ("fixed_tendon_offset_rest", "fixed_tendons", "its force acts by +0.5 j1 +0.2 j2"),
        ("fixed_tendon_offset_rest", "fixed_tendons", "rest length 0.2 m, limits free .. free m"),
        ("spatial_tendon_two_leaves", "spatial_tendons", "c:leafc  rest length 0.62 m, limits free .. free m"),
        ("spatial_tendon_two_leaves", "spatial_tendons", "to /World/Robot/c:leafc, /World/Robot/d:leafd"),
        ("mimic_hard_gear", "mimics", "-0.174533 +1 j_follow -1 j_lead = 0, hard"),
    ],
)
def test_couplings_are_shown(capsys, stage, kind, line):
    """Tendons and mimic joints stand in the text and, with names for indices, in strict JSON."""
    path = f"tests/data/oracle/stages/{stage}.usda"
    content = json_of(capsys, "inspect", path)
    assert len(content["articulations"][0][kind]) == 1
    json.dumps(content, allow_nan=False)
    assert main(["inspect", path]) == 0
    assert line in capsys.readouterr().out


def test_order_of_dialects(capsys, tmp_path):
    """The first of several dialects that say the same is given on the command line."""
    stage = pendulum("float newton:armature = 3\ndouble mjc:armature = 5")
    path = str(tmp_path / "two.usda")
    stage.GetRootLayer().Export(path)
    for dialects, armature in (([], 3.0), (["--dialects", "mjc,newton"], 5.0)):
        content = json_of(capsys, "inspect", path, *dialects)
        assert dof_named(content, "/World/hinge")["si"]["armature"] == armature
    (finding,) = [
        one for one in json_of(capsys, "check", path, "--dialects", "mjc") if one["rule"] == "dialects-differ"
    ]
    assert finding["path"] == "/World/hinge.newton:armature"
    assert main(["check", path, "--dialects", "bullet"]) == 2
    assert "'bullet' is not a dialect" in capsys.readouterr().err
