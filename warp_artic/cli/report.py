"""`warp-artic report`: a page on a run, and a comparison with a reference."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

from warp_artic.errors import SettingsError
from warp_artic.looking.differences import Difference, differences
from warp_artic.looking.junit import Check, write_junit
from warp_artic.looking.model_findings import model_findings
from warp_artic.looking.report import write_report
from warp_artic.looking.verdict import Finding, verdict
from warp_artic.sim.files.whole_file import check_place
from warp_artic.sim.launch.device import start_quietly
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.source import Source, open_source

MOST = 2
"""Runs of one page."""


def run(arguments) -> int:
    """Write the page; 1 where something is beyond what is allowed."""
    _check(arguments)
    sources = [
        open_source(name, arguments.stage, arguments.environment, arguments.frames_per_second)
        for name in arguments.recordings
    ]
    # Points of skin in each frame would make pages of hundreds of megabytes.
    sources = [replace(source, drawing=source.drawing.without_skin()) for source in sources]
    if len({source.recording.link_names for source in sources}) > 1:
        names = " and ".join(arguments.recordings)
        raise SettingsError(f"{names}: have different links; runs of one stage are overlaid")
    reference = None
    if arguments.reference:
        reference = differences(sources[0].recording, Recording.load(arguments.reference))
    model = _model(sources[0]) if arguments.verify else []
    write_report(arguments.output, sources, arguments.environment, reference, arguments.tolerance, model)
    findings = [verdict(sources[0].scene, source.recording) for source in sources]
    if arguments.junit:
        checks = _checks(findings, reference, arguments.tolerance, model)
        write_junit(arguments.junit, arguments.recordings[0], checks)
    is_good = all(one.holds for of_run in findings for one in of_run)
    is_good &= all(one.found <= arguments.tolerance for one in reference or ()) and all(one.holds for one in model)
    if arguments.json:
        print(json.dumps(_as_json(arguments, sources, findings, reference, model, is_good), indent=1))
    else:
        _tell(arguments, sources, findings, reference, model)
    return int(not is_good)


def _model(source: Source) -> list[Finding]:
    """Residuals of the model of a run."""
    if source.scene is None:
        raise SettingsError(f"verify: {source.stage_path} cannot be simulated: warp-artic check {source.stage_path}")
    start_quietly("cpu")
    return model_findings(source.scene, source.recording)


def _check(arguments) -> None:
    """Refuse what cannot be written or read, before anything is."""
    if len(arguments.recordings) > MOST:
        raise SettingsError(f"{len(arguments.recordings)} recordings: a report overlays at most {MOST}")
    for name in arguments.recordings:
        if Path(name).suffix != ".npz":
            raise SettingsError(f"{name}: a report is on recordings, which `simulate --record` writes as .npz")
    if Path(arguments.output).suffix not in (".html", ".htm"):
        raise SettingsError(f"{arguments.output}: a report is written to a file whose name ends in .html")
    if not 0 <= arguments.tolerance < math.inf:
        raise SettingsError(f"tolerance: {arguments.tolerance:g} is not a finite number of at least 0")
    if not 0 < arguments.frames_per_second < math.inf:
        raise SettingsError(f"frames per second: {arguments.frames_per_second:g} is not a finite number above 0")
    check_place(arguments.output)
    if arguments.junit:
        check_place(arguments.junit)


def _checks(
    findings: list[list[Finding]], reference: list[Difference] | None, tolerance: float, model: list[Finding]
) -> list[Check]:
    """Each finding, each identity of the model and each quantity of the reference as a test case."""
    checks = []
    for run, of_run in enumerate(findings):
        letter = f"{'AB'[run]}: " if len(findings) > 1 else ""
        checks += [Check(f"{letter}{one.what}", "" if one.holds else _sentence(one)) for one in of_run]
    checks += [Check(f"model: {one.what}", "" if one.holds else _sentence(one)) for one in model]
    for one in reference or ():
        failure = f"differs by {one.found:.6g} at {one.where}, at {one.time:.4g} s; {tolerance:g} is allowed"
        checks.append(Check(f"reference: {one.quantity}", "" if one.found <= tolerance else failure))
    return checks


def _sentence(one: Finding) -> str:
    where = f" at {one.where}" if one.where else ""
    when = f", at {one.time:.4g} s" if one.time is not None else ""
    return f"{one.found:.3g} {one.unit}".rstrip() + f"{where}{when}; {one.allowed:.3g} is allowed"


def _tell(arguments, sources: list[Source], findings, reference, model: list[Finding]) -> None:
    """What is told on a terminal: what is beyond what is allowed, and what was written."""
    for source in sources:
        if source.warning:
            print(f"warning: {source.warning}")
    for check in _checks(findings, reference, arguments.tolerance, model):
        if check.failure:
            print(f"{check.name}: {check.failure}")
    size = Path(arguments.output).stat().st_size / 1e6
    print(f"wrote {arguments.output}, {size:.2f} MB")
    if arguments.junit:
        print(f"wrote {arguments.junit}")


def _as_json(arguments, sources: list[Source], findings, reference, model, is_good: bool) -> dict:
    """The same for programs."""

    def plain(row: dict) -> dict:
        return {key: None if isinstance(one, float) and not math.isfinite(one) else one for key, one in row.items()}

    return {
        "output": arguments.output,
        "good": is_good,
        "runs": [
            {
                "recording": source.name,
                "stage": source.stage_path,
                "warning": source.warning,
                "verdict": [plain(asdict(one)) | {"holds": one.holds} for one in of_run],
            }
            for source, of_run in zip(sources, findings)
        ],
        "model": [plain(asdict(one)) | {"holds": one.holds} for one in model],
        "reference": None if reference is None else [plain(asdict(one)) for one in reference],
    }
