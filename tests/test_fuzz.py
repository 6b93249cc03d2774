"""A thousand stages broken on purpose: none is a traceback, and none changes its meaning in silence."""

import functools
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pxr import Sdf, Usd

from tests.fuzz import Change, broken, corpus, fresh
from tests.stages_elsewhere import is_finite
from tests.usd.test_convert_mjc import assert_means
from warp_artic import Simulation, SolverSettings
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.scene import Scene
from warp_artic.description.validate import validate
from warp_artic.errors import SolveError
from warp_artic.usd import tokens
from warp_artic.usd.convert_stage import convert_stage
from warp_artic.usd.read_stage import Inspection, inspect_stage

SEEDS = 1000
BATCH = 100
STEPPED = 40
CONVERTED = 100
WITHOUT_EFFECT = re.compile(
    r"mjc:ref|limit:\w+:physics:(low|high)"
    r"|newton:contact(Gap|Margin)|mjc:(gap|margin)|physxCollision:(contact|rest)Offset"
    r"|newton:(torsional|rolling)Friction|mjc:(torsional|rolling)friction"
)
"""What shifts the coordinates that others count in; bounds, which lock an axis by any two that are inverted; where
colliders begin to touch, of those that never meet; and friction against turning, which the dimension of a contact of
MuJoCo switches off."""
COVERING = {
    "actuator",
    "articulation-empty",
    "axis-idle",
    "body-held",
    "drive-idle",
    "joint-disabled",
    "joint-held",
    "loop-joint",
    "motor",
    "tendon",
}
"""Rules that tell of a whole prim, its attributes included."""


@functools.cache
def original(number: int) -> Inspection:
    """What is understood of a stage before it is changed."""
    return inspect_stage(Usd.Stage.Open(fresh(number)))


def meaning(scene: Scene | None) -> str:
    """All that a scene says beside its diagnostics."""
    return "" if scene is None else repr({**vars(scene), "diagnostics": ()})


def in_effect(scene: Scene) -> Scene:
    """The scene with the settings that it is stepped with, authored or not."""
    settings = SolverSettings().resolved(scene)
    names = ("solver", "integrator", "precision", "sleep_after")
    return replace(scene, time_step=settings.dt, **{name: getattr(settings, name) for name in names})


def prim_of(path: str) -> str:
    """The prim of a path, also of one with the name of an axis or of a tendon behind it."""
    return path.partition(".")[0].partition(":")[0]


def said(change: Change, found: Inspection, before: Inspection) -> list[Diagnostic]:
    """Findings that are new, or about the property that was changed, or about all of its prim."""
    return [
        finding
        for finding in found.diagnostics
        if finding not in before.diagnostics
        or finding.path == change.path
        or (finding.rule in COVERING and prim_of(finding.path) == change.prim)
    ]


def assert_findings(stage: Usd.Stage, found: Inspection) -> None:
    """Each finding has a rule and the path of a prim that is there; a stage with errors has no scene."""
    for finding in found.diagnostics:
        assert re.fullmatch("[a-z]+(-[a-z]+)*", finding.rule)
        assert finding.message
        assert prim_of(finding.path) == "/" or stage.GetPrimAtPath(prim_of(finding.path)), finding
    errors = [finding for finding in found.diagnostics if finding.severity is Severity.ERROR]
    assert (found.scene is None) == bool(errors)
    if found.scene:
        validate(found.scene)


def is_absurd(value) -> bool:
    """Whether a number, or one of several, is none or infinite."""
    if isinstance(value, float):
        return not abs(value) < 1e30
    return hasattr(value, "__len__") and not isinstance(value, str) and any(map(is_absurd, value))


def is_not_a_number(value) -> bool:
    """Whether a number, or one of several, is none."""
    if isinstance(value, float):
        return math.isnan(value)
    return hasattr(value, "__len__") and not isinstance(value, str) and any(map(is_not_a_number, value))


