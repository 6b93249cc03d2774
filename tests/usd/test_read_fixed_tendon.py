"""Fixed tendons: every attribute with its unit, the axes that are meant, and each error."""

import math
from pathlib import Path

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, notes_of, open_text, schemas, warnings_of
from warp_artic.usd import not_simulated
from warp_artic.usd.read_stage import inspect_stage, read_stage

DATA = Path(__file__).parent.parent / "data"
PER_DEGREE = 180 / math.pi
ROOT, AXIS = "PhysxTendonAxisRootAPI:t", "PhysxTendonAxisAPI:t"
CONTENT = "float[] physxTendon:t:gearing = [0.01]\nfloat[] physxTendon:t:forceCoefficient = [0.5]\n"


def finger(*axes: tuple, header: str = SI, more: str = ""):
    """Links /World/l1, l2 ... in a chain on the joints /World/j1, j2 ..., given by kind, schemas and content."""
    text = body("l0") + joint("held", "Fixed", "", "/World/l0")
    for number, (kind, applied, content) in enumerate(axes, 1):
        text += body(f"l{number}")
        text += joint(f"j{number}", kind, f"/World/l{number - 1}", f"/World/l{number}", content, applied)
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n', header)


def tendon_of(stage):
    """The only fixed tendon of a stage."""
    (tendon,) = read_stage(stage).articulations[0].fixed_tendons
    return tendon


def pair(content: str = "", kind: str = "Revolute", second: tuple | None = None, header: str = SI):
    """A tendon t rooted at j1, with this content beside its coefficients, and an axis on j2."""
    return finger((kind, (ROOT,), CONTENT + content), second or ("Revolute", (AXIS,), CONTENT), header=header)


def test_every_attribute():
    """Rotation and translation in SI units: the gearing of a rotation is per degree, its force coefficient is not."""
    content = """
    float physxTendon:t:stiffness = 3
    float physxTendon:t:damping = 0.2
    float physxTendon:t:limitStiffness = 50
    float physxTendon:t:offset = 0.1
    float physxTendon:t:restLength = 0.7
    float physxTendon:t:lowerLimit = -0.4
    float physxTendon:t:upperLimit = 0.9
    bool physxTendon:t:tendonEnabled = 0
    """
    slider = "float[] physxTendon:t:gearing = [-2]\nfloat[] physxTendon:t:forceCoefficient = [3]"
    tendon = tendon_of(pair(content, second=("Prismatic", (AXIS,), slider)))
    assert (tendon.name, tendon.dofs, tendon.enabled) == ("/World/j1:t", (0, 1), False)
    assert tendon.coefficients == pytest.approx((0.01 * PER_DEGREE, -2.0))
    assert tendon.force_coefficients == pytest.approx((0.5, 3.0))
    assert (tendon.stiffness, tendon.damping, tendon.limit_stiffness) == pytest.approx((3.0, 0.2, 50.0))
    assert (tendon.offset, tendon.rest_length) == pytest.approx((0.1, 0.7))
    assert (tendon.lower, tendon.upper) == pytest.approx((-0.4, 0.9))


def test_defaults():
    """Without values a tendon has no spring, no limits, and coefficients of 1, which is one degree for a gearing."""
    stage = finger(("Revolute", (ROOT,), ""), ("Prismatic", (AXIS,), ""))
    tendon = tendon_of(stage)
    assert tendon.coefficients == pytest.approx((PER_DEGREE, 1.0))
    assert tendon.force_coefficients == (1.0, 1.0)
    assert (tendon.stiffness, tendon.damping, tendon.limit_stiffness) == (0.0, 0.0, 0.0)
    assert (tendon.offset, tendon.rest_length, tendon.enabled) == (0.0, 0.0, True)
    assert (tendon.lower, tendon.upper) == (-math.inf, math.inf)


