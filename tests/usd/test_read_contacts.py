"""Which colliders of a stage touch each other."""

import itertools
import random

import pytest
from pxr import UsdPhysics

from tests.usd.authoring import body, joint, open_text, pendulum, schemas, warnings_of
from tests.usd.contact_stages import FLOOR, collider, contacts_of
from warp_artic.description.joint import WORLD

GROUP = "PhysicsCollisionGroup"
FILTER = ("PhysicsFilteredPairsAPI",)
EXPRESSION = "collection:colliders:membershipExpression"


def ball(name: str, content: str = "", on: str = "", on_applied=(), applied=(), at=(0, 0, 0)) -> str:
    """A body with a ball."""
    return body(name, on + collider("Sphere", "shape", content, applied), on_applied, at=at)


def group(name: str, members: str, content: str = "") -> str:
    """A collision group of what is listed."""
    return (
        f'def {GROUP} "{name}" (prepend apiSchemas = ["CollectionAPI:colliders"]) {{\n'
        f"rel collection:colliders:includes = [{members}]\n{content}\n}}\n"
    )


def names(text, **values) -> set[str]:
    """The names of the pairs of a stage, which tells nothing."""
    read = contacts_of(text, **values)
    assert read.told == []
    return set(read.pairs)


def arm(content: str = "", root: str = "", rod: str = "", applied=()) -> str:
    """A pendulum of two links that are held to the world, with a ball each, and a third one beyond."""
    return pendulum(
        content,
        world=root,
        rod=collider("Sphere") + rod,
        rod_applied=applied,
        more=body("tip", collider("Sphere"))
        + joint("wrist", "Revolute", "/World/rod", "/World/tip")
        + body("tail", collider("Sphere"))
        + joint("ankle", "Revolute", "/World/base", "/World/tail"),
    )


def test_bodies_and_what_stays():
    """Bodies touch each other and what stays, but not themselves; what stays does not touch what stays."""
    wall = collider("Cube", "wall")
    two = body("b", collider("Sphere", "one") + collider("Sphere", "two"))
    found = contacts_of(ball("a") + two + wall + FLOOR)
    assert found.told == []
    assert set(found.pairs) == {
        *("/a/shape:/b/one", "/a/shape:/b/two", "/floor:/a/shape", "/floor:/b/one", "/floor:/b/two"),
        *("/wall:/a/shape", "/wall:/b/one", "/wall:/b/two"),
    }
    assert found.pairs["/wall:/b/two"].link0 == WORLD


def test_disabled_colliders():
    """Colliders and bodies that do not collide touch nothing."""
    assert names(ball("a", "bool physics:collisionEnabled = 0") + FLOOR) == set()
    off = "bool physxRigidBody:solveContact = 0\n"
    assert names(ball("a", on=off, on_applied=("PhysxRigidBodyAPI",)) + ball("b") + FLOOR) == {"/floor:/b/shape"}


def test_triggers():
    """They touch nothing, which is no more than they ask for; that nobody hears of what enters them is told."""
    stage = open_text(ball("a") + collider("Cube", "gate", applied=("PhysxTriggerAPI",)) + FLOOR)
    assert set(contacts_of(stage).pairs) == {"/floor:/a/shape"}
    assert warnings_of(stage) == ["/gate: events of a trigger, which touches nothing: not simulated yet"]


def test_purposes_and_visibility_do_not_matter():
    """Colliders act that are not drawn."""
    hidden = 'uniform token purpose = "guide"\ntoken visibility = "invisible"'
    assert names(ball("a", hidden) + FLOOR) == {"/floor:/a/shape"}


def test_links_of_joints():
    """Links of a joint do not touch, unless it says so; other links of an articulation do."""
    every = {"/World/rod/shape:/World/tail/shape", "/World/tail/shape:/World/tip/shape"}
    assert names(arm()) == every
    assert names(arm("bool physics:collisionEnabled = 1")) == every  # the base has no collider
    more = joint("wrist", "Revolute", "/World/rod", "/World/tip", "bool physics:collisionEnabled = 1")
    tip = body("tip", collider("Sphere"))
    assert names(pendulum(rod=collider("Sphere"), more=tip + more)) == {"/World/rod/shape:/World/tip/shape"}


