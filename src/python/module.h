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
/** None; NULL with the exception of a status, or with one that Python code raised. */
PyObject *nb_python_none(const nb_error *err, nb_status st);
PyObject *nb_python_device_error(void); /* nanobragg.DeviceError, borrowed */

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

/** Words of a configuration: a sequence of (name, [word, ...]).  base: the nb_config, or with series
 * the nb_series.  0, or -1 with an exception. */
int nb_python_set_words(PyObject *list, void *base, int series);

/** Arrays in place of files, and the buffers that hold them. */
enum { NB_PYTHON_VIEWS = 12 };
typedef struct nb_python_arrays {
    nb_arrays given;
    Py_buffer views[NB_PYTHON_VIEWS];
    int n_views;
} nb_python_arrays;

/** Use the arrays of a dict in cfg: {"hkl": (hkl int32 [n, 3], F float64 [n]), "mask": (uint8, fast, slow),
 * "sourcefile": (wavelengths in m, weights or None, positions [n, 3] or None), "mat": float64 [9]}.
 * Those that are in cfg already stay.  0, or -1 with an exception.  Both must live until the library has
 * taken cfg; then nb_python_release_arrays. */
int nb_python_use_arrays(PyObject *dict, nb_config *cfg, nb_python_arrays *arrays);
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
/** Before a buffer that is zero, or is taken: it is released at the end of the block. */
#define NB_PYTHON_VIEW __attribute__((cleanup(PyBuffer_Release))) Py_buffer

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
size_t nb_python_pixels(const nb_python_sim *self);
/** nb_python_buffer with `size` bytes a pixel. */
int nb_python_plane(const nb_python_sim *self, PyObject *object, int writable,
                    size_t size, const char *what, Py_buffer *view);

PyObject *nb_python_sim_type(void); /* a new reference */
PyObject *nb_python_arrays_of(PyObject *self, PyObject *unused);
PyObject *nb_python_factors(PyObject *self, PyObject *unused);
PyObject *nb_python_set_factors(PyObject *self, PyObject *F);
PyObject *nb_python_spectrum(PyObject *object, PyObject *frame);
PyObject *nb_python_variables(PyObject *self, PyObject *list);
PyObject *nb_python_parameter(PyObject *self, PyObject *name);
PyObject *nb_python_set_parameters(PyObject *self, PyObject *args);
PyObject *nb_python_fold_rotation(PyObject *self, PyObject *unused);
PyObject *nb_python_derivatives(PyObject *self, PyObject *args);
PyObject *nb_python_pullback(PyObject *self, PyObject *args);
PyObject *nb_python_normal(PyObject *self, PyObject *args);
PyObject *nb_python_pullback_device(PyObject *self, PyObject *args);
PyObject *nb_python_render_double(PyObject *self, PyObject *args);
/** Facts of a struct by their names, without those of panels. */
PyObject *nb_python_facts(const nb_fact *facts, const void *of);
PyObject *nb_python_stats(const nb_stats *stats); /* a new dict */
PyObject *nb_python_render_device(PyObject *self, PyObject *args);
int nb_python_add_device_image(PyObject *module); /* the type; -1 with an exception */
PyObject *nb_python_read_image(PyObject *self, PyObject *args);
PyObject *nb_python_compare(PyObject *self, PyObject *args);
PyObject *nb_python_picture(PyObject *self, PyObject *args);
PyObject *nb_python_page(PyObject *self, PyObject *args);
PyObject *nb_python_series(PyObject *self, PyObject *args);
/** As read_image has it; the image is freed.  NULL with an exception. */
PyObject *nb_python_image(nb_image *image);

/* fits */
PyObject *nb_python_fit_type(int number); /* 0: Chosen, 1: Starts; a new reference */
PyObject *nb_python_photons(PyObject *self, PyObject *args);
PyObject *nb_python_planes(PyObject *self, PyObject *args);
PyObject *nb_python_places(PyObject *self, PyObject *args);
PyObject *nb_python_crystal(PyObject *self, PyObject *unused);
PyObject *nb_python_state(PyObject *self, PyObject *unused);
PyObject *nb_python_change(PyObject *self, PyObject *args);
PyObject *nb_python_write_experiments(PyObject *self, PyObject *args);

#endif
