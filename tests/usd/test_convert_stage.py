"""A converted stage says in our schemas what the original says in those of others, and nothing else changes."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, schemas, warnings_of
from tests.usd_schemas import test_same_mechanism as same
from tests.usd_schemas.mechanisms import HINGE, SLIDE, chain
from warp_artic.description.articulation import SLEEP_THRESHOLD
from warp_artic.errors import SettingsError, StageError
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.conversion import FOREIGN
from warp_artic.usd.convert_stage import convert_stage
from warp_artic.usd.read_stage import read_stage


def saved(stage, folder, name="source.usda"):
    """The path of a file with what an open stage has."""
    path = folder / name
    stage.GetRootLayer().Export(str(path))
    return path


def converted(stage, folder):
    """A conversion, and the stage that it wrote."""
    output = folder / "converted.usda"
    conversion = convert_stage(saved(stage, folder), output)
    return conversion, Usd.Stage.Open(str(output))


def foreign(stage) -> list[str]:
    """Attributes and schemas of others on a stage."""
    found = []
    for prim in stage.Traverse():
        attributes = (one for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue())
        found += [str(one.GetPath()) for one in attributes if one.GetName().startswith(FOREIGN)]
        schemas = prim.GetPrimTypeInfo().GetAppliedAPISchemas()
        found += [f"{prim.GetPath()}: {one}" for one in schemas if one.startswith(("Physx", "Newton", "Mjc"))]
    return sorted(found)


def newton(header):
    """Friction, a soft limit and a rigid mimic joint in the schemas of Newton, with the spring of one in PhysX."""
    motor = "float newton:armature = 0.3\nfloat newton:friction = 0.4\nfloat newton:damping = 0.01\n"
    motor += "float newton:velocityLimit = 500\nfloat newton:limitStiffness = 30\nfloat newton:limitDamping = inf\n"
    bounds = "float physics:lowerLimit = -60\nfloat physics:upperLimit = 75\n"
    follows = """
    rel newton:mimicJoint = </World/j1>
    float newton:mimicCoef1 = 0.02
    float newton:mimicCoef0 = 0.3
    rel physxMimicJoint:rotX:referenceJoint = </World/j1>
    float physxMimicJoint:rotX:gearing = -0.02
    float physxMimicJoint:rotX:offset = -0.3
    float physxMimicJoint:rotX:naturalFrequency = 33
    float physxMimicJoint:rotX:dampingRatio = 0.7
    """
    hinge = ("Revolute", ("NewtonJointAPI",), bounds + motor)
    return chain(hinge, ("Prismatic", ("NewtonMimicAPI", "PhysxMimicJointAPI:rotX"), follows), header=header)


def axes(header):
    """A ball with values for all its axes at once, mimic joints on two of them, and values that are overruled."""
    content = """
    float physxJoint:armature = 0.1
    float physxJoint:maxJointVelocity = 100
    float physxJoint:jointFriction = 0.05
    float physxJointAxis:rotY:armature = 0.3
    rel physxMimicJoint:rotY:referenceJoint = </World/j1>
    float physxMimicJoint:rotY:gearing = 0.7
    rel physxMimicJoint:rotZ:referenceJoint = </World/j2>
    float physxMimicJoint:rotZ:gearing = 0.3
    float physxMimicJoint:rotZ:offset = 1.1
    """
    applied = ("PhysxJointAPI", "PhysxJointAxisAPI:rotY", "PhysxMimicJointAPI:rotY", "PhysxMimicJointAPI:rotZ")
    return chain(HINGE, SLIDE, ("Spherical", applied, content), header=header)


ROOT = Path(__file__).parents[2]
STAGES = sorted([*ROOT.glob("tests/data/oracle/stages/*.usda"), *ROOT.glob("samples/scenes/*.usda")])
MECHANISMS = {"physx": same.physx, "newton": newton, "axes": axes}


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_description_is_the_same(name, header, tmp_path):
    """Every number is the same one, to the last bits, and none of the words of others is left that has one of ours."""
    stage = MECHANISMS[name](header)
    conversion, result = converted(stage, tmp_path)
    assert errors_of(result) == []
    first, second = same.compared(read_stage(stage)), same.compared(read_stage(result))
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert value == (pytest.approx(second[key], rel=1e-15) if isinstance(value, float) else second[key]), key
    assert sorted(left.path for left in conversion.left) == [one for one in foreign(result) if ": " not in one]
    kept = {one.partition(".")[2] or one.partition(": ")[2] for one in foreign(result)}
    assert kept <= {"PhysxArticulationAPI"}


LIMITS = {
    "hard": ("float newton:limitStiffness = inf\nfloat newton:limitDamping = 0.5", []),
    "hard by fallback": ("float newton:limitDamping = 0.5", []),
    "damped": ("float newton:limitStiffness = 0\nfloat newton:limitDamping = 0.5", []),
    "free": ("float newton:limitStiffness = 0", ["newton:limitStiffness"]),
    "hard beside ours": (
        "float newton:limitStiffness = inf\ndouble warpArtic:joint:angular:limitDamping = 0.5",
        ["newton:limitStiffness"],
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_newton_stay_what_they_are(name, tmp_path):
    """Hard, damped or free: what ours has no word for is left."""
    content, left = LIMITS[name]
    bounds = "float physics:lowerLimit = -60\nfloat physics:upperLimit = 75\n"
    stage = chain(("Revolute", ("NewtonJointAPI",), bounds + content), SLIDE)
    conversion, result = converted(stage, tmp_path)
    first, second = (read_stage(each).articulations[0].joints[1].dofs[0] for each in (stage, result))
    assert first.limit == second.limit
    assert [one.path for one in conversion.left] == [f"/World/j1.{one}" for one in left]
    assert [one for one in foreign(result) if ".newton:" in one] == [f"/World/j1.{one}" for one in left]


def test_only_the_force_coefficients_are_rounded(tmp_path):
    """PhysX has them without degrees: all other numbers of a stage are bitwise the same."""
    stage = same.physx(SMALL_UNITS)
    _, result = converted(stage, tmp_path)
    first, second = same.compared(read_stage(stage)), same.compared(read_stage(result))
    differ = {key for key, value in first.items() if value != second[key]}
    assert all("force_coefficients" in key for key in differ)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_it_moves_the_same(precision, tmp_path):
    """The converted stage moves as the original does, in every quantity of a run."""
    stage = same.physx(SI)
    _, result = converted(stage, tmp_path)
    one, other = (
        Simulation(read_stage(each), settings=SolverSettings(precision=precision)).record(steps=240, forces=True)
        for each in (stage, result)
    )
    tolerance = 1e-9 if precision == "float64" else 1e-4
    for name in ("joint_position", "joint_velocity", "tendon_length", "tendon_force", "mimic_error", "link_pose"):
        first, second = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(first, second, rtol=tolerance, atol=tolerance, err_msg=name)
    assert np.abs(one.joint_position[-1] - one.joint_position[0]).max() > 0.1


def test_the_report(tmp_path):
    """It says where each thing went, what had no effect, and what is left and why."""
    conversion, _ = converted(same.physx(SI), tmp_path)
    went = {rewrite.was: rewrite.now for rewrite in conversion.rewritten}
    assert went["/World/j1: PhysxTendonAxisRootAPI:t"] == went["/World/j3: PhysxTendonAxisAPI:t"] == "/World/t"
    assert went["/World/l3: PhysxTendonAttachmentLeafAPI:tip2"] == "/World/root/root/guide/tip2"
    assert went["/World/j2: PhysxMimicJointAPI:rotX"] == "/World/j2: WarpArticMimicAPI:angular"
    assert went["/World/j1.physxLimit:angular:damping"] == "/World/j1.warpArtic:joint:angular:limitDamping"
    assert went["/World/l2.physxRigidBody:linearDamping"] == "/World/l2.warpArtic:link:linearDamping"
    assert went["/scene.physxScene:timeStepsPerSecond"] == "/scene.warpArtic:scene:timeStepsPerSecond"
    assert went[f"/World.{POSITION}"] == "/scene.warpArtic:scene:positionIterations"
    assert conversion.left == []


SETTINGS = {
    "newton": (
        "NewtonSceneAPI",
        "uniform int newton:timeStepsPerSecond = 300\nuniform int newton:maxSolverIterations = 7",
    ),
    "physx": ("PhysxSceneAPI", "uint physxScene:timeStepsPerSecond = 300"),
    "mjc": ("MjcSceneAPI", "uniform double mjc:option:timestep = 0.003"),
}


@pytest.mark.parametrize("dialect", SETTINGS)
def test_settings_of_a_scene(dialect, tmp_path):
    """The time step and the count of iterations become ours, with the types of our schema."""
    applied, content = SETTINGS[dialect]
    stage = chain(HINGE, outside=f'def PhysicsScene "scene" {schemas(applied)} {{\n{content}\n}}\n')
    conversion, result = converted(stage, tmp_path)
    first, second = same.compared(read_stage(stage)), same.compared(read_stage(result))
    assert first == second and second[".time_step"] == pytest.approx(0.003 if dialect == "mjc" else 1 / 300, rel=1e-15)
    assert foreign(result) == conversion.left == []
    prim = result.GetPrimAtPath("/scene")
    assert prim.HasAPI("WarpArticSceneAPI")
    assert not any(attribute.IsCustom() for attribute in prim.GetAuthoredAttributes())
    definition = prim.GetPrimDefinition()
    for attribute in prim.GetAuthoredAttributes():
        assert attribute.GetTypeName() == definition.GetAttributeDefinition(attribute.GetName()).GetTypeName()


POSITION, VELOCITY = (f"physxArticulation:solver{word}IterationCount" for word in ("Position", "Velocity"))


def test_iterations_of_an_articulation(tmp_path):
    """They become those of the scene, where they overrule as before."""
    content = "int newton:maxSolverIterations = 7"
    stage = chain(HINGE, outside=f'def PhysicsScene "scene" {{\n{content}\n}}\n')
    root = stage.GetPrimAtPath("/World")
    for name, count in ((POSITION, 12), (VELOCITY, 0)):
        root.CreateAttribute(name, Sdf.ValueTypeNames.Int).Set(count)
    conversion, result = converted(stage, tmp_path)
    for one in (stage, result):
        (tree,) = read_stage(one).articulations
        assert (tree.position_iterations, tree.velocity_iterations) == (12, 0)
    assert foreign(result) == conversion.left == []
    went = {one.was: one.now for one in conversion.rewritten}
    assert went == {
        f"/World.{POSITION}": "/scene.warpArtic:scene:positionIterations",
        f"/World.{VELOCITY}": "/scene.warpArtic:scene:velocityIterations",
        "/scene.newton:maxSolverIterations": "",
    }


def test_iterations_that_differ(tmp_path):
    """Ours has one value for all articulations: where theirs differ they stay, and are listed."""
    other = body("free")
    stage = chain(HINGE, outside=f'def PhysicsScene "scene" {{\nint newton:maxSolverIterations = 7\n}}\n{other}')
    stage.GetPrimAtPath("/World").CreateAttribute(POSITION, Sdf.ValueTypeNames.Int).Set(12)
    conversion, result = converted(stage, tmp_path)
    for one in (stage, result):
        assert {tree.path: tree.position_iterations for tree in read_stage(one).articulations} == {
            "/World": 12,
            "/free": 7,
        }
    reasons = {left.path: left.reason for left in conversion.left}
    assert reasons.keys() == {f"/World.{POSITION}", "/scene.newton:maxSolverIterations"}
    assert all("has one value" in reason for reason in reasons.values())


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_the_threshold_for_sleep(tmp_path, header):
    """Becomes that of the scene, to the last bit; where articulations differ it stays."""
    name = "physxArticulation:sleepThreshold"
    for outside, left in (("", []), (body("free"), [f"/World.{name}"])):
        stage = chain(HINGE, outside=f'def PhysicsScene "scene" {{}}\n{outside}', header=header)
        stage.GetPrimAtPath("/World").CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(0.001)
        conversion, result = converted(stage, tmp_path)
        assert [one.path for one in conversion.left] == left == foreign(result)
        before, after = ([tree.sleep_threshold for tree in read_stage(one).articulations] for one in (stage, result))
        assert before == after and before[0] != SLEEP_THRESHOLD


def test_one_value_for_several(tmp_path):
    """The report names every place that a value went to."""
    conversion, _ = converted(axes(SI), tmp_path)
    went = [one.now for one in conversion.rewritten if one.was == "/World/j3.physxJoint:armature"]
    assert went == [f"/World/j3.warpArtic:joint:{axis}:armature" for axis in ("rotX", "rotZ")]
    conversion, _ = converted(newton(SI), tmp_path)
    went = [one.now.rpartition(":")[2] for one in conversion.rewritten if one.was == "/World/j1.newton:friction"]
    assert went == ["staticFrictionEffort", "dynamicFrictionEffort"]


def test_what_was_overruled(tmp_path):
    """A value that another one overrules is not carried on, and that is said."""
    content = (
        "float newton:armature = 0.5\nfloat physxJoint:armature = 0.7\ndouble warpArtic:joint:angular:armature = 0.9"
    )
    stage = chain(("Revolute", ("WarpArticJointAPI:angular",), content))
    conversion, result = converted(stage, tmp_path)
    assert {(one.was, one.now) for one in conversion.rewritten} == {
        ("/World/j1.newton:armature", ""),
        ("/World/j1.physxJoint:armature", ""),
    }
    assert read_stage(result).articulations[0].dofs[0].armature == 0.9
    assert warnings_of(result) == []


BOTH = """
double warpArtic:joint:angular:armature = 0.9
float newton:armature = 0.5
float physxJoint:armature = 0.7
rel warpArtic:mimic:angular:leaders = </World/j1>
double[] warpArtic:mimic:angular:gears = [3]
double warpArtic:mimic:angular:offset = 4
double warpArtic:mimic:angular:naturalFrequency = 20
rel newton:mimicJoint = </World/j1>
float newton:mimicCoef1 = 0.25
rel physxMimicJoint:rotX:referenceJoint = </World/j1>
float physxMimicJoint:rotX:gearing = 2
"""


@pytest.mark.parametrize("first, armature, gear", [("warpArtic", 0.9, 3), ("newton", 0.5, 0.25), ("physx", 0.7, -2)])
def test_the_order_of_dialects(first, armature, gear, tmp_path):
    """What counts in an order becomes ours, also where ours had another value."""
    applied = ("WarpArticJointAPI:angular", "WarpArticMimicAPI:angular", "NewtonMimicAPI", "PhysxMimicJointAPI:rotX")
    source = saved(chain(HINGE, ("Revolute", applied, BOTH)), tmp_path)
    convert_stage(source, tmp_path / "out.usda", dialects=(first,))
    result = Usd.Stage.Open(str(tmp_path / "out.usda"))
    before, after = same.compared(read_stage(source, dialects=(first,))), same.compared(read_stage(result))
    assert before == after and foreign(result) == []
    (tree,) = read_stage(result).articulations
    assert tree.dofs[1].armature == pytest.approx(armature) and tree.mimics[0].gears[1] == -gear


def test_an_envelope_without_a_drive_stays(tmp_path):
    """It has no effect; ours would make it a drive."""
    content = "float physxDrivePerformanceEnvelope:angular:maxActuatorVelocity = 200"
    stage = chain(("Revolute", ("PhysxDrivePerformanceEnvelopeAPI:angular",), content))
    conversion, result = converted(stage, tmp_path)
    assert conversion.rewritten == []
    assert read_stage(result).articulations[0].dofs[0].drive is None
    assert [left.path.partition(":")[0] for left in conversion.left] == ["/World/j1.physxDrivePerformanceEnvelope"]


@pytest.mark.parametrize("folder", [".", "deep/er"])
def test_values_in_referenced_layers(folder, tmp_path):
    """What a reference brings is overridden; the reference is found from another folder; no source is edited."""
    saved(same.physx(SI), tmp_path, "robot.usda")
    source = tmp_path / "scene.usda"
    units = "metersPerUnit = 1\nkilogramsPerUnit = 1\n"
    source.write_text(f'#usda 1.0\n({units})\ndef "Robot" (references = @./robot.usda@</World>) {{}}\n')
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    before = [hashlib.sha256((tmp_path / name).read_bytes()).digest() for name in ("robot.usda", "scene.usda")]
    output = tmp_path / folder / "out.usdc"
    conversion = convert_stage(source, output)
    result = Usd.Stage.Open(str(output))
    same.assert_same(Usd.Stage.Open(str(source)), result)
    assert errors_of(result) == []
    assert warnings_of(result) == warnings_of(Usd.Stage.Open(str(source)))
    assert not any("endon" in one or "imic" in one or "imit" in one for one in foreign(result))
    assert conversion.rewritten
    after = [hashlib.sha256((tmp_path / name).read_bytes()).digest() for name in ("robot.usda", "scene.usda")]
    assert after == before
    assert sorted(path.name for path in output.parent.iterdir() if "partial" in path.name) == []


def test_one_output_for_two_stages(tmp_path):
    """A conversion that is still held does not become part of the next one to the same file."""
    first, _ = converted(newton(SI), tmp_path)
    stage = axes(SI)
    second, _ = converted(stage, tmp_path)
    same.assert_same(stage, Usd.Stage.Open(str(tmp_path / "converted.usda")))
    assert {one.was for one in first.rewritten} != {one.was for one in second.rewritten}


def test_instances_are_left(tmp_path):
    """What several instances share cannot be overridden in one of them: it is left as it is, and listed."""
    saved(same.physx(SI), tmp_path, "robot.usda")
    source = tmp_path / "scene.usda"
    reference = "(instanceable = true\nreferences = @./robot.usda@</World>)"
    units = "metersPerUnit = 1\nkilogramsPerUnit = 1\n"
    source.write_text(f'#usda 1.0\n({units})\ndef "Robot" {reference} {{}}\n')
    conversion = convert_stage(source, tmp_path / "out.usda")
    same.assert_same(Usd.Stage.Open(str(source)), Usd.Stage.Open(str(tmp_path / "out.usda")))
    assert conversion.rewritten == []
    reasons = {left.path: left.reason for left in conversion.left}
    assert len(reasons) == len(conversion.left)
    for path in (
        "/Robot/j1: PhysxTendonAxisRootAPI:t",
        "/Robot/l1.physxTendon:guide:gearing",
        "/Robot/j2: PhysxMimicJointAPI:rotX",
        "/Robot/j1.physxLimit:angular:damping",
    ):
        assert reasons[path] == "is inside an instance, which cannot be edited"


def test_animated_values_are_left(tmp_path):
    """Rewritten, only the value at the start would be left of them."""
    text = """
    float newton:armature.timeSamples = {0: 1, 10: 2}
    float physxJoint:armature = 3
    float newton:friction = 0.5
    rel physxMimicJoint:rotX:referenceJoint = </World/j1>
    float physxMimicJoint:rotX:gearing.timeSamples = {0: 1, 10: 2}
    """
    stage = chain(HINGE, ("Revolute", ("PhysxMimicJointAPI:rotX",), text))
    conversion, result = converted(stage, tmp_path)
    same.assert_same(stage, result)
    assert {left.path for left in conversion.left} == {
        "/World/j2.newton:armature",
        "/World/j2.physxJoint:armature",
        "/World/j2: PhysxMimicJointAPI:rotX",
        "/World/j2.physxMimicJoint:rotX:gearing",
        "/World/j2.physxMimicJoint:rotX:referenceJoint",
    }
    assert all("has time samples" in left.reason for left in conversion.left)
    assert result.GetAttributeAtPath("/World/j2.newton:armature").GetNumTimeSamples() == 2
    assert {rewrite.was for rewrite in conversion.rewritten} == {"/World/j2.newton:friction"}


def test_targets_over_time_stay(tmp_path):
    """They are of UsdPhysics: the drive follows them as before."""
    text = "float drive:angular:physics:targetPosition.timeSamples = {0: 0, 24: 30}\nfloat newton:armature = 0.5"
    stage = chain(("Revolute", ("PhysicsDriveAPI:angular", "NewtonJointAPI"), text))
    conversion, result = converted(stage, tmp_path)
    same.assert_same(stage, result)
    assert conversion.left == [] and len(conversion.rewritten) == 1
    track = read_stage(result).articulations[0].dofs[0].drive.position_track
    assert track.times == (0.0, 1.0)


def test_a_value_of_which_one_use_is_left(tmp_path):
    """Static friction is left for the samples that it overrules, dynamic friction is rewritten: both are as before."""
    text = "float newton:friction = 0.5\nfloat physxJointAxis:angular:staticFrictionEffort.timeSamples = {0: 1, 9: 2}"
    stage = chain(("Revolute", ("PhysxJointAxisAPI:angular",), text))
    conversion, result = converted(stage, tmp_path)
    same.assert_same(stage, result)
    assert [one.now.rpartition(":")[2] for one in conversion.rewritten] == ["dynamicFrictionEffort"]
    assert "/World/j1.newton:friction" in {left.path for left in conversion.left}


def test_values_in_a_variant(tmp_path):
    """What the chosen variant has is overridden by ours; it stays for whoever edits the variant."""
    stage = chain(HINGE)
    joint = stage.GetPrimAtPath("/World/j1")
    variants = joint.GetVariantSets().AddVariantSet("size")
    variants.AddVariant("large")
    variants.SetVariantSelection("large")
    with variants.GetVariantEditContext():
        joint.CreateAttribute("newton:armature", Sdf.ValueTypeNames.Float).Set(0.5)
    _, result = converted(stage, tmp_path)
    assert foreign(result) == []
    assert read_stage(result).articulations[0].dofs[0].armature == 0.5


def with_plain_gears(scene, path):
    """A scene of gears in which these and the mimic joints of ours that they become read alike.

    Those have the path of the joint that follows, which is another one where that has a gear already: here each is
    without a name, and a relation of its dofs in their order, with 1 for the first of them.
    """
    if path.stem != "gears":
        return scene

    def plain(mimic):
        pairs = sorted(zip(mimic.dofs, mimic.gears))
        first = pairs[0][1]
        gears = tuple(round(gear / first, 12) for _, gear in pairs)
        offset = round(mimic.offset / first, 12) + 0.0
        return replace(mimic, name="", dofs=tuple(dof for dof, _ in pairs), gears=gears, offset=offset)

    trees = (
        replace(tree, mimics=tuple(sorted(map(plain, tree.mimics), key=lambda one: one.dofs)))
        for tree in scene.articulations
    )
    return replace(scene, articulations=tuple(trees))


@pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)
def test_stages_from_elsewhere(path, tmp_path):
    """Stages that others wrote, and our samples, have the same description afterwards, and no warning more."""
    convert_stage(path, tmp_path / "out.usda")
    result = Usd.Stage.Open(str(tmp_path / "out.usda"))
    first, second = (same.compared(with_plain_gears(read_stage(stage), path)) for stage in (path, result))
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert value == (pytest.approx(second[key], rel=1e-15) if isinstance(value, float) else second[key]), key
    assert {text.partition(": ")[2] for text in warnings_of(result)} <= {
        text.partition(": ")[2] for text in warnings_of(str(path))
    }


def test_a_stage_of_ours_stays_as_it_is(tmp_path):
    """Converting what is converted changes nothing."""
    stage = same.ours(SI)
    conversion, result = converted(stage, tmp_path)
    assert conversion.rewritten == conversion.left == []
    assert result.GetRootLayer().ExportToString() == stage.GetRootLayer().ExportToString()


def test_refusals(tmp_path):
    """A stage with errors, one without a file, and outputs that cannot be."""
    source = saved(chain(HINGE), tmp_path)
    with pytest.raises(SettingsError, match="is a layer of the stage itself"):
        convert_stage(source, source)
    with pytest.raises(SettingsError, match="the name of a converted stage ends in one of"):
        convert_stage(source, tmp_path / "out.txt")
    with pytest.raises(StageError, match="has no file"):
        convert_stage(chain(HINGE), tmp_path / "out.usda")
    edited = Usd.Stage.Open(str(source))
    edited.SetEditTarget(edited.GetSessionLayer())
    edited.GetPrimAtPath("/World/l1").GetAttribute("physics:mass").Set(9.0)
    with pytest.raises(StageError, match="the session layer has opinions"):
        convert_stage(edited, tmp_path / "out.usda")
    wrong = saved(chain(("Revolute", (), "float newton:armature = -1")), tmp_path, "wrong.usda")
    with pytest.raises(StageError, match="must not be negative"):
        convert_stage(wrong, tmp_path / "out.usda")
    assert not (tmp_path / "out.usda").exists()
