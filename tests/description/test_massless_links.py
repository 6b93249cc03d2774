"""Joints that leave translations free beside other axes, as one joint each in the oracle, in rows in the simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import rigid, step
from tests.oracles.state import State
from warp_artic import Simulation
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.limit import Limit
from warp_artic.description.massless_links import with_massless_links
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.tendon_mobility import mass_matrix

KINDS = tuple(trees.FREER_KINDS)

simulate = partial(simulations.simulate, precision="float64")


def put(simulation, state):
    """Put a simulation into a state."""
    root = {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
    simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)


def held(kind, mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.1, -0.2, 0.05), **joint):
    """A body on the world by a joint of a kind."""
    (link,) = trees.free_body(mass=mass, inertia=inertia).links
    link = replace(link, path="/World/body", center_of_mass=center_of_mass)
    one = replace(trees.plain_joint("/World/joint", WORLD, 0, kind), **joint)
    return Articulation(path="/World", links=(link,), joints=(one,))


def close(found, wanted, tolerance=1e-10):
    """Equal to a share of the largest entry."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * np.abs(wanted).max())


def test_a_joint_becomes_a_row():
    """Translations first, and last where the joint is authored from the child; dofs keep their order."""
    for is_reversed, ends in ((False, [(-1, 1), (1, 2), (2, 0)]), (True, [(2, 0), (1, 2), (-1, 1)])):
        tree = held("planar", reversed=is_reversed)
        row = with_massless_links(tree)
        assert [link.path for link in row.links[1:]] == (
            ["/World/joint:rotY", "/World/joint:transZ"]
            if is_reversed
            else ["/World/joint:transX", "/World/joint:transZ"]
        )
        assert all(link.is_massless for link in row.links[1:])
        assert [(joint.parent, joint.child) for joint in row.joints] == ends
        assert row.dofs == tree.dofs
    for kind in trees.JOINT_KINDS:
        if not kind.startswith("universal"):
            assert with_massless_links(held(kind)).links == held(kind).links


@pytest.mark.parametrize("kind", ["universal_xy", "universal_xz", "slide_universal"])
def test_twist_and_one_swing_become_a_row(kind):
    """The swing is carried by the first body and carries the twist, behind translations; dofs keep their order."""
    for is_reversed in (False, True):
        tree = held(kind, reversed=is_reversed)
        row = with_massless_links(tree)
        assert row.dofs == tree.dofs
        *slides, twist, swing = tree.dofs
        inbound, found, link = row.inbound, [], 0
        while link != WORLD:
            found += inbound[link].dofs
            link = inbound[link].parent
        outward = [*slides, swing, twist]
        assert found == (outward if is_reversed else outward[::-1])
        assert [link.path for link in row.links[1:]] == [dof.name for dof in found[:0:-1]]


