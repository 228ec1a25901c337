/* SPDX-License-Identifier: MIT */
/* _nanobragg.Chosen: the pixels that a fit compares with its model.  _nanobragg.Starts: where fits of several pictures
 * begin. */
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

/** Chosen(sim, photons, at int64 [n], background or None, sigma, gauss): pixels at places of the stack, which grow */
static int chosen_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *owner, *photons, *at, *background;
    NB_PYTHON_VIEW places = {0};
    nb_observation seen = {0};
    nb_error err = {0};
    nb_status st;
    Py_ssize_t n;
    int gauss;
    (void)kwargs;
    if (self->sim ||
        !PyArg_ParseTuple(args, "OOOOdp", &owner, &photons, &at, &background, &seen.sigma,
                          &gauss) ||
        !(sim = nb_python_enter(owner)) || (n = PyObject_Size(at)) < 0 ||
        nb_python_buffer(at, 0, (size_t)n * sizeof(int64_t), "places", &places) ||
        nb_python_plane(sim, photons, 0, sizeof(float), "photons", &self->photons) ||
        (background != Py_None && nb_python_plane(sim, background, 0, sizeof(float),
                                                  "background", &self->background)))
        return -1;
    self->sim = Py_NewRef(owner);
    seen.photons = self->photons.buf;
    seen.background = self->background.buf;
    seen.likelihood = gauss ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_chosen_open(sim->sim, &seen, places.buf, (size_t)n, &self->of, &err);
    Py_END_ALLOW_THREADS;
    if (st)
        nb_python_raise(&err, st);
    return st ? -1 : 0;
}

static void chosen_dealloc(PyObject *object)
{
    chosen *self = (chosen *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    nb_chosen_close(&self->of);
    PyBuffer_Release(&self->photons);
    PyBuffer_Release(&self->background);
    Py_XDECREF(self->sim);
    release(object);
    Py_DECREF(type);
}

/** The simulation of an object that was created; NULL with an exception. */
static nb_python_sim *enter_chosen(chosen *self)
{
    if (self->sim)
        return nb_python_enter(self->sim);
    PyErr_SetString(PyExc_RuntimeError, "these pixels were not created");
    return NULL;
}

/** Arrays and names of a call. */
typedef struct sums_call {
    const char *names[NB_VARIABLES_MAX];
    int count, values; /* names; names and knots */
    Py_buffer knots, levels, gradient, fisher, held, scores, model;
} sums_call;

static void release_sums(sums_call *c)
{
    Py_buffer *const views[] = {&c->knots, &c->levels, &c->gradient, &c->fisher,
                                &c->held,  &c->scores, &c->model};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        PyBuffer_Release(views[i]); /* of none nothing */
}
#define SUMS __attribute__((cleanup(release_sums))) sums_call

/** An array that may be None. */
static int optional(PyObject *object, int writable, size_t numbers, const char *what,
                    Py_buffer *view)
{
    return object == Py_None
               ? 0
               : nb_python_buffer(object, writable, numbers * sizeof(double), what, view);
}

/** The background that is refined: knots and levels, or None; 0, or -1 with an exception. */
static int take_knots(chosen *self, sums_call *c, PyObject *knots, PyObject *levels)
{
    const Py_ssize_t n = knots == Py_None ? 0 : PyObject_Size(knots);
    if (n < 0 || optional(knots, 0, (size_t)n, "knots", &c->knots) ||
        optional(levels, 0, (size_t)n, "levels", &c->levels))
        return -1;
    self->of.seen.n_knots = (int)n;
    self->of.seen.knots = c->knots.buf;
    self->of.seen.values = c->levels.buf;
    c->values = c->count + (int)n;
    return 0;
}

/** The arrays that equations fill: gradient, fisher, held, scores, model. */
static int take_results(const chosen *self, sums_call *c, PyObject *const a[5])
{
    const size_t n = (size_t)c->values;
    return optional(a[0], 1, n, "gradient", &c->gradient) ||
           optional(a[1], 1, n * n, "fisher", &c->fisher) ||
           optional(a[2], 1, n * n, "held", &c->held) ||
           optional(a[3], 1, n * n, "scores", &c->scores) ||
           optional(a[4], 1, self->of.n, "model", &c->model);
}

/** normal(names, knots, levels, gradient, fisher) -> loss */
static PyObject *chosen_normal(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *list, *knots, *levels, *a[5] = {NULL, NULL, Py_None, Py_None, Py_None};
    SUMS c = {.count = 0};
    nb_error err = {0};
    nb_status st;
    double loss = 0;
    if (!PyArg_ParseTuple(args, "OOOOO", &list, &knots, &levels, &a[0], &a[1]) ||
        (c.count = nb_python_words(list, c.names, NB_VARIABLES_MAX)) < 0 ||
        !(sim = enter_chosen(self)) || take_knots(self, &c, knots, levels) ||
        take_results(self, &c, a))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_normal_at(sim->sim, c.names, c.count, &self->of.seen, &self->of.list,
                          &loss, c.gradient.buf, c.fisher.buf, &err);
    Py_END_ALLOW_THREADS;
    return st || PyErr_Occurred() ? nb_python_raise(&err, st) : PyFloat_FromDouble(loss);
}

/** scaled(names, knots, levels, width, gradient, fisher, held, scores, model) -> (loss, clusters) */
static PyObject *chosen_scaled(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *list, *knots, *levels, *a[5];
    SUMS c = {.count = 0};
    nb_scaled_sums out = {0};
    nb_error err = {0};
    nb_status st;
    double width;
    if (!PyArg_ParseTuple(args, "OOOdOOOOO", &list, &knots, &levels, &width, &a[0], &a[1],
                          &a[2], &a[3], &a[4]) ||
        (c.count = nb_python_words(list, c.names, NB_VARIABLES_MAX)) < 0 ||
        !(sim = enter_chosen(self)) || take_knots(self, &c, knots, levels) ||
        take_results(self, &c, a))
        return NULL;
    self->of.width = width;
    out = (nb_scaled_sums){.g = c.gradient.buf,
                           .F = c.fisher.buf,
                           .held = c.held.buf,
                           .scores = c.scores.buf,
                           .model = c.model.buf};
    Py_BEGIN_ALLOW_THREADS;
    st = nb_chosen_scaled(&self->of, c.names, c.count, &out, &err);
    Py_END_ALLOW_THREADS;
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    return Py_BuildValue("(di)", out.loss, out.clusters);
}

/** spread(knots, levels) -> (spread of the scales, part of the misfit that they explain) */
static PyObject *chosen_spread(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    PyObject *knots, *levels;
    SUMS c = {.count = 0};
    nb_error err = {0};
    nb_status st;
    double spread = 0, explained = 0;
    if (!PyArg_ParseTuple(args, "OO", &knots, &levels) || !(sim = enter_chosen(self)) ||
        take_knots(self, &c, knots, levels))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_chosen_spread(&self->of, &spread, &explained, &err);
    Py_END_ALLOW_THREADS;
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    return Py_BuildValue("(dd)", spread, explained);
}

/** image(values): photons of the model without backgrounds, float64 [n] */
static PyObject *chosen_image(PyObject *object, PyObject *values)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    NB_PYTHON_VIEW view = {0};
    nb_error err = {0};
    nb_status st;
    if (!(sim = enter_chosen(self)) ||
        nb_python_buffer(values, 1, self->of.n * sizeof(double), "values", &view))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_chosen_image(&self->of, view.buf, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}

static PyObject *chosen_count(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((chosen *)object)->of.n);
}

