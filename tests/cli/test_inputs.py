"""Inputs of a run are laid out by step, environment and dof, or refused with a sentence."""

import json

import numpy as np
import pytest

from warp_artic.cli.inputs import read_inputs
from warp_artic.errors import SettingsError

DOFS = ("/a/hinge", "/a/ball:rotX", "/a/ball:rotY")
DRIVEN = {"/a/hinge", "/a/ball:rotY"}
STEPS, ENVIRONMENTS = 4, 2


def read(tmp_path, content):
    if any(isinstance(value, np.ndarray) for value in content.values()):
        path = tmp_path / "inputs.npz"
        np.savez(path, **content)
    else:
        path = tmp_path / "inputs.json"
        path.write_text(json.dumps(content))
    return read_inputs(str(path), DOFS, DRIVEN, ENVIRONMENTS, STEPS)


def test_start_states(tmp_path):
    """A start state is one for all environments or one for each; what is not given stays open."""
    inputs = read(tmp_path, {"joint_position": [1, 2, 3], "joint_velocity": {"/a/ball:rotX": 5}})
    np.testing.assert_array_equal(inputs.start["joint_position"], [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(inputs.start["joint_velocity"], [[np.nan, 5, np.nan]] * 2)
    inputs = read(tmp_path, {"joint_position": np.arange(6.0).reshape(2, 3), "joint_velocity:/a/hinge": np.arange(2.0)})
    np.testing.assert_array_equal(inputs.start["joint_position"], np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(inputs.start["joint_velocity"][:, 0], [0, 1])


@pytest.mark.parametrize(
    ("value", "shape"), [(np.ones(3), (1, 2, 3)), (np.ones((4, 3)), (4, 2, 3)), (np.ones((4, 2, 3)), (4, 2, 3))]
)
def test_whole_controls(tmp_path, value, shape):
    """A control is constant, one row for each step, or one for each step and environment."""
    assert read(tmp_path, {"joint_effort": value}).control["joint_effort"].shape == shape


def test_controls_by_dof(tmp_path):
    """Dofs are mixed freely, constant beside per step, over a whole array."""
    targets = {"/a/hinge": 0.5, "/a/ball:rotY": [0, 1, 2, 3]}
    values = read(tmp_path, {"drive_position_target": targets}).control["drive_position_target"]
    np.testing.assert_array_equal(values[:, 1], [[0.5, np.nan, k] for k in range(4)])
    both = {"joint_effort:/a/hinge": np.array(9.0), "joint_effort": np.zeros(3)}
    np.testing.assert_array_equal(read(tmp_path, both).control["joint_effort"][0, 0], [9, 0, 0])


def test_targets_that_nothing_follows_are_said(tmp_path):
    """In a whole array, a target other than zero of a dof without a drive; zeros have to stand there."""
    (sentence,) = read(tmp_path, {"drive_position_target": [[1, 0, 2]] * 3 + [[1, 0.5, 2]]}).ignored
    assert "drive_position_target: has targets for dofs that have no drive" in sentence
    assert sentence.endswith("ignore them: /a/ball:rotX")
    assert not read(tmp_path, {"drive_position_target": [1, 0, 2], "joint_effort": [1, 1, 1]}).ignored


def test_changes_are_the_steps_that_need_writing(tmp_path):
    """Steps with the values of the step before need no writing."""
    inputs = read(tmp_path, {"joint_effort": {"/a/hinge": [1, 1, 2, 2]}, "drive_position_target": [0, 0, 0]})
    assert inputs.changes(STEPS) == [0, 2, 4]
    assert read(tmp_path, {}).changes(0) == [0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"speed": [1, 2, 3]}, "'speed' is not an input; inputs are joint_position"),
        ({"joint_effort": {"/a/none": 1}}, "there is no dof /a/none; the dofs are /a/hinge"),
        ({"joint_effort": [1, 2]}, r"joint_effort: has shape \(2,\); \(3,\) or \(4, 3\)"),
        ({"joint_effort": {"/a/hinge": [1, 2, 3]}}, r"has shape \(3,\); \(\) or \(4,\)"),
        ({"joint_position": [[1, 2, 3]] * 3}, r"joint_position: has shape \(3, 3\)"),
        ({"joint_position": [1, float("nan"), 3]}, r"the value at \(1,\) is nan"),
        ({"joint_position": ["a", 2, 3]}, "not a number"),
        ({"joint_position": ["1", "2", "3"]}, "not a number"),
        ({"joint_position": {"/a/hinge": True}}, "not a number"),
        ({"joint_position": {"/a/hinge": None}}, "is nan"),
        ({"joint_effort": {"/a/hinge": 10**400}}, "not a number"),
        ({"joint_effort": {"/a/hinge": 1e39}}, r"is 1e\+39; a finite number, at most 3.4e\+38"),
        ({"joint_velocity": [0, 1e20, 0]}, r"the value at \(1,\) is 1e\+20; a finite number, at most 6.98146e\+12"),
        ({"joint_position": [[1], [2, 3]]}, "not a number"),
        ({"drive_velocity_target": {"/a/ball:rotX": 0}}, "velocity_target:/a/ball:rotX: this dof has no drive"),
        ([1, 2], "is not an object"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, content, sentence):
    """A wrong name, dof, shape or value is refused with the file, the key and what is allowed."""
    path = tmp_path / "inputs.json"
    path.write_text(json.dumps(content))
    with pytest.raises(SettingsError, match=sentence):
        read_inputs(str(path), DOFS, DRIVEN, ENVIRONMENTS, STEPS)


@pytest.mark.parametrize(
    "name", ["none.json", "text.json", "deep.json", "text.npz", "array.npz", "empty.npz", "cut.npz"]
)
def test_files_that_are_no_inputs(tmp_path, name):
    """A file that is missing or has other content is refused with its path."""
    (tmp_path / "text.json").write_text("{")
    (tmp_path / "deep.json").write_text('{"joint_position": ' + "[" * 100_000 + "]" * 100_000 + "}")
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "empty.npz").touch()
    np.savez_compressed(tmp_path / "cut.npz", joint_position=np.arange(300.0))
    content = bytearray((tmp_path / "cut.npz").read_bytes())
    content[100:300] = bytes(200)
    (tmp_path / "cut.npz").write_bytes(content)
    with open(tmp_path / "array.npz", "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(SettingsError, match=name):
        read_inputs(str(tmp_path / name), DOFS, DRIVEN, ENVIRONMENTS, STEPS)


def test_text_without_an_end_and_with_a_mark(tmp_path):
    """No more than is sensible is read of a device; what programs of Windows write begins with a mark."""
    with pytest.raises(SettingsError, match=r"/dev/zero: is longer than 2.68e\+08 bytes"):
        read_inputs("/dev/zero", DOFS, DRIVEN, ENVIRONMENTS, STEPS)
    path = tmp_path / "inputs.json"
    path.write_bytes(json.dumps({"joint_effort": {"/a/hinge": 2.0}}).encode("utf-8-sig"))
    assert read_inputs(str(path), DOFS, DRIVEN, ENVIRONMENTS, STEPS).control["joint_effort"][0, 0, 0] == 2.0
