/* SPDX-License-Identifier: MIT */
/* _nanobragg.Sim: one nb_sim. The GIL is released while the library works; a second
 * thread that calls the same object meanwhile gets a RuntimeError. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/** Sim(words, arrays, notice) */
static int sim_init(PyObject *object, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    nb_python_sim *self = (nb_python_sim *)object;
    NB_PYTHON_HELD nb_python_arrays arrays = {0};
    nb_hooks hooks = nb_python_hooks(&self->calls);
    PyObject *words, *dict, *notice;
    NB_OWN_CONFIG cfg = {0};
    nb_config_defaults(&cfg);
    if (self->sim || !PyArg_ParseTuple(args, "OOO", &words, &dict, &notice) ||
        nb_python_set_words(words, &cfg, 0) || nb_python_use_arrays(dict, &cfg, &arrays))
        return -1;
    self->notice = self->calls.notice = Py_NewRef(notice);
    NB_PYTHON_DO(nb_sim_create(&cfg, &hooks, &self->sim, &err));
    nb_python_copy(self);
    return 0;
}

static void sim_dealloc(PyObject *object)
{
    nb_python_sim *self = (nb_python_sim *)object;
    Py_BEGIN_ALLOW_THREADS;
    nb_sim_free(self->sim);
    Py_END_ALLOW_THREADS;
    Py_XDECREF(self->notice);
    nb_python_release(object);
}

/** set(all words, new arrays, names that are typed now); an array is given by a word such
 * as memory:hkl */
PyObject *nb_method_set(PyObject *object, PyObject *args)
{
    enum { MAX_NAMES = 512 };
    NB_PYTHON_ENTER(self, object);
    NB_PYTHON_HELD nb_python_arrays arrays = {0};
    PyObject *words, *dict, *names;
    const char *again[MAX_NAMES];
    NB_OWN_CONFIG cfg = {0};
    int n;
    nb_config_defaults(&cfg);
    cfg.arrays = nb_sim_record(self->sim)->arrays;
    if (!PyArg_ParseTuple(args, "OOO", &words, &dict, &names) ||
        (n = nb_python_words(names, again, MAX_NAMES)) < 0 ||
        nb_python_use_arrays(dict, &cfg, &arrays))
        return NULL;
    nb_python_unname_arrays(&cfg);
    if (nb_python_set_words(words, &cfg, 0))
        return NULL;
    NB_PYTHON_TRY(nb_sim_retype(self->sim, &cfg, again, n, &err));
    Py_RETURN_NONE;
}

nb_python_sim *nb_python_sim_new(PyTypeObject *type, PyObject *notice, nb_hooks *hooks)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    nb_python_sim *sim = (nb_python_sim *)allocate(type, 0);
    if (!sim)
        return NULL;
    sim->notice = sim->calls.notice = Py_NewRef(notice);
    *hooks = nb_python_hooks(&sim->calls);
    return sim;
}

PyObject *nb_python_sim_made(nb_python_sim *sim, nb_error *err, nb_status st)
{
    if (st) {
        nb_python_raise(err, st);
        Py_DECREF(sim);
        return NULL;
    }
    nb_python_copy(sim);
    return (PyObject *)sim;
}

