"""The emulation itself: what it computes, finds and counts in small kernels whose answers are known."""

import numpy as np
import pytest
import warp as wp

from tests.cuda_emulation.emulate import ORDERS, EmulationError, emulated_cuda

THREADS = 64
OPTIONS = {"enable_backward": False, "module": "unique"}


@wp.func_native(
    """
    __shared__ float values[64];
    values[threadIdx.x] = x;
    __syncthreads();
    return values[63 - threadIdx.x];
    """
)
def mirrored(x: float) -> float: ...


@wp.func_native("if (threadIdx.x % 2) { __syncthreads(); }\n else { __syncthreads(); }")
def wait_apart(): ...


@wp.func_native("if (threadIdx.x < 32) __syncthreads();")
def wait_in_part(): ...


@wp.func_native("return __shfl_down_sync(threadIdx.x % 2 ? 0xFFFFFFFF : 0x55555555, x, 2);")
def handed_down(x: float) -> float: ...


@wp.kernel(**OPTIONS)
def mirror(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = mirrored(x[i])


@wp.kernel(**OPTIONS)
def total(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    own = x[i]
    y[i] = wp.tile_extract(wp.tile_sum(wp.tile(own)), 0)


@wp.kernel(**OPTIONS)
def add_all(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    wp.atomic_add(y, 0, x[wp.tid()])


@wp.kernel(**OPTIONS)
def write_one(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i // 96] = x[i]


@wp.kernel(**OPTIONS)
def write_pairs(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if i % 64 == 0:
        y[i // 128] = x[i]


@wp.kernel(**OPTIONS)
def part(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    wait_in_part()
    y[wp.tid()] = x[wp.tid()]


@wp.kernel(**OPTIONS)
def apart(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    wait_apart()
    y[wp.tid()] = x[wp.tid()]


@wp.kernel(**OPTIONS)
def hand_down(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = handed_down(x[wp.tid()])


def run(kernel, blocks=2, **options):
    """What a kernel makes of the numbers 0, 1, ... in blocks of 64 threads, and the emulation."""
    x = wp.array(np.arange(blocks * THREADS, dtype=np.float32), device="cpu")
    y = wp.zeros(blocks * THREADS, dtype=float, device="cpu")
    with emulated_cuda(**options) as emulation:
        wp.launch(kernel, dim=blocks * THREADS, inputs=[x], outputs=[y], device="cpu", block_dim=THREADS)
    return y.numpy().reshape(blocks, THREADS), emulation


@pytest.mark.parametrize("order", ORDERS)
def test_threads_of_a_block_wait_for_each_other(order):
    """Shared memory and exchanges give what they are to give, whatever the order; no fault is found."""
    x = np.arange(2 * THREADS, dtype=np.float32).reshape(2, THREADS)
    y, emulation = run(mirror, order=order)
    np.testing.assert_array_equal(y, x[:, ::-1])
    assert (emulation.total("barriers"), emulation.total("exchanges")) == (2, 0)
    emulation.check()
    y, emulation = run(total, order=order)
    np.testing.assert_array_equal(y, np.broadcast_to(x.sum(axis=1, keepdims=True), y.shape))
    assert emulation.total("exchanges") > 0
    emulation.check()


def test_a_barrier_that_is_missing():
    """Its readers race with its writers, and the first one reads poison."""
    y, emulation = run(mirror, edit=lambda name, source: source.replace("__syncthreads();", ""))
    assert np.isnan(y[:, : THREADS // 2]).all()
    # Half of the threads read what another one writes later, half what another one has written.
    assert emulation.total("races") == 2 * THREADS
    with pytest.raises(EmulationError, match="mirror: 128 races, the first one of threads"):
        emulation.check()


def test_threads_that_write_to_one_place():
    """Of one block and of two; atomics may."""
    _, emulation = run(add_all)
    emulation.check()
    _, emulation = run(write_one, blocks=1)
    assert emulation.total("races") == THREADS - 1
    _, emulation = run(write_pairs)
    assert emulation.total("races") == 1


def test_barriers_that_not_all_threads_reach():
    """Or that they reach in different lines of the source."""
    _, emulation = run(apart)
    assert emulation.total("divergent") == 2
    _, emulation = run(part)
    with pytest.raises(EmulationError, match="part: 2 barriers or exchanges that not all threads reach"):
        emulation.check()


def test_lanes_that_take_no_part_in_an_exchange():
    """Threads name different lanes: that is found."""
    _, emulation = run(hand_down)
    assert emulation.total("divergent") > 0


def test_bytes_of_global_memory():
    """A kernel that copies reads and writes four bytes a thread; stacks and shared memory do not count."""
    _, emulation = run(part)
    numbers = [emulation.total(name) for name in ("reads", "read_bytes", "writes", "written_bytes")]
    assert numbers == [128, 512, 128, 512]
