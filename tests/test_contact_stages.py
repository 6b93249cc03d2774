"""Scenes of solids: the stage and the model of MuJoCo say the same, and inertias are those of even density."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, capsule, cylinder, sphere, turn
from tests.usd.authoring import open_text

MOVING = {"velocity": (1, 2, 3), "turning": (4, 5, 6)}
SOLIDS = (
    box("box", (0.1, 0.2, 0.3), (1, 2, 3), quaternion=turn((1, 2, 3), 0.7), mass=2.0, **MOVING),
    sphere("sphere", 0.2, (0, 0, 1), mass=3.0),
    capsule("capsule", 0.1, 0.25, (0, 1, 1), quaternion=turn((0, 1, 0), 1.0), mass=0.5, turning=(1, 0, -2)),
    cylinder("cylinder", 0.15, 0.4, (0, -1, 1), mass=4.0),
    box("step", 0.5, (3, 0, 0.5), mass=0.0),
)


@pytest.fixture(scope="module")
def scene():
    return ContactScene(solids=SOLIDS, friction=0.7, gravity=(1.0, 0.0, -9.0))


def test_both_have_the_same_bodies(scene):
    """Masses, inertias, places and velocities of the stage are those of the model."""
    model = mujoco.MjModel.from_xml_string(scene.mjcf())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    read = wa.read_stage(open_text(scene.usd))
    simulation = wa.Simulation(read, settings=wa.SolverSettings(precision="float64", variant="scalar"))
    names = [path.rpartition("/")[2] for path in read.link_names]
    assert sorted(names) == ["box", "capsule", "cylinder", "sphere"]
    np.testing.assert_allclose(read.gravity, model.opt.gravity, rtol=1e-6)
    pose = simulation.state.link_pose.numpy()[:, :, 0]
    velocity = simulation.state.link_velocity.numpy()[:, :, 0]
    links = {link.path.rpartition("/")[2]: link for tree in read.articulations for link in tree.links}
    for row, name in enumerate(names):
        body, solid = model.body(name).id, next(one for one in SOLIDS if one.name == name)
        assert links[name].mass == pytest.approx(model.body_mass[body])
        inertia = np.array(links[name].inertia)[[0, 3, 5]]
        np.testing.assert_allclose(inertia, model.body_inertia[body], rtol=1e-6)
        np.testing.assert_allclose(pose[row, :3], data.xpos[body], atol=1e-6)
        w, *xyz = data.xquat[body]
        np.testing.assert_allclose(abs(pose[row, 3:] @ [*xyz, w]), 1.0, atol=1e-12)
        np.testing.assert_allclose(velocity[row], [*solid.velocity, *solid.turning], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solid", SOLIDS[:4], ids=lambda solid: solid.name)
def test_inertias_are_those_of_even_density(solid):
    """MuJoCo finds them from the shape."""
    size = " ".join(map(str, solid.size))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body name="b"><freejoint/><geom type="{solid.kind}" size="{size}" mass="{solid.mass}"/>'
        "</body></worldbody></mujoco>"
    )
    np.testing.assert_allclose(np.sort(model.body_inertia[1]), np.sort(solid.inertia), rtol=1e-6)
