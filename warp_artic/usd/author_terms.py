"""Authors terms over axes of joints: a relationship to joints, and lists of their places and axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pxr import Sdf, Usd

from warp_artic.errors import SettingsError
from warp_artic.usd.edit import Edit
from warp_artic.usd.free_axes import free_axes, instance_of, joint_at

Term = str | Sdf.Path | tuple[str | Sdf.Path, str]
"""The path of a joint, or a path and an axis."""


def write_terms(
    stage: Usd.Stage, edit: Edit, names: tuple[str, str, str], terms: Sequence[Term]
) -> list[tuple[Sdf.Path, str]]:
    """Add terms to an edit under the names of the relationship, of the places in it and of the axes.

    Returns the joint and the instance name of each.
    """
    if isinstance(terms, (str, Sdf.Path)) or not isinstance(terms, Collection) or not len(terms):
        raise SettingsError(f"{edit.path}.{names[0]}: must be a list of at least one joint, not {terms!r}")
    found, needs_axes = [], False
    for term in terms:
        if isinstance(term, tuple) and len(term) != 2:
            raise SettingsError(f"{edit.path}.{names[0]}: has {term!r}, must be a joint, or a joint and its axis")
        path, axis = term if isinstance(term, tuple) else (term, None)
        joint = joint_at(stage, path)
        found.append((joint.GetPath(), instance_of(joint, axis)))
        needs_axes |= len(free_axes(joint)) > 1
        if found[-1] in found[:-1]:
            raise SettingsError(f"{edit.path}.{names[0]}: has {path} on {found[-1][1]} twice; once is allowed")
    joints = list(dict.fromkeys(path for path, _ in found))
    places = [joints.index(path) for path, _ in found]
    edit.targets(names[0], joints)
    # Lists of an earlier edit would not fit these joints.
    edit.places(names[1], places if places != list(range(len(joints))) else [])
    edit.tokens(names[2], [instance for _, instance in found] if needs_axes else [])
    return found
