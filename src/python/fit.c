/* SPDX-License-Identifier: MIT */
/* _nanobragg.Chosen: pixels that a fit compares with its model.
 * _nanobragg.Starts: start values for the fits of several pictures. */
#include "module.h"

#include <stdlib.h>

#include "../fit/chosen.h"
#include "../fit/starts.h"

/* --- Chosen --- */

typedef struct chosen {
    PyObject_HEAD PyObject *sim; /* owned; NULL: not created */
    Py_buffer photons, background;
    nb_chosen of;
} chosen;

/** Chosen(sim, photons, at int64 [n] in ascending order, background | None, sigma,
 * gauss) */
static int chosen_init(PyObject *object, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *owner, *photons, *at, *background;
    NB_PYTHON_VIEW places = {0};
    nb_observation seen = {0};
    Py_ssize_t n;
    int gauss;
    if (self->sim ||
        !PyArg_ParseTuple(args, "OOOOdp", &owner, &photons, &at, &background, &seen.sigma,
                          &gauss) ||
        !(sim = nb_python_enter(owner)) || (n = PyObject_Size(at)) < 0 ||
        nb_python_buffer(at, 0, (size_t)n * sizeof(int64_t), "places", &places) ||
        nb_python_plane(sim, photons, 0, sizeof(float), "photons", &self->photons) ||
        nb_python_optional(background, 0, nb_python_pixels(sim) * sizeof(float),
                           "background", &self->background))
        return -1;
    self->sim = Py_NewRef(owner);
    seen.photons = self->photons.buf;
    seen.background = self->background.buf;
    seen.likelihood = gauss ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    NB_PYTHON_DO(nb_chosen_open(sim->sim, &seen, places.buf, (size_t)n, &self->of, &err));
    return 0;
}

static void chosen_dealloc(PyObject *object)
{
    chosen *self = (chosen *)object;
    nb_chosen_close(&self->of);
    PyBuffer_Release(&self->photons);
    PyBuffer_Release(&self->background);
    Py_XDECREF(self->sim);
    nb_python_release(object);
}

/** Enter the simulation of the pixels; NULL with an exception. */
static nb_python_sim *enter_chosen(chosen *self)
{
    if (self->sim)
        return nb_python_enter(self->sim);
    PyErr_SetString(PyExc_RuntimeError, "these pixels were not created");
    return NULL;
}

enum { KNOTS, LEVELS, GRADIENT, FISHER, HELD, SCORES, MODEL, ARRAYS };

/** Names of a call. */
typedef struct sums_call {
    const char *names[NB_VARIABLES_MAX];
    int count;
} sums_call;

/** Take names (list or NULL) and arrays (float64 | None) of a call: the refined
 * background, and outputs of the equations. Returns 0, or -1 with an exception. */
static int take(chosen *self, PyObject *list, PyObject *const a[ARRAYS], sums_call *c,
                nb_python_buffers *v)
{
    static const char *const what[ARRAYS] = {"knots", "levels", "gradient", "fisher",
                                             "held",  "scores", "model"};
    const Py_ssize_t knots = a[KNOTS] == Py_None ? 0 : PyObject_Size(a[KNOTS]);
    c->count = list ? nb_python_words(list, c->names, NB_VARIABLES_MAX) : 0;
    if (knots < 0 || c->count < 0)
        return -1;
    const size_t k = (size_t)knots, n = (size_t)c->count + k,
                 numbers[ARRAYS] = {k, k, n, n * n, n * n, n * n, self->of.n};
    for (int i = 0; i < ARRAYS; i++)
        if (nb_python_optional(a[i], i >= GRADIENT, numbers[i] * sizeof(double), what[i],
                               &v->of[i]))
            return -1;
    self->of.seen.n_knots = (int)knots;
    self->of.seen.knots = v->of[KNOTS].buf;
    self->of.seen.values = v->of[LEVELS].buf;
    return 0;
}

/** normal(names, knots, levels, gradient, fisher) -> loss */
static PyObject *chosen_normal(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *list, *a[ARRAYS] = {NULL, NULL, NULL, NULL, Py_None, Py_None, Py_None};
    NB_PYTHON_BUFFERS v = {0};
    sums_call c;
    double loss = 0;
    if (!PyArg_ParseTuple(args, "OOOOO", &list, &a[0], &a[1], &a[2], &a[3]) ||
        !(sim = enter_chosen(self)) || take(self, list, a, &c, &v))
        return NULL;
    NB_PYTHON_TRY(nb_sim_normal_at(sim->sim, c.names, c.count, &self->of.seen,
                                   &self->of.list, &loss, v.of[GRADIENT].buf,
                                   v.of[FISHER].buf, &err));
    return PyFloat_FromDouble(loss);
}

