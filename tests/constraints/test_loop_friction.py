"""Friction, armature and velocity limits of free axes of loop joints: joints of trees, and closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.loop_pairs import BODY, H, pair, pose_after, released, simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.validate import findings

RX, RY, RZ, TX, TZ = Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z, Axis.TRANS_X, Axis.TRANS_Z
AXES = {
    "hinge": ((RY,), (0.3,), (4.0,)),
    "slide": ((TZ,), (0.1,), (2.0,)),
    "cylinder": ((TX, RX), (0.1, 0.2), (1.0, 3.0)),
    "universal": ((RX, RZ), (0.1, 0.2), (2.0, 1.5)),
    "ball": ((RX, RY, RZ), (0.1, 0.2, -0.1), (2.0, 1.5, -2.5)),
    "swings": ((RY, RZ), (0.3, 0.2), (2.0, 1.5)),
}
SEVERAL = ("ball", "swings")
"""Cases with several rotations that are no angles."""
FEATURES = {
    "dry": {"friction": Friction(static_effort=0.03, dynamic_effort=0.02)},
    "viscous": {"friction": Friction(viscous=0.4)},
    "armature": {"armature": 0.7},
}
FIELDS = {"friction": "frictions", "armature": "armatures", "velocity_limit": "velocity_limits"}


def both(case, feature):
    """The tree and the free body, with the same on each axis."""
    axes, positions, velocities = AXES[case]
    tree, _ = pair(axes, positions, velocities)
    (joint,) = tree.joints
    joint = replace(joint, dofs=tuple(replace(dof, **feature) for dof in joint.dofs))
    tree = replace(tree, joints=(joint,))
    fields = {FIELDS[name]: tuple((axis, value) for axis in axes) for name, value in feature.items()}
    frames = {"frame0": joint.parent_frame, "frame1": joint.child_frame}
    closing = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=axes, **frames, **fields)
    return tree, released(tree, closing)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("case", AXES)
def test_as_the_joint_of_a_tree(case, feature):
    """Both are of second order while what slides does not stop or turn back, so that errors are extrapolated."""
    tree, looped = both(case, FEATURES[feature])
    gravity = (0.0, 0.0, 0.0 if feature == "dry" else -9.81)  # with which the swings would turn back
    exact = pose_after(tree, 8000, 0.3, gravity=gravity)
    coarse, fine = (pose_after(looped, steps, 0.3, gravity=gravity) for steps in (480, 960))
    assert np.abs(fine - exact).max() < 2e-5
    assert np.abs(fine + (fine - coarse) / 3.0 - exact).max() < 1e-6


def sled(velocity=1.0, force=0.0, **loop):
    """A body on a horizontal slide."""
    link = Link(path="/t/body", mass=2.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1), linear_velocity=(velocity, 0.0, 0.0))
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=(TX,), **loop)
    return Articulation(path="/t", links=(link,), joints=(), constraints=(joint,))


def test_a_sled_stops_and_stays():
    """By h times its effort a step, to the step in which it is less, and not beyond."""
    friction = Friction(static_effort=3.0, dynamic_effort=2.0)
    simulation = simulate(sled(frictions=((TX, friction),)))
    speed = 1.0
    for _ in range(300):
        simulation.step(1)
        speed = max(speed - H * 2.0 / 2.0, 0.0) if speed * 2.0 > H * 3.0 else 0.0
        assert simulation.state.link_velocity.numpy().ravel()[0] == pytest.approx(speed, abs=1e-10)
    simulation.control.link_external_force.assign(np.array([2.9, 0, 0, 0, 0, 0], dtype=np.float64).reshape(1, 1, 6))
    simulation.step(240)
    assert abs(simulation.state.link_velocity.numpy().ravel()[0]) < 1e-12


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_a_fall_at_the_largest_speed(solver):
    """The slide is vertical; the speed grows as in a free fall to its largest one, and stays there."""
    link = Link(path="/t/body", mass=2.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=(TZ, RX), velocity_limits=((TZ, 0.5),))
    tree = Articulation(path="/t", links=(link,), joints=(), constraints=(joint,))
    simulation = simulate(tree, solver=solver)
    for step in range(1, 60):
        simulation.step(1)
        speed = simulation.state.link_velocity.numpy().ravel()[2]
        assert speed == pytest.approx(-min(9.81 * step * H, 0.5), abs=1e-9)


@pytest.mark.parametrize("case", ["hinge", *SEVERAL])
def test_energy_with_an_armature(case):
    """A pendulum: kinetic, of the armature too, and potential energy keep their sum."""
    _, looped = both(case, {"armature": 0.7})
    simulation = simulate(looped, dt=1.0 / 960.0)
    energies = []
    for _ in range(960):
        simulation.step(1)
        energies.append(simulation.state.energy.numpy().ravel()[:2].astype(float))
    energies = np.array(energies)[1:]
    assert np.ptp(energies.sum(axis=1)) < 1e-3 * energies[:, 0].max()
    tree, _ = both(case, {"armature": 0.7})
    one, other = simulate(tree), simulate(looped)
    kinetic = [each.state.energy.numpy().ravel()[0] for each in (one, other)]
    assert kinetic[1] == pytest.approx(kinetic[0], rel=1e-9)


@pytest.mark.parametrize("case", SEVERAL)
def test_the_largest_speeds_of_several_rotations(case):
    """About the axes of the second frame no faster than said, as on the joint of a tree."""
    tree, looped = both(case, {"velocity_limit": 0.8})
    frame = tree.joints[0].child_frame.rotation
    used = [axis.index for axis in AXES[case][0]]
    for one in (simulate(each, gravity=(3.0, -2.0, -9.81)) for each in (tree, looped)):
        largest = 0.0
        for _ in range(60):
            one.step(1)
            pose, velocity = (
                getattr(one.state, f"link_{what}").numpy()[..., 0].ravel() for what in ("pose", "velocity")
            )
            turn = Pose(tuple(pose[:3]), tuple(pose[3:])).rotation @ frame
            rates = (turn.T @ velocity[3:6])[used]
            largest = max(largest, np.abs(rates).max())
        assert 0.79 < largest < 0.81


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize("solver", ["pgs", "tgs"])
def test_solvers_on_several_rotations(solver, case, feature):
    """As the direct one, with enough iterations."""
    _, looped = both(case, FEATURES[feature])
    ends = []
    for options in ({}, {"solver": solver, "position_iterations": 2 if solver == "tgs" else 800}):
        iterations = {"velocity_iterations": 800} if options and solver == "tgs" else {}
        ends.append(pose_after(looped, 960, 0.2, gravity=(0.0, 0.0, 0.0), **options, **iterations))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4 if solver == "tgs" else 1e-6)


@pytest.mark.parametrize("case", SEVERAL)
def test_lanes_with_several_rotations(case):
    """Bitwise the same in a batch and alone, in single precision."""
    features = {"friction": Friction(static_effort=0.03, dynamic_effort=0.02, viscous=0.1), "armature": 0.05}
    _, looped = both(case, features | {"velocity_limit": 2.2})
    ends = []
    for count in (1, 17):
        simulation = simulate(looped, count, precision="float32", variant="lanes")
        simulation.step(60)
        ends.append(simulation.state.link_pose.numpy()[0])
    assert np.isfinite(ends[1]).all()
    np.testing.assert_array_equal(ends[1], np.repeat(ends[0], 17, axis=1))


def test_the_armature_of_a_slide():
    """Free fall along a slide with an armature as heavy as the body is at half the acceleration."""
    joint = LoopJoint(name="/t/joint", link0=WORLD, link1=0, free=(TZ,), armatures=((TZ, 2.0),))
    link = Link(path="/t/body", mass=2.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    simulation = simulate(Articulation(path="/t", links=(link,), joints=(), constraints=(joint,)))
    simulation.step(100)
    assert simulation.state.link_velocity.numpy().ravel()[2] == pytest.approx(-4.905 * 100 * H, abs=1e-10)


def test_what_is_refused():
    """Shares of loads are of joints of trees; axes must be free, and inertias not negative."""
    base = {"name": "/t/joint", "link0": WORLD, "link1": 0}
    for loop, text in (
        (LoopJoint(**base, free=(RX,), frictions=((RX, Friction(coefficient=0.1)),)), "share of its load"),
        (LoopJoint(**base, free=(RX,), armatures=((RY, 1.0),)), "has an armature of rotY"),
        (LoopJoint(**base, free=(RX,), armatures=((RX, -1.0),)), "armature -1 must be finite and not negative"),
    ):
        tree = Articulation(path="/t", links=(BODY,), joints=(), constraints=(loop,))
        (found,) = findings(trees.scene(tree))
        assert text in found.message, found.message


def test_two_links_of_trees():
    """Between two hinges that the same joint closes, a damper across both acts on the difference of their rates."""
    bars = tuple(Link(path=f"/t/{k}", mass=1.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1 * (k + 1))) for k in range(2))
    speeds = (3.0, -1.0)
    hinges = tuple(
        Joint(path=f"/t/h{k}", parent=WORLD, child=k, dofs=(Dof(name=f"/t/h{k}", axis=RZ, velocity=speeds[k]),))
        for k in range(2)
    )
    free = (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z, RZ)
    joint = LoopJoint(name="/t/loop", link0=0, link1=1, free=free, frictions=((RZ, Friction(viscous=0.5)),))
    tree = Articulation(path="/t", links=bars, joints=hinges, constraints=(joint,))
    simulation = simulate(tree, dt=1e-3, gravity=(0.0, 0.0, 0.0))
    simulation.step(200)
    v = simulation.state.joint_velocity.numpy().ravel()
    rate = 0.5 * (1.0 / 0.1 + 1.0 / 0.2)
    assert v[1] - v[0] == pytest.approx(-4.0 * np.exp(-rate * 0.2), rel=2e-3)
    assert 0.1 * v[0] + 0.2 * v[1] == pytest.approx(0.1, abs=1e-12)
