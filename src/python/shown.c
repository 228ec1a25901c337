/* SPDX-License-Identifier: MIT */
/* Pictures and pages of fits. */
#include "module.h"

#include "../fit/shown.h"
#include "../sim/report.h"

enum { ARRAYS = 9 };

/** The arrays of a fit. */
typedef struct shown {
    nb_shown_fit fit;
    Py_buffer of[ARRAYS];
} shown;

static void release(shown *s)
{
    for (int i = 0; i < ARRAYS; i++)
        PyBuffer_Release(&s->of[i]);
}
#define SHOWN __attribute__((cleanup(release))) shown

/** (slow, fast, observed, model, residual, stol, used, masked, spots, history, before or None); 0, or -1 with an exception. */
static int take(PyObject *tuple, shown *s)
{
    PyObject *a[ARRAYS];
    const size_t sizes[ARRAYS] = {4, 4, 4, 4, 1, 1, 0, 0, 4};
    const void *at[ARRAYS];
    nb_shown_fit *f = &s->fit;
    if (!PyArg_ParseTuple(tuple, "iiOOOOOOOOO", &f->slow, &f->fast, &a[0], &a[1], &a[2],
                          &a[3], &a[4], &a[5], &a[6], &a[7], &a[8]))
        return -1;
    for (int i = 0; i < ARRAYS; i++) {
        const size_t bytes = sizes[i] * (size_t)f->slow * (size_t)f->fast;
        if (a[i] != Py_None && (bytes ? nb_python_buffer(a[i], 0, bytes, "fit", &s->of[i])
                                      : PyObject_GetBuffer(a[i], &s->of[i], PyBUF_SIMPLE)))
            return -1;
        at[i] = s->of[i].buf;
    }
    f->observed = at[0], f->model = at[1], f->residual = at[2], f->stol = at[3];
    f->used = at[4], f->masked = at[5], f->spots = at[6], f->history = at[7];
    f->before = at[8];
    f->n_spots = (int)((size_t)s->of[6].len / sizeof *f->spots);
    f->n_history = (int)((size_t)s->of[7].len / sizeof *f->history);
    return 0;
}

/** plot_fit(arrays, folder) */
PyObject *nb_python_plot_fit(PyObject *self, PyObject *args)
{
    PyObject *arrays;
    SHOWN s = {0};
    const char *folder;
    nb_error err = {0};
    nb_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &arrays, &folder) || take(arrays, &s))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_fit_plots(&s.fit, folder, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_none(&err, st);
}

/** fit_page(arrays, (title, report, flags, command), path or None, number, bytes) -> None, or the part of a page */
PyObject *nb_python_fit_page(PyObject *object, PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *self = NULL;
    PyObject *arrays, *result;
    SHOWN s = {0};
    nb_shown_texts texts = {0};
    char *part = NULL;
    nb_shown_place place = {.part = &part};
    Py_ssize_t bytes;
    nb_error err = {0};
    nb_status st;
    if (!PyArg_ParseTuple(args, "O(ssss)zin", &arrays, &texts.title, &texts.report,
                          &texts.flags, &texts.command, &place.path, &place.number,
                          &bytes) ||
        take(arrays, &s) || !(self = nb_python_enter(object)))
        return NULL;
    place.bytes = (size_t)bytes;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_fit_page(self->sim, &s.fit, &texts, &place, &err);
    Py_END_ALLOW_THREADS;
    if (st || !part)
        return nb_python_none(&err, st);
    result = PyUnicode_FromString(part);
    nb_free(part);
    return result;
}

/** page_ends() -> (bytes before the elements of a page, text behind them) */
PyObject *nb_python_page_ends(PyObject *self, PyObject *unused)
{
    size_t n;
    const char *before = nb_page_before(&n);
    (void)self;
    (void)unused;
    return Py_BuildValue("(s#s)", before, (Py_ssize_t)n, nb_page_behind());
}
