"""A stage in a browser by viser (extra `view`): what is drawn, and what moves it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from warp_artic.description.drawing import Drawing, Motion, PartKind, placed, pose_matrices
from warp_artic.errors import SettingsError
from warp_artic.looking.geometry import SLACK, TAUT
from warp_artic.looking.packed_drawing import extent, lowest
from warp_artic.looking.trace import grid_cell

JOINT_COLORS = ((38, 89, 217), (26, 153, 89))
"""Of axes that turn, and of axes along which joints slide."""
CONTACT_COLOR = (217, 31, 26)


def load_viser() -> ModuleType:
    """The module viser.

    Raises:
        SettingsError: It is not installed; the sentence says how it is.
    """
    try:
        import viser
    except ImportError:
        raise SettingsError("the view needs viser: pip install 'warp-artic[view]'") from None
    return viser


class Viewer:
    """The scene of a server: bodies with their surfaces, tendons, joint axes, contact forces, a ground.

    Args:
        server: A `viser.ViserServer`.
        drawing: What is drawn.
        motion: Of which the first frame is shown, and all frames say how large everything is.
    """

    def __init__(self, server: Any, drawing: Drawing, motion: Motion):
        self.server, self.drawing = server, drawing
        low, high = extent(drawing, motion)
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.center = 0.5 * (low + high)
        scene = server.scene
        scene.set_up_direction("+y" if drawing.up == 1 else "+z")
        self.frames = [scene.add_frame(f"/bodies/{number}", show_axes=False) for number in range(len(drawing.bodies))]
        visible = {part.body for part in drawing.parts if part.kind is not PartKind.COLLIDER}
        self.colliders, self.deforming, self.surfaces = [], [], []
        for number, part in enumerate(drawing.parts):
            parent = f"/bodies/{part.body}" if part.body >= 0 and not part.deforms else "/world"
            color = tuple(round(255 * one) for one in part.color)
            is_hidden = part.kind is PartKind.COLLIDER and part.body in visible
            handle = scene.add_mesh_simple(
                f"{parent}/part_{number}",
                np.asarray(part.points if not part.deforms else motion.points[part.path][0], np.float32),
                np.asarray(part.triangles, np.uint32),
                color=color,
                opacity=0.35 if is_hidden else (part.opacity if part.opacity < 1.0 else None),
                side="double" if part.deforms else "front",
            )
            if is_hidden:
                handle.visible = False
                self.colliders.append(handle)
            elif part.deforms:
                self.deforming.append((part.path, handle))
            elif part.body >= 0:
                self.surfaces.append((part.body, handle))
        self.lines: dict[str, Any] = {}
        self.shown = {"tendons": True, "joints": False, "contacts": True}
        self._add_ground(lowest(drawing, [motion]) if drawing.ground is None else drawing.ground)
        server.initial_camera.look_at = tuple(self.center)
        toward = np.array([0.5, -0.8, 0.35]) if drawing.up == 2 else np.array([0.5, 0.35, 0.8])
        server.initial_camera.position = tuple(self.center + 2.3 * self.size * toward)
        server.initial_camera.fov = float(np.radians(32.0))
        server.initial_camera.up = (0.0, 1.0, 0.0) if drawing.up == 1 else (0.0, 0.0, 1.0)
        self.show(motion.poses[0], {path: values[0] for path, values in motion.points.items()})

    def _add_ground(self, height: float) -> None:
        """A grid that fades into the distance."""
        cell, place = grid_cell(self.size), [0.0, 0.0, 0.0]
        place[self.drawing.up] = height
        self.server.scene.add_grid(
            "/ground",
            plane="xz" if self.drawing.up == 1 else "xy",
            cell_size=cell,
            section_size=10.0 * cell,
            infinite_grid=True,
            fade_distance=12.0 * self.size,
            cell_color=(222, 225, 229),
            section_color=(186, 191, 198),
            shadow_opacity=0.25,
            position=tuple(place),
        )

    def show(
        self,
        poses: np.ndarray,
        points: dict[str, np.ndarray],
        shares: dict[str, float] | None = None,
        contacts: tuple[np.ndarray, np.ndarray] | None = None,
        pull: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Show everything in a state.

        Args:
            poses: Of the bodies, shape (B, 7).
            points: World positions of what deforms, by path.
            shares: Forces of tendons by the largest one.
            contacts: Points (N, 3) [m], and the forces there (N, 3) [N].
            pull: Where a link is held, and to where it is pulled [m].
        """
        matrices = pose_matrices(poses)
        with self.server.atomic():
            for frame, pose in zip(self.frames, poses):
                frame.position = pose[:3]
                frame.wxyz = pose[[6, 3, 4, 5]]
            for path, handle in self.deforming:
                handle.vertices = np.asarray(points[path], np.float32)
            self._draw("tendons", *self._tendons(matrices, points, shares or {}))
            self._draw("joints", *self._joints(matrices))
            self._draw("contacts", *self._contacts(contacts))
            ends = np.array([pull]) if pull is not None else np.zeros((0, 2, 3))
            self._draw("pull", ends, np.full((len(ends), 2, 3), (40, 40, 40)))

    def _draw(self, name: str, ends: np.ndarray, colors: np.ndarray) -> None:
        """Lines (N, 2, 3) with their colours; none where they are not to be shown."""
        known = self.lines.get(name)
        is_shown = self.shown.get(name, True) and len(ends) > 0
        if known is not None and is_shown and known.points.shape == ends.shape:
            known.points, known.colors, known.visible = ends.astype(np.float32), colors.astype(np.uint8), True
        elif is_shown:
            self.lines[name] = self.server.scene.add_line_segments(
                f"/lines/{name}", ends.astype(np.float32), colors.astype(np.uint8), thickness=0.006 * self.size
            )
        elif known is not None:
            known.visible = False

    def _tendons(self, matrices, points, shares: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
        ends, colors = [np.zeros((0, 2, 3))], [np.zeros((0, 2, 3))]
        for strand in self.drawing.strands:
            line = points[strand.path] if strand.deforms else placed(strand.points, strand.bodies, matrices)
            share = shares.get(strand.tendon)
            color = np.array(strand.color) if share is None else SLACK + share * (TAUT - SLACK)
            own = np.stack([line[:-1], line[1:]], axis=1)
            ends.append(own)
            colors.append(np.broadcast_to(255.0 * color, own.shape))
        return np.concatenate(ends), np.concatenate(colors)

    def _joints(self, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends, colors = [], []
        for mark in self.drawing.joints:
            X = matrices[mark.body]
            origin = X[:, :3] @ mark.position + X[:, 3]
            for axis, is_linear in zip(mark.axes, mark.are_linear):
                reach = 0.08 * self.size * (X[:, :3] @ axis)
                ends.append([origin - reach, origin + reach])
                colors.append([JOINT_COLORS[is_linear]] * 2)
        return np.array(ends).reshape(-1, 2, 3), np.array(colors).reshape(-1, 2, 3)

    def _contacts(self, contacts: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
        if contacts is None:
            return np.zeros((0, 2, 3)), np.zeros((0, 2, 3))
        places, forces = contacts
        sizes = np.linalg.norm(forces, axis=1)
        places, forces, sizes = places[sizes > 0.0], forces[sizes > 0.0], sizes[sizes > 0.0]
        reach = 0.35 * self.size * sizes / (sizes + (np.median(sizes) if sizes.size else 1.0))
        tips = places + forces * (reach / np.maximum(sizes, 1e-300))[:, None]
        ends = np.stack([places, tips], axis=1)
        return ends, np.broadcast_to(CONTACT_COLOR, ends.shape)

    def on_pull(self, pulled: Callable[[int, np.ndarray | None, np.ndarray | None], None]) -> None:
        """Call a function with a body, a point of it in the world and where that is drawn to, while one is dragged with
        the left button and shift; without points when it is let go."""

        def dragged(body: int, event: Any) -> None:
            if event.phase == "end":
                pulled(body, None, None)
            else:
                pulled(body, np.array(event.start_position), np.array(event.end_position))

        for body, handle in self.surfaces:
            handle.on_drag("left", modifier="shift")(lambda event, own=body: dragged(own, event))

    def switches(self, redraw: Callable[[], None]) -> None:
        """Boxes for what is shown beside the surfaces."""
        gui = self.server.gui
        with gui.add_folder("Show"):
            for name, label in (("tendons", "tendons"), ("joints", "joint axes"), ("contacts", "contact forces")):
                box = gui.add_checkbox(label, self.shown[name])
                box.on_update(lambda event, own=name, from_box=box: self._switch(own, from_box.value, redraw))
            box = gui.add_checkbox("colliders", False)
            box.on_update(lambda event, from_box=box: self._show_colliders(from_box.value))

    def _switch(self, name: str, value: bool, redraw: Callable[[], None]) -> None:
        self.shown[name] = value
        redraw()

    def _show_colliders(self, value: bool) -> None:
        for handle in self.colliders:
            handle.visible = value
