/* libbarrow records heap snapshots: the C ABI of barrow's writer.
 *
 *   barrow_writer_create ── kinds, types, sites, strengths, strings, facts ──┐
 *     barrow_snapshot_begin                                                  │ any thread, at any time
 *       barrow_snapshot_shard    one for each thread that walks the heap     │
 *         barrow_shard_object_with, barrow_shard_value_… , barrow_shard_root ◀─┘
 *       barrow_shard_finish
 *       barrow_snapshot_thread   for each thread of the recorded program
 *     barrow_snapshot_commit     from here on the snapshot is in the file
 *   barrow_writer_finish
 *
 * What holds for every function:
 *
 * - It returns 0 or a code, and writes what it makes to its last argument. The reason of the calling thread's
 *   last failure is barrow_error_message(). A call that failed has done nothing, unless it says otherwise.
 * - Every handle is freed once, with the function of its name, in any order; NULL is ignored there, and is
 *   BARROW_CODE_NULL_ARGUMENT elsewhere. What was finished or committed still has to be freed; other calls
 *   with it are BARROW_CODE_ENDED. A freed handle must not be used.
 * - Whatever a pointer leads to is read, or copied, before the function returns. Texts are UTF-8; bytes that
 *   are not are replaced by U+FFFD. They need no zero at their end.
 * - 0 or NULL is none: no name, no line, no address. Hence `{0}` is a fine beginning of every structure; those
 *   that begin with `size` want their own sizeof there, so that they can grow.
 * - It never calls back into the program, except for the functions given to barrow_writer_create_stream, and
 *   takes no locks but its own and malloc's. Do not call it in a signal handler, and do not stop a thread
 *   that is inside of it: see docs/embedding.md.
 * - After fork() the child cannot use the parent's handles: BARROW_CODE_FORKED, and freeing them does nothing.
 *   It may begin a recording of its own.
 */


#ifndef BARROW_H
#define BARROW_H

/* Made from writer/capi/src by `BLESS=1 cargo test -p barrow-capi`. */

#include <stddef.h>
#include <stdint.h>

/** A text from a literal or an array of characters that ends with a zero. */
#ifdef __cplusplus
#define BARROW_TEXT(literal) (barrow_text{(literal), sizeof(literal) - 1})
#else
#define BARROW_TEXT(literal) ((barrow_text){(literal), sizeof(literal) - 1})
#endif


/**
 * Changes when programs must be recompiled.
 */
#define BARROW_ABI_MAJOR 1

/**
 * Changes when functions or fields are added.
 */
#define BARROW_ABI_MINOR 2

/**
 * The version of the ABI that this header describes.
 */
#define BARROW_ABI_VERSION ((BARROW_ABI_MAJOR << 16) | BARROW_ABI_MINOR)

/**
 * As `encoder_threads`: the threads that announce also encode.
 */
#define BARROW_NO_ENCODER_THREADS -1

/**
 * As a target: the reference is null, and left out.
 */
#define BARROW_NULL UINT64_MAX

/**
 * The result of a call. The numbers never change; more may be added.
 */
