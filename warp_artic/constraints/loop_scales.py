"""Inverse mass and inertia scales of loop joints: a joint moves a body as if that had another mass or inertia.

The rows of a joint with the scales a_i and b_i of its sides i respond, in terms of the wrench (F, N) of a unit impulse
about the centre of mass of a body, with
    dv_C = a_i F / m_i,   dw = b_i I_i^-1 N,
which is what the wrench (a_i F, b_i N) does to the body itself. So J stays, P is that of the scaled wrench, and
the rows are nonsymmetric (`rows`). Two free bodies that are joined where they have no arm get the impulse
    z = (y* - J v) / (a_0 / m_0 + a_1 / m_1),   m_i dv_i = -+ a_i z.
All rows of the joint are scaled: held axes, limits and drives. What is reported as its load is z, of which body i gets
its share. With scales that differ momentum is not kept, and energy need not be.

A body of which other joints of a tree hold a part has no mass of its own that could be scaled: a scale other than one
is for lone free bodies. On the side of the world it does nothing.

Source: document 004 (mass scaling).
"""

import warp as wp

from warp_artic.constraints.loop_place import LoopPlace
from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.math.numbers import Real, Vec3, absolute, add, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, load_mat3, load_vec3
from warp_artic.model.families import Parameter

SCALED_LOOPS = "scaled_loops"
"""The flag that says whether any joint of a tree scales."""


@wp.func
def scaled_excess(model: ModelArrays, at: LoopPlace, side: int, link: int, is_linear: bool, along: Vec3, arm: Vec3):
    """What a scaled unit impulse has beyond its own force, and moment about the origin of a link, of 1 or 0 first."""
    one = real(1.0, along.x)
    first = 4 * at.loop + 2 * (1 - side)
    a = model.loop_inverse_scale[first, at.block] - one
    b = model.loop_inverse_scale[first + 1, at.block] - one
    force = along * (one - one)
    moment = along * b
    if is_linear:
        c = load_mat3(at.rotations, 9 * link, at.worker) * load_vec3(model.link_center, 3 * link, at.block)
        force = along * a
        moment = cross(c, force) + cross(arm - c, along) * b
    return force, moment


@wp.func
def scaling(model: ModelArrays, loop: int, block: int):
    """Positive where a loop joint scales the mass or the inertia of a body; the world has none."""
    one = real(1.0, model.loop_inverse_scale[4 * loop, block])
    found = one - one
    for side in range(2):
        link = model.loop_link0[loop]
        if side == 1:
            link = model.loop_link1[loop]
        if link < model.link_count:
            for k in range(4 * loop + 2 * side, 4 * loop + 2 * side + 2):
                found = found + absolute(model.loop_inverse_scale[k, block] - one)
    return found


def scales_of(articulation: Articulation) -> list[float]:
    """Of each loop joint that is enabled the scales of mass and inertia of its first side, then of its second one."""
    enabled = (loop for loop in articulation.constraints_of(LoopJoint) if loop.enabled)
    return [
        scale
        for loop in enabled
        for side in zip(loop.inverse_mass_scales, loop.inverse_inertia_scales)
        for scale in side
    ]


def scales_masses(articulation: Articulation) -> bool:
    """Whether any loop joint scales."""
    return any(scale != 1.0 for scale in scales_of(articulation))


INVERSE_SCALES = Parameter(
    name="loop_inverse_scale", of="loop", values=scales_of, allowed=NOT_NEGATIVE, size=4, flag=SCALED_LOOPS
)
