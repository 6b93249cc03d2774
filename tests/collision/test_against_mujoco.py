"""Distances of pairs against MuJoCo's, which has them by programs of its own."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.collision.pairs import find_places, random_pairs
from tests.collision.test_collide import PAIRS, is_searched, nearest
from warp_artic.collision.kinds import Solid

GEOMS = {
    Solid.SPHERE: "sphere",
    Solid.CAPSULE: "capsule",
    Solid.CYLINDER: "cylinder",
    Solid.BOX: "box",
    Solid.CONVEX: "mesh",
    Solid.ELLIPSOID: "ellipsoid",
}
COUNT = 200
KNOWN = [kinds for kinds in PAIRS if set(kinds) <= set(GEOMS)]


def model_of(pairs) -> mujoco.MjModel:
    """Two bodies that are put where they are to be."""
    meshes, bodies = "", ""
    for side, (kind, hull) in enumerate(((pairs.kind0, pairs.hull0), (pairs.kind1, pairs.hull1))):
        meshes += f'<mesh name="hull{side}" vertex="{" ".join(map(str, hull.ravel()))}"/>'
        shape = f'mesh="hull{side}"' if kind == Solid.CONVEX else 'size="1 1 1"'
        bodies += f'<body mocap="true"><geom type="{GEOMS[kind]}" {shape}/></body>'
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option ccd_iterations="200" ccd_tolerance="1e-9"/>
      <asset>{meshes}</asset>
      <worldbody>{bodies}</worldbody>
    </mujoco>""")


@pytest.mark.parametrize("kinds", KNOWN, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}".lower())
def test_distances(kinds):
    """Of pairs that are apart, and of such that are up to 0.1 deep in each other."""
    pairs = random_pairs(*kinds, COUNT, seed=11)
    _x, _n, gap = nearest(find_places(pairs, "wide64"))
    model = model_of(pairs)
    data = mujoco.MjData(model)
    found = np.zeros(COUNT)
    for pair in range(COUNT):
        sides = (pairs.x0, pairs.R0, pairs.size0), (pairs.x1, pairs.R1, pairs.size1)
        for side, (x, R, size) in enumerate(sides):
            if kinds[side] != Solid.CONVEX:
                model.geom_size[side] = size[pair]
            data.mocap_pos[side] = x[pair]
            data.mocap_quat[side] = Rotation.from_matrix(R[pair]).as_quat(scalar_first=True)
        mujoco.mj_kinematics(model, data)
        found[pair] = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None)
    near = gap > -0.1
    assert near.sum() > 50
    np.testing.assert_allclose(gap[near], found[near], atol=1e-5 if is_searched(kinds) else 1e-12)
