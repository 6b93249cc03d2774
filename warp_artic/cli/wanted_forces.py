"""The file of wanted forces on the nodes of elastic bodies, at one time or over time: .json, .npz or .csv.

Forces are in newtons along the axes of the world; those on a mesh of triangles may have two components, along the axes
of its plane. Nodes that are not named, and those with null (.npz: not a number), do not count.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic.cli.inputs import UNREADABLE
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.errors import SettingsError
from warp_artic.sim.files.npz import LARGEST, Entry, read_npz
from warp_artic.sim.files.text import read_text

AXES = ("x", "y", "z")
ACROSS = 1e-6
"""Largest force across the plane of a mesh, relative to the largest force."""


@dataclass(frozen=True)
class WantedForces:
    """What is wanted of the nodes of each body."""

    time: np.ndarray | None
    """[s], shape (T); None where there is one time, or none is said."""
    forces: dict[str, np.ndarray]
    """By the path of the body, in its frame: shape (T, N, dim) [N], zero on nodes that do not count."""
    counts: dict[str, np.ndarray]
    """Which nodes count, shape (N)."""


def read_wanted(path: str, bodies: Mapping[str, ElasticBody]) -> WantedForces:
    """Read a file of wanted forces; `bodies` have tendons."""
    readers = {".json": _read_json, ".npz": _read_npz, ".csv": _read_csv}
    reader = readers.get(Path(path).suffix)
    if reader is None:
        raise SettingsError(f"{path}: the name of a file of forces ends in one of {', '.join(readers)}")
    try:
        time, tables = reader(path, bodies)
    except FileNotFoundError as error:
        raise SettingsError(f"{path}: there is no such file") from error
    except SettingsError:
        raise
    except (*UNREADABLE, csv.Error) as error:
        raise SettingsError(f"{path}: is not a file of forces ({Path(path).suffix}): {error}") from error
    if not tables:
        raise SettingsError(f"{path}: has no forces; give some under the name forces")
    sizes = {len(table) for table in tables.values()}
    if len(sizes) > 1:
        raise SettingsError(f"{path}: has forces at {' and '.join(map(str, sorted(sizes)))} times, must be as many")
    size = sizes.pop()
    if time is not None:
        time = _times(path, time, size)
    framed = {name: _framed(f"{path}: {name}", table, bodies[name]) for name, table in tables.items()}
    return WantedForces(
        time if size > 1 or time is not None else None,
        {name: np.nan_to_num(table) for name, table in framed.items()},
        {name: ~np.isnan(table).any(axis=(0, 2)) for name, table in framed.items()},
    )


def _read_json(path: str, bodies: Mapping[str, ElasticBody]):
    content = json.loads(read_text(path), object_pairs_hook=_object)
    if not isinstance(content, dict) or "forces" not in content or not {*content} <= {"forces", "time"}:
        raise SettingsError(f"{path}: must be an object with forces and, for several of them, time")
    given = content["forces"]
    is_by_body = isinstance(given, dict) and all(str(key).startswith("/") for key in given)
    by_body = given if is_by_body else {_only(path, bodies): given}
    tables = {}
    for name, values in by_body.items():
        where = f"{path}: {name}"
        body = _body(path, name, bodies)
        if isinstance(values, dict):
            nodes = [_node(where, key, body) for key in values]
            entries = [_array(f"{where}: node {key}", value, (1, 2)) for key, value in values.items()]
            if len({entry.shape for entry in entries}) > 1:
                raise SettingsError(f"{where}: some nodes have other numbers of times or components than others")
            tables[name] = _spread(where, np.stack(entries, axis=-2) if entries else np.empty((0, 3)), nodes, body)
        else:
            tables[name] = _array(where, _filled(values, where), (2, 3))
    return content.get("time"), _sequences(path, tables, bodies)


def _read_npz(path: str, bodies: Mapping[str, ElasticBody]):
    content = read_npz(path, "a file of forces", Entry("iuf", low=-np.inf, high=np.inf, is_any=True))
    tables, time = {}, content.pop("time", None)
    for key, values in content.items():
        kind, _, name = key.partition(":")
        if kind not in ("forces", "nodes"):
            raise SettingsError(
                f"{path}: {key!r} is not known; arrays are time, forces and nodes, or such as forces:/BODY"
            )
        if kind == "nodes" and key.replace("nodes", "forces", 1) not in content:
            raise SettingsError(
                f"{path}: {key!r} has no array of forces with it, {key.replace('nodes', 'forces', 1)!r}"
            )
        if kind == "forces":
            name = name or _only(path, bodies)
            body, where = _body(path, name, bodies), f"{path}: {key}"
            if name in tables:
                raise SettingsError(f"{where}: forces on {name} are there a second time")
            own = content.get(key.replace("forces", "nodes", 1))
            table = _array(where, values, (2, 3))
            if own is not None:
                nodes = [_node(where, node, body) for node in np.atleast_1d(own).tolist()]
                if len(nodes) != table.shape[-2]:
                    raise SettingsError(f"{where}: has {table.shape[-2]} forces for {len(nodes)} nodes")
                table = _spread(where, table, nodes, body)
            tables[name] = table
    return time, _sequences(path, tables, bodies)


def _read_csv(path: str, bodies: Mapping[str, ElasticBody]):
    with io.StringIO(read_text(path), newline="") as file:
        reader = csv.reader(file, skipinitialspace=True)
        heads = [head.strip() for head in next(reader, [])]
        lines = [(reader.line_num, cells) for cells in reader if cells]
    axes = [axis for axis in AXES if axis in heads]
    if not {"node", "x", "y"} <= {*heads} <= {"node", "time", "body", *AXES} or len({*heads}) < len(heads):
        columns = "the columns node, x, y, z, and may name time and body, each once"
        raise SettingsError(f"{path}: its first line must name {columns}")
    for line, cells in lines:
        if len(cells) != len(heads):
            raise SettingsError(f"{path}: line {line}: has {len(cells)} cells for {len(heads)} columns")
    rows = [(line, dict(zip(heads, cells))) for line, cells in lines]
    places = {moment: place for place, moment in enumerate(sorted({_moment(path, line, row) for line, row in rows}))}
    tables: dict[str, np.ndarray] = {}
    for line, row in rows:
        name = row.get("body") or _only(path, bodies)
        body = _body(path, name, bodies)
        if name not in tables:
            tables[name] = np.full((len(places), len(body.points), len(axes)), np.nan)
        node = _node(f"{path}: line {line}", row["node"], body)
        entry = tables[name][places[_moment(path, line, row)], node]
        if not np.isnan(entry[0]):
            raise SettingsError(f"{path}: line {line}: node {node} is there a second time")
        entry[:] = [_number(path, line, row, axis) for axis in axes]
    return list(places) if "time" in heads else None, _sequences(path, tables, bodies)


def _moment(path: str, line: int, row: dict) -> float:
    """The time of a line, zero where there is no such column."""
    return _number(path, line, row, "time") if "time" in row else 0.0


def _object(pairs: list[tuple[str, object]]) -> dict:
    """An object of JSON, each key of which is there once."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{key!r} is there {times} times")
    return dict(pairs)


