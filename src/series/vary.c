/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/coefficients.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/philox.h"
#include "../base/text.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/crystal.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../sim/crystals.h"

enum { ATTEMPTS = 1000 };
#define VARY_STREAM 0x7ffffffbu

int64_t nb_series_seed(int64_t seed, int frame)
{
    uint64_t x = (uint64_t)seed + (uint64_t)frame * NB_GOLDEN_BITS; /* splitmix64 */
    if (frame == 0)
        return seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ x >> 31) >> 11); /* 53 bits, which a double holds exactly */
}

/* ------------------------------------------------------------------ names */

/* Names of -vary that change a part of the parameter row `of`, or the whole row in a
 * special way. */
static const struct {
    const char *name;
    nb_member of;
    nb_vary_target to;
    int axis;
} parts[] = {
    {"cell", NB_MEMBER(cell), NB_VARY_EDGES, 0},
    {"cell_a", NB_MEMBER(cell), NB_VARY_CELL, 0},
    {"cell_b", NB_MEMBER(cell), NB_VARY_CELL, 1},
    {"cell_c", NB_MEMBER(cell), NB_VARY_CELL, 2},
    {"cell_al", NB_MEMBER(cell), NB_VARY_CELL, 3},
    {"cell_be", NB_MEMBER(cell), NB_VARY_CELL, 4},
    {"cell_ga", NB_MEMBER(cell), NB_VARY_CELL, 5},
    {"misset_x", NB_MEMBER(misset_deg), NB_VARY_MISSET, 0},
    {"misset_y", NB_MEMBER(misset_deg), NB_VARY_MISSET, 1},
    {"misset_z", NB_MEMBER(misset_deg), NB_VARY_MISSET, 2},
    {"rot_x", NB_MEMBER(misset_deg), NB_VARY_ROTATION, 0},
    {"rot_y", NB_MEMBER(misset_deg), NB_VARY_ROTATION, 1},
    {"rot_z", NB_MEMBER(misset_deg), NB_VARY_ROTATION, 2},
    {"crystals", NB_MEMBER(crystals), NB_VARY_CRYSTALS, 0},
    {"spindle", NB_MEMBER(phi_deg), NB_VARY_SPINDLE, 0},
    {"overlap", NB_MEMBER(blocks), NB_VARY_OVERLAP, 0},
};
enum { PARTS = sizeof parts / sizeof *parts, NAMES_MAX = 128 };

/** True for a number of a crystal, false for a number of a frame. */
static int is_of_crystal(const nb_vary_item *item)
{
    return item->to < NB_VARY_CRYSTALS &&
           (item->row->flags & (NB_PARAM_CRYSTAL | NB_PARAM_IMAGE)) == NB_PARAM_CRYSTAL;
}

/** List the names that can vary: rows of a crystal, `parts`, rows of a frame. Returns
 * their number. */
static int list_names(nb_vary_item all[NAMES_MAX])
{
    int n = 0;
    for (int frame = 0; frame < 2; frame++) {
        for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_VARIES));) {
            all[n] = (nb_vary_item){.name = p->name, .row = p};
            n += n < NAMES_MAX - PARTS && is_of_crystal(&all[n]) == !frame;
        }
        for (int i = 0; frame == 0 && i < PARTS; i++)
            all[n++] = (nb_vary_item){.name = parts[i].name,
                                      .row = nb_param_of(parts[i].of),
                                      .to = parts[i].to,
                                      .axis = parts[i].axis};
    }
    return n;
}

int nb_vary_frame_item(const nb_vary *v, int i)
{
    int at = 0;
    while (at < v->n && (is_of_crystal(&v->items[at]) || i-- > 0))
        at++;
    return at;
}

