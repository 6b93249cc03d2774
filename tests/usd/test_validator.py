"""Our check as a validator of UsdValidation, as hosts find and run it."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pxr import Usd, UsdGeom

from tests.usd.authoring import pendulum
from warp_artic.usd import validator
from warp_artic.usd.schemas import schema_root, validator_root

ROOT = Path(__file__).parents[2]
REGISTRY = getattr(validator.UsdValidation, "ValidationRegistry", None)
needs_python_validators = pytest.mark.skipif(
    not hasattr(REGISTRY, "RegisterPluginStageValidator"), reason="USD takes validators in Python from 26.5 on"
)


def errors_of(stage):
    """Name, type, site and message of each error that the registered validator finds."""
    found = REGISTRY().GetOrLoadValidatorByName(validator.NAME)
    errors = validator.UsdValidation.ValidationContext([found]).Validate(stage)
    sites = [error.GetSites()[0] for error in errors]
    paths = [str((site.GetProperty() if site.IsProperty() else site.GetPrim()).GetPath()) for site in sites]
    return [(one.GetName(), one.GetType().name, path, one.GetMessage()) for one, path in zip(errors, paths)]


def open_sample(name):
    return Usd.Stage.Open(str(ROOT / "samples" / "scenes" / name))


@needs_python_validators
def test_a_good_stage_is_clean():
    """A sample without findings has no errors of ours."""
    assert errors_of(open_sample("pendulum.usda")) == []


@needs_python_validators
def test_the_example_of_the_readme():
    """It runs as written."""
    (code,) = re.findall(r"```python\n(.*?)```", (schema_root() / "README.md").read_text(encoding="utf-8"), re.S)
    names = {"UsdValidation": validator.UsdValidation, "stage": open_sample("pendulum.usda")}
    exec(compile(code, "README.md", "exec"), names)
    assert names["errors"] == []


@needs_python_validators
def test_a_broken_stage_names_rule_and_prim():
    """The error is named after its rule, at the attribute, and says what was found, what is allowed, how to fix it."""
    stage = open_sample("pendulum.usda")
    stage.GetPrimAtPath("/World/pendulum/rod").GetAttribute("physics:mass").Set(-1.0)
    ((name, kind, path, message),) = errors_of(stage)
    assert (name, kind.rpartition(".")[2], path) == ("mass", "Error", "/World/pendulum/rod.physics:mass")
    assert "is -1 kg, must be positive. Author physics:mass" in message


@needs_python_validators
def test_severities():
    """Warnings and notes are no errors for a host either."""
    stage = pendulum("float newton:armature = 3\ndouble mjc:armature = 5")
    kinds = {name: kind.rpartition(".")[2] for name, kind, _, _ in errors_of(stage)}
    assert kinds["dialects-differ"] == "Warn"
    assert kinds["scene-missing"] == "Info"


@needs_python_validators
def test_a_stage_with_nothing_to_simulate_is_clean():
    """Hosts validate stages of all kinds; a model without mechanism is none of ours."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.Cube.Define(stage, "/cube")
    assert errors_of(stage) == []


@needs_python_validators
@pytest.mark.parametrize(("code", "plugins"), [("import warp_artic", ""), ("pass", str(validator_root()))])
def test_found_by_keyword(code, plugins):
    """By the import, or by an environment variable and no import; the code is loaded when it is asked for."""
    code += "; import sys; from pxr import UsdValidation as V; registry = V.ValidationRegistry()"
    code += "; names = [one.name for one in registry.GetValidatorMetadataForKeyword('warpArtic')]"
    code += "; before = 'warp_artic.usd.validator' in sys.modules"
    code += "; print(names, before, registry.GetOrLoadValidatorByName(names[0]).GetMetadata().name)"
    environment = dict(os.environ) | {"PXR_PLUGINPATH_NAME": plugins}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"['{validator.NAME}'] False {validator.NAME}"


def test_installed():
    """The file by which USD finds the validator goes with the package."""
    assert (validator_root() / "plugInfo.json").is_file()
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "usd/plugInfo.json" in setuptools["package-data"]["warp_artic"]


def test_without_the_module():
    """Releases without UsdValidation import the file and go on."""
    code = "import sys; sys.modules['pxr.UsdValidation'] = None; from warp_artic.usd import validator"
    code += "; print(validator.UsdValidation, validator.NAME)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"None {validator.NAME}"


@pytest.mark.parametrize(
    ("path", "site"),
    [
        ("/World/hinge", "/World/hinge"),
        ("/World/hinge.drive:angular:physics:stiffness", "/World/hinge.drive:angular:physics:stiffness"),
        ("/World/ball:rotX", "/World/ball"),
        ("/World/Robot/palm:finger", "/World/Robot/palm"),
        ("/", "/"),
        ("scene", "/"),
        ("no path at all", "/"),
    ],
)
def test_sites(path, site):
    """Every finding has a prim or a property on the stage."""
    assert str(validator.site_of(path)) == site
