"""Stiffness and mass ratios without fear: bounded, never NaN, whatever the solver and however few its iterations."""

from functools import cache, partial

import numpy as np
import pytest

from tests import simulations, trees
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf

DT = 1.0 / 60.0
SOLVERS = [("direct", 1), ("pgs", 1), ("pgs", 8), ("tgs", 1), ("tgs", 4), ("tgs", 16)]
solvers = pytest.mark.parametrize(("solver", "iterations"), SOLVERS)
integrators = pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])

simulate = partial(simulations.simulate, dt=DT)


def energies(recording):
    """Kinetic and potential energy together, one for each record."""
    return recording.energy[:, 0].astype(float).sum(axis=1)


def chain_of_masses(first, last):
    """Twelve rods of 0.3 m; the mass goes from `first` to `last` [kg] along them, by the same factor at each joint."""
    tree = trees.chain(12, length=0.3)
    masses = np.geomspace(first, last, 12)
    rods = masses * 0.3**2 / 12.0
    links = tuple(
        trees.replace(link, mass=float(mass), inertia=(rod, 0, 0, rod, 0, 0.01 * rod))
        for link, mass, rod in zip(tree.links, masses, map(float, rods))
    )
    return trees.replace(tree, links=links)


def fixed_tendon(dofs, coefficients, stiffness, **options):
    return FixedTendon(
        name=f"t{dofs}",
        dofs=dofs,
        coefficients=coefficients,
        force_coefficients=coefficients,
        stiffness=stiffness,
        **options,
    )


def ten_seconds(tree, **settings):
    """The recording of a swing of three links, and what energy they gain."""
    simulation = simulate(tree, **settings)
    simulation.set_state(joint_position=[0.4, 0.4, 0.8])
    recording = simulation.record(600)
    energy = energies(recording)
    assert np.isfinite(recording.joint_velocity).all()
    return recording, energy.max() - energy[0]


@cache
def gain_of_the_links_alone(**settings):
    """Without tendons [J]."""
    return ten_seconds(trees.chain(3), **settings)[1]


@solvers
@integrators
@pytest.mark.parametrize("damping", [0.0, 5.0])
@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e9])
def test_fixed_tendons_of_any_stiffness(stiffness, damping, integrator, solver, iterations):
    """Ten seconds of three links with two tendons that share a joint: no more energy than the links alone gain."""
    tendons = (
        fixed_tendon((0, 1), (1.0, -1.0), stiffness, damping=damping),
        fixed_tendon((1, 2), (1.0, -0.5), stiffness, damping=damping),
    )
    tree = trees.replace(trees.chain(3), fixed_tendons=tendons)
    settings = {"integrator": integrator, "solver": solver, "position_iterations": iterations}
    recording, gain = ten_seconds(tree, **settings)
    assert gain <= gain_of_the_links_alone(**settings) * (1.0 if stiffness > 1.0 else 2.0)
    if stiffness >= 1e6:
        assert np.abs(recording.tendon_length).max() < (1e-2 if solver == "direct" or iterations > 1 else 0.1)


@solvers
@integrators
@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e9])
def test_spatial_tendons_of_any_stiffness(stiffness, integrator, solver, iterations):
    """A branching tendon over three links, damped, started a tenth of a metre too long: it comes to rest."""
    attachments = (
        Attachment(name="root", link=0, position=(0.15, 0, 0), parent=None),
        Attachment(name="middle", link=1, position=(0.15, 0, 0), parent=0),
        Attachment(name="one", link=1, position=(0.1, 0, -0.4), parent=1),
        Attachment(name="two", link=2, position=(0.1, 0, -0.4), parent=1),
    )
    tendon = SpatialTendon(
        name="t",
        attachments=attachments,
        leaves=(TendonLeaf(attachment=2, rest_length=0.8), TendonLeaf(attachment=3, rest_length=1.2)),
        stiffness=stiffness,
        damping=10.0,
        all_segments=True,
    )
    tree = trees.with_dofs(trees.chain(3), drive=Drive(damping=2.0))
    tree = trees.replace(tree, spatial_tendons=(tendon,))
    simulation = simulate(tree, integrator=integrator, solver=solver, position_iterations=iterations)
    recording = simulation.record(900)
    assert np.isfinite(recording.joint_velocity).all()
    assert np.abs(recording.joint_velocity[-60:]).max() < 1e-2
    assert recording.energy[-60:, 0, 0].max() < 1e-4


