/* A benchmark whose speed does not depend on memory layout: a hash (FNV-1a) of 4,096 bytes. Each step waits for the result of
 * the step before, and loads single bytes, which never cross the border of a cache line.
 *
 *     cc -O2 -I recorders/trial-libraries/c -o steady benches/trials/steady.c
 *     barrow trial -o steady.barrow -n 10 --layout random -- ./steady
 *     barrow modes steady.barrow hash
 */
#define BARROW_TRIAL_IMPLEMENTATION
#include "barrow_trial.h"

#include "clock.h"

enum { BYTES = 4096, HASHES = 40, BATCHES = 5, ITERATIONS = 60 };

__attribute__((noinline)) static uint64_t hash(const unsigned char *bytes) {
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < BYTES; i++)
        state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
    return state;
}

static void iterate(barrow_trial_iteration *iteration, void *data) {
    volatile uint64_t *result = (volatile uint64_t *)data;
    unsigned char *bytes = (unsigned char *)malloc(BYTES);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7);
    double shortest = 1e18;
    for (int batch = 0; batch < BATCHES; batch++) {
        double began = now_ns();
        for (int i = 0; i < HASHES; i++)
            *result = hash(bytes);
        double elapsed = now_ns() - began;
        shortest = elapsed < shortest ? elapsed : shortest;
    }
    barrow_trial_note_address(iteration, "input", bytes);
    barrow_trial_report(iteration, "hash", "ns", BARROW_TRIAL_LOWER, shortest / HASHES);
    free(bytes);
}

int main(void) {
    volatile uint64_t result = 0;
    for (int i = 0; i < ITERATIONS; i++)
        barrow_trial_iterate(iterate, (void *)&result);
    return 0;
}
