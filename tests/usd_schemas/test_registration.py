"""How USD learns of our schemas: by the import, or by an environment variable and no import at all."""

import fnmatch
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pxr import Usd, UsdPhysics

from tests.usd.authoring import SI
from tests.usd_schemas.test_same_mechanism import ours
from warp_artic import schema_root

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
CLASSES = (
    "WarpArticSceneAPI",
    "WarpArticLinkAPI",
    "WarpArticArticulationAPI",
    "WarpArticDriveAPI",
    "WarpArticJointAPI",
    "WarpArticJointFrameAPI",
    "WarpArticMimicAPI",
    "WarpArticFixedTendon",
    "WarpArticSpatialTendon",
    "WarpArticTendonAttachment",
    "WarpArticTendonStateAPI",
    "WarpArticElasticBodyAPI",
    "WarpArticElasticMaterialAPI",
    "WarpArticMeshTendon",
    "WarpArticSkelJointAPI",
)
ASK = "from pxr import Usd; print(bool(Usd.SchemaRegistry().FindConcretePrimDefinition('WarpArticFixedTendon')))"


def answer(code: str, **variables: str) -> str:
    """What a fresh interpreter prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PXR_PLUGINPATH_NAME"} | variables
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.strip()


def test_unknown_without_us():
    """USD by itself knows nothing of our schemas, so the other tests here mean something."""
    assert answer(ASK) == "False"


def test_known_after_the_import():
    """`import warp_artic` is enough, where it comes before USD looks at schemas."""
    assert answer(f"import warp_artic; {ASK}") == "True"


def test_known_without_any_import():
    """PXR_PLUGINPATH_NAME makes any program with USD know them."""
    assert answer(ASK, PXR_PLUGINPATH_NAME=str(schema_root())) == "True"


def test_stages_read_the_same_without_registration(tmp_path):
    """Where USD has looked at schemas before the import, it never learns of ours; attributes go by their names."""
    path = tmp_path / "mechanism.usda"
    ours(SI).GetRootLayer().Export(str(path))
    read = f"import warp_artic; print(hash(repr(warp_artic.read_stage({str(path)!r}))))"
    late = f"{ASK}; {read}; {ASK}"
    here = answer(read, PYTHONHASHSEED="0")
    assert answer(late, PYTHONHASHSEED="0").splitlines() == ["False", here, "False"]


def test_the_import_reads_no_stage_module():
    """Registering costs little: neither Usd nor the simulator is loaded."""
    code = "import sys, warp_artic; print([name for name in ('pxr.Usd', 'warp', 'numpy') if name in sys.modules])"
    assert answer(code) == "[]"


def test_the_import_works_without_usd():
    """The simulator itself does without USD."""
    code = "import sys; sys.modules['pxr'] = None; import warp_artic; print(warp_artic.schema_root().name)"
    assert answer(code) == "usd_schemas"


def test_every_class_is_registered():
    """The registry has our classes, and no other of our prefix."""
    registry = Usd.SchemaRegistry()
    assert all(registry.FindAppliedAPIPrimDefinition(name) for name in CLASSES if name.endswith("API"))
    assert all(registry.FindConcretePrimDefinition(name) for name in CLASSES if not name.endswith("API"))
    written = (schema_root() / "plugInfo.json").read_text()
    assert written.count('"schemaIdentifier"') == len(CLASSES)


def test_where_schemas_can_be_applied():
    """Hosts can ask; the answer names what is allowed."""
    stage = Usd.Stage.CreateInMemory()
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/hinge").GetPrim()
    box = stage.DefinePrim("/box", "Cube")
    for name in ("WarpArticDriveAPI", "WarpArticJointAPI", "WarpArticMimicAPI"):
        assert hinge.CanApplyAPI(name, "angular")
        assert not hinge.CanApplyAPI(name, "sideways")
        assert not box.CanApplyAPI(name, "angular")
    assert stage.DefinePrim("/scene", "PhysicsScene").CanApplyAPI("WarpArticSceneAPI")
    assert not hinge.CanApplyAPI("WarpArticSceneAPI")
    assert box.CanApplyAPI("WarpArticLinkAPI")
    assert not box.CanApplyAPI("WarpArticElasticBodyAPI")
    assert all(
        stage.DefinePrim(f"/{kind}", kind).CanApplyAPI("WarpArticElasticBodyAPI") for kind in ("Mesh", "TetMesh")
    )
    assert stage.DefinePrim("/rubber", "Material").CanApplyAPI("WarpArticElasticMaterialAPI")


def test_a_drive_brings_that_of_usd_physics():
    """Its targets and gains are authored there."""
    stage = Usd.Stage.CreateInMemory()
    prim = UsdPhysics.RevoluteJoint.Define(stage, "/hinge").GetPrim()
    prim.ApplyAPI("WarpArticDriveAPI", "angular")
    assert prim.HasAPI("PhysicsDriveAPI", "angular")
    assert prim.GetAttribute("drive:angular:physics:stiffness").Get() == 0.0


@pytest.mark.parametrize(
    ("name", "is_installed"), [("schema.usda", False), ("generatedSchema.usda", True), ("plugInfo.json", True)]
)
def test_files_are_there_and_installed(name, is_installed):
    """Beside the package in a checkout, inside it in a wheel, but for the source that both others are made from."""
    assert (schema_root() / name).is_file()
    assert SETUPTOOLS["package-dir"]["warp_artic.usd_schemas"] == "usd_schemas"
    patterns = SETUPTOOLS["package-data"]["warp_artic.usd_schemas"]
    assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns) == is_installed


def test_every_package_is_installed():
    """A wheel has all packages, and no other name at its top; Kit loads its extension from a folder."""
    hosts = [path for path in (ROOT / "extensions").rglob("__init__.py") if "omni.warp_artic" not in path.parts]
    files = [*(ROOT / "warp_artic").rglob("__init__.py"), *hosts]
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in files}
    names = {f"warp_artic.{name}" if name.startswith("extensions") else name for name in folders}
    assert set(SETUPTOOLS["packages"]) == names | {"warp_artic.usd_schemas"}
    assert SETUPTOOLS["package-dir"]["warp_artic.extensions"] == "extensions"
