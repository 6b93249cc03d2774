"""Trees that kinematic bodies carry: what their links feel of how the body moves."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests import trees
from tests.oracles import rigid
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

H = 1 / 240
SETTINGS = SolverSettings(dt=H, precision="float64", variant="scalar")


def motion(place, seconds=3.0, rate=480, start=0.0):
    """The motion of a body from its positions (3) and rotation vectors (3) over time."""
    times = start + np.arange(int(seconds * rate) + 1) / rate
    rows = [place(time) for time in times]
    poses = (Pose(tuple(map(float, row[:3])), quaternion_from_rotation_vector(row[3:])) for row in rows)
    return BaseMotion("/World/cart", start, 1 / rate, tuple(poses))


def carried(tree, place, **options):  # longer than any run, lest its end is felt
    return dataclasses.replace(tree, base_motion=motion(place, **options))


def simulate(tree, environments=1, settings=SETTINGS, **scene):
    return Simulation(trees.scene(tree, **scene), environments=environments, settings=settings)


def bob(axis=Axis.ROT_Y, center=(0.0, 0.0, -1.0), frame=Pose()):
    link = Link(path="/World/bob", mass=1.0, inertia=(1e-9, 0, 0, 1e-9, 0, 1e-9), center_of_mass=center, pose=frame)
    joint = Joint(
        path="/World/hinge", parent=WORLD, child=0, parent_frame=frame, dofs=(Dof(name="/World/hinge", axis=axis),)
    )
    return Articulation(path="/World", links=(link,), joints=(joint,))


def cart(time, amplitude=0.3, rate=4.0):
    """A cart that starts gently to go to and fro."""
    return [amplitude * (1.0 - np.cos(rate * time)), 0, 0, 0, 0, 0]


def tumbling(time):
    """All six axes at once, from rest."""
    ramp = time**2 / (0.5 + time**2)
    return ramp * np.array(
        [
            0.3 * np.sin(3 * time),
            0.4 * np.sin(2 * time),
            0.2 * time,
            0.9 * np.sin(time),
            0.5 * time,
            0.7 * np.sin(2 * time),
        ]
    )


def test_a_pendulum_on_a_cart():
    """theta'' = (X'' cos theta - g sin theta) / l, second order in the time step."""
    errors = []
    for dt in (1 / 120, 1 / 240):
        settings = dataclasses.replace(SETTINGS, dt=dt)
        recording = simulate(carried(bob(), cart), settings=settings).record(round(2.0 / dt))

        def rates(time, y):
            return [y[1], 0.3 * 16.0 * np.cos(4.0 * time) * np.cos(y[0]) - 9.81 * np.sin(y[0])]

        exact = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0], rtol=1e-11, atol=1e-12, t_eval=recording.time).y[0]
        errors.append(np.abs(recording.joint_position[:, 0, 0] - exact).max())
    assert errors[1] < 3e-4 and errors[0] / errors[1] > 2.5


def test_a_bead_on_a_turntable():
    """r'' = W^2 r; the table turns from the start on, while the bead has no velocity along the rail."""
    place = Pose((0.5, 0.0, 0.0))
    tree = carried(bob(Axis.TRANS_X, (0.0, 0.0, 0.0), place), lambda time: [0, 0, 0, 0, 0, 2.0 * time])
    recording = simulate(tree, gravity=(0.0, 0.0, 0.0)).record(240)
    radius = 0.5 * np.cosh(2.0 * recording.time)
    np.testing.assert_allclose(0.5 + recording.joint_position[:, 0, 0], radius, atol=2e-6)
    at = 2.0 * recording.time
    np.testing.assert_allclose(recording.link_pose[:, 0, 0, 0], radius * np.cos(at), atol=2e-6)
    np.testing.assert_allclose(recording.link_pose[:, 0, 0, 1], radius * np.sin(at), atol=2e-6)


@pytest.mark.parametrize("far", [0.0, 3000.0])
def test_what_is_fixed_to_it_goes_with_it(far):
    """Poses at every record, velocities to second order, and the force that it takes; far from the origin too."""
    place = Pose((far + 0.2, 0.1, 0.3))
    link = Link(path="/World/box", mass=2.0, inertia=(0.1, 0, 0, 0.2, 0, 0.25), pose=place)
    joint = Joint(path="/World/weld", parent=WORLD, child=0, parent_frame=place)
    tip = Link(path="/World/tip", mass=1e-6, inertia=(1e-9, 0, 0, 1e-9, 0, 1e-9), pose=place)
    hinge = Joint(path="/World/hinge", parent=0, child=1, dofs=(Dof(name="/World/hinge", axis=Axis.ROT_X),))
    tree = Articulation(path="/World", links=(link, tip), joints=(joint, hinge))

    def moved(time):
        return np.array([far, 0, 0, 0, 0, 0]) + tumbling(time)

    tree = carried(tree, moved)
    recording = simulate(tree).record(240, forces=True)
    D = [tree.base_motion.at(time) @ tree.base_motion.at(0.0).inverse() @ place for time in recording.time]
    np.testing.assert_allclose(recording.link_pose[:, 0, 0, :3], [pose.position for pose in D], rtol=0.0, atol=1e-9)
    quaternions = np.array([pose.quaternion for pose in D])
    dots = np.abs((recording.link_pose[:, 0, 0, 3:] * quaternions).sum(axis=1))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)
    position = recording.link_pose[:, 0, 0, :3]
    velocity = (position[2:] - position[:-2]) / (2 * H)
    np.testing.assert_allclose(recording.link_velocity[1:-1, 0, 0, :3], velocity, rtol=1e-3, atol=1e-5)
    middle = (recording.link_velocity[1:, 0, 0, :3] - recording.link_velocity[:-1, 0, 0, :3]) / H
    force = 2.0 * (middle - [0.0, 0.0, -9.81])
    size = np.linalg.norm(recording.link_incoming_joint_force[2:, 0, 0, :3], axis=-1)
    np.testing.assert_allclose(size, np.linalg.norm(force[1:], axis=-1), rtol=2e-3)


def test_no_joint_feels_an_effort():
    """d'Alembert along every joint, from recorded poses alone: a chain of free hinges under all six axes."""
    rng = np.random.default_rng(5)
    tree = trees.random_articulation(
        rng, 4, floating=False, kinds=("revolute_x", "revolute_y", "revolute_z"), armature=False
    )
    start = trees.random_state(rng, tree, speed=0.0)
    residuals = []
    for dt in (1 / 240, 1 / 480):
        settings = dataclasses.replace(SETTINGS, dt=dt)
        simulation = simulate(carried(tree, tumbling, rate=1920, seconds=1.5), settings=settings)
        simulation.set_state(joint_position=start.joint_position)
        recording = simulation.record(round(0.8 / dt))
        residuals.append(worst_effort(tree, recording, dt))
    assert residuals[1] < 0.02 and residuals[0] / residuals[1] > 2.5


