"""Shapes that overlap at the start are moved apart at the speed of the law, with nothing else that moves them."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT, PRECISIONS, simulation
from warp_artic.description.contact_pair import DEPENETRATION_SPEED

EDGE, OVERLAP = 0.2, 0.02
STILL = (0.0, 0.0, 0.0)
SUBSTEPS = {"direct": 1, "pgs": 1, "tgs": 4}
LEFT = {"direct": 1e-4, "pgs": 1e-3, "tgs": 1e-4}
"""Part of the speed that may be missing: sweeps over the four points of boxes leave some, over one point none."""


@pytest.mark.parametrize("make, solver", [(box, "direct"), (box, "pgs"), (sphere, "direct"), (sphere, "tgs")])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bodies_at_rest_without_gravity_move_apart(precision, make, solver):
    """In the first step, or substep, by half of the overlap, or at the depenetration speed; then evenly, on and on."""
    solids = [make("one", 0.5 * EDGE, mass=1.0), make("other", 0.5 * EDGE, (0, 0, EDGE - OVERLAP), mass=3.0)]
    two = simulation(ContactScene(solids=solids, has_ground=False, gravity=STILL), precision=precision, solver=solver)
    speed = min(0.5 * OVERLAP * SUBSTEPS[solver] / DT, DEPENETRATION_SPEED)
    wanted = np.array([-0.75, 0.25]) * speed
    for _ in range(8):
        two.step(1)
        velocity = two.state.link_velocity.numpy()[..., 0].astype(float)
        np.testing.assert_allclose(velocity[:, 2], wanted, rtol=LEFT[solver])
        assert np.abs(np.delete(velocity, 2, axis=1)).max() <= LEFT[solver] * speed
    two.contacts()
    assert two.failures() == []
    assert two.state.contact_gap.numpy().min() > 0.0
