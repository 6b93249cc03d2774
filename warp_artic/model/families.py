"""What a constraint family is: a record, in the file of its law, of all that others need to know of it.

The rows of a family are of one law. Everything that there is for each family is made from the list of the records
(`constraints.table`): the rows of a tree and their tables, parameters, work space, the functions that fill rows and
report them, force parts, what is registered in the dynamics suite, columns of recordings, lines of `inspect`. What a
solver treats in its own way it asks by a trait, which is a constant of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof
from warp_artic.model.allowed_values import Allowed
from warp_artic.model.arrays import ModelArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place

Tree = Any
"""Annotation of `mechanisms.tree.Tree`."""
ENDS = wp.constant(1 << 0)
"""Acts beyond an end of something: of its impulses only what the step resolves is part of the smooth acceleration."""
IS_SOFT_LIMIT = wp.constant(1 << 1)
"""A spring beyond the limits of a joint, whose energy steps watch."""
FROM_OUTSIDE = wp.constant(1 << 2)
"""Pushes from outside of the tree: it changes its momentum, and joints do not transmit it."""
IS_TENDON = wp.constant(1 << 3)
"""Pulls links: left out of the forces by joints on links on request."""
LOOKS_AT_ACCELERATIONS = wp.constant(1 << 4)
"""Its law depends on the accelerations without rows."""
HAS_OWN_WEIGHT = wp.constant(1 << 5)
"""Says itself how much of a step its dof moves with v+ (`constraints.drive.saturated_weight`)."""
MOVES_DOFS_ALIKE = wp.constant(1 << 6)
"""An equality that ties dofs together: they move alike in a step."""
HOLDS_POSITIONS = wp.constant(1 << 12)
"""An equality of positions, which hold again at the end of each step."""
PUSHES_LINKS = wp.constant(1 << 13)
"""Pushes links from beside the tree: joints do not transmit it."""
RETURNS = wp.constant(1 << 14)
"""Ends of a coordinate of links that are not passed at the end of a step, whatever the row has left."""
IS_RESOLVED = wp.constant(1 << 15)
"""Writes how far a step resolves the motion on its spring: so much of its impulses is smooth."""
RESISTS = wp.constant(1 << 17)
"""An inertia beside the tree, which what is changed at the end of a step has against it too."""
IS_CONTACT = wp.constant(1 << 16)
"""The normal and the tangents of a point of contact, three rows in a row, which take part together."""
IS_CURVED = wp.constant(1 << 7)
"""A stop of finite rotations, whose J turns; such rows come last."""
ON_ONE_DOF = wp.constant(1 << 8)
"""J and P are 1 on the only dof; all such rows of a dof share their response."""
IS_JUDGED_APART = wp.constant(1 << 9)
"""Its bounds depend on the impulse of another row."""
IS_JOINT_TENDON = wp.constant(1 << 11)
"""Pulls joints: left out likewise."""
HAS_NO_COMPLIANCE = wp.constant(1 << 10)
"""Gives way by rounding only, which is no part of its law."""
TURNS_ROUND = wp.constant(1 << 18)
"""Opposes motion, as friction does: where velocities turn round its force does too."""

HOLDS = HOLDS_POSITIONS | MOVES_DOFS_ALIKE | PUSHES_LINKS | IS_TENDON | IS_JOINT_TENDON
"""May hold dofs against each other, however large other impulses are."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An array of numbers that laws read; public where values are allowed, with rows in the order of `values`."""

    name: str
    of: str
    """What it has rows for, one of the kinds of `mechanisms.public_rows`."""
    values: Callable[[Articulation], Sequence[float]]
    """In SI, of one articulation, shape (rows * size,)."""
    allowed: Allowed | None = None
    """What users may write; None: the array is not theirs."""
    size: int = 1
    """Rows for each."""
    flag: str | None = None
    """The flag that says whether steps look at it."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Numbers for each entry of a kind, in the report of a state or of a step, and columns of recordings."""

    name: str
    """Begins with what it is of."""
    meaning: str
    """With its unit."""
    unit: str = ""
    """Of sentences."""
    size: int = 1
    """Rows for each entry."""


