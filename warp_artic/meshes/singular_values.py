"""Singular values of small matrices, one matrix a thread: rows are turned until they are at right angles.

Hestenes 1958. Small values are as accurate as large ones.
"""

import warp as wp

from warp_artic.math.processor import native
from warp_artic.meshes.bounded_least_squares import ONE, ZERO, Factor

SWEEPS = wp.constant(60)
ANGLE = wp.constant(wp.float64(1e-14))
"""Rows with a cosine below this are at right angles."""

OPTIONS = {"enable_backward": False, "module": wp.get_module(__name__)}
wp.set_module_options({"cpu_compiler_flags": native("")}, module=OPTIONS["module"])


@wp.func
def turn_apart(W: wp.array2d(dtype=wp.float64), p: int, q: int):
    """Rotate two rows so that they are at right angles; returns the cosine between them before."""
    a = ZERO
    b = ZERO
    dot = ZERO
    for column in range(W.shape[1]):
        a += W[p, column] * W[p, column]
        b += W[q, column] * W[q, column]
        dot += W[p, column] * W[q, column]
    cosine_between = wp.abs(dot) / wp.sqrt(a * b)
    if cosine_between > ANGLE:
        zeta = (b - a) / (dot + dot)
        tangent = wp.where(zeta > ZERO, ONE, -ONE) / (wp.abs(zeta) + wp.sqrt(ONE + zeta * zeta))
        cosine = ONE / wp.sqrt(ONE + tangent * tangent)
        sine = cosine * tangent
        for column in range(W.shape[1]):
            upper = W[p, column]
            lower = W[q, column]
            W[p, column] = cosine * upper - sine * lower
            W[q, column] = sine * upper + cosine * lower
    return cosine_between


@wp.kernel(**OPTIONS)
def singular_values(factor: Factor, work: wp.array3d(dtype=wp.float64), values: wp.array2d(dtype=wp.float64)):
    """Singular values of A, those of R, not sorted."""
    env = wp.tid()
    rank = factor.rank[env]
    W = work[env]
    size = W.shape[1]
    for row in range(rank):
        for column in range(size):
            W[row, column] = factor.transposed[env, column, row][0]
    turning = int(1)
    while turning > 0 and turning < SWEEPS:
        largest = ZERO
        for p in range(rank):
            for q in range(p + 1, rank):
                largest = wp.max(largest, turn_apart(W, p, q))
        turning = wp.where(largest > ANGLE, turning + 1, 0)
    for row in range(size):
        square = ZERO
        if row < rank:
            for column in range(size):
                square += W[row, column] * W[row, column]
        values[env, row] = wp.sqrt(square)
