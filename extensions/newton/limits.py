"""What stands for "none" and "hard" in the arrays of a model of Newton, whose numbers are finite."""

from __future__ import annotations

import newton
import numpy as np

NO_POSITION = 0.99 * newton.MAXVAL
"""From here on a position is no limit."""
NO_BOUND = 1e6
"""The effort and the velocity that a dof gets which has no limit of them; so do those that say infinite."""
HARD = 1e8
"""Stiffness, without damping, that the reader of stages gives to limits which are authored as infinitely stiff."""


UNSAID = newton.ModelBuilder.JointDofConfig()
"""What a dof gets of which nothing is said: its gains stand for a limit without gains, which is a stop."""
ROUNDING = 1e-5
"""By how much the gains of these may differ, relative to them: the reader of stages turns them to degrees and back."""


def are_hard(model: newton.Model) -> np.ndarray:
    """Whether the limits of each dof are hard stops: infinitely stiff ones, and such of which no gains are said."""
    stiffness, damping = model.joint_limit_ke.numpy(), model.joint_limit_kd.numpy()
    is_unsaid = np.isclose(stiffness, UNSAID.limit_ke, rtol=ROUNDING, atol=0.0)
    is_unsaid &= np.isclose(damping, UNSAID.limit_kd, rtol=ROUNDING, atol=0.0)
    return is_unsaid | ((stiffness >= HARD) & (damping == 0.0))


def bounded(values: np.ndarray) -> np.ndarray:
    """Bounds on efforts or velocities, infinite where there are none."""
    return np.where((values == NO_BOUND) | (values >= NO_POSITION), np.inf, values)


def limits(model: newton.Model) -> dict[str, np.ndarray]:
    """Limits of positions by dof; springs without stiffness and damping are none."""
    stiffness, damping = model.joint_limit_ke.numpy(), model.joint_limit_kd.numpy()
    lower, upper, hard = model.joint_limit_lower.numpy(), model.joint_limit_upper.numpy(), are_hard(model)
    acts = hard | (stiffness > 0.0) | (damping > 0.0)
    lower = np.where(acts & (lower > -NO_POSITION), lower, -np.inf)
    upper = np.where(acts & (upper < NO_POSITION), upper, np.inf)
    is_soft = ~hard & (np.isfinite(lower) | np.isfinite(upper))
    return {
        "limit_lower": lower,
        "limit_upper": upper,
        "limit_stiffness": np.where(is_soft, stiffness, 0.0),
        "limit_damping": np.where(is_soft, damping, 0.0),
    }
