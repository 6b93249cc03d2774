"""Small stages authored as text."""

from __future__ import annotations

from pxr import Sdf, Usd

from warp_artic.description.diagnostic import Severity
from warp_artic.usd.read_stage import inspect_stage, read_stage

SI = 'metersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = "Z"'
SMALL_UNITS = 'metersPerUnit = 0.01\nkilogramsPerUnit = 0.001\nupAxis = "Y"'
"""Centimetres, grams, Y up."""


def open_text(text: str, header: str = SI) -> Usd.Stage:
    """The stage of a root layer with this content."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(f"#usda 1.0\n(\n{header}\n)\n{text}")
    return Usd.Stage.Open(layer)


def schemas(*names: str) -> str:
    """The metadata that applies schemas."""
    listed = ", ".join(f'"{name}"' for name in names)
    return f"(prepend apiSchemas = [{listed}])" if names else ""


def body(name: str, content: str = "", applied: tuple[str, ...] = (), mass: str | None = None, at=(0, 0, 0)) -> str:
    """A rigid body of mass 2 and inertia 0.1, 0.2, 0.25 unless told otherwise."""
    if mass is None:
        mass = "float physics:mass = 2\nfloat3 physics:diagonalInertia = (0.1, 0.2, 0.25)"
    place = f"double3 xformOp:translate = {tuple(at)}\n"
    order = (
        'uniform token[] xformOpOrder = ["xformOp:translate"]' if "xformOpOrder" not in content.split("def ")[0] else ""
    )
    return (
        f'def Xform "{name}" {schemas("PhysicsRigidBodyAPI", "PhysicsMassAPI", *applied)} {{\n'
        f"{mass}\n{place}{order}\n{content}\n}}\n"
    )


def joint(
    name: str, kind: str, body0: str = "", body1: str = "", content: str = "", applied: tuple[str, ...] = ()
) -> str:
    """A joint between two bodies given by path; an empty path is the world."""
    ends = "".join(f"rel physics:body{side} = <{path}>\n" for side, path in ((0, body0), (1, body1)) if path)
    return f'def Physics{kind}Joint "{name}" {schemas(*applied)} {{\n{ends}{content}\n}}\n'


def pendulum(
    content: str = "",
    kind: str = "Revolute",
    applied: tuple[str, ...] = (),
    header: str = SI,
    rod: str = "",
    rod_applied: tuple[str, ...] = (),
    rod_mass: str | None = None,
    more: str = "",
    world: str = "",
) -> Usd.Stage:
    """An articulation /World of /World/base, held to the world, and /World/rod on the joint /World/hinge."""
    return open_text(
        f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{world}\n'
        + body("base")
        + body("rod", rod, rod_applied, rod_mass)
        + joint("held", "Fixed", "", "/World/base")
        + joint("hinge", kind, "/World/base", "/World/rod", content, applied)
        + more
        + "\n}\n",
        header,
    )


def hinge_of(stage: Usd.Stage):
    """The joint /World/hinge of a stage."""
    return joint_of(read_stage(stage), "/World/hinge")


def joint_of(scene, path: str):
    """A joint by path."""
    return next(one for tree in scene.articulations for one in tree.joints if one.path == path)


def link_of(scene, path: str):
    """A link by path."""
    return next(one for tree in scene.articulations for one in tree.links if one.path == path)


def errors_of(stage) -> list[str]:
    """Errors as `path: message`."""
    return _of(stage, Severity.ERROR)


def warnings_of(stage) -> list[str]:
    """Warnings as `path: message`."""
    return _of(stage, Severity.WARNING)


def notes_of(stage) -> list[str]:
    """Notes as `path: message`."""
    return _of(stage, Severity.NOTE)


def _of(stage, severity: Severity) -> list[str]:
    return [f"{one.path}: {one.message}" for one in inspect_stage(stage).diagnostics if one.severity is severity]
