"""A layer over a stage with another start: positions of joints and poses of links, of some articulations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pxr import Sdf, Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.start_pose import start_poses
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.layer_file import write_layer
from warp_artic.usd.read_track import start_code
from warp_artic.usd.stage_units import stage_units
from warp_artic.usd.write_joints import write_joints
from warp_artic.usd.write_links import write_links
from warp_artic.usd.write_results import describe_layer
from warp_artic.usd.write_target_lengths import set_range


def write_start(stage: Usd.Stage, trees: Sequence[Articulation], output: str | os.PathLike) -> None:
    """Write `output` (.usd, .usda or .usdc), a layer over `stage` in which articulations start as they are given.

    The file is complete or not there at all.
    """
    layer = Sdf.Layer.CreateAnonymous(".usda")
    codes, output = [start_code(stage)], Path(output)
    describe_layer(layer, stage, codes, output, "A start found by warp_artic")
    set_range(layer, stage, codes)
    recording, times = _record(trees), np.zeros(1)
    with Sdf.ChangeBlock():
        write_links(layer, stage, recording, 0, times, codes)
        write_joints(layer, stage, recording, 0, times, codes, stage_units(stage))
    write_layer(layer, output)


def _record(trees: Sequence[Articulation]) -> Recording:
    """The start as the only record of a run."""
    dofs = [dof for tree in trees for dof in tree.dofs]
    poses = [pose for tree in trees for pose, link in zip(start_poses(tree), tree.links) if not link.is_massless]
    nothing = np.zeros((1, 1, 0))
    return Recording(
        time=np.zeros(1),
        joint_names=tuple(dof.name for dof in dofs),
        link_names=tuple(path for tree in trees for path in tree.bodies),
        joint_position=np.array([dof.position for dof in dofs]).reshape(1, 1, -1),
        joint_velocity=nothing,
        joint_drive_force=nothing,
        mimic_error=nothing,
        link_pose=np.array([(*pose.position, *pose.quaternion) for pose in poses]).reshape(1, 1, -1, 7),
        energy=np.zeros((1, 1, 2)),
    )
