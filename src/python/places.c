/* SPDX-License-Identifier: MIT */
/* Methods of _nanobragg.Sim for fits. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fit/places.h"
#include "../physics/panels.h"
#include "../physics/shapes.h"
#include "../sim/footprint.h"
#include "../outputs/write.h"

/** photons(6 fields of an nb_image, dmin, dmax, photons, full, stol, masked) -> sigma */
PyObject *nb_method_photons(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *pixels, *left_out, *to[4];
    NB_PYTHON_BUFFERS v = {0};
    const char *format;
    double dmin, dmax;
    nb_image image = {0};
    nb_seen out = {0};
    if (!PyArg_ParseTuple(args, "OiisdOddOOOO", &pixels, &image.fast, &image.slow,
                          &format, &image.pedestal, &left_out, &dmin, &dmax, &to[0],
                          &to[1], &to[2], &to[3]))
        return NULL;
    if (nb_python_buffer(pixels, 0, (size_t)image.fast * (size_t)image.slow * sizeof(float),
                         "picture", &v.of[0]) ||
        nb_python_optional(left_out, 0, (size_t)image.fast * (size_t)image.slow,
                           "left_out", &v.of[1]))
        return NULL;
    for (int i = 0; i < 4; i++)
        if (nb_python_plane(self, to[i], 1, i < 3 ? sizeof(float) : 1, "out", &v.of[2 + i]))
            return NULL;
    snprintf(image.format, sizeof image.format, "%s", format);
    image.pixels = v.of[0].buf;
    image.left_out = v.of[1].buf;
    out = (nb_seen){.photons = v.of[2].buf,
                    .full = v.of[3].buf,
                    .stol = v.of[4].buf,
                    .masked = v.of[5].buf};
    NB_PYTHON_TRY(nb_place_photons(self->sim, &image, dmin, dmax, &out, &err));
    return PyFloat_FromDouble(out.sigma);
}

/** planes(photons, chosen, spots, sigma, half, background) */
PyObject *nb_method_planes(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *a[4];
    NB_PYTHON_BUFFERS v = {0};
    nb_plane_job job = {0};
    if (!PyArg_ParseTuple(args, "OOOdiO", &a[0], &a[1], &a[2], &job.sigma, &job.half,
                          &a[3]))
        return NULL;
    for (int i = 0; i < 4; i++)
        if (nb_python_plane(self, a[i], i == 3, i == 2 ? 1 : sizeof(float), "planes",
                            &v.of[i]))
            return NULL;
    job.photons = v.of[0].buf;
    job.chosen = v.of[1].buf;
    job.spots = v.of[2].buf;
    NB_PYTHON_TRY(nb_place_planes(self->sim, &job, v.of[3].buf, &err));
    Py_RETURN_NONE;
}

/** places(at int64 [n], offsets float64 [n][2], q float64 [n][3], hkl int32 [n][3], n): q
 * (1/m) and nearest reflection at an offset (pixels) from the corner of each pixel */
PyObject *nb_method_places(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *a[4];
    NB_PYTHON_BUFFERS v = {0};
    const size_t sizes[4] = {8, 16, 24, 12};
    const nb_scene *sc;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OOOOn", &a[0], &a[1], &a[2], &a[3], &n))
        return NULL;
    for (int i = 0; i < 4; i++)
        if (nb_python_buffer(a[i], i > 1, (size_t)n * sizes[i], "places", &v.of[i]))
            return NULL;
    sc = &self->sim->model.scene;
    for (Py_ssize_t i = 0; i < n; i++) {
        const int64_t at = ((const int64_t *)v.of[0].buf)[i];
        const double *off = (const double *)v.of[1].buf + 2 * i;
        const nb_panel *p;
        nb_vec3 q;
        if (at < 0 || (size_t)at >= sc->raster.pixels)
            return PyErr_Format(PyExc_ValueError, "places: no pixel %lld", (long long)at);
        p = &sc->panels[nb_panel_of_pixel(sc, (size_t)at)];
        q = nb_place_q(
            self->sim, p,
            (double)(((size_t)at - p->first_pixel) % (size_t)p->columns) + off[0],
            (double)(((size_t)at - p->first_pixel) / (size_t)p->columns) + off[1]);
        memcpy((double *)v.of[2].buf + 3 * i, (const double[3]){q.x, q.y, q.z}, 24);
        nb_place_hkl(&sc->lattice, q, (int *)v.of[3].buf + 3 * i);
    }
    Py_RETURN_NONE;
}

