"""What falls in one piece, among many bodies: without restitution it stays where it lands."""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowd, crowded
from tests.usd.authoring import joint, open_text

DROP, G = 0.5, 9.81
FALLS = np.sqrt(2.0 * G * DROP)
"""How fast it lands [m/s]."""
STEPS = (1 / 60, 1 / 240)


def piled(masses: tuple[float, ...]) -> list:
    """Boxes on each other, the lowest one the widest, in the air."""
    solids = [box("box0", (0.1, 0.1, 0.05), (0, 0, 0.05 + DROP), mass=masses[0])]
    return solids + [box(f"box{k}", 0.05, (0, 0, 0.05 + 0.1 * k + DROP), mass=masses[k]) for k in range(1, len(masses))]


def landing(motion: Motion, count: int) -> tuple[float, float, float]:
    """How fast anything goes up, how high it rises, and how far it sinks, from when the stack has landed."""
    rest = 0.05 + 0.1 * np.arange(count)
    height = np.stack([motion.place(f"box{k}")[:, 2] for k in range(count)], axis=1) - rest
    speed = np.stack([motion.velocity(f"box{k}")[:, 2] for k in range(count)], axis=1)
    landed = int(np.argmax(height[:, 0] < 1e-2)) + 2
    return speed[landed:].max(), height[landed:].max(), -height.min()


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(
    "masses, precision",
    [
        *(((1, 5), one) for one in PRECISIONS),
        *(((1, *others), "float64") for others in ((1,), (20,), (1,) * 4, (5,) * 3)),
    ],
    ids=str,
)
def test_a_stack_that_falls_stays_where_it_lands(masses, precision, dt):
    """Half of its speed used to come back where what is heavy lies on what is light."""
    one = crowd(ContactScene(solids=piled(masses)), dt=dt, precision=precision)
    motion = Motion(one.record(round(0.8 / dt), quantities=["link_pose", "link_velocity"]))
    up, rises, sinks = landing(motion, len(masses))
    assert up < 0.15 * FALLS
    assert rises < 6e-3
    assert sinks < 0.6 * FALLS * dt


@pytest.mark.parametrize("dt", STEPS)
def test_so_does_one_whose_lowest_box_is_on_a_slide(dt):
    """A mechanism with a joint, at whose limit the stack lands."""
    slide = joint(
        "slide",
        "Prismatic",
        "",
        "/World/box0",
        f'point3f physics:localPos0 = (0, 0, {0.05 + DROP})\nuniform token physics:axis = "Z"\n'
        f"float physics:lowerLimit = {-DROP}\nfloat physics:upperLimit = 1\n",
    )
    scene = ContactScene(solids=piled((1, 5, 5)), joints=slide, has_ground=False)
    found = wa.read_stage(open_text(crowded(scene).usd))
    assert found.island_contacts is not None
    one = wa.Simulation(found, settings=wa.SolverSettings(dt=dt, precision="float64", sleep_after=float("inf")))
    motion = Motion(one.record(round(0.8 / dt), quantities=["link_pose", "link_velocity"]))
    up, rises, sinks = landing(motion, 3)
    assert up < 0.15 * FALLS
    assert rises < 6e-3
    assert sinks < 0.6 * FALLS * dt


def test_a_stack_that_something_heavy_falls_on_stands():
    """It moved by a centimetre; what overlaps raise again is a twentieth of the energy of the fall."""
    solids = [box(f"box{k}", 0.05, (0, 0, 0.05 + 0.1 * k)) for k in range(4)]
    fall, mass = 0.2, 10.0
    solids.append(box("heavy", 0.05, (0, 0, 0.45 + fall), mass=mass))
    one = crowd(ContactScene(solids=solids), precision="float64")
    motion = Motion(one.record(240, quantities=["link_pose", "link_velocity", "energy"]))
    assert motion.velocity("heavy")[:, 2].max() < 0.2 * np.sqrt(2 * G * fall)
    landed = int(np.argmax(motion.place("heavy")[:, 2] < 0.455)) + 1
    lowest = np.minimum.accumulate(motion.energy[landed:])
    assert (motion.energy[landed:] - lowest).max() < 0.06 * mass * G * fall
    for k in range(4):
        assert motion.place(f"box{k}")[-1] == pytest.approx([0, 0, 0.05 + 0.1 * k], abs=2e-3)
