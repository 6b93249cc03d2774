"""Another scene in the middle of a run: numbers are written in place, other structure goes on from what stayed."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.solver.sleeping_arms import elsewhere
from warp_artic import DescriptionError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import FixedTendon
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


EXACT = SolverSettings(precision="float64")
LIGHT = 1e-9
"""[kg] of a link that is too light to be felt."""


def light(path, **changes):
    """A link that is not felt."""
    return Link(path=path, mass=LIGHT, inertia=(LIGHT, 0.0, 0.0, LIGHT, 0.0, LIGHT), **changes)


def with_dof(tree, row, **changes):
    """A tree with a dof that is another."""
    joints, count = [], 0
    for joint in tree.joints:
        dofs = tuple(replace(dof, **changes) if count + k == row else dof for k, dof in enumerate(joint.dofs))
        joints.append(replace(joint, dofs=dofs))
        count += len(dofs)
    return replace(tree, joints=tuple(joints))


def walker():
    """A floating tree with hinges, a ball, and a D6 joint that slides and turns; drives on all but the last joint."""
    rng = np.random.default_rng(6)
    kinds = {"revolute_x": 1, "spherical": 3, "slide_ball": 4, "prismatic_y": 1}
    tree = trees.random_articulation(rng, 1, floating=True)
    for number, kind in enumerate(kinds):
        path = f"{tree.path}/part{number}"
        axes = {**trees.JOINT_KINDS, **trees.FREER_KINDS}[kind]
        names = [f"{path}_joint" + (f":{axis.value}" if len(axes) > 1 else "") for axis in axes]
        drive = Drive(stiffness=20.0, damping=0.5) if number < 3 else None
        dofs = tuple(Dof(name=name, axis=axis, drive=drive) for name, axis in zip(names, axes))
        ends = {"parent": number, "child": number + 1, "parent_frame": Pose((0.2, 0.1, -0.3))}
        joint = Joint(path=f"{path}_joint", child_frame=Pose((-0.1, 0.0, 0.2)), dofs=dofs, **ends)
        link = replace(tree.links[0], path=path)
        tree = replace(tree, links=(*tree.links, link), joints=(*tree.joints, joint))
    return tree


def with_leaf(tree):
    """A link more, on a hinge on the last one."""
    dof = Dof(name="/World/leaf_joint", axis=Axis.ROT_Y)
    joint = Joint(path="/World/leaf_joint", parent=len(tree.links) - 1, child=len(tree.links), dofs=(dof,))
    return replace(tree, links=(*tree.links, light("/World/leaf")), joints=(*tree.joints, joint))


def with_tendon(tree):
    """A tendon that does nothing, on the first and the last dof."""
    ends = {"dofs": (0, len(tree.dofs) - 1), "coefficients": (1.0, 1.0), "force_coefficients": (1.0, 1.0)}
    return replace(tree, fixed_tendons=(FixedTendon(name="/World/tendon", **ends),))


ADDED = {
    "link": with_leaf,
    "drive": lambda tree: with_dof(tree, len(tree.dofs) - 1, drive=Drive(stiffness=1e-9, max_force=5.0)),
    "limit": lambda tree: with_dof(tree, len(tree.dofs) - 1, limit=Limit(lower=-99.0, upper=99.0)),
    "tendon": with_tendon,
    "link of another tree": lambda tree: tree,
}


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("make", [lambda: with_dof(arm(), 2, drive=None), walker], ids=["arm", "walker"])
def test_what_is_added_without_effect_changes_nothing(make, name):
    """A run goes on as without it, to rounding: motion, accelerations of before, efforts, targets and parameters."""
    tree, other = make(), elsewhere(arm(), "/World/arm")
    runs = [simulate(tree, other, settings=EXACT) for _ in range(2)]
    rng = np.random.default_rng(2)
    v, effort = rng.normal(size=(2, len(runs[0].joint_names)))
    for one in runs:
        one.set_state(joint_velocity=v)
        one.set_values("joint_effort", effort, environments=[1])
        one.set_values("drive_position_target", 0.1 * effort)
        one.set_values("armature", [0.3] * len(v), environments=[0])
        one.set_values("link_mass", [3.0] * len(one.link_names), environments=[1])
        one.step(40)
    plain, edited = runs
    after = ADDED[name](tree), with_leaf(other) if name == "link of another tree" else other
    edited, before = revise(edited, trees.scene(*after), EXACT), edited
    assert edited is not before and edited.steps_done == 40
    rows = [edited.joint_names.index(name) for name in plain.joint_names]
    authored = [plain.joint_names.index(tree.dofs[-1].name)] if name == "drive" else []
    for part in ("joint_position", "joint_velocity", "joint_effort", "drive_position_target", "armature"):
        old, new = (getattr(one.snapshot(part), part).numpy() for one in (plain, edited))
        if part == "drive_position_target":  # a new drive follows what is authored
            old[authored] = 0.0
        assert (new[rows] == old).all(), part
    for part in ("root_pose", "root_velocity") if plain.root_names else ():
        old, new = (getattr(one.snapshot(part), part).numpy() for one in (plain, edited))
        assert (new == old).all(), part
    for steps in (1, 60):
        for one in (plain, edited):
            one.step(steps)
        np.testing.assert_allclose(positions(edited)[rows], positions(plain), rtol=0.0, atol=1e-8)
    assert np.abs(positions(plain)).max() > 0.1


def positions(simulation):
    """Positions of joints, by environment."""
    return simulation.snapshot("joint_position").joint_position.numpy()


def accelerations(simulation):
    """Those that steps remember of dofs of joints, by name."""
    (member,) = simulation.run.members
    roots, dofs = member.group.tree.root_dofs, member.group.tree.dof_count
    names = ("smooth_acceleration", "acceleration_change")
    rows = np.concatenate([member.group.state[name].scalars.numpy()[:, :2] for name in names])
    rows = rows.reshape(3, dofs, 2)
    names = [dof.name for dof in simulation.scene.articulations[0].dofs]
    return {"root": rows[:, :roots]} | {name: rows[:, roots + row] for row, name in enumerate(names)}


@pytest.mark.parametrize("make", [lambda: trees.chain(3), walker], ids=["arm", "walker"])
def test_accelerations_of_before_stay(make):
    """Bitwise, of what was there, where a link, a drive or a tendon comes, and where the link goes again."""
    simulation = simulate(make(), settings=EXACT)
    simulation.set_state(joint_velocity=np.linspace(-1.0, 1.0, len(simulation.joint_names)))
    simulation.step(20)
    expected = accelerations(simulation)
    driven = Drive(stiffness=3.0, max_force=1.0)
    for change in (with_leaf, with_tendon, lambda tree: with_dof(tree, 0, drive=driven), lambda tree: tree):
        simulation = revise(simulation, trees.scene(change(make())), EXACT)
        found = accelerations(simulation)
        for name, values in expected.items():
            assert (found[name] == values).all() and (values.size == 0 or np.abs(values).max() > 0.0), name
        assert not np.any(found.get("/World/leaf_joint", 0.0))


def test_values_that_a_user_gave_to_joined_articulations_stay():
    """Of two that a loop joint makes one mechanism: masses and damping of both, where a link comes to the first."""
    tree, other = (elsewhere(arm(links), f"/World/arm_{links}") for links in (2, 3))
    ends = {"link0": 1, "link1": 2, "articulation1": other.path, "frame0": Pose((0.0, 0.0, 0.5))}
    loop = LoopJoint(name="/World/loop", free=tuple(Axis)[1:], **ends)
    simulation = simulate(replace(tree, constraints=(loop,)), other, settings=EXACT)
    masses, damping = np.arange(1.0, 6.0), np.arange(11.0, 16.0)
    simulation.set_values("link_mass", masses, environments=[1])
    simulation.set_values("drive_damping", damping, environments=[0])
    grown = revise(simulation, trees.scene(replace(with_leaf(tree), constraints=(loop,)), other), EXACT)
    assert grown is not simulation
    links, joints = (
        [getattr(grown, name).index(one) for one in getattr(simulation, name)] for name in ("link_names", "joint_names")
    )
    found = grown.snapshot(("link_mass", "drive_damping"))
    np.testing.assert_array_equal(found.link_mass.numpy()[links, 1], masses)
    np.testing.assert_array_equal(found.link_mass.numpy()[links, 0], np.ones(5))
    np.testing.assert_array_equal(found.drive_damping.numpy()[joints, 0], damping)
    np.testing.assert_array_equal(found.drive_damping.numpy()[joints, 1], np.full(5, DRIVE.damping))


def test_what_violent_steps_have_given_stays():
    """Of each tree of a mechanism, though edits come in between; a new tree has got nothing."""
    tree, other, third = (elsewhere(arm(), f"/World/arm_{k}") for k in range(3))
    scenes = [(tree, other), (with_leaf(tree), other, third), (third, other, tree)]
    scenes = [replace(trees.scene(*own), mechanisms=(tuple(one.path for one in own),)) for own in scenes]
    simulation = Simulation(scenes[0], environments=2, settings=EXACT)
    (group,) = simulation.run.groups
    group.field("energy_gain").scalars.assign(np.array([[0.5, 0.6], [0.7, 0.8]]))
    for scene, expected in zip(scenes[1:], ([[0.5, 0.6], [0.7, 0.8], [0, 0]], [[0, 0], [0.7, 0.8], [0.5, 0.6]])):
        simulation = revise(simulation, scene, EXACT)
        (group,) = simulation.run.groups
        np.testing.assert_array_equal(group.field("energy_gain").scalars.numpy(), expected)


def places(simulation, *paths):
    """World poses and velocities of links, shape (links, 13, environments)."""
    parts = simulation.snapshot(("link_pose", "link_velocity"))
    poses = parts.link_pose.numpy() + np.pad(simulation.link_origins, ((0, 0), (0, 4)))[..., None]
    found = np.concatenate([poses, parts.link_velocity.numpy()], axis=1)
    found[:, 3:7] *= np.sign(found[:, 6:7])
    return found[[simulation.link_names.index(path) for path in paths]]


def test_a_link_that_carries_others_is_added():
    """A new floating root is placed such that the old one, and all that it carries, keep their poses and velocities."""
    tree = walker()
    simulation = simulate(tree, settings=EXACT)
    rng = np.random.default_rng(3)
    simulation.set_state(joint_velocity=rng.normal(size=(2, len(tree.dofs))), root_velocity=rng.normal(size=(2, 6)))
    simulation.step(50)
    axes = Axis.ROT_X, Axis.ROT_Y
    dofs = tuple(Dof(name=f"/World/new:{axis.value}", axis=axis, position=0.3, velocity=0.7) for axis in axes)
    frames = {"parent_frame": Pose((0.3, 0.0, 0.2)), "child_frame": Pose((0.0, 0.5, 0.0), (0.5, 0.5, 0.5, 0.5))}
    count = len(tree.links)
    joint = Joint(path="/World/new", parent=count, child=0, dofs=dofs, **frames)
    carrier = light("/World/carrier", center_of_mass=(0.1, 0.2, 0.3))
    grown = replace(tree, links=(*tree.links, carrier), joints=(*tree.joints, joint))
    other = revise(simulation, trees.scene(grown), EXACT)
    paths = [link.path for link in tree.links]
    np.testing.assert_allclose(places(other, *paths), places(simulation, *paths), rtol=0.0, atol=1e-12)
    rows = [other.joint_names.index(dof.name) for dof in dofs]
    assert (positions(other)[rows] == 0.3).all()
    back = revise(other, trees.scene(tree), EXACT)
    np.testing.assert_allclose(places(back, *paths), places(simulation, *paths), rtol=0.0, atol=1e-12)


JOINED = {"hinge": (Axis.ROT_Y,), "table": (Axis.TRANS_X, Axis.TRANS_Z, Axis.ROT_Y), "free": tuple(Axis)}


@pytest.mark.parametrize("direction", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("name", JOINED)
def test_a_joint_between_links_that_were_there(name, direction):
    """It starts where they are, as far as its axes let it: here they do, as links move in a plane."""
    tree = arm(3)
    names = [f"/World/new{'' if name == 'hinge' else ':' + axis.value}" for axis in JOINED[name]]
    dofs = tuple(Dof(name=own, axis=axis) for own, axis in zip(names, JOINED[name]))
    kept = replace(tree, links=tree.links[:2], joints=tree.joints[:2])
    loose = Articulation(path=tree.links[2].path, links=(tree.links[2],), joints=())
    simulation = simulate(kept, loose, settings=EXACT)
    whole = simulate(tree, settings=EXACT)
    whole.set_state(joint_position=[0.4, -0.3, 0.8], joint_velocity=[[1.0, -2.0, 0.5], [0.5, 0.1, 3.0]])
    apart = revise(whole, trees.scene(kept, loose), EXACT)
    joint = replace(tree.joints[2], path="/World/new", dofs=dofs, reversed=direction)
    assert simulation.link_names == apart.link_names
    joined = revise(apart, trees.scene(replace(tree, joints=(*tree.joints[:2], joint))), EXACT)
    paths = [link.path for link in tree.links]
    np.testing.assert_allclose(places(joined, *paths), places(whole, *paths), rtol=0.0, atol=1e-12)
    row = joined.joint_names.index(names[-1] if name != "free" else "/World/new:rotY")
    sign = -1.0 if direction else 1.0
    assert positions(joined)[row] == pytest.approx(sign * 0.8, abs=1e-12)


def test_a_floating_tree_is_put_on_the_world():
    """By a hinge through where it is: links stay where they are, and turn as they did about the hinge."""
    tree = trees.chain(3, floating=True)
    simulation = simulate(tree, settings=EXACT, gravity=(0.0, 0.0, 0.0))
    axis_speed = [0.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    simulation.set_state(root_velocity=axis_speed)
    simulation.step(30)
    root = tree.links[0]
    hinge = Joint(
        path="/World/on", parent=WORLD, child=0, parent_frame=root.pose, dofs=(Dof(name="/World/on", axis=Axis.ROT_Y),),
        child_frame=Pose(root.center_of_mass),
    )  # fmt: skip
    center = root.pose.apply(root.center_of_mass)
    hinge = replace(hinge, parent_frame=Pose(tuple(center), root.pose.quaternion))
    held = revise(simulation, trees.scene(replace(tree, joints=(hinge, *tree.joints)), gravity=(0.0, 0.0, 0.0)), EXACT)
    now, before = (places(one, root.path)[0] for one in (held, simulation))
    np.testing.assert_allclose(now[3:7], before[3:7], atol=1e-12)
    np.testing.assert_allclose(now[10:], before[10:], atol=1e-12)
    assert np.abs(before[10:]).max() > 1.0
