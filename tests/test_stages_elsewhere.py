"""Stages that others wrote are read unchanged, reported attribute by attribute, and run for a second."""

import numpy as np
import pytest

from tests.stages_elsewhere import FASTEST, PAGE, assets, inspection, is_finite, newton_version, row, second, speed
from warp_artic import Simulation, read_stage
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.diagnostic import Severity
from warp_artic.usd.convert_stage import convert_stage

REFUSED = {
    "mjc_schema_import.usda": {"loop-open"},
    "dm_fish.usdc": {"mass"},
    "sensor_contact_scene.usda": {"mass"},
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
"""Rules by which stages are refused: bodies without mass, and no rigid body at all."""
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


READABLE = [asset for asset in assets() if asset.name not in REFUSED and asset.name != "ant_multi.usda"]


@pytest.mark.parametrize("asset", [pytest.param(asset, id=f"{asset.collection}/{asset.name}") for asset in READABLE])
def test_converted_to_our_schemas(asset, tmp_path):
    """A copy in our schemas moves alike: to the last bit, or, where tendons get other names or places, to rounding."""
    convert_stage(asset.path, tmp_path / "ours.usda")
    scenes = (inspection(asset).scene, read_stage(tmp_path / "ours.usda"))
    pairs = [[one for tree in scene.articulations for one in tree.constraints_of(ContactPair)] for scene in scenes]
    assert pairs[0] == pairs[1]
    first, second = (Simulation(scene, device="cpu").record(30) for scene in scenes)
    for name in ("link_pose", "joint_position", "joint_velocity"):
        values, converted = getattr(first, name), getattr(second, name)
        if first.tendon_names:
            # Impacts make much more of a rounding; the pairs that may touch are the same.
            count = 3 if first.contact_names else len(values)
            atol = (1e-2 if first.contact_names else 1e-6) * np.abs(values).max()
            np.testing.assert_allclose(converted[:count], values[:count], rtol=0.0, atol=atol)
        else:
            assert np.array_equal(values, converted)


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
