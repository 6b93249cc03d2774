"""Forces by joints on links: closed forms, and Newton's law of all that is beyond a joint."""

import math
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.busy_mechanisms import busy_tree
from tests.oracles import rigid
from tests.oracles.simulated_state import put, state_of
from tests.step_taken import StepTaken, disturb
from warp_artic import IncomingForces, SettingsError, Simulation
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, matrix_from_quaternion, quaternion_from_rotation_vector
from warp_artic.usd.write_incoming_forces import write_incoming_forces

H = 1 / 240

simulate = partial(simulations.simulate, gravity=(0.0, -10.0, 0.0), variant="scalar")


def incoming(simulation, steps=1):
    """Forces and torques after some steps, shape (L, 6)."""
    return simulation.record(steps, forces=True).link_incoming_joint_force[-1, 0]


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_they_move_what_is_beyond_the_joint(solver, integrator):
    """In a tree with every joint type, every family at work, and wrenches on all links; a root that floats has none."""
    rng = np.random.default_rng(4)
    # In substeps of a midpoint step the axes of ball joints at stops turn each time.
    tree = busy_tree(rng, balls=(solver, integrator) != ("tgs", "midpoint"))
    free = {"max_linear_velocity": math.inf, "max_angular_velocity": math.inf}
    tree = trees.replace(tree, links=tuple(trees.replace(link, **free) for link in tree.links), **free)
    simulation = simulate(tree, gravity=rigid.GRAVITY, solver=solver, integrator=integrator, precision="float64")
    _efforts, wrench = disturb(rng, simulation)
    for k in range(6):
        taken = StepTaken(simulation)
        if solver == "tgs" and k == 0 and integrator == "midpoint":
            continue
        found = taken.recording.link_incoming_joint_force[-1, 0]
        pulls = of_distances(tree, taken.placed, taken.recording.distance_force[-1, 0])
        wanted = rigid.incoming_joint_force(taken.placed, taken.acceleration, wrench + pulls)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())
    assert not taken.recording.link_incoming_joint_force[0].any()
    assert_same_in_world_axes(simulation)


def of_distances(tree, placed, forces):
    """What distances push links by, which joints do not transmit: wrenches at centres of mass, shape (L, 6)."""
    wrench = np.zeros((len(tree.links), 6))
    for distance, force in zip(tree.constraints, forces):
        ends = ((distance.link0, distance.position0), (distance.link1, distance.position1))
        x = [placed.p_WL[link] + placed.R_WL[link] @ np.array(position) for link, position in ends]
        push = force * (x[1] - x[0]) / np.linalg.norm(x[1] - x[0])
        for (link, _position), point, own in zip(ends, x, (-push, push)):
            wrench[link] += [*own, *np.cross(point - placed.p_WC[link], own)]
    return wrench


def assert_same_in_world_axes(simulation):
    """The same step once more, with forces in world axes: those of joints turn by where the links are placed."""
    tree = simulation.scene.articulations[0]
    before = state_of(simulation)
    twin = Simulation(simulation.scene, settings=simulation.settings)
    for other in (simulation, twin):
        put(other, before)
        for name in ("joint_effort", "link_external_force"):
            getattr(other.control, name).assign(getattr(simulation.control, name).numpy())
    taken = StepTaken(simulation)
    recording = twin.record(1, forces=IncomingForces(axes="world"))
    assert recording.metadata["incoming_forces"] == {"axes": "world", "tendons": True}
    np.testing.assert_array_equal(recording.joint_velocity[-1], taken.recording.joint_velocity[-1])
    own = taken.recording.link_incoming_joint_force[-1, 0].reshape(-1, 2, 3)
    found = recording.link_incoming_joint_force[-1, 0].reshape(-1, 2, 3)
    if simulation.settings.solver != "tgs" or simulation.settings.integrator != "midpoint":
        wanted = np.einsum("lij,lkj->lki", taken.placed.R_WM, own)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())
    assert not found[tree.inbound.index(None)].any() and np.abs(found - own).max() > 1.0


LENGTH, MASS = 0.9, 1.5
BEAMS = (
    ("link", (0, 20, 5), ((0, 10, -5, 0, 6.75, 0), (0, -5, -5, 0, 2.25, -2.25))),
    ("child", (0, 60, 5), ((0, -30, -5, 0, 2.25, 0), (0, 15, 0, 0, 0, 6.75))),
)
"""On which of two beams a force holds both, the force, and force and torque at hinge and weld, in world axes."""


