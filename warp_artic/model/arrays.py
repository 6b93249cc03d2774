"""The structs of arrays that kernels read and write.

Every array of reals has shape [row, column]; a column is one environment of one articulation (scalar numbers) or one
lane block of them (wide numbers), and a quantity of several components takes consecutive rows. A parameter that is
the same for all columns is stored once and has a column stride of zero, so that kernels read shared and per-environment
parameters alike.

Letters: W world, P parent link, F joint frame fixed in the parent, M moving joint frame of a link, L link frame.
Link rows have one entry more than there are links: the last is the world, the parent of every root.
"""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import warp as wp

from warp_artic.math.numbers import (
    NUMBERS,
    Mat3,
    Numbers,
    Sym3,
    Vec3,
    mat3,
    sym3,
    vec3,
)

ModelArrays = Any
"""Annotation of the constants of a group of equal trees, `arrays_for(numbers).Model`."""
StateArrays = Any
"""Annotation of `arrays_for(numbers).State`."""
ControlArrays = Any
"""Annotation of `arrays_for(numbers).Control`."""
WorkArrays = Any
"""Annotation of `arrays_for(numbers).Work`."""
ReportArrays = Any
KeptArrays = Any
"""Annotation of `arrays_for(numbers).Report`."""
ForceArrays = Any
"""Annotation of `arrays_for(numbers).Forces`."""
ContactArrays = Any
"""Annotation of `arrays_for(numbers).Contacts`."""
Array = Any
"""Annotation of one array [row, column] of reals."""


@dataclass(frozen=True)
class StructFields:
    """Names of the arrays that constraint families add to the structs, each [row, column] of reals if nothing else."""

    tables: tuple[str, ...] = ()
    """Of integers, [entry], in the model."""
    counts: tuple[str, ...] = ()
    """Integers in the model."""
    parameters: tuple[str, ...] = ()
    """In the model."""
    scratch: tuple[str, ...] = ()
    """In the work space."""
    measures: tuple[str, ...] = ()
    """In the report of a state."""
    multipliers: tuple[str, ...] = ()
    """In the forces of a step."""
    memory: tuple[str, ...] = ()
    """In the state."""


def with_fields(**types):
    """Decorates a class with further annotations: for each keyword a type, and the names that have it."""

    def decorate(cls):
        cls.__annotations__.update({name: kind for kind, names in types.values() for name in names})
        return cls

    return decorate


