/* SPDX-License-Identifier: MIT */
/* The extension module: the C library's calls over buffers and words.  Names, types and arrays are
 * made in Python (src/python/nanobragg). */
#include <Python.h>
#include <stdio.h>

#include "module.h"

#include "../outputs/report.h"

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static PyObject *choices_of(const nb_param *p)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && p->choices && p->choices[i]; i++)
        nb_python_append(&list, PyUnicode_FromString(p->choices[i]));
    return list;
}

static PyObject *param_row(const nb_param *p)
{
    char value[200], fallback[80];
    int least, most = nb_param_words(p, &least);
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:I,s:s,s:s,s:s,s:s,s:i,s:i,s:N}", "name",
                         p->name, "synonyms", text_of(p->synonyms), "group",
                         text_of(p->group), "kind", (int)p->kind, "flags", p->flags,
                         "unit", text_of(p->unit), "help", text_of(p->help), "fallback",
                         nb_param_default(p, fallback, sizeof fallback), "value",
                         nb_param_value(p, value, sizeof value), "least", least, "most",
                         most, "choices", choices_of(p));
}

static PyObject *params(PyObject *self, PyObject *unused)
{
    size_t n;
    const nb_param *table = nb_params(&n);
    PyObject *list = PyList_New(0);
    (void)self;
    (void)unused;
    for (size_t i = 0; list && i < n; i++)
        nb_python_append(&list, param_row(&table[i]));
    return list;
}

static PyObject *features(PyObject *self, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    (void)self;
    (void)unused;
    for (int i = 0; dict && nb_feature_at(i); i++) {
        const nb_feature *f = nb_feature_at(i);
        if (nb_python_put(dict, f->name,
                          f->present ? PyUnicode_FromString(text_of(f->detail))
                                     : Py_NewRef(Py_None)))
            Py_CLEAR(dict);
    }
    return dict;
}

static PyMethodDef methods[] = {
    {"params", params, METH_NOARGS, "The table of parameters, a dict for each row."},
    {"features", features, METH_NOARGS, "Optional parts of this build; None: absent."},
    {"read_image", nb_python_read_image, METH_VARARGS,
     "read_image(path, fast, slow, MB) -> (pixels, fast, slow, format, centre, pedestal, "
     "left_out)"},
    {"compare", nb_python_compare, METH_VARARGS, "compare(a, b, fast, slow) -> dict"},
    {"page", nb_python_page, METH_VARARGS,
     "page(sim or None, images, names, fast, slow, JSON, bytes) -> JSON"},
    {"picture", nb_python_picture, METH_VARARGS, "picture(pixels, fast, slow, path)"},
    {"series", nb_python_series, METH_VARARGS,
     "series(config words, arrays, series words, notice, progress) -> dict"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_nanobragg", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__nanobragg(void); /* Python declares it nowhere */

PyMODINIT_FUNC PyInit__nanobragg(void)
{
    PyObject *module = PyModule_Create(&definition), *sim = nb_python_sim_type();
    PyObject *device_error, *chosen = nb_python_fit_type(0),
                            *starts = nb_python_fit_type(1);
    if (!module || !sim || !chosen || !starts)
        return NULL;
    device_error = nb_python_device_error();
    if (!device_error || PyModule_AddObjectRef(module, "DeviceError", device_error) ||
        PyModule_AddObjectRef(module, "Sim", sim) ||
        PyModule_AddObjectRef(module, "Chosen", chosen) ||
        PyModule_AddObjectRef(module, "Starts", starts) ||
        nb_python_add_device_image(module) ||
        PyModule_AddStringConstant(module, "version", nb_version()) ||
        PyModule_AddStringConstant(module, "PAGE", nb_page_html) ||
        PyModule_AddIntConstant(module, "SERIES", NB_PARAM_SERIES) ||
        PyModule_AddIntConstant(module, "INPUT", NB_PARAM_INPUT) ||
        PyModule_AddIntConstant(module, "INNER", NB_PARAM_INNER) ||
        PyModule_AddIntConstant(module, "SWITCH", NB_KIND_SWITCH) ||
        PyModule_AddIntConstant(module, "PRESET", NB_KIND_PRESET) ||
        PyModule_AddIntConstant(module, "CELL", NB_KIND_CELL) ||
        PyModule_AddIntConstant(module, "MISSET", NB_KIND_MISSET) ||
        PyModule_AddIntConstant(module, "EACH", NB_PARAM_EACH) ||
        PyModule_AddIntConstant(module, "FILE", NB_KIND_FILE)) {
        Py_DECREF(module);
        return NULL;
    }
    Py_DECREF(sim);
    Py_DECREF(chosen);
    Py_DECREF(starts);
    return module;
}

/* --- What the methods of _nanobragg.Sim share --- */

void nb_python_copy(nb_python_sim *self)
{
    nb_sim_size(self->sim, &self->fast, &self->slow);
    self->seed = nb_sim_seed(self->sim);
    snprintf(self->backend, sizeof self->backend, "%s", nb_sim_backend(self->sim));
}

nb_python_sim *nb_python_enter(PyObject *object)
{
    nb_python_sim *self = (nb_python_sim *)object;
    if (!self->busy && self->sim) {
        self->busy = 1;
        return self;
    }
    PyErr_SetString(PyExc_RuntimeError,
                    self->busy ? "this simulation is in use by another thread"
                               : "this simulation was not created");
    return NULL;
}

void nb_python_leave(nb_python_sim **self)
{
    if (!*self)
        return;
    nb_python_copy(*self);
    (*self)->calls.progress = NULL;
    (*self)->busy = 0;
}

size_t nb_python_pixels(const nb_python_sim *self)
{
    int fast, slow;
    nb_sim_size(self->sim, &fast, &slow);
    return (size_t)fast * (size_t)slow;
}

int nb_python_plane(const nb_python_sim *self, PyObject *object, int writable,
                    size_t size, const char *what, Py_buffer *view)
{
    return nb_python_buffer(object, writable, nb_python_pixels(self) * size, what, view);
}

PyObject *nb_python_facts(const nb_fact *facts, const void *of)
{
    PyObject *dict = PyDict_New();
    for (const nb_fact *f = facts; dict && f->name; f++) {
        const double x = nb_fact_number(f, of);
        if (!f->of_panels &&
            nb_python_put(dict, f->name,
                          f->kind == NB_FACT_DOUBLE ? PyFloat_FromDouble(x)
                                                    : PyLong_FromLongLong((long long)x)))
            Py_CLEAR(dict);
    }
    return dict;
}

PyObject *nb_python_stats(const nb_stats *s)
{
    return nb_python_facts(nb_stats_facts(), s);
}
