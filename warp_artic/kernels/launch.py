"""The kernels: one thread is one worker, which takes its share of the blocks of environments one after the other.

On a CPU a launch has one worker, and threads make launches for parts of the blocks (`kernels.threads`); on CUDA there
is one worker for each block. The work space has a place for each worker, so that it stays in the caches however many
environments there are.

One step kernel serves every tree, from the first step on, so that results never depend on which kernels are compiled.
Kernels without what a tree does not have were measured: a step of the humanoid takes 1 % less and one of the arm 7 %,
bitwise the same, but each set of features costs a compilation nearly as long as the only one. On a CPU the compiler
does not contract a product and a sum: that gains 7 % in one scene and nothing in the others, and where it does so
depends on the code around, which neighbours in a lane could notice.
"""

from functools import cache

import warp as wp

from warp_artic.constraints.contact_detection import find_contacts
from warp_artic.constraints.contact_pair import CONTACT_PAIR
from warp_artic.constraints.contact_places import report_contacts
from warp_artic.constraints.report import report_rows
from warp_artic.kernels.layout import with_known_layout
from warp_artic.kernels.pull_back import pull_back_for
from warp_artic.math import compiling
from warp_artic.math.lean_codegen import cpu_flags
from warp_artic.math.numbers import Numbers, Real, absolute, any_positive, maximum, real
from warp_artic.math.processor import native
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.phases.given_values import check_values_for
from warp_artic.phases.integrate import count_step, displace_block
from warp_artic.phases.keep import keep_state_for
from warp_artic.phases.outputs import report_links
from warp_artic.phases.sleep import forget_accelerations, is_awake, put_to_sleep, remember, wake_changed
from warp_artic.solver.bare_dynamics import measure_tendons
from warp_artic.solver.plan import StepPlan
from warp_artic.solver.rows.contacts import solve_with_contacts
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.pgs import solve_pgs, solve_pgs_with_contacts
from warp_artic.solver.runge_kutta import step_runge_kutta
from warp_artic.solver.step import step_block

CPU_FLAGS = cpu_flags(
    lean=native("-fno-slp-vectorize -fno-vectorize -fno-unroll-loops -mllvm=-inline-threshold=1000000"),
    plain=native("-fno-slp-vectorize -mllvm=-inline-threshold=1000000"),
)
"""Lanes are explicit, so the compiler's own search for them only costs time, and so does unrolling loops: a step takes
the same time without it, and compiling 12 % less. All is inlined that `math.lean_source` does not have called:
functions below its size, which is where the compiler's own choice loses 8 % of a step. Lane vectors that are kept on
the stack lie on cache lines only if it is aligned anew; otherwise a run takes up to a quarter longer, by chance.

Step kernel of float32 lanes on AVX-512, bitwise the same: as Warp writes the source, it takes 85 CPU seconds to
compile, and rewritten 10 s, with the same time of a step. At -O1 in place of Warp's -O2 the whole start of a run takes
0 to 5 % less, and a step of lanes 8 % more for the arm, 3 % for the humanoid, 6 % for the ragdoll with friction in its
joints and none for the hand with tendons; a step of float64 scalars 7 to 14 %."""

BLOCK = 64
"""Threads of a block in a launch on CUDA; on a CPU it is one. Each has all the registers that a thread can have: with
fewer of them and more threads at a time large batches of a humanoid are slower (see the benchmarks)."""

OPTIONS = {
    "enable_backward": False,
    "module": "unique",
    "module_options": {"cpu_compiler_flags": CPU_FLAGS, "block_dim": 1, "optimization_level": 2},
    "launch_bounds": (BLOCK, 1),
}
"""Options of every kernel. Warp names a kernel by what it is made of, its block included: with that of a CPU it finds
out the name once and not twice, which saves 0.1 s of a start. Launches on CUDA have another block all the same.

The level of optimization is Warp's own for a CPU. On CUDA, where its own is 3, it makes NVRTC compile a step kernel of
float32 in 29 CPU seconds in place of 290, with a fifth less code."""

WITH_DERIVATIVES = cpu_flags(
    lean=native("-fno-slp-vectorize -fno-vectorize -fno-unroll-loops"), plain=native("-fno-slp-vectorize")
)
"""Flags for dual and taped numbers, of which an operation is many. Where the compiler chooses what is inlined, a step
kernel with contacts takes 36 CPU seconds to compile in place of 58 on dual numbers, and 39 in place of 46 on taped
ones; steps take as long, bitwise the same."""


