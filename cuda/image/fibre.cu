/* SPDX-License-Identifier: MIT */
#include "../../src/image/fibre.h"
#include "image.h"

typedef struct nb_cuda_fibre {
    nb_cuda_fibre_size size;
    int panels;              /* number of panels in one transform */
    double fast, slow, fwhm; /* edges of a pixel, and full width at half maximum, m */
    nb_cuda_fft *fft;        /* owned */
    size_t work;             /* bytes that fft needs */
    nb_cuda_buffer hat;      /* owned: transform of the point spread, real and even */
    struct nb_cuda_fibre *next;
} nb_cuda_fibre;

/** Limit of kept transforms: enough for two sizes of panels, each with full batches and a
 * smaller last batch. */
enum { KEPT = 4 };
#define BYTES_MAX ((size_t)1 << 28) /* limit of a batch; one panel may be larger */

static void free_one(nb_cuda_fibre *t)
{
    nb_cuda_fft_free(t->fft);
    nb_cuda_release(&t->hat);
    nb_free(t);
}

/** Free all transforms after the first `kept`. */
static void free_after(nb_cuda_fibres *fibres, int kept)
{
    nb_cuda_fibre **at = &fibres->first;
    while (*at && kept-- > 0)
        at = &(*at)->next;
    while (*at) {
        nb_cuda_fibre *t = *at;
        *at = t->next;
        free_one(t);
    }
}

void nb_cuda_fibres_release(nb_cuda_fibres *fibres)
{
    free_after(fibres, 0);
    nb_cuda_release(&fibres->data);
    nb_cuda_release(&fibres->work);
}

static size_t data_bytes(const nb_cuda_fibre_size *size)
{
    return (size_t)size->high * 2 * (size_t)size->n * sizeof(double);
}

/** Reserve the memory that the point spread function and the images share. */
static nb_status reserve(nb_cuda_fibres *fibres, const nb_cuda_fibre *t, nb_error *err)
{
    const char *what = "the point spread of a panel";
    nb_status st = nb_cuda_reserve(&fibres->data,
                                   (size_t)t->panels * data_bytes(&t->size), what, err);
    return st ? st : nb_cuda_reserve(&fibres->work, t->work ? t->work : 1, what, err);
}

static nb_status make_hat(nb_cuda_fibres *fibres, nb_cuda_fibre *t, cudaStream_t stream,
                          nb_error *err)
{
    const nb_cuda_fibre_size *size = &t->size;
    size_t bytes = (size_t)(size->high / 2 + 1) * (size_t)size->n * sizeof(double);
    nb_status st = nb_cuda_fft_new(size->wide, size->high, t->panels, stream, &t->fft,
                                   &t->work, err);
    NB_TRY(reserve(fibres, t, err));
    NB_TRY(nb_cuda_reserve(&t->hat, bytes, "the point spread's transform", err));
    if (st)
        return st;
    /* The point spread function uses the memory of the first panel, which is not needed
     * yet. */
    double *data = (double *)fibres->data.at;
    nb_cuda_launch_fibre_function(size, t->fast, t->slow, nb_fibre_width(t->fwhm), data,
                                  stream);
    st = nb_cuda_fft_forward(t->fft, data, fibres->work.at, err);
    if (!st)
        nb_cuda_launch_fibre_hat(size, data, (double *)t->hat.at, stream);
    return st;
}

static nb_cuda_fibre_size size_of(const nb_panel *panel)
{
    nb_cuda_fibre_size size = {};
    size.columns = panel->columns;
    size.rows = panel->rows;
    size.wide = nb_fibre_length(panel->columns);
    size.high = nb_fibre_length(panel->rows);
    size.n = (int)nb_fibre_frequencies(size.wide);
    return size;
}

static nb_status make_one(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                          double fwhm, cudaStream_t stream, nb_cuda_fibre **out,
                          nb_error *err)
{
    nb_cuda_fibre *t = (nb_cuda_fibre *)nb_alloc(1, sizeof *t, "point spread", err);
    nb_status st = t ? nb_cuda_fft_need(err) : NB_ERR_NOMEM;
    if (!st) {
        t->size = size_of(panel);
        t->panels = panels;
        t->fast = panel->pixel_fast;
        t->slow = panel->pixel_slow;
        t->fwhm = fwhm;
        st = make_hat(fibres, t, stream, err);
    }
    if (st && t)
        free_one(t);
    *out = st ? NULL : t;
    return st;
}

int nb_cuda_fibre_alike(const nb_panel *a, const nb_panel *b)
{
    return a->columns == b->columns && a->rows == b->rows &&
           a->pixel_fast == b->pixel_fast && a->pixel_slow == b->pixel_slow;
}

static int fits(const nb_cuda_fibre *t, const nb_panel *panel, int panels, double fwhm)
{
    return t->panels == panels && t->size.columns == panel->columns &&
           t->size.rows == panel->rows && t->fast == panel->pixel_fast &&
           t->slow == panel->pixel_slow && t->fwhm == fwhm;
}

/** Find kept transforms for a batch of panels, or make new ones. */
static nb_status find(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                      double fwhm, cudaStream_t stream, nb_cuda_fibre **out, nb_error *err)
{
    nb_cuda_fibre *t = fibres->first;
    nb_status st;
    while (t && !fits(t, panel, panels, fwhm))
        t = t->next;
    *out = t;
    if (t)
        return NB_OK;
    st = make_one(fibres, panel, panels, fwhm, stream, out, err);
    if (!st) {
        (*out)->next = fibres->first;
        fibres->first = *out;
        free_after(fibres, KEPT);
    }
    return st;
}

static nb_status spread_batch(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                              double fwhm, double *light, cudaStream_t stream,
                              nb_error *err)
{
    nb_cuda_fibre *t;
    nb_status st = find(fibres, panel, panels, fwhm, stream, &t, err);
    NB_TRY(reserve(fibres, t, err));
    if (st)
        return st;
    double *data = (double *)fibres->data.at;
    nb_cuda_launch_fibre_pad(&t->size, panels, light, data, stream);
    NB_FORWARD(nb_cuda_fft_forward(t->fft, data, fibres->work.at, err));
    nb_cuda_launch_fibre_multiply(&t->size, panels, (const double *)t->hat.at, data,
                                  stream);
    NB_FORWARD(nb_cuda_fft_back(t->fft, data, fibres->work.at, err));
    nb_cuda_launch_fibre_crop(&t->size, panels, data, light, stream);
    return NB_OK;
}

nb_status nb_cuda_fibre_spread(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                               double fwhm, double *light, cudaStream_t stream,
                               nb_error *err)
{
    const nb_cuda_fibre_size size = size_of(panel);
    const size_t fit = BYTES_MAX / data_bytes(&size),
                 pixels = (size_t)panel->columns * (size_t)panel->rows;
    const int limit = fit < 1 ? 1 : fit < (size_t)panels ? (int)fit : panels;
    const int batches = (panels + limit - 1) / limit,
              batch = (panels + batches - 1) / batches;
    nb_status st = NB_OK;
    for (int k = 0; k < panels && !st; k += batch)
        st = spread_batch(fibres, panel, panels - k < batch ? panels - k : batch, fwhm,
                          light + (size_t)k * pixels, stream, err);
    return st;
}
