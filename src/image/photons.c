/* SPDX-License-Identifier: MIT */
#include "photons.h"

#include "../base/error.h"
#include "../base/memory.h"

nb_status nb_photons_memory(nb_photons *photons, nb_error *err)
{
    const nb_raster *raster = &photons->scene->raster;
    double have = nb_machine_memory();
    double need = (double)raster->columns * (double)raster->rows * sizeof(float);
    if (!photons->own && !(need > have))
        photons->own = nb_alloc_large((size_t)need, 1, "image", NULL);
    if (photons->own)
        return NB_OK;
    return nb_fail(err, NB_ERR_NOMEM,
                   "an image of %d x %d pixels needs %.1f GiB of memory, but this "
                   "machine has only %.1f; type a smaller -detpixels",
                   raster->columns, raster->rows, need / 0x1p30, have / 0x1p30);
}

nb_status nb_photons_fetch(nb_photons *photons, nb_error *err)
{
    nb_status st;
    if (photons->pixels)
        return NB_OK;
    if (!photons->device)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "no image is kept: call nb_sim_render(sim, NULL, ...) first");
    st = nb_photons_memory(photons, err);
    NB_TRY(photons->device->fetch(photons->state, -1, 0, photons->scene->raster.rows,
                                  photons->own, err));
    if (!st)
        photons->pixels = photons->own;
    return st;
}

void nb_photons_forget(nb_photons *photons)
{
    photons->pixels = NULL;
    photons->device = NULL;
    photons->state = NULL;
}
