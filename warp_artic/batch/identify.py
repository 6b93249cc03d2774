"""Values of attributes on a stage by which its motion is nearest to a recording: nonlinear least squares.

With p the values and r(p) the differences of recorded and simulated positions, at all times and of all joints, the
method of Levenberg and Marquardt takes steps
    (J^T J + mu diag(J^T J)) dp = J^T r,   J = d(simulated) / dp
with mu smaller after a step that succeeds and larger after one that does not (More, The Levenberg-Marquardt Algorithm,
1978). What attributes do to the numbers of steps is found by reading the stage with other values, and what these do to
the motion by derivatives of steps (`sim.derivatives`). The covariance of what is found is s^2 (J^T J)^-1, with s^2 the
sum of squares over how many more differences than values there are, as of independent errors of one size.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from warp_artic.errors import SettingsError, SolveError, StageError, did_you_mean
from warp_artic.sim.change.numbers import SceneNumbers
from warp_artic.sim.derivatives.quantities import named
from warp_artic.sim.derivatives.tangent import Tangent, tangent_of_numbers
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.revise import same_over_time, same_structure
from warp_artic.sim.run.step import go_to
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.vary import Place, VariedStage

ROUNDS = 50
"""Most steps of the method that are tried."""
LARGEST_DAMPING = 1e12
"""Of mu; no step that is still shorter makes the differences smaller."""
NEARNESS = 1e-9
"""Change of each value, as a share of it, at which the method has arrived."""
PROBE = 0.05
"""Share of a value by which it is changed to see what the stage makes of it."""
DISTINCT = 1e-9
"""Least singular value of J with columns of length one, at which values can be told apart."""
LEAST_SHARE = 1e-12
"""Of the largest motion, what positions have to change by where a value doubles; less is rounding."""
CONFIDENCE = 0.95
FOLLOWED = ("drive_position_target", "drive_velocity_target")


@dataclass(frozen=True)
class IdentifiedValue:
    """An attribute, and what was found of it, in the units of the stage."""

    prim: str
    attribute: str
    """With the component of a vector, such as "physics:centerOfMass[2]"."""
    authored: float
    value: float
    deviation: float
    """Its standard deviation."""
    low: float
    """Where the confidence interval of 95 % begins; errors are taken as normal."""
    high: float


@dataclass(frozen=True, eq=False)
class Identification:
    """What a recording says about a stage."""

    values: tuple[IdentifiedValue, ...]
    covariance: np.ndarray
    """Of the values, in the order and the units of `values`, shape (K, K)."""
    residual: float
    """Root of the mean square of the differences that are left [rad or m]."""
    authored_residual: float
    """The same with the values of the stage."""
    rounds: int
    """Steps of the method."""


def identify(
    stage: str | os.PathLike,
    recording: Recording | str | os.PathLike,
    parameters: str | Sequence[str],
    output: str | os.PathLike | None = None,
    *,
    environment: int = 0,
    dialects: Sequence[str] = (),
) -> Identification:
    """Find values of attributes by which a stage moves as it was recorded.

    The first record is where the run begins: at time 0 with its first step, later as motion that goes on, and what
    follows time in the stage is that of these times. Positions of joints with one axis are compared; drives follow the
    targets of the stage. Steps are made in float64, with the other settings of the stage.

    Args:
        stage: A file, which stays as it is.
        recording: What was recorded, or an .npz file with it; records at whole multiples of the time step.
        parameters: Prims and an attribute each, such as "/World/arm/elbow.drive:angular:physics:stiffness", with a path
            or a path expression of OpenUSD for several prims; of a vector one component, as of
            "/World/arm/elbow.physics:centerOfMass[2]". Each prim has a value of its own, which begins as it is authored
            and may not be 0.
        output: A layer over the stage to write the values to (.usd, .usda or .usdc).
        environment: Of the recording.
        dialects: Schema families that come first, as of `read_stage`.

    Raises:
        SettingsError: An argument is not allowed.
        StageError: A name matches nothing, or what it matches is no number that steps depend on.
        SolveError: The recording does not tell values apart, or no values were found.
    """
    varied = VariedStage(stage, {}, dialects)
    if output is not None:
        varied.check_output(output, "layer of values")
    recorded = recording if isinstance(recording, Recording) else Recording.load(recording)
    places = _places(varied, parameters)
    problem = _Problem(varied, places, recorded, environment)
    start = np.array([varied.value(place) for place in places])
    values, covariance, first, last, rounds = _solved(problem, start)
    if output is not None:
        varied.write_edits(dict(zip(places, values)), {}, output, "Values identified by warp_artic")
    return _told(places, start, values, covariance, (first, last), rounds)


def _told(places, start, values, covariance, residuals, rounds) -> Identification:
    deviations = np.sqrt(np.diag(covariance))
    reach = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2.0) * deviations
    found = tuple(
        IdentifiedValue(place.prim, str(place)[len(place.prim) + 1 :], *map(float, numbers))
        for place, *numbers in zip(places, start, values, deviations, values - reach, values + reach)
    )
    return Identification(found, covariance, residuals[1], residuals[0], rounds)


def _places(stage: VariedStage, parameters: str | Sequence[str]) -> tuple[Place, ...]:
    """The attributes of prims that are meant, each once."""
    found: dict[Place, None] = {}
    for text in named("parameters", parameters):
        if not isinstance(text, str):
            raise SettingsError(f"parameters: {text!r} is no prim and attribute, such as /World/arm/elbow.physics:mass")
        prims, dot, attribute = text.rpartition(".")
        attribute, component = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", attribute, re.DOTALL).groups()
        if not dot or not prims or not attribute:
            raise SettingsError(f"{text}: is no prim and attribute, such as /World/arm/elbow.physics:mass")
        matched = stage.matching(prims)
        having = [prim for prim in matched if attribute in stage.attributes_of(prim)]
        if not having:
            known = {name for prim in matched for name in stage.attributes_of(prim)}
            raise StageError(f"{matched[0]}: has no attribute {attribute!r}{did_you_mean(attribute, known)}")
        found |= dict.fromkeys(Place(prim, attribute, None if component is None else int(component)) for prim in having)
    if not found:
        raise SettingsError("parameters: none are given")
    for place in found:
        value = stage.value(place)
        if not value or not np.isfinite(value):
            raise StageError(f"{place}: is {value}, must be a finite number other than 0 to begin with; author a guess")
    return tuple(found)


class _Problem:
    """Differences of recorded and simulated positions, and their derivatives."""

    def __init__(self, stage: VariedStage, places: tuple[Place, ...], recording: Recording, environment: int):
        self._stage, self.places = stage, places
        scene = stage.scene({})
        self._simulation = Simulation(scene, settings=SolverSettings(precision="float64"))
        self._numbers = SceneNumbers(self._simulation.run)
        self._written = np.zeros(len(self._numbers.authored), bool)
        self._steps, self._every, self._begun = _steps(recording, self._simulation.dt)
        last = recording.environment_count - 1
        if not isinstance(environment, (int, np.integer)) or not 0 <= environment <= last:
            raise SettingsError(f"environment: {environment!r} is not an integer from 0 to {last}")
        names = self._simulation.joint_names
        if recording.joint_names != names:
            missing = sorted(set(names) ^ set(recording.joint_names)) or names
            raise SettingsError(f"recording: has other joints than the stage, such as {missing[0]}")
        simple = {joint.path for tree in scene.articulations for joint in tree.joints if len(joint.dofs) == 1}
        self._compared = [k for k, name in enumerate(names) if name in simple]
        if not self._compared:
            raise StageError("no joint of the stage has one axis; positions of such joints are compared")
        self._target = recording.joint_position[:, environment, self._compared].astype(float)
        if not (is_finite := np.isfinite(self._target).all(axis=1)).all():
            raise SettingsError(f"recording: positions of joints in record {is_finite.argmin()} are not finite")
        if self.size <= len(places):
            raise SettingsError(
                f"recording: has {self.size} positions of joints after its start, must have more than the "
                f"{len(places)} values that are sought"
            )
        self._set_start(recording, environment)

    @property
    def size(self) -> int:
        """How many differences there are, without those of the start, which is given."""
        return self._target[1:].size

    @property
    def motion(self) -> float:
        """The root of the sum of squares of what positions move from the start."""
        return float(np.linalg.norm(self._target[1:] - self._target[0]))

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Values as their attributes keep them."""
        return np.array([self._stage.rounded(place, np.array([one]))[0] for place, one in zip(self.places, values)])

    def differences(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is recorded less what is simulated, and the derivatives of the latter by shares of the values."""
        slopes = np.stack([self._slope(values, k) for k in range(len(values))])
        numbers = self._read(values, 0)
        self._written |= np.any(slopes != 0.0, axis=0) | (numbers != self._numbers.authored)
        moved = np.flatnonzero(self._written)
        self._numbers.write(moved, numbers[moved, None])
        tangent = self._tangent(slopes)
        position = tangent.values.joint_position[1:, 0, self._compared]
        rates = tangent.derivatives.joint_position[1:, :, 0, self._compared]
        return (self._target[1:] - position).ravel(), np.moveaxis(rates, 1, -1).reshape(-1, len(values))

    def _set_start(self, recording: Recording, environment: int) -> None:
        simulation = self._simulation
        start = {"joint_position": recording.joint_position[0, environment]}
        if recording.joint_velocity.size:
            start["joint_velocity"] = recording.joint_velocity[0, environment]
        if simulation.root_names:
            own = [recording.link_names.index(name) for name in simulation.root_names if name in recording.link_names]
            if (
                len(own) < len(simulation.root_names)
                or not recording.link_pose.size
                or not recording.link_velocity.size
            ):
                raise SettingsError(f"recording: has no pose and velocity of {simulation.root_names[0]}; record links")
            start["root_pose"] = recording.link_pose[0, environment, own].astype(float)
            start["root_velocity"] = recording.link_velocity[0, environment, own].astype(float)
        simulation.set_state(**start)
        if self._begun > 0:
            # Steps that go on know accelerations, which those from the start tell; a first step moves rows otherwise.
            simulation.step(2)
            known = simulation.snapshot("history")
            simulation.set_state(**start)
            simulation.apply(known)
            go_to(simulation.run, self._begun)

    def _read(self, values: np.ndarray, blamed: int) -> np.ndarray:
        """The numbers of steps with some values; what cannot be is said of one of them."""
        scene = self._stage.scene(dict(zip(self.places, map(float, values))))
        if not same_structure(self._simulation.run, scene):
            raise SolveError(f"{self.places[blamed]}: with other values there are other joints or limits")
        if not same_over_time(self._simulation.run.scene, scene):
            raise StageError(f"{self.places[blamed]}: changes what follows time samples, which stays as it is")
        return self._numbers.of(scene)

    def _slope(self, values: np.ndarray, k: int) -> np.ndarray:
        """Derivatives of the numbers by a share of one value: exact where numbers are of second order in it."""
        sides = []
        for step in (PROBE, -PROBE):
            changed = values.copy()
            changed[k] *= 1.0 + step
            changed = self.rounded(changed)
            sides.append((self._read(changed, k), changed[k]))
        (above, high), (below, low) = sides
        with np.errstate(invalid="ignore"):
            slope = np.where(above == below, 0.0, (above - below) / (high - low) * values[k])
        if not slope.any():
            raise StageError(f"{self.places[k]}: nothing that is simulated depends on it; see `warp-artic inspect`")
        return slope

    def _tangent(self, slopes: np.ndarray) -> Tangent:
        run, numbers = self._simulation.run, {}
        for part in self._numbers.parts:
            for place in part.first + np.flatnonzero(slopes[:, part.first : part.end].any(axis=0)):
                row, mechanism = divmod(int(place) - part.first, part.mechanisms)
                if part.name not in run.groups[part.group].parameters and part.name not in FOLLOWED:
                    blamed = self.places[int(np.abs(slopes[:, place]).argmax())]
                    raise StageError(f"{blamed}: changes {part.name}, which is given by the recording")
                numbers[part.group, part.name, row, mechanism] = slopes[:, place]
        return tangent_of_numbers(run, numbers, self._steps, self._every)


def _steps(recording: Recording, dt: float) -> tuple[int, int, int]:
    """Time steps of a recording, from one record to the next, and until the first one."""
    if len(recording.time) < 2:
        raise SettingsError("recording: has fewer than two records")
    every = np.diff(recording.time) / dt
    count = max(int(np.rint(every[0])), 1)
    if np.abs(every - count).max() > 1e-3:
        raise SettingsError(f"recording: records are not {count} time steps of {dt:g} s apart")
    begun = float(recording.time[0]) / dt
    if begun < -1e-2 or abs(begun - round(begun)) > 1e-2:
        raise SettingsError(
            f"recording: begins at {recording.time[0]:g} s, which is no whole number of time steps of {dt:g} s after 0"
        )
    return count * len(every), count, round(begun)


def _solved(problem: _Problem, start: np.ndarray):
    """Values and their covariance, the residuals at the start and at the end, and the number of rounds."""
    values, mu = start.copy(), 1e-3
    r, J = problem.differences(values)
    first = float(np.sqrt(np.mean(r * r)))
    rounds = 0
    while True:
        rounds += 1
        _refuse_alike(problem, J)
        normal, slope = J.T @ J, J.T @ r
        step = np.linalg.solve(normal + mu * np.diag(np.diag(normal)), slope)
        step = np.clip(step, -0.9, 9.0)  # no value changes its sign, or by more than ten times
        tried = problem.rounded(values * (1.0 + step))
        if (tried == values).all() or np.abs(step).max() < NEARNESS:
            break
        r_tried, J_tried = problem.differences(tried)
        if r_tried @ r_tried < r @ r:
            values, r, J, mu = tried, r_tried, J_tried, mu / 10.0
        else:
            mu *= 10.0
        if mu > LARGEST_DAMPING:
            break
        if rounds == ROUNDS:
            raise SolveError(f"no values were found in {ROUNDS} rounds; author nearer guesses, or ask for fewer values")
    spread = r @ r / max(problem.size - len(values), 1)
    scaled = spread * np.linalg.inv(J.T @ J)
    return values, scaled * np.outer(values, values), first, float(np.sqrt(np.mean(r * r))), rounds


def _refuse_alike(problem: _Problem, J: np.ndarray) -> None:
    """Values that the recording does not tell apart, or says nothing about."""
    lengths = np.linalg.norm(J, axis=0)
    if lengths.min() <= LEAST_SHARE * problem.motion:
        place = problem.places[int(np.argmin(lengths))]
        raise SolveError(f"{place}: the recorded motion does not depend on it")
    _, sizes, directions = np.linalg.svd(J / lengths, full_matrices=False)
    if sizes[-1] < DISTINCT * sizes[0]:
        names = [str(problem.places[k]) for k in np.flatnonzero(np.abs(directions[-1]) > 0.1)]
        raise SolveError(f"{', '.join(names)}: the recorded motion does not tell them apart; identify fewer of them")
