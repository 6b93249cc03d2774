"""Each feature in every dialect that has words for it: one description, and bitwise one simulation.

A run computes with what the description rounds to. An attribute of ours or of MuJoCo is a double, one of the others a
float, and each is converted as the number that it is. So two literals give one number where what is authored in degrees
and units of the stage is a float: hence halves and quarters here, and MuJoCo's gains per radian as they come from them.
"""

import numpy as np
import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, schemas, warnings_of
from tests.usd_schemas.mechanisms import prim
from tests.usd_schemas.source import DEGREE
from tests.usd_schemas.test_same_mechanism import assert_moves_as, assert_same, compared, run, stage
from warp_artic.usd.read_stage import read_stage

LIMITS = "float physics:lowerLimit = -30\nfloat physics:upperLimit = 8\n"
GAINS = "float drive:angular:physics:stiffness = 4\nfloat drive:angular:physics:damping = 0.25\n"
DRIVE = GAINS + "float drive:angular:physics:maxForce = 40\n"
TARGET = "float drive:angular:physics:targetPosition = 20\n"
MOTOR = DRIVE + "float drive:angular:physics:targetVelocity = 100\n"
AXIS = 'uniform token physics:axis = "Y"\n'
COMMON = {"j1": AXIS + LIMITS, "j2": AXIS + LIMITS, "j3": 'uniform token physics:axis = "Z"\n'}
"""Of every stage: two hinges with limits and a slide, which fall."""


def own(**attributes: float) -> str:
    """Attributes of our schema of a hinge."""
    return "".join(f"double warpArtic:joint:angular:{name} = {value!r}\n" for name, value in attributes.items())


def floats(prefix: str, **attributes: float) -> str:
    """Attributes of another dialect."""
    return "".join(f"float {prefix}:{name} = {value!r}\n" for name, value in attributes.items())


def on(joint: str, applied: str, content: str, **more) -> dict:
    """Schemas and attributes of one joint."""
    return {"joints": {joint: (tuple(applied.split()), content)}, **more}


def on_links(**links: tuple[str, str]) -> dict:
    """Schemas and attributes of links."""
    return {"links": {link: (tuple(applied.split()), content) for link, (applied, content) in links.items()}}


def point(name: str, link: str, content: str = "", below: str = "") -> str:
    """An attachment of a spatial tendon of ours."""
    return prim("TendonAttachment", name, f"rel warpArtic:body = </World/{link}>\n{content}\n{below}")


def site(x: float) -> str:
    """A point on a link, for MuJoCo."""
    place = f'double3 xformOp:translate = ({x}, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    return f'def Xform "site" {schemas("MjcSiteAPI")} {{\n{place}\n}}\n'


