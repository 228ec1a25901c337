/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD): system calls fail as the environment
 * requests, once main runs. NB_FAULT is `KIND N ERROR HOW`: the Nth call of this kind
 * fails with this errno; HOW is once, on (all later ones, too), or short (half of the
 * bytes, without error). thread N: at most N - 1 threads live. NB_FAULT_COUNT is a file
 * of KINDS + 1 numbers of 64 bits: calls of each kind, and the number of failed calls.
 * Calls of the dynamic loader while it loads a library, and allocations of libhdf5, are
 * not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE, FSYNC, RENAME, CLOSE, READ, MALLOC, THREAD, STREAM, KINDS };

static const char *const kinds[KINDS] = {"write", "fsync",  "rename", "close",
                                         "read",  "malloc", "thread", "stream"};

static struct {
    int armed, kind, number, on, partly;
    long nth;
    struct {
        uintptr_t first, end;
    } left[2]; /* callers without counts: the loader, HDF5 */
    atomic_long own[KINDS + 1];
    /* counts of calls, in this process or in the file of NB_FAULT_COUNT */
    atomic_long *counts;
    atomic_int live;
} fault = {.counts = fault.own};

static _Thread_local int in_loader;

/** Counts a call; returns 1 if it must fail. */
static int fails(int kind, const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    long n;
    if (!fault.armed || in_loader)
        return 0;
    for (int i = 0; kind == MALLOC && i < 2; i++)
        if (at >= fault.left[i].first && at < fault.left[i].end)
            return 0;
    n = atomic_fetch_add(&fault.counts[kind], 1) + 1;
    if (kind != fault.kind || (fault.on ? n < fault.nth : n != fault.nth))
        return 0;
    atomic_fetch_add(&fault.counts[KINDS], 1);
    errno = fault.number;
    return 1;
}

/* --- the functions of the C library --- */

static char early[65536]; /* for memory that dlsym itself allocates */
static atomic_size_t used;

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

