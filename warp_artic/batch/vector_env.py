"""A stage as a vector environment of Gymnasium: many copies that are controlled, observed and put back to a start.

Arrays of a task are of shape (environments, ...): NumPy on a CPU, torch on any device, both in the memory of the
simulation, or JAX, which gets copies.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from warp_artic.batch.case import Cases
from warp_artic.batch.columns import refuse_idle
from warp_artic.batch.plan import Plan, Vary, name_of
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import CONTROL, MOTION, SceneArray
from warp_artic.sim.change.start import ONE_TIME
from warp_artic.sim.launch.device import array_of, start_quietly
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

try:
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise SettingsError('VectorEnv needs Gymnasium: pip install "warp-artic[gymnasium]"') from None

KINDS = ("numpy", "torch", "jax")
LOG = logging.getLogger("warp_artic")


class Arrays:
    """The state and the control of a simulation by name, each of shape (environments, ...); see `Simulation.state`."""

    def __init__(self, simulation: Simulation, kind: str):
        self._simulation, self._kind = simulation, kind
        self._known: dict[str, object] = {}

    def __getattr__(self, name: str) -> Any:
        known = self._known.get(name)
        if known is not None:
            return known
        source = self._simulation.control if name in CONTROL else self._simulation.state
        array = getattr(source, name)
        found = array_of(array, self._kind)
        # The memory of the motion stays what it is; other arrays are reported when they are asked for.
        is_view = self._kind != "jax" and not isinstance(array, SceneArray)
        if is_view and name in (*MOTION, "failure", *CONTROL):
            self._known[name] = found
        return found


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task on a stage. Its functions take `Arrays` and return arrays of shape (environments, ...)."""

    observe: Callable[[Arrays], Any]
    """Observation, shape (E, D)."""
    reward: Callable[[Arrays, Any], Any]
    """Reward of a step, given the actions, shape (E)."""
    terminated: Callable[[Arrays], Any]
    """Whether the episode has ended, shape (E); so has one that diverges."""
    action: str = "drive_position_target"
    """The array of the control that actions are written to, in place of what time samples of the stage say."""
    joints: Sequence[str] | None = None
    """The dofs that have actions, in their order; all by default."""
    low: float = -1.0
    high: float = 1.0
    """Bounds of actions."""
    scale: float = 1.0
    """What an action is multiplied by before it is written."""
    decimation: int = 1
    """Time steps of an action."""
    time_limit: float | None = None
    """After which an episode is truncated [s]."""


