"""`warp-artic check --assemble` on linkages that are open at the start."""

import json
import math

import numpy as np
import pytest
from pxr import Usd

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, body, joint, open_text, schemas
from warp_artic.cli.main import main
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.usd.read_stage import read_stage

BARS = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}
GROUND = 0.5
Z = 'uniform token physics:axis = "Z"\n'


def linkage(folder, angles=(40.0, 20.0, 100.0), header=SI, ground=GROUND, limit="", more="", name="linkage"):
    """A four-bar linkage in a file; bodies and joint states at angles of its bars against the ground [deg]."""
    unit = 100.0 if header == SMALL_UNITS else 1.0
    text = body("base") + joint("held", "Fixed", "", "/World/base")
    starts = {"crank": (0.0, 0.0), "rocker": (ground * unit, 0.0)}
    reach = BARS["crank"] * unit
    starts["coupler"] = (reach * math.cos(math.radians(angles[0])), reach * math.sin(math.radians(angles[0])))
    for bar, angle in zip(BARS, angles):
        turn = (
            f"quatf xformOp:orient = ({math.cos(math.radians(angle / 2))}, 0, 0, {math.sin(math.radians(angle / 2))})\n"
        )
        order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
        text += body(bar, turn + order, at=(*starts[bar], 0.0))
    to_end = "point3f physics:localPos{} = ({}, 0, 0)\n"
    text += joint("j0", "Revolute", "/World/base", "/World/crank", Z + limit)
    text += joint("j1", "Revolute", "/World/crank", "/World/coupler", Z + to_end.format(0, reach))
    text += joint("j2", "Revolute", "/World/base", "/World/rocker", Z + to_end.format(0, ground * unit))
    ends = to_end.format(0, BARS["coupler"] * unit) + to_end.format(1, BARS["rocker"] * unit)
    out = "bool physics:excludeFromArticulation = 1\n"
    text += joint("pin", "Revolute", "/World/coupler", "/World/rocker", Z + ends + out)
    stage = open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n', header)
    path = folder / f"{name}.usda"
    stage.GetRootLayer().Export(str(path))
    return path


