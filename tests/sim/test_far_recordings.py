"""Places of what is far from the world origin do not jump in recordings and run layers of single precision."""

from dataclasses import replace

import numpy as np
from pxr import Usd, UsdGeom

import warp_artic as wa
from tests.contact_stages import ContactScene, box
from tests.usd.authoring import open_text
from tests.usd.meshes import block, world

FAR = (512_000.0, -256_000.0, 0.0)
"""Such as the coordinates of a map [m]."""
PLACES = ("link_pose", "contact_position")


def sliding(at: tuple[float, float, float]) -> ContactScene:
    """A box that slides over the ground to another one, at a place."""
    boxes = [box("one", 0.1, (0.0, 0.0, 0.1), velocity=(1.0, 0.2, 0.0)), box("other", 0.1, (0.4, 0.0, 0.1))]
    return ContactScene(solids=[replace(one, position=tuple(np.add(one.position, at))) for one in boxes], friction=0.3)


def run_of(scene: ContactScene, folder, steps: int = 60):
    """The recording of a scene in single precision, and the stage with its run layer."""
    source, output = folder / "source.usda", folder / "run.usda"
    open_text(scene.usd).GetRootLayer().Export(str(source))
    one = wa.Simulation(wa.read_stage(source), settings=wa.SolverSettings(precision="float32"))
    recording = one.record(steps, quantities=(*PLACES, "joint_velocity"))
    wa.write_results(source, recording, output)
    return recording, Usd.Stage.Open(str(output))


def test_places_are_as_exact_as_near_the_origin(tmp_path):
    """Links, contacts and what is baked move as they do at the origin, to what is rounded there."""
    runs = []
    for name, at in (("near", (0.0, 0.0, 0.0)), ("far", FAR)):
        (tmp_path / name).mkdir()
        runs.append((at, *run_of(sliding(at), tmp_path / name)))
    (_, near, near_layer), (_, far, far_layer) = runs
    assert near.link_pose.dtype == far.joint_velocity.dtype == np.float32
    moved = np.ptp(near.link_pose[..., :3], axis=0).max()
    assert moved > 0.05
    for name in PLACES:
        assert getattr(near, name).size
        np.testing.assert_allclose(getattr(far, name)[..., :3] - FAR, getattr(near, name)[..., :3], atol=1e-6)
    for path in near.link_names:
        for code in (0, 3, 6):
            places = [
                UsdGeom.XformCache(code).GetLocalToWorldTransform(layer.GetPrimAtPath(path)).ExtractTranslation()
                for layer in (near_layer, far_layer)
            ]
            np.testing.assert_allclose(np.subtract(places[1], FAR), places[0], atol=1e-6)


def test_nodes_of_meshes_are_as_exact_as_near_the_origin():
    """A mesh that falls beside an arm near the origin."""
    found = []
    for at in ((0.0, 0.0, 0.0), (0.0, 0.0, FAR[0])):
        place = f'double3 xformOp:translate = {at}\nuniform token[] xformOpOrder = ["xformOp:translate"]'
        one = wa.Simulation(wa.read_stage(world(block(place))), settings=wa.SolverSettings(precision="float32"))
        found.append(one.record(30, quantities=("mesh_points",)).mesh_points - at)
    assert np.ptp(found[0], axis=0).max() > 0.05
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