/** Hash a name (FNV-1a, 32 bits). */
static uint32_t number_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/** True if an error message lists a and b, which are neighbours, as a range. */
static int are_alike(const nb_vary_item *a, const nb_vary_item *b)
{
    const size_t n = strlen(a->name);
    return (a->to == NB_VARY_CELL && b->to == NB_VARY_CELL) ||
           (n > 2 && n == strlen(b->name) && !memcmp(a->name, b->name, n - 1));
}

/** Find the name text[n] in `all`, or return NULL. */
static const nb_vary_item *find_name(const nb_vary_item *all, int names, const char *text,
                                     size_t n)
{
    for (int i = 0; i < names; i++)
        if (strlen(all[i].name) == n && !memcmp(all[i].name, text, n))
            return &all[i];
    return NULL;
}

/** Set *item for the name text[n]. An unknown name is an error. */
static nb_status read_name(const char *text, size_t n, nb_vary_item *item, nb_error *err)
{
    nb_vary_item all[NAMES_MAX];
    const int names = list_names(all);
    const nb_vary_item *found = find_name(all, names, text, n);
    char list[600] = "";
    size_t used = 0;
    if (found) {
        *item = *found;
        return NB_OK;
    }
    for (int i = 0; i < names && used + 24 < sizeof list; i++) {
        const int joins = i > 0 && are_alike(&all[i - 1], &all[i]),
                  inside = joins && i + 1 < names && are_alike(&all[i], &all[i + 1]);
        const char *name = all[i].name;
        if (inside && list[used - 1] != '.')
            used += (size_t)snprintf(list + used, sizeof list - used, "..");
        else if (!inside && list[used ? used - 1 : 0] == '.') /* the end of a range */
            used += (size_t)snprintf(list + used, sizeof list - used, "%s",
                                     all[i].to == NB_VARY_CELL ? name
                                                               : name + strlen(name) - 1);
        else if (!inside)
            used += (size_t)snprintf(list + used, sizeof list - used, " %s", name);
    }
    return nb_fail(err, NB_ERR_INPUT, "-vary: '%.*s' cannot vary; these can:%s",
                   (int)(n < 20 ? n : 20), text, list);
}

/* ------------------------------------------------------------------ the value without a
 * law */

/** Value that follows from other flags if the crystal is known, or NaN. */
static double of_model(const nb_param *row, const nb_model *m)
{
    const nb_crystal *x = &m->crystal;
    /* -N sets the same member as Na, and -samplesize the same as sample_x */
    for (int i = 0; i < 3; i++) {
        if (row->offset == offsetof(nb_config, N[0]) + (size_t)i * sizeof(double))
            return x->N[i];
        if (row->offset ==
            offsetof(nb_config, xtal_size_mm[0]) + (size_t)i * sizeof(double))
            return x->N[i] * x->edge[i] / x->growth * NB_ANGSTROM / NB_MM;
    }
    if (NB_IS(row, blocks))
        return m->blocks;
    if (NB_IS(row, crystal_volume_um3))
        return m->blocks * nb_crystal_block_um3(x) / pow(x->growth, 3);
    if (NB_IS(row, damage_B))
        return NB_TYPED(&m->settings, damage_half) ? 0 : 1;
    if (NB_IS(row, Xbeam_mm))
        return m->geometry.Xbeam / NB_MM;
    if (NB_IS(row, Ybeam_mm))
        return m->geometry.Ybeam / NB_MM;
    if (NB_IS(row, orgx))
        return m->geometry.orgx;
    if (NB_IS(row, orgy))
        return m->geometry.orgy;
    if (NB_IS(row, osc_deg))
        return m->phi_range / NB_DEG;
    return NAN;
}

