/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../model/drawn.h"
#include "../model/frame.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../physics/panels.h"
#include "../sim/mix.h"
#include "../sim/noise.h"
#include "../sim/picture.h"

/* Is a frame of the canvas the stack as it is? */
static int panels_are_stack(const nb_sim *sim)
{
    return sim->model.scene.n_panels == 1         ? !nb_sim_canvas(sim, NULL).as_file
           : !nb_stack_is_even(&sim->model.scene) ? 0
                                                  : sim->cfg.layout == NB_LAYOUT_STACK;
}

/** Copy the pixels of a stack, of so many bytes each, to the places of their panels in the canvas. */
static nb_status put_panels(const nb_sim *sim, const void *stack, size_t bytes,
                            void *canvas, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    int(*place)[2] = nb_alloc((size_t)sc->n_panels, sizeof *place, "layout", err);
    const size_t stride = place ? (size_t)nb_sim_canvas(sim, place).size[0] : 0;
    const char *from = stack;
    for (int k = 0; place && k < sc->n_panels; k++) {
        const size_t row = (size_t)sc->panels[k].columns * bytes;
        for (int j = 0; j < sc->panels[k].rows; j++, from += row)
            memcpy((char *)canvas +
                       ((size_t)(place[k][1] + j) * stride + (size_t)place[k][0]) * bytes,
                   from, row);
    }
    nb_free(place);
    return place ? NB_OK : NB_ERR_NOMEM;
}

/** Are all pixels of the detector in the region of interest?  That of a file's detector is that of its panels. */
static int is_whole(const nb_sim *sim)
{
    const nb_raster *r = &sim->model.scene.raster;
    return sim->cfg.detector ||
           (r->roi.fmin <= 0 && r->roi.smin <= 0 && r->roi.fmax >= r->columns - 1 &&
            r->roi.smax >= r->rows - 1);
}

static int is_outside(const nb_raster *r, size_t pixel)
{
    const int fast = (int)(pixel % (size_t)r->columns),
              slow = (int)(pixel / (size_t)r->columns);
    return fast < r->roi.fmin || fast > r->roi.fmax || slow < r->roi.smin ||
           slow > r->roi.smax;
}

nb_status nb_panels_bad(const nb_sim *sim, uint8_t **bad, nb_error *err)
{
    const nb_raster *r = &sim->model.scene.raster;
    const nb_panel_canvas canvas = nb_sim_canvas(sim, NULL);
    const size_t n = (size_t)canvas.size[0] * (size_t)canvas.size[1];
    const int whole = is_whole(sim);
    uint8_t *stack;
    nb_status st;
    *bad = NULL;
    if (whole && !r->mask && (!canvas.as_file || n == r->pixels))
        return NB_OK;
    stack = nb_alloc(r->pixels, 1, "pixel mask", err);
    *bad = nb_alloc_raw(n, 1, "pixel mask", err);
    st = stack && *bad ? NB_OK : NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < r->pixels; i++)
        if ((r->mask && !r->mask[i]) || (!whole && is_outside(r, i)))
            stack[i] = sim->cfg.detector ? 2 : 1;
    if (!st) {
        memset(*bad, 1, n);
        st = put_panels(sim, stack, 1, *bad, err);
    }
    nb_free(stack);
    return st;
}

nb_status nb_panels_factors(const nb_sim *sim, float **factors, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    const nb_panel_canvas canvas = nb_sim_canvas(sim, NULL);
    const float *from = nb_sim_mix(sim).transmission;
    float *stack;
    nb_status st;
    *factors = NULL;
    if (!from)
        return NB_OK;
    stack = nb_alloc_raw(pixels, sizeof *stack, "factors of pixels", err);
    *factors = nb_alloc((size_t)canvas.size[0] * (size_t)canvas.size[1], sizeof **factors,
                        "factors of pixels", err);
    st = stack && *factors ? NB_OK : NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < pixels; i++)
        stack[i] = nb_mix_factor(from[i]);
    NB_TRY(put_panels(sim, stack, sizeof *stack, *factors, err));
    nb_free(stack);
    return st;
}

static void put(double out[3], nb_vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

nb_status nb_master_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_convention convention = sim->model.geometry.convention;
    const size_t n = (size_t)sc->n_panels;
    nb_detector_spec *d = nb_alloc(1, sizeof *d, "panels", err);
    nb_status st;
    memset(out, 0, sizeof *out);
    out->detector = d;
    out->origin = nb_alloc(n, sizeof *out->origin, "panels", err);
    out->fast = nb_alloc(n, sizeof *out->fast, "panels", err);
    out->slow = nb_alloc(n, sizeof *out->slow, "panels", err);
    out->place = nb_alloc(n, sizeof *out->place, "layout", err);
    st = d && out->origin && out->fast && out->slow && out->place ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(nb_sim_detector_spec(sim, d, err));
    if (!st)
        nb_sim_canvas(sim, out->place);
    for (size_t k = 0; !st && k < n; k++) {
        put(out->origin[k], sc->panels[k].pix0);
        put(out->fast[k], sc->panels[k].fast);
        put(out->slow[k], sc->panels[k].slow);
    }
    out->convention = nb_param_choice("convention", (int)convention);
    for (int i = 0; i < 3; i++) {
        const double unit[3] = {i == 0, i == 1, i == 2};
        put(out->axes[i], nb_lab_of_nexus(convention, unit));
    }
    if (st)
        nb_master_panels_free(out);
    return st;
}

