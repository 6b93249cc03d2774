"""`warp-artic inspect` and `warp-artic check` on small stages."""

import json
import math
import re
from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdPhysics

from tests.usd.authoring import pendulum
from warp_artic import author
from warp_artic.cli import table
from warp_artic.cli.main import main
from warp_artic.description.rules import RULES
from warp_artic.sim.measure import verify
from warp_artic.usd.dialects import DIALECTS

ROOT = Path(__file__).parents[2]
FOLDERS = ("samples/scenes", "tests/data/oracle/stages", "tests/data/peers")


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


def lines_of(capsys, path, code=0):
    """The lines that a person reads, without what only aligns them."""
    assert main(["inspect", str(path)]) == code
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_text_names_every_part(capsys):
    """The tables have totals, each link and joint, values as authored, and where they come from."""
    lines = lines_of(capsys, "samples/scenes/cart_pole.usda")
    assert lines[0].startswith("1 articulation, 2 links, 2 joints, 2 dofs, 0 drives, 1 limit, ")
    for line in (
        "cart slide prismatic, to the world transX",
        "pole pivot revolute rotZ",
        "cart 2 0 0 0 0.01708 0.03333 0.03708",
        "slide transX none 0 -0.6 [-60] 0.6 [60]",
        "pivot rotZ none -0.20944 [-12]",
        "lower limit physics:lowerLimit usdphysics distance 1/1",
        "position warpArtic:joint:*:position warpArtic distance or deg 2/2",
    ):
        assert line in lines


@pytest.mark.parametrize("path", ["tests/data/peers/humanoid.usda", "tests/data/peers/hand_tendon.usda"])
def test_tables_fit(capsys, monkeypatch, path):
    """Wide tables are split, with the names of rows in each part, so that no line is broken."""
    for widest in (120, 100):
        monkeypatch.setattr(table, "WIDEST", widest)
        assert main(["inspect", path]) == 0
        lines = capsys.readouterr().out.splitlines()
        tables = lines[: lines.index("Not used")]
        assert max(map(len, tables)) <= widest
        assert "Dofs, continued" in tables


def test_with_rich_on_a_terminal(capsys, monkeypatch):
    """The same cells, in colours."""
    path = "samples/scenes/cart_pole.usda"
    plain = lines_of(capsys, path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    coloured = lines_of(capsys, path)
    assert any("\x1b[" in line for line in coloured)
    bare = [" ".join(re.sub(r"\x1b\[[0-9;]*m", "", line).split()) for line in coloured]
    assert [line for line in bare if line] == [line for line in plain if line]


def named_values(content):
    """Each value with its sources and readings, of links, dofs and tendons."""
    for tree in content["articulations"]:
        links = [(link["path"], link, link) for link in tree["links"]]
        dofs = [(dof["name"], dof["si"], dof) for joint in tree["joints"] for dof in joint["dofs"]]
        tendons = [(one["name"], one, one) for kind in ("fixed", "spatial") for one in tree[f"{kind}_tendons"]]
        leaves = [(leaf["attachment"], leaf, leaf) for tendon in tree["spatial_tendons"] for leaf in tendon["leaves"]]
        for name, values, owner in (*links, *dofs, *tendons, *leaves):
            for field, source in owner["sources"].items():
                yield name, field, values[field], source, [one for one in owner["authored"] if one["field"] == field]


STAGES = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).glob("*.usda"))


@pytest.mark.parametrize("path", STAGES)
def test_every_value_has_a_source(capsys, path):
    """A dialect, with a reading that gives this very value; or the colliders, the bodies or the default."""
    for name, field, value, source, readings in named_values(json_of(capsys, "inspect", path)):
        if source in DIALECTS and not field.endswith("coefficients"):
            (reading,) = readings
            assert (reading["value"], reading["dialect"]) == (value, source), (name, field)
        elif source == "colliders":
            assert readings[0]["value"] == value and readings[0]["authored"] is None, (name, field)
        else:
            assert source in ("default", "bodies", *DIALECTS), (name, field)


def test_sources(capsys, tmp_path):
    """An attribute, colliders, the poses of bodies, or nothing."""
    dof = dof_named(json_of(capsys, "inspect", "samples/scenes/arm.usda"), "/World/arm/elbow_joint")
    assert dof["sources"]["stiffness"] == "usdphysics"
    assert dof["sources"]["velocity_limit"] == "default"
    stage = pendulum("float newton:armature = 3")
    path = str(tmp_path / "one.usda")
    stage.GetRootLayer().Export(path)
    dof = dof_named(json_of(capsys, "inspect", path), "/World/hinge")
    assert (dof["sources"]["armature"], dof["sources"]["position"]) == ("newton", "bodies")


