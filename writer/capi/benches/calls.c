/* What announcing costs the thread that announces: its CPU time for an object, and for a reference of it, by
 * how they are announced. `calls.rs` does the same in Rust. Prints: way, ns for an object, ns for a reference. */
#include <barrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OBJECTS = 1000000, REFERENCES = 8, RUNS = 7 };

#define TRY(call) do { if (call) { fprintf(stderr, "%s: %s\n", #call, barrow_error_message()); exit(1); } } while (0)

static const barrow_strength_id strong;
static barrow_type_id type;
static barrow_string_id names[REFERENCES];

static void by_call(barrow_shard *shard, uint64_t number, const barrow_object *object, const uint64_t *targets, int count) {
    TRY(barrow_shard_object(shard, number, object));
    for (int r = 0; r < count; r++) TRY(barrow_shard_reference_named(shard, strong, names[r], targets[r]));
}

static void in_one_call(barrow_shard *shard, uint64_t number, const barrow_object *object, const uint64_t *targets, int count) {
    barrow_reference references[REFERENCES];
    for (int r = 0; r < count; r++)
        references[r] = (barrow_reference){.target = targets[r], .label = names[r].number, .label_kind = BARROW_LABEL_KIND_NAME};
    TRY(barrow_shard_object_with(shard, number, object, references, (size_t)count));
}

static void by_fields(barrow_shard *shard, uint64_t number, const barrow_object *object, const uint64_t *targets, int count) {
    TRY(barrow_shard_object(shard, number, object));
    if (count) TRY(barrow_shard_fields(shard, strong, names, targets, (size_t)count));
}

static void by_elements(barrow_shard *shard, uint64_t number, const barrow_object *object, const uint64_t *targets, int count) {
    TRY(barrow_shard_object(shard, number, object));
    if (count) TRY(barrow_shard_elements(shard, strong, 0, targets, (size_t)count));
}

typedef void Way(barrow_shard *, uint64_t, const barrow_object *, const uint64_t *, int);

/* CPU time of this thread for a snapshot, in ns for each object. */
static double record(barrow_writer *writer, Way *way, int count) {
    barrow_snapshot *snapshot;
    barrow_shard *shard;
    TRY(barrow_snapshot_begin(writer, NULL, &snapshot));
    TRY(barrow_snapshot_shard(snapshot, &shard));
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (uint64_t number = 0; number < OBJECTS; number++) {
        barrow_object object = {.size = sizeof object, .type = type, .shallow_bytes = 16 + 8 * (uint64_t)count};
        uint64_t targets[REFERENCES];
        for (int r = 0; r < count; r++) targets[r] = (number + 1 + (uint64_t)r) % OBJECTS;
        way(shard, number, &object, targets, count);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    TRY(barrow_shard_finish(shard));
    TRY(barrow_snapshot_commit(snapshot, NULL));
    barrow_shard_free(shard), barrow_snapshot_free(snapshot);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / OBJECTS;
}

static double best(barrow_writer *writer, Way *way, int count) {
    double best = record(writer, way, count);
    for (int run = 1; run < RUNS; run++) {
        double now = record(writer, way, count);
        if (now < best) best = now;
    }
    return best;
}

int main(void) {
    barrow_options options = {.size = sizeof options, .encoder_threads = 1, .compression = BARROW_COMPRESSION_NONE};
    barrow_writer *writer;
    TRY(barrow_writer_create(BARROW_TEXT("/dev/null"), &options, &writer));
    barrow_kind_id kind;
    TRY(barrow_writer_kind(writer, BARROW_TEXT("object"), BARROW_ROLE_OBJECT, &kind));
    barrow_type described = {.size = sizeof described, .kind = kind, .name = BARROW_TEXT("T")};
    TRY(barrow_writer_type(writer, &described, &type));
    for (int r = 0; r < REFERENCES; r++) TRY(barrow_writer_string(writer, (barrow_text){"abcdefgh" + r, 1}, &names[r]));
    const struct { const char *name; Way *way; } ways[] = {
        {"a call for each reference", by_call},
        {"object and references in one call", in_one_call},
        {"object, then its fields", by_fields},
        {"object, then its elements", by_elements},
    };
    for (int w = 0; w < 4; w++) {
        double alone = best(writer, ways[w].way, 0), with = best(writer, ways[w].way, REFERENCES);
        printf("%-36s %6.1f ns an object %6.1f ns a reference\n", ways[w].name, alone, (with - alone) / REFERENCES);
    }
    TRY(barrow_writer_finish(writer, NULL));
    barrow_writer_free(writer);
    return 0;
}
