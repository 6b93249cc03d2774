"""Each instance of a point instancer moves as a prim of its own would, and a run writes it to the instancer."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, open_text, warnings_of
from warp_artic.errors import StageError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.compare_motion import compare_motion
from warp_artic.usd.read_drawing import read_drawing
from warp_artic.usd.read_motion import played, read_motion
from warp_artic.usd.read_stage import inspect_stage, read_stage
from warp_artic.usd.row_matrices import scale_and_rotation
from warp_artic.usd.write_clips import ClipWriter

BODY = '(prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])'
SHAPE = '(prepend apiSchemas = ["PhysicsCollisionAPI"])'
GROUND = f'def Plane "ground" {SHAPE} {{\n}}\n'
BOX = f'def Cube "box" {BODY} {{\ndouble size = 0.2\n}}\n'
INNER = f"""def Xform "rock" {{
    double3 xformOp:translate = (0, 0.1, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "core" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{
        float3 xformOp:rotateXYZ = (0, 90, 0)
        uniform token[] xformOpOrder = ["xformOp:rotateXYZ"]
        def Sphere "ball" {SHAPE} {{
            double radius = 0.1
        }}
        def Cube "side" {SHAPE} {{
            double size = 0.1
            double3 xformOp:translate = (0.2, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
    }}
}}
"""
ABOVE = """double3 xformOp:translate = (1, 2, 3)
float3 xformOp:rotateXYZ = (10, 20, 30)
double3 xformOp:scale = (2, 2, 2)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
"""
FITS = "int[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 1)]\n"
MIXED = """int[] protoIndices = [0, 1, 1, 0]
point3f[] positions = [(0, 0, 1), (1, 0, 1.5), (0, 2, 1), (3, 1, 1)]
quath[] orientations = [(1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (0, 1, 0, 0), (1, 0, 0, 0)]
float3[] scales = [(1, 1, 1), (2, 2, 2), (1, 1, 1), (1, 2, 3)]
"""


def instancer(content, prototypes=BOX + INNER, names=("box", "rock"), above="", more="", metadata=""):
    """An instancer below two prims."""
    targets = ", ".join(f"</World/holder/many/kinds/{name}>" for name in names)
    return (
        f'def Xform "World" {{\n{more}\ndef Xform "holder" {{\n{above}\ndef PointInstancer "many" {metadata} {{\n'
        f'rel prototypes = [{targets}]\n{content}\ndef Scope "kinds" {{\n{prototypes}}}\n}}\n}}\n}}\n'
    )


def boxes(count):
    """Positions in a grid that floats and doubles have alike."""
    return [(0.5 * (number % 5), 0.5 * (number // 5), 0.375) for number in range(count)]


def recorded(scene, count=7, seed=3):
    """Random motion of all links, in records a frame of 24 apart."""
    random = np.random.default_rng(seed)
    shape = (count, 1, len(scene.link_names))
    poses = np.concatenate([random.uniform(-2, 2, (*shape, 3)), random.normal(size=(*shape, 4))], axis=-1)
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    nothing = np.zeros((count, 1, 0))
    return Recording(
        time=np.arange(count) / 24.0,
        joint_names=(),
        link_names=scene.link_names,
        joint_position=nothing,
        joint_velocity=nothing,
        joint_drive_force=nothing,
        mimic_error=nothing,
        link_pose=poses,
        energy=np.zeros((count, 1, 2)),
    )


def instance_poses(stage, code, prim="/World/holder/many", core=True):
    """Positions [m] and row-vector rotations of the bodies of all instances, as USD places them."""
    schema = UsdGeom.PointInstancer(stage.GetPrimAtPath(prim))
    local = schema.ComputeInstanceTransformsAtTime(code, code, schema.IncludeProtoXform, schema.IgnoreMask)
    W = np.array([matrix * UsdGeom.XformCache(code).GetLocalToWorldTransform(schema.GetPrim()) for matrix in local])
    for index, kind in enumerate(schema.GetProtoIndicesAttr().Get(code)):
        if kind == 1 and core:
            W[index] = np.array(Gf.Matrix4d().SetRotate(Gf.Rotation((0, 1, 0), 90))) @ W[index]
    return W[:, 3, :3] * UsdGeom.GetStageMetersPerUnit(stage), scale_and_rotation(W)[1]


def saved(text, folder, header=SI):
    """A stage in a file, opened."""
    path = folder / "source.usda"
    path.write_text(f"#usda 1.0\n(\n{header}\n)\n{text}")
    return Usd.Stage.Open(str(path))


def test_instances_move_as_prims_do():
    """Twenty boxes of an instancer fall bitwise as twenty prims do."""
    places = boxes(20)
    op = 'double3 xformOp:translate = {}\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
    prims = "".join(
        BOX.replace('"box"', f'"instance_{number}"').replace("{\n", "{\n" + op.format(place), 1)
        for number, place in enumerate(places)
    )
    alone = f'def Xform "World" {{\n{GROUND}def Xform "holder" {{\ndef Xform "many" {{\n{prims}}}\n}}\n}}\n'
    content = f"int[] protoIndices = {[0] * 20}\npoint3f[] positions = {places}"
    found = []
    for text in (alone, instancer(content, BOX, ("box",), more=GROUND)):
        settings = wa.SolverSettings(dt=1 / 240, precision="float64")
        simulation = wa.Simulation(read_stage(open_text(text)), settings=settings)
        found.append(simulation.record(steps=96, quantities=("link_pose", "joint_position")))
    assert found[0].link_names == found[1].link_names
    assert found[0].link_names[3] == "/World/holder/many/instance_3"
    np.testing.assert_array_equal(found[0].link_pose, found[1].link_pose)
    assert found[1].link_pose[-1, 0, :, 2].max() < 0.11


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_instances_are_where_usd_places_them(header):
    """Poses and masses go by the instances, their scales, the instancer and what is above it."""
    stage = open_text(instancer(MIXED, above=ABOVE), header)
    before = stage.GetRootLayer().ExportToString()
    scene = read_stage(stage)
    assert stage.GetRootLayer().ExportToString() == before and stage.GetSessionLayer().empty
    many = "/World/holder/many/instance_"
    assert scene.link_names == (f"{many}0", f"{many}1/core", f"{many}2/core", f"{many}3")
    links = {link.path: link for tree in scene.articulations for link in tree.links}
    positions, rotations = instance_poses(stage, 0)
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    rock = 4 / 3 * np.pi * 0.1**3 + 0.1**3
    for path, position, R, volume in zip(scene.link_names, positions, rotations, (0.2**3, 8 * rock, rock, 6 * 0.2**3)):
        np.testing.assert_allclose(links[path].pose.position, position, atol=1e-12)
        np.testing.assert_allclose(links[path].pose.rotation.T, R, atol=1e-12)
        assert links[path].mass == pytest.approx(1000 * 8 * volume * meters**3, rel=1e-6)


def test_inactive_instances_are_not_simulated():
    """Those whose ids are inactive are not there; those that are invisible are."""
    content = MIXED + "int64[] ids = [10, 20, 30, 40]\nint64[] invisibleIds = [30]\n"
    scene = read_stage(open_text(instancer(content, metadata="(inactiveIds = [20])")))
    assert [path.rpartition("/many/")[2] for path in scene.link_names] == [
        "instance_0",
        "instance_2/core",
        "instance_3",
    ]


def test_velocities_are_those_of_the_instancer():
    """Velocities are given in the space of the instancer, angular ones in degrees."""
    content = MIXED + (
        "vector3f[] velocities = [(1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 1, 1)]\n"
        "vector3f[] angularVelocities = [(0, 0, 90), (0, 90, 0), (90, 0, 0), (0, 0, 0)]\n"
    )
    stage = open_text(instancer(content, above=ABOVE))
    scene = read_stage(stage)
    A = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/World/holder/many")))[:3, :3]
    schema = UsdGeom.PointInstancer(stage.GetPrimAtPath("/World/holder/many"))
    links = {link.path: link for tree in scene.articulations for link in tree.links}
    linear = np.array(schema.GetVelocitiesAttr().Get()) @ A
    angular = np.radians(np.array(schema.GetAngularVelocitiesAttr().Get())) @ A / 2.0
    for path, v, w in zip(scene.link_names, linear, angular):
        np.testing.assert_allclose(links[path].linear_velocity, v, atol=1e-6)
        np.testing.assert_allclose(links[path].angular_velocity, w, atol=1e-6)


def test_velocities_in_an_instance(tmp_path):
    """A body inside an instance that is a prototype starts with the velocity of its point, too."""
    (tmp_path / "rock.usda").write_text("#usda 1.0\n" + INNER)
    rock = 'def "rock" (\nprepend references = @./rock.usda@</rock>\ninstanceable = true\n) {\n}\n'
    content = FITS + "vector3f[] velocities = [(1, 2, 3)]"
    (tree,) = read_stage(saved(instancer(content, rock, ("rock",)), tmp_path)).articulations
    assert tree.links[0].path == "/World/holder/many/instance_0/core"
    np.testing.assert_allclose(tree.links[0].linear_velocity, (1, 2, 3), atol=1e-6)


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_a_run_is_written_to_the_instancer(tmp_path, header):
    """Instances of the run layer are where the bodies were, and are read there again."""
    fast = [(9, 9, 9)] * 4
    more = f"float3[] extent = [(0, 0, 0), (1, 1, 1)]\nvector3f[] velocities.timeSamples = {{0: {fast}, 1: {fast}}}\n"
    stage = saved(instancer(MIXED + more, above=ABOVE), tmp_path, header)
    scene = read_stage(stage)
    recording = recorded(scene)
    wa.write_results(stage, recording, tmp_path / "run.usda")
    run = Usd.Stage.Open(str(tmp_path / "run.usda"))
    near = 1e-5 * max(1.0, UsdGeom.GetStageMetersPerUnit(stage))
    for record in range(len(recording.time)):
        positions, rotations = instance_poses(run, record)
        poses = recording.link_pose[record, 0]
        np.testing.assert_allclose(positions, poses[:, :3], atol=near)
        for R, quaternion in zip(rotations, poses[:, 3:]):
            expected = Gf.Matrix3d(Gf.Quatd(quaternion[3], *quaternion[:3]))
            np.testing.assert_allclose(R, np.array(expected), atol=2e-6)
    assert not run.GetPrimAtPath("/World/holder/many").GetAttribute("extent").HasAuthoredValue()
    again = read_stage(run)
    assert not warnings_of(run)
    links = {link.path: link for tree in again.articulations for link in tree.links}
    for path, pose in zip(scene.link_names, recording.link_pose[0, 0]):
        np.testing.assert_allclose(links[path].pose.position, pose[:3], atol=near)


def test_runs_of_instances_are_compared(tmp_path):
    """The same run does not differ, in clips neither; another one does, by instance."""
    stage = saved(instancer(MIXED, above=ABOVE), tmp_path)
    scene = read_stage(stage)
    recording = recorded(scene)
    wa.write_results(stage, recording, tmp_path / "run.usda")
    wa.write_results(stage, recorded(scene, seed=4), tmp_path / "other.usda")
    ClipWriter(stage, tmp_path / "clips.usda").write(recording)
    run, other, clips = (Usd.Stage.Open(str(tmp_path / f"{name}.usda")) for name in ("run", "other", "clips"))
    assert compare_motion(run, clips).prims[0].largest < 1e-6
    worst = compare_motion(run, other).prims[0]
    assert worst.path.startswith("/World/holder/many/instance_") and worst.largest > 0.1


def test_a_body_has_the_instances_below_it():
    """Colliders of an instancer below a rigid body are its own, each with its mass."""
    stones = f'def Cube "stone" {SHAPE} {{\n}}\n'
    content = "int[] protoIndices = [0, 0]\npoint3f[] positions = [(-2, 0, 0), (2, 0, 0)]"
    text = instancer(content, stones, ("stone",))
    scene = read_stage(open_text(text.replace('"holder"', '"holder" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])')))
    (link,) = scene.articulations[0].links
    assert (link.path, link.mass) == ("/World/holder", 2 * 8 * 1000.0)
    assert link.inertia[0] == pytest.approx(16000 * 4 / 6)
    assert link.inertia[3] == pytest.approx(16000 * (4 / 6 + 4))


def test_joints_lead_to_instances():
    """A joint may name an instance as it is called."""
    joint = 'def PhysicsFixedJoint "weld" {\nrel physics:body1 = </World/holder/many/instance_1>\n}\n'
    content = "int[] protoIndices = [0, 0]\npoint3f[] positions = [(0, 0, 1), (2, 0, 0)]"
    scene = read_stage(open_text(instancer(content, BOX, ("box",), more=joint)))
    assert [len(tree.joints) for tree in scene.articulations] == [0, 1]


def test_instances_are_drawn(tmp_path):
    """What is drawn of a run has a part for each instance, where its body was; prototypes are not drawn."""
    stage = saved(instancer(MIXED, above=ABOVE), tmp_path)
    scene = read_stage(stage)
    recording = recorded(scene)
    shown = played(stage, recording, 0, recording.time)
    drawing = read_drawing(shown, scene)
    assert drawing.bodies == scene.link_names
    assert {part.path.partition("/many/")[2].partition("/")[0] for part in drawing.parts} == {
        f"instance_{number}" for number in range(4)
    }
    motion = read_motion(shown, drawing, recording.time)
    np.testing.assert_allclose(motion.poses[..., :3], recording.link_pose[:, 0, :, :3], atol=1e-5)


def test_static_instances_are_colliders():
    """An instancer without rigid bodies is a static collider for each instance; its prototype is none."""
    stones = f'def Sphere "stone" {SHAPE} {{\ndouble radius = 0.5\n}}\n'
    content = "int[] protoIndices = [0, 0]\npoint3f[] positions = [(4, 0, 0), (0, 4, 0)]\n"
    content += "float3[] scales = [(1, 1, 1), (2, 2, 2)]"
    stage = open_text(instancer(content, stones, ("stone",), more=BOX))
    scene = read_stage(stage)
    (tree,) = scene.articulations
    pairs = {one.shape1.path: one.shape1 for one in tree.constraints} | {
        one.shape0.path: one.shape0 for one in tree.constraints
    }
    stones = {path: shape for path, shape in pairs.items() if path.startswith("/World/holder")}
    assert {path.rpartition("/")[2]: shape.radius for path, shape in stones.items()} == {
        "instance_0": 0.5,
        "instance_1": 1.0,
    }
    assert not warnings_of(stage)


def test_prototypes_elsewhere_are_prims_as_well():
    """As with PhysX, a prototype beside its instancer is simulated where it is, too."""
    text = instancer("int[] protoIndices = [0]\npoint3f[] positions = [(2, 0, 0)]", "", ("box",), more=BOX)
    scene = read_stage(open_text(text.replace("</World/holder/many/kinds/box>", "</World/box>")))
    assert scene.link_names == ("/World/box", "/World/holder/many/instance_0")


def test_pairs_and_groups_mean_all_instances():
    """A filtered pair, and a group, that lead to a prototype hold for its instances."""
    pair = GROUND.replace('API"]', 'API", "PhysicsFilteredPairsAPI"]').replace(
        "{\n", "{\nrel physics:filteredPairs = </World/holder/many/kinds/box>\n"
    )
    content = "int[] protoIndices = [0, 0]\npoint3f[] positions = [(2, 0, 0), (4, 0, 0)]"
    group = """def PhysicsCollisionGroup "group" {
rel collection:colliders:includes = </World/holder/many/kinds/box>
rel physics:filteredGroups = </World/group>
}
"""

    def touching(more):
        scene = read_stage(open_text(instancer(content, BOX, ("box",), more=more)))
        return sum(len(tree.constraints) for tree in scene.articulations)

    assert touching(GROUND) == 3
    assert touching(pair) == 1
    assert touching(GROUND + group) == 2


TWO = f'def Xform "two" {{\n{BOX}{BOX.replace("box", "other")}}}\n'
INSIDE = f"""def Xform "nest" {{
def PointInstancer "inner" {{
rel prototypes = </World/holder/many/kinds/nest/inner/box>
int[] protoIndices = [0]
point3f[] positions = [(0, 0, 0)]
{BOX}}}
}}
"""
HINGED = (
    f'def Xform "hinged" {{\n{BOX}def PhysicsRevoluteJoint "hinge" {{\n'
    "rel physics:body1 = </World/holder/many/kinds/hinged/box>\n}\n}\n"
)


@pytest.mark.parametrize(
    ("content", "prototypes", "names", "above", "said"),
    [
        (FITS, TWO, ("two",), "", "instances of /World/holder/many/kinds/two are not simulated: it has 2 rigid bodies"),
        (FITS, HINGED, ("hinged",), "", "hinged/hinge is PhysicsRevoluteJoint, and an instance has one rigid body"),
        (FITS, BOX, (), "", "bodies and colliders below it are in none of its prototypes"),
        ("", BOX, ("box",), "", "its instances are not simulated: it has no protoIndices"),
        (FITS.replace("[0]", "[3]"), BOX, ("box",), "", "protoIndices has 3, and it has 1 prototypes"),
        (FITS.replace("[0]", "[0, 0]"), BOX, ("box",), "", "positions has 1 values, and protoIndices 2"),
        (
            FITS.replace("point3f[]", "float[]").replace("(0, 0, 1)", "1"),
            BOX,
            ("box",),
            "",
            "positions is no Vec3fArray",
        ),
        (FITS.replace("0, 1)", "0, inf)"), BOX, ("box",), "", "its arrays have values that are not finite"),
        (
            FITS,
            BOX,
            ("box",),
            ABOVE.replace("(2, 2, 2)", "(2, 2, 1)"),
            "the scale of the instancer in the world is not",
        ),
        (FITS, INSIDE, ("nest",), "", "the instancer is below another one"),
    ],
)
def test_what_is_not_simulated_is_told(content, prototypes, names, above, said):
    """Instances that cannot be simulated are named with the reason, and are not there; the rest is."""
    free = BOX.replace('"box"', '"free"')
    stage = open_text(instancer(content, prototypes, names, above, more=free))
    assert read_stage(stage).link_names == ("/World/free",)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/holder/many") and said in warning


def test_animated_instances_start_where_they_are():
    """An instancer that is animated is simulated from its start, and that is said."""
    moving = "point3f[] positions.timeSamples = {0: [(0, 0, 1)], 24: [(5, 0, 1)]}"
    stage = open_text(instancer(f"int[] protoIndices = [0]\n{moving}", BOX, ("box",)))
    scene = read_stage(stage)
    assert scene.articulations[0].links[0].pose.position == (0.0, 0.0, 1.0)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/holder/many: positions change over time: only where")


def test_instances_in_an_instance(tmp_path):
    """An instancer in an instance of a reference is simulated, and a run makes the instance editable."""
    asset = tmp_path / "asset.usda"
    asset.write_text("#usda 1.0\n" + instancer(FITS, BOX, ("box",)))
    text = 'def "here" (\nprepend references = @./asset.usda@</World>\ninstanceable = true\n) {\n}\n'
    stage = saved(text, tmp_path)
    scene = read_stage(stage)
    assert scene.link_names == ("/here/holder/many/instance_0",)
    recording = recorded(scene, 2)
    wa.write_results(stage, recording, tmp_path / "run.usda")
    run = Usd.Stage.Open(str(tmp_path / "run.usda"))
    positions, _ = instance_poses(run, 1, "/here/holder/many")
    np.testing.assert_allclose(positions, recording.link_pose[1, 0, :, :3], atol=1e-5)


def test_nothing_else_to_simulate():
    """A stage with bodies that no instance has is refused."""
    with pytest.raises(StageError, match="no articulation and no rigid body"):
        read_stage(open_text(instancer("", BOX, ())))
    assert inspect_stage(open_text(instancer("", BOX, ()))).scene is None
