"""WarpArticMeshTendon: a tendon through points of an elastic body, of links and of the world."""

import math

import numpy as np
import pytest
from pxr import UsdGeom

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, warnings_of
from tests.usd.meshes import block, sheet, tendon, world
from tests.usd_schemas.source import attributes_of, line
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw, WorldPoint
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticMeshTendon")
NODES = "int[] warpArtic:nodes = [0, 1]\n"
LAWS = {"targetTension": 'token warpArtic:law = "tension"\n'}
"""What values act under alone."""
ROWS = {
    "stiffness": ("stiffness", 1e-3),
    "smoothing": ("smoothing", 0.01),
    "targetLength": ("target_length", 0.01),
    "targetTension": ("tension", 1e-5),
    "minTension": ("min_tension", 1e-5),
    "maxTension": ("max_tension", 1e-5),
}
"""Our field, and what a 1 is in centimetres and grams; in metres and kilograms it is 1."""
FOLLOWED = [name for name in ROWS if name != "smoothing"]
LISTS = {"nodes", "nodeCounts", "weights", "positions", "linkIndices"}
OUTPUTS = {"length", "tension"}


def stage_of(content: str = NODES, header: str = SI, *more: str):
    return world(sheet(), tendon(content), *more, header=header)


def tendon_of(stage) -> MeshTendon:
    (found,) = read_stage(stage).mesh_tendons
    return found


def waypoints_of(content: str, *more: str, header: str = SI):
    return tendon_of(stage_of(content, header, *more)).waypoints


