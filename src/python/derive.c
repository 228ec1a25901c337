/* SPDX-License-Identifier: MIT */
/* Derivatives: methods of _nanobragg.Sim. */
#include "module.h"

#include <stdlib.h>

/** variables(list) -> [name, ...] */
PyObject *nb_python_variables(PyObject *object, PyObject *text)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    const char *list = nb_python_text(text);
    char(*names)[NB_VARIABLE_NAME] = NULL;
    nb_error err = {0};
    nb_status st;
    PyObject *result;
    int count = 0;
    if (!list || !(self = nb_python_enter(object)))
        return NULL;
    st = nb_sim_variables(self->sim, list, &names, &count, &err);
    if (st)
        return nb_python_raise(&err, st);
    result = PyList_New(0);
    for (int i = 0; result && i < count; i++)
        nb_python_append(&result, PyUnicode_FromString(names[i]));
    nb_free(names);
    return result;
}

/** parameter(name) -> dict */
PyObject *nb_python_parameter(PyObject *object, PyObject *text)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    const char *name = nb_python_text(text);
    nb_variable v;
    nb_error err = {0};
    nb_status st;
    if (!name || !(self = nb_python_enter(object)))
        return NULL;
    st = nb_sim_parameter(self->sim, name, &v, &err);
    if (st)
        return nb_python_raise(&err, st);
    return Py_BuildValue("{s:s,s:d,s:s,s:s,s:s,s:O,s:s}", "name", v.name, "value", v.value,
                         "unit", v.unit, "flag", v.flag, "moves", v.moves, "can_move",
                         v.can_move ? Py_True : Py_False, "why_not", v.why_not);
}

