"""The report on a run: what its page holds, in a browser and without one."""

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

import warp_artic as wa
from tests.looking.browser import needs_browser, opened
from warp_artic.cli.main import main
from warp_artic.description.drawing import pose_matrices

HAND = "samples/scenes/coupled_hand.usda"
TIMES = (0.0, 0.05, 0.1, 0.15, 0.2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Recordings of the hand: with forces, of 0.2 s; and another one with semi-implicit steps."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(__file__.partition("/tests/")[0])
        first = str(folder / "first.npz")
        assert main(["simulate", HAND, "--steps", "48", "--forces", "--record", first]) == 0
        recording = wa.Recording.load(first)
        other = str(folder / "other.npz")
        moved = recording.joint_position + np.float32(1e-3)
        wa.Recording(**{**fields_of(recording), "joint_position": moved}).save(other)
    return first, other


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    """Relative paths start at the root."""
    monkeypatch.chdir(__file__.partition("/tests/")[0])


def fields_of(recording):
    """The fields of a recording by name."""
    return {name: getattr(recording, name) for name in recording.__dataclass_fields__}


def arrays_of(page):
    """The data of a page, and its arrays."""
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    block = zlib.decompress(base64.b64decode(re.search(r'id="arrays">(.*?)</script>', page, re.S)[1]), wbits=-15)
    kinds = {"f": "f4", "u": "u4", "h": "u2", "b": "i1", "c": "u1"}
    return data, [np.frombuffer(block, kinds[kind], count, offset) for kind, offset, count in data["arrays"]]


def test_the_page_holds_the_run(runs, tmp_path, capsys):
    """Poses are those recorded, plots are within 1 / 65535 of their range, and nothing is fetched from elsewhere."""
    out = tmp_path / "report.html"
    assert main(["report", runs[0], "-o", str(out)]) == 0
    page = out.read_text()
    assert len(page) < 1e6 and not re.search(
        r"https?://|//[a-z]+\.|@import|src=", page.replace("http://www.w3.org", "")
    )
    data, arrays = arrays_of(page)
    recording = wa.Recording.load(runs[0])
    run, bodies = data["runs"][0], data["drawing"]["bodies"]
    time, poses = arrays[run["time"]], arrays[run["poses"]].reshape(-1, len(bodies), 7)
    rows = np.searchsorted(recording.time, time - 1e-6)
    order = [bodies.index(name) for name in recording.link_names]
    assert np.abs(poses[:, order, :3] - recording.link_pose[rows, 0, :, :3]).max() < 1e-5
    titles = {panel["title"] for panel in data["panels"]}
    assert {"energy", "wrist_flexion  position", "wrist_flexion  effort", "index_tendon  force"} <= titles
    (panel,) = [panel for panel in data["panels"] if panel["title"] == "wrist_flexion  position"]
    line = panel["lines"][0]
    values = line["low"] + line["step"] * arrays[line["values"]].astype(float)
    column = recording.joint_names.index("/World/hand/wrist_flexion")
    exact = np.degrees(recording.joint_position[rows, 0, column].astype(float))
    assert np.abs(values - exact).max() <= np.ptp(exact) / 65535
    assert panel["lines"][1]["target"] and panel["lower"] < panel["upper"]
    assert "warp-artic simulate" in page and "digest of the stage" in page
    assert f"wrote {out}" in capsys.readouterr().out


def test_the_stage_is_found_again(runs, tmp_path, capsys):
    """From the folder of the recording or from anywhere; a change of it is told, and its absence says what to do."""
    stage = tmp_path / "arm.usda"
    text = open("samples/scenes/pendulum.usda").read()
    stage.write_text(text)
    run, out = str(tmp_path / "run.npz"), str(tmp_path / "report.html")
    assert main(["simulate", str(stage), "--steps", "2", "--record", run]) == 0
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "run.npz").rename(moved / "run.npz")
    assert main(["report", str(moved / "run.npz"), "-o", out]) == 0
    stage.write_text(text.replace("#usda 1.0", "#usda 1.0\n# a comment changes nothing"))
    capsys.readouterr()
    assert main(["report", str(moved / "run.npz"), "-o", out]) == 0
    assert "has changed" not in capsys.readouterr().out
    stage.write_text(
        text.replace("metersPerUnit = 1", 'customLayerData = { string note = "x" }\n    metersPerUnit = 1')
    )
    assert main(["report", str(moved / "run.npz"), "-o", out]) == 0
    assert "has changed since" in capsys.readouterr().out
    stage.unlink()
    assert main(["report", str(moved / "run.npz"), "-o", out]) == 2
    assert "which is not there; name it with --stage" in capsys.readouterr().err
    assert main(["report", str(moved / "run.npz"), "--stage", "samples/scenes/pendulum.usda", "-o", out]) == 0