void nb_master_panels_free(nb_hdf5_panels *panels)
{
    if (panels->detector)
        nb_detector_spec_free(panels->detector);
    nb_free(panels->detector);
    nb_free(panels->place);
    nb_free(panels->origin);
    nb_free(panels->fast);
    nb_free(panels->slow);
    memset(panels, 0, sizeof *panels);
}

/* What is brought to the host of a frame: with a device that makes its integers, only those. */

static void free_integers(nb_frame *f)
{
    if (f->lender)
        f->lender->release(f->product.pixels);
    else
        nb_free(f->product.pixels);
    f->product.pixels = NULL;
    f->room = 0;
}

void nb_frame_free(nb_frame *f)
{
    nb_sim_free(f->sim);
    nb_free(f->image);
    free_integers(f);
    nb_free(f->scratch);
    nb_free(f->canvas);
}

/** The pixels of this type: with noise, or rounded under -nonoise. */
static nb_product product_of(const nb_frame *f, nb_pixel_type type, double adc_offset)
{
    const nb_config *cfg = &f->sim->cfg;
    if (type == NB_PIXEL_F32)
        return (nb_product){.type = type, .scale = 1};
    if (cfg->write_noise)
        return nb_sim_noise_product(f->sim, type, adc_offset);
    return (nb_product){.type = type,
                        .scale = cfg->scale, /* set for every series */
                        .adc_offset = adc_offset,
                        .ends_at_16_bits = cfg->compat};
}

/** The offset of files that have none unless it was typed. */
static double typed_offset(const nb_config *cfg)
{
    return cfg->adc_set && cfg->write_noise ? cfg->adc_offset : 0;
}

static nb_product frame_file_product(const nb_frame *f, const nb_format *format)
{
    const nb_config *cfg = &f->sim->cfg;
    nb_product p;
    switch (nb_format_writer(format, cfg->tiff_bits)->pixel) {
    case NB_PIXEL_U16:
        return product_of(f, NB_PIXEL_U16, cfg->adc_offset);
    case NB_PIXEL_I32:
        p = product_of(f, NB_PIXEL_I32, typed_offset(cfg));
        p.marks_masked = 1;
        return p;
    default:
        return product_of(f, NB_PIXEL_F32, 0);
    }
}

nb_noise_file nb_frame_file_noise(const nb_writer *writer)
{
    return writer->pixel == NB_PIXEL_I32 ? NB_NOISE_I32 : NB_NOISE_U16;
}

nb_noise_file nb_frame_hdf5_noise(nb_hdf5_type type)
{
    return type == NB_HDF5_U16   ? NB_NOISE_HDF5_U16
           : type == NB_HDF5_I16 ? NB_NOISE_HDF5_I16
                                 : NB_NOISE_I32;
}

static nb_product frame_hdf5_product(const nb_frame *f, nb_hdf5_type type)
{
    static const nb_pixel_type types[] = {[NB_HDF5_U16] = NB_PIXEL_U16,
                                          [NB_HDF5_I32] = NB_PIXEL_I32,
                                          [NB_HDF5_F32] = NB_PIXEL_F32,
                                          [NB_HDF5_I16] = NB_PIXEL_I16};
    const nb_config *cfg = &f->sim->cfg;
    nb_product p = product_of(f, types[type], typed_offset(cfg));
    p.marks_masked = p.type != NB_PIXEL_F32;
    if (p.marks_masked) /* of the stages that have a limit */
        p.trusted = nb_noise_trusted(&f->sim->model.settings, nb_frame_hdf5_noise(type));
    return p;
}

/** The pixels of an output: of a file of this format, or (NULL) of HDF5. */
static nb_product product_for(const nb_frame *f, const nb_format *format,
                              nb_hdf5_type type)
{
    return format ? frame_file_product(f, format) : frame_hdf5_product(f, type);
}

static int is_same(const nb_product *a, const nb_product *b)
{
    return a->type == b->type && a->adc_offset == b->adc_offset &&
           a->trusted == b->trusted && a->marks_masked == b->marks_masked;
}

