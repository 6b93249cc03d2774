"""What a new simulation keeps of the one that it replaces, after parts were added or removed.

An articulation that has not changed goes on bitwise. In one that has, what was there goes on from its state: dofs of
the same names keep position, velocity, accelerations of before, targets, efforts and parameters, bitwise; links their
poses and velocities. A new floating root, be it a link that has come loose or a new link that carries others, is placed
so that the old links stay where they are; so is a new joint between two links, as far as its axes allow. What is new,
or authored anew, starts as authored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.description.relative_motion import positions_of, rates_of, turn_within
from warp_artic.mechanisms.group import mechanisms_in
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.mechanisms.public_rows import MEMORY, entry_names, kind_of
from warp_artic.sim.arrays.failures import owners_of_rows
from warp_artic.sim.arrays.views import CONTROL, PARAMETERS, ROW_COUNTS, Member
from warp_artic.sim.change.chosen import on_device
from warp_artic.sim.change.motion import set_state, write_rows
from warp_artic.sim.change.snapshot import take_snapshot
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links, go_to, report
from warp_artic.sim.run.targets import TARGETS

DOF_MOTION = ("joint_position", "joint_velocity")
ROOT_MOTION = ("root_pose", "root_velocity")
LINK_MOTION = ("link_pose", "link_velocity")
MASS_PROPERTIES = {"link_center": 3, "link_inertia": 6}
"""What `Simulation.set_mass_properties` writes of a link that is no floating root, by the rows of each link."""
TABLES = (
    ("smooth_acceleration", 0),
    *((name, table) for name in ("acceleration_change", "input_change") for table in range(2)),
)
"""What steps remember by dofs: fields, and their tables."""
INPUTS = {"effort_before": "joint_effort", "force_before": "link_external_force"}
"""Fields of inputs of the step before, which are taken to be those of now."""
SLACK = 1e-3
"""By how much a hinge may be outside of its limit that has come to it, and not be a turn on or back [rad]."""

Place = tuple[Member, int]
"""Who has a row, and which."""


def carry_over(old: Run, new: Run) -> None:
    """Let a new simulation, at its start, go on from where another one is, as far as they have the same parts."""
    old.idle.end(old.steps_done)
    go_to(new, old.steps_done)
    if old.members and new.members:
        parts, is_same = Parts(old), old.settings == new.settings
        stays = [is_same and _unchanged(parts, new, member) for member in new.members]
        changed = [member for member, own in zip(new.members, stays) if not own]
        set_state(new)  # what is authored to sleep is awake
        _take_motion(parts, new, changed)
        _take_controls(old, new)
        for member in changed if is_same else ():
            _take_history(parts, new, member)
        _take_parameters(parts, new, changed)
        _take_memory(old, new, changed)
        for member, own in zip(new.members, stays):
            if own:
                _take_all(parts.trees[new.scene.articulations[member.index].path], member)
        for group in new.groups if any(group.pushed for group in old.groups) else ():
            group.push()
        new.launches.pack()
        new.parameter_watch.accept()
        new.set_anew()
        follow_links(new)
    bodies = {body.path: body for body in old.elastic.bodies}
    for body in new.elastic.bodies:
        if body.path in bodies:
            body.carry_over(bodies[body.path])
    if old.islands and new.islands and old.islands.colliders == new.islands.colliders:
        new.islands.put(old.islands.take())
    new.tracks.carry_over(old.tracks)


class Parts:
    """Where the parts of a simulation are, by name."""

    def __init__(self, run: Run):
        self.run = run
        self._is_reported = False
        self.trees: dict[str, Member] = {}
        self.dofs: dict[str, Place] = {}
        self.joints: dict[str, Joint] = {}
        """By the names of their dofs."""
        self.links: dict[str, Place] = {}
        self.roots: dict[str, Member] = {}
        """Floating ones."""
        for tree, member in zip(run.scene.articulations, run.members):
            self.trees[tree.path] = member
            self.dofs |= {dof.name: (member, row) for row, dof in enumerate(tree.dofs)}
            self.joints |= {dof.name: joint for joint in tree.joints for dof in joint.dofs}
            self.links |= {path: (member, row) for row, path in enumerate(tree.bodies)}
            if tree.is_floating:
                self.roots[_root(tree).path] = member

    def rows_of(self, names: Sequence[str]) -> Iterator[tuple[Member, np.ndarray, np.ndarray]]:
        """Who has the dofs of these names that were there: the rows there, and where they are among the names."""
        found: dict[int, list[tuple[int, int]]] = {}
        for place, name in enumerate(names):
            if name in self.dofs:
                member, row = self.dofs[name]
                found.setdefault(member.index, []).append((row, place))
        for index, pairs in found.items():
            yield self.run.members[index], *np.array(pairs).T

    def motion_of(self, path: str) -> tuple[list[Pose], np.ndarray]:
        """World poses and velocities of a link, by environment."""
        if not self._is_reported:
            report(self.run)
            self._is_reported = True
        return _link_motion(*self.links[path])


def _unchanged(parts: Parts, new: Run, member: Member) -> bool:
    """Whether an articulation, with its mechanism, is as it was."""
    before = parts.trees.get(new.scene.articulations[member.index].path)
    if before is None:
        return False
    scenes = (parts.run.scene, before), (new.scene, member)
    mechanisms = [[scene.articulations[index] for index in one.group.members[one.place]] for scene, one in scenes]
    return mechanisms[0] == mechanisms[1]


def _take_all(before: Member, member: Member) -> None:
    """Everything of a mechanism that has not changed, history and parameters included, bitwise."""
    old, new = before.group, member.group
    for name in (*new.state, *new.control, *new.parameters):
        if name in new.parameters:
            if old.parameters[name].is_shared:
                continue
            new.expand_parameter(name)
        source = old.field(name).view(before.first_column, old.environments)
        new.field(name).view(member.first_column, new.environments).assign(source)


def _take_motion(parts: Parts, new: Run, members: list[Member]) -> None:
    """Positions and velocities of dofs and roots that were there, and such of others that links stay where they are."""
    for member in members:
        tree = new.scene.articulations[member.index]
        for before, here, there in parts.rows_of([dof.name for dof in tree.dofs]):
            for name in DOF_MOTION:
                _write(member, name, there, _read(before, name, here))
        root = _root(tree)
        if root is not None and root.path in parts.roots:
            before = parts.roots[root.path]
            shift = before.group.origins[before.place] - member.group.origins[member.place]
            for name in ROOT_MOTION:
                rows = np.arange(ROW_COUNTS[name][1])
                values = _read(before, name, rows)
                if name == "root_pose" and shift.any():
                    values[:3] += shift[:, None]
                _write(member, name, rows, values)
    new.set_anew()
    for member in members:
        _place_root(parts, new, member)
    waiting = {member.index: list(_joints_to_find(parts, new, member)) for member in members}
    while any(waiting.values()):
        new.set_anew()
        for member in members:
            tree, joints = new.scene.articulations[member.index], waiting[member.index]
            later = [joint for joint in joints if _waits(tree, joint, joints)]
            for joint in joints:
                if not any(joint is other for other in later):
                    _place_joint(parts, new, member, joint)
            waiting[member.index] = later


def _place_root(parts: Parts, new: Run, member: Member) -> None:
    """Place a floating root that was none such that the link next to it that was there has its pose and velocity."""
    tree = new.scene.articulations[member.index]
    root = _root(tree)
    known = _next_known(parts, tree)
    if root is None or root.path in parts.roots or known is None:
        return
    report(new)
    row_of = {path: row for row, path in enumerate(tree.bodies)}
    goal = parts.motion_of(known.path)
    now, own = (_link_motion(member, row_of[link.path]) for link in (known, root))
    pose, velocity = np.empty((7, new.environments)), np.empty((6, new.environments))
    for k in range(new.environments):
        X = goal[0][k] @ now[0][k].inverse()
        X_WR = X @ own[0][k]
        arm = X_WR.apply(root.center_of_mass) - goal[0][k].apply(known.center_of_mass)
        turned, at_root = ((X.rotation @ one[1][k].reshape(2, 3).T).T for one in (now, own))
        v, w = goal[1][k].reshape(2, 3) - turned
        pose[:, k] = [*(np.asarray(X_WR.position) - member.group.origins[member.place]), *X_WR.quaternion]
        velocity[:, k] = [*(at_root[0] + v + np.cross(w, arm)), *(at_root[1] + w)]
    _write(member, "root_pose", np.arange(7), pose)
    _write(member, "root_velocity", np.arange(6), velocity)


def _place_joint(parts: Parts, new: Run, member: Member, joint: Joint) -> None:
    """Have a joint to a link that was there start where that link is, as far as its axes let it."""
    tree = new.scene.articulations[member.index]
    child, link_row = tree.links[joint.child], {path: row for row, path in enumerate(tree.bodies)}
    poses, velocities = parts.motion_of(child.path)
    parent, carrier = None, ([Pose()] * new.environments, np.zeros((new.environments, 6)))
    if joint.parent != WORLD:
        parent = tree.links[joint.parent]
        report(new)
        carrier = _link_motion(member, link_row[parent.path])
    found = np.empty((2, len(joint.dofs), new.environments))
    for k in range(new.environments):
        X_FM = (carrier[0][k] @ joint.parent_frame).inverse() @ poses[k] @ joint.child_frame
        q, _ = positions_of(joint, X_FM.inverse() if joint.reversed else X_FM)
        ends = parent and _moving(parent, carrier[0][k], carrier[1][k]), _moving(child, poses[k], velocities[k])
        v, _ = rates_of(joint, X_FM, *ends)
        found[:, :, k] = q, v
    turns = [k for k, dof in enumerate(joint.dofs) if not dof.axis.is_linear]
    for k in turns if len(turns) == 1 else ():
        found[0, k] = [turn_within(float(q), joint.dofs[k], SLACK) for q in found[0, k]]
    row_of = {dof.name: row for row, dof in enumerate(tree.dofs)}
    for k, dof in enumerate(joint.dofs):
        if dof.name not in parts.dofs:
            for name, values in zip(DOF_MOTION, found):
                _write(member, name, row_of[dof.name], values[k])


def _joints_to_find(parts: Parts, new: Run, member: Member) -> Iterator[Joint]:
    """Joints with dofs that are new, to links that were there, but that by which the root is placed."""
    tree = new.scene.articulations[member.index]
    root, known = _root(tree), _next_known(parts, tree)
    placing = None if root is None or root.path in parts.roots else known
    for joint in tree.joints:
        child, is_carried = tree.links[joint.child], joint.parent == WORLD and tree.base_motion is not None
        if child.path not in parts.links or child is placing or is_carried:
            continue
        if joint.parent != WORLD and tree.links[joint.parent].is_massless:
            continue
        if any(dof.name not in parts.dofs for dof in joint.dofs):
            yield joint


def _waits(tree: Articulation, joint: Joint, waiting: list[Joint]) -> bool:
    """Whether a joint nearer to the root is to be placed before."""
    inbound = tree.inbound
    while joint is not None and joint.parent != WORLD:
        joint = inbound[joint.parent]
        if any(joint is other for other in waiting):
            return True
    return False


def _root(tree: Articulation) -> Link | None:
    """The floating root, if there is one."""
    return tree.links[tree.inbound.index(None)] if tree.is_floating else None


def _next_known(parts: Parts, tree: Articulation) -> Link | None:
    """The link that was there which is nearest to the root."""
    inbound, depths = tree.inbound, []
    for number, link in enumerate(tree.links):
        if link.path in parts.links:
            depth, joint = 0, inbound[number]
            while joint is not None and joint.parent != WORLD:
                depth, joint = depth + 1, inbound[joint.parent]
            depths.append((depth, number))
    return tree.links[min(depths)[1]] if depths else None


def _moving(link: Link, pose: Pose, velocity: np.ndarray) -> Link:
    return replace(link, pose=pose, linear_velocity=tuple(velocity[:3]), angular_velocity=tuple(velocity[3:]))


def _link_motion(member: Member, row: int) -> tuple[list[Pose], np.ndarray]:
    """World poses and velocities of a link, as reported, by environment."""
    row += member.first_row("link")
    pose, velocity = (
        member.group.field(name).scalars.numpy()[size * row : size * (row + 1), _columns(member)].T.astype(float)
        for name, size in zip(LINK_MOTION, (7, 6))
    )
    origin = member.group.origins[member.place]
    return [Pose(tuple(origin + x[:3]), tuple(x[3:] / np.linalg.norm(x[3:]))) for x in pose], velocity


def _take_controls(old: Run, new: Run) -> None:
    """Targets that the stage has not changed, efforts and external forces."""
    before, start = (take_snapshot(one, CONTROL, None, None) for one in (old, new))
    authored = [{dof.name: dof.drive for tree in one.scene.articulations for dof in tree.dofs} for one in (old, new)]
    kept = [
        name
        for name in new.names.joint
        if name in authored[0] and _targets(authored[0][name]) == _targets(authored[1][name])
    ]
    for name in CONTROL:
        of_links = name == "link_external_force"
        here, there = _common(old.names.link, new.names.link) if of_links else _common(old.names.joint, new.names.joint)
        if name in TARGETS:
            chosen = np.isin(there, [new.names.joint.index(dof) for dof in kept])
            here, there = here[chosen], there[chosen]
        values = getattr(start, name).numpy().copy()
        values[there] = getattr(before, name).numpy()[here]
        write_rows(new, name, values, on_device(np.arange(new.environments), new.device))


def _common(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the names that both have, among the old and among the new ones."""
    rows = {name: row for row, name in enumerate(old)}
    pairs = [(rows[name], row) for row, name in enumerate(new) if name in rows]
    return tuple(np.array(pairs, int).reshape(-1, 2).T)


