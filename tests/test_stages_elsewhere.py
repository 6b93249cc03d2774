"""Stages that others wrote are read unchanged, reported attribute by attribute, and run for a second."""

import pytest

from tests.stages_elsewhere import FASTEST, PAGE, assets, inspection, is_finite, newton_version, row, second, speed
from warp_artic.description.diagnostic import Severity

JOINTS = "kamino/testing/joints/test_joint_"
REFUSED = {
    "dm_fish.usdc": {"mass"},
    "sensor_contact_scene.usda": {"mass"},
    "pendulum_revolute_vs_d6.usda": {"free-axes"},
    **{
        f"{JOINTS}{kind}_{drive}.usda": {"free-axes"}
        for kind in ("cartesian", "cylindrical", "d6_6dof", "d6_cartesian", "d6_cylindrical")
        for drive in ("actuated", "passive")
    },
    **{
        f"{JOINTS}{kind}_{drive}_unary.usda": {"free-axes"}
        for kind in ("cartesian", "cylindrical")
        for drive in ("actuated", "passive")
    },
    **dict.fromkeys(
        (
            "bear.usd",
            "bunny.usd",
            "crazyflie.usd",
            "curvedSurface.usd",
            "deformables_mixed.usda",
            "mpm_material_subsets.usda",
            "mpm_sand.usda",
            "mpm_two_prims.usda",
            "rj45_plug.usd",
            "tetmesh_custom_attrs.usda",
            "tetmesh_multi.usda",
            "tetmesh_simple.usda",
            "tetmesh_with_legacy_material.usda",
            "tetmesh_with_material.usda",
            "unisex_shirt.usd",
        ),
        {"articulation-missing"},
    ),
}
"""Rules by which stages are refused: bodies without mass, joints that leave too much free, and no rigid body at all."""
SPEED = {"rel": 0.05, "abs": 1e-3}
"""By how much speeds may differ between machines."""
ALL = [pytest.param(asset, id=f"{asset.collection}/{asset.name}") for asset in assets()]


@pytest.mark.parametrize("asset", ALL)
def test_a_second(asset):
    """All that is recorded is finite and moves at a sensible speed; what is refused is refused by the rules above."""
    found = inspection(asset)
    refused = {finding.rule for finding in found.diagnostics if finding.severity is Severity.ERROR}
    assert refused == REFUSED.get(asset.name, set())
    assert (found.scene is None) == bool(refused)
    if found.scene:
        recording = second(asset)
        assert is_finite(recording)
        assert speed(recording) < FASTEST


def test_the_page_is_what_is_found():
    """Each line; those of Newton where the page is of the version that is installed."""
    title, *lines = PAGE.read_text().splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    written = {cells[0]: cells for cells in table}
    is_same = title.endswith(f" {newton_version()}")
    for asset in assets():
        if asset.collection.startswith("newton") and not is_same:
            continue
        *cells, fast = row(asset)
        *expected, fast_then = written[cells[0]]
        assert cells == expected
        assert fast == fast_then == "-" or float(fast) == pytest.approx(float(fast_then), **SPEED)
