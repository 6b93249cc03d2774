"""Joints between the same two bodies that add mobility, each moving what the one before it carries."""

from dataclasses import replace

import numpy as np
import pytest
from pxr import Sdf

from tests.usd.authoring import body, errors_of, joint, notes_of, open_text, schemas, warnings_of
from warp_artic import Simulation, SolverSettings, write_results
from warp_artic.description.articulation import Articulation
from warp_artic.description.diagnostic import Severity
from warp_artic.description.validate import findings
from warp_artic.usd import tokens
from warp_artic.usd.read_stage import read_stage

ADDS = "uniform bool newton:jointsAddMobility = true\n"
Z, Y = 'uniform token physics:axis = "Z"\n', 'uniform token physics:axis = "Y"\n'
LOOPS = ["/World/turn", "/World/z"]
AWAY = "point3f physics:localPos0 = (0.5, 0, 0)\npoint3f physics:localPos1 = (0.5, 0, 0)\n"


def planar(
    root: str = ADDS, applied: tuple[str, ...] = (), first: str = "", last: str = AWAY, rod: str = "", n: int = 3
):
    """A rod on a slide along x, one along z and a hinge about y, from the world; the hinge is half a metre along it."""
    joints = (
        joint("x", "Prismatic", "", "/World/rod", first, applied),
        joint("z", "Prismatic", "", "/World/rod", Z, applied),
        joint("turn", "Revolute", "", "/World/rod", Y + last, applied),
    )
    text = body("rod", rod) + "".join(joints[:n])
    return open_text(f'def Xform "World" {schemas("NewtonArticulationRootAPI")} {{\n{root}{text}}}\n')


@pytest.mark.parametrize("stage", [planar(), planar(root="", applied=(tokens.MJC_JOINT,))], ids=["newton", "mjc"])
def test_a_stack_is_a_chain(stage):
    """By the flag of the root, or in the MuJoCo dialect: three dofs, and two links without mass between."""
    scene = read_stage(stage)
    (tree,) = scene.articulations
    assert [link.path for link in tree.links] == ["/World/rod", "/World/x", "/World/z"]
    assert [link.is_massless for link in tree.links] == [False, True, True]
    assert [(one.path, one.parent, one.child) for one in tree.joints] == [
        ("/World/x", -1, 1),
        ("/World/z", 1, 2),
        ("/World/turn", 2, 0),
    ]
    assert tree.bodies == {"/World/rod": 0}
    assert scene.link_names == ("/World/rod",)
    text = (
        "/World/rod: is carried by 3 joints that stack, each moving what the one before it carries: /World/x, /World/z"
    )
    assert f"{text}, /World/turn" in notes_of(stage)
    assert warnings_of(stage) == []


@pytest.mark.parametrize("others", [(), ("z", "turn")])
def test_without_the_flag_they_close_a_loop(others):
    """Joints of UsdPhysics constrain: a second one between the same bodies closes a loop, also with some of MuJoCo."""
    stage = planar(root="")
    for name in others:
        stage.GetPrimAtPath(f"/World/{name}").AddAppliedSchema(tokens.MJC_JOINT)
    (tree,) = read_stage(stage).articulations
    assert sorted(one.name for one in tree.constraints) == LOOPS


def test_the_flag_comes_before_the_dialect():
    """Where the root says that joints constrain, joints of MuJoCo do."""
    stage = planar(root=ADDS.replace("true", "false"), applied=(tokens.MJC_JOINT,))
    (tree,) = read_stage(stage).articulations
    assert sorted(one.name for one in tree.constraints) == LOOPS


def test_each_moves_what_the_one_before_carries():
    """After a quarter turn of the hinge, which comes first, the slide goes straight down, as a free fall."""
    stage = open_text(
        f'def Xform "World" {schemas("NewtonArticulationRootAPI")} {{\n{ADDS}'
        + body("rod")
        + joint("turn", "Revolute", "", "/World/rod", Y, ("PhysicsDriveAPI:angular",))
        + joint("out", "Prismatic", "", "/World/rod", "")
        + "}\n"
    )
    settings = SolverSettings(dt=1 / 480, precision="float64")
    simulation = Simulation(read_stage(stage), device="cpu", settings=settings)
    simulation.set_state(joint_position=[np.pi / 2, 0.0])
    recording = simulation.record(48)
    assert recording.joint_position[-1, 0] == pytest.approx([np.pi / 2, 9.81 * 0.1**2 / 2], rel=1e-9)
    assert recording.link_pose[-1, 0, 0, :3] == pytest.approx([0.0, 0.0, -9.81 * 0.1**2 / 2], abs=1e-9)


