"""Every sample simulates, and can be drawn."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf

import warp_artic as wa
from tests.cli.sample_runs import SAMPLES, recorded
from tests.usd_schemas.source import SOURCE
from warp_artic.cli.arguments import command_line
from warp_artic.cli.main import main

NAMES = sorted(path.stem for path in (SAMPLES / "scenes").glob("*.usda"))
DIALECTS = tuple(f"four_dialects/{name}" for name in ("warp_artic", "physx", "newton", "mujoco"))
NO_SAMPLE = {
    "enabled",
    "warpArtic:enabled",
    "warpArtic:jointIndices",
    "warpArtic:axes",
    "warpArtic:lowerLimit",
    "warpArtic:elastic:restPoints",
    "warpArtic:elastic:linkIndices",
    "warpArtic:elastic:linkPositions",
    "warpArtic:linkIndices",
    "warpArtic:minTension",
}
"""Switches, what a sample has under a like name (the terms of a mimic joint, an upper limit, points on links, a largest
tension), and the points of a body that starts strained."""


@pytest.mark.parametrize("name", [*NAMES, *DIALECTS])
def test_sample_has_nothing_to_report(name):
    """No sample has an error or a warning."""
    diagnostics = wa.check_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    assert [str(item) for item in diagnostics if item.severity.value != "note"] == []


@pytest.mark.parametrize("name", [*NAMES, *DIALECTS])
def test_sample_moves_and_stays_finite(name):
    """A second of each sample has motion and finite numbers, or two of one that stands at first."""
    _, recording = recorded(name, 2.0 if name == "standing" else 1.0)
    assert np.isfinite(recording.link_pose).all() and np.isfinite(recording.mesh_points).all()
    turned = np.ptp(recording.link_pose, axis=0).max(initial=0.0)
    assert turned > 0.1 or np.ptp(recording.mesh_points, axis=0).max() > 0.02


def test_every_attribute_of_our_schemas_has_a_sample():
    """What can be authored is authored in some sample; there is no attribute that a reader cannot see at work."""
    used = set()
    for file in (SAMPLES / "scenes").rglob("*.usda"):
        layer = Sdf.Layer.FindOrOpen(str(file))
        layer.Traverse(Sdf.Path.absoluteRootPath, lambda path: used.add(path.name) if path.IsPropertyPath() else None)
    missing = []
    for schema in (prim for prim in SOURCE.rootPrims if prim.name != "GLOBAL"):
        prefix = schema.customData.get("propertyNamespacePrefix", "")
        for spec in schema.properties:
            pattern = re.escape(spec.name) if not prefix else rf"{prefix}:\w+:{re.escape(spec.name)}"
            if not spec.documentation.startswith("Output") and not any(re.fullmatch(pattern, name) for name in used):
                missing.append(spec.name)
    assert set(missing) == NO_SAMPLE


def test_four_dialects_move_as_one():
    """In every bit; but the finger on a cord is loose in the dialect that has no tendons."""
    runs = {name.rpartition("/")[2]: recorded(name, 1.0)[1] for name in DIALECTS}
    ours = runs["warp_artic"]
    assert np.ptp(ours.joint_position, axis=0).min() > 0.4
    assert np.abs(ours.tendon_length).max() < 1e-4 and np.abs(ours.mimic_error).max() < 1e-6
    for name, other in runs.items():
        same = [path.startswith("/World/geared/") or name != "newton" for path in ours.joint_names]
        assert other.joint_names == ours.joint_names
        for quantity in ("joint_position", "joint_velocity"):
            one, two = (getattr(recording, quantity)[..., same] for recording in (ours, other))
            np.testing.assert_array_equal(one, two, f"{name} {quantity}")
    loose = ours.joint_names.index("/World/corded/tip")
    assert np.abs(runs["newton"].joint_position - ours.joint_position)[-1, 0, loose] > 1.0


def test_meshes_are_those_of_the_program(tmp_path):
    """The program that writes the meshes of the samples writes these."""
    runpy.run_path(str(SAMPLES / "meshes.py"))["main"](tmp_path)
    written = sorted(tmp_path.iterdir())
    assert len(written) == 5
    for file in written:
        assert file.read_text() == (SAMPLES / "scenes" / "assets" / file.name).read_text()


def test_pictures_can_be_drawn(tmp_path):
    """The commands that draw the gallery are right, and one of them works."""
    pytest.importorskip("PIL")
    lines = re.findall(r"^draw (.*)$", (SAMPLES / "pictures.sh").read_text(), re.M)
    drawn = [command_line().parse_args(["render", *shlex.split(line)]) for line in lines]
    assert all(Path(one.source).exists() for one in drawn)
    (words,) = [shlex.split(line) for line in lines if line.startswith("samples/scenes/pendulum.usda")]
    words[words.index("-o") + 1] = str(tmp_path / "pendulum.webp")
    assert main(["render", *words, "--size", "160x110"]) == 0
    assert (tmp_path / "pendulum.webp").stat().st_size > 1000
