"""The laws of tension: E(Delta), tau = E', tau' and tau'' of a length change Delta, and Delta of a tension.

Spring:  E = K Delta^2 / 2
Cable:   E = 0 up to Delta = 0, K Delta^3 / (6 eps) up to eps, K (Delta^2 / 2 - eps Delta / 2 + eps^2 / 6) beyond
Tension: E = T Delta
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.description.mesh_tendon import TensionLaw

CODES = {law: code for code, law in enumerate(TensionLaw)}
"""The number of a law on a device."""

SPRING = wp.constant(CODES[TensionLaw.SPRING])
CABLE = wp.constant(CODES[TensionLaw.CABLE])


@cache
def law_functions(real: type) -> SimpleNamespace:
    """The laws as Warp functions of numbers of one precision.

    `K` is the stiffness [N/m], `eps` the width of the start of a cable [m], and `T` the tension of the law TENSION [N].
    """

    @wp.func
    def energy(law: int, u: real, K: real, eps: real, T: real):
        if law == SPRING:
            return real(0.5) * K * u * u
        if law == CABLE:
            if u <= real(0.0):
                return real(0.0)
            if u < eps:
                return K * u * u * u / (real(6.0) * eps)
            return K * (real(0.5) * u * (u - eps) + eps * eps / real(6.0))
        return T * u

    @wp.func
    def tension(law: int, u: real, K: real, eps: real, T: real):
        if law == SPRING:
            return K * u
        if law == CABLE:
            if u <= real(0.0):
                return real(0.0)
            if u < eps:
                return K * u * u / (real(2.0) * eps)
            return K * (u - real(0.5) * eps)
        return T

    @wp.func
    def slope(law: int, u: real, K: real, eps: real):
        if law == SPRING:
            return K
        if law == CABLE and u > real(0.0):
            return K * wp.where(u < eps, u / eps, real(1.0))
        return real(0.0)

    @wp.func
    def curvature(law: int, u: real, K: real, eps: real):
        if law == CABLE and u > real(0.0) and u < eps:
            return K / eps
        return real(0.0)

    @wp.func
    def change(law: int, tau: real, K: real, eps: real):
        # The smallest |Delta| that gives tau; a cable cannot push, and a given tension has no length change.
        if law == SPRING:
            return tau / K
        if law == CABLE and tau > real(0.0):
            if tau < real(0.5) * K * eps:
                return wp.sqrt(real(2.0) * eps * tau / K)
            return tau / K + real(0.5) * eps
        return real(0.0)

    return SimpleNamespace(energy=energy, tension=tension, slope=slope, curvature=curvature, change=change)
