"""Plans: what they say in TOML, and what is refused before anything is read."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import ARM, PENDULUM, plan
from warp_artic.batch.plan import plan_of, read_plan
from warp_artic.errors import SettingsError


def test_a_plan_is_the_same_from_its_own_toml():
    """Of a file, and of one made in Python."""
    made = wa.Plan(
        stage="arm.usda",
        runs=8,
        duration=0.5,
        settings={"dt": 1 / 480},
        vary=[wa.Vary(parameter="link_mass", operation="scale", distribution={"normal": [1.0, 0.1]})],
        record=wa.Record(quantities=("joint_position",), every=4, runs="0:4"),
        stop="abs joint_velocity > 20",
    )
    for one in (made, plan(ARM), plan(PENDULUM)):
        again = plan_of(tomllib.loads(one.to_toml()), one.folder)
        assert again.authored() == one.authored()
        assert again.to_toml() == one.to_toml()


def test_grids_and_lists_say_how_many_runs_there_are():
    """A grid all combinations, a list as many as it has."""
    grid = {"parameter": "link_mass", "distribution": {"grid": {"from": 1, "to": 3, "count": 3}}}
    other = {"parameter": "armature", "distribution": {"grid": [0.0, 0.1]}}
    values = {"parameter": "armature", "distribution": {"values": [1, 2, 3, 4]}}
    assert plan_of({"stage": "a.usda", "steps": 1, "vary": [grid, other]}).run_count == 6
    assert plan_of({"stage": "a.usda", "steps": 1, "vary": [values]}).run_count == 4


BASE = {"stage": "arm.usda", "runs": 4, "steps": 8}
ONE = {"parameter": "link_mass", "distribution": {"uniform": [1, 2]}}


@pytest.mark.parametrize(
    "given, words",
    [
        ({"stge": "arm.usda"}, "'stge' is not one of"),
        ({"runs": None, "stage": "arm.usda", "steps": 4}, "runs: is missing"),
        ({"runs": 0}, "runs: 0 is not an integer of at least 1"),
        ({"seed": -1}, "seed: -1"),
        ({"duration": 1.0}, "one of duration and steps"),
        ({"settings": {"solvr": "pgs"}}, "did you mean solver?"),
        ({"settings": {"solver": "psg"}}, "solver: 'psg' is not one of"),
        ({"settings": {"dt": "1/0"}}, "must be a number such as 0.005 or 1/240"),
        ({"vary": [ONE | {"attribute": "physics:mass"}]}, "there is attribute and parameter"),
        ({"vary": [ONE | {"operation": "multiply"}]}, "operation 'multiply' is not one of set, add, scale"),
        ({"vary": [ONE | {"draw": "all"}]}, "draw 'all' is not one of each, together"),
        ({"vary": [ONE, ONE]}, "'link_mass' is there twice"),
        ({"vary": [ONE | {"prim": "/World"}]}, "did you mean prims?"),
        ({"vary": [{"attribute": "physics:mass", "distribution": {"uniform": [1, 2]}}]}, "prims is missing"),
        ({"vary": [{"variant": "/World{a}", "distribution": {"uniform": [1, 2]}}]}, "must be a choice"),
        ({"vary": [ONE | {"distribution": {"choice": ["red"]}}]}, "has words, must have numbers"),
        ({"vary": [ONE | {"distribution": {"values": [1, 2]}}]}, "runs: 4 is more than the 2 values"),
        ({"vary": [ONE | {"distribution": {"grid": [1, 2, 3, 4, 5]}}]}, "fewer than the 5 combinations"),
        ({"record": {"every": 0}}, "record: every is 0"),
        ({"record": {"runs": "first"}}, "must be a slice such as 0:1000"),
        ({"record": {"runs": "-3:"}}, "must be a slice such as 0:1000, or failed"),
        ({"summary": {"columns": ["largest joint_position"]}}, "is not one of final, max"),
        ({"stop": {"when": "joint_position is 3"}}, "is no comparison such as"),
        ({"stop": {"when": "joint_position > nan"}}, "is no comparison such as"),
        ({"stop": {}}, "stop: has no when"),
        ({"summary": {"columns": "final energy"}}, "summary: is 'final energy', must be a list of names"),
        ({"dialects": "physx"}, "dialects: is 'physx', must be a list of names"),
        ({"record": {"quantities": "energy"}}, "record: quantities: is 'energy', must be a list of names"),
        ({"record": {"runs": "0:3"}}, "record: runs is '0:3', and no quantities are recorded"),
        ({"inputs": {"joint_effort": 3}}, "inputs: joint_effort: is 3, must be the name of a file"),
        ({"steps": None, "duration": True}, "duration: True is not a time"),
        ({"vary": [ONE | {"prims": 3}]}, "link_mass: prims: is 3, must be a list of names"),
        ({"vary": [ONE | {"name": 3}]}, "name is 3, must be a word other than"),
        ({"vary": [ONE | {"name": "status"}]}, "name is 'status', must be a word other than"),
        ({"vary": [{"attribute": "", "prims": "/a", "distribution": {"constant": 1}}]}, "attribute is '', must be"),
        ({"vary": [ONE | {"distribution": {"grid": {"from": 0, "to": 1, "count": 10**9}}}]}, "count (1 to 1,000,000)"),
        (
            {
                "runs": None,
                "vary": [
                    ONE | {"distribution": {"grid": [1, 2, 3]}},
                    {"parameter": "armature", "distribution": {"values": [1, 2]}},
                ],
            },
            "runs: 2 is fewer than the 3 combinations",
        ),
    ],
)
def test_what_is_wrong_is_named(given, words):
    """Before the stage is opened."""
    with pytest.raises(SettingsError) as error:
        plan_of(BASE | given)
    assert words in str(error.value)


@pytest.mark.parametrize("vary", [wa.Vary(start="joint_position", distribution={"constant": 1.0}), ["stiffness"]])
def test_what_varies_is_a_list_of_variables(vary):
    with pytest.raises(SettingsError, match="vary: is not a list of Vary"):
        wa.Plan(stage="arm.usda", runs=1, steps=1, vary=vary)


def test_plans_take_numbers_of_numpy_and_paths():
    """And say them as plain values."""
    values = wa.Vary(parameter="link_mass", draw="together", distribution={"values": np.linspace(1, 2, 3)})
    one = wa.Plan(stage=Path("arm.usda"), runs=np.int64(3), steps=1, vary=[values], inputs={"joint_effort": Path("a")})
    again = plan_of(tomllib.loads(one.to_toml()))
    assert again.runs == 3 and again.stage == "arm.usda" and again.inputs == {"joint_effort": "a"}
    assert again.vary[0].distribution == {"values": [1.0, 1.5, 2.0]}


def test_files_that_are_no_plans_are_refused(tmp_path):
    """With the name of the file."""
    path = tmp_path / "plan.toml"
    with pytest.raises(SettingsError, match="plan.toml: cannot be read"):
        read_plan(path)
    path.write_text("runs = = 3")
    with pytest.raises(SettingsError, match="plan.toml: is no TOML"):
        read_plan(path)
    path.write_text('stage = "arm.usda"\nruns = 3\nstpes = 4')
    with pytest.raises(SettingsError, match="plan.toml: 'stpes' .* did you mean steps?"):
        read_plan(path)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_files_that_are_too_deep_or_have_no_end(tmp_path, suffix):
    """Named errors, of a plan and of the plan in the folder of a batch."""
    deep = ("a = " if suffix == ".toml" else "") + "[" * 100_000
    path = tmp_path / f"plan{suffix}"
    path.write_text(deep)
    with pytest.raises(SettingsError, match=f"plan{suffix}: is no "):
        read_plan(path)
    (tmp_path / "plan.json").write_text("[" * 100_000)
    with pytest.raises(SettingsError, match="plan.json: is damaged"):
        wa.open_batch(tmp_path)
    with pytest.raises(SettingsError, match="/dev/zero: is longer than"):
        read_plan("/dev/zero")


def test_a_plan_as_programs_of_windows_write_it(tmp_path):
    """It begins with a mark."""
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbfstage = 'a.usda'\r\nsteps = 2\r\nruns = 3\r\n")
    assert read_plan(path).runs == 3
