"""What holds single joints of an island, friction and limits (`constraints.bounded_rows`), beside its points.

The step after contacts answers them with it: so do their impulses. Beside what rows do without contacts, with a law for
the whole step,
    least_i <= J v + C s <= most_i,   impulse_lower <= s <= impulse_upper,   s all impulses of a row so far,
    least_i = min(least, t least + (1 - t) J v_0) after a part t of the step, and most_i likewise:
free motion, which has met the law, asks for none. Friction that slides without contacts bears all that it can already,
and a spring what its law says.

What a point pushes onto rows they take up before the next point. With c = J_r Y of the limit that bears most of it, the
point has the response  G - c c_n / (J_r M^-1 J_r^T + C)  for it, as if it were held. So a light limb at its limit bears
what is heavy, which a sweep alone would bring it to by a small share of what is missing. Friction may give way, and is
not held.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.bounded_rows import SIZE
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_struct

COUPLED = wp.constant(0.05)
"""Share of the response of a point that a row which bears it takes off, from which on it is solved after the point."""
SLIDES = wp.constant(1e-3)
"""Speed without contacts with which a dof slides in its friction, as a share of what friction can change it by."""
OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def joint_rows(precision: str) -> SimpleNamespace:
    """The kernel `take_rows`, and functions that solve rows."""
    types = island_types(precision)
    T, V = types.T, types.V
    Movers, Points = types.Movers, types.Points
    Islands = island_struct()
    Rows = wp.array2d(dtype=T)

    @wp.func
    def first_dof(movers: Movers, env: int, mover: int):
        return env * movers.dof_count + movers.first[mover]

    @wp.kernel(**OPTIONS)
    def take_rows(
        bounds: Rows,
        gradients: Rows,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        h: T,
        movers: Movers,
    ):
        """Of mechanisms with joints: what holds single joints, and how these answer."""
        env, k = wp.tid()
        column = columns[k] + env
        number = numbers[k]
        dofs = movers.dofs[number]
        own = env * movers.dof_count + movers.first[number]
        inverse = env * movers.inverse_count + movers.inverse_first[number]
        start = movers.row_first[number]
        first = movers.row_term[start]
        J = env * movers.term_count
        for row in range(start, movers.row_first[number + 1]):
            speed = T(0.0)
            free = T(0.0)
            response = T(0.0)
            begin = movers.row_term[row]
            end = movers.row_term[row + 1]
            for term in range(begin, end):
                dof = movers.term_dof[term]
                movers.gradient[J + term] = gradients[term - first, column]
                speed += movers.gradient[J + term] * movers.start[own + dof]
                free += movers.gradient[J + term] * movers.free[own + dof]
            answer = env * movers.answer_count + movers.row_answer[row]
            for dof in range(dofs):
                total = T(0.0)
                for term in range(begin, end):
                    entry = inverse + dof * dofs + movers.term_dof[term]
                    total += movers.inverse[entry] * movers.gradient[J + term]
                movers.answer[answer + dof] = total
            for term in range(begin, end):
                response += movers.gradient[J + term] * movers.answer[answer + movers.term_dof[term]]
            entry = SIZE * (row - start)
            least = bounds[entry, column]
            most = bounds[entry + 1, column]
            impulse = bounds[entry + 2, column] * h
            compliance = bounds[entry + 3, column]
            # What the row bears without contacts: friction that slides all it can, a spring by its law.
            impulse_lower = -impulse
            impulse_upper = impulse
            if wp.isfinite(impulse):
                if wp.abs(free) > T(SLIDES) * impulse * response:
                    impulse_lower += wp.sign(free) * impulse
                    impulse_upper += wp.sign(free) * impulse
            elif compliance > T(0.0):
                if free < least:
                    impulse_lower = (free - least) / compliance
                elif free > most:
                    impulse_upper = (free - most) / compliance
                least = wp.min(least, free)
                most = wp.max(most, free)
            place = env * movers.row_count + row
            movers.least[place] = least
            movers.most[place] = most
            movers.impulse_lower[place] = impulse_lower
            movers.impulse_upper[place] = impulse_upper
            movers.compliance[place] = compliance
            movers.speed[place] = speed
            movers.response[place] = response

    @wp.func
    def row_rate(movers: Movers, env: int, mover: int, row: int, x: wp.array(dtype=T)):
        """J x of what holds a joint."""
        own = first_dof(movers, env, mover)
        J = env * movers.term_count
        rate = T(0.0)
        for term in range(movers.row_term[row], movers.row_term[row + 1]):
            rate += movers.gradient[J + term] * x[own + movers.term_dof[term]]
        return rate

    @wp.func
    def push_row(movers: Movers, env: int, mover: int, row: int, z: T, x: wp.array(dtype=T)):
        """x += M^-1 J^T z"""
        own = first_dof(movers, env, mover)
        answer = env * movers.answer_count + movers.row_answer[row]
        for dof in range(movers.dofs[mover]):
            x[own + dof] = x[own + dof] + movers.answer[answer + dof] * z

    @wp.func
    def solve_row(movers: Movers, env: int, m: int, row: int, part: T):
        """Solve a row of what holds single joints; returns its impulse."""
        k = env * movers.row_count + row
        response = movers.response[k]
        z = movers.impulse[k]
        found = z
        if response > T(0.0):
            before = (T(1.0) - part) * movers.speed[k]
            least = wp.min(movers.least[k], part * movers.least[k] + before)
            most = wp.max(movers.most[k], part * movers.most[k] + before)
            C = movers.compliance[k]
            total = movers.borne[k]
            y = row_rate(movers, env, m, row, movers.v) - response * z + C * total
            low = total + (least - y) / (response + C)
            high = total + (most - y) / (response + C)
            found = wp.max(low, T(0.0)) + wp.min(high, T(0.0))
            found = wp.clamp(found, movers.impulse_lower[k], movers.impulse_upper[k]) - total
            movers.impulse[k] = found
            if found != z:
                push_row(movers, env, m, row, found - z, movers.v)
        return found

    @wp.func
    def solve_rows(movers: Movers, islands: Islands, env: int, first: int, end: int, part: T):
        """Solve what holds single joints, in a substep that ends after a `part` of the step, and list what bears."""
        for place in range(first, end):
            m = islands.movers[place]
            listed = env * movers.row_count + movers.row_first[m]
            count = int(0)
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                if solve_row(movers, env, m, row, part) != T(0.0):
                    movers.bearing[listed + count] = row
                    count += 1
            movers.bearing_count[env * movers.count + m] = count

    @wp.func
    def answer_of_row(movers: Movers, points: Points, env: int, row: int, point: int, term: int):
        """What J v of a row changes by with unit impulses of a point, whose terms of the mechanism begin at `term`."""
        J = env * movers.term_count
        change = V()
        for t in range(movers.row_term[row], movers.row_term[row + 1]):
            change += movers.gradient[J + t] * points.Y[term + movers.term_dof[t]]
        return change

    @wp.func
    def solve_bearing(movers: Movers, points: Points, point: int, m: int, term: int, part: T):
        """Solve the rows of a mechanism that bear something: what a point pushes is held before the next one."""
        if m >= 0:
            env = points.environment[point]
            listed = env * movers.row_count + movers.row_first[m]
            for place in range(movers.bearing_count[env * movers.count + m]):
                row = movers.bearing[listed + place]
                change = answer_of_row(movers, points, env, row, point, term)[0]
                response = movers.response[env * movers.row_count + row]
                if change * change > T(COUPLED) * response * points.normal[point][0]:
                    solve_row(movers, env, m, row, part)

    @wp.func
    def borne_response(movers: Movers, points: Points, point: int, m: int, term: int):
        """What the row that bears most of what a point pushes takes off J M^-1 J^T, by its column of the normal.

        A row holds as an equality where the point presses it against its bound, unless it may give way.
        """
        most = V()
        if m >= 0:
            env = points.environment[point]
            listed = env * movers.row_count + movers.row_first[m]
            for place in range(movers.bearing_count[env * movers.count + m]):
                row = movers.bearing[listed + place]
                k = env * movers.row_count + row
                total = movers.borne[k] + movers.impulse[k]
                change = answer_of_row(movers, points, env, row, point, term)
                gives_way = wp.isfinite(movers.impulse_lower[k]) and wp.isfinite(movers.impulse_upper[k])
                if change[0] * total < T(0.0) and not gives_way:
                    borne = change * change[0] / (movers.response[k] + movers.compliance[k])
                    if borne[0] > most[0]:
                        most = borne
        return most

    @wp.func
    def forget_rows(movers: Movers, env: int, m: int):
        """Begin without impulses of what holds single joints."""
        for row in range(movers.row_first[m], movers.row_first[m + 1]):
            movers.impulse[env * movers.row_count + row] = T(0.0)
            movers.borne[env * movers.row_count + row] = T(0.0)
        movers.bearing_count[env * movers.count + m] = 0

    @wp.func
    def go_on_rows(movers: Movers, islands: Islands, env: int, first: int, end: int):
        """Apply the impulses of what holds single joints in the substep before."""
        for place in range(first, end):
            m = islands.movers[place]
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                z = movers.impulse[env * movers.row_count + row]
                movers.borne[env * movers.row_count + row] += z
                if z != T(0.0):
                    push_row(movers, env, m, row, z, movers.v)

    @wp.func
    def hold_projected(movers: Movers, islands: Islands, env: int, first: int, end: int, h: T):
        """Take limits of joints into account of what jointed bodies are moved apart by; friction has no part in it."""
        for place in range(first, end):
            m = islands.movers[place]
            for row in range(movers.row_first[m], movers.row_first[m + 1]):
                k = env * movers.row_count + row
                response = movers.response[k]
                is_hard = movers.compliance[k] == T(0.0) and not wp.isfinite(movers.impulse_upper[k])
                if response > T(0.0) and is_hard:
                    moved = row_rate(movers, env, m, row, movers.path)
                    change = row_rate(movers, env, m, row, movers.projected)
                    least = wp.min(h * movers.least[k] - moved, T(0.0)) - change
                    most = wp.max(h * movers.most[k] - moved, T(0.0)) - change
                    z = movers.impulse[k]
                    found = wp.max(z + least / response, T(0.0)) + wp.min(z + most / response, T(0.0))
                    movers.impulse[k] = found
                    if found != z:
                        push_row(movers, env, m, row, found - z, movers.projected)

    return SimpleNamespace(
        first_dof=first_dof,
        take_rows=take_rows,
        solve=solve_rows,
        solve_bearing=solve_bearing,
        borne_response=borne_response,
        forget=forget_rows,
        go_on=go_on_rows,
        hold_projected=hold_projected,
    )
