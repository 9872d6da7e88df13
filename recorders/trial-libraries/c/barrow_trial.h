/* Memory layouts per iteration and reported values, inside a benchmark that `barrow trial` runs.
 *
 * Outside of `barrow trial` it does nothing. One source file of the program defines the functions:
 *
 *     #define BARROW_TRIAL_IMPLEMENTATION
 *     #include "barrow_trial.h"
 *
 *     static void sum(barrow_trial_iteration *iteration, void *data) {
 *         float *input = make_input();                              // set up under the layout of the iteration
 *         double began = now_ns();
 *         add_up(input);
 *         barrow_trial_note_address(iteration, "input", input);
 *         barrow_trial_report(iteration, "sum", "ns", BARROW_TRIAL_LOWER, now_ns() - began);
 *         free(input);
 *     }
 *
 *     int main(void) {
 *         for (int i = 0; i < 60; i++)
 *             barrow_trial_iterate(sum, NULL);
 *     }
 *
 * C99 and C++11. Begin iterations in one thread at a time; values may be reported by several. A function that throws or
 * jumps out of an iteration leaks the blocks of its layout.
 *
 * MIT or Apache-2.0, at your choice.
 */
#ifndef BARROW_TRIAL_H
#define BARROW_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which values of a metric are better. */
typedef enum barrow_trial_better {
    BARROW_TRIAL_UNKNOWN = 0,
    BARROW_TRIAL_LOWER = 1, /* as of times */
    BARROW_TRIAL_HIGHER = 2 /* as of throughput */
} barrow_trial_better;

/* The layout of one iteration, in bytes. The libraries for Rust and Python compute the same numbers:
 *
 *     seed    = next(run_seed ^ next(iteration))     next(x): the first number of SplitMix64 with the seed x
 *     numbers = SplitMix64 with this seed, in this order:
 *       stack        (number mod 256) * 16
 *       heap_small    number mod 32
 *       heap_large    87040 + number mod 32
 *       heap_offset  (number mod 256) * 16
 */
typedef struct barrow_trial_layout {
    uint64_t seed;
    uint64_t stack;
    uint64_t heap_small;
    uint64_t heap_large;
    uint64_t heap_offset;
} barrow_trial_layout;

/* One iteration, while it runs. `layout` counts if `has_layout`. The rest is its own. */
typedef struct barrow_trial_iteration {
    uint64_t number;
    int has_layout;
    barrow_trial_layout layout;
    size_t knobs_length;
    char knobs[1024];
} barrow_trial_iteration;

/* Whether iterations have layouts of their own, or values are recorded. */
int barrow_trial_is_on(void);

/* The layout of an iteration of a run. */
barrow_trial_layout barrow_trial_layout_of(uint64_t run_seed, uint64_t iteration);

/* Calls `body` as an iteration: what it allocates and its place on the stack have a layout of their own. Set up, measure
 * and free in it, since only what is allocated there moves. The blocks of the layout are held until it returns. */
void barrow_trial_iterate(void (*body)(barrow_trial_iteration *iteration, void *data), void *data);

/* Reports a value of an iteration, or of the run as a whole if `iteration` is NULL. Values that are no finite numbers are
 * left out. A name has at most 255 bytes; tabs and ends of lines become spaces. */
void barrow_trial_report(barrow_trial_iteration *iteration, const char *metric, const char *unit,
                         barrow_trial_better better, double value);

/* Notes where a buffer is: the knob `NAME_address`, or `address` without a name, is its address modulo 4,096. Like all
 * knobs it goes with the next value that is reported. */
void barrow_trial_note_address(barrow_trial_iteration *iteration, const char *name, const void *address);

/* Notes anything else that may decide about speed, as a knob of this name, such as the distance of two buffers. An
 * iteration has room for about ten knobs; more are left out. */
