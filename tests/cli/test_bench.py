"""`warp-artic bench` measures and writes figures."""

import json
import re
from importlib.util import find_spec
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from warp_artic.cli import bench_processes
from warp_artic.cli.bench_machine import cpu_name
from warp_artic.cli.bench_models import MODELS, read_model
from warp_artic.cli.bench_ours import accelerations
from warp_artic.cli.bench_processes import FOLDER, start_peers
from warp_artic.cli.bench_sheet import Contestant, Sheet
from warp_artic.cli.bench_timing import NotMeasuredError, take_turns
from warp_artic.cli.main import main
from warp_artic.errors import SettingsError
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

SHORT = "--repeats 1 --seconds 0.005"


def bench(options, file):
    """Run the command; what it has written."""
    assert main(f"bench {options} {SHORT} --json {file}".split()) == 0
    return json.loads(file.read_text())


def test_steps_are_measured_beside_peers_and_the_peak(tmp_path, capsys):
    """Ours has a share of the peak in the table and the file; a peer has the difference of its accelerations."""
    options = "--models arm --environments 1 16 --precision float32 --threads 1 2 --peers mujoco pinocchio"
    content = bench(options, tmp_path / "bench.json")
    assert content["machine"]["cpu"] == cpu_name()
    results = content["results"]
    assert all(entry["environments"] in (1, 16) and entry["least"] > 0.0 for entry in results)
    ours = [entry for entry in results if "threads" in entry]
    assert [(entry["threads"], entry["in_graph"]) for entry in ours[::2]] == [(1, False), (2, False), (1, True)]
    for entry in ours[:2]:
        assert entry["share_of_peak"]["flops"] > 0.0  # above one where the peak was measured beside other processes
        assert entry["memory"]["fields"] > entry["bytes"] / 2
    theirs = [entry for entry in results if "threads" not in entry]
    assert {entry["name"].split()[0] for entry in theirs} == {"MuJoCo", "Pinocchio"}
    assert all(entry["acceleration_difference"] < 1e-4 for entry in theirs)
    printed = capsys.readouterr().out
    assert "of the peak: " in printed and "1 over 2 threads" in printed and "MuJoCo C" in printed


def test_the_dynamics_suite_is_measured(tmp_path):
    """Of calls of Pinocchio from Python a part is taken off; of calls of MuJoCo in C nothing."""
    options = "--models arm --environments 1 --precision float64 --peers mujoco pinocchio --measure mass_matrix"
    ours, mujoco_c, pinocchio = bench(options, tmp_path / "bench.json")["results"]
    assert ours["name"].startswith("warp_artic") and mujoco_c["name"].startswith("MuJoCo")
    assert "taken_off" not in ours and "taken_off" not in mujoco_c
    assert pinocchio["taken_off"] > 0.0


def test_sleep_is_measured(tmp_path):
    """Of ours alone, once for each precision, since threads have nothing to do."""
    options = "--models arm --environments 8 --precision float32 --threads 1 2 --measure asleep"
    (asleep,) = bench(options, tmp_path / "bench.json")["results"]
    assert asleep["quantity"] == "asleep" and asleep["least"] > 0.0


def test_a_plot_is_drawn(tmp_path):
    """Of a model against environments, and of chains against links."""
    options = "--models arm chain2 chain4 --environments 1 --precision float32 --threads 1 --peers"
    bench(f"{options} --plot {tmp_path / 'bench.svg'}", tmp_path / "bench.json")
    drawing = (tmp_path / "bench.svg").read_text()
    assert drawing.startswith("<?xml")


