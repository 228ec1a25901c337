/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../model/frame.h"
#include "../params/params.h"
#include "../physics/panels.h"

int nb_panels_are_stack(const nb_sim *sim)
{
    return sim->model.scene.n_panels == 1         ? !nb_sim_canvas(sim, NULL).as_file
           : !nb_stack_is_even(&sim->model.scene) ? 0
                                                  : sim->cfg.layout == NB_LAYOUT_STACK;
}

static nb_status places(const nb_sim *sim, int (**place)[2], nb_panel_canvas *canvas,
                        nb_error *err)
{
    *place = nb_alloc((size_t)sim->model.scene.n_panels, sizeof **place, "layout", err);
    if (!*place)
        return NB_ERR_NOMEM;
    *canvas = nb_sim_canvas(sim, *place);
    return NB_OK;
}

nb_status nb_panels_to_canvas(const nb_sim *sim, const nb_hdf5_layout *layout,
                              const void *stack, void *canvas, nb_error *err)
{
    const size_t bytes = nb_hdf5_pixel_bytes(layout);
    const char *from = stack;
    int(*place)[2];
    nb_panel_canvas size;
    nb_status st = places(sim, &place, &size, err);
    if (st)
        return st;
    memset(canvas, layout->type == NB_HDF5_F32 ? 0 : 0xff, nb_hdf5_frame_bytes(layout));
    for (int k = 0; k < sim->model.scene.n_panels; k++) {
        const nb_panel *p = &sim->model.scene.panels[k];
        const size_t row = (size_t)p->columns * bytes;
        for (int j = 0; j < p->rows; j++, from += row)
            memcpy((char *)canvas + ((size_t)(place[k][1] + j) * (size_t)layout->fast +
                                     (size_t)place[k][0]) *
                                        bytes,
                   from, row);
    }
    nb_free(place);
    return NB_OK;
}

static void mark_panel(const nb_scene *sc, const nb_panel *p, const int place[2],
                       size_t stride, uint8_t *bad)
{
    const uint8_t *mask = sc->raster.mask;
    size_t at = p->first_pixel;
    for (int j = 0; j < p->rows; j++) {
        uint8_t *row = bad + (size_t)(place[1] + j) * stride + (size_t)place[0];
        for (int i = 0; i < p->columns; i++, at++)
            row[i] = mask && !mask[at] ? 2 : 0;
    }
}

nb_status nb_panels_bad(const nb_sim *sim, uint8_t **out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    int(*place)[2];
    nb_panel_canvas canvas;
    uint8_t *bad;
    size_t n;
    nb_status st;
    *out = NULL;
    if ((st = places(sim, &place, &canvas, err)))
        return st;
    n = (size_t)canvas.size[0] * (size_t)canvas.size[1];
    if (!sc->raster.mask && (!canvas.as_file || n == sc->raster.pixels)) {
        nb_free(place);
        return NB_OK;
    }
    if (!(bad = nb_alloc_raw(n, 1, "pixel mask", err))) {
        nb_free(place);
        return NB_ERR_NOMEM;
    }
    memset(bad, 1, n);
    for (int k = 0; k < sc->n_panels; k++)
        mark_panel(sc, &sc->panels[k], place[k], (size_t)canvas.size[0], bad);
    nb_free(place);
    *out = bad;
    return NB_OK;
}

static void put(double out[3], nb_vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static void set_axes(nb_convention convention, nb_hdf5_panels *out)
{
    for (int i = 0; i < 3; i++) {
        const double unit[3] = {i == 0, i == 1, i == 2};
        put(out->axes[i], nb_lab_of_nexus(convention, unit));
    }
}

nb_status nb_master_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_convention convention = sim->model.geometry.convention;
    const size_t n = (size_t)sc->n_panels;
    nb_detector_spec *d = nb_alloc(1, sizeof *d, "panels", err);
    nb_panel_canvas canvas;
    nb_status st;
    memset(out, 0, sizeof *out);
    out->detector = d;
    out->origin = nb_alloc(n, sizeof *out->origin, "panels", err);
    out->fast = nb_alloc(n, sizeof *out->fast, "panels", err);
    out->slow = nb_alloc(n, sizeof *out->slow, "panels", err);
    if (!d || !out->origin || !out->fast || !out->slow)
        st = NB_ERR_NOMEM;
    else if (!(st = nb_sim_detector_spec(sim, d, err)))
        st = places(sim, &out->place, &canvas, err);
    for (size_t k = 0; !st && k < n; k++) {
        put(out->origin[k], sc->panels[k].pix0);
        put(out->fast[k], sc->panels[k].fast);
        put(out->slow[k], sc->panels[k].slow);
    }
    out->convention = nb_param_choice("convention", (int)convention);
    set_axes(convention, out);
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
