"""Bodies of point instances are shown on the stage of a host by the arrays of their instancer."""

import numpy as np
from pxr import Sdf, Usd, UsdGeom

from tests.usd.authoring import open_text
from tests.usd.test_point_instances import ABOVE, BOX, MIXED, instance_poses, instancer
from warp_artic.hosts.instancers import Instancers
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.stage_backend import WarpArticBackend

MANY = "/World/holder/many"


def test_instances_are_shown_live():
    """The arrays of the instancer follow published poses, other instances stay, and closing gives them back."""
    stage = open_text(instancer(MIXED, above=ABOVE, metadata="(inactiveIds = [1])"))
    before, _ = instance_poses(stage, 0)
    backend = WarpArticBackend()
    links = backend.attach(stage).links
    live = LiveLayer(stage)
    backend.leave_out(live.layer)
    live.show(links)
    poses = np.array(backend.link_poses())
    poses[:, :3] += [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    live.publish(poses)
    shown, _ = instance_poses(stage, 0)
    np.testing.assert_allclose(shown[[0, 2, 3]], poses[:, :3], atol=1e-5)
    np.testing.assert_allclose(shown[1], before[1], atol=1e-6)
    live.close()
    np.testing.assert_array_equal(instance_poses(stage, 0)[0], before)
    backend.detach()


def test_edits_of_an_instancer_are_followed():
    """A position, and a size of a prototype, that are edited are read anew."""
    stage = open_text(instancer(MIXED))
    backend = WarpArticBackend()
    backend.attach(stage)
    positions = stage.GetPrimAtPath(MANY).GetAttribute("positions")
    positions.Set([(0, 0, 5), *list(positions.Get())[1:]])
    assert backend.take_in_edits()
    backend.reset()
    assert backend.link_poses()[0, 2] == 5.0
    mass = backend.simulation.scene.articulations[0].links[0].mass
    stage.GetPrimAtPath(f"{MANY}/kinds/box").GetAttribute("size").Set(0.4)
    assert backend.take_in_edits()
    assert backend.simulation.scene.articulations[0].links[0].mass > 7.9 * mass
    backend.detach()


def test_many_environments_show_the_prototype():
    """The instancer of a link that is an instance shows the body of its prototype."""
    stage = open_text(instancer(MIXED, BOX + 'def Xform "rock" {\n}\n'))
    shown = Instancers(stage, [f"{MANY}/instance_0"], 2)
    shown.open()
    shown.publish(np.zeros((1, 7, 2)) + np.eye(7)[6][None, :, None])
    (link,) = (
        UsdGeom.PointInstancer(stage.GetPrimAtPath("/WarpArticEnvironments/link_0")).GetPrototypesRel().GetTargets()
    )
    assert stage.GetPrimAtPath(link).GetTypeName() == "Cube"
    assert isinstance(stage, Usd.Stage) and link.HasPrefix(Sdf.Path("/WarpArticEnvironments"))
    shown.close()