@pytest.mark.parametrize("name", ["physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled"])
def test_self_collision(name):
    """Links of an articulation without self-collision touch others only."""
    assert names(arm(root=f"bool {name} = 0")) == set()
    assert len(names(arm(root=f"bool {name} = 1"))) == 2


def test_self_collision_in_two_dialects():
    """Newton's comes first, and the difference is told."""
    both = "bool physxArticulation:enabledSelfCollisions = 1\nbool newton:selfCollisionEnabled = 0"
    read = contacts_of(arm(root=both))
    (told,) = read.told
    assert told.startswith("/World.physxArticulation:enabledSelfCollisions: is True, but newton:selfCollisionEnabled")
    assert read.pairs == {}


def test_joints_to_what_stays():
    """A joint that leads to a static collider keeps its body from it; one to the world from nothing."""
    wall, held = collider("Cube", "wall"), joint("held", "Revolute", "/wall", "/a")
    assert names(ball("a") + wall + held + collider("Cube", "other")) == {"/other:/a/shape"}
    assert names(ball("a") + wall + joint("held", "Revolute", "", "/a")) == {"/wall:/a/shape"}


def test_joints_that_break():
    """They keep their bodies apart until all of them have broken, where nothing else does so for good."""
    weak = "float physics:breakForce = 9"
    one, other = joint("one", "Fixed", "/a", "/b", weak), joint("other", "Spherical", "/b/shape", "/a", weak)

    def keepers(text: str) -> dict[str, tuple[str, ...]]:
        found = contacts_of(ball("a") + ball("b") + text)
        assert found.told == []
        return {name: pair.keepers for name, pair in found.pairs.items()}

    assert keepers(one) == {"/a/shape:/b/shape": ("/one",)}
    assert keepers(other + one) == {"/a/shape:/b/shape": ("/one", "/other")}
    assert keepers(one + joint("firm", "Distance", "/a", "/b", "float physics:maxDistance = 9")) == {}
    free = joint("free", "Distance", "/a", "/b", "float physics:maxDistance = 9\nbool physics:collisionEnabled = 1")
    assert keepers(one + free) == {"/a/shape:/b/shape": ("/one",)}
    assert keepers(one.replace("= 9", "= 9\nbool physics:jointEnabled = 0")) == {"/a/shape:/b/shape": ()}
    wall = collider("Cube", "wall") + joint("held", "Fixed", "/wall", "/a", weak)
    assert keepers(wall) == {"/a/shape:/b/shape": (), "/wall:/a/shape": ("/held",), "/wall:/b/shape": ()}


@pytest.mark.parametrize(
    "first, second",
    [("/a", "/b"), ("/a/shape", "/b/shape"), ("/a", "/b/shape"), ("/b/shape", "/a")],
)
def test_filtered_pairs(first, second):
    """On bodies and colliders, either way."""
    rel = f"rel physics:filteredPairs = <{second}>\n"
    on = {"/a": ("on", "on_applied"), "/a/shape": ("content", "applied"), "/b/shape": ("content", "applied")}[first]
    changes = {on[0]: rel, on[1]: FILTER}
    bodies = [ball(name, **changes if first.startswith(f"/{name}") else {}) for name in "ab"]
    assert names("".join(bodies) + FLOOR) == {"/floor:/a/shape", "/floor:/b/shape"}


def test_filtered_pairs_of_articulations():
    """A whole articulation, by its root prim; all of its links touch each other still."""
    read = contacts_of(arm(root="rel physics:filteredPairs = </World/stone>", rod=""))
    assert any("it has no effect" in one for one in read.told)
    stage = pendulum(
        rod=collider("Sphere"),
        world="rel physics:filteredPairs = [</floor>]",
        more=body("tip", collider("Sphere")) + joint("wrist", "Revolute", "/World/rod", "/World/tip"),
    )
    text = stage.GetRootLayer().ExportToString().split(")\n", 1)[1]
    assert names(text + FLOOR) == set()
    assert names(text.replace("physics:filteredPairs", "other") + FLOOR) == {
        "/floor:/World/rod/shape",
        "/floor:/World/tip/shape",
    }


