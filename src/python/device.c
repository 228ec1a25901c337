/* SPDX-License-Identifier: MIT */
/* _nanobragg.DeviceImage: an image in the memory of its renderer, shared by DLPack. */
#include "module.h"

#include <stdlib.h>

/* Structs of DLPack 0.8, from its specification (dmlc.github.io/dlpack). */
enum { DL_CPU = 1, DL_GPU = 2, DL_FLOAT = 2 };
typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides NULL: C order */
    uint64_t byte_offset;
} dl_tensor;
typedef struct dl_managed {
    dl_tensor tensor;
    void *context; /* nb_device_image; a held reference */
    void (*deleter)(struct dl_managed *self);
    int64_t sizes[2]; /* memory of tensor.shape */
} dl_managed;

static const char fresh_name[] = "dltensor"; /* a consumer renames the capsule */

typedef struct image_object {
    PyObject_HEAD nb_device_image *image; /* a held reference */
} image_object;

static PyTypeObject *image_type; /* lives as long as the module */

static PyObject *wrap(nb_device_image *image)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(image_type, Py_tp_alloc);
    image_object *self = (image_object *)allocate(image_type, 0);
    if (self)
        self->image = nb_device_image_hold(image);
    return (PyObject *)self;
}

static void free_image(nb_device_image **image)
{
    nb_device_image_free(*image);
}

static void image_dealloc(PyObject *object)
{
    nb_device_image_free(((image_object *)object)->image);
    nb_python_release(object);
}

static void delete_managed(dl_managed *managed)
{
    nb_device_image_free(managed->context);
    free(managed);
}

/** Free the tensor of a capsule that no consumer took. */
static void capsule_dealloc(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, fresh_name))
        delete_managed(PyCapsule_GetPointer(capsule, fresh_name));
}

/** place() -> (type, number) of the device in DLPack */
static PyObject *image_place(PyObject *object, PyObject *Py_UNUSED(unused))
{
    int device = nb_device_image_device(((image_object *)object)->image);
    return Py_BuildValue("(ii)", device < 0 ? DL_CPU : DL_GPU, device < 0 ? 0 : device);
}

/** capsule(slow, fast) */
static PyObject *image_capsule(PyObject *object, PyObject *args)
{
    nb_device_image *image = ((image_object *)object)->image;
    int device = nb_device_image_device(image);
    dl_managed *managed;
    PyObject *capsule;
    long long slow, fast;
    if (!PyArg_ParseTuple(args, "LL", &slow, &fast))
        return NULL;
    if (!(managed = calloc(1, sizeof *managed)))
        return PyErr_NoMemory();
    managed->sizes[0] = slow;
    managed->sizes[1] = fast;
    managed->tensor =
        (dl_tensor){.data = nb_device_image_pixels(image, NULL),
                    .device = {device < 0 ? DL_CPU : DL_GPU, device < 0 ? 0 : device},
                    .ndim = 2,
                    .dtype = {DL_FLOAT, 8 * sizeof(float), 1},
                    .shape = managed->sizes};
    managed->context = nb_device_image_hold(image);
    managed->deleter = delete_managed;
    capsule = PyCapsule_New(managed, fresh_name, capsule_dealloc);
    if (!capsule)
        delete_managed(managed);
    return capsule;
}

/** read(out) */
static PyObject *image_read(PyObject *object, PyObject *out)
{
    nb_device_image *image = ((image_object *)object)->image;
    NB_PYTHON_VIEW view = {0};
    size_t count;
    (void)nb_device_image_pixels(image, &count);
    if (nb_python_buffer(out, 1, count * sizeof(float), "out", &view))
        return NULL;
    NB_PYTHON_TRY(nb_device_image_read(image, view.buf, &err));
    Py_RETURN_NONE;
}

/** Sim.render_device(progress, want_stats) -> (DeviceImage, dict | None) */
PyObject *nb_method_render_device(PyObject *object, PyObject *args)
{
    NB_PYTHON_ENTER(self, object);
    __attribute__((cleanup(free_image))) nb_device_image *image = NULL;
    PyObject *progress;
    nb_stats stats;
    int wanted;
    if (!PyArg_ParseTuple(args, "Op", &progress, &wanted))
        return NULL;
    self->calls.progress = progress;
    NB_PYTHON_TRY(nb_sim_render_device(self->sim, &image, wanted ? &stats : NULL, &err));
    return Py_BuildValue("(NN)", wrap(image),
                         wanted ? nb_python_facts(nb_stats_facts(), &stats)
                                : Py_NewRef(Py_None));
}

static PyMethodDef methods[] = {{"place", image_place, METH_NOARGS, NULL},
                                {"capsule", image_capsule, METH_VARARGS, NULL},
                                {"read", image_read, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};

int nb_python_add_device_image(PyObject *module)
{
    const nb_python_class spec = {.name = "nanobragg._nanobragg.DeviceImage",
                                  .size = sizeof(image_object),
                                  .dealloc = image_dealloc,
                                  .methods = methods};
    image_type = nb_python_add_type(module, &spec);
    return image_type ? 0 : -1;
}
