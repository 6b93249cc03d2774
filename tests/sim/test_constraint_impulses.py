"""Contact points in the coefficient matrix, and the impulses of registered constraints against dense NumPy."""

import itertools
import math
from functools import partial

import numpy as np
import pinocchio as pin
import pytest

from tests import simulations, trees
from tests.busy_mechanisms import coupled
from tests.constraints.test_fixed_tendon import length, vectors
from tests.constraints.test_mimic import gears_of
from tests.constraints.test_spatial_tendon import law
from tests.oracles import couplings, pinocchio_model, rigid
from tests.phases.test_dynamics import set_states
from warp_artic import ContactPoint, SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose

H = 1.0 / 240.0
PRECISIONS = pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 1e-5)])

simulate = partial(simulations.simulate, environments=4, precision="float64", variant="lanes")


def close(found, wanted, tolerance):
    """Equal to a share of the largest entry."""
    wanted = np.asarray(wanted)
    scale = max(np.abs(wanted).max(initial=0.0), 1e-30)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * scale)


# ---------------------------------------------------------------------------------------------------------------------
# Tendons and mimic joints:  f = - k (e + h J_L v+) - d J_S v+,  limits where they are passed then,  G v+ = - 0.9 C / h
# ---------------------------------------------------------------------------------------------------------------------


class Dense:
    """M vdot + c + g = tau + K lambda / h with the laws of tendons and mimic joints, at one state."""

    def __init__(self, tree, state, effort, wrench):
        motion = rigid.motion(tree, state)
        M = rigid.mass_matrix(motion)
        self.base, self.v, self.inverse = rigid.base_count(tree), motion.velocity, np.linalg.inv(M)
        self.free = rigid.forward_dynamics(motion, effort, wrench)
        self.springs, self.limits, self.gears = [], [], []
        for k, tendon in enumerate(tree.fixed_tendons):
            c, r = vectors(tree, tendon, state)
            L = length(tree, tendon, state.joint_position)
            self.add_tendon(k, tendon, (L, c, c, r), tendon.rest_length, tendon.lower, tendon.upper)
        leaves = [(tendon, leaf) for tendon in tree.spatial_tendons for leaf in tendon.leaves]
        for k, (tendon, leaf) in enumerate(leaves, start=len(tree.fixed_tendons)):
            self.add_tendon(k, tendon, law(tendon, leaf, motion), leaf.rest_length, leaf.lower, leaf.upper)
        first = len(tree.fixed_tendons) + len(leaves)
        for k, mimic in enumerate(tree.mimics, start=first):
            gears = gears_of(tree, mimic)
            G, C = couplings.gradient(tree, state, gears), gears @ state.joint_position + mimic.offset
            if mimic.natural_frequency == 0.0:
                self.gears.append((k, G, -0.9 * C / H))
            else:
                r = G @ self.inverse @ G
                stiffness = mimic.natural_frequency**2 / r
                self.springs.append((k, stiffness, 2 * mimic.natural_frequency * mimic.damping_ratio / r, C, G, G, G))
        self.count = first + len(tree.mimics)

    def add_tendon(self, k, tendon, found, rest, lower, upper):
        L, J_L, J_S, push = found
        self.springs.append((k, tendon.stiffness, tendon.damping, L - rest, J_L, J_S, push))
        for end, side in ((lower, -1.0), (upper, 1.0)):
            if math.isfinite(end):
                self.limits.append((k, tendon.limit_stiffness, side, L - end, J_L, push))

    def solve(self):
        """lambda and vdot, with the only set of limits that is its own answer."""
        answers = []
        for acting in itertools.product([False, True], repeat=len(self.limits)):
            chosen = [limit for limit, acts in zip(self.limits, acting) if acts]
            springs = self.springs + [(k, s, 0.0, e, J, J, push) for k, s, _side, e, J, push in chosen]
            impulse, v = self.solve_linear(springs)
            beyond = [side * (e + H * J @ v) > 0.0 for _k, _s, side, e, J, _push in self.limits]
            if beyond == list(acting):
                answers.append((impulse, (v - self.v) / H))
        assert len(answers) == 1
        return answers[0]

    def solve_linear(self, springs):
        """lambda and v+ of springs and gears that all act."""
        pushes = [push for *_, push in springs] + [G for _k, G, _y in self.gears]
        columns = np.reshape(pushes, (-1, len(self.v))).T
        left, right = np.zeros((columns.shape[1],) * 2), np.zeros(columns.shape[1])
        v_free, response = self.v + H * self.free, self.inverse @ columns
        for row, (_k, stiffness, damping, e, J_L, J_S, _push) in enumerate(springs):
            slope = H * (H * stiffness * J_L + damping * J_S)
            left[row] = slope @ response
            left[row, row] += 1.0
            right[row] = -H * stiffness * e - slope @ v_free
        for row, (_k, G, y) in enumerate(self.gears, start=len(springs)):
            left[row], right[row] = G @ response, y - G @ v_free
        z = np.linalg.solve(left, right)
        impulse = np.zeros(self.count)
        np.add.at(impulse, [k for k, *_ in (*springs, *self.gears)], z)
        return impulse, v_free + response @ z


