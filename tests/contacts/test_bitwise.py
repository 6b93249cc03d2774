"""What an environment does with contacts depends on nothing but itself: not on lanes, threads, or who was before it."""

from dataclasses import replace

import numpy as np
import pytest

import warp_artic as wa
from tests import trees
from tests.contact_stages import ContactScene, box, capsule, cone, cylinder, sphere
from tests.contacts.falls import chain, jammed_arm, tree
from tests.contacts.motion import DT, simulation
from tests.usd.authoring import open_text
from warp_artic.description.friction import Friction

SOLIDS = [
    box("a", (0.05, 0.1, 0.2), (0.0, 0.0, 0.35), turning=(2.0, 5.0, 1.0)),
    sphere("b", 0.05, (0.3, 0.0, 0.06), velocity=(-2.0, 0.5, 0.0), turning=(0.0, 0.0, 5.0)),
    cylinder("c", 0.05, 0.2, (0.1, 0.3, 0.3), turning=(3.0, 0.0, 0.0)),
    capsule("d", 0.05, 0.2, (-0.3, 0.1, 0.3), velocity=(1.0, 0.0, 0.0), turning=(0.0, 5.0, 0.0)),
    cone("e", 0.08, 0.1, (0.0, -0.3, 0.101)),
]
COUNT = 6


def started(one: wa.Simulation, number: int) -> wa.Simulation:
    """The same, with the velocities of environment `number`, or of each its own where it has COUNT of them."""
    rng = np.random.default_rng(5)
    kicks = rng.normal(size=(COUNT, *one.state.root_velocity.numpy().shape[:-1]))
    velocities = one.state.root_velocity.numpy()
    chosen = range(COUNT) if one.environments == COUNT else [number]
    for place, kick in enumerate(kicks[list(chosen)]):
        velocities[..., place] += kick.reshape(velocities[..., place].shape)
    one.state.root_velocity.assign(velocities)
    return one


def result(one: wa.Simulation) -> np.ndarray:
    """Poses and impulses after a second."""
    one.step(240)
    one.report()
    arrays = one.state.link_pose.numpy(), one.state.contact_impulse.numpy()
    return np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays])


@pytest.mark.parametrize("turning", [0.0, 1.0])
@pytest.mark.parametrize("solver", ["direct", "pgs"])
@pytest.mark.parametrize("precision, variant", [("float64", "scalar"), ("float32", "lanes")])
def test_each_environment_does_what_it_does_alone(precision, variant, solver, turning):
    """On one thread and on two, beside five others and beside none."""
    options = {"precision": precision, "variant": variant, "solver": solver}
    scene = ContactScene(
        solids=SOLIDS, restitution=0.3, torsional_friction=0.003 * turning, rolling_friction=0.001 * turning
    )
    many = result(started(simulation(scene, environments=COUNT, **options), 0))
    assert np.isfinite(many).all() and np.abs(np.diff(many, axis=1)).max() > 0.1
    for number in (1, 4):
        alone = result(started(simulation(scene, **options), number))
        np.testing.assert_array_equal(alone[:, 0], many[:, number])


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize(
    "scene", [chain(0), tree(6), tree(11, "loop"), jammed_arm(1.0)], ids=["chain", "tree", "loop", "jam"]
)
def test_jointed_bodies_do_what_they_do_alone(scene, precision, solver):
    """Some land, or are moved apart, while others of the same lanes are in flight."""
    options = {"precision": precision, "solver": solver, "variant": "lanes"}
    many = simulation(scene, environments=COUNT, **options)
    velocities = np.random.default_rng(0).normal(scale=0.5, size=(COUNT, len(many.joint_names)))
    many.set_state(joint_velocity=velocities)
    together = result(many)
    assert many.failures() == []
    for number in (0, 2, 5):
        one = simulation(scene, **options)
        one.set_state(joint_velocity=velocities[[number]])
        np.testing.assert_array_equal(result(one)[:, 0], together[:, number])


def first_beside(scene: wa.Scene, own: int, others: int, **options) -> np.ndarray:
    """The state of environment 0 twenty steps after `own` steps, beside others that have made `others` by then."""
    settings = wa.SolverSettings(dt=DT, variant="lanes", precision="float32", **options)
    one = wa.Simulation(scene, environments=COUNT, settings=settings)
    times = {}
    for step in range(max(own, others) + 1):
        times[step] = one.snapshot() if step in (own, others) else None
        one.step()
    one.apply(times[others])
    one.apply(times[own], environments=[0])
    one.step(20)
    assert one.failures() == []
    return np.concatenate([piece.values.numpy()[:, 0] for piece in one.snapshot().pieces if piece.name != "clock"])


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("kind, seed", [("", 1), ("mimic", 2), ("loop", 3)])
def test_neighbours_at_other_times_of_the_motion_change_nothing(kind, seed, solver):
    """Joints with friction, limits and mimic joints, of what is in the air beside what lies, and the other way round.

    The guess from which the direct solver begins is that without contacts where there are none; and what moves overlaps
    apart in some environments leaves the others.
    """
    scene = wa.read_stage(open_text(tree(seed, kind).usd))
    friction = Friction(static_effort=0.1, dynamic_effort=0.05)
    rough = [trees.with_dofs(one, friction=friction) if one.joints else one for one in scene.articulations]
    for one in (scene, replace(scene, articulations=tuple(rough))):
        for own in (0, 60):
            wanted = first_beside(one, own, own, solver=solver)
            for others in (0, 70, 110):
                np.testing.assert_array_equal(first_beside(one, own, others, solver=solver), wanted)


def test_an_impact_is_forgotten_when_its_point_has_gone():
    """`contact_impact` is of the last step, whether or not a neighbour has shapes near each other."""
    ball = sphere("ball", 0.1, (0.0, 0.0, 0.15), velocity=(0.0, 0.0, -20.0))
    one = simulation(ContactScene(solids=[ball], restitution=0.9))
    seen = []
    for _ in range(24):
        one.step()
        seen.append(float(one.state.contact_impact.numpy().max()))
    assert sum(seen) == 1.0 and seen[-1] == 0.0