NEWTON, AXIS_API, OLD, OURS, MJC = (
    "NewtonJointAPI",
    "PhysxJointAxisAPI:angular",
    "PhysxJointAPI",
    "WarpArticJointAPI:angular",
    "MjcJointAPI",
)
SERVO = f"""
def MjcActuator "servo" {{
    rel mjc:target = </World/j1>
    token mjc:biasType = "affine"
    double[] mjc:gainPrm = [{4 / DEGREE!r}]
    double[] mjc:biasPrm = [0, {-4 / DEGREE!r}, {-0.25 / DEGREE!r}]
    double mjc:forceRange:min = -40
    double mjc:forceRange:max = 40
}}
"""
SPRING = "double warpArtic:stiffness = 64\ndouble warpArtic:damping = 2\n"
TENDON = "rel warpArtic:joints = [</World/j1>, </World/j3>]\ndouble[] warpArtic:coefficients = [0.015625, -0.5]\n"
PHYSX_TERM = "float[] physxTendon:t:gearing = [{!r}]\nfloat[] physxTendon:t:forceCoefficient = [{!r}]\n"
PHYSX_SLIDE = ("PhysxTendonAxisAPI:t",), PHYSX_TERM.format(-0.5, -0.5)
PHYSX_AXIS = PHYSX_TERM.format(0.015625, 0.015625 / DEGREE)
MIMIC = "rel warpArtic:mimic:{axis}:leaders = </World/j1>\ndouble[] warpArtic:mimic:{axis}:gears = [{gear}]\n"
PHYSX_MIMIC = "rel physxMimicJoint:{axis}:referenceJoint = </World/j1>\nfloat physxMimicJoint:{axis}:gearing = {gear}\n"
NEWTON_MIMIC = "rel newton:mimicJoint = </World/j1>\nfloat newton:mimicCoef1 = {gear}\n"
MJC_MIMIC = "rel mjc:target = </World/j1>\ndouble mjc:coef1 = {gear!r}\n"
SPATIAL = SPRING + 'uniform token warpArtic:forceRouting = "{routing}"\n'
CABLE = point("root", "l0", "", point("middle", "l2", "", point("end", "l3", "double warpArtic:restLength = 1.5")))
FEATURES = {
    "time step": {
        "ours": {"scene": "uniform double warpArtic:scene:timeStepsPerSecond = 250"},
        "physx": {"scene": "uint physxScene:timeStepsPerSecond = 250"},
        "newton": {"scene": "uniform int newton:timeStepsPerSecond = 250"},
        "mjc": {"scene": "double mjc:option:timestep = 0.004"},
    },
    "drive": {
        "ours": on("j1", "WarpArticDriveAPI:angular", DRIVE),
        "physx": on("j1", "PhysicsDriveAPI:angular", DRIVE),
        "newton": on("j1", f"PhysicsDriveAPI:angular {NEWTON}", DRIVE),
        "mjc": {"more": SERVO},
    },
    "target of a drive": {
        "ours": on("j1", "WarpArticDriveAPI:angular", DRIVE + TARGET),
        "physx": on("j1", "PhysicsDriveAPI:angular", DRIVE + TARGET),
        "newton": on("j1", f"PhysicsDriveAPI:angular {NEWTON}", DRIVE + TARGET),
    },
    "performance envelope": {
        "ours": on(
            "j1",
            "WarpArticDriveAPI:angular",
            MOTOR
            + "double warpArtic:drive:angular:maxVelocity = 64\n"
            + "double warpArtic:drive:angular:velocityGradient = 0.5\n"
            + "double warpArtic:drive:angular:velocityResistance = 0.125\n",
        ),
        "physx": on(
            "j1",
            "PhysicsDriveAPI:angular PhysxDrivePerformanceEnvelopeAPI:angular",
            MOTOR
            + floats(
                "physxDrivePerformanceEnvelope:angular",
                maxActuatorVelocity=64.0,
                speedEffortGradient=0.5,
                velocityDependentResistance=0.125,
            ),
        ),
    },
    "armature": {
        "ours": on("j1", OURS, own(armature=0.75)),
        "physx": on("j1", AXIS_API, floats("physxJointAxis:angular", armature=0.75)),
        "physx old": on("j1", OLD, floats("physxJoint", armature=0.75)),
        "newton": on("j1", NEWTON, floats("newton", armature=0.75)),
        "mjc": on("j1", MJC, "double mjc:armature = 0.75"),
    },
    "friction": {
        "ours": on("j1", OURS, own(staticFrictionEffort=4.0, dynamicFrictionEffort=4.0)),
        "physx": on(
            "j1",
            AXIS_API,
            floats("physxJointAxis:angular", staticFrictionEffort=4.0, dynamicFrictionEffort=4.0),
        ),
        "newton": on("j1", NEWTON, floats("newton", friction=4.0)),
        "mjc": on("j1", MJC, "double mjc:frictionloss = 4"),
    },
    "static friction beside dynamic": {
        "ours": on("j1", OURS, own(staticFrictionEffort=8.0, dynamicFrictionEffort=2.0)),
        "physx": on(
            "j1",
            AXIS_API,
            floats("physxJointAxis:angular", staticFrictionEffort=8.0, dynamicFrictionEffort=2.0),
        ),
    },
    "viscous friction": {
        "ours": on("j1", OURS, own(viscousFrictionCoefficient=0.125)),
        "physx": on("j1", AXIS_API, floats("physxJointAxis:angular", viscousFrictionCoefficient=0.125)),
        "newton": on("j1", NEWTON, floats("newton", damping=0.125)),
        "mjc": on("j1", MJC, f"double mjc:damping = {0.125 / DEGREE!r}"),
    },
    "friction by load": {
        "ours": on("j1", OURS, own(loadFrictionCoefficient=0.0625)),
        "physx old": on("j1", OLD, floats("physxJoint", jointFriction=0.0625)),
    },
    "velocity limit": {
        "ours": on("j1", OURS, own(velocityLimit=40.0)),
        "physx": on("j1", AXIS_API, floats("physxJointAxis:angular", maxJointVelocity=40.0)),
        "physx old": on("j1", OLD, floats("physxJoint", maxJointVelocity=40.0)),
        "newton": on("j1", NEWTON, floats("newton", velocityLimit=40.0)),
    },
    "soft limit": {
        "ours": on("j1", OURS, own(limitStiffness=4.0, limitDamping=0.125)),
        "physx": on("j1", "PhysxLimitAPI:angular", floats("physxLimit:angular", stiffness=4.0, damping=0.125)),
        "newton": on("j1", NEWTON, floats("newton", limitStiffness=4.0, limitDamping=0.125)),
    },
    "bouncing limit": {
        "ours": on("j1", OURS, own(limitRestitution=0.5, limitBounceThreshold=2.0)),
        "physx": on("j1", "PhysxLimitAPI:angular", floats("physxLimit:angular", restitution=0.5, bounceThreshold=2.0)),
    },
    "start state": {
        "ours": on("j1", OURS, own(position=20.0, velocity=-30.0)),
        "physx": on(
            "j1", "PhysicsJointStateAPI:angular", floats("state:angular:physics", position=20.0, velocity=-30.0)
        ),
    },
    "link damping and largest velocity": {
        "ours": on_links(
            l1=(
                "WarpArticLinkAPI",
                "double warpArtic:link:linearDamping = 2\ndouble warpArtic:link:angularDamping = 4\n"
                "double warpArtic:link:maxAngularVelocity = 15",
            )
        ),
        "physx": on_links(
            l1=(
                "PhysxRigidBodyAPI",
                floats("physxRigidBody", linearDamping=2.0, angularDamping=4.0, maxAngularVelocity=15.0),
            )
        ),
    },
    "hard mimic joint": {
        "ours": on("j2", "WarpArticMimicAPI:angular", MIMIC.format(axis="angular", gear=-0.5)),
        "physx": on("j2", "PhysxMimicJointAPI:rotY", PHYSX_MIMIC.format(axis="rotY", gear=0.5)),
        "newton": on("j2", "NewtonMimicAPI", NEWTON_MIMIC.format(gear=-0.5)),
        "mjc": on("j2", "MjcEqualityJointAPI", MJC_MIMIC.format(gear=-0.5)),
    },
    "mimic joint with offset, a slide after a hinge": {
        "ours": on(
            "j3",
            "WarpArticMimicAPI:linear",
            MIMIC.format(axis="linear", gear=0.015625) + "double warpArtic:mimic:linear:offset = 0.25",
        ),
        "physx": on(
            "j3",
            "PhysxMimicJointAPI:rotX",
            PHYSX_MIMIC.format(axis="rotX", gear=-0.015625) + floats("physxMimicJoint:rotX", offset=-0.25),
        ),
        "newton": on("j3", "NewtonMimicAPI", NEWTON_MIMIC.format(gear=0.015625) + floats("newton", mimicCoef0=0.25)),
        "mjc": on("j3", "MjcEqualityJointAPI", MJC_MIMIC.format(gear=0.015625 / DEGREE) + "double mjc:coef0 = 0.25"),
    },
    "compliant mimic joint": {
        "ours": on(
            "j2",
            "WarpArticMimicAPI:angular",
            MIMIC.format(axis="angular", gear=-0.5)
            + "double warpArtic:mimic:angular:naturalFrequency = 20\n"
            + "double warpArtic:mimic:angular:dampingRatio = 0.25",
        ),
        "physx": on(
            "j2",
            "PhysxMimicJointAPI:rotY",
            PHYSX_MIMIC.format(axis="rotY", gear=0.5)
            + floats("physxMimicJoint:rotY", naturalFrequency=20.0, dampingRatio=0.25),
        ),
    },
    "fixed tendon": {
        "ours": {"more": prim("FixedTendon", "t", TENDON + SPRING + "double warpArtic:restLength = 0.25")},
        "physx": {
            "joints": {
                "j1": (
                    ("PhysxTendonAxisRootAPI:t",),
                    PHYSX_AXIS + floats("physxTendon:t", stiffness=64.0, damping=2.0, restLength=0.25),
                ),
                "j3": PHYSX_SLIDE,
            }
        },
        "mjc": {
            "more": f"""
            def MjcTendon "t" {{
                uniform token mjc:type = "fixed"
                rel mjc:path = [</World/j1>, </World/j3>]
                double[] mjc:path:coef = [{0.015625 / DEGREE!r}, -0.5]
                double mjc:stiffness = 64
                double mjc:damping = 2
                double[] mjc:springlength = [0.25]
            }}
            """
        },
    },
    "limits and offset of a fixed tendon": {
        "ours": {
            "more": prim(
                "FixedTendon",
                "t",
                TENDON
                + "double warpArtic:limitStiffness = 256\ndouble warpArtic:offset = 0.125\n"
                + "double warpArtic:lowerLimit = -0.25\ndouble warpArtic:upperLimit = 0.0625\n",
            )
        },
        "physx": {
            "joints": {
                "j1": (
                    ("PhysxTendonAxisRootAPI:t",),
                    PHYSX_AXIS
                    + floats("physxTendon:t", limitStiffness=256.0, offset=0.125, lowerLimit=-0.25, upperLimit=0.0625),
                ),
                "j3": PHYSX_SLIDE,
            }
        },
    },
    "spatial tendon by its ends": {
        "ours": {"more": prim("SpatialTendon", "s", SPATIAL.format(routing="endSegments") + CABLE)},
        "physx": on_links(
            l0=("PhysxTendonAttachmentRootAPI:root", floats("physxTendon:root", stiffness=64.0, damping=2.0)),
            l2=(
                "PhysxTendonAttachmentAPI:middle",
                'rel physxTendon:middle:parentLink = </World/l0>\ntoken physxTendon:middle:parentAttachment = "root"',
            ),
            l3=(
                "PhysxTendonAttachmentLeafAPI:end",
                "float physxTendon:end:restLength = 1.5\n"
                'rel physxTendon:end:parentLink = </World/l2>\ntoken physxTendon:end:parentAttachment = "middle"',
            ),
        ),
    },
    "spatial tendon by all segments": {
        "ours": {"more": prim("SpatialTendon", "s", SPATIAL.format(routing="allSegments") + CABLE)},
        "mjc": {
            **on_links(l0=("", site(0)), l2=("", site(0)), l3=("", site(0))),
            "more": """
            def MjcTendon "s" {
                rel mjc:path = [</World/l0/site>, </World/l2/site>, </World/l3/site>]
                double mjc:stiffness = 64
                double mjc:damping = 2
                double[] mjc:springlength = [1.5]
            }
            """,
        },
    },
}
"""Each feature: what is authored for it in each dialect that can say it. Bounds of limits are UsdPhysics in all."""


