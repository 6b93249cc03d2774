// Counts the accesses of global memory, and finds those that nothing orders; part of scheduler.cpp.
//
// Two accesses of a word race if one of them writes and they are of two threads of a block with no barrier between
// them, or of two blocks (shared memory is each block's own). Atomics are not seen. Numbers of one or two bytes are
// words of their own.
namespace cuda_emulation {

constexpr int MOST_SHARED = 128, NOBODY = -1, SEVERAL = -2;

// The last accesses of a word. An epoch lasts from one barrier to the next, and epochs of blocks follow each other.
struct Cell {
    size_t word;
    int64_t written, read, first_read;  // epochs, 0: never
    int writer, reader;
};

struct Shared {
    char* address;
    size_t bytes;
    int64_t poisoned;  // epoch
};

static Cell* cells;
static size_t cell_count, cells_used;
static int64_t epoch = 1, block_start = 1;
static Shared shared[MOST_SHARED];
static int shared_count;

static void next_epoch() { ++epoch; }
static void next_block() { block_start = ++epoch; }

// Static shared memory, when a thread comes by its declaration: poisoned when the first one of a block does.
static void share(void* address, size_t bytes)
{
    int k = 0;
    while (k < shared_count && shared[k].address != address)
        ++k;
    if (k == MOST_SHARED)
        __builtin_trap();
    if (k == shared_count)
        shared[shared_count++] = { (char*)address, bytes, 0 };
    if (shared[k].poisoned < block_start)
        memset(address, POISON, bytes);
    shared[k].poisoned = epoch;
}

static bool is_shared(const char* address)
{
    for (int k = 0; k < shared_count; ++k)
        if (address >= shared[k].address && address < shared[k].address + shared[k].bytes)
            return true;
    return address >= dynamic_shared && address < dynamic_shared + DYNAMIC_SHARED_BYTES;
}

static Cell& cell_of(size_t word)
{
    if (2 * cells_used >= cell_count) {
        Cell* old = cells;
        const size_t old_count = cell_count;
        cell_count = old_count ? 2 * old_count : 1 << 12;
        cells = (Cell*)calloc(cell_count, sizeof(Cell));
        cells_used = 0;
        for (size_t k = 0; k < old_count; ++k)
            if (old[k].word)
                cell_of(old[k].word) = old[k];
        free(old);
    }
    size_t place = word * 0x9E3779B97F4A7C15u >> 20 & (cell_count - 1);
    while (cells[place].word && cells[place].word != word)
        place = (place + 1) & (cell_count - 1);
    if (!cells[place].word) {
        cells[place] = { word, 0, 0, 0, NOBODY, NOBODY };
        ++cells_used;
    }
    return cells[place];
}

static void forget_accesses()
{
    if (cells)
        memset(cells, 0, cell_count * sizeof(Cell));
    cells_used = 0;
}

static void report_race(size_t word, int other)
{
    if (counts.races++ > 0)
        return;
    counts.race_address = word;
    counts.race_threads[0] = other;
    counts.race_threads[1] = current;
    counts.race_block = runtime.block.x;
}

static void look(size_t word, bool writes)
{
    Cell& cell = cell_of(word);
    const bool others_wrote = cell.written == epoch && cell.writer != current;
    const bool others_read = cell.read == epoch && cell.reader != current;
    const bool another_block_wrote = cell.written && cell.written < block_start;
    const bool another_block_read = cell.first_read && cell.first_read < block_start;
    if (others_wrote || (writes && others_read))
        report_race(word, others_wrote ? cell.writer : cell.reader);
    else if ((another_block_wrote || (writes && another_block_read)) && !is_shared((char*)word))
        report_race(word, another_block_wrote ? cell.writer : cell.reader);
    if (writes) {
        cell.written = epoch;
        cell.writer = current;
    } else {
        cell.reader = others_read ? SEVERAL : current;
        cell.read = epoch;
        cell.first_read = cell.first_read ? cell.first_read : epoch;
    }
}

static void access(const void* place, size_t bytes, bool writes)
{
    const char* address = (const char*)place;
    if (current < 0 || (address >= stack_of(current) && address < stack_of(current + 1)))
        return;
    if (!is_shared(address)) {
        (writes ? counts.writes : counts.reads) += 1;
        (writes ? counts.written_bytes : counts.read_bytes) += bytes;
    }
    if (bytes < 4)
        look((size_t)address, writes);
    else
        for (size_t word = (size_t)address & ~3ull; word < (size_t)address + bytes; word += 4)
            look(word, writes);
}

}  // namespace cuda_emulation
