"""Contact points, in the dynamics suite only: a point x of a link against the world, or against another link.

With the unit normal n towards the link and two tangents t_1, t_2, J = d^T (velocity of x on the link - on the other),
    normal:    y_n >= - gap / h,  z_n >= 0,  one of them with equality;  of a gap < 0 the share RECOVERY is taken back
    friction:  |z_k| <= mu z_n on each tangent (a pyramid):  y_k = 0 where it is less, else z_k is against y_k
The tangents are what the shortest turn that takes Z to n makes of X and Y; below the horizon that from -Z, of X and -Y.
They change smoothly with n but where it crosses the horizon.

Each has a tiny compliance, as a share of its own response, so that redundant points share a load evenly. Their rows
come before all others, which the direct solver thus gathers first: a loop joint behind more points than a body needs
would differ from these by that compliance alone, count as one that they hold already, and open.

Friction that slides is part of P of its normal:  n + sum s_k mu t_k, s_k = +-1 its direction; that of a point
without a load is left out; one that its own friction would push in sticks. So the rows are a linear problem once it is
known which points slide. Projected Gauss-Seidel on all rows guesses that first, and the guess is improved until the
solution confirms it. A contact point whose normal has no length does not act.
"""

import warp as wp

from warp_artic.constraints.rows import (
    RECOVERY,
    allow_every_velocity,
    forget_response,
    prepare_rate,
    prepare_response,
    project,
    rate_response_start,
    row_rate,
    row_response,
    row_velocity,
    set_jacobian_entry,
    set_unbounded_impulse,
    set_velocity_bounds,
)
from warp_artic.constraints.spatial_tendon import direction
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot, mat_mul
from warp_artic.model.arrays import ContactArrays, ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.families import HAS_NO_COMPLIANCE, IS_JUDGED_APART, ConstraintFamily
from warp_artic.model.force_parts import ForcePart
from warp_artic.phases.point_motion import point_motion

SWEEPS = wp.constant(50)
"""Of Gauss-Seidel. Of 3072 random states of walkers on eight points, with a mu of 0.1 to 0.6, under torques that throw
them about, all but 32 are solved after it."""


@wp.func
def normal_row(contacts: ContactArrays, contact: int):
    """The row of the normal of a contact point; these come after all tangents."""
    return 2 * contacts.count + contact


@wp.func
def friction_row(contact: int, k: int):
    """The row of one of its two tangents; these come first."""
    return 2 * contact + k


@wp.func
def tangents(n: Vec3):
    """Two unit vectors in a right-handed frame with n (Duff et al., Building an Orthonormal Basis, Revisited)."""
    one = real(1.0, n.x)
    sign = where_positive(neg(n.z), neg(one), one)
    a = neg(one) / (sign + n.z)
    b = n.x * n.y * a
    t_1 = vec3(one + sign * n.x * n.x * a, sign * b, neg(sign * n.x))
    t_2 = vec3(b, sign + n.y * n.y * a, neg(n.y))
    return t_1, t_2


@wp.func
def set_contact_gradient(
    model: ModelArrays,
    contacts: ContactArrays,
    work: WorkArrays,
    row: int,
    contact: int,
    block: int,
    worker: int,
    d: Vec3,
):
    """Write J of a direction; the terms are the dofs from the link inward, then those from the other one."""
    link = contacts.link[contact]
    other = contacts.other[contact]
    R_WL = mat_mul(load_mat3(work.R_WM, 9 * link, worker), load_mat3(model.link_frame, 12 * link, block))
    p_LM = load_vec3(model.link_frame, 12 * link + 9, block)
    r = R_WL * (load_vec3(contacts.position, 3 * contact, block) - p_LM)
    r_other = r + load_vec3(work.p_WM, 3 * link, worker) - load_vec3(work.p_WM, 3 * other, worker)
    term = add_chain(model, work, link, model.row_term[row], worker, r, d)
    add_chain(model, work, other, term, worker, r_other, neg(d))


@wp.func
def add_chain(model: ModelArrays, work: WorkArrays, tip: int, first_term: int, worker: int, place: Vec3, d: Vec3):
    """Write what unit velocities of the dofs of a link and those before it give along d; returns the next term."""
    link = int(tip)
    term = int(first_term)
    r = place
    while link < model.link_count:
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            motion = point_motion(model, work, dof, r, worker)
            along = dot(d, motion)
            # A dof that cannot move the point along d shall not do so by rounding.
            least = sqrt(dot(motion, motion)) * model.rounding[0, 0]
            set_jacobian_entry(work, term, worker, where_positive(absolute(along) - least, along, real(0.0, along)))
            term += 1
        r = r + load_vec3(work.p_PM, 3 * link, worker)
        link = model.link_parent[link]
    return term


