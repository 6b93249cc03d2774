"""Cost against environments, and against links, as a picture."""

from __future__ import annotations

import re

from warp_artic.errors import SettingsError
from warp_artic.sim.files.whole_file import written_whole

try:
    from matplotlib.figure import Figure
except ImportError:  # the extra `plot` is not installed
    Figure = None

WIDTH, HEIGHT = 5.2, 4.4
"""Of a panel [in]."""
FORMATS = (".png", ".svg", ".pdf")


def check_plot(file: str) -> None:
    """Whether there is what it takes to draw one."""
    if Figure is None:
        raise SettingsError("plot: matplotlib is not installed; it comes with the extra `plot`")
    if not file.lower().endswith(FORMATS):
        raise SettingsError(f"{file}: the name of a plot ends in {', '.join(FORMATS)}")


def plot(results: list[dict], file: str) -> None:
    """Draw a panel for each model, and one for chains at their most environments, if there are several of them."""
    steps = [entry for entry in results if entry["quantity"] == "step" and "least" in entry]
    links = {entry["model"]: int(entry["model"][5:]) for entry in steps if re.fullmatch(r"chain\d+", entry["model"])}
    panels = [
        (model, "environments", [(entry, entry["environments"]) for entry in steps if entry["model"] == model])
        for model in dict.fromkeys(entry["model"] for entry in steps)
        if model not in links or len(links) == 1
    ]
    if len(links) > 1:
        chains = [(entry, links[entry["model"]]) for entry in steps if entry["model"] in links]
        most = max(entry["environments"] for entry, _ in chains)
        panels.append((f"chains, {most} environments", "links", [c for c in chains if c[0]["environments"] == most]))
    if not panels:
        raise SettingsError("plot: no steps were measured")
    figure = Figure(figsize=(WIDTH * len(panels), HEIGHT), layout="constrained")
    colours: dict[str, str] = {}
    for number, (title, across, points) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), number + 1)
        for name in dict.fromkeys(entry["name"] for entry, _ in points):
            own = sorted((place, entry["least"]) for entry, place in points if entry["name"] == name)
            colour = colours.setdefault(name, f"C{len(colours)}")
            is_ours = name.startswith("warp_artic")
            axes.plot(*zip(*own), "o-" if is_ours else "s--", color=colour, label=name, lw=2 if is_ours else 1, ms=4)
        axes.set(title=title, xlabel=across, xscale="log", yscale="log", ylabel="us for a step of an environment")
        axes.grid(True, which="major", alpha=0.3)
        axes.legend(fontsize=7)
    with written_whole(file) as partial:
        figure.savefig(partial, dpi=120)