static double centre_of(const nb_vary_item *item, const nb_config *cfg, const nb_model *m)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    const nb_param *row = item->row;
    double typed;
    int n;
    switch (item->to) {
    case NB_VARY_ROTATION:
    case NB_VARY_SPINDLE:
        return 0;
    case NB_VARY_OVERLAP:
        return 1;
    case NB_VARY_CRYSTALS:
        return nb_crystals_kind_of(cfg->crystals, &n) == NB_CRYSTALS_NUMBER ? n : NAN;
    case NB_VARY_MISSET:
        return cfg->misset_deg[item->axis];
    case NB_VARY_EDGES:
    case NB_VARY_CELL:
        return cfg->cell_count > item->axis ? cfg->cell[item->axis] : NAN;
    default:
        break;
    }
    if (NB_IS(row, lambda_A))
        return nb_beam_wavelength(all);
    if (NB_IS(row, energy_eV))
        return NB_HC_EV_ANGSTROM / nb_beam_wavelength(all);
    if (NB_IS(row, fluence))
        return nb_beam_incident(all); /* -flux may determine the fluence */
    if (NB_IS(row, mosaic_spread_deg) && cfg->mosaic_aniso_deg.set)
        return cfg->mosaic_aniso_deg.v[0];
    if (NB_IS(row, mosaic_spread_deg) && NB_GIVEN(cfg, mosaic_tensor_deg2))
        return sqrt(cfg->mosaic_tensor_deg2[0]);
    typed = nb_config_value(cfg, row->offset);
    if (!nb_param_is_unset(row, typed) && !isnan(typed))
        return typed;
    if (m && !isnan(of_model(row, m)))
        return of_model(row, m);
    return isnan(typed) ? row->unset : typed; /* the value for Badd is 0 */
}

/* ------------------------------------------------------------------ laws */

/** Input of a draw. */
typedef struct nb_dice {
    const nb_vary_item *item;
    const double *x; /* numbers of the law */
    double along;    /* position of the frame in the series, 0 to 1 */
    uint64_t seed, number;
    uint32_t attempt;
} nb_dice;

static double uniform(const nb_dice *d, uint32_t draw)
{
    const nb_philox_words p = nb_philox(d->seed, d->number, VARY_STREAM, draw);
    return nb_uniform52(p.w[0], p.w[1]);
}

static double normal(const nb_dice *d, uint32_t draw)
{
    return nb_normal52(nb_philox(d->seed, d->number, VARY_STREAM, draw), NULL);
}

static int is_whole(const nb_vary_item *item)
{
    return nb_vary_is_count(item) || item->to == NB_VARY_CRYSTALS;
}

/** Number at the fraction u (0 <= u < 1) of the range from x[0] to x[1]. All whole
 * numbers are equally likely. */
static double between(const nb_vary_item *item, const double x[2], double u)
{
    const double a = ceil(x[0]), b = floor(x[1]);
    return is_whole(item) && a <= b ? fmin(floor(a + (b - a + 1) * u), b)
                                    : x[0] + (x[1] - x[0]) * u;
}

static double draw_normal(const nb_dice *d)
{
    return d->item->centre + d->x[0] * normal(d, d->attempt);
}

static double draw_lognormal(const nb_dice *d)
{
    return d->item->centre * exp(d->x[0] * normal(d, d->attempt));
}

static double draw_uniform(const nb_dice *d)
{
    return between(d->item, d->x, uniform(d, d->attempt));
}

/** G. Marsaglia, W. W. Tsang, ACM TOMS 26, 363 (2000). NaN if this attempt fails. */
static double draw_gamma(const nb_dice *d)
{
    const uint32_t t = 2 * d->attempt;
    const double m = d->x[0], D = m - 1.0 / 3, g = normal(d, t), u = uniform(d, t + 1);
    const double root = 1 + g / sqrt(9 * D), V = root * root * root, G = D * V;
    return V > 0 && log(u) < 0.5 * g * g + D - D * V + D * log(V) ? d->item->centre * G / m
                                                                  : NAN;
}

static double draw_choice(const nb_dice *d)
{
    return d->x[(int)(uniform(d, d->attempt) * d->item->count)];
}

static double draw_poisson(const nb_dice *d)
{
    const double u = uniform(d, d->attempt);
    double term = exp(-d->x[0]), sum = term;
    int k = 0;
    while (sum < u && k < 1000) {
        term *= d->x[0] / ++k;
        sum += term;
    }
    return k;
}

