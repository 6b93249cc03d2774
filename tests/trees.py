"""Descriptions to test with: random trees that contain every joint kind, chains and pendulums; and states for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.description.pose import rotation_vector_from_matrix as rotation_vector_from_matrix
from warp_artic.description.scene import Scene

JOINT_KINDS: dict[str, tuple[Axis, ...]] = {
    "fixed": (),
    "revolute_x": (Axis.ROT_X,),
    "revolute_y": (Axis.ROT_Y,),
    "revolute_z": (Axis.ROT_Z,),
    "prismatic_x": (Axis.TRANS_X,),
    "prismatic_y": (Axis.TRANS_Y,),
    "prismatic_z": (Axis.TRANS_Z,),
    "universal_xy": (Axis.ROT_X, Axis.ROT_Y),
    "universal_xz": (Axis.ROT_X, Axis.ROT_Z),
    "zero_twist": (Axis.ROT_Y, Axis.ROT_Z),
    "spherical": (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z),
}
"""The free axes of each joint kind."""

FREER_KINDS: dict[str, tuple[Axis, ...]] = {
    "cylindrical": (Axis.TRANS_X, Axis.ROT_X),
    "cartesian": (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z),
    "planar": (Axis.TRANS_X, Axis.TRANS_Z, Axis.ROT_Y),
    "table": (Axis.TRANS_Y, Axis.TRANS_Z),
    "slide_ball": (Axis.TRANS_Z, Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z),
    "slide_universal": (Axis.TRANS_Y, Axis.ROT_X, Axis.ROT_Z),
    "all": tuple(Axis),
}
"""Those of joints that leave translations free beside other axes; only in trees that ask for them."""

MAX_ROTATION = 2.4
"""Longest rotation vector of a random state, or of the two angles of a universal joint [rad]."""


def random_articulation(
    rng: np.random.Generator | int,
    link_count: int,
    *,
    floating: bool | None = None,
    kinds: tuple[str, ...] = tuple(JOINT_KINDS),
    reverse: bool = True,
    armature: bool = True,
    branching: float = 0.5,
    path: str = "/World/tree",
) -> Articulation:
    """A tree with random frames, masses, inertias and joints; every kind occurs once there are joints enough.

    The base floats, or is joined to the world by a joint of any kind; where not told, that is drawn. A tree on a fixed
    base has at least one dof. Links and joints come in an order of their own, not parents first. `branching` is the
    chance that a link does not hang on the one drawn before it.
    """
    rng = np.random.default_rng(rng)
    floating = bool(rng.random() < 0.5) if floating is None else floating
    label = rng.permutation(link_count)
    parents = random_parents(rng, link_count, branching)
    drawn, axes_of = random_kinds(rng, link_count, kinds), JOINT_KINDS | FREER_KINDS
    if not floating and not any(axes_of[kind] for kind in drawn):
        drawn[0] = str(rng.choice([kind for kind in kinds if axes_of[kind]]))
    joints = []
    for link in range(1 if floating else 0, link_count):
        joints.append(
            random_joint(
                rng,
                path=f"{path}/joint_{rng.permutation(link_count)[0]:02d}_{link:02d}",
                parent=WORLD if link == 0 else int(label[parents[link]]),
                child=int(label[link]),
                axes=axes_of[drawn[link]],
                reverse=reverse and bool(rng.random() < 0.5),
                armature=armature,
            )
        )
    links = tuple(random_link(rng, f"{path}/link_{link:02d}") for link in range(link_count))
    return Articulation(path=path, links=links, joints=tuple(sorted(joints, key=lambda joint: joint.path)))


def random_scene(rng: np.random.Generator | int, link_counts: tuple[int, ...], **options) -> Scene:
    """One random articulation for each link count, and a random gravity."""
    rng = np.random.default_rng(rng)
    trees = (
        random_articulation(rng, count, path=f"/World/tree_{index}", **options)
        for index, count in enumerate(link_counts)
    )
    return scene(*trees, gravity=tuple(map(float, rng.normal(size=3) * 6.0)))


def scene(*articulations: Articulation, gravity=rigid.GRAVITY) -> Scene:
    """A scene of some articulations under a gravity [m/s^2]."""
    return Scene(articulations=articulations, gravity=gravity)


def random_parents(rng: np.random.Generator, link_count: int, branching: float) -> list[int]:
    """A parent drawn earlier for each link; -1 for the first."""
    return [-1] + [int(rng.integers(i)) if rng.random() < branching else i - 1 for i in range(1, link_count)]


def random_kinds(rng: np.random.Generator, count: int, kinds: tuple[str, ...]) -> list[str]:
    """Joint kinds in shuffled rounds, so that each occurs before one occurs twice more than another."""
    rounds = [rng.permutation(kinds) for _ in range(count // len(kinds) + 1)]
    return [str(kind) for kind in np.concatenate(rounds)[:count]]


def random_joint(rng, *, path, parent, child, axes, reverse=False, armature=False) -> Joint:
    """A joint between random frames."""
    dofs = tuple(
        Dof(
            name=path if len(axes) == 1 else f"{path}:{axis.value}",
            axis=axis,
            armature=float(rng.uniform(0.01, 0.2)) if armature else 0.0,
        )
        for axis in axes
    )
    return Joint(
        path=path,
        parent=parent,
        child=child,
        parent_frame=random_pose(rng),
        child_frame=random_pose(rng),
        dofs=dofs,
        reversed=reverse,
    )


def random_link(rng: np.random.Generator, path: str) -> Link:
    """A body of 0.3 to 3 kg with a full inertia that a distribution of mass can have."""
    mass = float(np.exp(rng.uniform(np.log(0.3), np.log(3.0))))
    second_moments = mass * rng.uniform(0.05, 0.3, 3) ** 2
    R = random_pose(rng).rotation
    I = R @ np.diag(second_moments.sum() - second_moments) @ R.T
    return Link(
        path=path,
        mass=mass,
        center_of_mass=tuple(map(float, rng.uniform(-0.15, 0.15, 3))),
        inertia=tuple(map(float, I[np.triu_indices(3)])),
    )


def random_pose(rng: np.random.Generator, reach: float = 0.3) -> Pose:
    """Any rotation, and an offset of at most `reach` along each axis [m]."""
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    return Pose(tuple(map(float, rng.uniform(-reach, reach, 3))), tuple(map(float, quaternion)))


# ---------------------------------------------------------------------------------------------------------------------
# Trees that one can picture
# ---------------------------------------------------------------------------------------------------------------------


def chain(link_count: int, kind: str = "revolute_y", *, length: float = 0.5, mass: float = 1.0, floating: bool = False):
    """Thin rods end to end along -Z of the base at rest; each link frame at its upper end."""
    rod = mass * length**2 / 12.0
    links = tuple(
        Link(
            path=f"/World/chain/link_{i:02d}",
            mass=mass,
            center_of_mass=(0.0, 0.0, -0.5 * length),
            inertia=(rod, 0.0, 0.0, rod, 0.0, 1e-2 * rod),
            pose=Pose((0.0, 0.0, -i * length)),
        )
        for i in range(link_count)
    )
    joints = tuple(
        plain_joint(f"/World/chain/joint_{i:02d}", i - 1, i, kind, Pose((0.0, 0.0, -length if i else 0.0)))
        for i in range(1 if floating else 0, link_count)
    )
    return Articulation(path="/World/chain", links=links, joints=joints)


def point_pendulums(masses: tuple[float, ...], lengths: tuple[float, ...]) -> Articulation:
    """Point masses on massless rods that hang from the origin and turn about Y: pendulum, double pendulum, ..."""
    tops = np.concatenate([[0.0], -np.cumsum(lengths)])
    links = tuple(
        Link(
            path=f"/World/pendulum/link_{i:02d}",
            mass=mass,
            center_of_mass=(0.0, 0.0, -length),
            inertia=(1e-30, 0.0, 0.0, 1e-30, 0.0, 1e-30),
            pose=Pose((0.0, 0.0, float(tops[i]))),
        )
        for i, (mass, length) in enumerate(zip(masses, lengths))
    )
    joints = tuple(
        plain_joint(
            f"/World/pendulum/joint_{i:02d}", i - 1, i, "revolute_y", Pose((0.0, 0.0, -lengths[i - 1] * (i > 0)))
        )
        for i in range(len(masses))
    )
    return Articulation(path="/World/pendulum", links=links, joints=joints)


def free_body(mass: float = 2.0, inertia: tuple[float, float, float] = (0.1, 0.2, 0.25)) -> Articulation:
    """One floating link, principal inertias [kg m^2], centre of mass off its origin."""
    xx, yy, zz = inertia
    link = Link(path="/World/body", mass=mass, center_of_mass=(0.1, -0.2, 0.05), inertia=(xx, 0.0, 0.0, yy, 0.0, zz))
    return Articulation(path="/World/body", links=(link,), joints=())


def plain_joint(path: str, parent: int, child: int, kind: str, parent_frame: Pose = Pose()) -> Joint:
    """A joint of a kind whose child-side frame is the link frame."""
    axes = (JOINT_KINDS | FREER_KINDS)[kind]
    names = [path] if len(axes) == 1 else [f"{path}:{axis.value}" for axis in axes]
    dofs = tuple(Dof(name=name, axis=axis) for name, axis in zip(names, axes))
    return Joint(path=path, parent=parent, child=child, parent_frame=parent_frame, dofs=dofs)


def with_dofs(articulation: Articulation, **changes) -> Articulation:
    """The same articulation with fields of every dof replaced; a value may be a sequence, one entry a dof."""
    counter = iter(range(len(articulation.dofs)))
    joints = []
    for joint in articulation.joints:
        dofs = []
        for dof in joint.dofs:
            index = next(counter)
            dofs.append(replace(dof, **{name: entry(value, index) for name, value in changes.items()}))
        joints.append(replace(joint, dofs=tuple(dofs)))
    return replace(articulation, joints=tuple(joints))


def entry(value, index: int):
    """One entry of a list, tuple or array; any other value as it is."""
    return value[index] if isinstance(value, (list, tuple, np.ndarray)) else value


def random_drives(rng: np.random.Generator, articulation: Articulation, **fixed) -> list[Drive]:
    """A spring and damper towards a random target for each dof; `fixed` are fields of Drive that are given."""
    return [
        Drive(
            **{
                "stiffness": float(rng.uniform(2.0, 20.0)),
                "damping": float(rng.uniform(0.2, 2.0)),
                "position_target": float(rng.uniform(-0.5, 0.5)),
                "velocity_target": float(rng.uniform(-0.5, 0.5)),
            }
            | fixed
        )
        for _ in articulation.dofs
    ]


# ---------------------------------------------------------------------------------------------------------------------
# States
# ---------------------------------------------------------------------------------------------------------------------


def random_state(rng: np.random.Generator | int, articulation: Articulation, speed: float = 1.0) -> State:
    """Any root pose, rotations up to MAX_ROTATION, slides up to 0.4 m, velocities of a size `speed`."""
    rng = np.random.default_rng(rng)
    positions = [random_position(rng, joint) for joint in articulation.joints]
    root_pose = root_velocity = None
    if articulation.is_floating:
        pose = random_pose(rng, reach=1.0)
        root_pose = np.array([*pose.position, *pose.quaternion])
        root_velocity = speed * rng.normal(size=6)
    return State(
        joint_position=np.concatenate([*positions, np.zeros(0)]),
        joint_velocity=speed * rng.normal(size=len(articulation.dofs)),
        root_pose=root_pose,
        root_velocity=root_velocity,
    )


def random_position(rng: np.random.Generator, joint: Joint) -> np.ndarray:
    """A public position of a joint, shape (dofs)."""
    slides = sum(dof.axis.is_linear for dof in joint.dofs)
    distances = rng.uniform(-0.4, 0.4, slides)
    if slides == len(joint.dofs):
        return distances
    direction = rng.normal(size=len(joint.dofs) - slides)
    return np.array([*distances, *rng.uniform(0.1, MAX_ROTATION) * direction / np.linalg.norm(direction)])


def authored_state(articulation: Articulation) -> State:
    """The state a description starts from."""
    root_pose = root_velocity = None
    if articulation.is_floating:
        link = rigid.root(articulation)[1]
        root_pose = np.array([*link.pose.position, *link.pose.quaternion])
        root_velocity = np.array([*link.linear_velocity, *link.angular_velocity])
    return State(
        joint_position=np.array([dof.position for dof in articulation.dofs]),
        joint_velocity=np.array([dof.velocity for dof in articulation.dofs]),
        root_pose=root_pose,
        root_velocity=root_velocity,
    )


def authored_at(articulation: Articulation, state: State) -> Articulation:
    """The same articulation, authored to start at a state: joint positions and velocities, poses of all links."""
    articulation = with_dofs(
        articulation,
        position=[float(q) for q in state.joint_position],
        velocity=[float(v) for v in state.joint_velocity],
    )
    motion = rigid.motion(articulation, state)
    links = tuple(
        replace(
            link,
            pose=Pose(tuple(map(float, pose[:3])), tuple(map(float, pose[3:]))),
            linear_velocity=tuple(map(float, twist[:3])),
            angular_velocity=tuple(map(float, twist[3:])),
        )
        for link, pose, twist in zip(articulation.links, motion.link_pose, motion.V)
    )
    return replace(articulation, links=links)
