"""Surfaces that move beside their kinematic bodies, as conveyor belts do (PhysxSurfaceVelocityAPI)."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, Solid, box, sphere, usd_of
from tests.contacts.motion import PRECISIONS, simulated
from tests.islands.crowds import crowd_motion
from tests.usd.authoring import SMALL_UNITS, open_text, schemas, warnings_of
from tests.usd.contact_stages import contacts_of
from warp_artic.description.contact_pair import ContactPair
from warp_artic.usd.read_stage import read_stage

G, MU = 9.81, 0.5
STILL = "double3 xformOp:translate = {at}\ndouble xformOp:rotateZ = {turn}\n"
ORDER = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]\n'


def velocities(linear=(0, 0, 0), angular=(0, 0, 0), is_local: bool = True) -> str:
    """The attributes of the schema; the second one in degrees."""
    return (
        f"vector3f physxSurfaceVelocity:surfaceVelocity = {tuple(linear)}\n"
        f"vector3f physxSurfaceVelocity:surfaceAngularVelocity = {tuple(angular)}\n"
        f"bool physxSurfaceVelocity:surfaceVelocityLocalSpace = {int(is_local)}\n"
    )


def belt(solid: Solid, at, moves: str, turn: float = 0.0, place: str = STILL) -> str:
    """A kinematic body with the shape of a solid."""
    text = usd_of(solid)
    return (
        f'def Xform "belt" {schemas("PhysicsRigidBodyAPI", "PhysxSurfaceVelocityAPI")} {{\n'
        f"bool physics:kinematicEnabled = 1\n{moves}{place.format(at=tuple(at), turn=turn)}{ORDER}"
        f"{text[text.index('def ', 4) :]}"
    )


def on_belt(moves: str, *solids: Solid, turn: float = 0.0, place: str = STILL) -> ContactScene:
    """Solids on a belt whose top is at 0.1 m."""
    made = belt(box("belt", (9.0, 9.0, 0.05)), (0.0, 0.0, 0.05), moves, turn, place)
    return ContactScene(solids=[*solids], joints=made, has_ground=False)


def load(at=(0.0, 0.0, 0.12)) -> Solid:
    """A flat box."""
    return box("load", (0.1, 0.1, 0.02), at)


RUNS = {
    "direct": lambda scene, seconds: simulated(scene, seconds),
    "double": lambda scene, seconds: simulated(scene, seconds, precision="float64"),
    "pgs": lambda scene, seconds: simulated(scene, seconds, solver="pgs"),
    "tgs": lambda scene, seconds: simulated(scene, seconds, solver="tgs"),
    "crowd": lambda scene, seconds: crowd_motion(scene, seconds),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_belt(run):
    """A box slips with mu g until it is as fast as the belt, which is turned by 30 degrees, and then goes with it."""
    motion = RUNS[run](on_belt(velocities((2.0, 0, 0)), load(), turn=30.0), 1.0)
    ahead = np.array([np.cos(np.pi / 6), 0.5, 0.0])
    time, until = motion.time, 2.0 / (MU * G)
    way = np.where(time < until, MU * G * time**2 / 2.0, 2.0 * time - MU * G * until**2 / 2.0)
    place = motion.place("load")
    np.testing.assert_allclose(place @ ahead, way, atol=6e-3)  # half a step of the speed at most
    np.testing.assert_allclose(motion.velocity("load")[-1], 2.0 * ahead, atol=2e-4)
    np.testing.assert_allclose(place[:, 2], 0.12, atol=2e-5)
    assert np.abs(motion.turning("load")).max() < 5e-3


@pytest.mark.parametrize("run", ("direct", "crowd"))
def test_axes_of_the_world(run):
    """The same velocity, as that of the world, on a belt that is turned."""
    motion = RUNS[run](on_belt(velocities((0, 1.0, 0), is_local=False), load(), turn=30.0), 0.5)
    np.testing.assert_allclose(motion.velocity("load")[-1], (0.0, 1.0, 0.0), atol=2e-4)


@pytest.mark.parametrize("run", ("direct", "crowd"))
def test_a_turntable(run):
    """What lies on it at a radius r goes round with w, as friction bears m w^2 r; the box turns with it."""
    motion = RUNS[run](on_belt(velocities(angular=(0, 0, 90.0)), load((0.5, 0.0, 0.12))), 2.0)
    place, speed = motion.place("load")[:, :2], motion.velocity("load")
    radius = np.linalg.norm(place, axis=1)
    assert radius[-1] == pytest.approx(radius[len(radius) // 2], abs=2e-3)
    assert np.linalg.norm(speed[-1]) == pytest.approx(0.5 * np.pi * radius[-1], rel=2e-3)
    assert motion.turning("load")[-1, 2] == pytest.approx(0.5 * np.pi, rel=2e-3)


@pytest.mark.parametrize("run", ("direct", "crowd"))
def test_a_ball(run):
    """It rolls: of the impulse of the belt 2/7 of its speed are left when it no longer slips, turning backward."""
    motion = RUNS[run](on_belt(velocities((1.0, 0, 0)), sphere("load", 0.1, (0.0, 0.0, 0.2))), 1.0)
    assert motion.velocity("load")[-1, 0] == pytest.approx(2.0 / 7.0, rel=2e-3)
    assert motion.turning("load")[-1, 1] == pytest.approx(-(1.0 - 2.0 / 7.0) / 0.1, rel=2e-3)


@pytest.mark.parametrize("run", ("direct", "crowd"))
def test_nothing_is_pushed(run):
    """A belt that moves toward a box at its end gives it nothing: its body stays where it is."""
    made = belt(box("belt", (1.0, 1.0, 0.05)), (0.0, 0.0, 0.05), velocities((2.0, 0, 0)))
    scene = ContactScene(solids=[box("load", 0.05, (1.05, 0.0, 0.05))], joints=made)
    motion = RUNS[run](scene, 1.0)
    np.testing.assert_allclose(motion.place("load")[-1], (1.05, 0.0, 0.05), atol=1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_belt_that_moves(precision):
    """The velocity of the surface is beside that of the body, whose axes have it."""
    samples = ", ".join(f"{code}: ({code / 24.0}, 0, 0.05)" for code in range(49))
    place = f"double3 xformOp:translate.timeSamples = {{ {samples} }}\ndouble xformOp:rotateZ = {{turn}}\n"
    place = place.replace("{ 0", "{{ 0").replace(") }\n", ") }}\n")
    scene = on_belt(velocities((0.5, 0, 0)), load(), turn=90.0, place=place)
    motion = simulated(scene, 1.0, precision=precision)
    np.testing.assert_allclose(motion.velocity("load")[-1], (1.0, 0.5, 0.0), atol=1e-3)


def test_what_is_read():
    """In stage units and degrees; nothing where it is not enabled, or zero."""
    text = belt(box("belt", 1.0), (0, 0, 0), velocities((10, 0, 0), (0, 90, 0))) + usd_of(box("load", 1.0, (0, 0, 2)))
    (tree,) = read_stage(open_text(text, SMALL_UNITS)).articulations
    (pair,) = tree.constraints_of(ContactPair)
    assert pair.motion0.surface.linear == pytest.approx((0.1, 0.0, 0.0))
    assert pair.motion0.surface.angular == pytest.approx((0.0, np.pi / 2, 0.0))
    off = velocities((10, 0, 0)) + "bool physxSurfaceVelocity:surfaceVelocityEnabled = 0\n"
    for moves in (off, velocities()):
        (one,) = contacts_of(open_text(belt(box("belt", 1.0), (0, 0, 0), moves))).contacts.colliders
        assert one.motion is None


def test_what_is_not_simulated():
    """Surfaces of bodies that are not kinematic."""
    text = belt(box("belt", 1.0), (0, 0, 0), velocities((1, 0, 0))).replace(
        "kinematicEnabled = 1", "kinematicEnabled = 0"
    )
    assert any("velocity of a surface: not simulated yet" in one for one in warnings_of(open_text(text)))
