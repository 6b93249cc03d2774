"""The potential of a body with one cable and loads, in fifty digits; the formulas of the laws, without any of our code.

So it tells by how much a step of Newton's method lets it fall, where float64 has no digits left.
"""

import itertools
from decimal import Decimal, localcontext

import numpy as np

from warp_artic.description.elastic_body import ElasticLaw

exact = np.vectorize(Decimal, otypes=[object])
logarithm = np.vectorize(Decimal.ln, otypes=[object])
root = np.vectorize(Decimal.sqrt, otypes=[object])


def exact_potential(body, cable, loads, points):
    """Its value [J]: neo-Hookean, or corotated in plane stress; the cable is longer than the end of its start."""
    with localcontext() as context:
        context.prec = 50
        X, x = exact(body.points), exact(points)
        return _of_elements(body, X, x) + _of_cable(cable, x) - (exact(loads) * (x - X)).sum()


def _of_elements(body, X, x):
    d = body.dim
    material_edges = _edges(X, body.elements)
    volume = _det(material_edges) * (Decimal(body.thickness) / 2 if d == 2 else Decimal(1) / 6)
    F = (_edges(x, body.elements)[:, :, :, None] * _inverse(material_edges)[:, None]).sum(axis=2)
    J, I_C = _det(F), (F * F).sum(axis=(1, 2))
    E, nu = Decimal(body.material.young_modulus), Decimal(body.material.poisson_ratio)
    mu = E / (2 * (1 + nu))
    lame = E * nu / (1 - nu * nu) if d == 2 else E * nu / ((1 + nu) * (1 - 2 * nu))
    if body.material.law is ElasticLaw.NEO_HOOKEAN:
        c = Decimal(d) / (d + 1)
        lame += mu - 2 * mu / c / (d + 1) ** 2
        mu /= c
        psi = mu / 2 * (I_C - d - logarithm((I_C + 1) / (d + 1))) - mu * c * (J - 1) + lame / 2 * (J - 1) ** 2
    else:
        stretches = root((F[:, 0, 0] + F[:, 1, 1]) ** 2 + (F[:, 1, 0] - F[:, 0, 1]) ** 2)
        psi = mu * (I_C - 2 * stretches + 2) + lame / 2 * (stretches - 2) ** 2
    return (volume * psi).sum()


def _of_cable(cable, x):
    ways = np.diff(x[[waypoint.nodes[0] for waypoint in cable.waypoints]], axis=0)
    change = root((ways * ways).sum(axis=1)).sum() - Decimal(cable.target_length)
    K, eps = Decimal(cable.stiffness), Decimal(cable.smoothing)
    assert change > eps
    return K * (change * (change - eps) / 2 + eps * eps / 6)


def _edges(x, elements):
    return np.swapaxes(x[elements[:, 1:]] - x[elements[:, :1]], 1, 2)


def _det(matrices):
    size, total = matrices.shape[-1], 0
    for order in itertools.permutations(range(size)):
        sign = round(np.linalg.det(np.eye(size)[list(order)]))
        total = total + sign * np.prod(matrices[..., range(size), order], axis=-1)
    return total


def _inverse(matrices):
    size, found = matrices.shape[-1], np.empty_like(matrices)
    for i, j in np.ndindex(size, size):
        minor = np.delete(np.delete(matrices, j, axis=-2), i, axis=-1)
        found[..., i, j] = (-1) ** (i + j) * _det(minor) / _det(matrices)
    return found
