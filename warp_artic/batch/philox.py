"""Uniform numbers that depend on a seed, the name of a variable and the index of a run, and on nothing else.

Philox-4x64-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011) turns a key and a counter
into four words. The key is a hash of seed and name; run k has word k mod 4 of counter k // 4.
"""

from __future__ import annotations

import hashlib

import numpy as np

WORDS = 4
"""Of one counter."""


def key_of(seed: int, name: str) -> int:
    """The key of a variable, of 128 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed}\n{name}".encode()).digest()[:16], "little")


def words(key: int, first: int, last: int) -> np.ndarray:
    """The words of runs first to last - 1, 64 bits each."""
    first, last = int(first), int(last)
    begin = first // WORDS
    # NumPy counts up before it turns a counter into words.
    counter = (begin - 1) % 2**256
    generator = np.random.Philox(counter=_limbs(counter), key=_limbs(key)[:2])
    found = generator.random_raw(WORDS * (-(-last // WORDS) - begin)) if last > first else np.zeros(0, np.uint64)
    return found[first - WORDS * begin : last - WORDS * begin]


def uniforms(seed: int, name: str, first: int, last: int) -> np.ndarray:
    """Numbers strictly between 0 and 1 of runs first to last - 1, in steps of 2^-53."""
    return ((words(key_of(seed, name), first, last) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def _limbs(number: int) -> np.ndarray:
    """A number of 256 bits as words, the least first."""
    return np.array([number >> 64 * k & (1 << 64) - 1 for k in range(4)], np.uint64)