def test_every_attribute_has_a_row():
    """Each is tested below; the others are outputs."""
    assert {f"warpArtic:{name}" for name in {*ROWS, *LISTS, *OUTPUTS, "law"}} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage becomes one in SI units."""
    field, small = ROWS[name]
    for header, factor in ((SI, 1.0), (SMALL_UNITS, small)):
        stage = stage_of(f"{NODES}{LAWS.get(name, '')}double warpArtic:{name} = 3", header)
        assert getattr(tendon_of(stage), field) == pytest.approx(3 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", [name for name, spec in ATTRIBUTES.items() if spec.default is not None])
def test_fallbacks(name):
    """To author a fallback changes nothing, and the reader has the same."""
    content = "" if name == "warpArtic:nodes" else NODES
    spec = ATTRIBUTES[name]
    if name == "warpArtic:stiffness":
        assert tendon_of(stage_of(NODES + line(spec, name))).stiffness == spec.default == 0.0
    elif content:
        assert tendon_of(stage_of(content + line(spec, name))) == tendon_of(stage_of())
    else:
        assert errors_of(stage_of(line(spec, name))) == ["/World/cable: has 0 waypoints, must have at least two"]


def test_what_fallbacks_mean():
    """A cable that pulls from its length at rest, with any tension of at least zero."""
    found = tendon_of(stage_of())
    assert (found.name, found.body, found.law) == ("/World/cable", "/World/sheet", TensionLaw.CABLE)
    assert (found.target_length, found.min_tension, found.max_tension) == (None, 0.0, math.inf)


@pytest.mark.parametrize("word", ["spring", "cable", "tension"])
def test_law(word):
    """The words that the schema allows."""
    assert word in ATTRIBUTES["warpArtic:law"].allowedTokens
    assert tendon_of(stage_of(f'{NODES}uniform token warpArtic:law = "{word}"')).law.value == word


def test_nodes_are_waypoints():
    """In their order."""
    found = waypoints_of("int[] warpArtic:nodes = [5, 0, 4]")
    assert found == tuple(BodyPoint(nodes=(node,)) for node in (5, 0, 4))


def test_points_of_elements():
    """Nodes and weights, waypoint by waypoint; equal weights where none are authored."""
    counts = "int[] warpArtic:nodes = [5, 0, 4, 1, 2]\nint[] warpArtic:nodeCounts = [1, 2, 2]\n"
    found = waypoints_of(counts + "double[] warpArtic:weights = [1, 0.25, 0.75, 0.5, 0.5]")
    assert found == (
        BodyPoint(nodes=(5,)),
        BodyPoint(nodes=(0, 4), weights=(0.25, 0.75)),
        BodyPoint(nodes=(1, 2), weights=(0.5, 0.5)),
    )
    assert waypoints_of(counts)[1].weights == (0.5, 0.5)


def test_weights_add_up_exactly():
    """What rounding leaves is divided away, so that a rigid motion of the body is one of the waypoint."""
    counts = "int[] warpArtic:nodes = [5, 0, 1, 4]\nint[] warpArtic:nodeCounts = [1, 3]\n"
    found = waypoints_of(counts + "double[] warpArtic:weights = [1, 0.3333333, 0.3333333, 0.3333333]")
    assert sum(found[1].weights) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("header, metre", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_points_elsewhere(header, metre):
    """On a link, on what does not move, and in the world: by the place of the prim, -1 for the world."""
    place = 'double3 xformOp:translate = (1, 2, 3)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
    content = """int[] warpArtic:nodes = [0, 1]
    int[] warpArtic:nodeCounts = [0, 1, 0, 1, 0]
    rel warpArtic:links = [</World/tip>, </World/wall>]
    int[] warpArtic:linkIndices = [1, -1, 0]
    point3d[] warpArtic:positions = [(1, 0, 0), (4, 5, 6), (0, 3, 7)]"""
    found = waypoints_of(content, f'def Xform "wall" {{\n{place}}}\n', header=header)
    assert [type(one) for one in found] == [WorldPoint, BodyPoint, WorldPoint, BodyPoint, LinkPoint]
    for one, expected in zip(found[::2], [(2, 2, 3), (4, 5, 6), (0, 3, 7)]):
        np.testing.assert_allclose(one.position, np.array(expected) * metre, rtol=1e-12)
    assert found[4].link == "/World/tip"


def test_points_on_a_body_that_is_animated():
    """They stay, and a warning says what would take them along."""
    content = (
        "int[] warpArtic:nodes = [5]\nint[] warpArtic:nodeCounts = [1, 0]\n"
        "rel warpArtic:links = </World/cart>\npoint3d[] warpArtic:positions = [(0, 0, 1)]"
    )
    cart = """def Xform "cart" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    ) {
        bool physics:kinematicEnabled = 1
        double3 xformOp:translate.timeSamples = {0: (3, 0, 0), 24: (4, 0, 0)}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    """
    stage = stage_of(content, SI, cart)
    assert tendon_of(stage).waypoints[1] == WorldPoint(position=(3.0, 0.0, 1.0))
    (warning,) = (text for text in warnings_of(stage) if "warpArtic:links" in text)
    assert warning == (
        "/World/cable.warpArtic:links: leads to /World/cart, which moves over time: points on it stay where they are "
        "at the start; a link that a fixed joint holds to it takes points along"
    )


def test_links_in_order_or_the_world():
    """Without indices there is a prim for each position, and without prims all are in the world."""
    counts = "int[] warpArtic:nodeCounts = [0, 0]\npoint3d[] warpArtic:positions = [(0, 1, 0), (0, 2, 0)]\n"
    assert waypoints_of(counts) == (WorldPoint(position=(0.0, 1.0, 0.0)), WorldPoint(position=(0.0, 2.0, 0.0)))
    found = waypoints_of(counts + "rel warpArtic:links = [</World/tip>, </World/base>]")
    assert [one.link for one in found] == ["/World/tip", "/World/base"]


def test_a_point_below_a_link_is_scaled():
    """As the points of spatial tendons."""
    stage = world(
        sheet(),
        tendon("""int[] warpArtic:nodes = [0]
    int[] warpArtic:nodeCounts = [1, 0]
    rel warpArtic:links = </World/tip/site>
    point3d[] warpArtic:positions = [(1, 1, 1)]"""),
    )
    prim = stage.DefinePrim("/World/tip/site", "Xform")
    UsdGeom.Xformable(prim).AddScaleOp().Set((2, 3, 4))
    assert tendon_of(stage).waypoints[1] == LinkPoint(link="/World/tip", position=(2.0, 3.0, 4.0))


@pytest.mark.parametrize("name", FOLLOWED)
def test_values_over_time(name):
    """A run follows them, in SI units; nothing warns."""
    field, small = ROWS[name]
    stage = stage_of(
        f"{NODES}{LAWS.get(name, '')}double warpArtic:{name}.timeSamples = {{ 0: 1, 24: 3, 48: 2 }}", SMALL_UNITS
    )
    found = tendon_of(stage)
    track = getattr(found, f"{field}_track")
    assert track.times == (0.0, 1.0, 2.0)
    np.testing.assert_allclose(track.values, np.array((1, 3, 2)) * small)
    assert getattr(found, field) == pytest.approx(small)
    assert not warnings_of(stage)


def test_what_is_read_once():
    """The smoothing width is that at the start."""
    stage = stage_of(f"{NODES}double warpArtic:smoothing.timeSamples = {{ 0: 1, 24: 3 }}")
    assert tendon_of(stage).smoothing == 1.0
    assert warnings_of(stage) == [
        "/World/cable.warpArtic:smoothing: changes over time; only the value at the start is used"
    ]


def test_tetrahedra():
    """Waypoints inside a tetrahedron."""
    content = "int[] warpArtic:nodes = [0, 1, 2, 3, 4]\nint[] warpArtic:nodeCounts = [4, 1]\n"
    found = tendon_of(world(block(), tendon(content, "block"))).waypoints
    assert found[0] == BodyPoint(nodes=(0, 1, 2, 3), weights=(0.25,) * 4)


def test_readings_tell_where_values_come_from():
    """Attribute, authored value and SI value."""
    (found,) = inspect_stage(stage_of(f"{NODES}double warpArtic:stiffness = 3000", SMALL_UNITS)).readings[
        "/World/cable"
    ]
    assert (found.attribute, found.authored, found.value) == ("/World/cable.warpArtic:stiffness", 3000, 3)


def test_no_stiffness():
    """A tendon that never pulls is named."""
    assert warnings_of(stage_of(f"{NODES}double warpArtic:stiffness = 0")) == [
        "/World/cable: has the law cable and no stiffness, so it never pulls"
    ]
    given = f"{NODES}double warpArtic:stiffness = 0\n{LAWS['targetTension']}"
    assert not warnings_of(stage_of(f"{given}double warpArtic:targetTension = 3"))
    assert warnings_of(stage_of(given)) == ["/World/cable: has the law tension and no tension, so it never pulls"]


COUNTS = "int[] warpArtic:nodes = [0, 1, 2]\nint[] warpArtic:nodeCounts = [1, 2]\n"
HANGING = "int[] warpArtic:nodes = [0]\nint[] warpArtic:nodeCounts = [1, 0]\n"


@pytest.mark.parametrize(
    "content, error",
    [
        ("int[] warpArtic:nodes = [3]", "/World/cable: has 1 waypoint, must have at least two"),
        (
            "int[] warpArtic:nodes = [0, 1, 0]",
            "/World/cable: waypoint 2 is the same as waypoint 0: node 0; no two may be the same",
        ),
        (
            "int[] warpArtic:nodes = [0, 9]",
            "/World/cable: waypoint 1 has node 9; nodes of /World/sheet are 0 to 5",
        ),
        (
            "int[] warpArtic:nodes = [-1, 1]",
            "/World/cable: waypoint 0 has node -1; nodes of /World/sheet are 0 to 5",
        ),
        (
            f"{COUNTS}double[] warpArtic:weights = [1, 0.5, 0.4]",
            "/World/cable: waypoint 1 has weights that sum to 0.9, must sum to 1",
        ),
        (
            COUNTS.replace("[0, 1, 2]", "[0, 1, 1]"),
            "/World/cable: waypoint 1 has a node twice: 1 1",
        ),
        (
            f"{COUNTS}double[] warpArtic:weights = [1, 0.5]",
            "/World/cable.warpArtic:weights: has 2 entries for 3 nodes, must have one for each or none",
        ),
        (
            COUNTS.replace("[1, 2]", "[1, 1]"),
            "/World/cable.warpArtic:nodes: has 3 entries, but nodeCounts adds up to 2",
        ),
        (
            COUNTS.replace("[1, 2]", "[1, 5]"),
            "/World/cable.warpArtic:nodeCounts: has 5 at index 1, must be from 0 to 4",
        ),
        (
            "int[] warpArtic:nodes = [0, 1, 2, 4, 5]\nint[] warpArtic:nodeCounts = [1, 4]",
            "/World/cable: waypoint 1 is a mean of 4 nodes, must be of 1 to 3",
        ),
        (
            HANGING,
            "/World/cable.warpArtic:positions: has 0 entries, but nodeCounts has 1 waypoints that are not on the mesh",
        ),
        (
            f"{HANGING}point3d[] warpArtic:positions = [(0, 0, inf)]",
            "/World/cable.warpArtic:positions: has (0, 0, inf) at index 0, must be finite",
        ),
        (
            f"{HANGING}point3d[] warpArtic:positions = [(0, 0, 0)]\nrel warpArtic:links = </World/none>",
            "/World/cable.warpArtic:links: leads to /World/none, which does not exist; it must be a prim",
        ),
        (
            f"{HANGING}point3d[] warpArtic:positions = [(0, 0, 0)]\nint[] warpArtic:linkIndices = [0]",
            "/World/cable.warpArtic:linkIndices: has 0 at index 0, must be a place in warpArtic:links, which leads to "
            "0 prims",
        ),
        (
            "int[] warpArtic:nodes = [0, 3, 4, 1]\nint[] warpArtic:nodeCounts = [1, 2, 1]\n"
            "double[] warpArtic:weights = [1, 1, 0, 1]",
            None,
        ),
        (
            "int[] warpArtic:nodes = [0, 0, 1]\nint[] warpArtic:nodeCounts = [1, 2]\ndouble[] warpArtic:weights = "
            "[1, 1, 0]",
            "/World/cable: waypoint 1 is the same as waypoint 0: a mean of nodes 0 1; no two may be the same",
        ),
        (
            "int[] warpArtic:nodes = [4, 1, 5, 3]\nint[] warpArtic:nodeCounts = [1, 1, 2]",
            None,
        ),
        (
            "int[] warpArtic:nodes = [4, 5, 3]\nint[] warpArtic:nodeCounts = [1, 2]",
            "/World/cable: has a rest length of zero: waypoints 0 and 1 are at one place at rest, (1, 1) of the body: "
            "the segment between them has length zero, and no direction",
        ),
        (
            "int[] warpArtic:nodes = [0, 4, 5, 3]\nint[] warpArtic:nodeCounts = [1, 1, 2]",
            "/World/cable: waypoints 1 and 2 are at one place at rest, (1, 1) of the body: the segment between them "
            "has length zero, and no direction",
        ),
        (
            f"{HANGING}point3d[] warpArtic:positions = [(0, 0, 0.0000001)]",
            "/World/cable: has a rest length of zero: waypoints 0 and 1 are at one place at the start, (0, 0) of the "
            "body: the segment between them has length zero, and no direction",
        ),
        (
            "int[] warpArtic:nodes = [0, 1]\nint[] warpArtic:nodeCounts = [1, 1, 0]\n"
            "point3d[] warpArtic:positions = [(0, 0, 0)]\nrel warpArtic:links = </World/tip>",
            "/World/cable: waypoints 1 and 2 are at one place at the start, (1, 0) of the body: the segment between "
            "them has length zero, and no direction",
        ),
        (f"{NODES}double warpArtic:stiffness = -1", "/World/cable: stiffness -1 N/m must be finite and not negative"),
        (f"{NODES}double warpArtic:smoothing = -1", "/World/cable: smoothing -1 m must be finite and not negative"),
        (
            f"{NODES}double warpArtic:targetLength = -1",
            "/World/cable: target length -1 m must be finite and not negative",
        ),
        (
            f"{NODES}double warpArtic:targetLength.timeSamples = {{ 0: 1, 24: -1 }}",
            "/World/cable: target length -1 m must be finite and not negative",
        ),
        (f"{NODES}double warpArtic:targetTension = -1", "/World/cable: tension -1 N must be finite and not negative"),
        (
            f"{NODES}double warpArtic:minTension = -1",
            "/World/cable: smallest tension -1 N must be finite and not negative",
        ),
        (
            f"{NODES}double warpArtic:minTension = 3\ndouble warpArtic:maxTension = 2",
            "/World/cable: largest tension 2 N is below the smallest one, 3 N, at 0 s",
        ),
        (
            f"{NODES}double warpArtic:minTension = 3\ndouble warpArtic:maxTension.timeSamples = {{ 0: 4, 24: 2 }}",
            "/World/cable: largest tension 2 N is below the smallest one, 3 N, at 1 s",
        ),
        (f"{NODES}double warpArtic:stiffness = nan", "/World/cable.warpArtic:stiffness: is nan, must be finite"),
        (
            f'{NODES}token warpArtic:law = "rope"',
            "/World/cable.warpArtic:law: is 'rope', must be one of spring, cable, tension",
        ),
        (
            'token warpArtic:nodes = "all"',
            "/World/cable.warpArtic:nodes: is 'all', must be an array of whole numbers",
        ),
    ],
)
def test_errors(content, error):
    """Each error is one line with the prim, the index, what was found and what is allowed."""
    stage = stage_of(content)
    assert errors_of(stage) == ([] if error is None else [error])
    assert not [text for text in warnings_of(stage) if "is not used" in text]


@pytest.mark.parametrize(
    "replaced, error",
    [
        ("</World/tip>", "leads to /World/tip, which has no WarpArticElasticBodyAPI; it must lead to an elastic body"),
        ("[</World/sheet>, </World/tip>]", "leads to 2 prims, must lead to one"),
        ("[]", "leads to 0 prims, must lead to one"),
    ],
)
def test_a_tendon_on_no_mesh(replaced, error):
    """One line, and nothing about the rest of the tendon."""
    stage = world(sheet(), tendon(NODES).replace("</World/sheet>", replaced))
    assert errors_of(stage) == [f"/World/cable.warpArtic:mesh: {error}"]


def test_a_tendon_on_a_wrong_mesh():
    """The error of the mesh is the only one."""
    stage = world(sheet(faces=[]), tendon(NODES))
    assert errors_of(stage) == ["/World/sheet: has no element, must have at least one"]
    stage = world(sheet(points=[]), tendon(NODES))
    assert errors_of(stage) == ["/World/sheet.points: is empty, must have the nodes of the mesh"]
