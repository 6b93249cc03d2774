"""Small mechanisms for tests of couplings."""

from __future__ import annotations

from tests.usd.authoring import SI, body, joint, open_text, schemas


def chain(*joints: tuple, header: str = SI, more: str = "", links: dict[int, str] | None = None, outside: str = ""):
    """Links /World/l0 ..., 1 unit apart, in a chain of joints /World/j1 ..., given by kind, schemas and content."""
    links = links or {}
    text = joint("held", "Fixed", "", "/World/l0") + body("l0", links.get(0, ""))
    for number, (kind, applied, content) in enumerate(joints, 1):
        text += body(f"l{number}", links.get(number, ""), at=(number, 0, 0))
        content = f"point3f physics:localPos0 = (1, 0, 0)\n{content}"
        text += joint(f"j{number}", kind, f"/World/l{number - 1}", f"/World/l{number}", content, applied)
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n{outside}', header)


def prim(kind: str, name: str, content: str = "") -> str:
    """A prim of one of our types."""
    return f'def WarpArtic{kind} "{name}" {{\n{content}\n}}\n'


HINGE = ("Revolute", (), "")
SLIDE = ("Prismatic", (), "")
BALL = ("Spherical", (), "")
