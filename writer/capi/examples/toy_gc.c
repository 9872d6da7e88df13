/* A toy runtime: threads that build trees, a collector that stops them, marks and sweeps, and a heap snapshot
 * after each collection.
 *
 *   cc toy_gc.c $(pkg-config --cflags --libs barrow) -pthread -o toy_gc
 *   ./toy_gc toy.barrow 5 && barrow toy.barrow
 *
 * What concerns barrow is in `declare`, `walk` and `collect`. */
#include <barrow.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MUTATORS = 4, STACK = 64, ROUND = 2000 };

/* The runtime's own types and places. Barrow's numbers for them are kept beside them. */
typedef struct Class { const char *name, *fields[3]; barrow_string_id names[3]; barrow_type_id type; } Class;
static Class tree = {.name = "Tree", .fields = {"left", "right", "note"}};
static Class array = {.name = "Array"};
static Class box = {.name = "WeakBox", .fields = {"target"}};

typedef struct Place { const char *function; unsigned line; struct Place *caller; barrow_site_id site; } Place;
static Place in_work = {"work", __LINE__, NULL, {0}};
static Place in_build = {"build", __LINE__, &in_work, {0}};
static Place in_note = {"note", __LINE__, &in_build, {0}};

/* An object remembers where it was allocated: four bytes, stored by the allocator, never looked up. */
typedef struct Object {
    struct Object *next;
    Class *class;
    barrow_site_id site;
    uint32_t count;
    uint32_t number; /* its place in the snapshot, given by the sweep */
    bool marked;
    struct Object *slots[];
} Object;

typedef struct { pthread_t thread; unsigned seed; Object *objects, *stack[STACK]; int top; } Mutator;

static Mutator mutators[MUTATORS];
static pthread_barrier_t stopped;
static int collections;
static barrow_writer *writer;
static barrow_snapshot *snapshot;
static barrow_strength_id strong, weak;
static barrow_string_id stacks;
static struct timespec begin;

/* Whatever fails: the program says why. A real runtime would go on without its recording. */
#define TRY(call) do { if (call) { fprintf(stderr, "%s: %s\n", #call, barrow_error_message()); exit(1); } } while (0)

static size_t bytes_of(const Object *object) { return sizeof *object + object->count * sizeof(Object *); }
static barrow_text text(const char *words) {
    size_t length = 0;
    while (words[length]) length++;
    return (barrow_text){words, length};
}

static Object *allocate(Mutator *mutator, Class *class, uint32_t count, const Place *place) {
    Object *object = calloc(1, sizeof *object + count * sizeof(Object *));
    if (!object) abort();
    object->class = class, object->count = count, object->site = place->site;
    object->next = mutator->objects;
    return mutator->objects = object;
}

/* Before the first collection: what the snapshots are going to speak of. */
static void declare(const char *path) {
    TRY(barrow_check_abi(BARROW_ABI_VERSION));
    barrow_options options = {.size = sizeof options, .memory_budget_bytes = 16 << 20, .encoder_threads = 1};
    TRY(barrow_writer_create(text(path), &options, &writer));
    TRY(barrow_writer_fact(writer, BARROW_TEXT("runtime"), BARROW_TEXT("toy_gc")));
    TRY(barrow_writer_string(writer, BARROW_TEXT("stack"), &stacks));
    TRY(barrow_writer_strength(writer, BARROW_TEXT("weak"), BARROW_STRENGTH_CLASS_WEAK, &weak));
    barrow_kind_id kind;
    TRY(barrow_writer_kind(writer, BARROW_TEXT("object"), BARROW_ROLE_OBJECT, &kind));
    Class *classes[] = {&tree, &array, &box};
    for (int c = 0; c < 3; c++) {
        barrow_type type = {.size = sizeof type, .kind = kind, .name = text(classes[c]->name)};
        TRY(barrow_writer_type(writer, &type, &classes[c]->type));
        for (int f = 0; f < 3 && classes[c]->fields[f]; f++)
            TRY(barrow_writer_string(writer, text(classes[c]->fields[f]), &classes[c]->names[f]));
    }
    Place *places[] = {&in_work, &in_build, &in_note}; /* callers first */
    for (int p = 0; p < 3; p++) {
        barrow_site site = {.size = sizeof site, .function = text(places[p]->function), .line = places[p]->line};
        site.file = BARROW_TEXT(__FILE__);
        if (places[p]->caller) site.caller = places[p]->caller->site;
        TRY(barrow_writer_site(writer, &site, &places[p]->site));
    }
}

static void mark(Object *object) { /* recursive, since trees are low: a real collector has a stack of its own */
    if (!object || object->marked) return;
    object->marked = true;
    for (uint32_t s = 0; s < object->count && object->class != &box; s++) mark(object->slots[s]);
}

/* Frees what was not marked and numbers the rest, one mutator's objects after the other's. */
static void sweep(void) {
    uint32_t number = 0;
    for (Mutator *m = mutators; m < mutators + MUTATORS; m++)
        for (Object *object = m->objects; object; object = object->next)
            if (object->marked && object->class == &box && object->slots[0] && !object->slots[0]->marked)
                object->slots[0] = NULL;
    for (Mutator *m = mutators; m < mutators + MUTATORS; m++)
        for (Object **link = &m->objects; *link;) {
            Object *object = *link;
            if (object->marked) object->number = number++, link = &object->next;
            else *link = object->next, free(object);
        }
}

