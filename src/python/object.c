/* SPDX-License-Identifier: MIT */
/* What the methods of _nanobragg.Sim share. */
#include "module.h"

#include <stdio.h>

void nb_python_copy(nb_python_sim *self)
{
    nb_sim_size(self->sim, &self->fast, &self->slow);
    self->seed = nb_sim_seed(self->sim);
    snprintf(self->backend, sizeof self->backend, "%s", nb_sim_backend(self->sim));
}

int nb_python_enter(nb_python_sim *self)
{
    if (!self->busy && self->sim) {
        self->busy = 1;
        return 0;
    }
    PyErr_SetString(PyExc_RuntimeError,
                    self->busy ? "this simulation is in use by another thread"
                               : "this simulation was not created");
    return -1;
}

void nb_python_leave(nb_python_sim *self)
{
    nb_python_copy(self);
    self->calls.progress = NULL;
    self->busy = 0;
}

size_t nb_python_pixels(const nb_python_sim *self)
{
    int fast, slow;
    nb_sim_size(self->sim, &fast, &slow);
    return (size_t)fast * (size_t)slow;
}

PyObject *nb_python_facts(const nb_fact *facts, const void *of)
{
    PyObject *dict = PyDict_New();
    for (const nb_fact *f = facts; dict && f->name; f++) {
        const double x = nb_fact_number(f, of);
        PyObject *value;
        if (f->of_panels)
            continue;
        value = f->kind == NB_FACT_DOUBLE ? PyFloat_FromDouble(x)
                                          : PyLong_FromLongLong((long long)x);
        if (!value || PyDict_SetItemString(dict, f->name, value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *nb_python_stats(const nb_stats *s)
{
    return nb_python_facts(nb_stats_facts(), s);
}
