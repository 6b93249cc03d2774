"""What is not simulated or not used is reported by name, with its prim path, once."""

import pytest

from tests.usd.authoring import body, joint, notes_of, open_text, pendulum, schemas, warnings_of
from warp_artic.description.consequences import headline
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import check_stage

EVERY_FAMILY = ("fixed_tendon", "spatial_tendon", "mimic", "soft_limit", "envelope", "load_friction")


def test_families_are_known():
    """Each name in NOT_YET is that of a family, so that removing it has an effect."""
    families = {feature.family for feature in not_simulated.SCHEMAS.values()} | set(not_simulated.FAMILIES.values())
    assert families - {""} == set(EVERY_FAMILY)
    assert set(not_simulated.NOT_YET) <= families


@pytest.mark.parametrize(
    "schema, content, text",
    [
        ("PhysxTendonAxisRootAPI:flexor", "float physxTendon:flexor:stiffness = 1", "fixed tendon flexor"),
        ("PhysxMimicJointAPI:rotX", "float physxMimicJoint:rotX:gearing = 2", "mimic joint (rotX)"),
        ("NewtonMimicAPI", "float newton:mimicCoef1 = 2", "mimic joint"),
        (
            "PhysxDrivePerformanceEnvelopeAPI:angular",
            "float physxDrivePerformanceEnvelope:angular:maxActuatorVelocity = 5",
            "performance envelope of the drive angular",
        ),
        (
            "PhysxLimitAPI:angular",
            "float physxLimit:angular:stiffness = 5",
            "compliance and restitution of the limit angular",
        ),
    ],
)
def test_features_by_schema(monkeypatch, schema, content, text):
    """A feature given by a schema is one warning; its attributes are not listed again."""
    monkeypatch.setattr(not_simulated, "NOT_YET", EVERY_FAMILY)
    assert warnings_of(pendulum(content, applied=(schema,))) == [f"/World/hinge: {text}: not simulated yet"]


def test_spatial_tendon(monkeypatch):
    """Attachments are reported on their links."""
    monkeypatch.setattr(not_simulated, "NOT_YET", EVERY_FAMILY)
    stage = pendulum(
        rod="point3f physxTendon:tip:localPos = (1, 0, 0)", rod_applied=("PhysxTendonAttachmentLeafAPI:tip",)
    )
    assert warnings_of(stage) == ["/World/rod: tendon leaf tip: not simulated yet"]


@pytest.mark.parametrize(
    "content",
    ["float physxJoint:jointFriction = 0.1", "float newton:limitStiffness = 5"],
)
def test_features_by_attribute(monkeypatch, content):
    """A feature given by an attribute is one warning with its value."""
    monkeypatch.setattr(not_simulated, "NOT_YET", EVERY_FAMILY)
    name, value = content.split()[1], content.split()[3]
    (warning,) = warnings_of(pendulum(content))
    assert warning.startswith(f"/World/hinge.{name}: is {value}")
    assert warning.endswith("is not simulated yet")


def test_values_that_mean_none_are_not_reported():
    """A break force without bound, or gravity not disabled, is nothing to report."""
    assert not warnings_of(pendulum("float physics:breakForce = inf", rod="bool physxRigidBody:disableGravity = 0"))


def test_typed_prims():
    """Instancers of joints are prims of their own, reported by type."""
    text = body("a") + 'def PhysxPhysicsJointInstancer "g" {\n}\n'
    assert warnings_of(open_text(text)) == ["/g: joint instancer: not simulated yet"]


def test_bodies_of_a_point_instancer():
    """Bodies below a point instancer that are in no prototype are not simulated, and that is said."""
    (warning,) = warnings_of(open_text('def PointInstancer "many" {\n' + body("a") + "}\n" + body("b")))
    assert warning.startswith("/many: bodies and colliders below it are in none of its prototypes")


def test_colliders_that_touch_nothing_are_one_warning():
    """However many there are, with their number; those that touch others are nothing to report."""
    many = "".join(f'def Points "c{i}" {schemas("PhysicsCollisionAPI")} {{\n}}\n' for i in range(3))
    cube = f'def Cube "cube" {schemas("PhysicsCollisionAPI")} {{\n}}\n'
    assert warnings_of(open_text(body("a", cube) + cube)) == []
    assert warnings_of(open_text(body("a", cube) + many)) == [
        "/: 3 colliders of kinds that do not touch others yet (3 other): /c0, /c1, /c2; everything passes through them"
    ]
    assert warnings_of(open_text(many)) == []


