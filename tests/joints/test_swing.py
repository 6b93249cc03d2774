"""Joints with two free rotations, from rest through half a turn and beyond."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from tests import trees
from tests.math.test_rotation import TYPES, run
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.joints import swing
from warp_artic.math.numbers import real, vec3
from warp_artic.model.arrays import load_mat3, store_mat3, store_vec3


def placed(name, phi, w):
    """R_FM (3, 3, n), both axes, the angular velocity and its rate in F (3, n), and the rates of phi (2, n)."""
    number = TYPES[name]
    T = number.real

    @wp.kernel(module="unique", enable_backward=False)
    def compute(given: wp.array2d(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        zero = real(0.0, given[0, i])
        R, axis_1, axis_2, w_FM, bias = swing.place(
            load_mat3(given, 4, i), vec3(zero, zero, zero), given[0, i], given[1, i], given[2, i], given[3, i]
        )
        store_mat3(found, 0, i, R)
        store_vec3(found, 9, i, axis_1)
        store_vec3(found, 12, i, axis_2)
        store_vec3(found, 15, i, w_FM)
        store_vec3(found, 18, i, bias)
        a_rate, b_rate = swing.rates(given[0, i], given[1, i], given[2, i], given[3, i])
        store_vec3(found, 21, i, vec3(a_rate, b_rate, zero))

    identity = np.repeat(np.eye(3).reshape(9, 1), phi.shape[1], axis=1)
    found = run(number, compute, np.concatenate([phi, w, identity]), 24)
    return found[:9].reshape(3, 3, -1), found[9:12], found[12:15], found[15:18], found[18:21], found[21:23]


def swings(count=64):
    """Rotation vectors of 0 to 1.8 turns in all directions, (2, count), and unit velocities."""
    rng = np.random.default_rng(5)
    angles = np.concatenate([np.linspace(0.0, 5.6, count - 6), [2.499, 2.501, np.pi - 1e-3, np.pi, np.pi + 1e-3, 0.2]])
    alpha, w = rng.uniform(0.0, 2.0 * np.pi, count), rng.normal(size=(2, count))
    return angles * np.array([np.cos(alpha), np.sin(alpha)]), w / np.linalg.norm(w, axis=0)


@pytest.mark.parametrize("name", [name for name in TYPES if "64" in name])
def test_axes_and_rates_are_derivatives_of_the_pose(name):
    """Angular velocity, its rate and the rates of the coordinates by central differences of exp(a, b, 0), to 1e-7."""
    phi, w = swings()
    step = 1e-4
    _, axis_1, axis_2, velocity, bias, rate = placed(name, phi, w)
    np.testing.assert_allclose(axis_1 * w[0] + axis_2 * w[1], velocity, atol=1e-12)
    # Along the path on which (w_1, w_2) is constant, by four steps of Runge-Kutta each way.
    ahead, back = (moved(name, phi, w, sign * step) for sign in (1.0, -1.0))
    R = [placed(name, at, w)[0] for at in (back, ahead)]
    turned = Rotation.from_matrix(np.einsum("ijk,ljk->kil", R[1], R[0])).as_rotvec().T / (2.0 * step)
    scale = np.maximum(np.linalg.norm(velocity, axis=0), 1.0)
    np.testing.assert_allclose(turned / scale, velocity / scale, atol=1e-5)
    change = (placed(name, ahead, w)[3] - placed(name, back, w)[3]) / (2.0 * step)
    scale = np.maximum(np.linalg.norm(bias, axis=0), 1.0)
    np.testing.assert_allclose(change / scale, bias / scale, atol=1e-4)


def moved(name, phi, w, h):
    """The rotation vector after h with constant (w_1, w_2), by Runge-Kutta 4."""
    k_1 = placed(name, phi, w)[5]
    k_2 = placed(name, phi + 0.5 * h * k_1, w)[5]
    k_3 = placed(name, phi + 0.5 * h * k_2, w)[5]
    k_4 = placed(name, phi + h * k_3, w)[5]
    return phi + h / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4)


def clubs(count):
    """Bodies one after the other, each on a joint with two free rotations, the other way round in every second one."""
    links = [
        Link(
            path=f"/World/club_{i}",
            mass=1.0,
            center_of_mass=(0.5, 0.02, 0.03),
            inertia=(0.02, 0.001, 0.0, 0.1, 0.0, 0.09),
        )
        for i in range(count)
    ]
    joints = [
        Joint(
            path=f"/World/joint_{i}",
            parent=i - 1,
            child=i,
            parent_frame=Pose((1.0, 0.0, 0.0) if i else (0.0, 0.0, 0.0)),
            dofs=tuple(Dof(name=f"/World/joint_{i}:{axis.value}", axis=axis) for axis in (Axis.ROT_Y, Axis.ROT_Z)),
            reversed=i % 2 == 1,
        )
        for i in range(count)
    ]
    return Articulation(path="/World", links=tuple(links), joints=tuple(joints))


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 2])
def test_swings_through_half_a_turn_keep_their_energy(count, precision, integrator):
    """In any direction, straight through and past it, for 10 s at 960 Hz: within 1 % of the largest kinetic energy."""
    environments, rng = 16, np.random.default_rng(3)
    settings = SolverSettings(dt=1.0 / 960.0, precision=precision, integrator=integrator)
    simulation = Simulation(
        trees.scene(clubs(count), gravity=(-9.81, 0.0, 0.0)), environments=environments, settings=settings
    )
    v = rng.normal(size=(environments, count, 2))
    v *= rng.uniform(7.0, 12.0, (environments, count, 1)) / np.linalg.norm(v, axis=2, keepdims=True) / count
    v[0], v[1] = np.divide((9.0, 0.0), count), np.divide((0.0, -10.0), count)
    simulation.set_state(joint_velocity=v.reshape(environments, -1))
    recording = simulation.record(steps=9600, every=16)
    energy, swing_angle = recording.energy.astype(float), np.linalg.norm(recording.joint_position[..., :2], axis=-1)
    assert (swing_angle > 2.9).any(axis=0).mean() > 0.5 and swing_angle.max() <= np.pi + 1e-5
    drift = np.abs(energy.sum(axis=-1) - energy[0].sum(axis=-1)).max(axis=0)
    assert (drift / energy[..., 0].max(axis=0)).max() < 0.01


def test_a_step_past_half_a_turn_is_second_order():
    """Poses after half a second, in which the body passes it: an error that falls with the square of the step."""
    poses = []
    for steps in (120, 240, 480, 3840):
        settings = SolverSettings(dt=0.5 / steps, precision="float64")
        simulation = Simulation(trees.scene(clubs(1), gravity=(-9.81, 0.0, 0.0)), settings=settings)
        simulation.set_state(joint_velocity=[9.0, 4.0])
        recording = simulation.record(steps=steps, every=steps // 120)
        poses.append(recording.link_pose[-1, 0, 0, 3:])
    assert np.linalg.norm(recording.joint_position, axis=-1).max() > 3.1
    errors = [1.0 - abs(pose @ poses[-1]) for pose in poses[:-1]]
    assert errors[1] < errors[0] / 3.0**2 and errors[2] < errors[1] / 3.0**2
