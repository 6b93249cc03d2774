"""Whatever is authored on tendons and mimic joints, a stage reads or is refused with sentences."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pxr import Sdf, Usd, Vt

from tests.usd.authoring import body, joint, open_text, schemas
from warp_artic.errors import ArticError
from warp_artic.usd.read_stage import read_stage

T = "physxTendon:t:"
LEADER = f"float[] {T}gearing = [1]\nfloat[] {T}forceCoefficient = [1]\n"
FOLLOWER = f"""float[] {T}gearing = [1]
rel physxMimicJoint:rotX:referenceJoint = </World/lead>
rel newton:mimicJoint = </World/lead>
"""
LEAF = f'rel {T}parentLink = </World/base>\ntoken {T}parentAttachment = "t"\n'
STAGE = (
    f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n'
    + body("base", "", ("PhysxTendonAttachmentRootAPI:t",))
    + body("a", LEAF, ("PhysxTendonAttachmentLeafAPI:t",))
    + body("b")
    + joint("held", "Fixed", "", "/World/base")
    + joint(
        "lead", "Revolute", "/World/base", "/World/a", LEADER, ("PhysxTendonAxisRootAPI:t", "PhysxLimitAPI:angular")
    )
    + joint(
        "follow",
        "Prismatic",
        "/World/a",
        "/World/b",
        FOLLOWER,
        ("PhysxTendonAxisAPI:t", "PhysxMimicJointAPI:rotX", "NewtonMimicAPI", "PhysicsDriveAPI:linear"),
    )
    + "}\n"
)
ROOT = ("stiffness", "damping", "limitStiffness", "offset", "tendonEnabled")
LENGTHS = ("restLength", "lowerLimit", "upperLimit")
AXIS = ("gearing", "forceCoefficient", "jointAxis")
MIMIC = ("gearing", "offset", "naturalFrequency", "dampingRatio", "referenceJoint", "referenceJointAxis")
PLACES = [
    *(("/World/lead", T + name) for name in (*ROOT, *LENGTHS, *AXIS)),
    *(("/World/follow", T + name) for name in AXIS),
    *(("/World/base", T + name) for name in (*ROOT, "localPos", "gearing")),
    *(("/World/a", T + name) for name in (*LENGTHS, "localPos", "gearing", "parentLink", "parentAttachment")),
    *(("/World/follow", f"physxMimicJoint:rotX:{name}") for name in MIMIC),
    *(("/World/follow", f"newton:mimic{name}") for name in ("Joint", "Coef0", "Coef1", "Enabled")),
    *(("/World/lead", f"physxLimit:angular:{name}") for name in ("stiffness", "damping", "restitution")),
]
NUMBERS = st.sampled_from([float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 3.4e38, -90.0, 1.0, 1e20])
NAMES = Sdf.ValueTypeNames
VALUES = st.one_of(
    st.tuples(st.sampled_from([NAMES.Float, NAMES.Double]), NUMBERS),
    st.tuples(st.just(NAMES.FloatArray), st.lists(NUMBERS, max_size=3).map(Vt.FloatArray)),
    st.tuples(st.just(NAMES.TokenArray), st.lists(st.sampled_from(["rotX", "q"]), max_size=2).map(Vt.TokenArray)),
    st.tuples(st.sampled_from([NAMES.Token, NAMES.String]), st.sampled_from(["", "t", "rotX", "transZ"])),
    st.tuples(st.sampled_from([NAMES.Bool, NAMES.Int]), st.sampled_from([0, 1])),
    st.tuples(st.just(None), st.sampled_from(["/World", "/World/a", "/World/lead", "/World/lead.x", "/World/follow"])),
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_no_value_gives_a_traceback(changes):
    """Values of the wrong type, and relationships to anywhere, are read or refused."""
    layer = open_text(STAGE).GetRootLayer()
    for (path, name), (kind, value) in changes:
        prim = layer.GetPrimAtPath(path)
        if name in prim.properties:
            del prim.properties[name]
        if kind is None:
            Sdf.RelationshipSpec(prim, name).targetPathList.explicitItems = [value]
        else:
            Sdf.AttributeSpec(prim, name, kind).default = value
    try:
        scene = read_stage(Usd.Stage.Open(layer))
    except ArticError as error:
        assert all(line.startswith("/World") for line in str(error).splitlines())
    else:
        (tree,) = scene.articulations
        assert (len(tree.fixed_tendons), len(tree.spatial_tendons), len(tree.mimics)) == (1, 1, 1)


def test_the_stage_reads_as_it_is():
    """Before any change the stage has a tendon of each kind and a mimic joint."""
    (tree,) = read_stage(open_text(STAGE)).articulations
    assert (len(tree.fixed_tendons), len(tree.spatial_tendons), len(tree.mimics)) == (1, 1, 1)