@cache
def structs_of(numbers: Numbers, fields: StructFields) -> SimpleNamespace:
    """The structs Model, State, Control, Work, Report, Forces, Contacts and Kept of a number type."""
    T = numbers.real
    if numbers.is_dual:
        _entry_functions(numbers, entry, set_entry)
    Reals, Table = wp.array2d(dtype=T), wp.array(dtype=int)

    @wp.struct
    @with_fields(parameters=(Reals, fields.parameters), tables=(Table, fields.tables), counts=(int, fields.counts))
    class Model:
        # Tree
        link_count: int
        body_count: int
        dof_count: int
        root_dofs: int
        tree_count: int
        island_count: int
        row_count: int
        placed_rows: int
        slot_count: int
        all_rows_meet: int
        innovations_only: int
        link_damping: int
        held_positions: int
        closed_islands: int
        is_dual: int
        pushing_rows: int
        rotation_rows: int
        finite_rotations: int
        late_bends: int
        early_bends: int
        restarts: int
        swing_joints: int
        rotation_drives: int
        stop_row: int
        limit_row: int
        speed_limits: int
        free_motion: int
        driven: int
        sleep_steps: int
        first_position: int
        order: wp.array(dtype=int)
        links_by_path: wp.array(dtype=int)
        tree_link: wp.array(dtype=int)
        tree_root: wp.array(dtype=int)
        tree_island: wp.array(dtype=int)
        link_tree: wp.array(dtype=int)
        island_first: wp.array(dtype=int)
        island_dof: wp.array(dtype=int)
        island_moves_freely: wp.array(dtype=int)
        island_is_driven: wp.array(dtype=int)
        island_has_drag: wp.array(dtype=int)
        island_turns: wp.array(dtype=int)
        island_joints: wp.array(dtype=int)
        island_bends_late: wp.array(dtype=int)
        island_restarts: wp.array(dtype=int)
        island_is_looped: wp.array(dtype=int)
        island_keeps_energy: wp.array(dtype=int)
        dof_island: wp.array(dtype=int)
        row_island: wp.array(dtype=int)
        link_parent: wp.array(dtype=int)
        link_joint: wp.array(dtype=int)
        link_dof: wp.array(dtype=int)
        link_dofs: wp.array(dtype=int)
        link_is_coupled: wp.array(dtype=int)
        dof_link: wp.array(dtype=int)
        dof_is_linear: wp.array(dtype=int)
        dof_axis: wp.array(dtype=int)
        # Constraint rows
        row_family: wp.array(dtype=int)
        row_traits: wp.array(dtype=int)
        row_part: wp.array(dtype=int)
        row_place: wp.array(dtype=int)
        row_dof: wp.array(dtype=int)
        row_item: wp.array(dtype=int)
        row_term: wp.array(dtype=int)
        row_terms: wp.array(dtype=int)
        row_slot: wp.array(dtype=int)
        row_rate_slot: wp.array(dtype=int)
        row_first: wp.array(dtype=int)
        row_end: wp.array(dtype=int)
        row_support: wp.array(dtype=int)
        row_supports: wp.array(dtype=int)
        support_dof: wp.array(dtype=int)
        row_link: wp.array(dtype=int)
        row_is_branched: wp.array(dtype=int)
        earlier_range: wp.array(dtype=int)
        later_range: wp.array(dtype=int)
        range_start: wp.array(dtype=int)
        range_end: wp.array(dtype=int)
        shared_dofs: wp.array(dtype=int)
        row_path: wp.array(dtype=int)
        row_steps: wp.array(dtype=int)
        path_link: wp.array(dtype=int)
        term_dof: wp.array(dtype=int)
        term_span: wp.array(dtype=int)
        term_place: wp.array(dtype=int)
        slot_row: wp.array(dtype=int)
        tendon_place: wp.array(dtype=int)
        watched: wp.array(dtype=int)
        # Parameters that a user may write to
        given: wp.array(dtype=int)
        given_address: wp.array(dtype=wp.uint64)
        given_bounds: wp.array(dtype=wp.float64)
        # What trees are joined to
        base: wp.array2d(dtype=T)
        # Links
        parent_frame: wp.array2d(dtype=T)
        link_frame: wp.array2d(dtype=T)
        link_mass: wp.array2d(dtype=T)
        link_center: wp.array2d(dtype=T)
        link_inertia: wp.array2d(dtype=T)
        link_linear_damping: wp.array2d(dtype=T)
        link_angular_damping: wp.array2d(dtype=T)
        joint_turn: wp.array2d(dtype=T)
        # Dofs of joints
        dof_sign: wp.array2d(dtype=T)
        wraps: wp.array2d(dtype=T)
        armature: wp.array2d(dtype=T)
        sleep_threshold: wp.array2d(dtype=T)
        gravity: wp.array2d(dtype=T)
        rounding: wp.array2d(dtype=T)
        padding: wp.array2d(dtype=T)

    @wp.struct
    @with_fields(memory=(Reals, fields.memory))
    class State:
        joint_position: wp.array2d(dtype=T)
        joint_velocity: wp.array2d(dtype=T)
        root_pose: wp.array2d(dtype=T)
        root_velocity: wp.array2d(dtype=T)
        failure: wp.array2d(dtype=T)
        clock: wp.array2d(dtype=T)
        started: wp.array2d(dtype=T)
        smooth_acceleration: wp.array2d(dtype=T)
        acceleration_change: wp.array2d(dtype=T)
        smoothness: wp.array2d(dtype=T)
        unresolved: wp.array2d(dtype=T)
        steps_at_rest: wp.array2d(dtype=T)
        seen: wp.array2d(dtype=T)

    @wp.struct
    class Control:
        drive_position_target: wp.array2d(dtype=T)
        drive_velocity_target: wp.array2d(dtype=T)
        joint_effort: wp.array2d(dtype=T)
        link_external_force: wp.array2d(dtype=T)

    @wp.struct
    @with_fields(scratch=(Reals, fields.scratch))
    class Work:
        # Links
        R_WM: wp.array2d(dtype=T)
        p_PM: wp.array2d(dtype=T)
        p_WM: wp.array2d(dtype=T)
        w: wp.array2d(dtype=T)
        velocity_moment: wp.array2d(dtype=T)
        velocity_force: wp.array2d(dtype=T)
        A: wp.array2d(dtype=T)
        B: wp.array2d(dtype=T)
        M: wp.array2d(dtype=T)
        moment: wp.array2d(dtype=T)
        force: wp.array2d(dtype=T)
        angular: wp.array2d(dtype=T)
        linear: wp.array2d(dtype=T)
        drag_moment: wp.array2d(dtype=T)
        drag_force: wp.array2d(dtype=T)
        # Dofs
        axis: wp.array2d(dtype=T)
        U_moment: wp.array2d(dtype=T)
        U_force: wp.array2d(dtype=T)
        D_inverse: wp.array2d(dtype=T)
        u: wp.array2d(dtype=T)
        v: wp.array2d(dtype=T)
        v_free: wp.array2d(dtype=T)
        v_next: wp.array2d(dtype=T)
        v_middle: wp.array2d(dtype=T)
        recalled: wp.array2d(dtype=T)
        effort: wp.array2d(dtype=T)
        vdot: wp.array2d(dtype=T)
        rest_vdot: wp.array2d(dtype=T)
        projected: wp.array2d(dtype=T)
        slowed: wp.array2d(dtype=T)
        v_reported: wp.array2d(dtype=T)
        unresolved: wp.array2d(dtype=T)
        watched: wp.array2d(dtype=T)
        motion_sums: wp.array2d(dtype=T)
        calm: wp.array2d(dtype=T)
        spring: wp.array2d(dtype=T)
        damper: wp.array2d(dtype=T)
        theta: wp.array2d(dtype=T)
        reach: wp.array2d(dtype=T)
        measured: wp.array2d(dtype=T)
        layer: wp.array2d(dtype=T)
        load: wp.array2d(dtype=T)
        drive_bias: wp.array2d(dtype=T)
        drive_spring: wp.array2d(dtype=T)
        rotation_spring: wp.array2d(dtype=T)
        cross_spring: wp.array2d(dtype=T)
        coupled_entry: wp.array2d(dtype=T)
        drive_scale: wp.array2d(dtype=T)
        drive_theta: wp.array2d(dtype=T)
        drive_reach: wp.array2d(dtype=T)
        drive_side: wp.array2d(dtype=T)
        saturated: wp.array2d(dtype=T)
        least: wp.array2d(dtype=T)
        free_share: wp.array2d(dtype=T)
        share: wp.array2d(dtype=T)
        joint_load: wp.array2d(dtype=T)
        position: wp.array2d(dtype=T)
        root: wp.array2d(dtype=T)
        middle: wp.array2d(dtype=T)
        middle_root: wp.array2d(dtype=T)
        shift: wp.array2d(dtype=T)
        since_placed: wp.array2d(dtype=T)
        end_weight: wp.array2d(dtype=T)
        closed_energy: wp.array2d(dtype=T)
        end_rotation: wp.array2d(dtype=T)
        end_origin: wp.array2d(dtype=T)
        end_spin: wp.array2d(dtype=T)
        end_velocity: wp.array2d(dtype=T)
        end_axis: wp.array2d(dtype=T)
        # Constraint rows
        window: wp.array2d(dtype=T)
        compliance: wp.array2d(dtype=T)
        bound: wp.array2d(dtype=T)
        impulse: wp.array2d(dtype=T)
        given: wp.array2d(dtype=T)
        smooth: wp.array2d(dtype=T)
        row_mobility: wp.array2d(dtype=T)
        active: wp.array2d(dtype=T)
        environment_mask: wp.array2d(dtype=T)
        changed: wp.array2d(dtype=T)
        anew: wp.array2d(dtype=T)
        stopped: wp.array2d(dtype=T)
        touched: wp.array2d(dtype=T)
        unbound: wp.array2d(dtype=T)
        uneven: wp.array2d(dtype=T)
        bending: wp.array2d(dtype=T)
        stop_work: wp.array2d(dtype=T)
        has_bounced: wp.array2d(dtype=T)
        near_limit: wp.array2d(dtype=T)
        turned: wp.array2d(dtype=T)
        missed: wp.array2d(dtype=T)
        bent_now: wp.array2d(dtype=T)
        bend: wp.array2d(dtype=T)
        slack: wp.array2d(dtype=T)
        stretch: wp.array2d(dtype=T)
        resolved: wp.array2d(dtype=T)
        impact_share: wp.array2d(dtype=T)
        rest_share: wp.array2d(dtype=T)
        bounced: wp.array2d(dtype=T)
        coefficient: wp.array2d(dtype=T)
        push: wp.array2d(dtype=T)
        direction: wp.array2d(dtype=T)
        motion: wp.array2d(dtype=T)
        bent: wp.array2d(dtype=T)
        bends: wp.array2d(dtype=T)
        turns: wp.array2d(dtype=T)
        settled: wp.array2d(dtype=T)
        kept: wp.array2d(dtype=T)
        end_position: wp.array2d(dtype=T)
        end_root: wp.array2d(dtype=T)
        tree_center: wp.array2d(dtype=T)
        tree_mobility: wp.array2d(dtype=T)
        tree_jacobian: wp.array2d(dtype=T)
        response: wp.array2d(dtype=T)
        ready: wp.array2d(dtype=int)
        begins: wp.array2d(dtype=int)
        # Direct solver
        gathered: wp.array2d(dtype=int)
        compliance_entry: wp.array2d(dtype=int)
        compliance_entry_end: wp.array2d(dtype=int)
        span_first: wp.array2d(dtype=int)
        span_end: wp.array2d(dtype=int)
        known_rows: wp.array2d(dtype=int)
        gathered_before: wp.array2d(dtype=int)
        factored_before: wp.array2d(dtype=int)
        orthogonal_rows: wp.array2d(dtype=int)
        factored: wp.array2d(dtype=int)
        innovation_weight: wp.array2d(dtype=T)
        Q: wp.array2d(dtype=T)
        Q_dual: wp.array2d(dtype=T)
        R_factor: wp.array2d(dtype=T)
        T_factor: wp.array2d(dtype=T)
        delassus: wp.array2d(dtype=T)
        L_factor: wp.array2d(dtype=T)
        scaled_response: wp.array2d(dtype=T)
        scaled_branches: wp.array2d(dtype=T)
        has_products: wp.array2d(dtype=int)
        has_branches: wp.array2d(dtype=int)
        elimination: wp.array2d(dtype=T)
        is_met: wp.array2d(dtype=T)
        residual: wp.array2d(dtype=T)
        Q_square_inverse: wp.array2d(dtype=T)
        is_independent: wp.array2d(dtype=T)
        pivot_inverse: wp.array2d(dtype=T)
        T_pivot_inverse: wp.array2d(dtype=T)
        delassus_diagonal: wp.array2d(dtype=T)
        innovation: wp.array2d(dtype=T)
        velocity_change: wp.array2d(dtype=T)
        spring_displacement: wp.array2d(dtype=T)
        tendon_load: wp.array2d(dtype=T)
        scaled_innovation: wp.array2d(dtype=T)
        impulse_violation: wp.array2d(dtype=T)
        velocity_violation: wp.array2d(dtype=T)
        feasible_impulse: wp.array2d(dtype=T)
        row_mask: wp.array2d(dtype=T)
        step_to_bound: wp.array2d(dtype=T)
        present_bound: wp.array2d(dtype=T)
        has_entered: wp.array2d(dtype=T)
        is_tabu: wp.array2d(dtype=T)
        last_status: wp.array2d(dtype=T)
        last_side: wp.array2d(dtype=T)
        nonsymmetric: wp.array2d(dtype=T)
        infeasibility: wp.array2d(dtype=T)
        was_in_working_set: wp.array2d(dtype=T)
        consistent_impulse: wp.array2d(dtype=T)
        y_free: wp.array2d(dtype=T)
        target: wp.array2d(dtype=T)
        in_working_set: wp.array2d(dtype=T)
        rhs: wp.array2d(dtype=T)
        y_trial: wp.array2d(dtype=T)
        trial_impulse: wp.array2d(dtype=T)

    @wp.struct
    @with_fields(measures=(Reals, fields.measures))
    class Report:
        link_pose: wp.array2d(dtype=T)
        link_velocity: wp.array2d(dtype=T)
        energy: wp.array2d(dtype=T)

    @wp.struct
    @with_fields(multipliers=(Reals, fields.multipliers))
    class Forces:
        in_world: int
        without_tendons: int
        parts: wp.array2d(dtype=T)
        link_incoming_joint_force: wp.array2d(dtype=T)
        joint_acceleration: wp.array2d(dtype=T)
        root_acceleration: wp.array2d(dtype=T)
        link_acceleration: wp.array2d(dtype=T)
        row_margin: wp.array2d(dtype=T)

    @wp.struct
    class Contacts:
        count: int
        link: wp.array(dtype=int)
        other: wp.array(dtype=int)
        position: wp.array2d(dtype=T)
        normal: wp.array2d(dtype=T)
        friction: wp.array2d(dtype=T)
        gap: wp.array2d(dtype=T)
        # Work space
        slide: wp.array2d(dtype=T)
        pressed: wp.array2d(dtype=T)
        coupling: wp.array2d(dtype=T)
        impulse: wp.array2d(dtype=T)
        y_free: wp.array2d(dtype=T)
        delassus: wp.array2d(dtype=T)

    S = numbers.scalar

    @wp.struct
    class Kept:
        # Records, environments of all articulations of the group, dofs; without entries where they are not kept
        joint_position: wp.array3d(dtype=S)
        joint_velocity: wp.array3d(dtype=S)
        # Addresses of rows of the state, and records of these rows
        rows: wp.array(dtype=wp.uint64)
        records: wp.array3d(dtype=S)
        # What taped numbers do instead, `kernels.pull_back`
        walk: wp.uint64

    return SimpleNamespace(
        Model=Model,
        State=State,
        Control=Control,
        Work=Work,
        Report=Report,
        Forces=Forces,
        Contacts=Contacts,
        Kept=Kept,
    )