def test_small_units():
    """In centimetres and grams a stiffness is in g/s^2, and coefficients of rotations are centimetres."""
    content = """
    float physxTendon:t:stiffness = 3000
    float physxTendon:t:damping = 200
    float physxTendon:t:limitStiffness = 5000
    float physxTendon:t:offset = 10
    float physxTendon:t:restLength = 70
    float physxTendon:t:lowerLimit = -40
    float physxTendon:t:upperLimit = 90
    """
    tendon = tendon_of(pair(content, second=("Prismatic", (AXIS,), CONTENT), header=SMALL_UNITS))
    assert tendon.coefficients == pytest.approx((1e-4 * PER_DEGREE, 0.01))
    assert tendon.force_coefficients == pytest.approx((5e-3, 0.5))
    assert (tendon.stiffness, tendon.damping, tendon.limit_stiffness) == pytest.approx((3.0, 0.2, 5.0))
    assert (tendon.offset, tendon.rest_length) == pytest.approx((0.1, 0.7))
    assert (tendon.lower, tendon.upper) == pytest.approx((-0.4, 0.9))


def test_force_coefficient_that_is_not_authored():
    """It is one unit of length of the stage on a rotation, and a note gives it in SI beside the coefficient."""
    stage = finger(("Revolute", (ROOT,), "float[] physxTendon:t:gearing = [0.5]"), header=SMALL_UNITS)
    assert tendon_of(stage).force_coefficients == (0.01,)
    (note,) = [text for text in notes_of(stage) if "force coefficient" in text]
    assert note == (
        "/World/j1: its force coefficient in the fixed tendon t is not authored: it is 1, as PhysX has it, which is "
        "0.01 m/rad, beside a coefficient of 0.286479 m/rad"
    )


def test_readings_tell_where_values_come_from():
    """For each value of a tendon: attribute, authored value and unit, SI value and unit."""
    stage = pair("float physxTendon:t:stiffness = 3000", header=SMALL_UNITS)
    found = {reading.attribute: reading for reading in inspect_stage(stage).readings["/World/j1:t"]}
    stiffness = found["/World/j1.physxTendon:t:stiffness"]
    assert (stiffness.field, stiffness.authored, stiffness.value, stiffness.unit) == ("stiffness", 3000, 3, "N/m")
    gearing = found["/World/j2.physxTendon:t:gearing"]
    assert (gearing.field, gearing.authored_unit, gearing.unit) == ("coefficient", "distance/deg", "m/rad")


def test_the_axis_of_a_joint_with_several():
    """jointAxis picks the axis of a spherical joint; that of a revolute one is its only axis, whatever the word."""
    ball = 'token[] physxTendon:t:jointAxis = ["rotZ"]\n' + CONTENT
    tendon = tendon_of(pair('token[] physxTendon:t:jointAxis = ["rotX"]', second=("Spherical", (AXIS,), ball)))
    assert tendon.dofs == (0, 3)


def test_several_tendons_on_one_joint():
    """Tendons go by their names, in the order of their roots."""
    both = ("Revolute", (ROOT, "PhysxTendonAxisAPI:b"), CONTENT)
    stage = finger(("Revolute", ("PhysxTendonAxisRootAPI:b",), ""), both)
    tendons = read_stage(stage).articulations[0].fixed_tendons
    assert [(tendon.name, tendon.dofs) for tendon in tendons] == [("/World/j1:b", (0, 1)), ("/World/j2:t", (1,))]


def test_same_name_in_two_articulations():
    """A tendon belongs to one articulation; another may have one of the same name."""
    content = joint("h", "Fixed", "", "{0}/a") + body("a") + body("b")
    content += joint("j", "Revolute", "{0}/a", "{0}/b", CONTENT, (ROOT,))
    text = "".join(
        f'def Xform "{name}" {schemas("PhysicsArticulationRootAPI")} {{\n{content.replace("{0}", f"/{name}")}}}\n'
        for name in ("A", "B")
    )
    trees = read_stage(open_text(text)).articulations
    assert [tree.fixed_tendons[0].name for tree in trees] == ["/A/j:t", "/B/j:t"]


def branch(root: str = "j1"):
    """Joints j2 and j3 on the link of j1, all of them axes of t."""
    axes = [("Revolute", (ROOT if root == f"j{number}" else AXIS,), CONTENT) for number in (1, 2)]
    more = body("l3") + joint("j3", "Revolute", "/World/l1", "/World/l3", CONTENT, (AXIS,))
    return finger(*axes, more=more)


