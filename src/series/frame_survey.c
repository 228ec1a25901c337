/* SPDX-License-Identifier: MIT */
/* All frames of a series, before the first one is made. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/error.h"
#include "../io/hdf5/hdf5_read.h"
#include "fingerprint.h"
#include "frames.h"

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
    int number;
    for (size_t i = 0; nb_own_input(cfg, base, &i, &flag, &path); i++)
        if (!is_there(path) && (!nb_hdf5_frame_of(path, name, &number) || !is_there(name)))
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
    nb_frames_plain_config(f, k, &before);
    if ((st = nb_geometry_build(NB_RESOLVED(&before), &g, err)))
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
        else if (!st && f->series->override && f->series->hdf5_file[0])
            st = compare_places(f, k, &h, &first, err);
        (void)nb_frames_at(f, k, st, err);
    }
    return st;
}