def _targets(drive: Drive | None) -> tuple | None:
    """What a drive follows."""
    return drive and (drive.position_target, drive.velocity_target, drive.position_track, drive.velocity_track)


def _take_history(parts: Parts, new: Run, member: Member) -> None:
    """What steps remember of dofs and roots that were there; of the others they remember nothing."""
    tree = new.scene.articulations[member.index]
    root, roots, dofs = _root(tree), 6 * member.rows("root_pose"), member.group.tree.dof_count
    joints = {dof.name: joint for joint in tree.joints for dof in joint.dofs}
    alike = [dof.name if _moves_alike(joints[dof.name], parts.joints.get(dof.name)) else "" for dof in tree.dofs]
    sources = [
        (before, 6 * before.rows("root_pose") + here, roots + there) for before, here, there in parts.rows_of(alike)
    ]
    if root is not None and root.path in parts.roots:
        sources.append((parts.roots[root.path], np.arange(6), np.arange(6)))
    for before, here, there in sources:
        count = before.group.tree.dof_count
        for name, table in TABLES:
            if name == "input_change" and not (before.group.tree.moves_freely and member.group.tree.moves_freely):
                continue
            values = _read_rows(before, name, table * count + before.dofs[here])
            _write_rows(member, name, table * dofs + member.dofs[there], values)
    known = _next_known(parts, tree)
    owner = parts.run.members[0] if known is None else parts.links[known.path][0]
    sizes = {"clock": 1, "unresolved": 1}
    if known is not None:
        sizes |= {"started": 1, "smoothness": 2, "energy_gain": 1}
    for name, size in sizes.items():
        here, there = (size * _place_of_history(one, name) for one in (owner, member))
        _write_rows(member, name, there + np.arange(size), _read_rows(owner, name, here + np.arange(size)))
    if member.group.tree.moves_freely:
        for name, control in INPUTS.items():
            rows = np.arange(len(member.group.state[name].scalars))
            _write_rows(member, name, rows, _read_rows(member, control, rows))
        if owner.group.tree.moves_freely and all(one.group.arrays.model.base_moves for one in (owner, member)):
            _write_rows(member, "base_before", np.arange(6), _read_rows(owner, "base_before", np.arange(6)))


