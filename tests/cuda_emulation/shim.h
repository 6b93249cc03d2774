// What Warp's generated CUDA source and its headers expect of CUDA, for a C++ compiler of the host.
//
// Included before everything else: Warp's C runtime header is read as for a CPU, the rest of Warp's as for a GPU.
// What no kernel of ours uses (textures, half precision, inline PTX) compiles, and traps where it is reached.
#pragma once
#include "runtime.h"

#pragma clang attribute push(__attribute__((no_sanitize("thread"))), apply_to = function)

static cuda_emulation::Runtime* cuda_emulation_runtime;

extern "C" void cuda_emulation_bind(cuda_emulation::Runtime* runtime) { cuda_emulation_runtime = runtime; }

namespace cuda_emulation {

inline Three thread() { return cuda_emulation_runtime->thread; }
inline Three block() { return cuda_emulation_runtime->block; }
inline Three block_dim() { return cuda_emulation_runtime->block_dim; }
inline Three grid_dim() { return cuda_emulation_runtime->grid_dim; }
inline char* dynamic_shared() { return cuda_emulation_runtime->dynamic_shared; }
inline void share(void* address, size_t bytes) { cuda_emulation_runtime->share(address, bytes); }
inline void barrier(int line) { cuda_emulation_runtime->barrier(line); }

template <class T>
T exchange(Exchange kind, int line, unsigned mask, T value, int argument = 0, int width = 32)
{
    static_assert(sizeof(T) <= 8, "CUDA exchanges words of 4 and of 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = cuda_emulation_runtime->exchange(kind, line, mask, bits, argument, width);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace cuda_emulation

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 600  // from 700 on Warp's headers have inline PTX, also for what is not used
#define __host__
#define __device__
#define __global__
#define __constant__ static const
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __debugbreak __cuda_debugbreak  // a function of the compiler here, one of Warp's headers there
#define asm(...) __builtin_trap()

#define threadIdx cuda_emulation::thread()
#define blockIdx cuda_emulation::block()
#define blockDim cuda_emulation::block_dim()
#define gridDim cuda_emulation::grid_dim()

#define __syncthreads() cuda_emulation::barrier(__LINE__)
#define EXCHANGE(kind, ...) cuda_emulation::exchange(cuda_emulation::kind, __LINE__, __VA_ARGS__)
#define __syncwarp(...) (void)EXCHANGE(WAIT, ~0u, 0)
#define __ballot_sync(mask, value) EXCHANGE(BALLOT, mask, (value) ? 1u : 0u)
#define __shfl_sync(...) EXCHANGE(FROM, __VA_ARGS__)
#define __shfl_down_sync(...) EXCHANGE(DOWN, __VA_ARGS__)
#define __shfl_up_sync(...) EXCHANGE(UP, __VA_ARGS__)
#define __shfl_xor_sync(...) EXCHANGE(ACROSS, __VA_ARGS__)

// A thread runs until it waits, so that these are atomic as they are. The race watch does not see them.
#define ATOMIC(name, changed)                                          \
    template <class T, class U> __noinline__ T name(T* place, U value) \
    {                                                                  \
        T old = *place;                                                \
        *place = changed;                                              \
        return old;                                                    \
    }
ATOMIC(atomicAdd, old + value)
ATOMIC(atomicMin, value < old ? value : old)
ATOMIC(atomicMax, value > old ? value : old)
ATOMIC(atomicAnd, old & value)
ATOMIC(atomicOr, old | value)
ATOMIC(atomicXor, old ^ value)
ATOMIC(atomicExch, value)
#undef ATOMIC
template <class T, class U, class V> __noinline__ T atomicCAS(T* place, U expected, V value)
{
    T old = *place;
    *place = old == expected ? value : old;
    return old;
}

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct __half {
    unsigned short u;
};

template <class T> T __ldg(const T* place) { return *place; }
inline void __threadfence() { }
inline unsigned __activemask() { return ~0u; }
inline void __trap() { __builtin_trap(); }
inline void __brkpt() { __builtin_trap(); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }

inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __float2int_rd(float x) { return int(floorf(x)); }
inline int __double2int_rd(double x) { return int(floor(x)); }

// As Warp's headers have them for a CPU: the other one of a number and no number; the first one of 0 and -0.
inline float fminf(float a, float b) { return a <= b ? a : b == b ? b : a; }
inline float fmaxf(float a, float b) { return a >= b ? a : b == b ? b : a; }
inline double fmin(double a, double b) { return a <= b ? a : b == b ? b : a; }
inline double fmax(double a, double b) { return a >= b ? a : b == b ? b : a; }
inline float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
inline double copysign(double a, double b) { return __builtin_copysign(a, b); }
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }

// The generic declarations are all that Warp's headers need of textures.
#define TEXTURE(name, ...) \
    template <class T> T name(unsigned long long, __VA_ARGS__) { __builtin_trap(); }
TEXTURE(tex1D, float)
TEXTURE(tex2D, float, float)
TEXTURE(tex3D, float, float, float)
TEXTURE(tex1DLod, float, float)
TEXTURE(tex2DLod, float, float, float)
TEXTURE(tex3DLod, float, float, float, float)
#undef TEXTURE

// Hooks of the thread sanitizer, which the compiler calls before each access that may not be one of the stack.
#define HOOKS(bytes)                                                                                                  \
    extern "C" void __tsan_read##bytes(void* place) { cuda_emulation_runtime->access(place, bytes, false); }          \
    extern "C" void __tsan_write##bytes(void* place) { cuda_emulation_runtime->access(place, bytes, true); }          \
    extern "C" void __tsan_unaligned_read##bytes(void* place) { cuda_emulation_runtime->access(place, bytes, false); } \
    extern "C" void __tsan_unaligned_write##bytes(void* place) { cuda_emulation_runtime->access(place, bytes, true); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
#undef HOOKS

extern "C" void __tsan_init() { }
extern "C" void __tsan_func_entry(void*) { }
extern "C" void __tsan_func_exit() { }

extern "C" void* __tsan_memset(void* to, int value, size_t bytes)
{
    cuda_emulation_runtime->access(to, bytes, true);
    return memset(to, value, bytes);
}

extern "C" void* __tsan_memcpy(void* to, const void* from, size_t bytes)
{
    cuda_emulation_runtime->access(from, bytes, false);
    cuda_emulation_runtime->access(to, bytes, true);
    return memcpy(to, from, bytes);
}

extern "C" void* __tsan_memmove(void* to, const void* from, size_t bytes)
{
    cuda_emulation_runtime->access(from, bytes, false);
    cuda_emulation_runtime->access(to, bytes, true);
    return __builtin_memmove(to, from, bytes);
}

#pragma clang attribute pop
