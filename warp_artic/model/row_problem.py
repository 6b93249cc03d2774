"""The arrays of the row problem, each with one meaning: its law is in `solver.rows.problem`.

All have shape [entries, workers] in a work space. Units: u and z are those of the velocity [m/s or rad/s] and of the
impulse [N s or N m s] of a row, v and f those of the velocity and of the impulse of a dof.
"""

from warp_artic.model.work_arrays import WorkArray

PROBLEM = {
    "velocity_bounds": WorkArray("row", 2, "u", "constraints", "[lower, upper]"),
    "impulse_bounds": WorkArray("row", 2, "z", "constraints", "hold, and slide where that is not enough"),
    "compliance": WorkArray("row", 1, "u/z", "constraints", "velocity that a unit impulse gives way by"),
    "doubt": WorkArray("row", 1, "-", "constraints", "share of G_aa that may be off the path of what it holds"),
    "J": WorkArray("term", 1, "u/v", "constraints", "J, the velocity Jacobian, on the dofs `term_dof`"),
    "P": WorkArray("term", 1, "f/z", "constraints", "P, the force Jacobian; J^T where a row is symmetric"),
    "response": WorkArray("response", 1, "f/z or v/z", "phases.impulse_response",
                         "innovations W P or W J^T by support for the direct solver, else M^-1 P by dofs"),
    "ready": WorkArray("response index", 1, "-", "constraints.rows", "whether a response is that of the factors", True),
    "nonsymmetric": WorkArray("direct row", 1, "u/v", "constraints.rows", "the largest difference of J and P^T"),
    "active": WorkArray("row", 1, "0 or 1", "solver.rows.activation", "whether a row takes part in this step"),
    "environment_mask": WorkArray("island", 1, "0 or 1", "solver", "where the rows of an island are to be solved"),
    "begins": WorkArray("island", 1, "0 or 1", "solver", "where the rows of an island are set again", True),
    "stopped": WorkArray("one", 1, "0 or 1", "solver.step", "one where an environment has failed: no row takes part"),
    "impulse": WorkArray("row", 1, "z", "solver.rows", "the solution z"),
    "redundant_impulse": WorkArray("looped row", 1, "z", "least_norm", "what least norm adds to those of loop joints"),
}  # fmt: skip
"""What families give to solvers, and the solution."""

