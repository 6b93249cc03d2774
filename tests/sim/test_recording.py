"""A recording keeps what a run gave, in memory and in a file."""

import dataclasses

import numpy as np
import pytest

from warp_artic.errors import SettingsError
from warp_artic.sim.record.recording import LISTS, NAMES, SHAPES, Recording


def recording(records=4, environments=2, dofs=3, links=5, start=0.0, **changes) -> Recording:
    random = np.random.default_rng(0)
    values = {
        "time": start + 0.1 * np.arange(records),
        "joint_names": [f"/joint_{index}" for index in range(dofs)],
        "link_names": [f"/link_{index}" for index in range(links)],
        "joint_position": random.normal(size=(records, environments, dofs)).astype(np.float32),
        "joint_velocity": random.normal(size=(records, environments, dofs)).astype(np.float32),
        "link_pose": random.normal(size=(records, environments, links, 7)).astype(np.float32),
        "energy": random.normal(size=(records, environments, 2)).astype(np.float32),
        "metadata": {"dt": 0.1, "solver": "pgs"},
    }
    return Recording(**(values | changes))


def test_a_file_gives_back_every_field(tmp_path):
    """What is saved is loaded: names, values, precision and metadata."""
    saved = recording()
    saved.save(tmp_path / "run.npz")
    loaded = Recording.load(tmp_path / "run.npz")
    for item in dataclasses.fields(Recording):
        one, other = getattr(saved, item.name), getattr(loaded, item.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype and np.array_equal(one, other)
        else:
            assert one == other


def test_the_file_has_exactly_the_documented_arrays(tmp_path):
    """The file is plain NumPy: one array for each field, names as text, metadata as JSON."""
    recording().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert set(file.files) == {"time", "metadata", *NAMES, *SHAPES, *LISTS}
        assert file["link_pose"].shape == (4, 2, 5, 7)
        assert file["joint_names"].tolist() == ["/joint_0", "/joint_1", "/joint_2"]
        assert str(file["metadata"]) == '{"dt": 0.1, "solver": "pgs"}'


def test_a_file_without_an_optional_quantity_loads(tmp_path):
    """As one that was written before there was the quantity; it has no entries."""
    recording().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        np.savez(tmp_path / "old.npz", **{name: file[name] for name in file.files if name != "joint_drive_force"})
    assert Recording.load(tmp_path / "old.npz").joint_drive_force.shape == (4, 2, 0)


def test_quantities_without_entries_are_empty():
    """What is not simulated is an array without entries, with the shape it will have."""
    made = recording()
    assert made.link_incoming_joint_force.shape == (4, 2, 0, 6)
    assert made.tendon_length.shape == made.tendon_force.shape == made.mimic_error.shape == (4, 2, 0)
    assert made.loop_error.shape == (4, 2, 0, 2)
    assert made.loop_error.dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"time": np.zeros((4, 1))}, "one entry for each record"),
        ({"time": np.array([0.0, 0.2, 0.1, 0.3])}, "does not increase"),
        ({"joint_position": np.zeros((4, 3))}, r"joint_position has shape \(4, 3\)"),
        ({"link_pose": np.zeros((4, 2, 5, 6))}, r"link_pose has shape \(4, 2, 5, 6\); \(4, 2, 5, 7\) is needed"),
        ({"joint_names": ["/a"]}, "joint_position has shape"),
        ({"tendon_length": np.zeros((4, 2, 1))}, "tendon_length has shape"),
        ({"joint_position": None}, "joint_position is missing"),
    ],
)
def test_shapes_that_disagree_are_refused(changes, sentence):
    """A recording whose arrays do not fit together is not made."""
    with pytest.raises(SettingsError, match=sentence):
        recording(**changes)


def test_consecutive_recordings_join():
    """Parts of a run become one, the shared record once."""
    first, second = recording(records=4), recording(records=3, start=0.3)
    joined = Recording.joined([first, second])
    np.testing.assert_allclose(joined.time, 0.1 * np.arange(6))
    np.testing.assert_array_equal(joined.joint_position[4:], second.joint_position[1:])
    with pytest.raises(SettingsError, match="different mechanisms"):
        Recording.joined([first, recording(dofs=1)])


