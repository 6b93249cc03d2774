"""Worlds are environments with numbers of their own; they may lie apart, start anew alone, and be of several kinds."""

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, STAGES, chain, link, run

WORLDS = 6


def pendulum() -> newton.ModelBuilder:
    """A hinge, with a limit and a drive."""
    builder = newton.ModelBuilder()
    rod = link(builder, "rod", com=(0.0, 0.0, -0.4))
    joint = builder.add_joint_revolute(-1, rod, axis=(0, 1, 0), target_ke=1.0, target_kd=0.1, label="hinge")
    builder.add_articulation([joint])
    builder.joint_q[:] = [0.5]
    return builder


def many(*builders: newton.ModelBuilder) -> newton.ModelBuilder:
    """A world for each."""
    whole = newton.ModelBuilder()
    for builder in builders:
        whole.add_world(builder)
    return whole


def vary(model: newton.Model, rng) -> None:
    """Give each world numbers of its own."""
    for name in ("joint_target_ke", "joint_target_kd", "joint_armature", "joint_friction", "joint_damping"):
        getattr(model, name).assign(rng.uniform(0.05, 0.3, model.joint_dof_count).astype(np.float32))
    model.joint_effort_limit.assign(rng.uniform(2.0, 4.0, model.joint_dof_count).astype(np.float32))
    model.joint_limit_upper.assign(rng.uniform(0.6, 0.9, model.joint_dof_count).astype(np.float32))
    model.joint_limit_ke.fill_(40.0)
    scale = rng.uniform(0.5, 2.0, model.body_count).astype(np.float32)
    model.body_mass.assign(model.body_mass.numpy() * scale)
    model.body_inertia.assign(model.body_inertia.numpy() * scale[:, None, None])
    com = model.body_com.numpy()
    com[:, 0] += rng.uniform(-0.1, 0.1, model.body_count)
    model.body_com.assign(com)
    gravity = model.gravity.numpy()
    gravity[:, 2] *= rng.uniform(0.5, 1.0, len(gravity))
    model.gravity.assign(gravity)


def test_each_world_has_numbers_of_its_own():
    """It moves as a model of this world alone, with these numbers, does."""
    model = many(*[chain() for _ in range(WORLDS)]).finalize()
    vary(model, np.random.default_rng(1))
    solver = SolverWarpArtic(model, dt=DT)
    assert (solver.simulation.environments, solver.simulation.variant) == (WORLDS, "lanes")
    q = run(solver, 120).joint_q.numpy().reshape(WORLDS, 2)
    assert len(np.unique(q.round(3), axis=0)) == WORLDS
    for world in range(WORLDS):
        alone = chain().finalize()
        dofs, bodies = slice(2 * world, 2 * world + 2), slice(2 * world, 2 * world + 2)
        for name in ("target_ke", "target_kd", "armature", "friction", "damping", "effort_limit", "limit_upper"):
            getattr(alone, f"joint_{name}").assign(getattr(model, f"joint_{name}").numpy()[dofs])
        alone.joint_limit_ke.assign(model.joint_limit_ke.numpy()[dofs])
        for name in ("body_mass", "body_inertia", "body_com"):
            getattr(alone, name).assign(getattr(model, name).numpy()[bodies])
        alone.gravity.assign(model.gravity.numpy()[world : world + 1])
        assert run(SolverWarpArtic(alone, dt=DT), 120).joint_q.numpy() == pytest.approx(q[world], abs=2e-5)


def test_worlds_of_several_kinds():
    """They lie beside each other in one environment, and move as they do alone."""
    model = many(chain(), pendulum(), chain()).finalize()
    solver = SolverWarpArtic(model, dt=DT)
    assert (solver.simulation.environments, len(solver.simulation.articulations)) == (1, 3)
    q = run(solver, 120).joint_q.numpy()
    double = run(SolverWarpArtic(chain().finalize(), dt=DT), 120).joint_q.numpy()
    single = run(SolverWarpArtic(pendulum().finalize(), dt=DT), 120).joint_q.numpy()
    assert q == pytest.approx(np.concatenate([double, single, double]), abs=1e-6)


