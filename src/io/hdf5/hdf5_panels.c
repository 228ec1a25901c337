/* SPDX-License-Identifier: MIT */
#include "hdf5_panels.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/memory.h"
#include "hdf5_place.h"
#include "../common/panel_spec.h"

#define SIMULATION "/entry/simulation"
#define PANELS SIMULATION "/panels"

enum { PATH = 120 };

static void put_direction(nb_h5 *h, const char *module, const char *name, double pixel,
                          const double v[3], const char *stands_on)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", module, name);
    nb_h5_number(h, path, pixel * 1e3, "mm");
    nb_hdf5_make_axis(h, path, "translation", v, stands_on);
}

static void put_module(nb_h5 *h, const char *module, const nb_panel_spec *p,
                       const int place[2])
{
    const int64_t origin[2] = {place[1], place[0]}, size[2] = {p->size[1], p->size[0]};
    const hsize_t two = 2;
    double v[3] = {0, 0, 1}, length = nb_length3(p->origin);
    char path[PATH], offset[PATH];
    nb_h5_group(h, module, "NXdetector_module");
    nb_h5_attr_text(h, module, "panel_name", p->name);
    snprintf(path, sizeof path, "%s/data_origin", module);
    nb_h5_array(h, path, H5T_NATIVE_INT64, origin, 1, &two);
    snprintf(path, sizeof path, "%s/data_size", module);
    nb_h5_array(h, path, H5T_NATIVE_INT64, size, 1, &two);
    for (int i = 0; i < 3; i++)
        v[i] = p->origin[i] / length;
    snprintf(offset, sizeof offset, "%s/module_offset", module);
    nb_h5_number(h, offset, length * 1e3, "mm");
    nb_hdf5_make_axis(h, offset, "translation", v, ".");
    put_direction(h, module, "fast_pixel_direction", p->pixel[0], p->fast, offset);
    put_direction(h, module, "slow_pixel_direction", p->pixel[1], p->slow, offset);
}

void nb_hdf5_put_modules(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_panels *all = master->panels;
    const nb_detector_spec *d = all->detector;
    char module[64];
    for (int k = 0; k < d->n_panels; k++) {
        snprintf(module, sizeof module, NB_HDF5_DETECTOR "/module_%04d", k);
        put_module(h, d->n_panels > 1 ? module : NB_HDF5_DETECTOR "/module",
                   &d->panels[k], all->place[k]);
    }
}

/** One number of each panel. */
static void put_numbers(nb_h5 *h, const char *path, const nb_detector_spec *d,
                        size_t offset, const char *units)
{
    hsize_t n = (hsize_t)d->n_panels;
    double *values = nb_alloc((size_t)n, sizeof *values, "panels", NULL);
    h->ok &= values != NULL;
    for (hsize_t k = 0; values && k < n; k++)
        memcpy(&values[k], (const char *)&d->panels[k] + offset, sizeof *values);
    if (values)
        nb_h5_array(h, path, H5T_NATIVE_DOUBLE, values, 1, &n);
    if (values && units)
        nb_h5_attr_text(h, path, "units", units);
    nb_free(values);
}

/** Two integers, or two doubles, of each panel. */
static void put_pairs(nb_h5 *h, const nb_hdf5_panels *all)
{
    const nb_detector_spec *d = all->detector;
    const hsize_t dims[2] = {(hsize_t)d->n_panels, 2};
    double(*pixel)[2] = nb_alloc((size_t)d->n_panels, sizeof *pixel, "panels", NULL);
    int32_t(*size)[2] = nb_alloc((size_t)d->n_panels, sizeof *size, "panels", NULL);
    h->ok &= pixel && size;
    if (h->ok) {
        for (int k = 0; k < d->n_panels; k++)
            for (int i = 0; i < 2; i++) {
                pixel[k][i] = d->panels[k].pixel[i];
                size[k][i] = d->panels[k].size[i];
            }
        nb_h5_array(h, PANELS "/pixel", H5T_NATIVE_DOUBLE, pixel, 2, dims);
        nb_h5_attr_text(h, PANELS "/pixel", "units", "m");
        nb_h5_array(h, PANELS "/size", H5T_NATIVE_INT32, size, 2, dims);
        for (int k = 0; k < d->n_panels; k++)
            for (int i = 0; i < 2; i++)
                size[k][i] = all->place[k][i];
        nb_h5_array(h, PANELS "/place", H5T_NATIVE_INT32, size, 2, dims);
    }
    nb_free(pixel);
    nb_free(size);
}

static void put_names(nb_h5 *h, const nb_detector_spec *d)
{
    const char **names =
        nb_alloc((size_t)d->n_panels, sizeof *names, "names of panels", NULL);
    h->ok &= names != NULL;
    for (int k = 0; names && k < d->n_panels; k++)
        names[k] = d->panels[k].name;
    if (names)
        nb_h5_texts(h, PANELS "/name", names, (hsize_t)d->n_panels);
    nb_free(names);
}

/** Vectors in millimetres where the older fields have them. */
static void put_millimetres(nb_h5 *h, const nb_hdf5_panels *all, const hsize_t dims[2])
{
    size_t n = (size_t)all->detector->n_panels;
    double(*mm)[3] = nb_alloc(n, sizeof *mm, "panels", NULL);
    h->ok &= mm != NULL;
    for (size_t k = 0; mm && k < n; k++)
        for (int i = 0; i < 3; i++)
            mm[k][i] = all->origin[k][i] * 1e3;
    if (mm)
        nb_h5_array(h, SIMULATION "/pix0_vector", H5T_NATIVE_DOUBLE, mm, 2, dims);
    nb_h5_attr_text(h, SIMULATION "/pix0_vector", "units", "mm");
    nb_free(mm);
}

void nb_hdf5_put_panels(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_panels *all = master->panels;
    const nb_detector_spec *d = all->detector;
    const hsize_t dims[2] = {(hsize_t)d->n_panels, 3};
    put_millimetres(h, all, dims);
    nb_h5_array(h, SIMULATION "/fdet_vector", H5T_NATIVE_DOUBLE, all->fast, 2, dims);
    nb_h5_array(h, SIMULATION "/sdet_vector", H5T_NATIVE_DOUBLE, all->slow, 2, dims);
    nb_h5_group(h, PANELS, "NXcollection");
    nb_h5_attr_text(h, PANELS, "convention", all->convention);
    nb_h5_array(h, PANELS "/origin", H5T_NATIVE_DOUBLE, all->origin, 2, dims);
    nb_h5_attr_text(h, PANELS "/origin", "units", "m");
    nb_h5_array(h, PANELS "/fast", H5T_NATIVE_DOUBLE, all->fast, 2, dims);
    nb_h5_array(h, PANELS "/slow", H5T_NATIVE_DOUBLE, all->slow, 2, dims);
    put_pairs(h, all);
    put_numbers(h, PANELS "/thickness", d, offsetof(nb_panel_spec, thickness), "m");
    put_numbers(h, PANELS "/attenuation", d, offsetof(nb_panel_spec, attenuation), "1/m");
    put_numbers(h, PANELS "/gain", d, offsetof(nb_panel_spec, gain), NULL);
    put_numbers(h, PANELS "/saturation", d, offsetof(nb_panel_spec, saturation), NULL);
    put_names(h, d);
}
#else
typedef int nb_hdf5_panels_is_absent; /* a file must not be empty */
#endif