def assert_told(change: Change, found: Inspection, before: Inspection) -> None:
    """A change of one physics property is in the scene, or in a finding; a wrong value always is in one."""
    findings = said(change, found, before)
    is_same = meaning(found.scene) == meaning(before.scene)
    if change.kind == "retype" or is_not_a_number(change.value):
        assert findings, "a value that cannot be"
    if change.kind == "absurd" and is_absurd(change.value):
        assert findings or not is_same, "a value out of this world"
    if change.kind == "nudge" and not WITHOUT_EFFECT.fullmatch(change.name):
        assert findings or not is_same, "another value"
    unused = [one for one in before.diagnostics if one.path == change.path and one.rule == "attribute-not-used"]
    if unused:
        assert is_same, "an attribute that was said not to be used"


def assert_default(change: Change, number: int, stage: Usd.Stage, found: Inspection) -> None:
    """An attribute that was dropped is as if its fallback were authored, or one of the two is refused.

    But how long a step is, where nobody says it, is our own default, whatever the schema of another engine has.
    """
    if change.name.endswith(":timeStepsPerSecond"):
        return
    prim, spec = stage.GetPrimAtPath(change.prim), corpus()[number].GetPropertyAtPath(change.path)
    fallback = prim.GetPrimDefinition().GetAttributeFallbackValue(change.name)
    if isinstance(spec, Sdf.AttributeSpec) and fallback is not None:
        prim.CreateAttribute(change.name, spec.typeName).Set(fallback)
        authored = inspect_stage(stage)
        both = (found.scene, authored.scene)
        assert None in both or meaning(in_effect(found.scene)) == meaning(in_effect(authored.scene))


@pytest.mark.parametrize("batch", range(SEEDS // BATCH))
def test_broken_stages(batch):
    """Each is read or refused with sentences, and what was changed is in the scene or in one of them."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        number, stage, changes = broken(seed)
        found = inspect_stage(stage)
        try:
            assert_findings(stage, found)
            if seed % 10 == 0:
                again = inspect_stage(stage)
                assert again.diagnostics == found.diagnostics and meaning(again.scene) == meaning(found.scene)
            if len(changes) == 1 and changes[0].name.startswith(tokens.NAMESPACES):
                assert_told(changes[0], found, original(number))
                if changes[0].kind == "drop":
                    assert_default(changes[0], number, stage, found)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, stage {number}, {changes}: {error}") from error


def test_those_that_read_run():
    """A few steps are finite, or fail with a sentence."""
    done = 0
    for seed in range(SEEDS):
        found = inspect_stage(broken(seed)[1])
        if found.scene is None:
            continue
        try:
            recording = Simulation(found.scene, device="cpu").record(4)
        except SolveError as error:
            assert str(error)
        else:
            assert is_finite(recording), seed
        done += 1
        if done == STEPPED:
            break
    assert done == STEPPED


def test_those_that_read_convert(tmp_path):
    """What can be read can be rewritten, and means the same afterwards."""
    source, output, done = tmp_path / "source.usda", tmp_path / "output.usda", 0
    for seed in range(SEEDS):
        stage = broken(seed)[1]
        found = inspect_stage(stage)
        if found.scene is None:
            continue
        stage.GetRootLayer().Export(str(source))
        convert_stage(opened_anew(source), output)
        try:
            assert_means(found.scene, inspect_stage(opened_anew(output)).scene)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        done += 1
        if done == CONVERTED:
            break
    assert done == CONVERTED


def opened_anew(path: Path) -> Usd.Stage:
    """A stage of a file that may have been open with another content."""
    stage = Usd.Stage.Open(str(path))
    stage.Reload()
    return stage


def test_the_corpus_reads():
    """Before any change."""
    assert len(corpus()) >= 30
    assert all(original(number).scene is not None for number in range(len(corpus())))


def test_changes_are_drawn_alike():
    """A seed gives the same stage each time."""
    for seed in range(40):
        (_, first, changes), (_, second, again) = broken(seed), broken(seed)
        assert first.GetRootLayer().ExportToString() == second.GetRootLayer().ExportToString()
        assert str(changes) == str(again)
