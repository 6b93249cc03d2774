"""A stage that is played: what is shown, when, and that it is as it was afterwards."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom
from warp_artic.extensions.usd import play

from tests.hosts.test_stage_backend import SCENE, STIFFNESS, arm, attached
from tests.usd.authoring import open_text
from warp_artic import HostError, SettingsError, StageError
from warp_artic.description.elastic_body import ElasticLaw

SAMPLES = Path(__file__).parents[3] / "samples" / "scenes"


def shown(stage, path="/arm/l2"):
    return np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path)))


def test_it_shows_each_frame_and_leaves_nothing():
    """The poses of a run with the same steps; removing the layer restores the stage bit for bit."""
    stage = open_text(SCENE + arm())
    layers = [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())]
    before, reference = shown(stage), attached(open_text(SCENE + arm()))
    with play(stage) as player:
        for frame in player.frames(0.5, is_paced=False):
            reference.step(1 / 60)
            np.testing.assert_allclose(shown(stage)[3, :3], reference.link_poses()[2, :3], atol=1e-12)
            assert frame == player.frame and player.time == frame / 60
        assert player.frame == 30 and (shown(stage) != before).any()
    assert (shown(stage) == before).all()
    assert [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())] == layers
    player.close()


def test_pause_seek_resume_and_reset():
    stage = open_text(SCENE + arm())
    with play(stage, remembered=21) as player:
        start = shown(stage)
        player.run(0.5, is_paced=False)
        end = shown(stage)
        assert player.seek(0.25) == 0.25
        middle = shown(stage)
        player.advance(5)
        assert player.frame == 30 and (shown(stage) == end).all()
        assert player.seek(0.0) == 10 / 60 and (shown(stage) != middle).any()
        player.resume()
        assert (shown(stage) == end).all()
        player.advance()
        assert player.frame == 31 and (shown(stage) != end).any()
        player.reset()
        assert player.frame == 0 and np.allclose(shown(stage), start, atol=1e-12)


def test_edits_while_playing():
    """A link that goes and comes back; a gain; both seen in the next frame."""
    stage = open_text(SCENE + arm(links=4))
    with play(stage) as player:
        player.advance(5)
        for name in ("/arm/l3", "/arm/j3"):
            stage.GetPrimAtPath(name).SetActive(False)
        player.advance()
        assert "/arm/l3" not in player.backend.report.links
        for name in ("/arm/l3", "/arm/j3"):
            stage.GetPrimAtPath(name).SetActive(True)
        stage.GetPrimAtPath("/arm/j1").GetAttribute(STIFFNESS).Set(9.0)
        player.advance()
        assert player.backend.report.links[-1] == "/arm/l3"
        np.testing.assert_allclose(shown(stage, "/arm/l3")[3, :3], player.backend.link_poses()[3, :3], atol=1e-12)


def test_animated_places_above_links():
    """A cart that is animated on the stage stays where the frame has it, and links stay where they are simulated."""
    cart = (
        'def Xform "cart" {\ndouble3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 24: (9, 0, 0) }\n'
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    )
    stage = open_text(SCENE + cart + arm().replace("</arm/", "</cart/arm/") + "}\n")
    with play(stage) as player:
        player.advance(30)
        code = Usd.TimeCode(0.5 * stage.GetTimeCodesPerSecond())
        matrix = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath("/cart/arm/l2")))
        np.testing.assert_allclose(matrix[3, :3], player.backend.link_poses()[2, :3], atol=1e-12)


@pytest.mark.parametrize("name", ["bent_beam", "soft_fingertip"])
def test_bodies_that_deform(name):
    """Nodes are shown where they are, also of a mesh below a link that moves, and shown again; nothing is left."""
    stage = Usd.Stage.Open(str(SAMPLES / f"{name}.usda"))
    session = stage.GetSessionLayer().ExportToString()
    with play(stage) as player:
        player.advance(5)
        early = player.backend.mesh_points()
        player.advance(5)
        for frame, expected in ((10, player.backend.mesh_points()), (5, early)):
            player.seek(frame / 60)
            for path, points in zip(player.backend.report.meshes, expected, strict=True):
                mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
                W = shown(stage, path)
                local = np.array(mesh.GetPointsAttr().Get())
                np.testing.assert_allclose(local @ W[:3, :3] + W[3, :3], points, atol=1e-6)
                np.testing.assert_allclose(mesh.GetExtentAttr().Get(), [local.min(axis=0), local.max(axis=0)])
        assert not player.backend.source.take_changes()
    assert stage.GetSessionLayer().ExportToString() == session


def test_edits_of_a_body_that_deforms():
    """What another tool changes acts from the next frame on, and the rest goes on as it was."""
    stage = Usd.Stage.Open(str(SAMPLES / "bent_beam.usda"))
    with play(stage) as player:
        player.advance(30)
        bent = player.backend.mesh_points()[0]
        law = stage.GetPrimAtPath("/World/rubber").GetAttribute("warpArtic:elasticMaterial:law")
        assert law.Set("neoHookean")
        player.advance()
        moved = np.linalg.norm(player.backend.mesh_points()[0] - bent, axis=1)
        assert 0.0 < moved.max() < 0.01 < np.ptp(bent[:, 2])
        assert player.backend.simulation.scene.elastic_bodies[0].material.law is ElasticLaw.NEO_HOOKEAN


def test_it_is_paced():
    """Frames come no faster than on the wall."""
    import time

    with play(open_text(SCENE + arm())) as player:
        begin = time.perf_counter()
        player.run(0.2)
        assert time.perf_counter() - begin >= 0.2


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"frames_per_second": 0.0}, SettingsError, "frames_per_second: 0.0 is not a finite number above 0"),
        ({"backend": "theirs"}, HostError, "there is no backend 'theirs'; registered are warp_artic"),
        ({"environments": 0}, SettingsError, "environments: 0 is not an integer of at least 1"),
    ],
)
def test_what_is_refused(options, error, sentence):
    """And the stage stays as it was."""
    stage = open_text(SCENE + arm())
    with pytest.raises(error, match=sentence):
        play(stage, **options)
    assert not stage.GetSessionLayer().subLayerPaths
    with pytest.raises(StageError, match="no articulation and no rigid body"):
        play(open_text(SCENE))


class Throwing:
    """A backend that fails in a step."""

    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def step(self, dt):
        raise RuntimeError("out of steam")


def test_a_backend_that_throws():
    """The stage is restored."""
    from warp_artic.hosts.stage_backend import WarpArticBackend

    stage = open_text(SCENE + arm())
    before = stage.GetSessionLayer().ExportToString()
    with pytest.raises(RuntimeError, match="out of steam"), play(stage, backend=Throwing(WarpArticBackend())) as player:
        player.advance()
    assert stage.GetSessionLayer().ExportToString() == before