def authored(header: str, scene: str = "", joints: dict | None = None, links: dict | None = None, more: str = ""):
    """A stage of the common mechanism and what a dialect adds to it."""
    merged = {}
    for name, content in COMMON.items():
        applied, added = (joints or {}).get(name, ((), ""))
        merged[name] = (applied, content + added)
    return stage(f"vector3f physics:gravityDirection = (0, 0, -1)\n{scene}", merged, links or {}, header, more)


@pytest.mark.parametrize("feature", FEATURES)
def test_dialects_agree(feature):
    """Descriptions agree to 1e-6 in both units, and simulations, which the feature changes, in every bit."""
    for header in (SI, SMALL_UNITS):
        (_, first), *others = [(name, authored(header, **parts)) for name, parts in FEATURES[feature].items()]
        assert errors_of(first) == []
        for name, other in others:
            assert errors_of(other) == [], name
            assert_same(first, other)
            assert_moves_as(first, other)
    bare, with_it = (authored(SI, **parts) for parts in ({}, FEATURES[feature]["ours"]))
    assert np.abs(run(bare).joint_position - run(with_it).joint_position).max() > 1e-3


IN_ALL = ("time step", "drive", "armature", "hard mimic joint", "fixed tendon")
DIALECTS = ("ours", "physx", "physx old", "newton", "mjc")
LIKE = {"physx old": "physx"}
"""Whose words a dialect has where it has none of its own."""


