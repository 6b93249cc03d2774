"""Spatial tendons: attachments with their units and order, and each error."""

import math
from pathlib import Path

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, notes_of, open_text, schemas, warnings_of
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import inspect_stage, read_stage

STAGES = Path(__file__).parent.parent / "data" / "oracle" / "stages"
SCHEMA = {
    "root": "PhysxTendonAttachmentRootAPI",
    "mid": "PhysxTendonAttachmentAPI",
    "leaf": "PhysxTendonAttachmentLeafAPI",
}


def point(kind: str, name: str, parent: str = "", content: str = "") -> tuple[str, str]:
    """A schema and the content of an attachment; its parent is `link:attachment`, and attributes go by short names."""
    text = "".join(
        f"{kind_of} physxTendon:{name}:{rest}\n"
        for kind_of, rest in (line.split(" ", 1) for line in content.split("\n") if line)
    )
    if parent:
        link, _, attachment = parent.partition(":")
        text += f"rel physxTendon:{name}:parentLink = </World/{link}>\n"
        text += f'token physxTendon:{name}:parentAttachment = "{attachment}"\n'
    return f"{SCHEMA[kind]}:{name}", text


def chain(*links: list, header: str = SI, scale: str = "", more: str = ""):
    """Links /World/l0, l1 ... in a chain of hinges, each with its attachments."""
    text = joint("held", "Fixed", "", "/World/l0")
    for number, points in enumerate(links):
        applied, content = tuple(one[0] for one in points), "".join(one[1] for one in points)
        if scale:
            content += f"float3 xformOp:scale = {scale}\n"
            content += 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
        text += body(f"l{number}", content, applied)
        if number:
            text += joint(f"j{number}", "Revolute", f"/World/l{number - 1}", f"/World/l{number}")
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n', header)


def tendon_of(stage):
    """The only spatial tendon of a stage."""
    (tendon,) = read_stage(stage).articulations[0].spatial_tendons
    return tendon


ROOT_VALUES = """point3f localPos = (10, 20, 30)
float stiffness = 3000
float damping = 200
float limitStiffness = 5000
float offset = 10
bool tendonEnabled = 0"""
LEAF_VALUES = """point3f localPos = (-10, 0, 5)
float gearing = 0.8
float restLength = 70
float lowerLimit = -40
float upperLimit = 90"""


@pytest.mark.parametrize("header, length, mass", [(SI, 1.0, 1.0), (SMALL_UNITS, 0.01, 0.001)])
def test_every_attribute(header, length, mass):
    """Root and leaf in SI units; a gearing has no unit."""
    tendon = tendon_of(
        chain([point("root", "r", "", ROOT_VALUES)], [point("leaf", "e", "l0:r", LEAF_VALUES)], header=header)
    )
    root, end = tendon.attachments
    assert (tendon.name, tendon.enabled, tendon.all_segments) == ("/World/l0:r", False, False)
    assert (tendon.stiffness, tendon.damping) == pytest.approx((3000 * mass, 200 * mass))
    assert (tendon.limit_stiffness, tendon.offset) == pytest.approx((5000 * mass, 10 * length))
    assert (root.name, root.link, root.parent, root.coefficient) == ("/World/l0:r", 0, None, 1.0)
    assert root.position == pytest.approx((10 * length, 20 * length, 30 * length))
    assert (end.name, end.link, end.parent, end.coefficient) == ("/World/l1:e", 1, 0, pytest.approx(0.8))
    assert end.position == pytest.approx((-10 * length, 0, 5 * length))
    (leaf,) = tendon.leaves
    assert leaf.attachment == 1
    assert (leaf.rest_length, leaf.lower, leaf.upper) == pytest.approx((70 * length, -40 * length, 90 * length))
    assert tendon.leaf_names == ("/World/l1:e",)


def test_defaults():
    """Without values a tendon has no spring, its length at the start as rest length, and no limits."""
    tendon = tendon_of(chain([point("root", "r")], [point("leaf", "e", "l0:r")]))
    (leaf,) = tendon.leaves
    assert (tendon.stiffness, tendon.damping, tendon.limit_stiffness, tendon.offset) == (0.0, 0.0, 0.0, 0.0)
    assert (leaf.rest_length, leaf.lower, leaf.upper) == (None, -math.inf, math.inf)
    assert (tendon.attachments[1].position, tendon.attachments[1].coefficient) == ((0.0, 0.0, 0.0), 1.0)


def test_negative_rest_length_is_that_of_the_start():
    """Any negative rest length means unset."""
    assert (
        tendon_of(chain([point("root", "r")], [point("leaf", "e", "l0:r", "float restLength = -1")]))
        .leaves[0]
        .rest_length
        is None
    )


def test_positions_scale_with_the_link():
    """The scale of a link stretches its attachments, as it does the frames of joints."""
    stage = chain(
        [point("root", "r", "", "point3f localPos = (1, 1, 1)")], [point("leaf", "e", "l0:r")], scale="(2, 3, 4)"
    )
    assert tendon_of(stage).attachments[0].position == pytest.approx((2, 3, 4))


