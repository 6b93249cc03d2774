"""Solids that are not convex in convex parts, by CoACD where it is installed (the extra `decompose`).

This takes seconds a solid, so that what has been found is kept in the cache folder of the user.

Source: Wei et al. (2022), Approximate convex decomposition with collision-aware concavity and tree search.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from warp_artic.errors import SettingsError, SolveError
from warp_artic.sim.files.whole_file import written_whole
from warp_artic.usd import coacd_process

LONGEST = 120.0
"""What a solid may take [s]."""


def can_decompose() -> bool:
    """Whether CoACD is there."""
    return all(importlib.util.find_spec(name) is not None for name in ("coacd", "platformdirs"))


def convex_parts(points: np.ndarray, triangles: np.ndarray, most: int) -> list[np.ndarray]:
    """The points (N, 3) of at most `most` convex parts of a closed surface of points (N, 3) and triangles (M, 3).

    None of them where CoACD finds none, fails, or is not done in time, as on surfaces that pass through themselves.
    """
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    if np.einsum("ni,ni->", a, np.cross(b, c)) < 0.0:
        triangles = triangles[:, ::-1]
    points, triangles = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32)
    used = importlib.metadata.version("coacd"), coacd_process.OPTIONS, most, points.shape
    key = hashlib.sha256(repr(used).encode() + points.tobytes() + triangles.tobytes()).hexdigest()
    kept = _folder() / f"{key}.npz"
    with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return _read(kept)
    if not Path(sys.executable).stem.lower().startswith("python"):  # an application that embeds it
        with contextlib.suppress(RuntimeError):
            return coacd_process.decompose(points, triangles, most)
        return []
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npz"), Path(folder, "found.npz")
        np.savez(given, points=points, triangles=triangles, most=most)
        command = [sys.executable, "-P", coacd_process.__file__, str(given), str(found)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, timeout=LONGEST, check=False, capture_output=True)
        if not found.exists():
            return []
        _keep(kept, found.read_bytes())
        return _read(found)


def _folder() -> Path:
    import platformdirs  # noqa: PLC0415 (an extra)

    return Path(platformdirs.user_cache_dir("warp_artic", appauthor=False)) / "convex_parts"


def _read(path: Path) -> list[np.ndarray]:
    with np.load(path) as found:
        return np.split(found["points"], found["ends"][:-1])


def _keep(path: Path, content: bytes) -> None:
    """Write a file of the cache, where this can be done."""
    with contextlib.suppress(OSError, SettingsError, SolveError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            file.write_bytes(content)