typedef enum barrow_code {
    /**
     * Success.
     */
    BARROW_CODE_OK = 0,
    /**
     * The file cannot be written, because the disk is full, for example. `barrow_error_errno` tells why.
     */
    BARROW_CODE_IO = 1,
    /**
     * An earlier write failed in the middle of a section: start a new file.
     */
    BARROW_CODE_BROKEN = 2,
    /**
     * An earlier call for this snapshot failed, and reported the reason.
     */
    BARROW_CODE_SNAPSHOT_FAILED = 3,
    /**
     * The snapshot was committed and counts, but it may not be on the disk.
     */
    BARROW_CODE_COMMITTED_NOT_SYNCED = 4,
    /**
     * The format cannot represent this.
     */
    BARROW_CODE_FORMAT = 5,
    /**
     * Two announcements have the same number.
     */
    BARROW_CODE_OBJECT_ANNOUNCED_TWICE = 6,
    /**
     * The numbers of the announced objects leave a gap.
     */
    BARROW_CODE_OBJECT_NEVER_ANNOUNCED = 7,
    /**
     * The target of a reference is not an object.
     */
    BARROW_CODE_REFERENCE_TO_UNANNOUNCED = 8,
    /**
     * The target of a root is not an object.
     */
    BARROW_CODE_ROOT_TO_UNANNOUNCED = 9,
    /**
     * A value is larger than its limit.
     */
    BARROW_CODE_OUT_OF_RANGE = 10,
    /**
     * A number that this writer never returned.
     */
    BARROW_CODE_UNDECLARED = 11,
    /**
     * A reference was announced before any object, or after one that was refused.
     */
    BARROW_CODE_REFERENCE_WITHOUT_OBJECT = 12,
    /**
     * A snapshot is still open: commit or free it first.
     */
    BARROW_CODE_SNAPSHOT_OPEN = 13,
    /**
     * A snapshot cannot be committed while shards are still announcing.
     */
    BARROW_CODE_SHARDS_OPEN = 14,
    /**
     * A shard was freed without being finished.
     */
    BARROW_CODE_SHARD_ABANDONED = 15,
    /**
     * The handle was finished or committed, or the snapshot of the shard has ended.
     */
    BARROW_CODE_ENDED = 16,
    /**
     * A value was announced before any object, after one that was refused, or after a reference.
     */
    BARROW_CODE_VALUE_WITHOUT_OBJECT = 17,
    /**
     * A value is of another kind than its field.
     */
    BARROW_CODE_WRONG_VALUE = 18,
    /**
     * A required argument is NULL.
     */
    BARROW_CODE_NULL_ARGUMENT = 32,
    /**
     * An argument has an invalid value.
     */
    BARROW_CODE_BAD_ARGUMENT = 33,
    /**
     * The shard is in use by another thread, or a write function called barrow.
     */
    BARROW_CODE_BUSY = 34,
    /**
     * The handle belongs to the process that forked this one.
     */
    BARROW_CODE_FORKED = 35,
    /**
     * The versions of program and library are incompatible.
     */
    BARROW_CODE_WRONG_ABI = 36,
    /**
     * A bug in barrow. The snapshot is unreliable; snapshots committed before are not affected.
     */
    BARROW_CODE_PANIC = 37,
    /**
     * An error that this version of the ABI has no number for.
     */
    BARROW_CODE_OTHER = 38,
} barrow_code;

/**
 * The purpose of a kind.
 */
typedef enum barrow_role {
    /**
     * Ordinary objects.
     */
    BARROW_ROLE_OBJECT = 0,
    /**
     * Objects that describe types: classes, metaobjects, hidden layouts.
     */
    BARROW_ROLE_TYPE = 1,
    /**
     * Call frames and closures; their types are functions with a file and a line.
     */
    BARROW_ROLE_FRAME = 2,
    /**
     * Not on the heap: a node that represents a group of roots, usually of size 0.
     */
    BARROW_ROLE_ROOT = 3,
} barrow_role;

/**
 * The values of a field.
 */
typedef enum barrow_encoding {
    /**
     * Unsigned numbers of at most 64 bits.
     */
    BARROW_ENCODING_UNSIGNED = 0,
    /**
     * Signed numbers of at most 64 bits.
     */
    BARROW_ENCODING_SIGNED = 1,
    /**
     * True or false.
     */
    BARROW_ENCODING_BOOLEAN = 2,
    /**
     * UTF-16 code units or Unicode code points.
     */
    BARROW_ENCODING_CHARACTER = 3,
    /**
     * `float`.
     */
    BARROW_ENCODING_FLOAT = 4,
    /**
     * `double`.
     */
    BARROW_ENCODING_DOUBLE = 5,
    /**
     * Texts.
     */
    BARROW_ENCODING_TEXT = 6,
    /**
     * Objects: the value is the reference with the field's name, and the field has no values. An object without the
     * reference holds null.
     */
    BARROW_ENCODING_REFERENCE = 7,
} barrow_encoding;

/**
 * The effect of a reference on the reachability of its target.
 */
