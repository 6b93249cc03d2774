"""C functions of another library called in a loop in C, for benchmarks: from Python, a call takes as long as they do.

Warp compiles the loop. The functions take a model and data first, as those of MuJoCo do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np
import warp as wp


class Writer(IntEnum):
    """What a function that writes a result takes after the model and data."""

    RESULT = 0
    """The result."""
    OPTION_RESULT = 1
    """An option, and the result."""
    HALVES_ITEM = 2
    """The first and second half of the result, and the number of the item, counted from 1."""


RESULT = wp.constant(int(Writer.RESULT))
OPTION_RESULT = wp.constant(int(Writer.OPTION_RESULT))


@wp.func_native("((void (*)(void*, void*))function)((void*)model, (void*)data);")
def call(function: wp.uint64, model: wp.uint64, data: wp.uint64):
    """Call f(model, data)."""


@wp.func_native("((void (*)(void*, void*, double*))function)((void*)model, (void*)data, (double*)result);")
def write(function: wp.uint64, model: wp.uint64, data: wp.uint64, result: wp.uint64):
    """Call f(model, data, result)."""


@wp.func_native("((void (*)(void*, void*, int, double*))function)((void*)model, (void*)data, option, (double*)result);")
def write_with_option(function: wp.uint64, model: wp.uint64, data: wp.uint64, option: int, result: wp.uint64):
    """Call f(model, data, option, result)."""


@wp.func_native("""
    ((void (*)(void*, void*, double*, double*, int))function)(
        (void*)model, (void*)data, (double*)result, (double*)second, item);""")
def write_halves(
    function: wp.uint64, model: wp.uint64, data: wp.uint64, result: wp.uint64, second: wp.uint64, item: int
):
    """Call f(model, data, result, second, item)."""


@wp.kernel(enable_backward=False, module="unique")
def repeat(
    functions: wp.array(dtype=wp.uint64),
    writer: wp.uint64,
    form: int,
    option: int,
    model: wp.uint64,
    data: wp.uint64,
    results: wp.uint64,
    environments: int,
    items: int,
    size: int,
    count: int,
):
    """Evaluate all environments `count` times."""
    for _evaluation in range(count):
        result = results
        for _environment in range(environments):
            for k in range(functions.shape[0]):
                call(functions[k], model, data)
            for item in range(items):
                if form == RESULT:
                    write(writer, model, data, result)
                elif form == OPTION_RESULT:
                    write_with_option(writer, model, data, option, result)
                else:
                    write_halves(writer, model, data, result, result + wp.uint64(4 * size), item + 1)
                result += wp.uint64(8 * size)


def c_loop(
    functions: Sequence[int], writer: int, form: Writer, results: np.ndarray, option: int = 0
) -> Callable[[int, int, int], None]:
    """A function of the addresses of a model and data, and of a number of evaluations of all environments.

    Args:
        functions: Addresses of the functions that are called first for each environment.
        writer: Address of the function that is then called for each item.
        form: What the writer takes.
        results: Of all environments, float64, contiguous, shape (environments, items, size).
        option: Of the writer.
    """
    addresses = wp.array(list(functions), dtype=wp.uint64, device="cpu")

    def evaluate(model: int, data: int, count: int) -> None:
        shape = results.shape
        inputs = [addresses, writer, int(form), option, model, data, results.ctypes.data, *shape, count]
        wp.launch(repeat, dim=1, inputs=inputs, device="cpu")

    return evaluate
