/* SPDX-License-Identifier: MIT */
/* Arrays in place of files: buffers of numpy -> nb_arrays. */
#include "module.h"

#include <limits.h>
#include <string.h>

/** Keep the buffer of object for these arrays: `size` bytes for each of *count items, which it sets.
 * None: *data is NULL.  0, or -1 with an exception. */
static int keep(nb_python_arrays *a, PyObject *object, size_t size, const void **data,
                size_t *count)
{
    Py_buffer *view = &a->views[a->n_views];
    *data = NULL;
    if (object == Py_None)
        return 0;
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE))
        return -1;
    a->n_views++;
    *count = (size_t)view->len / size;
    *data = view->buf;
    return 0;
}

static int is_short(const char *what, size_t have, size_t need)
{
    if (have == need)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: %zu values where %zu belong", what, have, need);
    return -1;
}

static int take_hkl(nb_python_arrays *a, PyObject *value)
{
    PyObject *hkl, *F;
    const void *data, *values;
    size_t n = 0, m = 0;
    if (!PyArg_ParseTuple(value, "OO", &hkl, &F) ||
        keep(a, hkl, sizeof *a->given.hkl, &data, &n) ||
        keep(a, F, sizeof *a->given.F, &values, &m) || is_short("hkl", m, n))
        return -1;
    a->given.hkl = data;
    a->given.F = values;
    a->given.reflections = n;
    return 0;
}

static int take_mask(nb_python_arrays *a, PyObject *value)
{
    PyObject *mask;
    const void *data;
    size_t n = 0;
    int fast, slow;
    if (!PyArg_ParseTuple(value, "Oii", &mask, &fast, &slow) ||
        keep(a, mask, 1, &data, &n) || is_short("mask", n, (size_t)fast * (size_t)slow))
        return -1;
    a->given.mask = data;
    a->given.mask_fast = fast;
    a->given.mask_slow = slow;
    return 0;
}

static int take_sources(nb_python_arrays *a, PyObject *value)
{
    PyObject *wavelength, *weight, *position;
    const void *waves, *weights, *positions;
    size_t n = 0, m, k;
    if (!PyArg_ParseTuple(value, "OOO", &wavelength, &weight, &position) ||
        keep(a, wavelength, sizeof(double), &waves, &n))
        return -1;
    m = k = n;
    if (keep(a, weight, sizeof(double), &weights, &m) || is_short("sources", m, n) ||
        keep(a, position, sizeof *a->given.position, &positions, &k) ||
        is_short("sources", k, n) || (n > INT_MAX && is_short("sources", n, INT_MAX)))
        return -1;
    a->given.wavelength = waves;
    a->given.weight = weights;
    a->given.position = positions;
    a->given.sources = (int)n;
    return 0;
}

static int take_matrix(nb_python_arrays *a, PyObject *value)
{
    const void *data;
    size_t n = 0;
    if (keep(a, value, sizeof(double), &data, &n) || is_short("matrix", n, 9))
        return -1;
    a->given.matrix = data;
    return 0;
}

static int take_A(nb_python_arrays *a, PyObject *value)
{
    const void *data;
    size_t n = 0;
    if (keep(a, value, sizeof(double), &data, &n) || is_short("A", n, 9))
        return -1;
    a->given.A = data;
    a->given.A_count = 1;
    return 0;
}

/** (float32 [slow][fast], fast, slow) */
static int take_plane(nb_python_arrays *a, PyObject *value, const char *name,
                      const float **plane, int *fast, int *slow)
{
    PyObject *pixels;
    const void *data;
    size_t n = 0;
    if (!PyArg_ParseTuple(value, "Oii", &pixels, fast, slow) ||
        keep(a, pixels, sizeof **plane, &data, &n) ||
        is_short(name, n, (size_t)*fast * (size_t)*slow))
        return -1;
    *plane = data;
    return 0;
}

