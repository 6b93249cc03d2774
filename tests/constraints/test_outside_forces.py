"""Forces by joints without those of tendons: with these as forces from outside, what is beyond a joint balances."""

import math

import numpy as np
import pytest

from tests import trees
from tests.constraints.test_spatial_tendon import chain_of, places, random_tendon
from tests.oracles import couplings, joint_motion, rigid
from tests.oracles.simulated_state import put, state_of
from tests.simulations import simulate_exactly as simulate
from tests.step_taken import disturb
from warp_artic import IncomingForces, SettingsError
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.usd.write_incoming_forces import write_incoming_forces

H = 1 / 240
WITHOUT = IncomingForces(tendons=False)


def incoming(simulation, forces):
    """Of the step from the state where the simulation is."""
    return simulation.record(1, forces=forces).link_incoming_joint_force[-1, 0]


# ---------------------------------------------------------------------------------------------------------------------
# Random trees
# ---------------------------------------------------------------------------------------------------------------------


def tendons(rng, tree):
    """Two fixed tendons on dofs of any joints, one with limits, and a spatial one of each routing."""
    dofs, c = rng.permutation(len(tree.dofs)), rng.normal(size=len(tree.dofs))
    r = c * rng.uniform(0.7, 1.3, size=len(c))
    fixed = tuple(
        FixedTendon(
            name=f"/World/fixed_{k}",
            dofs=tuple(map(int, dofs[k::2])),
            coefficients=tuple(c[k::2]),
            force_coefficients=tuple(r[k::2]),
            stiffness=30.0,
            damping=1.0,
            limit_stiffness=20.0 * k,
            upper=-9.0 if k else math.inf,
        )
        for k in range(2)
    )
    gains = {"stiffness": 20.0, "damping": 1.0, "limit_stiffness": 50.0, "leaf": {"upper": 0.1}}
    spatial = [random_tendon(rng, len(tree.links), all_segments=everywhere, **gains) for everywhere in (False, True)]
    spatial[1] = trees.replace(
        spatial[1],
        name="/World/u",
        attachments=tuple(trees.replace(each, name=f"/World/u{k}") for k, each in enumerate(spatial[1].attachments)),
    )
    return trees.replace(tree, fixed_tendons=fixed, spatial_tendons=tuple(spatial))


def unit_wrenches(tendon, leaf, motion):
    """Forces and torques at the centres of mass of all links of a unit force of a leaf, shape (L, 6)."""
    x, _ = places(tendon, motion)
    ends = chain_of(tendon, leaf)
    found = np.zeros((len(motion.p_WC), 6))
    for k, (outer, inner) in enumerate(zip(ends[:-1], ends[1:])):
        u = (x[outer] - x[inner]) / np.linalg.norm(x[outer] - x[inner])
        c = tendon.attachments[outer].coefficient if tendon.all_segments else 1.0
        for end, force in ((outer, u), (inner, -u)):
            if tendon.all_segments or (end == outer and k == 0) or (end == inner and k == len(ends) - 2):
                link = tendon.attachments[end].link
                found[link] += c * np.array([*force, *np.cross(x[end] - motion.p_WC[link], force)])
    return found


def pair_on(joint, q, efforts):
    """The least wrench about the point where a joint turns that does these efforts, moved to the origin of M; (6)."""
    coordinates = joint_motion.coordinates_of(joint, q)
    shift = joint_motion.shift_of(joint, coordinates[: joint_motion.slides(joint)])
    arm = -shift if joint.reversed else np.zeros(3)
    axes = joint_motion.subspace(joint, coordinates)
    axes[:3] -= joint_motion.cross(arm, axes[3:])
    force, moment = np.split(np.linalg.pinv(axes.T) @ efforts, 2)
    return np.array([*force, *(moment + np.cross(arm, force))])


@pytest.mark.parametrize("solver", ["direct", "tgs"])
@pytest.mark.parametrize("kinds", [tuple(trees.JOINT_KINDS), tuple(trees.FREER_KINDS)], ids=["plain", "freer"])
def test_what_is_beyond_a_joint_balances_with_tendons_outside(kinds, solver):
    """On every kind of joint, also reversed; forces of tendons are found from what they do on all dofs."""
    rng = np.random.default_rng(6)
    tree = tendons(rng, trees.random_articulation(rng, 14, kinds=kinds, floating=True))
    one, other = (simulate(tree, solver=solver, position_iterations=1, integrator="semi_implicit") for _ in range(2))
    _efforts, wrench = disturb(rng, one)
    before = state_of(one)
    put(other, before)
    for name in ("joint_effort", "link_external_force"):
        getattr(other.control, name).assign(getattr(one.control, name).numpy())
    usual, found = incoming(one, True), incoming(other, WITHOUT)
    placed = rigid.motion(tree, before)
    acted = np.concatenate([one.state.root_tendon_force.numpy()[0, :, 0], one.state.joint_tendon_force.numpy()[:, 0]])
    acceleration = np.concatenate(
        [one.state.root_acceleration.numpy()[0, :, 0], one.state.joint_acceleration.numpy()[:, 0]]
    )
    np.testing.assert_allclose(
        usual,
        rigid.incoming_joint_force(placed, acceleration, wrench),
        rtol=0,
        atol=1e-9 * np.abs(usual).max(),
    )
    leaves = [unit_wrenches(tendon, leaf, placed) for tendon in tree.spatial_tendons for leaf in tendon.leaves]
    fixed = np.zeros((2, len(acted)))
    for push, tendon in zip(fixed, tree.fixed_tendons):
        r = np.zeros(len(tree.dofs))
        r[list(tendon.dofs)] = tendon.force_coefficients
        push[:] = couplings.gradient(tree, before, r)
    pushes = np.array([*fixed, *(rigid.external_effort(placed, leaf) for leaf in leaves)]).T
    forces, misfit, rank, _ = np.linalg.lstsq(pushes, acted)
    assert rank == len(forces) and misfit < 1e-18 * (acted @ acted) and np.abs(forces).min() > 1e-2
    outside = wrench + sum(force * leaf for force, leaf in zip(forces[2:], leaves))
    wanted = rigid.incoming_joint_force(placed, acceleration, outside)
    efforts = (forces[:2] @ fixed)[6:]
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        if joint.dofs:
            wanted[joint.child] -= pair_on(joint, before.joint_position[part], efforts[part])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    assert np.abs(usual - found).max() > 0.1 * np.abs(wanted).max()


