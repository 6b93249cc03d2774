"""A constraint row of a tree, and where a family has rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warp_artic.model.families import ConstraintFamily


@dataclass(frozen=True)
class Row:
    """One constraint row: what it stands for, its dofs, and where its parameters are."""

    family: ConstraintFamily
    dofs: tuple[int, ...]
    """Indices in the generalized velocity, root dofs first."""
    item: int
    """Index of the joint dof, cone, tendon and so on that has the parameters."""
    coupled: tuple[int, ...] = ()
    """Of a combination of joint positions the dof of each coefficient; `dofs` has all that change its position."""


@dataclass(frozen=True)
class Place:
    """Where a family has a row; rows of a family are in the order of the names of what they are of."""

    name: str
    dofs: tuple[int, ...]
    item: int
    coupled: tuple[int, ...] = ()