def worst_effort(tree, recording, dt):
    """The largest generalised effort of inertia and weight on a joint, by central differences, after the start."""
    order = [recording.link_names.index(link.path) for link in tree.links]
    poses = recording.link_pose[:, 0, order]
    rotations = np.array([[Pose((0, 0, 0), tuple(q)).rotation for q in row] for row in poses[..., 3:]])
    centers = poses[..., :3] + rotations @ np.array([link.center_of_mass for link in tree.links])[..., None] @ [1.0]
    velocity = recording.link_velocity[:, 0, order]
    spin = velocity[..., 3:]
    change = (centers[2:] - 2 * centers[1:-1] + centers[:-2]) / dt**2
    turning = (spin[2:] - spin[:-2]) / (2 * dt)
    worst = 0.0
    for k in range(len(recording.time) // 4, len(recording.time) - 2):
        for joint in tree.joints:
            link = joint.child
            frame = Pose(tuple(poses[k, link, :3]), tuple(poses[k, link, 3:])) @ joint.child_frame
            axis = frame.rotation[:, "XYZ".index(joint.dofs[0].axis.name[-1])]
            effort = 0.0
            for other in beyond(tree, link):
                body = tree.links[other]
                R = rotations[k, other]
                xx, xy, xz, yy, yz, zz = body.inertia
                inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
                w, force = spin[k, other], body.mass * (change[k - 1, other] - rigid.GRAVITY)
                moment = inertia @ turning[k - 1, other] + np.cross(w, inertia @ w)
                effort += axis @ (moment + np.cross(centers[k, other] - frame.position, force))
            worst = max(worst, abs(effort))
    return worst


def beyond(tree, link):
    """A link and those further outward."""
    found = [link]
    for other in found:
        found += [joint.child for joint in tree.joints if joint.parent == other]
    return found


def test_forces_close():
    """The parts of the forces on each dof sum to zero while the base moves."""
    tree = carried(trees.chain(3), tumbling)
    simulation = simulate(tree)
    simulation.step(100)
    simulation.step(1, forces=True)
    parts = [getattr(simulation.state, name).numpy()[:, 0] for name in dir(simulation.state) if is_part(name)]
    total, largest = np.sum(parts, axis=0), np.abs(parts).max()
    assert len(parts) > 5 and np.abs(total).max() < 1e-10 * largest


def is_part(name):
    from warp_artic.mechanisms.group import JOINT_FORCES

    return name in JOINT_FORCES


def test_environments_and_lanes():
    """Every environment is carried alike, at any batch size, on lanes as on scalars."""
    tree = carried(trees.chain(3), tumbling)
    one = simulate(tree)
    many = simulate(tree, 20, dataclasses.replace(SETTINGS, variant="lanes"))
    for simulation in (one, many):
        simulation.step(120)
    positions = many.state.joint_position.numpy()
    assert (positions == positions[:, :1]).all()
    np.testing.assert_allclose(positions[:, 0], one.state.joint_position.numpy()[:, 0], atol=1e-9)


def test_a_resumed_run(tmp_path):
    tree = carried(trees.chain(2), tumbling)
    simulation, other = simulate(tree), simulate(tree)
    simulation.step(50)
    simulation.save(tmp_path / "run.npz")
    other.load(tmp_path / "run.npz")
    for one in (simulation, other):
        one.step(50)
    for name in ("joint_position", "link_pose"):
        assert (getattr(simulation.state, name).numpy() == getattr(other.state, name).numpy()).all()


def test_going_back_in_time():
    """Links are where they were at once, after a reset and after a snapshot, not only after the next step."""
    simulation = simulate(carried(trees.chain(2), tumbling))

    def links():
        return np.concatenate(
            [getattr(simulation.state, f"link_{one}").numpy().ravel() for one in ("pose", "velocity")]
        )

    start = links()
    simulation.step(50)
    snapshot, then = simulation.snapshot(), links()
    simulation.step(50)
    simulation.apply(snapshot)
    assert (links() == then).all()
    simulation.reset()
    assert (links() == start).all()


def test_it_wakes_what_it_carries():
    """A base that begins to move after its tree has fallen asleep."""
    settings = dataclasses.replace(SETTINGS, sleep_after=0.1)
    simulation = simulate(carried(bob(), lambda time: cart(time - 1.0), start=1.0), settings=settings)
    simulation.step(200)
    assert simulation.asleep().all()
    simulation.step(100)
    assert not simulation.asleep().any() and np.abs(simulation.state.joint_position.numpy()).max() > 0.01


@pytest.mark.parametrize("what", ["rk4", "capture"])
def test_what_cannot_be_carried(what):
    tree = carried(bob(), cart)
    if what == "rk4":
        with pytest.raises(
            SettingsError, match="rk4 is for free motion, and /World has 1 kinematic body that carries it"
        ):
            simulate(tree, settings=dataclasses.replace(SETTINGS, integrator="rk4"))
        return
    with pytest.raises(SettingsError, match="capture: kinematic bodies that move carry articulations"):
        simulate(tree).capture(2).launch()


def test_between_poses():
    """Poses are met where they are given, and cubic between; outside they stay."""
    found = motion(lambda time: [time**2, 0, 0, 0, 0, 2.9 * time], seconds=1.0, rate=4)
    for k in range(5):
        assert found.at(k / 4).position[0] == pytest.approx((k / 4) ** 2, abs=1e-12)
    assert found.at(0.375).position[0] == pytest.approx(0.375**2, abs=1e-12)
    assert found.at(-1.0) == found.at(0.0) and found.at(9.0) == found.at(1.0)
    np.testing.assert_allclose(found.at(0.6).rotation[0, 0], np.cos(2.9 * 0.6), atol=2e-3)
