"""Tendons by definition, in NumPy: a waypoint is a weighted mean, a length is a sum of distances."""

import numpy as np

from warp_artic.description.mesh_tendon import BodyPoint, TensionLaw


def waypoints(tendon, points, foreign):
    """Positions of the waypoints; `foreign` gives that of a waypoint that is not on the body."""
    return np.array(
        [
            sum(weight * points[node] for node, weight in zip(waypoint.nodes, waypoint.weights))
            if isinstance(waypoint, BodyPoint)
            else foreign[waypoint]
            for waypoint in tendon.waypoints
        ]
    )


def length(tendon, points, foreign=None):
    """Sum of the distances between neighbouring waypoints."""
    return np.linalg.norm(np.diff(waypoints(tendon, points, foreign), axis=0), axis=1).sum()


def energy(tendon, change):
    """E(Delta)."""
    K, eps = tendon.stiffness, tendon.smoothing
    if tendon.law is TensionLaw.SPRING:
        return 0.5 * K * change**2
    if tendon.law is TensionLaw.TENSION:
        return tendon.tension * change
    if change <= 0.0:
        return 0.0
    if change < eps:
        return K * change**3 / (6.0 * eps)
    return K * (0.5 * change**2 - 0.5 * eps * change + eps**2 / 6.0)
