"""Mechanisms in which much acts at once: every family, many rows, or all that joints of one axis can have."""

from itertools import combinations

import numpy as np

from tests import trees
from tests.oracles import rigid
from warp_artic.description.distance import Distance
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Axis
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import Attachment, FixedTendon, SpatialTendon, TendonLeaf
from warp_artic.model.dofs import DofLayout

DRIVE = Drive(stiffness=200.0, damping=2.0, max_force=4.0)
KINDS = ("revolute_x", "revolute_y", "revolute_z", "prismatic_y")
ONE_AXIS = tuple(kind for kind, axes in trees.JOINT_KINDS.items() if len(axes) == 1)


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


def every_limit_of(joint, place):
    """Bounds of a joint by its dofs and its place: hard, soft and bouncing stops, twist and swing limits, a cone."""
    if len(joint.dofs) == 1:
        kinds = (
            Limit(lower=-0.2, upper=0.1),
            Limit(lower=-0.4, upper=0.3, stiffness=300.0, damping=2.0),
            Limit(lower=-0.1, upper=0.2, restitution=0.5, bounce_threshold=0.1),
            None,
        )
        return [kinds[place % 4]], None
    if len(joint.dofs) == 2:
        soft = Limit(lower=-0.2, upper=0.3, stiffness=50.0, damping=0.5)
        return [Limit(lower=-0.3, upper=0.2), soft if place % 2 else Limit(lower=-0.3, upper=0.2)], None
    twist = Limit(lower=-0.4, upper=0.5)
    kinds = (
        ([twist, Limit(lower=-0.5, upper=0.5), Limit(lower=-0.6, upper=0.4)], None),
        ([twist, None, None], ConeLimit(angle_1=0.8, angle_2=0.6)),
        (
            [Limit(lower=-0.05, upper=0.05, stiffness=20.0, damping=0.5), None, None],
            ConeLimit(angle_1=0.4, angle_2=0.6, stiffness=40.0),
        ),
        ([twist, Limit(lower=-0.3, upper=0.4, stiffness=40.0, damping=0.2), None], None),
    )
    return kinds[place % 4]


def with_every_limit(tree):
    """Limits of every family, counted among the joints with as many dofs."""
    joints, places = [], {1: 0, 2: 0, 3: 0}
    for joint in tree.joints:
        if joint.dofs:
            limits, cone = every_limit_of(joint, places[len(joint.dofs)])
            places[len(joint.dofs)] += 1
            dofs = tuple(trees.replace(dof, limit=limit) for dof, limit in zip(joint.dofs, limits))
            joint = trees.replace(joint, dofs=dofs, cone_limit=cone)
        joints.append(joint)
    return trees.replace(tree, joints=tuple(joints))


def tree_of_every_family(links=18):
    """A floating tree with every joint type and every constraint family at work."""
    rng = np.random.default_rng(11)
    tree = trees.random_articulation(rng, links, floating=True, kinds=(*trees.JOINT_KINDS, "spherical"))
    count = len(tree.dofs)
    drives = [
        Drive(
            kind=DriveKind.ACCELERATION if k % 5 == 0 else DriveKind.FORCE,
            stiffness=float(rng.uniform(5, 100)),
            damping=float(rng.uniform(0.5, 5)),
            position_target=float(rng.normal()),
            max_force=3.0 if k % 3 == 0 else np.inf,
        )
        if k % 4
        else None
        for k in range(count)
    ]
    tree = trees.with_dofs(
        tree,
        drive=drives,
        friction=[Friction(static_effort=0.3, dynamic_effort=0.2) if k % 4 == 0 else None for k in range(count)],
        velocity_limit=[2.0 if k % 7 == 0 else np.inf for k in range(count)],
    )
    bounded = tuple(
        trees.replace(
            link, max_linear_velocity=1.0 if k == 5 else np.inf, max_angular_velocity=2.0 if k == 9 else np.inf
        )
        for k, link in enumerate(tree.links)
    )
    tree = trees.replace(tree, links=bounded, max_linear_velocity=0.3, max_angular_velocity=0.4)
    tree = coupled(rng, with_every_limit(tree))
    everywhere = tuple(trees.replace(tendon, all_segments=True) for tendon in tree.spatial_tendons)
    return trees.replace(tree, spatial_tendons=everywhere, constraints=(*distances(tree), plane_of(tree)))


