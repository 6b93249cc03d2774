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

One block of threads has one environment. Its threads take the elements of one colour at a time, which share no nodes,
and add to forces and to the matrix without atomics: results do not depend on their order. On a CPU the block is one
thread, which computes a pack of elements at once in lane vectors and adds them up one after the other; one colour has
all packs.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.math.numbers import any_positive
from warp_artic.math.recorded import RecordedLaunches
from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.materials import COROTATED, LAWS, Material, lame, material_functions, moduli
from warp_artic.meshes.pattern import block_pattern
from warp_artic.meshes.signed_svd import signed_svd_for
from warp_artic.meshes.types import (
    OPTIONS,
    HostViews,
    MeshTypes,
    is_wide,
    lanes_of,
    mesh_types,
    zeros_to_read_beyond,
)


@cache
def elements_struct(types: MeshTypes, wide: bool):
    """The struct of the M elements of a mesh, in P packs of as many as a number has lanes; the last one is filled up
    with elements without volume."""
    Real, numbers = types.real, element_numbers(types, wide)
    T, Vec, Mat = numbers.real, numbers.vec, numbers.mat

    @wp.struct
    class Elements:
        material: Material
        damping_mu: Real
        """Lame's moduli, for damping."""
        damping_lambda: Real
        count: int
        """M."""
        rest: wp.array2d(dtype=Vec)
        """Rest positions of the nodes of elements, shape (P, dim + 1)."""
        nodes: wp.array2d(dtype=int)
        """Shape (P lanes, dim + 1)."""
        gradients: wp.array(dtype=Mat)
        """Rows are the gradients of the shape functions of the nodes but the first, shape (P)."""
        volume: wp.array(dtype=T)
        """At rest, with the thickness, shape (P)."""
        slots: wp.array2d(dtype=int)
        """Of the blocks in the matrix, row by row, shape (P lanes, (dim + 1)^2)."""
        colors: wp.array(dtype=int)
        """Where the packs of each colour begin, and their count."""

    return Elements


