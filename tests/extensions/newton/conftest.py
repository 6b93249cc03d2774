"""Newton's own kernels are compiled without derivatives, which no test asks for: that takes a quarter of the time."""

import warp as wp

wp.config.enable_backward = False
from newton.solvers import SolverFeatherstone  # noqa: E402, F401  with all that it needs

wp.config.enable_backward = True
