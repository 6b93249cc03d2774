"""Finds the points at which colliders of a large stage touch, or may touch within a step; rooms grow as they need."""

from __future__ import annotations

import warp as wp

from warp_artic.collision.places import PLACE_ROWS
from warp_artic.islands.broad_phase import broad_phase_kernels
from warp_artic.islands.narrow_phase import MAX_CANDIDATES, narrow_phase_kernels
from warp_artic.sim.islands.launches import exclusive_sums
from warp_artic.sim.islands.layout import IslandLayout

GROWTH = 1.5
"""By how much more room is made than is needed."""
LEAST_ROOM = 64


class Detection:
    """Boxes, pairs that come near, and points, in the order of their keys."""

    def __init__(self, layout: IslandLayout, precision: str):
        self._layout = layout
        self._broad = broad_phase_kernels(precision)
        self._narrow = narrow_phase_kernels(precision)
        count = layout.environments * layout.colliders.coarse
        self._counts, self._starts = layout.zeros(count, int), layout.zeros(count, int)
        self._boxes: wp.Bvh | None = None
        self._fine: wp.Bvh | None = None
        self._room = 0
        self._make_room(LEAST_ROOM)

    def find(self, h: float, ahead: float, old) -> int:
        """Find what may touch within a time, with the links as they were taken; returns the number of points.

        What pressed in the step before, by its `old` points, is found a time `ahead`.
        """
        layout = self._layout
        self._pairs = self._find_pairs(h)
        if not self._pairs:
            return 0
        inputs = [layout.colliders, layout.solids, layout.bodies, self._firsts, self._seconds]
        inputs += [layout.points_of_kinds, h, ahead, old, self._candidates, self._point_counts]
        self._launch(self._narrow.find, (self._pairs,), inputs)
        return self._scanned(self._point_counts, self._point_starts, self._pairs)

    def write(self, points, ahead: float, old) -> None:
        """Write the points that were found."""
        if self._pairs:
            layout = self._layout
            inputs = [layout.colliders, layout.solids, layout.bodies, self._firsts, self._seconds]
            inputs += [layout.points_of_kinds, ahead, old, self._candidates, self._point_starts, points]
            self._launch(self._narrow.list_points, (self._pairs,), inputs)

    def _find_pairs(self, h: float) -> int:
        """List the pairs that come near each other; says how many there are."""
        layout, solids, colliders = self._layout, self._layout.solids, self._layout.colliders
        dim = layout.environments, colliders.coarse
        if self._boxes is None:
            every = layout.environments, colliders.count
            self._launch(self._broad.place, every, [colliders, layout.bodies, h, solids])
            self._boxes = wp.Bvh(solids.lower, solids.upper, groups=layout.solid_environments)
            if colliders.coarse < colliders.count:
                self._fine = wp.Bvh(solids.fine_lower, solids.fine_upper)
        else:
            self._launch(self._broad.place, dim, [colliders, layout.bodies, h, solids])
            self._boxes.rebuild()
        fine = self._boxes if self._fine is None else self._fine
        given = [colliders, layout.joint_filters, solids, self._boxes.id, fine.id, layout.planes]
        room = [self._starts, self._counts, self._firsts, self._seconds]
        self._launch(self._broad.count_pairs, dim, [*given, 0, *room])
        total = self._scanned(self._counts, self._starts, self._counts.shape[0])
        self._make_room(total)
        room = [self._starts, self._counts, self._firsts, self._seconds]
        if total:
            self._launch(self._broad.count_pairs, dim, [*given, 1, *room])
        return total

    def _make_room(self, pairs: int) -> None:
        if pairs > self._room:
            layout, room = self._layout, int(GROWTH * pairs)
            self._room = room
            self._firsts, self._seconds = layout.zeros(room, int), layout.zeros(room, int)
            self._point_counts, self._point_starts = layout.zeros(room, int), layout.zeros(room, int)
            self._candidates = wp.zeros((PLACE_ROWS * MAX_CANDIDATES, room), dtype=layout.types.T, device=layout.device)

    def _scanned(self, counts: wp.array, starts: wp.array, size: int) -> int:
        """Write where the entries of each begin; says how many there are."""
        exclusive_sums(counts, starts, size)
        return _entry(starts, size - 1) + _entry(counts, size - 1)

    def _launch(self, kernel: wp.Kernel, dim: tuple[int, ...], inputs: list) -> None:
        self._layout.launch(kernel, dim, inputs)


def _entry(array: wp.array, place: int) -> int:
    """One number of an array, read from where it is."""
    return int(array.numpy()[place] if array.device.is_cpu else array[place : place + 1].numpy()[0])