typedef enum barrow_strength_class {
    /**
     * Keeps its target alive.
     */
    BARROW_STRENGTH_CLASS_STRONG = 0,
    /**
     * Never keeps its target alive.
     */
    BARROW_STRENGTH_CLASS_WEAK = 1,
    /**
     * Keeps its target alive until memory runs short.
     */
    BARROW_STRENGTH_CLASS_SOFT = 2,
    /**
     * Keeps its target alive as long as its source and a key are; the key is the target of the reference
     * before it.
     */
    BARROW_STRENGTH_CLASS_EPHEMERON = 3,
} barrow_strength_class;

/**
 * The compression of columns.
 */
typedef enum barrow_compression {
    /**
     * zstd with level 3.
     */
    BARROW_COMPRESSION_DEFAULT = 0,
    /**
     * Bytes as they are.
     */
    BARROW_COMPRESSION_NONE = 1,
    /**
     * LZ4: the fastest, about a third larger than zstd.
     */
    BARROW_COMPRESSION_LZ4 = 2,
    /**
     * zstd with the level in `compression_level`, 1 to 22.
     */
    BARROW_COMPRESSION_ZSTD = 3,
} barrow_compression;

/**
 * When the operating system is told to write bytes to the disk. A killed process loses nothing either way.
 */
typedef enum barrow_sync {
    /**
     * Never; the system decides.
     */
    BARROW_SYNC_NEVER = 0,
    /**
     * Before and after each commit: a snapshot that was committed survives a power failure.
     */
    BARROW_SYNC_AT_COMMIT = 1,
} barrow_sync;

/**
 * The kind of name of a reference in its source.
 */
typedef enum barrow_label_kind {
    /**
     * The runtime does not say.
     */
    BARROW_LABEL_KIND_UNKNOWN = 0,
    /**
     * An element, counted from 0.
     */
    BARROW_LABEL_KIND_INDEX = 1,
    /**
     * A field, variable or key: the number of a string.
     */
    BARROW_LABEL_KIND_NAME = 2,
} barrow_label_kind;

/**
 * The known numbers of a snapshot, since 0 may be a time or the number of a collection.
 */
typedef enum barrow_known {
    /**
     * `time_ns` is.
     */
    BARROW_KNOWN_TIME = 1,
    /**
     * `gc_number` is.
     */
    BARROW_KNOWN_GC_NUMBER = 2,
} barrow_known;

/**
 * The known counters of a thread, since 0 may be a count.
 */
typedef enum barrow_thread_known {
    /**
     * `allocated_bytes` is.
     */
    BARROW_THREAD_KNOWN_ALLOCATED_BYTES = 1,
    /**
     * `allocated_objects` is.
     */
    BARROW_THREAD_KNOWN_ALLOCATED_OBJECTS = 2,
    /**
     * `cpu_time_ns` is.
     */
    BARROW_THREAD_KNOWN_CPU_TIME = 4,
} barrow_thread_known;

/**
 * The announcements of one thread in a snapshot. One thread at a time may use it; it need not always be the same.
 */
typedef struct barrow_shard barrow_shard;

/**
 * A snapshot that is being recorded. Any thread may use it, several at once.
 */
typedef struct barrow_snapshot barrow_snapshot;

/**
 * A recording that is being written. Any thread may use it, several at once.
 */
typedef struct barrow_writer barrow_writer;

/**
 * A text: UTF-8, not terminated. NULL with length 0 is none, or empty where a text is required.
 */
typedef struct barrow_text {
    /**
     * Its first byte.
     */
    const char *bytes;
    /**
     * Its length in bytes.
     */
    size_t length;
} barrow_text;

/**
 * Options of a recording. Begin with `{0}`: every field has a default.
 */