def test_what_is_in_all_worlds():
    """Its own gravity moves it."""
    builder = many(chain(), chain())
    builder.add_builder(pendulum())
    model = builder.finalize()
    gravity = model.gravity.numpy()
    gravity[-1] = 0.0
    model.gravity.assign(gravity)
    q = run(SolverWarpArtic(model, dt=DT), 60).joint_q.numpy()
    assert np.array_equal(q[:2], q[2:4])
    alone = pendulum().finalize()
    alone.gravity.zero_()
    assert q[4] == pytest.approx(run(SolverWarpArtic(alone, dt=DT), 60).joint_q.numpy()[0], abs=1e-6)
    assert abs(q[0] - 0.6) > 0.2


def test_worlds_that_lie_apart():
    """Bodies are where their world is; far ones are as precise as near ones."""
    whole = newton.ModelBuilder()
    for place in (0.0, 3.0, 1000.0):
        whole.add_world(chain(), xform=wp.transform((place, 0.0, 0.0), wp.quat_identity()))
    model = whole.finalize()
    solver = SolverWarpArtic(model, dt=DT)
    assert solver.simulation.environments == 3
    state = run(solver, 60)
    places = state.body_q.numpy()[:, :3].reshape(3, 2, 3)
    assert np.array_equal(*state.joint_q.numpy().reshape(3, 2)[:2])
    assert np.allclose(places[1] - places[0], [3.0, 0.0, 0.0], atol=1e-6)
    assert np.allclose(places[2] - places[0], [1000.0, 0.0, 0.0], atol=1e-4)


def test_worlds_of_a_scene():
    """Tendons of the stage act in each of them, with numbers that one world has of its own."""
    builder = newton.ModelBuilder()
    builder.add_usd(str(STAGES / "fixed_tendon_two_joints.usda"))
    whole = newton.ModelBuilder()
    for world in range(5):
        whole.add_world(builder, label_prefix=f"world{world}")
    model = whole.finalize()
    model.body_mass.assign(model.body_mass.numpy() * np.repeat(np.float32([1, 1, 2, 1, 1]), builder.body_count))
    scene = wa.read_stage(STAGES / "fixed_tendon_two_joints.usda")
    solver = SolverWarpArtic(model, scene=scene, dt=DT)
    assert (solver.simulation.environments, solver.simulation.variant) == (5, "lanes")
    q = run(solver, 120, solver.start_state()).joint_q.numpy().reshape(5, -1)
    alone = wa.Simulation(scene, settings=wa.SolverSettings(dt=DT))
    alone.step(120)
    rows = [alone.joint_names.index(name) for name in builder.joint_label if name in alone.joint_names]
    assert np.array_equal(q[[0, 1, 3]], q[[1, 3, 4]])
    assert q[0] == pytest.approx(alone.state.joint_position.numpy()[rows, 0], abs=2e-5)
    assert np.abs(q[2] - q[0]).max() > 1e-2


def test_a_scene_is_of_one_world():
    """Worlds that differ in more than numbers cannot all be it."""
    builder = newton.ModelBuilder()
    builder.add_usd(str(STAGES / "pendulum_double.usda"))
    with pytest.raises(wa.HostError, match="the worlds of the model differ in more than numbers"):
        SolverWarpArtic(many(builder, chain()).finalize(), scene=wa.read_stage(STAGES / "pendulum_double.usda"))


