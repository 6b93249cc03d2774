"""Functions of ours that Warp looks into when it needs them: as if it had done so at once."""

import copy
import re
import subprocess
import sys
import threading
from importlib import util

import pytest
import warp as wp

from tests.math.test_lean_source import source_of
from warp_artic.math.late_functions import LateFunction

OPTIONS = {"enable_backward": False, "module": "unique"}


def module_of(folder, name, source):
    """A module of a name that is written to a file."""
    path = folder / f"{name.rpartition('.')[2]}.py"
    path.write_text("import warp as wp\n\n\n" + source)
    spec = util.spec_from_file_location(name, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result_of(function, *arguments):
    """What a function gives in a kernel."""

    @wp.kernel(**OPTIONS)
    def run(out: wp.array(dtype=float), x: float, y: float):
        out[0] = function(x, y)

    out = wp.zeros(1, dtype=float, device="cpu")
    wp.launch(run, dim=1, inputs=[out, *arguments], device="cpu")
    return out.numpy()[0]


DIFFERENCE = """@wp.func
def difference(x: float, y: float):
    \"\"\"One less the other.\"\"\"
    return x - y
"""

CALLER = """
@wp.func
def total(x: wp.vec3, f: wp.Function):
    return wp.dot(x, f(2.0 * x, x))


@wp.kernel(enable_backward=False, module="unique")
def run(out: wp.array(dtype=float)):
    out[0] = total(wp.vec3(1.0, 2.0, 3.0), difference) + difference(2.0, 1.0)
"""


def test_what_python_knows_of_a_function_registers_nothing(tmp_path):
    """Its name, its words, its module; whether it is built in."""
    function = module_of(tmp_path, "warp_artic.tested_a", DIFFERENCE).difference
    assert isinstance(function, wp.Function) and not function.is_builtin()
    assert (function.__name__, function.__doc__) == ("difference", "One less the other.")
    assert function.module is wp.get_module("warp_artic.tested_a")
    assert function.func(3.0, 1.0) == 2.0
    assert type(copy.copy(function)) is type(function) is LateFunction
    assert list(function.input_types) == ["x", "y"]
    assert type(function) is wp.Function
    assert function(3.0, 1.0) == 2.0


def test_functions_of_others_are_registered_at_once(tmp_path):
    """And their overloads find each other."""
    source = DIFFERENCE + DIFFERENCE.replace("float", "wp.vec3")
    function = module_of(tmp_path, "somebody.tested", source).difference
    assert type(function) is wp.Function and len(function.user_overloads) == 2


@pytest.mark.parametrize("is_registered", [False, True])
def test_overloads_of_one_scope_are_one_function(tmp_path, is_registered):
    """In the order in which they are decorated, of any type; one of the same types is replaced."""
    module = module_of(tmp_path, "warp_artic.tested_b", DIFFERENCE)
    first = module.difference
    if is_registered:
        assert len(first.user_overloads) == 1
    more = DIFFERENCE.replace("float", "wp.vec3") + DIFFERENCE.replace("x: float, y: float", "x: int, y: float")
    native = "@wp.func_native('return y - x;')\ndef difference(x: float, y: float) -> float: ...\n"
    path = tmp_path / "tested_b.py"
    path.write_text(path.read_text() + more + native)
    exec(compile(path.read_text().replace(DIFFERENCE, "\n" * DIFFERENCE.count("\n"), 1), path, "exec"), vars(module))
    assert len(module.difference.user_overloads) == 3
    assert result_of(module.difference, 3.0, 1.0) == -2.0


def test_the_source_is_that_of_when_it_was_decorated(tmp_path):
    """A file that changes while the process runs changes nothing; one that is read again does."""
    module = module_of(tmp_path, "warp_artic.tested_c", DIFFERENCE)
    path = tmp_path / "tested_c.py"
    path.write_text("# A line more.\n" + path.read_text().replace("x - y", "x + y"))
    assert result_of(module.difference, 3.0, 1.0) == 2.0
    exec(compile(path.read_text(), path, "exec"), vars(module))
    assert result_of(module.difference, 3.0, 1.0) == 4.0


def test_the_lines_of_a_function_reach_to_its_end(tmp_path):
    """Also where the last ones say nothing that Python does, and where another one follows."""
    source = DIFFERENCE.replace("x - y", "(\n        x - y\n        # last\n    )") + "\n\n# next\nvalue = 1\n"
    (overload,) = module_of(tmp_path, "warp_artic.tested_d", source).difference.overloads_in_python
    assert overload.source.rstrip() == source.partition("\n\n\n# next")[0].rstrip()


def test_threads_that_ask_at_once_see_all_of_it(tmp_path):
    """None sees a function of which overloads are still to come."""
    source = DIFFERENCE + "".join(DIFFERENCE.replace("float", f"wp.vec{size}") for size in (2, 3, 4))
    function = module_of(tmp_path, "warp_artic.tested_e", source).difference
    begin, seen = threading.Barrier(8), []

    def ask():
        begin.wait()
        seen.append(len(function.user_overloads))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [4] * 8


def test_a_start_registers_no_function():
    """Neither an import nor what is asked of families and kernels on the way."""
    lines = [
        "import gc, warp_artic.sim.simulation",
        "from warp_artic.math.late_functions import LateFunction",
        "kinds = [type(one) for one in gc.get_objects() if hasattr(type(one), 'overloads_in_python') or "
        "'overloads_in_python' in getattr(one, '__dict__', ())]",
        "assert len(kinds) > 700 and set(kinds) == {LateFunction}, (len(kinds), set(kinds))",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_kernels_have_the_same_source_as_with_functions_that_do_not_wait(tmp_path):
    """But for the name of the module, and for numbers that Warp gives functions in the order in which it makes them."""
    others = DIFFERENCE.replace("float", "wp.vec3") + CALLER
    sources = []
    for name in ("warp_artic.tested_f", "somebodys_.tested_f"):
        source = source_of(module_of(tmp_path, name, DIFFERENCE + others).run)
        sources.append(re.sub(r"_(callable_)?[0-9a-f]{8,12}(?![0-9a-z])|(difference|total)_\d+", r"\2", source))
    assert sources[0] == sources[1] and "difference(" in sources[0] and "total(" in sources[0]