typedef struct barrow_options {
    /**
     * sizeof(barrow_options).
     */
    size_t size;
    /**
     * Memory for objects and references, in bytes, whatever the heap's size; 0 is 64 MiB. Strings, types and shapes
     * come on top.
     */
    uint64_t memory_budget_bytes;
    /**
     * A `barrow_compression`.
     */
    uint32_t compression;
    /**
     * The level, for zstd.
     */
    int32_t compression_level;
    /**
     * Threads that encode and compress; 0 is one per core, up to eight.
     */
    int32_t encoder_threads;
    /**
     * A `barrow_sync`.
     */
    uint32_t sync;
    /**
     * The permanent identifier of the recording; zeros are a random one.
     */
    uint8_t uuid[16];
    /**
     * Start of the recording, in nanoseconds since 1970-01-01 UTC; 0 is now.
     */
    uint64_t created_ns;
    /**
     * If not 0, a snapshot is written as its difference to the one before if that is smaller and every object has a
     * unique serial. Objects are then renumbered in the file. Besides the budget this takes 30 bytes per object, 38
     * with addresses, up to half as much again for dead ones, and a temporary file as large as a snapshot.
     */
    uint32_t patches;
    /**
     * 0.
     */
    uint32_t reserved;
} barrow_options;

/**
 * Writes all of `length` bytes. Returns 0, or the `errno` of the failure; nothing more is written then.
 */
typedef int32_t (*barrow_write_function)(void *context, const uint8_t *bytes, size_t length);

/**
 * Flushes the written bytes, after each commit and at the end. Returns like a `barrow_write_function`.
 */
typedef int32_t (*barrow_flush_function)(void *context);

/**
 * A string of the recording; 0 is none.
 */
typedef struct barrow_string_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_string_id;

/**
 * A kind of objects; 0 is none.
 */
typedef struct barrow_kind_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_kind_id;

/**
 * A strength of references; 0 is strong, which is always there.
 */
typedef struct barrow_strength_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_strength_id;

/**
 * A type of objects; 0 is none.
 */
typedef struct barrow_type_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_type_id;

/**
 * A key and its value.
 */
typedef struct barrow_pair {
    /**
     * The key.
     */
    struct barrow_text key;
    /**
     * The value.
     */
    struct barrow_text value;
} barrow_pair;

/**
 * Describes a type. Only `kind` and `name` are required.
 */
typedef struct barrow_type {
    /**
     * sizeof(barrow_type).
     */
    size_t size;
    /**
     * The kind its objects are of.
     */
    struct barrow_kind_id kind;
    /**
     * The type it is derived from.
     */
    struct barrow_type_id base;
    /**
     * Its name.
     */
    struct barrow_text name;
    /**
     * The memory layout of its objects, in the runtime's words.
     */
    struct barrow_text layout;
    /**
     * The file it is declared in.
     */
    struct barrow_text file;
    /**
     * The line it is declared at, counted from 1.
     */
    uint32_t line;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Other facts that the runtime knows.
     */
    const struct barrow_pair *attributes;
    /**
     * Their number.
     */
    size_t attribute_count;
} barrow_type;

/**
 * A declared field; 0 is none.
 */
typedef struct barrow_field_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_field_id;

/**
 * An allocation site: a declared one, or any number that has a meaning for the runtime; 0 is none.
 */
typedef struct barrow_site_id {
    /**
     * The number.
     */
    uint32_t number;
} barrow_site_id;

/**
 * Describes an allocation site. Nothing is required.
 */
typedef struct barrow_site {
    /**
     * sizeof(barrow_site).
     */
    size_t size;
    /**
     * The function that allocates.
     */
    struct barrow_text function;
    /**
     * The file it is in.
     */
    struct barrow_text file;
    /**
     * The line in it, counted from 1.
     */
    uint32_t line;
    /**
     * The column of that line, counted from 1.
     */
    uint32_t column;
    /**
     * The call site of the function: a site that was declared before.
     */
    struct barrow_site_id caller;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Other facts that the runtime knows.
     */
    const struct barrow_pair *attributes;
    /**
     * Their number.
     */
    size_t attribute_count;
} barrow_site;

/**
 * Totals of a finished recording. This structure never grows.
 */
typedef struct barrow_finished {
    /**
     * Committed snapshots.
     */
    uint64_t snapshots;
    /**
     * The file's length, in bytes.
     */
    uint64_t bytes;
} barrow_finished;

