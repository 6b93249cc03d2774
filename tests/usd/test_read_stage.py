"""Whole stages: the oracle and benchmark stages, many references, and what cannot be read."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pxr import Gf, Sdf, Usd, Vt

from tests.usd.authoring import SI, body, errors_of, joint, open_text, pendulum, schemas
from warp_artic.description.diagnostic import Severity
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.errors import ArticError, StageError
from warp_artic.usd.read_stage import check_stage, inspect_stage, read_stage

DATA = Path(__file__).parent.parent / "data"
STAGES = sorted([*(DATA / "oracle" / "stages").glob("*.usda"), *(DATA / "peers").glob("*.usda")])
AS_READ_BY_PHYSX = json.loads((DATA / "oracle" / "as_read_by_physx.json").read_text())
"""Masses and dofs of the oracle stages, as ovphysx 0.7 reports them after reading the stage."""


@pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)
def test_stage_reads(path):
    """The stage has one articulation, and no warning but for what is not simulated yet."""
    before = path.read_bytes()
    scene = read_stage(path)
    assert len(scene.articulations) == 1
    rules = {finding.rule for finding in scene.diagnostics if finding.severity is Severity.WARNING}
    assert rules <= {"tendon", "mimic", "loop-joint", "not-simulated"}
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", AS_READ_BY_PHYSX)
def test_stage_is_as_physx_reads_it(name):
    """Masses, start state, gains, limits, armature and friction equal those that PhysX read from the stage."""
    expected, scene = AS_READ_BY_PHYSX[name], read_stage(DATA / "oracle" / "stages" / f"{name}.usda")
    links = {link.path.rpartition("/")[2]: link.mass for tree in scene.articulations for link in tree.links}
    assert links == {body: pytest.approx(mass) for body, mass in expected["mass"].items() if body in links}
    dofs = {dof.name.rpartition("/")[2]: dof for tree in scene.articulations for dof in tree.dofs}
    for dof_name, values in expected["dofs"].items():
        dof = dofs[dof_name]
        assert (dof.position, dof.velocity) == pytest.approx((values["position"], values["velocity"]), abs=1e-5)
        assert dof.armature == pytest.approx(values["armature"])
        drive = dof.drive or Drive()
        assert (drive.stiffness, drive.damping) == pytest.approx((values["stiffness"], values["damping"]), rel=1e-4)
        if dof.limit:
            assert [dof.limit.lower, dof.limit.upper] == pytest.approx(values["limit"], rel=1e-5)
        friction = dof.friction or Friction()
        efforts = [friction.static_effort, friction.dynamic_effort, friction.viscous]
        assert efforts == pytest.approx(values["friction"], rel=1e-4)


def test_fifty_references():
    """A humanoid referenced 50 times is 50 articulations."""
    humanoid = next(path for path in STAGES if path.stem == "humanoid")
    text = "".join(f'def "robot{i}" (prepend references = @{humanoid}@</World>) {{\n}}\n' for i in range(50))
    stage = open_text(text)
    scene = read_stage(stage)
    assert len(scene.articulations) == 50
    assert len(set(scene.dof_names)) == 50 * 21


@pytest.mark.parametrize("kind", ["path", "string", "stage"])
@pytest.mark.parametrize("suffix", ["usda", "usdc", "usd"])
def test_ways_to_name_a_stage(tmp_path, kind, suffix):
    """A stage is given by a path, a string or a Usd.Stage, in any format."""
    path = tmp_path / f"stage.{suffix}"
    pendulum().GetRootLayer().Export(str(path))
    given = {"path": path, "string": str(path), "stage": Usd.Stage.Open(str(path))}[kind]
    assert read_stage(given).link_names == ("/World/base", "/World/rod")


def test_missing_and_unreadable_files(tmp_path):
    """Each is one line that names the file."""
    broken = tmp_path / "broken.usda"
    broken.write_text("#usda 1.0\ndef Xform {")
    listless = tmp_path / "listless.usda"
    listless.write_text('#usda 1.0\ndef Xform "a" (prepend apiSchemas = []) {\n}\n')
    foreign = tmp_path / "stage.xyz"
    foreign.write_text("hello")
    cases = {
        tmp_path / "none.usda": "there is no such file",
        tmp_path: "is a folder",
        broken: "cannot be read",
        listless: ":2:38: syntax error",
        foreign: "can",
    }
    for path, sentence in cases.items():
        with pytest.raises(StageError) as caught:
            read_stage(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert sentence in message
        assert "\n" not in message and len(message) < 300
    with pytest.raises(StageError, match="not int"):
        read_stage(3)


def test_stage_without_anything_to_simulate():
    """A stage without bodies is refused."""
    with pytest.raises(StageError, match="no articulation and no rigid body"):
        read_stage(open_text('def Xform "empty" {\n}\n'))


def test_all_errors_are_reported_at_once():
    """One line for each error, and check_stage lists them first without raising."""
    text = body("a", mass="float physics:mass = -1") + joint(
        "j", "Revolute", "", "/a", "float physics:lowerLimit = nan"
    )
    stage = open_text(text)
    with pytest.raises(StageError) as caught:
        read_stage(stage)
    assert len(str(caught.value).splitlines()) == 2
    found = check_stage(stage)
    assert [one.severity for one in found] == sorted((one.severity for one in found), key=list(Severity).index)
    assert inspect_stage(stage).scene is None


@pytest.mark.parametrize(
    "header, sentence",
    [
        ("metersPerUnit = 0", "/: metersPerUnit is 0"),
        ("metersPerUnit = nan", "/: metersPerUnit is nan"),
        ("metersPerUnit = 1\nkilogramsPerUnit = -1", "/: kilogramsPerUnit is -1"),
        ('metersPerUnit = 1\nupAxis = "Q"', "/: upAxis is Q, must be Y or Z"),
        ("timeCodesPerSecond = 0", "/: timeCodesPerSecond is 0, must be positive"),
        ("startTimeCode = nan", "/: startTimeCode is nan, must be finite"),
        ("endTimeCode = inf", "/: endTimeCode is inf, must be finite"),
    ],
)
def test_bad_stage_metadata(header, sentence):
    """Units, up axis and time codes of the stage are checked."""
    assert errors_of(open_text(body("a"), header))[0].startswith(sentence)


def test_unauthored_length_unit_is_noted():
    """Without metersPerUnit a unit is a centimetre, as USD says, and a note says so."""
    stage = open_text(body("a", at=(100, 0, 0)), 'upAxis = "Z"')
    assert read_stage(stage).articulations[0].links[0].pose.position == (1, 0, 0)
    assert any(one.rule == "meters-per-unit" for one in check_stage(stage))


def test_reference_to_nowhere_is_a_warning(tmp_path, capfd):
    """A reference that leads to no file is reported at its prim, and not printed besides."""
    stage = open_text(body("a") + 'def "gone" (prepend references = @./nowhere.usda@) {\n}\n')
    capfd.readouterr()
    path = tmp_path / "stage.usda"
    stage.GetRootLayer().Export(str(path))
    (finding,) = [one for one in check_stage(path) if one.rule == "composition"]
    assert finding.path == "/gone" and "nowhere.usda" in finding.message
    assert capfd.readouterr().err == ""


def test_the_stage_is_not_edited():
    """Reading leaves every layer as it was."""
    stage = pendulum("float physics:lowerLimit = 3")
    before = [layer.ExportToString() for layer in stage.GetLayerStack()]
    inspect_stage(stage)
    assert [layer.ExportToString() for layer in stage.GetLayerStack()] == before


NUMBERS = [float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e-45, 1e-30, 3.4e38, -3.4e38, 1e20, -90.0, 1.0, 400.0]
TYPED = st.one_of(
    st.tuples(st.just(Sdf.ValueTypeNames.Float), st.sampled_from(NUMBERS)),
    st.tuples(st.just(Sdf.ValueTypeNames.Double), st.one_of(st.sampled_from(NUMBERS), st.floats())),
    st.tuples(st.just(Sdf.ValueTypeNames.Int), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just(Sdf.ValueTypeNames.Bool), st.booleans()),
    st.tuples(st.just(Sdf.ValueTypeNames.String), st.sampled_from(["", "X", "text"])),
    st.tuples(st.just(Sdf.ValueTypeNames.Token), st.sampled_from(["", "Y", "force", "acceleration", "nonsense"])),
    st.tuples(
        st.just(Sdf.ValueTypeNames.Float3), st.tuples(*[st.sampled_from(NUMBERS)] * 3).map(lambda v: Gf.Vec3f(*v))
    ),
    st.tuples(st.just(Sdf.ValueTypeNames.Double3), st.tuples(*[st.floats()] * 3).map(lambda v: Gf.Vec3d(*v))),
    st.tuples(
        st.just(Sdf.ValueTypeNames.Quatf), st.tuples(*[st.sampled_from(NUMBERS)] * 4).map(lambda v: Gf.Quatf(*v))
    ),
    st.tuples(
        st.just(Sdf.ValueTypeNames.FloatArray), st.lists(st.sampled_from(NUMBERS), max_size=7).map(Vt.FloatArray)
    ),
    st.tuples(st.just(Sdf.ValueTypeNames.TokenArray), st.just(Vt.TokenArray(["xformOp:scale", "!x", "xformOp:no"]))),
)
"""Values of every type that physics attributes have, good and bad."""

RICH = (
    open_text(
        f'def PhysicsScene "scene" {{\nvector3f physics:gravityDirection = (0, 0, -1)\n}}\n'
        f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n'
        + body("base")
        + body(
            "rod",
            'float3 xformOp:scale = (2, 2, 2)\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
            f'def Capsule "shape" {schemas("PhysicsCollisionAPI", "PhysicsMassAPI")} {{\n}}\n'
            f'def Mesh "mesh" {schemas("PhysicsCollisionAPI")} {{\n'
            "point3f[] points = [(0,0,0), (1,0,0), (0,1,0), (0,0,1)]\n"
            "int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0,2,1, 0,1,3, 0,3,2, 1,2,3]\n}\n",
            mass="",
        )
        + joint("held", "Fixed", "", "/World/base")
        + joint("hinge", "Revolute", "/World/base", "/World/rod", "", ("PhysicsDriveAPI:angular",))
        + body("ball")
        + joint("socket", "Spherical", "/World/ball", "/World/rod")
        + body("free")
        + joint("six", "", "/World/rod", "/World/free", "", tuple(f"PhysicsLimitAPI:trans{axis}" for axis in "XYZ"))
        + "}\n",
        SI,
    )
    .GetRootLayer()
    .ExportToString()
)

ATTRIBUTES = {
    "/scene": [
        "physics:gravityDirection",
        "physics:gravityMagnitude",
        "newton:gravityEnabled",
        "newton:timeStepsPerSecond",
        "physxScene:timeStepsPerSecond",
        "newton:maxSolverIterations",
    ],
    "/World": [
        "physxArticulation:articulationEnabled",
        "physxArticulation:solverPositionIterationCount",
        "xformOp:scale",
    ],
    "/World/base": [
        "physics:mass",
        "physics:density",
        "physics:diagonalInertia",
        "physics:principalAxes",
        "physics:centerOfMass",
        "newton:inertia",
        "physics:velocity",
        "physics:angularVelocity",
        "physics:kinematicEnabled",
        "physics:rigidBodyEnabled",
        "physxRigidBody:linearDamping",
        "physxRigidBody:disableGravity",
        "xformOp:translate",
        "xformOpOrder",
    ],
    "/World/rod": [
        "physics:mass",
        "physics:centerOfMass",
        "physics:diagonalInertia",
        "xformOp:scale",
        "xformOp:translate",
    ],
    "/World/rod/shape": ["radius", "height", "axis", "physics:density", "physics:mass", "physics:centerOfMass"],
    "/World/rod/mesh": ["points", "faceVertexCounts", "faceVertexIndices"],
    "/World/hinge": [
        "physics:axis",
        "physics:lowerLimit",
        "physics:upperLimit",
        "physics:localPos0",
        "physics:localRot1",
        "drive:angular:physics:stiffness",
        "drive:angular:physics:type",
        "drive:angular:physics:maxForce",
        "drive:angular:physics:targetPosition",
        "state:angular:physics:position",
        "newton:armature",
        "state:angular:physics:velocity",
        "physxJoint:maxJointVelocity",
        "newton:friction",
        "physics:body0",
        "physics:jointEnabled",
        "physics:excludeFromArticulation",
        "physics:breakForce",
    ],
    "/World/socket": [
        "physics:coneAngle0Limit",
        "physics:coneAngle1Limit",
        "state:rotX:physics:position",
        "physics:axis",
    ],
    "/World/six": ["limit:transX:physics:low", "limit:transX:physics:high", "limit:transY:physics:high"],
}
PLACES = [(path, name) for path, names in ATTRIBUTES.items() for name in names]


@pytest.mark.filterwarnings("error")
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), TYPED), min_size=1, max_size=4))
def test_no_value_gives_a_traceback(changes):
    """Whatever is authored, a stage reads or is refused with sentences that name prims."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(RICH)
    for (path, name), (kind, value) in changes:
        prim = layer.GetPrimAtPath(path)
        if name in prim.properties:
            del prim.properties[name]
        Sdf.AttributeSpec(prim, name, kind).default = value
    try:
        scene = read_stage(Usd.Stage.Open(layer))
    except ArticError as error:
        assert all(line.startswith("/") for line in str(error).splitlines())
    else:
        assert scene.link_names
