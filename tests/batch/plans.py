"""Small plans to test with."""

import tomllib
from pathlib import Path

from warp_artic.batch.plan import plan_of

SCENES = Path(__file__).parents[2] / "samples" / "scenes"

PENDULUM = """
stage = "pendulum.usda"
runs = 60
seed = 3
steps = 24
shard = 20

[[vary]]
prims = "/World/pendulum/hinge"
attribute = "warpArtic:joint:angular:position"
distribution = { uniform = [-90, 90] }

[[vary]]
prims = "/World/pendulum/rod"
attribute = "physics:mass"
operation = "scale"
distribution = { log_uniform = [0.5, 2.0] }
"""

ARM = """
stage = "arm.usda"
runs = 40
seed = 5
steps = 24

[[vary]]
prims = "/World/arm//*{isa:PhysicsRevoluteJoint}"
attribute = "drive:angular:physics:stiffness"
operation = "scale"
distribution = { log_uniform = [0.5, 2.0] }

[[vary]]
parameter = "link_mass"
operation = "scale"
draw = "together"
distribution = { uniform = [0.8, 1.2] }

[[vary]]
start = "joint_position"
operation = "add"
distribution = { normal = [0.0, 0.05] }
"""


def plan(text, **given):
    """A plan from a text, with other values."""
    return plan_of(tomllib.loads(text) | given, str(SCENES))


def files(folder):
    """What is in the files of shards, by name."""
    return {
        f"{kind}/{path.name}": path.read_bytes()
        for kind in ("runs", "trajectories")
        for path in sorted((Path(folder) / kind).iterdir())
    }
