"""What a run says of its own accord: what is left out first, what takes long, and where it was ended."""

import json
import logging
import re
import signal
import time
from contextlib import contextmanager

import pytest
import warp as wp
from pxr import Usd

import warp_artic as wa
from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic.cli import progress, simulate
from warp_artic.cli.main import main
from warp_artic.description.consequences import group_findings, headline
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.hosts.stage_backend import WarpArticBackend
from warp_artic.math import compiling
from warp_artic.usd.write_clips import ClipWriter

FLOOR = f'def Cube "floor" {schemas("PhysicsCollisionAPI")} {{\n}}\n'
CURVES = f'def BasisCurves "hair" {schemas("PhysicsCollisionAPI")} {{\n}}\n'
BALL = f'def Sphere "shape" {schemas("PhysicsCollisionAPI")} {{\n}}\n'
NOT_SIMULATED = "not simulated: contacts of colliders of some kinds; the true motion differs"
CART_POLE = "samples/scenes/cart_pole.usda"


def curves_above_floor() -> Usd.Stage:
    return open_text(body("wig", CURVES, at=(0, 0, 3)) + FLOOR)


def test_curves_fall_through_the_floor_and_that_is_said_first(tmp_path, capsys, caplog):
    """The first line of simulate and check, and a warning of logging in a host."""
    stage, path = curves_above_floor(), str(tmp_path / "wig.usda")
    stage.GetRootLayer().Export(path)
    assert main(["simulate", path, "--steps", "1"]) == 0
    assert re.match(rf"warning +{NOT_SIMULATED}\n", capsys.readouterr().out)
    assert main(["check", path]) == 0
    assert capsys.readouterr().out.startswith(f"warning: {NOT_SIMULATED}\n")
    backend = WarpArticBackend()
    backend.attach(stage)
    backend.detach()
    # Kernels that are not in the cache yet are told of as well, which is no warning.
    (warning,) = (record for record in caplog.records if record.levelno >= logging.WARNING)
    assert warning.levelname == "WARNING"
    assert warning.getMessage().endswith(NOT_SIMULATED)


def test_shapes_that_cannot_meet_are_no_warning(tmp_path, capsys):
    """One body alone, one whose colliders are switched off, and one that touches."""
    off = f'def BasisCurves "hair" {schemas("PhysicsCollisionAPI")} {{\nbool physics:collisionEnabled = 0\n}}\n'
    for number, text in enumerate((body("wig", CURVES), body("wig", off) + FLOOR, body("ball", BALL) + FLOOR)):
        path = str(tmp_path / f"{number}.usda")
        open_text(text).GetRootLayer().Export(path)
        assert main(["check", path]) == 0
        assert NOT_SIMULATED not in capsys.readouterr().out


def test_a_joint_between_two_trees_is_simulated(tmp_path, capsys):
    """So it is not in the headline; that it is open is an error with its path."""
    links = "".join(body(name, at=(k, 0, 0)) for k, name in enumerate("ab"))
    text = links + joint("hinge", "Revolute", "", "/a")
    apart = "bool physics:excludeFromArticulation = 1"
    for name, more, expected in (("open", "", 1), ("closed", "\npoint3f physics:localPos0 = (1, 0, 0)", 0)):
        path = str(tmp_path / f"{name}.usda")
        open_text(text + joint("apart", "Revolute", "/a", "/b", apart + more)).GetRootLayer().Export(path)
        assert main(["check", path]) == expected
        out = capsys.readouterr().out
        assert "not simulated" not in out and ("/apart: is open by 1000 mm" in out) == bool(expected)


def test_findings_are_grouped_by_consequence():
    """What is left out comes first, many of one rule are one line, and attributes are counted by namespace."""
    warn = Severity.WARNING
    found = [Diagnostic(warn, "attribute-not-used", f"/a{k}.physics:tensor:x{k}", "is not used") for k in range(1200)]
    found += [Diagnostic(warn, "attribute-not-used", f"/a.newton:y{k}", "is not used") for k in range(20)]
    found += [Diagnostic(warn, "inertia-missing", "/b", "has none"), Diagnostic(warn, "inertia-missing", "/c", "same")]
    found += [Diagnostic(warn, "gear", "/g", "gear joint: not simulated yet")]
    assert [str(group) for group in group_findings(found)] == [
        "warning: /g: gear joint: not simulated yet [gear]",
        "warning: /b: has none [inertia-missing] and 1 more",
        "warning: 1,220 attributes are not used: physics:tensor:* 1,200, newton:* 20 [attribute-not-used]",
    ]
    assert headline(found) == "not simulated: gears (/g); the true motion differs"
    assert headline(found[:1220]) == ""


def test_compiling_is_told(monkeypatch, caplog):
    """Once when it begins, now and then while it lasts, and what it took; several at once are told as one."""
    monkeypatch.setattr(compiling, "SILENT", 0.05)
    monkeypatch.setattr(compiling, "EVERY", 0.1)
    with caplog.at_level(logging.INFO, "warp_artic"), compiling.tell_compiling(), compiling.tell_compiling():
        time.sleep(1.0)
    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith("compiling kernels; ") and told[-1].startswith("compiled kernels in ")
    assert len(told) >= 4
    caplog.clear()
    with caplog.at_level(logging.INFO, "warp_artic"), compiling.tell_compiling():
        pass
    assert not caplog.records


