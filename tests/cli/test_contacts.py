"""What commands say of contacts."""

import json
import re

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.usd.authoring import open_text
from warp_artic.cli.main import main
from warp_artic.sim.record.recording import Recording


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> str:
    """A box that is 1 mm deep in the ground at the start, and a ball that falls beside it."""
    scene = ContactScene(solids=(box("box", 0.1, (0, 0, 0.099), mass=2.0), sphere("ball", 0.1, (0.3, 0, 0.2))))
    path = tmp_path_factory.mktemp("stage") / "scene.usda"
    open_text(scene.usd).GetRootLayer().Export(str(path))
    return str(path)


def test_runs_say_how_far_colliders_overlap_and_push(stage, tmp_path, capsys):
    """A line of pairs and overlap, and with forces the largest one: that of the impact."""
    record = tmp_path / "run.npz"
    assert main(["simulate", stage, "--steps", "120", "--forces", "--record", str(record)]) == 0
    told = capsys.readouterr().out
    text = "3 pairs of colliders can touch; overlap at most 0.001 m, between /World/ground and /World/box/shape"
    assert re.search(f"^contacts +{text}$", told, re.M)
    force = re.search(r"^ +force at most (\S+) N, between /World/ground and /World/ball/shape$", told, re.M)
    recording = Recording.load(record)
    assert float(force[1]) == pytest.approx(recording.contact_force_on("/World/ball")[..., 2].max(), rel=1e-3)
    np.testing.assert_allclose(recording.contact_force_on("/World/box")[-1, 0, 2], 2.0 * 9.81, rtol=1e-3)


def test_runs_without_forces_say_it_too(stage, capsys):
    """The overlap alone, also for programs."""
    assert main(["simulate", stage, "--steps", "10", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["summary"]["contacts"]
    assert told.startswith("3 pairs of colliders can touch; ")


def test_inspect_lists_pairs_and_mechanisms(stage, capsys):
    """What may touch what, by which numbers, and what is stepped together."""
    assert main(["inspect", stage]) == 0
    told = capsys.readouterr().out
    assert "Stepped as one mechanism: /World/box, /World/ball\n" in told
    assert re.search(r"^ +plane /World/ground +box /World/box/shape +on ", told, re.M)
    shared = " ".join(told.split())
    assert "Contact pairs, all: static friction 0.5, dynamic friction 0.5, torsional friction 0 m, rolling" in shared
    assert "rolling friction 0 m, restitution 0, " in shared
    assert "stiffness rigid," in told
    assert main(["inspect", stage, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["totals"]["contact_pairs"] == 3
    assert content["totals"]["constraints"] == 0
    assert content["mechanisms"] == [["/World/box", "/World/ball"]]
    pairs = {tuple(side["path"] for side in one["colliders"]): one for one in content["contact_pairs"]}
    one = pairs["/World/ground", "/World/ball/shape"]
    assert one["colliders"][1] == {"path": "/World/ball/shape", "kind": "sphere", "link": "/World/ball"}
    assert (one["static_friction"], one["stiffness"], one["units"]["stiffness"]) == (0.5, None, "N/m")
