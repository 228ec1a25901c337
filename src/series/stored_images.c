/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../inputs/load.h"
#include "../outputs/picture.h"
#include "../outputs/write.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/text.h"
#include "../io/hdf5/hdf5_read.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/panels.h"

/* --- number of frames --- */

static int is_there(const nb_template *t, int number)
{
    char name[NB_PATH_MAX];
    return !nb_template_name(t, number, name, NULL) && access(name, F_OK) == 0;
}

/** Count the files numbered from 0 or 1 on. A missing number is an error. */
static nb_status count_files(nb_stored_images *g, const char *input, nb_error *err)
{
    nb_template *t = &g->files;
    char name[NB_PATH_MAX], later[NB_PATH_MAX];
    nb_status st;
    NB_FORWARD(nb_template_read(input, "the input", t, err));
    t->first = !is_there(t, 0);
    while (is_there(t, g->frames))
        g->frames++;
    NB_FORWARD(nb_template_name(t, g->frames, name, err));
    if (!g->frames)
        return nb_fail(
            err, NB_ERR_INPUT,
            "the input %.300s: there is no file %.300s; the numbers begin at 0 "
            "or 1",
            input, name);
    if (nb_template_later(t, g->frames, later))
        return nb_fail(err, NB_ERR_INPUT,
                       "the input %.300s: %.300s is missing, but there is %.300s", input,
                       name, later);
    return NB_OK;
}

static nb_status count_frames(nb_stored_images *g, const char *input, nb_error *err)
{
    g->files.is_name = 1;
    g->hdf5 = nb_hdf5_frame_of(input, g->files.before, &g->first);
    if (!g->hdf5 && strchr(input, '%'))
        return count_files(g, input, err);
    if (g->hdf5 && strcmp(g->files.before, input) == 0) {
        g->first = 0;
        g->whole = 1;
        return nb_hdf5_count_frames(input, &g->frames, err);
    }
    if (!g->hdf5)
        snprintf(g->files.before, sizeof g->files.before, "%s", input);
    g->frames = 1;
    return NB_OK;
}

/* --- configuration --- */

static int has_background(const nb_config *cfg)
{
    return nb_config_has_background(cfg) || cfg->water_um > 0;
}

/** Set a crystal that scatters no photons, because a scene must have a crystal. */
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
    /* double precision keeps the photons of a pixel exact */
    cfg->precision = NB_PRECISION_DOUBLE;
    cfg->write_noise = 1;
    return nb_text_put(&cfg->device, "cpu", err);
}

/** Check that all values that set the absolute scale of a background are known. */
static nb_status check_background(const nb_stored_images *g, unsigned open, nb_error *err)
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

/* --- the geometry of each frame --- */

/** Name image k, from 0, in messages and for readers of headers. */
static void image_name(const nb_stored_images *g, int k, char name[NB_PATH_MAX + 16])
{
    (void)nb_template_name(&g->files, k, name, NULL);
    if (g->hdf5)
        snprintf(name + strlen(name), 16, ":%d", g->first + k);
}

/** The next flag after p that headers set, and whose value in frame k is not that of the
 * first frame; NULL at the end. */
static const nb_param *next_other(const nb_stored_images *g, int k, const nb_param *p)
{
    const int panels = nb_config_geometry_flag(&g->cfg) || g->cfg.detector;
    const unsigned fixed = panels ? NB_PARAM_PLACES | NB_PARAM_REPLACED : 0;
    while ((p = nb_param_next(p, NB_PARAM_PIXELS)))
        if (!(p->flags & (fixed | NB_PARAM_SERIES)) &&
            !nb_param_same(p, &g->rows[k], &g->rows[0]))
            return p;
    return NULL;
}

/** Write the values of the header of frame k into the record of the frame; a function
 * nb_frames.override. */
static nb_status change_frame(void *user, int k, nb_config *cfg, nb_error *err)
{
    const nb_stored_images *g = user;
    (void)err;
    for (const nb_param *p = NULL; (p = next_other(g, k, p));)
        nb_param_copy(p, cfg, &g->rows[k]);
    return NB_OK;
}

void nb_stored_vary(nb_stored_images *g, nb_frames *f)
{
    f->override = g->differ ? change_frame : NULL;
    f->user = g;
}

