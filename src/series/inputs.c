/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/hash.h"
#include "../base/memory.h"
#include "../io/hdf5/hdf5_read.h"
#include "../model/scene_build.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../sim/factors.h"
#include "../sim/write.h"
#include "earlier.h"
#include "frames.h"

/* Input files of a single frame, which the series does not have. */

enum { BLOCK = 1 << 16 };

/** The name of the file that row i of the table reads for one image; NULL: it reads none. */
static const char *input_at(const nb_config *cfg, size_t i)
{
    const nb_param *row = &nb_params(NULL)[i];
    if (row->kind != NB_KIND_FILE || !(row->flags & NB_PARAM_INPUT) ||
        row->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW))
        return NULL;
    return (const char *)cfg + row->offset;
}

/** Do both read the same file of -crystals, or none? */
static int same_crystals(const nb_config *a, const nb_config *b)
{
    int n;
    return strcmp(a->crystals, b->crystals) == 0 ||
           (nb_crystals_kind_of(a->crystals, &n) != NB_CRYSTALS_FILE &&
            nb_crystals_kind_of(b->crystals, &n) != NB_CRYSTALS_FILE);
}

int nb_same_inputs(const nb_config *a, const nb_config *b)
{
    size_t n;
    nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (input_at(a, i) && strcmp(input_at(a, i), input_at(b, i)) != 0)
            return 0;
    return strcmp(a->background, b->background) == 0 && same_crystals(a, b) &&
           (strcmp(a->spectrum, b->spectrum) == 0 ||
            (!nb_spectrum_is_file(a->spectrum) && !nb_spectrum_is_file(b->spectrum))) &&
           nb_config_same_factors(a, b);
}

