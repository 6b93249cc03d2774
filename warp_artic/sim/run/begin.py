"""How a run begins: what is refused, how many lanes and threads there are, and what is built in which order."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.description.validate import validate
from warp_artic.errors import SettingsError
from warp_artic.kernels.threads import usable_threads
from warp_artic.math.numbers import Numbers, numbers_for
from warp_artic.mechanisms.group import build_groups
from warp_artic.mechanisms.public_rows import KINDS_OF_ENTRIES, entry_names
from warp_artic.sim.arrays.row_table import RowTables
from warp_artic.sim.elastic.elastic_bodies import ElasticBodies
from warp_artic.sim.elastic.elastic_body import RunOfBodies
from warp_artic.sim.elastic.node_masses import with_node_masses
from warp_artic.sim.islands.contact_islands import ContactIslands
from warp_artic.sim.launch.device import device_of
from warp_artic.sim.launch.idle import IdleSteps
from warp_artic.sim.launch.launches import Launches
from warp_artic.sim.launch.parameter_watch import ParameterWatch
from warp_artic.sim.run.access import open_array
from warp_artic.sim.run.base_motions import BaseMotions
from warp_artic.sim.run.free_motion import check_free_motion
from warp_artic.sim.run.given_contacts import GivenContacts
from warp_artic.sim.run.hand_overs import HandOvers
from warp_artic.sim.run.inertias import check_inertias
from warp_artic.sim.run.layout import laid_out, members_of, scene_rows
from warp_artic.sim.run.state import Names, Run
from warp_artic.sim.run.targets import TargetTracks
from warp_artic.solver.settings import SolverSettings

MOST_ENVIRONMENTS = 2**31 - 1
"""That Warp counts."""
LANES_FROM = 4
"""Environments of a tree from which lanes are faster than scalars on a CPU."""


def begin(scene: Scene, environments: int, device: str, settings: SolverSettings | None, threads: int | None) -> Run:
    """A run at its start, with nothing reported, all awake; arguments and errors as of `Simulation`."""
    _check_scene(scene)
    if isinstance(environments, bool) or not isinstance(environments, (int, np.integer)) or environments < 1:
        raise SettingsError(f"environments: {environments!r} is not an integer of at least 1")
    if environments > MOST_ENVIRONMENTS:
        raise SettingsError(f"environments: {environments} are more than {MOST_ENVIRONMENTS}")
    environments = int(environments)
    device = device_of(device)
    threads = _threads(threads, device)
    if not isinstance(settings, SolverSettings | None):
        raise SettingsError(f"settings: {_shown(settings)} is not a SolverSettings, such as SolverSettings(dt=1 / 480)")
    settings = (settings or SolverSettings()).resolved(scene)
    check_inertias(with_node_masses(scene), settings.precision)
    bounded = laid_out(scene, settings)
    if settings.integrator == "rk4":
        check_free_motion(bounded)
    sleep_steps, on = settings.sleep_steps, wp.get_device(device)
    numbers = partial(_numbers, settings, device)
    groups = build_groups(bounded, environments, numbers, device, settings.has_dense_rows, sleep_steps, threads)
    members = members_of(scene, groups)
    bases = BaseMotions(bounded, groups, settings.dt)
    elastic = ElasticBodies(bounded, members, RunOfBodies(settings, environments, device, threads))
    islands = None
    if bounded.island_contacts is not None:
        islands = ContactIslands(bounded, members, settings, environments, device)
    given_contacts = GivenContacts(bounded, groups, environments, device)
    launches = Launches(groups, settings, on, threads)
    run = Run(
        scene=scene,
        settings=settings,
        environments=environments,
        device=device,
        on=on,
        threads=threads,
        names=_names(scene, elastic),
        groups=groups,
        members=members,
        order=scene_rows(scene, members),
        launches=launches,
        tables=RowTables(groups, launches),
        idle=IdleSteps(groups, sleep_steps if on.is_cpu else 0),
        parameter_watch=ParameterWatch(groups),
        bases=bases,
        hand_overs=HandOvers(bounded, members, settings.dt),
        elastic=elastic,
        islands=islands,
        given_contacts=given_contacts,
    )
    if run.is_carried or run.hand_overs:
        run.idle.forbid()
    for name in bases.names if sleep_steps else ():
        run.parameter_watch.add(name)
    for group in islands.groups if islands else ():
        group.push()
    if elastic.is_coupled:
        open_array(run, "link_external_force")
    run.tracks = TargetTracks(scene, members, elastic.bodies, partial(open_array, run))
    return run


def _check_scene(scene: object) -> None:
    if not isinstance(scene, Scene):
        read = f"; a stage is read first: wa.Simulation(wa.read_stage({str(scene)!r}))"
        hint = read if isinstance(scene, (str, os.PathLike)) or hasattr(scene, "GetRootLayer") else ""
        raise SettingsError(f"scene: {_shown(scene)} is not a Scene{hint}")
    validate(scene)


def _shown(value: object) -> str:
    """A value as a sentence has it."""
    return repr(value) if isinstance(value, (str, os.PathLike)) else f"a {type(value).__name__}"


def _threads(count: int | None, device: str) -> int:
    on_cpu = wp.get_device(device).is_cpu
    if count is None:
        return usable_threads() if on_cpu else 1
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SettingsError(f"threads: {count!r} is not an integer of at least 1")
    if count > 1 and not on_cpu:
        raise SettingsError(f"threads: they are for the CPU, and the device is {device}")
    return count


def _numbers(settings: SolverSettings, device: str, columns: int) -> Numbers:
    variant = settings.variant
    on_cpu = wp.get_device(device).is_cpu
    if variant == "lanes" and not on_cpu:
        raise SettingsError(f"variant: lanes are for the CPU, and the device is {device}")
    wide = variant == "lanes" or (variant == "auto" and on_cpu and columns >= LANES_FROM)
    return numbers_for(settings.precision, wide, columns)


def _names(scene: Scene, elastic: ElasticBodies) -> Names:
    trees = scene.articulations
    return Names(
        joint=scene.dof_names,
        link=scene.link_names,
        root=tuple(tree.links[tree.inbound.index(None)].path for tree in trees if tree.is_floating),
        entries={kind: tuple(name for tree in trees for name in entry_names(tree, kind)) for kind in KINDS_OF_ENTRIES},
        mesh_tendon=tuple(name for body in elastic.bodies for name in body.tendon_names),
    )
