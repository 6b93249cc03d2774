"""The same robot, from a stage by ourselves, and from a model of Newton: read from the stage, or built by hand.

No scene is given to the solver. The robots have drives, bounds of drives, armature, friction, limits that they lie on,
ball joints, a D6 joint and a floating base.
"""

import math
from pathlib import Path

import newton
import numpy as np
import pytest
import warp as wp
from newton.usd import SchemaResolverNewton, SchemaResolverPhysx
from pxr import UsdGeom
from warp_artic.extensions.newton import SchemaResolverWarpArtic, SolverWarpArtic

import warp_artic as wa
from tests.extensions.newton.models import ASSETS, DT, STAGES
from tests.usd.authoring import body, joint, open_text, schemas

SAMPLES = Path(__file__).parents[3] / "samples" / "scenes"
STEPS = 480
DEGREE = math.radians(1.0)
MASS = "float physics:mass = 2\nfloat3 physics:diagonalInertia = (0.1, 0.2, 0.25)\n"
CENTER = (0.05, 0.02, -0.25)
D6_LIMITS = {"transX": (-0.05, 0.05), "transY": (-0.1, 0.2), "rotZ": (-40.0, 40.0)}
D6_DRIVES = {"transX": (80.0, 4.0, 0.04), "transY": (50.0, 3.0, 0.05), "rotZ": (0.3, 0.03, 30.0)}


def stage(*content: str):
    """An articulation /r."""
    scene = "vector3f physics:gravityDirection = (0, 0, -1)\nfloat physics:gravityMagnitude = 9.81"
    root = f'def Xform "r" {schemas("PhysicsArticulationRootAPI")} {{\n{"".join(content)}}}\n'
    return open_text(f'def PhysicsScene "physics" {{\n{scene}\n}}\n{root}')


def rod(name: str, z: float, x: float = 0.0) -> str:
    """A body that hangs down from its origin."""
    return body(name, mass=f"{MASS}point3f physics:centerOfMass = {CENTER}", at=(x, 0, z))


def hinge(name, ends, axis, low, high, stiffness, damping, target, kind="Revolute", more="") -> str:
    """A joint with a drive and a limit, at the lower end of its first body; gains are per degree."""
    drive = f"drive:{'linear' if kind == 'Prismatic' else 'angular'}"
    content = (
        f"point3f physics:localPos0 = (0, 0, -0.5)\nuniform token physics:axis = '{axis}'\n"
        f"float physics:lowerLimit = {low}\nfloat physics:upperLimit = {high}\n"
        f"float {drive}:physics:stiffness = {stiffness}\nfloat {drive}:physics:damping = {damping}\n"
        f"float {drive}:physics:targetPosition = {target}\n{more}"
    )
    applied = (f"PhysicsDriveAPI:{drive.partition(':')[2]}", "NewtonJointAPI")
    return joint(name, kind, f"/r/{ends[0]}", f"/r/{ends[1]}", content, applied)


def arm():
    """Two hinges and a slide, on a mount; gravity presses all of them onto their limits."""
    bounded = "float drive:angular:physics:maxForce = 3\nfloat newton:armature = 0.05\nfloat newton:friction = 0.2"
    return stage(
        *(rod(f"l{k}", -0.5 * k) for k in range(4)),
        joint("held", "Fixed", "", "/r/l0"),
        hinge("j1", ("l0", "l1"), "Y", -60, -5, 0.3, 0.02, -50),
        hinge("j2", ("l1", "l2"), "X", -10, 15, 1, 0.1, 14, more=bounded),
        hinge("j3", ("l2", "l3"), "Z", -0.1, 0.05, 100, 5, 0.02, kind="Prismatic"),
    )


def walker():
    """A floating trunk with two legs on ball joints, whose knees are driven past the stretched leg."""
    at = (-0.3, 0.3)
    sockets = (f"point3f physics:localPos0 = ({x}, 0, -0.5)" for x in at)
    return stage(
        rod("trunk", 0.0),
        *(rod(f"thigh{k}", -0.5, x) + rod(f"shank{k}", -1.0, x) for k, x in enumerate(at)),
        *(joint(f"hip{k}", "Spherical", "/r/trunk", f"/r/thigh{k}", own) for k, own in enumerate(sockets)),
        *(hinge(f"knee{k}", (f"thigh{k}", f"shank{k}"), "Y", -20, 40, 1, 0.1, 39) for k in range(2)),
    )