def test_branches_and_several_attachments_on_a_link():
    """Attachments come parents first, branch by branch; each leaf ends a sub-tendon."""
    stage = chain(
        [point("root", "r"), point("mid", "guide", "l0:r")],
        [point("mid", "fork", "l0:guide"), point("leaf", "a", "l1:fork")],
        [point("leaf", "b", "l1:fork"), point("leaf", "c", "l0:r")],
    )
    tendon = tendon_of(stage)
    names = ["l0:r", "l0:guide", "l1:fork", "l1:a", "l2:b", "l2:c"]
    assert [attachment.name for attachment in tendon.attachments] == [f"/World/{name}" for name in names]
    assert [attachment.link for attachment in tendon.attachments] == [0, 0, 1, 1, 2, 2]
    assert [attachment.parent for attachment in tendon.attachments] == [None, 0, 1, 2, 2, 0]
    assert [leaf.attachment for leaf in tendon.leaves] == [3, 4, 5]


def test_parents_may_be_on_later_links():
    """The order of the attachments is that of the tendon, not of the links."""
    tendon = tendon_of(chain([point("leaf", "e", "l2:m")], [point("root", "r")], [point("mid", "m", "l1:r")]))
    assert [attachment.name for attachment in tendon.attachments] == ["/World/l1:r", "/World/l2:m", "/World/l0:e"]


def test_several_tendons():
    """Tendons are in the order of their roots."""
    stage = chain([point("root", "b"), point("root", "a")], [point("leaf", "x", "l0:a"), point("leaf", "y", "l0:b")])
    tendons = read_stage(stage).articulations[0].spatial_tendons
    assert [(tendon.name, tendon.leaf_names) for tendon in tendons] == [
        ("/World/l0:a", ("/World/l1:x",)),
        ("/World/l0:b", ("/World/l1:y",)),
    ]


def test_readings_tell_where_values_come_from():
    """The values of a root are listed under the tendon, those of a leaf under the leaf."""
    stage = chain([point("root", "r", "", ROOT_VALUES)], [point("leaf", "e", "l0:r", LEAF_VALUES)], header=SMALL_UNITS)
    readings = inspect_stage(stage).readings
    assert {reading.field for reading in readings["/World/l0:r"]} == {
        "stiffness",
        "damping",
        "limit_stiffness",
        "offset",
    }
    found = {reading.field: reading for reading in readings["/World/l1:e"]}
    assert (found["rest_length"].authored, found["rest_length"].value) == (70.0, pytest.approx(0.7))


def test_root_has_no_gearing():
    """A gearing on the root weighs nothing, and that is noted."""
    stage = chain([point("root", "r", "", "float gearing = 3")], [point("leaf", "e", "l0:r")])
    assert tendon_of(stage).attachments[0].coefficient == 1.0
    assert "/World/l0.physxTendon:r:gearing: is not used: no segment leads to the root of a spatial tendon" in notes_of(
        stage
    )


def test_dead_ends_are_left_out_with_a_warning():
    """An attachment that no leaf follows is named and has no effect."""
    stage = chain(
        [point("root", "r"), point("mid", "lost", "l0:r")],
        [point("mid", "more", "l0:lost"), point("leaf", "e", "l0:r")],
    )
    assert [attachment.name for attachment in tendon_of(stage).attachments] == ["/World/l0:r", "/World/l1:e"]
    warnings = warnings_of(stage)
    assert "/World/l0: the tendon attachment lost has no effect: no leaf follows it" in warnings
    assert "/World/l1: the tendon attachment more has no effect: no leaf follows it" in warnings


TIED = [point("root", "r")], [point("leaf", "e", "l0:r")]