static void put_vec3(double *to, nb_vec3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

enum { MAX_STEPS = 16 };

/** Cells of the crystal without mosaic at n spindle steps: float64 [n][3][3] bytes, m */
static PyObject *list_steps(const nb_lattice *l)
{
    const int n = l->n_phi < MAX_STEPS ? l->n_phi : MAX_STEPS;
    double all[MAX_STEPS][9];
    for (int i = 0; i < n; i++) {
        const nb_orientation *o =
            &l->orientations[(size_t)(i * l->n_phi / n) * (size_t)l->n_domains];
        put_vec3(all[i], o->a);
        put_vec3(all[i] + 3, o->b);
        put_vec3(all[i] + 6, o->c);
    }
    return PyBytes_FromStringAndSize((const char *)all,
                                     (Py_ssize_t)((size_t)n * sizeof *all));
}

/** crystal() -> dict: edges (m, lab), steps, N, misset (deg), wavelength (A), beam,
 * distance and pixel (m), sources, shape, samples along a pixel (typed; automatic) */
PyObject *nb_method_crystal(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    const nb_model *m;
    double edges[9];
    m = &self->sim->model;
    put_vec3(edges, m->crystal.a);
    put_vec3(edges + 3, m->crystal.b);
    put_vec3(edges + 6, m->crystal.c);
    return Py_BuildValue(
        "{s:y#,s:N,s:(ddd),s:(ddd),s:d,s:(ddd),s:d,s:d,s:i,s:i,s:i,s:i,s:i,s:i,s:i}",
        "edges", (const char *)edges, (Py_ssize_t)sizeof edges, "steps",
        list_steps(&m->scene.lattice), "N", m->scene.lattice.N[0], m->scene.lattice.N[1],
        m->scene.lattice.N[2], "misset", m->crystal.misset[0] / NB_DEG,
        m->crystal.misset[1] / NB_DEG, m->crystal.misset[2] / NB_DEG, "wavelength",
        nb_sim_wavelength(self->sim), "beam", m->geometry.beam.x, m->geometry.beam.y,
        m->geometry.beam.z, "distance", m->geometry.distance, "pixel",
        m->scene.panels[0].pixel_fast, "sources", m->scene.beam.n_sources, "fringes",
        nb_shape_law((int)self->sim->cfg.shape) == NB_LAW_FRINGES, "shape",
        (int)self->sim->cfg.shape, "smooth", NB_SHAPE_SMOOTH, "footprint",
        nb_sim_has_footprint(self->sim), "oversample", m->settings.value.oversample,
        "resolved", m->auto_oversample);
}

static void free_state(PyObject *capsule)
{
    nb_config_free(PyCapsule_GetPointer(capsule, "nb_config"));
}

/** state() -> a capsule of the resolved configuration, for change() of the same simulation */
PyObject *nb_method_state(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    nb_config *cfg;
    if (!(cfg = nb_configs_new(1, NULL)))
        return PyErr_NoMemory();
    nb_config_copy(cfg, nb_sim_config(self->sim));
    return PyCapsule_New(cfg, "nb_config", free_state);
}

/** change(state | None, rows, shape): take the configuration of state (None: the present
 * one) with these rows; shape: number of the shape, or -1 to keep it */
PyObject *nb_method_change(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *state, *rows;
    NB_OWN_CONFIG cfg = {0};
    const nb_config *from;
    int shape;
    if (!PyArg_ParseTuple(args, "OOi", &state, &rows, &shape) ||
        !(from = state == Py_None ? nb_sim_config(self->sim)
                                  : PyCapsule_GetPointer(state, "nb_config")))
        return NULL;
    nb_config_copy(&cfg, from);
    if (nb_python_set_words(rows, &cfg, 0))
        return NULL;
    cfg.shape = shape < 0 ? cfg.shape : (nb_shape)shape;
    NB_PYTHON_TRY(nb_sim_change(self->sim, &cfg, &err));
    Py_RETURN_NONE;
}

/** write_experiments(path, names, edges float64 [n][9], beams float64 [n][4] | None) */
PyObject *nb_method_write_experiments(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list, *edges, *beams;
    NB_PYTHON_BUFFERS v = {0};
    const char **names, *path;
    nb_error err = {0};
    nb_status st = NB_OK;
    Py_ssize_t n;
    int failed;
    if (!PyArg_ParseTuple(args, "sOOO", &path, &list, &edges, &beams) ||
        (n = PySequence_Size(list)) < 0)
        return NULL;
    if (!(names = calloc((size_t)n + 1, sizeof *names)))
        return PyErr_NoMemory();
    failed =
        nb_python_words(list, names, (int)n) < 0 ||
        nb_python_buffer(edges, 0, (size_t)n * 9 * sizeof(double), "edges", &v.of[0]) ||
        nb_python_optional(beams, 0, (size_t)n * 4 * sizeof(double), "beams", &v.of[1]);
    if (!failed) {
        const nb_expt_list all = {.path = path,
                                  .names = names,
                                  .edges = v.of[0].buf,
                                  .beams = v.of[1].buf,
                                  .count = (int)n};
        st = nb_expt_list_write(self->sim, &all, &err);
    }
    free(names);
    return failed || nb_python_failed(&err, st) ? NULL : Py_NewRef(Py_None);
}
