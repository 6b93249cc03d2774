"""Physics materials and offsets of colliders, in all dialects, become numbers of contact pairs."""

import math

import mujoco
import pytest

from tests.usd.authoring import body, schemas
from tests.usd.contact_stages import CENTIMETRES, FLOOR, collider, contacts_of

BIND = "rel material:binding:physics = </rubber>\n"
FRICTION = "float physics:staticFriction = 0.9\nfloat physics:dynamicFriction = 0.7\nfloat physics:restitution = 0.4\n"


def material(content: str, name: str = "rubber", *applied: str) -> str:
    """A physics material."""
    return f'def Material "{name}" {schemas("PhysicsMaterialAPI", *applied)} {{\n{content}\n}}\n'


def ball(content: str = "", name: str = "a", applied=(), on: str = "", on_applied=()) -> str:
    """A body with a ball; content and schemas of the ball, and of the body."""
    return body(name, on + collider("Sphere", "shape", content, applied), on_applied)


def pair_of(text: str, header=None, told=(), name="/floor:/a/shape"):
    """The pair of the ball /a/shape and the floor; what is told beside it."""
    read = contacts_of(text) if header is None else contacts_of(text, header)
    assert read.told == list(told)
    return read.pairs[name]


def test_colliders_without_material():
    """They are as in PhysX, which is noted once with the first of them."""
    read = contacts_of(ball() + ball(name="b") + FLOOR)
    pair = read.pairs["/floor:/a/shape"]
    assert (pair.static_friction, pair.dynamic_friction, pair.restitution) == (0.5, 0.5, 0.0)
    assert (pair.stiffness, pair.damping, pair.bounce_threshold, pair.depenetration_speed) == (math.inf, 0, 0.2, 3.0)
    assert read.notes == [
        "/: 3 colliders without a physics material: friction 0.5 and restitution 0 are taken for /a/shape, /b/shape, "
        "/floor"
    ]


def test_material_by_binding():
    """A bound physics material counts, that of what is above too; what it does not author is zero."""
    pair = pair_of(ball(BIND) + material(FRICTION) + FLOOR)
    assert (pair.static_friction, pair.dynamic_friction, pair.restitution) == pytest.approx((0.7, 0.6, 0.2))
    assert pair_of(ball("", on=BIND) + material(FRICTION) + FLOOR) == pair
    bare = pair_of(ball(BIND) + material("float physics:dynamicFriction = 0.3") + FLOOR)
    assert (bare.static_friction, bare.dynamic_friction, bare.restitution) == pytest.approx((0.4, 0.4, 0.0))
    looks = f'def Material "rubber" {{\n}}\n{ball(BIND.replace(":physics", ""))}{FLOOR}'
    assert pair_of(looks).dynamic_friction == 0.5


def test_materials_of_faces():
    """A collider has one material: those of subsets of its faces are told by name, and what is taken instead."""
    subset = (
        f'def GeomSubset "{{}}" {schemas("MaterialBindingAPI")} {{{{\nuniform token elementType = "face"\n'
        'uniform token familyName = "materialBind"\nint[] indices = {}\nrel material:binding{} = </{}>\n}}\n'
    )
    mesh = (
        "int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]\n"
        "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]\n"
    )
    mesh += subset.format("lid", "[0, 1]", ":physics", "rubber") + subset.format("rest", "[2, 3]", "", "looks")
    more = material(FRICTION) + material(FRICTION, "ice") + 'def Material "looks" {\n}\n' + FLOOR
    text = "/a/shape: physics materials of subsets of its faces do not count: /rubber of lid; {} taken for all of it"
    bare = body("a", collider("Mesh", "shape", mesh))
    told = (text.format("friction 0.5 and restitution 0 are"),)
    assert pair_of(bare + more, told=told).dynamic_friction == pytest.approx(0.5)
    bound = body("a", collider("Mesh", "shape", mesh + BIND.replace("rubber", "ice"), ("MaterialBindingAPI",)))
    assert pair_of(bound + more, told=(text.format("/ice is"),)).dynamic_friction == pytest.approx(0.6)
    same = body("a", collider("Mesh", "shape", mesh + BIND, ("MaterialBindingAPI",)))
    assert pair_of(same + more).dynamic_friction == pytest.approx(0.6)