def test_filtered_pairs_that_lead_nowhere():
    """Are told."""
    read = contacts_of(ball("a", on="rel physics:filteredPairs = </nothing>\n", on_applied=FILTER) + FLOOR)
    assert read.told == [
        "/a.physics:filteredPairs: keeps /a and /nothing apart, but /nothing is no collider, rigid body or "
        "articulation root: it has no effect"
    ]
    assert set(read.pairs) == {"/floor:/a/shape"}


def test_groups_that_lead_nowhere():
    """Filtered groups that are none, and colliders that do not exist, are told; the rest has its effect."""
    lost = group("one", "</a>, </gone>", "rel physics:filteredGroups = [</two>, </three>]")
    read = contacts_of(ball("a") + FLOOR + lost + group("two", "</floor>"))
    assert read.told == [
        "/one.physics:filteredGroups: leads to /three, which is no collision group: it has no effect",
        "/one.collection:colliders:includes: leads to /gone, which does not exist: it has no effect",
    ]
    assert not read.pairs


def test_groups_keep_apart():
    """A group that filters another one, by what is included and excluded."""
    bodies = "".join(ball(name, at=(5 * place, 0, 0)) for place, name in enumerate("abc"))
    first = group("one", "</a>", "rel physics:filteredGroups = </two>")
    assert names(bodies + first + group("two", "</b>, </c>")) == {"/b/shape:/c/shape"}
    but = "rel collection:colliders:excludes = </c/shape>"
    assert names(bodies + first + group("two", "</b>, </c>", but)) == {"/a/shape:/c/shape", "/b/shape:/c/shape"}
    itself = group("all", "", "bool collection:colliders:includeRoot = 1\nrel physics:filteredGroups = </all>")
    assert names(bodies + itself) == set()
    explicit = 'uniform token collection:colliders:expansionRule = "explicitOnly"'
    assert names(bodies + first + group("two", "</b>, </c/shape>", explicit)) == {
        "/a/shape:/b/shape",
        "/b/shape:/c/shape",
    }


@pytest.mark.parametrize("expression", ["/b//", "//{isa:Sphere} - /b//", "/a//", "/c/shape /b/shape", ""])
def test_groups_by_expression(expression):
    """A collection without relationships is its expression, as USD says what is in it; /one is kept from /two."""
    bodies = "".join(ball(name, at=(5 * place, 0, 0)) for place, name in enumerate("abc"))
    text = f'pathExpression {EXPRESSION} = "{expression}"\nrel physics:filteredGroups = </two>'
    text = bodies + group("one", "", text).replace("rel collection:colliders:includes = []\n", "")
    stage = open_text(text)
    query = UsdPhysics.CollisionGroup(stage.GetPrimAtPath("/one")).GetCollidersCollectionAPI().ComputeMembershipQuery()
    in_two = {"/a/shape", "/c/shape"}
    expected = {
        f"{first}:{second}"
        for first, second in itertools.combinations(("/a/shape", "/b/shape", "/c/shape"), 2)
        if not (query.IsPathIncluded(first) and second in in_two)
        and not (query.IsPathIncluded(second) and first in in_two)
    }
    read = contacts_of(text + group("two", "</a>, </c>"))
    assert (set(read.pairs), read.told) == (expected, [])


