/* SPDX-License-Identifier: MIT */
/* Image files: read, compare, draw. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "../outputs/report.h"

PyObject *nb_python_image(nb_image *image)
{
    const Py_ssize_t pixels = (Py_ssize_t)image->fast * image->slow;
    PyObject *result = Py_BuildValue(
        "(y#iis(dd)dy#)", (const char *)image->pixels, pixels * (Py_ssize_t)sizeof(float),
        image->fast, image->slow, image->format, image->centre[0], image->centre[1],
        image->pedestal, (const char *)image->left_out, pixels);
    nb_image_free(image);
    return result;
}

/** read_image(path, fast, slow) -> (pixels, fast, slow, format, (x, y), pedestal,
 * mask | None) */
PyObject *nb_method_read_image(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *path;
    int fast, slow;
    nb_image image;
    if (!PyArg_ParseTuple(args, "sii", &path, &fast, &slow))
        return NULL;
    NB_PYTHON_TRY(nb_image_read(path, fast, slow, NULL, &image, &err));
    return nb_python_image(&image);
}

static nb_image borrow(Py_buffer *view, int fast, int slow)
{
    nb_image image = {.fast = fast, .slow = slow, .pixels = view->buf};
    image.centre[0] = image.centre[1] = Py_NAN;
    return image;
}

static PyObject *difference_dict(const nb_difference *d)
{
    return Py_BuildValue(
        "{s:L,s:L,s:L,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:i,s:i,s:d,s:d,s:d,s:d,s:i,s:i,s:i,s:"
        "d,s:d,"
        "s:d,s:d,s:s}",
        "pixels", (long long)d->pixels, "nonfinite_a", (long long)d->nonfinite_a,
        "nonfinite_b", (long long)d->nonfinite_b, "sum_a", d->sum_a, "sum_b", d->sum_b,
        "max_a", d->max_a, "max_b", d->max_b, "correlation", d->correlation, "rmse",
        d->rmse, "max_difference", d->max_difference, "max_fast", d->max_fast, "max_slow",
        d->max_slow, "maxrel", d->maxrel, "sum_ratio", d->sum_ratio, "scale", d->scale,
        "scaled_rmse", d->scaled_rmse, "peaks_a", d->peaks_a, "peaks_b", d->peaks_b,
        "peaks_matched", d->peaks_matched, "peaks_fraction", d->peaks_fraction,
        "peaks_rms_shift", d->peaks_rms_shift, "radial_difference", d->radial_difference,
        "radial_worst", d->radial_worst, "verdict", d->verdict);
}

/** compare(a, b, fast, slow) -> dict, for two float32 images of one size */
PyObject *nb_method_compare(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *objects[2];
    NB_PYTHON_BUFFERS v = {0};
    nb_image images[2];
    nb_difference difference;
    int fast, slow;
    if (!PyArg_ParseTuple(args, "OOii", &objects[0], &objects[1], &fast, &slow))
        return NULL;
    for (int i = 0; i < 2; i++) {
        if (nb_python_buffer(objects[i], 0, (size_t)fast * (size_t)slow * sizeof(float),
                             i ? "b" : "a", &v.of[i]))
            return NULL;
        images[i] = borrow(&v.of[i], fast, slow);
    }
    NB_PYTHON_TRY(nb_image_compare(&images[0], &images[1], NULL, &difference, &err));
    return difference_dict(&difference);
}

/** picture(pixels, fast, slow, path): write a PNG as -pngfile draws it */
PyObject *nb_method_picture(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *object;
    NB_PYTHON_VIEW view = {0};
    const char *path;
    nb_image image;
    int fast, slow;
    if (!PyArg_ParseTuple(args, "Oiis", &object, &fast, &slow, &path) ||
        nb_python_buffer(object, 0, (size_t)fast * (size_t)slow * sizeof(float), "image",
                         &view))
        return NULL;
    image = borrow(&view, fast, slow);
    NB_PYTHON_TRY(nb_image_picture(&image, NULL, path, &err));
    Py_RETURN_NONE;
}

/** page(sim | None, (float32, ...), (name, ...), fast, slow, JSON, bytes) -> JSON */
PyObject *nb_method_page(PyObject *Py_UNUSED(self), PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    PyObject *of, *objects, *titles, *result;
    NB_PYTHON_BUFFERS v = {0};
    Py_ssize_t bytes;
    const char *more, *names[NB_PAGE_IMAGES];
    nb_image images[NB_PAGE_IMAGES];
    nb_page_job job = {.images = images, .names = names};
    char *text = NULL;
    int fast, slow, failed = 0;
    if (!PyArg_ParseTuple(args, "OO!O!iisn", &of, &PyTuple_Type, &objects, &PyTuple_Type,
                          &titles, &fast, &slow, &more, &bytes) ||
        (of != Py_None && !(sim = nb_python_enter(of))))
        return NULL;
    if (PyTuple_Size(objects) < 1 || PyTuple_Size(objects) > NB_PAGE_IMAGES ||
        PyTuple_Size(objects) != PyTuple_Size(titles))
        return PyErr_Format(PyExc_ValueError, "a page shows 1 to %d images",
                            NB_PAGE_IMAGES);
    for (; job.n < (int)PyTuple_Size(objects); job.n++) {
        PyObject *title = PyTuple_GetItem(titles, job.n);
        if (!(names[job.n] = PyUnicode_AsUTF8AndSize(title, NULL)) ||
            nb_python_buffer(PyTuple_GetItem(objects, job.n), 0,
                             (size_t)fast * (size_t)slow * sizeof(float), "image",
                             &v.of[job.n]))
            return NULL;
        images[job.n] = borrow(&v.of[job.n], fast, slow);
        strcpy(images[job.n].format, "float");
    }
    const nb_json root = {cJSON_Parse(more), &failed};
    NB_PYTHON_TRY(
        nb_page_json(&job, sim ? sim->sim : NULL, root, (size_t)bytes, &text, &err));
    result = PyUnicode_FromString(text);
    nb_free(text);
    return result;
}
