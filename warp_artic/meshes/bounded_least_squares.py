"""Small least squares with bounds, one problem a thread:  min |R tau - c|^2  for  lower <= tau <= upper.

R^T R is a Gram matrix A^T A and R^T c = A^T f. Normal equations lose half the digits, so both sums and the Cholesky
factor have twice as many: R and c are then as good as those of a QR factorisation of A.

The free tensions are found by an active set (Lawson and Hanson 1974, chapter 23; Stark and Parker 1995): the columns
of W = Q R of free tensions are triangular, and rotations keep them so when one is fixed or freed. A tension is freed
only if its column is independent of the free ones, so that A may have any rank.
"""

import warp as wp

from warp_artic.math.double_double import dd_div, dd_sqrt, dd_take, renormal
from warp_artic.math.processor import native

ZERO = wp.constant(wp.float64(0.0))
ONE = wp.constant(wp.float64(1.0))

STILL = wp.constant(wp.float64(1e-12))
"""A gradient this small, relative to its column and to the forces, asks for nothing."""

BLUR = wp.constant(wp.float64(1e-15))
"""What rounding leaves open of the distance between a column and a combination of others, relative to its terms."""

ROUNDS = wp.constant(10)
"""Rounds that a search may take, for each tension."""

OPTIONS = {"enable_backward": False, "module": wp.get_module(__name__)}
wp.set_module_options({"cpu_compiler_flags": native("")}, module=OPTIONS["module"])

Vector = wp.array(dtype=wp.float64)
Matrix = wp.array2d(dtype=wp.float64)
Flags = wp.array(dtype=int)


@wp.struct
class Factor:
    """A^T A = R^T R of each environment; R^T has the independent columns of A in its rows, ascending."""

    gram: wp.array3d(dtype=wp.vec2d)
    """A^T A, of which i <= j is filled, shape (environments, tendons, tendons)."""
    transposed: wp.array3d(dtype=wp.vec2d)
    """R^T, shape (environments, tendons, rank up to tendons)."""
    pivot: wp.array2d(dtype=int)
    """The column with which each row of R begins, shape (environments, rank up to tendons)."""
    rank: wp.array(dtype=int)
    norm: wp.array2d(dtype=wp.float64)
    """Norms of the columns of A, shape (environments, tendons)."""


@wp.struct
class Search:
    """The work of an active set; shapes begin with the environments."""

    matrix: wp.array3d(dtype=wp.float64)
    """W = Q R, shape (environments, tendons, tendons)."""
    rotated: wp.array2d(dtype=wp.float64)
    """Q c, shape (environments, tendons), like all that follow."""
    trial: wp.array2d(dtype=wp.float64)
    """Tensions that are best for the free ones."""
    gradient: wp.array2d(dtype=wp.float64)
    lower: wp.array2d(dtype=wp.float64)
    upper: wp.array2d(dtype=wp.float64)
    tension: wp.array2d(dtype=wp.float64)
    free: wp.array2d(dtype=int)
    """The free tensions, in the order of their triangle."""
    is_free: wp.array2d(dtype=int)
    refused: wp.array2d(dtype=int)
    free_count: wp.array(dtype=int)
    rounds: wp.array(dtype=int)
    """Rounds of the search that were needed."""


@wp.func
def size_of_terms(factor: Factor, env: int, column: int, rank: int):
    """The sum of |z_k a_k| for the combination of the `rank` columns of R that is nearest to a column, and its norm."""
    lower = factor.transposed[env]
    pivot = factor.pivot[env]
    norm = factor.norm[env]
    total = norm[column]
    for back in range(rank):
        row = rank - 1 - back
        z = lower[column, row][0]
        for after in range(row + 1, rank):
            z -= lower[pivot[after], row][0] * lower[after, rank][0]
        z = z / lower[pivot[row], row][0]
        # The next row of R is still free.
        lower[row, rank] = wp.vec2d(z, ZERO)
        total += wp.abs(z) * norm[pivot[row]]
    return total


