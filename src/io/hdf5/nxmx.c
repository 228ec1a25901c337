/* SPDX-License-Identifier: MIT */
/* Read the detector of an NXmx file. Master files of nanobragg also have exact panels. */
#include "hdf5_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../model/detector.h"
#include "../../params/params.h"
#include "hdf5_get.h"

#define PANELS "/entry/simulation/panels"

/** Read a data set of n rows of `width` numbers. Returns NULL if it has another shape. */
static double *rows_of(const nb_h5_input *in, const char *path, int n, int width)
{
    hsize_t d[NB_H5_RANK];
    int rank = 0;
    double *values = nb_h5_get_numbers(in, path, &rank, d);
    if (values && rank == (width > 1 ? 2 : 1) &&
        d[0] * d[1] * d[2] == (hsize_t)n * (hsize_t)width &&
        d[2] == (hsize_t)(width > 1 ? width : n))
        return values;
    nb_free(values);
    return NULL;
}

static void turn(nb_convention convention, const double lab[3], double out[3])
{
    nb_nexus_of_lab(convention, nb_v3(lab[0], lab[1], lab[2]), out);
}

enum { ORIGIN, FAST, SLOW, PIXEL, THICKNESS, ATTENUATION, GAIN, SATURATION, COLUMNS };

static void use(double *const c[COLUMNS], nb_convention convention, int k,
                nb_panel_spec *p)
{
    turn(convention, c[ORIGIN] + 3 * k, p->origin);
    turn(convention, c[FAST] + 3 * k, p->fast);
    turn(convention, c[SLOW] + 3 * k, p->slow);
    memcpy(p->pixel, c[PIXEL] + 2 * k, sizeof p->pixel);
    p->thickness = c[THICKNESS][k];
    p->attenuation = c[THICKNESS][k] > 0 ? c[ATTENUATION][k] : NAN;
    p->gain = c[GAIN][k];
    p->saturation = c[SATURATION][k];
}

/* Replace the panels by the exact panels of /entry/simulation/panels, if that group has
 * as many panels as modules, in the lab frame of this convention. Errors:
 * NB_ERR_INPUT. */
static nb_status read_own(const nb_h5_input *in, int convention, nb_detector_spec *d,
                          nb_error *err)
{
    static const char *const names[COLUMNS] = {
        PANELS "/origin",    PANELS "/fast",        PANELS "/slow", PANELS "/pixel",
        PANELS "/thickness", PANELS "/attenuation", PANELS "/gain", PANELS "/saturation"};
    const nb_place_in_file at = {in->name, 0, PANELS};
    char said[16];
    double *c[COLUMNS];
    int all = 1;
    nb_status st = NB_OK;
    if (!nb_h5_there(in, PANELS) ||
        !nb_h5_get_string(in, PANELS, "convention", said, sizeof said) ||
        strcmp(said, nb_param_choice("convention", convention)) != 0)
        return NB_OK;
    for (int i = 0; i < COLUMNS; i++) {
        c[i] = rows_of(in, names[i], d->n_panels, i < PIXEL ? 3 : i == PIXEL ? 2 : 1);
        all &= c[i] != NULL;
    }
    for (int k = 0; all && !st && k < d->n_panels; k++) {
        use(c, (nb_convention)convention, k, &d->panels[k]);
        st = nb_panel_spec_check(&d->panels[k], &at, err);
    }
    for (int i = 0; i < COLUMNS; i++)
        nb_free(c[i]);
    return st;
}

/** A file with detector and modules. */
typedef struct reader {
    nb_h5_input in;
    char entry[NB_H5_NAME], instrument[NB_H5_NAME], detector[NB_H5_NAME];
    char (*modules)[NB_H5_NAME]; /* owned */
    int n;
    int (*slabs)[2]; /* owned, [n]: slab (slowest index), first row in the slab */
    int rows;        /* number of rows of a slab */
    const nb_geometry_typed *typed;
} reader;

typedef char place[NB_H5_PATH];

static nb_status wrong(const reader *r, const char *path, const char *what, nb_error *err)
{
    return nb_h5_wrong(&r->in, path, what, err);
}

