"""The constants of a group of equal mechanisms, each declared once, with its meaning.

Tables of integers have shape [entries]; a range "from `x_first[i]` on" of a list `y` is `y[x_first[i]]` and so on.
Parameters have shape [rows, blocks], in SI; those of constraint families are in their records.
"""

COUNTS = {
    "link_count": "links, massless ones included",
    "body_count": "links that were authored; these come first",
    "dof_count": "size of the generalized velocity",
    "root_dofs": "six for each floating root; these come first",
    "tree_count": "trees",
    "island_count": "islands: trees that rows join",
    "row_count": "constraint rows",
    "response_count": "responses of rows: those with the same force Jacobian share one",
    "placed_rows": "rows whose law needs the places of links",
    "held_positions": "rows of positions that hold, and of limits that positions return to",
    "tying_rows": "rows of positions that hold, and of mimic joints",
    "pushing_rows": "rows whose forces act on links at points",
    "rotation_rows": "limits of joints with several rotations; they come last",
    "watched_dofs": "dofs in `watched_dof`",
    "rotation_drives": "joints with several rotations and a drive",
    "finite_rotations": "joints with two or three free rotations",
    "swing_joints": "joints with two free rotations",
    "speed_limits": "limits on the length of a velocity, of three rows each",
    "closed_assemblies": "assemblies with loops whose energy is kept",
    "sleep_steps": "steps at rest after which a tree falls asleep; zero: never",
}
"""Numbers of things."""

PLACES = {
    "stop_row": "the first row of a stop: those before it are always looked at, those from it on by their bounds",
    "limit_row": "the first row of a limit on the length of a velocity",
    "first_position": "the number by which failures of the first position are told",
}
"""Where things begin."""

SWITCHES = {
    "all_rows_meet": "whether any two rows have dofs in common",
    "innovations_only": "whether rows keep innovations, as the direct solver needs, in place of responses",
    "link_damping": "whether drag acts on links",
    "scales_gravity": "whether shares of gravity act on links that are not all of it",
    "is_dual": "whether numbers are dual",
    "restarts": "whether any island has rows that look at accelerations",
    "free_motion": "whether any island moves freely: only weights, stops and drag act on it",
    "base_moves": "whether a body that is moved from outside carries it",
    "turns_and_slides": "whether there are dofs of both kinds, and any island moves freely",
    "guards_trees": "whether any tree is guarded, `solver.violent_trees`",
    "guards_impacts": "whether the impacts of any are guarded too",
    "driven": "whether a spring or a damper acts on any dof",
}
"""What steps do, or leave out; zero or one."""

TREES = {
    "order": "links, parents first, one tree after the other",
    "links_by_path": "links in the order of their paths, where positions hold",
    "tree_link": "where the links of a tree begin in `order`",
    "tree_root": "the first dof of a floating root; -1 on a fixed base",
    "tree_island": "the island of a tree",
    "tree_assembly": "the first tree of the assembly of a tree: trees that rows other than those from outside join",
    "tree_next": "the next tree of its assembly, or -1",
    "tree_is_summed": "whether its island has an assembly that is guarded, or its energy is limited",
    "tree_floats": "of the first tree of an assembly: whether the world does not hold it",
    "tree_tied": "the first tree that it is joined with by what does not break",
    "tree_is_core": "whether its assembly is known by it, where loop joints have broken: `solver.joined_trees`",
    "tree_keeps_energy": "of the first: whether it has loops whose energy is kept, `solver.closed_energy`",
    "tree_keeps_motion": "of the first: whether it floats, loop joints close it, and nothing acts on it",
    "tree_is_limited": "of the first: whether contacts among many bodies limit the energy, `solver.touched_trees`",
    "tree_is_guarded": "of the first: whether the assembly has joints or may touch",
    "tree_has_drag": "of the first: whether drag acts on its links",
    "tree_is_acted": "of the first: whether more than weights, stops, drag, loop joints and contacts acts on it",
    "tree_guards_impacts": "of the first: whether it is guarded, has joints, may touch and is not acted on",
    "watched_dof": "the angular dofs of guarded trees whose impacts are not",
    "link_tree": "the tree of a link",
}
"""Tables of trees."""

