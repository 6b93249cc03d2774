"""How the nodes that links carry give way to forces on them, from how links answer forces and moments.

    G = J Y J^T,   G = sum of g_k phi_k phi_k^T

with J the motion of nodes by that of links, Y the motion of links by force and moment on them, and phi_k of length one.
With J = Q R only the small matrix R Y R^T is taken apart. What of Y is not symmetric, as where tendons pull with other
forces than their lengths say, is left out, and so is what is not positive: who uses G looks again where links go.
"""

import numpy as np


def motion_of_nodes(arms: np.ndarray, link_of: np.ndarray, links: int, axes: np.ndarray) -> np.ndarray:
    """J: what nodes do when their links move, shape (E, P dim, 6 links).

    Args:
        arms: From the centre of mass of its link to each node, in world axes, shape (E, P, 3) [m].
        link_of: Link of each node, shape (P).
        links: Their count.
        axes: Those of the body in the world, as rows, shape (dim, 3).
    """
    environments, nodes, _ = arms.shape
    found = np.zeros((environments, nodes, len(axes), links, 6))
    places = np.arange(nodes)
    found[:, places, :, link_of, :3] = axes
    # v + w x r, along an axis a: a v + (r x a) w
    found[:, places, :, link_of, 3:] = np.cross(arms[:, :, None], axes).transpose(1, 0, 2, 3)
    return found.reshape(environments, nodes * len(axes), 6 * links)


def compliance_shapes(motion: np.ndarray, answers: np.ndarray, count: int, least: float):
    """The shapes phi and stiffnesses 1 / g of G with the largest g: shapes (E, count, P dim) and (E, count).

    Stiffness is zero where g is not above `least` [m/N]; shapes do not count there.

    Args:
        motion: J, shape (E, P dim, 6 links).
        answers: Y, shape (E, 6 links, 6 links), or (6 links, 6 links) for all [m/N, m/(N m), rad/N, rad/(N m)].
        count: At most what J has of the smaller one of its numbers of rows and columns.
        least: [m/N].
    """
    Q, R = np.linalg.qr(motion)
    small = R @ answers @ R.transpose(0, 2, 1)
    g, vectors = np.linalg.eigh(0.5 * (small + small.transpose(0, 2, 1)))
    g, vectors = g[:, ::-1][:, :count], vectors[:, :, ::-1][:, :, :count]
    stiffness = np.divide(1.0, g, out=np.zeros_like(g), where=g > least)
    return (Q @ vectors).transpose(0, 2, 1), stiffness