/**
 * Describes a snapshot apart from its objects. Nothing is required.
 */
typedef struct barrow_snapshot_info {
    /**
     * sizeof(barrow_snapshot_info).
     */
    size_t size;
    /**
     * The known ones of the two numbers: a sum of `barrow_known` values.
     */
    uint32_t known;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Time of the snapshot, in nanoseconds since the recording began.
     */
    uint64_t time_ns;
    /**
     * The collection after which it is taken.
     */
    uint64_t gc_number;
    /**
     * A name for people.
     */
    struct barrow_text label;
    /**
     * Other facts that the runtime knows, such as its own totals.
     */
    const struct barrow_pair *key_values;
    /**
     * Their number.
     */
    size_t key_value_count;
} barrow_snapshot_info;

/**
 * A thread of the recorded program. Only `id` is required. Counters start with the thread, and never fall.
 */
typedef struct barrow_thread {
    /**
     * sizeof(barrow_thread).
     */
    size_t size;
    /**
     * The runtime's number for it: the same in every snapshot, and of no other thread of this one.
     */
    uint64_t id;
    /**
     * Memory it allocated, in bytes.
     */
    uint64_t allocated_bytes;
    /**
     * Number of objects it allocated.
     */
    uint64_t allocated_objects;
    /**
     * The processor time it used, in nanoseconds.
     */
    uint64_t cpu_time_ns;
    /**
     * Its name.
     */
    struct barrow_text name;
    /**
     * Its state in the runtime's words: running, waiting.
     */
    struct barrow_text state;
    /**
     * The thread's roots are those with this label, and those whose label continues it with ": " and more text,
     * such as a frame.
     */
    struct barrow_text root_label;
    /**
     * The known counters: a sum of `barrow_thread_known` values.
     */
    uint32_t known;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Other facts that the runtime knows.
     */
    const struct barrow_pair *attributes;
    /**
     * Their number.
     */
    size_t attribute_count;
} barrow_thread;

/**
 * Totals of a snapshot. This structure never grows.
 */
typedef struct barrow_totals {
    /**
     * Objects.
     */
    uint64_t objects;
    /**
     * References between them.
     */
    uint64_t references;
    /**
     * Roots.
     */
    uint64_t roots;
    /**
     * The shallow sizes of all objects, in bytes.
     */
    uint64_t heap_bytes;
    /**
     * Their unmanaged sizes, in bytes.
     */
    uint64_t unmanaged_bytes;
} barrow_totals;

/**
 * Describes an object, apart from its number and its references. Only `type` is required.
 */
typedef struct barrow_object {
    /**
     * sizeof(barrow_object).
     */
    size_t size;
    /**
     * Its type.
     */
    struct barrow_type_id type;
    /**
     * Its own name or text, if it has one: a string's content, the name of the class that it represents.
     */
    struct barrow_string_id name;
    /**
     * Its own size on the managed heap, in bytes.
     */
    uint64_t shallow_bytes;
    /**
     * Memory outside the managed heap that it owns, in bytes.
     */
    uint64_t unmanaged_bytes;
    /**
     * Its address.
     */
    uint64_t address;
    /**
     * Its identity across snapshots, if the runtime has one.
     */
    uint64_t serial;
    /**
     * Its allocation site.
     */
    struct barrow_site_id site;
    /**
     * 0.
     */
    uint32_t reserved;
} barrow_object;

/**
 * A reference of an object.
 */
typedef struct barrow_reference {
    /**
     * The number of its target object, or `BARROW_NULL`.
     */
    uint64_t target;
    /**
     * The index, or the number of the string, according to `label_kind`; 0 if unknown.
     */
    uint64_t label;
    /**
     * A `barrow_label_kind`.
     */
    uint32_t label_kind;
    /**
     * Its strength.
     */
    struct barrow_strength_id strength;
} barrow_reference;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the ABI of the library: `BARROW_ABI_VERSION` of the header that it was built with.
 */
uint32_t barrow_abi_version(void);

/**
 * Returns whether the library supports a program that was compiled with the header of `version`: pass
 * `BARROW_ABI_VERSION`. The major version must be the same, the minor one may be older.
 */
