"""What goes into the sheet of a model for each quantity: rows of ours, of the limit, and of peers."""

from __future__ import annotations

from functools import cache, partial

from warp_artic.cli.bench_dynamics import Peer, mujoco_dynamics, ours, pinocchio_dynamics
from warp_artic.cli.bench_models import Model
from warp_artic.cli.bench_ours import Ours, accelerations, first_steps, steps_of
from warp_artic.cli.bench_peers.timing import CLOCKS, SETTLED, measure
from warp_artic.cli.bench_processes import PeerProcess
from warp_artic.cli.bench_sheet import Sheet, figure
from warp_artic.sim.memory import bytes_on_device
from warp_artic.sim.operations import count_operations
from warp_artic.sim.peak import measure_peak
from warp_artic.sim.profile import profile_step

PROFILED, PROFILED_STEPS = 1024, 200
QUANTITIES = {
    "step": "a time step",
    "first_step": "a process up to the end of its first step, in seconds",
    "phases": f"where a step goes, {PROFILED} environments on the CPU",
    "mass_matrix": "mass matrix",
    "bias_force": "gravity and Coriolis efforts",
    "jacobian": "Jacobians of all links",
    "joint_force": "inverse dynamics",
}
DYNAMICS_PEERS = {"mujoco": mujoco_dynamics, "pinocchio": pinocchio_dynamics}
SAME = 1e-3
"""Largest difference of accelerations, as a share of the largest one, that is not said."""
peak_of = cache(measure_peak)


def measure_quantity(
    arguments, model: Model, quantity: str, contestants: list[Ours], peers: dict[str, PeerProcess]
) -> Sheet:
    """The figures of all contestants."""
    title = model.title if quantity == "step" else f"{model.name}: {QUANTITIES[quantity]}"
    sheet = Sheet(title, arguments.environments, model=model.name, quantity=quantity)
    if quantity == "step":
        for each in contestants:
            _measure_our_steps(arguments, model, each, sheet)
        devices = dict.fromkeys(each.device for each in contestants)
        for name, process in peers.items():
            for device in devices:
                _measure_peer_steps(arguments, model, name, process, device, sheet)
    elif quantity == "first_step":
        for each in contestants:
            _measure_first_steps(model, each, sheet)
    elif quantity == "phases":
        for each in contestants:
            if each.device == "cpu":
                _measure_phases(model, each, sheet)
    elif len(model.scene.articulations) == 1:
        _measure_dynamics(arguments, model, quantity, contestants, sheet)
    return sheet


def _measure_our_steps(arguments, model: Model, each: Ours, sheet: Sheet) -> None:
    operations, peak = each.operations(model), peak_of(each.device, each.precision)
    memory = {}

    def times(count: int) -> list[float] | str:
        simulation = each.simulation(model, count)
        memory[count] = bytes_on_device(simulation) / count
        clock = CLOCKS[arguments.clock]
        found = measure(steps_of(simulation), count, arguments.repeats, arguments.seconds, clock=clock)
        stopped = simulation.failures()
        return str(stopped[0]) if stopped else found

    def facts(count: int, least: float) -> dict:
        return {
            "device": each.device,
            "precision": each.precision,
            "flops": operations.flops,
            "peak_flops": peak.flops,
            "share_of_peak_flops": 1e6 * operations.flops / (least * peak.flops),
            "bytes": operations.bytes,
            "peak_bytes": peak.bytes,
            "share_of_peak_bytes": 1e6 * operations.bytes / (least * peak.bytes),
            "device_memory": memory[count],
        }

    sheet.measure(each.label, times, facts)
    sheet.share("  of the peak of arithmetic", "share_of_peak_flops")
    sheet.notes.append(
        f"{each.label}: {operations.flops} operations and {operations.bytes} bytes a step, at the least "
        f"{figure(1e6 * operations.flops / peak.flops)} us by {figure(1e-9 * peak.flops)} GFLOP/s, "
        f"{figure(1e6 * operations.bytes / peak.bytes)} us by {figure(1e-9 * peak.bytes)} GB/s; "
        f"memory of the device: {memory[max(memory)]:.0f} bytes an environment"
    )


