"""Mimic joints in the dialects of Newton and PhysX: units, signs, axes, and each error."""

import math
from pathlib import Path

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, open_text, schemas, warnings_of
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import inspect_stage, read_stage

DATA = Path(__file__).parent.parent / "data"
DEGREE = math.pi / 180
PHYSX = "PhysxMimicJointAPI:rotX"


def robot(
    follower: str = "Revolute", leader: str = "Revolute", applied=(), content="", header: str = SI, more: str = ""
):
    """An articulation /World with the joints /World/lead and /World/follow on its base, and whatever else."""
    text = body("base") + body("a") + body("b") + joint("held", "Fixed", "", "/World/base")
    text += joint("follow", follower, "/World/base", "/World/b", content, applied)
    text += joint("lead", leader, "/World/base", "/World/a")
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n{more}', header)


def physx(content: str = "", reference: str = "/World/lead", instance: str = "rotX", **options):
    """A follower by PhysX; the attributes go by their short names."""
    lines = [f"rel referenceJoint = <{reference}>"] if reference else []
    lines += [line for line in content.split("\n") if line]
    text = "".join(
        f"{kind} physxMimicJoint:{instance}:{rest}\n" for kind, rest in (line.split(" ", 1) for line in lines)
    )
    return robot(applied=(f"PhysxMimicJointAPI:{instance}",), content=text, **options)


def newton(content: str = "", reference: str = "/World/lead", **options):
    """A follower by Newton."""
    text = (f"rel newton:mimicJoint = <{reference}>\n" if reference else "") + content
    return robot(applied=("NewtonMimicAPI",), content=text, **options)


def mimic_of(stage):
    """The only mimic joint of a stage."""
    (mimic,) = read_stage(stage).articulations[0].mimics
    return mimic


KINDS = [
    ("Revolute", "Revolute", 1.0, DEGREE),
    ("Prismatic", "Prismatic", 1.0, 0.01),
    ("Revolute", "Prismatic", DEGREE / 0.01, DEGREE),
    ("Prismatic", "Revolute", 0.01 / DEGREE, 0.01),
]
"""Follower, leader, and in centimetres: what a gearing and an offset of one are in SI."""


@pytest.mark.parametrize("follower, leader, gear, offset", KINDS)
def test_physx_units(follower, leader, gear, offset):
    """q + gearing q_ref + offset = 0; the offset is a position of the follower, a mixed gearing has both units."""
    content = "float gearing = -2\nfloat offset = 15\nfloat naturalFrequency = 30\nfloat dampingRatio = 0.4"
    mimic = mimic_of(physx(content, follower=follower, leader=leader, header=SMALL_UNITS))
    assert (mimic.name, mimic.dofs, mimic.enabled) == ("/World/follow", (0, 1), True)
    assert mimic.gears == pytest.approx((1.0, -2 * gear))
    assert mimic.offset == pytest.approx(15 * offset)
    assert (mimic.natural_frequency, mimic.damping_ratio) == pytest.approx((30.0, 0.4))


@pytest.mark.parametrize("follower, leader, gear, offset", KINDS)
def test_newton_units(follower, leader, gear, offset):
    """q = coef0 + coef1 q_ref, so the gear and the offset change their signs."""
    content = "float newton:mimicCoef0 = 15\nfloat newton:mimicCoef1 = -2\nbool newton:mimicEnabled = 0"
    mimic = mimic_of(newton(content, follower=follower, leader=leader, header=SMALL_UNITS))
    assert mimic.gears == pytest.approx((1.0, 2 * gear))
    assert mimic.offset == pytest.approx(-15 * offset)
    assert (mimic.natural_frequency, mimic.enabled) == (0.0, False)


def test_defaults():
    """A gearing of 1 stands against a coefficient of 1: the two dialects have opposite signs."""
    assert mimic_of(physx()).gears == (1.0, 1.0)
    assert mimic_of(newton()).gears == (1.0, -1.0)
    for mimic in (mimic_of(physx()), mimic_of(newton())):
        assert (mimic.offset, mimic.natural_frequency, mimic.damping_ratio, mimic.enabled) == (0.0, 0.0, 0.0, True)


