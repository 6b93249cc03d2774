"""Steps a USD stage, and writes what comes of it to a stage of ovstage.

    with ovstage.Stage("arm") as stage:
        populate(stage, "arm.usda", ordinal=1)
        with Host(stage, "arm.usda", ordinal=1) as host:
            for frame in range(60):
                host.step(1 / 60, ordinal=2 + frame)

The application owns the ordinals: it says at which one a frame is written, and each is above the one before. The
ordinals between two frames are those of controls: what others write there and seal, the next step takes in. So an
output is never taken for a control.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from pxr import Usd, UsdGeom
from warp_artic.extensions.ovstage.columns import Prims
from warp_artic.extensions.ovstage.package import check_stage, ovstage

from warp_artic.errors import HostError
from warp_artic.hosts.stage_backend import WarpArticBackend
from warp_artic.sim.arrays.views import of_environment
from warp_artic.usd.lookup import DOF_FIELDS
from warp_artic.usd.outputs import (
    TENDON,
    joint_attributes,
    joint_axis,
    joint_quantity,
    tendon_attribute,
)
from warp_artic.usd.read_track import start_code
from warp_artic.usd.row_matrices import matrices, world_matrices, world_scales
from warp_artic.usd.stage_units import stage_units
from warp_artic.usd.time_samples import prim_named
from warp_artic.usd.units import Quantity
from warp_artic.usd.write_meshes import local_points, start_matrix

WORLD = "omni:fabric:worldMatrix"
POINTS = "points"
CONTROLS = {"position_target": "drive_position_target", "velocity_target": "drive_velocity_target"}
"""What drives follow: the field as it is read from a stage, and the control array."""


@dataclass(frozen=True)
class Output:
    """An attribute of some prims, and where its values are."""

    attribute: str
    field: str
    """Array of `Simulation.state`."""
    rows: np.ndarray
    quantity: Quantity
    dtype: type


class Host:
    """Runs a USD stage, and shows it on a stage of ovstage until it is closed.

    Args:
        stage: Is populated from the same source, and sealed.
        source: The USD file, or an open `Usd.Stage`; its edits are followed.
        ordinal: The one at which the stage is sealed; frames and controls come after it.
        environment: The one that is written; the others are in arrays of `backend`.
        options: For `attach` of the backend, such as `environments`, `settings`, `device` and `owner`.

    Raises:
        HostError: It is not a stage of ovstage, or a link is not on it.
        StageError: The source cannot be simulated as authored.
        SettingsError: An argument has a value that is not allowed.
    """

    def __init__(
        self,
        stage: ovstage.Stage,
        source: str | os.PathLike | Usd.Stage,
        *,
        ordinal: int,
        environment: int = 0,
        **options,
    ):
        check_stage(stage)
        self.stage = stage
        self.backend = WarpArticBackend()
        self.ordinal = 0
        """The last one that was written, or that the stage was sealed at."""
        self._check_ordinal(ordinal)
        self.ordinal = int(ordinal)
        self._environment = environment
        self._prims: list[Prims] = []
        self.backend.attach(source, **options)
        try:
            self.backend.link_poses(environment)
            self._take_up()
        except BaseException:
            self.close()
            raise

    def step(self, dt: float, *, ordinal: int) -> int:
        """Take in controls, advance by a time [s], and write a frame; how many time steps there were.

        Raises:
            HostError: The ordinal is not above the last one, or controls before it are not sealed; nothing was stepped.
            StageError: The source cannot be simulated as it is edited; nothing was stepped.
        """
        self._take_controls(ordinal)
        count = self.backend.step(dt)
        self._write(ordinal)
        return count

    def publish(self, *, ordinal: int) -> None:
        """Take in controls, and write a frame as everything is now: after a reset, or while time stands still.

        Raises:
            HostError: The ordinal is not above the last one, or controls before it are not sealed.
        """
        self._take_controls(ordinal)
        self._write(ordinal)

    def close(self) -> None:
        """Let go of both stages; what was written stays. Once more does nothing."""
        self._release()
        self.backend.detach()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def _check_ordinal(self, ordinal: int) -> None:
        if isinstance(ordinal, bool) or not isinstance(ordinal, Integral) or ordinal <= self.ordinal:
            raise HostError(f"ordinal: {ordinal!r} is not an integer above {self.ordinal}, the last one")

    def _write(self, ordinal: int) -> None:
        """Write links and outputs at an ordinal, and seal them there."""
        self.ordinal = int(ordinal)
        self._follow_revision()
        poses = self.backend.link_poses(self._environment)
        W = world_matrices(self._scale, matrices(poses[:, 3:]), poses[:, :3] / self._units.meters)
        values = self._values()
        try:
            begun = [self._links.write({WORLD: W}, ordinal)] if len(W) else []
            if self._meshes.paths:
                begun.append(self._meshes.write_points(POINTS, self._local_points(W), ordinal))
            begun += [prims.write(self._columns(outputs, values), ordinal) for prims, outputs in self._outputs]
            for operation in begun:
                operation.wait()
            scope = ovstage.Scope.INCLUDE
            self.stage.advance_write_floor(ordinal=ordinal, scope=scope, attributes=self._tokens).wait()
        except ovstage.OvstageError as error:
            raise HostError(f"ordinal {ordinal}: cannot be written: {error}") from error

    def _follow_revision(self) -> None:
        """Find prims anew where the backend has another simulation, whose rows are others."""
        if self._revision != self.backend.revision:
            self._take_up()

    def _take_up(self) -> None:
        """Find the prims of what is simulated now."""
        self._release()
        source, links, meshes = self.backend.source.stage, self.backend.report.links, self.backend.report.meshes
        self._revision = self.backend.revision
        self._units = stage_units(source)
        self._links = self._kept(links)
        self._meshes = self._kept(meshes)
        for noun, prims in (("link", self._links), ("elastic body", self._meshes)):
            absent = prims.missing()
            if absent:
                share = f"{len(absent)} of {len(prims.paths)}"
                raise HostError(
                    f"{absent[0]}: is a {noun} and not on the stage of ovstage, as {share}; populate it from the same "
                    "file, rendering and physics"
                )
        start = start_code(source)
        self._scale = world_scales([prim_named(source, path, "link") for path in links], UsdGeom.XformCache(start))
        self._mesh_places = [_place_of(prim_named(source, path, "elastic body"), links) for path in meshes]
        by_prims = defaultdict(list)
        for paths, output in self._find_outputs(source):
            by_prims[paths].append(output)
        self._outputs = [(self._kept(paths), outputs) for paths, outputs in by_prims.items()]
        written = {WORLD, POINTS, *(output.attribute for _, outputs in self._outputs for output in outputs)}
        self._tokens = [self._links.token(name) for name in sorted(written)]
        self._controls = self._find_controls(source)
        self._controlled = self._kept(dict.fromkeys(path for path, _ in self._controls))

    def _local_points(self, W: np.ndarray) -> list[np.ndarray]:
        """Nodes of each elastic body in the space of its mesh, with links at world matrices W."""
        points = self.backend.mesh_points(self._environment)
        places = (matrix if link < 0 else matrix @ W[link] for link, matrix in self._mesh_places)
        return [local_points(own, place, self._units.meters) for own, place in zip(points, places)]

    def _kept(self, paths) -> Prims:
        self._prims.append(Prims(self.stage, paths))
        return self._prims[-1]

    def _release(self) -> None:
        while self._prims:
            self._prims.pop().close()

    def _find_outputs(self, source: Usd.Stage) -> Iterator[tuple[tuple[str, ...], Output]]:
        """Attributes that are written, each with the paths of its prims."""
        simulation = self.backend.simulation
        found = defaultdict(list)
        for name, field, names in (
            ("position", "joint_position", simulation.joint_names),
            ("velocity", "joint_velocity", simulation.joint_names),
            ("mimicError", "mimic_error", simulation.mimic_names),
        ):
            for row, dof in enumerate(names):
                prim, instance = joint_axis(source, dof)
                for _, attribute, kind in joint_attributes(instance, name):
                    dtype = np.float32 if kind == "float" else np.float64
                    key = (attribute, field, joint_quantity(instance, name), dtype)
                    found[key].append((str(prim.GetPath()), row))
        for name, quantity in TENDON.items():
            for row, tendon in enumerate(simulation.tendon_names):
                path, _, attribute = tendon_attribute(tendon, name)
                found[attribute, f"tendon_{name}", quantity, np.float64].append((path, row))
        for (attribute, field, quantity, dtype), places in found.items():
            paths, rows = zip(*places)
            yield paths, Output(attribute, field, np.array(rows), quantity, dtype)

    def _find_controls(self, source: Usd.Stage) -> dict[tuple[str, str], tuple[str, int, str, Quantity]]:
        """Joint and attribute -> control array, row, dof and quantity, of every drive."""
        simulation = self.backend.simulation
        rows = {name: row for row, name in enumerate(simulation.joint_names)}
        found = {}
        for dof in (dof for tree in simulation.scene.articulations for dof in tree.dofs if dof.drive):
            prim, instance = joint_axis(source, dof.name)
            for field, control in CONTROLS.items():
                (authored,) = DOF_FIELDS[field]
                attribute = authored.attribute.format(instance=instance)
                quantity = authored.quantity(dof.axis.is_linear)
                found[str(prim.GetPath()), attribute] = control, rows[dof.name], dof.name, quantity
        return found

    def _values(self) -> dict[str, np.ndarray]:
        """What outputs are of, in SI units."""
        fields = {output.field for _, outputs in self._outputs for output in outputs}
        arrays = self.backend.read(sorted(fields))
        return {name: of_environment(array, self._environment) for name, array in arrays.items()}

    def _columns(self, outputs: list[Output], values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        authored = {}
        for output in outputs:
            found = values[output.field][output.rows].astype(float)
            authored[output.attribute] = self._units.authored(found, output.quantity).astype(output.dtype)
        return authored

    def _take_controls(self, ordinal: int) -> None:
        """Set the targets of drives that were written between the last frame and this, in every environment."""
        self._check_ordinal(ordinal)
        self._follow_revision()
        first, last = self.ordinal + 1, ordinal - 1
        if first > last or not self._controls:
            return
        attributes = sorted({attribute for _, attribute in self._controls})
        try:
            changes = list(self._controlled.read(attributes, ovstage.OrdinalRange.between(first, last)))
        except ovstage.OvstageError as error:
            raise HostError(f"ordinals {first} to {last}: controls cannot be read, seal them first: {error}") from error
        tables = {}
        for attribute, joint, value in changes:
            path = self._controlled.paths[joint]
            if (path, attribute) not in self._controls:
                continue  # of an axis without a drive
            name, row, dof, quantity = self._controls[path, attribute]
            found = np.zeros(1) if value is None else np.ravel(value)
            if found.size != 1 or not np.isfinite(found[0]):
                raise HostError(f"{path}.{attribute}: {value} is not a finite number")
            if name not in tables:
                tables[name] = self.backend.read([name])[name].numpy().astype(float)
            tables[name][row] = self._units.si(float(found[0]), quantity)
            self.backend.simulation.target_tracks.pop((name, dof), None)
        for name, table in tables.items():
            self.backend.simulation.set_values(name, table.T)


def _place_of(prim: Usd.Prim, links: tuple[str, ...]) -> tuple[int, np.ndarray]:
    """The link that a mesh moves with and its matrix relative to that, or -1 and its world matrix."""
    W = start_matrix(prim)
    above = prim
    while not UsdGeom.Xformable(above).GetResetXformStack() and not (above := above.GetParent()).IsPseudoRoot():
        if str(above.GetPath()) in links:
            return links.index(str(above.GetPath())), W @ np.linalg.inv(start_matrix(above))
    return -1, W
