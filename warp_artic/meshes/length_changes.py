"""From length changes to tensions and back, by the laws of tendons, in float64."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.tension_law import law_functions

MODULE = wp.get_module(__name__)
LAWS = law_functions(wp.float64)

Table = wp.array2d(dtype=wp.float64)


@wp.kernel(module=MODULE, enable_backward=False)
def apply_laws(
    law: wp.array(dtype=int),
    smoothing: wp.array(dtype=wp.float64),
    stiffness: Table,
    given_tension: Table,
    change: Table,
    tension: Table,
    slope: Table,
    curvature: Table,
):
    """tau, tau' and tau'' of each tendon in each environment."""
    tendon, env = wp.tid()
    u = change[tendon, env]
    K = stiffness[tendon, env]
    eps = smoothing[tendon]
    tension[tendon, env] = LAWS.tension(law[tendon], u, K, eps, given_tension[tendon, env])
    slope[tendon, env] = LAWS.slope(law[tendon], u, K, eps)
    curvature[tendon, env] = LAWS.curvature(law[tendon], u, K, eps)


@wp.kernel(module=MODULE, enable_backward=False)
def find_changes(
    law: wp.array(dtype=int), smoothing: wp.array(dtype=wp.float64), stiffness: Table, tension: Table, change: Table
):
    """Delta of each tendon in each environment."""
    tendon, env = wp.tid()
    change[tendon, env] = LAWS.change(law[tendon], tension[tendon, env], stiffness[tendon, env], smoothing[tendon])


def tensions_at(tendons: MeshTendons, changes: np.ndarray, stiffness=None) -> tuple[wp.array, wp.array, wp.array]:
    """tau, tau' and tau'' at length changes [m], all of shape (tendons, environments).

    `stiffness`: of all tendons, in place of their own [N/m].
    """
    own = tendons.stiffness.numpy() if stiffness is None else np.full(changes.shape, stiffness)
    results = tuple(wp.zeros(changes.shape, dtype=wp.float64, device=tendons.device) for _ in range(3))
    law, smoothing, K, given, change = _upload(tendons, own, tendons.tension.numpy(), changes)
    inputs = [law, smoothing, K, given, change, *results]
    wp.launch(apply_laws, dim=changes.shape, inputs=inputs, device=tendons.device)
    return results


def changes_for(tendons: MeshTendons, tension: np.ndarray) -> np.ndarray:
    """The length changes that give tensions, both of shape (tendons, environments) [m].

    A slack cable may have any negative one, and is given zero.
    """
    result = wp.zeros(tension.shape, dtype=wp.float64, device=tendons.device)
    inputs = [*_upload(tendons, tendons.stiffness.numpy(), tension), result]
    wp.launch(find_changes, dim=tension.shape, inputs=inputs, device=tendons.device)
    return result.numpy()


def least_stiffness(tendons: MeshTendons, tension: np.ndarray, changes: np.ndarray) -> float:
    """The one stiffness of all tendons that follow a length with which no length change need be above `changes` [m] to
    give tensions."""
    unit, _, _ = tensions_at(tendons, changes, 1.0)
    follows = np.array([tendon.law is not TensionLaw.TENSION for tendon in tendons.tendons])
    pulls = follows[:, None] & (tension > 0.0)
    return float(np.max(np.divide(tension, unit.numpy(), out=np.zeros_like(tension), where=pulls)))


def _upload(tendons: MeshTendons, *tables: np.ndarray) -> list[wp.array]:
    """Laws and smoothing of the tendons, and tables of float64."""
    model, device = tendons.model, tendons.device
    wide = (wp.array(np.ascontiguousarray(table), dtype=wp.float64, device=device) for table in tables)
    return [model.law, wp.array(model.smoothing.numpy(), dtype=wp.float64, device=device), *wide]
