"""Loop joints: published mechanisms, joints of a tree in their place, redundant closures, and features beside them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import (
    Pose,
    quaternion_from_rotation_vector,
    rotation_vector_from_matrix,
)
from warp_artic.description.scene import Scene
from warp_artic.description.validate import findings

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.5
"""Lengths of a four-bar linkage [m], which are also the masses of its bars [kg]."""
SPEED = 4.0 * np.pi
"""Of its crank at the start [rad/s]."""

FREE = {
    "fixed": (),
    "revolute": (Axis.ROT_Y,),
    "prismatic": (Axis.TRANS_Z,),
    "spherical": (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z),
    "universal_xz": (Axis.ROT_X, Axis.ROT_Z),
    "universal_xy": (Axis.ROT_X, Axis.ROT_Y),
    "zero_twist": (Axis.ROT_Y, Axis.ROT_Z),
    "cylindrical": (Axis.TRANS_X, Axis.ROT_X),
    "planar": (Axis.TRANS_X, Axis.TRANS_Z, Axis.ROT_Y),
    "slide_ball": (Axis.TRANS_Z, Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z),
}
"""The free axes of each kind."""


def angles_of(crank):
    """The angles of the coupler and of the rocker at an angle of the crank [rad], by the law of cosines."""
    A = CRANK * np.array([np.cos(crank), np.sin(crank)])
    to_ground = np.array([GROUND, 0.0]) - A
    L = np.hypot(*to_ground)
    inner = np.arccos((L * L + COUPLER**2 - ROCKER**2) / (2.0 * L * COUPLER))
    coupler = np.arctan2(to_ground[1], to_ground[0]) + inner
    B = A + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    return np.array([coupler, np.arctan2(B[1], B[0] - GROUND)])


def four_bar(free=FREE["revolute"][:0] + (Axis.ROT_Z,), limit=None, swapped=False, velocity=True) -> Articulation:
    """Crank and coupler as a chain, the rocker on the ground, closed between the last two at the start of a turn."""
    rates = (angles_of(1e-5) - angles_of(-1e-5)) / 2e-5
    coupler, rocker = angles_of(0.0)
    positions = (0.0, coupler, rocker)
    velocities = SPEED * velocity * np.array([1.0, rates[0] - 1.0, rates[1]])

    def bar(name, length):
        I = length**3 / 12.0  # noqa: E741 (moment of inertia)
        return Link(path=name, mass=length, inertia=(1e-6, 0, 0, I, 0, I), center_of_mass=(length / 2, 0, 0))

    def hinge(name, parent, child, place, k):
        dof = Dof(
            name=name, axis=Axis.ROT_Z, position=positions[k], velocity=velocities[k], limit=limit if not k else None
        )
        return Joint(path=name, parent=parent, child=child, parent_frame=Pose((place, 0.0, 0.0)), dofs=(dof,))

    links = (bar("/bar/crank", CRANK), bar("/bar/coupler", COUPLER), bar("/bar/rocker", ROCKER))
    joints = (hinge("/bar/a", WORLD, 0, 0, 0), hinge("/bar/b", 0, 1, CRANK, 1), hinge("/bar/c", WORLD, 2, GROUND, 2))
    ends = [(1, Pose((COUPLER, 0.0, 0.0))), (2, Pose((ROCKER, 0.0, 0.0)))]
    (link0, frame0), (link1, frame1) = reversed(ends) if swapped else ends
    loop = LoopJoint(name="/bar/d", link0=link0, link1=link1, frame0=frame0, frame1=frame1, free=free)
    return Articulation(path="/bar", links=links, joints=joints, constraints=(loop,))


def in_plane(tree) -> Scene:
    return Scene(articulations=(tree,), gravity=(0.0, -9.81, 0.0))


simulate = partial(simulations.simulate, precision="float64")


def gap_and_energy(simulation, steps):
    """The largest distance between the ends of coupler and rocker [m], and the largest change of energy by the largest
    kinetic energy."""
    gap, kinetic, total = 0.0, [], []
    for _ in range(steps):
        simulation.step(1)
        q = simulation.state.joint_position.numpy()[:, 0].astype(float)
        ends = [CRANK * np.exp(1j * q[0]) + COUPLER * np.exp(1j * (q[0] + q[1])), GROUND + ROCKER * np.exp(1j * q[2])]
        gap = max(gap, abs(ends[1] - ends[0]))
        energy = simulation.state.energy.numpy().reshape(2, -1)[:, 0].astype(float)
        kinetic.append(energy[0])
        total.append(energy.sum())
    return gap, np.ptp(total) / max(kinetic)


@pytest.mark.parametrize("precision, gap", [("float64", 1e-12), ("float32", 2e-6)])
def test_a_four_bar_linkage_keeps_gap_and_energy(precision, gap):
    """Through ten seconds at 12.6 rad/s: hinge rows of which three are redundant in the plane."""
    found, drift = gap_and_energy(simulate(in_plane(four_bar()), precision=precision), 2400)
    assert found < gap
    assert drift < 8e-3


@pytest.mark.parametrize("free", ["spherical", "revolute_z", "pin"])
def test_how_a_planar_loop_is_closed_does_not_matter(free):
    """A hinge, a ball and two translations in the plane are the same where the rest holds the plane."""
    kinds = {"revolute_z": (Axis.ROT_Z,), "pin": (Axis.TRANS_Z, Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)}
    one = simulate(in_plane(four_bar()), dt=1.0 / 2000.0)
    other = simulate(in_plane(four_bar((FREE | kinds)[free], swapped=True)), dt=1.0 / 2000.0)
    one.step(500)
    other.step(500)
    tolerance = 1e-10 if free == "spherical" else 1e-3 if free == "pin" else 1e-10
    np.testing.assert_allclose(other.state.joint_position.numpy(), one.state.joint_position.numpy(), atol=tolerance)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("tilted", [False, True])
def test_a_planar_loop_anywhere(solver, tilted):
    """Turned in space, and closed by frames across the plane, where what cannot move has coefficients of rounding."""
    rng = np.random.default_rng(7)
    R, *tilts = (Pose((0.3, -0.2, 0.5), quaternion_from_rotation_vector(rng.normal(size=3))) for _ in range(3))
    tree = four_bar(FREE["spherical"] if tilted else (Axis.ROT_Z,))
    joints = (replace(one, parent_frame=R @ one.parent_frame) if one.parent == WORLD else one for one in tree.joints)
    (loop,) = tree.constraints
    if tilted:
        frames = (
            frame @ Pose((0.0, 0.0, 0.0), tilt.quaternion) for frame, tilt in zip((loop.frame0, loop.frame1), tilts)
        )
        loop = replace(loop, **dict(zip(("frame0", "frame1"), frames)))
    tree = replace(tree, joints=tuple(joints), constraints=(loop,))
    scene = Scene(articulations=(tree,), gravity=tuple(map(float, R.rotation @ np.array([0.0, -9.81, 0.0]))))
    gap, drift = gap_and_energy(simulate(scene, solver=solver), 240)
    assert gap < {"direct": 1e-12, "pgs": 1e-6, "tgs": 3e-4}[solver]
    assert drift < 0.02 * (10.0 if solver == "tgs" else 1.0)


def test_order_of_convergence():
    """Errors of a four-bar linkage after a quarter of a second fall by four when steps are halved."""
    ends = []
    for hertz in (1920, 3840, 7680, 30720):
        simulation = simulate(in_plane(four_bar()), dt=1.0 / hertz)
        simulation.step(hertz // 4)
        ends.append(simulation.state.joint_position.numpy()[:, 0].astype(float))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:3]]
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 3.3 and errors[2] < errors[1] / 3.3


def bodies(kind, seed=3):
    """A ball pendulum with a second body on a joint of a kind, and the same with the joint as a loop joint.

    The second body is then on a joint with six free axes.
    """
    rng = np.random.default_rng(seed)

    def link(name):
        inertia = rng.uniform(0.01, 0.02, 3)
        return Link(
            path=name,
            mass=rng.uniform(0.5, 2.0),
            inertia=(inertia[0], 0, 0, inertia[1], 0, inertia[2]),
            center_of_mass=tuple(rng.uniform(-0.1, 0.1, 3)),
        )

    def frame():
        return Pose(tuple(rng.uniform(-0.3, 0.3, 3)), quaternion_from_rotation_vector(rng.uniform(-1, 1, 3)))

    def dofs(name, axes, size):
        return tuple(
            Dof(
                name=f"{name}:{axis.value}",
                axis=axis,
                position=size * rng.uniform(-0.4, 0.4),
                velocity=size * rng.uniform(-2, 2),
            )
            for axis in axes
        )

    links, frames = (link("/t/a"), link("/t/b")), [frame() for _ in range(4)]
    ball = Joint(
        path="/t/ball",
        parent=WORLD,
        child=0,
        parent_frame=frames[0],
        child_frame=frames[1],
        dofs=dofs("/t/ball", FREE["spherical"], 1.0),
    )
    joint = Joint(
        path="/t/joint",
        parent=0,
        child=1,
        parent_frame=frames[2],
        child_frame=frames[3],
        dofs=dofs("/t/joint", FREE[kind], 0.5),
    )
    tree = Articulation(path="/t", links=links, joints=(ball, joint))
    state = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64")).state
    pose, velocity = state.link_pose.numpy().reshape(2, 7)[1], state.link_velocity.numpy().reshape(2, 6)[1]
    placed = Pose(tuple(map(float, pose[:3])), tuple(map(float, pose[3:])))
    w = velocity[3:]
    v = velocity[:3] - np.cross(w, placed.rotation @ np.array(links[1].center_of_mass))
    positions = [*placed.position, *rotation_vector_from_matrix(placed.rotation)]
    velocities = [*v, *(placed.rotation.T @ w)]
    free = Joint(
        path="/t/free",
        parent=WORLD,
        child=1,
        dofs=tuple(
            Dof(name=f"/t/free:{axis.value}", axis=axis, position=float(q), velocity=float(rate))
            for axis, q, rate in zip(Axis, positions, velocities)
        ),
    )
    loop = LoopJoint(name="/t/joint", link0=0, link1=1, frame0=frames[2], frame1=frames[3], free=FREE[kind])
    return tree, Articulation(path="/t", links=links, joints=(free, ball), constraints=(loop,))


def places(tree, steps, time=0.5, **settings):
    """Where the links are after a time."""
    simulation = simulate(trees.scene(tree), dt=time / steps, **settings)
    simulation.step(steps)
    pose = simulation.state.link_pose.numpy().reshape(2, 7).astype(float)
    pose[:, 3:] *= np.sign(pose[:, 6:])
    return pose


@pytest.mark.parametrize("kind", FREE)
def test_a_loop_joint_moves_as_the_joint_of_a_tree(kind):
    """Both are of second order, so that at 1/4000 s and with errors extrapolated they are 1e-5 apart."""
    tree, looped = bodies(kind)
    coarse, fine = (places(looped, steps) for steps in (1000, 2000))
    exact = places(tree, 4000)
    assert np.abs(coarse - exact).max() < 1e-3
    assert np.abs(fine + (fine - coarse) / 3.0 - exact).max() < 2e-5


@pytest.mark.parametrize("kind", ["fixed", "revolute", "universal_xz", "planar"])
@pytest.mark.parametrize("settings", [{"integrator": "semi_implicit"}, {"solver": "pgs"}, {"solver": "tgs"}], ids=str)
def test_other_solvers_come_near(kind, settings):
    """What they leave to iterations and to a first order gets smaller with the step."""
    tree, looped = bodies(kind)
    exact = places(tree, 4000)
    errors = [np.abs(places(looped, steps, **settings) - exact).max() for steps in (240, 960)]
    assert errors[1] < 0.05
    assert errors[1] < errors[0] / 2.0


def bricard() -> Articulation:
    """Bricard's mechanism of the IFToMM library: six hinges, of which the five rows of the last have rank four."""
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = [Axis.ROT_Y, Axis.ROT_Z, Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z, Axis.ROT_X]
    links, joints = [], []
    for k in range(5):
        along = P[k + 1] - P[k]
        inertia = np.where(np.abs(along) > 0.5, 0.02 / 12.0, 1.01 / 12.0)
        links.append(
            Link(
                path=f"/b/{k}",
                mass=1.0,
                inertia=(inertia[0], 0, 0, inertia[1], 0, inertia[2]),
                center_of_mass=tuple(along / 2),
            )
        )
        frame = Pose(tuple(P[k] - (P[k - 1] if k else 0.0)))
        dof = Dof(name=f"/b/j{k}", axis=axes[k])
        joints.append(Joint(path=f"/b/j{k}", parent=k - 1 if k else WORLD, child=k, parent_frame=frame, dofs=(dof,)))
    loop = LoopJoint(
        name="/b/loop", link0=4, link1=WORLD, frame0=Pose(tuple(P[5] - P[4])), frame1=Pose(tuple(P[5])), free=(axes[5],)
    )
    return Articulation(path="/b", links=tuple(links), joints=tuple(joints), constraints=(loop,))


