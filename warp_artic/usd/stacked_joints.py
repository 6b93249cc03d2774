"""Several joints between the same two bodies that stack: each moves what the one before it carries.

In the order of the stage: parent, joint 1, massless link 1, joint 2, massless link 2, ..., child. A massless link is
one without mass, which is where the child is while no joint is displaced. Joints stack where their articulation root
says so (`newton:jointsAddMobility`), and where it says nothing and all of them are joints of the MuJoCo dialect, in
which joints of one body always do. Any other two joints between the same two bodies close a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from pxr import Usd

from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.spanning_forest import Branch, Edge, Tree
from warp_artic.description.start_pose import displacement
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.lookup import DOF_FIELDS, resolve
from warp_artic.usd.read_dof import instances_of
from warp_artic.usd.read_limit import read_freedom
from warp_artic.usd.read_start import ROTATION, TRANSLATION

ADDS_MOBILITY = "newton:jointsAddMobility"
INDEPENDENT = 1e-6
"""Smallest singular value of the axes of a stack, relative to the largest."""


def find_stacks(
    tree: Tree,
    edges: list[Edge],
    joints: list[JointEnds],
    roots: Iterable[str],
    inventory: Inventory,
    attributes: Attributes,
) -> dict[int, tuple[int, ...]]:
    """The edges of each stack, in order, by the edge that is the branch."""
    marked = [inventory.roots[root] for root in roots]
    said = [attributes.flag(prim, ADDS_MOBILITY, False) for prim in marked if ADDS_MOBILITY in attributes.names(prim)]
    stacks = {}
    for branch in tree.branches:
        ends = (branch.parent, branch.child)
        same = [edge for edge in tree.closing if (edges[edge].body0, edges[edge].body1) == ends]
        stack = tuple(sorted((branch.edge, *same)))
        prims = [joints[edge].prim for edge in stack]
        adds = any(said) if said else all(inventory.has_schema(prim, tokens.MJC_JOINT) for prim in prims)
        moves = all(prim.GetTypeName() != tokens.FIXED_JOINT for prim in prims)
        if same and adds and moves and not branch.is_reversed(edges):
            stacks[branch.edge] = stack
    return stacks


def massless_links(
    stack: list[JointEnds], parent: Link | None, inventory: Inventory, attributes: Attributes
) -> list[Link]:
    """The links between the joints of a stack, where states put them; each by the path of the joint that carries it."""
    pose, found = Pose() if parent is None else parent.pose, []
    for number, ends in enumerate(stack[:-1]):
        before = ends.end1.frame if number else ends.end0.frame
        pose = pose @ before @ _authored_displacement(ends.prim, inventory, attributes) @ ends.end1.frame.inverse()
        found.append(Link(path=ends.path, mass=0.0, inertia=(0.0,) * 6, pose=pose))
    return found


def _authored_displacement(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> Pose:
    """Of a joint by its authored state; none where it has none."""
    freedom, path, dofs = read_freedom(prim, inventory, attributes), str(prim.GetPath()), []
    for axis in freedom.limits:
        sources = DOF_FIELDS["position"]
        reading = resolve(attributes, prim, "position", sources, instances_of(prim, axis), axis.is_linear)
        dofs.append(Dof(name=path, axis=axis, position=0.0 if reading is None else float(reading.value)))
    return displacement(Joint(path=path, parent=WORLD, child=0, dofs=tuple(dofs), cone_axis=freedom.cone_axis))


def stacked_ends(stack: list[JointEnds]) -> list[JointEnds]:
    """The joints of a stack between the parent, its massless links and the child."""
    first, *others = stack
    return [first, *(replace(ends, end0=replace(ends.end1, body=before.path)) for before, ends in zip(stack, others))]


def stacked_branches(edges: tuple[int, ...], parent: int, child: int, first_massless: int) -> list[Branch]:
    """The same joints as branches; links by index."""
    links = [parent, *range(first_massless, first_massless + len(edges) - 1), child]
    return [Branch(*ends) for ends in zip(edges, links, links[1:])]


def meet_at_zero(stack: list[JointEnds], child: Link, attributes: Attributes) -> bool:
    """Whether the frames of all joints of a stack have the child at one place while no joint is displaced."""
    first, *others = stack
    X_PL = first.end0.frame @ first.end1.frame.inverse()
    fits = True
    for ends in others:
        X = X_PL.inverse() @ ends.end0.frame @ ends.end1.frame.inverse()
        distance, angle = np.linalg.norm(X.position), np.linalg.norm(rotation_vector_from_matrix(X.rotation))
        if distance > TRANSLATION or angle > ROTATION:
            found = f"{1e3 * distance:.4g} mm and {np.degrees(angle):.4g} degrees from where those of {first.path} do"
            text = f"stacks on {first.path}, but its frames put {child.path} at zero {found}; they must agree"
            attributes.report.error("stacked-joints", ends.path, text)
            fits = False
    if fits:
        names = ", ".join(ends.path for ends in stack)
        text = f"is carried by {len(stack)} joints that stack, each moving what the one before it carries: {names}"
        attributes.report.note("stacked-joints", child.path, text)
    if any(child.linear_velocity) or any(child.angular_velocity):
        text = "has a velocity, which is not used: joints that stack carry it; author velocities of the joints"
        attributes.report.warn("velocity-violates-joint", child.path, text)
    return fits


def are_independent(stack: list[Joint], child: Link, attributes: Attributes) -> bool:
    """Whether each axis of a stack moves the child in a way of its own; else motion between them has no inertia."""
    columns = []
    for joint in stack:
        R, p = joint.child_frame.rotation, np.asarray(joint.child_frame.position)
        for dof in joint.dofs:
            axis = R[:, dof.axis.index]
            columns.append([*axis, 0, 0, 0] if dof.axis.is_linear else [*np.cross(p, axis), *axis])
    values = np.linalg.svd(np.array(columns), compute_uv=False)
    if len(columns) <= 6 and values[-1] > INDEPENDENT * values[0]:
        return True
    if all(dof.armature > 0.0 for joint in stack for dof in joint.dofs):
        return True
    text = f"is carried by {len(stack)} joints that stack, but whose axes are not independent; give them armature"
    attributes.report.error("stacked-joints", child.path, text)
    return False