/** Fill block[BLOCK] up to the end of the file; < 0: it cannot be read. */
static ssize_t read_block(int fd, unsigned char *block)
{
    size_t used = 0;
    while (used < BLOCK) {
        ssize_t n = read(fd, block + used, BLOCK - used);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

/** Continue a hash with the contents of a file. A pipe is not read, because it can be read
 * only once. A missing file counts as an empty one; no frame can be made with it. */
static uint64_t hash_file(uint64_t h, const char *path)
{
    unsigned char block[BLOCK];
    struct stat file;
    ssize_t n = BLOCK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return nb_hash_bytes(h, "", 0);
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        n = 0;
    while (n == BLOCK && (n = read_block(fd, block)) > 0)
        h = nb_hash_bytes(h, block, (size_t)n);
    close(fd);
    return h;
}

/** The name of the file of row i that the frame reads and the series does not; NULL: there is none. */
static const char *own_input(const nb_config *cfg, const nb_config *base, size_t i)
{
    const char *mine = input_at(cfg, i);
    int cache_not_read =
        mine == cfg->dump_file && (cfg->hkl_file[0] || nb_config_has_factor_file(cfg));
    return mine && mine[0] && !cache_not_read && strcmp(mine, input_at(base, i)) != 0
               ? mine
               : NULL;
}

/* The first input file, from row *i of the table of parameters on, that cfg names and base does not:
 * *i becomes its row.  Returns 0 when there is no such file. */
static int nb_own_input(const nb_config *cfg, const nb_config *base, size_t *i,
                        const char **flag, const char **path)
{
    size_t n;
    const nb_param *rows = nb_params(&n);
    for (; *i < n; ++*i)
        if ((*path = own_input(cfg, base, *i))) {
            *flag = rows[*i].name;
            return 1;
        }
    return 0;
}

uint64_t nb_own_inputs(const nb_config *cfg, const nb_config *base)
{
    const char *flag, *path;
    uint64_t h = 0;
    for (size_t i = 0; nb_own_input(cfg, base, &i, &flag, &path); i++)
        h = hash_file(nb_hash_bytes(h ? h : NB_HASH_START, flag, strlen(flag)), path);
    return h;
}

void nb_own_input_names(const nb_config *cfg, const nb_config *base, char *names,
                        size_t size)
{
    const char *flag, *path;
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; used < size && nb_own_input(cfg, base, &i, &flag, &path); i++)
        used += (size_t)snprintf(names + used, size - used, "%s%.100s", used ? ", " : "",
                                 path);
}

/* How far the frames of a series see, so that one table of structure factors serves all. */

/** Can frames see farther than the base? */
static int reaches_differ(const nb_frames *f)
{
    const nb_series *s = f->series;
    return s->override || f->vary.n || f->spectra.count || f->stream.images ||
           s->jitter_lambda_pct > 0 || s->jitter_cell_pct > 0 || s->jitter_beam_mm > 0;
}

/** Sources of flags, of the spectrum that frame cfg has. */
static nb_status grid_of(const nb_sim *base, const nb_config *cfg, const nb_geometry *g,
                         nb_source **sources, int *n, nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_spectrum spectrum = {0};
    nb_status st =
        nb_spectrum_is_set(all) ? nb_spectrum_of_frame(base, cfg, &spectrum, err) : NB_OK;
    if (!st)
        st = nb_beam_grid(all, g, spectrum.n ? &spectrum : NULL, sources, n, err);
    nb_spectrum_free(&spectrum);
    return st;
}

static nb_status sources_of(const nb_frames *f, int k, const nb_sim *base,
                            const nb_config *cfg, const nb_geometry *g,
                            nb_source **sources, int *n, nb_error *err)
{
    const nb_spectra *s = &f->spectra;
    const nb_source_line *lines = s->count ? s->lines + s->first[k] : base->in.lines;
    *n = s->count ? (int)(s->first[k + 1] - s->first[k]) : base->in.n_lines;
    return lines ? nb_beam_from_list(lines, *n, cfg->compat, sources, err)
                 : grid_of(base, cfg, g, sources, n, err);
}

/** |q| that the detector of this configuration sees. */
static nb_status reach_of(const nb_frames *f, int k, const nb_sim *base,
                          const nb_config *cfg, double *q, nb_error *err)
{
    nb_scene sc = {0};
    nb_source *sources = NULL;
    nb_geometry g;
    nb_detector det = {0};
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_status st;
    if (!(st = nb_geometry_build(all, &g, err)) &&
        !(st = nb_detector_build(all, &g, nb_beam_wavelength(all), NULL, &det, err)) &&
        !(st = sources_of(f, k, base, cfg, &g, &sources, &sc.beam.n_sources, err))) {
        sc.n_panels = det.n_panels;
        sc.panels = det.panels;
        sc.sensors = det.sensors;
        sc.raster = det.raster;
        sc.beam.sources = sources;
        *q = nb_scene_reach(&sc);
        nb_free(sources);
    }
    nb_detector_free(&det);
    return st;
}

/** The crystal of a configuration that names no other files than the base. */
static nb_status crystal_of(const nb_sim *base, const nb_config *cfg, nb_crystal *out,
                            nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_crystal_inputs in = nb_crystal_inputs_of(all, &base->in.matrix, base->seed);
    return nb_crystal_build(all, &in, NULL, out, err);
}

static nb_status limit_of(const nb_frames *f, int k, const nb_sim *base,
                          const nb_config *cfg, double *dmin, nb_error *err)
{
    nb_crystal crystal;
    double q;
    nb_status st = reach_of(f, k, base, cfg, &q, err);
    if (!st)
        st = crystal_of(base, cfg, &crystal, err);
    if (!st)
        *dmin = fmin(*dmin, nb_factor_files_limit(base->in.factors, cfg, q, &crystal));
    return st;
}

nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err)
{
    nb_config cfg;
    double dmin;
    if (!base->in.sums || !reaches_differ(f) ||
        !nb_factor_files_have_limit(base->in.factors, &f->base))
        return NB_OK;
    dmin = base->in.sums->dmin;
    for (int k = 0; k < f->count;
         k++) /* a frame with an error says so when its turn comes */
        for (int m = 0, n = 1; m < n; m++)
            if (!nb_frames_crystal(f, (nb_crystal_at){k, m}, &cfg, NULL) &&
                nb_same_inputs(&cfg, &f->base)) {
                (void)limit_of(f, k, base, &cfg, &dmin, NULL);
                if (cfg.crystals[0] && nb_crystals_count(f->in, &cfg, &n, NULL))
                    n = 0;
            }
    return nb_inputs_make_factors(&base->in, &base->model, dmin, &base->hooks, err);
}

