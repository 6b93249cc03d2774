"""What takes longest to compile is compiled before workers of pytest-xdist start: two would do the same at one time."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers have the cores; matrices of oracles are small


def pytest_sessionstart(session):
    """Where all tests are to run, and by several workers: the kernels of steps, each the better part of a minute."""
    config = session.config
    if config.args_source is not config.ArgsSource.TESTPATHS or not config.getoption("numprocesses", None):
        return
    from warp_artic.sim.warmup import compile_all, kernels_ahead
    from warp_artic.solver.settings import PRECISIONS, SolverSettings

    wanted = {}
    for settings in (SolverSettings(solver="direct"), SolverSettings(solver="pgs"), SolverSettings(integrator="rk4")):
        wanted |= kernels_ahead(settings, PRECISIONS, "cpu", tendons=True, dynamics=False)
    config.get_terminal_writer().line(f"compiling {len(wanted)} kernels, unless they are in the cache")
    for _ in compile_all(wanted, "cpu"):
        pass
