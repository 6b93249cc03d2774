"""Quasi-static equilibrium: where elastic forces, tendons and loads hold each other."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.errors import DescriptionError
from warp_artic.meshes.components import components, first_free_component
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.newton import Convergence, Newton, NewtonOptions
from warp_artic.meshes.potential import Potential
from warp_artic.meshes.tendons import MeshTendons


class Equilibrium:
    """The equilibrium of a body with its tendons, in environments that differ in loads, tendons and held points.

    Args:
        mesh: The elements; its pattern has the pairs of the tendons, see `mesh_with_tendons`.
        tendons: Of the body, if any.
        options: When Newton's method ends.

    Raises:
        DescriptionError: Part of the mesh is held by nothing.
    """

    def __init__(self, mesh: ElasticMesh, tendons: MeshTendons | None = None, options: NewtonOptions | None = None):
        body = mesh.body
        self.mesh = mesh
        self.tendons = tendons
        held = held_nodes(body)
        if (node := first_free_component(body, tendons.tendons if tendons else ())) is not None:
            count = len(np.unique(components(body)))
            where = f"the part with node {node}, of {count} parts," if count > 1 else "the mesh"
            raise DescriptionError(
                f"{body.name}: {where} is held by nothing, so that it has no equilibrium; pin or attach nodes of it"
            )
        self.potential = Potential(mesh, tendons, held, coarse=True)
        self._newton = Newton(self.potential, options)

    @property
    def loads(self) -> wp.array:
        """Forces on nodes [N], shape (environments, N); write to it."""
        return self.potential.loads

    @property
    def forces(self) -> wp.array:
        """After a solve: what is left on free nodes; on held ones the force that whoever holds them has to bear."""
        return self.potential.forces

    def solve(self, points: wp.array) -> Convergence:
        """Move the free nodes of `points`, shape (environments, N) [m]; held ones stay where they are given."""
        return self._newton.solve(points)


def mesh_with_tendons(
    body: ElasticBody, tendons: tuple[MeshTendon, ...], environments=1, precision="float64", device="cpu", poses=None
) -> tuple[ElasticMesh, MeshTendons | None]:
    """The elements of a body and its tendons, one pattern for both; `poses` are those of links, by path."""
    options = dict(environments=environments, precision=precision, device=device)
    if not tendons:
        return ElasticMesh(body, **options), None
    found = MeshTendons(tendons, body, link_poses=poses, **options)
    return ElasticMesh(body, **options, couplings=found.pattern()), found


def held_nodes(body: ElasticBody) -> np.ndarray:
    """Which nodes are pinned or attached, shape (N)."""
    held = np.zeros(len(body.points), bool)
    held[list(body.pinned)] = True
    held[[attachment.node for attachment in body.attachments]] = True
    return held


def start_points(body: ElasticBody) -> np.ndarray:
    """Where nodes start, shape (N, dim) [m]."""
    return np.asarray(body.points if body.start_points is None else body.start_points, float)


def weights(mesh: ElasticMesh, gravity) -> np.ndarray:
    """Weights of nodes [N], shape (N, dim), of gravity in world axes [m/s^2]."""
    in_body = mesh.body.pose.rotation.T @ np.asarray(gravity, float)
    return mesh.node_mass[:, None] * in_body[: mesh.body.dim]
