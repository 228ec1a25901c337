/* SPDX-License-Identifier: MIT */
/* Derivatives: methods of _nanobragg.Sim. */
#include "module.h"

#include <stdlib.h>

/** variables(list) -> [name, ...] */
PyObject *nb_python_variables(PyObject *object, PyObject *text)
{
    nb_python_sim *self = (nb_python_sim *)object;
    const char *list = nb_python_text(text);
    char(*names)[NB_VARIABLE_NAME] = NULL;
    nb_error err = {0};
    nb_status st;
    PyObject *result;
    int count = 0;
    if (!list || nb_python_enter(self))
        return NULL;
    st = nb_sim_variables(self->sim, list, &names, &count, &err);
    nb_python_leave(self);
    if (st)
        return nb_python_raise(&err, st);
    result = PyList_New(count);
    for (int i = 0; result && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_SetItem(result, i, name)) {
            Py_DECREF(result);
            result = NULL;
        }
    }
    nb_free(names);
    return result;
}

/** parameter(name) -> dict */
PyObject *nb_python_parameter(PyObject *object, PyObject *text)
{
    nb_python_sim *self = (nb_python_sim *)object;
    const char *name = nb_python_text(text);
    nb_variable v;
    nb_error err = {0};
    nb_status st;
    if (!name || nb_python_enter(self))
        return NULL;
    st = nb_sim_parameter(self->sim, name, &v, &err);
    nb_python_leave(self);
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
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *list, *numbers;
    const char *names[NB_VARIABLES_MAX];
    double values[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    int n;
    if (!PyArg_ParseTuple(args, "OO", &list, &numbers) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        numbers_of(numbers, values, n) || nb_python_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_set_parameters(self->sim, names, values, n, &err);
    Py_END_ALLOW_THREADS;
    nb_python_leave(self);
    if (st)
        return nb_python_raise(&err, st);
    Py_RETURN_NONE;
}

/** fold_rotation(): rot goes into the orientation, and is 0 */
PyObject *nb_python_fold_rotation(PyObject *object, PyObject *unused)
{
    nb_python_sim *self = (nb_python_sim *)object;
    nb_error err = {0};
    nb_status st;
    (void)unused;
    if (nb_python_enter(self))
        return NULL;
    st = nb_sim_fold_rotation(self->sim, NULL, &err);
    nb_python_leave(self);
    if (st)
        return nb_python_raise(&err, st);
    Py_RETURN_NONE;
}

/** derivatives(names, double, planes, image or None, progress) */
PyObject *nb_python_derivatives(PyObject *object, PyObject *args)
{
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *list, *out, *image_out, *progress;
    Py_buffer planes, image = {0};
    const char *names[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    size_t pixels;
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpOOO", &list, &wide, &out, &image_out, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 || nb_python_enter(self))
        return NULL;
    pixels = nb_python_pixels(self);
    if (nb_python_buffer(out, 1,
                         (size_t)n * pixels * (wide ? sizeof(double) : sizeof(float)),
                         "planes", &planes)) {
        nb_python_leave(self);
        return NULL;
    }
    if (image_out != Py_None &&
        nb_python_buffer(image_out, 1, pixels * sizeof(float), "image", &image)) {
        PyBuffer_Release(&planes);
        nb_python_leave(self);
        return NULL;
    }
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_derivatives(self->sim, names, n, wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                            planes.buf, image.buf, &err);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&planes);
    if (image_out != Py_None)
        PyBuffer_Release(&image);
    nb_python_leave(self);
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    Py_RETURN_NONE;
}

static PyObject *gradient_of(const double *gradient, int n, int want_F,
                             const nb_hkl_gradient *F)
{
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        PyObject *number = PyFloat_FromDouble(gradient[i]);
        if (!number || PyList_SetItem(list, i, number)) {
            Py_DECREF(list);
            return NULL;
        }
    }
    if (!want_F)
        return Py_BuildValue("(NO)", list, Py_None);
    return Py_BuildValue(
        "(N(y#y#))", list, (const char *)F->hkl, (Py_ssize_t)(F->count * sizeof *F->hkl),
        (const char *)F->gradient, (Py_ssize_t)(F->count * sizeof *F->gradient));
}

/** pullback(names, double, dloss, want_F, progress) -> (floats, (hkl, gradient) or None) */
PyObject *nb_python_pullback(PyObject *object, PyObject *args)
{
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *list, *slopes, *progress, *result;
    Py_buffer dloss;
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    nb_hkl_gradient F = {0};
    nb_error err = {0};
    nb_status st;
    int n, wide, want_F;
    if (!PyArg_ParseTuple(args, "OpOpO", &list, &wide, &slopes, &want_F, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 || nb_python_enter(self))
        return NULL;
    if (nb_python_buffer(slopes, 0,
                         nb_python_pixels(self) * (wide ? sizeof(double) : sizeof(float)),
                         "dL_dimage", &dloss)) {
        nb_python_leave(self);
        return NULL;
    }
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_pullback(self->sim, names, n, wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                         dloss.buf, gradient, want_F ? &F : NULL, &err);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&dloss);
    nb_python_leave(self);
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

static void release(Py_buffer *view)
{
    if (view->obj)
        PyBuffer_Release(view);
}

static void release_all(normal_call *c)
{
    release(&c->photons);
    release(&c->background);
    release(&c->knots);
    release(&c->levels);
    release(&c->gradient);
    release(&c->fisher);
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
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *list, *a[6], *progress;
    normal_call c = {.count = 0};
    nb_error err = {0};
    nb_status st = NB_OK;
    double loss = 0;
    int knots, bad;
    if (!PyArg_ParseTuple(args, "OdiOOOOOOO", &list, &c.seen.sigma, &knots, &a[0], &a[1],
                          &a[2], &a[3], &a[4], &a[5], &progress) ||
        (c.count = nb_python_words(list, c.names, NB_VARIABLES_MAX)) < 0 ||
        nb_python_enter(self))
        return NULL;
    c.seen.likelihood = c.seen.sigma > 0 ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    bad = take_arrays(&c, a, nb_python_pixels(self), knots);
    if (!bad) {
        self->calls.progress = progress;
        Py_BEGIN_ALLOW_THREADS;
        st = nb_sim_normal(self->sim, c.names, c.count, &c.seen, &loss, c.gradient.buf,
                           c.fisher.buf, &err);
        Py_END_ALLOW_THREADS;
    }
    release_all(&c);
    nb_python_leave(self);
    if (bad)
        return NULL;
    return st || PyErr_Occurred() ? nb_python_raise(&err, st) : PyFloat_FromDouble(loss);
}

/** pullback_device(names, double, address, pixels) -> floats; the caller warrants the memory */
PyObject *nb_python_pullback_device(PyObject *object, PyObject *args)
{
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *list;
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    nb_error err = {0};
    nb_status st;
    unsigned long long address, pixels;
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpKK", &list, &wide, &address, &pixels) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 || nb_python_enter(self))
        return NULL;
    if (pixels != nb_python_pixels(self)) {
        nb_python_leave(self);
        PyErr_SetString(PyExc_ValueError, "dL_dimage: has another number of pixels");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_pullback_device(self->sim, names, n,
                                wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
                                (const void *)(uintptr_t)address, gradient, &err);
    Py_END_ALLOW_THREADS;
    nb_python_leave(self);
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    return gradient_of(gradient, n, 0, NULL);
}

/** render_double(out, progress): float64 */
PyObject *nb_python_render_double(PyObject *object, PyObject *args)
{
    nb_python_sim *self = (nb_python_sim *)object;
    PyObject *out, *progress;
    Py_buffer view;
    nb_error err = {0};
    nb_status st;
    if (!PyArg_ParseTuple(args, "OO", &out, &progress) || nb_python_enter(self))
        return NULL;
    if (nb_python_buffer(out, 1, nb_python_pixels(self) * sizeof(double), "out", &view)) {
        nb_python_leave(self);
        return NULL;
    }
    self->calls.progress = progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_render_double(self->sim, view.buf, &err);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    nb_python_leave(self);
    if (st || PyErr_Occurred())
        return nb_python_raise(&err, st);
    Py_RETURN_NONE;
}