@pytest.mark.parametrize("front", ("simulate", "python", "elastic"))
def test_a_first_run_on_a_machine_tells_that_it_compiles(front, monkeypatch, caplog, capsys):
    """Of `simulate` on stderr, and through logging in Python; a second run has nothing to say."""
    force_load = wp.force_load
    monkeypatch.setattr(compiling, "SILENT", 0.01)
    monkeypatch.setattr(compiling, "_loaded", set())
    monkeypatch.setattr(wp, "force_load", lambda *given, **more: (time.sleep(0.1), force_load(*given, **more)))
    told = []
    for _ in range(2):
        with caplog.at_level(logging.INFO, "warp_artic"):
            if front == "simulate":
                assert main(["simulate", CART_POLE, "--steps", "1"]) == 0
                told.append(capsys.readouterr().err)
                continue
            stage = CART_POLE if front == "python" else "samples/scenes/bent_beam.usda"
            wa.Simulation(wa.read_stage(stage)).step()
            told.append("".join(f"warp-artic: {record.getMessage()}\n" for record in caplog.records))
            caplog.clear()
    assert told[0].startswith("warp-artic: compiling kernels; ") and "compiled kernels in " in told[0]
    assert told[1] == ""


def test_progress_without_a_terminal(monkeypatch, caplog):
    """A line now and then."""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with caplog.at_level(logging.INFO, "warp_artic"), progress.progress("simulating", 3000) as advance:
        advance(1000)
        advance(2000)
    (record,) = caplog.records
    assert re.fullmatch(r"simulating: 1,000 of 3,000 steps, about \d+ s left", record.getMessage())


def test_summary_for_programs(capsys):
    """Numbers of the run and the sentences of the summary."""
    assert main(["simulate", CART_POLE, "--steps", "1e1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["steps"], found["links"], found["is_interrupted"], found["failures"]) == (10, 2, False, [])
    assert found["summary"]["run"][0].startswith("10 steps of 1/")


def test_loop_joints_are_told(capsys):
    """By how much they were open, what they transmit, and that they broke."""
    stage = "tests/data/oracle/stages/loop_breakable.usda"
    assert main(["simulate", stage, "--steps", "48", "--forces", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (line,) = found["summary"]["loop"]
    assert re.fullmatch(r"/World/Robot/hang  open by at most \S+ m, 0 rad; \S+ N, \S+ N m", line)
    assert found["broken_loops"] == []
    assert main(["simulate", stage, "--steps", "120", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (line,), (broken,) = found["summary"]["loop"], found["broken_loops"]
    assert re.search(r"; broke before \S+ s$", line)
    assert broken.startswith("/World/Robot/hang: broke in environment 0 at step ")


def test_one_link_is_one_link(capsys):
    """Numbers and nouns agree."""
    assert main(["simulate", "samples/scenes/pendulum.usda", "--steps", "1"]) == 0
    written = capsys.readouterr().out
    assert "1 articulation, 1 link, 1 dof\n" in written
    assert re.search(r"^run +1 step of ", written, re.M)


def test_interrupt_writes_what_there_is(tmp_path, capsys, monkeypatch):
    """Ctrl-C ends the run: the layer is complete up to there, and the exit code is 130."""
    output = tmp_path / "out.usdc"

    @contextmanager
    def progress_until_interrupted(_title: str, _total: int):
        done = []

        def advance(_steps: int) -> None:
            done.append(1)
            if len(done) == 100:
                signal.raise_signal(signal.SIGINT)

        yield advance

    monkeypatch.setattr(simulate, "progress", progress_until_interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["simulate", CART_POLE, "--duration", "36000", "--dt", "1/60", "-o", str(output)]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert re.search(r"^run +100 steps of 1/60 s = 1.66667 s, interrupted", capsys.readouterr().out, re.M)
    stage = Usd.Stage.Open(str(output))
    assert stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond() == pytest.approx(100 / 60, abs=0.05)


@pytest.mark.parametrize("of_clips", [False, True])
def test_interrupt_while_results_are_written(tmp_path, capsys, monkeypatch, of_clips):
    """All that was simulated is written all the same, and the exit code is 130; a second Ctrl-C ends it at once."""
    output, kind = tmp_path / "out.usda", ClipWriter if of_clips else simulate
    name, counts = "finish" if of_clips else "write_results", []
    write = getattr(kind, name)

    def write_interrupted(*given, **more):
        for _ in range(counts[-1]):
            signal.raise_signal(signal.SIGINT)
        return write(*given, **more)

    monkeypatch.setattr(kind, name, write_interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    options = ["--steps", "48", "-o", str(output), *(["--clips", "0.1"] if of_clips else [])]
    try:
        counts.append(1)
        assert main(["simulate", CART_POLE, *options]) == 130
        stage = Usd.Stage.Open(str(output))
        assert stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond() == pytest.approx(0.2)
        counts.append(2)
        assert main(["simulate", CART_POLE, *options, *(["--resume"] if of_clips else [])]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted; nothing more is written" in capsys.readouterr().err
