"""Between dofs and six axes for each joint: the document's examples, every joint kind, locked axes."""

import re
from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.sim.test_dynamics import upright
from warp_artic import SettingsError
from warp_artic.description.joint import WORLD, Axis

AXES = [axis.value for axis in Axis]

simulate = partial(simulations.simulate, environments=3, precision="float64", variant="scalar")


def mixed(floating):
    """A tree with fixed joints and joints of any axes, of which the first link may be welded to the world."""
    kinds = (*trees.JOINT_KINDS, *trees.FREER_KINDS)
    return trees.random_articulation(6, len(kinds) + 3, floating=floating, kinds=kinds)


def test_unpack_a_position():
    """The document's pendulum turns about Z."""
    found = upright(1, [0.0]).unpack_joints([0.5]).numpy()
    wanted = np.zeros((1, 1, 6))
    wanted[0, 0, AXES.index("rotZ")] = 0.5
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_pack_a_position():
    values = np.zeros((1, 6))
    values[0, AXES.index("rotZ")] = 0.5
    np.testing.assert_allclose(upright(1, [0.0]).pack_joints(values).numpy(), [[0.5]], atol=1e-6)


@pytest.mark.parametrize("floating", [False, True])
def test_every_kind_of_joint(floating):
    """Each dof is on its axis of the joint of its link, in the order of links; what is packed again is the same."""
    tree = mixed(floating)
    simulation = simulate(tree)
    values = np.random.default_rng(0).normal(size=(3, len(tree.dofs)))
    unpacked = simulation.unpack_joints(values)
    inbound = [joint for joint in tree.inbound if joint and (joint.parent != WORLD or joint.dofs)]
    wanted = np.zeros((3, len(inbound), 6))
    for dof, value in zip(tree.dofs, values.T):
        (k,) = [k for k, joint in enumerate(inbound) if dof in joint.dofs]
        wanted[:, k, AXES.index(dof.axis.value)] = value
    assert (unpacked.numpy() == wanted).all()
    rows = simulation.jacobian().shape[1]
    assert 6 * (len(inbound) + floating) == rows
    for given in (unpacked, wanted):
        assert (simulation.pack_joints(given).numpy() == values).all()
    alone = simulation.pack_joints(wanted[1])
    assert (alone.numpy() == values[1]).all()
    assert simulation.unpack_joints(alone, out=unpacked) is unpacked
    assert (unpacked.numpy() == wanted[[1, 1, 1]]).all()


def test_a_weld_to_the_world_has_no_axes():
    tree = upright(2, [0.0, 0.0]).scene.articulations[0]
    tree = trees.replace(tree, joints=(trees.replace(tree.joints[0], dofs=()), tree.joints[1]))
    found = simulate(tree).unpack_joints([0.3]).numpy()
    assert found.shape == (3, 1, 6) and (found[:, 0, AXES.index("rotZ")] == 0.3).all()
    tree = trees.replace(tree, joints=tuple(trees.replace(joint, dofs=()) for joint in tree.joints))
    assert simulate(tree).pack_joints(np.zeros((1, 6))).shape == (3, 0)


def test_a_value_on_a_locked_axis_is_refused():
    """By the name of the joint and the axis, which of its axes are free, and where the value is."""
    simulation = simulate(upright(2, [0.0, 0.0]).scene.articulations[0])
    values = np.zeros((3, 2, 6))
    values[:, 1, AXES.index("rotZ")] = 1.0
    values[2, 1, AXES.index("transY")] = 0.25
    text = "/World/pivot1: the value at (2, 1, 1) is 0.25 on the locked axis transY; its free axes: rotZ"
    with pytest.raises(SettingsError, match=re.escape(text)):
        simulation.pack_joints(values)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda simulation: simulation.unpack_joints([1.0, 2.0, 3.0]), r"values: shape \(3,\) is not \(1, 2\)"),
        (lambda simulation: simulation.unpack_joints([1.0, np.nan]), r"values: the value at \(0, 1\) is nan"),
        (lambda simulation: simulation.pack_joints(np.zeros((3, 6))), r"values: shape \(3, 6\) is not \(1, 2, 6\)"),
        (lambda simulation: simulation.pack_joints(np.full((2, 6), np.inf)), "values: the value at .* is inf"),
    ],
)
def test_wrong_arguments(call, text):
    with pytest.raises(SettingsError, match=text):
        call(upright(2, [0.0, 0.0]))