@pytest.mark.parametrize(
    "precision, hertz, error", [("float64", 60, 1e-4), ("float64", 240, 1e-5), ("float32", 240, 1e-5)]
)
def test_bricards_mechanism(precision, hertz, error):
    """The place of P3 after 10 s, as published; energy stays."""
    simulation = simulate(in_plane(bricard()), precision=precision, dt=1.0 / hertz)
    kinetic, total = [], []
    for _ in range(10):
        simulation.step(hertz)
        energy = simulation.state.energy.numpy().reshape(2, -1)[:, 0].astype(float)
        kinetic.append(energy[0])
        total.append(energy.sum())
    pose = simulation.state.link_pose.numpy().reshape(5, 7)[2].astype(float)
    P3 = Pose(tuple(pose[:3]), tuple(pose[3:])).apply((0.0, 0.0, 1.0))
    assert np.abs(P3 - np.array([0.99999996, -1.00026901, 0.99973095])).max() < error
    assert np.ptp(total) / max(kinetic) < 2e-3
    last = simulation.state.link_pose.numpy().reshape(5, 7)[4].astype(float)
    closing = Pose(tuple(last[:3]), tuple(last[3:])).apply((0.0, 1.0, 0.0))
    assert np.abs(closing - np.array([0.0, 0.0, 1.0])).max() < 2e-6


