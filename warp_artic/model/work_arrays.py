"""The arrays of a work space, each declared once: how many entries it has, in which unit, who writes it, what it means.

All have shape [entries, workers]. The letters of units: q and v are those of the position and of the velocity of a dof
[rad, rad/s or m, m/s], f that of its generalized force [N m or N], and z that of the impulse of a row. Frames are those
of `model.arrays`. `model.row_problem` has the arrays of the row problem, and `ConstraintFamily.scratch` those of single
families.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WorkArray:
    """One array of a work space."""

    per: str
    """What has an entry: a key of the counts of `sizes_of`."""
    width: int
    unit: str
    writer: str
    """The file that writes it."""
    meaning: str
    is_index: bool = False


def sizes_of(arrays: Mapping[str, WorkArray], counts: Mapping[str, int]) -> dict[str, int]:
    """Entries of each array, from how many there are of what has an entry."""
    return {name: array.width * counts[array.per] for name, array in arrays.items()}


LINKS = {
    "R_WM": WorkArray("link", 9, "-", "phases.kinematics", "axes of M in W"),
    "p_PM": WorkArray("link", 3, "m", "phases.kinematics", "origin of M from that of the parent, world axes"),
    "p_WM": WorkArray("link", 3, "m", "phases.link_positions", "origin of M in W"),
    "w": WorkArray("link", 3, "rad/s", "phases.kinematics", "angular velocity of M"),
    "velocity_moment": WorkArray("link", 3, "rad/s^2", "phases.kinematics",
                                 "angular acceleration across the joint with vdot zero"),
    "velocity_force": WorkArray("link", 3, "m/s^2", "phases.kinematics",
                                "linear acceleration across the joint with vdot zero"),
    "A": WorkArray("link", 6, "kg m^2", "phases.articulated_inertia", "moment by angular acceleration, of the inertia"),
    "B": WorkArray("link", 9, "kg m", "phases.articulated_inertia", "moment by linear acceleration"),
    "M": WorkArray("link", 6, "kg", "phases.articulated_inertia", "force by linear acceleration"),
    "moment": WorkArray("link", 3, "N m", "phases", "moment about the origin of M that a pass hands inward"),
    "force": WorkArray("link", 3, "N", "phases", "force that a pass hands inward"),
    "angular": WorkArray("link", 3, "rad/s or rad/s^2", "phases", "angular motion that a pass hands outward"),
    "linear": WorkArray("link", 3, "m/s or m/s^2", "phases", "motion of the origin that a pass hands outward"),
    "drag_moment": WorkArray("link", 3, "N m", "phases.link_drag", "moment of drag"),
    "drag_force": WorkArray("link", 3, "N", "phases.link_drag", "force of drag"),
}  # fmt: skip
"""Of the links, and of the world, which comes last."""

DOFS = {
    "axis": WorkArray("dof", 3, "-", "phases.kinematics", "motion axis, world axes"),
    "U_moment": WorkArray("dof", 3, "f s^2/q", "phases.articulated_inertia", "moment part of U = I s"),
    "U_force": WorkArray("dof", 3, "f s^2/q", "phases.articulated_inertia", "force part of U"),
    "D_inverse": WorkArray("dof", 1, "q/(f s^2)", "phases.articulated_inertia", "1 / D, D the pivot of the dof"),
    "u": WorkArray("dof", 1, "v or f", "phases, solver", "values of dofs that the next pass reads, and no other"),
    "v": WorkArray("dof", 1, "v", "phases.integrate, solver", "velocity at the start of the substep"),
    "v_free": WorkArray("dof", 1, "v", "solver.velocities", "velocity at its end without rows"),
    "v_next": WorkArray("dof", 1, "v", "solver", "velocity at its end"),
    "v_middle": WorkArray("dof", 1, "v", "solver", "velocity at which velocity forces are evaluated"),
    "v_reported": WorkArray("dof", 1, "v", "solver.reports", "velocity at the end of the step that forces lead to"),
    "v_corrected": WorkArray("dof", 1, "v", "solver.history", "v+ of smooth motion, once positions have moved"),
    "vdot": WorkArray("dof", 1, "v/s", "phases.joint_accelerations", "acceleration without rows"),
    "rest_vdot": WorkArray("dof", 1, "v/s", "constraints.bouncing_limit", "the same without velocity forces"),
    "row_vdot": WorkArray("dof", 1, "v/s", "constraints.bouncing_limit", "what rows but those of friction add to it"),
    "led_vdot": WorkArray("dof", 1, "v/s", "constraints.bouncing_limit", "vdot with rows that are no stops"),
    "acceleration_history": WorkArray("dof", 5, "v/s", "solver.history",
                                      "a, a', a'' of the steps before, and the moves by inputs"),
    "effort": WorkArray("dof", 1, "f", "constraints.drive", "given force, with what is not of springs and dampers"),
    "load": WorkArray("dof", 1, "f", "phases.articulated_inertia", "force at rest: effort less resistance v"),
    "spring": WorkArray("dof", 1, "f/q", "constraints.drive", "stiffness of the dof"),
    "damper": WorkArray("dof", 1, "f/v", "constraints.drive", "damping of the dof"),
    "theta": WorkArray("dof", 1, "-", "phases.articulated_inertia", "weight of v+ in what the damper feels"),
    "reach": WorkArray("dof", 1, "-", "phases.articulated_inertia", "part of the step that the spring looks ahead"),
    "measured_theta": WorkArray("dof", 1, "-", "solver.boundary_layers", "theta by two halves of the step; else zero"),
    "spring_displacement": WorkArray("dof", 1, "q", "solver.boundary_layers", "move of the spring in a half"),
    "drive_bias": WorkArray("dof", 1, "f", "constraints.drive", "force of the drive at rest"),
    "drive_spring": WorkArray("dof", 1, "f/q", "constraints.drive", "stiffness of the drive"),
    "drive_scale": WorkArray("dof", 1, "f s^2/q", "constraints.drive", "inertia that an acceleration drive moves"),
    "drive_theta": WorkArray("dof", 1, "-", "constraints.drive", "theta of a drive in the factors"),
    "drive_reach": WorkArray("dof", 1, "-", "constraints.drive", "reach of a drive in the factors"),
    "drive_side": WorkArray("dof", 1, "-1 or 1", "constraints.drive_envelope", "the way a drive at a line pushes"),
    "saturated": WorkArray("dof", 1, "0 to 3", "constraints.drive", "0 in the factors, else the line that bounds it"),
    "rotation_spring": WorkArray("dof", 1, "N m", "constraints.rotation_drive", "stiffness matrix of a joint"),
    "cross_spring": WorkArray("dof", 1, "N m", "constraints.rotation_drive", "stiffness between dofs of a joint"),
    "coupled_entry": WorkArray("dof", 1, "f s^2/q", "phases.joint_springs", "what it adds between their pivots"),
    "dof_weight": WorkArray("dof", 1, "-", "constraints.dof_weights", "part of the step that a dof moves with v+"),
    "joint_load": WorkArray("dof", 1, "N or N m", "phases.joint_loads", "load that friction is in proportion to"),
    "tendon_load": WorkArray("dof", 1, "f", "constraints.outside_forces", "force of rows of fixed tendons"),
    "position": WorkArray("dof", 1, "q", "phases.integrate", "position of each joint dof"),
    "middle": WorkArray("dof", 1, "q", "phases.integrate", "the same where forces are evaluated"),
    "end_position": WorkArray("dof", 1, "q", "phases.integrate", "the same where the end of the step is tried"),
    "shift": WorkArray("dof", 1, "q", "solver.step", "how far the dof is from where the links are placed"),
    "kept_velocity": WorkArray("limited dof", 1, "v", "constraints.speed_limit", "v+ while another one is tried"),
    "end_axis": WorkArray("looped dof", 3, "-", "phases.link_frames", "motion axis at the end of the step"),
    "tree_jacobian": WorkArray("limited dof", 6, "-", "constraints.tree_velocity",
                               "velocity and angular velocity of the whole by that of the dof"),
}  # fmt: skip
"""Of the dofs of the generalized velocity; positions are of joint dofs, and begin with the first of these."""

ROOTS = {
    "root": WorkArray("root", 7, "m, -", "phases.integrate", "pose of a floating root"),
    "middle_root": WorkArray("root", 7, "m, -", "phases.integrate", "the same where forces are evaluated"),
    "end_root": WorkArray("root", 7, "m, -", "phases.integrate", "the same where the end of the step is tried"),
    "end_rotation": WorkArray("looped link", 9, "-", "phases.link_frames", "R_WM at the end of the step"),
    "end_origin": WorkArray("looped link", 3, "m", "phases.link_frames", "p_WM at the end of the step"),
    "end_spin": WorkArray("looped link", 3, "rad/s", "phases.link_frames", "angular velocity at the end of the step"),
    "end_velocity": WorkArray("looped link", 3, "m/s", "phases.link_frames", "that of the origin"),
}  # fmt: skip
"""Poses of floating roots, and of links where positions that hold are closed."""

STEP = {
    "position_weight": WorkArray("one", 1, "-", "solver.step", "part of the step that rows see as moved with v+"),
    "free_weight": WorkArray("one", 1, "-", "solver.step", "the same of free dofs: a half, or one without a middle"),
    "since_placed": WorkArray("one", 1, "s", "solver.step", "time from where the links are placed to the substep"),
    "end_weight": WorkArray("one", 1, "-", "solver.step", "part of the step from there to its end"),
    "calm": WorkArray("one", 1, "0 or more", "phases.sleep", "positive where the step is at rest"),
}
"""Of the step."""

ISLANDS = {
    "is_changed": WorkArray("island", 1, "0 or 1", "solver.velocities", "where v+ is to be found again"),
    "is_solved_again": WorkArray("island", 1, "0 or more", "solver, constraints.drive",
                                 "positive where the velocities of an island are not the answer yet"),
    "in_boundary_layer": WorkArray("island", 1, "0 or more", "solver.boundary_layers", "positive in a boundary layer"),
    "unresolved": WorkArray("island", 1, "0 or 1", "solver.energy_projection", "where the step resolves no motion"),
    "projected": WorkArray("island", 1, "0 or 1", "solver.energy_projection", "where energy was projected"),
    "watched": WorkArray("island", 4, "0 or more", "solver.energy_projection", "what it needs to know of a step"),
    "slowed": WorkArray("island", 1, "0 or 1", "solver.slow_islands", "where an island was slowed down"),
    "stop_acts": WorkArray("island", 1, "z", "solver.history", "largest impulse of a stop"),
    "soft_limit_acts": WorkArray("island", 1, "z", "solver.history", "largest impulse of a soft limit"),
    "is_unconstrained": WorkArray("island", 1, "0 or 1", "solver.history", "where no row is active"),
    "armature_change": WorkArray("island", 1, "0 or more", "phases.integrate",
                                 "positive where turning a swing round changed the energy of armatures"),
    "is_near": WorkArray("island", 1, "0 or 1", "constraints.contact_bias", "where jointed bodies may touch something"),
    "stop_work": WorkArray("island", 1, "J", "constraints.bouncing_limit", "work of stops, twice"),
    "has_bounced": WorkArray("island", 1, "0 or 1", "constraints.bouncing_limit", "where a bounce is given up"),
    "is_near_limit": WorkArray("island", 1, "0 or more", "constraints.speed_limit", "positive near a speed limit"),
    "turns_far": WorkArray("island", 1, "rad or more", "constraints.speed_limit, solver.slow_islands",
                           "positive where a step turns joints too far for its J"),
    "is_missed": WorkArray("island", 1, "0 or 1", "constraints.speed_limit", "where a speed limit is missed"),
    "direction_rounds": WorkArray("island", 1, "-", "constraints.speed_limit", "times that directions were found"),
    "is_met_where_placed": WorkArray("island", 1, "0 or 1", "constraints.speed_limit",
                                     "where speed limits have been met at the placement of the step"),
    "loop_is_open": WorkArray("island", 1, "0 or more", "solver.close_loops, solver.distance_start",
                              "positive where positions are to be moved"),
    "loop_gap_largest": WorkArray("island", 1, "m2 or rad2", "solver.close_loops", "square of the largest gap"),
    "loop_gap_before": WorkArray("island", 1, "m2 or rad2", "solver.close_loops", "what of the last one may be left"),
}  # fmt: skip
"""Of the islands of a mechanism."""

TREES = {
    "motion_sums": WorkArray("tree", 42, "J, kg, m, ...", "solver.energy_projection", "sums over links, by its rows"),
    "closed_energy": WorkArray("tree", 7, "J", "solver.closed_energy", "energies that loops are to keep"),
    "tree_joined": WorkArray("tree", 1, "0 or 1", "solver.joined_trees", "where it has not come off"),
    "tree_pushed": WorkArray("tree", 1, "z", "solver.violent_trees", "largest impulse of contacts"),
    "tree_stopped": WorkArray("tree", 1, "z", "solver.violent_trees", "largest impulse of any row"),
    "tree_impulse": WorkArray("tree", 6, "N s, N m s", "solver.violent_trees",
                              "impulse of rows on a floating tree, and its moment about the root"),
    "tree_arm": WorkArray("tree", 3, "m", "solver.violent_trees", "from the centre of its assembly to the root"),
    "tree_given": WorkArray("tree", 1, "J", "solver.violent_trees", "kinetic energy that it is to have"),
    "tree_hit": WorkArray("tree", 1, "0 or 1", "solver.violent_trees", "where it takes part in an impact"),
    "tree_work": WorkArray("tree", 1, "J", "solver.violent_trees", "work of contacts in a step"),
    "tree_inner_work": WorkArray("tree", 1, "J", "solver.violent_trees", "work of what acts in its joints"),
    "tree_spins": WorkArray("tree", 1, "s", "solver.violent_spin", "k of what turns too far for velocity forces, or 0"),
    "tree_watched": WorkArray("tree", 1, "0 or 1", "solver.violent_trees", "where work and impulses are known"),
    "tree_chosen": WorkArray("tree", 1, "0 or 1", "solver.violent_trees", "where energy is kept"),
    "tree_turns": WorkArray("tree", 1, "0 or 1", "solver.violent_trees", "where it turns far in the step"),
    "tree_flies": WorkArray("tree", 1, "0 or 1", "solver.violent_trees", "where momentum is kept, touching nothing"),
    "tree_center": WorkArray("tree", 3, "m", "constraints.tree_velocity", "centre of mass in W"),
    "tree_mobility": WorkArray("tree", 7, "1/(kg m^2), 1/kg", "constraints.tree_velocity",
                               "inverse of the inertia about it, then of the mass"),
}  # fmt: skip
"""Of the trees."""

ROWS = {
    "given": WorkArray("row", 1, "z", "constraints", "the part of an impulse that is known before rows are solved"),
    "smooth": WorkArray("row", 1, "v/s or q", "solver.history", "the part of an impulse that lasts, by time"),
    "row_delassus": WorkArray("row", 1, "u/z", "constraints.dispatch", "J M^-1 P of a row by itself"),
    "spring_resolution": WorkArray("row", 1, "-", "constraints.spring", "(1 - theta) / (1 - least theta)"),
    "coordinate": WorkArray("range row", 3, "q", "constraints", "the coordinate of a limit, its lower and upper end"),
    "limit_bend": WorkArray("row", 1, "u", "constraints.rotation_limit", "J v along a limit, where J is"),
    "tolerance": WorkArray("row", 1, "q", "constraints.rows", "violation of a limit at the start of a substep"),
    "bounced": WorkArray("row", 1, "0 or 1", "constraints.bouncing_limit", "whether the limit bounces"),
    "impact_weight": WorkArray("row", 1, "-", "constraints.bouncing_limit", "weight of v+ of the dof that bounces"),
    "rest_weight": WorkArray("row", 1, "-", "constraints.bouncing_limit", "the same of the dofs beside it"),
    "direction": WorkArray("direction row", 3, "-", "constraints.speed_limit",
                           "unit vector that a row bounds y along"),
    "motion": WorkArray("speed limit", 3, "u", "constraints.speed_limit", "y, three numbers"),
    "motion_correction": WorkArray("speed limit", 3, "u", "constraints.speed_limit",
                                   "y at the end of the step less J v+ where the links are placed"),
}  # fmt: skip
"""Of constraint rows, what families keep beside the row problem."""

WORK_ARRAYS = {**LINKS, **DOFS, **ROOTS, **STEP, **ISLANDS, **TREES, **ROWS}