/** The reflection next to each pixel: their numbers, int32 [n] */
static PyObject *chosen_groups(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    chosen *self = (chosen *)object;
    nb_error err = {0};
    nb_status st;
    (void)unused;
    if (!(sim = enter_chosen(self)))
        return NULL;
    st = nb_chosen_group(&self->of, &err);
    return st ? nb_python_raise(&err, st)
              : PyBytes_FromStringAndSize(
                    (const char *)self->of.group,
                    (Py_ssize_t)(self->of.n * sizeof *self->of.group));
}

/** ungroup(): groups are made again when they are needed next */
static PyObject *chosen_ungroup(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    (void)unused;
    if (!(sim = enter_chosen((chosen *)object)))
        return NULL;
    nb_chosen_ungroup(&((chosen *)object)->of);
    Py_RETURN_NONE;
}

static PyMethodDef chosen_methods[] = {
    {"normal", chosen_normal, METH_VARARGS,
     "normal(names, knots, levels, gradient, fisher) -> loss"},
    {"scaled", chosen_scaled, METH_VARARGS,
     "scaled(names, knots, levels, width, gradient, fisher, held, scores, model) -> "
     "(loss, clusters)"},
    {"spread", chosen_spread, METH_VARARGS, "spread(knots, levels) -> (spread, explained)"},
    {"image", chosen_image, METH_O, "image(values float64 [n])"},
    {"groups", chosen_groups, METH_NOARGS, "groups() -> int32 [n]"},
    {"ungroup", chosen_ungroup, METH_NOARGS, "ungroup()"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef chosen_properties[] = {
    {"n", chosen_count, NULL, "number of pixels", NULL}, {NULL, NULL, NULL, NULL, NULL}};

/* --- Starts --- */

typedef struct starts {
    PyObject_HEAD nb_starts of; /* owned; base NULL: not created */
    const char **names;         /* owned */
    PyObject *list, *notice;    /* owned; the names; a function of a line */
    nb_python_calls calls;
} starts;

static int open_starts(starts *self, PyObject *words, PyObject *dict,
                       const char *orientations)
{
    NB_PYTHON_HELD nb_python_arrays arrays = {0};
    NB_OWN_CONFIG cfg = {0};
    nb_hooks hooks = nb_python_hooks(&self->calls);
    nb_error err = {0};
    nb_status st = NB_ERR_NOMEM;
    nb_config_defaults(&cfg);
    const int failed =
        nb_python_set_words(words, &cfg, 0) || nb_python_use_arrays(dict, &cfg, &arrays);
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS;
        st = nb_starts_open(&self->of, &cfg, orientations, &hooks, &err);
        Py_END_ALLOW_THREADS;
    }
    if (!failed && !st)
        return 0;
    nb_python_raise(&err, st);
    return -1;
}

/** Starts(words, arrays, names of pictures, file of orientations or None, notice) */
static int starts_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    starts *self = (starts *)object;
    PyObject *words, *arrays, *list, *notice;
    const char *orientations;
    Py_ssize_t n;
    (void)kwargs;
    if (self->names ||
        !PyArg_ParseTuple(args, "OOOzO", &words, &arrays, &list, &orientations, &notice) ||
        (n = PySequence_Size(list)) < 0)
        return -1;
    self->list = Py_NewRef(list);
    self->notice = self->calls.notice = Py_NewRef(notice);
    if (!(self->names = calloc((size_t)n + 1, sizeof *self->names))) {
        PyErr_NoMemory();
        return -1;
    }
    if (nb_python_words(list, self->names, (int)n) < 0)
        return -1;
    self->of.pictures = self->names;
    self->of.count = (int)n;
    return open_starts(self, words, arrays, orientations);
}