static nb_status find_modules(reader *r, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_nx_entry(&r->in, r->entry, err));
    NB_FORWARD(nb_nx_one_group(&r->in, r->entry, "NXinstrument", r->instrument, err));
    NB_FORWARD(nb_nx_one_group(&r->in, r->instrument, "NXdetector", r->detector, err));
    NB_FORWARD(nb_h5_children(&r->in, r->detector, "NXdetector_module", NB_PANELS_MAX,
                              &r->modules, &r->n, err));
    if (r->n == 0)
        return wrong(
            r, r->detector,
            "has no group of class NXdetector_module; if it is of one panel, -img takes "
            "it from older files, too",
            err);
    r->slabs = nb_alloc((size_t)r->n, sizeof *r->slabs, "modules", err);
    return r->slabs ? NB_OK : NB_ERR_NOMEM;
}

/** Read two or three whole numbers: [slab] slow fast. */
static nb_status read_triple(const reader *r, const char *path, int v[3], nb_error *err)
{
    hsize_t dims[NB_H5_RANK];
    int rank = 0, n;
    double *values = nb_h5_get_numbers(&r->in, path, &rank, dims);
    nb_status st = NB_OK;
    n = values && rank == 1 && dims[2] <= 3 ? (int)dims[2] : 0;
    if (n < 2)
        st = wrong(r, path, "must be two or three whole numbers", err);
    v[0] = 0;
    for (int i = 0; !st && i < n; i++) {
        if (!(values[i] >= 0 && values[i] <= 1 << 28 && values[i] == floor(values[i])))
            st = wrong(r, path, "must be whole numbers, 0 or above", err);
        else
            v[3 - n + i] = (int)values[i];
    }
    nb_free(values);
    return st;
}

static nb_status read_size(reader *r, int k, nb_panel_spec *p, nb_error *err)
{
    place size, origin;
    int pixels[3], first[3];
    nb_status st;
    snprintf(size, sizeof size, "%s/data_size", r->modules[k]);
    snprintf(origin, sizeof origin, "%s/data_origin", r->modules[k]);
    NB_FORWARD(read_triple(r, size, pixels, err));
    NB_FORWARD(read_triple(r, origin, first, err));
    p->size[0] = pixels[2];
    p->size[1] = pixels[1];
    p->place[0] = first[2];
    p->place[1] = first[1];
    r->slabs[k][0] = first[0];
    r->slabs[k][1] = first[1];
    if (first[1] + pixels[1] > r->rows)
        r->rows = first[1] + pixels[1];
    return NB_OK;
}

/** Read a pixel direction: edge length, and unit vector turned by the chain of axes. */
static nb_status read_direction(const reader *r, int k, const char *name,
                                const nb_nx_chain *chain, double *pixel, double v[3],
                                nb_error *err)
{
    place path;
    nb_status st;
    snprintf(path, sizeof path, "%s/%s", r->modules[k], name);
    NB_FORWARD(nb_nx_get_length(&r->in, path, pixel, err));
    if (!nb_h5_get_vector(&r->in, path, "vector", 3, v) || !(nb_length3(v) > 0))
        return wrong(r, path, "the attribute vector must be a direction", err);
    nb_unit3(v);
    nb_nx_turn(chain, 0, v);
    return NB_OK;
}

static nb_status read_place(const reader *r, int k, nb_nx_chain *chain, nb_panel_spec *p,
                            nb_error *err)
{
    place fast;
    char next[NB_H5_NAME];
    nb_status st;
    if (!nb_h5_at(&r->in, r->modules[k], "fast_pixel_direction", fast))
        return wrong(r, fast, "is not there", err);
    if (!nb_h5_get_string(&r->in, fast, "depends_on", next, sizeof next))
        snprintf(next, sizeof next, ".");
    NB_FORWARD(nb_nx_chain_read(&r->in, fast, next, chain, err));
    NB_FORWARD(nb_nx_offset(&r->in, fast, p->origin, err));
    NB_FORWARD(
        read_direction(r, k, "fast_pixel_direction", chain, &p->pixel[0], p->fast, err));
    NB_FORWARD(
        read_direction(r, k, "slow_pixel_direction", chain, &p->pixel[1], p->slow, err));
    nb_nx_move(chain, 0, p->origin);
    return NB_OK;
}

