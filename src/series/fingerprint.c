/* SPDX-License-Identifier: MIT */
#include "fingerprint.h"

#include <stddef.h>
#include <string.h>

#include "../base/hash.h"
#include "../base/cpu.h"
#include "../render/simd.h"
#include "template.h"

/* --- the one list of fields -------------------------------------------------------------------
 * Every field of nb_config, nb_series and nb_png_options stands here in its order, with what it means for frames
 * that are finished.  tests/lint/fields.py compares the names with the headers. */

/** What a field means for a finished frame. */
typedef enum meaning {
    NOTHING,  /* it changes no pixel */
    VALUE,    /* another value is another image */
    CONTENTS, /* a file: what it contains counts, its name does not */
    RENDERER, /* counts as the renderer that was chosen by it */
    PICTURE,  /* counts where frames are PNG */
    TIFF,     /* counts where frames are TIFF */
    ADU,      /* counts where frames have an offset: SMV, TIFF */
    HDF5      /* counts where frames are in HDF5 */
} meaning;

#define CONFIG_FIELDS(F)                                                                 \
    F(cell_count, VALUE)                                                                 \
    F(cell, VALUE)                                                                       \
    F(mat_file, CONTENTS)                                                                \
    F(hkl_file, CONTENTS)                                                                \
    F(dump_file, CONTENTS)                                                               \
    F(default_F, VALUE)                                                                  \
    F(N, VALUE)                                                                          \
    F(xtal_size_mm, VALUE)                                                               \
    F(blocks, VALUE)                                                                     \
    F(crystal_volume_um3, VALUE)                                                         \
    F(shape, VALUE)                                                                      \
    F(fudge, VALUE)                                                                      \
    F(misset_mode, VALUE)                                                                \
    F(misset_deg, VALUE)                                                                 \
    F(misset_seed, VALUE)                                                                \
    F(mosaic_spread_deg, VALUE)                                                          \
    F(mosaic_model, VALUE)                                                               \
    F(mosaic_aniso_deg, VALUE)                                                           \
    F(mosaic_domains, VALUE)                                                             \
    F(mosaic_seed, VALUE)                                                                \
    F(interpolate, VALUE)                                                                \
    F(lambda_A, VALUE)                                                                   \
    F(energy_eV, VALUE)                                                                  \
    F(fluence, VALUE)                                                                    \
    F(flux, VALUE)                                                                       \
    F(exposure_s, VALUE)                                                                 \
    F(beamsize_mm, VALUE)                                                                \
    F(polar_set, VALUE)                                                                  \
    F(polarization, VALUE)                                                               \
    F(nopolar, VALUE)                                                                    \
    F(source_file, CONTENTS)                                                             \
    F(hdiv_range_mrad, VALUE)                                                            \
    F(vdiv_range_mrad, VALUE)                                                            \
    F(hdiv_step_mrad, VALUE)                                                             \
    F(vdiv_step_mrad, VALUE)                                                             \
    F(hdiv_steps, VALUE)                                                                 \
    F(vdiv_steps, VALUE)                                                                 \
    F(square_div, VALUE)                                                                 \
    F(dispersion_pct, VALUE)                                                             \
    F(dispersion_step_pct, VALUE)                                                        \
    F(dispersion_steps, VALUE)                                                           \
    F(phi_deg, VALUE)                                                                    \
    F(osc_deg, VALUE)                                                                    \
    F(phistep_deg, VALUE)                                                                \
    F(phi_steps, VALUE)                                                                  \
    F(detpixels, VALUE)                                                                  \
    F(detsize_mm, VALUE)                                                                 \
    F(pixel_mm, VALUE)                                                                   \
    F(distance_mm, VALUE)                                                                \
    F(close_distance_mm, VALUE)                                                          \
    F(close_twotheta_deg, VALUE)                                                         \
    F(Xbeam_mm, VALUE)                                                                   \
    F(Ybeam_mm, VALUE)                                                                   \
    F(Xclose_mm, VALUE)                                                                  \
    F(Yclose_mm, VALUE)                                                                  \
    F(orgx, VALUE)                                                                       \
    F(orgy, VALUE)                                                                       \
    F(rot_deg, VALUE)                                                                    \
    F(twotheta_deg, VALUE)                                                               \
    F(convention, VALUE)                                                                 \
    F(pivot, VALUE)                                                                      \
    F(pivot_implied, VALUE)                                                              \
    F(fdet_vector, VALUE)                                                                \
    F(sdet_vector, VALUE)                                                                \
    F(odet_vector, VALUE)                                                                \
    F(beam_vector, VALUE)                                                                \
    F(polar_vector, VALUE)                                                               \
    F(spindle_axis, VALUE)                                                               \
    F(twotheta_axis, VALUE)                                                              \
    F(pix0_m, VALUE)                                                                     \
    F(curved, VALUE)                                                                     \
    F(curved_omega, VALUE)                                                               \
    F(point_pixel, VALUE)                                                                \
    F(thick_um, VALUE)                                                                   \
    F(abs_um, VALUE)                                                                     \
    F(thick_steps, VALUE)                                                                \
    F(layer_depth, VALUE)                                                                \
    F(oversample, VALUE)                                                                 \
    F(oversample_thick, VALUE)                                                           \
    F(oversample_polar, VALUE)                                                           \
    F(oversample_omega, VALUE)                                                           \
    F(roi_set, VALUE)                                                                    \
    F(roi, VALUE)                                                                        \
    F(mask_file, CONTENTS)                                                               \
    F(img_file, NOTHING) /* what its header says has completed the other fields */       \
    F(water_um, VALUE)                                                                   \
    F(dmin_A, VALUE)                                                                     \
    F(compat, VALUE)                                                                     \
    F(float_file, NOTHING)                                                               \
    F(int_file, NOTHING)                                                                 \
    F(pgm_file, NOTHING)                                                                 \
    F(noise_file, NOTHING)                                                               \
    F(png_file, NOTHING)                                                                 \
    F(tiff_file, NOTHING)                                                                \
    F(write_float, NOTHING)                                                              \
    F(write_int, NOTHING)                                                                \
    F(write_pgm, NOTHING)                                                                \
    F(write_noise, VALUE)                                                                \
    F(tiff_bits, TIFF)                                                                   \
    F(png, PICTURE)                                                                      \
    F(adc_offset, ADU)                                                                   \
    F(scale, VALUE)                                                                      \
    F(pgm_scale, NOTHING)                                                                \
    F(truth, VALUE)                                                                      \
    F(truth_file, NOTHING)                                                               \
    F(truth_min, HDF5)                                                                   \
    F(report_file, NOTHING)                                                              \
    F(seed, VALUE)                                                                       \
    F(threads, NOTHING)                                                                  \
    F(isa, RENDERER)                                                                     \
    F(precision, VALUE)                                                                  \
    F(device, RENDERER)                                                                  \
    F(max_read_MB, NOTHING)                                                              \
    F(device_alone, NOTHING)                                                             \
    F(command_line, NOTHING)

