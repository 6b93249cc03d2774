"""Kernels of articulations in their CUDA source: bitwise the scalar kernels of the CPU, in every order of threads."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests import trees
from tests.busy_mechanisms import busy_tree
from tests.cuda_emulation.emulate import ORDERS, emulated_cuda

SCENES = Path(wa.__file__).parent / "cli" / "bench_scenes"
ENVIRONMENTS = 64
STEPS = 4


def scene_of(model):
    """A model of the benchmarks."""
    return wa.read_stage(str(SCENES / f"{model}.usda"))


def simulate(scene, environments=ENVIRONMENTS, **settings):
    """Environments of a scene that differ, in scalars; on the CPU, or as if on CUDA where that is emulated."""
    settings = wa.SolverSettings(dt=1.0 / 480.0, variant="scalar", **settings)
    simulation = wa.Simulation(scene, environments=environments, device="cpu", settings=settings)
    rng = np.random.default_rng(1)
    for name in ("joint_position", "joint_velocity"):
        values = getattr(simulation.state, name).numpy()
        simulation.set_state(**{name: (values + rng.normal(0.0, 0.02, values.shape)).T})
    return simulation


def end(simulation, steps=STEPS):
    """The state after some steps, as bytes by name."""
    simulation.step(steps)
    names = "joint_position", "joint_velocity", "root_pose", "root_velocity"
    return {name: getattr(simulation.state, name).numpy().tobytes() for name in names}


@pytest.mark.parametrize("model", ("humanoid", "hand_tendon"))
@pytest.mark.parametrize("solver", ("direct", "pgs"))
def test_steps(solver, model):
    """Of trees in 64 threads of a block; nothing is read or written by two of them."""
    scene = scene_of(model)
    wanted = end(simulate(scene, solver=solver))
    for order in ORDERS:
        with emulated_cuda(order=order, seed=3, only=["step"]) as emulation:
            found = end(simulate(scene, solver=solver))
        assert found == wanted, order
        emulation.check()
        assert emulation.total("reads") > 1000 * ENVIRONMENTS * STEPS


def test_steps_with_every_constraint_family():
    """Two of a tree in which all of them act, in eight threads."""
    scene = trees.scene(busy_tree(np.random.default_rng(2)))
    wanted = end(simulate(scene, environments=8), steps=2)
    with emulated_cuda(order="random", only=["step"]) as emulation:
        found = end(simulate(scene, environments=8), steps=2)
    assert found == wanted
    emulation.check()


def suite(simulation):
    """What the kernels of the dynamics suite give, by name."""
    rng = np.random.default_rng(2)
    size = simulation.mass_matrix().shape[1]
    force = rng.normal(size=(ENVIRONMENTS, size))
    simulation.register_contacts([wa.ContactPoint(link=simulation.link_names[-1], position=(0.0, 0.0, 0.02))])
    impulses = simulation.constraint_impulses(force)
    found = {
        "mass_matrix": simulation.mass_matrix(),
        "mass_matrix_inverse": simulation.mass_matrix_inverse(),
        "bias_force": simulation.bias_force(),
        "joint_acceleration": simulation.joint_acceleration(force),
        "jacobian": simulation.jacobian(),
        "centroidal_momentum_matrix": simulation.centroidal_momentum_matrix(),
        "coefficient_matrix": simulation.coefficient_matrix(),
    }
    found |= {name: value for name, value in vars(impulses).items() if hasattr(value, "numpy")}
    return {name: value.numpy() for name, value in found.items()}


def test_the_dynamics_suite():
    """Each of its kernels, on the hand with tendons."""
    scene = scene_of("hand_tendon")
    wanted = suite(simulate(scene, precision="float64"))
    for order in ORDERS:
        with emulated_cuda(order=order, seed=3) as emulation:
            found = suite(simulate(scene, precision="float64"))
        for name, value in wanted.items():
            assert found[name].tobytes() == value.tobytes(), (order, name)
        emulation.check()
    assert set(emulation.counts) == {
        "mass_matrix", "solutions", "efforts", "accelerate", "jacobian", "centroid", "coefficients", "impulses",
    }  # fmt: skip