static int take_transmission(nb_python_arrays *a, PyObject *value)
{
    return take_plane(a, value, "transmission", &a->given.transmission,
                      &a->given.transmission_fast, &a->given.transmission_slow);
}

static int take_add(nb_python_arrays *a, PyObject *value)
{
    return take_plane(a, value, "add", &a->given.add, &a->given.add_fast,
                      &a->given.add_slow);
}

static int take_blocks(nb_python_arrays *a, PyObject *value)
{
    const void *data;
    if (keep(a, value, 1, &data, &a->given.blocks_bytes))
        return -1;
    a->given.blocks = data;
    return 0;
}

static int take_all(nb_python_arrays *a, PyObject *dict)
{
    static const struct {
        const char *name;
        int (*take)(nb_python_arrays *a, PyObject *value);
    } kinds[] = {{"hkl", take_hkl},
                 {"mask", take_mask},
                 {"sourcefile", take_sources},
                 {"mat", take_matrix},
                 {"A", take_A},
                 {"transmission", take_transmission},
                 {"add", take_add},
                 {"mosaic_blocks", take_blocks}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        PyObject *value = PyDict_GetItemString(dict, kinds[i].name); /* borrowed */
        if (value && kinds[i].take(a, value))
            return -1;
    }
    return 0;
}

int nb_python_use_arrays(PyObject *dict, nb_config *cfg, nb_python_arrays *a)
{
    nb_error err = {0};
    nb_status st = NB_OK;
    memset(a, 0, sizeof *a);
    if (cfg->arrays)
        a->given = *cfg->arrays; /* of the simulation: those stay */
    if (!PyDict_Size(dict))
        return 0;
    if (!take_all(a, dict))
        st = nb_config_use_arrays(cfg, &a->given, &err);
    if (st)
        nb_python_raise(&err, st);
    if (!PyErr_Occurred())
        return 0;
    nb_python_release_arrays(a);
    return -1;
}

void nb_python_release_arrays(nb_python_arrays *a)
{
    while (a->n_views > 0)
        PyBuffer_Release(&a->views[--a->n_views]);
}

