"""WarpArticSceneAPI: how a scene is stepped."""

import re

import pytest
from pxr import UsdGeom

from tests.usd.authoring import SMALL_UNITS, body, errors_of, open_text, schemas, warnings_of
from tests.usd_schemas.source import attributes_of, line
from warp_artic.description.articulation import SLEEP_THRESHOLD
from warp_artic.solver.settings import DEFAULTS, INTEGRATORS, PRECISIONS, SOLVERS, SolverSettings
from warp_artic.usd.read_stage import read_stage

ATTRIBUTES = attributes_of("WarpArticSceneAPI")
FALLBACKS = [name for name, spec in ATTRIBUTES.items() if spec.default is not None]
EVERYTHING = {
    "timeStepsPerSecond": 125,
    "solver": "tgs",
    "positionIterations": 7,
    "velocityIterations": 2,
    "integrator": "semi_implicit",
    "precision": "float64",
    "sleepAfter": 0.25,
    "sleepThreshold": 0.5,
}


def scene(content: str = "", header: str | None = None, articulation: str = "", applied: tuple[str, ...] = ()):
    text = f'def PhysicsScene "scene" {schemas("WarpArticSceneAPI")} {{\n{content}\n}}\n'
    text += body("box", articulation, ("PhysicsArticulationRootAPI", *applied))
    return open_text(text, header) if header else open_text(text)


def settings_of(stage) -> SolverSettings:
    return SolverSettings().resolved(read_stage(stage))


AT_MOST = " and at most 1000000"


@pytest.mark.parametrize("header", [None, SMALL_UNITS])
def test_every_attribute(header):
    """All of them reach a run; of their units only that of the threshold is one of the stage."""
    lines = "".join(line(ATTRIBUTES[f"warpArtic:scene:{name}"], f"warpArtic:scene:{name}", value)
                    for name, value in EVERYTHING.items())  # fmt: skip
    assert len(EVERYTHING) == len(ATTRIBUTES)
    settings = settings_of(scene(lines, header))
    assert settings.dt == pytest.approx(1 / 125, rel=1e-12)
    assert (settings.solver, settings.integrator, settings.precision) == ("tgs", "semi_implicit", "float64")
    assert (settings.position_iterations, settings.velocity_iterations) == (7, 2)
    unit = UsdGeom.GetStageMetersPerUnit(scene("", header))
    assert settings.sleep_after == 0.25
    threshold = read_stage(scene(lines, header)).articulations[0].sleep_threshold
    assert threshold == pytest.approx(0.5 * unit**2, rel=1e-12)
    assert not warnings_of(scene(lines, header))


@pytest.mark.parametrize("name", FALLBACKS)
def test_fallbacks(name):
    """A fallback is what a run takes by itself, and to author it changes nothing."""
    assert settings_of(scene(line(ATTRIBUTES[name], name))) == settings_of(scene())
    assert ATTRIBUTES[name].default == DEFAULTS[re.sub("[A-Z]", lambda big: f"_{big[0].lower()}", name.split(":")[2])]


def test_without_values():
    """The documentation tells what stands where nothing is authored."""
    settings = settings_of(scene())
    assert (settings.dt, settings.position_iterations, settings.velocity_iterations) == (1 / 240, 4, 0)
    assert read_stage(scene()).articulations[0].sleep_threshold == SLEEP_THRESHOLD == 0.00005
    assert "Not authored: 0.00005 m^2/s^2" in ATTRIBUTES["warpArtic:scene:sleepThreshold"].documentation
    assert "Not authored: 240" in ATTRIBUTES["warpArtic:scene:timeStepsPerSecond"].documentation
    assert "Not authored: 4" in ATTRIBUTES["warpArtic:scene:positionIterations"].documentation
    assert "Not authored: 0" in ATTRIBUTES["warpArtic:scene:velocityIterations"].documentation


