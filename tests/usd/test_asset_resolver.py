"""Stages that the asset resolver finds, though no file of that name is here."""

import os
import subprocess
import sys
from pathlib import Path

from pxr import Sdf

from tests.usd.skinned import skinned_stage

ROOT = Path(__file__).parents[2]


def ragdoll(folder: Path, stage: str, search: Path) -> subprocess.CompletedProcess:
    """Author a ragdoll in a folder, with a search path of the default resolver."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PXR_AR_DEFAULT_SEARCH_PATH": str(search), "PYTHONPATH": paths}
    line = [sys.executable, "-m", "warp_artic", "ragdoll", stage, "-o", "ragdoll.usda"]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_search_path_is_followed_and_kept(tmp_path):
    """The layer refers to the stage as it was asked for, so that it is found wherever the resolver finds it."""
    assets, work = tmp_path / "assets", tmp_path / "work"
    assets.mkdir()
    work.mkdir()
    skinned_stage(assets / "character.usda", clip=False)
    done = ragdoll(work, "character.usda", assets)
    assert done.returncode == 0, done.stderr
    assert list(Sdf.Layer.FindOrOpen(str(work / "ragdoll.usda")).subLayerPaths) == ["character.usda"]
    again = ragdoll(work, "nobody.usda", assets)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert "nobody.usda: there is no such file" in again.stderr