#define SERIES_FIELDS(F)                                                                 \
    F(frames, VALUE)                                                                     \
    F(stills, VALUE)                                                                     \
    F(output, NOTHING) /* its format has a record of its own */                          \
    F(hdf5_file, NOTHING)                                                                \
    F(hdf5_type, HDF5)                                                                   \
    F(compress, HDF5)                                                                    \
    F(frames_per_file, NOTHING) /* nb_journal_key has it */                              \
    F(orientations, CONTENTS)                                                            \
    F(spectra, CONTENTS)                                                                 \
    F(jitter_fluence_pct, VALUE)                                                         \
    F(jitter_lambda_pct, VALUE)                                                          \
    F(jitter_cell_pct, VALUE)                                                            \
    F(jitter_mosaic_pct, VALUE)                                                          \
    F(jitter_beam_mm, VALUE)                                                             \
    F(resume, NOTHING)                                                                   \
    F(ranks, NOTHING)                                                                    \
    F(also, NOTHING)                                                                     \
    F(n_also, NOTHING)                                                                   \
    F(user, NOTHING)                                                                     \
    F(begin, NOTHING)                                                                    \
    F(override, NOTHING)                                                                 \
    F(override_tag, VALUE)                                                               \
    F(override_text, NOTHING)                                                            \
    F(progress, NOTHING)

