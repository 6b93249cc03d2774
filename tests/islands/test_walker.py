"""A walker on four-bar linkages with driven cranks: loops, drives and contacts, among many bodies and alone."""

import numpy as np
import pytest

from tests.contact_stages import BOUND, COLLIDER, ContactScene
from tests.contacts.motion import simulation
from tests.islands.crowds import crowd
from tests.tracks import body, pin

CRANK, LINK, APART, HEIGHT, SPEED = 0.1, 0.25, 0.2, 0.28, 6.0
"""Chebyshev's lambda linkage: crank, half of the coupler and rocker, distance of the pivots, their height [m], and
speed of the cranks [rad/s]."""


def meet(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where rods of length LINK from two places meet below these."""
    way = b - a
    length = np.linalg.norm(way)
    return a + 0.5 * way + np.sqrt(LINK**2 - 0.25 * length**2) * np.array([way[1], -way[0]]) / length


def walker() -> ContactScene:
    """A hull on two legs at each side, with a ball as each foot."""
    hull = f'def Cube "shape" {COLLIDER} {{\ndouble size = 2\nfloat3 xformOp:scale = (0.25, 0.1, 0.04)\n'
    prims = body(
        "hull", 4.0, 0.1, (0, 0, HEIGHT), hull + f'uniform token[] xformOpOrder = ["xformOp:scale"]\n{BOUND}\n}}\n', 0.0
    )
    drive = f"float drive:angular:physics:damping = {np.radians(20.0)}\n"
    drive += f"float drive:angular:physics:targetVelocity = {np.degrees(SPEED)}\n"
    for leg, (y, phase) in enumerate([(0.16, 0.0), (-0.16, np.pi), (0.22, np.pi), (-0.22, 0.0)]):
        pivot, other = np.array([0.0, HEIGHT]), np.array([APART, HEIGHT])
        end = pivot + CRANK * np.array([np.cos(phase), np.sin(phase)])
        middle = meet(end, other)
        foot = f'def Sphere "shape" {COLLIDER} {{\ndouble radius = 0.03\ndouble3 xformOp:translate = ({LINK}, 0, 0)\n'
        foot += f'uniform token[] xformOpOrder = ["xformOp:translate"]\n{BOUND}\n}}\n'
        bars = {"crank": (pivot, end, ""), "coupler": (end, 2.0 * middle - end, foot), "rocker": (other, middle, "")}
        for name, (a, b, shape) in bars.items():
            x, z = 0.5 * (a + b)
            prims += body(f"{name}{leg}", 0.1, 2e-3, (x, y, z), shape, 0.0, -np.arctan2(*(b - a)[::-1]))
        crank, half = (0.5 * CRANK, 0, 0), (0.5 * LINK, 0, 0)
        prims += pin(f"motor{leg}", ("hull", f"crank{leg}"), ((0, y, 0), (-0.5 * CRANK, 0, 0)), drive)
        prims += pin(f"knee{leg}", (f"crank{leg}", f"coupler{leg}"), (crank, (-LINK, 0, 0)))
        prims += pin(f"hip{leg}", ("hull", f"rocker{leg}"), ((APART, y, 0), (-0.5 * LINK, 0, 0)))
        prims += pin(f"close{leg}", (f"coupler{leg}", f"rocker{leg}"), ((0, 0, 0), half))
    return ContactScene(solids=[], friction=0.8, joints=prims)


@pytest.mark.parametrize("make", [crowd, simulation])
@pytest.mark.parametrize("rate, precision", [(60, "float32"), (240, "float64")])
def test_it_walks(make, rate, precision):
    """As far in two seconds among many bodies as alone, with its loops closed."""
    one = make(walker(), dt=1.0 / rate, precision=precision)
    found = one.record(3 * rate, quantities=("link_pose", "loop_error"))
    hull = [name.endswith("/hull") for name in found.link_names].index(True)
    place = found.link_pose[:, 0, hull, :3]
    assert place[-1, 0] - place[rate, 0] == pytest.approx(0.4, abs=0.04)
    assert np.ptp(place[rate:, 2]) < 0.04
    assert np.abs(found.loop_error).max() < 1e-5
