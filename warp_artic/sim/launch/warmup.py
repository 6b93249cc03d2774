"""Kernels compiled ahead of need, several at once, into Warp's cache, where later processes find them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import warp as wp

from warp_artic.constraints.contact_detection import find_contacts
from warp_artic.islands.kernels import island_kernels
from warp_artic.kernels.columns import (
    axis_kernels_for,
    column_kernels_for,
    indices_of_longs,
    indices_of_mask,
    row_kernels_for,
)
from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import (
    SETTLES,
    SETTLES_WITH_CONTACTS,
    contacts_kernel,
    displace_kernel,
    find_none,
    load,
    mobilities_kernel,
    report_kernel,
    runge_kutta_kernel,
    step_kernel,
    watch_kernel,
)
from warp_artic.kernels.threads import usable_threads
from warp_artic.math.numbers import Numbers, numbers_for, register_numbers
from warp_artic.solver.settings import SolverSettings

Kernels = dict[str, wp.Kernel]
"""By names for people."""


def kernels_ahead(
    settings: SolverSettings, precisions: Sequence[str], device: str, *, tendons: bool, contacts: bool, dynamics: bool
) -> Kernels:
    """The kernels that simulations with such settings need; those that take longest to compile first.

    Args:
        settings: Which solver and integrator.
        precisions: "float32", "float64" or both.
        device: Where they are to run. On a CPU they are wanted for lanes and for scalars.
        tendons: Whether there are any.
        contacts: Whether there are mechanisms with shapes that may touch; these have kernels of their own.
        dynamics: Whether those of the dynamics suite are wanted.
    """
    on_cpu = wp.get_device(device).is_cpu
    cases = [case for precision in precisions for case in _number_types(precision, on_cpu).items()]
    cases.sort(key=lambda case: -case[1].lanes)
    wanted: Kernels = {}
    for title, numbers in cases:
        wanted |= _steps(title, numbers, settings, tendons)
    for title, numbers in cases if contacts and settings.integrator != "rk4" else ():
        wanted |= _steps_with_contacts(title, numbers, settings)
    for title, numbers in cases if dynamics else ():
        wanted |= {f"{name}, {title}": kernel for name, kernel in vars(dynamics_kernels_for(numbers)).items()}
    for precision, scalar in {precision: numbers_for(precision, False).scalar for precision in precisions}.items():
        copies = vars(column_kernels_for(scalar))
        wanted |= {f"{name} environments, {precision}": kernel for name, kernel in copies.items()}
        rows = vars(row_kernels_for(scalar))
        wanted |= {f"{name} rows of environments, {precision}": kernel for name, kernel in rows.items()}
        axes = vars(axis_kernels_for(scalar)) if dynamics else {}
        wanted |= {f"{name}, {precision}": kernel for name, kernel in axes.items()}
    for precision in precisions if contacts and settings.integrator != "rk4" else ():
        wanted |= island_kernels(precision)
    return wanted | {"indices": indices_of_longs, "indices of a mask": indices_of_mask}


def compile_all(kernels: Kernels, device: str, at_once: int | None = None) -> Iterator[tuple[str, float]]:
    """Compile the kernels that are not in the cache; the name and the seconds of each as it is done.

    So many `at_once`, by default as many as cores that the process may use.
    """
    with ThreadPoolExecutor(at_once or usable_threads()) as pool:
        tasks = [pool.submit(_compile, name, kernel, device) for name, kernel in kernels.items()]
        for task in as_completed(tasks):
            yield task.result()


def _compile(name: str, kernel: wp.Kernel, device: str) -> tuple[str, float]:
    begin = time.perf_counter()
    load(kernel, device)
    return name, time.perf_counter() - begin


def _number_types(precision: str, on_cpu: bool) -> dict[str, Numbers]:
    """What kernels of a precision work on, by titles: lanes for many environments, for few, and scalars."""
    scalar = {f"{precision}, scalar": numbers_for(precision, False)}
    if not on_cpu:
        return scalar
    many, few = numbers_for(precision, True), register_numbers(precision)
    lanes = {f"{precision}, lanes": many}
    if few is not many:
        lanes[f"{precision}, {few.lanes} lanes"] = few
    return lanes | scalar


def _steps(title: str, numbers: Numbers, settings: SolverSettings, tendons: bool) -> Kernels:
    """What steps, reports and recordings need."""
    report = {f"report, {title}": report_kernel(numbers)}
    if settings.integrator == "rk4":
        return {f"step, rk4, {title}": runge_kutta_kernel(numbers)} | report
    steps = {f"step, {settings.solver}, {title}": step_kernel(numbers, SETTLES[settings.solver], find_none)}
    if tendons:
        steps[f"mobilities of tendons, {title}"] = mobilities_kernel(numbers)
    return steps | report


def _steps_with_contacts(title: str, numbers: Numbers, settings: SolverSettings) -> Kernels:
    """What steps with contacts need, and what finds these at a state."""
    step = step_kernel(numbers, SETTLES_WITH_CONTACTS[settings.solver], find_contacts)
    return {
        f"step with contacts, {settings.solver}, {title}": step,
        f"contacts, {title}": contacts_kernel(numbers),
        f"displace, {title}": displace_kernel(numbers),
        f"watch, {title}": watch_kernel(numbers),
    }
