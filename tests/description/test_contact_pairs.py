"""Which colliders may touch, what they are to each other, and which articulations contacts make one mechanism."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import warp_artic as wa
from tests.trees import chain
from warp_artic.description.collider import Collider, CollisionGroup, ContactFilter
from warp_artic.description.contact_mechanisms import MOST_DOFS
from warp_artic.description.contact_pairs import contact_pairs
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.reach import ball_of, reaches, shape_reach
from warp_artic.description.start_pose import start_poses
from warp_artic.description.surface import CombineMode, Surface, combined
from warp_artic.description.validate import validate

NONE = ContactFilter()
FLOOR = Collider(path="/floor", kind=wa.ShapeKind.PLANE, shape=wa.Shape(path="/floor", kind=wa.ShapeKind.PLANE))


def ball(path: str, tree: str = "", body: str = "", radius: float = 0.1, at=(0.0, 0.0, 0.0), **values) -> Collider:
    """A sphere on a body of a tree, or on none."""
    shape = wa.Shape(path=path, kind=wa.ShapeKind.SPHERE, radius=radius, frame=wa.Pose(at))
    return Collider(path=path, kind=shape.kind, shape=shape, articulation=tree, body=body or tree, **values)


def body(path: str, at=(0.0, 0.0, 0.0)) -> wa.Articulation:
    """A free body."""
    link = wa.Link(path=path, mass=1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0), pose=wa.Pose(at))
    return wa.Articulation(path=path, links=(link,), joints=())


def names(found) -> set[str]:
    """The names of all pairs."""
    return {pair.name for pairs in found.pairs.values() for pair in pairs}


def with_pairs(trees, found) -> wa.Scene:
    """The scene of trees with their pairs, which breaks no rule."""
    scene = wa.Scene(
        articulations=tuple(replace(one, constraints=tuple(found.pairs.get(one.path, ()))) for one in trees)
    )
    validate(scene)
    return scene


def on_links(tree: wa.Articulation, **values) -> list[Collider]:
    """A ball at the centre of mass of each link of a tree."""
    links = [link for link in tree.links if not link.is_massless]
    return [ball(f"{one.path}/ball", tree.path, one.path, at=one.center_of_mass, **values) for one in links]


def test_bodies_and_floor():
    """Free bodies touch each other and the floor, and become one mechanism; their pairs are sorted by path."""
    trees = [body("/b"), body("/a", (1.0, 0.0, 0.0))]
    found = contact_pairs(trees, [ball("/b/s", "/b"), FLOOR, ball("/a/s", "/a"), ball("/wall")], NONE)
    assert [pair.name for pair in found.pairs["/a"]] == ["/a/s:/b/s", "/floor:/a/s", "/wall:/a/s"]
    assert [pair.name for pair in found.pairs["/b"]] == ["/floor:/b/s", "/wall:/b/s"]
    between, world = found.pairs["/a"][:2]
    assert (between.link0, between.link1, between.articulation1) == (0, 0, "/b")
    assert (world.link0, world.link1, world.articulation1) == (wa.WORLD, 0, "")
    assert world.shape0 is FLOOR.shape and (found.passing_count, found.untouched) == (0, [])
    assert mechanisms_of(with_pairs(trees, found)) == ((0, 1),)


def test_numbers_of_a_pair():
    """Offsets add up, the slower depenetration counts, and the threshold is that of all."""
    surface = Surface(static_friction=0.9, dynamic_friction=0.7, restitution=0.4)
    first = ball("/a/s", "/a", contact_offset=0.02, rest_offset=0.01, depenetration_speed=2.0, surface=surface)
    second = ball("/w", contact_offset=0.03, rest_offset=-0.005, depenetration_speed=5.0)
    (pair,) = contact_pairs([body("/a")], [first, second], NONE, bounce_threshold=0.3).pairs["/a"]
    assert pair.contact_distance == pytest.approx(0.05) and pair.rest_distance == pytest.approx(0.005)
    assert (pair.depenetration_speed, pair.bounce_threshold) == (2.0, 0.3)
    assert (pair.static_friction, pair.dynamic_friction, pair.restitution) == pytest.approx((0.7, 0.6, 0.2))


def test_order_of_what_is_given_does_not_matter():
    """Pairs are the same in any order of colliders."""
    trees = [body(f"/{letter}") for letter in "abcd"]
    colliders = [ball(f"{one.path}/{number}", one.path) for one in trees for number in range(2)] + [FLOOR]
    expected = contact_pairs(trees, colliders, NONE).pairs
    assert contact_pairs(trees, colliders[::-1], NONE).pairs == expected
    assert len(names(contact_pairs(trees, colliders, NONE))) == 6 * 4 + 8


def test_links_of_one_tree():
    """Links touch each other but for those of a joint, one link not itself, and none where the tree is kept apart."""
    tree = chain(4)
    colliders = on_links(tree) + [ball("/second", tree.path, tree.links[0].path)]
    joined = {frozenset((tree.links[joint.parent].path, tree.links[joint.child].path)) for joint in tree.joints[1:]}
    found = contact_pairs([tree], colliders, ContactFilter(apart=frozenset(joined)))
    touching = {
        frozenset((pair.link0, pair.link1)) for pairs in found.pairs.values() for pair in pairs if pair.link0 >= 0
    }
    assert touching == {frozenset(pair) for pair in combinations(range(4), 2) if abs(pair[0] - pair[1]) > 1}
    alone = ContactFilter(apart=frozenset((frozenset((tree.path,)),)))
    assert names(contact_pairs([tree], colliders, alone)) == set()
    assert len(names(contact_pairs([tree], [*colliders, FLOOR], alone))) == 5


def test_what_cannot_move_does_not_touch():
    """Links that fixed joints hold to each other or to the world touch neither each other nor the world."""
    tree = chain(3)
    joints = tuple(replace(joint, dofs=()) if place != 1 else joint for place, joint in enumerate(tree.joints))
    tree = replace(tree, joints=joints)
    found = contact_pairs([tree], [*on_links(tree), FLOOR], NONE)
    pairs = {(pair.link0, pair.link1) for pair in found.pairs[tree.path]}
    assert pairs == {(0, 1), (0, 2), (wa.WORLD, 1), (wa.WORLD, 2)}


@pytest.mark.parametrize(
    "pair", [("/a/s", "/b/s"), ("/a", "/b"), ("/a/s", "/b")], ids=["colliders", "bodies", "collider and body"]
)
def test_filtered_pairs(pair):
    """A pair of names keeps apart, and bodies that nothing else joins are mechanisms of their own."""
    trees = [body("/a"), body("/b")]
    found = contact_pairs(
        trees, [ball("/a/s", "/a"), ball("/b/s", "/b"), FLOOR], ContactFilter(apart=frozenset((frozenset(pair),)))
    )
    assert names(found) == {"/floor:/a/s", "/floor:/b/s"} and found.passing_count == 0
    assert len(mechanisms_of(with_pairs(trees, found))) == 2


def test_groups():
    """Groups block each other whichever lists the other, inverted ones all but those they list, merged ones are one."""

    def touch(first, second, *groups):
        colliders = [ball("/a/s", "/a", groups=frozenset(first)), ball("/b/s", "/b", groups=frozenset(second))]
        return bool(names(contact_pairs([body("/a"), body("/b")], colliders, ContactFilter(groups=groups))))

    one, two = CollisionGroup(path="/1", filtered=frozenset(("/2",))), CollisionGroup(path="/2")
    assert not touch(["/1"], ["/2"], one, two) and not touch(["/2"], ["/1"], one, two)
    assert touch(["/1"], ["/1"], one, two) and touch(["/1"], [], one, two) and touch([], [], one, two)
    inverted = replace(one, is_inverted=True)
    assert touch(["/1"], ["/2"], inverted, two) and not touch(["/1"], ["/1"], inverted, two)
    merged = (replace(one, merged="x"), replace(two, path="/3", merged="x"), two)
    assert not touch(["/3"], ["/2"], *merged)
    assert touch(["/3"], ["/1"], *merged)


def test_scenes():
    """Colliders of different physics scenes do not touch."""
    colliders = [ball("/a/s", "/a", owner="/one"), ball("/b/s", "/b", owner="/two"), ball("/w", owner="/two")]
    assert names(contact_pairs([body("/a"), body("/b")], colliders, NONE)) == {"/w:/b/s"}


def test_kinds_that_are_not_simulated():
    """They are told where something could touch them, and touch nothing."""
    mesh = Collider(path="/mesh", kind=wa.ShapeKind.MESH)
    dust = Collider(path="/a/dust", kind=None, body="/a", articulation="/a")
    found = contact_pairs([body("/a")], [ball("/a/s", "/a"), mesh, dust], NONE)
    assert names(found) == set() and found.untouched == [dust, mesh]
    assert contact_pairs([body("/a")], [ball("/a/s", "/a"), dust], NONE).untouched == []
    assert contact_pairs([body("/a")], [mesh, replace(mesh, path="/m")], NONE).untouched == []
    plane = replace(FLOOR, path="/a/p", body="/a", articulation="/a", shape=replace(FLOOR.shape, path="/a/p"))
    assert names(contact_pairs([body("/a")], [plane, FLOOR], NONE)) == set()


def test_reach():
    """Trees on fixed bases touch only what they can get to."""
    near, far = chain(3), chain(3)
    reach = max(shape_reach(one.shape, reaches(near)[link])[1] for link, one in enumerate(on_links(near)))

    def at(tree, distance):
        joint = tree.joints[0]
        frame = wa.Pose((distance, 0.0, 0.0)) @ joint.parent_frame
        joints = (replace(joint, parent_frame=frame), *tree.joints[1:])
        links = tuple(replace(one, path=f"/far{one.path}", pose=wa.Pose((distance, 0.0, 0.0))) for one in tree.links)
        return replace(tree, path="/far", joints=joints, links=links)

    for distance, is_met in ((2.0 * reach - 0.01, True), (2.0 * reach + 0.01, False)):
        other = at(far, distance)
        found = contact_pairs([near, other], [*on_links(near), *on_links(other)], ContactFilter())
        assert any(pair.articulation1 for pair in found.pairs[near.path]) == is_met
        assert found.passing_count == 0
    base = near.joints[0].parent_frame.position
    low = replace(FLOOR, shape=replace(FLOOR.shape, frame=wa.Pose((0.0, 0.0, base[2] - reach - 0.01))))
    high = replace(FLOOR, shape=replace(FLOOR.shape, frame=wa.Pose((0.0, 0.0, base[2] - reach + 0.01))))
    apart = ContactFilter(apart=frozenset((frozenset((near.path,)),)))
    assert not names(contact_pairs([near], [*on_links(near), low], apart))
    assert len(names(contact_pairs([near], [*on_links(near), high], apart))) == 1


def test_shapes_stay_within_their_reach():
    """Wherever joints are, a shape is in the ball that it is said to be in."""
    rng = np.random.default_rng(3)
    tree = chain(4)
    found = reaches(tree)
    for _ in range(50):
        angles = iter(rng.uniform(-math.pi, math.pi, len(tree.dofs)))
        joints = tuple(
            replace(joint, dofs=tuple(replace(dof, position=next(angles)) for dof in joint.dofs))
            for joint in tree.joints
        )
        poses = start_poses(replace(tree, joints=joints))
        for link, one in enumerate(on_links(tree)):
            center, radius = shape_reach(one.shape, found[link])
            place, size = ball_of(one.shape)
            assert math.dist(poses[link].apply(place), center) + size <= radius + 1e-9


def test_balls_enclose_shapes():
    """The ball around a shape is as large as its farthest point is away."""
    kinds = {
        wa.ShapeKind.CAPSULE: 0.3,
        wa.ShapeKind.CYLINDER: math.hypot(0.1, 0.2),
        wa.ShapeKind.CONE: math.hypot(0.1, 0.2),
        wa.ShapeKind.BOX: math.hypot(1.0, 2.0, 3.0),
        wa.ShapeKind.ELLIPSOID: 3.0,
        wa.ShapeKind.PLANE: math.inf,
    }
    for kind, radius in kinds.items():
        shape = wa.Shape(path="/s", kind=kind, radius=0.1, half_height=0.2, half_extents=(1.0, 2.0, 3.0))
        assert ball_of(shape)[1] == pytest.approx(radius)
    points = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))
    hull = wa.Shape(path="/s", kind=wa.ShapeKind.CONVEX, points=points, frame=wa.Pose((1.0, 0.0, 0.0)))
    center, radius = ball_of(hull)
    assert center == pytest.approx((2.0, 1.0, 1.0)) and radius == pytest.approx(math.sqrt(3.0))


def test_mechanisms_are_bounded():
    """Bodies that may touch become one mechanism up to its size; of more, all contacts are solved by islands."""
    trees = [body(f"/b{number:02}", (0.1 * number, 0.0, 0.0)) for number in range(40)]
    colliders = [ball(f"{one.path}/s", one.path) for one in trees]
    few = trees[: MOST_DOFS // 6]
    found = contact_pairs(few, [*colliders[: len(few)], FLOOR], NONE)
    assert set(mechanisms_of(with_pairs(few, found))) == {tuple(range(len(few)))}
    assert found.islands is None and found.passing_count == 0
    found = contact_pairs(trees, [*colliders, FLOOR], NONE)
    assert found.pairs == {} and found.passing_count == 0
    assert found.islands.articulations == {one.path for one in trees}
    assert found.islands.colliders == (*colliders, FLOOR)


@pytest.mark.parametrize("links, touches_in_islands", [(40, False), (60, True)])
def test_what_touches_itself_much_is_solved_by_islands(links, touches_in_islands):
    """A rope of 150 capsules had 11,000 pairs in one problem, and was built for minutes; not where it must be alone."""
    rope = chain(links)
    colliders = on_links(rope)
    found = contact_pairs([rope], colliders, NONE)
    assert (found.islands is not None) == touches_in_islands
    assert len(names(found)) == (0 if touches_in_islands else links * (links - 1) // 2)
    assert contact_pairs([rope], colliders, NONE, alone=(rope.path,)).islands is None


def test_mechanisms_that_must_be_alone():
    """What must be a mechanism by itself touches the world and itself only; what starts far away is found in steps."""
    trees = [body("/a"), body("/b", (1.0, 0.0, 0.0)), body("/c", (1000.0, 0.0, 0.0))]
    colliders = [ball(f"{one.path}/s", one.path) for one in trees]
    found = contact_pairs(trees, [*colliders, FLOOR], NONE, alone=("/a",))
    assert names(found) == {"/floor:/a/s"}
    assert found.islands.articulations == {"/b", "/c"}
    assert found.passing_count == 2 and set(found.passing) == {("/a", "/b"), ("/a", "/c")}


def test_joined_trees_touch_whatever_their_size():
    """Trees that a constraint joins are one mechanism in any case, so contacts cost no joining."""
    first, second = chain(100), chain(100)
    second = replace(
        second, path="/second", links=tuple(replace(one, path=f"/second{one.path}") for one in second.links)
    )
    rod = wa.Distance(name="/rod", link0=0, link1=0, articulation1="/second", upper=1.0)
    trees = [replace(first, constraints=(rod,)), second]
    colliders = [on_links(first)[-1], on_links(second)[-1]]
    assert len(names(contact_pairs(trees, colliders, NONE))) == 1
    assert contact_pairs([first, second], colliders, NONE).islands.articulations == {first.path, "/second"}


MODES = {"average": 0.45, "min": 0.1, "multiply": 0.08, "max": 0.8}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("other", MODES)
def test_combine_modes(mode, other):
    """Of two modes the later one in the order average, min, multiply, max counts."""
    first = Surface(dynamic_friction=0.1, static_friction=0.1, restitution=0.8, friction_mode=CombineMode(mode))
    second = Surface(dynamic_friction=0.8, static_friction=0.8, restitution=0.1, restitution_mode=CombineMode(other))
    together = combined(
        replace(first, restitution_mode=CombineMode(mode)), replace(second, friction_mode=CombineMode(other))
    )
    expected = MODES[max(mode, other, key=list(MODES).index)]
    assert together.dynamic_friction == pytest.approx(expected)
    assert together.static_friction == pytest.approx(expected)
    assert together.restitution == pytest.approx(expected)


def test_compliant_pairs():
    """A compliant surface makes the pair compliant, and it does not bounce; static is not below dynamic friction."""
    soft = Surface(stiffness=100.0, damping=3.0, restitution=0.5, static_friction=0.1, dynamic_friction=0.3)
    assert combined(soft, Surface(restitution=0.9, damping=9.0)).stiffness == 100.0
    together = combined(Surface(restitution=0.9, damping=9.0), soft)
    assert (together.stiffness, together.damping, together.restitution) == (100.0, 3.0, 0.0)
    both = combined(soft, Surface(stiffness=300.0, damping=5.0, damping_mode=CombineMode.MAX))
    assert (both.stiffness, both.damping) == (200.0, 5.0)
    assert together.static_friction == together.dynamic_friction == pytest.approx(0.4)
