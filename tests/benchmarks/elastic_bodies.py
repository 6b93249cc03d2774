"""What elastic bodies cost on one core, beside SciPy, Warp's solver and Newton.

`python -m tests.benchmarks.elastic_bodies [--precision NAME] [--newton]`

A bar of 10,152 tetrahedra, held at an end, with 20 tendons of 12 waypoints along it, under its weight. The equilibrium
is found from rest; steps are of 1/240 s from rest on. SciPy is given our stiffness, which it is not asked to make, and
solves for one step of Newton's method by sparse LU with its best ordering for symmetric matrices. Contestants take
turns, and the least of several turns counts. In float64 that system is also solved, once, by the conjugate gradients of
Warp, preconditioned by diagonal blocks.

With `--newton` steps of the bar without tendons are made by the vertex block descent of Newton, too, which is of single
precision and makes some sweeps over nodes instead of solving. How far the tip has sagged by the end tells how near it
came; its material is the neo-Hookean one, its damping has a law of its own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import warp as wp
from scipy.sparse import bsr_matrix
from scipy.sparse.linalg import splu
from warp.optim.linear import cg, preconditioner
from warp.sparse import bsr_from_triplets

from tests.meshes.bodies import LAWS, bar
from warp_artic.description.elastic_body import ElasticLaw
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import Equilibrium, mesh_with_tendons, weights
from warp_artic.meshes.materials import lame

CELLS, SIZE = (47, 6, 6), (1.0, 0.15, 0.15)
TENDONS, GAP = 20, 4
DOWN = (0.0, 0.0, -9.81)
DT, STEPS, TURNS = 1 / 240, 30, 3


def scene(law):
    """The bar and its tendons."""
    body = bar(CELLS, SIZE, law, young=1e6, stiffness_damping=5e-3)
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.0).tolist()))
    rows = np.random.default_rng(0).integers(0, CELLS[1] + 1, (TENDONS, 2))
    nodes = np.arange(len(body.points)).reshape([count + 1 for count in CELLS])
    tendons = tuple(
        MeshTendon(
            name=f"/t{number}",
            body=body.name,
            waypoints=tuple(BodyPoint(nodes=(int(node),)) for node in nodes[::GAP, j, k]),
            stiffness=200.0,
            smoothing=1e-3,
            target_length=0.9,
        )
        for number, (j, k) in enumerate(rows)
    )
    return body, tendons


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(law, precision: str) -> None:
    """Print a row of each contestant."""
    body, tendons = scene(law)
    mesh, on_body = mesh_with_tendons(body, tendons, 1, precision)
    equilibrium = Equilibrium(mesh, on_body)
    equilibrium.loads.assign(mesh.array(weights(mesh, DOWN)))
    dynamics = ElasticDynamics(mesh, on_body, DT)
    dynamics.loads.assign(mesh.array(weights(mesh, DOWN)))
    potential = equilibrium.potential
    rest = mesh.array(body.points)
    found = {}

    def solve() -> None:
        found["points"] = mesh.array(body.points)
        found["convergence"] = equilibrium.solve(found["points"])

    def tendons_alone() -> None:
        on_body.evaluate(rest)
        on_body.energy()
        on_body.add_forces(potential.forces)
        on_body.add_stiffness(potential.system.values, potential._slots, psd=True)

    def step() -> float:
        dynamics.points.assign(rest)
        dynamics.velocities.zero_()
        return np.median([seconds(dynamics.step) for _ in range(STEPS)])

    potential.evaluate(rest, mesh.everywhere)
    potential.stiffen(rest, mesh.everywhere, mesh.everywhere)
    pattern, free = mesh.pattern, np.setdiff1d(np.arange(body.points.size), held_rows(body))
    values = potential.system.values.numpy()[0].astype(float)
    size = body.points.size
    matrix = bsr_matrix((values, pattern.columns, pattern.starts), shape=(size, size)).tocsc()[free][:, free]
    forces = potential.forces.numpy()[0].astype(float).ravel()[free]

    def direct() -> None:
        splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0.0).solve(forces)

    def ours() -> None:
        potential.system.prepare(mesh.everywhere)
        potential.system.solve(potential.forces, np.full(1, 1e-8), 10000, mesh.everywhere)

    least: dict[str, float] = {}
    for _ in range(TURNS):
        for name, value in (
            ("equilibrium", seconds(solve)),
            ("step (median of 30)", step()),
            ("energy, forces and stiffness of tendons", min(seconds(tendons_alone) for _ in range(5))),
            ("stiffness of elements", seconds(lambda: potential.stiffen(rest, mesh.everywhere, mesh.everywhere))),
            ("a linear system to 1e-8, ours", seconds(ours)),
            ("the same by SciPy's LU", seconds(direct)),
        ):
            least[name] = min(value, least.get(name, np.inf))
    if precision == "float64":
        least["the same by Warp's CG"] = seconds_of_warp(potential, np.array(body.pinned))
    convergence = found["convergence"]
    title = f"{law.value}, {precision}: {len(body.elements)} tetrahedra, {len(body.points)} nodes, {TENDONS} tendons"
    print(f"{title}; {convergence.steps[0]} steps of Newton, {convergence.linear_iterations[0]} of CG")
    for name, value in least.items():
        print(f"  {name:42s} {1e3 * value:9.2f} ms")


def seconds_of_warp(potential, pinned: np.ndarray) -> float:
    """How long Warp's conjugate gradients take with diagonal blocks; rows of pinned nodes are units."""
    mesh, pattern = potential.mesh, potential.mesh.pattern
    values, forces = potential.system.values.numpy()[0].copy(), potential.forces.numpy()[0].copy()
    rows, columns = np.asarray(pattern.rows), np.asarray(pattern.columns)
    values[np.isin(rows, pinned) | np.isin(columns, pinned)] = 0.0
    values[np.isin(rows, pinned) & (rows == columns)] = np.eye(mesh.types.dim)
    forces[pinned] = 0.0
    count, (rows, columns) = len(forces), (wp.array(places, dtype=int) for places in (rows, columns))
    matrix = bsr_from_triplets(count, count, rows, columns, wp.array(values, dtype=mesh.types.mat))
    diagonal, b = preconditioner(matrix, "block_jacobi_sequential"), wp.array(forces, dtype=mesh.types.vec)

    def solve(most: int) -> bool:
        _, residual, target = cg(matrix, b, wp.zeros_like(b), tol=1e-8, maxiter=most, M=diagonal, check_every=25)
        return residual <= target

    solve(1)  # which compiles
    start = time.perf_counter()
    is_solved = solve(10 * count)
    taken = time.perf_counter() - start
    assert is_solved
    return taken


