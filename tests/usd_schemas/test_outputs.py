"""What a run writes: attributes that have a place in the schemas, and that nobody reads."""

import pytest

from tests.usd.authoring import pendulum, warnings_of
from tests.usd.meshes import sheet, world
from tests.usd.meshes import tendon as mesh_tendon
from tests.usd_schemas.source import SOURCE, attributes_of, line
from tests.usd_schemas.test_fixed_tendon import TERMS, tendon
from tests.usd_schemas.test_mesh_tendon import NODES
from tests.usd_schemas.test_tendon_attachment import tip

ONE = {"double": 1.0, "vector3d": (1.0, 2.0, 3.0)}


def outputs_of(name: str) -> str:
    """Lines that author every output of a class, with `{}` for the prefix of an instance."""
    specs = [spec for spec in attributes_of(name).values() if spec.documentation.startswith("Output")]
    prefix = "" if specs[0].name.startswith("warpArtic:") else "{}"
    return "".join(line(spec, prefix + spec.name, ONE[str(spec.typeName)]) for spec in specs)


def test_which_classes_have_outputs():
    """Joints, links, tendons and the ends of spatial ones."""
    found = {
        prim.name
        for prim in SOURCE.rootPrims
        if any(spec.documentation.startswith("Output") for spec in prim.attributes)
    }
    assert found == {
        "WarpArticLinkAPI",
        "WarpArticJointAPI",
        "WarpArticFixedTendon",
        "WarpArticTendonAttachment",
        "WarpArticTendonStateAPI",
        "WarpArticMeshTendon",
    }


STAGES = {
    "WarpArticJointAPI": lambda text: pendulum(
        text.replace("{}", "warpArtic:joint:angular:"), applied=("WarpArticJointAPI:angular",)
    ),
    "WarpArticLinkAPI": lambda text: pendulum(rod=text, rod_applied=("WarpArticLinkAPI",)),
    "WarpArticFixedTendon": lambda text: tendon(TERMS + text),
    "WarpArticTendonAttachment": lambda text: tip(text),
    "WarpArticMeshTendon": lambda text: world(sheet(), mesh_tendon(NODES + text)),
    "WarpArticTendonStateAPI": lambda text: pendulum(
        text.replace("{}", "warpArtic:tendon:flexor:"), applied=("WarpArticTendonStateAPI:flexor",)
    ),
}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_with_outputs_is_read_in_silence(name):
    """A run layer can be simulated again: its outputs are no input, and no reason to warn."""
    assert warnings_of(STAGES[name](outputs_of(name))) == warnings_of(STAGES[name](""))


@pytest.mark.parametrize("name", STAGES)
def test_outputs_have_no_fallback(name):
    """Without a run there is no value, rather than a 0 that looks like one."""
    specs = [spec for spec in attributes_of(name).values() if spec.documentation.startswith("Output")]
    assert specs and all(spec.default is None for spec in specs)
