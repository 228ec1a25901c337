/* SPDX-License-Identifier: MIT */
/* Canvas of an HDF5 master file: the panels at their positions, with gaps between
 * them. */
#include <string.h>

#include "../base/memory.h"
#include "../model/detector.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../sim/light.h"
#include "../outputs/write.h"

int nb_canvas_is_stack(const nb_sim *sim)
{
    return sim->model.scene.n_panels == 1         ? !nb_sim_canvas(sim, NULL).as_file
           : !nb_stack_is_even(&sim->model.scene) ? 0
                                                  : sim->cfg.layout == NB_LAYOUT_STACK;
}

nb_status nb_canvas_put(const nb_sim *sim, const void *stack, size_t bytes, void *canvas,
                        nb_error *err)
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

/** True if the ROI is the whole detector, or if the detector comes from a file. */
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

nb_status nb_canvas_bad(const nb_sim *sim, uint8_t **bad, nb_error *err)
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
        st = nb_canvas_put(sim, stack, 1, *bad, err);
    }
    nb_free(stack);
    return st;
}

nb_status nb_canvas_factors(const nb_sim *sim, float **factors, nb_error *err)
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
    NB_TRY(nb_canvas_put(sim, stack, sizeof *stack, *factors, err));
    nb_free(stack);
    return st;
}

static void put(double out[3], nb_vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

nb_status nb_canvas_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err)
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
        nb_canvas_panels_free(out);
    return st;
}

void nb_canvas_panels_free(nb_hdf5_panels *panels)
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
