"""Contacts of Newton's collision pipeline: the same motion as with our own shapes, in any world."""

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.extensions.newton.models import DT
from tests.usd.authoring import open_text

G = 9.81
HALF = 0.1


def boxes(count: int, apart: float = 0.0) -> newton.ModelBuilder:
    """A stack of cubes of 1 kg, with a gap below each."""
    builder = newton.ModelBuilder()
    builder.default_shape_cfg.density = 1.0 / (8.0 * HALF**3)
    builder.default_shape_cfg.mu = 0.5
    for k in range(count):
        place = wp.transform((0.02 * k, 0.0, HALF + 2.0 * HALF * k + apart * (k + 1)), wp.quat_identity())
        body = builder.add_body(xform=place, label=f"box{k}")
        builder.add_shape_box(body, hx=HALF, hy=HALF, hz=HALF)
    return builder


def on_ground(world: newton.ModelBuilder, worlds: int = 1) -> newton.Model:
    """Worlds on one ground."""
    builder = newton.ModelBuilder()
    builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=0.5))
    builder.replicate(world, worlds)
    return builder.finalize()


def stepped(model: newton.Model, steps: int, **options) -> tuple[SolverWarpArtic, newton.State]:
    """A model after steps with the contacts of its pipeline."""
    solver = SolverWarpArtic(model, dt=DT, contact_points=4, **options)
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    one, other = model.state(), model.state()
    newton.eval_fk(model, one.joint_q, one.joint_qd, one)
    for _step in range(steps):
        pipeline.collide(one, contacts)
        solver.step(one, other, None, contacts, DT)
        one, other = other, one
    return solver, one


def test_stack_as_with_our_shapes():
    """Three cubes that land on each other, in two worlds, come to lie where our shapes do, to 5e-4 of their size."""
    model = on_ground(boxes(3, apart=1e-3), worlds=2)
    solver, state = stepped(model, 240)
    solids = [box(f"box{k}", HALF, (0.02 * k, 0.0, HALF + 2.0 * HALF * k + 1e-3 * (k + 1)), mass=1.0) for k in range(3)]
    ours = wa.Simulation(wa.read_stage(open_text(ContactScene(solids=solids).usd)), settings=wa.SolverSettings(dt=DT))
    ours.step(240)
    ours.report()
    wanted = ours.state.link_pose.numpy()[:, :3, 0]
    found = state.body_q.numpy().reshape(2, 3, 7)
    np.testing.assert_allclose(found[0, :, :3], wanted, atol=5e-4 * 2.0 * HALF)
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(state.body_qd.numpy()).max() < 1e-4
    given = solver.simulation.given_contacts
    assert not given.left_out.numpy().any()
    np.testing.assert_allclose(np.abs(given.impulse().numpy()[..., 2]).sum(axis=1), 6.0 * G * DT, rtol=1e-3)


@pytest.mark.parametrize("is_first", [False, True])
def test_ball_comes_to_roll(is_first):
    """At 5/7 of its speed, on a plane and on a fixed box, whichever shape Newton takes first."""
    builder = newton.ModelBuilder()
    builder.default_shape_cfg.mu = 0.3
    if is_first:
        builder.add_shape_box(-1, xform=wp.transform((0.0, 0.0, -1.0), wp.quat_identity()), hx=9.0, hy=9.0, hz=1.0)
    body = builder.add_body(xform=wp.transform((0.0, 0.0, HALF), wp.quat_identity()), label="ball")
    builder.add_shape_sphere(body, radius=HALF)
    builder.joint_qd[:3] = [2.0, 0.0, 0.0]
    if not is_first:
        builder.add_ground_plane()
    _solver, state = stepped(builder.finalize(), 240)
    speed = state.body_qd.numpy()[0, :3]
    np.testing.assert_allclose(speed, (10.0 / 7.0, 0.0, 0.0), atol=2e-3)


def test_no_contacts_are_no_contacts():
    """Without contacts in a step bodies fall, also where there were some in the step before."""
    model = on_ground(boxes(1))
    solver, state = stepped(model, 24)
    other = model.state()
    for _step in range(24):
        solver.step(state, other, None, None, DT)
        state, other = other, state
    assert state.body_qd.numpy()[0, 2] == pytest.approx(-G * 24 * DT, rel=1e-3)


def test_bodies_that_are_too_many():
    """What would be larger than a mechanism is refused, with its size."""
    with pytest.raises(wa.DescriptionError, match="132 degrees of freedom"):
        SolverWarpArtic(on_ground(boxes(22)), dt=DT, contact_points=1)
