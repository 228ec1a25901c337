/* SPDX-License-Identifier: MIT */
/* Structure-factor dumps: an accepted dump, written and read again, gives the same
 * table. */
#include <math.h>
#include <string.h>

#include "../../src/io/table/factor_file.h"
#include "fuzz.h"
#include "../support/parse.h"

typedef struct buffer {
    unsigned char *bytes;
    size_t used, size;
} buffer;

static nb_status append(void *user, const void *data, size_t bytes, nb_error *err)
{
    buffer *b = user;
    (void)err;
    NB_FUZZ_CHECK(bytes <= b->size - b->used);
    memcpy(b->bytes + b->used, data, bytes);
    b->used += bytes;
    return NB_OK;
}

static void check_round_trip(const nb_factor_file *table, size_t size)
{
    nb_error err;
    nb_factor_file again;
    buffer b = {malloc(size + NB_FDUMP_HEADER), 0, size + NB_FDUMP_HEADER};
    NB_FUZZ_CHECK(b.bytes);
    NB_FUZZ_CHECK(nb_fdump_write(table, append, &b, &err) == NB_OK);
    NB_FUZZ_CHECK(nb_fdump_parse(b.bytes, b.used, "again", &again, &err) == NB_OK);
    NB_FUZZ_CHECK(again.hmin == table->hmin && again.lmax == table->lmax);
    NB_FUZZ_CHECK(memcmp(again.F, table->F,
                         (size_t)nb_factor_file_voxels(table) * sizeof(double)) == 0);
    nb_factor_file_free(&again);
    free(b.bytes);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_factor_file table;
    nb_error err = {0};
    nb_status status = nb_fdump_parse(data, size, "fuzz.bin", &table, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !table.F);
        return 0;
    }
    for (int64_t i = 0; i < nb_factor_file_voxels(&table); i++)
        NB_FUZZ_CHECK(isfinite(table.F[i]));
    check_round_trip(&table, size);
    nb_factor_file_free(&table);
    return 1;
}

NB_FUZZ_ENTRY
