"""`warp-artic check`: errors, warnings and notes of a stage, how to fix them; whether its dynamics hold; its start."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module

from warp_artic.cli.table import Column, Table, show
from warp_artic.description.consequences import headline
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.rules import RULES, Rule
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.layer_file import check_output
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import Inspection, check_stage, inspect_stage


def run(arguments) -> int:
    """List what there is to say about a stage, 1 when there is an error; or list the rules."""
    if arguments.rules:
        if arguments.json:
            print(json.dumps(rules_as_json(), indent=1))
        else:
            show([_rule_table()])
        return 0
    if arguments.stage is None:
        raise SettingsError("one of STAGE and --rules is required (see warp-artic check --help)")
    if arguments.output and not arguments.assemble:
        raise SettingsError("-o goes with --assemble: it is the layer of the start that closes")
    if arguments.assemble and arguments.dynamics:
        raise SettingsError("--assemble and --dynamics: one of them at a time")
    if arguments.assemble:
        return _assemble(arguments)
    try:
        diagnostics = check_stage(open_stage(arguments.stage), dialects=arguments.dialects)
    except StageError as error:
        diagnostics = _unreadable(error, arguments)
    items = [as_json(item) for item in diagnostics]
    failed = any(item.severity is Severity.ERROR for item in diagnostics)
    if not arguments.dynamics:
        print(json.dumps(items, indent=1) if arguments.json else _text(diagnostics))
        return int(failed)
    # Loaded only now: the rest needs no Warp.
    dynamics = import_module("warp_artic.cli.check_dynamics")
    residuals = () if failed else dynamics.residuals(arguments)
    if arguments.json:
        print(json.dumps({"diagnostics": items, "dynamics": dynamics.as_json(residuals)}, indent=1))
    else:
        show([_text(diagnostics), *dynamics.blocks(residuals)])
    return int(failed or not all(item.holds for item in residuals))


def _assemble(arguments) -> int:
    """List the findings and the start that closes, and write it where that is asked for; 1 when there is none."""
    # Loaded only now: it is what few ask for.
    assembly = import_module("warp_artic.cli.check_assemble")
    try:
        stage = open_stage(arguments.stage)
        inspection = inspect_stage(stage, dialects=arguments.dialects)
    except StageError as error:
        stage, inspection = None, Inspection(None, tuple(_unreadable(error, arguments)))
    if stage and arguments.output:
        check_output(stage, arguments.output, "layer of a start")
    found = assembly.assemblies(inspection)
    closing = {gap.name for one in found if one.closes for gap in one.gaps}
    errors = [item for item in inspection.diagnostics if item.severity is Severity.ERROR and item.path not in closing]
    is_written = bool(stage and arguments.output) and assembly.write(stage, found, arguments.output)
    if arguments.json:
        items = [as_json(item) for item in inspection.diagnostics]
        written = arguments.output if is_written else None
        found_json = assembly.as_json(found)
        print(json.dumps({"diagnostics": items, "assembly": found_json, "written": written}, indent=1))
    else:
        end = [f"wrote {arguments.output}"] if is_written else []
        show([_text(list(inspection.diagnostics)), *assembly.blocks(found), *end])
    return int(bool(errors) or not all(one.closes for one in found))


def _unreadable(error: StageError, arguments) -> list[Diagnostic]:
    """The finding that the stage cannot be opened, for programs, which always get findings; raises it for people."""
    if not arguments.json:
        raise error
    return [Diagnostic(Severity.ERROR, "stage-unreadable", "/", str(error))]


def _text(diagnostics: list[Diagnostic]) -> str:
    """What the motion is missing, each finding, and how many there are."""
    items = [as_json(item) for item in diagnostics]
    left_out = headline(diagnostics)
    return "\n".join([*([f"warning: {left_out}"] if left_out else []), *lines_of(items), counts_of(items)])


def as_json(item: Diagnostic) -> dict[str, str]:
    """A finding as plain values, with what its rule allows and how to fix it."""
    rule = RULES[item.rule]
    found = {"severity": item.severity.value, "rule": item.rule, "path": item.path, "message": item.message}
    return {**found, "allowed": rule.allowed, "fix": rule.fix}


def rules_as_json() -> list[dict]:
    """The catalogue as plain values."""
    return [
        {
            "rule": rule.name,
            "severities": [severity.value for severity in rule.severities],
            "meaning": rule.meaning,
            "allowed": rule.allowed,
            "fix": rule.fix,
        }
        for rule in RULES.values()
    ]


def lines_of(items: Iterable[dict]) -> Iterator[str]:
    """A line for each finding, given as plain values; below the first one of each rule, how to fix it."""
    told = set()
    for item in items:
        yield "{severity}: {path}: {message} [{rule}]".format(**item)
        if item["rule"] not in told:
            yield f"    {item['fix']}"
        told.add(item["rule"])


def counts_of(items: Iterable[dict]) -> str:
    """How many there are of each severity."""
    found = [item["severity"] for item in items]
    return ", ".join(f"{found.count(one.value)} {one.value}{'s' * (found.count(one.value) != 1)}" for one in Severity)


def _rule_table() -> Table:
    """The catalogue as a table: name, severity, and beside them three sentences one below the other."""
    rows = []
    for rule in RULES.values():
        rows.append((rule.name, _severity(rule), rule.meaning))
        rows += [("", "", f"Allowed: {rule.allowed}"), ("", "", f"Fix: {rule.fix}")]
    columns = tuple(Column(name, is_text=True) for name in ("rule", "severity", "meaning"))
    return Table("Rules", columns, tuple(rows), wraps=True)


def _severity(rule: Rule) -> str:
    return " or ".join(severity.value for severity in rule.severities)