def test_a_quantity_that_is_not_measured_is_named(capsys):
    assert main("bench --measure step momentum".split()) == 2
    assert "measure: 'momentum' is not one of step, asleep, first_step, phases, mass_matrix" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, sentence",
    [
        ("--peers mujoco --peer-python no/python", "peer-python: no/python: No such file"),
        ("--peers mujoco --peer-python /bin/true", "peer-python: /bin/true does not run "),
        pytest.param(
            "--peers sapien",
            "peers: sapien is not installed in ",
            marks=pytest.mark.skipif(find_spec("sapien") is not None, reason="it is installed"),
        ),
        ("--json nowhere/bench.json", "nowhere/bench.json: there is no folder nowhere"),
        ("--plot bench.txt", "bench.txt: the name of a plot ends in .png"),
        ("--plot bench.png --measure phases", "plot: it shows steps"),
        ("--environments 1 0", "environments: 0 is not above 0"),
    ],
)
def test_what_cannot_be_measured_is_said_at_once(options, sentence, capsys):
    assert main(f"bench --models arm {options}".split()) == 2
    written = capsys.readouterr()
    assert sentence in written.err and written.err.count("\n") == 1
    assert not written.out


def test_a_peer_says_what_it_cannot_simulate(tmp_path):
    """Pinocchio takes one robot a model, and no limits: both are told."""
    (peer,) = start_peers([], ["pinocchio"], must_be_there=True)
    try:
        with pytest.raises(NotMeasuredError, match="one robot a model"):
            peer.acceleration(read_model("mixed", tmp_path).case("cpu"))
        limited = peer.acceleration(read_model("humanoid", tmp_path).case("cpu"))
    finally:
        peer.process.close()
    assert limited["ignores"] == ["limits"]


def test_a_crash_is_said_and_the_peer_is_there_again(tmp_path):
    """A library that ends its process takes nothing else with it."""
    (peer,) = start_peers([], ["pinocchio"], must_be_there=True)
    try:
        peer.process._process.kill()
        with pytest.raises(NotMeasuredError, match="its process has stopped"):
            peer.acceleration(read_model("arm", tmp_path).case("cpu"))
        assert peer.acceleration(read_model("arm", tmp_path).case("cpu"))["acceleration"]
    finally:
        peer.process.close()


def test_peers_need_nothing_of_ours():
    """What runs in their processes imports nothing of the package, which their Python may not have."""
    for file in FOLDER.glob("*.py"):
        assert not re.search(r"^ *(from|import) (warp_artic|\.)", file.read_text(), re.M), file


def test_an_installed_package_has_no_peers(tmp_path, monkeypatch):
    """Without a checkout ours is measured alone, and who asks for a peer is told."""
    monkeypatch.setattr(bench_processes, "FOLDER", tmp_path / "peers")
    assert start_peers([], ["mujoco"], must_be_there=False) == []
    with pytest.raises(SettingsError, match="peers: mujoco: peers are measured from a checkout"):
        start_peers([], ["mujoco"], must_be_there=True)


def test_a_case_that_would_take_too_long_is_left_out():
    """From what one environment costs, a step of many is foreseen."""
    sheet = Sheet("", [1, 10_000])
    sheet.measure([Contestant("slow", lambda environments: [lambda count: 1e-4 * count])], 1, 0.01)
    assert sheet.rows == [("slow", "100/100", "–")]
    assert sheet.results[1]["not_measured"] == "a step would take 1 s"
    assert not sheet.notes


def test_contestants_take_turns():
    """Each is run once in each repeat, one after the other; one that fails leaves the others alone."""
    order = []

    def steps(name, seconds):
        def run(count):
            order.append(name)
            return seconds * count

        return run

    def fails(count):
        raise NotMeasuredError("too heavy")

    starts = [lambda: [steps("a", 0.01), steps("b", 0.02)], lambda: [fails], lambda: [steps("c", 0.03)]]
    first, second, third = take_turns(starts, repeats=2, seconds=0.1)
    assert first == [[pytest.approx(0.01)] * 2, [pytest.approx(0.02)] * 2]
    assert second == "too heavy"
    assert third == [[pytest.approx(0.03)] * 2]
    assert order[-6:] == ["a", "b", "c"] * 2


def test_what_a_call_costs_does_not_make_runs_short():
    """A step of 1 us that is called at a cost of 1 ms is run for long enough to be seen."""
    counts = []

    def run(count):
        counts.append(count)
        return 1e-3 + 1e-6 * count

    ((times,),) = take_turns([lambda: [run]], repeats=1, seconds=0.01)
    assert counts[-1] > 5000
    assert times[0] < 1.2e-6


