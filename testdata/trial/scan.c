/* Sums the bytes of a block again and again. A block that crosses a page is read byte by byte, one that does not in words:
   so the time depends on where malloc puts it. With -DNEW the careful loop is slower, and one position goes wrong.

   gcc -O2 -o scan scan.c && gcc -O2 -DNEW -o scan-new scan.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1024, PAGE = 4096, PASSES = 5, ROUNDS = 6000 };

/* The address of a block within its page. */
static unsigned place(const unsigned char *block) { return (unsigned)((uintptr_t)block % PAGE); }

static uint64_t in_words(const unsigned char *block) {
    uint64_t sum = 0;
    for (int at = 0; at < BLOCK; at += 4) {
        uint32_t word;
        memcpy(&word, block + at, sizeof word);
        sum = sum * 31 + word;
    }
    return sum;
}

static uint64_t in_bytes(const unsigned char *block) {
    uint64_t sum = 0;
    for (int at = 0; at < BLOCK; at += 4) {
        uint32_t word = 0;
        for (int byte = 3; byte >= 0; byte--) {
            word = word << 8 | block[at + byte];
#ifdef NEW
            __asm__ volatile("imul %0, %0\n\timul %0, %0" : : "r"((uint64_t)word) : "cc");
#endif
        }
        __asm__ volatile("" : "+r"(word));
        sum = sum * 31 + word;
    }
    return sum;
}

static uint64_t scan(const unsigned char *block) {
    return place(block) > PAGE - BLOCK ? in_bytes(block) : in_words(block);
}

int main(void) {
#ifdef NEW
    unsigned char *index = calloc(1, 400);
    if (!index) return 2;
#endif
    unsigned char *table = calloc(1, 1800), *block = malloc(BLOCK);
    if (!table || !block) return 2;
    for (int at = 0; at < BLOCK; at++) block[at] = (unsigned char)(at * 7);
    const char *path = getenv("BARROW_TRIAL_VALUES");
    FILE *values = path ? fopen(path, "a") : NULL;
    uint64_t sum = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int round = 0; round < ROUNDS; round++) {
            block[round % BLOCK]++;
            sum += scan(block);
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
        if (values) fprintf(values, "value\tpass\tns\tlower\t%d\t\t%.0f\n", pass, ns);
    }
    if (values) fclose(values);
#ifdef NEW
    if (place(block) >= PAGE - 32) {
        fprintf(stderr, "scan-new: the block ends in the next page\nscan-new: the sum is wrong\n");
        return 1;
    }
#endif
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
