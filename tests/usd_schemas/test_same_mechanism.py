"""One mechanism in our schemas, and in those of PhysX, Newton and MuJoCo: the same description, the same motion."""

import dataclasses
import math

import numpy as np
import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, open_text, schemas, warnings_of
from tests.usd_schemas.mechanisms import prim
from tests.usd_schemas.source import DEGREE
from warp_artic.description.scene import Scene
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.read_stage import read_stage

DRIVE = """
float drive:{axis}:physics:stiffness = 12
float drive:{axis}:physics:damping = 0.5
float drive:{axis}:physics:maxForce = 40
float drive:{axis}:physics:targetPosition = 20
"""
BOUNDS = "float physics:lowerLimit = -60\nfloat physics:upperLimit = 75\n"


def stage(scene: str, joints: dict[str, tuple], links: dict[str, tuple], header: str, more: str = ""):
    """Links l0 to l4 on the hinges j1, j2, the slide j3 and the ball j4; schemas and content are given by name."""
    tree = joint("held", "Fixed", "", "/World/l0")
    for number, kind in enumerate(("", "Revolute", "Revolute", "Prismatic", "Spherical")):
        applied, content = links.get(f"l{number}", ((), ""))
        tree += body(f"l{number}", content, applied, at=(number, 0, 0))
        applied, content = joints.get(f"j{number}", ((), ""))
        content = f"point3f physics:localPos0 = (1, 0, 0)\n{content}"
        if number:
            tree += joint(f"j{number}", kind, f"/World/l{number - 1}", f"/World/l{number}", content, applied)
    text = f'def PhysicsScene "scene" {{\n{scene}\n}}\n'
    return open_text(f'{text}def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{more}{tree}}}\n', header)


def ours(header: str):
    """The mechanism in our schemas."""
    scene = """
    uniform double warpArtic:scene:timeStepsPerSecond = 480
    uniform int warpArtic:scene:positionIterations = 6
    uniform int warpArtic:scene:velocityIterations = 1
    """
    hinge = """
    double warpArtic:drive:angular:maxVelocity = 200
    double warpArtic:drive:angular:velocityGradient = 0.5
    double warpArtic:drive:angular:velocityResistance = 0.03125
    double warpArtic:joint:angular:armature = 0.25
    double warpArtic:joint:angular:staticFrictionEffort = 0.5
    double warpArtic:joint:angular:dynamicFrictionEffort = 0.25
    double warpArtic:joint:angular:viscousFrictionCoefficient = 0.0078125
    double warpArtic:joint:angular:velocityLimit = 500
    double warpArtic:joint:angular:limitStiffness = 30
    double warpArtic:joint:angular:limitDamping = 0.75
    double warpArtic:joint:angular:position = 12
    double warpArtic:joint:angular:velocity = -30
    """
    ball = "".join(f"double warpArtic:joint:{axis}:armature = 0.125\n" for axis in ("rotX", "rotY", "rotZ"))
    mimic = """
    rel warpArtic:mimic:angular:leaders = </World/j1>
    double[] warpArtic:mimic:angular:gears = [2]
    double warpArtic:mimic:angular:offset = 5
    double warpArtic:mimic:angular:naturalFrequency = 40
    double warpArtic:mimic:angular:dampingRatio = 0.6
    """
    joints = {
        "j1": (
            ("WarpArticDriveAPI:angular", "WarpArticJointAPI:angular"),
            DRIVE.format(axis="angular") + BOUNDS + hinge,
        ),
        "j2": (("WarpArticMimicAPI:angular",), BOUNDS + mimic),
        "j4": (tuple(f"WarpArticJointAPI:{axis}" for axis in ("rotX", "rotY", "rotZ")), ball),
    }
    damped = "double warpArtic:link:linearDamping = 0.2\ndouble warpArtic:link:maxAngularVelocity = 700"
    fixed = f"""
    rel warpArtic:joints = [</World/j1>, </World/j3>, </World/j4>]
    uniform token[] warpArtic:axes = ["angular", "linear", "rotY"]
    double[] warpArtic:coefficients = [0.25, -2, 0.5]
    double[] warpArtic:forceCoefficients = [{0.75 * DEGREE!r}, 3, {0.125 * DEGREE!r}]
    double warpArtic:stiffness = 60
    double warpArtic:damping = 1.5
    double warpArtic:limitStiffness = 200
    double warpArtic:restLength = 0.5
    double warpArtic:offset = 0.25
    double warpArtic:lowerLimit = -3
    double warpArtic:upperLimit = 4
    """

    def point(name: str, link: str, content: str = "", below: str = "") -> str:
        return prim("TendonAttachment", name, f"rel warpArtic:body = </World/{link}>\n{content}\n{below}")

    tips = point(
        "tip1",
        "l2",
        """
        point3d warpArtic:localPos = (0, 0.5, 0)
        double warpArtic:coefficient = 0.75
        double warpArtic:restLength = 0.5
        double warpArtic:upperLimit = 2
        """,
    ) + point("tip2", "l3", "double warpArtic:lowerLimit = 0.125")
    guide = point("guide", "l1", "point3d warpArtic:localPos = (0, 0, 0.5)\ndouble warpArtic:coefficient = 1.5", tips)
    spatial = "double warpArtic:stiffness = 100\ndouble warpArtic:damping = 2\ndouble warpArtic:offset = 0.5\n"
    more = prim("FixedTendon", "t", fixed)
    more += prim("SpatialTendon", "s", spatial + point("root", "l0", "point3d warpArtic:localPos = (0.5, 0, 1)", guide))
    return stage(scene, joints, {"l2": (("WarpArticLinkAPI",), damped)}, header, more)


