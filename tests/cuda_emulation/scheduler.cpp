// Runs a kernel thread by thread: a fiber for each thread of a block, one block after the other.
//
// A thread runs until it waits: at a barrier for its block, or at an exchange for those lanes of its warp that the
// exchange names. Then the next one runs, in the order of the launch. Shared memory and the part of the stacks
// that functions use are poisoned when a block starts, and exchanges give poison for lanes that take no part.
#include "runtime.h"

namespace cuda_emulation {

constexpr int MOST_THREADS = 256, WARP = 32;
constexpr int POISON = 0xFF;  // of no number, and an index that is out of bounds
constexpr uint64_t POISON_WORD = ~0ull;
constexpr size_t POISONED_STACK_BYTES = 1 << 16;

// The leading fields of ucontext_t on Linux; the rest of its kilobyte is the business of the C library.
struct Context {
    unsigned long flags;
    Context* link;
    void* stack;
    int stack_flags;
    size_t stack_bytes;
    alignas(16) char rest[5120];
};

// What comes from outside: functions of the C library, and memory for the stacks.
struct Host {
    int (*get)(Context*);
    void (*make)(Context*, void (*)(), int, ...);
    int (*swap)(Context*, const Context*);
    char* stacks;
    size_t stack_bytes;
};

enum Order { FORWARD, ALTERNATING, RANDOM };
enum State { READY, AT_BARRIER, AT_EXCHANGE, DONE };
enum Outcome { FINISHED, DEADLOCK, STACK_OVERFLOW };

struct Fiber {
    Context context;
    State state;
    int line;
    Exchange kind;
    unsigned mask;
    int argument, width;
    uint64_t value, result;
};

// Counts of a launch, and where the first thing was found that is wrong; as in emulate.py.
struct Counts {
    int64_t barriers, exchanges;
    int64_t divergent;       // barriers and exchanges at which threads wait in different lines, or that not all reach
    int64_t divergent_line;  // of the first one
    int64_t races;           // accesses of a word by two threads, one of which writes, that nothing orders
    int64_t race_address, race_threads[2], race_block;  // of the first one
    int64_t reads, read_bytes, writes, written_bytes;   // of global memory: neither stacks nor shared
};

alignas(128) static char dynamic_shared[DYNAMIC_SHARED_BYTES];
static Runtime runtime;
static Host host;
static Fiber fibers[MOST_THREADS];
static Context scheduler;
static int order[MOST_THREADS];
static int current = -1;
static Counts counts;
static uint64_t random_state;
static void (*entry)(void**);
static void** entry_arguments;

static char* stack_of(int thread) { return host.stacks + thread * host.stack_bytes; }

}  // namespace cuda_emulation

#include "race_watch.h"

namespace cuda_emulation {

static void wait(State state, int line)
{
    Fiber& fiber = fibers[current];
    fiber.state = state;
    fiber.line = line;
    host.swap(&fiber.context, &scheduler);
}

static void barrier(int line) { wait(AT_BARRIER, line); }

static uint64_t exchange(Exchange kind, int line, unsigned mask, uint64_t value, int argument, int width)
{
    Fiber& fiber = fibers[current];
    fiber.kind = kind;
    fiber.mask = mask;
    fiber.value = value;
    fiber.argument = argument;
    fiber.width = width;
    wait(AT_EXCHANGE, line);
    return fiber.result;
}

static void run_thread()
{
    entry(entry_arguments);
    wait(DONE, 0);
}

static void diverge(int line)
{
    if (counts.divergent++ == 0)
        counts.divergent_line = line;
}

static int source_of(const Fiber& fiber, int lane)
{
    const int first = lane / fiber.width * fiber.width, end = first + fiber.width;
    switch (fiber.kind) {
    case FROM: return first + fiber.argument % fiber.width;
    case DOWN: return lane + fiber.argument < end ? lane + fiber.argument : lane;
    case UP: return lane - fiber.argument >= first ? lane - fiber.argument : lane;
    case ACROSS: return (lane ^ fiber.argument) < end ? lane ^ fiber.argument : lane;
    default: return lane;
    }
}

// Make the exchange of the lanes of a warp that wait for one, if all that they name are there. Returns whether it was.
static bool make_exchange(Fiber* warp, int lanes)
{
    unsigned there = 0, named = 0, ended = 0, ballot = 0;
    const Fiber* first = nullptr;
    bool differs = false;
    for (int lane = 0; lane < lanes; ++lane) {
        const Fiber& fiber = warp[lane];
        ended |= unsigned(fiber.state == DONE) << lane;
        if (fiber.state != AT_EXCHANGE)
            continue;
        there |= 1u << lane;
        named |= fiber.mask;
        ballot |= unsigned(fiber.value & 1) << lane;
        differs |= first && (fiber.kind != first->kind || fiber.line != first->line || fiber.mask != first->mask);
        first = first ? first : &fiber;
    }
    named &= ~0u >> (WARP - lanes);
    if (!there || named & ~there & ~ended)
        return false;
    ++counts.exchanges;
    if (differs || named & ended || there & ~named)
        diverge(first->line);
    for (int lane = 0; lane < lanes; ++lane) {
        Fiber& fiber = warp[lane];
        if (fiber.state != AT_EXCHANGE)
            continue;
        const int source = source_of(fiber, lane);
        fiber.result = fiber.kind == BALLOT ? ballot : there >> source & 1 ? warp[source].value : POISON_WORD;
    }
    for (int lane = 0; lane < lanes; ++lane)
        if (there >> lane & 1)
            warp[lane].state = READY;
    return true;
}

// Let the threads go on that wait at a barrier, if all that have not ended are there. Returns whether any were.
static bool pass_barrier(int threads)
{
    int waiting = 0, ended = 0, line = 0;
    bool differs = false;
    for (int k = 0; k < threads; ++k) {
        const Fiber& fiber = fibers[k];
        ended += fiber.state == DONE;
        if (fiber.state != AT_BARRIER)
            continue;
        differs |= waiting && fiber.line != line;
        line = fiber.line;
        ++waiting;
    }
    if (waiting == 0 || waiting + ended < threads)
        return false;
    ++counts.barriers;
    if (differs || ended)
        diverge(line);
    next_epoch();
    for (int k = 0; k < threads; ++k)
        if (fibers[k].state == AT_BARRIER)
            fibers[k].state = READY;
    return true;
}

static void swap(int& a, int& b)
{
    const int old = a;
    a = b;
    b = old;
}

// The order in which threads run until all of them wait: as they are, there and back in turn, or drawn anew.
static void arrange(Order kind, int threads)
{
    for (int k = 0; kind == ALTERNATING && k < threads / 2; ++k)
        swap(order[k], order[threads - 1 - k]);
    for (int k = threads - 1; kind == RANDOM && k > 0; --k) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        swap(order[k], order[(random_state >> 33) % (k + 1)]);
    }
}

