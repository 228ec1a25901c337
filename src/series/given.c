/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../sim/load.h"
#include "../sim/picture.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/shared.h"
#include "../io/hdf5/hdf5_read.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/panels.h"

/* The name of the file of frame k, into name[NB_PATH_MAX]; returns name. */
static const char *given_name(const nb_given *g, int k, char *name)
{
    if (g->kind == NB_GIVEN_NUMBERED)
        (void)nb_template_name(&g->numbered, g->first + k, name, NULL);
    else
        snprintf(name, NB_PATH_MAX, "%s", g->name);
    return name;
}

/* --- how many --- */

static int is_there(const nb_template *t, int number)
{
    char name[NB_PATH_MAX];
    return !nb_template_name(t, number, name, NULL) && access(name, F_OK) == 0;
}

/** Files from 0 or 1 on, without a gap. */
static nb_status count_files(nb_given *g, const char *input, nb_error *err)
{
    const nb_template *t = &g->numbered;
    char name[NB_PATH_MAX], later[NB_PATH_MAX];
    nb_status st;
    NB_FORWARD(nb_template_read(input, "the input", &g->numbered, err));
    g->first = !is_there(t, 0);
    while (is_there(t, g->first + g->frames))
        g->frames++;
    NB_FORWARD(nb_template_name(t, g->first + g->frames, name, err));
    if (!g->frames)
        return nb_fail(
            err, NB_ERR_INPUT,
            "the input %.300s: there is no file %.300s; the numbers begin at 0 "
            "or 1",
            input, name);
    if (nb_template_later(t, g->first + g->frames, later))
        return nb_fail(err, NB_ERR_INPUT,
                       "the input %.300s: %.300s is missing, but there is %.300s", input,
                       name, later);
    return NB_OK;
}

static nb_status count_frames(nb_given *g, const char *input, nb_error *err)
{
    int frame;
    if (!nb_hdf5_frame_of(input, g->name, &frame)) {
        if (strchr(input, '%')) {
            g->kind = NB_GIVEN_NUMBERED;
            return count_files(g, input, err);
        }
        snprintf(g->name, sizeof g->name, "%s", input);
        g->frames = 1;
        return NB_OK;
    }
    g->kind = NB_GIVEN_HDF5;
    if (strcmp(g->name, input) == 0)
        return nb_hdf5_count_frames(g->name, g->plain.max_read_MB, &g->frames, err);
    g->first = frame;
    g->frames = 1;
    return NB_OK;
}

/** What a caller asks for must be what is there. */
static nb_status check_count(const nb_given *g, const nb_series *s, nb_error *err)
{
    const int asked = s->frames + s->stills;
    if (asked > 0 && asked != g->frames)
        return nb_fail(err, NB_ERR_INPUT,
                       "the input %.300s has %d frame%s, but %d are asked for; leave "
                       "the number out",
                       s->input, g->frames, g->frames == 1 ? "" : "s", asked);
    return NB_OK;
}

/* --- what is rendered --- */

static int has_background(const nb_config *cfg)
{
    return nb_config_has_background(cfg) || cfg->water_um > 0;
}

/** A crystal without photons stands where a scene must have one. */
static nb_status leave_crystal_out(nb_config *cfg, nb_error *err)
{
    const char *typed = cfg->cell_count > 0              ? "-cell"
                        : cfg->mat_file[0]               ? "-mat"
                        : cfg->hkl_file[0]               ? "-hkl"
                        : nb_config_has_factor_file(cfg) ? "a file of the crystal"
                        : NB_GIVEN(cfg, default_F)       ? "-default_F"
                        : cfg->truth != NB_TRUTH_NONE    ? "-truth"
                        : cfg->derivatives[0]            ? "-derivatives"
                                                         : NULL;
    if (typed)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s with an input: its photons are given, and no crystal is "
                       "rendered; leave it out",
                       typed);
    cfg->cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg->cell[i] = i < 3 ? 100 : 90;
    for (int i = 0; i < 3; i++)
        cfg->N[i] = 1;
    cfg->default_F = 0;
    cfg->precision = NB_PRECISION_DOUBLE; /* counts belong to the pixels as they are */
    cfg->write_noise = 1;
    return nb_text_put(&cfg->device, "cpu", err);
}

