"""Materials of subsets of elastic bodies: Young's modulus and density of their elements, and what is refused."""

import numpy as np
import pytest

from tests.meshes.bodies import box
from tests.meshes.equilibria import solve_equilibrium
from tests.usd.authoring import schemas
from tests.usd.meshes import block, rubber, sheet, world
from warp_artic.cli.inspect_meshes import elastic_body
from warp_artic.description.diagnostic import Severity
from warp_artic.meshes.elastic import node_masses
from warp_artic.usd.read_stage import check_stage, read_stage

YOUNG = "double warpArtic:elasticMaterial:youngModulus"


def steel(content=""):
    """The material /World/steel, 4 times as stiff as rubber, and 2 times as heavy."""
    applied = schemas("WarpArticElasticMaterialAPI")
    density = "double warpArtic:elasticMaterial:density = 2000"
    return f'def Material "steel" {applied} {{\n{YOUNG} = 4000\n{density}\n{content}\n}}\n'


def subset(indices, kind="tetrahedron", name="end"):
    """The subset of a mesh that is made of it."""
    return (
        f'def GeomSubset "{name}" {schemas("MaterialBindingAPI")} {{\nuniform token elementType = "{kind}"\n'
        f'uniform token familyName = "materialBind"\nint[] indices = {list(map(int, indices))}\n'
        "rel material:binding:physics = </World/steel>\n}\n"
    )


def errors(*parts, steel_content="", elastic=""):
    """Errors and warnings of a stage with both materials."""
    material = rubber(f"{YOUNG} = 1000\n{elastic}") + steel(steel_content)
    found = check_stage(world(*parts, material=material))
    return [item for item in found if item.severity is not Severity.NOTE]


@pytest.mark.parametrize("dim", (2, 3))
def test_a_bar_of_two_materials_in_series(dim):
    """Each half is strained by its own modulus, and weighs by its own density."""
    points, elements = box((4, 2, 2)[:dim], (2.0, 1.0, 1.0)[:dim])
    far = np.flatnonzero(points[elements].mean(axis=1)[:, 0] > 1.0)
    pinned = f"uniform int[] warpArtic:elastic:pinnedNodes = {np.flatnonzero(points[:, 0] == 0.0).tolist()}\n"
    authored = np.zeros((len(points), 3))
    authored[:, :dim] = points
    make, kind = (sheet, "face") if dim == 2 else (block, "tetrahedron")
    part = make(pinned + subset(far, kind), authored.tolist(), elements.tolist())
    no_poisson = "double warpArtic:elasticMaterial:poissonRatio = 0"
    stage = world(part, material=rubber(f"{YOUNG} = 1000\n{no_poisson}") + steel(no_poisson))
    assert not [item for item in check_stage(stage) if item.severity is not Severity.NOTE]
    (body,) = read_stage(stage).elastic_bodies
    assert elastic_body(body, {})["moduli_of_elements"] == [1000.0, 4000.0]
    assert elastic_body(body, {})["mass"] == pytest.approx(3000.0)
    np.testing.assert_array_equal(body.moduli, np.where(np.isin(np.arange(len(elements)), far), 4000.0, 1000.0))
    loads = np.zeros_like(body.points)
    tip = np.flatnonzero(points[:, 0] == 2.0)
    of_corner = np.zeros(len(points))
    surface = np.array([np.isin(element, tip).sum() == dim for element in elements])
    for element in elements[surface]:
        of_corner[element[np.isin(element, tip)]] += 1.0
    loads[:, 0] = 1e-3 * of_corner / of_corner.sum()
    moved = solve_equilibrium(body, loads=loads) - body.points
    middle = points[:, 0] == 1.0
    np.testing.assert_allclose(moved[middle, 0], 1e-3 / 1000.0, rtol=1e-4)
    np.testing.assert_allclose(moved[tip, 0], 1e-3 / 1000.0 + 1e-3 / 4000.0, rtol=1e-4)
    mass = node_masses(body)
    assert mass[points[:, 0] < 1.0].sum() < mass[points[:, 0] > 1.0].sum()
    assert mass.sum() == pytest.approx(1000.0 + 2000.0)


def test_other_laws_are_told():
    """What a body has one of is named, with both materials."""
    (found,) = errors(block(subset([1])), steel_content="double warpArtic:elasticMaterial:poissonRatio = 0.4")
    assert (found.rule, found.path) == ("elastic-subset", "/World/block/end")
    assert "its material /World/steel has another poisson ratio than /World/rubber" in found.message


@pytest.mark.parametrize(
    "content, path, text",
    (
        (subset([2]), "/World/block/end.indices", "has element 2; elements are 0 to 1"),
        (subset([0], "face"), "/World/block/end.elementType", "is face, must be tetrahedron on a TetMesh"),
        (
            subset([0]) + subset([0, 1], name="other"),
            "/World/block/other.indices",
            "has element 0, which is in another",
        ),
    ),
)
def test_wrong_subsets(content, path, text):
    """Each is an error at its attribute."""
    (found,) = errors(block(content))
    assert found.severity is Severity.ERROR and found.path == path and text in found.message


def test_subsets_alone_are_not_enough():
    """The mesh itself has a material, or else it is an error that says so."""
    bare = block(subset([0, 1])).replace("rel material:binding:physics = </World/rubber>\n", "")
    found = [item for item in errors(bare) if item.severity is Severity.ERROR]
    assert [item.path for item in found] == ["/World/block"]
    assert "has no material" in found[0].message and "those of subsets are for parts of it" in found[0].message
