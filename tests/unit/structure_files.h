/* SPDX-License-Identifier: MIT */
/** Files of golden_data/structure_factors, unpacked. */
#ifndef NB_TESTS_STRUCTURE_FILES_H
#define NB_TESTS_STRUCTURE_FILES_H

#include "../support/check.h"

#include "../../src/base/outfile.h"
#include "../../src/io/structure/gemmi.h"

/** Bytes of a file; the caller owns `data`. */
typedef struct file_bytes {
    char *data;
    size_t size;
} file_bytes;

static inline file_bytes set_file(const char *name)
{
    char path[512];
    file_bytes file;
    nb_error err = {0};
    const char *source = getenv("NB_SOURCE");
    snprintf(path, sizeof path, "%s/golden_data/structure_factors/%s",
             source ? source : ".", name);
    if (nb_read_file(path, "test", 1 << 28, &file.data, &file.size, &err))
        fail_msg("%s", err.message);
    return file;
}

#ifdef NB_HAVE_GEMMI
static inline nb_structure model(const char *name)
{
    file_bytes file = set_file(name);
    nb_structure out;
    nb_error err = {0};
    if (nb_structure_parse(file.data, file.size, name, &out, &err))
        fail_msg("%s", err.message);
    nb_free(file.data);
    return out;
}
#else
#define SKIPPED(name)                                                                    \
    static void name(void **state)                                                       \
    {                                                                                    \
        (void)state;                                                                     \
        skip_because("this build has no gemmi");                                         \
    }
#endif

#endif
