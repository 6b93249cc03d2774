"""How a simulation steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from numbers import Real

from warp_artic.description.iterations import LEAST, wrong_iterations
from warp_artic.errors import SettingsError

SOLVERS = ("direct", "pgs", "tgs")
INTEGRATORS = ("midpoint", "rk4", "semi_implicit")
LARGEST_REST = 2**23
"""Most steps at rest that float32 counts."""
PRECISIONS = ("float32", "float64")
VARIANTS = ("auto", "lanes", "scalar")
DEFAULTS = {
    "dt": 1.0 / 240.0,
    "solver": "direct",
    "position_iterations": 4,
    "velocity_iterations": 0,
    "integrator": "midpoint",
    "precision": "float32",
    "sleep_after": math.inf,
}
"""Of what neither the settings nor the stage decide."""


@dataclass(frozen=True, kw_only=True)
class SolverSettings:
    """Settings of a step; None means the value of the stage, else that of DEFAULTS."""

    dt: float | None = None
    """Time step [s]."""
    solver: str | None = None
    """How constraint rows are solved: one of SOLVERS; those of mechanisms with loops together by all of them."""
    position_iterations: int | None = None
    """Of "pgs": sweeps over the active constraint rows, forward and backward, in a step; of "tgs": substeps,
    with such a sweep in each."""
    velocity_iterations: int | None = None
    """Of "pgs" and "tgs": further sweeps, in every substep."""
    integrator: str | None = None
    """One of INTEGRATORS; "rk4" is for motion without limits, dry friction, tendons and other constraint rows."""
    precision: str | None = None
    """"float32" or "float64"."""
    sleep_after: float | None = None
    """Time at rest [s] after which a tree falls asleep, see `phases.sleep`; infinite: never. PhysX takes 0.4 s."""
    variant: str = "auto"
    """Kernel variant: "lanes" computes 16 or 8 environments at once on a CPU, "scalar" one; "auto" takes lanes on a CPU
    from four environments of a tree on. Results agree to rounding between the two, and bitwise within one."""

    def __post_init__(self):
        for name, allowed, rule in (
            ("dt", "a finite number above 0", lambda v: 0 < v < math.inf),
            ("sleep_after", "a time of at least 0", lambda v: v >= 0),
        ):
            _check_number(name, getattr(self, name), allowed, rule)
            self._make_plain(name, float)
        for name in LEAST:
            count = getattr(self, name)
            wrong = None if count is None else wrong_iterations(name, count)
            if wrong or isinstance(count, float):
                raise SettingsError(f"{name}: {wrong or f'is {count!r}, must be an integer'}")
            self._make_plain(name, int)
        for name, allowed in (
            ("solver", SOLVERS),
            ("integrator", INTEGRATORS),
            ("precision", PRECISIONS),
            ("variant", VARIANTS),
        ):
            value = getattr(self, name)
            if value not in allowed and (value is not None or name == "variant"):
                raise SettingsError(f"{name}: {value!r} is not one of {', '.join(allowed)}")

    def _make_plain(self, name: str, kind: type) -> None:
        """Make a number a plain one of Python, so that equal settings are written, and hashed, alike."""
        if getattr(self, name) is not None:
            object.__setattr__(self, name, kind(getattr(self, name)))

    @property
    def schedule(self) -> tuple[int, int, int]:
        """Substeps of a step, sweeps over the rows in each of them, and further sweeps in the last one."""
        if self.solver == "tgs":
            return self.position_iterations, 1 + self.velocity_iterations, 0
        if self.solver == "pgs":
            return 1, self.position_iterations, self.velocity_iterations
        return 1, 1, 0

    @property
    def has_dense_rows(self) -> bool:
        """Whether steps couple all rows of constraints at once, with room for each pair (`solver.rows.direct`)."""
        return self.solver == "direct"

    @property
    def sleep_steps(self) -> int:
        """Steps at rest after which a tree falls asleep; 0 where it never does."""
        if math.isinf(self.sleep_after):
            return 0
        steps = self.sleep_after / self.dt
        if steps > LARGEST_REST:
            raise SettingsError(
                f"sleep_after: {self.sleep_after:g} s is {steps:g} steps of {self.dt:g} s; at most {LARGEST_REST} are "
                "counted"
            )
        return max(1, math.ceil(steps * (1.0 - 1e-12)))

    def resolved(self, scene) -> SolverSettings:
        """These settings with every None replaced by what the scene authors, else the default."""
        authored = {
            "dt": scene.time_step,
            "solver": scene.solver,
            "integrator": scene.integrator,
            "precision": scene.precision,
            "sleep_after": scene.sleep_after,
            "position_iterations": _largest(tree.position_iterations for tree in scene.articulations),
            "velocity_iterations": _largest(tree.velocity_iterations for tree in scene.articulations),
        }
        chosen = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                value = authored[field.name] if authored[field.name] is not None else DEFAULTS[field.name]
            chosen[field.name] = value
        return replace(self, **chosen)


def _largest(counts) -> int | None:
    return max((count for count in counts if count is not None), default=None)


def _check_number(name, value, allowed, rule):
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not rule(value):
        raise SettingsError(f"{name}: {value!r} is not {allowed}")
