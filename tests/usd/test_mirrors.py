"""Joints between a mirrored body and one that is not: the motion is the mirror image of a body that is not mirrored."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom

from tests.usd.authoring import body, joint, open_text, schemas, warnings_of
from warp_artic.cli.main import main
from warp_artic.usd.read_stage import read_stage

MASS = """float physics:mass = 2
    float3 physics:diagonalInertia = (0.1, 0.2, 0.25)
    point3f physics:centerOfMass = (0.05, 0.1, 0.3)
    """
PLACE, PIVOT = (0.5, 0.2, -0.1), (0.1, -0.2, 0.15)
"""Where the body is, and its joint in its own space."""


def rotation(*angles):
    """R of rotateXYZ [degree], shape (3, 3)."""
    turns = [Gf.Rotation(axis, angle) for axis, angle in zip(np.eye(3).tolist(), angles)]
    return np.array(Gf.Matrix3d(turns[0] * turns[1] * turns[2])).T


def quaternion(R):
    q = Gf.Matrix3d(R.T.tolist()).ExtractRotation().GetQuat()
    return vector((q.GetReal(), *q.GetImaginary()))


def vector(values):
    return f"({', '.join(f'{value:.17g}' for value in values)})"


def op(name, value, kind="double3"):
    return f"{kind} xformOp:{name} = {value}\n"


def prim(name, ops, content="", applied=()):
    order = ", ".join(f'"xformOp:{line.split(" ")[1].removeprefix("xformOp:")}"' for line in ops)
    text = f"{''.join(ops)}uniform token[] xformOpOrder = [{order}]\n{content}"
    return f'def Xform "{name}" {schemas(*applied)} {{\n{text}\n}}\n'


def hinged(rod, path, at, R, axis, to_world):
    """A body on a hinge, with the joint frames of a body in this pose that is not mirrored."""
    base = "" if to_world else body("base") + joint("held", "Fixed", "", "/base")
    frames = f"""uniform token physics:axis = "{axis}"
        point3f physics:localPos0 = {vector(at)}
        quatf physics:localRot0 = {quaternion(R)}
        point3f physics:localPos1 = {PIVOT}"""
    return base + rod + joint("hinge", "Revolute", "" if to_world else "/base", path, frames)


def motion(tmp_path, text, path):
    """World transforms (F, 4, 4) for row vectors, of a run without a warning."""
    stage, baked = open_text(text, 'metersPerUnit = 1\nupAxis = "Z"'), tmp_path / "baked.usda"
    assert warnings_of(stage) == []
    stage.Export(str(tmp_path / "in.usda"))
    options = ["--duration", "1", "--precision", "float64", "-o", str(baked), "--force"]
    assert main(["simulate", str(tmp_path / "in.usda"), *options]) == 0
    stage = Usd.Stage.Open(str(baked))
    codes = np.arange(0.0, stage.GetEndTimeCode() + 0.5)
    return np.array([UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath(path)) for code in codes])


@pytest.mark.parametrize("to_world", [False, True])
@pytest.mark.parametrize("axis", "XYZ")
@pytest.mark.parametrize("mirror", [(-1, 1, 1), (1, 1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("form", ["inner", "outer", "above", "matrix"])
def test_a_mirrored_body_on_a_hinge_moves_as_the_mirror_image(tmp_path, form, mirror, axis, to_world):
    """The scale is the last op of the body, its first one, or one above it, or is in a matrix."""
    angles = (0, 0, 0) if form == "matrix" else (20, 100, -70)
    scale, place, turn = op("scale", mirror), op("translate", PLACE), op("rotateXYZ", angles)
    R, M, applied = rotation(*angles), np.diag(mirror), ("PhysicsRigidBodyAPI", "PhysicsMassAPI")
    path = "/rod"
    if form == "inner":
        rod, A, t = prim("rod", [place, turn, scale], MASS, applied), R @ M, np.array(PLACE)
    elif form == "outer":
        rod, A, t = prim("rod", [scale, place, turn], MASS, applied), M @ R, M @ PLACE
    elif form == "matrix":
        rows = ", ".join(vector((*row, end)) for row, end in zip((*M.tolist(), PLACE), (0, 0, 0, 1)))
        rod, A, t = prim("rod", [op("transform", f"({rows})", "matrix4d")], MASS, applied), M, np.array(PLACE)
    else:
        inner = prim("rod", [place, turn], MASS, applied)
        above, path = rotation(90, 0, 30), "/above/rod"
        rod = prim("above", [op("rotateXYZ", (90, 0, 30)), scale], inner)
        A, t, R = above @ M @ R, above @ M @ PLACE, above @ R
    found = motion(tmp_path, hinged(rod, path, t + A @ PIVOT, R, axis, to_world), path)
    image = np.diag([-1.0, 1.0, 1.0])
    turn = op("orient", quaternion(image @ A), "quatd")
    rod = prim("rod", [op("translate", vector(image @ t)), turn], MASS, applied)
    wanted = motion(tmp_path, hinged(rod, "/rod", image @ (t + A @ PIVOT), image @ A, axis, to_world), "/rod")
    np.testing.assert_allclose(found[0][:3, :3].T, A, atol=1e-6)
    np.testing.assert_allclose(found, wanted @ np.diag([-1.0, 1.0, 1.0, 1.0]), atol=1e-5)
    assert np.ptp(found, axis=0).max() > 0.1 or (form, axis) == ("matrix", "Z")  # which is upright


def test_frames_that_are_one_with_the_rotation_of_a_mirrored_body():
    """As tools author them that take a mirrored transform for a scale below zero and a rotation: they stay."""
    rod = prim("rod", [op("scale", (-1, 1, 1))], MASS, ("PhysicsRigidBodyAPI", "PhysicsMassAPI"))
    stage = open_text(hinged(rod, "/rod", (-PIVOT[0], *PIVOT[1:]), np.diag((1.0, -1.0, -1.0)), "Z", False))
    assert warnings_of(stage) == []
    (tree,) = read_stage(stage).articulations
    np.testing.assert_allclose(tree.joints[-1].dofs[0].position, 0.0, atol=1e-6)
