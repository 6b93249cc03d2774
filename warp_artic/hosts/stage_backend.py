"""Our stepping backend: a stage is read, simulated, and followed as it is edited."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdShade

from warp_artic.description.articulation import Articulation
from warp_artic.description.consequences import headline
from warp_artic.description.contact_slots import ContactSlots, with_contact_slots, without_contacts
from warp_artic.description.scene import Scene
from warp_artic.errors import ArticError, HostError
from warp_artic.hosts.backend import API_VERSION, AttachReport
from warp_artic.hosts.clock import StepClock
from warp_artic.hosts.source_stage import SourceStage
from warp_artic.sim.arrays.views import CONTROL, MOTION, OUTPUTS, PARAMETERS, STATE, STEP_OUTPUTS, of_environment
from warp_artic.sim.revise import revise
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.inventory import traverse
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.tokens import SCHEMA_FAMILIES

LOG = logging.getLogger("warp_artic")
READ = (*STATE, *OUTPUTS, *STEP_OUTPUTS, *CONTROL, *PARAMETERS)
"""What `read` gives."""


class WarpArticBackend:
    """`hosts.backend.StageBackend` by warp_artic.

    Edits of the stage while it is attached take effect in the next `step`: numbers without building anything anew,
    other structure with the state of what stayed. An edit that leaves nothing to simulate, or something that is
    refused, makes each `step` raise until it is repaired; the simulation stays as it was.
    """

    name = "warp_artic"
    api_version = API_VERSION

    def __init__(self):
        self.simulation: Simulation | None = None
        """What runs; another one after an edit of the structure."""
        self.source: SourceStage | None = None
        """The stage without what is published on it."""
        self.report: AttachReport | None = None
        """As `attach` gave it, brought up to date by edits."""
        self.revision = 0
        """How many simulations there have been since `attach`; names, order and arrays are those of one."""

    def can_simulate(self, schemas: Iterable[str]) -> bool:
        """Whether one of these schemas is of rigid bodies, joints, tendons or another of the dialects that are read."""
        return any(schema.startswith(SCHEMA_FAMILIES) for schema in schemas)

    def attach(
        self,
        stage: Usd.Stage | str,
        *,
        environments: int = 1,
        device: str = "cpu",
        settings: SolverSettings | None = None,
        threads: int | None = None,
        dialects: Sequence[str] = (),
        owner: str | None = None,
        contact_slots: Sequence[ContactSlots] = (),
    ) -> AttachReport:
        """Take up a stage; see `StageBackend.attach`.

        Args:
            stage: An open stage, or a file.
            environments: As `Simulation` has it, like `device`, `settings` and `threads`.
            device: "cpu" or "cuda:N".
            settings: Time step, solver and precision; what they leave open the stage decides.
            threads: Most threads that step at once, on a CPU.
            dialects: As `read_stage` has it, like `owner`.
            owner: The physics scene whose bodies are meant, by its path; by default all bodies.
            contact_slots: Bodies between which the host finds contacts, for `set_contacts`; colliders of the stage then
                touch nothing.

        Raises:
            HostError: It is attached already.
            StageError: The stage cannot be simulated as authored.
            DescriptionError: There are no such bodies between which the host finds contacts, or too many.
            SettingsError: An argument has a value that is not allowed.
        """
        if self.source is not None:
            raise HostError(f"{self._stage_name()}: is attached already; detach first")
        source = SourceStage(open_stage(stage))
        self._settings, self._reading = settings or SolverSettings(), {"dialects": dialects, "owner": owner}
        self._contact_slots = tuple(contact_slots)
        try:
            scene = self._read(source)
            self.simulation = Simulation(
                scene, environments=environments, device=device, settings=self._settings, threads=threads
            )
        except BaseException:
            source.close()
            raise
        self.source = source
        self.revision = 1
        self._clock = StepClock(self.simulation.settings.dt)
        self._take_up(scene)
        left_out = headline(scene.diagnostics)
        if left_out:
            LOG.warning("%s: %s", self._stage_name(), left_out)
        return self.report

    def leave_out(self, layer: Sdf.Layer) -> None:
        """Do not read a layer on which results are published; see `StageBackend.leave_out`."""
        self._attached()
        self.source.leave_out(layer)

    def set_controls(self, controls: Mapping[str, Any], environments: Sequence[int] | None = None) -> None:
        """Set arrays of `Simulation.control`, shape (rows, ...) or (chosen environments, rows, ...).

        What is set, here and by `write`, does not follow time samples of the stage any more.
        """
        self._attached()
        for name in controls:
            self._check_name(name, CONTROL)
        self._set(controls, environments)

    def set_contacts(self, contacts: Mapping[str, Any]) -> None:
        """Set the contacts that the host has found, by the names of arguments of `Simulation.set_contacts`.

        Bodies are indices in `report.links`; places are in metres, in the axes of the stage.
        """
        self._attached().set_contacts(**contacts)

    def step(self, dt: float) -> int:
        """Take in what has been edited, and advance; see `StageBackend.step`.

        Raises:
            StageError: The stage cannot be simulated as it is edited; nothing was stepped.
            SettingsError: The time is not a finite number of at least zero.
        """
        self.take_in_edits()
        count = self._clock.advance(dt)
        self.simulation.step(count)
        return count

    def take_in_edits(self) -> bool:
        """Follow the stage now; whether anything was edited. `step` does it by itself.

        Raises:
            StageError: The stage cannot be simulated as it is edited; the next call looks again.
        """
        simulation = self._attached()
        if not self.source.take_changes():
            return False
        try:
            scene = self._read(self.source)
            revised = revise(simulation, scene, self._settings)
        except ArticError:
            self.source.touch()
            raise
        if revised is not simulation:
            self.simulation = revised
            self.revision += 1
            self._clock.dt = revised.settings.dt
        self._take_up(scene)
        return True

    def read(self, fields: Sequence[str]) -> dict[str, Any]:
        """Arrays of `Simulation.state`, `control` and `parameters` by name, on the device: views where there can be."""
        simulation = self._attached()
        found = {}
        for name in (fields,) if isinstance(fields, str) else fields:
            self._check_name(name, READ)
            owner = simulation.control if name in CONTROL else simulation.parameters
            found[name] = getattr(simulation.state if name in (*STATE, *OUTPUTS, *STEP_OUTPUTS) else owner, name)
        return found

    def link_poses(self, environment: int = 0) -> np.ndarray:
        """World poses now, shape (links, 7); see `StageBackend.link_poses`."""
        simulation = self._attached()
        if not 0 <= environment < simulation.environments:
            raise HostError(f"environment {environment} is not in 0 ... {simulation.environments - 1}")
        poses = of_environment(simulation.state.link_pose, environment).astype(float)
        poses[:, :3] += simulation.link_origins
        return poses

    def mesh_points(self, environment: int = 0) -> tuple[np.ndarray, ...]:
        """World positions now of the nodes of each mesh of `report.meshes` [m], each of shape (nodes, 3)."""
        simulation = self._attached()
        if not 0 <= environment < simulation.environments:
            raise HostError(f"environment {environment} is not in 0 ... {simulation.environments - 1}")
        return tuple(body.world_points()[environment] for body in simulation.elastic_bodies)

    def write(self, values: Mapping[str, Any], environments: Sequence[int] | None = None) -> None:
        """Set parts of the state as `Simulation.set_state` has them, or parameters, shapes as in `set_controls`."""
        simulation = self._attached()
        for name in values:
            self._check_name(name, (*MOTION, *PARAMETERS))
        motion = {name: array for name, array in values.items() if name in MOTION}
        if motion:
            simulation.set_state(**motion, environments=environments)
        self._set({name: array for name, array in values.items() if name not in motion}, environments)

    def reset(self, environments: Sequence[int] | None = None) -> None:
        """Put environments (all by default) back to the start state of the stage as it is authored now."""
        self._attached()
        self.take_in_edits()
        self.simulation.reset(environments)
        if environments is None:
            self._clock.restart()

    def detach(self) -> None:
        """Let go of the stage; once more does nothing."""
        if self.source is not None:
            self.source.close()
        self.simulation = self.source = self.report = None

    def _read(self, source: SourceStage) -> Scene:
        scene = read_stage(source.stage, **self._reading)
        slots = self._contact_slots
        return with_contact_slots(without_contacts(scene), slots) if slots else scene

    def _take_up(self, scene: Scene) -> None:
        """Watch what the scene is made of, and say what it is."""
        simulated = dict.fromkeys(path for tree in scene.articulations for path in _prims(tree))
        simulated |= dict.fromkeys(one.name for one in (*scene.elastic_bodies, *scene.mesh_tendons))
        left = {}
        for finding in scene.diagnostics:
            path = finding.path.partition(".")[0]
            if path not in simulated and path != "/":
                left.setdefault(path, finding.message)
        meshes = tuple(body.name for body in scene.elastic_bodies)
        self.report = AttachReport(tuple(simulated), left, scene.link_names, meshes)
        self.source.watch((*simulated, *left, *_materials(self.source.stage, meshes), *_instancers(self.source.stage)))

    def _set(self, arrays: Mapping[str, Any], environments: Sequence[int] | None) -> None:
        """Set controls or parameters, in place of time samples."""
        simulation = self.simulation
        for name, values in arrays.items():
            simulation.set_values(name, values, environments)
            for key in [key for key in simulation.target_tracks if key[0] == name]:
                simulation.target_tracks.pop(key)

    def _attached(self) -> Simulation:
        if self.simulation is None:
            raise HostError("no stage is attached")
        return self.simulation

    def _stage_name(self) -> str:
        return self.source.host.GetRootLayer().GetDisplayName()

    def _check_name(self, name: str, allowed: tuple[str, ...]) -> None:
        if name not in allowed:
            raise HostError(f"{name!r} is not one of {', '.join(allowed)}")


def _materials(stage: Usd.Stage, meshes: Iterable[str]) -> Iterable[str]:
    """What meshes are made of."""
    for path in meshes:
        material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath(path)).ComputeBoundMaterial("physics")
        yield str(material.GetPath())


def _instancers(stage: Usd.Stage) -> Iterable[str]:
    """Point instancers and their prototypes."""
    for prim in traverse(stage):
        if prim.GetTypeName() == "PointInstancer":
            targets = UsdGeom.PointInstancer(prim).GetPrototypesRel().GetForwardedTargets()
            yield from map(str, (prim.GetPath(), *targets))


def _prims(tree: Articulation) -> Iterable[str]:
    """The prims that an articulation is made of: names begin with their paths."""
    yield tree.path
    yield from tree.bodies
    yield from (joint.path for joint in tree.joints)
    couplings = (*tree.fixed_tendons, *tree.spatial_tendons, *tree.mimics, *tree.constraints)
    names = tuple(coupling.name for coupling in couplings)
    attachments = (attachment.name for tendon in tree.spatial_tendons for attachment in tendon.attachments)
    yield from (name.partition(":")[0] for name in (*names, *attachments))
