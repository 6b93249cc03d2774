"""WarpArticJointFrameAPI: scales of the inverse masses and inertias of the bodies of a joint."""

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, joint, notes_of, open_text, warnings_of
from tests.usd.test_read_trees import bodies, chain
from tests.usd_schemas.source import attributes_of, line
from warp_artic import author
from warp_artic.description.joint import WORLD
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticJointFrameAPI")
FIELDS = {
    f"warpArtic:jointFrame:inverse{what}Scale{side}": (f"inverse_{what.lower()}_scales", side)
    for what in ("Mass", "Inertia")
    for side in range(2)
}
API = ("WarpArticJointFrameAPI",)


def pair(content, more=""):
    """Two free bodies with a ball joint."""
    return bodies("a", "b") + joint("ab", "Spherical", "/a", "/b", content=content, applied=API) + more


def loop_of(stage):
    (loop,) = (loop for tree in read_stage(stage).articulations for loop in tree.constraints)
    return loop


def test_every_attribute_has_a_row():
    """All of them are inputs."""
    assert set(ATTRIBUTES) == set(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_reading(name):
    """A number without a unit; the joint is beside two trees of one body each, which is told."""
    field, side = FIELDS[name]
    wanted = (3.0, 1.0) if side == 0 else (1.0, 3.0)
    for header in (SI, SMALL_UNITS):
        stage = open_text(pair(f"double {name} = 3"), header)
        scene = read_stage(stage)
        assert [len(tree.links) for tree in scene.articulations] == [1, 1]
        loop = loop_of(stage)
        assert (loop.name, getattr(loop, field)) == ("/ab", wanted)
        assert "/ab: scales masses or inertias of its bodies: it is held beside the trees" in notes_of(stage)
        assert not any("Scale" in text for text in warnings_of(stage))
    readings = inspect_stage(stage).readings["/ab"]
    assert [one.attribute for one in readings] == [f"/ab.{name}"]


@pytest.mark.parametrize("name", FIELDS)
def test_fallbacks(name):
    """To author a fallback changes nothing: the joint is one of a tree."""
    spec = ATTRIBUTES[name]
    (tree,) = read_stage(open_text(pair(line(spec, spec.name)))).articulations
    assert [one.path for one in tree.joints] == ["/ab"] and not tree.constraints


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", ["-1", "inf", "nan"])
def test_errors(name, value):
    """One line with the path of the attribute."""
    (error,) = set(errors_of(open_text(pair(f"double {name} = {value}"))))
    assert error.startswith(f"/ab.{name}: is ") and "must be finite" in error


def test_links_of_trees_have_no_scale():
    """The error names the joint, and what holds the body."""
    text = bodies("a", "b", "c") + chain("b", "c")
    text += joint(
        "ab", "Spherical", "/a", "/b", content="double warpArtic:jointFrame:inverseMassScale1 = 2", applied=API
    )
    (error,) = errors_of(open_text(text))
    assert error.startswith("/ab: ") and "/b, which is no lone free body: /bc joins it to a tree" in error
    text = bodies("a") + joint("ab", "Spherical", "", "/a", content=f"double {next(iter(FIELDS))} = 0", applied=API)
    loop = loop_of(open_text(text))
    assert (loop.link0, loop.link1, loop.inverse_mass_scales) == (WORLD, 0, (0.0, 1.0))


def test_authored():
    """What is authored is read again."""
    stage = open_text(pair(""))
    author.joint_frame(stage, "/ab", inverse_mass_scale0=2.0, inverse_inertia_scale1=0.5)
    loop = loop_of(stage)
    assert (loop.inverse_mass_scales, loop.inverse_inertia_scales) == ((2.0, 1.0), (1.0, 0.5))
    assert loop.words["scales"] == "1/m by 2 and 1, 1/I by 1 and 0.5"
