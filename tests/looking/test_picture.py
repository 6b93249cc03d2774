"""Pictures: that all is in them, where it should be, lit as it should be; and what is refused."""

import json
import sys

import numpy as np
import pytest
from PIL import Image

import warp_artic as wa
from warp_artic.cli.main import main
from warp_artic.looking.camera import camera_axes, fitted


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    """Relative paths start at the root."""
    monkeypatch.chdir(__file__.partition("/tests/")[0])


@pytest.fixture
def ball(tmp_path):
    """A red ball of 0.2 m on a plane, which goes 1 m along X in a second."""
    path = tmp_path / "ball.usda"
    path.write_text("""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
    startTimeCode = 0
    endTimeCode = 24
)
def Plane "floor"
{
    uniform token axis = "Z"
}
def Sphere "ball"
{
    double radius = 0.2
    color3f[] primvars:displayColor = [(0.9, 0.1, 0.1)]
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0.2), 24: (1, 0, 0.2) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
""")
    return str(path)


def red(path):
    """Columns and rows of red pixels of a picture."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    rows, columns = np.nonzero(pixels[..., 0] > 1.8 * pixels[..., 1])
    return columns, rows


@pytest.mark.parametrize("up", [1, 2])
def test_all_points_are_in_the_picture(up):
    """And the corners reach to what the margin leaves; a level camera has up upwards."""
    points = np.random.default_rng(3).normal(size=(50, 3))
    axes = camera_axes(-50.0, 20.0, up)
    assert axes @ axes.T == pytest.approx(np.eye(3)) and np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[1] @ np.eye(3)[up] == pytest.approx(np.cos(np.radians(20.0)))
    camera = fitted(points, axes, 640, 440)
    pixels = camera.pixels(points)
    assert (pixels > 0).all() and (pixels < [640, 440]).all()
    assert max(np.ptp(pixels[:, 0]) / 640, np.ptp(pixels[:, 1]) / 440) > 0.75


def test_a_ball_is_round_where_it_is(ball, tmp_path, capsys):
    """From the side it is a disc of the size that the bar says, and the sun from above lights its upper half."""
    out = tmp_path / "ball.png"
    words = ["--times", "0", "--size", "240x200", "--azimuth", "-90", "--elevation", "5", "--no-scale"]
    assert main(["render", ball, "-o", str(out), *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["poses"] == 1
    columns, rows = red(out)
    assert np.ptp(columns) == pytest.approx(np.ptp(rows), abs=6)
    pixels = np.asarray(Image.open(out).convert("RGB")).astype(int)[..., 0]
    middle = round(np.mean(columns))
    assert pixels[rows.min() + 25, middle] > pixels[rows.max() - 15, middle] + 20


def test_poses_of_one_picture_and_loops(ball, tmp_path):
    """Three poses are as far apart as in the motion; a loop has a frame each 1/10 s, in which the ball moves on."""
    still, loop = tmp_path / "poses.webp", tmp_path / "loop.webp"
    side = ["--size", "320x160", "--azimuth", "-90", "--elevation", "5", "--no-scale"]
    assert main(["render", ball, "-o", str(still), "--times", "0,1", *side]) == 0
    columns, _ = red(still)
    faint = np.asarray(Image.open(still).convert("RGB")).astype(int)
    at_start = faint[:, : columns.min() - 20]
    assert (at_start[..., 0] - at_start[..., 1]).max() > 10  # the first pose is there, faintly
    assert main(["render", ball, "-o", str(loop), "--frames-per-second", "10", "--clock", *side]) == 0
    image = Image.open(loop)
    assert image.n_frames == 11
    places = []
    for frame in (0, 5, 10):
        image.seek(frame)
        image.convert("RGB").save(tmp_path / "frame.png")
        places.append(np.mean(red(tmp_path / "frame.png")[0]))
    assert np.diff(places) == pytest.approx([np.ptp(places) / 2] * 2, rel=0.05) and np.ptp(places) > 100
    assert places[2] == pytest.approx(columns.mean(), abs=15)


def test_a_loop_of_a_recording_that_begins_later_is_of_its_first_seconds(tmp_path):
    """Times of records go on from those of the run before."""
    stage = "samples/scenes/pendulum.usda"
    simulation = wa.Simulation(wa.read_stage(stage))
    simulation.step(1200)
    simulation.record(48).save(tmp_path / "later.npz")
    line = [
        "render",
        str(tmp_path / "later.npz"),
        "--stage",
        stage,
        "-o",
        str(tmp_path / "x.webp"),
        "--duration",
        "0.1",
    ]
    assert main([*line, "--size", "32x32"]) == 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["-o", "x.bmp"], "a picture is .png"),
        (["-o", "x.gif", "--times", "0"], "are one picture"),
        (["-o", "x.png", "--size", "10"], "is not a width and a height"),
        (["-o", "x.png", "--times", "a"], "is not a list of seconds"),
        (["-o", "x.png", "--times", "7"], "ends at 1 s"),
        (["-o", "x.webp", "--duration", "-1"], "duration: -1 s is not a time of at least 0"),
        (["-o", "x.png", "--trail", "/bal"], "did you mean /ball?"),
        (["-o", "nowhere/x.png"], "there is no folder nowhere"),
    ],
)
def test_wrong_options_are_refused(ball, words, sentence, capsys):
    """With a line that says what is allowed, before anything is drawn."""
    assert main(["render", ball, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_without_pillow_a_line_says_how_to_get_it(ball, monkeypatch, tmp_path, capsys):
    """The name of the extra."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["render", ball, "-o", str(tmp_path / "x.png")]) == 2
    assert "pip install 'warp-artic[render]'" in capsys.readouterr().err