/** scaled(names, knots, levels, width, gradient, fisher, held, scores, model) -> (loss, clusters) */
static PyObject *chosen_scaled(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *list, *a[ARRAYS];
    NB_PYTHON_BUFFERS v = {0};
    sums_call c;
    nb_scaled_sums out = {0};
    double width;
    if (!PyArg_ParseTuple(args, "OOOdOOOOO", &list, &a[0], &a[1], &width, &a[2], &a[3],
                          &a[4], &a[5], &a[6]) ||
        !(sim = enter_chosen(self)) || take(self, list, a, &c, &v))
        return NULL;
    self->of.width = width;
    out = (nb_scaled_sums){.g = v.of[GRADIENT].buf,
                           .F = v.of[FISHER].buf,
                           .held = v.of[HELD].buf,
                           .scores = v.of[SCORES].buf,
                           .model = v.of[MODEL].buf};
    NB_PYTHON_TRY(nb_chosen_scaled(&self->of, c.names, c.count, &out, &err));
    return Py_BuildValue("(di)", out.loss, out.clusters);
}

/** spread(knots, levels) -> (spread of the scales, fraction of the misfit that the scales
 * explain) */
static PyObject *chosen_spread(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *a[ARRAYS] = {NULL, NULL, Py_None, Py_None, Py_None, Py_None, Py_None};
    NB_PYTHON_BUFFERS v = {0};
    sums_call c;
    double spread = 0, explained = 0;
    if (!PyArg_ParseTuple(args, "OO", &a[0], &a[1]) || !(sim = enter_chosen(self)) ||
        take(self, NULL, a, &c, &v))
        return NULL;
    NB_PYTHON_TRY(nb_chosen_spread(&self->of, &spread, &explained, &err));
    return Py_BuildValue("(dd)", spread, explained);
}

/** image(values): photons of the model without backgrounds, float64 [n] */
static PyObject *chosen_image(PyObject *object, PyObject *values)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    NB_PYTHON_VIEW view = {0};
    if (!(sim = enter_chosen(self)) ||
        nb_python_buffer(values, 1, self->of.n * sizeof(double), "values", &view))
        return NULL;
    NB_PYTHON_TRY(nb_chosen_image(&self->of, view.buf, &err));
    Py_RETURN_NONE;
}

static PyObject *chosen_count(PyObject *object, void *Py_UNUSED(unused))
{
    return PyLong_FromSize_t(((chosen *)object)->of.n);
}

/** groups() -> number of the reflection nearest to each pixel, int32 [n] as bytes */
static PyObject *chosen_groups(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    if (!(sim = enter_chosen(self)))
        return NULL;
    NB_PYTHON_TRY(nb_chosen_group(&self->of, &err));
    return PyBytes_FromStringAndSize((const char *)self->of.group,
                                     (Py_ssize_t)(self->of.n * sizeof *self->of.group));
}

/** ungroup(): drop the groups; the next call that needs groups makes them again */
static PyObject *chosen_ungroup(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    (void)unused;
    if (!(sim = enter_chosen((chosen *)object)))
        return NULL;
    nb_chosen_ungroup(&((chosen *)object)->of);
    Py_RETURN_NONE;
}