@pytest.fixture(scope="module")
def tied():
    """A tree with couplings of every kind, states in which limits act and do not, efforts and wrenches."""
    rng = np.random.default_rng(11)
    tree = coupled(rng, trees.random_articulation(rng, 16, floating=True, reverse=True))
    states = [trees.random_state(rng, tree) for _ in range(4)]
    efforts = 5.0 * rng.normal(size=(4, 6 + len(tree.dofs)))
    return tree, states, efforts, rng.normal(size=(4, len(tree.links), 6))


def solved(tied, precision):
    tree, states, efforts, wrench = tied
    simulation = simulate(tree, precision=precision)
    set_states(simulation, states)
    simulation.control.link_external_force.assign(wrench.transpose(1, 2, 0))
    return simulation, simulation.constraint_impulses(efforts)


@PRECISIONS
def test_tendons_and_mimic_joints_against_a_dense_solve(tied, precision, tolerance):
    """lambda, vdot and K lambda / h; some of the limits act."""
    simulation, found = solved(tied, precision)
    assert found.converged.all()
    wanted = [Dense(*case).solve() for case in zip([tied[0]] * 4, *tied[1:])]
    for k, (impulse, vdot) in enumerate(wanted):
        close(found.impulse.numpy()[k], impulse, tolerance)
        close(found.joint_acceleration.numpy()[k], vdot, tolerance)
    K = simulation.coefficient_matrix().numpy()
    close(found.joint_force.numpy(), np.einsum("evc,ec->ev", K, found.impulse.numpy()) / H, tolerance)


def test_they_are_what_a_step_does(tied):
    """The semi-implicit step without drives, limits and friction has the same forces and velocities."""
    tree, states, efforts, wrench = tied
    simulation = simulate(tree, integrator="semi_implicit")
    set_states(simulation, states)
    simulation.control.link_external_force.assign(wrench.transpose(1, 2, 0))
    simulation.control.joint_effort.assign(efforts[:, 6:].T)
    efforts = np.hstack([np.zeros((4, 6)), efforts[:, 6:]])
    found = simulation.constraint_impulses(efforts)
    before = simulation.state.joint_velocity.numpy().copy()
    simulation.step(forces=True)
    force = simulation.state.joint_tendon_force.numpy() + simulation.state.joint_mimic_force.numpy()
    close(found.joint_force.numpy()[:, 6:].T, force, 1e-9)
    vdot = (simulation.state.joint_velocity.numpy() - before) / H
    close(found.joint_acceleration.numpy()[:, 6:].T, vdot, 1e-9)


def test_parameters_that_change(tied):
    """Those of one environment, after the first call: it gets what a model with them has."""
    tree, states, efforts, _wrench = tied
    simulation = simulate(tree)
    set_states(simulation, states)
    before = simulation.constraint_impulses(efforts).impulse.numpy()
    stiffness = simulation.parameters.tendon_stiffness.numpy()
    stiffness[0, 2] *= 3.0
    simulation.parameters.tendon_stiffness.assign(stiffness)
    after = simulation.constraint_impulses(efforts).impulse.numpy()
    tendon = trees.replace(tree.fixed_tendons[0], stiffness=stiffness[0, 2])
    other = simulate(trees.replace(tree, fixed_tendons=(tendon, *tree.fixed_tendons[1:])))
    set_states(other, states)
    assert (after[[0, 1, 3]] == before[[0, 1, 3]]).all()
    assert (after[2] == other.constraint_impulses(efforts).impulse.numpy()[2]).all() and (after[2] != before[2]).any()


def test_any_solver_of_steps(tied):
    """They are solved for in one way, whatever solver a simulation steps with; bitwise."""
    tree, states, efforts, _wrench = tied
    found = []
    for solver in ("direct", "tgs"):
        simulation = simulate(tree, solver=solver)
        set_states(simulation, states)
        found.append(simulation.constraint_impulses(efforts).impulse.numpy())
    assert (found[0] == found[1]).all()


