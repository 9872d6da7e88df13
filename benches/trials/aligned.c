/* A benchmark whose speed depends on the alignment of its input: the sum of 4,096 numbers, with loads of 32 bytes.
 *
 * malloc aligns blocks to 16 bytes. If the input begins at an odd multiple of 16, every second load crosses the border of a
 * cache line, and the sum takes about 30 % longer (measured on an AMD Zen 3). Half of all layouts are so. In one run without
 * layouts per iteration, all iterations are alike. An iteration reports its shortest batch, since other work of the machine
 * only adds to times.
 *
 *     cc -O2 -I recorders/trial-libraries/c -o aligned benches/trials/aligned.c
 *     barrow trial -o aligned.barrow -n 10 --layout random -- ./aligned
 *     barrow modes aligned.barrow sum
 *
 * With -DFIXED the input begins at a cache line, and all layouts are alike. docs/trials.md tells the whole story.
 */
#define BARROW_TRIAL_IMPLEMENTATION
#include "barrow_trial.h"

#include "clock.h"

enum { NUMBERS = 4096, SUMS = 1000, BATCHES = 5, ITERATIONS = 60 };

typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));

#if defined(__x86_64__)
__attribute__((target("avx2")))
#endif
__attribute__((noinline)) static float add_up(const float *numbers) {
    /* Four sums, so that loads do not wait for additions. */
    vector a = {0}, b = {0}, c = {0}, d = {0};
    const vector *vectors = (const vector *)numbers;
    for (int i = 0; i < NUMBERS / 8; i += 4) {
        a += vectors[i];
        b += vectors[i + 1];
        c += vectors[i + 2];
        d += vectors[i + 3];
    }
    a += b + c + d;
    return a[0] + a[3] + a[6];
}

static void iterate(barrow_trial_iteration *iteration, void *data) {
    volatile float *result = (volatile float *)data;
#ifdef FIXED
    float *numbers = (float *)aligned_alloc(64, NUMBERS * sizeof *numbers);
#else
    float *numbers = (float *)malloc(NUMBERS * sizeof *numbers);
#endif
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (float)i;
    double shortest = 1e18;
    for (int batch = 0; batch < BATCHES; batch++) {
        double began = now_ns();
        for (int i = 0; i < SUMS; i++)
            *result = add_up(numbers);
        double elapsed = now_ns() - began;
        shortest = elapsed < shortest ? elapsed : shortest;
    }
    barrow_trial_note_address(iteration, "input", numbers);
    barrow_trial_report(iteration, "sum", "ns", BARROW_TRIAL_LOWER, shortest / SUMS);
    free(numbers);
}

int main(int count, char **words) {
    volatile float result = 0;
    /* A label for a report. It has nothing to do with the sum, but it is allocated before the input. */
    char *label = count > 1 ? strdup(words[1]) : NULL;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) {
        fprintf(stderr, "aligned: this processor has no loads of 32 bytes (AVX2)\n");
        return 1;
    }
#endif
    for (int i = 0; i < ITERATIONS; i++)
        barrow_trial_iterate(iterate, (void *)&result);
    if (label)
        printf("%s: sum %g\n", label, (double)result);
    free(label);
    return 0;
}
