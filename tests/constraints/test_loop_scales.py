"""Inverse mass and inertia scales of loop joints: closed forms of two free bodies, and the dense answer of several."""

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_loop_joint import four_bar
from tests.oracles import rigid
from tests.simulations import simulate_exactly as simulate
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import Limit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.scene import Scene
from warp_artic.description.validate import findings

H = 1.0 / 240.0
MASSES = (1.5, 4.0)
INERTIAS = ((0.02, 0.003, -0.002, 0.03, 0.001, 0.025), (0.2, 0.01, 0.0, 0.15, -0.02, 0.12))
BALL = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)


def body(
    name, k, place=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), center=(0.0, 0.0, 0.0), linear=(0,) * 3, angular=(0,) * 3
):
    """A free body, as an articulation of its own."""
    link = Link(
        path=name,
        mass=MASSES[k],
        inertia=INERTIAS[k],
        center_of_mass=center,
        pose=Pose(place, quaternion_from_rotation_vector(turn)),
        linear_velocity=tuple(map(float, linear)),
        angular_velocity=tuple(map(float, angular)),
    )
    return Articulation(path=name, links=(link,), joints=())


def joined(first, second, **loop):
    """Two free bodies with a joint between them."""
    closing = LoopJoint(name="/joint", link0=0, link1=0, articulation1=second.path, **loop)
    return Scene(articulations=(trees.replace(first, constraints=(closing,)), second), gravity=(0.0, 0.0, 0.0))


def velocities(simulation):
    """Linear and angular velocities of both bodies, shape (2, 6)."""
    return simulation.state.link_velocity.numpy()[..., 0].astype(float).reshape(2, 6)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 10.0), (3.0, 0.25), (0.0, 1.0), (2.0, 0.0)])
def test_impulse_of_two_free_bodies(solver, scales):
    """Without arms the impulse is the relative velocity by s_0 / m_0 + s_1 / m_1; a body of scale zero moves on."""
    speeds = np.array([0.7, -1.1])
    first, second = (body(f"/b{k}", k, linear=(speed, 0, 0)) for k, speed in enumerate(speeds))
    simulation = simulate(
        joined(first, second, free=(Axis.TRANS_Y, Axis.TRANS_Z, *BALL), inverse_mass_scales=scales), solver=solver
    )
    simulation.step(1)
    of_each = np.array(scales) / MASSES
    z = (speeds[0] - speeds[1]) / of_each.sum()
    wanted = speeds + of_each * z * np.array([-1.0, 1.0])
    found = velocities(simulation)
    np.testing.assert_allclose(found[:, 0], wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[:, 1:], 0.0, atol=1e-12)
    of_scaled = np.array([m / s if s else 0.0 for m, s in zip(MASSES, scales)])
    if all(scales):
        assert of_scaled @ found[:, 0] == pytest.approx(of_scaled @ speeds, abs=1e-12)


@pytest.mark.parametrize("scales", [(1.0, 5.0), (0.0, 1.0)])
def test_turns_of_two_free_bodies(scales):
    """Of a joint that locks rotations about a principal axis the inertias are scaled."""
    rates = np.array([2.0, -1.0])
    moments = np.array([0.4, 0.9])
    bodies = []
    for k, rate in enumerate(rates):
        one = body(f"/b{k}", k, angular=(0, 0, rate))
        link = trees.replace(one.links[0], inertia=(0.4, 0, 0, 0.3, 0, moments[k]))
        bodies.append(trees.replace(one, links=(link,)))
    free = (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z, Axis.ROT_X, Axis.ROT_Y)
    simulation = simulate(joined(*bodies, free=free, twist_axis=Axis.ROT_Z, inverse_inertia_scales=scales))
    simulation.step(1)
    of_each = np.array(scales) / moments
    wanted = rates + of_each * (rates[0] - rates[1]) / of_each.sum() * np.array([-1.0, 1.0])
    np.testing.assert_allclose(velocities(simulation)[:, 5], wanted, rtol=0, atol=1e-12)


