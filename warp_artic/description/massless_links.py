"""A joint that leaves translations free beside other axes becomes joints one after the other, between massless links.

    X_01 = shift along x, y, z, then turn     parent, transX, massless, transY, massless, ..., rotations, child
    X_10 = X_01^-1 where it is reversed       parent, rotations, massless, ..., transY, massless, transX, child

So does a universal joint, which leaves the twist (about x) and one swing (about u, which is y or z) free:

    R_01 = R_u(b) R_x(a)                      parent, swing, massless, twist, child
    R_10 = R_x(-a) R_u(-b)                    parent, twist, massless, swing, child

The swing is about an axis of the first frame and the twist about one of the second, so the x axis of the second frame
stays orthogonal to the axis u of the first, at any angles. The PhysX guide names the other swing axis of the first
frame there. That cannot be: near zero it would leave free the twist and the swing about that axis.

A massless link is named after the last dof that moves it. All joints that are made of one have its
path, and together its dofs, in its order.
"""

from __future__ import annotations

from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose


def with_massless_links(articulation: Articulation) -> Articulation:
    """The same mechanism of joints with one translation, one rotation, both swings, or three rotations.

    Its massless links are the last links.
    """
    links, joints = list(articulation.links), []
    for joint in articulation.joints:
        joints += _in_a_row(joint, links)
    if len(joints) == len(articulation.joints):
        return articulation
    return replace(articulation, links=tuple(links), joints=tuple(joints))


def _in_a_row(joint: Joint, links: list[Link]) -> list[Joint]:
    """The joints that one is made of; their massless links are added to the links."""
    groups = [(dof,) for dof in joint.dofs if dof.axis.is_linear]
    if joint.is_universal:
        groups += [(dof,) for dof in sorted(joint.rotations, key=lambda dof: dof.axis is joint.cone_axis)]
    elif joint.rotations:
        groups.append(joint.rotations)
    if len(groups) < 2:
        return [joint]
    if joint.reversed:
        groups.reverse()
    ends = [joint.parent, *range(len(links), len(links) + len(groups) - 1), joint.child]
    frames = [joint.parent_frame, *[Pose()] * (len(groups) - 1)], [*[Pose()] * (len(groups) - 1), joint.child_frame]
    row = [
        replace(joint, parent=parent, child=child, parent_frame=X_PF, child_frame=X_LM, dofs=dofs)
        for parent, child, X_PF, X_LM, dofs in zip(ends, ends[1:], *frames, groups)
    ]
    share = links[joint.child].gravity_scale
    links += [Link(path=one.dofs[-1].name, mass=0.0, inertia=(0.0,) * 6, gravity_scale=share) for one in row[:-1]]
    return sorted(row, key=lambda one: joint.dofs.index(one.dofs[0]))
