"""The family of the points at which two shapes touch: what a mechanism, its state and its work space have for them.

Their law is in `constraints.contact_law`, where they are is found by `constraints.contact_detection`.
"""

from collections.abc import Callable

from warp_artic.constraints.bearing_rows import bearing_rows
from warp_artic.constraints.contact_law import (
    add_contact_load,
    set_contact_pair_gradient,
    set_contact_pair_row,
    take_contact_off,
)
from warp_artic.constraints.contact_tables import (
    PAIR_TABLES,
    ball_radius,
    contact_motions,
    hull_points,
    motions_at_start,
    of_each_pair,
    pair_frames,
    pair_seams,
    pair_sizes,
    pair_structure,
    pair_thickness,
    pairs,
    point_names,
    row_places,
    seam_ways,
    sides,
    start_distance,
)
from warp_artic.model.allowed_values import ANGLE, FINITE, NOT_NEGATIVE, SHARE
from warp_artic.model.families import (
    ENDS,
    FROM_OUTSIDE,
    IS_CONTACT,
    LOOKS_AT_ACCELERATIONS,
    MOVES_DOFS_ALIKE,
    PUSHES_LINKS,
    ConstraintFamily,
    Entries,
    Measure,
    Parameter,
)
from warp_artic.model.force_parts import ForcePart

MOST_POINTS = 400
"""Points of a mechanism that can touch at a time: the direct solver has room for each two of their rows."""


def _table(place: int) -> Callable:
    return lambda tree: [one[place] for one in tree.structure_of(CONTACT_PAIR)]


def _points(tree) -> int:
    return tree.kinds["contact"]


def _islands(tree) -> int:
    return tree.island_count * (_points(tree) > 0)


def _follows_ties(tree) -> int:
    """One where `tied_path` has something to do: with contacts, and where limits go back along mimic joints."""
    return int(_points(tree) > 0 or tree.count_with(MOVES_DOFS_ALIKE) > 0)


