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
def replace_by_rates(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """Write the rates of the displacements, at the positions and velocities of the work space, in their place."""
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        if kind == REVOLUTE or kind == PRISMATIC:
            work.shift[item, slot] = work.v[dof, slot]
        if kind == SPHERICAL:
            d = signed_triple(model, work.shift, item, dof, 3, column, slot)
            v = signed_triple(model, work.v, dof, dof, 3, column, slot)
            set_triple(model, work.shift, item, dof, 3, column, slot, spherical.rates(d, v))
        if kind == SWING:
            phi = signed_triple(model, work.position, item, dof, 2, column, slot)
            v = signed_triple(model, work.v, dof, dof, 2, column, slot)
            a_rate, b_rate = swing.rates(phi.x, phi.y, v.x, v.y)
            set_triple(model, work.shift, item, dof, 2, column, slot, vec3(a_rate, b_rate, phi.z))
        if kind == FLOATING:
            row = model.dof_count - model.root_dofs + dof
            e = load_vec3(work.shift, row + 3, slot)
            store_vec3(work.shift, row, slot, load_vec3(work.v, dof, slot))
            store_vec3(work.shift, row + 3, slot, floating.rates(e, load_vec3(work.v, dof + 3, slot)))


@wp.func
def displace_joints(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write the positions that the displacements lead to from those of the state."""
    one = real(1.0, model.gravity[0, column])
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        if kind == REVOLUTE:
            q = state.joint_position[item, column] + work.shift[item, slot]
            work.position[item, slot] = revolute.wrap(q, model.wraps[item, column])
        if kind == PRISMATIC or kind == SWING:
            for k in range(item, item + model.link_dofs[link]):
                work.position[k, slot] = state.joint_position[k, column] + work.shift[k, slot]
        if kind == SPHERICAL:
            phi = signed_triple(model, state.joint_position, item, dof, 3, column, column)
            d = signed_triple(model, work.shift, item, dof, 3, column, slot)
            phi = spherical.wrap(spherical.advance(phi, d, one), model.wraps[item, column])
            set_triple(model, work.position, item, dof, 3, column, slot, phi)
        if kind == FLOATING:
            row = model.dof_count - model.root_dofs + dof
            pose = pose_row(dof)
            p_LM = load_vec3(model.link_frame, 12 * link + 9, column)
            p_0 = load_vec3(state.root_pose, pose, column)
            x_0 = load_vec3(state.root_pose, pose + 3, column)
            d = load_vec3(work.shift, row, slot)
            e = load_vec3(work.shift, row + 3, slot)
            p, x, w = floating.advance(p_0, x_0, state.root_pose[pose + 6, column], p_LM, d, e, one)
            store_vec3(work.root, pose, slot, p)
            store_vec3(work.root, pose + 3, slot, x)
            work.root[pose + 6, slot] = w