def test_expressions_beside_relationships():
    """Do not count in USD, which is told; groups in copies have the expressions of their own prims."""
    bodies = "".join(ball(name, at=(5 * place, 0, 0)) for place, name in enumerate("abc"))
    content = f'pathExpression {EXPRESSION} = "/c//"\nrel physics:filteredGroups = </two>'
    read = contacts_of(bodies + group("one", "</a>", content) + group("two", "</b>, </c>"))
    assert set(read.pairs) == {"/b/shape:/c/shape"}
    assert read.told == [
        f"/one.{EXPRESSION}: has no effect: the collection includes prims by relationships, which count alone"
    ]
    one = group("one", "", f'pathExpression {EXPRESSION} = "/robot//"\nrel physics:filteredGroups = </robot/one>')
    robot = bodies + one.replace("rel collection:colliders:includes = []\n", "")
    place = "double3 xformOp:translate = (100, 0, 0)\n" + 'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    copies = f'def Xform "robot" {{\n{robot}}}\ndef Xform "copy" (references = </robot>) {{\n{place}}}\n'
    assert names(copies) == set()


@pytest.mark.parametrize("seed", range(30))
def test_groups_as_usd_says(seed):
    """Random groups, some of them inverted, against the table of UsdPhysics; merged ones are as one of all."""
    draw = random.Random(seed)
    letters = "abcde"
    merged = {name: draw.choice([name, name, "x", "y"]) for name in letters}
    inverted = {name: draw.random() < 0.3 for name in {*merged.values()}}
    filtered = {name: [other for other in letters if draw.random() < 0.3] for name in letters}
    bodies = "".join(ball(f"body_{name}", at=(5 * place, 0, 0)) for place, name in enumerate(letters))
    apart, together = bodies, ""
    for name in letters:
        content = f"rel physics:filteredGroups = [{', '.join(f'</{other}>' for other in filtered[name])}]\n"
        content += f"bool physics:invertFilteredGroups = {int(inverted[merged[name]])}\n"
        content += f'string physics:mergeGroup = "{merged[name]}"\n' if merged[name] != name else ""
        apart += group(name, f"</body_{name}>", content)
    for name in sorted(inverted):
        targets = sorted({merged[other] for one in letters if merged[one] == name for other in filtered[one]})
        content = f"rel physics:filteredGroups = [{', '.join(f'</{other}>' for other in targets)}]\n"
        together += group(name, "", content + f"bool physics:invertFilteredGroups = {int(inverted[name])}\n")
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(open_text(together))
    expected = {
        f"/body_{one}/shape:/body_{other}/shape"
        for one, other in itertools.combinations(letters, 2)
        if table.IsCollisionEnabled(f"/{merged[one]}", f"/{merged[other]}")
    }
    assert names(apart) == expected


def test_scene_that_inverts_groups():
    """Then groups touch only those that they list, as in stages with an environment a group."""
    scene = f'def PhysicsScene "s" {schemas("PhysxSceneAPI")} {{\nbool physxScene:invertCollisionGroupFilter = 1\n}}\n'
    bodies = "".join(ball(name, at=(5 * place, 0, 0)) for place, name in enumerate("abc"))
    groups = group("one", "</a>, </b>", "rel physics:filteredGroups = [</one>, </ground>]")
    groups += group("two", "</c>", "rel physics:filteredGroups = [</two>, </ground>]")
    groups += group("ground", "</floor>", "rel physics:filteredGroups = [</one>, </two>]")
    expected = {"/a/shape:/b/shape", *(f"/floor:/{name}/shape" for name in "abc")}
    assert names(scene + bodies + groups + FLOOR) == expected


def test_scenes():
    """Bodies and colliders of different physics scenes do not touch."""
    scenes = 'def PhysicsScene "one" {\n}\ndef PhysicsScene "two" {\n}\n'
    own = "rel physics:simulationOwner = </two>\n"
    read = contacts_of(scenes + ball("a") + ball("b", on=own) + FLOOR + collider("Cube", "wall", own))
    assert set(read.pairs) == {"/floor:/a/shape", "/wall:/b/shape"}