#define CALLER __builtin_return_address(0)
#define FIND(name)                                                                       \
    static __typeof__(&name) below;                                                      \
    if (!below)                                                                          \
    *(void **)&below = next(#name)

/* Defines a function and its wrapper: KIND, type, name, parameters, arguments, its value
 * after a failure. */
#define FAILING(KIND, type, name, parameters, arguments, value)                          \
    type name parameters                                                                 \
    {                                                                                    \
        FIND(name);                                                                      \
        return fails(KIND, CALLER) ? (value) : below arguments;                          \
    }
#define TRANSFER(KIND, name, parameters, arguments)                                      \
    ssize_t name parameters                                                              \
    {                                                                                    \
        FIND(name);                                                                      \
        if (fails(KIND, CALLER)) {                                                       \
            if (!fault.partly)                                                           \
                return -1;                                                               \
            n = n > 1 ? n / 2 : n;                                                       \
        }                                                                                \
        return below arguments;                                                          \
    }

TRANSFER(WRITE, write, (int fd, const void *data, size_t n), (fd, data, n))
TRANSFER(WRITE, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
TRANSFER(WRITE, pwrite64, (int fd, const void *data, size_t n, off64_t at),
         (fd, data, n, at))
TRANSFER(READ, read, (int fd, void *data, size_t n), (fd, data, n))
TRANSFER(READ, pread, (int fd, void *data, size_t n, off_t at), (fd, data, n, at))
TRANSFER(READ, pread64, (int fd, void *data, size_t n, off64_t at), (fd, data, n, at))
FAILING(FSYNC, int, fsync, (int fd), (fd), -1)
FAILING(FSYNC, int, fdatasync, (int fd), (fd), -1)
FAILING(RENAME, int, rename, (const char *from, const char *to), (from, to), -1)

int close(int fd)
{
    FIND(close);
    int failed = fails(CLOSE, CALLER), number = errno, status = below(fd);
    if (failed)
        errno = number;
    return failed ? -1 : status;
}

/* --- streams: glibc's flag of an error --- */

static int broken(FILE *stream, const void *caller)
{
    if (!fails(STREAM, caller))
        return 0;
    stream->_flags |= 0x20; /* _IO_ERR_SEEN */
    return 1;
}

int fflush(FILE *stream)
{
    FIND(fflush);
    return stream && broken(stream, CALLER) ? EOF : below(stream);
}

int fclose(FILE *stream)
{
    FIND(fclose);
    int failed = broken(stream, CALLER), number = errno, status = below(stream);
    if (failed)
        errno = number;
    return failed ? EOF : status;
}

int fputs(const char *text, FILE *stream)
{
    FIND(fputs);
    return broken(stream, CALLER) ? EOF : below(text, stream);
}

size_t fread(void *data, size_t size, size_t n, FILE *stream)
{
    FIND(fread);
    return broken(stream, CALLER) ? 0 : below(data, size, n, stream);
}

char *fgets(char *text, int n, FILE *stream)
{
    FIND(fgets);
    return broken(stream, CALLER) ? NULL : below(text, n, stream);
}

/* --- memory --- */

static _Thread_local int finding;

/** Memory for dlsym, from a static array; this memory is never freed. */
static void *from_early(size_t n)
{
    size_t at = atomic_fetch_add(&used, (n + 15) / 16 * 16 + 16) + 16;
    return at + n <= sizeof early ? early + at : NULL;
}

static int is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

#define ALLOCATING(name, parameters, arguments, bytes)                                   \
    void *name parameters                                                                \
    {                                                                                    \
        static __typeof__(&name) below;                                                  \
        if (!below && finding)                                                           \
            return from_early(bytes);                                                    \
        if (!below) {                                                                    \
            finding = 1;                                                                 \
            *(void **)&below = next(#name);                                              \
            finding = 0;                                                                 \
        }                                                                                \
        return fails(MALLOC, CALLER) ? NULL : below arguments;                           \
    }

ALLOCATING(malloc, (size_t n), (n), n)
ALLOCATING(calloc, (size_t n, size_t size), (n, size), n *size)
ALLOCATING(realloc, (void *p, size_t n), (p, n), n)
ALLOCATING(aligned_alloc, (size_t align, size_t n), (align, n), n)

int posix_memalign(void **p, size_t align, size_t n)
{
    FIND(posix_memalign);
    return fails(MALLOC, CALLER) ? ENOMEM : below(p, align, n);
}

void free(void *p)
{
    FIND(free);
    if (!is_early(p))
        below(p);
}

/* --- threads --- */

typedef struct start {
    void *(*work)(void *);
    void *user;
} start;

static void leave(void *unused)
{
    (void)unused;
    atomic_fetch_sub(&fault.live, 1);
}

static void *live(void *user)
{
    start s = *(start *)user;
    void *result;
    in_loader++;
    free(user);
    in_loader--;
    pthread_cleanup_push(leave, NULL);
    result = s.work(s.user);
    pthread_cleanup_pop(1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*work)(void *), void *user)
{
    FIND(pthread_create);
    start *s;
    int full =
        fault.kind == THREAD && fault.on && atomic_load(&fault.live) >= fault.nth - 1;
    int single = !(fault.kind == THREAD && fault.on) && fails(THREAD, CALLER), status;
    if (fault.armed && (full || single)) {
        if (full)
            atomic_fetch_add(&fault.counts[KINDS], 1);
        return fault.number;
    }
    in_loader++; /* a static block, and the C library's */
    if ((s = malloc(sizeof *s)) != NULL)
        *s = (start){work, user};
    atomic_fetch_add(&fault.live, 1);
    status = s ? below(thread, attributes, live, s) : EAGAIN;
    if (status) {
        atomic_fetch_sub(&fault.live, 1);
        free(s);
    }
    in_loader--;
    return status;
}

/* --- the loader, and the start --- */

static int find_left(struct dl_phdr_info *info, size_t size, void *user)
{
    const int i = strstr(info->dlpi_name, "/ld-linux")          ? 0
                  : strstr(info->dlpi_name, "/libhdf5_serial.") ? 1
                                                                : -1;
    (void)size;
    (void)user;
    for (int k = 0; i >= 0 && k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (info->dlpi_addr + p->p_vaddr + p->p_memsz > fault.left[i].end)
            fault.left[i].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    if (i >= 0)
        fault.left[i].first = info->dlpi_addr;
    return 0;
}

void *dlopen(const char *name, int flags)
{
    FIND(dlopen);
    void *library;
    in_loader++;
    library = below(name, flags);
    dl_iterate_phdr(find_left, NULL);
    in_loader--;
    return library;
}

static void arm(void)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR},
                  {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM}, {"short", 0}};
    const char *say = getenv("NB_FAULT"), *file = getenv("NB_FAULT_COUNT");
    char kind[16] = "", error[16] = "", how[16] = "";
    int fd = file ? open(file, O_RDWR) : -1;
    dl_iterate_phdr(find_left, NULL);
    if (fd >= 0) {
        void *map =
            mmap(NULL, sizeof fault.own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED)
            fault.counts = map;
        close(fd);
    }
    fault.kind = KINDS;
    if (say && sscanf(say, "%15s %ld %15s %15s", kind, &fault.nth, error, how) == 4)
        for (int i = 0; i < KINDS; i++)
            fault.kind = strcmp(kind, kinds[i]) ? fault.kind : i;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        fault.number = strcmp(error, errors[i].name) ? fault.number : errors[i].number;
    fault.on = strcmp(how, "on") == 0;
    fault.partly = strcmp(how, "short") == 0;
    unsetenv("LD_PRELOAD"); /* not for child programs */
    fault.armed = 1;
}

static int (*program)(int, char **, char **);

static int armed_main(int argc, char **argv, char **environment)
{
    arm();
    return program(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end)
{
    FIND(__libc_start_main);
    program = main;
    return below(armed_main, argc, argv, init, fini, loader_fini, stack_end);
}