def _entry_functions(numbers: Numbers, entry, set_entry):
    """Add the overloads for a number type.

    An index of an array is a product, which weighs as much as the arithmetic of a lane vector. These leave it to the
    compiler to find the first of several rows once. On one core, 1024 environments: place_links of a humanoid takes
    0.058 us, from 0.079 us with indices.
    """
    T = numbers.real
    place = """
    auto first = (char*)a.data + (wp::int64)row * a.strides[0] + (wp::int64)column * a.strides[1];
    auto place = (decltype(a.data))(first + k * (wp::int64)a.strides[0]);"""

    @wp.func_native(f"{place} return *place;")
    def entry(a: wp.array2d(dtype=T), row: int, column: int, k: int) -> T: ...

    @wp.func_native(f"{place} *place = value;")
    def set_entry(a: wp.array2d(dtype=T), row: int, column: int, k: int, value: T): ...

    return entry, set_entry


entry = set_entry = None
for _type in NUMBERS:
    entry, set_entry = _entry_functions(_type, entry, set_entry)


@wp.func
def load_vec3(a: Array, row: int, column: int):
    """The vector in rows `row` to `row + 2`."""
    return vec3(entry(a, row, column, 0), entry(a, row, column, 1), entry(a, row, column, 2))


@wp.func
def store_vec3(a: Array, row: int, column: int, v: Vec3):
    """Write a vector to rows `row` to `row + 2`."""
    set_entry(a, row, column, 0, v.x)
    set_entry(a, row, column, 1, v.y)
    set_entry(a, row, column, 2, v.z)