@pytest.mark.parametrize("pushed, push, wanted", BEAMS)
@pytest.mark.parametrize("axis", [Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z])
@pytest.mark.parametrize("turned", [False, True], ids=["level", "turned"])
def test_two_beams_on_a_hinge_held_by_a_force(pushed, push, wanted, axis, turned):
    """In axes of the child-side joint frames and of the world, about every axis, and however the frames are turned."""
    about = np.array([1.0, 0.1, 5.0]) / np.linalg.norm([1.0, 0.1, 5.0])
    weld = quaternion_from_rotation_vector(math.radians(25.0) * about * turned)
    to_z = {Axis.ROT_X: (0.0, -math.pi / 2, 0.0), Axis.ROT_Y: (math.pi / 2, 0.0, 0.0), Axis.ROT_Z: (0.0, 0.0, 0.0)}
    hinge = quaternion_from_rotation_vector(np.array(to_z[axis]))
    beams = tuple(
        Link(
            path=f"/World/{name}",
            mass=MASS,
            inertia=(0.01, 0.0, 0.0, 0.1, 0.0, 0.1),
            pose=Pose(position=((k + 0.5) * LENGTH, 0.0, 0.0)),
        )
        for k, name in enumerate(("child", "link"))
    )
    joints = (
        Joint(
            path="/World/hinge",
            parent=WORLD,
            child=0,
            parent_frame=Pose(quaternion=hinge),
            child_frame=Pose(position=(-LENGTH / 2, 0.0, 0.0), quaternion=hinge),
            dofs=(Dof(name="/World/hinge", axis=axis),),
        ),
        Joint(
            path="/World/weld",
            parent=0,
            child=1,
            parent_frame=Pose(position=(LENGTH / 2, 0.0, 0.0), quaternion=weld),
            child_frame=Pose(position=(-LENGTH / 2, 0.0, 0.0), quaternion=weld),
        ),
    )
    wrench = np.zeros((2, 6, 1), np.float32)
    wrench[("child", "link").index(pushed), :3, 0] = push
    for forces in (True, IncomingForces(axes="world")):
        simulation = simulate(Articulation(path="/World", links=beams, joints=joints))
        simulation.control.link_external_force.assign(wrench)
        found = simulation.record(10, forces=forces).link_incoming_joint_force[-1, 0]
        for frame, own, expected in zip((hinge, weld), found, wanted):
            R_WJ = matrix_from_quaternion(frame) if forces is True else np.eye(3)
            np.testing.assert_allclose([*(R_WJ @ own[:3]), *(R_WJ @ own[3:])], expected, atol=1e-4)


def world(pose, joint, own):
    """Force and torque in world axes, of a link that stands at a pose."""
    R_WJ = matrix_from_quaternion(pose[3:]) @ matrix_from_quaternion(joint.child_frame.quaternion)
    return np.concatenate([R_WJ @ own[:3], R_WJ @ own[3:]])


def test_a_ladder_at_a_wall():
    """Drake's: two halves, a hinge about Y at the floor with a torque of 20 N m, a smooth wall that one side meets."""
    length, mass, wall, radius, torque, side = 2.0, 7.0, 1.0, 5e-3, 20.0, 0.25
    angle = math.asin((wall - radius) / length)
    height = length * math.cos(angle)
    inertia = (0.2, 0.0, 0.0, 0.2, 0.0, 0.01)
    halves = tuple(Link(path=f"/World/{name}", mass=mass / 2, inertia=inertia) for name in ("lower", "upper"))
    down, up = Pose(position=(0.0, 0.0, -length / 4)), Pose(position=(0.0, 0.0, length / 4))
    hinge = Dof(name="/World/hinge", axis=Axis.ROT_Y, position=angle)
    joints = (
        Joint(path="/World/hinge", parent=WORLD, child=0, child_frame=down, dofs=(hinge,)),
        Joint(path="/World/middle", parent=0, child=1, parent_frame=up, child_frame=down),
    )
    tree = Articulation(path="/World", links=halves, joints=joints)
    simulation = simulate(tree, gravity=(0.0, 0.0, -10.0), precision="float64")
    center = 0.5 * (wall - radius) * np.array([0.5, 1.5]), 0.5 * height * np.array([0.5, 1.5])
    push = (10.0 * mass * 0.5 * (wall - radius) + torque) / height
    contact = np.array([-push, 0.0, 0.0])
    arm = np.array([wall - center[0][1], side, height - center[1][1]])
    simulation.control.link_external_force.assign(
        [np.zeros((6, 1)), [*contact[:, None], *np.cross(arm, contact)[:, None]]]
    )
    simulation.control.joint_effort.assign([[torque]])
    run = simulation.record(3, forces=True)
    assert abs(run.joint_velocity[-1]).max() < 1e-12
    found = [world(run.link_pose[0, 0, k], joints[k], run.link_incoming_joint_force[-1, 0, k]) for k in range(2)]
    np.testing.assert_allclose(found[0], [push, 0, 10.0 * mass, 0, torque, -push * side], rtol=0, atol=1e-9)
    lever = height / 2 * push - 10.0 * mass / 2 * (wall - radius) / 4
    np.testing.assert_allclose(found[1], [push, 0, 10.0 * mass / 2, 0, lever, -push * side], rtol=0, atol=1e-9)


