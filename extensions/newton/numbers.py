"""The numbers of a model of Newton as parameters of a simulation, for each environment, and as those of a scene.

Rows are in the order of the scene, columns are environments, as in `Simulation.parameters`.
"""

from __future__ import annotations

from dataclasses import replace

import newton
import numpy as np
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.limits import bounded, limits
from warp_artic.extensions.newton.placements import placements
from warp_artic.extensions.newton.worlds import Worlds, leaders_of

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Dof
from warp_artic.description.limit import Limit
from warp_artic.description.scene import Scene

POSITION_MODES = (newton.JointTargetMode.POSITION, newton.JointTargetMode.POSITION_VELOCITY)
VELOCITY_MODES = (newton.JointTargetMode.VELOCITY, newton.JointTargetMode.POSITION_VELOCITY)

DOF_FIELDS = {
    "drive_stiffness": ("drive", "stiffness"),
    "drive_damping": ("drive", "damping"),
    "drive_max_force": ("drive", "max_force"),
    "limit_lower": ("limit", "lower"),
    "limit_upper": ("limit", "upper"),
    "limit_stiffness": ("limit", "stiffness"),
    "limit_damping": ("limit", "damping"),
    "friction_static": ("friction", "static_effort"),
    "friction_dynamic": ("friction", "dynamic_effort"),
    "friction_viscous": ("friction", "viscous"),
    "armature": (None, "armature"),
    "velocity_limit": (None, "velocity_limit"),
}
"""Parameters of dofs: the part of `Dof` and its field."""
PARTS = {"drive": Drive, "limit": Limit, "friction": Friction}
NOTHING = {
    **dict.fromkeys(DOF_FIELDS, 0.0),
    "drive_max_force": np.inf,
    "velocity_limit": np.inf,
    "limit_upper": np.inf,
    "limit_lower": -np.inf,
    "link_gravity_scale": 1.0,
}
"""What stands for none of a part, of numbers whose part is left out of steps where there is none."""
LINK_FIELDS = {"link_mass": "mass", "link_gravity_scale": "gravity_scale"}
"""Parameters of links: the field of `Link`."""
MASS_PROPERTIES = ("center_of_mass", "inertia")
"""Parameters of links that are laid out by `Simulation.set_mass_properties`."""
SAME_GRAVITY = 1e-5
"""By how much gravity may differ from that of a stage, relative to it: Newton has single precision."""

Numbers = dict[str, np.ndarray]


def nothing_in(numbers: Numbers) -> Numbers:
    """Numbers of the same shapes from which all that says something differs."""
    return {
        name: np.full(values.shape, NOTHING[name] if name in DOF_FIELDS else np.nan) for name, values in numbers.items()
    }


def in_the_first(numbers: Numbers, scene: Scene) -> Numbers:
    """Numbers of the same shapes, in all environments those of the first one; gravity is that of the scene."""
    found = {name: np.repeat(values[..., :1], values.shape[-1], axis=-1) for name, values in numbers.items()}
    gravity = np.array(scene.gravity)[:, None]
    is_same = np.abs(found["gravity"] - gravity) <= SAME_GRAVITY * np.abs(gravity).max()
    return {**found, "gravity": np.where(is_same, found["gravity"], gravity)}


def in_the_scene(numbers: Numbers) -> Numbers:
    """Numbers of the same shapes, in all environments those of a scene that is `described` by all of them."""
    found = {name: np.broadcast_to(_most(name, values)[..., None], values.shape) for name, values in numbers.items()}
    return {**found, "gravity": np.broadcast_to(found["gravity"][:1, :, :1], numbers["gravity"].shape)}


def mass_property(name: str, scene: Scene, numbers: Numbers, changed: dict[str, np.ndarray]) -> np.ndarray:
    """The changed entries of a property of links, and the others as they are in the scene, shape (L, size, E)."""
    link_of = {link.path: link for tree in scene.articulations for link in tree.links if not link.is_massless}
    own = np.array([getattr(link_of[path], name) for path in scene.link_names])
    return np.where(changed[name], numbers[name], own[..., None])


