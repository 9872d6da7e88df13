/* Everything that a program can do wrong, and what the world can do to it. Ends with 0 if every call said what
 * it should; writes a good recording to the file it is given, so that nothing of all this does it harm. */
#include <barrow.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(int line, int wanted, int code, const char *words) {
    if (code == wanted && (code == 0 || strstr(barrow_error_message(), words))) return;
    fprintf(stderr, "faults.c:%d: code %d, wanted %d; %s\n", line, code, wanted, barrow_error_message());
    exit(1);
}
#define FAILS(code, words, call) expect(__LINE__, BARROW_CODE_##code, (call), words)
#define WORKS(call) expect(__LINE__, BARROW_CODE_OK, (call), "")
#define HOLDS(truth) do { if (!(truth)) { fprintf(stderr, "faults.c:%d: not so: %s\n", __LINE__, #truth); exit(1); } } while (0)

static const barrow_strength_id strong;
static const barrow_string_id unnamed;
static barrow_type_id type;
static barrow_string_id stack;

static barrow_text text(const char *words) { return (barrow_text){words, strlen(words)}; }
static barrow_object object(void) {
    return (barrow_object){.size = sizeof(barrow_object), .type = type, .shallow_bytes = 16};
}

static void declare(barrow_writer *writer) {
    barrow_kind_id kind;
    WORKS(barrow_writer_kind(writer, BARROW_TEXT("object"), BARROW_ROLE_OBJECT, &kind));
    barrow_type described = {.size = sizeof described, .kind = kind, .name = BARROW_TEXT("T")};
    WORKS(barrow_writer_type(writer, &described, &type));
    WORKS(barrow_writer_string(writer, BARROW_TEXT("stack"), &stack));
}

/* Records a snapshot of so many objects, each with a reference to itself. Returns the first code that is not 0. */
static barrow_code record(barrow_writer *writer, uint64_t objects) {
    barrow_snapshot *snapshot;
    barrow_shard *shard = NULL;
    barrow_code code = barrow_snapshot_begin(writer, NULL, &snapshot);
    if (!code) code = barrow_snapshot_shard(snapshot, &shard);
    barrow_object told = object();
    for (uint64_t number = 0; !code && number < objects; number++) {
        barrow_reference reference = {.target = number};
        /* Nothing that a compressor could make small. */
        told.shallow_bytes = number * 0x9e3779b97f4a7c15 >> 24;
        told.serial = number + 1;
        code = barrow_shard_object_with(shard, number, &told, &reference, 1);
    }
    if (!code) code = barrow_shard_finish(shard);
    if (!code) code = barrow_snapshot_commit(snapshot, NULL);
    barrow_shard_free(shard);
    barrow_snapshot_free(snapshot);
    return code;
}

