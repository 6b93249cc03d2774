"""`warp-artic solve-tendons`: tensions and target lengths by which tendons on meshes make wanted forces on nodes."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

import numpy as np

from warp_artic.cli.inspect_values import plain
from warp_artic.cli.table import Column, Table, show
from warp_artic.cli.wanted_forces import WantedForces, read_wanted
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.errors import SettingsError, StageError
from warp_artic.meshes.tendon_plan import TendonPlan, plan_deformed_tendons, plan_tendons
from warp_artic.sim.files.npz import write_npz
from warp_artic.sim.files.whole_file import check_place
from warp_artic.sim.launch.device import device_of, start_quietly
from warp_artic.usd.layer_file import check_output
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.write_target_lengths import TendonTargets, write_target_lengths

BOUNDS = {-1: "least", 0: "", 1: "largest"}
SHOWN = 3
"""How many nodes are named of those with a force that no tensions make."""
SMALL = 1e-9
"""A rest of the forces below this share of them is rounding."""
NOT_MADE = 0.01
"""A rest of the forces above this share of them is worth a warning."""
LOG = logging.getLogger("warp_artic")


def run(arguments) -> int:
    """Solve for each body of which forces are wanted, show, and write what is asked for."""
    start_quietly(arguments.device)
    stage = open_stage(arguments.stage)
    if arguments.output:
        check_output(stage, arguments.output, "layer of target lengths")
    if arguments.record and Path(arguments.record).suffix != ".npz":
        raise SettingsError(f"{arguments.record}: arrays are written to a file whose name ends in .npz")
    if arguments.record:
        check_place(arguments.record)
    if arguments.stiffness is not None and arguments.stiffness <= 0.0:
        raise SettingsError(f"stiffness: {arguments.stiffness:g} N/m must be above 0")
    if arguments.regularisation is not None and arguments.regularisation < 0.0:
        raise SettingsError(f"regularisation: {arguments.regularisation:g} is below 0")
    scene = read_stage(stage, dialects=arguments.dialects)
    bodies = {body.name: body for body in scene.elastic_bodies}
    with_tendons = {tendon.body: bodies[tendon.body] for tendon in scene.mesh_tendons}
    if not with_tendons:
        raise StageError(f"{arguments.stage}: has no tendon on an elastic body (WarpArticMeshTendon)")
    wanted = read_wanted(arguments.forces, with_tendons)
    time = _times(wanted, stage)
    poses = {link.path: link.pose for tree in scene.articulations for link in tree.links}
    plan = partial(plan_deformed_tendons, gravity=scene.gravity) if arguments.deformed else plan_tendons
    solutions = [
        plan(
            body,
            [tendon for tendon in scene.mesh_tendons if tendon.body == name],
            wanted.forces[name],
            time,
            counts=wanted.counts[name],
            link_poses=poses,
            stiffness=arguments.stiffness,
            regularisation=arguments.regularisation or 0.0,
            device=device_of(arguments.device),
        )
        for name, body in with_tendons.items()
        if name in wanted.forces
    ]
    for solution in solutions:
        _warn_of_rest(solution)
    wrote = []
    if arguments.output:
        targets = [target for solution in solutions for target in _targets(solution)]
        write_target_lengths(stage, targets, time, arguments.output)
        wrote.append(arguments.output)
    if arguments.record:
        write_npz(arguments.record, _arrays(solutions, time))
        wrote.append(arguments.record)
    if arguments.json:
        print(json.dumps(_content(solutions, time), indent=1))
    else:
        show([block for solution in solutions for block in _blocks(solution, time)])
        for path in wrote:
            print(f"wrote {path}")
    return 0


def _warn_of_rest(solution: TendonPlan) -> None:
    """Say where a good part of the wanted forces is not made."""
    share = solution.residual / np.maximum(solution.size, 1e-300)
    worst = int(np.argmax(share))
    if share[worst] > NOT_MADE:
        rest, size = solution.residual[worst], solution.size[worst]
        LOG.warning(
            "%s: no tensions within bounds make the wanted forces: %.3g N of %.3g N are left, a share of %.3g",
            *(solution.body.name, rest, size, share[worst]),
        )


def _times(wanted: WantedForces, stage) -> np.ndarray:
    """[s]; without any in the file, forces are a frame of the stage apart."""
    if wanted.time is not None:
        return wanted.time
    return np.arange(len(next(iter(wanted.forces.values())))) / stage.GetFramesPerSecond()


def _targets(solution: TendonPlan) -> list[TendonTargets]:
    """What is written of each tendon."""
    return [
        TendonTargets(tendon.name, solution.stiffness, _target_length(solution, number), solution.tension[:, number])
        for number, tendon in enumerate(solution.tendons)
    ]


def _target_length(solution: TendonPlan, number: int) -> np.ndarray | None:
    """[m], shape (T); None of a tendon that takes tensions."""
    return None if solution.tendons[number].law is TensionLaw.TENSION else solution.target_length[:, number]


def _arrays(solutions: list[TendonPlan], time: np.ndarray) -> dict[str, np.ndarray]:
    """What is recorded: tendons of all bodies after each other, forces in world axes by body."""
    arrays = {
        "time": time,
        "body_names": np.array([one.body.name for one in solutions], dtype=np.str_),
        "tendon_names": np.array([tendon.name for one in solutions for tendon in one.tendons], dtype=np.str_),
        **{
            name: np.concatenate([getattr(one, name) for one in solutions], axis=1)
            for name in ("tension", "length", "bound")
        },
        "target_length": np.concatenate(
            [np.full_like(one.length, np.nan) if one.target_length is None else one.target_length for one in solutions],
            axis=1,
        ),
        "residual": np.stack([one.residual for one in solutions], axis=1),
        "stiffness": np.array([np.nan if one.stiffness is None else one.stiffness for one in solutions]),
    }
    for one in solutions:
        arrays[f"unreachable:{one.body.name}"] = _in_world(one.body, one.unreachable)
    return arrays


def _in_world(body: ElasticBody, forces: np.ndarray) -> np.ndarray:
    """Forces (T, N, dim) of the frame of a body along the axes of the world, shape (T, N, 3)."""
    return forces @ body.pose.rotation[:, : body.dim].T


def _content(solutions: list[TendonPlan], time: np.ndarray) -> dict:
    """What is found, as plain values."""
    bodies = []
    for one in solutions:
        tendons = [
            {
                "name": tendon.name,
                "tension": one.tension[:, number].tolist(),
                "length": one.length[:, number].tolist(),
                "target_length": None if (length := _target_length(one, number)) is None else length.tolist(),
                "bound": [BOUNDS[int(bound)] or None for bound in one.bound[:, number]],
            }
            for number, tendon in enumerate(one.tendons)
        ]
        bodies.append(
            {
                "body": one.body.name,
                "stiffness": one.stiffness,
                "rank": one.rank,
                "condition": one.condition,
                "wanted": one.size.tolist(),
                "residual": one.residual.tolist(),
                "optimality": one.optimality.tolist(),
                "tendons": tendons,
            }
        )
    return plain({"time": time.tolist(), "bodies": bodies})


def _blocks(solution: TendonPlan, time: np.ndarray):
    """What is said of a body: how well the forces are made, its tendons, and the forces that are left."""
    yield "\n".join(_head(solution, time))
    yield _table(solution, time)
    if (solution.residual > SMALL * np.maximum(solution.size, 1e-300)).any():
        yield _rest(solution, time)


def _head(solution: TendonPlan, time: np.ndarray) -> list[str]:
    worst = int(np.argmax(solution.residual))
    size, rest = solution.size[worst], solution.residual[worst]
    share = f", {rest / size:.3g} of it" if size > 0.0 else ""
    when = f" at {time[worst]:g} s, the worst of {len(time)} times" if len(time) > 1 else ""
    lines = [
        f"BODY {solution.body.name}: {len(solution.tendons)} tendons, {len(solution.body.points)} nodes",
        f"wanted       {size:.6g} N{when}",
        f"residual     {rest:.3g} N{share}",
        f"independent  {solution.rank} of {len(solution.tendons)} tendons, condition {solution.condition:.3g}",
        f"optimality   {solution.optimality.max():.3g} N",
    ]
    if solution.stiffness is not None:
        lines.append(f"stiffness    {solution.stiffness:.6g} N/m of every spring and cable")
    return lines


def _table(solution: TendonPlan, time: np.ndarray) -> Table:
    """A line a tendon: values at the only time, or the least and the greatest of all times."""
    rows = []
    for number, tendon in enumerate(solution.tendons):
        columns = [solution.tension[:, number], solution.length[:, number]]
        if solution.target_length is not None:
            columns.append(solution.target_length[:, number])
        cells = [cell for values in columns for cell in _ends(values, len(time))]
        at = [
            f"{word} at {count}" if len(time) > 1 else word
            for bound, word in BOUNDS.items()
            if word and (count := int(np.count_nonzero(solution.bound[:, number] == bound)))
        ]
        rows.append((tendon.name, tendon.law.value, *cells, ", ".join(at)))
    heads = [Column("tendon", is_text=True), Column("law", is_text=True)]
    names = [("tension", "N"), ("length", "m"), *([] if solution.target_length is None else [("target length", "m")])]
    for name, unit in names:
        heads += [Column(name, unit)] if len(time) == 1 else [Column(f"{name} from", unit), Column("to", unit)]
    heads.append(Column("bound" if len(time) == 1 else "bound, times", is_text=True))
    return Table("Tendons", tuple(heads), tuple(rows))


def _ends(values: np.ndarray, times: int) -> list[str]:
    ends = (values[0],) if times == 1 else (values.min(), values.max())
    return ["-" if np.isnan(value) else f"{value:.6g}" for value in ends]


def _rest(solution: TendonPlan, time: np.ndarray) -> Table:
    """The nodes with the largest forces that no tensions within bounds make."""
    rest = np.linalg.norm(solution.unreachable, axis=2)
    rows = []
    order = np.argsort(-rest.max(axis=0), kind="stable")[:SHOWN]
    for node in order[rest.max(axis=0)[order] > SMALL * solution.size.max()]:
        moment = int(np.argmax(rest[:, node]))
        wanted, left = (
            _in_world(solution.body, one[moment, node][None, None])[0, 0]
            for one in (solution.wanted, solution.unreachable)
        )
        cells = [" ".join(f"{value:.4g}" for value in one) for one in (wanted, left)]
        rows.append((str(node), *([f"{time[moment]:g}"] if len(time) > 1 else []), *cells, f"{rest[moment, node]:.4g}"))
    heads = [Column("node"), *([Column("at", "s")] if len(time) > 1 else [])]
    heads += [Column("wanted", "N", is_text=True), Column("unreachable", "N", is_text=True), Column("its size", "N")]
    return Table("Largest forces that no tensions within bounds make", tuple(heads), tuple(rows))