void barrow_trial_note(barrow_trial_iteration *iteration, const char *name, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif /* BARROW_TRIAL_H */

#if defined(BARROW_TRIAL_IMPLEMENTATION) && !defined(BARROW_TRIAL_IMPLEMENTED)
#define BARROW_TRIAL_IMPLEMENTED

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define BARROW_TRIAL_ALLOCA(bytes) __builtin_alloca(bytes)
#define BARROW_TRIAL_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#include <malloc.h>
#define BARROW_TRIAL_ALLOCA(bytes) _alloca(bytes)
#define BARROW_TRIAL_NOINLINE __declspec(noinline)
#else
#include <alloca.h>
#define BARROW_TRIAL_ALLOCA(bytes) alloca(bytes)
#define BARROW_TRIAL_NOINLINE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What `barrow trial` says in the environment, read once. */
static struct {
    int is_read;
    int is_random, has_heap, has_stack;
    uint64_t seed;
    uint64_t iterations;
    FILE *values;
    char buffer[8192];
} barrow_trial_state;

static int barrow_trial_has_knob(const char *knobs, const char *name) {
    size_t length = strlen(name);
    while (knobs && *knobs) {
        size_t found = strcspn(knobs, ",");
        if (found == length && strncmp(knobs, name, length) == 0)
            return 1;
        knobs += found + (knobs[found] == ',');
    }
    return 0;
}

static void barrow_trial_read(void) {
    const char *layout = getenv("BARROW_TRIAL_LAYOUT"), *seed = getenv("BARROW_TRIAL_SEED");
    const char *knobs = getenv("BARROW_TRIAL_KNOBS"), *values = getenv("BARROW_TRIAL_VALUES");
    char *end = NULL;
    if (barrow_trial_state.is_read)
        return;
    barrow_trial_state.is_read = 1;
    barrow_trial_state.has_heap = barrow_trial_has_knob(knobs, "heap");
    barrow_trial_state.has_stack = barrow_trial_has_knob(knobs, "stack");
    if (layout && strcmp(layout, "random") == 0 && seed && *seed) {
        barrow_trial_state.seed = strtoull(seed, &end, 10);
        barrow_trial_state.is_random =
            *end == '\0' && (barrow_trial_state.has_heap || barrow_trial_state.has_stack);
    }
    if (values && *values) {
        barrow_trial_state.values = fopen(values, "a");
        if (barrow_trial_state.values)
            setvbuf(barrow_trial_state.values, barrow_trial_state.buffer, _IOFBF, sizeof barrow_trial_state.buffer);
        else
            fprintf(stderr, "barrow_trial: values are lost: cannot open %s\n", values);
    }
}

int barrow_trial_is_on(void) {
    barrow_trial_read();
    return barrow_trial_state.is_random || barrow_trial_state.values;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t barrow_trial_next(uint64_t *state) {
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

barrow_trial_layout barrow_trial_layout_of(uint64_t run_seed, uint64_t iteration) {
    barrow_trial_layout layout;
    uint64_t state = iteration;
    state = run_seed ^ barrow_trial_next(&state);
    layout.seed = state = barrow_trial_next(&state);
    layout.stack = barrow_trial_next(&state) % 256 * 16;
    layout.heap_small = barrow_trial_next(&state) % 32;
    layout.heap_large = 87040 + barrow_trial_next(&state) % 32;
    layout.heap_offset = barrow_trial_next(&state) % 256 * 16;
    return layout;
}

/* Blocks that are held: a list, each with the address of the next one in its first bytes. */
typedef struct barrow_trial_blocks {
    void **first, **last;
} barrow_trial_blocks;

static const size_t barrow_trial_gaps[] = {64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10};
static const size_t barrow_trial_small_gaps[] = {512, 256, 128, 64, 40, 24};

/* Allocates a block of at least the bytes of a pointer. Returns its address, or 0 if there is no memory. */
static uintptr_t barrow_trial_hold(barrow_trial_blocks *blocks, size_t bytes) {
    void **block = (void **)malloc(bytes < sizeof(void *) ? sizeof(void *) : bytes);
    if (!block)
        return 0;
    *block = NULL;
    if (blocks->last)
        *blocks->last = block;
    else
        blocks->first = block;
    blocks->last = block;
    return (uintptr_t)block;
}

/* Fills gaps of these sizes, the largest first. `fresh` is an address in fresh memory, which is after all other blocks.
 * malloc takes the smallest gap that fits, and fresh memory if none does: so there is no gap of a size when a block of it is
 * further on. Returns the last of these addresses. */
static uintptr_t barrow_trial_fill(barrow_trial_blocks *blocks, const size_t *sizes, size_t count, uintptr_t fresh) {
    size_t i;
    int gap;
    for (i = 0; i < count; i++) {
        for (gap = 0; gap < 1000; gap++) {
            uintptr_t address = barrow_trial_hold(blocks, sizes[i]);
            if (address > fresh) {
                fresh = address;
                break;
            }
        }
    }
    return fresh;
}

/* Allocates a block that has room after it, or else further ones. Without room, what comes next would be elsewhere. */
static void barrow_trial_hold_with_room(barrow_trial_blocks *blocks, size_t bytes) {
    int tries;
    for (tries = 0; tries < 8; tries++) {
        uintptr_t address = barrow_trial_hold(blocks, bytes), room;
        void **before = blocks->last;
        room = barrow_trial_hold(blocks, 120 << 10);
        if (room >= address && room <= address + bytes + 64) {
            if (blocks->last != before) {
                free(blocks->last);
                blocks->last = before;
                *before = NULL;
            }
            return;
        }
        room = barrow_trial_fill(blocks, barrow_trial_gaps, 7, room);
        barrow_trial_fill(blocks, barrow_trial_small_gaps, 6, room);
    }
}

/* Allocates the blocks of a layout.
 *
 *     ... gap, filled | gap, filled ... | heap_small | heap_large | heap_offset | what is allocated next, and moves
 *
 * malloc uses gaps that earlier blocks left before it uses fresh memory. What fits into a gap would not move, so all gaps
 * are filled first. glibc also keeps up to seven freed blocks of each size up to 1,032 bytes for the thread that freed
 * them, which are taken as well. */
static barrow_trial_blocks barrow_trial_hold_layout(const barrow_trial_layout *layout) {
    barrow_trial_blocks blocks = {NULL, NULL};
    uintptr_t fresh = 0, address;
    size_t i;
    for (i = 0; i < 4; i++) {
        address = barrow_trial_hold(&blocks, 120 << 10);
        fresh = address > fresh ? address : fresh;
    }
    fresh = barrow_trial_fill(&blocks, barrow_trial_gaps, 7, fresh);
    for (i = 0; i < 64 * 7; i++)
        barrow_trial_hold(&blocks, 24 + i / 7 * 16);
    barrow_trial_fill(&blocks, barrow_trial_small_gaps, 6, fresh);
    barrow_trial_hold(&blocks, (size_t)layout->heap_small);
    barrow_trial_hold(&blocks, (size_t)layout->heap_large);
    barrow_trial_hold_with_room(&blocks, (size_t)layout->heap_offset);
    return blocks;
}

static void barrow_trial_free(barrow_trial_blocks blocks) {
    while (blocks.first) {
        void **next = (void **)*blocks.first;
        free(blocks.first);
        blocks.first = next;
    }
}

/* Calls `body` with a block on the stack. It is written and read as volatile: otherwise the compiler would remove it. */
static BARROW_TRIAL_NOINLINE void barrow_trial_lowered(size_t bytes,
                                                       void (*body)(barrow_trial_iteration *, void *),
                                                       barrow_trial_iteration *iteration, void *data) {
    volatile unsigned char *block = (volatile unsigned char *)BARROW_TRIAL_ALLOCA(bytes + 16);
    block[0] = 1;
    body(iteration, data);
    (void)block[0];
}

void barrow_trial_iterate(void (*body)(barrow_trial_iteration *iteration, void *data), void *data) {
    barrow_trial_iteration iteration;
    memset(&iteration, 0, sizeof iteration);
    if (!barrow_trial_is_on()) {
        body(&iteration, data);
        return;
    }
    iteration.number = barrow_trial_state.iterations++;
    iteration.has_layout = barrow_trial_state.is_random;
    if (iteration.has_layout) {
        barrow_trial_blocks blocks = {NULL, NULL};
        barrow_trial_layout *layout = &iteration.layout;
        *layout = barrow_trial_layout_of(barrow_trial_state.seed, iteration.number);
        if (barrow_trial_state.has_stack)
            barrow_trial_note(&iteration, "stack", layout->stack);
        if (barrow_trial_state.has_heap) {
            barrow_trial_note(&iteration, "heap_small", layout->heap_small);
            barrow_trial_note(&iteration, "heap_large", layout->heap_large);
            barrow_trial_note(&iteration, "heap_offset", layout->heap_offset);
            blocks = barrow_trial_hold_layout(layout);
        }
        barrow_trial_lowered(barrow_trial_state.has_stack ? (size_t)layout->stack : 0, body, &iteration, data);
        barrow_trial_free(blocks);
    } else {
        barrow_trial_lowered(0, body, &iteration, data);
    }
}

/* Copies a name of at most `room` - 1 bytes. What would end a field or a line becomes a space. */
static const char *barrow_trial_clean(const char *name, char *clean, size_t room) {
    size_t length = 0;
    for (; name && name[length] && length + 1 < room; length++) {
        unsigned char byte = (unsigned char)name[length];
        clean[length] = (char)(byte < 32 || byte == 127 ? ' ' : byte);
    }
    clean[length] = '\0';
    return clean;
}

void barrow_trial_report(barrow_trial_iteration *iteration, const char *metric, const char *unit,
                         barrow_trial_better better, double value) {
    static const char *const directions[] = {"", "lower", "higher"};
    char line[2048], name[256], unit_name[64], number[24] = "", seed[24] = "", text[64];
    int length, i;
    barrow_trial_read();
    if (!barrow_trial_state.values || !isfinite(value))
        return;
    if (iteration) {
        snprintf(number, sizeof number, "%" PRIu64, iteration->number);
        if (iteration->has_layout)
            snprintf(seed, sizeof seed, "%" PRIu64, iteration->layout.seed);
    }
    snprintf(text, sizeof text, "%.17g", value);
    /* The locale may have another decimal point. */
    for (i = 0; text[i]; i++)
        if (!strchr("0123456789+-e", text[i]))
            text[i] = '.';
    length = snprintf(line, sizeof line, "value\t%s\t%s\t%s\t%s\t%s\t%s%s\n", barrow_trial_clean(metric, name, sizeof name),
                      barrow_trial_clean(unit, unit_name, sizeof unit_name), directions[better], number, seed, text,
                      iteration ? iteration->knobs : "");
    /* The buffer holds a line, so that it is written at once, at the end of the file. */
    fwrite(line, 1, (size_t)length, barrow_trial_state.values);
    if (fflush(barrow_trial_state.values) != 0)
        fprintf(stderr, "barrow_trial: a value is lost\n");
    if (iteration) {
        iteration->knobs_length = 0;
        iteration->knobs[0] = '\0';
    }
}

void barrow_trial_note(barrow_trial_iteration *iteration, const char *name, uint64_t value) {
    char clean[128], *equals;
    size_t room = sizeof iteration->knobs - iteration->knobs_length;
    int length;
    if (!barrow_trial_state.values)
        return;
    barrow_trial_clean(name, clean, sizeof clean);
    while ((equals = strchr(clean, '=')) != NULL)
        *equals = '_';
    length = snprintf(iteration->knobs + iteration->knobs_length, room, "\t%s=%" PRIu64, clean, value);
    if (length > 0 && (size_t)length < room)
        iteration->knobs_length += (size_t)length;
    else
        iteration->knobs[iteration->knobs_length] = '\0';
}

void barrow_trial_note_address(barrow_trial_iteration *iteration, const char *name, const void *address) {
    char knob[128];
    snprintf(knob, sizeof knob, "%.100s%saddress", name ? name : "", name && *name ? "_" : "");
    barrow_trial_note(iteration, knob, (uint64_t)((uintptr_t)address % 4096));
}

#ifdef __cplusplus
}
#endif
#endif /* BARROW_TRIAL_IMPLEMENTATION */
