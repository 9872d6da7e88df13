/* With an argument, prints layouts; otherwise where iterations place their data, modulo 4,096. */
#include <locale.h>
#define BARROW_TRIAL_IMPLEMENTATION
#include "barrow_trial.h"

static void sum(barrow_trial_iteration *iteration, void *data) {
    volatile double local = 1;
    double *small = (double *)malloc(sizeof *small), *input = (double *)malloc(1000 * sizeof *input), total = 0;
    int i;
    *small = local;
    for (i = 0; i < 1000; i++)
        input[i] = i;
    for (i = 0; i < 1000; i++)
        total += input[i] * *small;
    barrow_trial_note_address(iteration, "", input);
    barrow_trial_note(iteration, "a=\tb", 7);
    barrow_trial_report(iteration, "s\tum\n", "n\rs", BARROW_TRIAL_LOWER, total / 8);
    barrow_trial_report(iteration, "rate", "", BARROW_TRIAL_HIGHER, *(double *)data);
    barrow_trial_report(iteration, "wrong", "", BARROW_TRIAL_UNKNOWN, total / (total - total));
    printf("%d %d %d\n", (int)((uintptr_t)&local % 4096), (int)((uintptr_t)small % 4096),
           (int)((uintptr_t)input % 4096));
    free(small);
    free(input);
}

int main(int count, char **words) {
    double rate = 1e300;
    int i;
    (void)words;
    /* A comma as the decimal point, where there is such a locale. */
    setlocale(LC_ALL, "de_DE.UTF-8");
    for (i = 0; count > 1 && i < 100; i++) {
        barrow_trial_layout layout = barrow_trial_layout_of((uint64_t)0 - (uint64_t)i * 1000003u, (uint64_t)i);
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", layout.seed, layout.stack,
               layout.heap_small, layout.heap_large, layout.heap_offset);
    }
    for (i = 0; count == 1 && i < 60; i++)
        barrow_trial_iterate(sum, &rate);
    if (count == 1)
        barrow_trial_report(NULL, "whole", "", BARROW_TRIAL_UNKNOWN, barrow_trial_is_on());
    return 0;
}
