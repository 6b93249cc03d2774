"""What a device can do at most: multiply-adds on one core or one GPU, and bytes to and from its memory, measured."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import warp as wp

from warp_artic.kernels.launch import BLOCK, OPTIONS
from warp_artic.math.numbers import Numbers, numbers_for, register_numbers

CHAINS = 12
"""Sums that do not wait for each other: more than the latency of two multiply-add units."""
BLOCK_BYTES = 1 << 27
"""Size of what is copied: more than caches hold."""
GPU_THREADS = 1 << 18
RUNS = 50


@dataclass(frozen=True)
class Peak:
    """What a device was seen to do in a second."""

    flops: float
    """Floating-point operations of multiply-adds, two each."""
    flops_apart: float
    """Those of products and sums written as steps write them, one after the other: on a CPU they are not contracted."""
    bytes: float
    """Bytes read and written."""


def measure_peak(device: str, precision: str) -> Peak:
    """Run nothing but x = x m + c, with the flags and lanes of steps, and copy memory; the best of many runs each."""
    on_cpu = wp.get_device(device).is_cpu
    numbers = register_numbers(precision) if on_cpu else numbers_for(precision, False)
    threads, count = (1, 1_000_000) if on_cpu else (GPU_THREADS, 4096)
    out = wp.zeros(threads, dtype=numbers.real, device=device)
    inputs, placed = [out, count], {"device": device, "block_dim": BLOCK}
    operations = 2.0 * CHAINS * count * threads * numbers.lanes
    times = [
        _best(lambda kernel=_sums(numbers, fused): wp.launch(kernel, threads, inputs, **placed), device)
        for fused in (True, False)
    ]
    source, target = (wp.zeros(BLOCK_BYTES // 4, dtype=wp.float32, device=device) for _ in range(2))
    copies = _best(lambda: wp.copy(target, source), device)
    return Peak(*(operations / time for time in times), 2.0 * BLOCK_BYTES / copies)


def _best(run: Callable[[], object], device: str) -> float:
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        run()
        wp.synchronize_device(device)
        times.append(time.perf_counter() - begin)
    return min(times)


@cache
def _sums(numbers: Numbers, fused: bool):
    """A kernel of sums x = x m + c."""
    real, lanes = numbers.real, numbers.lanes
    scalar, size = ("double", 8) if numbers.scalar is wp.float64 else ("float", 4)
    vector = f"typedef {scalar} V __attribute__((ext_vector_type({lanes}), aligned({size})));"
    multiply_add = "__builtin_elementwise_fma" if lanes > 1 else "fma"
    once = f"x[k] = {multiply_add}(x[k], m, c);" if fused else "const V p = x[k] * m; x[k] = p + c;"
    body = f"""
    {vector if lanes > 1 else f"typedef {scalar} V;"}
    V x[{CHAINS}];
    const V m = V(({scalar})0.5), c = *(const V*)&start + V(({scalar})1);
    for (int k = 0; k < {CHAINS}; ++k) x[k] = c * V(({scalar})k);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < {CHAINS}; ++k) {{ {once} }}
    for (int k = 1; k < {CHAINS}; ++k) x[0] += x[k];
    x[0] *= V(({scalar})0.01);  // the next launch starts with it
    {f"wp::vec_t<{lanes}, {scalar}>" if lanes > 1 else scalar} result;
    *(V*)&result = x[0];
    return result;"""

    @wp.func_native(body)
    def sums(start: real, count: int) -> real: ...

    @wp.kernel(**OPTIONS)
    def repeat(out: wp.array(dtype=real), count: int):
        thread = wp.tid()
        out[thread] = sums(out[thread], count)

    return repeat