@wp.func
def set_contact_gradients(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int):
    """Write J and P of all contact points, for located links."""
    for contact in range(contacts.count):
        _length, n = direction(load_vec3(contacts.normal, 3 * contact, block))
        one = real(1.0, n.x)
        acts = where_positive(dot(n, n), one, one - one)
        t_1, t_2 = tangents(n)
        set_contact_gradient(model, contacts, work, normal_row(contacts, contact), contact, block, worker, n)
        row = friction_row(contact, 0)
        set_contact_gradient(model, contacts, work, row, contact, block, worker, t_1 * acts)
        set_contact_gradient(model, contacts, work, row + 1, contact, block, worker, t_2 * acts)


@wp.func
def set_contact_rows(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Fill the rows of all contact points; at first all friction sticks."""
    zero = real(0.0, h)
    infinite = real(1.0, h) / zero
    set_contact_gradients(model, contacts, work, block, worker)
    for row in range(3 * contacts.count):
        prepare_response(model, work, row, worker)
        r = row_response(model, work, row, worker)
        work.row_delassus[row, worker] = r
        work.compliance[row, worker] = r * model.rounding[2, 0]
        set_unbounded_impulse(work, row, worker, h)
        set_velocity_bounds(work, row, worker, zero, zero)
    for contact in range(contacts.count):
        row = normal_row(contacts, contact)
        set_velocity_bounds(work, row, worker, neg(overlap_velocity(contacts.gap[contact, block], h)), infinite)
        allow_every_velocity(work, row, worker, work.row_delassus[row, worker])


@wp.func
def overlap_velocity(gap: Real, h: Real):
    """The velocity that uses up a gap in one step; of an overlap (gap < 0) a share of it, backwards."""
    rate = gap / h
    return where_positive(neg(gap), rate * real(RECOVERY, gap), rate)


@wp.func
def guess_sliding(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int):
    """Guess what slides, from the velocities `work.v_free` and the Delassus matrix of all rows."""
    zero = real(0.0, work.v_free[0, worker])
    one = real(1.0, zero)
    count = model.row_count
    first_normal = 2 * contacts.count
    for a in range(count):
        prepare_response(model, work, a, worker)
        prepare_rate(model, work, a, worker)
        contacts.impulse[a, worker] = zero
        contacts.y_free[a, worker] = row_rate(model, work, work.v_free, a, worker)
    for b in range(count):
        first_P = model.row_response_index[b] * model.dof_count
        for dof in range(model.dof_count):
            work.scaled_innovation[dof, worker] = zero
        for k in range(model.row_supports[b]):
            dof = model.support_dof[model.row_support[b] + k]
            work.scaled_innovation[dof, worker] = work.response[first_P + k, worker] * work.D_inverse[dof, worker]
        for a in range(count):
            rate = rate_response_start(model, work, a, worker)
            change = zero
            for k in range(model.row_supports[a]):
                dof = model.support_dof[model.row_support[a] + k]
                change = change + work.response[rate + k, worker] * work.scaled_innovation[dof, worker]
            contacts.delassus[a * count + b, worker] = change
    for _sweep in range(SWEEPS):
        for a in range(count):
            y = contacts.y_free[a, worker]
            for b in range(count):
                if b != a:
                    y = y + contacts.delassus[a * count + b, worker] * contacts.impulse[b, worker]
            bound = work.impulse_bounds[2 * a, worker]
            if a < first_normal:
                bound = contacts.friction[a / 2, block] * contacts.impulse[first_normal + a / 2, worker]
            r = contacts.delassus[a * count + a, worker]
            safe = where_positive(r, r, one)
            lower = work.velocity_bounds[2 * a, worker]
            upper = work.velocity_bounds[2 * a + 1, worker]
            z = project(y, safe, lower, upper, work.compliance[a, worker], bound, bound)
            contacts.impulse[a, worker] = where_positive(r, z, zero)
    for contact in range(contacts.count):
        normal = first_normal + contact
        most = contacts.friction[contact, block] * contacts.impulse[normal, worker]
        contacts.pressed[contact, worker] = where_positive(most, one, zero)
        for k in range(2):
            row = friction_row(contact, k)
            z = contacts.impulse[row, worker]
            side = where_positive(z, one, neg(one))
            contacts.slide[2 * contact + k, worker] = where_positive(most - absolute(z), zero, side)
            contacts.coupling[2 * contact + k, worker] = contacts.delassus[normal * count + row, worker]
        set_sliding(model, contacts, work, contact, block, worker)


@wp.func
def set_sliding(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, contact: int, block: int, worker: int):
    """Hold the tangents that stick, free the velocities of those that slide, and put their friction into P."""
    normal = normal_row(contacts, contact)
    start = model.row_term[normal]
    mu = contacts.friction[contact, block]
    pressed = contacts.pressed[contact, worker]
    zero = mu - mu
    one = real(1.0, mu)
    infinite = one / zero
    r = work.row_delassus[normal, worker]
    for k in range(2):
        r = r + contacts.slide[2 * contact + k, worker] * mu * contacts.coupling[2 * contact + k, worker]
    for term in range(start, start + model.row_terms[normal]):
        work.P[term, worker] = work.J[term, worker]
    for k in range(2):
        row = friction_row(contact, k)
        side = where_positive(r, contacts.slide[2 * contact + k, worker], zero) * pressed
        contacts.slide[2 * contact + k, worker] = side
        reach = where_positive(absolute(side) + one - pressed, infinite, zero)
        # What sticks again is to be held: of what was free, with no impulse, the solver remembers that it is let go.
        sticks = is_finite(reach) * (one - is_finite(work.velocity_bounds[2 * row + 1, worker]))
        work.last_status[row, worker] = where_positive(sticks, zero, work.last_status[row, worker])
        set_velocity_bounds(work, row, worker, neg(reach), reach)
        own = model.row_term[row]
        for term in range(model.row_terms[row]):
            friction = side * mu * work.J[own + term, worker]
            work.P[start + term, worker] = work.P[start + term, worker] + friction
    forget_response(model, work, normal, worker)


@wp.func
def judge_friction(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int, first: int):
    """Let friction slide that would be more than mu z_n, and stick what slides with its force; says where any does.

    What touches again slides at first, and what is not any more is let go. Changes all of it where `first` is
    negative, else only what is next in each environment from that tangent on.
    """
    waiting = real(1.0, work.v_next[0, worker])
    one = waiting
    zero = one - one
    changed = zero
    count = 2 * contacts.count
    for step in range(count):
        place = (step + wp.max(first, 0)) % count
        contact = place / 2
        mu = contacts.friction[contact, block]
        z_n = work.impulse[normal_row(contacts, contact), worker]
        row = friction_row(contact, place % 2)
        pressed = contacts.pressed[contact, worker]
        side = contacts.slide[place, worker]
        z = work.impulse[row, worker]
        y = row_velocity(model, work, row, worker)
        r = work.row_delassus[row, worker]
        known = absolute(y) + absolute(row_rate(model, work, work.v_free, row, worker)) + r * (absolute(z) + mu * z_n)
        known = known * model.rounding[0, 0] * real(8.0, mu)
        loaded = where_positive(mu * z_n, one, zero)
        leaves = pressed * (one - loaded)
        presses = (one - pressed) * loaded
        sticks = pressed * loaded * (one - absolute(side))
        exceeds = sticks * where_positive(r * (absolute(z) - mu * z_n) - known, one, zero)
        returns = absolute(side) * loaded * where_positive(side * y - known, one, zero)
        wrong = waiting * maximum(maximum(leaves, presses), maximum(exceeds, returns))
        if first >= 0:
            waiting = where_positive(wrong, zero, waiting)
        after = where_positive(exceeds, where_positive(z, one, neg(one)), zero)
        contacts.slide[place, worker] = where_positive(wrong, after, side)
        if any_positive(wrong * presses):
            for k in range(2):
                y = row_velocity(model, work, friction_row(contact, k), worker)
                against = where_positive(y, neg(one), one)
                side = contacts.slide[2 * contact + k, worker]
                contacts.slide[2 * contact + k, worker] = where_positive(wrong * presses, against, side)
        pressed = where_positive(wrong * leaves, zero, where_positive(wrong * presses, one, pressed))
        contacts.pressed[contact, worker] = pressed
        if any_positive(wrong):
            set_sliding(model, contacts, work, contact, block, worker)
        changed = maximum(changed, wrong)
    return changed


@wp.func
def friction_impulse(
    model: ModelArrays, contacts: ContactArrays, work: WorkArrays, contact: int, k: int, block: int, worker: int
):
    """The impulse along a tangent: that of its row, or what slides."""
    z_n = work.impulse[normal_row(contacts, contact), worker]
    side = contacts.slide[2 * contact + k, worker]
    slides = side * contacts.friction[contact, block] * z_n
    row = friction_row(contact, k)
    return where_positive(absolute(side), slides, work.impulse[row, worker])


@wp.func
def friction_miss(
    model: ModelArrays, contacts: ContactArrays, work: WorkArrays, contact: int, k: int, block: int, worker: int
):
    """By how much the friction along a tangent misses its law, as a velocity."""
    row = friction_row(contact, k)
    z = friction_impulse(model, contacts, work, contact, k, block, worker)
    r = work.row_delassus[row, worker]
    most = contacts.friction[contact, block] * work.impulse[normal_row(contacts, contact), worker] * r
    wanted = r * z - row_velocity(model, work, row, worker)
    return absolute(r * z - minimum(maximum(wanted, neg(most)), most))


CONTACT_FRICTION = ConstraintFamily(
    name="friction of a contact point",
    order=1000,
    part=ForcePart.LIMIT,
    traits=IS_JUDGED_APART,
)

CONTACT = ConstraintFamily(
    name="contact point",
    order=1001,
    part=ForcePart.LIMIT,
    traits=HAS_NO_COMPLIANCE,
    has_own_force_jacobian=True,
)
