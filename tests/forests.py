"""Articulations to be stepped as one mechanism, and alone: each under a path of its own, in one scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests import trees
from tests.busy_mechanisms import busy_tree
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.limit import ConeLimit, Limit

H = 1.0 / 120.0


def renamed(tree: Articulation, name: str) -> Articulation:
    """A tree of /World with everything in it below /World/<name>."""

    def own(path: str) -> str:
        return path.replace("/World/", f"/World/{name}/", 1)

    return replace(
        tree,
        path=own(tree.path),
        links=tuple(replace(link, path=own(link.path)) for link in tree.links),
        joints=tuple(
            replace(joint, path=own(joint.path), dofs=tuple(replace(dof, name=own(dof.name)) for dof in joint.dofs))
            for joint in tree.joints
        ),
        fixed_tendons=tuple(replace(tendon, name=own(tendon.name)) for tendon in tree.fixed_tendons),
        mimics=tuple(replace(mimic, name=own(mimic.name)) for mimic in tree.mimics),
        spatial_tendons=tuple(
            replace(
                tendon,
                name=own(tendon.name),
                attachments=tuple(replace(point, name=own(point.name)) for point in tendon.attachments),
            )
            for tendon in tree.spatial_tendons
        ),
    )


def arm() -> Articulation:
    """A floating tree with every joint type, limits, drives, friction, tendons and mimic joints."""
    return renamed(busy_tree(np.random.default_rng(2)), "arm")


def body(name: str, mass: float = 2.0) -> Articulation:
    """A free body."""
    return renamed(trees.free_body(mass, (0.1 * mass, 0.05 * mass, 0.12 * mass)), name)


def balls(name: str, floating: bool = True, **gains: float) -> Articulation:
    """A chain of ball joints with cones and twist limits, hard ones without gains."""
    tree = renamed(trees.chain(3, "spherical", floating=floating), name)
    cone, twist = ConeLimit(angle_1=0.4, angle_2=0.3, **gains), Limit(lower=-0.3, upper=0.3, **gains)
    joints = tuple(
        joint
        if not joint.dofs
        else replace(joint, cone_limit=cone, dofs=(replace(joint.dofs[0], limit=twist), *joint.dofs[1:]))
        for joint in tree.joints
    )
    return replace(tree, joints=joints)


def bouncing(name: str) -> Articulation:
    """A pendulum of two links whose stops bounce."""
    limit = Limit(lower=-0.3, upper=0.4, restitution=0.6, bounce_threshold=0.05)
    return trees.with_dofs(renamed(trees.chain(2, "revolute_y"), name), limit=limit)


def stiff(name: str) -> Articulation:
    """A chain whose drives bring it to its targets within a part of a step; one of them is too weak."""
    drives = [
        Drive(stiffness=1e4, damping=1e3, position_target=0.5 * (-1) ** k, max_force=50.0 if k == 2 else np.inf)
        for k in range(4)
    ]
    return trees.with_dofs(renamed(trees.chain(4, "revolute_y"), name), drive=drives)


def whip(name: str) -> Articulation:
    """A floating chain that turns faster than steps resolve."""
    return renamed(trees.chain(6, "universal_xy", floating=True), name)


def simulation(
    articulations: Sequence[Articulation], is_one: bool, environments: int = 3, speed: float = 1.0, **settings
) -> Simulation:
    """Articulations, as one mechanism or each by itself, in motion: each as if the others were not there."""
    scene = trees.scene(*articulations)
    if is_one:
        scene = replace(scene, mechanisms=(tuple(tree.path for tree in articulations),))
    options = {"dt": H, "precision": "float64", "variant": "scalar", **settings}
    made = Simulation(scene, environments=environments, settings=SolverSettings(**options), threads=1)
    assert len(made.run.groups) == 1 or not is_one
    for views, tree in zip(made.articulations, made.scene.articulations):
        rng = np.random.default_rng(sum(map(ord, tree.path)))
        if tree.dofs:
            views.state.joint_velocity.assign(speed * rng.normal(size=(len(tree.dofs), environments)))
        if tree.is_floating:
            views.state.root_velocity.assign(3 * speed * rng.normal(size=(1, 6, environments)))
    return made


def differences(one, other) -> dict[str, float]:
    """By how much arrays of two recordings of the same things differ, where they do; energies of the scene left out.

    Those are sums over all articulations, in the order in which these are stepped.
    """
    names = {"joint": "joint_names", "link": "link_names", "tendon": "tendon_names", "mimic": "mimic_names"}
    found = {}
    for quantity, values in vars(one).items():
        kind = names.get(quantity.split("_")[0])
        if kind and isinstance(values, np.ndarray) and values.size:
            rows = [getattr(other, kind).index(name) for name in getattr(one, kind)]
            same = getattr(other, quantity)[:, :, rows]
            if not np.array_equal(values, same):
                found[quantity] = float(np.abs(values - same).max())
    return found
