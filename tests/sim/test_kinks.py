"""How near rows are to a switch, against laws of sliders in closed form, and the derivatives on either side."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from warp_artic import Drive, FixedTendon, Friction, Limit, SettingsError, Simulation, SolverSettings

H = 1 / 240
MASS = trees.chain(1, "prismatic_x").links[0].mass
LEVEL = (0.0, 0.0, -9.81)
"""Gravity across the slider."""


def slider(solver="direct", position=0.0, velocity=0.0, tendons=(), **changes) -> Simulation:
    """A mass on one slider."""
    tree = trees.with_dofs(trees.chain(1, "prismatic_x"), position=position, velocity=velocity, **changes)
    tree = replace(tree, fixed_tendons=tendons)
    settings = SolverSettings(precision="float64", integrator="semi_implicit", solver=solver, position_iterations=8)
    return Simulation(trees.scene(tree, gravity=LEVEL), settings=settings)


def margins(simulation, effort=0.0, steps=1):
    """What the only row has left, a velocity and a force."""
    simulation.control.joint_effort = effort
    found = simulation.kinks(steps)
    assert len(found.names) == 1
    return found.velocity[0, 0], found.force[0, 0]


SOLVERS = pytest.mark.parametrize("solver", ["direct", "pgs"])
EXACT = {"rel": 1e-9, "abs": 1e-12}
LIMIT_AND_FRICTION = "joint limit", "friction"


@SOLVERS
def test_a_limit(solver):
    """Free it has (upper - q) / h - v+ left, and pressed on it, the force that presses."""
    simulation = slider(solver, position=0.04, velocity=0.3, limit=Limit(lower=-0.05, upper=0.05))
    assert margins(simulation) == (pytest.approx(0.01 / H - 0.3, **EXACT), np.inf)
    pressed = slider(solver, position=0.05, limit=Limit(lower=-0.05, upper=0.05))
    velocity, force = margins(pressed, effort=3.0)
    assert velocity == np.inf and force == pytest.approx(3.0, **EXACT)


@SOLVERS
def test_friction(solver):
    """It holds until the effort is the static one; once it slips, until the speed is zero."""
    friction = Friction(static_effort=2.0, dynamic_effort=1.0)
    velocity, force = margins(slider(solver, friction=friction), effort=1.7)
    assert velocity == np.inf and force == pytest.approx(0.3, **EXACT)
    velocity, force = margins(slider(solver, velocity=0.5, friction=friction))
    assert velocity == pytest.approx(0.5 - H / MASS, **EXACT) and force == np.inf


@SOLVERS
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_and_friction_that_hold_at_once(solver, side):
    """However they share what holds: the stop lets go where friction could hold alone, and friction slips away from it.

    Away from the stop the slider goes there if it is pressed by more than the friction, else it stays.
    """
    most = 2.0
    friction = Friction(static_effort=most, dynamic_effort=most)

    def found(position, effort):
        held = Limit(lower=-0.05, upper=0.05)
        simulation = slider(solver, position=side * position, limit=held, friction=friction)
        simulation.control.joint_effort = side * effort
        kinks = simulation.kinks()
        rows = {name.partition(":")[0]: row for row, name in enumerate(kinks.names)}
        of_stop, of_friction = ((kinks.velocity[0, rows[of]], kinks.force[0, rows[of]]) for of in LIMIT_AND_FRICTION)
        simulation.step()
        return of_stop, of_friction, side * simulation.state.joint_velocity.numpy()[0, 0]

    gap = 1e-7
    for effort in (2.1, 5.0):
        of_stop, of_friction, _ = found(0.05, effort)
        assert of_stop == (np.inf, pytest.approx(effort - most, **EXACT))
        assert of_friction == (np.inf, pytest.approx(effort + most, **EXACT))
        assert found(0.05 - gap, effort)[2] == pytest.approx(gap / H, rel=1e-6)
    for effort in (0.5, 1.9):
        of_stop, _, _ = found(0.05, effort)
        assert of_stop[0] == pytest.approx(0.0, abs=1e-12)
        if solver == "direct":  # sweeps take many to share a gap out that is so small
            assert found(0.05 - gap, effort)[2] == 0.0
    of_stop, of_friction, _ = found(0.05, -1.5)
    assert of_stop[0] == pytest.approx(0.0, abs=1e-12) and of_friction[1] == pytest.approx(0.5, **EXACT)


@SOLVERS
def test_a_drive_at_its_maximum(solver):
    """Within it, the force that is left; beyond it, how much faster its law wants the motion to be."""
    k, d, target = 40.0, 5.0, 0.1
    drive = Drive(stiffness=k, damping=d, position_target=target, max_force=10.0)
    wanted = k * target / (1.0 + (H * d + H * H * k) / MASS)
    velocity, force = margins(slider(solver, drive=drive))
    assert velocity == np.inf and force == pytest.approx(10.0 - wanted, **EXACT)
    velocity, force = margins(slider(solver, drive=replace(drive, max_force=1.0)))
    slope = d + H * k
    law = (k * target - slope * H / MASS - 1.0) / slope
    assert velocity == pytest.approx(law, **EXACT) and force == np.inf


def test_a_limit_of_a_tendon():
    """Slack, and taut by its limit spring."""
    tendon = {"name": "/World/tendon", "dofs": (0,), "coefficients": (1.0,), "force_coefficients": (1.0,)}
    tendon = FixedTendon(**tendon, stiffness=0.0, limit_stiffness=100.0, lower=-1.0, upper=0.2)
    found = slider(position=0.1, velocity=0.6, tendons=(tendon,)).kinks()
    row = next(place for place, name in enumerate(found.names) if name.startswith("limits of a fixed tendon:"))
    assert found.velocity[0, row] == pytest.approx(0.1 / H - 0.6, **EXACT)
    found = slider(position=0.3, tendons=(tendon,)).kinks()
    row = next(place for place, name in enumerate(found.names) if name.startswith("limits of a fixed tendon:"))
    assert found.force[0, row] == pytest.approx(10.0 / (1.0 + H * H * 100.0 / MASS), **EXACT)


def test_derivatives_are_others_beyond_a_margin():
    """An effort that is less than a margin away from a switch leaves a step its matrix; one beyond it does not."""
    simulation = slider(friction=Friction(static_effort=2.0, dynamic_effort=2.0))
    _, force = margins(simulation, effort=1.7)
    before, within, beyond = (1.7, 1.7 + 0.99 * force, 1.7 + 1.01 * force)
    matrices = []
    for effort in (before, within, beyond):
        simulation.control.joint_effort = effort
        matrices.append(simulation.linearize(["joint_effort"]).B.numpy()[0])
    np.testing.assert_array_equal(matrices[0], matrices[1])
    assert np.abs(matrices[2] - matrices[0]).max() == pytest.approx(H / MASS, rel=1e-9)


def test_substeps_have_the_nearest():
    """The last one of eight is nearest to the limit, and each holds with the whole effort."""
    substep = H / 8
    simulation = slider("tgs", position=0.04, velocity=0.3, limit=Limit(lower=-0.05, upper=0.05))
    left = 0.05 - 0.04 - 0.3 * 7 * substep
    assert margins(simulation) == (pytest.approx(left / substep - 0.3, **EXACT), np.inf)
    simulation = slider("tgs", friction=Friction(static_effort=2.0, dynamic_effort=1.0))
    assert margins(simulation, effort=1.7) == (np.inf, pytest.approx(0.3, **EXACT))


def test_a_run_has_the_least_of_its_steps():
    """Which pass from one side to the other, under controls over time; the simulation stays as it is."""
    simulation = slider(position=0.0, velocity=0.0, friction=Friction(static_effort=2.0, dynamic_effort=1.0))
    simulation.step()
    before = simulation.snapshot()
    efforts = np.concatenate([np.full((5, 1), 1.5), np.full((5, 1), 2.5), np.zeros((40, 1))])
    found = simulation.kinks(50, {"joint_effort": efforts})
    assert found.force[0, 0] == pytest.approx(0.5, **EXACT)
    assert 0.0 < found.velocity[0, 0] < 2.0 * H / MASS  # it is held once its static effort can stop it
    assert found.near(1e-9, 0.51) == ((found.names[0], 0),) and found.near(1e-9, 0.49) == ()
    np.testing.assert_array_equal(simulation.snapshot().table.numpy(), before.table.numpy())
    assert simulation.steps_done == 1


def test_every_family_has_names_and_environments_do_not_see_each_other():
    """Bitwise alone and in lanes, of a tree with all families; equalities that cannot switch are left out."""
    settings = SolverSettings(precision="float64", variant="scalar")
    scene = trees.scene(tree_of_every_family())
    one = Simulation(scene, settings=settings).kinks(3)
    several = Simulation(scene, environments=3, settings=settings)
    rng = np.random.default_rng(0)
    velocity = several.state.joint_velocity.numpy().T.copy()
    velocity[1:] += rng.normal(size=velocity[1:].shape)
    several.set_state(joint_velocity=velocity)
    found = several.kinks(3)
    assert len(set(found.names)) == len(found.names) and set(one.names) <= set(found.names)
    places = [found.names.index(name) for name in one.names]
    np.testing.assert_array_equal(found.velocity[0, places], one.velocity[0])
    np.testing.assert_array_equal(found.force[0, places], one.force[0])
    families = {name.partition(":")[0] for name in found.names}
    assert {"friction", "joint limit", "drive"} <= families and "mimic joint" not in families
    lanes = Simulation(scene, environments=40, settings=SolverSettings(precision="float64")).kinks(3)
    assert lanes.names == one.names
    for ours, theirs in ((lanes.velocity, one.velocity), (lanes.force, one.force)):
        np.testing.assert_array_equal(ours, ours[:1].repeat(40, axis=0))
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-6)


def test_what_cannot_be_is_named():
    """Counts, names, and an integrator without rows."""
    with pytest.raises(SettingsError, match="steps: 0 is not an integer of at least 1"):
        slider().kinks(0)
    with pytest.raises(SettingsError, match="did you mean joint_effort"):
        slider().kinks(2, {"joint_efort": np.zeros((2, 1))})
    tree = trees.chain(1)
    simulation = Simulation(trees.scene(tree), settings=SolverSettings(integrator="rk4"))
    with pytest.raises(SettingsError, match="kinks: steps of the integrator rk4 have no limits"):
        simulation.kinks()
