/* SPDX-License-Identifier: MIT */
/* The record of a series: for any content, the reported records can be read back, a new
 * record can be appended, and a file of another kind is not changed. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/io/hdf5/hdf5_file.h"
#include "../../src/series/journal.h"
#include "../../src/series/record.h"
#include "fuzz.h"

static char path[NB_PATH_MAX];

static void forget(void)
{
    unlink(path);
}

/** A file of these bytes, under one name for each process. */
static void put_file(const uint8_t *data, size_t size)
{
    const char *folder = getenv("TMPDIR");
    FILE *file;
    if (!path[0]) {
        snprintf(path, sizeof path, "%s/fuzz_journal.%ld", folder ? folder : "/tmp",
                 (long)getpid());
        atexit(forget);
    }
    unlink(path);
    file = fopen(path, "wb");
    NB_FUZZ_CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

typedef struct found {
    nb_journal *journal;
    int count;
    int64_t bytes;
} found;

/** Read a record as the HDF5 sink does. */
static void on_found(void *user, int frame, int64_t offset, size_t bytes)
{
    found *f = user;
    nb_record_tail tail;
    char *data = malloc(bytes + 1);
    NB_FUZZ_CHECK(data && frame >= 0);
    NB_FUZZ_CHECK(!nb_journal_read(f->journal, frame, offset, data, bytes, NULL));
    if (nb_record_peek(f->journal, offset, bytes, &tail))
        NB_FUZZ_CHECK((char *)(nb_record_list(data, &tail).list + tail.list.count) <=
                      data + bytes);
    free(data);
    f->count++;
    f->bytes += (int64_t)bytes;
}

/** The same records are found again, and one more. */
static void go_on(nb_journal *j, const nb_journal_key *key, const found *first)
{
    found again = {j, 0, 0};
    const nb_journal_data more = nb_journal_data_of(7, "pixels", 6);
    NB_FUZZ_CHECK(!nb_journal_append(j, &more, NULL, NULL));
    nb_journal_close(j);
    NB_FUZZ_CHECK(!nb_journal_resume(j, path, key, on_found, &again, NULL));
    NB_FUZZ_CHECK(again.count == first->count + 1 && again.bytes == first->bytes + 6);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_journal_key key = {1, 2, 3};
    nb_journal j = {0};
    nb_error err = {0};
    found f = {&j, 0, 0};
    nb_status status;
    struct stat file;
    int ours;
    j.fd = -1;
    put_file(data, size);
    ours = nb_journal_key_of(path, &key);
    status = nb_journal_resume(&j, path, &key, on_found, &f, &err);
    if (status) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && j.fd < 0);
        NB_FUZZ_CHECK(stat(path, &file) == 0 && file.st_size == (off_t)size);
        return 0;
    }
    go_on(&j, &key, &f);
    nb_journal_remove(&j);
    NB_FUZZ_CHECK(access(path, F_OK) != 0);
    return ours && f.count > 0;
}

NB_FUZZ_ENTRY
