"""What this processor's vector registers hold, and what its compiler is told of it.

Lane vectors by processor: 64 bytes with AVX-512, 32 with AVX2, and 32 elsewhere: SSE and NEON have registers of 16, of
which compilers take two for each. Two lanes of float64 would be the type that Warp has for pairs of them, of which
sums and products mean something else. Widths of NEON were not measured; 32 registers have room for pairs.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import import_module

from warp_artic.errors import SettingsError

LANE_BYTES = (32, 64)
"""Widths of a lane vector [bytes]. Every processor runs both: compilers split what registers have no room for."""
TOLD_BY = "WARP_ARTIC_LANE_BYTES"
"""What of the environment says another width than that of the registers, before the package is imported."""
WIDEST = ("AVX512F", "X86_V4")
"""Features, as NumPy calls them, of processors with registers of 64 bytes."""
X86 = ("x86_64", "amd64")
"""Names that systems have for processors of that family, in lower case."""


@cache
def lane_bytes() -> int:
    """Bytes of a lane vector: what `WARP_ARTIC_LANE_BYTES` says, else 64 where the processor has AVX-512, else 32.

    Raises:
        SettingsError: The variable says something else than 32 or 64.
    """
    if told := os.environ.get(TOLD_BY):
        if told not in map(str, LANE_BYTES):
            raise SettingsError(f"{TOLD_BY}: {told!r} is not one of {', '.join(map(str, LANE_BYTES))}")
        return int(told)
    features = _features()
    return 64 if any(features.get(name) for name in WIDEST) else 32


def native(flags: str) -> str:
    """Flags of the compiler, with those before them that let it use all of this processor.

    On x86 that is its whole instruction set, and a stack on which lane vectors lie on cache lines. Elsewhere what
    compilers assume has the vector registers, and the flags of x86 are refused.
    """
    if platform.machine().lower() not in X86:
        return flags
    return " ".join(["-march=native", *([flags] if flags else []), "-mstackrealign"])


def _features() -> dict[str, bool]:
    """Features of this processor by NumPy's names for them, on every system; none where NumPy does not say."""
    for package in ("numpy._core", "numpy.core"):  # from NumPy 2 on, and before
        try:
            return import_module(f"{package}._multiarray_umath").__cpu_features__
        except (ImportError, AttributeError):
            continue
    return {}