def test_topology():
    """Branches follow the tree of joints, and are silent; other sets of axes are taken with a note."""
    assert tendon_of(branch()).dofs == (0, 1, 2)
    assert not [text for text in notes_of(branch()) if "follow" in text]
    gap = finger(("Revolute", (ROOT,), CONTENT), ("Revolute", (), ""), ("Revolute", (AXIS,), CONTENT))
    assert tendon_of(gap).dofs == (0, 2)
    for stage, apart in ((gap, "/World/j3"), (branch("j2"), "/World/j1")):
        (note,) = [text for text in notes_of(stage) if "follow" in text]
        assert note.partition(": ")[2] == (
            f"its axes do not follow the tree from its root on ({apart}), as PhysX demands; any axes of one "
            "articulation are fine here"
        )


def test_only_the_first_coefficient_counts():
    """As in PhysX; a warning says how many there are."""
    content = "float[] physxTendon:t:gearing = [0.5, 7]\nfloat[] physxTendon:t:forceCoefficient = [1]"
    stage = finger(("Prismatic", (ROOT,), content))
    assert tendon_of(stage).coefficients == (0.5,)
    assert "/World/j1.physxTendon:t:gearing: has 2 values; only the first is used" in warnings_of(stage)


LOCKED = "".join(
    f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n"
    for axis in ("transX", "transY", "transZ")
)
LOCKS = tuple(f"PhysicsLimitAPI:{axis}" for axis in ("transX", "transY", "transZ"))


def axis_of(word: str) -> str:
    return f'token[] physxTendon:t:jointAxis = ["{word}"]\n' + CONTENT


@pytest.mark.parametrize(
    "stage, error",
    [
        (
            pair(second=("Fixed", (AXIS,), CONTENT)),
            "/World/j2: /World/j2 is a fixed joint: it has no axis to couple",
        ),
        (
            pair(second=("", (AXIS, *LOCKS), LOCKED + axis_of("transX"))),
            "/World/j2.physxTendon:t:jointAxis: /World/j2 is not free on transX; its free axes are rotX, rotY, rotZ",
        ),
        (
            pair(second=("Spherical", (AXIS,), CONTENT)),
            "/World/j2: no axis of /World/j2 is named; its free axes are rotX, rotY, rotZ",
        ),
        (
            pair(second=("Spherical", (AXIS,), axis_of("yaw"))),
            "/World/j2.physxTendon:t:jointAxis: starts with 'yaw', must be an array of words of transX, transY, "
            "transZ, rotX, rotY, rotZ",
        ),
        (
            pair(second=("Revolute", ("PhysxTendonAxisAPI:u",), "")),
            "/World/j2: is an axis of the fixed tendon u, which has no root in the articulation /World: apply "
            "PhysxTendonAxisRootAPI:u to one joint of it",
        ),
        (
            pair(second=("Revolute", (AXIS,), "float[] physxTendon:t:gearing = []")),
            "/World/j2.physxTendon:t:gearing: is an empty array, must have one value",
        ),
        (
            pair(second=("Revolute", (AXIS,), "float[] physxTendon:t:forceCoefficient = []")),
            "/World/j2.physxTendon:t:forceCoefficient: is an empty array, must have one value",
        ),
        (
            pair(second=("Revolute", (AXIS,), "float[] physxTendon:t:gearing = [nan]")),
            "/World/j2.physxTendon:t:gearing: starts with nan, must be an array of numbers",
        ),
        (
            pair(second=("Revolute", (AXIS,), "float physxTendon:t:gearing = 1")),
            "/World/j2.physxTendon:t:gearing: is 1.0, must be an array of numbers",
        ),
        (
            pair(second=("Revolute", (ROOT,), CONTENT)),
            "/World/j2: is a root of the fixed tendon t, but so is /World/j1; a tendon has one root",
        ),
        (
            finger(
                ("Revolute", (ROOT,), CONTENT),
                more=joint("loop", "Revolute", "/World/l0", "/World/l1", "bool physics:jointEnabled = 0", (AXIS,)),
            ),
            "/World/loop: is an axis of the fixed tendon t, but in no articulation; must be a joint of one",
        ),
        (
            finger(("Revolute", (ROOT,), CONTENT), more=f'def Xform "frame" {schemas(AXIS)} {{\n}}\n'),
            "/World/frame: is an axis of the fixed tendon t, but no joint; must be a joint of one",
        ),
        (
            pair("float physxTendon:t:stiffness = -1"),
            "/World/j1:t: stiffness -1 N/m must be finite and not negative",
        ),
        (
            pair("float physxTendon:t:lowerLimit = 1\nfloat physxTendon:t:upperLimit = 0"),
            "/World/j1:t: lower limit 1 m of the length is above upper limit 0 m",
        ),
        (
            pair("float physxTendon:t:restLength = inf"),
            "/World/j1:t: rest length inf must be finite",
        ),
    ],
)
def test_errors(stage, error):
    """Each error is one line with the prim, what was found and what is allowed."""
    assert errors_of(stage) == [error]