enum barrow_code barrow_check_abi(uint32_t version);

/**
 * The version of barrow itself, as a zero-terminated text that is never freed.
 */
const char *barrow_version(void);

/**
 * The message of the last failed call of this thread: a zero-terminated text, empty if none failed. It is valid until
 * the thread's next failing call or its end.
 */
const char *barrow_error_message(void);

/**
 * The `errno` of the last error if a system call failed; otherwise 0.
 */
int32_t barrow_error_errno(void);

/**
 * Begins a recording in a new file; an existing one is replaced. `options` may be NULL.
 *
 * # Safety
 * `path` and `options` are readable, `writer` is writable.
 */
enum barrow_code barrow_writer_create(struct barrow_text path,
                                      const struct barrow_options *options,
                                      struct barrow_writer **writer);

/**
 * Begins a recording in an open file, which must be empty, or on a pipe or socket. The descriptor is duplicated; the
 * caller keeps the original. It should block; writing to a pipe without a reader raises SIGPIPE unless the program
 * ignores that.
 *
 * # Safety
 * `fd` is open, if it is a descriptor at all; `options` is NULL or readable, `writer` is writable.
 */
enum barrow_code barrow_writer_create_fd(int32_t fd,
                                         const struct barrow_options *options,
                                         struct barrow_writer **writer);

/**
 * Begins a recording on a stream: `write` takes its bytes, and `flush`, which may be NULL, passes them on. They are
 * called with `context`, one call at a time, from barrow's encoder threads and from threads that are inside of barrow,
 * also while the world is stopped. They must return normally, must not call barrow (BARROW_CODE_BUSY) and must not
 * wait for a thread that may be waiting for barrow. After a failure nothing more is written. The last call is made by
 * `barrow_writer_finish`, or before all handles of the recording are freed.
 *
 * # Safety
 * The functions may be called as said; `options` is NULL or readable, `writer` is writable.
 */
enum barrow_code barrow_writer_create_stream(barrow_write_function write,
                                             barrow_flush_function flush,
                                             void *context,
                                             const struct barrow_options *options,
                                             struct barrow_writer **writer);

/**
 * The number of a text; the same text has the same number, unless the texts in between were more than 16 MiB: keep the
 * numbers of frequent names. A text of more than 1 MiB is shortened, here and in all other calls, and ends with a
 * mark: `… (123 bytes left out)`.
 *
 * # Safety
 * `writer` is NULL or a handle; `text` is readable, `string` is writable.
 */
enum barrow_code barrow_writer_string(struct barrow_writer *writer,
                                      struct barrow_text text,
                                      struct barrow_string_id *string);

/**
 * Declares a kind of objects by its name in the singular; `role` is a `barrow_role`.
 *
 * # Safety
 * `writer` is NULL or a handle; `name` is readable, `kind` is writable.
 */
enum barrow_code barrow_writer_kind(struct barrow_writer *writer,
                                    struct barrow_text name,
                                    uint32_t role,
                                    struct barrow_kind_id *kind);

/**
 * Declares a strength of references by the runtime's word for it; `strength_class` is a `barrow_strength_class`. There
 * may be 16; number 0 is strong and need not be declared.
 *
 * # Safety
 * `writer` is NULL or a handle; `name` is readable, `strength` is writable.
 */
enum barrow_code barrow_writer_strength(struct barrow_writer *writer,
                                        struct barrow_text name,
                                        uint32_t strength_class,
                                        struct barrow_strength_id *strength);

/**
 * Declares a type. Each call makes a new one: store its number with the runtime's own type.
 *
 * # Safety
 * `writer` is NULL or a handle; `description` and what it leads to are readable, `type` is writable.
 */
enum barrow_code barrow_writer_type(struct barrow_writer *writer,
                                    const struct barrow_type *description,
                                    struct barrow_type_id *type);

/**
 * Declares a field. Objects of the type and of those derived from it have it; if `is_optional` is not 0, only those
 * for which a value is announced. `encoding` is a `barrow_encoding`. Each call makes a new one: store its number with
 * the runtime's own field.
 *
 * # Safety
 * `writer` is NULL or a handle; `name` is readable, `field` is writable.
 */
