"""Tendons of MuJoCo's schemas."""

import pytest

from tests.usd.authoring import (
    SI,
    SMALL_UNITS,
    body,
    errors_of,
    joint,
    open_text,
    schemas,
    warnings_of,
)
from tests.usd.mjc_stages import DEGREE, hinge, tendon, tree_of
from tests.usd_schemas.mechanisms import HINGE, SLIDE, chain
from warp_artic.usd.read_stage import inspect_stage


@pytest.mark.parametrize("header, distance, mass", [(SI, 1.0, 1.0), (SMALL_UNITS, 0.01, 0.001)])
def test_fixed_tendon(header, distance, mass):
    """Coefficients are per radian, or per distance on a slide; lengths are in stage units."""
    content = """
    double[] mjc:path:coef = [0.5, -2]
    int[] mjc:path:indices = [1, 0]
    double mjc:stiffness = 30
    double mjc:damping = 4
    double[] mjc:springlength = [0.25]
    """
    (found,) = tree_of(chain(HINGE, SLIDE, more=tendon(content), header=header)).fixed_tendons
    assert (found.name, found.dofs) == ("/World/t", (1, 0))
    assert found.coefficients == found.force_coefficients == pytest.approx((0.5, -2 * distance))
    assert (found.stiffness, found.damping, found.rest_length) == pytest.approx((30 * mass, 4 * mass, 0.25 * distance))
    assert (found.offset, found.limit_stiffness) == (0.0, 0.0)


@pytest.mark.parametrize("springlength", ["", "double[] mjc:springlength = [-1, -1]"])
def test_rest_length_at_the_springs(springlength):
    """Without a length the spring rests where all joints are at springref; lengths count from ref."""
    joints = ("Revolute", ("MjcJointAPI",), "double mjc:ref = 10\ndouble mjc:springref = 30")
    stage = chain(joints, HINGE, more=tendon(f"double[] mjc:path:coef = [0.5, 2]\n{springlength}"))
    (found,) = tree_of(stage).fixed_tendons
    assert (found.offset, found.rest_length) == pytest.approx((5 * DEGREE, 15 * DEGREE))


def test_deadband_of_a_tendon():
    """Between two spring lengths there is no force, beyond them that of the spring."""
    content = "double[] mjc:path:coef = [1, 1]\ndouble mjc:stiffness = 30\ndouble[] mjc:springlength = [0.1, 0.4]"
    (found,) = tree_of(chain(HINGE, HINGE, more=tendon(content))).fixed_tendons
    assert (found.stiffness, found.limit_stiffness, found.lower, found.upper) == (0.0, 30.0, 0.1, 0.4)


def test_what_a_tendon_has_that_is_not_simulated():
    content = """
    double[] mjc:path:coef = [1, 1]
    double mjc:range:min = 0
    double mjc:range:max = 2
    double mjc:armature = 0.1
    double mjc:frictionloss = 0.2
    double[] mjc:solreflimit = [0.1, 1]
    double[] mjc:solimplimit = [0.9, 0.95, 0.001, 0.5, 2]
    """
    texts = warnings_of(chain(HINGE, HINGE, more=tendon(content)))
    assert sorted(texts) == [
        "/World/t.mjc:armature: is 0.1; the inertia of a tendon is not simulated yet",
        "/World/t.mjc:frictionloss: is 0.2; dry friction of a tendon is not simulated yet",
        "/World/t.mjc:range: is 0 to 2; a hard range of lengths is not simulated yet",
        "/World/t.mjc:solreflimit: is [0.1, 1]; the compliance of a limit in solver parameters is not simulated yet",
    ]


@pytest.mark.parametrize(
    "content, path, error",
    [
        ("", "</World/j1>", "/World/t.mjc:path:coef: has no numbers for 1 terms, must have one for each"),
        ("double[] mjc:path:coef = [1, 1]", "</World/j1>", "/World/t.mjc:path:coef: has 2 numbers for 1 terms"),
        ("double[] mjc:path:coef = [1, 1]", "</World/j1>, </nowhere>", "/World/t.mjc:path: leads to /nowhere, which"),
        ("double[] mjc:path:coef = [1]\ndouble mjc:stiffness = -1", "</World/j1>", "/World/t.mjc:stiffness: is -1"),
    ],
)
def test_wrong_tendons(content, path, error):
    (text,) = errors_of(chain(HINGE, HINGE, more=tendon(content, path)))
    assert text.startswith(error)


def site(name: str, at: tuple, applied: str = "MjcSiteAPI") -> str:
    order = 'uniform token[] xformOpOrder = ["xformOp:translate"]'
    return f'def Xform "{name}" {schemas(applied)} {{\ndouble3 xformOp:translate = {at}\n{order}\n}}\n'