def test_equal_values_in_two_dialects():
    """A stage for two engines: the relation of Newton with the compliance of PhysX, without a warning of a conflict."""
    content = """
    rel newton:mimicJoint = </World/lead>
    float newton:mimicCoef0 = -20
    float newton:mimicCoef1 = 2
    rel physxMimicJoint:rotX:referenceJoint = </World/lead>
    float physxMimicJoint:rotX:gearing = -2
    float physxMimicJoint:rotX:offset = {offset}
    float physxMimicJoint:rotX:naturalFrequency = 5
    """
    same = robot(applied=("NewtonMimicAPI", PHYSX), content=content.format(offset=20))
    assert mimic_of(same).natural_frequency == 5.0
    assert mimic_of(same).offset == pytest.approx(20 * DEGREE)
    assert not [text for text in warnings_of(same) if "gives" in text]
    readings = inspect_stage(same).readings["/World/follow"]
    assert {one.field: one.dialect for one in readings if one.field.startswith("mimic_")} == {
        "mimic_coef0": "newton",
        "mimic_coef1": "newton",
        "mimic_natural_frequency": "physx",
    }
    other = robot(applied=("NewtonMimicAPI", PHYSX), content=content.format(offset=45))
    assert mimic_of(other).offset == pytest.approx(20 * DEGREE)
    assert mimic_of(other).natural_frequency == 0.0
    (warning,) = [text for text in warnings_of(other) if "gives" in text]
    assert warning == (
        "/World/follow: PhysxMimicJointAPI:rotX gives q = 2 q(/World/lead) + -0.785398, but NewtonMimicAPI gives "
        "q = 2 q(/World/lead) + -0.349066, which is used"
    )
    (mimic,) = read_stage(other, dialects=("physx",)).articulations[0].mimics
    assert (mimic.offset, mimic.natural_frequency) == (pytest.approx(45 * DEGREE), 5.0)


@pytest.mark.parametrize("instance", ["rotX", "rotY", "rotZ", "transX"])
def test_instance_name_of_a_joint_with_one_dof(instance):
    """The only dof of a revolute joint is meant under any instance name, and any axis of the leader."""
    assert mimic_of(physx('token referenceJointAxis = "rotZ"', instance=instance)).dofs == (0, 1)


def test_axes_of_joints_with_several_dofs():
    """The instance name picks the axis of the follower, referenceJointAxis that of the leader; rotX unless authored."""
    mimic = mimic_of(physx(instance="rotZ", follower="Spherical", leader="Spherical"))
    assert (mimic.name, mimic.dofs) == ("/World/follow:rotZ", (2, 3))
    stage = physx('token referenceJointAxis = "rotY"', instance="rotZ", follower="Spherical", leader="Spherical")
    assert mimic_of(stage).dofs == (2, 4)


def test_one_axis_may_follow_another_of_its_joint():
    """Two axes of one joint are different dofs."""
    stage = physx('token referenceJointAxis = "rotX"', "/World/follow", "rotY", follower="Spherical")
    assert mimic_of(stage).dofs == (1, 0)


def test_readings_are_those_of_the_follower():
    """The values of a mimic joint are listed with those of the dof that follows."""
    readings = inspect_stage(physx("float gearing = 3", follower="Prismatic", header=SMALL_UNITS)).readings
    (gear,) = [reading for reading in readings["/World/follow"] if reading.field == "mimic_gear"]
    assert (gear.authored, gear.authored_unit, gear.unit) == (3.0, "distance/deg", "m/rad")
    assert gear.value == pytest.approx(0.03 / DEGREE)


ALONE = body("p") + body("q") + joint("other", "Revolute", "/p", "/q")


@pytest.mark.parametrize(
    "dialect, name", [(physx, "physxMimicJoint:rotX:referenceJoint"), (newton, "newton:mimicJoint")]
)
def test_errors_of_references(dialect, name):
    """A mimic joint follows one other dof of its articulation."""
    where = f"/World/follow.{name}"
    assert errors_of(dialect(reference="")) == [f"{where}: leads to 0 joints, must lead to one"]
    assert errors_of(dialect(reference="/World/none")) == [
        f"{where}: leads to /World/none, which is no joint; must lead to one"
    ]
    assert errors_of(dialect(reference="/World/base")) == [
        f"{where}: leads to /World/base, which is no joint; must lead to one"
    ]
    assert errors_of(dialect(reference="/World/held")) == [
        f"{where}: /World/held is a fixed joint: it has no axis to couple"
    ]
    assert errors_of(dialect(reference="/World/follow")) == [
        f"{where}: leads to /World/follow: a joint cannot mimic itself"
    ]
    assert errors_of(dialect(reference="/other", more=ALONE)) == [
        f"{where}: leads to /other, which is not a joint of the articulation /World, as /World/follow is; "
        "must lead to one"
    ]