def test_closures_that_say_the_same_twice_change_nothing():
    """A second hinge in the place of the first, and a third one."""
    tree = four_bar()
    (loop,) = tree.constraints
    thrice = replace(tree, constraints=(loop, replace(loop, name="/bar/e"), replace(loop, name="/bar/f")))
    one, other = simulate(in_plane(tree)), simulate(in_plane(thrice))
    one.step(480)
    other.step(480)
    np.testing.assert_allclose(other.state.joint_position.numpy(), one.state.joint_position.numpy(), atol=1e-9)


def test_environments_do_not_notice_each_other():
    """Lanes and scalars, one environment and many that differ: bitwise."""
    scene = in_plane(four_bar())

    def ends(environments, variant, speeds):
        simulation = simulate(scene, environments, precision="float32", variant=variant)
        velocity = simulation.state.joint_velocity.numpy()
        simulation.set_state(joint_velocity=(velocity * speeds).T)
        simulation.step(60)
        return simulation.state.joint_position.numpy()

    speeds = np.linspace(-1.0, 1.0, 17)
    together = ends(17, "lanes", speeds)
    for k in (0, 8, 16):
        np.testing.assert_array_equal(ends(1, "lanes", speeds[k : k + 1])[:, 0], together[:, k])
    # Either is off float64 by up to 1.4e-4, where a linkage turns round and its energy says little of its speed.
    np.testing.assert_allclose(ends(17, "scalar", speeds), together, atol=2e-4)


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_loops_that_need_a_second_way_change_no_others(variant):
    """Of two linkages of one mechanism in 17 environments, some turn so fast that once is not enough to close them."""
    tree = four_bar()
    (loop,) = tree.constraints
    other = replace(
        tree,
        path="/rab",
        links=tuple(replace(one, path=one.path.replace("/bar", "/rab")) for one in tree.links),
        joints=tuple(
            replace(
                one,
                path=one.path.replace("/bar", "/rab"),
                dofs=tuple(replace(dof, name=dof.name.replace("/bar", "/rab")) for dof in one.dofs),
            )
            for one in tree.joints
        ),
        constraints=(replace(loop, name="/rab/d"),),
    )
    scene = Scene(articulations=(tree, other), gravity=(0.0, -9.81, 0.0), mechanisms=(("/bar", "/rab"),))

    def run(first, second):
        simulation = simulate(scene, len(first), precision="float32", variant=variant)
        velocity = simulation.state.joint_velocity.numpy()
        factors = np.repeat([first, second], 3, axis=0)
        simulation.set_state(joint_velocity=(velocity * factors).T)
        return simulation.record(30)

    calm, fast = np.linspace(0.1, 0.4, 17), np.linspace(3.0, 5.0, 17)
    all_calm = run(calm, calm)
    mixed = np.where(np.arange(17) % 4 == 1, fast, calm)
    found = run(mixed, calm[::-1])
    q, others = found.joint_position, all_calm.joint_position
    np.testing.assert_array_equal(q[:, mixed == calm, :3], others[:, mixed == calm, :3])
    np.testing.assert_array_equal(q[..., 3:], others[:, ::-1, 3:])
    alone = run(fast[5:6], calm[-6:-5])
    np.testing.assert_array_equal(q[:, 5], alone.joint_position[:, 0])
    assert found.loop_error.max() < 2e-6
    assert np.abs(np.diff(q[:, 5, 0])).max() > 0.1


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_stop_in_a_loop(precision):
    """The crank is stopped by its limit: the linkage stands still there, closed."""
    simulation = simulate(in_plane(four_bar(limit=Limit(lower=-1.0, upper=1.0))), precision=precision)
    gap, _ = gap_and_energy(simulation, 480)
    q = simulation.state.joint_position.numpy()[0, 0]
    assert gap < 1e-5
    assert -1.0 - 1e-5 < q < 1.0 + 1e-5


