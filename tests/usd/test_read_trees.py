"""Which bodies and joints make which articulation."""

from dataclasses import replace

import pytest

from tests.usd.authoring import body, errors_of, joint, joint_of, notes_of, open_text, schemas, warnings_of
from warp_artic import DescriptionError, SettingsError, SolverSettings
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.validate import validate
from warp_artic.usd import tokens
from warp_artic.usd.read_stage import read_stage

ROOT = ("PhysicsArticulationRootAPI",)


def chain(*names: str, ends=None) -> str:
    """Revolute joints /ab, /bc ... between bodies."""
    return "".join(joint(f"{a}{b}", "Revolute", f"/{a}", f"/{b}") for a, b in zip(names, names[1:]))


def bodies(*names: str, root: str = "") -> str:
    return "".join(body(name, applied=ROOT if name == root else ()) for name in names)


def test_root_on_the_body_floats():
    """A root on a body makes it the root of a floating tree."""
    (tree,) = read_stage(open_text(bodies("a", "b", "c", root="b") + chain("a", "b", "c"))).articulations
    assert (tree.path, tree.is_floating) == ("/b", True)
    assert [link.path for link in tree.links] == ["/a", "/b", "/c"]
    assert [tree.inbound[link] and tree.inbound[link].path for link in range(3)] == ["/ab", None, "/bc"]
    assert [joint.reversed for joint in tree.joints] == [True, False]


def test_root_on_the_world_joint_is_fixed():
    """A root on the joint to the world makes a fixed base; the joint is a joint of the tree."""
    text = bodies("a", "b") + joint("held", "Fixed", "", "/a", applied=ROOT) + chain("a", "b")
    (tree,) = read_stage(open_text(text)).articulations
    assert (tree.path, tree.is_floating) == ("/held", False)
    assert [joint.path for joint in tree.joints] == ["/held", "/ab"]
    assert tree.joints[0].dofs == ()


def below(content: str, name: str = "robot") -> str:
    return f'def Xform "{name}" {schemas(*ROOT)} {{\n{content.replace("</", f"</{name}/")}\n}}\n'


def test_root_on_an_ancestor():
    """A root above its bodies: the tree starts at the world, else at the body that is body1 of no joint."""
    fixed = below(bodies("a", "b") + joint("held", "Fixed", "", "/b") + chain("a", "b"))
    (tree,) = read_stage(open_text(fixed)).articulations
    assert (tree.path, tree.is_floating, tree.inbound[1].path) == ("/robot", False, "/robot/held")
    stage = open_text(below(bodies("a", "b", "c") + chain("b", "c") + chain("b", "a")))
    (tree,) = read_stage(stage).articulations
    assert tree.is_floating
    assert tree.inbound[1] is None
    assert any("rooted at /robot/b" in text for text in notes_of(stage))


def test_several_articulations():
    """Each root has its own tree; a loose body below a root is a tree of its own."""
    text = below(bodies("a", "b", "loose") + chain("a", "b")) + bodies("x", "y", root="x") + chain("x", "y")
    trees = read_stage(open_text(text)).articulations
    assert [tree.path for tree in trees] == ["/robot", "/robot/loose", "/x"]
    assert [len(tree.links) for tree in trees] == [2, 1, 2]


def test_free_bodies_are_floating_trees_of_one_link():
    """A body without joints floats."""
    trees = read_stage(open_text(bodies("a", "b"))).articulations
    assert [(tree.path, len(tree.links), tree.is_floating) for tree in trees] == [("/a", 1, True), ("/b", 1, True)]


def test_jointed_bodies_without_a_root_become_a_tree():
    """They become a spanning tree from the world, else from the first body that is body1 of none; a note says so."""
    stage = open_text(bodies("a", "b", "c") + chain("a", "b", "c") + joint("pin", "Revolute", "", "/c"))
    (tree,) = read_stage(stage).articulations
    assert (tree.path, tree.inbound[2].path) == ("/c", "/pin")
    assert any(text.startswith("/c: 3 joined bodies without an articulation root") for text in notes_of(stage))
    (tree,) = read_stage(open_text(bodies("a", "b") + joint("ba", "Revolute", "/b", "/a"))).articulations
    assert tree.inbound[1] is None


def test_loop_without_a_root_is_opened_and_reported():
    """The joint that closes a loop is not simulated, and named with the loop."""
    stage = open_text(bodies("a", "b", "c") + chain("a", "b", "c", "a"))
    (tree,) = read_stage(stage).articulations
    assert len(tree.joints) == 2
    assert warnings_of(stage) == []
    assert "/bc: closes a loop made of /ab, /bc, /ca: it is held beside the tree" in notes_of(stage)


