"""Target lengths over time, put back into the laws of tendons."""

import numpy as np
import pytest
import warp as wp

from tests.meshes.tendon_bodies import device_points, forces_of, node_points, random_body
from tests.meshes.tendon_matrices import force_matrices
from warp_artic.description.mesh_tendon import MeshTendon, TensionLaw
from warp_artic.errors import SettingsError
from warp_artic.meshes.inverse import InverseProblem
from warp_artic.meshes.target_lengths import STRETCH, plan_target_lengths
from warp_artic.meshes.tendons import MeshTendons

LAWS = pytest.mark.parametrize("law", (TensionLaw.SPRING, TensionLaw.CABLE), ids=lambda law: law.value)
TIMES, ENVIRONMENTS = 5, 2


def moving_case(law, dim=3):
    """Tendons on a body that moves, the points over time, and forces that tensions of a random walk make."""
    rng = np.random.default_rng(dim)
    body = random_body(rng, dim)
    made = tuple(
        MeshTendon(name=f"/t{i}", body=body.name, waypoints=node_points(rng, body, 4), law=law, smoothing=0.01)
        for i in range(8)
    )
    tendons = MeshTendons(made, body, environments=ENVIRONMENTS)
    points = rng.uniform(size=(ENVIRONMENTS, 60, dim)) + 0.1 * rng.normal(size=(TIMES, ENVIRONMENTS, 60, dim))
    tension = np.maximum(rng.normal(size=(TIMES, 8, ENVIRONMENTS)).cumsum(axis=0), 0.0)
    forces = []
    for place, tau in zip(points, tension):
        tendons.evaluate(device_points(tendons, place))
        forces.append(np.einsum("eft,te->ef", force_matrices(tendons), tau))
    return tendons, points, np.array(forces).reshape(points.shape), tension


def plan(tendons, points, forces, **options):
    """Target lengths for forces over time."""
    return plan_target_lengths(
        InverseProblem(tendons),
        [device_points(tendons, force) for force in forces],
        points=[device_points(tendons, place) for place in points],
        **options,
    )


@LAWS
@pytest.mark.parametrize("stiffness", (None, 500.0))
def test_target_lengths_give_the_wanted_forces(law, stiffness):
    """Put back into the forward law with one K, they make the forces at every time, and are positive."""
    tendons, points, forces, tension = moving_case(law)
    planned = plan(tendons, points, forces, stiffness=stiffness)
    assert planned.length.shape == (TIMES, 8, ENVIRONMENTS) and (planned.length > 0.0).all()
    tendons.stiffness.fill_(planned.stiffness)
    for place, force, tau, length, found in zip(points, forces, tension, planned.length, planned.tensions):
        np.testing.assert_allclose(found.tension, tau, rtol=0, atol=1e-10)
        tendons.target_length.assign(length)
        np.testing.assert_allclose(forces_of(tendons, place)[0], force, rtol=0, atol=1e-6)
        # No tendon is asked to be longer than its path: Delta >= 0, also of those that are slack.
        assert (tendons.shape.change.numpy() >= -1e-15).all()
        if stiffness is None:
            assert (tendons.shape.change.numpy() <= STRETCH * tendons.shape.length.numpy() * (1.0 + 1e-12)).all()


@LAWS
@pytest.mark.parametrize("stiffness", (0.0, -1.0, np.nan))
def test_a_stiffness_that_is_none_is_refused(law, stiffness):
    """Also where no tendon pulls, so that any stiffness would be enough."""
    tendons, points, forces, _ = moving_case(law)
    with pytest.raises(SettingsError, match=f"stiffness: {stiffness:g} N/m must be above 0"):
        plan(tendons, points, 0.0 * forces, stiffness=stiffness)


@LAWS
def test_a_stiffness_that_is_too_small_is_refused_with_the_least(law):
    """The sentence names the tendon, the time and the least stiffness, and a little more than that is enough."""
    tendons, points, forces, _ = moving_case(law)
    with pytest.raises(SettingsError, match=r"/t\d: stiffness 0.5 N/m gives .* the stiffness must be above") as refused:
        plan(tendons, points, forces, stiffness=0.5)
    least = float(str(refused.value).split("must be above ")[1].split()[0])
    with pytest.raises(SettingsError):
        plan(tendons, points, forces, stiffness=0.99 * least)
    assert (plan(tendons, points, forces, stiffness=1.01 * least).length > 0.0).all()


def test_tendons_of_given_tension_have_no_target_length():
    """They are refused by name."""
    tendons, points, forces, _ = moving_case(TensionLaw.TENSION)
    with pytest.raises(SettingsError, match="/t0: law tension follows no target length"):
        plan(tendons, points, forces)


def test_without_points_the_tendons_stay_where_they_are():
    """Forces over time at one place; no forces at all leave all tendons slack at the length of their paths."""
    tendons, points, forces, _ = moving_case(TensionLaw.CABLE)
    tendons.evaluate(device_points(tendons, points[0]))
    none = wp.zeros((ENVIRONMENTS, 60), dtype=tendons.vec)
    planned = plan_target_lengths(InverseProblem(tendons), [none, device_points(tendons, forces[0])])
    np.testing.assert_array_equal(planned.length[0], tendons.shape.length.numpy())
    made, _ = forces_of(tendons, points[0])
    np.testing.assert_allclose(made, forces[0], rtol=0, atol=1e-6)
