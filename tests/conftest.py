"""What takes longest to compile is compiled before workers of pytest-xdist start, and how these share the tests.

Two workers would compile the same at one time.
"""

import importlib.util
import os

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers have the cores; matrices of oracles are small
if importlib.util.find_spec("newton_usd_schemas"):
    # OpenUSD knows the schemas of plugins that are there when they are first asked for, which some modules of tests do.
    import newton_usd_schemas  # noqa: F401

from warp_artic.math.processor import TOLD_BY, lane_bytes  # noqa: E402 (after the schemas)

# Lanes of one width: on AVX2 few environments have kernels of their own, a third of all to compile; these widths are
# what `kernels/test_lane_widths.py` is about.
os.environ.setdefault(TOLD_BY, str(lane_bytes()))


def pytest_addoption(parser):
    """Tests can run on a GPU."""
    parser.addoption("--device", default="cpu", help="where simulations run that name no device: cpu or cuda:N")


def pytest_configure(config):
    """Have simulations run there."""
    if config.getoption("device") != "cpu":
        from tests import other_device

        other_device.use(config.getoption("device"))


def pytest_sessionstart(session):
    """Where all tests are to run, and by several workers: the kernels of steps, each the better part of a minute."""
    config = session.config
    is_whole = config.args_source is config.ArgsSource.TESTPATHS and not config.getoption("keyword")
    if not is_whole or not config.getoption("numprocesses", None):
        return
    from warp_artic.sim.launch.device import start_quietly
    from warp_artic.sim.launch.warmup import compile_all, kernels_ahead
    from warp_artic.solver.settings import PRECISIONS, SolverSettings

    device = config.getoption("device")
    start_quietly(device)
    wanted = {}
    for settings in (SolverSettings(solver="direct"), SolverSettings(solver="pgs"), SolverSettings(integrator="rk4")):
        contacts = settings.solver == "direct"
        wanted |= kernels_ahead(settings, PRECISIONS, device, tendons=True, contacts=contacts, dynamics=False)
    terminal = config.get_terminal_writer()
    terminal.line(f"compiling {len(wanted)} kernels, unless they are in the cache")
    for name, seconds in compile_all(wanted, device):
        if seconds > 1.0:
            terminal.line(f"{seconds:7.1f} s  {name}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Unless another way is asked for, a worker that is done takes tests from the other: some take minutes.

    So each begins with one half of them in their order, and most files, with what they share, stay with one worker.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None
