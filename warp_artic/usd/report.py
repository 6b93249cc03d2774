"""What reading a stage brings up beside the scene: diagnostics, the attributes used, and where values came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.usd.dialects import dialect_of

SCENE = "scene"
"""The name under which values of the scene are kept."""


@dataclass(frozen=True)
class Reading:
    """One value of a dof, link, tendon or scene, and where it came from."""

    field: str
    """Name of our field, such as `stiffness`."""
    attribute: str
    """Path of the attribute; that of a body where its colliders give the value."""
    authored: float | tuple[float, ...] | None
    """The value on the stage; None where it is that of colliders."""
    authored_unit: str
    """Unit of the authored value, in words."""
    value: float | tuple[float, ...]
    """The same in SI units and radians."""
    unit: str
    """Unit of the value."""

    @property
    def dialect(self) -> str:
        """The dialect that says so."""
        return dialect_of(self.attribute.rpartition(".")[2])

    @property
    def found(self) -> str:
        """The authored value and its unit, if it has one, as sentences give them."""
        return f"{self.authored:g}" + (f" {self.authored_unit}" if self.authored_unit != "1" else "")


@dataclass
class Report:
    """Collects what is found while a stage is read."""

    found: dict[Diagnostic, None] = field(default_factory=dict)
    """In the order found, each once."""
    used: set[str] = field(default_factory=set)
    """Paths of the properties that were read or reported."""
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    """By the name of a dof, tendon or attachment, or the path of a link or articulation; of the scene by SCENE."""

    def error(self, rule: str, path: object, message: str) -> None:
        """The stage cannot be simulated as authored."""
        self.add(Diagnostic(Severity.ERROR, rule, str(path), message))

    def warn(self, rule: str, path: object, message: str) -> None:
        """Something authored has no effect or is contradictory."""
        self.add(Diagnostic(Severity.WARNING, rule, str(path), message))

    def note(self, rule: str, path: object, message: str) -> None:
        """Something was decided that the author may want to know."""
        self.add(Diagnostic(Severity.NOTE, rule, str(path), message))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding, once."""
        self.found.setdefault(diagnostic)

    def is_refused(self, path: object) -> bool:
        """Whether there is an error about a path."""
        return any(error.path == str(path) for error in self.errors)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything found, in the order found."""
        return tuple(self.found)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors found so far."""
        return tuple(finding for finding in self.found if finding.severity is Severity.ERROR)