/** Compare image k with the frame that follows from the first image and -osc. */
static void compare_row(nb_stored_images *g, int k)
{
    const double phi = NB_VALUE(&g->rows[0], phi_deg), osc = g->cfg.osc_deg;
    for (const nb_param *p = NULL; (p = next_other(g, k, p));) {
        const int phi_alone = NB_IS(p, phi_deg);
        g->differ |= !phi_alone || g->rows[k].phi_deg != nb_typeable(phi + k * osc);
        g->moves |= !phi_alone && !NB_IS(p, osc_deg) && !(p->flags & NB_PARAM_CRYSTAL);
    }
}

/** Complete row k from the header of image k. said: geometry of an HDF5 file. */
static nb_status read_row(nb_stored_images *g, int k, const nb_hdf5_geometry *said,
                          nb_error *err)
{
    char name[NB_PATH_MAX];
    nb_opened_image in = {.format = NB_FORMAT_HDF5};
    nb_header_found found;
    (void)nb_template_name(&g->files, k, name, NULL);
    if (!g->hdf5)
        return nb_image_take_header(name, "the input", &g->rows[k], err);
    in.file.name = name;
    in.said = said[k];
    return nb_header_apply(&in, "the input", NULL, &g->rows[k], &found, err);
}

/** Read the headers of all images. typed: the configuration without a header. */
static nb_status read_rows(nb_stored_images *g, const nb_config *typed, nb_error *err)
{
    const size_t n = (size_t)g->frames;
    nb_hdf5_geometry *said = NULL;
    int differ = 1;
    nb_status st = NB_OK;
    if (g->frames == 1)
        return NB_OK;
    g->rows = nb_configs_new(n, err);
    if (!g->rows || !(said = nb_alloc(n, sizeof *said, "geometry", err)))
        return NB_ERR_NOMEM;
    if (g->hdf5)
        st = nb_hdf5_read_geometry(g->files.before, g->frames, g->truth, said, &differ,
                                   err);
    for (int k = 0; !st && differ && k < g->frames; k++) {
        nb_config_copy(&g->rows[k], typed);
        st = read_row(g, k, said, err);
        memcpy(g->rows[k].detpixels, g->cfg.detpixels, sizeof g->cfg.detpixels);
        if (!st)
            compare_row(g, k);
    }
    nb_free(said);
    return st;
}

/** Complete the configuration from the header of the first image. */
static nb_status take_header(nb_stored_images *g, const nb_hooks *hooks, nb_error *err)
{
    nb_config *cfg = &g->cfg;
    char name[NB_PATH_MAX + 16];
    unsigned fields = 0, open;
    nb_image image = {0};
    nb_status st;
    image_name(g, 0, name);
    if (g->size[0])
        memcpy(cfg->detpixels, g->size, sizeof cfg->detpixels);
    NB_FORWARD(nb_image_load(name, "the input", hooks, cfg, &image, &fields, err));
    if (nb_image_format_is_plain(image.format))
        fields = NB_OPEN_DISTANCE | NB_OPEN_PIXEL | NB_OPEN_CENTRE | NB_OPEN_WAVELENGTH;
    /* keep the image, because a pipe can be read only once */
    if (g->files.is_name && !g->hdf5)
        g->image = image;
    else
        nb_image_free(&image);
    open = fields & nb_header_open(cfg);
    NB_FORWARD(check_background(g, open, err));
    nb_header_say_open(cfg, fields, "the input", g->series.input, hooks);
    return NB_OK;
}

/** Take an HDF5 file of several panels as detector, unless a flag names another one. */
static nb_status find_detector(nb_stored_images *g, const nb_hooks *hooks, nb_error *err)
{
    NB_OWN_CONFIG typed = {0};
    const char *file = g->files.before;
    nb_image panels = {0};
    nb_status st = NB_OK;
    nb_config_copy(&typed, &g->cfg);
    if (!nb_config_geometry_flag(&g->cfg) && !g->cfg.detector && g->hdf5) {
        st = nb_image_find_panels(file, NULL, &panels, err);
        if (!st && panels.detector)
            st = nb_text_put(&g->cfg.nxmx_file, file, err);
        nb_image_free(&panels);
    }
    if (st)
        return st;
    st = nb_config_geometry_flag(&g->cfg) || g->cfg.detector ? check_background(g, 0, err)
                                                             : take_header(g, hooks, err);
    return st ? st : read_rows(g, &typed, err);
}