/** The frame keeps one kind of integers: two outputs that differ take the photons. */
void nb_frame_want(const nb_frame *f, const nb_format *format, nb_hdf5_type type,
                   nb_frame_wants *w)
{
    const nb_product p = product_for(f, format, type);
    if (p.type == NB_PIXEL_F32) {
        w->photons = 1;
        return;
    }
    w->photons |= w->integers.type && !is_same(&w->integers, &p);
    w->integers = p;
}

/** Room for whole images of this product, in memory that a device writes itself if there is one. */
static nb_status reserve(nb_frame *f, const nb_product *p, nb_error *err)
{
    const nb_backend_device *device = f->sim->engine.backend->device;
    size_t bytes = f->pixels * nb_pixel_bytes(p->type);
    if (bytes <= f->room)
        return NB_OK;
    free_integers(f);
    f->lender = device ? &device->image : NULL;
    if (f->lender)
        f->product.pixels =
            f->lender->allocate(f->sim->engine.options.device_index, bytes);
    if (!f->product.pixels) {
        f->lender = NULL;
        f->product.pixels = nb_alloc_raw(bytes, 1, "frame", err);
    }
    f->room = f->product.pixels ? bytes : 0;
    return f->room ? NB_OK : NB_ERR_NOMEM;
}

/** Begin another product in the same memory. */
static nb_status take(nb_frame *f, const nb_product *p, nb_error *err)
{
    nb_status st = reserve(f, p, err);
    void *pixels = f->product.pixels;
    f->product = *p;
    f->product.pixels = pixels;
    return st;
}

nb_status nb_frame_prepare(nb_frame *f, const nb_frame_wants *w, size_t pixels,
                           nb_rendering *rendering, nb_error *err)
{
    int here = w->photons || !f->sim->engine.backend->device || f->sim->cfg.compat;
    f->pixels = pixels;
    f->made = !here;
    if (here && !f->image &&
        !(f->image = nb_alloc_raw(pixels, sizeof *f->image, "image", err)))
        return NB_ERR_NOMEM;
    *rendering = (nb_rendering){here ? f->image : NULL, &f->stats, &f->product, !here};
    return here ? NB_OK : take(f, &w->integers, err);
}

/* The rendered frame as this product, whose pixels are the frame's until the next call; overloads are
 * set. */
static nb_status frame_pixels(nb_frame *f, const nb_product *wanted, const void **pixels,
                              nb_error *err)
{
    NB_ASKS(&f->sim->hooks, 1);
    nb_photons photons = nb_sim_photons(f->sim, f->image);
    nb_stage stages[NB_STAGES_MOST];
    double start;
    nb_status st = NB_OK;
    *pixels = f->image;
    f->overloads = 0;
    if (wanted->type == NB_PIXEL_F32)
        return NB_OK;
    start = nb_monotonic_seconds();
    if (!f->made || !is_same(&f->product, wanted)) {
        st = take(f, wanted, err);
        NB_TRY(nb_image_make(&photons, stages, nb_sim_stages(f->sim, stages), &f->product,
                             1, err));
        nb_products_free(&f->product, 1);
        f->made = !st;
    }
    f->spent.noise += nb_monotonic_seconds() - start;
    *pixels = f->product.pixels;
    f->overloads = f->product.overloads;
    return st;
}

/** Where the detector stands and how the beam is polarized. */
static void put_geometry(const nb_sim *sim, nb_hdf5_frame *t)
{
    const nb_geometry *g = &sim->model.geometry;
    const nb_image_meta m = nb_sim_describe(sim);
    memcpy(t->pix0_mm, m.pix0_mm, sizeof t->pix0_mm);
    memcpy(t->fast_axis, m.fast_axis, sizeof t->fast_axis);
    memcpy(t->slow_axis, m.slow_axis, sizeof t->slow_axis);
    memcpy(t->beam, m.beam, sizeof t->beam);
    memcpy(t->spindle, m.spindle, sizeof t->spindle);
    memcpy(t->polar_axis, m.polar_axis, sizeof t->polar_axis);
    t->distance_mm = m.distance_mm;
    t->beam_px[0] = g->Fbeam / g->pixel;
    t->beam_px[1] = g->Sbeam / g->pixel;
    t->polarization = m.polarization;
}

void nb_frame_forget_crystal(nb_hdf5_frame *t)
{
    for (int i = 0; i < 9; i++)
        t->A[i] = t->A_drawn[i] = NAN;
    for (int i = 0; i < 3; i++)
        t->N[i] = t->misset[i] = NAN;
    t->blocks = t->mosaic_deg = NAN;
}

