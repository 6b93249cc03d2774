"""What a wheel has, by `pyproject.toml`: all of the package, and nothing that is for a checkout alone."""

import tomllib
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
BUDGET = 1_546_000
"""Compressed bytes of all files. The source alone takes nearly all of it: a picture or a recording would go past it."""
DATA = {".usda", ".json", ".js", ".css", ".html", ".typed"}


def folder_of(package: str) -> Path:
    """Where a package lies."""
    for name, place in SETUPTOOLS["package-dir"].items():
        if package == name or package.startswith(f"{name}."):
            return ROOT.joinpath(place, *package.removeprefix(name).strip(".").split("."))
    return ROOT.joinpath(*package.split("."))


def packaged() -> list[Path]:
    """All files of a wheel but for what pip writes about them."""
    source = [file for package in SETUPTOOLS["packages"] for file in folder_of(package).glob("*.py")]
    patterns = SETUPTOOLS["package-data"].items()
    return source + [file for package, globs in patterns for glob in globs for file in folder_of(package).glob(glob)]


def test_all_packages_are_listed():
    """A folder with source that is not in the list would be missing from an installed package."""
    there = {path.parent for path in (ROOT / "warp_artic").rglob("*.py")}
    assert there <= {folder_of(package) for package in SETUPTOOLS["packages"]}


def test_no_peer_and_no_test_is_packaged():
    """Other simulators, and models in their formats, are for who measures from a checkout."""
    for file in packaged():
        assert "tests" not in file.parts and "peers" not in file.stem
        assert file.suffix in {".py", *DATA}, file


def test_size():
    """The source, compressed file by file as a wheel has it, is within the budget."""
    assert sum(len(zlib.compress(file.read_bytes())) for file in packaged()) < BUDGET
