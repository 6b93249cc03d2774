"""The solver of warp_artic for models of Newton, and what has Newton read joints as we do."""

from warp_artic.extensions.newton.resolver import SchemaResolverWarpArtic as SchemaResolverWarpArtic
from warp_artic.extensions.newton.solver import SolverWarpArtic as SolverWarpArtic
