"""What cannot be simulated is refused, or left out with a warning, by its name."""

import warnings
from pathlib import Path

import newton
import numpy as np
import pytest
import warp as wp
from warp_artic.extensions.newton import SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import DT, asset, chain, link, start


def with_joint(add):
    """A link on the world, and another one with a joint to it that `add` makes."""
    builder = newton.ModelBuilder()
    first, second = link(builder, "first"), link(builder, "second")
    joints = [builder.add_joint_revolute(-1, first, axis=(0, 1, 0), label="axle"), add(builder, first, second)]
    builder.add_articulation(joints)
    return builder


def particles():
    builder = chain()
    builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    return builder


def kinematic():
    builder = newton.ModelBuilder()
    builder.add_body(label="conveyor", mass=1.0, inertia=wp.mat33(np.eye(3)), is_kinematic=True)
    return builder


def alone():
    builder = chain()
    link(builder, "stray")
    return builder


def loop():
    builder = chain()
    other = link(builder, "other")
    builder.add_articulation([builder.add_joint_revolute(-1, other, axis=(0, 1, 0), label="third")])
    builder.add_joint_ball(1, other, label="closing")
    builder.joint_articulation[-1] = -1
    return builder


def set_on(add, name, value):
    """A body with a joint, one array of which is set from the outside."""
    builder = newton.ModelBuilder()
    joint = add(builder, link(builder, "body"))
    builder.add_articulation([joint])
    getattr(builder, name)[:] = value
    return builder


def ball(builder, body):
    return builder.add_joint_ball(-1, body, stiffness=2.0, label="ball")


REFUSED = {
    "armature of a free joint": (
        lambda: set_on(lambda b, body: b.add_joint_free(body, label="root"), "joint_armature", [0.0] * 5 + [0.1]),
        "joint root: has joint_armature (0, 0, 0, 0, 0, 0.1), which does not act on a FREE joint; it must be 0",
    ),
    "bent spring of a ball": (
        lambda: set_on(ball, "joint_rest_q", [0.6, 0.0, 0.0, 0.8]),
        "joint ball: has a spring with the rest (0.6, 0, 0, 0.8); of a BALL joint it must be (0, 0, 0, 1)",
    ),
    "limits of a ball": (
        lambda: set_on(ball, "joint_limit_upper", [0.5] * 3),
        "joint ball: has limits, which do not act on a BALL joint; a D6 joint has them for each axis",
    ),
    "distance": (
        lambda: with_joint(lambda b, p, c: b.add_joint_distance(p, c, max_distance=1.0, label="rope")),
        "joint rope: is a DISTANCE joint, which is not simulated; BALL, D6, FIXED, FREE, PRISMATIC, REVOLUTE joints",
    ),
    "free between bodies": (
        lambda: with_joint(lambda b, p, c: b.add_joint_free(c, parent=p, label="loose")),
        "joint loose: is a FREE joint between two bodies; it must have the world as its parent",
    ),
    "disabled": (
        lambda: with_joint(lambda b, p, c: b.add_joint_fixed(p, c, enabled=False, label="weld")),
        "joint weld: is disabled, which leaves its body without a joint; remove it instead",
    ),
    "particles": (particles, "the model has 1 particles, which are not simulated; step them with another solver"),
    "kinematic": (kinematic, "body conveyor: is kinematic, which is not simulated"),
    "no joint": (alone, "body stray: has no joint; ModelBuilder.add_body gives a body a free one"),
    "loop": (loop, "joint closing: is in no articulation, and joins two; that is not simulated yet"),
    "nothing": (newton.ModelBuilder, "the model has no joint, so there is nothing to step"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    """In one line, which says what it is, and what is allowed or to be done."""
    make, line = REFUSED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().finalize()
    with pytest.raises(wa.HostError) as caught:
        SolverWarpArtic(model, dt=DT)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_scene_with_a_body_that_deforms():
    """The state of Newton has no place for its nodes."""
    scene = wa.read_stage(Path(__file__).parents[3] / "samples" / "scenes" / "soft_fingertip.usda")
    with pytest.raises(wa.HostError, match="fingertip: is an elastic body, whose nodes the state of Newton does not"):
        SolverWarpArtic(chain().finalize(), scene=scene, dt=DT)


def test_gradients():
    """They are refused, of models and of states."""
    with pytest.raises(wa.HostError, match="the model requires gradients, which this solver does not have"):
        SolverWarpArtic(chain().finalize(requires_grad=True), dt=DT)
    model = chain().finalize()
    state = model.state(requires_grad=True)
    with pytest.raises(wa.HostError, match="the state requires gradients, which this solver does not have"):
        SolverWarpArtic(model).step(state, model.state(), None, None, DT)


def test_a_mass_that_is_none():
    """The rules of descriptions speak of bodies by their labels."""
    builder = newton.ModelBuilder()
    body = builder.add_link(label="ghost")
    builder.add_articulation([builder.add_joint_revolute(-1, body, axis=(0, 1, 0))])
    with pytest.raises(wa.DescriptionError, match="ghost: mass 0 kg must be positive"):
        SolverWarpArtic(builder.finalize(), dt=DT)


def test_what_is_left_out():
    """Contacts and actuators of MuJoCo are, and it is said once, when the solver is made."""
    model = asset("nv_ant.xml").finalize()
    with pytest.warns(UserWarning) as caught:
        solver = SolverWarpArtic(model, dt=DT)
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2
    assert texts[0].startswith(
        "contacts are not simulated without those of a scene, or contact_points for those of Newton: shapes collide "
        "with nothing (ant/worldbody/"
    )
    assert texts[1].startswith(
        "8 actuators that are no joint targets (control.joint_f gives efforts) of MuJoCo are not"
    )
    assert {one.filename for one in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(start(model), model.state(), None, None, DT)


def test_options_of_mujoco_that_are_left_out():
    """A medium around bodies, and dampers and limits that are switched off, are said once each."""
    option = '<option density="1.2"><flag damper="disable" limit="disable"/></option>'
    geom = '<geom type="box" size=".1 .2 .3" contype="0" conaffinity="0"/>'
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(f'<mujoco>{option}<worldbody><body><joint damping="2"/>{geom}</body></worldbody></mujoco>')
    with pytest.warns(UserWarning) as caught:
        SolverWarpArtic(builder.finalize(), dt=DT)
    assert [str(one.message) for one in caught] == [
        "1 media with a density or a viscosity of MuJoCo are not simulated",
        "2 flags that switch off a part of the dynamics of MuJoCo are not simulated",
    ]
