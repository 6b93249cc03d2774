"""Elastic bodies on a device: energy, forces and stiffness of their elements, added up over nodes.

An element has the deformation gradient F = I + G with G = sum of (u_a - u_0) outer grad_a over its nodes but the first,
of displacements u = x - X, so that small displacements lose no digits. Its energy is w psi(G) with the volume w at
rest, its forces are -w P grad_a, and block (a, b) of its stiffness is w K of `materials`, or, in the axes of singular
values, with h = V^T grad,

    w U M U^T,  M_ii = D_ii h_ai h_bi + sum over j of A_ij h_aj h_bj,  M_ij = D_ij h_ai h_bj + B_ij h_aj h_bi

Damping acts on the rate of Green's strain with the moduli of small strain: the force of the matrix that Rayleigh's
factor gives at rest, turned with the element, so that it never slows a rigid motion. It has a potential where the axes
F* that turn it are given, those of the points `ahead`:

    rate w (mu |E|^2 + lambda/2 tr(E)^2),  E = sym(F*^T (F - F_start))

How several elements are computed at once is in `meshes.element_kernels`.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.math.recorded import RecordedLaunches
from warp_artic.meshes.block_values import BlockValues, block_values
from warp_artic.meshes.element_access import element_access, packs_of
from warp_artic.meshes.element_kernels import elastic_kernels
from warp_artic.meshes.element_numbers import element_numbers
from warp_artic.meshes.element_stiffness import elements_struct
from warp_artic.meshes.materials import LAWS, lame, moduli
from warp_artic.meshes.pattern import block_pattern
from warp_artic.meshes.types import HostViews, Material, is_wide, lanes_of, mesh_types

LARGEST_GROUP = 2**20
"""Bytes of the matrices of environments side by side, at most: what is in no cache is read as fast one by one."""


@dataclass(frozen=True, eq=False)
class Damping:
    """The potential of damping, for the packs of elements: see the head of this file."""

    rate: float
    G_start: wp.array
    """Displacement gradients at the start, shape (groups of environments, P)."""
    F_ahead: wp.array
    """Deformation gradients ahead, shape (groups, P)."""


class ElasticMesh:
    """The elements of a body in some environments, on a device.

    Args:
        body: What they are of.
        environments: Number of independent copies.
        precision: "float32" or "float64".
        device: "cpu" or "cuda:N".
        couplings: Pairs of nodes that something else couples, as tendons do, shape (P, 2): the matrix has their blocks.
    """

    def __init__(
        self,
        body: ElasticBody,
        environments: int = 1,
        precision: str = "float64",
        device: str = "cpu",
        couplings=(),
    ):
        self.body = body
        self.environments = environments
        self.precision = precision
        self.device = device
        self.types = mesh_types(body.dim, precision)
        self.lanes = lanes_of(device)
        self.launches = RecordedLaunches(device)
        self.host = HostViews()
        nodes = np.asarray(body.elements, int)
        points = np.asarray(body.points, float)
        pairs = [nodes[:, [a, b]] for a in range(body.dim + 1) for b in range(a)]
        self.pattern = block_pattern(len(points), np.concatenate([*pairs, np.asarray(couplings, int).reshape(-1, 2)]))
        self.volume = shape_gradients(body)[1]
        self.node_mass = node_masses(body)
        wide, numbers = is_wide(device), element_numbers(self.types, is_wide(device))
        self.in_lanes = self._pays_in_lanes()
        """Whether environments are side by side in lanes."""
        self.together = numbers.lanes if self.in_lanes else 1
        """Environments of a group, which are computed at once, one after the other from the first on."""
        self.groups = -(-environments // self.together)
        self._access = element_access(self.types, wide, self.in_lanes)
        if wide:
            packs = packs_of(nodes, numbers.lanes)
            places = np.zeros(len(packs), int)
            if self.in_lanes:
                _, places = np.nonzero(packs >= 0)
                packs = packs[packs >= 0][:, None]
            colors = [0, len(packs)]
        else:
            order, colors = color_elements(nodes)
            packs, places = order[:, None], np.zeros_like(order)
        self.elements = self._upload(packs, places, colors)
        rows = (self.groups, len(points)) if self.in_lanes else (0, 0)
        self._places, self._pulls = (wp.zeros(rows, dtype=self._access.group_vec, device=device) for _ in range(2))
        """Of environments side by side: points and forces."""
        self.everywhere = wp.ones(environments, dtype=int, device=device)
        """Asks for all environments."""
        self._no_points = wp.zeros((0, 0), dtype=self.types.vec, device=device)
        self._no_gradients = wp.zeros((0, 0), dtype=numbers.mat, device=device)
        self._no_values = wp.zeros((0, 0), dtype=self._access.group_mat, device=device)
        self._no_energy = wp.zeros(0, dtype=self.types.real, device=device)
        self._differentiate, self._assemble = elastic_kernels(self.types, wide, self.in_lanes)

    def array(self, values) -> wp.array:
        """Positions or other vectors of nodes on the device, from shape (N, dim) or (environments, N, dim)."""
        table = np.broadcast_to(values, (self.environments, *np.shape(self.body.points)))
        return wp.array(np.ascontiguousarray(table), dtype=self.types.vec, device=self.device)

    def matrix(self) -> BlockValues:
        """Values of a matrix of `pattern`, zero."""
        mat = self._access.group_mat
        return block_values(self.types, self.environments, self.pattern.count, mat, self.device)

    def energy(self, points: wp.array) -> wp.array:
        """Elastic energy of each environment [J]."""
        energy = wp.zeros(self.environments, dtype=self.types.real, device=self.device)
        self.fill(points, energy=energy)
        return energy

    def damping(self, rate: float) -> Damping:
        """A potential of damping of some rate; `follow` says where it is."""
        packs = self.elements.volume.shape[0]
        matrix = self._no_gradients.dtype
        G_start, F_ahead = (wp.zeros((self.groups, packs), dtype=matrix, device=self.device) for _ in range(2))
        return Damping(rate, G_start, F_ahead)

    def follow(self, damping: Damping, start: wp.array, ahead: wp.array) -> None:
        """Tell a potential of damping the points at the start and those ahead, shape (environments, N)."""
        outputs = damping.G_start, damping.F_ahead
        tables = (self._places, self._pulls) if self.in_lanes else (start, ahead)
        packs = self.elements.volume.shape[0]
        threads = self._threads(packs)
        inputs = [self.elements, start, ahead, self.environments, packs, threads, *tables, *outputs]
        self.launches.launch(self._differentiate, (self.groups, threads), inputs)

    def launch_over_nodes(self, kernel: wp.Kernel, inputs: list) -> None:
        """Launch a kernel for environments and threads, each of which takes every so many of the nodes: the last
        argument says how many. On a CPU one takes all."""
        threads = self._threads(len(self.body.points))
        self.launches.launch(kernel, (self.environments, threads), [*inputs, threads])

    def _threads(self, items: int) -> int:
        """Threads for so many items of an environment."""
        return 1 if self.lanes == 1 else items

    def fill(
        self,
        points: wp.array,
        *,
        energy: wp.array | None = None,
        forces: wp.array | None = None,
        values: BlockValues | None = None,
        asked: wp.array | None = None,
        projected: wp.array | None = None,
        damping: Damping | None = None,
    ) -> None:
        """Set those that are given of the following to what elements have, in one pass.

        Args:
            points: Positions of nodes, shape (environments, N).
            energy: Shape (environments).
            forces: On nodes, -dE/dx, shape (environments, N).
            values: The stiffness, of a matrix of `pattern`.
            asked: Environments that are meant have a positive number, shape (environments); all by default.
            projected: Where the stiffness of elements is projected to the positive semi-definite: a positive number,
                shape (environments); everywhere by default.
            damping: The potential of damping; without it by default.
        """
        rate = 0.0 if damping is None else damping.rate
        known = (self._no_gradients, self._no_gradients) if damping is None else (damping.G_start, damping.F_ahead)
        asked = self.everywhere if asked is None else asked
        projected = self.everywhere if projected is None else projected
        energy = self._no_energy if energy is None else energy
        forces = self._no_points if forces is None else forces
        places, pulls = (self._places, self._pulls) if self.in_lanes else (points, forces)
        outputs = energy, forces, self._no_values if values is None else values.blocks
        inputs = [self.elements, points, *known, self.types.real(rate), asked, projected]
        inputs += [self.environments, self.lanes, places, pulls]
        self.launches.launch(self._assemble, self.groups * self.lanes, [*inputs, *outputs], self.lanes)

    def _pays_in_lanes(self) -> bool:
        """Whether there are environments enough to be computed side by side, and matrices small enough."""
        if not is_wide(self.device):
            return False
        lanes = element_numbers(self.types, True).lanes
        size = self.pattern.count * self.types.dim**2 * wp.types.type_size_in_bytes(self.types.real)
        return 2 * self.environments >= lanes and lanes * size <= LARGEST_GROUP

    def _array(self, values, dtype) -> wp.array:
        return wp.array(values, dtype=dtype, device=self.device)

    def _upload(self, packs: np.ndarray, places: np.ndarray, colors) -> object:
        """The struct of elements in packs, -1 where there is none."""
        types, body, access = self.types, self.body, self._access
        elements = elements_struct(types, is_wide(self.device), self.in_lanes)()
        elements.material = Material()
        elements.material.law = LAWS[body.material.law]
        elements.material.mu, elements.material.lambda_ = moduli(body.material, body.dim, body.plane_state)
        elements.damping_mu, elements.damping_lambda = lame(body.material, body.dim, body.plane_state)
        is_there = packs >= 0
        filled = np.where(is_there, packs, packs[:, :1])

        def packed(values: np.ndarray, dtype: type, *shape: int) -> wp.array:
            """Numbers of the elements of a pack side by side, in packs of some shape of vectors or matrices."""
            values = np.moveaxis(values, 1, -1).reshape(-1, *shape, *getattr(dtype, "_shape_", ()))
            return self._array(np.ascontiguousarray(values), dtype)

        nodes, corners = np.asarray(body.elements, int)[filled], types.dim + 1
        gradients, volume = shape_gradients(body)
        # All that elements do grows with their Young's modulus, damping too.
        volume = volume * (body.moduli / body.material.young_modulus)
        elements.rest = packed(np.asarray(body.points, float)[nodes], access.vec, corners)
        elements.gradients = packed(gradients[filled], access.mat)
        elements.volume = packed(np.where(is_there, volume[filled], 0.0), access.real)
        nodes = nodes.reshape(-1, corners)
        elements.nodes = self._array(nodes, int)
        slots = self.pattern.slots(np.repeat(nodes, corners, axis=1), np.tile(nodes, corners))
        elements.slots = self._array(slots, int)
        elements.counts = self._array(is_there.sum(axis=1), int)
        elements.places = self._array(places, int)
        elements.color_count = len(colors) - 1
        elements.colors = self._array(colors, int)
        return elements


def shape_gradients(body: ElasticBody) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the shape functions of nodes but the first, shape (M, dim, dim), and volumes, shape (M) [m^3]."""
    points, elements = np.asarray(body.points, float), np.asarray(body.elements, int)
    edges = points[elements[:, 1:]] - points[elements[:, :1]]
    depth = body.thickness / 2.0 if body.dim == 2 else 1.0 / 6.0
    return np.linalg.inv(edges).transpose(0, 2, 1), np.linalg.det(edges) * depth


