"""WarpArticTendonAttachment: a point that a spatial tendon passes."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, notes_of, warnings_of
from tests.usd_schemas.source import attributes_of, line
from tests.usd_schemas.test_spatial_tendon import POINTS, attachment, tendon, tendon_of
from warp_artic.usd.read_stage import inspect_stage

ATTRIBUTES = attributes_of("WarpArticTendonAttachment")
OUTPUTS = {"length", "speed", "force"}
LENGTHS = {"restLength": "rest_length", "lowerLimit": "lower", "upperLimit": "upper"}
TURNED = """def Xform "site" {
double3 xformOp:translate = (1, 2, 3)
float xformOp:rotateZ = 90
float3 xformOp:scale = (2, 2, 2)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]
}
"""


def tip(content: str = "", body: str = "l1", header: str = SI, **more):
    """A tendon from /World/l0 to this attachment."""
    return tendon(points=attachment("root", "l0", "", attachment("tip", body, content)), header=header, **more)


def test_every_attribute_has_a_row():
    """Each is tested below; the others are outputs."""
    names = {*LENGTHS, *OUTPUTS, "localPos", "coefficient"}
    assert {f"warpArtic:{name}" for name in names} == set(ATTRIBUTES)


@pytest.mark.parametrize("header, length", [(SI, 1.0), (SMALL_UNITS, 0.01)])
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_and_units(name, header, length):
    """A length in the units of the stage becomes one in metres."""
    stage = tip(f"double warpArtic:{name} = 3", header=header)
    (leaf,) = tendon_of(stage).leaves
    assert getattr(leaf, LENGTHS[name]) == pytest.approx(3 * length, rel=1e-12)
    assert not warnings_of(stage)


@pytest.mark.parametrize("header, length", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_position_and_coefficient(header, length):
    """A position is a length, a coefficient has no unit."""
    stage = tip("point3d warpArtic:localPos = (1, 2, 3)\ndouble warpArtic:coefficient = -0.5", header=header)
    found = tendon_of(stage).attachments[1]
    assert (found.link, found.coefficient) == (1, -0.5)
    assert found.position == pytest.approx((length, 2 * length, 3 * length), rel=1e-12)


@pytest.mark.parametrize("name", [name for name, spec in ATTRIBUTES.items() if spec.default is not None])
def test_fallbacks(name):
    """To author a fallback changes nothing."""
    assert tendon_of(tip(line(ATTRIBUTES[name], name))) == tendon_of(tip())


def test_what_fallbacks_mean():
    """The origin of the body, a weight of 1, no limits, and the length at the start as rest length."""
    found = tendon_of(tip())
    (leaf,) = found.leaves
    assert (found.attachments[1].position, found.attachments[1].coefficient) == ((0.0, 0.0, 0.0), 1.0)
    assert (leaf.rest_length, leaf.lower, leaf.upper) == (None, -math.inf, math.inf)


def test_scale_of_the_body():
    """It stretches positions, as it does the frames of joints."""
    scaled = 'float3 xformOp:scale = (2, 3, 4)\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]'
    stage = tip("point3d warpArtic:localPos = (1, 1, 1)", header=SMALL_UNITS, links={1: scaled})
    assert tendon_of(stage).attachments[1].position == pytest.approx((0.02, 0.03, 0.04))


def test_a_prim_below_a_body():
    """A point can be given in the space of any prim that moves with a link, such as a site of its own."""
    stage = tip("point3d warpArtic:localPos = (1, 0, 0)", "l1/site", SMALL_UNITS, links={1: TURNED})
    found = tendon_of(stage).attachments[1]
    assert found.link == 1
    assert found.position == pytest.approx((0.01, 0.04, 0.03), abs=1e-12)


def test_what_has_no_effect():
    """The root has no segment before it, and lengths are those of leaves: anything else is named."""
    root = "double warpArtic:coefficient = 2\ndouble warpArtic:upperLimit = 1"
    points = attachment("root", "l0", root, attachment("guide", "l1", "double warpArtic:restLength = 1", "{tip}"))
    stage = tendon(points=points.replace("{tip}", attachment("tip", "l2")))
    assert tendon_of(stage).attachments[0].coefficient == 1.0
    assert tendon_of(stage).leaves[0].rest_length is None
    assert (
        "/World/t/root.warpArtic:coefficient: is not used: no segment leads to the root of a spatial tendon"
        in notes_of(stage)
    )
    assert warnings_of(stage) == [
        f"/World/t/{path}: is not used: another attachment follows, and only the end of a sub-tendon has one"
        for path in ("root.warpArtic:upperLimit", "root/guide.warpArtic:restLength")
    ]


def test_readings_tell_where_values_come_from():
    """The values of a leaf are listed under its name."""
    (found,) = inspect_stage(tip("double warpArtic:restLength = 70", header=SMALL_UNITS)).readings["/World/t/root/tip"]
    assert (found.authored, found.value) == (70, pytest.approx(0.7))


@pytest.mark.parametrize(
    "points, error",
    [
        (
            attachment("root", "nowhere", "", attachment("tip", "l1")),
            "/World/t/root.warpArtic:body: leads to /World/nowhere, which is no link of an articulation, nor below "
            "one; it must lead to a link",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "nowhere")),
            "/World/t/root/tip.warpArtic:body: leads to /World/nowhere, which does not exist; it must be a link",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "box")),
            "/World/t/root/tip.warpArtic:body: leads to /World/box, which moves with no rigid body: not a link of the "
            "articulation /World",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "l1.visibility")),
            "/World/t/root/tip.warpArtic:body: leads to /World/l1.visibility, which is a property; it must be a link",
        ),
        (
            attachment("root", "l0", "", 'def WarpArticTendonAttachment "tip" {\n}\n'),
            "/World/t/root/tip.warpArtic:body: leads to 0 prims, must lead to one",
        ),
        (
            'def WarpArticTendonAttachment "root" {\n' + attachment("tip", "l1") + "}\n",
            "/World/t/root.warpArtic:body: leads to no prim; it must lead to a link",
        ),
        (
            POINTS.replace("rel warpArtic:body = </World/l0>", "double warpArtic:body = 1"),
            "/World/t/root.warpArtic:body: is no relationship that leads to prims, must be one",
        ),
        (
            POINTS.replace("rel warpArtic:body = </World/l1>", "double warpArtic:body = 1"),
            "/World/t/root/tip.warpArtic:body: is no relationship that leads to prims, must be one",
        ),
        (
            POINTS.replace("</World/l0>", "[</World/l0>, </World/l1>]"),
            "/World/t/root.warpArtic:body: leads to 2 prims, must lead to one",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "l1", "double warpArtic:restLength = -1")),
            "/World/t/root/tip: rest length -1 m must be finite and not negative",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "l1", "double warpArtic:coefficient = nan")),
            "/World/t/root/tip.warpArtic:coefficient: is nan, must be finite",
        ),
        (
            attachment("root", "l0", "", attachment("tip", "l1", "double warpArtic:localPos = 1")),
            "/World/t/root/tip.warpArtic:localPos: is 1.0, must be three numbers",
        ),
    ],
)
def test_errors(points, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    stage = tendon(points=points, beside='def Xform "box" {\n}\n')
    assert errors_of(stage) == [error]
    assert not [text for text in warnings_of(stage) if "is not used" in text]


def test_an_attachment_of_no_tendon():
    """It is reported where it is: on its own, or below a prim that is none."""
    lost = attachment("lost", "l0") + 'def Scope "group" {\n' + attachment("deep", "l1") + "}\n"
    text = "is right below neither a WarpArticSpatialTendon nor a WarpArticTendonAttachment"
    assert errors_of(tendon(beside=lost)) == [f"/World/lost: {text}", f"/World/group/deep: {text}"]