/** A background is on an absolute scale: nothing of it is guessed. */
static nb_status check_background(const nb_given *g, unsigned open, nb_error *err)
{
    static const struct {
        unsigned field;
        const char *flag;
    } needs[] = {{NB_OPEN_DISTANCE, "-distance"},
                 {NB_OPEN_PIXEL, "-pixel"},
                 {NB_OPEN_WAVELENGTH, "-lambda"}};
    const nb_config *cfg = &g->cfg;
    char line[120] = "";
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (open & needs[i].field)
            snprintf(line + strlen(line), sizeof line - strlen(line), " %s",
                     needs[i].flag);
    if (!NB_GIVEN(cfg, fluence) && !(cfg->flux > 0))
        snprintf(line + strlen(line), sizeof line - strlen(line), " -fluence");
    else if (cfg->flux > 0 && !NB_GIVEN(cfg, beamsize_mm))
        snprintf(line + strlen(line), sizeof line - strlen(line), " -beamsize");
    if (!line[0] || !has_background(cfg))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "the background needs what the input %.300s does not give: type%s",
                   g->series.input, line);
}

/** The header of the first image completes the configuration. */
static nb_status take_header(nb_given *g, const nb_hooks *hooks, nb_error *err)
{
    nb_config *cfg = &g->cfg;
    char name[NB_PATH_MAX + 16];
    unsigned fields = 0, open;
    nb_image image = {0};
    nb_status st;
    given_name(g, 0, name);
    if (g->kind == NB_GIVEN_HDF5)
        snprintf(name + strlen(name), 16, ":%d", g->first);
    if (g->size[0]) {
        cfg->detpixels[0] = g->size[0];
        cfg->detpixels[1] = g->size[1];
    }
    NB_FORWARD(nb_image_load(name, "the input", hooks, cfg, &image, &fields, err));
    if (nb_image_format_is_plain(image.format))
        fields = NB_OPEN_DISTANCE | NB_OPEN_PIXEL | NB_OPEN_CENTRE | NB_OPEN_WAVELENGTH;
    if (g->kind == NB_GIVEN_ONE) /* it may be a pipe */
        g->image = image;
    else
        nb_image_free(&image);
    open = fields & nb_header_open(cfg);
    NB_FORWARD(check_background(g, open, err));
    nb_header_say_open(cfg, fields, "the input", g->series.input, hooks);
    return NB_OK;
}

/** An HDF5 file of several panels is the detector, unless another file is. */
static nb_status find_detector(nb_given *g, const nb_hooks *hooks, nb_error *err)
{
    nb_image panels = {0};
    nb_status st = NB_OK;
    if (!nb_config_geometry_flag(&g->cfg) && !g->cfg.detector && g->kind == NB_GIVEN_HDF5) {
        st = nb_image_find_panels(g->name, NULL, &panels, err);
        if (!st && panels.detector)
            st = nb_text_put(&g->cfg.nxmx_file, g->name, err);
        nb_image_free(&panels);
    }
    if (st)
        return st;
    if (nb_config_geometry_flag(&g->cfg) || g->cfg.detector)
        return check_background(g, 0, err);
    return take_header(g, hooks, err);
}

nb_status nb_given_open(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_given **given, nb_error *err)
{
    nb_given *g = *given = nb_alloc(1, sizeof *g, "input of a series", err);
    nb_status st = g ? NB_OK : NB_ERR_NOMEM;
    if (st || !(g->reader = nb_alloc(1, sizeof *g->reader, "reader of HDF5", err)))
        return NB_ERR_NOMEM;
    nb_config_copy(&g->cfg, cfg);
    g->series = *series;
    g->size[0] = series->input_size[0];
    g->size[1] = series->input_size[1];
    g->unit = series->input_unit > 0 ? series->input_unit : 1;
    g->pedestal = series->input_pedestal_set ? series->input_pedestal : NAN;
    nb_config_defaults(&g->plain);
    g->plain.max_read_MB = cfg->max_read_MB;
    if (series->resume)
        return nb_fail(err, NB_ERR_INPUT,
                       "-resume with an input: such a series is made in one go");
    if ((st = nb_config_check(cfg, err)) || (st = count_frames(g, series->input, err)) ||
        (st = check_count(g, series, err)) || (st = leave_crystal_out(&g->cfg, err)) ||
        (st = find_detector(g, hooks, err)))
        return st;
    g->series.frames = g->cfg.osc_deg > 0 ? g->frames : 0;
    g->series.stills = g->frames - g->series.frames;
    return NB_OK;
}