def test_frames_must_agree():
    """The joints have the body at one place while none is displaced."""
    text = (
        "stacks on /World/x, but its frames put /World/rod at zero 100 mm and 0 degrees from where those of /World/x do"
    )
    assert errors_of(planar(first="point3f physics:localPos0 = (0.1, 0, 0)\n")) == [
        f"/World/z: {text}; they must agree",
        f"/World/turn: {text}; they must agree",
    ]


def test_states_share_a_displacement():
    """Where the body starts elsewhere, states of the joints say by which; without them, only the last one can."""
    state = "float state:linear:physics:position = 0.25\n"
    stage = planar(first=state)
    stage.GetPrimAtPath("/World/rod").GetAttribute("xformOp:translate").Set((0.25, 0, 0))
    assert warnings_of(stage) == []
    (tree,) = read_stage(stage).articulations
    assert [dof.position for dof in tree.dofs] == [0.25, 0.0, 0.0]
    assert tree.links[1].pose.position == (0.25, 0, 0)
    stage = planar()
    stage.GetPrimAtPath("/World/rod").GetAttribute("xformOp:translate").Set((0.25, 0, 0))
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/turn: the authored poses of its bodies are 250 mm and 0 degrees off")


def test_axes_must_be_independent():
    """Two slides along one axis leave motion without inertia, unless they have armature."""
    same = {"first": Z, "n": 2}
    text = "/World/rod: is carried by 2 joints that stack, but whose axes are not independent; give them armature"
    assert errors_of(planar(**same)) == [text]
    stage = planar(**same)
    for name in ("x", "z"):
        stage.GetPrimAtPath(f"/World/{name}").CreateAttribute("newton:armature", Sdf.ValueTypeNames.Float).Set(0.1)
    assert errors_of(stage) == []


def test_velocities_of_the_body_are_not_used():
    """With a warning: joint states give velocities."""
    stage = planar(rod="vector3f physics:velocity = (1, 0, 0)\n")
    text = "/World/rod: has a velocity, which is not used: joints that stack carry it; author velocities of the joints"
    assert warnings_of(stage) == [text]


def test_only_bodies_are_written(tmp_path):
    """A run layer has poses of the body and states of all joints, and nothing of the links between."""
    stage = planar()
    stage.Export(str(tmp_path / "in.usda"))
    recording = Simulation(read_stage(tmp_path / "in.usda"), device="cpu").record(4)
    write_results(tmp_path / "in.usda", recording, tmp_path / "out.usda")
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "out.usda"))
    names = {path: set(layer.GetPrimAtPath(f"/World/{path}").properties.keys()) for path in ("rod", "x", "z", "turn")}
    assert "xformOpOrder" in names["rod"]
    for path in ("x", "z", "turn"):
        assert "warpArtic:joint:" in " ".join(names[path])
        assert not any(name.startswith(("xformOp", "warpArtic:link")) for name in names[path])


def test_a_run_layer_starts_where_it_did(tmp_path):
    """What is baked of a stack that starts displaced is read back, poses and states agreeing."""
    stage = planar()
    stage.Export(str(tmp_path / "in.usda"))
    simulation = Simulation(read_stage(tmp_path / "in.usda"), device="cpu")
    simulation.set_state(joint_position=[0.1, 0.2, 0.3])
    write_results(tmp_path / "in.usda", simulation.record(4), tmp_path / "out.usda")
    (tree,) = read_stage(tmp_path / "out.usda").articulations
    assert [dof.position for dof in tree.dofs] == pytest.approx([0.1, 0.2, 0.3], rel=1e-6)
    assert not [text for text in warnings_of(str(tmp_path / "out.usda")) if "pose" in text]


def test_a_massless_link_must_carry():
    """Only between two joints may a link be without mass."""
    (tree,) = (scene := read_stage(planar())).articulations
    assert [finding for finding in findings(scene) if finding.severity is Severity.ERROR] == []
    bare = replace(tree.links[0], mass=0.0, inertia=(0.0,) * 6)
    broken = Articulation(path=tree.path, links=(bare, *tree.links[1:]), joints=tree.joints)
    rules = [finding.rule for finding in findings(replace(scene, articulations=(broken,)))]
    assert rules == ["mass", "inertia", "names"]