def test_constraints_that_contradict_each_other_do_not_converge():
    tree = trees.chain(2)
    mimics = tuple(Mimic(name=f"/World/m{k}", dofs=(1, 0), gears=(1.0, -1.0), offset=0.1 * k) for k in range(2))
    found = simulate(trees.replace(tree, mimics=mimics)).constraint_impulses()
    assert not found.converged.any() and (found.residual.numpy() > 1e-4).all()


# ---------------------------------------------------------------------------------------------------------------------
# Contact points
# ---------------------------------------------------------------------------------------------------------------------


def tangents(n):
    """Images of X and Y under the shortest turn from Z to n; below the horizon those of X and -Y, from -Z."""
    side = 1.0 if n[2] >= 0.0 else -1.0
    axis = np.cross([0.0, 0.0, side], n)
    angle = math.atan2(np.linalg.norm(axis), side * n[2])
    R = pin.exp3(angle * axis / np.linalg.norm(axis))
    return R[:, 0], side * R[:, 1]


def point_jacobian(model, state, link, position):
    """Velocity of a point of a link by generalized velocity, (3, N), from Pinocchio."""
    X_JL = model.X_ML[link]
    frame = pin.Frame(
        f"point {model.model.nframes}",
        model.joint_of_link[link],
        X_JL * pin.SE3(np.eye(3), np.asarray(position)),
        pin.OP_FRAME,
    )
    index = model.model.addFrame(frame)
    data, q = model.model.createData(), pinocchio_model.configuration(model, state)
    J = pin.computeFrameJacobian(model.model, data, q, index, pin.LOCAL_WORLD_ALIGNED)
    return J[:3] @ pinocchio_model.velocity_map(model, state)


@PRECISIONS
@pytest.mark.parametrize("floating", [False, True])
def test_columns_are_frame_jacobians(floating, precision, tolerance):
    """J^T of normal and tangents, against the world and against another link, in every environment its own."""
    rng = np.random.default_rng(4)
    tree = trees.random_articulation(rng, 9, floating=floating)
    states = [trees.random_state(rng, tree) for _ in range(4)]
    simulation = simulate(tree, precision=precision)
    set_states(simulation, states)
    ends = [(8, None), (3, None), (8, 3), (5, 7)]
    links = [link.path for link in tree.links]
    points = [ContactPoint(link=links[a], other=None if b is None else links[b]) for a, b in ends]
    contacts = simulation.register_contacts(points)
    positions, normals = rng.normal(size=(2, 4, len(ends), 3))
    contacts.position.assign(positions)
    contacts.normal.assign(normals)
    found = simulation.coefficient_matrix().numpy()
    assert found.shape[2] == len(simulation.articulations[0].dynamics.constraint_names) == 12
    model = pinocchio_model.build(tree)
    wanted = np.zeros_like(found, float)
    for e, state in enumerate(states):
        R, p, _V = pinocchio_model.link_motion(model, state)
        for k, (a, b) in enumerate(ends):
            J = point_jacobian(model, state, a, positions[e, k])
            if b is not None:
                place = p[a] + R[a] @ positions[e, k]
                J = J - point_jacobian(model, state, b, R[b].T @ (place - p[b]))
            n = normals[e, k] / np.linalg.norm(normals[e, k])
            wanted[e, :, 3 * k : 3 * k + 3] = J.T @ np.column_stack([n, *tangents(n)])
    close(found, wanted, tolerance)


def box(mass=2.0):
    """A box of 0.4 m by 0.2 m by 0.2 m, and its lower corners."""
    link = Link(path="/World/box", mass=mass, inertia=(0.013, 0.0, 0.0, 0.033, 0.0, 0.033))
    corners = list(itertools.product((-0.2, 0.2), (-0.1, 0.1), (-0.1,)))
    return Articulation(path="/World", links=(link,), joints=()), corners


def on_corners(simulation, corners, **options):
    return simulation.register_contacts([ContactPoint(link="/World/box", position=p, **options) for p in corners])


