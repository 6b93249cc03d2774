"""C functions in a loop in C give what they give one by one from Python."""

from importlib import import_module

import numpy as np
import pytest

from warp_artic.cli.bench_models import SCENES
from warp_artic.cli.bench_processes import FOLDER

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("quantity", ["mass_matrix", "bias_force", "joint_force", "jacobian"])
def test_results_of_all_environments(quantity, monkeypatch):
    """The results of each environment are kept, and equal those of MuJoCo's own binding."""
    monkeypatch.syspath_prepend(FOLDER)
    of_mujoco = import_module("of_mujoco")
    model = mujoco.MjModel.from_xml_path(str(SCENES / "humanoid.xml"))
    data = mujoco.MjData(model)
    data.qpos[7:], data.qvel[:], data.qacc[:] = 0.3, 0.2, 0.5
    mujoco.mj_forward(model, data)
    evaluate, results = of_mujoco.dynamics_loop(model, data, quantity, 3)
    results[:] = np.inf
    evaluate(2)
    wanted = expected(model, data, quantity)
    np.testing.assert_array_equal(results, np.broadcast_to(wanted.reshape(results.shape[1:]), results.shape))


def expected(model, data, quantity):
    """The quantity from Python."""
    if quantity == "mass_matrix":
        matrix = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, matrix)
        return matrix
    if quantity == "jacobian":
        parts = np.zeros((model.nbody - 1, 2, 3, model.nv))
        for body in range(1, model.nbody):
            mujoco.mj_jacBodyCom(model, data, *parts[body - 1], body)
        return parts
    effort = np.zeros(model.nv)
    mujoco.mj_rne(model, data, int(quantity == "joint_force"), effort)
    return effort