static PyMethodDef chosen_methods[] = {{"normal", chosen_normal, METH_VARARGS, NULL},
                                       {"scaled", chosen_scaled, METH_VARARGS, NULL},
                                       {"spread", chosen_spread, METH_VARARGS, NULL},
                                       {"image", chosen_image, METH_O, NULL},
                                       {"groups", chosen_groups, METH_NOARGS, NULL},
                                       {"ungroup", chosen_ungroup, METH_NOARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
static PyGetSetDef chosen_properties[] = {
    {"n", chosen_count, NULL, "number of pixels", NULL}, {NULL, NULL, NULL, NULL, NULL}};

/* --- Starts --- */

typedef struct starts {
    PyObject_HEAD nb_starts of; /* owned; base NULL: not created */
    const char **names;         /* owned */
    /* owned: list of file names; function that gets a line of text */
    PyObject *list, *notice;
    nb_python_calls calls;
} starts;

/** Starts(words, arrays, names of pictures, file of orientations | None, notice) */
static int starts_init(PyObject *object, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    starts *self = (starts *)object;
    NB_PYTHON_HELD nb_python_arrays arrays = {0};
    NB_OWN_CONFIG cfg = {0};
    nb_hooks hooks = nb_python_hooks(&self->calls);
    PyObject *words, *dict, *list, *notice;
    const char *orientations;
    Py_ssize_t n;
    if (self->names ||
        !PyArg_ParseTuple(args, "OOOzO", &words, &dict, &list, &orientations, &notice) ||
        (n = PySequence_Size(list)) < 0)
        return -1;
    self->list = Py_NewRef(list);
    self->notice = self->calls.notice = Py_NewRef(notice);
    if (!(self->names = calloc((size_t)n + 1, sizeof *self->names)))
        PyErr_NoMemory();
    if (!self->names || nb_python_words(list, self->names, (int)n) < 0)
        return -1;
    self->of.pictures = self->names;
    self->of.count = (int)n;
    nb_config_defaults(&cfg);
    if (nb_python_set_words(words, &cfg, 0) || nb_python_use_arrays(dict, &cfg, &arrays))
        return -1;
    NB_PYTHON_DO(nb_starts_open(&self->of, &cfg, orientations, &hooks, &err));
    return 0;
}

static void starts_dealloc(PyObject *object)
{
    starts *self = (starts *)object;
    nb_starts_close(&self->of);
    free(self->names);
    Py_XDECREF(self->list);
    Py_XDECREF(self->notice);
    nb_python_release(object);
}

/** sim(type, threads, place, notice) -> a Sim for consecutive fits; place: number of this
 * Sim */
static PyObject *starts_sim(PyObject *object, PyObject *args)
{
    starts *self = (starts *)object;
    PyObject *type, *notice;
    nb_python_sim *sim;
    nb_hooks hooks;
    nb_error err = {0};
    nb_status st;
    int threads, place;
    if (!PyArg_ParseTuple(args, "OiiO", &type, &threads, &place, &notice))
        return NULL;
    if (!(sim = nb_python_sim_new((PyTypeObject *)type, notice, &hooks)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_starts_sim(&self->of, &hooks, threads, place, &sim->sim, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_sim_made(sim, &err, st);
}

/** Enter the simulation of a call and set *k, its picture; NULL with an exception. */
static nb_python_sim *enter_picture(starts *self, PyObject *args, int *k)
{
    PyObject *owner;
    if (!PyArg_ParseTuple(args, "Oi", &owner, k))
        return NULL;
    if (self->of.base && *k >= 0 && *k < self->of.count)
        return nb_python_enter(owner);
    PyErr_Format(PyExc_ValueError, "picture %d: there are %d", *k, self->of.count);
    return NULL;
}

/** begin(sim, k): set the start values of picture k */
static PyObject *starts_begin(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    starts *self = (starts *)object;
    int k;
    if (!(sim = enter_picture(self, args, &k)))
        return NULL;
    NB_PYTHON_TRY(nb_starts_begin(&self->of, sim->sim, k, &err));
    Py_RETURN_NONE;
}

/** read(sim, k) -> tuple of read_image for picture k */
static PyObject *starts_read(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    starts *self = (starts *)object;
    nb_image image = {0};
    int k;
    if (!(sim = enter_picture(self, args, &k)))
        return NULL;
    NB_PYTHON_TRY(nb_starts_read(&self->of, sim->sim, k, &image, &err));
    return nb_python_image(&image);
}

/** workers() -> (pictures at a time, threads of each) */
static PyObject *starts_workers(PyObject *object, PyObject *Py_UNUSED(unused))
{
    starts *self = (starts *)object;
    int threads, n;
    n = nb_starts_workers(&self->of, &threads);
    return Py_BuildValue("(ii)", n, threads);
}

static PyObject *starts_own_beams(PyObject *object, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(((starts *)object)->of.expt != NULL);
}

static PyMethodDef starts_methods[] = {{"sim", starts_sim, METH_VARARGS, NULL},
                                       {"begin", starts_begin, METH_VARARGS, NULL},
                                       {"read", starts_read, METH_VARARGS, NULL},
                                       {"workers", starts_workers, METH_NOARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
static PyGetSetDef starts_properties[] = {
    {"own_beams", starts_own_beams, NULL, "each picture has an experiment", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

const nb_python_class nb_python_chosen_class = {"nanobragg._nanobragg.Chosen",
                                                sizeof(chosen),
                                                chosen_init,
                                                chosen_dealloc,
                                                chosen_methods,
                                                chosen_properties};
const nb_python_class nb_python_starts_class = {"nanobragg._nanobragg.Starts",
                                                sizeof(starts),
                                                starts_init,
                                                starts_dealloc,
                                                starts_methods,
                                                starts_properties};