@PRECISIONS
def test_a_box_stands_on_four_points(precision, tolerance):
    """They carry a quarter of its weight each, and more where a force presses on it, and nothing moves."""
    tree, corners = box()
    simulation = simulate(tree, precision=precision)
    on_corners(simulation, corners, friction=0.5)
    push = np.zeros((4, 6))
    push[:, :2] = [[0.0, 0.0], [2.0, -1.0], [0.0, 3.0], [-4.0, 4.0]]
    found = simulation.constraint_impulses(push)
    assert found.converged.all()
    forces = found.impulse.numpy().reshape(4, 4, 3) / H
    total = forces.sum(axis=1)
    close(total, np.column_stack([np.full(4, 2.0 * 9.81), -push[:, :2]]), tolerance)
    np.testing.assert_allclose(found.joint_acceleration.numpy(), 0.0, atol=9.81 * tolerance)
    # How four points share what three could carry has more rounding in it than what they do together.
    np.testing.assert_allclose(forces[0, :, 0], 2.0 * 9.81 / 4.0, rtol=0.1 if precision == "float32" else 1e-4)


def walker():
    """A trunk on four legs that turn about Y, and the feet."""
    trunk = Link(path="/World/trunk", mass=8.0, inertia=(0.1, 0.0, 0.0, 0.2, 0.0, 0.25), pose=Pose((0.0, 0.0, 0.5)))
    links, joints = [trunk], []
    for k, (x, y) in enumerate(itertools.product((-0.3, 0.3), (-0.15, 0.15))):
        links.append(
            Link(
                path=f"/World/leg{k}",
                mass=0.5,
                center_of_mass=(0.0, 0.0, -0.2),
                inertia=(1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-4),
            )
        )
        dof = Dof(name=f"/World/hip{k}", axis=Axis.ROT_Y, position=0.3)
        joints.append(Joint(path=dof.name, parent=0, child=k + 1, parent_frame=Pose((x, y, 0.0)), dofs=(dof,)))
    return Articulation(path="/World", links=tuple(links), joints=tuple(joints))


FEET = [ContactPoint(link=f"/World/leg{k}", position=(0.0, 0.0, -0.4), friction=0.7) for k in range(4)]


@PRECISIONS
def test_a_walker_stands_on_its_feet(precision, tolerance):
    """With the torques of statics nothing accelerates, and the feet carry its weight as levers say."""
    simulation = simulate(walker(), precision=precision)
    simulation.register_contacts(FEET)
    weight = 10.0 * 9.81
    center = simulation.center_of_mass().numpy()[0, 0]
    front = 0.5 + 0.5 * (center + 0.4 * math.sin(0.3)) / 0.3
    carried = weight / 2.0 * np.array([1.0 - front, 1.0 - front, front, front])
    lift = simulation.coefficient_matrix().numpy()[:, :, ::3] @ carried
    torque = simulation.gravity_force().numpy() - lift
    close(torque[:, :6] + weight, np.full((4, 6), weight), tolerance)
    found = simulation.constraint_impulses(torque)
    assert found.converged.all()
    forces = found.impulse.numpy().reshape(4, 4, 3) / H
    close(forces.sum(axis=1), np.broadcast_to([weight, 0.0, 0.0], (4, 3)), tolerance)
    for pair in (slice(0, 2), slice(2, 4)):
        close(forces[:, pair, 0].sum(axis=1), np.full(4, carried[pair].sum()), tolerance)
    np.testing.assert_allclose(found.joint_acceleration.numpy(), 0.0, atol=100.0 * tolerance)


@PRECISIONS
def test_a_walker_in_motion(precision, tolerance):
    """Under random torques: M vdot + c + g = tau + K lambda / h, and velocities and impulses that fit each other."""
    rng = np.random.default_rng(1)
    simulation = simulate(walker(), environments=16, precision=precision)
    velocity = rng.normal(size=(16, 10))
    simulation.set_state(joint_velocity=velocity[:, 6:], root_velocity=velocity[:, :6])
    contacts = simulation.register_contacts(FEET)
    contacts.gap.assign(rng.uniform(-0.01, 0.01, (16, 4)))
    effort = 20.0 * rng.normal(size=(16, 10))
    found = simulation.constraint_impulses(effort)
    assert found.converged.all()
    M, bias = simulation.mass_matrix().numpy(), simulation.bias_force().numpy()
    vdot, force = found.joint_acceleration.numpy(), found.joint_force.numpy()
    close(np.einsum("eij,ej->ei", M, vdot) + bias, effort + force, tolerance)
    K, z = simulation.coefficient_matrix().numpy().astype(float), found.impulse.numpy().astype(float)
    close(np.einsum("evc,ec->ev", K, z) / H, force, tolerance)
    y = np.einsum("evc,ev->ec", K, velocity + H * vdot).reshape(16, 4, 3)
    r = np.einsum("evc,evw,ewc->ec", K, np.linalg.inv(M.astype(float)), K).reshape(16, 4, 3)
    moved = r * z.reshape(16, 4, 3)
    gap = contacts.gap.numpy() / H
    opening = y[..., 0] + np.where(gap > 0.0, gap, 0.2 * gap)
    most = 0.7 * moved[..., :1] * r[..., 1:] / r[..., :1]
    slip = moved[..., 1:] - np.clip(moved[..., 1:] - y[..., 1:], -most, most)
    scale = np.abs(y).max() + np.abs(moved).max()
    assert np.abs(np.minimum(opening, moved[..., 0])).max() < 10.0 * tolerance * scale
    assert np.abs(slip).max() < 10.0 * tolerance * scale
    assert (moved[..., 0] > 0.0).any(axis=0).all() and (moved[..., 0] == 0.0).any(axis=0).all()


