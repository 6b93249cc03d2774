"""All kernels of contacts that are solved by islands, by names for people."""

import warp as wp

from warp_artic.islands.broad_phase import broad_phase_kernels
from warp_artic.islands.earlier_points import match_kernel
from warp_artic.islands.exchange import exchange_kernels, single_body_kernels, tree_kernels
from warp_artic.islands.find_islands import island_kernel
from warp_artic.islands.narrow_phase import narrow_phase_kernels
from warp_artic.islands.predicted_motion import prediction_kernel
from warp_artic.islands.responses import response_kernels
from warp_artic.islands.solve import solve_kernel
from warp_artic.islands.take_rows import take_rows_kernel


def island_kernels(precision: str) -> dict[str, wp.Kernel]:
    """Those of a precision, "float32" or "float64"."""
    found = {"find_islands": island_kernel(precision), "solve": solve_kernel(precision)}
    found["take_rows"] = take_rows_kernel(precision)
    found["match"] = match_kernel(precision)
    found["predict_motion"] = prediction_kernel(precision)
    exchange = exchange_kernels, single_body_kernels, tree_kernels
    for makers in (narrow_phase_kernels, broad_phase_kernels, response_kernels, *exchange):
        found |= {name: one for name, one in vars(makers(precision)).items() if isinstance(one, wp.Kernel)}
    return {f"{name} of islands, {precision}": kernel for name, kernel in found.items()}
