/* SPDX-License-Identifier: MIT */
/* One frame of a series, and the table of the numbers that its frames draw. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/stop.h"
#include "../io/common/json_node.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../outputs/write.h"
#include "work.h"
#include "frames.h"

/** Copy of the series with at least one frame; the copy shares its texts with the
 * series. */
static nb_series counted(const nb_series *series)
{
    nb_series s = *series;
    if (s.frames + s.stills == 0)
        s.stills = 1;
    return s;
}

/** Put the A matrix that -orientations has for frame k, if any, into an array. */
static nb_status take_matrix(const nb_frames *f, int k, nb_crystals *out, nb_error *err)
{
    nb_matrix matrix;
    const nb_frame_extra extra = nb_frames_extra(f, k, &matrix);
    nb_config *first = &out->configs[0];
    struct own {
        nb_arrays arrays;
        double A[27];
    } * own;
    if (!extra.matrix)
        return NB_OK;
    if (!(own = nb_alloc(1, sizeof *own, "A matrix", err)))
        return NB_ERR_NOMEM;
    if (first->arrays)
        own->arrays = *first->arrays;
    memcpy(own->A, matrix.at, sizeof matrix.at);
    memcpy(own->A + 9, matrix.ends, sizeof matrix.ends);
    own->arrays.A = own->A;
    own->arrays.A_count = 3;
    out->arrays = &own->arrays;
    first->arrays = out->arrays;
    return nb_text_put(&first->mat_file, NB_MEMORY_A, err);
}

nb_status nb_series_crystals(const nb_config *cfg, const nb_series *series, int k,
                             const nb_hooks *hooks, nb_crystals *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series && out);
    const nb_series all = counted(series);
    const int count = all.frames + all.stills;
    nb_frames f = {0};
    nb_sim *base = NULL;
    nb_status st;
    memset(out, 0, sizeof *out);
    if (k < 0 || k >= count)
        return nb_fail(err, NB_ERR_INPUT, "-only_frame %d: the series has frames 0 to %d",
                       k, count - 1);
    if (all.spectra[0])
        return nb_fail(
            err, NB_ERR_INPUT,
            "-only_frame with -spectra: type the frame's line of it as -sourcefile");
    NB_FORWARD(nb_sim_create(cfg, hooks, &base, err));
    st = nb_frames_init(&f, &all, base, err);
    NB_TRY(nb_frames_crystals(&f, k, out, err));
    /* the records must point to cfg, not to base */
    for (int i = 0; !st && i < (out->n ? out->n : 1); i++) {
        nb_config *one = &out->configs[i];
        one->detector = cfg->detector;
        one->arrays = cfg->arrays;
    }
    NB_TRY(take_matrix(&f, k, out, err));
    nb_frames_free(&f);
    nb_sim_free(base);
    return st;
}

/* ------------------------------------------------------------------ table */

/** Names of the columns for the members of nb_jitter. */
static const char *const jitters[] = {"jitter_fluence",   "jitter_lambda",
                                      "jitter_cell",      "jitter_mosaic",
                                      "jitter_beam_fast", "jitter_beam_slow"};

/** Get name and value of column i, counted after the columns frame, crystal and seed.
 * *name is NULL if there are fewer columns. */
static nb_status column(const nb_frames *f, int i, nb_crystal_at at, const char **name,
                        double *value, nb_error *err)
{
    const nb_vary *v = &f->vary;
    const nb_jitter jitter = nb_jitter_draw(f->series, nb_series_seed(v->seed, at.frame));
    nb_spectrum spectrum;
    nb_status st;
    *name = i < v->n ? v->items[i].name : NULL;
    if (*name)
        return nb_vary_draw(v, i, at, value, err);
    i -= v->n;
    for (int j = 0; j < 6; j++)
        if (jitter.amount[j] > 0 && i-- == 0) {
            *name = jitters[j];
            *value = jitter.value[j];
            return NB_OK;
        }
    if (f->sim->model.spectrum.n && i-- == 0) {
        *name = "spectrum_factor";
        st = nb_frames_spectrum(f, at.frame, &spectrum, err);
        *value = spectrum.factor;
        nb_spectrum_free(&spectrum);
        return st;
    }
    if (f->doses && i == 0) {
        *name = "dose";
        *value = f->doses[at.frame];
    }
    return NB_OK;
}

/** Add the row of a crystal, or with crystal -1 that of a frame without crystals. */
static nb_status add_row(nb_draft *t, const nb_frames *f, nb_crystal_at at, nb_error *err)
{
    const nb_crystal_at drawn = {at.frame, at.crystal < 0 ? 0 : at.crystal};
    const char *name;
    double value;
    nb_status st = NB_OK;
    nb_draft_put(t, "%d\t%d\t%lld", at.frame, at.crystal,
                 (long long)nb_series_seed(f->vary.seed, at.frame));
    for (int i = 0; !(st = column(f, i, drawn, &name, &value, err)) && name; i++)
        nb_draft_put(t, "\t%.12g", value);
    nb_draft_put(t, "\n");
    return st;
}

static nb_status fill(nb_draft *t, const nb_frames *f, nb_error *err)
{
    const int several = nb_frames_have_crystals(f) || f->override;
    const char *name;
    double value;
    nb_status st = NB_OK;
    nb_draft_put(t, "frame\tcrystal\tseed");
    for (int i = 0; !(st = column(f, i, (nb_crystal_at){0}, &name, &value, err)) && name;
         i++)
        nb_draft_put(t, "\t%s", name);
    nb_draft_put(t, "\n");
    for (int k = 0; k < f->count && !st; k++) {
        int n = 1;
        st = nb_stop_check(err);
        if (!st && several)
            st = nb_frames_count(f, k, &n, err);
        if (!st && n == 0)
            st = add_row(t, f, (nb_crystal_at){k, -1}, err);
        for (int m = 0; m < n && !st; m++)
            st = add_row(t, f, (nb_crystal_at){k, m}, err);
    }
    return st;
}

nb_status nb_series_draws(const nb_config *cfg, const nb_series *series,
                          const nb_hooks *hooks, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series && cfg->draws_file[0]);
    NB_ASKS(hooks, 0);
    const nb_series all = counted(series);
    nb_frames f = {0};
    nb_sim *base = NULL;
    nb_draft t = {0};
    nb_config plain = *cfg; /* shares its texts with *cfg */
    nb_status st;
    NB_FORWARD(nb_series_check_files(cfg, series, err));
    plain.draws_file = nb_no_text; /* this function writes the file itself */
    if ((cfg->cell_count || cfg->mat_file[0]) && !cfg->hkl_file[0] &&
        !cfg->dump_file[0] && !nb_config_has_factor_file(cfg) && !NB_GIVEN(cfg, default_F))
        plain.default_F = 0; /* no draw depends on F */
    st = nb_sim_create(&plain, hooks, &base, err);
    NB_TRY(nb_frames_init(&f, &all, base, err));
    NB_TRY(fill(&t, &f, err));
    NB_TRY(t.failed ? nb_fail_memory(err, t.room, "-draws")
                    : nb_outfile_put(cfg->draws_file, t.data, t.n, err));
    nb_free(t.data);
    nb_frames_free(&f);
    nb_sim_free(base);
    return st;
}
