"""Elastic bodies to test with: boxes of triangles or tetrahedra."""

import itertools

import numpy as np

from warp_artic.description.elastic_body import ElasticBody, ElasticLaw, ElasticMaterial, PlaneState

LAWS = tuple(ElasticLaw)


def box(cells, size):
    """Points and elements of a box of cells along each axis, each cut along its diagonal into 2 or 6 elements."""
    axes = [np.linspace(0.0, length, count + 1) for length, count in zip(size, cells)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
    nodes = np.arange(len(points)).reshape([count + 1 for count in cells])
    elements = []
    for order in itertools.permutations(range(len(cells))):
        corners = np.cumsum([np.zeros(len(cells), int), *np.eye(len(cells), dtype=int)[list(order)]], axis=0)
        ends = [nodes[tuple(slice(k, count + k) for k, count in zip(corner, cells))].ravel() for corner in corners]
        if np.linalg.det(corners[1:]) < 0:
            ends[1], ends[-1] = ends[-1], ends[1]
        elements.append(np.stack(ends, axis=1))
    return points, np.concatenate(elements)


def bar(cells, size, law=ElasticLaw.NEO_HOOKEAN, young=1e5, poisson=0.3, density=1000.0, **fields):
    """A bar of a material; fields of the material and of the body, other than defaults."""
    points, elements = box(cells, size)
    of_material = {name: fields.pop(name) for name in ("mass_damping", "stiffness_damping") if name in fields}
    material = ElasticMaterial(law=law, young_modulus=young, poisson_ratio=poisson, density=density, **of_material)
    fields = {"name": "/World/bar", "plane_state": PlaneState.STRESS} | fields
    return ElasticBody(points=points, elements=elements, material=material, **fields)


def random_points(body, scale, seed=0):
    """Points of a body, each moved at random."""
    return body.points + scale * np.random.default_rng(seed).uniform(-1.0, 1.0, body.points.shape)
