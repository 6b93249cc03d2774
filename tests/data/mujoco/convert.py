"""Convert MJCF models to the stages of this folder; needs mujoco-usd-converter, in an environment of its own.

`python convert.py FOLDER` takes the models of SUITES below FOLDER, where the wheels of gymnasium and dm_control are
unpacked, writes each to a file `NAME.xml` without looks, cameras and sensors, and converts it and those of OWN, to
`NAME.usdc`.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import mujoco
import mujoco_usd_converter

HERE = Path(__file__).parent
OWN = ("tendons", "servos", "stacked")
"""Written for these tests."""
SUITES = {
    "gymnasium/envs/mujoco/assets": (
        "ant half_cheetah hopper humanoid inverted_double_pendulum inverted_pendulum pusher reacher swimmer walker2d"
    ),
    "dm_control/suite": (
        "acrobot ball_in_cup cartpole finger fish manipulator pendulum point_mass quadruped stacker walker"
    ),
    "dm_control/mujoco/testing/assets": "arm model_with_ball_joints",
}


def strip(spec: mujoco.MjSpec) -> None:
    """Remove what is no mechanism, and what refers to it."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    uneven = [geom for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_HFIELD]
    for group in (uneven, spec.hfields, spec.sensors, spec.cameras, spec.lights, spec.keys, spec.textures, spec.pairs):
        for one in list(group):
            spec.delete(one)


def take(path: Path, name: str) -> None:
    """One model of a suite."""
    spec = mujoco.MjSpec.from_file(str(path))
    strip(spec)
    spec.modelname = name
    spec.compile()
    (HERE / f"{name}.xml").write_text(spec.to_xml())


def convert(name: str) -> None:
    """One model of this folder."""
    with tempfile.TemporaryDirectory() as folder:
        converter = mujoco_usd_converter.Converter(layer_structure=False)
        converted = converter.convert(str(HERE / f"{name}.xml"), folder)
        shutil.copy(converted.path, HERE / f"{name}.usdc")


if __name__ == "__main__":
    for own in OWN:
        convert(own)
    for suite, names in SUITES.items():
        prefix = suite.partition("/")[0].removesuffix("nasium").removesuffix("_control")
        for each in names.split():
            model = f"{prefix}_{each.removeprefix('model_with_')}"
            take(Path(sys.argv[1]) / suite / f"{each}.xml", model)
            convert(model)
