/* SPDX-License-Identifier: MIT */
/** What the files of the extension module share. */
#ifndef NB_PYTHON_MODULE_H
#define NB_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "../nanobragg.h"
#include "../params/params.h"

/** The exception of a status; one that Python code raised meanwhile wins.  Returns NULL. */
PyObject *nb_python_raise(const nb_error *err, nb_status st);
/** -1 with that exception where there is one, else 0. */
int nb_python_failed(const nb_error *err, nb_status st);
PyObject *nb_python_device_error(void); /* nanobragg.DeviceError, borrowed */

/** Make a call of the library without the GIL; the call names `&err`.  A function of an object, or of an int, returns at once
 * with the exception of the call, or of Python code meanwhile. */
#define NB_PYTHON_TRY(call) NB_PYTHON_CALL(call, NULL)
#define NB_PYTHON_DO(call) NB_PYTHON_CALL(call, -1)
#define NB_PYTHON_CALL(call, failed)                                                     \
    do {                                                                                 \
        nb_error err = {0};                                                              \
        nb_status st;                                                                    \
        Py_BEGIN_ALLOW_THREADS;                                                          \
        st = (call);                                                                     \
        Py_END_ALLOW_THREADS;                                                            \
        if (nb_python_failed(&err, st))                                                  \
            return failed;                                                               \
    } while (0)

/** Append an item, which is taken; without one, or where it fails, *list is dropped and NULL. */
void nb_python_append(PyObject **list, PyObject *item);
/** dict[name] = value, whose reference it takes; 0, or -1 with an exception. */
int nb_python_put(PyObject *dict, const char *name, PyObject *value);

/** Python's callbacks of a call: notice(line), progress(fraction) -> true to stop; NULL: none. */
typedef struct nb_python_calls {
    PyObject *notice, *progress; /* borrowed */
} nb_python_calls;

/** Hooks that call them with the GIL; user is the nb_python_calls. */
nb_hooks nb_python_hooks(nb_python_calls *calls);

/** Words of a configuration: a sequence of (name, [word, ...]), or None in place of words for the default.  base: the nb_config, or with series
 * the nb_series.  0, or -1 with an exception. */
int nb_python_set_words(PyObject *list, void *base, int series);

/** Arrays in place of files, and the buffers that hold them. */
enum { NB_PYTHON_VIEWS = 12 };
typedef struct nb_python_arrays {
    nb_arrays given;
    Py_buffer views[NB_PYTHON_VIEWS];
    int n_views;
} nb_python_arrays;

/** Use the arrays of a dict in cfg: by the name of a kind (arrays.c) (its parts, fast, slow), a tuple of buffers or None,
 * and the sides of a plane.  Those that are in cfg already stay.  0, or -1 with an exception.  Both must live until the
 * library has taken cfg; then nb_python_release_arrays. */
int nb_python_use_arrays(PyObject *dict, nb_config *cfg, nb_python_arrays *arrays);
/** Clear the names of files that stand for arrays. */
void nb_python_unname_arrays(nb_config *cfg);
void nb_python_release_arrays(nb_python_arrays *arrays);
/** Before arrays that are zero, or used: they are released at the end of the block. */
#define NB_PYTHON_HELD __attribute__((cleanup(nb_python_release_arrays)))

/** The characters of a text, which keeps them; NULL with an exception, also where it has a NUL. */
const char *nb_python_text(PyObject *object);

/** The words of a sequence of texts into words[most]; how many, or -1 with an exception.  They live as
 * long as the sequence. */
int nb_python_words(PyObject *list, const char **words, int most);

/** A C-contiguous buffer of exactly `bytes` bytes; 0, or -1 with a ValueError that begins with what.
 * Release with PyBuffer_Release. */
int nb_python_buffer(PyObject *object, int writable, size_t bytes, const char *what,
                     Py_buffer *view);
/** The same of an object that may be None. */
int nb_python_optional(PyObject *object, int writable, size_t bytes, const char *what,
                       Py_buffer *view);
/** Before a buffer that is zero, or is taken: it is released at the end of the block. */
#define NB_PYTHON_VIEW __attribute__((cleanup(PyBuffer_Release))) Py_buffer
/** The buffers of a call, zero or taken: they are released at the end of the block. */
typedef struct nb_python_buffers {
    Py_buffer of[7];
} nb_python_buffers;
void nb_python_release_buffers(nb_python_buffers *buffers);
#define NB_PYTHON_BUFFERS                                                                \
    __attribute__((cleanup(nb_python_release_buffers))) nb_python_buffers

/** A type of the module. */
typedef struct nb_python_class {
    const char *name;
    int size;
    initproc init; /* NULL: Python code makes none */
    destructor dealloc;
    PyMethodDef *methods;
    PyGetSetDef *properties; /* or NULL */
} nb_python_class;
extern const nb_python_class nb_python_sim_class, nb_python_chosen_class,
    nb_python_starts_class;
