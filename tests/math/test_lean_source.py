"""Sources that are rewritten to compile sooner: understood, with all that was meant, and the same bits."""

import logging
import re

import numpy as np
import pytest
import warp as wp

from warp_artic.kernels.launch import CPU_FLAGS, OPTIONS, SETTLES, find_none, report_kernel, step_kernel
from warp_artic.math import lean_codegen, lean_source
from warp_artic.math.lean_codegen import MARK, cpu_flags, is_known, lean
from warp_artic.math.numbers import SCALAR64, WIDE32
from warp_artic.math.processor import lane_bytes

PLAIN = "-O1 -march=native"


def source_of(kernel, device="cpu"):
    """What Warp gives to the compiler of a kernel."""
    module = kernel.module
    module.get_module_hash(module.options["block_dim"])
    options = module.resolve_options(wp.config) | {"output_arch": None if device == "cpu" else 90}
    return module._run_codegen(options, device == "cpu")[0]


@pytest.fixture(scope="module")
def step_source():
    """The source of the largest kernel."""
    return source_of(step_kernel(WIDE32, SETTLES["direct"], find_none))


def functions_of(source):
    """Heads of the functions of a source, by names."""
    heads = re.findall(r"^static ((?:[^\n(]+) (\w+)\(\n(?:    [^\n]*\n)*?    [^\n]*\)\n)\{", source, re.M)
    return {name: head for head, name in heads}


def test_this_version_of_warp_is_known():
    """Where it is not, kernels take minutes to compile: see what changed in its `codegen.py`, and add it to KNOWN."""
    assert is_known()
    assert MARK in CPU_FLAGS.split()


def test_the_step_kernel_is_rewritten(step_source):
    """Nothing of what costs time is left: copies of structs and headers, lanes that are arrays, derivatives."""
    functions = functions_of(step_source)
    assert len(functions) > 300
    assert not any(name.startswith("adj_") for name in functions)
    assert not re.search(r"wp::(load|address|array_store|assign|copy)\(", step_source)
    assert f"wp::vec_t<{lane_bytes() // 4}, wp::float32>" not in step_source
    for name, head in functions.items():
        passed = re.findall(r"^    ((?:Model|State|Control|Work|Forces)_\w+.*) var_\w+", head, re.M)
        assert all("&" in kind for kind in passed), f"{name} copies {passed}"
    work = re.findall(r"lean::(\w+)\(var_work\.", step_source)
    assert len(work) > 500 and set(work) <= {"at_no_gaps", "no_gaps"}


@pytest.mark.parametrize("name", ["move_joints", "limit_at", "place_links", "solve_rows", "step_block"])
def test_large_functions_are_there_once(name, step_source):
    """They are called, wherever they are needed."""
    functions = functions_of(step_source)
    heads = [head for function, head in functions.items() if re.match(rf"{name}_\d", function)]
    assert heads and all(head.startswith("WP_NOINLINE ") for head in heads)
    assert all("__restrict" in head for head in heads)


def test_small_functions_are_inlined():
    """Sums of lanes, entries of arrays, products of matrices."""
    functions = functions_of(source_of(report_kernel(WIDE32)))
    heads = [head for name, head in functions.items() if re.match(r"_lane_functions|_entry_functions|mat_mul_", name)]
    assert len(heads) > 8 and not any("WP_NOINLINE" in head for head in heads)


def test_loops_count_integers(step_source):
    """Only a range with a step of its own, that of the columns of a worker, is one of Warp's."""
    ranges = re.findall(r"wp::range\(([^)]*)\)", step_source)
    assert len(ranges) == 1 and ranges[0].count(",") == 2
    assert step_source.count("iter_cmp(") == step_source.count("wp::iter_next(") == 1
    assert len(re.findall(r"if \((var_\d+)_next >= \1_end\) goto", step_source)) > 100


def test_the_same_source_each_time():
    """Else it would not be found in the cache of the compiler's results, which is by what it is made of."""
    source = plain_source(report_kernel(SCALAR64))
    assert lean_source.rewritten(source) == lean_source.rewritten(source) != source


def plain_source(kernel):
    """A source as Warp writes it."""
    kept = kernel.module.options["cpu_compiler_flags"]
    kernel.module.options["cpu_compiler_flags"] = PLAIN
    try:
        return source_of(kernel)
    finally:
        kernel.module.options["cpu_compiler_flags"] = kept


@wp.struct
class Pair:
    """Two numbers."""

    x: float
    y: float


@wp.struct
class Tables:
    """Arrays of all kinds."""

    count: int
    rows: wp.array2d(dtype=float)
    table: wp.array(dtype=int)
    blocks: wp.array3d(dtype=float)


@wp.func
def writes_a_field(pair: Pair):
    """What a caller has stays as it is."""
    pair.x = pair.x + 1.0
    return pair.x


@wp.func
def writes_in_a_loop(pair: Pair, times: int):
    """A parameter that becomes another one."""
    for _ in range(times):
        pair = Pair(pair.y, pair.x + pair.y)
    return pair


@wp.func
def writes_an_array(rows: wp.array2d(dtype=float), other: wp.array2d(dtype=float), times: int):
    """A parameter that becomes another array."""
    for _ in range(times):
        rows = other
    return rows[1, 0] + float(rows.shape[0])


@wp.func_native("a.data += 1; return a.data[0];")
def writes_a_header(a: wp.array(dtype=int)) -> int:
    """A native function that changes the header that it is given."""
    ...


@wp.func
def writes_to_a_struct(tables: Tables):
    """Another array in a field: only here."""
    tables.rows = tables.blocks[1]
    return tables.rows[0, 1]


