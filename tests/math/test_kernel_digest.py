"""Names of kernels by what they are made of: another one wherever Warp might make something else of it."""

import hashlib

import pytest
import warp as wp
from warp._src.context import ModuleHasher

from warp_artic.kernels.launch import SETTLES, find_none, report_kernel, step_kernel
from warp_artic.math.defined import defined
from warp_artic.math.kernel_digest import UnknownValueError, digest_of
from warp_artic.math.numbers import SCALAR32, SCALAR64
from warp_artic.sim.launch.warmup import kernels_ahead
from warp_artic.solver.settings import PRECISIONS, SolverSettings

NAME = "warp_artic.tested"
SOURCE = """
def called(x: Kind, y: Kind):
    return x + SHARE * y
"""
KERNEL = """
def kernel(out: Array, x: float):
    out[0] = called(x, 2.0)
"""


@wp.struct
class Pair:
    x: float


@wp.struct
class Other:
    x: int


def digest(*more, source=SOURCE, kernel=KERNEL, snippet=None, **names):
    """That of a kernel of one called function, and of what else these are made of."""
    names = {"__name__": NAME, "Kind": float, "SHARE": 0.5, **names}
    function = defined("called", source, names)
    names["called"] = wp.func(function) if snippet is None else wp.func_native(snippet)(function)
    for overload in more:
        names["called"] = decorate_in({"called": names["called"]}, defined("called", overload, dict(names)))
    names["Array"] = names.get("Array", wp.array(dtype=float))
    return digest_of(defined("kernel", kernel, names), kernel)


def decorate_in(scope, function):
    """A function that is decorated where others have its name."""
    return eval("func(function)", {"func": wp.func, "function": function}, scope)


CHANGES = {
    "body": {"source": SOURCE.replace("+", "-")},
    "comment": {"source": SOURCE.replace("+ SHARE * y", "+ SHARE * y  # so")},
    "types": {"Kind": wp.float64},
    "constant": {"SHARE": 0.25},
    "type of a constant": {"SHARE": 1},
    "constant of Warp": {"SHARE": wp.float64(0.5)},
    "value of a constant of Warp": {"SHARE": wp.float64(0.25)},
    "arrays": {"Array": wp.array2d(dtype=float)},
    "struct": {"Array": wp.array(dtype=Pair)},
    "another struct": {"Array": wp.array(dtype=Other)},
    "snippet": {"source": "def called(x: Kind, y: Kind) -> float: ...\n", "snippet": "return x;"},
    "another snippet": {"source": "def called(x: Kind, y: Kind) -> float: ...\n", "snippet": "return y;"},
    "kernel": {"kernel": KERNEL.replace("2.0", "3.0")},
    "default": {"source": SOURCE.replace("y: Kind", "y: Kind = 1.0")},
    "builtin": {"SHARE": wp.sin},
    "another builtin": {"SHARE": wp.cos},
}


def test_the_same_for_the_same():
    """Whatever else there is."""
    assert digest() == digest(unused=Pair) == digest(__doc__="anything")


def test_another_one_for_each_change():
    """All of them differ."""
    digests = {name: digest(**change) for name, change in CHANGES.items()} | {"none": digest()}
    digests["overload"] = digest(SOURCE.replace("Kind", "wp.vec3"), wp=wp)
    digests["another overload"] = digest(SOURCE.replace("Kind", "wp.vec4"), wp=wp)
    assert len(set(digests.values())) == len(digests)


def test_functions_are_followed(monkeypatch):
    """To the last one, also through functions that are passed; what a kernel has not means nothing."""
    step = step_kernel(SCALAR32, SETTLES["direct"], find_none)
    before = digest_of(step.func, step.adj.source)
    for name, is_called in (("collision.planes.STEADY", False), ("solver.history.ROUGH", True)):
        with monkeypatch.context() as changed:
            changed.setattr(f"warp_artic.{name}", 0.125)
            assert (digest_of(step.func, step.adj.source) != before) == is_called
    assert digest_of(step.func, step.adj.source) == before
    with_sweeps = step_kernel(SCALAR32, SETTLES["pgs"], find_none)
    assert digest_of(with_sweeps.func, with_sweeps.adj.source) != before


@pytest.mark.parametrize("value", [{}, [1], object(), hashlib])
def test_what_is_not_known_is_said(value):
    """A value that cannot be told from others; of modules, only what is used of them counts."""
    names = {"source": SOURCE.replace("SHARE", "SHARE.sha256")} if value is hashlib else {}
    with pytest.raises(UnknownValueError):
        digest(SHARE=value, **names)


def test_a_word_for_an_entry_may_be_that_of_a_python_function():
    """Where it is one of a struct, the function means nothing."""
    source = "def called(x: Kind, y: Kind):\n    return x + y.test\n"
    assert digest(source=source) == digest(source=source, test=digest)
    with pytest.raises(UnknownValueError):
        digest(source=source.replace("y.test", "test(y)"), test=digest)


def test_all_kernels_have_names_of_their_own():
    """Those that are compiled ahead; none is left to Warp."""
    settings = SolverSettings(solver="direct")
    kernels = kernels_ahead(settings, PRECISIONS, "cpu", tendons=True, contacts=True, dynamics=True).values()
    digests = {kernel: digest_of(kernel.func, kernel.adj.source) for kernel in kernels}
    assert len(set(digests.values())) == len(digests) > 60
    assert {kernel.adj.kernel_dim for kernel in kernels} == {1, 2}


def test_others_and_what_is_not_known_have_the_names_of_warp(monkeypatch):
    """As without us."""

    @wp.kernel(enable_backward=False, module="unique")
    def others(out: wp.array(dtype=float)):
        out[wp.tid()] = 1.0

    ours = report_kernel(SCALAR64)
    for kernel, is_ours in ((others, False), (ours, True)):
        options = kernel.module.resolve_options(wp.config)
        name = ModuleHasher([kernel], options).get_hash()
        with monkeypatch.context() as without:
            without.setattr(ModuleHasher, "hash_adjoint", ModuleHasher.hash_adjoint.__wrapped__)
            assert (ModuleHasher([kernel], options).get_hash() != name) == is_ours
