"""What is varied on a stage acts on steps as the stage with these values would."""

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import ARM, PENDULUM, SCENES, plan
from warp_artic.batch.case import Cases
from warp_artic.batch.shards import Worker
from warp_artic.batch.stepping import step_runs
from warp_artic.errors import ArticError, SettingsError, StageError
from warp_artic.sim.change.numbers import SceneNumbers

CART = """
stage = "cart_pole.usda"
runs = 20
steps = 24

[[vary]]
prims = "/World/cart_pole/slide"
attribute = "physics:upperLimit"
distribution = { uniform = [10, 60] }

[[vary]]
prims = ["/World/cart_pole/cart", "/World/cart_pole/pole"]
attribute = "physics:mass"
draw = "together"
operation = "scale"
distribution = { uniform = [0.5, 1.5] }

[[vary]]
prims = "/World/scene"
attribute = "physics:gravityMagnitude"
distribution = { uniform = [500, 1500] }
"""
DENSITY = """
stage = "tests"
runs = 6
steps = 24
[[vary]]
prims = "/World/cart_pole/pole"
attribute = "physics:mass"
distribution = { uniform = [0.2, 1.0] }
[[vary]]
prims = "/World/cart_pole/pole"
attribute = "physics:centerOfMass"
component = 1
distribution = { uniform = [20, 70] }
"""


def stepped(text, **given):
    """A plan, its case, values of its runs and what became of them."""
    one = plan(text, **given)
    case = Cases(one).of(())
    table = case.table(0, one.run_count)
    return one, case, table, step_runs(case, np.arange(one.run_count), table, (), one.run_count, lambda steps: None)


def read_again(case, values):
    """The scene of the stage with the values of a run authored on it by hand."""
    from pxr import Usd

    stage = Usd.Stage.Open(str(case.plan.stage_path))
    stage.SetEditTarget(stage.GetSessionLayer())
    for column, value in zip(case.columns, values):
        if column.place is not None:
            attribute = stage.GetPrimAtPath(column.place.prim).GetAttribute(column.place.attribute)
            if column.place.component is not None:
                vector = attribute.Get()
                vector[column.place.component] = value
                attribute.Set(vector)
            else:
                attribute.Set(float(value))
    return wa.read_stage(stage)


@pytest.mark.parametrize("text", [PENDULUM, CART, DENSITY.replace("tests", "cart_pole.usda")])
def test_runs_are_those_of_the_stage_with_their_values(text):
    """Bitwise, run by run, against a simulation of the stage as it would be authored."""
    one, case, table, outcome = stepped(text)
    assert (outcome.status == "ok").all()
    for run in (0, 1, one.run_count - 1):
        simulation = wa.Simulation(read_again(case, table[run]), settings=case.settings)
        simulation.step(one.steps)
        for name, value in zip(simulation.joint_names, simulation.state.joint_position.numpy()[:, 0]):
            assert outcome.summary[f"final joint_position:{name}"][run] == value


def test_most_attributes_need_no_reading_of_each_run():
    """Their numbers are affine; those of an inertia about another centre of mass are not."""
    for text, is_affine in ((PENDULUM, True), (ARM, True), (CART, True)):
        assert Cases(plan(text)).of(()).response.is_affine == is_affine


def test_numbers_of_runs_are_those_that_are_read():
    """In double precision, to rounding."""
    one = plan(ARM, settings={"precision": "float64"})
    case = Cases(one).of(())
    table = case.table(0, 8)
    numbers = SceneNumbers(case.simulation(1).run)
    found = case.response.numbers(table)
    for run, values in enumerate(table):
        read = numbers.of(read_again(case, values))[case.response.places]
        own = [column.number for column in case.columns if column.place is None]
        of_stage = ~np.isin(case.response.places, own)
        assert np.allclose(found[of_stage, run], read[of_stage], rtol=4e-15, atol=0)


def test_parameters_and_starts_are_in_si_units():
    """As `parameters` and `set_state` have them, bitwise."""
    one, case, table, outcome = stepped(ARM)
    scene = wa.read_stage(SCENES / "arm.usda")
    simulation = wa.Simulation(scene, environments=8, settings=case.settings)
    values = {column.name: k for k, column in enumerate(case.columns)}
    for name, kind in (("drive_stiffness", "attribute"), ("link_mass", "parameter")):
        rows = [k for k, column in enumerate(case.columns) if column.vary.kind == kind]
        scale = 180.0 / np.pi if kind == "attribute" else 1.0
        simulation.set_values(name, table[:8, rows] * scale)
    rows = [values[f"joint_position:{name}"] for name in simulation.joint_names]
    simulation.set_state(joint_position=table[:8, rows])
    simulation.step(one.steps)
    for name, found in zip(simulation.joint_names, simulation.state.joint_position.numpy()):
        assert np.allclose(outcome.summary[f"final joint_position:{name}"][:8], found, rtol=1e-6, atol=1e-6)


