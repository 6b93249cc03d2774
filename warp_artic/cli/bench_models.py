"""The models of `warp-artic bench`: each a stage for us and an MJCF file of the same mechanism for the peers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warp_artic.cli.bench_chains import write_chain
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.usd.read_stage import read_stage

MODELS = {
    "pendulum": "1 dof, free",
    "arm": "7 dofs, drives",
    "humanoid": "27 dofs, floating, drives and 21 limits",
    "hand_tendon": "24 dofs, drives, 24 limits and 4 fixed tendons",
    "hand_mimic": "24 dofs, drives, 24 limits and 4 hard mimic joints",
    "chain64": "64 dofs, damping",
    "mixed": "the arm, the humanoid and both hands in one scene",
}
"""What is measured by default; chain2, chain8 and so on can be asked for as well."""
MOST_LINKS = 512
DT = 1.0 / 240.0
SETTLED = 16
"""Steps after which models are measured: what is driven past a limit is held by then."""
SPREAD = 0.05
"""By how much joints are moved apart where accelerations are compared, so that tendons pull [rad or m]."""
MARGIN = 0.01
"""How far from limits they stay there."""
SCENES = Path(__file__).parent / "bench_scenes"


@dataclass(frozen=True)
class Model:
    """A model as we read it, and the file of its twin."""

    name: str
    scene: Scene
    stage: Path
    xml: Path

    @property
    def title(self) -> str:
        """What the model is."""
        return f"{self.name}: {MODELS.get(self.name, f'{len(self.scene.dof_names)} dofs')}"

    def positions(self) -> np.ndarray:
        """Of joints within their limits, where drives and tendons pull but nothing stops; mimic joints hold."""
        spread = 0.0 if any(tree.mimics for tree in self.scene.articulations) else SPREAD
        values = []
        for number, dof in enumerate(self._dofs()):
            value, limit = dof.position + (spread, -spread)[number % 2], dof.limit or Limit()
            values.append(np.clip(value, limit.lower + MARGIN, limit.upper - MARGIN))
        return np.array(values)

    def case(self, device: str) -> dict[str, Any]:
        """What peers are to simulate: the fields of `Case` in `tests/benchmarks/peers/case.py`, as JSON has them."""
        dofs, names = self._dofs(), self.joints()
        drives = [dof.drive or Drive() for dof in dofs]
        trees = self.scene.articulations
        features = {
            "limits": any(dof.limit for dof in dofs),
            "fixed tendons": any(tree.fixed_tendons for tree in trees),
            "mimic joints": any(tree.mimics for tree in trees),
            "several robots": len(trees) > 1,
        }
        return dict(
            xml=str(self.xml),
            stage=str(self.stage),
            root=trees[0].path,
            start={name: dof.position for name, dof in zip(names, dofs)},
            inside=dict(zip(names, self.positions().tolist())),
            targets={name: drive.position_target for name, drive in zip(names, drives)},
            gains={name: (drive.stiffness, drive.damping) for name, drive in zip(names, drives)},
            features=tuple(name for name, is_there in features.items() if is_there),
            dt=DT,
            settled=SETTLED,
            device=device,
        )

    def joints(self) -> list[str]:
        """The names that joints have in the twin, in the order of the scene."""
        return [name.removeprefix("/World/") for name in self.scene.dof_names]

    def _dofs(self) -> list:
        named = {dof.name: dof for tree in self.scene.articulations for dof in tree.dofs}
        return [named[name] for name in self.scene.dof_names]


def read_model(name: str, folder: Path) -> Model:
    """The model of a name of MODELS, or a chain of any number of links, which is written to a folder."""
    links = re.fullmatch(r"chain([1-9]\d{0,2})", name)
    if links and int(links[1]) <= MOST_LINKS:
        stage, xml = write_chain(int(links[1]), folder)
    elif name in MODELS:
        stage, xml = SCENES / f"{name}.usda", SCENES / f"{name}.xml"
    else:
        raise SettingsError(f"models: {name!r} is not one of {', '.join(MODELS)}, or chainN of 1 to {MOST_LINKS} links")
    return Model(name, read_stage(str(stage)), stage, xml)