# ---------------------------------------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------------------------------------

MASS, CENTER, LENGTH, HEIGHT, G = 1.5, 0.35, 0.9, 1.2, 9.81
PULL = MASS * G * CENTER / (LENGTH * HEIGHT / math.hypot(LENGTH, HEIGHT))
"""Of the rope that holds the rod level [N]."""


def rod_on_a_rope(stiffness=1e4):
    """A level rod on a hinge about Y, whose tip hangs on a rope from a point of the base above the hinge."""
    inertia = (0.01, 0.0, 0.0, 0.1, 0.0, 0.1)
    links = (
        Link(path="/World/base", mass=2.0, inertia=inertia),
        Link(path="/World/rod", mass=MASS, inertia=inertia, center_of_mass=(CENTER, 0.0, 0.0)),
    )
    joints = (
        Joint(path="/World/weld", parent=WORLD, child=0),
        Joint(path="/World/hinge", parent=0, child=1, dofs=(Dof(name="/World/hinge", axis=Axis.ROT_Y),)),
    )
    ends = (
        Attachment(name="/World/anchor", link=0, position=(0.0, 0.0, HEIGHT), parent=None),
        Attachment(name="/World/tip", link=1, position=(LENGTH, 0.0, 0.0), parent=0),
    )
    leaf = TendonLeaf(attachment=1, rest_length=math.hypot(LENGTH, HEIGHT) - PULL / stiffness)
    rope = SpatialTendon(name="/World/rope", attachments=ends, leaves=(leaf,), stiffness=stiffness)
    return Articulation(path="/World", links=links, joints=joints, spatial_tendons=(rope,))


def test_a_rod_that_hangs_on_a_rope():
    """With the rope all of the weight crosses the hinge; without, what the rope leaves. The weld carries all."""
    tree = rod_on_a_rope()
    usual, found = (incoming(simulate(tree), forces) for forces in (True, WITHOUT))
    weight = MASS * G
    np.testing.assert_allclose(usual[1], [0.0, 0.0, weight, 0.0, -weight * CENTER, 0.0], atol=1e-9)
    rope = PULL * np.array([-LENGTH, 0.0, HEIGHT]) / math.hypot(LENGTH, HEIGHT)
    np.testing.assert_allclose(found[1], [*([0.0, 0.0, weight] - rope), 0.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found[0], usual[0], atol=1e-9)
    np.testing.assert_allclose(found[0], [0.0, 0.0, weight + 2.0 * G, 0.0, -weight * CENTER, 0.0], atol=1e-9)


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("kind", ["revolute_y", "prismatic_z"])
def test_a_fixed_tendon_is_along_the_axis(kind, is_reversed):
    """On two joints in a row: each loses the effort of its own dof, and nothing else changes."""
    tree = trees.chain(2, kind)
    joints = tuple(trees.replace(joint, reversed=is_reversed) for joint in tree.joints)
    tendon = FixedTendon(
        name="/World/tendon", dofs=(0, 1), coefficients=(1.0, 0.5), force_coefficients=(1.0, 2.0), stiffness=50.0
    )
    tree = trees.with_dofs(trees.replace(tree, joints=joints, fixed_tendons=(tendon,)), position=(0.4, -0.3))
    one, other = simulate(tree), simulate(tree)
    usual, found = incoming(one, True), incoming(other, WITHOUT)
    efforts = one.state.joint_tendon_force.numpy()[:, 0] * (-1.0 if is_reversed else 1.0)
    lost = np.zeros((2, 6))
    lost[:, 4 if kind == "revolute_y" else 2] = efforts
    np.testing.assert_allclose(usual - found, lost, atol=1e-9)
    assert np.abs(efforts).min() > 1.0


def test_recordings_say_what_they_have_and_are_not_written_without_tendons():
    """The attributes of a stage are with tendons."""
    recording = simulate(rod_on_a_rope()).record(1, forces=WITHOUT)
    assert recording.metadata["incoming_forces"] == {"axes": "joint", "tendons": False}
    with pytest.raises(SettingsError, match="tendons is False; to write it, record with forces=True"):
        write_incoming_forces(None, None, recording, 0, None, None, None)
