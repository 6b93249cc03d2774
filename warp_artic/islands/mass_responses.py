"""How an impulse at a point changes the velocities of a mechanism.

    Y = M^-1 J^T,   G = J Y                 with what constraints hold
    p = S J^T,   Y = S^T p,   G = p^T p     with M^-1 = S^T S (`phases.impulse_response`), of trees that no row and no
                                            drive with a maximum force holds

With S, single precision knows G of the end of a long chain. In M^-1 of its joints the levers cancel each other.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types


@cache
def mass_responses(precision: str) -> SimpleNamespace:
    """The functions `freely` and `with_constraints`."""
    types = island_types(precision)
    T, V, Mechanisms = types.T, types.V, types.Mechanisms

    @wp.func
    def add_to_delassus(J: V, Y: V):
        """What a dof with J and Y adds to G: the normal, and what is across it."""
        return Y * J[0], V(J[1] * Y[1], J[1] * Y[2], J[2] * Y[2])

    @wp.func
    def respond_freely(
        mechanisms: Mechanisms,
        J: wp.array(dtype=V),
        Y: wp.array(dtype=V),
        term: int,
        row: int,
        own: int,
        dofs: int,
        normal_before: V,
        across_before: V,
    ):
        """Write Y by the square root of M^-1; returns G with that of another mechanism."""
        normal = normal_before
        across = across_before
        for dof in range(dofs):
            Y[term + dof] = V()
        for k in range(dofs):
            first = mechanisms.outward[own + k]
            end = mechanisms.outward_end[own + k]
            p = V()
            for dof in range(first, end):
                p += J[term + dof] * mechanisms.square_root[row + k * dofs + dof]
            more, more_across = add_to_delassus(p, p)
            normal += more
            across += more_across
            if wp.length_sq(p) > T(0.0):
                for dof in range(first, end):
                    Y[term + dof] = Y[term + dof] + p * mechanisms.square_root[row + k * dofs + dof]
        return normal, across

    @wp.func
    def respond_with_constraints(
        mechanisms: Mechanisms,
        J: wp.array(dtype=V),
        Y: wp.array(dtype=V),
        term: int,
        row: int,
        dofs: int,
        normal_before: V,
        across_before: V,
    ):
        """The same by M^-1 with what constraints hold."""
        normal = normal_before
        across = across_before
        for dof in range(dofs):
            total = V()
            for k in range(dofs):
                total += J[term + k] * mechanisms.inverse[row + dof * dofs + k]
            Y[term + dof] = total
            more, more_across = add_to_delassus(J[term + dof], total)
            normal += more
            across += more_across
        return normal, across

    return SimpleNamespace(freely=respond_freely, with_constraints=respond_with_constraints)
