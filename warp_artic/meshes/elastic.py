"""Elastic bodies on a device: energy, forces and stiffness of their elements, added up over nodes.

An element has the deformation gradient F = I + G with G = sum of (u_a - u_0) outer grad_a over its nodes but the first,
of displacements u = x - X, so that small displacements lose no digits. Its energy is w psi(G) with the volume w at
rest, its forces are -w P grad_a, and block (a, b) of its stiffness is, with h = V^T grad and `materials`,

    w U M U^T,  M_ii = D_ii h_ai h_bi + sum over j of A_ij h_aj h_bj,  M_ij = D_ij h_ai h_bj + B_ij h_aj h_bi

Damping acts on the rate of Green's strain with the moduli of small strain: the force of the matrix that Rayleigh's
factor gives at rest, turned with the element, so that it never slows a rigid motion. It has a potential where the axes
F* that turn it are given, those of the points `ahead`:

    rate w (mu |E|^2 + lambda/2 tr(E)^2),  E = sym(F*^T (F - F_start))

One block of threads has one environment. Its threads take the elements of one colour at a time, which share no nodes,
and add to forces and to the matrix without atomics: results do not depend on their order. On a CPU the block is one
thread, and one colour has all elements.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.math.recorded import RecordedLaunches
from warp_artic.meshes.materials import COROTATED, LAWS, Material, lame, material_functions, moduli
from warp_artic.meshes.pattern import block_pattern
from warp_artic.meshes.signed_svd import signed_svd_for
from warp_artic.meshes.types import OPTIONS, MeshTypes, lanes_of, mesh_types


@cache
def elements_struct(types: MeshTypes):
    """The struct of the elements of a mesh."""
    Real, Vec, Mat = types.real, types.vec, types.mat

    @wp.struct
    class Elements:
        material: Material
        damping_mu: Real
        """Lame's moduli, for damping."""
        damping_lambda: Real
        rest: wp.array(dtype=Vec)
        """Rest positions of nodes, shape (N)."""
        nodes: wp.array2d(dtype=int)
        """Shape (M, dim + 1)."""
        gradients: wp.array(dtype=Mat)
        """Rows are the gradients of the shape functions of the nodes but the first, shape (M)."""
        volume: wp.array(dtype=Real)
        """At rest, with the thickness, shape (M)."""
        slots: wp.array2d(dtype=int)
        """Of the blocks in the matrix, row by row, shape (M, (dim + 1)^2)."""
        colors: wp.array(dtype=int)
        """Where the elements of each colour begin, and their count."""

    return Elements


