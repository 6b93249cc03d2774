"""The precompiled header of kernels stays in the kernel cache, for all threads and processes."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from threading import Thread
import warp as wp
from warp_artic.kernels import columns, launch
from warp_artic.math import kept_headers
from warp_artic.math.compiling import load

wp.init()
wp.config.kernel_cache_dir = sys.argv[1]
assert kept_headers.is_missing() == (sys.argv[2] == "first")
kernels = {
    "first": (columns.indices_of_longs, columns.indices_of_mask),
    "then": vars(columns.column_kernels_for(wp.float32)).values(),
}
threads = [Thread(target=load, args=(kernel, "cpu")) for kernel in kernels[sys.argv[2]]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not kept_headers.is_missing()
"""


def files(cache: Path) -> dict[str, int]:
    """Kept headers of all installations of Warp, and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (cache / "headers").glob("*/*")}


def test_processes_share_a_header(tmp_path):
    """The first one makes it, and nothing else is left beside it; the next one takes it."""
    root = Path(__file__).parents[2]
    run = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    subprocess.run([*run, "first"], cwd=root, env=os.environ, check=True)
    kept = files(tmp_path)
    assert len(kept) == 1
    subprocess.run([*run, "then"], cwd=root, env=os.environ, check=True)
    assert files(tmp_path) == kept
    assert len(list(tmp_path.glob("wp_*"))) > 3  # folders of kernels
