"""WarpArticElasticMaterialAPI: what an elastic body is made of."""

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, schemas, warnings_of
from tests.usd.meshes import rubber, sheet, world
from tests.usd_schemas.source import attributes_of, line
from warp_artic.description.elastic_body import ElasticLaw, ElasticMaterial
from warp_artic.usd.read_stage import inspect_stage, read_stage

OWN = "warpArtic:elasticMaterial"
ATTRIBUTES = attributes_of("WarpArticElasticMaterialAPI")
YOUNG = f"double {OWN}:youngModulus = 1000\n"
ROWS = {
    "youngModulus": ("young_modulus", 0.1),
    "poissonRatio": ("poisson_ratio", 1),
    "density": ("density", 1000),
    "massDamping": ("mass_damping", 1),
    "stiffnessDamping": ("stiffness_damping", 1),
}
"""Our field, and what a 1 is in centimetres and grams; in metres and kilograms it is 1."""
OMNI = "OmniPhysicsDeformableMaterialAPI"
PHYSICS = "PhysicsMaterialAPI"


def stage_of(content: str = YOUNG, *applied: str, header: str = SI):
    return world(sheet(), material=rubber(content, *applied), header=header)


def material_of(stage) -> ElasticMaterial:
    (body,) = read_stage(stage).elastic_bodies
    return body.material


def test_every_attribute_has_a_row():
    """Each is tested below."""
    assert {f"{OWN}:{name}" for name in {*ROWS, "law"}} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", ROWS)
def test_reading_and_units(name):
    """A value in the units of the stage becomes one in SI units."""
    field, small = ROWS[name]
    for header, factor in ((SI, 1.0), (SMALL_UNITS, small)):
        young = YOUNG if name != "youngModulus" else ""
        stage = stage_of(f"{young}double {OWN}:{name} = 0.375", header=header)
        assert getattr(material_of(stage), field) == pytest.approx(0.375 * factor, rel=1e-12)
        assert not warnings_of(stage)


@pytest.mark.parametrize("name", [name for name, spec in ATTRIBUTES.items() if spec.default is not None])
def test_fallbacks(name):
    """To author a fallback changes nothing."""
    assert material_of(stage_of(YOUNG + line(ATTRIBUTES[name], name))) == material_of(stage_of())


def test_what_stands_where_nothing_is_authored():
    """In SI units, whatever those of the stage are."""
    found = material_of(stage_of(header=SMALL_UNITS))
    assert (found.law, found.poisson_ratio, found.density) == (ElasticLaw.NEO_HOOKEAN, 0.3, 1000.0)
    assert (found.mass_damping, found.stiffness_damping) == (0.0, 0.0)


@pytest.mark.parametrize("word", ["neoHookean", "corotated"])
def test_law(word):
    """The words that the schema allows."""
    assert word in ATTRIBUTES[f"{OWN}:law"].allowedTokens
    assert material_of(stage_of(f'{YOUNG}uniform token {OWN}:law = "{word}"')).law.value == word


def test_materials_of_others():
    """The same values in other schemas stand where ours are not authored; zero means unset there."""
    omni = "float omniphysics:youngsModulus = 2000\nfloat omniphysics:poissonsRatio = 0.25\n"
    stage = stage_of(f"{omni}float omniphysics:density = 900\nfloat physics:density = 800", OMNI, PHYSICS)
    found = material_of(stage)
    assert (found.young_modulus, found.poisson_ratio, found.density) == (2000.0, 0.25, 900.0)
    stage = stage_of(f"{omni}float omniphysics:density = 0\nfloat physics:density = 800", OMNI, PHYSICS)
    assert material_of(stage).density == 800.0
    assert not warnings_of(stage)
    stage = stage_of(f"{YOUNG}float physics:density = 0", PHYSICS, header=SMALL_UNITS)
    assert material_of(stage).density == 1000.0