def test_unknown_attributes_and_schemas():
    """An attribute or schema of a physics family that nothing reads is reported."""
    stage = pendulum(
        "float physxJoint:nonsense = 1\nfloat newton:nonsense = 1", applied=("PhysxNonsenseAPI", "NewtonNonsenseAPI")
    )
    assert warnings_of(stage) == [
        "/World/hinge: the schema NewtonNonsenseAPI is not used",
        "/World/hinge.newton:nonsense: is not used",
        "/World/hinge.physxJoint:nonsense: is not used",
    ]
    assert "/World/hinge: the schema PhysxNonsenseAPI is not used" in notes_of(stage)


def test_names_that_are_nearly_right():
    """The one that may be meant is named, of the same kind; what is far from all of them gets none."""
    stage = pendulum(
        "float physics:lowrLimit = -10\nfloat drive:angular:physics:stifness = 3\nfloat physxJoint:jointFriction1 = 2\n"
        "float physics:mass2 = 1",
        applied=("PhysicsDriveAPI:angular", "PhysxJointAPI"),
    )
    found = dict(text.removeprefix("/World/hinge.").split(": is not used", 1) for text in warnings_of(stage))
    assert found == {
        "drive:angular:physics:stifness": "; did you mean drive:angular:physics:stiffness?",
        "physics:lowrLimit": "; did you mean physics:lowerLimit?",
        "physics:mass2": "; did you mean physics:mass?",
        "physxJoint:jointFriction1": "; did you mean physxJoint:jointFriction?",
    }


@pytest.mark.parametrize(
    "kind, content, applied, reason",
    [
        (
            "Revolute",
            "float limit:rotX:physics:high = 1",
            "PhysicsLimitAPI:rotX",
            "a {} has physics:lowerLimit and phy",
        ),
        (
            "Revolute",
            "float state:rotX:physics:position = 1",
            "PhysicsJointStateAPI:rotX",
            "the axis of a {} is called an",
        ),
        (
            "Prismatic",
            "float physxLimit:transX:damping = 1",
            "PhysxLimitAPI:transX",
            "the axis of a {} is called linear",
        ),
        ("", "float physxMimicJoint:rotX:gearing = 1", "", "it needs the schema PhysxMimicJointAPI:rotX"),
        ("", "float drive:rotX:physics:damping = 1", "", "it needs the schema PhysicsDriveAPI:rotX"),
        ("", "float drive:rotX:physics:nonsense = 1", "PhysicsDriveAPI:rotX", ""),
    ],
)
def test_what_an_attribute_of_a_joint_lacks(kind, content, applied, reason):
    """The schema that it needs, or the name that the axis of the joint has there."""
    (warning,) = warnings_of(pendulum(content, kind, (applied,) if applied else ()))
    reason = f": {reason.format(f'Physics{kind}Joint')}" if reason else ""
    assert warning.startswith(f"/World/hinge.{content.split()[1]}: is not used{reason}")


def test_attributes_of_contacts_that_are_nearly_right():
    """A typing error in one is a warning that names the right one; what other engines have of contacts stays a note."""
    content = (
        "float physxCollision:contactOfset = 0.01\nfloat physxCollision:torsionalPatchSize = 0\ndouble radius = 0.1"
    )
    stage = pendulum(rod=f'def Sphere "shape" {schemas("PhysicsCollisionAPI")} {{\n{content}\n}}')
    text = "is not used; did you mean physxCollision:contactOffset?"
    assert warnings_of(stage) == [f"/World/rod/shape.physxCollision:contactOfset: {text}"]


def test_schemas_of_joints_elsewhere():
    """A schema of joints on a link, and one of an axis that names none, have no effect and say so."""
    stage = pendulum(applied=("PhysicsDriveAPI",), rod_applied=("PhysicsDriveAPI:angular", "PhysxJointAPI"))
    assert warnings_of(stage) == [
        "/World/rod: the schema PhysicsDriveAPI:angular is not used: it is no joint",
        "/World/rod: the schema PhysxJointAPI is not used: it is no joint",
        "/World/hinge: the schema PhysicsDriveAPI is not used: it names no axis, as PhysicsDriveAPI:angular does",
    ]


def test_attributes_of_contacts_and_engines_are_notes():
    """Attributes that cannot change the motion of a tree are notes, not warnings."""
    stage = pendulum(world="float physxArticulation:stabilizationThreshold = 0.1")
    assert not warnings_of(stage)
    assert any(
        text.startswith("/World.physxArticulation:stabilizationThreshold: is not used") for text in notes_of(stage)
    )
    used = pendulum(world="bool physxArticulation:enabledSelfCollisions = 0")
    assert not any("enabledSelfCollisions" in text for text in notes_of(used))