@dataclass(frozen=True, kw_only=True)
class Entries:
    """What a family has rows for that people know by name, such as tendons."""

    kind: str
    """How the names of their arrays begin; families may share it."""
    names: Callable[[Articulation], tuple[str, ...]]
    meaning: str = ""
    """What the names are."""
    row_names: Callable[[Articulation], tuple[str, ...]] | None = None
    """Of the rows, which the dynamics suite registers, where an entry has several; else those of the entries."""
    row_places: Callable[[Tree], dict[int, int]] | None = None
    """Of the item of each row its place among these names; else the item."""

    def rows(self, articulation: Articulation) -> tuple[str, ...]:
        """The names of what the dynamics suite registers."""
        return (self.row_names or self.names)(articulation)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConstraintFamily:
    """One constraint family. Functions are Warp functions if nothing else; what a family does not have is left out.

    Arguments of Warp functions are (model, work, row, block, worker, h) where nothing else is said.
    """

    name: str
    order: int
    """Places the rows among those of other families, and tells the family in kernels: later rows have the last word in
    an iteration, so what must hold hardest comes last."""
    label: tuple[str, str] | None = None
    """What one row, and several, stand for, where these are no smooth forces; None where they have been counted with
    the rows of another family."""
    part: ForcePart
    """The part of the forces of a step that it is in."""
    places: Callable[[Articulation, DofLayout], list[Place]] | None = None
    """Where an articulation has rows; None for those that only the dynamics suite has."""
    rows_each: int = 1
    """Rows for each place."""
    is_stop: bool = False
    """Whether its impulses are those of inelastic stops, which no smooth motion has, of dofs that then land on them."""
    traits: int = 0
    acts_always: bool = False
    """Whether a tree with such a row does not move freely between its limits."""
    has_own_force_jacobian: bool | str = False
    """Whether P may be another than J^T; a flag where it is only in trees with that."""
    shares_force_jacobian: str | None = None
    """Rows of one item in families of the same name share their P."""
    needs_places: bool = False
    """Whether its law reads where links are in the world."""
    keeps_coordinate: bool = False
    """Whether it keeps three numbers a row in `work.coordinate`."""

    law: wp.Function | None = None
    """Writes velocity bounds, compliance and impulse bounds, and J where the law does not need its response."""
    gradient: wp.Function | None = None
    """Writes J and P before the law is asked, which needs the response; says whether any environment does."""
    measure: wp.Function | None = None
    """Writes what the law needs of the mechanism without drives, while factors are those without them."""
    coefficients: wp.Function | None = None
    """Writes J and P of a unit impulse at a state, with h zero, for the dynamics suite."""
    report: wp.Function | None = None
    """Writes the measures at a state: (model, state, work, report, row, block, worker)."""
    subtract_wrench: wp.Function | None = None
    """Takes what the row does to links off what these need: (model, work, row, block, worker, force)."""

    entries: Entries | None = None
    """What its rows are for, where that is registered in the dynamics suite."""
    kinds: dict[str, Callable[[Articulation], int]] = field(default_factory=dict)
    """How many there are of what parameters and measures have rows for."""
    parameters: tuple[Parameter, ...] = ()
    measures: tuple[Measure, ...] = ()
    """Of a state."""
    memory: tuple[Measure, ...] = ()
    """What steps remember, zero at the start; users may write it."""
    found: tuple[Measure, ...] = ()
    """Of a state, only where somebody asks for them."""
    multiplier: Measure | None = None
    """Where the mean force of a row over a step is reported."""
    entry: wp.Function | None = None
    """The entry of the multiplier of a row where that is not its item: (model, row)."""
    add_load: wp.Function | None = None
    """Adds the force of a row to a multiplier of several components, which the first one of has an item that is a
    multiple of their number: (model, work, values, row, place, block, worker, force), `place` the column of values."""
    flags: dict[str, Callable[[Articulation], bool]] = field(default_factory=dict)
    """What steps of all trees of a group do or leave out."""
    structure: Callable[[Articulation], Hashable] | None = None
    """What equal trees have in common beside rows."""
    counts: dict[str, Callable[[Tree], int]] = field(default_factory=dict)
    """Integers of the model."""
    tables: dict[str, Callable[[Tree], Sequence[int]]] = field(default_factory=dict)
    """Arrays of integers of the model."""
    scratch: dict[str, Callable[[Tree], int]] = field(default_factory=dict)
    """Rows of arrays of the work space."""

    def __repr__(self) -> str:
        return f"<constraint family {self.name}>"


def of_dofs(name: str, value: Callable[[Dof], float], allowed: Allowed | None = None, flag: str | None = None):
    """A parameter of each dof of joints."""
    return Parameter(
        name=name,
        of="dof",
        values=lambda articulation: [value(dof) for dof in articulation.dofs],
        allowed=allowed,
        flag=flag,
    )


def term_starts(tree: Tree, family: ConstraintFamily) -> list[int]:
    """Where the coefficients of each combination of joint positions start."""
    starts, start = {}, 0
    for row in sorted((row for row in tree.rows if row.family is family), key=lambda row: row.item):
        starts[row.item] = start
        start += len(row.coupled)
    return [starts[item] for item in range(len(starts))]


@wp.func
def has_trait(model: ModelArrays, row: int, trait: int):
    """Whether the family of a row has any of some traits."""
    return (model.row_traits[row] & trait) != 0
