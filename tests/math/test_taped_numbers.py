"""Numbers on a tape: values bitwise those of scalars, and derivatives along the tape against those by hand."""

import ctypes
import struct

import numpy as np
import pytest
import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    absolute,
    add,
    any_positive,
    arctan2,
    cosine,
    div,
    is_finite,
    mat3,
    maximum,
    minimum,
    mul,
    neg,
    numbers_for,
    real,
    sine,
    sqrt,
    sub,
    sym3,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot, mat_less, shift_rotational, skew_mul_sym, sym_less, transpose_mul
from warp_artic.math.taped_functions import ENTRY, FIRST, LONGEST, NEXT, TAPE_BYTES
from warp_artic.math.taped_numbers import taped_numbers_for
from warp_artic.sim.derivatives.taped_twin import Tape

LEAVES = 21
RESULTS = 67
SINGULAR = 6
"""Results at zero, at infinity and of what is no number."""


def results_of(numbers, given: np.ndarray) -> np.ndarray:
    """What a kernel finds of numbers of a type, all functions and compounds, as their scalars."""
    T = numbers.real

    @wp.kernel(enable_backward=False, module="unique")
    def functions(a: wp.array(dtype=T), b: wp.array(dtype=T)):
        x = a[0]
        y = a[1]
        b[0] = x + y
        b[1] = x - y
        b[2] = x * y
        b[3] = x / y
        b[4] = neg(x)
        b[5] = sqrt(absolute(x))
        b[6] = sine(x)
        b[7] = cosine(x)
        b[8] = arctan2(x, y)
        b[9] = minimum(x, y)
        b[10] = maximum(x, y)
        b[11] = absolute(y)
        b[12] = where_positive(y, x, real(2.0, x)) + real(wp.float64(3.0), x) + is_finite(x)
        b[13] = x * x - real(2.0, x) * x + x / real(3.0, x) - (real(1.0, x) - x)
        if any_positive(y - x):
            b[13] = x * y
        r = vec3(a[0], a[1], a[2])
        v = vec3(a[3], a[4], a[5])
        A = sym3(a[6], a[7], a[8], a[9], a[10], a[11])
        B = mat3(vec3(a[12], a[13], a[14]), vec3(a[15], a[16], a[17]), vec3(a[18], a[19], a[20]))
        C = mat3(v, vec3(a[15], a[1], a[17]), r)
        s = shift_rotational(A, B, C, r)
        t = sym_less(A, v, a[20])
        m = skew_mul_sym(r, A)
        n = mat_less(B, r, v)
        for part in range(2):
            if part == 1:
                s = t
                m = n
            first = 14 + 15 * part
            b[first] = s.xx
            b[first + 1] = s.xy
            b[first + 2] = s.xz
            b[first + 3] = s.yy
            b[first + 4] = s.yz
            b[first + 5] = s.zz
            for row in range(3):
                u = m.x
                if row == 1:
                    u = m.y
                if row == 2:
                    u = m.z
                b[first + 6 + 3 * row] = u.x
                b[first + 7 + 3 * row] = u.y
                b[first + 8 + 3 * row] = u.z
        for part in range(4):
            w = B * r
            if part == 1:
                w = A * r
            if part == 2:
                w = transpose_mul(B, r)
            if part == 3:
                w = cross(r, v)
            b[44 + 3 * part] = w.x
            b[45 + 3 * part] = w.y
            b[46 + 3 * part] = w.z
        b[56] = dot(r, v)
        b[57] = r.x * r.x + v.x * r.x
        b[58] = real(0.0, x) * x
        b[59] = x - x
        b[60] = real(5.0, x)
        zero = x - x
        infinite = real(1.0, x) / real(0.0, x)
        b[61] = sqrt(zero)
        b[62] = arctan2(zero, zero)
        b[63] = infinite * x
        b[64] = infinite * zero
        b[65] = x / zero
        b[66] = x / infinite

    a = wp.array(given, dtype=T, device="cpu")
    b = wp.zeros(RESULTS, dtype=T, device="cpu")
    wp.launch(functions, dim=1, inputs=[a, b], device="cpu")
    return b.numpy()