/* All frames of a series, before the first one is made. */

/** Can only some of the frames be wrong? */
static int frames_differ(const nb_frames *f)
{
    return reaches_differ(f) || f->series->jitter_fluence_pct > 0 ||
           f->series->jitter_mosaic_pct > 0;
}

/** Is it a file that can be read?  Otherwise errno says why not. */
static int is_there(const char *path)
{
    struct stat file;
    if (access(path, R_OK) != 0 || stat(path, &file) != 0)
        return 0;
    errno = S_ISDIR(file.st_mode) ? EISDIR : 0;
    return !errno;
}

/** The files that only this frame reads. */
static nb_status check_files(const nb_config *cfg, const nb_config *base, nb_error *err)
{
    const char *flag, *path;
    char name[NB_PATH_MAX];
    int number; /* the name of a frame in an HDF5 file is no file, and is right */
    for (size_t i = 0; nb_own_input(cfg, base, &i, &flag, &path); i++)
        if (!is_there(path) && !nb_hdf5_frame_of(path, name, &number))
            return nb_fail(err, NB_ERR_INPUT, "-%s %s: %s", flag, path, strerror(errno));
    return NB_OK;
}

/** Frame k, whose files may not be loaded; h: its geometry, where *known. */
static nb_status check_frame(const nb_frames *f, int k, const nb_sim *base,
                             const nb_config *cfg, nb_geometry *h, int *known,
                             nb_error *err)
{
    const nb_spectra *s = &f->spectra;
    nb_status st = f->series->override ? nb_config_check(cfg, err) : NB_OK;
    *known = strcmp(cfg->img_file, f->base.img_file) == 0 &&
             strcmp(cfg->mask_file, f->base.mask_file) == 0;
    if (st)
        return st;
    if (nb_same_inputs(cfg, &f->base))
        st = nb_sim_check_config(base, cfg, s->count ? s->lines + s->first[k] : NULL,
                                 s->count ? (int)(s->first[k + 1] - s->first[k]) : 0, h,
                                 err);
    else if (!(st = check_files(cfg, &f->base, err)) && *known)
        st = nb_geometry_build(NB_RESOLVED(cfg), h, err);
    return st || !*known ? st : nb_frames_check(f, h, cfg, err);
}

/** Does the override move the detector from g to h? */
static int moves(const nb_geometry *g, const nb_geometry *h)
{
    const nb_vec3 a[] = {g->beam, g->fast, g->slow, g->pix0};
    const nb_vec3 b[] = {h->beam, h->fast, h->slow, h->pix0};
    return memcmp(a, b, sizeof a) != 0;
}

/** h: the geometry of frame k; *first: that of the first known frame. */
static nb_status compare_places(nb_frames *f, int k, const nb_geometry *h,
                                nb_geometry *first, nb_error *err)
{
    nb_config before;
    nb_geometry g;
    nb_status st;
    if ((st = nb_frames_plain_config(f, k, &before, err)) ||
        (st = nb_geometry_build(NB_RESOLVED(&before), &g, err)))
        return st;
    *first = k ? *first : *h;
    f->moving |= moves(&g, h);
    f->places_differ |= moves(first, h);
    return NB_OK;
}

nb_status nb_frames_survey(nb_frames *f, const nb_sim *base, nb_error *err)
{
    nb_config cfg;
    nb_geometry h, first = f->geometry;
    nb_status st = NB_OK;
    int known;
    for (int k = 0; !st && frames_differ(f) && k < f->count; k++) {
        if ((st = nb_frames_config(f, k, &cfg, err)))
            break;
        st = check_frame(f, k, base, &cfg, &h, &known, err);
        if (!st && !known)
            f->moving = f->places_differ = 1; /* a header may say anything */
        else if (!st && (f->series->override || f->vary.n) && f->series->hdf5_file[0])
            st = compare_places(f, k, &h, &first, err);
        (void)nb_frames_at(f, k, st, err);
    }
    return st;
}
