"""What goes into the sheet of a model for each quantity: rows of ours, of the limit, and of peers."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache, partial
from itertools import permutations

from warp_artic.cli.bench_models import SETTLED, Model
from warp_artic.cli.bench_ours import Ours, accelerations, first_steps
from warp_artic.cli.bench_processes import RemotePeer
from warp_artic.cli.bench_sheet import Contestant, Sheet, figure
from warp_artic.cli.bench_timing import NotMeasuredError, Run
from warp_artic.sim.measure.memory import memory_of
from warp_artic.sim.measure.operations import count_operations
from warp_artic.sim.measure.peak import measure_peak
from warp_artic.sim.measure.profile import profile_step

PROFILED, PROFILED_STEPS = 1024, 200
QUANTITIES = {
    "step": "a time step",
    "asleep": "a call of a time step while all sleeps",
    "first_step": "a process up to the end of its first step, in seconds",
    "phases": f"where a step goes, {PROFILED} environments on the CPU",
    "mass_matrix": "mass matrix",
    "bias_force": "gravity and Coriolis efforts",
    "jacobian": "Jacobians of all links",
    "joint_force": "inverse dynamics",
}
WITH_PEERS = {"step", "mass_matrix", "bias_force", "jacobian", "joint_force"}
"""What peers are asked for."""
SAME = 1e-3
"""Largest difference of accelerations, as a share of the largest one, that is not said."""
OUR_LONGEST = 1.0
"""As LONGEST, for ours: no large batch is to be missing [s]."""
peak_of = cache(measure_peak)


def measure_quantity(arguments, model: Model, quantity: str, ours: list[Ours], peers: list[RemotePeer]) -> Sheet:
    """The figures of all contestants."""
    title = model.title if quantity == "step" else f"{model.name}: {QUANTITIES[quantity]}"
    sheet = Sheet(title, arguments.environments, model=model.name, quantity=quantity)
    first: dict[tuple[str, str], Ours] = {}
    for each in ours:  # what is not spread over threads is measured once
        first.setdefault((each.device, each.precision), each)
    plain = first.values()
    if quantity == "step":
        _measure_steps(arguments, model, ours, peers, sheet)
    elif quantity == "first_step":
        for each in plain:
            _measure_first_steps(model, each, sheet)
    elif quantity == "phases":
        for each in plain:
            if each.device == "cpu":
                _measure_phases(model, each, sheet)
    elif quantity == "asleep":
        rows = [Contestant(each.label, partial(each.calls_asleep, model)) for each in plain]
        sheet.measure(rows, arguments.repeats, arguments.seconds)
    elif len(model.scene.articulations) == 1:
        rows = [Contestant(each.label, partial(each.dynamics, model, quantity)) for each in plain]
        case = model.case("cpu")
        rows += [Contestant(peer.label, partial(peer.start, case, quantity)) for peer in peers if peer.has_dynamics]
        sheet.measure(rows, arguments.repeats, arguments.seconds)
    return sheet


def _measure_steps(arguments, model: Model, ours: list[Ours], peers: list[RemotePeer], sheet: Sheet) -> None:
    rows, skipped = [_our_steps(model, each, sheet) for each in ours], {}
    for peer in peers:
        for device in dict.fromkeys(each.device for each in ours):
            label = f"{peer.label}{'' if device == 'cpu' else f', {device}'}"
            try:
                rows.append(_steps_of_peer(model, peer, label, device, sheet))
            except NotMeasuredError as reason:
                skipped[label] = str(reason)
    sheet.measure(rows, arguments.repeats, arguments.seconds)
    for label, reason in skipped.items():
        sheet.skip(label, reason)
    _compare(ours, sheet)


def _compare(ours: list[Ours], sheet: Sheet) -> None:
    """Rows of ratios: of precisions, and of numbers of threads."""
    for upper, lower in permutations([each for each in ours if not each.in_graph], 2):
        if replace(upper, precision="float32") == lower:
            sheet.compare(f"float64 over float32, {upper.place}", upper.label, lower.label)
        if replace(upper, threads=lower.threads) == lower and upper.threads < lower.threads:
            sheet.compare(f"{upper.threads} over {lower.threads} threads, {upper.precision}", upper.label, lower.label)


def _our_steps(model: Model, each: Ours, sheet: Sheet) -> Contestant:
    """A row; of one core or a GPU also the share of its peak, and a note on operations, bytes and memory."""
    memory = {}

    def start(environments: int) -> list[Run]:
        simulation = each.simulation(model, environments)
        memory[environments] = memory_of(simulation.run)._asdict()
        return each.steps(simulation)

    def facts(environments: int, least: float) -> dict:
        return {**asdict(each), "memory": memory[environments]}

    if each.in_graph or each.threads not in (None, 1):
        return Contestant(each.label, start, facts, longest=OUR_LONGEST)
    operations, peak = each.operations(model), asdict(peak_of(each.device, each.precision))
    needed = {"flops": operations.flops, "flops_apart": operations.flops, "bytes": operations.bytes}
    limits = {name: 1e6 * needed[name] / peak[name] for name in needed}

    def facts_of_peak(environments: int, least: float) -> dict:
        shares = {name: limit / least for name, limit in limits.items()}
        own = {"flops": operations.flops, "bytes": operations.bytes, "peak": peak, "share_of_peak": shares}
        return facts(environments, least) | own

    def share(entry: dict) -> str:
        return " / ".join(f"{100 * entry['share_of_peak'][name]:.0f}" for name in ("flops", "flops_apart")) + " %"

    sheet.notes.append(
        f"{each.label}: {operations.flops} operations and {operations.bytes} bytes a step, at the least "
        f"{figure(limits['flops'])} us by {figure(1e-9 * peak['flops'])} GFLOP/s of multiply-adds, "
        f"{figure(limits['flops_apart'])} us by {figure(1e-9 * peak['flops_apart'])} GFLOP/s of products and sums, "
        f"{figure(limits['bytes'])} us by {figure(1e-9 * peak['bytes'])} GB/s"
    )
    below = "of the peak: multiply-adds / apart", share
    return Contestant(each.label, start, facts_of_peak, below, OUR_LONGEST)


def _steps_of_peer(model: Model, peer: RemotePeer, label: str, device: str, sheet: Sheet) -> Contestant:
    """A row, and a note where its model differs from ours."""
    case = model.case(device)
    answer = peer.acceleration(case)
    expected, ignores = accelerations(model), answer["ignores"]
    largest = max(map(abs, expected.values()))
    difference = max(abs(answer["acceleration"][joint] - value) for joint, value in expected.items()) / largest
    if ignores or not difference <= SAME:
        without = f"other model, without {' and '.join(ignores)}; " if ignores else ""
        sheet.notes.append(f"{label}: {without}accelerations differ by {difference:.1g} of the largest")
    facts = {"device": device, "acceleration_difference": difference, "ignores": ignores}
    return Contestant(label, partial(peer.start, case, "step"), lambda environments, least: facts)


def _measure_first_steps(model: Model, each: Ours, sheet: Sheet) -> None:
    try:
        found = {count: first_steps(model, each, count) for count in sheet.environments}
    except NotMeasuredError as reason:
        sheet.skip(each.label, str(reason))
        return
    for name in ("cold", "warm"):
        entries = [
            {"environments": count, "least": times[name], "memory": times["memory"]} for count, times in found.items()
        ]
        sheet.add(f"{each.label}, {name}", entries)
    sizes = ", ".join(f"{1e-6 * times['memory']:.0f} MB" for times in found.values())
    sheet.notes.append(f"{each.label}: peak memory of the process {sizes}")


def _measure_phases(model: Model, each: Ours, sheet: Sheet) -> None:
    """Shares of time and of operations by the file of a phase."""
    simulation = each.simulation(model, PROFILED)
    simulation.step(SETTLED)
    times, counts = profile_step(simulation.run, PROFILED_STEPS), count_operations(simulation.run)
    sheet.heads = "phase", "of time", "of operations"
    sheet.rows.append((each.label, "", ""))
    for file, share in times.items():
        operations = counts.by_file.get(file, 0) / counts.flops
        sheet.rows.append((f"  {file}", f"{100 * share:.1f} %", f"{100 * operations:.1f} %"))
    sheet.results.append(
        {"model": model.name, "quantity": "phases", "name": each.label, "time": times, "flops": counts.by_file}
    )