class Reader:
    """Reads the numbers of a scene out of a model.

    Args:
        model: Of Newton.
        worlds: Its environments.
        scene: What is simulated in each of them.
        binding: What of the model that is.
        has_springs: Whether the tendons of the scene are the springs of the model.
    """

    def __init__(self, model: newton.Model, worlds: Worlds, scene: Scene, binding: Binding, has_springs: bool):
        self.model, self.scene, self._has_springs = model, scene, has_springs
        self.placements = placements(model, worlds, scene, binding)
        starts = model.joint_qd_start.numpy()
        place = {name: (joint, k) for name, joint, k in binding.axes}
        place |= {name: (joint, k) for names, joint in binding.balls for k, name in enumerate(names)}
        self._joint_of = {name: worlds.joints[:, joint] for name, (joint, _) in place.items()}
        self._dofs = np.array([starts[self._joint_of[name]] + place[name][1] for name in scene.dof_names], int)
        self._dofs = self._dofs.reshape(len(scene.dof_names), worlds.count)
        body_of = dict(binding.links)
        self._bodies = np.array([worlds.bodies[:, body_of[name]] for name in scene.link_names], int)
        self._bodies = self._bodies.reshape(len(scene.link_names), worlds.count)
        self._worlds = [
            model.joint_world.numpy()[worlds.joints[:, joint]]
            for joint in (_root_joint(tree, binding) for tree in scene.articulations)
        ]

    def numbers(self) -> Numbers:
        """All that a simulation takes from the model as it is now."""
        return {**self._of_dofs(), **self._of_links(), **self._of_couplings(), "gravity": self._gravity()}

    @property
    def articulation_worlds(self) -> list[int]:
        """The world of each articulation in the first environment."""
        return [int(worlds[0]) for worlds in self._worlds]

    @property
    def follows_velocity(self) -> np.ndarray:
        """Whether the drive of each dof follows its velocity target, shape (D, E)."""
        return np.isin(self.model.joint_target_mode.numpy()[self._dofs], VELOCITY_MODES)

    def _of_dofs(self) -> Numbers:
        model, dofs = self.model, self._dofs
        modes = model.joint_target_mode.numpy()
        follows_position, follows_velocity = np.isin(modes, POSITION_MODES), np.isin(modes, VELOCITY_MODES)
        friction = model.joint_friction.numpy()
        stiffness = np.where(follows_position, model.joint_target_ke.numpy(), 0.0)
        damping = np.where(follows_position | follows_velocity, model.joint_target_kd.numpy(), 0.0)
        drives = (stiffness != 0.0) | (damping != 0.0)
        flat = {
            "drive_stiffness": stiffness,
            "drive_damping": damping,
            "drive_max_force": np.where(drives, bounded(model.joint_effort_limit.numpy()), np.inf),
            **limits(model),
            "friction_static": friction,
            "friction_dynamic": friction,
            "friction_viscous": model.joint_damping.numpy(),
            "armature": model.joint_armature.numpy(),
            "velocity_limit": bounded(model.joint_velocity_limit.numpy()),
        }
        return {name: values.astype(float)[dofs] for name, values in flat.items()}

    def _of_links(self) -> Numbers:
        inertia = self.model.body_inertia.numpy()[self._bodies].astype(float)
        upper = inertia[..., *np.triu_indices(3)]
        return {
            "link_mass": self.model.body_mass.numpy()[self._bodies].astype(float),
            "link_gravity_scale": 1.0 - compensated_gravity(self.model)[self._bodies],
            "center_of_mass": np.moveaxis(self.model.body_com.numpy()[self._bodies].astype(float), 1, 2),
            "inertia": np.moveaxis(upper, 1, 2),
        }

    def _of_couplings(self) -> Numbers:
        model, environments = self.model, self._dofs.shape[1]
        gears, offsets, springs, rests = [], [], [], []
        row_of = {name: row for row, name in enumerate(self.scene.dof_names)}
        coefficients, first = leaders_of(model)[1], model.joint_q_start.numpy()
        for tree in self.scene.articulations:
            names = [dof.name for dof in tree.dofs]
            for mimic in tree.mimics:
                offset, gear = coefficients[self._joint_of[names[mimic.dofs[0]]]].T
                own = [np.ones(environments), -gear]
                gears += own if len(mimic.dofs) == 2 else [np.zeros(environments)] * len(mimic.dofs)
                offsets.append(-offset)
            for tendon in tree.fixed_tendons if self._has_springs else ():
                row = row_of[names[tendon.dofs[0]]]
                springs.append(model.joint_stiffness.numpy()[self._dofs[row]])
                joint = self._joint_of[names[tendon.dofs[0]]]
                place = self._dofs[row] - model.joint_qd_start.numpy()[joint]
                rests.append(model.joint_rest_q.numpy()[first[joint] + place])
        return {
            "mimic_gear": _table(gears, environments),
            "mimic_offset": _table(offsets, environments),
            "tendon_stiffness": _table(springs, environments),
            "tendon_rest_length": _table(rests, environments),
        }

    def _gravity(self) -> np.ndarray:
        """In the axes of the scene; the last one is that of what is in all worlds."""
        gravity = self.model.gravity.numpy().astype(float)
        own = []
        for worlds, poses in zip(self._worlds, self.placements):
            of_worlds = gravity[np.where(worlds < 0, len(gravity) - 1, np.minimum(worlds, len(gravity) - 1))]
            own.append([g @ X.rotation for g, X in zip(of_worlds, poses)])
        return np.moveaxis(np.array(own), 1, 2)


