/* SPDX-License-Identifier: MIT */
/* Convert exceptions, words of parameters, buffers and callbacks for Python. */
#include "module.h"

#include <string.h>

enum { MAX_WORDS = 32 };

static PyObject *device_error; /* nanobragg.DeviceError */

PyObject *nb_python_raise(const nb_error *err, nb_status st)
{
    PyObject *type = PyExc_RuntimeError;
    if (PyErr_Occurred())
        return NULL;
    if (st == NB_ERR_IO || strstr(err->message, ": cannot read: "))
        type = PyExc_OSError;
    else if (st == NB_ERR_INPUT)
        type = PyExc_ValueError;
    else if (st == NB_ERR_NOMEM)
        type = PyExc_MemoryError;
    else if (st == NB_ERR_UNSUPPORTED)
        type = PyExc_NotImplementedError;
    else if (st == NB_ERR_DEVICE)
        type = device_error;
    PyErr_SetString(type, err->message[0] ? err->message : nb_status_name(st));
    return NULL;
}

int nb_python_failed(const nb_error *err, nb_status st)
{
    if (!st && !PyErr_Occurred())
        return 0;
    nb_python_raise(err, st);
    return -1;
}

PyObject *nb_python_device_error(void)
{
    if (!device_error)
        device_error = PyErr_NewExceptionWithDoc(
            "nanobragg.DeviceError", "An accelerator failed.", PyExc_RuntimeError, NULL);
    return device_error;
}

void nb_python_append(PyObject **list, PyObject *item)
{
    if (!item || PyList_Append(*list, item))
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

int nb_python_put(PyObject *dict, const char *name, PyObject *value)
{
    int failed = !value || PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

const char *nb_python_text(PyObject *object)
{
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(object, &n);
    if (!text || strlen(text) == (size_t)n)
        return text;
    PyErr_Format(PyExc_ValueError, "%R: a text must not have a null character", object);
    return NULL;
}

int nb_python_words(PyObject *list, const char **words, int limit)
{
    Py_ssize_t n = PySequence_Size(list);
    if (n < 0 || n > limit) {
        if (n > limit)
            PyErr_Format(PyExc_ValueError, "%zd values are too many", n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *word = PySequence_GetItem(list, i); /* the list holds the text */
        words[i] = word ? nb_python_text(word) : NULL;
        Py_XDECREF(word);
        if (!words[i])
            return -1;
    }
    return (int)n;
}

static int set_one(PyObject *pair, void *base, int series)
{
    const char *words[MAX_WORDS], *name;
    PyObject *list;
    const nb_param *param;
    nb_error err = {0};
    int n;
    if (!PyArg_ParseTuple(pair, "sO", &name, &list))
        return -1;
    param = nb_param_find(name);
    if (!param || !(param->flags & NB_PARAM_SERIES) != !series) {
        PyErr_Format(PyExc_TypeError, "no parameter is called '%s' here", name);
        return -1;
    }
    if (list == Py_None && !series) {
        nb_config unset; /* a configuration that holds no text */
        nb_config_defaults(&unset);
        nb_param_copy(param, base, &unset);
        return 0;
    }
    if ((n = nb_python_words(list, words, MAX_WORDS)) < 0)
        return -1;
    return nb_python_failed(&err, nb_param_set(param, base, words, n, &err));
}

int nb_python_set_words(PyObject *list, void *base, int series)
{
    Py_ssize_t n = PySequence_Size(list);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PySequence_GetItem(list, i);
        int failed = !pair || set_one(pair, base, series);
        Py_XDECREF(pair);
        if (failed)
            return -1;
    }
    return n < 0 ? -1 : 0;
}

int nb_python_buffer(PyObject *object, int writable, size_t bytes, const char *what,
                     Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE)) {
        view->obj = NULL;
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s: must be a %sC-contiguous array", what,
                     writable ? "writable " : "");
        return -1;
    }
    if ((size_t)view->len == bytes)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: has %zd bytes, but %zu are needed", what,
                 view->len, bytes);
    PyBuffer_Release(view);
    return -1;
}

int nb_python_optional(PyObject *object, int writable, size_t bytes, const char *what,
                       Py_buffer *view)
{
    return object == Py_None ? 0 : nb_python_buffer(object, writable, bytes, what, view);
}

void nb_python_release_buffers(nb_python_buffers *buffers)
{
    for (size_t i = 0; i < sizeof buffers->of / sizeof *buffers->of; i++)
        PyBuffer_Release(&buffers->of[i]); /* does nothing without a buffer */
}

static void notice(void *user, const char *line)
{
    const nb_python_calls *calls = user;
    PyGILState_STATE gil;
    PyObject *result;
    if (!calls->notice || calls->notice == Py_None)
        return;
    gil = PyGILState_Ensure();
    result = PyObject_CallFunction(calls->notice, "s", line);
    if (!result)
        PyErr_WriteUnraisable(calls->notice);
    Py_XDECREF(result);
    PyGILState_Release(gil);
}

/** Runs in the thread that called the library; that thread keeps a raised exception. */
static int progress(void *user, double fraction)
{
    const nb_python_calls *calls = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_Occurred() || PyErr_CheckSignals();
    if (!stop && calls->progress && calls->progress != Py_None) {
        PyObject *result = PyObject_CallFunction(calls->progress, "d", fraction);
        stop = !result || PyObject_IsTrue(result) != 0;
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
    return stop;
}

nb_hooks nb_python_hooks(nb_python_calls *calls)
{
    return (nb_hooks){calls, notice, progress};
}