def test_oracle_stage_with_offset():
    """0.3 q1 + 0.4 q2 + 0.05, authored per degree, pulls with 0.5 and 0.2 towards 0.2 m."""
    tendon = tendon_of(DATA / "oracle" / "stages" / "fixed_tendon_offset_rest.usda")
    assert (tendon.name, tendon.dofs) == ("/World/Robot/j1:t", (0, 1))
    assert tendon.coefficients == pytest.approx((0.3, 0.4))
    assert tendon.force_coefficients == pytest.approx((0.5, 0.2))
    assert (tendon.stiffness, tendon.damping) == (60.0, 1.5)
    assert (tendon.rest_length, tendon.offset) == pytest.approx((0.2, 0.05))


def test_oracle_stage_of_two_joints():
    """q1 - q2 / 2, authored per degree, with the same force coefficients."""
    tendon = tendon_of(DATA / "oracle" / "stages" / "fixed_tendon_two_joints.usda")
    assert tendon.coefficients == pytest.approx((1.0, -0.5))
    assert tendon.force_coefficients == (1.0, -0.5)
    assert (tendon.stiffness, tendon.damping) == (20000.0, 50.0)


def test_hand():
    """The hand of the benchmarks has a tendon on the last two joints of each of its four fingers."""
    (tree,) = read_stage(DATA / "peers" / "hand_tendon.usda").articulations
    assert len(tree.fixed_tendons) == 4
    for finger_number, tendon in enumerate(tree.fixed_tendons):
        names = [tree.dofs[dof].name for dof in tendon.dofs]
        assert tendon.name == f"/World/j_f{finger_number}_4:t{finger_number}"
        assert names == [f"/World/j_f{finger_number}_{number}" for number in (4, 5)]
        assert tendon.coefficients == pytest.approx((1.0, -1.0))
        assert tendon.force_coefficients == (1.0, -1.0)
        assert (tendon.stiffness, tendon.damping) == pytest.approx((2.0, 0.01))


def test_a_simulated_family_is_not_reported(monkeypatch):
    """Once the engine has fixed tendons there is no warning, but for attributes that mean nothing."""
    monkeypatch.setattr(not_simulated, "NOT_YET", ())
    assert not warnings_of(pair("float physxTendon:t:stiffness = 1"))
    (warning,) = warnings_of(pair("float physxTendon:t:nonsense = 1"))
    assert warning == "/World/j1.physxTendon:t:nonsense: is not used"


@pytest.mark.parametrize(("force", "warns"), [(0.5, False), (-0.5, True)])
def test_tendons_that_gain_energy_are_reported(force, warns):
    """A force coefficient against the gearing drives the length on instead of back."""
    content = f"float[] physxTendon:t:gearing = [0.01]\nfloat[] physxTendon:t:forceCoefficient = [{force}]\n"
    stage = finger(("Revolute", (ROOT,), content), ("Revolute", (AXIS,), content))
    found = [text for text in warnings_of(stage) if "its force does not oppose its change of length" in text]
    assert len(found) == warns and all(text.startswith("/World/j1:t: ") for text in found)
