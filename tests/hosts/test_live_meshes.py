"""Hosts see meshes that deform: a backend gives their points, and a live layer shows them."""

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from tests.usd.authoring import SMALL_UNITS, open_text
from tests.usd.meshes import rubber, sheet, tendon
from tests.usd.test_write_meshes import TURNED, world_points
from warp_artic.errors import HostError
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.stage_backend import WarpArticBackend

SHEET = "/World/sheet"
PINNED = "uniform int[] warpArtic:elastic:pinnedNodes = [0, 3]\n"


@pytest.fixture
def stage():
    """A sheet alone, in centimetres, under a scale, that falls about its pinned edge."""
    return open_text(f'def Xform "World" {{\n{rubber()}{sheet(TURNED + PINNED)}{tendon()}}}\n', SMALL_UNITS)


def test_points_are_shown_and_taken_back(stage):
    """As they are now, in the world; closed, the stage is as it was."""
    session = stage.GetSessionLayer().ExportToString()
    backend, live = WarpArticBackend(), LiveLayer(stage)
    report = backend.attach(stage)
    assert report.meshes == (SHEET,) and {SHEET, "/World/cable"} <= {*report.simulated}
    backend.leave_out(live.layer)
    live.show(report.links, report.meshes)
    before = world_points(stage, SHEET, 0.0)
    for _ in range(3):
        assert backend.step(1 / 60) > 0
        (points,) = backend.mesh_points()
        live.publish(backend.link_poses(), Usd.TimeCode(0.0), (points,))
        np.testing.assert_allclose(world_points(stage, SHEET, 0.0), 100 * points, atol=1e-4)
        low, high = UsdGeom.Boundable(stage.GetPrimAtPath(SHEET)).GetExtentAttr().Get()
        local = UsdGeom.PointBased(stage.GetPrimAtPath(SHEET)).GetPointsAttr().Get()
        assert np.allclose(np.min(local, axis=0), low) and np.allclose(np.max(local, axis=0), high)
    assert np.abs(world_points(stage, SHEET, 0.0) - before).max() > 0.1
    assert backend.revision == 1
    live.close()
    assert stage.GetSessionLayer().ExportToString() == session
    backend.detach()


def test_edits_of_the_material_are_taken_in(stage):
    """What a mesh is made of is watched with it."""
    backend = WarpArticBackend()
    backend.attach(stage)
    assert not backend.take_in_edits()
    stage.GetPrimAtPath("/World/rubber").GetAttribute("warpArtic:elasticMaterial:youngModulus").Set(3000.0)
    assert backend.take_in_edits()
    (body,) = backend.simulation.scene.elastic_bodies
    assert body.material.young_modulus == pytest.approx(300.0)
    backend.detach()


def test_environments_are_counted(stage):
    """One that is not there is named."""
    backend = WarpArticBackend()
    backend.attach(stage, environments=2)
    assert len(backend.mesh_points(1)) == 1
    with pytest.raises(HostError, match="environment 2 is not in 0 ... 1"):
        backend.mesh_points(2)
    backend.detach()
