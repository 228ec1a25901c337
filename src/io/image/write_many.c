/* SPDX-License-Identifier: MIT */
/* Write several image files at once. Formats with a header and then pixels are divided
 * into bands of rows. A thread makes and writes a band for every such file while the
 * float pixels of the band are in the cache. The whole of a file in another format is one
 * piece of work. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "../../base/c_locale.h"
#include "../../base/error.h"
#include "../../base/memory.h"
#include "writer.h"

enum { BAND_PIXELS = 65536 };

typedef struct one_file {
    nb_write_job *job;
    nb_outfile out;
    uint64_t start; /* offset of the first pixel in the file, bytes */
    int in_bands;   /* 1: rows may be written in any order */
    atomic_int failed;
    nb_error error; /* error of the thread that set failed */
    _Atomic int64_t make_ns, write_ns;
} one_file;

typedef struct many_files {
    one_file *files; /* the first `pieces` files are one piece of work each */
    int n, pieces;
    int band_rows, bands;
    atomic_int next;    /* next piece or band */
    atomic_int workers; /* threads that have begun */
    int threads;
    const nb_write_memory *memory; /* source of memory, or NULL */
} many_files;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail_file(one_file *f, const nb_error *error)
{
    if (!atomic_exchange(&f->failed, 1))
        f->error = *error;
}

/** Make and write rows; a file without in_bands needs its rows in order. */
static nb_status put_rows(one_file *f, int first, int rows, void *buffer, nb_error *err)
{
    const nb_image_view *image = &f->job->view;
    size_t row = (size_t)image->fast * nb_pixel_bytes(image->type);
    int64_t start = now_ns(), made;
    const void *from;
    nb_status st = nb_image_rows(image, first, rows, buffer, &from, err);
    made = now_ns();
    if (!st && f->in_bands)
        st = nb_outfile_write_at(&f->out, from, (size_t)rows * row,
                                 f->start + (uint64_t)first * row, err);
    else if (!st)
        st = nb_outfile_write(&f->out, from, (size_t)rows * row, err);
    atomic_fetch_add_explicit(&f->make_ns, made - start, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->write_ns, now_ns() - made, memory_order_relaxed);
    return st;
}

/** Write a whole file with one thread. */
static void put_piece(one_file *f, int band_rows, void *buffer)
{
    const nb_image_view *image = &f->job->view;
    int64_t start = now_ns();
    nb_error error = {0};
    nb_status st = NB_OK;
    if (f->job->writer->write) {
        st = f->job->writer->write(image, f->job->meta, &f->out, &error);
        f->write_ns = now_ns() - start;
    }
    for (int first = 0; !f->job->writer->write && first < image->slow && !st;
         first += band_rows) {
        int left = image->slow - first;
        st = put_rows(f, first, left < band_rows ? left : band_rows, buffer, &error);
    }
    if (st)
        fail_file(f, &error);
}

/** Write one band of every file in bands. Each thread starts at another file, far from
 * the files of other threads, so that threads seldom wait for each other. */
static void put_band(many_files *m, int band, int worker, void *buffer)
{
    int files = m->n - m->pieces, first = band * m->band_rows;
    int offset = (int)((int64_t)files * worker / m->threads);
    for (int i = 0; i < files; i++) {
        one_file *f = &m->files[m->pieces + (offset + i) % files];
        int left = f->job->view.slow - first;
        nb_error error = {0};
        if (atomic_load_explicit(&f->failed, memory_order_relaxed) || left <= 0)
            continue;
        if (put_rows(f, first, left < m->band_rows ? left : m->band_rows, buffer, &error))
            fail_file(f, &error);
    }
}

/** Do the work of one thread. */
static void work(many_files *m, size_t buffer_bytes)
{
    const nb_write_memory *memory = m->memory;
    nb_error error = {0};
    void *lent = memory ? memory->take(memory->user, buffer_bytes) : NULL;
    void *buffer = lent ? lent : nb_alloc_raw(buffer_bytes, 1, "rows of an image", &error);
    int worker = atomic_fetch_add(&m->workers, 1), todo;
    NB_IN_C_LOCALE;
    for (int i = 0; !buffer && i < m->n; i++)
        fail_file(&m->files[i], &error);
    while (buffer && (todo = atomic_fetch_add(&m->next, 1)) < m->pieces + m->bands) {
        if (todo >= m->pieces)
            put_band(m, todo - m->pieces, worker, buffer);
        else if (!atomic_load(&m->files[todo].failed))
            put_piece(&m->files[todo], m->band_rows, buffer);
    }
    if (lent)
        memory->give(memory->user, lent);
    else
        nb_free(buffer);
}

