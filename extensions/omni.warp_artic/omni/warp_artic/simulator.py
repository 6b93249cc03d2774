"""The functions of a simulator as Kit calls them, in terms of `warp_artic.hosts`.

A stage is read when the simulation starts, not when it is attached; links are shown on a live layer below the session
layer, and stopping takes everything off the stage again. Nothing is raised into Kit: what goes wrong is one line in its
log, a False where the function can say so, and `Simulator.error`. The next call tries again, so that an edit that
repairs the stage is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from omni.physics.core import PhysicsStepContext, k_invalid_subscription_id
from omni.warp_artic.log import error, warning
from pxr import Usd, UsdUtils

from warp_artic.errors import ArticError, HostError
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.stage_backend import WarpArticBackend
from warp_artic.sim.arrays.failures import Failure


def reported(method: Callable) -> Callable:
    """A function that Kit calls, which says whether it has done what it should: True, or False with a line in the log.

    A line is not repeated while the same thing goes wrong again and again.
    """

    @wraps(method)
    def called(simulator: Simulator, *arguments) -> bool:
        try:
            method(simulator, *arguments)
        except Exception as problem:  # nothing may be raised into Kit
            kind = "" if isinstance(problem, ArticError) else f"{type(problem).__name__}: "
            text = f"{kind}{problem}"
            if simulator.error != text:
                error(text)
            simulator.error = text
            return False
        return True

    return called


class Simulator:
    """Simulates the stage that Kit has open."""

    def __init__(self):
        self.error: str | None = None
        """What went wrong last since the simulation was started."""
        self.simulation_id = None
        """Which one Kit takes it for."""
        self._stage_id = 0
        self._backend: WarpArticBackend | None = None
        self._is_playing = False
        self._is_deaf = False
        self._time = 0.0
        self._steps = 0
        self._all_steps = 0
        self._failures: list[Failure] = []
        self._listeners: dict[int, tuple[bool, int, Callable]] = {}
        self._last_subscription = 0

    # The stage.

    def initialize(self, stage_id: int) -> bool:
        """Attach a stage, in place of the one before, and read it."""
        return self.on_attach(stage_id) and self.load()

    @reported
    def on_attach(self, stage_id: int) -> None:
        """Attach a stage, in place of the one before; it is not read yet."""
        self._let_go()
        self._stage_id = stage_id

    @reported
    def on_detach(self) -> None:
        """Let go of the stage, which then is as it was."""
        self._let_go()
        self._stage_id = 0

    def close(self) -> bool:
        """The same by another name."""
        return self.on_detach()

    def get_attached_stage(self) -> int:
        """The stage that is attached, 0 where none is."""
        return self._stage_id

    @reported
    def load(self) -> None:
        """Read the stage unless it is read."""
        self._load()

    @reported
    def unload(self) -> None:
        """Take everything off the stage, which stays attached."""
        self._let_go()

    # The timeline.

    @reported
    def on_resume(self, time: float) -> None:
        """Play."""
        self._time = time
        self._is_playing = True
        self._load()

    @reported
    def on_pause(self) -> None:
        """Let time stand still."""
        self._is_playing = False

    @reported
    def on_reset(self) -> None:
        """Stop: the stage is as it was, and the next start reads it anew."""
        self._is_playing = False
        self._let_go()

    @reported
    def on_update(self, time: float, elapsed: float, is_enabled: bool) -> None:
        """Step and show a frame, while playing."""
        if is_enabled and self._is_playing and self._stage_id:
            self._step(elapsed, time)
            self._show()

    # The simulation.

    @reported
    def simulate(self, elapsed: float, time: float) -> None:
        """Step, and show it."""
        self._step(elapsed, time)
        self._show()

    @reported
    def simulate_async(self, elapsed: float, time: float) -> None:
        """Step; `fetch_results` shows it."""
        self._step(elapsed, time)

    @reported
    def fetch_results(self) -> None:
        """Show where links are."""
        self._load()
        self._show()

    def check_results(self) -> bool:
        """Whether the step is done: it is when it returns."""
        return True

    @reported
    def flush_changes(self) -> None:
        """Take in what has been edited now."""
        self._load()
        self._backend.take_in_edits()

    def pause_change_tracking(self, is_paused: bool) -> None:
        """Do not hear of edits until this is taken back; one that is heard later takes in all."""
        self._is_deaf = is_paused
        if self._backend is not None:
            self._backend.source.is_deaf = is_paused

    def is_change_tracking_paused(self) -> bool:
        """Whether edits are not heard."""
        return self._is_deaf

    def get_time_steps_per_second(self, stage_id: int, scene_path: int) -> int:
        """How many steps there are in a second, 0 where nothing is read."""
        return 0 if self._backend is None else round(1.0 / self._backend.simulation.settings.dt)

    def get_timestamp(self) -> int:
        """Steps that were ever made."""
        return self._all_steps

    def get_step_count(self) -> int:
        """Steps since the start."""
        return self._steps

    def is_capable_of_simulating(self, schema_names: Sequence[str]) -> tuple[bool, list[bool]]:
        """Whether prims with these schemas are for this simulator, each for itself."""
        return True, [WarpArticBackend().can_simulate([name]) for name in schema_names]

    # Who listens.

    def subscribe_steps(self, is_before: bool, order: int, callback: Callable) -> int:
        """Call back before or after steps, the lowest order first, until the number that this gives is unsubscribed."""
        self._last_subscription += 1
        self._listeners[self._last_subscription] = is_before, order, callback
        return self._last_subscription

    def unsubscribe_steps(self, subscription: int) -> None:
        """Call back no more."""
        self._listeners.pop(subscription, None)

    def subscribe_contacts(self, callback: Callable) -> int:
        """Contacts are not told to Kit: nobody is subscribed, and the log says so."""
        warning("contacts are simulated, but not reported to subscribers yet")
        return k_invalid_subscription_id

    def unsubscribe_contacts(self, subscription: int) -> None:
        """Nobody is subscribed."""

    def handle_raycast(self, origin, direction, has_input: bool) -> bool:
        """Nothing is picked or dragged."""
        return False

    def _load(self) -> None:
        if self._backend is not None:
            return
        stage = UsdUtils.StageCache.Get().Find(Usd.StageCache.Id.FromLongInt(self._stage_id))
        if not stage:
            raise HostError(f"stage {self._stage_id}: is not open" if self._stage_id else "no stage is attached")
        backend = WarpArticBackend()
        report = backend.attach(stage)
        self._backend, self._live = backend, LiveLayer(stage)
        backend.leave_out(self._live.layer)
        backend.source.is_deaf = self._is_deaf
        self.error = None
        for path, reason in report.not_simulated.items():
            warning(f"{path}: {reason}")

    def _let_go(self) -> None:
        if self._backend is not None:
            self._live.close()
            self._backend.detach()
        self._backend = self._live = self.error = None
        self._failures = []
        self._steps = 0

    def _step(self, elapsed: float, time: float) -> None:
        self._load()
        self._time = time
        self._call(True, elapsed)
        count = self._backend.step(elapsed)
        self._steps += count
        self._all_steps += count
        self.error = None
        for failure in self._backend.simulation.failures():
            if failure not in self._failures:
                self._failures.append(failure)
                error(failure)
        self._call(False, elapsed)

    def _call(self, is_before: bool, elapsed: float) -> None:
        """Call who listens; what they raise is theirs, and the others are called."""
        context = PhysicsStepContext()
        context.scene_path = 0
        context.simulation_id = self.simulation_id
        chosen = [(order, callback) for before, order, callback in self._listeners.values() if before == is_before]
        for _, callback in sorted(chosen, key=lambda one: one[0]):
            try:
                callback(elapsed, context)
            except Exception as problem:  # whatever the code of others does
                error(f"a listener to steps has failed: {type(problem).__name__}: {problem}")

    def _show(self) -> None:
        report = self._backend.report
        if (report.links, report.meshes) != (self._live.links, self._live.meshes):
            self._live.show(report.links, report.meshes)
        code = Usd.TimeCode(self._time * self._live.stage.GetTimeCodesPerSecond())
        self._live.publish(self._backend.link_poses(), code, self._backend.mesh_points() if report.meshes else ())
