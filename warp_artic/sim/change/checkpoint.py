"""A run in a file, to be gone on with in another process: state, control and parameters, and what they are of.

What each array of such a file may be is in two tables, FACTS and `_table`; nothing changes where one is refused.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from reprlib import repr as brief

import numpy as np

from warp_artic.errors import SolveError
from warp_artic.mechanisms.group import BY_BODY, Group
from warp_artic.mechanisms.public_rows import ALLOWED, COUNTED
from warp_artic.sim.arrays.views import CONTROL, FASTEST, MOTION, PARAMETERS
from warp_artic.sim.elastic.elastic_body import TENDON_CONTROL
from warp_artic.sim.files.npz import LARGEST, Entry, open_npz, short_quaternion, write_npz
from warp_artic.sim.islands.contact_islands import ROWS
from warp_artic.sim.run.access import check_arrays_may_change
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links

KIND = "a checkpoint"
LATEST = 2.0**53
"""Steps that are counted at most."""
STRONGEST = 1e24
"""Magnitude of forces and targets: with an arm of 1e12 m in single precision still a finite moment."""
FRAMES = ("parent_frame", "link_frame", "loop_frame0", "loop_frame1", "contact_frame0", "contact_frame1")
"""Fields of poses, each of the nine numbers of a rotation and the three of a place."""
SKEWEST = 1e-3
"""Largest entry of R^T R - 1 of what is still a rotation."""
FACTS = {
    "model": Entry("U", ((),)),
    "settings": Entry("U", ((),)),
    "environments": Entry("iu", ((),), low=1, high=LATEST),
    "steps_done": Entry("iu", ((),), low=0, high=LATEST),
}
"""What a checkpoint has beside fields."""
UNBOUNDED = frozenset(
    name for name, allowed in ALLOWED.items() if math.isinf(allowed.least) or math.isinf(allowed.most)
) | {"sleep_threshold", "tree_max_velocity"}
"""Fields of numbers that may be infinite."""
RANGES = {
    **{name: {"low": -FASTEST, "high": FASTEST} for name in MOTION},
    **{name: {"low": -STRONGEST, "high": STRONGEST} for name in CONTROL},
    **dict.fromkeys(("failure", "clock", "steps_at_rest", "unresolved"), {"low": 0, "high": LATEST, "is_whole": True}),
    **dict.fromkeys(("started", "loop_broken"), {"low": 0, "high": 1, "is_whole": True}),
    "loop_breakage": {"low": 0},
    "link_mass": {"low": 0, "high": LARGEST},
    **{name: {"low": 0, "high": 1, "is_whole": True} for name in ("wraps", "is_acceleration_drive")},
    **{name: {"low": -1, "high": 1} for name in ("dof_sign", "joint_turn", "rounding")},
    **dict.fromkeys(UNBOUNDED, {"is_unbounded": True}),
}
"""What values of a field may be, where any number up to LARGEST will not do."""
GIVEN = (*CONTROL, *PARAMETERS, *COUNTED)
"""What users write, in which what stopped an environment may be; in others it has its range."""
BODY_GIVEN = frozenset((*TENDON_CONTROL, "gravity", "followed_gravity", "node_force"))
"""The same of elastic bodies."""
BODY_RANGES = {
    **dict.fromkeys(("points", "velocities", "end"), RANGES["joint_position"]),
    **dict.fromkeys(("failure", "clock"), RANGES["clock"]),
}
INPUTS_BEFORE = ("effort_before", "force_before", "base_before", "input_change")
REMEMBERED = ("smooth_acceleration", "acceleration_change", "smoothness", *INPUTS_BEFORE, "seen")
"""What steps remember: finite, but in environments that have stopped, where nobody reads it."""


def write_checkpoint(run: Run, path) -> None:
    """See `Simulation.save`."""
    run.idle.end(run.steps_done)
    content = {
        "model": np.array(run.model_hash),
        "settings": np.array(json.dumps(asdict(run.settings))),
        "environments": np.array(run.environments),
        "steps_done": np.array(run.steps_done),
    }
    for place, group in enumerate(run.groups):
        for name in _names(group):
            field = group.field(name)
            values = field.scalars.numpy()
            content[f"{place}/{name}"] = values[:, 0] if field.is_shared else values[:, : group.columns.count]
    content |= run.elastic.take()
    if run.islands:
        content |= run.islands.take()
    write_npz(path, content)


def read_checkpoint(run: Run, path) -> None:
    """See `Simulation.load`; nothing changes where it is refused."""
    run.idle.end(run.steps_done)
    with open_npz(path, KIND, SolveError) as file:
        facts = file.read(FACTS)
        _compare_settings(run, path, file.json_object("settings", facts["settings"]))
        if str(facts["model"]) != run.model_hash:
            raise SolveError(f"{path}: the checkpoint is of another model")
        if int(facts["environments"]) != run.environments:
            raise SolveError(f"{path}: {int(facts['environments'])} environments, not {run.environments}")
        table = _table(run)
        file.refuse_others(FACTS | table)
        content = file.read(table)
    found = [{name: content[f"{place}/{name}"] for name in _names(group)} for place, group in enumerate(run.groups)]
    for place, (group, fields) in enumerate(zip(run.groups, found)):
        _check_group(group, path, place, fields)
    _check_bodies(run, path, content)
    if run.islands and (wrong := run.islands.refused({name: content[name] for name in run.islands.NAMES})):
        raise SolveError(f"{path}: islands/key: {wrong}")
    for group, fields in zip(run.groups, found):
        for name, values in fields.items():
            if values.ndim == 2 and name in group.parameters and group.parameters[name].is_shared:
                check_arrays_may_change(run, f"{path}: {name}")
    for group, fields in zip(run.groups, found):
        for name, values in fields.items():
            if values.ndim == 2 and name in group.parameters:
                group.expand_parameter(name)
            group.field(name).fill(values)
        group.push()
    run.elastic.put(content)
    if run.islands:
        run.islands.put({name: content[name] for name in run.islands.NAMES})
    run.steps_done = int(facts["steps_done"])
    run.launches.pack()
    run.parameter_watch.accept()
    run.set_anew()
    follow_links(run)


def _names(group: Group) -> tuple[str, ...]:
    return (*group.state, *group.control, *group.parameters)


def _compare_settings(run: Run, path, settings: dict) -> None:
    here = asdict(run.settings)
    differing = [
        f"{name if name in here else ascii(name[:80])} is {brief(settings.get(name))} in the checkpoint and "
        f"{here.get(name)!r} here"
        for name in sorted({*settings, *here})
        if settings.get(name) != here.get(name)
    ]
    if differing:
        raise SolveError(f"{path}: the checkpoint is of other settings: {', '.join(differing)}")


def _table(run: Run) -> dict[str, Entry]:
    """What the fields of a checkpoint of a simulation may be, those that all environments share in either form."""
    table = {}
    for place, group in enumerate(run.groups):
        for name in _names(group):
            rows, columns = group.field(name).scalars.shape[0], group.columns.count
            shapes = ((rows, columns), (rows,)) if name in group.parameters else ((rows, columns),)
            is_any = name in REMEMBERED or name in GIVEN
            table[f"{place}/{name}"] = Entry("f", shapes, is_any=is_any, **RANGES.get(name, {}))
    if run.islands:
        count = run.environments
        table["islands/key"] = Entry("iu", ((count, "points"),), low=-1, high=run.islands.keys_each - 1)
        table |= {name: Entry("f", ((count, "points", size),)) for name, size in run.islands.SIZES.items()}
        table[ROWS] = Entry("f", ((count, run.islands.row_count),))
    for name, array in run.elastic.take().items():
        own = name.rpartition("/")[2]
        table[name] = Entry("iuf", (array.shape,), is_any=own in BODY_GIVEN, **BODY_RANGES.get(own, {}))
    return table


def _check_given(path: str, entry: Entry, values: np.ndarray, goes_on: np.ndarray | bool) -> None:
    """Raise an error where what users write is not in its range, in a column that goes on."""
    wrong = ~entry.accepts(values) & goes_on
    if wrong.any():
        index = tuple(map(int, np.argwhere(wrong)[0]))
        raise SolveError(f"{path}: the value at {index} is {values[index]!s}; {entry.range()}")


def _check_bodies(run: Run, path, content: dict[str, np.ndarray]) -> None:
    """Raise an error where arrays of elastic bodies, each in its range, do not go together."""
    for place, body in enumerate(run.elastic.bodies):
        failure = content[f"elastic/{place}/failure"]
        if failure[:, 0].max() > body.given.count:
            raise SolveError(
                f"{path}: elastic/{place}/failure: the value {failure[:, 0].max():g} names no array; 0 to "
                f"{body.given.count} is allowed"
            )
        goes_on = failure[:, 0] == 0
        for name in BODY_GIVEN & {name.rpartition("/")[2] for name in content}:
            values = content[f"elastic/{place}/{name}"]
            where = goes_on.reshape(-1, *(1,) * (values.ndim - 1))
            _check_given(f"{path}: elastic/{place}/{name}", Entry(), values, where)


def _check_frames(what: str, values: np.ndarray) -> None:
    """Raise an error where a pose is none, or too far away."""
    count, columns = len(values) // 12, values.size // len(values)
    poses = values[: 12 * count].reshape(count, 12, columns)  # of no poses there is a row all the same
    R, p = poses[:, :9].reshape(count, 3, 3, columns), np.abs(poses[:, 9:])
    skew = np.abs(np.einsum("fkie,fkje->fije", R, R) - np.eye(3)[..., None]).max(axis=(1, 2), initial=0.0)
    for wrong, found in (
        (skew > SKEWEST, "its axes are not at right angles, or no unit vectors; a rotation is needed"),
        (p.max(axis=1, initial=0.0) > FASTEST, f"is further away than {FASTEST:g} m"),
    ):
        if wrong.any():
            raise SolveError(f"{what}: pose {int(np.argwhere(wrong)[0, 0])}: {found}")


def _check_group(group: Group, path, place: int, fields: dict[str, np.ndarray]) -> None:
    """Raise an error where fields, each in its range, do not go together."""
    goes_on = fields["failure"][0] == 0
    for name in GIVEN:
        if name in fields:
            is_shared = fields[name].ndim == 1
            entry = Entry(**RANGES.get(name, {}))
            _check_given(f"{path}: {place}/{name}", entry, fields[name], is_shared or goes_on)
    for name in REMEMBERED:
        wrong = ~np.isfinite(fields[name]).all(axis=0) & goes_on
        if wrong.any():
            raise SolveError(
                f"{path}: {name}: is not finite in column {int(np.argmax(wrong))}, which has not stopped; finite "
                "numbers are needed"
            )
    for name in FRAMES:
        _check_frames(f"{path}: {place}/{name}", fields[name])
    most = group.first_values[BY_BODY]
    if fields["failure"][0].max(initial=0) > most:
        raise SolveError(
            f"{path}: failure: the value {fields['failure'][0].max():g} names no dof or array; 0 to {most} is allowed"
        )
    if group.tree.root_dofs:
        poses = fields["root_pose"].reshape(group.tree.row_counts["root"], 7, -1)
        wrong = short_quaternion(poses[:, 3:], axis=1)
        if wrong:
            raise SolveError(f"{path}: root_pose: {wrong}")
