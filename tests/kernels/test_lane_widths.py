"""Lane vectors of every width, whatever the registers of this processor have room for."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.other_width import end
from warp_artic import SettingsError
from warp_artic.math.numbers import REGISTER32, REGISTER64, SCALAR32, WIDE32, WIDE64, numbers_for
from warp_artic.math.processor import LANE_BYTES, TOLD_BY, lane_bytes, register_bytes

ROOT = Path(__file__).parents[2]


def test_lanes_fill_a_vector():
    """There are as many as its bytes hold."""
    assert lane_bytes() in LANE_BYTES
    assert (4 * WIDE32.lanes, 8 * WIDE64.lanes) == (lane_bytes(), lane_bytes())
    assert (4 * REGISTER32.lanes, 8 * REGISTER64.lanes) == (register_bytes(), register_bytes())


def test_few_environments_fill_one_register():
    """A second one is only taken where there is something to put into it."""
    few = REGISTER32.lanes
    assert numbers_for("float32", wide=True, environments=few) is REGISTER32
    assert numbers_for("float32", wide=True, environments=few + 1) is WIDE32
    assert numbers_for("float64", wide=True, environments=few + 1) is WIDE64
    assert numbers_for("float32", wide=False, environments=few + 1) is SCALAR32


@pytest.mark.parametrize("width", [width for width in LANE_BYTES if width != lane_bytes()])
def test_other_widths(width, tmp_path):
    """Results are bitwise those of the width of this processor, and tests that depend on the width pass."""
    path = tmp_path / "end.npy"
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.other_width", str(path)],
        cwd=ROOT,
        env={**os.environ, TOLD_BY: str(width)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    np.testing.assert_array_equal(np.load(path), end())


def test_a_width_that_there_is_not(monkeypatch):
    """It is refused by name, with those that there are."""
    monkeypatch.setenv(TOLD_BY, "48")
    with pytest.raises(SettingsError, match=f"{TOLD_BY}: '48' is not one of 32, 64"):
        lane_bytes.__wrapped__()
