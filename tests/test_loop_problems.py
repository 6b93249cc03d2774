"""Published problems with closed loops: errors, their order, and mechanisms that are closed in other places."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import closed_mechanisms as mechanisms
from tests import trees
from tests.closed_mechanisms import PIN, bar, hinge
from tests.constraints.test_loop_joint import COUPLER, CRANK, GROUND, ROCKER, SPEED, angles_of, bricard
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene


def simulate(tree, dt, gravity=mechanisms.DOWN, **settings):
    options = SolverSettings(**{"dt": dt, "precision": "float64", "variant": "scalar"} | settings)
    return Simulation(Scene(articulations=(tree,), gravity=gravity), settings=options)


def joints_after(tree, time, steps, effort=(), gravity=mechanisms.DOWN, **settings):
    """Joint positions after a time, with efforts on the first joints, and by how much the energy has changed."""
    simulation = simulate(tree, time / steps, gravity, **settings)
    given = np.zeros((len(tree.dofs), 1))
    given[: len(effort), 0] = effort
    simulation.control.joint_effort.assign(given)
    before = simulation.state.energy.numpy().sum()
    simulation.step(steps)
    change = simulation.state.energy.numpy().sum() - before
    return simulation.state.joint_position.numpy()[:, 0].astype(float), float(change)


def turned(errors):
    """Differences of angles, to half a turn."""
    return (errors + np.pi) % (2.0 * np.pi) - np.pi


def squeezer_error(steps, **settings):
    """The largest error of the angles of Andrews' squeezing mechanism after 0.03 s [rad]."""
    torque = (mechanisms.SQUEEZER_TORQUE,)
    q, _ = joints_after(mechanisms.squeezer(), 0.03, steps, torque, (0.0, 0.0, 0.0), **settings)
    beta, theta, gamma, delta, phi, epsilon, omega = q[:7]
    found = np.array([beta, theta, gamma, phi, delta, omega, epsilon])
    return float(np.abs(turned(found - mechanisms.SQUEEZER_END)).max())


def test_andrews_squeezing_mechanism():
    """Seven bodies and three loops, to 1e-7 of the reference of the test set for IVP solvers; at least order two."""
    errors = [squeezer_error(steps) for steps in (750, 3000, 12000)]
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 14 and errors[2] < errors[1] / 14
    assert errors[2] < 4e-7


def bricard_error(steps):
    """By how much the point P3 of Bricard's mechanism is off its published place after 10 s [m]."""
    simulation = simulate(bricard(), 10.0 / steps)
    simulation.step(steps)
    pose = simulation.state.link_pose.numpy().reshape(-1, 7)[2].astype(float)
    place = Pose(tuple(pose[:3]), tuple(pose[3:])).apply((0.0, 0.0, 1.0))
    return float(np.abs(place - np.array([0.99999996, -1.00026901, 0.99973095])).max())


def test_bricards_mechanism_is_of_order_two():
    """Six hinges, of which the five rows of the last have rank four; from 60 to 480 steps a second."""
    errors = [bricard_error(steps) for steps in (600, 2400, 4800)]
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 12 and errors[2] < errors[1] / 3.5


