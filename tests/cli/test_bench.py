"""`warp-artic bench` measures and writes figures."""

import json
import sys
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from warp_artic.cli.bench_machine import cpu_name
from warp_artic.cli.bench_models import MODELS, read_model
from warp_artic.cli.bench_ours import accelerations
from warp_artic.cli.bench_peers.timing import measure
from warp_artic.cli.bench_processes import PeerProcess
from warp_artic.cli.bench_sheet import Sheet
from warp_artic.cli.main import main
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

SHORT = "--repeats 1 --seconds 0.005"


def bench(options, file):
    """Run the command; what it has written."""
    assert main(f"bench {options} {SHORT} --json {file}".split()) == 0
    return json.loads(file.read_text())


def test_steps_are_measured_beside_peers_and_the_peak(tmp_path, capsys):
    """Ours has a share of the peak in the table and the file; a peer has the difference of its accelerations."""
    options = "--models arm --environments 1 16 --precision float32 --peers mujoco pinocchio"
    content = bench(options, tmp_path / "bench.json")
    assert content["machine"]["cpu"] == cpu_name()
    ours, theirs = ([entry for entry in content["results"] if ("flops" in entry) == own] for own in (True, False))
    assert [entry["environments"] for entry in ours] == [1, 16]
    for entry in ours:
        assert 0.0 < entry["share_of_peak_flops"] < 1.0
        assert entry["device_memory"] > entry["bytes"] / 2
    assert {entry["name"].split()[0] for entry in theirs} == {"MuJoCo", "Pinocchio"}
    for entry in theirs:
        assert entry["least"] > 0.0
        assert entry["acceleration_difference"] < 1e-4
    printed = capsys.readouterr().out
    assert "of the peak of arithmetic" in printed
    assert "MuJoCo C" in printed


def test_quantities_of_the_dynamics_suite_are_measured(tmp_path):
    options = (
        "--models arm --environments 1 --precision float64 --clock cpu --peers mujoco --measure mass_matrix joint_force"
    )
    results = bench(options, tmp_path / "bench.json")["results"]
    assert {entry["quantity"] for entry in results} == {"mass_matrix", "joint_force"}
    assert len(results) == 4


def test_a_plot_is_drawn(tmp_path):
    """Of a model against environments, and of chains against links."""
    options = "--models arm chain2 chain4 --environments 1 --precision float32 --peers"
    bench(f"{options} --plot {tmp_path / 'bench.svg'}", tmp_path / "bench.json")
    drawing = (tmp_path / "bench.svg").read_text()
    assert drawing.startswith("<?xml")


def test_a_quantity_that_is_not_measured_is_named(capsys):
    assert main("bench --measure step momentum".split()) == 2
    assert "measure: 'momentum' is not one of step, first_step, phases, mass_matrix" in capsys.readouterr().err


def test_a_python_without_peers_is_named(capsys):
    assert main("bench --models arm --peers mujoco --peer-python no/python".split()) == 2
    assert "peer-python: no/python: No such file" in capsys.readouterr().err


def test_a_peer_says_what_it_cannot_simulate(tmp_path):
    """Pinocchio takes one robot a model, and no limits: both are told."""
    process = PeerProcess(sys.executable, ["pinocchio"])
    try:
        several = process.ask("pinocchio", "acceleration", read_model("mixed", tmp_path).case("cpu"))
        limited = process.ask("pinocchio", "acceleration", read_model("humanoid", tmp_path).case("cpu"))
    finally:
        process.close()
    assert several == {"not_simulated": "one robot a model"}
    assert limited["ignores"] == ["limits"]


def test_a_case_that_would_take_too_long_is_left_out():
    """From what one environment costs, a step of many is foreseen."""
    sheet = Sheet("", [1, 10_000])
    sheet.measure("slow", lambda count: [100.0])
    assert sheet.rows == [("slow", "100/100", "–")]
    assert sheet.results[1]["not_measured"] == "a step would take 1 s"


def test_times_are_for_one_environment_and_step():
    """A step of ten environments that takes 10 ms costs each of them one."""
    now = 0.0

    def steps(count):
        nonlocal now
        now += 0.01 * count

    assert measure(steps, 10, 2, 0.1, clock=lambda: now) == pytest.approx([1000.0, 1000.0])


@pytest.mark.parametrize("name", [*MODELS, "chain2"])
def test_a_model_has_the_same_dynamics_in_both_files(name, tmp_path):
    """Mass matrices of the joints are those of MuJoCo, and so are accelerations, but where its mimic joints give."""
    model = read_model(name, tmp_path)
    twin = mujoco.MjModel.from_xml_path(str(model.xml))
    data = mujoco.MjData(twin)
    for joint, value in zip(model.joints(), model.positions()):
        data.qpos[twin.joint(joint).qposadr] = value
    for actuator in range(twin.nu):
        data.ctrl[actuator] = model.case("cpu").targets[twin.joint(twin.actuator_trnid[actuator, 0]).name]
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
