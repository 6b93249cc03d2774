"""Vehicles on tracks, closed chains of plates around two wheels."""

import numpy as np

from tests.contact_stages import BOUND, COLLIDER, ContactScene, turn

RADIUS, HALF, PLATE = 0.3, 0.5, 0.02
"""Of the wheels, half of the distance of their axles, and half of the thickness of a plate [m]."""
START, TURNS = 3.0, 6.0
"""Speed at the start of what is not driven [m/s], and that of wheels that are [rad/s]."""


def body(name: str, mass: float, inertia: float, place, shape: str, speed: float, angle: float = 0.0) -> str:
    """A body that starts along x."""
    x, y, z, w = turn((0, 1, 0), angle)
    return (
        f'def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{\n'
        f"float physics:mass = {mass}\nfloat3 physics:diagonalInertia = ({inertia}, {inertia}, {inertia})\n"
        f"vector3f physics:velocity = ({speed}, 0, 0)\n"
        f"double3 xformOp:translate = {tuple(map(float, place))}\nquatd xformOp:orient = ({w}, {x}, {y}, {z})\n"
        f'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n{shape}}}\n'
    )


def pin(name: str, bodies, places, drive: str = "") -> str:
    """A revolute joint about y; without a body 0 or 1, of the world."""
    schemas = '(prepend apiSchemas = ["PhysicsDriveAPI:angular"])' if drive else ""
    text = f'def PhysicsRevoluteJoint "{name}" {schemas} {{\nuniform token physics:axis = "Y"\n{drive}'
    for side, (one, place) in enumerate(zip(bodies, places)):
        x, y, z = map(float, place)
        text += f"rel physics:body{side} = </World/{one}>\n" * bool(one)
        text += f"point3f physics:localPos{side} = ({x}, {y}, {z})\n"
    return text + "}\n"


def on_path(radius: float, way: float, height: float) -> np.ndarray:
    """A place on the path around two circles, from the left end of its upper half on."""
    way %= 2.0 * np.pi * radius + 4.0 * HALF
    x, side = way - HALF, 1.0
    if way > 2.0 * HALF + np.pi * radius:
        x, side = way - 3.0 * HALF - np.pi * radius, -1.0
    place = np.array([min(x, HALF), 0.0, radius])
    if x > HALF:
        angle = (x - HALF) / radius
        place = np.array([HALF + radius * np.sin(angle), 0.0, radius * np.cos(angle)])
    return side * place + (0.0, 0.0, height)


def track(slack: float, is_driven: bool = False, count: int = 20) -> ContactScene:
    """A hull on two wheels, and on the ground a track around them, with pins on a path `slack` outside of where plates
    would touch if that were no polygon; driven at the rear, or started along x."""
    speed = 0.0 if is_driven else START
    drive = f"float drive:angular:physics:damping = {np.radians(500.0)}\n"
    drive += f"float drive:angular:physics:targetVelocity = {np.degrees(TURNS)}\n"
    radius = RADIUS + PLATE + slack
    height = radius + PLATE + 0.02
    length = 2.0 * np.pi * radius + 4.0 * HALF
    pins = [on_path(radius, length * k / count, height) for k in range(count)]
    prims = body("hull", 100.0, 10.0, (0, 0, height), "", speed)
    wheel = f'def Cylinder "shape" {COLLIDER} {{\nuniform token axis = "Y"\n'
    wheel += f"double radius = {RADIUS}\ndouble height = 0.3\n{BOUND}\n}}\n"
    for side, x in enumerate((-HALF, HALF)):
        prims += body(f"wheel{side}", 10.0, 0.5, (x, 0, height), wheel, speed)
        prims += pin(f"axle{side}", ("hull", f"wheel{side}"), ((x, 0, 0), (0, 0, 0)), drive * (is_driven and side == 0))
    halves = []
    for k in range(count):
        along = pins[(k + 1) % count] - pins[k]
        half = 0.5 * np.linalg.norm(along)
        halves.append(half)
        shape = (
            f'def Cube "shape" {COLLIDER} {{\ndouble size = 2\nfloat3 xformOp:scale = ({0.8 * half}, 0.2, {PLATE})\n'
            f'uniform token[] xformOpOrder = ["xformOp:scale"]\n{BOUND}\n}}\n'
        )
        prims += body(f"plate{k}", 3.0, 0.03, pins[k] + 0.5 * along, shape, speed, -np.arctan2(along[2], along[0]))
    for k in range(count):
        after = (k + 1) % count
        prims += pin(f"pin{k}", (f"plate{k}", f"plate{after}"), ((halves[k], 0, 0), (-halves[after], 0, 0)))
    return ContactScene(solids=[], friction=0.8, joints=prims)
