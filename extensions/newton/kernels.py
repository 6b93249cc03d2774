"""Between the arrays of Newton and those of a simulation, on the device, in each environment.

Newton's arrays are flat, and tables say where in them the entries of a row are; the arrays of a simulation have a
column for each environment. What was given out last is remembered, and only what was changed since is taken in.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

Floats = wp.array(dtype=wp.float32)
Table = wp.array2d(dtype=int)


@cache
def number_functions(scalar: type) -> SimpleNamespace:
    """Vectors and rotations of a scalar type, and functions that read them from arrays."""
    Rows = wp.array2d(dtype=scalar)
    vec3, quat = wp.types.vector(3, scalar), wp.types.quaternion(scalar)

    @wp.func
    def is_other(one: wp.float32, seen: wp.float32):
        return not (one == seen)  # so that a seen NaN is always another

    @wp.func
    def vector_at(values: Floats, k: int):
        return vec3(scalar(values[k]), scalar(values[k + 1]), scalar(values[k + 2]))

    @wp.func
    def quaternion_at(values: Floats, k: int):
        return wp.normalize(
            quat(scalar(values[k]), scalar(values[k + 1]), scalar(values[k + 2]), scalar(values[k + 3]))
        )

    @wp.func
    def row_vector(rows: Rows, x: int, y: int, z: int, environment: int):
        return vec3(rows[x, environment], rows[y, environment], rows[z, environment])

    @wp.func
    def rotation_of(X: wp.transform):
        return quat(scalar(X[3]), scalar(X[4]), scalar(X[5]), scalar(X[6]))

    @wp.func
    def position_of(X: wp.transform):
        return vec3(scalar(X[0]), scalar(X[1]), scalar(X[2]))

    @wp.func
    def rotation_vector(q: quat):
        axis, angle = wp.quat_to_axis_angle(q)
        return axis * angle

    @wp.func
    def quaternion_of(phi: vec3):
        return wp.quat_from_axis_angle(wp.normalize(phi), wp.length(phi))

    return SimpleNamespace(
        options={"enable_backward": False, "module": f"warp_artic.extensions.newton.{scalar.__name__}"},
        Rows=Rows,
        Vectors=wp.array3d(dtype=scalar),
        vec3=vec3,
        quat=quat,
        is_other=is_other,
        vector_at=vector_at,
        quaternion_at=quaternion_at,
        row_vector=row_vector,
        rotation_of=rotation_of,
        position_of=position_of,
        rotation_vector=rotation_vector,
        quaternion_of=quaternion_of,
    )


@cache
def joint_kernels(scalar: type) -> SimpleNamespace:
    """The kernels of joints with a number for each dof, and of ball joints."""
    n = number_functions(scalar)
    options, Rows = n.options, n.Rows
    is_other, vector_at, quaternion_at, row_vector = n.is_other, n.vector_at, n.quaternion_at, n.row_vector
    rotation_vector, quaternion_of = n.rotation_vector, n.quaternion_of

    @wp.kernel(**options)
    def take_axes(
        q: Floats,
        qd: Floats,
        q_at: Table,
        qd_at: Table,
        row: wp.array(dtype=int),
        position: Rows,
        velocity: Rows,
    ):
        """Positions and velocities of joints that have one for each dof."""
        k, environment = wp.tid()
        position[row[k], environment] = scalar(q[q_at[k, environment]])
        velocity[row[k], environment] = scalar(qd[qd_at[k, environment]])

    @wp.kernel(**options)
    def take_balls(q: Floats, qd: Floats, q_at: Table, qd_at: Table, row: Table, position: Rows, velocity: Rows):
        """A quaternion and the velocity in the parent-side frame, as rotation vector and in the child-side frame."""
        k, environment = wp.tid()
        turn = quaternion_at(q, q_at[k, environment])
        phi = rotation_vector(turn)
        v = wp.quat_rotate_inv(turn, vector_at(qd, qd_at[k, environment]))
        for i in range(3):
            position[row[k, i], environment] = phi[i]
            velocity[row[k, i], environment] = v[i]

    @wp.kernel(**options)
    def give_axes(
        position: Rows,
        velocity: Rows,
        q_at: Table,
        qd_at: Table,
        row: wp.array(dtype=int),
        q: Floats,
        qd: Floats,
        seen_q: Floats,
        seen_qd: Floats,
    ):
        """The way back of `take_axes`; what is given is also remembered."""
        k, environment = wp.tid()
        a, b = q_at[k, environment], qd_at[k, environment]
        q[a] = wp.float32(position[row[k], environment])
        qd[b] = wp.float32(velocity[row[k], environment])
        seen_q[a] = q[a]
        seen_qd[b] = qd[b]

    @wp.kernel(**options)
    def give_balls(
        position: Rows,
        velocity: Rows,
        q_at: Table,
        qd_at: Table,
        row: Table,
        q: Floats,
        qd: Floats,
        seen_q: Floats,
        seen_qd: Floats,
    ):
        """The way back of `take_balls`; what is given is also remembered."""
        k, environment = wp.tid()
        x, y, z = row[k, 0], row[k, 1], row[k, 2]
        turn = quaternion_of(row_vector(position, x, y, z, environment))
        v = row_vector(velocity, x, y, z, environment)
        v = wp.quat_rotate(turn, v)
        a, b = q_at[k, environment], qd_at[k, environment]
        for i in range(4):
            q[a + i] = wp.float32(turn[i])
            seen_q[a + i] = q[a + i]
        for i in range(3):
            qd[b + i] = wp.float32(v[i])
            seen_qd[b + i] = qd[b + i]

    @wp.kernel(**options)
    def drive_axes(
        target_q: Floats,
        target_qd: Floats,
        force: Floats,
        q_at: Table,
        qd_at: Table,
        row: wp.array(dtype=int),
        follows_velocity: Table,
        seen_q: Floats,
        seen_qd: Floats,
        position_target: Rows,
        velocity_target: Rows,
        effort: Rows,
    ):
        """Targets that are others than those seen last, and efforts."""
        k, environment = wp.tid()
        a, b, i = q_at[k, environment], qd_at[k, environment], row[k]
        if is_other(target_q[a], seen_q[a]):
            seen_q[a] = target_q[a]
            position_target[i, environment] = scalar(target_q[a])
        if is_other(target_qd[b], seen_qd[b]):
            seen_qd[b] = target_qd[b]
            velocity_target[i, environment] = scalar(target_qd[b]) * scalar(follows_velocity[k, environment])
        effort[i, environment] = scalar(force[b])

    @wp.kernel(**options)
    def drive_balls(
        target_q: Floats,
        target_qd: Floats,
        force: Floats,
        q_at: Table,
        qd_at: Table,
        row: Table,
        follows_velocity: Table,
        seen_q: Floats,
        seen_qd: Floats,
        position: Rows,
        position_target: Rows,
        velocity_target: Rows,
        effort: Rows,
    ):
        """The same of ball joints; what Newton gives in the parent-side frame is turned to the child-side one."""
        k, environment = wp.tid()
        a, b = q_at[k, environment], qd_at[k, environment]
        x, y, z = row[k, 0], row[k, 1], row[k, 2]
        turn = quaternion_of(row_vector(position, x, y, z, environment))
        tau = wp.quat_rotate_inv(turn, vector_at(force, b))
        v = wp.quat_rotate_inv(turn, vector_at(target_qd, b)) * scalar(follows_velocity[k, environment])
        is_new = bool(False)
        for i in range(4):
            is_new = is_new or is_other(target_q[a + i], seen_q[a + i])
            seen_q[a + i] = target_q[a + i]
        phi = rotation_vector(quaternion_at(target_q, a))
        for i in range(3):
            if is_new:
                position_target[row[k, i], environment] = phi[i]
            velocity_target[row[k, i], environment] = v[i]
            effort[row[k, i], environment] = tau[i]

    return SimpleNamespace(
        take_axes=take_axes,
        take_balls=take_balls,
        give_axes=give_axes,
        give_balls=give_balls,
        drive_axes=drive_axes,
        drive_balls=drive_balls,
    )


@cache
def link_kernels(scalar: type) -> SimpleNamespace:
    """The kernels of free joints, and of poses, velocities and forces of links."""
    n = number_functions(scalar)
    options, Vectors, vec3, quat = n.options, n.Vectors, n.vec3, n.quat
    vector_at, quaternion_at, rotation_of, position_of = n.vector_at, n.quaternion_at, n.rotation_of, n.position_of

    @wp.kernel(**options)
    def take_roots(
        q: Floats,
        qd: Floats,
        q_at: Table,
        qd_at: Table,
        X_WP: wp.array2d(dtype=wp.transform),
        X_CL: wp.array2d(dtype=wp.transform),
        origin: wp.array(dtype=wp.vec3),
        pose: Vectors,
        velocity: Vectors,
    ):
        """The pose of a free joint between its frames, as that of the link; velocities in the axes of the scene."""
        k, environment = wp.tid()
        X, Y, o = X_WP[k, environment], X_CL[k, environment], origin[k]
        R = rotation_of(X)
        turn = R * quaternion_at(q, q_at[k, environment] + 3)
        p = wp.quat_rotate(R, vector_at(q, q_at[k, environment]))
        p = p + wp.quat_rotate(turn, position_of(Y))
        turn = turn * rotation_of(Y)
        v = wp.quat_rotate(R, vector_at(qd, qd_at[k, environment]))
        w = wp.quat_rotate(R, vector_at(qd, qd_at[k, environment] + 3))
        for i in range(3):
            pose[k, i, environment] = p[i] + scalar(X[i]) - scalar(o[i])
            velocity[k, i, environment] = v[i]
            velocity[k, i + 3, environment] = w[i]
        for i in range(4):
            pose[k, i + 3, environment] = turn[i]

    @wp.kernel(**options)
    def give_roots(
        pose: Vectors,
        velocity: Vectors,
        q_at: Table,
        qd_at: Table,
        X_WP: wp.array2d(dtype=wp.transform),
        X_CL: wp.array2d(dtype=wp.transform),
        origin: wp.array(dtype=wp.vec3),
        q: Floats,
        qd: Floats,
        seen_q: Floats,
        seen_qd: Floats,
    ):
        """The way back of `take_roots`; what is given is also remembered."""
        k, environment = wp.tid()
        X, Y, o = X_WP[k, environment], X_CL[k, environment], origin[k]
        R = rotation_of(X)
        Q = rotation_of(Y)
        p, v, w = vec3(), vec3(), vec3()
        for i in range(3):
            p[i] = pose[k, i, environment] + scalar(o[i]) - scalar(X[i])
            v[i] = velocity[k, i, environment]
            w[i] = velocity[k, i + 3, environment]
        turn = quat()
        for i in range(4):
            turn[i] = pose[k, i + 3, environment]
        turn = wp.quat_inverse(R) * turn * wp.quat_inverse(Q)
        p = wp.quat_rotate_inv(R, p) - wp.quat_rotate(turn, position_of(Y))
        v, w = wp.quat_rotate_inv(R, v), wp.quat_rotate_inv(R, w)
        a, b = q_at[k, environment], qd_at[k, environment]
        for i in range(3):
            q[a + i] = wp.float32(p[i])
            qd[b + i] = wp.float32(v[i])
            qd[b + i + 3] = wp.float32(w[i])
        for i in range(4):
            q[a + i + 3] = wp.float32(turn[i])
        for i in range(7):
            seen_q[a + i] = q[a + i]
        for i in range(6):
            seen_qd[b + i] = qd[b + i]

    @wp.kernel(**options)
    def push_links(
        body_force: wp.array(dtype=wp.spatial_vector),
        joint_force: Floats,
        body: Table,
        free_at: Table,
        place: wp.array(dtype=wp.transform),
        external: Vectors,
    ):
        """Forces and torques about centres of mass: on bodies, and of free joints, with dofs at `free_at` or -1."""
        k, environment = wp.tid()
        X = place[environment]
        R = rotation_of(X)
        wrench = body_force[body[k, environment]]
        free = free_at[k, environment]
        f = vec3(scalar(wrench[0]), scalar(wrench[1]), scalar(wrench[2]))
        t = vec3(scalar(wrench[3]), scalar(wrench[4]), scalar(wrench[5]))
        if free >= 0:
            f = f + vector_at(joint_force, free)
            t = t + vector_at(joint_force, free + 3)
        f, t = wp.quat_rotate_inv(R, f), wp.quat_rotate_inv(R, t)
        for i in range(3):
            external[k, i, environment] = f[i]
            external[k, i + 3, environment] = t[i]

    @wp.kernel(**options)
    def give_bodies(
        pose: Vectors,
        velocity: Vectors,
        body: Table,
        place: wp.array(dtype=wp.transform),
        body_q: wp.array(dtype=wp.transform),
        body_qd: wp.array(dtype=wp.spatial_vector),
    ):
        """Poses of links and velocities of their centres of mass, by where the world of the scene is placed."""
        k, environment = wp.tid()
        X = place[environment]
        R = rotation_of(X)
        p = wp.quat_rotate(R, vec3(pose[k, 0, environment], pose[k, 1, environment], pose[k, 2, environment]))
        turn = R * quat(
            pose[k, 3, environment], pose[k, 4, environment], pose[k, 5, environment], pose[k, 6, environment]
        )
        v = wp.quat_rotate(
            R, vec3(velocity[k, 0, environment], velocity[k, 1, environment], velocity[k, 2, environment])
        )
        w = wp.quat_rotate(
            R, vec3(velocity[k, 3, environment], velocity[k, 4, environment], velocity[k, 5, environment])
        )
        x, y = wp.transform(), wp.spatial_vector()
        for i in range(3):
            x[i] = wp.float32(p[i] + scalar(X[i]))
            y[i] = wp.float32(v[i])
            y[i + 3] = wp.float32(w[i])
        for i in range(4):
            x[i + 3] = wp.float32(turn[i])
        body_q[body[k, environment]] = x
        body_qd[body[k, environment]] = y

    return SimpleNamespace(take_roots=take_roots, give_roots=give_roots, push_links=push_links, give_bodies=give_bodies)


@cache
def change_kernels(scalar: type) -> SimpleNamespace:
    """The kernels that tell what was changed since it was given out, and put values of the start back."""
    n = number_functions(scalar)
    options, is_other = n.options, n.is_other

    @wp.kernel(**options)
    def find_changes(values: Floats, seen: Floats, owner: wp.array(dtype=int), changed: wp.array(dtype=wp.bool)):
        """Mark the owner of each entry that is not as it was given out; entries of -1 have none."""
        k = wp.tid()
        if owner[k] >= 0 and is_other(values[k], seen[k]):
            changed[owner[k]] = True

    @wp.kernel(**options)
    def forget(chosen: wp.array(dtype=wp.bool), world: wp.array(dtype=int), seen: Floats):
        """Have the entries of chosen worlds taken in anew."""
        k = wp.tid()
        if chosen[world[k]]:
            seen[k] = wp.float32(wp.nan)

    @wp.kernel(**options)
    def put_back(chosen: wp.array(dtype=wp.bool), world: wp.array(dtype=int), start: Floats, values: Floats):
        """Give the entries of chosen worlds the values of the start."""
        k = wp.tid()
        if chosen[world[k]]:
            values[k] = start[k]

    return SimpleNamespace(find_changes=find_changes, forget=forget, put_back=put_back)


@cache
def kernels_for(scalar: type) -> SimpleNamespace:
    """The kernels of a simulation whose numbers are of a scalar type."""
    parts = (joint_kernels(scalar), link_kernels(scalar), change_kernels(scalar))
    return SimpleNamespace(**{name: kernel for part in parts for name, kernel in vars(part).items()})
