"""The check of a stage as a validator of UsdValidation; USD imports this file when it is asked for the validator."""

from __future__ import annotations

from pxr import Sdf, Usd

from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.rules import RULES
from warp_artic.usd.read_stage import check_stage

try:
    from pxr import UsdValidation
except ImportError:  # releases before 25.5
    UsdValidation = None

NAME = "warp_artic.usd.validator:StageChecker"
"""That of the plugin, which is that of this file, and one that plugInfo.json gives."""
NOTHING = "articulation-missing"
"""The rule that a stage without anything to simulate breaks."""


def validate_stage(stage: Usd.Stage, _time_range=None) -> list[UsdValidation.ValidationError]:
    """An error for each finding; none on a stage with nothing to simulate, which hosts validate as well."""
    findings = check_stage(stage)
    errors = {finding.rule for finding in findings if finding.severity is Severity.ERROR}
    if errors == {NOTHING}:
        return []
    return [_named(stage, finding) for finding in findings]


def site_of(path: str) -> Sdf.Path:
    """The prim or property that a finding is about; dofs and tendons of other schemas are on the prim they begin with.

    What is about the scene as a whole is on the root.
    """
    own = path if "." in path else path.partition(":")[0]
    found = Sdf.Path(own) if Sdf.Path.IsValidPathString(own) else Sdf.Path.emptyPath
    return found if found.IsAbsolutePath() else Sdf.Path.absoluteRootPath


def register() -> None:
    """Give the validator to USD, in releases that take one in Python (from 26.5 on)."""
    registry = UsdValidation and UsdValidation.ValidationRegistry
    if hasattr(registry, "RegisterPluginStageValidator"):
        registry().RegisterPluginStageValidator(NAME, validate_stage)


def _named(stage: Usd.Stage, finding: Diagnostic) -> UsdValidation.ValidationError:
    kinds = UsdValidation.ValidationErrorType
    kind = {Severity.ERROR: kinds.Error, Severity.WARNING: kinds.Warn, Severity.NOTE: kinds.Info}[finding.severity]
    site = UsdValidation.ValidationErrorSite(stage, site_of(finding.path))
    text = f"{finding.path}: {finding.message}. {RULES[finding.rule].fix}"
    return UsdValidation.ValidationError(finding.rule, kind, [site], text)


register()