enum barrow_code barrow_writer_field(struct barrow_writer *writer,
                                     struct barrow_type_id type,
                                     struct barrow_text name,
                                     uint32_t encoding,
                                     uint32_t is_optional,
                                     struct barrow_field_id *field);

/**
 * Declares an allocation site. Each call makes a new one, numbered from 1: store its number with the runtime's own.
 * Objects may also have numbers of sites that were never declared.
 *
 * # Safety
 * `writer` is NULL or a handle; `description` and what it leads to are readable, `site` is writable.
 */
enum barrow_code barrow_writer_site(struct barrow_writer *writer,
                                    const struct barrow_site *description,
                                    struct barrow_site_id *site);

/**
 * Records a fact about the whole file: producer, runtime, host and so on.
 *
 * # Safety
 * `writer` is NULL or a handle; `key` and `value` are readable.
 */
enum barrow_code barrow_writer_fact(struct barrow_writer *writer,
                                    struct barrow_text key,
                                    struct barrow_text value);

/**
 * Writes the trailing index and ends the encoder threads; `finished` may be NULL. Without it the recording is still
 * readable, as after a crash. Waits for calls of other threads with this handle. The recording ends even if this
 * fails, except with BARROW_CODE_SNAPSHOT_OPEN, which changes nothing.
 *
 * # Safety
 * `writer` is NULL or a handle; `finished` is NULL or writable.
 */
enum barrow_code barrow_writer_finish(struct barrow_writer *writer,
                                      struct barrow_finished *finished);

/**
 * Frees the handle. A recording that was not finished stays as it is. An open snapshot of it continues, and encodes in
 * the threads that announce.
 *
 * # Safety
 * `writer` is NULL or a handle that no other thread uses and that was not freed.
 */
void barrow_writer_free(struct barrow_writer *writer);

/**
 * Begins a snapshot; one can be open at a time. `info` may be NULL.
 *
 * # Safety
 * `writer` is NULL or a handle; `info` and what it leads to are readable, `snapshot` is writable.
 */
enum barrow_code barrow_snapshot_begin(struct barrow_writer *writer,
                                       const struct barrow_snapshot_info *info,
                                       struct barrow_snapshot **snapshot);

/**
 * Opens a shard, in which one thread at a time announces objects. Several may announce at once, each in a
 * shard of its own.
 *
 * # Safety
 * `snapshot` is NULL or a handle; `shard` is writable.
 */
enum barrow_code barrow_snapshot_shard(struct barrow_snapshot *snapshot, struct barrow_shard **shard);

/**
 * Announces a thread of the recorded program, each once in a snapshot. Any thread may do so, in any order.
 *
 * # Safety
 * `snapshot` is NULL or a handle; `description` and what it leads to are readable.
 */
enum barrow_code barrow_snapshot_thread(struct barrow_snapshot *snapshot,
                                        const struct barrow_thread *description);

/**
 * Commits the snapshot: the recording keeps it, even if the process dies. `totals` may be NULL. All shards must be
 * finished. Waits for the encoders. If this fails the snapshot is abandoned, except with
 * BARROW_CODE_COMMITTED_NOT_SYNCED: then it counts.
 *
 * # Safety
 * `snapshot` is NULL or a handle; `totals` is NULL or writable.
 */
enum barrow_code barrow_snapshot_commit(struct barrow_snapshot *snapshot,
                                        struct barrow_totals *totals);

/**
 * Frees the handle. A snapshot that was not committed is abandoned: the file keeps the snapshots committed before, and
 * calls of its open shards return BARROW_CODE_ENDED.
 *
 * # Safety
 * `snapshot` is NULL or a handle that no other thread uses and that was not freed.
 */
void barrow_snapshot_free(struct barrow_snapshot *snapshot);

/**
 * Announces an object. `number` is its position in the snapshot: finally the numbers of all shards must be 0 to n - 1,
 * each announced once, best in ascending order.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now; `object` is readable.
 */