/** The typed number with probability x[0], else 0. */
static double draw_hit(const nb_dice *d)
{
    return uniform(d, d->attempt) < d->x[0] ? d->item->centre : 0;
}

static double draw_ramp(const nb_dice *d)
{
    return between(d->item, d->x, d->along);
}

/** exp(-4 ln 2 r^2), of a small crystal at r in a Gaussian beam, whose centre moves by s
 * along two axes, in full widths at half maximum: r^2 = -2 s^2 ln(u). */
static double draw_offset(const nb_dice *d)
{
    const double s = d->x[0];
    return d->item->centre * pow(1 - uniform(d, d->attempt), 8 * log(2) * s * s);
}

/** The laws. A new law needs a row and a function. */
static const struct nb_vary_law {
    const char *name, *form;
    int least, limit; /* least and largest count of the law's numbers */
    double low, high; /* limits of the first number; both 0: no limits */
    enum {
        FREE,
        ABOUT,
        /* ABOUT: the law needs the typed value; FACTOR: the law needs a value other than
         * 0 */
        FACTOR
    } of;
    double (*draw)(const nb_dice *d);
} laws[] = {
    {"normal", "s", 1, 1, 0, INFINITY, ABOUT, draw_normal},
    {"lognormal", "s", 1, 1, 0, INFINITY, FACTOR, draw_lognormal},
    {"uniform", "a:b", 2, 2, 0, 0, FREE, draw_uniform},
    {"gamma", "m", 1, 1, 1, INFINITY, FACTOR, draw_gamma},
    {"choice", "v:v:...", 1, 1 << 20, 0, 0, FREE, draw_choice},
    {"poisson", "m", 1, 1, 0, 100, FREE, draw_poisson},
    {"hit", "p", 1, 1, 0, 1, ABOUT, draw_hit},
    {"ramp", "a:b", 2, 2, 0, 0, FREE, draw_ramp},
    {"offset", "s", 1, 1, 0, 100, FACTOR, draw_offset},
};
enum { LAWS = sizeof laws / sizeof *laws };

/* ------------------------------------------------------------------ reading */

/** End of the word before a colon or comma. */
static const char *word_end(const char *p)
{
    while (*p && *p != ':' && *p != ',')
        p++;
    return p;
}

static nb_status odd_numbers(const nb_vary_item *item, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "-vary %s:%s: type %s:%s:%s", item->name,
                   item->law->name, item->name, item->law->name, item->law->form);
}

static nb_status part_of_0(const nb_vary_item *item, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "-vary %s: a part of 0 is always 0; type -%s too, or another law with "
                   "numbers without %%",
                   item->name, item->row->name);
}

/** Read one number. A number with % is in percent of the centre. */
static nb_status read_number(const char **p, nb_vary *v, nb_vary_item *item, nb_error *err)
{
    const char *end = word_end(*p);
    double x;
    const char *after = nb_text_double(*p, end, &x);
    const int percent = after && after < end && *after == '%';
    if (!after || after + percent != end)
        return odd_numbers(item, err);
    if (percent && (item->law->draw == draw_lognormal || item->law->draw == draw_offset))
        x /= 100;
    else if (percent && item->centre == 0)
        return part_of_0(item, err);
    else if (percent)
        x *= item->centre / 100;
    if (percent && isnan(x))
        return nb_fail(err, NB_ERR_INPUT,
                       "-vary %s: %% of a number that is not typed; type -%s too",
                       item->name, item->row->name);
    v->numbers[item->first + item->count++] = x;
    *p = end;
    return NB_OK;
}

