"""`warp-artic backends`."""

import json

from warp_artic.cli.main import main


def test_ours_is_listed(capsys):
    assert main(["backends"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (ours,) = (line.split() for line in lines if line.strip().startswith("warp_artic"))
    assert ours[1:3] == ["warp_artic.hosts.stage_backend:WarpArticBackend", "1"] and "package" in ours


def test_as_json(capsys):
    assert main(["backends", "--json"]) == 0
    (ours,) = (one for one in json.loads(capsys.readouterr().out) if one["name"] == "warp_artic")
    assert ours["api_version"] == 1 and len(ours["places"]) == 2


def test_one_that_cannot_be_understood(capsys, monkeypatch):
    """One clear line, and the exit code of what failed."""
    from warp_artic.hosts import registry

    twice = [registry.Registration("one", factory, (f"plugin {factory}",)) for factory in ("a:B", "c:D")]
    monkeypatch.setattr(registry, "_plugins", lambda: twice)
    assert main(["backends"]) == 1
    assert capsys.readouterr().err.strip().endswith("as c:D by plugin c:D; uninstall one of them")
