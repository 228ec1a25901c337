/* SPDX-License-Identifier: MIT */
#include "nxmx_chain.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../physics/vec3.h"
#include "nx_fields.h"

static nb_status wrong(const nb_h5_input *in, const char *path, const char *what,
                       nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "%s: %s", path, what);
}

nb_status nb_nx_get_length(const nb_h5_input *in, const char *path, double *value,
                           nb_error *err)
{
    if (!isfinite(nb_h5_get_number(in, path, 0, 1)))
        return wrong(in, path, "must be a finite number", err);
    *value = nb_nx_number(in, path, NB_NX_METRES, 0);
    if (!isfinite(*value))
        return wrong(in, path, "the attribute units must name a length", err);
    return NB_OK;
}

nb_status nb_nx_offset(const nb_h5_input *in, const char *path, double offset[3],
                       nb_error *err)
{
    double scale = nb_nx_scale(in, path, "offset_units", NB_NX_METRES);
    int there = nb_h5_get_vector(in, path, "offset", 3, offset);
    if (!there)
        memset(offset, 0, 3 * sizeof *offset);
    if (!there || (offset[0] == 0 && offset[1] == 0 && offset[2] == 0))
        return NB_OK;
    if (scale == 0)
        scale = nb_nx_scale(in, path, "units", NB_NX_METRES);
    if (scale == 0)
        return wrong(in, path, "the attribute offset_units must name a length", err);
    for (int i = 0; i < 3; i++)
        offset[i] = nb_nx_in_unit(offset[i], scale);
    return NB_OK;
}

/** The absolute path of a name that stands at `from`; "" at the end of a chain. */
static nb_status resolve(const nb_h5_input *in, const char *from, const char *name,
                         char path[NB_H5_NAME], nb_error *err)
{
    const char *slash = strrchr(from, '/');
    int n;
    path[0] = '\0';
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (!name[0] || strcmp(name, ".") == 0)
        return NB_OK;
    n = name[0] == '/'
            ? snprintf(path, NB_H5_NAME, "%s", name)
            : snprintf(path, NB_H5_NAME, "%.*s/%s", (int)(slash - from), from, name);
    if (n >= NB_H5_NAME || !nb_h5_there(in, path)) {
        path[0] = '\0';
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "%s: depends_on names %.60s, which is not there", from, name);
    }
    return NB_OK;
}

static nb_status read_axis(const nb_h5_input *in, nb_nx_axis *axis, nb_error *err)
{
    char type[32];
    double angle = nb_nx_scale(in, axis->path, "units", NB_NX_DEGREES);
    int typed = nb_h5_get_string(in, axis->path, "transformation_type", type, sizeof type);
    axis->rotates = typed ? strcmp(type, "rotation") == 0 : angle != 0;
    if (typed && !axis->rotates && strcmp(type, "translation") != 0)
        return wrong(in, axis->path,
                     "transformation_type must be translation or rotation", err);
    if (!nb_h5_get_vector(in, axis->path, "vector", 3, axis->vector))
        return wrong(in, axis->path, "the attribute vector must be three numbers", err);
    if (!isfinite(nb_h5_get_number(in, axis->path, 0, 1)))
        return wrong(in, axis->path, "must be a finite number", err);
    axis->value =
        nb_nx_number(in, axis->path, axis->rotates ? NB_NX_DEGREES : NB_NX_METRES, 0);
    if (!isfinite(axis->value))
        return wrong(in, axis->path,
                     "the attribute units must name a length for a translation, an angle "
                     "for a rotation",
                     err);
    if (axis->rotates && axis->vector[0] == 0 && axis->vector[1] == 0 &&
        axis->vector[2] == 0)
        return wrong(in, axis->path, "a rotation about the vector 0", err);
    return nb_nx_offset(in, axis->path, axis->offset, err);
}

nb_status nb_nx_chain_read(const nb_h5_input *in, const char *from, const char *name,
                           nb_nx_chain *chain, nb_error *err)
{
    char path[NB_H5_NAME], next[NB_H5_NAME];
    nb_status st = resolve(in, from, name, path, err);
    chain->n = 0;
    while (!st && path[0]) {
        nb_nx_axis *axis = &chain->axes[chain->n];
        if (chain->n == NB_NX_DEEPEST)
            return wrong(in, path, "the chain of depends_on does not end", err);
        chain->n++;
        memcpy(axis->path, path, sizeof path);
        if ((st = read_axis(in, axis, err)))
            return st;
        if (!nb_h5_get_string(in, axis->path, "depends_on", next, sizeof next))
            return NB_OK;
        st = resolve(in, axis->path, next, path, err);
    }
    return st;
}

static void rotate(const nb_nx_axis *axis, double v[3])
{
    nb_vec3 about = nb_unit(nb_v3(axis->vector[0], axis->vector[1], axis->vector[2]));
    nb_vec3 w = nb_rotate_about(nb_v3(v[0], v[1], v[2]), about, axis->value * NB_DEG);
    v[0] = w.x;
    v[1] = w.y;
    v[2] = w.z;
}

void nb_nx_move(const nb_nx_chain *chain, int first, double point[3])
{
    for (int i = first; i < chain->n; i++) {
        const nb_nx_axis *axis = &chain->axes[i];
        if (axis->rotates)
            rotate(axis, point);
        for (int j = 0; j < 3; j++)
            point[j] +=
                axis->offset[j] + (axis->rotates ? 0 : axis->value * axis->vector[j]);
    }
}

void nb_nx_turn(const nb_nx_chain *chain, int first, double direction[3])
{
    for (int i = first; i < chain->n; i++)
        if (chain->axes[i].rotates)
            rotate(&chain->axes[i], direction);
}
#else
typedef int nb_nxmx_chain_is_absent; /* a file must not be empty */
#endif