nb_status nb_stored_open(const nb_config *cfg, const nb_series *series,
                         const nb_hooks *hooks, nb_stored_images **images, nb_error *err)
{
    nb_stored_images *g = *images = nb_alloc(1, sizeof *g, "input of a series", err);
    char file[NB_PATH_MAX];
    nb_status st = g ? NB_OK : NB_ERR_NOMEM;
    if (st || !(g->reader = nb_alloc(1, sizeof *g->reader, "reader of HDF5", err)))
        return NB_ERR_NOMEM;
    nb_config_copy(&g->cfg, cfg);
    g->series = *series;
    memcpy(g->size, series->input_size, sizeof g->size);
    nb_config_defaults(&g->plain);
    NB_FORWARD(nb_config_check(cfg, err));
    NB_FORWARD(count_frames(g, series->input, err));
    NB_FORWARD(leave_crystal_out(&g->cfg, err));
    if (g->hdf5 && !nb_hdf5_set_of(g->files.before, file))
        NB_FORWARD(nb_hdf5_read_rows(file, g->first, g->frames, &g->truth, err));
    NB_FORWARD(find_detector(g, hooks, err));
    g->series.frames = g->cfg.osc_deg > 0 ? g->frames : 0;
    g->series.stills = g->frames - g->series.frames;
    return NB_OK;
}

uint64_t nb_stored_hash(const nb_stored_images *g, uint64_t h)
{
    for (int k = 0; k < (g->hdf5 ? 1 : g->frames); k++) {
        char path[NB_PATH_MAX];
        struct stat s;
        (void)nb_template_name(&g->files, k, path, NULL);
        if (stat(path, &s))
            continue; /* reading this image will fail with a message */
        h = nb_hash_bytes(h, &s.st_size, sizeof s.st_size);
        h = nb_hash_bytes(h, &s.st_mtim, sizeof s.st_mtim);
    }
    return h;
}

void nb_stored_free(nb_stored_images *g)
{
    if (!g)
        return;
    nb_hdf5_reader_free(g->reader);
    nb_configs_free(g->rows, g->rows ? (size_t)g->frames : 0);
    nb_free(g->truth);
    nb_config_drop(&g->cfg);
    nb_image_free(&g->image);
    nb_free(g->background);
    nb_free(g);
}

/* --- one frame --- */

/** A stored image, and the positions in it of the detector's panels. */
typedef struct stored {
    nb_image own;           /* owned; image of a file that is read for one frame */
    const nb_image *image;  /* `own`, or the image of the single file */
    nb_panel_pixels *where; /* owned; position of each panel in the image */
    char name[NB_PATH_MAX];
} stored;

static void close_stored(stored *s)
{
    nb_image_free(&s->own);
    nb_free(s->where);
}

/** Read frame k; with_mask: read also its mask from HDF5. Call close_stored, after an
 * error too. */
static nb_status open_stored(const nb_stored_images *g, int k, int with_mask,
                             const nb_sim *sim, stored *s, nb_error *err)
{
    const nb_panel *first = sim->model.scene.panels;
    const nb_hdf5_wanted wanted = {s->name, g->first + k, with_mask, NULL, g->reader};
    int fits;
    nb_status st = NB_OK;
    memset(s, 0, sizeof *s);
    s->image = g->image.pixels ? &g->image : &s->own;
    s->where =
        nb_alloc((size_t)sim->model.scene.n_panels, sizeof *s->where, "panels", err);
    if (!s->where)
        return NB_ERR_NOMEM;
    (void)nb_template_name(&g->files, k, s->name, NULL);
    if (s->image == &s->own)
        st = g->hdf5
                 ? nb_hdf5_read_image(&wanted, &s->own, err)
                 : nb_image_read(s->name, g->size[0], g->size[1], &g->plain, &s->own, err);
    if (st)
        return st;
    s->where[0] = (nb_panel_pixels){s->image->pixels, (size_t)s->image->fast};
    fits = sim->cfg.detector
               ? nb_panels_in_image(sim->cfg.detector, s->image, s->where)
               : s->image->fast == first->columns && s->image->slow == first->rows;
    if (fits)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, s->name, 0,
                      "it has %d x %d pixels, and the detector of the first frame or of "
                      "its file has others",
                      s->image->fast, s->image->slow);
}

/** Marks (1: unused pixel) of an image in a row of a panel, or NULL without marks. */
static const uint8_t *marks_of(const stored *s, int panel, int row)
{
    const nb_image *in = s->image;
    const nb_panel_pixels *from = &s->where[panel];
    return in->left_out
               ? in->left_out + (from->first - in->pixels) + (size_t)row * from->stride
               : NULL;
}

