"""Bodies with random nodes, and tendons of all kinds of waypoints on them."""

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody, ElasticMaterial
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw, WorldPoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

LINK = "/World/arm/hand"
LINK_POSES = {LINK: Pose((0.2, -0.4, 1.1), quaternion_from_rotation_vector((0.3, 0.1, -0.7)))}
BODY_POSE = Pose((0.5, 0.25, -0.75), quaternion_from_rotation_vector((0.0, 0.4, 0.9)))
COUNTS = (2, 3, 40)
"""Waypoints of the tendons that the tests are about."""


def random_body(rng, dim, nodes=60):
    """Nodes in a unit cube; tendons ask nothing of elements."""
    return ElasticBody(
        name="/World/body",
        points=rng.uniform(size=(nodes, dim)),
        elements=np.zeros((0, dim + 1), int),
        material=ElasticMaterial(young_modulus=1e5, poisson_ratio=0.3, density=1e3),
        pose=BODY_POSE,
    )


def node_points(rng, body, count):
    """Waypoints on different nodes."""
    return tuple(BodyPoint(nodes=(int(node),)) for node in rng.choice(len(body.points), count, replace=False))


def mean_points(rng, body, count):
    """Waypoints inside elements of random nodes, which they may share."""
    corners = [rng.choice(len(body.points), body.dim + 1, replace=False).tolist() for _ in range(count)]
    return tuple(
        BodyPoint(nodes=tuple(nodes), weights=tuple(rng.dirichlet(np.ones(body.dim + 1)))) for nodes in corners
    )


def mixed_points(rng, body, count):
    """Waypoints of which the first is in the world, the second on a link, and the others are on the body."""
    foreign = (WorldPoint(position=(0.1, 0.2, 0.9)), LinkPoint(link=LINK, position=(0.3, 0.0, 0.2)))
    if count == 2:
        return (foreign[1], *node_points(rng, body, 1))
    return (*foreign, *mean_points(rng, body, count - 2))


WAYPOINTS = {"nodes": node_points, "means": mean_points, "mixed": mixed_points}


def some_tendons(rng, body, kind, law):
    """Tendons of COUNTS waypoints, twice: stretched beyond the start of a cable, and within it."""
    return tuple(
        MeshTendon(
            name=f"/World/tendon_{count}_{place}",
            body=body.name,
            waypoints=WAYPOINTS[kind](rng, body, count),
            law=law,
            stiffness=rng.uniform(2.0, 5.0),
            smoothing=smoothing,
            tension=rng.uniform(1.0, 2.0),
            target_length=0.01 * count,
        )
        for place, smoothing in (("beyond", 0.01), ("within", 100.0))
        for count in COUNTS
    )


def device_points(tendons, points):
    """Points of shape (environments, N, dim) as an array of vectors."""
    return wp.array(points, dtype=tendons.vec)


def forces_of(tendons, points):
    """Forces on nodes and on foreign points, shapes (environments, N, dim) and (environments, F, dim)."""
    tendons.evaluate(device_points(tendons, points))
    shape = (tendons.environments, len(tendons.body.points))
    forces = wp.zeros(shape, dtype=tendons.vec)
    foreign = wp.zeros((tendons.environments, len(tendons.foreign)), dtype=tendons.vec)
    tendons.add_forces(forces, foreign)
    return forces.numpy(), foreign.numpy()


LAWS = tuple(TensionLaw)
