"""Between the dofs of joints and six axes for each joint: transX, transY, transZ, rotX, rotY, rotZ, as dofs are named.

The joints are the inbound ones of links, in the order of links, without those that fix a link to the world: the links
of the Jacobian but for a floating root.
"""

from __future__ import annotations

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Joint
from warp_artic.errors import SettingsError

AXES = tuple(Axis)


def unpacked_joints(articulation: Articulation) -> tuple[Joint, ...]:
    """The joints that have six axes each."""
    return tuple(joint for joint in articulation.inbound if joint is not None and (joint.parent != WORLD or joint.dofs))


def axis_places(articulation: Articulation) -> np.ndarray:
    """Where each dof is among the six axes of all joints, shape (D)."""
    place_of = {
        dof.name: 6 * k + AXES.index(dof.axis)
        for k, joint in enumerate(unpacked_joints(articulation))
        for dof in joint.dofs
    }
    return np.array([place_of[dof.name] for dof in articulation.dofs], np.int32)


def check_locked(articulation: Articulation, values: np.ndarray) -> None:
    """Refuse a value on a locked axis; `values` has shape (..., J, 6).

    Raises:
        SettingsError: There is one; it says where.
    """
    locked = np.ones(values.shape[-2:], bool)
    locked.reshape(-1)[axis_places(articulation)] = False
    wrong = np.argwhere(locked & (values != 0.0))
    if len(wrong):
        *_, k, axis = where = tuple(int(index) for index in wrong[0])
        joint = unpacked_joints(articulation)[k]
        free = ", ".join(dof.axis.value for dof in joint.dofs) or "none"
        raise SettingsError(
            f"{joint.path}: the value at {where} is {values[where]:g} on the locked axis {AXES[axis].value}; "
            f"its free axes: {free}"
        )