def _only(path: str, bodies: Mapping[str, ElasticBody]) -> str:
    """The body that is meant where none is named."""
    if len(bodies) != 1:
        raise SettingsError(f"{path}: does not say which body is meant; those with tendons are {', '.join(bodies)}")
    return next(iter(bodies))


def _body(path: str, name: str, bodies: Mapping[str, ElasticBody]) -> ElasticBody:
    if name not in bodies:
        raise SettingsError(f"{path}: {name} is no elastic body with tendons; those are {', '.join(bodies)}")
    return bodies[name]


def _node(where: str, node: object, body: ElasticBody) -> int:
    try:
        number = int(str(node))
    except ValueError:
        number = -1
    if not 0 <= number < len(body.points):
        raise SettingsError(f"{where}: {node!r} is no node of {body.name}; nodes are 0 to {len(body.points) - 1}")
    return number


def _number(path: str, line: int, row: dict, name: str) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = np.nan
    if not abs(value) <= LARGEST:
        raise SettingsError(f"{path}: line {line}: {name} is {row[name]!r}, must be a finite number")
    return value


def _array(where: str, values, dimensions: tuple[int, int]) -> np.ndarray:
    """Numbers, some of which may be missing, of one of two dimensions."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingsError(f"{where}: is no array of numbers of one length each") from error
    if array.ndim not in dimensions or array.shape[-1] not in (2, 3):
        raise SettingsError(f"{where}: has shape {array.shape}; two or three numbers for each node are needed")
    too_large = np.abs(np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf)) > LARGEST
    if too_large.any():
        raise SettingsError(f"{where}: has {array[too_large][0]}; finite numbers, at most {LARGEST:g}, are needed")
    return array


def _filled(values, where: str):
    """Lists in which null for a node is a list of numbers that are missing."""
    if not isinstance(values, list):
        raise SettingsError(f"{where}: is no list of forces, nor an object of them by node")
    width = next(_widths(values), 3)

    def fill(part):
        if part is None:
            return [np.nan] * width
        is_list = isinstance(part, list) and any(isinstance(one, list) or one is None for one in part)
        return [fill(one) for one in part] if is_list else part

    return [fill(part) for part in values]


def _widths(values) -> Iterator[int]:
    """How many numbers the forces have."""
    for part in values if isinstance(values, list) else ():
        if isinstance(part, list) and part and not isinstance(part[0], list) and part[0] is not None:
            yield len(part)
        else:
            yield from _widths(part)


def _spread(where: str, table: np.ndarray, nodes: list[int], body: ElasticBody) -> np.ndarray:
    """Forces on some nodes as forces on all, missing on the others."""
    for node, times in Counter(nodes).items():
        if times > 1:
            raise SettingsError(f"{where}: node {node} is there {times} times")
    result = np.full((*table.shape[:-2], len(body.points), table.shape[-1]), np.nan)
    result[..., nodes, :] = table
    return result


def _sequences(path: str, tables: dict[str, np.ndarray], bodies: Mapping[str, ElasticBody]) -> dict[str, np.ndarray]:
    """Forces (T, N, components) on all nodes of each body, each node with all its components at all times or none."""
    result = {}
    for name, table in tables.items():
        body, table = bodies[name], table if table.ndim == 3 else table[None]
        where = f"{path}: {name}"
        if table.shape[1] != len(body.points):
            raise SettingsError(f"{where}: has forces on {table.shape[1]} nodes, the body has {len(body.points)}")
        if table.shape[2] == 2 and body.dim == 3:
            raise SettingsError(f"{where}: forces have 2 components, those on tetrahedra must have 3")
        missing = np.isnan(table)
        partly = missing.any(axis=(0, 2)) & ~missing.all(axis=(0, 2))
        if partly.any():
            node = int(np.argmax(partly))
            text = (
                f"{where}: node {node} has a force at some times or in some components only; it counts or it does not"
            )
            raise SettingsError(text)
        if missing.all():
            raise SettingsError(f"{where}: no node has a force")
        result[name] = table
    return result


def _times(path: str, time, size: int) -> np.ndarray:
    try:
        time = np.asarray(time, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingsError(f"{path}: time is no list of numbers") from error
    if time.shape != (size,):
        raise SettingsError(f"{path}: has {size} times of forces, and time has the shape {time.shape}")
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise SettingsError(f"{path}: time must be finite and increase from one to the next")
    return time


def _framed(where: str, table: np.ndarray, body: ElasticBody) -> np.ndarray:
    """Forces in the frame of a body, those on triangles in its plane."""
    if table.shape[2] == 2:
        return table
    turned = table @ body.pose.rotation
    if body.dim == 3:
        return turned
    across = np.nan_to_num(np.abs(turned[..., 2]))
    if across.max() > ACROSS * np.nanmax(np.abs(turned)):
        time, node = np.unravel_index(np.argmax(across), across.shape)
        raise SettingsError(
            f"{where}: the force on node {node} at time {time} has {turned[time, node, 2]:.3g} N across the plane of "
            "the mesh, which nothing in the plane can make"
        )
    return turned[..., :2]