@pytest.mark.parametrize("free", ["spherical", "revolute_y"])
def test_supports_of_a_beam_share_its_weight(free):
    """A beam on a hinge and on a loop joint at its other end: half of the weight on each, at rest."""
    kinds = {"revolute_y": (Axis.ROT_Y,)}
    beam = Link(path="/t/beam", mass=3.0, inertia=(0.01, 0, 0, 0.3, 0, 0.3), center_of_mass=(0.5, 0.0, 0.0))
    hinge = Joint(path="/t/hinge", parent=WORLD, child=0, dofs=(Dof(name="/t/hinge", axis=Axis.ROT_Y),))
    loop = LoopJoint(
        name="/t/loop",
        link0=WORLD,
        link1=0,
        frame0=Pose((1.0, 0.0, 0.0)),
        frame1=Pose((1.0, 0.0, 0.0)),
        free=(FREE | kinds)[free],
    )
    simulation = simulate(trees.scene(Articulation(path="/t", links=(beam,), joints=(hinge,), constraints=(loop,))))
    simulation.step(5, forces=True)
    force = simulation.state.link_incoming_joint_force.numpy().reshape(6)
    np.testing.assert_allclose(force, [0, 0, 0.5 * 3.0 * 9.81, 0, 0, 0], atol=1e-9)


