"""Newton's cradle: what exact elastic impacts pass on, along free balls and along pendulums."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, sphere
from tests.contacts.motion import PRECISIONS, simulated

RADIUS = 0.05
NAMES = tuple(f"ball{k}" for k in range(5))
NOWHERE = (0.0, 0.0, 0.0)


def row(gap: float, thrown: int) -> ContactScene:
    """Five free balls in a row without friction and gravity, of which the first ones come at 1 m/s from 0.1 m away."""
    solids = []
    for k, name in enumerate(NAMES):
        x = k * (2.0 * RADIUS + gap) - (0.1 if k < thrown else 0.0)
        solids.append(sphere(name, RADIUS, (x, 0, 0), velocity=(1.0 if k < thrown else 0.0, 0, 0)))
    return ContactScene(solids=solids, friction=0.0, restitution=1.0, gravity=NOWHERE, has_ground=False)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", [0.01, 0.0])
@pytest.mark.parametrize("thrown", [1, 2])
def test_as_many_leave_as_came(thrown, gap, precision):
    """With all of the speed, to 2 %; those between stay."""
    motion = simulated(row(gap, thrown), 0.6, precision=precision)
    speeds = np.array([motion.velocity(name)[-1, 0] for name in NAMES])
    wanted = np.where(np.arange(5) >= 5 - thrown, 1.0, 0.0)
    np.testing.assert_allclose(speeds, wanted, atol=0.02)
    assert np.diff(motion.energy).max() < 1e-4 * motion.energy[0]


def cradle(raised: int, angle: float = 0.5, length: float = 0.5) -> ContactScene:
    """Five balls on hinges about Y at z = 0, the first ones raised."""
    solids, joints = [], ""
    for k, name in enumerate(NAMES):
        x, a = 2.0 * RADIUS * k, angle if k < raised else 0.0
        turned = (0.0, float(np.sin(0.5 * a)), 0.0, float(np.cos(0.5 * a)))
        place = (x - length * np.sin(a), 0.0, -length * np.cos(a))
        solids.append(sphere(name, RADIUS, place, quaternion=turned))
        joints += (
            f'def PhysicsRevoluteJoint "hinge{k}" {{\nuniform token physics:axis = "Y"\n'
            f"rel physics:body1 = </World/{name}>\npoint3f physics:localPos0 = ({x!r}, 0, 0)\n"
            f"point3f physics:localPos1 = (0, 0, {length!r})\n}}\n"
        )
    return ContactScene(solids=solids, friction=0.0, restitution=1.0, has_ground=False, joints=joints)


@pytest.mark.parametrize("raised", [1, 2])
def test_pendulums_pass_their_swing_on(raised):
    """The last ones rise as high as the first ones fell, to 2 %, while the others hardly move."""
    scene = cradle(raised)
    motion = simulated(scene, 1.05)
    rise = {name: motion.place(name)[:, 2] + 0.5 for name in NAMES}
    fell = rise["ball0"][0]
    half = motion.time > 0.5
    for k, name in enumerate(NAMES):
        wanted = fell if k >= 5 - raised else 0.0
        assert rise[name][half].max() == pytest.approx(wanted, abs=0.02 * fell)
    assert motion.energy.max() - motion.energy[0] < 1e-3 * fell * 9.81
