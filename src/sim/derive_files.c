/* SPDX-License-Identifier: MIT */
/* Files of derivatives: -derivfile, -gradfile, -gradhkl. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/text.h"
#include "../io/common/json_node.h"
#include "../io/image/writer.h"
#include "../physics/panels.h"
#include "derive.h"

/** The parameters of -derivatives.  F (all structure factors) only sets all_F. */
typedef struct wanted {
    char (*names)[NB_VARIABLE_NAME]; /* owned */
    const char *list[NB_VARIABLES_MAX];
    nb_variable *about; /* owned; [count] */
    int count, all_F;
} wanted;

static void free_wanted(wanted *w)
{
    nb_free(w->names);
    nb_free(w->about);
}

static nb_status open_wanted(const nb_sim *sim, wanted *w, nb_error *err)
{
    int n;
    nb_status st;
    memset(w, 0, sizeof *w);
    st = nb_sim_variables(sim, sim->cfg.derivatives, &w->names, &n, err);
    if (!st && !(w->about = nb_alloc((size_t)n, sizeof *w->about, "parameters", err)))
        st = NB_ERR_NOMEM;
    for (int i = 0; i < n && !st; i++) {
        st = nb_sim_parameter(sim, w->names[i], &w->about[w->count], err);
        if (!strcmp(w->names[i], "F"))
            w->all_F = 1;
        else
            w->list[w->count++] = w->names[i];
    }
    if (!st && w->all_F && !sim->cfg.pullback_file[0])
        st = nb_fail(err, NB_ERR_INPUT,
                     "-derivatives F: all structure factors need a pullback; name one as "
                     "F:1:-2:3, or add -pullback and -gradhkl");
    if (!st && w->all_F != (sim->cfg.gradhkl_file[0] != 0))
        st = nb_fail(err, NB_ERR_INPUT, "%s",
                     w->all_F ? "-derivatives F needs -gradhkl FILE"
                              : "-gradhkl needs F among -derivatives");
    return st;
}

/** Read the slopes of the loss, the file of -pullback, into *data (nb_free). */
static nb_status read_pattern(const nb_sim *sim, char **data, nb_real_type *type,
                              nb_error *err)
{
    const char *path = sim->cfg.pullback_file;
    const size_t pixels = sim->model.scene.raster.pixels;
    const size_t wide = pixels * sizeof(double);
    size_t bytes;
    nb_status st;
    NB_FORWARD(nb_read_file(path, "-pullback", wide > NB_FILE_MAX ? wide : 0, data,
                            &bytes, err));
    *type = bytes == pixels * sizeof(double) ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32;
    if (*type == NB_REAL_FLOAT32 && bytes != pixels * sizeof(float))
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                        "-pullback has %zu bytes, but %zu pixels are %zu as float32 or "
                        "%zu as float64",
                        bytes, pixels, pixels * sizeof(float), pixels * sizeof(double));
    for (size_t i = 0; i < pixels && !st; i++)
        if (!isfinite(nb_real(*type, *data, i)))
            st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                            "-pullback: pixel %zu is not a finite number", i);
    if (st) {
        nb_free(*data);
        *data = NULL;
    }
    return st;
}

nb_status nb_sim_check_derivatives(const nb_sim *sim, nb_error *err)
{
    wanted w;
    nb_real_type type;
    char *pattern = NULL;
    nb_status st;
    if (!sim->cfg.derivatives[0])
        return NB_OK;
    st = open_wanted(sim, &w, err);
    if (!st && w.all_F)
        st = nb_sim_check_factors(sim, &sim->model,
                                  &(nb_variable_name){.kind = NB_VAR_ALL_F, .name = "F"},
                                  NULL, err);
    NB_TRY(nb_sim_check_held(sim, w.list, w.count, err));
    free_wanted(&w);
    if (!st && sim->cfg.pullback_file[0])
        st = read_pattern(sim, &pattern, &type, err);
    nb_free(pattern);
    return st;
}

/** Refuse the plane of a parameter if a number is not finite.  Errors: NB_ERR_INPUT. */
static nb_status check_plane(const char *name, nb_real_type type, const void *planes,
                             size_t pixels, size_t plane, nb_error *err)
{
    for (size_t i = plane * pixels; i < (plane + 1) * pixels; i++)
        if (!isfinite(nb_real(type, planes, i)))
            return nb_fail(
                err, NB_ERR_INPUT,
                "the derivative by %s is not finite at pixel %zu: a value of the "
                "scene is too large, or too close to 0",
                name, i - plane * pixels);
    return NB_OK;
}

