/* SPDX-License-Identifier: MIT */
/* One frame of a series, and the table of what its frames draw. */
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../params/params.h"
#include "../sim/write.h"
#include "frames.h"

/** The series as one of at least a frame. */
static nb_series counted(const nb_series *series)
{
    nb_series s = *series;
    if (s.frames + s.stills == 0)
        s.stills = 1;
    if (!s.output[0] && !s.hdf5_file[0])
        strcpy(s.output, "frame_%d.bin"); /* a series has files; none is written here */
    return s;
}

nb_status nb_series_single(const nb_config *cfg, const nb_series *series, int k,
                           const nb_hooks *hooks, nb_config *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series && out);
    const nb_series all = counted(series);
    const int count = all.frames + all.stills;
    nb_frames f = {0};
    nb_sim *base = NULL;
    nb_status st;
    if (k < 0 || k >= count)
        return nb_fail(err, NB_ERR_INPUT, "-only_frame %d: the series has frames 0 to %d",
                       k, count - 1);
    if (all.spectra[0])
        return nb_fail(
            err, NB_ERR_INPUT,
            "-only_frame with -spectra: type the frame's line of it as -sourcefile");
    if ((st = nb_sim_create(cfg, hooks, &base, err)))
        return st;
    st = nb_frames_init(&f, &all, base, err);
    if (!st)
        st = nb_frames_config(&f, k, out, err);
    if (!st) { /* what points into the base */
        out->detector = cfg->detector;
        out->arrays = cfg->arrays;
    }
    nb_frames_free(&f);
    nb_sim_free(base);
    return st;
}

/* ------------------------------------------------------------------ table */

typedef struct table {
    char *text; /* owned */
    size_t used, room;
} table;

static nb_status make_room(table *t, size_t more, nb_error *err)
{
    char *text;
    if (t->used + more <= t->room)
        return NB_OK;
    t->room = 2 * (t->used + more);
    if (!(text = nb_alloc_raw(t->room, 1, "-draws", err)))
        return NB_ERR_NOMEM;
    if (t->text)
        memcpy(text, t->text, t->used);
    nb_free(t->text);
    t->text = text;
    return NB_OK;
}

static nb_status add(table *t, const char *text, nb_error *err)
{
    const size_t n = strlen(text);
    nb_status st = make_room(t, n, err);
    if (st)
        return st;
    memcpy(t->text + t->used, text, n);
    t->used += n;
    return NB_OK;
}

static nb_status add_row(table *t, const nb_vary *v, const nb_sim *base,
                         const nb_frames *f, int k, nb_error *err)
{
    char text[64];
    double value;
    nb_status st;
    snprintf(text, sizeof text, "%d\t0\t%lld", k, (long long)nb_series_seed(v->seed, k));
    st = add(t, text, err);
    for (int i = 0; i < v->n && !st; i++) {
        if ((st = nb_vary_draw(v, i, k, &value, err)))
            break;
        snprintf(text, sizeof text, "\t%.12g", value);
        st = add(t, text, err);
    }
    if (!st && base && base->model.spectrum.n) {
        nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
        nb_spectrum s = {0};
        st = cfg ? nb_frames_config(f, k, cfg, err) : NB_ERR_NOMEM;
        if (!st)
            st = nb_spectrum_of_frame(base, cfg, &s, err);
        snprintf(text, sizeof text, "\t%.12g", s.factor);
        nb_spectrum_free(&s);
        nb_free(cfg);
        st = st ? st : add(t, text, err);
    }
    return st ? st : add(t, "\n", err);
}

static nb_status fill(table *t, const nb_vary *v, const nb_sim *base, const nb_frames *f,
                      nb_error *err)
{
    nb_status st = add(t, "frame\tcrystal\tseed", err);
    for (int i = 0; i < v->n && !st; i++)
        if (!(st = add(t, "\t", err)))
            st = add(t, nb_vary_named(v, i), err);
    if (!st && base && base->model.spectrum.n)
        st = add(t, "\tspectrum_factor", err);
    if (!st)
        st = add(t, "\n", err);
    for (int k = 0; k < v->frames && !st; k++)
        st = add_row(t, v, base, f, k, err);
    return st;
}

/** Is there a crystal, so that a simulation can be made? */
static int has_crystal(const nb_config *cfg)
{
    return (cfg->cell_count || cfg->mat_file[0] || nb_config_has_factor_file(cfg) ||
            cfg->expt_file[0]) &&
           (cfg->hkl_file[0] || nb_config_has_factor_file(cfg) ||
            NB_GIVEN(cfg, default_F) || cfg->dump_file[0]);
}

nb_status nb_series_draws(const nb_config *cfg, const nb_series *series,
                          const nb_hooks *hooks, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series && cfg->draws_file[0]);
    const nb_series all = counted(series);
    nb_frames f = {0};
    nb_sim *base = NULL;
    nb_vary own = {0};
    table t = {0};
    nb_config seeded = *cfg;
    nb_status st = NB_OK;
    seeded.draws_file[0] = '\0'; /* it is written here */
    if (has_crystal(cfg)) {
        if (!(st = nb_sim_create(&seeded, hooks, &base, err)))
            st = nb_frames_init(&f, &all, base, err);
    } else if (!cfg->seed.set) {
        st = nb_fail(err, NB_ERR_INPUT, "-draws without a crystal needs -seed");
    } else {
        st = nb_vary_read(all.vary, &seeded, &all, NULL, &own, err);
    }
    if (!st)
        st = fill(&t, base ? &f.vary : &own, base, &f, err);
    if (!st)
        st = nb_outfile_put(cfg->draws_file, t.text, t.used, err);
    nb_free(t.text);
    nb_vary_free(&own);
    nb_frames_free(&f);
    nb_sim_free(base);
    return st;
}
