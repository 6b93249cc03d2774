"""A tree in which every constraint family acts, and what a step of it has left behind."""

from itertools import combinations

import numpy as np

from tests import trees
from tests.oracles import rigid
from tests.oracles.dense_step import DenseStep, put, state_of
from warp_artic.description.distance import Distance
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.model.dofs import DofLayout


def bounds_of(joint, place, balls):
    """Limits of a joint, and its cone: hard, soft and bouncing stops in turn; of ball joints only where `balls`."""
    if len(joint.dofs) == 1:
        kinds = (
            Limit(lower=-0.2, upper=0.1),
            Limit(lower=-0.4, upper=0.3, stiffness=300.0, damping=2.0),
            Limit(lower=-0.1, upper=0.2, restitution=0.5, bounce_threshold=0.1),
        )
        return [kinds[place % 3]], None
    if len(joint.dofs) == 2:
        soft = Limit(lower=-0.1, upper=0.2, stiffness=50.0, damping=0.5)
        return [Limit(lower=-0.3, upper=0.2), soft if place % 3 == 2 else Limit(lower=-0.3, upper=0.2)], None
    if not (balls and joint.dofs):
        return [None] * len(joint.dofs), None
    spring = {"stiffness": 40.0, "damping": 0.3}
    twist = Limit(lower=-0.1, upper=0.15)
    if place % 3 == 1:
        return [twist, None, None], ConeLimit(angle_1=0.2, angle_2=0.15, **spring)
    if place % 3 == 2:
        return [trees.replace(twist, **spring), None, None], ConeLimit(angle_1=0.2, angle_2=0.15)
    return [twist, Limit(lower=-0.15, upper=0.15, **spring), Limit(lower=-0.1, upper=0.1)], None


def bounded(tree, balls):
    """The tree with limits of every kind, counted among the joints with as many dofs."""
    joints, places = [], {0: 0, 1: 0, 2: 0, 3: 0}
    for joint in tree.joints:
        count = len(joint.dofs)
        limits, cone = bounds_of(joint, places[count], balls)
        places[count] += 1
        dofs = tuple(trees.replace(dof, limit=limit) for dof, limit in zip(joint.dofs, limits))
        if count == 3 and not balls:
            dofs = tuple(trees.replace(dof, drive=None, friction=None) for dof in dofs)
        joints.append(trees.replace(joint, dofs=dofs, cone_limit=cone))
    return trees.replace(tree, joints=tuple(joints))


def coupled(rng, tree):
    """The tree with fixed tendons, a branching spatial one, a hard and a compliant mimic joint, on single dofs."""
    single = [tree.dofs.index(joint.dofs[0]) for joint in tree.joints if len(joint.dofs) == 1]
    chosen = [int(dof) for dof in rng.permutation(single)]
    fixed = tuple(
        FixedTendon(
            name=f"/World/fixed_{k}",
            dofs=tuple(chosen[2 * k : 2 * k + 3]),
            coefficients=(1.0, -0.5, 0.7),
            force_coefficients=(1.0, -0.2, 0.9),
            stiffness=200.0,
            damping=2.0,
            limit_stiffness=1e3,
            lower=-0.05,
            upper=0.05,
        )
        for k in range(2)
    )
    attachments = tuple(
        Attachment(
            name=f"/World/a{k}",
            link=int(rng.integers(len(tree.links))),
            position=tuple(map(float, rng.normal(size=3) * 0.2)),
            parent=parent,
        )
        for k, parent in enumerate((None, 0, 1, 1))
    )
    leaves = (
        TendonLeaf(attachment=2, rest_length=0.4, upper=0.5),
        TendonLeaf(attachment=3, rest_length=0.5, lower=9.0),
    )
    gains = {"stiffness": 100.0, "damping": 1.0, "limit_stiffness": 500.0}
    spatial = SpatialTendon(name="/World/spatial", attachments=attachments, leaves=leaves, **gains)
    hard = Mimic(name="/World/hard", dofs=(chosen[5], chosen[0]), gears=(1.0, -0.8))
    soft = Mimic(
        name="/World/soft",
        dofs=(chosen[6], chosen[1]),
        gears=(1.0, 0.5),
        natural_frequency=30.0,
        damping_ratio=0.3,
    )
    return trees.replace(tree, fixed_tendons=fixed, spatial_tendons=(spatial,), mimics=(hard, soft))