@wp.func
def several(pair: Pair, tables: Tables, row: int):
    """Two values."""
    return Pair(pair.y, pair.x), tables.rows[row, 1]


@wp.func
def through(rows: wp.array2d(dtype=float), row: int):
    """An array that is handed on."""
    return entry_of(rows, row) + entry_of(rows, row + 1)


@wp.func
def entry_of(rows: wp.array2d(dtype=float), row: int):
    """An entry."""
    return rows[row, 0]


@wp.func
def swapped(pair: Pair):
    """Its result goes to the variable that it was given."""
    return Pair(pair.y, pair.x)


def results(flags):
    """What a kernel with all of it writes."""

    @wp.kernel(enable_backward=False, module="unique", module_options={"cpu_compiler_flags": flags, "block_dim": 1})
    def kernel(tables: Tables, out: wp.array(dtype=float)):
        pair = Pair(2.0, 5.0)
        out[0] = writes_a_field(pair)
        out[1] = pair.x
        grown = writes_in_a_loop(pair, 4)
        out[2] = grown.x
        out[3] = pair.y
        out[4] = writes_an_array(tables.rows, tables.blocks[1], tables.count)
        out[5] = writes_an_array(tables.rows, tables.blocks[1], 0)
        out[6] = float(writes_a_header(tables.table))
        out[7] = float(tables.table[0])
        out[8] = writes_to_a_struct(tables)
        out[9] = tables.rows[0, 1]
        other, value = several(pair, tables, 2)
        out[10] = other.x
        out[11] = value
        out[12] = through(tables.rows, 1)
        for i in range(3):
            pair = swapped(pair)
            tables.rows[i, 1] = pair.x
            out[13 + i] = tables.rows[i, 1] + tables.rows[i, 0]
        tables.blocks[0, 1, 1] = pair.y
        out[16] = tables.blocks[0, 1, 1]
        out[17] = float(tables.rows.shape[0])

    tables = Tables()
    tables.count = 3
    tables.rows = wp.array(np.arange(8.0).reshape(4, 2), dtype=float, device="cpu")
    tables.table = wp.array([7, 8, 9], dtype=int, device="cpu")
    tables.blocks = wp.array(np.arange(12.0).reshape(2, 3, 2) * 0.5, dtype=float, device="cpu")
    out = wp.zeros(18, dtype=float, device="cpu")
    wp.launch(kernel, dim=1, inputs=[tables, out], device="cpu")
    return out.numpy()


@pytest.mark.parametrize("inlined", [1, 10000])
def test_what_is_written_to_stays_a_value(inlined, monkeypatch):
    """Whatever a function does with its parameters, those of the caller stay; called or inlined."""
    monkeypatch.setattr(lean_source, "INLINED", inlined)
    expected = [3, 2, 19, 5, 4 + 3, 2 + 4, 8, 7, 3.5, 1, 5, 5, 2 + 4, 5, 2 + 2, 5 + 4, 2, 4]
    np.testing.assert_array_equal(results(PLAIN), expected)
    np.testing.assert_array_equal(results(f"{PLAIN} {MARK} -DINLINED={inlined}"), expected)


OPTIONS_THAT_REWRITE = {"cpu_compiler_flags": CPU_FLAGS, "mode": "release", "verify_fp": False}


@pytest.mark.parametrize("other", [{"mode": "debug"}, {"verify_fp": True}, {"cpu_compiler_flags": "-O1"}])
def test_what_is_left_alone(other):
    """Kernels that check their indices or numbers, and those of others."""
    source = plain_source(report_kernel(SCALAR64))
    assert lean(source, OPTIONS_THAT_REWRITE) != source
    assert lean(source, OPTIONS_THAT_REWRITE | other) == source


def test_the_step_kernel_is_rewritten_for_cuda():
    """As for a CPU, but that arrays of work space are shared by all workers; a kernel refers to its arguments."""
    source = source_of(step_kernel(SCALAR64, SETTLES["direct"], find_none), "cuda")
    functions = functions_of(source)
    assert not any(name.startswith("adj_") for name in functions)
    assert not re.search(r"wp::(load|address|array_store|copy)\(", source)
    for name, head in functions.items():
        passed = re.findall(r"^    ((?:Model|State|Control|Work|Forces)_\w+.*) var_\w+", head, re.M)
        assert all("&" in kind for kind in passed), f"{name} copies {passed}"
    work = re.findall(r"lean::(\w+)\(var_work\.", source)
    assert len(work) > 500 and set(work) <= {"at_of_workers", "of_workers"}
    assert len(re.findall(r"^    const __grid_constant__ \w+ var_\w+_given,$", source, re.M)) == 6


@pytest.mark.parametrize(
    "change", [("static void ", "static inline void "), ("// forward", "// primal"), ("_cpu_", "_")]
)
def test_what_is_not_understood_is_compiled_as_it_is(change, caplog):
    """And it is said why it takes long."""
    source = plain_source(report_kernel(SCALAR64)).replace(*change)
    with caplog.at_level(logging.WARNING, "warp_artic"):
        assert lean(source, OPTIONS_THAT_REWRITE) == source
    assert len(caplog.records) == 1 and "is not understood" in caplog.text


def test_a_version_that_is_not_known(monkeypatch, caplog):
    """Its kernels are compiled as it writes them, with other flags, and so with other names in the cache."""
    monkeypatch.setattr(lean_codegen, "KNOWN", ("0.1.",))
    lean_codegen._install.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "warp_artic"):
            assert cpu_flags("-O1", "-O2") == "-O2"
        assert len(caplog.records) == 1 and "are not known" in caplog.text
    finally:
        lean_codegen._install.cache_clear()
        monkeypatch.undo()
    assert OPTIONS["module_options"]["cpu_compiler_flags"] == CPU_FLAGS
