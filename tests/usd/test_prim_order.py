"""The motion of each body and joint does not depend on the order of prims in a file.

Except where that is what a file says: joints of one body that stack (MuJoCo) turn it in their order.
"""

import functools
import random
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd

from warp_artic import Simulation, SolverSettings, read_stage
from warp_artic.description.contact_pair import ContactPair

ROOT = Path(__file__).parents[2]
STAGES = (
    *(f"samples/scenes/{name}.usda" for name in ("arm", "branching_tendon", "coupled_hand", "differential", "elevons")),
    *(f"samples/scenes/{name}.usda" for name in ("gripper", "jumping_jack", "needles", "ragdoll", "cranes", "tackle")),
    "samples/scenes/floating_three_links.usda",
    "tests/data/mujoco/gym_ant.usdc",
    *(f"tests/data/oracle/stages/{name}.usda" for name in ("fixed_tendon_two_joints", "arm6_drives")),
)
SAME = ("samples/scenes/floating_three_links.usda",)
"""Whose order of names no shuffle changes."""
ROUNDING = 1e-10
"""Sums over siblings are made in their order, so that they may round in another way [SI]."""
OF_SWEEPS = 2e-3
"""What few sweeps over contacts make of it."""


def shuffled(path: Path, seed: int) -> Usd.Stage:
    """The stage of a file with all siblings, of every kind, in a random order; as it is for the seed 0."""
    layer, rng = Usd.Stage.Open(str(path)).Flatten(), random.Random(seed)

    def order(siblings) -> list[str]:
        names = [spec.name for spec in siblings]
        rng.shuffle(names)
        return names

    def shuffle(spec: Sdf.PrimSpec) -> None:
        if len(spec.nameChildren) > 1:
            spec.nameChildrenOrder = order(spec.nameChildren)
        for child in spec.nameChildren:
            shuffle(child)

    if seed:
        if len(layer.rootPrims) > 1:
            layer.rootPrimOrder = order(layer.rootPrims)
        for prim in layer.rootPrims:
            shuffle(prim)
    return Usd.Stage.Open(layer)


@functools.cache
def motion(path: Path, seed: int, solver: str) -> tuple[dict, tuple[str, ...]]:
    """Every record by what it is and by its name, and the order of names."""
    scene = read_stage(shuffled(path, seed))
    settings = SolverSettings(solver=solver, precision="float64", variant="scalar")
    recording = Simulation(scene, settings=settings).record(60)
    tables = {
        "joint_position": recording.joint_names,
        "joint_velocity": recording.joint_names,
        "link_pose": recording.link_names,
        "link_velocity": recording.link_names,
        "tendon_length": recording.tendon_names,
        "mimic_error": recording.mimic_names,
    }
    found = {
        (table, name): getattr(recording, table)[:, 0, place]
        for table, names in tables.items()
        for place, name in enumerate(names)
    }
    return found, (*recording.joint_names, *recording.link_names)


def touches(path: Path) -> bool:
    """Whether shapes of a stage may touch."""
    return any(tree.constraints_of(ContactPair) for tree in read_stage(path).articulations)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("name", STAGES)
def test_prims_in_another_order_move_alike(name, solver):
    """By name, to rounding, also where few sweeps leave much of a constraint open."""
    wanted, order = motion(ROOT / name, 0, solver)
    rounding = ROUNDING if solver == "direct" or not touches(ROOT / name) else OF_SWEEPS
    orders = set()
    for seed in (1, 2):
        found, own = motion(ROOT / name, seed, solver)
        assert found.keys() == wanted.keys()
        orders.add(own)
        for key, values in found.items():
            np.testing.assert_allclose(values, wanted[key], rtol=0, atol=rounding * (1.0 + np.abs(wanted[key]).max()))
    assert orders != {order} or name in SAME