def test_a_reference_decides(runs, tmp_path, capsys):
    """The recording is its own reference; 1 mrad beside it is beyond 1e-4, and the case in the XML says where."""
    out, xml = str(tmp_path / "r.html"), tmp_path / "r.xml"
    assert main(["report", runs[0], "--reference", runs[0], "--tolerance", "0", "-o", out]) == 0
    assert main(["report", runs[1], "--reference", runs[0], "-o", out, "--junit", str(xml)]) == 1
    suite = ElementTree.parse(xml).getroot()[0]
    failed = [case.get("name") for case in suite if len(case)]
    assert failed == ["reference: joint_position"]
    assert "joint_position: differs by 0.001" in capsys.readouterr().out
    assert main(["report", runs[1], "--reference", runs[0], "-o", out, "--tolerance", "0.01", "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["good"]


def test_a_reference_without_anything_to_compare_is_refused(tmp_path, capsys):
    """It would pass without a word."""
    stage = "samples/scenes/pendulum.usda"
    simulation = wa.Simulation(wa.read_stage(stage))
    for quantity in ("joint_position", "link_pose"):
        simulation.record(4, quantities=[quantity]).save(tmp_path / f"{quantity}.npz")
        simulation.reset()
    first, second = (str(tmp_path / f"{name}.npz") for name in ("link_pose", "joint_position"))
    assert main(["report", first, "--stage", stage, "--reference", second, "-o", str(tmp_path / "r.html")]) == 2
    assert "quantities: the recording has link_pose, and its reference joint_position" in capsys.readouterr().err


def test_the_model_is_verified(tmp_path, capsys):
    """Where it is asked for: its identities are in the page, among the test cases, and for programs."""
    run, page, cases = (str(tmp_path / name) for name in ("run.npz", "report.html", "out.xml"))
    assert main(["simulate", "samples/scenes/pendulum.usda", "--steps", "24", "--record", run]) == 0
    capsys.readouterr()
    assert main(["report", run, "-o", page, "--verify", "--junit", cases, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["model"]
    scene = wa.read_stage("samples/scenes/pendulum.usda")
    residuals = wa.Simulation(scene).verify()
    assert {one["what"] for one in found} == {f"{one.identity}, {one.precision}" for one in residuals}
    assert all(one["holds"] for one in found) and max(one["found"] for one in found) == max(
        one.residual for one in residuals
    )
    text = (tmp_path / "report.html").read_text()
    assert "Identities of the model" in text and all(one["what"] in text for one in found)
    names = [case.get("name") for case in ElementTree.parse(cases).iter("testcase")]
    assert {f"model: {one['what']}" for one in found} <= set(names)


def test_two_runs_are_overlaid(runs, tmp_path):
    """Panels have the lines of both."""
    out = tmp_path / "two.html"
    assert main(["report", *runs, "-o", str(out)]) == 0
    data, _ = arrays_of(out.read_text())
    assert len(data["runs"]) == 2
    assert {line["run"] for line in data["panels"][1]["lines"]} == {0, 1}


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["samples/scenes/arm.usda"], 2, "a report is on recordings"),
        (["none.npz"], 2, "none.npz"),
        (["pyproject.npz", "a.npz", "b.npz"], 2, "overlays at most 2"),
    ],
)
def test_wrong_files_are_refused(words, code, sentence, tmp_path, capsys):
    """With a line that says what is allowed."""
    assert main(["report", *words, "-o", str(tmp_path / "r.html")]) == code
    assert sentence in capsys.readouterr().err


@needs_browser
def test_the_page_in_a_browser(runs, tmp_path):
    """No problem, no request; matrices at five times are those of the recording; the picture follows the slider."""
    out = tmp_path / "report.html"
    assert main(["report", runs[0], "-o", str(out)]) == 0
    script = """
      const canvas = document.getElementById("replay"), found = {bodies: report.bodies, matrices: [], pictures: []};
      for (const time of %s) {
        report.setTime(time);
        found.matrices.push(report.matrices());
        found.pictures.push(canvas.toDataURL());
      }
      const slider = document.getElementById("time");
      slider.value = 0.1; slider.dispatchEvent(new Event("input"));
      found.slider = report.matrices(); found.clock = document.getElementById("clock").textContent;
      return found;
    """
    seen = opened(out, script % list(TIMES))
    assert seen["ready"] == "yes" and seen["problems"] == [] and seen["requests"] == []
    recording, found = wa.Recording.load(runs[0]), seen["found"]
    order = [found["bodies"].index(name) for name in recording.link_names]
    for time, matrices in zip(TIMES, found["matrices"]):
        row = np.searchsorted(recording.time, time - 1e-6)
        exact = pose_matrices(recording.link_pose[row, 0].astype(float))
        assert np.abs(np.array(matrices).reshape(-1, 3, 4)[order] - exact).max() < 1e-5
    assert found["slider"] == pytest.approx(found["matrices"][2], abs=1e-6) and found["clock"] == "0.100 s"
    assert len(set(found["pictures"])) == len(TIMES) and min(map(len, found["pictures"])) > 20_000
