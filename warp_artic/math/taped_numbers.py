"""Numbers that leave on a tape what they are made of, for derivatives backward: `math.taped_functions`, on a CPU."""

from functools import cache

import warp as wp

from warp_artic.math import numbers as of_all
from warp_artic.math import spatial
from warp_artic.math.numbers import Numbers
from warp_artic.math.taped_functions import taped_compounds, taped_functions


@cache
def taped_numbers_for(precision: str) -> Numbers:
    """The taped numbers of a precision ("float32" or "float64"), of one environment.

    Functions know them from the first call on, as those of dual numbers.
    """
    n = of_all
    scalar, half = (wp.float64, wp.uint64) if precision == "float64" else (wp.float32, wp.int64)
    taped = wp.types.vector(length=2, dtype=half)
    lanes = wp.types.type_size_in_bytes(taped) // wp.types.type_size_in_bytes(scalar)
    numbers = of_all.numbers_of(lanes, scalar, taped, is_dual=True, is_taped=True)
    taped_functions(numbers, n.add, n.sub, n.mul, n.div, n.neg, n.real, n.sqrt, n.sine, n.cosine, n.arctan2, n.minimum,
                    n.maximum, n.absolute, n.where_positive, n.any_positive, n.is_finite,
                    n.with_derivatives)  # fmt: skip
    of_all.compound_functions(numbers, n.add, n.sub, n.mul, n.neg, n.vec3, n.mat3, n.sym3)
    taped_compounds(numbers, n.mul, spatial.dot, spatial.cross, spatial.transpose_mul, spatial.skew_mul_sym,
                    spatial.shift_rotational, spatial.sym_less, spatial.mat_less)  # fmt: skip
    return numbers
