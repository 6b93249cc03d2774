"""Numbers and vectors with the signs of others, or without."""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, absolute, neg, vec3, where_positive


@wp.func
def signed(size: Real, sign: Real):
    """size with the sign of a number, positive for zero."""
    return where_positive(neg(sign), neg(size), size)


@wp.func
def signed_vector(size: Vec3, sign: Vec3):
    """A vector whose components have the signs of those of another one."""
    return vec3(signed(size.x, sign.x), signed(size.y, sign.y), signed(size.z, sign.z))


@wp.func
def absolute_vector(v: Vec3):
    """Its components without their signs."""
    return vec3(absolute(v.x), absolute(v.y), absolute(v.z))
