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

/** read_image(path, fast, slow, MB) -> (pixels, fast, slow, format, (x, y), pedestal, mask or None); MB: limit of what is
 * read, 0: the default */
PyObject *nb_method_read_image(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *path;
    int fast, slow;
    nb_config typed; /* holds no text */
    nb_image image;
    double most_MB = 0;
    if (!PyArg_ParseTuple(args, "sii|d", &path, &fast, &slow, &most_MB))
        return NULL;
    nb_config_defaults(&typed);
    typed.max_read_MB = most_MB > 0 ? most_MB : typed.max_read_MB;
    NB_PYTHON_TRY(nb_image_read(path, fast, slow, &typed, &image, &err));
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
    PyObject *dict = Py_BuildValue(
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
    return dict;
}

/** compare(a, b, fast, slow) of float32 images of one size */
PyObject *nb_method_compare(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *objects[2];
    NB_PYTHON_VIEW first = {0}, second = {0};
    nb_image a, b;
    nb_difference difference;
    size_t bytes;
    int fast, slow;
    if (!PyArg_ParseTuple(args, "OOii", &objects[0], &objects[1], &fast, &slow))
        return NULL;
    bytes = (size_t)fast * (size_t)slow * sizeof(float);
    if (nb_python_buffer(objects[0], 0, bytes, "a", &first) ||
        nb_python_buffer(objects[1], 0, bytes, "b", &second))
        return NULL;
    a = borrow(&first, fast, slow);
    b = borrow(&second, fast, slow);
    NB_PYTHON_TRY(nb_image_compare(&a, &b, NULL, &difference, &err));
    return difference_dict(&difference);
}

/** picture(pixels, fast, slow, path): a PNG as -pngfile draws it */
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

/** The images of a page: objects of one size and their names. */
static int borrow_all(PyObject *objects, PyObject *titles, int fast, int slow,
                      nb_image *images, Py_buffer *views, const char **names)
{
    const Py_ssize_t n = PyTuple_Size(objects);
    const size_t bytes = (size_t)fast * (size_t)slow * sizeof(float);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *title = PyTuple_GetItem(titles, i);
        if (!title || !(names[i] = PyUnicode_AsUTF8AndSize(title, NULL)) ||
            nb_python_buffer(PyTuple_GetItem(objects, i), 0, bytes, "image", &views[i])) {
            while (i-- > 0)
                PyBuffer_Release(&views[i]);
            return -1;
        }
        images[i] = borrow(&views[i], fast, slow);
        strcpy(images[i].format, "float");
    }
    return (int)n;
}

/** The text of nb_page_json. */
static PyObject *page_json(const nb_sim *sim, const nb_page_job *job, const char *more,
                           Py_ssize_t bytes)
{
    int failed = 0;
    const nb_json root = {cJSON_Parse(more), &failed};
    char *text = NULL;
    PyObject *result;
    NB_PYTHON_TRY(nb_page_json(job, sim, root, (size_t)bytes, &text, &err));
    result = PyUnicode_FromString(text);
    nb_free(text);
    return result;
}

/** page(sim or None, images, names, fast, slow, JSON, bytes) -> JSON of nb_page_json: tuples; float32 images of one size */
PyObject *nb_method_page(PyObject *Py_UNUSED(self), PyObject *args)
{
    NB_PYTHON_USES nb_python_sim *sim = NULL;
    PyObject *of, *objects, *titles, *result;
    Py_buffer views[NB_PAGE_IMAGES];
    Py_ssize_t bytes;
    const char *more, *names[NB_PAGE_IMAGES];
    nb_image images[NB_PAGE_IMAGES];
    nb_page_job job = {.images = images, .names = names};
    int fast, slow;
    if (!PyArg_ParseTuple(args, "OO!O!iisn", &of, &PyTuple_Type, &objects, &PyTuple_Type,
                          &titles, &fast, &slow, &more, &bytes) ||
        (of != Py_None && !(sim = nb_python_enter(of))))
        return NULL;
    if (PyTuple_Size(objects) < 1 || PyTuple_Size(objects) > NB_PAGE_IMAGES ||
        PyTuple_Size(objects) != PyTuple_Size(titles))
        return PyErr_Format(PyExc_ValueError, "a page shows 1 to %d images",
                            NB_PAGE_IMAGES);
    if ((job.n = borrow_all(objects, titles, fast, slow, images, views, names)) < 0)
        return NULL;
    result = page_json(sim ? sim->sim : NULL, &job, more, bytes);
    for (int i = 0; i < job.n; i++)
        PyBuffer_Release(&views[i]);
    return result;
}