ISLANDS = {
    "island_first": "where the dofs of an island begin in `island_dof`",
    "island_dof": "dofs, one island after the other",
    "island_moves_freely": "whether only weights, stops and drag act",
    "island_is_driven": "whether a spring or a damper acts on any of its dofs",
    "island_turns": "joints with two or three free rotations",
    "island_joints": "joint dofs",
    "island_restarts": "whether rows look at accelerations, and are set again with other velocity forces",
    "island_is_looped": "whether positions hold, or limits of loop joints act",
    "dof_island": "the island of a dof",
    "row_island": "the island of a row",
}
"""Tables of islands."""

LINKS = {
    "link_parent": "the parent of a link; the number of links is the world",
    "link_joint": "the kind of the joint that moves it, of `model.kinds`",
    "link_joint_end": "the last link that it moves, where it is several in a row (`description.massless_links`)",
    "link_joint_parts": "how many these are",
    "link_dof": "the first dof of that joint",
    "link_dofs": "how many it has",
    "link_is_coupled": "whether springs act between them",
    "dof_link": "the link that a dof moves",
    "dof_is_linear": "whether a dof is a translation",
    "dof_axis": "the axis of a dof in M",
    "dof_friction": "the row of its friction; -1 where it has none",
    "dof_stop": "the row of its hard limits; -1 where it has none",
}
"""Tables of links and dofs."""

ROWS = {
    "row_family": "the order of the family",
    "row_traits": "its traits, `model.families`",
    "row_part": "the part of the forces that it counts for",
    "row_place": "its place among what the dynamics suite registers; -1 if it is not",
    "row_dof": "its first dof",
    "row_item": "what the row is of, in the parameters of its family",
    "row_term": "where its terms begin",
    "row_terms": "how many there are",
    "row_response_index": "the response to its force Jacobian",
    "row_rate_response_index": "where W J^T is if J may be other than its force Jacobian; else the same",
    "row_first": "the first dof of its support",
    "row_end": "the end of the dofs of its support",
    "row_support": "where its support begins in `support_dof`: the dofs between its terms and the root",
    "row_supports": "how many they are",
    "support_dof": "dofs of supports",
    "row_link": "the link from which its path goes inward",
    "row_is_branched": "whether its path has branches",
    "row_path": "where its path begins in `path_link`",
    "row_steps": "how many links it has",
    "path_link": "links of paths, inward",
    "term_dof": "the dof of a term",
    "term_span": "terms of a coefficient of a coupling, at its first one",
    "term_place": "which of them has its dof",
    "response_row": "a row that has the force Jacobian of a response",
    "tendon_place": "where public arrays have each tendon",
    "earlier_range": "where the ranges of earlier rows that meet a row begin, `model.row_elimination`",
    "later_range": "where the ranges of later rows begin",
    "range_start": "the first row of a range",
    "range_end": "the end of it",
    "shared_dofs": "of each two links, how many dofs are on the paths of both",
}
"""Tables of constraint rows."""

WATCHED = {
    "watched": "whether changes of an array wake trees, `phases.sleep`",
    "pushed": "whether anybody may have given forces to links, `solver.held_inputs`",
    "given": "how many rows a user may write to, and the number of a failure for each, `phases.given_values`",
}
"""Tables of arrays that a user may write to."""

TABLES = {**TREES, **ISLANDS, **LINKS, **ROWS, **WATCHED}

PARAMETERS = {
    "base": "pose and motion of what trees are joined to, `model.base`",
    "parent_frame": "F in the parent: axes, then origin [m]",
    "link_frame": "L in M: axes, then origin [m]",
    "link_mass": "[kg]",
    "link_center": "centre of mass in M [m]",
    "link_inertia": "about the centre of mass, axes of M [kg m^2]",
    "link_linear_damping": "[1/s]",
    "link_angular_damping": "[1/s]",
    "link_gravity_scale": "share of gravity that acts on a link",
    "joint_turn": "axes of M in those in which the force by the joint is reported",
    "dof_sign": "1, or -1 where the public value of a dof has the other sign",
    "wraps": "positive where the public angle of a dof wraps round",
    "armature": "[kg or kg m^2]",
    "sleep_threshold": "energy by mass below which a tree is at rest [m^2/s^2]",
    "gravity": "[m/s^2]",
    "rounding": "relative rounding errors: of solved numbers, of squares that are left of others; give of contacts",
    "padding": "1 in lanes that are no environment",
}
"""Numbers that blocks have of their own, or share."""
