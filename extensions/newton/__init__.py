"""The solver of warp_artic for models of Newton."""

from warp_artic.extensions.newton.solver import SolverWarpArtic as SolverWarpArtic
