"""`warp-artic bench` measures and writes figures."""

import json

from warp_artic.cli.main import main


def test_figures_are_written(tmp_path, capsys):
    """One short case gives a row in the table and in the file."""
    file = tmp_path / "bench.json"
    line = f"bench --models arm --environments 1 4 --repeats 1 --seconds 0.01 --no-peers --json {file}"
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
    assert {"humanoid", "arm"} == {result["model"] for result in results}
