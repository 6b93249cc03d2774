"""What Warp remembers of types while it writes a source: the same source, for less work."""

from warp._src.codegen import Adjoint
from warp._src.context import Function, ModuleBuilder

from tests.math.test_lean_source import source_of
from warp_artic.kernels.launch import report_kernel
from warp_artic.math.numbers import SCALAR64

WRAPPED = ((Adjoint, "resolve_func"), (ModuleBuilder, "build_struct"), (ModuleBuilder, "_collect_native_types"))


def written(monkeypatch):
    """The source of a kernel, and how often Warp has looked for overloads for it."""
    found, asked = Function.get_overload, []

    def get_overload(function, *types):
        asked.append(function)
        return found(function, *types)

    with monkeypatch.context() as counted:
        counted.setattr(Function, "get_overload", get_overload)
        return source_of(report_kernel(SCALAR64)), len(asked)


def test_sources_are_the_same(monkeypatch):
    """Character by character, with a fraction of the searches for overloads."""
    source, searches = written(monkeypatch)
    for owner, name in WRAPPED:
        monkeypatch.setattr(owner, name, getattr(owner, name).__wrapped__)
    plain, all_searches = written(monkeypatch)
    assert source == plain
    assert 0 < searches < 0.2 * all_searches