@pytest.mark.parametrize(
    "stage, errors",
    [
        (
            chain(*TIED, [point("mid", "m")]),
            [
                "/World/l2: the tendon attachment m has no root: physxTendon:m:parentLink must lead to one link, and "
                "physxTendon:m:parentAttachment name an attachment there (found 0 links and '')"
            ],
        ),
        (
            chain([], [point("leaf", "e")]),
            [
                "/World/l1: the tendon leaf e has no root: physxTendon:e:parentLink must lead to one link, and "
                "physxTendon:e:parentAttachment name an attachment there (found 0 links and '')"
            ],
        ),
        (
            chain(*TIED, [point("leaf", "f", "l0:x")]),
            ["/World/l2: the tendon leaf f follows an attachment of /World/l0, which has no attachment x (it has r)"],
        ),
        (
            chain(*TIED, [point("leaf", "f", "nowhere:r")]),
            [
                "/World/l2: the tendon leaf f follows an attachment of /World/nowhere, which is not a link of the "
                "articulation /World"
            ],
        ),
        (
            chain(*TIED, [point("leaf", "f", "l1:e")]),
            ["/World/l2: the parent of the tendon leaf f, /World/l1:e, is a leaf, where a sub-tendon ends"],
        ),
        (
            chain(*TIED, [point("mid", "a", "l2:b"), point("mid", "b", "l2:a")]),
            ["/World/l2: the tendon attachment a follows itself: /World/l2:a -> /World/l2:b -> /World/l2:a"],
        ),
        (
            chain(*TIED, [point("leaf", "s", "l2:s")]),
            ["/World/l2: the parent of the tendon leaf s, /World/l2:s, is a leaf, where a sub-tendon ends"],
        ),
        (
            chain([point("root", "r")], []),
            [
                "/World/l0: the spatial tendon r has no leaf: apply PhysxTendonAttachmentLeafAPI to an attachment that "
                "leads to it"
            ],
        ),
        (
            chain(*TIED, [point("root", "q"), point("leaf", "q")]),
            ["/World/l2: the tendon attachment q is a root and a leaf; it can be one of them"],
        ),
        (
            chain(*TIED, more=f'def Xform "frame" {schemas("PhysxTendonAttachmentLeafAPI:f")} {{\n}}\n'),
            ["/World/frame: has the tendon leaf f, but is no link of an articulation, must be one"],
        ),
        (
            chain(*TIED, more=body("k", "bool physics:kinematicEnabled = 1", ("PhysxTendonAttachmentRootAPI:k",))),
            [
                "/World/k: has the spatial tendon k, but is no link of an articulation (it is kinematic or disabled), "
                "must be one"
            ],
        ),
        (
            chain([point("root", "r", "", "float damping = -1")], [point("leaf", "e", "l0:r")]),
            ["/World/l0:r: damping -1 N s/m must be finite and not negative"],
        ),
        (
            chain([point("root", "r")], [point("leaf", "e", "l0:r", "float lowerLimit = 2\nfloat upperLimit = 1")]),
            ["/World/l1:e: lower limit 2 m of the length is above upper limit 1 m"],
        ),
        (
            chain([point("root", "r")], [point("leaf", "e", "l0:r", "float restLength = inf")]),
            ["/World/l1:e: rest length inf m must be finite and not negative"],
        ),
        (
            chain([point("root", "r")], [point("leaf", "e", "l0:r", "float gearing = nan")]),
            ["/World/l1.physxTendon:e:gearing: is nan, must be finite"],
        ),
    ],
)
def test_errors(stage, errors):
    """Each error is one line with the prim, what was found and what is allowed."""
    assert errors_of(stage) == errors


def test_link_of_another_articulation():
    """A tendon stays in one articulation."""
    other = body("lone")
    stage = (
        chain(*TIED, [point("leaf", "f", "x:r")], more="").GetRootLayer().ExportToString().replace("/World/x", "/lone")
    )
    (error,) = errors_of(open_text(stage.partition(")")[2] + other))
    assert error == (
        "/World/l2: the tendon leaf f follows an attachment of /lone, which is not a link of the articulation /World"
    )


def test_long_tendons():
    """A tendon may pass thousands of attachments."""
    points = [point("root", "p0"), *(point("mid", f"p{i}", f"l0:p{i - 1}") for i in range(1, 2000))]
    tendon = tendon_of(chain(points, [point("leaf", "e", "l0:p1999")]))
    assert [attachment.parent for attachment in tendon.attachments] == [None, *range(2000)]


def test_oracle_stage_of_one_leaf():
    """A spring of 300 N/m and 4 N s/m from the base to the rod, 0.7 m long at rest."""
    tendon = tendon_of(STAGES / "spatial_tendon_single.usda")
    assert [attachment.name for attachment in tendon.attachments] == ["/World/Robot/base:root", "/World/Robot/rod:leaf"]
    assert tendon.attachments[0].position == pytest.approx((0.4, 0.0, 0.5))
    assert tendon.attachments[1].position == pytest.approx((0.35, 0.05, 0.02))
    assert (tendon.stiffness, tendon.damping, tendon.offset) == (300.0, 4.0, 0.0)
    assert tendon.leaves[0].rest_length == pytest.approx(0.7)


def test_oracle_stage_of_two_leaves():
    """One root, one attachment on the way, two leaves with their own gearing and rest length."""
    tendon = tendon_of(STAGES / "spatial_tendon_two_leaves.usda")
    assert [attachment.parent for attachment in tendon.attachments] == [None, 0, 1, 1]
    assert [attachment.coefficient for attachment in tendon.attachments] == pytest.approx([1.0, 1.0, 0.8, 1.3])
    assert [leaf.rest_length for leaf in tendon.leaves] == pytest.approx([0.62, 0.75])
    assert tendon.leaf_names == ("/World/Robot/c:leafc", "/World/Robot/d:leafd")
    assert (tendon.stiffness, tendon.damping, tendon.offset) == pytest.approx((120.0, 12.0, 0.02))


def test_a_simulated_family_is_not_reported(monkeypatch):
    """Once the engine has spatial tendons there is no warning, but for attributes that mean nothing."""
    monkeypatch.setattr(not_simulated, "NOT_YET", ())
    assert not warnings_of(chain([point("root", "r", "", ROOT_VALUES)], [point("leaf", "e", "l0:r", LEAF_VALUES)]))
    (warning,) = warnings_of(chain([point("root", "r")], [point("leaf", "e", "l0:r", "float nonsense = 1")]))
    assert warning == "/World/l1.physxTendon:e:nonsense: is not used"
