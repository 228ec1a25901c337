/* SPDX-License-Identifier: MIT */
/* Checks of single fields of a configuration or series, from flags, files or callers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

static nb_status check_double(const nb_param *p, double x, nb_error *err)
{
    char text[NB_TEXT_NUMBER];
    if (nb_param_allows(p, x))
        return NB_OK;
    nb_text_format(x, text);
    return nb_param_refuse(p, text, err);
}

static nb_status check_doubles(const nb_param *p, const double *v, int n, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < n && !st; i++)
        st = check_double(p, v[i], err);
    return st;
}

/** Check that each number is unset or within the limits. */
static nb_status check_elements(const nb_param *p, const void *base, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < nb_param_elements(p) && !st; i++) {
        double x = nb_param_element(p, base, i);
        if (!nb_param_is_unset(p, x))
            st = check_double(p, x, err);
    }
    return st;
}

static nb_status check_choice(const nb_param *p, int value, nb_error *err)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    for (int i = 0; p->choices[i]; i++)
        if (p->kind == NB_KIND_CHOICE ? i == value : !strcmp(p->choices[i], text))
            return NB_OK;
    return nb_param_refuse_choice(p, text, err);
}

static nb_status check_three(const nb_param *p, const nb_opt3 *three, nb_error *err)
{
    nb_status st = NB_OK;
    if (!three->set)
        return NB_OK;
    st = nb_param_check_direction(p, three->v, err);
    return st ? st : check_doubles(p, three->v, 3, err);
}

static nb_status check_cell(const nb_param *p, const nb_config *cfg, nb_error *err)
{
    nb_param angle = *p;
    nb_status st = NB_OK;
    angle.high = 180;
    angle.open = NB_OPEN_LOW | NB_OPEN_HIGH;
    for (int i = 0; i < cfg->cell_count && i < 6 && !st; i++)
        if (cfg->cell[i] != 0) /* unset */
            st = check_double(i < 3 ? p : &angle, cfg->cell[i], err);
    return st;
}

static nb_status check_roi(const nb_param *p, const nb_config *cfg, nb_error *err)
{
    const int *roi = cfg->roi;
    nb_status st = cfg->roi_set ? check_elements(p, cfg, err) : NB_OK;
    if (!st && cfg->roi_set && (roi[0] > roi[1] || roi[2] > roi[3]))
        st = nb_fail(err, NB_ERR_INPUT,
                     "-roi %d %d %d %d: a minimum is larger than its maximum; "
                     "give xmin xmax ymin ymax",
                     roi[0], roi[1], roi[2], roi[3]);
    return st;
}

static nb_status check_png_scale(const nb_param *p, const nb_png_options *png,
                                 nb_error *err)
{
    nb_status st = check_double(p, (int)png->scale, err);
    if (!st && png->scale == NB_PNG_PERCENTILE &&
        !(png->percentile > 0 && png->percentile <= 100))
        st = nb_fail(err, NB_ERR_INPUT,
                     "-pngscale %g: must be greater than 0 and at most 100",
                     png->percentile);
    if (!st && png->scale == NB_PNG_RANGE && !(png->low < png->high))
        st = nb_fail(err, NB_ERR_INPUT,
                     "-pngscale %g:%g: the first must be the smaller one", png->low,
                     png->high);
    return st;
}

static nb_status check_field(const nb_param *p, const void *base, nb_error *err)
{
    const void *field = (const char *)base + p->offset;
    const nb_config *cfg = base;
    switch (p->kind) {
    case NB_KIND_SWITCH: /* 0 means off; a switch with a third state has limits */
        return p->high > 0 ? check_double(p, *(const int *)field, err) : NB_OK;
    case NB_KIND_INTEGER:
    case NB_KIND_NUMBER:
        return p->choices ? check_choice(p, *(const int *)field, err)
                          : check_elements(p, base, err);
    case NB_KIND_NUMBER_OR: /* -1 stands for the word */
        return nb_param_element(p, base, 0) == -1 ? NB_OK : check_elements(p, base, err);
    case NB_KIND_VECTOR:
    case NB_KIND_POINT:
        return check_three(p, field, err);
    case NB_KIND_CHOICE:
        return check_choice(p, *(const int *)field, err);
    case NB_KIND_CELL:
        return check_cell(p, cfg, err);
    case NB_KIND_MISSET:
        return check_doubles(p, cfg->misset_deg, 3, err);
    case NB_KIND_ROI:
        return check_roi(p, cfg, err);
    case NB_KIND_DEPTH: /* inf is allowed, and means that nothing is absorbed */
        return nb_param_is_set(p, base) && !(*(const double *)field == INFINITY)
                   ? check_double(p, *(const double *)field, err)
                   : NB_OK;
    case NB_KIND_PNG_SCALE:
        return check_png_scale(p, &cfg->png, err);
    case NB_KIND_PNG_RINGS:
        return check_doubles(p, cfg->png.ring_A, cfg->png.rings, err);
    default:
        return NB_OK;
    }
}

/** Check the rows whose flags have the value `bits` in `mask`, except views. Inner rows
 * (counts) are checked first. */
static nb_status check_rows(const void *base, unsigned mask, unsigned bits, nb_error *err)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    nb_status st = NB_OK;
    for (int inner = 1; inner >= 0; inner--)
        for (size_t i = 0; i < count && !st; i++)
            if ((table[i].flags & (mask | NB_PARAM_VIEW)) == bits &&
                !(table[i].flags & NB_PARAM_INNER) == !inner)
                st = check_field(&table[i], base, err);
    return st;
}

nb_status nb_config_check_fields(const nb_config *cfg, nb_error *err)
{
    return check_rows(cfg, NB_PARAM_SERIES, 0, err);
}

nb_status nb_png_check(const nb_png_options *options, nb_error *err)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.png = *options;
    return check_rows(&cfg, NB_PARAM_PNG, NB_PARAM_PNG, err);
}

nb_status nb_png_check_name(const char *flag, const char *path, nb_error *err)
{
    const char *dot = strrchr(path, '.');
    if (!dot || (strcasecmp(dot, ".jpg") && strcasecmp(dot, ".jpeg")))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "%s %.200s: a PNG is written, and no JPEG; name it %.*s.png", flag,
                   path, (int)(dot - path < 200 ? dot - path : 200), path);
}

nb_status nb_series_check(const nb_series *series, nb_error *err)
{
    return check_rows(series, NB_PARAM_SERIES, NB_PARAM_SERIES, err);
}
