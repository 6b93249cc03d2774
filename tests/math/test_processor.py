"""Lanes and flags of the compiler on processors and systems that are not this one."""

import platform

import pytest

from warp_artic.math import processor
from warp_artic.math.processor import TOLD_BY, lane_bytes, native, register_bytes

AVX512 = {"AVX2": True, "AVX512F": True}
AVX2 = {"AVX2": True, "AVX512F": False}
NEON = {"NEON": True, "ASIMD": True, "AVX512F": False}


@pytest.mark.parametrize(
    ("machine", "features", "register", "width"),
    [
        ("x86_64", AVX512, 64, 64),
        ("AMD64", AVX512, 64, 64),
        ("x86_64", {"X86_V3": True, "X86_V4": True}, 64, 64),
        ("x86_64", AVX2, 32, 64),
        ("x86_64", {"X86_V3": True, "X86_V4": False}, 32, 64),
        ("x86_64", {"SSE42": True}, 32, 32),
        ("aarch64", NEON, 32, 32),
        ("arm64", NEON, 32, 32),
        ("riscv64", {}, 32, 32),
    ],
)
def test_widths(machine, features, register, width, monkeypatch):
    """By the features that NumPy finds, on Linux, Windows and macOS."""
    monkeypatch.delenv(TOLD_BY, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(processor, "_features", lambda: features)
    assert (register_bytes.__wrapped__(), lane_bytes.__wrapped__()) == (register, width)


@pytest.mark.parametrize("told", processor.LANE_BYTES)
def test_one_width_that_is_told(told, monkeypatch):
    """It holds for few environments and for many."""
    monkeypatch.setenv(TOLD_BY, str(told))
    monkeypatch.setattr(processor, "_features", lambda: AVX2)
    assert register_bytes.__wrapped__() == lane_bytes.__wrapped__() == told


def test_features_are_found_here():
    """Under the names that are asked for."""
    features = processor._features()
    assert features and set(processor.WIDEST) & set(features)


def test_without_features(monkeypatch):
    """A NumPy that does not tell them is no error."""
    monkeypatch.delenv(TOLD_BY, raising=False)

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(processor, "import_module", missing)
    assert processor._features() == {}
    assert lane_bytes.__wrapped__() == 32


@pytest.mark.parametrize("machine", ["x86_64", "AMD64"])
def test_flags_on_x86(machine, monkeypatch):
    """The whole instruction set, and an aligned stack."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert native("-O1") == "-march=native -O1 -mstackrealign"
    assert native("") == "-march=native -mstackrealign"


@pytest.mark.parametrize("machine", ["aarch64", "arm64", "ARM64", "ppc64le"])
def test_flags_elsewhere(machine, monkeypatch):
    """No flag that a compiler for another target refuses."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert native("-O1 -fno-slp-vectorize") == "-O1 -fno-slp-vectorize"
    assert native("") == ""
