"""Tensions and target lengths of the tendons of one body for forces on its nodes that are wanted over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.description.track import Track
from warp_artic.errors import SolveError
from warp_artic.meshes.adjoint import DEPENDENCE, DeformedInverse, DeformedTensions
from warp_artic.meshes.equilibrium import start_points, weights
from warp_artic.meshes.inverse import InverseProblem, Tensions
from warp_artic.meshes.target_lengths import choose_target_lengths, find_tensions
from warp_artic.meshes.tendons import MeshTendons


@dataclass(frozen=True)
class TendonPlan:
    """What the tendons of one body do at T times, and what they cannot."""

    body: ElasticBody
    tendons: tuple[MeshTendon, ...]
    stiffness: float | None
    """K [N/m]; None where all tensions are given and there are no target lengths."""
    tension: np.ndarray
    """[N], shape (T, tendons)."""
    length: np.ndarray
    """Where the body is at the time [m], shape (T, tendons)."""
    target_length: np.ndarray | None
    """[m], shape (T, tendons); not a number for tendons that take tensions."""
    bound: np.ndarray
    """-1 at the smallest tension, 1 at the largest, shape (T, tendons)."""
    wanted: np.ndarray
    """In the frame of the body [N], shape (T, N, dim)."""
    unreachable: np.ndarray
    """What of it no tensions within bounds make, same shape; zero on nodes that do not count."""
    optimality: np.ndarray
    """The slope of U along which a tension could still go [N], shape (T)."""
    rank: int
    condition: float

    @property
    def residual(self) -> np.ndarray:
        """|f - A tau| [N], shape (T)."""
        return np.linalg.norm(self.unreachable, axis=(1, 2))

    @property
    def size(self) -> np.ndarray:
        """|f| [N], shape (T)."""
        return np.linalg.norm(self.wanted, axis=(1, 2))


def plan_tendons(
    body: ElasticBody,
    tendons: Sequence[MeshTendon],
    forces: np.ndarray,
    time: np.ndarray,
    *,
    counts: np.ndarray | None = None,
    link_poses: Mapping[str, Pose] | None = None,
    stiffness: float | None = None,
    regularisation: float = 0.0,
    device: str = "cpu",
) -> TendonPlan:
    """The best tensions for forces (T, N, dim) [N] at times (T) [s], where the body starts.

    Tensions are within the bounds of each tendon at the time. Tendons that follow a length get target lengths with one
    stiffness: the given one, else that of all tendons, else one that keeps changes of length small.

    Args:
        counts: Which nodes count, shape (N); by default all.
        link_poses: X_WL by path of the links that the tendons touch.
        regularisation: Weight of the squares of tensions.
    """
    tendons = tuple(tendons)
    placed = MeshTendons(tendons, body, link_poses=link_poses, device=device)
    points = start_points(body)
    placed.evaluate(wp.array(points[None], dtype=placed.vec, device=device))
    placed.check()
    counts = np.ones(len(points), bool) if counts is None else counts
    problem = InverseProblem(placed, weights=counts.astype(float)[:, None], regularisation=regularisation)
    rows = [wp.array(row[None], dtype=placed.vec, device=device) for row in forces]
    bounds = [(_bounds(tendons, "min_tension", moment), _bounds(tendons, "max_tension", moment)) for moment in time]
    tensions, paths = find_tensions(problem, rows, bounds=bounds)
    stiffness, lengths = _target_lengths(placed, [one.tension for one in tensions], paths, stiffness)
    return TendonPlan(
        body=body,
        tendons=tendons,
        stiffness=stiffness,
        tension=_stacked(tensions, "tension"),
        length=np.repeat(placed.shape.length.numpy().T, len(rows), axis=0),
        target_length=lengths,
        bound=_stacked(tensions, "bound"),
        wanted=forces,
        unreachable=np.array([one.unreachable[0] for one in tensions]) * counts[:, None],
        optimality=np.array([one.optimality[0] for one in tensions]),
        rank=int(tensions[0].rank[0]),
        condition=float(problem.conditions()[0]),
    )


def plan_deformed_tendons(
    body: ElasticBody,
    tendons: Sequence[MeshTendon],
    forces: np.ndarray,
    time: np.ndarray,
    *,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    counts: np.ndarray | None = None,
    link_poses: Mapping[str, Pose] | None = None,
    stiffness: float | None = None,
    regularisation: float = 0.0,
    device: str = "cpu",
) -> TendonPlan:
    """The same where the body has come to rest under its tendons and its weight at each time, from the last one on.

    Nodes that links carry stay where they start. Rank and condition are those of the derivative of the forces by the
    tensions at the last time.

    Args:
        gravity: In world axes [m/s^2].

    Raises:
        DescriptionError: Part of the body is held by nothing.
        SolveError: There is no equilibrium, or the search does not end.
    """
    tendons = tuple(tendons)
    counts = np.ones(len(body.points), bool) if counts is None else counts
    options = dict(regularisation=regularisation, link_poses=link_poses, device=device)
    problem = DeformedInverse(body, tendons, weights=counts.astype(float)[:, None], **options)
    mesh = problem.equilibrium.mesh
    problem.equilibrium.loads.assign(mesh.array(weights(mesh, gravity)))
    found = []
    for moment, wanted in zip(time, forces):
        problem.min_tension.assign(_bounds(tendons, "min_tension", moment))
        problem.max_tension.assign(_bounds(tendons, "max_tension", moment))
        found.append(problem.solve(wanted[None], found[-1].tension if found else None))
        if not found[-1].converged.all():
            raise SolveError(
                f"{body.name}: no best tensions were found for {moment:g} s: a slope of {found[-1].optimality[0]:g} N "
                "is left"
            )
    placed = MeshTendons(tendons, body, link_poses=link_poses, device=device)
    tensions, paths = ([getattr(one, name) for one in found] for name in ("tension", "length"))
    stiffness, lengths = _target_lengths(placed, tensions, paths, stiffness)
    singular = np.linalg.svd((problem.jacobian()[0] * counts[:, None]).reshape(len(tendons), -1), compute_uv=False)
    rank = int(np.count_nonzero(singular > DEPENDENCE * singular.max(initial=0.0)))
    return TendonPlan(
        body=body,
        tendons=tendons,
        stiffness=stiffness,
        tension=_stacked(found, "tension"),
        length=_stacked(found, "length"),
        target_length=lengths,
        bound=_stacked(found, "bound"),
        wanted=forces,
        unreachable=np.array([one.unreachable[0] for one in found]) * counts[:, None],
        optimality=np.array([one.optimality[0] for one in found]),
        rank=rank,
        condition=float(singular[0] / singular[-1]) if rank == len(tendons) else math.inf,
    )


def _stacked(tensions: Sequence[Tensions | DeformedTensions], name: str) -> np.ndarray:
    return np.array([getattr(one, name)[:, 0] for one in tensions])


def _bounds(tendons: Sequence[MeshTendon], name: str, moment: float) -> np.ndarray:
    """The smallest or the largest tensions at a time, shape (tendons, 1)."""

    def at(tendon: MeshTendon) -> float:
        track: Track | None = getattr(tendon, f"{name}_track")
        return getattr(tendon, name) if track is None else track.at(moment)

    return np.array([[at(tendon)] for tendon in tendons])


def _target_lengths(
    placed: MeshTendons, tensions: list[np.ndarray], paths: list[np.ndarray], stiffness: float | None
) -> tuple[float | None, np.ndarray | None]:
    """K and the target lengths, shape (T, tendons), of the tendons that follow a length; None without any."""
    follows = np.array([tendon.law is not TensionLaw.TENSION for tendon in placed.tendons])
    if not follows.any():
        return None, None
    if stiffness is None:
        stiffness = _shared_stiffness([tendon for tendon, one in zip(placed.tendons, follows) if one])
    stiffness, lengths = choose_target_lengths(placed, tensions, paths, stiffness)
    return stiffness, np.where(follows, lengths[:, :, 0], np.nan)


def _shared_stiffness(tendons: Sequence[MeshTendon]) -> float | None:
    """The stiffness of all tendons, if it is one and stays."""
    found = {tendon.stiffness if tendon.stiffness_track is None else None for tendon in tendons}
    (first, *others) = found
    return None if others or not first else first
