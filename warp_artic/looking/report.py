"""A report on a run: one page that needs no network, with replay, verdict, plots, and how to repeat the run."""

from __future__ import annotations

import html
import json
import math
import os
import re
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from warp_artic.description.consequences import UNUSED, group_findings
from warp_artic.description.diagnostic import Diagnostic
from warp_artic.looking.differences import Difference
from warp_artic.looking.pack import Pack
from warp_artic.looking.packed_drawing import packed_drawing, packed_forces, packed_motion
from warp_artic.looking.panels import panels
from warp_artic.looking.verdict import Finding, verdict
from warp_artic.sim.files.whole_file import written_whole
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.source import Source

SETTINGS = (
    "dt",
    "integrator",
    "solver",
    "position_iterations",
    "velocity_iterations",
    "precision",
    "sleep_after",
    "device",
    "variant",
    "version",
    "model_hash",
)
"""Of the metadata of a recording, as they are listed."""
MOST_LISTED = 200
"""Findings that are listed of one rule."""
BOXES = (
    ("colliders", "colliders"),
    ("joints", "joint axes"),
    ("tendons", "tendons"),
    ("contacts", "contact forces"),
    ("follow", "follow"),
)


def write_report(
    output: str | os.PathLike,
    sources: Sequence[Source],
    environment: int = 0,
    reference: Sequence[Difference] | None = None,
    tolerance: float = 0.0,
    model: Sequence[Finding] = (),
) -> None:
    """Write a report on one run, or on two over the same stage, which it overlays.

    Args:
        output: The page, .html.
        sources: Recordings, opened.
        environment: That is shown.
        reference: Differences from a reference, if there is one.
        tolerance: What they may be.
        model: Residuals of the model of the first run, if they were looked for.

    Raises:
        SettingsError: There is no such folder.
        SolveError: The file cannot be written.
    """
    with written_whole(output) as partial:
        partial.write_text(report_page(sources, environment, reference, tolerance, model), encoding="utf-8")


def report_page(
    sources: Sequence[Source],
    environment: int = 0,
    reference: Sequence[Difference] | None = None,
    tolerance: float = 0.0,
    model: Sequence[Finding] = (),
) -> str:
    """The text of the page; see `write_report`."""
    first = sources[0]
    recordings = [source.recording for source in sources if source.recording is not None]
    rows = [np.searchsorted(one.time, np.array(own.times) - 1e-9) for one, own in zip(recordings, sources)]
    findings = [verdict(first.scene, recording) for recording in recordings]
    is_good = all(one.holds for of_run in findings for one in of_run)
    is_good &= all(one.found <= tolerance for one in reference or ()) and all(one.holds for one in model)
    text = {
        "title": html.escape(Path(first.stage_path).stem.replace("_", " ")),
        "tone": "good" if is_good else "bad",
        "badge": "all within what is allowed" if is_good else "not all is within what is allowed",
        "subtitle": html.escape(_subtitle(sources, recordings, environment)),
        "style": _asset("report.css"),
        "script": "\n".join(_asset(name) for name in ("replay.js", "plots.js", "report.js")),
        "boxes": "\n".join(f'<label><input type="checkbox" data-show="{key}">{label}</label>' for key, label in BOXES),
        "sections": _verdict_section(sources, findings)
        + _model_section(model)
        + _reference_section(reference, tolerance),
        "closing": _unused_section(first.diagnostics) + _run_section(sources, recordings) + _repeat_section(sources),
    }
    text |= _data(sources, recordings, rows, environment)
    return re.sub(r"{{(\w+)}}", lambda found: text[found[1]], _asset("report.html"))


def _asset(name: str) -> str:
    """A file of the page."""
    return (files("warp_artic.looking") / "page" / name).read_text(encoding="utf-8")


def _data(sources: Sequence[Source], recordings, rows, environment: int) -> dict[str, str]:
    """The data of the scripts: JSON, and arrays beside it."""
    pack, first = Pack(), sources[0]
    motions = [source.motion() for source in sources]
    runs = []
    for source, motion, recording, own in zip(sources, motions, recordings, rows):
        runs.append(packed_motion(source.drawing, motion, pack) | packed_forces(recording, own, environment, pack))
        runs[-1]["name"] = source.name
    plotted = []
    for panel in panels(first.scene, list(zip(recordings, rows)), environment):
        lines = []
        for line in panel.lines:
            values, low, step = pack.add_narrow(line.values)
            lines.append(
                {
                    "name": line.name,
                    "run": line.run,
                    "target": line.is_target,
                    "values": values,
                    "low": low,
                    "step": step,
                }
            )
        plotted.append({"group": panel.group, "title": panel.title, "unit": panel.unit, "lines": lines})
        for key, bound in (("lower", panel.lower), ("upper", panel.upper)):
            plotted[-1][key] = bound if math.isfinite(bound) else None
    data = {"drawing": packed_drawing(first.drawing, motions, pack), "runs": runs, "panels": plotted}
    data["arrays"] = pack.table
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return {"data": text, "arrays": pack.text()}


def _subtitle(sources: Sequence[Source], recordings: Sequence[Recording], environment: int) -> str:
    """What ran, in a line."""
    one = recordings[0]
    names = ", ".join(f"{letter}: {source.name}" for letter, source in zip("AB", sources))
    shown = f", environment {environment} of {one.environment_count}" if one.environment_count > 1 else ""
    return (
        f"{names if len(sources) > 1 else sources[0].name}  ·  {one.time[-1] - one.time[0]:g} s in {one.time.size - 1} "
        f"records  ·  {len(one.link_names)} links, {len(one.joint_names)} dofs{shown}"
    )


