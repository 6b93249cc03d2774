"""A hanging chain of any number of links, as a stage and as its MJCF twin.

Rods of 0.1 m and 0.2 kg start in a straight line from the wall. They are joined by damped hinges with armature, whose
axes are horizontal and vertical in turn but for a tilt.
"""

from __future__ import annotations

import math
from pathlib import Path

LENGTH, MASS, RADIUS, HEIGHT = 0.1, 0.2, 0.02, 5.0
ARMATURE, DAMPING = 0.05, 0.5
"""Enough for explicit steps of 1/240 s to be stable, and for no whip to crack [kg m^2, N m s/rad]."""
INERTIA = (0.5 * MASS * RADIUS**2, *2 * (MASS * (3 * RADIUS**2 + LENGTH**2) / 12,))
TILT = math.cos(0.25), math.sin(0.25)
"""Of the whole chain, half a radian about itself: the first two parts of a quaternion wxyz."""

STAGE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)

def PhysicsScene "scene"
{{
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 9.81
}}

def Xform "World" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.01, 0.01, 0.01)
    }}
    def PhysicsFixedJoint "wall"
    {{
        rel physics:body1 = </World/base>
    }}{links}
}}
"""
LINK = """
    def Xform "l{number}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = {mass}
        point3f physics:centerOfMass = ({half}, 0, 0)
        float3 physics:diagonalInertia = {inertia}
        quatf physics:principalAxes = (1, 0, 0, 0)
        double3 xformOp:translate = ({start}, 0, {height})
        quatd xformOp:orient = ({tilt[0]}, {tilt[1]}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }}
    def PhysicsRevoluteJoint "j_l{number}" (prepend apiSchemas = ["PhysxJointAxisAPI:angular"])
    {{
        rel physics:body0 = </World/{parent}>
        rel physics:body1 = </World/l{number}>
        point3f physics:localPos0 = {place}
        quatf physics:localRot0 = {turn}
        uniform token physics:axis = "{axis}"
        float physxJointAxis:angular:armature = {armature}
        float physxJointAxis:angular:viscousFrictionCoefficient = {damping}
    }}"""

TWIN = """<mujoco model="chain{count}"><compiler angle="radian" autolimits="true"/>
<option timestep="0.004166666666666667" gravity="0 0 -9.81" integrator="implicitfast"><flag contact="disable"/></option>
<worldbody>
{bodies}
</worldbody>
</mujoco>
"""
BODY = """<body name="l{number}" pos="{place}" quat="{turn}">
<joint name="j_l{number}" type="hinge" axis="{axis}" armature="{armature}" damping="{damping}"/>
<inertial pos="{half} 0 0" mass="{mass}" diaginertia="{inertia}"/>"""


def write_chain(links: int, folder: Path) -> tuple[Path, Path]:
    """Write a chain; the stage and the MJCF file."""
    stage, twin = folder / f"chain{links}.usda", folder / f"chain{links}.xml"
    stage.write_text(STAGE.format(links="".join(_link(number) for number in range(links))), encoding="utf-8")
    bodies = "\n".join(_body(number) for number in range(links)) + "</body>" * links
    twin.write_text(TWIN.format(count=links, bodies=bodies), encoding="utf-8")
    return stage, twin


def _link(number: int) -> str:
    first = number == 0
    return LINK.format(
        number=number,
        mass=MASS,
        half=0.5 * LENGTH,
        inertia=INERTIA,
        start=LENGTH * number,
        height=HEIGHT,
        tilt=TILT,
        parent="base" if first else f"l{number - 1}",
        place=(0, 0, HEIGHT) if first else (LENGTH, 0, 0),
        turn=(*TILT, 0, 0) if first else (1, 0, 0, 0),
        axis="YZ"[number % 2],
        armature=ARMATURE,
        damping=math.radians(DAMPING),
    )


def _body(number: int) -> str:
    return BODY.format(
        number=number,
        place=f"{LENGTH} 0 0" if number else f"0 0 {HEIGHT}",
        turn="1 0 0 0" if number else f"{TILT[0]} {TILT[1]} 0 0",
        axis=("0 1 0", "0 0 1")[number % 2],
        armature=ARMATURE,
        damping=DAMPING,
        half=0.5 * LENGTH,
        mass=MASS,
        inertia=" ".join(map(str, INERTIA)),
    )
