"""A scene from the arrays of a model of Newton: what moves and how it is joined; numbers follow in `numbers`.

    revolute, prismatic, D6     a joint for each axis, one after the other, between massless links
    ball                        a joint with three rotations
    fixed                       a joint without a dof
    free, on the world          the floating root of a tree

A D6 joint shifts along its axes and then turns about each of the others as the ones before it have turned it: so do
joints in a row, whose positions are the coordinates of Newton.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable

import newton
import numpy as np
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.limits import limits
from warp_artic.extensions.newton.worlds import Worlds, leaders_of, pose_of

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.tendon import FixedTendon
from warp_artic.errors import HostError

FREE, FIXED, BALL = newton.JointType.FREE, newton.JointType.FIXED, newton.JointType.BALL
IN_A_ROW = (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC, newton.JointType.D6)
TURNS = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
ON_DOFS = (
    "joint_armature",
    "joint_friction",
    "joint_damping",
    "joint_stiffness",
    "joint_target_ke",
    "joint_target_kd",
)
"""What acts on dofs of joints, but not on those of free ones."""
SHIFTS = (Axis.TRANS_X, Axis.TRANS_Y, Axis.TRANS_Z)


def translate(model: newton.Model, worlds: Worlds) -> tuple[Scene, Binding]:
    """The scene of the first environment.

    Raises:
        HostError: There is something in the model that cannot be simulated.
    """
    return _Translation(model, worlds).result()


class _Translation:
    def __init__(self, model: newton.Model, worlds: Worlds):
        self.model, self.worlds = model, worlds
        self.joints, self.bodies = worlds.joints[0], worlds.bodies[0]
        self.place_of = {int(body): place for place, body in enumerate(self.bodies)}
        self.kind = [newton.JointType(int(kind)) for kind in model.joint_type.numpy()[self.joints]]
        self.dims = model.joint_dof_dim.numpy()[self.joints]
        self.parent = [self.place_of.get(int(body), WORLD) for body in model.joint_parent.numpy()[self.joints]]
        self.child = [self.place_of[int(body)] for body in model.joint_child.numpy()[self.joints]]
        self.articulation = model.joint_articulation.numpy()[self.joints]
        self.X_p, self.X_c = model.joint_X_p.numpy()[self.joints], model.joint_X_c.numpy()[self.joints]
        self.first_dof = model.joint_qd_start.numpy()[self.joints]
        self.first_coordinate = model.joint_q_start.numpy()[self.joints]
        self.axis = model.joint_axis.numpy()
        self.mass = model.body_mass.numpy()[self.bodies]
        self.joint_names = _distinct(model.joint_label[joint] for joint in self.joints)
        self.body_names = _distinct(model.body_label[body] for body in self.bodies)
        self.in_tree = [joint for joint, articulation in enumerate(self.articulation) if articulation >= 0]
        self._check()
        self.inbound = {self.child[joint]: joint for joint in self.in_tree}
        self.left_out = self._loads_nothing()

    def result(self) -> tuple[Scene, Binding]:
        axes, balls, roots, links, articulations, anchors = [], [], [], [], [], {}
        trees = [_Tree(self, members) for members in self._trees()]
        self._check_loops(trees)
        for tree in trees:
            articulations.append(tree.articulation())
            axes += tree.axes
            balls += tree.balls
            roots += tree.roots
            links += tree.links
            anchors |= {path: (pose_of(self.X_p[joint]), joint) for path, joint in tree.anchors.items()}
        gravity = self.model.gravity.numpy()[0]
        scene = Scene(articulations=tuple(articulations), gravity=tuple(map(float, gravity)))
        return scene, Binding(tuple(axes), tuple(balls), tuple(roots), tuple(links), anchors)

    def _check(self) -> None:
        enabled = self.model.joint_enabled.numpy()[self.joints]
        for joint, kind in enumerate(self.kind):
            name = f"joint {self.joint_names[joint]}"
            if kind not in (FREE, FIXED, BALL, *IN_A_ROW):
                raise HostError(f"{name}: is a {kind.name} joint, which is not simulated; {_allowed()} joints are")
            if not enabled[joint]:
                raise HostError(f"{name}: is disabled, which leaves its body without a joint; remove it instead")
            if self.articulation[joint] < 0 and kind is FREE:
                raise HostError(
                    f"{name}: is a FREE joint in no articulation; ModelBuilder.add_body makes one of its own"
                )
            if kind is FREE and self.parent[joint] != WORLD:
                raise HostError(f"{name}: is a FREE joint between two bodies; it must have the world as its parent")
            if kind is FREE:
                self._check_free(joint, name)
            if kind is BALL:
                self._check_ball(joint, name)
        for child, times in Counter(self.child[joint] for joint in self.in_tree).items():
            if times > 1:
                own = ", ".join(self.joint_names[joint] for joint in self.in_tree if self.child[joint] == child)
                raise HostError(f"body {self.body_names[child]}: has {times} joints, must have one: {own}")
        kinematic = self.model.body_flags.numpy()[self.bodies] & int(newton.BodyFlags.KINEMATIC)
        children = {self.child[joint] for joint in self.in_tree}
        for body, name in enumerate(self.body_names):
            if body not in children:
                raise HostError(f"body {name}: has no joint; ModelBuilder.add_body gives a body a free one")
            if kinematic[body]:
                raise HostError(f"body {name}: is kinematic, which is not simulated")

    def _check_loops(self, trees: list[_Tree]) -> None:
        """Refuse joints in no articulation between trees; warn of what acts along the axes of others."""
        for joint in range(len(self.kind)):
            if joint in self.in_tree:
                continue
            name, ends = f"joint {self.joint_names[joint]}", {self.parent[joint], self.child[joint]} - {WORLD}
            if not any(ends <= set(tree.members) for tree in trees):
                raise HostError(f"{name}: is in no articulation, and joins two; that is not simulated yet")
            first = self.first_dof[joint]
            limited = limits(self.model)
            own = slice(first, first + int(self.dims[joint].sum()))
            acts = any(getattr(self.model, array).numpy()[own].any() for array in ON_DOFS)
            bounds = [np.asarray(limited[limit])[own] for limit in ("limit_lower", "limit_upper")]
            if acts or np.isfinite(bounds).any():
                warnings.warn(
                    f"{name}: closes a loop; what acts along its free axes is not simulated yet", stacklevel=7
                )

    def _check_free(self, joint: int, name: str) -> None:
        own = slice(self.first_dof[joint], self.first_dof[joint] + 6)
        for array in ON_DOFS:
            if (found := getattr(self.model, array).numpy()[own]).any():
                raise HostError(
                    f"{name}: has {array} {_shown(found)}, which does not act on a FREE joint; it must be 0"
                )

    def _check_ball(self, joint: int, name: str) -> None:
        first, start = self.first_dof[joint], self.first_coordinate[joint]
        rest = self.model.joint_rest_q.numpy()[start : start + 4]
        if self.model.joint_stiffness.numpy()[first : first + 3].any() and rest[:3].any():
            raise HostError(
                f"{name}: has a spring with the rest {_shown(rest)}; of a BALL joint it must be (0, 0, 0, 1)"
            )
        limited = limits(self.model)
        if np.isfinite([limited[limit][first : first + 3] for limit in ("limit_lower", "limit_upper")]).any():
            raise HostError(f"{name}: has limits, which do not act on a BALL joint; a D6 joint has them for each axis")

    def _loads_nothing(self) -> set[int]:
        """Bodies without mass at the end of a tree that are fixed: they follow, and nothing follows from them."""
        left_out: set[int] = set()
        while True:
            parents = {self.parent[joint] for body, joint in self.inbound.items() if body not in left_out}
            more = {
                body
                for body, joint in self.inbound.items()
                if self.mass[body] == 0.0 and self.kind[joint] is FIXED and body not in parents
            }
            if more <= left_out:
                return left_out
            left_out |= more

    def _trees(self) -> list[list[int]]:
        """Bodies of each tree, in order; trees on the world that are in one articulation are one."""
        key_of: dict[int, tuple] = {}

        def key(body: int) -> tuple:
            if body not in key_of:
                joint = self.inbound[body]
                if self.parent[joint] != WORLD:
                    key_of[body] = key(self.parent[joint])
                else:
                    is_free = self.kind[joint] is FREE
                    key_of[body] = ("root", body) if is_free else ("articulation", int(self.articulation[joint]))
            return key_of[body]

        trees: dict[tuple, list[int]] = {}
        for body in range(len(self.bodies)):
            if body not in self.left_out:
                trees.setdefault(key(body), []).append(body)
        return list(trees.values())


class _Tree:
    """One articulation on its way."""

    def __init__(self, source: _Translation, members: list[int]):
        self.source, self.members = source, members
        self.axes: list[tuple[str, int, int]] = []
        self.balls: list[tuple[tuple[str, str, str], int]] = []
        self.roots: list[tuple[str, int]] = []
        self.links: list[tuple[str, int]] = []
        self.anchors: dict[str, int] = {}

    def articulation(self) -> Articulation:
        source = self.source
        heavy = [body for body in self.members if source.mass[body] > 0.0 or not self._carries(body)]
        light = [body for body in self.members if body not in heavy]
        links = [self._link(body) for body in heavy] + [_massless_link(source.body_names[body]) for body in light]
        self.links = [(source.body_names[body], body) for body in heavy]
        index_of = {body: index for index, body in enumerate([*heavy, *light])}
        base = WORLD
        joints: list[Joint] = []
        anchored = [body for body in self.members if source.parent[source.inbound[body]] == WORLD]
        if len(anchored) > 1:
            base, name = len(links), f"{source.joint_names[source.inbound[anchored[0]]]}:world"
            links.append(_massless_link(name))
            joints.append(Joint(path=name, parent=WORLD, child=base))
            self.anchors[name] = source.inbound[anchored[0]]
        for body in self.members:
            joint = source.inbound[body]
            if source.kind[joint] is FREE:
                self.roots.append((source.body_names[body], joint))
                continue
            parent = source.parent[joint]
            row = self._joints(joint, base if parent == WORLD else index_of[parent], index_of[body], links)
            if row[0].parent == WORLD:
                self.anchors[row[0].path] = joint
            joints += row
        articulation = Articulation(path=self._name(), links=tuple(links), joints=tuple(joints))
        return Articulation(
            path=articulation.path,
            links=articulation.links,
            joints=articulation.joints,
            mimics=tuple(self._mimics(articulation)),
            fixed_tendons=tuple(self._springs(articulation)),
            constraints=tuple(self._loops(index_of)),
        )

    def _loops(self, index_of: dict[int, int]) -> Iterable[LoopJoint]:
        """The joints in no articulation between its bodies, or one of them and the world."""
        source = self.source
        place = {WORLD: WORLD, **index_of}
        for joint, kind in enumerate(source.kind):
            ends = source.parent[joint], source.child[joint]
            if joint in source.in_tree or any(end not in place for end in ends):
                continue
            free, turn, shifts = TURNS, Pose(), int(source.dims[joint][0])
            if kind is not BALL:
                first, count = source.first_dof[joint], int(source.dims[joint].sum())
                axes = np.asarray(source.axis[first : first + count], float).reshape(-1, 3)
                R = _frame_along(axes)
                turn = Pose.of(np.zeros(3), R)
                along = [int(np.argmax(np.abs(R.T @ axis))) for axis in axes]
                free = {(SHIFTS if k < shifts else TURNS)[axis] for k, axis in enumerate(along)}
                free = tuple(axis for axis in (*SHIFTS, *TURNS) if axis in free)
            yield LoopJoint(
                name=source.joint_names[joint],
                link0=place[ends[0]],
                link1=place[ends[1]],
                frame0=pose_of(source.X_p[joint]) @ turn,
                frame1=pose_of(source.X_c[joint]) @ turn,
                free=free,
            )

    def _name(self) -> str:
        source = self.source
        number = int(source.articulation[source.inbound[self.members[0]]])
        return f"{source.model.articulation_label[number]} ({source.body_names[self.members[0]]})"

    def _carries(self, body: int) -> bool:
        source = self.source
        return any(source.parent[joint] == body and source.child[joint] in self.members for joint in source.in_tree)

    def _link(self, body: int) -> Link:
        """A body; its numbers follow."""
        source = self.source
        joint = source.inbound[body]
        pose = Pose()
        if source.kind[joint] is FREE:
            start = source.first_coordinate[joint]
            X_PC = pose_of(source.model.joint_q.numpy()[start : start + 7])
            pose = pose_of(source.X_p[joint]) @ X_PC @ pose_of(source.X_c[joint]).inverse()
        return Link(path=source.body_names[body], mass=1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0), pose=pose)

    def _joints(self, joint: int, parent: int, child: int, links: list[Link]) -> list[Joint]:
        """The joints that one of Newton is; massless links between them are added to the links."""
        source, path = self.source, self.source.joint_names[joint]
        ends = {"parent_frame": pose_of(source.X_p[joint]), "child_frame": pose_of(source.X_c[joint])}
        if source.kind[joint] is BALL:
            names = tuple(f"{path}:{axis.value}" for axis in TURNS)
            self.balls.append((names, joint))
            dofs = tuple(Dof(name=name, axis=axis) for name, axis in zip(names, TURNS))
            return [Joint(path=path, parent=parent, child=child, dofs=dofs, **ends)]
        shifts, turns = map(int, source.dims[joint])
        count = shifts + turns
        if count == 0:
            return [Joint(path=path, parent=parent, child=child, **ends)]
        row = []
        for k in range(count):
            name = path if count == 1 else f"{path}:{k}"
            turn, axis = _along(source.axis[source.first_dof[joint] + k], SHIFTS if k < shifts else TURNS)
            self.axes.append((name, joint, k))
            is_last = k == count - 1
            carried = child if is_last else len(links)
            if not is_last:
                links.append(_massless_link(name))
            row.append(
                Joint(
                    path=name,
                    parent=parent,
                    child=carried,
                    parent_frame=ends["parent_frame"] @ turn if k == 0 else turn,
                    child_frame=ends["child_frame"] @ turn if is_last else turn,
                    dofs=(Dof(name=name, axis=axis, wraps=False),),
                )
            )
            parent = carried
        return row

    def _mimics(self, articulation: Articulation) -> Iterable[Mimic]:
        source = self.source
        leaders = leaders_of(source.model)[0][source.joints]
        place = {int(joint): k for k, joint in enumerate(source.joints)}
        dof_of = {dof.name: index for index, dof in enumerate(articulation.dofs)}
        name_of = {(joint, k): name for name, joint, k in self.axes}
        for (joint, k), name in name_of.items():
            if leaders[joint] >= 0:
                leader = name_of.get((place[int(leaders[joint])], k))
                if leader is None:
                    found = source.joint_names[place[int(leaders[joint])]]
                    raise HostError(f"joint {name}: follows {found}, which is in another tree; both must be in one")
                yield Mimic(name=name, dofs=(dof_of[name], dof_of[leader]), gears=(1.0, -1.0))

    def _springs(self, articulation: Articulation) -> Iterable[FixedTendon]:
        """Passive springs act beside drives: each is a tendon on its dof."""
        source = self.source
        stiffness = source.model.joint_stiffness.numpy()
        dof_of = {dof.name: index for index, dof in enumerate(articulation.dofs)}
        names = [(name, joint, k) for name, joint, k in self.axes]
        names += [(name, joint, k) for own, joint in self.balls for k, name in enumerate(own)]
        firsts = source.model.joint_qd_start.numpy()[source.worlds.joints]
        for name, joint, k in names:
            if (stiffness[firsts[:, joint] + k] != 0.0).any():
                yield FixedTendon(name=name, dofs=(dof_of[name],), coefficients=(1.0,), force_coefficients=(1.0,))


def _shown(values) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def _along(axis, kinds: tuple[Axis, Axis, Axis]) -> tuple[Pose, Axis]:
    """A turn and the axis that it turns to a given one."""
    axis = np.asarray(axis, float)
    for k in range(3):
        if (axis == np.eye(3)[k]).all():
            return Pose(), kinds[k]
    x = axis / np.linalg.norm(axis)
    y = np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
    y /= np.linalg.norm(y)
    return Pose.of(np.zeros(3), np.column_stack([x, y, np.cross(x, y)])), kinds[0]


def _frame_along(axes: np.ndarray) -> np.ndarray:
    """A rotation matrix (3, 3) among whose columns the axes (n, 3) of a joint are, up to sign."""
    if not len(axes) or (np.sort(np.abs(axes), axis=1) == (0.0, 0.0, 1.0)).all():
        return np.eye(3)
    own: list[np.ndarray] = []
    for axis in (*axes, *np.eye(3)):
        rest = axis - sum((one * (one @ axis) for one in own), np.zeros(3))
        if len(own) < 3 and np.linalg.norm(rest) > 0.5:
            own.append(rest / np.linalg.norm(rest))
    return np.column_stack([*own[:2], np.cross(*own[:2])])


def _massless_link(path: str) -> Link:
    return Link(path=path, mass=0.0, inertia=(0.0,) * 6)


def _allowed() -> str:
    return ", ".join(sorted(kind.name for kind in (FREE, FIXED, BALL, *IN_A_ROW)))


def _distinct(labels: Iterable[str]) -> list[str]:
    """Labels, with a number appended where several are the same."""
    labels = list(labels)
    counts, seen, names = Counter(labels), Counter(), []
    for label in labels:
        seen[label] += 1
        names.append(label if counts[label] == 1 else f"{label}#{seen[label]}")
    return names
