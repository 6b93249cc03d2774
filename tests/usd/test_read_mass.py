"""Mass properties of bodies, against hand values and against ComputeMassProperties of UsdPhysics."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pxr import Gf, UsdPhysics

from tests.usd.authoring import SMALL_UNITS, body, errors_of, link_of, notes_of, open_text, schemas, warnings_of
from warp_artic.description.pose import matrix_from_quaternion
from warp_artic.usd import tessellate
from warp_artic.usd.read_stage import read_stage

COLLIDER = ("PhysicsCollisionAPI",)


def shape(kind: str, content: str, applied: tuple[str, ...] = (), name: str = "shape") -> str:
    return f'def {kind} "{name}" {schemas(*COLLIDER, *applied)} {{\n{content}\n}}\n'


ORDER = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
SCALED = "float3 xformOp:scale = (2, 2, 2)\n" + ORDER
"""Content of a body at twice its size."""


def placed(at, scale) -> str:
    return f"double3 xformOp:translate = {at}\nfloat3 xformOp:scale = {scale}\n" + ORDER


def box(content: str, mass: str = "", applied: tuple[str, ...] = (), header: str | None = None):
    text = body("box", content, applied, mass)
    return open_text(text) if header is None else open_text(text, header)


def of_box(stage):
    link = link_of(read_stage(stage), "/box")
    xx, xy, xz, yy, yz, zz = link.inertia
    return link.mass, np.array(link.center_of_mass), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@pytest.mark.parametrize(
    "kind, content, volume, moments",
    [
        ("Cube", "double size = 2", 8, (2 / 3, 2 / 3, 2 / 3)),
        ("Sphere", "double radius = 2", 32 / 3 * np.pi, (1.6, 1.6, 1.6)),
        ("Cylinder", 'double radius = 2\ndouble height = 3\ntoken axis = "Z"', 12 * np.pi, (1.75, 1.75, 2)),
        ("Cylinder", 'double radius = 2\ndouble height = 3\ntoken axis = "X"', 12 * np.pi, (2, 1.75, 1.75)),
        ("Cone", 'double radius = 2\ndouble height = 4\ntoken axis = "Z"', 16 / 3 * np.pi, (1.2, 1.2, 1.2)),
        ("Cube", "", 8, (2 / 3, 2 / 3, 2 / 3)),
    ],
)
def test_colliders_of_default_density(kind, content, volume, moments):
    """Each shape gives 1000 kg/m^3 times its volume, also with the sizes of its schema."""
    mass, _, inertia = of_box(box(shape(kind, content)))
    assert mass == pytest.approx(1000 * volume)
    assert inertia == pytest.approx(mass * np.diag(moments), rel=1e-6, abs=1e-6 * mass)


def test_mass_of_zero_means_unset():
    """As in UsdPhysics; since it is authored, that is said."""
    stage = box(shape("Cube", "double size = 2\nfloat physics:mass = 0"))
    assert of_box(stage)[0] == pytest.approx(8000)
    text = "/box/shape.physics:mass: is 0, which means unset: the mass is its volume times its density"
    assert text in notes_of(stage)
    assert text not in notes_of(box(shape("Cube", "double size = 2")))


def test_collider_in_small_units():
    """A cube of 10 cm of density 2 g/cm^3 weighs 2 kg, whatever the stage unit."""
    stage = box(shape("Cube", "double size = 10"), "float physics:density = 2", header=SMALL_UNITS)
    mass, _, inertia = of_box(stage)
    assert mass == pytest.approx(2)
    assert inertia == pytest.approx(2 * 0.01 / 6 * np.eye(3))
    mass, _, _ = of_box(box(shape("Cube", "double size = 10"), header=SMALL_UNITS))
    assert mass == pytest.approx(1)


def test_scaled_body_and_collider():
    """The mass of a scaled collider below a scaled body is that of its world size; its centre is in the link frame."""
    content = SCALED + shape("Cube", "double size = 1\n" + placed((1, 0, 0), (1, 2, 3)))
    mass, center, inertia = of_box(box(content, "float physics:mass = 6"))
    assert (mass, center) == (6.0, pytest.approx((2, 0, 0)))
    assert inertia == pytest.approx(6 / 12 * np.diag((16 + 36, 4 + 36, 4 + 16)))


def test_principal_axes_turn_the_inertia():
    """Unauthored principal axes are the axes of the body; ComputeMassProperties leaves them undefined then."""
    diagonal = "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 2, 2.5)"
    _, _, inertia = of_box(box("", diagonal))
    assert inertia == pytest.approx(np.diag((1, 2, 2.5)))
    turned = diagonal + "\nquatf physics:principalAxes = (0.70710678, 0, 0, 0.70710678)"
    _, _, inertia = of_box(box("", turned))
    assert inertia == pytest.approx(np.diag((2, 1, 2.5)), abs=1e-6)


def test_newton_inertia_has_its_own_order():
    """newton:inertia is xx, yy, zz, xy, xz, yz and stands above the diagonal."""
    values = "float physics:mass = 1\ndouble[] newton:inertia = [1, 2, 2.5, 0.1, 0.2, 0.3]"
    _, _, inertia = of_box(box("", values))
    assert inertia == pytest.approx(np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]))
    stage = box("", values + "\nfloat3 physics:diagonalInertia = (1, 2, 3)")
    assert any("gives (" in text and "but newton:inertia gives (" in text for text in warnings_of(stage))


def test_mass_without_inertia_or_colliders():
    """A mass alone gets the inertia of a small ball, as in UsdPhysics, and a warning."""
    stage = box("", "float physics:mass = 5")
    _, _, inertia = of_box(stage)
    assert inertia == pytest.approx(0.02 * np.eye(3))
    assert any("neither an inertia nor colliders" in text for text in warnings_of(stage))


def test_open_mesh_is_taken_as_its_box():
    """A mesh that encloses nothing gets the box around it, with a warning."""
    mesh = shape(
        "Mesh",
        "point3f[] points = [(0,0,0), (1,0,0), (1,2,0), (0,0,3)]\n"
        "int[] faceVertexCounts = [3, 3]\nint[] faceVertexIndices = [0, 1, 2, 0, 2, 3]",
    )
    mass, center, _ = of_box(box(mesh))
    assert (mass, center) == (pytest.approx(6000), pytest.approx((0.5, 1, 1.5)))
    assert any("not closed" in text for text in warnings_of(box(mesh)))


def test_mesh_with_polygons():
    """A closed mesh of quads is measured as it is."""
    mesh = shape(
        "Mesh",
        "point3f[] points = [(0,0,0),(0,0,1),(0,1,0),(0,1,1),(1,0,0),(1,0,1),(1,1,0),(1,1,1)]\n"
        "int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]\n"
        "int[] faceVertexIndices = [0,1,3,2, 4,6,7,5, 0,4,5,1, 2,3,7,6, 0,2,6,4, 1,5,7,3]",
    )
    mass, center, inertia = of_box(box(mesh))
    assert (mass, center) == (pytest.approx(1000), pytest.approx((0.5, 0.5, 0.5)))
    assert inertia == pytest.approx(1000 / 6 * np.eye(3))


@pytest.mark.parametrize("approximation", ["none", "convexHull", "boundingSphere", "boundingCube"])
def test_points_at_one_place_are_one(approximation):
    """A ball whose triangles have points of their own, as with creases or UVs, is as heavy as one that shares them."""
    points, triangles = tessellate.sphere(0.5)
    found = []
    for own, corners in ((points, triangles), (points[triangles.reshape(-1)], np.arange(triangles.size))):
        listed = ", ".join("({}, {}, {})".format(*point) for point in own.tolist())
        mesh = shape(
            "Mesh",
            f"point3f[] points = [{listed}]\nint[] faceVertexCounts = {[3] * len(triangles)}\n"
            f"int[] faceVertexIndices = {corners.reshape(-1).tolist()}\n"
            f'uniform token physics:approximation = "{approximation}"',
            ("PhysicsMeshCollisionAPI",),
        )
        stage = box(mesh)
        assert not any("not closed" in text for text in warnings_of(stage))
        found.append(of_box(stage))
    (mass, center, inertia), (own_mass, own_center, own_inertia) = found
    assert own_mass == pytest.approx(mass) and own_center == pytest.approx(center, abs=1e-9)
    assert own_inertia == pytest.approx(inertia, abs=1e-6 * inertia.max())
    assert mass == pytest.approx(4 / 3 * np.pi * 0.125 * 1000, rel=0.03)  # a polyhedron in the ball


def test_density_of_a_bound_material():
    """A physics material gives the density where neither collider nor body does."""
    text = body("box", shape("Cube", "rel material:binding:physics = </steel>", ("MaterialBindingAPI",)), (), "")
    steel = f'def Material "steel" {schemas("PhysicsMaterialAPI")} {{\nfloat physics:density = 7800\n}}\n'
    mass, _, _ = of_box(open_text(text + steel))
    assert mass == pytest.approx(8 * 7800)


@pytest.mark.parametrize(
    "content, mass, sentence",
    [
        ("", "", "/box: has no mass"),
        ("", "float physics:mass = 0", "/box: has no mass"),
        (shape("Plane", ""), "", "/box: has no mass"),
        (shape("Cube", "bool physics:collisionEnabled = 0"), "", "/box: has no mass"),
        ("", "float physics:mass = -5", "/box.physics:mass: is -5 kg, must be positive"),
        ("", "float physics:mass = nan", "/box.physics:mass: is nan, must be finite"),
        ("", 'string physics:mass = "heavy"', "/box.physics:mass: is 'heavy', must be a number"),
        (
            "",
            "float physics:mass = 1\nfloat3 physics:diagonalInertia = (0, 0, 0)",
            "/box.physics:diagonalInertia: is (0, 0, 0): all three",
        ),
        (
            "",
            "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, 0)",
            "/box.physics:diagonalInertia: inertia",
        ),
        (
            "",
            "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, -1)",
            "/box.physics:diagonalInertia: iner",
        ),
        (
            "",
            "float physics:mass = 1\ndouble[] newton:inertia = [1, 2]",
            "/box.newton:inertia: is [1, 2], must be six finite numb",
        ),
        ("", "float physics:mass = 1\npoint3f physics:centerOfMass = (0, nan, 0)", "/box.physics:centerOfMass: is"),
        (
            "",
            "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, nan, 1)",
            "/box.physics:diagonalInertia: is",
        ),
        (shape("Sphere", "double radius = -1"), "", "/box/shape.radius: is -1, must not be negative"),
        (shape("Sphere", "double radius = nan"), "", "/box/shape.radius: is nan, must be finite"),
        (
            shape("Mesh", "point3f[] points = [(0, 0, 0)]\nint[] faceVertexCounts = [3]"),
            "",
            "/box/shape.faceVertexIndices: has ",
        ),
    ],
)
def test_bad_mass(content, mass, sentence):
    """What cannot be a mass is one error that names prim, attribute and value."""
    (error,) = errors_of(box(content, mass))
    assert error.startswith(sentence)


def test_what_collides_with_nothing_in_mujoco():
    """It is a disabled collider on a stage, and has a mass, as in MuJoCo."""
    geoms = ('<geom type="box" size="1 1 1" contype="0" conaffinity="0" mass="3"/>', '<geom size="2" mass="5"/>')
    text = f"<mujoco><worldbody><body><freejoint/>{''.join(geoms)}</body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    off = "double size = 2\nfloat physics:mass = 3\nbool physics:collisionEnabled = 0"
    shapes = shape("Cube", off, ("PhysicsMassAPI", "MjcCollisionAPI"), "off")
    shapes += shape("Sphere", "double radius = 2\nfloat physics:mass = 5", ("PhysicsMassAPI", "MjcCollisionAPI"))
    mass, _, inertia = of_box(box(shapes))
    assert (mass, inertia) == (pytest.approx(model.body_mass[1]), pytest.approx(np.diag(model.body_inertia[1])))


def test_triangle_inequality_is_a_warning():
    """An inertia of no solid body is simulated, and reported."""
    stage = box("", "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, 3)")
    assert read_stage(stage)
    assert any("none may exceed the sum of the others" in text for text in warnings_of(stage))


def information(prim):
    """What ComputeMassProperties asks of a shape; sizes in world scale, inertia of density one."""
    result = UsdPhysics.RigidBodyAPI.MassInformation()
    scale = np.array(prim.GetAttribute("xformOp:scale").Get()) * 2.0
    volume = float(np.prod(scale)) * 8
    squares = (2 * scale) ** 2
    moments = volume / 12 * (squares.sum() - squares)
    result.volume = volume
    result.inertia = Gf.Matrix3f(np.diag(moments).tolist())
    result.centerOfMass = Gf.Vec3f(0)
    result.localPos = Gf.Vec3f(*(2.0 * float(x) for x in prim.GetAttribute("xformOp:translate").Get()))
    result.localRot = Gf.Quatf(1)
    return result


LAST = (None, None, (0, 0, 0), (1, 1, 1), True)
"""A cube that is enabled."""
positive = st.floats(0.25, 4.0, width=32)
maybe = st.one_of(st.none(), positive)


def authored(kind: str, name: str, value) -> str:
    return "" if value is None else f"{kind} {name} = {value}\n"


@settings(max_examples=60, deadline=None)
@given(
    own=st.tuples(maybe, maybe),
    shapes=st.lists(
        st.tuples(
            maybe, maybe, st.tuples(*[st.floats(-2, 2, width=16)] * 3), st.tuples(*[positive] * 3), st.booleans()
        ),
        min_size=1,
        max_size=3,
    ),
    center=st.one_of(st.none(), st.tuples(*[st.floats(-1, 1, width=16)] * 3)),
    diagonal=st.one_of(st.none(), st.just((1.0, 1.5, 2.0))),
)
def test_precedence_is_that_of_usd_physics(own, shapes, center, diagonal):
    """Mass, centre and inertia equal those of ComputeMassProperties for any mixture of authored values."""
    parts = [
        shape(
            "Cube",
            authored("float", "physics:mass", mass)
            + authored("float", "physics:density", density)
            + authored("bool", "physics:collisionEnabled", None if is_enabled else 0)
            + placed(at, scale),
            ("PhysicsMassAPI",),
            f"shape{number}",
        )
        for number, (mass, density, at, scale, is_enabled) in enumerate((*shapes, LAST))
    ]
    enabled = [part for part, (*_, is_enabled) in zip(parts, (*shapes, LAST)) if is_enabled]
    values = authored("float", "physics:mass", own[0]) + authored("float", "physics:density", own[1])
    values += authored("point3f", "physics:centerOfMass", center)
    values += authored("float3", "physics:diagonalInertia", diagonal)
    values += "" if diagonal is None else "quatf physics:principalAxes = (1, 0, 0, 0)\n"
    mass, found_center, inertia = of_box(box(SCALED + "".join(parts), values))
    # Before 26.11, OpenUSD counts disabled colliders too.
    stage = box(SCALED + "".join(enabled), values)
    api = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/box"))
    expected_mass, moments, expected_center, axes = api.ComputeMassProperties(information)
    assert mass == pytest.approx(expected_mass, rel=1e-4)
    assert found_center == pytest.approx(np.array(expected_center), abs=1e-3)
    R = matrix_from_quaternion((*axes.GetImaginary(), axes.GetReal()))
    expected = R @ np.diag(moments) @ R.T
    assert inertia == pytest.approx(expected, rel=2e-3, abs=2e-3 * np.abs(expected).max())
