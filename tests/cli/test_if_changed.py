"""`simulate --if-changed` does nothing where the run layer is of the same inputs and settings."""

import json
import os
import resource
import shutil
import subprocess
import sys

import pytest
from pxr import Sdf, Usd, Vt

from warp_artic.cli.main import main


@pytest.fixture
def folder(tmp_path):
    """With a stage that sublayers a pendulum."""
    shutil.copy("samples/scenes/pendulum.usda", tmp_path / "pendulum.usda")
    shot = Sdf.Layer.CreateNew(str(tmp_path / "shot.usda"))
    shot.subLayerPaths.append("./pendulum.usda")
    shot.Save()
    return tmp_path


def simulate(folder, *options: str, output: str = "out.usdc") -> bool:
    """Run it for some steps; whether the layer was written anew."""
    out = folder / output
    before = out.stat().st_mtime_ns if out.exists() else None
    line = ["simulate", str(folder / "shot.usda"), "-o", str(out), "--if-changed", "--steps", "4", *options]
    assert main(line) == 0
    return out.stat().st_mtime_ns != before


def test_what_is_done_is_not_done_again(folder, capsys):
    """A change of a layer, of a setting or of the output is."""
    assert simulate(folder)
    assert not simulate(folder)
    assert f"{folder / 'out.usdc'}: is of this stage and these settings already" in capsys.readouterr().out
    assert not simulate(folder, "--threads", "1")
    assert simulate(folder, "--dt", "1/120")
    assert not simulate(folder, "--dt", "1/120")
    path = folder / "pendulum.usda"
    path.write_text(path.read_text() + "\n# a word\n")
    assert simulate(folder, "--dt", "1/120")
    (folder / "out.usdc").write_bytes(b"no layer")
    assert simulate(folder, "--dt", "1/120")
    assert simulate(folder, output="other.usda")


def test_another_stage_and_other_inputs(folder):
    """The bytes of an inputs file count, and so does which stage it is."""
    inputs = folder / "inputs.json"
    inputs.write_text(json.dumps({"joint_velocity": [0.5]}))
    line = ("--inputs", str(inputs))
    assert simulate(folder, *line) and not simulate(folder, *line)
    inputs.write_text(json.dumps({"joint_velocity": [0.25]}))
    assert simulate(folder, *line)
    shutil.copy(folder / "shot.usda", folder / "copy.usda")
    out = folder / "out.usdc"
    before = out.stat().st_mtime_ns
    assert main(["simulate", str(folder / "copy.usda"), "-o", str(out), "--if-changed", "--steps", "4", *line]) == 0
    assert out.stat().st_mtime_ns != before


def test_a_layer_that_was_missing(folder):
    """A stage is another one when a layer comes that a reference, a payload or a sublayer has asked for in vain."""
    shot = Sdf.Layer.FindOrOpen(str(folder / "shot.usda"))
    shot.subLayerPaths.insert(0, "./late.usda")
    prim = Sdf.CreatePrimInLayer(shot, "/Late")
    prim.referenceList.Prepend(Sdf.Reference("parts/late.usda", "/Late"))
    shot.Save()
    assert simulate(folder) and not simulate(folder)
    for name in ("late.usda", "parts/late.usda"):
        late = folder / name
        late.parent.mkdir(exist_ok=True)
        late.write_text('#usda 1.0\ndef "Late"\n{\n}\n')
        assert simulate(folder) and not simulate(folder)
        late.unlink()
        assert simulate(folder) and not simulate(folder)


def test_a_layer_that_could_not_be_read(folder):
    """One that is damaged is left out of the stage with a warning; once it is whole, the stage is another one."""
    damaged = folder / "damaged.usda"
    damaged.write_text("#usda 1.0\ndef Late {")
    shot = Sdf.Layer.FindOrOpen(str(folder / "shot.usda"))
    shot.subLayerPaths.insert(0, "./damaged.usda")
    shot.Save()
    assert simulate(folder) and not simulate(folder)
    damaged.write_text('#usda 1.0\ndef "Late"\n{\n}\n')
    assert simulate(folder) and not simulate(folder)


def clip_over(folder, **how):
    """The stage takes values of a prim from a clip."""
    shot = Sdf.Layer.FindOrOpen(str(folder / "shot.usda"))
    prim = Sdf.CreatePrimInLayer(shot, "/Clipped")
    times = {"active": [(0.0, 0.0)], "times": [(0.0, 0.0), (1.0, 1.0)]}
    times = {name: Vt.Vec2dArray(values) for name, values in times.items()} | {"primPath": "/Clipped"}
    stage = Usd.Stage.Open(shot)
    stage.GetPrimAtPath(prim.path).SetMetadata("clips", {"default": times | how})
    shot.Save()


def test_value_clips(folder):
    """They count although a stage opens them when it is asked for their values alone; a template is always run."""
    clip = folder / "clip.usda"
    clip.write_text("#usda 1.0\n")
    clip_over(folder, assetPaths=Sdf.AssetPathArray([Sdf.AssetPath("./clip.usda")]))
    assert simulate(folder) and not simulate(folder)
    clip.write_text("#usda 1.0\n# other\n")
    assert simulate(folder) and not simulate(folder)
    clip_over(folder, templateAssetPath="./clip.#.usda", templateStartTime=0.0, templateEndTime=1.0)
    assert simulate(folder) and simulate(folder)


def test_a_folder_that_is_moved(folder, tmp_path_factory):
    """Layers are named relative to the run layer."""
    assert simulate(folder)
    moved = tmp_path_factory.mktemp("elsewhere") / "moved"
    shutil.move(folder, moved)
    assert not simulate(moved)
    assert json.loads(Sdf.Layer.FindOrOpen(str(moved / "out.usdc")).customLayerData["warpArtic"]["inputLayers"]) == [
        "pendulum.usda",
        "shot.usda",
    ]
    assert Usd.Stage.Open(str(moved / "out.usdc"))


def test_json_and_bad_usage(folder, capsys):
    """Programs get an object; a layer is needed, alone."""
    assert simulate(folder)
    capsys.readouterr()
    assert not simulate(folder, "--json")
    assert json.loads(capsys.readouterr().out)["unchanged"] == str(folder / "out.usdc")
    stage = str(folder / "shot.usda")
    assert main(["simulate", stage, "--if-changed"]) == 2
    assert main(["simulate", stage, "--if-changed", "-o", "a.usdc", "--record", "a.npz"]) == 2
    assert "if changed: goes with --output alone" in capsys.readouterr().err


def test_it_is_quick(folder):
    """An unchanged stage takes no more than twice the time in which Python and USD begin, and loads no Warp."""
    assert simulate(folder)
    line = ["simulate", str(folder / "shot.usda"), "-o", str(folder / "out.usdc"), "--if-changed", "--steps", "4"]
    script = f"import sys; from warp_artic.cli.main import main; code = main({line!r}); "
    script += "assert not {'warp', 'numpy', 'rich', 'pxr.Usd'} & set(sys.modules), sorted(sys.modules); sys.exit(code)"
    seconds = []
    for code in ("import warp_artic; from pxr import Sdf", script):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert seconds[1] < 2.0 * seconds[0]
