"""A live simulation in a browser: run, pause, step, reset, sliders for drive targets, links that can be pulled."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from warp_artic.description.drawing import pose_matrices
from warp_artic.description.joint import Dof
from warp_artic.looking.viewer import Viewer
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.source import Source

FRAME = 1.0 / 30.0
"""Least time between two pictures [s]."""
MOST_OWED = 0.1
"""Time that is made up for after a pause of this machine [s]."""
REACH = math.pi
"""Of a slider for the target of a drive without limits, on both sides [rad or m]."""
FREQUENCY = 6.0
"""Of a link on the spring by which it is pulled [rad/s]; the spring is damped critically."""
QUANTITIES = ("joint_position", "link_pose", "link_velocity", "tendon_force", "mesh_tendon_tension", "mesh_points")
OF_CONTACTS = ("contact_position",)
"""Those that are recorded as well where there are contacts of mechanisms."""


class Live:
    """Steps a simulation as its controls say, and shows one environment.

    Args:
        server: A `viser.ViserServer`.
        source: The stage.
        simulation: Of its scene.
    """

    def __init__(self, server: Any, source: Source, simulation: Simulation):
        self.source, self.simulation = source, simulation
        self.start, self.lock = simulation.snapshot(), threading.RLock()
        self.links = [source.drawing.bodies.index(path) for path in simulation.link_names]
        links = [link for tree in source.scene.articulations for link in tree.links if not link.is_massless]
        own = {link.path: link for link in links}
        self.masses = np.array([own[path].mass for path in simulation.link_names])
        self.weighing = np.array([own[path].mass * own[path].gravity_scale for path in simulation.link_names])
        self.centers = np.array([own[path].center_of_mass for path in simulation.link_names]).reshape(-1, 3)
        self.motion = source.motion()
        self.viewer = Viewer(server, source.drawing, self.motion)
        self.viewer.on_pull(self.pull)
        self.held: tuple[int, np.ndarray, np.ndarray] | None = None
        """The link that is pulled, the point in its frame, and where it is pulled to."""
        self.largest: dict[str, float] = {}
        gui = server.gui
        self.is_running = True
        self.play = gui.add_button("Pause")
        self.play.on_click(lambda event: self.toggle())
        gui.add_button("Step").on_click(lambda event: self.advance(1))
        gui.add_button("Reset").on_click(lambda event: self.reset())
        self.speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0)
        self.clock = gui.add_text("time", "0.000 s", disabled=True)
        self.chosen = None
        if simulation.environments > 1:
            self.chosen = gui.add_slider("environment", 0, simulation.environments - 1, 1, 0)
            self.chosen.on_update(lambda event: self.advance(0))
        self.viewer.switches(lambda: self.advance(0))
        self._add_targets(gui)
        self._add_pull(gui)
        self.advance(0)

    @property
    def environment(self) -> int:
        """The one that is shown."""
        return 0 if self.chosen is None else int(self.chosen.value)

    def _add_targets(self, gui: Any) -> None:
        """A slider for each driven dof, over its limits."""
        dofs = {dof.name: dof for tree in self.source.scene.articulations for dof in tree.dofs}
        driven = [
            (number, dofs[name])
            for number, name in enumerate(self.simulation.joint_names)
            if name in dofs and (drive := dofs[name].drive) is not None and drive.stiffness > 0.0
        ]
        if not driven:
            return
        with gui.add_folder("Drive targets"):
            for number, dof in driven:
                scale, unit = (1.0, "m") if dof.axis.is_linear else (180.0 / math.pi, "deg")
                low, high = _span(dof)
                value = min(max(dof.drive.position_target, low), high)
                name = dof.name.rpartition("/")[2]
                slider = gui.add_slider(
                    f"{name} [{unit}]", scale * low, scale * high, scale * (high - low) / 200.0, scale * value
                )
                slider.on_update(lambda event, n=number, k=scale, own=slider: self.set_target(n, own.value / k))

    def _add_pull(self, gui: Any) -> None:
        """A link and a force for those who have no mouse; with one, links are dragged while shift is held."""
        with gui.add_folder("Pull"):
            gui.add_markdown("Hold shift and drag a link, or choose one:")
            names = [path.rpartition("/")[2] for path in self.simulation.link_names]
            self.which = gui.add_dropdown("link", ["none", *names])
            up = [0.0, 0.0, 0.0]
            up[self.source.drawing.up] = 1.0
            self.force = gui.add_vector3("force by weight", tuple(up), step=0.1)

    def set_target(self, dof: int, value: float) -> None:
        """Set a drive target in all environments [rad or m]."""
        with self.lock:
            name = "drive_position_target"
            self.simulation.target_tracks.pop((name, self.simulation.joint_names[dof]), None)
            targets = getattr(self.simulation.control, name).numpy().T.copy()
            targets[:, dof] = value
            self.simulation.set_values(name, targets)

    def pull(self, body: int, point: np.ndarray | None, to: np.ndarray | None) -> None:
        """Pull a body by a point of it in the world to another one [m]; without points let it go."""
        with self.lock:
            if point is None or to is None or body not in self.links:
                self.held = None
                return
            link = self.links.index(body)
            if self.held is not None and self.held[0] == link:
                self.held = (link, self.held[1], to)
                return
            X = pose_matrices(self.poses[body][None])[0]
            self.held = (link, X[:, :3].T @ (point - X[:, 3]), to)

    def toggle(self) -> None:
        """Run or pause."""
        self.is_running = not self.is_running
        self.play.label = "Pause" if self.is_running else "Run"

    def reset(self) -> None:
        """Back to the start."""
        with self.lock:
            self.simulation.apply(self.start)
            self.held = None
            self.advance(0)

    def advance(self, steps: int) -> None:
        """Step, and show where everything is."""
        with self.lock:
            simulation = self.simulation
            if steps:
                self._set_forces()
            chosen = QUANTITIES + OF_CONTACTS * bool(simulation.contact_names)
            recording = simulation.record(steps, max(steps, 1), quantities=chosen)
            environment, poses = self.environment, self.motion.poses[0].copy()
            poses[self.links] = recording.link_pose[-1, environment]
            self.poses, self.velocities = poses, recording.link_velocity[-1, environment].astype(float)
            points, nodes = dict(self.motion.points), np.array(recording.mesh_nodes)
            points = {path: values[0] for path, values in points.items()}
            for path in dict.fromkeys(recording.mesh_nodes):
                points[path] = recording.mesh_points[-1, environment][nodes == path]
            contacts = self._contacts(recording, environment)
            self.viewer.show(poses, points, self._shares(recording, environment), contacts, self._line())
            self.clock.value = f"{simulation.time:.3f} s"

    def _contacts(self, recording, environment: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Points of contacts, and the forces of the last step there."""
        simulation = self.simulation
        if not simulation.contact_names:
            return None
        impulses = simulation.state.contact_impulse.numpy()[..., environment].astype(float)
        substep = simulation.dt / simulation.settings.schedule[0]
        return recording.contact_position[-1, environment].astype(float), impulses / substep

    def _shares(self, recording, environment: int) -> dict[str, float]:
        """Forces of tendons by the largest one so far."""
        found = {}
        for names, values in (
            (recording.tendon_names, recording.tendon_force),
            (recording.mesh_tendon_names, recording.mesh_tendon_tension),
        ):
            for name, value in zip(names, values[-1, environment].tolist() if values.size else ()):
                self.largest[name] = max(self.largest.get(name, 1e-9), abs(value))
                found[name] = abs(value) / self.largest[name]
        return found

    def _grip(self) -> tuple[int, np.ndarray, np.ndarray, np.ndarray] | None:
        """The link that is held, its centre of mass and the point in the world, and where it is pulled to."""
        if self.held is None:
            return None
        link, local, to = self.held
        X = pose_matrices(self.poses[self.links[link]][None])[0]
        return link, X[:, :3] @ self.centers[link] + X[:, 3], X[:, :3] @ local + X[:, 3], to

    def _line(self) -> tuple[np.ndarray, np.ndarray] | None:
        grip = self._grip()
        return None if grip is None else grip[2:]

    def _set_forces(self) -> None:
        """Forces on links: those of the spring to the mouse, and of the chosen link."""
        forces = np.zeros((len(self.links), 6))
        grip = self._grip()
        if grip is not None:
            link, center, point, to = grip
            mass = self.masses[link]
            velocity = self.velocities[link, :3] + np.cross(self.velocities[link, 3:], point - center)
            force = mass * FREQUENCY * (FREQUENCY * (to - point) - 2.0 * velocity)
            force += self._weight(self.weighing[link])
            forces[link] += [*force, *np.cross(point - center, force)]
        if self.which.value != "none":
            link = [path.rpartition("/")[2] for path in self.simulation.link_names].index(self.which.value)
            size = np.linalg.norm(self._weight(self.masses.sum()))
            forces[link, :3] += np.array(self.force.value) * (size or self.masses.sum())
        self.simulation.set_values("link_external_force", forces, [self.environment])

    def _weight(self, mass: float) -> np.ndarray:
        """What carries the weight of a mass [N]."""
        return -mass * np.array(self.source.scene.gravity)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Step in real time, by the speed that is chosen, until it is over; where steps take longer, slower."""
        owed, before = 0.0, time.perf_counter()
        while not is_over():
            time.sleep(FRAME)
            now = time.perf_counter()
            passed = self.speed.value * (now - before) if self.is_running else 0.0
            owed = min(owed + passed, MOST_OWED * self.speed.value)
            before = now
            steps = int(owed / self.simulation.dt)
            if steps:
                owed -= steps * self.simulation.dt
                self.advance(steps)


def _span(dof: Dof) -> tuple[float, float]:
    """The least and the largest target of a slider."""
    limit = dof.limit
    low = limit.lower if limit is not None and math.isfinite(limit.lower) else -REACH
    high = limit.upper if limit is not None and math.isfinite(limit.upper) else REACH
    return (low, high) if high > low else (low - REACH, low + REACH)
