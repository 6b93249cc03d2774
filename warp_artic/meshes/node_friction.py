"""Dry friction of nodes: how one reacts to the forces on it, and where it is free to go.

For as long as the forces that obstacles bear are taken as they were found last, friction has a potential, convex and
with a kink, of the way s = T (y - x) of a node along the surface since the start of the step:

    D = W |s|,  W = sum of mu times these forces

A node off the kink slides, and feels -W s / |s|. One at the kink sticks while the force on it along the surface is at
most that of static friction; else it is let go along this force. A step that would take a node back over the kink ends
there. Nodes that stick do so at the very place where they were, so that they do not creep.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.half_spaces import LAST_DIGITS, half_spaces
from warp_artic.meshes.types import MeshTypes

SMOOTH, STICKS, STARTS, SLIDES = (wp.constant(k) for k in range(4))
"""States of a node: without friction; at the kink, held or let go; off the kink."""


@cache
def node_friction(types: MeshTypes) -> SimpleNamespace:
    """The struct `Reaction` of a node, and functions for kernels.

    `way(T, y, x)`              s, zero where it is rounding
    `react(f, s, N, which, T, W, W_static, rubs)`   of a node with the force f that touches half spaces
    `on_this_side(s, reaction)` whether a node that has this way now has not gone back over the kink
    """
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    spaces = half_spaces(types)
    Normals, Offsets, nearest, projector = spaces.Normals, spaces.Offsets, spaces.nearest, spaces.projector
    digits = LAST_DIGITS * types.epsilon

    @wp.struct
    class Reaction:
        free: Vec
        """What is left of the force [N]."""
        held: int
        """Bits of the half spaces that bear it."""
        state: int
        along: Vec
        """s of a node that slides, the direction of one that is let go."""
        directions: Mat
        """The projection to where the node may go."""

    @wp.func
    def way(T: Mat, y: Vec, x: Vec):
        s = T * (y - x)
        if wp.length(s) <= Real(digits) * wp.length(y):
            s = Vec()
        return s

    @wp.func
    def react(f: Vec, s: Vec, N: Normals, which: int, T: Mat, W: Real, W_static: Real, rubs: int):
        found = Reaction()
        found.state = SMOOTH
        force = f
        size = wp.length(s)
        if rubs > 0 and size > Real(0.0):
            found.state = SLIDES
            found.along = s
            force = f - (W / size) * s
        rest, held = nearest(force, N, Offsets(), which)
        found.held = held
        found.directions = projector(N, held)
        if rubs > 0 and size == Real(0.0):
            t = T * rest
            pull = wp.length(t)
            # A node that leaves its obstacle may do so all the same.
            found.directions = Mat()
            if held == 0:
                found.directions = wp.identity(n=dim, dtype=Real) - T
            found.state = STICKS
            if pull > W_static:
                found.state = STARTS
                found.along = t / pull
                rest = rest - (W / pull) * t
                found.directions = found.directions + wp.outer(found.along, found.along)
            rest = found.directions * rest
        found.free = rest
        return found

    @wp.func
    def on_this_side(s: Vec, state: int, along: Vec):
        return state == SMOOTH or (state != STICKS and wp.dot(s, along) > Real(0.0))

    return SimpleNamespace(Reaction=Reaction, way=way, react=react, on_this_side=on_this_side)
