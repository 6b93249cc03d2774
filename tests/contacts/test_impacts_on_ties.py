"""What loops and mimic joints tie together stays so when something hits it, at any time within a step."""

import numpy as np
import pytest
from pxr import UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, PRECISIONS
from tests.islands import test_closed_mechanisms as islands
from tests.islands.test_closed_mechanisms import BEAM_MASS, COUPLER, LEG, LEG_MASS, parallelogram
from tests.usd.authoring import joint, open_text

SPEED = 4.0
STILL = (0.0, 0.0, 0.0)
STARTS = (0.0, 0.2, 0.45, 0.7, 0.95)
"""Parts of a step after which the ball hits."""
AWAY = 2.0
"""Steps that it flies before."""
ARM, HALF, STRUCK, HEAVY = 0.3, 0.1, 0.2, 5.0
HELD = {"direct": 2e-6, "pgs": 5e-4}
"""To which mimic joints hold, by solver, as sweeps leave some of an impact [rad]."""


def arms(start: float) -> ContactScene:
    """Two arms about Y beside each other, and a ball on its way to the end of the first one."""
    way = (AWAY + start) * DT * SPEED
    solids = [
        box("base", 0.1, (0, 3, 0)),
        box("one", (ARM, 0.05, HALF)),
        box("other", (ARM, 0.05, HALF), (0, 1, 0), mass=HEAVY),
        sphere("ball", HALF, (STRUCK, 0, -2.0 * HALF - way), velocity=(0, 0, SPEED)),
    ]
    hinges = "".join(
        joint(
            f"hinge_{one.name}",
            "Revolute",
            "/World/base",
            f"/World/{one.name}",
            f"point3f physics:localPos0 = {tuple(np.subtract(one.position, solids[0].position).tolist())}\n"
            'uniform token physics:axis = "Y"\n',
        )
        for one in solids[1:3]
    )
    fixed = joint("fixed", "Fixed", "", "/World/base", f"point3f physics:localPos0 = {solids[0].position}\n")
    return ContactScene(solids=solids, gravity=STILL, has_ground=False, joints=fixed + hinges, friction=0.0)


def simulation_of(stage, precision: str, solver: str) -> wa.Simulation:
    """Of a stage, never asleep."""
    settings = wa.SolverSettings(dt=DT, precision=precision, solver=solver, sleep_after=float("inf"))
    return wa.Simulation(wa.read_stage(stage), settings=settings)


@pytest.mark.parametrize("solver", HELD)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gear", (1.0, -2.5))
def test_followers_follow_through_an_impact(precision, gear, solver):
    """The mimic joint holds after each step, and the arms turn from the impact on as fast as momentum says."""
    inertia = (ARM**2 + HALF**2) / 3.0 * (1.0 + HEAVY * gear**2)
    rate = -STRUCK * SPEED / (inertia + STRUCK**2)
    for start in STARTS:
        stage = open_text(arms(start).usd)
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/World/base"))
        wa.author.mimic(stage, "/World/hinge_other", ["/World/hinge_one"], gears=[gear])
        one = simulation_of(stage, precision, solver)
        for step in range(1, 7):
            one.step(1)
            q = one.state.joint_position.numpy()[:, 0].astype(float)
            turned = rate * DT * max(step - AWAY - start, 0.0)
            assert q[0] == pytest.approx(turned, rel=0.01, abs=HELD[solver]), (start, step)
            assert np.abs(one.state.mimic_error.numpy()).max() <= HELD[solver], (start, step)


@pytest.mark.parametrize("solver", HELD)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_loops_stay_closed_through_an_impact(precision, solver):
    """A ball against a leg of a parallelogram, which moves from the impact on as fast as momentum says."""
    legs = 2.0 * LEG_MASS * ((0.04**2 + 0.36**2) / 12.0 + (LEG / 2) ** 2)
    rate = islands.SPEED * LEG / 2 / (legs + BEAM_MASS * LEG**2 + (LEG / 2) ** 2)
    for start in STARTS:
        way = (AWAY + start) * DT * islands.SPEED
        scene = parallelogram((-COUPLER / 2 - 0.02 - 0.05 - way, 0, 0.2 + LEG / 2), (islands.SPEED, 0, 0))
        stage = open_text(scene.usd)
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/World/left"))
        one = simulation_of(stage, precision, solver)
        beam = one.link_names.index("/World/beam")
        for step in range(1, 7):
            one.step(1)
            moved = LEG * rate * DT * max(step - AWAY - start, 0.0)
            assert one.state.link_pose.numpy()[beam, 0, 0] == pytest.approx(moved, rel=0.02, abs=5e-6), (start, step)
            assert one.state.loop_error.numpy().max() < 1e-5, (start, step)