nb_hdf5_frame nb_frame_truth(const nb_frame *f)
{
    const nb_model *m = &f->sim->model;
    const nb_crystal *x = &m->crystal;
    nb_hdf5_frame t = {0};
    nb_vec3 drawn[3];
    put_geometry(f->sim, &t);
    nb_put_columns(x->astar, x->bstar, x->cstar, t.A);
    memcpy(t.N, x->N, sizeof t.N);
    nb_crystal_misset(x, t.misset);
    nb_model_drawn(m, nb_sim_first_phi(f->sim), drawn);
    nb_put_columns(drawn[0], drawn[1], drawn[2], t.A_drawn);
    t.blocks = m->blocks;
    t.phi_deg = f->sim->model.settings.value.phi_deg;
    t.osc_deg = m->phi_range / NB_DEG;
    t.wavelength_A = nb_sim_wavelength(f->sim);
    t.fluence = m->fluence;
    t.mosaic_deg = m->mosaic.spread / NB_DEG;
    t.exposure_s = f->sim->cfg.exposure_s;
    t.beamsize_mm = f->sim->model.settings.value.beamsize_mm;
    t.seed = f->sim->seed;
    t.flicker = nb_sim_flicker(f->sim);
    t.dose_MGy = m->damage.dose;
    t.B_added = m->damage.B;
    t.cell_factor = m->damage.growth;
    t.spectrum_factor = m->spectrum.n ? m->spectrum.factor : 1;
    if (f->sim->crowd && !f->sim->crowd->crystals)
        nb_frame_forget_crystal(&t);
    return t;
}

nb_status nb_frame_sum(nb_frame *f, const nb_format *format, nb_hdf5_type type,
                       nb_sum *sum, nb_error *err)
{
    const nb_product product = product_for(f, format, type);
    const void *pixels;
    nb_status st = frame_pixels(f, &product, &pixels, err);
    if (!st)
        nb_sum_add(sum, &f->sim->model.scene, product.type, pixels);
    return st;
}

/** The picture that -pngfile makes of a single image. */
static nb_status write_picture(nb_frame *f, const char *path, const nb_image_meta *meta,
                               nb_error *err)
{
    nb_picture_job job;
    nb_image_view view = {0};
    void *pixels = NULL;
    nb_picture_own own;
    nb_status st = nb_picture_of_sim(f->sim, f->image, &job, &own, err);
    NB_TRY(nb_picture_view(&job, &view, &pixels, err));
    NB_TRY(nb_write_image(nb_picture_writer(&job), path, &view, meta, err));
    nb_free(pixels);
    nb_picture_own_free(&own);
    return st;
}

nb_status nb_frame_write(nb_frame *f, const nb_format *format, const char *path,
                         nb_error *err)
{
    const nb_config *cfg = &f->sim->cfg;
    const nb_writer *writer = nb_format_writer(format, cfg->tiff_bits);
    const nb_product product = frame_file_product(f, format);
    nb_image_meta meta = nb_sim_describe(f->sim);
    nb_image_view view = {
        .fast = meta.fast, .slow = meta.slow, .type = writer->pixel, .scale = 1};
    nb_status st;
    if (writer->pixel == NB_PIXEL_U8) {
        f->overloads = 0;
        return write_picture(f, path, &meta, err);
    }
    if (view.type == NB_PIXEL_U16 && !cfg->write_noise)
        view.scale = cfg->scale;
    if (product.stages)
        meta = nb_sim_describe_noise(f->sim, meta, nb_frame_file_noise(writer));
    NB_FORWARD(frame_pixels(f, &product, &view.pixels, err));
    return nb_write_images(&(nb_write_job){writer, path, view, &meta, .durable = 1}, 1, 1,
                           NULL, err);
}

/** The panels at their places; gaps hold no count. */
static nb_status fill_canvas(nb_frame *f, const nb_hdf5_layout *layout, const void *stack,
                             nb_error *err)
{
    const size_t bytes = nb_hdf5_frame_bytes(layout);
    if (!f->canvas && !(f->canvas = nb_alloc_raw(1, bytes, "canvas", err)))
        return NB_ERR_NOMEM;
    memset(f->canvas, layout->type == NB_HDF5_F32 ? 0 : 0xff, bytes);
    return put_panels(f->sim, stack, nb_hdf5_pixel_bytes(layout), f->canvas, err);
}

nb_status nb_frame_encode(nb_frame *f, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err)
{
    const nb_product product = frame_hdf5_product(f, layout->type);
    const void *pixels;
    nb_status st = frame_pixels(f, &product, &pixels, err);
    if (!st && !f->scratch) {
        f->scratch = nb_alloc_raw(1, nb_hdf5_frame_bytes(layout) + 16384, "frame", err);
        st = f->scratch ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && !panels_are_stack(f->sim)) {
        st = fill_canvas(f, layout, pixels, err);
        pixels = f->canvas;
    }
    return st ? st : nb_hdf5_chunk_encode(layout, pixels, f->scratch, chunk, bytes, err);
}
