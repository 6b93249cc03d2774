"""The differential of gears among the samples: ratios, and how it shares a torque."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa

STAGE = Path(__file__).parents[2] / "samples" / "scenes" / "gears.usda"
CROWN, SPIDER = 0.25, 1.5
"""Turns of the crown by those of the shaft, and of a spider by those of a side gear."""


@pytest.fixture(scope="module")
def run():
    """A second and a half of it, by the last names of its joints: positions and velocities (R)."""
    settings = wa.SolverSettings(precision="float64", variant="scalar")
    recording = wa.Simulation(wa.read_stage(str(STAGE)), settings=settings).record(360)
    names = [path.rpartition("/")[2] for path in recording.joint_names]
    return {
        name: (recording.joint_position[:, 0, place], recording.joint_velocity[:, 0, place])
        for place, name in enumerate(names)
    }


def test_wheels_turn_as_their_teeth_do(run):
    """Over some turns, to a millionth of a radian: the crown by the shaft, both wheels together by the crown."""
    shaft, crown = run["propeller_shaft"][0], run["crown_joint"][0]
    left, right = (crown + run[f"{side}_axle"][0] for side in ("left", "right"))
    assert shaft[-1] > 20.0
    np.testing.assert_allclose(crown, -CROWN * shaft, atol=1e-6, rtol=0)
    np.testing.assert_allclose(left + right, 2.0 * crown, atol=1e-6, rtol=0)
    for name, sign in (("front", -1.0), ("rear", 1.0)):
        np.testing.assert_allclose(run[f"{name}_pin"][0], sign * SPIDER * run["left_axle"][0], atol=1e-6, rtol=0)
    assert abs(left[-1]) > 2.0 * abs(right[-1])  # the light one runs ahead


def test_wheels_share_the_torque(run):
    """Speeds under the largest torque of the motor, by Lagrange's equations for the crown and the left side gear."""
    (tree,) = wa.read_stage(str(STAGE)).articulations
    links = {link.path.rpartition("/")[2]: link for link in tree.links}
    about = {name: np.array(links[name].inertia)[[0, 3, 5]] for name in links}
    torque = next(dof.drive.max_force for dof in tree.dofs if dof.drive)
    spider, arm = links["front_spider"], 0.075
    # T = (A c^2 + B l^2) / 2 + C c l of the rate c of the crown and l of the left side gear against it.
    left, right = about["left_wheel"][1], about["right_wheel"][1]
    carried = 2.0 * (about["front_spider"][1] + spider.mass * arm**2)
    A = about["pinion"][0] / CROWN**2 + about["crown"][1] + carried + left + right
    B = left + right + 2.0 * SPIDER**2 * about["front_spider"][0]
    rates = np.linalg.solve([[A, left - right], [left - right, B]], [-torque / CROWN, 0.0])
    found = [run["crown_joint"][1][-1], run["left_axle"][1][-1]]
    np.testing.assert_allclose(found, 1.5 * rates, rtol=1e-6)
