"""The mobility of fixed tendons at the start, and which of them do not oppose their change of length."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic.description.tendon import FixedTendon
from warp_artic.description.tendon_mobility import mass_matrix, not_opposing


@pytest.mark.parametrize("seed", range(6))
def test_the_mass_matrix_is_that_of_the_oracle(seed):
    """Trees of all joint types at any state; of a floating base seen from its joints, which is what tendons need."""
    rng = np.random.default_rng(seed)
    tree = trees.random_articulation(rng, 12, floating=seed % 2 == 0)
    state = trees.random_state(rng, tree)
    expected = rigid.mass_matrix(rigid.motion(tree, state))
    found = mass_matrix(trees.authored_at(tree, state))
    dofs = slice(len(found) - len(tree.dofs), None)
    expected, found = (np.linalg.inv(M)[dofs, dofs] for M in (expected, found))
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def tendon(name, c, r, **changes):
    return FixedTendon(name=name, dofs=(0, 1), coefficients=c, force_coefficients=r, **changes)


def test_tendons_that_do_not_oppose_their_change_of_length_are_found():
    """Two equal sliders, one on the other: M = ((2, 1), (1, 1)), so M^-1 = ((1, -1), (-1, 2))."""
    tendons = (
        tendon("along", (1.0, 2.0), (1.0, 2.0)),
        tendon("against", (1.0, 0.0), (0.0, 1.0)),
        tendon("across", (1.0, 0.0), (1.0, 1.0)),
        tendon("idle", (1.0, 0.0), (0.0, 0.0)),
        tendon("off", (1.0, 0.0), (-1.0, 0.0), enabled=False),
    )
    tree = trees.replace(trees.chain(2, "prismatic_z"), fixed_tendons=tendons)
    assert not_opposing(tree) == pytest.approx({"against": -1.0, "across": 0.0}, abs=1e-12)
