"""Mechanisms that float and that loop joints close, however they are cut into articulations: momenta and energy."""

from dataclasses import replace

import numpy as np
import pytest

from tests.closed_mechanisms import DOWN
from tests.rings import motion_of_whole, ring, throw
from warp_artic import Simulation, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Axis
from warp_artic.description.scene import Scene

QUANTITIES = ("energy", "link_pose", "link_velocity", "loop_error")


def run(scene: Scene, hertz: int, speed: float, seconds: float = 4.0, is_flat: bool = True, **settings):
    """The recording of a ring that is thrown, from the end of the first step on, which brings its loops together."""
    options = {"dt": 1.0 / hertz, "precision": "float64"} | settings
    one = Simulation(scene, settings=SolverSettings(**options))
    throw(one, speed, 2, is_flat)
    one.step()
    found = one.record(round(seconds * hertz) - 1, quantities=QUANTITIES)
    assert not one.failures()
    return found


def deviations(found, scene: Scene) -> tuple[float, float, float]:
    """How far the momentum, the angular momentum and the centre of mass are from those that weights leave."""
    center, momentum, spin = motion_of_whole(found, scene)
    time = found.time[:, None] - found.time[0]
    g, mass = np.array(scene.gravity), sum(link.mass for one in scene.articulations for link in one.links)
    paths = center[0] + momentum[0] / mass * time + 0.5 * g * time**2
    return (
        np.abs(momentum - momentum[0] - mass * g * time).max() / np.abs(momentum[0]).max(),
        np.abs(spin - spin[0]).max() / np.abs(spin[0]).max(),
        np.abs(center - paths).max(),
    )


@pytest.mark.parametrize("hertz, speed", [(60, 5.0), (240, 1.0)])
@pytest.mark.parametrize("parts", [1, 2, 4, 8])
def test_weights_alone_leave_energy_and_momenta(parts, hertz, speed):
    """A ring of one articulation reached any energy at 60 Hz, and lost 2 % of its momentum where it turned slowly."""
    scene = ring(8, parts, gravity=DOWN)
    found = run(scene, hertz, speed)
    kinetic, total = found.energy[:, 0, 0], found.energy[:, 0].sum(axis=1)
    momentum, spin, path = deviations(found, scene)
    assert (total - total[0]).max() < 1e-8 * kinetic[0]
    assert (total - total[0]).min() > (-0.3 if hertz == 60 else -1e-8) * kinetic[0]
    assert max(momentum, spin, path) < 1e-9
    assert np.abs(found.loop_error).max() < 1e-5


@pytest.mark.parametrize("hertz", [60, 240])
def test_balls_between_bodies_leave_them_too(hertz):
    scene = ring(6, 6, gravity=DOWN, is_flat=False)
    found = run(scene, hertz, 5.0, is_flat=False)
    total = found.energy[:, 0].sum(axis=1)
    momentum, spin, path = deviations(found, scene)
    np.testing.assert_allclose(total, total[0], atol=1e-8 * found.energy[0, 0, 0])
    assert max(momentum, spin, path) < 1e-9


@pytest.mark.parametrize("act", [{"friction": Friction(viscous=0.01)}, {"drive": Drive(stiffness=0.5, damping=0.02)}])
@pytest.mark.parametrize("parts", [1, 2])
def test_drives_and_friction_leave_the_momenta(parts, act):
    """What joints do is within it: of a ring that turned fast at 60 Hz friction had taken most of the momentum."""
    scene = ring(8, parts, gravity=DOWN, **act)
    found = run(scene, 60, 5.0)
    momentum, spin, path = deviations(found, scene)
    assert max(momentum, spin, path) < 1e-9
    sums = found.energy[:, 0].sum(axis=1)
    assert (sums - sums[0]).max() < 0.05 * found.energy[0, 0, 0]


def test_friction_between_bodies_leaves_the_momenta():
    axes = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
    acts = {"frictions": tuple((axis, Friction(viscous=0.01)) for axis in axes)}
    scene = ring(6, 6, gravity=DOWN, is_flat=False, axes=acts)
    found = run(scene, 60, 5.0, is_flat=False)
    momentum, spin, path = deviations(found, scene)
    assert max(momentum, path) < 1e-9 and spin < 1e-5  # some steps turn by less than 0.02 rad
    total = found.energy[:, 0].sum(axis=1)
    assert np.diff(total).max() < 1e-3 * found.energy[0, 0, 0] and total[-1] < total[0]


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_motion_does_not_depend_on_where_it_is_cut(cut):
    """One second of a ring of one articulation, and of several with the same velocities of their links."""
    whole, parts = ring(8, 1), ring(8, cut)
    settings = SolverSettings(dt=1.0 / 960, precision="float64")
    first = Simulation(whole, settings=settings)
    throw(first, 0.5, 3)
    first.step()
    start = first.record(1, quantities=("link_pose", "link_velocity", "joint_position", "joint_velocity"))
    second = Simulation(parts, settings=settings)
    own = 8 // cut
    joints = [k for k in range(7) if (k + 1) % own]
    second.set_state(
        joint_position=start.joint_position[-1, 0, joints],
        joint_velocity=start.joint_velocity[-1, 0, joints],
        root_pose=start.link_pose[-1, 0, ::own],
        root_velocity=start.link_velocity[-1, 0, ::own],
    )
    one = first.record(960, quantities=("link_pose",)).link_pose[:, 0]
    other = second.record(960, quantities=("link_pose",)).link_pose[:, 0]
    np.testing.assert_allclose(one[..., :3], other[..., :3], atol=2e-5)


@pytest.mark.parametrize("variant", ["scalar", "lanes"])
def test_environments_do_not_see_each_other(variant):
    scene = ring(8, 2, friction=Friction(viscous=0.01))
    rng = np.random.default_rng(5)
    count = 20
    start = {
        "joint_velocity": 5.0 * rng.normal(size=(count, 6)),
        "root_velocity": 5.0 * rng.normal(size=(count, 2, 6)) * [0.1, 0.1, 0.0, 0.0, 0.0, 1.0],
    }
    settings = SolverSettings(dt=1.0 / 60, variant=variant)
    many = Simulation(scene, environments=count, settings=settings)
    many.set_state(**start)
    together = many.record(60, quantities=("link_pose",)).link_pose
    for k in (0, 7, 19):
        one = Simulation(scene, settings=settings)
        one.set_state(**{name: values[[k]] for name, values in start.items()})
        np.testing.assert_array_equal(one.record(60, quantities=("link_pose",)).link_pose[:, 0], together[:, k])


def test_a_loop_that_is_broken_leaves_the_momenta():
    """It breaks in the first steps; what is left is an open chain, with friction in its joints."""
    scene = ring(8, 1, friction=Friction(viscous=0.01))
    (tree,) = scene.articulations
    loops = tuple(replace(loop, break_force=1.0) for loop in tree.constraints)
    found = run(replace(scene, articulations=(replace(tree, constraints=loops),)), 60, 2.0)
    momentum, spin, _path = deviations(found, scene)
    assert max(momentum, spin) < 1e-9
