"""Authors how a scene is stepped, and what a rigid body has beside UsdPhysics."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.edit import Edit, prim_at, prim_of_type
from warp_artic.usd.read_scene import WORDS


def scene(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    time_steps_per_second: float | None = None,
    solver: str | None = None,
    position_iterations: int | None = None,
    velocity_iterations: int | None = None,
    integrator: str | None = None,
    precision: str | None = None,
    sleep_after: float | None = None,
    sleep_threshold: float | None = None,
) -> Usd.Prim:
    """A PhysicsScene, made where there is none, with a WarpArticSceneAPI."""
    prim_of_type(stage, path, tokens.SCENE)
    edit = Edit(path)
    prefix = "warpArtic:scene:"
    rate = f"{prefix}timeStepsPerSecond"
    edit.number(rate, time_steps_per_second, least=0.0, uniform=True)
    if time_steps_per_second == 0:
        edit.refuse(rate, "is 0, must be above 0")
    for name, word in (("solver", solver), ("integrator", integrator), ("precision", precision)):
        edit.word(f"{prefix}{name}", word, WORDS[name])
    edit.iterations(f"{prefix}positionIterations", position_iterations, "position_iterations")
    edit.iterations(f"{prefix}velocityIterations", velocity_iterations, "velocity_iterations")
    edit.number(f"{prefix}sleepAfter", sleep_after, least=0.0, infinite=True, uniform=True)
    edit.number(f"{prefix}sleepThreshold", sleep_threshold, least=0.0, uniform=True)
    edit.apply(tokens.ARTIC_SCENE)
    return edit.write(stage.DefinePrim(path, tokens.SCENE))


def articulation(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    max_linear_velocity: float | None = None,
    max_angular_velocity: float | None = None,
) -> Usd.Prim:
    """An articulation root, or a root body, with a WarpArticArticulationAPI.

    It bounds the velocity of the centre of mass of a floating articulation [distance/s], and its angular velocity as a
    whole [degrees/s].
    """
    prim = prim_at(stage, path)
    allowed = {*tokens.ARTICULATION_ROOTS, tokens.RIGID_BODY}
    if allowed.isdisjoint(prim.GetAppliedSchemas()):
        raise StageError(f"{path}: is no articulation root; apply {tokens.ARTICULATION_ROOTS[0]} first")
    edit = Edit(path)
    speeds = {"maxLinearVelocity": max_linear_velocity, "maxAngularVelocity": max_angular_velocity}
    edit.not_negative("warpArtic:articulation:", True, **speeds)
    edit.apply(tokens.ARTIC_ARTICULATION)
    return edit.write(prim)


def link(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    linear_damping: float | None = None,
    angular_damping: float | None = None,
    max_linear_velocity: float | None = None,
    max_angular_velocity: float | None = None,
    gravity_scale: float | None = None,
) -> Usd.Prim:
    """A rigid body with a WarpArticLinkAPI: damping [1/s], largest speeds [distance/s, degrees/s], share of gravity."""
    prim = prim_at(stage, path)
    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        raise StageError(f"{path}: is no rigid body; apply {tokens.RIGID_BODY} first")
    edit = Edit(path)
    prefix = "warpArtic:link:"
    edit.not_negative(prefix, False, linearDamping=linear_damping, angularDamping=angular_damping)
    edit.not_negative(prefix, True, maxLinearVelocity=max_linear_velocity, maxAngularVelocity=max_angular_velocity)
    edit.number(f"{prefix}gravityScale", gravity_scale)
    edit.apply(tokens.ARTIC_LINK)
    return edit.write(prim)
