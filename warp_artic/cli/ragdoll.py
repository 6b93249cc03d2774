"""`warp-artic ragdoll`: write a layer with a ragdoll for a skeleton, and say which links it has."""

from __future__ import annotations

import json
from dataclasses import asdict

from warp_artic.usd.author_ragdoll import Ragdoll
from warp_artic.usd.write_ragdoll import write_ragdoll


def run(arguments) -> int:
    """Author a ragdoll and print its links."""
    made = write_ragdoll(
        arguments.stage,
        arguments.output,
        arguments.skeleton,
        path=arguments.path,
        density=arguments.density,
        margin=arguments.margin,
        merge=arguments.merge,
        follow=arguments.follow,
        animated_root=arguments.animated_root,
    )
    if arguments.json:
        print(json.dumps(asdict(made) | {"mass": made.mass, "wrote": arguments.output}, indent=1))
    else:
        for line in _lines(made):
            print(line)
        print(f"wrote {arguments.output}")
    return 0


def _lines(made: Ragdoll) -> list[str]:
    """What was authored, a line for each link."""
    source = "from the range of its animation" if made.has_clip else "by default, as no animation is bound"
    lines = [f"{made.skeleton}: {len(made.links)} links, mass {made.mass:.4g}; limits {source}"]
    width = max(len(_name(link.path)) for link in made.links)
    for link in made.links:
        limits = ", ".join(f"{low:.0f} to {high:.0f}" for low, high in link.limits)
        text = f"  {_name(link.path):{width}}  mass {link.mass:8.4g}"
        text += f"  twist and swings {limits} degrees" if limits else "  root"
        if link.merged:
            text += f"; with it {', '.join(_name(joint) for joint in link.merged)}"
        lines.append(text)
    if made.free:
        lines.append(f"  moved by the animation alone: {', '.join(made.free)}")
    return lines


def _name(path: str) -> str:
    return path.rpartition("/")[2]
