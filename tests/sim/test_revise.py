"""Another scene in the middle of a run: numbers are written in place, other structure goes on from what stayed."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.solver.test_sleep import elsewhere
from warp_artic import DescriptionError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.description.track import Track
from warp_artic.sim.revise import revise

SETTINGS = SolverSettings()
DRIVE = Drive(stiffness=40.0, damping=4.0, position_target=0.3)


def arm(links=3, limit=None, **drive):
    """Rods on drives."""
    return trees.with_dofs(trees.chain(links), drive=replace(DRIVE, **drive), limit=limit)


def simulate(*articulations, environments=2, settings=SETTINGS, **scene):
    return Simulation(trees.scene(*articulations, **scene), environments=environments, settings=settings)


def revised(simulation, *articulations, **scene):
    return revise(simulation, trees.scene(*articulations, **scene), SETTINGS)


def motion(simulation):
    """Positions, then velocities, by environment."""
    parts = simulation.snapshot(("joint_position", "joint_velocity", "root_pose", "root_velocity"))
    return np.concatenate([piece.values.numpy() for piece in parts.pieces])


def with_last_link(tree, **changes):
    return replace(tree, links=(*tree.links[:-1], replace(tree.links[-1], **changes)))


def with_frame(tree):
    joints = list(tree.joints)
    joints[1] = replace(joints[1], parent_frame=replace(joints[1].parent_frame, position=(0.1, 0.0, -0.4)))
    return replace(tree, joints=tuple(joints))


LIMIT = Limit(lower=-1.0, upper=1.0)
CHANGES = {
    "stiffness": (arm(), arm(stiffness=90.0)),
    "target": (arm(), arm(position_target=-0.2)),
    "limit": (arm(limit=LIMIT), arm(limit=Limit(lower=-0.05, upper=0.05))),
    "mass": (arm(), with_last_link(arm(), mass=4.0)),
    "inertia": (arm(), with_last_link(arm(), inertia=(0.3, 0.0, 0.0, 0.3, 0.0, 0.1), center_of_mass=(0.0, 0.1, 0.0))),
    "frame": (arm(), with_frame(arm())),
    "friction and armature": (arm(), trees.with_dofs(arm(), armature=0.4)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_numbers_are_written(name):
    """It goes on as a simulation of the other scene from the same state, bitwise; the object stays."""
    old, new = CHANGES[name]
    simulation, fresh = simulate(old), simulate(new)
    for one in (simulation, fresh):
        one.set_state(joint_position=[0.4, -0.3, 0.1], joint_velocity=[0.0, 1.0, -1.0])
    simulation.control.joint_effort.numpy()[1] = fresh.control.joint_effort.numpy()[1] = 0.5
    assert revised(simulation, new) is simulation
    assert simulation.model_hash == fresh.model_hash
    for one in (simulation, fresh):
        one.step(60)
    assert (motion(simulation) == motion(fresh)).all() and (motion(simulation) != motion(simulate(old))).any()
    simulation.reset()
    assert (motion(simulation) == motion(simulate(new))).all()


def test_only_what_differs_is_written():
    """Values that a user gave to environments stay, also of the same array."""
    simulation = simulate(arm())
    simulation.parameters.drive_stiffness.numpy()[:, 1] = [1.0, 2.0, 3.0]
    simulation.parameters.drive_damping.numpy()[:, 0] = 7.0
    other = arm()
    dofs = replace(other.joints[1].dofs[0], drive=replace(DRIVE, stiffness=90.0))
    joints = (other.joints[0], replace(other.joints[1], dofs=(dofs,)), other.joints[2])
    assert revised(simulation, replace(other, joints=joints)) is simulation
    np.testing.assert_array_equal(simulation.parameters.drive_stiffness.numpy(), [[40, 1], [90, 90], [40, 3]])
    np.testing.assert_array_equal(simulation.parameters.drive_damping.numpy()[:, 0], 7.0)


def test_one_of_equal_articulations():
    """Those that share arrays keep their own numbers; gravity is that of all."""
    simulation = simulate(arm(), elsewhere(arm(), "/World/arm"))
    assert revised(simulation, arm(), elsewhere(arm(stiffness=90.0), "/World/arm"), gravity=(0.0, 0.0, -1.0))
    fresh = simulate(arm(), elsewhere(arm(stiffness=90.0), "/World/arm"), gravity=(0.0, 0.0, -1.0))
    for one in (simulation, fresh):
        one.step(60)
    assert (motion(simulation) == motion(fresh)).all()


def test_the_same_scene_changes_nothing():
    """Nor does it wake what sleeps."""
    settings = SolverSettings(sleep_after=0.4)
    simulation = simulate(arm(), settings=settings)
    simulation.put_to_sleep()
    assert revise(simulation, trees.scene(arm()), settings) is simulation and simulation.asleep().all()
    assert revise(simulation, trees.scene(arm(stiffness=41.0)), settings) is simulation
    assert not simulation.asleep().any()


def test_tracks():
    """What the stage gives over time is followed anew; what a user put in stays."""
    track, other = (Track(times=(0.0, 1.0), values=(0.0, end)) for end in (0.4, -0.4))
    simulation = simulate(arm(position_track=track))
    keys = sorted(simulation.target_tracks)
    simulation.target_tracks[keys[2]] = other
    assert revised(simulation, arm(position_track=other)) is simulation
    assert [simulation.target_tracks[key] for key in keys] == [other] * 3
    assert revised(simulation, arm(position_target=0.25)) is simulation
    assert not simulation.target_tracks
    simulation.step()
    assert (simulation.control.drive_position_target.numpy() == np.float32(0.25)).all()


def two(first, second):
    return first, elsewhere(second, "/World/arm")


def test_a_link_less_and_one_more():
    """An articulation that has not changed goes on bitwise; dofs that stay go on from where they are."""
    simulation, undisturbed = simulate(*two(arm(), arm())), simulate(*two(arm(), arm()))
    for one in (simulation, undisturbed):
        one.parameters.drive_damping.assign(np.full((6, 2), 3.0, np.float32))
        one.step(40)
    before = motion(simulation)
    less = revised(simulation, *two(arm(2), arm()))
    assert less is not simulation and less.steps_done == 40 and less.time == simulation.time
    names = [simulation.joint_names.index(name) for name in less.joint_names]
    assert len(names) == 5
    after = motion(less)
    assert (after[:5] == before[names]).all() and (after[5:] == before[6:][names]).all()
    again = revised(less, *two(arm(), arm()))
    added = [name not in less.joint_names for name in again.joint_names]
    assert sum(added) == 1 and (motion(again)[:6][~np.array(added)] == after[:5]).all()
    assert not motion(again)[:6][added].any()
    for one in (again, undisturbed):
        one.step(60)
    kept = [again.joint_names.index(name) for name in again.joint_names if name.startswith("/World/arm")]
    there = [undisturbed.joint_names.index(again.joint_names[row]) for row in kept]
    assert (motion(again)[:6][kept] == motion(undisturbed)[:6][there]).all()
    assert (clock(again)[1] == clock(undisturbed)[1]).all() and again.steps_done == 100


def clock(simulation):
    (piece,) = (piece for piece in simulation.snapshot("history").pieces if piece.name == "clock")
    return piece.values.numpy()


def test_a_link_that_comes_loose():
    """Without its joint it keeps pose and velocity, far from the world origin too."""
    tree = arm()
    place = replace(tree.joints[0].parent_frame, position=(200.0, 0.0, 0.0))
    tree = replace(tree, joints=(replace(tree.joints[0], parent_frame=place), *tree.joints[1:]))
    simulation = simulate(tree)
    simulation.step(80)
    before = simulation.snapshot(("link_pose", "link_velocity"))
    held = replace(tree, links=tree.links[:2], joints=tree.joints[:2])
    loose = Articulation(path=tree.links[2].path, links=(tree.links[2],), joints=())
    apart = revised(simulation, held, loose)
    after = apart.snapshot(("link_pose", "link_velocity"))
    poses = [
        one.link_pose.numpy() + np.pad(o.link_origins, ((0, 0), (0, 4)))[..., None]
        for one, o in ((before, simulation), (after, apart))
    ]
    np.testing.assert_allclose(poses[1], poses[0], rtol=0.0, atol=3e-5)
    np.testing.assert_allclose(after.link_velocity.numpy(), before.link_velocity.numpy(), rtol=0.0, atol=1e-5)
    assert np.abs(before.link_velocity.numpy()[2]).max() > 0.1


def test_other_settings():
    """Those of the stage build anew, and the motion goes on."""
    simulation = simulate(arm())
    simulation.step(40)
    other = revise(simulation, trees.scene(arm()), SolverSettings(dt=1e-3))
    assert other is not simulation and other.settings.dt == 1e-3
    assert (motion(other) == motion(simulation)).all()


def test_controls_that_stay():
    """Targets that a user gave, unless the stage gives others; efforts and forces on links."""
    simulation = simulate(arm())
    simulation.control.drive_position_target.numpy()[:] = [[1.0], [2.0], [3.0]]
    simulation.control.joint_effort.numpy()[:] = [[4.0], [5.0], [6.0]]
    simulation.control.link_external_force.numpy()[:, 2] = [[7.0], [8.0], [9.0]]
    longer = arm(4)
    dofs = replace(longer.joints[1].dofs[0], drive=replace(DRIVE, position_target=0.9))
    joints = (longer.joints[0], replace(longer.joints[1], dofs=(dofs,)), *longer.joints[2:])
    other = revised(simulation, replace(longer, joints=joints))
    np.testing.assert_allclose(other.control.drive_position_target.numpy()[:, 0], [1.0, 0.9, 3.0, 0.3], rtol=1e-6)
    np.testing.assert_array_equal(other.control.joint_effort.numpy()[:, 1], [4.0, 5.0, 6.0, 0.0])
    np.testing.assert_array_equal(other.control.link_external_force.numpy()[:, 2, 1], [7.0, 8.0, 9.0, 0.0])


def test_a_broken_scene_is_refused():
    """And the simulation goes on as it was."""
    simulation = simulate(arm())
    before = simulation.scene
    with pytest.raises(DescriptionError):
        revised(simulation, with_last_link(arm(), mass=-1.0))
    assert simulation.scene is before


def test_a_floating_base():
    """Its pose and velocity stay where the tree grows."""
    short, long = (trees.chain(links, floating=True) for links in (2, 3))
    simulation = simulate(short)
    simulation.set_state(root_velocity=[1.0, 0.0, 2.0, 0.0, 3.0, 0.0])
    simulation.step(30)
    other = revised(simulation, long)
    for name in ("root_pose", "root_velocity"):
        before, after = (getattr(one.snapshot(name), name).numpy() for one in (simulation, other))
        np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-6)