def test_gaps():
    """A falling box may use up its gap in the step; a fifth of an overlap is taken back; far away nothing happens."""
    tree, _corners = box()
    simulation = simulate(tree)
    contacts = on_corners(simulation, [(0.0, 0.0, 0.0)])
    gaps = [0.5, 0.001, 0.0, -0.01]
    contacts.gap.assign(np.reshape(gaps, (4, 1)))
    simulation.set_state(root_velocity=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    found = simulation.constraint_impulses()
    free = -1.0 - 9.81 * H
    wanted = np.array([free, -0.001 / H, 0.0, 0.2 * 0.01 / H])
    np.testing.assert_allclose(-1.0 + H * found.joint_acceleration.numpy()[:, 2], wanted, atol=1e-10)
    np.testing.assert_allclose(found.impulse.numpy()[:, 0], 2.0 * (wanted - free), atol=1e-10)


def test_a_contact_between_two_links():
    """What it does to one link it does against the other: momentum stays, and so does what another one presses on."""
    simulation = simulate(walker(), gravity=(0.0, 0.0, 0.0))
    point = ContactPoint(link="/World/leg0", other="/World/leg1", position=(0.0, 0.1, -0.3), normal=(1.0, 0.0, 0.0))
    simulation.register_contacts([point])
    simulation.set_state(joint_velocity=[1.0, -2.0, 0.5, 0.0])
    found = simulation.constraint_impulses()
    K = simulation.coefficient_matrix().numpy()
    assert (found.impulse.numpy()[:, 0] > 0.0).all()
    np.testing.assert_allclose(K[:, :6], 0.0, atol=1e-15)
    after = simulation.state.joint_velocity.numpy().T + H * found.joint_acceleration.numpy()[:, 6:]
    np.testing.assert_allclose(np.einsum("evc,ev->ec", K[:, 6:], after)[:, 0], 0.0, atol=1e-11)


def test_directions_that_nothing_can_move():
    """An overlap along the axis of a hinge stays: no impulse can take it back."""
    simulation = simulate(trees.chain(1, "revolute_y"))
    simulation.register_contacts(
        [ContactPoint(link="/World/chain/link_00", position=(0.1, 0.0, 0.0), normal=(0.0, 1.0, 0.0), gap=-0.1)]
    )
    found = simulation.constraint_impulses()
    assert found.converged.all() and (found.impulse.numpy()[:, 0] == 0.0).all()


def test_a_point_without_a_normal_does_not_act():
    """The others do what they do without it; bitwise the same for any number of environments."""
    tree, corners = box()
    found = {}
    for count, environments in ((4, 4), (3, 4), (4, 40)):
        simulation = simulate(tree, environments=environments)
        contacts = on_corners(simulation, corners[:count], friction=0.3)
        if count == 4:
            contacts.normal.assign(np.broadcast_to([[0.0, 0.0, 1.0]] * 3 + [[0.0] * 3], (environments, 4, 3)))
        push = np.arange(4.0)[:, None] * [1.0, 2.0, -1.0, 0.1, 0.2, 0.3]
        found[count, environments] = simulation.constraint_impulses(
            np.tile(push, (environments // 4, 1))
        ).impulse.numpy()
    assert (found[4, 4][:, :9] == found[3, 4]).all() and (found[4, 4][:, 9:] == 0.0).all()
    assert (found[4, 40].reshape(10, 4, 12) == found[4, 4]).all()


def test_steps_know_nothing_of_contact_points():
    """Bitwise; and results go to memory that is given."""
    tree, corners = box()
    simulation, alone = simulate(tree), simulate(tree)
    on_corners(simulation, corners)
    first = simulation.constraint_impulses()
    assert simulation.constraint_impulses(np.ones(6), out=first) is first
    close(first.impulse.numpy()[:, ::3].sum(axis=1) / H, np.full(4, 2.0 * 9.81 - 1.0), 1e-10)
    for run in (simulation, alone):
        run.step(5)
    assert (simulation.state.root_pose.numpy() == alone.state.root_pose.numpy()).all()
    simulation.register_contacts([])
    assert simulation.coefficient_matrix().shape == (4, 6, 0)
    nothing = simulation.constraint_impulses()
    assert nothing.impulse.shape == (4, 0) and nothing.converged.all()
    assert simulation.constraint_impulses(out=nothing) is nothing
    for other in (nothing.impulse, first):
        with pytest.raises(SettingsError, match="out: is not"):
            simulation.constraint_impulses(out=other)
    close(nothing.joint_acceleration.numpy(), simulation.joint_acceleration().numpy(), 1e-12)


def test_several_articulations():
    """Each has contact points of its own."""
    tree, corners = box()
    twin = trees.replace(tree, path="/World/twin", links=(trees.replace(tree.links[0], path="/World/twin"),))
    settings = SolverSettings(precision="float64", variant="lanes", dt=H)
    simulation = Simulation(trees.scene(tree, twin), environments=4, settings=settings)
    one, two = (views.dynamics for views in simulation.articulations)
    one.register_contacts([ContactPoint(link="/World/box", position=p) for p in corners])
    two.register_contacts([ContactPoint(link="/World/twin")])
    for suite, count in ((one, 4), (two, 1), (one, 4)):
        assert suite.coefficient_matrix().shape == (4, 6, 3 * count)
        assert (suite.constraint_impulses().impulse.numpy()[:, ::3] > 0.0).all()


WHERE = "contacts: point 0: "


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"link": "/World/leg9"}, "/World/leg9 is not a link of /World; there are /World/trunk, /World/leg0"),
        ({"other": "/World/legs"}, "/World/legs is not a link of /World; there are"),
        ({"other": "/World/leg0"}, "/World/leg0 is on both sides"),
        ({"position": (0.0, math.nan, 0.0)}, r"position \(0.0, nan, 0.0\) is not three finite numbers"),
        ({"normal": (1.0,)}, r"normal \(1.0,\) is not three finite numbers"),
        ({"friction": -0.1}, "friction -0.1 is not a finite number of at least 0"),
        ({"gap": math.inf}, "gap inf is not a finite number"),
    ],
)
def test_wrong_points(options, text):
    with pytest.raises(SettingsError, match=WHERE + text):
        simulate(walker()).register_contacts([ContactPoint(**{"link": "/World/leg0", **options})])


