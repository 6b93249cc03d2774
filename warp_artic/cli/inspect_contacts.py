"""What `warp-artic inspect` says of colliders that may touch, and of articulations that are stepped together."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from warp_artic.cli.inspect_values import plain
from warp_artic.cli.table import Column, Table, width
from warp_artic.cli.value_table import number_text, words_of
from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.description.shape import Shape

NUMBERS = tuple(ContactPair.UNITS)
"""What is said of a pair."""
RIGID = "rigid"
"""What is said of the stiffness of contacts without a spring."""
WORDS = {"rest_distance": "rests at", "contact_distance": "looked at below"}
"""What these numbers are called, where that is not their name."""


def contact_pairs(trees: Sequence[Articulation]) -> list[dict]:
    """The pairs of colliders that may touch, as plain values."""
    homes = {tree.path: tree for tree in trees}
    found = []
    for tree in trees:
        for one in tree.constraints_of(ContactPair):
            ends = ((one.link0, tree, one.shape0), (one.link1, homes.get(one.articulation1, tree), one.shape1))
            values = {name: plain(getattr(one, name)) for name in NUMBERS}
            sides = [_side("world" if link == WORLD else home.links[link].path, shape) for link, home, shape in ends]
            state = {"enabled": one.enabled, "kept_apart_by": list(one.keepers)}
            found.append({"colliders": sides, **state, **values, "units": ContactPair.UNITS})
    return found


def _side(link: str, shape: Shape) -> dict:
    return {"path": shape.path, "kind": shape.kind.value, "link": link}


def mechanisms(trees: Sequence[Articulation], scene: Scene | None) -> list[list[str]]:
    """Paths of the articulations of each mechanism of several."""
    every = tuple(trees)
    found = mechanisms_of(scene or Scene(articulations=every))
    return [[every[index].path for index in members] for members in found if len(members) > 1]


def contact_blocks(content: dict) -> Iterator[str | Table]:
    """Mechanisms of several articulations, and the table of pairs; numbers that all pairs share are told below it."""
    for members in content["mechanisms"]:
        line = f"Stepped as one mechanism: {', '.join(members)}"
        yield textwrap.fill(line, width(), subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    pairs = content["contact_pairs"]
    if not pairs:
        return
    columns = [Column(name, is_text=True) for name in ("collider", "touches", "state")]
    rows = [[f"{side['kind']} {side['path']}" for side in one["colliders"]] for one in pairs]
    for row, one in zip(rows, pairs):
        until = f" once broken: {', '.join(one['kept_apart_by'])}" if one["kept_apart_by"] else ""
        row.append(f"on{until}" if one["enabled"] else "off")
    shared = []
    for name in NUMBERS:
        word, unit = WORDS.get(name, words_of(name)), pairs[0]["units"][name].removeprefix("1")
        texts = [RIGID if name == "stiffness" and one[name] is None else number_text(one[name], name) for one in pairs]
        if len(set(texts)) == 1:
            shared.append(f"{word} {texts[0]} {unit if pairs[0][name] is not None else ''}".rstrip())
            continue
        columns.append(Column(word, unit))
        for row, text in zip(rows, texts):
            row.append(text)
    yield Table("Contact pairs", tuple(columns), tuple(map(tuple, rows)), keys=2)
    if shared:
        yield textwrap.fill(f"Contact pairs, all: {', '.join(shared)}", width(), subsequent_indent="  ")
