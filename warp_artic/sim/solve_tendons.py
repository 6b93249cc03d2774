"""The inverse of tendons on meshes, from Python: tensions and target lengths that make wanted forces on nodes."""

from __future__ import annotations

from functools import partial
from numbers import Real

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.meshes.tendon_plan import TendonPlan, plan_deformed_tendons, plan_tendons
from warp_artic.sim.arrays.views import real_numbers
from warp_artic.sim.launch.device import device_of

IN_PLANE = 1e-6
"""Largest share of forces on a mesh of triangles that may be out of its plane."""


def solve_tendons(
    scene: Scene,
    forces: np.ndarray,
    *,
    time: np.ndarray | None = None,
    body: str | None = None,
    deformed: bool = False,
    stiffness: float | None = None,
    regularisation: float = 0.0,
    device: str = "cpu",
) -> TendonPlan:
    """The tensions of the tendons on an elastic body that come nearest to wanted forces on its nodes, within bounds.

    Args:
        scene: From `read_stage`.
        forces: On each of N nodes along the axes of the world [N], shape (N, 3) or (T, N, 3); nan on nodes that
            are free.
        time: [s], shape (T), from the start of the stage; by default 0, 1, 2 ... s.
        body: Prim path of the elastic body; by default the only one that has tendons.
        deformed: Whether forces are wanted at the equilibrium under tendons and weight, and not at the start of the
            stage.
        stiffness: Of every spring and cable [N/m]; by default that of the stage if they share one, else one that keeps
            changes of length below a tenth.
        regularisation: Weight of the squares of tensions.
        device: "cpu" or "cuda:N".

    Returns:
        A `TendonPlan` with `tension` and `length` of shape (T, tendons), `target_length`, `bound`, and what is left of
        the forces, `residual` (T) [N] and `unreachable` (T, N, dim), in the frame of the body.

    Raises:
        SettingsError: An argument has a value that is not allowed.
        SolveError: With `deformed`, there is no equilibrium.
    """
    if not isinstance(scene, Scene):
        raise SettingsError(f"scene: a {type(scene).__name__} is not a Scene, as wa.read_stage gives it")
    bodies = {one.name: one for one in scene.elastic_bodies}
    names = list(dict.fromkeys(tendon.body for tendon in scene.mesh_tendons))
    if not names:
        raise SettingsError("scene: has no tendon on an elastic body")
    if body is None and len(names) != 1:
        raise SettingsError(f"body: several bodies have tendons; name one of {', '.join(names)}")
    name = names[0] if body is None else body
    if name not in names:
        raise SettingsError(f"body: {name} has no tendons; {', '.join(names)} has{did_you_mean(name, names)}")
    own = bodies[name]
    local, counts = _in_frame(own, forces)
    time = np.arange(len(local), dtype=float) if time is None else real_numbers("time", time)
    if not np.isfinite(time).all():
        raise SettingsError("time: is not finite")
    if time.shape != (len(local),):
        raise SettingsError(f"time: shape {time.shape} is not {(len(local),)}, that of the forces")
    for kind, value in (("stiffness", stiffness), ("regularisation", regularisation)):
        if value is not None and not isinstance(value, Real):
            raise SettingsError(f"{kind}: {value!r} is not a number")
    plan = partial(plan_deformed_tendons, gravity=scene.gravity) if deformed else plan_tendons
    return plan(
        own,
        [tendon for tendon in scene.mesh_tendons if tendon.body == name],
        local,
        time,
        counts=counts,
        link_poses={link.path: link.pose for tree in scene.articulations for link in tree.links},
        stiffness=stiffness,
        regularisation=regularisation,
        device=device_of(device),
    )


def _in_frame(body, forces) -> tuple[np.ndarray, np.ndarray]:
    """Forces (T, N, dim) in the frame of a body, zero where they do not count, and which nodes count (N)."""
    given = real_numbers("forces", forces)
    given = given[None] if given.ndim == 2 else given
    if given.ndim != 3 or not len(given) or given.shape[1:] != (len(body.points), 3):
        raise SettingsError(f"forces: shape {np.shape(forces)} is not (T, {len(body.points)}, 3)")
    counts = ~np.isnan(given).any(axis=(0, 2))
    if np.isnan(given[:, counts]).any() or np.isinf(given).any() or not counts.any():
        raise SettingsError("forces: must be finite, or NaN on nodes that do not count")
    local = np.where(counts[:, None], given, 0.0) @ body.pose.rotation
    if np.abs(local[..., body.dim :]).max(initial=0.0) > IN_PLANE * np.abs(local).max():
        raise SettingsError(f"forces: are out of the plane of {body.name}")
    return local[..., : body.dim], counts