@cache
def elastic_kernels(types: MeshTypes, wide: bool):
    """The kernels `differentiate`, of points that damping knows, and `assemble`, in lanes or one by one."""
    dim, Real, NodeVec, NodeMat = types.dim, types.real, types.vec, types.mat
    corners = dim + 1
    numbers = element_numbers(types, wide)
    T, Vec, Mat, lanes_of_pack = numbers.real, numbers.vec, numbers.mat, numbers.lanes
    Elements = elements_struct(types, wide)
    functions = material_functions(types, wide)
    strain, density = functions.strain, functions.energy
    rotation, stretch = functions.rotation, functions.stretch
    stress, spectrum = functions.stress, functions.spectrum
    slopes, neo_hookean_block = functions.slopes, functions.block
    turning, corotated_block = functions.turning, functions.corotated_block
    signed_svd = signed_svd_for(types, wide)
    entry, with_entry, one = numbers.entry, numbers.with_entry, numbers.one
    outer, dot, ddot, trace, transpose = numbers.outer, numbers.dot, numbers.ddot, numbers.trace, numbers.transpose
    block_sum = block_sum_for(Real, wide)
    gather, scatter, total_of, row = numbers.gather, numbers.scatter, numbers.total, numbers.row

    table = numbers.items(dim**3)
    Rows, item, with_item = table.type, table.item, table.with_item

    @wp.func
    def with_block_added(rows: Rows, a: int, block: Mat):
        """With a block in the sum of a row of blocks."""
        found = rows
        for i in range(dim):
            for j in range(dim):
                place = (a * dim + i) * dim + j
                found = with_item(found, place, item(found, place) + entry(block, i, j))
        return found

    @wp.func
    def block_of(rows: Rows, a: int):
        """The sum of a row of blocks."""
        found = Mat()
        for i in range(dim):
            for j in range(dim):
                found = with_entry(found, i, j, item(rows, (a * dim + i) * dim + j))
        return found

    @wp.func
    def displacement(elements: Elements, points: wp.array2d(dtype=NodeVec), env: int, pack: int, corner: int):
        return gather(points, env, elements.nodes, pack * lanes_of_pack, corner) - elements.rest[pack, corner]

    @wp.func
    def displacement_gradient(elements: Elements, points: wp.array2d(dtype=NodeVec), env: int, pack: int):
        gradients = elements.gradients[pack]
        u_0 = displacement(elements, points, env, pack, 0)
        G = Mat()
        for a in range(dim):
            u = displacement(elements, points, env, pack, a + 1) - u_0
            G = G + outer(u, row(gradients, a))
        return G

    @wp.func
    def strain_since(F_ahead: Mat, G: Mat, past: Mat):
        """sym(F*^T (F - F_start))."""
        product = transpose(F_ahead) * (G - past)
        return Real(0.5) * (product + transpose(product))

    @wp.func
    def viscous(elements: Elements, E: Mat):
        extension = trace(E)
        return elements.damping_mu * ddot(E, E) + Real(0.5) * elements.damping_lambda * extension * extension

    @wp.func
    def block_of_axes(D: Mat, A: Mat, B: Mat, turned: Mat, a: int, b: int):
        """M of the nodes of two gradients that are turned by V."""
        M = Mat()
        for i in range(dim):
            h_ai = entry(turned, a, i)
            h_bi = entry(turned, b, i)
            M_ii = entry(D, i, i) * h_ai * h_bi
            for j in range(dim):
                if j != i:
                    h_aj = entry(turned, a, j)
                    h_bj = entry(turned, b, j)
                    M_ii = M_ii + entry(A, i, j) * h_aj * h_bj
                    M = with_entry(M, i, j, entry(D, i, j) * h_ai * h_bj + entry(B, i, j) * h_aj * h_bi)
            M = with_entry(M, i, i, M_ii)
        return M

    @wp.func
    def viscous_block(elements: Elements, F_ahead: Mat, of_a: Vec, of_b: Vec):
        """Stiffness of damping of two gradients, for a rate of one."""
        p = F_ahead * of_a
        q = F_ahead * of_b
        across = dot(of_a, of_b) * (F_ahead * transpose(F_ahead))
        return elements.damping_mu * (across + outer(q, p)) + elements.damping_lambda * outer(p, q)

    @wp.func
    def add_forces(elements: Elements, env: int, pack: int, count: int, P: Mat, forces: wp.array2d(dtype=NodeVec)):
        gradients = elements.gradients[pack]
        first = pack * lanes_of_pack
        rest = Vec()
        for a in range(dim):
            pull = elements.volume[pack] * (P * row(gradients, a))
            scatter(forces, env, elements.nodes, first, count, a + 1, Real(-1.0) * pull)
            rest = rest + pull
        scatter(forces, env, elements.nodes, first, count, 0, rest)

    @wp.func
    def put_block(
        elements: Elements,
        env: int,
        pack: int,
        count: int,
        a: int,
        b: int,
        elastic: Mat,
        F_ahead: Mat,
        rate: Real,
        rows: Rows,
        values: wp.array2d(dtype=NodeMat),
    ):
        """Add the block of two gradients, and that across the diagonal, which is its transpose; gives the sums of rows
        with them."""
        gradients = elements.gradients[pack]
        block = elements.volume[pack] * elastic
        first = pack * lanes_of_pack
        if rate > Real(0.0):
            of_damping = viscous_block(elements, F_ahead, row(gradients, a), row(gradients, b))
            block = block + (rate * elements.volume[pack]) * of_damping
        scatter(values, env, elements.slots, first, count, (a + 1) * corners + b + 1, block)
        found = with_block_added(rows, a, block)
        if b > a:
            across = transpose(block)
            scatter(values, env, elements.slots, first, count, (b + 1) * corners + a + 1, across)
            found = with_block_added(found, b, across)
        return found

    @wp.func
    def put_first_node(
        elements: Elements, env: int, pack: int, count: int, rows: Rows, values: wp.array2d(dtype=NodeMat)
    ):
        """Add the blocks of the first node, which are what is left of each row."""
        first = pack * lanes_of_pack
        corner = Mat()
        for a in range(dim):
            sum_of_row = block_of(rows, a)
            negative = Real(-1.0) * sum_of_row
            scatter(values, env, elements.slots, first, count, (a + 1) * corners, negative)
            scatter(values, env, elements.slots, first, count, a + 1, transpose(negative))
            corner = corner + sum_of_row
        scatter(values, env, elements.slots, first, count, 0, corner)

    @wp.func
    def add_stiffness_of_axes(
        elements: Elements,
        env: int,
        pack: int,
        count: int,
        U: Mat,
        s: Vec,
        V: Mat,
        F_ahead: Mat,
        rate: Real,
        is_projected: bool,
        values: wp.array2d(dtype=NodeMat),
    ):
        D, A, B = spectrum(elements.material, s, is_projected)
        turned = elements.gradients[pack] * V
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                block = U * block_of_axes(D, A, B, turned, a, b) * transpose(U)
                rows = put_block(elements, env, pack, count, a, b, block, F_ahead, rate, rows, values)
        put_first_node(elements, env, pack, count, rows, values)

    @wp.func
    def add_neo_hookean_stiffness(
        elements: Elements,
        env: int,
        pack: int,
        count: int,
        G: Mat,
        F_ahead: Mat,
        rate: Real,
        values: wp.array2d(dtype=NodeMat),
    ):
        gradients = elements.gradients[pack]
        F, C, share, curve, pressure = slopes(elements.material, G)
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                g = row(gradients, a)
                h = row(gradients, b)
                block = neo_hookean_block(elements.material, F, C, share, curve, pressure, g, h)
                rows = put_block(elements, env, pack, count, a, b, block, F_ahead, rate, rows, values)
        put_first_node(elements, env, pack, count, rows, values)

    @wp.func
    def add_corotated_stiffness(
        elements: Elements,
        env: int,
        pack: int,
        count: int,
        R: Mat,
        X: Mat,
        F_ahead: Mat,
        rate: Real,
        values: wp.array2d(dtype=NodeMat),
    ):
        gradients = elements.gradients[pack]
        extension = trace(X)
        rows = Rows()
        for a in range(dim):
            g = row(gradients, a)
            r = R * g
            turns = turning(R, X, r)
            for b in range(a, dim):
                h = row(gradients, b)
                block = corotated_block(elements.material, extension, g, h, r, R * h, turns)
                rows = put_block(elements, env, pack, count, a, b, block, F_ahead, rate, rows, values)
        put_first_node(elements, env, pack, count, rows, values)

    @wp.kernel(**OPTIONS)
    def differentiate(
        elements: Elements,
        start: wp.array2d(dtype=NodeVec),
        ahead: wp.array2d(dtype=NodeVec),
        G_start: wp.array2d(dtype=Mat),
        F_ahead: wp.array2d(dtype=Mat),
    ):
        env, pack = wp.tid()
        G_start[env, pack] = displacement_gradient(elements, start, env, pack)
        F_ahead[env, pack] = one(elements.volume[pack]) + displacement_gradient(elements, ahead, env, pack)

    @wp.func
    def clear(env: int, lane: int, lanes: int, forces: wp.array2d(dtype=NodeVec), values: wp.array2d(dtype=NodeMat)):
        if forces.shape[0] > 0:
            for node in range(lane, forces.shape[1], lanes):
                forces[env, node] = NodeVec()
        if values.shape[0] > 0:
            for slot in range(lane, values.shape[1], lanes):
                values[env, slot] = NodeMat()

    @wp.kernel(**OPTIONS)
    def assemble(
        elements: Elements,
        points: wp.array2d(dtype=NodeVec),
        G_start: wp.array2d(dtype=Mat),
        F_ahead_of: wp.array2d(dtype=Mat),
        rate: Real,
        asked: wp.array(dtype=int),
        projected: wp.array(dtype=int),
        lanes: int,
        energy: wp.array(dtype=Real),
        forces: wp.array2d(dtype=NodeVec),
        values: wp.array2d(dtype=NodeMat),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        total = T(Real(0.0))
        if asked[env] > 0:
            clear(env, lane, lanes, forces, values)
        # The block waits here until sums are zero, and below for each colour.
        block_sum(Real(0.0))
        for color in range(elements.colors.shape[0] - 1):
            if asked[env] > 0:
                for pack in range(elements.colors[color] + lane, elements.colors[color + 1], lanes):
                    count = wp.min(lanes_of_pack, elements.count - pack * lanes_of_pack)
                    G = displacement_gradient(elements, points, env, pack)
                    F = one(total) + G
                    U = Mat()
                    V = Mat()
                    s = Vec()
                    X = Mat()
                    is_corotated = elements.material.law == COROTATED
                    has_axes = values.shape[0] > 0 and projected[env] > 0
                    if is_corotated and not has_axes:
                        U, is_left = rotation(G)
                        V = one(total)
                        X = stretch(G, U)
                        has_axes = any_positive(is_left)
                    if has_axes:
                        U, s, V = signed_svd(F)
                        if is_corotated:
                            X = strain(G, s, V)
                    past = Mat()
                    F_ahead = Mat()
                    if rate > Real(0.0):
                        past = G_start[env, pack]
                        F_ahead = F_ahead_of[env, pack]
                    E = strain_since(F_ahead, G, past)
                    if energy.shape[0] > 0:
                        psi = density(elements.material, G, X) + rate * viscous(elements, E)
                        total = total + elements.volume[pack] * psi
                    if forces.shape[0] > 0:
                        P = stress(elements.material, G, X, U, V)
                        if rate > Real(0.0):
                            pressure = elements.damping_lambda * trace(E)
                            S = Real(2.0) * elements.damping_mu * E + pressure * one(total)
                            P = P + rate * (F_ahead * S)
                        add_forces(elements, env, pack, count, P, forces)
                    if values.shape[0] > 0 and has_axes:
                        is_projected = projected[env] > 0
                        add_stiffness_of_axes(elements, env, pack, count, U, s, V, F_ahead, rate, is_projected, values)
                    elif values.shape[0] > 0 and is_corotated:
                        add_corotated_stiffness(elements, env, pack, count, U, X, F_ahead, rate, values)
                    elif values.shape[0] > 0:
                        add_neo_hookean_stiffness(elements, env, pack, count, G, F_ahead, rate, values)
            block_sum(Real(0.0))
        of_block = block_sum(total_of(total))
        if asked[env] > 0 and lane == 0 and energy.shape[0] > 0:
            energy[env] = of_block

    return differentiate, assemble


@dataclass(frozen=True, eq=False)
class Damping:
    """The potential of damping, for the packs of elements: see the head of this file."""

    rate: float
    G_start: wp.array
    """Displacement gradients at the start, shape (environments, P)."""
    F_ahead: wp.array
    """Deformation gradients ahead, shape (environments, P)."""


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
        gradients, volume = shape_gradients(body)
        self.volume = volume
        self.node_mass = node_masses(body)
        self._wide = is_wide(device)
        if self.lanes == 1:
            packs = -(-len(nodes) // element_numbers(self.types, self._wide).lanes)
            order, colors = np.arange(len(nodes)), [0, packs]
        else:
            order, colors = color_elements(nodes)
        corners = body.dim + 1
        slots = self.pattern.slots(np.repeat(nodes, corners, axis=1), np.tile(nodes, corners))
        parts = points[nodes], nodes, gradients, volume, slots
        self.elements = self._upload(*(part[order] for part in parts), colors)
        self.everywhere = wp.ones(environments, dtype=int, device=device)
        """Asks for all environments."""
        self._no_points = wp.zeros((0, 0), dtype=self.types.vec, device=device)
        matrix = element_numbers(self.types, self._wide).mat
        self._no_gradients = wp.zeros((0, 0), dtype=matrix, device=device)
        self._no_values = wp.zeros((0, 0), dtype=self.types.mat, device=device)
        self._no_energy = wp.zeros(0, dtype=self.types.real, device=device)
        self._differentiate, self._assemble = elastic_kernels(self.types, self._wide)

    def array(self, values) -> wp.array:
        """Positions or other vectors of nodes on the device, from shape (N, dim) or (environments, N, dim)."""
        table = np.broadcast_to(values, (self.environments, *np.shape(self.body.points)))
        return wp.array(np.ascontiguousarray(table), dtype=self.types.vec, device=self.device)

    def matrix(self) -> wp.array:
        """Values of a matrix, zero."""
        return zeros_to_read_beyond(self.environments, self.pattern.count, self.types.mat, self.device)

    def energy(self, points: wp.array) -> wp.array:
        """Elastic energy of each environment [J]."""
        energy = wp.zeros(self.environments, dtype=self.types.real, device=self.device)
        self.fill(points, energy=energy)
        return energy

    def damping(self, rate: float) -> Damping:
        """A potential of damping of some rate; `follow` says where it is."""
        packs = self.elements.volume.shape[0]
        matrix = element_numbers(self.types, self._wide).mat
        G_start, F_ahead = (wp.zeros((self.environments, packs), dtype=matrix, device=self.device) for _ in range(2))
        return Damping(rate, G_start, F_ahead)

    def follow(self, damping: Damping, start: wp.array, ahead: wp.array) -> None:
        """Tell a potential of damping the points at the start and those ahead, shape (environments, N)."""
        outputs = damping.G_start, damping.F_ahead
        self.launches.launch(self._differentiate, outputs[0].shape, [self.elements, start, ahead, *outputs])

    def fill(
        self,
        points: wp.array,
        *,
        energy: wp.array | None = None,
        forces: wp.array | None = None,
        values: wp.array | None = None,
        asked: wp.array | None = None,
        projected: wp.array | None = None,
        damping: Damping | None = None,
    ) -> None:
        """Set those that are given of the following to what elements have, in one pass.

        Args:
            points: Positions of nodes, shape (environments, N).
            energy: Shape (environments).
            forces: On nodes, -dE/dx, shape (environments, N).
            values: The stiffness, of a matrix of `pattern`, shape (environments, pattern.count).
            asked: Environments that are meant have a positive number, shape (environments); all by default.
            projected: Where the stiffness of elements is projected to the positive semi-definite: a positive number,
                shape (environments); everywhere by default.
            damping: The potential of damping; without it by default.
        """
        rate = 0.0 if damping is None else damping.rate
        known = (self._no_gradients, self._no_gradients) if damping is None else (damping.G_start, damping.F_ahead)
        asked = self.everywhere if asked is None else asked
        projected = self.everywhere if projected is None else projected
        given = (energy, self._no_energy), (forces, self._no_points), (values, self._no_values)
        outputs = [none if array is None else array for array, none in given]
        inputs = [self.elements, points, *known, self.types.real(rate), asked, projected, self.lanes]
        dim = self.environments * self.lanes
        self.launches.launch(self._assemble, dim, [*inputs, *outputs], self.lanes)

    def _array(self, values, dtype) -> wp.array:
        return wp.array(values, dtype=dtype, device=self.device)

    def _upload(self, rest, nodes, gradients, volume, slots, colors):
        types, body = self.types, self.body
        numbers = element_numbers(types, self._wide)
        elements = elements_struct(types, self._wide)()
        elements.material = Material()
        elements.material.law = LAWS[body.material.law]
        elements.material.mu, elements.material.lambda_ = moduli(body.material, body.dim, body.plane_state)
        elements.damping_mu, elements.damping_lambda = lame(body.material, body.dim, body.plane_state)
        elements.count = len(nodes)
        filling = -len(nodes) % numbers.lanes

        def filled(values: np.ndarray) -> np.ndarray:
            return np.concatenate([values, np.repeat(values[-1:], filling, axis=0)])

        def packed(values: np.ndarray, dtype: type, *shape: int) -> wp.array:
            """Numbers of the elements of a pack side by side, in packs of some shape of vectors or matrices."""
            values = values.reshape(-1, numbers.lanes, *values.shape[1:])
            values = np.moveaxis(values, 1, -1).reshape(-1, *shape, *getattr(dtype, "_shape_", ()))
            return self._array(np.ascontiguousarray(values), dtype)

        elements.rest = packed(filled(rest), numbers.vec, types.dim + 1)
        elements.nodes = self._array(filled(nodes), int)
        elements.gradients = packed(filled(gradients), numbers.mat)
        elements.volume = packed(np.append(volume, np.zeros(filling)), numbers.real)
        elements.slots = self._array(filled(slots), int)
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
    of_corner = (2.0 * mu + lambda_) * volume[:, None] * np.square(gradients).sum(axis=2)
    return np.bincount(np.asarray(body.elements, int).ravel(), of_corner.ravel(), len(body.points))


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