static nb_status check_numbers(const nb_vary *v, const nb_vary_item *item, nb_error *err)
{
    const struct nb_vary_law *law = item->law;
    const double first = item->count ? v->numbers[item->first] : NAN;
    if (item->count < law->least || item->count > law->limit ||
        (law->high > 0 && !(first >= law->low && first <= law->high)))
        return odd_numbers(item, err);
    if (law->of && isnan(item->centre))
        return nb_fail(err, NB_ERR_INPUT,
                       "-vary %s:%s: about a number that is not typed; type -%s too",
                       item->name, law->name, item->row->name);
    return law->of == FACTOR && item->centre == 0 ? part_of_0(item, err) : NB_OK;
}

/** Find the law text[n] of an item. */
static nb_status read_law(const char *text, size_t n, nb_vary_item *item, nb_error *err)
{
    char list[120] = "";
    size_t used = 0;
    for (int i = 0; i < LAWS; i++) {
        if (strlen(laws[i].name) == n && !memcmp(laws[i].name, text, n)) {
            item->law = &laws[i];
            return NB_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0          ? ""
                                 : i == LAWS - 1 ? " and "
                                                 : ", ",
                                 laws[i].name);
    }
    return nb_fail(err, NB_ERR_INPUT, "-vary %s:%.*s: the laws are %s", item->name,
                   (int)(n < 40 ? n : 40), text, list);
}

/** Read "NAME:law:number:..." at *p. */
static nb_status read_item(const char **p, const nb_config *cfg, const nb_model *m,
                           nb_vary *v, nb_error *err)
{
    nb_vary_item *item = &v->items[v->n];
    const char *end = word_end(*p), *law = *end == ':' ? end + 1 : end;
    int used = v->n ? item[-1].first + item[-1].count : 0;
    nb_status st;
    NB_FORWARD(read_name(*p, (size_t)(end - *p), item, err));
    for (int i = 0; i < v->n; i++)
        if (!strcmp(v->items[i].name, item->name))
            return nb_fail(err, NB_ERR_INPUT, "-vary has %s twice", item->name);
    end = word_end(law);
    NB_FORWARD(read_law(law, (size_t)(end - law), item, err));
    item->first = used;
    item->count = 0;
    item->centre = centre_of(item, cfg, m);
    for (*p = end; **p == ':' && !st;) {
        ++*p;
        st = read_number(p, v, item, err);
    }
    return st ? st : check_numbers(v, item, err);
}

int nb_vary_has(const nb_vary *v, nb_member member)
{
    for (int i = 0; i < v->n; i++)
        if (nb_param_is(v->items[i].row, member))
            return 1;
    return 0;
}

