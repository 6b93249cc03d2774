"""Files that are broken on purpose: what cannot be used is refused by name, soon, and all that comes out is numbers.

WARP_ARTIC_HOSTILE=2000 takes so many files in place of a few.
"""

import functools
import json
import os
import re
import shutil
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from tests.hostile import hostile_csv, hostile_json, hostile_npz, packed
from warp_artic.cli.main import main
from warp_artic.cli.wanted_forces import read_wanted
from warp_artic.errors import ArticError
from warp_artic.usd.read_stage import read_stage

COUNT = int(os.environ.get("WARP_ARTIC_HOSTILE", 100))
SHARES = {
    "checkpoint of a tree": 5,
    "checkpoint of an arm": 3,
    "checkpoint of a beam": 1,
    "recording": 5,
    "resumed run": 1,
    "inputs.json": 1,
    "inputs.npz": 1,
    "forces.json": 1,
    "forces.npz": 1,
    "forces.csv": 1,
}
"""Of each kind of file."""
STEPS = 20
LARGEST = 16 << 20
"""Memory that reading may take, beside what is there [B]: what is slow to read is large, or says that it is."""
SCENES = Path(__file__).parents[1] / "samples" / "scenes"
ARM, BEAM, STAR = SCENES / "arm.usda", SCENES / "bent_beam.usda", SCENES / "starfish.usda"