class VectorEnv(GymnasiumVectorEnv):
    """A Gymnasium vector environment of copies of a stage.

    Args:
        stage: A USD file.
        task: What is to be done.
        num_envs: Number of copies.
        plan: A plan whose variables are drawn anew at each reset, by the index of the copy and of the episode; its
            settings are those of steps where `settings` is None; its stage, runs, duration, inputs, and what it keeps,
            are ignored. None: each episode begins as authored.
        device: "cpu" or "cuda:N".
        arrays: "numpy" (on a CPU), "torch" or "jax".
        autoreset: "next_step", "same_step" or "disabled", as `gymnasium.vector.AutoresetMode` describes them; with the
            last, `reset(options={"reset_mask": mask})` resets chosen copies.
        settings: Solver settings.

    Raises:
        SettingsError, StageError: An argument, or something of the stage, is not allowed.
    """

    def __init__(
        self,
        stage: str | os.PathLike,
        task: Task,
        num_envs: int,
        *,
        plan: Plan | None = None,
        device: str = "cpu",
        arrays: str = "numpy",
        autoreset: str = "next_step",
        settings: SolverSettings | None = None,
    ):
        modes = [mode.name.lower() for mode in AutoresetMode]
        if autoreset not in modes:
            raise SettingsError(
                f"autoreset: {autoreset!r} is not one of {', '.join(modes)}{did_you_mean(autoreset, modes)}"
            )
        if arrays not in KINDS or (arrays == "numpy" and device != "cpu"):
            raise SettingsError(f"arrays: {arrays!r} on {device} is not one of {', '.join(KINDS)}, numpy on a CPU")
        start_quietly(device)
        self.num_envs, self.task = num_envs, task
        self._mode = AutoresetMode[autoreset.upper()]
        self.metadata = {"autoreset_mode": self._mode}
        given = {} if settings is None else {k: v for k, v in vars(settings).items() if v is not None}
        varied = {} if plan is None else {"vary": plan.vary, "seed": plan.seed, "dialects": plan.dialects}
        if settings is None and plan is not None:
            given = plan.settings
        _refuse_kinds(varied.get("vary", ()))
        self._given = {"stage": os.path.abspath(stage), "runs": 2**31 - 1, "steps": 1, "settings": given, **varied}
        self._case = Cases(Plan(**self._given), device).of(())
        refuse_idle(self._case.plan, self._case.columns)
        self.simulation = self._case.simulation(num_envs)
        self._numbers = self._case.scene_numbers(num_envs)
        self._places = self._case.response.places
        self._rows = self._chosen_rows()
        for name in self.simulation.joint_names if task.joints is None else task.joints:
            self.simulation.target_tracks.pop((task.action, name), None)
        if self.simulation.run.has_time_samples:
            LOG.warning("%s: %s", stage, ONE_TIME)
        self._start = self.simulation.snapshot()
        self.arrays = Arrays(self.simulation, arrays)
        self._xp = import_module({"numpy": "numpy", "torch": "torch", "jax": "jax.numpy"}[arrays])
        self._kind = arrays
        self._limit = np.iinfo(int).max
        if task.time_limit is not None:
            self._limit = max(1, round(task.time_limit / (self.simulation.dt * task.decimation)))
        action = getattr(self.simulation.control, task.action)
        self._is_written_in_place = arrays != "jax" and not isinstance(action, SceneArray)
        self._clock, self._begun, self._next_limit = 0, np.zeros(num_envs, int), 0
        self._done = np.zeros(num_envs, bool)
        self._episode, self._tables = np.zeros(num_envs, int), {}
        self._make_spaces()

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Reset all copies, or those of the mask `options["reset_mask"]`; observations and info.

        A seed begins the draws of the plan anew.
        """
        mask = (options or {}).get("reset_mask")
        if seed is not None:
            super().reset(seed=seed)
            self._case.plan = Plan(**(self._given | {"seed": seed}))
            self._tables.clear()
            self._episode[:] = 0
        chosen = np.ones(self.num_envs, bool) if mask is None else np.asarray(mask, bool)
        if chosen.shape != (self.num_envs,):
            raise SettingsError(f"reset_mask: has shape {chosen.shape}, must be ({self.num_envs},)")
        self._put_back(np.flatnonzero(chosen))
        return self._observed(), {}

    def step(self, actions):
        """Apply actions of shape (E, A); returns observations, rewards, terminated, truncated and info."""
        task, anew = self.task, self._done
        actions = self._checked(actions)
        self._act(actions)
        self.simulation.step(task.decimation)
        self._clock += 1
        failed = self._failed()
        terminated = _on_host(task.terminated(self.arrays)).astype(bool)
        if failed is not None:
            terminated |= failed
        truncated = self._at_limit(terminated)
        reward = task.reward(self.arrays, actions)
        if self._mode is AutoresetMode.NEXT_STEP and anew.any():
            failed = failed if failed is None else failed & ~anew
            self._put_back(np.flatnonzero(anew))
            reward = self._xp.where(self._as_given(anew), self._xp.zeros_like(reward), reward)
            terminated, truncated = terminated & ~anew, truncated & ~anew
        info: dict = {} if failed is None or not failed.any() else {"failure": failed}
        done = terminated | truncated
        self._done = done
        observation = self._observed()
        if self._mode is AutoresetMode.SAME_STEP and done.any():
            info |= {"final_obs": observation, "_final_obs": done}
            self._put_back(np.flatnonzero(done))
            observation = self._observed()
        return observation, reward, self._as_given(terminated), self._as_given(truncated), info

    def _checked(self, actions):
        """Actions as an array of the kind that the task has, of the shape that they must have."""
        wanted = (self.num_envs, self._actions)
        try:
            found = self._as_given(actions)
        except (TypeError, ValueError, RuntimeError):
            raise SettingsError(f"actions: a {type(actions).__name__} is no array of shape {wanted}") from None
        if tuple(found.shape) != wanted:
            raise SettingsError(f"actions: have shape {tuple(found.shape)}, must be {wanted}")
        return found

    def _act(self, actions) -> None:
        target = getattr(self.arrays, self.task.action)
        if not self._is_written_in_place:
            values = np.array(_on_host(target))
            values[:, self._rows] = np.clip(_on_host(actions), self.task.low, self.task.high) * self.task.scale
            setattr(self.simulation.control, self.task.action, values.T)
            return
        task = self.task
        within = actions.clip(task.low, task.high)
        target[:, self._rows] = within if task.scale == 1.0 else within * task.scale

    def _observed(self):
        found = self.task.observe(self.arrays)
        return found.copy("K") if self._kind == "numpy" else found.clone() if self._kind == "torch" else found

    def _failed(self) -> np.ndarray | None:
        """Which copies have failed; None: none has."""
        failure = _on_host(self.arrays.failure)
        return (failure[:, :, 0] > 0).any(axis=1) if failure.any() else None

    def _at_limit(self, terminated: np.ndarray) -> np.ndarray:
        """Which copies have gone on for as long as they may, and have not ended by themselves."""
        if self._clock < self._next_limit:
            return np.zeros_like(terminated)
        self._next_limit = int(self._begun.min()) + self._limit
        return (self._begun <= self._clock - self._limit) & ~terminated

    def _as_given(self, values):
        if self._kind == "torch":
            return self._xp.as_tensor(values, device=self.arrays.joint_position.device)
        return self._xp.asarray(values)

    def _put_back(self, chosen: np.ndarray) -> None:
        """Begin an episode in chosen copies."""
        if not len(chosen):
            return
        self.simulation.apply(self._start, environments=None if len(chosen) == self.num_envs else chosen)
        if len(self._places):
            values = np.concatenate([self._table(int(self._episode[one]))[one : one + 1] for one in chosen])
            self._numbers.write(self._places, self._case.response.numbers(values), chosen)
        self._episode[chosen] += 1
        self._begun[chosen] = self._clock
        self._done = self._done.copy()  # the flags of before are with who has taken a step
        self._done[chosen] = False

    def _table(self, episode: int) -> np.ndarray:
        """The values of all copies in an episode."""
        if episode not in self._tables:
            first = episode * self.num_envs
            self._tables[episode] = self._case.table(first, first + self.num_envs)
            for old in [one for one in self._tables if one < self._episode.min()]:
                del self._tables[old]
        return self._tables[episode]

    def _chosen_rows(self):
        names = self.simulation.joint_names
        if self.task.action not in CONTROL[:3]:
            allowed = CONTROL[:3]
            found = self.task.action
            raise SettingsError(f"action: {found!r} is not one of {', '.join(allowed)}{did_you_mean(found, allowed)}")
        for name in self.task.joints or ():
            if name not in names:
                raise SettingsError(f"joints: {name!r} is no dof of the stage{did_you_mean(name, names)}")
        found = list(range(len(names))) if self.task.joints is None else [names.index(one) for one in self.task.joints]
        is_run = found == list(range(found[0], found[0] + len(found))) if found else False
        self._actions = len(found)
        return slice(found[0], found[0] + len(found)) if is_run else found

    def _make_spaces(self) -> None:
        task, seen = self.task, _on_host(self.task.observe(self.arrays))
        if seen.ndim != 2 or len(seen) != self.num_envs:
            raise SettingsError(f"observe: gives shape {seen.shape}, must be ({self.num_envs}, D)")
        self.single_observation_space = Box(-np.inf, np.inf, seen.shape[1:], seen.dtype.type)
        self.single_action_space = Box(task.low, task.high, (self._actions,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)


def _refuse_kinds(varied: Sequence[Vary]) -> None:
    """What has no end, or no place, where episodes are drawn."""
    for vary in varied:
        if vary.kind == "variant":
            raise SettingsError(f"plan: {name_of(vary)} is a variant; all copies are of one, which the stage selects")
        if "values" in vary.distribution:
            raise SettingsError(f"plan: {name_of(vary)} has values for some runs; episodes have no end: draw them")


def _on_host(values) -> np.ndarray:
    return values.cpu().numpy() if hasattr(values, "cpu") else np.asarray(values)
