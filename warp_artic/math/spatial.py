"""Spatial algebra in world axes about link origins.

A motion is a pair (angular, linear) and a force a pair (moment, force), kept as two Vec3. Accelerations are classical:
the linear part is the acceleration of the point at the link origin. An articulated inertia is the symmetric matrix
[[A, B], [B^T, M]] that takes (angular acceleration, linear acceleration) to (moment, force), with A and M as Sym3.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (add, sub, mul and div are the operators below)
    Mat3,
    Real,
    Sym3,
    Vec3,
    add,
    cosine,
    div,
    mat3,
    mul,
    neg,
    real,
    sine,
    sub,
    sym3,
    vec3,
)


@wp.func
def dot(a: Vec3, b: Vec3):
    """a . b"""
    return a.x * b.x + a.y * b.y + a.z * b.z


@wp.func
def cross(a: Vec3, b: Vec3):
    """a x b"""
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@wp.func
def transpose_mul(B: Mat3, v: Vec3):
    """B^T v"""
    return B.x * v.x + B.y * v.y + B.z * v.z


@wp.func
def mat_mul(a: Mat3, b: Mat3):
    """a b"""
    return mat3(transpose_mul(b, a.x), transpose_mul(b, a.y), transpose_mul(b, a.z))


@wp.func
def transpose(B: Mat3):
    """B^T"""
    return mat3(vec3(B.x.x, B.y.x, B.z.x), vec3(B.x.y, B.y.y, B.z.y), vec3(B.x.z, B.y.z, B.z.z))


@wp.func
def outer(a: Vec3, b: Vec3):
    """a b^T"""
    return mat3(b * a.x, b * a.y, b * a.z)


@wp.func
def column(R: Mat3, index: int):
    """Column 0, 1 or 2 of R."""
    if index == 0:
        return vec3(R.x.x, R.y.x, R.z.x)
    if index == 1:
        return vec3(R.x.y, R.y.y, R.z.y)
    return vec3(R.x.z, R.y.z, R.z.z)


@wp.func
def skew(v: Vec3):
    """[v]x, the matrix of v x."""
    zero = real(0.0, v.x)
    return mat3(vec3(zero, neg(v.z), v.y), vec3(v.z, zero, neg(v.x)), vec3(neg(v.y), v.x, zero))


@wp.func
def sym_outer(v: Vec3):
    """v v^T"""
    return sym3(v.x * v.x, v.x * v.y, v.x * v.z, v.y * v.y, v.y * v.z, v.z * v.z)


@wp.func
def sym_less(A: Sym3, v: Vec3, s: Real):
    """A - v v^T s"""
    return A - sym_outer(v) * s


@wp.func
def mat_less(B: Mat3, a: Vec3, b: Vec3):
    """B - a b^T"""
    return B - outer(a, b)


@wp.func
def sym_product(a: Vec3, b: Vec3):
    """(a b^T + b a^T) / 2"""
    u = a * real(0.5, a.x)
    return sym3(
        a.x * b.x,
        u.x * b.y + u.y * b.x,
        u.x * b.z + u.z * b.x,
        a.y * b.y,
        u.y * b.z + u.z * b.y,
        a.z * b.z,
    )


@wp.func
def sym_scalar(s: Real):
    """s times the identity."""
    zero = real(0.0, s)
    return sym3(s, zero, zero, s, zero, s)


@wp.func
def sym_solve(s: Sym3, v: Vec3):
    """The x with s x = v, for a positive definite s; by cofactors, of s over its trace."""
    one = real(1.0, v.x)
    scale = one / (s.xx + s.yy + s.zz)
    a = s * scale
    yz = a.yy * a.zz - a.yz * a.yz
    xz = a.xz * a.yz - a.xy * a.zz
    xy = a.xy * a.yz - a.xz * a.yy
    determinant = a.xx * yz + a.xy * xz + a.xz * xy
    cofactors = sym3(yz, xz, xy, a.xx * a.zz - a.xz * a.xz, a.xy * a.xz - a.xx * a.yz, a.xx * a.yy - a.xy * a.xy)
    return (cofactors * v) * (scale / determinant)


@wp.func
def sym_rotate(R: Mat3, s: Sym3):
    """R s R^T"""
    x = s * R.x
    y = s * R.y
    z = s * R.z
    return sym3(dot(R.x, x), dot(R.y, x), dot(R.z, x), dot(R.y, y), dot(R.z, y), dot(R.z, z))


@wp.func
def skew_mul_sym(r: Vec3, m: Sym3):
    """[r]x m"""
    return mat3(
        vec3(r.y * m.xz - r.z * m.xy, r.y * m.yz - r.z * m.yy, r.y * m.zz - r.z * m.yz),
        vec3(r.z * m.xx - r.x * m.xz, r.z * m.xy - r.x * m.yz, r.z * m.xz - r.x * m.zz),
        vec3(r.x * m.xy - r.y * m.xx, r.x * m.yy - r.y * m.xy, r.x * m.yz - r.y * m.xz),
    )


@wp.func
def shift_rotational(A: Sym3, B: Mat3, B_shifted: Mat3, r: Vec3):
    """A about the point at -r: A + [r] B^T - B_shifted [r], where B_shifted = B + [r] M."""
    u0 = cross(r, B.x)
    u1 = cross(r, B.y)
    u2 = cross(r, B.z)
    w0 = cross(r, B_shifted.x)
    w1 = cross(r, B_shifted.y)
    w2 = cross(r, B_shifted.z)
    return A + sym3(u0.x + w0.x, u1.x + w0.y, u2.x + w0.z, u1.y + w1.y, u2.y + w1.z, u2.z + w2.z)


@wp.func
def rotate_about_z(R: Mat3, s: Real, c: Real):
    """R Rz, for the sine and cosine of an angle."""
    return mat3(
        vec3(R.x.x * c + R.x.y * s, R.x.y * c - R.x.x * s, R.x.z),
        vec3(R.y.x * c + R.y.y * s, R.y.y * c - R.y.x * s, R.y.z),
        vec3(R.z.x * c + R.z.y * s, R.z.y * c - R.z.x * s, R.z.z),
    )
