"""Springs and dampers in a step: stable whatever they are, of second order where the step resolves them."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import reference_problems
from tests.oracles.dense_step import single_shares
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf

GAINS = [0.0, *np.logspace(-4, 8, 25)]
"""k and d."""


def amplification(k, d, m, h, share):
    """(q+, v+) by (q, v) of a mass on a spring and damper that are a row.

    m (v+ - v) = - h k (q + theta h ((1 - share) v + theta v+)) - h d ((1 - theta) v + theta v+)
    q+ = q + h ((1 - share) v + share v+)
    """
    x = h * (d + h * k) / m
    theta = share + (1.0 - share) * x * x / (1.0 + x * x)
    inertia = m + h * theta * (d + theta * h * k)
    by_q = -h * k / inertia
    by_v = (m - h * (theta * (1.0 - share) * h * k + (1.0 - theta) * d)) / inertia
    return np.array([[1.0 + h * share * by_q, h * (1.0 - share) + h * share * by_v], [by_q, by_v]])


def dof_amplification(k, d, m, h, share):
    """The same of one that is folded into its dof; with share 1 backward Euler.

    m (v+ - v) = - h k (q + reach h w) - h d w,   w = (1 - theta) v + theta v+,   q+ = q + h w
    """
    if share == 1.0:
        return amplification(k, d, m, h, 1.0)
    theta, reach = single_shares(k, d, m, h)
    resistance = d + reach * h * k
    inertia = m + h * theta * resistance
    by_q = -h * k / inertia
    by_v = (m - h * (1.0 - theta) * resistance) / inertia
    return np.array([[1.0 + h * theta * by_q, h * (1.0 - theta) + h * theta * by_v], [by_q, by_v]])


laws = pytest.mark.parametrize("law", [amplification, dof_amplification])


@pytest.mark.parametrize("h", [1e-4, 1 / 960, 1 / 240, 1 / 60, 0.1])
@pytest.mark.parametrize("share", [0.5, 1.0])
@laws
def test_no_spring_and_no_damper_makes_a_step_unstable(law, share, h):
    """The spectral radius is at most one for k and d from 0 to 1e8 and masses of 1 g to 1 t; below one with both."""
    for m in (1e-3, 1.0, 1e3):
        for k in GAINS:
            for d in GAINS:
                values = np.linalg.eigvals(law(k, d, m, h, share))
                assert np.abs(values).max() <= 1.0 + 1e-7, (k, d, m)
                if k * h * h / m > 1e-6 and d * h / m > 1e-6:
                    assert np.abs(values).max() < 1.0, (k, d, m)


@pytest.mark.parametrize("scale", [0.0, 4.0])
def test_no_springs_and_dampers_make_coupled_dofs_unstable(scale):
    """Of dofs with any inertia matrix, by their pivots: none of 2000 has a spectral radius above one."""
    rng = np.random.default_rng(11)
    for _ in range(2000):
        count = rng.integers(2, 6)
        factor = np.tril(rng.normal(size=(count, count)))
        size = 10.0 ** (scale * rng.uniform(-0.5, 0.5, count))
        M = (factor @ factor.T + 1e-2 * np.eye(count)) * np.sqrt(np.outer(size, size))
        k, d = size * 10.0 ** rng.uniform(-3.0, 5.0, (2, count)) * (rng.random((2, count)) < 0.7)
        assert np.abs(np.linalg.eigvals(coupled_amplification(M, k, d))).max() <= 1.0 + 1e-6


def coupled_amplification(M, k, d):
    """(q+, v+) by (q, v) of dofs with springs and dampers in a step of one."""
    count = len(M)
    rest, theta, reach = M.copy(), np.zeros(count), np.zeros(count)
    for dof in reversed(range(count)):
        theta[dof], reach[dof] = single_shares(k[dof], d[dof], rest[dof, dof], 1.0)
        pivot = rest[dof, dof] + theta[dof] * (d[dof] + reach[dof] * k[dof])
        rest[:dof, :dof] -= np.outer(rest[:dof, dof], rest[dof, :dof]) / pivot
    resistance, one = d + reach * k, np.eye(count)
    inverse = np.linalg.inv(M + np.diag(theta * resistance))
    by_q, by_v = -inverse @ np.diag(k), inverse @ (M - np.diag((1.0 - theta) * resistance))
    share = np.diag(theta)
    return np.block([[one + share @ by_q, one - share + share @ by_v], [by_q, by_v]])


@pytest.mark.parametrize("h", [1 / 960, 1 / 60])
@pytest.mark.parametrize("share", [0.5, 1.0])
@laws
def test_an_undamped_spring_never_gains_energy(law, share, h):
    """k q^2 + m v^2 has a bound over a thousand steps that does not grow; with share 1 it falls in every step."""
    for k in GAINS[1:]:
        A = law(k, 0.0, 1.0, h, share)
        for start in ([1.0, 0.0], [0.0, 1.0]):
            state, energies = np.array(start), []
            for _ in range(1000):
                energies.append(k * state[0] ** 2 + state[1] ** 2)
                state = A @ state
            assert max(energies[500:]) <= 1.001 * max(energies[:500])
            if share == 1.0:
                assert np.diff(energies).max() <= 1e-12 * energies[0]


def test_an_undamped_spring_that_the_step_resolves_keeps_its_energy():
    """At a tenth of a radian a step to a part in a million a step, at half a radian to a hundredth."""
    for radians, most in ((0.1, 1e-6), (0.5, 1e-2)):
        radius = np.abs(np.linalg.eigvals(dof_amplification(radians**2, 0.0, 1.0, 1.0, 0.5))).max()
        assert 1.0 - most < radius**2 <= 1.0


@laws
def test_an_infinite_spring_is_at_rest_after_two_steps(law):
    """The step of the middle is nilpotent."""
    A = law(1e14, 0.0, 1.0, 1 / 240, 0.5)
    scale = np.diag([1.0, 1 / 240])
    np.testing.assert_allclose(scale @ A @ A @ np.linalg.inv(scale), 0.0, atol=1e-8)


def test_a_damper_never_turns_a_dof_round():
    """What it leaves of a velocity is exp(- h d / m) to third order, and never below zero."""
    for delta in np.logspace(-3, 8, 45):
        left = dof_amplification(0.0, delta, 1.0, 1.0, 0.5)[1, 1]
        assert left > -1e-12
        assert abs(left - np.exp(-delta)) <= min(delta**4 / 24.0, 0.03) + 1e-15


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0, 10.0, 100.0])
def test_no_stiff_dof_rings(ratio):
    """With a damping ratio of a half or more no part of the motion changes its sign from step to step."""
    for radians in np.logspace(-1, 4, 26):
        values = np.linalg.eigvals(dof_amplification(radians**2, 2.0 * ratio * radians, 1.0, 1.0, 0.5))
        assert values.real.min() > -0.02


def element(kind, k, d):
    """Sliders of 2 kg seen from a coordinate c q on which one element of a family acts, and c."""
    tree = trees.chain(1, "prismatic_x", mass=2.0)
    if kind == "drive":
        return trees.with_dofs(tree, drive=Drive(stiffness=k, damping=d)), [1.0]
    if kind == "viscous friction":
        return trees.with_dofs(tree, friction=Friction(viscous=d)), [1.0]
    if kind == "fixed tendon":
        tendon = FixedTendon(
            name="t", dofs=(0,), coefficients=(1.0,), force_coefficients=(1.0,), stiffness=k, damping=d
        )
        return trees.replace(tree, fixed_tendons=(tendon,)), [1.0]
    tree = trees.chain(2, "prismatic_x", mass=2.0)
    joints = (trees.replace(tree.joints[0], dofs=()), tree.joints[1])
    if kind == "spatial tendon":
        ends = (
            Attachment(name="root", link=0, position=(-1.0, 0, -0.5), parent=None),
            Attachment(name="leaf", link=1, position=(0, 0, 0), parent=0),
        )
        leaf = TendonLeaf(attachment=1, rest_length=1.0)
        tendon = SpatialTendon(name="t", attachments=ends, leaves=(leaf,), stiffness=k, damping=d)
        return trees.replace(tree, joints=joints, spatial_tendons=(tendon,)), [1.0]
    links = tuple(trees.replace(tree.links[0], path=f"/World/chain/link_{i:02d}", mass=4.0) for i in range(3))
    joints = [joints[0]]
    joints += [trees.plain_joint(f"/World/chain/joint_{i:02d}", 0, i, "prismatic_x") for i in (1, 2)]
    frequency = np.sqrt(k / 2.0)
    mimic = Mimic(
        name="m", dofs=(0, 1), gears=(1.0, -1.0), natural_frequency=frequency, damping_ratio=d / (4.0 * frequency)
    )
    return trees.replace(tree, links=links, joints=tuple(joints), mimics=(mimic,)), [1.0, -1.0]


CASES = [
    *(("drive", k, d) for k in (0.0, 50.0, 1e4, 1e8) for d in (0.0, 10.0, 1e4, 1e8)),
    *(("viscous friction", 0.0, d) for d in (1.0, 500.0, 1e8)),
    *(("fixed tendon", k, d) for k in (50.0, 1e4, 1e8) for d in (0.0, 10.0, 1e4)),
    *(("spatial tendon", k, d) for k in (50.0, 1e4, 1e8) for d in (0.0, 10.0, 1e4)),
    *(("mimic", k, d) for k in (50.0, 1e4, 1e8) for d in (0.0, 10.0, 1e4)),
]


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize(("kind", "k", "d"), CASES)
def test_every_family_steps_by_the_same_matrix(kind, k, d, integrator):
    """One element: the first step has share 1 for a row, later ones that of the integrator."""
    h = 1 / 240
    tree, c = element(kind, k, d)
    simulation = Simulation(
        trees.scene(tree, gravity=(0, 0, 0)),
        settings=SolverSettings(dt=h, precision="float64", integrator=integrator),
    )
    simulation.set_state(joint_position=0.3 * np.array(c) / len(c), joint_velocity=-np.array(c) / len(c))
    recording = simulation.record(30)
    path = np.stack([recording.joint_position[:, 0] @ c, recording.joint_velocity[:, 0] @ c], axis=1)
    state = path[0]
    np.testing.assert_allclose(state, [0.3, -1.0])
    is_row = kind not in ("drive", "viscous friction")
    for step in range(30):
        share = 1.0 if step == 0 and is_row or integrator == "semi_implicit" else 0.5
        law = amplification if is_row else dof_amplification
        state = law(k, d, 2.0, h, share) @ state
        np.testing.assert_allclose(path[step + 1], state, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("integrator", "order"), [("midpoint", 4.0), ("semi_implicit", 2.0)])
@pytest.mark.parametrize("ratio", [0.0, 0.2, 3.0])
def test_the_order_of_an_oscillator(ratio, integrator, order):
    """Of 8 rad/s over a second, by halving steps that resolve it; with a middle it may be better."""
    k, d = 2.0 * 8.0**2, 2.0 * ratio * 8.0 * 2.0
    errors = []
    for rate in (480, 960, 1920):
        simulation = Simulation(
            trees.scene(element("drive", k, d)[0], gravity=(0, 0, 0)),
            settings=SolverSettings(dt=1 / rate, precision="float64", integrator=integrator),
        )
        simulation.set_state(joint_position=[0.3], joint_velocity=[-1.0])
        recording = simulation.record(rate)
        q, _ = reference_problems.oscillator(recording.time, 0.3, -1.0, 2.0, k, d)
        errors.append(np.abs(recording.joint_position[:, 0, 0] - q).max())
    for coarse, fine in zip(errors, errors[1:]):
        assert coarse / fine > 0.9 * order
        assert integrator == "midpoint" or coarse / fine < 1.1 * order


@pytest.mark.parametrize("damping", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("start", [0.0, -1.0])
def test_the_order_of_a_damped_drive(damping, start):
    """One that relaxes at 15 / s, with h d / m of `damping` at 240 Hz: of second order, or as close."""
    d = 2.0 * 240.0 * damping
    errors = []
    for rate in (120, 240, 480, 960):
        simulation = Simulation(
            trees.scene(element("drive", 15.0 * d, d)[0], gravity=(0, 0, 0)),
            settings=SolverSettings(dt=1 / rate, precision="float64"),
        )
        simulation.set_state(joint_position=[1.0], joint_velocity=[15.0 * start])
        recording = simulation.record(rate, every=rate // 120)
        q, _ = reference_problems.oscillator(recording.time, 1.0, 15.0 * start, 2.0, 15.0 * d, d)
        errors.append(np.abs(recording.joint_position[:, 0, 0] - q).max())
    assert errors[0] < 2.5e-3
    for rate, error in zip((240, 480, 960), errors[1:]):
        assert error < 1.2 * 2.5e-3 * (120.0 / rate) ** 2


@pytest.mark.parametrize("ratio", [0.7, 1.1, 3.0])
@pytest.mark.parametrize("radians", [0.1, 1.0, 10.0])
def test_the_order_of_a_stiff_drive(radians, ratio):
    """Of `radians` a step at 120 Hz: where a step resolves it the error falls by four; before, it is bounded."""
    omega = 120.0 * radians
    k, d = 2.0 * omega**2, 2.0 * ratio * omega * 2.0
    errors = {}
    for rate in (120, 240, 480, 960, 1920, 3840):
        simulation = Simulation(
            trees.scene(element("drive", k, d)[0], gravity=(0, 0, 0)),
            settings=SolverSettings(dt=1 / rate, precision="float64"),
        )
        simulation.set_state(joint_position=[1.0], joint_velocity=[0.0])
        recording = simulation.record(rate // 4, every=rate // 120)
        q, _ = reference_problems.oscillator(recording.time, 1.0, 0.0, 2.0, k, d)
        errors[rate] = np.abs(recording.joint_position[:, 0, 0] - q).max()
        assert errors[rate] < 0.04 * min(1.0, omega / rate) ** 2