def chain(scales):
    """Three free bodies with arms and centres of mass off their frames, and two joints that scale differently."""
    rng = np.random.default_rng(3)
    bodies, frames = [], []
    for k in range(3):
        one = body(
            f"/b{k}",
            k % 2,
            place=tuple(rng.normal(size=3)),
            turn=tuple(rng.normal(size=3)),
            center=tuple(0.1 * rng.normal(size=3)),
            linear=tuple(rng.normal(size=3)),
            angular=tuple(rng.normal(size=3)),
        )
        bodies.append(one)
    loops = []
    for k in range(2):
        meeting = Pose(tuple(rng.normal(size=3)), quaternion_from_rotation_vector(tuple(rng.normal(size=3))))
        frames = [bodies[j].links[0].pose.inverse() @ meeting for j in (k, k + 1)]
        mass, inertia = scales[k]
        loops.append(
            LoopJoint(
                name=f"/joint{k}",
                link0=0,
                link1=0,
                articulation1=f"/b{k + 1}",
                frame0=frames[0],
                frame1=frames[1],
                free=BALL if k else (Axis.ROT_Z,),
                inverse_mass_scales=mass,
                inverse_inertia_scales=inertia,
            )
        )
    bodies = [trees.replace(one, constraints=(loops[k],)) if k < 2 else one for k, one in enumerate(bodies)]
    return Scene(articulations=tuple(bodies), gravity=(0.0, 0.0, 0.0)), loops


def spatial(link, point):
    """J of the velocity of a point in the world, and of the angular velocity, in those of the centre of mass."""
    R = link.pose.rotation
    arm = point - (np.asarray(link.pose.position) + R @ np.asarray(link.center_of_mass))
    J = np.eye(6)
    J[:3, 3:] = -rigid.cross_matrix(arm)
    return J


def test_dense_answer_of_a_chain():
    """One closing of velocities, from y = 0 on: v+ = v + M^-1 P G^-1 (- J v), with P of scaled wrenches."""
    scales = (((2.0, 0.5), (1.5, 3.0)), ((0.0, 4.0), (1.0, 0.2)))
    scene, loops = chain(scales)
    bodies = [one.links[0] for one in scene.articulations]
    M_inverse, J, S = np.zeros((18, 18)), [], []
    for k, link in enumerate(bodies):
        xx, xy, xz, yy, yz, zz = link.inertia
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])  # noqa: E741 (moment of inertia)
        R = link.pose.rotation
        own = slice(6 * k, 6 * k + 6)
        M_inverse[own, own][:3, :3] = np.eye(3) / link.mass
        M_inverse[own, own][3:, 3:] = np.linalg.inv(R @ I @ R.T)
    for k, loop in enumerate(loops):
        X_0 = bodies[k].pose @ loop.frame0
        n = [X_0.rotation[:, axis.index] for axis in loop.held]
        scale = np.ones(18)
        for side in range(2):
            first = 6 * (k + side)
            scale[first : first + 3] = loop.inverse_mass_scales[side]
            scale[first + 3 : first + 6] = loop.inverse_inertia_scales[side]
        for axis, along in zip(loop.held, n):
            row = np.zeros(18)
            for side, sign in ((0, -1.0), (1, 1.0)):
                own = spatial(bodies[k + side], np.asarray(X_0.position))
                part = own[:3] if axis.is_linear else own[3:]
                row[6 * (k + side) : 6 * (k + side) + 6] = sign * along @ part
            J.append(row)
            S.append(scale)
    J, P = np.array(J), (np.array(J) * np.array(S)).T
    v = np.concatenate([[*link.linear_velocity, *link.angular_velocity] for link in bodies])
    wanted = v - M_inverse @ P @ np.linalg.solve(J @ M_inverse @ P, J @ v)
    simulation = simulate(scene, dt=1e-11)
    simulation.step(1)
    found = simulation.state.link_velocity.numpy().ravel()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("precision, gap", [("float64", 1e-8), ("float32", 2e-5)])
def test_a_chain_stays_joined(precision, gap):
    """Half a second of bodies whose joints scale each in its way; alone they would be metres apart."""
    scene, _ = chain((((2.0, 0.5), (1.5, 3.0)), ((0.5, 4.0), (1.0, 0.2))))
    simulation = simulate(scene, precision=precision, variant="lanes" if precision == "float32" else "scalar")
    recording = simulation.record(120)
    assert np.abs(recording.loop_error).max() < gap
    assert np.isfinite(recording.link_velocity).all()


