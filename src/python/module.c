/* SPDX-License-Identifier: MIT */
/* The extension module calls the C library with buffers and words.  Python code
 * (src/python/nanobragg) makes names, types and arrays. */
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
    int least, max = nb_param_words(p, &least);
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:I,s:s,s:s,s:s,s:s,s:i,s:i,s:N}", "name",
                         p->name, "synonyms", text_of(p->synonyms), "group",
                         text_of(p->group), "kind", (int)p->kind, "flags", p->flags,
                         "unit", text_of(p->unit), "help", text_of(p->help), "fallback",
                         nb_param_default(p, fallback, sizeof fallback), "value",
                         nb_param_value(p, value, sizeof value), "words_min", least,
                         "words_max", max, "choices", choices_of(p));
}

PyObject *nb_method_params(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    size_t n;
    const nb_param *table = nb_params(&n);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++)
        nb_python_append(&list, param_row(&table[i]));
    return list;
}

PyObject *nb_method_features(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && nb_feature_at(i); i++) {
        const nb_feature *f = nb_feature_at(i);
        if (nb_python_put(dict, f->name,
                          f->present ? PyUnicode_FromString(text_of(f->detail))
                                     : Py_NewRef(Py_None)))
            Py_CLEAR(dict);
    }
    return dict;
}

#define ROW(name, how) {#name, nb_method_##name, METH_##how, NULL},
static PyMethodDef methods[] = {NB_PYTHON_FUNCTIONS(ROW){NULL, NULL, 0, NULL}};

static const struct {
    const char *name;
    int value;
} numbers[] = {
    {"SERIES", NB_PARAM_SERIES}, {"INPUT", NB_PARAM_INPUT},  {"INNER", NB_PARAM_INNER},
    {"EACH", NB_PARAM_EACH},     {"SWITCH", NB_KIND_SWITCH}, {"PRESET", NB_KIND_PRESET},
    {"CELL", NB_KIND_CELL},      {"MISSET", NB_KIND_MISSET}, {"FILE", NB_KIND_FILE}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_nanobragg", NULL, -1, methods, NULL, NULL, NULL, NULL};

/* Python's headers do not declare this function */
PyMODINIT_FUNC PyInit__nanobragg(void);

PyMODINIT_FUNC PyInit__nanobragg(void)
{
    PyObject *module = PyModule_Create(&definition);
    int failed = !module || !nb_python_device_error() ||
                 PyModule_AddObjectRef(module, "DeviceError", nb_python_device_error()) ||
                 !nb_python_add_type(module, &nb_python_sim_class) ||
                 !nb_python_add_type(module, &nb_python_chosen_class) ||
                 !nb_python_add_type(module, &nb_python_starts_class) ||
                 nb_python_add_device_image(module) ||
                 PyModule_AddStringConstant(module, "version", nb_version()) ||
                 PyModule_AddStringConstant(module, "PAGE", nb_page_html);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !failed; i++)
        failed = PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value);
    if (failed)
        Py_CLEAR(module);
    return module;
}

PyTypeObject *nb_python_add_type(PyObject *module, const nb_python_class *spec)
{
    PyType_Slot slots[] = {{Py_tp_dealloc, (void *)spec->dealloc},
                           {Py_tp_methods, spec->methods},
                           {spec->properties ? Py_tp_getset : 0, spec->properties},
                           {spec->init ? Py_tp_init : 0, (void *)spec->init},
                           {0, NULL}};
    PyType_Spec all = {
        spec->name, spec->size, 0,
        Py_TPFLAGS_DEFAULT | (spec->init ? 0 : Py_TPFLAGS_DISALLOW_INSTANTIATION), slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&all);
    if (type && PyModule_AddType(module, type))
        Py_CLEAR(type);
    return type;
}

void nb_python_release(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* --- Shared by the methods of _nanobragg.Sim --- */

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
