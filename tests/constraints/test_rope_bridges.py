"""Chains that the world holds at both ends, thrown so that they whip: steps do not resolve that, and stay bounded."""

import numpy as np
import pytest

from tests import closed_mechanisms as mechanisms
from tests import trees
from tests.bridges import LENGTH, PLANKS, REACH, bend
from tests.closed_mechanisms import DOWN, PIN
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene


def bridge(viscous: float = 0.0) -> Scene:
    """Planks of 2 kg that hang between two places along x, with viscous friction in their hinges [N m s/rad]."""
    angle = bend()
    links, joints = [], []
    for k in range(PLANKS):
        links.append(mechanisms.bar(f"/World/bridge/plank_{k:02d}", 2.0, LENGTH, 0.1))
        turn = -angle * (PLANKS - 1) / 2.0 if k == 0 else angle
        place = (LENGTH, 0.0, 0.0) if k else (0.0, 0.0, 0.0)
        joint = mechanisms.hinge(f"/World/bridge/hinge_{k:02d}", k - 1 if k else WORLD, k, place, position=turn)
        joints.append(joint)
    end = LoopJoint(
        name="/World/bridge/end",
        link0=PLANKS - 1,
        link1=WORLD,
        frame0=Pose(position=(LENGTH, 0.0, 0.0)),
        frame1=Pose(position=(REACH * PLANKS * LENGTH, 0.0, 0.0)),
        free=PIN,
    )
    tree = Articulation(path="/World/bridge", links=tuple(links), joints=tuple(joints), constraints=(end,))
    return scene_of([tree], viscous)


def halves(viscous: float = 0.0) -> Scene:
    """Such planks as two articulations, from one end each, joined in the middle."""
    angle, half = bend(), PLANKS // 2
    starts = {"left": -angle * (PLANKS - 1) / 2.0, "right": np.pi + angle * (PLANKS - 1) / 2.0}
    middle = LoopJoint(
        name="/World/middle",
        link0=half - 1,
        link1=half - 1,
        articulation1="/World/right",
        frame0=Pose(position=(LENGTH, 0.0, 0.0)),
        frame1=Pose(position=(LENGTH, 0.0, 0.0)),
        free=PIN,
    )
    found = []
    for side, sign, end in (("left", 1.0, 0.0), ("right", -1.0, REACH * PLANKS * LENGTH)):
        path = f"/World/{side}"
        links = [mechanisms.bar(f"{path}/plank_{k:02d}", 2.0, LENGTH, 0.1) for k in range(half)]
        joints = [
            mechanisms.hinge(
                f"{path}/hinge_{k:02d}",
                k - 1 if k else WORLD,
                k,
                (LENGTH, 0.0, 0.0) if k else (end, 0.0, 0.0),
                position=sign * angle if k else starts[side],
            )
            for k in range(half)
        ]
        loops = (middle,) if side == "left" else ()
        found.append(Articulation(path=path, links=tuple(links), joints=tuple(joints), constraints=loops))
    return scene_of(found, viscous)


def scene_of(articulations: list[Articulation], viscous: float) -> Scene:
    """With viscous friction in all their joints."""
    if viscous:
        articulations = [trees.with_dofs(tree, friction=Friction(viscous=viscous)) for tree in articulations]
    return Scene(articulations=tuple(articulations), gravity=DOWN)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("hertz, speed", [(60, 2.0), (240, 4.0)])
@pytest.mark.parametrize("viscous", [0.0, 0.01])
@pytest.mark.parametrize("made", [bridge, halves])
def test_they_stay_in_one_piece(made, viscous, hertz, speed, precision):
    """What they had been accelerated by before threw them apart by metres within a second, with any energy."""
    scene = made(viscous)
    one = Simulation(scene, settings=SolverSettings(dt=1.0 / hertz, precision=precision))
    one.set_state(joint_velocity=speed * np.random.default_rng(1).normal(size=PLANKS))
    found = one.record(3 * hertz, quantities=("joint_position", "energy", "loop_error"))
    energy = found.energy[:, 0].astype(float)
    assert energy.sum(axis=1)[1:].max() < energy[1].sum() + 0.25 * energy[1:, 0].max()
    assert np.abs(found.loop_error[hertz // 10 :]).max() < 1e-3
    assert np.abs(found.loop_error[-1]).max() < 2e-4
    assert np.abs(found.joint_position - found.joint_position[0]).max() < np.pi