def _place_of_history(member: Member, name: str) -> int:
    """The place of an articulation in what steps remember by islands, or by trees; else there is one of all."""
    if name in ("unresolved", "smoothness"):
        return member.island
    return member.part if name == "energy_gain" else 0


def _take_memory(old: Run, new: Run, members: list[Member]) -> None:
    """What constraint families remember of what was there, such as loop joints that have broken."""
    places = {
        (kind_of(name), own): (member, place)
        for name in MEMORY
        for member in old.members
        for place, own in enumerate(entry_names(old.scene.articulations[member.index], kind_of(name)))
    }
    for name, one in MEMORY.items():
        for member in members:
            for place, own in enumerate(entry_names(new.scene.articulations[member.index], kind_of(name))):
                if (kind_of(name), own) in places:
                    before, there = places[kind_of(name), own]
                    rows = np.arange(one.size)
                    _write(member, name, one.size * place + rows, _read(before, name, one.size * there + rows))


def _moves_alike(one: Joint, other: Joint | None) -> bool:
    """Whether the dofs of a joint are laid out as those of another one that there may be."""
    if other is None or [dof.axis for dof in one.dofs] != [dof.axis for dof in other.dofs]:
        return False
    return (one.reversed, one.cone_axis) == (other.reversed, other.cone_axis)


