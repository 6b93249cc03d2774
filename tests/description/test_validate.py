"""Each rule of a scene, with its sentence."""

import math
from dataclasses import replace

import pytest

from tests.trees import random_scene
from warp_artic.description.articulation import Articulation
from warp_artic.description.diagnostic import Severity
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.validate import findings, validate
from warp_artic.errors import DescriptionError

LINK = Link(path="/a", mass=1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
DOF = Dof(name="/j", axis=Axis.ROT_X)
JOINT = Joint(path="/j", parent=WORLD, child=0, dofs=(DOF,))


def scene(link: Link = LINK, joint: Joint | None = JOINT, **options) -> Scene:
    joints = () if joint is None else (joint,)
    return Scene(articulations=(Articulation(path="/a", links=(link,), joints=joints),), **options)


def with_dof(**changes) -> Scene:
    return scene(joint=replace(JOINT, dofs=(replace(DOF, **changes),)))


def test_random_scenes_are_valid():
    """The trees that other tests use break no rule."""
    validate(random_scene(0, (1, 5, 20)))


NAN, INF = math.nan, math.inf
ROTATIONS = tuple(Dof(name=f"/j:{axis.value}", axis=axis) for axis in (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z))


@pytest.mark.parametrize(
    "broken, sentence",
    [
        (Scene(articulations=()), "scene: no articulation and no rigid body to simulate"),
        (scene(gravity=(0, NAN, 0)), "scene: gravity (0, nan, 0) must be finite"),
        (scene(time_step=0.0), "scene: time step 0 s must be positive and finite"),
        (scene(replace(LINK, mass=0.0)), "/a: mass 0 kg must be positive and finite"),
        (scene(replace(LINK, mass=-2.0)), "/a: mass -2 kg must be positive and finite"),
        (scene(replace(LINK, mass=NAN)), "/a: mass nan kg must be positive and finite"),
        (
            scene(replace(LINK, inertia=(1, 0, 0, 1, 0, 0))),
            "/a: inertia with principal moments (0, 1, 1) kg m^2 is singular",
        ),
        (
            scene(replace(LINK, inertia=(1, 0, 0, 1, 0, -1))),
            "/a: inertia with principal moments (-1, 1, 1) kg m^2 is negat",
        ),
        (scene(replace(LINK, inertia=(1, 0, NAN, 1, 0, 1))), "/a: inertia (1, 0, nan, 1, 0, 1) must be finite"),
        (scene(replace(LINK, center_of_mass=(0, INF, 0))), "/a: centre of mass (0, inf, 0) must be finite"),
        (scene(replace(LINK, pose=Pose((0, NAN, 0)))), "/a: pose must be finite"),
        (
            scene(replace(LINK, pose=Pose(quaternion=(0, 0, 0, 2)))),
            "/a: pose has a quaternion (0, 0, 0, 2) that is not of",
        ),
        (scene(replace(LINK, linear_damping=-1.0)), "/a: linear damping -1 1/s must be finite and not negative"),
        (with_dof(limit=Limit(lower=1, upper=-1)), "/j: lower limit 1 is above upper limit -1"),
        (with_dof(limit=Limit(lower=NAN)), "/j: lower limit nan is above upper limit inf"),
        (with_dof(position=NAN), "/j: position nan must be finite"),
        (with_dof(armature=-1.0), "/j: armature -1 must be finite and not negative"),
        (with_dof(drive=Drive(stiffness=-1)), "/j: drive stiffness -1 must be finite and not negative"),
        (with_dof(drive=Drive(damping=INF)), "/j: drive damping inf must be finite and not negative"),
        (with_dof(drive=Drive(max_force=-1)), "/j: maximum force of the drive -1 must not be negative"),
        (with_dof(drive=Drive(position_target=NAN)), "/j: drive position target nan must be finite"),
        (with_dof(drive=Drive(max_velocity=-1)), "/j: maximum velocity of the drive -1 must not be negative"),
        (with_dof(drive=Drive(velocity_gradient=-1)), "/j: velocity gradient of the drive -1 must be finite and not"),
        (with_dof(drive=Drive(velocity_resistance=NAN)), "/j: velocity resistance of the drive nan must be finite"),
        (with_dof(limit=Limit(stiffness=-1)), "/j: limit stiffness -1 must be finite and not negative"),
        (with_dof(limit=Limit(damping=INF)), "/j: limit damping inf must be finite and not negative"),
        (with_dof(limit=Limit(bounce_threshold=-1)), "/j: bounce threshold of the limit -1 must be finite and not"),
        (with_dof(limit=Limit(restitution=1.5)), "/j: restitution of the limit 1.5 must be from 0 to 1"),
        (with_dof(friction=Friction(coefficient=-1)), "/j: friction coefficient -1 must be finite and not negative"),
        (with_dof(friction=Friction(viscous=-1)), "/j: viscous friction -1 must be finite and not negative"),
        (with_dof(velocity_limit=-1.0), "/j: velocity limit -1 must not be negative"),
        (
            scene(joint=replace(JOINT, dofs=(DOF, replace(DOF, axis=Axis.TRANS_X)))),
            "/j: free axes rotX, transX: each may be there once, in the order transX,",
        ),
        (scene(joint=replace(JOINT, cone_limit=ConeLimit())), "/j: a cone limit needs three rotational dofs"),
        (
            scene(joint=replace(JOINT, dofs=ROTATIONS, cone_limit=ConeLimit(angle_1=0.0))),
            "/j: cone angle 0 rad must be positive",
        ),
        (scene(joint=replace(JOINT, child=3)), "/j: joins link -1 to link 3 of 1"),
        (scene(link_names=("/x",)), "scene: link names must list each link of the articulations once"),
    ],
)
def test_each_rule(broken, sentence):
    """A broken rule is a DescriptionError whose line says where, what was found and what is allowed."""
    with pytest.raises(DescriptionError) as caught:
        validate(broken)
    assert any(line.startswith(sentence) for line in str(caught.value).splitlines()), str(caught.value)


def tree(*joints: tuple[int, int]) -> Scene:
    links = tuple(replace(LINK, path=f"/{name}") for name in "abc")
    made = tuple(
        replace(JOINT, path=f"/j{i}", parent=parent, child=child, dofs=()) for i, (parent, child) in enumerate(joints)
    )
    return Scene(articulations=(Articulation(path="/tree", links=links, joints=made),))


@pytest.mark.parametrize(
    "broken, sentence",
    [
        (tree((0, 1)), "/tree: must have one root, a free link or a joint to the world; found /a, /c"),
        (tree((0, 1), (0, 1), (1, 2)), "/b: has several inbound joints, must have one: /j0, /j1"),
        (tree((1, 0), (2, 1), (0, 2)), "/tree: must have one root, a free link or a joint to the world; found none"),
        (tree((WORLD, 0), (2, 1), (1, 2)), "/tree: cycle through /b: joints must form a tree"),
    ],
)
def test_topology(broken, sentence):
    """An articulation is one tree with one root."""
    with pytest.raises(DescriptionError) as caught:
        validate(broken)
    assert str(caught.value).splitlines()[0] == sentence


def test_same_name_twice():
    """Links and dofs have names of their own."""
    double = scene()
    double = replace(double, articulations=double.articulations * 2, link_names=("/a", "/a"), dof_names=("/j", "/j"))
    sentences = {f"2 {kind} have this name; names must differ" for kind in ("links", "dofs")}
    assert {finding.message for finding in findings(double)} == sentences


def test_triangle_inequality_is_a_warning():
    """An inertia of no solid body is suspicious, not refused."""
    odd = scene(replace(LINK, inertia=(1, 0, 0, 1, 0, 3)))
    validate(odd)
    (finding,) = findings(odd)
    assert finding.severity is Severity.WARNING
