"""Contacts lift what hangs at the stop of a joint among many bodies: it lets go of what they bear, and of no more."""

import numpy as np
import pytest
from pxr import UsdPhysics

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowded
from tests.islands.test_loose_ties import give
from tests.usd.authoring import joint, open_text

G, HIGH, HALF = 9.81, 2.0, 0.15
CARRIER, LOAD, PULL = 20.0, 50.0, 100.0
"""Masses [kg], and the part of the weight of the load that its carrier bears [N]."""
STIFFNESS, DAMPING = 1e4, 2e3
SOFT = 1e5
"""Of a soft limit [N/m]."""
STEPS = (1 / 60, 1 / 240)
KINDS = ("rope", "limit", "loop limit")


def hung(kind: str, dt: float, precision: str = "float64", **settings) -> wa.Simulation:
    """A box on the ground that also hangs from a carrier on a driven slide, at the end of a slide or of a rope."""
    solids = [
        box("carrier", 0.1, (0, 0, HIGH), mass=CARRIER),
        box("load", (0.2, 0.2, HALF), (0, 0, HALF), mass=LOAD),
    ]
    raised = (CARRIER * G + PULL) / STIFFNESS
    drive = f"float drive:linear:physics:stiffness = {STIFFNESS}\nfloat drive:linear:physics:damping = {DAMPING}\n"
    drive += f"float drive:linear:physics:targetPosition = {raised}\n"
    axis = 'uniform token physics:axis = "Z"\n'
    at = f"point3f physics:localPos0 = (0, 0, {HIGH})\n"
    joints = joint("slide", "Prismatic", "", "/World/carrier", at + axis + drive, ("PhysicsDriveAPI:linear",))
    if kind != "rope":
        below = f"point3f physics:localPos0 = (0, 0, {HALF - HIGH})\n"
        ends = "float physics:lowerLimit = 0\nfloat physics:upperLimit = 1\n"
        beside = "bool physics:excludeFromArticulation = 1\n" if kind == "loop limit" else ""
        joints += joint("hanger", "Prismatic", "/World/carrier", "/World/load", below + axis + ends + beside)
    stage = open_text(crowded(ContactScene(solids=solids, joints=joints)).usd)
    if kind == "rope":
        rope = UsdPhysics.DistanceJoint.Define(stage, "/World/rope")
        rope.CreateBody0Rel().SetTargets(["/World/carrier"])
        rope.CreateBody1Rel().SetTargets(["/World/load"])
        rope.CreateLocalPos1Attr((0, 0, HALF))
        rope.CreateMaxDistanceAttr(HIGH - 2 * HALF)
    elif kind == "soft limit":
        soft = {"stiffness": SOFT, "damping": 1e3}
        give(stage.GetPrimAtPath("/World/hanger"), "PhysxLimitAPI:linear", "physxLimit:linear:", **soft)
    scene = wa.read_stage(stage)
    assert scene.island_contacts is not None
    chosen = wa.SolverSettings(dt=dt, precision=precision, sleep_after=float("inf"), **settings)
    return wa.Simulation(scene, settings=chosen)


def check_rest(one: wa.Simulation, speed: float = 1e-4, share: float = 0.01) -> None:
    """The load is at rest, not in the ground, which bears what the carrier leaves of its weight."""
    found = Motion(one.record(round(2.0 / one.settings.dt), forces=True))
    last = slice(-round(0.5 / one.settings.dt), None)
    assert one.failures() == []
    assert np.abs(found.velocity("load")[last]).max() < speed
    assert np.abs(found.place("load")[last, 2] - HALF).max() < 1e-3 * HALF
    borne = found.recording.contact_force_on("/World/load")[last, 0, 2]
    assert np.abs(borne - (LOAD * G - PULL)).max() < share * LOAD * G


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_loads_rest_on_the_ground(kind, precision, dt):
    """They sank in by 1.6 mm, and had 0.03 m/s at rest: stops went on bearing what the ground had taken over."""
    check_rest(hung(kind, dt, precision))


@pytest.mark.parametrize("dt", STEPS)
def test_soft_stops_let_go_as_their_springs_do(dt):
    """But for the part of a step with which their springs are implicit; they had 0.02 m/s at 60 Hz."""
    check_rest(hung("soft limit", dt), speed=3e-3, share=0.03)


@pytest.mark.parametrize("settings", [{"solver": "pgs"}, {"solver": "tgs"}, {"integrator": "semi_implicit"}], ids=str)
def test_so_it_is_with_other_solvers(settings):
    """Contacts of islands are the same."""
    check_rest(hung("limit", 1 / 240, "float32", **settings))