static void null_and_nonsense(barrow_writer *writer, barrow_snapshot *snapshot, barrow_shard *shard) {
    barrow_writer *none;
    barrow_kind_id kind = {7};
    barrow_site_id site;
    barrow_string_id string;
    barrow_strength_id strength;
    barrow_object told = object();
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_writer_string(NULL, text("x"), &string));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_writer_kind(NULL, text("x"), 0, &kind));
    HOLDS(kind.number == 0);
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_writer_fact(NULL, text("x"), text("y")));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_writer_finish(NULL, NULL));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_snapshot_begin(NULL, NULL, &snapshot));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_snapshot_shard(NULL, &shard));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_snapshot_commit(NULL, NULL));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_object(NULL, 0, &told));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_object_with(NULL, 0, &told, NULL, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_references(NULL, NULL, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_fields(NULL, strong, NULL, NULL, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_elements(NULL, strong, 0, NULL, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_reference_named(NULL, strong, stack, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_reference_indexed(NULL, strong, 0, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_reference_unknown(NULL, strong, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_root(NULL, stack, unnamed, 0));
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_shard_finish(NULL));
    HOLDS(snapshot == NULL && shard == NULL);
    barrow_writer_free(NULL), barrow_snapshot_free(NULL), barrow_shard_free(NULL);
    FAILS(NULL_ARGUMENT, "writer is NULL", barrow_writer_create(text("/tmp"), NULL, NULL));
    FAILS(NULL_ARGUMENT, "write is NULL", barrow_writer_create_stream(NULL, NULL, NULL, NULL, &none));
    FAILS(NULL_ARGUMENT, "string is NULL", barrow_writer_string(writer, text("x"), NULL));
    FAILS(NULL_ARGUMENT, "bytes of a text is NULL", barrow_writer_string(writer, (barrow_text){NULL, 3}, &string));
    FAILS(NULL_ARGUMENT, "barrow_site is NULL", barrow_writer_site(writer, NULL, &site));

    FAILS(BAD_ARGUMENT, "role of a kind cannot be 4", barrow_writer_kind(writer, text("x"), 4, &kind));
    FAILS(BAD_ARGUMENT, "class of a strength cannot be 9", barrow_writer_strength(writer, text("x"), 9, &strength));
    FAILS(BAD_ARGUMENT, "descriptor cannot be -1", barrow_writer_create_fd(-1, NULL, &none));
    barrow_options options = {.size = sizeof options, .compression = 77};
    FAILS(BAD_ARGUMENT, "compression cannot be 77", barrow_writer_create(text("/dev/null"), &options, &none));
    options = (barrow_options){.size = sizeof options, .encoder_threads = -2};
    FAILS(BAD_ARGUMENT, "encoder_threads cannot be -2", barrow_writer_create(text("/dev/null"), &options, &none));
    options = (barrow_options){.size = sizeof options, .compression = BARROW_COMPRESSION_ZSTD, .compression_level = 99};
    FAILS(FORMAT, "99", barrow_writer_create(text("/dev/null"), &options, &none));
    HOLDS(none == NULL);
    barrow_site described = {.size = 0};
    FAILS(BAD_ARGUMENT, "set it to sizeof(barrow_site)", barrow_writer_site(writer, &described, &site));
    described = (barrow_site){.size = sizeof described, .caller = {99}};
    FAILS(UNDECLARED, "calling site 99 was never declared", barrow_writer_site(writer, &described, &site));
    barrow_thread thread = {.size = sizeof thread, .known = 8};
    barrow_snapshot *running;
    WORKS(barrow_snapshot_begin(writer, NULL, &running));
    FAILS(BAD_ARGUMENT, "known cannot be 8", barrow_snapshot_thread(running, &thread));
    FAILS(NULL_ARGUMENT, "barrow_thread is NULL", barrow_snapshot_thread(running, NULL));
    thread.known = 0;
    FAILS(NULL_ARGUMENT, "handle is NULL", barrow_snapshot_thread(NULL, &thread));
    WORKS(barrow_snapshot_thread(running, &thread));
    barrow_snapshot_free(running);
    struct { barrow_object known; uint64_t unknown; } newer = {object(), 0};
    newer.known.size = sizeof newer, newer.unknown = 1;
    barrow_snapshot *apart;
    barrow_shard *own;
    WORKS(barrow_snapshot_begin(writer, NULL, &apart));
    WORKS(barrow_snapshot_shard(apart, &own));
    FAILS(WRONG_ABI, "install a newer one", barrow_shard_object(own, 0, &newer.known));
    newer.unknown = 0;
    WORKS(barrow_shard_object(own, 0, &newer.known));
    FAILS(NULL_ARGUMENT, "references is NULL", barrow_shard_references(own, NULL, 2));
    barrow_reference odd = {.label_kind = 3};
    FAILS(BAD_ARGUMENT, "kind of a label cannot be 3", barrow_shard_references(own, &odd, 1));
    odd = (barrow_reference){.label_kind = BARROW_LABEL_KIND_NAME, .label = 1ull << 40};
    FAILS(OUT_OF_RANGE, "string", barrow_shard_references(own, &odd, 1));
    FAILS(UNDECLARED, "string 0 was never declared", barrow_shard_reference_named(own, strong, unnamed, 0));
    FAILS(UNDECLARED, "strength 5 was never declared", barrow_shard_reference_unknown(own, (barrow_strength_id){5}, 0));
    FAILS(OUT_OF_RANGE, "target of a reference", barrow_shard_reference_unknown(own, strong, 1ull << 40));
    WORKS(barrow_shard_reference_unknown(own, strong, BARROW_NULL));
    told.type.number = 0;
    FAILS(UNDECLARED, "type 0 was never declared (1 were)", barrow_shard_object(own, 1, &told));
    FAILS(REFERENCE_WITHOUT_OBJECT, "without the object", barrow_shard_reference_unknown(own, strong, 0));
    FAILS(UNDECLARED, "string 0 was never declared", barrow_shard_root(own, unnamed, unnamed, 0));
    barrow_shard_free(own), barrow_snapshot_free(apart);
    FAILS(WRONG_ABI, "compile the program anew", barrow_check_abi(0));
    FAILS(WRONG_ABI, "install a newer libbarrow", barrow_check_abi(BARROW_ABI_VERSION + 1));
    WORKS(barrow_check_abi(BARROW_ABI_VERSION));
    HOLDS(barrow_abi_version() == BARROW_ABI_VERSION && strlen(barrow_version()) > 4);
}

static void wrong_order(barrow_writer *writer) {
    barrow_snapshot *snapshot, *second;
    barrow_shard *shard, *late;
    barrow_object told = object();
    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    FAILS(SNAPSHOT_OPEN, "commit or drop it first", barrow_snapshot_begin(writer, NULL, &second));
    FAILS(SNAPSHOT_OPEN, "", barrow_writer_finish(writer, NULL));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    FAILS(REFERENCE_WITHOUT_OBJECT, "", barrow_shard_reference_indexed(shard, strong, 0, 0));
    WORKS(barrow_shard_object(shard, 0, &told));
    FAILS(OBJECT_ANNOUNCED_TWICE, "object 0 was announced twice", barrow_shard_object(shard, 0, &told));
    WORKS(barrow_shard_finish(shard));
    FAILS(ENDED, "the shard was finished", barrow_shard_finish(shard));
    FAILS(ENDED, "the shard was finished", barrow_shard_object(shard, 1, &told));
    barrow_shard_free(shard);
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    FAILS(SHARDS_OPEN, "1 shards", barrow_snapshot_commit(snapshot, NULL));
    FAILS(ENDED, "the snapshot was committed, or failed to be", barrow_snapshot_commit(snapshot, NULL));
    FAILS(ENDED, "the snapshot was committed, or failed to be", barrow_snapshot_shard(snapshot, &late));
    barrow_snapshot_free(snapshot), barrow_shard_free(shard);

    /* A shard that outlives its snapshot, and its recording. */
    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    barrow_snapshot_free(snapshot);
    FAILS(ENDED, "given up while this shard was open", barrow_shard_root(shard, stack, unnamed, 0));
    FAILS(ENDED, "given up while this shard was open", barrow_shard_finish(shard));
    barrow_shard_free(shard);

    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    barrow_shard_free(shard);
    FAILS(SHARD_ABANDONED, "without being finished", barrow_snapshot_commit(snapshot, NULL));
    barrow_snapshot_free(snapshot);

    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    WORKS(barrow_shard_object(shard, 0, &told));
    WORKS(barrow_shard_reference_unknown(shard, strong, 9));
    WORKS(barrow_shard_finish(shard));
    FAILS(REFERENCE_TO_UNANNOUNCED, "object 0 refers to object 9", barrow_snapshot_commit(snapshot, NULL));
    barrow_shard_free(shard), barrow_snapshot_free(snapshot);
}

/* A stream: keeps the bytes until there is no more room, and tries what it must not do. */
typedef struct { size_t room, calls, flushes; barrow_writer *calls_back; barrow_shard *announces; } Stream;

static int32_t write_stream(void *context, const uint8_t *bytes, size_t length) {
    Stream *stream = context;
    barrow_string_id string;
    barrow_object told = object();
    if (stream->calls_back) FAILS(BUSY, "must not call barrow", barrow_writer_string(stream->calls_back, text("x"), &string));
    if (stream->announces) FAILS(BUSY, "must not call barrow", barrow_shard_object(stream->announces, 0, &told));
    stream->calls++;
    if (length > stream->room || !bytes) return ENOSPC;
    stream->room -= length;
    return 0;
}

static int32_t flush_stream(void *context) { ((Stream *)context)->flushes++; return 0; }

static void streams(void) {
    for (int threads = -1; threads <= 2; threads += 3) {
        barrow_options options = {.size = sizeof options, .encoder_threads = threads, .memory_budget_bytes = 1 << 20};
        Stream stream = {.room = 4 << 20};
        barrow_writer *writer;
        WORKS(barrow_writer_create_stream(write_stream, flush_stream, &stream, &options, &writer));
        declare(writer);
        stream.calls_back = writer;
        WORKS(record(writer, 50000));
        HOLDS(stream.calls > 3 && stream.flushes == 1);
        stream.room = 1 << 16;
        FAILS(IO, "No space left on device", record(writer, 200000));
        HOLDS(barrow_error_errno() == ENOSPC);
        stream.room = 1 << 20;
        FAILS(BROKEN, "start a new file", record(writer, 1000));
        FAILS(BROKEN, "start a new file", barrow_writer_finish(writer, NULL));
        FAILS(ENDED, "the recording was finished", barrow_writer_finish(writer, NULL));
        barrow_writer_free(writer);

        /* A function that announces, on the very thread that is announcing. */
        Stream second = {.room = 4 << 20};
        WORKS(barrow_writer_create_stream(write_stream, NULL, &second, &options, &writer));
        declare(writer);
        barrow_snapshot *snapshot;
        WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
        WORKS(barrow_snapshot_shard(snapshot, &second.announces));
        barrow_object told = object();
        for (uint64_t number = 0; number < 30000; number++) WORKS(barrow_shard_object(second.announces, number, &told));
        WORKS(barrow_shard_finish(second.announces));
        WORKS(barrow_snapshot_commit(snapshot, NULL));
        /* Freed first: the snapshot and its shard keep what they need. */
        barrow_writer_free(writer), barrow_snapshot_free(snapshot), barrow_shard_free(second.announces);
    }
}

static void files(void) {
    barrow_writer *writer;
    FAILS(IO, "No space left on device", barrow_writer_create(text("/dev/full"), NULL, &writer));
    HOLDS(barrow_error_errno() == ENOSPC && writer == NULL);
    FAILS(IO, "No such file or directory", barrow_writer_create(text("/nowhere/at/all.barrow"), NULL, &writer));
    HOLDS(barrow_error_errno() == ENOENT);
    FAILS(IO, "directory", barrow_writer_create(text("/"), NULL, &writer));
    FAILS(IO, "", barrow_writer_create((barrow_text){"a\0b", 3}, NULL, &writer));
    int full = open("/dev/full", O_WRONLY);
    FAILS(IO, "No space left on device", barrow_writer_create_fd(full, NULL, &writer));
    HOLDS(close(full) == 0); /* it stayed open */
    FAILS(IO, "Bad file descriptor", barrow_writer_create_fd(full, NULL, &writer));

    /* A pipe whose reader goes away. */
    int ends[2];
    HOLDS(pipe(ends) == 0);
    signal(SIGPIPE, SIG_IGN);
    WORKS(barrow_writer_create_fd(ends[1], NULL, &writer));
    declare(writer);
    close(ends[0]), close(ends[1]);
    FAILS(IO, "Broken pipe", record(writer, 1000));
    barrow_writer_free(writer);
}

/* Signals of the program are not handled by threads that it does not know; its own masks stay as they were. */
static void signals(void) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    HOLDS(!sigismember(&mask, SIGINT));
    int encoders = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue; /* all others are encoders */
        char path[300], line[200];
        unsigned long long blocked = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        /* A thread that has not run yet has all signals blocked. */
        for (int tries = 0; tries < 5000 && (tries == 0 || blocked >> (SIGSEGV - 1) & 1); tries++, usleep(1000)) {
            FILE *status = fopen(path, "r");
            while (status && fgets(line, sizeof line, status)) sscanf(line, "SigBlk: %llx", &blocked);
            if (status) fclose(status);
        }
        encoders++;
        HOLDS(blocked >> (SIGINT - 1) & 1 && blocked >> (SIGUSR1 - 1) & 1);
        HOLDS(!(blocked >> (SIGSEGV - 1) & 1));
    }
    if (tasks) closedir(tasks);
    HOLDS(encoders == 2);
}

static void *announce_a_little(void *shard) {
    barrow_object told = object();
    WORKS(barrow_shard_object(shard, 0, &told));
    HOLDS(*barrow_error_message() == 0); /* each thread has its own */
    return NULL;
}

static void threads(barrow_writer *writer) {
    barrow_snapshot *snapshot;
    barrow_shard *shard;
    pthread_t other;
    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    HOLDS(*barrow_error_message() != 0);
    pthread_create(&other, NULL, announce_a_little, shard); /* a shard may change its thread */
    pthread_join(other, NULL);
    WORKS(barrow_shard_finish(shard));
    WORKS(barrow_snapshot_commit(snapshot, NULL));
    barrow_shard_free(shard), barrow_snapshot_free(snapshot);
}

/* The child of a fork: the parent's handles are refused, recordings of its own are not. */
static void child_of_fork(barrow_writer *writer, barrow_snapshot *snapshot, barrow_shard *shard, const char *path) {
    barrow_string_id string;
    barrow_object told = object();
    FAILS(FORKED, "parent of this process", barrow_writer_string(writer, text("x"), &string));
    FAILS(FORKED, "parent of this process", barrow_shard_object(shard, 0, &told));
    FAILS(FORKED, "parent of this process", barrow_shard_finish(shard));
    FAILS(FORKED, "parent of this process", barrow_snapshot_commit(snapshot, NULL));
    FAILS(FORKED, "parent of this process", barrow_writer_finish(writer, NULL));
    barrow_writer_free(writer), barrow_snapshot_free(snapshot), barrow_shard_free(shard);
    WORKS(barrow_writer_create(text(path), NULL, &writer));
    declare(writer);
    WORKS(record(writer, 77));
    WORKS(barrow_writer_finish(writer, NULL));
    barrow_writer_free(writer);
}

/* The second snapshot is a difference to the first. */
static void patches(const char *beside) {
    char path[4096];
    snprintf(path, sizeof path, "%s.patches", beside);
    barrow_options options = {.size = sizeof options, .patches = 1};
    barrow_writer *writer;
    WORKS(barrow_writer_create(text(path), &options, &writer));
    declare(writer);
    WORKS(record(writer, 300));
    WORKS(record(writer, 301));
    WORKS(barrow_writer_finish(writer, NULL));
    barrow_writer_free(writer);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    barrow_options options = {.size = sizeof options, .encoder_threads = 2, .uuid = {1, 2, 3}, .created_ns = 5};
    barrow_writer *writer;
    WORKS(barrow_writer_create(text(arguments[1]), &options, &writer));
    declare(writer);
    WORKS(record(writer, 100));
    null_and_nonsense(writer, NULL, NULL);
    wrong_order(writer);
    signals();
    streams();
    files();
    threads(writer);
    patches(arguments[1]);

    barrow_snapshot *snapshot;
    barrow_shard *shard;
    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_shard(snapshot, &shard));
    pid_t child = fork();
    if (child == 0) {
        child_of_fork(writer, snapshot, shard, arguments[2]);
        /* Not an end that looks for leaks: the parent's handles are one here, on purpose. */
        execl("/bin/true", "true", (char *)NULL);
    }
    int status;
    HOLDS(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    barrow_object told = object();
    WORKS(barrow_shard_object(shard, 0, &told));
    WORKS(barrow_shard_finish(shard));
    WORKS(barrow_snapshot_commit(snapshot, NULL));
    barrow_shard_free(shard), barrow_snapshot_free(snapshot);

    /* Bytes that are not UTF-8 are replaced. */
    WORKS(barrow_writer_fact(writer, text("latin-1"), (barrow_text){"Gr\xf6\xdf" "e", 5}));
    barrow_finished finished;
    WORKS(barrow_writer_finish(writer, &finished));
    HOLDS(finished.snapshots == 3 && finished.bytes > 500);
    barrow_string_id string;
    FAILS(ENDED, "the recording was finished", barrow_writer_string(writer, text("x"), &string));
    FAILS(ENDED, "the recording was finished", barrow_writer_finish(writer, NULL));
    FAILS(ENDED, "the recording was finished", barrow_snapshot_begin(writer, NULL, &snapshot));
    barrow_writer_free(writer);
    return 0;
}
