/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"

/** Two peaks with a distance within the gate. */
typedef struct close_peaks {
    double distance2;
    int a, b;
} close_peaks;

typedef struct entry {
    double x;
    int index;
} entry;

static int by_x(const void *a, const void *b)
{
    double x = ((const entry *)a)->x, y = ((const entry *)b)->x;
    return x < y ? -1 : x > y;
}

static int nearest_first(const void *a, const void *b)
{
    const close_peaks *p = a, *q = b;
    if (p->distance2 != q->distance2)
        return p->distance2 < q->distance2 ? -1 : 1;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

/** Index of the first entry with x >= low. */
static int first_from(const entry *sorted, int n, double low)
{
    int from = 0, to = n;
    while (from < to) {
        int middle = from + (to - from) / 2;
        if (sorted[middle].x < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/** List all pairs within the gate. The caller frees *pairs, also after an error. */
static nb_status find_pairs(const nb_spot_list *a, const nb_spot_list *b, double gate,
                            close_peaks **pairs, size_t *n, nb_error *err)
{
    entry *sorted = nb_alloc((size_t)b->count, sizeof *sorted, "peak pairs", err);
    nb_status st = sorted ? NB_OK : NB_ERR_NOMEM;
    size_t room = 0;
    for (int k = 0; !st && k < b->count; k++)
        sorted[k] = (entry){b->spots[k].x, k};
    if (!st && b->count)
        qsort(sorted, (size_t)b->count, sizeof *sorted, by_x);
    for (int i = 0; !st && i < a->count; i++) {
        const double x = a->spots[i].x, wide = 1.001 * gate;
        for (int k = first_from(sorted, b->count, x - wide);
             !st && k < b->count && sorted[k].x <= x + wide; k++) {
            const nb_spot *other = &b->spots[sorted[k].index];
            const double dx = x - other->x, dy = a->spots[i].y - other->y;
            if (!(dx * dx + dy * dy <= gate * gate))
                continue;
            if (*n == room)
                st = nb_grow(pairs, *n, room = 2 * room + 64, sizeof **pairs,
                             "peak pairs", err);
            if (!st)
                (*pairs)[(*n)++] = (close_peaks){dx * dx + dy * dy, i, sorted[k].index};
        }
    }
    nb_free(sorted);
    return st;
}

nb_status nb_spots_match(const nb_spot_list *a, const nb_spot_list *b, double gate,
                         int *partner, nb_error *err)
{
    char *taken = nb_alloc((size_t)b->count, 1, "peak pairs", err);
    close_peaks *pairs = NULL;
    size_t n = 0;
    nb_status st = taken ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(find_pairs(a, b, gate, &pairs, &n, err));
    if (!st && n)
        qsort(pairs, n, sizeof *pairs, nearest_first);
    for (int i = 0; i < a->count; i++)
        partner[i] = -1;
    for (size_t i = 0; !st && i < n; i++)
        if (partner[pairs[i].a] < 0 && !taken[pairs[i].b]) {
            partner[pairs[i].a] = pairs[i].b;
            taken[pairs[i].b] = 1;
        }
    nb_free(pairs);
    nb_free(taken);
    return st;
}

/** Part of an image for the search of peaks. */
typedef struct field {
    const float *image;
    const nb_pair *pair;
    int reach;
} field;

static int is_out(const field *w, int f, int s)
{
    return nb_pair_leaves_out(w->pair, (size_t)s * (size_t)w->pair->fast + (size_t)f);
}

static float pixel(const field *w, int f, int s)
{
    return w->image[(size_t)s * (size_t)w->pair->fast + (size_t)f];
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int is_peak(const field *w, int f, int s)
{
    float v = pixel(w, f, s);
    const int *roi = w->pair->roi;
    int last_s = least(s + w->reach, roi[3]), last_f = least(f + w->reach, roi[1]);
    for (int y = larger(s - w->reach, roi[2]); y <= last_s; y++)
        for (int x = larger(f - w->reach, roi[0]); x <= last_f; x++) {
            float other = pixel(w, x, y);
            if (is_out(w, x, y))
                continue;
            if (other > v || (other == v && (y < s || (y == s && x < f))))
                return 0;
        }
    return 1;
}

/** True if the pixel or one of the four pixels for the parabolas is left out. Such a
 * pixel is no peak, like a pixel on the edge. */
static int is_beside_out(const field *w, int f, int s)
{
    return is_out(w, f, s) || is_out(w, f - 1, s) || is_out(w, f + 1, s) ||
           is_out(w, f, s - 1) || is_out(w, f, s + 1);
}

/** Position of the maximum of a parabola through three values; 0 is the middle value. */
static double top(double left, double middle, double right)
{
    double curvature = left - 2 * middle + right;
    return curvature < 0 ? 0.5 * (left - right) / curvature : 0;
}

static nb_spot spot_at(const field *w, int f, int s)
{
    float v = pixel(w, f, s);
    nb_spot spot = {f, s, v, f + top(pixel(w, f - 1, s), v, pixel(w, f + 1, s)),
                    s + top(pixel(w, f, s - 1), v, pixel(w, f, s + 1))};
    return spot;
}

static int brightest_first(const void *a, const void *b)
{
    const nb_spot *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    if (x->slow != y->slow)
        return x->slow < y->slow ? -1 : 1;
    return x->fast < y->fast ? -1 : x->fast > y->fast;
}

/** Set *out to a percentile of the values of the rectangle. */
static nb_status level(const field *w, double percent, double *out, nb_error *err)
{
    const int *roi = w->pair->roi;
    size_t width = (size_t)(roi[1] - roi[0] + 1), n = 0;
    double *values = nb_alloc_raw(width * (size_t)(roi[3] - roi[2] + 1), sizeof *values,
                                  "peak threshold", err);
    if (!values)
        return NB_ERR_NOMEM;
    for (int s = roi[2]; s <= roi[3]; s++)
        for (int f = roi[0]; f <= roi[1]; f++)
            if (!is_out(w, f, s))
                values[n++] = pixel(w, f, s);
    *out = nb_percentile_of(values, n, percent);
    nb_free(values);
    return NB_OK;
}

static nb_status append(nb_spot_list *list, int *room, nb_spot spot, nb_error *err)
{
    if (list->count == *room) {
        const int more = *room * 2 + 64;
        if (nb_grow(&list->spots, (size_t)list->count, (size_t)more, sizeof spot, "peaks",
                    err))
            return NB_ERR_NOMEM;
        *room = more;
    }
    list->spots[list->count++] = spot;
    return NB_OK;
}

static void keep_brightest(nb_spot_list *list, int wanted)
{
    float last;
    if (wanted <= 0 || list->count <= wanted)
        return;
    last = list->spots[wanted - 1].value;
    while (wanted < list->count && list->spots[wanted].value >= last - 1e-3f * fabsf(last))
        wanted++;
    list->count = wanted;
}

nb_status nb_spots_find(const nb_pair *pair, const float *image,
                        const nb_compare_options *options, nb_spot_list *out,
                        nb_error *err)
{
    const field w = {image, pair, options->peak_exclusion};
    const int *roi = pair->roi;
    double threshold;
    int room = 0;
    nb_status st = level(&w, options->peak_percentile, &threshold, err);
    memset(out, 0, sizeof *out);
    for (int s = roi[2] + 1; s < roi[3] && !st; s++)
        for (int f = roi[0] + 1; f < roi[1] && !st; f++)
            if (pixel(&w, f, s) > threshold && !is_beside_out(&w, f, s) &&
                is_peak(&w, f, s))
                st = append(out, &room, spot_at(&w, f, s), err);
    if (st) {
        nb_free(out->spots);
        memset(out, 0, sizeof *out);
        return st;
    }
    if (out->count)
        qsort(out->spots, (size_t)out->count, sizeof *out->spots, brightest_first);
    keep_brightest(out, options->peak_count);
    return NB_OK;
}

/** Set number, fraction and shifts of the pairs of peaks. */
static void measure(const nb_spot_list *a, const nb_spot_list *b, const int *partner,
                    nb_difference *d)
{
    double squares = 0, x = 0, y = 0, n;
    for (int i = 0; i < a->count; i++) {
        double dx, dy;
        if (partner[i] < 0)
            continue;
        dx = a->spots[i].x - b->spots[partner[i]].x;
        dy = a->spots[i].y - b->spots[partner[i]].y;
        squares += dx * dx + dy * dy;
        x += dx;
        y += dy;
        d->peaks_matched++;
    }
    n = d->peaks_matched;
    if (a->count || b->count)
        d->peaks_fraction = n / larger(a->count, b->count);
    else
        d->peaks_fraction = 1;
    d->peaks_rms_shift = n > 0 ? sqrt(squares / n) : a->count || b->count ? NAN : 0;
    d->peaks_mean_shift[0] = n > 0 ? x / n : d->peaks_rms_shift;
    d->peaks_mean_shift[1] = n > 0 ? y / n : d->peaks_rms_shift;
}

nb_status nb_compare_peaks(const nb_pair *p, const nb_compare_options *options,
                           nb_difference *d, nb_error *err)
{
    nb_spot_list a = {0}, b = {0};
    int *partner = NULL;
    nb_status st = nb_spots_find(p, p->a, options, &a, err);
    NB_TRY(nb_spots_find(p, p->b, options, &b, err));
    if (!st && !(partner = nb_alloc((size_t)a.count, sizeof *partner, "peak pairs", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(nb_spots_match(&a, &b, options->gate_px, partner, err));
    d->peaks_a = a.count;
    d->peaks_b = b.count;
    if (!st)
        measure(&a, &b, partner, d);
    nb_free(partner);
    nb_free(a.spots);
    nb_free(b.spots);
    return st;
}
