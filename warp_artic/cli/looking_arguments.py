"""The arguments of the commands to look at runs: report, compare, render, view."""

from __future__ import annotations

from collections.abc import Callable

Number, Count = Callable[[str], float], Callable[[str], int]


def add_looking(commands, number: Number, count: Count) -> None:
    """Add these commands to the others; `number` and `count` read a number of an argument."""
    _add_report(commands, number, count)
    _add_compare(commands, number)
    _add_render(commands, number, count)
    _add_view(commands, number, count)


def _add_compare(commands, number: Number) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare the motion of two stages or layers",
        description="Compare the world transforms of all prims of two stages, the points of those that deform, and the "
        "joints of skeletons, at the times of all samples. The exit code is 1 when any differs by more than the "
        "tolerance, or is on one only.",
    )
    parser.add_argument("first", metavar="A", help="a USD file")
    parser.add_argument("second", metavar="B", help="another one")
    parser.add_argument(
        "--tolerance",
        type=number,
        default=1e-4,
        metavar="X",
        help="largest distance [m], angle [rad] and relative scale; default: 1e-4",
    )
    parser.add_argument("--junit", metavar="OUT.xml", help="the result as JUnit XML, a test case for each prim")
    parser.add_argument("--json", action="store_true", help="for programs")


def _add_report(commands, number: Number, count: Count) -> None:
    parser = commands.add_parser(
        "report",
        help="write a page on a run: replay, verdict, plots",
        description="Write one HTML file that needs no network: a replay in 3D, what was measured beside what is "
        "allowed, plots with a common cursor, attributes that are not used, and how to repeat the run. The exit code "
        "is 1 when anything is beyond what is allowed, or further from the reference than the tolerance.",
    )
    parser.add_argument("recordings", metavar="RUN.npz", nargs="+", help="a recording, or two of one stage to overlay")
    parser.add_argument("--stage", metavar="STAGE", help="its stage; default: the one that the recording names")
    parser.add_argument("-o", "--output", default="report.html", metavar="OUT.html", help="default: report.html")
    parser.add_argument("--environment", type=count, default=0, metavar="N", help="the one that is shown; default: 0")
    parser.add_argument("--reference", metavar="REF.npz", help="a recording that the first one is compared with")
    parser.add_argument(
        "--tolerance",
        type=number,
        default=1e-4,
        metavar="X",
        help="largest difference of any state from the reference, in SI units; default: 1e-4",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="evaluate the identities of the dynamics as well, as `check --dynamics` does; compiles kernels",
    )
    parser.add_argument("--junit", metavar="OUT.xml", help="the verdict as JUnit XML")
    parser.add_argument(
        "--frames-per-second", type=number, default=60.0, metavar="N", help="of replay and plots; default: 60"
    )
    parser.add_argument("--json", action="store_true", help="the verdict for programs")


def _add_render(commands, number: Number, count: Count) -> None:
    parser = commands.add_parser(
        "render",
        help="draw a picture or a loop of a stage, a layer or a recording",
        description="Draw a stage, a layer with motion or a recording, by ray tracing on a CPU or a GPU, without a "
        "display. A stage without motion is simulated as far as it is shown. Links without a shape are shown by a box "
        "of their inertia and rods to their joints. Needs the extra `render`.",
    )
    parser.add_argument("source", metavar="STAGE|RUN.npz|OUT.usdc", help="what is drawn")
    parser.add_argument("-o", "--output", required=True, metavar="X", help=".png, .jpg, .webp; a loop: .webp or .gif")
    parser.add_argument("--stage", metavar="STAGE", help="of a recording; default: the one that it names")
    parser.add_argument("--environment", type=count, default=0, metavar="N", help="of a recording; default: 0")
    parser.add_argument(
        "--times", metavar="S,S", help="poses of one picture, from faint to strong [s]; default: the start, or a loop"
    )
    parser.add_argument("--duration", type=number, metavar="S", help="of a loop [s]; default: 3")
    parser.add_argument("--frames-per-second", type=number, default=25.0, metavar="N", help="of a loop; default: 25")
    parser.add_argument("--size", default="640x440", metavar="WxH", help="pixels; default: 640x440")
    parser.add_argument("--azimuth", type=number, default=-60.0, metavar="DEG", help="of the camera; default: -60")
    parser.add_argument("--elevation", type=number, default=14.0, metavar="DEG", help="above the ground; default: 14")
    parser.add_argument("--label", default="", metavar="TEXT", help="in a corner of the picture")
    parser.add_argument("--clock", action="store_true", help="show the time")
    parser.add_argument(
        "--trail", action="append", default=[], metavar="PRIM", help="show the path of a link, or of a shape on one"
    )
    parser.add_argument("--no-ground", action="store_true", help="leave the ground out")
    parser.add_argument("--no-scale", action="store_true", help="leave the bar with its length out")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; default: cpu")
    parser.add_argument("--json", action="store_true", help="for programs")


def _add_view(commands, number: Number, count: Count) -> None:
    parser = commands.add_parser(
        "view",
        help="show a stage, a layer or a recording in a browser",
        description="Show a live simulation of a stage, or replay a layer with motion or a recording, in a browser: "
        "run, pause, scrub, sliders for drive targets, tendons coloured by their force. Hold shift and drag a link to "
        "pull it. Needs the extra `view`.",
    )
    parser.add_argument("source", metavar="STAGE|RUN.npz|OUT.usdc", help="what is shown")
    parser.add_argument("--stage", metavar="STAGE", help="of a recording; default: the one that it names")
    parser.add_argument("--environments", type=count, default=1, metavar="N", help="of a live simulation; default: 1")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="0.0.0.0: for others too; default: this machine alone"
    )
    parser.add_argument("--port", type=count, default=8080, metavar="N", help="or the next free one; default: 8080")
    parser.add_argument("--seconds", type=number, metavar="S", help="end after as long; default: at Ctrl+C")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; default: cpu")
    parser.add_argument("--json", action="store_true", help="the address for programs")
