"""Another scene in place of the one that is simulated, in the middle of a run.

Where only numbers differ (gains, limits, masses, frames, targets, gravity ...), those that differ are written to all
environments; others keep what a user has written. The state stays; what is in the start state takes effect at a reset.
Where the structure differs, everything is built anew and goes on with the state of what stayed, as an articulation of
PhysX does that is removed and added again. An articulation that has not changed goes on bitwise. In one that has, dofs
of the same names keep position, velocity and controls, a link that has come loose its pose and velocity, and the rest
starts as authored, parameters too. So it is with elastic bodies: what differs in one, or in a tendon, builds anew, and
bodies of as many nodes keep their motion.
"""

from __future__ import annotations

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.scene import Scene
from warp_artic.description.validate import validate
from warp_artic.model.group import initial_control, trees_of
from warp_artic.model.parameters import parameter_rows
from warp_artic.sim.layout import content_of_bodies, laid_out
from warp_artic.sim.simulation import Simulation
from warp_artic.sim.targets import TARGETS, entries_of, gravity_entries
from warp_artic.sim.views import CONTROL, ROW_COUNTS, Member
from warp_artic.solver.settings import SolverSettings

DOF_MOTION = ("joint_position", "joint_velocity")
LINK_MOTION = ("link_pose", "link_velocity")


def revise(simulation: Simulation, scene: Scene, settings: SolverSettings) -> Simulation:
    """The simulation of another scene: the same one where only numbers differ, else a new one.

    Args:
        simulation: What has run so far; it stays as it is where a new one is made.
        scene: The other scene.
        settings: What `simulation` was made with, or others.

    Raises:
        DescriptionError: The scene breaks a rule that a mechanism must satisfy; the simulation stays as it is.
        SettingsError: The settings and the scene do not go together.
    """
    validate(scene)
    resolved = settings.resolved(scene)
    if resolved == simulation.settings and _same_structure(simulation, scene):
        _write_differences(simulation, scene)
        return simulation
    made = Simulation(
        scene,
        environments=simulation.environments,
        device=simulation.device,
        settings=settings,
        threads=simulation.threads,
    )
    _carry_over(simulation, made)
    return made


def _same_structure(simulation: Simulation, scene: Scene) -> bool:
    """Whether all articulations have the names and trees that they had, and elastic bodies are the same."""
    old = simulation.scene
    if content_of_bodies(old) != content_of_bodies(scene):
        return False
    names = ("dof_names", "link_names")
    if any(getattr(old, name) != getattr(scene, name) for name in names):
        return False
    if [tree.path for tree in old.articulations] != [tree.path for tree in scene.articulations]:
        return False
    before, after = (laid_out(one, simulation.settings) for one in (old, scene))
    pairs = zip(simulation._members, before.articulations, after.articulations, trees_of(after))
    return all(
        after == before
        or (
            after.base_motion == before.base_motion
            and _couplings(after) == _couplings(before)
            and structure == member.group.tree
        )
        for member, before, after, structure in pairs
    )


def _couplings(tree: Articulation) -> tuple:
    return tree.tendon_names, tuple(mimic.name for mimic in tree.mimics)


def _write_differences(simulation: Simulation, scene: Scene) -> None:
    """Write the numbers that differ between the scene of the simulation and another one of the same structure."""
    before, after = (laid_out(one, simulation.settings).articulations for one in (simulation.scene, scene))
    changed = [member for member in simulation._members if before[member.index] != after[member.index]]
    has_gravity_changed = scene.gravity != simulation.scene.gravity
    if changed or has_gravity_changed:
        simulation._check_arrays_may_change("the stage")
    simulation._idle.end(simulation.steps_done)
    for member in changed:
        old, new = before[member.index], after[member.index]
        origin = member.group.origins[member.place]
        _write_rows(member, parameter_rows(old, origin), parameter_rows(new, origin))
        _write_rows(member, *({name: rows[0] for name, rows in initial_control([tree]).items()} for tree in (old, new)))
        simulation.target_tracks.revise(entries_of(old), entries_of(new))
    if has_gravity_changed:
        changed = simulation._members
        for member in changed:
            member.group.write_rows("gravity", member.place, np.arange(3), np.asarray(scene.gravity, float))
        for body in simulation.elastic_bodies:
            body.gravity.assign(np.repeat(np.array([scene.gravity], float).T, simulation.environments, axis=1))
    simulation.target_tracks.revise(gravity_entries(simulation.scene), gravity_entries(scene))
    simulation._take_up(scene, [member.index for member in changed])


