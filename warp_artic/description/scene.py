"""A scene: gravity, the articulations and the elastic bodies in it."""

from __future__ import annotations

from dataclasses import dataclass

from warp_artic.description.articulation import Articulation
from warp_artic.description.diagnostic import Diagnostic
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.hand_over import HandOver
from warp_artic.description.island_contacts import IslandContacts
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.description.track import Track


@dataclass(frozen=True, kw_only=True, repr=False)
class Scene:
    """What is simulated together."""

    articulations: tuple[Articulation, ...]
    elastic_bodies: tuple[ElasticBody, ...] = ()
    mesh_tendons: tuple[MeshTendon, ...] = ()
    mechanisms: tuple[tuple[str, ...], ...] = ()
    """Prim paths of articulations that are stepped as one mechanism, beside those that constraints join.

    See `description.mechanism`.
    Each moves as it does alone, and its arrays stay its own. They sleep and wake together, one that fails stops them
    all, what steps remember and gravity are of the whole, and there is one origin for all.
    """
    island_contacts: IslandContacts | None = None
    """Contacts of articulations that are too many to be one mechanism, if there are any."""
    hand_overs: tuple[HandOver, ...] = ()
    """When articulations are kinematic, of those that are at times."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """[m/s^2], world axes of the stage."""
    gravity_tracks: tuple[Track, Track, Track] | None = None
    """What its components follow over time, if anything; `gravity` then is that at the start."""
    time_step: float | None = None
    """Authored time step [s], if any."""
    solver: str | None = None
    """Authored name of the solver, if any; as in `SolverSettings`, like the next two."""
    integrator: str | None = None
    """Authored name of the integrator, if any."""
    precision: str | None = None
    """Authored name of the precision, if any."""
    sleep_after: float | None = None
    """Authored time at rest after which trees fall asleep [s], if any."""
    link_names: tuple[str, ...] = ()
    """Paths of all links but massless ones, depth first as composed on the stage."""
    dof_names: tuple[str, ...] = ()
    """Names of all dofs, depth first by joint path as composed on the stage."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the reader reports about the stage."""

    def __post_init__(self):
        if not self.link_names:
            names = tuple(link.path for tree in self.articulations for link in tree.links if not link.is_massless)
            object.__setattr__(self, "link_names", names)
        if not self.dof_names:
            names = tuple(dof.name for tree in self.articulations for dof in tree.dofs)
            object.__setattr__(self, "dof_names", names)

    def __repr__(self) -> str:
        counts = {
            "articulation": len(self.articulations),
            "link": len(self.link_names),
            "dof": len(self.dof_names),
            "tendon": sum(len(tree.tendon_names) for tree in self.articulations),
            "mimic joint": sum(len(tree.mimics) for tree in self.articulations),
            "constraint": sum(len(tree.constraints) for tree in self.articulations),
            "elastic part": len(self.elastic_bodies),
            "tendon on meshes": len(self.mesh_tendons),
            "diagnostic": len(self.diagnostics),
        }
        told = (f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items() if count or noun == "link")
        return f"<Scene of {', '.join(told)}>"