def test_what_is_no_contact_point():
    simulation = simulate(walker())
    with pytest.raises(SettingsError, match=WHERE + "'/World/leg0' is not a ContactPoint"):
        simulation.register_contacts(["/World/leg0"])
    joint = trees.plain_joint("/World/weld", WORLD, 0, "fixed")
    held = trees.replace(walker(), joints=(joint, *walker().joints))
    with pytest.raises(SettingsError, match=WHERE + "/World/trunk does not move"):
        simulate(held).register_contacts([ContactPoint(link="/World/trunk")])


def test_friction_on_a_slope():
    """Below mu = tan it holds, above it slides with the acceleration of the schoolbook, friction against the motion."""
    slope = 0.4
    tree, corners = box()
    simulation = simulate(tree)
    contacts = on_corners(simulation, corners[:1], friction=0.0)
    contacts.position.assign(np.zeros((4, 1, 3)))
    contacts.normal.assign(np.broadcast_to([math.sin(slope), 0.0, math.cos(slope)], (4, 1, 3)))
    mu = np.array([0.0, 0.3, math.tan(slope) * 1.001, 5.0])
    contacts.friction.assign(mu[:, None])
    found = simulation.constraint_impulses()
    assert found.converged.all()
    weight = 2.0 * 9.81
    press, pull = weight * math.cos(slope), weight * math.sin(slope)
    wanted = np.array([[press, -min(m * press, pull), 0.0] for m in mu])
    close(found.impulse.numpy() / H, wanted, 1e-10)
    down = found.joint_acceleration.numpy()[:, :3] @ [math.cos(slope), 0.0, -math.sin(slope)]
    np.testing.assert_allclose(down, (pull + wanted[:, 1]) / 2.0, atol=1e-9)