def _take_parameters(parts: Parts, new: Run, members: list[Member]) -> None:
    """Values that a user gave to what was there, unless the stage has changed them."""
    old = parts.run
    given = {name for group in old.groups for name, field in group.parameters.items() if not field.is_shared}
    given &= {*PARAMETERS, *MASS_PROPERTIES}
    if not given:
        return
    authored = {one.key: one for one in _authored(old, old.members, given)}
    for one in _authored(new, members, given):
        before, values = authored.get(one.key), one.values
        if before is None or not np.array_equal(before.values, values):
            continue
        if before.member.group.parameters[one.name].is_shared:
            continue
        found = _read(before.member, one.name, np.arange(before.row, before.row + len(values)))
        if (found != values.astype(found.dtype)[:, None]).any():
            one.member.group.expand_parameter(one.name)
            _write(one.member, one.name, np.arange(one.row, one.row + len(values)), found)


@dataclass(frozen=True)
class Authored:
    """What a stage says of one part: the rows of a parameter."""

    key: Hashable
    """The parameter, and what it is of."""
    name: str
    member: Member
    row: int
    """The first of its rows, among those of the articulation."""
    values: np.ndarray


def _authored(run: Run, members: Sequence[Member], names: set[str]) -> Iterator[Authored]:
    """What the stage says of all parts of some articulations."""
    scene, laid = run.scene, laid_out(run.scene, run.settings)
    of_mechanisms: dict[tuple[int, ...], dict[str, np.ndarray]] = {}
    for member in members:
        indices = member.group.members[member.place]
        if indices not in of_mechanisms:  # what joins two of its articulations is of neither alone
            rows = parameter_rows(*mechanisms_in(laid, (indices,)), member.group.origins[member.place])
            of_mechanisms[indices] = rows | {"gravity": np.asarray(scene.gravity, float)}
        rows = of_mechanisms[indices]
        owners = owners_of_rows(scene.articulations[member.index])
        root = _root(scene.articulations[member.index])
        for name in names:
            kind, size = ROW_COUNTS[name] if name in ROW_COUNTS else ("link", MASS_PROPERTIES[name])
            for place, owner in enumerate(owners[kind]):
                if name in MASS_PROPERTIES and root is not None and owner == root.path:
                    continue  # its moving frame is at its centre of mass, and others are measured from there
                first = _first_row(member, name) + size * place
                yield Authored((name, owner), name, member, size * place, rows[name][first : first + size])


