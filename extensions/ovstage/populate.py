"""Fills a stage of ovstage from a USD file, with what a simulation needs."""

from __future__ import annotations

import os

from pxr import Sdf
from warp_artic.extensions.ovstage.package import check_stage, ovstage

from warp_artic.errors import HostError, StageError


def populate(stage: ovstage.Stage, path: str | os.PathLike, *, ordinal: int) -> None:
    """Open a USD file at an ordinal, with world matrices, and seal that.

    Everything of rendering and physics comes with it, and what is authored in our schemas; time is the start time.

    Raises:
        HostError: It is not an open stage of ovstage, or ovstage does not take the file or the ordinal.
        StageError: There is no such file.
    """
    check_stage(stage)
    path = os.fspath(path)
    layer = Sdf.Layer.FindOrOpen(path) if os.path.isfile(path) else None
    if layer is None:
        raise StageError(f"{path}: there is no such file, or it is not a USD file")
    start = layer.startTimeCode if layer.HasStartTimeCode() else 0.0
    population = ovstage.population
    ours = population.PropertyPredicate.in_namespace("warpArtic")
    selectors = [population.Selector(population.PrimPredicate.all(), ours)]
    description = population.Desc(domains=ovstage.PopulationDomain.ALL, selectors=selectors)
    try:
        population.open_usd_with_desc(stage, path, ordinal, start / layer.timeCodesPerSecond, description)
        stage.compute_hierarchy(ordinal, ordinal)
        stage.advance_write_floor(ordinal=ordinal).wait()
    except (ovstage.OvstageError, TypeError, ValueError) as error:
        raise HostError(f"{path}: cannot be opened at ordinal {ordinal!r}: {error}") from error
