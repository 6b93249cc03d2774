"""Row problems from matrices, solved by the functions of `solver/rows` for many problems at once, without a simulation.

The trees are sliders whose factors are filled in: U = 0 and any D, so that M = diag(D) and W = 1. J and P are dense, so
that every problem with a mass matrix M = W^-1 D W^-T is among these, in the coordinates W^-T v.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import warp as wp

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.constraints.fixed_tendon import FIXED_TENDON
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import sub  # noqa: F401 (operators)
from warp_artic.mechanisms.group import arrays_with_rows
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.mechanisms.tree import Row
from warp_artic.solver.rows.activation import activate_rows, prepare_responses
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.pgs import solve_pgs
from warp_artic.solver.rows.problem import forget_working_set

SOLVERS = {"direct": solve_direct, "pgs": solve_pgs}


@dataclass(frozen=True)
class Problems:
    """K problems with m rows and n dofs: the law is that of `solver.rows.problem`."""

    J: np.ndarray
    """(K, m, n)"""
    D: np.ndarray
    """Masses (K, n)."""
    v_free: np.ndarray
    """(K, n)"""
    lower: np.ndarray
    """(K, m), as all that follow."""
    upper: np.ndarray
    hold: np.ndarray
    slide: np.ndarray
    compliance: np.ndarray
    P: np.ndarray | None = None
    """(K, n, m); J^T if it is left out."""

    @property
    def count(self) -> int:
        """K."""
        return len(self.J)

    @property
    def push(self) -> np.ndarray:
        """P (K, n, m)."""
        return np.swapaxes(self.J, 1, 2) if self.P is None else self.P

    @property
    def delassus(self) -> np.ndarray:
        """G = J M^-1 P with compliances (K, m, m)."""
        G = (self.J / self.D[:, None, :]) @ self.push
        return G + self.compliance[:, :, None] * np.eye(G.shape[1])

    @property
    def y_free(self) -> np.ndarray:
        """(K, m)"""
        return np.einsum("kmn,kn->km", self.J, self.v_free)

    def rounded(self, precision: str) -> "Problems":
        """The same problems as a number type has them."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        cast = {
            name: None if values is None else values.astype(precision).astype(float) for name, values in found.items()
        }
        return Problems(**{**cast, "D": 1.0 / (1.0 / cast["D"]).astype(precision).astype(float)})

    def chosen(self, which) -> "Problems":
        """Some of the problems."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Problems(**{name: None if values is None else values[which] for name, values in found.items()})


def star(count: int) -> Articulation:
    """Sliders next to each other on a link that is fixed to the world: rows have branches."""
    return _sliders([WORLD, *[0] * count])


def chain(count: int) -> Articulation:
    """Sliders one on the other: rows have one path."""
    return _sliders([WORLD, *range(count)])


def bundle(count: int) -> Articulation:
    """Chains of two sliders next to each other on a link that is fixed to the world."""
    return _sliders([WORLD, *(0 if k % 2 == 0 else k for k in range(count))])


def _sliders(parents) -> Articulation:
    drawn = trees.random_articulation(0, len(parents), floating=False, kinds=("prismatic_x",), branching=0.0)
    joints = tuple(
        Joint(
            path=f"/World/joint_{k}",
            parent=parent,
            child=k,
            dofs=(Dof(name=f"/World/joint_{k}", axis=Axis.TRANS_X),) if k else (),
        )
        for k, parent in enumerate(parents)
    )
    return replace(drawn, joints=joints)


@cache
def group_of(tree_of, dofs: int, precision: str, variant: str):
    """The group of a tree of sliders, as the public path lays it out."""
    settings = SolverSettings(precision=precision, variant=variant)
    return Simulation(trees.scene(tree_of(dofs)), settings=settings).run.groups[0]


@cache
def solving_kernel(numbers, solver: str):
    """Solves the row problem of each worker as a step does: rows join until none is outside its velocity bounds."""
    structs = arrays_for(numbers)
    Model, Work = structs.Model, structs.Work
    solve = SOLVERS[solver]

    @wp.kernel(**OPTIONS)
    def solve_problems(model: Model, work: Work, sweeps: int):
        worker = wp.tid()
        if model.innovations_only == 1:
            for island in range(model.island_count):
                work.begins[island, worker] = 1
            forget_working_set(model, work, worker, work.v_free[0, worker] - work.v_free[0, worker])
        unsolved = activate_rows(model, work, worker)
        while unsolved:
            prepare_responses(model, work, worker)
            solve(model, work, worker, sweeps)
            unsolved = activate_rows(model, work, worker)

    return solve_problems


class Laid:
    """Problems in the arrays of the row problem, one for each worker and lane; rows are active in all of them.

    `patterns` are the dofs of each row, outside of which J and P are zero; all dofs if they are left out.
    """

    def __init__(self, problems, solver="direct", precision="float64", variant="scalar", tree_of=chain, patterns=None):
        self.problems = problems
        K, m, n = problems.J.shape
        group = group_of(tree_of, n, precision, variant)
        self.numbers = group.columns.numbers
        self.workers = -(-K // self.numbers.lanes)
        patterns = patterns or [tuple(range(n))] * m
        self.rows = tuple(Row(FIXED_TENDON, tuple(own), a) for a, own in enumerate(patterns))
        arrays = arrays_with_rows(replace(group, workers=self.workers), self.rows, solver == "direct")
        self.model, self.work = arrays.model, arrays.work
        self.write("D_inverse", 1.0 / problems.D)
        at, dofs = np.array([(a, dof) for a, row in enumerate(self.rows) for dof in row.dofs]).T
        self.write("J", problems.J[:, at, dofs])
        self.write("P", problems.push[:, dofs, at])
        self.write("velocity_bounds", np.stack([problems.lower, problems.upper], axis=-1).reshape(K, -1))
        self.write("impulse_bounds", np.stack([problems.hold, problems.slide], axis=-1).reshape(K, -1))
        self.write("compliance", problems.compliance)
        for name in ("v_free", "v_next", "v"):
            self.write(name, problems.v_free)

    def write(self, name, values):
        """Write values (K, entries); lanes that are left over repeat the last problem."""
        lanes = self.numbers.lanes
        padded = np.concatenate([values, np.repeat(values[-1:], self.workers * lanes - len(values), axis=0)])
        array = getattr(self.work, name)
        array.assign(padded.T.reshape(array.shape + ((lanes,) if lanes > 1 else ())))

    def read(self, name, entries: int) -> np.ndarray:
        """The first entries of an array (K, entries), in double precision."""
        array = getattr(self.work, name)
        values = array.numpy()
        if values.ndim == 2 and self.numbers.lanes > 1:
            values = np.repeat(values[:, :, None], self.numbers.lanes, axis=2)
        return values.reshape(len(values), -1)[:entries, : self.problems.count].T.astype(float)

    def launch(self, kernel, *inputs):
        """Launch a kernel of `model`, `work` and further inputs, one thread for each worker."""
        wp.launch(kernel, dim=self.workers, inputs=[self.model, self.work, *inputs])


def solve(problems: Problems, solver="direct", sweeps=0, **options):
    """Impulses (K, m) and velocities (K, n); options are those of `Laid`."""
    laid = Laid(problems, solver, **options)
    laid.launch(solving_kernel(laid.numbers, solver), sweeps)
    _, m, n = problems.J.shape
    return laid.read("impulse", m), laid.read("v_next", n)


def missed(problems: Problems, z: np.ndarray, bound: np.ndarray | None = None) -> np.ndarray:
    """By how much impulses miss the law of each row (K, m), as a share of the sizes of the sums that it is made of.

    Velocities are found anew in extended precision from the impulses. `bound` is that of the impulses, if not `hold`.
    """
    J, push, D, z, v_free = (
        np.asarray(values, np.longdouble) for values in (problems.J, problems.push, problems.D, z, problems.v_free)
    )
    bound = problems.hold if bound is None else bound
    change = np.einsum("knm,km->kn", push, z) / D
    y = np.einsum("kmn,kn->km", J, v_free + change)
    size = np.einsum("kmn,kn->km", abs(J), abs(v_free) + np.einsum("knm,km->kn", abs(push), abs(z)) / D)
    s = y + problems.compliance * z
    size = size + problems.compliance * abs(z)
    at_upper, at_lower = z >= bound, z <= -bound
    # Below its target a row wants a larger impulse; at its bound it has none to give.
    below = np.where(at_upper, 0.0, np.maximum(problems.lower - s, 0.0))
    above = np.where(at_lower, 0.0, np.maximum(s - problems.upper, 0.0))
    # A stop that is held may pull, and a row be pushed past its target, by an impulse whose velocity is rounding.
    own = abs(z) * np.abs(np.einsum("kaa->ka", problems.delassus))
    pushed_past = np.where(z > 0, np.minimum(np.maximum(s - problems.lower, 0.0), own), 0.0)
    pulled_past = np.where(z < 0, np.minimum(np.maximum(problems.upper - s, 0.0), own), 0.0)
    wrong = np.maximum(np.maximum(below, above), np.maximum(pushed_past, pulled_past))
    exceeds = np.where(np.isfinite(bound), np.maximum(abs(z) - bound, 0.0), 0.0) > 0
    return np.where(exceeds, np.inf, np.asarray(wrong / np.where(size > 0, size, 1.0), float))