def test_material_of_the_scene():
    """What is bound to the physics scene is taken where nothing is bound."""
    scene = f'def PhysicsScene "scene" {schemas("MaterialBindingAPI")} {{\n{BIND}}}\n'
    pair = pair_of(scene + ball() + material(FRICTION) + FLOOR)
    assert (pair.static_friction, pair.dynamic_friction, pair.restitution) == pytest.approx((0.9, 0.7, 0.4))


def test_combine_modes():
    """Each of the modes of PhysX, the one that wins of two."""
    api = "PhysxMaterialAPI"
    other = "float physics:dynamicFriction = 0.1\nfloat physics:restitution = 0.8\n"
    floor = collider("Plane", "floor", 'token axis = "Z"\nrel material:binding:physics = </ice>\n')
    for mode, friction, bounce in (("min", 0.1, 0.4), ("multiply", 0.07, 0.32), ("max", 0.7, 0.8)):
        words = f'uniform token physxMaterial:frictionCombineMode = "{mode}"\n'
        words += f'uniform token physxMaterial:restitutionCombineMode = "{mode}"\n'
        pair = pair_of(ball(BIND) + material(FRICTION + words, "rubber", api) + material(other, "ice") + floor)
        assert (pair.dynamic_friction, pair.restitution) == pytest.approx((friction, bounce))


@pytest.mark.parametrize(
    "content, expected",
    [
        (
            "float physxMaterial:compliantContactStiffness = 500\nfloat physxMaterial:compliantContactDamping = 7\n",
            (500, 7),
        ),
        ("float newton:contactStiffness = 300\nfloat newton:contactDamping = 5\n", (300, 5)),
        ("float newton:contactStiffness = -inf\nfloat newton:contactDamping = -inf\n", (math.inf, 0)),
        ("float physxMaterial:compliantContactStiffness = 0\n", (math.inf, 0)),
    ],
)
def test_compliance(content, expected):
    """Springs and dampers of PhysX and Newton; zero or minus infinity is none."""
    pair = pair_of(ball(BIND) + material(content, "rubber", "PhysxMaterialAPI", "NewtonMaterialAPI") + FLOOR)
    assert (pair.stiffness, pair.damping) == expected


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("float physics:staticFriction = -1", "/rubber.physics:staticFriction: is -1, must be finite and not negative"),
        ("float physics:restitution = 1.5", "/rubber.physics:restitution: is 1.5, must be from 0 to 1"),
        (
            "float physxMaterial:compliantContactDamping = -2",
            "/rubber.physxMaterial:compliantContactDamping: is -2 force*s/distance, must be finite and not negative",
        ),
    ],
)
def test_materials_that_cannot_be(content, sentence):
    """Are errors with what was found and what is allowed."""
    pair_of(ball(BIND) + material(content) + FLOOR, told=(sentence,))


@pytest.mark.parametrize(
    "content, contact, rest",
    [
        ("", 0.02, 0.0),
        ("double radius = 0.1", 0.004, 0.0),
        ("float physxCollision:contactOffset = 0.05\nfloat physxCollision:restOffset = -0.01", 0.05, -0.01),
        ("float physxCollision:contactOffset = -inf\nfloat physxCollision:restOffset = -inf", 0.02, 0.0),
        ("float physxCollision:restOffset = 0.5", 0.52, 0.5),
        ("float newton:contactMargin = 0.01\nfloat newton:contactGap = 0.04", 0.05, 0.01),
        ("float newton:contactMargin = 0.01\nfloat newton:contactGap = -inf", 0.03, 0.01),
        ("double mjc:margin = 0.05\ndouble mjc:gap = 0.03", 0.08, 0.05),
        ("double mjc:margin = 0.05", 0.07, 0.05),
    ],
)
def test_offsets(content, contact, rest):
    """Of PhysX, Newton and MuJoCo; by default a fiftieth of the size, 2 cm at most."""
    pair = pair_of(ball(content) + FLOOR)
    assert (pair.contact_distance, pair.rest_distance) == pytest.approx((0.02 + contact, rest))