@pytest.mark.parametrize(
    "stage, error",
    [
        (physx(follower="Fixed"), "/World/follow: /World/follow is a fixed joint: it has no axis to couple"),
        (
            physx(instance="transX", follower="Spherical"),
            "/World/follow: /World/follow is not free on transX; its free axes are rotX, rotY, rotZ",
        ),
        (
            physx('token referenceJointAxis = "transZ"', leader="Spherical"),
            "/World/follow.physxMimicJoint:rotX:referenceJoint: /World/lead is not free on transZ; its free axes are "
            "rotX, rotY, rotZ",
        ),
        (
            physx('token referenceJointAxis = "roll"'),
            "/World/follow.physxMimicJoint:rotX:referenceJointAxis: is 'roll', must be one of transX, transY, transZ, "
            "rotX, rotY, rotZ",
        ),
        (
            newton(leader="Spherical"),
            "/World/follow.newton:mimicJoint: no axis of /World/lead is named; its free axes are rotX, rotY, rotZ",
        ),
        (
            newton(follower="Spherical"),
            "/World/follow: no axis of /World/follow is named; its free axes are rotX, rotY, rotZ",
        ),
        (
            physx("float dampingRatio = -1"),
            "/World/follow: damping ratio -1 must not be negative",
        ),
        (
            robot(
                applied=(PHYSX, "PhysxMimicJointAPI:rotY"),
                content="".join(
                    f"rel physxMimicJoint:{axis}:referenceJoint = </World/lead>\n" for axis in ("rotX", "rotY")
                ),
            ),
            "/World/follow: is a mimic joint twice, as rotX and as rotY, with one axis; keep one of them",
        ),
        (
            robot(more=joint("off", "Revolute", "/World/base", "/World/a", "bool physics:jointEnabled = 0", (PHYSX,))),
            "/off: is a mimic joint (rotX), but in no articulation; must be a joint of one",
        ),
        (
            robot(
                more=joint("weak", "Revolute", "/World/base", "/World/a", "float physics:breakForce = 100", (PHYSX,))
            ),
            "/weak: is a mimic joint (rotX), but in no articulation (physics:breakForce or physics:breakTorque makes "
            "it a loop joint); must be a joint of one",
        ),
        (
            robot(more=f'def Xform "frame" {schemas("NewtonMimicAPI")} {{\n}}\n'),
            "/frame: is a mimic joint, but no joint; must be a joint of one",
        ),
    ],
)
def test_errors(stage, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    assert errors_of(stage) == [error]


def test_oracle_stages():
    """A hard gear of -1 with an offset of -10 degrees, and a compliant one of -0.5 at 30 rad/s and 0.4."""
    hard = mimic_of(DATA / "oracle" / "stages" / "mimic_hard_gear.usda")
    assert (hard.name, hard.dofs, hard.gears) == ("/World/Robot/j_follow", (1, 0), (1.0, -1.0))
    assert hard.offset == pytest.approx(-10 * DEGREE)
    assert hard.natural_frequency == 0.0
    soft = mimic_of(DATA / "oracle" / "stages" / "mimic_compliant.usda")
    assert (soft.dofs, soft.gears, soft.offset) == ((1, 0), (1.0, -0.5), 0.0)
    assert (soft.natural_frequency, soft.damping_ratio) == pytest.approx((30.0, 0.4))


def test_hand():
    """In the hand of the benchmarks the last joint of each of four fingers follows the one before it."""
    (tree,) = read_stage(DATA / "peers" / "hand_mimic.usda").articulations
    names = [tuple(tree.dofs[dof].name for dof in mimic.dofs) for mimic in tree.mimics]
    assert names == [(f"/World/j_f{finger}_5", f"/World/j_f{finger}_4") for finger in range(4)]
    assert {mimic.gears for mimic in tree.mimics} == {(1.0, -1.0)}


def test_a_simulated_family_is_not_reported(monkeypatch):
    """Once the engine has mimic joints there is no warning, but for attributes that mean nothing."""
    monkeypatch.setattr(not_simulated, "NOT_YET", ())
    assert not warnings_of(physx("float gearing = 2")) + warnings_of(newton("float newton:mimicCoef1 = 2"))
    (warning,) = warnings_of(physx("float nonsense = 2"))
    assert warning == "/World/follow.physxMimicJoint:rotX:nonsense: is not used"


@pytest.mark.parametrize(
    ("back", "held"), [(2.0, ["/World/follow", "/World/lead"]), (1.0, []), (-1.0, ["/World/follow", "/World/lead"])]
)
def test_relations_that_leave_no_motion(back, held):
    """Of two joints that follow each other, a = b and b = `back` a: told unless both are the same relation."""
    text = body("base") + body("a") + body("b") + joint("fixed", "Fixed", "", "/World/base")
    for name, child, other, gear in (("follow", "b", "lead", 1.0), ("lead", "a", "follow", back)):
        content = f"rel newton:mimicJoint = </World/{other}>\nfloat newton:mimicCoef1 = {gear}\n"
        text += joint(name, "Revolute", "/World/base", f"/World/{child}", content, ("NewtonMimicAPI",))
    stage = open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n')
    found = [item.path for item in read_stage(stage).diagnostics if item.rule == "mimic-contradiction"]
    assert sorted(found) == held