def table():
    """A D6 joint that slides along two axes and turns about a third one, with a hinge below."""
    limits, drives = dict.fromkeys(("transZ", "rotX", "rotY"), (1, -1)) | D6_LIMITS, D6_DRIVES
    lines = ["point3f physics:localPos0 = (0, 0, -0.5)"]
    for axis, (low, high) in limits.items():
        lines += [f"float limit:{axis}:physics:low = {low}", f"float limit:{axis}:physics:high = {high}"]
    for axis, (stiffness, damping, target) in drives.items():
        own = f"float drive:{axis}:physics"
        lines += [f"{own}:stiffness = {stiffness}", f"{own}:damping = {damping}", f"{own}:targetPosition = {target}"]
    applied = (*(f"PhysicsLimitAPI:{axis}" for axis in limits), *(f"PhysicsDriveAPI:{axis}" for axis in drives))
    return stage(
        *(rod(f"l{k}", -0.5 * k) for k in range(3)),
        joint("held", "Fixed", "", "/r/l0"),
        joint("j1", "", "/r/l0", "/r/l1", "\n".join(lines), applied),
        hinge("j2", ("l1", "l2"), "Y", -15, 45, 0.5, 0.05, 40),
    )


ROBOTS = {"arm": arm, "walker": walker, "table": table}


class ByHand:
    """The same robots by calls of a builder."""

    def __init__(self):
        self.builder, self.links, self.joints = newton.ModelBuilder(), {}, []

    def rod(self, name: str) -> None:
        inertia = wp.mat33(0.1, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.25)
        self.links[name] = self.builder.add_link(mass=2.0, inertia=inertia, com=wp.vec3(*CENTER), label=f"/r/{name}")

    def rods(self, *names: str) -> None:
        for name in names:
            self.rod(name)

    def join(self, kind: str, name: str, ends, x: float = 0.0, z: float = -0.5, **settings) -> None:
        parent, child = (self.links.get(end, -1) for end in ends)
        frame = wp.transform(wp.vec3(x, 0.0, z), wp.quat_identity())
        add = getattr(self.builder, f"add_joint_{kind}")
        if parent >= 0 or kind != "free":
            settings |= {"parent": parent, "parent_xform": frame}
        self.joints.append(add(child=child, label=f"/r/{name}", **settings))

    def hinge(self, name, ends, axis, low, high, stiffness, damping, target, **settings) -> None:
        """Gains and angles per degree, as those of the stage."""
        self.join(
            "revolute", name, ends, axis=axis, limit_lower=low * DEGREE, limit_upper=high * DEGREE,
            target_ke=stiffness / DEGREE, target_kd=damping / DEGREE, target_q=target * DEGREE, **settings,
        )  # fmt: skip

    def model(self) -> newton.Model:
        self.builder.add_articulation(self.joints, label="/r")
        return self.builder.finalize()


def arm_by_hand() -> newton.Model:
    """See `arm`."""
    made = ByHand()
    made.rods("l0", "l1", "l2", "l3")
    made.join("fixed", "held", ("", "l0"), z=0.0)
    made.hinge("j1", ("l0", "l1"), (0, 1, 0), -60, -5, 0.3, 0.02, -50)
    made.hinge("j2", ("l1", "l2"), (1, 0, 0), -10, 15, 1, 0.1, 14, effort_limit=3.0, armature=0.05, friction=0.2)
    made.join(
        "prismatic", "j3", ("l2", "l3"), axis=(0, 0, 1), limit_lower=-0.1, limit_upper=0.05,
        target_ke=100.0, target_kd=5.0, target_q=0.02,
    )  # fmt: skip
    return made.model()


