"""Residuals of the identities of a model, by `Simulation.verify`: of each identity where it is worst."""

from __future__ import annotations

from warp_artic.description.scene import Scene
from warp_artic.looking.verdict import Finding
from warp_artic.sim.measure.verify import Residual
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

OF_RUN = ("dt", "solver", "integrator", "precision")
"""Settings that come from the metadata of the recording."""


def model_findings(scene: Scene, recording: Recording) -> list[Finding]:
    """The largest residual of each identity and precision, by what is allowed, with the settings of a recording."""
    given = {name: recording.metadata[name] for name in OF_RUN if recording.metadata.get(name) is not None}
    worst: dict[tuple[str, str], Residual] = {}
    for one in Simulation(scene, settings=SolverSettings(**given)).verify():
        key = one.identity, one.precision
        if key not in worst or not _share(one) <= _share(worst[key]):
            worst[key] = one
    return [
        Finding(f"{identity}, {precision}", one.residual, one.allowed, where=one.worst or one.articulation)
        for (identity, precision), one in worst.items()
    ]


def _share(one: Residual) -> float:
    return one.residual / one.allowed
