/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "outfile.h"

/** Map a regular file that is not empty; 0 when it is something else or cannot be mapped. */
static int map_regular(const char *path, nb_file_view *view)
{
    int flags = MAP_PRIVATE, fd;
    struct stat st;
    void *at = MAP_FAILED;
#ifdef MAP_POPULATE
    flags |= MAP_POPULATE;
#endif
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe can be opened only once */
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, flags, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return 0;
    view->data = at;
    view->bytes = (size_t)st.st_size;
    view->mapped = 1;
    return 1;
}

nb_status nb_file_open(const char *path, const char *flag, nb_file_view *view,
                       nb_error *err)
{
    char *data;
    nb_status st;
    memset(view, 0, sizeof *view);
    if (map_regular(path, view))
        return NB_OK;
    st = nb_read_file(path, flag, 0, &data, &view->bytes, err);
    view->data = data;
    return st;
}

void nb_file_close(nb_file_view *view)
{
    if (view->mapped)
        munmap((void *)(uintptr_t)view->data, view->bytes);
    else
        nb_free((void *)(uintptr_t)view->data);
    memset(view, 0, sizeof *view);
}