def walker_by_hand() -> newton.Model:
    """See `walker`."""
    made = ByHand()
    made.rods("trunk", "thigh0", "shank0", "thigh1", "shank1")
    made.join("free", "float", ("", "trunk"))
    for k, x in enumerate((-0.3, 0.3)):
        made.join("ball", f"hip{k}", ("trunk", f"thigh{k}"), x=x)
        made.hinge(f"knee{k}", (f"thigh{k}", f"shank{k}"), (0, 1, 0), -20, 40, 1, 0.1, 39)
    return made.model()


def table_by_hand() -> newton.Model:
    """See `table`."""
    made = ByHand()
    made.rods("l0", "l1", "l2")
    made.join("fixed", "held", ("", "l0"), z=0.0)
    axes = {}
    for axis, (stiffness, damping, target) in D6_DRIVES.items():
        unit = DEGREE if axis == "rotZ" else 1.0
        low, high = D6_LIMITS[axis]
        axes[axis] = newton.ModelBuilder.JointDofConfig(
            axis="XYZ".index(axis[-1]), limit_lower=low * unit, limit_upper=high * unit, target_q=target * unit,
            target_ke=stiffness / unit, target_kd=damping / unit,
        )  # fmt: skip
    made.join("d6", "j1", ("l0", "l1"), linear_axes=[axes["transX"], axes["transY"]], angular_axes=[axes["rotZ"]])
    made.hinge("j2", ("l1", "l2"), (0, 1, 0), -15, 45, 0.5, 0.05, 40)
    return made.model()


BY_HAND = {"arm": arm_by_hand, "walker": walker_by_hand, "table": table_by_hand}


def read(source, *resolvers) -> newton.Model:
    """A stage, or the path of one, as Newton reads it."""
    builder = newton.ModelBuilder()
    builder.add_usd(source, schema_resolvers=resolvers or [SchemaResolverNewton(), SchemaResolverPhysx()])
    return builder.finalize()


def furthest(source, model: newton.Model, has_start: bool = True) -> tuple[float, float, float]:
    """By how much joints of a stage and of a model are apart in two seconds at most, and links; and how far they move.

    [rad or m], of dofs of the same names; [m]; and [rad or m]. A model that has not the start of the stage is given it.
    """
    settings = wa.SolverSettings(dt=DT, precision="float64")
    alone, solver = wa.Simulation(wa.read_stage(source), settings=settings), SolverWarpArtic(model, settings=settings)
    simulation, now, later = solver.simulation, solver.start_state(), model.state()
    names = [name for name in alone.joint_names if name in simulation.joint_names]
    ours, theirs = ([one.joint_names.index(name) for name in names] for one in (alone, simulation))
    links = [simulation.link_names.index(name) for name in alone.link_names]
    begin = alone.state.joint_position.numpy()[:, 0].copy()
    if not has_start:  # Newton does not read all that says where joints start
        start = simulation.state.joint_position.numpy()[:, 0].copy()
        start[theirs] = begin[ours]
        simulation.set_state(joint_position=start)
        solver._coordinates.write(now.joint_q, now.joint_qd)
    apart, places, moved = 0.0, 0.0, 0.0
    for _ in range(STEPS):
        alone.step(1)
        solver.step(now, later, None, None, DT)
        now, later = later, now
        q = alone.state.joint_position.numpy()[:, 0]
        apart = max(apart, np.abs(q[ours] - simulation.state.joint_position.numpy()[theirs, 0]).max())
        poses = alone.state.link_pose.numpy()[..., 0], simulation.state.link_pose.numpy()[links, :, 0]
        places = max(places, np.abs(poses[0] - poses[1])[:, :3].max())
        moved = max(moved, np.abs(q - begin).max())
    return apart, places, moved


