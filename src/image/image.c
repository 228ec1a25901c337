/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "adu.h"
#include "light.h"
#include "../base/threads.h"

enum { BAND = 16 /* rows that a thread fills at a time */ };

/* --- requests --- */

static const char *fault_of(const nb_product *p)
{
    int chained = nb_product_is_chained(p);
    if (p->stages > 1 && !chained)
        return "its stages are not in the order of the instrument";
    switch (p->type) {
    case NB_PIXEL_F32:
        if (p->stages && p->stats)
            return "statistics are those of the photons";
        return p->stages && !chained ? "its type cannot come after counts alone" : NULL;
    case NB_PIXEL_U8:
        return p->stages ? "its type cannot come after a stage" : NULL;
    case NB_PIXEL_U16:
    case NB_PIXEL_I16:
    case NB_PIXEL_I32:
        if (p->stats)
            return "statistics are those of the photons";
        return chained ? nb_chained_fault(p) : NULL;
    default:
        return "its type is not known";
    }
}

static nb_status begin(nb_product *p, const nb_photons *photons, const nb_stage *stages,
                       int n_stages, int i, nb_error *err)
{
    const char *fault = NULL;
    p->photons = photons;
    p->place = -1;
    p->overloads = 0;
    p->light = NULL;
    p->owns_light = 0;
    if (p->stages < 0 || p->stages > n_stages || n_stages > NB_STAGES_MAX)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "product %d: it comes after more stages than there are", i);
    if (p->stages)
        memcpy(p->chain, stages, (size_t)p->stages * sizeof *stages);
    if ((fault = fault_of(p)))
        return nb_fail(err, NB_ERR_INTERNAL, "product %d: %s", i, fault);
    if (!p->stages)
        return NB_OK;
    p->stage = stages[p->stages - 1];
    if (nb_product_is_chained(p) || p->stage.kind == NB_STAGE_POISSON)
        return NB_OK;
    p->stream = nb_noise_compat_start(&p->stage, err);
    return p->stream ? NB_OK : NB_ERR_NOMEM;
}

void nb_products_free(nb_product *products, int n)
{
    for (int i = 0; i < n; i++) {
        nb_free(products[i].stream);
        products[i].stream = NULL;
        if (products[i].owns_light)
            nb_light_free(products[i].light);
        products[i].light = NULL;
        products[i].owns_light = 0;
    }
}

int nb_product_in_order(const nb_product *p)
{
    return p->stream != NULL;
}

/* --- products that the device makes --- */

static int is_same(const nb_product *a, const nb_product *b)
{
    return a->type == b->type && a->stages == b->stages && a->scale == b->scale &&
           a->adc_offset == b->adc_offset &&
           (!nb_product_is_chained(a) ||
            (a->trusted == b->trusted && a->trusted_of == b->trusted_of));
}

/** Set `place` of the products for the device. Equal products share a place. Returns the
 * number of places. */
static int give_places(const nb_photons *photons, nb_product *wanted, int n,
                       nb_product *made[NB_PRODUCTS_MAX])
{
    int places = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        if ((wanted[i].type == NB_PIXEL_F32 && !nb_product_is_chained(&wanted[i])) ||
            !photons->device->makes(photons->state, &wanted[i]))
            continue;
        while (k < places && !is_same(made[k], &wanted[i]))
            k++;
        if (k == NB_PRODUCTS_MAX)
            continue;
        if (k == places)
            made[places++] = &wanted[i];
        wanted[i].place = k;
    }
    return places;
}

