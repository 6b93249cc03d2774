"""A body on a joint of a tree, and the same body free with a loop joint to the world in its place."""

import numpy as np

from tests import trees
from tests.simulations import simulate_exactly as simulate
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector

H = 1.0 / 240.0
BODY = Link(
    path="/t/body",
    mass=1.5,
    inertia=(0.02, 0.003, -0.002, 0.03, 0.001, 0.025),
    center_of_mass=(0.12, -0.07, 0.05),
)
FRAMES = (
    Pose((0.3, -0.2, 0.5), quaternion_from_rotation_vector((0.4, -0.7, 0.3))),
    Pose((-0.1, 0.2, 0.1), quaternion_from_rotation_vector((-0.2, 0.5, 0.6))),
)
"""Of the joint on the world and on the body."""


def pair(axes, positions, velocities, limits=(), drives=(), body=BODY, frames=FRAMES, **loop):
    """Both, from the same start; positions and velocities are those of the axes."""
    dofs = tuple(
        Dof(
            name=f"/t/joint:{axis.value}",
            axis=axis,
            position=float(q),
            velocity=float(v),
            limit=dict(limits).get(axis),
            drive=dict(drives).get(axis),
        )
        for axis, q, v in zip(axes, positions, velocities)
    )
    joint = Joint(
        path="/t/joint",
        parent=WORLD,
        child=0,
        parent_frame=frames[0],
        child_frame=frames[1],
        dofs=dofs,
        cone_limit=loop.get("cone_limit"),
        cone_axis=loop.get("twist_axis", Axis.ROT_X),
    )
    tree = Articulation(path="/t", links=(body,), joints=(joint,))
    closing = LoopJoint(
        name="/t/joint",
        link0=WORLD,
        link1=0,
        frame0=frames[0],
        frame1=frames[1],
        free=tuple(axes),
        limits=tuple(limits),
        drives=tuple(drives),
        **loop,
    )
    return tree, released(tree, closing)


def released(tree, closing):
    """The first body of a tree without a joint of it, in the same place and motion, with a loop joint instead."""
    state = Simulation(trees.scene(tree), settings=SolverSettings(precision="float64", variant="scalar")).state
    pose = tuple(map(float, state.link_pose.numpy().ravel()[:7]))
    velocity = tuple(map(float, state.link_velocity.numpy().ravel()[:6]))
    free = trees.replace(
        tree.links[0], pose=Pose(pose[:3], pose[3:]), linear_velocity=velocity[:3], angular_velocity=velocity[3:]
    )
    return Articulation(path="/t", links=(free,), joints=(), constraints=(closing,))


def pose_after(tree, steps, time, **options):
    """Where the body is, as a position and a quaternion, shape (7)."""
    simulation = simulate(tree, dt=time / steps, **options)
    simulation.step(steps)
    pose = simulation.state.link_pose.numpy()[..., 0].ravel().astype(float)
    return pose * np.where(np.arange(7) < 3, 1.0, np.sign(pose[6]))
