/* SPDX-License-Identifier: MIT */
/* Derivatives: methods of _nanobragg.Sim. */
#include "module.h"

#include <stdlib.h>

/** variables(list) -> [name, ...] */
PyObject *nb_method_variables(PyObject *object, PyObject *text)
{
    NB_PYTHON_ENTER(self, object);
    const char *list = nb_python_text(text);
    char(*names)[NB_VARIABLE_NAME] = NULL;
    PyObject *result;
    int count = 0;
    if (!list)
        return NULL;
    NB_PYTHON_TRY(nb_sim_variables(self->sim, list, &names, &count, &err));
    result = PyList_New(0);
    for (int i = 0; result && i < count; i++)
        nb_python_append(&result, PyUnicode_FromString(names[i]));
    nb_free(names);
    return result;
}

/** parameter(name) -> dict */
PyObject *nb_method_parameter(PyObject *object, PyObject *text)
{
    NB_PYTHON_ENTER(self, object);
    const char *name = nb_python_text(text);
    nb_variable v;
    if (!name)
        return NULL;
    NB_PYTHON_TRY(nb_sim_parameter(self->sim, name, &v, &err));
    return Py_BuildValue("{s:s,s:d,s:s,s:s,s:s,s:O,s:s}", "name", v.name, "value", v.value,
                         "unit", v.unit, "flag", v.flag, "moves", v.moves, "can_move",
                         v.can_move ? Py_True : Py_False, "why_not", v.why_not);
}

/** Read a sequence of `count` numbers; 0, or -1 with an exception. */
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
PyObject *nb_method_set_parameters(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list, *numbers;
    const char *names[NB_VARIABLES_MAX];
    double values[NB_VARIABLES_MAX];
    int n;
    if (!PyArg_ParseTuple(args, "OO", &list, &numbers) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        numbers_of(numbers, values, n))
        return NULL;
    NB_PYTHON_TRY(nb_sim_set_parameters(self->sim, names, values, n, &err));
    Py_RETURN_NONE;
}

/** fold_rotation() -> misset angles, deg: add rot to the orientation and set rot to 0 */
PyObject *nb_method_fold_rotation(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    double misset[3];
    NB_PYTHON_TRY(nb_sim_fold_rotation(self->sim, misset, &err));
    return Py_BuildValue("(ddd)", misset[0], misset[1], misset[2]);
}

/** derivatives(names, double, planes, image | None, progress) */
PyObject *nb_method_derivatives(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list, *out, *image_out, *progress;
    NB_PYTHON_VIEW planes = {0}, image = {0};
    const char *names[NB_VARIABLES_MAX];
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpOOO", &list, &wide, &out, &image_out, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        nb_python_plane(self, out, 1, (size_t)n * (wide ? sizeof(double) : sizeof(float)),
                        "planes", &planes) ||
        nb_python_optional(image_out, 1, nb_python_pixels(self) * sizeof(float), "image",
                           &image))
        return NULL;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_derivatives(self->sim, names, n,
                                     wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32, planes.buf,
                                     image.buf, &err));
    Py_RETURN_NONE;
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

/** pullback(names, double, dloss, want_F, progress) -> floats, (hkl, gradient) | None */
PyObject *nb_method_pullback(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list, *slopes, *progress;
    NB_PYTHON_VIEW dloss = {0};
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    __attribute__((cleanup(nb_hkl_gradient_free))) nb_hkl_gradient F = {0};
    int n, wide, want_F;
    if (!PyArg_ParseTuple(args, "OpOpO", &list, &wide, &slopes, &want_F, &progress) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0 ||
        nb_python_plane(self, slopes, 0, wide ? sizeof(double) : sizeof(float),
                        "dL_dimage", &dloss))
        return NULL;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_pullback(self->sim, names, n,
                                  wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32, dloss.buf,
                                  gradient, want_F ? &F : NULL, &err));
    return gradient_of(gradient, n, want_F, &F);
}

/** normal(names, sigma, n_knots, photons, background, knots, levels, gradient, fisher, progress) -> loss */
PyObject *nb_method_normal(PyObject *object, PyObject *args)
{
    static const char *const what[6] = {"photons", "background", "knots",
                                        "levels",  "gradient",   "fisher"};
    NB_PYTHON_ENTER(self, object);
    PyObject *list, *a[6], *progress;
    NB_PYTHON_BUFFERS v = {0};
    const char *names[NB_VARIABLES_MAX];
    nb_observation seen = {0};
    double loss = 0;
    int count;
    if (!PyArg_ParseTuple(args, "OdiOOOOOOO", &list, &seen.sigma, &seen.n_knots, &a[0],
                          &a[1], &a[2], &a[3], &a[4], &a[5], &progress) ||
        (count = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0)
        return NULL;
    const size_t knots = (size_t)seen.n_knots, n = (size_t)count + knots,
                 pixels = nb_python_pixels(self) * sizeof(float),
                 bytes[6] = {pixels,
                             pixels,
                             knots * sizeof(double),
                             knots * sizeof(double),
                             n * sizeof(double),
                             n * n * sizeof(double)};
    for (int i = 0; i < 6; i++)
        if (nb_python_optional(a[i], i > 3, bytes[i], what[i], &v.of[i]))
            return NULL;
    seen.likelihood = seen.sigma > 0 ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    seen.photons = v.of[0].buf;
    seen.background = v.of[1].buf;
    seen.knots = v.of[2].buf;
    seen.values = v.of[3].buf;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_normal(self->sim, names, count, &seen, &loss, v.of[4].buf,
                                v.of[5].buf, &err));
    return PyFloat_FromDouble(loss);
}

/** pullback_device(names, double, address, pixels) -> floats; trusts the address */
PyObject *nb_method_pullback_device(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list;
    const char *names[NB_VARIABLES_MAX];
    double gradient[NB_VARIABLES_MAX];
    unsigned long long address, pixels;
    int n, wide;
    if (!PyArg_ParseTuple(args, "OpKK", &list, &wide, &address, &pixels) ||
        (n = nb_python_words(list, names, NB_VARIABLES_MAX)) < 0)
        return NULL;
    if (pixels != nb_python_pixels(self)) {
        PyErr_SetString(PyExc_ValueError, "dL_dimage: has another number of pixels");
        return NULL;
    }
    NB_PYTHON_TRY(nb_sim_pullback_device(
        self->sim, names, n, wide ? NB_REAL_FLOAT64 : NB_REAL_FLOAT32,
        (const void *)(uintptr_t)address, gradient, &err));
    return gradient_of(gradient, n, 0, NULL);
}

/** render_double(out, progress): float64 */
PyObject *nb_method_render_double(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *out, *progress;
    NB_PYTHON_VIEW view = {0};
    if (!PyArg_ParseTuple(args, "OO", &out, &progress) ||
        nb_python_plane(self, out, 1, sizeof(double), "out", &view))
        return NULL;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_render_double(self->sim, view.buf, &err));
    Py_RETURN_NONE;
}