def test_a_broken_stage_shows_what_can_be_read(capsys, tmp_path):
    """The tables of what was read, then the errors; the exit code is that of a failure."""
    stage = pendulum("float newton:armature = -3\nfloat physics:upperLimit = 30")
    path = tmp_path / "broken.usda"
    stage.GetRootLayer().Export(str(path))
    lines = lines_of(capsys, path, code=1)
    assert lines[0].startswith("The stage cannot be simulated as authored") and "could be read" in lines[1]
    assert any("0.5236 [30]" in line for line in lines)
    assert any(line.startswith("error: /World/hinge.newton:armature: is -3") for line in lines)
    content = json_of(capsys, "inspect", str(path), code=1)
    assert not content["can_be_simulated"] and content["totals"]["dofs"] == 1


def test_targets_over_time(capsys, tmp_path):
    """What a run follows is shown with its times and bounds, and whole in JSON."""
    samples = "float drive:angular:physics:targetPosition.timeSamples = {0: 0, 24: 90, 48: -90}\n"
    samples += "float drive:angular:physics:stiffness.timeSamples = {0: 0, 24: 2}"
    stage = pendulum(samples, applied=("PhysicsDriveAPI:angular",))
    path = tmp_path / "moving.usda"
    stage.GetRootLayer().Export(str(path))
    assert "hinge position target rad 3 0 2 -1.5708 1.5708" in lines_of(capsys, path)
    assert any(line.endswith("stiffness N m/rad 2 0 1 0 114.59") for line in lines_of(capsys, path))
    track = dof_named(json_of(capsys, "inspect", str(path)), "/World/hinge")["targets_over_time"]["position"]
    assert track["times"] == [0.0, 1.0, 2.0] and track["values"] == pytest.approx([0.0, math.pi / 2, -math.pi / 2])


def test_unused_attributes_are_grouped(capsys):
    """By attribute, with the prims that have it."""
    lines = lines_of(capsys, "tests/data/peers/hand_tendon.usda")
    line = "physxScene:solverType note is not used: it concerns contacts, sleeping or another engine:"
    assert line in lines


def test_angles_as_authored(capsys):
    """Limits of rotations are shown in degrees too, cone angles beside them."""
    lines = lines_of(capsys, "samples/scenes/ragdoll.usda")
    assert any(line.startswith("waist:rotX rotX none 0.61087 [35] #1") for line in lines)
    assert any(line.startswith("left_knee rotY none 0 2.4435 [140]") for line in lines)
    assert "cone angle physics:coneAngle1Limit usdphysics deg 6/12 #2" in lines
    assert "upper limit physics:upperLimit usdphysics deg 6/6" in lines


def test_check_of_a_good_stage(capsys):
    """A stage without errors passes."""
    found = json_of(capsys, "check", "samples/scenes/pendulum.usda")
    assert not [item for item in found if item["severity"] == "error"]


