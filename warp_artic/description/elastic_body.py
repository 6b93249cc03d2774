"""Elastic bodies: meshes of triangles or tetrahedra of a material, some nodes held, some carried by links."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from warp_artic.description.obstacle import Obstacle
from warp_artic.description.pose import Pose


class ElasticLaw(enum.Enum):
    """The constitutive law; values are the tokens of USD."""

    NEO_HOOKEAN = "neoHookean"
    """Stable neo-Hookean: stays defined where elements are flat or inverted."""
    COROTATED = "corotated"
    """Linear elasticity in axes that turn with the element."""


class PlaneState(enum.Enum):
    """Plane strain or plane stress; values are the tokens of USD."""

    STRAIN = "strain"
    """It cannot deform there."""
    STRESS = "stress"
    """No stress acts there."""


@dataclass(frozen=True, kw_only=True)
class ElasticMaterial:
    """An isotropic elastic material with Rayleigh damping."""

    law: ElasticLaw = ElasticLaw.NEO_HOOKEAN
    young_modulus: float
    """Of small deformations [Pa]."""
    poisson_ratio: float
    """Of small deformations, in (-1, 0.5)."""
    density: float
    """[kg/m^3]"""
    mass_damping: float = 0.0
    """Rayleigh's factor of the mass matrix [1/s]."""
    stiffness_damping: float = 0.0
    """Rayleigh's factor of the stiffness matrix [s]."""


@dataclass(frozen=True, kw_only=True)
class NodeAttachment:
    """A node that stays at a point of a link, and pulls the link."""

    node: int
    link: str
    """Path of the link."""
    position: tuple[float, float, float]
    """In the link frame [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticBody:
    """A mesh of triangles in a plane (dim 2) or of tetrahedra in space (dim 3).

    Nodes of triangles move in the plane z = 0 of the frame of the body only: what acts on them across it (gravity, a
    point of a link out of the plane) counts by its part in the plane.
    """

    name: str
    """Path of the mesh."""
    points: np.ndarray
    """Rest positions of the nodes in the frame of the body, shape (N, dim) [m]."""
    elements: np.ndarray
    """Nodes of each element, shape (M, dim + 1); areas and volumes at rest are positive."""
    material: ElasticMaterial
    element_moduli: np.ndarray | None = None
    """Young's modulus of each element [Pa], shape (M); None: that of the material."""
    element_densities: np.ndarray | None = None
    """Density of each element [kg/m^3], shape (M); None: that of the material."""
    pose: Pose = Pose()
    """The frame of the body in the world; it does not move."""
    plane_state: PlaneState = PlaneState.STRAIN
    """Of triangles."""
    thickness: float = 1.0
    """Of triangles [m]."""
    start_points: np.ndarray | None = None
    """Positions at the start, shape (N, dim) [m]; None: at rest."""
    start_velocities: np.ndarray | None = None
    """Velocities at the start, shape (N, dim) [m/s]; None: zero."""
    pinned: tuple[int, ...] = ()
    """Nodes that stay where they start."""
    attachments: tuple[NodeAttachment, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    """Shapes that its nodes do not enter, but pinned and attached ones."""

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self.points.shape[1]

    @property
    def moduli(self) -> np.ndarray:
        """Young's modulus of each element [Pa], shape (M)."""
        return _of_elements(self, self.element_moduli, self.material.young_modulus)

    @property
    def densities(self) -> np.ndarray:
        """Density of each element [kg/m^3], shape (M)."""
        return _of_elements(self, self.element_densities, self.material.density)


def _of_elements(body: ElasticBody, values: np.ndarray | None, value: float) -> np.ndarray:
    return np.full(len(body.elements), value) if values is None else np.asarray(values, float)
