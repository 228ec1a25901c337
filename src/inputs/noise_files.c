/* SPDX-License-Identifier: MIT */
/* What files say of the noise: gains of pixels and of panels. */
#include "load.h"
#include "../model/units.h"

#include <math.h>

#include "../base/error.h"
#include "../base/outfile.h"
#include "../base/memory.h"
#include "../base/store.h"

typedef struct gainmap_request {
    const char *path;
    size_t pixels;
} gainmap_request;

static nb_status make_gainmap(void *user, void **object, size_t *size, nb_error *err)
{
    const gainmap_request *r = user;
    const size_t bytes = r->pixels * sizeof(float);
    float *map = NULL;
    nb_input file;
    nb_status st = nb_input_open(&file, r->path, "-gainmap", err);
    if (!st && file.bytes != bytes)
        st = nb_fail_at(err, NB_ERR_INPUT, r->path, 0,
                        "-gainmap has %llu bytes, but the detector has %zu pixels, which "
                        "are %zu bytes of 32-bit floats",
                        (unsigned long long)file.bytes, r->pixels, bytes);
    if (!st && !(map = nb_shared_new(bytes, NULL, "gain map", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(nb_input_read(&file, 0, map, bytes, err));
    nb_input_close(&file);
    for (size_t i = 0; !st && i < r->pixels; i++)
        if (!isfinite(map[i]))
            st = nb_fail_at(err, NB_ERR_INPUT, r->path, 0,
                            "-gainmap: number %zu is not finite", i + 1);
    *object = map;
    *size = bytes;
    return st;
}

nb_status nb_load_gainmap(nb_store *store, const nb_config *cfg, size_t pixels,
                          float **map, nb_error *err)
{
    gainmap_request r = {cfg->gainmap_file, pixels};
    nb_key key = nb_key_of("gain map");
    void *object = NULL;
    nb_status st = NB_OK;
    nb_key_file(&key, store, r.path);
    nb_key_add(&key, &pixels, sizeof pixels);
    if (r.path[0])
        st = nb_store_take(store, &key, make_gainmap, &r, &object, err);
    *map = object;
    return st;
}

nb_status nb_load_panel_noise(nb_files *files, nb_error *err)
{
    const nb_detector_spec *d = &files->spec;
    size_t n = (size_t)d->n_panels;
    if (!n)
        return NB_OK;
    files->panel_gains = nb_alloc(2 * n, sizeof *files->panel_gains, "panels", err);
    for (size_t k = 0; files->panel_gains && k < n; k++) {
        files->panel_gains[k] = d->panels[k].gain;
        files->panel_gains[n + k] = nb_said_or(d->panels[k].saturation, 0);
    }
    return files->panel_gains ? NB_OK : NB_ERR_NOMEM;
}
