"""The example in the README runs as written."""

import re
import shutil
from pathlib import Path

import numpy as np

import warp_artic as wa
from tests.extensions.newton.models import DT, STAGES

README = Path(__file__).parents[3] / "extensions" / "newton" / "README.md"


def test_the_example(tmp_path, monkeypatch, capsys):
    """It steps a stage beside it, and prints where it came to."""
    shutil.copy(STAGES / "arm6_drives.usda", tmp_path / "arm.usda")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert str(names["now"].joint_q.numpy()[0])[:4] in capsys.readouterr().out
    alone = wa.Simulation(wa.read_stage("arm.usda"), settings=wa.SolverSettings(dt=DT))
    alone.step(240)
    assert np.array_equal(names["now"].joint_q.numpy(), alone.state.joint_position.numpy()[:, 0])
