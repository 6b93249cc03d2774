"""Rollouts that torch differentiates: tensors in, tensors out, gradients by `backward`.

    import torch
    import warp_artic as wa

    motion = wa.torch.rollout(simulation, {"joint_effort": efforts}, start={"joint_velocity": velocity})
    motion.joint_position[-1].square().sum().backward()
    velocity.grad

What is given and returned is as of `warp_artic.rollout`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.views import real_numbers
from warp_artic.sim.differentiable_rollout import (
    DifferentiableRollout,
    Key,
    RolloutMotion,
    arrays_given,
    check_precision,
)
from warp_artic.sim.simulation import Simulation

try:
    import torch
except ImportError:
    raise SettingsError('wa.torch needs PyTorch: pip install "warp-artic[torch]"') from None

__all__ = ["RolloutMotion", "rollout"]


def rollout(
    simulation: Simulation,
    controls: Mapping[str, Any] | None = None,
    *,
    steps: int | None = None,
    start: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    every: int = 1,
) -> RolloutMotion[torch.Tensor]:
    """`warp_artic.rollout` as a function that torch differentiates, of the tensors that it is given.

    It runs from the authored start in a simulation that is left as it is; what is not given is as in the simulation
    when it is called. Values are those of `rollout` in every bit. Gradients are those of `Simulation.gradient`, which
    says what they cost: some twenty runs or more. They are of first order.

    Args:
        simulation: As of `warp_artic.rollout`.
        controls: The same, tensors of their shapes.
        steps: As of `warp_artic.rollout`.
        start: The same. Gradients are by each number, of root_pose by all four of the quaternion.
        parameters: As controls.
        every: As of `warp_artic.rollout`.

    Returns:
        Tensors on the device of the simulation: joint_position and joint_velocity (T // every + 1, E, D), root_pose
        (.., E, R, 7) and root_velocity (.., E, R, 6), the first record of the start. On a CPU tensors are read and
        given in place; on a GPU they pass through the host.

    Raises:
        SettingsError: A name, a shape, a count or a type is not allowed; nothing is converted unseen.
        SolveError: There is something in the scene that is not differentiated yet, as of `Simulation.tangent`.
    """
    tensors = arrays_given(simulation, controls, start, parameters)
    for key, values in tensors.items():
        if hasattr(values, "dtype"):
            check_precision(key, str(values.dtype).removeprefix("torch."), simulation)
        else:
            values = real_numbers(key[1], values)
        tensors[key] = torch.as_tensor(values, dtype=getattr(torch, simulation.settings.precision))
    shapes = {key: tuple(values.shape) for key, values in tensors.items()}
    host = DifferentiableRollout(simulation, shapes, steps, every)
    return RolloutMotion(*_Rollout.apply(host, torch.device(simulation.device), tuple(tensors), *tensors.values()))


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, host: DifferentiableRollout, device: torch.device, keys: tuple[Key, ...], *tensors):
        ctx.host, ctx.keys = host, keys
        ctx.save_for_backward(*tensors)
        return tuple(torch.from_numpy(part).to(device) for part in host.run(_arrays(keys, tensors)))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *slopes):
        tensors = ctx.saved_tensors
        wanted = [key for key, is_needed in zip(ctx.keys, ctx.needs_input_grad[3:]) if is_needed]
        given = RolloutMotion(*(slope.cpu().numpy() for slope in slopes))
        found = ctx.host.pull_back(_arrays(ctx.keys, tensors), given, wanted)
        return (
            None,
            None,
            None,
            *(
                torch.from_numpy(found[key]).to(tensor.device) if key in found else None
                for key, tensor in zip(ctx.keys, tensors)
            ),
        )


def _arrays(keys: tuple[Key, ...], tensors) -> dict:
    """Tensors in the memory of arrays, where they are on a CPU."""
    return {key: tensor.detach().cpu().numpy() for key, tensor in zip(keys, tensors)}
