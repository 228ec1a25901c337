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

PyObject *nb_python_stats(const nb_stats *s)
{
    return Py_BuildValue("{s:d,s:i,s:i,s:d,s:d,s:d,s:d,s:L,s:L,s:d}", "max", s->max,
                         "max_fast", s->max_fast, "max_slow", s->max_slow, "sum", s->sum,
                         "mean", s->mean, "rms", s->rms, "rmsd", s->rmsd, "rendered",
                         (long long)s->rendered, "roi_pixels", (long long)s->roi_pixels,
                         "solid_angle", s->solid_angle);
}
