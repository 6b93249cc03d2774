// What a kernel calls of the scheduler: the two are objects of their own, and the kernel is given the addresses.
#pragma once
#define WP_NO_CRT
#include "crt.h"

namespace cuda_emulation {

struct Three {
    unsigned x, y, z;
};

enum Exchange { BALLOT, FROM, DOWN, UP, ACROSS, WAIT };

constexpr size_t DYNAMIC_SHARED_BYTES = 48 * 1024;

struct Runtime {
    Three thread, block, block_dim, grid_dim;  // of the thread that runs
    char* dynamic_shared;
    void (*barrier)(int line);
    uint64_t (*exchange)(Exchange kind, int line, unsigned mask, uint64_t value, int argument, int width);
    void (*share)(void* address, size_t bytes);                   // a declaration of static shared memory is reached
    void (*access)(const void* place, size_t bytes, bool writes);  // of memory that may be on a stack
};

}  // namespace cuda_emulation