def taped(precision: str, values: np.ndarray, tape: Tape, first: int = FIRST + ENTRY * LEAVES):
    """Values of the results, and their derivatives by the numbers, pulled back along the tape one by one.

    The first node after the leaves, where a tape begins, is at `first`.
    """
    numbers = taped_numbers_for(precision)
    begin = tape.address
    memory = np.ctypeslib.as_array((ctypes.c_uint8 * (1 << 16)).from_address(begin))
    memory[: FIRST + ENTRY * LEAVES] = 0
    memory[NEXT : NEXT + 8].view(np.uint64)[0] = begin + first
    given = np.zeros((LEAVES, 2), np.uint64)
    given.view(precision).reshape(LEAVES, -1)[:, 0] = values
    given[:, 1] = begin + FIRST + ENTRY * np.arange(LEAVES)
    half = wp.dtype_to_numpy(numbers.real._wp_scalar_type_)
    found = results_of(numbers, given.view(half)).view(np.uint64)
    end = int(memory[NEXT : NEXT + 8].view(np.uint64)[0]) - begin
    slopes = np.zeros((RESULTS, LEAVES))
    for result, node in enumerate(found[:, 1]):
        if node:
            slopes[result] = pulled_back(bytes(memory[:end]), int(node) - begin)
    return np.ascontiguousarray(found).view(precision).reshape(RESULTS, -1)[:, 0], slopes


def pulled_back(tape: bytes, of: int) -> list[float]:
    """Derivatives of a node by the leaves, as `math.taped_functions` says what is on a tape."""
    adjoints, end = {of: 1.0}, len(tape)
    while end > FIRST + ENTRY * LEAVES:
        node = end - ENTRY
        length = struct.unpack_from("<I", tape, node + 8)[0]
        for entry in range(node - length, node, ENTRY):
            by, place = struct.unpack_from("<dI", tape, entry)
            adjoints[place] = adjoints.get(place, 0.0) + by * adjoints.get(node, 0.0)
        end = node - length
    return [adjoints.get(FIRST + ENTRY * leaf, 0.0) for leaf in range(LEAVES)]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_values_and_derivatives(precision, seed):
    """Values are those of scalars in every bit, and derivatives central differences of scalars of float64."""
    values = np.random.default_rng(seed).normal(size=LEAVES).astype(precision)
    found, slopes = taped(precision, values, Tape())
    np.testing.assert_array_equal(found, results_of(numbers_for(precision, False), values))
    exact = numbers_for("float64", False)
    smooth = slice(0, RESULTS - SINGULAR)
    for leaf in range(LEAVES):
        step = 1e-5 * np.eye(LEAVES)[leaf]
        sides = [results_of(exact, values.astype(float) + sign * step)[smooth] for sign in (1, -1)]
        wanted = (sides[0] - sides[1]) / 2e-5
        error = np.abs(slopes[smooth, leaf] - wanted) / (1.0 + np.abs(wanted))
        assert error.max() < (1e-8 if precision == "float64" else 1e-5)


def test_a_full_tape_says_so_once():
    """And values are what they are; nothing is written behind its room."""
    values = np.random.default_rng(0).normal(size=LEAVES)
    tape = Tape()
    found, _ = taped("float64", values, tape)
    assert not tape.was_full()
    again, _ = taped("float64", values, tape, TAPE_BYTES - LONGEST - 10 * ENTRY)
    np.testing.assert_array_equal(again, found)
    assert tape.was_full() and not tape.was_full()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_derivatives_are_finite_where_values_are_not_smooth(precision):
    """They are none there, as those of dual numbers are; and what cannot change leaves nothing on a tape."""
    _, slopes = taped(precision, np.random.default_rng(0).normal(size=LEAVES), Tape())
    assert np.isfinite(slopes).all()
    np.testing.assert_array_equal(slopes[-SINGULAR:], 0.0)
    np.testing.assert_array_equal(slopes[[58, 59, 60]], 0.0)