void nb_given_free(nb_given *g)
{
    if (!g)
        return;
    nb_hdf5_reader_free(g->reader);
    nb_config_drop(&g->cfg);
    nb_image_free(&g->image);
    nb_free(g->background);
    nb_free(g);
}

/* --- one frame --- */

/** *in is the image; own holds it when it is read now.  with_mask: of the HDF5 file, too. */
static nb_status read_image(const nb_given *g, int k, int with_mask, nb_image *own,
                            const nb_image **in, nb_error *err)
{
    char name[NB_PATH_MAX];
    *in = g->image.pixels ? &g->image : own;
    if (g->image.pixels)
        return NB_OK;
    given_name(g, k, name);
    if (g->kind == NB_GIVEN_HDF5) {
        const nb_hdf5_wanted wanted = {
            name, g->first + k, with_mask, g->plain.max_read_MB, NULL, g->reader};
        return nb_hdf5_read_image(&wanted, own, err);
    }
    return nb_image_read(name, g->size[0], g->size[1], &g->plain, own, err);
}

/** Where the panels of the detector lie in the image. */
static nb_status find_panels(const nb_sim *sim, const nb_image *image, const char *name,
                             nb_panel_pixels *where, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *p = sc->panels;
    int fits;
    if (sim->cfg.detector) {
        fits = nb_panels_in_image(sim->cfg.detector, image, where);
    } else {
        where[0] = (nb_panel_pixels){image->pixels, (size_t)image->fast};
        fits = image->fast == p->columns && image->slow == p->rows;
    }
    if (fits)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "it has %d x %d pixels, and the detector of the first frame or of "
                      "its file has others",
                      image->fast, image->slow);
}

/** Convert a row of the image to photons; pixels of left_out (may be NULL) are 0. */
static void take_row(const float *from, const uint8_t *left_out, int n, double unit,
                     double pedestal, float *to)
{
    if (unit == 1 && pedestal == 0)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int i = 0; i < n; i++)
            to[i] = (float)((from[i] - pedestal) * unit);
    for (int i = 0; left_out && i < n; i++)
        to[i] = left_out[i] ? 0 : to[i];
}

/** The first pixel of a row that is not finite, or n. */
static int find_bad(const float *row, int n)
{
    int bad = n;
    for (int i = n; i-- > 0;)
        bad = isfinite(row[i]) ? bad : i;
    return bad;
}

/** The rendered pixels of a row: with background, and 0 elsewhere. */
static void finish_row(const nb_scene *sc, const nb_region *r, int row, size_t first,
                       int columns, const float *background, float *to)
{
    const uint8_t *mask = sc->raster.mask ? sc->raster.mask + first : NULL;
    const int inside = row >= r->smin && row <= r->smax;
    if (background)
        for (int i = 0; i < columns; i++)
            to[i] += background[first + (size_t)i];
    if (!mask && inside && r->fmin == 0 && r->fmax == columns - 1)
        return;
    for (int i = 0; i < columns; i++)
        if (!inside || i < r->fmin || i > r->fmax || (mask && !mask[i]))
            to[i] = 0;
}

/** What an image marks in a row of a panel; NULL: nothing. */
static const uint8_t *marks_of(const nb_image *in, const nb_panel_pixels *from, int row)
{
    return in->left_out
               ? in->left_out + (from->first - in->pixels) + (size_t)row * from->stride
               : NULL;
}

