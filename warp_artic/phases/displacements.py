"""Displacements d of the joints since the start of a step: smooth coordinates of where they are, and their rates.

    revolute, prismatic:   q = q_0 + d,                          ddot = v
    two free rotations:    (a, b) = (a_0, b_0) + d,              ddot of `joints.swing` at (a, b)
    three free rotations:  R_FM = exp(phi_0) exp(d),             ddot of `joints.spherical` at d
    free root:             p_WM = p_0 + d,  R_WM = exp(e) R_0,   ddot = v_M, edot of `joints.floating` at e
They are in `work.shift`: joint dofs first, in their public direction, and the six of each free root, d and e, last.
"""

import warp as wp

from warp_artic.joints import floating, revolute, spherical, swing
from warp_artic.math.numbers import add, mul, real, vec3  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.kinds import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, SWING
from warp_artic.model.roots import pose_row
from warp_artic.phases.integrate import set_triple
from warp_artic.phases.kinematics import signed_triple


@wp.func
def replace_by_rates(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write the rates of the displacements, at the positions and velocities of the work space, in their place."""
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        if kind == REVOLUTE or kind == PRISMATIC:
            work.shift[item, worker] = work.v[dof, worker]
        if kind == SPHERICAL:
            d = signed_triple(model, work.shift, item, dof, 3, block, worker)
            v = signed_triple(model, work.v, dof, dof, 3, block, worker)
            set_triple(model, work.shift, item, dof, 3, block, worker, spherical.rates(d, v))
        if kind == SWING:
            phi = signed_triple(model, work.position, item, dof, 2, block, worker)
            v = signed_triple(model, work.v, dof, dof, 2, block, worker)
            a_rate, b_rate = swing.rates(phi.x, phi.y, v.x, v.y)
            set_triple(model, work.shift, item, dof, 2, block, worker, vec3(a_rate, b_rate, phi.z))
        if kind == FLOATING:
            row = model.dof_count - model.root_dofs + dof
            e = load_vec3(work.shift, row + 3, worker)
            store_vec3(work.shift, row, worker, load_vec3(work.v, dof, worker))
            store_vec3(work.shift, row + 3, worker, floating.rates(e, load_vec3(work.v, dof + 3, worker)))


@wp.func
def displace_joints(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write the positions that the displacements lead to from those of the state."""
    one = real(1.0, model.gravity[0, block])
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        if kind == REVOLUTE:
            q = state.joint_position[item, block] + work.shift[item, worker]
            work.position[item, worker] = revolute.wrap(q, model.wraps[item, block])
        if kind == PRISMATIC or kind == SWING:
            for k in range(item, item + model.link_dofs[link]):
                work.position[k, worker] = state.joint_position[k, block] + work.shift[k, worker]
        if kind == SPHERICAL:
            phi = signed_triple(model, state.joint_position, item, dof, 3, block, block)
            d = signed_triple(model, work.shift, item, dof, 3, block, worker)
            phi = spherical.wrap(spherical.advance(phi, d, one), model.wraps[item, block])
            set_triple(model, work.position, item, dof, 3, block, worker, phi)
        if kind == FLOATING:
            row = model.dof_count - model.root_dofs + dof
            pose = pose_row(dof)
            p_LM = load_vec3(model.link_frame, 12 * link + 9, block)
            p_0 = load_vec3(state.root_pose, pose, block)
            x_0 = load_vec3(state.root_pose, pose + 3, block)
            d = load_vec3(work.shift, row, worker)
            e = load_vec3(work.shift, row + 3, worker)
            p, x, w = floating.advance(p_0, x_0, state.root_pose[pose + 6, block], p_LM, d, e, one)
            store_vec3(work.root, pose, worker, p)
            store_vec3(work.root, pose + 3, worker, x)
            work.root[pose + 6, worker] = w
