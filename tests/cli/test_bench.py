"""`warp-artic bench` measures and writes figures."""

import json
from xml.etree import ElementTree

import pytest

from warp_artic.cli.bench import MODELS, QUANTITIES, SCENES
from warp_artic.cli.main import main
from warp_artic.usd.read_stage import read_stage


def test_figures_are_written(tmp_path, capsys):
    """One short case gives a row in the table and in the file."""
    file = tmp_path / "bench.json"
    options = "--models arm --measure step --environments 1 4 --repeats 1 --seconds 0.01 --no-peers"
    line = f"bench {options} --json {file}"
    assert main(line.split()) == 0
    assert "warp_artic" in capsys.readouterr().out
    results = json.loads(file.read_text())["results"]
    assert [result["environments"] for result in results] == [1, 4]
    assert all(result["least"] > 0 for result in results)


def test_peers_that_are_installed_run(tmp_path):
    """A peer beside ours gives figures where it is installed."""
    file = tmp_path / "bench.json"
    line = f"bench --environments 1 --repeats 1 --seconds 0.01 --json {file}"
    assert main(line.split()) == 0
    results = json.loads(file.read_text())["results"]
    assert set(MODELS) == {result["model"] for result in results}
    assert len({result["name"] for result in results}) > 1
    assert {result["quantity"] for result in results} == set(QUANTITIES)


def test_a_quantity_that_is_not_measured_is_named(capsys):
    assert main("bench --measure step momentum".split()) == 2
    assert "measure: 'momentum' is not one of step, mass_matrix, bias_force" in capsys.readouterr().err


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_the_same_mechanism_in_both_files(model):
    """Masses, dofs, drive gains, tendons and mimic joints are equal on the stage and in the file of the peers."""
    (tree,) = read_stage(str(SCENES / f"{model}.usda")).articulations
    twin = ElementTree.parse(SCENES / f"{model}.xml").getroot()
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
