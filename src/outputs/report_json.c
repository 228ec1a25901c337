/* SPDX-License-Identifier: MIT */
/* -report: the settings and results of a run as JSON (docs/formats.md). */
#include "report.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../io/image/writer.h"
#include "../sim/light.h"
#include "write.h"

static const double largest_u16 = 65535; /* largest value of the integer image */

static void add_common(const nb_sim *sim, const char *backend, nb_json root)
{
    nb_json notes;
    nb_sim_config_node(sim, NB_LIST_SOURCES | NB_LIST_PANELS, root);
    nb_sim_parameters_node(sim, root);
    nb_json_text(root, "command_line", sim->cfg.command_line);
    nb_json_text(root, "renderer", backend);
    nb_json_whole(root, "seed", sim->seed);
    nb_sim_effects_node(sim, root);
    nb_sim_light_node(sim, root);
    notes = nb_json_array(root, "notes");
    for (int i = 0; sim->notes && i < sim->notes->n; i++)
        nb_json_add_text(notes, sim->notes->line[i]);
}

/** Add the limit of the light left out of a pixel (nb_lack), unless it is 0. */
static void add_lack(const nb_sim_engine *engine, nb_json root)
{
    /* largest factor of a pixel */
    const double factor = fmax(1, engine->photons.mix.max);
    if (!(engine->lack.photons > 0))
        return;
    nb_json_number(root, "tolerance_reached", engine->lack.part);
    nb_json_number(root, "photons_lacking", factor * engine->lack.photons);
}

/** Add an entry to "clipped". Returns the entry, so that more can be added to it. */
static nb_json add_clipped(nb_json list, const char *file, double largest, double pixels)
{
    nb_json one = nb_json_add_object(list);
    nb_json_text(one, "file", file);
    nb_json_number(one, "largest", largest);
    nb_json_number(one, "pixels", pixels);
    return one;
}

/** Add the files of 16-bit pixels. */
static void add_clipped_files(nb_json list, const nb_sim *sim, nb_output_of of,
                              double largest, int64_t pixels)
{
    const nb_config *cfg = &sim->cfg;
    for (const nb_output *f = nb_output_next(NULL); f; f = nb_output_next(f)) {
        const nb_writer *writer = nb_output_writer(f, cfg);
        const char *path = nb_output_path(f, cfg);
        if (writer && writer->pixel == NB_PIXEL_U16 && f->of == of && path[0])
            add_clipped(list, path, largest, (double)pixels);
    }
}

static void add_facts(nb_json o, const nb_fact *facts, const void *of, int panels)
{
    for (const nb_fact *f = facts; f->name; f++)
        if (panels > 1 || !f->of_panels)
            nb_json_number(o, f->key, nb_fact_number(f, of));
}

static void add_seconds(nb_json root, const nb_sim *sim)
{
    nb_times t;
    nb_sim_times(sim, &t);
    add_facts(nb_json_object(root, "seconds"), nb_times_facts(), &t, 1);
}

static void add_files(nb_json root, const nb_config *cfg)
{
    nb_file_use files[NB_FILES_MAX];
    int n = nb_config_files(cfg, files);
    nb_json list = nb_json_array(root, "files");
    for (int i = 0; i < n && files[i].written; i++)
        if (strcmp(files[i].path, cfg->report_file) != 0)
            nb_json_add_text(list, files[i].path);
}

nb_status nb_report_write(const nb_sim *sim, const float *image, const nb_stats *stats,
                          nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    int failed = 0;
    nb_json root = {NULL, &failed}, clipped;
    if (!cfg->report_file[0])
        return NB_OK;
    root.json = cJSON_CreateObject();
    add_common(sim, sim->engine.line, root);
    add_facts(nb_json_object(root, "image"), nb_stats_facts(), stats,
              sim->model.scene.n_panels);
    add_lack(&sim->engine, root);
    clipped = nb_json_array(root, "clipped");
    add_clipped_files(clipped, sim, NB_OUTPUT_PHOTONS, largest_u16, sim->clipped_int);
    add_clipped_files(clipped, sim, NB_OUTPUT_NOISE,
                      nb_sim_noise_largest(sim, NB_NOISE_U16), sim->clipped_noise);
    add_files(root, cfg);
    if (nb_is_page(cfg->report_file))
        return nb_sim_page(sim, image, root, err);
    add_seconds(root, sim);
    return nb_json_file(root, "the report", cfg->report_file, "\n", err);
}

/* --- report of a series --- */

static void add_clipped_frames(nb_json list, const char *file, const nb_clipped *c)
{
    nb_json one = add_clipped(list, file, c->largest, (double)c->pixels);
    nb_json_number(one, "frames", c->frames);
    nb_json_number(one, "worst_frame", c->frames ? c->worst + 1 : 0);
    nb_json_number(one, "worst_pixels", (double)c->max);
}

static void add_outputs(nb_json root, const nb_config *cfg, const nb_series *s,
                        const nb_series_progress *p)
{
    const nb_format *format = nb_format_of(s->output);
    nb_json files = nb_json_array(root, "files");
    nb_json clipped = nb_json_array(root, "clipped");
    if (s->output[0])
        nb_json_add_text(files, s->output);
    if (s->hdf5_file[0])
        nb_json_add_text(files, s->hdf5_file);
    if (format && nb_pixel_is_count(nb_format_writer(format, cfg->tiff_bits)->pixel))
        add_clipped_frames(clipped, s->output, &p->clipped_output);
    if (s->hdf5_file[0] && s->hdf5_type != NB_HDF5_F32)
        add_clipped_frames(clipped, s->hdf5_file, &p->clipped_hdf5);
}

nb_status nb_report_write_series(const nb_sim *base, const nb_series *s,
                                 const nb_series_progress *p, nb_error *err)
{
    const nb_config *cfg = &base->cfg;
    int failed = 0;
    nb_json root = {NULL, &failed}, o;
    if (!cfg->report_file[0])
        return NB_OK;
    root.json = cJSON_CreateObject();
    add_common(base, p->backend, root);
    o = nb_json_object(root, "series");
    nb_json_text(o, "kind", s->frames > 0 ? "rotation" : "stills");
    nb_json_number(o, "frames", p->frames);
    nb_json_number(o, "kept_frames", p->kept);
    nb_json_number(o, "bytes", (double)p->bytes);
    nb_json_number(o, "seconds", p->seconds);
    o = nb_json_object(root, "image");
    nb_json_number(o, "max_photons", p->max);
    nb_json_number(o, "max_frame", p->max_frame + 1);
    nb_json_number(o, "max_fast", p->max_fast);
    nb_json_number(o, "max_slow", p->max_slow);
    add_outputs(root, cfg, s, p);
    return nb_json_file(root, "the report", cfg->report_file, "\n", err);
}