static Outcome run_block(Order kind, int threads)
{
    memset(dynamic_shared, POISON, sizeof(dynamic_shared));
    next_block();
    for (int k = 0; k < threads; ++k) {
        Fiber& fiber = fibers[k];
        host.get(&fiber.context);
        fiber.context.stack = stack_of(k);
        fiber.context.stack_bytes = host.stack_bytes;
        fiber.context.link = nullptr;
        host.make(&fiber.context, run_thread, 0);
        fiber.state = READY;
        *(uint64_t*)stack_of(k) = POISON_WORD;
        memset(stack_of(k + 1) - POISONED_STACK_BYTES, POISON, POISONED_STACK_BYTES);
        order[k] = k;
    }
    for (int ended = 0; ended < threads;) {
        bool moved = false;
        arrange(kind, threads);
        for (int k = 0; k < threads; ++k) {
            if (fibers[order[k]].state != READY)
                continue;
            current = order[k];
            runtime.thread = { unsigned(current), 0, 0 };
            host.swap(&scheduler, &fibers[current].context);
            if (*(uint64_t*)stack_of(current) != POISON_WORD)
                return STACK_OVERFLOW;
            ended += fibers[current].state == DONE;
            current = -1;
            moved = true;
        }
        for (int first = 0; first < threads; first += WARP)
            moved |= make_exchange(fibers + first, threads - first < WARP ? threads - first : WARP);
        if (ended < threads && !moved && !pass_barrier(threads))
            return DEADLOCK;
    }
    return FINISHED;
}

}  // namespace cuda_emulation

extern "C" cuda_emulation::Runtime* cuda_emulation_runtime()
{
    using namespace cuda_emulation;
    runtime.dynamic_shared = dynamic_shared;
    runtime.barrier = barrier;
    runtime.exchange = exchange;
    runtime.share = share;
    runtime.access = access;
    return &runtime;
}

// Run all blocks of a launch; `entry` runs one thread. Returns an Outcome.
extern "C" int cuda_emulation_launch(
    const cuda_emulation::Host* host, void (*entry)(void**), void** arguments, int blocks, int threads, int order,
    int64_t seed, cuda_emulation::Counts* counts
)
{
    using namespace cuda_emulation;
    cuda_emulation::host = *host;
    cuda_emulation::counts = {};
    cuda_emulation::entry = entry;
    entry_arguments = arguments;
    random_state = seed;
    runtime.block_dim = { unsigned(threads), 1, 1 };
    runtime.grid_dim = { unsigned(blocks), 1, 1 };
    forget_accesses();
    Outcome outcome = FINISHED;
    for (int k = 0; k < blocks && outcome == FINISHED; ++k) {
        runtime.block = { unsigned(k), 0, 0 };
        outcome = run_block(Order(order), threads);
    }
    *counts = cuda_emulation::counts;
    return outcome;
}