static nb_status take_panel(const nb_given *g, const nb_scene *sc, int number,
                            const nb_panel_pixels *from, const nb_image *in, float *image,
                            int bad[2])
{
    const nb_panel *p = &sc->panels[number];
    const double pedestal = nb_said_or(g->pedestal, in->pedestal);
    const nb_region r = nb_panel_region(sc, p);
    for (int j = 0; j < p->rows; j++) {
        const size_t first = nb_panel_pixel(p, 0, j);
        int i;
        take_row(from->first + (size_t)j * from->stride, marks_of(in, from, j),
                 p->columns, g->unit, pedestal, image + first);
        finish_row(sc, &r, j, first, p->columns, g->background, image + first);
        i = find_bad(image + first, p->columns);
        if (i < p->columns) {
            bad[0] = i;
            bad[1] = j;
            return NB_ERR_INPUT;
        }
    }
    return NB_OK;
}

nb_status nb_given_frame(const nb_given *g, int k, const nb_sim *sim, float *image,
                         nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    nb_panel_pixels *where = nb_alloc((size_t)sc->n_panels, sizeof *where, "panels", err);
    char name[NB_PATH_MAX];
    nb_image own = {0};
    const nb_image *in;
    int bad[2];
    nb_status st = where ? read_image(g, k, 0, &own, &in, err) : NB_ERR_NOMEM;
    given_name(g, k, name);
    NB_TRY(find_panels(sim, in, name, where, err));
    for (int i = 0; !st && i < sc->n_panels; i++) {
        st = take_panel(g, sc, i, &where[i], in, image, bad);
        if (st)
            st = nb_fail_at(err, st, name, 0,
                            "frame %d, panel %d: pixel %d %d (fast slow) is not a "
                            "finite number",
                            k + 1, i, bad[0], bad[1]);
    }
    nb_image_free(&own);
    nb_free(where);
    return st;
}

/* --- before the first frame --- */

/** The pixels that the first image leaves out are masked, as those of -mask. */
static nb_status take_mask(nb_sim *base, const nb_image *in, const nb_panel_pixels *where,
                           nb_error *err)
{
    const nb_scene *sc = &base->model.scene;
    const size_t n = sc->raster.pixels;
    uint8_t *mask = nb_shared_new(n, NULL, "mask", err);
    if (!mask)
        return NB_ERR_NOMEM;
    if (sc->raster.mask)
        memcpy(mask, sc->raster.mask, n);
    else
        memset(mask, 1, n);
    for (int k = 0; k < sc->n_panels; k++)
        for (int j = 0; j < sc->panels[k].rows; j++) {
            const uint8_t *marks = marks_of(in, &where[k], j);
            uint8_t *to = mask + sc->panels[k].first_pixel +
                          (size_t)j * (size_t)sc->panels[k].columns;
            for (int i = 0; i < sc->panels[k].columns; i++)
                to[i] = to[i] && !marks[i];
        }
    nb_shared_drop(base->in.marked);
    base->in.marked = mask;
    return nb_sim_build_again(base, err);
}

/** By the first image. */
static nb_status find_mask(const nb_given *g, nb_sim *base, nb_error *err)
{
    nb_panel_pixels *where =
        nb_alloc((size_t)base->model.scene.n_panels, sizeof *where, "panels", err);
    char name[NB_PATH_MAX];
    nb_image own = {0};
    const nb_image *in;
    nb_status st = where ? read_image(g, 0, 1, &own, &in, err) : NB_ERR_NOMEM;
    NB_TRY(find_panels(base, in, given_name(g, 0, name), where, err));
    if (!st && in->left_out)
        st = take_mask(base, in, where, err);
    nb_image_free(&own);
    nb_free(where);
    return st;
}

nb_status nb_given_prepare(nb_given *g, nb_sim *base, nb_error *err)
{
    nb_status st;
    if (!g->size[0] &&
        !g->cfg.detector) /* only floats without a header take it; an image of panels may have gaps */
        nb_sim_size(base, &g->size[0], &g->size[1]);
    st = find_mask(g, base, err);
    if (st || !has_background(&g->cfg))
        return st;
    g->background = nb_alloc_raw(base->model.scene.raster.pixels, sizeof *g->background,
                                 "background", err);
    return g->background ? nb_sim_render(base, g->background, NULL, err) : NB_ERR_NOMEM;
}