/** Numbers of a sequence of `count`; 0, or -1 with an exception. */
static int numbers_of(PyObject *list, double *values, int count)
{
    if (PySequence_Size(list) != count) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "as many values as names are needed");
        return -1;
    }
    for (int i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        values[i] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/** set_parameters(names, values) */
PyObject *nb_python_set_parameters(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *list, *numbers;
    const char *names[NB_VARIABLES_MAX];
    double values[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    int n;
    if (!PyArg_ParseTuple(args, "OO", &list, &numbers) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        numbers_of(numbers, values, n) || !(self = nb_python_enter(object)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_set_parameters(self->sim, names, values, n, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}

/** fold_rotation(): rot goes into the orientation, and is 0 -> misset angles, deg */
PyObject *nb_python_fold_rotation(PyObject *object, PyObject *unused)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    double misset[3];
    nb_error err = {0};
    nb_status st;
    (void)unused;
    if (!(self = nb_python_enter(object)))
        return NULL;
    st = nb_sim_fold_rotation(self->sim, misset, &err);
    return st ? nb_python_raise(&err, st)
              : Py_BuildValue("(ddd)", misset[0], misset[1], misset[2]);
}

/** derivatives(names, double, planes, image or None, progress) */
PyObject *nb_python_derivatives(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *list, *out, *image_out, *progress;
    NB_PYTHON_VIEW planes = {0}, image = {0};
    const char *names[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpOOO", &list, &wide, &out, &image_out, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        !(self = nb_python_enter(object)) ||
        nb_python_plane(self, out, 1, (size_t)n * (wide ? sizeof(double) : sizeof(float)),
                        "planes", &planes) ||
        (image_out != Py_None &&
         nb_python_plane(self, image_out, 1, sizeof(float), "image", &image)))
        return NULL;
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_derivatives(self->sim, names, n, wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                            planes.buf, image.buf, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}

static PyObject *gradient_of(const double *gradient, int n, int want_F,
                             const nb_hkl_gradient *F)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++)
        nb_python_append(&list, PyFloat_FromDouble(gradient[i]));
    if (!list)
        return NULL;
    if (!want_F)
        return Py_BuildValue("(NO)", list, Py_None);
    return Py_BuildValue(
        "(N(y#y#))", list, (const char *)F->hkl, (Py_ssize_t)(F->count * sizeof *F->hkl),
        (const char *)F->gradient, (Py_ssize_t)(F->count * sizeof *F->gradient));
}

/** pullback(names, double, dloss, want_F, progress) -> (floats, (hkl, gradient) or None) */
PyObject *nb_python_pullback(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *list, *slopes, *progress, *result;
    NB_PYTHON_VIEW dloss = {0};
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    nb_hkl_gradient F = {0};
    nb_error err = {0};
    nb_status st;
    int n, wide, want_F;
    if (!PyArg_ParseTuple(args, "OpOpO", &list, &wide, &slopes, &want_F, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        !(self = nb_python_enter(object)) ||
        nb_python_plane(self, slopes, 0, wide ? sizeof(double) : sizeof(float),
                        "dL_dimage", &dloss))
        return NULL;
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_pullback(self->sim, names, n, wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                         dloss.buf, gradient, want_F ? &F : NULL, &err);
    Py_END_ALLOW_THREADS;
    result = st || PyErr_Occurred() ? nb_python_raise(&err, st)
                                    : gradient_of(gradient, n, want_F, &F);
    nb_hkl_gradient_free(&F);
    return result;
}

/** What normal() was given: arrays, and results to fill. */
typedef struct normal_call {
    const char *names[NB_VARIABLES_MAX];
    int count;
    Py_buffer photons, background, knots, levels, gradient, fisher;
    nb_observation seen;
} normal_call;

static void release_all(normal_call *c)
{
    Py_buffer *const views[] = {&c->photons, &c->background, &c->knots,
                                &c->levels,  &c->gradient,   &c->fisher};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        PyBuffer_Release(views[i]); /* of none nothing */
}

/** An array, or None for one that is not given. */
static int optional(PyObject *object, size_t bytes, const char *what, Py_buffer *view)
{
    return object == Py_None ? 0 : nb_python_buffer(object, 0, bytes, what, view);
}

/** photons, background, (knots, levels), (gradient, fisher) of normal(); 0, or -1 with an exception. */
static int take_arrays(normal_call *c, PyObject *const arrays[6], size_t pixels, int knots)
{
    const size_t n = (size_t)(c->count + knots);
    if (nb_python_buffer(arrays[0], 0, pixels * sizeof(float), "photons", &c->photons) ||
        optional(arrays[1], pixels * sizeof(float), "background", &c->background) ||
        optional(arrays[2], (size_t)knots * sizeof(double), "knots", &c->knots) ||
        optional(arrays[3], (size_t)knots * sizeof(double), "levels", &c->levels) ||
        nb_python_buffer(arrays[4], 1, n * sizeof(double), "gradient", &c->gradient) ||
        nb_python_buffer(arrays[5], 1, n * n * sizeof(double), "fisher", &c->fisher))
        return -1;
    c->seen.photons = c->photons.buf;
    c->seen.background = c->background.buf;
    c->seen.n_knots = knots;
    c->seen.knots = c->knots.buf;
    c->seen.values = c->levels.buf;
    return 0;
}

/** normal(names, sigma, n_knots, photons, background, knots, levels, gradient, fisher, progress) -> loss */
PyObject *nb_python_normal(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *list, *a[6], *progress;
    __attribute__((cleanup(release_all))) normal_call c = {.count = 0};
    nb_error err = {0};
    nb_status st;
    double loss = 0;
    int knots;
    if (!PyArg_ParseTuple(args, "OdiOOOOOOO", &list, &c.seen.sigma, &knots, &a[0], &a[1],
                          &a[2], &a[3], &a[4], &a[5], &progress) ||
        (c.count = nb_python_words(list, c.names, NB_VARIABLES_MAX)) < 0 ||
        !(self = nb_python_enter(object)))
        return NULL;
    c.seen.likelihood = c.seen.sigma > 0 ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    if (take_arrays(&c, a, nb_python_pixels(self), knots))
        return NULL;
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_normal(self->sim, c.names, c.count, &c.seen, &loss, c.gradient.buf,
                       c.fisher.buf, &err);
    Py_END_ALLOW_THREADS;
    return st || PyErr_Occurred() ? nb_python_raise(&err, st) : PyFloat_FromDouble(loss);
}

/** pullback_device(names, double, address, pixels) -> floats; the caller warrants the memory */
PyObject *nb_python_pullback_device(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *list;
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    unsigned long long address, pixels;
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpKK", &list, &wide, &address, &pixels) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        !(self = nb_python_enter(object)))
        return NULL;
    if (pixels != nb_python_pixels(self)) {
        PyErr_SetString(PyExc_ValueError, "dL_dimage: has another number of pixels");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_pullback_device(self->sim, names, n,
                                wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                                (const void *)(uintptr_t)address, gradient, &err);
    Py_END_ALLOW_THREADS;
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    return gradient_of(gradient, n, 0, NULL);
}

/** render_double(out, progress): float64 */
PyObject *nb_python_render_double(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *out, *progress;
    NB_PYTHON_VIEW view = {0};
    nb_error err = {0};
    nb_status st;
    if (!PyArg_ParseTuple(args, "OO", &out, &progress) ||
        !(self = nb_python_enter(object)) ||
        nb_python_plane(self, out, 1, sizeof(double), "out", &view))
        return NULL;
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_render_double(self->sim, view.buf, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}
