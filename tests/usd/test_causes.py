"""A joint that leads nowhere is all that is wrong with what couples it, and hides nothing that is wrong beside it."""

import pytest

from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic.description.diagnostic import Severity
from warp_artic.usd.read_stage import check_stage

AXIS = 'uniform token physics:axis = "Z"\n'
T, S = "physxTendon:t:", "physxTendon:s:"
AXIS_OF_TENDON = f"""float[] {T}gearing = [1]
    float[] {T}forceCoefficient = [1]
    token[] {T}jointAxis = ["rotZ"]
    """
FOLLOWS = f"""token {S}parentAttachment = "s"
    float {S}gearing = 2
    point3f {S}localPos = (0, 0, 1)
    """
COUPLINGS = {
    "none": {},
    "physx mimic": {
        "j2": ("rel physxMimicJoint:rotZ:referenceJoint = </W/j1>", "PhysxMimicJointAPI:rotZ"),
    },
    "newton mimic": {"j2": ("rel newton:mimicJoint = </W/j1>", "NewtonMimicAPI")},
    "own mimic": {"j2": ("rel warpArtic:mimic:rotZ:leaders = </W/j1>", "WarpArticMimicAPI:rotZ")},
    "own mimic of two": {"j3": ("rel warpArtic:mimic:rotZ:leaders = [</W/j1>, </W/j2>]", "WarpArticMimicAPI:rotZ")},
    "mjc equality": {"j2": ("rel mjc:target = </W/j1>", "MjcEqualityJointAPI")},
    "physx fixed tendon": {
        "j1": (f"{AXIS_OF_TENDON}float {T}stiffness = 100\nfloat {T}damping = 1", "PhysxTendonAxisRootAPI:t"),
        "j2": (AXIS_OF_TENDON, "PhysxTendonAxisAPI:t"),
        "j3": (AXIS_OF_TENDON, "PhysxTendonAxisAPI:t"),
    },
    "own fixed tendon": {
        "more": 'def WarpArticFixedTendon "t" {\nrel warpArtic:joints = [</W/j1>, </W/j3>]\n'
        "float[] warpArtic:coefficients = [1, 2]\nfloat warpArtic:stiffness = 10\n}\n",
    },
    "mjc fixed tendon": {
        "more": 'def MjcTendon "t" {\ntoken mjc:type = "fixed"\nrel mjc:path = [</W/j1>, </W/j3>]\n'
        "double[] mjc:path:coef = [1, 2]\ndouble mjc:stiffness = 10\n}\n",
    },
    "physx spatial tendon": {
        "a": (f"float {S}stiffness = 10\npoint3f {S}localPos = (0, 0, 1)", "PhysxTendonAttachmentRootAPI:s"),
        "b": (f"rel {S}parentLink = </W/a>\n{FOLLOWS}", "PhysxTendonAttachmentAPI:s"),
        "c": (f"rel {S}parentLink = </W/b>\n{FOLLOWS}float {S}restLength = 1", "PhysxTendonAttachmentLeafAPI:s"),
    },
    "own spatial tendon": {
        "more": 'def WarpArticSpatialTendon "s" {\ndef WarpArticTendonAttachment "r" {\nrel warpArtic:body = </W/a>\n'
        'def WarpArticTendonAttachment "l" {\nrel warpArtic:body = </W/c>\n}\n}\n}\n',
    },
    "mjc spatial tendon": {
        "more": 'def MjcTendon "s" {\ntoken mjc:type = "spatial"\nrel mjc:path = [</W/a/p>, </W/c/p>]\n'
        "double mjc:stiffness = 10\n}\n",
    },
    "gear": {
        "more": 'def PhysxPhysicsGearJoint "gear" {\nrel physics:hinge0 = </W/j1>\nrel physics:hinge1 = </W/j2>\n'
        "float physics:gearRatio = 2\n}\n",
    },
    "gear that names bodies": {
        "more": 'def PhysxPhysicsGearJoint "gear" {\nrel physics:hinge0 = </W/j1>\nrel physics:hinge1 = </W/j3>\n'
        "rel physics:body0 = </W/a>\nrel physics:body1 = </W/c>\nfloat physics:gearRatio = 2\n}\n",
    },
    "rack": {
        "more": 'def PhysxPhysicsRackAndPinionJoint "rack" {\nrel physics:hinge = </W/j2>\n'
        "rel physics:prismatic = </W/slide>\nfloat physics:ratio = 2\n}\n",
    },
    "mjc actuator": {
        "more": 'def MjcActuator "servo" {\nrel mjc:target = </W/j2>\ndouble[] mjc:gainPrm = [5]\n'
        'token mjc:biasType = "affine"\ndouble[] mjc:biasPrm = [0, -5, 0]\n}\n',
    },
}
"""Content and schema of joints and bodies by their names, and further prims, of each coupling."""


