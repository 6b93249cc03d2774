"""The row problem: what constraint families hand to the solvers of rows, as arrays that have one meaning each.

With v+ = v_free + Y z, Y = M^-1 P, and for each row a its velocity y_a = J_a v+ and its impulse z_a:
    y_a + compliance_a z_a = target_a,   target_a = y_a clamped to [lower_a, upper_a]
    |z_a| <= hold_a, else |z_a| = slide_a against the motion that is wanted
A row with lower = upper is an equality; one with lower < upper is a stop: z_a > 0 at its lower end, z_a < 0 at its
upper end, z_a = 0 between them. J (row, dof) is the velocity Jacobian, P (dof, row) the force Jacobian; P = J^T but for
tendons whose forces do not follow from their length, whose rows are nonsymmetric.

The factors of the articulated inertias are M^-1 = W^T D^-1 W (Jain, Robot and Multibody Dynamics, section 7.2). W P_a
are the innovations p_a of the force Jacobian, j_a = W J_a^T those of the velocity Jacobian; the direct solver works on
    y_a = y_free_a + <j_a, w>,   w = sum p_b z_b,   <x, y> = sum over dofs x_i y_i / D_i,   G_ab = <j_a, p_b>,
so that the Delassus matrix G = J M^-1 P needs no outward pass. p_a has entries only for the dofs between the terms of
the row and the root: its support. `model.row_problem` lists all arrays with shapes, units and who writes them.
"""

import warp as wp

from warp_artic.constraints.rows import REDUNDANT, prepare_rate
from warp_artic.math.numbers import Real, any_positive, maximum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, IS_CONTACT, has_trait


@wp.func
def forget_working_set(model: ModelArrays, work: WorkArrays, worker: int, zero: Real):
    """Know no working set of a last answer in islands that begin, nor any gathered row."""
    work.known_rows[0, worker] = 0
    for row in range(model.row_count):
        if work.begins[model.row_island[row], worker] == 1:
            work.last_status[row, worker] = zero


@wp.func
def order_place(model: ModelArrays, work: WorkArrays, a: int, worker: int):
    """The place of a gathered row in the order of gathering, whose ranges of rows that meet it are in the model."""
    return model.row_count - 1 - work.gathered[a, worker]


@wp.func
def range_first(model: ModelArrays, work: WorkArrays, k: int, worker: int):
    """The first gathered row of a range of rows that meet another (`model.row_elimination`)."""
    return work.gathered_before[model.range_start[k], worker]


@wp.func
def range_end(model: ModelArrays, work: WorkArrays, k: int, worker: int):
    """The end of those gathered rows."""
    return work.gathered_before[model.range_end[k], worker]


@wp.func
def gather_rows(model: ModelArrays, work: WorkArrays, worker: int):
    """List the rows that are active in any environment, the last family first, and number the entries of compliances.

    Points of contact are left out where there is no room for their rows. Rows are gathered where environments are not
    in the mask too, so that their place and their innovations stay, but not where they have failed: what is wrong there
    may ask for any number of working sets. Returns the number of rows, how many of the first ones are where they were
    in the last list with the same innovations, and the place of the first nonsymmetric one.
    """
    count = int(0)
    known = int(work.known_rows[0, worker])
    entries = int(model.dof_count)
    first_nonsymmetric = int(model.row_count)
    contacts = int(0)
    has_room = int(1)
    going = real(1.0, work.stopped[0, worker]) - work.stopped[0, worker]
    for dof in range(model.dof_count):
        work.innovation_weight[dof, worker] = work.D_inverse[dof, worker]
    for k in range(model.row_count):
        work.gathered_before[k, worker] = count
        row = model.row_count - 1 - k
        is_active = work.active[row, worker] * going
        gathers = any_positive(is_active)
        if gathers and has_trait(model, row, IS_CONTACT):
            # The rows of a point come last tangent first.
            item = model.row_item[row]
            if item % 3 == 2:
                has_room = int(contacts + 3 <= model.contact_room)
            gathers = has_room == 1
            contacts += has_room
            if not gathers:
                work.contact_left[item // 3, worker] = is_active
        if gathers:
            prepare_rate(model, work, row, worker)
            if any_positive(work.nonsymmetric[row, worker]):
                first_nonsymmetric = wp.min(first_nonsymmetric, count)
            work.row_mask[count, worker] = is_active
            if work.gathered[count, worker] != row:
                known = wp.min(known, count)
            work.gathered[count, worker] = row
            work.compliance_entry[count, worker] = -1
            compliance = work.compliance[row, worker]
            if any_positive(compliance):
                work.compliance_entry[count, worker] = entries
                work.innovation_weight[entries, worker] = compliance
                entries += 1
            work.compliance_entry_end[count, worker] = entries
            count += 1
    work.gathered_before[model.row_count, worker] = count
    known = wp.min(known, count)
    work.known_rows[0, worker] = count
    return count, known, first_nonsymmetric


@wp.func
def dependent_share(model: ModelArrays, work: WorkArrays, row: int, rounding: Real, worker: int):
    """The part of G_aa that a row may have left, beside the rows before it, and still depend on them.

    It is rounding, or, of positions that hold, what J of redundant rows differs by off their path: that of Bricard's
    mechanism, whose fifth row is redundant, would be independent in one step and dependent in the next.
    """
    if has_trait(model, row, HOLDS_POSITIONS):
        return maximum(rounding, maximum(real(REDUNDANT, rounding), work.doubt[row, worker]))
    return rounding


@wp.func
def can_contradict(model: ModelArrays, row: int, like: Real):
    """One where a row that depends on those before it can contradict them; zero where it is redundant off its path."""
    one = real(1.0, like)
    if has_trait(model, row, HOLDS_POSITIONS):
        return one - one
    return one
