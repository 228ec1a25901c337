/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"

enum { OWN = NB_FILES_MAX + 5, FAMILIES = 4, FIRST_NUMBER = 1 };

typedef struct names {
    nb_template frames, slopes, inputs;
    char begun[NB_PATH_MAX]; /* resume file of the series */
    char stem[NB_PATH_MAX];  /* start of the names of the HDF5 data files */
    nb_file_use *uses;
    int n_uses;
    nb_file_family families[FAMILIES];
    int n_families;
} names;

static void frame_name(const void *user, int i, char *path)
{
    path[0] = '\0';
    (void)nb_template_name(user, i + FIRST_NUMBER, path, NULL);
}

static void data_name(const void *user, int i, char *path)
{
    nb_work_data_path(user, i, 0, path);
}

static void add(names *n, const char *flag, const char *path, int written)
{
    if (path[0])
        n->uses[n->n_uses++] = (nb_file_use){flag, path, written};
}

/** Add the numbered files. A wrong template is refused later. */
static void add_frames(names *n, const nb_series *s)
{
    if (s->output[0] && !nb_template_of(s, &n->frames, NULL))
        n->families[n->n_families++] = (nb_file_family){
            "-output", nb_series_part(s, NULL), frame_name, &n->frames, 0};
}

/** Add the input files: one file, or files with the numbers from 0 or 1 on. */
static void add_input(names *n, const nb_series *s)
{
    char path[NB_PATH_MAX];
    if (!strchr(s->input, '%') ||
        nb_template_read(s->input, "the input", &n->inputs, NULL)) {
        add(n, "the input", s->input, 0);
        return;
    }
    n->inputs.first = -FIRST_NUMBER;
    frame_name(&n->inputs, 0, path);
    if (access(path, F_OK) != 0)
        n->inputs.first++;
    n->families[n->n_families++] =
        (nb_file_family){"the input", s->frames + s->stills, frame_name, &n->inputs, 1};
}

/** Add a file of derivatives for each frame. */
static nb_status add_slopes(names *n, const nb_config *cfg, const nb_series *s,
                            nb_error *err)
{
    int first, count = nb_series_part(s, &first);
    nb_status st = NB_OK;
    if (!cfg->derivatives[0] || !cfg->deriv_file[0])
        return NB_OK;
    st = nb_template_read(cfg->deriv_file, "-derivfile", &n->slopes, err);
    n->slopes.first = first;
    if (!st)
        n->families[n->n_families++] =
            (nb_file_family){"-derivfile", count, frame_name, &n->slopes, 0};
    return st;
}

static void add_hdf5(names *n, const nb_series *s)
{
    const int each = nb_work_size(s), count = (nb_series_part(s, NULL) + each - 1) / each;
    add(n, "-hdf5", s->hdf5_file, 1);
    if (!s->hdf5_file[0] || nb_work_stem(s->hdf5_file, n->stem, NULL))
        return;
    n->families[n->n_families++] = (nb_file_family){"-hdf5", count, data_name, n->stem, 0};
}

nb_status nb_series_check_files(const nb_config *cfg, const nb_series *s, nb_error *err)
{
    names *n = nb_alloc(1, sizeof *n, "names of files", err);
    nb_status st = n ? NB_OK : NB_ERR_NOMEM;
    if (nb_outfile_is_stdout(s->hdf5_file))
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-hdf5 -: a series is several HDF5 files, which cannot go to standard "
            "output; give a file name");
    if (!st && !(n->uses = nb_alloc((size_t)s->calls.n_also + OWN, sizeof *n->uses,
                                    "names of files", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(add_slopes(n, cfg, s, err));
    if (!st) {
        add_frames(n, s);
        add_hdf5(n, s);
        if (!nb_work_begun_path(s, n->begun, NULL))
            add(n, s->hdf5_file[0] ? "-hdf5" : "-output", n->begun, 1);
        n->n_uses += nb_config_inputs(cfg, n->uses + n->n_uses);
        if (strcmp(s->orientations, "random") != 0)
            add(n, "-orientations", s->orientations, 0);
        add(n, "-spectra", s->spectra, 0);
        add_input(n, s);
        for (int i = 0; i < s->calls.n_also; i++)
            add(n, s->calls.also[i].flag, s->calls.also[i].path, s->calls.also[i].written);
        st = nb_refuse_same_files(n->uses, n->n_uses, n->families, n->n_families, err);
    }
    if (n)
        nb_free(n->uses);
    nb_free(n);
    return st;
}
