/* The rest of the program that docs/embedding.md tells. Prints what it recorded. */
#include <stdlib.h>

static Class cell = {"Cell", "cell.x", 3, 2, {"head", "tail"}, {0}, {{0}}};
static Class pair = {"Pair", NULL, 0, 2, {"key", "value"}, {0}, {{0}}};

static void print(const barrow_totals *totals) {
    printf("%d objects %d references %d roots\n", (int)totals->objects, (int)totals->references, (int)totals->roots);
}

/* A snapshot of nothing but weak references and an entry of a weak map. */
static bool record_strengths(barrow_totals *totals) {
    barrow_strength_id ephemeron;
    barrow_snapshot *snapshot = NULL;
    barrow_shard *shard = NULL;
    barrow_object told = {.size = sizeof told, .type = cell.type};
    bool done = works(barrow_writer_strength(recording, text("ephemeron"), BARROW_STRENGTH_CLASS_EPHEMERON, &ephemeron))
        && works(barrow_snapshot_begin(recording, NULL, &snapshot)) && works(barrow_snapshot_shard(snapshot, &shard))
        && works(barrow_shard_object(shard, 0, &told)) && announce_weakly(shard, 0)
        && announce_weak_map_entry(shard, ephemeron, 0, 0) && works(barrow_shard_finish(shard))
        && works(barrow_snapshot_commit(snapshot, totals));
    barrow_shard_free(shard);
    barrow_snapshot_free(snapshot);
    return done;
}

/* A snapshot of an object with values. */
static bool record_values(barrow_totals *totals) {
    barrow_snapshot *snapshot = NULL;
    barrow_shard *shard = NULL;
    barrow_object told = {.size = sizeof told, .type = cell.type};
    bool done = declare_fields(cell.type) && works(barrow_snapshot_begin(recording, NULL, &snapshot))
        && works(barrow_snapshot_shard(snapshot, &shard)) && works(barrow_shard_object(shard, 0, &told))
        && announce_values(shard, -7, "ünï") && works(barrow_shard_finish(shard))
        && works(barrow_snapshot_commit(snapshot, totals));
    barrow_shard_free(shard);
    barrow_snapshot_free(snapshot);
    return done;
}

int main(int count, char **arguments) {
    enum { OBJECTS = 100 };
    Object *objects[OBJECTS];
    barrow_site_id outer, site;
    barrow_totals totals;
    if (count != 2 || !begin_recording(arguments[1]) || !declare_words() || !declare_class(&cell) || !declare_class(&pair)
        || !declare_site("main", "main.x", 1, (barrow_site_id){0}, &outer)
        || !declare_site("list", "main.x", 7, outer, &site))
        return 1;
    for (uint32_t o = 0; o < OBJECTS; o++) {
        objects[o] = calloc(1, sizeof(Object) + 2 * sizeof(Object *));
        *objects[o] = (Object){.class = o % 2 ? &pair : &cell, .number = o, .site = site.number, .count = 2};
        objects[o]->slots[1] = o ? objects[o - 1] : NULL;
    }
    if (!record_heap(objects, OBJECTS, 5, &totals)) return 1;
    print(&totals);
    Walker walkers[2] = {{.objects = objects, .count = 30}, {.objects = objects + 30, .count = 70}};
    if (!record_in_parallel(walkers, 2, &totals)) return 1;
    print(&totals);
    if (!record_strengths(&totals)) return 1;
    print(&totals);
    barrow_snapshot *snapshot;
    if (!works(barrow_snapshot_begin(recording, NULL, &snapshot)) || !announce_thread(snapshot, 1, "main", false, 12800, 90000)
        || !announce_thread(snapshot, 2, "helper", true, 0, 0) || !works(barrow_snapshot_commit(snapshot, &totals)))
        return 1;
    barrow_snapshot_free(snapshot);
    print(&totals);
    if (!record_values(&totals)) return 1;
    print(&totals);
    end_recording();
    for (int o = 0; o < OBJECTS; o++) free(objects[o]);
    return recording != NULL;
}