def mechanism(dialect: str, header: str, features: tuple[str, ...]):
    """The common mechanism with several features at once, each in the words of a dialect."""
    scene, more, joints = "", "", {}
    for feature in features:
        spoken = FEATURES[feature]
        parts = spoken.get(dialect) or spoken[LIKE[dialect]]
        scene, more = scene + parts.get("scene", ""), more + parts.get("more", "")
        for name, (applied, content) in parts.get("joints", {}).items():
            before = joints.get(name, ((), ""))
            joints[name] = (tuple(dict.fromkeys(before[0] + applied)), f"{before[1]}\n{content}")
    return authored(header, scene, joints, more=more)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_one_mechanism_in_five_dialects(header):
    """A servo, its rotor, a mimic joint and a tendon, together; Newton has no word for the tendon."""
    with_tendon = [mechanism(one, header, IN_ALL) for one in DIALECTS if one != "newton"]
    without = [mechanism(one, header, IN_ALL[:-1]) for one in DIALECTS]
    for first, *others in (with_tendon, without):
        assert errors_of(first) == warnings_of(first) == []
        for other in others:
            assert errors_of(other) == []
            assert_same(first, other)
            assert_moves_as(first, other)
    assert np.abs(run(with_tendon[0]).joint_position - run(without[0]).joint_position).max() > 1e-3


def test_a_decimal_in_degrees_is_rounded_once_or_twice():
    """A float 0.1 is read as the number that it is: it may run a last bit beside a double 0.1, and no more."""
    first, second = (
        authored(SI, **parts)
        for parts in (
            on("j1", OURS, own(viscousFrictionCoefficient=0.1)),
            on("j1", AXIS_API, floats("physxJointAxis:angular", viscousFrictionCoefficient=0.1)),
        )
    )
    one, two = (compared(read_stage(each)) for each in (first, second))
    (name,) = (name for name in one if one[name] != two[name])
    assert name.endswith("friction.viscous") and one[name] == pytest.approx(two[name], rel=2**-24)
    np.testing.assert_allclose(run(first).joint_position, run(second).joint_position, rtol=0.0, atol=1e-6)