@pytest.mark.parametrize("name, words", [("solver", SOLVERS), ("integrator", INTEGRATORS), ("precision", PRECISIONS)])
def test_words(name, words):
    """The schema allows the words that a run takes, and so does the reader."""
    assert tuple(ATTRIBUTES[f"warpArtic:scene:{name}"].allowedTokens) == words
    for word in words:
        stage = scene(f'uniform token warpArtic:scene:{name} = "{word}"')
        assert getattr(settings_of(stage), name) == word


def test_settings_of_a_run_come_first():
    """What is given to a run is not overruled by the stage."""
    stage = scene(
        'uniform token warpArtic:scene:solver = "tgs"\nuniform double warpArtic:scene:timeStepsPerSecond = 60'
    )
    settings = SolverSettings(solver="pgs", dt=0.01).resolved(read_stage(stage))
    assert (settings.solver, settings.dt) == ("pgs", 0.01)


def test_ours_comes_before_the_others():
    """Both values of each conflict are reported, and ours stands, also against those of an articulation."""
    content = """
    uniform double warpArtic:scene:timeStepsPerSecond = 100
    uniform int warpArtic:scene:positionIterations = 3
    uniform int warpArtic:scene:velocityIterations = 1
    uniform int newton:timeStepsPerSecond = 200
    uint physxScene:timeStepsPerSecond = 100
    int newton:maxSolverIterations = 5
    """
    articulation = """
    int physxArticulation:solverPositionIterationCount = 8
    int physxArticulation:solverVelocityIterationCount = 2
    """
    stage = scene(content, articulation=articulation)
    settings = settings_of(stage)
    assert (settings.dt, settings.position_iterations, settings.velocity_iterations) == (1 / 100, 3, 1)
    assert sorted(warnings_of(stage)) == [
        "/box.physxArticulation:solverPositionIterationCount: gives position_iterations 8, but "
        "warpArtic:scene:positionIterations gives 3, which is used",
        "/box.physxArticulation:solverVelocityIterationCount: gives velocity_iterations 2, but "
        "warpArtic:scene:velocityIterations gives 1, which is used",
        "/scene.newton:maxSolverIterations: gives position_iterations 5, but warpArtic:scene:positionIterations "
        "gives 3, which is used",
        "/scene.newton:timeStepsPerSecond: gives steps_per_second 200 1/s, but warpArtic:scene:timeStepsPerSecond "
        "gives 100 1/s, which is used",
    ]


@pytest.mark.parametrize(
    "content, error",
    [
        ("double {}timeStepsPerSecond = 0", "timeStepsPerSecond: is 0, must be positive"),
        ("double {}timeStepsPerSecond = -5", "timeStepsPerSecond: is -5, must be positive"),
        ("double {}timeStepsPerSecond = nan", "timeStepsPerSecond: is nan, must be finite"),
        ('token {}timeStepsPerSecond = "fast"', "timeStepsPerSecond: is 'fast', must be a number"),
        ("int {}positionIterations = 0", "positionIterations: is 0, must be a whole number of at least 1" + AT_MOST),
        (
            "double {}positionIterations = 2.5",
            "positionIterations: is 2.5, must be a whole number of at least 1" + AT_MOST,
        ),
        ("int {}velocityIterations = -1", "velocityIterations: is -1, must be a whole number of at least 0" + AT_MOST),
        ('token {}solver = "magic"', "solver: is 'magic', must be one of direct, pgs, tgs"),
        ('token {}integrator = "euler"', "integrator: is 'euler', must be one of midpoint, rk4, semi_implicit"),
        ("double {}sleepAfter = -1", "sleepAfter: is -1 s, must not be negative"),
        ("double {}sleepThreshold = -1", "sleepThreshold: is -1 distance^2/s^2, must not be negative"),
        ("double {}sleepThreshold = inf", "sleepThreshold: is inf, must be finite"),
        ("int {}precision = 64", "precision: is 64, must be one of float32, float64"),
    ],
)
def test_errors(content, error):
    """Each wrong value is one error with the attribute, what was found and what is allowed."""
    prefix = "warpArtic:scene:"
    assert errors_of(scene(content.format(prefix))) == [f"/scene.{prefix}{error}"]
