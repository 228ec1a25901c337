/* SPDX-License-Identifier: MIT */
/** Declarations that the files of the extension module share. */
#ifndef NB_PYTHON_MODULE_H
#define NB_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "../nanobragg.h"
#include "../params/params.h"

/** Set the exception of st, unless Python code has raised one.  Returns NULL. */
PyObject *nb_python_raise(const nb_error *err, nb_status st);
/** Return 0, or -1 with the exception of st or of Python code. */
int nb_python_failed(const nb_error *err, nb_status st);
PyObject *nb_python_device_error(void); /* nanobragg.DeviceError, borrowed */

/** Call the library without the GIL. The macro declares the `err` of the call. After an
 * exception of the call or of Python code the function returns NULL (TRY) or -1 (DO). */
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

/** Append an item and take its reference; drop *list on failure or if item is NULL. */
void nb_python_append(PyObject **list, PyObject *item);
/** Set dict[name] = value; take the reference of value. Returns -1 with an exception. */
int nb_python_put(PyObject *dict, const char *name, PyObject *value);

/** Python callbacks or NULL: notice(line), progress(fraction) -> true to stop. */
typedef struct nb_python_calls {
    PyObject *notice, *progress; /* borrowed */
} nb_python_calls;

/** Hooks that call the callbacks with the GIL; member `user` of the hooks is the
 * nb_python_calls. */
nb_hooks nb_python_hooks(nb_python_calls *calls);

/** Set parameters from a sequence of (name, [word, ...]); None instead of words sets the
 * default. base: an nb_config, or with series an nb_series. Returns 0, or -1 with an
 * exception. */
int nb_python_set_words(PyObject *list, void *base, int series);

/** Arrays in place of files, and the buffers that hold them. */
enum { NB_PYTHON_VIEWS = 12 };
typedef struct nb_python_arrays {
    nb_arrays given;
    Py_buffer views[NB_PYTHON_VIEWS];
    int n_views;
} nb_python_arrays;

/** Use the arrays of {name of a kind (inputs.h): (parts, fast, slow)} in cfg. parts:
 * tuple of buffers | None; fast, slow: sides of a plane. Arrays that cfg has already are
 * kept. Returns -1 with an exception. Call nb_python_release_arrays when the library has
 * taken cfg. */
int nb_python_use_arrays(PyObject *dict, nb_config *cfg, nb_python_arrays *arrays);
/** Clear the file names that stand for arrays. */
void nb_python_unname_arrays(nb_config *cfg);
void nb_python_release_arrays(nb_python_arrays *arrays);
/** Attribute of an nb_python_arrays, zero or in use: it is released at the end of the
 * block. */
#define NB_PYTHON_HELD __attribute__((cleanup(nb_python_release_arrays)))

/** The UTF-8 bytes of a Python text, which owns them. NULL with an exception if the
 * object is not a text or has a NUL. */
const char *nb_python_text(PyObject *object);

/** Put the texts of a sequence into words[limit]; the sequence owns them. Returns their
 * number, or -1 with an exception. */
int nb_python_words(PyObject *list, const char **words, int limit);

/** Open a C-contiguous buffer of exactly `bytes` bytes; release it with PyBuffer_Release.
 * Returns 0, or -1 with a ValueError that begins with `what`. */
int nb_python_buffer(PyObject *object, int writable, size_t bytes, const char *what,
                     Py_buffer *view);
/** As nb_python_buffer; for None return 0 and leave *view as it was. */
int nb_python_optional(PyObject *object, int writable, size_t bytes, const char *what,
                       Py_buffer *view);
/** A Py_buffer, zero or open, that is released at the end of the block. */
#define NB_PYTHON_VIEW __attribute__((cleanup(PyBuffer_Release))) Py_buffer
/** Buffers, zero or open.  NB_PYTHON_BUFFERS releases them at the end of the block. */
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
    initproc init; /* NULL: Python code cannot create an object */
    destructor dealloc;
    PyMethodDef *methods;
    PyGetSetDef *properties; /* or NULL */
} nb_python_class;
extern const nb_python_class nb_python_sim_class, nb_python_chosen_class,
    nb_python_starts_class;
/** Add the type to the module; NULL with an exception. */
PyTypeObject *nb_python_add_type(PyObject *module, const nb_python_class *spec);
/* Add the type to the module; returns -1 with an exception. */
int nb_python_add_device_image(PyObject *module);
/** Free the memory of an object, at the end of its dealloc. */
void nb_python_release(PyObject *object);

/** _nanobragg.Sim */
typedef struct nb_python_sim {
    PyObject_HEAD nb_sim *sim; /* owned */
    PyObject *notice;          /* owned */
    nb_python_calls calls;
    int busy;
    /* copies of values, which other threads may read while one thread works */
    int fast, slow;
    int64_t seed;
    char backend[256];
} nb_python_sim;

/** Fill the copies that any thread may read. Only the caller may use the object
 * meanwhile. */
void nb_python_copy(nb_python_sim *self);

/** New object without simulation, and hooks that call notice; NULL with an exception. */
nb_python_sim *nb_python_sim_new(PyTypeObject *type, PyObject *notice, nb_hooks *hooks);
/** The object if st is NB_OK; else NULL with an exception, and the object is released. */
PyObject *nb_python_sim_made(nb_python_sim *sim, nb_error *err, nb_status st);

/** Enter a simulation, so that until nb_python_leave only this call uses it. Returns NULL
 * with an exception. */
nb_python_sim *nb_python_enter(PyObject *object);
void nb_python_leave(nb_python_sim **self);
/** Attribute of a pointer to a simulation, which is NULL or entered: the simulation is
 * left at the end of the block. */
#define NB_PYTHON_USES __attribute__((cleanup(nb_python_leave)))
/** Declare self and enter its simulation; on failure return NULL with an exception. */
#define NB_PYTHON_ENTER(self, object)                                                    \
    NB_PYTHON_USES nb_python_sim *self = nb_python_enter(object);                        \
    if (!self)                                                                           \
    return NULL
size_t nb_python_pixels(const nb_python_sim *self);
/** As nb_python_buffer, for an image with `size` bytes per pixel. */
int nb_python_plane(const nb_python_sim *self, PyObject *object, int writable,
                    size_t size, const char *what, Py_buffer *view);

/* Methods of _nanobragg.Sim and functions of the module: their names, and the form of
 * their arguments. */
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

/** Facts of a struct in a dict by name, without the facts of panels. */
PyObject *nb_python_facts(const nb_fact *facts, const void *of);
/** The tuple of read_image for an image; the image is freed. Returns NULL with an
 * exception. */
PyObject *nb_python_image(nb_image *image);

#endif
