"""Kernels of elastic bodies in their CUDA source, whose blocks of 128 threads wait for each other at barriers."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.cuda_emulation.emulate import ORDERS, EmulationError, emulated_cuda
from tests.meshes.bodies import LAWS, bar, random_points
from tests.meshes.equilibria import solve_equilibrium
from tests.meshes.test_elastic import evaluate
from tests.meshes.test_node_contacts import cube, fall, floor, obstacle
from tests.sim.bodies_on_links import block, on_block, simulate
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.shape import ShapeKind
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.newton import NewtonOptions

WITH_BARRIERS = {"assemble", "add_nodes", "prepare", "solve"}
KERNELS = tuple(WITH_BARRIERS)


def bent_bar():
    """Nodes of a bar that is held at one end and loaded at the other, at rest."""
    body = bar((3, 1, 1), (1.0, 0.3, 0.3))
    body = replace(body, pinned=tuple(np.flatnonzero(body.points[:, 0] == 0.0).tolist()))
    loads = np.zeros_like(body.points)
    loads[body.points[:, 0] == 1.0, 1] = -20.0
    return solve_equilibrium(body, loads=loads, options=NewtonOptions(tolerance=1e-12))


def falling_bar():
    """Velocities of a bar on a block, after two steps; the block carries its nodes."""
    tree = block()
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(on_block(tree, (3, 1, 1)),)))
    simulation.step(2)
    return simulation.state.link_velocity.numpy()


def test_equilibrium():
    """Of 18 tetrahedra: that of the CPU, whose blocks have one thread, within rounding."""
    wanted = bent_bar()
    for order in ORDERS:
        with emulated_cuda(order=order, seed=5) as emulation:
            found = bent_bar()
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13)
        emulation.check()
        assert set(emulation.counts) == set(KERNELS)
        assert all(emulation.counts[name]["barriers"] > 100 for name in WITH_BARRIERS)
        assert emulation.total("exchanges") > 1000


def test_nodes_that_are_carried():
    """As on the CPU, where one thread does it all."""
    wanted = falling_bar()
    for order in ORDERS:
        with emulated_cuda(order=order, seed=5) as emulation:
            found = falling_bar()
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())
        emulation.check()


def sliding_cube():
    """Velocities of a cube that has met a rough floor and a ball, and what these did to it."""
    ball = obstacle(ShapeKind.SPHERE, Pose((0.05, 0.05, -0.045)), radius=0.05)
    rough = replace(floor(3), static_friction=0.6, dynamic_friction=0.4)
    simulation = fall(cube(3, 0.0, young=2e4, stiffness_damping=5e-3, obstacles=(rough, ball)))
    simulation.velocities.assign(np.broadcast_to([0.3, 0.1, -0.5], simulation.points.numpy().shape[1:])[None])
    for _ in range(3):
        assert simulation.step().converged.all()
    return np.stack([simulation.velocities.numpy()[0], simulation.contact_forces.numpy()[0]])


def test_nodes_that_touch():
    """As on the CPU: of nodes that slide, stick and are held by both obstacles."""
    wanted = sliding_cube()
    for order in ORDERS:
        with emulated_cuda(order=order, seed=5) as emulation:
            found = sliding_cube()
        size = np.abs(wanted).max(axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(found / size, wanted / size, rtol=0.0, atol=1e-6)
        emulation.check()
        assert {"split", "press"} <= set(emulation.counts)


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("dim", (2, 3))
def test_elements(dim, precision):
    """Energy, forces and stiffness of triangles and tetrahedra, some of which are turned inside out."""

    def found():
        results = []
        for law in LAWS:
            body = bar((5, 3, 1)[:dim], (0.8, 0.5, 0.3)[:dim], law)
            results += evaluate(ElasticMesh(body, precision=precision), random_points(body, 0.2), psd=True)
        return results

    wanted = found()
    epsilon = np.finfo(precision).eps
    for order in ORDERS:
        with emulated_cuda(order=order, seed=5, only=KERNELS) as emulation:
            results = found()
        for result, one in zip(results, wanted):
            np.testing.assert_allclose(result, one, rtol=0.0, atol=200.0 * epsilon * np.abs(one).max())
        emulation.check()


def without_barriers(*removed):
    """CUDA source of conjugate gradients without some of the two barriers of `take_along`."""

    def edit(name, source):
        if name != "solve":
            return source
        before, begin, rest = re.split(r"(static CUDA_CALLABLE void \w*take_along\w*\()", source, maxsplit=1)
        body, end, after = rest.partition("\n}\n")
        parts = re.split(r"(\w+ = \w*block_sum\w*\(\w+\);)", body)
        assert len(parts) == 5
        for which in removed:
            parts[2 * which + 1] = ""
        return before + begin + "".join(parts) + end + after

    return edit


@pytest.mark.parametrize("removed", [(0, 1), (0,), (1,)])
def test_barriers_that_are_missing(removed):
    """Without one of the barriers of `take_along`, or both, threads race for directions: the watch says so.

    The first launch that does ends it: with such directions Newton's method would go on for minutes.
    """
    broken = without_barriers(*removed)
    with emulated_cuda(only=KERNELS, edit=broken, stops=True), pytest.raises(EmulationError, match=r"solve: \d+ races"):
        falling_bar()