def distances(tree):
    """A string and a spring a little shorter than they are at the start, between links with two dofs between them.

    None of these are of a ball joint, whose axes turn from one substep to the next.
    """
    placed = rigid.motion(tree, trees.authored_state(tree))
    layout, found = DofLayout(tree), []
    ball = {dof for joint in tree.joints if len(joint.dofs) == 3 for dof in layout.of_joint(joint)}
    for link0, link1 in combinations(range(len(tree.bodies)), 2):
        between = set(layout.inward(link0)) ^ set(layout.inward(link1))
        if len(found) < 2 and len(between) > 1 and not between & ball:
            upper = 0.98 * float(np.linalg.norm(placed.p_WL[link1] - placed.p_WL[link0]))
            gains = {"is_soft": len(found) == 1, "stiffness": 50.0, "damping": 0.5}
            name = f"/World/distance_{len(found)}"
            found.append(Distance(name=name, link0=link0, link1=link1, upper=upper, **gains))
    return tuple(found)


def busy_tree(rng, balls=True):
    """A floating tree with every joint type and every family; limits and drives of balls only where `balls`."""
    tree = trees.random_articulation(rng, 18, floating=True, kinds=(*trees.JOINT_KINDS, "spherical"))
    count = len(tree.dofs)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 5 == 0 else DriveKind.FORCE,
            stiffness=float(rng.uniform(5, 100)),
            damping=float(rng.uniform(0.5, 5)),
            position_target=float(rng.normal()),
            max_force=3.0 if k % 3 == 0 else np.inf,
            max_velocity=2.0 if k % 7 == 0 else np.inf,
            velocity_gradient=0.1 if k % 7 == 0 else 0.0,
        )
        for k in range(count)
    ]
    frictions = [
        Friction(static_effort=0.3, dynamic_effort=0.2, viscous=0.4, coefficient=0.01 * (k % 3)) for k in range(count)
    ]
    tree = trees.with_dofs(
        tree,
        drive=drives,
        friction=[friction if k % 2 == 0 else None for k, friction in enumerate(frictions)],
        velocity_limit=[0.5 if k % 6 == 0 else np.inf for k in range(count)],
    )
    links = tuple(
        trees.replace(
            link, max_linear_velocity=0.5 if k == 5 else np.inf, max_angular_velocity=0.5 if k == 9 else np.inf
        )
        for k, link in enumerate(tree.links)
    )
    tree = trees.replace(tree, links=links, max_linear_velocity=0.3, max_angular_velocity=0.4)
    tree = coupled(rng, bounded(tree, balls))
    return trees.replace(tree, constraints=distances(tree))


def disturb(rng, simulation):
    """Put a tree into a random state, with random efforts (D) and wrenches on its links (L, 6), which it returns."""
    tree = simulation.scene.articulations[0]
    state = trees.random_state(rng, tree)
    put(simulation, trees.replace(state, joint_position=0.15 * state.joint_position))
    efforts, wrench = rng.normal(size=len(tree.dofs)), rng.normal(size=(len(tree.links), 6))
    simulation.control.joint_effort.assign(efforts[:, None])
    simulation.control.link_external_force.assign(wrench[:, :, None])
    return efforts, wrench


class StepTaken:
    """One step of a simulation of one environment with forces, seen from outside: the motion and what moved it."""

    def __init__(self, simulation):
        self.tree, settings = simulation.scene.articulations[0], simulation.settings
        before = state_of(simulation)
        self.recording = simulation.record(1, forces=True)
        has_middle = settings.integrator == "midpoint"
        v = rigid.velocity(self.tree, before)
        step = DenseStep(self.tree, settings.dt, settings.integrator)
        self.placed = step.place(before, kept(simulation, "v_middle") if has_middle else v)
        """The motion where forces are evaluated."""
        lateness = settings.dt * (longest_of(self.tree, kept(simulation, "dof_weight")) - 0.5) * has_middle
        after = step.turned(rigid.velocity(self.tree, state_of(simulation)), v, -lateness)
        self.acceleration = (after - v) / settings.dt
        """(v+ - v) / h, v+ of ball joints in the axes of that motion, shape (N)."""


def kept(simulation, name):
    """What the last step has left in the work space for each dof of the only environment, shape (N)."""
    return getattr(simulation.run.groups[0].arrays.work, name).numpy()[:, 0]


def longest_of(tree, shares):
    """The largest share of the dofs of each joint, for each of them, shape (N)."""
    longest = shares.copy()
    for part in rigid.dof_slices(tree):
        own = slice(6 + part.start, 6 + part.stop)
        longest[own] = shares[own].max(initial=0.0)
    return longest