@pytest.mark.parametrize("make", [read, None], ids=["from the stage", "by hand"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name, make):
    """They agree to 1e-5 rad over two seconds; limits of which no gains are said are stops, as those of the stage."""
    source = ROBOTS[name]()
    apart, places, moved = furthest(source, make(source) if make else BY_HAND[name]())
    assert moved > 0.1
    assert apart < 1e-5 and places < 1e-5


@pytest.mark.parametrize("name", ["mechanism", "newton"])
def test_fingers_in_the_schemas_of_newton(name):
    """Geared fingers whose tips reach their limits."""
    source = str(SAMPLES / "four_dialects" / f"{name}.usda")
    apart, places, moved = furthest(source, read(source), has_start=False)
    assert moved > 0.1
    assert apart < 1e-5 and places < 1e-5


PEERS = Path(__file__).parents[2] / "data" / "peers"
OF_OTHER_SCHEMAS = {
    "arm, ours": SAMPLES / "arm.usda",
    "arm, PhysX": PEERS / "arm.usda",
    "hand": PEERS / "hand_mimic.usda",
    "ant": ASSETS / "ant.usda",
    "armature": STAGES / "joint_armature.usda",
    "friction": STAGES / "joint_friction.usda",
}
"""Stages that say armature, friction, limits and starts in schemas that Newton does not read, or reads otherwise."""


@pytest.mark.filterwarnings("ignore:contacts are not simulated")
@pytest.mark.parametrize("name", OF_OTHER_SCHEMAS)
def test_what_we_read_for_newton(name):
    """Where our reader reads the joints, the model is the robot of the stage, and starts where it does."""
    source = str(OF_OTHER_SCHEMAS[name])
    model, scene = read(source, SchemaResolverWarpArtic()), wa.read_stage(source)
    first = dict(zip(model.joint_label, model.joint_q_start.numpy()))
    start = {dof.name: dof.position for tree in scene.articulations for dof in tree.dofs}
    found = model.joint_q.numpy()[[first[dof] for dof in start]]
    np.testing.assert_allclose(found, list(start.values()), rtol=0.0, atol=1e-6)
    apart, places, moved = furthest(source, model)
    assert moved > 0.1
    assert apart < 1e-5 and places < 1e-5


@pytest.mark.filterwarnings("ignore:USD stages with non-unit linear units")
def test_we_read_d6_joints_for_newton():
    """Values of axes by their names; of a stage in other units nothing, as Newton keeps its numbers."""
    starts = {"transX": 0.01, "transY": -0.03, "rotZ": 20.0}
    source = table()
    prim = source.GetPrimAtPath("/r/j1")
    for axis, value in starts.items():
        prim.ApplyAPI("WarpArticJointAPI", axis)
        prim.GetAttribute(f"warpArtic:joint:{axis}:position").Set(value)
        prim.GetAttribute(f"warpArtic:joint:{axis}:armature").Set(0.2)
    model = read(source, SchemaResolverWarpArtic())
    np.testing.assert_allclose(model.joint_q.numpy()[:3], [0.01, -0.03, 20.0 * DEGREE], rtol=1e-6)
    np.testing.assert_allclose(model.joint_armature.numpy(), [0.2, 0.2, 0.2, 0.0], rtol=1e-6)
    apart, _, _ = furthest(source, BY_HAND["table"]())
    assert apart > 1e-3  # without armature it is another robot
    UsdGeom.SetStageMetersPerUnit(source, 0.01)
    with pytest.raises(wa.HostError, match="has units of 0.01 m and 1 kg, which Newton keeps"):
        read(source, SchemaResolverWarpArtic())


@pytest.mark.filterwarnings("ignore:contacts are not simulated")
def test_a_humanoid_of_newton():
    """With soft limits in the schemas of PhysX, on joints with one, two and three rotations."""
    source = str(ASSETS / "humanoid.usda")
    apart, places, _ = furthest(source, read(source))
    assert apart < 1e-5 and places < 1e-5


def test_gains_that_are_said_are_a_spring():
    """Also such as are near to those of Newton where none are said."""
    for stiffness, is_spring in ((None, False), (1.01e4, True), (9.9e3, True)):
        made = ByHand()
        made.rods("l0")
        made.hinge("j0", ("", "l0"), (0, 1, 0), -5, 5, 0, 0, 0, limit_ke=stiffness)
        simulation = SolverWarpArtic(made.model(), dt=DT).simulation
        assert bool(simulation.parameters.limit_stiffness.numpy()[0, 0]) is is_spring