static nb_status write_planes(nb_sim *sim, const wanted *w, const char *path,
                              nb_error *err)
{
    const nb_raster *raster = &sim->model.scene.raster;
    const nb_real_type type = sim->cfg.deriv_type;
    const size_t size = type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double);
    nb_slope_file file = {.about = w->about,
                          .count = w->count,
                          .fast = sim->model.flat.raster.columns,
                          .slow = sim->model.flat.raster.rows,
                          .type = type};
    void *planes =
        nb_alloc_raw(raster->pixels * size, (size_t)w->count, "derivatives", err);
    float *image = nb_alloc_raw(raster->pixels, sizeof *image, "image", err);
    nb_status st = planes && image ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(nb_sim_derivatives(sim, w->list, w->count, type, planes, image, err));
    for (int i = 0; i < w->count && !st; i++)
        st = check_plane(w->list[i], type, planes, raster->pixels, (size_t)i, err);
    file.planes = planes;
    file.image = image;
    NB_TRY(nb_slopes_write(path, &file, err));
    nb_free(planes);
    nb_free(image);
    return st;
}

static int64_t rendered_pixels(const nb_scene *sc)
{
    int64_t n = 0;
    if (!sc->raster.mask)
        return (int64_t)nb_rendered_pixels(sc);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, p);
        for (int s = r.smin; s <= r.smax; s++)
            for (int f = r.fmin; f <= r.fmax; f++)
                n += sc->raster.mask[nb_panel_pixel(p, f, s)] != 0;
    }
    return n;
}

static nb_status write_gradient(const nb_sim *sim, const wanted *w,
                                const double *gradient, nb_error *err)
{
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    const nb_json values = nb_json_object(root, "gradient"),
                  units = nb_json_object(root, "unit");
    char *text;
    nb_status st;
    for (int i = 0; i < w->count; i++) {
        nb_json_number(values, w->list[i], gradient[i]);
        nb_json_text(units, w->list[i], w->about[i].unit);
    }
    nb_json_whole(root, "loss_pixels", rendered_pixels(&sim->model.scene));
    NB_FORWARD(nb_json_print(root, "the gradient", &text, err));
    st = nb_outfile_put(sim->cfg.grad_file, text, strlen(text), err);
    nb_free(text);
    return st;
}

static nb_status write_gradient_of_F(const char *path, const nb_hkl_gradient *F,
                                     nb_error *err)
{
    nb_draft t = {0};
    nb_status st;
    for (size_t i = 0; i < F->count; i++) {
        char number[NB_TEXT_NUMBER];
        nb_text_format(F->gradient[i], number);
        nb_draft_put(&t, "%d %d %d %s\n", (int)F->hkl[i][0], (int)F->hkl[i][1],
                     (int)F->hkl[i][2], number);
    }
    st = t.failed ? nb_fail_memory(err, t.room, "gradient of F")
                  : nb_outfile_put(path, t.data, t.n, err);
    nb_free(t.data);
    return st;
}

static nb_status pull_back(nb_sim *sim, const wanted *w, nb_error *err)
{
    double gradient[NB_VARIABLES_MAX];
    nb_hkl_gradient F = {0};
    nb_real_type type;
    char *pattern;
    nb_status st;
    NB_FORWARD(read_pattern(sim, &pattern, &type, err));
    st = nb_sim_pullback(sim, w->list, w->count, type, pattern, gradient,
                         w->all_F ? &F : NULL, err);
    nb_free(pattern);
    NB_TRY(write_gradient(sim, w, gradient, err));
    if (!st && w->all_F)
        st = write_gradient_of_F(sim->cfg.gradhkl_file, &F, err);
    nb_hkl_gradient_free(&F);
    return st;
}

nb_status nb_sim_write_slopes(nb_sim *sim, const char *path, nb_error *err)
{
    wanted w;
    nb_status st = open_wanted(sim, &w, err);
    NB_TRY(write_planes(sim, &w, path, err));
    free_wanted(&w);
    return st;
}

nb_status nb_sim_write_derivatives(nb_sim *sim, nb_error *err)
{
    wanted w;
    nb_status st = NB_OK;
    if (!sim->cfg.derivatives[0])
        return NB_OK;
    if (sim->cfg.deriv_file[0])
        st = nb_sim_write_slopes(sim, sim->cfg.deriv_file, err);
    if (st || !sim->cfg.pullback_file[0])
        return st;
    st = open_wanted(sim, &w, err);
    NB_TRY(pull_back(sim, &w, err));
    free_wanted(&w);
    return st;
}