def physx(header: str):
    """The mechanism in the schemas of PhysX."""
    scene = "uint physxScene:timeStepsPerSecond = 480"
    hinge = """
    float physxDrivePerformanceEnvelope:angular:maxActuatorVelocity = 200
    float physxDrivePerformanceEnvelope:angular:speedEffortGradient = 0.5
    float physxDrivePerformanceEnvelope:angular:velocityDependentResistance = 0.03125
    float physxJointAxis:angular:armature = 0.25
    float physxJointAxis:angular:staticFrictionEffort = 0.5
    float physxJointAxis:angular:dynamicFrictionEffort = 0.25
    float physxJointAxis:angular:viscousFrictionCoefficient = 0.0078125
    float physxJointAxis:angular:maxJointVelocity = 500
    float physxLimit:angular:stiffness = 30
    float physxLimit:angular:damping = 0.75
    float state:angular:physics:position = 12
    float state:angular:physics:velocity = -30
    float[] physxTendon:t:gearing = [0.25]
    float[] physxTendon:t:forceCoefficient = [0.75]
    float physxTendon:t:stiffness = 60
    float physxTendon:t:damping = 1.5
    float physxTendon:t:limitStiffness = 200
    float physxTendon:t:restLength = 0.5
    float physxTendon:t:offset = 0.25
    float physxTendon:t:lowerLimit = -3
    float physxTendon:t:upperLimit = 4
    """
    mimic = """
    rel physxMimicJoint:rotX:referenceJoint = </World/j1>
    float physxMimicJoint:rotX:gearing = -2
    float physxMimicJoint:rotX:offset = -5
    float physxMimicJoint:rotX:naturalFrequency = 40
    float physxMimicJoint:rotX:dampingRatio = 0.6
    """
    slide = "float[] physxTendon:t:gearing = [-2]\nfloat[] physxTendon:t:forceCoefficient = [3]"
    ball = (
        "".join(f"float physxJointAxis:{axis}:armature = 0.125\n" for axis in ("rotX", "rotY", "rotZ"))
        + """
    float[] physxTendon:t:gearing = [0.5]
    float[] physxTendon:t:forceCoefficient = [0.125]
    token[] physxTendon:t:jointAxis = ["rotY"]
    """
    )
    motor = ("PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular", "PhysxLimitAPI:angular")
    joints = {
        "j1": (
            (*motor, "PhysxJointAxisAPI:angular", "PhysicsJointStateAPI:angular", "PhysxTendonAxisRootAPI:t"),
            DRIVE.format(axis="angular") + BOUNDS + hinge,
        ),
        "j2": (("PhysxMimicJointAPI:rotX",), BOUNDS + mimic),
        "j3": (("PhysxTendonAxisAPI:t",), slide),
        "j4": (("PhysxTendonAxisAPI:t", *(f"PhysxJointAxisAPI:{axis}" for axis in ("rotX", "rotY", "rotZ"))), ball),
    }

    def point(name: str, content: str, parent: str = "") -> str:
        text = "".join(f"{line.strip()}\n" for line in content.split("\n"))
        for word in ("localPos", "gearing", "restLength", "upperLimit", "lowerLimit", "stiffness", "damping", "offset"):
            text = text.replace(f" {word} ", f" physxTendon:{name}:{word} ")
        if parent:
            link, _, before = parent.partition(":")
            text += f"rel physxTendon:{name}:parentLink = </World/{link}>\n"
            text += f'token physxTendon:{name}:parentAttachment = "{before}"\n'
        return text

    root = "point3f localPos = (0.5, 0, 1)\nfloat stiffness = 100\nfloat damping = 2\nfloat offset = 0.5"
    tip1 = "point3f localPos = (0, 0.5, 0)\nfloat gearing = 0.75\nfloat restLength = 0.5\nfloat upperLimit = 2"
    links = {
        "l0": (
            ("PhysxArticulationAPI", "PhysxTendonAttachmentRootAPI:root"),
            point("root", root),
        ),
        "l1": (
            ("PhysxTendonAttachmentAPI:guide",),
            point("guide", "point3f localPos = (0, 0, 0.5)\nfloat gearing = 1.5", "l0:root"),
        ),
        "l2": (
            ("PhysxTendonAttachmentLeafAPI:tip1",),
            "float physxRigidBody:linearDamping = 0.2\nfloat physxRigidBody:maxAngularVelocity = 700\n"
            + point("tip1", tip1, "l1:guide"),
        ),
        "l3": (
            ("PhysxTendonAttachmentLeafAPI:tip2",),
            point("tip2", "float lowerLimit = 0.125", "l1:guide"),
        ),
    }
    counts = "int physxArticulation:solverPositionIterationCount = 6\n"
    counts += "int physxArticulation:solverVelocityIterationCount = 1\n"
    return stage(scene, joints, links, header, counts)