CONTACT_PAIR = ConstraintFamily(
    name="contact",
    order=890,
    label=("contact", "contacts"),
    part=ForcePart.CONTACT,
    places=row_places,
    traits=ENDS | FROM_OUTSIDE | IS_CONTACT | LOOKS_AT_ACCELERATIONS | PUSHES_LINKS,
    needs_places=True,
    law=set_contact_pair_row,
    gradient=set_contact_pair_gradient,
    subtract_wrench=take_contact_off,
    entries=Entries(
        kind="contact",
        names=point_names,
        meaning="Points at which two shapes may touch, by the paths of both and a number",
        row_names=lambda articulation: (),
    ),
    kinds={
        "contact_pair": lambda articulation: len(pairs(articulation)),
        "contact_motion": lambda articulation: len(contact_motions(articulation)),
        "contact_seam": lambda articulation: sum(len(pair_seams(one)) for one in pairs(articulation)),
        "hull_point": lambda articulation: len(hull_points(articulation)) // 3,
    },
    parameters=(
        pair_frames(0),
        pair_frames(1),
        pair_sizes(0),
        pair_sizes(1),
        of_each_pair("radius0", lambda one: ball_radius(sides(one)[0][1])),
        of_each_pair("radius1", lambda one: ball_radius(sides(one)[1][1])),
        Parameter(name="contact_motion", of="contact_motion", values=motions_at_start, size=30),
        Parameter(name="contact_seam_way", of="contact_seam", values=seam_ways, size=4),
        Parameter(name="contact_hull_point", of="hull_point", values=hull_points, size=3),
        of_each_pair("static_friction", lambda one: one.static_friction, NOT_NEGATIVE),
        of_each_pair("dynamic_friction", lambda one: one.dynamic_friction, NOT_NEGATIVE),
        of_each_pair("restitution", lambda one: one.restitution, SHARE),
        of_each_pair("bounce_threshold", lambda one: one.bounce_threshold, NOT_NEGATIVE),
        of_each_pair("stiffness", lambda one: one.stiffness, ANGLE),
        of_each_pair("damping", lambda one: one.damping, NOT_NEGATIVE),
        of_each_pair("rest", lambda one: one.rest_distance, FINITE),
        of_each_pair("distance", start_distance, FINITE),
        of_each_pair("thickness", pair_thickness),
        of_each_pair("depenetration", lambda one: one.depenetration_speed, ANGLE),
    ),
    multiplier=Measure(
        name="contact_force",
        meaning="Mean force at each point of contact on the second shape over the last step before a record [N], world "
        "axes",
        unit="N",
        size=3,
    ),
    add_load=add_contact_load,
    memory=(
        Measure(
            name="contact_impulse",
            meaning="Impulse at each point on the second shape in the last step, or its last substep [N s], world axes",
            size=3,
        ),
        Measure(name="contact_impact", meaning="1 where the last step had an impact, 0 elsewhere"),
        Measure(
            name="contact_velocity",
            meaning="Rate of the gap, and of slip along both tangents, of each pressed point after a step [m/s]",
            size=3,
        ),
        Measure(
            name="contact_bias",
            meaning="What these change by, by themselves, at the start of a step [m/s^2]",
            size=3,
        ),
        Measure(
            name="contact_lead",
            meaning="Part of the last step, beyond a half, in which a pressed point moved with its new velocity",
        ),
        Measure(name="contact_crowded", meaning="1 where a step had no room for a point that touches, 0 elsewhere"),
        Measure(name="contact_residual", meaning="Largest residual of the contact law of a point [m/s]"),
    ),
    found=(
        Measure(name="contact_gap", meaning="Distance of the shapes at each point, negative where they overlap [m]"),
        Measure(name="contact_position", meaning="Midway between the shapes at each point [m], in the world", size=3),
        Measure(name="contact_normal", meaning="Unit vector toward the second shape at each point, world axes", size=3),
    ),
    structure=pair_structure,
    counts={
        "contact_count": lambda tree: tree.kinds["contact_pair"],
        "contact_point_count": _points,
        "contact_motions": lambda tree: tree.kinds["contact_motion"],
        "contact_rows": lambda tree: tree.count(CONTACT_PAIR),
        "contact_room": lambda tree: min(tree.count(CONTACT_PAIR), 3 * MOST_POINTS),
        "bearing_rows": lambda tree: len(bearing_rows(tree)),
        "contact_row": lambda tree: next((k for k, row in enumerate(tree.rows) if row.family is CONTACT_PAIR), 0),
    },
    tables={
        **{f"contact_{name}": _table(place) for place, name in enumerate(PAIR_TABLES)},
        "contact_of_point": lambda tree: [
            pair for pair, one in enumerate(tree.structure_of(CONTACT_PAIR)) for _point in range(one[4])
        ],
        "bearing_row": bearing_rows,
        "keeper_loop": lambda tree: [loop for one in tree.structure_of(CONTACT_PAIR) for loop in one[-1]],
    },
    scratch={
        "contact_point": lambda tree: 7 * _points(tree),
        "contact_near": _points,
        "contact_roll": _points,
        "contact_speed": _points,
        "contact_friction": _points,
        "contact_weight": _points,
        "contact_hits": _points,
        "contact_hit_before": _points,
        "contact_lead": _points,
        "contact_bias": lambda tree: 3 * _points(tree),
        "contact_bias_found": lambda tree: 3 * _points(tree),
        "contact_most_bias": _points,
        "contact_rate_before": lambda tree: 3 * _points(tree),
        "contact_bias_before": lambda tree: 3 * _points(tree),
        "contact_rate": lambda tree: 3 * _points(tree),
        "is_deep": _islands,
        "contact_presses": _islands,
        "measures_bias": lambda tree: int(_points(tree) > 0),
        "contact_left": _points,
        "contact_left_over": _points,
        "contact_still": _points,
        "contact_resting": _points,
        "contact_back": _points,
        "contact_recovery": lambda tree: int(_points(tree) > 0),
        "contact_gap_change": _points,
        "contact_reach": _points,
        "contact_bounces": _islands,
        "contact_passing": _islands,
        "contact_lands": _islands,
        "contact_slow": _islands,
        "contact_has_passed": _islands,
        "contact_drift": lambda tree: 3 * _points(tree),
        "contact_drift_before": lambda tree: 3 * _points(tree),
        "contact_moved": _points,
        "contact_kept": lambda tree: 3 * _points(tree),
        "contact_led": lambda tree: 3 * _points(tree),
        "contact_passed": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "contact_start": lambda tree: 3 * _points(tree),
        "contact_anchor": lambda tree: 3 * _points(tree),
        "contact_give": lambda tree: 3 * _points(tree),
        "contact_memory": lambda tree: 3 * _points(tree),
        "contact_path": lambda tree: tree.dof_count * _follows_ties(tree),
        "v_before_lead": lambda tree: tree.dof_count * (_points(tree) > 0),
        "tie_left": lambda tree: len(tree.rows) * _follows_ties(tree),
        "tie_scale": lambda tree: len(tree.rows) * _follows_ties(tree),
        "tie_direction": lambda tree: len(tree.rows) * _follows_ties(tree),
        "tie_rate": lambda tree: tree.dof_count * _follows_ties(tree),
        "tie_left_over": lambda tree: tree.island_count * _follows_ties(tree),
        "tie_known": lambda tree: tree.island_count * _follows_ties(tree),
        "tie_curve": lambda tree: tree.island_count * _follows_ties(tree),
        "tie_ratio": lambda tree: tree.island_count * _follows_ties(tree),
        "largest_impulse": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "island_impact": _islands,
        "island_push": _islands,
        "island_work": _islands,
        "island_wanted": _islands,
        "sweep_objective": _islands,
        "sweep_changes": _islands,
        "sweep_mask": _islands,
        "sweep_slope": _islands,
        "sweep_share": _islands,
        "row_start": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "borne": lambda tree: 2 * len(bearing_rows(tree)),
        "split_impulse": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_found": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_dual": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_penalty": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_diagonal": lambda tree: len(tree.rows) * (_points(tree) > 0),
    },
)