def node_stiffness(body: ElasticBody) -> np.ndarray:
    """About the force on each node that a small displacement of it makes at rest [N/m], shape (N)."""
    gradients, volume = shape_gradients(body)
    gradients = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
    mu, lambda_ = lame(body.material, body.dim, body.plane_state)
    volume = volume * (body.moduli / body.material.young_modulus)
    of_corner = (2.0 * mu + lambda_) * volume[:, None] * np.square(gradients).sum(axis=2)
    return np.bincount(np.asarray(body.elements, int).ravel(), of_corner.ravel(), len(body.points))


def node_masses(body: ElasticBody) -> np.ndarray:
    """Mass of each node [kg]: equal shares of its elements.

    A lumped mass is of the same order as a consistent one with these elements; momentum and kinetic energy are sums
    over nodes, and a sudden load does not move its neighbours backwards.
    """
    elements = np.asarray(body.elements, int)
    mass = shape_gradients(body)[1] * body.densities
    return np.bincount(elements.ravel(), np.repeat(mass / elements.shape[1], elements.shape[1]), len(body.points))


def color_elements(elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of elements in which colours follow each other, and where each begins; one has no node twice."""
    taken = np.zeros(elements.max() + 1, np.int64)
    colors = np.zeros(len(elements), int)
    for element, nodes in enumerate(elements):
        used = int(np.bitwise_or.reduce(taken[nodes]))
        colors[element] = (~used & (used + 1)).bit_length() - 1
        taken[nodes] |= 1 << int(colors[element])
    order = np.argsort(colors, kind="stable")
    return order, np.searchsorted(colors[order], np.arange(colors.max() + 2))