/** Add the photons of row j of a panel to the background in image. Pixels that are not
 * rendered become 0; marked pixels get only the background. Returns the first pixel that
 * is not finite, or the number of columns. */
static int take_row(const nb_stored_images *g, const nb_scene *sc, int panel, int j,
                    const stored *s, float *image)
{
    const nb_panel *p = &sc->panels[panel];
    const nb_region r = nb_panel_region(sc, p);
    const size_t at = nb_panel_pixel(p, 0, j);
    const float *from = s->where[panel].first + (size_t)j * s->where[panel].stride;
    const uint8_t *marks = marks_of(s, panel, j);
    const uint8_t *mask = sc->raster.mask ? sc->raster.mask + at : NULL;
    const double unit = g->series.input_unit > 0 ? g->series.input_unit : 1,
                 pedestal = g->series.input_pedestal_set ? g->series.input_pedestal
                                                         : s->image->pedestal;
    const int inside = j >= r.smin && j <= r.smax;
    int bad = p->columns;
    for (int i = 0; i < p->columns; i++) {
        float x = marks && marks[i] ? 0 : (float)((from[i] - pedestal) * unit);
        x += image[at + (size_t)i];
        if (!inside || i < r.fmin || i > r.fmax || (mask && !mask[i]))
            x = 0;
        image[at + (size_t)i] = x;
        if (!isfinite(x) && bad == p->columns)
            bad = i;
    }
    return bad;
}

/** Put the background of the frame of sim into image. */
static nb_status put_background(const nb_stored_images *g, nb_sim *sim, float *image,
                                nb_error *err)
{
    const size_t bytes = sim->model.scene.raster.pixels * sizeof *image;
    if (!g->background)
        memset(image, 0, bytes);
    else if (g->moves)
        return nb_sim_render(sim, image, NULL, err);
    else
        memcpy(image, g->background, bytes);
    return NB_OK;
}

nb_status nb_stored_frame(const nb_stored_images *g, int k, nb_sim *sim, float *image,
                          nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    stored s;
    nb_status st = open_stored(g, k, 0, sim, &s, err);
    NB_TRY(put_background(g, sim, image, err));
    for (int i = 0; !st && i < sc->n_panels; i++)
        for (int j = 0; !st && j < sc->panels[i].rows; j++) {
            const int bad = take_row(g, sc, i, j, &s, image);
            if (bad < sc->panels[i].columns)
                st = nb_fail_at(err, NB_ERR_INPUT, s.name, 0,
                                "frame %d, panel %d: pixel %d %d (fast slow) is not a "
                                "finite number",
                                k + 1, i, bad, j);
        }
    close_stored(&s);
    return st;
}

nb_hdf5_frame nb_stored_truth(const nb_stored_images *g, int k, const nb_sim *sim)
{
    nb_hdf5_frame unknown;
    nb_hdf5_forget(&unknown);
    return nb_sim_truth(sim, !g ? NULL : g->truth ? &g->truth[k] : &unknown);
}

/* --- before the first frame --- */

/** Mask the pixels that the first image marks as unused, as -mask does. */
static nb_status take_mask(nb_sim *base, const stored *s, nb_error *err)
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
            const uint8_t *marks = marks_of(s, k, j);
            uint8_t *to = mask + nb_panel_pixel(&sc->panels[k], 0, j);
            for (int i = 0; i < sc->panels[k].columns; i++)
                to[i] = to[i] && !marks[i];
        }
    nb_shared_drop(base->in.marked);
    base->in.marked = mask;
    return nb_sim_build_again(base, err);
}

nb_status nb_stored_prepare(nb_stored_images *g, nb_sim *base, nb_error *err)
{
    stored s;
    nb_status st;
    if (!g->size[0] && !g->cfg.detector) /* a file of floats without a header needs it */
        nb_sim_size(base, &g->size[0], &g->size[1]);
    st = open_stored(g, 0, 1, base, &s, err);
    if (!st && s.image->left_out)
        st = take_mask(base, &s, err);
    close_stored(&s);
    if (st || !has_background(&g->cfg))
        return st;
    g->background = nb_alloc_raw(base->model.scene.raster.pixels, sizeof *g->background,
                                 "background", err);
    return g->background ? nb_sim_render(base, g->background, NULL, err) : NB_ERR_NOMEM;
}