def upright_angle(count, time):
    """Of `count` four-bars: ((N + 1) / 3 + N) th'' = - ((N + 1) / 2 + N) g cos th, from upright at - 1 rad/s."""
    inertia, arm = (count + 1) / 3.0 + count, (count + 1) / 2.0 + count
    found = solve_ivp(
        lambda _, y: [y[1], -arm * 9.81 * np.cos(y[0]) / inertia], (0.0, time), [0.5 * np.pi, -1.0], "DOP853",
        rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    return found.y[0, -1]


def test_two_four_bars():
    """For 10 s, through all poses in which they lie flat: where B0 is, as published, and the energy; order two."""
    errors = []
    for steps in (2500, 10000):
        q, change = joints_after(mechanisms.many_four_bars(2), 10.0, steps)
        place = np.array([np.cos(q[0]), np.sin(q[0])])
        errors.append(np.abs(place - [0.3284581115, 0.9445185382]).max())
        assert abs(change) < 1e-9
    assert errors[1] < 1e-5 and errors[1] < errors[0] / 15


@pytest.mark.parametrize("count", [5, 10, 20, 40])
def test_many_four_bars(count):
    """2 N + 1 bars and N loops, for 5 s at 480 Hz, as one pendulum."""
    q, _ = joints_after(mechanisms.many_four_bars(count), 5.0, 2400)
    uprights = q[0::1][[joint for joint in range(2 * count + 1) if joint == 0 or joint % 2 == 0]]
    assert np.abs(turned(uprights - upright_angle(count, 5.0))).max() < 1e-4


def slider_crank_angle(time, crank, rod, masses, start, speed):
    """The angle of a crank by the equation of its only coordinate: (J th'^2 / 2 + V)' = 0."""
    one, two, three = masses

    def parts(angle):
        sine = crank * np.sin(angle) / rod
        lean = -np.arcsin(sine)
        rate = -crank * np.cos(angle) / (rod * np.cos(lean))
        middle = np.array([
            -crank * np.sin(angle) - 0.5 * rod * np.sin(lean) * rate,
            crank * np.cos(angle) + 0.5 * rod * np.cos(lean) * rate,
        ])  # fmt: skip
        slide = -crank * np.sin(angle) - rod * np.sin(lean) * rate
        J = one * crank**2 / 3.0 + two * (middle @ middle + rod**2 / 12.0 * rate**2) + three * slide**2
        V = 9.81 * (one * 0.5 * crank * np.sin(angle) + two * (crank * np.sin(angle) + 0.5 * rod * np.sin(lean)))
        return np.array([J, V])

    def rate(_, y):
        h = 1e-4
        J_, V_ = (8.0 * (parts(y[0] + h) - parts(y[0] - h)) - parts(y[0] + 2 * h) + parts(y[0] - 2 * h)) / (12.0 * h)
        return [y[1], -(0.5 * J_ * y[1] ** 2 + V_) / parts(y[0])[0]]

    return solve_ivp(rate, (0.0, time), [start, speed], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


def test_a_slider_crank_follows_its_only_coordinate():
    """Ten turns or so in 5 s; order two."""
    exact = slider_crank_angle(5.0, 0.2, 0.4, (0.2, 0.4, 0.5), 0.3, 12.0)
    errors = []
    for hertz in (960, 3840):
        q, _ = joints_after(mechanisms.slider_crank(speed=12.0), 5.0, 5 * hertz)
        errors.append(abs(turned(q[0] - exact)))
    assert errors[0] < 0.1 and errors[1] < errors[0] / 12


def governor_end(is_stiff, time):
    """Turn of the shaft, slide and tilt of a governor after a time, by Lagrange's equations of both its halves alike.

    About the axis L = J psidot is kept. With bars the slider is at 1 - sin(tilt), and the tilt is the only coordinate;
    with springs the slider is another one.
    """
    reach, g = mechanisms.GOVERNOR_REACH, 9.81
    center, (thin, long) = (0.15 + 5.0) / 5.3, (0.3 * 2e-4 / 12.0, 0.3 * (1.0 + 1e-4) / 12.0)
    own = long + 0.3 * (center - 0.5) ** 2 + 5.0 * (1.0 - center) ** 2
    bar_thin, bar_long = 0.15 * 2e-4 / 12.0, 0.15 * (0.25 + 1e-4) / 12.0
    shaft, slider = 0.3 * 2e-4 / 12.0, 3.0 * 0.02 / 12.0
    bars = 0.0 if is_stiff else 1.0

    def inertia(tilt):
        """J, and its slope."""
        c, s = np.cos(tilt), np.sin(tilt)
        arm, bar_arm = reach + center * c, reach + 0.25 * c
        one = thin * s**2 + own * c**2 + 5.3 * arm**2 + bars * (bar_thin * s**2 + bar_long * c**2 + 0.15 * bar_arm**2)
        slope = 2.0 * (thin - own) * s * c - 10.6 * arm * center * s
        slope += bars * (2.0 * (bar_thin - bar_long) * s * c - 0.3 * bar_arm * 0.25 * s)
        return shaft + slider + 2.0 * one, 2.0 * slope

    start = mechanisms.GOVERNOR_TILT
    momentum = inertia(start)[0] * mechanisms.GOVERNOR_SPIN
    swings = 2.0 * (own + 5.3 * center**2)
    weight = 2.0 * 5.3 * g * center

    def with_bars(_, y):
        psi, tilt, rate = y
        c, s = np.cos(tilt), np.sin(tilt)
        J, slope = inertia(tilt)
        # The middle of a bar is at 0.25 outward, and at 1 - 0.75 sin(tilt).
        mass = swings + 3.0 * c**2 + 2.0 * (bar_long + 0.15 * ((0.25 * s) ** 2 + (0.75 * c) ** 2))
        bend = -3.0 * s * c + 0.3 * (0.25**2 - 0.75**2) * s * c
        pull = weight * c + 3.0 * g * c + 0.3 * g * 0.75 * c
        return [momentum / J, rate, (0.5 * slope * (momentum / J) ** 2 + pull - bend * rate**2) / mass]

    def with_springs(_, y):
        psi, tilt, rate, z, zdot = y
        c, s = np.cos(tilt), np.sin(tilt)
        J, slope = inertia(tilt)
        d, v = np.array([0.5 * c, 1.0 - 0.5 * s - z]), np.array([-0.5 * s * rate, -0.5 * c * rate - zdot])
        length = np.linalg.norm(d)
        along = d / length
        pull = 2.0 * (8e5 * (length - 0.5) + 4e4 * along @ v)
        by_tilt = pull * (along @ np.array([-0.5 * s, -0.5 * c]))
        turn = (0.5 * slope * (momentum / J) ** 2 + weight * c - by_tilt) / swings
        return [momentum / J, rate, turn, zdot, -g + pull * along[1] / 3.0]

    options = {"method": "Radau", "rtol": 1e-11, "atol": 1e-12}
    if is_stiff:
        psi, tilt, _, z, _ = solve_ivp(with_springs, (0.0, time), [0.0, start, 0.0, 0.5, 0.0], **options).y[:, -1]
        return np.array([psi, z - 0.5, tilt])
    psi, tilt, _ = solve_ivp(with_bars, (0.0, time), [0.0, start, 0.0], **options).y[:, -1]
    return np.array([psi, 0.5 - np.sin(tilt), tilt])


def governor_error(is_stiff, steps, time=2.0, **settings):
    """The largest error of turn, slide and tilts [rad or m]."""
    q, _ = joints_after(mechanisms.governor(is_stiff), time, steps, gravity=(0.0, 0.0, -9.81), **settings)
    psi, slide, one, *others = q
    other = others[0] if is_stiff else others[1]
    exact = governor_end(is_stiff, time)
    return float(np.abs(turned(np.array([psi, slide, one, other]) - exact[[0, 1, 2, 2]])).max())


def test_a_flyball_governor():
    """That of the IFToMM (A05) with bars, which close two loops whose hinges are redundant; order two."""
    errors = [governor_error(False, steps) for steps in (480, 1920, 7680)]
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 15 and errors[2] < errors[1] / 15


def test_a_stiff_flyball_governor():
    """With its spring-dampers, which settle within 25 us: of first order where far from resolved, then of second."""
    errors = [governor_error(True, steps) for steps in (480, 1920, 7680)]
    assert errors[2] < 2e-4
    assert errors[1] < errors[0] / 3.5 and errors[2] < errors[1] / 9


# ---------------------------------------------------------------------------------------------------------------------
# Chains of free bodies
# ---------------------------------------------------------------------------------------------------------------------


def simulate_chain(count, load=0.0, dt=1.0 / 240.0, gravity=mechanisms.DOWN, **settings):
    """Free bodies, each joined to the one before by a ball as a loop joint, along x and at rest."""
    scene = Scene(articulations=mechanisms.loose_chain(count, load=load), gravity=gravity)
    options = SolverSettings(**{"dt": dt, "precision": "float64", "variant": "scalar"} | settings)
    return Simulation(scene, settings=options)


def test_a_chain_of_free_bodies_is_one_of_a_tree():
    """Twelve bodies on balls, all of them loop joints, to 1e-6 after a quarter of a second."""
    free = mechanisms.loose_chain(12, load=0.3)
    joints = tuple(
        Joint(
            path=f"/c/ball_{k}",
            parent=k - 1 if k else WORLD,
            child=k,
            parent_frame=Pose((0.1 if k else 0.0, 0.0, 0.0)),
            dofs=tuple(Dof(name=f"/c/ball_{k}:{axis.value}", axis=axis) for axis in mechanisms.BALL),
        )
        for k in range(12)
    )
    links = tuple(replace(one.links[0], pose=Pose()) for one in free)
    exact = places(Articulation(path="/c", links=links, joints=joints), 960, 0.25)
    found = []
    for steps in (480, 960):
        simulation = simulate_chain(12, 0.3, 0.25 / steps)
        simulation.step(steps)
        found.append(simulation.state.link_pose.numpy().reshape(-1, 7)[:, :3].astype(float))
    assert np.abs(exact - [[0.1 * k, 0.0, 0.0] for k in range(12)]).max() > 0.1
    np.testing.assert_allclose((4.0 * found[1] - found[0]) / 3.0, exact, atol=1e-6)


@pytest.mark.parametrize(("load", "hertz", "steps"), [(1.0, 240, 480), (1000.0, 9600, 960)])
def test_a_chain_under_load_stays_together(load, hertz, steps):
    """A hundred bodies of 0.1 kg and 0.1 m that hang and begin to swing: gaps below 1e-6 of the length.

    With a ton at their end, 1e4 times a body, where steps resolve the vibration of the taut chain across, 2000 rad/s.
    """
    simulation = simulate_chain(100, load, 1.0 / hertz, gravity=(9.81, 0.5, 0.2))
    largest = 0.0
    for _ in range(12):
        simulation.step(steps // 12)
        largest = max(largest, np.abs(simulation.state.loop_error.numpy()).max())
    assert largest < 1e-6 * 10.0
    assert not simulation.failures()


@pytest.mark.parametrize("count", [125, 500])
def test_long_chains_are_solved_by_factors(count):
    """By which the cost of a step grows as their length, and not as its cube."""
    simulation = simulate_chain(count)
    simulation.step(4)
    assert not simulation.run.groups[0].arrays.work.orthogonal_rows.numpy().any()
    assert np.abs(simulation.state.loop_error.numpy()).max() < 1e-12


# ---------------------------------------------------------------------------------------------------------------------
# Closed in other places
# ---------------------------------------------------------------------------------------------------------------------


def cut_four_bar(place, free=PIN, doubles=1):
    """A four-bar linkage of which the joint at a (crank on ground), b, c (rocker on ground) or d is the loop joint."""
    rates = (angles_of(1e-5) - angles_of(-1e-5)) / 2e-5
    coupler, rocker = angles_of(0.0)
    angle, w = np.array([0.0, coupler, rocker]), SPEED * np.array([1.0, *rates])
    links = (bar("/f/crank", CRANK, CRANK), bar("/f/coupler", COUPLER, COUPLER), bar("/f/rocker", ROCKER, ROCKER))

    def joint(name, parent, child, at, tip=0.0):
        own = (angle[child], w[child]) if parent == WORLD else (angle[child] - angle[parent], w[child] - w[parent])
        return replace(hinge(f"/f/{name}", parent, child, (at, 0, 0), *own), child_frame=Pose((tip, 0.0, 0.0)))

    a, c = joint("a", WORLD, 0, 0.0), joint("c", WORLD, 2, GROUND)
    b, b_back = joint("b", 0, 1, CRANK), joint("b", 1, 0, 0.0, CRANK)
    d, d_back = joint("d", 1, 2, COUPLER, ROCKER), joint("d", 2, 1, ROCKER, COUPLER)
    joints = {"a": (c, d_back, b_back), "b": (a, c, d_back), "c": (a, b, d), "d": (a, b, c)}[place]
    ends = {
        "a": (0, 0.0, WORLD, 0.0),
        "b": (0, CRANK, 1, 0.0),
        "c": (2, 0.0, WORLD, GROUND),
        "d": (1, COUPLER, 2, ROCKER),
    }
    link0, at0, link1, at1 = ends[place]
    loops = tuple(
        LoopJoint(
            name=f"/f/loop_{k}", link0=link0, link1=link1, frame0=Pose((at0, 0, 0)), frame1=Pose((at1, 0, 0)), free=free
        )
        for k in range(doubles)
    )
    return Articulation(path="/f", links=links, joints=joints, constraints=loops)


def places(tree, steps, time=2.0):
    """Where the links are [m], extrapolated from two step sizes, of which errors fall by four."""
    found = []
    for count in (steps // 2, steps):
        simulation = simulate(tree, time / count)
        simulation.step(count)
        found.append(simulation.state.link_pose.numpy().reshape(-1, 7)[:, :3].astype(float))
    return (4.0 * found[1] - found[0]) / 3.0


@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_where_a_four_bar_is_closed_does_not_matter(place):
    """Four turns, to 1e-6."""
    expected = places(cut_four_bar("d"), 2 * 19200)
    np.testing.assert_allclose(places(cut_four_bar(place), 2 * 19200), expected, atol=1e-6)


def test_redundant_closures_are_as_the_least_one():
    """A hinge, which holds the plane thrice more, two hinges, and two translations: what the plane leaves of them."""
    least = cut_four_bar("d", (Axis.TRANS_Z, Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z))
    expected = places(least, 2 * 19200)
    for tree in (cut_four_bar("d"), cut_four_bar("d", doubles=2)):
        np.testing.assert_allclose(places(tree, 2 * 19200), expected, atol=1e-6)


def test_a_door_on_three_hinges_swings_as_on_one():
    """Two more hinges on the line of the first one."""
    door = trees.replace(
        bar("/d/door", 20.0, 0.9), inertia=(5.0, 0.0, 0.0, 6.0, 0.0, 1.4), center_of_mass=(0.45, 0.1, 1.0)
    )
    first = hinge("/d/hinge", WORLD, 0, velocity=2.0)
    spots = [Pose((0.0, 0.0, height)) for height in (1.0, 1.9)]
    loops = tuple(
        LoopJoint(name=f"/d/loop_{k}", link0=WORLD, link1=0, frame0=spot, frame1=spot, free=PIN)
        for k, spot in enumerate(spots)
    )
    ends = []
    for constraints in ((), loops):
        tree = Articulation(path="/d", links=(door,), joints=(first,), constraints=constraints)
        ends.append(joints_after(tree, 2.0, 480, gravity=(1.0, 0.5, -9.81))[0])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("free", [PIN, mechanisms.BALL])
@pytest.mark.parametrize("precision, gap", [("float64", 1e-12), ("float32", 1e-5)])
def test_a_bridge_stands_with_every_solver(precision, gap, free, solver):
    """A truss of six bays on two supports at 60 Hz: closed, at rest, and the last support bears half of the weight.

    With four sweeps it opened by 5 cm, with four substeps by 3 cm, and loads wavered.
    """
    tree = mechanisms.truss(free=free)
    simulation = simulate(tree, 1 / 60, solver=solver, precision=precision)
    loads = []
    for _ in range(120):
        simulation.step(forces=True)
        loads.append(simulation.state.loop_force.numpy()[-1, :3, 0])
        assert np.abs(simulation.state.loop_error.numpy()[:, 0]).max() < gap
    wanted = 0.5 * 9.81 * len(tree.links)
    assert np.abs(np.array(loads)[1:, 1]) == pytest.approx(wanted, rel=1e-9 if precision == "float64" else 1e-3)
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 10.0 * gap


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
def test_a_hanging_bridge_swings_with_its_energy(solver):
    """The roller broken off: a minute at 60 Hz."""
    tree = mechanisms.truss()
    tree = replace(tree, constraints=tree.constraints[:-1])
    simulation = simulate(tree, 1 / 60, solver=solver)
    before = simulation.state.energy.numpy().sum()
    recording = simulation.record(3600)
    assert np.abs(recording.energy.sum(axis=-1) - before).max() < 1e-9
    assert np.abs(recording.loop_error).max() < 1e-12
