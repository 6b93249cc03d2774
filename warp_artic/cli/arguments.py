"""The arguments of each subcommand; what a value must satisfy in the simulation is checked there."""

from __future__ import annotations

import argparse
import math
import re
import sys
from importlib.metadata import version
from typing import NoReturn

from warp_artic.cli.looking_arguments import add_looking
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.solver.settings import DEFAULTS, INTEGRATORS, PRECISIONS, SOLVERS

PEERS = ("mujoco", "pinocchio", "mujoco_warp", "newton", "sapien", "ovphysx")
LARGEST_COUNT = 2**31 - 1
STDOUT = "-"
"""In place of the name of a file."""
INPUTS_HELP = """\
inputs: a .json or .npz file with any of these, in SI units and radians
  joint_position, joint_velocity             the start state: shape (D), or (E, D)
  drive_position_target, drive_velocity_target, joint_effort
                                             (D), per step (T, D), or (T, E, D)
for D dofs in the order of `dof_names` in `inspect --json`, E environments and T steps; or by dof: in .json an object
with dof names as keys, in .npz an array named like joint_effort:/World/arm/elbow; each value a number or one for each
step, and for a start state a number or one for each environment.
"""


BATCH_HELP = """\
actions
  batch report OUT -o report.html                write a page on all runs: what became of them, distributions
  batch bake OUT --runs 17,42 -o chosen.usda   step runs again and write them as a stage, whose variant set `run`
                                               chooses one; or side by side
  batch verify OUT --sample 100                step runs again, chosen at random, and compare them bitwise
  batch show OUT                               the status of runs
"""
FORCES_HELP = """\
forces: a .json, .npz or .csv file, in newtons along the axes of the world; two components on a mesh of triangles are
along the axes of its plane. Nodes that are not listed, or have null (.npz: nan), are free.
  .json  {"forces": {"12": [0, 0, 1], "17": null}}            by node of the only body with tendons, or a list for all
         {"time": [0, 0.5], "forces": {"/World/star": {"12": [[0, 0, 1], [0, 0, 2]]}}}          by body, and over time
  .npz   forces (N, 3) or (T, N, 3), or forces:/World/star; of some nodes with nodes (N); time (T)
  .csv   columns node, x, y, z, and if need be time, body
Times are in seconds from the start of the stage; without any, forces are one frame apart.

record: time (T), tendon_names (D) and body_names (B); tension, length, target_length and bound (-1 the least tension,
1 the largest) of shape (T, D), residual (T, B) and stiffness (B); of each body unreachable:/World/star (T, N, 3), the
remaining forces on nodes. In SI units; nan for the target length of a tendon that takes tensions.
"""
THREADS = "the cores that the process may use"


def _choices(name: str, values: tuple[str, ...]) -> str:
    """The help of a setting with these values."""
    return f"{' or '.join(values)}; default: that of the stage, else {DEFAULTS[name]}"


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise SettingsError(f"{message}{self._meant(message)} (see {self.prog} --help)")

    def _print_message(self, message, file=None) -> None:
        """argparse ignores that the help cannot be written."""
        (file or sys.stderr).write(message)

    def _meant(self, message: str) -> str:
        """What may have been meant by a command or an option that there is not."""
        choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if choice:
            return did_you_mean(choice[1], re.findall(r"[\w.-]+", choice[2]))
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        if not unknown:
            return ""
        known = _options(self)
        return (
            "; it is an option of a command, and goes behind it"
            if unknown[1] in known
            else did_you_mean(unknown[1], known)
        )


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """The options of a parser and its subcommands."""
    found = set()
    for action in parser._actions:
        found |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            found |= {text for own in action.choices.values() for text in _options(own)}
    return found