#define PNG_FIELDS(F)                                                                    \
    F(show, VALUE)                                                                       \
    F(colormap, VALUE)                                                                   \
    F(scale, VALUE)                                                                      \
    F(percentile, VALUE)                                                                 \
    F(low, VALUE)                                                                        \
    F(high, VALUE)                                                                       \
    F(gamma, VALUE)                                                                      \
    F(log, VALUE)                                                                        \
    F(rings, VALUE)                                                                      \
    F(ring_A, VALUE)

/** How the bytes of a field are taken: structs have padding. */
typedef enum form { PLAIN, SEED, THREE, PNG } form;

typedef struct field {
    const char *name;
    size_t offset, size;
    meaning meaning;
    form form;
} field;

#define FORM(member)                                                                     \
    _Generic((member), nb_seed                                                           \
             : SEED, nb_opt3                                                             \
             : THREE, nb_png_options                                                     \
             : PNG, default                                                              \
             : PLAIN)
#define FIELD(type, name, meaning)                                                       \
    {#name, offsetof(type, name), sizeof(((type *)0)->name), meaning,                    \
     FORM(((type *)0)->name)},
#define CONFIG_FIELD(name, meaning) FIELD(nb_config, name, meaning)
#define SERIES_FIELD(name, meaning) FIELD(nb_series, name, meaning)
#define PNG_FIELD(name, meaning) FIELD(nb_png_options, name, meaning)

static const field config_fields[] = {CONFIG_FIELDS(CONFIG_FIELD)};
static const field series_fields[] = {SERIES_FIELDS(SERIES_FIELD)};
static const field png_fields[] = {PNG_FIELDS(PNG_FIELD)};

/* A struct of the fields that are listed has the size of the struct with all of them. */
#define CONFIG_MEMBER(name, meaning) __typeof__(((nb_config *)0)->name) name;
#define SERIES_MEMBER(name, meaning) __typeof__(((nb_series *)0)->name) name;
#define PNG_MEMBER(name, meaning) __typeof__(((nb_png_options *)0)->name) name;
typedef struct listed_config {
    CONFIG_FIELDS(CONFIG_MEMBER)
} listed_config;
typedef struct listed_series {
    SERIES_FIELDS(SERIES_MEMBER)
} listed_series;
typedef struct listed_png {
    PNG_FIELDS(PNG_MEMBER)
} listed_png;
_Static_assert(sizeof(listed_config) == sizeof(nb_config),
               "list every field of nb_config in CONFIG_FIELDS, in its order");
_Static_assert(sizeof(listed_series) == sizeof(nb_series),
               "list every field of nb_series in SERIES_FIELDS, in its order");

_Static_assert(sizeof(listed_png) == sizeof(nb_png_options),
               "list every field of nb_png_options in PNG_FIELDS, in its order");

/* --- values --- */

static uint64_t hash_png(uint64_t h, const nb_png_options *png)
{
    for (size_t i = 0; i < sizeof png_fields / sizeof *png_fields; i++)
        h = nb_hash_bytes(h, (const char *)png + png_fields[i].offset, png_fields[i].size);
    return h;
}

static uint64_t hash_field(uint64_t h, const void *bytes, const field *f)
{
    const nb_seed *seed = bytes;
    const nb_opt3 *three = bytes;
    if (f->form == PLAIN)
        return nb_hash_bytes(h, bytes, f->size);
    if (f->form == PNG)
        return hash_png(h, bytes);
    if (f->form == SEED)
        return nb_hash_bytes(h, &seed->value, seed->set ? sizeof seed->value : 0);
    return nb_hash_bytes(h, three->v, three->set ? sizeof three->v : 0);
}

/** Bits 1 << meaning of what counts for the outputs of this series. */
static unsigned what_counts(const nb_series *s)
{
    unsigned counts = 1u << VALUE;
    nb_template t;
    if (s->hdf5_file[0])
        counts |= 1u << HDF5;
    if (!s->output[0] || nb_template_parse(s->output, &t, NULL))
        return counts;
    if (t.format == NB_FRAME_PNG)
        counts |= 1u << PICTURE;
    if (t.format == NB_FRAME_TIFF)
        counts |= 1u << TIFF;
    if (t.format == NB_FRAME_TIFF || t.format == NB_FRAME_SMV)
        counts |= 1u << ADU;
    return counts;
}

