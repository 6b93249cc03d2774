"""Shapes that overlap at the start are moved apart by positions, and keep no velocity."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, sphere
from tests.contacts.motion import DT, PRECISIONS, simulated, simulation
from warp_artic.description.contact_pair import DEPENETRATION_SPEED

EDGE, OVERLAP = 0.2, 0.02
STILL = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("make, solver", [(box, "direct"), (box, "pgs"), (sphere, "direct"), (sphere, "tgs")])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bodies_at_rest_without_gravity_move_apart(precision, make, solver):
    """By half of the overlap in the first step, or that in n parts in n substeps; each by its part of the mass."""
    solids = [make("one", 0.5 * EDGE, mass=1.0), make("other", 0.5 * EDGE, (0, 0, EDGE - OVERLAP), mass=3.0)]
    two = simulation(ContactScene(solids=solids, has_ground=False, gravity=STILL), precision=precision, solver=solver)
    lefts = []
    for _ in range(24):
        two.step(1)
        place = two.state.link_pose.numpy()[:, :3, 0].astype(float)
        left = EDGE - (place[1, 2] - place[0, 2])
        wanted = [-0.75 * (OVERLAP - left), EDGE - OVERLAP + 0.25 * (OVERLAP - left)]
        np.testing.assert_allclose(place[:, 2], wanted, atol=2e-6)
        assert np.abs(place[:, :2]).max() < 5e-6  # sweeps over the points of boxes turn them a little
        assert not two.state.link_velocity.numpy().any()
        lefts.append(left)
    substeps = two.settings.position_iterations if solver == "tgs" else 1
    first = OVERLAP * (1.0 - 0.5 / substeps) ** substeps
    assert lefts[0] == pytest.approx(first, rel=0.05)
    assert (np.diff(lefts) < 0.0).all() and 0.0 < lefts[-1] < 1e-3 * EDGE
    assert two.failures() == []


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_bodies_move_apart_no_faster_than_they_may(solver):
    """By 3 m/s, in substeps as in a step."""
    solids = [sphere("one", 0.1, mass=1.0), sphere("other", 0.1, (0, 0, 0.1), mass=3.0)]
    two = simulation(ContactScene(solids=solids, has_ground=False, gravity=STILL), precision="float64", solver=solver)
    two.step(1)
    place = two.state.link_pose.numpy()[:, 2, 0]
    assert 0.95 < (place[1] - place[0] - 0.1) / (DT * DEPENETRATION_SPEED) < 1.0 + 1e-9


@pytest.mark.parametrize("rate", [60, 240, 960])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_what_starts_in_the_ground_does_not_jump(solver, rate):
    """Not even a light box on a heavy one, and with short steps."""
    solids = [
        box("heavy", 0.1, (0.0, 0.0, 0.08), mass=100.0),
        box("light", 0.05, (0.02, 0.0, 0.205)),
        sphere("ball", 0.1, (0.5, 0.0, 0.05)),
        capsule("capsule", 0.05, 0.1, (0.0, 0.5, 0.145)),
    ]
    motion = simulated(ContactScene(solids=solids), 1.0, dt=1.0 / rate, solver=solver)
    for name, height in (("heavy", 0.1), ("light", 0.25), ("ball", 0.1), ("capsule", 0.15)):
        assert motion.place(name)[:, 2].max() < height + 1e-4
        assert motion.place(name)[-1, 2] == pytest.approx(height, abs=1e-4)
