"""Attributes of many prims, written in one call, and changes of them, read in another.

A column is an attribute on a list of prims; columns over the same prims go into one call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from warp_artic.extensions.ovstage.package import ovstage

NUMBER, MATRIX = ovstage.AttributeSemantic.NONE, ovstage.AttributeSemantic.MATRIX
POINT, FLOAT3 = ovstage.AttributeSemantic.POINT, (2, 32, 3)
LATEST = (1 << 64) - 1
"""The end of a range that asks for current values."""


class Prims:
    """Prims of a stage in a fixed order, until it is closed."""

    def __init__(self, stage: ovstage.Stage, paths: Sequence[str]):
        self.stage = stage
        self.paths = tuple(paths)
        self._dictionary = ovstage.PathDictionary(stage)
        self._list = self._dictionary.create_path_list_from_strings(self.paths)
        self._query = stage.query_from_path_list(self._list)

    def missing(self) -> list[str]:
        """Those that are not on the stage."""
        there = {row for _, row, _ in self.read(["usd-path"], ovstage.OrdinalRange.latest(LATEST))}
        return [path for row, path in enumerate(self.paths) if row not in there]

    def write(self, columns: dict[str, np.ndarray], ordinal: int) -> ovstage.Operation:
        """Begin to write columns, a number or a matrix for each prim; the operation is to be waited for."""
        writes = [
            ovstage.WriteDesc(name, values, is_array=False, semantic=NUMBER if values.ndim == 1 else MATRIX)
            for name, values in columns.items()
        ]
        return self.stage.write_attributes(self._query, writes, ordinal)

    def write_points(self, attribute: str, points: Sequence[np.ndarray], ordinal: int) -> ovstage.Operation:
        """Begin to write an array of points (N, 3) for each prim; the operation is to be waited for."""
        arrays = [np.ascontiguousarray(own, np.float32) for own in points]
        tensors = [ovstage.make_dltensor(own, dtype=FLOAT3, shape=[len(own)], ndim=1) for own in arrays]
        write = ovstage.WriteDesc(attribute, tensors, is_array=True, semantic=POINT)
        return self.stage.write_attributes(self._query, [write], ordinal)

    def read(
        self, attributes: Sequence[str], ordinals: ovstage.OrdinalRange
    ) -> Iterator[tuple[str, int, np.ndarray | None]]:
        """What of attributes is in a range of ordinals: attribute, row of the prim, and value, or None if deleted."""
        tokens = {self.token(name): name for name in attributes}
        with self.stage.read_attributes(self._query, list(tokens), ordinals) as read:
            for group in read.wait().groups():
                with group:
                    for local in range(group.prim_count):
                        yield tokens[group.attribute], group.prim_index(local), _value(group, local)

    def token(self, attribute: str) -> int:
        """The token of a name."""
        return self._dictionary.intern_token(attribute)

    def close(self) -> None:
        """Give back what ovstage keeps for this; a stage that is destroyed keeps nothing."""
        try:
            self._query.release().wait()
            self._list.release()
        except ovstage.OvstageError as error:
            if error.code != ovstage.ErrorCode.INVALID_HANDLE:
                raise


def _value(group: ovstage.ReadGroup, local: int) -> np.ndarray | None:
    """A copy of the value of a prim of a group; None if it is deleted."""
    if group.is_delete:
        return None
    row = group.data_row_index(local)
    return (group.array(row) if group.is_array else group.array(0)[row]).copy()
