"""What compilers are told of the arrays of a struct."""

import numpy as np
import warp as wp

from warp_artic.meshes.layout import with_known_layout


@wp.struct
class Tables:
    """One type in one and two dimensions."""

    row: wp.array(dtype=wp.vec3)
    table: wp.array2d(dtype=wp.vec3)
    numbers: wp.array2d(dtype=float)
    blocks: wp.array3d(dtype=float)


known_tables = with_known_layout(Tables)


@wp.kernel(enable_backward=False, module="unique")
def fill(given: Tables):
    """Each entry gets its place."""
    tables = known_tables(given)
    i, j = wp.tid()
    tables.row[j] = wp.vec3(float(j))
    tables.table[i, j] = wp.vec3(float(10 * i + j))
    tables.numbers[i, j] = float(10 * i + j)
    tables.blocks[i, j, 1] = float(10 * i + j)


def test_arrays_of_one_type_differ_in_dimensions():
    """No entry is put where another one is, whatever else the struct has."""
    tables = Tables()
    tables.row, tables.table = (wp.zeros(shape, dtype=wp.vec3, device="cpu") for shape in (4, (3, 4)))
    tables.numbers, tables.blocks = (wp.zeros(shape, dtype=float, device="cpu") for shape in ((3, 4), (3, 4, 2)))
    wp.launch(fill, (3, 4), [tables], device="cpu")
    places = 10.0 * np.arange(3)[:, None] + np.arange(4)
    np.testing.assert_array_equal(tables.row.numpy()[:, 0], np.arange(4))
    np.testing.assert_array_equal(tables.table.numpy()[..., 0], places)
    np.testing.assert_array_equal(tables.numbers.numpy(), places)
    np.testing.assert_array_equal(tables.blocks.numpy()[..., 1], places)
