"""Rollouts that JAX differentiates: `jax.grad`, `jax.vjp` and `jax.jit` of what calls `rollout`.

    import jax
    import warp_artic as wa

    def loss(velocity):
        motion = wa.jax.rollout(simulation, steps=100, start={"joint_velocity": velocity})
        return (motion.joint_position[-1] ** 2).sum()

    jax.grad(loss)(velocity)

What is given and returned is as of `warp_artic.rollout`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warp_artic.errors import SettingsError
from warp_artic.sim.differentiable_rollout import (
    DifferentiableRollout,
    Key,
    RolloutMotion,
    arrays_given,
    check_precision,
)
from warp_artic.sim.simulation import Simulation

try:
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
except ImportError:
    raise SettingsError('wa.jax needs JAX: pip install "warp-artic[jax]"') from None

__all__ = ["RolloutMotion", "rollout"]


def rollout(
    simulation: Simulation,
    controls: Mapping[str, Any] | None = None,
    *,
    steps: int | None = None,
    start: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    every: int = 1,
) -> RolloutMotion[jax.Array]:
    """`warp_artic.rollout` as a function that JAX differentiates backward, of the arrays that it is given.

    It runs from the authored start in a simulation that is left as it is; what is not given is as in the simulation
    when it is called, or traced by `jax.jit`, which calls it on the host. Values are those of `rollout` in every bit.
    Gradients are those of `Simulation.gradient`, which says what they cost: some twenty runs or more. They are of
    first order. `jax.vmap` runs one after the other; environments are what runs side by side.

    Args:
        simulation: As of `warp_artic.rollout`.
        controls: The same, arrays of their shapes.
        steps: As of `warp_artic.rollout`.
        start: The same. Gradients are by each number, of root_pose by all four of the quaternion.
        parameters: As controls.
        every: As of `warp_artic.rollout`.

    Returns:
        joint_position and joint_velocity (T // every + 1, E, D), root_pose (.., E, R, 7) and root_velocity
        (.., E, R, 6), the first record of the start.

    Raises:
        SettingsError: A name, a shape, a count or a type is not allowed; nothing is converted unseen.
        SolveError: There is something in the scene that is not differentiated yet, as of `Simulation.tangent`.
    """
    given = arrays_given(simulation, controls, start, parameters)
    precision = simulation.settings.precision
    if jax.dtypes.canonicalize_dtype(precision) != precision:
        raise SettingsError(
            f'wa.jax: the simulation has {precision}, which JAX has after jax.config.update("jax_enable_x64", True)'
        )
    keys = list(given)
    arrays = [_array(simulation, key, given[key]) for key in keys]
    host = DifferentiableRollout(simulation, {key: one.shape for key, one in zip(keys, arrays)}, steps, every)
    results = RolloutMotion(*(jax.ShapeDtypeStruct(shape, host.precision) for shape in host.shapes))

    @jax.custom_vjp
    def run(arrays):
        return jax.pure_callback(lambda own: host.run(dict(zip(keys, own))), results, arrays, vmap_method="sequential")

    def forward(arrays):
        values = [one.value for one in arrays]
        # The places of what is differentiated are the structure of a tree, which JAX leaves as it is
        return run(values), (values, [() if one.perturbed else None for one in arrays])

    def backward(kept, slopes):
        values, chosen = kept
        wanted = [place for place, one in enumerate(chosen) if one is not None]
        slopes = RolloutMotion(
            *(jnp.zeros(one.shape, one.dtype) if isinstance(one, SymbolicZero) else one for one in slopes)
        )

        def pull_back(own, slopes):
            found = host.pull_back(dict(zip(keys, own)), slopes, [keys[place] for place in wanted])
            return [found[keys[place]] for place in wanted]

        shapes = [jax.ShapeDtypeStruct(values[place].shape, host.precision) for place in wanted]
        found = jax.pure_callback(pull_back, shapes, values, slopes, vmap_method="sequential")
        by_place = dict(zip(wanted, found))
        return ([by_place.get(place) for place in range(len(keys))],)

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run(arrays)


def _array(simulation: Simulation, key: Key, values) -> jax.Array:
    """Values as JAX has them, if they have the precision of the simulation; plain numbers get it."""
    found = jnp.asarray(values) if hasattr(values, "dtype") else jnp.asarray(values, simulation.settings.precision)
    check_precision(key, str(found.dtype), simulation)
    return found