BAD = {
    "attribute": (
        {"attribute": "drive:angular:physics:stifness", "prims": "/World/arm/elbow_joint"},
        "did you mean dr",
    ),
    "prim": ({"attribute": "physics:mass", "prims": "/World/arm/elbw"}, "did you mean /World/arm/elbow?"),
    "expression": ({"attribute": "physics:mass", "prims": "/World/arm//{{"}, "is no path expression"),
    "nothing matches": ({"attribute": "physics:mass", "prims": "/World/leg//*"}, "no prim matches"),
    "parameter": ({"parameter": "link_mas"}, "did you mean link_mass?"),
    "row": ({"parameter": "link_mass", "prims": "/World/arm/elbow_joint"}, "nothing there has link_mass"),
    "start": ({"start": "joint_positon"}, "did you mean joint_position?"),
    "no number": ({"attribute": "physics:axis", "prims": "/World/arm/elbow_joint"}, "is 'Y', must be a number"),
    "component": ({"attribute": "physics:localPos0", "prims": "/World/arm/elbow_joint"}, "component must be 0 to 2"),
    "no component": (
        {"attribute": "physics:mass", "prims": "/World/arm/elbow", "component": 0},
        "which has no components; leave component out",
    ),
    "one number": ({"parameter": "drive_stiffness", "component": 3}, "component is 3, must be left out"),
    "many grids": ({"parameter": "drive_stiffness", "distribution": {"grid": [1, 2]}}, "there are 6 prims; take draw"),
    "not read": ({"attribute": "radius", "prims": "/World/arm/elbow/*"}, "nothing that is simulated depends on it"),
    "out of range": (
        {"attribute": "physics:mass", "prims": "/World/arm/elbow", "distribution": {"uniform": [-1, 2]}},
        "/World/arm/elbow",
    ),
}


@pytest.mark.parametrize("vary, words", BAD.values(), ids=BAD)
def test_what_cannot_be_varied_is_refused_before_the_first_step(vary, words):
    """With the prim and, where one is near, the name that may have been meant."""
    one = {"distribution": {"uniform": [0.5, 2.0]}} | vary
    with pytest.raises((SettingsError, StageError)) as error:
        Cases(plan('stage = "arm.usda"\nsteps = 4\nruns = 4', vary=[one])).of(()).response  # noqa: B018
    assert words in str(error.value)
    assert isinstance(error.value, ArticError)


IDLE = {
    "no root": ({"vary": [{"start": "root_velocity", "component": 0}]}, "nothing on the stage has root_velocity"),
    "no tendon": ({"vary": [{"parameter": "tendon_stiffness"}]}, "nothing on the stage has tendon_stiffness"),
    "zero": (
        {"vary": [{"attribute": "physics:density", "prims": "/World/arm/elbow", "operation": "scale"}]},
        "physics:density:/World/arm/elbow: is 0, which scale cannot change",
    ),
    "zero start": ({"vary": [{"start": "joint_velocity", "operation": "scale"}]}, "is 0, which scale cannot change"),
    "summary": ({"summary": {"columns": ["final tendon_force"]}}, "summary: nothing on the stage has tendon_force"),
    "record": ({"record": {"quantities": ["loop_error"]}}, "record: nothing on the stage has loop_error"),
    "stop": ({"stop": {"when": "tendon_force > 3"}}, "stop: nothing on the stage has tendon_force"),
}


@pytest.mark.parametrize("given, words", IDLE.values(), ids=IDLE)
def test_what_changes_or_says_nothing_is_refused(given, words):
    """Before the first step."""
    varied = [{"distribution": {"uniform": [0.5, 2.0]}} | one for one in given.get("vary", ())]
    with pytest.raises(SettingsError) as error:
        Worker(plan('stage = "arm.usda"\nsteps = 4\nruns = 4', **(given | {"vary": varied}))).check()
    assert words in str(error.value)


@pytest.mark.parametrize("name", ["bent_beam", "soft_fingertip"])
def test_gravity_acts_on_elastic_bodies_too(name):
    """On those alone, and on those beside articulations; each run falls by its own."""
    distribution = {"uniform": [1.0, 3.0]}
    vary = [wa.Vary(attribute="physics:gravityMagnitude", prims="/World/scene", distribution=distribution)]
    case = Cases(wa.Plan(stage=str(SCENES / f"{name}.usda"), runs=2, steps=1, vary=vary)).of(())
    simulation, values = case.simulation(2), case.table(0, 2)
    numbers = SceneNumbers(simulation.run)
    numbers.write(case.response.places, case.response.numbers(values), np.arange(2))
    (body,) = simulation.elastic_bodies
    assert body.gravity.numpy()[2] == pytest.approx(-values[:, 0]) and values[0, 0] != values[1, 0]
    for gravity in simulation.parameters.gravity.numpy():
        assert gravity == pytest.approx(body.gravity.numpy())
