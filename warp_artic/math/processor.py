"""What this processor's vector registers hold, and what its compiler is told of it.

Lane vectors by processor: 64 bytes with AVX-512, which is a register, and with AVX2, of which it takes two; 32 bytes
elsewhere, which is two registers of SSE or NEON. Two registers are faster than one because what a step does for a whole
lane vector (addresses, loops, branches) is done half as often, and because a chain of dependent operations leaves the
second half of the pipeline free. On AVX2 a step of 1,024 environments takes 0.95 (arm), 0.84 (humanoid) and 0.91 (hand
with tendons) of the time with one register. Where one register holds all environments, a second one is only work:
`numbers_for` takes one then. Two lanes of float64 would be the type that Warp has for pairs of them, of which sums and
products mean something else. Widths of NEON were not measured; 32 registers have room for pairs.
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
WIDE = ("AVX2", "X86_V3")
"""Of processors with registers of 32 bytes."""
X86 = ("x86_64", "amd64")
"""Names that systems have for processors of that family, in lower case."""


@cache
def lane_bytes() -> int:
    """Bytes of a lane vector: what `WARP_ARTIC_LANE_BYTES` says, else 64 with AVX-512 or AVX2, else 32.

    Raises:
        SettingsError: The variable says something else than 32 or 64.
    """
    return _told_bytes() or (64 if _has(WIDEST + WIDE) else 32)


@cache
def register_bytes() -> int:
    """Bytes of the narrowest lane vector that fills a register: 64 with AVX-512, else 32; never more than told.

    Raises:
        SettingsError: As of `lane_bytes`.
    """
    return _told_bytes() or (64 if _has(WIDEST) else 32)


def _told_bytes() -> int | None:
    if told := os.environ.get(TOLD_BY):
        if told not in map(str, LANE_BYTES):
            raise SettingsError(f"{TOLD_BY}: {told!r} is not one of {', '.join(map(str, LANE_BYTES))}")
        return int(told)
    return None


def _has(names: tuple[str, ...]) -> bool:
    features = _features()
    return any(features.get(name) for name in names)


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
