"""What `warp-artic inspect` says, as tables."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warp_artic.cli.check import counts_of, lines_of
from warp_artic.cli.table import Column, Table, width

UNUSED = ("attribute-not-used", "schema-not-used", "not-simulated")
"""Rules about what a stage says in vain; these findings have a table of their own."""
SHOWN = 3
"""How many prims are named of those with the same unused attribute; `check` lists all."""
SIDE_WORDS = {"lower": "lower limit", "upper": "upper limit"}
DOF_WORDS = {
    **SIDE_WORDS,
    "limit_bounce_threshold": "bounce threshold",
    "limit_restitution": "restitution",
    "static_effort": "static friction",
    "dynamic_effort": "dynamic friction",
    "viscous": "viscous friction",
    "coefficient": "load friction",
}
"""What values of a dof are called, where that is not their name."""
BROKEN = "The stage cannot be simulated as authored; the errors are below."
READ = "This could be read; where a value is in error, another stands for it."
LEGEND = (
    "Values are in SI units: 2 [115] is authored as 115, (2) is not authored, and comes from the bodies or is the "
    "default.",
    "Names are the ends of prim paths, * in an attribute stands for an axis or a tendon; --json has them whole.",
)
INSTANCE = re.compile(r"(?<=^physxTendon:)[^:]+|(?<=:)(angular|linear|rot[XYZ]|trans[XYZ])(?=:)")
"""What differs in the name of an attribute from axis to axis, or from tendon to tendon."""
FREE = ("lower", "upper", "cone_angle")
"""Values that leave a side free where they are infinite; other infinite values are no bound."""
ABSENT = ("as at start", "free", "none")
"""Words for a rest length that is taken from the start, a free side, and no bound."""


@dataclass(frozen=True)
class _Row:
    """What a table of values has in a line."""

    keys: tuple[str, ...]
    values: dict[str, object]
    """By field; in SI, None where infinite."""
    readings: list[dict]
    units: dict[str, str]
    """By field."""


def blocks(content: dict) -> Iterator[str | Table]:
    """The paragraphs and tables of what is understood."""
    yield _head(content)
    if content["articulations"]:
        yield "\n".join(textwrap.fill(line, width()) for line in LEGEND)
    for tree in content["articulations"]:
        yield from _articulation(tree)
    unused = [item for item in content["diagnostics"] if item["rule"] in UNUSED]
    if unused:
        yield _unused(unused)
    others = [item for item in content["diagnostics"] if item["rule"] not in UNUSED]
    yield "\n".join([*lines_of(others), counts_of(content["diagnostics"])])


def _head(content: dict) -> str:
    """Totals and settings."""
    totals = content["totals"]
    found = ", ".join(f"{count} {_words(name, count)}" for name, count in totals.items() if name != "mass")
    lines = textwrap.wrap(found, width())
    lines.append(f"mass         {totals['mass']:.6g} kg")
    if not content["can_be_simulated"]:
        broken = [BROKEN, *([READ] if content["articulations"] else [])]
        return "\n".join([*broken, *lines])
    gravity = " ".join(f"{value:.6g}" for value in content["gravity"])
    sources = {reading["field"]: f"  [{_origin(reading)}]" for reading in content["authored"]}
    lines.append(f"gravity      {gravity} m/s^2{sources.get('gravity', '  (default)')}")
    step = content["time_step"]
    shown = "(not authored)" if step is None else f"{step:.6g} s{sources.get('steps_per_second', '')}"
    lines.append(f"time step    {shown}")
    for name in ("solver", "integrator", "precision"):
        value = content[name]
        lines.append(f"{name:<13}{'(not authored)' if value is None else f'{value}  [warpArtic:scene:{name}]'}")
    if content["sleep_after"] is not None:
        lines.append(f"sleep after  {content['sleep_after']:.6g} s{sources.get('sleep_after', '')}")
    return "\n".join(lines)


def _origin(reading: dict) -> str:
    name = _attribute(reading)
    return f"{name}, {reading['dialect']}"


def _words(name: str, count: int = 2) -> str:
    words = name.replace("_", " ").replace("mimics", "mimic joints")
    return words[:-1] if count == 1 and words.endswith("s") else words


def _articulation(tree: dict) -> Iterator[str | Table]:
    names = _Names(tree)
    dofs = sum(len(joint["dofs"]) for joint in tree["joints"])
    links = len(tree["links"])
    head = f"ARTICULATION {tree['path']}: {tree['base']} base"
    head += f", {links} {_words('links', links)}, {dofs} {_words('dofs', dofs)}"
    for name in ("position_iterations", "velocity_iterations"):
        origins = [_origin(one) for one in tree["authored"] if one["field"] == name]
        if tree[name] is not None:
            head += f"\n{_words(name)} {tree[name]}  [{', '.join(origins)}]"
    origins = [_origin(one) for one in tree["authored"] if one["field"] == "sleep_threshold"]
    if origins:
        head += f"\nsleep threshold {tree['sleep_threshold']:.5g} m^2/s^2  [{', '.join(origins)}]"
    if tree["starts_asleep"]:
        head += "\nstarts asleep  [usdphysics physics:startsAsleep]"
    if names.above:
        head += f"\nlinks and joints are below {names.above}"
    yield head
    yield _tree(tree, names)
    yield from _values(
        "Masses",
        (Column("link", is_text=True),),
        [_Row((names.of(link["path"]),), link, link["authored"], link["units"]) for link in tree["links"]],
        tree["links"][0]["units"],
    )
    yield from _dofs(tree, names)
    yield from _fixed_tendons(tree, names)
    yield from _spatial_tendons(tree, names)
    yield from _mimics(tree, names)


class _Names:
    """The ends of prim paths, as long as it takes to tell those of one kind apart."""

    def __init__(self, tree: dict):
        links, joints = ([one["path"] for one in tree[kind]] for kind in ("links", "joints"))
        tendons = [one["name"] for kind in ("fixed_tendons", "spatial_tendons") for one in tree[kind]]
        points = [point["name"] for one in tree["spatial_tendons"] for point in one["attachments"]]
        self.short: dict[str, str] = {}
        for paths in ({name.partition(":")[0] for name in (*tendons, *points)}, joints, links):
            self.short |= _ends(paths)
        self.above = _common(links + joints)

    def of(self, name: str) -> str:
        """The name of a link, a joint, a dof, a tendon or an attachment."""
        path, colon, own = name.partition(":")
        return self.short[path] + colon + own


def _ends(paths: Iterable[str]) -> dict[str, str]:
    """The shortest end of each path that no other has."""
    found, waiting, length = {}, set(paths), 1
    while waiting:
        ends = {path: "/".join(path.split("/")[-length:]) for path in waiting}
        times = Counter(ends.values())
        found |= {path: end for path, end in ends.items() if times[end] == 1}
        waiting -= found.keys()
        length += 1
    return found


def _common(paths: list[str]) -> str:
    """The prim that all of them are below."""
    parts = [path.split("/")[:-1] for path in paths]
    same = 0
    while all(len(part) > same and part[same] == parts[0][same] for part in parts):
        same += 1
    return "/".join(parts[0][:same])


def _tree(tree: dict, names: _Names) -> Table:
    """Links, indented by their depth, each with the joint to its parent."""
    inbound = {joint["child"]: joint for joint in tree["joints"]}
    children: dict[str | None, list[str]] = {}
    for link in tree["links"]:
        joint = inbound.get(link["path"])
        children.setdefault(joint["parent"] if joint else None, []).append(link["path"])
    rows = []
    waiting = [(path, 0) for place in (None, "world") for path in reversed(children.get(place, []))]
    while waiting:
        path, depth = waiting.pop()
        waiting += [(child, depth + 1) for child in reversed(children.get(path, []))]
        joint = inbound.get(path)
        rows.append(("  " * depth + names.of(path), *_joint_cells(joint, names)))
    heads = ("link", "joint to its parent", "kind", "free axes")
    return Table("Tree", tuple(Column(name, is_text=True) for name in heads), tuple(rows), keys=4)


def _joint_cells(joint: dict | None, names: _Names) -> tuple[str, str, str]:
    if joint is None:
        return "", "free", "all"
    kind = joint["kind"] + (", to the world" if joint["parent"] == "world" else "")
    kind += ", authored from child to parent" if joint["reversed"] else ""
    return names.of(joint["path"]), kind, " ".join(dof["axis"] for dof in joint["dofs"])


def _dofs(tree: dict, names: _Names) -> Iterator[str | Table]:
    rows = []
    for joint in tree["joints"]:
        for dof in joint["dofs"]:
            keys = (names.of(dof["name"]), dof["axis"], dof["drive_kind"] or "none")
            rows.append(_Row(keys, dof["si"], dof["authored"], dof["units"]))
    heads = tuple(Column(name, is_text=True) for name in ("dof", "axis", "drive"))
    yield from _values("Dofs", heads, rows, rows[0].units if rows else (), DOF_WORDS)
    yield from _tracks(tree, names)


def _tracks(tree: dict, names: _Names) -> Iterator[Table]:
    """Targets that change over time, between which values."""
    rows = []
    for dof in (dof for joint in tree["joints"] for dof in joint["dofs"]):
        for name, track in dof["targets_over_time"].items():
            times, values = track["times"], track["values"]
            bounds = (_number(value, "") for value in (times[0], times[-1], min(values), max(values)))
            unit = dof["units"][f"{name}_target"]
            rows.append((names.of(dof["name"]), f"{name} target", unit, str(len(times)), *bounds))
    heads = [Column(name, is_text=True) for name in ("dof", "value", "unit")]
    heads += [Column("samples"), Column("from", "s"), Column("to", "s"), Column("least"), Column("greatest")]
    if rows:
        yield Table("Targets over time", tuple(heads), tuple(rows), keys=2)


def _fixed_tendons(tree: dict, names: _Names) -> Iterator[str | Table]:
    heads = (Column("tendon", is_text=True), Column("state", is_text=True))
    tendons = tree["fixed_tendons"]
    rows = [_Row((names.of(one["name"]), _state(one)), one, one["authored"], one["units"]) for one in tendons]
    yield from _values("Fixed tendons", heads, rows, rows[0].units if rows else (), SIDE_WORDS)
    rows = []
    for tendon in tendons:
        for number, dof in enumerate(tendon["dofs"]):
            keys = (names.of(tendon["name"]) if number == 0 else "", names.of(dof))
            values = {
                "coefficient": tendon["coefficients"][number],
                "force_coefficient": tendon["force_coefficients"][number],
            }
            readings = [one for field in values if (one := _term(tendon, field, number))]
            rows.append(_Row(keys, values, readings, {one["field"]: one["unit"] for one in readings}))
    heads = (Column("tendon", is_text=True), Column("dof", is_text=True))
    yield from _values("Terms of fixed tendons", heads, rows, ("coefficient", "force_coefficient"))


def _term(tendon: dict, field: str, number: int) -> dict | None:
    """Where a coefficient came from: a place in a list of the tendon, or an attribute of the joint itself."""
    found = [one for one in tendon["authored"] if one["field"] == field]
    joint = tendon["dofs"][number].partition(":")[0]
    own = [one for one in found if one["attribute"].partition(".")[0] == joint]
    listed = [one for one in found if one["attribute"].partition(".")[0] == tendon["name"]]
    return own[0] if own else listed[number] if len(listed) == len(tendon["dofs"]) else None


def _spatial_tendons(tree: dict, names: _Names) -> Iterator[str | Table]:
    heads = tuple(Column(name, is_text=True) for name in ("tendon", "state", "pulls at"))
    tendons = tree["spatial_tendons"]
    rows = []
    for one in tendons:
        place = "every segment" if one["all_segments"] else "both ends"
        rows.append(_Row((names.of(one["name"]), _state(one), place), one, one["authored"], one["units"]))
    yield from _values(
        "Spatial tendons", heads, rows, dict.fromkeys(("stiffness", "damping", "limit_stiffness", "offset"))
    )
    rows = []
    for tendon in tendons:
        leaves = {leaf["attachment"]: leaf for leaf in tendon["leaves"]}
        depths: dict[str, int] = {}
        for point in tendon["attachments"]:
            depth = depths[point["name"]] = depths.get(point["parent"], -1) + 1
            place = " ".join(f"{value:.5g}" for value in point["position"])
            keys = ("  " * depth + names.of(point["name"]), names.of(point["link"]), place)
            leaf = leaves.get(point["name"], {})
            values = {field: leaf[field] for field in ("rest_length", "lower", "upper") if leaf}
            if point["parent"] is not None:
                values["coefficient"] = point["coefficient"]
            readings = [*point["authored"], *leaf.get("authored", ())]
            rows.append(_Row(keys, values, readings, leaf.get("units", {})))
    heads = (Column("attachment", is_text=True), Column("link", is_text=True), Column("position", "m", is_text=True))
    yield from _values("Attachments", heads, rows, ("coefficient", "rest_length", "lower", "upper"), SIDE_WORDS)


def _mimics(tree: dict, names: _Names) -> Iterator[str | Table]:
    rows, sources = [], []
    for mimic in tree["mimics"]:
        follower, *leaders = (names.of(name) for name in mimic["dofs"])
        terms = [f"{0.0 - gear:+.5g} {leader}" for gear, leader in zip(mimic["gears"][1:], leaders)]
        relation = f"{0.0 - mimic['offset']:.5g} {' '.join(terms)}"
        kind = "hard"
        if mimic["natural_frequency"] is None or mimic["natural_frequency"] > 0.0:
            kind = f"{mimic['natural_frequency']:.5g} rad/s, damping ratio {mimic['damping_ratio']:.5g}"
        rows.append((follower, relation, kind, _state(mimic)))
        for one in mimic["authored"]:
            field = _words(one["field"].removeprefix("mimic_"))
            cells = (_pair(one["value"], one["unit"]), _pair(one["authored"], one["authored_unit"]))
            sources.append((follower, field, *cells, _attribute(one), one["dialect"]))
    if rows:
        heads = ("follower", "its position", "kind", "state")
        yield Table("Mimic joints", tuple(Column(name, is_text=True) for name in heads), tuple(rows), keys=4)
    if sources:
        heads = ("follower", "value", "SI", "as authored", "attribute", "dialect")
        columns = tuple(Column(name, is_text=True) for name in heads)
        yield Table("Where values of mimic joints come from", columns, tuple(sources), keys=6)


def _pair(value, unit: str) -> str:
    return f"{_number(value, '')}{'' if unit == '1' else f' {unit}'}"


def _state(coupling: dict) -> str:
    return "on" if coupling["enabled"] else "off"


def _values(
    title: str,
    heads: tuple[Column, ...],
    rows: list[_Row],
    fields: Iterable[str],
    words: dict[str, str] | None = None,
) -> Iterator[str | Table]:
    """A table of the fields that are authored somewhere, one that says where they come from, and the others."""
    if not rows:
        return
    columns, cells, sources, defaults = list(heads), [list(row.keys) for row in rows], [], []
    for field in fields:
        own = [_reading(row, field) for row in rows]
        shown = [_number(row.values[field], field) if field in row.values else "" for row in rows]
        if not any(shown):
            continue
        name = (words or {}).get(field, _words(field))
        same = set(filter(None, shown))
        if not any(own) and len(same) == 1:
            (value,) = same
            unit = " or ".join(_units(rows, field)) if value not in ABSENT else ""
            defaults.append(f"{name} {value} {unit}".rstrip())
            continue
        marks = _marks(own)
        columns.append(Column(name, " or ".join(_units(rows, field))))
        for line, text, reading in zip(cells, shown, own):
            line.append(_cell(text, field, reading, marks))
        for key, mark in marks.items():
            count = sum(_key(reading) == key for reading in own if reading)
            units = dict.fromkeys(one["authored_unit"] for one in own if one and _key(one) == key)
            unit = " or ".join(unit for unit in units if unit not in ("", "1"))
            sources.append((name, *key, unit, f"{count}/{sum(map(bool, shown))}", mark))
    yield Table(title, tuple(columns), tuple(map(tuple, cells)), keys=len(heads))
    if sources:
        names = ("value", "attribute", "dialect", "authored in", "on", "mark")
        if not any(source[-1] for source in sources):
            names, sources = names[:-1], [source[:-1] for source in sources]
        heads = tuple(Column(name, is_text=True) for name in names)
        yield Table(f"{title}: where values come from", heads, tuple(sources), keys=len(names))
    if defaults:
        yield textwrap.fill(f"{title}: not authored: {', '.join(defaults)}", width(), subsequent_indent="  ")


def _reading(row: _Row, field: str) -> dict | None:
    name = "inertia" if field == "principal_inertia" else field
    return next((one for one in row.readings if one["field"] == name), None) if field in row.values else None


def _units(rows: list[_Row], field: str) -> list[str]:
    found = [row.units.get(field, "") for row in rows if field in row.values]
    return [unit for unit in dict.fromkeys(found) if unit not in ("", "1")]


def _key(reading: dict) -> tuple[str, str]:
    """What tells the sources of a column apart."""
    return _attribute(reading), reading["dialect"]


def _marks(readings: list[dict | None]) -> dict[tuple[str, str], str]:
    """The sources of a column, each with a number where there are several."""
    keys = dict.fromkeys(_key(reading) for reading in readings if reading)
    return {key: f"#{number}" if len(keys) > 1 else "" for number, key in enumerate(keys, 1)}


def _attribute(reading: dict) -> str:
    """The name of an attribute, or that of what else gives a value."""
    _, dot, name = reading["attribute"].rpartition(".")
    return INSTANCE.sub("*", name) if dot else "colliders"


def _cell(text: str, field: str, reading: dict | None, marks: dict) -> str:
    """A value, beside it the number that is authored, where that is another."""
    if reading is None:
        return f"({text})" if text else ""
    authored = reading["authored"]
    mark = marks[_key(reading)]
    if authored is not None and not isinstance(authored, list):
        number = _number(authored, field)
        text += "" if number == text else f" [{number}]"
    return f"{text} {mark}".rstrip()


def _number(value, field: str) -> str:
    if value is None:
        return ABSENT[0] if field == "rest_length" else ABSENT[1] if field in FREE else ABSENT[2]
    if isinstance(value, list):
        return " ".join(f"{one:.4g}" for one in value)
    return f"{value:.5g}"


def _unused(items: list[dict]) -> Table:
    """What a stage says in vain, by attribute or schema."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in items:
        prim, _, name = item["path"].partition(".")
        groups.setdefault((name, item["message"], item["severity"]), []).append(prim)
    rows = []
    for (name, message, severity), prims in groups.items():
        others = f" and {len(prims) - SHOWN} more" if len(prims) > SHOWN else ""
        rows.append((name or "(schema)", severity, f"{message}: {', '.join(prims[:SHOWN])}{others}"))
    columns = (
        Column("attribute", is_text=True),
        Column("severity", is_text=True),
        Column("what and where", is_text=True),
    )
    return Table("Not used", columns, tuple(rows), wraps=True)
