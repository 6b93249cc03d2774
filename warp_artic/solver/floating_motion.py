"""What floats and touches nothing keeps its momenta, and its energy where only weights and loop joints act.

Velocity forces at the middle of a step change P and L_C by terms of third order, more than what joints do is small: at
60 Hz a chain with light friction in its joints, which turn by 0.1 rad a step, had lost all of its momentum within
seconds. So after a step with a middle of a tree on which drives, friction, tendons or mimic joints act, and in which a
dof turns by more than 0.02 rad,
    P+ = P + h m g + F,   L_C+ = L_C + M,   c+ = c + h (P + P+) / 2 m
with F and M of tendons and the like that pull from outside. V_C, Omega and the position change as of one rigid body;
velocities relative to that stay as found.

Where loop joints close it and nothing else acts, so it is in each step, and velocities relative to the whole become s
times as large, which loop joints allow, with
    T_rel = T - P.P / 2 m - L_C.I_C^-1 L_C / 2,
    T_rel(q+, s v+) = T_rel(q, v) + L_C.I_C^-1 L_C / 2 - L_C.I_C+^-1 L_C / 2.
Weights change neither. What s may be is in `solver.closed_energy`, which has the same law for what the world holds. In
violent steps nothing bounds it below, and q+ that is out of reach is left for q (`solver.violent_trees`).

Trees that loop joints join count as one here too. None of this is done under drag, given forces or weights that turn
the tree. Nor is it in the step without contacts, for which those among many bodies are found: the step that responds
to their forces does not do it either.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays, load_vec3
from warp_artic.solver.closed_energy import energy_scale
from warp_artic.solver.motion_sums import END, INNER, SPIN, relative_energy, spin_energy
from warp_artic.solver.tree_rates import is_lone_body, turn_watched
from warp_artic.solver.unresolved_motion import find_inputs, find_pushes, uneven_weights


@wp.func
def keeps_momenta(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    tree: int,
    rate: Real,
    block: int,
    worker: int,
    h: Real,
):
    """One where a floating tree that is acted on turns so far, with a largest rate, and touches nothing; else zero."""
    one = real(1.0, h)
    zero = one - one
    keeps = zero
    if model.tree_floats[tree] == 1 and model.tree_is_acted[tree] == 1:
        pushed = maximum(work.tree_pushed[tree, worker], control.is_touched[0, block])
        pushed = pushed + real(float(model.tree_has_drag[tree]), h)
        pushed = maximum(pushed, find_pushes(model, control, tree, block, zero))
        is_late = one - work.position_weight[0, worker]
        keeps = where_positive(pushed, zero, where_positive(is_late, one, zero))
        keeps = where_positive(h * h * rate * rate - turn_watched(model, tree, h), keeps, zero)
    return keeps


@wp.func
def keeps_motion(model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """One where only weights and loop joints act on a floating tree that these close; else zero.

    Not without a middle, nor at a start, nor after a loop joint of its mechanism is broken.
    """
    one = real(1.0, work.v[0, worker])
    zero = one - one
    keeps = zero
    if model.tree_keeps_motion[tree] == 1:
        acts = maximum(work.tree_pushed[tree, worker], work.tree_stopped[tree, worker])
        acts = maximum(acts, control.is_touched[0, block])
        acts = maximum(acts, uneven_weights(model, tree, block, zero))
        if model.breakable_loops == 1:
            for loop in range(model.loop_count):
                acts = maximum(acts, work.loop_is_broken[loop, worker])
        keeps = is_only_touched(model, control, work, tree, block, worker)
        keeps = where_positive(one - work.position_weight[0, worker], where_positive(acts, zero, keeps), zero)
    return keeps


@wp.func
def kept_energy(work: WorkArrays, tree: int, worker: int):
    """T_rel(q+, s v+) of the law [J]."""
    sums = 2 * END * tree
    spin = load_vec3(work.motion_sums, sums + SPIN, worker)
    return work.motion_sums[sums + INNER, worker] - spin_energy(work, sums + END, spin, worker)


@wp.func
def nearest_kept_energy(work: WorkArrays, tree: int, worker: int):
    """The same, as near as `solver.closed_energy` goes, but that nothing keeps energy from going in violent steps."""
    sums = 2 * END * tree
    left = kept_energy(work, tree, worker)
    found = relative_energy(work, sums + END, worker)
    before = relative_energy(work, sums, worker)
    s = energy_scale(found, left, where_positive(work.tree_turns[tree, worker], before - before, before))
    return s * s * found


@wp.func
def is_only_touched(model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """One where no drag and no given force acts on a tree with joints, else zero."""
    zero = real(0.0, work.v[0, worker])
    drag = real(float(model.tree_has_drag[tree]), zero)
    given = drag + find_inputs(model, control, tree, block, zero)
    return where_positive(given, zero, real(float(1 - int(is_lone_body(model, tree))), zero))
