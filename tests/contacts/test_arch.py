"""Arches of wedges without mortar stand where they are thick enough, and what falls comes to rest.

A semicircular arch of equal wedges under its own weight stands where its thickness is at least 0.1075 of its radius and
friction is enough (Couplet 1730; Milankovitch 1907 for radial joints).
"""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import BOUND, COLLIDER, ContactScene
from tests.contacts.motion import PRECISIONS
from tests.usd.authoring import open_text

WEDGES, DEPTH = 13, 0.3
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def wedge(index: int, thickness: float) -> str:
    """A convex hull between two radii of an arch of radius 1 m."""
    angles, radii = np.pi * (index + np.arange(2)) / WEDGES, 1.0 + thickness * np.array([-0.5, 0.5])
    corners = np.array(
        [
            (r * np.cos(angle), y, r * np.sin(angle))
            for y in (-0.5 * DEPTH, 0.5 * DEPTH)
            for angle in angles
            for r in radii
        ]
    )
    middle = corners.mean(axis=0)
    points = ", ".join(f"({x!r}, {y!r}, {z!r})" for x, y, z in (corners - middle).tolist())
    x, y, z = middle.tolist()
    return (
        f'def Xform "wedge_{index}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{\n'
        f"float physics:mass = 10\ndouble3 xformOp:translate = ({x!r}, {y!r}, {z!r})\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
        f'def Mesh "shape" {COLLIDER} {{\nuniform token physics:approximation = "convexHull"\n'
        f"point3f[] points = [{points}]\nint[] faceVertexCounts = [{', '.join(['4'] * len(FACES))}]\n"
        f"int[] faceVertexIndices = [{', '.join(str(corner) for face in FACES for corner in face)}]\n{BOUND}\n}}\n}}\n"
    )


def arch(thickness: float, friction: float = 0.6, rate: int = 60, precision: str = "float64") -> wa.Simulation:
    """An arch of 1 m on the ground, in one mechanism."""
    joints = "".join(wedge(index, thickness) for index in range(WEDGES))
    stage = open_text(ContactScene(solids=[], friction=friction, joints=joints).usd)
    settings = wa.SolverSettings(dt=1.0 / rate, precision=precision, sleep_after=np.inf)
    return wa.Simulation(wa.read_stage(stage), settings=settings)


def speeds(one: wa.Simulation) -> np.ndarray:
    """Of the centres of all wedges [m/s], shape (WEDGES)."""
    return np.linalg.norm(one.state.link_velocity.numpy()[:, :3, 0], axis=1)


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_thick_arch_stands(precision, rate):
    """At rest to single precision, without a drift."""
    one = arch(0.2, rate=rate, precision=precision)
    start = one.state.link_pose.numpy()[:, :, 0].copy()
    one.step(3 * rate)
    assert speeds(one).max() < (1e-4 if precision == "float32" else 1e-6)
    assert np.abs(one.state.link_pose.numpy()[:, :, 0] - start).max() < 2e-3


@pytest.mark.parametrize("thickness, friction", [(0.09, 0.6), (0.2, 0.25)])
def test_what_falls_comes_to_rest(thickness, friction):
    """A thin arch, and a thick one of little friction; no wedge stays in another."""
    one = arch(thickness, friction)
    one.step(480)
    assert one.state.link_pose.numpy()[:, 2, 0].max() < 0.5
    assert speeds(one).max() < 1e-4
    assert min(contact.gap for contact in one.contacts()) > -1e-3
    assert one.failures() == []
