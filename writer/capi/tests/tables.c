/* Tables that compress a hundredfold, and one that is too large. Writes two recordings, which must be readable. */
#include <barrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKS(call) do { if ((call) != BARROW_CODE_OK) { \
    fprintf(stderr, "tables.c:%d: %s\n", __LINE__, barrow_error_message()); exit(1); } } while (0)

static barrow_text text(const char *words) { return (barrow_text){words, strlen(words)}; }

static void commit(barrow_writer *writer) {
    barrow_snapshot *snapshot;
    WORKS(barrow_snapshot_begin(writer, NULL, &snapshot));
    WORKS(barrow_snapshot_commit(snapshot, NULL));
    barrow_snapshot_free(snapshot);
    WORKS(barrow_writer_finish(writer, NULL));
    barrow_writer_free(writer);
}

/* 80,000 strings of 300 bytes and 400,000 types. */
static void large(const char *path) {
    barrow_writer *writer;
    WORKS(barrow_writer_create(text(path), NULL, &writer));
    char words[400];
    barrow_string_id string;
    for (int number = 0; number < 80000; number++) {
        snprintf(words, sizeof words, "%0292d%08d", 0, number);
        WORKS(barrow_writer_string(writer, text(words), &string));
    }
    barrow_kind_id kind;
    WORKS(barrow_writer_kind(writer, BARROW_TEXT("object"), BARROW_ROLE_OBJECT, &kind));
    barrow_type described = {.size = sizeof described, .kind = kind, .name = BARROW_TEXT("T")};
    barrow_type_id type;
    for (int number = 0; number < 400000; number++) WORKS(barrow_writer_type(writer, &described, &type));
    commit(writer);
}

/* Types until one is refused. Prints how many there are. */
static void too_large(const char *path) {
    enum { ATTRIBUTES = 250000 };
    barrow_pair *attributes = malloc(ATTRIBUTES * sizeof *attributes);
    for (int at = 0; at < ATTRIBUTES; at++) attributes[at] = (barrow_pair){text("key"), text("value")};
    barrow_writer *writer;
    WORKS(barrow_writer_create(text(path), NULL, &writer));
    barrow_kind_id kind;
    WORKS(barrow_writer_kind(writer, BARROW_TEXT("object"), BARROW_ROLE_OBJECT, &kind));
    barrow_type described = {.size = sizeof described, .kind = kind, .name = BARROW_TEXT("T"),
                             .attributes = attributes, .attribute_count = ATTRIBUTES};
    barrow_type_id type;
    int count = 0;
    barrow_code code;
    while (!(code = barrow_writer_type(writer, &described, &type))) count++;
    if (code != BARROW_CODE_OUT_OF_RANGE || !strstr(barrow_error_message(), "memory for tables (TYPES) is ")) {
        fprintf(stderr, "tables.c: code %d: %s\n", (int)code, barrow_error_message());
        exit(1);
    }
    printf("%d", count);
    free(attributes);
    commit(writer);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    large(arguments[1]);
    too_large(arguments[2]);
    return 0;
}