def command_line() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(prog="warp-artic", description="Articulated-body simulation for USD stages.")
    parser.add_argument("--version", action="version", version=f"warp-artic {version('warp-artic')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _add_simulate(commands)
    _add_solve_tendons(commands)
    _add_inspect(commands)
    _add_check(commands)
    _add_convert(commands)
    add_looking(commands, _number, _count)
    _add_ragdoll(commands)
    _add_identify(commands)
    _add_batch(commands)
    _add_bench(commands)
    _add_warmup(commands)
    _add_backends(commands)
    return parser


def _add_stage(parser: argparse.ArgumentParser, nargs: str | None = None, metavar: str = "STAGE") -> None:
    parser.add_argument("stage", metavar=metavar, nargs=nargs, help="a USD file")
    parser.add_argument(
        "--dialects",
        type=lambda text: tuple(text.split(",")),
        default=(),
        metavar="A,B",
        help="schema families that come first where several author the same; default: warpArtic,newton,physx,mjc,"
        "usdphysics",
    )


def _add_simulate(commands) -> None:
    parser = commands.add_parser(
        "simulate",
        help="step a stage and bake its motion into a layer",
        description="Step a stage and bake the motion into a layer over it. The stage itself is never edited.",
        epilog=INPUTS_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_stage(parser)
    parser.add_argument("-o", "--output", metavar="OUT.usdc", help="the run layer: .usd, .usda or .usdc")
    parser.add_argument("--record", metavar="OUT.npz", help="all states of all environments, as arrays")
    parser.add_argument("--forces", action="store_true", help="record the forces of joints as well")
    parser.add_argument(
        "--guides", action="store_true", help="show frames and limits of joints in the run layer, as guide prims"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--duration", type=_number, metavar="S", help="seconds; default: the time range of the stage, else 5"
    )
    length.add_argument("--steps", type=_count, metavar="N", help="number of time steps")
    parser.add_argument(
        "--dt", type=_number, metavar="S", help="time step, such as 1/240; default: that of the stage, else 1/240"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; default: cpu")
    parser.add_argument("--environments", type=_count, default=1, metavar="N", help="copies; the first one is baked")
    parser.add_argument("--threads", type=_count, metavar="N", help=f"most threads on a CPU; default: {THREADS}")
    parser.add_argument("--solver", metavar="NAME", help=_choices("solver", SOLVERS))
    parser.add_argument("--position-iterations", type=_count, metavar="N", help="default: those of the stage")
    parser.add_argument("--velocity-iterations", type=_count, metavar="N", help="default: those of the stage")
    parser.add_argument("--integrator", metavar="NAME", help=_choices("integrator", INTEGRATORS))
    parser.add_argument("--precision", metavar="NAME", help=_choices("precision", PRECISIONS))
    parser.add_argument(
        "--sleep-after",
        type=_number,
        metavar="S",
        help="let mechanisms sleep after this time at rest, such as 0.4; default: that of the stage, else never",
    )
    parser.add_argument(
        "--clips",
        type=_number,
        metavar="S",
        help="write the run layer as value clips of this length, for runs that exceed the memory",
    )
    parser.add_argument(
        "--if-changed",
        action="store_true",
        help="do nothing where the run layer is of this stage and these settings already",
    )
    parser.add_argument("--resume", action="store_true", help="continue a stopped run after its last complete clip")
    parser.add_argument("--inputs", metavar="FILE", help="start state, targets and efforts; see below")
    parser.add_argument("--frames-per-second", type=_number, metavar="N", help="samples of the run layer")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def _add_solve_tendons(commands) -> None:
    parser = commands.add_parser(
        "solve-tendons",
        help="find the target lengths of tendons on meshes that produce wanted forces on nodes",
        description="Find the tensions of tendons on elastic bodies that come nearest to wanted forces on nodes,\n"
        "within the least and largest tension of each (minTension and maxTension on the stage), and the target\n"
        "lengths that give these tensions with one stiffness. Bodies are where the stage starts, or with --deformed\n"
        "where tendons and weight bring them.",
        epilog=FORCES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_stage(parser)
    parser.add_argument("--forces", metavar="FILE", required=True, help="the wanted forces; see below")
    parser.add_argument(
        "-o", "--output", metavar="OUT.usda", help="target lengths over time, as a layer over the stage"
    )
    parser.add_argument("--record", metavar="OUT.npz", help="all results as arrays; see below")
    parser.add_argument(
        "--stiffness",
        type=_number,
        metavar="K",
        help="of every spring and cable, in N/m; default: that of the stage if they share one, else one that keeps "
        "changes of length below a tenth",
    )
    parser.add_argument(
        "--deformed",
        action="store_true",
        help="forces are those at the equilibrium under tendons and weight, and not at the start; a slow motion then "
        "has them",
    )
    parser.add_argument(
        "--regularisation", type=_number, metavar="L", help="weight of the squares of tensions; default: 0"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; default: cpu")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_inspect(commands) -> None:
    parser = commands.add_parser(
        "inspect",
        help="show what is read from a stage",
        description="Show trees, masses, joints, gains, limits, tendons and mimic joints in SI units and as authored, "
        "the attribute and the schema family of each value, and what is not used. The exit code is 1 when there is an "
        "error; what can be read is shown anyway.",
    )
    _add_stage(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_check(commands) -> None:
    parser = commands.add_parser(
        "check",
        help="list errors and warnings of a stage",
        description="List errors, warnings and notes with prim paths, and how to fix them. The exit code is 1 when "
        "there is an error: the stage cannot be simulated as authored.",
    )
    _add_stage(parser, nargs="?")
    parser.add_argument("--rules", action="store_true", help="list every rule, what it allows and how to fix it")
    parser.add_argument(
        "--dynamics",
        action="store_true",
        help="measure residuals of dynamics identities; the exit code is 1 when one exceeds what is allowed",
    )
    parser.add_argument(
        "--assemble",
        action="store_true",
        help="find the nearest start in which loop joints and mimic joints hold; the exit code is 1 when there is none",
    )
    parser.add_argument("-o", "--output", metavar="OUT.usda", help="the start of --assemble, as a layer over the stage")
    parser.add_argument("--states", type=_count, default=8, metavar="N", help="random states of --dynamics; default: 8")
    parser.add_argument("--seed", type=_count, default=0, metavar="N", help="of those states; default: 0")
    parser.add_argument(
        "--json", action="store_true", help="print the result as JSON; a stage that cannot be opened is a finding there"
    )


def _add_convert(commands) -> None:
    parser = commands.add_parser(
        "convert",
        help="rewrite tendons, mimic joints and motors of other schemas as ours",
        description="Write a copy of a stage with scene settings, tendons, mimic joints, motors, friction and soft "
        "limits of other schemas rewritten as ours, and list what was rewritten and what was kept. The stage itself is "
        "never edited.",
    )
    _add_stage(parser, metavar="IN")
    parser.add_argument(
        "output", metavar="OUT", help="the copy: .usd, .usda or .usdc; what IN refers to stays in place"
    )
    parser.add_argument("--to", choices=("warpArtic",), required=True, help="the schemas to rewrite as")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_ragdoll(commands) -> None:
    parser = commands.add_parser(
        "ragdoll",
        help="author a ragdoll for a skinned character",
        description="Write a layer over a stage with links, joints, colliders and masses for the joints of a skeleton. "
        "`simulate` then moves the skin. The stage itself is never edited.",
    )
    parser.add_argument("stage", metavar="STAGE", help="a USD file")
    parser.add_argument("-o", "--output", metavar="OUT.usda", required=True, help="the layer: .usd, .usda or .usdc")
    parser.add_argument("--skeleton", metavar="PATH", help="the Skeleton; default: the only one of the stage")
    parser.add_argument("--path", metavar="PATH", help="where links go; default: Ragdoll beside the skeleton")
    parser.add_argument("--density", type=_number, metavar="N", help="in units of the stage; default: 1000 kg/m^3")
    parser.add_argument(
        "--margin",
        type=_number,
        default=10.0,
        metavar="DEGREES",
        help="of limits beyond the range of the animation; default: 10",
    )
    parser.add_argument(
        "--merge", nargs="+", default=[], metavar="NAME", help="more joints that move with the link above, as *finger*"
    )
    parser.add_argument(
        "--follow", type=_number, metavar="HZ", help="natural frequency of drives by which joints follow the animation"
    )
    parser.add_argument("--animated-root", action="store_true", help="move the root link as the animation has it")
    parser.add_argument("--json", action="store_true", help="for programs")


def _add_identify(commands) -> None:
    parser = commands.add_parser(
        "identify",
        help="find values on a stage by which it moves as it was recorded",
        description="Find gains, masses, friction, stiffness and so on by which a stage moves as it was recorded, with "
        "confidence intervals of 95 %, and write them as a layer over the stage. The stage itself is never edited.",
    )
    _add_stage(parser)
    parser.add_argument("recording", metavar="RECORDING", help="an .npz file, as `simulate --record` writes it")
    parser.add_argument(
        "--parameters",
        nargs="+",
        required=True,
        metavar="PRIM.ATTRIBUTE",
        help="what is found, such as /World/arm/elbow.physics:mass; a path expression stands for several prims, as "
        "'/World/arm//*.drive:angular:physics:stiffness'. What is authored is where the search begins",
    )
    parser.add_argument("-o", "--output", metavar="OUT.usda", help="the layer: .usd, .usda or .usdc")
    parser.add_argument("--environment", type=_count, default=0, metavar="N", help="of the recording; default: 0")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_batch(commands) -> None:
    parser = commands.add_parser(
        "batch",
        help="step a plan of many runs, or bake runs of one back to a stage",
        description="Step all runs of a plan that are not complete yet, and write their results to a folder. The exit "
        "code is 0, 1 (some runs failed or diverged), 2 (the plan is wrong) or 75 (stopped; the same command "
        "continues).",
        epilog=BATCH_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="PLAN", nargs="+", help="a plan, .toml or .json; or an action and a folder")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the folder, or a URI such as s3://bucket/out; default: the name of the plan",
    )
    parser.add_argument("--explain", action="store_true", help="show what is varied, and the cost; step nothing")
    parser.add_argument("--dry-run", action="store_true", help="print the values of all runs as CSV; step nothing")
    parser.add_argument("--engine", default="local", metavar="NAME", help="local, processes or ray; default: local")
    parser.add_argument("--workers", type=_count, default=1, metavar="N", help="of processes and ray; default: 1")
    parser.add_argument("--address", metavar="NAME", help="of a Ray cluster; default: one of its own")
    parser.add_argument("--part", metavar="I/N", help="step part I of N, as a job of a farm")
    parser.add_argument("--device", default="cpu", help="cpu, cuda:N, or cuda: a GPU for each worker; default: cpu")
    parser.add_argument("--threads", type=_count, metavar="N", help=f"most threads of a worker; default: {THREADS}")
    parser.add_argument("--check-files", action="store_true", help="verify existing files by content, not by size")
    parser.add_argument("--runs", metavar="A,B:C", help="of bake: runs by number or range")
    parser.add_argument("--side-by-side", type=_count, metavar="N", help="of bake: all runs on a grid, N in a row")
    parser.add_argument("--frames-per-second", type=_number, metavar="N", help="of bake: samples of the motion")
    parser.add_argument(
        "--sample", type=_count, default=100, metavar="N", help="of verify: how many runs; default: 100"
    )
    parser.add_argument("--seed", type=_count, default=0, metavar="N", help="of that sample; default: 0")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_bench(commands) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure throughput, beside peers that are installed",
        description="Microseconds per environment, the least and the median of several runs, in which all take turns.",
    )
    parser.add_argument("--models", nargs="+", metavar="NAME", help="also chainN of N links; default: all but those")
    parser.add_argument(
        "--measure",
        nargs="+",
        default=["step"],
        metavar="NAME",
        help="any of step, asleep, first_step, phases, mass_matrix, bias_force, jacobian, joint_force; default: step",
    )
    batches = [1, 64, 1024, 8192, 65536]
    parser.add_argument(
        "--environments",
        nargs="+",
        type=_count,
        default=batches,
        metavar="N",
        help=f"default: {' '.join(map(str, batches))}",
    )
    parser.add_argument(
        "--device", nargs="+", metavar="NAME", help="cpu, cuda:N; default: cpu and, if there is one, cuda:0"
    )
    parser.add_argument(
        "--precision",
        nargs="+",
        choices=PRECISIONS,
        default=list(PRECISIONS),
        metavar="NAME",
        help=f"{' or '.join(PRECISIONS)}; default: both",
    )
    parser.add_argument(
        "--threads", nargs="+", type=_count, metavar="N", help=f"of ours, on a CPU; default: 1 and {THREADS}"
    )
    parser.add_argument("--repeats", type=_count, default=5, metavar="N", help="runs of each case; default: 5")
    parser.add_argument("--seconds", type=_number, default=0.05, metavar="S", help="length of a run; default: 0.05")
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=PEERS,
        metavar="NAME",
        help=f"any of {', '.join(PEERS)}, or none of them; default: those that are installed; of a checkout alone",
    )
    parser.add_argument(
        "--peer-python",
        nargs="+",
        default=[],
        metavar="PATH",
        help="further Pythons whose peers are measured; they need not have warp_artic",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        nargs="?",
        const=STDOUT,
        help="write the figures there as well; without a file to standard output, and the tables to standard error",
    )
    parser.add_argument("--plot", metavar="FILE", help="draw cost against environments and links: .png, .svg or .pdf")


def _add_warmup(commands) -> None:
    parser = commands.add_parser(
        "warmup",
        help="compile kernels in advance",
        description="Compile the kernels that steps, reports and recordings need, several at once, into Warp's cache: "
        "later runs on this machine find them there. A stage determines the settings, and which kernels are needed.",
    )
    _add_stage(parser, nargs="?")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; default: cpu")
    parser.add_argument("--solver", metavar="NAME", help=_choices("solver", SOLVERS))
    parser.add_argument("--integrator", metavar="NAME", help=_choices("integrator", INTEGRATORS))
    parser.add_argument("--precision", nargs="+", metavar="NAME", help=_choices("precision", PRECISIONS))
    parser.add_argument("--dynamics", action="store_true", help="the dynamics suite as well")
    parser.add_argument("--jobs", type=_count, metavar="N", help=f"kernels at once; default: {THREADS}")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_backends(commands) -> None:
    parser = commands.add_parser(
        "backends",
        help="list the stepping backends that hosts find",
        description="List the stepping backends that are registered here, as entry points of the group "
        "warp_artic.backends or by plugins of USD (PXR_PLUGINPATH_NAME), without importing them.",
    )
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def _number(text: str) -> float:
    """A finite number, also as a fraction such as 1/240."""
    above, slash, below = text.partition("/")
    try:
        value = float(above) / float(below) if slash else float(text)
    except ZeroDivisionError:
        raise argparse.ArgumentTypeError(f"{text!r} divides by zero") from None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, such as 0.5 or 1/240") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def _count(text: str) -> int:
    """An integer from 0 to LARGEST_COUNT."""
    try:
        value = int(text)
    except ValueError:
        value = _whole(text)
    if not 0 <= value <= LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 0 to {LARGEST_COUNT}")
    return value


def _whole(text: str) -> int:
    """A whole number written as 1e3 is; -1 for anything else."""
    try:
        value = float(text)
    except ValueError:
        return -1
    return int(value) if value.is_integer() else -1