def test_files_that_are_no_recordings_are_named(tmp_path):
    """A wrong name, a missing file, other content: one sentence with the path."""
    (tmp_path / "text.npz").write_text("not an archive")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name, sentence in (("none.npz", "no such file"), ("text.npz", "is not a recording"), ("other.npz", "missing")):
        with pytest.raises(SettingsError, match=f"{name}.*{sentence}"):
            Recording.load(tmp_path / name)
    with pytest.raises(SettingsError, match="ends in .npz"):
        recording().save(tmp_path / "run.txt")
    with pytest.raises(SettingsError, match="cannot be written"):
        recording().save(tmp_path / "missing" / "run.npz")


def test_saving_leaves_nothing_else(tmp_path):
    """The temporary file is gone after saving."""
    recording().save(tmp_path / "run.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("metadata", np.array("[]"), "metadata: is a list in JSON; an object is needed"),
        ("metadata", np.array('{"incoming_forces": 3}'), "metadata: incoming_forces: "),
        ("metadata", np.array('{"a": "\\ud800"}'), "metadata: is no text in JSON"),
        ("metadata", np.zeros(2), "metadata is float64"),
        ("time", np.array(["a"] * 4), "time is <U1"),
        ("time", np.array([0.0, np.nan, 1.0, 2.0]), r"time: the value at \(1,\) is nan; a finite number"),
        ("time", np.array([0.0, 2.0, 1.0, 3.0]), "time does not increase"),
        ("time", np.zeros((4, 1)), r"time is float64 of shape \(4, 1\); allowed: integers, or numbers"),
        ("joint_names", np.array([1, 2, 3]), "joint_names is int64 of shape .*; allowed: text"),
        (
            "joint_names",
            np.array(["/a", "/b"]),
            r"joint_position is float32 of shape \(4, 2, 3\); .*of shape \(4, environments, 2\)",
        ),
        ("joint_names", np.array([b"\x00\x00\x11\x00"] * 3).view("<U1"), "joint_names: has what is no character"),
        ("joint_position", np.array([[[None]]], dtype=object), "joint_position is object"),
        ("joint_position", np.zeros((4, 2, 3), complex), "joint_position is complex128"),
        ("joint_velocity", np.full((4, 2, 3), 1e300), "joint_velocity: .* is 1e.300; a finite number from"),
        ("link_pose", np.full((4, 2, 5, 7), np.inf), "link_pose: .* is inf"),
        ("link_pose", np.zeros((4, 2, 5, 7)), "link_pose: a quaternion has the length 0; at least 1e-06 is needed"),
        ("link_pose", np.zeros((4, 2, 5, 6)), r"link_pose is float64 of shape .*\(4, 2, 5, 7\) or \(4, 2, 0, 7\)"),
        ("energy", np.zeros((4, 3, 2)), "energy is float64 of shape"),
        ("more", np.zeros(3), "has 'more', which a recording has not"),
    ],
)
def test_values_that_cannot_be_are_refused(name, values, sentence, tmp_path):
    """By the file, the entry, what was found and what is allowed, when it is read."""
    recording().save(tmp_path / "run.npz")
    bad = tmp_path / "bad.npz"
    with np.load(tmp_path / "run.npz") as content:
        np.savez(bad, **{**content, name: values})
    with pytest.raises(SettingsError, match=sentence) as found:
        Recording.load(bad)
    assert str(found.value).startswith(f"{bad}: ") and "\n" not in str(found.value)


def test_a_recording_that_unpacks_to_too_much_is_refused(tmp_path):
    """By its size, before it is unpacked."""
    zeros = np.zeros((400_000, 100, 1))
    bad = tmp_path / "bad.npz"
    recording().save(bad)
    with np.load(bad) as content:
        np.savez_compressed(bad, **{**content, "time": np.arange(400_000.0), "joint_position": zeros})
    with pytest.raises(SettingsError, match="bad.npz: unpacks to 3.2.e.08 bytes from"):
        Recording.load(bad)


def test_numbers_in_another_byte_order_are_numbers(tmp_path):
    """They come as those of this machine."""
    recording().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as content:
        swapped = {name: array.astype(array.dtype.newbyteorder()) for name, array in content.items()}
    np.savez(tmp_path / "swapped.npz", **swapped)
    found = Recording.load(tmp_path / "swapped.npz")
    np.testing.assert_array_equal(found.link_pose, recording().link_pose)
    assert found.link_pose.dtype == np.float32 and found.joint_names == recording().joint_names
