"""Scenes of elastic bodies on links, to test with."""

from dataclasses import replace

import numpy as np

from tests.meshes.bodies import bar
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.elastic_body import NodeAttachment
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

DOWN = (0.0, 0.0, -9.81)
FREE = (0.0, 0.0, 0.0)


def simulate(scene, dt=1e-3, environments=1, **settings):
    """A simulation of a scene, in float64."""
    options = {"dt": dt, "precision": "float64", "variant": "scalar"} | settings
    return Simulation(scene, environments=environments, settings=SolverSettings(**options))


def block(mass=1.0, position=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), **fields):
    """A free cube of 0.2 m with its centre of mass beside the origin of its frame."""
    third = mass * 0.2**2 / 6
    pose = Pose(position, quaternion_from_rotation_vector(turn))
    link = Link(
        path="/World/block",
        mass=mass,
        center_of_mass=(0.02, 0.0, 0.0),
        inertia=(third, 0.0, 0.0, third, 0.0, third),
        pose=pose,
        **fields,
    )
    return Articulation(path="/World/block", links=(link,), joints=())


def on_block(tree, cells=(4, 2, 2), size=(0.4, 0.2, 0.2), pose=None, **fields):
    """A bar whose end is attached to the side of the block."""
    X_WB = tree.links[0].pose @ (pose or Pose((0.1, -0.1, -0.1)))
    body = bar(cells, size, pose=X_WB, **fields)
    X_LB = tree.links[0].pose.inverse() @ X_WB
    nodes = np.flatnonzero(body.points[:, 0] == 0.0)
    places = (X_LB.apply([*body.points[node], 0.0][:3]) for node in nodes)
    attachments = tuple(
        NodeAttachment(node=int(node), link="/World/block", position=tuple(map(float, place)))
        for node, place in zip(nodes, places)
    )
    return replace(body, attachments=attachments)


def slide(body_of, mass=2.0, axis=Axis.TRANS_X, **fields):
    """A link on a slide to the world, and a body on it."""
    third = mass * 0.2**2 / 6
    link = Link(path="/World/block", mass=mass, inertia=(third, 0.0, 0.0, third, 0.0, third))
    dofs = () if axis is None else (Dof(name="/World/slide", axis=axis, **fields),)
    joints = (Joint(path="/World/slide", parent=WORLD, child=0, dofs=dofs),)
    tree = Articulation(path="/World/block", links=(link,), joints=joints)
    return tree, body_of(tree)