def chain(coupling, broken=None, sides=(), root=""):
    """A chain of hinges and a slide from the world on, W/j0 to W/slide, one of whose joints leads nowhere."""
    parts = COUPLINGS[coupling]
    bodies, joints = ("base", "a", "b", "c", "d"), ("j0", "j1", "j2", "j3", "slide")
    text = ""
    for name in bodies:
        content, *applied = parts.get(name, ("",))
        text += body(name, content + '\ndef Xform "p" (prepend apiSchemas = ["MjcSiteAPI"]) {}\n', tuple(applied))
    for name, first, second in zip(joints, ("", *bodies), bodies):
        content, *applied = parts.get(name, ("",))
        kind = {"j0": "Fixed", "slide": "Prismatic"}.get(name, "Revolute")
        ends = [f"/W/{end}" if end else "" for end in (first, second)]
        if name == broken:
            ends = ["/nowhere" if side in sides else end for side, end in enumerate(ends)]
        text += joint(name, kind, *ends, (AXIS if name != "j0" else "") + content, tuple(applied))
    more = parts.get("more", "")
    return open_text(f'def Xform "W" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n{root}')


def told(stage):
    """Errors and warnings, as rule and path."""
    return {(one.rule, one.path) for one in check_stage(stage) if one.severity is not Severity.NOTE}


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("sides", [(0,), (1,), (0, 1)])
def test_what_follows_from_a_joint_that_leads_nowhere_is_not_told(coupling, sides):
    """Whichever joint of the chain it is: only that it leads nowhere."""
    before = told(chain(coupling))
    assert not [rule for rule, _ in before if rule != "tendon-gains-energy"]
    for broken in ("j0", "j1", "j2", "j3", "slide"):
        expected = {("joint-bodies", f"/W/{broken}.physics:body{side}") for side in sides}
        assert told(chain(coupling, broken, sides)) == expected, broken


@pytest.mark.parametrize(
    ("coupling", "leads", "rule", "path"),
    [
        ("physx mimic", "</W/j1>", "mimic-reference", "/W/j2.physxMimicJoint:rotZ:referenceJoint"),
        ("newton mimic", "</W/j1>", "mimic-reference", "/W/j2.newton:mimicJoint"),
        ("mjc equality", "</W/j1>", "mimic-reference", "/W/j2.mjc:target"),
        ("own mimic", "</W/j1>", "terms", "/W/j2.warpArtic:mimic:rotZ:leaders"),
        ("own fixed tendon", "</W/j3>", "terms", "/W/t.warpArtic:joints"),
        ("mjc fixed tendon", "</W/j3>", "terms", "/W/t.mjc:path"),
        ("own spatial tendon", "</W/c>", "tendon-body", "/W/s/r/l.warpArtic:body"),
        ("physx spatial tendon", "</W/a>", "tendon-parent", "/W/b"),
        ("gear", "</W/j2>", "gear", "/W/gear.physics:hinge1"),
    ],
)
@pytest.mark.parametrize("other", ["</V/j>", "</nowhere>"])
def test_what_is_wrong_beside_a_joint_that_leads_nowhere_is_told(coupling, leads, rule, path, other, monkeypatch):
    """A coupling to another articulation, or to nothing, that the joint has no part in."""
    if "spatial" in coupling:
        other = other.replace("</V/j>", "</V/x>")
    parts = {
        name: part.replace(leads, other) if name == "more" else (part[0].replace(leads, other), *part[1:])
        for name, part in COUPLINGS[coupling].items()
    }
    monkeypatch.setitem(COUPLINGS, coupling, parts)
    other_root = schemas("PhysicsArticulationRootAPI")
    root = f'def Xform "V" {other_root} {{\n{body("x")}{joint("j", "Revolute", "", "/V/x", AXIS)}}}\n'
    root += body("free") + joint("bad", "Revolute", "/nowhere2", "/free", AXIS)
    found = told(chain(coupling, root=root))
    assert (rule, path) in found and ("joint-bodies", "/bad.physics:body0") in found