@wp.kernel(**OPTIONS)
def factorise(factor: Factor, dependence: wp.float64):
    """R^T from the Gram matrix; a column nearer than `dependence` of its norm to those before begins no row, nor one
    whose distance from them is rounding."""
    env = wp.tid()
    gram = factor.gram[env]
    lower = factor.transposed[env]
    size = gram.shape[0]
    rank = int(0)
    for column in range(size):
        square = gram[column, column]
        norm = wp.sqrt(wp.max(square[0], ZERO))
        factor.norm[env, column] = norm
        for row in range(rank):
            square = dd_take(square, lower[column, row], lower[column, row])
        square = renormal(square[0], square[1])
        nearest = wp.max(dependence * norm, BLUR * size_of_terms(factor, env, column, rank))
        if square[0] > nearest * nearest:
            root = dd_sqrt(square)
            for other in range(column):
                lower[other, rank] = wp.vec2d()
            lower[column, rank] = root
            for other in range(column + 1, size):
                total = gram[column, other]
                for row in range(rank):
                    total = dd_take(total, lower[column, row], lower[other, row])
                lower[other, rank] = dd_div(renormal(total[0], total[1]), root)
            factor.pivot[env, rank] = column
            rank += 1
    factor.rank[env] = rank


@wp.func
def begin(search: Search, factor: Factor, projected: wp.array2d(dtype=wp.vec2d), env: int):
    """W = R, and c from R^T c = A^T f; returns |c|."""
    lower = factor.transposed[env]
    size = lower.shape[0]
    rank = factor.rank[env]
    square = ZERO
    for row in range(rank):
        column = factor.pivot[env, row]
        total = projected[env, column]
        for before in range(row):
            total = dd_take(total, lower[column, before], projected[env, factor.pivot[env, before]])
        # What A^T f has at this column is not needed any more.
        projected[env, column] = dd_div(renormal(total[0], total[1]), lower[column, row])
        search.rotated[env, row] = projected[env, column][0]
        square += search.rotated[env, row] * search.rotated[env, row]
        search.free[env, row] = column
        for other in range(size):
            search.matrix[env, row, other] = lower[other, row][0]
    for column in range(size):
        search.is_free[env, column] = 0
        search.refused[env, column] = 0
    for row in range(rank):
        search.is_free[env, search.free[env, row]] = 1
    return wp.sqrt(square)


@wp.func
def fix(W: Matrix, rhs: Vector, free: Flags, place: int, count: int):
    """Take the column at a place out of the triangle of `count` columns, and close the gap by rotations."""
    for row in range(place, count - 1):
        column = free[row + 1]
        free[row] = column
        a = W[row, column]
        b = W[row + 1, column]
        length = wp.sqrt(a * a + b * b)
        cosine = a / length
        sine = b / length
        for other in range(W.shape[1]):
            upper = W[row, other]
            lower = W[row + 1, other]
            W[row, other] = cosine * upper + sine * lower
            W[row + 1, other] = cosine * lower - sine * upper
        W[row, column] = length
        W[row + 1, column] = ZERO
        upper = rhs[row]
        lower = rhs[row + 1]
        rhs[row] = cosine * upper + sine * lower
        rhs[row + 1] = cosine * lower - sine * upper


@wp.func
def tail_norm(W: Matrix, column: int, first: int, rank: int):
    """Norm of a column below the triangle: its distance from the free columns."""
    square = ZERO
    for row in range(first, rank):
        square += W[row, column] * W[row, column]
    return wp.sqrt(square)


@wp.func
def free_column(W: Matrix, rhs: Vector, work: Vector, column: int, first: int, rank: int, norm: wp.float64):
    """Reflect the rows below the triangle so that a column joins it; `norm` is that of its part there."""
    head = W[first, column]
    pivot = wp.where(head > ZERO, -norm, norm)
    # v = x - pivot e_1, and 2 / |v|^2 = 1 / (norm^2 - pivot x_1)
    W[first, column] = head - pivot
    scale = ONE / (norm * norm - pivot * head)
    size = W.shape[1]
    for other in range(size):
        work[other] = ZERO
    total = ZERO
    for row in range(first, rank):
        v = W[row, column]
        total += v * rhs[row]
        for other in range(size):
            work[other] += v * W[row, other]
    for row in range(first, rank):
        v = W[row, column]
        rhs[row] -= scale * v * total
        for other in range(size):
            if other != column:
                W[row, other] -= scale * v * work[other]
    W[first, column] = pivot
    for row in range(first + 1, rank):
        W[row, column] = ZERO


