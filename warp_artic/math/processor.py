"""What this processor's vector registers hold."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from warp_artic.errors import SettingsError

LANE_BYTES = (32, 64)
"""Widths of a lane vector [bytes]. Every processor runs both: compilers split what registers have no room for."""
TOLD_BY = "WARP_ARTIC_LANE_BYTES"
"""What of the environment says another width than that of the registers, before the package is imported."""


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
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return 32
    return 64 if "avx512f" in flags else 32
