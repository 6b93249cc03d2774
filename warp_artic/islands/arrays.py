"""Arrays of a large stage: its colliders, the bodies and mechanisms that have them, and contact points.

What belongs to a state has the environments one after the other: entry `environment * count + number`. Positions are in
the world in double precision, so that differences of them are exact however far from its origin they are.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import numbers_for


@cache
def island_types(precision: str) -> SimpleNamespace:
    """The types of a precision: its scalar, vectors and matrices, and the structs of arrays."""
    numbers = numbers_for(precision, wide=False)
    T = numbers.scalar
    V, M = wp.types.vector(length=3, dtype=T), wp.types.matrix(shape=(3, 3), dtype=T)

    @wp.struct
    class Colliders:
        """What is the same in all environments, an entry a collider."""

        count: int
        coarse: int  # of these, those of no fine static mesh, which come first
        body: wp.array(dtype=int)  # -1: static
        kind: wp.array(dtype=int)
        axes: wp.array(dtype=M)  # of its frame, in that of its link or in the world
        position: wp.array(dtype=wp.vec3d)  # of its frame, likewise [m]
        size: wp.array(dtype=V)  # as `collision.collide` takes it [m]
        middle: wp.array(dtype=V)  # of a box around it, in its frame [m]
        half: wp.array(dtype=V)  # half extents of that [m]
        hull: wp.array(dtype=int)  # first vertex
        hull_count: wp.array(dtype=int)
        contact_offset: wp.array(dtype=T)  # [m]
        rest_offset: wp.array(dtype=T)  # gap at which contacts rest, of one side [m]
        depenetration_speed: wp.array(dtype=T)  # [m/s]
        thickness: wp.array(dtype=T)  # half of the least extent [m]
        family: wp.array(dtype=int)  # of collision groups; see `allowed`
        weld: wp.array(dtype=int)  # the same for those that no joint lets move against each other; -1: static
        surface: wp.array(dtype=int)
        is_patch: wp.array(dtype=int)  # a flat part of a static surface
        one_sided: wp.array(dtype=int)
        seam: wp.array(dtype=int)
        seams: wp.array(dtype=int)
        hull_points: wp.array2d(dtype=T)  # three rows a vertex, one column [m]
        seam_directions: wp.array2d(dtype=T)  # direction outward, cosine and sine of the bend
        allowed: wp.array2d(dtype=int)  # whether two families touch
        apart: wp.array(dtype=wp.int64)  # pairs that never touch: first * count + second, in order
        surfaces: int
        bounce_threshold: T  # [m/s]
        static_friction: wp.array(dtype=T)  # of two surfaces: first * surfaces + second
        dynamic_friction: wp.array(dtype=T)
        restitution: wp.array(dtype=T)
        stiffness: wp.array(dtype=T)  # [N/m]
        damping: wp.array(dtype=T)  # [N s/m]
        torsional_friction: wp.array(dtype=T)  # [m]
        rolling_friction: wp.array(dtype=T)  # [m]
        resist_turning: int  # whether any surfaces have friction of these two kinds

    @wp.struct
    class JointFilters:
        """Joints that filter pairs of colliders out until they break."""

        count: int
        pairs: wp.array(dtype=wp.int64)  # first * count of colliders + second, in order
        first: wp.array(dtype=int)  # of a pair: its first entry in `joint`, and one more than the last pair's
        joint: wp.array(dtype=int)
        broken: wp.array(dtype=T)  # of a joint, by environment: positive where it has broken

    @wp.struct
    class Solids:
        """Where coarse colliders are."""

        position: wp.array(dtype=wp.vec3d)  # of frames [m]
        axes: wp.array(dtype=M)
        lower: wp.array(dtype=wp.vec3)  # of boxes around coarse ones and all they may reach in a step [m]
        upper: wp.array(dtype=wp.vec3)
        fine_lower: wp.array(dtype=wp.vec3)  # of boxes around those of fine meshes, the same in all environments [m]
        fine_upper: wp.array(dtype=wp.vec3)

    @wp.struct
    class Bodies:
        """Links that have colliders, by environment."""

        count: int
        mechanism: wp.array(dtype=int)  # of a body; -1: it is kinematic
        jacobian: wp.array(dtype=int)  # of a body: first entry in `Mechanisms.jacobian`, -1: it has no joints
        mobility: wp.array(dtype=T)  # of a body without its joints, in all three directions [1/kg]
        turning_mobility: wp.array(dtype=T)  # likewise [1/(kg m^2)]
        position: wp.array(dtype=wp.vec3d)  # of link frames [m]
        axes: wp.array(dtype=M)
        center: wp.array(dtype=wp.vec3d)  # of mass [m]
        linear: wp.array(dtype=V)  # velocity of the centre of mass [m/s]
        angular: wp.array(dtype=V)  # [rad/s]
        surface_linear: wp.array(dtype=V)  # velocity of the surface beside that of the body, at `center` [m/s]
        surface_angular: wp.array(dtype=V)  # [rad/s]
        force: wp.array(dtype=V)  # of contacts, over the step [N]
        moment: wp.array(dtype=V)  # about the centre of mass [N m]
        # Continuous collision detection (`predicted_motion`).
        prediction_count: wp.array(dtype=int)  # of an environment
        is_deflected: wp.array(dtype=int)  # of a body: 1 where contacts are found again for its sake
        predicted_linear: wp.array2d(dtype=V)  # mean velocity of the centre of mass, by prediction and body [m/s]
        predicted_angular: wp.array2d(dtype=V)  # [rad/s]
        radius: wp.array(dtype=T)  # of a body: how far its colliders reach from its link frame [m]
        is_aspherical: wp.array(dtype=int)  # of a body: 0 where its colliders are spheres
        motion_tolerance: wp.array(dtype=T)  # of a body: difference of predictions that is ignored [m]

    @wp.struct
    class Mechanisms:
        """Mechanisms that have bodies, by environment."""

        count: int
        dofs: wp.array(dtype=int)  # how many
        first: wp.array(dtype=int)  # its first dof among those of an environment
        inverse_first: wp.array(dtype=int)  # its first entry in `inverse`
        dof_count: int
        inverse_count: int
        jacobian_count: int
        start: wp.array(dtype=T)  # generalized velocities before the step
        free: wp.array(dtype=T)  # velocities after it without contacts
        v: wp.array(dtype=T)  # velocities
        before: wp.array(dtype=T)  # those before a substep
        displacement: wp.array(dtype=T)  # over the step; in the end, beside that of the step itself
        end_weight: wp.array(dtype=T)  # part of a step that a dof moves with v+ (`constraints.dof_weights`)
        is_held: wp.array(dtype=int)  # of a dof, the same in all environments: 1 where friction acts on it
        projected: wp.array(dtype=T)  # what projection of overlaps adds to that
        inverse: wp.array(dtype=T)  # M^-1 by rows, with constraints that hold
        has_square_root: wp.array(dtype=int)  # 1 of a mechanism with joints that no constraint or limited drive holds
        square_root: wp.array(dtype=T)  # of its M^-1 by rows: M^-1 = square_root^T square_root
        outward: wp.array(dtype=int)  # of a dof: the first of its dof and those outward of it
        outward_end: wp.array(dtype=int)  # the end of these
        mobility: wp.array(dtype=T)  # diagonal of M^-1 of the trees without constraints
        jacobian: wp.array(dtype=T)  # of bodies, six rows each: velocity of the centre of mass, angular velocity
        # Rows of joints that may give way (`constraints.bounded_rows`), of one mechanism after the other.
        row_first: wp.array(dtype=int)  # of a mechanism, and one more than the last one's
        row_term: wp.array(dtype=int)  # first term of a row, and one more than the last one's
        term_dof: wp.array(dtype=int)  # among the dofs of its mechanism
        row_Y: wp.array(dtype=int)  # first entry of a row in `Y`
        row_count: int
        term_count: int
        Y_count: int
        velocity_lower: wp.array(dtype=T)  # of a row: bounds of J v + C z after the step
        velocity_upper: wp.array(dtype=T)
        impulse_lower: wp.array(dtype=T)  # of z, an impulse in the step beside that without contacts
        impulse_upper: wp.array(dtype=T)
        bears: wp.array(dtype=T)  # of stops: impulse without contacts, positive at a lower end
        compliance: wp.array(dtype=T)  # C
        J: wp.array(dtype=T)  # of a term
        P: wp.array(dtype=T)  # likewise
        Y: wp.array(dtype=T)  # M^-1 P of each dof
        speed: wp.array(dtype=T)  # of a row: J v before the step
        G: wp.array(dtype=T)  # J M^-1 P
        impulse: wp.array(dtype=T)  # z in a substep
        row_warm: wp.array(dtype=T)  # z of the last substep of the step before
        initial: wp.array(dtype=T)  # z at the start of a substep
        accumulated: wp.array(dtype=T)  # z of the substeps before
        # Drives with a maximum force among them (`limited_drives`).
        is_drive: wp.array(dtype=int)  # of a row, the same in all environments
        holds: wp.array(dtype=int)  # of a row: 1 where it is a drive that is part of M^-1
        yielding: wp.array(dtype=T)  # M^-1 without these drives
        supporting: wp.array(dtype=int)  # of a mechanism: rows with an impulse after the last sweep
        supporting_count: wp.array(dtype=int)
        is_hit: wp.array(dtype=int)  # of a mechanism: 1 in a substep with an impact, 2 where it touches jointed bodies
        is_pushed: wp.array(dtype=int)  # 1 where a contact has done anything to it in the step
        steps_at_rest: wp.array(dtype=T)
        failed: wp.array(dtype=T)  # 1 where it has stopped

    @wp.struct
    class Points:
        """Points where two colliders touch or may touch in the step."""

        count: int
        key: wp.array(dtype=wp.int64)  # (environment, first collider, second collider, candidate), in order
        environment: wp.array(dtype=int)
        first: wp.array(dtype=int)  # collider
        second: wp.array(dtype=int)
        first_mechanism: wp.array(dtype=int)  # -1 where it is static or kinematic
        second_mechanism: wp.array(dtype=int)
        surfaces: wp.array(dtype=int)  # entry of both surfaces in tables of materials
        is_free: wp.array(dtype=int)  # 1 where neither side has joints
        position: wp.array(dtype=wp.vec3d)  # midway between both [m]
        in_first: wp.array(dtype=V)  # the same in the frame of the first collider
        in_second: wp.array(dtype=V)
        earlier: wp.array(dtype=int)  # point of the step before that it goes on from, -1 for none
        n: wp.array(dtype=V)  # toward the second one
        gap: wp.array(dtype=T)  # [m]
        z: wp.array(dtype=V)  # impulse in a substep along the normal and two tangents, on the second one [N s]
        warm: wp.array(dtype=V)  # that of the last substep, world axes
        world: wp.array(dtype=V)  # impulse in all of the step, world axes
        carried: wp.array(dtype=V)  # velocity along n, t_1 and t_2 by kinematic bodies [m/s]
        carried_rate: wp.array(dtype=V)  # acceleration by which it turns with them, and c of the point [m/s^2]
        # Of what lasts (`lasting_contacts`), along n, t_1 and t_2.
        lead: wp.array(dtype=T)  # after the start of the step, where the point was found [s]
        rate: wp.array(dtype=V)  # velocity by kinematic bodies after the step, then y without c [m/s]
        bias: wp.array(dtype=V)  # what was found of c [m/s^2]
        initial: wp.array(dtype=T)  # impulse along the normal at the start of a substep [N s]
        swept: wp.array(dtype=V)  # z before a sweep, in islands with a great load (`loads`)
        path: wp.array(dtype=V)  # how z goes on after it
        friction: wp.array(dtype=T)
        hit: wp.array(dtype=T)  # time within a substep at which it closes, in a round of impacts [s]
        bounce: wp.array(dtype=T)  # velocity along the normal that it is to have after a round of impacts [m/s]
        normal: wp.array(dtype=V)  # J M^-1 J^T, by its columns
        across: wp.array(dtype=V)  # that of the tangents: 11, 12, 22
        across_most: wp.array(dtype=T)  # the largest of any tangent
        across_inverse: wp.array(dtype=V)
        reach: wp.array(dtype=T)  # largest `normal` of any direction (`constraints.contact_lever`)
        gap_change: wp.array(dtype=T)  # of the projection of overlaps, at least [m]
        projection: wp.array(dtype=T)  # impulse in that, by time
        first_dof: wp.array(dtype=int)  # of the mechanism of the first side, among all dofs
        first_dofs: wp.array(dtype=int)  # how many
        second_dof: wp.array(dtype=int)  # of the second one; no dofs where it is the same
        second_dofs: wp.array(dtype=int)
        term: wp.array(dtype=int)  # first entry in `J` and `Y`, and one more than the last point's
        J: wp.array(dtype=V)  # of each dof, of the first side and then of the second: n, t_1, t_2
        Y: wp.array(dtype=V)  # M^-1 J^T
        # The same of torsional and rolling friction, about n, t_1 and t_2.
        turn: wp.array(dtype=V)  # angular impulse in a substep, on the second one [N m s]
        turn_warm: wp.array(dtype=V)  # that of the last substep, world axes
        turn_world: wp.array(dtype=V)  # in all of the step, world axes
        turn_carried: wp.array(dtype=V)  # angular velocity by kinematic bodies [rad/s]
        turn_normal: wp.array(dtype=T)  # J_w M^-1 J_w^T about n
        turn_across: wp.array(dtype=V)  # that of the tangents: 11, 12, 22
        J_w: wp.array(dtype=V)
        Y_w: wp.array(dtype=V)

    return SimpleNamespace(
        numbers=numbers,
        T=T,
        V=V,
        M=M,
        Colliders=Colliders,
        JointFilters=JointFilters,
        Solids=Solids,
        Bodies=Bodies,
        Mechanisms=Mechanisms,
        Points=Points,
    )