def test_joints_that_stack_are_in_their_tree():
    """A joint that leads nowhere keeps them from what follows them."""
    stack = "".join(
        joint(name, "Prismatic", "/W/base", "/W/a", f'uniform token physics:axis = "{axis}"\n')
        for name, axis in (("x", "X"), ("y", "Y"))
    )
    joints = joint("j0", "Fixed", "", "/W/base") + stack
    for first in ("/W/a", "/nowhere"):
        broken = joint("j1", "Revolute", first, "/W/b", AXIS)
        last = joint("j2", "Revolute", "/W/b", "/W/c", AXIS + "rel newton:mimicJoint = </W/y>", ("NewtonMimicAPI",))
        text = "".join(map(body, ("base", "a", "b", "c"))) + joints + broken + last
        root = schemas("NewtonArticulationRootAPI")
        stage = open_text(f'def Xform "W" {root} {{\nuniform bool newton:jointsAddMobility = true\n{text}}}\n')
        assert told(stage) == (set() if first == "/W/a" else {("joint-bodies", "/W/j1.physics:body0")})


def generic(name, ends, free, applied=(), content=""):
    """A joint that is free on some axes alone."""
    locked = [axis for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if axis not in free]
    limits = "".join(f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n" for axis in locked)
    return joint(name, "", *ends, limits + content, (*(f"PhysicsLimitAPI:{axis}" for axis in locked), *applied))


@pytest.mark.parametrize("end", ["/nowhere", "/b"])
def test_axes_of_a_joint_that_leads_nowhere(end):
    """That a coupling names an axis which the joint locks is told with, and without, the end that leads nowhere."""
    mimic = ("PhysxMimicJointAPI:rotZ", "PhysxTendonAxisAPI:t")
    own = 'rel warpArtic:joints = [</j2>, </j1>]\ntoken[] warpArtic:axes = ["rotX", "rotY"]\n'
    stage = open_text(
        "".join(body(name) for name in "abc")
        + joint("j0", "Fixed", "", "/a")
        + generic("j1", ("/a", end), ("rotX",), ("PhysxTendonAxisRootAPI:t",), f'token[] {T}jointAxis = ["rotZ"]\n')
        + generic(
            "j2",
            ("/b", "/c"),
            ("rotX", "rotY"),
            mimic,
            "rel physxMimicJoint:rotZ:referenceJoint = </j1>\n"
            f'token physxMimicJoint:rotZ:referenceJointAxis = "rotY"\ntoken[] {T}jointAxis = ["rotZ"]\n',
        )
        + f'def WarpArticFixedTendon "t" {{\n{own}float[] warpArtic:coefficients = [1, 2]\n}}\n'
    )
    wrong = {
        "/j1.physxTendon:t:jointAxis",
        "/j2",
        "/j2.physxMimicJoint:rotZ:referenceJoint",
        "/j2.physxTendon:t:jointAxis",
        "/t.warpArtic:axes",
    }
    lost = {("joint-bodies", "/j1.physics:body1")} if end == "/nowhere" else set()
    assert told(stage) == {("axis-locked", path) for path in wrong} | lost


@pytest.mark.parametrize("kind", ["physx", "newton"])
def test_a_mimic_joint_that_is_refused_says_so_alone(kind):
    """Its other attributes are no further findings."""
    content, schema = {
        "physx": ("rel physxMimicJoint:rotZ:referenceJoint = </x>\nfloat physxMimicJoint:rotZ:gearing = 2", "rotZ"),
        "newton": ("rel newton:mimicJoint = </x>\nfloat newton:mimicCoef1 = 2", ""),
    }[kind]
    schema = f"PhysxMimicJointAPI:{schema}" if schema else "NewtonMimicAPI"
    stage = open_text(body("a") + body("b") + joint("j", "Revolute", "/a", "/b", AXIS + content, (schema,)))
    assert [rule for rule, _ in told(stage)] == ["mimic-reference"]