/** Refuse a name whose quantity another flag varies or fixes. */
static nb_status check_others(const nb_vary *v, const nb_config *cfg, const nb_series *s,
                              nb_error *err)
{
    const struct {
        int is;
        nb_member member;
        const char *other;
    } jitter[] = {
        {s->jitter_fluence_pct > 0, NB_MEMBER(fluence), "jitter_fluence"},
        {s->jitter_fluence_pct > 0, NB_MEMBER(flux), "jitter_fluence"},
        {s->jitter_lambda_pct > 0, NB_MEMBER(lambda_A), "jitter_lambda"},
        {s->jitter_lambda_pct > 0, NB_MEMBER(energy_eV), "jitter_lambda"},
        {s->jitter_cell_pct > 0, NB_MEMBER(cell), "jitter_cell"},
        {s->jitter_mosaic_pct > 0, NB_MEMBER(mosaic_spread_deg), "jitter_mosaic"},
        {s->jitter_beam_mm > 0, NB_MEMBER(Xbeam_mm), "jitter_beam"},
        {s->jitter_beam_mm > 0, NB_MEMBER(Ybeam_mm), "jitter_beam"},
        {cfg->mosaic_blocks[0] != 0, NB_MEMBER(mosaic_spread_deg), "mosaic_blocks"},
        {cfg->mosaic_aniso_deg.set && !(cfg->mosaic_aniso_deg.v[0] > 0),
         NB_MEMBER(mosaic_spread_deg), "mosaic_aniso 0"},
        {NB_GIVEN(cfg, mosaic_tensor_deg2) && !(cfg->mosaic_tensor_deg2[0] > 0),
         NB_MEMBER(mosaic_spread_deg), "mosaic_tensor 0"},
        {cfg->mat_file[0] != 0, NB_MEMBER(lambda_A), "mat"},
        {cfg->mat_file[0] != 0, NB_MEMBER(energy_eV), "mat"}};
    const int random =
        cfg->misset_mode == NB_MISSET_RANDOM || !strcmp(s->orientations, "random");
    for (size_t i = 0; i < sizeof jitter / sizeof *jitter; i++)
        if (jitter[i].is && nb_vary_has(v, jitter[i].member))
            return nb_fail(err, NB_ERR_INPUT, "-vary %s contradicts -%s; give one of them",
                           nb_param_of(jitter[i].member)->name, jitter[i].other);
    for (int i = 0; i < v->n; i++) {
        const nb_vary_item *item = &v->items[i];
        const int misset = item->to == NB_VARY_MISSET;
        const char *why =
            item->to == NB_VARY_CRYSTALS && isnan(item->centre)
                ? " contradicts -crystals with a line for each crystal; give one of them"
            : misset && cfg->crystals[0]
                ? ": with -crystals orientations are random; type rot_x, rot_y, rot_z "
                  "for a rotation about them"
            : misset && random
                ? ": the orientation is random; type rot_x, rot_y, rot_z for a rotation "
                  "about it"
            : (item->to == NB_VARY_EDGES || item->to == NB_VARY_CELL) && !cfg->cell_count
                ? ": needs -cell"
                : NULL;
        if (why)
            return nb_fail(err, NB_ERR_INPUT, "-vary %s%s", item->name, why);
    }
    return NB_OK;
}

/** True if the last item gives the same quantity as another item, in another unit. */
static int repeats(const nb_vary *v)
{
    const nb_param *last = v->items[v->n - 1].row;
    for (int i = 0; last->other && i < v->n - 1; i++)
        if (v->items[i].to == NB_VARY_ROW &&
            nb_param_is(v->items[i].row, (nb_member){last->other, last->size}))
            return 1;
    return 0;
}

/** Add the laws of -realism, without those that `text` of -vary or other flags rule out,
 * and list them in a note. */
static void add_realism(const nb_config *cfg, const nb_series *series, const nb_model *m,
                        const nb_hooks *hooks, nb_vary *v)
{
    const char *p = nb_realism_vary(cfg);
    char list[512] = "";
    while (*p) {
        const char *item = p;
        const size_t used = strlen(list), length = strcspn(p, ",");
        nb_error ignored;
        if (v->n < NB_VARY_MAX && !read_item(&p, cfg, m, v, &ignored)) {
            v->n++;
            if (repeats(v) || check_others(v, cfg, series, &ignored))
                v->n--;
            else
                snprintf(list + used, sizeof list - used, "%s%.*s", used ? "," : "",
                         (int)length, item);
        }
        p = item + length + (item[length] == ',');
    }
    if (list[0])
        nb_notice(hooks, "-realism %s: -vary %s",
                  nb_param_choice("realism", (int)cfg->realism), list);
}

/** Add the laws of `text` to *v. */
static nb_status read_items(const char *text, const nb_config *cfg, const nb_model *model,
                            nb_vary *v, nb_error *err)
{
    const char *p = text;
    nb_status st;
    do {
        if (v->n == NB_VARY_MAX)
            return nb_fail(err, NB_ERR_INPUT, "-vary has more than %d names", NB_VARY_MAX);
        NB_FORWARD(read_item(&p, cfg, model, v, err));
        v->n++;
    } while (*p == ',' && *++p);
    if (p[-1] == ',')
        return nb_fail(err, NB_ERR_INPUT, "-vary: a law is missing behind the last comma");
    if (*p)
        return nb_fail(err, NB_ERR_INPUT,
                       "-vary: '%.20s' follows a law; put a comma between names", p);
    return NB_OK;
}