/** Make products on the device; if its memory is full, on the CPU from the photons. */
static nb_status make_on_device(nb_photons *photons, nb_product *wanted, int n,
                                nb_error *err)
{
    nb_product *made[NB_PRODUCTS_MAX];
    nb_error local = {0};
    int places = give_places(photons, wanted, n, made);
    nb_status st = places ? photons->device->make(photons->state, photons->scene, made,
                                                  places, &local)
                          : NB_OK;
    if (st == NB_ERR_DEVICE)
        nb_notice(photons->hooks, "%s; integers are made on the CPU", local.message);
    else if (st && err)
        *err = local;
    for (int i = 0; i < n; i++)
        if (st == NB_ERR_DEVICE)
            wanted[i].place = -1;
        else if (!st && wanted[i].place >= 0)
            wanted[i].overloads = made[wanted[i].place]->overloads;
    return st == NB_ERR_DEVICE ? NB_OK : st;
}

/* --- rows --- */

/** Make rows of 16 bits; 0 outside of the region of interest. */
static void rows_u16(nb_product *p, int first, int rows, uint16_t *out)
{
    const nb_raster *raster = &p->photons->scene->raster;
    const nb_region r = raster->roi;
    const size_t columns = (size_t)raster->columns;
    const int width = r.fmax - r.fmin + 1;
    int64_t cut = 0;
    for (int s = first; s < first + rows; s++, out += columns) {
        const size_t pixel = (size_t)s * columns + (size_t)r.fmin;
        const int lit = s >= r.smin && s <= r.smax && width > 0;
        if (!lit || width < raster->columns)
            memset(out, 0, columns * sizeof *out);
        if (lit)
            cut += (p->stream   ? nb_noise_compat_row
                    : p->stages ? nb_noise_row
                                : nb_quantize_u16_row)(p, pixel, width, out + r.fmin);
    }
    __atomic_fetch_add(&p->overloads, cut, __ATOMIC_RELAXED);
}

/** Count of a pixel if it does not fit in 16 bits. */
static double large_count(const nb_product *p, size_t pixel)
{
    if (p->stages)
        return nb_noise_photons(p->photons, &p->stage, pixel);
    return floor(p->photons->pixels[pixel] * p->scale + 0.5);
}

static nb_status rows_i32(nb_product *p, int first, int rows, int32_t *out, nb_error *err)
{
    const size_t columns = (size_t)p->photons->scene->raster.columns;
    uint16_t *u16 = nb_alloc_raw(columns, sizeof *u16, "row of an image", err);
    nb_product narrow = *p;
    int64_t cut = 0;
    narrow.adc_offset = 0;
    narrow.overloads = 0;
    for (int s = first; u16 && s < first + rows; s++, out += columns) {
        rows_u16(&narrow, s, 1, u16);
        for (size_t f = 0; f < columns; f++) {
            out[f] = u16[f];
            if (u16[f] == 65535 && !p->ends_at_16_bits) {
                double count = large_count(p, (size_t)s * columns + f);
                out[f] = nb_large_count(count);
                cut += nb_large_clips(count);
            }
        }
    }
    nb_free(u16);
    __atomic_fetch_add(&p->overloads, p->ends_at_16_bits ? narrow.overloads : cut,
                       __ATOMIC_RELAXED);
    return u16 ? NB_OK : NB_ERR_NOMEM;
}

static nb_status make_rows(nb_product *p, int first, int rows, void *out, nb_error *err)
{
    const nb_photons *photons = p->photons;
    const size_t columns = (size_t)photons->scene->raster.columns;
    const size_t at = (size_t)first * columns, n = (size_t)rows * columns;
    if (p->place >= 0 || !photons->pixels)
        return photons->device->fetch(photons->state, p->place, first, rows, out, err);
    if (nb_product_is_chained(p))
        return nb_chained_rows(p, first, rows, out, err);
    switch (p->type) {
    case NB_PIXEL_F32:
        memcpy(out, photons->pixels + at, n * sizeof(float));
        return NB_OK;
    case NB_PIXEL_U8:
        nb_quantize_u8(photons->kernels, photons->pixels + at, n, p->scale, out);
        return NB_OK;
    case NB_PIXEL_U16:
        rows_u16(p, first, rows, out);
        return NB_OK;
    default:
        return rows_i32(p, first, rows, out, err);
    }
}

