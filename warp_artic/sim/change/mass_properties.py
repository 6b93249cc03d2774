"""Centres of mass and inertias of links, by environment: what is authored so is laid out anew for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warp_artic.description.massless_links import with_massless_links
from warp_artic.description.scene import Scene
from warp_artic.description.validate import findings, validate
from warp_artic.errors import DescriptionError, SettingsError
from warp_artic.mechanisms.group import mechanisms_in, trees_of
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.sim.arrays.views import checked, environment_indices
from warp_artic.sim.change.sleep import wake
from warp_artic.sim.elastic.node_masses import with_node_masses
from warp_artic.sim.run.access import check_arrays_may_change
from warp_artic.sim.run.state import Run

SIZES = {"center_of_mass": 3, "inertia": 6}
ARRAYS = {
    "center_of_mass": ("link_center", "link_frame", "parent_frame", "attachment_position"),
    "inertia": ("link_inertia",),
}
"""What is measured in the moving frame of a link, which is at the centre of mass of a floating root."""


def set_mass_properties(run: Run, given: dict, environments) -> None:
    """See `Simulation.set_mass_properties`; None keeps a value."""
    chosen = environment_indices(environments, run.environments)
    check_arrays_may_change(run, "center_of_mass, inertia")
    run.idle.end(run.steps_done)
    loaded = {one.link for body in run.scene.elastic_bodies for one in body.attachments}
    if sum(values is not None for values in given.values()) == 1 and not loaded.isdisjoint(run.names.link):
        found, missing = sorted(given, key=lambda name: given[name] is None)
        raise SettingsError(
            f"{found}: without {missing}; both are needed where nodes of elastic bodies are attached to links, whose "
            "masses are added to those of the links"
        )
    shape = len(chosen), len(run.names.link)
    tables = {
        name: checked(name, values, (*shape, SIZES[name])) for name, values in given.items() if values is not None
    }
    scenes = [_scene_with(run, tables, place) for place in range(len(chosen))]
    for group in run.groups:
        found = [mechanisms_in(scene, group.members) for scene in scenes]
        rows = [[parameter_rows(own[k], origin) for own in found] for k, origin in enumerate(group.origins)]
        for name in (array for table in tables for array in ARRAYS[table]):
            group.expand_parameter(name)
            group.write(name, np.array([[row[name] for row in own] for own in rows]).transpose(2, 0, 1), chosen)
    wake(run, chosen)
    run.launches.pack()
    run.is_reported = False


def _scene_with(run: Run, tables: dict[str, np.ndarray], place: int) -> Scene:
    """The scene with the properties of one environment, as it is laid out."""
    trees = []
    for member, order in zip(run.members, run.order["link"]):
        tree = run.scene.articulations[member.index]
        links = tuple(
            replace(link, **{name: tuple(map(float, table[place, row])) for name, table in tables.items()})
            for link, row in zip(tree.links, order)
        )
        trees.append(replace(tree, links=links))
    scene = replace(run.scene, articulations=tuple(trees))
    validate(scene)
    if "inertia" in tables:
        _refuse_impossible(scene)
    trees = [with_massless_links(tree) for tree in with_node_masses(scene).articulations]
    bounded = replace(scene, articulations=tuple(tree.bounded(run.settings.dt) for tree in trees))
    for member, tree, structure in zip(run.members, trees, trees_of(bounded)):
        if structure != member.group.tree:
            raise SettingsError(
                f"inertia: {tree.path}: a link without mass can have none, and one with mass must have it"
            )
    return replace(scene, articulations=tuple(trees))


def _refuse_impossible(scene: Scene) -> None:
    """Raise a DescriptionError where inertias that are given are those of no body, which of a stage is a warning."""
    wrong = [one for one in findings(scene) if one.rule == "inertia-triangle"]
    if wrong:
        raise DescriptionError("\n".join(f"{one.path}: {one.message}" for one in wrong))