def test_bodies_that_stay():
    """Kinematic and disabled bodies that do not move are as the world; those that move have a motion."""
    held = "bool physics:kinematicEnabled = 1\n"
    read = contacts_of(ball("a") + ball("k", on=held) + ball("d", on="bool physics:rigidBodyEnabled = 0\n") + FLOOR)
    assert set(read.pairs) == {"/d/shape:/a/shape", "/floor:/a/shape", "/k/shape:/a/shape"} and read.told == []
    samples = "double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 10: (1, 0, 0) }\n"
    samples += 'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    moving = f'def Xform "k" {schemas("PhysicsRigidBodyAPI")} {{\n{held}{samples}{collider("Sphere")}}}\n'
    read = contacts_of(ball("a") + moving)
    (pair,) = read.pairs.values()
    assert (pair.name, pair.link0, pair.motion0.path) == ("/k/shape:/a/shape", WORLD, "/k") and read.told == []
    assert pair.motion0.at(5.0 / 24.0).position == pytest.approx((0.5, 0.0, 0.0))


def test_scenes_without_contacts():
    """The MuJoCo dialect switches them off for all."""
    scene = f'def PhysicsScene "s" {schemas("MjcSceneAPI")} {{\nbool mjc:flag:contact = 0\n}}\n'
    read = contacts_of(scene + ball("a") + FLOOR)
    assert read.pairs == {} and read.told == []
    assert "/s: switches contacts off: nothing touches anything" in read.notes
    assert names(scene.replace("= 0", "= 1") + ball("a") + FLOOR) == {"/floor:/a/shape"}


def test_too_many_for_one_mechanism():
    """A note with the count: contacts of more than one mechanism has room for are solved by islands."""
    read = contacts_of("".join(ball(f"b{number:02}", at=(3 * number, 0, 0)) for number in range(25)))
    assert read.told == [] and read.pairs == {}
    assert len(read.islands.articulations) == 25
    (note,) = [one for one in read.notes if "by sweeps" in one]
    assert note.startswith("/: 25 mechanisms may touch each other, themselves or fine meshes, which is more")


ROBOT = 'def Xform "Robot" {{\n{}{}{}{}}}\n'.format(
    body("base", collider("Sphere"), at=(0, 0, 1)),
    body("rod", collider("Sphere"), at=(0, 3, 1)),
    body("tip", collider("Sphere", "shape", "rel material:binding:physics = </Robot/rubber>"), at=(0, 6, 1)),
    joint("hinge", "Revolute", "/Robot/base", "/Robot/rod", "point3f physics:localPos0 = (0, 3, 0)")
    + joint("wrist", "Revolute", "/Robot/rod", "/Robot/tip", "point3f physics:localPos0 = (0, 3, 0)")
    + collider(
        "Cube", "stand", 'double3 xformOp:translate = (9, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    )
    + 'def Material "rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {\nfloat physics:restitution = 0.5\n}\n',
)


@pytest.mark.parametrize("breaks", ["", "float physics:breakForce = 9\n"], ids=["", "breaks"])
def test_copies_are_as_read_one_by_one(breaks):
    """Copies of a robot have its shapes, and those that stay are where each copy is."""
    content = ROBOT.partition("{")[2].replace('Joint "wrist"  {', f'Joint "wrist" {{\n{breaks}')
    text = f'def Scope "Assets" {{\n}}\nclass Xform "Robot" {{\n{content}\n'
    places = "".join(
        f'def "r{number}" (references = </Robot>) {{\ndouble3 xformOp:translate = ({20 * number}, 0, 0)\n'
        f'uniform token[] xformOpOrder = ["xformOp:translate"]\n}}\n'
        for number in range(3)
    )
    flat = "".join(
        f'def Xform "r{number}" {{\ndouble3 xformOp:translate = ({20 * number}, 0, 0)\n'
        f'uniform token[] xformOpOrder = ["xformOp:translate"]\n' + content.replace("/Robot/", f"/r{number}/")
        for number in range(3)
    )
    together, apart = contacts_of(text + places + FLOOR), contacts_of(flat + FLOOR)
    assert together.pairs == apart.pairs and len(together.pairs) > 20
    kept = {joint for pair in together.pairs.values() for joint in pair.keepers}
    assert kept == ({f"/r{number}/wrist" for number in range(3)} if breaks else set())
    assert together.shapes["/r2/stand"].frame.position == pytest.approx((49, 0, 0))