def routed(
    content: str,
    applied: str = "MjcSiteAPI",
    path: str = "</World/l0/a>, </World/l1/b>, </World/l2/c>",
    kinds=(HINGE, HINGE),
):
    links = {0: site("a", (0, 0, 0.5)), 1: site("b", (0, 0.25, 0), applied), 2: site("c", (1, 0, 0))}
    more = f'def MjcTendon "t" {{\nrel mjc:path = [{path}]\n{content}\n}}\n'
    return chain(*kinds, more=more, links=links)


def test_tendon_through_sites():
    """Every segment pulls, by its share of the length."""
    content = "double[] mjc:path:divisors = [2]\ndouble mjc:stiffness = 30\ndouble[] mjc:springlength = [1.5]"
    stage = routed(content + "\nint[] mjc:path:segments = [0, 0, 0]")
    assert warnings_of(stage) == []
    (found,) = tree_of(stage).spatial_tendons
    assert [(one.link, one.position, one.parent, one.coefficient) for one in found.attachments] == [
        (0, (0.0, 0.0, 0.5), None, 1.0),
        (1, (0.0, 0.25, 0.0), 0, 0.5),
        (2, (1.0, 0.0, 0.0), 1, 0.5),
    ]
    assert (found.stiffness, found.all_segments) == (30.0, True)
    assert [(leaf.attachment, leaf.rest_length) for leaf in found.leaves] == [(2, 1.5)]
    assert tree_of(routed("")).spatial_tendons[0].leaves[0].rest_length is None


def test_rest_length_through_sites_where_springs_rest():
    """Without a length of the spring it is that at the springrefs, as in MuJoCo, wherever the joints start."""
    mujoco = pytest.importorskip("mujoco")
    text = """
    <mujoco><compiler angle="degree"/><worldbody><body><freejoint/><geom size=".1"/><site name="a" pos="0 0 .5"/>
    <body pos="1 0 0"><joint axis="1 0 0" ref="10" springref="50"/><geom size=".1"/><site name="b" pos="0 .25 0"/>
    <body pos="1 0 0"><joint type="slide" axis="1 0 0" springref="0.3"/><geom size=".1"/><site name="c" pos="1 0 0"/>
    </body></body></body></worldbody>
    <tendon><spatial stiffness="3"><site site="a"/><site site="b"/><site site="c"/></spatial></tendon></mujoco>
    """
    expected = mujoco.MjModel.from_xml_string(text).tendon_lengthspring[0, 0]
    first = ("Revolute", ("MjcJointAPI",), "double mjc:ref = 10\ndouble mjc:springref = 50")
    second = ("Prismatic", ("MjcJointAPI",), "double mjc:springref = 0.3")
    (found,) = tree_of(routed("double mjc:stiffness = 3", kinds=(first, second))).spatial_tendons
    assert found.leaves[0].rest_length == pytest.approx(expected, rel=1e-9)


def test_limits_beside_a_reference():
    """Limits are those of UsdPhysics, about the authored poses, which is said where MuJoCo counts from elsewhere."""
    bounds = "float physics:lowerLimit = -20\nfloat physics:upperLimit = 40\n"
    stage = hinge(bounds + "double mjc:ref = 10")
    assert tree_of(stage).dofs[0].limit.upper == pytest.approx(40 * DEGREE)
    found = [one for one in inspect_stage(stage).diagnostics if one.rule == "limit-reference"]
    assert [one.path for one in found] == ["/World/hinge.mjc:ref"]
    for content in (bounds, bounds + "double mjc:ref = 0", "double mjc:ref = 10"):
        assert not [one for one in inspect_stage(hinge(content)).diagnostics if one.rule == "limit-reference"]


@pytest.mark.parametrize(
    "stage, text",
    [
        (routed("int[] mjc:path:segments = [0, 0, 1]"), "has pulleys"),
        (routed("", "PhysicsCollisionAPI"), "wraps about /World/l1/b, which is no site"),
        (routed("", path="</World/l0/a>"), "leads through fewer than two sites"),
        (routed('token mjc:type = "fixed"'), "leads over sites, but is of the type fixed"),
        (routed("", path="</World/j1>"), "leads over a joint, but is of the type spatial"),
        (routed("", path="</nowhere>"), "starts at no joint and no link of an articulation"),
    ],
)
def test_tendons_that_are_not_simulated(stage, text):
    assert [found for found in warnings_of(stage) if "tendon" in found] == [
        f"/World/t: tendon: {text}: not simulated yet"
    ]


def test_tendon_of_no_articulation():
    """Of bodies without joints."""
    text = body("a") + joint("j", "Revolute", "/a", "/gone", "bool physics:jointEnabled = 0")
    stage = open_text(text + 'def MjcTendon "t" {\ntoken mjc:type = "fixed"\nrel mjc:path = </j>\n}\n')
    assert any("starts at no joint" in found for found in warnings_of(stage))
