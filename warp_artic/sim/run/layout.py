"""How a scene is laid out in a run: the trees that are simulated, who has which columns, and the rows of the scene."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.massless_links import with_massless_links
from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.public_rows import KINDS, KINDS_OF_ENTRIES, count_kinds, entry_names
from warp_artic.mechanisms.tree import tree_of
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.elastic.node_masses import with_node_masses
from warp_artic.solver.settings import SolverSettings


def laid_out(scene: Scene, settings: SolverSettings) -> Scene:
    """A scene as it is simulated: joints with many free axes as chains, the largest impulses of drives as forces.

    Links have the masses of nodes that are attached to them.
    """
    loaded = with_node_masses(scene)
    trees = (with_massless_links(tree).bounded(settings.dt) for tree in loaded.articulations)
    return replace(scene, articulations=tuple(trees))


def are_laid_out_alike(one: Articulation, other: Articulation) -> bool:
    """Whether two articulations differ in numbers only, so that one can be simulated with the arrays of the other."""
    return tree_of(with_massless_links(one)) == tree_of(with_massless_links(other))


def content_of_bodies(scene: Scene) -> str:
    """What tells the elastic bodies of a scene and their tendons from others; empty where there are none."""
    if not scene.elastic_bodies:
        return ""
    fields = (value for body in scene.elastic_bodies for value in vars(body).values())
    values = [(value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value for value in fields]
    return repr((values, scene.mesh_tendons))


def content_of_hand_overs(scene: Scene) -> str:
    """What tells from others when articulations are kinematic, and how they move then; empty where none is."""
    arrays = [(one.coordinates.tobytes(), one.velocities.tobytes()) for one in scene.hand_overs]
    numbers = [(one.path, one.spans, one.start, one.interval, one.blend) for one in scene.hand_overs]
    return repr((numbers, arrays)) if scene.hand_overs else ""


def members_of(scene: Scene, groups: tuple[Group, ...]) -> tuple[Member, ...]:
    """Who of the groups each articulation of a scene is, in the order of the scene."""
    found = {
        index: Member(index, group, place, part)
        for group in groups
        for place, mechanism in enumerate(group.members)
        for part, index in enumerate(mechanism)
    }
    return tuple(found[index] for index in range(len(scene.articulations)))


def scene_rows(scene: Scene, members: tuple[Member, ...]) -> dict[str, list[np.ndarray]]:
    """For dofs, links, roots, articulations and what families have: the scene rows of the rows of each member."""
    dof_row = {name: row for row, name in enumerate(scene.dof_names)}
    link_row = {name: row for row, name in enumerate(scene.link_names)}
    trees = [scene.articulations[member.index] for member in members]
    kinds = [count_kinds(tree) for tree in trees]
    return {
        "dof": [np.array([dof_row[dof.name] for dof in tree.dofs], int) for tree in trees],
        "link": [np.array([link_row[path] for path in tree.bodies], int) for tree in trees],
        "root": _consecutive(int(tree.is_floating) for tree in trees),
        **{kind: _consecutive(one[kind] for one in kinds) for kind in KINDS},
        "articulation": [np.array([k]) for k in range(len(trees))],
        "mechanism": [np.array([k]) for k in range(len(trees))],
    }


def named_entries(scene: Scene) -> dict[str, int]:
    """How many entries of each kind that constraint families have names for, by the field of a recording."""
    trees = scene.articulations
    return {f"{kind}_names": sum(len(entry_names(tree, kind)) for tree in trees) for kind in KINDS_OF_ENTRIES}


def rows_of_mechanism(order: Sequence[np.ndarray], mechanism: Sequence[int]) -> np.ndarray:
    """The scene rows of the rows of a mechanism, which has those of its articulations one after the other."""
    return np.concatenate([np.zeros(0, int), *(order[index] for index in mechanism)])


def _consecutive(counts) -> list[np.ndarray]:
    """Rows of each articulation where the scene has them one articulation after the other."""
    ends = np.cumsum([0, *counts])
    return [np.arange(first, last) for first, last in zip(ends, ends[1:])]