@pytest.mark.parametrize("own, other", [((0.03, 0.01), (0.0, 0.02)), ((0.03, 0.01), (0.02, 0.04))])
def test_offsets_of_mujoco(own, other):
    """A force acts up to the sum of the margins, contacts are there up to that of margins and gaps, as in MuJoCo."""
    mjc = ["double mjc:margin = {}\ndouble mjc:gap = {}\n".format(*one) for one in (own, other)]
    floor = collider("Plane", "floor", f'token axis = "Z"\n{mjc[1]}')
    pair = pair_of(ball(mjc[0]) + floor)

    def found(distance: float) -> tuple[bool, bool]:
        """Whether MuJoCo has a contact of a ball so far above a floor, and a force."""
        geoms = ['margin="{}" gap="{}"'.format(*one) for one in (own, other)]
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><geom type="plane" size="1 1 1" {geoms[1]}/><body pos="0 0 {1.0 + distance}">'
            f'<freejoint/><geom type="sphere" size="1" {geoms[0]}/></body></worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return data.ncon > 0, data.nefc > 0

    for near in (-1e-6, 1e-6):
        assert found(pair.contact_distance + near)[0] == (near < 0.0)
        assert found(pair.rest_distance + near)[1] == (near < 0.0)


def test_offsets_that_cannot_be():
    """A shape is not looked at later than it rests."""
    content = "float physxCollision:contactOffset = 0.01\nfloat physxCollision:restOffset = 0.02"
    sentence = "/a/shape: is touched from 0.01 m on and rests at 0.02 m; the first must be finite, and not the smaller"
    pair_of(ball(content) + FLOOR, told=(sentence,))


def test_dialects_that_differ():
    """Newton comes before PhysX, and what differs is told."""
    content = "float physxCollision:restOffset = 0.01\nfloat newton:contactMargin = 0.02"
    sentence = (
        "/a/shape.physxCollision:restOffset: gives rest 0.01 m, but newton:contactMargin gives 0.02 m, which is used"
    )
    assert pair_of(ball(content) + FLOOR, told=(sentence,)).rest_distance == pytest.approx(0.02)


def test_speeds():
    """The slower depenetration of two bodies and the threshold of the scene count, in metres."""
    scene = f'def PhysicsScene "scene" {schemas("PhysxSceneAPI")} {{\nfloat physxScene:bounceThreshold = 50\n}}\n'
    slow = "float physxRigidBody:maxDepenetrationVelocity = 100\n"
    text = scene + ball(on=slow, on_applied=("PhysxRigidBodyAPI",)) + ball(name="b") + FLOOR
    read = contacts_of(text, CENTIMETRES)
    assert {pair.bounce_threshold for pair in read.pairs.values()} == {0.5}
    speeds = {name: pair.depenetration_speed for name, pair in read.pairs.items()}
    assert speeds == {"/a/shape:/b/shape": 1.0, "/floor:/a/shape": 1.0, "/floor:/b/shape": 3.0}


def test_lengths_are_in_metres():
    """Offsets, stiffness and damping are converted."""
    content = "double radius = 50\nfloat physxCollision:contactOffset = 1\n" + BIND
    soft = "float physxMaterial:compliantContactStiffness = 500\n"
    pair = pair_of(ball(content) + material(soft) + FLOOR, CENTIMETRES)
    assert pair.contact_distance == pytest.approx(0.03) and pair.stiffness == pytest.approx(500.0)


def test_contacts_of_one_dimension():
    """In the MuJoCo dialect two such colliders have no friction; with others it is as ever."""
    smooth = collider("Plane", "ice", "int mjc:condim = 1", ("MjcCollisionAPI",))
    read = contacts_of(ball("int mjc:condim = 1") + smooth + FLOOR)
    frictions = {name: (pair.static_friction, pair.dynamic_friction) for name, pair in read.pairs.items()}
    assert frictions == {"/ice:/a/shape": (0.0, 0.0), "/floor:/a/shape": (0.5, 0.5)}


SURFACES = [(1, (1.0, 0.005, 0.0001)), (3, (0.2, 0.5, 0.01)), (4, (0.7, 0.001, 0.02)), (6, (0.4, 0.003, 0.0002))]
"""Dimensions of contacts and frictions in MuJoCo."""


