"""What `warp-artic inspect` says, as tables."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator

from warp_artic.cli.check import counts_of, lines_of
from warp_artic.cli.inspect_contacts import contact_blocks
from warp_artic.cli.inspect_meshes import mesh_blocks
from warp_artic.cli.table import Column, Table, width
from warp_artic.cli.value_table import Row, attribute_name, number_text, value_tables, words_of

UNUSED = ("attribute-not-used", "schema-not-used", "not-simulated")
"""Rules about what a stage says in vain; these findings have a table of their own."""
SHOWN = 3
"""How many prims are named of those with the same unused attribute; `check` lists all."""
RARE = ("elastic_bodies", "mesh_tendons", "contact_pairs")
"""Totals that are not told where they are zero."""
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
READ = "This could be read; a placeholder replaces each value in error."
LEGEND = (
    "Values are in SI units: 2 [115] is authored as 115, (2) is not authored, and comes from the bodies or is the "
    "default.",
    "Names are the ends of prim paths, * in an attribute is an axis or a tendon; --json has full names.",
)


def blocks(content: dict) -> Iterator[str | Table]:
    """The paragraphs and tables of what is understood."""
    yield _head(content)
    if content["articulations"] or content["elastic_bodies"] or content["mesh_tendons"]:
        yield "\n".join(textwrap.fill(line, width()) for line in LEGEND)
    for tree in content["articulations"]:
        yield from _articulation(tree)
    yield from contact_blocks(content)
    yield from mesh_blocks(content)
    unused = [item for item in content["diagnostics"] if item["rule"] in UNUSED]
    if unused:
        yield _unused(unused)
    others = [item for item in content["diagnostics"] if item["rule"] not in UNUSED]
    yield "\n".join([*lines_of(others), counts_of(content["diagnostics"])])


def _head(content: dict) -> str:
    """Totals and settings."""
    totals = content["totals"]
    counts = {name: count for name, count in totals.items() if name != "mass" and (count or name not in RARE)}
    found = ", ".join(f"{count} {words_of(name, count)}" for name, count in counts.items())
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
    name = attribute_name(reading)
    return f"{name}, {reading['dialect']}"


def _articulation(tree: dict) -> Iterator[str | Table]:
    names = _Names(tree)
    dofs = sum(len(joint["dofs"]) for joint in tree["joints"])
    links = len(tree["links"])
    head = f"ARTICULATION {tree['path']}: {tree['base']} base"
    head += f", {links} {words_of('links', links)}, {dofs} {words_of('dofs', dofs)}"
    for name in ("position_iterations", "velocity_iterations"):
        origins = [_origin(one) for one in tree["authored"] if one["field"] == name]
        if tree[name] is not None:
            head += f"\n{words_of(name)} {tree[name]}  [{', '.join(origins)}]"
    origins = [_origin(one) for one in tree["authored"] if one["field"] == "sleep_threshold"]
    if origins:
        head += f"\nsleep threshold {tree['sleep_threshold']:.5g} m^2/s^2  [{', '.join(origins)}]"
    for name, unit in (("max_linear_velocity", "m/s"), ("max_angular_velocity", "rad/s")):
        origins = [_origin(one) for one in tree["authored"] if one["field"] == f"tree_{name}"]
        if origins and tree[name] is not None:
            head += f"\n{words_of(name)} as a whole {tree[name]:.5g} {unit}  [{', '.join(origins)}]"
    if tree["starts_asleep"]:
        head += "\nstarts asleep  [usdphysics physics:startsAsleep]"
    if names.above:
        head += f"\nlinks and joints are below {names.above}"
    yield head
    yield _tree(tree, names)
    yield from value_tables(
        "Masses",
        (Column("link", is_text=True),),
        [Row((names.of(link["path"]),), link, link["authored"], link["units"]) for link in tree["links"]],
        tree["links"][0]["units"],
    )
    yield from _dofs(tree, names)
    yield from _fixed_tendons(tree, names)
    yield from _spatial_tendons(tree, names)
    yield from _mimics(tree, names)
    yield from _constraints(tree, names)


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
        """The name of a link, a joint, a dof, a tendon or an attachment, or of the world."""
        path, colon, own = name.partition(":")
        return self.short.get(path, path) + colon + own


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
    kind += ", counts turns" if any(dof["counts_turns"] for dof in joint["dofs"]) else ""
    return names.of(joint["path"]), kind, " ".join(dof["axis"] for dof in joint["dofs"])


def _dofs(tree: dict, names: _Names) -> Iterator[str | Table]:
    dofs = [dof for joint in tree["joints"] for dof in joint["dofs"]]
    for title, head, own in (("Dofs", "dof", dofs), ("Axes of loop joints", "loop axis", tree["loop_axes"])):
        rows = []
        for dof in own:
            keys = (names.of(dof["name"]), dof["axis"], dof["drive_kind"] or "none")
            rows.append(Row(keys, dof["si"], dof["authored"], dof["units"]))
        heads = tuple(Column(name, is_text=True) for name in (head, "axis", "drive"))
        yield from value_tables(title, heads, rows, rows[0].units if rows else (), DOF_WORDS)
    yield from _tracks(tree, names)


def _tracks(tree: dict, names: _Names) -> Iterator[Table]:
    """Targets and gains that change over time, between which values."""
    rows = []
    dofs = [dof for joint in tree["joints"] for dof in joint["dofs"]]
    for dof in (*dofs, *tree["loop_axes"]):
        for name, track in dof["targets_over_time"].items():
            times, values = track["times"], track["values"]
            bounds = (number_text(value, "") for value in (times[0], times[-1], min(values), max(values)))
            what = name if name in ("stiffness", "damping") else f"{name} target"
            unit = dof["units"][what.replace(" ", "_")]
            rows.append((names.of(dof["name"]), what, unit, str(len(times)), *bounds))
    heads = [Column(name, is_text=True) for name in ("dof", "value", "unit")]
    heads += [Column("samples"), Column("from", "s"), Column("to", "s"), Column("least"), Column("greatest")]
    if rows:
        yield Table("Drives over time", tuple(heads), tuple(rows), keys=2)


def _fixed_tendons(tree: dict, names: _Names) -> Iterator[str | Table]:
    heads = (Column("tendon", is_text=True), Column("state", is_text=True))
    tendons = tree["fixed_tendons"]
    rows = [Row((names.of(one["name"]), _state(one)), one, one["authored"], one["units"]) for one in tendons]
    yield from value_tables("Fixed tendons", heads, rows, rows[0].units if rows else (), SIDE_WORDS)
    rows = []
    for tendon in tendons:
        for number, dof in enumerate(tendon["dofs"]):
            keys = (names.of(tendon["name"]) if number == 0 else "", names.of(dof))
            values = {
                "coefficient": tendon["coefficients"][number],
                "force_coefficient": tendon["force_coefficients"][number],
            }
            readings = [one for field in values if (one := _term(tendon, field, number))]
            rows.append(Row(keys, values, readings, {one["field"]: one["unit"] for one in readings}))
    heads = (Column("tendon", is_text=True), Column("dof", is_text=True))
    yield from value_tables("Terms of fixed tendons", heads, rows, ("coefficient", "force_coefficient"))


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
        rows.append(Row((names.of(one["name"]), _state(one), place), one, one["authored"], one["units"]))
    yield from value_tables(
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
            rows.append(Row(keys, values, readings, leaf.get("units", {})))
    heads = (Column("attachment", is_text=True), Column("link", is_text=True), Column("position", "m", is_text=True))
    yield from value_tables("Attachments", heads, rows, ("coefficient", "rest_length", "lower", "upper"), SIDE_WORDS)


def _constraints(tree: dict, names: _Names) -> Iterator[str | Table]:
    """Constraints of further kinds, a table for each."""
    for kind in dict.fromkeys(one["kind"] for one in tree["constraints"]):
        own = [one for one in tree["constraints"] if one["kind"] == kind]
        links = own[0]["links"]
        heads = [Column(name.replace("_", " "), is_text=True) for name in (kind, "state", *links, *own[0]["words"])]
        rows = []
        for one in own:
            ends = (names.of(one[link]) for link in links)
            keys = (one["name"].rpartition("/")[2], _state(one), *ends, *one["words"].values())
            rows.append(Row(keys, one, one["authored"], one["units"]))
        yield from value_tables(f"{kind.capitalize()}s", tuple(heads), rows, rows[0].units)


def _mimics(tree: dict, names: _Names) -> Iterator[str | Table]:
    rows, sources = [], []
    for mimic in tree["mimics"]:
        follower, *leaders = (names.of(name) for name in mimic["dofs"])
        terms = [f"{0.0 - gear:+.5g} {leader}" for gear, leader in zip(mimic["gears"][1:], leaders)]
        terms += [f"{0.0 - c:+.5g} {leaders[0]}^{power}" for power, c in enumerate(mimic["curve"], 2) if c]
        relation = f"{0.0 - mimic['offset']:.5g} {' '.join(terms)}"
        kind = "hard"
        if mimic["natural_frequency"] is None or mimic["natural_frequency"] > 0.0:
            kind = f"{mimic['natural_frequency']:.5g} rad/s, damping ratio {mimic['damping_ratio']:.5g}"
        rows.append((follower, relation, kind, _state(mimic)))
        for one in mimic["authored"]:
            field = words_of(one["field"].removeprefix("mimic_"))
            cells = (_pair(one["value"], one["unit"]), _pair(one["authored"], one["authored_unit"]))
            sources.append((follower, field, *cells, attribute_name(one), one["dialect"]))
    if rows:
        heads = ("follower", "its position", "kind", "state")
        yield Table("Mimic joints", tuple(Column(name, is_text=True) for name in heads), tuple(rows), keys=4)
    if sources:
        heads = ("follower", "value", "SI", "as authored", "attribute", "dialect")
        columns = tuple(Column(name, is_text=True) for name in heads)
        yield Table("Where values of mimic joints come from", columns, tuple(sources), keys=6)


def _pair(value, unit: str) -> str:
    return f"{number_text(value, '')}{'' if unit == '1' else f' {unit}'}"


def _state(coupling: dict) -> str:
    return "on" if coupling["enabled"] else "off"


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
