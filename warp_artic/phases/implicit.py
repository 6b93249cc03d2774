"""Springs and dampers in a step.

Those of a dof (drives, viscous friction) see its inertia m: the pivot of the dof in the elimination from the tips to
the root, in which the dofs before it have springs of their own. The dof moves by what its damper feels, the mean
velocity
    w = (1 - theta) v + theta v+,   q+ = q + h w,   f = - k (e + reach h w) - d w = - k e - resistance w
    slope = theta resistance,   drag = (1 - theta) resistance,   resistance = d + reach h k.
With what the damper does in a step, delta = h d / m, how far the spring relaxes against it, rho = delta x, and how
little of a swing the damper leaves the spring, x = h^2 k m / (m + h d)^2,
    1 - theta = late(delta) / (1 + x^2 (1 + x) / 2),   1 - reach = late(rho) / (1 + x^2 (1 + x) / 2),
    late(y) = (3 + y) / (6 + 3 y + y^2).
A damper alone slows down by 1 / (1 + delta + delta^2 / 2 + delta^3 / 6), and both v+ and q+ are those of exp(- delta)
to third order: from the trapezoidal rule, theta = 1/2, to a dof that follows its forces, theta = 1, of which v+ is the
mean velocity of the step. On such a dof a spring relaxes by the same fraction of rho. A spring alone follows the
trapezoidal rule, of second order and without loss, as far as the step resolves it; where it does not, backward Euler,
theta = reach = 1, and an infinite spring is at rest after two steps. All of it is stable for all k and d, and for trees
of dofs with any of them. A step without a middle is backward Euler for all k and d.

Where dofs of unequal stiffness pull each other within a step, the pivots do not tell how: the step is done in two
halves first, and theta of each dof is that of its mean velocity over them (`solver.boundary_layers`), from 1/2 to 1 and
at most FARTHEST times as far from 1 as that of its pivot, so that what is infinitely stiff has theta = 1.

Elsewhere (tendons, mimic joints, soft limits) a spring k and a damper d act on a coordinate e of several dofs, of which
a unit impulse changes the rate by r. In a step h the joints
move with v for (1 - weight) h and then with v+ for weight h: weight is a half (see `solver.step`), or one in a step
without a middle. With edot at the start and edot+ at the end of the step,
    f = - k (e + theta h ((1 - weight) edot + theta edot+)) - d ((1 - theta) edot + theta edot+)
      = - k e - drag edot - slope edot+
    slope = theta (d + theta h k),   drag = (1 - theta) d + theta (1 - weight) h k.
theta = 1/2 is the trapezoidal rule: second order, it neither takes nor gives energy, and it rings where the step is too
long for the spring. theta = 1 looks a whole step ahead of the middle: first order, and an infinite spring is at rest
after two steps. Both are stable for all k and d, and so is what lies between:
    theta = least + (1 - least) x^2 / (1 + x^2),   x = r h (d + h k),   least = 1/2.
With weight = theta = 1 this is backward Euler. So steps without a middle are, and the first step of an environment
is for the joints that these springs or constraints act on: a start may be far from any motion, and would ring.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)

STIFFEST = wp.constant(1e4)
"""The largest x of a row that is told apart from an infinite one."""
STRONGEST = wp.constant(1e6)
"""The same of rho and x of a dof."""
FARTHEST = wp.constant(8.0)
"""How much farther from one than that of its pivot the theta of a dof may be that halves of the step have told."""


@wp.func
def joint_weights(k: Real, d: Real, inertia: Real, least: Real, h: Real):
    """theta and reach of the spring and damper of a dof with a pivot, neither below `least`."""
    one = real(1.0, h)
    three = real(3.0, h)
    half = real(0.5, h)
    strongest = real(STRONGEST, h)
    damping = h * d
    inverse = one / (inertia + damping)
    # 1 / (1 + delta) and delta / (1 + delta), which are finite for all delta.
    kept = inertia * inverse
    lost = damping * inverse
    sprung = (h * h * k) * inverse
    rho = minimum(sprung * lost, strongest)
    x = minimum(sprung * kept, strongest)
    late = kept * (kept + (kept + one))
    slowed = (late + late) + lost
    relaxing = three + rho
    relaxed = real(6.0, h) + rho * relaxing
    scale = one / (slowed * relaxed * (one + (x * x) * (half + half * x)))
    theta = one - (late * relaxed) * scale
    reach = one - (relaxing * slowed) * scale
    return maximum(theta, least), maximum(reach, least)


@wp.func
def measured_theta(measured: Real, theta: Real):
    """theta as two halves of the step have told it, or where they have not (0) that of the pivot.

    Factors wait for it, one dof after the other, and hardly any step has measured it: it is not waited for then.
    """
    if any_positive(measured):
        return told_theta(measured, theta)
    return theta


@wp.func
def told_theta(measured: Real, theta: Real):
    """The same where any environment may have measured it."""
    one = real(1.0, theta)
    return where_positive(measured, maximum(measured, one - real(FARTHEST, theta) * (one - theta)), theta)


@wp.func
def joint_resistance(k: Real, d: Real, reach: Real, h: Real):
    """What the spring and damper of a dof lose by w."""
    return d + reach * (h * k)


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
def spring_drag(k: Real, d: Real, theta: Real, weight: Real, h: Real):
    """What a spring and damper lose by edot."""
    one = real(1.0, h)
    return (one - theta) * d + theta * (one - weight) * h * k
