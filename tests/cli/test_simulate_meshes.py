"""`warp-artic simulate`, `convert` and `check` of stages with elastic bodies and tendons on them."""

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from tests.usd.authoring import SMALL_UNITS, open_text
from tests.usd.meshes import rubber, sheet, tendon, world
from warp_artic.cli.main import main
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.read_stage import read_stage

PINNED = "uniform int[] warpArtic:elastic:pinnedNodes = [0, 3]\n"
PULLED = """int[] warpArtic:nodes = [2, 5]
uniform token warpArtic:law = "spring"
double warpArtic:targetLength.timeSamples = { 0: 1, 12: 0.5 }
"""
MATERIAL = """double warpArtic:elasticMaterial:youngModulus = 1000
double warpArtic:elasticMaterial:density = 1
double warpArtic:elasticMaterial:stiffnessDamping = 0.01
"""
SCENE = """def PhysicsScene "scene" (prepend apiSchemas = ["WarpArticSceneAPI"]) {
    float physics:gravityMagnitude = 0
    uniform double warpArtic:scene:timeStepsPerSecond = 60
}
"""


@pytest.fixture
def stage(tmp_path):
    """A stage of a sheet alone, which a tendon narrows at its end."""
    path = str(tmp_path / "sheet.usda")
    text = rubber(MATERIAL) + sheet(PINNED) + tendon(PULLED)
    open_text(f'{SCENE}def Xform "World" {{\n{text}}}\n').GetRootLayer().Export(path)
    return path


def test_a_stage_of_meshes_alone(stage, tmp_path, capsys):
    """Points and tendons are recorded and baked; the end of the run tells of them."""
    layer, arrays = str(tmp_path / "run.usda"), str(tmp_path / "run.npz")
    assert main(["simulate", stage, "--duration", "0.5", "-o", layer, "--record", arrays]) == 0
    text = capsys.readouterr().out
    assert "1 elastic body of 4 elements, 1 tendon on meshes" in text
    assert "body       /World/sheet  nodes move at most" in text and "tendon     /World/cable" in text
    recording = Recording.load(arrays)
    assert recording.mesh_nodes == ("/World/sheet",) * 6 and recording.mesh_tendon_names == ("/World/cable",)
    points = recording.mesh_points[:, 0]
    assert np.array_equal(points[-1, [0, 3]], points[0, [0, 3]])
    length = np.linalg.norm(points[:, 2] - points[:, 5], axis=1)
    np.testing.assert_allclose(recording.mesh_tendon_length[:, 0, 0], length, rtol=1e-5)
    assert length[-1] < 0.99
    target = 1 - recording.time
    np.testing.assert_allclose(recording.mesh_tendon_tension[1:, 0, 0], 40 * (length - target)[1:], atol=1e-3)
    opened = Usd.Stage.Open(layer)
    baked = UsdGeom.Mesh(opened.GetPrimAtPath("/World/sheet")).GetPointsAttr()
    np.testing.assert_allclose(baked.Get(12.0), points[30], atol=1e-6)
    assert opened.GetPrimAtPath("/World/cable/warpArticPath").IsA(UsdGeom.BasisCurves)
    assert main(["check", layer]) == 0


def test_clips_and_environments(stage, tmp_path):
    """Long runs go to clips, and copies run alike."""
    layer, arrays = str(tmp_path / "run.usda"), str(tmp_path / "run.npz")
    assert main(["simulate", stage, "--steps", "24", "-o", layer, "--clips", "0.2"]) == 0
    assert main(["simulate", stage, "--steps", "24", "--record", arrays, "--environments", "2"]) == 0
    recording = Recording.load(arrays)
    assert np.array_equal(recording.mesh_points[:, 0], recording.mesh_points[:, 1])
    opened = Usd.Stage.Open(layer)
    points = UsdGeom.Mesh(opened.GetPrimAtPath("/World/sheet")).GetPointsAttr()
    np.testing.assert_allclose(points.Get(9.6), recording.mesh_points[24, 0], atol=1e-6)
    np.testing.assert_allclose(points.Get(2.0), recording.mesh_points[5, 0], atol=1e-6)


@pytest.mark.parametrize("more", [["--sleep-after", "0.1"], ["--forces"], ["--steps", "0"], ["--precision", "float64"]])
def test_options_without_articulations(stage, more):
    """What options have to say of articulations they say of none."""
    steps = [] if "--steps" in more else ["--steps", "2"]
    assert main(["simulate", stage, *steps, *more]) == 0


def test_there_is_nothing_to_verify(stage, capsys):
    """Identities of dynamics are those of articulations."""
    assert main(["check", "--dynamics", stage]) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_a_wrong_mesh_is_refused(stage, tmp_path, capsys):
    """In one line, before anything is simulated."""
    path = tmp_path / "wrong.usda"
    path.write_text(open(stage).read().replace("[0, 1, 3, 1, 4, 3,", "[0, 1, 3, 4, 1, 3,"))
    assert main(["simulate", str(path)]) == 1
    assert capsys.readouterr().err == (
        "warp-artic: error: /World/sheet: element 1 of nodes 4 1 3 is flipped: its area at rest is -0.5 m^2, must be "
        "positive\n"
    )


def test_convert_leaves_ours_alone(tmp_path, capsys):
    """A stage that speaks of meshes in our schemas already keeps what it says."""
    source, copy = str(tmp_path / "soft.usda"), str(tmp_path / "copy.usda")
    text = world(sheet(PINNED), tendon(PULLED), header=SMALL_UNITS)
    text.GetRootLayer().Export(source)
    assert main(["convert", source, copy, "--to", "warpArtic"]) == 0
    before, after = read_stage(source), read_stage(copy)
    assert repr(after.elastic_bodies) == repr(before.elastic_bodies)
    assert after.mesh_tendons == before.mesh_tendons