def _table(rows: Sequence[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{content}</section>\n"


def _verdict_section(sources: Sequence[Source], findings: Sequence[Sequence[Finding]]) -> str:
    """What was found, beside what is allowed, of each run."""
    notes = "".join(f"<p>{html.escape(source.warning)}</p>" for source in sources if source.warning)
    rows = [_head_of_findings("measured on the recording")]
    for run, of_run in enumerate(findings):
        letter = f'<span class="{"ab"[run]}">{"AB"[run]}</span> ' if len(findings) > 1 else ""
        rows += [_row_of_finding(one, letter) for one in of_run]
    return _section("Verdict", notes + _table(rows))


def _model_section(model: Sequence[Finding]) -> str:
    """Residuals of the identities of the model."""
    rows = [_head_of_findings("identity of the model"), *(_row_of_finding(one) for one in model)]
    return _section("Identities of the model", _table(rows)) if model else ""


def _head_of_findings(what: str) -> str:
    return f"<tr><th></th><th>{what}</th><th>found</th><th>allowed</th><th>where</th></tr>"


def _row_of_finding(one: Finding, before: str = "") -> str:
    """A line of a table, with a mark; `before` stands before what was looked at."""
    where = one.where + (f" at {one.time:.4g} s" if one.time is not None else "")
    unit = f" {one.unit}" if one.unit else ""
    return (
        f'<tr class="{"good" if one.holds else "bad"}"><td class="mark">{"✓" if one.holds else "✗"}</td>'
        f'<td>{before}{html.escape(one.what)}</td><td class="number">{one.found:.3g}{unit}</td>'
        f'<td class="number">{one.allowed:.3g}{unit}</td><td>{html.escape(where)}</td></tr>'
    )


def _reference_section(reference: Sequence[Difference] | None, tolerance: float) -> str:
    """How far the first run is from its reference."""
    if reference is None:
        return ""
    rows = ["<tr><th></th><th>quantity</th><th>difference</th><th>allowed</th><th>where</th></tr>"]
    for one in reference:
        holds = one.found <= tolerance
        rows.append(
            f'<tr class="{"good" if holds else "bad"}"><td class="mark">{"✓" if holds else "✗"}</td>'
            f"<td>{one.quantity}</td><td>{one.found:.3g}</td><td>{tolerance:.3g}</td>"
            f"<td>{html.escape(one.where)} at {one.time:.4g} s</td></tr>"
        )
    return _section("Against the reference", _table(rows))


def _run_section(sources: Sequence[Source], recordings: Sequence[Recording]) -> str:
    """The settings of each run, side by side."""
    rows = [_row("stage", [source.stage_path for source in sources])]
    rows.append(_row("digest of the stage", [str(_origin(one).get("digest", "not recorded")) for one in recordings]))
    for key in SETTINGS:
        if any(key in one.metadata for one in recordings):
            rows.append(_row(key.replace("_", " "), [str(one.metadata.get(key, "")) for one in recordings]))
    return _section("What ran", _table(rows))


def _row(name: str, values: Sequence[str]) -> str:
    cells = "".join(f"<td>{html.escape(value)}</td>" for value in values)
    return f"<tr><th>{html.escape(name)}</th>{cells}</tr>"


def _origin(recording: Recording) -> dict:
    found = recording.metadata.get("stage")
    return found if isinstance(found, dict) else {}


def _unused_section(diagnostics: Sequence[Diagnostic]) -> str:
    """Attributes that are not used, and what else was found of the stage, by rule."""
    unused = [one for one in diagnostics if one.rule == UNUSED]
    others = [one for one in diagnostics if one.rule != UNUSED]
    content = ""
    for title, found in ((f"{len(unused)} attributes of the stage are not used", unused), ("", others)):
        for group in group_findings(found):
            head = title or str(group)
            items = [
                f"<tr><td>{html.escape(one.path)}</td><td>{html.escape(one.message)}</td></tr>"
                for one in group.findings[:MOST_LISTED]
            ]
            more = len(group.findings) - len(items)
            items += [f"<tr><td>and {more} more</td><td></td></tr>"] if more else []
            content += f"<details><summary>{html.escape(head)}</summary>{_table(items)}</details>"
    return _section("What was not used, and what was found", content or "<p>Every attribute is used.</p>")


def _repeat_section(sources: Sequence[Source]) -> str:
    """The commands that make the recordings and the report again."""
    lines = [command for source in sources if (command := repeat_command(source))]
    return _section("How to repeat it", f"<pre>{html.escape(chr(10).join(lines))}</pre>")


def repeat_command(source: Source) -> str:
    """The command line that makes the recording of a source again, as far as its metadata says."""
    recording = source.recording
    if recording is None:
        return ""
    metadata = recording.metadata
    words = ["warp-artic", "simulate", source.stage_path, "--record", source.name]
    dt = metadata.get("dt")
    if isinstance(dt, float) and dt > 0.0:
        words += ["--steps", str(round((recording.time[-1] - recording.time[0]) / dt)), "--dt", repr(dt)]
    for key in (
        "solver",
        "position_iterations",
        "velocity_iterations",
        "integrator",
        "precision",
        "device",
        "sleep_after",
    ):
        if metadata.get(key) is not None:
            words += [f"--{key.replace('_', '-')}", str(metadata[key])]
    if recording.environment_count > 1:
        words += ["--environments", str(recording.environment_count)]
    if recording.joint_drive_force.size:
        words.append("--forces")
    if "inputs" in metadata:
        words += ["--inputs", str(metadata["inputs"])]
    return shlex.join(words)
