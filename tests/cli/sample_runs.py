"""Samples as scenes and recordings, and what their recordings say of joints and links."""

from pathlib import Path

import numpy as np

import warp_artic as wa

SAMPLES = Path(__file__).parents[2] / "samples"
G = 9.81


def recorded(name, seconds, **settings):
    scene = wa.read_stage(str(SAMPLES / "scenes" / f"{name}.usda"))
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(**settings))
    return scene, simulation.record(round(seconds / simulation.settings.dt))


def short(path):
    """The last name of a path."""
    return path.rpartition("/")[2]


def positions(recording, joint):
    """[m or rad], shape (R)."""
    return recording.joint_position[:, 0, [short(path) for path in recording.joint_names].index(joint)]


def pose(recording, link):
    """Origin (3) and axes (3, 3; columns) of a link in the last record."""
    *p, x, y, z, w = recording.link_pose[-1, 0, [short(path) for path in recording.link_names].index(link)]
    turn = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.array(p), np.eye(3) + 2 * w * turn + 2 * turn @ turn


def named(items, name, attribute="path"):
    """The item whose path ends with a name."""
    return next(item for item in items if short(getattr(item, attribute)) == name)


def hinge(scene, recording, name):
    """Origin and axis of a hinge in the last record; its child link is placed at it."""
    tree = scene.articulations[0]
    joint = named(tree.joints, name)
    origin, axes = pose(recording, short(tree.links[joint.child].path))
    return origin, axes[:, joint.dofs[0].axis.index]


def weight_torque(scene, recording, name):
    """Torque of gravity on a hinge in the last record: sum of (x_C - x) x m g along its axis."""
    tree = scene.articulations[0]
    origin, axis = hinge(scene, recording, name)
    outboard, torque = {named(tree.joints, name).child}, 0.0
    while grown := {joint.child for joint in tree.joints if joint.parent in outboard} - outboard:
        outboard |= grown
    for link in (tree.links[index] for index in outboard):
        p, axes = pose(recording, short(link.path))
        arm = p + axes @ link.center_of_mass - origin
        torque += axis @ np.cross(arm, link.mass * np.array(scene.gravity))
    return torque


def inertia(scene, link, axis):
    """Moment of inertia of a link about an axis through its origin, which its centre of mass may be off."""
    link = named(scene.articulations[0].links, link)
    own = link.inertia[{"X": 0, "Y": 3, "Z": 5}[axis]]
    off = np.delete(link.center_of_mass, "XYZ".index(axis))
    return own + link.mass * off @ off