def test_what_calls_cost_is_taken_off():
    """The least of the second run, from each of the first."""
    sheet = Sheet("", [10])
    runs = [lambda count: 1e-3 * count, lambda count: 2e-4 * count]
    sheet.measure([Contestant("called", lambda environments: runs)], 2, 0.01)
    assert sheet.rows == [("called", "80.0/80.0 (20%)")]


@pytest.mark.parametrize("name", [*MODELS, "chain2"])
def test_a_model_has_the_same_dynamics_in_both_files(name, tmp_path):
    """Mass matrices of the joints are those of MuJoCo, and so are accelerations, but where its mimic joints give."""
    model = read_model(name, tmp_path)
    twin = mujoco.MjModel.from_xml_path(str(model.xml))
    data = mujoco.MjData(twin)
    for joint, value in zip(model.joints(), model.positions()):
        data.qpos[twin.joint(joint).qposadr] = value
    for actuator in range(twin.nu):
        data.ctrl[actuator] = model.case("cpu")["targets"][twin.joint(twin.actuator_trnid[actuator, 0]).name]
    mujoco.mj_forward(twin, data)
    expected = np.zeros((twin.nv, twin.nv))
    mujoco.mj_fullM(twin, data, expected)
    simulation = Simulation(model.scene, settings=SolverSettings(precision="float64"))
    simulation.set_state(joint_position=model.positions())
    for articulation in simulation.articulations:
        joints = [joint.removeprefix("/World/") for joint in articulation.joint_names]
        places = [int(twin.joint(joint).dofadr[0]) for joint in joints]
        found = articulation.dynamics.mass_matrix().numpy()[0][-len(joints) :, -len(joints) :]
        np.testing.assert_allclose(found, expected[np.ix_(places, places)], rtol=1e-5, atol=1e-6 * expected.max())
    if not twin.neq:
        theirs = {joint: data.qacc[twin.joint(joint).dofadr[0]] for joint in model.joints()}
        largest = max(map(abs, theirs.values()))
        assert accelerations(model) == pytest.approx(theirs, abs=1e-4 * largest)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("chain64", "mixed")])
def test_a_model_has_the_same_parts_in_both_files(name, tmp_path):
    """Masses, dofs, gains of drives, tendons and mimic joints are equal on the stage and in the file of the peers."""
    model = read_model(name, tmp_path)
    (tree,) = model.scene.articulations
    twin = ElementTree.parse(model.xml).getroot()
    masses = {body.get("name"): float(body.find("inertial").get("mass")) for body in twin.iter("body")}
    moving = {link.path.rpartition("/")[2]: link.mass for link in tree.links}
    assert {name: moving[name] for name in masses} == pytest.approx(masses, rel=1e-5)
    names = [dof.name.rpartition("/")[2] for dof in tree.dofs]
    assert sorted(names) == sorted(joint.get("name") for joint in twin.iter("joint") if joint.get("type") == "hinge")
    assert tree.is_floating == (twin.find(".//freejoint") is not None)
    assert len(tree.fixed_tendons) == len(twin.findall("tendon/fixed"))
    assert len(tree.mimics) == len(twin.findall("equality/joint"))
    drives = {name: dof.drive for name, dof in zip(names, tree.dofs)}
    for actuator in twin.findall("actuator/position"):
        drive = drives[actuator.get("joint")]
        gains = float(actuator.get("kp")), float(actuator.get("kv"))
        assert (drive.stiffness, drive.damping) == pytest.approx(gains, rel=1e-5)


def test_figures_for_programs(capsys):
    """Without a file they are all that is on standard output, and so is an error."""
    assert main(f"bench --models arm --environments 4 --threads 1 --peers {SHORT} --json".split()) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["results"] and "microseconds for an environment" in told.err
    assert main("bench --repeats 0 --json".split()) == 2
    (found,) = json.loads(capsys.readouterr().out).values()
    assert (found["message"], found["exit_code"]) == ("repeats: 0 is not above 0", 2)