/** New bytes; None without data. */
static PyObject *bytes_of(const void *data, size_t count, size_t size)
{
    if (data)
        return PyBytes_FromStringAndSize(data, (Py_ssize_t)(count * size));
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *plane_of(const float *plane, int fast, int slow)
{
    return Py_BuildValue(
        "(Nii)", bytes_of(plane, (size_t)fast * (size_t)slow, sizeof *plane), fast, slow);
}

static PyObject *arrays_dict(const nb_config *cfg)
{
    const nb_arrays *a = cfg->arrays;
    const size_t n = a ? a->reflections : 0, m = a ? (size_t)a->sources : 0;
    PyObject *dict = PyDict_New();
    int failed = !dict;
    if (!failed && a && strcmp(cfg->hkl_file, NB_MEMORY_HKL) == 0)
        failed = nb_python_put(dict, "hkl",
                               Py_BuildValue("(NN)", bytes_of(a->hkl, n, sizeof *a->hkl),
                                             bytes_of(a->F, n, sizeof *a->F)));
    if (!failed && a && strcmp(cfg->mask_file, NB_MEMORY_MASK) == 0)
        failed = nb_python_put(
            dict, "mask",
            Py_BuildValue("(Nii)",
                          bytes_of(a->mask, (size_t)a->mask_fast, (size_t)a->mask_slow),
                          a->mask_fast, a->mask_slow));
    if (!failed && a && strcmp(cfg->source_file, NB_MEMORY_SOURCES) == 0)
        failed = nb_python_put(
            dict, "sourcefile",
            Py_BuildValue("(NNN)", bytes_of(a->wavelength, m, sizeof *a->wavelength),
                          bytes_of(a->weight, m, sizeof *a->weight),
                          bytes_of(a->position, m, sizeof *a->position)));
    if (!failed && a && strcmp(cfg->mat_file, NB_MEMORY_MATRIX) == 0)
        failed = nb_python_put(dict, "mat", bytes_of(a->matrix, 9, sizeof *a->matrix));
    if (!failed && a && strcmp(cfg->mat_file, NB_MEMORY_A) == 0)
        failed = nb_python_put(dict, "A", bytes_of(a->A, 9, sizeof *a->A));
    if (!failed && a && strcmp(cfg->transmission_file, NB_MEMORY_TRANSMISSION) == 0)
        failed = nb_python_put(
            dict, "transmission",
            plane_of(a->transmission, a->transmission_fast, a->transmission_slow));
    if (!failed && a && strcmp(cfg->add_file, NB_MEMORY_ADD) == 0)
        failed = nb_python_put(dict, "add", plane_of(a->add, a->add_fast, a->add_slow));
    if (!failed && a && strcmp(cfg->mosaic_blocks, NB_MEMORY_BLOCKS) == 0)
        failed =
            nb_python_put(dict, "mosaic_blocks", bytes_of(a->blocks, a->blocks_bytes, 1));
    if (!failed)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/** arrays() -> the simulation's own arrays, as nb_python_use_arrays takes them */
PyObject *nb_python_arrays_of(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    (void)unused;
    self = nb_python_enter(object);
    return self ? arrays_dict(nb_sim_config(self->sim)) : NULL;
}

/** factors() -> (bytes of hkl int32 [n][3], bytes of F float64 [n]); of the only table */
PyObject *nb_python_factors(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    nb_factor_list list = {0};
    nb_error err = {0};
    nb_status st;
    PyObject *bytes, *result = NULL;
    (void)unused;
    if (!(self = nb_python_enter(object)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_factors(self->sim, 0, &list, &err);
    Py_END_ALLOW_THREADS;
    if (st)
        return nb_python_raise(&err, st);
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(list.count * 3 * sizeof *list.h));
    if (bytes) {
        int32_t *hkl = (int32_t *)(void *)PyBytes_AsString(bytes);
        for (size_t i = 0; i < list.count; i++) {
            hkl[3 * i] = list.h[i];
            hkl[3 * i + 1] = list.k[i];
            hkl[3 * i + 2] = list.l[i];
        }
        result = Py_BuildValue("(Ny#)", bytes, (const char *)list.F,
                               (Py_ssize_t)(list.count * sizeof *list.F));
    }
    nb_factor_list_free(&list);
    return result;
}

/** spectrum(frame) -> (lines as bytes of double energy_eV, wavelength_A, weight and int part, padded; factor) */
PyObject *nb_python_spectrum(PyObject *object, PyObject *frame)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    const long k = PyLong_AsLong(frame);
    nb_error err = {0};
    nb_spectrum_line *lines;
    double factor = 1;
    int n = 0;
    nb_status st;
    PyObject *bytes;
    if (PyErr_Occurred() || !(self = nb_python_enter(object)))
        return NULL;
    st = nb_sim_spectrum(self->sim, 0, NULL, &n, NULL, &err);
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)n * sizeof *lines));
    lines = bytes ? (nb_spectrum_line *)(void *)PyBytes_AsString(bytes) : NULL;
    if (!st && lines && n)
        st = nb_sim_spectrum(self->sim, nb_series_seed(nb_sim_seed(self->sim), (int)k),
                             lines, &n, &factor, &err);
    if (st) {
        Py_XDECREF(bytes);
        return nb_python_raise(&err, st);
    }
    return bytes ? Py_BuildValue("(Nd)", bytes, factor) : NULL;
}

/** set_factors(F): float64 [n] */
PyObject *nb_python_set_factors(PyObject *object, PyObject *F)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    NB_PYTHON_VIEW view = {0};
    nb_error err = {0};
    nb_status st;
    if (!(self = nb_python_enter(object)) || PyObject_GetBuffer(F, &view, PyBUF_SIMPLE))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_set_factors(self->sim, view.buf, (size_t)view.len / sizeof(double), &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}