/* One mutator's objects, into a shard of its own. All mutators do this at the same time. */
static void walk(Mutator *mutator) {
    barrow_shard *shard;
    TRY(barrow_snapshot_shard(snapshot, &shard));
    for (Object *object = mutator->objects; object; object = object->next) {
        uint64_t targets[STACK];
        for (uint32_t s = 0; s < object->count; s++)
            targets[s] = object->slots[s] ? object->slots[s]->number : BARROW_NULL;
        barrow_object told = {.size = sizeof told, .type = object->class->type, .site = object->site};
        told.shallow_bytes = bytes_of(object), told.address = (uintptr_t)object;
        TRY(barrow_shard_object(shard, object->number, &told));
        if (object->class == &array) TRY(barrow_shard_elements(shard, strong, 0, targets, object->count));
        else TRY(barrow_shard_fields(shard, object->class == &box ? weak : strong, object->class->names, targets, object->count));
        object->marked = false; /* for the next collection */
    }
    for (int s = 0; s < mutator->top; s++)
        TRY(barrow_shard_root(shard, stacks, (barrow_string_id){0}, mutator->stack[s]->number));
    TRY(barrow_shard_finish(shard));
    barrow_shard_free(shard);
}

/* The runtime's own count, to compare the recording with. */
static void report(int collection) {
    size_t objects = 0, references = 0, bytes = 0, roots = 0, notes = 0;
    for (Mutator *m = mutators; m < mutators + MUTATORS; roots += (size_t)m++->top)
        for (Object *object = m->objects; object; object = object->next) {
            objects++, bytes += bytes_of(object), notes += object->site.number == in_note.site.number;
            for (uint32_t s = 0; s < object->count; s++) references += object->slots[s] != NULL;
        }
    printf("%d objects %zu references %zu roots %zu bytes %zu notes %zu\n", collection, objects, references, roots, bytes, notes);
    fflush(stdout);
}

/* Every mutator comes here when it reaches a safepoint. The world is stopped from the first barrier to the last;
 * no thread is inside of barrow when it stops. */
static void collect(Mutator *mutator, int collection) {
    bool leads = mutator == mutators;
    pthread_barrier_wait(&stopped);
    if (leads) {
        for (Mutator *m = mutators; m < mutators + MUTATORS; m++)
            for (int s = 0; s < m->top; s++) mark(m->stack[s]);
        sweep();
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        barrow_snapshot_info info = {.size = sizeof info, .known = BARROW_KNOWN_TIME | BARROW_KNOWN_GC_NUMBER};
        info.gc_number = (uint64_t)collection;
        info.time_ns = (uint64_t)((now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec);
        TRY(barrow_snapshot_begin(writer, &info, &snapshot));
    }
    pthread_barrier_wait(&stopped);
    walk(mutator);
    pthread_barrier_wait(&stopped);
    if (leads) {
        TRY(barrow_snapshot_commit(snapshot, NULL));
        barrow_snapshot_free(snapshot);
        report(collection);
    }
    pthread_barrier_wait(&stopped);
}

static Object *build(Mutator *mutator, int depth) {
    Object *node = allocate(mutator, &tree, 3, &in_build);
    if (depth > 0) node->slots[0] = build(mutator, depth - 1), node->slots[1] = build(mutator, depth - 1);
    if (rand_r(&mutator->seed) % 4 == 0) node->slots[2] = allocate(mutator, &array, depth, &in_note);
    return node;
}

static void *work(void *argument) {
    Mutator *mutator = argument;
    for (int collection = 0; collection < collections; collection++) {
        for (int built = 0; built < ROUND; built += 64) {
            Object *root = build(mutator, 5), *weakly = allocate(mutator, &box, 1, &in_work);
            weakly->slots[0] = root->slots[rand_r(&mutator->seed) % 2];
            root->slots[2] = weakly;
            if (mutator->top == STACK) mutator->top -= rand_r(&mutator->seed) % STACK;
            if (rand_r(&mutator->seed) % 2) mutator->stack[mutator->top++] = root; /* the other half is garbage */
        }
        collect(mutator, collection);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: toy_gc FILE COLLECTIONS\n"), 2;
    collections = atoi(arguments[2]);
    declare(arguments[1]);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_barrier_init(&stopped, NULL, MUTATORS);
    for (unsigned m = 0; m < MUTATORS; m++) {
        mutators[m].seed = m;
        if (pthread_create(&mutators[m].thread, NULL, work, &mutators[m])) abort();
    }
    for (int m = 0; m < MUTATORS; m++) pthread_join(mutators[m].thread, NULL);
    barrow_finished finished;
    TRY(barrow_writer_finish(writer, &finished));
    barrow_writer_free(writer);
    fprintf(stderr, "%d snapshots, %d bytes\n", (int)finished.snapshots, (int)finished.bytes);
    for (int m = 0; m < MUTATORS; m++) /* so that leak checkers see nothing but leaks */
        for (Object *object = mutators[m].objects, *next; object; object = next) next = object->next, free(object);
    return 0;
}