def _columns(member: Member) -> slice:
    return slice(member.first_column, member.first_column + member.group.environments)


def _first_row(member: Member, name: str) -> int:
    """The first row of an articulation in a field of its mechanism."""
    kind, size = ROW_COUNTS[name] if name in ROW_COUNTS else ("link", MASS_PROPERTIES[name])
    return size * member.first_row(kind)


def _read(member: Member, name: str, rows: np.ndarray) -> np.ndarray:
    """A copy of rows of an articulation on the host, shape (rows, environments)."""
    return _read_rows(member, name, _first_row(member, name) + rows)


def _write(member: Member, name: str, rows, values: np.ndarray) -> None:
    """Write rows of an articulation, of shape (rows, environments) or (environments), from the host."""
    _write_rows(member, name, _first_row(member, name) + rows, values)


def _read_rows(member: Member, name: str, rows: np.ndarray) -> np.ndarray:
    """A copy of rows of the mechanism of an articulation on the host, shape (rows, environments)."""
    return member.group.field(name).scalars.numpy()[rows, _columns(member)].copy()


def _write_rows(member: Member, name: str, rows, values: np.ndarray) -> None:
    """Write rows of the mechanism of an articulation, shape (rows, environments) or (environments), from the host."""
    scalars: wp.array = member.group.field(name).scalars
    written = scalars.numpy()
    written[rows, _columns(member)] = values
    if not scalars.device.is_cpu:
        scalars.assign(written)