@pytest.mark.parametrize("own", SURFACES)
@pytest.mark.parametrize("other", SURFACES)
def test_pairs_of_mujoco(own, other):
    """The larger dimension and of each friction the larger one, as MuJoCo combines them."""
    geoms = [f'condim="{dimension}" friction="{" ".join(map(str, friction))}"' for dimension, friction in (own, other)]
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1" {geoms[1]}/><body pos="0 0 0.9">'
        f'<freejoint/><geom type="sphere" size="1" {geoms[0]}/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    dimension, (sliding, _, torsional, rolling, _) = int(data.contact[0].dim), data.contact[0].friction
    text = "float physics:dynamicFriction = {}\ndouble mjc:torsionalfriction = {}\ndouble mjc:rollingfriction = {}\n"
    materials = [material(text.format(*one[1]), name, "MjcMaterialAPI") for one, name in ((own, "one"), (other, "two"))]
    of = [
        f"rel material:binding:physics = </{name}>\nint mjc:condim = {one[0]}\n"
        for one, name in zip((own, other), ("one", "two"))
    ]
    floor = collider("Plane", "floor", f'token axis = "Z"\n{of[1]}', ("MjcCollisionAPI",))
    pair = pair_of(ball(of[0], applied=("MjcCollisionAPI",)) + floor + "".join(materials))
    assert pair.dynamic_friction == pair.static_friction == pytest.approx(sliding * (dimension > 1))
    assert pair.torsional_friction == pytest.approx(torsional * (dimension > 3))
    assert pair.rolling_friction == pytest.approx(rolling * (dimension > 4))


def test_combine_modes_of_pairs_of_mujoco():
    """A mode that is authored comes before the rule of MuJoCo; beside a collider of PhysX it is the average."""
    mjc, bind = ("MjcCollisionAPI",), BIND.replace("rubber", "ice")
    floor = collider("Plane", "floor", f'token axis = "Z"\n{bind}', mjc)
    rough = material("float physics:dynamicFriction = 0.9")
    for words, friction in (("", 0.9), ('"min"', 0.1), ('"average"', 0.5), ('"multiply"', 0.09)):
        words = words and f"uniform token physxMaterial:frictionCombineMode = {words}\n"
        ice = material("float physics:dynamicFriction = 0.1\n" + words, "ice", "PhysxMaterialAPI")
        assert pair_of(ball(BIND, applied=mjc) + rough + ice + floor).dynamic_friction == pytest.approx(friction)
    assert pair_of(ball(BIND) + rough + ice.replace(words, "") + floor).dynamic_friction == pytest.approx(0.5)


def test_torsional_and_rolling_friction():
    """Of Newton as authored, of MuJoCo by the dimension of contacts, of PhysX by a patch; the larger one counts."""

    def turns(text, header=None):
        pair = pair_of(text, header)
        return pytest.approx((pair.torsional_friction, pair.rolling_friction))

    assert turns(ball() + FLOOR) == (0.0, 0.0)
    assert turns(ball("int mjc:condim = 4") + FLOOR) == (0.005, 0.0)
    assert turns(ball("int mjc:condim = 6") + FLOOR) == (0.005, 0.0001)
    newton = material("float newton:torsionalFriction = 0.03\nfloat newton:rollingFriction = 0.002\n")
    assert turns(ball(BIND) + newton + FLOOR) == (0.03, 0.002)
    assert turns(ball("double radius = 50\n" + BIND) + newton + FLOOR, CENTIMETRES) == (0.0003, 0.00002)
    both = ball("int mjc:condim = 6\n" + BIND) + newton + FLOOR
    assert turns(both) == (0.03, 0.002)
    assert turns(both.replace("= 6", "= 4")) == (0.03, 0.0)
    assert turns(both.replace("= 6", "= 3")) == (0.0, 0.0)
    assert turns(ball(BIND, applied=("MjcCollisionAPI",)) + newton + FLOOR) == (0.0, 0.0)
    mjc = material("double mjc:torsionalfriction = 0.2\ndouble mjc:rollingfriction = 0.0\n", "rubber", "MjcMaterialAPI")
    assert turns(ball("int mjc:condim = 6\n" + BIND) + mjc + FLOOR) == (0.2, 0.0)
    patch = "float physxCollision:minTorsionalPatchRadius = 0.1\n"
    assert turns(ball(patch) + FLOOR) == (0.05, 0.0)
