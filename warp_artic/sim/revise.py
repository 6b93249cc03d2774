"""Another scene in place of the one that is simulated, in the middle of a run.

Where only numbers differ (gains, limits, masses, frames, targets, gravity ...), those that differ are written to all
environments; others keep what a user has written. The state stays; what is in the start state takes effect at a reset.
Where the structure differs, because links, joints, drives, limits or tendons have come or gone, everything is built
anew and goes on from where it is; only what is new starts as authored (`sim.change.carry_over`). So it is with elastic
bodies: what differs in one, or in a tendon, builds anew, and bodies of as many nodes keep their motion; and with the
colliders of contacts that are solved by islands.
"""

from __future__ import annotations

import numpy as np

from warp_artic.constraints.contact_tables import contact_motions
from warp_artic.description.articulation import Articulation
from warp_artic.description.hand_over import HandOver
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.description.track import Track
from warp_artic.description.validate import validate
from warp_artic.mechanisms.group import mechanisms_in, trees_of
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.mechanisms.public_rows import KINDS_OF_ENTRIES, entry_names
from warp_artic.mechanisms.start import initial_control
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.change.carry_over import carry_over
from warp_artic.sim.change.sleep import wake
from warp_artic.sim.run.access import check_arrays_may_change
from warp_artic.sim.run.layout import content_of_bodies, laid_out
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.targets import entries_of, gravity_entries
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings


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
    if resolved == simulation.settings and same_structure(simulation.run, scene):
        _write_differences(simulation.run, scene)
        return simulation
    made = Simulation(
        scene,
        environments=simulation.environments,
        device=simulation.device,
        settings=settings,
        threads=simulation.threads,
    )
    carry_over(simulation.run, made.run)
    return made


def same_structure(run: Run, scene: Scene) -> bool:
    """Whether a scene differs from the one of a run in numbers only: names, trees and elastic bodies are the same."""
    old = run.scene
    if content_of_bodies(old) != content_of_bodies(scene):
        return False
    names = ("dof_names", "link_names")
    if any(getattr(old, name) != getattr(scene, name) for name in names):
        return False
    if [tree.path for tree in old.articulations] != [tree.path for tree in scene.articulations]:
        return False
    if mechanisms_of(old) != mechanisms_of(scene) or old.island_contacts != scene.island_contacts:
        return False
    before, after = (laid_out(one, run.settings) for one in (old, scene))
    pairs = zip(run.members, before.articulations, after.articulations, trees_of(after))
    return all(
        after == before
        or (
            after.base_motion == before.base_motion
            and contact_motions(after) == contact_motions(before)
            and _couplings(after) == _couplings(before)
            and structure == member.group.tree
        )
        for member, before, after, structure in pairs
    )


def same_over_time(before: Scene, after: Scene) -> bool:
    """Whether the same follows time in two scenes of the same structure: targets, gains, gravity and hand-overs."""

    def tracks(scene: Scene) -> list[list[Track | None]]:
        entries = (gravity_entries(scene), *map(entries_of, scene.articulations))
        return [[entry.track for entry in own.values()] for own in entries]

    def arrays(one: HandOver) -> tuple[np.ndarray, ...]:
        return (np.array(one.spans), np.array([one.start, one.interval, one.blend]), one.coordinates, one.velocities)

    pairs = zip(before.hand_overs, after.hand_overs)
    alike = (all(map(np.array_equal, arrays(one), arrays(other))) for one, other in pairs)
    return tracks(before) == tracks(after) and len(before.hand_overs) == len(after.hand_overs) and all(alike)


def _couplings(tree: Articulation) -> tuple:
    return tuple(entry_names(tree, kind) for kind in KINDS_OF_ENTRIES)


def _write_differences(run: Run, scene: Scene) -> None:
    """Write the numbers that differ between the scene of a run and another one of the same structure."""
    laid = [laid_out(one, run.settings) for one in (run.scene, scene)]
    before, after = (one.articulations for one in laid)
    changed = [member for member in run.members if before[member.index] != after[member.index]]
    has_gravity_changed = scene.gravity != run.scene.gravity
    if changed or has_gravity_changed:
        check_arrays_may_change(run, "the stage")
    run.idle.end(run.steps_done)
    for member in changed:
        mechanism = (member.group.members[member.place],)
        old, new = (mechanisms_in(one, mechanism) for one in laid)
        origin = member.group.origins[member.place]
        _write_rows(member, parameter_rows(*old, origin), parameter_rows(*new, origin))
        _write_rows(member, *({name: rows[0] for name, rows in initial_control(one).items()} for one in (old, new)))
        run.tracks.revise(entries_of(before[member.index]), entries_of(after[member.index]))
    if has_gravity_changed:
        changed = run.members
        for member in changed:
            member.group.write_rows("gravity", member.place, np.arange(3), np.asarray(scene.gravity, float))
        for body in run.elastic.bodies:
            body.gravity.assign(np.repeat(np.array([scene.gravity], float).T, run.environments, axis=1))
    run.tracks.revise(gravity_entries(run.scene), gravity_entries(scene))
    run.scene = scene
    if changed:
        wake(run, articulations=[member.index for member in changed])
        run.launches.pack()
        run.is_reported = False


def _write_rows(member: Member, before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> None:
    for name, values in after.items():
        rows = np.flatnonzero(before[name] != values)
        if rows.size:
            member.group.write_rows(name, member.place, rows, values[rows])
