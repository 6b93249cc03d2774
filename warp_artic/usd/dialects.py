"""The dialects that a stage may speak, and which of two that say the same counts."""

from __future__ import annotations

from collections.abc import Sequence

from warp_artic.errors import SettingsError

DIALECTS = ("warpArtic", "newton", "physx", "mjc", "usdphysics")
"""In order of priority; within PhysX the schemas by axis come before those by joint."""


def complete_order(first: Sequence[str]) -> tuple[str, ...]:
    """All dialects: the given ones first, the others after them as they are in DIALECTS.

    Raises:
        SettingsError: One is not known, or named twice.
    """
    for name in first:
        if name not in DIALECTS:
            raise SettingsError(f"{name!r} is not a schema family; these are {', '.join(DIALECTS)}")
    if len(set(first)) < len(first):
        raise SettingsError(f"a schema family is named twice in {', '.join(first)}")
    return (*first, *(name for name in DIALECTS if name not in first))


def dialect_of(name: str) -> str:
    """The dialect of an attribute or a schema, given by its name."""
    if name.lower().startswith("omniphysics"):
        return "physx"
    words = name[:1].lower() + name[1:]
    return next((dialect for dialect in DIALECTS if words.startswith(dialect)), "usdphysics")
