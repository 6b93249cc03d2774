"""The kernels of tendons: what segments, tendons, nodes and pairs of points compute, each item by one thread.

Every sum is gathered in a fixed order, so results do not depend on threads or on other environments.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.block_values import block_access
from warp_artic.meshes.tension_law import law_functions


@cache
def tendon_kernels(dim: int, real: type) -> SimpleNamespace:
    """The kernels for meshes of a dimension and numbers of a precision, one module of Warp."""
    vec = wp.types.vector(length=dim, dtype=real)
    mat = wp.types.matrix(shape=(dim, dim), dtype=real)
    module = wp.get_module(f"{__name__}_{dim}_{real.__name__}")
    laws = law_functions(real)
    block_at, set_block = block_access(dim, real)

    @wp.struct
    class Tendons:
        node_count: int
        segment_start: wp.array(dtype=int)
        segment_points_start: wp.array(dtype=int)
        segment_point: wp.array(dtype=int)
        segment_factor: wp.array(dtype=real)
        column_start: wp.array(dtype=int)
        column_tendon: wp.array(dtype=int)
        column_segments_start: wp.array(dtype=int)
        column_segment: wp.array(dtype=int)
        column_factor: wp.array(dtype=real)
        law: wp.array(dtype=int)
        smoothing: wp.array(dtype=real)
        core: wp.array(dtype=real)
        stiffness: wp.array2d(dtype=real)
        target_length: wp.array2d(dtype=real)
        given_tension: wp.array2d(dtype=real)

    @wp.struct
    class Shape:
        length: wp.array2d(dtype=real)
        change: wp.array2d(dtype=real)
        tension: wp.array2d(dtype=real)
        slope: wp.array2d(dtype=real)
        direction: wp.array2d(dtype=vec)
        inverse_length: wp.array2d(dtype=real)
        column: wp.array2d(dtype=vec)
        coincident: wp.array2d(dtype=int)

    @wp.struct
    class CoupledPairs:
        first: wp.array(dtype=int)
        second: wp.array(dtype=int)
        segments_start: wp.array(dtype=int)
        segment: wp.array(dtype=int)
        factor: wp.array(dtype=real)

    @wp.kernel(module=module, enable_backward=False)
    def measure(
        tendons: Tendons,
        points: wp.array2d(dtype=vec),
        foreign: wp.array2d(dtype=vec),
        asked: wp.array(dtype=int),
        shape: Shape,
    ):
        env, tendon = wp.tid()
        if asked[env] == 0:
            return
        length = real(0.0)
        coincident = int(-1)
        for segment in range(tendons.segment_start[tendon], tendons.segment_start[tendon + 1]):
            s = vec()
            for term in range(tendons.segment_points_start[segment], tendons.segment_points_start[segment + 1]):
                point = tendons.segment_point[term]
                if point < tendons.node_count:
                    s += tendons.segment_factor[term] * points[env, point]
                else:
                    s += tendons.segment_factor[term] * foreign[env, point - tendons.node_count]
            distance = wp.length(s)
            core = tendons.core[segment]
            inverse = real(1.0) / wp.max(distance, core)
            if distance < core:
                length += real(0.5) * (distance * distance * inverse + core)
                if coincident < 0:
                    coincident = segment - tendons.segment_start[tendon]
            else:
                length += distance
            shape.direction[env, segment] = s * inverse
            shape.inverse_length[env, segment] = inverse
        law = tendons.law[tendon]
        u = length - tendons.target_length[tendon, env]
        K = tendons.stiffness[tendon, env]
        eps = tendons.smoothing[tendon]
        shape.length[tendon, env] = length
        shape.change[tendon, env] = u
        shape.tension[tendon, env] = laws.tension(law, u, K, eps, tendons.given_tension[tendon, env])
        shape.slope[tendon, env] = laws.slope(law, u, K, eps)
        shape.coincident[tendon, env] = coincident

    @wp.kernel(module=module, enable_backward=False)
    def measure_columns(tendons: Tendons, asked: wp.array(dtype=int), shape: Shape):
        env, entry = wp.tid()
        if asked[env] == 0:
            return
        gradient = vec()
        for term in range(tendons.column_segments_start[entry], tendons.column_segments_start[entry + 1]):
            gradient += tendons.column_factor[term] * shape.direction[env, tendons.column_segment[term]]
        shape.column[env, entry] = -gradient

    @wp.kernel(module=module, enable_backward=False)
    def sum_energy(
        tendons: Tendons, shape: Shape, tendon_count: int, asked: wp.array(dtype=int), energy: wp.array(dtype=real)
    ):
        env = wp.tid()
        if asked[env] == 0:
            return
        total = real(0.0)
        for tendon in range(tendon_count):
            total += laws.energy(
                tendons.law[tendon],
                shape.change[tendon, env],
                tendons.stiffness[tendon, env],
                tendons.smoothing[tendon],
                tendons.given_tension[tendon, env],
            )
        energy[env] = total

    @wp.kernel(module=module, enable_backward=False)
    def add_forces(
        tendons: Tendons,
        column: wp.array2d(dtype=vec),
        tension: wp.array2d(dtype=real),
        touched: wp.array(dtype=int),
        entries_start: wp.array(dtype=int),
        entries: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        forces: wp.array2d(dtype=vec),
    ):
        env, place = wp.tid()
        if asked[env] == 0:
            return
        total = vec()
        for number in range(entries_start[place], entries_start[place + 1]):
            entry = entries[number]
            total += column[env, entry] * tension[tendons.column_tendon[entry], env]
        forces[env, touched[place]] += total

    @wp.kernel(module=module, enable_backward=False)
    def project(
        tendons: Tendons,
        column: wp.array2d(dtype=vec),
        column_point: wp.array(dtype=int),
        forces: wp.array2d(dtype=vec),
        result: wp.array2d(dtype=real),
    ):
        env, tendon = wp.tid()
        total = real(0.0)
        for entry in range(tendons.column_start[tendon], tendons.column_start[tendon + 1]):
            if column_point[entry] < tendons.node_count:
                total += wp.dot(column[env, entry], forces[env, column_point[entry]])
        result[tendon, env] = total

    @wp.func
    def block_of(tendons: Tendons, shape: Shape, pairs: CoupledPairs, env: int, pair: int, lowest: real):
        # tau' Delta_,i Delta_,j^T + tau sum of c_ki c_kj (I - u u^T) / |s_k|
        first = pairs.first[pair]
        tendon = tendons.column_tendon[first]
        outer = wp.outer(shape.column[env, first], shape.column[env, pairs.second[pair]])
        bend = mat()
        for term in range(pairs.segments_start[pair], pairs.segments_start[pair + 1]):
            segment = pairs.segment[term]
            u = shape.direction[env, segment]
            zeta = wp.identity(n=dim, dtype=real)
            if shape.inverse_length[env, segment] < real(1.0) / tendons.core[segment]:
                zeta -= wp.outer(u, u)
            bend += (pairs.factor[term] * shape.inverse_length[env, segment]) * zeta
        return shape.slope[tendon, env] * outer + wp.max(shape.tension[tendon, env], lowest) * bend

    @wp.kernel(module=module, enable_backward=False)
    def add_blocks(
        tendons: Tendons,
        shape: Shape,
        pairs: CoupledPairs,
        lowest: real,
        row_start: wp.array(dtype=int),
        slots: wp.array(dtype=int),
        slot_pairs_start: wp.array(dtype=int),
        slot_pairs: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        values: wp.array4d(dtype=real),
    ):
        env, row = wp.tid()
        if asked[env] == 0:
            return
        for place in range(row_start[row], row_start[row + 1]):
            total = mat()
            for number in range(slot_pairs_start[place], slot_pairs_start[place + 1]):
                total += block_of(tendons, shape, pairs, env, slot_pairs[number], lowest)
            set_block(values, env, slots[place], block_at(values, env, slots[place]) + total)

    return SimpleNamespace(
        vec=vec,
        Tendons=Tendons,
        Shape=Shape,
        CoupledPairs=CoupledPairs,
        measure=measure,
        measure_columns=measure_columns,
        sum_energy=sum_energy,
        add_forces=add_forces,
        project=project,
        add_blocks=add_blocks,
    )
