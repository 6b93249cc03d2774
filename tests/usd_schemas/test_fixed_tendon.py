"""WarpArticFixedTendon: a tendon whose length is a sum over joint axes."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, open_text, warnings_of
from tests.usd_schemas.mechanisms import BALL, HINGE, SLIDE, chain, prim
from tests.usd_schemas.source import PER_DEGREE, attributes_of, line
from warp_artic.description.tendon import FixedTendon
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticFixedTendon")
OUTPUTS = {"length", "speed", "force"}
ROWS = {
    "stiffness": ("stiffness", 1e-3),
    "damping": ("damping", 1e-3),
    "limitStiffness": ("limit_stiffness", 1e-3),
    "restLength": ("rest_length", 0.01),
    "offset": ("offset", 0.01),
    "lowerLimit": ("lower", 0.01),
    "upperLimit": ("upper", 0.01),
}
"""Our field, and what a 1 is in centimetres and grams; in metres and kilograms it is 1."""
LISTS = {"jointIndices", "axes", "coefficients", "forceCoefficients"}
JOINTS = "rel warpArtic:joints = [</World/j1>, </World/j2>]\n"
TERMS = JOINTS + "double[] warpArtic:coefficients = [0.01, 0.02]\n"


def tendon(content: str, *joints: tuple, header: str = SI):
    """A tendon /World/t over joints of a chain."""
    return chain(*(joints or (HINGE, SLIDE)), header=header, more=prim("FixedTendon", "t", content))


def tendon_of(stage) -> FixedTendon:
    (found,) = read_stage(stage).articulations[0].fixed_tendons
    return found


def test_every_attribute_has_a_row():
    """Numbers and lists are tested below; the others are outputs."""
    names = {*ROWS, *OUTPUTS, *LISTS, "enabled"}
    assert {f"warpArtic:{name}" for name in names} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage becomes one in SI units."""
    field, small = ROWS[name]
    for header, factor in ((SI, 1.0), (SMALL_UNITS, small)):
        stage = tendon(f"{TERMS}double warpArtic:{name} = 3", header=header)
        assert getattr(tendon_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not [text for text in warnings_of(stage) if "not used" in text]


@pytest.mark.parametrize("header, length", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_coefficients_and_units(header, length):
    """Of a rotation they are lengths per degree, for the length and for the force; of a translation plain numbers."""
    content = JOINTS + "double[] warpArtic:coefficients = [0.01, 0.02]\n"
    content += "double[] warpArtic:forceCoefficients = [-0.03, 0.04]"
    found = tendon_of(tendon(content, header=header))
    assert (found.name, found.dofs) == ("/World/t", (0, 1))
    assert found.coefficients == pytest.approx((0.01 * PER_DEGREE * length, 0.02), rel=1e-12)
    assert found.force_coefficients == pytest.approx((-0.03 * PER_DEGREE * length, 0.04), rel=1e-12)


def test_a_pulley():
    """What the documentation says of a pulley: its radius times pi / 180 is the lever arm of the joint."""
    found = tendon_of(tendon(f"{JOINTS}double[] warpArtic:coefficients = [{0.25 * math.pi / 180!r}, 1]"))
    assert found.coefficients == pytest.approx((0.25, 1), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in ATTRIBUTES if ATTRIBUTES[name].default is not None])
def test_fallbacks(name):
    """To author a fallback changes nothing; coefficients alone are needed."""
    if name == "warpArtic:coefficients":
        return
    assert tendon_of(tendon(TERMS + line(ATTRIBUTES[name], name))) == tendon_of(tendon(TERMS))


def test_what_fallbacks_mean():
    """No spring, no limits, and forces by the same coefficients as the length."""
    found = tendon_of(tendon(TERMS))
    for name, (field, _) in ROWS.items():
        assert getattr(found, field) == ATTRIBUTES[f"warpArtic:{name}"].default
    assert found.enabled and found.force_coefficients == found.coefficients


def test_switched_off():
    """A tendon can be without effect."""
    assert not tendon_of(tendon(TERMS + "bool warpArtic:enabled = 0")).enabled


def test_axes_of_one_joint():
    """Indices name joints again, axes say which of their axes is meant."""
    content = """
    rel warpArtic:joints = [</World/j2>, </World/j1>]
    uniform int[] warpArtic:jointIndices = [0, 1, 0]
    uniform token[] warpArtic:axes = ["rotZ", "angular", "rotX"]
    double[] warpArtic:coefficients = [1, 2, 3]
    """
    found = tendon_of(tendon(content, HINGE, BALL))
    assert found.dofs == (3, 0, 1)
    assert found.coefficients == pytest.approx((PER_DEGREE, 2 * PER_DEGREE, 3 * PER_DEGREE))


def test_several_tendons_and_articulations():
    """A tendon may be anywhere on the stage; its joints tell to which articulation it belongs."""
    other = 'def Xform "Other" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n'
    other += 'def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {\nfloat physics:mass = 1\n}\n'
    other += 'def PhysicsPrismaticJoint "slide" {\nrel physics:body1 = </Other/a>\n}\n}\n'
    one = "rel warpArtic:joints = </Other/slide>\ndouble[] warpArtic:coefficients = [1]"
    outside = other + 'def Scope "tendons" {\n' + prim("FixedTendon", "b", TERMS)
    outside += prim("FixedTendon", "a", one) + prim("FixedTendon", "c", TERMS) + "}\n"
    trees = read_stage(chain(HINGE, SLIDE, outside=outside)).articulations
    assert {tree.path: [found.name for found in tree.fixed_tendons] for tree in trees} == {
        "/World": ["/tendons/b", "/tendons/c"],
        "/Other": ["/tendons/a"],
    }


@pytest.mark.parametrize("instanceable", [False, True])
def test_referenced_twice(instanceable):
    """Each copy of a robot has its tendon, shared prototype or not."""
    layer = tendon(TERMS).GetRootLayer()
    stage = open_text("")
    for name in ("/a", "/b"):
        copy = stage.DefinePrim(name, "Xform")
        copy.GetReferences().AddReference(layer.identifier, "/World")
        copy.SetInstanceable(instanceable)
    trees = read_stage(stage).articulations
    assert [[found.name for found in tree.fixed_tendons] for tree in trees] == [["/a/t"], ["/b/t"]]


def test_readings_tell_where_values_come_from():
    """For each value: attribute, authored value and unit, SI value and unit."""
    stage = tendon(TERMS + "double warpArtic:stiffness = 3000", header=SMALL_UNITS)
    found = {reading.field: reading for reading in inspect_stage(stage).readings["/World/t"]}
    assert (found["stiffness"].attribute, found["stiffness"].value) == ("/World/t.warpArtic:stiffness", 3.0)
    assert (found["coefficient"].authored, found["coefficient"].unit) == (0.02, "1")


@pytest.mark.parametrize(
    "content, error",
    [
        ("", "/World/t.warpArtic:joints: leads to no joint, must lead to at least one"),
        (
            "double warpArtic:joints = 1",
            "/World/t.warpArtic:joints: is no relationship that leads to prims, must be one",
        ),
        (
            "rel warpArtic:joints = </nowhere>",
            "/World/t.warpArtic:joints: leads to /nowhere, which is no joint; must lead to joints of one articulation",
        ),
        (
            "rel warpArtic:joints = [</World/j1>, </nowhere>]",
            "/World/t.warpArtic:joints: leads to /nowhere, which is no joint; must lead to joints of one articulation",
        ),
        (
            "rel warpArtic:joints = </World/off>",
            "/World/t.warpArtic:joints: leads to /World/off, which is in no articulation; "
            "must lead to joints of one articulation",
        ),
        (
            "rel warpArtic:joints = </World/held>",
            "/World/t.warpArtic:joints: /World/held is a fixed joint: it has no axis to couple",
        ),
        (JOINTS, "/World/t.warpArtic:coefficients: has no numbers for 2 terms, must have one for each"),
        (
            JOINTS + "double[] warpArtic:coefficients = [1]",
            "/World/t.warpArtic:coefficients: has 1 numbers for 2 terms, must have one for each",
        ),
        (
            TERMS + "double[] warpArtic:forceCoefficients = [1, 2, 3]",
            "/World/t.warpArtic:forceCoefficients: has 3 numbers for 2 terms, must have one for each",
        ),
        (
            TERMS + 'uniform token[] warpArtic:axes = ["rotX"]',
            "/World/t.warpArtic:axes: has 1 axes for 2 terms, must have one for each",
        ),
        (
            TERMS + "uniform int[] warpArtic:jointIndices = [0, 2]",
            "/World/t.warpArtic:jointIndices: has 2, must be from 0 to 1: places in a list of 2",
        ),
        (
            TERMS + "double[] warpArtic:jointIndices = [0.5, 1]",
            "/World/t.warpArtic:jointIndices: has 0.5, must be an array of whole numbers",
        ),
        (
            JOINTS + 'token[] warpArtic:coefficients = ["a", "b"]',
            "/World/t.warpArtic:coefficients: has 'a', must be an array of numbers",
        ),
        (TERMS + "double warpArtic:stiffness = -1", "/World/t: stiffness -1 N/m must be finite and not negative"),
        (TERMS + "double warpArtic:offset = inf", "/World/t.warpArtic:offset: is inf, must be finite"),
        (
            TERMS + "double warpArtic:lowerLimit = 1\ndouble warpArtic:upperLimit = 0",
            "/World/t: lower limit 1 m of the length is above upper limit 0 m",
        ),
        (TERMS + "int warpArtic:enabled = 2", "/World/t.warpArtic:enabled: is 2, must be true or false"),
    ],
)
def test_errors(content, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    off = 'def PhysicsRevoluteJoint "off" {\nrel physics:body1 = </World/l1>\nbool physics:jointEnabled = 0\n}\n'
    stage = chain(HINGE, SLIDE, more=prim("FixedTendon", "t", content) + off)
    assert errors_of(stage) == [error]
    assert not [text for text in warnings_of(stage) if "is not used" in text]


def test_an_attribute_that_is_none():
    """A name that the schema does not have is reported."""
    assert warnings_of(tendon(TERMS + "double warpArtic:tension = 1")) == ["/World/t.warpArtic:tension: is not used"]