@wp.func
def solve_free(W: Matrix, rhs: Vector, free: Flags, is_free: Flags, tau: Vector, trial: Vector, count: int):
    """The best values of the free tensions while the others stay."""
    size = W.shape[1]
    for column in range(size):
        trial[column] = wp.where(is_free[column] == 1, ZERO, tau[column])
    for back in range(count):
        row = count - 1 - back
        total = rhs[row]
        for column in range(size):
            total -= W[row, column] * trial[column]
        trial[free[row]] = total / W[row, free[row]]


@wp.func
def measure_gradient(W: Matrix, rhs: Vector, tau: Vector, is_free: Flags, gradient: Vector, first: int, rank: int):
    """How much less |R tau - c|^2 / 2 becomes with each fixed tension; free ones have no part below the triangle."""
    size = W.shape[1]
    for column in range(size):
        gradient[column] = ZERO
    for row in range(first, rank):
        rest = rhs[row]
        for column in range(size):
            if is_free[column] == 0:
                rest -= W[row, column] * tau[column]
        for column in range(size):
            gradient[column] += W[row, column] * rest


@wp.func
def best_to_free(
    tau: Vector,
    lower: Vector,
    upper: Vector,
    is_free: Flags,
    refused: Flags,
    gradient: Vector,
    norm: Vector,
    force: wp.float64,
):
    """The fixed tension whose change gains most, the first of equal ones; -1 if none gains."""
    scale = force
    for column in range(tau.shape[0]):
        if is_free[column] == 0:
            scale += wp.abs(tau[column]) * norm[column]
    best = int(-1)
    most = STILL * scale
    for column in range(tau.shape[0]):
        if is_free[column] == 0 and refused[column] == 0 and norm[column] > ZERO:
            gain = gradient[column] / norm[column]
            if (gain > most and tau[column] < upper[column]) or (-gain > most and tau[column] > lower[column]):
                most = wp.abs(gain)
                best = column
    return best


@wp.func
def step_towards(
    W: Matrix,
    rhs: Vector,
    free: Flags,
    is_free: Flags,
    tau: Vector,
    trial: Vector,
    lower: Vector,
    upper: Vector,
    count: int,
):
    """Go towards the trial tensions as far as bounds allow, and fix those that meet one; returns the free ones left."""
    share = ONE
    blocking = int(-1)
    for place in range(count):
        column = free[place]
        bound = wp.clamp(trial[column], lower[column], upper[column])
        if bound != trial[column]:
            part = (bound - tau[column]) / (trial[column] - tau[column])
            if blocking < 0 or part < share:
                share = part
                blocking = column
    if blocking < 0:
        for place in range(count):
            tau[free[place]] = trial[free[place]]
        return count
    for place in range(count):
        column = free[place]
        tau[column] += share * (trial[column] - tau[column])
    tau[blocking] = wp.clamp(trial[blocking], lower[blocking], upper[blocking])
    return fix_at_bounds(W, rhs, free, is_free, tau, lower, upper, count)


@wp.func
def fix_at_bounds(
    W: Matrix, rhs: Vector, free: Flags, is_free: Flags, tau: Vector, lower: Vector, upper: Vector, count: int
):
    """Fix the free tensions that are not between their bounds, at the bounds; returns the free ones left."""
    left = count
    for back in range(count):
        place = count - 1 - back
        column = free[place]
        if tau[column] <= lower[column] or tau[column] >= upper[column]:
            tau[column] = wp.clamp(tau[column], lower[column], upper[column])
            is_free[column] = 0
            fix(W, rhs, free, place, left)
            left -= 1
    return left


