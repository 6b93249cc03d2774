"""Gravity, time step and iteration counts of physics scenes."""

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, notes_of, open_text, warnings_of
from warp_artic.usd.read_stage import read_stage


def scene(content: str = "", header: str = SI, more: str = "") -> object:
    return open_text(f'def PhysicsScene "scene" {{\n{content}\n}}\n' + body("box") + more, header)


def test_gravity_is_read_with_its_direction():
    """The direction is normalised, the magnitude is in stage units."""
    stage = scene("vector3f physics:gravityDirection = (0, 3, 4)\nfloat physics:gravityMagnitude = 5")
    assert read_stage(stage).gravity == pytest.approx((0.0, 3.0, 4.0))


def test_gravity_in_centimetres():
    """981 cm/s^2 are 9.81 m/s^2."""
    stage = scene("vector3f physics:gravityDirection = (0, -1, 0)\nfloat physics:gravityMagnitude = 981", SMALL_UNITS)
    assert read_stage(stage).gravity == pytest.approx((0.0, -9.81, 0.0))


@pytest.mark.parametrize("header, gravity", [(SI, (0, 0, -9.81)), (SMALL_UNITS, (0, -9.81, 0))])
def test_unauthored_gravity_points_down_the_up_axis(header, gravity):
    """Gravity that is not authored is that of the earth, against the up axis, in any unit."""
    assert read_stage(scene(header=header)).gravity == pytest.approx(gravity)


@pytest.mark.parametrize("header, gravity", [(SI, (0, 0, -9.81)), (SMALL_UNITS, (0, -9.81, 0))])
@pytest.mark.parametrize("magnitude", [-1, -981, "-inf"])
def test_negative_gravity_means_earth(magnitude, header, gravity):
    """A negative value requests what Earth has, whatever metersPerUnit (schema of UsdPhysics)."""
    stage = scene(f"float physics:gravityMagnitude = {magnitude}", header)
    assert read_stage(stage).gravity == pytest.approx(gravity)


def test_gravity_can_be_switched_off():
    """newton:gravityEnabled = 0 leaves no gravity."""
    assert read_stage(scene("bool newton:gravityEnabled = 0")).gravity == (0.0, 0.0, 0.0)


def test_stage_without_scene_gets_a_note():
    """Without a physics scene gravity is the default one, and that is said."""
    stage = open_text(body("box"))
    assert read_stage(stage).gravity == pytest.approx((0, 0, -9.81))
    assert any("no physics scene" in note for note in notes_of(stage))


def test_time_step_of_either_dialect():
    """The time step is the inverse of the authored rate, Newton's before PhysX's, and a conflict is reported."""
    assert read_stage(scene()).time_step is None
    assert read_stage(scene("uint physxScene:timeStepsPerSecond = 120")).time_step == pytest.approx(1 / 120)
    both = scene("uint physxScene:timeStepsPerSecond = 120\nuniform int newton:timeStepsPerSecond = 240")
    assert read_stage(both).time_step == pytest.approx(1 / 240)
    assert any("/scene.physxScene:timeStepsPerSecond" in text and "120" in text for text in warnings_of(both))


def test_newton_iterations_are_the_default_of_articulations():
    """A positive newton:maxSolverIterations is the position iteration count; -1 means unset."""
    assert read_stage(scene("int newton:maxSolverIterations = 7")).articulations[0].position_iterations == 7
    assert read_stage(scene("int newton:maxSolverIterations = -1")).articulations[0].position_iterations is None


def test_first_of_several_scenes_is_used():
    """With several scenes the first one stands, unless bodies name another; both are said."""
    second = 'def PhysicsScene "second" {\nfloat physics:gravityMagnitude = 1\n}\n'
    stage = scene("float physics:gravityMagnitude = 2", more=second)
    assert read_stage(stage).gravity[2] == pytest.approx(-2)
    assert any("/second" in text for text in warnings_of(stage))
    owned = open_text(
        'def PhysicsScene "scene" {\nfloat physics:gravityMagnitude = 2\n}\n'
        + second
        + body("box", "rel physics:simulationOwner = </second>")
    )
    assert read_stage(owned).gravity[2] == pytest.approx(-1)


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("float physics:gravityMagnitude = nan", "/scene.physics:gravityMagnitude: is nan"),
        ("float physics:gravityMagnitude = inf", "/scene.physics:gravityMagnitude: is inf, must be finite"),
        ("vector3f physics:gravityDirection = (0, nan, 0)", "/scene.physics:gravityDirection: is"),
        ("uint physxScene:timeStepsPerSecond = 0", "/scene.physxScene:timeStepsPerSecond: is 0, must be positive"),
        (
            "double newton:timeStepsPerSecond = 5e-324",
            "/scene.newton:timeStepsPerSecond: gives 4.94066e-324 steps per second, must be from 1e-09 to 1e+09",
        ),
        ("double mjc:option:timestep = 1e-320", "/scene.mjc:option:timestep: gives inf steps per second, must be from"),
        ("int newton:maxSolverIterations = 0", "/scene.newton:maxSolverIterations: is 0, must be a whole number"),
    ],
)
def test_bad_scene_values(content, sentence):
    """A value that cannot be is an error that names the attribute."""
    assert [error for error in errors_of(scene(content)) if error.startswith(sentence)]
