"""What a compiler is told of the layout of arrays holds, and changes no bit."""

import numpy as np
import pytest
import warp as wp

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.kernels.launch import OPTIONS
from warp_artic.kernels.layout import with_known_layout
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.kinematics import place_links

PLACED = ("R_WM", "p_PM", "w", "axis", "velocity_moment", "velocity_force")


@wp.func
def place(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Place links by what the state has."""
    place_links(model, work, state.joint_position, state.root_pose, work.v, column, slot)


def simulate(variant):
    """Environments of a tree with every joint kind in random states; one parameter has a value for each of them."""
    rng = np.random.default_rng(5)
    articulation = trees.random_articulation(rng, 13, floating=True)
    simulation = Simulation(
        trees.scene(articulation), environments=40, settings=SolverSettings(precision="float32", variant=variant)
    )
    dofs = len(articulation.dofs)
    simulation.set_state(joint_position=rng.uniform(-1, 1, (40, dofs)), joint_velocity=rng.normal(size=(40, dofs)))
    simulation.parameters.armature.assign(rng.uniform(0.1, 0.2, (dofs, 40)))
    return simulation


def placed(variant, known):
    """What a kernel writes that places the links of each column, with what is known of the layout or without."""
    (group,) = simulate(variant).run.groups
    arrays, numbers = group.arrays, group.columns.numbers
    structs = arrays_for(numbers)
    Model, State, Work = structs.Model, structs.State, structs.Work
    placing = with_known_layout(place, numbers) if known else place

    @wp.kernel(**OPTIONS)
    def kernel(model: Model, state: State, work: Work, column: int):
        placing(model, state, work, column, wp.tid())

    arrays.work.v.assign(np.random.default_rng(6).normal(size=arrays.work.v.numpy().shape).astype(np.float32))
    for column in range(group.columns.blocks):
        wp.launch(kernel, dim=1, inputs=[arrays.model, arrays.state, arrays.work, column], device="cpu")
        yield from (getattr(arrays.work, name).numpy() for name in PLACED)


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_a_known_layout_changes_no_bit(variant):
    """Parameters that all environments share and such that they do not, and several columns."""
    found, expected = list(placed(variant, known=True)), list(placed(variant, known=False))
    assert len(found) > len(PLACED)
    assert min(np.abs(values).max() for values in expected) > 0.1
    for values, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(values, same)


@pytest.mark.parametrize("variant", ["lanes", "scalar"])
def test_rows_of_work_space_have_no_gaps(variant):
    """On a CPU, where kernels rely on it."""
    (group,) = simulate(variant).run.groups
    for name in group.arrays.work._cls.vars:
        array = getattr(group.arrays.work, name)
        assert array.strides[0] == wp.types.type_size_in_bytes(array.dtype), name