@wp.func
def free_best(
    factor: Factor, search: Search, env: int, count: int, rank: int, force: wp.float64, dependence: wp.float64
):
    """Free the fixed tension that gains most of those whose columns are independent; -1 if none gains."""
    W = search.matrix[env]
    tau = search.tension[env]
    lower = search.lower[env]
    upper = search.upper[env]
    is_free = search.is_free[env]
    refused = search.refused[env]
    gradient = search.gradient[env]
    norm = factor.norm[env]
    best = best_to_free(tau, lower, upper, is_free, refused, gradient, norm, force)
    while best >= 0:
        distance = tail_norm(W, best, count, rank)
        if distance > dependence * norm[best]:
            free_column(W, search.rotated[env], search.trial[env], best, count, rank, distance)
            search.free[env, count] = best
            is_free[best] = 1
            return best
        refused[best] = 1
        best = best_to_free(tau, lower, upper, is_free, refused, gradient, norm, force)
    return best


@wp.kernel(**OPTIONS)
def settle(
    factor: Factor,
    search: Search,
    projected: wp.array2d(dtype=wp.vec2d),
    dependence: wp.float64,
    start: wp.array2d(dtype=wp.float64),
    lower_bounds: wp.array2d(dtype=wp.float64),
    upper_bounds: wp.array2d(dtype=wp.float64),
):
    """Tensions of least |R tau - c| within bounds, from `start` or, if that is empty, from those without bounds."""
    env = wp.tid()
    force = begin(search, factor, projected, env)
    W = search.matrix[env]
    rhs = search.rotated[env]
    free = search.free[env]
    is_free = search.is_free[env]
    refused = search.refused[env]
    tau = search.tension[env]
    trial = search.trial[env]
    gradient = search.gradient[env]
    lower = search.lower[env]
    upper = search.upper[env]
    size = W.shape[1]
    rank = factor.rank[env]
    count = rank
    for column in range(size):
        lower[column] = lower_bounds[column, env]
        upper[column] = upper_bounds[column, env]
        tau[column] = wp.clamp(ZERO, lower[column], upper[column])
    if start.shape[0] == 0:
        solve_free(W, rhs, free, is_free, tau, trial, count)
    for column in range(size):
        if start.shape[0] > 0:
            trial[column] = start[column, env]
        tau[column] = wp.clamp(trial[column], lower[column], upper[column])
    count = fix_at_bounds(W, rhs, free, is_free, tau, lower, upper, count)

    freed = int(-1)
    direction = ZERO
    rounds = int(0)
    limit = ROUNDS * (size + 1)
    while rounds < limit:
        rounds += 1
        solve_free(W, rhs, free, is_free, tau, trial, count)
        if freed >= 0 and (trial[freed] - tau[freed]) * direction <= ZERO:
            # Rounding alone made it look useful; it is the last of the triangle.
            count -= 1
            is_free[freed] = 0
            refused[freed] = 1
        else:
            freed = -1
            left = step_towards(W, rhs, free, is_free, tau, trial, lower, upper, count)
            if left < count:
                count = left
                continue
            for column in range(size):
                refused[column] = 0
        measure_gradient(W, rhs, tau, is_free, gradient, count, rank)
        freed = free_best(factor, search, env, count, rank, force, dependence)
        if freed < 0:
            break
        direction = gradient[freed]
        count += 1
    search.free_count[env] = count
    search.rounds[env] = rounds


@wp.kernel(**OPTIONS)
def correct(search: Search, gradient: wp.array2d(dtype=wp.float64)):
    """Add R_F^-1 R_F^-T gradient to the free tensions F: what rounding left, by the gradient of all that is known."""
    env = wp.tid()
    W = search.matrix[env]
    free = search.free[env]
    trial = search.trial[env]
    count = search.free_count[env]
    for row in range(count):
        total = gradient[free[row], env]
        for before in range(row):
            total -= W[before, free[row]] * trial[before]
        trial[row] = total / W[row, free[row]]
    for back in range(count):
        row = count - 1 - back
        total = trial[row]
        for after in range(row + 1, count):
            total -= W[row, free[after]] * trial[after]
        trial[row] = total / W[row, free[row]]
    for row in range(count):
        column = free[row]
        tau = search.tension[env, column] + trial[row]
        search.tension[env, column] = wp.clamp(tau, search.lower[env, column], search.upper[env, column])