def test_excluded_joints_and_distances():
    """They are held beside the tree; what is not simulated is reported by name, with its attributes."""
    excluded = "bool physics:excludeFromArticulation = 1\nfloat physics:lowerLimit = 3"
    text = below(bodies("a", "b", "c") + chain("a", "b", "c") + joint("ca", "Revolute", "/c", "/a", excluded))
    text += joint("rope", "Distance", "/robot/a", "", "float physics:maxDistance = 1")
    stage = open_text(text)
    (tree,) = read_stage(stage).articulations
    assert len(tree.joints) == 2
    found = [(one.name, one.link0, one.link1) for one in tree.constraints]
    assert found == [("/robot/ca", 2, 0), ("/rope", 0, WORLD)]
    assert warnings_of(stage) == [
        "/robot/ca: closes a loop, where the limit of rotX, 0.0523599 to inf rad, is not simulated: both ends must be "
        "finite, and at most a turn apart, as turns are not counted",
    ]


def loop_of(text):
    """The only loop joint of a robot, and what is said of it."""
    stage = open_text(below(text))
    (tree,) = read_stage(stage).articulations
    (loop,) = tree.constraints
    (note,) = [note for note in notes_of(stage) if "closes a loop" in note]
    return loop, note


def test_a_ring_in_an_articulation_is_closed_by_a_loop_joint():
    """The note names the joints of the ring."""
    loop, note = loop_of(bodies("a", "b", "c") + chain("a", "b", "c", "a"))
    assert loop.name == "/robot/bc"
    assert note == "/robot/bc: closes a loop made of /robot/ab, /robot/bc, /robot/ca: it is held beside the tree"


def test_two_joints_to_the_world_close_a_loop():
    """A link held twice by the world."""
    text = bodies("a", "b") + chain("a", "b") + joint("one", "Fixed", "", "/a") + joint("two", "Fixed", "", "/b")
    loop, note = loop_of(text)
    assert (loop.name, loop.link0, loop.link1) == ("/robot/two", WORLD, 1)
    assert note.startswith("/robot/two: closes a loop made of /robot/ab, /robot/one, /robot/two")


def test_two_joints_between_the_same_bodies_close_a_loop():
    """As the two hinges of a door."""
    text = bodies("a", "b") + joint("one", "Revolute", "/a", "/b") + joint("two", "Revolute", "/a", "/b")
    loop, note = loop_of(text)
    assert (loop.name, loop.free) == ("/robot/two", (Axis.ROT_X,))
    assert note.startswith("/robot/two: closes a loop made of /robot/one, /robot/two")


@pytest.mark.parametrize("place", range(3))
def test_a_driven_joint_stays_in_the_tree(place):
    """Of a ring one of the others closes the loop."""
    names = ("ab", "bc", "ca")
    text = bodies("a", "b", "c")
    for k, name in enumerate(names):
        drive = (tokens.DRIVE + ":angular",) if k == place else ()
        text += joint(name, "Revolute", f"/{name[0]}", f"/{name[1]}", "", drive)
    loop, _ = loop_of(text)
    assert loop.name != f"/robot/{names[place]}"


def test_nested_roots_are_an_error():
    """A root below another root is refused, by name."""
    (error,) = errors_of(open_text(below(bodies("a", "b", root="a") + chain("a", "b"))))
    assert error == "/robot/a: is an articulation root below another one, /robot; remove one of the two"


def test_joints_between_two_articulations():
    """Roots joined by a joint stay two trees, and the joint is held between them; a note says so."""
    text = below(bodies("a"), "one") + below(bodies("b", "c") + chain("b", "c"), "two")
    stage = open_text(text + joint("ca", "Revolute", "/two/c", "/one/a"))
    scene = read_stage(stage)
    assert [tree.path for tree in scene.articulations] == ["/one", "/two"]
    (loop,) = scene.articulations[1].constraints
    assert (loop.name, loop.link0, loop.link1, loop.articulation1) == ("/ca", 1, 0, "/one")
    assert mechanisms_of(scene) == ((0, 1),)
    assert "/ca: joins the articulations /two and /one: it is held between their trees" in notes_of(stage)
    assert warnings_of(stage) == []