/** Add it to the module; NULL with an exception. */
PyTypeObject *nb_python_add_type(PyObject *module, const nb_python_class *spec);
int nb_python_add_device_image(PyObject *module); /* the type; -1 with an exception */
/** Free the memory of an object, at the end of its dealloc. */
void nb_python_release(PyObject *object);

/** _nanobragg.Sim */
typedef struct nb_python_sim {
    PyObject_HEAD nb_sim *sim; /* owned */
    PyObject *notice;          /* owned */
    nb_python_calls calls;
    int busy;
    /* copies for threads that ask while another one works */
    int fast, slow;
    int64_t seed;
    char backend[256];
} nb_python_sim;

/** Copy what any thread may ask at any time; the object belongs to the caller. */
void nb_python_copy(nb_python_sim *self);

/** An object without a simulation, and hooks that call notice; NULL with an exception. */
nb_python_sim *nb_python_sim_new(PyTypeObject *type, PyObject *notice, nb_hooks *hooks);
/** The same when st says that it has its simulation; else NULL with an exception, and it is released. */
PyObject *nb_python_sim_made(nb_python_sim *sim, nb_error *err, nb_status st);

/** The simulation, which belongs to this call until nb_python_leave; NULL with an exception. */
nb_python_sim *nb_python_enter(PyObject *object);
void nb_python_leave(nb_python_sim **self);
/** Before a pointer that is NULL, or is entered: the simulation is left at the end of the block. */
#define NB_PYTHON_USES __attribute__((cleanup(nb_python_leave)))
/** Declare self, the entered simulation; without one return NULL with an exception. */
#define NB_PYTHON_ENTER(self, object)                                                    \
    NB_PYTHON_USES nb_python_sim *self = nb_python_enter(object);                        \
    if (!self)                                                                           \
    return NULL
size_t nb_python_pixels(const nb_python_sim *self);
/** nb_python_buffer with `size` bytes a pixel. */
int nb_python_plane(const nb_python_sim *self, PyObject *object, int writable,
                    size_t size, const char *what, Py_buffer *view);

/* Methods of _nanobragg.Sim and functions of the module: names, and how they take arguments. */
#define NB_PYTHON_METHODS(ROW)                                                           \
    ROW(set, VARARGS)                                                                    \
    ROW(copy, O)                                                                         \
    ROW(moves, NOARGS)                                                                   \
    ROW(arrays, NOARGS)                                                                  \
    ROW(factors, NOARGS)                                                                 \
    ROW(spectrum, O)                                                                     \
    ROW(set_factors, O)                                                                  \
    ROW(get, O)                                                                          \
    ROW(render, VARARGS)                                                                 \
    ROW(pullback_device, VARARGS)                                                        \
    ROW(render_device, VARARGS)                                                          \
    ROW(render_double, VARARGS)                                                          \
    ROW(integers, VARARGS)                                                               \
    ROW(reflections, O)                                                                  \
    ROW(write, VARARGS)                                                                  \
    ROW(text, O)                                                                         \
    ROW(trace, VARARGS)                                                                  \
    ROW(diffuse, O)                                                                      \
    ROW(diffuse_at, VARARGS)                                                             \
    ROW(variables, O)                                                                    \
    ROW(parameter, O)                                                                    \
    ROW(set_parameters, VARARGS)                                                         \
    ROW(fold_rotation, NOARGS)                                                           \
    ROW(photons, VARARGS)                                                                \
    ROW(planes, VARARGS)                                                                 \
    ROW(places, VARARGS)                                                                 \
    ROW(crystal, NOARGS)                                                                 \
    ROW(state, NOARGS)                                                                   \
    ROW(change, VARARGS)                                                                 \
    ROW(write_experiments, VARARGS)                                                      \
    ROW(derivatives, VARARGS)                                                            \
    ROW(normal, VARARGS)                                                                 \
    ROW(pullback, VARARGS)
#define NB_PYTHON_FUNCTIONS(ROW)                                                         \
    ROW(params, NOARGS)                                                                  \
    ROW(features, NOARGS)                                                                \
    ROW(read_image, VARARGS)                                                             \
    ROW(compare, VARARGS)                                                                \
    ROW(page, VARARGS)                                                                   \
    ROW(picture, VARARGS)                                                                \
    ROW(series, VARARGS)
#define NB_PYTHON_DECLARE(name, how)                                                     \
    PyObject *nb_method_##name(PyObject *self, PyObject *arguments);
NB_PYTHON_METHODS(NB_PYTHON_DECLARE)
NB_PYTHON_FUNCTIONS(NB_PYTHON_DECLARE)

/** Facts of a struct by their names, without those of panels. */
PyObject *nb_python_facts(const nb_fact *facts, const void *of);
/** As read_image has it; the image is freed.  NULL with an exception. */
PyObject *nb_python_image(nb_image *image);

#endif