def _measure_peer_steps(arguments, model: Model, name: str, process: PeerProcess, device: str, sheet: Sheet) -> None:
    case, label = model.case(device), f"{process.labels[name]}{'' if device == 'cpu' else f', {device}'}"
    answer = process.ask(name, "acceleration", case)
    if "not_simulated" in answer:
        sheet.skip(label, answer["not_simulated"])
        return
    expected = accelerations(model)
    largest = max(map(abs, expected.values()))
    difference = max(abs(answer["acceleration"][joint] - value) for joint, value in expected.items()) / largest

    def times(count: int) -> list[float] | str:
        options = {
            "environments": count,
            "repeats": arguments.repeats,
            "seconds": arguments.seconds,
            "clock": arguments.clock,
        }
        answer = process.ask(name, "step", case, **options)
        return answer.get("not_simulated") or answer["times"]

    facts = {"device": device, "acceleration_difference": difference, "ignores": answer["ignores"]}
    sheet.measure(label, times, lambda count, least: facts)
    if answer["ignores"] or not difference <= SAME:
        without = f"other model, without {' and '.join(answer['ignores'])}; " if answer["ignores"] else ""
        sheet.notes.append(f"{label}: {without}accelerations differ by {difference:.1g} of the largest")


def _measure_first_steps(model: Model, each: Ours, sheet: Sheet) -> None:
    found = {count: first_steps(model, each, count) for count in sheet.environments}
    for name in ("cold", "warm"):
        facts = {count: {"memory": times["memory"]} for count, times in found.items()}
        row = {count: [times[name]] for count, times in found.items()}
        sheet.measure(f"{each.label}, {name}", row.__getitem__, lambda count, least, facts=facts: facts[count])
    sizes = ", ".join(f"{1e-6 * times['memory']:.0f} MB" for times in found.values())
    sheet.notes.append(f"{each.label}: peak memory of the process {sizes}")


def _measure_phases(model: Model, each: Ours, sheet: Sheet) -> None:
    """Shares of time and of operations by the file of a phase."""
    simulation = each.simulation(model, PROFILED)
    simulation.step(SETTLED)
    times, counts = profile_step(simulation, PROFILED_STEPS), count_operations(simulation)
    sheet.heads = "phase", "of time", "of operations"
    sheet.rows.append((each.label, "", ""))
    for file, share in times.items():
        operations = counts.by_file.get(file, 0) / counts.flops
        sheet.rows.append((f"  {file}", f"{100 * share:.1f} %", f"{100 * operations:.1f} %"))
    sheet.results.append(
        {"model": model.name, "quantity": "phases", "name": each.label, "time": times, "flops": counts.by_file}
    )


def _measure_dynamics(arguments, model: Model, quantity: str, contestants: list[Ours], sheet: Sheet) -> None:
    makers = {each.label: partial(_our_dynamics, each, model, quantity) for each in contestants}
    for name, peer in DYNAMICS_PEERS.items():
        if name in arguments.peers:
            makers[f"{name}, float64"] = partial(peer, model.xml, quantity)
    for label, make in makers.items():
        taken_off = {}

        def times(count: int, make=make, taken_off=taken_off) -> list[float] | str:
            peer = make(count)
            if peer is None:
                return "not installed"
            clock = CLOCKS[arguments.clock]
            found = measure(peer.evaluate, count, arguments.repeats, arguments.seconds, settled=1, clock=clock)
            taken_off[count] = (
                min(measure(peer.calls, count, 3, arguments.seconds / 3, settled=1, clock=clock)) if peer.calls else 0.0
            )
            return [value - taken_off[count] for value in found]

        sheet.measure(label, times, lambda count, least, taken_off=taken_off: {"taken_off": taken_off[count]})
        if any(taken_off.values()):
            sheet.notes.append(f"{label}: the same calls with one hinge are taken off")


def _our_dynamics(each: Ours, model: Model, quantity: str, environments: int) -> Peer:
    return Peer(ours(each.simulation(model, environments), quantity))