def test_a_load_cell():
    """Welds at any angle carry the weights and the forces on links beyond them, with their moments."""
    rng = np.random.default_rng(8)
    tree = trees.random_articulation(rng, 6, floating=False)
    tree = trees.replace(tree, joints=tuple(trees.replace(joint, dofs=()) for joint in tree.joints))
    parent = {joint.child: joint.parent for joint in tree.joints}
    simulation = simulate(tree, gravity=rigid.GRAVITY, precision="float64")
    wrench = rng.normal(size=(6, 6)) * 5.0
    simulation.control.link_external_force.assign(wrench[..., None])
    run = simulation.record(1, forces=True)
    pose = run.link_pose[0, 0]
    turn = [matrix_from_quaternion(quaternion) for quaternion in pose[:, 3:]]
    for joint in tree.joints:
        k = joint.child
        origin = pose[k, :3] + turn[k] @ joint.child_frame.position
        force, torque = np.zeros(3), np.zeros(3)
        for link in range(6):
            inward = link
            while inward not in (k, WORLD):
                inward = parent[inward]
            if inward == WORLD:
                continue
            place = pose[link, :3] + turn[link] @ tree.links[link].center_of_mass
            push = tree.links[link].mass * np.array(rigid.GRAVITY) + wrench[link, :3]
            force -= push
            torque -= np.cross(place - origin, push) + wrench[link, 3:]
        found = world(pose[k], joint, run.link_incoming_joint_force[-1, 0, k])
        np.testing.assert_allclose(found, [*force, *torque], rtol=0, atol=1e-9 * np.abs(force).max())


def rod(mass=2.0, center=0.35, **dof):
    """A rod on a hinge about Y, with its centre of mass on X."""
    link = Link(
        path="/World/rod", mass=mass, inertia=(0.01, 0.0, 0.0, 0.1, 0.0, 0.1), center_of_mass=(center, 0.0, 0.0)
    )
    hinge = Dof(name="/World/hinge", axis=Axis.ROT_Y, **dof)
    joint = Joint(path="/World/hinge", parent=WORLD, child=0, dofs=(hinge,))
    return Articulation(path="/World/rod", links=(link,), joints=(joint,))


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
def test_a_rod_that_spins_pulls_at_its_hinge(integrator):
    """m r w^2 inward, in axes that turn with the rod."""
    found = incoming(simulate(rod(2.0, 0.35, velocity=7.0), gravity=(0.0, 0.0, 0.0), integrator=integrator), 5)[0]
    np.testing.assert_allclose(found, [-2.0 * 0.35 * 49.0, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-3)


def test_in_world_axes():
    """A rod that spins: its hinge pulls towards itself. The attributes of a stage are in axes of joints."""
    simulation = simulate(rod(2.0, 0.35, velocity=7.0), gravity=(0.0, 0.0, 0.0), integrator="semi_implicit")
    recording = simulation.record(5, forces=IncomingForces(axes="world"))
    out = matrix_from_quaternion(recording.link_pose[-2, 0, 0, 3:])[:, 0]
    wanted = [*(-2.0 * 0.35 * 49.0 * out), 0.0, 0.0, 0.0]
    np.testing.assert_allclose(recording.link_incoming_joint_force[-1, 0, 0], wanted, atol=1e-3)
    with pytest.raises(SettingsError, match="axes is 'world'; to write it, record with forces=True"):
        write_incoming_forces(None, None, recording, 0, None, None, None)
    with pytest.raises(SettingsError, match=r"forces: 'world' is not False, True or IncomingForces"):
        simulation.record(1, forces="world")
    with pytest.raises(SettingsError, match="axes: 'body' is not one of joint, world"):
        IncomingForces(axes="body")
    with pytest.raises(SettingsError, match="tendons: 0 is not True or False"):
        IncomingForces(tendons=0)


def test_along_the_axis_is_what_the_drive_gives_without_the_part_of_the_armature():
    """A drive turns a rod with armature: (I + armature) a = drive, and the joint gives I a."""
    tree = rod(armature=0.4, drive=Drive(stiffness=50.0, damping=1.0, position_target=1.0))
    simulation = simulate(tree, gravity=(0.0, 0.0, 0.0), precision="float64")
    for _ in range(5):
        recording = simulation.record(1, forces=True)
        change = (recording.joint_velocity[1, 0, 0] - recording.joint_velocity[0, 0, 0]) / H
        along = recording.link_incoming_joint_force[-1, 0, 0, 4]
        assert along == pytest.approx(recording.joint_drive_force[-1, 0, 0] - 0.4 * change, rel=1e-10)
        assert abs(change) > 1.0


def test_a_velocity_limit_of_a_link_is_no_force_of_its_joint():
    """Two welded bodies at 1 m/s, the second limited to 0.5: it is slowed from outside, and slows the first."""
    masses = (3.0, 2.0)
    inertia = (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)
    links = tuple(
        Link(
            path=f"/World/link{k}",
            mass=mass,
            inertia=inertia,
            linear_velocity=(1.0, 0.0, 0.0),
            max_linear_velocity=0.5 if k else math.inf,
        )
        for k, mass in enumerate(masses)
    )
    weld = Joint(path="/World/weld", parent=0, child=1)
    simulation = simulate(Articulation(path="/World", links=links, joints=(weld,)), gravity=(0.0, 0.0, 0.0))
    found = incoming(simulation)
    np.testing.assert_allclose(found[1], [0.5 * masses[0] / H, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-3)
    assert not found[0].any()