@pytest.mark.parametrize("seed", range(4))
def test_dynamics_of_random_trees(seed):
    """Every method of the dynamics suite against dense NumPy, in which each joint is one displacement."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 2 * len(KINDS), floating=bool(seed % 2), kinds=(*KINDS, "spherical", "fixed"))
    state = trees.random_state(rng, tree)
    simulation = simulate(tree, variant="scalar")
    put(simulation, state)
    motion = rigid.motion(tree, state)
    close(simulation.mass_matrix().numpy()[0], rigid.mass_matrix(motion))
    close(simulation.gravity_force().numpy()[0], rigid.gravity_effort(motion))
    close(simulation.coriolis_force().numpy()[0], rigid.coriolis_effort(motion))
    close(simulation.center_of_mass().numpy()[0], rigid.center_of_mass(motion))
    wrench, effort = rng.normal(size=(len(tree.links), 6)), rng.normal(size=len(motion.velocity))
    close(simulation.external_force(wrench).numpy()[0], -rigid.external_effort(motion, wrench))
    simulation.control.link_external_force.assign(wrench[:, :, None])
    wanted = rigid.forward_dynamics(motion, effort, wrench)
    close(simulation.joint_acceleration(effort).numpy()[0], wanted, 1e-8)
    fixed = [k for k, joint in enumerate(tree.inbound) if joint and joint.parent == WORLD and not joint.dofs]
    J = np.delete(motion.J, fixed, axis=0).reshape(-1, len(motion.velocity))
    close(simulation.jacobian().numpy()[0], J)


@pytest.mark.parametrize("seed", range(2))
def test_mass_matrix_at_the_start(seed):
    """That which judges tendons, with rotations and translations in one joint."""
    rng = np.random.default_rng(10 + seed)
    tree = trees.random_articulation(rng, 9, floating=False, kinds=KINDS)
    tree = trees.authored_at(tree, trees.random_state(rng, tree))
    close(mass_matrix(tree), rigid.mass_matrix(rigid.motion(tree, trees.authored_state(tree))))


@pytest.mark.parametrize("seed", range(3))
def test_motion_of_random_trees(seed):
    """Poses, velocities and energy after 0.2 s as an integration of high order has them; fourth order on the way."""
    rng = np.random.default_rng(20 + seed)
    tree = trees.random_articulation(rng, len(KINDS), floating=bool(seed % 2), kinds=KINDS)
    tree = trees.with_dofs(tree, drive=trees.random_drives(rng, tree))
    state = trees.random_state(rng, tree)
    exact = step.trajectory(tree, state, np.array([0.0, 0.2]), tolerance=1e-13)
    errors = []
    for rate in (240, 480):
        simulation = simulate(tree, dt=1 / rate, integrator="rk4")
        put(simulation, state)
        assert simulation.link_names == tuple(link.path for link in tree.links)
        recording = simulation.record(round(0.2 * rate), every=round(0.2 * rate))
        pose, truth = recording.link_pose[-1, 0], exact.link_pose[-1]
        pose[:, 3:] *= np.sign(np.sum(pose[:, 3:] * truth[:, 3:], axis=1, keepdims=True))
        errors.append(
            [
                np.abs(pose - truth).max(),
                np.abs(recording.link_velocity[-1, 0] - exact.link_velocity[-1]).max(),
                np.abs(recording.joint_velocity[-1, 0] - exact.joint_velocity[-1]).max(),
            ]
        )
    assert np.max(errors[1]) < 1e-6
    np.testing.assert_allclose(np.divide(*errors), 16.0, rtol=0.25)
    assert recording.energy[-1].sum() == pytest.approx(exact.energy[-1].sum(), rel=1e-7)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_six_free_axes_leave_a_body_free(is_reversed):
    """Thrown and spinning, without weight: the path of a free body, which precesses, and its energy and momentum."""
    free = trees.free_body()
    body = replace(held("all", reversed=is_reversed), links=free.links)
    velocity = np.array([0.3, -0.2, 0.5, 2.0, -3.0, 1.0])
    one, other = (simulate(tree, gravity=(0, 0, 0), integrator="rk4", dt=1 / 480) for tree in (body, free))
    other.set_state(root_velocity=velocity)
    jacobian = one.jacobian().numpy()[0]  # of the centre of mass, as the velocity of a root
    one.set_state(joint_velocity=np.linalg.solve(jacobian, velocity))
    found, wanted = one.record(480, every=48), other.record(480, every=48)
    turned = np.sign(np.sum(found.link_pose[..., 3:] * wanted.link_pose[..., 3:], axis=-1, keepdims=True))
    np.testing.assert_allclose(found.link_pose[..., :3], wanted.link_pose[..., :3], atol=1e-8)
    np.testing.assert_allclose(turned * found.link_pose[..., 3:], wanted.link_pose[..., 3:], atol=1e-8)
    np.testing.assert_allclose(found.link_velocity, wanted.link_velocity, atol=1e-8)
    np.testing.assert_allclose(found.energy[:, 0, 0], wanted.energy[0, 0, 0], rtol=1e-9)
    assert np.ptp(wanted.link_velocity[:, 0, 0, 3:], axis=0).min() > 0.1  # it precesses


def test_springs_and_stops_by_axis():
    """Of a body on a planar joint: one axis hangs on its spring, one rests on its stop, one turns to its target."""
    hang, turn = Drive(stiffness=200.0, damping=40.0), Drive(stiffness=80.0, damping=8.0, position_target=0.4)
    tree = held("planar", center_of_mass=(0.0, 0.0, 0.0))
    tree = trees.with_dofs(tree, drive=[hang, None, turn], limit=[None, Limit(lower=-0.05, upper=0.5), None])
    simulation = simulate(tree, gravity=(3.0, 0.0, -9.81), precision="float32")
    recording = simulation.record(960, every=960, forces=True)
    assert recording.joint_position[-1, 0] == pytest.approx([2.0 * 3.0 / 200.0, -0.05, 0.4], abs=1e-4)
    assert recording.joint_limit_force[-1, 0] == pytest.approx([0.0, 2.0 * 9.81, 0.0], abs=1e-2)
    assert recording.joint_drive_force[-1, 0] == pytest.approx([-2.0 * 3.0, 0.0, 0.0], abs=1e-2)


def test_soft_stops_of_a_translation_and_its_only_rotation():
    """Each gives way by the load over its stiffness."""
    soft = {"lower": -0.05, "upper": 0.05}
    tree = held("cylindrical", center_of_mass=(0.0, 0.0, 0.0))
    limits = [Limit(stiffness=400.0, damping=40.0, **soft), Limit(stiffness=20.0, damping=2.0, **soft)]
    simulation = simulate(trees.with_dofs(tree, limit=limits), gravity=(-9.81, 0.0, 0.0), precision="float32")
    simulation.control.joint_effort.assign(np.array([[0.0], [3.0]]))
    simulation.step(960)
    position = simulation.state.joint_position.numpy()[:, 0]
    assert position == pytest.approx([-0.05 - 2.0 * 9.81 / 400.0, 0.05 + 3.0 / 20.0], abs=1e-4)


def test_a_screw():
    """A mimic between the two axes of a cylindrical joint: it falls with g m / (m + I / pitch^2)."""
    pitch, inertia, mass = 0.05, 0.01, 2.0
    tree = held("cylindrical", mass=mass, inertia=(inertia, 0.2, 0.25), center_of_mass=(0.0, 0.0, 0.0))
    tree = replace(tree, mimics=(Mimic(name="/World/joint:transX", dofs=(0, 1), gears=(1.0, -pitch)),))
    recording = simulate(tree, gravity=(-9.81, 0.0, 0.0), precision="float32").record(60)
    velocity = -9.81 * mass / (mass + inertia / pitch**2) * 60 / 240
    assert recording.joint_velocity[-1, 0] == pytest.approx([velocity, velocity / pitch], rel=1e-4)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_forces_into_the_links(is_reversed):
    """What joints carry moves what is beyond them; massless links pass it on, and have no name. As steps get short."""
    rng = np.random.default_rng(4)
    tree = trees.random_articulation(rng, 4, floating=False, kinds=("planar", "all", "cylindrical"), reverse=False)
    tree = replace(tree, joints=tuple(replace(joint, reversed=is_reversed) for joint in tree.joints))
    state = trees.random_state(rng, tree)
    simulation = simulate(tree, dt=1e-7)
    put(simulation, state)
    motion = rigid.motion(tree, state)
    wanted = rigid.incoming_joint_force(motion, rigid.forward_dynamics(motion))
    found = simulation.record(1, forces=True).link_incoming_joint_force[-1, 0]
    assert found.shape == wanted.shape == (4, 6)
    close(found, wanted, 1e-5)


def test_several_articulations_and_environments():
    """Arrays of links leave massless ones out, with several trees and environments, and masses can be changed."""
    first = held("all")
    second = replace(trees.free_body(), path="/World/loose")
    second = replace(second, links=(replace(second.links[0], path="/World/loose"),))
    scene = trees.scene(first, second, gravity=(0, 0, 0))
    simulation = Simulation(scene, environments=3)
    assert simulation.link_names == ("/World/body", "/World/loose")
    assert simulation.articulations[0].link_names == ("/World/body",)
    assert simulation.articulations[0].parameters.link_mass.shape == (1, 3)
    assert simulation.parameters.link_mass.numpy().shape == (2, 3)
    pushes = np.zeros((2, 6, 3))
    pushes[:, 0] = 1.0, 2.0, 3.0
    simulation.control.link_external_force.assign(pushes)
    simulation.step(24)
    velocity = simulation.state.link_velocity.numpy()
    masses = np.array([link.mass for tree in scene.articulations for link in tree.links])
    np.testing.assert_allclose(velocity[:, 0], np.outer(1.0 / masses, (0.1, 0.2, 0.3)), rtol=1e-4)


def state_of(tree, position):
    """At rest."""
    return State(joint_position=np.array(position), joint_velocity=np.zeros(len(tree.dofs)))


@pytest.mark.parametrize("is_reversed", [False, True])
def test_where_positions_put_the_link(is_reversed):
    """A quarter turn about Y and distances along X and Z of the first frame of the authored displacement."""
    tree = held("planar", reversed=is_reversed, parent_frame=Pose(position=(0.0, 0.0, 1.0)))
    simulation = simulate(tree)
    put(simulation, state_of(tree, [0.3, 0.1, math.pi / 2]))
    *place, x, y, z, w = simulation.state.link_pose.numpy()[0, :, 0]
    # The inverse of (0.3, 0, 0.1) and a turn that takes Z to X: first the turn back, which takes X to Z and Z to -X.
    assert place == pytest.approx((0.1, 0.0, 1.0 - 0.3) if is_reversed else (0.3, 0.0, 1.1))
    assert abs(y) == pytest.approx(math.sqrt(0.5)) and math.copysign(1.0, y * w) == (-1.0 if is_reversed else 1.0)
    assert tree.joints[0].dofs[2].axis is Axis.ROT_Y


def test_mass_properties_are_of_bodies():
    """Set at run time, for links that are users', bitwise as where a scene is authored so."""
    tree, center, inertia = held("slide_ball"), (0.05, 0.1, -0.1), (0.3, 0.0, 0.0, 0.2, 0.0, 0.25)
    simulation = simulate(tree)
    simulation.set_mass_properties(center_of_mass=[center], inertia=[inertia])
    (link,) = tree.links
    other = simulate(replace(tree, links=(replace(link, center_of_mass=center, inertia=inertia),)))
    np.testing.assert_array_equal(simulation.record(5).link_pose, other.record(5).link_pose)


@pytest.mark.parametrize("kind", KINDS)
def test_massless_links_have_the_share_of_gravity_of_their_body(kind):
    """So that a tree whose bodies share gravity alike counts as one."""
    tree = held(kind)
    tree = replace(tree, links=(replace(tree.links[0], gravity_scale=0.25),))
    assert {link.gravity_scale for link in with_massless_links(tree).links} == {0.25}
