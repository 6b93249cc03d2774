"""What a process with lane vectors of another width than that of the processor does for `test_lane_widths`.

`python -m tests.kernels.other_width FILE` writes the end of a run to a file, and runs tests of which the numbers depend
on how wide a lane vector is; the exit code is that of pytest. Kernels are compiled as Warp writes them, not as
`math.lean_source` rewrites them, and not optimized, in a quarter of the time: the results compare both.
"""

import sys

import numpy as np
import pytest

from tests.kernels.test_threads import arm, start
from warp_artic.kernels.launch import OPTIONS

QUICK = "-O0 -march=native"
TESTS = ("tests/kernels/test_threads.py", "tests/kernels/test_layout.py", "tests/math/test_rotation.py")
LEFT_OUT = "tgs or scalar or allocate or different_robots or how_many_threads"
"""What would need other kernels, or does not depend on widths."""


def end():
    """Positions and velocities of the arms of `test_threads` after 60 steps, by lane vectors."""
    simulation = arm(1, variant="lanes")
    start(simulation)
    simulation.step(60)
    return np.concatenate([getattr(simulation.state, name).numpy() for name in ("joint_position", "joint_velocity")])


if __name__ == "__main__":
    OPTIONS["module_options"]["cpu_compiler_flags"] = QUICK
    np.save(sys.argv[1], end())
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", f"not ({LEFT_OUT})", *TESTS]))