@cache
def elastic_kernels(types: MeshTypes):
    """The kernels `clear` and `assemble`."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    corners = dim + 1
    Elements = elements_struct(types)
    functions = material_functions(types)
    strain, density = functions.strain, functions.energy
    stress, spectrum = functions.stress, functions.spectrum
    signed_svd = signed_svd_for(types)

    @wp.func
    def displacement_gradient(elements: Elements, points: wp.array2d(dtype=Vec), env: int, element: int):
        first = elements.nodes[element, 0]
        gradients = elements.gradients[element]
        u_0 = points[env, first] - elements.rest[first]
        G = Mat()
        for a in range(dim):
            node = elements.nodes[element, a + 1]
            G += wp.outer(points[env, node] - elements.rest[node] - u_0, gradients[a])
        return G

    @wp.func
    def strain_since(ahead: Mat, G: Mat, start: Mat):
        """sym(F*^T (F - F_start))."""
        product = wp.transpose(wp.identity(n=dim, dtype=Real) + ahead) * (G - start)
        return Real(0.5) * (product + wp.transpose(product))

    @wp.func
    def viscous(elements: Elements, E: Mat):
        trace = wp.trace(E)
        return elements.damping_mu * wp.ddot(E, E) + Real(0.5) * elements.damping_lambda * trace * trace

    @wp.kernel(**OPTIONS)
    def clear(
        asked: wp.array(dtype=int),
        lanes: int,
        forces: wp.array2d(dtype=Vec),
        values: wp.array2d(dtype=Mat),
    ):
        thread = wp.tid()
        env = thread // lanes
        if asked[env] > 0:
            if forces.shape[0] > 0:
                for node in range(thread % lanes, forces.shape[1], lanes):
                    forces[env, node] = Vec()
            if values.shape[0] > 0:
                for slot in range(thread % lanes, values.shape[1], lanes):
                    values[env, slot] = Mat()

    @wp.kernel(**OPTIONS)
    def assemble(
        elements: Elements,
        points: wp.array2d(dtype=Vec),
        start: wp.array2d(dtype=Vec),
        ahead: wp.array2d(dtype=Vec),
        rate: Real,
        asked: wp.array(dtype=int),
        projected: wp.array(dtype=int),
        lanes: int,
        energy: wp.array(dtype=Real),
        forces: wp.array2d(dtype=Vec),
        values: wp.array2d(dtype=Mat),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        total = Real(0.0)
        one = wp.identity(n=dim, dtype=Real)
        for color in range(elements.colors.shape[0] - 1):
            if asked[env] > 0:
                for element in range(elements.colors[color] + lane, elements.colors[color + 1], lanes):
                    G = displacement_gradient(elements, points, env, element)
                    gradients = elements.gradients[element]
                    volume = elements.volume[element]
                    U = Mat()
                    V = Mat()
                    s = Vec()
                    if elements.material.law == COROTATED or values.shape[0] > 0:
                        U, s, V = signed_svd(one + G)
                    past = Mat()
                    F_ahead = Mat()
                    if rate > Real(0.0):
                        past = displacement_gradient(elements, start, env, element)
                        F_ahead = one + displacement_gradient(elements, ahead, env, element)
                    X = Mat()
                    if elements.material.law == COROTATED:
                        X = strain(G, s, V)
                    if energy.shape[0] > 0:
                        psi = density(elements.material, G, X)
                        if rate > Real(0.0):
                            psi += rate * viscous(elements, strain_since(F_ahead - one, G, past))
                        total += volume * psi
                    if forces.shape[0] > 0:
                        P = stress(elements.material, G, X, U, V)
                        if rate > Real(0.0):
                            E = strain_since(F_ahead - one, G, past)
                            S = Real(2.0) * elements.damping_mu * E + elements.damping_lambda * wp.trace(E) * one
                            P += rate * (F_ahead * S)
                        rest = Vec()
                        for a in range(dim):
                            force = -volume * (P * gradients[a])
                            node = elements.nodes[element, a + 1]
                            forces[env, node] = forces[env, node] + force
                            rest -= force
                        node = elements.nodes[element, 0]
                        forces[env, node] = forces[env, node] + rest
                    if values.shape[0] > 0:
                        D, A, B = spectrum(elements.material, s, projected[env] > 0)
                        turned = gradients * V
                        Ut = wp.transpose(U)
                        corner = Mat()
                        for a in range(dim):
                            row = Mat()
                            for b in range(dim):
                                M = Mat()
                                for i in range(dim):
                                    M[i, i] = D[i, i] * turned[a, i] * turned[b, i]
                                    for j in range(dim):
                                        if j != i:
                                            M[i, i] += A[i, j] * turned[a, j] * turned[b, j]
                                            M[i, j] = (
                                                D[i, j] * turned[a, i] * turned[b, j]
                                                + B[i, j] * turned[a, j] * turned[b, i]
                                            )
                                block = volume * (U * M * Ut)
                                if rate > Real(0.0):
                                    p = F_ahead * gradients[a]
                                    q = F_ahead * gradients[b]
                                    across = wp.dot(gradients[a], gradients[b]) * (F_ahead * wp.transpose(F_ahead))
                                    block += (volume * rate) * (
                                        elements.damping_mu * (across + wp.outer(q, p))
                                        + elements.damping_lambda * wp.outer(p, q)
                                    )
                                row += block
                                slot = elements.slots[element, (a + 1) * corners + b + 1]
                                values[env, slot] = values[env, slot] + block
                            slot = elements.slots[element, (a + 1) * corners]
                            values[env, slot] = values[env, slot] - row
                            slot = elements.slots[element, a + 1]
                            values[env, slot] = values[env, slot] - wp.transpose(row)
                            corner += row
                        slot = elements.slots[element, 0]
                        values[env, slot] = values[env, slot] + corner
            # The block waits here for all of its threads.
            wp.tile_sum(wp.tile(0))
        total = wp.tile_extract(wp.tile_sum(wp.tile(total)), 0)
        if asked[env] > 0 and lane == 0 and energy.shape[0] > 0:
            energy[env] = energy[env] + total

    return clear, assemble


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
        nodes = np.asarray(body.elements, int)
        points = np.asarray(body.points, float)
        pairs = [nodes[:, [a, b]] for a in range(body.dim + 1) for b in range(a)]
        self.pattern = block_pattern(len(points), np.concatenate([*pairs, np.asarray(couplings, int).reshape(-1, 2)]))
        gradients, volume = shape_gradients(body)
        self.volume = volume
        self.node_mass = node_masses(body)
        order, colors = (np.arange(len(nodes)), [0, len(nodes)]) if self.lanes == 1 else color_elements(nodes)
        corners = body.dim + 1
        slots = self.pattern.slots(np.repeat(nodes, corners, axis=1), np.tile(nodes, corners))
        self.elements = self._upload(points, nodes[order], gradients[order], volume[order], slots[order], colors)
        self.everywhere = wp.ones(environments, dtype=int, device=device)
        """Asks for all environments."""
        self._no_points = wp.zeros((0, 0), dtype=self.types.vec, device=device)
        self._no_values = wp.zeros((0, 0), dtype=self.types.mat, device=device)
        self._no_energy = wp.zeros(0, dtype=self.types.real, device=device)
        self._clear, self._assemble = elastic_kernels(self.types)

    def array(self, values) -> wp.array:
        """Positions or other vectors of nodes on the device, from shape (N, dim) or (environments, N, dim)."""
        table = np.broadcast_to(values, (self.environments, *np.shape(self.body.points)))
        return wp.array(np.ascontiguousarray(table), dtype=self.types.vec, device=self.device)

    def matrix(self) -> wp.array:
        """Values of a matrix, zero."""
        return wp.zeros((self.environments, self.pattern.count), dtype=self.types.mat, device=self.device)

    def energy(self, points: wp.array) -> wp.array:
        """Elastic energy of each environment [J]."""
        energy = wp.zeros(self.environments, dtype=self.types.real, device=self.device)
        self.add(points, energy=energy)
        return energy

    def add(
        self,
        points: wp.array,
        *,
        energy: wp.array | None = None,
        forces: wp.array | None = None,
        values: wp.array | None = None,
        asked: wp.array | None = None,
        projected: wp.array | None = None,
        damping: tuple[wp.array, wp.array, float] | None = None,
    ) -> None:
        """Add what elements have, in one pass, to those that are given of the following.

        Args:
            points: Positions of nodes, shape (environments, N).
            energy: Shape (environments).
            forces: On nodes, -dE/dx, shape (environments, N).
            values: The stiffness, of a matrix of `pattern`, shape (environments, pattern.count).
            asked: Environments that are meant have a positive number, shape (environments); all by default.
            projected: Where the stiffness of elements is projected to the positive semi-definite: a positive number,
                shape (environments); everywhere by default.
            damping: Start points, points ahead and rate of the potential of damping; without it by default.
        """
        start, ahead, rate = (self._no_points, self._no_points, 0.0) if damping is None else damping
        asked = self.everywhere if asked is None else asked
        projected = self.everywhere if projected is None else projected
        energy = self._no_energy if energy is None else energy
        forces, values = self._outputs(forces, values)
        inputs = [self.elements, points, start, ahead, self.types.real(rate), asked, projected, self.lanes]
        self._launch(self._assemble, inputs, [energy, forces, values])

    def clear(self, asked: wp.array, forces: wp.array | None = None, values: wp.array | None = None) -> None:
        """Make forces or values of a matrix zero in the environments that are asked for."""
        self._launch(self._clear, [asked, self.lanes], self._outputs(forces, values))

    def _outputs(self, forces, values):
        return self._no_points if forces is None else forces, self._no_values if values is None else values

    def _launch(self, kernel, inputs, outputs) -> None:
        dim = self.environments * self.lanes
        self.launches.launch(kernel, dim, [*inputs, *outputs], self.lanes)

    def _upload(self, points, nodes, gradients, volume, slots, colors):
        types, body = self.types, self.body
        elements = elements_struct(types)()
        elements.material = Material()
        elements.material.law = LAWS[body.material.law]
        elements.material.mu, elements.material.lambda_ = moduli(body.material, body.dim, body.plane_state)
        elements.damping_mu, elements.damping_lambda = lame(body.material, body.dim, body.plane_state)
        for name, values, dtype in (
            ("rest", points, types.vec),
            ("nodes", nodes, int),
            ("gradients", gradients, types.mat),
            ("volume", volume, types.real),
            ("slots", slots, int),
            ("colors", colors, int),
        ):
            setattr(elements, name, wp.array(values, dtype=dtype, device=self.device))
        return elements


def shape_gradients(body: ElasticBody) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the shape functions of nodes but the first, shape (M, dim, dim), and volumes, shape (M) [m^3]."""
    points, elements = np.asarray(body.points, float), np.asarray(body.elements, int)
    edges = points[elements[:, 1:]] - points[elements[:, :1]]
    depth = body.thickness / 2.0 if body.dim == 2 else 1.0 / 6.0
    return np.linalg.inv(edges).transpose(0, 2, 1), np.linalg.det(edges) * depth


def node_masses(body: ElasticBody) -> np.ndarray:
    """Mass of each node [kg]: equal shares of its elements.

    A lumped mass is of the same order as a consistent one with these elements; momentum and kinetic energy are sums
    over nodes, and a sudden load does not move its neighbours backwards.
    """
    elements = np.asarray(body.elements, int)
    mass = shape_gradients(body)[1] * body.material.density
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
