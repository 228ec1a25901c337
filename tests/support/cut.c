/* SPDX-License-Identifier: MIT */
#include "cut.h"

#include <stdlib.h>
#include <string.h>

static double few_digits(double x)
{
    return ldexp(rint(ldexp(x, 14)), -14);
}

void nb_cut_prepare(nb_panel *panel)
{
    panel->pixel_fast = panel->pixel_slow = ldexp(1, -13);
    panel->pixel_area = panel->pixel_fast * panel->pixel_slow;
    panel->Fbeam = few_digits(panel->Fbeam);
    panel->Sbeam = few_digits(panel->Sbeam);
    panel->distance = panel->close_distance = few_digits(panel->distance);
    panel->pix0 = nb_add(nb_scale(panel->distance, panel->beam),
                         nb_add(nb_scale(-panel->Fbeam, panel->fast),
                                nb_scale(-panel->Sbeam, panel->slow)));
}

/** Chooses the place of each panel in an uncut panel of w x h pixels. */
static void choose_places(int w, int h, nb_cut_kind kind, nb_region places[NB_CUT_PANELS])
{
    static const int rows[] = {0, 1, 4, 5, 9, 11, 14, 16}; /* rows in units of h/16 */
    static const int left[] = {0, 2, 7, 8, 16}, right[] = {0, 5, 11, 16};
    int middle = w * 3 / 8 | 1;
    for (int k = 0; k < NB_CUT_PANELS; k++) {
        const int *edge = kind == NB_CUT_ROWS ? &rows[k]
                          : k < 4             ? &left[k]
                                              : &right[k - 4];
        places[k] = (nb_region){0, w - 1, h * edge[0] / 16, h * edge[1] / 16 - 1};
        if (kind == NB_CUT_WIDTHS && k < 4)
            places[k].fmax = middle - 1;
        if (kind == NB_CUT_WIDTHS && k >= 4)
            places[k].fmin = middle;
    }
}

static nb_panel piece_of(const nb_panel *whole, const nb_region *place)
{
    nb_panel p = *whole;
    double F = place->fmin * p.pixel_fast, S = place->smin * p.pixel_slow;
    p.columns = place->fmax - place->fmin + 1;
    p.rows = place->smax - place->smin + 1;
    p.pix0 = nb_add(p.pix0, nb_add(nb_scale(F, p.fast), nb_scale(S, p.slow)));
    p.Fbeam -= F;
    p.Sbeam -= S;
    return p;
}

/** Function for a row of n pixels of a panel. stack, image: indices of the row's first
 * pixel in the stack of panels and in the uncut image. */
typedef void row_visitor(void *to, const void *from, size_t stack, size_t image, size_t n);

static void visit_rows(const nb_cut *cut, int columns, row_visitor *visit, void *to,
                       const void *from)
{
    for (int k = 0; k < NB_CUT_PANELS; k++) {
        const nb_panel *p = &cut->panels[k];
        for (int s = 0; s < p->rows; s++)
            visit(to, from, p->first_pixel + (size_t)s * (size_t)p->columns,
                  (size_t)(cut->places[k].smin + s) * (size_t)columns +
                      (size_t)cut->places[k].fmin,
                  (size_t)p->columns);
    }
}

static void copy_mask(void *to, const void *from, size_t stack, size_t image, size_t n)
{
    memcpy((uint8_t *)to + stack, (const uint8_t *)from + image, n);
}

static void copy_floats(void *to, const void *from, size_t stack, size_t image, size_t n)
{
    memcpy((float *)to + image, (const float *)from + stack, n * sizeof(float));
}

int nb_cut_scene(const nb_scene *whole, nb_cut_kind kind, nb_cut *cut)
{
    int columns = whole->raster.columns, row = 0, widest = 0;
    size_t pixel = 0;
    memset(cut, 0, sizeof *cut);
    cut->scene = *whole;
    choose_places(columns, whole->raster.rows, kind, cut->places);
    for (int k = 0; k < NB_CUT_PANELS; k++) {
        nb_panel *p = &cut->panels[k];
        *p = piece_of(whole->panels, &cut->places[k]);
        p->first_row = row;
        p->first_pixel = pixel;
        row += p->rows;
        pixel += (size_t)p->rows * (size_t)p->columns;
        widest = p->columns > widest ? p->columns : widest;
    }
    cut->scene.n_panels = NB_CUT_PANELS;
    cut->scene.panels = cut->panels;
    cut->scene.raster.rows = row;
    cut->scene.raster.columns = widest;
    if (kind == NB_CUT_WIDTHS)
        cut->scene.raster.roi = (nb_region){0, widest - 1, 0, row - 1};
    if (!whole->raster.mask)
        return 1;
    cut->scene.raster.mask = cut->mask = malloc(pixel);
    if (cut->mask)
        visit_rows(cut, columns, copy_mask, cut->mask, whole->raster.mask);
    return cut->mask != NULL;
}

void nb_cut_free(nb_cut *cut)
{
    free(cut->mask);
    cut->mask = NULL;
}

void nb_cut_assemble(const nb_cut *cut, const float *stack, float *image, int columns)
{
    visit_rows(cut, columns, copy_floats, image, stack);
}