def test_one_that_is_disabled_holds_nothing():
    """The linkage moves as without it."""
    tree = four_bar()
    (loop,) = tree.constraints
    ends = []
    for constraints in ((replace(loop, enabled=False),), (replace(loop, enabled=False), replace(loop, name="/bar/e"))):
        simulation = simulate(in_plane(replace(tree, constraints=constraints)))
        ends.append(gap_and_energy(simulation, 24)[0])
    assert ends[0] > 0.01 and ends[1] < 1e-12


def test_what_is_wrong_is_named():
    """One line with the prim path each."""
    tree = four_bar()
    (loop,) = tree.constraints
    wrong = (
        replace(loop, link1=1),
        replace(loop, name="/bar/e", link0=7),
        replace(loop, name="/bar/f", free=tuple(Axis)),
    )
    found = [(one.path, one.message) for one in findings(in_plane(replace(tree, constraints=wrong)))]
    told = "\n".join(f"{path}: {message}" for path, message in found)
    assert "joins link 1 with itself; it must join two links, or one and the world" in told
    assert "link0 is link 7 of 3, counted from 0; -1 is the world" in told
    assert "leaves all six axes free; it must hold one of them" in told


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-8), ("float32", 1e-3)])
def test_a_linkage_moves_alike_in_any_orientation(solver, precision, tolerance):
    """Closed by a hinge, whatever the plane that it is in, and whatever the frames of the hinge are turned by.

    Rows out of its plane have a J of rounding, or of frames in single precision: they must not act. Iterations depend
    on how the frames are turned: 64 leave rounding with pgs, and a hundredth of the velocity after a second with tgs.
    """
    settings = SolverSettings(dt=1 / 240, precision=precision, solver=solver, variant="scalar", position_iterations=64)
    rng, found = np.random.default_rng(5), []
    for number in range(5):
        tree = four_bar((Axis.ROT_Z,))
        if number:
            world = Pose(quaternion=quaternion_from_rotation_vector(rng.normal(size=3)))
            joints = [
                replace(joint, parent_frame=world @ joint.parent_frame) if joint.parent == WORLD else joint
                for joint in tree.joints
            ]
            (loop,) = tree.constraints
            turn = (0.0, 0.5 * np.pi, 0.0) if number % 2 else (0.0, 0.0, 1.0)
            exact = np.array(quaternion_from_rotation_vector(turn))
            frame = Pose(quaternion=tuple(map(float, exact + 3e-8 * rng.normal(size=4) * (number > 2))))
            free = (Axis.ROT_X,) if number % 2 else (Axis.ROT_Z,)
            loop = replace(loop, frame0=loop.frame0 @ frame, frame1=loop.frame1 @ frame, free=free)
            tree = replace(tree, joints=tuple(joints), constraints=(loop,))
        simulation = Simulation(trees.scene(tree, gravity=(0.0, 0.0, 0.0)), settings=settings)
        simulation.step(240)
        assert not simulation.failures()
        found.append(simulation.state.joint_velocity.numpy()[:, 0])
    assert np.abs(found[0]).max() > 10.0
    tolerance = 0.02 if solver == "tgs" else tolerance
    np.testing.assert_allclose(found[1:], np.broadcast_to(found[0], (4, 3)), rtol=tolerance)