static nb_status read_module(reader *r, int k, nb_nx_chain *chain, nb_panel_spec *p,
                             nb_error *err)
{
    const char *name = strrchr(r->modules[k], '/') + 1;
    char said[NB_PANEL_NAME];
    nb_place_in_file at = {r->in.name, 0, r->modules[k]};
    nb_status st;
    if (nb_h5_get_string(&r->in, r->modules[k], "panel_name", said, sizeof said))
        name = said;
    if (strlen(name) >= sizeof p->name)
        return wrong(r, r->modules[k], "the name is too long", err);
    memset(p->name, 0, sizeof p->name);
    memcpy(p->name, name, strlen(name));
    NB_FORWARD(read_size(r, k, p, err));
    NB_FORWARD(read_place(r, k, chain, p, err));
    return nb_panel_spec_check(p, &at, err);
}

/** Read thickness, material and largest value of all modules. */
static nb_status read_sensor(const reader *r, nb_detector_spec *out, nb_error *err)
{
    char material[NB_MATERIAL_NAME];
    place path;
    double thickness = 0, limit;
    nb_status st;
    (void)nb_h5_at(&r->in, r->detector, "saturation_value", path);
    limit = nb_h5_get_number(&r->in, path, 0, 1);
    (void)nb_h5_at(&r->in, r->detector, "sensor_material", path);
    if (!nb_h5_get_string(&r->in, path, NULL, material, sizeof material))
        material[0] = '\0';
    if (nb_h5_at(&r->in, r->detector, "sensor_thickness", path) &&
        (st = nb_nx_get_length(&r->in, path, &thickness, err)))
        return st;
    if (thickness < 0)
        return wrong(r, path, "must be 0 or above", err);
    for (int k = 0; k < out->n_panels; k++) {
        nb_panel_spec *p = &out->panels[k];
        p->saturation = isfinite(limit) ? limit : NAN;
        p->thickness = thickness < NB_NX_THINNEST_M ? 0 : thickness;
        p->attenuation = NAN;
        memcpy(p->material, material, sizeof material);
    }
    return NB_OK;
}

/** Stack panels of different slabs below each other. */
static nb_status set_places(const reader *r, nb_detector_spec *out, nb_error *err)
{
    for (int k = 0; k < out->n_panels; k++) {
        double slow = (double)r->slabs[k][0] * r->rows + r->slabs[k][1];
        if (slow > 1 << 30)
            return wrong(r, r->modules[k], "data_origin is too large", err);
        out->panels[k].place[1] = (int)slow;
    }
    return NB_OK;
}

/* --- mask --- */

static nb_status mask_panel(const reader *r, const nb_h5_set *set, const int32_t *values,
                            int k, nb_detector_spec *out, nb_error *err)
{
    const nb_panel_spec *p = &out->panels[k];
    size_t slab = set->rank == 3 ? (size_t)r->slabs[k][0] : 0;
    size_t rows = (size_t)set->dims[1], columns = (size_t)set->dims[2];
    uint8_t *to = out->mask + nb_spec_first_pixel(out, k);
    size_t first = (size_t)r->slabs[k][1];
    if (slab >= set->dims[0] || first + (size_t)p->size[1] > rows ||
        (size_t)p->place[0] + (size_t)p->size[0] > columns)
        return wrong(r, set->path, "is smaller than the modules", err);
    for (int j = 0; j < p->size[1]; j++) {
        const int32_t *row =
            values + (slab * rows + first + (size_t)j) * columns + p->place[0];
        for (int i = 0; i < p->size[0]; i++)
            *to++ = row[i] == 0;
    }
    return NB_OK;
}

