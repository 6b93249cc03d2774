"""The equilibrium of one body, in one call."""

from __future__ import annotations

import numpy as np

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.errors import SolveError
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, start_points, weights
from warp_artic.meshes.newton import NewtonOptions


def solve_equilibrium(
    body: ElasticBody,
    tendons: tuple[MeshTendon, ...] = (),
    gravity=(0.0, 0.0, 0.0),
    loads=None,
    precision: str = "float64",
    device: str = "cpu",
    options: NewtonOptions | None = None,
) -> np.ndarray:
    """Points of a body in equilibrium, shape (N, dim) [m].

    Args:
        body: With its nodes held where they start.
        tendons: On the body and in the world.
        gravity: In world axes [m/s^2].
        loads: Forces on nodes, shape (N, dim) [N]; none by default.
        precision: "float32" or "float64".
        device: "cpu" or "cuda:N".
        options: When Newton's method ends.

    Raises:
        DescriptionError: Part of the mesh is held by nothing.
        SolveError: No equilibrium was found.
    """
    mesh, on_body = mesh_with_tendons(body, tendons, 1, precision, device)
    equilibrium = Equilibrium(mesh, on_body, options)
    total = weights(mesh, gravity) + (0.0 if loads is None else np.asarray(loads, float))
    equilibrium.loads.assign(mesh.array(total))
    points = mesh.array(start_points(body))
    found = equilibrium.solve(points)
    if not found.converged.all():
        raise SolveError(
            f"{body.name}: no equilibrium in {found.steps[0]} steps: forces of {found.force[0]:g} N are left, of "
            f"{found.reference[0]:g} N at the start"
        )
    return points.numpy()[0]