def options_for(numbers: Numbers) -> dict:
    """Options of a kernel that takes steps on a number type."""
    if not (numbers.is_dual or numbers.is_taped):
        return OPTIONS
    return OPTIONS | {"module_options": OPTIONS["module_options"] | {"cpu_compiler_flags": WITH_DERIVATIVES}}


SETTLES = {"direct": solve_direct, "pgs": solve_pgs, "tgs": solve_pgs}
"""The function that solves the active constraint rows, by solver."""
SETTLES_WITH_CONTACTS = {"direct": solve_with_contacts, "pgs": solve_pgs_with_contacts, "tgs": solve_pgs_with_contacts}
"""The same of mechanisms that have shapes which may touch."""


@wp.func
def find_none(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Find no points of contact: those of a mechanism without such shapes."""
    pass


def step_functions(solver: str, tree: Tree) -> tuple[wp.Function, wp.Function]:
    """What solves the active constraint rows of a mechanism, and what finds points of contact.

    Loops are closed without an iteration error: the rows of mechanisms with loops are solved together by all solvers.
    Contacts have kernels of their own: with detection in it, a step kernel takes longer to compile.
    """
    solver = "direct" if tree.has_loops else solver
    if tree.count(CONTACT_PAIR):
        return SETTLES_WITH_CONTACTS[solver], find_contacts
    return SETTLES[solver], find_none


@cache
def step_kernel(numbers: Numbers, settle: wp.Function, find_points: wp.Function) -> wp.Kernel:
    """Steps on a number type, with `step_functions`. As all kernels, it is compiled when it is first prepared.

    Where `every` is above 0, states after so many steps are kept as records, the first one at `record`; taped numbers
    pull steps back there.
    """
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    Forces, Kept = structs.Forces, structs.Kept
    known_step_block = with_known_layout(step_block, numbers)
    check_values = check_values_for(numbers, Model, State)
    keep = (pull_back_for if numbers.is_taped else keep_state_for)(numbers, State, Kept)

    @wp.kernel(**options_for(numbers))
    def step(
        model: Model,
        state: State,
        control: Control,
        forces: Forces,
        work: Work,
        first: int,
        end: int,
        workers: int,
        steps: int,
        dt: wp.float64,
        has_middle: int,
        substeps: int,
        sweeps: int,
        last_sweeps: int,
        with_forces: int,
        kept: Kept,
        every: int,
        record: int,
    ):
        worker = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for block in range(first + worker, end, workers):
            check_values(model, state, block)
            if model.sleep_steps > 0:
                wake_changed(model, state, control, block)
            was_awake = is_awake(model, state, block)
            for count in range(steps):
                reports = int(0)
                if count == steps - 1:
                    reports = with_forces
                if reports > 0 or is_awake(model, state, block):
                    known_step_block(
                        model,
                        state,
                        control,
                        work,
                        forces,
                        block,
                        worker,
                        h,
                        StepPlan(has_middle, substeps, sweeps, last_sweeps, reports),
                        settle,
                        find_points,
                    )
                else:
                    count_step(state, block)
                    if any_positive(state.failure[0, block]):
                        forget_accelerations(model, state, block, state.failure[0, block])
                if every > 0 and (count + 1) % every == 0:
                    keep(state, kept, record + (count + 1) // every - 1, block)
            if model.sleep_steps > 0 and was_awake:
                remember(model, state, control, block)

    return step


@cache
def runge_kutta_kernel(numbers: Numbers) -> wp.Kernel:
    """Steps of Runge-Kutta 4."""
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    check_values = check_values_for(numbers, Model, State)
    Kept = structs.Kept
    keep = (pull_back_for if numbers.is_taped else keep_state_for)(numbers, State, Kept)

    @wp.kernel(**options_for(numbers))
    def runge_kutta(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        first: int,
        end: int,
        workers: int,
        steps: int,
        dt: wp.float64,
        kept: Kept,
        every: int,
        record: int,
    ):
        worker = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for block in range(first + worker, end, workers):
            check_values(model, state, block)
            if model.sleep_steps > 0:
                wake_changed(model, state, control, block)
            was_awake = is_awake(model, state, block)
            for count in range(steps):
                if is_awake(model, state, block):
                    step_runge_kutta(model, state, control, work, block, worker, h)
                else:
                    count_step(state, block)
                if every > 0 and (count + 1) % every == 0:
                    keep(state, kept, record + (count + 1) // every - 1, block)
            if model.sleep_steps > 0 and was_awake:
                remember(model, state, control, block)

    return runge_kutta


@cache
def mobilities_kernel(numbers: Numbers) -> wp.Kernel:
    """Measures the mobilities of tendons."""
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    Real = numbers.real

    @wp.kernel(**OPTIONS)
    def mobilities(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        first: int,
        end: int,
        workers: int,
        mobility: wp.array2d(dtype=Real),
    ):
        worker = wp.tid()
        for block in range(first + worker, end, workers):
            measure_tendons(model, state, control, work, mobility, block, worker)

    return mobilities


@cache
def contacts_kernel(numbers: Numbers) -> wp.Kernel:
    """Finds the points of contact at a state."""
    structs = arrays_for(numbers)
    Model, State, Work = structs.Model, structs.State, structs.Work
    Real = numbers.real

    @wp.kernel(**OPTIONS)
    def contacts(
        model: Model,
        state: State,
        work: Work,
        first: int,
        end: int,
        workers: int,
        gap: wp.array2d(dtype=Real),
        position: wp.array2d(dtype=Real),
        normal: wp.array2d(dtype=Real),
    ):
        worker = wp.tid()
        for block in range(first + worker, end, workers):
            report_contacts(model, state, work, gap, position, normal, block, worker)

    return contacts


@cache
def report_kernel(numbers: Numbers) -> wp.Kernel:
    """Brings link poses, link velocities, energies and the measures of couplings up to date."""
    structs = arrays_for(numbers)
    Model, State, Report, Work = structs.Model, structs.State, structs.Report, structs.Work

    @wp.kernel(**OPTIONS)
    def report(model: Model, state: State, report: Report, work: Work, first: int, end: int, workers: int):
        worker = wp.tid()
        for block in range(first + worker, end, workers):
            report_links(model, state, work, report, block, worker)
            report_rows(model, state, work, report, block, worker)

    return report


@cache
def sleep_kernel(numbers: Numbers) -> wp.Kernel:
    """Lets trees sleep that are marked."""
    structs = arrays_for(numbers)
    Model, State, Control = structs.Model, structs.State, structs.Control

    @wp.kernel(**OPTIONS)
    def sleep(model: Model, state: State, control: Control):
        put_to_sleep(model, state, control, wp.tid())

    return sleep


@cache
def displace_kernel(numbers: Numbers) -> wp.Kernel:
    """Moves mechanisms by what is given for each dof, without velocity; not those that have failed or sleep."""
    structs = arrays_for(numbers)
    Model, State, Work = structs.Model, structs.State, structs.Work
    Real = numbers.real

    @wp.kernel(**OPTIONS)
    def displace(
        model: Model, state: State, work: Work, first: int, end: int, workers: int, path: wp.array2d(dtype=Real)
    ):
        worker = wp.tid()
        for block in range(first + worker, end, workers):
            displace_block(model, state, work, path, block, worker)
            if model.link_count == 1:
                # What contacts have given is not to be expected of the next step.
                moved = real(0.0, model.gravity[0, block])
                for dof in range(model.dof_count):
                    moved = maximum(moved, absolute(path[dof, block]))
                forget_accelerations(model, state, block, moved)

    return displace


@cache
def watch_kernel(numbers: Numbers) -> wp.Kernel:
    """Wakes what has been changed since the last step, or remembers all as it is now."""
    structs = arrays_for(numbers)
    Model, State, Control = structs.Model, structs.State, structs.Control

    @wp.kernel(**OPTIONS)
    def watch(model: Model, state: State, control: Control, keeps: int):
        block = wp.tid()
        if keeps == 1:
            remember(model, state, control, block)
        else:
            wake_changed(model, state, control, block)

    return watch


def load(kernel: wp.Kernel, device: str) -> None:
    """Compile a kernel for launches on a device, unless that is done."""
    compiling.load(kernel, device, BLOCK)