/** Set masked pixels of integers to nb_masked_value. */
static void mark_masked(const nb_product *p, int first, int rows, void *out)
{
    const nb_scene *sc = p->photons->scene;
    const size_t columns = (size_t)sc->raster.columns, at = (size_t)first * columns,
                 n = (size_t)rows * columns;
    const uint8_t *mask = sc->raster.mask + at;
    int value = nb_masked_value(p->type);
    for (size_t i = 0; i < n; i++) {
        if (mask[i])
            continue;
        if (p->type == NB_PIXEL_I32)
            ((int32_t *)out)[i] = value;
        else
            ((uint16_t *)out)[i] = (uint16_t)value;
    }
}

nb_status nb_product_rows(void *product, int first, int rows, void *out, nb_error *err)
{
    nb_product *p = product;
    nb_status st = make_rows(p, first, rows, out, err);
    if (!st && p->marks_masked && p->photons->scene->raster.mask)
        mark_masked(p, first, rows, out);
    return st;
}

/* --- whole products --- */

/** Make all rows, by all threads. */
static nb_status fill(nb_product *p, nb_error *err)
{
    const nb_raster *raster = &p->photons->scene->raster;
    const size_t row_bytes = (size_t)raster->columns * nb_pixel_bytes(p->type);
    int threads =
        nb_image_threads(p->photons->threads, (int64_t)raster->columns * raster->rows);
    int failed = 0;
    if (p->place >= 0 || !p->photons->pixels || nb_product_in_order(p))
        return nb_product_rows(p, 0, raster->rows, p->pixels, err);
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(| : failed)
    for (int s = 0; s < raster->rows; s += BAND)
        failed |=
            nb_product_rows(p, s, raster->rows - s < BAND ? raster->rows - s : BAND,
                            (char *)p->pixels + (size_t)s * row_bytes, NULL) != NB_OK;
    (void)threads;
    return failed ? nb_fail(err, NB_ERR_NOMEM, "out of memory for rows of an image")
                  : NB_OK;
}

static nb_status finish(nb_product *p, nb_photons *photons, nb_error *err)
{
    nb_status st = NB_OK;
    if ((p->type != NB_PIXEL_F32 || nb_product_is_chained(p)) && p->place < 0)
        st = nb_photons_fetch(photons, err);
    if (!st && p->stats)
        st = nb_statistics(photons, p->stats, err);
    return st || !p->pixels ? st : fill(p, err);
}

/** Find the light after the point spread. All products share one; the first owns it. */
static nb_status find_light(nb_product *wanted, int i, nb_photons *photons, nb_error *err)
{
    nb_product *p = &wanted[i];
    int at = nb_stage_at(p->chain, p->stages, NB_STAGE_SPREAD);
    nb_status st;
    if (at < 0 || p->place >= 0)
        return NB_OK;
    for (int k = 0; k < i && !p->light; k++)
        p->light = wanted[k].light;
    if (p->light)
        return NB_OK;
    NB_FORWARD(nb_photons_fetch(photons, err));
    st = nb_light_make(photons, p->chain, at, &p->light, err);
    p->owns_light = !st;
    return st;
}

nb_status nb_image_make(nb_photons *photons, const nb_stage *stages, int n_stages,
                        nb_product *wanted, int n, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < n && !st; i++)
        st = begin(&wanted[i], photons, stages, n_stages, i, err);
    if (!st && !photons->pixels && !photons->device)
        /* if the photons cannot be fetched, the image fails */
        st = nb_photons_fetch(photons, err);
    if (!st && photons->device)
        st = make_on_device(photons, wanted, n, err);
    for (int i = 0; i < n && !st; i++)
        st = find_light(wanted, i, photons, err);
    for (int i = 0; i < n && !st; i++)
        st = finish(&wanted[i], photons, err);
    return st;
}