/** copy(notice) -> an equal Sim */
PyObject *nb_method_copy(PyObject *object, PyObject *notice)
{
    NB_PYTHON_ENTER(self, object);
    nb_python_sim *other;
    nb_hooks hooks;
    nb_error err = {0};
    nb_status st;
    if (!(other = nb_python_sim_new(Py_TYPE(object), notice, &hooks)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = nb_sim_copy(self->sim, &hooks, &other->sim, &err);
    Py_END_ALLOW_THREADS;
    return nb_python_sim_made(other, &err, st);
}

/** moves() -> [(name, value), ...]: values of set_parameters, in the order of calls */
PyObject *nb_method_moves(PyObject *object, PyObject *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    PyObject *list;
    list = PyList_New(0);
    for (int i = 0; list && i < nb_sim_moves(self->sim); i++) {
        double value;
        const char *name = nb_sim_move(self->sim, i, &value);
        nb_python_append(&list, Py_BuildValue("(sd)", name, value));
    }
    return list;
}

/** render(out, progress, want_stats) */
PyObject *nb_method_render(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *out, *progress;
    NB_PYTHON_VIEW view = {0};
    nb_stats stats;
    int wanted;
    if (!PyArg_ParseTuple(args, "OOp", &out, &progress, &wanted) ||
        nb_python_plane(self, out, 1, sizeof(float), "out", &view))
        return NULL;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_render(self->sim, view.buf, wanted ? &stats : NULL, &err));
    if (!wanted)
        Py_RETURN_NONE;
    return nb_python_facts(nb_stats_facts(), &stats);
}

enum { NO_NOISE = 0, NOISE_16_BITS, NOISE_32_BITS };

/** integers(image, out, kind) -> number of clipped pixels */
PyObject *nb_method_integers(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *image, *out;
    NB_PYTHON_VIEW from = {0}, to = {0};
    int64_t overloads = 0;
    int kind;
    if (!PyArg_ParseTuple(args, "OOi", &image, &out, &kind) ||
        nb_python_plane(self, image, 0, sizeof(float), "image", &from) ||
        nb_python_plane(self, out, 1,
                        kind == NOISE_32_BITS ? sizeof(int32_t) : sizeof(uint16_t), "out",
                        &to))
        return NULL;
    if (kind == NOISE_32_BITS)
        NB_PYTHON_TRY(nb_sim_noise_counts(self->sim, from.buf, to.buf, &overloads, &err));
    else if (kind == NOISE_16_BITS)
        NB_PYTHON_TRY(nb_sim_noise(self->sim, from.buf, to.buf, &overloads, &err));
    else
        NB_PYTHON_TRY(nb_sim_digitize(self->sim, from.buf, NULL, to.buf, &err));
    return PyLong_FromLongLong(overloads);
}

/** reflections(image) -> (bytes of nb_reflection, background, unassigned) */
PyObject *nb_method_reflections(PyObject *object, PyObject *image)
{
    NB_PYTHON_ENTER(self, object);
    nb_reflections list = {0};
    NB_PYTHON_VIEW view = {0};
    PyObject *result;
    if (nb_python_plane(self, image, 0, sizeof(float), "image", &view))
        return NULL;
    NB_PYTHON_TRY(nb_sim_reflections(self->sim, view.buf, &list, &err));
    result = Py_BuildValue("(y#dd)", (const char *)list.list,
                           (Py_ssize_t)(list.count * sizeof *list.list), list.background,
                           list.unassigned);
    nb_reflections_free(&list);
    return result;
}

/** Write the files of cfg; then the simulation has the configuration `old` again. */
static nb_status write_as(nb_sim *sim, const nb_config *cfg, const nb_config *old,
                          const float *image, nb_error *err)
{
    nb_error again = {0};
    nb_stats stats;
    nb_status back, st = nb_sim_change(sim, cfg, err);
    if (st)
        return st;
    if (!(st = nb_sim_statistics(sim, image, &stats, err)))
        st = nb_sim_write(sim, image, &stats, err);
    back = nb_sim_change(sim, old, &again); /* a change of file names alone cannot fail */
    if (!st && back)
        *err = again;
    return st ? st : back;
}

/** write(words, image): the files that the words name */
PyObject *nb_method_write(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *words, *image;
    NB_OWN_CONFIG old = {0};
    NB_OWN_CONFIG cfg = {0};
    NB_PYTHON_VIEW view = {0};
    if (!PyArg_ParseTuple(args, "OO", &words, &image))
        return NULL;
    nb_config_copy(&old, nb_sim_config(self->sim));
    nb_config_copy(&cfg, &old);
    if (nb_python_set_words(words, &cfg, 0) ||
        nb_python_plane(self, image, 0, sizeof(float), "image", &view))
        return NULL;
    NB_PYTHON_TRY(write_as(self->sim, &cfg, &old, view.buf, &err));
    Py_RETURN_NONE;
}

/** text(which): config | report */
PyObject *nb_method_text(PyObject *object, PyObject *which)
{
    NB_PYTHON_ENTER(self, object);
    const char *name = nb_python_text(which);
    char *text = NULL;
    PyObject *result;
    if (!name)
        return NULL;
    NB_PYTHON_TRY((strcmp(name, "report") ? nb_sim_config_json
                                          : nb_sim_report)(self->sim, &text, &err));
    result = PyUnicode_FromString(text);
    nb_free(text);
    return result;
}

/** get(name) -> text of a parameter */
PyObject *nb_method_get(PyObject *object, PyObject *name)
{
    NB_PYTHON_ENTER(self, object);
    const char *word = nb_python_text(name);
    char text[NB_PATH_MAX + 1];
    if (!word)
        return NULL;
    NB_PYTHON_TRY(nb_config_get(nb_sim_config(self->sim), word, text, sizeof text, &err));
    return PyUnicode_FromString(text);
}

static void emit(void *user, const char *line)
{
    PyObject *text = PyUnicode_FromString(line);
    if (text)
        PyList_Append(user, text);
    Py_XDECREF(text);
}

/** trace(fast, slow) -> lines */
PyObject *nb_method_trace(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    nb_error err = {0};
    nb_status st;
    int fast, slow;
    PyObject *lines;
    if (!PyArg_ParseTuple(args, "ii", &fast, &slow))
        return NULL;
    lines = PyList_New(0);
    st = lines ? nb_sim_trace(self->sim, fast, slow, emit, lines, &err) : NB_ERR_NOMEM;
    if (!st && !PyErr_Occurred())
        return lines;
    Py_XDECREF(lines);
    return nb_python_raise(&err, st);
}

/** diffuse_at(hkl float64 [n][3], out float64 [n], n): D at n indices */
PyObject *nb_method_diffuse_at(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    PyObject *hkl, *out;
    NB_PYTHON_VIEW from = {0}, to = {0};
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OOn", &hkl, &out, &n))
        return NULL;
    if (nb_python_buffer(hkl, 0, (size_t)n * 3 * sizeof(double), "hkl", &from))
        return NULL;
    if (nb_python_buffer(out, 1, (size_t)n * sizeof(double), "out", &to))
        return NULL;
    NB_PYTHON_TRY(nb_sim_diffuse_at(self->sim, from.buf, (size_t)n, to.buf, &err));
    Py_RETURN_NONE;
}

/** diffuse(plane float32): photons of diffuse scattering */
PyObject *nb_method_diffuse(PyObject *object, PyObject *plane)
{
    NB_PYTHON_ENTER(self, object);
    NB_PYTHON_VIEW view = {0};
    if (nb_python_plane(self, plane, 1, sizeof(float), "plane", &view))
        return NULL;
    NB_PYTHON_TRY(nb_sim_diffuse(self->sim, view.buf, &err));
    Py_RETURN_NONE;
}

static PyObject *get_size(PyObject *object, void *Py_UNUSED(unused))
{
    const nb_python_sim *self = (nb_python_sim *)object;
    return Py_BuildValue("(ii)", self->fast, self->slow);
}

static PyObject *list_panels(const nb_sim *sim)
{
    PyObject *list = PyList_New(0);
    const char *name;
    int size[2];
    for (int k = 0; list && (name = nb_sim_panel(sim, k, size)); k++)
        nb_python_append(&list, Py_BuildValue("(sii)", name, size[1], size[0]));
    return list;
}

static PyObject *get_panels(PyObject *object, void *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    return list_panels(self->sim);
}

static PyObject *get_seed(PyObject *object, void *Py_UNUSED(unused))
{
    return PyLong_FromLongLong(((nb_python_sim *)object)->seed);
}

static PyObject *get_has_F(PyObject *object, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(nb_sim_has_typed_factors(((nb_python_sim *)object)->sim));
}

static PyObject *get_backend(PyObject *object, void *Py_UNUSED(unused))
{
    return PyUnicode_FromString(((nb_python_sim *)object)->backend);
}

static PyObject *get_times(PyObject *object, void *Py_UNUSED(unused))
{
    NB_PYTHON_ENTER(self, object);
    nb_times t;
    nb_sim_times(self->sim, &t);
    return nb_python_facts(nb_times_facts(), &t);
}

#define ROW(name, how) {#name, nb_method_##name, METH_##how, NULL},
static PyMethodDef methods[] = {NB_PYTHON_METHODS(ROW){NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"size", get_size, NULL, "(fast, slow)", NULL},
    {"panels", get_panels, NULL, "[(name, slow, fast), ...]", NULL},
    {"seed", get_seed, NULL, "of the noise", NULL},
    {"has_F", get_has_F, NULL, "F are those of set_factors", NULL},
    {"backend", get_backend, NULL, "what renders", NULL},
    {"times", get_times, NULL, "seconds of each stage", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

const nb_python_class nb_python_sim_class = {"nanobragg._nanobragg.Sim",
                                             sizeof(nb_python_sim),
                                             sim_init,
                                             sim_dealloc,
                                             methods,
                                             properties};