static nb_status open_file(one_file *f, nb_write_job *job, nb_error *err)
{
    const nb_writer *writer = job->writer;
    nb_image_header header;
    nb_status st;
    f->job = job;
    f->out.fd = -1;
    NB_FORWARD(nb_image_check(writer, &job->view, err));
    NB_FORWARD(nb_outfile_open(&f->out, job->path, err));
    if (writer->write)
        return NB_OK;
    header.used = 0;
    st = writer->header ? writer->header(&job->view, job->meta, &header, err) : NB_OK;
    NB_TRY(nb_outfile_write(&f->out, header.text, header.used, err));
    f->start = header.used;
    f->in_bands = !job->view.in_order && f->out.temp[0];
    return st;
}

/** Open all files; move files that are one piece of work to the front of the list. */
static void open_files(many_files *m, nb_write_job *jobs)
{
    one_file *swap = m->files;
    for (int i = 0; i < m->n; i++) {
        one_file *f = &m->files[i];
        nb_error error = {0};
        if (open_file(f, &jobs[i], &error))
            fail_file(f, &error);
    }
    for (int i = 0; i < m->n; i++) {
        if (!m->files[i].in_bands) {
            one_file f = m->files[i];
            memmove(swap + 1, swap, (size_t)(m->files + i - swap) * sizeof *swap);
            *swap++ = f;
        }
    }
    m->pieces = (int)(swap - m->files);
}

/** Give a complete file its name, or remove a failed file. */
static void close_file(one_file *f)
{
    int64_t start = now_ns();
    nb_error error = {0};
    if (!f->failed && (f->job->durable ? nb_outfile_commit_durably
                                       : nb_outfile_commit)(&f->out, &error))
        fail_file(f, &error);
    if (f->failed)
        nb_outfile_abort(&f->out);
    f->job->make_seconds = (double)f->make_ns * 1e-9;
    f->job->write_seconds = (double)(f->write_ns + now_ns() - start) * 1e-9;
}

/** Close all files; report the error of the first failed job. */
static nb_status close_files(many_files *m, nb_error *err)
{
    const one_file *first = NULL;
#pragma omp parallel for schedule(dynamic, 1) num_threads(m->threads) if (m->threads > 1)
    for (int i = 0; i < m->n; i++)
        close_file(&m->files[i]);
    for (int i = 0; i < m->n; i++) {
        const one_file *f = &m->files[i];
        if (f->failed && (!first || f->job < first->job))
            first = f;
    }
    if (!first)
        return NB_OK;
    if (err)
        *err = first->error;
    return first->error.code;
}

/** Divide the images into bands. Returns the bytes of a buffer for any band. */
static size_t cut_bands(many_files *m)
{
    int fast = 1, slow = 0;
    size_t widest = 1;
    for (int i = 0; i < m->n; i++) {
        const nb_image_view *v = &m->files[i].job->view;
        size_t row = (size_t)v->fast * nb_pixel_bytes(v->type);
        if (m->files[i].failed)
            continue;
        fast = v->fast > fast ? v->fast : fast;
        slow = v->slow > slow ? v->slow : slow;
        widest = !v->pixels && row > widest ? row : widest;
    }
    m->band_rows = fast < BAND_PIXELS ? BAND_PIXELS / fast : 1;
    m->bands = m->pieces < m->n ? (slow + m->band_rows - 1) / m->band_rows : 0;
    return widest * (size_t)m->band_rows;
}

nb_status nb_write_images(nb_write_job *jobs, int n, int threads,
                          const nb_write_memory *memory, nb_error *err)
{
    many_files m = {0};
    size_t buffer_bytes;
    nb_status st;
    m.n = n;
    m.memory = memory;
    m.files = nb_alloc((size_t)n, sizeof *m.files, "list of files", err);
    NB_NEED(m.files);
    open_files(&m, jobs);
    buffer_bytes = cut_bands(&m);
    m.threads = threads < m.pieces + m.bands ? threads : m.pieces + m.bands;
    m.threads = m.threads > 1 ? m.threads : 1;
#pragma omp parallel num_threads(m.threads) if (m.threads > 1)
    work(&m, buffer_bytes);
    if (memory)
        memory->all_made(memory->user);
    st = close_files(&m, err);
    nb_free(m.files);
    return st;
}

nb_status nb_write_image(const nb_writer *writer, const char *path,
                         const nb_image_view *image, const nb_image_meta *meta,
                         nb_error *err)
{
    nb_write_job job = {writer, path, *image, meta, 0, 0, 0};
    return nb_write_images(&job, 1, 1, NULL, err);
}
