"""What of a model of Newton is not simulated, in sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import newton
import numpy as np
from warp_artic.extensions.newton.numbers import compensated_gravity

from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.scene import Scene
from warp_artic.errors import HostError

OTHERS = {
    "particle_count": "particles",
    "tendon_count": "cables that are routed over bodies",
    "muscle_count": "muscles",
}
"""What only other solvers step, by the attribute of a model that counts it."""
OPTIONS = {
    "media with a density or a viscosity": (("density", "viscosity"), 0.0),
    "flags that switch off a part of the dynamics": (
        tuple(f"flag_{name}" for name in "actuation constraint damper equality frictionloss limit spring".split()),
        1.0,
    ),
}
"""What options of MuJoCo ask for: their names, and the value that asks for nothing."""
SHOWN = 3
"""Labels that a warning has at most."""


def check_model(model: newton.Model) -> None:
    """Refuse a model of which more is asked than the motion of articulations."""
    if model.requires_grad:
        raise HostError("the model requires gradients, which this solver does not have; finalize(requires_grad=False)")
    if not model.joint_count:
        raise HostError("the model has no joint, so there is nothing to step; ModelBuilder.add_body gives a free one")
    for attribute, what in OTHERS.items():
        if count := getattr(model, attribute):
            raise HostError(f"the model has {count} {what}, which are not simulated; step them with another solver")


def check_scene(scene: Scene) -> None:
    """Refuse a scene with what a state of Newton has no place for."""
    if scene.elastic_bodies:
        path = scene.elastic_bodies[0].name
        raise HostError(f"{path}: is an elastic body, whose nodes the state of Newton does not have; play the stage")


def check_state(state: newton.State) -> None:
    """Refuse a state that gradients are asked of."""
    if state.joint_q.requires_grad or state.joint_qd.requires_grad:
        raise HostError("the state requires gradients, which this solver does not have; model.state(False)")


def warn_of_what_is_left_of_shapes(model: newton.Model, scene: Scene | None) -> None:
    """Say that contacts are ignored, where no scene has them, and none are given."""
    touches = scene is not None and any(tree.constraints_of(ContactPair) for tree in scene.articulations)
    if model.shape_count and not touches:
        collide = model.shape_flags.numpy() & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0
        moving = np.flatnonzero(collide & (model.shape_body.numpy() >= 0))
        if len(moving):
            labels = ", ".join(model.shape_label[shape] for shape in moving[:SHOWN])
            more = f" and {len(moving) - SHOWN} more" if len(moving) > SHOWN else ""
            _warn(
                f"contacts are not simulated without those of a scene, or contact_points for those of Newton: shapes "
                f"collide with nothing ({labels}{more})"
            )


def warn_of_what_is_left(model: newton.Model) -> None:
    """Say what of MuJoCo that acts on joints is ignored."""
    for what, count in _of_mujoco(model):
        if count > 0:
            _warn(f"{count} {what} of MuJoCo are not simulated")


def _of_mujoco(model: newton.Model) -> Iterator[tuple[str, int]]:
    """What only the solver of MuJoCo knows of, where a model has attributes for it."""
    counts = model.custom_frequency_counts
    yield "equality constraints", counts.get("mujoco:equality_constraint", 0) - model.constraint_mimic_count
    yield "tendons", counts.get("mujoco:tendon", 0)
    own = getattr(model, "mujoco", None)
    if (source := getattr(own, "ctrl_source", None)) is not None:
        direct = source.numpy() == newton.solvers.SolverMuJoCo.CtrlSource.CTRL_DIRECT
        yield "actuators that are no joint targets (control.joint_f gives efforts)", np.count_nonzero(direct)
    for what, (names, nothing) in OPTIONS.items():
        found = (getattr(own, name, None) for name in names)
        yield what, sum(one is not None and bool((one.numpy() != nothing).any()) for one in found)
    if (are_actuators := getattr(own, "jnt_actgravcomp", None)) is not None and compensated_gravity(model).any():
        yield "effort limits of actuators that compensate gravity", np.count_nonzero(are_actuators.numpy())


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)