def cases():
    """Kinds of files and seeds, as many as COUNT."""
    whole = sum(SHARES.values())
    return [(kind, range(max(1, COUNT * share // whole))) for kind, share in SHARES.items()]


@functools.cache
def arrays_of(kind):
    """The arrays of a good file."""
    path = good_file(kind)
    if kind == "recording":
        simulation_of("checkpoint of an arm").record(4, forces=True).save(path)
    elif kind == "inputs.npz":
        return {"joint_effort": np.ones((STEPS, 6)), f"joint_position:{dofs()[1]}": np.array(0.3)}
    elif kind == "forces.npz":
        return {"forces": np.ones((2, 4, 2)), "nodes": np.arange(4), "time": np.arange(2.0)}
    else:
        simulation_of(kind).save(path)
    with np.load(path) as content:
        return dict(content)


@functools.cache
def simulation_of(kind):
    """What a checkpoint is of; it has moved, and remembers steps."""
    if kind == "checkpoint of a tree":
        settings = wa.SolverSettings(precision="float64", variant="scalar", sleep_after=0.5)
        simulation = wa.Simulation(trees.scene(tree_of_every_family(links=13)), settings=settings)
    elif kind == "checkpoint of a beam":
        simulation = wa.Simulation(read_stage(BEAM), settings=wa.SolverSettings(precision="float64"))
    else:
        simulation = wa.Simulation(read_stage(ARM), environments=2)
    simulation.step(5)
    return simulation


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("good")
    os.environ["PYTEST_HOSTILE"] = str(path)
    yield path
    del os.environ["PYTEST_HOSTILE"]


def is_finite(recording):
    return all(np.isfinite(array).all() for array in vars(recording).values() if isinstance(array, np.ndarray))


def within_memory(read):
    """What reading gives, with little memory; times would be those of other threads and collections too."""
    tracemalloc.start()
    try:
        return read()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < LARGEST, f"{peak / 2**20:.1f} MiB"


def motion(simulation):
    """Positions, as bytes."""
    arrays = [simulation.state.joint_position, *(body.points for body in simulation.elastic_bodies)]
    return [array.numpy().tobytes() for array in arrays]


def check_checkpoint(kind, data, path):
    """Refused, and the simulation is as it was; or it is taken up, and does what are numbers, or is said to fail."""
    path.write_bytes(data)
    simulation = simulation_of(kind)
    before = motion(simulation), simulation.steps_done
    try:
        within_memory(lambda: simulation.load(path))
    except ArticError:
        assert (motion(simulation), simulation.steps_done) == before
        raise
    try:
        recording = simulation.record(3, forces=True)
        assert is_finite(recording) or simulation.failures()
    finally:
        simulation.load(good_file(kind))


def good_file(kind):
    return Path(os.environ["PYTEST_HOSTILE"]) / f"{kind.replace(' ', '_')}.npz"


def check_recording(kind, data, path):
    """Refused; or it is numbers, and can be used: saved, shown, baked."""
    path.write_bytes(data)
    recording = within_memory(lambda: wa.Recording.load(path))
    assert is_finite(recording)
    repr(recording)
    recording.save(path.with_name("again.npz"))
    wa.Recording.load(path.with_name("again.npz"))
    wa.write_results(ARM, recording, path.with_name("run.usda"))
    assert not re.search(r"\b(nan|inf)\b", path.with_name("run.usda").read_text())


def check_resumed(kind, data, path):
    """The command says what is wrong; what it writes are numbers."""
    clips = path.with_name("run.clips")
    if clips.exists():
        shutil.rmtree(clips)
    good_clips = Path(os.environ["PYTEST_HOSTILE"]) / "run.clips"
    if not good_clips.exists():
        assert main(f"simulate {ARM} -o {good_clips.with_suffix('.usda')} --clips 0.05 --steps 24".split()) == 0
    shutil.copytree(good_clips, clips)
    (clips / "run.npz").write_bytes(hostile_npz(arrays_in(good_clips / "run.npz"), data))
    command(f"simulate {ARM} -o {path.with_name('run.usda')} --clips 0.05 --steps 30 --resume")


@functools.cache
def arrays_in(path):
    with np.load(path) as content:
        return dict(content)


def command(line):
    """Run a command: it ends well, or says why not."""
    code = main(line.split())
    if code:
        raise ArticError(code)


def check_inputs(kind, data, path):
    path = path.with_name(kind)
    path.write_bytes(data)
    output = path.with_name("recorded.npz")
    output.unlink(missing_ok=True)
    try:
        within_memory(lambda: command(f"simulate {ARM} --steps {STEPS} --inputs {path} --record {output} --forces"))
    finally:
        if output.exists():
            assert is_finite(wa.Recording.load(output))


@functools.cache
def bodies():
    return {body.name: body for body in read_stage(STAR).elastic_bodies}


def check_forces(kind, data, path):
    path = path.with_name(kind)
    path.write_bytes(data)
    wanted = within_memory(lambda: read_wanted(str(path), bodies()))
    assert all(np.isfinite(table).all() for table in wanted.forces.values())
    assert wanted.time is None or np.isfinite(wanted.time).all()


def dofs():
    return read_stage(ARM).dof_names


def inputs():
    """The content of a good file of inputs."""
    return {
        "joint_position": [0.1] * 6,
        "joint_effort": {dofs()[0]: [1.0] * STEPS},
        "drive_position_target": [[0.5] * 6] * STEPS,
    }


def forces():
    """The content of a good file of forces."""
    return {"forces": {next(iter(bodies())): {"12": [[1, 0, 0], [2, 0, 0]]}}, "time": [0, 1]}


def forces_text():
    """The same as lines of cells."""
    return "\n".join((SCENES / "assets" / "starfish_forces.csv").read_text().splitlines()[:13]) + "\n"


def hostile(kind, seed):
    """A broken file of a kind; of a resumed run its number."""
    if kind == "resumed run":
        return seed
    if kind.endswith(".csv"):
        return hostile_csv(forces_text(), seed)
    if kind == "inputs.json":
        return hostile_json(inputs(), seed)
    if kind == "forces.json":
        return hostile_json(forces(), seed)
    return hostile_npz(arrays_of(kind), seed)


CHECKS = {"checkpoint": check_checkpoint, "recording": check_recording, "resumed": check_resumed,
          "inputs": check_inputs, "forces": check_forces}  # fmt: skip


def test_files_that_are_not_broken_are_taken(tmp_path, capsys):
    """Else what is refused would say nothing."""
    for kind in SHARES:
        if kind.startswith("resumed"):
            continue
        content = {"inputs.json": inputs, "forces.json": forces}.get(kind)
        if kind.endswith(".csv"):
            data = forces_text().encode()
        else:
            data = packed(arrays_of(kind)) if content is None else json.dumps(content()).encode()
        next(one for word, one in CHECKS.items() if kind.startswith(word))(kind, data, tmp_path / "file.npz")
    assert "error" not in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "seeds"), cases(), ids=lambda value: value if isinstance(value, str) else "")
def test_hostile_files(kind, seeds, tmp_path, capsys):
    """No other error than ours, which names the file; no large read; nothing that is no number."""
    check = next(one for word, one in CHECKS.items() if kind.startswith(word))
    refused, wrong = 0, []
    for seed in seeds:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # NumPy's, of headers by Python 2
                check(kind, hostile(kind, seed), tmp_path / "file.npz")
        except ArticError as error:
            refused += 1
            said = capsys.readouterr()
            text = said.err if str(error).isdecimal() else str(error)
            of_names = ("the stage has no such prim",) if kind == "recording" else ()
            if "Traceback" in text or not any(
                word in text for word in ("file.npz", kind, "run.npz", "runs away", *of_names)
            ):
                wrong.append((seed, text))
        except Exception as error:
            wrong.append((seed, f"{type(error).__name__}: {str(error)[:300]}"))
    capsys.readouterr()
    print(f"{kind}: {len(seeds)} files, {refused} refused")
    assert not wrong, f"{len(wrong)}: {wrong[:8]}"
    assert refused >= len(seeds) // 3
