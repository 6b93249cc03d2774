"""Rotation about the z axis of the joint frame:  R_FM = Rz(q),  axis = z_M,  qdot = v."""

import math

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    cosine,
    mul,
    real,
    sine,
    sub,
    where_positive,
)
from warp_artic.math.spatial import column, cross, rotate_about_z

TWO_TURNS = wp.constant(wp.float64(12.566370614359172))


@wp.func
def place(R_WF: Mat3, w_P: Vec3, q: Real, v: Real):
    """R_WM, the axis in W, the angular velocity of the link, and its angular acceleration while vdot is zero."""
    R_WM = rotate_about_z(R_WF, sine(q), cosine(q))
    axis = column(R_WM, 2)
    return R_WM, axis, w_P + axis * v, cross(w_P, axis) * v


TWO_TURNS = wp.constant(wp.float64(4.0 * math.pi))


@wp.func
def wrap(q: Real, wraps: Real):
    """q, brought into (-2 pi, 2 pi), with a margin of rounding, where `wraps` is positive."""
    turn = real(TWO_TURNS, q)
    wrapped = q - where_positive(q, turn, real(0.0, q) - turn)
    inside = real(6.283185, q) - absolute(q)
    return where_positive(wraps, where_positive(inside, q, wrapped), q)
