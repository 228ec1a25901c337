/* SPDX-License-Identifier: MIT */
/* Arrays in place of files: convert buffers of numpy to nb_arrays. */
#include "module.h"
#include "../inputs/inputs.h"

#include <limits.h>
#include <string.h>

/** Keep the buffer of part i; None gives NULL. *n: number of items, which part 0 may
 * set. */
static int keep(nb_python_arrays *a, const nb_array_row *k, int i, PyObject *object,
                size_t *n)
{
    Py_buffer *view = &a->views[a->n_views];
    const void *data = NULL;
    size_t have = *n;
    if (!object || (object != Py_None && PyObject_GetBuffer(object, view, PyBUF_SIMPLE)))
        return -1;
    if (object != Py_None) {
        a->n_views++;
        data = view->buf;
        have = (size_t)view->len / k->part[i].bytes;
    }
    memcpy((char *)&a->given + k->part[i].at, &data, sizeof data);
    *n = i || k->items || k->fast ? *n : have;
    if (have == *n && (k->wide != sizeof(int) || have <= INT_MAX))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: %zu values where %zu belong", k->name, have, *n);
    return -1;
}

static int take(nb_python_arrays *a, const nb_array_row *k, PyObject *value)
{
    PyObject *parts;
    int sides[2] = {0, 0};
    char *given = (char *)&a->given;
    size_t n, count;
    if (!PyArg_ParseTuple(value, "O!|ii", &PyTuple_Type, &parts, &sides[0], &sides[1]))
        return -1;
    n = k->fast ? (size_t)sides[0] * (size_t)sides[1] : k->items;
    for (int i = 0; i < NB_ARRAY_PARTS && k->part[i].bytes; i++)
        if (keep(a, k, i, PyTuple_GetItem(parts, i), &n))
            return -1;
    if (k->fast) {
        memcpy(given + k->fast, &sides[0], sizeof(int));
        memcpy(given + k->slow, &sides[1], sizeof(int));
    }
    count = k->items ? n / k->items : n;
    if (k->wide == sizeof(int))
        memcpy(given + k->count, &(int){(int)count}, sizeof(int));
    else if (k->wide)
        memcpy(given + k->count, &count, sizeof count);
    return 0;
}

static int take_all(nb_python_arrays *a, PyObject *dict)
{
    for (int i = 0; i < NB_ARRAY_KINDS; i++) {
        PyObject *value = PyDict_GetItemString(dict, nb_array_rows[i].name); /* borrowed */
        if (value && take(a, &nb_array_rows[i], value))
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
        a->given = *cfg->arrays; /* the arrays that the simulation has are kept */
    if (!PyDict_Size(dict))
        return 0;
    if (!take_all(a, dict))
        st = nb_config_use_arrays(cfg, &a->given, &err);
    if (!nb_python_failed(&err, st))
        return 0;
    nb_python_release_arrays(a);
    return -1;
}

void nb_python_unname_arrays(nb_config *cfg)
{
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        (void)nb_text_put((nb_text *)(void *)((char *)cfg + nb_array_rows[i].file), "",
                          NULL);
}

void nb_python_release_arrays(nb_python_arrays *a)
{
    while (a->n_views > 0)
        PyBuffer_Release(&a->views[--a->n_views]);
}

/** Value of the dict for a kind, with bytes in place of arrays. */
static PyObject *value_of(const nb_array_row *k, const nb_arrays *a)
{
    const size_t n = nb_array_items(k, a);
    PyObject *list = PyList_New(0), *parts;
    int fast = 0, slow = 0;
    for (int i = 0; list && i < NB_ARRAY_PARTS && k->part[i].bytes; i++) {
        const void *data;
        memcpy(&data, (const char *)a + k->part[i].at, sizeof data);
        nb_python_append(&list, data ? PyBytes_FromStringAndSize(
                                           data, (Py_ssize_t)(n * k->part[i].bytes))
                                     : Py_NewRef(Py_None));
    }
    if (k->fast) {
        memcpy(&fast, (const char *)a + k->fast, sizeof fast);
        memcpy(&slow, (const char *)a + k->slow, sizeof slow);
    }
    parts = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return parts ? Py_BuildValue("(Nii)", parts, fast, slow) : NULL;
}

static PyObject *arrays_dict(const nb_config *cfg)
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && cfg->arrays && i < NB_ARRAY_KINDS; i++)
        if (strcmp(nb_text_at(cfg, nb_array_rows[i].file), nb_array_rows[i].memory) == 0 &&
            nb_python_put(dict, nb_array_rows[i].name,
                          value_of(&nb_array_rows[i], cfg->arrays)))
            Py_CLEAR(dict);
    return dict;
}

/** arrays() -> arrays of the simulation, as nb_python_use_arrays takes them */
PyObject *nb_method_arrays(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    return arrays_dict(nb_sim_config(self->sim));
}

/** factors() -> (hkl int32 [n][3], F float64 [n]) of the only table, as bytes */
PyObject *nb_method_factors(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    nb_factor_list list = {0};
    PyObject *bytes, *result = NULL;
    NB_PYTHON_TRY(nb_sim_factors(self->sim, 0, &list, &err));
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

/** spectrum(frame) -> (nb_spectrum_line [n] (sim.h) as bytes, factor) */
PyObject *nb_method_spectrum(PyObject *object, PyObject *frame)
{
    NB_PYTHON_ENTER(self, object);
    const long k = PyLong_AsLong(frame);
    nb_error err = {0};
    nb_spectrum_line *lines;
    double factor = 1;
    int n = 0;
    nb_status st;
    PyObject *bytes;
    if (PyErr_Occurred())
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
PyObject *nb_method_set_factors(PyObject *object, PyObject *F)
{
    NB_PYTHON_ENTER(self, object);
    NB_PYTHON_VIEW view = {0};
    if (PyObject_GetBuffer(F, &view, PyBUF_SIMPLE))
        return NULL;
    NB_PYTHON_TRY(
        nb_sim_set_factors(self->sim, view.buf, (size_t)view.len / sizeof(double), &err));
    Py_RETURN_NONE;
}
