"""A file is written whole or not at all, and what killed writers left is gone with the next one."""

import errno
import os
import re
import subprocess
import sys
import threading

import pytest

from warp_artic.errors import SettingsError, SolveError
from warp_artic.sim.files import whole_file
from warp_artic.sim.files.whole_file import remove_left, written_whole

WRITER = """
import sys
from warp_artic.sim.files.whole_file import written_whole
with written_whole(sys.argv[1]) as partial:
    partial.write_text("half")
    print("here", flush=True)
    sys.stdin.read()
"""


def killed_writer(output):
    """A process that is killed while it writes."""
    process = writer(output)
    process.kill()
    process.wait()
    process.stdout.close()
    process.stdin.close()


def writer(output):
    """A process that waits while it writes."""
    command = [sys.executable, "-c", WRITER, str(output)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    return process


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_replaces_what_was_there_in_one_move(tmp_path):
    """Until the end the old content is there; the new one has the permissions of a new file."""
    output = tmp_path / "run.txt"
    output.write_text("old")
    with written_whole(output) as partial:
        partial.write_text("new")
        assert output.read_text() == "old" and len(names(tmp_path)) == 2
        assert partial.suffix == ".txt"
    assert output.read_text() == "new" and names(tmp_path) == ["run.txt"]
    (tmp_path / "made").touch()
    assert output.stat().st_mode == (tmp_path / "made").stat().st_mode


def test_an_error_leaves_the_old_file_alone(tmp_path):
    """Of the disk, named with the output; and any other, as it is."""
    output = tmp_path / "run.txt"
    output.write_text("old")
    with (
        pytest.raises(SolveError, match=rf"^{re.escape(str(output))}: cannot be written: No space left on device$"),
        written_whole(output) as partial,
    ):
        partial.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(partial))
    with pytest.raises(ZeroDivisionError), written_whole(output):
        _ = 1 / 0
    assert output.read_text() == "old" and names(tmp_path) == ["run.txt"]


def test_temporary_names_are_new_each_time_and_for_nobody_else(tmp_path):
    """Random, in a folder that others cannot open, made and opened exclusively without following links."""
    found = []
    for _ in range(3):
        with written_whole(tmp_path / "run.txt") as partial:
            found.append(partial)
            assert partial.parent.parent == tmp_path and partial.parent.stat().st_mode & 0o777 == 0o700
            with pytest.raises(FileExistsError):
                os.open(partial, whole_file.NEW_FILE)
    assert len({partial.parent for partial in found}) == 3
    assert all(whole_file.NEW_FILE & flag for flag in (os.O_EXCL, os.O_CREAT, os.O_NOFOLLOW))


def test_a_link_in_place_of_a_temporary_name_is_not_followed(tmp_path, monkeypatch):
    """Whoever guesses the name gains nothing: the next name is taken, or the write is refused."""
    target = tmp_path / "target"
    target.mkdir()
    monkeypatch.setattr(whole_file.secrets, "token_hex", lambda size: "0" * 2 * size)
    (tmp_path / f".run.txt.{'0' * 32}.partial").symlink_to(target)
    with pytest.raises(SolveError, match="run.txt: cannot be written"), written_whole(tmp_path / "run.txt"):
        pass
    assert names(target) == [] and not (tmp_path / "run.txt").exists()


def test_files_are_brought_to_the_disk_before_they_are_moved(tmp_path, monkeypatch):
    """The file, then its name, then the folder."""
    done = []
    sync, move = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append(os.readlink(f"/proc/self/fd/{handle}")), sync(handle)))
    monkeypatch.setattr(os, "replace", lambda one, other: (done.append("move"), move(one, other)))
    with written_whole(tmp_path / "run.txt") as partial:
        pass
    assert done == [str(partial), "move", str(tmp_path)]


def test_what_a_killed_writer_left_goes_with_the_next_one(tmp_path):
    """Its own output alone, and only once it is dead; files that look alike stay."""
    output = tmp_path / "run.txt"
    living = writer(output)
    killed_writer(output)
    killed_writer(tmp_path / "other.txt")
    foreign = [".run.txt.12.partial", f"run.txt.{'a' * 32}.partial", f".run.txt.{'a' * 32}.partial.bak"]
    for name in foreign:
        (tmp_path / name).mkdir()
    (tmp_path / f".run.txt.{'b' * 32}.partial").write_text("a file of this name is not ours")
    assert len(names(tmp_path)) == 7
    with written_whole(output) as partial:
        partial.write_text("new")
    left = [name for name in names(tmp_path) if re.fullmatch(r"\.(run|other)\.txt\.[0-9a-f]{32}\.partial", name)]
    assert len([name for name in left if (tmp_path / name).is_dir()]) == 2
    living.communicate("")
    assert living.returncode == 0 and output.read_text() == "half"
    remove_left(tmp_path)
    assert names(tmp_path) == sorted([*foreign, f".run.txt.{'b' * 32}.partial", "run.txt"])


def test_many_writers_of_one_output(tmp_path):
    """None removes what another one is writing; the last one wins, whole."""
    output = tmp_path / "run.txt"
    errors = []

    def write(text):
        try:
            for _ in range(20):
                with written_whole(output) as partial:
                    partial.write_text(text * 1000)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(output.read_text())) == 1 and len(output.read_text()) == 1000 and names(tmp_path) == ["run.txt"]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    """Also by a link; what it says against it names the output."""
    link = tmp_path / "run.txt"
    link.symlink_to("/dev/full")
    with pytest.raises(SolveError, match="run.txt: cannot be written: No space left"), written_whole(link) as partial:
        partial.write_text("text")
    link.unlink()
    link.symlink_to("/dev/null")
    with written_whole(link) as partial:
        partial.write_text("text")
    assert link.is_symlink() and not os.path.isfile("/dev/null") and names(tmp_path) == ["run.txt"]


def test_no_folder_and_a_folder_are_refused(tmp_path):
    for output, words in ((tmp_path / "no" / "run", "there is no folder"), (tmp_path, "is a folder")):
        with pytest.raises(SettingsError, match=f"cannot be written: {words}"), written_whole(output):
            pass


def test_there_is_no_second_way_to_write():
    """No file of the package moves, opens or exports its outputs by itself."""
    package = os.path.dirname(os.path.dirname(whole_file.__file__))
    words = r"os\.replace\(|\.Export\(|\.Save\(|np\.savez?\(|savefig\(|\.write_(text|bytes)\(|open\([^)]*\"wb?\""
    pattern = re.compile(words)
    found = {}
    for folder, _, files in os.walk(package):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    lines = file.read().split("\n")
                hits = [n for n, line in enumerate(lines) if pattern.search(line)]
                around = [n for n in hits if not any("written_whole(" in line for line in lines[max(n - 3, 0) : n + 1])]
                if around:
                    found[name] = len(around)
    # Its own file, and stages of a measurement in a temporary folder.
    assert set(found) <= {"whole_file.py", "bench_chains.py"}, found
