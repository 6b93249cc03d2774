"""What limits of joints bound: positions, but of three rotations the twist t about the twist axis x, and then the swing

    exp(rotation vector) = exp(s) R_x(t),    s across x,

of which limits bound the components, and a cone the length in its direction.
"""

from __future__ import annotations

import numpy as np

from warp_artic.description.joint import Joint

SMALL = 1e-12
"""A part of a quaternion that is rounding, and the least angle of a cone [rad]."""


def twist_and_swing(quaternions: np.ndarray) -> np.ndarray:
    """t in (-pi, pi], s_y and s_z [rad], shape (..., 3), of unit quaternions xyzw (..., 4)."""
    x, y, z, w = np.moveaxis(np.asarray(quaternions, float), -1, 0)
    twist = 2.0 * np.arctan2(np.where(w < 0.0, -x, x), np.abs(w))
    # Of q = (0, s_y, s_z, c) (x, 0, 0, w) / length:  c = length, and the rest by the inverse twist.
    length = np.hypot(w, x)
    own = length > SMALL  # half a turn of swing, about which twist means nothing
    safe = np.where(own, length, 1.0)
    swing = np.where(own, np.stack([y * w - z * x, z * w + y * x]) / safe, np.stack([y, z]))
    sine = np.hypot(*swing)
    factor = np.where(sine > SMALL, 2.0 * np.arctan2(sine, length) / np.where(sine > SMALL, sine, 1.0), 2.0)
    return np.stack([np.where(own, twist, 0.0), *(factor * swing)], axis=-1)


def limited_positions(joint: Joint, positions: np.ndarray) -> np.ndarray:
    """What the limits of the dofs of a joint bound [m or rad], shape (..., dofs), at positions of it."""
    found = np.array(positions, float)
    if len(joint.rotations) == 3:
        order = _from_twist(joint)
        vectors = found[..., -3:][..., order]
        half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
        quaternions = np.concatenate([0.5 * np.sinc(half / np.pi) * vectors, np.cos(half)], axis=-1)
        found[..., [axis - 3 for axis in order]] = twist_and_swing(quaternions)
    return found


def cone_excess(joint: Joint, positions: np.ndarray) -> np.ndarray:
    """How far the swing of a joint is beyond its cone, in its own direction [rad], shape (...); at most 0 within it."""
    swing = limited_positions(joint, positions)[..., -3:][..., _from_twist(joint)[1:]]
    cone = joint.cone_limit
    length = np.linalg.norm(swing, axis=-1)
    share = np.linalg.norm(swing / np.maximum([cone.angle_1, cone.angle_2], SMALL), axis=-1)
    return np.where(share > 0.0, length - length / np.where(share > 0.0, share, 1.0), 0.0)


def _from_twist(joint: Joint) -> list[int]:
    """The axes of rotations in the order in which they follow the twist axis."""
    return [(joint.cone_axis.index + k) % 3 for k in range(3)]
