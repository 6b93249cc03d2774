"""What this processor's vector registers hold."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def lane_bytes() -> int:
    """Bytes of a lane vector: 64 where the processor has AVX-512, else 32."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return 32
    return 64 if "avx512f" in flags else 32