def beside_newton() -> None:
    """Print the median time of a step and the sag of the tip, ours and with some numbers of sweeps."""
    import newton  # noqa: PLC0415 - an extra

    body, _ = scene(ElasticLaw.NEO_HOOKEAN)
    tip = np.flatnonzero(body.points[:, 0] == SIZE[0])
    mesh, none = mesh_with_tendons(body, ())
    dynamics = ElasticDynamics(mesh, none, DT)
    dynamics.loads.assign(mesh.array(weights(mesh, DOWN)))

    def tell(name: str, step: Callable[[], object], points: Callable[[], np.ndarray]) -> None:
        step()  # which compiles
        taken = np.median([seconds(step) for _ in range(STEPS)])
        sag = (body.points[tip, 2] - points()[tip, 2]).mean()
        print(f"  {name:42s} {1e3 * taken:9.2f} ms   {1e3 * sag:6.1f} mm")

    print(f"{len(body.elements)} tetrahedra without tendons, after {STEPS + 1} steps")
    tell("ours, float64", dynamics.step, lambda: dynamics.points.numpy()[0])
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=DOWN)
    mu, lambda_ = lame(body.material, 3, body.plane_state)
    builder.add_soft_mesh(
        pos=wp.vec3(),
        rot=wp.quat_identity(),
        scale=1.0,
        vel=wp.vec3(),
        vertices=[wp.vec3(*point) for point in body.points.tolist()],
        indices=np.asarray(body.elements).ravel().tolist(),
        density=body.material.density,
        k_mu=mu,
        k_lambda=lambda_,
        k_damp=body.material.stiffness_damping,
    )
    for node in body.pinned:
        builder.particle_mass[node] = 0.0
    builder.color()
    model = builder.finalize(device="cpu")

    def with_sweeps(count: int) -> None:
        solver = newton.solvers.SolverVBD(model, iterations=count)
        states, control = [model.state(), model.state()], model.control()

        def step() -> None:
            states[0].clear_forces()
            solver.step(*states, control, None, DT)
            states.reverse()

        tell(f"Newton, {count} sweeps", step, lambda: states[0].particle_q.numpy())

    for sweeps in (5, 10, 50):
        with_sweeps(sweeps)


def held_rows(body) -> np.ndarray:
    """Rows of the coordinates of pinned nodes."""
    return (np.array(body.pinned)[:, None] * body.dim + np.arange(body.dim)).ravel()


def main() -> None:
    """Measure each law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", default="float64", choices=("float32", "float64"))
    parser.add_argument("--newton", action="store_true", help="steps beside those of Newton, and nothing else")
    arguments = parser.parse_args()
    if arguments.newton:
        beside_newton()
        return
    for law in LAWS:
        measure(law, arguments.precision)


if __name__ == "__main__":
    main()
