/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sync_file_range; apart from outfile.c, whose strerror_r is POSIX's */
#include <fcntl.h>

#include "outfile.h"

void nb_outfile_start_sync(nb_outfile *out, uint64_t offset, uint64_t bytes)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (out->temp[0])
        (void)sync_file_range(out->fd, (off64_t)offset, (off64_t)bytes,
                              SYNC_FILE_RANGE_WRITE);
#else
    (void)out;
    (void)offset;
    (void)bytes;
#endif
}
