"""A batch on a cluster of two nodes on this machine; skipped where Ray is not installed."""

import os
from pathlib import Path

import pytest

from tests.batch.plans import PENDULUM, files, plan
from warp_artic.batch.engine import Progress, run_plan
from warp_artic.errors import SettingsError

GIVEN = {"record": {"quantities": ["joint_position"], "every": 2}, "shard": 4, "runs": 240}


def test_a_sentence_says_what_is_missing(tmp_path, monkeypatch):
    """Where Ray is not installed."""
    monkeypatch.setattr("warp_artic.batch.on_ray.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r'engine: ray needs Ray: pip install "warp-artic\[ray\]"'):
        run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out", engine="ray")


def actors_of_this_process():
    """The process ids of actors of clusters that this process has started."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text()
            parents[int(folder.name)] = int(status.rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(b"ray::Stepper"):
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue

    def is_ours(pid):
        while pid in parents:
            pid = parents[pid]
            if pid == os.getpid():
                return True
        return False

    return [pid for pid in found if is_ours(pid)]


class Loses(Progress):
    """Kills an actor after some shards, and takes a node away after some more."""

    def __init__(self, cluster, node):
        self.cluster, self.node, self.done = cluster, node, 0

    def shard(self, report, shard):
        self.done += 1
        if self.done == 4:
            os.kill(actors_of_this_process()[0], 9)
        if self.done == 10:
            self.cluster.remove_node(self.node, allow_graceful=False)


def test_lost_actors_and_nodes_lose_nothing(tmp_path, monkeypatch):
    """The same files as in one process."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    from ray.cluster_utils import Cluster

    run_plan(plan(PENDULUM, **GIVEN), tmp_path / "whole")
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        progress = Loses(cluster, node)
        report = run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out", engine="ray", workers=2, progress=progress)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert report.counts["ok"] == 240
    assert files(tmp_path / "out") == files(tmp_path / "whole")