@solvers
@integrators
@pytest.mark.parametrize("max_force", [np.inf, 5.0])
@pytest.mark.parametrize("damping", [0.0, 10.0, 1e3])
def test_drives_of_a_million(damping, max_force, integrator, solver, iterations):
    """A chain whose drives have kp = 1e6, far from their targets: bounded; with enough force and damping on target."""
    drive = Drive(stiffness=1e6, damping=damping, position_target=0.5, max_force=max_force)
    simulation = simulate(
        trees.with_dofs(trees.chain(4), drive=drive),
        integrator=integrator,
        solver=solver,
        position_iterations=iterations,
    )
    recording = simulation.record(600)
    assert np.isfinite(recording.joint_velocity).all()
    if max_force == np.inf:
        np.testing.assert_allclose(recording.joint_position[-60:], 0.5, atol=1e-4)
    else:
        assert recording.energy[:, 0, 0].max() < 1e3


def coupled(tree, case):
    """A chain with drives, limits, or each joint tied to the one before."""
    pairs = [(k, k - 1) for k in range(1, 12)]
    if case == "drives":
        return trees.with_dofs(tree, drive=Drive(stiffness=1e6, damping=1e3, position_target=0.1))
    if case == "limits":
        return trees.with_dofs(tree, limit=Limit(lower=-0.3, upper=0.3))
    if case == "mimics":
        return trees.replace(
            tree, mimics=tuple(Mimic(name=f"m{pair[0]}", dofs=pair, gears=(1.0, -1.0)) for pair in pairs)
        )
    tendons = tuple(fixed_tendon(pair, (1.0, -1.0), 1e6, damping=10.0) for pair in pairs)
    return trees.replace(tree, fixed_tendons=tendons)


@pytest.mark.parametrize(
    ("solver", "iterations", "integrator"),
    [
        *((solver, count, "midpoint") for solver, count in SOLVERS),
        *((solver, count, "semi_implicit") for solver, count in SOLVERS if count < 16),
    ],
)
@pytest.mark.parametrize("case", ["drives", "limits", "mimics", "tendons"])
def test_masses_that_fall_a_thousandfold(case, integrator, solver, iterations):
    """Twelve links from 1000 to 1 kg swing for five seconds: what they gain is a share of what they move."""
    tree = coupled(chain_of_masses(1000.0, 1.0), case)
    simulation = simulate(tree, integrator=integrator, solver=solver, position_iterations=iterations)
    simulation.set_state(joint_position=[0.1] * 12)
    recording = simulation.record(300)
    assert np.isfinite(recording.joint_velocity).all() and not simulation.failures()
    energy = energies(recording)
    assert energy.max() - energy[0] <= 0.25 * recording.energy[:, 0, 0].max()


@integrators
@pytest.mark.parametrize("case", ["drives", "mimics", "tendons"])
def test_masses_that_grow_a_thousandfold(case, integrator):
    """Twelve links from 1 to 1000 kg with `direct`: the relations hold and nothing runs away."""
    simulation = simulate(coupled(chain_of_masses(1.0, 1000.0), case), integrator=integrator)
    simulation.set_state(joint_position=[0.1] * 12)
    recording = simulation.record(300)
    assert np.isfinite(recording.joint_velocity).all() and not simulation.failures()
    energy = energies(recording)
    assert energy.max() - energy[0] <= 0.03 * recording.energy[:, 0, 0].max()
    assert np.abs(recording.mimic_error).max(initial=0.0) < 1e-3
    assert np.abs(recording.tendon_length).max(initial=0.0) < 5e-2
