"""A stage from a path, with one clear line where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pxr import Ar, Sdf, Tf, Usd, UsdUtils

from warp_artic.errors import StageError

GRAMMAR = "parse error matching"
"""What pxr says before the name of a rule of its grammar, of several hundred characters."""

NO_LAYER = ("Failed to open layer", "Cannot determine file format")
"""How pxr begins to speak of a file in which it finds no layer."""


def open_stage(stage: str | os.PathLike | Usd.Stage) -> Usd.Stage:
    """The stage itself, or the one a path leads to."""
    if isinstance(stage, Usd.Stage):
        return stage
    if not isinstance(stage, (str, os.PathLike)):
        raise StageError(f"a stage is a path or a Usd.Stage, not {type(stage).__name__}")
    path = os.fspath(stage)
    # What is no file may be known to the asset resolver: by a search path, or as an address of its own.
    if not os.path.exists(path) and not Ar.GetResolver().Resolve(path):
        raise StageError(f"{path}: there is no such file")
    if os.path.isdir(path):
        raise StageError(f"{path}: is a folder, not a stage")
    try:
        opened = _open(path)
    except Exception as error:  # what pxr raises differs between releases
        raise StageError(f"{path}: cannot be read as a USD stage: {_reason(error, path)}") from None
    if opened is None:
        raise StageError(f"{path}: cannot be read as a USD stage")
    return opened


def _open(path: str) -> Usd.Stage:
    """The stage; what pxr would print about its composition is left out: the stage can be asked about it."""
    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        return Usd.Stage.Open(path)
    finally:
        caught = delegate.TakeUncoalescedDiagnostics()
        del delegate
        for one in caught:
            with suppress(UnicodeDecodeError):  # a name of the file that is no text
                if not one.sourceFunction.endswith("_ReportErrors"):
                    Tf.Warn(one.commentary)


def stage_beside(stage: Usd.Stage, session: Sdf.Layer | None) -> Usd.Stage:
    """Another stage of the same root layer, loaded and muted alike, with a session layer of its own."""
    with Usd.StageCacheContext(Usd.BlockStageCaches):
        beside = Usd.Stage.OpenMasked(
            stage.GetRootLayer(),
            session,
            stage.GetPathResolverContext(),
            stage.GetPopulationMask(),
            Usd.Stage.LoadNone,
        )
    beside.SetInterpolationType(stage.GetInterpolationType())
    beside.SetLoadRules(stage.GetLoadRules())
    beside.MuteAndUnmuteLayers(stage.GetMutedLayers(), [])
    return beside


@contextmanager
def reading(stage: Usd.Stage) -> Iterator[None]:
    """Turn what USD raises in the midst of a stage that it has opened into a StageError."""
    try:
        yield
    except (Tf.ErrorException, UnicodeDecodeError) as error:
        path = stage.GetRootLayer().GetDisplayName()
        raise StageError(f"{path}: cannot be read as a USD stage: {_reason(error, path)}") from None


def _message(error: Exception) -> str:
    """What an error says; bytes of the file in it that are no text are shown as such."""
    try:
        return str(error)
    except UnicodeDecodeError as undecodable:
        return undecodable.object.decode("utf-8", "backslashreplace")


def _reason(error: Exception, path: str) -> str:
    """The sentence of what pxr says that names a place in the file, else its last one."""
    lines = _message(error).splitlines()
    sentences = [line.rpartition(" : ")[2].strip(" '") for line in lines if " : " in line]
    named = [sentence for sentence in sentences if f"{path}:" in sentence]
    sentence = (named or sentences or [type(error).__name__])[-1]
    if sentence.startswith(NO_LAYER):
        return "its content is not that of a .usd, .usda, .usdc or .usdz file"
    return sentence.partition(GRAMMAR)[0] + "syntax error" if GRAMMAR in sentence else sentence