def test_check_says_how_to_fix(capsys, tmp_path):
    """Each rule is followed once by what to do, in lines and in JSON."""
    path = str(tmp_path / "idle.usda")
    stage = pendulum("float newton:damping = -1\nfloat newton:armature = -2")
    stage.GetRootLayer().Export(path)
    assert main(["check", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "error: /World/hinge.newton:armature: is -2 mass*distance^2, must not be negative [negative]",
        f"    {RULES['negative'].fix}",
        "error: /World/hinge.newton:damping: is -1 torque*s/deg, must not be negative [negative]",
    ]
    assert lines.count(f"    {RULES['negative'].fix}") == 1 and lines[-1].startswith("2 errors, ")
    (first, *_) = json_of(capsys, "check", path, code=1)
    assert first == {
        "severity": "error",
        "rule": "negative",
        "path": "/World/hinge.newton:armature",
        "message": "is -2 mass*distance^2, must not be negative",
        "allowed": RULES["negative"].allowed,
        "fix": RULES["negative"].fix,
    }


def test_rules_are_listed(capsys):
    """The catalogue is a table of at most 120 columns, and JSON with every word of it."""
    assert main(["check", "--rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[0] == "Rules" and lines[1].split() == ["rule", "severity", "meaning"]
    assert [line.split()[0] for line in lines[2:] if not line.startswith("   ")] == list(RULES)
    words = " ".join(" ".join(lines).split())
    listed = json_of(capsys, "check", "--rules")
    assert [entry["rule"] for entry in listed] == list(RULES)
    assert all(entry["meaning"] in words and f"Fix: {entry['fix']}" in words for entry in listed)
    assert main(["check"]) == 2
    assert "one of STAGE and --rules is required" in capsys.readouterr().err


@pytest.mark.parametrize("option", [(), ("--dynamics",), ("--assemble",), ("--assemble", "-o", "start.usda")])
def test_check_of_what_is_no_stage(capsys, tmp_path, option):
    """A program gets findings with that, in the form of any stage; people get a line."""
    broken = tmp_path / "broken.usda"
    broken.write_text('#usda 1.0\ndef "open" {')
    for path, sentence in ((str(broken), "cannot be read"), ("none.usda", "there is no such file")):
        given = json_of(capsys, "check", path, *option, code=1)
        (found,) = given["diagnostics"] if option else given
        assert not option or not any(value for name, value in given.items() if name != "diagnostics")
        assert (found["severity"], found["rule"], found["path"]) == ("error", "stage-unreadable", "/")
        assert path in found["message"] and sentence in found["message"]
        assert main(["check", path, *option]) == 1
        assert sentence in capsys.readouterr().err


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
        ("fixed_tendon_two_joints", "fixed_tendons", "j2 -0.5 [-0.0087266] -0.5"),
        ("fixed_tendon_offset_rest", "fixed_tendons", "j1:t on 60 1.5 0.05 0.2"),
        ("fixed_tendon_offset_rest", "fixed_tendons", "rest length physxTendon:*:restLength physx distance 1/1"),
        (
            "spatial_tendon_two_leaves",
            "spatial_tendons",
            "Attachments: not authored: lower limit free, upper limit free",
        ),
        ("spatial_tendon_two_leaves", "spatial_tendons", "c:leafc c"),
        ("mimic_hard_gear", "mimics", "j_follow 0.17453 +1 j_lead hard on"),
    ],
)
def test_couplings_are_shown(capsys, stage, kind, line):
    """Tendons and mimic joints stand in the tables and, with names for indices, in strict JSON."""
    path = f"tests/data/oracle/stages/{stage}.usda"
    content = json_of(capsys, "inspect", path)
    assert len(content["articulations"][0][kind]) == 1
    json.dumps(content, allow_nan=False)
    assert any(found.startswith(line) for found in lines_of(capsys, path))


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
    assert "'bullet' is not a schema family" in capsys.readouterr().err


def test_identities_of_dynamics(capsys, monkeypatch):
    """A table for each articulation; the exit code is 1 when one fails."""
    line = ["check", "--dynamics", "--states", "2", "samples/scenes/pendulum.usda"]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "M vdot + c + g = tau" in text and text.endswith("29 identities hold, 0 do not\n")
    content = json_of(capsys, *line)
    assert content["diagnostics"] == [] and len(content["dynamics"]) == 29
    assert {item["articulation"] for item in content["dynamics"]} == {"/World/pendulum"}
    assert all(item["holds"] and item["residual"] <= item["allowed"] for item in content["dynamics"])
    monkeypatch.setattr(verify, "ALLOWED_OF_MOTION", -1.0)
    assert main(line) == 1
    assert "28 identities hold, 1 do not" in capsys.readouterr().out


def test_a_stage_with_errors_has_no_dynamics(tmp_path, capsys):
    path = str(tmp_path / "none.usda")
    Usd.Stage.CreateNew(path).Save()
    content = json_of(capsys, "check", "--dynamics", path, code=1)
    assert content["dynamics"] == [] and content["diagnostics"][0]["severity"] == "error"


def test_when_trees_sleep(capsys, tmp_path):
    """The time at rest, the threshold with its origin, and what starts asleep; nothing where nothing is authored."""
    stage = pendulum("", applied=())
    stage.GetPrimAtPath("/World").CreateAttribute("physxArticulation:sleepThreshold", Sdf.ValueTypeNames.Float).Set(0.5)
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.RigidBodyAPI):
            UsdPhysics.RigidBodyAPI(prim).CreateStartsAsleepAttr(True)
    author.scene(stage, "/scene", sleep_after=0.25)
    path = tmp_path / "sleeps.usda"
    stage.GetRootLayer().Export(str(path))
    lines = lines_of(capsys, path)
    assert "sleep after 0.25 s [warpArtic:scene:sleepAfter, warpArtic]" in lines
    assert "sleep threshold 0.5 m^2/s^2 [physxArticulation:sleepThreshold, physx]" in lines
    assert "starts asleep [usdphysics physics:startsAsleep]" in lines
    content = json_of(capsys, "inspect", str(path))
    assert (content["sleep_after"], content["articulations"][0]["sleep_threshold"]) == (0.25, 0.5)
    assert not [line for line in lines_of(capsys, "samples/scenes/arm.usda") if "sleep" in line]