static uint64_t hash_struct(uint64_t h, const void *of, const field *list, size_t n,
                            unsigned counts)
{
    for (size_t i = 0; i < n; i++)
        if (counts >> list[i].meaning & 1)
            h = hash_field(h, (const char *)of + list[i].offset, &list[i]);
    return h;
}

/* --- contents of loaded files --- */

static uint64_t hash_table(uint64_t h, const nb_factor_file *t)
{
    const int limits[] = {t->hmin, t->hmax, t->kmin, t->kmax, t->lmin, t->lmax};
    if (!t->F)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, limits, sizeof limits);
    return nb_hash_bytes(h, t->F, (size_t)nb_factor_file_voxels(t) * sizeof *t->F);
}

static uint64_t hash_inputs(uint64_t h, const nb_sim *sim)
{
    size_t pixels =
        (size_t)sim->model.geometry.fpixels * (size_t)sim->model.geometry.spixels;
    h = hash_table(h, &sim->table);
    h = nb_hash_bytes(h, sim->matrix, sim->has_matrix ? sizeof sim->matrix : 0);
    h = nb_hash_bytes(h, sim->lines, (size_t)sim->n_lines * sizeof *sim->lines);
    return nb_hash_bytes(h, sim->mask, sim->mask ? pixels : 0);
}

static uint64_t hash_shots(uint64_t h, const nb_frames *f)
{
    const nb_spectra *s = &f->spectra;
    size_t n = (size_t)s->count;
    int random = f->series->orientations[0] && !f->missets;
    h = nb_hash_bytes(h, &random, sizeof random);
    h = nb_hash_bytes(h, f->missets, (size_t)f->n_missets * sizeof *f->missets);
    if (!n)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, s->first, (n + 1) * sizeof *s->first);
    return nb_hash_bytes(h, s->lines, s->first[n] * sizeof *s->lines);
}

uint64_t nb_fingerprint(const nb_sim *base, const nb_frames *frames)
{
    unsigned counts = what_counts(frames->series);
    uint64_t h = nb_hash_bytes(NB_HASH_START, NB_VERSION, strlen(NB_VERSION));
    h = hash_struct(h, &frames->base, config_fields,
                    sizeof config_fields / sizeof *config_fields, counts);
    h = hash_struct(h, frames->series, series_fields,
                    sizeof series_fields / sizeof *series_fields, counts);
    return hash_shots(hash_inputs(h, base), frames);
}

/** Are all outputs counts with noise, which every renderer draws alike? */
static int only_counts(const nb_frames *f)
{
    const nb_series *s = f->series;
    nb_template t = {0};
    if (!f->base.write_noise || f->base.compat || f->base.truth != NB_TRUTH_NONE ||
        f->base.precision != NB_PRECISION_MIXED ||
        (s->hdf5_file[0] && s->hdf5_type == NB_HDF5_F32))
        return 0;
    if (!s->output[0])
        return 1;
    return !nb_template_parse(s->output, &t, NULL) &&
           (t.format == NB_FRAME_SMV || t.format == NB_FRAME_CBF ||
            (t.format == NB_FRAME_TIFF && f->base.tiff_bits == 16));
}

static uint64_t hash_renderer(uint64_t h, const char *name)
{
    return nb_hash_bytes(h, name, strlen(name));
}

/** One of them: the vector renderer goes by its instructions. */
static const char *renderer_of(const nb_sim *sim)
{
    nb_isa isa;
    if (sim->backend == &nb_backend_simd && !nb_cpu_choose(sim->options.isa, &isa, NULL))
        return nb_isa_name(isa);
    return sim->backend->name;
}

uint64_t nb_fingerprint_renderer(uint64_t hash, const nb_sim *base,
                                 const nb_frames *frames)
{
    return only_counts(frames) ? hash : hash_renderer(hash, renderer_of(base));
}

const char *nb_fingerprint_maker(uint64_t hash, uint64_t whole)
{
    for (int isa = NB_ISA_SCALAR; isa <= NB_ISA_NEON; isa++)
        if (hash_renderer(hash, nb_isa_name((nb_isa)isa)) == whole)
            return nb_isa_name((nb_isa)isa);
    for (const nb_backend *const *b = nb_backends; *b; b++)
        if (hash_renderer(hash, (*b)->name) == whole)
            return (*b)->name;
    return NULL;
}