def _write_rows(member: Member, before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> None:
    for name, values in after.items():
        rows = np.flatnonzero(before[name] != values)
        if rows.size:
            member.group.write_rows(name, member.place, rows, values[rows])


def _carry_over(old: Simulation, new: Simulation) -> None:
    """Let a new simulation go on from where another one is, as far as they have the same parts."""
    old._idle.end(old.steps_done)
    new.steps_done = old.steps_done
    if old.articulations and new.articulations:
        _take_state_by_name(old, new)
        _take_controls_by_name(old, new)
    if old.settings == new.settings:
        places = {tree.path: member for tree, member in zip(old.scene.articulations, old._members)}
        for tree, member in zip(new.scene.articulations, new._members):
            before = places.get(tree.path)
            if before is not None and old.scene.articulations[before.index] == tree:
                _take_all(before, member)
        new._launches.pack()
    bodies = {body.path: body for body in old.elastic_bodies}
    for body in new.elastic_bodies:
        if body.path in bodies:
            body.carry_over(bodies[body.path])
    new.target_tracks.carry_over(old.target_tracks)


def _take_state_by_name(old: Simulation, new: Simulation) -> None:
    """Positions and velocities of dofs that both have, and of floating roots that were links."""
    dofs, links = (_common(getattr(old, names), getattr(new, names)) for names in ("joint_names", "link_names"))
    before, start = old.snapshot((*DOF_MOTION, *LINK_MOTION)), new.snapshot((*DOF_MOTION, *LINK_MOTION))
    state = {}
    for names, (here, there) in ((DOF_MOTION, dofs), (LINK_MOTION, links)):
        for name in names:
            values = getattr(start, name).numpy().copy()
            values[there] = getattr(before, name).numpy()[here]
            state[name] = np.moveaxis(values, -1, 0)
    here, there = links
    origins = new.link_origins.copy()
    origins[there] = old.link_origins[here]
    state["link_pose"][..., :3] += origins
    roots = [new.link_names.index(path) for path in new.root_names]
    if roots:
        state |= {"root_pose": state["link_pose"][:, roots], "root_velocity": state["link_velocity"][:, roots]}
    new.set_state(**{name: values for name, values in state.items() if name not in LINK_MOTION})


def _take_controls_by_name(old: Simulation, new: Simulation) -> None:
    """Targets that the stage has not changed, efforts and external forces."""
    before, start = old.snapshot(CONTROL), new.snapshot(CONTROL)
    authored = [{dof.name: dof.drive for tree in one.scene.articulations for dof in tree.dofs} for one in (old, new)]
    kept = [
        name
        for name in new.joint_names
        if name in authored[0] and _targets(authored[0][name]) == _targets(authored[1][name])
    ]
    for name in CONTROL:
        of_links = name == "link_external_force"
        here, there = _common(old.link_names, new.link_names) if of_links else _common(old.joint_names, new.joint_names)
        if name in TARGETS:
            chosen = np.isin(there, [new.joint_names.index(dof) for dof in kept])
            here, there = here[chosen], there[chosen]
        values = getattr(start, name).numpy().copy()
        values[there] = getattr(before, name).numpy()[here]
        new._write_rows(
            name, values.reshape(len(values), ROW_COUNTS[name][1], new.environments), np.arange(new.environments)
        )


def _common(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the names that both have, among the old and among the new ones."""
    rows = {name: row for row, name in enumerate(old)}
    pairs = [(rows[name], row) for row, name in enumerate(new) if name in rows]
    return tuple(np.array(pairs, int).reshape(-1, 2).T)


def _targets(drive: Drive | None) -> tuple | None:
    """What a drive follows."""
    return drive and (drive.position_target, drive.velocity_target, drive.position_track, drive.velocity_track)


def _take_all(before: Member, member: Member) -> None:
    """Everything of an articulation that has not changed, history and parameters included, bitwise."""
    old, new = before.group, member.group
    for name in (*new.state, *new.control, *new.parameters):
        if name in new.parameters:
            if old.parameters[name].is_shared:
                continue
            new.expand_parameter(name)
        source = old.field(name).view(before.first_column, old.environments)
        new.field(name).view(member.first_column, new.environments).assign(source)