static void starts_dealloc(PyObject *object)
{
    starts *self = (starts *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    nb_starts_close(&self->of);
    free(self->names);
    Py_XDECREF(self->list);
    Py_XDECREF(self->notice);
    release(object);
    Py_DECREF(type);
}

/** sim(type, threads, place, notice) -> a Sim for fits, one after the other */
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

/** The simulation and the number of the picture of a call; NULL with an exception. */
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

/** begin(sim, k): the start of picture k */
static PyObject *starts_begin(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    starts *self = (starts *)object;
    nb_error err = {0};
    nb_status st;
    int k;
    if (!(sim = enter_picture(self, args, &k)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_starts_begin(&self->of, sim->sim, k, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}

/** read(sim, k) -> as read_image */
static PyObject *starts_read(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    starts *self = (starts *)object;
    nb_image image = {0};
    nb_error err = {0};
    nb_status st;
    int k;
    if (!(sim = enter_picture(self, args, &k)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_starts_read(&self->of, sim->sim, k, &image, &err);
    Py_END_ALLOW_THREADS;
    return st ? nb_python_raise(&err, st) : nb_python_image(&image);
}

/** workers() -> (pictures at a time, threads of each) */
static PyObject *starts_workers(PyObject *object, PyObject *unused)
{
    starts *self = (starts *)object;
    int threads, n;
    (void)unused;
    n = nb_starts_workers(&self->of, &threads);
    return Py_BuildValue("(ii)", n, threads);
}

static PyObject *starts_own_beams(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((starts *)object)->of.expt != NULL);
}

static PyMethodDef starts_methods[] = {
    {"sim", starts_sim, METH_VARARGS, "sim(type, threads, place, notice) -> Sim"},
    {"begin", starts_begin, METH_VARARGS, "begin(sim, k)"},
    {"read", starts_read, METH_VARARGS, "read(sim, k) -> as read_image"},
    {"workers", starts_workers, METH_NOARGS, "workers() -> (at a time, threads of each)"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef starts_properties[] = {
    {"own_beams", starts_own_beams, NULL, "each picture has an experiment", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyObject *nb_python_fit_type(int number)
{
    static PyType_Slot slots[][5] = {{{Py_tp_init, NULL},
                                      {Py_tp_dealloc, NULL},
                                      {Py_tp_methods, chosen_methods},
                                      {Py_tp_getset, chosen_properties},
                                      {0, NULL}},
                                     {{Py_tp_init, NULL},
                                      {Py_tp_dealloc, NULL},
                                      {Py_tp_methods, starts_methods},
                                      {Py_tp_getset, starts_properties},
                                      {0, NULL}}};
    static PyType_Spec specs[] = {
        {"nanobragg._nanobragg.Chosen", sizeof(chosen), 0, Py_TPFLAGS_DEFAULT, slots[0]},
        {"nanobragg._nanobragg.Starts", sizeof(starts), 0, Py_TPFLAGS_DEFAULT, slots[1]}};
    slots[0][0].pfunc = (void *)chosen_init;
    slots[0][1].pfunc = (void *)chosen_dealloc;
    slots[1][0].pfunc = (void *)starts_init;
    slots[1][1].pfunc = (void *)starts_dealloc;
    return PyType_FromSpec(&specs[number]);
}