DIRECT = {
    "gathered": WorkArray("gathered index", 1, "-", "problem", "the row at a place among those gathered", True),
    "gathered_before": WorkArray("order", 1, "-", "problem",
                                 "rows gathered before one in the order of gathering", True),
    "known_rows": WorkArray("one", 1, "-", "problem",
                            "places that are as they were when rows were last gathered", True),
    "row_mask": WorkArray("gathered row", 1, "0 or 1", "problem, active_set", "where a gathered row takes part"),
    "compliance_entry": WorkArray("gathered index", 1, "-", "problem", "its entry of p beyond the dofs, or -1", True),
    "compliance_entry_end": WorkArray("gathered index", 1, "-", "problem", "entries of p up to this row", True),
    "innovation_weight": WorkArray("entry", 1, "v/f or u/z", "problem", "1 / D of dofs, then compliances"),
    "delassus": WorkArray("triangle", 1, "u/z", "factors", "lower triangle of G = J M^-1 P with compliances"),
    "delassus_diagonal": WorkArray("gathered row", 1, "u/z", "direct", "|G_aa|, one where it is zero"),
    "has_products": WorkArray("gathered index", 1, "-", "factors", "whether G has the row at its other entries", True),
    "has_branches": WorkArray("one", 1, "-", "factors", "whether the path of any gathered row has branches", True),
    "scaled_response": WorkArray("dof", 1, "v/z", "factors", "D^-1 p of one row, by its support"),
    "scaled_branches": WorkArray("dof", 1, "v/z", "factors", "the same by dofs, where rows have branches, else zero"),
    "innovation": WorkArray("dof", 1, "f", "held, constraints.rows", "w = sum p_a z_a"),
    "scaled_innovation": WorkArray("dof", 1, "v", "held", "D^-1 w by dofs"),
    "velocity_change": WorkArray("dof", 1, "v", "constraints.rows", "W^T D^-1 w"),
    "y_free": WorkArray("gathered row", 1, "u", "direct", "velocity without the impulses of rows"),
    "y_trial": WorkArray("gathered row", 1, "u", "active_set", "velocity with the impulses of a working set"),
    "target": WorkArray("gathered row", 1, "u", "direct, active_set", "y + compliance z of a row in the working set"),
    "present_bound": WorkArray("gathered row", 1, "z", "direct, active_set", "hold, or slide once it slides"),
    "in_working_set": WorkArray("gathered row", 1, "0 or 1", "direct, active_set", "the working set"),
    "trial_impulse": WorkArray("gathered row", 1, "z", "held, active_set",
                               "impulses of the working set and given ones"),
    "consistent_impulse": WorkArray("gathered row", 1, "z", "held", "those of the working set without contradictions"),
    "is_met": WorkArray("gathered row", 1, "0 or 1", "factors, orthogonal", "in the working set and at its target"),
    "infeasibility": WorkArray("gathered row", 1, "u, then z", "factors, orthogonal",
                              "contradiction of a row, then impulses along it"),
    "impulse_violation": WorkArray("gathered row", 1, "0 or 1", "active_set", "is to leave the working set"),
    "velocity_violation": WorkArray("gathered row", 1, "u z", "active_set", "is to enter it, by which energy"),
    "feasible_impulse": WorkArray("gathered row", 1, "z", "active_set", "where single pivots are"),
    "step_to_bound": WorkArray("gathered row", 1, "-", "active_set", "share of the way to the trial impulse"),
    "has_entered": WorkArray("gathered row", 1, "0 or 1", "active_set", "has entered in the last single pivot"),
    "is_tabu": WorkArray("gathered row", 1, "0 or 1", "active_set", "may not enter before impulses move"),
    "last_status": WorkArray("direct row", 1, "-", "direct",
                            "0 not solved in this step, 1 in the last working set, 2 at a bound"),
    "last_side": WorkArray("direct row", 1, "-", "direct", "1 held up from lower or pushed up, -1 down, 0"),
    "factored": WorkArray("gathered index", 1, "-", "factors", "the place among those gathered of a row of L", True),
    "factored_before": WorkArray("order", 1, "-", "factors", "rows of L before a place among those gathered", True),
    "L_factor": WorkArray("triangle", 1, "-", "factors", "L of G = L diag(d) L^T"),
    "pivot_inverse": WorkArray("gathered row", 1, "z/u", "factors", "1 / d, zero where a row depends on others"),
    "elimination": WorkArray("gathered row", 1, "u/z", "factors", "d_j L_ij of one row i"),
    "residual": WorkArray("gathered row", 1, "u, then z", "held", "missing velocities; solved in their place"),
    "rhs": WorkArray("gathered row", 1, "u, then z", "held", "missing velocities; solved in their place"),
    "orthogonal_rows": WorkArray("one", 1, "-", "held, orthogonal", "first rows whose Q and R are up to date", True),
    "was_in_working_set": WorkArray("gathered row", 1, "0 or 1", "orthogonal", "the working set of Q and R"),
    "span_first": WorkArray("gathered index", 1, "-", "orthogonal", "first dof that Q_a may have", True),
    "span_end": WorkArray("gathered index", 1, "-", "orthogonal", "end of the dofs that Q_a may have", True),
    "Q": WorkArray("orthogonal row", 1, "f/z", "orthogonal", "orthogonal innovations Q_a"),
    "Q_dual": WorkArray("orthogonal row", 1, "v/u", "orthogonal", "weight Q_a / <Q_a, Q_a>"),
    "Q_square_inverse": WorkArray("gathered row", 1, "z/u", "orthogonal", "1 / <Q_a, Q_a>, zero if dependent"),
    "is_independent": WorkArray("gathered row", 1, "0 or 1", "orthogonal", "whether Q_a is other than zero"),
    "R_factor": WorkArray("square", 1, "-", "orthogonal", "R_ba at [a, b], b < a"),
    "T_factor": WorkArray("square", 1, "-", "orthogonal", "T_ab of nonsymmetric rows and those after them"),
    "T_pivot_inverse": WorkArray("gathered row", 1, "-", "orthogonal", "1 / T_aa after elimination"),
    "null_residual": WorkArray("looped row", 1, "z", "least_norm", "N z of the rows of L, zero at independent rows"),
    "null_direction": WorkArray("looped row", 1, "z", "least_norm", "conjugate direction of these"),
    "null_impulse": WorkArray("looped row", 1, "z", "least_norm", "N^T of it, impulses that move nothing"),
}  # fmt: skip
"""What the direct solver works with."""

ROW_ARRAYS = {**PROBLEM, **DIRECT}


def row_counts(
    rows: int, terms: int, responses: int, dofs: int, gathered: int, islands: int = 1, looped: int = 0
) -> dict[str, int]:
    """How many there are of what has entries, for so many rows, terms and responses, where so many can be gathered.

    `looped` is one where there are loop joints.
    """
    return {
        "one": 1,
        "island": islands,
        "row": rows,
        "looped row": rows * looped,
        "term": terms,
        "response index": responses,
        "response": responses * dofs,
        "dof": dofs,
        "direct row": rows * (gathered > 0),
        "gathered row": gathered,
        "gathered index": rows,
        "order": rows + 1,
        "entry": dofs + gathered,
        "orthogonal row": gathered * (dofs + gathered),
        "triangle": gathered * (gathered + 1) // 2,
        "square": gathered * gathered,
    }
