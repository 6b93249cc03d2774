"""Which links the spatial tendons of an articulation pass, which is the same in equal trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.description.articulation import Articulation


@dataclass(frozen=True)
class Routes:
    """Attachments and leaves of all tendons are counted through."""

    attachment_link: tuple[int, ...] = ()
    attachment_parent: tuple[int, ...] = ()
    """The attachment before each, towards the root; of a root itself."""
    leaf_tendon: tuple[int, ...] = ()
    leaf_segments: tuple[tuple[int, ...], ...] = ()
    """The outer attachment of each segment, from the leaf to the root."""
    all_segments: tuple[bool, ...] = ()
    """Force routing of each tendon."""

    @property
    def leaf_links(self) -> tuple[tuple[int, ...], ...]:
        """The links that each leaf's sub-tendon passes."""
        return tuple(
            tuple(
                dict.fromkeys(
                    self.attachment_link[end] for outer in segments for end in (outer, self.attachment_parent[outer])
                )
            )
            for segments in self.leaf_segments
        )

    @property
    def first_segments(self) -> list[int]:
        """Where the segments of each leaf start."""
        counts = [len(own) for own in self.leaf_segments]
        return [sum(counts[:leaf]) for leaf in range(len(counts))]


def routes_of(articulation: Articulation) -> Routes:
    """The routes of the spatial tendons of an articulation."""
    links: list[int] = []
    parents: list[int] = []
    leaf_tendon: list[int] = []
    leaf_segments: list[tuple[int, ...]] = []
    for index, tendon in enumerate(articulation.spatial_tendons):
        first = len(links)
        links += [attachment.link for attachment in tendon.attachments]
        parents += [
            first + (attachment.parent if attachment.parent is not None else own)
            for own, attachment in enumerate(tendon.attachments)
        ]
        for leaf in tendon.leaves:
            segments, outer = [], first + leaf.attachment
            while parents[outer] != outer:
                segments.append(outer)
                outer = parents[outer]
            leaf_tendon.append(index)
            leaf_segments.append(tuple(segments))
    return Routes(
        tuple(links),
        tuple(parents),
        tuple(leaf_tendon),
        tuple(leaf_segments),
        tuple(tendon.all_segments for tendon in articulation.spatial_tendons),
    )


def leaf_dof_terms(tree, family) -> list[int]:
    """For each leaf and dof the place of the dof among the terms of the row of the leaf in a family."""
    places = np.zeros((len(tree.structure_of(family).leaf_segments), tree.dof_count), int)
    for row in tree.rows:
        if row.family is family:
            places[row.item, list(row.dofs)] = np.arange(len(row.dofs))
    return list(places.ravel())