def plane_of(tree):
    """A point of a link that stays in a plane of another one, where both are at the start, near limits and driven."""
    placed = rigid.motion(tree, trees.authored_state(tree))
    layout = DofLayout(tree)
    pairs = combinations(range(len(tree.bodies)), 2)
    link0, link1 = max(pairs, key=lambda pair: len(set(layout.inward(pair[0])) ^ set(layout.inward(pair[1]))))
    place = placed.R_WL[link0].T @ (placed.p_WL[link1] - placed.p_WL[link0])
    soft = Limit(lower=-0.02, upper=0.02, stiffness=50.0, damping=0.5)
    return LoopJoint(
        name="/World/plane",
        link0=link0,
        link1=link1,
        frame0=Pose(tuple(map(float, place))),
        free=tuple(Axis)[1:],
        limits=((Axis.TRANS_Y, Limit(lower=-0.01, upper=0.01)), (Axis.TRANS_Z, soft)),
        drives=((Axis.TRANS_Z, Drive(stiffness=20.0, damping=1.0, position_target=0.1)),),
        frictions=((Axis.TRANS_Z, Friction(static_effort=0.2, dynamic_effort=0.1, viscous=2.0)),),
        armatures=((Axis.TRANS_Z, 0.5),),
        velocity_limits=((Axis.TRANS_Y, 0.02),),
    )


def crowded_tree(seed, static=0.6):
    """24 links with stops, soft stops, friction, velocity limits, bounded drives, limited tendons and mimic joints."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 24, floating=False, kinds=KINDS)
    count = len(tree.dofs)
    stops = (Limit(lower=-0.002, upper=0.002), Limit(lower=-0.003, upper=0.003, stiffness=300.0, damping=2.0), None)
    tree = trees.with_dofs(
        tree,
        limit=[stops[k % 3] for k in range(count)],
        friction=[Friction(static_effort=static, dynamic_effort=0.6) if k % 3 != 1 else None for k in range(count)],
        velocity_limit=[0.5 if k % 5 == 2 else np.inf for k in range(count)],
        drive=[trees.replace(DRIVE, position_target=float(rng.normal())) if k % 3 == 2 else None for k in range(count)],
    )
    chosen = [int(dof) for dof in rng.permutation(count)]
    tendons = tuple(
        FixedTendon(
            name=f"/World/tendon_{k}",
            dofs=tuple(chosen[3 * k : 3 * k + 3]),
            coefficients=(1.0, -0.5, 0.7),
            force_coefficients=(1.0, -0.5, 0.7),
            stiffness=200.0,
            damping=2.0,
            limit_stiffness=1e3,
            lower=-0.001,
            upper=0.001,
        )
        for k in range(4)
    )
    gears = rng.uniform(-1.0, 1.0, size=4)
    mimics = tuple(
        Mimic(name=f"/World/mimic_{k}", dofs=(chosen[12 + 2 * k], chosen[13 + 2 * k]), gears=(1.0, float(gears[k])))
        for k in range(4)
    )
    return trees.replace(tree, fixed_tendons=tendons, mimics=mimics)


def busy_joints(restitution=0.0):
    """Joints of one axis with drives, friction, limits of which some are reached, a tendon and a mimic joint."""
    tree = trees.random_articulation(3, 12, floating=True, kinds=ONE_AXIS)
    count = len(tree.dofs)
    tree = trees.with_dofs(
        tree,
        drive=[Drive(stiffness=30.0, damping=1.0, position_target=1.0) if k % 3 == 0 else None for k in range(count)],
        friction=[
            Friction(static_effort=0.2, dynamic_effort=0.1, viscous=0.1) if k % 4 == 0 else None for k in range(count)
        ],
        limit=[
            Limit(lower=-0.15, upper=0.1, restitution=restitution * (k % 4 == 3)) if k % 2 else None
            for k in range(count)
        ],
        velocity_limit=[1.0 if k == 4 else np.inf for k in range(count)],
    )
    c = (1.0, -0.5)
    tendon = FixedTendon(name="/World/t", dofs=(2, 8), coefficients=c, force_coefficients=c, stiffness=100.0)
    return trees.replace(
        tree, fixed_tendons=(tendon,), mimics=(Mimic(name="/World/m", dofs=(6, 10), gears=(1.0, 0.5)),)
    )
