"""Which rows floating roots have: root r the dofs 6 r ... 6 r + 5, and seven rows of poses from 7 r on."""

import warp as wp


@wp.func
def pose_row(dof: int):
    """The first row of the pose of a root whose first dof is given."""
    return dof + dof // 6


@wp.func
def pose_rows(root_dofs: int):
    """The rows of the poses of all roots, which have so many dofs together."""
    return root_dofs + root_dofs // 6
