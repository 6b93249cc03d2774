"""Loop joints beside each other family of rows, on random mechanisms: steps against dense matrices."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.constraints import test_distance, test_fixed_tendon, test_mimic, test_spatial_tendon
from tests.constraints.test_loop_joint import FREE
from tests.constraints.test_pairs_on_rotations import with_drives
from tests.constraints.test_soft_rotation_limits import limit_springs, passing_limits
from tests.oracles import closures, rigid
from tests.oracles.closed_step import Bound, ClosedStep
from tests.oracles.dense_step import Spring, assert_steps
from tests.oracles.simulated_state import put
from tests.simulations import simulate_exactly as simulate
from warp_artic.description.distance import Distance
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD
from warp_artic.description.limit import Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

H = 1.0 / 240.0
LINKS = 8
SINGLE = ("revolute_x", "prismatic_y", "revolute_z", "revolute_y")
MIXED = ("revolute_x", "prismatic_y", "revolute_z", "spherical", "zero_twist", "universal_xy")


def random_loop(rng, tree, state, kind, k=0, world=False):
    """A loop joint of a kind between two links, or a link and the world, displaced along what it leaves free.

    Of thirty pairs the one that the most dofs move against each other: a loop that is locked shows little.
    """
    pairs = [[int(link) for link in rng.choice(len(tree.links), 2, replace=False)] for _ in range(30)]
    pairs = [[WORLD, link1] if world else [link0, link1] for link0, link1 in pairs]
    free = FREE[kind]
    ends = [LoopJoint(name="", link0=link0, link1=link1, free=free) for link0, link1 in pairs]
    widest = max(ends, key=lambda one: closures.touched_dofs(tree, one).sum())
    slide, turn = np.zeros(3), np.zeros(3)
    for axis in free:
        (slide if axis.is_linear else turn)[axis.index] = rng.uniform(-0.4, 0.4)
    if sum(not axis.is_linear for axis in free) == 2:
        turn[[axis.index for axis in free if not axis.is_linear][1]] = 0.0
    loop = LoopJoint(
        name=f"/World/loop_{k}",
        link0=widest.link0,
        link1=widest.link1,
        frame0=trees.random_pose(rng),
        free=free,
    )
    return closures.closing(tree, state, loop, Pose(tuple(map(float, slide)), quaternion_from_rotation_vector(turn)))


class Case:
    """A mechanism with a family beside its loop joints: what the simulation has, and what the law has."""

    def __init__(self, rng, tree, state, integrator):
        self.rng, self.tree, self.state, self.integrator = rng, tree, state, integrator
        self.law = {}
        self.elements, self.bounds = [], []

    @property
    def single(self):
        """The dofs of joints with one that loop joints do not lock, by number."""
        motion = rigid.motion(self.tree, self.state)
        J = np.vstack([closures.held(motion, loop)[1] for loop in self.tree.constraints_of(LoopJoint)])
        goes = np.eye(len(motion.velocity)) - np.linalg.pinv(J) @ J
        slices = zip(self.tree.joints, rigid.dof_slices(self.tree))
        found = [part.start for joint, part in slices if len(joint.dofs) == 1]
        return [dof for dof in found if goes[rigid.base_count(self.tree) + dof].max() > 1e-3]

    def row(self, dof):
        """J of a dof."""
        return np.eye(rigid.base_count(self.tree) + len(self.tree.dofs))[rigid.base_count(self.tree) + dof]

    def every(self, **changes):
        """Change the dofs of the tree."""
        self.tree = trees.with_dofs(self.tree, **changes)

    def chosen(self, values, others=None):
        """Values (a dictionary by dof) as a list over all dofs."""
        return [values.get(dof, others) for dof in range(len(self.tree.dofs))]


def nothing(case):
    """Loop joints alone."""


def drives(case):
    case.tree, k, d, target = with_drives(case.rng, case.tree)
    case.law = {"stiffness": k, "damping": d, "bias": k * target, "target": target}


def stiff_drives(case):
    """A servo on each joint with one dof, which it brings to its target within a step; no damping on half of them."""
    k, d, target = np.zeros((3, len(case.tree.dofs)))
    for place, dof in enumerate(case.single[:3]):
        k[dof], d[dof] = (1e6, 0.0) if place % 2 else (1e5, 1e3)
        target[dof] = case.state.joint_position[dof] + 0.01
    made = {dof: Drive(stiffness=k[dof], damping=d[dof], position_target=target[dof]) for dof in case.single[:3]}
    case.every(drive=case.chosen(made))
    case.law = {"stiffness": k, "damping": d, "bias": k * target, "target": target}


def saturated_drives(case):
    """Drives that are far from their targets push with their largest force."""
    signs = {dof: 1.0 - 2.0 * (place % 2) for place, dof in enumerate(case.single[:3])}
    made = {dof: Drive(stiffness=50.0, position_target=100.0 * sign, max_force=1.5) for dof, sign in signs.items()}
    case.every(drive=case.chosen(made))
    case.bounds.append(
        lambda state, h: [
            Bound(case.row(dof), 1e9 * sign, 1e9 * sign, most=1.5 * h, widens=False) for dof, sign in signs.items()
        ]
    )


def viscous_friction(case):
    d = case.rng.uniform(0.1, 5.0, len(case.tree.dofs))
    case.every(friction=[Friction(viscous=float(value)) for value in d])
    case.law = {"damping": d}


def dry_friction(case):
    """On joints with one dof; a little, which slides, and much, which holds."""
    most = {dof: (0.3, 50.0)[place % 4 == 0] for place, dof in enumerate(case.single)}
    case.every(friction=case.chosen({dof: Friction(static_effort=f, dynamic_effort=f) for dof, f in most.items()}))
    case.bounds.append(
        lambda state, h: [Bound(case.row(dof), 0.0, 0.0, most=h * effort) for dof, effort in most.items()]
    )


def velocity_limits(case):
    limited = case.single
    case.every(velocity_limit=case.chosen(dict.fromkeys(limited, 0.05), np.inf))
    case.bounds.append(lambda state, h: [Bound(case.row(dof), -0.05, 0.05) for dof in limited])


def hard_limits(case):
    """Stops that joints reach within a few steps, on either side."""
    ends = {dof: 0.004 for dof in case.single}
    q = case.state.joint_position
    limits = {dof: Limit(lower=float(q[dof] - room), upper=float(q[dof] + 2.0 * room)) for dof, room in ends.items()}
    case.every(limit=case.chosen(limits))

    def stops(state, h):
        for dof, limit in limits.items():
            at = state.joint_position[dof]
            back = [1.0 if room > 0.0 else 0.2 for room in (at - limit.lower, limit.upper - at)]
            window = back[0] * (limit.lower - at) / h, back[1] * (limit.upper - at) / h
            yield Bound(case.row(dof), *window, is_stop=True)

    case.bounds.append(stops)


def soft_limits(case):
    """Springs beyond ends that joints with one dof have passed."""
    q = case.state.joint_position
    limits = {dof: Limit(lower=float(q[dof] + 0.2), upper=9.0, stiffness=300.0, damping=2.0) for dof in case.single[:4]}
    case.every(limit=case.chosen(limits))

    def springs(state, placed, share):
        for dof, limit in limits.items():
            J = case.row(dof)
            error = state.joint_position[dof] - limit.lower
            yield Spring(limit.stiffness, limit.damping, error, J, J, J, is_limit=True, resolves=True)

    case.elements.append(springs)


def soft_rotation_limits(case):
    case.tree = passing_limits(case.rng, case.tree, case.state)
    tree, h = case.tree, H if case.integrator == "midpoint" else 0.0
    case.elements.append(lambda state, placed, share: limit_springs(tree, state, h))


def fixed_tendons(case):
    tendon = test_fixed_tendon.random_tendon(case.rng, case.tree, stiffness=10.0, damping=0.5, rest_length=0.3)
    case.tree = replace(case.tree, fixed_tendons=(tendon,))
    case.elements.append(
        lambda state, placed, share: test_fixed_tendon.springs(case.tree, tendon, state, share, case.integrator)
    )


def spatial_tendons(case):
    options = {"stiffness": 40.0, "damping": 2.0, "offset": 0.1}
    make, motion = test_spatial_tendon.random_tendon, rigid.motion(case.tree, case.state)
    tendon = make(case.rng, LINKS, **options)
    while not test_spatial_tendon.takes_energy(tendon, motion):
        tendon = make(case.rng, LINKS, **options)
    case.tree = replace(case.tree, spatial_tendons=(tendon,))
    half = 0.5 * H if case.integrator == "midpoint" else 0.0
    case.elements.append(
        lambda state, placed, share: test_spatial_tendon.springs(
            tendon, placed, half * rigid.velocity(case.tree, state)
        )
    )


def mimics(case, frequency=0.0):
    dofs = tuple(int(dof) for dof in case.rng.choice(len(case.tree.dofs), 3, replace=False))
    gears = (1.0, *(float(G) for G in case.rng.uniform(0.5, 2.0, 2)))
    offset = -float(np.dot(gears, case.state.joint_position[list(dofs)]))
    mimic = Mimic(
        name="m",
        dofs=dofs,
        gears=gears,
        offset=offset,
        natural_frequency=frequency,
        damping_ratio=0.3 * bool(frequency),
    )
    case.tree = replace(case.tree, mimics=(mimic,))
    case.elements.append(
        lambda state, placed, share: [test_mimic.elements(case.tree, mimic, state, placed, share, case.integrator)]
    )


def soft_mimics(case):
    mimics(case, frequency=40.0)


def distance_of(case, **options):
    """A distance joint that fits the start."""
    link0, link1 = (int(link) for link in case.rng.choice(LINKS, 2, replace=False))
    points = {f"position{k}": tuple(case.rng.normal(size=3) * 0.2) for k in range(2)}
    placed = rigid.motion(case.tree, case.state)
    x = [placed.p_WL[link] + placed.R_WL[link] @ p for link, p in zip((link0, link1), points.values())]
    length = float(np.linalg.norm(x[1] - x[0]))
    one = Distance(name="/World/rod", link0=link0, link1=link1, lower=length, upper=length, **points, **options)
    case.tree = replace(case.tree, constraints=(*case.tree.constraints, one))
    return one


def rods(case):
    one = distance_of(case)
    law = test_distance.rod_of(case.tree, one, H, case.integrator)
    case.elements.append(lambda state, placed, share: [replace(rod, ties=False) for rod in law(state, placed, share)])


FAMILIES = {
    family.__name__: family
    for family in (
        nothing, drives, stiff_drives, saturated_drives, viscous_friction, dry_friction, velocity_limits, hard_limits,
        soft_limits, soft_rotation_limits, fixed_tendons, spatial_tendons, mimics, soft_mimics, rods,
    )
}  # fmt: skip
"""What stands beside loop joints."""


def mechanism(seed, kind, family, integrator="midpoint"):
    """A random mechanism that a loop joint of a kind, and one of the next kind, close."""
    rng = np.random.default_rng(seed)
    needs_singles = family in (hard_limits, soft_limits, velocity_limits, dry_friction)
    kinds = (*SINGLE, "spherical") if needs_singles else MIXED
    tree = trees.random_articulation(rng, LINKS, floating=bool(seed % 2), kinds=kinds)
    state = trees.random_state(rng, tree, speed=0.4)
    loop = random_loop(rng, tree, state, kind, world=seed % 3 == 0)
    tree = replace(tree, constraints=(loop,))
    if len(rigid.velocity(tree, state)) > 16:
        other = random_loop(rng, tree, state, "slide_ball", 1)
        tree = replace(tree, constraints=(loop, other))
    case = Case(rng, tree, closures.tangent(tree, state, tree.constraints), integrator)
    family(case)
    return case


def law_of(case):
    """The dense law of a case."""
    return ClosedStep(
        case.tree, H, case.integrator,
        elements=lambda state, placed, share: [one for part in case.elements for one in part(state, placed, share)],
        bounds=lambda state, h: [one for part in case.bounds for one in part(state, h)],
        **case.law,
    )  # fmt: skip


STEPS = {"soft_limits": 5, "soft_rotation_limits": 8}
"""Of families whose springs are left then; of the others 12."""


TOLERANCE = {"stiff_drives": 1e-6}
"""Relative to the largest velocity; of those that bring joints to where they follow, by weights that are measured."""


def case_of(family, kind, integrator="midpoint"):
    """The case of a cell of the table."""
    seed = 10 * list(FREE).index(kind) + list(FAMILIES).index(family)
    return mechanism(seed, kind, FAMILIES[family], integrator)


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_have_the_dense_law(family, kind):
    """Twelve steps of a random mechanism, in double precision."""
    case = case_of(family, kind)
    simulation = simulate(case.tree)
    put(simulation, case.state)
    assert_steps(simulation, law_of(case), steps=STEPS.get(family, 12), tolerance=TOLERANCE.get(family, 1e-7))


@pytest.mark.parametrize("family", FAMILIES)
def test_semi_implicit_steps_have_the_dense_law(family):
    """Without a middle, of every kind of loop joint in turn."""
    kind = list(FREE)[list(FAMILIES).index(family) % len(FREE)]
    case = case_of(family, kind, "semi_implicit")
    simulation = simulate(case.tree, integrator="semi_implicit")
    put(simulation, case.state)
    assert_steps(simulation, law_of(case), steps=STEPS.get(family, 12), tolerance=1e-7)


@pytest.mark.parametrize("kind", FREE)
def test_steps_under_forces_from_outside_have_the_dense_law(kind):
    """Efforts on joints, wrenches on links and a gravity that are others in each step."""
    case = case_of("drives", kind)
    rng, law, simulation = case.rng, law_of(case), simulate(case.tree)
    put(simulation, case.state)
    for _ in range(10):
        law.effort, law.wrench = rng.normal(size=len(case.tree.dofs)), rng.normal(size=(LINKS, 6))
        law.gravity = 5.0 * rng.normal(size=3)
        simulation.control.joint_effort.assign(law.effort[:, None])
        simulation.control.link_external_force.assign(law.wrench[:, :, None])
        simulation.parameters.gravity = law.gravity[:, None]
        assert_steps(simulation, law, steps=1, tolerance=1e-8)


WHOLE_STEPS = ("soft_rotation_limits", "fixed_tendons", "spatial_tendons", "mimics", "soft_mimics", "rods")
"""Families of which this file has the law of whole steps only."""


@pytest.mark.parametrize(
    ("family", "solver"),
    [(family, "pgs") for family in FAMILIES] + [(family, "tgs") for family in FAMILIES if family not in WHOLE_STEPS],
)
def test_iterations_come_to_the_dense_law(family, solver):
    """With enough sweeps, of a loop that leaves much free."""
    case = case_of(family, "slide_ball")
    tgs = {"position_iterations": 2, "velocity_iterations": 3000}
    options = tgs if solver == "tgs" else {"position_iterations": 3000}
    simulation = simulate(case.tree, solver=solver, **options)
    put(simulation, case.state)
    law = law_of(case)
    law.substeps = 2 if solver == "tgs" else 1
    assert_steps(simulation, law, steps=5, tolerance=1e-6)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("family", FAMILIES)
def test_environments_do_not_notice_each_other(family, solver):
    """Lanes of float32, one environment and seventeen that differ: bitwise."""
    case = case_of(family, "universal_xz")

    def ends(scales):
        options = {"precision": "float32", "variant": "lanes", "solver": solver}
        simulation = simulate(case.tree, len(scales), **options)
        put(simulation, case.state)
        velocity = simulation.state.joint_velocity.numpy()
        simulation.set_state(joint_velocity=(velocity * scales).T)
        simulation.step(20)
        return simulation.state.joint_position.numpy()

    scales = np.linspace(-1.0, 1.5, 17)
    together = ends(scales)
    assert np.isfinite(together).all()
    for k in (0, 8, 16):
        np.testing.assert_array_equal(ends(scales[k : k + 1])[:, 0], together[:, k])