def described(scene: Scene, numbers: Numbers, changed: dict[str, np.ndarray]) -> Scene:
    """The scene with those of the numbers that changed, such that it has every part that an environment needs."""
    chosen = {name: _most(name, values) for name, values in numbers.items()}
    row = {name: k for k, name in enumerate(scene.dof_names)}
    link_row = {name: k for k, name in enumerate(scene.link_names)}
    differs = {name: mask.any(axis=tuple(range(1, mask.ndim))) for name, mask in changed.items()}
    counts = dict.fromkeys(("mimic", "mimic_term", "tendon"), 0)
    trees = []
    for tree in scene.articulations:
        joints = tuple(
            replace(joint, dofs=tuple(_dof(dof, row[dof.name], chosen, differs) for dof in joint.dofs))
            for joint in tree.joints
        )
        links = [link if link.is_massless else _link(link, link_row[link.path], chosen, differs) for link in tree.links]
        share = next((link.gravity_scale for link in links if not link.is_massless), 1.0)
        links = (replace(link, gravity_scale=share) if link.is_massless else link for link in links)
        trees.append(replace(_coupled(tree, chosen, differs, counts), joints=joints, links=tuple(links)))
    gravity = tuple(map(float, chosen["gravity"][0])) if differs["gravity"].any() else scene.gravity
    return replace(scene, articulations=tuple(trees), gravity=gravity)


def _dof(dof: Dof, row: int, chosen: Numbers, differs: dict[str, np.ndarray]) -> Dof:
    given: dict[str | None, dict[str, float]] = {}
    for name, (part, field) in DOF_FIELDS.items():
        if differs[name][row]:
            given.setdefault(part, {})[field] = float(chosen[name][row])
    own = given.pop(None, {})
    for part, fields in given.items():
        own[part] = replace(getattr(dof, part) or PARTS[part](), **fields)
    return replace(dof, **own) if own else dof


def _link(link, row: int, chosen: Numbers, differs: dict[str, np.ndarray]):
    own = {field: float(chosen[name][row]) for name, field in LINK_FIELDS.items() if differs[name][row]}
    for name in MASS_PROPERTIES:
        if differs[name][row]:
            own[name] = tuple(map(float, chosen[name][row]))
    return replace(link, **own) if own else link


def _coupled(tree: Articulation, chosen: Numbers, differs: dict[str, np.ndarray], counts: dict[str, int]):
    mimics, tendons = [], []
    for mimic in tree.mimics:
        terms = range(counts["mimic_term"], counts["mimic_term"] + len(mimic.dofs))
        gears = (
            float(chosen["mimic_gear"][k]) if differs["mimic_gear"][k] else gear for k, gear in zip(terms, mimic.gears)
        )
        k = counts["mimic"]
        offset = float(chosen["mimic_offset"][k]) if differs["mimic_offset"][k] else mimic.offset
        mimics.append(replace(mimic, gears=tuple(gears), offset=offset))
        counts["mimic"] += 1
        counts["mimic_term"] += len(mimic.dofs)
    for tendon in tree.fixed_tendons:
        given = {
            field: float(chosen[name][counts["tendon"]])
            for field, name in (("stiffness", "tendon_stiffness"), ("rest_length", "tendon_rest_length"))
            if len(chosen[name]) and differs[name][counts["tendon"]]
        }
        tendons.append(replace(tendon, **given))
        counts["tendon"] += 1
    return replace(tree, mimics=tuple(mimics), fixed_tendons=tuple(tendons))


def _most(name: str, values: np.ndarray) -> np.ndarray:
    """Of all environments a value that has the part which any of them has; of others the first."""
    if name not in NOTHING:
        return values[..., 0]
    found = np.argmax(values != NOTHING[name], axis=1)
    return values[np.arange(len(values)), found]


def compensated_gravity(model: newton.Model) -> np.ndarray:
    """The share of the weight of each body that MuJoCo takes away, shape (bodies); zero without its attributes."""
    own = getattr(getattr(model, "mujoco", None), "gravcomp", None)
    return np.zeros(model.body_count) if own is None else own.numpy().astype(float)


def _table(rows: list, environments: int) -> np.ndarray:
    return np.array(rows, float).reshape(len(rows), environments)


def _root_joint(tree: Articulation, binding: Binding) -> int:
    """The joint of an articulation on the world, by which its world is known."""
    paths = {link.path for link in tree.links}
    roots = [joint for path, joint in binding.roots if path in paths]
    return (roots or [binding.anchors[joint.path][1] for joint in tree.joints if joint.parent == WORLD])[0]
