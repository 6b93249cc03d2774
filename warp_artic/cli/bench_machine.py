"""Where figures are from: the machine, the versions and the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("warp-artic", "warp-lang", "numpy", "usd-core")


def machine(devices: dict[str, str]) -> dict:
    """Processor, cores, memory, how busy the cores have been in the last quarter of an hour, and names of devices."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[2], 2),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "devices": devices,
    }


def cpu_name() -> str:
    """The processor, as it calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return found.get("model name") or platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Of Python and of what we stand on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit() -> dict | None:
    """The commit of a checkout, and whether files differ from it; None where the package is installed."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(Path(__file__).parents[2]), *words], capture_output=True, check=True, text=True
        ).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")) != Path(__file__).resolve().parents[2]:
            return None
        return {"hash": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.CalledProcessError):
        return None
