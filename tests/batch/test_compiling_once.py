"""Processes of a batch that start together with an empty cache of kernels: each kernel is compiled by one of them."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.batch.plans import PENDULUM, SCENES

WATCH = """
import os
import warp._src.build as build
own = build.build_cpu
def noted(path, *args, **given):
    with open(os.environ["COMPILED"], "a") as file:
        file.write(f"{os.getpid()} {os.path.basename(path)}\\n")
    return own(path, *args, **given)
build.build_cpu = noted
"""
"""Run by each Python at its start: a line for each kernel that a process compiles."""


def test_nothing_compiles_twice(tmp_path):
    """Two drivers with two workers each, as on a farm, share what one process of the four has compiled."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    plan = tmp_path / "plan.toml"
    settings = '\n[settings]\nintegrator = "rk4"\n'  # its kernels are compiled soonest
    plan.write_text(PENDULUM.replace('"pendulum.usda"', f'"{SCENES / "pendulum.usda"}"') + settings)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])]),
        "COMPILED": str(tmp_path / "compiled"),
        "WARP_CACHE_PATH": str(tmp_path / "kernels"),
    }
    drivers = [
        subprocess.Popen(
            [sys.executable, "-m", "warp_artic", "batch", str(plan), "-o", str(tmp_path / "out")]
            + ["--part", f"{part}/2", "--engine", "processes", "--workers", "2"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for part in (1, 2)
    ]
    for driver in drivers:
        said, _ = driver.communicate()
        assert driver.returncode == 0, said
    compiled = [line.split() for line in (tmp_path / "compiled").read_text().splitlines()]
    assert max(Counter(kernel for _, kernel in compiled).values()) == 1, compiled
