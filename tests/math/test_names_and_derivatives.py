"""Names of kernels in the cache do not depend on which derivatives were asked for before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from warp_artic.kernels.launch import report_kernel
from warp_artic.math.kernel_digest import digest_of
from warp_artic.math.numbers import SCALAR32, WIDE64, dual_numbers_for
from warp_artic.math.taped_numbers import taped_numbers_for

kinds = {"dual": lambda: dual_numbers_for("float64", True), "taped": lambda: taped_numbers_for("float64")}
first = [kinds[name]() for name in sys.argv[1].split(",") if name]
cases = {"scalar": SCALAR32, "lanes": WIDE64}
for name, numbers in (cases | {name: kinds[name]() for name in sys.argv[2].split(",")}).items():
    kernel = report_kernel(numbers)
    print(name, digest_of(kernel.func, kernel.adj.source).hex())
"""


def names(before: str, after: str) -> dict[str, str]:
    """Digests of a kernel, by its numbers, in a process that knows some derivatives before, and takes others after."""
    run = [sys.executable, "-c", PROGRAM, before, after]
    root = Path(__file__).parents[2]
    said = subprocess.run(run, cwd=root, env=os.environ, check=True, capture_output=True, text=True).stdout
    return dict(line.split() for line in said.splitlines() if line.count(" ") == 1 and len(line) > 64)


@pytest.mark.parametrize("before", ["dual", "taped,dual", "dual,taped"])
def test_order_of_derivatives_changes_no_name(before):
    """Of kernels on scalars and lanes, on dual numbers, and on taped ones; all have names of their own."""
    found, other = names("", "dual,taped"), names(before, "taped,dual")
    assert found == other
    assert len(set(found.values())) == 4
