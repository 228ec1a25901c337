/* SPDX-License-Identifier: MIT */
/* Series of frames. */
#include "module.h"

#include <stdlib.h>

/** Runs in any thread of the library, one call at a time. */
static int pass_progress(void *user, const nb_series_progress *p)
{
    const nb_python_calls *calls = user;
    PyGILState_STATE gil;
    PyObject *result;
    int stop;
    if (!calls->progress || calls->progress == Py_None)
        return 0;
    gil = PyGILState_Ensure();
    result = PyObject_CallFunction(calls->progress, "ii", p->done, p->frames);
    stop = !result || PyObject_IsTrue(result) != 0;
    if (!result)
        PyErr_WriteUnraisable(calls->progress);
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return stop;
}

static PyObject *result_dict(const nb_series_progress *p)
{
    return Py_BuildValue(
        "{s:i,s:i,s:i,s:L,s:d,s:L,s:s,s:d,s:i,s:L,s:L}", "frames", p->frames, "done",
        p->done, "kept", p->kept, "bytes", (long long)p->bytes, "seconds", p->seconds,
        "seed", (long long)p->seed, "backend", p->backend, "max", p->max, "max_frame",
        p->max_frame, "clipped_output", (long long)p->clipped_output.pixels,
        "clipped_hdf5", (long long)p->clipped_hdf5.pixels);
}

/** series(words, arrays, series words, notice, progress(done, frames) -> true to stop) */
PyObject *nb_method_series(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *words, *own, *dict;
    NB_PYTHON_HELD nb_python_arrays arrays = {0};
    nb_python_calls calls = {0};
    nb_series_progress result = {0};
    __attribute__((cleanup(nb_series_drop))) nb_series series = {0};
    NB_OWN_CONFIG cfg = {0};
    nb_hooks hooks;
    nb_error err = {0};
    nb_status st;
    nb_config_defaults(&cfg);
    nb_series_defaults(&series);
    if (!PyArg_ParseTuple(args, "OOOOO", &words, &dict, &own, &calls.notice,
                          &calls.progress) ||
        nb_python_set_words(words, &cfg, 0) || nb_python_set_words(own, &series, 1) ||
        nb_python_use_arrays(dict, &cfg, &arrays))
        return NULL;
    hooks = nb_python_hooks(&calls);
    hooks.progress = NULL;
    series.calls.user = &calls;
    series.calls.progress = pass_progress;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_series_run(&cfg, &series, &hooks, &result, &err);
    Py_END_ALLOW_THREADS;
    if (st == NB_ERR_CANCELLED)
        return result_dict(&result);
    return st ? nb_python_raise(&err, st) : result_dict(&result);
}