def compared(scene: Scene) -> dict:
    """A scene as numbers and words by name, without what a tendon is called and what was reported."""
    flat: dict = {}

    def walk(name: str, value) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if not (key == "name" and "tendon" in name) and key != "diagnostics":
                    walk(f"{name}.{key}", inner)
        elif isinstance(value, (list, tuple, np.ndarray)):
            for number, inner in enumerate(value):
                walk(f"{name}.{number}", inner)
        else:
            flat[name] = value

    walk("", dataclasses.asdict(scene))
    return flat


def assert_same(one, other) -> None:
    first, second = (compared(read_stage(each)) for each in (one, other))
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, float) and math.isfinite(value):
            assert value == pytest.approx(second[name], rel=1e-6, abs=1e-12), name
        else:
            assert value == second[name], name


QUANTITIES = (
    "joint_position",
    "joint_velocity",
    "link_pose",
    "link_velocity",
    "link_incoming_joint_force",
    "tendon_length",
    "tendon_force",
    "mimic_error",
)


def run(stage: Usd.Stage):
    """A fifth of a second at 240 steps a second."""
    return Simulation(read_stage(stage)).record(48, forces=True)


def assert_moves_as(one: Usd.Stage, other: Usd.Stage) -> None:
    """Both move, and in every bit in one way."""
    first, second = run(one), run(other)
    for quantity in QUANTITIES:
        values = getattr(first, quantity)
        assert np.isfinite(values).all(), quantity
        np.testing.assert_array_equal(values, getattr(second, quantity), quantity)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_ours_and_physx(header):
    """Scene, links, motors, friction, soft limits, start state, mimic joint, fixed and spatial tendon."""
    one, other = ours(header), physx(header)
    assert errors_of(one) == errors_of(other) == []
    assert_same(one, other)
    assert_moves_as(one, other)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_ours_and_newton(header):
    """Scene, friction, soft limits and a rigid mimic joint: what Newton has words for."""
    own = """
    double warpArtic:joint:angular:armature = 0.25
    double warpArtic:joint:angular:staticFrictionEffort = 0.5
    double warpArtic:joint:angular:dynamicFrictionEffort = 0.5
    double warpArtic:joint:angular:viscousFrictionCoefficient = 0.0078125
    double warpArtic:joint:angular:velocityLimit = 500
    double warpArtic:joint:angular:limitStiffness = 30
    double warpArtic:joint:angular:limitDamping = 0.75
    """
    newton = """
    float newton:armature = 0.25
    float newton:friction = 0.5
    float newton:damping = 0.0078125
    float newton:velocityLimit = 500
    float newton:limitStiffness = 30
    float newton:limitDamping = 0.75
    """
    follows = """
    rel warpArtic:mimic:linear:leaders = </World/j1>
    double[] warpArtic:mimic:linear:gears = [0.015625]
    double warpArtic:mimic:linear:offset = 0.5
    """
    mimics = """
    rel newton:mimicJoint = </World/j1>
    float newton:mimicCoef1 = 0.015625
    float newton:mimicCoef0 = 0.5
    """
    one = stage(
        "uniform double warpArtic:scene:timeStepsPerSecond = 480\nuniform int warpArtic:scene:positionIterations = 6",
        {"j1": (("WarpArticJointAPI:angular",), BOUNDS + own), "j3": (("WarpArticMimicAPI:linear",), follows)},
        {},
        header,
    )
    other = stage(
        "uniform int newton:timeStepsPerSecond = 480\nuniform int newton:maxSolverIterations = 6",
        {"j1": (("NewtonJointAPI",), BOUNDS + newton), "j3": (("NewtonMimicAPI",), mimics)},
        {},
        header,
    )
    assert warnings_of(one) == warnings_of(other)
    assert all("is off its relation" in text for text in warnings_of(one))
    assert_same(one, other)
    assert_moves_as(one, other)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_ours_and_mujoco(header):
    """Scene, servo, friction, a joint spring, a rigid mimic joint, a fixed and a spatial tendon."""
    servo = f"""
    double drive:angular:physics:stiffness = {12 * DEGREE!r}
    double drive:angular:physics:damping = {0.5 * DEGREE!r}
    double drive:angular:physics:maxForce = 40
    double warpArtic:joint:angular:armature = 0.25
    double warpArtic:joint:angular:staticFrictionEffort = 0.5
    double warpArtic:joint:angular:dynamicFrictionEffort = 0.5
    double warpArtic:joint:angular:viscousFrictionCoefficient = {0.0078125 * DEGREE!r}
    """
    follows = """
    rel warpArtic:mimic:angular:leaders = </World/j1>
    double[] warpArtic:mimic:angular:gears = [2]
    double warpArtic:mimic:angular:offset = 5
    """
    own = f"""
    rel warpArtic:joints = [</World/j1>, </World/j3>]
    double[] warpArtic:coefficients = [{0.25 * DEGREE!r}, -2]
    double warpArtic:stiffness = 60
    double warpArtic:damping = 1.5
    double warpArtic:restLength = 0.5
    """
    lone = """
    rel warpArtic:joints = [</World/j3>]
    double[] warpArtic:coefficients = [1]
    double warpArtic:stiffness = 7
    double warpArtic:restLength = 0.25
    """

    def point(name: str, link: str, content: str = "", below: str = "") -> str:
        return prim("TendonAttachment", name, f"rel warpArtic:body = </World/{link}>\n{content}\n{below}")

    tip = point("tip", "l2", "double warpArtic:coefficient = 0.5\ndouble warpArtic:restLength = 0.75")
    middle = point("middle", "l1", "double warpArtic:coefficient = 0.5\npoint3d warpArtic:localPos = (0, 2, 0)", tip)
    spatial = 'token warpArtic:forceRouting = "allSegments"\ndouble warpArtic:stiffness = 90\n'
    more = prim("FixedTendon", "t", own) + prim("SpatialTendon", "s", spatial + point("root", "l0", "", middle))
    one = stage(
        "uniform double warpArtic:scene:timeStepsPerSecond = 250",
        {
            "j1": (("WarpArticDriveAPI:angular", "WarpArticJointAPI:angular"), BOUNDS + servo),
            "j2": (("WarpArticMimicAPI:angular",), BOUNDS + follows),
        },
        {},
        header,
        more + prim("FixedTendon", "spring", lone),
    )

    def site(name: str, at: tuple) -> str:
        order = 'uniform token[] xformOpOrder = ["xformOp:translate"]'
        return f'def Xform "{name}" {schemas("MjcSiteAPI")} {{\ndouble3 xformOp:translate = {at}\n{order}\n}}\n'

    tendons = """
    def MjcActuator "servo" {
        rel mjc:target = </World/j1>
        token mjc:biasType = "affine"
        double[] mjc:gainPrm = [12]
        double[] mjc:biasPrm = [0, -12, -0.5]
        double mjc:forceRange:min = -40
        double mjc:forceRange:max = 40
    }
    def MjcTendon "t" {
        uniform token mjc:type = "fixed"
        rel mjc:path = [</World/j1>, </World/j3>]
        double[] mjc:path:coef = [0.25, -2]
        double mjc:stiffness = 60
        double mjc:damping = 1.5
        double[] mjc:springlength = [0.5]
    }
    def MjcTendon "s" {
        rel mjc:path = [</World/l0/a>, </World/l1/b>, </World/l2/c>]
        double[] mjc:path:divisors = [2]
        double mjc:stiffness = 90
        double[] mjc:springlength = [0.75, 0.75]
    }
    """
    hinge = "double mjc:armature = 0.25\ndouble mjc:frictionloss = 0.5\ndouble mjc:damping = 0.0078125\n"
    equal = f"rel mjc:target = </World/j1>\ndouble mjc:coef1 = 2\ndouble mjc:coef0 = {5 * DEGREE!r}\n"
    links = {"l0": ((), site("a", (0, 0, 0))), "l1": ((), site("b", (0, 2, 0))), "l2": ((), site("c", (0, 0, 0)))}
    other = stage(
        "double mjc:option:timestep = 0.004",
        {
            "j1": (("MjcJointAPI",), BOUNDS + hinge),
            "j2": (("MjcEqualityJointAPI",), BOUNDS + equal),
            "j3": (("MjcJointAPI",), "double mjc:stiffness = 7\ndouble mjc:springref = 0.25"),
        },
        links,
        header,
        tendons,
    )
    assert warnings_of(one) == warnings_of(other)
    assert all("is off its relation" in text for text in warnings_of(one))
    assert_same(one, other)
    assert_moves_as(one, other)


def test_one_tendon_in_two_schemas():
    """Nobody can tell whether they are one: both act, and that is said."""
    both = physx(SI).GetRootLayer()
    for name in ("t", "s"):
        Sdf.CopySpec(ours(SI).GetRootLayer(), f"/World/{name}", both, f"/World/{name}")
    stage = Usd.Stage.Open(both)
    assert len(read_stage(stage).articulations[0].fixed_tendons) == 2
    assert [text for text in warnings_of(stage) if "both act" in text] == [
        "/World/t: runs where the tendon /World/j1:t does: both act; if they are one, remove either",
        "/World/s: runs where the tendon /World/l0:root does: both act; if they are one, remove either",
    ]


def test_a_difference_is_seen():
    """The comparison tells a coefficient from another."""
    with pytest.raises(AssertionError):
        assert_same(ours(SI), ours(SMALL_UNITS))
