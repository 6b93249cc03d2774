"""Whatever is authored on colliders, materials and groups, a stage reads or is refused with sentences."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pxr import Gf, Sdf, Usd, Vt

from tests.usd.authoring import body, joint, open_text, schemas
from tests.usd.contact_stages import collider
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.validate import validate
from warp_artic.errors import ArticError
from warp_artic.usd.read_stage import read_stage

MATERIAL = ("PhysicsMaterialAPI", "PhysxMaterialAPI", "NewtonMaterialAPI")
BIND = "rel material:binding:physics = </World/rubber>\n"
MESH = (
    "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]\nint[] faceVertexCounts = [3, 3, 3, 3]\n"
    "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]\n"
)
STAGE = (
    'def PhysicsScene "scene" (prepend apiSchemas = ["PhysxSceneAPI"]) {\n}\n'
    f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n'
    + body("base", collider("Sphere", "shape", BIND))
    + body("rod", collider("Mesh", "shape", MESH, ("PhysicsMeshCollisionAPI",)), ("PhysxRigidBodyAPI",))
    + body("tip", collider("Capsule", "shape", BIND, ("PhysicsFilteredPairsAPI",)))
    + joint("hinge", "Revolute", "/World/base", "/World/rod")
    + joint("wrist", "Revolute", "/World/rod", "/World/tip")
    + collider("Plane", "floor")
    + f'def Material "rubber" {schemas(*MATERIAL)} {{\n}}\n'
    + 'def PhysicsCollisionGroup "group" (prepend apiSchemas = ["CollectionAPI:colliders"]) {\n'
    "rel collection:colliders:includes = </World/base>\n}\n}\n"
)
GROUP, TIP, ROD = "/World/group", "/World/tip/shape", "/World/rod/shape"
PLACES = [
    *((TIP, name) for name in ("radius", "height", "axis", "xformOp:scale", "xformOpOrder", "physics:filteredPairs")),
    *((TIP, f"physxCollision:{name}") for name in ("contactOffset", "restOffset")),
    *((TIP, f"newton:contact{name}") for name in ("Margin", "Gap")),
    *((TIP, f"mjc:{name}") for name in ("margin", "gap", "condim")),
    *((TIP, name) for name in ("physics:collisionEnabled", "physics:simulationOwner", "material:binding:physics")),
    *((ROD, name) for name in ("points", "faceVertexCounts", "faceVertexIndices", "physics:approximation")),
    *((ROD, name) for name in ("newton:maxHullVertices", "physxConvexHullCollision:hullVertexLimit")),
    *(("/World/rod", f"physxRigidBody:{name}") for name in ("maxDepenetrationVelocity", "solveContact")),
    *(("/World/rubber", f"physics:{name}") for name in ("staticFriction", "dynamicFriction", "restitution")),
    *(("/World/rubber", f"physxMaterial:compliantContact{name}") for name in ("Stiffness", "Damping")),
    *(("/World/rubber", f"physxMaterial:{name}CombineMode") for name in ("friction", "restitution", "damping")),
    *(("/World/rubber", f"newton:contact{name}") for name in ("Stiffness", "Damping")),
    *((GROUP, f"physics:{name}") for name in ("filteredGroups", "mergeGroup", "invertFilteredGroups")),
    *(
        (GROUP, f"collection:colliders:{name}")
        for name in ("includes", "excludes", "expansionRule", "includeRoot", "membershipExpression")
    ),
    *(("/World", name) for name in ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions")),
    *(("/scene", f"physxScene:{name}") for name in ("bounceThreshold", "invertCollisionGroupFilter")),
    *(("/World/hinge", name) for name in ("physics:collisionEnabled",)),
]
NUMBERS = st.sampled_from([float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 3.4e38, 1e-30, 1.0, 1e20])
WORDS = ["", "X", "max", "convexHull", "boundingSphere", "boundingCube", "none", "explicitOnly", "odd"]
TARGETS = ["/World", GROUP, TIP, "/World/rod", "/nothing", "/World/rod.x", "/World/floor"]
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=6)
NAMES = Sdf.ValueTypeNames
VALUES = st.one_of(
    st.tuples(st.sampled_from([NAMES.Float, NAMES.Double]), NUMBERS),
    st.tuples(st.just(NAMES.FloatArray), st.lists(NUMBERS, max_size=3).map(Vt.FloatArray)),
    st.tuples(st.just(NAMES.IntArray), st.lists(st.integers(-1, 5), max_size=12).map(Vt.IntArray)),
    st.tuples(st.just(NAMES.Float3), st.tuples(NUMBERS, NUMBERS, NUMBERS).map(lambda one: Gf.Vec3f(*one))),
    st.tuples(st.just(NAMES.Point3fArray), POINTS.map(lambda some: Vt.Vec3fArray([Gf.Vec3f(*one) for one in some]))),
    st.tuples(st.just(NAMES.TokenArray), st.just(["xformOp:scale"]).map(Vt.TokenArray)),
    st.tuples(st.sampled_from([NAMES.Token, NAMES.String]), st.sampled_from(WORDS)),
    st.tuples(st.sampled_from([NAMES.Bool, NAMES.Int]), st.sampled_from([0, 1])),
    st.tuples(st.just(None), st.sampled_from(TARGETS)),
)

SENTENCES = ("/World", "/scene", ".usda: cannot be read as a USD stage")
"""How errors begin; the last is of USD itself."""


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_no_value_gives_a_traceback(changes):
    """Values of the wrong type, and relationships to anywhere, are read or refused; what is read is valid."""
    layer = open_text(STAGE).GetRootLayer()
    for (path, name), (kind, value) in changes:
        prim = layer.GetPrimAtPath(path)
        if name in prim.properties:
            del prim.properties[name]
        if kind is None:
            Sdf.RelationshipSpec(prim, name).targetPathList.explicitItems = [value]
        else:
            Sdf.AttributeSpec(prim, name, kind).default = value
    try:
        scene = read_stage(Usd.Stage.Open(layer))
    except ArticError as error:
        assert all(line.startswith(SENTENCES) for line in str(error).splitlines())
    else:
        validate(scene)
        assert all(pair.link1 >= 0 for tree in scene.articulations for pair in tree.constraints_of(ContactPair))
