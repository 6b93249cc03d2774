"""WarpArticSpatialTendon: a tendon through points of links."""

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, warnings_of
from tests.usd_schemas.mechanisms import HINGE, chain, prim
from tests.usd_schemas.source import attributes_of, line
from warp_artic.description.tendon import SpatialTendon
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticSpatialTendon")
ROWS = {
    "stiffness": ("stiffness", 1e-3),
    "damping": ("damping", 1e-3),
    "limitStiffness": ("limit_stiffness", 1e-3),
    "offset": ("offset", 0.01),
}
"""Our field, and what a 1 is in centimetres and grams; in metres and kilograms it is 1."""


def attachment(name: str, link: str, content: str = "", *below: str) -> str:
    """An attachment on a link, with those that follow it."""
    return prim("TendonAttachment", name, f"rel warpArtic:body = </World/{link}>\n{content}\n{''.join(below)}")


POINTS = attachment("root", "l0", "", attachment("tip", "l1"))


def tendon(content: str = "", points: str = POINTS, header: str = SI, beside: str = "", links: dict | None = None):
    """A tendon /World/t over two hinges."""
    return chain(HINGE, HINGE, header=header, more=prim("SpatialTendon", "t", content + points) + beside, links=links)


def tendon_of(stage) -> SpatialTendon:
    (found,) = read_stage(stage).articulations[0].spatial_tendons
    return found


def test_every_attribute_has_a_row():
    """Each is tested below."""
    assert {f"warpArtic:{name}" for name in {*ROWS, "forceRouting", "enabled"}} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage becomes one in SI units."""
    field, small = ROWS[name]
    for header, factor in ((SI, 1.0), (SMALL_UNITS, small)):
        stage = tendon(f"double warpArtic:{name} = 3\n", header=header)
        assert getattr(tendon_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    assert tendon_of(tendon(line(ATTRIBUTES[name], name))) == tendon_of(tendon())
    field = ROWS.get(name.partition(":")[2], ("", 0))[0]
    assert not field or getattr(tendon_of(tendon()), field) == ATTRIBUTES[name].default


def test_what_fallbacks_mean():
    """It acts, at its first and last segment."""
    assert (tendon_of(tendon()).enabled, tendon_of(tendon()).all_segments) == (True, False)


@pytest.mark.parametrize("word, everywhere", [("endSegments", False), ("allSegments", True)])
def test_force_routing(word, everywhere):
    """The words that the schema allows say where the force acts."""
    assert word in ATTRIBUTES["warpArtic:forceRouting"].allowedTokens
    assert tendon_of(tendon(f'uniform token warpArtic:forceRouting = "{word}"\n')).all_segments is everywhere


def test_switched_off():
    """A tendon can be without effect."""
    assert not tendon_of(tendon("bool warpArtic:enabled = 0\n")).enabled


def test_the_tree_of_prims_is_that_of_attachments():
    """Parents come before children, branch by branch; an attachment that none follows is a leaf."""
    points = attachment(
        "root",
        "l0",
        "",
        attachment("guide", "l0", "", attachment("fork", "l1", "", attachment("a", "l1"), attachment("b", "l2"))),
        attachment("c", "l2"),
    )
    found = tendon_of(tendon(points=points))
    names = ["root", "root/guide", "root/guide/fork", "root/guide/fork/a", "root/guide/fork/b", "root/c"]
    assert [one.name for one in found.attachments] == [f"/World/t/{name}" for name in names]
    assert [one.link for one in found.attachments] == [0, 0, 1, 1, 2, 2]
    assert [one.parent for one in found.attachments] == [None, 0, 1, 2, 2, 0]
    assert found.leaf_names == tuple(f"/World/t/{names[number]}" for number in (3, 4, 5))


def test_readings_tell_where_values_come_from():
    """Attribute, authored value and SI value."""
    stage = tendon("double warpArtic:stiffness = 3000\n", header=SMALL_UNITS)
    (found,) = inspect_stage(stage).readings["/World/t"]
    assert (found.attribute, found.authored, found.value) == ("/World/t.warpArtic:stiffness", 3000, 3)


LEAFLESS = attachment("root", "l0")


@pytest.mark.parametrize(
    "content, points, error",
    [
        ("", "", "/World/t: has 0 WarpArticTendonAttachment prims right below it, must have one: the root"),
        (
            "",
            POINTS + attachment("more", "l0", "", attachment("end", "l1")),
            "/World/t: has 2 WarpArticTendonAttachment prims right below it, must have one: the root",
        ),
        ("", LEAFLESS, "/World/t/root: has no leaf: no attachment is below it; at least one must be"),
        ("double warpArtic:damping = -1\n", POINTS, "/World/t: damping -1 N s/m must be finite and not negative"),
        ("double warpArtic:offset = nan\n", POINTS, "/World/t.warpArtic:offset: is nan, must be finite"),
        (
            'token warpArtic:forceRouting = "some"\n',
            POINTS,
            "/World/t.warpArtic:forceRouting: is 'some', must be one of endSegments, allSegments",
        ),
        ('token warpArtic:enabled = "no"\n', POINTS, "/World/t.warpArtic:enabled: is 'no', must be true or false"),
    ],
)
def test_errors(content, points, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    stage = tendon(content, points)
    assert errors_of(stage) == [error]
    assert not [text for text in warnings_of(stage) if "is not used" in text]


def test_attributes_of_a_refused_tendon_are_not_named_twice():
    """One error stands for the whole of it."""
    stage = tendon("double warpArtic:stiffness = 1\n", POINTS.replace("/World/l0", "/nowhere"))
    assert len(errors_of(stage)) == 1
    assert not warnings_of(stage)