@wp.func
def load_mat3(a: Array, row: int, column: int):
    """The matrix in rows `row` to `row + 8`."""
    return mat3(
        vec3(entry(a, row, column, 0), entry(a, row, column, 1), entry(a, row, column, 2)),
        vec3(entry(a, row, column, 3), entry(a, row, column, 4), entry(a, row, column, 5)),
        vec3(entry(a, row, column, 6), entry(a, row, column, 7), entry(a, row, column, 8)),
    )


@wp.func
def store_mat3(a: Array, row: int, column: int, m: Mat3):
    """Write a matrix to rows `row` to `row + 8`."""
    set_entry(a, row, column, 0, m.x.x)
    set_entry(a, row, column, 1, m.x.y)
    set_entry(a, row, column, 2, m.x.z)
    set_entry(a, row, column, 3, m.y.x)
    set_entry(a, row, column, 4, m.y.y)
    set_entry(a, row, column, 5, m.y.z)
    set_entry(a, row, column, 6, m.z.x)
    set_entry(a, row, column, 7, m.z.y)
    set_entry(a, row, column, 8, m.z.z)


@wp.func
def load_sym3(a: Array, row: int, column: int):
    """The symmetric matrix in rows `row` to `row + 5`."""
    return sym3(
        entry(a, row, column, 0),
        entry(a, row, column, 1),
        entry(a, row, column, 2),
        entry(a, row, column, 3),
        entry(a, row, column, 4),
        entry(a, row, column, 5),
    )


@wp.func
def store_sym3(a: Array, row: int, column: int, m: Sym3):
    """Write a symmetric matrix to rows `row` to `row + 5`."""
    set_entry(a, row, column, 0, m.xx)
    set_entry(a, row, column, 1, m.xy)
    set_entry(a, row, column, 2, m.xz)
    set_entry(a, row, column, 3, m.yy)
    set_entry(a, row, column, 4, m.yz)
    set_entry(a, row, column, 5, m.zz)
