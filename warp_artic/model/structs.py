"""The structs of arrays of a number type, from what is declared of their fields.

Every array of reals has shape [row, block]; those of work spaces [row, worker].
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import warp as wp

from warp_artic.math.numbers import Numbers
from warp_artic.model.arrays import add_entry_functions
from warp_artic.model.model_arrays import COUNTS, PARAMETERS, PLACES, SWITCHES, TABLES
from warp_artic.model.row_problem import ROW_ARRAYS
from warp_artic.model.work_arrays import WORK_ARRAYS

STATE = {
    "joint_position": "[rad or m]",
    "joint_velocity": "[rad/s or m/s]",
    "root_pose": "position [m], then quaternion xyzw, of the centre of mass frame of floating roots",
    "root_velocity": "linear [m/s], then angular [rad/s]",
    "failure": "zero, or what was found wrong, and in which step",
    "clock": "steps done",
    "started": "1 after the first step",
    "smooth_acceleration": "of the last step without the impulses of stops, by dofs",
    "acceleration_change": "its change in a step, and the change of that, by dofs",
    "smoothness": "of each island whether accelerations are on a smooth curve, and for how many steps",
    "effort_before": "`control.joint_effort` of the last step, in trees that move freely",
    "force_before": "the same of `control.link_external_force`",
    "base_before": "the same of the accelerations of a base that moves, angular, then linear",
    "input_change": "what held inputs changed accelerations by in the last step, and are expected to in the next one",
    "unresolved": "of each island how many steps did not resolve its motion",
    "energy_gain": "of the first tree of each assembly: what violent steps gave that beyond the work done on it [J]",
    "bearing_impulse": "of rows beside contacts in the last two steps, `constraints.bearing_rows`",
    "steps_at_rest": "how many steps in a row",
    "seen": "what has been seen last of arrays whose changes wake a tree",
}
"""What goes on from step to step, beside what families remember."""
CONTROL = (
    "drive_position_target",
    "drive_velocity_target",
    "joint_effort",
    "link_external_force",
    "is_touched",
    "contact_displacement",
)
"""What is given to steps. Of contacts among many bodies `is_touched` is 1 where they push a mechanism in the step, and
`contact_displacement` is what they add to the motion of its dofs [rad or m], before loops are closed."""
REPORT = ("link_pose", "link_velocity", "energy")
"""What is reported of a state, beside the measures of families."""
FORCES = {
    "parts": "generalized forces by parts, `model.force_parts`",
    "link_incoming_joint_force": "force [N], then moment [N m]",
    "joint_acceleration": "[rad/s^2 or m/s^2]",
    "root_acceleration": "[m/s^2, rad/s^2]",
    "link_acceleration": "[m/s^2, rad/s^2]",
    "row_margin": "how far a row is from a switch",
}
"""What is reported of a step, beside the multipliers of families."""
CONTACTS = ("position", "normal", "friction", "gap")
"""Contact points that the dynamics suite is given."""
CONTACT_WORK = ("slide", "pressed", "coupling", "impulse", "y_free", "delassus")
"""What it works with."""


@dataclass(frozen=True)
class StructFields:
    """Names of the arrays that constraint families add to the structs, each [row, block] of reals if nothing else."""

    tables: tuple[str, ...] = ()
    """Of integers, [entry], in the model."""
    counts: tuple[str, ...] = ()
    """Integers in the model."""
    parameters: tuple[str, ...] = ()
    """In the model."""
    scratch: tuple[str, ...] = ()
    """In the work space."""
    measures: tuple[str, ...] = ()
    """In the report of a state."""
    multipliers: tuple[str, ...] = ()
    """In the forces of a step."""
    memory: tuple[str, ...] = ()
    """In the state."""


def _struct(name: str, **fields: tuple[Any, Iterable[str]]):
    """A struct of Warp: for each keyword a type, and the names of the fields that have it."""
    annotations = {field: kind for kind, names in fields.values() for field in names}
    return wp.struct(type(name, (), {"__annotations__": annotations, "__module__": __name__}))


@cache
def structs_of(numbers: Numbers, fields: StructFields) -> SimpleNamespace:
    """The structs Model, State, Control, Work, Report, Forces, Contacts and Kept of a number type."""
    if numbers.is_dual:
        add_entry_functions(numbers)
    reals, table = wp.array2d(dtype=numbers.real), wp.array(dtype=int)
    records = wp.array3d(dtype=numbers.scalar)
    return SimpleNamespace(
        Model=_struct(
            "Model",
            counts=(int, (*COUNTS, *PLACES, *SWITCHES, *fields.counts)),
            tables=(table, (*TABLES, *fields.tables)),
            addresses=(wp.array(dtype=wp.uint64), ("given_address",)),
            bounds=(wp.array(dtype=wp.float64), ("given_bounds",)),
            parameters=(reals, (*PARAMETERS, *fields.parameters)),
        ),
        State=_struct("State", all=(reals, (*STATE, *fields.memory))),
        Control=_struct("Control", all=(reals, CONTROL)),
        Work=_work_struct(reals, fields.scratch),
        Report=_struct("Report", all=(reals, (*REPORT, *fields.measures))),
        Forces=_struct(
            "Forces", switches=(int, ("in_world", "without_tendons")), all=(reals, (*FORCES, *fields.multipliers))
        ),
        Contacts=_struct(
            "Contacts",
            count=(int, ("count",)),
            links=(table, ("link", "other")),
            all=(reals, (*CONTACTS, *CONTACT_WORK)),
        ),
        # Records, dofs, environments of all articulations of the group; without entries where they are not kept.
        # Then addresses of rows of the state, and records of these; and what taped numbers do instead (`pull_back`).
        Kept=_struct(
            "Kept",
            joints=(records, ("joint_position", "joint_velocity")),
            rows=(wp.array(dtype=wp.uint64), ("rows",)),
            records=(records, ("records",)),
            walk=(wp.uint64, ("walk",)),
        ),
    )


def _work_struct(reals: Any, scratch: Iterable[str]):
    """The struct of a work space."""
    declared: Mapping[str, Any] = {**WORK_ARRAYS, **ROW_ARRAYS}
    indices = [name for name, array in declared.items() if array.is_index]
    return _struct(
        "Work",
        all=(reals, [name for name in (*declared, *scratch) if name not in indices]),
        indices=(wp.array2d(dtype=int), indices),
    )
