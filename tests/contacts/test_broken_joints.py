"""Bodies that a joint has kept from touching touch once it has broken."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import simulation
from tests.islands.crowds import crowd

G = 9.81
PLATE = box("plate", (0.5, 0.5, 0.1), (0.0, 0.0, 0.1), mass=8.0)
TOP = 0.2
RADIUS = 0.1
SIMULATIONS = pytest.mark.parametrize("simulated", [simulation, crowd], ids=["one mechanism", "islands"])


def held(kind: str, height: float, breaks: float) -> str:
    """A joint that holds a ball at a height over the plate or the ground, and breaks at a force [N]."""
    body0, own = ("ground", height) if kind == "Fixed to the ground" else ("plate", height - 0.1)
    place = f"float physics:minDistance = {own}" if kind == "Distance" else f"point3f physics:localPos0 = (0, 0, {own})"
    return (
        f'def Physics{kind.split()[0]}Joint "joint" {{\n'
        f"rel physics:body0 = </World/{body0}>\nrel physics:body1 = </World/ball>\n"
        f"{place}\nfloat physics:breakForce = {breaks}\n}}\n"
    )


def over_plate(height: float, joints: str) -> ContactScene:
    """A ball of 1 kg at a height over a plate, with joints."""
    return ContactScene(solids=[PLATE, sphere("ball", RADIUS, (0.0, 0.0, height))], joints=joints)


def over_ground(height: float, joints: str) -> ContactScene:
    """A ball of 1 kg at a height over the ground alone, with joints."""
    return ContactScene(solids=[sphere("ball", RADIUS, (0.0, 0.0, height))], joints=joints)


def heights(one) -> np.ndarray:
    """Of the ball in each environment [m]."""
    return one.state.root_pose.numpy()[list(one.root_names).index("/World/ball"), 2].astype(float)


def touching(one) -> dict[tuple[str, str], float]:
    """The forces along the normals of what touches in the first environment, by colliders [N]."""
    return {tuple(sorted(own.colliders)): own.normal_force for own in one.contacts() if own.environment == 0}


@SIMULATIONS
@pytest.mark.parametrize("kind", ["Fixed", "Distance", "Fixed to the ground"])
def test_what_has_broken_lets_touch(simulated, kind):
    """The ball falls on what it was joined to, lies there with all of its weight, and moves as without a joint."""
    scene, under, other = over_plate, TOP, "/World/plate/shape"
    if kind == "Fixed to the ground":
        scene, under, other = over_ground, 0.0, "/World/ground"
    height = under + RADIUS + 0.2
    one = simulated(scene(height, held(kind, height, breaks=5.0)))
    free = simulated(scene(height - 0.5 * G / 240.0**2, ""))
    free.set_state(root_velocity=_falling(free, G / 240.0))
    one.step(1)
    (event,) = one.broken_loops()
    assert event.step == 1
    one.step(479)
    free.step(479)
    assert heights(one)[0] == pytest.approx(under + RADIUS, abs=1e-4)
    assert heights(one)[0] == pytest.approx(heights(free)[0], abs=1e-5)
    assert touching(one)[tuple(sorted(("/World/ball/shape", other)))] == pytest.approx(G, rel=1e-3)


def _falling(one, speed: float) -> np.ndarray:
    """Root velocities where the ball falls and all else rests [m/s], (roots, 6)."""
    velocity = np.zeros((len(one.root_names), 6))
    velocity[list(one.root_names).index("/World/ball"), 2] = -speed
    return velocity


@SIMULATIONS
def test_what_holds_keeps_apart(simulated):
    """In the environment whose joint holds shapes overlap without any force; in the other one they come apart."""
    height = TOP + RADIUS - 0.02
    one = simulated(over_plate(height, held("Fixed", height, breaks=500.0)), environments=2)
    one.set_state(loop_broken=np.array([[0.0], [1.0]]))
    one.step(480)
    np.testing.assert_allclose(heights(one), [height, TOP + RADIUS], atol=1e-4)
    assert not any("/World/ball/shape" in pair for pair in touching(one))
    # Repaired and broken the other way round.
    one.reset()
    one.set_state(loop_broken=np.array([[1.0], [0.0]]))
    one.step(480)
    np.testing.assert_allclose(heights(one), [TOP + RADIUS, height], atol=1e-4)
    assert touching(one)["/World/ball/shape", "/World/plate/shape"] == pytest.approx(G, rel=1e-3)


@SIMULATIONS
@pytest.mark.parametrize(
    "content, collides",
    [
        ("", False),
        ("float physics:breakForce = 1000", False),
        ("bool physics:collisionEnabled = 1", True),
    ],
    ids=["never breaks", "holds", "lets touch"],
)
def test_every_joint_keeps_apart(simulated, content, collides):
    """Of two joints both must have broken, but for one that lets its bodies touch: a slack string is there too."""
    height = TOP + RADIUS + 0.1
    string = (
        'def PhysicsDistanceJoint "string" {\nrel physics:body0 = </World/plate>\nrel physics:body1 = </World/ball>\n'
        f"float physics:maxDistance = 5\n{content}\n}}\n"
    )
    one = simulated(over_plate(height, held("Fixed", height, breaks=5.0) + string))
    one.step(480)
    assert heights(one)[0] == pytest.approx(TOP + RADIUS if collides else RADIUS, abs=1e-3)
    if "breakForce" in content:
        one.set_state(loop_broken=np.ones((1, 2)))
        one.step(480)
        assert heights(one)[0] == pytest.approx(TOP + RADIUS, abs=1e-3)
