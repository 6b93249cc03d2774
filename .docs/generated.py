"""What pages have that is written nowhere: made of the code, the schemas, the rules and the results of benchmarks."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from pathlib import Path

from pxr import Sdf

import warp_artic as wa
from warp_artic.cli.arguments import command_line
from warp_artic.description.rules import RULES

ROOT = Path(__file__).parents[1]
CONTENTS = {
    "Learn": ("samples/tutorials/README", "samples/how_to/README", "samples/README"),
    "Use": (
        "warp_artic/cli/README",
        "warp_artic/sim/README",
        "warp_artic/batch/README",
        "extensions/README",
        "extensions/newton/README",
        "extensions/ovstage/README",
        "extensions/omni.warp_artic/README",
    ),
    "Understand": (
        "warp_artic/description/README",
        "warp_artic/solver/README",
        "warp_artic/constraints/README",
        "warp_artic/collision/README",
        "tests/accuracy",
        "tests/benchmarks/README",
    ),
    "Reference": (".docs/python", ".docs/commands", "usd_schemas/README", ".docs/schemas", ".docs/rules"),
    "Develop": ("warp_artic/README", "tests/README", ".github/CONTRIBUTING", ".github/CHANGELOG"),
}
"""Page after page of the site, by the headings of its navigation."""
RUNS = ("Simulation", "Recording", "SolverSettings", "IncomingForces", "Plan", "Vary", "Record", "Task", "VectorEnv")
"""Classes that are no part of a scene."""
FIELDS = {"Args:": "param", "Returns:": "returns", "Yields:": "yields", "Raises:": "raises"}
"""Sections of docstrings, and what reStructuredText calls a field of one."""


def address(docname: str) -> str:
    """Where a page is on the site."""
    *folders, name = docname.removeprefix(".docs/").removeprefix(".github/").split("/")
    return "/".join((*folders, "index" if name == "README" else name.lower()))


def contents() -> str:
    """The navigation."""
    parts = []
    for caption, pages in CONTENTS.items():
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n")
        parts += [f"/{page}" for page in pages if (ROOT / f"{page}.md").exists()]
        parts.append("```\n")
    return "\n".join(parts)


def pages_of(folder: str) -> str:
    """The pages beside an index, for the navigation."""
    names = sorted(path.stem for path in (ROOT / folder).glob("*.md") if path.stem != "README")
    return "\n".join(("```{toctree}", ":hidden:", "", *names, "```"))


def tutorials() -> str:
    """The tutorials."""
    return pages_of("samples/tutorials")


def how_tos() -> str:
    """The how-tos."""
    return pages_of("samples/how_to")


def commands() -> str:
    """The help of each command."""
    os.environ["COLUMNS"] = "100"
    parser = command_line()
    (choices,) = (action.choices for action in parser._subparsers._group_actions)
    return "\n\n".join(f"## {name}\n\n```text\n{own.format_help().strip()}\n```" for name, own in choices.items())


def rules() -> str:
    """Every rule."""
    return "\n\n".join(
        f"## {rule.name}\n\n*{' or '.join(one.value for one in rule.severities)}*\n\n{escaped(rule.meaning)}\n\n"
        f"- Allowed: {escaped(rule.allowed)}\n- Fix: {escaped(rule.fix)}"
        for rule in RULES.values()
    )


def schemas() -> str:
    """Every class of our schemas, with its attributes."""
    layer = Sdf.Layer.FindOrOpen(str(ROOT / "usd_schemas" / "generatedSchema.usda"))
    parts = []
    for prim in layer.rootPrims:
        parts += [f"## {prim.name}", escaped(prim.GetInfo("documentation")), ""]
        for one in prim.properties:
            is_attribute = isinstance(one, Sdf.AttributeSpec)
            kind = str(one.typeName) if is_attribute else "rel"
            default = f" = {one.default}" if is_attribute and one.default is not None else ""
            allowed = one.GetInfo("allowedTokens") if is_attribute and one.HasInfo("allowedTokens") else ()
            text = one.GetInfo("documentation") + (f" Allowed: {', '.join(allowed)}." if allowed else "")
            parts.append(f"- **`{one.name}`** *{escaped(kind + default)}*: {escaped(text)}")
        parts.append("")
    return "\n".join(parts)


def speeds() -> str:
    """All results of the committed machine."""
    data = json.loads((ROOT / "tests" / "benchmarks" / "results" / "amd_epyc.json").read_text())
    machine, tables = data["machine"], defaultdict(lambda: defaultdict(dict))
    for result in data["results"]:
        if result["quantity"] == "step" and "least" in result:
            tables[result["model"]][result["name"]][result["environments"]] = result["least"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_average']} when it began, commit "
        f"`{data['commit']['hash'][:10]}`; {data['unit'].split(',')[0]}, least of five runs.\n"
    ]
    for model, rows in tables.items():
        counts = sorted({count for row in rows.values() for count in row})
        parts += [f"### {model}\n", f"| | {' | '.join(map(str, counts))} |", "| --- |" + " ---: |" * len(counts)]
        for name, row in rows.items():
            cells = (f"{row[count]:.3g}" if count in row else "" for count in counts)
            parts.append(f"| {name} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def python() -> str:
    """Every public name, by what it is."""
    classes = [name for name in wa.__all__ if isinstance(getattr(wa, name), type)]
    functions = [name for name in wa.__all__ if callable(getattr(wa, name)) and name not in classes]
    errors = [name for name in classes if issubclass(getattr(wa, name), Exception)]
    parts = [name for name in classes if name not in (*RUNS, *errors)]
    groups = {"Functions": functions, "Simulations and runs": RUNS, "Parts of a scene": parts, "Errors": errors}
    text = []
    for title, names in groups.items():
        text += [f"## {title}\n", "```{eval-rst}"]
        for name in names:
            kind = "autofunction" if name in functions else "autoclass"
            members = "" if name in functions else "\n   :members:\n   :undoc-members:"
            members += "\n   :inherited-members:" if name == "Simulation" else ""
            text.append(f".. {kind}:: warp_artic.{name}{members}\n")
        text.append("```\n")
    author = ".. automodule:: warp_artic.author\n   :members:\n   :imported-members:\n"
    text += ["## wa.author\n", "```{eval-rst}", author, "```"]
    rollouts = [f".. autofunction:: warp_artic.{name}.rollout\n" for name in ("torch", "jax")]
    rollouts.append(".. autoclass:: warp_artic.sim.differentiable_rollout.RolloutMotion\n   :members:\n")
    text += ["## wa.torch, wa.jax\n", "```{eval-rst}", *rollouts, "```"]
    return "\n".join(text)


def escaped(text: str) -> str:
    """Plain text as Markdown, in a cell of a table too."""
    return re.sub(r"([\\*_|<>\[\]$])", r"\\\1", " ".join(text.split()))


def as_rst(app, what, name, obj, options, lines: list[str]) -> None:
    """Docstrings as reStructuredText: plain text with names in backticks, indented formulas, and sections."""
    out, is_formula, field = [], False, None
    for line in lines:
        if line in FIELDS:
            field = FIELDS[line]
            out += [""] if field in ("param", "raises") else ["", f":{field}:"]
            continue
        field = field if line.startswith(" ") or not line else None
        is_indented = line.startswith("  ") and not field
        if is_indented and not is_formula:
            out += ["", "::", ""]
        if is_formula and not is_indented and line:
            out.append("")
        named = re.fullmatch(r"    (\w+): (.*)", line) if field in ("param", "raises") else None
        head, text = (f":{field} {named[1]}: ", named[2]) if named else ("", line)
        out.append(line if is_indented else head + _escaped_rst(text))
        is_formula = is_indented or (is_formula and not line)
    lines[:] = out


def _escaped_rst(line: str) -> str:
    """A line of text, with names in backticks as code."""
    parts = re.split(r"(`[^`]+`)", line)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([\\*|`]|_\b)", r"\\\1", part) for part in parts)
