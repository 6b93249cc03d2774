"""CoACD in a process of its own, as it neither ends on all surfaces nor is safe from all: python coacd_process.py."""

from __future__ import annotations

import sys

import numpy as np

OPTIONS = {"preprocess_mode": "off", "seed": 0}
"""Beside the number of parts; others are as CoACD has them."""


def decompose(points: np.ndarray, triangles: np.ndarray, most: int) -> list[np.ndarray]:
    """The points (N, 3) of at most `most` convex parts of a closed surface of points (N, 3) and triangles (M, 3)."""
    import coacd  # noqa: PLC0415 (an extra)

    coacd.set_log_level("off")
    found = coacd.run_coacd(coacd.Mesh(points, triangles), max_convex_hull=most, **OPTIONS)
    return [np.asarray(part, float) for part, _ in found]


if __name__ == "__main__":
    with np.load(sys.argv[1]) as given:
        parts = decompose(given["points"], given["triangles"], int(given["most"]))
    np.savez_compressed(sys.argv[2], points=np.concatenate(parts), ends=np.cumsum([len(one) for one in parts]))
