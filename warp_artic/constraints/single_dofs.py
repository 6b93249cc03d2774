"""Rows on single dofs of joints."""

from collections.abc import Callable

from warp_artic.description.joint import Dof, Joint
from warp_artic.model.dofs import DofLayout
from warp_artic.model.row import Place


def places_of_dofs(layout: DofLayout, has_row: Callable[[Dof], bool]) -> list[Place]:
    """A row on each dof of which that is said."""
    return places_of_joints(layout, lambda joint, dof: has_row(dof), is_whole=False)


def places_of_joints(layout: DofLayout, has_row: Callable[[Joint, Dof], bool], is_whole: bool) -> list[Place]:
    """A row for each dof of a joint of which that is said, on that dof, or on the whole joint."""
    found = []
    for joint in layout.articulation.joints:
        whole = layout.of_joint(joint)
        for own, dof in zip(whole, joint.dofs):
            if has_row(joint, dof):
                found.append(Place(layout.place(joint), whole if is_whole else (own,), own - layout.root_dofs))
    return found