nb_status nb_vary_read(const char *text, const nb_config *cfg, const nb_series *series,
                       const nb_model *model, const nb_hooks *hooks, nb_vary *v,
                       nb_error *err)
{
    const char *more = nb_realism_vary(cfg);
    char hits[48] = "";
    nb_status st = NB_OK;
    memset(v, 0, sizeof *v);
    if (model)
        v->spindle = model->geometry.spindle;
    v->frames = series->frames + series->stills;
    v->stills = series->frames <= 0;
    v->seed = cfg->seed.value;
    if (!isnan(series->hitrate))
        snprintf(hits, sizeof hits, "crystals:hit:%.15g", series->hitrate);
    if (!*text && !*more && !*hits)
        return NB_OK;
    v->numbers = nb_alloc(strlen(text) + strlen(more) + sizeof hits + 1,
                          sizeof *v->numbers, "-vary", err);
    if (!v->numbers)
        return NB_ERR_NOMEM;
    if (*text)
        st = read_items(text, cfg, model, v, err);
    if (*hits)
        NB_TRY(read_items(hits, cfg, model, v, err));
    NB_TRY(check_others(v, cfg, series, err));
    if (!st)
        add_realism(cfg, series, model, hooks, v);
    if (st)
        nb_vary_free(v);
    return st;
}

int nb_vary_changes_F(const char *text)
{
    nb_vary_item all[NAMES_MAX];
    const int names = list_names(all);
    for (const char *p = text; *p;) {
        const nb_vary_item *found = find_name(all, names, p, (size_t)(word_end(p) - p));
        if (found && found->row->flags & NB_PARAM_FACTORS)
            return 1;
        p += strcspn(p, ",");
        p += *p == ',';
    }
    return 0;
}

void nb_vary_free(nb_vary *v)
{
    nb_free(v->numbers);
    memset(v, 0, sizeof *v);
}

/* ------------------------------------------------------------------ drawing */

static int is_allowed(const nb_vary_item *item, double value)
{
    if (item->to == NB_VARY_MISSET || item->to == NB_VARY_ROTATION ||
        item->to == NB_VARY_SPINDLE)
        return isfinite(value);
    if (item->to == NB_VARY_CRYSTALS)
        return value >= 0 && value <= NB_CRYSTALS_MAX;
    if (item->to == NB_VARY_CELL && item->axis > 2)
        return value > 0 && value < 180;
    return nb_param_allows(item->row, value) && (!nb_vary_is_count(item) || value >= 1);
}

nb_status nb_vary_draw(const nb_vary *v, int i, nb_crystal_at at, double *value,
                       nb_error *err)
{
    const nb_vary_item *item = &v->items[i];
    const int of_crystal = is_of_crystal(item),
              fixed = !v->stills && (of_crystal || item->to == NB_VARY_CRYSTALS);
    nb_dice d = {.item = item,
                 .x = v->numbers + item->first,
                 .along = (at.frame + 0.5) / v->frames,
                 .seed = (uint64_t)(fixed ? v->seed : nb_series_seed(v->seed, at.frame)),
                 .number = ((uint64_t)(of_crystal ? at.crystal : 0) << 32) +
                           number_of(item->name)};
    for (; d.attempt < ATTEMPTS; d.attempt++) {
        const double x = item->law->draw(&d);
        if (isnan(x))
            continue;
        *value = nb_typeable(is_whole(item) ? floor(x + 0.5) : x);
        if (is_allowed(item, *value))
            return NB_OK;
    }
    return nb_fail(
        err, NB_ERR_INPUT,
        "-vary %s:%s: a thousand numbers of frame %d were outside of what -%s allows "
        "(the last was %g)",
        item->name, item->law->name, at.frame, item->row->name, *value);
}