def test_worlds_that_are_turned():
    """Gravity pulls where it does in each of them."""
    whole = newton.ModelBuilder()
    turns = [wp.quat_identity(), wp.quat_from_axis_angle(wp.vec3(0.6, 0.8, 0.0), 0.7)]
    for turn in turns:
        whole.add_world(chain(), xform=wp.transform((0.0, 2.0, 0.0), turn))
    model = whole.finalize()
    solver = SolverWarpArtic(model, dt=DT)
    assert solver.simulation.environments == 2
    state, expected = run(solver, 60), model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, expected)
    assert np.abs(state.body_q.numpy()[:, :3] - expected.body_q.numpy()[:, :3]).max() < 2e-6
    turned = chain()
    turned.joint_X_p[0] = whole.joint_X_p[2]
    alone = run(SolverWarpArtic(turned.finalize(), dt=DT), 60).joint_q.numpy()
    assert state.joint_q.numpy()[2:] == pytest.approx(alone, abs=1e-5)
    assert np.abs(alone - state.joint_q.numpy()[:2]).max() > 0.05


@pytest.mark.parametrize("kinds", ["alike", "unlike"])
def test_reset_of_some_worlds(kinds):
    """They are back at the start and go on as at first; the others go on as if nothing had been."""
    builders = [chain(), pendulum() if kinds == "unlike" else chain(), chain()]
    model = many(*builders).finalize()
    own = model.joint_coord_world_start.numpy()
    chosen = slice(own[1], own[2])
    others = np.r_[own[0] : own[1], own[2] : own[3]]
    solver, untouched = SolverWarpArtic(model, dt=DT), SolverWarpArtic(model, dt=DT)
    before, whole = run(solver, 40), run(untouched, 40)
    mask = wp.array([False, True, False, False], dtype=wp.bool)
    solver.reset(before, mask)
    assert np.array_equal(before.joint_q.numpy()[chosen], model.joint_q.numpy()[chosen])
    assert np.array_equal(before.joint_qd.numpy()[chosen], model.joint_qd.numpy()[chosen])
    after = run(solver, 40, before).joint_q.numpy()
    assert np.array_equal(after[chosen], whole.joint_q.numpy()[chosen])
    assert np.array_equal(after[others], run(untouched, 40, whole).joint_q.numpy()[others])


def test_reset_of_all_worlds_and_of_parts():
    """Without a mask all worlds are meant; flags say what."""
    model = many(chain(), chain()).finalize()
    solver = SolverWarpArtic(model)
    state = run(solver, 20)
    velocity = state.joint_qd.numpy().copy()
    solver.reset(state, flags=newton.StateFlags.JOINT_Q)
    assert np.array_equal(state.joint_q.numpy(), model.joint_q.numpy())
    assert np.array_equal(state.joint_qd.numpy(), velocity)
    solver.reset(state)
    assert np.array_equal(state.joint_qd.numpy(), model.joint_qd.numpy())
    SolverWarpArtic(model).reset(state)
    with pytest.raises(ValueError, match="length"):
        solver.reset(state, wp.array([True], dtype=wp.bool))


@pytest.mark.parametrize("worlds", [1, 3])
def test_furniture(worlds):
    """What is bolted to the world, in an articulation of its own, stays where it is, also in worlds that lie apart."""
    builder, whole = chain(), newton.ModelBuilder()
    table, top = link(builder, "table"), link(builder, "top")
    at = wp.transform((0.0, 0.0, 1.0), wp.quat_identity())
    bolts = [builder.add_joint_fixed(-1, table, parent_xform=at), builder.add_joint_fixed(table, top, parent_xform=at)]
    builder.add_articulation(bolts, label="furniture")
    for world in range(worlds):
        whole.add_world(builder, xform=wp.transform((3.0 * world, 0.0, 0.0), wp.quat_identity()))
    state = run(SolverWarpArtic(whole.finalize(), dt=DT), 60)
    alone = run(SolverWarpArtic(chain().finalize(), dt=DT), 60).joint_q.numpy()
    assert state.joint_q.numpy().reshape(worlds, 2) == pytest.approx(np.tile(alone, (worlds, 1)), abs=1e-6)
    places = state.body_q.numpy().reshape(worlds, 4, 7)[:, 2:, :3]
    wanted = [[(3.0 * world, 0.0, height) for height in (1.0, 2.0)] for world in range(worlds)]
    assert places == pytest.approx(np.array(wanted), abs=1e-6)
