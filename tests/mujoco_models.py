"""Models that mujoco-usd-converter made stages of, beside the model that MuJoCo itself compiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.scene import Scene

DATA = Path(__file__).parent / "data" / "mujoco"
MODELS = tuple(sorted(path.stem for path in DATA.glob("*.usdc")))
JOINT_DOFS = {1: 3, 2: 1, 3: 1}
"""By the types of joints of MuJoCo that are not free: ball, slide and hinge."""
WITHOUT = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT


@dataclass(frozen=True)
class Pair:
    """One body in both descriptions."""

    body: int
    """Of MuJoCo."""
    link: Link
    joints: tuple[Joint, ...]
    """From its parent on; none where it floats."""


def compiled(name: str) -> mujoco.MjModel:
    """The model of MuJoCo."""
    return mujoco.MjModel.from_xml_path(str(DATA / f"{name}.xml"))


def pairs(scene: Scene, model: mujoco.MjModel) -> list[Pair]:
    """The bodies, which both have in depth-first order."""
    known = {path: (tree, number) for tree in scene.articulations for path, number in tree.bodies.items()}
    paths = [path for path in scene.link_names if path in known]
    assert len(paths) == model.nbody - 1
    found = []
    for body, path in enumerate(paths, 1):
        tree, number = known[path]
        name = model.body(body).name
        assert not name.isidentifier() or path.rpartition("/")[2].startswith(name)
        found.append(Pair(body, tree.links[number], _joints(tree, number)))
    return found


def _joints(tree: Articulation, link: int) -> tuple[Joint, ...]:
    """What carries a link, massless links between included."""
    joints = []
    while (joint := tree.inbound[link]) is not None:
        joints.insert(0, joint)
        link = joint.parent
        if link == WORLD or not tree.links[link].is_massless:
            break
    return tuple(joints)


def dof_pairs(pair: Pair, model: mujoco.MjModel) -> list[tuple[int, Joint, int]]:
    """The joint of MuJoCo, ours, and the place of its first dof in MuJoCo's, of the joints of one body."""
    first, count = model.body_jntadr[pair.body], model.body_jntnum[pair.body]
    ids = [number for number in range(first, first + count) if model.jnt_type[number] in JOINT_DOFS]
    own = [joint for joint in pair.joints if joint.dofs]
    assert [JOINT_DOFS[model.jnt_type[number]] for number in ids] == [len(joint.dofs) for joint in own]
    return [(number, joint, model.jnt_dofadr[number]) for number, joint in zip(ids, own)]


def mass_matrices(scene: Scene, model: mujoco.MjModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """The mass matrix of the joints of each tree at the start, by the description, and by MuJoCo in the same order."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    whole = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, whole)
    places = {joint.path: (joint, first) for pair in pairs(scene, model) for _, joint, first in dof_pairs(pair, model)}
    found = []
    for tree in (tree for tree in scene.articulations if tree.dofs):
        base = rigid.base_count(tree)
        own = rigid.mass_matrix(rigid.motion(tree, trees.authored_state(tree)))[base:, base:]
        rows = [np.zeros((0, model.nv))]
        for joint in tree.joints:
            if joint.dofs:
                _, first = places[joint.path]
                # Of a ball, ours are components in the joint frame, those of MuJoCo in the frame of the body.
                part = joint.child_frame.rotation.T if len(joint.dofs) == 3 else np.eye(1)
                rows.append(part @ np.eye(model.nv)[first : first + len(joint.dofs)])
        T = np.concatenate(rows)
        found.append((own, T @ whole @ T.T))
    return found


def smooth(scene: Scene) -> Scene:
    """The scene without what MuJoCo solves as constraints: limits, dry friction, equalities, contacts, force ranges."""

    def without_contacts(tree):
        return tuple(one for one in tree.constraints if not isinstance(one, ContactPair))

    def dof(one):
        friction = one.friction and replace(one.friction, static_effort=0.0, dynamic_effort=0.0)
        drive = one.drive and replace(one.drive, max_force=np.inf)
        return replace(one, limit=None, friction=friction, drive=drive)

    def joint(one):
        return replace(one, cone_limit=None, dofs=tuple(map(dof, one.dofs)))

    own = (
        replace(tree, mimics=(), joints=tuple(map(joint, tree.joints)), constraints=without_contacts(tree))
        for tree in scene.articulations
    )
    return replace(scene, articulations=tuple(own))


def poses_after(scene: Scene, model: mujoco.MjModel, integrator, seconds: float, rate: int, seed: int = 0):
    """Positions of the bodies after a free motion from random velocities: ours, and those of MuJoCo, shape (B, 3)."""
    model.opt.disableflags |= WITHOUT
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.timestep, model.opt.integrator = 1.0 / rate, integrator
    model.actuator_forcelimited[:] = 0
    data, scene = mujoco.MjData(model), smooth(scene)
    random = np.random.default_rng(seed)
    velocity = dict.fromkeys(scene.dof_names, 0.0)
    both = pairs(scene, model)
    for pair in both:
        for _, joint, first in dof_pairs(pair, model):
            if len(joint.dofs) == 1:
                data.qvel[first] = random.normal() * (0.2 if joint.dofs[0].axis.is_linear else 1.0)
                velocity[joint.dofs[0].name] = data.qvel[first]
    settings = SolverSettings(dt=1.0 / rate, precision="float64")
    simulation = Simulation(scene, device="cpu", settings=settings)
    simulation.set_state(joint_velocity=[velocity[name] for name in simulation.joint_names])
    count = round(seconds * rate)
    recording = simulation.record(count, every=count)
    mujoco.mj_step(model, data, count)
    mujoco.mj_kinematics(model, data)
    rows = [recording.link_names.index(pair.link.path) for pair in both]
    return recording.link_pose[-1, 0, rows, :3], data.xpos[1:]
