"""What reading a stage brings up beside the scene: diagnostics, the attributes used, and where values came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from warp_artic.description.diagnostic import Diagnostic, Severity


@dataclass(frozen=True)
class Reading:
    """One value of a dof or link and where it came from."""

    field: str
    """Name of our field, such as `stiffness`."""
    attribute: str
    """Path of the attribute."""
    authored: float
    """The value on the stage."""
    authored_unit: str
    """Unit of the authored value, in words."""
    value: float
    """The same in SI units and radians."""
    unit: str
    """Unit of the value."""

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
    """By dof name or link path."""

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
