"""Values of a stage from recordings of it: exact ones from exact motion, intervals from noise, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd

import warp_artic as wa
from warp_artic.cli.main import main
from warp_artic.usd.vary import Place, VariedStage

SCENES = Path(__file__).parents[2] / "samples" / "scenes"
ARM, HAND = str(SCENES / "arm.usda"), str(SCENES / "coupled_hand.usda")
MASS = "/World/arm/elbow.physics:mass"
GAINS = "/World/arm//*.drive:angular:physics:stiffness"


def recorded(
    stage: str, changes: dict[str, float], steps: int = 120, before: int = 0
) -> tuple[wa.Recording, dict[Place, float]]:
    """The motion of a stage with some attributes scaled, after steps before, and what these attributes then are."""
    varied = VariedStage(stage)
    values = {}
    for name, factor in changes.items():
        prims, _, attribute = name.rpartition(".")
        for prim in varied.matching(prims):
            if attribute in varied.attributes_of(prim):
                place = Place(prim, attribute)
                values[place] = float(varied.rounded(place, np.array([factor * varied.value(place)]))[0])
    settings = wa.SolverSettings(precision="float64")
    simulation = wa.Simulation(varied.scene(values), settings=settings)
    simulation.step(before)
    return simulation.record(steps, every=4), values


def test_masses_and_gains_of_an_arm(tmp_path):
    """To 1e-6, in the units of the stage; the layer has them, over the stage, which stays as it is."""
    recording, wanted = recorded(ARM, {MASS: 0.8, GAINS: 1.3, "/World/arm//*.drive:angular:physics:damping": 0.9})
    names = [MASS, GAINS, "/World/arm//*.drive:angular:physics:damping"]
    before, out = Path(ARM).read_bytes(), tmp_path / "found.usda"
    found = wa.identify(ARM, recording, names, out)
    assert {Place(one.prim, one.attribute): one.value for one in found.values} == pytest.approx(wanted, rel=1e-6)
    assert found.residual < 1e-9 < 1e-3 < found.authored_residual
    opened = Usd.Stage.Open(str(out))
    for place, value in wanted.items():
        assert opened.GetPrimAtPath(place.prim).GetAttribute(place.attribute).Get() == pytest.approx(value, rel=1e-6)
    assert Path(ARM).read_bytes() == before


def test_components_of_vectors(tmp_path):
    """By their places in brackets; others of the vector stay."""
    place = Place("/World/arm/elbow", "physics:centerOfMass", 2)
    varied, settings = VariedStage(ARM), wa.SolverSettings(precision="float64")
    (wanted,) = varied.rounded(place, np.array([1.2 * varied.value(place)]))
    recording = wa.Simulation(varied.scene({place: float(wanted)}), settings=settings).record(120, every=4)
    (found,) = wa.identify(ARM, recording, str(place), tmp_path / "found.usda").values
    assert (found.prim, found.attribute) == ("/World/arm/elbow", "physics:centerOfMass[2]")
    assert found.value == pytest.approx(wanted, rel=1e-6)
    opened = Usd.Stage.Open(str(tmp_path / "found.usda"))
    center = opened.GetPrimAtPath(place.prim).GetAttribute(place.attribute).Get()
    assert list(center) == pytest.approx([varied.value(replace(place, component=k)) for k in range(2)] + [wanted])


def test_stiffness_of_tendons():
    """With coupled joints, limits and drives."""
    stage = str(SCENES / "coupled_hand.usda")
    varied = VariedStage(stage)
    tendons = [prim for prim in varied.matching("/World//*") if "warpArtic:stiffness" in varied.attributes_of(prim)]
    named = [f"{prim}.warpArtic:stiffness" for prim in tendons][:2]
    recording, wanted = recorded(stage, dict.fromkeys(named, 1.2))
    found = wa.identify(stage, recording, named)
    assert {Place(one.prim, one.attribute): one.value for one in found.values} == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("before", [5, 80])
def test_stiffness_from_the_middle_of_a_run(before):
    """A recording that begins in motion goes on as it did: rows do not move by a first step."""
    named = ["/World/hand/index_tendon.warpArtic:stiffness"]
    recording, wanted = recorded(HAND, dict.fromkeys(named, 1.2), before=before)
    found = wa.identify(HAND, recording, named)
    assert {Place(one.prim, one.attribute): one.value for one in found.values} == pytest.approx(wanted, rel=1e-4)
    assert found.residual < 1e-6 < 1e-5 < found.authored_residual


def test_intervals_are_those_of_the_noise():
    """The deviations are as far as values of noisy recordings are from the true one, which 95 % intervals hold."""
    recording, wanted = recorded(ARM, {MASS: 0.8})
    (true,) = wanted.values()
    rng, misses, deviations = np.random.default_rng(0), [], []
    for _ in range(8):
        noise = rng.normal(size=recording.joint_position.shape) * 1e-4
        noise[0] = 0.0
        noisy = replace(recording, joint_position=recording.joint_position + noise)
        (one,) = wa.identify(ARM, noisy, [MASS]).values
        misses.append(one.value - true)
        deviations.append(one.deviation)
    assert np.std(deviations) < 0.3 * np.mean(deviations)
    assert 0.5 < np.sqrt(np.mean(np.square(misses))) / np.mean(deviations) < 1.6


def test_the_command(tmp_path, capsys):
    """Shows a table, or JSON, and writes the layer."""
    recording, wanted = recorded(ARM, {MASS: 0.8})
    run, out = str(tmp_path / "run.npz"), str(tmp_path / "found.usda")
    recording.save(run)
    (true,) = wanted.values()
    assert main(["identify", ARM, run, "--parameters", MASS, "-o", out]) == 0
    told = capsys.readouterr().out
    assert f"{true:.6g}" in told and "physics:mass" in told and f"wrote {out}" in told
    assert main(["identify", ARM, run, "--parameters", MASS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"][0]["value"] == pytest.approx(true, rel=1e-6) and found["wrote"] is None


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("--parameters mass", 2, "mass: is no prim and attribute, such as /World/arm/elbow.physics:mass"),
        ("--parameters /World/arm/elbo.physics:mass", 1, "/World/arm/elbo: no prim matches; did you mean"),
        ("--parameters /World/arm/elbow.physics:mas", 1, "has no attribute 'physics:mas'; did you mean physics:mass"),
        (
            "--parameters /World/arm/base.physics:mass",
            1,
            "base.physics:mass: the recorded motion does not depend on it",
        ),
        ("--parameters {mass} --environment 3", 2, "environment: 3 is not an integer from 0 to 0"),
        ("--parameters {mass} -o {stage}", 2, "is a layer of the stage itself"),
        ("--parameters {mass} -o none.npz", 2, "the name of a layer of values ends in one of .usd, .usda, .usdc"),
        ("", 2, "required: --parameters"),
    ],
)
def test_errors(tmp_path, capsys, line, code, sentence):
    """One line each, and nothing is written."""
    recording, _ = recorded(ARM, {}, steps=8)
    run = str(tmp_path / "run.npz")
    recording.save(run)
    capsys.readouterr()  # what Warp says of itself where nothing was simulated before
    assert main(["identify", ARM, run, *line.format(stage=ARM, mass=MASS).split()]) == code
    told = capsys.readouterr()
    assert sentence in told.err and told.out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_recordings_that_say_too_little_or_no_number():
    """As many positions as values leave no differences to judge by, fewer tell nothing apart."""
    recording, _ = recorded(ARM, {}, steps=8)
    short, _ = recorded(ARM, {}, steps=5)  # one record, of six joints, after the start
    names = [f"/World/arm/{one}.physics:mass" for one in ("shoulder_pitch", "elbow")]
    names += ["/World/arm//*.drive:angular:physics:stiffness"]
    with pytest.raises(wa.SettingsError, match="has 6 positions of joints after its start, must have more than the 8"):
        wa.identify(ARM, short, names)
    position = recording.joint_position.copy()
    position[1, 0, 2] = np.nan
    with pytest.raises(wa.SettingsError, match="positions of joints in record 1 are not finite"):
        wa.identify(ARM, replace(recording, joint_position=position), MASS)


def test_recordings_of_something_else_are_refused():
    """Of other joints, or at other times."""
    recording, _ = recorded(ARM, {}, steps=8)
    with pytest.raises(wa.SettingsError, match="records are not 5 time steps of 0.0041.* s apart"):
        wa.identify(ARM, replace(recording, time=recording.time * np.linspace(1.0, 1.3, 3)), [MASS])
    for first in (0.5 / 240, -1.0, 1.0 + 0.3 / 240):
        with pytest.raises(wa.SettingsError, match="recording: begins at .* s, which is no whole number of time steps"):
            wa.identify(ARM, replace(recording, time=recording.time + first), [MASS])
    with pytest.raises(wa.SettingsError, match="time does not increase from record to record, or is not finite"):
        replace(recording, time=np.full(3, np.nan))
    with pytest.raises(wa.SettingsError, match="recording: has other joints than the stage, such as "):
        wa.identify(HAND, recording, ["/World/hand//*.physics:mass"])


def test_parameters_of_a_wrong_kind():
    """Are named, also where they change no motion but by rounding."""
    recording, _ = recorded(ARM, {}, steps=8)
    for wrong in (None, 5):
        with pytest.raises(wa.SettingsError, match=f"parameters: {wrong} is no list of names"):
            wa.identify(ARM, recording, wrong)
    with pytest.raises(wa.StageError, match="elbow.physics:centerOfMass: is a vector of 3; component must be 0 to 2"):
        wa.identify(ARM, recording, "/World/arm/elbow.physics:centerOfMass")
    excavator = str(SCENES / "excavator.usda")  # whose swing stays where it is
    recording, _ = recorded(excavator, {}, steps=24)
    stiffness = ["/World/excavator/boom_joint", "/World/excavator/swing"]
    with pytest.raises(wa.SolveError, match="excavator/swing.*: the recorded motion does not depend on it"):
        wa.identify(excavator, recording, [f"{prim}.drive:angular:physics:stiffness" for prim in stiffness])