def test_excluded_joints_between_free_bodies():
    """Bodies that only such joints connect float, each with six dofs."""
    excluded = "bool physics:excludeFromArticulation = 1"
    text = (
        bodies("a", "b", "c") + joint("ab", "Revolute", "/a", "/b", excluded) + joint("w", "Fixed", "", "/a", excluded)
    )
    scene = read_stage(open_text(text))
    assert [tree.is_floating for tree in scene.articulations] == [True] * 3
    assert [len(tree.constraints) for tree in scene.articulations] == [2, 0, 0]
    assert mechanisms_of(scene) == ((0, 1), (2,))


def test_body_in_two_articulations_is_an_error():
    """Two roots joined through a body of neither are refused, both named."""
    text = bodies("a", root="a") + bodies("b", root="b") + bodies("c") + chain("a", "c", "b")
    (error,) = errors_of(open_text(text))
    assert error == "/b: is joined to the articulation /a: a body can be in one articulation only"


def test_disabled_articulation_is_a_tree_all_the_same():
    """articulationEnabled = 0 leaves its joints; a loop in it is closed."""
    text = below("bool physxArticulation:articulationEnabled = 0\n" + bodies("a", "b", "c") + chain("a", "b", "c", "a"))
    stage = open_text(text)
    assert len(read_stage(stage).articulations[0].joints) == 2
    assert any(text.startswith("/robot: the articulation is disabled") for text in notes_of(stage))
    assert any("it is held beside the tree" in text for text in notes_of(stage))


def test_root_without_bodies_is_reported():
    """A root above nothing has no effect, and is named."""
    (warning,) = warnings_of(open_text(bodies("a") + f'def Xform "empty" {schemas(*ROOT)} {{\n}}\n'))
    assert warning.startswith("/empty: is an articulation root without a rigid body")


def test_newton_root_is_a_root():
    """NewtonArticulationRootAPI brings the root schema with it, also where its plugin is not registered."""
    stage = open_text(body("a", applied=("NewtonArticulationRootAPI",)) + bodies("b") + chain("b", "a"))
    assert read_stage(stage).articulations[0].path == "/a"


@pytest.mark.parametrize("owner", ["physxArticulation", "physxRigidBody"])
def test_iteration_counts(owner):
    """Iteration counts are those of the root prim; of a free body those of the body."""
    content = f"int {owner}:solverPositionIterationCount = 8\nint {owner}:solverVelocityIterationCount = 2"
    (tree,) = read_stage(open_text(body("a", content))).articulations
    assert (tree.position_iterations, tree.velocity_iterations) == (8, 2)


@pytest.mark.parametrize("kind, count, least", [("Position", -8, 1), ("Position", 0, 1), ("Velocity", -1, 0)])
def test_bad_iteration_count_is_an_error(kind, count, least):
    """There is at least one position iteration, and no negative count."""
    (error,) = errors_of(open_text(body("a", f"int physxArticulation:solver{kind}IterationCount = {count}")))
    assert error == (
        f"/a.physxArticulation:solver{kind}IterationCount: is {count}, must be a whole number of at least {least} "
        "and at most 1000000"
    )


@pytest.mark.parametrize("kind, least", [("Position", 1), ("Velocity", 0)])
@pytest.mark.parametrize("count", [1_000_001, 2**31 - 1])
def test_check_and_build_agree_on_iterations(kind, least, count):
    """What the one refuses the other does too, and in the same words; what both take runs."""
    sentence = f"is {count}, must be a whole number of at least {least} and at most 1000000"
    (error,) = errors_of(open_text(body("a", f"int physxArticulation:solver{kind}IterationCount = {count}")))
    assert error.endswith(sentence)
    name = f"{kind.lower()}_iterations"
    with pytest.raises(SettingsError, match=f"{name}: {sentence}"):
        SolverSettings(**{name: count})
    stage = open_text(body("a", f"int physxArticulation:solver{kind}IterationCount = 1000000"))
    scene = read_stage(stage)
    assert getattr(SolverSettings().resolved(scene), name) == 1_000_000
    (tree,) = scene.articulations
    with pytest.raises(DescriptionError, match=f"{name} {sentence}"):
        validate(replace(scene, articulations=(replace(tree, **{name: count}),)))


def test_order_is_depth_first_as_composed():
    """Links and dofs are listed as the stage lists its prims, whatever the tree is."""
    ball = joint("ball", "Spherical", "/c", "/a")
    scene = read_stage(open_text(bodies("c") + ball + bodies("b", "a") + joint("slide", "Prismatic", "/b", "/c")))
    assert scene.link_names == ("/c", "/b", "/a")
    assert scene.dof_names == ("/ball:rotX", "/ball:rotY", "/ball:rotZ", "/slide")
    assert joint_of(scene, "/ball").dofs[1].name == "/ball:rotY"
