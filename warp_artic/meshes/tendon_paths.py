"""Which points the segments of tendons join, and with which coefficients: fixed for a run, laid out once on the host.

A point is a node of the body (numbers below N) or a foreign point, of a link or of the world (numbers from N). Segment
k of a tendon is s_k = sum_i c_ki x_i over its points; c_ki is the weight of point i in waypoint k minus that in
waypoint k + 1. Then Delta_,i = sum_k c_ki s_k / |s_k| and Delta_,ij = sum_k c_ki c_kj zeta_k.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, WorldPoint
from warp_artic.description.pose import Pose


@dataclass(frozen=True)
class Rows:
    """Lists of different lengths, one after the other."""

    start: np.ndarray
    """Where each list starts, and where the last one ends."""
    item: np.ndarray
    factor: np.ndarray | None = None
    """A coefficient of each item, if they have any."""

    @staticmethod
    def of(lists: list[list[tuple[int, float]]]) -> Rows:
        """Of lists of items with coefficients."""
        start = np.concatenate([[0], np.cumsum([len(part) for part in lists], dtype=np.int64)]).astype(np.int32)
        flat = [pair for part in lists for pair in part]
        item = np.array([pair[0] for pair in flat], dtype=np.int32)
        return Rows(start, item, np.array([pair[1] for pair in flat], dtype=np.float64))

    @staticmethod
    def grouped(keys: np.ndarray, count: int) -> Rows:
        """The positions in `keys` of each key below `count`, in order."""
        start = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=count)[:count])]).astype(np.int32)
        return Rows(start, np.argsort(keys, kind="stable")[: start[-1]].astype(np.int32))

    def as_dicts(self) -> list[dict[int, float]]:
        """Items with their coefficients, by list."""
        pairs = list(zip(self.item.tolist(), self.factor.tolist()))
        return [dict(pairs[start:end]) for start, end in zip(self.start[:-1], self.start[1:])]


@dataclass(frozen=True)
class TendonPaths:
    """Segments, columns of A and coupled pairs of points of all tendons of one body."""

    node_count: int
    foreign: tuple[LinkPoint | WorldPoint, ...]
    """What the points from number `node_count` on are."""
    segment_start: np.ndarray
    """First segment of each tendon, and the number of segments at the end."""
    segment_points: Rows
    """Points of each segment with c_ki."""
    column_start: np.ndarray
    """First column entry of each tendon; an entry is one point of one tendon, points ascending."""
    column_point: np.ndarray
    column_tendon: np.ndarray
    column_segments: Rows
    """Segments of each column entry with c_ki."""

    def lengths(self, positions: np.ndarray) -> np.ndarray:
        """Lengths of the segments for points at `positions`, shape (N + F, dim) [m]."""
        rows = self.segment_points
        vectors = np.add.reduceat(rows.factor[:, None] * positions[rows.item], rows.start[:-1], axis=0)
        return np.linalg.norm(vectors, axis=1)

    def pairs(self) -> Pairs:
        """The pairs of column entries of each tendon, all with all, in both orders."""
        segments_of = self.column_segments.as_dicts()
        first, second, terms = [], [], []
        for start, end in zip(self.column_start[:-1], self.column_start[1:]):
            for a in range(start, end):
                for b in range(start, end):
                    first.append(a)
                    second.append(b)
                    shared = (k for k in segments_of[a] if k in segments_of[b])
                    terms.append([(k, segments_of[a][k] * segments_of[b][k]) for k in shared])
        return Pairs(np.array(first, dtype=np.int32), np.array(second, dtype=np.int32), Rows.of(terms))


@dataclass(frozen=True)
class Pairs:
    """Pairs (a, b) of column entries of the same tendon."""

    first: np.ndarray
    second: np.ndarray
    segments: Rows
    """Segments that both have, with c_ka c_kb."""


def paths_of(tendons: tuple[MeshTendon, ...], node_count: int) -> TendonPaths:
    """The layout of valid tendons."""
    foreign: dict[LinkPoint | WorldPoint, int] = {}
    segment_lists, segment_start, column_start = [], [0], [0]
    column_point, column_tendon, column_lists = [], [], []
    for number, tendon in enumerate(tendons):
        waypoints = [waypoint_weights(waypoint, node_count, foreign) for waypoint in tendon.waypoints]
        touched: dict[int, list[tuple[int, float]]] = {}
        for here, there in zip(waypoints[:-1], waypoints[1:]):
            differences = ((point, here.get(point, 0.0) - there.get(point, 0.0)) for point in sorted({*here, *there}))
            coefficients = [(point, factor) for point, factor in differences if factor != 0.0]
            for point, factor in coefficients:
                touched.setdefault(point, []).append((len(segment_lists), factor))
            segment_lists.append(coefficients)
        for point in sorted(touched):
            column_point.append(point)
            column_tendon.append(number)
            column_lists.append(touched[point])
        segment_start.append(len(segment_lists))
        column_start.append(len(column_point))
    return TendonPaths(
        node_count,
        tuple(foreign),
        np.array(segment_start, dtype=np.int32),
        Rows.of(segment_lists),
        np.array(column_start, dtype=np.int32),
        np.array(column_point, dtype=np.int32),
        np.array(column_tendon, dtype=np.int32),
        Rows.of(column_lists),
    )


def waypoint_weights(waypoint, node_count: int, foreign: dict) -> dict[int, float]:
    """Points of a waypoint with weights that sum to one; a new foreign point is added to `foreign`."""
    if not isinstance(waypoint, BodyPoint):
        return {node_count + foreign.setdefault(waypoint, len(foreign)): 1.0}
    weights: dict[int, float] = {}
    for node, weight in zip(waypoint.nodes, waypoint.weights):
        weights[node] = weights.get(node, 0.0) + weight
    total = sum(weights.values())
    return {node: weight / total for node, weight in weights.items() if weight != 0.0}


def foreign_positions(
    foreign: Iterable[LinkPoint | WorldPoint], body: ElasticBody, link_poses: Mapping[str, Pose]
) -> np.ndarray:
    """Foreign points in the frame of the body, shape (F, dim) [m]; `link_poses` are X_WL by path of the link."""
    X_BW = body.pose.inverse()
    points = [
        X_BW.apply(point.position if isinstance(point, WorldPoint) else link_poses[point.link].apply(point.position))
        for point in foreign
    ]
    return np.array(points, dtype=np.float64).reshape(-1, 3)[:, : body.dim]