def test_ours_comes_before_others():
    """A conflict is reported with both values."""
    stage = stage_of(f"{YOUNG}float omniphysics:youngsModulus = 2000", OMNI)
    assert material_of(stage).young_modulus == 1000.0
    assert warnings_of(stage) == [
        f"/World/rubber.omniphysics:youngsModulus: gives young_modulus 2000 Pa, but {OWN}:youngModulus gives 1000 Pa, "
        "which is used"
    ]


def test_the_physics_binding_comes_first():
    """Of a mesh with a material to look like and one to be made of."""
    look = 'def Material "look" {\n}\n'
    stage = world(sheet("rel material:binding = </World/look>"), look)
    assert material_of(stage).young_modulus == 1000.0


def test_a_material_that_is_bound_to_nothing():
    """It is named attribute by attribute, as whatever has no effect."""
    other = rubber().replace('"rubber"', '"other"')
    assert warnings_of(world(sheet(), other)) == [f"/World/other.{OWN}:youngModulus: is not used"]


def test_a_material_of_a_subset():
    """Some faces may have one of their own; what they look like is no material."""
    half = 'uniform token familyName = "materialBind"\nint[] indices = [1]\nrel material:binding = </World/stiff>\n'
    half = f'def GeomSubset "half" {schemas("MaterialBindingAPI")} {{\n{half}}}\n'
    parts = rubber().replace('"rubber"', '"stiff"'), sheet(name="other").replace("/rubber", "/stiff")
    stage = world(sheet(half), *parts)
    assert not warnings_of(stage)
    binding = stage.GetPrimAtPath("/World/sheet/half").CreateRelationship("material:binding:physics")
    for material in ("stiff", "rubber"):
        binding.SetTargets([f"/World/{material}"])
        assert not warnings_of(stage)


def test_readings_tell_where_values_come_from():
    """They are listed under the body."""
    found = inspect_stage(stage_of(header=SMALL_UNITS)).readings["/World/sheet"]
    (reading,) = [one for one in found if one.field == "young_modulus"]
    assert reading.attribute == f"/World/rubber.{OWN}:youngModulus"
    assert (reading.authored, reading.authored_unit, reading.unit) == (1000, "force/distance^2", "Pa")
    assert reading.value == pytest.approx(100)


@pytest.mark.parametrize(
    "content, error",
    [
        ("", f"/World/rubber.{OWN}:youngModulus: is not authored; /World/sheet is made of it"),
        (YOUNG.replace("1000", "nan"), f"/World/rubber.{OWN}:youngModulus: is nan, must be finite"),
        (YOUNG.replace("1000", "0"), "/World/sheet: Young's modulus 0 Pa must be positive and finite"),
        (YOUNG.replace("1000", "-3"), "/World/sheet: Young's modulus -3 Pa must be positive and finite"),
        (
            f"{YOUNG}double {OWN}:poissonRatio = 0.5",
            "/World/sheet: Poisson's ratio 0.5 must be above -1 and below 0.5",
        ),
        (f"{YOUNG}double {OWN}:poissonRatio = -1", "/World/sheet: Poisson's ratio -1 must be above -1 and below 0.5"),
        (f"{YOUNG}double {OWN}:density = 0", "/World/sheet: density 0 kg/m^3 must be positive and finite"),
        (f"{YOUNG}double {OWN}:massDamping = -1", "/World/sheet: mass damping -1 1/s must be finite and not negative"),
        (
            f"{YOUNG}double {OWN}:stiffnessDamping = -1",
            "/World/sheet: stiffness damping -1 s must be finite and not negative",
        ),
        (
            f'{YOUNG}token {OWN}:law = "linear"',
            f"/World/rubber.{OWN}:law: is 'linear', must be one of neoHookean, corotated",
        ),
        (f'token {OWN}:youngModulus = "soft"', f"/World/rubber.{OWN}:youngModulus: is 'soft', must be a number"),
    ],
)
def test_errors(content, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    assert errors_of(stage_of(content)) == [error]