static nb_status use_mask(const reader *r, const nb_h5_set *set, nb_detector_spec *out,
                          nb_error *err)
{
    nb_status st;
    int32_t *values = nb_h5_set_all(set, H5T_NATIVE_INT32, sizeof *values, &st, err);
    NB_TRY(nb_spec_need_mask(out, err));
    for (int k = 0; !st && k < out->n_panels; k++)
        st = mask_panel(r, set, values, k, out, err);
    nb_free(values);
    if (!st)
        nb_spec_drop_mask(out);
    return st;
}

static nb_status read_mask(const reader *r, nb_detector_spec *out, nb_error *err)
{
    place path;
    nb_h5_set set;
    nb_status st;
    if (!nb_h5_at(&r->in, r->detector, "pixel_mask", path))
        return NB_OK;
    if (!nb_h5_set_open(&r->in, path, -1, &set))
        return wrong(r, path, "cannot be read", err);
    st = set.rank < 2 ? wrong(r, path, "must have two or three dimensions", err)
                      : use_mask(r, &set, out, err);
    nb_h5_set_close(&set);
    return st;
}

/* --- beam and scan --- */

static nb_status read_beam(const reader *r, nb_detector_spec *out, nb_error *err)
{
    place path = "";
    nb_status st;
    NB_FORWARD(nb_nx_check_probe(&r->in, r->entry, r->instrument, err));
    if (nb_nx_polarization(&r->in, r->entry, r->instrument, 0, &out->polarization,
                           &out->polar_axis) == 0)
        out->polarization = NAN;
    out->wavelength_A = nb_nx_wavelength(&r->in, r->entry, r->instrument, 0, path);
    if (!path[0] || (out->wavelength_A > 1e-6 && out->wavelength_A < 1e6))
        return NB_OK;
    if (!isnan(r->typed->wavelength_A) || r->typed->has_sources) {
        out->wavelength_A = NAN;
        return NB_OK;
    }
    return wrong(r, path,
                 "must be a number above 0, and the attribute units must name a length, "
                 "or an energy",
                 err);
}

/** Read the scan; a negative width reverses the axis. */
static nb_status read_scan(const reader *r, nb_nx_chain *chain, nb_detector_spec *out,
                           nb_error *err)
{
    nb_nx_scan scan;
    nb_status st;
    NB_FORWARD(nb_nx_scan_read(&r->in, r->entry, 0, chain, &scan, err));
    out->spindle = scan.spindle;
    out->phi_deg = scan.phi_deg;
    out->osc_deg = scan.osc_deg;
    nb_spec_positive_osc(out);
    return NB_OK;
}

static nb_status read_panels(reader *r, nb_nx_chain *chain, nb_detector_spec *out,
                             nb_error *err)
{
    nb_status st = find_modules(r, err);
    NB_TRY(nb_detector_spec_new(r->n, out, err));
    for (int k = 0; !st && k < r->n; k++)
        st = read_module(r, k, chain, &out->panels[k], err);
    if (st || (st = nb_spec_check_size(out, r->in.name, err)) ||
        (st = read_sensor(r, out, err)) || (st = read_mask(r, out, err)) ||
        (st = set_places(r, out, err)) ||
        (st = read_own(&r->in, (int)r->typed->convention, out, err)) ||
        (st = read_beam(r, out, err)))
        return st;
    return read_scan(r, chain, out, err);
}

nb_status nb_nxmx_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    nb_h5_remarks remarks = {"", ""};
    reader r = {.typed = typed};
    nb_nx_chain *chain = nb_alloc(1, sizeof *chain, "transformations", err);
    nb_status st = chain ? nb_h5_start(&r.in, path, NULL, err) : NB_ERR_NOMEM;
    memset(out, 0, sizeof *out);
    r.in.remarks = &remarks;
    NB_TRY(nb_h5_stop(&r.in, read_panels(&r, chain, out, err), err));
    nb_free(chain);
    nb_free(r.modules);
    nb_free(r.slabs);
    if (remarks.bare[0])
        nb_notice(hooks, "%s: without units, so m, A, eV or deg are taken: %s", path,
                  remarks.bare);
    if (st)
        nb_detector_spec_free(out);
    return st;
}
