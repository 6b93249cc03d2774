"""Springs and dampers in a step.

A spring k and a damper d act on a coordinate e, of which a unit impulse changes the rate by r. In a step h the joints
move with v for (1 - share) h and then with v+ for share h: share is a half (see `solver.step`), or one in a step
without a middle. With edot at the start and edot+ at the end of the step,
    f = - k (e + theta h ((1 - share) edot + theta edot+)) - d ((1 - theta) edot + theta edot+)
      = - k e - drag edot - slope edot+
    slope = theta (d + theta h k),   drag = (1 - theta) d + theta (1 - share) h k.
theta = 1/2 is the trapezoidal rule: second order, it neither takes nor gives energy, and it rings where the step is too
long for the spring. theta = 1 looks a whole step ahead of the middle: first order, and an infinite spring is at rest
after two steps. Both are stable for all k and d, and so is what lies between:
    theta = least + (1 - least) x^2 / (1 + x^2),   x = r h (d + h k),   least = 1/2.
With share = theta = 1 this is backward Euler. So steps without a middle are, and the first step of an environment
is for the joints that springs, dampers or constraints act on: a start may be far from any motion, and would ring.
"""

import warp as wp

from warp_artic.math.numbers import Real, add, div, minimum, mul, real, sub  # noqa: F401 (operators)

STIFFEST = wp.constant(1e4)
"""The largest x that is told apart from an infinite one."""


@wp.func
def implicit_theta(resistance: Real, inertia: Real, least: Real):
    """theta of x = resistance / inertia."""
    stiff = minimum(resistance, inertia * real(STIFFEST, inertia))
    square = stiff * stiff
    return least + (real(1.0, least) - least) * (square / (square + inertia * inertia))


@wp.func
def spring_slope(k: Real, d: Real, theta: Real, h: Real):
    """What a spring and damper lose by edot+."""
    return theta * (d + theta * h * k)


@wp.func
def spring_drag(k: Real, d: Real, theta: Real, share: Real, h: Real):
    """What a spring and damper lose by edot."""
    one = real(1.0, h)
    return (one - theta) * d + theta * (one - share) * h * k