enum barrow_code barrow_shard_object(struct barrow_shard *shard,
                                     uint64_t number,
                                     const struct barrow_object *object);

/**
 * Announces an object and its references, in the order of its fields or elements. If a reference is refused, the
 * object and the references before it have been announced: abandon the snapshot.
 *
 * # Safety
 * As for `barrow_shard_object`; `references` leads to `reference_count` of them.
 */
enum barrow_code barrow_shard_object_with(struct barrow_shard *shard,
                                          uint64_t number,
                                          const struct barrow_object *object,
                                          const struct barrow_reference *references,
                                          size_t reference_count);

/**
 * Announces references of the object announced last. If one is refused, those before it have been announced.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now; `references` leads to `count` of them.
 */
enum barrow_code barrow_shard_references(struct barrow_shard *shard,
                                         const struct barrow_reference *references,
                                         size_t count);

/**
 * Announces the fields of the object announced last: `names[i]` leads to `targets[i]`. The names are the
 * type's: make the array once. If one is refused, those before it have been announced.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now; `names` and `targets` lead to `count` of them.
 */
enum barrow_code barrow_shard_fields(struct barrow_shard *shard,
                                     struct barrow_strength_id strength,
                                     const struct barrow_string_id *names,
                                     const uint64_t *targets,
                                     size_t count);

/**
 * Announces elements of the object announced last: element `first_index + i` leads to `targets[i]`. If one is
 * refused, those before it have been announced.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now; `targets` leads to `count` of them.
 */
enum barrow_code barrow_shard_elements(struct barrow_shard *shard,
                                       struct barrow_strength_id strength,
                                       uint64_t first_index,
                                       const uint64_t *targets,
                                       size_t count);

/**
 * Announces one reference of the object announced last: a field, variable or key called `name`.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_reference_named(struct barrow_shard *shard,
                                              struct barrow_strength_id strength,
                                              struct barrow_string_id name,
                                              uint64_t target);

/**
 * Announces one reference of the object announced last: the element at `index`, counted from 0.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_reference_indexed(struct barrow_shard *shard,
                                                struct barrow_strength_id strength,
                                                uint64_t index,
                                                uint64_t target);

/**
 * Announces one reference of the object announced last whose name the runtime does not know.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_reference_unknown(struct barrow_shard *shard,
                                                struct barrow_strength_id strength,
                                                uint64_t target);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_UNSIGNED`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_unsigned(struct barrow_shard *shard,
                                             struct barrow_field_id field,
                                             uint64_t value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_SIGNED`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_signed(struct barrow_shard *shard,
                                           struct barrow_field_id field,
                                           int64_t value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_BOOLEAN`: 0 is false. Values come
 * before references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_boolean(struct barrow_shard *shard,
                                            struct barrow_field_id field,
                                            uint32_t value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_CHARACTER`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_character(struct barrow_shard *shard,
                                              struct barrow_field_id field,
                                              uint32_t value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_FLOAT`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_float(struct barrow_shard *shard,
                                          struct barrow_field_id field,
                                          float value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_DOUBLE`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_double(struct barrow_shard *shard,
                                           struct barrow_field_id field,
                                           double value);

/**
 * Announces the value of a field of the object announced last, of `BARROW_ENCODING_TEXT`. Values come before
 * references.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_value_text(struct barrow_shard *shard,
                                         struct barrow_field_id field,
                                         struct barrow_string_id value);

/**
 * Announces a root: `category` is a group in the runtime's words, `label` may be 0.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_root(struct barrow_shard *shard,
                                   struct barrow_string_id category,
                                   struct barrow_string_id label,
                                   uint64_t target);

/**
 * Hands the rest over to the encoders. The shard ends even if this fails.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses now.
 */
enum barrow_code barrow_shard_finish(struct barrow_shard *shard);

/**
 * Frees the handle. If the shard was not finished, its snapshot cannot be committed.
 *
 * # Safety
 * `shard` is NULL or a handle that no other thread uses and that was not freed.
 */
void barrow_shard_free(struct barrow_shard *shard);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BARROW_H */