def content_of(capsys, *line, code=0):
    assert main(["check", *map(str, line), "--assemble", "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_the_layer_starts_closed(header, tmp_path, capsys):
    """A layer over the stage, which stays as it is, reads without an error, and its bodies are at the joints."""
    path = linkage(tmp_path, header=header)
    before, out = path.read_bytes(), tmp_path / "closed.usda"
    content = content_of(capsys, path, "-o", out)
    assert path.read_bytes() == before
    (one,) = content["assembly"]
    assert one["closes"] and content["written"] == str(out)
    (gap,) = one["gaps"]
    assert gap["name"] == "/World/pin" and gap["distance_before"] > 0.01 and gap["distance"] < 1e-12
    scene = read_stage(str(out))
    (tree,) = scene.articulations
    assert start_gap(tree, tree.constraints_of(LoopJoint)[0])[0] < 1e-12
    for dof in tree.dofs:
        assert dof.position == pytest.approx(one["joint_position"][dof.name]["now"], abs=1e-12)
    rules = {finding.rule for finding in scene.diagnostics}
    assert rules.isdisjoint({"state-disagrees-with-pose", "pose-violates-joint", "dialects-differ"})
    stage = Usd.Stage.Open(str(out))
    assert stage.GetRootLayer().subLayerPaths == ["./linkage.usda"]


def test_without_the_layer_it_is_refused(tmp_path, capsys):
    """`simulate` says by how much it is open, and what to do."""
    path = linkage(tmp_path)
    with pytest.raises(wa.StageError, match=r"/World/pin: is open by \d+(\.\d+)? mm and 0 degrees at the start"):
        read_stage(str(path))
    assert main(["simulate", str(path), "--steps", "1"]) == 1
    assert "warp-artic check --assemble" in capsys.readouterr().err
    assert main(["check", str(path)]) == 1
    assert "[loop-open]" in capsys.readouterr().out


def test_a_small_gap_is_closed_at_load(tmp_path):
    """The start is that of the nearest closed one, to rounding."""
    coupler = 20.0
    tip = np.array([0.2 * math.cos(math.radians(40)), 0.2 * math.sin(math.radians(40))])
    # Where a bar of 0.4 m from the ground meets one of 0.5 m from the tip: the law of cosines.
    across = np.array([GROUND, 0.0]) - tip
    reach = np.hypot(*across)
    inner = math.acos((reach**2 + 0.5**2 - 0.4**2) / (2 * reach * 0.5))
    coupler = math.degrees(math.atan2(across[1], across[0]) + inner)
    end = tip + 0.5 * np.array([math.cos(math.radians(coupler)), math.sin(math.radians(coupler))])
    rocker = math.degrees(math.atan2(end[1], end[0] - GROUND))
    path = linkage(tmp_path, (40.0, coupler, rocker + 0.01))
    scene = read_stage(str(path))
    (tree,) = scene.articulations
    assert 1e-5 < start_gap(tree, tree.constraints_of(LoopJoint)[0])[0] < 1e-4
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(precision="float64", variant="scalar"))
    for _ in range(2):
        angles = dict(zip(simulation.joint_names, simulation.state.joint_position.numpy()[:, 0]))
        first, second, third = (angles[f"/World/{name}"] for name in ("j0", "j1", "j2"))
        bars = ((0.2, first), (0.5, first + second), (-0.4, third))
        end = sum(length * np.array([math.cos(angle), math.sin(angle)]) for length, angle in bars)
        np.testing.assert_allclose(end, (GROUND, 0.0), atol=1e-7)  # what is authored is in single precision
        simulation.step(3)
        simulation.reset()
    path = linkage(tmp_path, (40.0, coupler, rocker + 0.1), name="more")
    with pytest.raises(wa.StageError, match="is open by 0.69"):
        read_stage(str(path))


def test_what_cannot_be_closed_is_named(tmp_path, capsys):
    """With the smallest gap there is: bars of 0.2, 0.5 and 0.4 m do not reach over 1.5 m."""
    path, out = linkage(tmp_path, ground=1.5), tmp_path / "closed.usda"
    content = content_of(capsys, path, "-o", out, code=1)
    (one,) = content["assembly"]
    assert not one["closes"] and content["written"] is None and not out.exists()
    assert one["gaps"][0]["distance"] == pytest.approx(0.4, abs=1e-6)
    assert main(["check", str(path), "--assemble"]) == 1
    text = capsys.readouterr().out
    assert "no start was found that closes; the least open one" in text
    assert "then is open by 400 mm" in text


def test_limits_are_kept(tmp_path, capsys):
    """The crank stays within its stops."""
    limit = "float physics:lowerLimit = 60\nfloat physics:upperLimit = 90\n"
    content = content_of(capsys, linkage(tmp_path, limit=limit))
    assert content["assembly"][0]["joint_position"]["/World/j0"]["now"] == pytest.approx(math.radians(60))


def test_text_lists_the_joints(tmp_path, capsys):
    """Before and after; nothing is written without -o."""
    assert main(["check", str(linkage(tmp_path)), "--assemble"]) == 0
    text = capsys.readouterr().out
    assert "/World: there is a start that closes" in text
    assert "/World/j1" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linkage.usda"]


def test_nothing_to_assemble(tmp_path, capsys):
    """A stage that is closed, and one with other errors, which come first."""
    assert main(["check", "samples/scenes/peaucellier.usda", "--assemble"]) == 0
    assert "no mechanism has open loops, distances or mimic joints" in capsys.readouterr().out
    path = linkage(tmp_path, more=joint("bad", "Revolute", "/World/base", "/World/base"))
    content = content_of(capsys, path, code=1)
    assert content["assembly"] == []


@pytest.mark.parametrize(("line", "text"), [(["-o", "x.usda"], "--assemble"), (["--assemble", "--dynamics"], "one of")])
def test_options_that_do_not_go_together(line, text, capsys):
    """Are bad usage."""
    assert main(["check", "samples/scenes/pendulum.usda", *line]) == 2
    assert text in capsys.readouterr().err


def followers(folder, offset):
    """Two arms, of which one is to follow the other at an offset [deg]."""
    text = body("base") + body("a") + body("b") + joint("held", "Fixed", "", "/World/base")
    text += joint("lead", "Revolute", "/World/base", "/World/a", Z)
    content = f"rel newton:mimicJoint = </World/lead>\nfloat newton:mimicCoef0 = {offset}\n"
    text += joint("follow", "Revolute", "/World/base", "/World/b", Z + content, ("NewtonMimicAPI",))
    path = folder / "followers.usda"
    stage = open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n')
    stage.GetRootLayer().Export(str(path))
    return path


def test_a_mimic_joint_that_does_not_hold(tmp_path, capsys):
    """It is a warning with the error, as the first steps turn it into velocity, and the nearest start has none."""
    path, out = followers(tmp_path, 10.0), tmp_path / "start.usda"
    (finding,) = [item for item in read_stage(str(path)).diagnostics if item.rule == "mimic-open"]
    assert finding.path == "/World/follow" and "is off its relation by 10 degrees at the start" in finding.message
    content = content_of(capsys, path, "-o", out)
    (one,) = content["assembly"]
    now = {name: value["now"] for name, value in one["joint_position"].items()}
    np.testing.assert_allclose([now["/World/follow"], now["/World/lead"]], math.radians(5.0) * np.array([1, -1]))
    assert not [item for item in read_stage(str(out)).diagnostics if item.rule == "mimic-open"]
    assert main(["check", str(followers(tmp_path, 0.0)), "--assemble"]) == 0
    assert "no mechanism has open loops, distances or mimic joints" in capsys.readouterr().out


@pytest.mark.parametrize(("least", "most"), [(0.0, 0.98), (1.03, 2.0), (1.03, 1.03)])
def test_a_distance_that_does_not_hold(least, most, tmp_path, capsys):
    """Likewise of a string, of what keeps bodies apart, and of a rod."""
    content = f"point3f physics:localPos0 = (0, 0, 1)\nfloat physics:minDistance = {least}\n"
    content += f"float physics:maxDistance = {most}\n"
    path, out = tmp_path / "string.usda", tmp_path / "start.usda"
    stage = open_text(
        f'def Xform "World" {{\n{body("ball")}{joint("string", "Distance", "", "/World/ball", content)}}}\n'
    )
    stage.GetRootLayer().Export(str(path))
    (finding,) = [item for item in read_stage(str(path)).diagnostics if item.rule == "distance-open"]
    off = 1e3 * abs(1.0 - min(max(1.0, least), most))
    side = "longer" if most < 1.0 else "shorter"
    assert finding.path == "/World/string" and f"is {off:.4g} mm {side}" in finding.message
    (one,) = content_of(capsys, path, "-o", out)["assembly"]
    assert one["closes"]
    assert not [item for item in read_stage(str(out)).diagnostics if item.rule == "distance-open"]