@pytest.mark.parametrize(
    "prim, told",
    [
        ('def MjcKeyframe "home" {\ndouble[] mjc:qpos = [1]\n}', "/World/home: a prim of type MjcKeyframe is not used"),
        ('def MjcTexture "wood" {\ntoken mjc:type = "2d"\n}', "/World/wood: a prim of type MjcTexture is not used"),
        ('def Xform "imu" {\nfloat newton:imu:noise = 1\n}', "/World/imu.newton:imu:noise: is not used"),
        ('def Xform "gizmo" {\nbool physxUI:shown = 1\n}', "/World/gizmo.physxUI:shown: is not used"),
        (
            f'def Xform "wheel" {schemas("PhysxVehicleWheelAPI")} {{\nfloat physxVehicleWheel:mass = 1\n}}',
            "/World/wheel.physxVehicleWheel:mass: is not used",
        ),
    ],
)
def test_what_says_nothing_about_the_motion(prim, told):
    """Keyframes, textures, sensors, what a viewer has, and parts of a vehicle, which is told as a whole: notes."""
    stage = pendulum(more=prim)
    assert not warnings_of(stage)
    assert len([text for text in notes_of(stage) if text.startswith(told)]) == 1


def test_solver_parameters_of_colliders_are_notes():
    """By the same names as those of constraints, which are warnings, as is adhesion."""
    text = "double[] mjc:solref = [0.01, 1]\n"
    shape = f'def Sphere "ball" {schemas("PhysicsCollisionAPI", "MjcCollisionAPI")} {{\n{text}}}\n'
    material = f'def Material "m" {schemas("NewtonMaterialAPI")} {{\nfloat newton:contactAdhesion = 0.1\n}}\n'
    stage = pendulum(rod=shape + material)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/rod/m.newton:contactAdhesion: is 0.1")
    assert warning.endswith("adhesion is not simulated yet")
    assert any(one.startswith("/World/rod/ball.mjc:solref: is not used") for one in notes_of(stage))


def test_other_attributes_are_not_our_business():
    """Attributes of other families, and declared ones without a value, are not reported."""
    assert not warnings_of(pendulum('custom string userProperties:x = "y"\nfloat physxJoint:declared'))


def test_attributes_of_a_disabled_joint():
    """The attributes of a disabled joint are covered by its note."""
    more = joint(
        "off",
        "Revolute",
        "/World/base",
        "/World/rod",
        "bool physics:jointEnabled = 0\nfloat physics:lowerLimit = 1\nfloat physxJoint:jointFriction = 1",
    )
    assert not warnings_of(pendulum(more=more))


@pytest.mark.parametrize("kind", ["PhysicsRevolutJoint", "PhysxPhysicsScrewJoint", "Xform", ""])
def test_joints_of_types_that_are_none(kind):
    """That a joint is dropped is said in the first line, once, and with the type that may be meant."""
    ends = 'rel physics:body0 = </a>\nrel physics:body1 = </b>\nuniform token physics:axis = "Z"'
    stage = open_text(body("a") + body("b", at=(1, 0, 0)) + f'def {kind} "hinge" {{\n{ends}\n}}\n')
    (warning,) = warnings_of(stage)
    assert warning.startswith("/hinge: joins bodies as a prim ") and (kind in warning or not kind)
    assert ("; did you mean PhysicsRevoluteJoint?" in warning) == (kind == "PhysicsRevolutJoint")
    expected = "not simulated: joints of types that are not known (/hinge); the true motion differs"
    assert headline(check_stage(stage)) == expected


@pytest.mark.parametrize(
    "applied, content, told",
    [
        (
            "PhysxDeformableSurfaceAPI",
            "float physxDeformable:settlingThreshold = 1",
            "deformable bodies of other schem",
        ),
        ("OmniPhysicsDeformableBodyAPI", "float omniphysics:mass = 1", "deformable bodies of other schemas"),
        ("OmniPhysicsDeformableBodyAPI PhysxSurfaceDeformableBodyAPI", "float omniphysics:mass = 1", "deformable bod"),
        ("PhysxParticleClothAPI", "float physxParticle:pressure = 1", "particles"),
        ("PhysxSurfaceVelocityAPI", "vector3f physxSurfaceVelocity:surfaceVelocity = (1, 0, 0)", "velocities of surfa"),
        ("PhysxCharacterControllerAPI", "float physxCharacterController:slopeLimit = 1", "character controllers"),
        ("PhysxVehicleAPI", "float physxVehicle:limitSuspensionExpansionVelocity = 1", "vehicles"),
    ],
)
def test_what_moves_by_other_laws(applied, content, told):
    """Cloth, soft bodies, conveyors and the like are said in the first line, in one warning with the prim."""
    mesh = f'def Mesh "thing" {schemas(*applied.split())} {{\n{content}\n}}\n'
    stage = pendulum(more=mesh)
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/thing: ") and warning.endswith(": not simulated yet")
    assert headline(check_stage(stage)).startswith(f"not simulated: {told}")