def test_limits_and_drives_are_scaled():
    """A velocity drive along the axis gives each body its share of the impulse; so does the end of a limit."""
    for extra in (
        {"drives": ((Axis.TRANS_X, Drive(damping=50.0, velocity_target=1.0)),)},
        {"limits": ((Axis.TRANS_X, Limit(lower=-1e-9, upper=1e-9)),)},
    ):
        bodies = [body(f"/b{k}", k, linear=(0.6 * k, 0, 0)) for k in range(2)]
        scene = joined(*bodies, free=tuple(Axis), inverse_mass_scales=(0.0, 2.0), **extra)
        simulation = simulate(scene)
        simulation.step(1)
        found = velocities(simulation)[:, 0]
        assert found[0] == 0.0
        if "limits" in extra:
            assert found[1] == pytest.approx(0.0, abs=1e-6)
        else:
            f = 50.0 * H
            assert found[1] == pytest.approx((0.6 + 2.0 / MASSES[1] * f) / (1.0 + 2.0 / MASSES[1] * f), abs=1e-9)


def test_only_lone_free_bodies_have_scales():
    """A link of a tree has no mass of its own that could be scaled; the world takes any scale."""
    links = tuple(body(f"/t/{k}", k).links[0] for k in range(2))
    hinge = Joint(path="/t/hinge", parent=0, child=1, dofs=(Dof(name="/t/hinge", axis=Axis.ROT_Z),))
    loop = LoopJoint(name="/t/loop", link0=WORLD, link1=1, free=BALL, inverse_mass_scales=(7.0, 2.0))
    tree = Articulation(path="/t", links=links, joints=(hinge,), constraints=(loop,))
    (found,) = findings(trees.scene(tree))
    assert found.path == "/t/loop" and "is no lone free body: /t/hinge joins it to a tree" in found.message
    fine = trees.replace(tree, constraints=(trees.replace(loop, inverse_mass_scales=(7.0, 1.0)),))
    assert not list(findings(trees.scene(fine)))
    lone = trees.replace(tree, links=links[:1], joints=())
    for scales, text in (((1.0, -2.0), "not negative"), ((1.0, 0.0), "moves none of its bodies")):
        bad = LoopJoint(name="/t/loop", link0=WORLD, link1=0, free=BALL, inverse_inertia_scales=scales)
        (found,) = findings(trees.scene(trees.replace(lone, constraints=(bad,))))
        assert text in found.message
    between = LoopJoint(
        name="/a/loop", link0=0, link1=1, articulation1="/t", free=BALL, inverse_inertia_scales=(1.0, 2.0)
    )
    other = trees.replace(tree, constraints=())
    scene = Scene(articulations=(trees.replace(body("/a", 0), constraints=(between,)), other))
    assert any("is no lone free body" in one.message for one in findings(scene))


def test_the_energy_of_other_islands_is_kept():
    """A linkage beside a body whose joint scales, in one mechanism, moves as it does beside one whose joint does not.

    Alike to rounding: nonsymmetric rows have the whole column solved in another way. The joint is to the world: what it
    holds is an island that keeps its energy too, but for the scale.
    """
    linkage = four_bar()
    runs = []
    for scales in ((1.0, 1.0), (1.0, 3.0)):
        swinging = body("/swing", 0, place=(0.0, 0.0, 4.0), center=(0.3, 0.1, 0.0))
        place = Pose((0.0, 0.0, 4.0))
        pin = LoopJoint(name="/swing/pin", link0=WORLD, link1=0, frame0=place, free=BALL, inverse_mass_scales=scales)
        swinging = trees.replace(swinging, constraints=(pin,))
        parts = (linkage, swinging)
        scene = Scene(articulations=parts, gravity=(0.0, -9.81, 0.0), mechanisms=(tuple(one.path for one in parts),))
        simulation = simulate(scene)
        run = []
        for _ in range(120):
            simulation.step(10)
            run.append([one.state.energy.numpy().ravel().astype(float) for one in simulation.articulations])
        runs.append(np.array(run))
        runs.append(simulation.state.joint_position.numpy())
    alike, q, scaled, q_scaled = runs
    np.testing.assert_allclose(q_scaled, q, atol=1e-10)
    np.testing.assert_allclose(scaled[:, 0], alike[:, 0], atol=1e-10)
    for kept in (alike[:, 0], alike[:, 1], scaled[:, 0]):
        assert np.ptp(kept.sum(axis=1)) < 1e-9 * kept[:, 0].max()
    assert np.ptp(scaled[:, 1].sum(axis=1)) > 1e-6
